/* root.c - the cube root, and the inverse of the square root.
 *
 * In: values in registers, f32 or f64.  Out: the root, within 1 ulp; the cube root of f32 is
 * computed in f64 and rounded, so it is nearly always right to the last bit.
 *
 * The inverse cube root y comes first, since its refinement needs no division.  A third of the bits
 * of x, taken from a constant, are those of a y for which h = 1 - x y^3 lies within 0.1021; then y
 * (1 - h)^(-1/3) is right, by a polynomial fitted for least error (2^-31), and x y^2 the root. f64
 * has one step of Newton's behind it. */
#include "engine/codegen/codegen.h"
#include "engine/math/math_parts.h"

#include <math.h>

/* ((1 - h)^(-1/3) - 1) / h, constant term first. */
static const double terms[] = {
    0x1.55555593b5839p-2, 0x1.c71c747812c4fp-3, 0x1.61f6677d0e469p-3,
    0x1.26f45f359682dp-3, 0x1.02e7545d7db28p-3, 0x1.ce76e6d2a812ap-4,
};

/* On the upper halves of the bits; the constant was sought for the least |h|. */
static V inverse_guess(Kernel *k, V x)
{
    V bits = same_bits(k, x, false);
    LLVMTypeRef type = LLVMTypeOf(bits);
    V half = const_i(k, type, 32);
    V third =
        LLVMBuildMul(k->b, LLVMBuildLShr(k->b, bits, half, ""), const_i(k, type, 0x55555556), "");
    V rest =
        LLVMBuildSub(k->b, const_i(k, type, 0x553ee940), LLVMBuildLShr(k->b, third, half, ""), "");
    return same_bits(k, LLVMBuildShl(k->b, rest, half, ""), true);
}

/* Of a size in f64; y is the inverse root, where the guess was refined. */
static V first_root(Kernel *k, V size, V *y)
{
    V guess = inverse_guess(k, size);
    V square = LLVMBuildFMul(k->b, LLVMBuildFMul(k->b, size, guess, ""), guess, "");
    V h = float_fma(k, LLVMBuildFNeg(k->b, square, ""), guess, const_f(k, LLVMTypeOf(size), 1));
    *y = float_fma(k, LLVMBuildFMul(k->b, guess, h, ""), math_poly(k, h, 6, terms), guess);
    return LLVMBuildFMul(k->b, LLVMBuildFMul(k->b, size, *y, ""), *y, "");
}

/* To the last bits.  The smallest sizes are taken 2^300 times, lest the difference that Newton's
 * step looks at be a denormal. */
static V exact_root(Kernel *k, V size)
{
    LLVMTypeRef type = LLVMTypeOf(size);
    V one = const_f(k, type, 1), is_small = math_compare(k, LLVMRealOLT, size, 0x1p-900);
    V up = math_select(k, is_small, const_f(k, type, 0x1p300), one);
    V x = LLVMBuildFMul(k->b, size, up, "");
    V y, root = first_root(k, x, &y);
    V minus_square = LLVMBuildFNeg(k->b, LLVMBuildFMul(k->b, root, root, ""), "");
    V slope = LLVMBuildFMul(k->b, LLVMBuildFMul(k->b, y, const_f(k, type, 1.0 / 3), ""), y, "");
    root = float_fma(k, float_fma(k, minus_square, root, x), slope, root);
    V down = math_select(k, is_small, const_f(k, type, 0x1p-100), one);
    return LLVMBuildFMul(k->b, root, down, "");
}

V math_cbrt(Kernel *k, V x)
{
    V wide = to_f64(k, x), size = float_abs(k, wide), y;
    V root = math_is_f64(x) ? exact_root(k, size) : first_root(k, size, &y);
    root = INTRINSIC(k, "llvm.copysign", root, wide);
    V keep = math_compare(k, LLVMRealUEQ, size, INFINITY); /* NaN and infinity */
    root = math_select(k, keep, wide, root);
    return math_is_f64(x) ? root : to_f32(k, root);
}

/* 1 / sqrt(x), which has two roundings, and Newton's step, whose 1 - x y^2 has none. */
V math_rsqrt(Kernel *k, V x)
{
    LLVMTypeRef type = LLVMTypeOf(x);
    V one = const_f(k, type, 1), y = float_div(k, one, INTRINSIC(k, "llvm.sqrt", x));
    Pair root = pair_of_product(k, x, y);
    V minus_y = LLVMBuildFNeg(k->b, y, "");
    V rest = float_fma(k, minus_y, root.low, float_fma(k, minus_y, root.high, one));
    V half = LLVMBuildFMul(k->b, y, const_f(k, type, 0.5), "");
    V exact = float_fma(k, half, rest, y);
    return math_select(k, is_nan(k, exact), y, exact); /* of zero and infinity */
}
