/* trig.c - sine, cosine, tangent.
 *
 * In: values in registers, f32 or f64.  Out: the function; f32 is computed in f64 and rounded,
 * so it is nearly always right to the last bit.
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

typedef struct Turn {
    V sine, cosine; /* of r */
    V quarter;      /* n, as an i64 */
} Turn;

/* terms: 9 for f64, 7 for what becomes f32. */
static Turn turn_of(Kernel *k, V x, int terms)
{
    static const double pieces[] = { 0x1.921fb54442d18p0, 0x1.1a62633145c07p-54,
                                     -0x1.f1976b7ed8fbcp-110 };
    Turn t;
    V n = math_round(k, x, 0x1.45f306dc9c883p-1, &t.quarter);
    V r = x;
    for (int i = 0; i < (terms == 9 ? 3 : 2); i++)
        r = float_fma(k, n, const_f(k, LLVMTypeOf(x), -pieces[i]), r);
    V z = float_mul(k, r, r);
    t.sine = LLVMBuildFMul(k->b, r, math_poly(k, z, terms, sin_terms), "");
    t.cosine = math_poly(k, z, terms, cos_terms);
    return t;
}

static V quarter_bit(Kernel *k, V quarter, int bit)
{
    LLVMTypeRef type = LLVMTypeOf(quarter);
    V one = LLVMBuildAnd(k->b, quarter, const_i(k, type, bit), "");
    return LLVMBuildICmp(k->b, LLVMIntNE, one, const_i(k, type, 0), "");
}

/* sin(n pi/2 + r): n odd takes the cosine, n & 2 the sign.  A cosine is a quarter further. */
static V wave(Kernel *k, V x, int terms, int ahead)
{
    Turn t = turn_of(k, x, terms);
    V quarter = LLVMBuildAdd(k->b, t.quarter, const_i(k, LLVMTypeOf(t.quarter), ahead), "");
    V y = math_select(k, quarter_bit(k, quarter, 1), t.cosine, t.sine);
    return math_select(k, quarter_bit(k, quarter, 2), LLVMBuildFNeg(k->b, y, ""), y);
}

static V tangent(Kernel *k, V x, int terms)
{
    Turn t = turn_of(k, x, terms);
    V odd = quarter_bit(k, t.quarter, 1);
    V over = math_select(k, odd, LLVMBuildFNeg(k->b, t.cosine, ""), t.sine);
    return float_div(k, over, math_select(k, odd, t.sine, t.cosine));
}

/* In f64, with the lanes that are too large by the library (it makes NaN of infinities). */
static V trig(Kernel *k, int function, V x)
{
    bool is_f64 = math_is_f64(x);
    V wide = to_f64(k, x);
    int terms = is_f64 ? 9 : 7;
    V y = function == MATH_TAN ? tangent(k, wide, terms)
                               : wave(k, wide, terms, function == MATH_COS);
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
    return trig(k, MATH_TAN, x);
}
