/* build.c - operations by what they are in StableHLO, on traced values.
 *
 * In go traced values and numbers, out comes the result of one recorded node; its type is found
 * here.  What would do nothing (a reshape to the same shape) is not recorded. */
#include "front/transform/build.h"

#include "base/fail.h"
#include "front/value/axis_names.h"
#include "front/value/report.h"
#include "ops/number.h"

#include <string.h>

/* ---- types and lists ---- */

Type type_at(tt x)
{
    ValueId v = trace_value("a rule", x);
    return v ? type_of(session->m, v) : type_scalar(F32);
}

Type type_with(Type t, Element element)
{
    t.element = element;
    return t;
}

Type type_insert(Type t, int axis, int64_t extent)
{
    int64_t dims[MAX_RANK + 1];
    require(t.rank < MAX_RANK);
    for (int i = 0; i <= t.rank; i++)
        dims[i] = i < axis ? t.dims[i] : i == axis ? extent : t.dims[i - 1];
    return type_new(trace_arena(), t.element, t.rank + 1, dims);
}

Type type_remove(Type t, int axis)
{
    int64_t dims[MAX_RANK];
    for (int i = 0; i + 1 < t.rank; i++)
        dims[i] = t.dims[i < axis ? i : i + 1];
    return type_new(trace_arena(), t.element, t.rank - 1, dims);
}

Ints ints_of(int n, const int64_t *at)
{
    return ints_copy(trace_arena(), n, at);
}

Ints ints_range(int from, int n)
{
    int64_t at[MAX_RANK];
    for (int i = 0; i < n; i++)
        at[i] = from + i;
    return ints_of(n, at);
}

Ints ints_insert(Ints list, int at, int64_t x)
{
    int64_t more[MAX_RANK + 1];
    for (int i = 0; i <= list.n; i++)
        more[i] = i < at ? list.at[i] : i == at ? x : list.at[i - 1];
    return ints_of(list.n + 1, more);
}

Ints ints_shifted(Ints list, int64_t by)
{
    int64_t at[MAX_RANK];
    for (int i = 0; i < list.n; i++)
        at[i] = list.at[i] + by;
    return ints_of(list.n, at);
}

Ints ints_except(int n, Ints list)
{
    int64_t at[MAX_RANK];
    int k = 0;
    for (int i = 0; i < n; i++)
        if (ints_find(list, i) < 0)
            at[k++] = i;
    return ints_of(k, at);
}

Ints ints_join(Ints a, Ints b)
{
    int64_t at[2 * MAX_RANK];
    if (a.n)
        memcpy(at, a.at, sizeof *at * (size_t)a.n);
    if (b.n)
        memcpy(at + a.n, b.at, sizeof *at * (size_t)b.n);
    return ints_of(a.n + b.n, at);
}

Ints ints_inverse(Ints permutation)
{
    int64_t at[MAX_RANK];
    for (int i = 0; i < permutation.n; i++)
        at[permutation.at[i]] = i;
    return ints_of(permutation.n, at);
}

/* ---- nodes ---- */

tt build_op(OpId op, int n, const tt *x, const void *attrs, Type result)
{
    tt y;
    trace_apply("a rule", op, n, x, attrs, 1, &result, &y);
    return y;
}

tt build1(OpId op, tt x)
{
    return build_op(op, 1, &x, NULL, type_at(x));
}

tt build2(OpId op, tt a, tt b)
{
    return build_op(op, 2, (const tt[]){ a, b }, NULL, type_at(a));
}

tt build_number(Type type, double x)
{
    char data[16] = { 0 };
    Element part = element_part(type.element);
    ElementKind kind = element_info[part].kind;
    if (kind == FLOAT)
        number_set_float(part, x, data);
    else
        number_set_int(part, (int64_t)x, data);
    return trace_constant((Dense){ type, true, data });
}

tt build_zeros(Type type)
{
    return build_number(type, 0);
}

tt build_reshape(tt x, Type to)
{
    Type from = type_at(x);
    return type_same_shape(from, to)
               ? x
               : build_op(OP_RESHAPE, 1, &x, NULL, type_with(to, from.element));
}

tt build_convert(tt x, Element to)
{
    Type from = type_at(x);
    return from.element == to ? x : build_op(OP_CONVERT, 1, &x, NULL, type_with(from, to));
}

tt build_broadcast(tt x, Type to, Ints dims)
{
    Type from = type_at(x);
    to.element = from.element;
    if (type_equal(from, to))
        return x;
    return build_op(OP_BROADCAST, 1, &x, BUILD_ATTRS(BroadcastAttrs, .broadcast_dimensions = dims),
                    to);
}

