/* vhlo_attrs.c - attributes as VHLO and the builtin dialect encode them, to the tree of Attr.
 *
 * An entry is a code and its fields; fields that are attributes are numbers of other entries,
 * so the file holds a graph.  Each entry is decoded once; what is shared stays shared, and the
 * size of the tree that a reader of it would see is kept small enough to walk. */
#include "hlo/read/vhlo.h"
#include "ops/number.h"

#include <string.h>

enum { MAX_NESTING = 32, MAX_WEIGHT = 1 << 20, MAX_KEYS = 1 << 10 };

/* An attribute being made. */
typedef struct Made {
    Attr attr;
    bool is_kept;    /* false: known, and nothing of it is wanted */
    uint64_t weight; /* of what it contains */
} Made;

Error *vhlo_deeper(Vhlo *v, const Cursor *c)
{
    if (v->depth >= MAX_NESTING)
        return cursor_error(c, "at most %d attributes or types in one another", MAX_NESTING);
    v->depth++;
    return NULL;
}

Error *take_attr_index(Vhlo *v, Cursor *c, uint32_t *out)
{
    return take_index(c, "an attribute", v->b->nattrs, out);
}

Error *take_string(Vhlo *v, Cursor *c, Str *out)
{
    uint32_t index;
    TRY(take_index(c, "a string", v->b->nstrings, &index));
    *out = v->b->strings[index];
    return NULL;
}

Error *take_ints(Vhlo *v, Cursor *c, const char *what, Ints *out)
{
    int n;
    TRY(take_count(c, what, &n));
    int64_t *at = ARENA_ARRAY(v->arena, int64_t, n);
    for (int i = 0; i < n; i++)
        TRY(take_signed(c, &at[i]));
    *out = (Ints){ n, at };
    return NULL;
}

Error *take_optional(Vhlo *v, Cursor *c, bool *is_there, uint32_t *out)
{
    uint64_t index;
    Cursor before = *c;
    TRY(take_flagged(c, &index, is_there));
    if (*is_there && index >= v->b->nattrs)
        return cursor_error(&before, "the number of an attribute below %u", v->b->nattrs);
    *out = (uint32_t)index;
    return NULL;
}

Error *vhlo_entry(Vhlo *v, uint32_t index, const char *dialect, int code, const char *what,
                  Cursor *out)
{
    const EntryCode *entry = &v->b->attrs[index];
    uint64_t found;
    *out = entry->bytes;
    if (entry->is_text || !str_is(entry->dialect, dialect))
        return cursor_error(out, "%s (%s attribute %d)", what, dialect, code);
    TRY(take_varint(out, &found));
    if (found != (uint64_t)code)
        return cursor_error(out, "%s (%s attribute %d), got %llu", what, dialect, code,
                            (unsigned long long)found);
    return NULL;
}

Error *vhlo_string(Vhlo *v, uint32_t index, Str *out)
{
    const Attr *attr;
    TRY(vhlo_attr(v, index, &attr));
    if (!attr || attr->kind != ATTR_STRING)
        return cursor_error(&v->b->attrs[index].bytes, "a string");
    *out = attr->string;
    return NULL;
}

static Error *take_child(Vhlo *v, Cursor *c, Made *parent, const Attr **out)
{
    uint32_t index;
    TRY(take_attr_index(v, c, &index));
    TRY(vhlo_attr(v, index, out));
    parent->weight += v->attrs[index].weight;
    if (parent->weight > MAX_WEIGHT)
        return cursor_error(c, "a tree of at most %d attributes", MAX_WEIGHT);
    return NULL;
}

/* A list with an item that says nothing to us says nothing as a whole. */
static Error *take_array(Vhlo *v, Cursor *c, Made *out)
{
    int n;
    TRY(take_count(c, "attributes", &n));
    const Attr **items = ARENA_ARRAY(v->arena, const Attr *, n);
    for (int i = 0; i < n; i++) {
        TRY(take_child(v, c, out, &items[i]));
        out->is_kept = out->is_kept && items[i];
    }
    out->attr.kind = ATTR_ARRAY;
    out->attr.n = n;
    out->attr.items = items;
    return NULL;
}

static Error *take_dict(Vhlo *v, Cursor *c, Made *out)
{
    int n, kept = 0;
    TRY(take_count(c, "named attributes", &n));
    if (n > MAX_KEYS)
        return cursor_error(c, "at most %d named attributes, got %d", MAX_KEYS, n);
    const Attr **items = ARENA_ARRAY(v->arena, const Attr *, n);
    Str *keys = ARENA_ARRAY(v->arena, Str, n);
    for (int i = 0; i < n; i++) {
        uint32_t key;
        TRY(take_attr_index(v, c, &key));
        TRY(vhlo_string(v, key, &keys[kept]));
        TRY(take_child(v, c, out, &items[kept]));
        kept += items[kept] != NULL;
    }
    out->attr.kind = ATTR_DICT;
    out->attr.n = kept;
    out->attr.items = items;
    out->attr.keys = keys;
    return NULL;
}

