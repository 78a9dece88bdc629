/* attr.c - attributes as read: making, comparing and printing the tree, constants included.
 *
 * Printing is MLIR's text, exact in both directions: a float has the fewest digits that give
 * the same bits again, NaN and infinity are written by their bits, and a long constant is a
 * string of its bytes in hexadecimal. */
#include "base/arena.h"
#include "base/grow.h"
#include "ops/attrs.h"
#include "ops/number.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const Attr *attr_get(const Attr *dict, const char *key)
{
    if (!dict || dict->kind != ATTR_DICT)
        return NULL;
    for (int i = 0; i < dict->n; i++)
        if (str_is(dict->keys[i], key))
            return dict->items[i];
    return NULL;
}

void attr_set(Arena *arena, AttrDict *dict, Str key, const Attr *value)
{
    for (int i = 0; i < dict->n; i++)
        if (str_equal(dict->keys[i], key)) {
            dict->values[i] = value;
            return;
        }
    int room = dict->room; /* of both */
    ROOM(arena, dict->keys, dict->n, &room);
    ROOM(arena, dict->values, dict->n, &dict->room);
    dict->keys[dict->n] = key;
    dict->values[dict->n++] = value;
}

static const Attr *make(Arena *arena, Attr attr)
{
    return arena_copy(arena, &attr, sizeof attr);
}

const Attr *attr_dict(Arena *arena, const AttrDict *dict)
{
    return make(
        arena,
        (Attr){ .kind = ATTR_DICT, .n = dict->n, .items = dict->values, .keys = dict->keys });
}

const Attr *attr_int(Arena *arena, int64_t value)
{
    return make(arena, (Attr){ .kind = ATTR_INT, .integer = value });
}

const Attr *attr_bool(Arena *arena, bool value)
{
    return make(arena, (Attr){ .kind = ATTR_BOOL, .integer = value });
}

const Attr *attr_string(Arena *arena, Str value)
{
    return make(arena, (Attr){ .kind = ATTR_STRING, .string = value });
}

const Attr *attr_word(Arena *arena, Str value)
{
    return make(arena, (Attr){ .kind = ATTR_WORD, .string = value });
}

static const Attr *make_numbers(Arena *arena, Type type, const int64_t *at)
{
    Dense dense = { .type = type, .data = arena_copy(arena, at, type_bytes(type)) };
    return make(arena, (Attr){ .kind = ATTR_DENSE, .dense = dense });
}

const Attr *attr_ints(Arena *arena, int n, const int64_t *at)
{
    return make_numbers(arena, type_new(arena, I64, 1, (int64_t[]){ n }), at);
}

const Attr *attr_matrix(Arena *arena, int rows, int cols, const int64_t *at)
{
    return make_numbers(arena, type_new(arena, I64, 2, (int64_t[]){ rows, cols }), at);
}

bool dense_equal(Dense a, Dense b)
{
    if (!type_equal(a.type, b.type))
        return false;
    size_t bytes = (size_t)element_info[a.type.element].bytes;
    if (a.is_splat == b.is_splat)
        return memcmp(a.data, b.data, a.is_splat ? bytes : type_bytes(a.type)) == 0;
    const char *one = a.is_splat ? a.data : b.data, *all = a.is_splat ? b.data : a.data;
    for (int64_t i = 0; i < type_count(a.type); i++)
        if (memcmp(one, all + (size_t)i * bytes, bytes) != 0)
            return false;
    return true;
}

static bool lists_equal(const Attr *a, const Attr *b)
{
    for (int i = 0; i < a->n; i++) {
        if (a->kind == ATTR_DICT && !str_equal(a->keys[i], b->keys[i]))
            return false;
        if (!attr_equal(a->items[i], b->items[i]))
            return false;
    }
    return true;
}

bool attr_equal(const Attr *a, const Attr *b)
{
    if (!a || !b)
        return a == b;
    if (a->kind != b->kind || a->n != b->n || a->element != b->element)
        return false;
    switch (a->kind) {
    case ATTR_UNIT: return true;
    case ATTR_BOOL:
    case ATTR_INT: return a->integer == b->integer;
    case ATTR_FLOAT: return memcmp(&a->number, &b->number, sizeof a->number) == 0;
    case ATTR_STRING:
    case ATTR_WORD: return str_equal(a->string, b->string);
    case ATTR_TYPE: return type_equal(a->type, b->type);
    case ATTR_ARRAY:
    case ATTR_DICT: return lists_equal(a, b);
    case ATTR_DENSE: return dense_equal(a->dense, b->dense);
    case ATTR_SHARDING: return sharding_equal(a->sharding, b->sharding);
    case ATTR_SHARDINGS:
        for (int i = 0; i < a->n; i++)
            if (!sharding_equal(a->shardings[i], b->shardings[i]))
                return false;
        return true;
    }
    return false;
}

void string_print(Text *out, Str s)
{
    text_printf(out, "\"");
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.at[i];
        if (c == '\\')
            text_printf(out, "\\\\");
        else if (c < 0x20 || c >= 0x7F || c == '"')
            text_printf(out, "\\%02X", c);
        else
            text_add(out, &s.at[i], 1);
    }
    text_printf(out, "\"");
}

/* The bits of a number, which say more than NaN and infinity do. */
static void print_bits(Text *out, Element e, const void *at)
{
    uint64_t bits = 0;
    memcpy(&bits, at, (size_t)element_info[e].bytes);
    text_printf(out, "0x%0*" PRIX64, element_info[e].bytes * 2, bits);
}

