/* safetensors.c - the arrays of a model in one file.
 *
 *     u64 N   N bytes of JSON   data
 *
 *     {"w": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, "__metadata__": {"k": "v"}}
 *
 * Offsets count from the end of the JSON.  The arrays cover the data without holes or overlaps. */
#include "base/grow.h"
#include "files/arrays.h"
#include "files/aside.h"
#include "files/crc32.h"
#include "files/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_HEADER = 100000000, CRC_DIGITS = 8, ALIGNMENT = 64 };

static const struct ElementWord {
    const char *word;
    Element element;
} words[] = { { "BOOL", I1 },
              { "U8", U8 },
              { "I8", I8 },
              { "U16", U16 },
              { "I16", I16 },
              { "F16", F16 },
              { "BF16", BF16 },
              { "U32", U32 },
              { "I32", I32 },
              { "F32", F32 },
              { "C64", C64 },
              { "U64", U64 },
              { "I64", I64 },
              { "F64", F64 },
              { "F8_E4M3", F8E4M3FN },
              { "F8_E5M2", F8E5M2 },
              { "F8_E8M0", F8E8M0FNU },
              { "F8_E4M3FNUZ", F8E4M3FNUZ },
              { "F8_E5M2FNUZ", F8E5M2FNUZ } };
enum { NWORDS = sizeof words / sizeof *words };

/* ---- reading ---- */

/* Where an array says it lies. */
typedef struct Span {
    int64_t begin, end;
    int array;
} Span;

typedef struct Header {
    ArrayFile *file;
    Json json;
    Str data;
    Span *spans;
    int nspans, room;
} Header;

static Error *read_element(Header *h, const FileArray *a, Element *out)
{
    Str word;
    TRY(json_string(&h->json, &word));
    for (int i = 0; i < NWORDS; i++)
        if (str_is(word, words[i].word))
            return *out = words[i].element, NULL;
    return error_new(CODE_INVALID, "%s: elements '%.*s' are not known here", a->path,
                     STR_ARG(word));
}

static Error *read_shape(Header *h, const FileArray *a, int64_t *dims, int *rank)
{
    bool more;
    *rank = 0;
    TRY(json_expect(&h->json, '['));
    for (;;) {
        int n = *rank;
        TRY(json_next(&h->json, ']', &n, &more));
        if (!more)
            return NULL;
        if (*rank == MAX_RANK)
            return error_new(CODE_INVALID, "%s has more than %d dimensions", a->path, MAX_RANK);
        TRY(json_integer(&h->json, &dims[(*rank)++]));
    }
}

static Error *read_offsets(Header *h, Span *span)
{
    TRY(json_expect(&h->json, '['));
    TRY(json_integer(&h->json, &span->begin));
    TRY(json_expect(&h->json, ','));
    TRY(json_integer(&h->json, &span->end));
    return json_expect(&h->json, ']');
}

static Error *place_array(Header *h, FileArray *a, Span span)
{
    if (!type_is_possible(a->type))
        return error_new(CODE_INVALID, "%s says that it holds %s: no memory is as large", a->path,
                         type_name(a->type));
    if (span.begin > span.end || (uint64_t)span.end > h->data.n)
        return error_new(CODE_INVALID,
                         "%s lies from byte %" PRId64 " to %" PRId64 " of %zu bytes of data",
                         a->path, span.begin, span.end, h->data.n);
    if ((uint64_t)(span.end - span.begin) != type_bytes(a->type))
        return error_new(CODE_INVALID, "%s is %s, %zu bytes, but has %" PRId64, a->path,
                         type_name(a->type), type_bytes(a->type), span.end - span.begin);
    a->bytes = (Str){ h->data.at + span.begin, (size_t)(span.end - span.begin) };
    a->size = a->bytes.n;
    ROOM(h->file->arena, h->spans, h->nspans, &h->room);
    h->spans[h->nspans++] = span;
    return NULL;
}

static Error *read_array(Header *h, Str name)
{
    FileArray *a;
    int64_t dims[MAX_RANK];
    int rank = 0, members = 0, known = 0;
    Element e = F32;
    Span span = { 0, 0, h->file->n };
    bool more;
    TRY(arrays_add(h->file, name, &a));
    TRY(json_expect(&h->json, '{'));
    for (;;) {
        Str key;
        TRY(json_next(&h->json, '}', &members, &more));
        if (!more)
            break;
        TRY(json_key(&h->json, &key));
        int field = str_is(key, "dtype") ? 1 : str_is(key, "shape") ? 2 : 4;
        if (field == 4 && !str_is(key, "data_offsets"))
            return error_new(CODE_INVALID, "%s has a field '%.*s'", a->path, STR_ARG(key));
        if (known & field)
            return error_new(CODE_INVALID, "%s has two fields '%.*s'", a->path, STR_ARG(key));
        known |= field;
        TRY(field == 1   ? read_element(h, a, &e)
            : field == 2 ? read_shape(h, a, dims, &rank)
                         : read_offsets(h, &span));
    }
    if (known != 7)
        return error_new(CODE_INVALID, "%s must have dtype, shape and data_offsets", a->path);
    a->type = type_new(h->file->arena, e, rank, dims);
    return place_array(h, a, span);
}

