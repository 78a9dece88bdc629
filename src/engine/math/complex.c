/* complex.c - functions of complex numbers, by those of their parts.
 *
 * In: a pair of registers.  Out: the function; complex<f32> is computed in f64 and rounded. */
#include "engine/codegen/codegen.h"
#include "engine/math/math_parts.h"

#include <math.h>

typedef struct Z {
    V re, im;
    bool is_f32; /* by its values: a square of them is neither too large nor too small */
} Z;

static Z z_times(Kernel *k, Z x, Z y)
{
    return (Z){ float_sub(k, float_mul(k, x.re, y.re), float_mul(k, x.im, y.im)),
                float_add(k, float_mul(k, x.re, y.im), float_mul(k, x.im, y.re)) };
}

static Z z_select(Kernel *k, V condition, Z x, Z y)
{
    return (Z){ math_select(k, condition, x.re, y.re), math_select(k, condition, x.im, y.im) };
}

static Z z_over(Kernel *k, Z x, Z y)
{
    V q = arith_div(k, C128, complex_of(k, x.re, x.im), complex_of(k, y.re, y.im));
    return (Z){ real_part(k, q), imag_part(k, q) };
}

static V number(Kernel *k, Z like, double value)
{
    return const_f(k, LLVMTypeOf(like.re), value);
}

static V z_abs(Kernel *k, Z x)
{
    if (x.is_f32) {
        V length = INTRINSIC(k, "llvm.sqrt", float_fma(k, x.re, x.re, float_mul(k, x.im, x.im)));
        V far = LLVMBuildOr(k->b, math_compare(k, LLVMRealOEQ, float_abs(k, x.re), INFINITY),
                            math_compare(k, LLVMRealOEQ, float_abs(k, x.im), INFINITY), "");
        return math_select(k, far, number(k, x, INFINITY), length);
    }
    return arith_abs(k, C128, complex_of(k, x.re, x.im));
}

static Z z_exp(Kernel *k, Z x)
{
    V e = math_exp(k, x.re);
    V im = float_mul(k, e, math_sin(k, x.im));
    /* An infinite length times a zero angle stays on the axis. */
    V on_axis = math_compare(k, LLVMRealOEQ, x.im, 0);
    return (Z){ math_select(k, on_axis, e, float_mul(k, e, math_cos(k, x.im))),
                math_select(k, on_axis, x.im, im) };
}

static Z z_expm1(Kernel *k, Z x)
{
    V s = math_sin(k, LLVMBuildFMul(k->b, x.im, number(k, x, 0.5), ""));
    V less = float_mul(k, float_mul(k, s, s), number(k, x, -2)); /* cos - 1 */
    V re = float_add(k, float_mul(k, math_expm1(k, x.re), math_cos(k, x.im)), less);
    V im = float_mul(k, math_exp(k, x.re), math_sin(k, x.im));
    V on_axis = math_compare(k, LLVMRealOEQ, x.im, 0);
    return (Z){ re, math_select(k, on_axis, x.im, im) };
}

/* Where a length may pass the largest number, a quarter of it does not. */
static Z z_quarter_if_far(Kernel *k, Z x, V *is_far)
{
    if (x.is_f32) {
        *is_far = LLVMConstNull(like_type(k, x.re, int_type(k, 1)));
        return x;
    }
    V size = INTRINSIC(k, "llvm.maxnum", float_abs(k, x.re), float_abs(k, x.im)),
      quarter = number(k, x, 0.25);
    *is_far = math_compare(k, LLVMRealOGT, size, 1e300);
    return z_select(k, *is_far, (Z){ float_mul(k, x.re, quarter), float_mul(k, x.im, quarter) }, x);
}

/* log|x| */
static V z_log_abs(Kernel *k, Z x)
{
    V is_far, length = z_abs(k, z_quarter_if_far(k, x, &is_far));
    V more = math_select(k, is_far, number(k, x, 1.3862943611198906), number(k, x, 0)); /* log 4 */
    return float_add(k, math_log(k, length), more);
}

static Z z_log(Kernel *k, Z x)
{
    return (Z){ z_log_abs(k, x), math_atan2(k, x.im, x.re) };
}

/* log|1 + x| = log1p(re (re + 2) + im^2) / 2, without loss near 0; far out its squares would be
 * too large, and there it is log|1 + x| itself. */
static Z z_log1p(Kernel *k, Z x)
{
    Z next = { float_add(k, x.re, number(k, x, 1)), x.im, x.is_f32 };
    V inside = float_add(k, float_mul(k, x.re, float_add(k, x.re, number(k, x, 2))),
                         float_mul(k, x.im, x.im));
    V re = float_mul(k, math_log1p(k, inside), number(k, x, 0.5));
    V is_far = math_compare(k, LLVMRealOGT, z_abs(k, next), 1e100);
    re = math_select(k, is_far, z_log_abs(k, next), re);
    return (Z){ re, math_atan2(k, next.im, next.re) };
}

