/* arith.c - arithmetic on values in registers: what StableHLO means where LLVM means less.
 *
 * Booleans add by or and multiply by and; integers are divided in int_division.c.  Floats: max and min keep NaN; by a whole number they are divided with
 * products, to the same bits.  Complex division and length are
 * done without overflow on the way. */
#include "engine/codegen/codegen.h"

#include <math.h>

bool is_float(Element e)
{
    return element_info[e].kind == FLOAT;
}

bool is_complex(Element e)
{
    return element_info[e].kind == COMPLEX;
}

bool is_unsigned(Element e)
{
    return element_info[e].kind == UNSIGNED || element_info[e].kind == BOOLEAN;
}

LLVMTypeRef like_type(Kernel *k, V x, LLVMTypeRef one)
{
    (void)k;
    LLVMTypeRef type = LLVMTypeOf(x);
    return LLVMGetTypeKind(type) == LLVMVectorTypeKind
               ? LLVMVectorType(one, LLVMGetVectorSize(type))
               : one;
}

/* Lets the code generator join a multiplication and an addition, as XLA does. */
static V contracted(Kernel *k, V v)
{
    if (!k->is_strict && LLVMIsAInstruction(v))
        LLVMSetFastMathFlags(v, LLVMFastMathAllowContract);
    return v;
}

V float_add(Kernel *k, V x, V y)
{
    return contracted(k, LLVMBuildFAdd(k->b, x, y, ""));
}

V float_sub(Kernel *k, V x, V y)
{
    return contracted(k, LLVMBuildFSub(k->b, x, y, ""));
}

V float_mul(Kernel *k, V x, V y)
{
    return contracted(k, LLVMBuildFMul(k->b, x, y, ""));
}

V float_fma(Kernel *k, V x, V y, V z)
{
    return INTRINSIC(k, "llvm.fma", x, y, z);
}

V float_abs(Kernel *k, V x)
{
    return INTRINSIC(k, "llvm.fabs", x);
}

/* The number that all lanes of a constant vector are; 0: they differ, or it is none. */
static double splat_number(V y)
{
    LLVMBool loses = false;
    if (LLVMGetTypeKind(LLVMTypeOf(y)) != LLVMVectorTypeKind || !LLVMIsConstant(y))
        return 0;
    V one = LLVMGetAggregateElement(y, 0);
    for (unsigned i = 1; i < LLVMGetVectorSize(LLVMTypeOf(y)); i++)
        if (LLVMGetAggregateElement(y, i) != one)
            return 0;
    return one && LLVMIsAConstantFP(one) ? LLVMConstRealGetDouble(one, &loses) : 0;
}

/* Whether x / c may be x * (1 / c), put right once.  For whole numbers up to 2^20 (f64: 2^48) that has the
 * bits of the division: x - c q is exact, and no quotient is so near the middle between two floats
 * that the rounding of 1 / c could tell; below 2^-100 x - c q may be flushed and the last bit another. */
static bool divides_by_product(const Kernel *k, LLVMTypeRef type, double c)
{
    enum { HAS_FMA = 32 }; /* bytes of a vector */
    double most = LLVMGetTypeKind(one_lane(type)) == LLVMDoubleTypeKind ? 0x1p48 : 0x1p20;
    return k->e->vector_bytes >= HAS_FMA && fabs(c) > 1 && fabs(c) <= most && c == floor(c);
}

/* Nothing is put right where nothing is missed (-0 stays), nor where the quotient is infinite or NaN. */
static V divided_by(Kernel *k, V x, double c)
{
    LLVMTypeRef type = LLVMTypeOf(x);
    V inverse = const_f(k, type, 1 / c), q = LLVMBuildFMul(k->b, x, inverse, "");
    V missed = float_fma(k, q, const_f(k, type, -c), x);
    V is_missed = LLVMBuildFCmp(k->b, LLVMRealONE, missed, const_f(k, type, 0), "");
    return LLVMBuildSelect(k->b, is_missed, float_fma(k, missed, inverse, q), q, "");
}

V float_div(Kernel *k, V x, V y)
{
    double c = splat_number(y);
    if (divides_by_product(k, LLVMTypeOf(x), c))
        return divided_by(k, x, c);
    return LLVMBuildFDiv(k->b, x, y, "");
}

