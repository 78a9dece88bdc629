/* parallel_compile.c - kernels are compiled side by side: a list of them in, objects out.
 *
 *     list by weight:  9 8 5 4 3 3 2 ...            batch 0: 9 3 2     --> object
 *                      each to the lightest batch   batch 1: 8 3       --> object
 *                                                   batch 2: 5 4 ...   --> object
 *
 * Each batch has an LLVM context of its own, so the threads share nothing but the program, which
 * no thread changes any more.  A thread for each core but the caller's takes the batches in order, and
 * the caller helps once it waits.  What goes into which batch depends on the list only, so an equal
 * program gives equal code, however many threads there are to run the batches. */
#include "engine/link/link.h"
#include "engine/link/plain_code.h"

#include "base/grow.h"
#include "base/sync.h"

#include <stdlib.h>

struct Batch {
    const ParallelCompile *side;
    int number;
    int64_t weight;
    Object object;
    PlainCode plain;
    Arena *arena; /* which that is in */
    Error *error;
};

/* ---- who goes where ---- */

static int heavier_first(const void *a, const void *b)
{
    const PendingKernel *x = a, *y = b;
    if (x->weight != y->weight)
        return x->weight > y->weight ? -1 : 1;
    return x->node < y->node ? -1 : x->node > y->node;
}

static void share_out(ParallelCompile *s)
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
        const PendingKernel *k = &b->side->kernels[i];
        LLVMValueRef function = NULL;
        if (k->batch != b->number)
            continue;
        TRY(kernel_emit(e, b->side->m, k->node, k->name, &function));
        publish(function);
    }
    if (b->side->takes_plain)
        plain_code_take(e, b->arena, &b->plain);
    return has_code(e) ? emit_object(e, &b->object.bytes, &b->object.n) : NULL;
}

static void batch_make(void *at)
{
    Batch *b = at;
    Emit e = { 0 };
    b->arena = arena_new();
    b->error = emit_begin(&e, b->arena, "kernels", NULL);
    e.hurries = b->side->hurries;
    if (!b->error)
        b->error = batch_emit(b, &e);
    emit_end(&e);
}

/* Batches are taken until there are none: by the threads, and by the caller in the end. */
static void batches_make(void *at)
{
    ParallelCompile *s = at;
    for (;;) {
        /* relaxed: a number goes to one thread only; joining shows what that thread made */
        int i = atomic_fetch_add_explicit(&s->next, 1, memory_order_relaxed);
        if (i >= s->nbatches)
            return;
        Error *left = guard_run_in(s->guard, "compiling kernels", batch_make, &s->batches[i]);
        if (left) { /* and what it had made is gone */
            s->batches[i] = (Batch){ .error = left };
        }
    }
}

/* ---- all of them ---- */

void parallel_compile_add(ParallelCompile *s, NodeId node, const char *name, int64_t weight)
{
    HEAP_ROOM(s->kernels, s->n, &s->room);
    s->kernels[s->n++] = (PendingKernel){ node, name, weight, 0 };
}

static void join_all(ParallelCompile *s)
{
    while (s->nthreads)
        thread_join(&s->threads[--s->nthreads]);
}

/* The guard is left: no thread begins another batch, and this one waits for those under way. */
static void parallel_compile_drop(void *user)
{
    ParallelCompile *s = user;
    atomic_store_explicit(&s->next, s->nbatches, memory_order_relaxed);
    join_all(s);
}

/* A batch costs LLVM as much as a small kernel before it has any, but two of few kernels are made in the time of
 * one. */
static int batches_for(int nkernels)
{
    enum { KERNELS_PER_BATCH = 4, MOST = 16 };
    int n = (nkernels + KERNELS_PER_BATCH - 1) / KERNELS_PER_BATCH;
    n = nkernels > 1 && n < 2 ? 2 : n;
    return n < MOST ? n : MOST;
}

void parallel_compile_start(ParallelCompile *s)
{
    s->nbatches = batches_for(s->n);
    s->batches = HEAP_ARRAY(Batch, s->nbatches, "a list of batches");
    s->objects = HEAP_ARRAY(Object, s->nbatches, "a list of objects");
    for (int b = 0; b < s->nbatches; b++)
        s->batches[b] = (Batch){ .side = s, .number = b };
    share_out(s);
    /* where all glue is plain code, the caller has nothing else to do than the first batch */
    int others = s->takes_plain && s->nbatches ? s->nbatches - 1 : s->nbatches;
    int wanted = s->cores - 1 < others ? s->cores - 1 : others;
    s->threads = HEAP_ARRAY(Thread, wanted, "a list of threads");
    s->guard = guard_here();
    guard_defer(parallel_compile_drop, s);
    for (int i = 0; i < wanted; i++) {
        Error *refused = thread_start_deep(&s->threads[i], "kernels", batches_make, s);
        error_free(refused);
        if (refused) /* the others and the caller do it all */
            break;
        s->nthreads++;
    }
}

Error *parallel_compile_wait(ParallelCompile *s, const Object **objects, int *n)
{
    Error *error = NULL;
    batches_make(s);
    join_all(s);
    guard_forget(parallel_compile_drop, s);
    for (int i = 0; i < s->nbatches; i++) {
        s->objects[i] = s->batches[i].object;
        if (error)
            error_free(s->batches[i].error);
        else
            error = s->batches[i].error;
    }
    *objects = s->objects;
    *n = s->nbatches;
    return error;
}

const PlainCode *parallel_compile_plain(const ParallelCompile *s, int i)
{
    return &s->batches[i].plain;
}

void parallel_compile_free(ParallelCompile *s)
{
    for (int i = 0; s->objects && i < s->nbatches; i++) {
        heap_free(s->objects[i].bytes);
        arena_free(s->batches[i].arena);
    }
    heap_free(s->objects);
    heap_free(s->threads);
    heap_free(s->batches);
    heap_free(s->kernels);
    *s = (ParallelCompile){ 0 };
}
