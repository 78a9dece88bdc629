/* elementwise.c - the formula of every operation that works element by element.
 *
 * MAP1(exp, f(x)) says: the element of an `exp` at an index is f of its operand's element
 * there.  x, y are values in registers, e the operand's element type, r the result's. */
#include "engine/codegen/codegen.h"
#include "engine/math/math.h"

/* A function that has a real and a complex form. */
#define FUNCTION(name, op)                                                                         \
    MAP1(name, is_complex(e) ? complex_function(k, op, e, x) : math_##name(k, x))

FUNCTION(exp, OP_EXP)
FUNCTION(expm1, OP_EXPM1)
FUNCTION(log, OP_LOG)
FUNCTION(log1p, OP_LOG1P)
FUNCTION(logistic, OP_LOGISTIC)
FUNCTION(tanh, OP_TANH)
FUNCTION(sin, OP_SIN)
FUNCTION(cos, OP_COS)
FUNCTION(rsqrt, OP_RSQRT)
MAP2(atan2, is_complex(e) ? complex_atan2(k, e, x, y) : math_atan2(k, x, y))

static V square_root(Kernel *k, Element e, V x)
{
    return is_complex(e) ? complex_function(k, OP_SQRT, e, x) : INTRINSIC(k, "llvm.sqrt", x);
}

MAP1(sqrt, square_root(k, e, x))

/* Integer powers by squaring, with the exponent's bits as selects; a negative exponent of an
 * integer gives 0, but 1 and -1 keep being themselves. */
static V int_pow(Kernel *k, Element e, V x, V y)
{
    LLVMTypeRef type = LLVMTypeOf(x);
    V one = const_i(k, type, 1), zero = const_i(k, type, 0), result = one, base = x;
    int bits = element_info[e].bits - !is_unsigned(e);
    for (int i = 0; i < bits; i++) {
        V bit = LLVMBuildAnd(k->b, y, const_i(k, type, (int64_t)(UINT64_C(1) << i)), "");
        V is_set = LLVMBuildICmp(k->b, LLVMIntNE, bit, zero, "");
        result = LLVMBuildSelect(k->b, is_set, LLVMBuildMul(k->b, result, base, ""), result, "");
        base = LLVMBuildMul(k->b, base, base, "");
    }
    if (is_unsigned(e))
        return result;
    V odd = LLVMBuildICmp(k->b, LLVMIntNE, LLVMBuildAnd(k->b, y, one, ""), zero, "");
    V is_one = LLVMBuildICmp(k->b, LLVMIntEQ, x, one, "");
    V minus = const_i(k, type, -1);
    V is_minus = LLVMBuildICmp(k->b, LLVMIntEQ, x, minus, "");
    V unit = LLVMBuildSelect(k->b, is_minus, LLVMBuildSelect(k->b, odd, minus, one, ""),
                             LLVMBuildSelect(k->b, is_one, one, zero, ""), "");
    V negative = LLVMBuildICmp(k->b, LLVMIntSLT, y, zero, "");
    return LLVMBuildSelect(k->b, negative, unit, result, "");
}

static V power(Kernel *k, Element e, V x, V y)
{
    if (is_complex(e))
        return complex_pow(k, e, x, y);
    return is_float(e) ? math_pow(k, x, y) : int_pow(k, e, x, y);
}

MAP2(pow, power(k, e, x, y))
MAP2(rem, is_float(e) ? math_rem(k, x, y) : arith_rem(k, e, x, y))

MAP1(neg, arith_neg(k, e, x))
MAP1(abs, arith_abs(k, e, x))
MAP1(sign, arith_sign(k, e, x))
MAP1(square, is_complex(e) ? complex_function(k, OP_SQUARE, e, x) : arith_mul(k, e, x, x))
MAP1(floor, INTRINSIC(k, "llvm.floor", x))
MAP1(ceil, INTRINSIC(k, "llvm.ceil", x))
MAP1(round_even, INTRINSIC(k, "llvm.roundeven", x))
MAP1(round_away, INTRINSIC(k, "llvm.round", x))
MAP1(not, LLVMBuildNot(k->b, x, ""))
MAP1(real, is_complex(e) ? real_part(k, x) : x)
MAP1(imag, is_complex(e) ? imag_part(k, x) : const_f(k, LLVMTypeOf(x), 0))
MAP1(convert, arith_convert(k, e, r, x))
MAP1(is_finite, LLVMBuildFCmp(k->b, LLVMRealOLT, float_abs(k, x),
                              const_f(k, LLVMTypeOf(x), __builtin_inf()), ""))

MAP2(add, arith_add(k, e, x, y))
MAP2(sub, arith_sub(k, e, x, y))
MAP2(mul, arith_mul(k, e, x, y))
MAP2(div, arith_div(k, e, x, y))
MAP2(max, arith_max(k, e, x, y))
MAP2(min, arith_min(k, e, x, y))
MAP2(and, LLVMBuildAnd(k->b, x, y, ""))
MAP2(or, LLVMBuildOr(k->b, x, y, ""))
MAP2(xor, LLVMBuildXor(k->b, x, y, ""))
MAP2(complex, complex_of(k, x, y))

/* ---- bits ---- */

/* A small integer without its extension. */
static V bare_bits(Kernel *k, Element e, V x)
{
    int bits = element_info[e].bits;
    return bits < 8 ? LLVMBuildAnd(k->b, x, const_i(k, LLVMTypeOf(x), (1 << bits) - 1), "") : x;
}

static V leading_zeros(Kernel *k, Element e, V x)
{
    V args[] = { bare_bits(k, e, x), LLVMConstInt(int_type(k, 1), 0, false) };
    V all = intrinsic(k, "llvm.ctlz", LLVMTypeOf(x), 2, args);
    int extra = element_info[e].bits < 8 ? 8 - element_info[e].bits : 0;
    return LLVMBuildSub(k->b, all, const_i(k, LLVMTypeOf(x), extra), "");
}

MAP1(popcnt, INTRINSIC(k, "llvm.ctpop", bare_bits(k, e, x)))
MAP1(clz, leading_zeros(k, e, x))

/* Shifts by the width or more give 0, or the sign for arithmetic ones. */
static V shift(Kernel *k, OpId op, Element e, V x, V y)
{
    LLVMTypeRef type = LLVMTypeOf(x);
    int bits = element_info[e].bits;
    V fits = LLVMBuildICmp(k->b, LLVMIntULT, y, const_i(k, type, bits), "");
    V none = const_i(k, type, 0);
    switch (op) {
    case OP_SHL: return LLVMBuildSelect(k->b, fits, LLVMBuildShl(k->b, x, y, ""), none, "");
    case OP_SHR_LOGICAL:
        return LLVMBuildSelect(k->b, fits, LLVMBuildLShr(k->b, bare_bits(k, e, x), y, ""), none,
                               "");
    default: break;
    }
    V by = LLVMBuildSelect(k->b, fits, y, const_i(k, type, bits - 1), "");
    if (bits < 8 && is_unsigned(e)) { /* its sign is not at the byte's top */
        V up = const_i(k, type, 8 - bits);
        V high = LLVMBuildAShr(k->b, LLVMBuildShl(k->b, x, up, ""), up, "");
        return LLVMBuildAShr(k->b, high, by, "");
    }
    return LLVMBuildAShr(k->b, x, by, "");
}

MAP2(shl, shift(k, OP_SHL, e, x, y))
MAP2(shr_logical, shift(k, OP_SHR_LOGICAL, e, x, y))
MAP2(shr_arithmetic, shift(k, OP_SHR_ARITHMETIC, e, x, y))

/* ---- those with attributes, or three operands ---- */

V element_compare(Kernel *k, NodeId n, Index *at)
{
    const CompareAttrs *a = node_at(k->m, n)->attrs;
    Element e = element_of(k, node_at(k->m, n)->in[0]);
    V x = operand(k, n, 0, at), y = operand(k, n, 1, at);
    return arith_compare(k, e, a->comparison_direction, a->compare_type == COMPARE_TOTALORDER, x,
                         y);
}

V element_select(Kernel *k, NodeId n, Index *at)
{
    V condition = operand(k, n, 0, at), x = operand(k, n, 1, at), y = operand(k, n, 2, at);
    return arith_select(k, condition, x, y);
}

V element_clamp(Kernel *k, NodeId n, Index *at)
{
    Element e = element_of(k, node_at(k->m, n)->out);
    V least = operand(k, n, 0, at), x = operand(k, n, 1, at), most = operand(k, n, 2, at);
    return arith_min(k, e, arith_max(k, e, x, least), most);
}

/* Keeps mantissa_bits of the mantissa (to nearest even), then makes what lies outside the
 * smaller exponent range infinite or zero. */
static V fewer_bits(Kernel *k, const ReducePrecisionAttrs *a, V x)
{
    V bits = same_bits(k, x, false);
    LLVMTypeRef type = LLVMTypeOf(bits);
    LLVMTypeRef one = LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetElementType(type) : type;
    int width = (int)LLVMGetIntTypeWidth(one), mantissa = width == 64 ? 52 : 23;
    int exponent = width - 1 - mantissa;
    V kept = bits;
    if (a->mantissa_bits < mantissa) {
        int drop = mantissa - (int)a->mantissa_bits;
        V odd = LLVMBuildAnd(k->b, LLVMBuildLShr(k->b, bits, const_i(k, type, drop), ""),
                             const_i(k, type, 1), "");
        V half = LLVMBuildAdd(k->b, odd, const_i(k, type, (INT64_C(1) << (drop - 1)) - 1), "");
        kept = LLVMBuildAnd(k->b, LLVMBuildAdd(k->b, bits, half, ""),
                            const_i(k, type, (int64_t)(UINT64_MAX << drop)), "");
    }
    if (a->exponent_bits < exponent) {
        int64_t bias = (INT64_C(1) << (exponent - 1)) - 1;
        int64_t small = (INT64_C(1) << (a->exponent_bits - 1)) - 1;
        V sign =
            LLVMBuildAnd(k->b, kept, const_i(k, type, (int64_t)(UINT64_C(1) << (width - 1))), "");
        V e = LLVMBuildAnd(k->b, kept, const_i(k, type, ((INT64_C(1) << exponent) - 1) << mantissa),
                           "");
        V over =
            LLVMBuildICmp(k->b, LLVMIntUGT, e, const_i(k, type, (bias + small) << mantissa), "");
        V under =
            LLVMBuildICmp(k->b, LLVMIntULE, e, const_i(k, type, (bias - small) << mantissa), "");
        V infinite = LLVMBuildOr(k->b, sign,
                                 const_i(k, type, ((INT64_C(1) << exponent) - 1) << mantissa), "");
        kept = LLVMBuildSelect(k->b, over, infinite, kept, "");
        kept = LLVMBuildSelect(k->b, under, sign, kept, "");
    }
    return LLVMBuildSelect(k->b, is_nan(k, x), x, same_bits(k, kept, true), "");
}

V element_reduce_precision(Kernel *k, NodeId n, Index *at)
{
    Element e = element_of(k, node_at(k->m, n)->out);
    return finish(k, e, fewer_bits(k, node_at(k->m, n)->attrs, operand(k, n, 0, at)));
}