static Error *read_notes(Header *h)
{
    ArrayFile *f = h->file;
    bool more;
    int n = 0;
    TRY(json_expect(&h->json, '{'));
    for (;;) {
        TRY(json_next(&h->json, '}', &n, &more));
        if (!more)
            return NULL;
        ROOM(f->arena, f->notes, f->nnotes, &f->notes_room);
        FileNote *note = &f->notes[f->nnotes];
        TRY(json_key(&h->json, &note->key));
        json_peek(&h->json);
        note->at = 8 + h->json.at + 1;
        TRY(json_string(&h->json, &note->value));
        f->nnotes++;
    }
}

static int by_begin(const void *a, const void *b)
{
    const Span *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return (x->end > y->end) - (x->end < y->end);
}

static Error *check_cover(Header *h)
{
    int64_t at = 0;
    if (h->nspans)
        qsort(h->spans, (size_t)h->nspans, sizeof *h->spans, by_begin);
    for (int i = 0; i < h->nspans; at = h->spans[i++].end)
        if (h->spans[i].begin != at)
            return error_new(CODE_INVALID,
                             "%s begins at byte %" PRId64 " of the data, not at %" PRId64
                             ", where the one before it ends",
                             h->file->at[h->spans[i].array].path, h->spans[i].begin, at);
    return (uint64_t)at == h->data.n
               ? NULL
               : error_new(CODE_INVALID, "%s has %zu bytes of data, and its arrays take %" PRId64,
                           h->file->path, h->data.n, at);
}

static Error *read_header(Header *h)
{
    bool more;
    int n = 0;
    TRY(json_expect(&h->json, '{'));
    for (;;) {
        Str name;
        TRY(json_next(&h->json, '}', &n, &more));
        if (!more)
            break;
        TRY(json_key(&h->json, &name));
        TRY(str_is(name, "__metadata__") ? read_notes(h) : read_array(h, name));
    }
    if (json_peek(&h->json))
        return json_wrong(&h->json, "more behind the last brace");
    return check_cover(h);
}

Error *safetensors_read(ArrayFile *f)
{
    uint64_t n = 0;
    for (size_t i = 0; i < 8 && i < f->bytes.n; i++)
        n |= (uint64_t)(unsigned char)f->bytes.at[i] << (8 * i);
    if (f->bytes.n < 9 || n < 2 || n > LONGEST_HEADER || f->bytes.at[8] != '{')
        return error_new(CODE_INVALID, "%s is not a file of arrays: safetensors, .npz or .npy",
                         f->path);
    if (n > f->bytes.n - 8)
        return error_new(CODE_INVALID,
                         "%s ends early: its header has %" PRIu64 " bytes, and the file %zu",
                         f->path, n, f->bytes.n);
    Header h = { .file = f,
                 .json = { { f->bytes.at + 8, (size_t)n }, 0, f->path, f->arena },
                 .data = { f->bytes.at + 8 + n, f->bytes.n - 8 - (size_t)n } };
    return read_header(&h);
}

