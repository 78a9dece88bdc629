/* launch.c - one call of a program becomes a run: arguments are checked and held, results get their
 * memory, then the run is executed inline (if it is small) or put on the queues of its devices.
 *
 *     check and hold arguments --> consume what is donated --> memory for results --> execute
 *            | error                                                | error
 *            v                                                      v
 *        release holds                              restore what was consumed, release holds;
 *                                                   again, when a run under way has ended
 *
 * Donation.  An argument that may be donated is consumed: its buffer releases the memory, unless a
 * caller views it.  A result that may alias it takes that memory over if the run is then its only
 * holder and it is the device's own; in all other cases the result has memory of its own, and other
 * holders see their data unchanged.  A buffer that is consumed cannot be another argument too. */
#include "engine/exec/launch.h"

#include "base/fail.h"
#include "engine/custom_call.h"
#include "engine/exec/executor.h"
#include "engine/floats.h"
#include "engine/hosts/span.h"
#include "engine/stats.h"

#include <stdlib.h>
#include <string.h>

/* Guesses of the compiler, for all devices together. */
enum {
    INLINE_NS = 100000,        /* a run under this costs less than waking a worker */
    ALONE_NS = 600000,         /* the same where no other device could run meanwhile */
    SINGLE_THREADED_NS = 2000, /* segments under this cost less than a rendezvous of two cores */
};

/* The devices of the program that are in this process. */
static int launch_tasks(const Launch *l)
{
    return l->span ? l->span->nhere : l->program->ndevices;
}

static Storage **out_holds(Run *run)
{
    return run->holds + run_nargs(run);
}

/* ---- checks ---- */

static Error *check_devices(Executor *e, const Launch *l)
{
    const Program *p = l->program;
    uint64_t seen[POSSIBLE_DEVICES / 64];
    require(e->ndevices <= POSSIBLE_DEVICES);
    memset(seen, 0, sizeof *seen * (size_t)((e->ndevices + 63) / 64));
    for (int d = 0; d < launch_tasks(l); d++) {
        const Device *device = l->devices[d];
        if (!device || device->executor != e)
            return error_new(CODE_INVALID, "%.*s: device %d of the launch is not of this client",
                             STR_ARG(p->name), d);
        int at = (int)(device - e->devices);
        uint64_t bit = (uint64_t)1 << at % 64;
        if (seen[at / 64] & bit)
            return error_new(CODE_INVALID,
                             "%.*s: device %d is named twice; a program on %d devices needs %d "
                             "different ones",
                             STR_ARG(p->name), device->id, p->ndevices, p->ndevices);
        seen[at / 64] |= bit;
    }
    return NULL;
}

static Error *check_argument(const Launch *l, int d, int i)
{
    const Program *p = l->program;
    const Buffer *b = l->args[d][i];
    Type wanted = p->args[i].local;
    if (!b)
        return error_new(CODE_INVALID, "%.*s: argument %d on device %d is missing; it takes %d",
                         STR_ARG(p->name), i, l->devices[d]->id, p->nargs);
    if (!handle_is(b, HANDLE_BUFFER))
        return error_new(CODE_INVALID,
                         "%.*s: argument %d on device %d is no PJRT_Buffer: it was "
                         "destroyed, or never was one",
                         STR_ARG(p->name), i, l->devices[d]->id);
    if (b->device != l->devices[d])
        return error_new(CODE_INVALID, "%.*s: argument %d (%s) lies on device %d, not on device %d",
                         STR_ARG(p->name), i, type_name(b->type), b->device->id, l->devices[d]->id);
    /* JAX holds tokens as arrays of nothing. */
    bool is_token = wanted.element == TOKEN && type_bytes(b->type) == 0;
    if (!type_equal(b->type, wanted) && !is_token)
        return error_new(CODE_INVALID, "%.*s: argument %d on device %d is %s; the program takes %s",
                         STR_ARG(p->name), i, b->device->id, type_name(b->type), type_name(wanted));
    if (b->order != p->args[i].order)
        return error_new(
            CODE_INVALID,
            "%.*s: argument %d on device %d, %s, lies in another order of its dimensions "
            "than the program takes",
            STR_ARG(p->name), i, b->device->id, type_name(b->type));
    return NULL;
}

