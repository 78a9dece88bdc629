/* convert.c - from one element type to another.
 *
 * Floats become integers by cutting the fraction off; what does not fit becomes the nearest
 * that does, NaN becomes 0.  Anything becomes bool by "is not zero". */
#include "engine/codegen/codegen.h"

#include <math.h>

static V not_zero(Kernel *k, Element from, V x)
{
    LLVMTypeRef type = LLVMTypeOf(x);
    return is_float(from) ? LLVMBuildFCmp(k->b, LLVMRealUNE, x, const_f(k, type, 0), "")
                          : LLVMBuildICmp(k->b, LLVMIntNE, x, const_i(k, type, 0), "");
}

/* max(low, x), or low of NaN; and min(high, x): each one instruction. */
static V at_least(Kernel *k, V x, double low)
{
    V bound = const_f(k, LLVMTypeOf(x), low);
    return LLVMBuildSelect(k->b, LLVMBuildFCmp(k->b, LLVMRealOGT, x, bound, ""), x, bound, "");
}

static V at_most(Kernel *k, V x, double high)
{
    V bound = const_f(k, LLVMTypeOf(x), high);
    return LLVMBuildSelect(k->b, LLVMBuildFCmp(k->b, LLVMRealOLT, x, bound, ""), x, bound, "");
}

/* The largest float of x's type below 2^bits, or 2^bits - 1 if that is one. */
static double largest_below(V x, int bits)
{
    int digits = LLVMGetTypeKind(one_lane(LLVMTypeOf(x))) == LLVMDoubleTypeKind ? 53 : 24;
    return ldexp(1, bits) - ldexp(1, bits > digits ? bits - digits : 0);
}

/* Bounded first, so that it fits; then what was not below the end of the range, and is not the
 * largest number yet, becomes that. */
static V float_to_int(Kernel *k, Element to, V x)
{
    int bits = element_info[to].bits, value_bits = bits - !is_unsigned(to);
    double most = largest_below(x, value_bits), end = ldexp(1, value_bits);
    V bounded = at_most(k, at_least(k, x, is_unsigned(to) ? 0 : -end), most);
    LLVMTypeRef type = like_type(k, x, int_type(k, bits > 32 ? 64 : 32));
    V v = is_unsigned(to) && bits >= 32 ? LLVMBuildFPToUI(k->b, bounded, type, "")
                                        : LLVMBuildFPToSI(k->b, bounded, type, "");
    if (most < end - 1) {
        V is_over = LLVMBuildFCmp(k->b, LLVMRealOGE, x, const_f(k, LLVMTypeOf(x), end), "");
        int64_t largest = (int64_t)(UINT64_MAX >> (64 - value_bits));
        v = LLVMBuildSelect(k->b, is_over, const_i(k, type, largest), v, "");
    }
    v = LLVMBuildSelect(k->b, is_nan(k, x), const_i(k, type, 0), v, "");
    return LLVMBuildIntCast2(k->b, v, like_type(k, x, part_type(k, to)), false, "");
}

static V real_to_real(Kernel *k, Element from, Element to, V x)
{
    LLVMTypeRef type = like_type(k, x, part_type(k, to));
    if (from == to)
        return x;
    if (to == I1)
        return not_zero(k, from, x);
    bool is_single = LLVMGetTypeKind(one_lane(type)) == LLVMFloatTypeKind;
    if (from == F8E8M0FNU && is_single)
        return power_to_f32(k, x);
    if (to == F8E8M0FNU && LLVMGetTypeKind(one_lane(LLVMTypeOf(x))) == LLVMFloatTypeKind)
        return power_from_f32(k, x);
    if (is_float(from) && is_float(to))
        return LLVMBuildFPCast(k->b, x, type, "");
    if (is_float(from))
        return float_to_int(k, to, x);
    if (is_float(to))
        return is_unsigned(from) ? LLVMBuildUIToFP(k->b, x, type, "")
                                 : LLVMBuildSIToFP(k->b, x, type, "");
    return LLVMBuildIntCast2(k->b, x, type, !is_unsigned(from), "");
}

V arith_convert(Kernel *k, Element from, Element to, V x)
{
    Element a = element_part(from), b = element_part(to);
    if (is_complex(from) && is_complex(to))
        return complex_of(k, real_to_real(k, a, b, real_part(k, x)),
                          real_to_real(k, a, b, imag_part(k, x)));
    if (is_complex(from))
        return real_to_real(k, a, to, real_part(k, x));
    V v = real_to_real(k, from, b, x);
    return is_complex(to) ? complex_of(k, v, LLVMConstNull(LLVMTypeOf(v))) : v;
}

/* Round to nearest, ties to even, on the bits: half an ulp is added, less one if the kept
 * part is even.  NaN would be carried over into an infinity, so it is kept apart. */
static V round_bf16(Kernel *k, V x)
{
    V bits = same_bits(k, x, false);
    LLVMTypeRef type = LLVMTypeOf(bits);
    V odd = LLVMBuildAnd(k->b, LLVMBuildLShr(k->b, bits, const_i(k, type, 16), ""),
                         const_i(k, type, 1), "");
    V half = LLVMBuildAdd(k->b, odd, const_i(k, type, 0x7fff), "");
    V up = LLVMBuildAdd(k->b, bits, half, "");
    V nan = LLVMBuildOr(k->b, bits, const_i(k, type, 0x400000), "");
    V kept = LLVMBuildSelect(k->b, is_nan(k, x), nan, up, "");
    return same_bits(k, LLVMBuildAnd(k->b, kept, const_i(k, type, 0xffff0000), ""), true);
}

/* The low bits of a byte, extended. */
static V cut_small_int(Kernel *k, Element e, V x)
{
    LLVMTypeRef type = LLVMTypeOf(x);
    V by = const_i(k, type, 8 - element_info[e].bits);
    V high = LLVMBuildShl(k->b, x, by, "");
    return is_unsigned(e) ? LLVMBuildLShr(k->b, high, by, "") : LLVMBuildAShr(k->b, high, by, "");
}

V finish(Kernel *k, Element e, V v)
{
    if (e == BF16)
        return k->accumulates ? v : round_bf16(k, v);
    if (is_coded(k, e))
        return k->accumulates ? v : narrow_decode(k, e, narrow_encode(k, e, v));
    if (e == F16)
        return k->accumulates ? v : half_widen(k, half_narrow(k, v));
    if (element_info[e].bits < 8 && e != I1)
        return cut_small_int(k, e, v);
    return v;
}
