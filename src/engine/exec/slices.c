/* slices.c - work cut into pieces for whoever is idle.
 *
 *     the one who slice_jobs:  [0] [2] [5] ...    takes the next number until none is left,
 *     helpers:           [1] [3] [4] ...    then waits for helpers to end their last piece
 *
 * Only workers without a task help, so a cut never delays a device; and since a piece waits for
 * nothing, neither does the one who slice_jobs, for longer than a piece. */
#include "engine/slices.h"

#include "base/fail.h"
#include "engine/exec/executor.h"

static void take_slices(SliceJob *job)
{
    int64_t i;
    /* relaxed: the lock gave the helper what is to be done; nhelpers gives back what it did */
    while ((i = atomic_fetch_add_explicit(&job->next, 1, memory_order_relaxed)) < job->n)
        job->f(job->user, i);
}

/* The oldest that still has slices. */
SliceJob *slice_job_find(Executor *e)
{
    SliceJob *found = NULL;
    for (SliceJob *job = e->slice_jobs; job; job = job->below)
        /* relaxed: a wrong guess costs a look */
        if (atomic_load_explicit(&job->next, memory_order_relaxed) < job->n)
            found = job;
    if (found)
        /* relaxed: under the lock */
        atomic_fetch_add_explicit(&found->nhelpers, 1, memory_order_relaxed);
    return found;
}

void slice_job_help(SliceJob *job)
{
    take_slices(job);
    /* release: pairs with the acquire in wait_for_helpers.  After it the cut may be gone; a wake
     * of its address then wakes nobody, or somebody who looks again. */
    if (atomic_fetch_sub_explicit(&job->nhelpers, 1, memory_order_release) == 1)
        address_wake(&job->nhelpers, WAKE_ALL);
}

/* Each is at its last slice. */
static void wait_for_helpers(SliceJob *job)
{
    int n;
    /* acquire: pairs with the release in slice_job_help */
    for (int i = 0; (n = atomic_load_explicit(&job->nhelpers, memory_order_acquire)); i++)
        if (i < SPINS)
            spin_pause();
        else
            address_wait(&job->nhelpers, n);
}

/* A run that the caller plays may be the first that wants help: collectives count as no work. */
static void share_slices(Executor *e, SliceJob *job)
{
    error_free(executor_start(e)); /* without helpers it is a plain loop */
    lock_take(&e->lock);
    job->below = e->slice_jobs;
    e->slice_jobs = job;
    int others = e->nworkers - 1, most = job->n - 1 < others ? (int)job->n - 1 : others;
    int nwoken = executor_wake_for(e, most);
    lock_give(&e->lock);
    if (nwoken)
        address_wake(&e->wakeups, nwoken);
    take_slices(job);
    lock_take(&e->lock);
    SliceJob **link = &e->slice_jobs;
    while (*link != job)
        link = &(*link)->below;
    *link = job->below;
    executor_count_ready(e);
    lock_give(&e->lock);
    wait_for_helpers(job);
}

static Executor *executor_of(const Frame *frame)
{
    const Task *t = frame ? frame->task : NULL;
    return t ? t->run->executor : NULL;
}

int slices_workers(const Frame *frame)
{
    const Executor *e = executor_of(frame);
    return e ? e->nworkers : 1;
}

int slices_idle_workers(const Frame *frame)
{
    const Executor *e = executor_of(frame);
    if (!e)
        return 0;
    /* relaxed: see play in executor.c */
    int idle = e->nworkers - atomic_load_explicit(&e->nbusy, memory_order_relaxed);
    return idle > 0 ? idle : 0;
}

void slices_run(const Frame *frame, int64_t n, SliceFn *f, void *user)
{
    SliceJob job = { .f = f, .user = user, .n = n };
    if (n > 1 && slices_workers(frame) > 1)
        share_slices(executor_of(frame), &job);
    else
        take_slices(&job);
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
