/* site.c - call sites of handlers: a custom call's attributes as the ABI has them, and what its
 * handler keeps from call to call. */
#include "base/guard.h"
#include "base/sync.h"
#include "engine/custom_call.h"
#include "engine/ffi/ffi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- attributes ---- */

int ffi_type(Element e)
{
    static const int numbers[ELEMENT_COUNT] = {
        [I1] = 1,
        [I2] = 26,
        [I4] = 21,
        [I8] = 2,
        [I16] = 3,
        [I32] = 4,
        [I64] = 5,
        [U2] = 27,
        [U4] = 22,
        [U8] = 6,
        [U16] = 7,
        [U32] = 8,
        [U64] = 9,
        [F16] = 10,
        [F32] = 11,
        [F64] = 12,
        [BF16] = 16,
        [C64] = 15,
        [C128] = 18,
        [TOKEN] = 17,
        [F8E5M2] = 19,
        [F8E4M3FN] = 20,
        [F8E4M3B11FNUZ] = 23,
        [F8E5M2FNUZ] = 24,
        [F8E4M3FNUZ] = 25,
        [F8E4M3] = 28,
        [F8E3M4] = 29,
        [F4E2M1FN] = 32,
        [F8E8M0FNU] = 33,
    };
    return numbers[e];
}

static void *scalar_of(Arena *arena, const Attr *a)
{
    Element e = a->kind == ATTR_BOOL  ? I1
                : a->element != I1    ? a->element
                : a->kind == ATTR_INT ? I64
                                      : F64;
    void *value = arena_alloc(arena, 16);
    if (a->kind == ATTR_FLOAT)
        number_set_float(e, a->number, value);
    else
        number_set_int(e, a->integer, value);
    FfiScalar *scalar = ARENA_NEW(arena, FfiScalar);
    *scalar = (FfiScalar){ ffi_type(e), value };
    return scalar;
}

static void *array_of(Arena *arena, Dense dense)
{
    size_t n = (size_t)type_count(dense.type),
           each = (size_t)element_info[dense.type.element].bytes;
    char *data = arena_alloc(arena, n * each + 16);
    for (size_t i = 0; i < n; i++)
        memcpy(data + i * each, (const char *)dense.data + (dense.is_splat ? 0 : i * each), each);
    FfiArray *array = ARENA_NEW(arena, FfiArray);
    *array = (FfiArray){ ffi_type(dense.type.element), n, data };
    return array;
}

static void *span_of(Arena *arena, Str s)
{
    FfiSpan *span = ARENA_NEW(arena, FfiSpan);
    *span = (FfiSpan){ s.at, s.n };
    return span;
}

typedef struct Named {
    Str name;
    const Attr *value;
} Named;

static int by_name(const void *x, const void *y)
{
    Str a = ((const Named *)x)->name, b = ((const Named *)y)->name;
    int order = memcmp(a.at, b.at, a.n < b.n ? a.n : b.n);
    return order ? order : (a.n > b.n) - (a.n < b.n);
}

static FfiAttributes attributes_of(Arena *arena, const Attr *dict);

/* A list of attributes is a dictionary, whose names are the positions. */
static void *value_of(Arena *arena, const Attr *a, int *kind)
{
    switch (a->kind) {
    case ATTR_BOOL:
    case ATTR_INT:
    case ATTR_FLOAT: *kind = FFI_SCALAR; return scalar_of(arena, a);
    case ATTR_STRING:
    case ATTR_WORD: *kind = FFI_STRING; return span_of(arena, a->string);
    case ATTR_DENSE: *kind = FFI_ARRAY; return array_of(arena, a->dense);
    case ATTR_ARRAY:
    case ATTR_DICT: {
        FfiAttributes *inner = ARENA_NEW(arena, FfiAttributes);
        *inner = attributes_of(arena, a);
        *kind = FFI_DICTIONARY;
        return inner;
    }
    default: return NULL;
    }
}

