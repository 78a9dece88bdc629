/* shaping.c - public operations that move elements without changing them, and the product of
 * matrices, which is a matter of axes too. */
#include "front/api/numpy.h"

#include "front/value/array.h"
#include "front/value/library.h"
#include "front/value/report.h"

#include <stdio.h>
#include <string.h>

/* A list of numbers as configuration: compared as bytes, so what is not used is zero. */
typedef struct List {
    int64_t n, v[TT_MAX_RANK];
} List;

static List list_of(const tt_dims *dims)
{
    List list = { 0, { 0 } };
    list.n = dims ? (dims->n < TT_MAX_RANK ? dims->n : TT_MAX_RANK) : 0;
    for (int i = 0; i < list.n; i++)
        list.v[i] = dims->v[i];
    return list;
}

static Type type_as(Element e, int rank, const int64_t *dims)
{
    return type_new(trace_arena(), e, rank, dims);
}

/* "[4,-1]" */
static const char *dims_words(const List *list)
{
    enum { ROOM = 256 };
    static _Thread_local char words[ROOM];
    int n = snprintf(words, ROOM, "[");
    for (int i = 0; i < list->n; i++)
        n += snprintf(words + n, (size_t)(ROOM - n), i ? ",%lld" : "%lld", (long long)list->v[i]);
    snprintf(words + n, (size_t)(ROOM - n), "]");
    return words;
}

/* ---- Reshape, transpose, broadcast. */

/* Fills in the extent that is -1.  False: reported. */
static bool complete(Type t, const List *given, int64_t *dims)
{
    int64_t count = type_count(t), known = 1;
    int open = -1;
    for (int i = 0; i < given->n; i++) {
        dims[i] = given->v[i];
        if (dims[i] == -1 && open < 0) {
            open = i;
        } else if (dims[i] < 0) {
            report_broken("tt_reshape: %s: extents are 0 or more, and one may be -1",
                          dims_words(given));
            return false;
        } else {
            known = dims[i] && known > ((int64_t)1 << 56) / dims[i] ? -1 : known * dims[i];
        }
    }
    if (open >= 0 && known > 0 && count % known == 0) {
        dims[open] = count / known;
        return true;
    }
    if (open < 0 && known == count)
        return true;
    if (open >= 0)
        report_broken("tt_reshape: %s has %lld elements, which do not divide into %s", type_text(t),
                      (long long)count, dims_words(given));
    else
        report_broken("tt_reshape: %s has %lld elements, %s has %lld", type_text(t),
                      (long long)count, dims_words(given), (long long)known);
    return false;
}

static void reshape_body(const tt *in, tt *out, const void *config)
{
    const List *to = config;
    Shape shape;
    int64_t dims[TT_MAX_RANK];
    if (shapes_of("tt_reshape", 1, in, &shape) && complete(shape_type(&shape), to, dims))
        *out =
            as_weak(build_reshape(in[0], type_as(shape.element, (int)to->n, dims)), shape.is_weak);
}

tt tt_reshape(tt x, const tt_dims *shape)
{
    PUBLIC;
    List list = list_of(shape);
    return EAGER("tt_reshape", reshape_body, &list, x);
}

static void transpose_body(const tt *in, tt *out, const void *config)
{
    const List *given = config;
    Shape shape;
    if (!shapes_of("tt_transpose", 1, in, &shape))
        return;
    Type t = shape_type(&shape);
    int64_t permutation[TT_MAX_RANK];
    unsigned set = 0;
    for (int i = 0; i < t.rank; i++) {
        int axis = t.rank - 1 - i;
        if (i < given->n && !normalize_axis("tt_transpose", t, given->v[i], &axis))
            return;
        set |= 1u << axis;
        permutation[i] = axis;
    }
    if (set != (1u << t.rank) - 1 || (given->n && given->n != t.rank))
        report_broken("tt_transpose: %s: the axes %s are not all of its axes, each once",
                      shape_text(&shape), dims_words(given));
    else
        *out = as_weak(build_transpose(in[0], ints_of(t.rank, permutation)), shape.is_weak);
}

