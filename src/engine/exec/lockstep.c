/* lockstep.c - one thread plays all devices of a run.
 *
 *     all at one place:   segment for device 0, 1, 2, 3 --> collective --> segment for 0, 1, 2, 3
 *     else, in turn:      device 0 up to its next collective, device 1 up to its next, ...
 *
 * In step nobody arrives and nobody waits: that all of them come to a collective is seen from what
 * their segments said.  Where their ways part each moves on its own, as with many workers, and
 * wrong programs are found out there.  And what a collective in a loop has to do is written down the
 * first time and only played from then on. */
#include "base/fail.h"
#include "engine/collectives/collectives.h"
#include "engine/exec/executor.h"

enum {
    PATIENCE = 1000, /* collectives, before others get the thread */
    KEPT = 4,        /* copy plans; a power of two */
};

static bool are_in_step(const Run *run)
{
    int at = run->tasks[0].next_segment;
    for (int d = 0; d < run->program->ndevices; d++) {
        const Task *t = &run->tasks[d];
        if (t->is_waiting || t->has_ended || t->next_segment != at)
            return false;
    }
    return true;
}

/* Everybody plays a segment and says what comes next.  Do all say the same? */
static bool step_all(Run *run, int number)
{
    require(number < run->program->nsegments);
    SegmentFn *f = run->program->segments[number];
    int32_t differs = 0;
    for (int d = 0; d < run->program->ndevices; d++) {
        Task *t = &run->tasks[d];
        t->said = f(&t->frame);
        if (t->frame.error) /* frame_fail */
            t->said = SEGMENT_FAIL;
        differs |= t->said ^ run->tasks[0].said;
    }
    return !differs;
}

static bool is_cancelled(const Run *run)
{
    /* relaxed: a hint to stop */
    return atomic_load_explicit(&run->cancel, memory_order_relaxed);
}

/* The number of the collective that all have come to, if they may go on in step; else -1. */
static int collective_of_all(const Run *run, int32_t said)
{
    if (said > SEGMENT_COLLECTIVE)
        return -1;
    int k = SEGMENT_COLLECTIVE - said;
    require(k < run->program->ncollectives);
    return run->program->collectives[k].nfull ? k : -1;
}

static void meet_group(Run *run, const Collective *c, const Group *group, CopyPlan *kept)
{
    if (kept->c == c && kept->frame == &run->tasks[group->members[0]].frame) {
        copy_plan_execute(kept);
        return;
    }
    Error *error = rendezvous_perform(run, c, group, kept);
    if (error)
        run_fail(run, error);
}

/* Each group of each collective has a plan that is kept for it, and for others. */
static void meet_all(Run *run, int k, CopyPlan *kept)
{
    const Collective *c = &run->program->collectives[k];
    run->nperformed += c->nfull;
    if (c->nfull == 1 && kept[(unsigned)k % KEPT].c == c) { /* the short way to the same */
        copy_plan_execute(&kept[(unsigned)k % KEPT]);
        return;
    }
    for (int i = 0; i < c->nfull; i++)
        meet_group(run, c, &run->program->groups[c->full[i]], &kept[(unsigned)(k + i) % KEPT]);
}

/* Returns when all have ended, or no longer stand at one place, or have met often, or are to stop:
 * a collective may have failed, and then nobody plays on with what it did not give. */
static void run_with_plans(Run *run, CopyPlan *kept)
{
    int n = run->program->ndevices, at = run->tasks[0].next_segment;
    for (int turns = 0; turns < PATIENCE && !is_cancelled(run); turns++) {
        int k = -1;
        if (step_all(run, at))
            k = collective_of_all(run, run->tasks[0].said);
        if (k < 0) {
            for (int d = 0; d < n; d++)
                task_continue(&run->tasks[d], run->tasks[d].said);
            return;
        }
        meet_all(run, k, kept);
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

static void run_in_turn(Run *run)
{
    for (int turns = 0; turns < PATIENCE && run->nended < run->program->ndevices; turns++) {
        for (Task *t = run->tasks; t < run->tasks + run->program->ndevices; t++)
            if (!t->is_waiting && !t->has_ended)
                task_run(t);
        if (are_in_step(run))
            return;
    }
}

static void begin_all(Run *run)
{
    for (Task *t = run->tasks; t < run->tasks + run->program->ndevices; t++)
        if (!t->has_begun)
            task_begin(t);
}

void lockstep_run(Run *run)
{
    Executor *e = run->executor;
    begin_all(run);
    for (int turns = 0; run->nended < run->program->ndevices; turns++) {
        bool are_others_waiting =
            /* relaxed: a hint */
            !run->is_inline && atomic_load_explicit(&e->nready, memory_order_relaxed);
        if (turns && are_others_waiting) {
            executor_push(run->tasks);
            return;
        }
        if (!is_cancelled(run) && are_in_step(run))
            run_in_lockstep(run);
        else
            run_in_turn(run);
    }
    if (!run->is_inline)
        run_end(run);
}
