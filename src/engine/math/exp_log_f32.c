/* exp_log_f32.c - e^x, log x and log(1 + x) in f32, to the last bit as JAX's own CPU engine has them.
 *
 * What is drawn by rejection (random.gamma) goes by logarithms, and random.normal through erf_inv, which
 * magnifies an error of log1p three times near log1p(x) = -0.5.  Functions that are right to the last
 * bit are therefore further from JAX's numbers; the classic forms of the Cephes library repeat them:
 *
 *     e^x, x = n ln2 + r    2^n (1 + r + r^2 e(r)); above 88.37 it is nearer to the truth than JAX's
 *     log(u), u = 2^n m     n ln2 + f - f^2/2 + f^3 r(f), f = m - 1
 *     log(1 + x)            x - x^2/2 + x^3 p(x)/q(x) where |x| < sqrt(2) - 1, else log(u), u = 1 + x
 *
 * The first two are within 1 ulp, the third within 2.  The order of the operations is part of the result, and
 * so is which products are rounded before they are added to. */
#include "engine/codegen/codegen.h"
#include "engine/math/math_parts.h"

/* Constant term first. */
static const double e_terms[] = {
    5.0000001201e-1, 1.6666665459e-1, 4.1665795894e-2,
    8.3334519073e-3, 1.3981999507e-3, 1.9875691500e-4,
};
static const double p_terms[] = {
    2.0039553499201281259648e1,  5.7112963590585538103336e1, 6.0949667980987787057556e1,
    2.9911919328553073277375e1,  6.5787325942061044846969e0, 4.9854102823193375972212e-1,
    4.5270000862445199635215e-5,
};
static const double q_terms[] = {
    6.0118660497603843919306e1,
    2.1642788614495947685003e2,
    3.0909872225312059774938e2,
    2.2176239823732856465394e2,
    8.3047565967967209469434e1,
    1.5062909083469192043167e1,
    1,
};
static const double r_terms[] = {
    3.3333331174e-1,  -2.4999993993e-1, 2.0000714765e-1,  -1.6668057665e-1, 1.4249322787e-1,
    -1.2420140846e-1, 1.1676998740e-1,  -1.1514610310e-1, 7.0376836292e-2,
};

/* n is the integer below x / ln2 + 1/2.  Where it is 128 JAX's engine takes 127, and is up to 5 ulp off.  Where n is
 * no integer of 32 bits anything may become of it: x is past one of the ends there. */
V math_exp_f32(Kernel *k, V x)
{
    LLVMTypeRef type = LLVMTypeOf(x);
    V n = float_fma(k, x, const_f(k, type, 1.44269504088896341), const_f(k, type, 0.5));
    n = INTRINSIC(k, "llvm.floor", n);
    V r = float_fma(k, n, const_f(k, type, -0.693359375), x);
    r = float_fma(k, n, const_f(k, type, 2.12194440e-4), r);
    V square = LLVMBuildFMul(k->b, r, r, "");
    V y = float_fma(k, math_poly(k, r, 6, e_terms), square, r);
    y = LLVMBuildFAdd(k->b, y, const_f(k, type, 1), "");
    V whole = LLVMBuildFPToSI(k->b, n, LLVMTypeOf(same_bits(k, n, false)), "");
    return math_exp_scaled(k, x, y, LLVMBuildFreeze(k->b, whole, ""));
}

static V near_zero(Kernel *k, V x)
{
    V square = float_mul(k, x, x);
    V ratio = float_div(k, math_poly(k, x, 7, p_terms), math_poly(k, x, 7, q_terms));
    V cubic = float_mul(k, float_mul(k, x, square), ratio);
    V rest = float_add(k, float_mul(k, const_f(k, LLVMTypeOf(x), -0.5), square), cubic);
    return float_add(k, x, rest);
}

/* r by threes: three short chains, joined by f^3. */
static V series(Kernel *k, V f, V cube)
{
    V low = math_poly(k, f, 3, r_terms), middle = math_poly(k, f, 3, r_terms + 3);
    V high = math_poly(k, f, 3, r_terms + 6);
    return float_fma(k, float_fma(k, high, cube, middle), cube, low);
}

V math_log_f32(Kernel *k, V u)
{
    LLVMTypeRef type = LLVMTypeOf(u);
    V n, f = math_split(k, u, &n);
    V square = LLVMBuildFMul(k->b, f, f, ""), cube = LLVMBuildFMul(k->b, square, f, "");
    V small = LLVMBuildFMul(k->b, n, const_f(k, type, -2.12194440e-4), "");
    small = float_fma(k, series(k, f, cube), cube, small);
    V large = float_fma(k, const_f(k, type, -0.5), square, f);
    large = LLVMBuildFAdd(k->b, large, small, "");
    return math_log_at_edges(k, u, float_fma(k, n, const_f(k, type, 0.693359375), large));
}

V math_log1p_f32(Kernel *k, V x)
{
    LLVMTypeRef type = LLVMTypeOf(x);
    V size = float_abs(k, x);
    V is_near = math_compare(k, LLVMRealOLT, size, 0.41421356237309504880);
    return math_select(k, is_near, near_zero(k, x),
                       math_log_f32(k, float_add(k, x, const_f(k, type, 1))));
}
