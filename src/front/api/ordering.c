/* ordering.c - public operations on the order of elements along an axis: sorting, the largest few,
 * running sums, reading and adding at positions that arrays say. */
#include "front/api/ordering.h"
#include "front/api/numpy.h"

#include "front/transform/rules.h"
#include "front/value/library.h"
#include "front/value/report.h"
#include "hlo/rewrite.h"

#include <math.h>
#include <string.h>

typedef struct Along {
    const char *who;
    int64_t axis, k, op;
} Along;

/* The operand and its axis.  False: reported. */
static bool take_along(const Along *c, const tt *in, Shape *shape, int *axis)
{
    return shapes_of(c->who, 1, in, shape) &&
           normalize_axis(c->who, shape_type(shape), c->axis, axis);
}

/* ---- sorting ---- */

static ValueId compare_in(Module *m, RegionId r, int direction, int type, ValueId a, ValueId b)
{
    const CompareAttrs *how =
        BUILD_ATTRS(CompareAttrs, .comparison_direction = direction, .compare_type = type);
    return build_node(m, r, OP_COMPARE, 2, (const ValueId[]){ a, b }, type_scalar(I1), how,
                      &loc_unknown);
}

/* x, but one zero for both, and one that is no number for all such. */
static ValueId canonical(Module *m, RegionId r, ValueId x, Element e)
{
    static const double zero[2];
    const float none32 = NAN;
    const double none64 = NAN;
    const uint16_t none16 = e == F16 ? 0x7e00 : 0x7fc0;
    const void *none = e == F64   ? (const void *)&none64
                       : e == F32 ? (const void *)&none32
                                  : &none16;
    Type t = type_scalar(e);
    Dense same[] = { { t, true, arena_copy(m->arena, zero, sizeof zero) },
                     { t, true, arena_copy(m->arena, none, (size_t)element_info[e].bytes) } };
    ValueId z = build_constant(m, r, same[0], &loc_unknown);
    ValueId q = build_constant(m, r, same[1], &loc_unknown);
    ValueId is_zero = compare_in(m, r, EQ, COMPARE_FLOAT, x, z);
    ValueId is_none = compare_in(m, r, NE, COMPARE_FLOAT, x, x);
    x = build_node(m, r, OP_SELECT, 3, (const ValueId[]){ is_zero, z, x }, t, NULL, &loc_unknown);
    return build_node(m, r, OP_SELECT, 3, (const ValueId[]){ is_none, q, x }, t, NULL,
                      &loc_unknown);
}

/* Is a before b?  By JAX's order: -0 is 0, and what is no number comes last. */
static Graph comparator(Element e, int n)
{
    static const bool strong[1];
    Module *m = session->m;
    Type args[] = { type_scalar(e), type_scalar(e), type_scalar(I32), type_scalar(I32) };
    RegionId r = region_new(m, 0, n, args);
    ValueId first = region_at(m, r)->args, in[] = { first, first + 1 };
    ElementKind kind = element_info[e].kind;
    for (int i = 0; kind == FLOAT && i < 2; i++)
        in[i] = canonical(m, r, in[i], e);
    int type = kind == FLOAT    ? COMPARE_TOTALORDER
               : kind == SIGNED ? COMPARE_SIGNED
                                : COMPARE_UNSIGNED;
    ValueId before = compare_in(m, r, LT, type, in[0], in[1]);
    build_return(m, r, 1, &before, &loc_unknown);
    return (Graph){ m, r, n, 1, strong };
}

/* x in order, and where each element was. */
static bool sort(const Along *c, tt x, int axis, bool with_places, tt *out)
{
    Type t = type_at(x), types[] = { t, type_with(t, I32) };
    tt in[] = { x, NO_VALUE };
    if (with_places)
        in[1] = build_iota(types[1], axis);
    Graph order = comparator(t.element, with_places ? 4 : 2);
    return trace_apply_regions(c->who, OP_SORT, 1 + with_places, in,
                               BUILD_ATTRS(SortAttrs, .dimension = axis, .is_stable = true), 1,
                               &order, 1 + with_places, types, out);
}