static Error *take_text(Vhlo *v, Cursor *c, Made *out)
{
    out->attr.kind = ATTR_STRING;
    return take_string(v, c, &out->attr.string);
}

/* The type of a number, then its bits: a byte when they fit one, else a signed varint. */
static Error *take_number(Vhlo *v, Cursor *c, Element *element, int64_t *bits)
{
    uint32_t index;
    FileType type;
    Cursor before = *c;
    TRY(take_index(c, "a type", v->b->ntypes, &index));
    TRY(vhlo_type(v, index, &type));
    if (type.kind != TYPE_SCALAR || element_info[type.type.element].bits > 64 ||
        element_info[type.type.element].kind == COMPLEX)
        return cursor_error(&before, "the type of a number of at most 64 bits");
    *element = type.type.element;
    if (element_info[*element].bits <= 8) {
        uint8_t byte;
        TRY(take_byte(c, &byte));
        *bits = byte;
        return NULL;
    }
    return take_signed(c, bits);
}

static Error *take_integer(Vhlo *v, Cursor *c, Made *out)
{
    Element e;
    int64_t bits, bytes[2] = { 0 };
    TRY(take_number(v, c, &e, &bits));
    number_set_int(e, bits, bytes); /* cuts to the width; reading extends again */
    out->attr.kind = e == I1 ? ATTR_BOOL : ATTR_INT;
    out->attr.element = e;
    out->attr.integer = e == I1 ? bits != 0 : number_int(e, bytes);
    return NULL;
}

static Error *take_float(Vhlo *v, Cursor *c, Made *out)
{
    Element e;
    int64_t bits;
    TRY(take_number(v, c, &e, &bits));
    out->attr.kind = ATTR_FLOAT;
    out->attr.element = e;
    out->attr.number = number_float(e, &bits);
    return NULL;
}

/* A type that arrays cannot have here may still be named, by hints that are never read. */
static Error *take_type(Vhlo *v, Cursor *c, Made *out)
{
    uint32_t index;
    FileType type;
    TRY(take_index(c, "a type", v->b->ntypes, &index));
    Error *error = vhlo_type(v, index, &type);
    if (error && error_code(error) != CODE_UNIMPLEMENTED)
        return error;
    out->is_kept = !error && (type.kind == TYPE_ARRAY || type.kind == TYPE_SCALAR);
    error_free(error);
    out->attr.kind = ATTR_TYPE;
    if (out->is_kept)
        out->attr.type = type.type;
    return NULL;
}

/* The number of a word in a list; gaps are NULL. */
static Error *take_word(Cursor *c, Made *out, int n, const char *const *words)
{
    uint64_t value;
    Cursor before = *c;
    TRY(take_varint(c, &value));
    if (value >= (uint64_t)n || !words[value])
        return cursor_error(&before, "the number of a word below %d, got %llu", n,
                            (unsigned long long)value);
    out->attr.kind = ATTR_WORD;
    out->attr.string = str_of(words[value]);
    return NULL;
}

#define WORDS(...)                                                                                 \
    take_word(c, out, (int)(sizeof((const char *[]){ __VA_ARGS__ }) / sizeof(char *)),             \
              (const char *[]){ __VA_ARGS__ })

static Error *take_boolean(Cursor *c, Made *out)
{
    uint64_t value;
    TRY(take_varint(c, &value));
    out->attr.kind = ATTR_BOOL;
    out->attr.integer = value != 0;
    return NULL;
}

/* Read over: aliases, bounds, accuracies, parts of meshes that others decode in their place. */
static Error *take_nothing(Cursor *c, Made *out)
{
    out->is_kept = false;
    c->at = c->end;
    return NULL;
}

static Error *unknown_code(const Vhlo *v, const Cursor *c, const char *dialect, uint64_t code)
{
    return error_new(CODE_UNIMPLEMENTED, "not supported: %s attribute %llu, in %s at byte %zu",
                     dialect, (unsigned long long)code, v->b->name, cursor_offset(c));
}

