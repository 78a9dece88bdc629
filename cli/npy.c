/* npy.c - NumPy's file of one array: a line of Python, then the bytes.
 *
 *     \x93NUMPY  1 0  <length>  {'descr': '<f4', 'fortran_order': False, 'shape': (4, 2), }  \n
 *
 * Types NumPy does not know (bfloat16 and narrower) it stores as raw bytes, '<V2' or '|V1'. */
#include "array.h"
#include "command.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What NumPy calls a type when it writes one. */
static void write_descr(Text *out, Element e)
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
    text_printf(out, "%c%c%d", info->bytes > 1 ? '<' : '|', kind, info->bytes);
}

/* May this descr hold that type?  The kind and size must agree; byte order '<', '|' or '='. */
static bool descr_fits(Str descr, Element e)
{
    Text wanted = { 0 };
    write_descr(&wanted, e);
    bool fits = descr.n == wanted.n && descr.at[0] != '>' &&
                memcmp(descr.at + 1, wanted.at + 1, wanted.n - 1) == 0;
    text_free(&wanted);
    return fits;
}

typedef struct Header {
    Str descr;
    bool is_fortran;
    int rank;
    int64_t dims[MAX_RANK];
    const char *data;
    size_t data_bytes;
} Header;

/* Behind 'key': in the dictionary, or NULL. */
static const char *behind(const char *text, const char *key)
{
    char quoted[32];
    snprintf(quoted, sizeof quoted, "'%s':", key);
    const char *at = strstr(text, quoted);
    if (!at)
        return NULL;
    at += strlen(quoted);
    return at + strspn(at, " ");
}

static bool parse_shape(const char *at, Header *h)
{
    if (!at || *at++ != '(')
        return false;
    for (h->rank = 0;;) {
        at += strspn(at, " ,");
        if (*at == ')')
            return true;
        char *end;
        long long dim = strtoll(at, &end, 10);
        if (end == at || dim < 0 || h->rank == MAX_RANK)
            return false;
        h->dims[h->rank++] = dim;
        at = end;
    }
}

/* text is the dictionary, NUL-terminated. */
static bool parse_dictionary(const char *text, Header *h)
{
    const char *descr = behind(text, "descr"), *order = behind(text, "fortran_order");
    if (!descr || *descr != '\'' || !order || !parse_shape(behind(text, "shape"), h))
        return false;
    const char *end = strchr(++descr, '\'');
    if (!end)
        return false;
    h->descr = (Str){ descr, (size_t)(end - descr) };
    h->is_fortran = strncmp(order, "True", 4) == 0;
    return true;
}

/* Cuts the file into dictionary and data; writes a NUL behind the dictionary. */
static bool parse_header(Text *file, Header *h)
{
    const unsigned char *at = (const unsigned char *)file->at;
    if (file->n < 12 || memcmp(at, "\x93NUMPY", 6) != 0)
        return false;
    size_t start = at[6] == 1 ? 10 : 12;
    size_t length = at[8] | (size_t)at[9] << 8;
    if (at[6] > 1)
        length |= (size_t)at[10] << 16 | (size_t)at[11] << 24;
    if (length < 1 || length > file->n - start)
        return false;
    file->at[start + length - 1] = 0;
    h->data = file->at + start + length;
    h->data_bytes = file->n - start - length;
    return parse_dictionary(file->at + start, h);
}

static Error *match(const char *path, const Header *h, Type wanted)
{
    Type found = { wanted.element, h->rank, h->dims };
    if (!descr_fits(h->descr, wanted.element))
        return error_new(CODE_INVALID, "%s holds elements '%.*s'; the program takes %s", path,
                         STR_ARG(h->descr), type_name(wanted));
    if (!shape_fits(found, wanted))
        return error_new(CODE_INVALID, "%s holds %s; the program takes %s", path,
                         type_name(found), type_name(wanted));
    if (!type_is_possible(found) || h->data_bytes < type_bytes(found))
        return error_new(CODE_INVALID, "%s ends early: it has %zu bytes of data for %s", path,
                         h->data_bytes, type_name(found));
    return NULL;
}

Error *array_load(const char *path, Type wanted, Array *out)
{
    Text file;
    Header h = { 0 };
    TRY(file_read(path, &file));
    Error *error = parse_header(&file, &h)
                       ? match(path, &h, wanted)
                       : error_new(CODE_INVALID, "%s is not an array in NumPy's .npy format", path);
    Type found = { wanted.element, h.rank, h.dims };
    if (!error)
        error = array_new(found, out);
    if (!error) {
        memcpy(out->data, h.data, type_bytes(found));
        int64_t stride = element_info[found.element].bytes;
        for (int i = 0; h.is_fortran && i < found.rank; i++) {
            out->strides[i] = stride;
            stride *= found.dims[i];
        }
    }
    text_free(&file);
    return error;
}

/* The array is row-major, as results are. */
Error *array_save(const char *path, const Array *array)
{
    Text header = { 0 };
    text_printf(&header, "{'descr': '");
    write_descr(&header, array->type.element);
    text_printf(&header, "', 'fortran_order': False, 'shape': (");
    for (int i = 0; i < array->type.rank; i++)
        text_printf(&header, "%" PRId64 ",", array->type.dims[i]);
    text_printf(&header, "), }");
    while ((10 + header.n + 1) % 64) /* the data begin at a multiple of 64 */
        text_printf(&header, " ");
    text_printf(&header, "\n");
    FILE *file = fopen(path, "wb");
    Error *error = NULL;
    size_t bytes = type_bytes(array->type);
    unsigned char start[10] = { 0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (unsigned char)header.n,
                                (unsigned char)(header.n >> 8) };
    if (!file || fwrite(start, 1, 10, file) != 10 ||
        fwrite(header.at, 1, header.n, file) != header.n ||
        fwrite(array->data, 1, bytes, file) != bytes)
        error = error_new(CODE_INVALID, "%s cannot be written: %s", path, strerror(errno));
    if (file && fclose(file) != 0 && !error)
        error = error_new(CODE_INVALID, "%s cannot be written: %s", path, strerror(errno));
    text_free(&header);
    return error;
}
