/* trig.c - sine, cosine, tangent.
 *
 * In: values in registers, f32 or f64.  Out: the function; f32 is computed in f64 and rounded,
 * so it is nearly always right to the last bit, and f64 is within 0.6 ulp.  The tangent of f32 is C's
 * (tan_f32.c).
 *
 * x = n pi/2 + r with |r| <= pi/4: the first fma of the reduction is exact, because x, n and
 * the leading piece of pi/2 leave a difference that fits a double.  Good below 2^40; larger
 * arguments go to the C library. */
#include "engine/codegen/codegen.h"
#include "engine/math/math_parts.h"

#include <math.h>

static const double sin_terms[] = { 1.0,
                                    -1.0 / 6,
                                    1.0 / 120,
                                    -1.0 / 5040,
                                    1.0 / 362880,
                                    -1.0 / 39916800,
                                    1.0 / 6227020800.0,
                                    -1.0 / 1307674368000.0,
                                    1.0 / 355687428096000.0 };
static const double cos_terms[] = { 1.0,
                                    -1.0 / 2,
                                    1.0 / 24,
                                    -1.0 / 720,
                                    1.0 / 40320,
                                    -1.0 / 3628800,
                                    1.0 / 479001600,
                                    -1.0 / 87178291200.0,
                                    1.0 / 20922789888000.0 };

static const double largest = 0x1p40;

/* n pi/2 + r: pairs in f64, else only their first. */
typedef struct Reduced {
    Pair sine, cosine; /* of r */
    V quarter;         /* n, as an i64 */
} Reduced;

static const double half_pi[] = { 0x1.921fb54442d18p0, 0x1.1a62633145c07p-54,
                                  -0x1.f1976b7ed8fbcp-110 };

/* For what becomes f32. */
static Reduced reduce_angle(Kernel *k, V x)
{
    LLVMTypeRef type = LLVMTypeOf(x);
    Reduced t = { 0 };
    V n = math_round(k, x, 0x1.45f306dc9c883p-1, &t.quarter);
    V r = float_fma(k, n, const_f(k, type, -half_pi[0]), x);
    r = float_fma(k, n, const_f(k, type, -half_pi[1]), r);
    V z = float_mul(k, r, r);
    t.sine.high = LLVMBuildFMul(k->b, r, math_poly(k, z, 7, sin_terms), "");
    t.cosine.high = math_poly(k, z, 7, cos_terms);
    return t;
}

/* The leading terms, r and 1 - r^2/2, are not rounded: of r = (high, low), sin r is
 * high + (high^3 s(high^2) + low cos r) and cos r is 1 - (high^2/2 + (high low - high^4
 * c(high^2))). */
static Reduced reduce_angle_exactly(Kernel *k, V x)
{
    LLVMTypeRef type = LLVMTypeOf(x);
    Reduced t;
    V n = math_round(k, x, 0x1.45f306dc9c883p-1, &t.quarter);
    V first = float_fma(k, n, const_f(k, type, -half_pi[0]), x);
    V r = float_fma(k, n, const_f(k, type, -half_pi[1]), first);
    V low = float_fma(k, n, const_f(k, type, -half_pi[1]), LLVMBuildFSub(k->b, first, r, ""));
    low = float_fma(k, n, const_f(k, type, -half_pi[2]), low);
    V half_r = LLVMBuildFMul(k->b, r, const_f(k, type, -0.5), "");
    V z = LLVMBuildFMul(k->b, r, r, "");
    Pair square = pair_of_product(k, half_r, r); /* -r^2/2 */
    V rest =
        float_fma(k, LLVMBuildFMul(k->b, z, z, ""), math_poly(k, z, 7, cos_terms + 2), square.low);
    rest = float_fma(k, LLVMBuildFNeg(k->b, r, ""), low, rest);
    t.cosine = pair_sum(k, const_f(k, type, 1), (Pair){ square.high, rest });
    t.cosine = pair_of_sum(k, t.cosine.high, t.cosine.low);
    V cubic =
        LLVMBuildFMul(k->b, LLVMBuildFMul(k->b, r, z, ""), math_poly(k, z, 8, sin_terms + 1), "");
    t.sine = pair_of_sum(k, r, float_fma(k, low, t.cosine.high, cubic));
    return t;
}

static V quarter_bit(Kernel *k, V quarter, int bit)
{
    LLVMTypeRef type = LLVMTypeOf(quarter);
    V one = LLVMBuildAnd(k->b, quarter, const_i(k, type, bit), "");
    return LLVMBuildICmp(k->b, LLVMIntNE, one, const_i(k, type, 0), "");
}

/* sin(n pi/2 + r): n odd takes the cosine, n & 2 the sign.  A cosine is a quarter further. */
static V wave(Kernel *k, const Reduced *t, int ahead)
{
    V quarter = LLVMBuildAdd(k->b, t->quarter, const_i(k, LLVMTypeOf(t->quarter), ahead), "");
    V y = math_select(k, quarter_bit(k, quarter, 1), t->cosine.high, t->sine.high);
    return math_select(k, quarter_bit(k, quarter, 2), LLVMBuildFNeg(k->b, y, ""), y);
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

/* In f64, with the lanes that are too large by the library (it makes NaN of infinities). */
static V trig(Kernel *k, int function, V x)
{
    bool is_f64 = math_is_f64(x);
    V wide = to_f64(k, x);
    Reduced t = is_f64 ? reduce_angle_exactly(k, wide) : reduce_angle(k, wide);
    V y = function == MATH_TAN ? tangent(k, &t) : wave(k, &t, function == MATH_COS);
    if (function != MATH_COS) /* keeps the sign of zero */
        y = math_select(k, math_compare(k, LLVMRealOEQ, wide, 0), wide, y);
    V hard = math_compare(k, LLVMRealOGT, float_abs(k, wide), largest);
    y = math_repair(k, function, wide, NULL, hard, y);
    return is_f64 ? y : to_f32(k, y);
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
