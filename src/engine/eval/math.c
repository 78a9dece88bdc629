/* math.c - the formulas of elementwise.c that take more than a line. */
#include "engine/eval/math.h"

#include <math.h>

uint64_t math_mask(int64_t x, const ElementInfo *t)
{
    return (uint64_t)x & (~UINT64_C(0) >> (64 - t->bits));
}

int64_t math_leading_zeros(int64_t x, const ElementInfo *t)
{
    uint64_t bits = math_mask(x, t);
    return bits ? __builtin_clzll(bits) - (64 - t->bits) : t->bits;
}

int64_t math_int_sign(int64_t x, const ElementInfo *t)
{
    return t->kind == SIGNED ? (x > 0) - (x < 0) : x != 0;
}

bool math_int_less(int64_t x, int64_t y, const ElementInfo *t)
{
    return t->kind == SIGNED ? x < y : (uint64_t)x < (uint64_t)y;
}

int64_t math_int_div(int64_t x, int64_t y, const ElementInfo *t)
{
    if (y == 0)
        return -1;
    if (t->kind != SIGNED)
        return (int64_t)((uint64_t)x / (uint64_t)y);
    return y == -1 ? (int64_t)(0 - (uint64_t)x) : x / y; /* the least by -1 wraps to itself */
}

int64_t math_int_rem(int64_t x, int64_t y, const ElementInfo *t)
{
    if (y == 0)
        return x;
    if (t->kind != SIGNED)
        return (int64_t)((uint64_t)x % (uint64_t)y);
    return y == -1 ? 0 : x % y;
}

/* Negative exponents: 1 over something, which is 0 unless x is 1 or -1. */
int64_t math_int_pow(int64_t x, int64_t y, const ElementInfo *t)
{
    if (t->kind == SIGNED && y < 0)
        return x == 1 ? 1 : x != -1 ? 0 : y & 1 ? -1 : 1;
    uint64_t power = 1, square = (uint64_t)x;
    for (uint64_t rest = (uint64_t)y; rest; rest >>= 1) {
        if (rest & 1)
            power *= square;
        square *= square;
    }
    return (int64_t)power;
}

int64_t math_shift_signed(int64_t x, int64_t y, const ElementInfo *t)
{
    int64_t extended = (int64_t)((uint64_t)x << (64 - t->bits)) >> (64 - t->bits);
    return extended >> ((uint64_t)y < (uint64_t)t->bits ? y : t->bits - 1);
}

double math_sign(double x)
{
    return isnan(x) || x == 0 ? x : copysign(1, x);
}

double math_max(double x, double y)
{
    if (isnan(x) || isnan(y))
        return NAN;
    return x == y ? (signbit(x) ? y : x) : x > y ? x : y;
}

/* To the nearest whole number.  Of a number in [1, 2), without a mantissa: what lies in the middle
 * goes to the even one of the two exponents, of which this is the lower. */
static double nearest(double x, bool has_mantissa, bool is_odd)
{
    if (!has_mantissa && fabs(x) == 1.5)
        return is_odd ? copysign(2, x) : copysign(1, x);
    return nearbyint(x);
}

double math_reduce_precision(double x, const FloatFormat *f, int exponent_bits, int mantissa_bits)
{
    if (isnan(x) || isinf(x) || x == 0)
        return x;
    int exponent;
    if (mantissa_bits < f->mantissa_bits) {
        frexp(x, &exponent);
        int least = 1 - f->bias;
        int place = (exponent - 1 < least ? least : exponent - 1) - mantissa_bits;
        x = ldexp(nearest(ldexp(x, -place), mantissa_bits > 0, (place + f->bias) & 1), place);
    }
    if (exponent_bits >= f->exponent_bits || x == 0)
        return x;
    frexp(x, &exponent);
    int bias = (1 << (exponent_bits - 1)) - 1;
    if (exponent - 1 > bias)
        return copysign(INFINITY, x);
    return exponent - 1 < 1 - bias ? copysign(0, x) : x;
}

Complex math_complex_sign(Complex x)
{
    if (isnan(creal(x)) || isnan(cimag(x)))
        return CMPLX(NAN, NAN);
    double size = cabs(x);
    return size == 0 ? CMPLX(0, 0) : CMPLX(creal(x) / size, cimag(x) / size);
}

/* e^a cos b - 1 and e^a sin b, without subtracting what is nearly 1 from 1. */
Complex math_complex_expm1(Complex x)
{
    double a = creal(x), b = cimag(x), half = sin(b / 2);
    if (b == 0)
        return CMPLX(expm1(a), b);
    return CMPLX(expm1(a) * cos(b) - 2 * half * half, exp(a) * sin(b));
}

/* log |1 + x| as half of log1p(|1 + x|^2 - 1), where that cannot overflow. */
Complex math_complex_log1p(Complex x)
{
    double a = creal(x), b = cimag(x);
    double size = fabs(a) + fabs(b) < 1e100 ? 0.5 * log1p(a * (a + 2) + b * b) : log(cabs(x));
    return CMPLX(size, atan2(b, 1 + a));
}

/* C's tangent of an infinity on the real axis has an imaginary part, 0; XLA's has none. */
Complex math_complex_tan(Complex x)
{
    return !isfinite(creal(x)) && cimag(x) == 0 ? CMPLX(NAN, NAN) : ctan(x);
}

Complex math_complex_rsqrt(Complex x)
{
    if (isinf(creal(x)) || isinf(cimag(x)))
        return CMPLX(0, 0);
    return 1 / csqrt(x);
}

/* At the edges as XLA has it: 0 has positive powers alone, infinity on the right real ones. */
Complex math_complex_pow(Complex x, Complex y)
{
    if (y == 0 || x == 1)
        return 1;
    bool is_real = cimag(y) == 0 && !isnan(creal(y));
    if (x == 0)
        return is_real && creal(y) > 0 ? CMPLX(0, 0) : CMPLX(NAN, NAN);
    if (creal(x) == INFINITY && cimag(x) == 0 && is_real)
        return creal(y) > 0 ? CMPLX(INFINITY, 0) : CMPLX(0, 0);
    return cpow(x, y);
}

/* -i log((x + iy) / sqrt(x^2 + y^2)). */
Complex math_complex_atan2(Complex y, Complex x)
{
    Complex l = clog((x + CMPLX(0, 1) * y) / csqrt(x * x + y * y));
    return CMPLX(cimag(l), -creal(l));
}

bool math_complex_less(Complex x, Complex y)
{
    return creal(x) != creal(y) ? creal(x) < creal(y) : cimag(x) < cimag(y);
}
