/* image.c - constant data with pointers in it becomes a constant of an LLVM module: a packed struct
 * of byte strings and pointers. */
#include "engine/ahead/image.h"

#include "base/fail.h"
#include "base/grow.h"

#include <stdlib.h>
#include <string.h>

struct Pointer {
    int64_t at;
    int64_t to;         /* an offset, if there is no: */
    LLVMValueRef value; /* function or constant */
};

enum { ALIGN = 64 };

int64_t image_add(Image *i, const void *from, size_t n, size_t align)
{
    static const char zeros[ALIGN];
    require(align <= ALIGN);
    text_add(&i->bytes, zeros, -i->bytes.n % align);
    size_t at = i->bytes.n;
    text_add(&i->bytes, from, n);
    return (int64_t)at;
}

int64_t image_share(Image *i, const void *from, size_t n, size_t align)
{
    uint64_t at;
    if (table_get(&i->shared, from, n, &at) && at % align == 0)
        return (int64_t)at;
    at = (uint64_t)image_add(i, from, n, align);
    table_set(&i->shared, from, n, at);
    return (int64_t)at;
}

static void point(Image *i, Pointer p)
{
    require(p.at % (int64_t)sizeof(void *) == 0);
    memset(i->bytes.at + p.at, 0, sizeof(void *));
    if (p.to == NOWHERE && !p.value)
        return;
    ROOM(i->arena, i->pointers, i->npointers, &i->room);
    i->pointers[i->npointers++] = p;
}

void image_point(Image *i, int64_t at, int64_t to)
{
    point(i, (Pointer){ .at = at, .to = to });
}

void image_point_to(Image *i, int64_t at, LLVMValueRef to)
{
    point(i, (Pointer){ .at = at, .to = NOWHERE, .value = to });
}

void *image_pointer(const Image *i, int64_t at)
{
    void *p;
    memcpy(&p, i->bytes.at + at, sizeof p);
    return p;
}

/* ---- as an initial value ---- */

static int by_offset(const void *a, const void *b)
{
    const Pointer *x = a, *y = b;
    return x->at < y->at ? -1 : x->at > y->at;
}

/* The members of the struct: pointers, and the bytes between them. */
typedef struct Members {
    LLVMContextRef context;
    int n;
    LLVMValueRef *at;
} Members;

static void add_bytes(const Image *i, Members *m, int64_t from, int64_t to)
{
    if (from < to)
        m->at[m->n++] =
            LLVMConstStringInContext2(m->context, i->bytes.at + from, (size_t)(to - from), true);
}

/* The pointers at whose places the bytes are cut; the type alone is made of these first, so that the
 * constant is there for its own pointers to point to. */
static void make_members(const Image *i, LLVMValueRef whole, Members *m)
{
    LLVMTypeRef byte = LLVMInt8TypeInContext(m->context);
    LLVMValueRef null = LLVMConstPointerNull(LLVMPointerTypeInContext(m->context, 0));
    int64_t done = 0;
    m->n = 0;
    for (int k = 0; k < i->npointers; k++) {
        const Pointer *p = &i->pointers[k];
        add_bytes(i, m, done, p->at);
        LLVMValueRef to = p->value ? p->value : null;
        if (!p->value && whole) {
            LLVMTypeRef i64 = LLVMInt64TypeInContext(m->context);
            LLVMValueRef offset = LLVMConstInt(i64, (unsigned long long)p->to, false);
            to = LLVMConstInBoundsGEP2(byte, whole, &offset, 1);
        }
        m->at[m->n++] = to;
        done = p->at + (int64_t)sizeof(void *);
    }
    add_bytes(i, m, done, (int64_t)i->bytes.n);
}

LLVMValueRef image_finish(Image *i, const char *name)
{
    Members m = { .context = i->e->context };
    m.at = ARENA_ARRAY(i->arena, LLVMValueRef, 2 * i->npointers + 1);
    if (i->npointers)
        qsort(i->pointers, (size_t)i->npointers, sizeof *i->pointers, by_offset);
    make_members(i, NULL, &m);
    LLVMValueRef outline = LLVMConstStructInContext(m.context, m.at, (unsigned)m.n, true);
    LLVMValueRef whole = LLVMAddGlobal(i->e->llvm, LLVMTypeOf(outline), name);
    make_members(i, whole, &m);
    LLVMSetInitializer(whole, LLVMConstStructInContext(m.context, m.at, (unsigned)m.n, true));
    LLVMSetLinkage(whole, LLVMInternalLinkage);
    LLVMSetGlobalConstant(whole, true);
    LLVMSetAlignment(whole, ALIGN);
    text_free(&i->bytes);
    table_free(&i->shared);
    return whole;
}