/* ---- arguments ---- */

static Error *hold_arguments(Run *run, const Launch *l)
{
    const Program *p = l->program;
    for (int d = 0, k = 0; d < run->ntasks; d++)
        for (int i = 0; i < p->nargs; i++, k++) {
            TRY(check_argument(l, d, i));
            Error *error = buffer_hold(l->args[d][i], &run->holds[k], &run->pending[k]);
            if (error)
                return error_in(error, "%.*s: argument %d", STR_ARG(p->name), i);
            run->pointers[k] = run->holds[k]->data;
        }
    return NULL;
}

static bool is_donated(const Launch *l, int i)
{
    return l->program->args[i].may_donate && !(l->may_not_donate && l->may_not_donate[i]);
}

/* The error for an argument that was there when hold_arguments looked, and is now gone. */
static Error *used_twice(const Launch *l, int d, int i)
{
    int other = 0;
    while (other < l->program->nargs && (other == i || l->args[d][other] != l->args[d][i]))
        other++;
    if (other == l->program->nargs) /* another thread deleted or donated it meanwhile */
        return error_in(buffer_gone(l->args[d][i]), "%.*s: argument %d", STR_ARG(l->program->name),
                        i);
    return error_new(CODE_INVALID,
                     "%.*s: arguments %d and %d on device %d are the same %s, which is donated: "
                     "pass a copy, or do not donate it",
                     STR_ARG(l->program->name), other < i ? other : i, other < i ? i : other,
                     l->devices[d]->id, type_name(l->args[d][i]->type));
}

/* After this the run's holds are all that is left of the donated buffers. */
static Error *consume_donated(Run *run, const Launch *l)
{
    const Program *p = l->program;
    int ndonated = 0;
    for (int i = 0; i < p->nargs; i++)
        for (int d = 0; is_donated(l, i) && d < run->ntasks; d++, ndonated++)
            if (!buffer_consume(l->args[d][i], run->holds[d * p->nargs + i]))
                return used_twice(l, d, i);
    for (int i = 0; ndonated && i < p->nargs; i++)
        for (int d = 0; !is_donated(l, i) && d < run->ntasks; d++)
            if (buffer_is_deleted(l->args[d][i]))
                return used_twice(l, d, i);
    return NULL;
}

static void restore_donated(Run *run, const Launch *l)
{
    const Program *p = l->program;
    for (int i = 0; i < p->nargs; i++)
        for (int d = 0; is_donated(l, i) && d < run->ntasks; d++)
            buffer_restore(l->args[d][i], run->holds[d * p->nargs + i]);
}

/* ---- results ---- */

/* May result j on device d take over the memory of the argument it aliases?  A view on it, a
 * second passing of it or a transfer under way are holders too. */
static Storage *storage_to_take_over(Run *run, const Launch *l, int d, int j)
{
    const Program *p = l->program;
    int i = p->results[j].alias;
    if (i < 0 || i >= p->nargs || !is_donated(l, i))
        return NULL;
    Storage *storage = run->holds[d * p->nargs + i];
    bool fits = storage->memory == l->devices[d]->memory &&
                storage->bytes >= type_bytes(p->results[j].local);
    return fits && storage_is_alone(storage) ? storage : NULL;
}

/* The caller's memory for a result; *out stays NULL if there is none. */
static Error *result_of_caller(const Launch *l, int d, int j, Storage **out)
{
    const Program *p = l->program;
    void *at = l->into ? l->into[d * p->nresults + j] : NULL;
    Type type = p->results[j].local;
    if (!at)
        return NULL;
    *out = storage_foreign(at, type_bytes(type), NULL, NULL);
    return *out ? NULL
                : error_new(CODE_EXHAUSTED, "%.*s: result %d, %s: no memory for its books",
                            STR_ARG(p->name), j, type_name(type));
}