/* ---- the checksum ---- */

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t greatest(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* The digit '0' stands where its own digits are. */
Error *safetensors_share(const ArrayFile *f, int part, int nparts, uint32_t *out)
{
    const FileNote *note = arrays_note(f, "crc32");
    size_t size = f->bytes.n, each = size / (size_t)nparts + 1;
    size_t begin = least(each * (size_t)part, size), end = least(begin + each, size);
    *out = 0;
    if (!note || note->value.n != CRC_DIGITS)
        return NULL;
    TRY(mapped_check(&f->mapped));
    size_t digits = least(greatest(note->at, begin), end);
    size_t rest = least(greatest(note->at + CRC_DIGITS, begin), end);
    CrcShare share = { 0 };
    crc32_share_add(&share, begin, f->bytes.at + begin, digits - begin);
    crc32_share_add(&share, digits, "00000000", rest - digits);
    crc32_share_add(&share, rest, f->bytes.at + rest, end - rest);
    *out = crc32_share_end(&share, size);
    return NULL;
}

Error *safetensors_compare(const ArrayFile *f, uint32_t shares)
{
    const FileNote *note = arrays_note(f, "crc32");
    char wanted[CRC_DIGITS + 1];
    if (!note)
        return NULL;
    snprintf(wanted, sizeof wanted, "%08" PRIx32, crc32_of_shares(shares, f->bytes.n));
    return str_is(note->value, wanted)
               ? NULL
               : error_new(CODE_INVALID,
                           "%s is damaged: its checksum is %.*s, and that of its bytes %s", f->path,
                           STR_ARG(note->value), wanted);
}

Error *safetensors_check(const ArrayFile *f)
{
    uint32_t all;
    TRY(safetensors_share(f, 0, 1, &all));
    return safetensors_compare(f, all);
}

/* ---- writing ---- */

static Error *word_of(const NamedType *a, const char **out)
{
    for (int i = 0; i < NWORDS; i++)
        if (words[i].element == a->type.element)
            return *out = words[i].word, NULL;
    return error_new(CODE_UNIMPLEMENTED, "safetensors has no elements %s, as %s has them",
                     element_info[a->type.element].name, a->name);
}

/* Wide elements first: every array is aligned to its own. */
static void order_arrays(int n, const NamedType *arrays, int *order)
{
    int at = 0;
    for (int bytes = 16; bytes >= 1; bytes /= 2)
        for (int i = 0; i < n; i++)
            if (element_info[arrays[i].type.element].bytes == bytes)
                order[at++] = i;
}

/* at: from the end of the header. */
static Error *describe_array(const NamedType *a, size_t at, Text *header)
{
    const char *word = "";
    TRY(word_of(a, &word));
    text_printf(header, ",");
    json_write_string(header, str_of(a->name));
    text_printf(header, ":{\"dtype\":\"%s\",\"shape\":[", word);
    for (int i = 0; i < a->type.rank; i++)
        text_printf(header, i ? ",%" PRId64 : "%" PRId64, a->type.dims[i]);
    text_printf(header, "],\"data_offsets\":[%zu,%zu]}", at, at + type_bytes(a->type));
    return NULL;
}

static Error *make_header(int n, const NamedType *arrays, int64_t step, SafetensorsPlan *plan)
{
    Text *header = &plan->header;
    size_t at = 0;
    text_printf(header, "........{\"__metadata__\":{\"crc32\":\"");
    plan->crc_at = header->n;
    text_printf(header, "00000000\"");
    if (step != NO_STEP)
        text_printf(header, ",\"step\":\"%" PRId64 "\"", step);
    text_printf(header, "}");
    for (int k = 0; k < n; k++) {
        const NamedType *a = &arrays[plan->order[k]];
        TRY(describe_array(a, at, header));
        plan->at[plan->order[k]] = at;
        at += type_bytes(a->type);
    }
    text_printf(header, "}");
    while (header->n % ALIGNMENT)
        text_add(header, " ", 1);
    for (int i = 0; i < 8; i++)
        header->at[i] = (char)((uint64_t)(header->n - 8) >> (8 * i));
    for (int i = 0; i < n; i++)
        plan->at[i] += header->n;
    plan->size = header->n + at;
    return NULL;
}

Error *safetensors_plan(int n, const NamedType *arrays, int64_t step, SafetensorsPlan *out)
{
    *out = (SafetensorsPlan){ 0 };
    out->order = HEAP_ARRAY(int, n, "the order of arrays");
    out->at = HEAP_ARRAY(size_t, n, "places of arrays");
    order_arrays(n, arrays, out->order);
    Error *error = make_header(n, arrays, step, out);
    if (error)
        safetensors_plan_free(out);
    return error;
}

void safetensors_plan_free(SafetensorsPlan *plan)
{
    text_free(&plan->header);
    heap_free(plan->at);
    heap_free(plan->order);
}

Error *safetensors_seal(const SafetensorsPlan *plan, Aside *aside, uint32_t crc)
{
    char digits[CRC_DIGITS + 1];
    snprintf(digits, sizeof digits, "%08" PRIx32, crc);
    return aside_write_at(aside, plan->crc_at, digits, CRC_DIGITS);
}

typedef struct Writing {
    Aside aside;
    const SafetensorsPlan *plan;
    int n;
    const NamedType *arrays;
    uint32_t crc;
} Writing;

static Error *write_part(Writing *w, const void *bytes, size_t n)
{
    w->crc = crc32_of(w->crc, bytes, n);
    return aside_write(&w->aside, bytes, n);
}

static Error *write_parts(Writing *w, void *data, ArrayGet *get, void *user)
{
    TRY(write_part(w, w->plan->header.at, w->plan->header.n));
    for (int k = 0; k < w->n; k++) {
        int i = w->plan->order[k];
        TRY(get(user, i, data));
        TRY(write_part(w, data, type_bytes(w->arrays[i].type)));
    }
    return safetensors_seal(w->plan, &w->aside, w->crc);
}

Error *safetensors_write(const char *path, int n, const NamedType *arrays, int64_t step,
                         ArrayGet *get, void *user)
{
    SafetensorsPlan plan;
    size_t most = 0;
    TRY(safetensors_plan(n, arrays, step, &plan));
    for (int i = 0; i < n; i++)
        most = greatest(most, type_bytes(arrays[i].type));
    Writing w = { .plan = &plan, .n = n, .arrays = arrays };
    void *data = heap_new(most + 1, "an array to write");
    Error *error = aside_open(path, &w.aside);
    if (!error)
        error = aside_finish(&w.aside, write_parts(&w, data, get, user));
    heap_free(data);
    safetensors_plan_free(&plan);
    return error;
}
