/* slices.c - work cut into pieces for whoever is idle.
 *
 *     the one who cuts:  [0] [2] [5] ...    takes the next number until none is left,
 *     helpers:           [1] [3] [4] ...    then waits for helpers to end their last piece
 *
 * Only workers without a task help, so a cut never delays a device; and since a piece waits for
 * nothing, neither does the one who cuts, for longer than a piece. */
#include "engine/exec/slices.h"

#include "base/fail.h"
#include "engine/exec/executor.h"

static void take_slices(Cut *cut)
{
    int64_t i;
    /* relaxed: the lock gave the helper what is to be done; nhelpers gives back what it did */
    while ((i = atomic_fetch_add_explicit(&cut->next, 1, memory_order_relaxed)) < cut->n)
        cut->f(cut->user, i);
}

/* The oldest that still has slices. */
Cut *cut_to_help(Executor *e)
{
    Cut *found = NULL;
    for (Cut *cut = e->cuts; cut; cut = cut->below)
        /* relaxed: a wrong guess costs a look */
        if (atomic_load_explicit(&cut->next, memory_order_relaxed) < cut->n)
            found = cut;
    if (found)
        /* relaxed: under the lock */
        atomic_fetch_add_explicit(&found->nhelpers, 1, memory_order_relaxed);
    return found;
}

void cut_help(Cut *cut)
{
    take_slices(cut);
    /* release: pairs with the acquire in wait_for_helpers.  After it the cut may be gone; a wake
     * of its address then wakes nobody, or somebody who looks again. */
    if (atomic_fetch_sub_explicit(&cut->nhelpers, 1, memory_order_release) == 1)
        address_wake(&cut->nhelpers, WAKE_ALL);
}

/* Each is at its last slice. */
static void wait_for_helpers(Cut *cut)
{
    int n;
    /* acquire: pairs with the release in cut_help */
    for (int i = 0; (n = atomic_load_explicit(&cut->nhelpers, memory_order_acquire)); i++)
        if (i < SPINS)
            spin_pause();
        else
            address_wait(&cut->nhelpers, n);
}

/* A run that the caller plays may be the first that wants help: meetings count as no work. */
static void play_cut(Executor *e, Cut *cut)
{
    error_free(executor_start(e)); /* without helpers it is a plain loop */
    lock_take(&e->lock);
    cut->below = e->cuts;
    e->cuts = cut;
    int others = e->nworkers - 1, most = cut->n - 1 < others ? (int)cut->n - 1 : others;
    int nrings = ring_for(e, most);
    lock_give(&e->lock);
    if (nrings)
        address_wake(&e->bell, nrings);
    take_slices(cut);
    lock_take(&e->lock);
    Cut **link = &e->cuts;
    while (*link != cut)
        link = &(*link)->below;
    *link = cut->below;
    announce(e);
    lock_give(&e->lock);
    wait_for_helpers(cut);
}

static Executor *executor_of(const Frame *frame)
{
    const Task *t = frame ? frame->task : NULL;
    return t ? t->run->executor : NULL;
}

int frame_workers(const Frame *frame)
{
    const Executor *e = executor_of(frame);
    return e ? e->nworkers : 1;
}

int frame_idle(const Frame *frame)
{
    const Executor *e = executor_of(frame);
    if (!e)
        return 0;
    /* relaxed: see play in executor.c */
    int idle = e->nworkers - atomic_load_explicit(&e->nbusy, memory_order_relaxed);
    return idle > 0 ? idle : 0;
}

void frame_slices(const Frame *frame, int64_t n, SliceFn *f, void *user)
{
    Cut cut = { .f = f, .user = user, .n = n };
    if (n > 1 && frame_workers(frame) > 1)
        play_cut(executor_of(frame), &cut);
    else
        take_slices(&cut);
}

void frame_fail(const Frame *frame, Error *error)
{
    if (!frame)
        fail("%s", error_text(error)); /* nobody is there to be told: our own tests */
    Error *none = NULL;
    /* relaxed: who played the pieces is waited for before it is read */
    if (!__atomic_compare_exchange_n(&((Frame *)frame)->error, &none, error, false,
                                     __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        error_free(error);
}
