/* task.c - plays one device's part of a run, and knows when nobody can move.
 *
 *     play --> segment --> segment --> meets ----last to come: performs it, all go on
 *                                        \------else: steps aside; its worker takes another task
 *
 * A run counts the tasks that can move.  When that reaches zero before all have ended, the
 * members of some collective wait for devices that will never come: a deadlock, known at once.
 * A run that has failed makes its waiting tasks ready again, and every task that finds the run
 * failed ends. */
#include "base/fail.h"
#include "engine/collectives/collectives.h"
#include "engine/exec/executor.h"
#include "engine/stats.h"

static const Collective *collective_of(const Task *t)
{
    return &t->run->program->collectives[t->collective];
}

static bool has_come(const Run *run, int g, const Task *t)
{
    const Collective *c = &run->program->collectives[run->rendezvous[g].collective];
    return t->is_waiting && c->group_of[t->number] == g && collective_of(t) == c;
}

/* Do both stay away for the same reason? */
static bool is_away_alike(const Run *run, int g, const Task *a, const Task *b)
{
    return !has_come(run, g, a) && !has_come(run, g, b) && a->is_waiting == b->is_waiting &&
           (!a->is_waiting || collective_of(a) == collective_of(b));
}

/* The device of the i-th member, if it is away as t is; -1: it is not. */
static int device_away(const Run *run, int g, const Task *t, int i)
{
    const Group *group = &run->program->groups[g];
    const Task *other = i < group->n ? &run->tasks[group->members[i]] : NULL;
    return other && is_away_alike(run, g, t, other) ? other->device->id : -1;
}

/* "3 to 7, 9": who is away as t is.  How many. */
static int list_away(const Run *run, int g, const Task *t, Text *out)
{
    int count = 0;
    for (int i = 0; i < run->program->groups[g].n; i++) {
        int first = device_away(run, g, t, i), last = first;
        if (first < 0)
            continue;
        for (; device_away(run, g, t, i + 1) == last + 1; i++)
            last++;
        text_printf(out, count ? ", %d" : "%d", first);
        if (last > first)
            text_printf(out, last > first + 1 ? " to %d" : ", %d", last);
        count += last - first + 1;
    }
    return count;
}

/* "device 3 does not come: it has finished; " */
static void describe_away(const Run *run, int g, const Task *t, Text *out)
{
    Text list = { .is_message = true };
    bool is_one = list_away(run, g, t, &list) == 1;
    text_printf(out, is_one ? "device %s does not come: it " : "devices %s do not come: they ",
                text_cstr(&list));
    if (t->is_waiting)
        text_printf(out, "%s in %s (%s); ", is_one ? "waits" : "wait", collective_of(t)->name,
                    collective_where(collective_of(t)));
    else
        text_printf(out, "%s finished; ", is_one ? "has" : "have");
    text_free(&list);
}

/* "devices 3 to 7 do not come: they have finished; " for each reason, then "0 1 2 wait". */
static void describe_rendezvous(const Run *run, int g, Text *out)
{
    const Group *group = &run->program->groups[g];
    const Collective *c = &run->program->collectives[run->rendezvous[g].collective];
    text_printf(out, "%s%s (%s): ", out->n ? "\n" : "", c->name, collective_where(c));
    for (int i = 0; i < group->n; i++) {
        const Task *t = &run->tasks[group->members[i]];
        bool is_told = has_come(run, g, t);
        for (int k = 0; k < i && !is_told; k++)
            is_told = is_away_alike(run, g, t, &run->tasks[group->members[k]]);
        if (!is_told)
            describe_away(run, g, t, out);
    }
    for (int i = 0; i < group->n; i++) {
        const Task *t = &run->tasks[group->members[i]];
        if (has_come(run, g, t))
            text_printf(out, "%d ", t->device->id);
    }
    text_printf(out, run->rendezvous[g].narrived == 1 ? "waits" : "wait");
}

Error *run_cancelled(const Run *run)
{
    /* relaxed: the caller has seen that it is set */
    Cancel why = atomic_load_explicit(&run->cancel, memory_order_relaxed);
    return error_new(CODE_CANCELLED, "the run was stopped: %s",
                     why == CANCEL_ABANDONED ? "nobody holds its results, nor its executable"
                                            : "its client was closed");
}

