/* libm.c - functions of the C library that compiled code calls by number.
 *
 * In: a few lanes.  Out: the function of each.  For functions too rare, or arguments too
 * large, to be worth inline code. */
#include "engine/numerics/numerics.h"

#include "base/fail.h"
#include "engine/special.h"

#include <float.h>
#include <math.h>

typedef double Unary(double);
typedef Complex ComplexUnary(Complex);

static double tan_f32(double x)
{
    return tanf((float)x);
}

static Unary *const unary[MATH_COUNT] = {
    [MATH_TAN] = tan,
    [MATH_TAN_F32] = tan_f32,
    [MATH_ERF_INV] = special_erf_inv,
    [MATH_LGAMMA] = special_lgamma,
    [MATH_DIGAMMA] = special_digamma,
    [MATH_BESSEL_I1E] = special_bessel_i1e,
};

/* The C library reads exponents out of bits, which goes wrong where the CPU takes denormals for
 * zeros; so they become zeros first. */
static double flushed(double x)
{
    return fabs(x) < DBL_MIN ? copysign(0, x) : x;
}

static ComplexUnary *const complex_unary[MATH_COUNT] = {
    [MATH_COMPLEX_SINH] = csinh,   [MATH_COMPLEX_COSH] = ccosh,   [MATH_COMPLEX_ASIN] = casin,
    [MATH_COMPLEX_ACOS] = cacos,   [MATH_COMPLEX_ATAN] = catan,   [MATH_COMPLEX_ASINH] = casinh,
    [MATH_COMPLEX_ACOSH] = cacosh, [MATH_COMPLEX_ATANH] = catanh,
};

static void complex_library(ComplexUnary *f, int32_t n, const double *x, const double *y,
                            double *out)
{
    for (int32_t i = 0; i < n; i++) {
        Complex z = f(CMPLX(flushed(x[i]), flushed(y[i])));
        out[i] = creal(z);
        out[n + i] = cimag(z);
    }
}

void math_library(int32_t function, int32_t n, const double *x, const double *y, double *out)
{
    require(function >= 0 && function < MATH_COUNT);
    if (complex_unary[function]) {
        complex_library(complex_unary[function], n, x, y, out);
        return;
    }
    if (!unary[function]) {
        math_common(function, n, x, y, out);
        return;
    }
    for (int32_t i = 0; i < n; i++)
        out[i] = unary[function](flushed(x[i]));
}
