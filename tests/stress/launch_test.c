/* launch_test.c - several callers at once on the same devices: loops of collectives in rows and
 * columns, chains of dependent launches with donation, failures and deadlocks in between; with
 * random yields at every collective.  Every result is checked.  Links the engine. */
#include "base/sync.h"
#include "tests/handmade.h"

enum { DEVICES = 4, CALLERS = 3, ROUNDS = 40 };

/* --- rows and columns: turns times, x = column sum of row sums: 4 times x each turn. */
typedef struct Grid {
    float left, x, sum;
} Grid;

static int32_t grid_start(Frame *f)
{
    *(Grid *)f->slab = (Grid){ .left = *(float *)f->args[0], .x = 1 };
    return 1;
}

static int32_t grid_head(Frame *f)
{
    return ((Grid *)f->slab)->left-- > 0 ? SEGMENT_COLLECTIVE : 3;
}

static int32_t grid_middle(Frame *f)
{
    (void)f;
    return SEGMENT_COLLECTIVE - 1;
}

static int32_t grid_end(Frame *f)
{
    *(float *)f->outs[0] = ((Grid *)f->slab)->x;
    return SEGMENT_END;
}

static SegmentFn *const grid_segments[] = { grid_start, grid_head, grid_middle, grid_end };

static void make_grid(HandMade *h, int64_t cost)
{
    hand_made(h, DEVICES, 1, 1, grid_segments, 4, cost);
    h->p.slab_bytes = sizeof(Grid);
    int rows = add_groups(h, 2, 1), columns = add_groups(h, 2, 2);
    add_collective(h, OP_ALL_REDUCE, "grid.py:1", rows, 2, at_slab(4), at_slab(8), 2);
    add_collective(h, OP_ALL_REDUCE, "grid.py:2", columns, 2, at_slab(8), at_slab(4), 1);
}

/* --- psum in place of a donated argument. */
static int32_t meet_0(Frame *f)
{
    (void)f;
    return SEGMENT_COLLECTIVE;
}

static int32_t divide(Frame *f)
{
    *(float *)f->outs[0] = *(float *)f->outs[0] / DEVICES + 1;
    return SEGMENT_END;
}

static SegmentFn *const step_segments[] = { meet_0, divide };

static void make_step(HandMade *h, int64_t cost)
{
    hand_made(h, DEVICES, 1, 1, step_segments, 2, cost);
    add_collective(h, OP_ALL_REDUCE, "step.py:1", add_groups(h, DEVICES, 1), 1, at_arg(0),
                   at_out(0), 1);
    h->args[0].may_donate = true;
    h->results[0].alias = 0;
}

/* --- device `arg` does not come. */
static int32_t skip_one(Frame *f)
{
    return *(float *)f->args[0] == (float)f->partition ? 1 : SEGMENT_COLLECTIVE;
}

static int32_t finish(Frame *f)
{
    (void)f;
    return SEGMENT_END;
}

static SegmentFn *const skip_segments[] = { skip_one, finish };

static void make_skip(HandMade *h, int64_t cost)
{
    hand_made(h, DEVICES, 1, 1, skip_segments, 2, cost);
    add_collective(h, OP_ALL_REDUCE, "skip.py:1", add_groups(h, DEVICES, 1), 1, at_arg(0),
                   at_out(0), 1);
}

static void same_args(Call *c, float x)
{
    for (int d = 0; d < DEVICES; d++)
        c->args[d][0] = make_float(c->devices[d], x);
}

static void check_grid(Executor *e, int64_t cost, int turns)
{
    HandMade h;
    make_grid(&h, cost);
    Call c;
    call_start(&c, e, &h.p);
    same_args(&c, (float)turns);
    CHECK(!launch_start(e, &c.l));
    for (int d = 0; d < DEVICES; d++)
        CHECK(read_float(c.outs[d][0]) == (float)(1 << (2 * turns)));
    call_end(&c);
}

static void check_skip(Executor *e, int64_t cost, int skipped)
{
    HandMade h;
    make_skip(&h, cost);
    Call c;
    call_start(&c, e, &h.p);
    same_args(&c, (float)skipped);
    CHECK(!launch_start(e, &c.l));
    char expected[100], wait[20] = "";
    for (int d = 0; d < DEVICES; d++)
        if (d != skipped)
            snprintf(wait + strlen(wait), sizeof wait - strlen(wait), "%d ", d);
    snprintf(expected, sizeof expected,
             "all_reduce (skip.py:1): device %d does not come: it has finished; %swait", skipped,
             wait);
    for (int d = 0; d < DEVICES; d++)
        CHECK_STR(failure_of(c.outs[d][0]), expected);
    call_end(&c);
}

/* A chain in which each launch takes over what the one before gave; some links are small. */
static void check_chain(Executor *e, int links)
{
    HandMade slow, quick;
    make_step(&slow, -1);
    make_step(&quick, 0);
    Buffer *x[DEVICES];
    for (int d = 0; d < DEVICES; d++)
        x[d] = make_float(executor_device(e, d), 0);
    Event *last = NULL;
    for (int i = 0; i < links; i++) {
        Call c;
        call_start(&c, e, i % 3 ? &quick.p : &slow.p);
        for (int d = 0; d < DEVICES; d++)
            c.args[d][0] = x[d];
        CHECK(!launch_start(e, &c.l));
        for (int d = 0; d < DEVICES; d++) {
            CHECK(buffer_is_deleted(x[d]));
            x[d] = c.outs[d][0];
            c.outs[d][0] = NULL;
        }
        event_release(last);
        last = event_hold(c.done[0]);
        call_end(&c);
    }
    for (int d = 0; d < DEVICES; d++) {
        CHECK(read_float(x[d]) == (float)links);
        buffer_free(x[d]);
    }
    event_await(last); /* the programs live on this stack */
    event_release(last);
}

static void caller(void *user)
{
    Executor *e = user;
    unsigned seed = (unsigned)(uintptr_t)&seed;
    for (int i = 0; i < ROUNDS; i++) {
        int64_t cost = ONE_THREAD_RUNS + rand_r(&seed) % 3;
        switch (rand_r(&seed) % 3) {
        case 0: check_grid(e, cost, rand_r(&seed) % 11); break;
        case 1: check_chain(e, 1 + rand_r(&seed) % 60); break;
        case 2: check_skip(e, cost, rand_r(&seed) % DEVICES); break;
        }
    }
}

int main(void)
{
    setenv("TUTTI_YIELD", "1", 1);
    int workers[] = { 1, 2, 4 };
    for (int w = 0; w < 3; w++) {
        Executor *e;
        CHECK(!executor_new(DEVICES, workers[w], 0, &e));
        Thread threads[CALLERS];
        for (int i = 0; i < CALLERS; i++)
            CHECK(!thread_start(&threads[i], "caller", caller, e));
        for (int i = 0; i < CALLERS; i++)
            thread_join(&threads[i]);
        for (int d = 0; d < DEVICES; d++)
            CHECK(memory_stats(executor_device(e, d)->memory).bytes_in_use == 0);
        executor_free(e);
    }
    return check_done();
}
