/* array.c - making, filling, loading and printing arrays of the host. */
#include "array.h"

#include "ops/npy.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void set_type(Array *array, Type type)
{
    *array = (Array){ .type = { type.element, type.rank, NULL } };
    if (type.rank)
        memcpy(array->dims_, type.dims, sizeof *type.dims * (size_t)type.rank);
    int64_t stride = element_info[type.element].bytes;
    for (int i = type.rank - 1; i >= 0; i--) {
        array->strides[i] = stride;
        stride *= type.dims[i];
    }
}

Error *array_new(Type type, Array *out)
{
    void *memory = calloc(1, type_bytes(type) + 1);
    if (!memory)
        return error_new(CODE_EXHAUSTED, "no memory on the host for %s", type_name(type));
    set_type(out, type);
    out->type.dims = out->dims_;
    out->memory = out->data = memory;
    return NULL;
}

void array_free(Array *array)
{
    free(array->memory);
    array->memory = array->data = NULL;
}

static Error *match(const Npy *npy, Type wanted)
{
    Type found = npy_type(npy, wanted.element);
    if (!npy_holds(npy, wanted.element))
        return error_new(CODE_INVALID, "%s holds elements '%s'; the program takes %s", npy->path,
                         npy->descr, type_name(wanted));
    if (!shape_fits(found, wanted))
        return error_new(CODE_INVALID, "%s holds %s; the program takes %s", npy->path,
                         type_name(found), type_name(wanted));
    return npy_check(npy, wanted.element);
}

Error *array_load(const char *path, Type wanted, Array *out)
{
    Npy npy;
    TRY(npy_open(path, &npy));
    Error *error = match(&npy, wanted);
    if (!error)
        error = array_new(npy_type(&npy, wanted.element), out);
    if (!error && (error = npy_read(&npy, wanted.element, out->data)))
        array_free(out);
    npy_close(&npy);
    return error;
}

Error *array_save(const char *path, const Array *array)
{
    return npy_write(path, array->type, array->data);
}

/* Any decent sequence will do; this one needs no state but a counter. */
static uint64_t scramble(uint64_t x)
{
    x = (x ^ (x >> 31)) * 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 29)) * 0xBF58476D1CE4E5B9u;
    return x ^ (x >> 32);
}

static uint16_t half_of(float value) /* in [0, 1): no overflow to think of */
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint32_t exponent = bits >> 23, least = 127 - 15;
    return exponent <= least ? 0 : (uint16_t)((exponent - least) << 10 | (bits >> 13 & 1023));
}

static void random_element(Element e, char *at, uint64_t r)
{
    double unit = (double)(r >> 11) / 9007199254740992.0;
    float narrow = (float)unit < 1 ? (float)unit : 0;
    uint64_t small = r >> 60;
    uint16_t half;
    switch (e) {
    case F64: memcpy(at, &unit, 8); break;
    case F32: memcpy(at, &narrow, 4); break;
    case BF16: memcpy(at, (char *)&narrow + 2, 2); break;
    case F16: half = half_of(narrow); memcpy(at, &half, 2); break;
    case C64: random_element(F32, at, r), random_element(F32, at + 4, scramble(r)); break;
    case C128: random_element(F64, at, r), random_element(F64, at + 8, scramble(r)); break;
    case I1: *at = (char)(r >> 63); break;
    default: /* integers up to 15, narrow ones less; narrow floats small positive patterns */
        small &= (1u << (element_info[e].bits < 5 ? element_info[e].bits - 1 : 4)) - 1;
        memcpy(at, &small, (size_t)element_info[e].bytes);
    }
}

void array_fill_random(Array *array, uint64_t seed)
{
    int64_t n = type_count(array->type);
    int bytes = element_info[array->type.element].bytes;
    for (int64_t i = 0; i < n; i++)
        random_element(array->type.element, array->data + i * bytes,
                       scramble(scramble(seed + 1) + (uint64_t)i));
}

static double wide_of(Element e, const char *at)
{
    uint16_t half;
    uint32_t bits;
    float single;
    double wide;
    switch (e) {
    case F64: memcpy(&wide, at, 8); return wide;
    case F32: memcpy(&single, at, 4); return single;
    case BF16:
        memcpy(&half, at, 2);
        bits = (uint32_t)half << 16;
        memcpy(&single, &bits, 4);
        return single;
    default: break;
    }
    memcpy(&half, at, 2); /* F16 */
    int exponent = half >> 10 & 31;
    double fraction = half & 1023;
    wide = exponent == 31 ? (fraction != 0 ? NAN : INFINITY)
           : exponent     ? ldexp(1024 + fraction, exponent - 25)
                          : ldexp(fraction, -24);
    return half >> 15 ? -wide : wide;
}

/* The fewest digits that read back as the same number. */
static void print_float(Text *out, Element e, const char *at)
{
    double value = wide_of(e, at);
    int most = e == F64 ? 17 : e == F32 ? 9 : e == F16 ? 5 : 4;
    char digits[40];
    for (int n = 1; n <= most; n++) {
        snprintf(digits, sizeof digits, "%.*g", n, value);
        double back = strtod(digits, NULL);
        if (back == value || (e == F32 && (float)back == (float)value))
            break;
    }
    text_printf(out, "%s", digits);
}

static void print_int(Text *out, Element e, const char *at)
{
    int bytes = element_info[e].bytes;
    uint64_t bits = 0;
    memcpy(&bits, at, (size_t)bytes);
    int unused = 64 - element_info[e].bits;
    if (element_info[e].kind == SIGNED)
        text_printf(out, "%" PRId64, (int64_t)(bits << unused) >> unused);
    else
        text_printf(out, "%" PRIu64, bits << unused >> unused);
}

static void print_element(Text *out, Element e, const char *at)
{
    switch (element_info[e].kind) {
    case BOOLEAN: text_printf(out, *at ? "true" : "false"); return;
    case SIGNED:
    case UNSIGNED: print_int(out, e, at); return;
    case COMPLEX:
        text_printf(out, "(");
        print_float(out, element_part(e), at);
        text_printf(out, ", ");
        print_float(out, element_part(e), at + element_info[e].bytes / 2);
        text_printf(out, ")");
        return;
    case FLOAT:
        if (element_info[e].bits > 8)
            print_float(out, e, at);
        else
            text_printf(out, "0x%02X", (unsigned char)*at);
        return;
    default: text_printf(out, "token");
    }
}

static void print_from(Text *out, const Array *array, int dim, const char *at, int indent)
{
    enum { MOST = 16, ENDS = 4 }; /* longer dimensions show their ends */
    if (dim == array->type.rank) {
        print_element(out, array->type.element, at);
        return;
    }
    int64_t n = array->type.dims[dim];
    bool is_last = dim == array->type.rank - 1;
    text_printf(out, "[");
    for (int64_t i = 0; i < n; i++) {
        if (i)
            text_printf(out, is_last ? ", " : ",\n%*s", is_last ? 0 : indent + 1, "");
        if (n > MOST && i == ENDS) {
            text_printf(out, "...");
            i = n - ENDS - 1;
            continue;
        }
        print_from(out, array, dim + 1, at + i * array->strides[dim], indent + 1);
    }
    text_printf(out, "]");
}

void array_print(Text *out, const Array *array)
{
    print_from(out, array, 0, array->data, 0);
}
