/* math.h - what the C library has not: integers as XLA divides them, complex functions. */
#ifndef TUTTI_ENGINE_EVAL_MATH_H
#define TUTTI_ENGINE_EVAL_MATH_H
#include "engine/tensor.h"

uint64_t math_mask(int64_t x, const ElementInfo *t); /* the bits of its width, zero-extended */
int64_t math_leading_zeros(int64_t x, const ElementInfo *t);
int64_t math_int_sign(int64_t x, const ElementInfo *t);
bool math_int_less(int64_t x, int64_t y, const ElementInfo *t);
int64_t math_int_div(int64_t x, int64_t y, const ElementInfo *t); /* by 0: all ones */
int64_t math_int_rem(int64_t x, int64_t y, const ElementInfo *t); /* by 0: x */
int64_t math_int_pow(int64_t x, int64_t y, const ElementInfo *t);
int64_t math_shift_signed(int64_t x, int64_t y, const ElementInfo *t);

double math_sign(double x);
double math_max(double x, double y); /* nan if either is; 0 is above -0 */
double math_reduce_precision(double x, const FloatFormat *f, int exponent_bits, int mantissa_bits);

Complex math_complex_sign(Complex x);
Complex math_complex_expm1(Complex x);
Complex math_complex_log1p(Complex x);
Complex math_complex_tan(Complex x);
Complex math_complex_rsqrt(Complex x);
Complex math_complex_pow(Complex x, Complex y);
Complex math_complex_atan2(Complex y, Complex x);
bool math_complex_less(Complex x, Complex y); /* by the real part, then the imaginary */
#endif
