/* math_parts.h - what the math files are made of. */
#ifndef TUTTI_ENGINE_MATH_MATH_PARTS_H
#define TUTTI_ENGINE_MATH_MATH_PARTS_H
#include "engine/math/math.h"
#include "engine/numerics/numerics.h"

bool math_is_f64(V x);
V math_poly(Kernel *k, V x, int n, const double *c); /* c[0] + c[1] x + ... */
/* The same in fewer steps that wait for one another, and a few more products. */
V math_poly_by_halves(Kernel *k, V x, int n, const double *c);
V math_select(Kernel *k, V condition, V x, V y);
V math_compare(Kernel *k, LLVMRealPredicate how, V x, double y);
/* x = 2^n m, m in [sqrt(1/2), sqrt(2)); gives m - 1. */
V math_split(Kernel *k, V x, V *n);
extern const double math_log_terms[12]; /* 2/3, 2/5, ...: log((1 + s)/(1 - s)) = 2s + s^3 (...) */
/* e^(x + tail); tail, too small for x to hold, may be NULL. */
V math_exp_of_sum(Kernel *k, V x, V tail);
V math_exp_f32(Kernel *k, V x);
/* 2^n y, which is e^x, for an integer n; at the ends of the range what e^x is there. */
V math_exp_scaled(Kernel *k, V x, V y, V n);
V math_log_f32(Kernel *k, V x);
/* y, where x is a positive normal number; else what log x is there. */
V math_log_at_edges(Kernel *k, V x, V y);
V math_log1p_f32(Kernel *k, V x);
V math_log1p_of_sum(Kernel *k, V x, V tail); /* likewise, in f64 */
V math_tan_f32(Kernel *k, V x);
/* x^y of f32 in f64, to be rounded to f32, where x is not negative; 1^y for any y is not looked at. */
V math_pow_f32(Kernel *k, V x, V y);
/* The integer nearest to x * factor, as a float; and in *integer, of the same width.
 * For |x * factor| below 2^51 (f64) or 2^22 (f32); else nonsense. */
V math_round(Kernel *k, V x, double factor, V *integer);
/* The sum of a number and what is too small for it (pair.c). */
typedef struct Pair {
    V high, low;
} Pair;
Pair pair_of_sum(Kernel *k, V x, V y); /* |x| is the larger, or x is 0 */
Pair pair_of_any_sum(Kernel *k, V x, V y);
Pair pair_of_product(Kernel *k, V x, V y);
Pair pair_sum(Kernel *k, V x, Pair y); /* likewise */
Pair pair_times(Kernel *k, Pair x, Pair y);
Pair pair_over(Kernel *k, Pair x, Pair y); /* x.low may be NULL */
/* fast, except where any lane is in `hard`: then those lanes are function(x) or function(x, y), by
 * a call.  y may be NULL. */
V math_repair(Kernel *k, int function, V x, V y, V hard, V fast);
#endif
