/* arrange.c - public operations that make arrays, and that rearrange them: new axes, other orders,
 * copies, borders, diagonals. */
#include "front/api/numpy.h"

#include "front/value/library.h"
#include "front/value/report.h"

#include <math.h>
#include <string.h>

static Type type_as(Element e, int rank, const int64_t *dims)
{
    return type_new(trace_arena(), e, rank, dims);
}

/* The axes that c lists, of an array with so many; a bit each.  False: reported. */
static bool axis_bits(const Numbers *c, Type t, int rank, unsigned *bits)
{
    *bits = 0;
    t.rank = rank;
    for (int i = 0; i < c->n; i++) {
        int axis;
        if (!normalize_axis(c->who, t, c->v[i], &axis))
            return false;
        if (*bits >> axis & 1)
            return report_broken("%s: axis %d is given twice", c->who, axis), false;
        *bits |= 1u << axis;
    }
    return true;
}

/* ---- making ---- */

static void like_body(const tt *in, tt *out, const void *config)
{
    const Numbers *c = config;
    Shape shape;
    if (shapes_of(c->who, 1, in, &shape))
        *out = as_weak(build_number(type_at(in[0]), c->x[0]), shape.is_weak);
}

tt tt_full_like(tt x, double value)
{
    PUBLIC;
    Numbers c = numbers_of("tt_full_like", NULL);
    c.x[0] = value;
    return EAGER(c.who, like_body, &c, x);
}

static void eye_body(const tt *in, tt *out, const void *config)
{
    (void)in;
    const Numbers *c = config;
    Type t = type_as(I32, 2, c->v);
    tt is_on = build_compare(EQ, build_iota(t, 0), build_iota(t, 1));
    *out = as_element(is_on, (Element)c->v[2]);
}

tt tt_eye(tt_dtype type, int64_t n)
{
    PUBLIC;
    if (!dtype_ok("tt_eye", type) || !dims_ok("tt_eye", DIMS(n, n)))
        return NO_VALUE;
    Numbers c = numbers_of("tt_eye", DIMS(n, n, element_of(type)));
    return call_eager_one(c.who, eye_body, &c, sizeof c, 0, NULL);
}

/* start, start + step, ...: n of them. */
static void steps_body(const tt *in, tt *out, const void *config)
{
    (void)in;
    const Numbers *c = config;
    Element e = (Element)c->v[1];
    Type t = type_as(e, 1, c->v);
    tt at = build_iota(t, 0);
    *out = build2(OP_ADD, build_number(t, c->x[0]), build2(OP_MUL, at, build_number(t, c->x[1])));
}

static tt steps(const char *who, tt_dtype type, double start, double step, int64_t n)
{
    if (!dtype_ok(who, type) || !dims_ok(who, DIMS(n)))
        return NO_VALUE;
    Numbers c = numbers_of(who, DIMS(n, element_of(type)));
    c.x[0] = start;
    c.x[1] = step;
    return call_eager_one(c.who, steps_body, &c, sizeof c, 0, NULL);
}

tt tt_range(tt_dtype type, double start, double stop, double step)
{
    PUBLIC;
    if (step == 0 || !isfinite((stop - start) / step))
        return report_broken("tt_range: from %g to %g by steps of %g never ends", start, stop,
                             step);
    double n = ceil((stop - start) / step);
    return steps("tt_range", type, start, step, n > 0 ? (int64_t)n : 0);
}

/* As JAX weighs both ends, so that the last is exactly stop. */
static void linspace_body(const tt *in, tt *out, const void *config)
{
    (void)in;
    const Numbers *c = config;
    Element e = (Element)c->v[1];
    int64_t n = c->v[0], few = n > 1 ? n - 1 : 1;
    Type t = type_as(e, 1, &few);
    tt far = build2(OP_DIV, build_iota(t, 0), build_number(t, (double)few));
    tt near = build2(OP_SUB, build_number(t, 1), far);
    tt y = build2(OP_ADD, build2(OP_MUL, build_number(t, c->x[0]), near),
                  build2(OP_MUL, build_number(t, c->x[1]), far));
    int64_t one = 1;
    tt last = build_number(type_as(e, 1, &one), c->x[1]);
    *out = n > 1 ? build_concatenate(2, (const tt[]){ y, last }, 0)
           : n   ? y
                 : build_zeros(type_as(e, 1, &n));
}

