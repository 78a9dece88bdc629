/* unwanted.c - runs that go on though nobody can see what they give.
 *
 * A run is stopped when its executable is gone, it touches nothing outside, and nobody but itself
 * holds its results: no buffer, no view, no transfer, no run behind it that is wanted.  That is how a
 * user ends a program that has no end.  While the executable is there the run stays: whoever starts
 * it again and again and drops what it gives may want to know how long it takes.
 *
 * A run whose task stands in a queue has not ended, and cannot while the executor's lock is held:
 * the task would have to leave the queue. */
#include "engine/run/executor.h"

typedef void RunVisit(Run *run, void *user);

/* Under the lock; a run on several devices may come more than once. */
static void visit_runs(Executor *e, RunVisit *visit, void *user)
{
    for (int d = 0; d < e->ndevices; d++)
        for (Task *t = e->queues[d].head; t; t = t->next_queued)
            visit(t->run, user);
}

static bool is_stopped(const Run *run)
{
    /* relaxed: a hint to stop */
    return atomic_load_explicit(&run->cancel, memory_order_relaxed);
}

typedef struct Count {
    const Run *run; /* whose result it is */
    const Storage *storage;
    int holds; /* of runs that do not count: it, and those that are to stop */
    int32_t round;
} Count;

static int holds_of(const Run *run, const Storage *storage)
{
    const Program *p = run->program;
    int n = p->ndevices * (p->nargs + p->nresults), holds = 0;
    for (int k = 0; k < n; k++) {
        const Storage *held = run->holds[k];
        holds += held == storage;
        /* what is lent holds what it is lent from, once */
        holds += held && held->lender == storage && k >= p->ndevices * p->nargs;
    }
    return holds;
}

static void count_holds(Run *run, void *user)
{
    Count *count = user;
    if (run->seen == count->round || (run != count->run && !is_stopped(run)))
        return;
    run->seen = count->round;
    count->holds += holds_of(run, count->storage);
}

/* Under the lock. */
static bool is_wanted(Executor *e, const Run *run)
{
    const Program *p = run->program;
    Storage *const *outs = run->holds + p->ndevices * p->nargs;
    for (int k = 0; k < p->ndevices * p->nresults; k++) {
        Count count = { run, outs[k], 0, ++e->round };
        visit_runs(e, count_holds, &count);
        if (storage_holders(outs[k]) > count.holds)
            return true;
    }
    return false;
}

typedef struct Look {
    Executor *e;
    bool has_orphans, has_stopped;
} Look;

static void look_at(Run *run, void *user)
{
    Look *look = user;
    if (!run->is_orphan || is_stopped(run))
        return;
    look->has_orphans = true;
    if (is_wanted(look->e, run))
        return;
    atomic_store_explicit(&run->cancel, CANCEL_UNWANTED, memory_order_relaxed); /* a hint to stop */
    look->has_stopped = true;
}

/* Under the lock.  A run that stops may have been the one that wanted another. */
static void look_at_all(Executor *e)
{
    Look look;
    do {
        look = (Look){ .e = e };
        visit_runs(e, look_at, &look);
    } while (look.has_stopped);
    /* relaxed: a hint, written under the lock */
    atomic_store_explicit(&e->has_orphans, look.has_orphans, memory_order_relaxed);
}

static void orphan(Run *run, void *program)
{
    run->is_orphan |= run->program == program;
}

void executor_abandon(Executor *e, const Program *program)
{
    lock_take(&e->lock);
    visit_runs(e, orphan, (void *)program);
    atomic_store_explicit(&e->has_orphans, true, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst); /* see executor_let_go */
    look_at_all(e);
    lock_give(&e->lock);
}

void executor_let_go(Executor *e)
{
    /* Either this sees the flag, or whoever sets it sees what was let go. */
    atomic_thread_fence(memory_order_seq_cst);
    if (!atomic_load_explicit(&e->has_orphans, memory_order_relaxed))
        return;
    lock_take(&e->lock);
    look_at_all(e);
    lock_give(&e->lock);
}
