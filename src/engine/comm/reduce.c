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

enum { BLOCK_BYTES = 8 << 10, SLICE_BYTES = 64 << 10 }; /* both hold whole elements */

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

/* One operand of the meeting. */
typedef struct Operand {
    const Parts *p;
    int i;
    size_t element; /* bytes */
    size_t run;     /* reduce_scatter: bytes that lie together */
    int64_t outer;  /* and how many such runs */
} Operand;

static void all_reduce_slice(void *user, int64_t slice)
{
    const Operand *o = user;
    const Parts *p = o->p;
    size_t bytes = type_bytes(p->m->in_types[o->i]);
    size_t at = (size_t)slice * SLICE_BYTES, end = at + SLICE_BYTES;
    for (end = end < bytes ? end : bytes; at < end; at += BLOCK_BYTES) {
        size_t block = end - at < BLOCK_BYTES ? end - at : BLOCK_BYTES;
        char *first = part_out(p, 0, o->i) + at;
        combine_ranks(p, o->i, first, at, (int64_t)(block / o->element), o->element);
        for (int r = 1; r < p->n; r++)
            memcpy(part_out(p, r, o->i) + at, first, block);
    }
}

static void all_reduce_operand(const Parts *p, int i)
{
    size_t bytes = type_bytes(p->m->in_types[i]);
    Operand o = { p, i, (size_t)element_info[p->m->in_types[i].element].bytes, 0, 0 };
    int64_t n = (int64_t)((bytes + SLICE_BYTES - 1) / SLICE_BYTES);
    meet_slices(p, n, bytes * (size_t)p->n, all_reduce_slice, &o);
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

/* What rank r gets. */
static void reduce_scatter_rank(void *user, int64_t r)
{
    const Operand *o = user;
    const Parts *p = o->p;
    for (int64_t k = 0; o->run && k < o->outer; k++)
        combine_ranks(p, o->i, part_out(p, (int)r, o->i) + (size_t)k * o->run,
                      (size_t)(k * p->n + r) * o->run, (int64_t)(o->run / o->element), o->element);
}

static Error *reduce_scatter_operand(const Parts *p, int i, int dim)
{
    Type whole = p->m->in_types[i], slice = p->m->out_types[i];
    if (dim < 0 || dim >= whole.rank || slice.rank != whole.rank ||
        slice.dims[dim] * p->n != whole.dims[dim] || type_count(slice) * p->n != type_count(whole))
        return meet_misfit(p, i);
    Operand o = { p, i, (size_t)element_info[whole.element].bytes, bytes_from(slice, dim),
                  extent_before(whole, dim) };
    meet_slices(p, p->n, type_bytes(whole) * (size_t)p->n, reduce_scatter_rank, &o);
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
