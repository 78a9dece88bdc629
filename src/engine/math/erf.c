/* erf.c - the error function, its complement and its inverse.
 *
 * In: values in registers, f32 or f64.  Out: the function, within 2 ulp (erf), 4 ulp (erfc), and
 * in f32 4 ulp (erf_inv, below 0.9; up to 65 ulp towards 1, where 1 - x^2 loses digits, as XLA's
 * does); erf_inv of f64 goes to the library.
 *
 *   erf      near zero: x + x p(x^2); else q(|x|) in f32, 1 - erfc(|x|) in f64, of which little
 *            is left to be wrong
 *   erfc     e^(-a^2) p(t) / (1 + 2a) with a = |x|, t = (a - c) / (a + c): flat for all a;
 *            of negative x: 2 - erfc(-x)
 *   erf_inv  x p(w) with w = -log(1 - x^2), in two ranges, as M. Giles gives it: what XLA has, so
 *            that random.normal gives JAX's numbers
 *
 * Coefficients of the first two were fitted for least relative error. */
#include "engine/codegen/codegen.h"
#include "engine/math/math_parts.h"

#include <math.h>

static V square_of(Kernel *k, V x)
{
    return LLVMBuildFMul(k->b, x, x, "");
}

/* ---- erf near zero ---- */

static const double near_f32[] = {
    0x1.06eba4p-3, -0x1.8126c6p-2, 0x1.ce1540p-4, -0x1.b6412ap-6, 0x1.458e3cp-8, -0x1.335bb2p-11,
};
static const double near_f64[] = {
    0x1.06eba8214db69p-3,  -0x1.812746b0379e6p-2,  0x1.ce2f21a042b20p-4,  -0x1.b82ce3128499dp-6,
    0x1.565bcd0db02f4p-8,  -0x1.c02db3d8ed4cap-11, 0x1.f9a321a121b27p-14, -0x1.f4d1df39875b2p-17,
    0x1.b9def1a040879p-20, -0x1.5f1d36d04d768p-23, 0x1.f7a41290e73afp-27, -0x1.386ac16929d4ep-30,
    0x1.0579ab2caaf4cp-34,
};

static V erf_near_zero(Kernel *k, V x)
{
    V z = square_of(k, x);
    V p = math_is_f64(x) ? math_poly(k, z, 13, near_f64) : math_poly(k, z, 6, near_f32);
    return float_fma(k, x, p, x);
}

/* ---- erfc ---- */

static const double erfc_f32[] = {
    0x1.46e80ep0,   -0x1.7bf616p-4, -0x1.54084ep-3, 0x1.4ffc4ap-3,   -0x1.bc09c6p-5,
    -0x1.081d68p-7, 0x1.1aca52p-7,  0x1.584670p-10, -0x1.41e7f8p-10, -0x1.a2d5c6p-12,
};
static const double erfc_f64[] = {
    0x1.3ccda0b5d5dc2p+0,  -0x1.1f367683f89a6p-3,  0x1.d5f2948159760p-9,   0x1.510169d09677cp-4,
    -0x1.bda9309a27d05p-4, 0x1.7a14188a9b1acp-4,   -0x1.e0d0fa6e24df5p-5,  0x1.d0b0037d56ec3p-6,
    -0x1.3f603c2c8a76ep-7, 0x1.cc3a0e7a9431fp-10,  0x1.33fb1de5b7226p-12,  -0x1.303fa7e420e20p-12,
    0x1.b1452ffc5ab15p-15, 0x1.778d46777211dp-16,  -0x1.80127f0ff4b9dp-17, -0x1.05c340a3ee8a4p-20,
    0x1.d734fdc552097p-20, -0x1.cbde4aa16865bp-25, -0x1.19f0d39765d80p-22, 0x1.38576ce6c7912p-26,
    0x1.5be511dfd7767p-25, 0x1.10ddb521903c1p-33,  -0x1.52860258127c0p-28, -0x1.0300e71f5e18dp-30,
};

/* Of |x|.  The rounding error of a^2 would count a^2-fold in the power of e, so it is put right. */
static V erfc_of_size(Kernel *k, V x)
{
    bool is_f64 = math_is_f64(x);
    LLVMTypeRef type = LLVMTypeOf(x);
    V two = const_f(k, type, 2), one = const_f(k, type, 1);
    V limit = const_f(k, type, is_f64 ? 27 : 11); /* there it is 0 */
    V a = INTRINSIC(k, "llvm.minnum", float_abs(k, x), limit),
      c = const_f(k, type, is_f64 ? 3.75 : 2);
    V t = float_div(k, LLVMBuildFSub(k->b, a, c, ""), LLVMBuildFAdd(k->b, a, c, ""));
    V square = square_of(k, a), minus = LLVMBuildFNeg(k->b, square, "");
    V missed = float_fma(k, LLVMBuildFNeg(k->b, a, ""), a, square);
    V p = is_f64 ? math_poly(k, t, 24, erfc_f64) : math_poly(k, t, 10, erfc_f32);
    V y = LLVMBuildFMul(k->b, math_exp(k, minus), float_div(k, p, float_fma(k, two, a, one)), "");
    return float_fma(k, y, missed, y);
}

