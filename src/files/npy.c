/* npy.c - NumPy's file of one array: a line of Python, then the bytes.
 *
 *     \x93NUMPY  1 0  <length>  {'descr': '<f4', 'fortran_order': False, 'shape': (4, 2), }  \n
 *
 * Types NumPy does not know (bfloat16 and narrower) it stores as raw bytes, '<V2' or '|V1'. */
#include "files/npy.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DESCR_ROOM = 24 };

/* What NumPy calls a type when it writes one. */
static void write_descr(char *out, Element e)
{
    const ElementInfo *info = &element_info[e];
    char kind = 'V';
    switch (info->kind) {
    case BOOLEAN: kind = 'b'; break;
    case SIGNED: kind = info->bits < 8 ? 'V' : 'i'; break;
    case UNSIGNED: kind = info->bits < 8 ? 'V' : 'u'; break;
    case COMPLEX: kind = 'c'; break;
    case FLOAT: kind = e == F16 || e == F32 || e == F64 ? 'f' : 'V'; break;
    default: break;
    }
    snprintf(out, DESCR_ROOM, "%c%c%d", info->bytes > 1 ? '<' : '|', kind, info->bytes);
}

/* ---- Reading. */

/* Behind 'key': in the dictionary, or NULL. */
static const char *behind(const char *text, const char *key)
{
    size_t n = strlen(key);
    for (const char *at = text; (at = strstr(at, key)); at += n) {
        char quote = at > text ? at[-1] : 0;
        const char *colon = at + n + 1;
        if ((quote != '\'' && quote != '"') || at[n] != quote)
            continue;
        colon += strspn(colon, " ");
        if (*colon == ':')
            return colon + 1 + strspn(colon + 1, " ");
    }
    return NULL;
}

static bool parse_shape(const char *at, Npy *npy)
{
    if (!at || *at++ != '(')
        return false;
    for (;;) {
        at += strspn(at, " ,");
        if (*at == ')')
            return true;
        char *end;
        errno = 0;
        long long dim = strtoll(at, &end, 10);
        if (end == at || dim < 0 || errno || npy->rank == MAX_RANK)
            return false;
        npy->dims[npy->rank++] = dim;
        at = end;
    }
}

static bool parse_order(const char *at, Npy *npy)
{
    npy->is_fortran = at && strncmp(at, "True", 4) == 0;
    return npy->is_fortran || (at && strncmp(at, "False", 5) == 0);
}

/* A string; a structure's list is kept for the message. */
static bool parse_descr(const char *at, Npy *npy)
{
    if (!at || !*at)
        return false;
    bool is_string = *at == '\'' || *at == '"';
    const char *end = is_string ? strchr(at + 1, *at) : at + strlen(at);
    if (!end)
        return false;
    at += is_string;
    snprintf(npy->descr, sizeof npy->descr, "%.*s", (int)(end - at), at);
    return true;
}

/* The dictionary, NUL-terminated, for the caller; NULL: not such a file, or there is no memory. */
static char *copy_dictionary(Str file, bool *has_memory, size_t *end)
{
    enum { MOST = 1 << 20 };
    const unsigned char *start = (const unsigned char *)file.at;
    if (file.n < 12 || memcmp(start, "\x93NUMPY", 6) != 0)
        return NULL;
    size_t from = start[6] > 1 ? 12 : 10, length = start[8] | (size_t)start[9] << 8;
    if (start[6] > 1)
        length |= (size_t)start[10] << 16 | (size_t)start[11] << 24;
    if (length >= MOST || length > file.n - from)
        return NULL;
    char *text = calloc(1, length + 1);
    *has_memory = text;
    if (text)
        memcpy(text, file.at + from, length);
    *end = from + length;
    return text;
}

Error *npy_parse(Str file, const char *path, Npy *out)
{
    *out = (Npy){ .path = path };
    bool has_memory = true;
    char *text = copy_dictionary(file, &has_memory, &out->data);
    bool is_npy = text && parse_descr(behind(text, "descr"), out) &&
                  parse_order(behind(text, "fortran_order"), out) &&
                  parse_shape(behind(text, "shape"), out);
    free(text);
    if (is_npy)
        return NULL;
    if (!has_memory)
        return error_new(CODE_EXHAUSTED, "%s cannot be read: no memory for its header", path);
    return error_new(CODE_INVALID, "%s is not an array in NumPy's .npy format", path);
}

/* The kind and size must agree; the byte order may be any. */
bool npy_holds(const Npy *npy, Element e)
{
    char wanted[DESCR_ROOM];
    write_descr(wanted, e);
    return *npy->descr && strchr("<>|=", *npy->descr) && strcmp(npy->descr + 1, wanted + 1) == 0;
}

Type npy_type(const Npy *npy, Element e)
{
    return (Type){ e, npy->rank, npy->dims };
}

Error *npy_check(const Npy *npy, Element e)
{
    Type type = npy_type(npy, e);
    return type_is_possible(type)
               ? NULL
               : error_new(CODE_INVALID, "%s says that it holds %s: no memory is as large",
                           npy->path, type_name(type));
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

/* From column-major order (first index fastest) to row-major order. */
static void to_row_major(Type t, const unsigned char *from, unsigned char *to)
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

static Error *to_row_major_in_place(Type t, void *data)
{
    size_t bytes = type_bytes(t);
    unsigned char *copy = malloc(bytes + 1);
    if (!copy)
        return error_new(CODE_EXHAUSTED, "no memory on the host for %s", type_name(t));
    memcpy(copy, data, bytes);
    to_row_major(t, copy, data);
    free(copy);
    return NULL;
}

Error *npy_read(const Npy *npy, Element e, Str file, void *data)
{
    Type t = npy_type(npy, e);
    size_t bytes = type_bytes(t), has = file.n - npy->data;
    if (has < bytes)
        return error_new(CODE_INVALID, "%s ends early: it has %zu bytes of data for %s", npy->path,
                         has, type_name(t));
    memcpy(data, file.at + npy->data, bytes);
    if (*npy->descr == '>')
        swap_bytes(t, data);
    return npy->is_fortran ? to_row_major_in_place(t, data) : NULL;
}

/* ---- Writing. */

/* The data begin at a multiple of 64. */
void npy_header(Text *out, Type t)
{
    Text header = { 0 };
    char descr[DESCR_ROOM];
    write_descr(descr, t.element);
    text_printf(&header, "{'descr': '%s', 'fortran_order': False, 'shape': (", descr);
    for (int i = 0; i < t.rank; i++)
        text_printf(&header, i ? " %" PRId64 "," : "%" PRId64 ",", t.dims[i]);
    if (t.rank > 1)
        header.n--; /* Python writes (4, 2) and (4,) */
    text_printf(&header, "), }");
    while ((10 + header.n + 1) % 64)
        text_printf(&header, " ");
    text_printf(&header, "\n");
    unsigned char start[10] = { 0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0 };
    start[8] = (unsigned char)header.n;
    start[9] = (unsigned char)(header.n >> 8);
    text_add(out, start, sizeof start);
    text_add(out, header.at, header.n);
    text_free(&header);
}

Error *npy_write(const char *path, Type type, const void *data)
{
    Text header = { 0 };
    npy_header(&header, type);
    size_t bytes = type_bytes(type);
    FILE *file = fopen(path, "wb");
    bool written = file && fwrite(header.at, 1, header.n, file) == header.n &&
                   fwrite(data, 1, bytes, file) == bytes;
    if (file && fclose(file) != 0)
        written = false;
    text_free(&header);
    return written ? NULL
                   : error_new(CODE_INVALID, "%s cannot be written: %s", path, strerror(errno));
}
