/* executor.c - devices' queues, the tasks that can move, and the workers that move them.
 *
 *     launch --> queue of device 0:  [task of run 7] [task of run 8]     in order per device
 *                queue of device 1:  [task of run 7]
 *                      |  at the head, arguments there
 *                      v
 *                ready: task, task, task      <-- tasks whose collective has been performed
 *                      |
 *                      v
 *                worker, worker               one per core allowed
 *
 * A launch enters all its queues under one lock, so any two launches stand in the same order in
 * every queue they share and cannot wait for one another in a circle.
 *
 * Workers look for work for a short while before they sleep on the bell; whoever adds work
 * rings for as many as sleep and are needed. */
#include "engine/exec/executor.h"

#include "base/fail.h"
#include "engine/floats.h"
#include "engine/shared_packing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_QUEUED = 32, MAX_SPARE_RUNS = 64 };

static _Thread_local bool is_worker;

void task_list_add(TaskList *list, Task *t)
{
    t->next_ready = NULL;
    *list->end = t;
    list->end = &t->next_ready;
    list->n++;
}

Task *task_list_pop(TaskList *list)
{
    Task *t = list->first;
    if (!t)
        return NULL;
    list->first = t->next_ready;
    if (!list->first)
        list->end = &list->first;
    list->n--;
    return t;
}

static Error *workers_wanted(int nworkers, int *out)
{
    enum { MOST = 4096 };
    const char *said = getenv("TUTTI_WORKERS");
    *out = nworkers > 0 ? nworkers : cores_allowed();
    if (nworkers > 0 || !said || !*said)
        return NULL;
    char *end;
    long n = strtol(said, &end, 10);
    if (*end || n < 1 || n > MOST)
        return error_new(CODE_INVALID, "TUTTI_WORKERS is '%s'; 1 to %d are possible", said, MOST);
    *out = (int)n;
    return NULL;
}

static bool make_tables(Executor *e, size_t memory_limit)
{
    e->scratch = memory_new(-1, 0);
    e->devices = calloc((size_t)e->ndevices, sizeof *e->devices);
    e->queues = calloc((size_t)e->ndevices, sizeof *e->queues);
    e->threads = calloc((size_t)e->nworkers, sizeof *e->threads);
    bool has_all = e->scratch && e->devices && e->queues && e->threads;
    for (int i = 0; has_all && i < e->ndevices; i++) {
        e->queues[i].end = &e->queues[i].head;
        e->devices[i] = (Device){
            .id = i, .memory = memory_new(i, memory_limit), .executor = e, .queue = &e->queues[i]
        };
        has_all = e->devices[i].memory;
    }
    return has_all;
}

Error *executor_new(int ndevices, int nworkers, size_t memory_limit, Executor **out)
{
    if (ndevices < 1)
        return error_new(CODE_INVALID, "%d devices asked for; there must be at least one",
                         ndevices);
    int workers;
    TRY(workers_wanted(nworkers, &workers));
    Executor *e = aligned_alloc(64, sizeof *e);
    if (!e)
        return error_new(CODE_EXHAUSTED, "no memory for %d devices", ndevices);
    memset(e, 0, sizeof *e);
    e->ndevices = ndevices;
    e->nworkers = workers;
    e->generation = fork_generation();
    task_list_start(&e->ready);
    if (!make_tables(e, memory_limit)) {
        executor_free(e);
        return error_new(CODE_EXHAUSTED, "no memory for %d devices", ndevices);
    }
    *out = e;
    return NULL;
}

Error *executor_check(const Executor *e)
{
    if (e->generation == fork_generation())
        return NULL;
    return error_new(CODE_PRECONDITION,
                     "this process was forked from one whose devices it would use, and their "
                     "workers did not come along; start it by spawn, or make the client after "
                     "the fork");
}

Device *executor_device(Executor *e, int i)
{
    require(i >= 0 && i < e->ndevices);
    return &e->devices[i];
}

int executor_workers(const Executor *e)
{
    return e->nworkers;
}

/* Blocks of runs.  One block holds a run and all its tables. */