V is_nan(Kernel *k, V x)
{
    return LLVMBuildFCmp(k->b, LLVMRealUNO, x, x, "");
}

V to_f64(Kernel *k, V x)
{
    return LLVMBuildFPCast(k->b, x, like_type(k, x, LLVMDoubleTypeInContext(k->c)), "");
}

V to_f32(Kernel *k, V x)
{
    return LLVMBuildFPCast(k->b, x, like_type(k, x, LLVMFloatTypeInContext(k->c)), "");
}

V same_bits(Kernel *k, V x, bool as_float)
{
    LLVMTypeRef one = one_lane(LLVMTypeOf(x));
    bool is_wide =
        as_float ? LLVMGetIntTypeWidth(one) == 64 : LLVMGetTypeKind(one) == LLVMDoubleTypeKind;
    LLVMTypeRef to = !as_float ? int_type(k, is_wide ? 64 : 32)
                     : is_wide ? LLVMDoubleTypeInContext(k->c)
                               : LLVMFloatTypeInContext(k->c);
    return LLVMBuildBitCast(k->b, x, like_type(k, x, to), "");
}

/* ---- complex ---- */

V real_part(Kernel *k, V x)
{
    return LLVMBuildExtractValue(k->b, x, 0, "");
}

V imag_part(Kernel *k, V x)
{
    return LLVMBuildExtractValue(k->b, x, 1, "");
}

V complex_of(Kernel *k, V re, V im)
{
    LLVMTypeRef both[] = { LLVMTypeOf(re), LLVMTypeOf(im) };
    V v = LLVMGetPoison(LLVMStructTypeInContext(k->c, both, 2, false));
    v = LLVMBuildInsertValue(k->b, v, re, 0, "");
    return LLVMBuildInsertValue(k->b, v, im, 1, "");
}

static V complex_mul(Kernel *k, V x, V y)
{
    V a = real_part(k, x), b = imag_part(k, x), c = real_part(k, y), d = imag_part(k, y);
    return complex_of(k, float_sub(k, float_mul(k, a, c), float_mul(k, b, d)),
                      float_add(k, float_mul(k, a, d), float_mul(k, b, c)));
}

static V choose(Kernel *k, V condition, V x, V y)
{
    return LLVMBuildSelect(k->b, condition, x, y, "");
}

/* A power of two near max(|c|, |d|), as its inverse: scaling by it is exact.  The largest numbers
 * stop at the least inverse that is no denormal. */
static V inverse_scale(Kernel *k, V c, V d)
{
    V most = INTRINSIC(k, "llvm.maxnum", float_abs(k, c), float_abs(k, d));
    V bits = same_bits(k, most, false);
    LLVMTypeRef type = LLVMTypeOf(bits);
    V top = LLVMBuildAnd(k->b, bits, const_i(k, type, INT64_C(0x7ff) << 52), "");
    V inverse = LLVMBuildSub(k->b, const_i(k, type, INT64_C(2045) << 52), top, "");
    inverse = INTRINSIC(k, "llvm.smax", inverse, const_i(k, type, INT64_C(1) << 52));
    V is_plain = LLVMBuildAnd(
        k->b, LLVMBuildICmp(k->b, LLVMIntNE, top, const_i(k, type, 0), ""),
        LLVMBuildICmp(k->b, LLVMIntULT, top, const_i(k, type, INT64_C(2047) << 52), ""), "");
    V one = const_i(k, type, INT64_C(1023) << 52);
    return same_bits(k, choose(k, is_plain, inverse, one), true);
}

typedef struct Parts {
    V re, im;
} Parts;

/* (a + bi)(c - di) */
static Parts times_conjugate(Kernel *k, Parts x, Parts y)
{
    return (Parts){ float_add(k, float_mul(k, x.re, y.re), float_mul(k, x.im, y.im)),
                    float_sub(k, float_mul(k, x.im, y.re), float_mul(k, x.re, y.im)) };
}

static V is_infinite(Kernel *k, V x)
{
    V infinity = const_f(k, LLVMTypeOf(x), __builtin_inf());
    return LLVMBuildFCmp(k->b, LLVMRealOEQ, float_abs(k, x), infinity, "");
}

