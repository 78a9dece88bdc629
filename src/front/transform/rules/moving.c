/* moving.c - operations that only move elements: linear, and backwards they move them back. */
#include "front/transform/transform.h"

#include <string.h>

/* ---- backwards ---- */

void transpose_reshape(const Transpose *t)
{
    t->out[0] = build_reshape(t->ct[0], t->types[0]);
}

/* Copies are summed.  What is left of the result's axes comes in the order of the result; the
 * operand's may be another. */
void transpose_broadcast(const Transpose *t)
{
    Ints dims = ((const BroadcastAttrs *)t->attrs)->broadcast_dimensions;
    Type from = t->types[0], to = t->results[0];
    int64_t kept[MAX_RANK], order[MAX_RANK];
    int nkept = 0;
    for (int i = 0; i < from.rank; i++)
        if (from.dims[i] == to.dims[dims.at[i]])
            kept[nkept++] = dims.at[i];
    tt sum = build_reduce(OP_ADD, t->ct[0], ints_except(to.rank, (Ints){ nkept, kept }));
    for (int i = 0; i < nkept; i++) {
        order[i] = 0;
        for (int k = 0; k < nkept; k++)
            order[i] += kept[k] < kept[i];
    }
    t->out[0] = build_reshape(build_transpose(sum, ints_of(nkept, order)), from);
}

void transpose_transpose(const Transpose *t)
{
    t->out[0] =
        build_transpose(t->ct[0], ints_inverse(((const TransposeAttrs *)t->attrs)->permutation));
}

void transpose_slice(const Transpose *t)
{
    const SliceAttrs *a = t->attrs;
    Type from = t->types[0], to = t->results[0];
    int64_t high[MAX_RANK], between[MAX_RANK];
    for (int i = 0; i < from.rank; i++) {
        int64_t stride = a->strides.at[i], n = to.dims[i];
        high[i] = from.dims[i] - a->start_indices.at[i] - (n ? (n - 1) * stride + 1 : 0);
        between[i] = stride - 1;
    }
    t->out[0] = build_pad(t->ct[0], build_zeros(type_scalar(from.element)), a->start_indices,
                          ints_of(from.rank, high), ints_of(from.rank, between));
}

void transpose_reverse(const Transpose *t)
{
    t->out[0] = build_op(OP_REVERSE, 1, t->ct, t->attrs, t->types[0]);
}

/* What of a padded cotangent lies where elements of the operand were. */
static tt unpad(tt ct, const PadAttrs *a, Type from)
{
    int n = from.rank;
    int64_t low[MAX_RANK], high[MAX_RANK], none[MAX_RANK] = { 0 }, limit[MAX_RANK], step[MAX_RANK];
    for (int i = 0; i < n; i++) {
        low[i] = -a->edge_padding_low.at[i];
        high[i] = -a->edge_padding_high.at[i];
        step[i] = a->interior_padding.at[i] + 1;
        limit[i] = from.dims[i] ? (from.dims[i] - 1) * step[i] + 1 : 0;
    }
    tt whole = build_pad(ct, build_zeros(type_scalar(from.element)), ints_of(n, low),
                         ints_of(n, high), ints_of(n, none));
    return build_slice(whole, ints_of(n, none), ints_of(n, limit), ints_of(n, step));
}

void transpose_pad(const Transpose *t)
{
    tt inside = unpad(t->ct[0], t->attrs, t->types[0]);
    t->out[0] = inside;
    if (t->linear[1]) {
        Ints all = ints_range(0, t->types[0].rank);
        t->out[1] =
            build2(OP_SUB, build_reduce(OP_ADD, t->ct[0], all), build_reduce(OP_ADD, inside, all));
    }
}

void transpose_concatenate(const Transpose *t)
{
    int dim = (int)((const DimensionAttrs *)t->attrs)->dimension, rank = t->results[0].rank;
    int64_t start[MAX_RANK] = { 0 }, limit[MAX_RANK], ones[MAX_RANK];
    memcpy(limit, t->results[0].dims, sizeof *limit * (size_t)rank);
    for (int i = 0; i < rank; i++)
        ones[i] = 1;
    for (int i = 0; i < t->nin; i++) {
        limit[dim] = start[dim] + t->types[i].dims[dim];
        if (t->linear[i])
            t->out[i] = build_slice(t->ct[0], ints_of(rank, start), ints_of(rank, limit),
                                    ints_of(rank, ones));
        start[dim] = limit[dim];
    }
}

