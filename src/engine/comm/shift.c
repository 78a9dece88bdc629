/* shift.c - collective_permute: each pair (source, target) hands one array over; a device that
 * is nobody's target gets zeros.  collective_broadcast: the root of a group hands its arrays to all;
 * it is the first, or for each array the one at the place that the last operand says.
 *
 * The numbers in the pairs are partitions when the operation has a channel, else replicas. */
#include "engine/comm/group.h"

#include <string.h>

static int64_t number_in_pairs(const Parts *p, int r, bool by_partition)
{
    return by_partition ? p->frames[r]->partition : p->frames[r]->replica;
}

static int rank_of(const Parts *p, int64_t number, bool by_partition)
{
    for (int r = 0; r < p->n; r++)
        if (number_in_pairs(p, r, by_partition) == number)
            return r;
    return -1;
}

/* The rank that sends to rank r, or -1. */
static Error *find_source(const Parts *p, const PermuteAttrs *attrs, int r, int *source)
{
    bool by_partition = attrs->channel_id > 0;
    int64_t me = number_in_pairs(p, r, by_partition);
    *source = -1;
    for (int k = 0; k < attrs->source_target_pairs.rows; k++) {
        const int64_t *pair = attrs->source_target_pairs.at + 2 * k;
        if (pair[1] != me)
            continue;
        *source = rank_of(p, pair[0], by_partition);
        if (*source < 0)
            return error_new(CODE_INVALID,
                             "%s (%s): source %lld of target %lld is not in its group", p->m->name,
                             p->m->where, (long long)pair[0], (long long)pair[1]);
    }
    return NULL;
}

Error *meet_permute(const Parts *p)
{
    const PermuteAttrs *attrs = p->m->attrs;
    Move moves[p->n];
    for (int i = 0; i < p->m->nin; i++) {
        if (!type_equal(p->m->in_types[i], p->m->out_types[i]))
            return meet_misfit(p, i);
        for (int r = 0; r < p->n; r++) {
            int source;
            TRY(find_source(p, attrs, r, &source));
            moves[r] = (Move){ part_out(p, r, i), source >= 0 ? part_in(p, source, i) : NULL,
                               type_bytes(p->m->in_types[i]) };
        }
        meet_moves(p, p->n, moves);
    }
    return NULL;
}

/* From which rank array i comes to rank r, who says it itself. */
static Error *find_root(const Parts *p, int r, int i, int *root)
{
    *root = 0;
    if (!((const CollectiveBroadcastAttrs *)p->m->attrs)->has_dynamic_root)
        return NULL;
    int32_t place;
    memcpy(&place, part_in(p, r, p->m->nin - 1) + (size_t)i * sizeof place, sizeof place);
    if (place < 0 || place >= p->n)
        return error_new(CODE_INVALID, "%s (%s): the root of operand %d is %d in a group of %d: it "
                         "must be between 0 and %d", p->m->name, p->m->where, i, place, p->n,
                         p->n - 1);
    *root = place;
    return NULL;
}

Error *meet_broadcast(const Parts *p)
{
    Move moves[p->n];
    for (int i = 0; i < p->m->nout; i++) {
        if (!type_equal(p->m->in_types[i], p->m->out_types[i]))
            return meet_misfit(p, i);
        for (int r = 0; r < p->n; r++) {
            int root;
            TRY(find_root(p, r, i, &root));
            moves[r] = (Move){ part_out(p, r, i), part_in(p, root, i),
                               type_bytes(p->m->in_types[i]) };
        }
        meet_moves(p, part_is_shared(p, i) ? 1 : p->n, moves);
    }
    return NULL;
}
