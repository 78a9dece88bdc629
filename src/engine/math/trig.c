/* trig.c - sine, cosine, tangent.
 *
 * In: values in registers, f32 or f64.  Out: the function; f32 is computed in f64 and rounded,
 * so it is nearly always right to the last bit, and f64 is within 0.8 ulp.  The tangent of f32 is C's
 * (tan_f32.c).
 *
 * f32: x = n pi + r with |r| <= pi/2; there one polynomial in r^2 is right to 2^-35, and n odd turns the sign.
 * Loops over a few numbers wait for this chain from end to end, so it is kept short.
 * f64: x = n pi/2 + r with |r| <= pi/4, where Taylor's series end soon.
 *
 * The first fma of the reduction is exact, because x, n and the leading piece of pi leave a difference that fits
 * a double.  Good below 2^40; larger arguments go to the C library. */
#include "engine/codegen/codegen.h"
#include "engine/math/math_parts.h"

#include <math.h>

/* sin r = r + r^3 (...), cos r = 1 - r^2/2 + r^4 (...). */
static const double sin_terms[] = { -1.0 / 6,
                                    1.0 / 120,
                                    -1.0 / 5040,
                                    1.0 / 362880,
                                    -1.0 / 39916800,
                                    1.0 / 6227020800.0,
                                    -1.0 / 1307674368000.0,
                                    1.0 / 355687428096000.0 };
static const double cos_terms[] = {
    1.0 / 24,        -1.0 / 720,           1.0 / 40320,           -1.0 / 3628800,
    1.0 / 479001600, -1.0 / 87178291200.0, 1.0 / 20922789888000.0
};
/* sin r / r = 1 + r^2 (...), fitted up to pi/2. */
static const double sin_terms_f32[] = { -0x1.5555554767937p-3, 0x1.11110c498160cp-7,
                                        -0x1.a017d9754ec0dp-13, 0x1.71707a7c1b645p-19,
                                        -0x1.9a680519390c0p-26 };

static const double largest = 0x1p40;

/* n pi/2 + r. */
typedef struct Reduced {
    Pair sine, cosine; /* of r */
    V quarter;         /* n, as an i64 */
} Reduced;

static const double half_pi[] = { 0x1.921fb54442d18p0, 0x1.1a62633145c07p-54,
                                  -0x1.f1976b7ed8fbcp-110 };

/* The leading terms, r and 1 - r^2/2, are not rounded: of r = (high, low), sin r is
 * high + (high^3 s(high^2) + low cos r) and cos r is 1 - (high^2/2 + (high low - high^4
 * c(high^2))). */
static Reduced reduce_angle(Kernel *k, V x)
{
    LLVMTypeRef type = LLVMTypeOf(x);
    Reduced t;
    V n = math_round(k, x, 0x1.45f306dc9c883p-1, &t.quarter);
    V first = float_fma(k, n, const_f(k, type, -half_pi[0]), x);
    Pair second = pair_of_product(k, n, const_f(k, type, -half_pi[1]));
    Pair left = pair_of_any_sum(k, first, second.high);
    V r = left.high, low = LLVMBuildFAdd(k->b, left.low, second.low, "");
    low = float_fma(k, n, const_f(k, type, -half_pi[2]), low);
    V half_r = LLVMBuildFMul(k->b, r, const_f(k, type, -0.5), "");
    V z = LLVMBuildFMul(k->b, r, r, "");
    Pair square = pair_of_product(k, half_r, r); /* -r^2/2 */
    V rest = float_fma(k, LLVMBuildFMul(k->b, z, z, ""), math_poly_by_halves(k, z, 7, cos_terms),
                       square.low);
    rest = float_fma(k, LLVMBuildFNeg(k->b, r, ""), low, rest);
    t.cosine = pair_sum(k, const_f(k, type, 1), (Pair){ square.high, rest });
    t.cosine = pair_of_sum(k, t.cosine.high, t.cosine.low);
    V cubic = LLVMBuildFMul(k->b, LLVMBuildFMul(k->b, r, z, ""),
                            math_poly_by_halves(k, z, 8, sin_terms), "");
    V cos_r = LLVMBuildFAdd(k->b, const_f(k, type, 1), square.high, ""); /* near enough for low */
    t.sine = pair_of_sum(k, r, float_fma(k, low, cos_r, cubic));
    return t;
}