static V is_finite(Kernel *k, Parts x)
{
    V infinity = const_f(k, LLVMTypeOf(x.re), __builtin_inf());
    return LLVMBuildAnd(k->b, LLVMBuildFCmp(k->b, LLVMRealOLT, float_abs(k, x.re), infinity, ""),
                        LLVMBuildFCmp(k->b, LLVMRealOLT, float_abs(k, x.im), infinity, ""), "");
}

/* The corner of the box in which an infinite number lies: 1 for an infinite part, 0 for another,
 * with their signs. */
static Parts corner(Kernel *k, Parts x)
{
    V one = const_f(k, LLVMTypeOf(x.re), 1), zero = const_f(k, LLVMTypeOf(x.re), 0);
    V re = choose(k, is_infinite(k, x.re), one, zero);
    V im = choose(k, is_infinite(k, x.im), one, zero);
    return (Parts){ INTRINSIC(k, "llvm.copysign", re, x.re),
                    INTRINSIC(k, "llvm.copysign", im, x.im) };
}

static Parts choose_parts(Kernel *k, V condition, Parts x, Parts y)
{
    return (Parts){ choose(k, condition, x.re, y.re), choose(k, condition, x.im, y.im) };
}

/* Where both parts of the quotient by the formula are NaN though the operands tell more: by zero,
 * an infinite number by a finite one, a finite number by an infinite one.  C's rules (annex G), and
 * XLA's. */
static Parts quotient_at_edges(Kernel *k, Parts x, Parts y, V length, Parts q)
{
    LLVMTypeRef type = LLVMTypeOf(x.re);
    V zero = const_f(k, type, 0), infinity = const_f(k, type, __builtin_inf());
    V is_lost = LLVMBuildAnd(k->b, is_nan(k, q.re), is_nan(k, q.im), "");
    Rare rare = rare_begin(k, is_lost);
    V x_is_infinite = LLVMBuildOr(k->b, is_infinite(k, x.re), is_infinite(k, x.im), "");
    V y_is_infinite = LLVMBuildOr(k->b, is_infinite(k, y.re), is_infinite(k, y.im), "");
    V grows = LLVMBuildAnd(k->b, x_is_infinite, is_finite(k, y), "");
    V vanishes = LLVMBuildAnd(k->b, y_is_infinite, is_finite(k, x), "");
    Parts edge = times_conjugate(k, choose_parts(k, grows, corner(k, x), x),
                                 choose_parts(k, vanishes, corner(k, y), y));
    V factor = choose(k, grows, infinity, zero);
    edge = (Parts){ float_mul(k, edge.re, factor), float_mul(k, edge.im, factor) };
    V at_edge = LLVMBuildAnd(k->b, is_lost, LLVMBuildOr(k->b, grows, vanishes, ""), "");
    Parts known = choose_parts(k, at_edge, edge, q);
    V by_zero = LLVMBuildFCmp(k->b, LLVMRealOEQ, length, zero, "");
    V signed_infinity = INTRINSIC(k, "llvm.copysign", infinity, y.re);
    Parts far = { float_mul(k, signed_infinity, x.re), float_mul(k, signed_infinity, x.im) };
    known = choose_parts(k, by_zero, far, known);
    V usual[] = { q.re, q.im }, values[] = { known.re, known.im };
    rare_end(k, &rare, 2, usual, values);
    return (Parts){ values[0], values[1] };
}

/* (a + bi) / (c + di), in f64; f32 parts are widened, so only f64 ones need scaling, and a product
 * with the inverse is good enough for the others. */