/* MLIR wants a point in every float, so the exponent form is used throughout. */
static void print_float(Text *out, Element e, const void *at)
{
    double x = number_float(e, at);
    if (!isfinite(x)) {
        print_bits(out, e, at);
        return;
    }
    char digits[40];
    int enough = e == F64 ? 16 : 8;
    for (int n = 6; n <= enough; n++) {
        snprintf(digits, sizeof digits, "%.*e", n, x);
        double again = strtod(digits, NULL);
        if (e == F64 ? again == x : (float)again == (float)x)
            break;
    }
    text_printf(out, "%s", digits);
}

static void print_number(Text *out, Element e, const char *at)
{
    switch (element_info[e].kind) {
    case BOOLEAN: text_printf(out, *at ? "true" : "false"); break;
    case SIGNED: text_printf(out, "%" PRId64, number_int(e, at)); break;
    case UNSIGNED: text_printf(out, "%" PRIu64, (uint64_t)number_int(e, at)); break;
    case FLOAT: print_float(out, e, at); break;
    case COMPLEX:
        text_printf(out, "(");
        print_float(out, element_part(e), at);
        text_printf(out, ",");
        print_float(out, element_part(e), at + element_info[element_part(e)].bytes);
        text_printf(out, ")");
        break;
    case TOKENS: break;
    }
}

/* Prints the elements below dimension `axis`, and returns where the next ones are. */
static const char *print_nest(Text *out, Type t, int axis, const char *at)
{
    if (axis == t.rank) {
        print_number(out, t.element, at);
        return at + element_info[t.element].bytes;
    }
    text_printf(out, "[");
    for (int64_t i = 0; i < t.dims[axis]; i++) {
        if (i)
            text_printf(out, ", ");
        at = print_nest(out, t, axis + 1, at);
    }
    text_printf(out, "]");
    return at;
}

/* Booleans and narrow integers are packed by some of those who read such a string. */
static void print_bytes(Text *out, Dense dense)
{
    static const char digit[] = "0123456789ABCDEF";
    const unsigned char *at = dense.data;
    size_t n = type_bytes(dense.type);
    char *hex = heap_new(n * 2, "a constant in hexadecimal");
    for (size_t i = 0; i < n; i++) {
        hex[2 * i] = digit[at[i] >> 4];
        hex[2 * i + 1] = digit[at[i] & 15];
    }
    text_printf(out, "\"0x");
    text_add(out, hex, n * 2);
    text_printf(out, "\"");
    heap_free(hex);
}

void dense_print(Text *out, Dense dense)
{
    enum { LONG = 64 };
    Type t = dense.type;
    text_printf(out, "dense<");
    if (type_count(t) == 0)
        ; /* dense<> whatever the shape */
    else if (dense.is_splat)
        print_number(out, t.element, dense.data);
    else if (type_count(t) > LONG && element_info[t.element].bits >= 8)
        print_bytes(out, dense);
    else
        print_nest(out, t, 0, dense.data);
    text_printf(out, ">");
}

void name_print(Text *out, Str name)
{
    bool is_bare = name.n && (isalpha((unsigned char)name.at[0]) || name.at[0] == '_');
    for (size_t i = 0; i < name.n && is_bare; i++)
        is_bare = isalnum((unsigned char)name.at[i]) || memchr("_.$", name.at[i], 3);
    if (is_bare)
        text_add(out, name.at, name.n);
    else
        string_print(out, name);
}

static void print_items(Text *out, const Attr *attr)
{
    for (int i = 0; i < attr->n; i++) {
        if (i)
            text_printf(out, ", ");
        if (attr->kind == ATTR_DICT) {
            name_print(out, attr->keys[i]);
            if (attr->items[i]->kind == ATTR_UNIT)
                continue;
            text_printf(out, " = ");
        }
        attr_print(out, attr->items[i]);
    }
}

static void print_shardings(Text *out, const Attr *attr)
{
    text_printf(out, "#sdy.sharding_per_value<[");
    for (int i = 0; i < attr->n; i++) {
        if (i)
            text_printf(out, ", ");
        sharding_print(out, attr->shardings[i]);
    }
    text_printf(out, "]>");
}

static void print_dense_attr(Text *out, Dense dense)
{
    dense_print(out, dense);
    text_printf(out, " : ");
    type_print(out, dense.type);
}

void attr_print(Text *out, const Attr *attr)
{
    Element e = attr->element == I1 ? attr->kind == ATTR_FLOAT ? F64 : I64 : attr->element;
    switch (attr->kind) {
    case ATTR_UNIT: text_printf(out, "unit"); break;
    case ATTR_BOOL: text_printf(out, attr->integer ? "true" : "false"); break;
    case ATTR_INT: text_printf(out, "%" PRId64 " : %s", attr->integer, element_info[e].name); break;
    case ATTR_FLOAT: {
        char bytes[8] = { 0 };
        number_set_float(e, attr->number, bytes);
        print_float(out, e, bytes);
        text_printf(out, " : %s", element_info[e].name);
        break;
    }
    case ATTR_STRING: string_print(out, attr->string); break;
    case ATTR_WORD: text_add(out, attr->string.at, attr->string.n); break;
    case ATTR_TYPE: type_print(out, attr->type); break;
    case ATTR_ARRAY:
        text_printf(out, "[");
        print_items(out, attr);
        text_printf(out, "]");
        break;
    case ATTR_DICT:
        text_printf(out, "{");
        print_items(out, attr);
        text_printf(out, "}");
        break;
    case ATTR_DENSE: print_dense_attr(out, attr->dense); break;
    case ATTR_SHARDING:
        text_printf(out, "#sdy.sharding");
        sharding_print(out, attr->sharding);
        break;
    case ATTR_SHARDINGS: print_shardings(out, attr); break;
    }
}
