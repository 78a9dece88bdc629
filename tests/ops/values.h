/* values.h - arrays for tests: filled from a range, compared by ulps, printed.  Links the engine
 * (the evaluator's numbers).
 *
 * What `any` draws from: a quarter special values, a quarter small numbers, the rest of every
 * magnitude that the type has. */
#ifndef TUTTI_TESTS_OPS_VALUES_H
#define TUTTI_TESTS_OPS_VALUES_H
#include "engine/eval/eval.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t random_state = 1;

static inline uint64_t random_bits(void) /* splitmix64 */
{
    uint64_t z = random_state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

static inline uint64_t random_below(uint64_t n)
{
    return n ? random_bits() % n : 0;
}

static inline double random_unit(void) /* in [0, 1) */
{
    return (double)(random_bits() >> 11) * 0x1p-53;
}

typedef struct Range {
    enum { RANGE_ANY, RANGE_TAME, RANGE_BETWEEN } kind;
    double low, high;
} Range;

/* The i-th of "any, tame, -2:9"; the last one goes on. */
static inline Range range_at(const char *list, int i)
{
    for (const char *comma; i > 0 && (comma = strchr(list, ',')); i--)
        list = comma + 1;
    list += strspn(list, " ");
    if (strncmp(list, "any", 3) == 0)
        return (Range){ .kind = RANGE_ANY };
    if (strncmp(list, "tame", 4) == 0)
        return (Range){ .kind = RANGE_TAME };
    Range r = { .kind = RANGE_BETWEEN };
    if (sscanf(list, "%lf:%lf", &r.low, &r.high) != 2) {
        printf("'%s' is not a range\n", list);
        exit(1);
    }
    return r;
}

enum { NSPECIAL = 22 };

static inline double special(Element e, int k)
{
    double largest = e == F64    ? 0x1.fffffffffffffp1023
                     : e == F16  ? 65504
                     : e == BF16 ? 0x1.fep127
                                 : 0x1.fffffep127;
    double least = e == F64 ? 0x1p-1022 : e == F16 ? 0x1p-14 : 0x1p-126;
    double all[NSPECIAL] = { 0,       -0.0,     NAN,   INFINITY, -INFINITY, 1,         -1,  0.5,
                             -0.5,    1.5,      2,     2.5,      100,       -80,       709, 88.5,
                             largest, -largest, least, -least,   least / 2, -least / 4 };
    return all[k];
}

static inline double random_float(Element e, Range r)
{
    if (r.kind == RANGE_TAME)
        return floor(random_unit() * 17) / 8 - 1;
    if (r.kind == RANGE_BETWEEN)
        return r.low + random_unit() * (r.high - r.low);
    int most = e == F64 ? 1023 : e == F16 ? 15 : element_info[e].bits <= 8 ? 8 : 127;
    switch (random_below(4)) {
    case 0: return special(e, (int)random_below(NSPECIAL));
    case 1: return random_unit() * 16 - 8;
    case 2: return random_unit() * 200 - 100;
    default: return ldexp(random_unit() * 4 - 2, (int)random_below(2 * (uint64_t)most) - most);
    }
}

static inline int64_t random_int(Element e, Range r)
{
    bool is_signed = element_info[e].kind == SIGNED;
    if (r.kind == RANGE_TAME)
        return (int64_t)random_below(7) - (is_signed ? 3 : 0);
    if (r.kind == RANGE_BETWEEN) {
        int64_t low = is_signed || r.low > 0 ? (int64_t)r.low : 0;
        return low + (int64_t)random_below((uint64_t)((int64_t)r.high - low + 1));
    }
    switch (random_below(4)) {
    case 0: return (int64_t)random_bits();
    case 1: return INT64_MIN >> random_below(64);
    case 2: return INT64_MAX >> random_below(64);
    default: return (int64_t)random_below(11) - 5;
    }
}

enum { FENCE = 64, FENCE_BYTE = 0xa5 }; /* behind every array: nobody may write there */

static inline Tensor tensor_new(Type type)
{
    size_t bytes = type_bytes(type), room = (bytes + FENCE + 63) & ~(size_t)63;
    char *at = aligned_alloc(64, room);
    memset(at, FENCE_BYTE, room);
    return (Tensor){ type, at };
}

static inline bool tensor_is_fenced(Tensor t)
{
    const unsigned char *end = (const unsigned char *)t.data + type_bytes(t.type);
    for (int i = 0; i < FENCE; i++)
        if (end[i] != FENCE_BYTE)
            return false;
    return true;
}

/* Fills argument number `which`.  Large arrays of `any` floats begin with all pairs of special
 * values of arguments 0 and 1. */
static inline void tensor_fill(Tensor t, Range r, int which)
{
    Element e = t.type.element, part = element_part(e);
    int64_t i = 0, n = type_count(t.type);
    if (r.kind == RANGE_ANY && element_carrier(e) == CARRY_FLOAT && n > 2 * NSPECIAL * NSPECIAL)
        for (; i < NSPECIAL * NSPECIAL; i++)
            float_set(t, i, special(e, (int)(which % 2 ? i / NSPECIAL : i % NSPECIAL)));
    for (; i < n; i++)
        switch (element_carrier(e)) {
        case CARRY_INT: int_set(t, i, random_int(e, r)); break;
        case CARRY_FLOAT: float_set(t, i, random_float(e, r)); break;
        case CARRY_COMPLEX:
            complex_set(t, i, CMPLX(random_float(part, r), random_float(part, r)));
            break;
        default: break;
        }
}

/* The least normal number. */
static inline double least_normal(Element e)
{
    const FloatFormat *f = &float_formats[e];
    return ldexp(1, 1 - f->bias);
}

static inline double flush(Element e, double x)
{
    return element_info[e].bits >= 16 && fabs(x) < least_normal(e) ? copysign(0, x) : x;
}

/* The same array with denormals as zeros; false: there are none. */
static inline bool tensor_flush(Tensor t)
{
    Element e = t.type.element, part = element_part(e);
    bool any = false;
    for (int64_t i = 0; i < type_count(t.type); i++) {
        if (element_carrier(e) == CARRY_FLOAT) {
            double x = float_at(t, i), y = flush(e, x);
            any |= x != y;
            float_set(t, i, y);
        } else if (element_carrier(e) == CARRY_COMPLEX) {
            Complex x = complex_at(t, i), y = CMPLX(flush(part, creal(x)), flush(part, cimag(x)));
            any |= x != y;
            complex_set(t, i, y);
        }
    }
    return any;
}

/* Ulps are those of the larger number; what is below the normal range counts as zero. */
static inline bool floats_close(Element e, double x, double y, double ulps)
{
    if (isnan(x) || isnan(y))
        return isnan(x) && isnan(y);
    bool was_zero = x == 0 && y == 0;
    x = flush(e, x);
    y = flush(e, y);
    if (x == y)
        return ulps > 0 || signbit(x) == signbit(y) || !was_zero;
    if (ulps == 0 || isinf(x) || isinf(y))
        return false;
    double unit = ldexp(1, ilogb(fmax(fabs(x), fabs(y))) - float_formats[e].mantissa_bits);
    return fabs(x - y) <= ulps * unit;
}

/* A complex number is as near as its larger part allows. */
static inline bool complex_close(Element e, Complex x, Complex y, double ulps)
{
    Element part = element_part(e);
    if (floats_close(part, creal(x), creal(y), ulps) &&
        floats_close(part, cimag(x), cimag(y), ulps))
        return true;
    double size = fmax(fabs(creal(y)), fabs(cimag(y)));
    return isfinite(size) && cabs(x - y) <= ulps * ldexp(size, -float_formats[part].mantissa_bits);
}

static inline bool elements_close(Tensor a, Tensor b, int64_t i, double ulps)
{
    Element e = a.type.element;
    switch (element_carrier(e)) {
    case CARRY_FLOAT: return floats_close(e, float_at(a, i), float_at(b, i), ulps);
    case CARRY_COMPLEX: return complex_close(e, complex_at(a, i), complex_at(b, i), ulps);
    default: return int_at(a, i) == int_at(b, i);
    }
}

static inline void element_show(Text *out, Tensor t, int64_t i)
{
    switch (element_carrier(t.type.element)) {
    case CARRY_FLOAT: text_printf(out, "%.17g", float_at(t, i)); break;
    case CARRY_COMPLEX:
        text_printf(out, "(%.17g, %.17g)", creal(complex_at(t, i)), cimag(complex_at(t, i)));
        break;
    default: text_printf(out, "%lld", (long long)int_at(t, i));
    }
}
#endif