static V complex_div(Kernel *k, Element e, V x, V y)
{
    Parts over = { to_f64(k, real_part(k, x)), to_f64(k, imag_part(k, x)) };
    Parts under = { to_f64(k, real_part(k, y)), to_f64(k, imag_part(k, y)) };
    if (e == C128) {
        V scale = inverse_scale(k, under.re, under.im);
        under = (Parts){ float_mul(k, under.re, scale), float_mul(k, under.im, scale) };
        over = (Parts){ float_mul(k, over.re, scale), float_mul(k, over.im, scale) };
    }
    V length = float_add(k, float_mul(k, under.re, under.re), float_mul(k, under.im, under.im));
    Parts q = times_conjugate(k, over, under);
    V inverse = e == C128 ? NULL : float_div(k, const_f(k, LLVMTypeOf(length), 1), length);
    q = inverse ? (Parts){ float_mul(k, q.re, inverse), float_mul(k, q.im, inverse) }
                : (Parts){ float_div(k, q.re, length), float_div(k, q.im, length) };
    q = quotient_at_edges(k, over, under, length, q);
    return e == C128 ? complex_of(k, q.re, q.im) : complex_of(k, to_f32(k, q.re), to_f32(k, q.im));
}

/* The square root of a^2 + b^2, both in f64; f32 parts were widened and need no scaling. */
static V length_in_f64(Kernel *k, V a, V b, bool is_scaled)
{
    LLVMTypeRef type = LLVMTypeOf(a);
    V scale = is_scaled ? inverse_scale(k, a, b) : const_f(k, type, 1);
    V p = float_mul(k, a, scale), q = float_mul(k, b, scale);
    V length = INTRINSIC(k, "llvm.sqrt", float_add(k, float_mul(k, p, p), float_mul(k, q, q)));
    length = float_div(k, length, scale);
    V far = LLVMBuildOr(k->b, is_infinite(k, a), is_infinite(k, b), "");
    return choose(k, far, const_f(k, type, __builtin_inf()), length);
}

/* In f32 the sum of squares has all its bits between these bounds (a square that is lost below 2^-126
 * is less than half of its last place); other lanes, zeros among them, are made anew in f64. */
static V complex_abs(Kernel *k, Element e, V x)
{
    V a = float_abs(k, real_part(k, x)), b = float_abs(k, imag_part(k, x));
    if (e == C128)
        return length_in_f64(k, a, b, true);
    LLVMTypeRef type = LLVMTypeOf(a);
    V sum = float_fma(k, a, a, float_mul(k, b, b));
    V is_low = LLVMBuildFCmp(k->b, LLVMRealULT, sum, const_f(k, type, 0x1p-98), "");
    V is_high = LLVMBuildFCmp(k->b, LLVMRealUGT, sum, const_f(k, type, 0x1p126), "");
    V usual = INTRINSIC(k, "llvm.sqrt", sum);
    Rare rare = rare_begin(k, LLVMBuildOr(k->b, is_low, is_high, ""));
    V wide = to_f32(k, length_in_f64(k, to_f64(k, a), to_f64(k, b), false));
    rare_end(k, &rare, 1, &usual, &wide);
    return wide;
}

static V both_parts(Kernel *k, V (*f)(Kernel *, V, V), V x, V y)
{
    return complex_of(k, f(k, real_part(k, x), real_part(k, y)),
                      f(k, imag_part(k, x), imag_part(k, y)));
}

V arith_select(Kernel *k, V condition, V x, V y)
{
    if (LLVMGetTypeKind(LLVMTypeOf(x)) != LLVMStructTypeKind)
        return choose(k, condition, x, y);
    return complex_of(k, choose(k, condition, real_part(k, x), real_part(k, y)),
                      choose(k, condition, imag_part(k, x), imag_part(k, y)));
}

/* ---- the four operations ---- */

V arith_neg(Kernel *k, Element e, V x)
{
    if (is_complex(e))
        return complex_of(k, LLVMBuildFNeg(k->b, real_part(k, x), ""),
                          LLVMBuildFNeg(k->b, imag_part(k, x), ""));
    return is_float(e) ? LLVMBuildFNeg(k->b, x, "") : LLVMBuildNeg(k->b, x, "");
}

V arith_add(Kernel *k, Element e, V x, V y)
{
    if (is_complex(e))
        return both_parts(k, float_add, x, y);
    if (is_float(e))
        return float_add(k, x, y);
    return e == I1 ? LLVMBuildOr(k->b, x, y, "") : LLVMBuildAdd(k->b, x, y, "");
}

V arith_sub(Kernel *k, Element e, V x, V y)
{
    if (is_complex(e))
        return both_parts(k, float_sub, x, y);
    if (is_float(e))
        return float_sub(k, x, y);
    return e == I1 ? LLVMBuildXor(k->b, x, y, "") : LLVMBuildSub(k->b, x, y, "");
}

