/* crossing.c - a group with members in other processes.
 *
 *     all members that are here have come --> crossing_begin: exchanges begin; the members wait
 *        |                                    (no thread waits with them: the wire has news)
 *        v
 *     news --> the last member goes on: it does what can be done with what has come
 *        |
 *        v
 *     all exchanges are over --> the members here are released
 *
 * How operands come together is the crossing's way (cross_gather.c, cross_chain.c, cross_owner.c,
 * cross_root.c).
 *
 * While messages are under way they read and write memory of the members.  So these stay where they
 * are even when the run fails: the wire ends the exchanges soon after, and then they are released.
 * Messages with a process that is lost may never end: the memory of their run is never given back. */
#include "engine/exec/crossing.h"

#include "base/fail.h"

#include <stdlib.h>
#include <string.h>

/* ---- runs ---- */

/* Do all its tasks wait, some of them for other processes? */
static bool run_is_stuck(WireRun *wire)
{
    Run *run = (Run *)((char *)wire - offsetof(Run, wire));
    lock_take(&run->lock);
    bool is_stuck = run->is_single_threaded ? run->is_parked : !run->nrunnable;
    lock_give(&run->lock);
    return is_stuck;
}

void crossing_run_begin(Run *run, HostSpan *span)
{
    run->span = span;
    run->wire.is_stuck = run_is_stuck;
    wire_run_begin(span->wire, span, &run->wire);
}

void crossing_run_end(Run *run, const Error *error)
{
    wire_run_end(run->span->wire, &run->wire, error ? error_text(error) : NULL,
                 run->program->ndevices, run->span->process_of);
}

/* ---- news ---- */

/* The last member goes on, if it waits; the run's lock is held.  Returns the task to push. */
static Task *wake(Crossing *x)
{
    Run *run = x->run;
    Task *to_push = NULL;
    x->has_news = true;
    if (!x->is_awaited)
        return NULL;
    x->is_awaited = false;
    if (run->is_single_threaded) {
        x->next = run->landed;
        run->landed = x;
        if (run->is_parked)
            to_push = run->tasks;
        run->is_parked = false;
    } else {
        x->last->is_waiting = false;
        run->nrunnable++;
        to_push = x->last;
    }
    return to_push;
}

/* By the wire.  The lock is taken in a single-threaded run too: this may be another thread. */
static void tell(Exchange *exchange, bool is_over, Error *error)
{
    Crossing *x = exchange->user;
    Run *run = x->run;
    int which = (int)(exchange - x->exchanges);
    lock_take(&run->lock);
    if (exchange->stream) {
        x->nreceived[which] = exchange->stream->nreceived;
        x->nsent[which] = exchange->stream->nsent;
    }
    if (is_over) {
        x->nopen--;
        x->is_left_behind |= exchange->is_left_behind;
    }
    if (error && !x->error) {
        x->error = error;
        error = NULL;
    }
    Task *to_push = wake(x);
    lock_give(&run->lock);
    error_free(error);
    if (to_push)
        executor_push(to_push);
}

static void exchange_over(Exchange *exchange, Error *error)
{
    tell(exchange, true, error);
}

void crossing_stream_news(Exchange *exchange)
{
    tell(exchange, false, NULL);
}

/* ---- what the ways use ---- */

Error *crossing_no_memory(const Crossing *x)
{
    const Collective *c = x->members.c;
    return error_new(CODE_EXHAUSTED, "%s (%s): no memory for what crosses to other processes",
                     c->name, collective_where(c));
}

Error *crossing_staging(Crossing *x, size_t bytes)
{
    Error *error = bytes ? memory_take(x->members.scratch, bytes, &x->staging) : NULL;
    x->staging_bytes = bytes;
    return error ? error_in(error, "%s (%s): what crosses to other processes", x->members.c->name,
                            collective_where(x->members.c))
                 : NULL;
}