/* Nobody moves.  The lock is held. */
static Error *deadlock(const Run *run)
{
    /* relaxed: whoever set it waits for this run to end, or wants nothing of it */
    if (atomic_load_explicit(&run->cancel, memory_order_relaxed))
        return run_cancelled(run);
    stat_add(STAT_DEADLOCKS, 1);
    Text text = { .is_message = true };
    for (int g = 0; g < run->program->ngroups; g++)
        if (run->rendezvous[g].narrived)
            describe_rendezvous(run, g, &text);
    mailbox_describe(run, &text);
    Error *error = error_new(CODE_PRECONDITION, "%s", text_cstr(&text));
    text_free(&text);
    return error;
}

/* The lock is held.  Takes error; those who waited are listed, to be made ready without it. */
static void fail_locked(Run *run, Error *error, TaskList *released)
{
    if (run->error)
        error_free(error);
    else
        run->error = error;
    /* relaxed: a hint to stop soon; the error itself is read under the lock */
    atomic_store_explicit(&run->cancel, 1, memory_order_relaxed);
    for (int d = 0; d < run->program->ndevices; d++) {
        Task *t = &run->tasks[d];
        if (!t->is_waiting)
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
    lock_take(&run->lock);
    fail_locked(run, error, &released);
    lock_give(&run->lock);
    executor_push_released(run, &released);
}

static void task_fail(Task *t, Error *error)
{
    /* relaxed: a loop that saw the flag returned; whoever set it waits for this run */
    if (!error && atomic_load_explicit(&t->run->cancel, memory_order_relaxed))
        error = run_cancelled(t->run);
    if (!error)
        error = error_new(CODE_INTERNAL, "failed without saying why");
    if (t->run->program->ndevices > 1)
        error = error_in(error, "device %d", t->device->id);
    run_fail(t->run, error);
}

static Error *mismatch(const Task *t, const Collective *c, const Collective *open, int g)
{
    const Group *group = &t->run->program->groups[g];
    int other = -1;
    for (int i = 0; i < group->n && other < 0; i++) {
        const Task *member = &t->run->tasks[group->members[i]];
        if (member->is_waiting && collective_of(member) == open)
            other = member->device->id;
    }
    return error_new(CODE_PRECONDITION,
                     "%s (%s): device %d comes here while device %d of its group waits in %s (%s); "
                     "all members must meet in the same order",
                     c->name, collective_where(c), t->device->id, other, open->name, collective_where(open));
}

void task_wait_locked(Task *t, int k, TaskList *released)
{
    Run *run = t->run;
    t->is_waiting = true;
    t->collective = k;
    t->next_segment = run->program->collectives[k].next;
    if (--run->nrunnable == 0)
        fail_locked(run, deadlock(run), released);
}

typedef enum Arrival { FIRST_ONES, LAST_ONE, FAILED } Arrival;

/* Records that t has come to collective k of group g.  FIRST_ONES: t waits from now on and may
 * already be played by another thread, so the caller must not touch it. */
static Arrival arrive(Task *t, int k, int g)
{
    Run *run = t->run;
    const Program *program = run->program;
    Rendezvous *rendezvous = &run->rendezvous[g];
    TaskList released;
    task_list_start(&released);
    Arrival arrival = FIRST_ONES;
    run_lock(run);
    if (run->error) {
        arrival = FAILED;
    } else if (rendezvous->narrived && rendezvous->collective != k) {
        fail_locked(run, mismatch(t, &program->collectives[k], &program->collectives[rendezvous->collective], g),
                    &released);
        arrival = FAILED;
    } else {
        rendezvous->collective = k;
        if (++rendezvous->narrived == program->groups[g].n) {
            rendezvous->narrived = 0;
            for (int i = 0; i < program->groups[g].n; i++)
                run->tasks[program->groups[g].members[i]].is_waiting = false;
            run->nrunnable += program->groups[g].n - 1;
            run->nperformed++;
            arrival = LAST_ONE;
        } else {
            task_wait_locked(t, k, &released);
        }
    }
    run_unlock(run);
    executor_push_released(run, &released);
    return arrival;
}

Error *rendezvous_perform(Run *run, const Collective *c, const Group *group, CopyPlan *plan)
{
    Frame *frames[POSSIBLE_DEVICES];
    for (int i = 0; i < group->n; i++)
        frames[i] = &run->tasks[group->members[i]].frame;
    Memory *scratch = run->tasks[group->members[0]].device->memory;
    return collective_perform(c, group->n, frames, scratch, plan);
}

static void release_group(Task *t, const Group *group)
{
    if (t->run->is_single_threaded) /* who plays it sees that they do not wait */
        return;
    TaskList list;
    task_list_start(&list);
    for (int i = 0; i < group->n; i++) {
        Task *member = &t->run->tasks[group->members[i]];
        if (member != t)
            task_list_add(&list, member);
    }
    executor_push_released(t->run, &list);
}

/* Returns whether t goes on now; if not, it is no longer the caller's. */
static bool meet(Task *t, int k)
{
    Run *run = t->run;
    require(k < run->program->ncollectives);
    const Collective *c = &run->program->collectives[k];
    int g = c->group_of[t->number];
    if (c->op == OP_SEND || c->op == OP_RECV)
        return c->op == OP_SEND ? mailbox_send(t, k) : mailbox_receive(t, k);
    if (g < 0) {
        collective_skip(c, &t->frame);
        t->next_segment = c->next;
        return true;
    }
    yield_at_random();
    Arrival arrival = arrive(t, k, g);
    if (arrival != LAST_ONE)
        return arrival == FAILED;
    yield_at_random();
    const Group *group = &run->program->groups[g];
    t->next_segment = c->next;
    CopyPlan plan;
    copy_plan_begin(&plan);
    Error *error = rendezvous_perform(run, c, group, &plan);
    copy_plan_end(&plan);
    if (error)
        run_fail(run, error);
    release_group(t, group);
    yield_at_random();
    return !run->is_single_threaded; /* there it goes on in its turn, so that all are in step again */
}

static Error *take_slab(Task *t)
{
    size_t bytes = t->run->program->slab_bytes;
    void *slab = NULL;
    if (bytes)
        TRY(memory_take(t->device->memory, bytes, &slab));
    t->frame.slab = slab;
    return NULL;
}

void task_begin(Task *t)
{
    t->has_begun = true;
    /* relaxed: a hint not to begin at all */
    if (atomic_load_explicit(&t->run->cancel, memory_order_relaxed))
        return;
    Error *error = take_slab(t);
    if (error)
        run_fail(t->run, error);
}

static void end(Task *t)
{
    Run *run = t->run;
    if (t->frame.slab)
        memory_give(t->device->memory, t->frame.slab, run->program->slab_bytes);
    error_free(t->frame.error);
    if (!run->is_inline)
        executor_dequeue(t);
    TaskList released;
    task_list_start(&released);
    run_lock(run);
    t->has_ended = true;
    bool is_last = ++run->nended == run->program->ndevices;
    if (--run->nrunnable == 0 && !is_last)
        fail_locked(run, deadlock(run), &released);
    run_unlock(run);
    executor_push_released(run, &released);
    if (!is_last)
        return;
    mailbox_end(run);
    stat_add(STAT_COLLECTIVES, run->nperformed);
    if (!run->is_single_threaded)
        run_end(run);
}

/* A segment has said `next`: plays up to a collective, which it returns, or to the end: -1. */
static int run_segments(Task *t, int32_t next)
{
    const Program *program = t->run->program;
    for (;;) {
        if (next <= SEGMENT_COLLECTIVE)
            return SEGMENT_COLLECTIVE - next;
        if (next == SEGMENT_FAIL) {
            Error *error = t->frame.error;
            t->frame.error = NULL;
            task_fail(t, error);
        }
        /* relaxed: a hint to stop; the run's error is read under its lock */
        if (next < 0 || atomic_load_explicit(&t->run->cancel, memory_order_relaxed))
            return -1;
        require(next < program->nsegments);
        next = program->segments[next](&t->frame);
        if (t->frame.error) /* frame_fail */
            next = SEGMENT_FAIL;
    }
}

void task_continue(Task *t, int32_t next)
{
    for (;;) {
        int k = run_segments(t, next);
        if (k < 0)
            break;
        if (!meet(t, k))
            return;
        next = t->next_segment;
    }
    end(t);
}

void task_run(Task *t)
{
    if (!t->has_begun)
        task_begin(t);
    task_continue(t, t->next_segment);
}