V arith_mul(Kernel *k, Element e, V x, V y)
{
    if (is_complex(e))
        return complex_mul(k, x, y);
    if (is_float(e))
        return float_mul(k, x, y);
    return e == I1 ? LLVMBuildAnd(k->b, x, y, "") : LLVMBuildMul(k->b, x, y, "");
}

V arith_div(Kernel *k, Element e, V x, V y)
{
    if (is_complex(e))
        return complex_div(k, e, x, y);
    return is_float(e) ? float_div(k, x, y) : int_quotient(k, e, x, y);
}

V arith_rem(Kernel *k, Element e, V x, V y)
{
    return int_rest(k, e, x, y);
}

static V complex_greater(Kernel *k, V x, V y)
{
    V a = real_part(k, x), b = real_part(k, y);
    V tie =
        LLVMBuildAnd(k->b, LLVMBuildFCmp(k->b, LLVMRealOEQ, a, b, ""),
                     LLVMBuildFCmp(k->b, LLVMRealOGT, imag_part(k, x), imag_part(k, y), ""), "");
    return LLVMBuildOr(k->b, LLVMBuildFCmp(k->b, LLVMRealOGT, a, b, ""), tie, "");
}

/* The larger (how: OGT) or smaller (OLT) of two numbers, NaN if one is, and of two zeros the one that is to come
 * first.  For single numbers that are not known LLVM makes ten instructions of its own intrinsic, some of them by way
 * of general registers; here the two orders of the machine's instruction differ in zeros and NaN alone. */
static V single_extreme(Kernel *k, LLVMRealPredicate how, V x, V y)
{
    V one = LLVMBuildSelect(k->b, LLVMBuildFCmp(k->b, how, x, y, ""), x, y, "");
    V other = LLVMBuildSelect(k->b, LLVMBuildFCmp(k->b, how, y, x, ""), y, x, "");
    V a = same_bits(k, one, false), b = same_bits(k, other, false);
    V both = how == LLVMRealOGT ? LLVMBuildAnd(k->b, a, b, "") : LLVMBuildOr(k->b, a, b, "");
    V is_none = LLVMBuildFCmp(k->b, LLVMRealUNO, x, y, "");
    return LLVMBuildSelect(k->b, is_none, LLVMBuildFAdd(k->b, x, y, ""), same_bits(k, both, true),
                           "");
}

static V float_extreme(Kernel *k, LLVMRealPredicate how, V x, V y)
{
    bool is_single = LLVMGetTypeKind(LLVMTypeOf(x)) != LLVMVectorTypeKind;
    if (is_single && !LLVMIsConstant(x) && !LLVMIsConstant(y))
        return single_extreme(k, how, x, y);
    return how == LLVMRealOGT ? INTRINSIC(k, "llvm.maximum", x, y)
                              : INTRINSIC(k, "llvm.minimum", x, y);
}

V arith_max(Kernel *k, Element e, V x, V y)
{
    if (is_complex(e))
        return arith_select(k, complex_greater(k, x, y), x, y);
    if (is_float(e))
        return float_extreme(k, LLVMRealOGT, x, y);
    if (e == I1)
        return LLVMBuildOr(k->b, x, y, "");
    return is_unsigned(e) ? INTRINSIC(k, "llvm.umax", x, y) : INTRINSIC(k, "llvm.smax", x, y);
}

V arith_min(Kernel *k, Element e, V x, V y)
{
    if (is_complex(e))
        return arith_select(k, complex_greater(k, y, x), x, y);
    if (is_float(e))
        return float_extreme(k, LLVMRealOLT, x, y);
    if (e == I1)
        return LLVMBuildAnd(k->b, x, y, "");
    return is_unsigned(e) ? INTRINSIC(k, "llvm.umin", x, y) : INTRINSIC(k, "llvm.smin", x, y);
}

