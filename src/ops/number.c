/* number.c - one number of any element type, in memory and as a C number.
 *
 * Floats narrower than 32 bits go through one description of their format:
 *
 *     sign | exponent | mantissa      value = mantissa' * 2^(max(exponent, 1) - bias - width)
 *
 * where mantissa' has the hidden bit when the exponent is not 0.  Writing scales the number so
 * that the last place of the format is 1, rounds to an integer, and adds exponent and mantissa:
 * a carry out of the mantissa raises the exponent by one, as it should. */
#include "ops/number.h"

#include "base/fail.h"

#include <math.h>
#include <string.h>

const FloatFormat float_formats[ELEMENT_COUNT] = {
    [F8E4M3FN] = { 4, 3, 7, FORMAT_FN },         [F8E5M2] = { 5, 2, 15, FORMAT_IEEE },
    [F8E4M3FNUZ] = { 4, 3, 8, FORMAT_FNUZ },     [F8E5M2FNUZ] = { 5, 2, 16, FORMAT_FNUZ },
    [F8E4M3B11FNUZ] = { 4, 3, 11, FORMAT_FNUZ }, [F8E4M3] = { 4, 3, 7, FORMAT_IEEE },
    [F8E3M4] = { 3, 4, 3, FORMAT_IEEE },         [F8E8M0FNU] = { 8, 0, 127, FORMAT_FNU },
    [F6E2M3FN] = { 2, 3, 1, FORMAT_FINITE },     [F6E3M2FN] = { 3, 2, 3, FORMAT_FINITE },
    [F4E2M1FN] = { 2, 1, 1, FORMAT_FINITE },     [BF16] = { 8, 7, 127, FORMAT_IEEE },
    [F16] = { 5, 10, 15, FORMAT_IEEE },          [F32] = { 8, 23, 127, FORMAT_IEEE },
    [F64] = { 11, 52, 1023, FORMAT_IEEE },
};

static uint64_t top_bits(const FloatFormat *f) /* the largest finite number's, without sign */
{
    uint64_t all = (UINT64_C(1) << (f->exponent_bits + f->mantissa_bits)) - 1;
    switch (f->special) {
    case FORMAT_IEEE: return all - (UINT64_C(1) << f->mantissa_bits);
    case FORMAT_FNUZ:
    case FORMAT_FINITE: return all;
    default: return all - 1;
    }
}

static uint64_t sign_bit(const FloatFormat *f)
{
    return f->special == FORMAT_FNU ? 0 : UINT64_C(1) << (f->exponent_bits + f->mantissa_bits);
}

uint64_t float_sign_bit(Element e)
{
    return sign_bit(&float_formats[e]);
}

double float_decode(Element e, uint64_t bits)
{
    const FloatFormat *f = &float_formats[e];
    bits &= (UINT64_C(2) << (element_info[e].bits - 1)) - 1;
    uint64_t sign = bits & sign_bit(f), rest = bits & ~sign_bit(f), top = top_bits(f);
    if (f->special == FORMAT_FNUZ && sign && !rest)
        return NAN;
    if (rest > top)
        return copysign(f->special == FORMAT_IEEE && rest == top + 1 ? INFINITY : NAN,
                        sign ? -1.0 : 1.0);
    if (f->special == FORMAT_FNU)
        return ldexp(1, (int)rest - f->bias);
    uint64_t hidden = UINT64_C(1) << f->mantissa_bits;
    int exponent = (int)(rest >> f->mantissa_bits);
    uint64_t mantissa = (rest & (hidden - 1)) | (exponent ? hidden : 0);
    double size = ldexp((double)mantissa, (exponent ? exponent : 1) - f->bias - f->mantissa_bits);
    return sign ? -size : size;
}

/* What is written for nan, and for what lies beyond the largest number. */
static uint64_t not_finite(const FloatFormat *f, bool is_nan, uint64_t sign)
{
    uint64_t all = (UINT64_C(1) << (f->exponent_bits + f->mantissa_bits)) - 1;
    switch (f->special) {
    case FORMAT_IEEE:
        return sign | (top_bits(f) + 1) | (is_nan ? UINT64_C(1) << (f->mantissa_bits - 1) : 0);
    case FORMAT_FNUZ: return sign_bit(f);
    case FORMAT_FINITE: return is_nan ? sign_bit(f) : sign | all;
    default: return sign | all;
    }
}

