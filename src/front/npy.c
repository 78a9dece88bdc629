/* npy.c - NumPy's file of one array, in and out: a line of Python, then the bytes.
 *
 *     \x93NUMPY  1 0  <length>  {'descr': '<f4', 'fortran_order': False, 'shape': (4, 2), }  \n
 *
 * bfloat16, which NumPy does not know, is stored as raw bytes, '<V2', and read back as such. */
#include "front/npy.h"

#include "front/say.h"
#include "front/value.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void write_descr(Text *out, Element e)
{
    static const char kinds[] = {
        [BOOLEAN] = 'b', [SIGNED] = 'i', [UNSIGNED] = 'u', [FLOAT] = 'f', [COMPLEX] = 'c'
    };
    const ElementInfo *info = &element_info[e];
    text_printf(out, "%c%c%d", info->bytes > 1 ? '<' : '|', e == BF16 ? 'V' : kinds[info->kind],
                info->bytes);
}

/* ---- Reading. */

typedef struct Header {
    Type type;
    int64_t dims[TT_MAX_RANK];
    bool is_fortran, is_swapped; /* first index fastest; most significant byte first */
} Header;

/* Behind 'key': in the dictionary, or NULL. */
static const char *behind(const char *text, const char *key)
{
    const char *at = strstr(text, key);
    at = at ? strchr(at + strlen(key), ':') : NULL;
    return at ? at + 1 + strspn(at + 1, " ") : NULL;
}

static bool parse_shape(const char *at, Header *h)
{
    if (!at || *at++ != '(')
        return false;
    for (;;) {
        at += strspn(at, " ,");
        if (*at == ')')
            return true;
        char *end;
        long long dim = strtoll(at, &end, 10);
        if (end == at || dim < 0 || dim > (int64_t)1 << 48 || h->type.rank == TT_MAX_RANK)
            return false;
        h->dims[h->type.rank++] = dim;
        at = end;
    }
}

static bool parse_descr(const char *at, Header *h)
{
    if (!at || (*at != '\'' && *at != '"'))
        return false;
    for (tt_dtype type = TT_BOOL; type <= TT_C128; type++) {
        Text descr = { 0 };
        write_descr(&descr, element_of(type));
        bool is = strncmp(at + 2, descr.at + 1, descr.n - 1) == 0 && at[1 + descr.n] == at[0];
        text_free(&descr);
        if (is) {
            h->type.element = element_of(type);
            h->is_swapped = at[1] == '>';
            return true;
        }
    }
    return false;
}

/* The dictionary that the file is at, as text for the caller; NULL: not such a file. */
static char *read_dictionary(FILE *file)
{
    unsigned char start[12];
    if (fread(start, 1, 10, file) != 10 || memcmp(start, "\x93NUMPY", 6) != 0)
        return NULL;
    size_t length = start[8] | (size_t)start[9] << 8;
    if (start[6] > 1) {
        if (fread(start + 10, 1, 2, file) != 2)
            return NULL;
        length |= (size_t)start[10] << 16 | (size_t)start[11] << 24;
    }
    char *text = length < 1 << 20 ? calloc(1, length + 1) : NULL;
    if (text && fread(text, 1, length, file) != length) {
        free(text);
        return NULL;
    }
    return text;
}

static Error *read_header(FILE *file, const char *path, Header *h)
{
    char *text = read_dictionary(file);
    h->type = (Type){ F32, 0, h->dims };
    const char *order = text ? behind(text, "fortran_order") : NULL;
    bool is_npy = order && parse_shape(behind(text, "shape"), h);
    bool known = is_npy && parse_descr(behind(text, "descr"), h);
    h->is_fortran = known && strncmp(order, "True", 4) == 0;
    Error *error = NULL;
    if (!is_npy)
        error = error_new(CODE_INVALID,
                          "tt_load_npy: %s is no array of at most %d axes in NumPy's "
                          ".npy format",
                          path, TT_MAX_RANK);
    else if (!known)
        error =
            error_new(CODE_INVALID, "tt_load_npy: %s holds elements %.16s that have no tt_dtype",
                      path, behind(text, "descr") ? behind(text, "descr") : "");
    free(text);
    return error;
}

