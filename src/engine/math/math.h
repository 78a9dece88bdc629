/* math.h - functions of floats, made of arithmetic.
 *
 * x is f32 or f64 by its LLVM type (f16 and bf16 come as f32), with any number of lanes. */
#ifndef TUTTI_ENGINE_MATH_MATH_H
#define TUTTI_ENGINE_MATH_MATH_H
#include "engine/codegen/codegen.h"

V math_exp(Kernel *k, V x);
V math_expm1(Kernel *k, V x);
V math_log(Kernel *k, V x);
V math_log1p(Kernel *k, V x);
V math_logistic(Kernel *k, V x);
V math_tanh(Kernel *k, V x);
V math_erf(Kernel *k, V x);
V math_erfc(Kernel *k, V x);
V math_erf_inverse(Kernel *k, V x);
V math_sin(Kernel *k, V x);
V math_cos(Kernel *k, V x);
V math_tan(Kernel *k, V x);
V math_sinh(Kernel *k, V x);
V math_cosh(Kernel *k, V x);
V math_asinh(Kernel *k, V x);
V math_acosh(Kernel *k, V x);
V math_atanh(Kernel *k, V x);
V math_pow(Kernel *k, V x, V y);
V math_atan2(Kernel *k, V y, V x);
V math_atan(Kernel *k, V x);
V math_asin(Kernel *k, V x);
V math_acos(Kernel *k, V x);
V math_cbrt(Kernel *k, V x);
V math_rsqrt(Kernel *k, V x);
V math_rem(Kernel *k, V x, V y);

/* Complex; e is C64 or C128. */
V complex_function(Kernel *k, OpId op, Element e, V x);
V complex_pow(Kernel *k, Element e, V x, V y);
V complex_atan2(Kernel *k, Element e, V y, V x);

/* A function of the C library, lane by lane, in f64: where a polynomial is not worth it. */
V math_call(Kernel *k, int function, V x, V y);
V complex_call(Kernel *k, int function, Element e, V x);
#endif
