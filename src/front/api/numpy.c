/* numpy.c - NumPy's manners: broadcasting, promotion, axes from the end; for all public operations.
 *
 * A public operation is a body in terms of StableHLO operations and a line that calls it by
 * `eager`: inside a trace the body records where it stands, outside it is one program. */
#include "front/api/numpy.h"

#include "base/fail.h"
#include "front/value/report.h"
#include "ops/number.h"

#include <math.h>
#include <string.h>

tt call_eager_one(const char *who, Body *body, const void *config, size_t size, int n, const tt *in)
{
    tt out = { 0, 0 };
    call_eager(who, body, config, size, n, in, 1, &out);
    return out;
}

Numbers numbers_of(const char *who, const tt_dims *v)
{
    Numbers c;
    memset(&c, 0, sizeof c);
    c.who = who;
    for (int i = 0; v && i < v->n && i < TT_MAX_RANK; i++)
        c.v[c.n++] = v->v[i];
    return c;
}

tt_dims dims_of_numbers(const Numbers *c)
{
    tt_dims v = { (int)c->n, { 0 } };
    memcpy(v.v, c->v, sizeof v.v);
    return v;
}

/* ---- Operands. */

bool as_inexact(const char *who, int n, const tt *in, tt *x)
{
    for (int i = 0; i < n; i++) {
        Shape shape;
        if (!shapes_of(who, 1, &in[i], &shape))
            return false;
        Promoted met = promote_inexact(1, &shape);
        x[i] = as_weak(as_element(in[i], met.element), met.is_weak);
    }
    return true;
}

bool as_floats(const char *who, int n, const tt *in, tt *x)
{
    for (int i = 0; i < n; i++) {
        Shape shape;
        if (!shapes_of(who, 1, &in[i], &shape))
            return false;
        if (element_info[shape.element].kind == COMPLEX)
            return report_broken("%s: %s: it takes real numbers", who, shape_text(&shape)), false;
    }
    return as_inexact(who, n, in, x);
}

const char *shape_text(const Shape *s)
{
    return type_text((Type){ element_canonical(s->element, s->is_weak), s->rank, s->dims });
}

bool shapes_of(const char *who, int n, const tt *in, Shape *out)
{
    for (int i = 0; i < n; i++)
        if (!value_shape(in[i], who, &out[i]))
            return false;
    return true;
}

_Static_assert(TT_DEFAULT == (int)PRECISION_DEFAULT && TT_HIGH == (int)PRECISION_HIGH &&
                   TT_HIGHEST == (int)PRECISION_HIGHEST,
               "the interface's precisions are those of attributes");

bool precision_ok(const char *who, tt_precision given)
{
    int64_t p = (int64_t)given;
    if (p >= 0 && p <= TT_HIGHEST)
        return true;
    report_broken("%s: .precision is %lld; TT_DEFAULT, TT_HIGH and TT_HIGHEST are possible", who,
                  (long long)p);
    return false;
}

Precisions precisions_of(int64_t given)
{
    return (Precisions){ (Precision)given, (Precision)given };
}

/* "f32[4,3] and f32[4]" */
static void print_types(Text *out, int n, const Shape *shapes)
{
    for (int i = 0; i < n; i++)
        text_printf(out, "%s%s", i == 0 ? "" : i + 1 < n ? ", " : " and ", shape_text(&shapes[i]));
}

bool broadcast_shapes(const char *who, int n, const Shape *shapes, Shape *out)
{
    *out = (Shape){ .rank = 0 };
    for (int i = 0; i < n; i++)
        out->rank = shapes[i].rank > out->rank ? shapes[i].rank : out->rank;
    for (int axis = 1; axis <= out->rank; axis++) {
        int64_t extent = 1;
        for (int i = 0; i < n; i++) {
            int64_t own = axis <= shapes[i].rank ? shapes[i].dims[shapes[i].rank - axis] : 1;
            if (own != 1 && extent != 1 && own != extent) {
                Text types = { 0 };
                print_types(&types, n, shapes);
                report_broken(
                    "%s: %s do not broadcast: %lld against %lld, counted from the last axis", who,
                    types.at, (long long)extent, (long long)own);
                text_free(&types);
                return false;
            }
            extent = own != 1 ? own : extent;
        }
        out->dims[out->rank - axis] = extent;
    }
    return true;
}

tt as_element(tt x, Element e)
{
    Element from = type_at(x).element;
    bool is_complex = element_info[from].kind == COMPLEX,
         to_complex = element_info[e].kind == COMPLEX;
    if (from == e)
        return x;
    if (is_complex && !to_complex) { /* drops the imaginary part, as NumPy does */
        Type part = type_with(type_at(x), element_part(from));
        return as_element(build_op(OP_REAL, 1, &x, NULL, part), e);
    }
    if (to_complex && !is_complex) {
        x = build_convert(x, element_part(e));
        tt parts[] = { x, build_zeros(type_at(x)) };
        return build_op(OP_COMPLEX, 2, parts, NULL, type_with(type_at(x), e));
    }
    return build_convert(x, e);
}

