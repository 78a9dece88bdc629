/* lockstep.c - one thread runs all tasks of a run.
 *
 *     in lockstep:   segment for device 0, 1, 2, 3 --> collective --> segment for 0, 1, 2, 3
 *     else, each:    device 0 up to its next collective, device 1 up to its next, ...
 *
 * In lockstep no task arrives and none waits: that all of them come to a collective is seen from
 * what their segments returned.  Where the tasks' ways part each runs on its own, by the same code
 * as with many workers, and wrong programs are found there.  The copy plan of a collective in a
 * loop is made the first time and only executed from then on. */
#include "base/fail.h"
#include "engine/collectives/collectives.h"
#include "engine/exec/executor.h"

enum {
    MOST_STEPS = 1000, /* collectives, before the thread looks whether other tasks are ready */
    KEPT = 4,          /* copy plans; a power of two */
};

static bool are_in_step(const Run *run)
{
    int at = run->tasks[0].next_segment;
    for (int d = 0; d < run->ntasks; d++) {
        const Task *t = &run->tasks[d];
        if (t->is_waiting || t->has_ended || t->crossing || t->next_segment != at)
            return false;
    }
    return true;
}

/* Runs one segment of every task.  Returns whether all of them say that the same comes next. */
static bool step_all(Run *run, int number)
{
    require(number < run->program->nsegments);
    SegmentFn *f = run->program->segments[number];
    int32_t differs = 0;
    for (int d = 0; d < run->ntasks; d++) {
        Task *t = &run->tasks[d];
        t->returned = segment_run(f, &t->frame, number);
        if (t->frame.error) /* frame_fail */
            t->returned = SEGMENT_FAIL;
        differs |= t->returned ^ run->tasks[0].returned;
    }
    return !differs;
}

/* The number of the collective that all tasks have come to, if they may perform it in lockstep;
 * else -1. */
static int collective_of_all(const Run *run, int32_t returned)
{
    if (returned > SEGMENT_COLLECTIVE)
        return -1;
    int k = SEGMENT_COLLECTIVE - returned;
    require(k < run->program->ncollectives);
    const Collective *c = &run->program->collectives[k];
    for (int i = 0; run->span && i < c->nlockstep_groups; i++)
        if (span_crosses(run->span, run->program, c->lockstep_groups[i]))
            return -1;
    return c->nlockstep_groups ? k : -1;
}

/* Performs collective k for a group, by its plan if that is still there. */
static void perform_group(Run *run, int k, const Group *group, CopyPlan *plan)
{
    const Collective *c = &run->program->collectives[k];
    uint64_t met = run->tracks ? ticks_now() : 0;
    if (plan->c == c && plan->frame == &run_task(run, group->members[0])->frame) {
        copy_plan_execute(plan);
    } else {
        Error *error = rendezvous_perform(run, c, group, plan);
        if (error)
            run_fail(run, error);
    }
    if (run->tracks)
        tracks_met(run->tracks, group->n, group->members, k, met, group->members[group->n - 1]);
}

/* Performs collective k for each of its groups.  Groups of several collectives may have to share a
 * plan. */
static void perform_all(Run *run, int k, CopyPlan *kept)
{
    const Collective *c = &run->program->collectives[k];
    run->nperformed += c->nlockstep_groups;
    if (c->nlockstep_groups == 1 && !run->tracks &&
        kept[(unsigned)k % KEPT].c == c) { /* the short way to the same */
        copy_plan_execute(&kept[(unsigned)k % KEPT]);
        return;
    }
    for (int i = 0; i < c->nlockstep_groups; i++) {
        const Group *group = &run->program->groups[c->lockstep_groups[i]];
        perform_group(run, k, group, &kept[(unsigned)(k + i) % KEPT]);
    }
}

/* Returns when all tasks have ended, or no longer stand at one segment, or have met often, or the
 * run is to stop: a collective may have failed, and then no segment may run on what it did not
 * give. */
static void run_with_plans(Run *run, CopyPlan *kept)
{
    int n = run->ntasks, at = run->tasks[0].next_segment;
    for (int steps = 0; steps < MOST_STEPS && !run_is_cancelled(run); steps++) {
        int k = -1;
        if (step_all(run, at))
            k = collective_of_all(run, run->tasks[0].returned);
        if (k < 0) {
            for (int d = 0; d < n; d++)
                task_continue(&run->tasks[d], run->tasks[d].returned);
            return;
        }
        perform_all(run, k, kept);
        at = run->program->collectives[k].next;
    }
    for (int d = 0; d < n; d++)
        run->tasks[d].next_segment = at;
}

static void run_in_lockstep(Run *run)
{
    CopyPlan kept[KEPT];
    for (int i = 0; i < KEPT; i++)
        copy_plan_begin(&kept[i]);
    run_with_plans(run, kept);
    for (int i = 0; i < KEPT; i++)
        copy_plan_end(&kept[i]);
}

/* One task after the other, until all stand at one segment. */
static void run_one_by_one(Run *run)
{
    for (int steps = 0; steps < MOST_STEPS && run->nended < run->ntasks; steps++) {
        for (Task *t = run->tasks; t < run->tasks + run->ntasks; t++)
            if (!t->is_waiting && !t->has_ended)
                task_run(t);
        if (are_in_step(run))
            return;
        /* without a lock: these change while other threads are in the run, which needs a span */
        if (run->span && !run->nrunnable && run->nended < run->ntasks)
            return;
    }
}

void lockstep_run(Run *run)
{
    Executor *e = run->executor;
    for (Task *t = run->tasks; t < run->tasks + run->ntasks; t++)
        if (!t->has_begun)
            task_begin(t);
    for (bool is_first = true; run->nended < run->ntasks && !run->is_paused; is_first = false) {
        bool are_others_ready =
            /* relaxed: a hint */
            !run->is_inline && atomic_load_explicit(&e->nready, memory_order_relaxed);
        if (!is_first && are_others_ready) {
            executor_push(run->tasks);
            return;
        }
        if (run->span && !crossing_wait(run))
            return;
        if (!run_is_cancelled(run) && are_in_step(run))
            run_in_lockstep(run);
        else
            run_one_by_one(run);
    }
    if (!run->is_inline)
        run_end(run);
}