tt tt_transpose(tt x, const tt_dims *axes)
{
    PUBLIC;
    List list = list_of(axes);
    return EAGER("tt_transpose", transpose_body, &list, x);
}

static void broadcast_body(const tt *in, tt *out, const void *config)
{
    const List *given = config;
    Shape shape, to = { .rank = (int)given->n };
    if (!shapes_of("tt_broadcast", 1, in, &shape))
        return;
    memcpy(to.dims, given->v, sizeof to.dims);
    bool fits = shape.rank <= to.rank;
    for (int i = 1; fits && i <= shape.rank; i++) {
        int64_t own = shape.dims[shape.rank - i];
        fits = own == 1 || own == to.dims[to.rank - i];
    }
    if (fits)
        *out = as_weak(as_shape(in[0], &to), shape.is_weak);
    else
        report_broken("tt_broadcast: %s does not broadcast to %s: an axis keeps its extent unless "
                      "that is 1, counted from the last axis",
                      shape_text(&shape), dims_words(given));
}

tt tt_broadcast(tt x, const tt_dims *shape)
{
    PUBLIC;
    if (!dims_ok("tt_broadcast", shape))
        return NO_VALUE;
    List list = list_of(shape);
    return EAGER("tt_broadcast", broadcast_body, &list, x);
}

/* ---- Parts. */

/* x from start to limit along every axis. */
static tt slice(tt x, const int64_t *start, const int64_t *limit)
{
    int rank = type_at(x).rank;
    int64_t ones[TT_MAX_RANK];
    for (int i = 0; i < rank; i++)
        ones[i] = 1;
    return build_slice(x, ints_of(rank, start), ints_of(rank, limit), ints_of(rank, ones));
}

/* Outside a trace the numbers that say where a part begins are an operand, so that one program
 * serves them all; inside they are constants, which derivatives and layouts know more of. */
typedef struct Window {
    int64_t axis, n; /* begins at numbers of its own along these axes; elsewhere it is whole */
    int64_t extent;  /* along them */
    int64_t drops;   /* are they left out of the result? */
} Window;

static tt without_axes(tt x, const Window *window)
{
    Type t = type_at(x);
    return window->drops
               ? build_reshape(x, type_as(t.element, t.rank - (int)window->n, t.dims + window->n))
               : x;
}

static void dynamic_slice_body(const tt *in, tt *out, const void *config)
{
    const Window *window = config;
    Shape shape;
    if (!shapes_of("a part", 1, in, &shape))
        return;
    tt operands[TT_MAX_RANK + 1] = { in[0] };
    int64_t sizes[TT_MAX_RANK];
    for (int i = 0; i < shape.rank; i++) {
        int64_t k = i - window->axis;
        bool is_sliced = k >= 0 && k < window->n;
        sizes[i] = is_sliced ? window->extent : shape.dims[i];
        operands[1 + i] =
            is_sliced ? build_reshape(slice(in[1], &k, &(int64_t){ k + 1 }), type_scalar(I64))
                      : build_zeros(type_scalar(I64));
    }
    tt y = build_op(OP_DYNAMIC_SLICE, shape.rank + 1, operands,
                    BUILD_ATTRS(DynamicSliceAttrs, .slice_sizes = ints_of(shape.rank, sizes)),
                    type_as(shape.element, shape.rank, sizes));
    *out = as_weak(without_axes(y, window), shape.is_weak);
}

/* The part of x that begins at `start`, which lies inside. */
static tt dynamic_slice(const char *who, tt x, const int64_t *start, const Window *window)
{
    Array *where =
        array_from_host((Type){ I64, 1, &window->n }, start + window->axis, layout_home());
    tt at = where ? value_of_array(where, false) : NO_VALUE;
    return is_value(at) ? EAGER(who, dynamic_slice_body, window, x, at) : at;
}

/* The same inside a trace: where it begins and ends along each axis, and as what. */
typedef struct Slice {
    int64_t start[TT_MAX_RANK], limit[TT_MAX_RANK];
    Window window;
} Slice;