tt sort_by(tt keys, tt values)
{
    Type t = type_at(keys), types[] = { t, type_at(values) };
    tt in[] = { keys, values }, out[2];
    Graph order = comparator(t.element, 4);
    bool ok = trace_apply_regions("a sort", OP_SORT, 2, in,
                                  BUILD_ATTRS(SortAttrs, .dimension = 0, .is_stable = true), 1,
                                  &order, 2, types, out);
    return ok ? out[1] : NO_VALUE;
}

static void sort_body(const tt *in, tt *out, const void *config)
{
    const Along *c = config;
    Shape shape;
    int axis;
    tt y[2];
    if (!take_along(c, in, &shape, &axis))
        return;
    if (element_info[shape.element].kind == COMPLEX) {
        report_broken("%s: %s: complex numbers have no order", c->who, shape_text(&shape));
        return;
    }
    if (sort(c, in[0], axis, c->k, y))
        *out = as_weak(y[c->k], shape.is_weak && !c->k);
}

tt tt_sort(tt x, int axis)
{
    PUBLIC;
    Along c = { "tt_sort", axis, 0, 0 };
    return EAGER(c.who, sort_body, &c, x);
}

tt tt_argsort(tt x, int axis)
{
    PUBLIC;
    Along c = { "tt_argsort", axis, 1, 0 };
    return EAGER(c.who, sort_body, &c, x);
}

static void top_k_body(const tt *in, tt *out, const void *config)
{
    const Along *c = config;
    Shape shape;
    if (!shapes_of(c->who, 1, in, &shape))
        return;
    if (!shape.rank || c->k < 0 || c->k > shape.dims[shape.rank - 1]) {
        report_broken("tt_top_k: %lld of %s: there must be as many along its last axis",
                      (long long)c->k, shape_text(&shape));
        return;
    }
    int64_t dims[TT_MAX_RANK];
    memcpy(dims, shape.dims, sizeof dims);
    dims[shape.rank - 1] = c->k;
    Type types[] = { type_new(trace_arena(), shape.element, shape.rank, dims),
                     type_new(trace_arena(), I32, shape.rank, dims) };
    trace_apply(c->who, OP_TOP_K, 1, in, BUILD_ATTRS(TopKAttrs, .k = c->k), 2, types, out);
}

tt_top tt_top_k(tt x, int64_t k)
{
    PUBLIC;
    Along c = { "tt_top_k", -1, k, 0 };
    tt out[2];
    call_eager(c.who, top_k_body, &c, sizeof c, 1, &x, 2, out);
    return (tt_top){ out[0], out[1] };
}

/* ---- running sums ---- */

/* A window of all elements up to each: reduce_window, which has its derivatives. */
static tt running(OpId op, tt x, int axis)
{
    Type t = type_at(x);
    int64_t size[TT_MAX_RANK], ones[TT_MAX_RANK], pads[2 * TT_MAX_RANK] = { 0 };
    for (int i = 0; i < t.rank; i++)
        size[i] = ones[i] = 1;
    size[axis] = t.dims[axis];
    pads[2 * axis] = t.dims[axis] - 1;
    WindowAttrs *w = BUILD_ATTRS(WindowAttrs, .window_dimensions = ints_of(t.rank, size),
                                 .window_strides = ints_of(t.rank, ones),
                                 .base_dilations = ints_of(t.rank, ones),
                                 .window_dilations = ints_of(t.rank, ones),
                                 .padding = { t.rank, 2, ints_of(2 * t.rank, pads).at });
    bool is_float = element_info[t.element].kind == FLOAT;
    Type one = type_scalar(t.element);
    tt start = op == OP_ADD   ? build_zeros(one)
               : op == OP_MUL ? build_number(one, 1)
               : is_float     ? build_number(one, op == OP_MAX ? -INFINITY : INFINITY)
                          : build_reduce(op == OP_MAX ? OP_MIN : OP_MAX, x, ints_range(0, t.rank));
    Graph region = trace_reducer(op, t.element);
    tt in[] = { x, start }, y = NO_VALUE;
    trace_apply_regions("a running sum", OP_REDUCE_WINDOW, 2, in, w, 1, &region, 1, &t, &y);
    return y;
}

