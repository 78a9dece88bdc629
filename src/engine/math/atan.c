/* atan.c - the angle of a point, and the inverse functions that are angles.
 *
 * In: values in registers, f32 or f64.  Out: the function, within 2 ulp; f32 is computed in f64
 * and rounded, so it is nearly always right to the last bit.
 *
 * Of a point the smaller size a and the larger b are taken: an angle up to pi/4, of which the
 * tangent is a/b.  From tan(pi/8) on it is pi/4 plus the angle of (a - b)/(a + b).  So one
 * division leaves |u| <= tan(pi/8), and atan(u) = u + u z p(z), z = u^2, p fitted for least
 * relative error (2^-35 with 6 terms, 2^-59 with 11).  Turning back into the point's octant adds
 * a multiple of pi/4, which comes in two pieces.
 *
 *   atan(x) = angle of (1, x)     asin(x) = angle of (sqrt(1 - x^2), x)
 *                                 acos(x) = angle of (x, sqrt(1 - x^2)) */
#include "engine/codegen/codegen.h"
#include "engine/math/math_parts.h"

#include <math.h>

static const double terms_f32[] = {
    -0x1.555554c5fdd3dp-2, 0x1.9999189dd64b8p-3,  -0x1.247eda20746d0p-3,
    0x1.c463f93170381p-4,  -0x1.5b30155685d8ap-4, 0x1.84a1cfdcb7d01p-5,
};
static const double terms_f64[] = {
    -0x1.555555555553dp-2, 0x1.99999999957cdp-3, -0x1.24924922aa4f4p-3, 0x1.c71c70e50f134p-4,
    -0x1.745cf8c391c59p-4, 0x1.3b1117977a790p-4, -0x1.10eba8e49cf23p-4, 0x1.df0e81cec22e2p-5,
    -0x1.9ccf864b57cbfp-5, 0x1.37ce323344ca8p-5, -0x1.255b655114d76p-6,
};

static V sign_bit(Kernel *k, V x)
{
    V bits = same_bits(k, x, false);
    return LLVMBuildICmp(k->b, LLVMIntSLT, bits, const_i(k, LLVMTypeOf(bits), 0), "");
}

/* An angle: k pi/4 + r; in f64 r is a pair, else low is NULL. */
typedef struct Angle {
    V eighths;
    Pair rest;
} Angle;

/* eighths - the angle, where `condition` holds. */
static Angle rotated(Kernel *k, V condition, int eighths, Angle a)
{
    V whole = const_f(k, LLVMTypeOf(a.eighths), eighths);
    V rest = math_select(k, condition, LLVMBuildFNeg(k->b, a.rest.high, ""), a.rest.high);
    V low = a.rest.low;
    if (low)
        low = math_select(k, condition, LLVMBuildFNeg(k->b, low, ""), low);
    return (Angle){ math_select(k, condition, LLVMBuildFSub(k->b, whole, a.eighths, ""), a.eighths),
                    { rest, low } };
}

/* x, or where the condition holds a sum of sizes; a low of NULL is 0. */
static Pair this_or_sum(Kernel *k, V condition, Pair x, V larger, V smaller, V low)
{
    Pair sum = pair_of_sum(k, larger, smaller);
    V zero = const_f(k, LLVMTypeOf(x.high), 0);
    if (low)
        sum.low = LLVMBuildFAdd(k->b, sum.low, low, "");
    return (Pair){ math_select(k, condition, sum.high, x.high),
                   math_select(k, condition, sum.low, x.low ? x.low : zero) };
}

/* The quotient whose arc is sought, of the sizes 0 <= a <= b: a / b, or where that is far
 * (a - b)/(a + b).  Lows come in both or in none. */