static void slice_body(const tt *in, tt *out, const void *config)
{
    const Slice *c = config;
    Shape shape;
    if (shapes_of("a part", 1, in, &shape))
        *out = as_weak(without_axes(slice(in[0], c->start, c->limit), &c->window), shape.is_weak);
}

static tt slice_of(const char *who, tt x, const Slice *c)
{
    tt y = NO_VALUE;
    if (tracing)
        record_body(who, slice_body, c, &x, 1, &y);
    else
        y = dynamic_slice(who, x, c->start, &c->window);
    return y;
}

/* Where x[at] begins along the axes that it names.  False: reported. */
static bool index_start(const Shape *shape, const List *at, int64_t *start)
{
    if (at->n > shape->rank) {
        report_broken("tt_index: %s has %d axes; there are %lld indices", shape_text(shape),
                      shape->rank, (long long)at->n);
        return false;
    }
    for (int i = 0; i < at->n; i++) {
        int64_t n = shape->dims[i], k = at->v[i];
        if (k < -n || k >= n) {
            report_broken(
                "tt_index: %s: index %lld is out of range along axis %d: from %lld to %lld",
                shape_text(shape), (long long)k, i, (long long)-n, (long long)(n - 1));
            return false;
        }
        start[i] = k < 0 ? k + n : k;
    }
    return true;
}

tt tt_index(tt x, const tt_dims *at)
{
    PUBLIC;
    List list = list_of(at);
    Slice c = { .window = { 0, list.n, 1, true } };
    Shape shape;
    if (!shapes_of("tt_index", 1, &x, &shape) || !index_start(&shape, &list, c.start))
        return NO_VALUE;
    for (int i = 0; i < shape.rank; i++)
        c.limit[i] = i < list.n ? c.start[i] + 1 : shape.dims[i];
    return slice_of("tt_index", x, &c);
}

/* As Python's x[start:stop]: both from the end if negative, and cut to what there is. */
static int64_t bounded(int64_t at, int64_t n)
{
    at += at < 0 ? n : 0;
    return at < 0 ? 0 : at > n ? n : at;
}

tt tt_slice(tt x, int axis, int64_t start, int64_t stop)
{
    PUBLIC;
    Slice c = { .window = { 0 } };
    Shape shape;
    if (!shapes_of("tt_slice", 1, &x, &shape) ||
        !normalize_axis("tt_slice", shape_type(&shape), axis, &axis))
        return NO_VALUE;
    memcpy(c.limit, shape.dims, sizeof c.limit);
    int64_t n = shape.dims[axis], from = bounded(start, n), to = bounded(stop, n);
    c.start[axis] = from;
    c.limit[axis] = to > from ? to : from;
    c.window = (Window){ axis, 1, c.limit[axis] - from, false };
    return slice_of("tt_slice", x, &c);
}

/* Indices from the end count back; what is still outside is taken to the nearest end. */
static void take_body(const tt *in, tt *out, const void *config)
{
    Shape s[2];
    int axis;
    if (!shapes_of("tt_take", 2, in, s) ||
        !normalize_axis("tt_take", shape_type(&s[0]), ((const List *)config)->v[0], &axis))
        return;
    ElementKind kind = element_info[s[1].element].kind;
    if (kind != SIGNED && kind != UNSIGNED) {
        report_broken("tt_take: the indices are %s; they must be integers", shape_text(&s[1]));
        return;
    }
    if (s[0].rank - 1 + s[1].rank > TT_MAX_RANK || s[0].dims[axis] == 0) {
        report_broken(
            "tt_take: %s by indices %s: the result would have %d axes, at most %d, and there "
            "must be something to take",
            shape_text(&s[0]), shape_text(&s[1]), s[0].rank - 1 + s[1].rank, TT_MAX_RANK);
        return;
    }
    tt at = index_from_end(in[1], s[0].dims[axis]);
    int64_t dims[2 * TT_MAX_RANK], sizes[TT_MAX_RANK], offsets[TT_MAX_RANK];
    int rank = 0, noffsets = 0;
    memcpy(sizes, s[0].dims, sizeof sizes);
    sizes[axis] = 1;
    for (int i = 0; i < s[0].rank; i++) {
        for (int k = 0; i == axis && k < s[1].rank; k++)
            dims[rank++] = s[1].dims[k];
        if (i != axis) {
            offsets[noffsets++] = rank;
            dims[rank++] = s[0].dims[i];
        }
    }
    Ints the_axis = ints_range(axis, 1);
    GatherAttrs *attrs = BUILD_ATTRS(GatherAttrs, .offset_dims = ints_of(noffsets, offsets),
                                     .collapsed_slice_dims = the_axis, .start_index_map = the_axis,
                                     .index_vector_dim = s[1].rank,
                                     .slice_sizes = ints_of(s[0].rank, sizes), .drops = true);
    tt y =
        build_op(OP_GATHER, 2, (const tt[]){ in[0], at }, attrs, type_as(s[0].element, rank, dims));
    *out = as_weak(fill_outside(y, at, s[0].dims[axis], ints_range(axis, s[1].rank)), s[0].is_weak);
}

