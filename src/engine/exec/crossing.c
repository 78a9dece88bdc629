/* crossing.c - a group with members in other processes.
 *
 *     all members that are here have come --> crossing_begin: operands that others need are sent,
 *        |                                    room for theirs is made; the members wait
 *        |   (no thread waits with them: the wire says when everything has come)
 *        v
 *     crossing_landed --> the last member goes on: crossing_end performs the collective for those
 *                         that are here, and releases them
 *
 * While messages are under way they read and write memory of the members.  So these stay where they
 * are even when the run fails: the wire ends the exchange soon after, and then they are released. */
#include "base/fail.h"
#include "engine/collectives/collectives.h"
#include "engine/exec/executor.h"

#include <stdlib.h>
#include <string.h>

typedef struct Crossing {
    Exchange exchange;
    Run *run;
    Task *last; /* of the members here; it performs the collective */
    int k, g;
    bool is_awaited, has_landed; /* under the run's lock, always taken */
    struct Crossing *next;       /* in the run's list of those that have landed; the same */
    Error *error;
    Elsewhere elsewhere;
    Frame **frames; /* [n] of all ranks; */
    Frame *ghosts;  /* [n] for those elsewhere */
    int32_t *processes;
    char *staging;
    size_t staging_bytes;
} Crossing;

/* ---- runs ---- */

void crossing_run_begin(Run *run, HostSpan *span)
{
    run->span = span;
    wire_run_begin(span->wire, span, &run->wire);
}

void crossing_run_end(Run *run, const Error *error)
{
    wire_run_end(run->span->wire, &run->wire, error ? error_text(error) : NULL,
                 run->program->ndevices, run->span->process_of);
}

/* ---- what crosses ---- */

static const Group *group_of(const Crossing *x)
{
    return &x->run->program->groups[x->g];
}

static const Collective *collective_of(const Crossing *x)
{
    return &x->run->program->collectives[x->k];
}

typedef struct Counts {
    const Collective *c;
    int process, nparts;
    size_t bytes; /* to receive */
} Counts;

enum { ALIGN = 64 };

static size_t staged_bytes(const Collective *c, int i)
{
    return (type_bytes(c->in_types[i]) + ALIGN - 1) / ALIGN * ALIGN;
}

static void count_part(void *user, int rank, int operand, int from, int to)
{
    (void)rank;
    (void)from;
    Counts *counts = user;
    counts->nparts++;
    if (to == counts->process)
        counts->bytes += staged_bytes(counts->c, operand);
}

static void fill_part(void *user, int rank, int operand, int from, int to)
{
    Crossing *x = user;
    const Collective *c = collective_of(x);
    bool is_sent = from == x->elsewhere.process;
    void *at = is_sent ? frame_at(x->frames[rank], c->in[operand]) : x->staging + x->staging_bytes;
    if (!is_sent) {
        x->elsewhere.copies[rank * c->nin + operand] = at;
        x->staging_bytes += staged_bytes(c, operand);
    }
    x->exchange.parts[x->exchange.nparts++] =
        (WirePart){ is_sent ? to : from, is_sent, at, type_bytes(c->in_types[operand]) };
}

/* The ranks' frames and processes. */
static void describe_group(Crossing *x)
{
    const Run *run = x->run;
    const Group *group = group_of(x);
    for (int r = 0; r < group->n; r++) {
        int number = group->members[r], npartitions = run->program->npartitions;
        Task *t = run_task(run, number);
        x->ghosts[r] = (Frame){ .partition = number % npartitions,
                                .replica = number / npartitions,
                                .program = run->program };
        x->frames[r] = t ? &t->frame : &x->ghosts[r];
        x->processes[r] = run->span->process_of[number];
    }
    x->elsewhere.process = wire_process(run->span->wire);
    x->elsewhere.process_of = x->processes;
}

static Error *no_memory(const Collective *c)
{
    return error_new(CODE_EXHAUSTED, "%s (%s): no memory for what crosses to other processes",
                     c->name, collective_where(c));
}

/* Lists what crosses and makes room for what comes. */
static Error *list_parts(Crossing *x)
{
    const Collective *c = collective_of(x);
    Counts counts = { c, x->elsewhere.process, 0, 0 };
    int n = group_of(x)->n;
    TRY(cross_list(c, n, x->frames, &x->elsewhere, count_part, &counts));
    x->exchange.parts = malloc(sizeof(WirePart) * (size_t)(counts.nparts + 1));
    x->elsewhere.copies = calloc((size_t)n * (size_t)c->nin + 1, sizeof(void *));
    x->staging = counts.bytes ? aligned_alloc(ALIGN, counts.bytes) : NULL;
    if (!x->exchange.parts || !x->elsewhere.copies || (counts.bytes && !x->staging))
        return no_memory(c);
    return cross_list(c, n, x->frames, &x->elsewhere, fill_part, x);
}

static Crossing *crossing_new(Task *t, int k, int g)
{
    size_t n = (size_t)t->run->program->groups[g].n;
    Crossing *x = calloc(1, sizeof *x + n * (sizeof(Frame) + sizeof(Frame *) + sizeof(int32_t)));
    if (!x)
        return NULL;
    x->run = t->run;
    x->last = t;
    x->k = k;
    x->g = g;
    x->ghosts = (Frame *)(x + 1);
    x->frames = (Frame **)(x->ghosts + n);
    x->processes = (int32_t *)(x->frames + n);
    describe_group(x);
    return x;
}

static void crossing_free(Crossing *x)
{
    free(x->exchange.parts);
    free(x->elsewhere.copies);
    free(x->staging);
    free(x);
}