tt tt_linspace(tt_dtype type, double start, double stop, int64_t n)
{
    PUBLIC;
    if (!dtype_ok("tt_linspace", type) || !dims_ok("tt_linspace", DIMS(n)))
        return NO_VALUE;
    if (element_info[element_of(type)].kind != FLOAT)
        return report_broken("tt_linspace: the type must be a float");
    Numbers c = numbers_of("tt_linspace", DIMS(n, element_of(type)));
    c.x[0] = start;
    c.x[1] = stop;
    return call_eager_one(c.who, linspace_body, &c, sizeof c, 0, NULL);
}

/* ---- axes ---- */

static void expand_body(const tt *in, tt *out, const void *config)
{
    const Numbers *c = config;
    Shape s;
    unsigned bits;
    if (!shapes_of(c->who, 1, in, &s))
        return;
    int rank = s.rank + (int)c->n;
    if (rank > TT_MAX_RANK) {
        report_broken("%s: %s with %lld more axes: %d are the most", c->who, shape_text(&s),
                      (long long)c->n, TT_MAX_RANK);
        return;
    }
    if (!axis_bits(c, shape_type(&s), rank, &bits))
        return;
    int64_t dims[TT_MAX_RANK];
    for (int i = 0, k = 0; i < rank; i++)
        dims[i] = bits >> i & 1 ? 1 : s.dims[k++];
    *out = as_weak(build_reshape(in[0], type_as(s.element, rank, dims)), s.is_weak);
}

tt tt_expand(tt x, const tt_dims *axes)
{
    PUBLIC;
    return EAGER_BY("tt_expand", expand_body, axes, x);
}

static void squeeze_body(const tt *in, tt *out, const void *config)
{
    const Numbers *c = config;
    Shape s;
    unsigned bits;
    if (!shapes_of(c->who, 1, in, &s) || !axis_bits(c, shape_type(&s), s.rank, &bits))
        return;
    int64_t dims[TT_MAX_RANK];
    int rank = 0;
    for (int i = 0; i < s.rank; i++) {
        if (c->n && bits >> i & 1 && s.dims[i] != 1) {
            report_broken("tt_squeeze: %s: axis %d has %lld; only axes of 1 can go", shape_text(&s),
                          i, (long long)s.dims[i]);
            return;
        }
        bool goes = c->n ? bits >> i & 1 : s.dims[i] == 1;
        if (!goes)
            dims[rank++] = s.dims[i];
    }
    *out = as_weak(build_reshape(in[0], type_as(s.element, rank, dims)), s.is_weak);
}

tt tt_squeeze(tt x, const tt_dims *axes)
{
    PUBLIC;
    return EAGER_BY("tt_squeeze", squeeze_body, axes, x);
}

/* Two axes, from c: they change places, or the first moves to the second's. */
static bool two_axes(const Numbers *c, const tt *in, Shape *s, int *a, int *b)
{
    return shapes_of(c->who, 1, in, s) && normalize_axis(c->who, shape_type(s), c->v[0], a) &&
           normalize_axis(c->who, shape_type(s), c->v[1], b);
}

static void swap_body(const tt *in, tt *out, const void *config)
{
    Shape s;
    int a, b;
    int64_t order[TT_MAX_RANK];
    if (!two_axes(config, in, &s, &a, &b))
        return;
    for (int i = 0; i < s.rank; i++)
        order[i] = i == a ? b : i == b ? a : i;
    *out = as_weak(build_transpose(in[0], ints_of(s.rank, order)), s.is_weak);
}

tt tt_swap_axes(tt x, int a, int b)
{
    PUBLIC;
    return EAGER_BY("tt_swap_axes", swap_body, DIMS(a, b), x);
}

static void move_body(const tt *in, tt *out, const void *config)
{
    Shape s;
    int from, to;
    if (two_axes(config, in, &s, &from, &to))
        *out = as_weak(build_move_axis(in[0], from, to), s.is_weak);
}