static Error *make_result(Run *run, const Launch *l, int d, int j)
{
    const Program *p = l->program;
    Storage **outs = out_holds(run), **out = &outs[d * p->nresults + j];
    TRY(result_of_caller(l, d, j, out));
    if (*out)
        return NULL;
    Storage *taken = storage_to_take_over(run, l, d, j);
    if (taken) {
        *out = storage_hold(taken); /* it has two holders now: no other result takes it */
        stat_add(STAT_DONATED, 1);
        return NULL;
    }
    Memory *memory = l->devices[d]->memory;
    Type type = p->results[j].local;
    Error *error = d && p->results[j].is_shared
                       ? storage_lend(memory, type, outs[j], run->ntasks, out)
                       : storage_new(memory, type, out);
    return error ? error_in(error, "%.*s: result %d, %s", STR_ARG(p->name), j, type_name(type))
                 : NULL;
}

/* Result storages into the run's holds: one hold each, for the buffer. */
static Error *make_results(Run *run, const Launch *l)
{
    const Program *p = l->program;
    Storage **outs = out_holds(run);
    for (int d = 0, k = 0; d < run->ntasks; d++)
        for (int j = 0; j < p->nresults; j++, k++) {
            TRY(make_result(run, l, d, j));
            run->pointers[run_nargs(run) + k] = outs[k]->data;
        }
    return NULL;
}

/* Buffers for the caller, still empty: nothing may fail once the run has begun. */
static Error *make_buffers(Run *run, const Launch *l)
{
    const Program *p = l->program;
    for (int d = 0, k = 0; d < run->ntasks; d++)
        for (int j = 0; j < p->nresults; j++, k++) {
            TRY(buffer_new(l->devices[d], p->results[j].local, NULL, NULL, &run->buffers[k]));
            run->buffers[k]->order = p->results[j].order;
            run->buffers[k]->kind = p->results[j].kind;
        }
    return NULL;
}

/* Fills the caller's buffers: they take over the run's holds on results, or share them if the run
 * goes on. */
static void hand_out_results(Run *run, const Launch *l, Event *ready)
{
    const Program *p = l->program;
    Storage **outs = out_holds(run);
    for (int d = 0, k = 0; d < run->ntasks; d++)
        for (int j = 0; j < p->nresults; j++, k++) {
            l->outs[d][j] = run->buffers[k];
            buffer_fill(run->buffers[k], outs[k], ready);
            outs[k] = run->is_inline ? NULL : storage_hold(outs[k]);
        }
    for (int d = 0; l->done && d < run->ntasks; d++)
        l->done[d] = event_give(ready ? event_hold(ready) : event_ready(NULL));
}

/* ---- execution ---- */

static void make_tasks(Run *run, const Launch *l)
{
    const Program *p = l->program;
    void **outs = run->pointers + run_nargs(run);
    for (int d = 0; d < run->ntasks; d++) {
        Task *t = &run->tasks[d];
        t->run = run;
        t->device = l->devices[d];
        t->number = l->span ? l->span->numbers[d] : d;
        t->frame.pool = p->pool;
        t->frame.args = run->pointers + d * p->nargs;
        t->frame.outs = outs + d * p->nresults;
        t->frame.rt = p->rt;
        t->frame.partition = t->number % p->npartitions;
        t->frame.replica = t->number / p->npartitions;
        t->frame.cancel = &run->cancel;
        t->frame.program = p;
        t->frame.task = t;
        t->frame.device = t->device->id;
        t->frame.launch = l->id;
        t->frame.may_pause = run->pauses_at != 0;
    }
}

