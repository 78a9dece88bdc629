/* math.c - exponentials and logarithms as polynomials.
 *
 * In: values in registers, f32 or f64.  Out: code without branches, a dozen or two operations
 * a function, within 1-3 ulp (f32 expm1 goes by f64 and is nearly always right to the last bit;
 * f64 logarithms are within 0.6).
 * Exponentials split x = n ln2 + r with |r| <= ln2/2; logarithms split x = 2^n m with m around 1.
 * Series are Taylor's: at these ranges a fitted polynomial would save one or two terms.  Numbers
 * below the normal range count as zero, as everywhere here. */
#include "engine/math/math.h"

#include "base/fail.h"
#include "engine/codegen/codegen.h"
#include "engine/math/math_parts.h"

#include <math.h>

bool math_is_f64(V x)
{
    LLVMTypeRef type = LLVMTypeOf(x);
    if (LLVMGetTypeKind(type) == LLVMVectorTypeKind)
        type = LLVMGetElementType(type);
    return LLVMGetTypeKind(type) == LLVMDoubleTypeKind;
}

V math_poly(Kernel *k, V x, int n, const double *c)
{
    LLVMTypeRef type = LLVMTypeOf(x);
    V sum = const_f(k, type, c[n - 1]);
    for (int i = n - 2; i >= 0; i--)
        sum = float_fma(k, sum, x, const_f(k, type, c[i]));
    return sum;
}

/* c0 + c1 x and c2 + c3 x, ..., are the coefficients of a polynomial in x^2. */
V math_poly_by_halves(Kernel *k, V x, int n, const double *c)
{
    enum { MOST = 16 };
    V terms[MOST];
    require(n > 0 && n <= MOST);
    for (int i = 0; i < n; i++)
        terms[i] = const_f(k, LLVMTypeOf(x), c[i]);
    for (; n > 1; n = (n + 1) / 2) {
        for (int i = 0; i < n / 2; i++)
            terms[i] = float_fma(k, terms[2 * i + 1], x, terms[2 * i]);
        if (n % 2)
            terms[n / 2] = terms[n - 1];
        x = n > 2 ? float_mul(k, x, x) : x;
    }
    return terms[0];
}

V math_select(Kernel *k, V condition, V x, V y)
{
    return LLVMBuildSelect(k->b, condition, x, y, "");
}

V math_compare(Kernel *k, LLVMRealPredicate how, V x, double y)
{
    return LLVMBuildFCmp(k->b, how, x, const_f(k, LLVMTypeOf(x), y), "");
}

V math_round(Kernel *k, V x, double factor, V *integer)
{
    LLVMTypeRef type = LLVMTypeOf(x);
    double magic = math_is_f64(x) ? 0x1.8p52 : 0x1.8p23;
    V shifted = float_fma(k, x, const_f(k, type, factor), const_f(k, type, magic));
    V bits = same_bits(k, shifted, false);
    V base = same_bits(k, const_f(k, type, magic), false);
    *integer = LLVMBuildSub(k->b, bits, base, "");
    return LLVMBuildFSub(k->b, shifted, const_f(k, type, magic), "");
}

/* 2^n as a float, for n in the range of exponents. */
static V power_of_two(Kernel *k, V n, bool is_f64)
{
    LLVMTypeRef type = LLVMTypeOf(n);
    V field = LLVMBuildAdd(k->b, n, const_i(k, type, is_f64 ? 1023 : 127), "");
    return same_bits(k, LLVMBuildShl(k->b, field, const_i(k, type, is_f64 ? 52 : 23), ""), true);
}

/* ---- exponentials ---- */

/* clang-format off */
static const double exp_terms[] = {
    1.0 / 2, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720, 1.0 / 5040, 1.0 / 40320, 1.0 / 362880,
    1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800.0,
};
/* clang-format on */

/* e^r - 1, and in *whole e^r, for the part r of x + tail = n ln2 + r; tail may be NULL, else it is too small for x to
 * hold. */
static V exp_parts(Kernel *k, V x, V tail, V *n, V *whole)
{
    bool is_f64 = math_is_f64(x);
    LLVMTypeRef type = LLVMTypeOf(x);
    /* ln2 in two pieces; products of the first with n are exact enough by fma. */
    double high = is_f64 ? 0x1.62e42fefa39efp-1 : 0x1.62e430p-1;
    double low = is_f64 ? 0x1.abc9e3b39803fp-56 : -0x1.05c610ca86c39p-29;
    V steps = math_round(k, x, 0x1.71547652b82fep0, n), one = const_f(k, type, 1);
    V r = float_fma(k, steps, const_f(k, type, -high), x);
    r = float_fma(k, steps, const_f(k, type, -low), r);
    r = tail ? LLVMBuildFAdd(k->b, r, tail, "") : r;
    V more = math_poly_by_halves(k, r, is_f64 ? 12 : 6, exp_terms);
    V slope = float_fma(k, r, more, one);
    *whole = float_fma(k, r, slope, one);
    return float_mul(k, r, slope);
}

