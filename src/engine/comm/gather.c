/* gather.c - all_gather and all_to_all: nothing is computed, everything finds its place.
 *
 *     all_gather along dimension 1             all_to_all, split 0, concat 1
 *     rank 0   rank 1     everybody            rank 0   rank 1      rank 0   rank 1
 *      a b      e f    ->  a b e f              a b      e f    ->   a b e f  c d g h
 *      c d      g h        c d g h              c d      g h
 */
#include "engine/comm/group.h"
#include "engine/run/strided.h"

#include <string.h>

typedef struct Gather {
    const Parts *p;
    int i;         /* the operand */
    size_t run;    /* bytes that lie together in a part */
    int64_t outer; /* and how many such runs */
} Gather;

/* Puts what rank r brought into the first member's result. */
static void gather_from(void *user, int64_t r)
{
    const Gather *g = user;
    char *to = part_out(g->p, 0, g->i) + (size_t)r * g->run;
    const char *from = part_in(g->p, (int)r, g->i);
    for (int64_t o = 0; o < g->outer; o++)
        memcpy(to + (size_t)(o * g->p->n) * g->run, from + (size_t)o * g->run, g->run);
}

static void copy_to_rank(void *user, int64_t before)
{
    const Gather *g = user;
    memcpy(part_out(g->p, (int)before + 1, g->i), part_out(g->p, 0, g->i),
           type_bytes(g->p->m->out_types[g->i]));
}

static Error *all_gather_operand(const Parts *p, int i, int dim)
{
    Type part = p->m->in_types[i], whole = p->m->out_types[i];
    if (dim < 0 || dim >= part.rank || whole.rank != part.rank ||
        part.dims[dim] * p->n != whole.dims[dim] || type_count(part) * p->n != type_count(whole))
        return meet_misfit(p, i);
    size_t bytes = type_bytes(whole);
    if (!bytes)
        return NULL;
    Gather g = { p, i, bytes_from(part, dim), extent_before(part, dim) };
    meet_slices(p, p->n, bytes, gather_from, &g);
    meet_slices(p, p->n - 1, bytes * (size_t)(p->n - 1), copy_to_rank, &g);
    return NULL;
}

Error *meet_all_gather(const Parts *p)
{
    const AllGatherAttrs *attrs = p->m->attrs;
    for (int i = 0; i < p->m->nin; i++)
        TRY(all_gather_operand(p, i, (int)attrs->all_gather_dim));
    return NULL;
}

static bool all_to_all_fits(const Parts *p, Type in, Type out, int split, int concat)
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

typedef struct Exchange {
    const Parts *p;
    int i, split, concat;
    int64_t in_strides[MAX_RANK], out_strides[MAX_RANK], extents[MAX_RANK];
} Exchange;

static void exchange_to(void *user, int64_t to)
{
    const Exchange *x = user;
    Type in = x->p->m->in_types[x->i];
    int64_t out_step = x->extents[x->concat] * x->out_strides[x->concat];
    int64_t in_step = x->extents[x->split] * x->in_strides[x->split];
    for (int from = 0; from < x->p->n; from++)
        strided_copy(part_out(x->p, (int)to, x->i) + from * out_step, x->out_strides,
                     part_in(x->p, from, x->i) + to * in_step, x->in_strides, in.rank, x->extents,
                     (size_t)element_info[in.element].bytes);
}

static Error *all_to_all_operand(const Parts *p, int i, int split, int concat)
{
    Type in = p->m->in_types[i], out = p->m->out_types[i];
    if (!all_to_all_fits(p, in, out, split, concat))
        return meet_misfit(p, i);
    Exchange x = { .p = p, .i = i, .split = split, .concat = concat };
    byte_strides(in, x.in_strides);
    byte_strides(out, x.out_strides);
    memcpy(x.extents, in.dims, sizeof *x.extents * (size_t)in.rank);
    x.extents[split] /= p->n;
    meet_slices(p, p->n, type_bytes(in) * (size_t)p->n, exchange_to, &x);
    return NULL;
}

Error *meet_all_to_all(const Parts *p)
{
    const AllToAllAttrs *attrs = p->m->attrs;
    for (int i = 0; i < p->m->nin; i++)
        TRY(all_to_all_operand(p, i, (int)attrs->split_dimension, (int)attrs->concat_dimension));
    return NULL;
}