void crossing_exchange(Crossing *x, int which)
{
    Run *run = x->run;
    const Collective *c = x->members.c;
    Exchange *e = &x->exchanges[which];
    e->place = x->place;
    e->place.count += which;
    e->cancel = &run->cancel;
    e->over = exchange_over;
    e->user = x;
    e->name = c->name;
    e->where = collective_where(c);
    lock_take(&run->lock);
    x->nopen++;
    lock_give(&run->lock);
    exchange_begin(crossing_wire(x), e);
}

/* ---- the end ---- */

/* For the recorder: the members here have met. */
static void record_meeting(const Crossing *x, uint64_t met)
{
    if (x->g < 0)
        return;
    const Group *group = &x->run->program->groups[x->g];
    for (int i = 0; i < group->n; i++)
        if (run_task(x->run, group->members[i]))
            tracks_met(x->run->tracks, 1, &group->members[i], x->k, met, x->last->number);
}

/* Lets the other members here go on; the last does already. */
static void release_members(Run *run, Task *last, int k, int g)
{
    const Group *group = g < 0 ? NULL : &run->program->groups[g];
    int next = run->program->collectives[k].next;
    TaskList released;
    task_list_start(&released);
    run_lock(run);
    run->ncrossing--;
    last->is_crossing = false;
    last->next_segment = next;
    for (int i = 0; group && i < group->n; i++) {
        Task *t = run_task(run, group->members[i]);
        if (!t || t == last)
            continue;
        t->is_crossing = false;
        t->next_segment = next;
        t->is_waiting = false;
        run->nrunnable++;
        task_list_add(&released, t);
    }
    run_unlock(run);
    executor_push_released(run, &released);
}

static void crossing_free(Crossing *x)
{
    if (x->is_left_behind) {
        /* relaxed: the members that this is about go on after it, by a lock */
        atomic_store_explicit(&x->run->is_left_behind, true, memory_order_relaxed);
    } else {
        participants_end(&x->members);
        if (x->staging)
            memory_give(x->members.scratch, x->staging, x->staging_bytes);
        free(x->way);
    }
    free(x->exchanges[0].parts);
    free(x->exchanges[1].parts);
    free(x->elsewhere.copies);
    free(x->elsewhere.results);
    free(x);
}

/* ---- going on ---- */

static bool has_news(void *user)
{
    Crossing *x = user;
    lock_take(&x->run->lock);
    bool is_so = x->has_news;
    lock_give(&x->run->lock);
    return is_so;
}

/* Is there something to wait for, and has the thread nothing else to do than to look for it? */
static bool may_look(Crossing *x)
{
    Run *run = x->run;
    lock_take(&run->lock);
    bool is_alone = x->nopen && run->nrunnable == 1;
    lock_give(&run->lock);
    /* relaxed: a hint */
    return is_alone && !atomic_load_explicit(&run->executor->nready, memory_order_relaxed);
}

typedef enum News { NEWS, NEWS_LATER, NEWS_NO_MORE } News;

/* NEWS_LATER: the last member waits; another thread may run it already. */
static News take_news(Crossing *x, Error **error)
{
    Run *run = x->run;
    TaskList released;
    task_list_start(&released);
    lock_take(&run->lock);
    News news = x->has_news ? NEWS : x->nopen ? NEWS_LATER : NEWS_NO_MORE;
    x->has_news = false;
    *error = x->error;
    x->error = NULL;
    if (news == NEWS_LATER) {
        x->is_awaited = x->last->is_crossing = true;
        task_wait_locked(x->last, x->k, &released); /* no deadlock: the run is crossing */
    }
    lock_give(&run->lock);
    return news;
}

/* Does what can be done until news are awaited; false: they are. */
static bool go_on(Crossing *x)
{
    Run *run = x->run;
    Wire *wire = crossing_wire(x);
    bool is_single_threaded =
        run->is_single_threaded; /* once it waits, the run may end elsewhere */
    for (;;) {
        Error *error = run_is_cancelled(run) ? NULL : x->step(x);
        if (error)
            run_fail(run, error);
        if (may_look(x))
            wire_await(wire, has_news, x);
        News news = take_news(x, &error);
        if (error)
            run_fail(run, error);
        if (news == NEWS_NO_MORE)
            return true;
        if (news == NEWS_LATER) {
            if (!is_single_threaded)
                wire_attend(wire);
            return false;
        }
    }
}