static V exp_part(Kernel *k, V x, V tail, V *n)
{
    V whole;
    return exp_parts(k, x, tail, n, &whole);
}

V math_exp_scaled(Kernel *k, V x, V y, V n)
{
    bool is_f64 = math_is_f64(x);
    LLVMTypeRef type = LLVMTypeOf(x);
    V up = LLVMBuildShl(k->b, n, const_i(k, LLVMTypeOf(n), is_f64 ? 52 : 23), "");
    y = same_bits(k, LLVMBuildAdd(k->b, same_bits(k, y, false), up, ""), true);
    double high = is_f64 ? 0x1.62e42fefa39efp9 : 0x1.62e42ep6;  /* log of the largest */
    double low = is_f64 ? -0x1.6232bdd7abcd2p9 : -0x1.5d589ep6; /* log of the least normal */
    y = math_select(k, math_compare(k, LLVMRealOLT, x, low), const_f(k, type, 0), y);
    y = math_select(k, math_compare(k, LLVMRealOGT, x, high), const_f(k, type, INFINITY), y);
    return math_select(k, is_nan(k, x), x, y);
}

V math_exp_of_sum(Kernel *k, V x, V tail)
{
    V n, part = exp_part(k, x, tail, &n);
    return math_exp_scaled(k, x, float_add(k, part, const_f(k, LLVMTypeOf(x), 1)), n);
}

V math_exp(Kernel *k, V x)
{
    return math_is_f64(x) ? math_exp_of_sum(k, x, NULL) : math_exp_f32(k, x);
}

/* 2^n (e^r - 1) + (2^n - 1), with n one less and doubled at the end so that 2^n never
 * overflows before the result does. */
static V expm1_direct(Kernel *k, V x)
{
    bool is_f64 = math_is_f64(x);
    LLVMTypeRef type = LLVMTypeOf(x);
    V inside = INTRINSIC(k, "llvm.maxnum", x, const_f(k, type, -50));
    inside = INTRINSIC(k, "llvm.minnum", inside, const_f(k, type, is_f64 ? 709.79 : 88.73));
    V n, part = exp_part(k, inside, NULL, &n);
    V half = power_of_two(k, LLVMBuildSub(k->b, n, const_i(k, LLVMTypeOf(n), 1), ""), is_f64);
    V y = float_fma(k, half, part, LLVMBuildFSub(k->b, half, const_f(k, type, 0.5), ""));
    y = LLVMBuildFAdd(k->b, y, y, "");
    /* So small that it is x; NaN, and zero with its sign, too. */
    V keep = LLVMBuildFCmp(k->b, LLVMRealULT, float_abs(k, x),
                           const_f(k, type, is_f64 ? 0x1p-54 : 0x1p-26), "");
    return math_select(k, keep, x, y);
}

V math_expm1(Kernel *k, V x)
{
    return math_is_f64(x) ? expm1_direct(k, x) : to_f32(k, expm1_direct(k, to_f64(k, x)));
}

V math_logistic(Kernel *k, V x)
{
    V one = const_f(k, LLVMTypeOf(x), 1);
    V e = math_exp(k, LLVMBuildFNeg(k->b, x, ""));
    return float_div(k, one, float_add(k, one, e));
}

/* Of |x| it is -t / (e^-2|x| + 1) with t = e^-2|x| - 1; past the limit the answer is 1.  Neither waits for the other, and
 * where the answer is nearly 1 both are 1 but for little: with e^2|x|, 1 would be lost beside it. */
V math_tanh(Kernel *k, V x)
{
    bool is_f64 = math_is_f64(x);
    LLVMTypeRef type = LLVMTypeOf(x);
    V limit = const_f(k, type, is_f64 ? 20 : 10), size = float_abs(k, x);
    V is_near = LLVMBuildFCmp(k->b, LLVMRealOLT, size, limit, "");
    size = math_select(k, is_near, size, limit);
    V n, whole, part = exp_parts(k, float_mul(k, size, const_f(k, type, -2)), NULL, &n, &whole);
    V power = power_of_two(k, n, is_f64);
    V one = const_f(k, type, 1);
    V t = float_fma(k, power, part, LLVMBuildFSub(k->b, power, one, ""));
    V below = float_fma(k, power, whole, one);
    V y = float_div(k, t, below);
    y = INTRINSIC(k, "llvm.copysign", y, x);
    return math_select(k, is_nan(k, x), x, y);
}

/* ---- logarithms of f64; those of f32 are in exp_log_f32.c ---- */

