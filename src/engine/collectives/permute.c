/* permute.c - collective_permute: for each pair (source, target) an array is copied; a rank that is
 * no pair's target gets zeros.  collective_broadcast: the root's arrays are copied to all ranks;
 * the root is the first rank, or for each array the one that the last operand names.
 *
 * The numbers in the pairs are partitions when the operation has a channel, else replicas.
 *
 * In place there are chains and rings: each rank gets what the next has, the last of a chain
 * zeros. */
#include "engine/collectives/collectives.h"

#include <string.h>

enum { ZEROS = -1 };

static int64_t number_in_pairs(const Participants *p, int r, bool by_partition)
{
    return by_partition ? p->frames[r]->partition : p->frames[r]->replica;
}

/* -1: it is not in this group.  Most groups are all devices in order, so that is looked at
 * first. */
static int rank_of(const Participants *p, int64_t number, bool by_partition)
{
    if (number >= 0 && number < p->n && number_in_pairs(p, (int)number, by_partition) == number)
        return (int)number;
    for (int r = 0; r < p->n; r++)
        if (number_in_pairs(p, r, by_partition) == number)
            return r;
    return -1;
}

/* sources[r]: the rank that sends to rank r, or ZEROS. */
Error *permute_sources(const Participants *p, int *sources)
{
    const PermuteAttrs *attrs = p->c->attrs;
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
                             "%s (%s): source %lld of target %lld is not in its group", p->c->name,
                             collective_where(p->c), (long long)pair[0], (long long)pair[1]);
    }
    return NULL;
}

/* In place: appends the chain or ring in which each rank, from r on, gets what its source has,
 * until it comes back to r or to a rank that gets zeros.  is_done: the ranks that are in a step
 * already. */
static Error *add_chain(const Participants *p, CopyPlan *plan, int i, int r, const int *sources,
                        bool *is_done)
{
    int chain[POSSIBLE_DEVICES], n = 0;
    for (; r != ZEROS && !is_done[r]; r = sources[r]) {
        is_done[r] = true;
        chain[n++] = r;
    }
    if (!n || r == chain[n - 1]) /* r keeps what it has */
        return NULL;
    Rows rows = one_span(type_bytes(p->c->in_types[i]));
    char **at;
    Step step = { .kind = r == ZEROS ? STEP_CHAIN : STEP_RING, .nout = n, .rows = rows };
    TRY(copy_plan_add(plan, &step, &at));
    for (int k = 0; k < n; k++)
        at[k] = result_at(p, chain[k], i);
    return NULL;
}

/* Ranks that are no source begin a chain; all that are left then are in rings. */
static Error *permute_in_place(const Participants *p, CopyPlan *plan, int i, const int *sources)
{
    bool is_done[POSSIBLE_DEVICES], is_source[POSSIBLE_DEVICES];
    memset(is_done, 0, sizeof *is_done * (size_t)p->n);
    memset(is_source, 0, sizeof *is_source * (size_t)p->n);
    for (int r = 0; r < p->n; r++)
        if (sources[r] != ZEROS)
            is_source[sources[r]] = true;
    for (int r = 0; r < p->n; r++)
        if (!is_source[r])
            TRY(add_chain(p, plan, i, r, sources, is_done));
    for (int r = 0; r < p->n; r++)
        TRY(add_chain(p, plan, i, r, sources, is_done));
    return NULL;
}

/* Appends a copy of operand i; from: NULL means zeros. */
static Error *add_copy(const Participants *p, CopyPlan *plan, int i, char *from, char *to)
{
    Rows rows = one_span(type_bytes(p->c->in_types[i]));
    char **at;
    Step step = { .kind = STEP_COPY, .nin = from != NULL, .nout = 1, .rows = rows };
    TRY(copy_plan_add(plan, &step, &at));
    if (from)
        *at++ = from;
    *at = to;
    return NULL;
}

Error *plan_permute(const Participants *p, CopyPlan *plan)
{
    int sources[POSSIBLE_DEVICES];
    TRY(permute_sources(p, sources));
    for (int i = 0; i < p->c->nin; i++) {
        if (!type_equal(p->c->in_types[i], p->c->out_types[i]))
            return collective_misfit(p, i);
        if (!type_bytes(p->c->in_types[i]))
            continue;
        if (!p->elsewhere && operand_is_in_place(p, i)) {
            TRY(permute_in_place(p, plan, i, sources));
            continue;
        }
        for (int r = 0; r < p->n; r++)
            if (is_here(p, r))
                TRY(add_copy(p, plan, i, sources[r] == ZEROS ? NULL : operand_at(p, sources[r], i),
                             result_at(p, r, i)));
    }
    return NULL;
}

/* The root of array i for rank r, which its own last operand says. */
static Error *find_root(const Participants *p, int r, int i, int *root)
{
    int32_t rank;
    memcpy(&rank, operand_at(p, r, p->c->nin - 1) + (size_t)i * sizeof rank, sizeof rank);
    if (rank < 0 || rank >= p->n)
        return error_new(CODE_INVALID,
                         "%s (%s): the root of operand %d is %d in a group of %d: it "
                         "must be between 0 and %d",
                         p->c->name, collective_where(p->c), i, rank, p->n, p->n - 1);
    *root = rank;
    return NULL;
}

/* From the first rank to all, in one step. */
static Error *broadcast_operand(const Participants *p, CopyPlan *plan, int i)
{
    Rows rows = one_span(type_bytes(p->c->in_types[i]));
    char *results[POSSIBLE_DEVICES], **at;
    int nout = results_here(p, i, results);
    int first = results[0] == operand_at(p, 0, i); /* in place the first rank has it */
    if (first == nout)
        return NULL;
    Step step = { .kind = STEP_COPY, .nin = 1, .nout = nout - first, .rows = rows };
    TRY(copy_plan_add(plan, &step, &at));
    *at++ = operand_at(p, 0, i);
    for (int k = first; k < nout; k++)
        *at++ = results[k];
    return NULL;
}

static Error *broadcast_from_roots(const Participants *p, CopyPlan *plan, int i)
{
    bool is_shared = result_is_shared(p, i);
    for (int r = 0; r < p->n; r++) {
        int root = 0;
        if (!is_here(p, r) || (is_shared && r != p->home))
            continue;
        TRY(find_root(p, r, i, &root));
        TRY(add_copy(p, plan, i, operand_at(p, root, i), result_at(p, r, i)));
    }
    return NULL;
}

Error *plan_broadcast(const Participants *p, CopyPlan *plan)
{
    bool has_roots = op_has_dynamic_root(p->c->op, p->c->attrs);
    for (int i = 0; i < p->c->nout; i++) {
        if (!type_equal(p->c->in_types[i], p->c->out_types[i]))
            return collective_misfit(p, i);
        if (type_bytes(p->c->in_types[i]))
            TRY(has_roots ? broadcast_from_roots(p, plan, i) : broadcast_operand(p, plan, i));
    }
    return NULL;
}
