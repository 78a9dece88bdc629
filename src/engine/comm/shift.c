/* shift.c - collective_permute: each pair (source, target) hands one array over; a device that
 * is nobody's target gets zeros.  collective_broadcast: the first of a group hands it to all.
 *
 * The numbers in the pairs are partitions when the operation has a channel, else replicas. */
#include "engine/comm/group.h"

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

Error *meet_broadcast(const Parts *p)
{
    if (!type_equal(p->m->in_types[0], p->m->out_types[0]))
        return meet_misfit(p, 0);
    Move moves[p->n];
    for (int r = 0; r < p->n; r++)
        moves[r] = (Move){ part_out(p, r, 0), part_in(p, 0, 0), type_bytes(p->m->in_types[0]) };
    meet_moves(p, part_is_shared(p, 0) ? 1 : p->n, moves);
    return NULL;
}
