/* mathlib.c - functions of the C library that compiled code calls by number.
 *
 * In: a few lanes.  Out: the function of each.  For functions too rare, or arguments too
 * large, to be worth inline code. */
#include "engine/run/mathlib.h"

#include "base/fail.h"

#include <float.h>
#include <math.h>

typedef double Unary(double);
typedef double Binary(double, double);

static Unary *const unary[MATH_COUNT] = {
    [MATH_SIN] = sin,
    [MATH_COS] = cos,
    [MATH_TAN] = tan,
    [MATH_CBRT] = cbrt,
};

static Binary *const binary[MATH_COUNT] = {
    [MATH_POW] = pow,
    [MATH_FMOD] = fmod,
    [MATH_ATAN2] = atan2,
};

/* The C library reads exponents out of bits, which goes wrong where the CPU takes denormals for
 * zeros; so they become zeros first. */
static double flushed(double x)
{
    return fabs(x) < DBL_MIN ? copysign(0, x) : x;
}

void math_library(int32_t function, int32_t n, const double *x, const double *y, double *out)
{
    require(function >= 0 && function < MATH_COUNT);
    for (int32_t i = 0; i < n; i++)
        out[i] = unary[function] ? unary[function](flushed(x[i]))
                                 : binary[function](flushed(x[i]), flushed(y[i]));
}