bool crossing_go_on(Task *t)
{
    Crossing *x = t->crossing;
    Run *run = t->run;
    if (!go_on(x))
        return false;
    int k = x->k, g = x->g;
    t->crossing = NULL;
    if (run->tracks)
        record_meeting(x, ticks_now());
    crossing_free(x);
    release_members(run, t, k, g);
    return true;
}

/* ---- beginning ---- */

/* The ranks' frames and processes. */
static void describe_group(Crossing *x, Frame *ghosts, Frame **frames, int32_t *processes)
{
    const Run *run = x->run;
    const Group *group = x->g < 0 ? NULL : &run->program->groups[x->g];
    for (int r = 0; r < x->members.n; r++) {
        int number = group->members[r], npartitions = run->program->npartitions;
        Task *t = run_task(run, number);
        ghosts[r] = (Frame){ .partition = number % npartitions,
                             .replica = number / npartitions,
                             .program = run->program };
        frames[r] = t ? &t->frame : &ghosts[r];
        processes[r] = run->span->process_of[number];
    }
    x->elsewhere.process = wire_process(run->span->wire);
    x->elsewhere.process_of = processes;
}

static Crossing *crossing_new(Task *t, int k, int g)
{
    size_t n = g < 0 ? 0 : (size_t)t->run->program->groups[g].n;
    Crossing *x = calloc(1, sizeof *x + n * (sizeof(Frame) + sizeof(Frame *) + sizeof(int32_t)));
    if (!x)
        return NULL;
    x->run = t->run;
    x->last = t;
    x->k = k;
    x->g = g;
    Frame *ghosts = (Frame *)(x + 1);
    Frame **frames = (Frame **)(ghosts + n);
    x->members = (Participants){ .c = &t->run->program->collectives[k],
                                 .n = (int)n,
                                 .frames = frames,
                                 .scratch = t->device->memory,
                                 .elsewhere = &x->elsewhere };
    describe_group(x, ghosts, frames, (int32_t *)(frames + n));
    return x;
}

static Error *nothing_to_do(Crossing *x)
{
    (void)x;
    return NULL;
}

/* Every process of a group counts alike, also one that neither sends nor receives. */
static Error *begin(Crossing *x)
{
    Run *run = x->run;
    x->place = (WirePlace){ .program = run->wire.program,
                            .run = run->wire.run,
                            .count = 2 * run->rendezvous[x->g].ncrossed++,
                            .group = x->g,
                            .collective = x->k };
    switch (cross_way(x->members.c, x->members.n, &x->elsewhere)) {
    case CROSS_GATHER: return cross_by_gather(x);
    case CROSS_CHAIN: return cross_by_chain(x);
    case CROSS_OWNER: return cross_by_owner(x);
    case CROSS_ROOT: return cross_by_root(x);
    }
    return NULL;
}

/* from: of the device that a message is to come from, if g is no group. */
static bool cross(Task *t, int k, int g, int from)
{
    Run *run = t->run;
    bool is_single = run->is_single_threaded;
    Crossing *x = t->crossing = crossing_new(t, k, g);
    if (!x) { /* the others are told by the end of the run */
        run_fail(run, error_new(CODE_EXHAUSTED, "%s: no memory for what crosses to other processes",
                                run->program->collectives[k].name));
        release_members(run, t, k, g);
        return !is_single;
    }
    x->step = nothing_to_do;
    Error *error = g < 0 ? cross_by_mail(x, from) : begin(x);
    if (error)
        run_fail(run, error);
    return crossing_go_on(t) && !is_single;
}

bool crossing_begin(Task *t, int k)
{
    return cross(t, k, t->run->program->collectives[k].group_of[t->number], -1);
}

bool crossing_receive(Task *t, int k, int from)
{
    run_lock(t->run);
    t->run->ncrossing++;
    run_unlock(t->run);
    return cross(t, k, -1, from);
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

/* Tasks whose crossings have news may go on; the run's thread alone does this. */
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
