/* special.c - special functions of a real number that the C library has not. */
#include "engine/special.h"

#include <math.h>

double special_lgamma(double x)
{
    int sign; /* lgamma would leave it in a global variable */
    return lgamma_r(x, &sign);
}

/* A closed approximation, good to 2 parts in 1000, then Halley's method on erf; towards the ends
 * on erfc, which is where erf has no digits left. */
double special_erf_inv(double x)
{
    if (!(fabs(x) < 1))
        return fabs(x) == 1 ? copysign(INFINITY, x) : NAN;
    if (x == 0)
        return x;
    double size = fabs(x), log_rest = log1p(-size * size);
    double t = 2 / (M_PI * 0.147) + log_rest / 2;
    double z = sqrt(sqrt(t * t - log_rest / 0.147) - t);
    for (int i = 0; i < 3; i++) {
        double miss = size > 0.5 ? (1 - size) - erfc(z) : erf(z) - size;
        double step = miss / (M_2_SQRTPI * exp(-z * z));
        z -= step / (1 + z * step);
    }
    return copysign(z, x);
}

/* Reflected to the right half, lifted above 10, then the asymptotic series. */
double special_digamma(double x)
{
    if (isnan(x) || x == -INFINITY)
        return NAN;
    if (x <= 0 && x == floor(x))
        return NAN; /* at the poles, 0 among them, as XLA has it */
    double result = 0;
    if (x < 0.5) {
        double part = x - nearbyint(x); /* exact, however near the pole is */
        result = -M_PI / tan(M_PI * part);
        x = 1 - x;
    }
    for (; x < 10; x += 1)
        result -= 1 / x;
    static const double series[] = { 1. / 12,  -1. / 120,     1. / 252, -1. / 240,
                                     1. / 132, -691. / 32760, 1. / 12 };
    double square = 1 / (x * x), power = square;
    result += log(x) - 0.5 / x;
    for (int i = 0; i < 7; i++, power *= square)
        result -= series[i] * power;
    return result;
}

/* e^-|x| I1(x): the power series, all of whose terms have one sign; far out the asymptotic one. */
double special_bessel_i1e(double x)
{
    double size = fabs(x), sum, term;
    if (isinf(x))
        return copysign(0, x);
    if (size <= 30) {
        sum = term = size / 2 * exp(-size);
        for (int k = 1; term > sum * 1e-18; k++)
            sum += term *= size * size / 4 / (k * (k + 1.0));
    } else {
        sum = term = 1;
        for (int k = 1; k < 30 && fabs(term) > 1e-18; k++)
            sum += term *= -(4 - (2 * k - 1.0) * (2 * k - 1.0)) / (8 * size * k);
        sum /= sqrt(2 * M_PI * size);
    }
    return copysign(sum, x);
}
