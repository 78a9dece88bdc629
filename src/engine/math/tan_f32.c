/* tan_f32.c - the tangent in f32, to the last bit as the C library's tanf has it (glibc before 2.41), which
 * JAX's own CPU engine calls: what is drawn from Cauchy's distribution is one.
 *
 * x = n pi/2 + r, r = high + low with |high| <= pi/4; all that follows is in f32, and nothing but what is said
 * below is exact, so that one of 25 results is not the nearest number.  They are within 1.1 ulp.
 *
 *     near 0           w = r + r^3 t(r^2), t of 13 terms, odd and even ones apart
 *     r above 0.674    tan(r) = 1 - 2 (d - (w^2 / (w + 1) - (w - d))), w = tan(d), d = pi/4 - r
 *     n odd            -1 / w, the quotient in two parts; or the line above with -1 for 1 */
#include "engine/codegen/codegen.h"
#include "engine/math/math_parts.h"

static const double terms[] = {
    3.3333334327e-01, 1.3333334029e-01,  5.3968254477e-02, 2.1869488060e-02, 8.8632395491e-03,
    3.5920790397e-03, 1.4562094584e-03,  5.8804126456e-04, 2.4646313977e-04, 7.8179444245e-05,
    7.1407252108e-05, -1.8558637748e-05, 2.5907305826e-05,
};

/* Without leave to join them. */
static V add(Kernel *k, V x, V y)
{
    return LLVMBuildFAdd(k->b, x, y, "");
}
static V sub(Kernel *k, V x, V y)
{
    return LLVMBuildFSub(k->b, x, y, "");
}
static V mul(Kernel *k, V x, V y)
{
    return LLVMBuildFMul(k->b, x, y, "");
}

/* terms[first], terms[first + 2], ... up to terms[last]. */
static V every_second(Kernel *k, V x, int first, int last)
{
    V sum = const_f(k, LLVMTypeOf(x), terms[last]);
    for (int i = last - 2; i >= first; i -= 2)
        sum = add(k, mul(k, sum, x), const_f(k, LLVMTypeOf(x), terms[i]));
    return sum;
}

/* The upper half of the fraction. */
static V upper(Kernel *k, V x)
{
    V bits = same_bits(k, x, false);
    return same_bits(k, LLVMBuildAnd(k->b, bits, const_i(k, LLVMTypeOf(bits), -4096), ""), true);
}

/* -1 / w, of w = x + rest; near is -1 / w, rounded. */
static V inverse(Kernel *k, V w, V x, V rest, V near)
{
    V one = const_f(k, LLVMTypeOf(w), 1), w_upper = upper(k, w), upper_near = upper(k, near);
    V lower = sub(k, rest, sub(k, w_upper, x));
    V error = add(k, add(k, one, mul(k, upper_near, w_upper)), mul(k, upper_near, lower));
    return add(k, upper_near, mul(k, near, error));
}

/* Of high >= 0 and low; is_odd: -1 / it. */
static V tan_of(Kernel *k, V high, V low, V is_odd)
{
    LLVMTypeRef type = LLVMTypeOf(high);
    V zero = const_f(k, type, 0), one = const_f(k, type, 1), minus_one = const_f(k, type, -1);
    V is_far = math_compare(k, LLVMRealOGE, high, 0x1.594280p-1);
    V to_far = add(k, sub(k, const_f(k, type, 7.8539812565e-01), high),
                   sub(k, const_f(k, type, 3.7748947079e-08), low));
    V x = math_select(k, is_far, to_far, high), y = math_select(k, is_far, zero, low);
    V square = mul(k, x, x), fourth = mul(k, square, square), cube = mul(k, square, x);
    V series =
        add(k, mul(k, square, every_second(k, fourth, 2, 12)), every_second(k, fourth, 1, 11));
    V rest = add(k, y, mul(k, square, add(k, mul(k, cube, series), y)));
    rest = add(k, rest, mul(k, const_f(k, type, terms[0]), cube));
    V is_tiny = math_compare(k, LLVMRealOLT, float_abs(k, x), 0x1p-13);
    V w = math_select(k, is_tiny, x, add(k, x, rest)),
      unit = math_select(k, is_odd, minus_one, one);
    V quotient = LLVMBuildFDiv(k->b, math_select(k, is_far, mul(k, w, w), minus_one),
                               math_select(k, is_far, add(k, w, unit), w), "");
    V half = sub(k, x, sub(k, quotient, rest));
    V far = sub(k, unit, add(k, half, half)), twice = mul(k, add(k, unit, unit), x);
    far = math_select(k, is_tiny, mul(k, unit, sub(k, one, twice)), far);
    V odd = math_select(k, is_tiny, quotient, inverse(k, w, x, rest, quotient));
    return math_select(k, is_far, far, math_select(k, is_odd, odd, w));
}

