/* shift.c - collective_permute: each pair (source, target) hands one array over; a device that
 * is nobody's target gets zeros.  collective_broadcast: the root of a group hands its arrays to
 * all; it is the first, or for each array the one at the place that the last operand says.
 *
 * The numbers in the pairs are partitions when the operation has a channel, else replicas.
 *
 * In place, who is read by nobody is written first, then who was read by that one alone.  What is
 * left are rings, which are turned. */
#include "engine/comm/group.h"

#include <string.h>

enum { ZEROS = -1 };

static int64_t number_in_pairs(const Parts *p, int r, bool by_partition)
{
    return by_partition ? p->frames[r]->partition : p->frames[r]->replica;
}

/* Most groups are everybody, in order. */
static int rank_of(const Parts *p, int64_t number, bool by_partition)
{
    if (number >= 0 && number < p->n && number_in_pairs(p, (int)number, by_partition) == number)
        return (int)number;
    for (int r = 0; r < p->n; r++)
        if (number_in_pairs(p, r, by_partition) == number)
            return r;
    return -1;
}

/* sources[r]: the rank that sends to rank r, or ZEROS. */
static Error *find_sources(const Parts *p, int *sources)
{
    const PermuteAttrs *attrs = p->m->attrs;
    bool by_partition = attrs->channel_id > 0;
    for (int r = 0; r < p->n; r++)
        sources[r] = ZEROS;
    for (int k = 0; k < attrs->source_target_pairs.rows; k++) {
        const int64_t *pair = attrs->source_target_pairs.at + 2 * k;
        int target = rank_of(p, pair[1], by_partition);
        if (target < 0)
            continue; /* of another group */
        sources[target] = rank_of(p, pair[0], by_partition);
        if (sources[target] < 0)
            return error_new(CODE_INVALID,
                             "%s (%s): source %lld of target %lld is not in its group", p->m->name,
                             p->m->where, (long long)pair[0], (long long)pair[1]);
    }
    return NULL;
}

/* The ranks in an order in which each may be written: those up to the number returned one by one,
 * the others in rings, each taking from the next and the last from the first. */
static int order_in_place(int n, const int *sources, int *order)
{
    int readers[n], nalone = 0, k = 0;
    bool is_done[n];
    for (int r = 0; r < n; r++)
        readers[r] = is_done[r] = 0;
    for (int r = 0; r < n; r++)
        if (sources[r] >= 0)
            readers[sources[r]]++;
    for (int r = 0; r < n; r++)
        for (int to = r; to >= 0 && !is_done[to] && !readers[to]; to = sources[to]) {
            order[nalone++] = to;
            is_done[to] = true;
            if (sources[to] >= 0)
                readers[sources[to]]--;
        }
    k = nalone;
    for (int r = 0; r < n; r++)
        for (int to = r; !is_done[to]; to = sources[to]) {
            order[k++] = to;
            is_done[to] = true;
        }
    return nalone;
}

typedef struct Shift {
    const Parts *p;
    int i; /* the operand */
    Runs runs;
    const int *sources, *order;
    int nalone; /* of the order */
} Shift;

/* The ring that begins at order[k]; returns where the next one does. */
static int turn_ring(const Shift *s, int k, Piece piece)
{
    char *at[s->p->n];
    int n = 0;
    do
        at[n++] = part_out(s->p, s->order[k], s->i) + piece.at;
    while (++k < s->p->n && s->order[k] == s->sources[s->order[k - 1]]);
    bytes_rotate(n, at, piece.bytes);
    return k;
}

static void shift_piece(void *user, int64_t i)
{
    const Shift *s = user;
    Piece piece = runs_piece(&s->runs, i);
    int k = 0;
    for (; k < s->nalone; k++) {
        int to = s->order[k], from = s->sources[to];
        char *at = part_out(s->p, to, s->i) + piece.at;
        if (from == ZEROS)
            memset(at, 0, piece.bytes);
        else
            memcpy(at, part_in(s->p, from, s->i) + piece.at, piece.bytes);
    }
    while (k < s->p->n)
        k = turn_ring(s, k, piece);
}

static void shift_in_place(const Parts *p, int i, const int *sources)
{
    int order[p->n], nalone = order_in_place(p->n, sources, order);
    size_t bytes = type_bytes(p->m->in_types[i]);
    Shift s = { p, i, runs_cut(1, bytes), sources, order, nalone };
    meet_slices(p, s.runs.npieces, bytes * (size_t)p->n, shift_piece, &s);
}

static void shift_apart(const Parts *p, int i, const int *sources)
{
    Move moves[p->n];
    for (int r = 0; r < p->n; r++)
        moves[r] = (Move){ part_out(p, r, i), sources[r] >= 0 ? part_in(p, sources[r], i) : NULL,
                           type_bytes(p->m->in_types[i]) };
    meet_moves(p, p->n, moves);
}

Error *meet_permute(const Parts *p)
{
    int sources[p->n];
    TRY(find_sources(p, sources));
    for (int i = 0; i < p->m->nin; i++) {
        if (!type_equal(p->m->in_types[i], p->m->out_types[i]))
            return meet_misfit(p, i);
        if (parts_are_in_place(p, i))
            shift_in_place(p, i, sources);
        else
            shift_apart(p, i, sources);
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
        int nouts = part_is_shared(p, i) ? 1 : p->n, n = 0;
        for (int r = 0; r < nouts; r++) {
            int root;
            TRY(find_root(p, r, i, &root));
            if (part_out(p, r, i) != part_in(p, root, i)) /* in place: the root's own */
                moves[n++] = (Move){ part_out(p, r, i), part_in(p, root, i),
                                     type_bytes(p->m->in_types[i]) };
        }
        meet_moves(p, n, moves);
    }
    return NULL;
}