tt tt_move_axis(tt x, int from, int to)
{
    PUBLIC;
    return EAGER_BY("tt_move_axis", move_body, DIMS(from, to), x);
}

static void flip_body(const tt *in, tt *out, const void *config)
{
    const Numbers *c = config;
    Shape s;
    unsigned bits;
    int64_t axes[TT_MAX_RANK];
    int n = 0;
    if (!shapes_of(c->who, 1, in, &s) || !axis_bits(c, shape_type(&s), s.rank, &bits))
        return;
    for (int i = 0; i < s.rank; i++)
        if (!c->n || bits >> i & 1)
            axes[n++] = i;
    *out = as_weak(build_op(OP_REVERSE, 1, in,
                            BUILD_ATTRS(DimensionsAttrs, .dimensions = ints_of(n, axes)),
                            type_at(in[0])),
                   s.is_weak);
}

tt tt_flip(tt x, const tt_dims *axes)
{
    PUBLIC;
    return EAGER_BY("tt_flip", flip_body, axes, x);
}

/* ---- copies ---- */

static void roll_body(const tt *in, tt *out, const void *config)
{
    const Numbers *c = config;
    Shape s;
    int axis;
    if (!shapes_of(c->who, 1, in, &s) || !normalize_axis(c->who, shape_type(&s), c->v[1], &axis))
        return;
    int64_t n = s.dims[axis], by = n ? (c->v[0] % n + n) % n : 0;
    *out = in[0];
    if (by)
        *out = tt_concat_n(
            (const tt[]){ tt_slice(in[0], axis, n - by, n), tt_slice(in[0], axis, 0, n - by) }, 2,
            axis);
}

tt tt_roll(tt x, int64_t by, int axis)
{
    PUBLIC;
    return EAGER_BY("tt_roll", roll_body, DIMS(by, axis), x);
}

/* Every axis so often: the array beside itself, or (is_each) each element beside itself. */
static tt copies(tt x, int rank, const int64_t *times, bool is_each)
{
    for (int i = 0; i < rank; i++) {
        Type t = type_at(x), wide = type_insert(t, i + is_each, times[i]);
        if (times[i] == 1)
            continue;
        int64_t dims[TT_MAX_RANK], at[TT_MAX_RANK];
        for (int k = 0; k < rank; k++) {
            dims[k] = k == i ? t.dims[k] * times[k] : t.dims[k];
            at[k] = k < i + is_each ? k : k + 1;
        }
        x = build_reshape(build_broadcast(x, wide, ints_of(rank, at)),
                          type_as(t.element, rank, dims));
    }
    return x;
}

static void tile_body(const tt *in, tt *out, const void *config)
{
    const Numbers *c = config;
    Shape s;
    int64_t times[TT_MAX_RANK], dims[TT_MAX_RANK];
    if (!shapes_of(c->who, 1, in, &s))
        return;
    int rank = s.rank > c->n ? s.rank : (int)c->n;
    for (int i = 0; i < rank; i++) {
        int own = i - (rank - s.rank), given = i - (rank - (int)c->n);
        dims[i] = own < 0 ? 1 : s.dims[own];
        times[i] = given < 0 ? 1 : c->v[given];
    }
    tt x = build_reshape(in[0], type_as(s.element, rank, dims));
    *out = as_weak(copies(x, rank, times, false), s.is_weak);
}

tt tt_tile(tt x, const tt_dims *times)
{
    PUBLIC;
    if (!dims_ok("tt_tile", times))
        return NO_VALUE;
    return EAGER_BY("tt_tile", tile_body, times, x);
}

static void repeat_body(const tt *in, tt *out, const void *config)
{
    const Numbers *c = config;
    Shape s;
    int axis;
    int64_t times[TT_MAX_RANK];
    if (!shapes_of(c->who, 1, in, &s) || !normalize_axis(c->who, shape_type(&s), c->v[1], &axis))
        return;
    for (int i = 0; i < s.rank; i++)
        times[i] = i == axis ? c->v[0] : 1;
    *out = as_weak(copies(in[0], s.rank, times, true), s.is_weak);
}