V arith_abs(Kernel *k, Element e, V x)
{
    if (is_complex(e))
        return complex_abs(k, e, x);
    if (is_float(e))
        return float_abs(k, x);
    if (is_unsigned(e))
        return x;
    V negative = LLVMBuildICmp(k->b, LLVMIntSLT, x, const_i(k, LLVMTypeOf(x), 0), "");
    return choose(k, negative, LLVMBuildNeg(k->b, x, ""), x);
}

static V complex_sign(Kernel *k, Element e, V x)
{
    V length = complex_abs(k, e, x);
    V zero = const_f(k, LLVMTypeOf(length), 0);
    V is_zero = LLVMBuildFCmp(k->b, LLVMRealOEQ, length, zero, "");
    V unit =
        complex_of(k, float_div(k, real_part(k, x), length), float_div(k, imag_part(k, x), length));
    return arith_select(k, is_zero, x, unit);
}

V arith_sign(Kernel *k, Element e, V x)
{
    if (is_complex(e))
        return complex_sign(k, e, x);
    LLVMTypeRef type = LLVMTypeOf(x);
    if (is_float(e)) {
        V zero = const_f(k, type, 0), is_zero = LLVMBuildFCmp(k->b, LLVMRealOEQ, x, zero, "");
        V size = choose(k, is_zero, zero, const_f(k, type, 1)); /* a denormal is 0, as XLA has it */
        return choose(k, is_nan(k, x), x, INTRINSIC(k, "llvm.copysign", size, x));
    }
    V zero = const_i(k, type, 0), one = const_i(k, type, 1);
    V is_zero = LLVMBuildICmp(k->b, LLVMIntEQ, x, zero, "");
    V sign = is_unsigned(e) ? one
                            : choose(k, LLVMBuildICmp(k->b, LLVMIntSLT, x, zero, ""),
                                     const_i(k, type, -1), one);
    return choose(k, is_zero, zero, sign);
}

/* ---- comparing ---- */

/* Bits as integers that compare as the numbers do: -NaN < -1 < -0 < +0 < 1 < NaN. */
static V total_order(Kernel *k, V x)
{
    V bits = same_bits(k, x, false);
    LLVMTypeRef type = LLVMTypeOf(bits);
    int width = (int)LLVMGetIntTypeWidth(one_lane(type));
    V sign = LLVMBuildAShr(k->b, bits, const_i(k, type, width - 1), "");
    return LLVMBuildXor(k->b, bits, LLVMBuildLShr(k->b, sign, const_i(k, type, 1), ""), "");
}

static V compare_ints(Kernel *k, bool is_signed, int direction, V x, V y)
{
    static const LLVMIntPredicate plain[] = {
        [EQ] = LLVMIntEQ,  [NE] = LLVMIntNE,  [GE] = LLVMIntSGE,
        [GT] = LLVMIntSGT, [LE] = LLVMIntSLE, [LT] = LLVMIntSLT
    };
    static const LLVMIntPredicate other[] = {
        [EQ] = LLVMIntEQ,  [NE] = LLVMIntNE,  [GE] = LLVMIntUGE,
        [GT] = LLVMIntUGT, [LE] = LLVMIntULE, [LT] = LLVMIntULT
    };
    return LLVMBuildICmp(k->b, (is_signed ? plain : other)[direction], x, y, "");
}

V arith_compare(Kernel *k, Element e, int direction, bool is_total, V x, V y)
{
    static const LLVMRealPredicate floats[] = {
        [EQ] = LLVMRealOEQ, [NE] = LLVMRealUNE, [GE] = LLVMRealOGE,
        [GT] = LLVMRealOGT, [LE] = LLVMRealOLE, [LT] = LLVMRealOLT
    };
    if (is_complex(e)) {
        V re = LLVMBuildFCmp(k->b, floats[direction], real_part(k, x), real_part(k, y), "");
        V im = LLVMBuildFCmp(k->b, floats[direction], imag_part(k, x), imag_part(k, y), "");
        return direction == NE ? LLVMBuildOr(k->b, re, im, "") : LLVMBuildAnd(k->b, re, im, "");
    }
    if (is_float(e) && is_total)
        return compare_ints(k, true, direction, total_order(k, x), total_order(k, y));
    if (is_float(e))
        return LLVMBuildFCmp(k->b, floats[direction], x, y, "");
    return compare_ints(k, !is_unsigned(e), direction, x, y);
}
