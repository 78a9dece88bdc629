/* rendezvous.c - where the tasks of a group wait for one another.
 *
 *     task comes to collective k --- the last of its group: performs k, releases the others
 *                                \-- another: waits; its thread takes other work
 *
 * A task that comes to another collective than the one its group waits at fails the run: then the
 * members would wait for ever.  Messages about deadlocks are made here too. */
#include "base/fail.h"
#include "engine/collectives/collectives.h"
#include "engine/exec/executor.h"

/* ---- the message of a deadlock ---- */

static bool has_arrived(const Run *run, int g, const Task *t)
{
    const Collective *c = &run->program->collectives[run->rendezvous[g].collective];
    return t->is_waiting && c->group_of[t->number] == g && task_collective(t) == c;
}

/* Have a and b both not arrived, and for the same reason? */
static bool have_same_reason(const Run *run, int g, const Task *a, const Task *b)
{
    return !has_arrived(run, g, a) && !has_arrived(run, g, b) && a->is_waiting == b->is_waiting &&
           (!a->is_waiting || task_collective(a) == task_collective(b));
}

/* The device of the i-th member of g, if it has not arrived for the same reason as t; else -1. */
static int absent_device(const Run *run, int g, const Task *t, int i)
{
    const Group *group = &run->program->groups[g];
    const Task *other = i < group->n ? run_task(run, group->members[i]) : NULL; /* or elsewhere */
    return other && have_same_reason(run, g, t, other) ? other->device->id : -1;
}

/* "3 to 7, 9": the devices that have not arrived for the same reason as t.  Returns how many. */
static int list_absent(const Run *run, int g, const Task *t, Text *out)
{
    int count = 0;
    for (int i = 0; i < run->program->groups[g].n; i++) {
        int first = absent_device(run, g, t, i), last = first;
        if (first < 0)
            continue;
        for (; absent_device(run, g, t, i + 1) == last + 1; i++)
            last++;
        text_printf(out, count ? ", %d" : "%d", first);
        if (last > first)
            text_printf(out, last > first + 1 ? " to %d" : ", %d", last);
        count += last - first + 1;
    }
    return count;
}

/* "device 3 does not come: it has finished; " */
static void describe_absent(const Run *run, int g, const Task *t, Text *out)
{
    Text list = { .is_message = true };
    bool is_one = list_absent(run, g, t, &list) == 1;
    text_printf(out, is_one ? "device %s does not come: it " : "devices %s do not come: they ",
                text_cstr(&list));
    if (t->is_waiting)
        text_printf(out, "%s in %s (%s); ", is_one ? "waits" : "wait", task_collective(t)->name,
                    collective_where(task_collective(t)));
    else
        text_printf(out, "%s finished; ", is_one ? "has" : "have");
    text_free(&list);
}

/* "devices 3 to 7 do not come: they have finished; " for each reason, then "0 1 2 wait". */
static void describe_group(const Run *run, int g, Text *out)
{
    const Group *group = &run->program->groups[g];
    const Collective *c = &run->program->collectives[run->rendezvous[g].collective];
    text_printf(out, "%s%s (%s): ", out->n ? "\n" : "", c->name, collective_where(c));
    for (int i = 0; i < group->n; i++) {
        const Task *t = run_task(run, group->members[i]);
        bool is_told = !t || has_arrived(run, g, t);
        for (int k = 0; k < i && !is_told; k++) {
            const Task *before = run_task(run, group->members[k]);
            is_told = before && have_same_reason(run, g, t, before);
        }
        if (!is_told)
            describe_absent(run, g, t, out);
    }
    for (int i = 0; i < group->n; i++) {
        const Task *t = run_task(run, group->members[i]);
        if (t && has_arrived(run, g, t))
            text_printf(out, "%d ", t->device->id);
    }
    text_printf(out, run->rendezvous[g].narrived == 1 ? "waits" : "wait");
}

void rendezvous_describe(const Run *run, Text *out)
{
    for (int g = 0; g < run->program->ngroups; g++)
        if (run->rendezvous[g].narrived)
            describe_group(run, g, out);
}

/* ---- arriving ---- */