/* With t = sqrt((|x| + |re|) / 2): t + i im / 2t on the right, |im| / 2t + i t on the left; an
 * infinite im is stronger than any re. */
static Z z_sqrt(Kernel *k, Z whole)
{
    V is_far;
    Z x = z_quarter_if_far(k, whole, &is_far);
    V half = number(k, x, 0.5), size = float_abs(k, x.re);
    V sum = float_add(k, float_mul(k, z_abs(k, x), half), float_mul(k, size, half));
    V t = INTRINSIC(k, "llvm.sqrt", sum);
    V other = float_div(k, float_mul(k, float_abs(k, x.im), half), t);
    V is_zero = math_compare(k, LLVMRealOEQ, t, 0);
    other = math_select(k, is_zero, number(k, x, 0), other);
    V is_right = math_compare(k, LLVMRealOGE, x.re, 0);
    V re = math_select(k, is_right, t, other), im = math_select(k, is_right, other, t);
    V is_up = math_compare(k, LLVMRealOEQ, float_abs(k, x.im), INFINITY),
      far = number(k, x, INFINITY);
    V by = math_select(k, is_far, number(k, x, 2), number(k, x, 1));
    re = math_select(k, is_up, far, float_mul(k, re, by));
    im = math_select(k, is_up, far, float_mul(k, im, by));
    return (Z){ re, INTRINSIC(k, "llvm.copysign", im, x.im) };
}

/* (re - im) (re + im), which is 0 also where the squares would be infinite. */
static Z z_square(Kernel *k, Z x)
{
    V is_even = LLVMBuildFCmp(k->b, LLVMRealOEQ, float_abs(k, x.re), float_abs(k, x.im), "");
    V is_finite = math_compare(k, LLVMRealOLT, float_abs(k, x.re), INFINITY);
    is_even = LLVMBuildAnd(k->b, is_even, is_finite, "");
    V re = float_mul(k, float_sub(k, x.re, x.im), float_add(k, x.re, x.im));
    V im = float_mul(k, x.re, x.im);
    return (Z){ math_select(k, is_even, number(k, x, 0), re), float_add(k, im, im) };
}

static Z z_inverse(Kernel *k, Z x)
{
    return z_over(k, (Z){ number(k, x, 1), number(k, x, 0) }, x);
}

static Z z_logistic(Kernel *k, Z x)
{
    Z minus = { LLVMBuildFNeg(k->b, x.re, ""), LLVMBuildFNeg(k->b, x.im, "") };
    Z e = z_exp(k, minus);
    return z_inverse(k, (Z){ float_add(k, e.re, number(k, x, 1)), e.im });
}

static Z z_sin(Kernel *k, Z x)
{
    return (Z){ float_mul(k, math_sin(k, x.re), math_cosh(k, x.im)),
                float_mul(k, math_cos(k, x.re), math_sinh(k, x.im)) };
}

static Z z_cos(Kernel *k, Z x)
{
    V im = float_mul(k, math_sin(k, x.re), math_sinh(k, x.im));
    return (Z){ float_mul(k, math_cos(k, x.re), math_cosh(k, x.im)), LLVMBuildFNeg(k->b, im, "") };
}

/* (sinh a cosh a + i sin b cos b) / (sinh^2 a + cos^2 b).  Beyond |a| = 350 it is 1 or -1, and
 * its imaginary part too small for a number; at infinity that holds for every b. */
static Z z_tanh(Kernel *k, Z x)
{
    V size = float_abs(k, x.re), most = number(k, x, 350);
    V is_far = math_compare(k, LLVMRealOGT, size, 350);
    V a = INTRINSIC(k, "llvm.copysign", math_select(k, is_far, most, size), x.re);
    V sh = math_sinh(k, a), ch = math_cosh(k, a);
    V s = math_sin(k, x.im), c = math_cos(k, x.im);
    V under = float_add(k, float_mul(k, sh, sh), float_mul(k, c, c)), sc = float_mul(k, s, c);
    V zero = INTRINSIC(k, "llvm.copysign", number(k, x, 0), sc);
    V one = INTRINSIC(k, "llvm.copysign", number(k, x, 1), x.re);
    Z value = { float_div(k, float_mul(k, sh, ch), under), float_div(k, sc, under) };
    V is_flat = LLVMBuildAnd(k->b, is_far, LLVMBuildFCmp(k->b, LLVMRealORD, sc, sc, ""), "");
    V on_axis = math_compare(k, LLVMRealOEQ, x.im, 0); /* even if a is NaN */
    is_flat = LLVMBuildOr(k->b, is_flat, on_axis, "");
    value.im = math_select(k, is_flat, zero, value.im);
    V is_infinite = math_compare(k, LLVMRealOEQ, size, INFINITY);
    return z_select(k, is_infinite, (Z){ one, zero }, value);
}