V math_erfc(Kernel *k, V x)
{
    LLVMTypeRef type = LLVMTypeOf(x);
    V y = erfc_of_size(k, x);
    V is_negative = math_compare(k, LLVMRealOLT, x, 0);
    V rest = LLVMBuildFSub(k->b, const_f(k, type, 2), y, "");
    y = math_select(k, is_negative, rest, y);
    if (math_is_f64(x)) { /* where t is close to -1 the long series is less exact */
        V near = LLVMBuildFSub(k->b, const_f(k, type, 1), erf_near_zero(k, x), "");
        y = math_select(k, math_compare(k, LLVMRealOLT, float_abs(k, x), 0.7), near, y);
    }
    return math_select(k, is_nan(k, x), x, y);
}

/* ---- erf ---- */

/* In |x| - 2.375, to 3.84: from there on it is 1. */
static const double far_f32[] = {
    0x1.ff9962p-1,  0x1.0690ccp-8,  -0x1.37d91cp-7,  0x1.c1f272p-7,   -0x1.adf96cp-7,
    0x1.11b912p-7,  -0x1.9c912ap-9, 0x1.178278p-13,  0x1.502188p-11,  -0x1.6fff8p-12,
    0x1.5c0794p-16, 0x1.5e76bcp-15, -0x1.1faf44p-17, -0x1.32ae1ep-20,
};

static V erf_f32_far(Kernel *k, V size)
{
    LLVMTypeRef type = LLVMTypeOf(size);
    V one = const_f(k, type, 1);
    V y = math_poly(k, LLVMBuildFSub(k->b, size, const_f(k, type, 2.375), ""), 14, far_f32);
    y = INTRINSIC(k, "llvm.minnum", y, one);
    return math_select(k, math_compare(k, LLVMRealOLT, size, 3.84), y, one);
}

static V erf_f64_far(Kernel *k, V x)
{
    return LLVMBuildFSub(k->b, const_f(k, LLVMTypeOf(x), 1), erfc_of_size(k, x), "");
}

V math_erf(Kernel *k, V x)
{
    bool is_f64 = math_is_f64(x);
    V size = float_abs(k, x), near = erf_near_zero(k, x);
    V far = is_f64 ? erf_f64_far(k, x) : erf_f32_far(k, size);
    far = INTRINSIC(k, "llvm.copysign", far, x);
    V y = math_select(k, math_compare(k, LLVMRealOLT, size, is_f64 ? 1 : 0.95), near, far);
    return math_select(k, is_nan(k, x), x, y);
}

/* ---- erf_inv ---- */

/* Constant term first; in w - 2.5 for w < 5, in sqrt(w) - 3 beyond. */
static const double inverse_near[] = {
    1.50140941,     0.246640727,   -0.00417768164, -0.00125372503, 0.00021858087,
    -4.39150654e-6, -3.5233877e-6, 3.43273939e-7,  2.81022636e-8,
};
static const double inverse_far[] = {
    2.83297682,     1.00167406,    0.00943887047,  -0.0076224613,   0.00573950773,
    -0.00367342844, 0.00134934322, 0.000100950558, -0.000200214257,
};

V math_erf_inverse(Kernel *k, V x)
{
    if (math_is_f64(x))
        return math_call(k, MATH_ERF_INV, x, NULL);
    LLVMTypeRef type = LLVMTypeOf(x);
    V w = math_log1p_f32(k, LLVMBuildFMul(k->b, x, LLVMBuildFNeg(k->b, x, ""), ""));
    w = LLVMBuildFNeg(k->b, w, "");
    V near = math_poly(k, LLVMBuildFSub(k->b, w, const_f(k, type, 2.5), ""), 9, inverse_near);
    V root = LLVMBuildFSub(k->b, INTRINSIC(k, "llvm.sqrt", w), const_f(k, type, 3), "");
    V p = math_select(k, math_compare(k, LLVMRealOLT, w, 5), near,
                      math_poly(k, root, 9, inverse_far));
    V y = LLVMBuildFMul(k->b, p, x, "");
    V is_end = math_compare(k, LLVMRealOEQ, float_abs(k, x), 1);
    V end = LLVMBuildFMul(k->b, x, const_f(k, type, INFINITY), "");
    return math_select(k, is_end, end, y);
}
