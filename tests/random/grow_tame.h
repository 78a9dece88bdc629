/* grow_tame.h - floats kept to numbers on which compiled code and the evaluator agree exactly.
 *
 *   wild   any bits: NaNs, denormals.  They may be moved, and every bit must arrive; before they are
 *          computed with they are made calm, since compiled code flushes denormals.
 *   calm   zeros, normal numbers, infinities, and NaNs that were computed since.  Operations that
 *          are exact or rounded once agree on them.
 *   tame   multiples of 1/8 up to 8: before products, since multiply and add may be rounded once or
 *          twice; before sums, which are exact in any order.  Of floats below 16 bits: no NaN, no
 *          infinity, no negative zero, at most 4.
 */
#ifndef TUTTI_TESTS_RANDOM_GROW_TAME_H
#define TUTTI_TESTS_RANDOM_GROW_TAME_H
#include "tests/random/grow.h"

static Grown convert_to(Grower *g, Grown x, Element e)
{
    if (x.type.element == e)
        return x;
    Grown v = one_operand(g, "convert", x, with_element(x.type, e));
    v.is_wild |= x.type.element == F8E8M0FNU; /* 2^-127 is denormal in f32 */
    return v;
}

/* The same done with real and imaginary part. */
static Grown each_part(Grower *g, Grown x, Grown (*f)(Grower *, Grown))
{
    Type part = with_element(x.type, element_part(x.type.element));
    Grown re = one_operand(g, "real", x, part), im = one_operand(g, "imag", x, part);
    re.is_wild = im.is_wild = x.is_wild;
    re = f(g, re);
    im = f(g, im);
    Grown v = two_operands(g, "complex", re, im, x.type);
    v.is_tame = re.is_tame;
    return v;
}

static Grown calm(Grower *g, Grown x)
{
    if (!x.is_wild)
        return x;
    if (kind_of(x.type) == COMPLEX)
        return each_part(g, x, calm);
    Grown v;
    if (bits_of(x.type) < 16) {
        v = selected(g, compared(g, "EQ", x, x), x, number(g, x.type, 1));
    } else {
        Grown least = constant(g, x.type, words(g, "%.17e", least_normal(x.type.element)));
        Grown is_normal = compared(g, "GE", one_operand(g, "abs", x, x.type), least);
        v = selected(g, is_normal, x, number(g, x.type, 0));
    }
    v.is_wild = false;
    return v;
}

static Grown not_nan(Grower *g, Grown x)
{
    return selected(g, compared(g, "EQ", x, x), x, number(g, x.type, 1));
}

static Grown clamped(Grower *g, Grown x, double most)
{
    Type bound = type_scalar(x.type.element);
    Grown v = new_value(g, x.type);
    write_op(g, "clamp", 3, (Grown[]){ number(g, bound, -most), x, number(g, bound, most) }, "", 1,
             &v);
    return v;
}

/* The value itself, if it is tame already, or a copy that may be picked from now on.  NaN becomes
 * 1, and -0 becomes 0 (which zero a reduction by max or min gives is left open). */
static Grown tame(Grower *g, Grown x)
{
    if (x.is_tame || (kind_of(x.type) != FLOAT && kind_of(x.type) != COMPLEX))
        return x;
    if (kind_of(x.type) == COMPLEX)
        return each_part(g, calm(g, x), tame);
    Grown v = not_nan(g, calm(g, x));
    if (bits_of(x.type) >= 16) {
        v = clamped(g, v, 8);
        v = two_operands(g, "multiply", v, number(g, x.type, 8), x.type);
        v = one_operand(g, "floor", v, x.type);
        v = two_operands(g, "add", v, number(g, x.type, 0), x.type);
        v = two_operands(g, "multiply", v, number(g, x.type, 0.125), x.type);
    } else if (x.type.element != F8E8M0FNU) {
        /* What is tiny beside 4 would be rounded away from sums of products, in some order. */
        Grown size = one_operand(g, "abs", v, x.type);
        v = selected(g, compared(g, "GE", size, number(g, x.type, 0.125)), v, number(g, x.type, 0));
        v = two_operands(g, "add", clamped(g, v, 4), number(g, x.type, 0), x.type);
    }
    v.is_tame = true;
    return keep(g, v);
}

/* Tame, and wide enough for the sum of as many as there are: eighths up to 8 are six bits, and a
 * narrow float has three to eleven. */
static Grown summable(Grower *g, Grown x)
{
    if (is_float_type(x.type) && bits_of(x.type) < 32)
        x = convert_to(g, calm(g, x), F32);
    return tame(g, x);
}

static bool pick_calm(Grower *g, Wanted *wanted, Grown *out)
{
    if (!pick(g, wanted, out))
        return false;
    *out = calm(g, *out);
    return true;
}
#endif