tt build_leading(tt x, int64_t n)
{
    Type from = type_at(x);
    return build_broadcast(x, type_insert(from, 0, n), ints_range(1, from.rank));
}

static bool is_identity(Ints permutation)
{
    for (int i = 0; i < permutation.n; i++)
        if (permutation.at[i] != i)
            return false;
    return true;
}

tt build_transpose(tt x, Ints permutation)
{
    Type from = type_at(x);
    int64_t dims[MAX_RANK];
    if (is_identity(permutation))
        return x;
    for (int i = 0; i < from.rank; i++)
        dims[i] = from.dims[permutation.at[i]];
    return build_op(OP_TRANSPOSE, 1, &x, BUILD_ATTRS(TransposeAttrs, .permutation = permutation),
                    type_new(trace_arena(), from.element, from.rank, dims));
}

tt build_move_axis(tt x, int from, int to)
{
    Type type = type_at(x);
    Ints others = ints_except(type.rank, (Ints){ 1, (const int64_t[]){ from } });
    return build_transpose(x, ints_insert(others, to, from));
}

/* What leaves every number as it is under `op`. */
static tt neutral(OpId op, Element e)
{
    char data[16] = { 0 };
    const ElementInfo *info = &element_info[e];
    bool is_lowest = op == OP_MAX || op == OP_OR;
    if (op == OP_ADD || (info->kind == BOOLEAN && is_lowest) ||
        (info->kind == UNSIGNED && is_lowest))
        return build_number(type_scalar(e), 0);
    if (op == OP_MUL || info->kind == BOOLEAN)
        return build_number(type_scalar(e), 1);
    if (info->kind == FLOAT)
        number_set_float(e, is_lowest ? -__builtin_inf() : __builtin_inf(), data);
    else if (info->kind == UNSIGNED || op == OP_AND)
        memset(data, 0xff, (size_t)info->bytes);
    else if (is_lowest)
        number_set_int(e, -((int64_t)1 << (info->bits - 2)) * 2, data);
    else
        number_set_int(e, (((int64_t)1 << (info->bits - 2)) - 1) * 2 + 1, data);
    return trace_constant((Dense){ type_scalar(e), true, data });
}

tt build_reduce(OpId op, tt x, Ints dims)
{
    if (!dims.n)
        return x;
    Type from = type_at(x);
    int64_t left[MAX_RANK];
    int rank = 0;
    for (int i = 0; i < from.rank; i++)
        if (ints_find(dims, i) < 0)
            left[rank++] = from.dims[i];
    Type to = type_new(trace_arena(), from.element, rank, left);
    tt in[] = { x, neutral(op, from.element) }, y;
    Graph reducer = trace_reducer(op, from.element);
    trace_apply_regions("a rule", OP_REDUCE, 2, in,
                        BUILD_ATTRS(DimensionsAttrs, .dimensions = dims), 1, &reducer, 1, &to, &y);
    return y;
}

tt build_slice(tt x, Ints start, Ints limit, Ints strides)
{
    Type t = type_at(x);
    int64_t dims[MAX_RANK];
    for (int i = 0; i < t.rank; i++)
        dims[i] = (limit.at[i] - start.at[i] + strides.at[i] - 1) / strides.at[i];
    return build_op(
        OP_SLICE, 1, &x,
        BUILD_ATTRS(SliceAttrs, .start_indices = start, .limit_indices = limit, .strides = strides),
        type_new(trace_arena(), t.element, t.rank, dims));
}

tt build_pad(tt x, tt value, Ints low, Ints high, Ints interior)
{
    Type t = type_at(x);
    int64_t dims[MAX_RANK];
    for (int i = 0; i < t.rank; i++) {
        int64_t between = t.dims[i] > 1 ? (t.dims[i] - 1) * interior.at[i] : 0;
        dims[i] = t.dims[i] + between + low.at[i] + high.at[i];
    }
    return build_op(OP_PAD, 2, (const tt[]){ x, value },
                    BUILD_ATTRS(PadAttrs, .edge_padding_low = low, .edge_padding_high = high,
                                .interior_padding = interior),
                    type_new(trace_arena(), t.element, t.rank, dims));
}

tt build_compare(int direction, tt a, tt b)
{
    return build_op(OP_COMPARE, 2, (const tt[]){ a, b },
                    BUILD_ATTRS(CompareAttrs, .comparison_direction = direction),
                    type_with(type_at(a), I1));
}

tt build_select(tt condition, tt a, tt b)
{
    return build_op(OP_SELECT, 3, (const tt[]){ condition, a, b }, NULL, type_at(a));
}

tt build_iota(Type type, int dim)
{
    return build_op(OP_IOTA, 0, NULL, BUILD_ATTRS(IotaAttrs, .iota_dimension = dim), type);
}

