/* vhlo_types.c - types as VHLO and the builtin dialect encode them. */
#include "hlo/read/vhlo.h"

#include <stdio.h>
#include <string.h>

typedef struct ElementCode {
    int code;
    Element element;
} ElementCode;

/* "index" is a number of 64 bits here. */
/* clang-format off */
static const ElementCode vhlo_elements[] = {
    { 0, I1 },          { 2, BF16 },        { 3, F16 },            { 4, F32 },     { 5, F64 },
    { 6, F8E4M3FN },    { 7, F8E5M2 },      { 9, I64 },            { 10, I4 },     { 11, I8 },
    { 12, I16 },        { 13, I32 },        { 14, I64 },           { 15, U4 },     { 16, U8 },
    { 17, U16 },        { 18, U32 },        { 19, U64 },           { 31, I2 },     { 32, U2 },
    { 27, F8E4M3FNUZ }, { 28, F8E5M2FNUZ }, { 29, F8E4M3B11FNUZ }, { 35, F8E4M3 }, { 36, F8E3M4 },
    { 40, F8E8M0FNU },  { 37, F4E2M1FN },   { 38, F6E2M3FN },      { 39, F6E3M2FN },
    { -1, TOKEN },
};

static const ElementCode builtin_elements[] = {
    { 1, I64 },         { 3, BF16 },        { 4, F16 },            { 5, F32 },     { 6, F64 },
    { 22, F8E5M2 },     { 23, F8E4M3 },     { 24, F8E4M3FN },      { 28, F8E3M4 },
    { 25, F8E5M2FNUZ }, { 26, F8E4M3FNUZ }, { 27, F8E4M3B11FNUZ }, { 32, F8E8M0FNU },
    { 29, F4E2M1FN },   { 30, F6E2M3FN },   { 31, F6E3M2FN },      { -1, TOKEN },
};
/* clang-format on */

enum { STABLEHLO_TOKEN = 0 };
enum {
    VHLO_COMPLEX = 1,
    VHLO_FUNCTION = 8,
    VHLO_TENSOR = 20,
    VHLO_TOKEN = 22,
    VHLO_TUPLE = 23,
    VHLO_NONE = 33,
    VHLO_FUTURE = 42
};
enum {
    BUILTIN_INTEGER = 0,
    BUILTIN_FUNCTION = 2,
    BUILTIN_COMPLEX = 9,
    BUILTIN_NONE = 12,
    BUILTIN_TENSOR = 13
};

static bool find_element(const ElementCode *codes, uint64_t code, FileType *out)
{
    for (; codes->code >= 0; codes++)
        if ((uint64_t)codes->code == code) {
            *out = (FileType){ .kind = TYPE_SCALAR, .type = type_scalar(codes->element) };
            return true;
        }
    return false;
}

static const char *vhlo_type_name(uint64_t code)
{
    static const char *const names[] = {
        [21] = "a tensor with an encoding (bounded dimensions)",
        [24] = "quantized",
        [25] = "a tensor without rank",
        [26] = "witness",
        [30] = "quantized per axis",
        [34] = "tf32",
        [41] = "buffer",
    };
    bool is_known = code < sizeof names / sizeof *names && names[code];
    return is_known ? names[code] : "of an unknown code";
}

static Error *unsupported(const Vhlo *v, const Cursor *c, const char *what)
{
    return error_new(CODE_UNIMPLEMENTED, "not supported: type %s, in %s at byte %zu", what,
                     v->b->name, cursor_offset(c));
}

static Error *take_scalar(Vhlo *v, Cursor *c, Element *out)
{
    uint32_t index;
    FileType type;
    Cursor before = *c;
    TRY(take_index(c, "a type", v->b->ntypes, &index));
    TRY(vhlo_type(v, index, &type));
    if (type.kind != TYPE_SCALAR)
        return cursor_error(&before, "the type of an element");
    *out = type.type.element;
    return NULL;
}

static Error *take_complex(Vhlo *v, Cursor *c, FileType *out)
{
    Element part;
    Cursor before = *c;
    TRY(take_scalar(v, c, &part));
    if (part != F32 && part != F64)
        return cursor_error(&before, "f32 or f64 as the part of a complex number");
    *out = (FileType){ .kind = TYPE_SCALAR, .type = type_scalar(part == F32 ? C64 : C128) };
    return NULL;
}

