/* emit_special.c - the formulas of functions too rare to be polynomials inside kernels.
 *
 * Most go to the runtime's library in f64, lane by lane; real and complex numbers alike.  The
 * hyperbolic cosine of f32 is XLA's own formula, whose rounding users see, kept within 4 ulp. */
#include "engine/emit/arith.h"
#include "engine/emit/math_parts.h"
#include "engine/rules/emit_rules.h"

static V by_library(Kernel *k, int function, V x)
{
    if (math_is_f64(x))
        return math_call(k, function, x, NULL);
    return to_f32(k, math_call(k, function, to_f64(k, x), NULL));
}

/* By math_name; only complex numbers by the library. */
#define REAL_FUNCTION(name, of_complex)                                                            \
    MAP1(name, is_complex(e) ? complex_call(k, of_complex, e, x) : math_##name(k, x))
#define LIBRARY(name, function) MAP1(name, by_library(k, function, x))
#define COMPLEX_LIBRARY(name, function, of_complex)                                                \
    MAP1(name, is_complex(e) ? complex_call(k, of_complex, e, x) : by_library(k, function, x))

static V cube_root(Kernel *k, Element e, V x)
{
    if (!is_complex(e))
        return math_cbrt(k, x);
    LLVMTypeRef part = LLVMTypeOf(real_part(k, x));
    V third = complex_of(k, const_f(k, part, 1.0 / 3), const_f(k, part, 0));
    return complex_pow(k, e, x, third);
}

MAP1(cbrt, cube_root(k, e, x))
MAP1(erf, math_erf(k, x))
MAP1(erfc, math_erfc(k, x))
MAP1(erf_inv, math_erf_inverse(k, x))
LIBRARY(lgamma, MATH_LGAMMA)
LIBRARY(digamma, MATH_DIGAMMA)
LIBRARY(bessel_i1e, MATH_BESSEL_I1E)
COMPLEX_LIBRARY(sinh, MATH_SINH, MATH_COMPLEX_SINH)
REAL_FUNCTION(asin, MATH_COMPLEX_ASIN)
REAL_FUNCTION(acos, MATH_COMPLEX_ACOS)
REAL_FUNCTION(atan, MATH_COMPLEX_ATAN)
COMPLEX_LIBRARY(asinh, MATH_ASINH, MATH_COMPLEX_ASINH)
COMPLEX_LIBRARY(acosh, MATH_ACOSH, MATH_COMPLEX_ACOSH)
COMPLEX_LIBRARY(atanh, MATH_ATANH, MATH_COMPLEX_ATANH)

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
    V is_over = math_compare(k, LLVMRealOEQ, up, __builtin_inf());
    up = math_select(k, is_over, up, LLVMBuildFAdd(k->b, up, back, ""));
    return LLVMBuildFAdd(k->b, up, down, "");
}

static V hyperbolic_cosine(Kernel *k, Element e, V x)
{
    if (is_complex(e))
        return complex_call(k, MATH_COMPLEX_COSH, e, x);
    return e == F64 ? math_call(k, MATH_COSH, x, NULL) : cosh_f32(k, x);
}

MAP1(cosh, hyperbolic_cosine(k, e, x))
MAP1(tan, is_complex(e) ? complex_call(k, MATH_COMPLEX_TAN, e, x) : math_tan(k, x))

/* One step from x towards y: on the bits, which count up away from zero.  Compared as integers,
 * since numbers below the normal range would count as zero. */
static V step_towards(Kernel *k, Element e, V x, V y)
{
    V from = bits_of(k, e, x), to = bits_of(k, e, y);
    LLVMTypeRef type = LLVMTypeOf(from);
    int64_t top = (int64_t)(UINT64_C(1) << (element_info[e].bits - 1));
    V sign = const_i(k, type, top), rest = const_i(k, type, ~top), zero = const_i(k, type, 0);
    V one = const_i(k, type, 1);
    V size = LLVMBuildAnd(k->b, from, rest, ""), to_size = LLVMBuildAnd(k->b, to, rest, "");
    V sizes = LLVMBuildOr(k->b, size, to_size, "");
    V is_same = LLVMBuildOr(k->b, LLVMBuildICmp(k->b, LLVMIntEQ, from, to, ""),
                            LLVMBuildICmp(k->b, LLVMIntEQ, sizes, zero, ""), "");
    V turns = LLVMBuildICmp(
        k->b, LLVMIntNE, LLVMBuildAnd(k->b, LLVMBuildXor(k->b, from, to, ""), sign, ""), zero, "");
    V is_above = LLVMBuildICmp(k->b, LLVMIntUGT, size, to_size, "");
    V inwards = LLVMBuildOr(k->b, turns, is_above, "");
    V next = LLVMBuildAdd(k->b, from, math_select(k, inwards, const_i(k, type, -1), one), "");
    V least = LLVMBuildOr(k->b, LLVMBuildAnd(k->b, to, sign, ""), one, "");
    next = math_select(k, LLVMBuildICmp(k->b, LLVMIntEQ, size, zero, ""), least, next);
    V result = value_of_bits(k, e, math_select(k, is_same, to, next));
    V any_nan = LLVMBuildFCmp(k->b, LLVMRealUNO, x, y, "");
    return math_select(k, any_nan, const_f(k, LLVMTypeOf(x), __builtin_nan("")), result);
}

MAP2(next_after, step_towards(k, e, x, y))
