/* run.c - a run: its block and tables, its failure, its end.
 *
 * One block holds a Run and all its tables; the executor keeps some blocks for later runs.
 *
 * A run that fails makes its waiting tasks ready again, and every task that finds the run failed
 * ends: so a failed run ends as any other does, when its last task has. */
#include "engine/exec/executor.h"
#include "engine/stats.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_SPARE_RUNS = 64 };

/* ---- the block ---- */

static size_t block_bytes(const Program *p, int ntasks)
{
    size_t nargs = (size_t)ntasks * (size_t)p->nargs;
    size_t nouts = (size_t)ntasks * (size_t)p->nresults;
    return sizeof(Run) + sizeof(Task) * (size_t)ntasks + sizeof(Rendezvous) * (size_t)p->ngroups +
           sizeof(void *) * (2 * (nargs + nouts) + nouts + nargs);
}

static Run *take_spare(Executor *e, size_t room)
{
    lock_take(&e->lock);
    Run **link = &e->spare;
    while (*link && (*link)->room < room)
        link = &(*link)->next;
    Run *run = *link;
    if (run) {
        *link = run->next;
        e->nspare--;
    }
    lock_give(&e->lock);
    return run;
}

Error *run_new(Executor *e, const Program *p, int ntasks, Run **out)
{
    size_t needed = block_bytes(p, ntasks), room = needed;
    Run *run = take_spare(e, needed);
    if (run)
        room = run->room;
    else
        run = malloc(room);
    if (!run)
        return error_new(CODE_EXHAUSTED, "%.*s: no memory for the books of a run: %zu bytes",
                         STR_ARG(p->name), room);
    memset(run, 0, needed);
    run->executor = e;
    run->program = p;
    run->room = room;
    run->ntasks = run->nrunnable = ntasks;
    size_t nargs = (size_t)ntasks * (size_t)p->nargs;
    size_t nouts = (size_t)ntasks * (size_t)p->nresults;
    run->tasks = (Task *)(run + 1);
    run->pointers = (void **)(run->tasks + ntasks);
    run->holds = (Storage **)(run->pointers + nargs + nouts);
    run->buffers = (Buffer **)(run->holds + nargs + nouts);
    run->pending = (Event **)(run->buffers + nouts);
    run->rendezvous = (Rendezvous *)(run->pending + nargs);
    *out = run;
    return NULL;
}

void run_recycle(Run *run)
{
    Executor *e = run->executor;
    bool is_awaited = false; /* by executor_free, or by launches */
    shared_packing_free_all(run);
    deadline_end(run);
    free(run->callbacks);
    free(run->tracks);
    lock_take(&e->lock);
    if (run->link) { /* it was enqueued */
        *run->link = run->next;
        if (run->next)
            run->next->link = run->link;
        /* release: pairs with the acquire in executor_free */
        int before = atomic_fetch_sub_explicit(&e->nruns, 1, memory_order_release);
        is_awaited = (e->is_closing && before == 1) || e->nshort;
    }
    bool keeps = e->nspare < MAX_SPARE_RUNS;
    if (keeps) {
        run->next = e->spare;
        e->spare = run;
        e->nspare++;
    }
    lock_give(&e->lock);
    if (is_awaited)
        address_wake(&e->nruns, WAKE_ALL);
    if (!keeps)
        free(run);
}

Error *run_prepare_background(Run *run)
{
    int n = 0, nargs = run_nargs(run);
    for (int k = 0; k < nargs; k++)
        n += run->pending[k] != NULL;
    run->done = event_new();
    run->callbacks = n ? malloc(sizeof *run->callbacks * (size_t)n) : NULL;
    if (!run->done || (n && !run->callbacks))
        return error_new(CODE_EXHAUSTED, "%.*s: no memory to wait for %d arguments",
                         STR_ARG(run->program->name), n);
    return NULL;
}

/* ---- failure ---- */

Error *run_cancelled(const Run *run)
{
    /* relaxed: the caller has seen that it is set */
    Cancel why = atomic_load_explicit(&run->cancel, memory_order_relaxed);
    if (why == CANCEL_LATE)
        return error_new(CODE_CANCELLED, "%.*s was stopped: it took longer than %g seconds",
                         STR_ARG(run->program->name), (double)run->executor->deadlines.ns * 1e-9);
    return error_new(CODE_CANCELLED, "the run was stopped: %s",
                     why == CANCEL_ABANDONED ? "nobody holds its results, nor its executable"
                                             : "its client was closed");
}

void run_fail_locked(Run *run, Error *error, TaskList *released)
{
    if (run->error)
        error_free(error);
    else
        run->error = error;
    /* relaxed: a hint to stop soon; the error itself is read under the lock */
    atomic_store_explicit(&run->cancel, CANCEL_FAILED, memory_order_relaxed);
    for (int d = 0; d < run->ntasks; d++) {
        Task *t = &run->tasks[d];
        if (!t->is_waiting || t->is_crossing) /* crossing.c releases those */
            continue;
        t->is_waiting = false;
        run->nrunnable++;
        task_list_add(released, t);
    }
    for (int g = 0; g < run->program->ngroups; g++)
        run->rendezvous[g].narrived = 0;
}

void run_fail(Run *run, Error *error)
{
    TaskList released;
    task_list_start(&released);
    lock_take(&run->lock); /* also in a single-threaded run: see run_lock */
    run_fail_locked(run, error, &released);
    lock_give(&run->lock);
    executor_push_released(run, &released);
}

static Error *deadlock(const Run *run)
{
    stat_add(STAT_DEADLOCKS, 1);
    Text text = { .is_message = true };
    rendezvous_describe(run, &text);
    mailbox_describe(run, &text);
    Error *error = error_new(CODE_PRECONDITION, "%s", text_cstr(&text));
    text_free(&text);
    return error;
}

void run_lose_runnable(Run *run, TaskList *released)
{
    if (--run->nrunnable || run->nended == run->ntasks || run->ncrossing)
        return;
    /* Tasks that stopped because they were told to leave the others waiting: no deadlock. */
    run_fail_locked(run, run_is_cancelled(run) ? run_cancelled(run) : deadlock(run), released);
}

/* ---- the end ---- */

void run_release_holds(Run *run)
{
    for (int k = 0, n = run_nargs(run) + run_nouts(run); k < n && !run_is_left_behind(run); k++)
        storage_release(run->holds[k]);
}

void run_record_end(const Run *run)
{
    for (int d = 0; d < run->ntasks; d++) {
        const Device *device = run->tasks[d].device;
        record_memory(device->id, memory_stats(device->memory).bytes_in_use);
    }
    tracks_ended(run->tracks);
}

void run_end(Run *run)
{
    Error *error = run->error;
    if (!error && run_is_cancelled(run)) /* all its tasks ended before any of them failed it */
        error = run_cancelled(run);
    if (run->tracks)
        run_record_end(run);
    if (run->span)
        crossing_run_end(run, error);
    run_release_holds(run);
    event_set(run->done, error);
    event_release(run->done);
    executor_tell_callers(run->executor);
    if (run->on_end)
        run->on_end(run->user);
    run_recycle(run);
}
