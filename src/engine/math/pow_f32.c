/* pow_f32.c - powers in f32, to the last bit as the C library's powf has them, which JAX's own CPU engine calls.
 *
 * What is drawn from Weibull's and other distributions is a power.  powf computes in f64, by short polynomials,
 * so that one of a thousand results is not the nearest number; to repeat it, its tables and polynomials are
 * taken as they are:
 *
 *     x = 2^n z, z around 1       log2 x = n + log2 c + p(z/c - 1), c one of 16 numbers, by z's leading bits
 *     y log2 x = i/32 + r         x^y = 2^(i/32) q(r)
 *
 * The result is within 0.83 ulp.  Which products are rounded before they are added to is part of it. */
#include "engine/codegen/codegen.h"
#include "engine/math/math_parts.h"

#include <math.h>
#include <string.h>

enum { LOG_BITS = 4, EXP_BITS = 5 };

/* 1/c, from the least z on, which is about 0.7. */
static const double inverses[1 << LOG_BITS] = {
    0x1.661ec79f8f3bep+0, 0x1.571ed4aaf883dp+0, 0x1.49539f0f010b0p+0, 0x1.3c995b0b80385p+0,
    0x1.30d190c8864a5p+0, 0x1.25e227b0b8ea0p+0, 0x1.1bb4a4a1a343fp+0, 0x1.12358f08ae5bap+0,
    0x1.0953f419900a7p+0, 0x1.0000000000000p+0, 0x1.e608cfd9a47acp-1, 0x1.ca4b31f026aa0p-1,
    0x1.b2036576afce6p-1, 0x1.9c2d163a1aa2dp-1, 0x1.886e6037841edp-1, 0x1.767dcf5534862p-1,
};

/* Highest power first. */
static const double log_terms[] = {
    0x1.27616c9496e0bp-2,  -0x1.71969a075c67ap-2, 0x1.ec70a6ca7baddp-2,
    -0x1.7154748bef6c8p-1, 0x1.71547652ab82bp0,
};
static const double exp_terms[] = { 0x1.c6af84b912394p-5, 0x1.ebfce50fac4f3p-3,
                                    0x1.62e42ff0c52d6p-1 };

static V look_up(Kernel *k, int n, const double *table, V numbers)
{
    Type type = type_new(k->arena, F64, 1, &(int64_t){ n });
    return constant_lookup(k, (Dense){ type, false, table }, numbers);
}

/* c + a b */
static V term(Kernel *k, V a, V b, double c)
{
    return float_fma(k, a, b, const_f(k, LLVMTypeOf(b), c));
}

/* In f64, of a size in f32. */
static V log2_of(Kernel *k, V x)
{
    double logs[1 << LOG_BITS];
    for (int i = 0; i < 1 << LOG_BITS; i++)
        logs[i] = -log2(inverses[i]);
    V bits = same_bits(k, x, false);
    LLVMTypeRef type = LLVMTypeOf(bits);
    V above = LLVMBuildSub(k->b, bits, const_i(k, type, 0x3f330000), "");
    V at = LLVMBuildLShr(k->b, above, const_i(k, type, 23 - LOG_BITS), "");
    at = LLVMBuildAnd(k->b, at, const_i(k, type, (1 << LOG_BITS) - 1), "");
    V n = LLVMBuildAShr(k->b, above, const_i(k, type, 23), "");
    V scale = LLVMBuildShl(k->b, n, const_i(k, type, 23), "");
    V z = to_f64(k, same_bits(k, LLVMBuildSub(k->b, bits, scale, ""), true));
    V r = term(k, z, look_up(k, 1 << LOG_BITS, inverses, at), -1);
    V whole = LLVMBuildSIToFP(k->b, n, LLVMTypeOf(z), "");
    V start = LLVMBuildFAdd(k->b, look_up(k, 1 << LOG_BITS, logs, at), whole, "");
    V square = LLVMBuildFMul(k->b, r, r, ""), fourth = LLVMBuildFMul(k->b, square, square, "");
    V high = term(k, const_f(k, LLVMTypeOf(r), log_terms[0]), r, log_terms[1]);
    V middle = term(k, const_f(k, LLVMTypeOf(r), log_terms[2]), r, log_terms[3]);
    V low = float_fma(k, const_f(k, LLVMTypeOf(r), log_terms[4]), r, start);
    return float_fma(k, high, fourth, float_fma(k, middle, square, low));
}

/* 2^x, as a number also where f32 has none. */
static V exp2_of(Kernel *k, V x)
{
    double parts[1 << EXP_BITS]; /* 2^(i/32), less i in the exponent's lowest bits */
    for (int64_t i = 0; i < 1 << EXP_BITS; i++) {
        double power = exp2((double)i / (1 << EXP_BITS));
        int64_t bits;
        memcpy(&bits, &power, sizeof bits);
        bits -= i << (52 - EXP_BITS);
        memcpy(&parts[i], &bits, sizeof bits);
    }
    LLVMTypeRef type = LLVMTypeOf(x);
    V magic = const_f(k, type, 0x1.8p52 / (1 << EXP_BITS));
    V shifted = LLVMBuildFAdd(k->b, x, magic, ""), i = same_bits(k, shifted, false);
    V r = LLVMBuildFSub(k->b, x, LLVMBuildFSub(k->b, shifted, magic, ""), "");
    LLVMTypeRef word = LLVMTypeOf(i);
    V at = LLVMBuildAnd(k->b, i, const_i(k, word, (1 << EXP_BITS) - 1), "");
    V part = same_bits(k, look_up(k, 1 << EXP_BITS, parts, at), false);
    V up = LLVMBuildShl(k->b, i, const_i(k, word, 52 - EXP_BITS), "");
    V scale = same_bits(k, LLVMBuildAdd(k->b, part, up, ""), true);
    V high = term(k, const_f(k, type, exp_terms[0]), r, exp_terms[1]);
    V low = term(k, const_f(k, type, exp_terms[2]), r, 1);
    V square = LLVMBuildFMul(k->b, r, r, "");
    return LLVMBuildFMul(k->b, float_fma(k, high, square, low), scale, "");
}

V math_pow_f32(Kernel *k, V x, V y)
{
    V wide = to_f64(k, x), log = log2_of(k, x);
    LLVMTypeRef type = LLVMTypeOf(wide);
    log = math_select(k, math_compare(k, LLVMRealOLT, wide, 0x1p-126), const_f(k, type, -INFINITY),
                      log);
    log = math_select(k, math_compare(k, LLVMRealUEQ, wide, INFINITY), wide, log);
    V power = LLVMBuildFMul(k->b, to_f64(k, y), log, ""), result = exp2_of(k, power);
    V is_large = math_compare(k, LLVMRealOGT, power, 0x1.fffffffd1d571p+6);
    V is_small = math_compare(k, LLVMRealOLT, power, -150);
    result = math_select(k, is_large, const_f(k, type, INFINITY), result);
    result = math_select(k, is_small, const_f(k, type, 0), result);
    return math_select(k, is_nan(k, power), power, result);
}