static Pair quotient(Kernel *k, V is_far, Pair a, Pair b, bool is_f64)
{
    V minus_b = LLVMBuildFNeg(k->b, b.high, ""), less = NULL, more = NULL;
    if (!is_f64) {
        V over = math_select(k, is_far, LLVMBuildFSub(k->b, a.high, b.high, ""), a.high);
        V under = math_select(k, is_far, LLVMBuildFAdd(k->b, a.high, b.high, ""), b.high);
        return (Pair){ float_div(k, over, under), NULL };
    }
    if (a.low) {
        less = LLVMBuildFSub(k->b, a.low, b.low, "");
        more = LLVMBuildFAdd(k->b, a.low, b.low, "");
    }
    Pair over = this_or_sum(k, is_far, a, minus_b, a.high, less);
    return pair_over(k, over, this_or_sum(k, is_far, b, b.high, a.high, more));
}

/* Of the sizes 0 <= a <= b; its rest is taken `back` times. */
static Angle first_octant(Kernel *k, Pair a, Pair b, V back)
{
    bool is_f64 = back != NULL;
    LLVMTypeRef type = LLVMTypeOf(a.high);
    V zero = const_f(k, type, 0), one = const_f(k, type, 1);
    /* Not 0 of 0, but infinity of infinity is far: on an axis, and on the diagonal. */
    V least = const_f(k, type, 0x1p-1022);
    V limit = float_fma(k, b.high, const_f(k, type, 0x1.a827999fcef32p-2), least);
    V is_far = LLVMBuildFCmp(k->b, LLVMRealOGE, a.high, limit, "");
    Pair q = quotient(k, is_far, a, b, is_f64);
    V is_special = is_nan(k, q.low ? q.low : q.high); /* those two, and an infinite b */
    V u = math_select(k, is_special, zero, q.high), z = LLVMBuildFMul(k->b, u, u, "");
    V p = is_f64 ? math_poly(k, z, 11, terms_f64) : math_poly(k, z, 6, terms_f32);
    V cubic = LLVMBuildFMul(k->b, u, z, "");
    Angle angle = { math_select(k, is_far, one, zero), { NULL, NULL } };
    if (!is_f64) {
        angle.rest.high = float_fma(k, cubic, p, u);
        return angle;
    }
    V low =
        math_select(k, is_special, zero, float_fma(k, LLVMBuildFNeg(k->b, z, ""), q.low, q.low));
    angle.rest = pair_of_sum(k, u, float_fma(k, cubic, p, low));
    angle.rest.high = LLVMBuildFMul(k->b, angle.rest.high, back, "");
    angle.rest.low = LLVMBuildFMul(k->b, angle.rest.low, back, "");
    return angle;
}

/* Both sizes by a power of two that keeps their sum and their difference in range; an a far below b
 * by another, lest what its quotient loses be a denormal.  Gives the inverse of that one. */
static V scale_sizes(Kernel *k, V *a, V *b)
{
    LLVMTypeRef type = LLVMTypeOf(*a);
    V one = const_f(k, type, 1), up = const_f(k, type, 0x1p400), down = const_f(k, type, 0x1p-400);
    V scale = math_select(k, math_compare(k, LLVMRealOGT, *b, 0x1p1000), down, one);
    scale = math_select(k, math_compare(k, LLVMRealOLT, *b, 0x1p-600), up, scale);
    *a = LLVMBuildFMul(k->b, *a, scale, "");
    *b = LLVMBuildFMul(k->b, *b, scale, "");
    V far_below = LLVMBuildFMul(k->b, *b, const_f(k, type, 0x1p-300), "");
    V is_small = LLVMBuildFCmp(k->b, LLVMRealOLT, *a, far_below, "");
    *a = LLVMBuildFMul(k->b, *a, math_select(k, is_small, const_f(k, type, 0x1p100), one), "");
    return math_select(k, is_small, const_f(k, type, 0x1p-100), one);
}