tt tt_take(tt x, tt indices, int axis)
{
    PUBLIC;
    List list = { 1, { axis } };
    return EAGER("tt_take", take_body, &list, x, indices);
}

/* ---- Joining. */

typedef struct Joining {
    const char *who;
    int64_t n, axis, is_stack;
} Joining;

/* All of one rank, and of one shape but for the axis.  False: reported. */
static bool can_join(const Joining *c, const Shape *s, int axis)
{
    for (int i = 1; i < c->n; i++) {
        bool same = s[i].rank == s[0].rank;
        for (int k = 0; same && k < s[0].rank; k++)
            same = s[i].dims[k] == s[0].dims[k] || (!c->is_stack && k == axis);
        if (same)
            continue;
        if (c->is_stack)
            report_broken("%s: array 0 is %s and array %d is %s: they must have one shape", c->who,
                          shape_text(&s[0]), i, shape_text(&s[i]));
        else
            report_broken(
                "%s: array 0 is %s and array %d is %s: they may differ along axis %d only", c->who,
                shape_text(&s[0]), i, shape_text(&s[i]), axis);
        return false;
    }
    return true;
}

static void join_body(const tt *in, tt *out, const void *config)
{
    const Joining *c = config;
    Shape *s = ARENA_ARRAY(trace_arena(), Shape, c->n);
    if (!shapes_of(c->who, (int)c->n, in, s))
        return;
    Type t = shape_type(&s[0]);
    t.rank += c->is_stack != 0; /* a new axis may stand behind the last */
    int axis;
    if (t.rank > TT_MAX_RANK || !normalize_axis(c->who, t, c->axis, &axis) || !can_join(c, s, axis))
        return;
    Promoted met = promote_types((int)c->n, s);
    tt *x = ARENA_ARRAY(trace_arena(), tt, c->n);
    for (int i = 0; i < c->n; i++) {
        x[i] = as_element(in[i], met.element);
        if (c->is_stack)
            x[i] = build_reshape(x[i], type_insert(type_at(x[i]), axis, 1));
    }
    *out = as_weak(build_concatenate((int)c->n, x, axis), met.is_weak);
}

static tt join(const char *who, const tt *x, int n, int axis, bool is_stack)
{
    if (n < 1)
        return report_broken("%s: there are no arrays to join", who);
    Joining c = { who, n, axis, is_stack };
    return call_eager_one(who, join_body, &c, sizeof c, n, x);
}

tt tt_concat_n(const tt *x, int n, int axis)
{
    PUBLIC;
    return join("tt_concat", x, n, axis, false);
}

tt tt_stack_n(const tt *x, int n, int axis)
{
    PUBLIC;
    return join("tt_stack", x, n, axis, true);
}

/* ---- One hot. */

static void one_hot_body(const tt *in, tt *out, const void *config)
{
    const List *c = config; /* classes, element */
    Shape s;
    if (!shapes_of("tt_one_hot", 1, in, &s))
        return;
    if (s.rank == TT_MAX_RANK || element_info[s.element].kind == COMPLEX) {
        report_broken("tt_one_hot: %s: it takes labels of at most %d axes", shape_text(&s),
                      TT_MAX_RANK - 1);
        return;
    }
    Type all = type_insert(type_at(in[0]), s.rank, c->v[0]);
    tt labels = build_broadcast(in[0], all, ints_range(0, s.rank));
    *out = as_element(build_compare(EQ, labels, build_iota(all, s.rank)), (Element)c->v[1]);
}