/* If the recorder is on: the run's devices get their tracks. */
static void make_tracks(Run *run, const Launch *l)
{
    run->tracks = tracks_new(l->program, l->locs);
    if (!run->tracks)
        return;
    run->tracks->context = l->context;
    for (int d = 0; d < run->ntasks; d++) {
        const Device *device = l->devices[d];
        Track *track = &run->tracks->of[run->tasks[d].number];
        track->device = (int16_t)device->id;
        run->tasks[d].frame.track = track;
        record_memory(device->id, memory_stats(device->memory).bytes_in_use);
    }
}

/* Does this thread run it before launch_start() returns?  Small runs, those that foreign code launches from
 * inside a run (that run has the devices, and ends only after this one), and those of unknown length, as
 * far as they go until they are not small (pause.c). */
static bool runs_inline(Run *run, const Launch *l)
{
    const Program *p = l->program;
    for (int k = 0, n = run_nargs(run); k < n; k++)
        if (run->pending[k])
            return false;
    if (l->is_alone || call_is_under_way())
        return true;
    int64_t most = run->executor->ndevices == 1 ? ALONE_NS : INLINE_NS / run->ntasks;
    if (p->cost_ns >= most || !executor_is_idle(run->ntasks, l->devices))
        return false;
    if (!p->is_cost_known && p->may_pause && !l->span)
        run->pauses_at = clock_now_ns() + most;
    return p->is_cost_known || run->pauses_at;
}

static void undo(Run *run)
{
    for (int k = 0, n = run_nouts(run); k < n; k++)
        buffer_free(run->buffers[k]);
    run_release_holds(run);
    event_release(run->done);
    for (int k = 0, n = run_nargs(run); k < n; k++)
        event_release(run->pending[k]);
    run_recycle(run);
}

static void argument_ready(Error *error, void *user)
{
    Task *t = user;
    if (error)
        run_fail(t->run, error);
    executor_unblock(t);
}

/* What the end of a run that goes on without the caller needs, and its results for the caller. */
static void leave_to_executor(Run *run, const Launch *l)
{
    run->locs = l->locs;
    run->on_end = l->on_end;
    run->user = l->user;
    hand_out_results(run, l, run->done);
}

/* A small run with devices in other processes: on the caller's thread as far as it goes without
 * waiting for them, then by workers.  It is on no queue: its arguments are there, and while it waits
 * for others its devices may run what comes after it. */
static void execute_beside(Run *run, const Launch *l)
{
    run->is_single_threaded = true;
    leave_to_executor(run, l);
    executor_add_run(run);
    const LocTable *outer = loc_table;
    Floats before = floats_enter_compiled();
    loc_table = l->locs;
    lockstep_run(run);
    loc_table = outer;
    floats_restore(before);
}

static void execute_in_background(Run *run, const Launch *l)
{
    const Program *p = l->program;
    leave_to_executor(run, l);
    run->is_queued = true;
    for (int d = 0; d < run->ntasks; d++) {
        int n = 2; /* not at the head of its queue; this function */
        for (int i = 0; i < p->nargs; i++)
            n += run->pending[d * p->nargs + i] != NULL;
        atomic_init(&run->tasks[d].nblockers, n);
    }
    int ntasks = run->ntasks;
    atomic_init(&run->nblocked, ntasks);
    run->is_single_threaded = ntasks == 1 || p->longest_ns < SINGLE_THREADED_NS / ntasks;
    executor_enqueue(run);
    Callback *callback = run->callbacks;
    for (int k = 0, n = run_nargs(run); k < n; k++) {
        if (!run->pending[k])
            continue;
        *callback = (Callback){ NULL, argument_ready, &run->tasks[k / p->nargs] };
        event_then(run->pending[k], callback++);
        event_release(run->pending[k]);
    }
    if (run->tracks)
        tracks_launched(run->tracks);
    /* With its last task unblocked the run may end, and the program with it. */
    Task *tasks = run->tasks;
    for (int d = 0; d < ntasks; d++)
        executor_unblock(&tasks[d]);
}

