/* reductions.c - public operations that combine elements along axes: sums, means, softmax ... */
#include "front/api/numpy.h"

#include "front/value/library.h"
#include "front/value/report.h"

#include <string.h>

typedef struct Config {
    const char *who;
    OpId op;
    int naxes; /* as listed; 0: all */
    int keeps; /* are they axes of 1 in the result? */
    int64_t axes[TT_MAX_RANK];
} Config;

static Config config_of(const char *who, OpId op, const tt_dims *axes)
{
    Config c;
    memset(&c, 0, sizeof c); /* compared as bytes */
    c.who = who;
    c.op = op;
    for (int i = 0; axes && i < axes->n && i < TT_MAX_RANK; i++)
        if (axes->v[i] == TT_KEEP)
            c.keeps = 1;
        else
            c.axes[c.naxes++] = axes->v[i];
    return c;
}

/* The operand's shape, and the axes to go over.  False: reported. */
static bool take_operand(const Config *c, const tt *in, Shape *shape, Ints *out)
{
    tt_dims list = { c->naxes, { 0 } }, axes;
    memcpy(list.v, c->axes, sizeof c->axes);
    if (!shapes_of(c->who, 1, in, shape) ||
        !normalize_axes(c->who, shape_type(shape), &list, &axes))
        return false;
    *out = ints_of(axes.n, axes.v);
    return true;
}

/* What came of x along the axes, with them as ones if they are kept. */
static tt kept(const Config *c, tt y, Type x, Ints axes)
{
    if (!c->keeps)
        return y;
    int64_t dims[TT_MAX_RANK];
    memcpy(dims, x.dims, sizeof *dims * (size_t)x.rank);
    for (int i = 0; i < axes.n; i++)
        dims[axes.at[i]] = 1;
    return build_reshape(y, type_new(trace_arena(), type_at(y).element, x.rank, dims));
}

static int64_t count_over(Type t, Ints axes)
{
    int64_t n = 1;
    for (int i = 0; i < axes.n; i++)
        n *= t.dims[axes.at[i]];
    return n;
}

/* x reduced, with the axes kept as ones broadcast back over x. */
static tt over(OpId op, tt x, Ints axes)
{
    Type t = type_at(x);
    tt y = build_reduce(op, x, axes);
    return build_broadcast(y, t, ints_except(t.rank, axes));
}

/* Integers are summed in at least 32 bits, narrow floats in f32. */
static Element wide_of(Element e)
{
    switch (e) {
    case I1:
    case I8:
    case I16: return I32;
    case U8:
    case U16: return U32;
    case F16:
    case BF16: return F32;
    default: return e;
    }
}

static void sum_body(const tt *in, tt *out, const void *config)
{
    const Config *c = config;
    Shape shape;
    Ints axes;
    if (!take_operand(c, in, &shape, &axes))
        return;
    Element wide = wide_of(shape.element);
    tt y = kept(c, build_reduce(c->op, as_element(in[0], wide), axes), shape_type(&shape), axes);
    bool is_float = element_info[shape.element].kind == FLOAT;
    *out = as_weak(is_float ? as_element(y, shape.element) : y, shape.is_weak);
}

tt tt_sum(tt x, const tt_dims *axes)
{
    PUBLIC;
    Config c = config_of("tt_sum", OP_ADD, axes);
    return EAGER(c.who, sum_body, &c, x);
}

tt tt_prod(tt x, const tt_dims *axes)
{
    PUBLIC;
    Config c = config_of("tt_prod", OP_MUL, axes);
    return EAGER(c.who, sum_body, &c, x);
}

static void mean_body(const tt *in, tt *out, const void *config)
{
    const Config *c = config;
    Shape shape;
    Ints axes;
    if (!take_operand(c, in, &shape, &axes))
        return;
    Promoted met = promote_inexact(1, &shape);
    tt x = as_element(in[0], wide_of(met.element));
    tt sum = build_reduce(OP_ADD, x, axes);
    tt n = build_number(type_at(sum), (double)count_over(type_at(x), axes));
    tt mean = kept(c, build2(OP_DIV, sum, n), type_at(x), axes);
    *out = as_weak(as_element(mean, met.element), met.is_weak);
}

tt tt_mean(tt x, const tt_dims *axes)
{
    PUBLIC;
    Config c = config_of("tt_mean", OP_ADD, axes);
    return EAGER(c.who, mean_body, &c, x);
}

