/* hyperbolic.c - hyperbolic functions and their inverses.
 *
 * In: values in registers, f32 or f64.  Out: the function, within 4 ulp; f32 is computed in f64
 * and rounded, but for its cosine, which is XLA's own formula.  All by sizes, since they are odd
 * or even:
 *
 *   sinh   (t + t/(t + 1))/2 with t = e^a - 1        asinh  log1p(a + a^2/(1 + sqrt(1 + a^2)))
 *   cosh   (t + 1/t)/2 with t = e^a                  acosh  log1p(b + sqrt(b (b + 2))), b = a - 1
 *                                                    atanh  log1p(2a/(1 - a))/2
 *
 * Where e^a overflows before its half does, it is taken of a - 1 and multiplied by e/2; where
 * squares would overflow, asinh and acosh are log a + log 2. */
#include "engine/codegen/codegen.h"
#include "engine/math/math_parts.h"

#include <math.h>

static V number(Kernel *k, V like, double value)
{
    return const_f(k, LLVMTypeOf(like), value);
}

/* f, which computes in f64, of x's type. */
static V by_f64(Kernel *k, V (*f)(Kernel *, V), V x)
{
    return math_is_f64(x) ? f(k, x) : to_f32(k, f(k, to_f64(k, x)));
}

static V signed_as(Kernel *k, V size, V x)
{
    return INTRINSIC(k, "llvm.copysign", size, x);
}

/* a, or a - 1 where e^a may be too large. */
static V lowered(Kernel *k, V a, V *is_far)
{
    *is_far = math_compare(k, LLVMRealOGT, a, 700);
    V less = LLVMBuildFSub(k->b, a, number(k, a, 1), "");
    return math_select(k, *is_far, less, a);
}

static V half_e_times(Kernel *k, V power)
{
    return LLVMBuildFMul(k->b, power, number(k, power, 0x1.5bf0a8b145769p0), "");
}

static V sinh_f64(Kernel *k, V x)
{
    V one = number(k, x, 1), is_far, a = lowered(k, float_abs(k, x), &is_far);
    V t = math_expm1(k, a);
    V ratio = float_div(k, t, LLVMBuildFAdd(k->b, t, one, ""));
    V half = LLVMBuildFMul(k->b, LLVMBuildFAdd(k->b, t, ratio, ""), number(k, x, 0.5), "");
    return signed_as(k, math_select(k, is_far, half_e_times(k, t), half), x);
}

static V cosh_f64(Kernel *k, V x)
{
    V is_far, a = lowered(k, float_abs(k, x), &is_far);
    V t = math_exp(k, a), half = number(k, x, 0.5);
    V mean = float_fma(k, t, half, float_div(k, half, t));
    return math_select(k, is_far, half_e_times(k, t), mean);
}

/* What size - log 2 lost in rounding to `rest`, but for one place of it; 0 where size is not
 * finite. */
static V lost_by_log2(Kernel *k, V size, V rest, V log2)
{
    LLVMTypeRef type = LLVMTypeOf(size);
    V lost = LLVMBuildFSub(k->b, LLVMBuildFSub(k->b, size, rest, ""), log2, "");
    V most = const_f(k, type, 0x1p-23), zero = const_f(k, type, 0);
    V above = INTRINSIC(k, "llvm.maxnum", LLVMBuildFSub(k->b, lost, most, ""), zero);
    V below = INTRINSIC(k, "llvm.minnum", LLVMBuildFAdd(k->b, lost, most, ""), zero);
    return LLVMBuildFAdd(k->b, above, below, "");
}

/* XLA's e^(|x| - log 2) + e^(-|x| - log 2), which overflows no earlier than its result.  What the
 * first difference loses is magnified by |x|: more than one place of it is put back. */
static V cosh_f32(Kernel *k, V x)
{
    V size = INTRINSIC(k, "llvm.fabs", x), log2 = const_f(k, LLVMTypeOf(x), 0x1.62e430p-1);
    V rest = LLVMBuildFSub(k->b, size, log2, "");
    V up = math_exp(k, rest);
    V down = math_exp(k, LLVMBuildFNeg(k->b, LLVMBuildFAdd(k->b, size, log2, ""), ""));
    V back = LLVMBuildFMul(k->b, up, lost_by_log2(k, size, rest, log2), "");
    V is_over = math_compare(k, LLVMRealOEQ, up, INFINITY);
    up = math_select(k, is_over, up, LLVMBuildFAdd(k->b, up, back, ""));
    /* Of two NaNs, here with two signs, a sum gives whichever comes first in the machine's code. */
    return math_select(k, is_nan(k, x), x, LLVMBuildFAdd(k->b, up, down, ""));
}

/* log1p(inside), or log a + log 2 where a is far. */
static V log_of_sum(Kernel *k, Pair inside, V a)
{
    V is_far = math_compare(k, LLVMRealOGT, a, 0x1p500);
    V low = math_select(k, is_far, number(k, a, 0), inside.low);
    V y = math_log1p_of_sum(k, math_select(k, is_far, a, inside.high), low);
    V log2 = math_select(k, is_far, number(k, a, 0x1.62e42fefa39efp-1), number(k, a, 0));
    return LLVMBuildFAdd(k->b, y, log2, "");
}

static V asinh_f64(Kernel *k, V x)
{
    V one = number(k, x, 1), a = float_abs(k, x);
    V root = INTRINSIC(k, "llvm.sqrt", float_fma(k, a, a, one));
    V ratio = float_div(k, a, LLVMBuildFAdd(k->b, one, root, ""));
    Pair inside = pair_sum(k, a, pair_of_product(k, a, ratio));
    return signed_as(k, log_of_sum(k, inside, a), x);
}

static V acosh_f64(Kernel *k, V x)
{
    V b = LLVMBuildFSub(k->b, x, number(k, x, 1), "");
    V root = INTRINSIC(k, "llvm.sqrt", float_fma(k, b, b, LLVMBuildFAdd(k->b, b, b, "")));
    V y = log_of_sum(k, pair_of_sum(k, root, b), x);
    V is_below = math_compare(k, LLVMRealOLT, x, 1);
    return math_select(k, is_below, number(k, x, NAN), y);
}

static V atanh_f64(Kernel *k, V x)
{
    V a = float_abs(k, x), rest = LLVMBuildFSub(k->b, number(k, x, 1), a, "");
    V y = math_log1p(k, float_div(k, LLVMBuildFAdd(k->b, a, a, ""), rest));
    return signed_as(k, LLVMBuildFMul(k->b, y, number(k, x, 0.5), ""), x);
}

V math_sinh(Kernel *k, V x)
{
    return by_f64(k, sinh_f64, x);
}

V math_cosh(Kernel *k, V x)
{
    return math_is_f64(x) ? cosh_f64(k, x) : cosh_f32(k, x);
}

V math_asinh(Kernel *k, V x)
{
    return by_f64(k, asinh_f64, x);
}

V math_acosh(Kernel *k, V x)
{
    return by_f64(k, acosh_f64, x);
}

V math_atanh(Kernel *k, V x)
{
    return by_f64(k, atanh_f64, x);
}
