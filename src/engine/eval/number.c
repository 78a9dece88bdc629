/* number.c - elements of any type, read and written as numbers.
 *
 * Floats narrower than 32 bits go through one description of their format:
 *
 *     sign | exponent | mantissa      value = mantissa' * 2^(max(exponent, 1) - bias - width)
 *
 * where mantissa' has the hidden bit when the exponent is not 0.  Writing scales the number so
 * that the last place of the format is 1, rounds to an integer, and puts the parts together;
 * a carry out of the mantissa runs into the exponent, which is just what it should do. */
#include "engine/eval/number.h"

#include <math.h>
#include <string.h>

const FloatFormat float_formats[ELEMENT_COUNT] = {
    [F8E4M3FN] = { 4, 3, 7, FORMAT_FN },         [F8E5M2] = { 5, 2, 15, FORMAT_IEEE },
    [F8E4M3FNUZ] = { 4, 3, 8, FORMAT_FNUZ },     [F8E5M2FNUZ] = { 5, 2, 16, FORMAT_FNUZ },
    [F8E4M3B11FNUZ] = { 4, 3, 11, FORMAT_FNUZ }, [F8E4M3] = { 4, 3, 7, FORMAT_IEEE },
    [F8E3M4] = { 3, 4, 3, FORMAT_IEEE },         [F8E8M0FNU] = { 8, 0, 127, FORMAT_FNU },
    [F6E2M3FN] = { 2, 3, 1, FORMAT_FINITE },     [F6E3M2FN] = { 3, 2, 3, FORMAT_FINITE },
    [F4E2M1FN] = { 2, 1, 1, FORMAT_FINITE },
    [BF16] = { 8, 7, 127, FORMAT_IEEE },         [F16] = { 5, 10, 15, FORMAT_IEEE },
    [F32] = { 8, 23, 127, FORMAT_IEEE },         [F64] = { 11, 52, 1023, FORMAT_IEEE },
};

Carrier element_carrier(Element e)
{
    switch (element_info[e].kind) {
    case BOOLEAN:
    case SIGNED:
    case UNSIGNED: return CARRY_INT;
    case FLOAT: return CARRY_FLOAT;
    case COMPLEX: return CARRY_COMPLEX;
    default: return CARRY_NOTHING;
    }
}

uint64_t bits_at(Tensor t, int64_t i)
{
    size_t bytes = (size_t)element_info[t.type.element].bytes;
    uint64_t bits = 0;
    memcpy(&bits, (const char *)t.data + (size_t)i * bytes, bytes);
    return bits;
}

void bits_set(Tensor t, int64_t i, uint64_t bits)
{
    size_t bytes = (size_t)element_info[t.type.element].bytes;
    memcpy((char *)t.data + (size_t)i * bytes, &bits, bytes);
}

int64_t int_wrap(int64_t x, const ElementInfo *t)
{
    int spare = 64 - t->bits;
    uint64_t high = (uint64_t)x << spare;
    return t->kind == SIGNED ? (int64_t)high >> spare : (int64_t)(high >> spare);
}

int64_t int_at(Tensor t, int64_t i)
{
    return int_wrap((int64_t)bits_at(t, i), &element_info[t.type.element]);
}

void int_set(Tensor t, int64_t i, int64_t x)
{
    bits_set(t, i, (uint64_t)int_wrap(x, &element_info[t.type.element]));
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

static double part_at(Element e, const char *at)
{
    float single;
    double value;
    uint64_t bits = 0;
    switch (e) {
    case F64: memcpy(&value, at, sizeof value); return value;
    case F32: memcpy(&single, at, sizeof single); return (double)single;
    default: memcpy(&bits, at, (size_t)element_info[e].bytes); return float_decode(e, bits);
    }
}

static void part_set(Element e, char *at, double x)
{
    float single = (float)x;
    uint64_t bits;
    switch (e) {
    case F64: memcpy(at, &x, sizeof x); break;
    case F32: memcpy(at, &single, sizeof single); break;
    default: bits = float_encode(e, x); memcpy(at, &bits, (size_t)element_info[e].bytes);
    }
}

double float_at(Tensor t, int64_t i)
{
    Element e = t.type.element;
    return part_at(e, (const char *)t.data + i * element_info[e].bytes);
}

void float_set(Tensor t, int64_t i, double x)
{
    Element e = t.type.element;
    part_set(e, (char *)t.data + i * element_info[e].bytes, x);
}

Complex complex_at(Tensor t, int64_t i)
{
    Element part = element_part(t.type.element);
    const char *at = (const char *)t.data + i * element_info[t.type.element].bytes;
    return CMPLX(part_at(part, at), part_at(part, at + element_info[part].bytes));
}

void complex_set(Tensor t, int64_t i, Complex x)
{
    Element part = element_part(t.type.element);
    char *at = (char *)t.data + i * element_info[t.type.element].bytes;
    part_set(part, at, creal(x));
    part_set(part, at + element_info[part].bytes, cimag(x));
}

int64_t float_rank(Tensor t, int64_t i)
{
    const FloatFormat *f = &float_formats[t.type.element];
    uint64_t bits = bits_at(t, i), sign = sign_bit(f);
    int64_t size = (int64_t)(bits & ~sign);
    return bits & sign ? -size - 1 : size;
}

void element_copy(Tensor to, int64_t i, Tensor from, int64_t j)
{
    size_t bytes = (size_t)element_info[to.type.element].bytes;
    memcpy((char *)to.data + (size_t)i * bytes, (const char *)from.data + (size_t)j * bytes, bytes);
}

bool index_next(int rank, const int64_t *dims, int64_t *index)
{
    for (int i = rank - 1; i >= 0; i--) {
        if (++index[i] < dims[i])
            return true;
        index[i] = 0;
    }
    return false;
}

int64_t index_flat(int rank, const int64_t *index, const int64_t *strides)
{
    int64_t flat = 0;
    for (int i = 0; i < rank; i++)
        flat += index[i] * strides[i];
    return flat;
}

Error *eval_refuse(const Node *n, Type type)
{
    return error_new(CODE_UNIMPLEMENTED, "not supported: %s of %s, at %s", op_name(n->op),
                     type_name(type), loc_name(n->loc));
}

/* What the accumulator keeps of x. */
static double kept(Element e, int64_t terms, double x)
{
    bool is_wide = element_part(e) == F64 || element_info[e].kind < FLOAT || terms > SUM_FEW;
    return is_wide ? x : (float)x;
}

double sum_float(Element e, int64_t terms, double sum, double x, double y)
{
    return kept(e, terms, sum + kept(e, terms, x * y));
}

Complex sum_complex(Element e, int64_t terms, Complex sum, Complex x, Complex y)
{
    double a = creal(x), b = cimag(x), c = creal(y), d = cimag(y);
    double re = kept(e, terms, kept(e, terms, a * c) - kept(e, terms, b * d));
    double im = kept(e, terms, kept(e, terms, a * d) + kept(e, terms, b * c));
    return CMPLX(kept(e, terms, creal(sum) + re), kept(e, terms, cimag(sum) + im));
}

Complex number_at(Tensor t, int64_t i)
{
    bool is_real = element_carrier(t.type.element) == CARRY_FLOAT;
    return is_real ? CMPLX(float_at(t, i), 0) : complex_at(t, i);
}

void number_set(Tensor t, int64_t i, Complex x)
{
    if (element_carrier(t.type.element) == CARRY_FLOAT)
        float_set(t, i, creal(x));
    else
        complex_set(t, i, x);
}