static size_t run_room(const Program *p)
{
    size_t nargs = (size_t)p->ndevices * (size_t)p->nargs;
    size_t nouts = (size_t)p->ndevices * (size_t)p->nresults;
    return sizeof(Run) + sizeof(Task) * (size_t)p->ndevices + sizeof(Rendezvous) * (size_t)p->ngroups +
           sizeof(void *) * (2 * (nargs + nouts) + nouts + nargs);
}

static Run *spare_run(Executor *e, size_t room)
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

Error *run_new(Executor *e, const Program *p, Run **out)
{
    size_t needed = run_room(p), room = needed;
    Run *run = spare_run(e, needed);
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
    run->nrunnable = p->ndevices;
    size_t nargs = (size_t)p->ndevices * (size_t)p->nargs;
    size_t nouts = (size_t)p->ndevices * (size_t)p->nresults;
    run->tasks = (Task *)(run + 1);
    run->pointers = (void **)(run->tasks + p->ndevices);
    run->holds = (Storage **)(run->pointers + nargs + nouts);
    run->buffers = (Buffer **)(run->holds + nargs + nouts);
    run->pending = (Event **)(run->buffers + nouts);
    run->rendezvous = (Rendezvous *)(run->pending + nargs);
    *out = run;
    return NULL;
}

/* Under the lock: the run is no longer under way.  Returns whether executor_free waits for it. */
static bool unlink_run(Executor *e, Run *run)
{
    *run->link = run->next;
    if (run->next)
        run->next->link = run->link;
    /* release: pairs with the acquire in executor_free */
    int before = atomic_fetch_sub_explicit(&e->nruns, 1, memory_order_release);
    return e->is_closing && before == 1;
}