/* An axis of extent 1 goes by way of a reshape, so that the broadcast only adds axes. */
tt as_shape(tt x, const Shape *to)
{
    Type from = type_at(x), target = { from.element, to->rank, to->dims };
    if (type_same_shape(from, target))
        return x;
    int64_t kept[MAX_RANK], where[MAX_RANK];
    int n = 0;
    for (int i = 0; i < from.rank; i++) {
        int axis = to->rank - from.rank + i;
        if (from.dims[i] == to->dims[axis]) {
            kept[n] = from.dims[i];
            where[n++] = axis;
        }
    }
    x = build_reshape(x, type_new(trace_arena(), from.element, n, kept));
    return build_broadcast(x, type_new(trace_arena(), from.element, to->rank, to->dims),
                           ints_of(n, where));
}

tt as_weak(tt x, bool is_weak)
{
    Shape shape;
    if (!is_value(x) || !value_shape(x, "a result", &shape) || shape.is_weak == is_weak)
        return x;
    ValueId v = trace_value("a result", x);
    return v ? value_of_traced(tracing, v, is_weak) : NO_VALUE;
}

/* ---- Axes and shapes as callers write them. */

bool normalize_axis(const char *who, Type t, int64_t axis, int *out)
{
    if (axis < -t.rank || axis >= t.rank) {
        if (t.rank)
            report_broken("%s: %s has no axis %lld; its axes are 0 to %d, or -%d to -1", who,
                          type_text(t), (long long)axis, t.rank - 1, t.rank);
        else
            report_broken("%s: %s is a scalar: it has no axis %lld", who, type_text(t),
                          (long long)axis);
        return false;
    }
    *out = (int)(axis < 0 ? axis + t.rank : axis);
    return true;
}

bool normalize_axes(const char *who, Type t, const tt_dims *list, tt_dims *out)
{
    unsigned set = 0;
    *out = (tt_dims){ 0, { 0 } };
    for (int i = 0; list && i < list->n; i++) {
        int axis;
        if (!normalize_axis(who, t, list->v[i < TT_MAX_RANK ? i : 0], &axis))
            return false;
        if (set >> axis & 1) {
            report_broken("%s: axis %d of %s is listed twice", who, axis, type_text(t));
            return false;
        }
        set |= 1u << axis;
    }
    for (int axis = 0; axis < t.rank; axis++)
        if (set >> axis & 1 || !list || !list->n)
            out->v[out->n++] = axis;
    return true;
}

bool dims_ok(const char *who, const tt_dims *dims)
{
    if (!dims || dims->n < 0 || dims->n > TT_MAX_RANK) {
        report_broken("%s: a shape has 0 to %d extents, not %d", who, TT_MAX_RANK,
                      dims ? dims->n : 0);
        return false;
    }
    int64_t count = 1;
    for (int i = 0; i < dims->n; i++) {
        int64_t extent = dims->v[i];
        if (extent < 0) {
            report_broken("%s: extent %d of the shape is %lld; it must be 0 or more", who, i,
                          (long long)extent);
            return false;
        }
        if (extent && count > ((int64_t)1 << 56) / extent) {
            report_broken("%s: the shape has more than 2^56 elements", who);
            return false;
        }
        count *= extent ? extent : 1;
    }
    return true;
}

bool dtype_ok(const char *who, tt_dtype type)
{
    bool is_type = (int)type >= TT_BOOL && (int)type <= TT_C128;
    if (!is_type)
        report_broken(
            "%s: %d is not an element type; TT_F32 is one, and stands before the extents: "
            "tt_zeros(TT_F32, 3, 4)",
            who, (int)type);
    return is_type;
}

/* ---- indices ---- */

tt index_from_end(tt at, int64_t n)
{
    const ElementInfo *e = &element_info[type_at(at).element];
    bool is_signed = e->kind == SIGNED;
    if (e->bits < 32)
        at = build_convert(at, is_signed ? I32 : U32);
    if (!is_signed)
        return at;
    Type t = type_at(at);
    tt behind = build2(OP_ADD, at, build_number(t, (double)n));
    return build_select(build_compare(LT, at, build_zeros(t)), behind, at);
}

static tt fill_value(Type t)
{
    switch (element_info[t.element].kind) {
    case FLOAT:
    case COMPLEX: return build_number(t, NAN);
    case SIGNED: return build_number(t, -ldexp(1, element_info[t.element].bits - 1));
    default: return build1(OP_NOT, build_zeros(t));
    }
}

tt fill_outside(tt y, tt at, int64_t n, Ints dims)
{
    Type t = type_at(at), all = type_with(type_at(y), I1);
    tt inside = build_compare(LT, at, build_number(t, (double)n));
    if (element_info[t.element].kind == SIGNED)
        inside = build2(OP_AND, inside, build_compare(GE, at, build_zeros(t)));
    return build_select(build_broadcast(inside, all, dims), y, fill_value(type_at(y)));
}
