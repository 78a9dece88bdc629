/* launch_cost.c - what a launch costs beside the work: prints nanoseconds per call.
 * Not a test: numbers depend on the machine.  Links the engine. */
#include "tests/handmade.h"

#include <time.h>

static int32_t meet_0(Frame *f)
{
    (void)f;
    return SEGMENT_COLLECTIVE;
}

static int32_t add_one(Frame *f)
{
    *(float *)f->outs[0] = *(float *)f->args[0] + 1;
    return SEGMENT_END;
}

static int32_t finish(Frame *f)
{
    (void)f;
    return SEGMENT_END;
}

/* A loop of as many collectives as the argument says, with some work in each turn. */
typedef struct Loop {
    float left, x, sum, work;
} Loop;

static int32_t loop_start(Frame *f)
{
    *(Loop *)f->slab = (Loop){ .left = *(float *)f->args[0] };
    return 1;
}

static int32_t loop_head(Frame *f)
{
    Loop *loop = (Loop *)f->slab;
    for (int64_t i = 0; i < f->program->cost_ns; i++)
        loop->work = loop->work * 0.5f + 1;
    return loop->left-- > 0 ? SEGMENT_COLLECTIVE : 2;
}

static SegmentFn *const loop_segments[] = { loop_start, loop_head, finish };

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* The best of several rounds: launch, then free the results. */
static double cost(Executor *e, const Program *p, int turns)
{
    Call c;
    call_start(&c, e, p);
    call_args(&c, 1);
    double best = 1e18;
    for (int round = 0; round < 10; round++) {
        double start = now_ns();
        for (int i = 0; i < turns; i++) {
            CHECK(!launch_start(e, &c.l));
            for (int d = 0; d < p->ndevices; d++) {
                event_await(c.done[d]);
                event_release(c.done[d]);
                buffer_free(c.outs[d][0]);
                c.outs[d][0] = NULL;
                c.done[d] = NULL;
            }
        }
        double each = (now_ns() - start) / turns;
        best = each < best ? each : best;
    }
    call_end(&c);
    return best;
}

int main(void)
{
    Executor *e;
    CHECK(!executor_new(8, 0, 0, &e));
    static SegmentFn *const add[] = { add_one }, *const psum[] = { meet_0, finish };
    HandMade h;
    for (int n = 1; n <= 8; n *= 2) {
        hand_made(&h, n, 1, 1, add, 1, 0);
        printf("add 1,  %d devices, here:    %7.0f ns\n", n, cost(e, &h.p, 20000));
        hand_made(&h, n, 1, 1, psum, 2, 0);
        add_collective(&h, OP_ALL_REDUCE, "x.py:1", add_groups(&h, n, 1), 1, at_arg(0), at_out(0),
                       1);
        printf("psum,   %d devices, here:    %7.0f ns\n", n, cost(e, &h.p, 20000));
        h.p.slab_bytes = 64;
        printf("psum,   %d devices, slab:    %7.0f ns\n", n, cost(e, &h.p, 20000));
        h.p.is_cost_known = false;
        printf("psum,   %d devices, worker:  %7.0f ns\n", n, cost(e, &h.p, 2000));
        h.p.longest_ns = INT64_MAX / MOST;
        printf("psum,   %d devices, workers: %7.0f ns\n", n, cost(e, &h.p, 2000));
    }
    enum { TURNS = 20000 };
    for (int n = 2; n <= 8; n *= 2)
        for (int work = 1; work <= 10000; work *= 10) {
            hand_made(&h, n, 1, 1, loop_segments, 3, work);
            h.p.slab_bytes = sizeof(Loop);
            h.p.is_cost_known = false;
            add_collective(&h, OP_ALL_REDUCE, "x.py:1", add_groups(&h, n, 1), 1, at_slab(4),
                           at_slab(8), 1);
            Call c;
            call_start(&c, e, &h.p);
            for (int d = 0; d < n; d++)
                c.args[d][0] = make_float(c.devices[d], TURNS);
            double start = now_ns();
            CHECK(!launch_start(e, &c.l));
            event_await(c.done[0]);
            printf("a meeting, %d devices, work %5d: %7.0f ns\n", n, work,
                   (now_ns() - start) / TURNS);
            call_end(&c);
        }
    executor_free(e);
    return check_done();
}