tt tt_repeat(tt x, int64_t times, int axis)
{
    PUBLIC;
    Numbers c = numbers_of("tt_repeat", DIMS(times, axis));
    if (times < 0)
        return report_broken("tt_repeat: %lld times", (long long)times);
    return EAGER(c.who, repeat_body, &c, x);
}

/* ---- borders ---- */

/* As many of x beside it along the axis as the border takes, in the order that the mode says. */
static tt border(tt x, int axis, int64_t n, tt_pad_mode mode, bool is_before)
{
    int64_t extent = type_at(x).dims[axis];
    if (mode == TT_PAD_EDGE) {
        tt edge = tt_slice(x, axis, is_before ? 0 : extent - 1, is_before ? 1 : extent);
        return tt_repeat(edge, n, axis);
    }
    if (mode == TT_PAD_WRAP)
        return is_before ? tt_slice(x, axis, extent - n, extent) : tt_slice(x, axis, 0, n);
    int skip = mode == TT_PAD_REFLECT;
    tt part = is_before ? tt_slice(x, axis, skip, n + skip)
                        : tt_slice(x, axis, extent - n - skip, extent - skip);
    return tt_flip(part, DIMS(axis));
}

static tt pad_by_copies(const Numbers *c, tt x, const int64_t *low, const int64_t *high)
{
    tt_pad_mode mode = (tt_pad_mode)c->v[0];
    for (int i = 0; i < type_at(x).rank; i++) {
        int64_t extent = type_at(x).dims[i], most = mode == TT_PAD_EDGE      ? INT64_MAX
                                                    : mode == TT_PAD_REFLECT ? extent - 1
                                                                             : extent;
        if (low[i] < 0 || high[i] < 0 || low[i] > most || high[i] > most ||
            (!extent && (low[i] || high[i])))
            return report_broken("tt_pad: axis %d of %s has no border of %lld and %lld to take", i,
                                 type_text(type_at(x)), (long long)low[i], (long long)high[i]);
        tt parts[3];
        int n = 0;
        if (low[i])
            parts[n++] = border(x, i, low[i], mode, true);
        parts[n++] = x;
        if (high[i])
            parts[n++] = border(x, i, high[i], mode, false);
        x = tt_concat_n(parts, n, i);
    }
    return x;
}

static void pad_body(const tt *in, tt *out, const void *config)
{
    const Numbers *c = config;
    Shape s;
    int64_t low[TT_MAX_RANK] = { 0 }, high[TT_MAX_RANK] = { 0 }, none[TT_MAX_RANK] = { 0 };
    if (!shapes_of(c->who, 1, in, &s))
        return;
    for (int i = 1; i < c->n; i += 3) {
        int axis;
        if (!normalize_axis(c->who, shape_type(&s), c->v[i], &axis))
            return;
        low[axis] = c->v[i + 1];
        high[axis] = c->v[i + 2];
        if (s.dims[axis] + low[axis] + high[axis] < 0) {
            report_broken("tt_pad: %s: axis %d would have less than nothing", shape_text(&s), axis);
            return;
        }
    }
    if (c->v[0] != TT_PAD_VALUE) {
        *out = as_weak(pad_by_copies(c, in[0], low, high), s.is_weak);
        return;
    }
    tt value = build_number(type_scalar(s.element), c->x[0]);
    *out = as_weak(
        build_pad(in[0], value, ints_of(s.rank, low), ints_of(s.rank, high), ints_of(s.rank, none)),
        s.is_weak);
}

tt tt_pad_n(tt x, tt_pad_mode mode, double value, const tt_border *borders, int n)
{
    PUBLIC;
    Numbers c = numbers_of("tt_pad", NULL);
    if (n > TT_MAX_RANK || (unsigned)mode > TT_PAD_WRAP)
        return report_broken("tt_pad: %d borders, mode %d: there are fewer axes, or modes", n,
                             (int)mode);
    c.x[0] = value;
    c.v[c.n++] = mode;
    for (int i = 0; i < n; i++) {
        c.v[c.n++] = borders[i].axis;
        c.v[c.n++] = borders[i].before;
        c.v[c.n++] = borders[i].after;
    }
    return EAGER(c.who, pad_body, &c, x);
}

/* ---- parts ---- */