void run_recycle(Run *run)
{
    Executor *e = run->executor;
    shared_packing_free_all(run);
    free(run->callbacks);
    lock_take(&e->lock);
    bool is_awaited = run->link && unlink_run(e, run);
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

/* Tasks that can move. */

void executor_count_ready(Executor *e)
{
    int ncuts = e->slice_jobs != NULL;
    /* relaxed: a worker that peeks too early looks again under the lock before it sleeps */
    atomic_store_explicit(&e->nready, e->ready.n + ncuts, memory_order_relaxed);
}

int executor_wake_for(Executor *e, int n)
{
    executor_count_ready(e);
    /* relaxed: the same.  Those who look will see it, and one thread more than there are cores
     * would only be in their way. */
    n += e->ready.n - atomic_load_explicit(&e->nlooking, memory_order_relaxed);
    int nwoken = n < 0 ? 0 : e->nsleeping < n ? e->nsleeping : n;
    if (nwoken)
        /* relaxed: the lock orders it; a sleeper read it under the lock */
        atomic_fetch_add_explicit(&e->wakeups, 1, memory_order_relaxed);
    return nwoken;
}

static void push(Executor *e, TaskList *list)
{
    lock_take(&e->lock);
    *e->ready.end = list->first;
    e->ready.end = list->end;
    e->ready.n += list->n;
    int nwoken = executor_wake_for(e, 0);
    lock_give(&e->lock);
    if (nwoken)
        address_wake(&e->wakeups, nwoken);
}

void executor_push_released(Run *run, TaskList *list)
{
    if (list->n && !run->is_single_threaded)
        push(run->executor, list);
}

void executor_push(Task *t)
{
    TaskList one;
    task_list_start(&one);
    task_list_add(&one, t);
    push(t->run->executor, &one);
}

/* Workers. */

/* Looks for a short while without the lock. */
static bool work_appears(Executor *e)
{
    int left = SPINS;
    /* relaxed: see executor_count_ready */
    atomic_fetch_add_explicit(&e->nlooking, 1, memory_order_relaxed);
    while (!atomic_load_explicit(&e->nready, memory_order_relaxed) && left--)
        spin_pause();
    atomic_fetch_sub_explicit(&e->nlooking, 1, memory_order_relaxed);
    return left >= 0;
}

typedef struct Work {
    Task *task; /* or: */
    SliceJob *job;   /* or: */
    bool stops;
} Work;

/* What there is to do.  If there is nothing and `sleeps`: until the bell has rung.  A worker that
 * is not about to sleep does not queue for the lock: whoever has it may be taking the work. */
static Work find_work(Executor *e, bool sleeps)
{
    if (sleeps)
        lock_take(&e->lock);
    else if (!lock_try(&e->lock))
        return (Work){ 0 };
    Work work = { .task = task_list_pop(&e->ready) };
    if (work.task)
        executor_count_ready(e);
    else
        work.job = slice_job_find(e);
    if (!work.task && !work.job)
        /* relaxed: see executor_count_ready; slice_jobs that are all taken are no work */
        atomic_store_explicit(&e->nready, 0, memory_order_relaxed);
    work.stops = e->is_stopping;
    sleeps = sleeps && !work.task && !work.job && !work.stops;
    /* relaxed: rung under the lock */
    int seen = atomic_load_explicit(&e->wakeups, memory_order_relaxed);
    e->nsleeping += sleeps;
    lock_give(&e->lock);
    if (sleeps) {
        address_wait(&e->wakeups, seen);
        lock_take(&e->lock);
        e->nsleeping--;
        lock_give(&e->lock);
    }
    return work;
}

static void play(Executor *e, Task *t)
{
    /* relaxed: whoever asks only wants to know about how many */
    atomic_fetch_add_explicit(&e->nbusy, 1, memory_order_relaxed);
    loc_table = t->run->locs;
    if (t->run->is_single_threaded)
        lockstep_run(t->run);
    else
        task_run(t);
    loc_table = NULL;
    atomic_fetch_sub_explicit(&e->nbusy, 1, memory_order_relaxed);
}

static void worker(void *user)
{
    is_worker = true;
    floats_enter_default(); /* it has begun with its maker's, who may be playing */
    floats_enter_compiled();
    Executor *e = user;
    bool sleeps = false;
    for (;;) {
        Work work = find_work(e, sleeps);
        sleeps = false;
        if (work.task)
            play(e, work.task);
        else if (work.job)
            slice_job_help(work.job);
        else if (work.stops)
            return;
        else
            sleeps = e->nworkers == 1 || !work_appears(e);
    }
}

enum { NOT_STARTED, STARTING, STARTED };

/* Some are enough. */
static Error *start_workers(Executor *e)
{
    Error *error = NULL;
    while (!error && e->nstarted < e->nworkers) {
        char name[16];
        snprintf(name, sizeof name, "tutti-%d", e->nstarted & 0xffff);
        error = thread_start(&e->threads[e->nstarted], name, worker, e);
        if (!error)
            e->nstarted++;
    }
    if (error && e->nstarted) {
        error_free(error);
        error = NULL;
    }
    return error;
}

/* One caller starts them, without a lock; others wait until there are some. */
Error *executor_start(Executor *e)
{
    for (;;) {
        int seen = NOT_STARTED;
        /* acquire: pairs with the release below */
        if (atomic_compare_exchange_strong_explicit(&e->start, &seen, STARTING,
                                                    memory_order_acquire, memory_order_acquire))
            break;
        if (seen == STARTED)
            return NULL;
        address_wait(&e->start, STARTING);
    }
    Error *error = start_workers(e);
    atomic_store_explicit(&e->start, error ? NOT_STARTED : STARTED, memory_order_release);
    address_wake(&e->start, WAKE_ALL);
    return error;
}

/* Queues of devices. */

static int nqueued(const Device *device)
{
    Queue *queue = device->queue;
    /* acquire: pairs with the release in executor_dequeue */
    return atomic_load_explicit(&queue->nqueued, memory_order_acquire);
}

bool executor_is_idle(Executor *e, int ndevices, Device *const *devices)
{
    (void)e;
    for (int d = 0; d < ndevices; d++)
        if (nqueued(devices[d]))
            return false;
    return true;
}

void executor_wait_for_room(Executor *e, int ndevices, Device *const *devices)
{
    (void)e;
    if (is_worker) /* it must not wait for work that only it may be there to do */
        return;
    event_run_callbacks();
    for (int d = 0; d < ndevices; d++) {
        Queue *queue = devices[d]->queue;
        int n;
        while ((n = nqueued(devices[d])) >= MAX_QUEUED)
            address_wait(&queue->nqueued, n);
    }
}

void executor_enqueue(Run *run)
{
    Executor *e = run->executor;
    int ndevices = run->program->ndevices;
    lock_take(&e->lock);
    for (int d = 0; d < ndevices; d++) {
        Task *t = &run->tasks[d];
        Queue *queue = t->device->queue;
        if (!queue->head)
            /* relaxed: launch still blocks the task */
            atomic_fetch_sub_explicit(&t->nblockers, 1, memory_order_relaxed);
        t->next_queued = NULL;
        *queue->end = t;
        queue->end = &t->next_queued;
        /* relaxed: readers only ask whether there is something */
        atomic_fetch_add_explicit(&queue->nqueued, 1, memory_order_relaxed);
    }
    run->next = e->runs;
    run->link = &e->runs;
    if (run->next)
        run->next->link = &run->next;
    e->runs = run;
    if (e->is_closing)
        /* relaxed: a hint to stop */
        atomic_store_explicit(&run->cancel, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&e->nruns, 1, memory_order_relaxed); /* under the lock */
    lock_give(&e->lock);
}

void executor_unblock(Task *t)
{
    /* acquire and release: the one that reaches 0 sees what the others wrote */
    if (atomic_fetch_sub_explicit(&t->nblockers, 1, memory_order_acq_rel) != 1)
        return;
    if (!t->run->is_single_threaded)
        executor_push(t);
    else if (atomic_fetch_sub_explicit(&t->run->nblocked, 1, memory_order_acq_rel) == 1)
        executor_push(t);
}

void executor_dequeue(Task *t)
{
    Executor *e = t->run->executor;
    Queue *queue = t->device->queue;
    lock_take(&e->lock);
    require(queue->head == t);
    Task *next = t->next_queued;
    queue->head = next;
    if (!next)
        queue->end = &queue->head;
    /* release: pairs with the acquire in nqueued */
    int before = atomic_fetch_sub_explicit(&queue->nqueued, 1, memory_order_release);
    lock_give(&e->lock);
    if (before >= MAX_QUEUED)
        address_wake(&queue->nqueued, WAKE_ALL);
    if (next)
        executor_unblock(next);
}

/* The end. */

static void cancel_runs(Executor *e)
{
    lock_take(&e->lock);
    e->is_closing = true;
    for (Run *run = e->runs; run; run = run->next)
        /* relaxed: a hint to stop; the run makes its own error */
        atomic_store_explicit(&run->cancel, 1, memory_order_relaxed);
    lock_give(&e->lock);
}

static void stop_workers(Executor *e)
{
    lock_take(&e->lock);
    e->is_stopping = true;
    atomic_fetch_add_explicit(&e->wakeups, 1, memory_order_relaxed); /* see executor_count_ready */
    lock_give(&e->lock);
    address_wake(&e->wakeups, WAKE_ALL);
    for (int i = 0; i < e->nstarted; i++)
        thread_join(&e->threads[i]);
}

void executor_free(Executor *e)
{
    if (!e)
        return;
    if (e->generation == fork_generation()) {
        cancel_runs(e);
        event_run_callbacks();
        int n;
        /* acquire: pairs with the release in unlink_run */
        while ((n = atomic_load_explicit(&e->nruns, memory_order_acquire)))
            address_wait(&e->nruns, n);
        stop_workers(e);
    }
    while (e->spare) {
        Run *run = e->spare;
        e->spare = run->next;
        free(run);
    }
    for (int i = 0; e->devices && i < e->ndevices; i++)
        memory_free(e->devices[i].memory);
    memory_free(e->scratch);
    free(e->devices);
    free(e->queues);
    free(e->threads);
    free(e);
}
