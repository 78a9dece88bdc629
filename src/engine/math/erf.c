/* erf.c - the error function, its complement and its inverse.
 *
 * In: values in registers, f32 or f64.  Out: the function, within 2 ulp (erf), 4 ulp (erfc), and
 * in f32 4 ulp (erf_inv, below 0.9; up to 65 ulp towards 1, where 1 - x^2 loses digits, as XLA's
 * does); erf_inv of f64 goes to the library.
 *
 *   erf      near zero: x + x p(x^2); else 1 - erfc(|x|), of which little is left to be wrong
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

/* ---- erf near zero, of f64 ---- */

static const double near_f64[] = {
    0x1.06eba8214db69p-3,  -0x1.812746b0379e6p-2,  0x1.ce2f21a042b20p-4,  -0x1.b82ce3128499dp-6,
    0x1.565bcd0db02f4p-8,  -0x1.c02db3d8ed4cap-11, 0x1.f9a321a121b27p-14, -0x1.f4d1df39875b2p-17,
    0x1.b9def1a040879p-20, -0x1.5f1d36d04d768p-23, 0x1.f7a41290e73afp-27, -0x1.386ac16929d4ep-30,
    0x1.0579ab2caaf4cp-34,
};

static V erf_near_zero(Kernel *k, V x)
{
    return float_fma(k, x, math_poly(k, square_of(k, x), 13, near_f64), x);
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

enum { NEAR_TERMS = 9, FAR_TERMS = 11 };
static const double near_f32[NEAR_TERMS] = {
    0x1.06eba8p-3,   -0x1.812746p-2, 0x1.ce2ed0p-4,   -0x1.b8263ap-6, 0x1.561600p-8,
    -0x1.bcec5ep-11, 0x1.e25742p-14, -0x1.90110ep-17, 0x1.758640p-21,
};
/* -erfc, in |x| - 2.65625 */
static const double far_f32[FAR_TERMS] = {
    -0x1.692d24p-13, 0x1.fe4bb4p-11, -0x1.534912p-9, 0x1.16b496p-8,   -0x1.383de6p-8, 0x1.f38b50p-9,
    -0x1.1a6b8cp-9,  0x1.6a2b84p-11, 0x1.f1da58p-15, -0x1.30b662p-13, 0x1.3aacfap-15,
};

/* x + x p(x^2) up to 1.4, else s + s p(|x| - 2.65625) with s = +-1, and p = 0 from 3.9 on: one polynomial,
 * whose coefficients each lane chooses. */
static V erf_f32(Kernel *k, V x)
{
    LLVMTypeRef type = LLVMTypeOf(x);
    V size = float_abs(k, x), from = LLVMBuildFSub(k->b, size, const_f(k, type, 2.65625), "");
    V is_near = math_compare(k, LLVMRealOLT, size, 1.4);
    V t = math_select(k, is_near, square_of(k, x), from);
    V p = const_f(k, type, far_f32[FAR_TERMS - 1]);
    for (int i = FAR_TERMS - 2; i >= 0; i--) {
        V far = const_f(k, type, far_f32[i]);
        V near = i < NEAR_TERMS ? const_f(k, type, near_f32[i]) : far;
        bool begins = i == NEAR_TERMS - 1; /* of the near ones */
        p = float_fma(k, p, t, begins ? far : math_select(k, is_near, near, far));
        p = begins ? math_select(k, is_near, near, p) : p;
    }
    p = math_select(k, math_compare(k, LLVMRealOGT, size, 3.9), const_f(k, type, 0), p);
    V one = INTRINSIC(k, "llvm.copysign", const_f(k, type, 1), x);
    V s = math_select(k, is_near, x, one);
    return float_fma(k, s, p, s);
}

V math_erf(Kernel *k, V x)
{
    if (!math_is_f64(x))
        return erf_f32(k, x);
    V size = float_abs(k, x), near = erf_near_zero(k, x);
    V far = LLVMBuildFSub(k->b, const_f(k, LLVMTypeOf(x), 1), erfc_of_size(k, x), "");
    far = INTRINSIC(k, "llvm.copysign", far, x);
    V y = math_select(k, math_compare(k, LLVMRealOLT, size, 1), near, far);
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
