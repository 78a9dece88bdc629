/* mathlib.h - functions of the C library that compiled code calls by number. */
#ifndef TUTTI_MATHLIB_H
#define TUTTI_MATHLIB_H
#include <stdint.h>

typedef enum MathFunction {
    MATH_POW,
    MATH_FMOD,
    MATH_ATAN2,
    MATH_SIN,
    MATH_COS,
    MATH_TAN,
    MATH_CBRT,
    MATH_COUNT
} MathFunction;

/* out[i] = function(x[i]) or function(x[i], y[i]) for n numbers. */
void math_library(int32_t function, int32_t n, const double *x, const double *y, double *out);
#endif