tt build_dot(tt a, tt b, Ints a_batch, Ints b_batch, Ints a_contract, Ints b_contract,
             Precisions precision)
{
    Type ta = type_at(a), tb = type_at(b);
    Ints a_rest = ints_except(ta.rank, ints_join(a_batch, a_contract));
    Ints b_rest = ints_except(tb.rank, ints_join(b_batch, b_contract));
    int64_t dims[2 * MAX_RANK];
    int n = 0;
    for (int i = 0; i < a_batch.n; i++)
        dims[n++] = ta.dims[a_batch.at[i]];
    for (int i = 0; i < a_rest.n; i++)
        dims[n++] = ta.dims[a_rest.at[i]];
    for (int i = 0; i < b_rest.n; i++)
        dims[n++] = tb.dims[b_rest.at[i]];
    return build_op(
        OP_DOT, 2, (const tt[]){ a, b },
        BUILD_ATTRS(DotAttrs, .lhs_batching_dimensions = a_batch,
                    .rhs_batching_dimensions = b_batch, .lhs_contracting_dimensions = a_contract,
                    .rhs_contracting_dimensions = b_contract, .precision_config = precision),
        type_new(trace_arena(), ta.element, n, dims));
}

tt build_concatenate(int n, const tt *x, int dim)
{
    Type t = type_at(x[0]);
    int64_t dims[MAX_RANK], sum = 0;
    for (int i = 0; i < n; i++)
        sum += type_at(x[i]).dims[dim];
    memcpy(dims, t.dims, sizeof *dims * (size_t)t.rank);
    dims[dim] = sum;
    return build_op(OP_CONCATENATE, n, x, BUILD_ATTRS(DimensionAttrs, .dimension = dim),
                    type_new(trace_arena(), t.element, t.rank, dims));
}

tt build_sum(tt a, tt b)
{
    if (!is_value(a))
        return b;
    return is_value(b) ? build2(OP_ADD, a, b) : a;
}

/* Of several axes: as the digits of a number, the last the lowest. */
tt build_axis_index(const AxisAttrs *axes)
{
    Arena *arena = trace_arena();
    tt index = NO_VALUE;
    Str list = axes->axis, name;
    for (int i = 0; axis_names_next(&list, &name); i++) {
        int64_t size = axes->sizes.at[i];
        AxisAttrs *attrs = BUILD_ATTRS(AxisAttrs, .axis = str_copy(arena, name), .size = size,
                                       .sizes = ints_of(1, &size));
        tt one = build_op(OP_NAMED_INDEX, 0, NULL, attrs, type_scalar(I32));
        if (is_value(index))
            index = build2(OP_MUL, index, build_number(type_scalar(I32), (double)size));
        index = build_sum(index, one);
    }
    return index;
}

static tt *start_at(tt *in, int n, tt at, int rank)
{
    in[n++] = at;
    for (int i = 1; i < rank; i++)
        in[n++] = build_zeros(type_at(at));
    return in;
}

tt build_row(tt x, tt at)
{
    Type t = type_at(x), row = type_remove(t, 0);
    tt in[MAX_RANK + 2] = { x };
    Ints sizes = ints_insert(ints_of(row.rank, row.dims), 0, 1);
    tt y = build_op(OP_DYNAMIC_SLICE, t.rank + 1, start_at(in, 1, at, t.rank),
                    BUILD_ATTRS(DynamicSliceAttrs, .slice_sizes = sizes), type_insert(row, 0, 1));
    return build_reshape(y, row);
}

tt build_set_row(tt x, tt at, tt row)
{
    Type t = type_at(x);
    tt in[MAX_RANK + 2] = { x, build_reshape(row, type_insert(type_at(row), 0, 1)) };
    return build_op(OP_DYNAMIC_UPDATE, t.rank + 2, start_at(in, 2, at, t.rank), NULL, t);
}

/* Bits have no derivative: going through them leaves the value and stops what would flow back. */
tt build_stop_gradient(tt x)
{
    Type t = type_at(x);
    if (element_info[t.element].kind == COMPLEX) {
        Type part = type_with(t, element_part(t.element));
        tt parts[] = { build_stop_gradient(build_op(OP_REAL, 1, &x, NULL, part)),
                       build_stop_gradient(build_op(OP_IMAG, 1, &x, NULL, part)) };
        return build_op(OP_COMPLEX, 2, parts, NULL, t);
    }
    if (element_info[t.element].kind != FLOAT)
        return x;
    static const Element bits[] = { [1] = U8, [2] = U16, [4] = U32, [8] = U64 };
    tt raw = build_op(OP_BITCAST, 1, &x, NULL, type_with(t, bits[element_info[t.element].bytes]));
    return build_op(OP_BITCAST, 1, &raw, NULL, t);
}
