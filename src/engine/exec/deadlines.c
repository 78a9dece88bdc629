/* deadlines.c - runs that may take so long and no longer.
 *
 * All runs of an executor may take equally long, so the one that was launched first is the next to be
 * late: they stand in a list in that order, and a thread looks at the first.  It tells a run to stop by the
 * flag that tasks look at between segments and loops in every iteration: a single operation runs to its
 * end. */
#include "engine/exec/executor.h"

#include <time.h>

/* Off the list; the lock is held. */
static void take_off(Deadlines *d, Run *run)
{
    *run->due_link = run->due_next;
    if (run->due_next)
        run->due_next->due_link = run->due_link;
    else
        d->end = run->due_link;
    run->due_link = NULL;
}

/* Tells the first run to stop if it is late.  Returns how long the thread has nothing to do, in ns; 0: until
 * there is a run.  The lock is held. */
static int64_t look(Deadlines *d)
{
    enum { SLICE = 5000000 }; /* it is not woken before a run is due, but when all is to end */
    Run *first = d->first;
    if (!first)
        return 0;
    int64_t left = first->due - clock_now_ns();
    if (left > 0)
        return left < SLICE ? left : SLICE;
    int seen = CANCEL_NOT;
    /* relaxed: a hint to stop; a run that has another reason keeps it */
    atomic_compare_exchange_strong_explicit(&first->cancel, &seen, CANCEL_LATE,
                                            memory_order_relaxed, memory_order_relaxed);
    take_off(d, first);
    return 1;
}

static void watch(void *user)
{
    Deadlines *d = user;
    for (;;) {
        lock_take(&d->lock);
        bool stops = d->is_stopping;
        int64_t idle = look(d);
        int seen = atomic_load_explicit(&d->news, memory_order_relaxed); /* under the lock */
        lock_give(&d->lock);
        struct timespec pause = { .tv_nsec = idle };
        if (stops)
            return;
        if (idle)
            nanosleep(&pause, NULL);
        else
            address_wait(&d->news, seen);
    }
}

/* There is a first run, or all is to end; the lock is held until here. */
static void tell(Deadlines *d)
{
    atomic_fetch_add_explicit(&d->news, 1, memory_order_relaxed); /* see watch */
    lock_give(&d->lock);
    address_wake(&d->news, WAKE_ALL);
}

Error *executor_bound_runs(Executor *e, double seconds)
{
    Deadlines *d = &e->deadlines;
    static const double MOST = 1e9; /* in ns this is far from what 64 bits hold */
    if (!(seconds > 0))
        return NULL;
    d->end = &d->first;
    TRY(thread_start(&d->thread, "tutti-clock", watch, d));
    d->ns =
        1 + (int64_t)((seconds < MOST ? seconds : MOST) * 1e9); /* not 0, which means no bound */
    return NULL;
}

void deadline_begin(Run *run)
{
    Deadlines *d = &run->executor->deadlines;
    if (!d->ns)
        return;
    run->due = clock_now_ns() + d->ns;
    lock_take(&d->lock);
    bool is_first = !d->first;
    run->due_next = NULL;
    run->due_link = d->end;
    *d->end = run;
    d->end = &run->due_next;
    if (is_first)
        tell(d);
    else
        lock_give(&d->lock);
}

void deadline_end(Run *run)
{
    Deadlines *d = &run->executor->deadlines;
    if (!d->ns)
        return;
    lock_take(&d->lock);
    if (run->due_link)
        take_off(d, run);
    lock_give(&d->lock);
}

void deadlines_free(Deadlines *d)
{
    if (!d->ns)
        return;
    lock_take(&d->lock);
    d->is_stopping = true;
    tell(d);
    thread_join(&d->thread);
}