/* So that counts of bytes stay below 2^62 whatever a pass multiplies them by. */
static bool fits_memory(Type t)
{
    int64_t n = element_info[t.element].bytes;
    for (int i = 0; i < t.rank; i++)
        if (t.dims[i] > 0 && (__builtin_mul_overflow(n, t.dims[i], &n) || n > INT64_MAX / 2))
            return false;
    return true;
}

static Error *take_tensor(Vhlo *v, Cursor *c, FileType *out)
{
    int64_t dims[MAX_RANK];
    int rank;
    Element element;
    Cursor before = *c;
    TRY(take_count(c, "dimensions", &rank));
    if (rank > MAX_RANK)
        return error_new(CODE_UNIMPLEMENTED,
                         "not supported: an array of rank %d (above %d), in %s "
                         "at byte %zu",
                         rank, MAX_RANK, v->b->name, cursor_offset(&before));
    for (int i = 0; i < rank; i++) {
        Cursor here = *c;
        TRY(take_signed(c, &dims[i]));
        if (dims[i] == INT64_MIN)
            dims[i] = DYNAMIC;
        else if (dims[i] < 0)
            return cursor_error(&here, "an extent that is not negative");
    }
    TRY(take_scalar(v, c, &element));
    *out = (FileType){ .kind = TYPE_ARRAY, .type = type_new(v->arena, element, rank, dims) };
    if (!fits_memory(out->type))
        return cursor_error(&before, "an array of less than 2^62 bytes");
    return NULL;
}

static Error *take_tuple(Vhlo *v, Cursor *c, FileType *out)
{
    int n, total = 0;
    const Type *types;
    Cursor before = *c;
    TRY(vhlo_type_list(v, c, &n, &types));
    for (int i = 0; i < n; i++)
        if ((total += type_types(types[i])) > MOST_TYPES)
            return unsupported(v, &before, "tuple of so many types");
    *out = (FileType){ .kind = TYPE_ARRAY, .type = type_tuple(v->arena, n, types) };
    return NULL;
}

/* What will be an array has the type of that array. */
static Error *take_future(Vhlo *v, Cursor *c, FileType *out)
{
    int n;
    const Type *types;
    Cursor before = *c;
    TRY(vhlo_type_list(v, c, &n, &types));
    if (n != 1)
        return unsupported(v, &before, "future of several arrays");
    *out = (FileType){ .kind = TYPE_ARRAY, .type = types[0] };
    return NULL;
}

static Error *decode_vhlo(Vhlo *v, Cursor *c, FileType *out)
{
    uint64_t code;
    Cursor before = *c;
    TRY(take_varint(c, &code));
    if (find_element(vhlo_elements, code, out))
        return NULL;
    switch (code) {
    case VHLO_COMPLEX: return take_complex(v, c, out);
    case VHLO_TENSOR: return take_tensor(v, c, out);
    case VHLO_TOKEN:
        *out = (FileType){ .kind = TYPE_ARRAY, .type = type_scalar(TOKEN) };
        return NULL;
    case VHLO_TUPLE: return take_tuple(v, c, out);
    case VHLO_FUTURE: return take_future(v, c, out);
    case VHLO_NONE: *out = (FileType){ .kind = TYPE_NOTHING }; return NULL;
    case VHLO_FUNCTION:
        *out = (FileType){ .kind = TYPE_FUNCTION, .lists = *c };
        c->at = c->end;
        return NULL;
    }
    return unsupported(v, &before, vhlo_type_name(code));
}

/* Sign 0: without, 1: signed, 2: unsigned; StableHLO's iN is without. */
static Error *take_integer(Vhlo *v, Cursor *c, FileType *out)
{
    uint64_t width_and_sign;
    char name[24];
    Cursor before = *c;
    TRY(take_varint(c, &width_and_sign));
    bool is_unsigned = (width_and_sign & 3) == 2;
    snprintf(name, sizeof name, "%s%llu", is_unsigned ? "ui" : "i",
             (unsigned long long)(width_and_sign >> 2) % 1000);
    out->kind = TYPE_SCALAR;
    out->type = type_scalar(I1);
    return element_find(str_of(name), &out->type.element) ? NULL : unsupported(v, &before, name);
}

