/* side.c - kernels are compiled side by side: a list of them in, objects out.
 *
 *     list by weight:  9 8 5 4 3 3 2 ...            batch 0: 9 3 2     --thread--> object
 *                      each to the lightest batch   batch 1: 8 3       --thread--> object
 *                                                   batch 2: 5 4 ...   --thread--> object
 *
 * Each batch has an LLVM context of its own, so the threads share nothing but the program, which
 * nobody changes any more.  What goes into which batch depends on the list only, so an equal
 * program gives equal code, however many threads there are to run the batches. */
#include "engine/emit/side.h"

#include "base/fail.h"
#include "base/room.h"
#include "base/sync.h"

#include <stdlib.h>

struct Batch {
    const Side *side;
    int number;
    int64_t weight;
    Object object;
    Error *error;
    Thread thread;
    bool has_thread;
};

/* ---- who goes where ---- */

static int heavier_first(const void *a, const void *b)
{
    const SideKernel *x = a, *y = b;
    if (x->weight != y->weight)
        return x->weight > y->weight ? -1 : 1;
    return x->node < y->node ? -1 : x->node > y->node;
}

static void share_out(Side *s)
{
    if (s->n)
        qsort(s->kernels, (size_t)s->n, sizeof *s->kernels, heavier_first);
    for (int i = 0; i < s->n; i++) {
        int lightest = 0;
        for (int b = 1; b < s->nbatches; b++)
            if (s->batches[b].weight < s->batches[lightest].weight)
                lightest = b;
        s->kernels[i].batch = lightest;
        s->batches[lightest].weight += s->kernels[i].weight;
    }
}

/* ---- one batch ---- */

/* Others call it by name, but only code of this program does. */
static void publish(LLVMValueRef function)
{
    LLVMSetLinkage(function, LLVMExternalLinkage);
    LLVMSetVisibility(function, LLVMHiddenVisibility);
}

static Error *batch_emit(Batch *b, Emit *e)
{
    for (int i = 0; i < b->side->n; i++) {
        const SideKernel *k = &b->side->kernels[i];
        LLVMValueRef function = NULL;
        if (k->batch != b->number)
            continue;
        TRY(kernel_emit(e, b->side->m, k->node, k->name, &function));
        publish(function);
    }
    return emit_object(e, &b->object.bytes, &b->object.n);
}

static void batch_run(void *at)
{
    Batch *b = at;
    Emit e = { 0 };
    Arena *arena = arena_new();
    b->error = emit_begin(&e, arena, "kernels");
    if (!b->error)
        b->error = batch_emit(b, &e);
    emit_end(&e);
    arena_free(arena);
}

/* ---- all of them ---- */

void side_add(Side *s, NodeId node, const char *name, int64_t weight)
{
    HEAP_ROOM(s->kernels, s->n, &s->room);
    s->kernels[s->n++] = (SideKernel){ node, name, weight, 0 };
}

void side_start(Side *s)
{
    enum { KERNELS_PER_BATCH = 4, MOST = 16 };
    s->nbatches = (s->n + KERNELS_PER_BATCH - 1) / KERNELS_PER_BATCH;
    s->nbatches = s->nbatches < MOST ? s->nbatches : MOST;
    s->batches = calloc((size_t)s->nbatches + 1, sizeof *s->batches);
    if (!s->batches)
        fail("no memory for %d batches of kernels", s->nbatches);
    for (int b = 0; b < s->nbatches; b++)
        s->batches[b] = (Batch){ .side = s, .number = b };
    share_out(s);
    for (int b = 0; b < s->nbatches; b++) {
        Batch *batch = &s->batches[b];
        Error *refused = thread_start_deep(&batch->thread, "kernels", batch_run, batch);
        batch->has_thread = !refused;
        error_free(refused);
    }
}

Error *side_wait(Side *s, const Object **objects, int *n)
{
    Error *error = NULL;
    s->objects = calloc((size_t)s->nbatches + 1, sizeof *s->objects);
    if (!s->objects)
        fail("no memory for %d objects", s->nbatches);
    for (int i = 0; i < s->nbatches; i++) {
        Batch *b = &s->batches[i];
        if (b->has_thread)
            thread_join(&b->thread);
        else
            batch_run(b);
        s->objects[i] = b->object;
        if (error)
            error_free(b->error);
        else
            error = b->error;
    }
    *objects = s->objects;
    *n = s->nbatches;
    return error;
}

void side_free(Side *s)
{
    for (int i = 0; s->objects && i < s->nbatches; i++)
        free(s->objects[i].bytes);
    free(s->objects);
    free(s->batches);
    heap_free(s->kernels);
    *s = (Side){ 0 };
}
