/* executor.c - the queues of devices, the tasks that are ready, and the workers that run them.
 *
 *     launch --> queue of device 0:  [task of run 7] [task of run 8]     in order per device
 *                queue of device 1:  [task of run 7]
 *                      |  first on its queue, arguments there
 *                      v
 *                ready: task, task, task      <-- tasks whose collective has been performed
 *                      |
 *                      v
 *                worker, worker               one per core allowed
 *
 * A worker looks for work for a short while before it sleeps.  A thread that adds work wakes as
 * many sleeping workers as the work needs beyond those that are looking.  Where the caller lends
 * threads of its own there are no workers: as many jobs are submitted to its pool instead (door.c),
 * and a thread that waits for its call works too.
 *
 * executor.h says how all this hangs together. */
#include "engine/exec/executor.h"

#include "base/fail.h"
#include "engine/floats.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_QUEUED = 32 };

static _Thread_local bool is_worker;
static _Thread_local int number; /* of a worker */
/* The run for which this thread is counted among the busy, or NULL. */
static _Thread_local const Run *counted;

int worker_number(void)
{
    return number;
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
    e->places = places_new(e->nworkers);
    bool has_all = e->scratch && e->devices && e->queues && e->threads && e->places;
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

void executor_name_devices(Executor *e, int first)
{
    for (int i = 0; i < e->ndevices; i++) {
        e->devices[i].id = first + i;
        memory_name(e->devices[i].memory, first + i);
    }
}

void executor_supply(Executor *e, const Supply *supply)
{
    memory_supply(e->scratch, supply);
    for (int i = 0; i < e->ndevices; i++)
        memory_supply(e->devices[i].memory, supply);
}

int executor_workers(const Executor *e)
{
    return e->nworkers;
}

/* ---- the ready list ---- */

/* Tells workers whether there is work; the lock is held. */
static void publish_ready(Executor *e)
{
    int n = e->ready.n + (e->slice_jobs != NULL);
    /* relaxed: a worker that looks too early looks again under the lock before it sleeps */
    atomic_store_explicit(&e->nready, n, memory_order_relaxed);
}

/* Who is to be told of new work. */
typedef struct Wakeups {
    int nsleeping; /* threads that sleep */
    int nlent;     /* threads of the caller's pool */
} Wakeups;

/* Publishes new work, for which `nhelpers` workers are wanted beyond one for each ready task;
 * the lock is held.  The caller tells them by wake_workers, without the lock. */
static Wakeups count_wakeups(Executor *e, int nhelpers)
{
    publish_ready(e);
    /* relaxed: as in publish_ready.  Workers that are looking will see the work, and one thread
     * more than there are cores would only be in their way. */
    int n = nhelpers + e->ready.n - atomic_load_explicit(&e->nlooking, memory_order_relaxed);
    n = n < 0 ? 0 : n;
    Wakeups w = { .nsleeping = e->nsleeping < n ? e->nsleeping : n };
    if (e->door) {
        w.nlent = e->nlendable < n ? e->nlendable : n;
        e->nlendable -= w.nlent;
        w.nsleeping = e->nsleeping; /* one that wakes for its own call's end looks for no work */
    }
    if (w.nsleeping)
        /* relaxed: the lock orders it; a sleeper read it under the lock */
        atomic_fetch_add_explicit(&e->wakeups, 1, memory_order_relaxed);
    return w;
}

static void wake_workers(Executor *e, Wakeups w)
{
    if (w.nsleeping)
        address_wake(&e->wakeups, w.nsleeping);
    while (w.nlent--)
        door_submit(e->door);
}

static void push_list(Executor *e, TaskList *list)
{
    lock_take(&e->lock);
    *e->ready.end = list->first;
    e->ready.end = list->end;
    e->ready.n += list->n;
    Wakeups wakeups = count_wakeups(e, 0);
    lock_give(&e->lock);
    wake_workers(e, wakeups);
}

void executor_push_released(Run *run, TaskList *list)
{
    if (list->n && !run->is_single_threaded)
        push_list(run->executor, list);
}

void executor_push(Task *t)
{
    TaskList one;
    task_list_start(&one);
    task_list_add(&one, t);
    push_list(t->run->executor, &one);
}

void executor_add_slice_job(Executor *e, SliceJob *job)
{
    int others = e->nworkers - 1, nhelpers = job->n - 1 < others ? (int)job->n - 1 : others;
    lock_take(&e->lock);
    job->below = e->slice_jobs;
    e->slice_jobs = job;
    Wakeups wakeups = count_wakeups(e, nhelpers);
    lock_give(&e->lock);
    places_make_room(e->places, e->nworkers);
    wake_workers(e, wakeups);
}

void executor_remove_slice_job(Executor *e, SliceJob *job)
{
    lock_take(&e->lock);
    SliceJob **link = &e->slice_jobs;
    while (*link != job)
        link = &(*link)->below;
    *link = job->below;
    publish_ready(e);
    lock_give(&e->lock);
}

/* ---- workers ---- */

/* Looks for a short while, without the lock, for work that appears, or until the event is ready (NULL:
 * there is none). */
static bool work_appears(Executor *e, const Event *until)
{
    int left = SPINS;
    /* relaxed: see publish_ready and count_wakeups */
    atomic_fetch_add_explicit(&e->nlooking, 1, memory_order_relaxed);
    while (!atomic_load_explicit(&e->nready, memory_order_relaxed) &&
           !(until && event_is_ready(until)) && left--)
        spin_pause();
    atomic_fetch_sub_explicit(&e->nlooking, 1, memory_order_relaxed);
    return left >= 0;
}

typedef struct Work {
    Task *task;    /* or: */
    SliceJob *job; /* or: */
    bool stops;
} Work;

static bool is_work(Work work)
{
    return work.task || work.job;
}

/* The next work, or none; the lock is held. */
static Work take_work(Executor *e)
{
    Work work = { .task = task_list_pop(&e->ready), .stops = e->is_stopping };
    if (work.task)
        publish_ready(e);
    else
        work.job = slice_job_find(e);
    if (!is_work(work))
        /* relaxed: see publish_ready.  Jobs whose iterations are all taken are no work. */
        atomic_store_explicit(&e->nready, 0, memory_order_relaxed);
    return work;
}

/* Sleeps until `wakeups` is not what was seen; nsleeping counts the caller already. */
static void sleep_for_work(Executor *e, int seen)
{
    address_wait(&e->wakeups, seen);
    lock_take(&e->lock);
    e->nsleeping--;
    lock_give(&e->lock);
}

/* Takes the next work.  If there is none and `sleeps`, the worker sleeps until it is woken, and
 * returns without work.  A worker that is not about to sleep does not queue for the lock: the
 * thread that has it may be taking the work. */
static Work find_work(Executor *e, bool sleeps)
{
    if (sleeps)
        lock_take(&e->lock);
    else if (!lock_try(&e->lock))
        return (Work){ 0 };
    Work work = take_work(e);
    sleeps = sleeps && !is_work(work) && !work.stops;
    /* relaxed: written under the lock */
    int seen = atomic_load_explicit(&e->wakeups, memory_order_relaxed);
    e->nsleeping += sleeps;
    lock_give(&e->lock);
    if (sleeps)
        sleep_for_work(e, seen);
    return work;
}

void executor_is_leaving(const Run *run)
{
    /* else it is played inside of another, by a custom call, or by a caller's thread */
    if (counted != run)
        return;
    /* relaxed: slices_idle_workers only wants to know about how many */
    atomic_fetch_sub_explicit(&run->executor->nbusy, 1, memory_order_relaxed);
    counted = NULL;
}

static void run_ready_task(Executor *e, Task *t)
{
    const Run *outside = counted;
    counted = t->run;
    atomic_fetch_add_explicit(&e->nbusy, 1, memory_order_relaxed); /* as above */
    const LocTable *outer =
        loc_table; /* of a run on whose thread the caller's pool plays this one */
    loc_table = t->run->locs;
    if (t->run->is_single_threaded)
        lockstep_run(t->run);
    else
        task_run(t);
    loc_table = outer;
    if (counted) /* the task waits for others; it may be another thread's by now, and its run at its end */
        atomic_fetch_sub_explicit(&e->nbusy, 1, memory_order_relaxed);
    counted = outside;
}

static void do_work(Executor *e, Work work)
{
    if (work.task)
        run_ready_task(e, work.task);
    else if (work.job)
        slice_job_help(work.job);
}

static void worker(void *user)
{
    is_worker = true;
    floats_enter_default(); /* the thread that started it may have been running compiled code */
    floats_enter_compiled();
    Executor *e = user;
    lock_take(&e->lock);
    number = e->nnumbered++;
    lock_give(&e->lock);
    bool sleeps = false;
    for (;;) {
        Work work = find_work(e, sleeps);
        sleeps = false;
        if (is_work(work)) {
            place_is_busy(e->places, number);
            do_work(e, work);
        } else if (work.stops) {
            return;
        } else {
            place_is_idle(e->places, number);
            sleeps = e->nworkers == 1 || !work_appears(e, NULL);
        }
    }
}

/* ---- threads of the caller's, which come and go ---- */

void executor_help(Executor *e)
{
    bool was_worker = is_worker, leaves = false;
    Floats before = floats_enter_compiled();
    is_worker = true;
    for (;;) {
        lock_take(&e->lock);
        Work work = take_work(e);
        leaves = !is_work(work) && (leaves || work.stops);
        e->nlendable += leaves;
        lock_give(&e->lock);
        if (leaves)
            break;
        if (is_work(work))
            do_work(e, work);
        else
            leaves = !work_appears(e, NULL); /* it looks once more, under the lock */
    }
    is_worker = was_worker;
    floats_restore(before);
}

/* Works while there is work and the event is not ready. */
static void help_until(Executor *e, const Event *event)
{
    bool sleeps = false;
    while (!event_is_ready(event)) {
        lock_take(&e->lock);
        Work work = take_work(e);
        /* relaxed: written under the lock.  Who makes the event ready changes it after that. */
        int seen = atomic_load_explicit(&e->wakeups, memory_order_relaxed);
        sleeps = sleeps && !is_work(work) && !event_is_ready(event);
        e->nsleeping += sleeps;
        lock_give(&e->lock);
        if (sleeps)
            sleep_for_work(e, seen);
        else if (is_work(work))
            do_work(e, work);
        sleeps = !is_work(work) && !sleeps && !work_appears(e, event);
    }
}

void executor_await(Executor *e, Event *event)
{
    if (!e->door) {
        event_await(event);
        return;
    }
    bool was_worker = is_worker;
    Floats before = floats_enter_compiled();
    is_worker = true;
    help_until(e, event);
    is_worker = was_worker;
    floats_restore(before);
}

void executor_tell_callers(Executor *e)
{
    if (!e->door)
        return;
    lock_take(&e->lock);
    int n = e->nsleeping;
    atomic_fetch_add_explicit(&e->wakeups, n > 0, memory_order_relaxed); /* see help_until */
    lock_give(&e->lock);
    if (n)
        address_wake(&e->wakeups, n);
}

Error *executor_lend(Executor *e, const Pool *pool)
{
    e->nlendable = e->nworkers;
    return door_open(e, pool, &e->door);
}

enum { NOT_STARTED, STARTING, STARTED };

/* An error only if not a single worker starts. */
static Error *start_workers(Executor *e)
{
    Error *error = NULL;
    while (!error && !e->door && e->nstarted < e->nworkers) {
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

/* One thread starts the workers, without a lock; other callers wait until there are some. */
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

/* ---- the queues of devices ---- */

static int nqueued(const Device *device)
{
    Queue *queue = device->queue;
    /* acquire: pairs with the release in executor_dequeue */
    return atomic_load_explicit(&queue->nqueued, memory_order_acquire);
}

bool executor_is_idle(int ndevices, Device *const *devices)
{
    for (int d = 0; d < ndevices; d++)
        if (nqueued(devices[d]))
            return false;
    return true;
}

void executor_wait_for_room(int ndevices, Device *const *devices)
{
    if (is_worker) /* it may be the only one, and then none would empty the queue */
        return;
    event_run_callbacks();
    for (int d = 0; d < ndevices; d++) {
        Queue *queue = devices[d]->queue;
        int n;
        while ((n = nqueued(devices[d])) >= MAX_QUEUED)
            address_wait(&queue->nqueued, n);
    }
}

int executor_awaitable(Executor *e)
{
    /* acquire: pairs with the release in run_recycle, behind which memory is given back */
    int nruns = atomic_load_explicit(&e->nruns, memory_order_acquire);
    return is_worker || e->door ? 0 : nruns;
}

void executor_await_end(Executor *e, int nruns)
{
    event_run_callbacks();
    lock_take(&e->lock);
    e->nshort++;
    lock_give(&e->lock);
    address_wait(&e->nruns, nruns);
    lock_take(&e->lock);
    e->nshort--;
    lock_give(&e->lock);
}

size_t executor_largest_slab(const Device *device, size_t bytes)
{
    Executor *e = device->executor;
    const Queue *queue = device->queue;
    lock_take(&e->lock);
    size_t largest = queue->head ? queue->largest_slab : 0;
    lock_give(&e->lock);
    return bytes > largest ? bytes : largest;
}

/* Onto the list of runs; the lock is held. */
static void list_run(Executor *e, Run *run)
{
    run->next = e->runs;
    run->link = &e->runs;
    if (run->next)
        run->next->link = &run->next;
    e->runs = run;
    if (e->is_closing)
        /* relaxed: a hint to stop */
        atomic_store_explicit(&run->cancel, CANCEL_CLOSED, memory_order_relaxed);
    atomic_fetch_add_explicit(&e->nruns, 1, memory_order_relaxed); /* under the lock */
}

void executor_add_run(Run *run)
{
    lock_take(&run->executor->lock);
    list_run(run->executor, run);
    lock_give(&run->executor->lock);
}

void executor_enqueue(Run *run)
{
    Executor *e = run->executor;
    lock_take(&e->lock);
    for (int d = 0; d < run->ntasks; d++) {
        Task *t = &run->tasks[d];
        Queue *queue = t->device->queue;
        if (!queue->head)
            /* relaxed: launch still blocks the task */
            atomic_fetch_sub_explicit(&t->nblockers, 1, memory_order_relaxed);
        size_t slab = run->program->slab_bytes;
        if (!queue->head || slab > queue->largest_slab)
            queue->largest_slab = slab;
        t->next_queued = NULL;
        *queue->end = t;
        queue->end = &t->next_queued;
        /* relaxed: readers only ask whether there is something */
        atomic_fetch_add_explicit(&queue->nqueued, 1, memory_order_relaxed);
    }
    list_run(e, run);
    lock_give(&e->lock);
}

void executor_unblock(Task *t)
{
    /* acquire and release: the thread that reaches 0 sees what the others wrote */
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

/* ---- the end ---- */

static void cancel_runs(Executor *e)
{
    lock_take(&e->lock);
    e->is_closing = true;
    for (Run *run = e->runs; run; run = run->next)
        /* relaxed: a hint to stop; the run makes its own error */
        atomic_store_explicit(&run->cancel, CANCEL_CLOSED, memory_order_relaxed);
    lock_give(&e->lock);
}

static void stop_workers(Executor *e)
{
    lock_take(&e->lock);
    e->is_stopping = true;
    atomic_fetch_add_explicit(&e->wakeups, 1, memory_order_relaxed); /* see find_work */
    lock_give(&e->lock);
    address_wake(&e->wakeups, WAKE_ALL);
    for (int i = 0; i < e->nstarted; i++)
        thread_join(&e->threads[i]);
    door_close(e->door);
}

void executor_free(Executor *e)
{
    if (!e)
        return;
    if (e->generation == fork_generation()) {
        cancel_runs(e);
        event_run_callbacks();
        int n;
        /* acquire: pairs with the release in run_recycle */
        while ((n = atomic_load_explicit(&e->nruns, memory_order_acquire)))
            address_wait(&e->nruns, n);
        stop_workers(e);
        deadlines_free(&e->deadlines);
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
    free(e->places);
    free(e);
}