static MUST_USE Error *execute_inline(Run *run, const Launch *l)
{
    run->is_single_threaded = run->is_inline = true;
    const LocTable *outer = loc_table; /* of a run whose custom call launches this one */
    Floats before = floats_enter_compiled();
    loc_table = l->locs;
    lockstep_run(run);
    loc_table = outer;
    floats_restore(before);
    if (run->is_paused) {
        run->is_inline = run->is_paused = false;
        execute_in_background(run, l);
        return NULL;
    }
    stat_add(STAT_INLINE_LAUNCHES, 1);
    if (run->tracks) {
        run_record_end(run);
        tracks_launched(run->tracks);
    }
    if (!run->error && run_is_cancelled(run)) /* as in run_end */
        run->error = run_cancelled(run);
    Error *error = run->error;
    if (error && l->returns_failure) {
        run->error = NULL;
        undo(run);
        return error;
    }
    Event *failed = error ? event_ready(error) : NULL;
    hand_out_results(run, l, failed);
    event_release(failed);
    run_release_holds(run);
    run_recycle(run);
    if (l->on_end)
        l->on_end(l->user);
    return NULL;
}

/* Slabs are taken as tasks begin.  With the results of this run in memory, the largest of those on a
 * device's queue must still fit: asked before a result is made, for a task may begin meanwhile. */
static Error *leave_room_for_slabs(const Run *run, const Launch *l)
{
    const Program *p = l->program;
    for (int d = 0; d < run->ntasks; d++) {
        const Device *device = l->devices[d];
        if (!memory_is_limited(device->memory))
            continue; /* nothing to ask the executor, under its lock */
        size_t bytes = memory_rounded(executor_largest_slab(device, p->slab_bytes));
        for (int j = 0; j < p->nresults; j++)
            bytes += memory_rounded(type_bytes(p->results[j].local));
        if (!memory_has_room(device->memory, bytes))
            return error_new(CODE_EXHAUSTED, "%.*s: no room for %zu bytes on device %d",
                             STR_ARG(p->name), bytes, device->id);
    }
    return NULL;
}

/* On error nothing has happened, but for what undo releases. */
static Error *prepare(Run *run, const Launch *l, bool has_others, bool *small)
{
    TRY(hold_arguments(run, l));
    *small = runs_inline(run, l);
    if (!*small || l->span) {
        TRY(executor_start(run->executor));
        TRY(run_prepare_background(run));
    }
    deadline_begin(run);
    TRY(make_buffers(run, l));
    if (has_others)
        TRY(leave_room_for_slabs(run, l));
    Error *error = consume_donated(run, l);
    if (!error)
        error = make_results(run, l);
    if (error)
        restore_donated(run, l);
    return error;
}

/* A launch that finds no memory waits for the runs under way to give theirs back: so a loop whose
 * results nobody waits for is as fast as memory lets it be.  The error is of a launch alone. */
static Error *new_run(Executor *e, const Launch *l, Run **run, bool *small)
{
    for (;;) {
        int nothers = executor_awaitable(e);
        TRY(run_new(e, l->program, launch_tasks(l), run));
        Error *error = prepare(*run, l, nothers > 0, small);
        if (!error)
            return NULL;
        undo(*run);
        if (!nothers || error_code(error) != CODE_EXHAUSTED)
            return error;
        error_free(error);
        executor_await_end(e, nothers);
    }
}

Error *launch_start(Executor *e, const Launch *l)
{
    TRY(executor_check(e));
    TRY(check_devices(e, l));
    executor_wait_for_room(launch_tasks(l), l->devices);
    Run *run;
    bool small = false;
    TRY(new_run(e, l, &run, &small));
    make_tasks(run, l);
    if (record_is_on())
        make_tracks(run, l);
    stat_add(STAT_LAUNCHES, 1);
    if (l->span)
        crossing_run_begin(run, l->span);
    if (small && !l->span)
        return execute_inline(run, l);
    if (small)
        execute_beside(run, l);
    else
        execute_in_background(run, l);
    return NULL;
}