static void parts_body(const tt *in, tt *out, const void *config)
{
    const Numbers *c = config;
    Shape s;
    int axis;
    if (!shapes_of(c->who, 1, in, &s) || !normalize_axis(c->who, shape_type(&s), c->v[0], &axis))
        return;
    int64_t n = c->v[1], each = s.dims[axis] / n;
    if (s.dims[axis] % n) {
        report_broken("tt_parts: %s: axis %d has %lld, which are no %lld equal parts",
                      shape_text(&s), axis, (long long)s.dims[axis], (long long)n);
        return;
    }
    for (int64_t i = 0; i < n; i++)
        out[i] = tt_slice(in[0], axis, i * each, (i + 1) * each);
}

void tt_parts_n(tt *parts, int n, tt x, int axis)
{
    PUBLIC;
    Numbers c = numbers_of("tt_parts", DIMS(axis, n));
    if (n < 1)
        report_broken("tt_parts: %d parts", n);
    else
        call_eager(c.who, parts_body, &c, sizeof c, 1, &x, n, parts);
}

/* ---- diagonals ---- */

/* Row minus column, of the last two axes: what lies on the diagonal, below, above. */
static bool triangle(const Numbers *c, const tt *in, Shape *s, tt *is_kept)
{
    if (!shapes_of(c->who, 1, in, s))
        return false;
    if (s->rank < 2)
        return report_broken("%s: %s is no matrix", c->who, shape_text(s)), false;
    Type t = type_with(type_at(in[0]), I32);
    tt row = build2(OP_ADD, build_iota(t, s->rank - 2), build_number(t, (double)c->v[0]));
    *is_kept = build_compare(c->v[1] ? LE : GE, row, build_iota(t, s->rank - 1));
    return true;
}

static void triangle_body(const tt *in, tt *out, const void *config)
{
    Shape s;
    tt is_kept;
    if (triangle(config, in, &s, &is_kept))
        *out = as_weak(build_select(is_kept, in[0], build_zeros(type_at(in[0]))), s.is_weak);
}

tt tt_tril(tt x, int k)
{
    PUBLIC;
    return EAGER_BY("tt_tril", triangle_body, DIMS(k, 0), x);
}

tt tt_triu(tt x, int k)
{
    PUBLIC;
    return EAGER_BY("tt_triu", triangle_body, DIMS(k, 1), x);
}

/* Of a vector the matrix with it on its diagonal; of a matrix, or of each of many, the diagonal. */
static void diag_body(const tt *in, tt *out, const void *config)
{
    const Numbers *c = config;
    Shape s;
    if (!shapes_of(c->who, 1, in, &s))
        return;
    if (s.rank == 1) {
        Type t = type_as(s.element, 2, (const int64_t[]){ s.dims[0], s.dims[0] });
        Type at = type_with(t, I32);
        tt is_on = build_compare(EQ, build_iota(at, 0), build_iota(at, 1));
        *out = build_select(is_on, build_broadcast(in[0], t, ints_range(0, 1)), build_zeros(t));
        return;
    }
    if (!s.rank) {
        report_broken("tt_diag: %s has no diagonal", shape_text(&s));
        return;
    }
    int64_t rows = s.dims[s.rank - 2], columns = s.dims[s.rank - 1],
            n = rows < columns ? rows : columns;
    tt at = tt_arange(TT_I32, n);
    tt_part parts[] = { { .kind = TT_PART_REST },
                        { .kind = TT_PART_ARRAY, .at = at },
                        { .kind = TT_PART_ARRAY, .at = at } };
    *out = as_weak(tt_get_n(in[0], parts, 3), s.is_weak);
}

tt tt_diag(tt x)
{
    PUBLIC;
    return EAGER_BY("tt_diag", diag_body, NULL, x);
}

static void trace_body(const tt *in, tt *out, const void *config)
{
    const Numbers *c = config;
    Shape s;
    if (!shapes_of(c->who, 1, in, &s))
        return;
    if (s.rank < 2)
        report_broken("tt_trace: %s is no matrix", shape_text(&s));
    else
        *out = tt_sum(tt_diag(in[0]), DIMS(-1));
}

tt tt_trace(tt x)
{
    PUBLIC;
    return EAGER_BY("tt_trace", trace_body, NULL, x);
}
