/* reduce.c - all_reduce and reduce_scatter: one pass over all operands, in rank order.
 *
 *     in[0] in[1] in[2] in[3]
 *       \    /    /    /
 *         sum  <-+--<-+          ((in0 + in1) + in2) + in3
 *           \---> out[0], out[1], out[2], out[3], or the one memory that all share
 *
 * reduce_scatter does the same for the slice of each rank. */
#include "engine/collectives/group.h"

static Error *check_combine(const Parts *p)
{
    return p->m->combine ? NULL
                         : error_new(CODE_UNIMPLEMENTED, "not supported: the reducer of %s (%s)",
                                     p->m->name, collective_where(p->m));
}

/* Operand i of all ranks, from byte `offset` on, to nout results, whose addresses are to be put
 * into *out. */
static Error *add_sum(const Parts *p, CopyPlan *s, int i, size_t offset, int nout, Rows rows,
                      char ***out)
{
    Step step = { .kind = p->n > 1 ? STEP_REDUCE : STEP_COPY,
                  .nin = p->n,
                  .nout = nout,
                  .element = (size_t)element_info[p->m->in_types[i].element].bytes,
                  .rows = rows };
    char **at;
    TRY(copy_plan_add(s, &step, &at));
    for (int r = 0; r < p->n; r++)
        at[r] = part_in(p, r, i) + offset;
    *out = at + p->n;
    return NULL;
}

/* The rank of device 0. */
static int rank_of_first(const Parts *p)
{
    int r = 0;
    while (r < p->n - 1 && p->frames[r]->partition)
        r++;
    return r;
}

static Error *all_reduce_operand(const Parts *p, CopyPlan *s, int i)
{
    size_t bytes = type_bytes(p->m->in_types[i]);
    bool is_for_first = p->m->is_for_first && p->m->is_for_first[i];
    int nout = part_is_shared(p, i) || is_for_first ? 1 : p->n;
    int first = is_for_first ? rank_of_first(p) : 0;
    char **out;
    if (!bytes || (p->n == 1 && part_in(p, 0, i) == part_out(p, 0, i)))
        return NULL;
    TRY(add_sum(p, s, i, 0, nout, one_run(bytes), &out));
    for (int r = 0; r < nout; r++)
        out[r] = part_out(p, first + r, i);
    return NULL;
}

Error *write_all_reduce(const Parts *p, CopyPlan *s)
{
    TRY(check_combine(p));
    for (int i = 0; i < p->m->nin; i++) {
        if (!type_equal(p->m->in_types[i], p->m->out_types[i]))
            return collective_misfit(p, i);
        if (p->m->in_types[i].element != TOKEN)
            TRY(all_reduce_operand(p, s, i));
    }
    return NULL;
}

static Error *reduce_scatter_operand(const Parts *p, CopyPlan *s, int i, int dim)
{
    Type whole = p->m->in_types[i], slice = p->m->out_types[i];
    if (dim < 0 || dim >= whole.rank || slice.rank != whole.rank ||
        slice.dims[dim] * p->n != whole.dims[dim] || type_count(slice) * p->n != type_count(whole))
        return collective_misfit(p, i);
    Rows rows = { .run = bytes_from(slice, dim), .near = extent_before(whole, dim), .far = 1 };
    rows.in_near = (int64_t)rows.run * p->n;
    rows.out_near = (int64_t)rows.run;
    if (!type_bytes(slice))
        return NULL;
    for (int r = 0; r < p->n; r++) {
        char **out;
        TRY(add_sum(p, s, i, (size_t)r * rows.run, 1, rows, &out));
        out[0] = part_out(p, r, i);
    }
    return NULL;
}

Error *write_reduce_scatter(const Parts *p, CopyPlan *s)
{
    TRY(check_combine(p));
    const ReduceScatterAttrs *attrs = p->m->attrs;
    for (int i = 0; i < p->m->nin; i++)
        TRY(reduce_scatter_operand(p, s, i, (int)attrs->scatter_dimension));
    return NULL;
}