/* -i tanh(ix) */
static Z z_tan(Kernel *k, Z x)
{
    Z t = z_tanh(k, (Z){ LLVMBuildFNeg(k->b, x.im, ""), x.re });
    return (Z){ t.im, LLVMBuildFNeg(k->b, t.re, "") };
}

static V narrow(Kernel *k, Element e, Z z)
{
    return e == C128 ? complex_of(k, z.re, z.im) : complex_of(k, to_f32(k, z.re), to_f32(k, z.im));
}

V complex_function(Kernel *k, OpId op, Element e, V x)
{
    Z z = { to_f64(k, real_part(k, x)), to_f64(k, imag_part(k, x)), e == C64 };
    switch (op) {
    case OP_EXP: z = z_exp(k, z); break;
    case OP_EXPM1: z = z_expm1(k, z); break;
    case OP_LOG: z = z_log(k, z); break;
    case OP_LOG1P: z = z_log1p(k, z); break;
    case OP_LOGISTIC: z = z_logistic(k, z); break;
    case OP_TANH: z = z_tanh(k, z); break;
    case OP_TAN: z = z_tan(k, z); break;
    case OP_SIN: z = z_sin(k, z); break;
    case OP_COS: z = z_cos(k, z); break;
    case OP_SQRT: z = z_sqrt(k, z); break;
    case OP_SQUARE: z = z_square(k, z); break;
    default: z = z_inverse(k, z_sqrt(k, z)); break; /* rsqrt */
    }
    return narrow(k, e, z);
}

static V is_number(Kernel *k, Z z, double re)
{
    return LLVMBuildAnd(k->b, math_compare(k, LLVMRealOEQ, z.re, re),
                        math_compare(k, LLVMRealOEQ, z.im, 0), "");
}

/* e^(y log x), except of 0, 1 and infinity on the right, and to the power of 0; there as XLA has
 * it: 0 has positive powers alone, infinity real ones. */
V complex_pow(Kernel *k, Element e, V x, V y)
{
    Z base = { to_f64(k, real_part(k, x)), to_f64(k, imag_part(k, x)), e == C64 };
    Z by = { to_f64(k, real_part(k, y)), to_f64(k, imag_part(k, y)) };
    Z power = z_exp(k, z_times(k, by, z_log(k, base)));
    V zero = number(k, base, 0), one = number(k, base, 1);
    V inf = number(k, base, __builtin_inf()), nan = number(k, base, __builtin_nan(""));
    V by_real = LLVMBuildAnd(k->b, math_compare(k, LLVMRealOEQ, by.im, 0),
                             math_compare(k, LLVMRealONE, by.re, 0), "");
    V grows = math_compare(k, LLVMRealOGT, by.re, 0);
    Z of_zero =
        z_select(k, LLVMBuildAnd(k->b, by_real, grows, ""), (Z){ zero, zero }, (Z){ nan, nan });
    Z of_inf = z_select(k, grows, (Z){ inf, zero }, (Z){ zero, zero });
    V is_real_of_inf = LLVMBuildAnd(k->b, is_number(k, base, __builtin_inf()), by_real, "");
    power = z_select(k, is_number(k, base, 0), of_zero, power);
    power = z_select(k, is_real_of_inf, of_inf, power);
    V is_one = LLVMBuildOr(k->b, is_number(k, base, 1), is_number(k, by, 0), "");
    return narrow(k, e, z_select(k, is_one, (Z){ one, zero }, power));
}

/* -i log((x + iy) / sqrt(x^2 + y^2)). */
V complex_atan2(Kernel *k, Element e, V y, V x)
{
    Z a = { to_f64(k, real_part(k, x)), to_f64(k, imag_part(k, x)) };
    Z b = { to_f64(k, real_part(k, y)), to_f64(k, imag_part(k, y)) };
    Z aa = z_times(k, a, a), bb = z_times(k, b, b);
    Z length = z_sqrt(k, (Z){ float_add(k, aa.re, bb.re), float_add(k, aa.im, bb.im) });
    Z sum = { float_sub(k, a.re, b.im), float_add(k, a.im, b.re) };
    Z l = z_log(k, z_over(k, sum, length));
    return narrow(k, e, (Z){ l.im, LLVMBuildFNeg(k->b, l.re, "") });
}