static void running_body(const tt *in, tt *out, const void *config)
{
    const Along *c = config;
    Shape shape;
    int axis;
    if (!take_along(c, in, &shape, &axis))
        return;
    tt x = shape.element == I1 ? build_convert(in[0], I32) : in[0];
    *out = as_weak(shape.dims[axis] ? running((OpId)c->op, x, axis) : x, shape.is_weak);
}

#define RUNNING(name, op)                                                                          \
    tt tt_##name(tt x, int axis)                                                                   \
    {                                                                                              \
        PUBLIC;                                                                                    \
        Along c = { "tt_" #name, axis, 0, op };                                                    \
        return EAGER(c.who, running_body, &c, x);                                                  \
    }
RUNNING(cumsum, OP_ADD)
RUNNING(cumprod, OP_MUL)
RUNNING(cummax, OP_MAX)
RUNNING(cummin, OP_MIN)

static void diff_body(const tt *in, tt *out, const void *config)
{
    const Along *c = config;
    Shape shape;
    int axis;
    if (take_along(c, in, &shape, &axis))
        *out = tt_sub(tt_slice(in[0], axis, 1, INT64_MAX), tt_slice(in[0], axis, 0, -1));
}

tt tt_diff(tt x, int axis)
{
    PUBLIC;
    Along c = { "tt_diff", axis, 0, 0 };
    return EAGER(c.who, diff_body, &c, x);
}

/* ---- at positions ---- */

/* Each row of x at the places that its own row of indices says. */
static void along_body(const tt *in, tt *out, const void *config)
{
    const Along *c = config;
    Shape s[2], rest[2], common;
    int axis;
    if (!shapes_of(c->who, 2, in, s) || !take_along(c, in, &s[0], &axis))
        return;
    ElementKind kind = element_info[s[1].element].kind;
    if (s[0].rank != s[1].rank || (kind != SIGNED && kind != UNSIGNED)) {
        report_broken("%s: %s by indices %s: they are integers, with as many axes", c->who,
                      shape_text(&s[0]), shape_text(&s[1]));
        return;
    }
    memcpy(rest, s, sizeof rest);
    rest[0].dims[axis] = rest[1].dims[axis] = 1;
    if (!broadcast_shapes(c->who, 2, rest, &common))
        return;
    Shape to[2] = { common, common };
    tt x[2];
    for (int i = 0; i < 2; i++) {
        to[i].dims[axis] = s[i].dims[axis];
        x[i] = as_shape(in[i], &to[i]);
    }
    int64_t n = s[0].dims[axis];
    x[1] = index_from_end(x[1], n);
    tt y = gather_along(x[0], x[1], axis);
    *out = as_weak(fill_outside(y, x[1], n, ints_range(0, common.rank)), s[0].is_weak);
}

tt tt_take_along(tt x, tt indices, int axis)
{
    PUBLIC;
    Along c = { "tt_take_along", axis, 0, 0 };
    return EAGER(c.who, along_body, &c, x, indices);
}

/* The least integer there is, or the largest. */
static tt farthest(Type t, bool is_least)
{
    ElementKind kind = element_info[t.element].kind;
    int bits = element_info[t.element].bits;
    double most = ldexp(1, kind == SIGNED ? bits - 1 : bits), least = kind == SIGNED ? -most : 0;
    return is_least ? build_number(t, least) : build1(OP_NOT, build_number(t, least));
}

/* Rows combined by the numbers of their segments; those of no segment are dropped. */
static void segment_body(const tt *in, tt *out, const void *config)
{
    const Along *c = config;
    Shape s[2];
    if (!shapes_of(c->who, 2, in, s))
        return;
    if (s[1].rank != 1 || !s[0].rank || s[0].dims[0] != s[1].dims[0]) {
        report_broken("%s: %s by segments %s: there is one for each row", c->who, shape_text(&s[0]),
                      shape_text(&s[1]));
        return;
    }
    tt_dims all = { s[0].rank, { c->k } };
    memcpy(all.v + 1, s[0].dims + 1, sizeof *all.v * (size_t)(s[0].rank - 1));
    Type t = type_new(trace_arena(), s[0].element, all.n, all.v);
    bool is_float = element_info[s[0].element].kind == FLOAT;
    tt_put how = (tt_put)c->op;
    tt start = how == TT_PUT_ADD   ? build_zeros(t)
               : how == TT_PUT_MUL ? build_number(t, 1)
               : is_float          ? build_number(t, how == TT_PUT_MAX ? -INFINITY : INFINITY)
                                   : farthest(t, how == TT_PUT_MAX);
    tt at = tt_where(tt_less(in[1], tt_integer(0)), tt_integer(c->k), in[1]);
    tt_part rows = { .kind = TT_PART_ARRAY, .at = at };
    *out = tt_put_n(start, in[0], how, &rows, 1);
}

static tt by_segment(const char *who, tt_put how, tt x, tt segments, int64_t n)
{
    Along c = { who, 0, n, how };
    if (n < 0)
        return report_broken("%s: %lld segments", who, (long long)n);
    return EAGER(who, segment_body, &c, x, segments);
}

#define SEGMENT(name, how)                                                                         \
    tt tt_segment_##name(tt x, tt segments, int64_t n)                                             \
    {                                                                                              \
        PUBLIC;                                                                                    \
        return by_segment("tt_segment_" #name, how, x, segments, n);                               \
    }
SEGMENT(sum, TT_PUT_ADD)
SEGMENT(prod, TT_PUT_MUL)
SEGMENT(max, TT_PUT_MAX)
SEGMENT(min, TT_PUT_MIN)

static void bincount_body(const tt *in, tt *out, const void *config)
{
    const Along *c = config;
    tt flat = tt_reshape(in[0], DIMS(-1));
    Shape s;
    if (!shapes_of(c->who, 1, &flat, &s))
        return;
    tt ones = build_number(type_with(type_at(flat), I32), 1);
    *out = tt_segment_sum(ones, tt_max(flat, tt_integer(0)), c->k);
}

tt tt_bincount(tt x, int64_t n)
{
    PUBLIC;
    Along c = { "tt_bincount", 0, n, 0 };
    return EAGER(c.who, bincount_body, &c, x);
}

/* How many of the sorted edges are below x, or with `right` not above it. */
static void searchsorted_body(const tt *in, tt *out, const void *config)
{
    const Along *c = config;
    Shape s[2];
    if (!shapes_of(c->who, 2, in, s))
        return;
    if (s[0].rank != 1) {
        report_broken("tt_searchsorted: the edges are %s; they have one axis", shape_text(&s[0]));
        return;
    }
    tt_dims column = { s[1].rank + 1, { 0 } };
    memcpy(column.v, s[1].dims, sizeof *column.v * (size_t)s[1].rank);
    column.v[s[1].rank] = 1;
    tt x = tt_reshape(in[1], &column);
    tt is_below = c->k ? tt_less_equal(in[0], x) : tt_less(in[0], x);
    *out = tt_sum(tt_astype(is_below, TT_I32), DIMS(-1));
}

tt tt_searchsorted(tt edges, tt x, bool right)
{
    PUBLIC;
    Along c = { "tt_searchsorted", 0, right, 0 };
    return EAGER(c.who, searchsorted_body, &c, edges, x);
}
