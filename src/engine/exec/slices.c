/* slices.c - loops that idle workers help with.
 *
 *     the task's thread:  [0] [1] [2] ...    each thread begins at a place of its own, and when that range
 *     helpers:            [8] [9] ...        is empty takes from the others'; then the task's thread
 *                                            waits for the helpers to end their last slice
 *
 * So when a program is run again, or the next loop reads what this one wrote, most slices come to the
 * core that has their memory in its caches: from another core's it takes three times as long.
 * Only workers without a task help, so a job never delays another device; and since a slice waits
 * for nothing, the task's thread waits for no longer than a slice takes. */
#include "engine/slices.h"

#include "base/fail.h"
#include "engine/exec/executor.h"

static void cut_ranges(SliceJob *job, int nworkers)
{
    job->nranges = nworkers < MOST_RANGES ? nworkers : MOST_RANGES;
    for (int r = 0; r < job->nranges; r++) {
        atomic_init(&job->ranges[r].next, job->n * r / job->nranges);
        job->ranges[r].end = job->n * (r + 1) / job->nranges;
    }
}

static bool has_slices(const SliceJob *job)
{
    for (int r = 0; r < job->nranges; r++)
        /* relaxed: a wrong guess costs a look */
        if (atomic_load_explicit(&job->ranges[r].next, memory_order_relaxed) < job->ranges[r].end)
            return true;
    return false;
}

/* Returns how many it took. */
static int64_t take_slices(SliceJob *job)
{
    int64_t i, n = 0;
    for (int k = 0; k < job->nranges; k++) {
        SliceRange *range = &job->ranges[(worker_number() + k) % job->nranges];
        /* relaxed: the executor's lock gave the helper the job; nhelpers gives back what it wrote */
        for (; (i = atomic_fetch_add_explicit(&range->next, 1, memory_order_relaxed)) < range->end;
             n++)
            job->f(job->user, i);
    }
    return n;
}

/* The oldest that still has slices. */
SliceJob *slice_job_find(Executor *e)
{
    SliceJob *found = NULL;
    for (SliceJob *job = e->slice_jobs; job; job = job->below)
        if (has_slices(job))
            found = job;
    if (found)
        /* relaxed: under the lock */
        atomic_fetch_add_explicit(&found->nhelpers, 1, memory_order_relaxed);
    return found;
}

void slice_job_help(SliceJob *job)
{
    uint64_t began = job->track ? ticks_now() : 0;
    int64_t n = take_slices(job);
    if (job->track && n)
        track_helped(job->track, began, n);
    /* release: pairs with the acquire in run_job.  After it the job may be gone; a wake of its
     * address then wakes no thread, or one that looks again. */
    if (atomic_fetch_sub_explicit(&job->nhelpers, 1, memory_order_release) == 1)
        address_wake(&job->nhelpers, WAKE_ALL);
}

static void run_job(Executor *e, SliceJob *job)
{
    /* An inline run may be the first that wants help.  Without workers this is a plain loop. */
    error_free(executor_start(e));
    executor_add_slice_job(e, job);
    take_slices(job);
    executor_remove_slice_job(e, job);
    int n; /* helpers, each at its last slice */
    /* acquire: pairs with the release in slice_job_help */
    for (int i = 0; (n = atomic_load_explicit(&job->nhelpers, memory_order_acquire)); i++)
        if (i < SPINS)
            spin_pause();
        else
            address_wait(&job->nhelpers, n);
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
    /* relaxed: see run_ready_task in executor.c */
    int idle = e->nworkers - atomic_load_explicit(&e->nbusy, memory_order_relaxed);
    return idle > 0 ? idle : 0;
}

void slices_run(const Frame *frame, int64_t n, SliceFn *f, void *user)
{
    SliceJob job = { .f = f, .user = user, .n = n, .track = frame ? frame->track : NULL };
    bool is_shared = n > 1 && slices_workers(frame) > 1;
    cut_ranges(&job, is_shared ? slices_workers(frame) : 1);
    if (is_shared)
        run_job(executor_of(frame), &job);
    else
        take_slices(&job);
}

void frame_fail(const Frame *frame, Error *error)
{
    if (!frame)
        fail("%s", error_text(error)); /* only our own tests call routines without a frame */
    Error *none = NULL;
    /* relaxed: the task's thread reads it after it has waited for the helpers */
    if (!__atomic_compare_exchange_n(&((Frame *)frame)->error, &none, error, false,
                                     __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        error_free(error);
}
