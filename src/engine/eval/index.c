/* index.c - slices whose start is data: dynamic slices, gather, scatter.
 *
 * Gather and scatter share one picture.  The indices array holds index vectors; each names the
 * place of a window in the operand, and the window's elements stand in the result (of a gather)
 * or in the updates (of a scatter):
 *
 *     index of a result element  =  [ batch dimensions | window dimensions ]  mixed
 *       batch  -> which index vector -> start in the operand
 *       window -> offset in the operand, where collapsed and batching dimensions have offset 0
 *
 * The operand's element is at start + offset. */
#include "engine/eval/apply.h"
#include "engine/eval/rules.h"
#include "engine/tensor.h"

#include <string.h>

#define UNUSED __attribute__((unused))

static int64_t clamp(int64_t x, int64_t low, int64_t high)
{
    return x < low ? low : x > high ? high : x;
}

/* An index as int64_t: what a ui64 holds beyond that is past every extent anyway. */
static int64_t index_at(Tensor t, int64_t i)
{
    int64_t x = int_at(t, i);
    return x < 0 && element_info[t.type.element].kind == UNSIGNED ? INT64_MAX : x;
}

/* Start of a window of `window` extents in `whole`, moved so that it fits. */
static int64_t clamped_start(Type whole, const int64_t *window, const Tensor *starts)
{
    int64_t strides[MAX_RANK], first = 0;
    type_strides(whole, strides);
    for (int i = 0; i < whole.rank; i++)
        first += clamp(index_at(starts[i], 0), 0, whole.dims[i] - window[i]) * strides[i];
    return first;
}

Error *eval_dynamic_slice(UNUSED const Module *m, UNUSED const Node *n, const Tensor *in,
                          Tensor *out)
{
    int64_t index[MAX_RANK] = { 0 }, strides[MAX_RANK], count = type_count(out->type);
    int64_t first = clamped_start(in->type, out->type.dims, in + 1);
    type_strides(in->type, strides);
    for (int64_t i = 0; i < count; i++) {
        element_copy(*out, i, *in, first + index_flat(out->type.rank, index, strides));
        index_next(out->type.rank, out->type.dims, index);
    }
    return NULL;
}

Error *eval_update(UNUSED const Module *m, UNUSED const Node *n, const Tensor *in, Tensor *out)
{
    const Tensor update = in[1];
    int64_t index[MAX_RANK] = { 0 }, strides[MAX_RANK], count = type_count(update.type);
    int64_t first = clamped_start(in->type, update.type.dims, in + 2);
    memcpy(out->data, in->data, type_bytes(out->type));
    type_strides(in->type, strides);
    for (int64_t i = 0; i < count; i++) {
        element_copy(*out, first + index_flat(out->type.rank, index, strides), update, i);
        index_next(update.type.rank, update.type.dims, index);
    }
    return NULL;
}

/* What gather and scatter call by different names. */
typedef struct Windows {
    Type operand;
    Tensor indices;
    int result_rank;
    Ints window_dims;    /* of the result: offset_dims, update_window_dims */
    Ints dropped;        /* of the operand: collapsed_slice_dims, inserted_window_dims */
    Ints batching;       /* of the operand, with ... */
    Ints index_batching; /* ... their partners in the indices */
    Ints index_map;      /* component of the index vector -> operand dimension */
    int64_t vector_dim;  /* of the indices; may be their rank: vectors of one */
} Windows;

/* The index vector that belongs to a result index, as a start in the operand. */
static void window_start(const Windows *w, const int64_t *index, int64_t *start)
{
    int64_t at[MAX_RANK + 1] = { 0 }, strides[MAX_RANK];
    Type indices = w->indices.type;
    int next = 0;
    for (int i = 0; i < w->result_rank; i++) {
        if (ints_find(w->window_dims, i) >= 0)
            continue;
        next += next == w->vector_dim;
        at[next++] = index[i];
    }
    memset(start, 0, sizeof *start * (size_t)w->operand.rank);
    type_strides(indices, strides);
    for (int i = 0; i < w->batching.n; i++)
        start[w->batching.at[i]] = at[w->index_batching.at[i]];
    for (int i = 0; i < w->index_map.n; i++) {
        at[w->vector_dim] = i;
        start[w->index_map.at[i]] = index_at(w->indices, index_flat(indices.rank, at, strides));
    }
}

