/* rem.c - the remainder of a division, exactly.
 *
 * In: values in registers, f32 or f64.  Out: C's fmod; f32 goes by f64.
 *
 * q = x/y, rounded and cut to a whole number, is right or one too large, as long as it is below
 * 2^53; in both cases x - q y has no more digits than a double holds, so that one fma gives it
 * without error.  Where its sign is not that of x, q was too large, and y is put back: exactly
 * too.  Larger quotients, and divisors so small that the difference could be a denormal, go to
 * the C library. */
#include "engine/codegen/codegen.h"
#include "engine/math/math_parts.h"

#include <math.h>

static V both(Kernel *k, V x, V y)
{
    return LLVMBuildAnd(k->b, x, y, "");
}

static V remainder_f64(Kernel *k, V x, V y)
{
    LLVMTypeRef type = LLVMTypeOf(x);
    V zero = const_f(k, type, 0), size = float_abs(k, x), by = float_abs(k, y);
    V q = INTRINSIC(k, "llvm.trunc", float_div(k, size, by));
    V r = float_fma(k, LLVMBuildFNeg(k->b, q, ""), by, size);
    V is_over = LLVMBuildFCmp(k->b, LLVMRealOLT, r, zero, "");
    r = math_select(k, is_over, LLVMBuildFAdd(k->b, r, by, ""), r);
    V is_finite = math_compare(k, LLVMRealOLT, size, INFINITY);
    V by_infinity = both(k, is_finite, math_compare(k, LLVMRealOEQ, by, INFINITY));
    r = INTRINSIC(k, "llvm.copysign", math_select(k, by_infinity, size, r), x);
    V hard = LLVMBuildOr(k->b, math_compare(k, LLVMRealOGE, q, 0x1p53),
                         math_compare(k, LLVMRealOLT, by, 0x1p-960), "");
    hard = both(k, both(k, hard, is_finite), math_compare(k, LLVMRealOGT, by, 0));
    return math_repair(k, MATH_FMOD, x, y, hard, r);
}

V math_rem(Kernel *k, V x, V y)
{
    if (math_is_f64(x))
        return remainder_f64(k, x, y);
    return to_f32(k, remainder_f64(k, to_f64(k, x), to_f64(k, y)));
}