const double math_log_terms[] = {
    2.0 / 3,  2.0 / 5,  2.0 / 7,  2.0 / 9,  2.0 / 11, 2.0 / 13,
    2.0 / 15, 2.0 / 17, 2.0 / 19, 2.0 / 21, 2.0 / 23, 2.0 / 25,
};

V math_split(Kernel *k, V x, V *n)
{
    bool is_f64 = math_is_f64(x);
    V bits = same_bits(k, x, false);
    LLVMTypeRef type = LLVMTypeOf(bits);
    V from_root =
        LLVMBuildSub(k->b, bits, const_i(k, type, is_f64 ? 0x3fe6a09e667f3bcd : 0x3f3504f3), "");
    V shift = const_i(k, type, is_f64 ? 52 : 23);
    V exponent = LLVMBuildAShr(k->b, from_root, shift, "");
    V m = same_bits(k, LLVMBuildSub(k->b, bits, LLVMBuildShl(k->b, exponent, shift, ""), ""), true);
    *n = LLVMBuildSIToFP(k->b, exponent, LLVMTypeOf(x), "");
    return LLVMBuildFSub(k->b, m, const_f(k, LLVMTypeOf(x), 1), "");
}

/* s (f^2/2 + R) with s = f / (2 + f), R a series in s^2: log(1 + f) = f - f^2/2 + this. */
static V log_rest(Kernel *k, V f, V half)
{
    V s = float_div(k, f, LLVMBuildFAdd(k->b, f, const_f(k, LLVMTypeOf(f), 2), ""));
    V z = float_mul(k, s, s);
    V series = float_mul(k, z, math_poly(k, z, 10, math_log_terms));
    return LLVMBuildFMul(k->b, s, LLVMBuildFAdd(k->b, half, series, ""), "");
}

/* log(2^n (1 + f)), of which nothing but the small terms is rounded before the end: within 0.55 ulp.
 * n ln2 comes in two pieces, the small one with the small terms.  tail, too small for the sum to hold, may be NULL. */
static V log_exact(Kernel *k, V n, V f, V tail)
{
    LLVMTypeRef type = LLVMTypeOf(f);
    Pair half = pair_of_product(k, LLVMBuildFMul(k->b, f, const_f(k, type, -0.5), ""), f);
    V small = log_rest(k, f, LLVMBuildFNeg(k->b, half.high, ""));
    small = float_fma(k, n, const_f(k, type, 0x1.a39ef35793c76p-33), small);
    small = LLVMBuildFAdd(k->b, small, half.low, "");
    if (tail)
        small = LLVMBuildFAdd(k->b, small, tail, "");
    Pair large =
        pair_of_sum(k, LLVMBuildFMul(k->b, n, const_f(k, type, 0x1.62e42fee00000p-1), ""), f);
    Pair y =
        pair_sum(k, large.high, (Pair){ half.high, LLVMBuildFAdd(k->b, large.low, small, "") });
    return LLVMBuildFAdd(k->b, y.high, y.low, "");
}

V math_log_at_edges(Kernel *k, V x, V y)
{
    LLVMTypeRef type = LLVMTypeOf(x);
    double least = math_is_f64(x) ? 0x1p-1022 : 0x1p-126;
    y = math_select(k, math_compare(k, LLVMRealOLT, x, least), const_f(k, type, -INFINITY), y);
    V below = math_compare(k, LLVMRealOLE, x, -least);
    y = math_select(k, below, const_f(k, type, NAN), y);
    V keep = math_compare(k, LLVMRealUEQ, x, INFINITY); /* NaN and infinity */
    return math_select(k, keep, x, y);
}

V math_log(Kernel *k, V x)
{
    if (!math_is_f64(x))
        return math_log_f32(k, x);
    V n, f = math_split(k, x, &n);
    return math_log_at_edges(k, x, log_exact(k, n, f, NULL));
}

V math_log1p_of_sum(Kernel *k, V x, V tail)
{
    LLVMTypeRef type = LLVMTypeOf(x);
    V one = const_f(k, type, 1), is_large = math_compare(k, LLVMRealOGT, x, 1);
    Pair u = pair_of_sum(k, math_select(k, is_large, x, one), math_select(k, is_large, one, x));
    V low = tail ? LLVMBuildFAdd(k->b, u.low, tail, "") : u.low;
    V n, f = math_split(k, u.high, &n);
    V y = math_log_at_edges(k, u.high, log_exact(k, n, f, float_div(k, low, u.high)));
    V is_zero = math_compare(k, LLVMRealOEQ, u.high, 1); /* which keeps its sign */
    return math_select(k, is_zero, tail ? low : x, y);
}

V math_log1p(Kernel *k, V x)
{
    return math_is_f64(x) ? math_log1p_of_sum(k, x, NULL) : math_log1p_f32(k, x);
}
