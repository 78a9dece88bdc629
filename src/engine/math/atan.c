/* atan.c - the angle of a point, and the inverse functions that are angles.
 *
 * In: values in registers, f32 or f64.  Out: the function, within 2 ulp; f32 is computed in f64
 * and rounded, so it is nearly always right to the last bit.
 *
 * Of a point the smaller size a and the larger b are taken: an angle up to pi/4, of which the
 * tangent is a/b.  From tan(pi/8) on it is pi/4 plus the angle of (a - b)/(a + b).  So one
 * division leaves |u| <= tan(pi/8), and atan(u) = u + u z p(z), z = u^2, p fitted for least
 * relative error (2^-35 with 6 terms, 2^-59 with 11).  Turning back into the point's octant adds
 * a multiple of pi/4, which comes in two pieces.
 *
 *   atan(x) = angle of (1, x)     asin(x) = angle of (sqrt(1 - x^2), x)
 *                                 acos(x) = angle of (x, sqrt(1 - x^2)) */
#include "engine/codegen/codegen.h"
#include "engine/math/math_parts.h"

#include <math.h>

static const double terms_f32[] = {
    -0x1.555554c5fdd3dp-2, 0x1.9999189dd64b8p-3,  -0x1.247eda20746d0p-3,
    0x1.c463f93170381p-4,  -0x1.5b30155685d8ap-4, 0x1.84a1cfdcb7d01p-5,
};
static const double terms_f64[] = {
    -0x1.555555555553dp-2, 0x1.99999999957cdp-3,  -0x1.24924922aa4f4p-3, 0x1.c71c70e50f134p-4,
    -0x1.745cf8c391c59p-4, 0x1.3b1117977a790p-4,  -0x1.10eba8e49cf23p-4, 0x1.df0e81cec22e2p-5,
    -0x1.9ccf864b57cbfp-5, 0x1.37ce323344ca8p-5,  -0x1.255b655114d76p-6,
};

static V sign_bit(Kernel *k, V x)
{
    V bits = same_bits(k, x, false);
    return LLVMBuildICmp(k->b, LLVMIntSLT, bits, const_i(k, LLVMTypeOf(bits), 0), "");
}

/* An angle: k pi/4 + r. */
typedef struct Angle {
    V eighths, rest;
} Angle;

/* eighths - the angle, where `condition` holds. */
static Angle turned(Kernel *k, V condition, int eighths, Angle a)
{
    V whole = const_f(k, LLVMTypeOf(a.rest), eighths);
    return (Angle){
        math_select(k, condition, LLVMBuildFSub(k->b, whole, a.eighths, ""), a.eighths),
        math_select(k, condition, LLVMBuildFNeg(k->b, a.rest, ""), a.rest),
    };
}

/* Of the sizes 0 <= a <= b. */
static Angle first_octant(Kernel *k, V a, V b, bool is_f64)
{
    LLVMTypeRef type = LLVMTypeOf(a);
    V zero = const_f(k, type, 0), one = const_f(k, type, 1);
    /* Not 0 of 0, but infinity of infinity is far: on an axis, and on the diagonal. */
    V least = const_f(k, type, 0x1p-1022);
    V limit = float_fma(k, b, const_f(k, type, 0x1.a827999fcef32p-2), least);
    V is_far = LLVMBuildFCmp(k->b, LLVMRealOGE, a, limit, "");
    V over = math_select(k, is_far, LLVMBuildFSub(k->b, a, b, ""), a);
    V u = float_div(k, over, math_select(k, is_far, LLVMBuildFAdd(k->b, a, b, ""), b));
    u = math_select(k, is_nan(k, u), zero, u); /* those two */
    V z = LLVMBuildFMul(k->b, u, u, "");
    V p = is_f64 ? math_poly(k, z, 11, terms_f64) : math_poly(k, z, 6, terms_f32);
    return (Angle){ math_select(k, is_far, one, zero),
                    float_fma(k, LLVMBuildFMul(k->b, u, z, ""), p, u) };
}

/* Both sizes by a power of two that keeps their sum and their difference in range. */
static void scale_sizes(Kernel *k, V *a, V *b)
{
    LLVMTypeRef type = LLVMTypeOf(*a);
    V scale = math_select(k, math_compare(k, LLVMRealOGT, *b, 0x1p1000), const_f(k, type, 0x1p-60),
                          const_f(k, type, 1));
    scale = math_select(k, math_compare(k, LLVMRealOLT, *b, 0x1p-900), const_f(k, type, 0x1p60),
                        scale);
    *a = LLVMBuildFMul(k->b, *a, scale, "");
    *b = LLVMBuildFMul(k->b, *b, scale, "");
}

/* All in f64; is_f64: to its last bits, and sizes of its whole range. */
static V angle_of(Kernel *k, V y, V x, bool is_f64)
{
    LLVMTypeRef type = LLVMTypeOf(x);
    V across = float_abs(k, x), up = float_abs(k, y);
    V is_steep = LLVMBuildFCmp(k->b, LLVMRealOGT, up, across, "");
    V a = math_select(k, is_steep, across, up), b = math_select(k, is_steep, up, across);
    if (is_f64)
        scale_sizes(k, &a, &b);
    Angle angle = turned(k, is_steep, 2, first_octant(k, a, b, is_f64));
    angle = turned(k, sign_bit(k, x), 4, angle);
    V r = float_fma(k, angle.eighths, const_f(k, type, 0x1.1a62633145c07p-55), angle.rest);
    r = float_fma(k, angle.eighths, const_f(k, type, 0x1.921fb54442d18p-1), r);
    V any_nan = LLVMBuildFCmp(k->b, LLVMRealUNO, x, y, "");
    r = math_select(k, any_nan, const_f(k, type, NAN), r);
    return INTRINSIC(k, "llvm.copysign", r, y);
}

/* sqrt(1 - x^2), without loss near 1; NaN beyond it. */
static V other_leg(Kernel *k, V x)
{
    V one = const_f(k, LLVMTypeOf(x), 1);
    V square = LLVMBuildFMul(k->b, LLVMBuildFSub(k->b, one, x, ""), LLVMBuildFAdd(k->b, one, x, ""),
                             "");
    return INTRINSIC(k, "llvm.sqrt", square);
}

static V rounded_as(Kernel *k, V x, V y)
{
    return math_is_f64(x) ? y : to_f32(k, y);
}

V math_atan2(Kernel *k, V y, V x)
{
    return rounded_as(k, x, angle_of(k, to_f64(k, y), to_f64(k, x), math_is_f64(x)));
}

V math_atan(Kernel *k, V x)
{
    return math_atan2(k, x, const_f(k, LLVMTypeOf(x), 1));
}

V math_asin(Kernel *k, V x)
{
    V wide = to_f64(k, x);
    return rounded_as(k, x, angle_of(k, wide, other_leg(k, wide), math_is_f64(x)));
}

V math_acos(Kernel *k, V x)
{
    V wide = to_f64(k, x);
    return rounded_as(k, x, angle_of(k, other_leg(k, wide), wide, math_is_f64(x)));
}