/* Powers of two: no zero and no sign, so what is not above zero, as an f32, is nan.  Ties go up. */
static uint64_t encode_power(const FloatFormat *f, double x)
{
    if (isnan(x) || isinf(x) || x <= 0x1p-150)
        return 255;
    int exponent;
    double half = frexp(x, &exponent); /* 0.5 <= half < 1; 0.75 is midway to the next power */
    int power = exponent - 1 + f->bias;
    if (power < 0)
        return 0;
    bool up = half >= 0.75;
    return (uint64_t)(power + up > 254 ? 255 : power + up);
}

uint64_t float_encode(Element e, double x)
{
    const FloatFormat *f = &float_formats[e];
    if (f->special == FORMAT_FNU)
        return encode_power(f, x);
    uint64_t sign = signbit(x) ? sign_bit(f) : 0;
    if (isnan(x) || isinf(x))
        return not_finite(f, isnan(x), sign);
    int exponent = 0;
    frexp(x, &exponent);
    int least = 1 - f->bias; /* exponent of the smallest normal number */
    int place = (x == 0 || exponent - 1 < least ? least : exponent - 1) - f->mantissa_bits;
    uint64_t places = (uint64_t)nearbyint(ldexp(fabs(x), -place));
    uint64_t bits = ((uint64_t)(place + f->mantissa_bits + f->bias) << f->mantissa_bits) + places -
                    (UINT64_C(1) << f->mantissa_bits);
    if (bits > top_bits(f))
        return not_finite(f, false, sign);
    return f->special == FORMAT_FNUZ && bits == 0 ? 0 : sign | bits;
}

int64_t int_wrap(int64_t x, const ElementInfo *t)
{
    int spare = 64 - t->bits;
    uint64_t high = (uint64_t)x << spare;
    return t->kind == SIGNED ? (int64_t)high >> spare : (int64_t)(high >> spare);
}

/* What lies below the 53 bits of a double is folded into its last bit: never a tie by accident. */
double int_to_double(int64_t x, bool is_unsigned)
{
    bool is_negative = !is_unsigned && x < 0;
    uint64_t size = is_negative ? 0 - (uint64_t)x : (uint64_t)x;
    if (size >> 53)
        size = ((size >> 11) | ((size & 0x7ff) != 0)) << 11;
    return is_negative ? -(double)size : (double)size;
}

int64_t int_from_double(double x, const ElementInfo *t)
{
    if (isnan(x))
        return 0;
    if (t->kind == SIGNED) {
        double limit = ldexp(1, t->bits - 1);
        if (x >= limit)
            return (int64_t)((UINT64_C(1) << (t->bits - 1)) - 1);
        return x <= -limit ? (int64_t)(~UINT64_C(0) << (t->bits - 1)) : (int64_t)x;
    }
    if (x >= ldexp(1, t->bits))
        return (int64_t)(~UINT64_C(0) >> (64 - t->bits));
    return x <= 0 ? 0 : (int64_t)(uint64_t)x;
}

double number_float(Element e, const void *at)
{
    float single;
    double real;
    uint64_t bits = 0;
    switch (e) {
    case F32: memcpy(&single, at, sizeof single); return (double)single;
    case F64: memcpy(&real, at, sizeof real); return real;
    case U64: return (double)(uint64_t)number_int(e, at);
    default: break;
    }
    if (element_info[e].kind != FLOAT)
        return (double)number_int(e, at);
    memcpy(&bits, at, (size_t)element_info[e].bytes);
    return float_decode(e, bits);
}

void number_set_float(Element e, double x, void *at)
{
    float single = (float)x;
    switch (e) {
    case F32: memcpy(at, &single, sizeof single); return;
    case F64: memcpy(at, &x, sizeof x); return;
    default: break;
    }
    if (element_info[e].kind == FLOAT) {
        uint64_t bits = float_encode(e, x);
        memcpy(at, &bits, (size_t)element_info[e].bytes);
        return;
    }
    bool fits = x >= -9223372036854775808.0 && x < 9223372036854775808.0;
    number_set_int(e, fits ? (int64_t)x : 0, at);
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
    if (element_info[e].kind == BOOLEAN)
        return bits != 0;
    return int_wrap((int64_t)bits, &element_info[e]);
}

void number_set_int(Element e, int64_t x, void *at)
{
    if (element_info[e].kind == FLOAT) {
        number_set_float(e, (double)x, at);
        return;
    }
    if (element_info[e].kind == BOOLEAN)
        x = x != 0;
    /* A narrow integer's byte holds its value: signed ones extended, unsigned ones cleared above. */
    x = int_wrap(x, &element_info[e]);
    memcpy(at, &x, (size_t)element_info[e].bytes);
}