/* ---- landing ---- */

/* By the wire: everything has come, or the exchange has failed. */
static void crossing_landed(Exchange *exchange, Error *error)
{
    Crossing *x = exchange->user;
    Run *run = x->run;
    Task *to_push = NULL;
    lock_take(&run->lock); /* also in a single-threaded run: this may be another thread */
    x->error = error;
    x->has_landed = true;
    if (x->is_awaited && run->is_single_threaded) {
        x->next = run->landed;
        run->landed = x;
        if (run->is_parked)
            to_push = run->tasks;
        run->is_parked = false;
    } else if (x->is_awaited) {
        x->last->is_waiting = false;
        run->nrunnable++;
        to_push = x->last;
    }
    lock_give(&run->lock);
    if (to_push)
        executor_push(to_push);
}

/* For the recorder: the members here have met. */
static void record_meeting(const Crossing *x, uint64_t met)
{
    const Group *group = group_of(x);
    for (int i = 0; i < group->n; i++)
        if (run_task(x->run, group->members[i]))
            tracks_met(x->run->tracks, 1, &group->members[i], x->k, met, x->last->number);
}

/* Performs the collective for the members here. */
static void perform(Crossing *x)
{
    Run *run = x->run;
    Error *error = x->error;
    uint64_t met = run->tracks ? ticks_now() : 0;
    if (!error && !run_is_cancelled(run))
        error = collective_perform_here(collective_of(x), group_of(x)->n, x->frames,
                                        x->last->device->memory, &x->elsewhere);
    if (run->tracks)
        record_meeting(x, met);
    if (error)
        run_fail(run, error);
}

/* Lets the other members here go on; t does already. */
static void release_members(Crossing *x)
{
    Run *run = x->run;
    const Group *group = group_of(x);
    int next = collective_of(x)->next;
    TaskList released;
    task_list_start(&released);
    run_lock(run);
    run->ncrossing--;
    for (int i = 0; i < group->n; i++) {
        Task *t = run_task(run, group->members[i]);
        if (!t)
            continue;
        t->is_crossing = false;
        t->next_segment = next;
        if (t == x->last)
            continue;
        t->is_waiting = false;
        run->nrunnable++;
        task_list_add(&released, t);
    }
    run_unlock(run);
    executor_push_released(run, &released);
}

void crossing_end(Task *t)
{
    Crossing *x = t->crossing;
    t->crossing = NULL;
    perform(x);
    release_members(x);
    crossing_free(x);
}

/* ---- beginning ---- */

static Error *begin(Task *t, int k, int g, Crossing **out)
{
    const Collective *c = &t->run->program->collectives[k];
    Crossing *x = *out = crossing_new(t, k, g);
    if (!x)
        return no_memory(c);
    TRY(list_parts(x));
    x->exchange.place = (WirePlace){ .program = t->run->wire.program,
                                     .run = t->run->wire.run,
                                     .count = t->run->rendezvous[g].ncrossed++,
                                     .group = g,
                                     .collective = k };
    x->exchange.cancel = &t->run->cancel;
    x->exchange.over = crossing_landed;
    x->exchange.user = x;
    x->exchange.name = c->name;
    x->exchange.where = collective_where(c);
    return NULL;
}

/* Waits, unless everything has come already. */
static bool wait_for_others(Task *t, Crossing *x)
{
    Run *run = t->run;
    TaskList released;
    task_list_start(&released);
    lock_take(&run->lock);
    bool has_landed = x->has_landed;
    if (!has_landed) {
        x->is_awaited = t->is_crossing = true;
        task_wait_locked(t, x->k, &released); /* no deadlock: the run is crossing */
    }
    lock_give(&run->lock);
    return !has_landed;
}

bool crossing_begin(Task *t, int k)
{
    Run *run = t->run;
    int g = run->program->collectives[k].group_of[t->number];
    bool is_single = run->is_single_threaded;
    Wire *wire = run->span->wire;
    Crossing *x = NULL;
    Error *error = begin(t, k, g, &x);
    if (!x) { /* not even memory to say what is to be done: the others are told by the end of the run */
        run_fail(run, error);
        Crossing none = { .run = run, .last = t, .k = k, .g = g };
        release_members(&none);
        return !is_single;
    }
    t->crossing = x;
    x->error = error;
    if (!error && x->exchange.nparts) {
        exchange_begin(wire, &x->exchange);
        if (wait_for_others(t, x)) {
            if (!is_single)
                wire_attend(wire);
            return false;
        }
    }
    crossing_end(t);
    return !is_single;
}

/* ---- waiting ---- */

static bool has_landed(void *user)
{
    Run *run = user;
    lock_take(&run->lock);
    bool is_so = run->landed;
    lock_give(&run->lock);
    return is_so;
}

/* Tasks whose crossings have landed may go on; the run's thread alone does this. */
static void take_landed(Run *run)
{
    lock_take(&run->lock);
    Crossing *x = run->landed;
    run->landed = NULL;
    for (; x; x = x->next) {
        x->last->is_waiting = false;
        run->nrunnable++;
    }
    lock_give(&run->lock);
}

bool crossing_wait(Run *run)
{
    Wire *wire = run->span->wire;
    while (run->ncrossing) {
        take_landed(run);
        if (run->nrunnable)
            return true;
        if (wire_await(wire, has_landed, run))
            continue;
        lock_take(&run->lock);
        bool parks = !run->landed;
        run->is_parked = parks;
        lock_give(&run->lock);
        if (parks) {
            wire_attend(wire);
            return false;
        }
    }
    return true;
}
