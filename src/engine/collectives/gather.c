/* gather.c - all_gather and all_to_all: nothing is computed, only copied.
 *
 *     all_gather along dimension 1             all_to_all, split 0, concat 1
 *     rank 0   rank 1     every rank           rank 0   rank 1      rank 0   rank 1
 *      a b      e f    ->  a b e f              a b      e f    ->   a b e f  c d g h
 *      c d      g h        c d g h              c d      g h
 */
#include "engine/collectives/collectives.h"

static Error *all_gather_operand(const Participants *p, CopyPlan *plan, int i, int dim)
{
    Type shard = p->c->in_types[i], whole = p->c->out_types[i];
    if (dim < 0 || dim >= shard.rank || whole.rank != shard.rank ||
        shard.dims[dim] * p->n != whole.dims[dim] || type_count(shard) * p->n != type_count(whole))
        return collective_misfit(p, i);
    char *results[POSSIBLE_DEVICES];
    int nout = results_here(p, i, results);
    Rows rows = { .span = bytes_from(shard, dim), .inner = extent_before(shard, dim), .outer = 1 };
    rows.in_inner = (int64_t)rows.span;
    rows.out_inner = (int64_t)rows.span * p->n;
    Step step = { .kind = STEP_COPY, .nin = 1, .nout = nout, .rows = rows };
    for (int r = 0; type_bytes(shard) && r < p->n; r++) {
        char **at;
        TRY(copy_plan_add(plan, &step, &at));
        at[0] = operand_at(p, r, i);
        for (int o = 0; o < nout; o++)
            at[1 + o] = results[o] + (size_t)r * rows.span;
    }
    return NULL;
}

Error *plan_all_gather(const Participants *p, CopyPlan *plan)
{
    const AllGatherAttrs *attrs = p->c->attrs;
    for (int i = 0; i < p->c->nin; i++)
        TRY(all_gather_operand(p, plan, i, (int)attrs->all_gather_dim));
    return NULL;
}

static bool all_to_all_fits(const Participants *p, Type in, Type out, int split, int concat)
{
    if (in.rank != out.rank || split < 0 || split >= in.rank || concat < 0 || concat >= in.rank)
        return false;
    if (in.dims[split] % p->n)
        return false;
    for (int i = 0; i < in.rank; i++) {
        int64_t extent = in.dims[i];
        extent = i == split ? extent / p->n : extent;
        extent = i == concat ? extent * p->n : extent;
        if (out.dims[i] != extent)
            return false;
    }
    return true;
}

/* The bytes that go from one rank to another: how they lie in the operand and in the result, and
 * how far those for the next rank, or from it, begin after them. */
typedef struct Share {
    Rows rows;
    int64_t in_step, out_step;
} Share;

/* The later of the two dimensions begins a span; spans within the earlier one are a row. */
static Share share_of(Type in, int split, int concat, int n)
{
    bool splits_first = split < concat;
    int low = splits_first ? split : concat, high = splits_first ? concat : split;
    Share share = { .rows = { .span = bytes_from(in, high), .outer = extent_before(in, low) } };
    Rows *r = &share.rows;
    if (!r->outer || !r->span)
        return share;
    r->inner = extent_before(in, high) / r->outer;
    if (splits_first)
        r->inner /= n;
    else
        r->span /= (size_t)n;
    int64_t run = (int64_t)r->span, block = r->inner * run;
    r->in_outer = r->out_outer = n * block;
    r->in_inner = splits_first ? run : n * run;
    r->out_inner = splits_first ? n * run : run;
    share.in_step = splits_first ? block : run;
    share.out_step = splits_first ? run : block;
    return share;
}

static Share share_of_operand(const Participants *p, int i)
{
    const AllToAllAttrs *attrs = p->c->attrs;
    return share_of(p->c->in_types[i], (int)attrs->split_dimension, (int)attrs->concat_dimension,
                    p->n);
}

Error *all_to_all_share(const Participants *p, int i, Rows *rows, int64_t *step)
{
    const AllToAllAttrs *attrs = p->c->attrs;
    if (!all_to_all_fits(p, p->c->in_types[i], p->c->out_types[i], (int)attrs->split_dimension,
                         (int)attrs->concat_dimension))
        return collective_misfit(p, i);
    Share share = share_of_operand(p, i);
    *rows = share.rows;
    *step = share.in_step;
    return NULL;
}

bool all_to_all_is_in_place(const Participants *p, int i)
{
    if (!operand_is_in_place(p, i))
        return false;
    Rows rows = share_of_operand(p, i).rows;
    return rows.inner == 1 && rows.outer == 1;
}

/* Each pair of ranks exchanges the bytes that they have for one another. */
static Error *exchange_in_place(const Participants *p, CopyPlan *plan, int i, const Share *share)
{
    Step step = { .kind = STEP_RING, .nout = 2, .rows = share->rows };
    for (int a = 0; a < p->n; a++)
        for (int b = a + 1; b < p->n; b++) {
            char **at;
            TRY(copy_plan_add(plan, &step, &at));
            at[0] = operand_at(p, a, i) + b * share->in_step;
            at[1] = operand_at(p, b, i) + a * share->in_step;
        }
    return NULL;
}

static Error *exchange_apart(const Participants *p, CopyPlan *plan, int i, const Share *share)
{
    Step step = { .kind = STEP_COPY, .nin = 1, .nout = 1, .rows = share->rows };
    for (int to = 0; to < p->n; to++)
        for (int from = 0; is_here(p, to) && from < p->n; from++) {
            char **at;
            TRY(copy_plan_add(plan, &step, &at));
            at[0] = operand_at(p, from, i) + to * share->in_step;
            at[1] = result_at(p, to, i) + from * share->out_step;
        }
    return NULL;
}

Error *plan_all_to_all(const Participants *p, CopyPlan *plan)
{
    const AllToAllAttrs *attrs = p->c->attrs;
    for (int i = 0; i < p->c->nin; i++) {
        Type in = p->c->in_types[i];
        if (!all_to_all_fits(p, in, p->c->out_types[i], (int)attrs->split_dimension,
                             (int)attrs->concat_dimension))
            return collective_misfit(p, i);
        if (!type_bytes(in))
            continue;
        Share share = share_of_operand(p, i);
        TRY(!p->elsewhere && all_to_all_is_in_place(p, i) ? exchange_in_place(p, plan, i, &share)
                                                          : exchange_apart(p, plan, i, &share));
    }
    return NULL;
}
