/* lent_test.c - threads of the caller's instead of workers: some that help, none until all is over, and the
 * one that submits; called by several threads at once.  Links the engine. */
#include "engine/exec/executor.h"
#include "tests/handmade.h"
#include "tests/pools.h"

#include <sched.h>

enum { DEVICES = 4, ROUNDS = 20, SLICES = 16, LENT = 3, CALLERS = 3, CALLS = 10 };

/* Each round adds one to the mean of all devices, in slices. */
typedef struct Mean {
    float x, sum, parts[SLICES];
    int left;
} Mean;

static int32_t begin(Frame *f)
{
    Mean *m = (Mean *)f->slab;
    *m = (Mean){ .x = *(float *)f->args[0], .left = ROUNDS };
    return SEGMENT_COLLECTIVE;
}

static void part(void *user, int64_t slice)
{
    ((Mean *)user)->parts[slice] = 1.0f / SLICES;
}

static int32_t go_on(Frame *f)
{
    Mean *m = (Mean *)f->slab;
    m->x = m->sum / DEVICES;
    slices_run(f, SLICES, part, m);
    for (int i = 0; i < SLICES; i++) {
        m->x += m->parts[i];
        m->parts[i] = 0;
    }
    *(float *)f->outs[0] = m->x;
    return --m->left ? SEGMENT_COLLECTIVE : SEGMENT_END;
}

static SegmentFn *const segments[] = { begin, go_on };

static void make_mean(HandMade *h, int64_t cost)
{
    hand_made(h, DEVICES, 1, 1, segments, 2, cost);
    h->p.slab_bytes = sizeof(Mean);
    int g = add_groups(h, DEVICES, 1);
    for (int i = 0; i < 2; i++) /* one after each segment */
        add_collective(h, OP_ALL_REDUCE, "mean.py:3", g, 1, at_slab(0), at_slab(4), 1);
}

/* The caller takes part, or only looks whether it is done. */
static void call_mean(Executor *e, int64_t cost, bool takes_part)
{
    HandMade h;
    make_mean(&h, cost);
    Call c;
    call_start(&c, e, &h.p);
    call_args(&c, 0);
    CHECK(!launch_start(e, &c.l));
    while (!takes_part && !event_is_ready(c.done[0]))
        sched_yield();
    executor_await(e, c.done[0]);
    for (int d = 0; d < DEVICES; d++)
        CHECK(read_float(c.outs[d][0]) == (DEVICES - 1) / 2.0f + ROUNDS);
    call_end(&c);
}

static void *caller(void *e)
{
    for (int i = 0; i < CALLS; i++)
        for (int64_t cost = ONE_THREAD_RUNS; cost <= CALLER_RUNS; cost++)
            call_mean(e, cost, true);
    return NULL;
}

static Executor *lent(const Pool *pool)
{
    Executor *e;
    CHECK(!executor_new(DEVICES, LENT, 0, &e));
    CHECK(!executor_lend(e, pool));
    return e;
}

static void play(const Pool *pool)
{
    Executor *e = lent(pool);
    pthread_t threads[CALLERS];
    for (int i = 0; i < CALLERS; i++)
        CHECK(!pthread_create(&threads[i], NULL, caller, e));
    for (int i = 0; i < CALLERS; i++)
        pthread_join(threads[i], NULL);
    executor_free(e);
}

/* Threads help, and every job is called. */
static void check_threads(void)
{
    Threads threads;
    pool_start(&threads, POOL_THREADS);
    play(&(Pool){ pool_submit, &threads });
    pool_join(&threads);
    CHECK(threads.nsubmitted && threads.ncalled == threads.nsubmitted);
}

static int count_submitted(Threads *threads)
{
    pthread_mutex_lock(&threads->lock);
    int n = threads->nsubmitted;
    pthread_mutex_unlock(&threads->lock);
    return n;
}

/* Threads that have left are asked again: they alone do calls in which no caller takes part, and each call
 * that begins when all have left submits a job anew. */
static void check_asked_again(void)
{
    enum { PATIENCE = 100000 }; /* calls that may come before a thread of a busy machine has left */
    Threads threads;
    pool_start(&threads, POOL_THREADS);
    Executor *e = lent(&(Pool){ pool_submit, &threads });
    for (int i = 0; i < PATIENCE && count_submitted(&threads) <= LENT; i++)
        call_mean(e, TASKS_RUN, false);
    executor_free(e);
    pool_join(&threads);
    CHECK(threads.nsubmitted > LENT && threads.ncalled == threads.nsubmitted);
}

/* Nobody helps: callers do all of it, no more jobs are submitted than were lent, and those that are called
 * after the executor's end do nothing. */
static void check_nobody(void)
{
    Threads threads;
    pool_start(&threads, 0);
    play(&(Pool){ pool_submit, &threads });
    CHECK(threads.nsubmitted == LENT && threads.ncalled == 0);
    pool_join(&threads);
    CHECK(threads.ncalled == LENT);
}

static int32_t leave(Frame *f)
{
    return *(float *)f->args[0] == 0 ? SEGMENT_END : SEGMENT_COLLECTIVE;
}

/* A deadlock is an error there too. */
static void check_deadlock(void)
{
    static SegmentFn *const leaving[] = { leave, go_on };
    Executor *e = lent(&(Pool){ pool_call_at_once, NULL });
    HandMade h;
    make_mean(&h, TASKS_RUN);
    h.p.segments = leaving;
    Call c;
    call_start(&c, e, &h.p);
    call_args(&c, 0);
    CHECK(!launch_start(e, &c.l));
    executor_await(e, c.done[0]);
    Error *error = event_error(c.done[0]);
    CHECK(error && strstr(error_text(error), "device 0 does not come: it has finished"));
    error_free(error);
    call_end(&c);
    executor_free(e);
}

int main(void)
{
    check_threads();
    check_asked_again();
    check_nobody();
    play(&(Pool){ pool_call_at_once, NULL });
    check_deadlock();
    return check_done();
}
