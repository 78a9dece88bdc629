/* array.c - making, filling, loading and printing arrays of the host. */
#include "array.h"

#include "ops/number.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

static Error *match(const FileArray *a, Type wanted)
{
    Type found = file_array_type(a, wanted.element);
    if (!file_array_holds(a, wanted.element))
        return error_new(CODE_INVALID, "%s holds elements '%s'; the program takes %s", a->path,
                         file_array_elements(a), type_name(wanted));
    if (!shape_fits(found, wanted))
        return error_new(CODE_INVALID, "%s holds %s; the program takes %s", a->path,
                         type_name(found), type_name(wanted));
    return file_array_check(a, wanted.element);
}

Error *array_take(const ArrayFile *file, const FileArray *a, Type wanted, Array *out)
{
    TRY(match(a, wanted));
    TRY(array_new(file_array_type(a, wanted.element), out));
    Error *error = file_array_read(file, a, wanted.element, out->data);
    if (error)
        array_free(out);
    return error;
}

bool array_is_number(const char *input, Type wanted, int64_t *out)
{
    char *end;
    ElementKind kind = element_info[wanted.element].kind;
    *out = strtoll(input, &end, 10);
    return end > input && !*end && wanted.rank == 0 && (kind == SIGNED || kind == UNSIGNED);
}

/* "x.npz:w" is array w of x.npz; "x.npz" its only one. */
static Error *open_named(const char *path, ArrayFile **file, const FileArray **out)
{
    Text name = { 0 };
    const char *colon = access(path, F_OK) == 0 ? NULL : strchr(path, ':');
    text_printf(&name, "%s", path);
    for (; colon; colon = strchr(colon + 1, ':')) {
        name.at[colon - path] = 0;
        if (access(name.at, F_OK) == 0)
            break;
        name.at[colon - path] = ':';
    }
    Error *error = arrays_open(text_cstr(&name), file);
    text_free(&name);
    TRY(error);
    *out = colon ? arrays_find(*file, str_of(colon + 1)) : (*file)->n == 1 ? (*file)->at : NULL;
    if (!*out)
        error = colon ? error_new(CODE_NOT_FOUND, "%s has no array '%s'", (*file)->path, colon + 1)
                      : error_new(CODE_INVALID, "%s holds %d arrays: say which, as %s:NAME", path,
                                  (*file)->n, path);
    if (error)
        arrays_close(*file);
    return error;
}

Error *array_load(const char *path, Type wanted, Array *out)
{
    ArrayFile *file;
    const FileArray *a;
    TRY(open_named(path, &file, &a));
    Error *error = array_take(file, a, wanted, out);
    arrays_close(file);
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
    case F16:
        half = half_of(narrow);
        memcpy(at, &half, 2);
        break;
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

/* The fewest digits that read back as the same number, as %e writes them.  Of the narrow types all
 * digits are wanted: 448, though 450 would be rounded to it. */
static void shortest(Element e, double value, char *text, size_t room)
{
    enum { MOST = 17 };
    Element as = element_info[e].bits > 8 ? e : F32;
    double back;
    char bits[8];
    for (int n = 0; n < MOST; n++) {
        snprintf(text, room, "%.*e", n, value);
        number_set_float(as, strtod(text, NULL), bits);
        back = number_float(as, bits);
        if (memcmp(&back, &value, sizeof back) == 0)
            return;
    }
}

/* As Python writes it: 10.0, 0.0001, 1e-05, 1e+16. */
static void print_float(Text *out, Element e, const char *at)
{
    char text[40], whole[40];
    double value = number_float(e, at);
    if (!isfinite(value)) {
        text_printf(out, "%s", isnan(value) ? "nan" : value < 0 ? "-inf" : "inf");
        return;
    }
    shortest(e, value, text, sizeof text);
    char *exponent = strchr(text, 'e');
    int tens = atoi(exponent + 1), digits = (int)strcspn(text, "e") - (text[0] == '-') - 1;
    digits -= digits > 0; /* behind the point, in front of which is one */
    if (tens < -4 || tens >= 16) {
        text_printf(out, "%s", text);
        return;
    }
    snprintf(whole, sizeof whole, "%.*f", digits > tens ? digits - tens : 1, strtod(text, NULL));
    text_printf(out, "%s", whole);
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
    case FLOAT: print_float(out, e, at); return;
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
