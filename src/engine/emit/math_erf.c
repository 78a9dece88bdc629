/* math_erf.c - the error function, its complement and its inverse, in f32.
 *
 * In: values in registers.  Out: the function, within 1.2 ulp (erf), 4 ulp (erfc), 4 ulp
 * (erf_inv, below 0.9; up to 65 ulp towards 1, where 1 - x^2 loses digits, as XLA's does); f64
 * goes to the library.
 *
 *   erf      |x| < 0.95: x + x p(x^2); else 1 - e^q(|x|), of which little is left to be wrong
 *   erfc     e^(-a^2) p(t) / (1 + 2a) with a = |x|, t = (a - 2) / (a + 2): flat for all a;
 *            of negative x: 2 - erfc(-x)
 *   erf_inv  x p(w) with w = -log(1 - x^2), in two ranges, as M. Giles gives it: what XLA has, so
 *            that random.normal gives JAX's numbers
 *
 * Coefficients of the first two were fitted for least relative error. */
#include "engine/emit/arith.h"
#include "engine/emit/math_parts.h"

#include <math.h>

static V square_of(Kernel *k, V x)
{
    return LLVMBuildFMul(k->b, x, x, "");
}

/* ---- erf ---- */

static const double erf_near[] = {
    0x1.06eba4p-3, -0x1.8126c6p-2, 0x1.ce1540p-4, -0x1.b6412ap-6, 0x1.458e3cp-8, -0x1.335bb2p-11,
};
static const double erf_far[] = {
    -0x1.5cfea2p-13, -0x1.20b754p0,  -0x1.4621b2p-1, -0x1.aa7362p-4,
    0x1.6d9d5ep-6,   -0x1.91ce0cp-9, 0x1.9fb498p-13,
};

V math_erf(Kernel *k, V x)
{
    if (math_is_f64(x))
        return math_call(k, MATH_ERF, x, NULL);
    LLVMTypeRef type = LLVMTypeOf(x);
    V size = fabs1(k, x);
    V near = fma3(k, x, math_poly(k, square_of(k, x), 6, erf_near), x);
    V a = INTRINSIC(k, "llvm.minnum", size, const_f(k, type, 4)); /* there it is 1 */
    V far = LLVMBuildFSub(k->b, const_f(k, type, 1), math_exp(k, math_poly(k, a, 7, erf_far)), "");
    far = INTRINSIC(k, "llvm.copysign", far, x);
    V y = math_select(k, math_compare(k, LLVMRealOLT, size, 0.95), near, far);
    return math_select(k, is_nan(k, x), x, y);
}

/* ---- erfc ---- */

static const double erfc_terms[] = {
    0x1.46e80ep0,   -0x1.7bf616p-4, -0x1.54084ep-3, 0x1.4ffc4ap-3,  -0x1.bc09c6p-5,
    -0x1.081d68p-7, 0x1.1aca52p-7,  0x1.584670p-10, -0x1.41e7f8p-10, -0x1.a2d5c6p-12,
};

/* The rounding error of a^2 would count a^2-fold in the power of e, so it is put right. */
V math_erfc(Kernel *k, V x)
{
    if (math_is_f64(x))
        return math_call(k, MATH_ERFC, x, NULL);
    LLVMTypeRef type = LLVMTypeOf(x);
    V two = const_f(k, type, 2), one = const_f(k, type, 1);
    V a = INTRINSIC(k, "llvm.minnum", fabs1(k, x), const_f(k, type, 11)); /* there it is 0 */
    V t = fdiv(k, LLVMBuildFSub(k->b, a, two, ""), LLVMBuildFAdd(k->b, a, two, ""));
    V square = square_of(k, a), minus = LLVMBuildFNeg(k->b, square, "");
    V missed = fma3(k, LLVMBuildFNeg(k->b, a, ""), a, square);
    V ratio = fdiv(k, math_poly(k, t, 10, erfc_terms), fma3(k, two, a, one));
    V y = LLVMBuildFMul(k->b, math_exp(k, minus), ratio, "");
    y = fma3(k, y, missed, y);
    V is_negative = math_compare(k, LLVMRealOLT, x, 0);
    y = math_select(k, is_negative, LLVMBuildFSub(k->b, two, y, ""), y);
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
    V is_end = math_compare(k, LLVMRealOEQ, fabs1(k, x), 1);
    V end = LLVMBuildFMul(k->b, x, const_f(k, type, INFINITY), "");
    return math_select(k, is_end, end, y);
}
