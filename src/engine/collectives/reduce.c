/* reduce.c - all_reduce and reduce_scatter: one pass over all operands, in rank order.
 *
 *     in[0] in[1] in[2] in[3]
 *       \    /    /    /
 *         sum  <-+--<-+          ((in0 + in1) + in2) + in3
 *           \---> out[0], out[1], out[2], out[3], or the one memory that all ranks share
 *
 * reduce_scatter does the same for the slice of each rank. */
#include "engine/collectives/collectives.h"

#include <string.h>

static Error *check_combine(const Participants *p)
{
    return p->c->combine ? NULL
                         : error_new(CODE_UNIMPLEMENTED, "not supported: the reducer of %s (%s)",
                                     p->c->name, collective_where(p->c));
}

/* Appends the step that adds operand i of all ranks, from byte `offset` on, into nout results; the
 * caller is to put their addresses into *out. */
static Error *add_sum(const Participants *p, CopyPlan *plan, int i, size_t offset, int nout,
                      Rows rows, char ***out)
{
    Step step = { .kind = p->n > 1 ? STEP_REDUCE : STEP_COPY,
                  .nin = p->n,
                  .nout = nout,
                  .element = (size_t)element_info[p->c->in_types[i].element].bytes,
                  .rows = rows };
    char **at;
    TRY(copy_plan_add(plan, &step, &at));
    for (int r = 0; r < p->n; r++)
        at[r] = operand_at(p, r, i) + offset;
    *out = at + p->n;
    return NULL;
}

/* The rank of device 0; with several processes each has a first device. */
static int rank_of_first(const Participants *p)
{
    int r = 0;
    while (!p->elsewhere && r < p->n - 1 && p->frames[r]->partition)
        r++;
    return p->elsewhere ? p->home : r;
}

int sums_here(const Participants *p, int i, char **at)
{
    if (!p->c->is_for_first || !p->c->is_for_first[i])
        return results_here(p, i, at);
    at[0] = result_at(p, rank_of_first(p), i);
    return 1;
}

static Error *all_reduce_operand(const Participants *p, CopyPlan *plan, int i)
{
    size_t bytes = type_bytes(p->c->in_types[i]);
    char *results[POSSIBLE_DEVICES], **out;
    if (!bytes || (p->n == 1 && operand_at(p, 0, i) == result_at(p, 0, i)))
        return NULL;
    int nout = sums_here(p, i, results);
    TRY(add_sum(p, plan, i, 0, nout, one_span(bytes), &out));
    memcpy(out, results, sizeof *out * (size_t)nout);
    return NULL;
}

Error *plan_all_reduce(const Participants *p, CopyPlan *plan)
{
    TRY(check_combine(p));
    for (int i = 0; i < p->c->nin; i++) {
        if (!type_equal(p->c->in_types[i], p->c->out_types[i]))
            return collective_misfit(p, i);
        if (p->c->in_types[i].element != TOKEN)
            TRY(all_reduce_operand(p, plan, i));
    }
    return NULL;
}

Error *reduce_scatter_share(const Participants *p, int i, Rows *rows, int64_t *step)
{
    Type whole = p->c->in_types[i], slice = p->c->out_types[i];
    const ReduceScatterAttrs *attrs = p->c->attrs;
    int dim = (int)attrs->scatter_dimension;
    if (dim < 0 || dim >= whole.rank || slice.rank != whole.rank ||
        slice.dims[dim] * p->n != whole.dims[dim] || type_count(slice) * p->n != type_count(whole))
        return collective_misfit(p, i);
    *rows =
        (Rows){ .span = bytes_from(slice, dim), .inner = extent_before(whole, dim), .outer = 1 };
    rows->in_inner = (int64_t)rows->span * p->n;
    rows->out_inner = *step = (int64_t)rows->span;
    return NULL;
}

static Error *reduce_scatter_operand(const Participants *p, CopyPlan *plan, int i)
{
    Rows rows;
    int64_t step;
    TRY(reduce_scatter_share(p, i, &rows, &step));
    for (int r = 0; type_bytes(p->c->out_types[i]) && r < p->n; r++) {
        char **out;
        if (!is_here(p, r))
            continue;
        TRY(add_sum(p, plan, i, (size_t)(r * step), 1, rows, &out));
        out[0] = result_at(p, r, i);
    }
    return NULL;
}

Error *plan_reduce_scatter(const Participants *p, CopyPlan *plan)
{
    TRY(check_combine(p));
    for (int i = 0; i < p->c->nin; i++)
        TRY(reduce_scatter_operand(p, plan, i));
    return NULL;
}