static Error *decode_builtin(Vhlo *v, Cursor *c, FileType *out)
{
    uint64_t code;
    Cursor before = *c;
    TRY(take_varint(c, &code));
    if (find_element(builtin_elements, code, out))
        return NULL;
    switch (code) {
    case BUILTIN_INTEGER: return take_integer(v, c, out);
    case BUILTIN_COMPLEX: return take_complex(v, c, out);
    case BUILTIN_TENSOR: return take_tensor(v, c, out);
    case BUILTIN_NONE: *out = (FileType){ .kind = TYPE_NOTHING }; return NULL;
    case BUILTIN_FUNCTION:
        *out = (FileType){ .kind = TYPE_FUNCTION, .lists = *c };
        c->at = c->end;
        return NULL;
    }
    return unsupported(v, &before, "of the builtin dialect");
}

/* Types without a code of their own are written as text: "f8E4M3FN" and a NUL. */
static Error *decode_text(Vhlo *v, Cursor *c, FileType *out)
{
    size_t n = strnlen((const char *)c->at, cursor_left(c));
    Str text = { (const char *)c->at, n };
    out->kind = TYPE_SCALAR;
    out->type = type_scalar(I1);
    if (!element_find(text, &out->type.element))
        return error_new(CODE_UNIMPLEMENTED,
                         "not supported: type %.*s written as text, in %s at "
                         "byte %zu",
                         (int)(n < 80 ? n : 80), text.at, v->b->name, cursor_offset(c));
    c->at = c->end;
    return NULL;
}

/* Operations of Shardy keep what they hold in StableHLO's own types, of which one has a code. */
static Error *decode_stablehlo(Vhlo *v, Cursor *c, FileType *out)
{
    uint64_t code;
    Cursor before = *c;
    TRY(take_varint(c, &code));
    if (code != STABLEHLO_TOKEN)
        return unsupported(v, &before, "type of StableHLO");
    *out = (FileType){ .kind = TYPE_ARRAY, .type = type_scalar(TOKEN) };
    return NULL;
}

static Error *decode(Vhlo *v, uint32_t index, FileType *out)
{
    const EntryCode *entry = &v->b->types[index];
    Cursor c = entry->bytes;
    if (entry->is_text)
        TRY(decode_text(v, &c, out));
    else if (str_is(entry->dialect, "vhlo"))
        TRY(decode_vhlo(v, &c, out));
    else if (str_is(entry->dialect, "builtin"))
        TRY(decode_builtin(v, &c, out));
    else if (str_is(entry->dialect, "stablehlo"))
        TRY(decode_stablehlo(v, &c, out));
    else
        return error_new(CODE_UNIMPLEMENTED,
                         "not supported: a type of dialect %.*s, in %s at byte "
                         "%zu",
                         STR_ARG(entry->dialect), v->b->name, cursor_offset(&c));
    return take_end(&c, "a type");
}

Error *vhlo_type(Vhlo *v, uint32_t index, FileType *out)
{
    struct KnownType *known = &v->types[index];
    if (known->state == DECODING)
        return cursor_error(&v->b->types[index].bytes, "a type that does not contain itself");
    if (known->state == NOT_DECODED) {
        TRY(vhlo_deeper(v, &v->b->types[index].bytes));
        known->state = DECODING;
        Error *error = decode(v, index, &known->type);
        v->depth--;
        known->state = error ? NOT_DECODED : DECODED;
        TRY(error);
    }
    *out = known->type;
    return NULL;
}

Error *vhlo_array_type(Vhlo *v, uint32_t index, Type *out)
{
    FileType type;
    TRY(vhlo_type(v, index, &type));
    if (type.kind != TYPE_ARRAY)
        return cursor_error(&v->b->types[index].bytes, "the type of a tensor or token");
    *out = type.type;
    return NULL;
}

Error *vhlo_type_list(Vhlo *v, Cursor *c, int *n, const Type **out)
{
    TRY(take_count(c, "types", n));
    Type *types = ARENA_ARRAY(v->arena, Type, *n);
    for (int i = 0; i < *n; i++) {
        uint32_t index;
        TRY(take_index(c, "a type", v->b->ntypes, &index));
        TRY(vhlo_array_type(v, index, &types[i]));
    }
    *out = types;
    return NULL;
}
