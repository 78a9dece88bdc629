/* number.c - one number of any element type, in memory and as a C number.
 *
 * Small floats are described, not coded one by one: bits of exponent and fraction, bias, and
 * what the top of the range means.
 *
 *     sign | exponent | fraction       value = 1.fraction * 2^(exponent - bias)
 *
 *   IEEE   exponent all ones is infinity and NaN
 *   FN     only all ones is NaN, there is no infinity
 *   UZ     only the pattern of minus zero is NaN, there is neither infinity nor minus zero
 *   FINITE every pattern is a number: what is too large becomes the largest, NaN minus zero */
#include "ops/number.h"

#include "base/fail.h"

#include <math.h>
#include <string.h>

typedef enum FloatTop { IEEE, FN, UZ, FINITE } FloatTop;

typedef struct FloatFormat {
    int exponent, fraction, bias;
    FloatTop top;
} FloatFormat;

static const FloatFormat formats[ELEMENT_COUNT] = {
    [F8E4M3FN] = { 4, 3, 7, FN },       [F8E5M2] = { 5, 2, 15, IEEE },
    [F8E4M3FNUZ] = { 4, 3, 8, UZ },     [F8E5M2FNUZ] = { 5, 2, 16, UZ },
    [F8E4M3B11FNUZ] = { 4, 3, 11, UZ }, [F8E4M3] = { 4, 3, 7, IEEE },
    [F8E3M4] = { 3, 4, 3, IEEE },       [F6E2M3FN] = { 2, 3, 1, FINITE },
    [F6E3M2FN] = { 3, 2, 3, FINITE },   [F4E2M1FN] = { 2, 1, 1, FINITE },
    [BF16] = { 8, 7, 127, IEEE },       [F16] = { 5, 10, 15, IEEE },
};

static double decode(FloatFormat f, unsigned bits)
{
    unsigned magnitude_bits = (unsigned)(f.exponent + f.fraction);
    unsigned magnitude = bits & ((1u << magnitude_bits) - 1);
    bool negative = bits >> magnitude_bits & 1;
    int exponent = (int)(magnitude >> f.fraction);
    unsigned fraction = magnitude & ((1u << f.fraction) - 1);
    if (f.top == IEEE && exponent == (1 << f.exponent) - 1)
        return fraction ? NAN : negative ? -INFINITY : INFINITY;
    if (f.top == FN && magnitude == (1u << magnitude_bits) - 1)
        return NAN;
    if (f.top == UZ && negative && magnitude == 0)
        return NAN;
    unsigned implied = exponent ? 1u << f.fraction : 0;
    int scale = (exponent ? exponent : 1) - f.bias - f.fraction;
    double x = ldexp((double)(implied + fraction), scale);
    return negative ? -x : x;
}

/* The pattern of NaN; for formats without infinity but with NaN also what overflow gives. */
static unsigned nan_bits(FloatFormat f)
{
    unsigned magnitude_bits = (unsigned)(f.exponent + f.fraction);
    if (f.top == UZ || f.top == FINITE)
        return 1u << magnitude_bits;
    if (f.top == FN)
        return (1u << magnitude_bits) - 1;
    return (((1u << f.exponent) - 1) << f.fraction) | (1u << (f.fraction - 1));
}

static unsigned encode(FloatFormat f, double x)
{
    unsigned magnitude_bits = (unsigned)(f.exponent + f.fraction);
    if (isnan(x))
        return nan_bits(f);
    unsigned infinity = ((1u << f.exponent) - 1) << f.fraction; /* IEEE only */
    unsigned largest = f.top == IEEE ? infinity - 1
                       : f.top == FN ? (1u << magnitude_bits) - 2
                                     : (1u << magnitude_bits) - 1;
    unsigned sign = signbit(x) ? 1u << magnitude_bits : 0;
    double a = fabs(x);
    unsigned magnitude;
    if (isinf(a) || a > 1e40) {
        magnitude = largest + 1;
    } else {
        int exponent = a == 0 ? 1 - f.bias : ilogb(a);
        if (exponent < 1 - f.bias)
            exponent = 1 - f.bias;
        /* In units of the last place: the carry out of the fraction lands in the exponent. */
        double units = nearbyint(ldexp(a, f.fraction - exponent));
        magnitude = ((unsigned)(exponent + f.bias - 1) << f.fraction) + (unsigned)units;
    }
    if (magnitude > largest && f.top == FINITE)
        return sign | largest;
    if (magnitude > largest)
        return f.top == IEEE ? sign | infinity : f.top == FN ? sign | nan_bits(f) : nan_bits(f);
    if (f.top == UZ && magnitude == 0)
        return 0;
    return sign | magnitude;
}

