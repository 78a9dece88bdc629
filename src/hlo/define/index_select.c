/* index_select.c - torch_index_select: rows along one dimension, by number.
 *
 *     result[b.., o.., i.., t..] = operand[b.., o.., index[b.., i..], t..]
 *
 * with `dim` of the operand's dimensions before the one selected, the first `batch_dims` of them
 * shared with the index: a gather. */
#include "hlo/define/writer.h"

Error *define_torch_index_select(Writer *w, Node n, ValueId *results)
{
    const TorchIndexAttrs *a = n.attrs;
    Arena *arena = w->m->arena;
    Type x = type_of(w->m, n.in[0]), index = type_of(w->m, n.in[1]), result = type_of(w->m, n.out);
    int64_t batch[MAX_RANK], sizes[MAX_RANK], offsets[MAX_RANK];
    int noffsets = 0, fresh = index.rank - (int)a->batch_dims;
    for (int i = 0; i < a->batch_dims; i++)
        batch[i] = i;
    for (int i = 0; i < x.rank; i++)
        sizes[i] = i < a->batch_dims || i == a->dim ? 1 : x.dims[i];
    for (int i = (int)a->batch_dims; i < result.rank; i++)
        if (i < a->dim || i >= a->dim + fresh)
            offsets[noffsets++] = i;
    GatherAttrs *gather = ARENA_NEW(arena, GatherAttrs);
    *gather =
        (GatherAttrs){ .offset_dims = ints_copy(arena, noffsets, offsets),
                       .collapsed_slice_dims = ints_copy(arena, 1, &a->dim),
                       .operand_batching_dims = ints_copy(arena, (int)a->batch_dims, batch),
                       .start_indices_batching_dims = ints_copy(arena, (int)a->batch_dims, batch),
                       .start_index_map = ints_copy(arena, 1, &a->dim),
                       .index_vector_dim = index.rank,
                       .slice_sizes = ints_copy(arena, x.rank, sizes) };
    results[0] = put(w, OP_GATHER, result, gather, 2, n.in);
    return NULL;
}
