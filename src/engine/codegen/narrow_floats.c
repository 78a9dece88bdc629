/* narrow_floats.c - floats of at most 8 bits, and f16 on machines that cannot convert it: between their
 * bits and the f32 that stands for them.
 *
 * In: sign | exponent | mantissa, in one of several formats; out: the same number as f32, which
 * has room for all of them; and back, rounded to nearest, ties to even.  On the bits: away from
 * zero a format's numbers are f32's with fewer places and another bias, and below its normal
 * range they are multiples of one step:
 *
 *     |x|  0 ... least normal     multiples of the step: added to a number whose last place is
 *                                 the step, the machine rounds
 *          ... largest            f32's bits, rounded to fewer places, moved by the difference
 *                                 of the biases
 *          beyond                 infinity, or NaN where there is none, or else the largest
 *
 * f8E8M0FNU has powers of two only, no sign and no zero; its ties go up.  The least of them,
 * 2^-127, is below f32's normal range, which the machine flushes, so f64 stands for them. */
#include "engine/codegen/codegen.h"

#include "base/table.h"

typedef struct Format {
    int bits, mantissa, bias;
    int top;               /* bits of the largest number, without sign */
    int above;             /* what is written for more than that */
    int nan;               /* -0 where no bits mean it */
    bool is_unsigned_zero; /* there is no -0: its bits are NaN */
} Format;

static Format format_of(Element e)
{
    switch (e) {
    case F8E4M3FN: return (Format){ 8, 3, 7, 0x7e, 0x7f, 0x7f, false };
    case F8E5M2: return (Format){ 8, 2, 15, 0x7b, 0x7c, 0x7e, false };
    case F8E4M3FNUZ: return (Format){ 8, 3, 8, 0x7f, 0x80, 0x80, true };
    case F8E5M2FNUZ: return (Format){ 8, 2, 16, 0x7f, 0x80, 0x80, true };
    case F8E4M3B11FNUZ: return (Format){ 8, 3, 11, 0x7f, 0x80, 0x80, true };
    case F8E4M3: return (Format){ 8, 3, 7, 0x77, 0x78, 0x7c, false };
    case F6E2M3FN: return (Format){ 6, 3, 1, 0x1f, 0x1f, 0x20, false };
    case F6E3M2FN: return (Format){ 6, 2, 3, 0x1f, 0x1f, 0x20, false };
    case F4E2M1FN: return (Format){ 4, 1, 1, 0x07, 0x07, 0x08, false };
    case F16: return (Format){ 16, 10, 15, 0x7bff, 0x7c00, 0x7e00, false };
    default: return (Format){ 8, 4, 3, 0x6f, 0x70, 0x78, false }; /* F8E3M4 */
    }
}

bool is_narrow(Element e)
{
    return element_info[e].kind == FLOAT && element_info[e].bits <= 8;
}

bool is_coded(const Kernel *k, Element e)
{
    return is_narrow(e) || (e == F16 && k->e->vector_bytes < 32);
}

static V pick(Kernel *k, V condition, V x, V y)
{
    return LLVMBuildSelect(k->b, condition, x, y, "");
}

static V is_more(Kernel *k, V x, int64_t than)
{
    return LLVMBuildICmp(k->b, LLVMIntSGT, x, const_i(k, LLVMTypeOf(x), than), "");
}

/* ---- from bits ---- */

/* As f64: code 0 is 2^-127. */
static V decode_power(Kernel *k, V raw)
{
    LLVMTypeRef i64 = like_type(k, raw, int_type(k, 64));
    V code = LLVMBuildZExt(k->b, raw, i64, "");
    V biased = LLVMBuildAdd(k->b, code, const_i(k, i64, 1023 - 127), "");
    V bits = LLVMBuildShl(k->b, biased, const_i(k, i64, 52), "");
    bits = pick(k, is_more(k, code, 254), const_i(k, i64, INT64_C(0x7ff8) << 48), bits);
    return same_bits(k, bits, true);
}

