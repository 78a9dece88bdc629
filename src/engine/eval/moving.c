/* moving.c - operations whose result holds elements of the operands, found by index.
 *
 * All but a few walk over the result's indices and ask where the element comes from:
 *
 *     result[i, j, ...] = operand[source(i, j, ...)]          */
#include "engine/eval/rules.h"
#include "engine/tensor.h"

#include <string.h>

#define UNUSED __attribute__((unused))

Error *eval_constant(UNUSED const Module *m, const Node *n, UNUSED const Tensor *in, Tensor *out)
{
    const Dense *value = &((const ConstantAttrs *)n->attrs)->value;
    if (!value->is_splat) {
        memcpy(out->data, value->data, type_bytes(out->type));
        return NULL;
    }
    Tensor one = { type_scalar(value->type.element), (void *)value->data };
    int64_t count = type_count(out->type);
    for (int64_t i = 0; i < count; i++)
        element_copy(*out, i, one, 0);
    return NULL;
}

Error *eval_iota(UNUSED const Module *m, const Node *n, UNUSED const Tensor *in, Tensor *out)
{
    int dimension = (int)((const IotaAttrs *)n->attrs)->iota_dimension;
    Carrier carrier = element_carrier(out->type.element);
    if (carrier == CARRY_NOTHING)
        return eval_refuse(n, out->type);
    int64_t index[MAX_RANK] = { 0 }, count = type_count(out->type);
    for (int64_t i = 0; i < count; i++) {
        int64_t x = index[dimension];
        if (carrier == CARRY_INT)
            int_set(*out, i, x);
        else if (carrier == CARRY_FLOAT)
            float_set(*out, i, int_to_double(x, false));
        else
            complex_set(*out, i, CMPLX(int_to_double(x, false), 0));
        index_next(out->type.rank, out->type.dims, index);
    }
    return NULL;
}

Error *eval_reshape(UNUSED const Module *m, UNUSED const Node *n, const Tensor *in, Tensor *out)
{
    memcpy(out->data, in->data, type_bytes(out->type));
    return NULL;
}

/* The elements' bits in a row, lowest first, cut anew. */
static void recut(Tensor in, Tensor out)
{
    int from = element_info[in.type.element].bits, to = element_info[out.type.element].bits;
    int64_t count = type_count(out.type);
    for (int64_t i = 0; i < count; i++) {
        uint64_t bits = 0;
        for (int b = 0; b < to; b++) {
            int64_t at = i * to + b;
            bits |= (bits_at(in, at / from) >> (at % from) & 1) << b;
        }
        if (element_carrier(out.type.element) == CARRY_INT)
            int_set(out, i, (int64_t)bits);
        else
            bits_set(out, i, bits);
    }
}

Error *eval_bitcast(UNUSED const Module *m, UNUSED const Node *n, const Tensor *in, Tensor *out)
{
    if (element_fills_bytes(in->type.element) && element_fills_bytes(out->type.element))
        memcpy(out->data, in->data, type_bytes(out->type));
    else
        recut(*in, *out);
    return NULL;
}

/* The walk: source = first + sum of index[i] * step[i]. */
static void copy_strided(Tensor in, Tensor out, int64_t first, const int64_t *step)
{
    int64_t index[MAX_RANK] = { 0 }, count = type_count(out.type);
    for (int64_t i = 0; i < count; i++) {
        element_copy(out, i, in, first + index_flat(out.type.rank, index, step));
        index_next(out.type.rank, out.type.dims, index);
    }
}

Error *eval_broadcast(UNUSED const Module *m, const Node *n, const Tensor *in, Tensor *out)
{
    Ints dims = ((const BroadcastAttrs *)n->attrs)->broadcast_dimensions;
    int64_t strides[MAX_RANK], step[MAX_RANK] = { 0 };
    type_strides(in->type, strides);
    for (int i = 0; i < dims.n; i++)
        step[dims.at[i]] = in->type.dims[i] == 1 ? 0 : strides[i];
    copy_strided(*in, *out, 0, step);
    return NULL;
}

Error *eval_transpose(UNUSED const Module *m, const Node *n, const Tensor *in, Tensor *out)
{
    Ints permutation = ((const TransposeAttrs *)n->attrs)->permutation;
    int64_t strides[MAX_RANK], step[MAX_RANK];
    type_strides(in->type, strides);
    for (int i = 0; i < permutation.n; i++)
        step[i] = strides[permutation.at[i]];
    copy_strided(*in, *out, 0, step);
    return NULL;
}

Error *eval_slice(UNUSED const Module *m, const Node *n, const Tensor *in, Tensor *out)
{
    const SliceAttrs *a = n->attrs;
    int64_t strides[MAX_RANK], step[MAX_RANK], first = 0;
    type_strides(in->type, strides);
    for (int i = 0; i < in->type.rank; i++) {
        first += a->start_indices.at[i] * strides[i];
        /* of one element it may be larger than the array, by any factor */
        step[i] = out->type.dims[i] > 1 ? a->strides.at[i] * strides[i] : strides[i];
    }
    copy_strided(*in, *out, first, step);
    return NULL;
}

Error *eval_reverse(UNUSED const Module *m, const Node *n, const Tensor *in, Tensor *out)
{
    Ints dims = ((const DimensionsAttrs *)n->attrs)->dimensions;
    int64_t step[MAX_RANK], first = 0;
    type_strides(in->type, step);
    for (int i = 0; i < dims.n; i++) {
        int d = (int)dims.at[i];
        first += (in->type.dims[d] - 1) * step[d];
        step[d] = -step[d];
    }
    copy_strided(*in, *out, first, step);
    return NULL;
}

/* Negative edges cut; interior padding puts elements `interior + 1` apart. */
Error *eval_pad(UNUSED const Module *m, const Node *n, const Tensor *in, Tensor *out)
{
    const PadAttrs *a = n->attrs;
    int rank = out->type.rank;
    int64_t index[MAX_RANK] = { 0 }, strides[MAX_RANK], count = type_count(out->type);
    type_strides(in->type, strides);
    for (int64_t i = 0; i < count; i++) {
        int64_t source = 0;
        for (int d = 0; d < rank && source >= 0; d++) {
            int64_t at = index[d] - a->edge_padding_low.at[d],
                    apart = a->interior_padding.at[d] + 1;
            bool is_inside = at >= 0 && at % apart == 0 && at / apart < in->type.dims[d];
            source = is_inside ? source + at / apart * strides[d] : -1;
        }
        if (source >= 0)
            element_copy(*out, i, in[0], source);
        else
            element_copy(*out, i, in[1], 0);
        index_next(rank, out->type.dims, index);
    }
    return NULL;
}

Error *eval_concatenate(UNUSED const Module *m, const Node *n, const Tensor *in, Tensor *out)
{
    int dimension = (int)((const DimensionAttrs *)n->attrs)->dimension, rank = out->type.rank;
    int64_t strides[MAX_RANK], begin = 0;
    type_strides(out->type, strides);
    for (int k = 0; k < n->nin; k++) {
        int64_t index[MAX_RANK] = { 0 }, count = type_count(in[k].type);
        for (int64_t i = 0; i < count; i++) {
            element_copy(*out, begin * strides[dimension] + index_flat(rank, index, strides), in[k],
                         i);
            index_next(rank, in[k].type.dims, index);
        }
        begin += in[k].type.dims[dimension];
    }
    return NULL;
}