static void swap_bytes(Type t, unsigned char *data)
{
    size_t bytes = (size_t)element_info[element_part(t.element)].bytes;
    for (size_t i = 0; i + bytes <= type_bytes(t); i += bytes)
        for (size_t k = 0; k < bytes / 2; k++) {
            unsigned char low = data[i + k];
            data[i + k] = data[i + bytes - 1 - k];
            data[i + bytes - 1 - k] = low;
        }
}

/* From first index fastest to last index fastest. */
static void turn(Type t, const unsigned char *from, unsigned char *to)
{
    size_t bytes = (size_t)element_info[t.element].bytes;
    int64_t n = type_count(t);
    for (int64_t i = 0; i < n; i++) {
        int64_t rest = i, at = 0, stride = n;
        for (int d = t.rank - 1; d >= 0; d--) {
            stride /= t.dims[d];
            at += rest % t.dims[d] * stride;
            rest /= t.dims[d];
        }
        memcpy(to + (size_t)i * bytes, from + (size_t)at * bytes, bytes);
    }
}

static Error *read_data(FILE *file, const char *path, const Header *h, void *data)
{
    size_t bytes = type_bytes(h->type);
    if (fread(data, 1, bytes, file) != bytes)
        return error_new(CODE_INVALID, "tt_load_npy: %s ends early: %s has %zu bytes of data", path,
                         type_words(h->type), bytes);
    if (h->is_swapped)
        swap_bytes(h->type, data);
    if (h->is_fortran && h->type.rank > 1 && bytes) {
        unsigned char *copy = malloc(bytes);
        if (!copy)
            return error_new(CODE_EXHAUSTED, "no memory on the host for %s", type_words(h->type));
        memcpy(copy, data, bytes);
        turn(h->type, copy, data);
        free(copy);
    }
    return NULL;
}

Array *npy_read(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        say_broken("tt_load_npy: %s cannot be read: %s", path, strerror(errno));
        return NULL;
    }
    Header h = { .is_fortran = false };
    Error *error = read_header(file, path, &h);
    void *data = NULL;
    if (!error && !(data = malloc(type_bytes(h.type) + 1)))
        error = error_new(CODE_EXHAUSTED, "no memory on the host for %s", type_words(h.type));
    if (!error)
        error = read_data(file, path, &h, data);
    fclose(file);
    Array *a = error ? NULL : array_from_host(h.type, data, layout_single(0));
    free(data);
    if (error)
        say_error(error);
    return a;
}

/* ---- Writing. */

/* The data begin at a multiple of 64. */
static Text header_of(Type t)
{
    Text header = { 0 };
    text_printf(&header, "{'descr': '");
    write_descr(&header, t.element);
    text_printf(&header, "', 'fortran_order': False, 'shape': (");
    for (int i = 0; i < t.rank; i++)
        text_printf(&header, i ? " %" PRId64 "," : "%" PRId64 ",", t.dims[i]);
    if (t.rank > 1)
        header.n--; /* Python writes (4, 2) and (4,) */
    text_printf(&header, "), }");
    while ((10 + header.n + 1) % 64)
        text_printf(&header, " ");
    text_printf(&header, "\n");
    return header;
}

bool npy_write(const char *path, Array *a)
{
    size_t bytes = type_bytes(a->type);
    void *data = malloc(bytes + 1);
    if (!data)
        say_broken("no memory on the host for %s", type_words(a->type));
    if (!data || !array_read(a, data)) {
        free(data);
        return false;
    }
    Text header = header_of(a->type);
    unsigned char start[10] = {
        0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (unsigned char)header.n, (unsigned char)(header.n >> 8)
    };
    FILE *file = fopen(path, "wb");
    bool written = file && fwrite(start, 1, 10, file) == 10 &&
                   fwrite(header.at, 1, header.n, file) == header.n &&
                   fwrite(data, 1, bytes, file) == bytes;
    if (file && fclose(file) != 0)
        written = false;
    if (!written)
        say_broken("tt_save_npy: %s cannot be written: %s", path, strerror(errno));
    text_free(&header);
    free(data);
    return written;
}