static V decode(Kernel *k, Element e, V raw)
{
    LLVMTypeRef i32 = like_type(k, raw, int_type(k, 32));
    if (e == F8E8M0FNU)
        return decode_power(k, raw);
    V code = LLVMBuildZExt(k->b, raw, i32, "");
    Format f = format_of(e);
    int64_t top = INT64_C(1) << (f.bits - 1);
    V size = LLVMBuildAnd(k->b, code, const_i(k, i32, top - 1), "");
    V sign = LLVMBuildShl(k->b, LLVMBuildAnd(k->b, code, const_i(k, i32, top), ""),
                          const_i(k, i32, 32 - f.bits), "");
    V normal = LLVMBuildAdd(k->b, LLVMBuildShl(k->b, size, const_i(k, i32, 23 - f.mantissa), ""),
                            const_i(k, i32, (int64_t)(127 - f.bias) << 23), "");
    LLVMTypeRef f32 = like_type(k, raw, LLVMFloatTypeInContext(k->c));
    double step = 1;
    for (int i = 1 - f.bias - f.mantissa; i < 0; i++)
        step /= 2;
    V small = LLVMBuildFMul(k->b, LLVMBuildUIToFP(k->b, size, f32, ""), const_f(k, f32, step), "");
    V bits = pick(k, is_more(k, size, (1 << f.mantissa) - 1), normal, same_bits(k, small, false));
    bool has_infinity = f.above != f.nan;
    if (has_infinity && f.top < top - 1)
        bits = pick(k, is_more(k, size, f.top), const_i(k, i32, 0x7f800000), bits);
    if (f.top < top - 1)
        bits = pick(k, is_more(k, size, has_infinity ? f.above : f.top),
                    const_i(k, i32, 0x7fc00000), bits);
    bits = LLVMBuildOr(k->b, bits, sign, "");
    if (f.is_unsigned_zero) {
        V is_it = LLVMBuildICmp(k->b, LLVMIntEQ, code, const_i(k, i32, 0x80), "");
        bits = pick(k, is_it, const_i(k, i32, 0x7fc00000), bits);
    }
    return same_bits(k, bits, true);
}

/* 2^-127 is below f32's normal range: by its bits, since the machine would flush it. */
V power_to_f32(Kernel *k, V x)
{
    LLVMTypeRef i32 = like_type(k, x, int_type(k, 32));
    V bits = same_bits(
        k, LLVMBuildFPCast(k->b, x, like_type(k, x, LLVMFloatTypeInContext(k->c)), ""), false);
    V least = const_f(k, LLVMTypeOf(x), 0x1p-127);
    V is_least = LLVMBuildFCmp(k->b, LLVMRealOEQ, x, least, "");
    return same_bits(k, pick(k, is_least, const_i(k, i32, 0x400000), bits), true);
}

V power_from_f32(Kernel *k, V x)
{
    V bits = same_bits(k, x, false), wide = to_f64(k, x);
    LLVMTypeRef i32 = LLVMTypeOf(bits), f64 = LLVMTypeOf(wide);
    V places = LLVMBuildUIToFP(k->b, bits, f64, "");
    V small = LLVMBuildFMul(k->b, places, const_f(k, f64, 0x1p-149), "");
    V is_small = LLVMBuildICmp(k->b, LLVMIntULT, bits, const_i(k, i32, 0x800000), "");
    return pick(k, is_small, small, wide);
}

/* ---- to bits ---- */

/* Ties go up; what is below 2^-127 becomes that, and what an f32 would call zero is NaN. */
static V encode_power(Kernel *k, V x)
{
    V bits = same_bits(k, x, false);
    LLVMTypeRef i64 = LLVMTypeOf(bits);
    V half = const_i(k, i64, INT64_C(1) << 51);
    V up = LLVMBuildLShr(k->b, LLVMBuildAdd(k->b, bits, half, ""), const_i(k, i64, 52), "");
    V code = LLVMBuildSub(k->b, up, const_i(k, i64, 1023 - 127), "");
    code = pick(k, is_more(k, bits, (INT64_C(1023) - 127) << 52), code, const_i(k, i64, 0));
    V fits = LLVMBuildAnd(k->b, is_more(k, bits, (INT64_C(1023) - 150) << 52),
                          LLVMBuildNot(k->b, is_more(k, code, 254), ""), "");
    return pick(k, fits, code, const_i(k, i64, 255));
}

