/* type.c - element types and the types of arrays. */
#include "ops/type.h"

#include "base/arena.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const ElementInfo element_info[ELEMENT_COUNT] = {
#define ELEMENT(id, name, bits, bytes, kind, pjrt) [id] = { name, bits, bytes, kind, pjrt },
#include "ops/elements.def"
};

bool element_find(Str name, Element *out)
{
    for (int e = 0; e < ELEMENT_COUNT; e++)
        if (element_info[e].kind != TOKENS && str_is(name, element_info[e].name)) {
            *out = (Element)e;
            return true;
        }
    return false;
}

bool element_of_pjrt(int pjrt, Element *out)
{
    for (int e = 0; e < ELEMENT_COUNT; e++)
        if (element_info[e].pjrt == pjrt) {
            *out = (Element)e;
            return true;
        }
    return false;
}

bool element_fills_bytes(Element e)
{
    return element_info[e].bits == 8 * element_info[e].bytes;
}

Element element_part(Element e)
{
    return e == C64 ? F32 : e == C128 ? F64 : e;
}

Type type_new(Arena *arena, Element element, int rank, const int64_t *dims)
{
    const int64_t *copy = rank ? arena_copy(arena, dims, sizeof *dims * (size_t)rank) : NULL;
    return (Type){ element, rank, copy };
}

Type type_scalar(Element element)
{
    return (Type){ element, 0, NULL };
}

int type_leaves(Type t)
{
    return t.element == TUPLE ? type_fields(t)->leaves : 1;
}

int type_types(Type t)
{
    return t.element == TUPLE ? type_fields(t)->types : 1;
}

Type type_tuple(Arena *arena, int n, const Type *fields)
{
    Fields *copy = ARENA_NEW(arena, Fields);
    *copy = (Fields){ n, 0, 1, n ? arena_copy(arena, fields, sizeof *fields * (size_t)n) : NULL };
    for (int i = 0; i < n; i++) {
        copy->leaves += type_leaves(fields[i]);
        copy->types += type_types(fields[i]);
    }
    return (Type){ TUPLE, 0, (const void *)copy };
}

bool type_same_shape(Type a, Type b)
{
    return a.rank == b.rank &&
           (a.rank == 0 || memcmp(a.dims, b.dims, sizeof *a.dims * (size_t)a.rank) == 0);
}

static bool same_fields(const Fields *a, const Fields *b)
{
    bool same = a->n == b->n;
    for (int i = 0; same && i < a->n; i++)
        same = type_equal(a->at[i], b->at[i]);
    return same;
}

bool type_equal(Type a, Type b)
{
    if (a.element == TUPLE && b.element == TUPLE)
        return same_fields(type_fields(a), type_fields(b));
    return a.element == b.element && type_same_shape(a, b);
}

bool extent_fits(int64_t a, int64_t b)
{
    return a == b || a == DYNAMIC || b == DYNAMIC;
}

bool shape_fits(Type a, Type b)
{
    if (a.rank != b.rank)
        return false;
    for (int i = 0; i < a.rank; i++)
        if (!extent_fits(a.dims[i], b.dims[i]))
            return false;
    return true;
}

static bool fields_fit(const Fields *a, const Fields *b)
{
    bool fits = a->n == b->n;
    for (int i = 0; fits && i < a->n; i++)
        fits = type_fits(a->at[i], b->at[i]);
    return fits;
}

bool type_fits(Type a, Type b)
{
    if (a.element == TUPLE && b.element == TUPLE)
        return fields_fit(type_fields(a), type_fields(b));
    return a.element == b.element && shape_fits(a, b);
}

bool type_is_static(Type t)
{
    for (int i = 0; i < t.rank; i++)
        if (t.dims[i] == DYNAMIC)
            return false;
    return true;
}

bool type_is_possible(Type t)
{
    int64_t bytes = element_info[t.element].bytes;
    for (int i = 0; i < t.rank; i++)
        if (t.dims[i] > 0 && __builtin_mul_overflow(bytes, t.dims[i], &bytes))
            return false;
    return bytes < (int64_t)1 << 62;
}

int64_t type_count(Type t)
{
    int64_t n = 1;
    for (int i = 0; i < t.rank; i++)
        n *= t.dims[i];
    return n;
}

size_t type_bytes(Type t)
{
    return (size_t)type_count(t) * (size_t)element_info[t.element].bytes;
}

static void print_fields(Text *out, Type t, char end, void (*print)(Text *out, Type t))
{
    text_printf(out, "tuple%c", end == '>' ? '<' : '[');
    for (int i = 0; i < type_fields(t)->n; i++) {
        text_printf(out, i ? ", " : "");
        print(out, type_fields(t)->at[i]);
    }
    text_printf(out, "%c", end);
}

void type_print(Text *out, Type t)
{
    if (t.element == TUPLE) {
        print_fields(out, t, '>', type_print);
        return;
    }
    if (t.element == TOKEN) {
        text_printf(out, "!stablehlo.token");
        return;
    }
    text_printf(out, "tensor<");
    for (int i = 0; i < t.rank; i++)
        if (t.dims[i] == DYNAMIC)
            text_printf(out, "?x");
        else
            text_printf(out, "%" PRId64 "x", t.dims[i]);
    text_printf(out, "%s>", element_info[t.element].name);
}

void type_print_short(Text *out, Type t)
{
    if (t.element == TUPLE) {
        print_fields(out, t, ']', type_print_short);
        return;
    }
    text_printf(out, "%s[", element_info[t.element].name);
    for (int i = 0; i < t.rank; i++)
        if (t.dims[i] == DYNAMIC)
            text_printf(out, "%s?", i ? "," : "");
        else
            text_printf(out, "%s%" PRId64, i ? "," : "", t.dims[i]);
    text_printf(out, "]");
}

const char *type_name(Type t)
{
    enum { RING = 8, ROOM = 256 };
    static _Thread_local char ring[RING][ROOM];
    static _Thread_local unsigned next;
    Text text = { .is_message = true };
    type_print_short(&text, t);
    char *at = ring[next++ % RING];
    snprintf(at, ROOM, "%s", text_cstr(&text));
    text_free(&text);
    return at;
}

void type_strides(Type t, int64_t *strides)
{
    int64_t stride = 1;
    for (int i = t.rank - 1; i >= 0; i--) {
        strides[i] = stride;
        stride *= t.dims[i];
    }
}

Ints ints_copy(Arena *arena, int n, const int64_t *at)
{
    return (Ints){ n, n ? arena_copy(arena, at, sizeof *at * (size_t)n) : NULL };
}

int64_t ints_or(Ints list, int i, int64_t otherwise)
{
    return i < list.n ? list.at[i] : otherwise;
}

bool ints_equal(Ints a, Ints b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.at, b.at, sizeof *a.at * (size_t)a.n) == 0);
}

int ints_find(Ints list, int64_t x)
{
    for (int i = 0; i < list.n; i++)
        if (list.at[i] == x)
            return i;
    return -1;
}
