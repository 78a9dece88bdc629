/* shape.c - the shape rules of elementwise operations and devices, and what all rules share.
 *
 * A rule is asked whether the stated results follow from operands and attributes.  It says
 * yes, or puts into `why` what is wrong with the types in it and what would be right; the
 * checker adds the operation's name and place. */
#include "ops/shape_util.h"

#include <inttypes.h>

bool say(Text *why, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    text_vprintf(why, format, args);
    va_end(args);
    return false;
}

bool expect_type(const ShapeQuery *q, int i, Type type, Text *why)
{
    if (q->settled) {
        q->settled[i] = type_new(q->arena, type.element, type.rank, type.dims);
        return true;
    }
    if (type_fits(q->stated[i], type))
        return true;
    if (q->nout == 1)
        return say(why, "the result is %s, stated as %s", type_name(type), type_name(q->stated[i]));
    return say(why, "result %d is %s, stated as %s", i, type_name(type), type_name(q->stated[i]));
}

bool expect_result(const ShapeQuery *q, int i, Element element, int rank, const int64_t *dims,
                   Text *why)
{
    return expect_type(q, i, (Type){ element, rank, dims }, why);
}

bool expect_counts(const ShapeQuery *q, int nin, int nout, Text *why)
{
    if (q->nin != nin)
        return say(why, "it takes %d operands, not %d", nin, q->nin);
    if (q->nout != nout)
        return say(why, "it gives %d results, not %d", nout, q->nout);
    return true;
}

bool all_static(const ShapeQuery *q)
{
    for (int i = 0; i < q->nin; i++)
        if (!type_is_static(q->in[i]))
            return false;
    for (int i = 0; i < q->nout && !q->settled; i++)
        if (!type_is_static(q->stated[i]))
            return false;
    return true;
}

bool expect_length(Ints list, int n, const char *name, Text *why)
{
    if (list.n == n)
        return true;
    return say(why, "%s has %d entries, and %d are needed", name, list.n, n);
}

bool expect_dim(int64_t dim, int rank, const char *name, Text *why)
{
    if (dim >= 0 && dim < rank)
        return true;
    return say(why, "%s names dimension %" PRId64 " of an array of rank %d", name, dim, rank);
}

bool expect_dims(Ints list, int rank, const char *name, Text *why)
{
    for (int i = 0; i < list.n; i++) {
        if (!expect_dim(list.at[i], rank, name, why))
            return false;
        for (int j = 0; j < i; j++)
            if (list.at[i] == list.at[j])
                return say(why, "%s names dimension %" PRId64 " twice", name, list.at[i]);
    }
    return true;
}

bool is_integer(Element e)
{
    return element_info[e].kind == SIGNED || element_info[e].kind == UNSIGNED;
}

bool is_scalar(Type t, Element e)
{
    return t.rank == 0 && t.element == e;
}

/* Elementwise. */

enum {
    BOOLEANS = 1 << BOOLEAN,
    INTEGERS = 1 << SIGNED | 1 << UNSIGNED,
    FLOATS = 1 << FLOAT,
    COMPLEXES = 1 << COMPLEX,
};

static bool same_of_kind(const ShapeQuery *q, unsigned kinds, const char *wanted, Text *why)
{
    if (q->nin < 1 || q->nout != 1)
        return expect_counts(q, q->nin < 1 ? 1 : q->nin, 1, why);
    if (!(kinds >> element_info[q->in[0].element].kind & 1))
        return say(why, "%s: its elements must be %s", type_name(q->in[0]), wanted);
    for (int i = 1; i < q->nin; i++)
        if (!type_fits(q->in[i], q->in[0]))
            return say(why, "%s and %s: the operands must have one type", type_name(q->in[0]),
                       type_name(q->in[i]));
    return expect_type(q, 0, q->in[0], why);
}

bool shape_same(const ShapeQuery *q, Text *why)
{
    return same_of_kind(q, BOOLEANS | INTEGERS | FLOATS | COMPLEXES, "numbers or booleans", why);
}

bool shape_same_number(const ShapeQuery *q, Text *why)
{
    return same_of_kind(q, INTEGERS | FLOATS | COMPLEXES, "numbers", why);
}

bool shape_same_smooth(const ShapeQuery *q, Text *why)
{
    return same_of_kind(q, FLOATS | COMPLEXES, "floating-point or complex", why);
}

bool shape_same_float(const ShapeQuery *q, Text *why)
{
    return same_of_kind(q, FLOATS, "floating-point", why);
}

bool shape_same_bits(const ShapeQuery *q, Text *why)
{
    return same_of_kind(q, BOOLEANS | INTEGERS, "integers or booleans", why);
}

bool shape_same_int(const ShapeQuery *q, Text *why)
{
    return same_of_kind(q, INTEGERS, "integers", why);
}

bool shape_reduce_precision(const ShapeQuery *q, Text *why)
{
    const ReducePrecisionAttrs *a = q->attrs;
    if (a->exponent_bits < 1 || a->mantissa_bits < 0)
        return say(why,
                   "exponent_bits is %" PRId64 " and mantissa_bits %" PRId64
                   ": they must be at least 1 and 0",
                   a->exponent_bits, a->mantissa_bits);
    return shape_same_float(q, why);
}