/* The bits of |x|, which is below the least normal number. */
static V encode_small(Kernel *k, const Format *f, V size)
{
    V x = same_bits(k, size, true);
    double magic = 1;
    for (int i = 23 + 1 - f->bias - f->mantissa; i != 0; i += i > 0 ? -1 : 1)
        magic = i > 0 ? magic * 2 : magic / 2;
    V base = const_f(k, LLVMTypeOf(x), magic);
    V sum = LLVMBuildFAdd(k->b, x, base, "");
    return LLVMBuildSub(k->b, same_bits(k, sum, false), same_bits(k, base, false), "");
}

static V encode(Kernel *k, Element e, V x)
{
    if (e == F8E8M0FNU)
        return LLVMBuildTrunc(k->b, encode_power(k, x), like_type(k, x, int_type(k, 8)), "");
    V bits = same_bits(k, x, false);
    LLVMTypeRef i32 = LLVMTypeOf(bits);
    Format f = format_of(e);
    V size = LLVMBuildAnd(k->b, bits, const_i(k, i32, 0x7fffffff), "");
    V drop = const_i(k, i32, 23 - f.mantissa);
    V odd = LLVMBuildAnd(k->b, LLVMBuildLShr(k->b, size, drop, ""), const_i(k, i32, 1), "");
    V half = LLVMBuildAdd(k->b, odd, const_i(k, i32, (INT64_C(1) << (22 - f.mantissa)) - 1), "");
    V code = LLVMBuildLShr(k->b, LLVMBuildAdd(k->b, size, half, ""), drop, "");
    code = LLVMBuildSub(k->b, code, const_i(k, i32, (int64_t)(127 - f.bias) << f.mantissa), "");
    int64_t least = (int64_t)(128 - f.bias) << 23;
    code = pick(k, is_more(k, size, least - 1), code, encode_small(k, &f, size));
    code = pick(k, is_more(k, code, f.top), const_i(k, i32, f.above), code);
    code = pick(k, is_more(k, size, 0x7f800000), const_i(k, i32, f.nan), code);
    V sign = LLVMBuildAnd(k->b, LLVMBuildLShr(k->b, bits, const_i(k, i32, 32 - f.bits), ""),
                          const_i(k, i32, INT64_C(1) << (f.bits - 1)), "");
    if (f.is_unsigned_zero)
        sign = pick(k, is_more(k, code, 0), sign, const_i(k, i32, 0));
    return LLVMBuildTrunc(k->b, LLVMBuildOr(k->b, code, sign, ""),
                          like_type(k, x, int_type(k, 8 * element_info[e].bytes)), "");
}

/* ---- what was only moved ---- */

/* A number that is encoded as it was decoded has the bits it came with: a NaN keeps its own, and
 * nothing is computed.  A constant is one object to LLVM whatever it was decoded from. */
typedef struct Decoded {
    uint64_t x, e;
} Decoded;

V narrow_decode(Kernel *k, Element e, V raw)
{
    V x = decode(k, e, raw);
    Decoded key = { (uintptr_t)x, e };
    if (!LLVMIsConstant(x))
        table_set(k->decoded, &key, sizeof key, (uintptr_t)raw);
    return x;
}

/* The bits of which x was decoded, by selects and splats as well; or NULL. */
static V bits_behind(Kernel *k, Element e, V x, int depth)
{
    Decoded key = { (uintptr_t)x, e };
    uint64_t raw;
    if (table_get(k->decoded, &key, sizeof key, &raw))
        return (V)(uintptr_t)raw;
    if (LLVMIsConstant(x))
        return encode(k, e, x);
    V one = splat_source(x);
    if (one) {
        V bits = bits_behind(k, e, one, depth);
        return bits ? splat(k, bits, (int)LLVMGetVectorSize(LLVMTypeOf(x))) : NULL;
    }
    if (depth == 0 || !LLVMIsASelectInst(x))
        return NULL;
    V yes = bits_behind(k, e, LLVMGetOperand(x, 1), depth - 1);
    V no = yes ? bits_behind(k, e, LLVMGetOperand(x, 2), depth - 1) : NULL;
    return no ? pick(k, LLVMGetOperand(x, 0), yes, no) : NULL;
}

V narrow_encode(Kernel *k, Element e, V x)
{
    enum { MOST_SELECTS = 4 };
    V bits = bits_behind(k, e, x, MOST_SELECTS);
    return bits ? bits : encode(k, e, x);
}
