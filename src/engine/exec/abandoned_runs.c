/* abandoned_runs.c - runs that go on though nobody can see what they give.
 *
 * A run is stopped when its executable is gone, it touches nothing outside, and nobody but itself
 * holds its results: no buffer, no view, no transfer, no run behind it that is wanted.  That is how a
 * user ends a program that has no end.  While the executable is there the run stays: whoever starts
 * it again and again and drops what it gives may want to know how long it takes.
 *
 * A run whose task stands in a queue has not ended, and cannot while the executor's lock is held:
 * the task would have to leave the queue. */
#include "engine/exec/executor.h"

typedef void RunVisit(Run *run, void *user);

/* Under the lock; each run once, on however many devices it is. */
static void visit_runs(Executor *e, RunVisit *visit, void *user)
{
    int32_t round = ++e->visit_round;
    for (int d = 0; d < e->ndevices; d++)
        for (Task *t = e->queues[d].head; t; t = t->next_queued)
            if (t->run->visited != round) {
                t->run->visited = round;
                visit(t->run, user);
            }
}

static bool is_stopped(const Run *run)
{
    /* relaxed: a hint to stop */
    return atomic_load_explicit(&run->cancel, memory_order_relaxed);
}

/* Counts in each storage how often the run holds it.  What is lent holds what it is lent from, once. */
static void count_holds(const Run *run, int by)
{
    const Program *p = run->program;
    int nargs = p->ndevices * p->nargs, n = nargs + p->ndevices * p->nresults;
    for (int k = 0; k < n; k++) {
        Storage *held = run->holds[k];
        if (!held)
            continue;
        held->nabandoned += by;
        if (k >= nargs && held->lender)
            held->lender->nabandoned += by;
    }
}

/* Under the lock: holds of runs that are to stop are counted in the storages, others not. */
static bool is_wanted(const Run *run)
{
    const Program *p = run->program;
    Storage *const *outs = run->holds + p->ndevices * p->nargs;
    count_holds(run, 1);
    bool is_held = false;
    for (int k = 0; k < p->ndevices * p->nresults && !is_held; k++)
        is_held = storage_holders(outs[k]) > outs[k]->nabandoned;
    if (is_held)
        count_holds(run, -1);
    return is_held;
}

static void forget_holds(Run *run, void *user)
{
    (void)user;
    const Program *p = run->program;
    for (int k = 0; k < p->ndevices * (p->nargs + p->nresults); k++)
        if (run->holds[k]) {
            run->holds[k]->nabandoned = 0;
            if (run->holds[k]->lender)
                run->holds[k]->lender->nabandoned = 0;
        }
}

static void count_stopped(Run *run, void *user)
{
    (void)user;
    if (is_stopped(run))
        count_holds(run, 1);
}

typedef struct Look {
    bool may_have_abandoned, has_stopped;
} Look;

static void look_at(Run *run, void *user)
{
    Look *look = user;
    if (!run->is_executable_gone || is_stopped(run))
        return;
    look->may_have_abandoned = true;
    if (is_wanted(run))
        return;
    atomic_store_explicit(&run->cancel, CANCEL_ABANDONED, memory_order_relaxed); /* a hint to stop */
    look->has_stopped = true;
}

/* Under the lock.  A run that stops may have been the one that wanted another.  One walk over all
 * holds, and one over those of orphans for each time that some stop. */
static void look_at_all(Executor *e)
{
    Look look;
    visit_runs(e, forget_holds, NULL);
    visit_runs(e, count_stopped, NULL);
    do {
        look = (Look){ 0 };
        visit_runs(e, look_at, &look);
    } while (look.has_stopped);
    /* relaxed: a hint, written under the lock */
    atomic_store_explicit(&e->may_have_abandoned, look.may_have_abandoned, memory_order_relaxed);
}

static void orphan(Run *run, void *program)
{
    run->is_executable_gone |= run->program == program;
}

void abandoned_runs_mark(Executor *e, const Program *program)
{
    lock_take(&e->lock);
    visit_runs(e, orphan, (void *)program);
    atomic_store_explicit(&e->may_have_abandoned, true, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst); /* see abandoned_runs_check */
    look_at_all(e);
    lock_give(&e->lock);
}

void abandoned_runs_check(Executor *e)
{
    /* Either this sees the flag, or whoever sets it sees what was let go. */
    atomic_thread_fence(memory_order_seq_cst);
    if (!atomic_load_explicit(&e->may_have_abandoned, memory_order_relaxed))
        return;
    lock_take(&e->lock);
    look_at_all(e);
    lock_give(&e->lock);
}