void transpose_barrier(const Transpose *t)
{
    for (int i = 0; i < t->nin; i++)
        t->out[i] = t->ct[i];
}

/* ---- batches: one more axis in front ---- */

void batch_reshape(const Batch *b)
{
    b->y[0] = build_reshape(b->x[0], batch_result_type(b, 0));
}

void batch_bitcast(const Batch *b)
{
    b->y[0] = build_op(OP_BITCAST, 1, b->x, NULL, batch_result_type(b, 0));
}

/* [2, 0] -> [0, 3, 1] */
static Ints behind(Ints dims)
{
    return ints_insert(ints_shifted(dims, 1), 0, 0);
}

void batch_broadcast(const Batch *b)
{
    Ints dims = ((const BroadcastAttrs *)b->attrs)->broadcast_dimensions;
    b->y[0] = build_broadcast(b->x[0], batch_result_type(b, 0), behind(dims));
}

void batch_transpose(const Batch *b)
{
    b->y[0] = build_transpose(b->x[0], behind(((const TransposeAttrs *)b->attrs)->permutation));
}

void batch_slice(const Batch *b)
{
    const SliceAttrs *a = b->attrs;
    b->y[0] = build_slice(b->x[0], ints_insert(a->start_indices, 0, 0),
                          ints_insert(a->limit_indices, 0, b->size), ints_insert(a->strides, 0, 1));
}

void batch_reverse(const Batch *b)
{
    Ints dims = ints_shifted(((const DimensionsAttrs *)b->attrs)->dimensions, 1);
    b->y[0] = build_op(OP_REVERSE, 1, b->x, BUILD_ATTRS(DimensionsAttrs, .dimensions = dims),
                       batch_result_type(b, 0));
}

/* A padding value of its own for every row: pad with zeros, and choose where nothing was. */
static tt pad_by_rows(const Batch *b, Ints low, Ints high, Ints between)
{
    Type t = batch_result_type(b, 0), in = type_insert(b->types[0], 0, b->size);
    tt call_site = build_pad(build_number(type_with(in, I1), 1), build_zeros(type_scalar(I1)), low,
                             high, between);
    tt x = build_pad(batch_operand(b, 0), build_zeros(type_scalar(t.element)), low, high, between);
    return build_select(call_site, x, build_broadcast(b->x[1], t, ints_range(0, 1)));
}

void batch_pad(const Batch *b)
{
    const PadAttrs *a = b->attrs;
    Ints low = ints_insert(a->edge_padding_low, 0, 0),
         high = ints_insert(a->edge_padding_high, 0, 0);
    Ints between = ints_insert(a->interior_padding, 0, 0);
    b->y[0] = b->mapped[1] ? pad_by_rows(b, low, high, between)
                           : build_pad(b->x[0], b->x[1], low, high, between);
}

void batch_concatenate(const Batch *b)
{
    tt *in = ARENA_ARRAY(trace_arena(), tt, b->nin);
    for (int i = 0; i < b->nin; i++)
        in[i] = batch_operand(b, i);
    b->y[0] = build_concatenate(b->nin, in, (int)((const DimensionAttrs *)b->attrs)->dimension + 1);
}

void batch_barrier(const Batch *b)
{
    for (int i = 0; i < b->nin; i++) {
        b->y[i] = b->x[i];
        b->y_mapped[i] = b->mapped[i];
    }
}

/* Operations that take any number of leading axes. */
void batch_leading(const Batch *b)
{
    tt *in = ARENA_ARRAY(trace_arena(), tt, b->nin);
    for (int i = 0; i < b->nin; i++)
        in[i] = batch_operand(b, i);
    b->y[0] = build_op(b->op, b->nin, in, b->attrs, batch_result_type(b, 0));
}