static V is_set(Kernel *k, V bits, int64_t bit)
{
    LLVMTypeRef type = LLVMTypeOf(bits);
    V one = LLVMBuildAnd(k->b, bits, const_i(k, type, bit), "");
    return LLVMBuildICmp(k->b, LLVMIntNE, one, const_i(k, type, 0), "");
}

/* x - n pi/2 in f64, and n: truncated as tanf does it, and its product rounded.  For |x| < 120. */
static V reduce(Kernel *k, V x, V *n)
{
    LLVMTypeRef type = LLVMTypeOf(x), i32 = like_type(k, x, int_type(k, 32));
    V scaled = LLVMBuildFPToSI(k->b, mul(k, x, const_f(k, type, 0x1.45f306dc9c883p+23)), i32, "");
    V rounded = LLVMBuildAdd(k->b, LLVMBuildFreeze(k->b, scaled, ""), const_i(k, i32, 1 << 23), "");
    *n = LLVMBuildAShr(k->b, rounded, const_i(k, i32, 24), "");
    V angle = mul(k, LLVMBuildSIToFP(k->b, *n, type, ""), const_f(k, type, 0x1.921fb54442d18p0));
    return sub(k, x, angle);
}

/* The same where tanf computes with integers: exact but for the last bits.  For |x| < 2^40. */
static V reduce_large(Kernel *k, V x, V *n)
{
    LLVMTypeRef type = LLVMTypeOf(x);
    V integer, whole = math_round(k, x, 0x1.45f306dc9c883p-1, &integer);
    *n = LLVMBuildTrunc(k->b, integer, like_type(k, x, int_type(k, 32)), "");
    V r = float_fma(k, whole, const_f(k, type, -0x1.921fb54442d18p0), x);
    return float_fma(k, whole, const_f(k, type, -0x1.1a62633145c07p-54), r);
}

/* Of x = n pi/2 + r. */
static V tan_of_angle(Kernel *k, V x, V r, V n)
{
    V is_whole = math_compare(k, LLVMRealOLT, float_abs(k, x), 0x1.921fb6p-1); /* up to pi/4 */
    V rounded = to_f32(k, r), low = to_f32(k, sub(k, r, to_f64(k, rounded)));
    V high = math_select(k, is_whole, x, rounded), bits = same_bits(k, high, false);
    V sign = LLVMBuildAnd(k->b, bits, const_i(k, LLVMTypeOf(bits), INT64_C(1) << 31), "");
    low = same_bits(k, LLVMBuildXor(k->b, same_bits(k, low, false), sign, ""), true);
    low = math_select(k, is_whole, const_f(k, LLVMTypeOf(x), 0), low);
    V is_odd = LLVMBuildAnd(k->b, is_set(k, n, 1), LLVMBuildNot(k->b, is_whole, ""), "");
    V y = tan_of(k, float_abs(k, high), low, is_odd);
    return same_bits(k, LLVMBuildXor(k->b, same_bits(k, y, false), sign, ""), true);
}

V math_tan_f32(Kernel *k, V x)
{
    V wide = to_f64(k, x), n, r = reduce(k, wide, &n), usual = tan_of_angle(k, x, r, n);
    V is_large = math_compare(k, LLVMRealOGE, float_abs(k, x), 120);
    Rare rare = rare_begin(k, is_large);
    r = reduce_large(k, wide, &n);
    V hard = math_compare(k, LLVMRealOGT, float_abs(k, wide), 0x1p40);
    V large = to_f64(k, tan_of_angle(k, x, r, n));
    large = to_f32(k, math_repair(k, MATH_TAN_F32, wide, NULL, hard, large));
    V y = math_select(k, is_large, large, usual);
    rare_end(k, &rare, 1, &usual, &y);
    return y;
}