static FfiAttributes attributes_of(Arena *arena, const Attr *dict)
{
    int n = dict && (dict->kind == ATTR_DICT || dict->kind == ATTR_ARRAY) ? dict->n : 0;
    Named *named = ARENA_ARRAY(arena, Named, n);
    for (int i = 0; i < n; i++) {
        char *position = arena_alloc(arena, 12);
        Str name = dict->kind == ATTR_DICT
                       ? dict->keys[i]
                       : (Str){ position, (size_t)snprintf(position, 12, "%d", i) };
        named[i] = (Named){ name, dict->items[i] };
    }
    qsort(named, (size_t)n, sizeof *named, by_name);
    FfiAttributes all = { .struct_size = sizeof all,
                          .kinds = ARENA_ARRAY(arena, int, n),
                          .names = ARENA_ARRAY(arena, FfiSpan *, n),
                          .at = ARENA_ARRAY(arena, void *, n) };
    for (int i = 0; i < n; i++) {
        void *value = value_of(arena, named[i].value, &all.kinds[all.n]);
        if (!value) /* a type or a unit, which the ABI cannot say */
            continue;
        all.names[all.n] = span_of(arena, named[i].name);
        all.at[all.n++] = value;
    }
    return all;
}

/* ---- sites ---- */

enum { LISTS = 64 };
static Lock lock; /* of the lists */
static Site *sites[LISTS];
static _Atomic int nsites;

static Site **list_of(const Node *n)
{
    return &sites[((uintptr_t)n >> 4) % LISTS];
}

/* NULL: none.  The lock is held. */
static Site *site_find(const Program *program, const Node *n)
{
    Site *s = *list_of(n);
    while (s && (s->program != program || s->node != n))
        s = s->next;
    return s;
}

typedef struct Making {
    const Node *node;
    Site *site;
} Making;

static void site_make(void *user)
{
    Making *m = user;
    const Attr *own = ((const CustomCallAttrs *)m->node->attrs)->backend_config;
    const Attr *beside = attr_get(m->node->extra, "mhlo.backend_config");
    Arena *arena = arena_new();
    m->site = ARENA_NEW(arena, Site);
    m->site->arena = arena;
    m->site->node = m->node;
    m->site->attributes = attributes_of(arena, own && own->kind == ATTR_DICT ? own : beside);
    pthread_mutex_init(&m->site->making, NULL);
}

void site_end(Site *site)
{
    state_free(&site->state);
    pthread_mutex_destroy(&site->making);
    arena_free(site->arena);
}

Error *site_get(const Program *program, const Node *n, Site **out)
{
    lock_take(&lock);
    *out = program ? site_find(program, n) : NULL;
    lock_give(&lock);
    if (*out)
        return NULL;
    Making making = { .node = n };
    TRY(guard_run("calling a foreign function", site_make, &making));
    *out = making.site;
    if (!program)
        return NULL;
    making.site->program = program;
    lock_take(&lock);
    Site *other = site_find(program, n); /* another device's thread was faster */
    if (!other) {
        making.site->next = *list_of(n);
        *list_of(n) = making.site;
        atomic_fetch_add_explicit(&nsites, 1, memory_order_relaxed); /* under the lock */
    }
    lock_give(&lock);
    if (other) {
        *out = other;
        site_end(making.site);
    }
    return NULL;
}

void sites_drop(const Program *program)
{
    /* relaxed: the program's own sites were made by runs that have ended before */
    if (!atomic_load_explicit(&nsites, memory_order_relaxed))
        return;
    Site *gone = NULL;
    lock_take(&lock);
    for (int i = 0; i < LISTS; i++)
        for (Site **at = &sites[i]; *at;) {
            Site *site = *at;
            if (site->program != program) {
                at = &site->next;
                continue;
            }
            *at = site->next;
            site->next = gone;
            gone = site;
            atomic_fetch_sub_explicit(&nsites, 1, memory_order_relaxed); /* under the lock */
        }
    lock_give(&lock);
    for (Site *next; gone; gone = next) {
        next = gone->next;
        site_end(gone);
    }
}