static V quarter_bit(Kernel *k, V quarter, int bit)
{
    LLVMTypeRef type = LLVMTypeOf(quarter);
    V one = LLVMBuildAnd(k->b, quarter, const_i(k, type, bit), "");
    return LLVMBuildICmp(k->b, LLVMIntNE, one, const_i(k, type, 0), "");
}

/* y, with another sign where this bit of n is 1. */
static V turn_sign(Kernel *k, V y, V n, int bit)
{
    enum { SIGN = 63 };
    V sign = LLVMBuildShl(k->b, n, const_i(k, LLVMTypeOf(n), SIGN - bit), "");
    sign = LLVMBuildAnd(k->b, sign, const_i(k, LLVMTypeOf(n), INT64_MIN), "");
    return same_bits(k, LLVMBuildXor(k->b, same_bits(k, y, false), sign, ""), true);
}

/* sin(n pi/2 + r): n odd takes the cosine, n & 2 the sign.  A cosine is a quarter further. */
static V wave(Kernel *k, const Reduced *t, int ahead)
{
    V quarter = LLVMBuildAdd(k->b, t->quarter, const_i(k, LLVMTypeOf(t->quarter), ahead), "");
    V y = math_select(k, quarter_bit(k, quarter, 1), t->cosine.high, t->sine.high);
    return turn_sign(k, y, quarter, 1);
}

static V tangent(Kernel *k, const Reduced *t)
{
    V odd = quarter_bit(k, t->quarter, 1);
    V over = math_select(k, odd, t->cosine.high, t->sine.high);
    V under = math_select(k, odd, LLVMBuildFNeg(k->b, t->sine.high, ""), t->cosine.high);
    V over_low = math_select(k, odd, t->cosine.low, t->sine.low);
    V under_low = math_select(k, odd, LLVMBuildFNeg(k->b, t->sine.low, ""), t->cosine.low);
    Pair y = pair_over(k, (Pair){ over, over_low }, (Pair){ under, under_low });
    return LLVMBuildFAdd(k->b, y.high, y.low, "");
}

static V trig_f64(Kernel *k, int function, V x)
{
    Reduced t = reduce_angle(k, x);
    return function == MATH_TAN ? tangent(k, &t) : wave(k, &t, function == MATH_COS);
}

/* Of what becomes f32.  A cosine is the sine of x = (n - 1/2) pi + r, with another sign where n is odd. */
static V wave_f32(Kernel *k, V x, bool is_cosine)
{
    static const double pi[] = { 0x1.921fb54442d18p1, 0x1.1a62633145c07p-53 };
    const double turns = 0x1.45f306dc9c883p-2; /* 1 / pi */
    LLVMTypeRef type = LLVMTypeOf(x);
    V half = const_f(k, type, 0.5), odd;
    V ahead = is_cosine ? float_fma(k, x, const_f(k, type, turns), half) : x;
    V n = math_round(k, ahead, is_cosine ? 1 : turns, &odd);
    n = is_cosine ? LLVMBuildFSub(k->b, n, half, "") : n;
    V r = float_fma(k, n, const_f(k, type, -pi[0]), x);
    r = float_fma(k, n, const_f(k, type, -pi[1]), r);
    V z = LLVMBuildFMul(k->b, r, r, ""), p = math_poly_by_halves(k, z, 5, sin_terms_f32);
    r = turn_sign(k, r, odd, 0);
    return float_fma(k, LLVMBuildFMul(k->b, r, z, ""), p, r);
}

/* The lanes that are too large by the library (it makes NaN of infinities). */
static V trig(Kernel *k, int function, V x)
{
    V hard = math_compare(k, LLVMRealOGT, float_abs(k, x), largest), wide = to_f64(k, x);
    bool is_f64 = math_is_f64(x);
    V y = is_f64 ? trig_f64(k, function, x) : wave_f32(k, wide, function == MATH_COS);
    y = math_repair(k, function, wide, NULL, hard, y);
    y = is_f64 ? y : to_f32(k, y);
    if (function == MATH_COS)
        return y;
    /* keeps the sign of zero */
    return math_select(k, math_compare(k, LLVMRealOEQ, x, 0), x, y);
}

V math_sin(Kernel *k, V x)
{
    return trig(k, MATH_SIN, x);
}

V math_cos(Kernel *k, V x)
{
    return trig(k, MATH_COS, x);
}

V math_tan(Kernel *k, V x)
{
    return math_is_f64(x) ? trig(k, MATH_TAN, x) : math_tan_f32(k, x);
}