/* t comes to c while its group g waits at `open`. */
static Error *mismatch(const Task *t, const Collective *c, const Collective *open, int g)
{
    const Group *group = &t->run->program->groups[g];
    int other = -1;
    for (int i = 0; i < group->n && other < 0; i++) {
        const Task *member = run_task(t->run, group->members[i]);
        if (member && member->is_waiting && task_collective(member) == open)
            other = member->device->id;
    }
    return error_new(CODE_PRECONDITION,
                     "%s (%s): device %d comes here while device %d of its group waits in %s (%s); "
                     "all members must meet in the same order",
                     c->name, collective_where(c), t->device->id, other, open->name,
                     collective_where(open));
}

typedef enum Arrival { WAITS, COMPLETES_GROUP, COMPLETES_HERE, RUN_HAS_FAILED } Arrival;

/* All members of a group that are here have come; the run's lock is held.  They wait no longer, or
 * from now on for the members in other processes. */
static void free_members(Run *run, const Group *group, bool crosses)
{
    for (int i = 0; i < group->n; i++) {
        Task *t = run_task(run, group->members[i]);
        if (t && crosses)
            t->is_crossing = true;
        else if (t)
            t->is_waiting = false;
    }
    if (crosses)
        run->ncrossing++;
    else
        run->nrunnable += group->n - 1;
}

/* Records that t has come to collective k of group g.  WAITS: another thread may run t already, so
 * the caller must not touch it. */
static Arrival record_arrival(Task *t, int k, int g)
{
    Run *run = t->run;
    const Program *program = run->program;
    Rendezvous *rendezvous = &run->rendezvous[g];
    TaskList released;
    task_list_start(&released);
    Arrival arrival = WAITS;
    run_lock(run);
    if (run->error) {
        arrival = RUN_HAS_FAILED;
    } else if (rendezvous->narrived && rendezvous->collective != k) {
        const Collective *open = &program->collectives[rendezvous->collective];
        run_fail_locked(run, mismatch(t, &program->collectives[k], open, g), &released);
        arrival = RUN_HAS_FAILED;
    } else {
        rendezvous->collective = k;
        if (++rendezvous->narrived == run_members(run, g)) {
            rendezvous->narrived = 0;
            run->nperformed++;
            bool crosses = span_crosses(run->span, program, g);
            free_members(run, &program->groups[g], crosses);
            arrival = crosses ? COMPLETES_HERE : COMPLETES_GROUP;
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
        frames[i] = &run_task(run, group->members[i])->frame;
    Memory *scratch = run_task(run, group->members[0])->device->memory;
    return collective_perform(c, group->n, frames, scratch, plan);
}

/* Makes the other members of t's group ready. */
static void release_group(Task *t, const Group *group)
{
    if (t->run->is_single_threaded)
        return;
    TaskList list;
    task_list_start(&list);
    for (int i = 0; i < group->n; i++) {
        Task *member = run_task(t->run, group->members[i]);
        if (member && member != t)
            task_list_add(&list, member);
    }
    executor_push_released(t->run, &list);
}

bool rendezvous_arrive(Task *t, int k)
{
    Run *run = t->run;
    const Collective *c = &run->program->collectives[k];
    int g = c->group_of[t->number];
    if (g < 0) { /* its device is in no group */
        collective_skip(c, &t->frame);
        t->next_segment = c->next;
        return true;
    }
    yield_at_random();
    Arrival arrival = record_arrival(t, k, g);
    if (arrival == COMPLETES_HERE)
        return crossing_begin(t, k);
    if (arrival != COMPLETES_GROUP)
        return arrival == RUN_HAS_FAILED;
    yield_at_random();
    const Group *group = &run->program->groups[g];
    t->next_segment = c->next;
    uint64_t met = run->tracks ? ticks_now() : 0;
    CopyPlan plan;
    copy_plan_begin(&plan);
    Error *error = rendezvous_perform(run, c, group, &plan);
    copy_plan_end(&plan);
    if (run->tracks)
        tracks_met(run->tracks, group->n, group->members, k, met, t->number);
    if (error)
        run_fail(run, error);
    release_group(t, group);
    yield_at_random();
    /* In a single-threaded run t stops here, as its group does: then all may go on in lockstep. */
    return !run->is_single_threaded;
}