/* eighths pi/4 + rest. */
static V unrotated(Kernel *k, Angle a)
{
    LLVMTypeRef type = LLVMTypeOf(a.eighths);
    V high = const_f(k, type, 0x1.921fb54442d18p-1), low = const_f(k, type, 0x1.1a62633145c07p-55);
    if (!a.rest.low)
        return float_fma(k, a.eighths, high, float_fma(k, a.eighths, low, a.rest.high));
    Pair whole = pair_of_product(k, a.eighths, high);
    whole.low = float_fma(k, a.eighths, low, LLVMBuildFAdd(k->b, whole.low, a.rest.low, ""));
    Pair sum = pair_sum(k, whole.high, (Pair){ a.rest.high, whole.low });
    return LLVMBuildFAdd(k->b, sum.high, sum.low, "");
}

/* All in f64; is_f64: to its last bits, and sizes of its whole range.  A low is given for a
 * positive leg, beside which nothing needs scaling; else it is NULL. */
static V angle_of(Kernel *k, Pair y, Pair x, bool is_f64)
{
    V across = float_abs(k, x.high), up = float_abs(k, y.high);
    V is_steep = LLVMBuildFCmp(k->b, LLVMRealOGT, up, across, "");
    Pair a = { math_select(k, is_steep, across, up), NULL };
    Pair b = { math_select(k, is_steep, up, across), NULL };
    if (x.low || y.low) {
        V zero = const_f(k, LLVMTypeOf(x.high), 0);
        V x_low = x.low ? x.low : zero, y_low = y.low ? y.low : zero;
        a.low = math_select(k, is_steep, x_low, y_low);
        b.low = math_select(k, is_steep, y_low, x_low);
    }
    V back = is_f64 ? scale_sizes(k, &a.high, &b.high) : NULL;
    Angle angle = rotated(k, is_steep, 2, first_octant(k, a, b, back));
    V r = unrotated(k, rotated(k, sign_bit(k, x.high), 4, angle));
    V any_nan = LLVMBuildFCmp(k->b, LLVMRealUNO, x.high, y.high, "");
    r = math_select(k, any_nan, const_f(k, LLVMTypeOf(r), NAN), r);
    return INTRINSIC(k, "llvm.copysign", r, y.high);
}

/* sqrt(1 - x^2), without loss near 1; NaN beyond it.  In f64 with what its roundings lose. */
static Pair other_leg(Kernel *k, V x, bool is_f64)
{
    V one = const_f(k, LLVMTypeOf(x), 1), zero = const_f(k, LLVMTypeOf(x), 0);
    V minus_x = LLVMBuildFNeg(k->b, x, "");
    V rest = float_fma(k, minus_x, x, one), root = INTRINSIC(k, "llvm.sqrt", rest);
    if (!is_f64)
        return (Pair){ root, NULL };
    Pair square = pair_sum(k, one, pair_of_product(k, minus_x, x));
    V lost = LLVMBuildFAdd(k->b, LLVMBuildFSub(k->b, square.high, rest, ""), square.low, "");
    lost = LLVMBuildFAdd(k->b, float_fma(k, LLVMBuildFNeg(k->b, root, ""), root, rest), lost, "");
    V low = float_div(k, lost, LLVMBuildFAdd(k->b, root, root, ""));
    return (Pair){ root, math_select(k, math_compare(k, LLVMRealOGT, root, 0), low, zero) };
}

static V rounded_as(Kernel *k, V x, V y)
{
    return math_is_f64(x) ? y : to_f32(k, y);
}

V math_atan2(Kernel *k, V y, V x)
{
    Pair up = { to_f64(k, y), NULL }, across = { to_f64(k, x), NULL };
    return rounded_as(k, x, angle_of(k, up, across, math_is_f64(x)));
}

V math_atan(Kernel *k, V x)
{
    return math_atan2(k, x, const_f(k, LLVMTypeOf(x), 1));
}

V math_asin(Kernel *k, V x)
{
    Pair up = { to_f64(k, x), NULL }, across = other_leg(k, up.high, math_is_f64(x));
    return rounded_as(k, x, angle_of(k, up, across, math_is_f64(x)));
}

V math_acos(Kernel *k, V x)
{
    Pair across = { to_f64(k, x), NULL }, up = other_leg(k, across.high, math_is_f64(x));
    return rounded_as(k, x, angle_of(k, up, across, math_is_f64(x)));
}