bool shape_abs(const ShapeQuery *q, Text *why)
{
    if (q->nin == 1 && element_info[q->in[0].element].kind == COMPLEX)
        return shape_part(q, why);
    return shape_same_number(q, why);
}

bool shape_predicate(const ShapeQuery *q, Text *why)
{
    if (!expect_counts(q, 1, 1, why))
        return false;
    if (element_info[q->in[0].element].kind != FLOAT)
        return say(why, "%s: its elements must be floating-point", type_name(q->in[0]));
    return expect_result(q, 0, I1, q->in[0].rank, q->in[0].dims, why);
}

bool shape_part(const ShapeQuery *q, Text *why)
{
    if (!expect_counts(q, 1, 1, why))
        return false;
    ElementKind kind = element_info[q->in[0].element].kind;
    if (kind != COMPLEX && kind != FLOAT)
        return say(why, "%s: its elements must be complex or floating-point", type_name(q->in[0]));
    return expect_result(q, 0, element_part(q->in[0].element), q->in[0].rank, q->in[0].dims, why);
}

bool shape_complex(const ShapeQuery *q, Text *why)
{
    if (!expect_counts(q, 2, 1, why))
        return false;
    Type a = q->in[0], b = q->in[1];
    if (!type_fits(a, b) || (a.element != F32 && a.element != F64))
        return say(why, "%s and %s: both parts must have one type, f32 or f64", type_name(a),
                   type_name(b));
    return expect_result(q, 0, a.element == F32 ? C64 : C128, a.rank, a.dims, why);
}

bool shape_convert(const ShapeQuery *q, Text *why)
{
    if (!expect_counts(q, 1, 1, why))
        return false;
    return expect_result(q, 0, q->stated[0].element, q->in[0].rank, q->in[0].dims, why);
}

/* What a comparison may say of itself: numbers are compared as what they are. */
static const struct Comparison {
    const char *name, *elements;
    unsigned kinds;
} comparisons[] = {
    [COMPARE_NOTYPE] = { "NOTYPE", "all", ~0u },
    [COMPARE_FLOAT] = { "FLOAT", "floating-point and complex", FLOATS | COMPLEXES },
    [COMPARE_TOTALORDER] = { "TOTALORDER", "floating-point", FLOATS },
    [COMPARE_SIGNED] = { "SIGNED", "signed integers", 1 << SIGNED | BOOLEANS },
    [COMPARE_UNSIGNED] = { "UNSIGNED", "unsigned integers", 1 << UNSIGNED | BOOLEANS },
};

bool shape_compare(const ShapeQuery *q, Text *why)
{
    if (!expect_counts(q, 2, 1, why))
        return false;
    if (!type_fits(q->in[0], q->in[1]))
        return say(why, "%s and %s: the operands must have one type", type_name(q->in[0]),
                   type_name(q->in[1]));
    const CompareAttrs *a = q->attrs;
    ElementKind kind = element_info[q->in[0].element].kind;
    if (kind == COMPLEX && a->comparison_direction != EQ && a->comparison_direction != NE)
        return say(why, "%s: complex numbers have no order", type_name(q->in[0]));
    const struct Comparison *as = &comparisons[a->compare_type];
    if (!(as->kinds >> kind & 1))
        return say(why, "%s: %s is for %s", type_name(q->in[0]), as->name, as->elements);
    return expect_result(q, 0, I1, q->in[0].rank, q->in[0].dims, why);
}

bool shape_select(const ShapeQuery *q, Text *why)
{
    if (!expect_counts(q, 3, 1, why))
        return false;
    Type p = q->in[0], a = q->in[1], b = q->in[2];
    if (p.element != I1)
        return say(why, "%s: the predicate must be i1", type_name(p));
    if (!type_fits(a, b))
        return say(why, "%s and %s: both choices must have one type", type_name(a), type_name(b));
    if (p.rank != 0 && !shape_fits(p, a))
        return say(why, "predicate %s of choices %s: it must be a scalar or have their shape",
                   type_name(p), type_name(a));
    return expect_type(q, 0, a, why);
}

bool shape_clamp(const ShapeQuery *q, Text *why)
{
    if (!expect_counts(q, 3, 1, why))
        return false;
    Type x = q->in[1];
    for (int i = 0; i < 3; i += 2) {
        Type bound = q->in[i];
        if (bound.element != x.element || (bound.rank != 0 && !shape_fits(bound, x)))
            return say(why, "bound %s of %s: it must be a scalar of that element or have its type",
                       type_name(bound), type_name(x));
    }
    return expect_type(q, 0, x, why);
}

/* Anything the reader could write down: calls, marks, operations checked elsewhere. */
bool shape_given(const ShapeQuery *q, Text *why)
{
    (void)q, (void)why;
    return true;
}

bool shape_barrier(const ShapeQuery *q, Text *why)
{
    if (!expect_counts(q, q->nin, q->nin, why))
        return false;
    for (int i = 0; i < q->nin; i++)
        if (!expect_type(q, i, q->in[i], why))
            return false;
    return true;
}

bool shape_device_id(const ShapeQuery *q, Text *why)
{
    return expect_counts(q, 0, 1, why) && expect_type(q, 0, type_scalar(U32), why);
}
