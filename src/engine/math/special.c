/* special.c - the formulas of rarer functions.
 *
 * Those of complex numbers, and a few of real ones, go to the runtime's library in f64, lane by
 * lane. */
#include "engine/codegen/codegen.h"
#include "engine/math/math_parts.h"

static V by_library(Kernel *k, int function, V x)
{
    if (math_is_f64(x))
        return math_call(k, function, x, NULL);
    return to_f32(k, math_call(k, function, to_f64(k, x), NULL));
}

/* Of real numbers by math_sinh and so on; of complex numbers by the library. */
#define REAL_FUNCTION(name, of_complex)                                                            \
    MAP1(name, is_complex(e) ? complex_call(k, of_complex, e, x) : math_##name(k, x))
#define LIBRARY(name, function) MAP1(name, by_library(k, function, x))

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
REAL_FUNCTION(sinh, MATH_COMPLEX_SINH)
REAL_FUNCTION(cosh, MATH_COMPLEX_COSH)
REAL_FUNCTION(asin, MATH_COMPLEX_ASIN)
REAL_FUNCTION(acos, MATH_COMPLEX_ACOS)
REAL_FUNCTION(atan, MATH_COMPLEX_ATAN)
REAL_FUNCTION(asinh, MATH_COMPLEX_ASINH)
REAL_FUNCTION(acosh, MATH_COMPLEX_ACOSH)
REAL_FUNCTION(atanh, MATH_COMPLEX_ATANH)

MAP1(tan, is_complex(e) ? complex_function(k, OP_TAN, e, x) : math_tan(k, x))

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
