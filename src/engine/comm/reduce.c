/* reduce.c - all_reduce and reduce_scatter.
 *
 * all_reduce, by blocks that stay in the first-level cache:
 *
 *     in[0] in[1] in[2] in[3]
 *       \    /    /    /
 *        out[0] <-+--<-+          ((in0 + in1) + in2) + in3: always in rank order
 *           \---> out[1], out[2], out[3]
 *
 * reduce_scatter does the same for the slice of each rank, straight into that rank's result. */
#include "engine/comm/group.h"

#include <string.h>

enum { BLOCK_BYTES = 8192 };

static Error *check_combine(const Parts *p)
{
    return p->m->combine ? NULL
                         : error_new(CODE_UNIMPLEMENTED, "not supported: the reducer of %s (%s)",
                                     p->m->name, p->m->where);
}

/* dst = in[0][at] + in[1][at] + ..., n elements each, in rank order. */
static void combine_ranks(const Parts *p, int i, char *dst, size_t at, int64_t n, size_t element)
{
    if (p->n == 1) {
        if (dst != part_in(p, 0, i) + at)
            memcpy(dst, part_in(p, 0, i) + at, (size_t)n * element);
        return;
    }
    p->m->combine(dst, part_in(p, 0, i) + at, part_in(p, 1, i) + at, n);
    for (int r = 2; r < p->n; r++)
        p->m->combine(dst, dst, part_in(p, r, i) + at, n);
}

static void all_reduce_operand(const Parts *p, int i)
{
    size_t element = (size_t)element_info[p->m->in_types[i].element].bytes;
    int64_t left = type_count(p->m->in_types[i]);
    int64_t step = BLOCK_BYTES / (int64_t)element;
    for (size_t at = 0; left > 0; left -= step) {
        int64_t n = left < step ? left : step;
        char *first = part_out(p, 0, i) + at;
        combine_ranks(p, i, first, at, n, element);
        for (int r = 1; r < p->n; r++)
            memcpy(part_out(p, r, i) + at, first, (size_t)n * element);
        at += (size_t)n * element;
    }
}

Error *meet_all_reduce(const Parts *p)
{
    TRY(check_combine(p));
    for (int i = 0; i < p->m->nin; i++) {
        if (!type_equal(p->m->in_types[i], p->m->out_types[i]))
            return meet_misfit(p, i);
        if (p->m->in_types[i].element != TOKEN)
            all_reduce_operand(p, i);
    }
    return NULL;
}

static Error *reduce_scatter_operand(const Parts *p, int i, int dim)
{
    Type whole = p->m->in_types[i], slice = p->m->out_types[i];
    if (dim < 0 || dim >= whole.rank || slice.rank != whole.rank ||
        slice.dims[dim] * p->n != whole.dims[dim] ||
        type_count(slice) * p->n != type_count(whole))
        return meet_misfit(p, i);
    size_t element = (size_t)element_info[whole.element].bytes;
    size_t run = bytes_from(slice, dim); /* bytes that lie together */
    int64_t outer = extent_before(whole, dim);
    for (int r = 0; r < p->n; r++)
        for (int64_t o = 0; run && o < outer; o++)
            combine_ranks(p, i, part_out(p, r, i) + (size_t)o * run,
                          (size_t)(o * p->n + r) * run, (int64_t)(run / element), element);
    return NULL;
}

Error *meet_reduce_scatter(const Parts *p)
{
    TRY(check_combine(p));
    const ReduceScatterAttrs *attrs = p->m->attrs;
    for (int i = 0; i < p->m->nin; i++)
        TRY(reduce_scatter_operand(p, i, (int)attrs->scatter_dimension));
    return NULL;
}