static Error *decode_vhlo(Vhlo *v, Cursor *c, Made *out)
{
    uint64_t code;
    Cursor before = *c;
    TRY(take_varint(c, &code));
    switch (code) {
    case 1: return take_array(v, c, out);
    case 2: return take_boolean(c, out);
    case 3: return WORDS("EQ", "NE", "GE", "GT", "LE", "LT");
    case 4: return WORDS("NOTYPE", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED");
    case 5:
        return WORDS("UNSPECIFIED", "ORIGINAL", "STATUS_RETURNING", "STATUS_RETURNING_UNIFIED",
                     "TYPED_FFI");
    case 6: return take_dict(v, c, out);
    case 7: return WORDS("FFT", "IFFT", "RFFT", "IRFFT");
    case 8: return take_float(v, c, out);
    case 9: return take_integer(v, c, out);
    case 11: return WORDS("DEFAULT", "HIGH", "HIGHEST");
    case 12: return WORDS("DEFAULT", "THREE_FRY", "PHILOX");
    case 13: return WORDS(NULL, "UNIFORM", "NORMAL");
    case 14: return take_text(v, c, out);
    case 15: return vhlo_dense(v, c, &out->attr);
    case 16: return WORDS("TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT");
    case 17: return take_type(v, c, out);
    case 19: return WORDS("DEFAULT", "HIGHEST", "TOLERANCE");
    case 23:
        return vhlo_mesh_groups(v, c, &out->attr);
        /* clang-format off */
    case 10: case 18: case 20: case 21: case 22: case 24: case 25: return take_nothing(c, out);
        /* clang-format on */
    }
    return unknown_code(v, &before, "VHLO", code);
}

static Error *take_symbol(Vhlo *v, Cursor *c, Made *out)
{
    uint32_t index;
    out->attr.kind = ATTR_STRING;
    TRY(take_attr_index(v, c, &index));
    return vhlo_string(v, index, &out->attr.string);
}

static Error *decode_builtin(Vhlo *v, Cursor *c, Made *out)
{
    uint64_t code;
    Cursor before = *c;
    TRY(take_varint(c, &code));
    switch (code) {
    case 0: return take_array(v, c, out);
    case 1: return take_dict(v, c, out);
    case 2: return take_text(v, c, out);
    case 4: return take_symbol(v, c, out);
    case 6: return take_type(v, c, out);
    case 7: out->attr.kind = ATTR_UNIT; return NULL;
    case 8: return take_integer(v, c, out);
    case 9: return take_float(v, c, out);
    case 18:
        return vhlo_dense(v, c, &out->attr);
        /* Locations, arrays of machine numbers: no operation has them as attributes. */
        /* clang-format off */
    case 10: case 11: case 12: case 13: case 14: case 15: case 17: case 22:
        /* clang-format on */
        return take_nothing(c, out);
    }
    return unknown_code(v, &before, "builtin", code);
}

static Error *decode(Vhlo *v, uint32_t index, Made *out)
{
    const EntryCode *entry = &v->b->attrs[index];
    Cursor c = entry->bytes;
    if (entry->is_text)
        return error_new(CODE_UNIMPLEMENTED,
                         "not supported: an attribute of dialect %.*s written "
                         "as text, in %s at byte %zu",
                         STR_ARG(entry->dialect), v->b->name, cursor_offset(&c));
    if (str_is(entry->dialect, "vhlo"))
        TRY(decode_vhlo(v, &c, out));
    else if (str_is(entry->dialect, "builtin"))
        TRY(decode_builtin(v, &c, out));
    else if (str_is(entry->dialect, "sdy"))
        TRY(sdy_attr(v, &c, &out->attr, &out->is_kept));
    else
        return error_new(CODE_UNIMPLEMENTED,
                         "not supported: an attribute of dialect %.*s, in %s "
                         "at byte %zu",
                         STR_ARG(entry->dialect), v->b->name, cursor_offset(&c));
    return take_end(&c, "an attribute");
}

Error *vhlo_attr(Vhlo *v, uint32_t index, const Attr **out)
{
    struct KnownAttr *known = &v->attrs[index];
    if (known->state == DECODING)
        return cursor_error(&v->b->attrs[index].bytes, "an attribute that does not contain itself");
    if (known->state == NOT_DECODED) {
        TRY(vhlo_deeper(v, &v->b->attrs[index].bytes));
        known->state = DECODING;
        Made made = { .is_kept = true };
        Error *error = decode(v, index, &made);
        v->depth--;
        known->state = error ? NOT_DECODED : DECODED;
        TRY(error);
        known->weight = (uint32_t)made.weight + 1;
        known->attr = made.is_kept ? arena_copy(v->arena, &made.attr, sizeof made.attr) : NULL;
    }
    *out = known->attr;
    return NULL;
}
