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

static Error *all_gather_operand(const Parts *p, int i, int dim)
{
    Type part = p->m->in_types[i], whole = p->m->out_types[i];
    if (dim < 0 || dim >= part.rank || whole.rank != part.rank ||
        part.dims[dim] * p->n != whole.dims[dim] || type_count(part) * p->n != type_count(whole))
        return meet_misfit(p, i);
    size_t run = bytes_from(part, dim); /* bytes that lie together */
    int64_t outer = extent_before(part, dim);
    char *first = part_out(p, 0, i);
    for (int64_t o = 0; run && o < outer; o++)
        for (int r = 0; r < p->n; r++)
            memcpy(first + (size_t)(o * p->n + r) * run, part_in(p, r, i) + (size_t)o * run, run);
    size_t bytes = type_bytes(whole);
    for (int r = 1; bytes && r < p->n; r++)
        memcpy(part_out(p, r, i), first, bytes);
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

static Error *all_to_all_operand(const Parts *p, int i, int split, int concat)
{
    Type in = p->m->in_types[i], out = p->m->out_types[i];
    if (!all_to_all_fits(p, in, out, split, concat))
        return meet_misfit(p, i);
    int64_t in_strides[MAX_RANK], out_strides[MAX_RANK], extents[MAX_RANK];
    byte_strides(in, in_strides);
    byte_strides(out, out_strides);
    memcpy(extents, in.dims, sizeof *extents * (size_t)in.rank);
    extents[split] /= p->n;
    for (int to = 0; to < p->n; to++)
        for (int from = 0; from < p->n; from++)
            strided_copy(part_out(p, to, i) + from * extents[concat] * out_strides[concat],
                         out_strides,
                         part_in(p, from, i) + to * extents[split] * in_strides[split], in_strides,
                         in.rank, extents, (size_t)element_info[in.element].bytes);
    return NULL;
}

Error *meet_all_to_all(const Parts *p)
{
    const AllToAllAttrs *attrs = p->m->attrs;
    for (int i = 0; i < p->m->nin; i++)
        TRY(all_to_all_operand(p, i, (int)attrs->split_dimension, (int)attrs->concat_dimension));
    return NULL;
}
