/* task.c - one device of a run, from segment to segment.
 *
 *     begin --> segment --> segment --> collective --> segment --> ... --> end
 *
 * A segment is compiled code that never waits; it says what comes next.  At a collective, a send or
 * a recv the task may have to wait (rendezvous.c, mailbox.c), and its thread leaves it there. */
#include "base/fail.h"
#include "engine/exec/executor.h"
#include "engine/stats.h"

#include <stdlib.h>

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

void task_begin(Task *t)
{
    t->has_begun = true;
    size_t bytes = t->run->program->slab_bytes;
    if (!bytes || run_is_cancelled(t->run))
        return;
    void *slab = NULL;
    Error *error = memory_take(t->device->memory, bytes, &slab);
    t->frame.slab = slab;
    if (error)
        run_fail(t->run, error);
}

void task_wait_locked(Task *t, int k, TaskList *released)
{
    Run *run = t->run;
    t->is_waiting = true;
    t->collective = k;
    t->next_segment = run->program->collectives[k].next;
    run_lose_runnable(run, released);
}

/* A segment has failed; error is NULL where a loop returned because the run is to stop. */
static void task_fail(Task *t, Error *error)
{
    if (!error && run_is_cancelled(t->run))
        error = run_cancelled(t->run);
    if (!error)
        error = error_new(CODE_INTERNAL, "failed without saying why");
    if (t->run->program->ndevices > 1)
        error = error_in(error, "device %d", t->device->id);
    run_fail(t->run, error);
}

static void task_end(Task *t)
{
    Run *run = t->run;
    if (t->frame.slab && !run_is_left_behind(run))
        memory_give(t->device->memory, t->frame.slab, run->program->slab_bytes);
    free(t->frame.saved);
    error_free(t->frame.error);
    if (!run->is_single_threaded || run->nended + 1 == run->ntasks)
        executor_is_leaving(run);
    if (run->is_queued)
        executor_dequeue(t);
    TaskList released;
    task_list_start(&released);
    run_lock(run);
    t->has_ended = true;
    bool is_last = ++run->nended == run->ntasks;
    run_lose_runnable(run, &released);
    run_unlock(run);
    executor_push_released(run, &released);
    if (!is_last)
        return;
    mailbox_end(run);
    stat_add(STAT_COLLECTIVES, run->nperformed);
    if (!run->is_single_threaded) /* else lockstep_run or launch ends it */
        run_end(run);
}

/* Runs on from what a segment has returned, `next`, to a collective, whose number it returns, or to
 * the end of the program or a pause: -1. */
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
        if (next < 0 || run_is_cancelled(t->run))
            return -1;
        if (t->run->is_paused) {
            t->next_segment = next;
            return -1;
        }
        require(next < program->nsegments);
        next = segment_run(program->segments[next], &t->frame, next);
        if (t->frame.error) /* frame_fail */
            next = SEGMENT_FAIL;
    }
}

/* Returns whether t goes on; if not, it is no longer the caller's. */
static bool task_at_collective(Task *t, int k)
{
    require(k < t->run->program->ncollectives);
    switch (t->run->program->collectives[k].op) {
    case OP_SEND: return mailbox_send(t, k);
    case OP_RECV:
        if (t->frame.track)
            t->frame.track->waits_at = k;
        return mailbox_receive(t, k);
    default: return rendezvous_arrive(t, k);
    }
}

void task_continue(Task *t, int32_t next)
{
    for (;;) {
        int k = run_segments(t, next);
        if (t->run->is_paused)
            return;
        if (k < 0)
            break;
        if (!task_at_collective(t, k))
            return;
        next = t->next_segment;
    }
    task_end(t);
}

void task_run(Task *t)
{
    if (!t->has_begun)
        task_begin(t);
    if (t->crossing && !crossing_go_on(t))
        return;
    task_continue(t, t->next_segment);
}