/* The window part of a result index, as an offset in the operand. */
static void window_offset(const Windows *w, const int64_t *index, int64_t *offset)
{
    int next = 0;
    for (int i = 0; i < w->operand.rank; i++) {
        bool is_dropped = ints_find(w->dropped, i) >= 0 || ints_find(w->batching, i) >= 0;
        offset[i] = is_dropped ? 0 : index[w->window_dims.at[next++]];
    }
}

Error *eval_gather(UNUSED const Module *m, const Node *n, const Tensor *in, Tensor *out)
{
    const GatherAttrs *a = n->attrs;
    Windows w = { in[0].type,
                  in[1],
                  out->type.rank,
                  a->offset_dims,
                  a->collapsed_slice_dims,
                  a->operand_batching_dims,
                  a->start_indices_batching_dims,
                  a->start_index_map,
                  a->index_vector_dim };
    int rank = w.operand.rank;
    int64_t index[MAX_RANK] = { 0 }, start[MAX_RANK], offset[MAX_RANK], strides[MAX_RANK];
    int64_t count = type_count(out->type);
    type_strides(w.operand, strides);
    if (type_count(w.operand) == 0) { /* a collapsed extent of 0: as XLA has it, zeros */
        memset(out->data, 0, type_bytes(out->type));
        return NULL;
    }
    for (int64_t i = 0; i < count; i++) {
        window_start(&w, index, start);
        window_offset(&w, index, offset);
        for (int d = 0; d < rank; d++)
            offset[d] += clamp(start[d], 0, w.operand.dims[d] - a->slice_sizes.at[d]);
        element_copy(*out, i, *in, index_flat(rank, offset, strides));
        index_next(out->type.rank, out->type.dims, index);
    }
    return NULL;
}

/* Where the update at `index` goes, or -1: its window sticks out of the operand, and is dropped as
 * a whole, as XLA does it. */
static int64_t scatter_flat(const Windows *w, Type updates, const int64_t *index)
{
    int64_t start[MAX_RANK], offset[MAX_RANK], last[MAX_RANK], most[MAX_RANK], strides[MAX_RANK];
    int64_t flat = 0;
    for (int d = 0; d < updates.rank; d++)
        last[d] = updates.dims[d] - 1;
    window_start(w, index, start);
    window_offset(w, index, offset);
    window_offset(w, last, most);
    type_strides(w->operand, strides);
    for (int d = 0; d < w->operand.rank; d++) {
        if (start[d] < 0 || start[d] >= w->operand.dims[d] - most[d])
            return -1;
        flat += (start[d] + offset[d]) * strides[d];
    }
    return flat;
}

/* out[flat] = f(out[flat], update[at]), for every update that lands inside. */
static Error *scatter_all(Apply *f, const Windows *w, int k, const Tensor *updates, Tensor *out)
{
    Type type = updates->type;
    int64_t index[MAX_RANK] = { 0 }, count = type_count(type);
    for (int64_t i = 0; i < count; i++) {
        int64_t flat = scatter_flat(w, type, index);
        index_next(type.rank, type.dims, index);
        if (flat < 0)
            continue;
        for (int j = 0; j < k; j++) {
            convert_element(f->args[j], 0, out[j], flat);
            convert_element(f->args[k + j], 0, updates[j], i);
        }
        TRY(apply(f));
        for (int j = 0; j < k; j++)
            convert_element(out[j], flat, f->results[j], 0);
    }
    return NULL;
}

/* Operands: k inputs, the indices, k updates. */
Error *eval_scatter(const Module *m, const Node *n, const Tensor *in, Tensor *out)
{
    const ScatterAttrs *a = n->attrs;
    int k = n->nin / 2;
    Windows w = { in[0].type,
                  in[k],
                  in[k + 1].type.rank,
                  a->update_window_dims,
                  a->inserted_window_dims,
                  a->input_batching_dims,
                  a->scatter_indices_batching_dims,
                  a->scatter_dims_to_operand_dims,
                  a->index_vector_dim };
    for (int j = 0; j < k; j++)
        memcpy(out[j].data, in[j].data, type_bytes(out[j].type));
    Apply f;
    TRY(apply_new(m, n->regions[0], &f));
    Error *error = scatter_all(&f, &w, k, in + k + 1, out);
    apply_free(&f);
    return error;
}
