/* libm.h - functions of the C library that compiled code calls by number. */
#ifndef TUTTI_ENGINE_NUMERICS_LIBM_H
#define TUTTI_ENGINE_NUMERICS_LIBM_H
#include <stdint.h>

typedef enum MathFunction {
    MATH_FMOD,
    MATH_SIN,
    MATH_COS,
    MATH_TAN,
    MATH_ERF_INV,
    MATH_LGAMMA,
    MATH_DIGAMMA,
    MATH_BESSEL_I1E,
    /* Of complex numbers: real parts in x, imaginary ones in y; out has n of each. */
    MATH_COMPLEX_SINH,
    MATH_COMPLEX_COSH,
    MATH_COMPLEX_ASIN,
    MATH_COMPLEX_ACOS,
    MATH_COMPLEX_ATAN,
    MATH_COMPLEX_ASINH,
    MATH_COMPLEX_ACOSH,
    MATH_COMPLEX_ATANH,
    MATH_COUNT
} MathFunction;

/* out[i] = function(x[i]) or function(x[i], y[i]) for n numbers. */
void math_library(int32_t function, int32_t n, const double *x, const double *y, double *out);
#endif
