/* libm_common.c - the functions of the C library that most programs can come to need: sines and the
 * like of large arguments, remainders.  Apart from the rarer ones, which take more memory than all of a
 * small program. */
#include "engine/numerics/numerics.h"

#include "base/fail.h"

#include <float.h>
#include <math.h>

/* The C library reads exponents out of bits, which goes wrong where the CPU takes denormals for
 * zeros; so they become zeros first. */
static double flushed(double x)
{
    return fabs(x) < DBL_MIN ? copysign(0, x) : x;
}

static double call(int32_t function, double x, double y)
{
    switch (function) {
    case MATH_FMOD: return fmod(x, y);
    case MATH_SIN: return sin(x);
    default: return cos(x);
    }
}

void math_common(int32_t function, int32_t n, const double *x, const double *y, double *out)
{
    require(function >= 0 && function <= MATH_COS);
    for (int32_t i = 0; i < n; i++)
        out[i] = call(function, flushed(x[i]), flushed(y[i]));
}
