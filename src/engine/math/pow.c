/* pow.c - powers, x^y = e^(y log x).
 *
 * In: values in registers, f32 or f64.  Out: the power, within 1 ulp; f32's are C's (pow_f32.c).
 *
 * An error of log x counts y log x times, up to 709, so f64 needs a logarithm of 11 bits more than
 * it has: a sum of two doubles.  With x = 2^n m, m around 1, and s = (m - 1)/(m + 1),
 *
 *     log m = s (2 + s^2 (2/3 + s^2 p(s^2)))
 *
 * in which everything but p is such a pair. */
#include "engine/codegen/codegen.h"
#include "engine/math/math_parts.h"

#include <math.h>

static V mul(Kernel *k, V x, V y)
{
    return LLVMBuildFMul(k->b, x, y, "");
}

static V minus(Kernel *k, V x)
{
    return LLVMBuildFNeg(k->b, x, "");
}

/* log of a size; as a number, of zero and infinity. */
static Pair log_pair(Kernel *k, V x)
{
    LLVMTypeRef type = LLVMTypeOf(x);
    V n, f = math_split(k, x, &n);
    Pair s = pair_over(k, (Pair){ f, NULL }, pair_of_sum(k, const_f(k, type, 2), f));
    Pair z = pair_times(k, s, s);
    V p = mul(k, z.high, math_poly(k, z.high, 11, math_log_terms + 1));
    Pair third = { p, const_f(k, type, 0x1.5555555555555p-55) };
    Pair inner = pair_times(k, z, pair_sum(k, const_f(k, type, 0x1.5555555555555p-1), third));
    Pair m = pair_times(k, s, pair_sum(k, const_f(k, type, 2), inner));
    m.low = float_fma(k, n, const_f(k, type, 0x1.a39ef35793c76p-33), m.low);
    Pair y = pair_sum(k, mul(k, n, const_f(k, type, 0x1.62e42fee00000p-1)), m);
    V is_zero = math_compare(k, LLVMRealOLT, x, 0x1p-1022);
    y.high = math_select(k, is_zero, const_f(k, type, -INFINITY), y.high);
    V keep = math_compare(k, LLVMRealUEQ, x, INFINITY); /* NaN and infinity */
    return (Pair){ math_select(k, keep, x, y.high), y.low };
}

static V pow_of_size(Kernel *k, V x, V y)
{
    Pair log = log_pair(k, x);
    V high = mul(k, y, log.high);
    V low = float_fma(k, y, log.low, float_fma(k, y, log.high, minus(k, high)));
    return math_exp_of_sum(k, high, low);
}

/* What sign and NaN-ness a negative base gives: y integer? odd? */
static V pow_of_negative(Kernel *k, V x, V y, V result)
{
    LLVMTypeRef type = LLVMTypeOf(x);
    V is_whole = LLVMBuildFCmp(k->b, LLVMRealOEQ, INTRINSIC(k, "llvm.trunc", y), y, "");
    V half = LLVMBuildFMul(k->b, y, const_f(k, type, 0.5), "");
    V is_even = LLVMBuildFCmp(k->b, LLVMRealOEQ, INTRINSIC(k, "llvm.trunc", half), half, "");
    V is_odd = LLVMBuildAnd(k->b, is_whole, LLVMBuildNot(k->b, is_even, ""), "");
    V sign = INTRINSIC(k, "llvm.copysign", const_f(k, type, 1), x);
    V signed_result = INTRINSIC(k, "llvm.copysign", result, sign);
    V is_negative = math_compare(k, LLVMRealOLT, x, 0);
    V is_infinite = math_compare(k, LLVMRealOEQ, x, -INFINITY);
    V undefined = LLVMBuildAnd(k->b, is_negative, LLVMBuildNot(k->b, is_whole, ""), "");
    undefined = LLVMBuildAnd(k->b, undefined, LLVMBuildNot(k->b, is_infinite, ""), "");
    result = math_select(k, is_odd, signed_result, result);
    return math_select(k, undefined, const_f(k, type, NAN), result);
}

/* x^y in f64, of which `result` is |x|^y where that is not 1 by definition. */
static V pow_at_edges(Kernel *k, V x, V y, V result)
{
    V one = const_f(k, LLVMTypeOf(x), 1);
    /* 1 to any power, even an infinite one, is 1. */
    V unit = LLVMBuildAnd(k->b, math_compare(k, LLVMRealOEQ, float_abs(k, x), 1),
                          LLVMBuildFCmp(k->b, LLVMRealORD, y, y, ""), "");
    result = pow_of_negative(k, x, y, math_select(k, unit, one, result));
    V always_one = LLVMBuildOr(k->b, math_compare(k, LLVMRealOEQ, y, 0),
                               math_compare(k, LLVMRealOEQ, x, 1), "");
    return math_select(k, always_one, one, result);
}

/* sqrt(x) of which zero and infinity have no sign, as C's x^0.5. */
static V root_of(Kernel *k, V x)
{
    V root = float_abs(k, INTRINSIC(k, "llvm.sqrt", x));
    V far = math_compare(k, LLVMRealOEQ, x, -INFINITY);
    return math_select(k, far, const_f(k, LLVMTypeOf(x), INFINITY), root);
}

/* 2^y = e^(y log 2), whose product is a pair.  That of f32's least normal number, rounded, is one of
 * which the exponential is 0. */
static V power_of_two(Kernel *k, V y)
{
    LLVMTypeRef type = LLVMTypeOf(y);
    bool is_f64 = math_is_f64(y);
    double high = is_f64 ? 0x1.62e42fefa39efp-1 : 0x1.62e430p-1;
    double low = is_f64 ? 0x1.abc9e3b39803fp-56 : -0x1.05c610ca86c39p-29;
    Pair product = pair_of_product(k, y, const_f(k, type, high));
    V tail = float_fma(k, y, const_f(k, type, low), product.low);
    V power = math_exp_of_sum(k, product.high, tail);
    V is_least = math_compare(k, LLVMRealOEQ, y, -126);
    return is_f64 ? power : math_select(k, is_least, const_f(k, type, 0x1p-126), power);
}

/* x^y where y is a constant for which that is an operation or two, or x is 2; or NULL.  XLA has the
 * former too. */
static V pow_by_constant(Kernel *k, V x, V y)
{
    LLVMTypeRef type = LLVMTypeOf(x);
    V one = const_f(k, type, 1);
    if (x == const_f(k, type, 2))
        return power_of_two(k, y);
    if (y == one)
        return x;
    if (y == const_f(k, type, 2))
        return mul(k, x, x);
    if (y == const_f(k, type, 3))
        return mul(k, mul(k, x, x), x);
    if (y == const_f(k, type, -1))
        return float_div(k, one, x);
    if (y == const_f(k, type, 0.5))
        return root_of(k, x);
    if (y == const_f(k, type, -0.5))
        return float_div(k, one, root_of(k, x));
    return NULL;
}

V math_pow(Kernel *k, V x, V y)
{
    V simple = pow_by_constant(k, x, y);
    if (simple)
        return simple;
    if (math_is_f64(x))
        return pow_at_edges(k, x, y, pow_of_size(k, float_abs(k, x), y));
    V size = math_pow_f32(k, float_abs(k, x), y);
    return to_f32(k, pow_at_edges(k, to_f64(k, x), to_f64(k, y), size));
}
