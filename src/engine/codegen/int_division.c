/* int_division.c - quotients and rests of integers.
 *
 * In: two integers, or vectors of them.  Out: x / y towards 0, and x - y (x / y), where x / 0 is all ones and
 * x % 0 is x, and the least number / -1 is itself.
 *
 * No machine divides vectors of integers, and lane by lane takes 20 times as long as anything else.  So those of
 * up to 32 bits go by floats that hold every one of them exactly, f64 or, for up to 16 bits, f32:
 *
 *     q = x / y      is off by less than x / y * 2^-53 <= 2^-21 / y
 *     q = x * r      with one r for all lanes, a little more than 1 / y (by 2^-40 of it): never too small, and
 *                    too large by less than 2^-8 / y
 *
 * A quotient that is not whole is at least 1 / y away from a whole number, so in both ways q without its fraction
 * is what was asked for.  With f32 the bounds are 2^-8 / y and, with 2^-20, 2^-4 / y. */
#include "engine/codegen/codegen.h"

/* ---- by the machine ---- */

static V choose(Kernel *k, V condition, V x, V y)
{
    return LLVMBuildSelect(k->b, condition, x, y, "");
}

static V equals(Kernel *k, V x, int64_t value)
{
    return LLVMBuildICmp(k->b, LLVMIntEQ, x, const_i(k, LLVMTypeOf(x), value), "");
}

/* A divisor that never traps: 1 instead of 0, and of -1 under the least number.  The zeros go first, by
 * themselves: LLVM takes a quotient by a constant with a zero in any lane for undefined in all, also
 * where another choice would have taken that lane out. */
static V safe_divisor(Kernel *k, Element e, V x, V y, V *is_zero)
{
    LLVMTypeRef type = LLVMTypeOf(y);
    *is_zero = equals(k, y, 0);
    V by = choose(k, *is_zero, const_i(k, type, 1), y), is_minus_one = equals(k, y, -1);
    if (is_unsigned(e) || is_never(is_minus_one))
        return by;
    int bits = (int)LLVMGetIntTypeWidth(one_lane(type));
    V overflows =
        LLVMBuildAnd(k->b, equals(k, x, (int64_t)(UINT64_C(1) << (bits - 1))), is_minus_one, "");
    return choose(k, overflows, const_i(k, type, 1), by);
}

/* ---- by floats ---- */

/* Is it a vector that floats hold?  By constants LLVM divides with products. */
static bool goes_by_floats(V x, V y)
{
    LLVMTypeRef type = LLVMTypeOf(x);
    V one = splat_source(y);
    return LLVMGetTypeKind(type) == LLVMVectorTypeKind && !LLVMIsConstant(y) &&
           !(one && LLVMIsConstant(one)) && LLVMGetIntTypeWidth(one_lane(type)) > 1 &&
           LLVMGetIntTypeWidth(one_lane(type)) <= 32;
}

static bool needs_f64(V x)
{
    return LLVMGetIntTypeWidth(one_lane(LLVMTypeOf(x))) > 16;
}

static V to_float(Kernel *k, Element e, V x)
{
    LLVMTypeRef one = needs_f64(x) ? LLVMDoubleTypeInContext(k->c) : LLVMFloatTypeInContext(k->c);
    LLVMTypeRef type = like_type(k, x, one);
    return is_unsigned(e) ? LLVMBuildUIToFP(k->b, x, type, "") : LLVMBuildSIToFP(k->b, x, type, "");
}

/* Without its fraction. */
static V to_int(Kernel *k, Element e, V q, LLVMTypeRef type)
{
    return is_unsigned(e) ? LLVMBuildFPToUI(k->b, q, type, "") : LLVMBuildFPToSI(k->b, q, type, "");
}

/* x / by in all lanes; by is one number, not 0, and not -1 if there are negative ones. */
static V quotient_by_one(Kernel *k, Element e, V x, V by)
{
    double more = needs_f64(x) ? 1 + 0x1p-40 : 1 + 0x1p-20;
    V y = to_float(k, e, by);
    V r = LLVMBuildFDiv(k->b, const_f(k, LLVMTypeOf(y), more), y, "");
    V all = splat(k, r, (int)LLVMGetVectorSize(LLVMTypeOf(x)));
    return to_int(k, e, LLVMBuildFMul(k->b, to_float(k, e, x), all, ""), LLVMTypeOf(x));
}

static V quotient_by_floats(Kernel *k, Element e, V x, V by)
{
    V q = LLVMBuildFDiv(k->b, to_float(k, e, x), to_float(k, e, by), "");
    return to_int(k, e, q, LLVMTypeOf(x));
}

/* The divisor of all lanes, 1 in place of 0 and -1: there the quotients are others, the rests 0 or all of x. */
static V single_divisor(Kernel *k, Element e, V y)
{
    V by = choose(k, equals(k, y, 0), const_i(k, LLVMTypeOf(y), 1), y);
    return is_unsigned(e) ? by : choose(k, equals(k, y, -1), const_i(k, LLVMTypeOf(y), 1), by);
}

static V quotient_of(Kernel *k, Element e, V x, V by)
{
    if (goes_by_floats(x, by))
        return quotient_by_floats(k, e, x, by);
    return is_unsigned(e) ? LLVMBuildUDiv(k->b, x, by, "") : LLVMBuildSDiv(k->b, x, by, "");
}

V int_quotient(Kernel *k, Element e, V x, V y)
{
    V one = goes_by_floats(x, y) ? splat_source(y) : NULL, none = const_i(k, LLVMTypeOf(x), -1);
    if (!one) {
        V is_zero, by = safe_divisor(k, e, x, y, &is_zero);
        return choose(k, is_zero, none, quotient_of(k, e, x, by));
    }
    V q = quotient_by_one(k, e, x, single_divisor(k, e, one));
    if (!is_unsigned(e))
        q = choose(k, equals(k, one, -1), LLVMBuildNeg(k->b, x, ""), q);
    return choose(k, equals(k, one, 0), none, q);
}

static V rest_of(Kernel *k, V x, V q, V by)
{
    return LLVMBuildSub(k->b, x, LLVMBuildMul(k->b, q, by, ""), "");
}

V int_rest(Kernel *k, Element e, V x, V y)
{
    V one = goes_by_floats(x, y) ? splat_source(y) : NULL;
    if (one) {
        V by = single_divisor(k, e, one);
        V all = splat(k, by, (int)LLVMGetVectorSize(LLVMTypeOf(x)));
        V rest = rest_of(k, x, quotient_by_one(k, e, x, by), all);
        return choose(k, equals(k, one, 0), x, rest);
    }
    V is_zero, by = safe_divisor(k, e, x, y, &is_zero);
    V rest = goes_by_floats(x, by) ? rest_of(k, x, quotient_by_floats(k, e, x, by), by)
             : is_unsigned(e)      ? LLVMBuildURem(k->b, x, by, "")
                                   : LLVMBuildSRem(k->b, x, by, "");
    return choose(k, is_zero, x, rest);
}