tt tt_one_hot(tt labels, int64_t classes, tt_dtype type)
{
    PUBLIC;
    if (!dtype_ok("tt_one_hot", type))
        return NO_VALUE;
    if (classes < 1)
        return report_broken("tt_one_hot: %lld classes; there must be one at least",
                             (long long)classes);
    List list = { 2, { classes, element_of(type) } };
    return EAGER("tt_one_hot", one_hot_body, &list, labels);
}

/* ---- Matrices.
 *
 *     [.., m, k] by [.., k, n]  ->  [.., m, n]    leading axes broadcast; a vector is one row of
 *     the first or one column of the second, and its axis is not in the result. */

static bool can_multiply(const Shape *s)
{
    if (!s[0].rank || !s[1].rank) {
        report_broken("tt_matmul: %s by %s: a scalar has no axis to sum over; use tt_mul",
                      shape_text(&s[0]), shape_text(&s[1]));
        return false;
    }
    int64_t k = s[1].dims[s[1].rank > 1 ? s[1].rank - 2 : 0];
    if (s[0].dims[s[0].rank - 1] != k) {
        report_broken(
            "tt_matmul: %s by %s: the last axis of the first must match the %s of the second",
            shape_text(&s[0]), shape_text(&s[1]), s[1].rank > 1 ? "next-to-last" : "only axis");
        return false;
    }
    return true;
}

/* Both with leading axes: these are broadcast, and become batch axes. */
static tt batched_product(tt a, tt b, const Shape *s, Precisions precision)
{
    Shape lead[2], common;
    for (int i = 0; i < 2; i++) {
        lead[i] = s[i];
        lead[i].rank -= 2;
    }
    if (!broadcast_shapes("tt_matmul", 2, lead, &common))
        return NO_VALUE;
    tt x[] = { a, b };
    for (int i = 0; i < 2; i++) {
        Shape to = common;
        to.rank += 2;
        memcpy(to.dims + common.rank, s[i].dims + s[i].rank - 2, 2 * sizeof *to.dims);
        x[i] = as_shape(x[i], &to);
    }
    int n = common.rank;
    Ints batch = ints_range(0, n);
    return build_dot(x[0], x[1], batch, batch, ints_range(n + 1, 1), ints_range(n, 1), precision);
}

static void matmul_body(const tt *in, tt *out, const void *config)
{
    Precisions precision = precisions_of(*(const int64_t *)config);
    Shape s[2];
    if (!shapes_of("tt_matmul", 2, in, s) || !can_multiply(s))
        return;
    Promoted met = promote_types(2, s);
    tt a = as_element(in[0], met.element), b = as_element(in[1], met.element), y;
    Ints none = ints_range(0, 0), last = ints_range(s[0].rank - 1, 1);
    if (s[0].rank > 2 && s[1].rank > 2) {
        y = batched_product(a, b, s, precision);
    } else {
        y = build_dot(a, b, none, none, last, ints_range(s[1].rank > 1 ? s[1].rank - 2 : 0, 1),
                      precision);
        if (s[0].rank == 2 && s[1].rank > 2) /* rows come first; they belong before the last */
            y = build_move_axis(y, 0, s[1].rank - 2);
    }
    *out = as_weak(y, met.is_weak);
}

tt tt_matmul_with(tt a, tt b, const tt_product_options *given)
{
    PUBLIC;
    OPTIONS(tt_product_options, "tt_matmul", given, return NO_VALUE);
    if (!precision_ok("tt_matmul", options.precision))
        return NO_VALUE;
    int64_t c = options.precision;
    return call_eager_one("tt_matmul", matmul_body, &c, sizeof c, 2, (const tt[]){ a, b });
}

tt tt_matmul(tt a, tt b)
{
    return tt_matmul_with(a, b, NULL);
}
