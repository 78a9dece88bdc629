/* abandoned_runs.c - runs whose results can no longer be reached are told to stop.
 *
 * A run is abandoned when its executable is gone, it has no effect beside its results, and nothing
 * but itself and other abandoned runs holds those: no buffer, no view, no transfer, no argument of
 * a later run that is not abandoned.  That is how a user ends a program that has no end.  While the
 * executable is there a run stays: a caller that starts it again and again and drops its results
 * may want to know how long it takes.
 *
 * A run whose task stands in a queue has not ended, and cannot while the executor's lock is held:
 * the task would have to leave the queue. */
#include "engine/exec/executor.h"

typedef void RunVisit(Run *run, void *user);

/* Visits each queued or running run once, on however many devices it is; the executor's lock is
 * held. */
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

/* Adds `by` to nabandoned of each storage for each hold of the run.  A storage that is lent holds
 * its lender, once. */
static void count_holds(const Run *run, int by)
{
    int nargs = run_nargs(run), n = nargs + run_nouts(run);
    for (int k = 0; k < n; k++) {
        Storage *held = run->holds[k];
        if (!held)
            continue;
        held->nabandoned += by;
        if (k >= nargs && held->lender)
            held->lender->nabandoned += by;
    }
}

/* Is a result of the run held by more than the run itself and runs that are to stop?  The holds of
 * those are counted in the storages; so are this run's, if the answer is no. */
static bool is_wanted(const Run *run)
{
    Storage *const *outs = run->holds + run_nargs(run);
    count_holds(run, 1);
    bool is_held = false;
    for (int k = 0; k < run_nouts(run) && !is_held; k++)
        is_held = storage_holders(outs[k]) > outs[k]->nabandoned;
    if (is_held)
        count_holds(run, -1);
    return is_held;
}

static void forget_holds(Run *run, void *user)
{
    (void)user;
    for (int k = 0; k < run_nargs(run) + run_nouts(run); k++)
        if (run->holds[k]) {
            run->holds[k]->nabandoned = 0;
            if (run->holds[k]->lender)
                run->holds[k]->lender->nabandoned = 0;
        }
}

static void count_holds_if_cancelled(Run *run, void *user)
{
    (void)user;
    if (run_is_cancelled(run))
        count_holds(run, 1);
}

typedef struct Found {
    bool has_candidates; /* runs whose executable is gone and that are not to stop */
    bool has_stopped;    /* one of them has now been told to */
} Found;

static void stop_if_abandoned(Run *run, void *user)
{
    Found *found = user;
    if (!run->is_executable_gone || run_is_cancelled(run))
        return;
    found->has_candidates = true;
    if (is_wanted(run))
        return;
    /* relaxed: a hint to stop */
    atomic_store_explicit(&run->cancel, CANCEL_ABANDONED, memory_order_relaxed);
    found->has_stopped = true;
}

/* The executor's lock is held.  A run that stops may have been the one that wanted another: hence
 * the loop, which costs one walk over all holds, and one over those of candidates for each time
 * that some stop. */
static void stop_abandoned(Executor *e)
{
    Found found;
    visit_runs(e, forget_holds, NULL);
    visit_runs(e, count_holds_if_cancelled, NULL);
    do {
        found = (Found){ 0 };
        visit_runs(e, stop_if_abandoned, &found);
    } while (found.has_stopped);
    /* relaxed: a hint, written under the lock */
    atomic_store_explicit(&e->may_have_abandoned, found.has_candidates, memory_order_relaxed);
}

static void mark_if_of_program(Run *run, void *program)
{
    run->is_executable_gone |= run->program == program;
}

void abandoned_runs_mark(Executor *e, const Program *program)
{
    lock_take(&e->lock);
    visit_runs(e, mark_if_of_program, (void *)program);
    atomic_store_explicit(&e->may_have_abandoned, true, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst); /* pairs with that in abandoned_runs_check */
    stop_abandoned(e);
    lock_give(&e->lock);
}

void abandoned_runs_check(Executor *e)
{
    /* Pairs with the fence in abandoned_runs_mark: either this thread sees the flag, or the thread
     * that sets it sees the hold that this one has released. */
    atomic_thread_fence(memory_order_seq_cst);
    if (!atomic_load_explicit(&e->may_have_abandoned, memory_order_relaxed))
        return;
    lock_take(&e->lock);
    stop_abandoned(e);
    lock_give(&e->lock);
}