/* A power of two and nothing else: no sign, no zero. */
static unsigned encode_scale(double x)
{
    if (!(x > 0) || isinf(x))
        return 0xFF;
    int exponent = ilogb(x);
    if (ldexp(x, -exponent) >= 1.5)
        exponent++;
    exponent += 127;
    return exponent < 0 ? 0 : exponent > 254 ? 0xFF : (unsigned)exponent;
}

double number_float(Element e, const void *at)
{
    float single;
    double real;
    uint16_t half;
    uint8_t byte;
    switch (e) {
    case F32: memcpy(&single, at, sizeof single); return single;
    case F64: memcpy(&real, at, sizeof real); return real;
    case BF16:
    case F16: memcpy(&half, at, sizeof half); return decode(formats[e], half);
    case F8E8M0FNU: memcpy(&byte, at, 1); return byte == 0xFF ? NAN : ldexp(1, byte - 127);
    case U64: return (double)(uint64_t)number_int(e, at);
    default: break;
    }
    if (element_info[e].kind != FLOAT)
        return (double)number_int(e, at);
    memcpy(&byte, at, 1);
    return decode(formats[e], byte);
}

void number_set_float(Element e, double x, void *at)
{
    float single = (float)x;
    uint16_t half;
    uint8_t byte;
    switch (e) {
    case F32: memcpy(at, &single, sizeof single); return;
    case F64: memcpy(at, &x, sizeof x); return;
    case BF16:
    case F16:
        half = (uint16_t)encode(formats[e], x);
        memcpy(at, &half, sizeof half);
        return;
    case F8E8M0FNU:
        byte = (uint8_t)encode_scale(x);
        memcpy(at, &byte, 1);
        return;
    default: break;
    }
    if (element_info[e].kind != FLOAT) {
        bool fits = x >= -9223372036854775808.0 && x < 9223372036854775808.0;
        number_set_int(e, fits ? (int64_t)x : 0, at);
        return;
    }
    byte = (uint8_t)encode(formats[e], x);
    memcpy(at, &byte, 1);
}

int64_t number_int(Element e, const void *at)
{
    if (element_info[e].kind == FLOAT) {
        double x = number_float(e, at);
        return x >= -9223372036854775808.0 && x < 9223372036854775808.0 ? (int64_t)x : 0;
    }
    if (element_info[e].kind == COMPLEX || e == TOKEN)
        fail("number_int of %s", element_info[e].name);
    uint64_t bits = 0;
    memcpy(&bits, at, (size_t)element_info[e].bytes); /* little endian */
    int unused = 64 - element_info[e].bits;
    if (element_info[e].kind == BOOLEAN)
        return bits != 0;
    if (element_info[e].kind == SIGNED)
        return (int64_t)(bits << unused) >> unused;
    return (int64_t)(bits << unused >> unused);
}

void number_set_int(Element e, int64_t x, void *at)
{
    if (element_info[e].kind == FLOAT) {
        number_set_float(e, (double)x, at);
        return;
    }
    if (element_info[e].kind == BOOLEAN)
        x = x != 0;
    /* A narrow integer's byte holds its value: signed ones extended, unsigned ones cut. */
    int unused = 64 - element_info[e].bits;
    if (element_info[e].kind == SIGNED)
        x = (int64_t)((uint64_t)x << unused) >> unused;
    else if (element_info[e].kind == UNSIGNED)
        x = (int64_t)((uint64_t)x << unused >> unused);
    memcpy(at, &x, (size_t)element_info[e].bytes);
}