static void extreme_body(const tt *in, tt *out, const void *config)
{
    const Config *c = config;
    Shape shape;
    Ints axes;
    if (!take_operand(c, in, &shape, &axes))
        return;
    if (element_info[shape.element].kind == COMPLEX)
        report_broken("%s: %s: complex numbers have no order", c->who, shape_text(&shape));
    else if (count_over(shape_type(&shape), axes) == 0)
        report_broken("%s: %s: no elements have no extreme", c->who, shape_text(&shape));
    else
        *out = as_weak(kept(c, build_reduce(c->op, in[0], axes), shape_type(&shape), axes),
                       shape.is_weak);
}

tt tt_amax(tt x, const tt_dims *axes)
{
    PUBLIC;
    Config c = config_of("tt_amax", OP_MAX, axes);
    return EAGER(c.who, extreme_body, &c, x);
}

tt tt_amin(tt x, const tt_dims *axes)
{
    PUBLIC;
    Config c = config_of("tt_amin", OP_MIN, axes);
    return EAGER(c.who, extreme_body, &c, x);
}

static void any_body(const tt *in, tt *out, const void *config)
{
    const Config *c = config;
    Shape shape;
    Ints axes;
    if (!take_operand(c, in, &shape, &axes))
        return;
    Type t = type_at(in[0]);
    tt x = t.element == I1 ? in[0] : build_compare(NE, in[0], build_zeros(t));
    *out = kept(c, build_reduce(c->op, x, axes), t, axes);
}

tt tt_any(tt x, const tt_dims *axes)
{
    PUBLIC;
    Config c = config_of("tt_any", OP_OR, axes);
    return EAGER(c.who, any_body, &c, x);
}

tt tt_all(tt x, const tt_dims *axes)
{
    PUBLIC;
    Config c = config_of("tt_all", OP_AND, axes);
    return EAGER(c.who, any_body, &c, x);
}

/* The mean of the squares of what is left without the mean; its root, if the operation says. */
static void variance_body(const tt *in, tt *out, const void *config)
{
    const Config *c = config;
    Shape shape;
    Ints axes;
    if (!take_operand(c, in, &shape, &axes))
        return;
    Promoted met = promote_inexact(1, &shape);
    tt x = as_element(in[0], wide_of(met.element));
    Type t = type_at(x);
    tt n = build_number(t, (double)count_over(t, axes));
    tt away = build2(OP_SUB, x, build2(OP_DIV, over(OP_ADD, x, axes), n));
    tt sum = build_reduce(OP_ADD, build2(OP_MUL, away, away), axes);
    tt y = build2(OP_DIV, sum, build_number(type_at(sum), (double)count_over(t, axes)));
    y = kept(c, c->op == OP_SQRT ? build1(OP_SQRT, y) : y, t, axes);
    *out = as_weak(as_element(y, met.element), met.is_weak);
}

tt tt_var(tt x, const tt_dims *axes)
{
    PUBLIC;
    Config c = config_of("tt_var", OP_ADD, axes);
    return EAGER(c.who, variance_body, &c, x);
}

tt tt_std(tt x, const tt_dims *axes)
{
    PUBLIC;
    Config c = config_of("tt_std", OP_SQRT, axes);
    return EAGER(c.who, variance_body, &c, x);
}

static void norm_body(const tt *in, tt *out, const void *config)
{
    const Config *c = config;
    Shape shape;
    Ints axes;
    if (!take_operand(c, in, &shape, &axes))
        return;
    Promoted met = promote_inexact(1, &shape);
    tt x = as_element(in[0], met.element);
    tt sum = build_reduce(OP_ADD, build2(OP_MUL, x, x), axes);
    *out = as_weak(kept(c, build1(OP_SQRT, sum), type_at(x), axes), met.is_weak);
}

tt tt_norm(tt x, const tt_dims *axes)
{
    PUBLIC;
    Config c = config_of("tt_norm", OP_ADD, axes);
    return EAGER(c.who, norm_body, &c, x);
}

/* ---- Softmax and its family: the largest is taken away first, so that exp stays in range. */

/* A float x, its type, and the axes.  False: reported. */
static bool exponents(const Config *c, const tt *in, tt *x, Ints *axes, bool *is_weak)
{
    Shape shape;
    if (!take_operand(c, in, &shape, axes))
        return false;
    Promoted met = promote_inexact(1, &shape);
    if (element_info[met.element].kind == COMPLEX || count_over(shape_type(&shape), *axes) == 0) {
        report_broken("%s: %s: it takes real numbers, at least one", c->who, shape_text(&shape));
        return false;
    }
    *x = as_element(in[0], met.element);
    *is_weak = met.is_weak;
    return true;
}

static void softmax_body(const tt *in, tt *out, const void *config)
{
    const Config *c = config;
    tt x;
    Ints axes;
    bool is_weak;
    if (!exponents(c, in, &x, &axes, &is_weak))
        return;
    tt e = build1(OP_EXP, build2(OP_SUB, x, build_stop_gradient(over(OP_MAX, x, axes))));
    *out = as_weak(build2(OP_DIV, e, over(OP_ADD, e, axes)), is_weak);
}

static void log_softmax_body(const tt *in, tt *out, const void *config)
{
    const Config *c = config;
    tt x;
    Ints axes;
    bool is_weak;
    if (!exponents(c, in, &x, &axes, &is_weak))
        return;
    tt shifted = build2(OP_SUB, x, build_stop_gradient(over(OP_MAX, x, axes)));
    tt sum = build_reduce(OP_ADD, build1(OP_EXP, shifted), axes);
    tt log = build_broadcast(build1(OP_LOG, sum), type_at(x), ints_except(type_at(x).rank, axes));
    *out = as_weak(build2(OP_SUB, shifted, log), is_weak);
}

/* An infinite largest is not taken away: inf - inf is no number. */
static void logsumexp_body(const tt *in, tt *out, const void *config)
{
    const Config *c = config;
    tt x;
    Ints axes;
    bool is_weak;
    if (!exponents(c, in, &x, &axes, &is_weak))
        return;
    tt top = build_reduce(OP_MAX, x, axes);
    tt finite = build_op(OP_IS_FINITE, 1, &top, NULL, type_with(type_at(top), I1));
    top = build_stop_gradient(build_select(finite, top, build_zeros(type_at(top))));
    tt back = build_broadcast(top, type_at(x), ints_except(type_at(x).rank, axes));
    tt sum = build_reduce(OP_ADD, build1(OP_EXP, build2(OP_SUB, x, back)), axes);
    tt y = build2(OP_ADD, build1(OP_LOG, sum), top);
    *out = as_weak(kept(c, y, type_at(x), axes), is_weak);
}

tt tt_logsumexp(tt x, const tt_dims *axes)
{
    PUBLIC;
    Config c = config_of("tt_logsumexp", OP_ADD, axes);
    return EAGER(c.who, logsumexp_body, &c, x);
}

static const tt_dims last = { 1, { -1 } };

tt tt_softmax(tt x, const tt_dims *axes)
{
    PUBLIC;
    Config c = config_of("tt_softmax", OP_ADD, axes && axes->n ? axes : &last);
    return EAGER(c.who, softmax_body, &c, x);
}

tt tt_log_softmax(tt x, const tt_dims *axes)
{
    PUBLIC;
    Config c = config_of("tt_log_softmax", OP_ADD, axes && axes->n ? axes : &last);
    return EAGER(c.who, log_softmax_body, &c, x);
}

typedef struct Place {
    int axis, is_least;
} Place;

/* The smallest index of those that hold the largest, or least; the first nan, if there is one. */
static void place_body(const tt *in, tt *out, const void *config)
{
    const Place *e = config;
    const char *who = e->is_least ? "tt_argmin" : "tt_argmax";
    tt x = e->axis == TT_NONE ? tt_reshape(in[0], DIMS(-1)) : in[0];
    Shape shape;
    int axis = 0;
    if (!shapes_of(who, 1, &x, &shape) ||
        (e->axis != TT_NONE && !normalize_axis(who, shape_type(&shape), e->axis, &axis)))
        return;
    if (shape.dims[axis] == 0 || element_info[shape.element].kind == COMPLEX) {
        report_broken("%s: %s: it takes real numbers, at least one along the axis", who,
                      shape_text(&shape));
        return;
    }
    Ints axes = ints_range(axis, 1);
    tt is_it = build_compare(EQ, x, over(e->is_least ? OP_MIN : OP_MAX, x, axes));
    if (element_info[shape.element].kind == FLOAT)
        is_it = build2(OP_OR, is_it, build_compare(NE, x, x));
    Type index = type_with(type_at(x), I32);
    tt none = build_number(index, (double)(shape.dims[axis] - 1));
    *out = build_reduce(OP_MIN, build_select(is_it, build_iota(index, axis), none), axes);
}

tt tt_argmax(tt x, int axis)
{
    PUBLIC;
    return EAGER("tt_argmax", place_body, &((Place){ .axis = axis }), x);
}

tt tt_argmin(tt x, int axis)
{
    PUBLIC;
    return EAGER("tt_argmin", place_body, &((Place){ .axis = axis, .is_least = 1 }), x);
}
