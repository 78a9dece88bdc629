/* executor_test.c - launches, collectives, deadlocks and donation on hand-made programs, both on
 * the caller's thread and on 1, 2 and 4 workers.  Links the engine. */
#define _GNU_SOURCE /* sched_getcpu */
#include "engine/exec/executor.h"
#include "engine/exec/pause.h"
#include "engine/stats.h"
#include "tests/handmade.h"

#include <sched.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- psum of one float: segment 0 meets, segment 1 ends. */
static int32_t meet_0(Frame *f)
{
    (void)f;
    return SEGMENT_COLLECTIVE;
}

static int32_t finish(Frame *f)
{
    (void)f;
    return SEGMENT_END;
}

static SegmentFn *const psum_segments[] = { meet_0, finish };

static void make_psum(HandMade *h, int ndevices, int64_t cost)
{
    hand_made(h, ndevices, 1, 1, psum_segments, 2, cost);
    int g = add_groups(h, ndevices, 1);
    add_collective(h, OP_ALL_REDUCE, "train.py:28", g, 1, at_arg(0), at_out(0), 1);
}

static void check_psum(Executor *e, int ndevices, int64_t cost)
{
    HandMade h;
    make_psum(&h, ndevices, cost);
    Call c;
    call_start(&c, e, &h.p);
    call_args(&c, 1);
    RunStats before = run_stats();
    CHECK(!launch_start(e, &c.l));
    RunStats after = run_stats();
    CHECK(after.launches - before.launches == 1);
    CHECK(after.inline_launches - before.inline_launches == (cost >= 0));
    for (int d = 0; d < ndevices; d++) {
        CHECK(read_float(c.outs[d][0]) == (float)(ndevices * (ndevices + 1)) / 2);
        CHECK(read_float(c.args[d][0]) == 1 + (float)d);
        event_await(c.done[d]);
    }
    call_end(&c);
}

/* --- a loop: groups {0 1} {2 3} ... meet `arg` times; every iteration doubles (sum of two equal). */
typedef struct Loop {
    float left, x, sum;
} Loop;

static int32_t loop_start(Frame *f)
{
    Loop *loop = (Loop *)f->slab;
    loop->left = *(float *)f->args[0];
    loop->x = 1;
    return 1;
}

static int32_t loop_head(Frame *f)
{
    Loop *loop = (Loop *)f->slab;
    return loop->left-- > 0 ? SEGMENT_COLLECTIVE : 3;
}

static int32_t loop_tail(Frame *f)
{
    Loop *loop = (Loop *)f->slab;
    loop->x = loop->sum;
    return 1;
}

static int32_t loop_end(Frame *f)
{
    *(float *)f->outs[0] = ((Loop *)f->slab)->x;
    return SEGMENT_END;
}

static SegmentFn *const loop_segments[] = { loop_start, loop_head, loop_tail, loop_end };

static void check_loop(Executor *e, int64_t cost)
{
    HandMade h;
    hand_made(&h, 8, 1, 1, loop_segments, 4, cost);
    h.p.slab_bytes = sizeof(Loop);
    int g = add_groups(&h, 2, 1);
    add_collective(&h, OP_ALL_REDUCE, "loop.py:3", g, 4, at_slab(4), at_slab(8), 2);
    Call c;
    call_start(&c, e, &h.p);
    for (int d = 0; d < 8; d++)
        c.args[d][0] = make_float(c.devices[d], (float)(3 + 4 * (d / 2))); /* turns of its group */
    CHECK(!launch_start(e, &c.l));
    for (int d = 0; d < 8; d++)
        CHECK(read_float(c.outs[d][0]) == (float)(1 << (3 + 4 * (d / 2))));
    call_end(&c);
}

/* --- the last device skips the collective. */
static int32_t skip_if_last(Frame *f)
{
    return f->partition == f->program->npartitions - 1 ? 1 : SEGMENT_COLLECTIVE;
}

static SegmentFn *const skip_segments[] = { skip_if_last, finish };

static void check_skip(Executor *e, int64_t cost)
{
    HandMade h;
    hand_made(&h, 4, 1, 1, skip_segments, 2, cost);
    int g = add_groups(&h, 4, 1);
    add_collective(&h, OP_ALL_REDUCE, "train.py:28", g, 1, at_arg(0), at_out(0), 1);
    Call c;
    call_start(&c, e, &h.p);
    call_args(&c, 1);
    CHECK(!launch_start(e, &c.l));
    for (int d = 0; d < 4; d++)
        CHECK_STR(failure_of(c.outs[d][0]),
                  "all_reduce (train.py:28): device 3 does not come: it has finished; 0 1 2 wait");
    event_await(c.done[2]);
    Error *error = event_error(c.done[2]);
    CHECK(error && error_code(error) == CODE_PRECONDITION);
    error_free(error);
    call_end(&c);
    check_psum(e, 4, cost); /* life goes on */
}

/* --- devices 0 and 1 meet in rows, 2 and 3 in columns: no group is complete. */
static int32_t rows_or_columns(Frame *f)
{
    return f->partition < 1 ? SEGMENT_COLLECTIVE : f->partition == 3 ? SEGMENT_COLLECTIVE - 1 : 1;
}

static SegmentFn *const crossed_segments[] = { rows_or_columns, finish };

static void check_crossed(Executor *e, int64_t cost)
{
    HandMade h;
    hand_made(&h, 4, 1, 1, crossed_segments, 2, cost);
    int rows = add_groups(&h, 2, 1), all = add_groups(&h, 4, 1);
    add_collective(&h, OP_ALL_REDUCE, "a.py:1", rows, 2, at_arg(0), at_out(0), 1);
    add_collective(&h, OP_ALL_GATHER, "a.py:2", all, 1, at_arg(0), at_out(0), 1);
    Call c;
    call_start(&c, e, &h.p);
    call_args(&c, 1);
    CHECK(!launch_start(e, &c.l));
    CHECK_STR(failure_of(c.outs[1][0]),
              "all_reduce (a.py:1): device 1 does not come: it has finished; 0 waits\n"
              "all_gather (a.py:2): device 0 does not come: it waits in all_reduce (a.py:1); "
              "devices 1, 2 do not come: they have finished; 3 waits");
    call_end(&c);
}

/* --- the same group, different collectives. */
static int32_t by_parity(Frame *f)
{
    return SEGMENT_COLLECTIVE - f->partition % 2;
}

static SegmentFn *const parity_segments[] = { by_parity, finish };

static void check_mismatch(Executor *e, int64_t cost)
{
    HandMade h;
    hand_made(&h, 2, 1, 1, parity_segments, 2, cost);
    int g = add_groups(&h, 2, 1);
    add_collective(&h, OP_ALL_REDUCE, "a.py:1", g, 1, at_arg(0), at_out(0), 1);
    add_collective(&h, OP_ALL_GATHER, "a.py:2", g, 1, at_arg(0), at_out(0), 1);
    Call c;
    call_start(&c, e, &h.p);
    call_args(&c, 1);
    CHECK(!launch_start(e, &c.l));
    const char *either[] = {
        "all_gather (a.py:2): device 1 comes here while device 0 of its group waits in all_reduce "
        "(a.py:1); all members must meet in the same order",
        "all_reduce (a.py:1): device 0 comes here while device 1 of its group waits in all_gather "
        "(a.py:2); all members must meet in the same order",
    };
    const char *got = failure_of(c.outs[0][0]);
    CHECK(!strcmp(got, either[0]) || !strcmp(got, either[1]));
    call_end(&c);
}

/* --- one device fails while the others wait. */
static int32_t fail_if_two(Frame *f)
{
    if (f->partition != 2)
        return SEGMENT_COLLECTIVE;
    f->error = error_new(CODE_INVALID, "no bananas");
    return SEGMENT_FAIL;
}

static SegmentFn *const fail_segments[] = { fail_if_two, finish };

static void check_failure(Executor *e, int64_t cost)
{
    HandMade h;
    hand_made(&h, 4, 1, 1, fail_segments, 2, cost);
    int g = add_groups(&h, 4, 1);
    add_collective(&h, OP_ALL_REDUCE, "train.py:28", g, 1, at_arg(0), at_out(0), 1);
    Call c, next;
    call_start(&c, e, &h.p);
    call_args(&c, 1);
    CHECK(!launch_start(e, &c.l));
    for (int d = 0; d < 4; d++)
        CHECK_STR(failure_of(c.outs[d][0]), "device 2: no bananas");

    /* What depends on a failed result fails with the same words, without being run. */
    HandMade psum;
    make_psum(&psum, 4, cost);
    call_start(&next, e, &psum.p);
    for (int d = 0; d < 4; d++)
        next.args[d][0] = c.outs[d][0];
    RunStats before = run_stats();
    CHECK(!launch_start(e, &next.l));
    CHECK_STR(failure_of(next.outs[3][0]), "device 2: no bananas");
    CHECK(run_stats().collectives == before.collectives);
    for (int d = 0; d < 4; d++)
        next.args[d][0] = NULL;
    call_end(&next);
    call_end(&c);
}

/* --- a collective fails: no device goes on with what it did not give. */
static _Atomic int nplayed_on;

static int32_t go_on(Frame *f)
{
    (void)f;
    atomic_fetch_add_explicit(&nplayed_on, 1, memory_order_relaxed);
    return SEGMENT_END;
}

static void check_failing_collective(Executor *e, int64_t cost)
{
    static SegmentFn *const segments[] = { meet_0, go_on };
    HandMade h;
    hand_made(&h, 4, 1, 1, segments, 2, cost);
    int g = add_groups(&h, 4, 1);
    Collective *m = add_collective(&h, OP_PERMUTE, "shift.py:5", g, 1, at_arg(0), at_out(0), 1);
    PermuteAttrs attrs = { .source_target_pairs = { 1, 2, (int64_t[]){ 5, 0 } }, .channel_id = 1 };
    m->attrs = &attrs;
    atomic_store_explicit(&nplayed_on, 0, memory_order_relaxed);
    Call c;
    call_start(&c, e, &h.p);
    call_args(&c, 1);
    CHECK(!launch_start(e, &c.l));
    CHECK_STR(failure_of(c.outs[3][0]),
              "collective_permute (shift.py:5): source 5 of target 0 is not in its group");
    CHECK(atomic_load_explicit(&nplayed_on, memory_order_relaxed) == 0);
    call_end(&c);
}

/* --- out = arg + 1, some of it slow. */
static int32_t add_one(Frame *f)
{
    *(float *)f->outs[0] = *(float *)f->args[0] + 1;
    return SEGMENT_END;
}

static int32_t add_one_slowly(Frame *f)
{
    usleep(20000);
    return add_one(f);
}

static _Atomic int may_add; /* relaxed: when it is seen does not matter */

static int32_t add_one_when_told(Frame *f)
{
    while (!atomic_load_explicit(&may_add, memory_order_relaxed))
        usleep(100);
    return add_one(f);
}

static SegmentFn *const add_segments[] = { add_one };
static SegmentFn *const slow_segments[] = { add_one_slowly };
static SegmentFn *const told_segments[] = { add_one_when_told };

static void check_chain(Executor *e)
{
    enum { LINKS = 100, LAUNCHED = 20 }; /* before the first ends: fewer than a queue holds */
    HandMade slow, quick;
    hand_made(&slow, 2, 1, 1, told_segments, 1, -1);
    hand_made(&quick, 2, 1, 1, add_segments, 1, 100);
    quick.args[0].may_donate = true;
    quick.results[0].alias = 0;
    Call first, c[LINKS];
    call_start(&first, e, &slow.p);
    call_args(&first, 0);
    atomic_store_explicit(&may_add, 0, memory_order_relaxed);
    CHECK(!launch_start(e, &first.l));
    CHECK(!event_is_ready(first.done[0]));
    Call *before = &first;
    for (int i = 0; i < LINKS; i++) {
        atomic_store_explicit(&may_add, i >= LAUNCHED, memory_order_relaxed);
        call_start(&c[i], e, &quick.p);
        for (int d = 0; d < 2; d++) {
            c[i].args[d][0] = before->outs[d][0];
            before->outs[d][0] = NULL;
        }
        CHECK(!launch_start(e, &c[i].l));
        before = &c[i];
    }
    CHECK(read_float(before->outs[0][0]) == LINKS + 1);
    CHECK(read_float(before->outs[1][0]) == LINKS + 2);
    call_end(&first);
    for (int i = 0; i < LINKS; i++)
        call_end(&c[i]);
}

/* --- launches on one device keep their order, though nothing else binds them. */
static _Atomic int turn;

static int32_t note_turn(Frame *f)
{
    usleep(*(float *)f->args[0] == 0 ? 3000 : 0);
    *(float *)f->outs[0] = (float)atomic_fetch_add_explicit(&turn, 1, memory_order_relaxed);
    return SEGMENT_END;
}

static void check_order(Executor *e)
{
    enum { LAUNCHES = 20 };
    static SegmentFn *const segments[] = { note_turn };
    HandMade h;
    hand_made(&h, 1, 1, 1, segments, 1, -1);
    Call c[LAUNCHES];
    for (int i = 0; i < LAUNCHES; i++) {
        call_start(&c[i], e, &h.p);
        call_args(&c[i], (float)(i % 5));
        CHECK(!launch_start(e, &c[i].l));
    }
    for (int i = 1; i < LAUNCHES; i++)
        CHECK(read_float(c[i].outs[0][0]) == read_float(c[i - 1].outs[0][0]) + 1);
    for (int i = 0; i < LAUNCHES; i++)
        call_end(&c[i]);
}

/* --- slices: each is run once, by any thread. */
enum { SLICES = 500 };

static void mark_slice(void *user, int64_t slice)
{
    ((unsigned char *)user)[slice]++;
    if (slice % 50 == 0)
        usleep(100);
}

static int32_t cut_up(Frame *f)
{
    unsigned char *marks = (unsigned char *)f->slab;
    int nright = 0;
    memset(marks, 0, SLICES);
    slices_run(f, SLICES, mark_slice, marks);
    for (int i = 0; i < SLICES; i++)
        nright += marks[i] == 1;
    *(float *)f->outs[0] = (float)nright;
    return SEGMENT_END;
}

static _Atomic int nhere;

/* Both slices at once, or for too long. */
static void wait_for_other(void *user, int64_t slice)
{
    (void)user, (void)slice;
    atomic_fetch_add_explicit(&nhere, 1, memory_order_relaxed);
    int left = 50000;
    while (atomic_load_explicit(&nhere, memory_order_relaxed) < 2 && left--)
        usleep(100);
    if (left < 0)
        atomic_store_explicit(&nhere, -1, memory_order_relaxed);
}

static int32_t cut_in_two(Frame *f)
{
    slices_run(f, 2, wait_for_other, NULL);
    *(float *)f->outs[0] = (float)atomic_load_explicit(&nhere, memory_order_relaxed);
    return SEGMENT_END;
}

/* No run has needed a worker yet: a thread that executes a run alone gets help all the same. */
static void check_first_help(int64_t cost)
{
    static SegmentFn *const segments[] = { cut_in_two };
    Executor *e;
    CHECK(!executor_new(1, 2, 0, &e));
    HandMade h;
    hand_made(&h, 1, 1, 1, segments, 1, cost);
    atomic_store_explicit(&nhere, 0, memory_order_relaxed);
    Call c;
    call_start(&c, e, &h.p);
    call_args(&c, 1);
    CHECK(!launch_start(e, &c.l));
    CHECK(read_float(c.outs[0][0]) == 2);
    call_end(&c);
    executor_free(e);
}

/* --- the worker of a run that has just ended, and is not yet back for more, counts as idle for the next. */
static _Atomic int has_looked;

static int32_t look_who_is_idle(Frame *f)
{
    *(float *)f->outs[0] = (float)slices_idle_workers(f);
    atomic_fetch_add_explicit(&has_looked, 1, memory_order_relaxed);
    return SEGMENT_END;
}

static void wait_until_next_looked(void *user)
{
    (void)user;
    while (atomic_load_explicit(&has_looked, memory_order_relaxed) < 2)
        usleep(100);
}

static void check_leaving(void)
{
    static SegmentFn *const segments[] = { look_who_is_idle };
    Executor *e;
    HandMade h;
    Call c[2];
    CHECK(!executor_new(1, 2, 0, &e));
    hand_made(&h, 1, 1, 1, segments, 1, -1);
    atomic_store_explicit(&has_looked, 0, memory_order_relaxed);
    for (int i = 0; i < 2; i++) {
        call_start(&c[i], e, &h.p);
        call_args(&c[i], 0);
        c[i].l.on_end = i == 0 ? wait_until_next_looked : NULL;
        CHECK(!launch_start(e, &c[i].l));
    }
    for (int i = 0; i < 2; i++) {
        CHECK(read_float(c[i].outs[0][0]) == 1);
        call_end(&c[i]);
    }
    executor_free(e);
}

static void check_slices(Executor *e, int64_t cost)
{
    static SegmentFn *const segments[] = { cut_up };
    HandMade h;
    hand_made(&h, 2, 1, 1, segments, 1, cost);
    h.p.slab_bytes = SLICES;
    for (int i = 0; i < 5; i++) {
        Call c;
        call_start(&c, e, &h.p);
        call_args(&c, 0);
        CHECK(!launch_start(e, &c.l));
        CHECK(read_float(c.outs[0][0]) == SLICES && read_float(c.outs[1][0]) == SLICES);
        call_end(&c);
    }
}

/* --- a large all_reduce, which idle workers help with. */
static void check_large(Executor *e, int64_t cost)
{
    enum { N = 300001 };
    HandMade h;
    make_psum(&h, 3, cost);
    int64_t dims[] = { N };
    h.type = h.args[0].local = h.results[0].local = (Type){ F32, 1, dims };
    Call c;
    call_start(&c, e, &h.p);
    float *data = malloc(sizeof *data * N);
    for (int d = 0; d < 3; d++) {
        for (int i = 0; i < N; i++)
            data[i] = (float)(i % 1000 + d);
        CHECK(!buffer_from_host(c.devices[d], h.type, data, NULL, &c.args[d][0]));
    }
    CHECK(!launch_start(e, &c.l));
    for (int d = 0; d < 3; d++) {
        Event *done;
        CHECK(!buffer_to_host(c.outs[d][0], data, sizeof *data * N, &done));
        event_await(done);
        event_release(done);
        int nwrong = 0;
        for (int i = 0; i < N; i++)
            nwrong += data[i] != (float)(3 * (i % 1000) + 3);
        CHECK(nwrong == 0);
    }
    free(data);
    call_end(&c);
}

/* --- donation. */

typedef struct Deleter {
    Buffer *buffer;
    int pause;
    _Atomic bool may;
} Deleter;

static void delete_it(void *user)
{
    Deleter *d = user;
    while (!d->may)
        spin_pause();
    for (int i = 0; i < d->pause; i++)
        spin_pause();
    buffer_delete(d->buffer);
}

/* Deleted by another thread while it is donated: the message is of the one buffer there is. */
static void check_deleted_meanwhile(Executor *e)
{
    HandMade h;
    hand_made(&h, 8, 2, 1, add_segments, 1, 1);
    h.args[0].may_donate = h.args[1].may_donate = true;
    for (int i = 0; i < 300; i++) {
        Call c;
        Thread other;
        call_start(&c, e, &h.p);
        for (int d = 0; d < 8; d++)
            for (int k = 0; k < 2; k++)
                c.args[d][k] = make_float(c.devices[d], 5);
        Deleter deleter = { c.args[7][1], i % 60, false };
        CHECK(!thread_start(&other, "deletes", delete_it, &deleter));
        deleter.may = true;
        Error *error = launch_start(e, &c.l);
        thread_join(&other);
        if (error)
            CHECK_STR(error_text(error),
                      "hand: argument 1: buffer f32[1] on device 7 has been deleted or donated");
        error_free(error);
        call_end(&c);
    }
}

static void check_donation(Executor *e, int64_t cost)
{
    HandMade h;
    hand_made(&h, 1, 2, 1, add_segments, 1, cost);
    h.args[0].may_donate = true;
    h.results[0].alias = 0;
    Call c;
    float x = 5;

    /* Alone: the memory goes over, the buffer is gone. */
    call_start(&c, e, &h.p);
    c.args[0][0] = make_float(c.devices[0], x);
    c.args[0][1] = make_float(c.devices[0], x);
    void *memory = c.args[0][0]->storage->data;
    CHECK(!launch_start(e, &c.l));
    CHECK(buffer_is_deleted(c.args[0][0]) && !buffer_is_deleted(c.args[0][1]));
    CHECK(read_float(c.outs[0][0]) == 6 && c.outs[0][0]->storage->data == memory);
    CHECK(
        !strcmp(failure_of(c.args[0][0]), "buffer f32[1] on device 0 has been deleted or donated"));
    call_end(&c);

    /* Passed twice: refused, and nothing has happened; then donated twice. */
    for (int twice = 0; twice < 2; twice++) {
        h.args[1].may_donate = twice;
        call_start(&c, e, &h.p);
        c.args[0][0] = c.args[0][1] = make_float(c.devices[0], x);
        Error *error = launch_start(e, &c.l);
        CHECK_STR(error ? error_text(error) : "none",
                  "hand: arguments 0 and 1 on device 0 are the same f32[1], which is donated: pass "
                  "a copy, or do not donate it");
        error_free(error);
        CHECK(read_float(c.args[0][0]) == 5);
        c.args[0][1] = NULL;
        call_end(&c);
    }
    h.args[1].may_donate = false;

    /* Viewed: it stays, and the viewer keeps seeing the old contents. */
    call_start(&c, e, &h.p);
    c.args[0][0] = make_float(c.devices[0], x);
    c.args[0][1] = make_float(c.devices[0], x);
    void *view;
    CHECK(!buffer_view(c.args[0][0], &view));
    CHECK(!launch_start(e, &c.l));
    CHECK(read_float(c.outs[0][0]) == 6 && *(float *)view == 5);
    CHECK(c.outs[0][0]->storage->data != view && !buffer_is_deleted(c.args[0][0]));
    buffer_unview(c.args[0][0]);
    call_end(&c);

    /* Forbidden: stays. */
    call_start(&c, e, &h.p);
    c.args[0][0] = make_float(c.devices[0], x);
    c.args[0][1] = make_float(c.devices[0], x);
    c.l.may_not_donate = (bool[]){ true, true };
    CHECK(!launch_start(e, &c.l));
    CHECK(read_float(c.outs[0][0]) == 6 && read_float(c.args[0][0]) == 5);
    call_end(&c);

    /* Another holder of the memory. */
    call_start(&c, e, &h.p);
    c.args[0][0] = make_float(c.devices[0], x);
    c.args[0][1] = make_float(c.devices[0], x);
    Storage *held = storage_hold(c.args[0][0]->storage);
    CHECK(!launch_start(e, &c.l));
    CHECK(read_float(c.outs[0][0]) == 6 && *(float *)held->data == 5);
    storage_release(held);
    call_end(&c);

    /* Foreign memory is never written. */
    float foreign = 5;
    call_start(&c, e, &h.p);
    CHECK(!buffer_new(c.devices[0], one_f32, storage_foreign(&foreign, sizeof foreign, NULL, NULL),
                      NULL, &c.args[0][0]));
    c.args[0][1] = make_float(c.devices[0], x);
    CHECK(!launch_start(e, &c.l));
    CHECK(read_float(c.outs[0][0]) == 6 && foreign == 5);
    call_end(&c);
}

static void check_refusals(Executor *e)
{
    HandMade h;
    make_psum(&h, 2, 0);
    Call c;
    call_start(&c, e, &h.p);
    call_args(&c, 1);
    Buffer *right = c.args[1][0];
    c.args[1][0] = c.args[0][0];
    Error *error = launch_start(e, &c.l);
    CHECK_STR(error_text(error), "hand: argument 0 (f32[1]) lies on device 0, not on device 1");
    error_free(error);
    int64_t dims[] = { 2, 3 };
    Type wrong = { F32, 2, dims };
    CHECK(!buffer_from_host(c.devices[1], wrong, (float[6]){ 0 }, NULL, &c.args[1][0]));
    error = launch_start(e, &c.l);
    CHECK_STR(error_text(error),
              "hand: argument 0 on device 1 is f32[2,3]; the program takes f32[1]");
    error_free(error);
    buffer_free(c.args[1][0]);
    c.args[1][0] = right;
    buffer_delete(right);
    error = launch_start(e, &c.l);
    CHECK_STR(error_text(error),
              "hand: argument 0: buffer f32[1] on device 1 has been deleted or donated");
    error_free(error);
    c.devices[1] = c.devices[0];
    error = launch_start(e, &c.l);
    CHECK_STR(error_text(error),
              "hand: device 0 is named twice; a program on 2 devices needs 2 different ones");
    error_free(error);
    call_end(&c);
}

/* No memory for a result: an error, nothing launched, nothing donated. */
static void check_exhausted(void)
{
    Executor *e;
    CHECK(!executor_new(1, 1, 1024, &e));
    HandMade h;
    hand_made(&h, 1, 1, 1, add_segments, 1, 0);
    h.args[0].may_donate = true;
    int64_t dims[] = { 1000 };
    h.results[0].local = (Type){ F32, 1, dims };
    Call c;
    call_start(&c, e, &h.p);
    call_args(&c, 1);
    Error *error = launch_start(e, &c.l);
    CHECK_STR(error ? error_text(error) : "",
              "hand: result 0, f32[1000]: device 0: 4000 bytes asked, 960 left of 1024 "
              "(TUTTI_DEVICE_MEMORY); the largest alive: f32[1] (4 bytes)");
    CHECK(error && error_code(error) == CODE_EXHAUSTED);
    error_free(error);
    CHECK(read_float(c.args[0][0]) == 1);
    call_end(&c);

    /* The same for the slab: the results carry it. */
    hand_made(&h, 1, 1, 1, add_segments, 1, 0);
    h.p.slab_bytes = 5000;
    call_start(&c, e, &h.p);
    call_args(&c, 1);
    CHECK(!launch_start(e, &c.l));
    CHECK_STR(failure_of(c.outs[0][0]),
              "device 0: 5000 bytes asked, 896 left of 1024 (TUTTI_DEVICE_MEMORY); "
              "the largest alive: f32[1] (4 bytes), f32[1] (4 bytes)");
    call_end(&c);
    executor_free(e);
}

/* Two devices of 1024 bytes, 64 of them a result's, and slabs of that size: what a run says. */
static void expect_exhausted(size_t slab_bytes, size_t taken_on_1, int64_t cost, const char *said)
{
    Executor *e;
    CHECK(!executor_new(2, 2, 1024, &e));
    HandMade h;
    hand_made(&h, 2, 0, 1, psum_segments, 2, cost);
    h.p.slab_bytes = slab_bytes;
    /* all_gather does not work in place: operands are put aside first */
    Collective *m = add_collective(&h, OP_ALL_GATHER, "x.py:1", add_groups(&h, 2, 1), 1, at_slab(0),
                                   at_slab(0), 1);
    int64_t two[] = { 2 };
    Type whole = { F32, 1, two };
    AllGatherAttrs attrs = { .all_gather_dim = 0 };
    m->out_types = &whole;
    m->attrs = &attrs;
    void *taken = NULL;
    Memory *of_1 = executor_device(e, 1)->memory;
    CHECK(!taken_on_1 || !memory_take(of_1, taken_on_1, &taken));
    Call c;
    call_start(&c, e, &h.p);
    CHECK(!launch_start(e, &c.l));
    CHECK_STR(failure_of(c.outs[0][0]), said);
    CHECK_STR(failure_of(c.outs[1][0]), said);
    call_end(&c);
    if (taken)
        memory_give(of_1, taken, taken_on_1);
    executor_free(e);
}

/* In a run of several devices one has no room for its slab, or a collective none for its operands. */
static void check_exhausted_within(int64_t cost)
{
    expect_exhausted(512, 512, cost,
                     "device 1: 512 bytes asked, 448 left of 1024 (TUTTI_DEVICE_MEMORY); "
                     "the largest alive: f32[1] (4 bytes)");
    expect_exhausted(896, 0, cost,
                     "all_gather (x.py:1): device 0: 4 bytes asked, 0 left of 1024 "
                     "(TUTTI_DEVICE_MEMORY); the largest alive: f32[1] (4 bytes)");
    expect_exhausted(512, 0, cost, "");
}

/* Calls whose results nobody waits for, and no memory for more than a few of them: a result is 64
 * bytes, a slab all but 128 or nothing. */
static void check_launches_wait_for_memory(size_t slab_bytes)
{
    Executor *e;
    CHECK(!executor_new(1, 1, 1024, &e));
    HandMade h;
    hand_made(&h, 1, 1, 1, slow_segments, 1, TASKS_RUN);
    h.p.slab_bytes = slab_bytes;
    Call c;
    call_start(&c, e, &h.p);
    call_args(&c, 1);
    c.l.done = NULL;
    for (int i = 0; i < 30; i++) {
        CHECK(!launch_start(e, &c.l));
        Buffer *first = c.args[0][0];
        c.args[0][0] = c.outs[0][0];
        c.outs[0][0] = NULL;
        buffer_free(first);
    }
    CHECK(read_float(c.args[0][0]) == 31);
    CHECK(memory_stats(executor_device(e, 0)->memory).peak_bytes <= 1024);
    call_end(&c);
    executor_free(e);
}

static int32_t until_cancelled(Frame *f)
{
    while (!atomic_load_explicit(f->cancel, memory_order_relaxed))
        usleep(100);
    return SEGMENT_END;
}

static int32_t wait_or_spin(Frame *f)
{
    return f->partition ? SEGMENT_COLLECTIVE : until_cancelled(f);
}

/* One waits for another that does not end; and all meet again and again. */
static SegmentFn *const endless_segments[] = { wait_or_spin, finish };
static SegmentFn *const collective_segments[] = { meet_0, meet_0 };

static void check_cancel(int64_t cost, SegmentFn *const *segments)
{
    Executor *e;
    CHECK(!executor_new(2, 2, 0, &e));
    HandMade h;
    hand_made(&h, 2, 1, 1, segments, 2, cost);
    int g = add_groups(&h, 2, 1);
    add_collective(&h, OP_ALL_REDUCE, "x.py:1", g, 1, at_arg(0), at_out(0), 1);
    Call c;
    call_start(&c, e, &h.p);
    call_args(&c, 1);
    CHECK(!launch_start(e, &c.l));
    Event *done = event_hold(c.done[1]);
    executor_free(e);
    CHECK(event_is_ready(done));
    Error *error = event_error(done);
    CHECK(error && error_code(error) == CODE_CANCELLED);
    error_free(error);
    event_release(done);
    call_end(&c); /* memory outlives its executor */
}

/* --- a loop of unknown length: it is left by the caller's thread, which alone can make it end. */
static const Runtime pausing = { .pause = run_pause };
static _Atomic int may_end; /* relaxed: when it is seen does not matter */

static int32_t asks(Frame *f)
{
    int rounds = f->resume ? *(int *)f->saved : 0;
    f->resume = 0;
    for (; !atomic_load_explicit(&may_end, memory_order_relaxed) &&
           !atomic_load_explicit(f->cancel, memory_order_relaxed);
         rounds++) {
        int *saved = f->may_pause ? f->rt->pause(f, sizeof *saved) : NULL;
        if (saved) {
            *saved = rounds;
            f->resume = 1;
            return 0;
        }
    }
    *(float *)f->outs[0] = rounds > 0;
    return SEGMENT_END;
}

static SegmentFn *const asking_segments[] = { asks };

static void check_pause(bool is_ended)
{
    Executor *e;
    CHECK(!executor_new(1, 1, 0, &e));
    HandMade h;
    hand_made(&h, 1, 1, 1, asking_segments, 1, TASKS_RUN);
    h.p.may_pause = true;
    h.p.rt = &pausing;
    Call c;
    call_start(&c, e, &h.p);
    call_args(&c, 1);
    atomic_store_explicit(&may_end, 0, memory_order_relaxed);
    CHECK(!launch_start(e, &c.l));
    CHECK(!event_is_ready(c.done[0]));
    Event *done = event_hold(c.done[0]);
    if (is_ended) {
        atomic_store_explicit(&may_end, 1, memory_order_relaxed);
        CHECK(read_float(c.outs[0][0]) == 1);
    }
    executor_free(e);
    CHECK(event_is_ready(done));
    Error *error = event_error(done);
    CHECK(is_ended ? !error : error && error_code(error) == CODE_CANCELLED);
    error_free(error);
    event_release(done);
    call_end(&c);
}

static _Atomic int is_told; /* relaxed: when it is seen does not matter */

static int32_t tell(Frame *f)
{
    atomic_store_explicit(&is_told, 1, memory_order_relaxed);
    *(float *)f->outs[0] = 1;
    return SEGMENT_END;
}

/* Meets again and again, until the first device has been told. */
static int32_t ask(Frame *f)
{
    bool knows = !f->partition && atomic_load_explicit(&is_told, memory_order_relaxed);
    *(float *)f->slab = knows ? 1 : 0;
    return SEGMENT_COLLECTIVE;
}

static int32_t answer(Frame *f)
{
    *(float *)f->outs[0] = *(float *)(f->slab + 64);
    return *(float *)f->outs[0] > 0 ? SEGMENT_END : 0;
}

static SegmentFn *const ask_segments[] = { ask, answer }, *const tell_segments[] = { tell };

/* One worker: a run that goes on for long lets another on. */
static void check_others_get_in(int64_t cost)
{
    Executor *e;
    CHECK(!executor_new(3, 1, 0, &e));
    HandMade asking, telling;
    hand_made(&asking, 2, 1, 1, ask_segments, 2, cost);
    asking.p.slab_bytes = 128;
    add_collective(&asking, OP_ALL_REDUCE, "x.py:1", add_groups(&asking, 2, 1), 1, at_slab(0),
                   at_slab(64), 1);
    hand_made(&telling, 1, 1, 1, tell_segments, 1, TASKS_RUN);
    atomic_store_explicit(&is_told, 0, memory_order_relaxed);
    Call a, t;
    call_start(&a, e, &asking.p);
    call_args(&a, 1);
    call_start(&t, e, &telling.p);
    t.devices[0] = executor_device(e, 2);
    call_args(&t, 1);
    CHECK(!launch_start(e, &a.l));
    CHECK(!launch_start(e, &t.l));
    CHECK(read_float(a.outs[1][0]) == 1);
    call_end(&a);
    call_end(&t);
    executor_free(e);
}

static int32_t tiny(Frame *f)
{
    volatile float smallest = 1e-38f, tenth = 0.1f;
    *(float *)f->outs[0] = smallest * tenth;
    return SEGMENT_END;
}

static void check_denormals(Executor *e, int64_t cost)
{
    static SegmentFn *const segments[] = { tiny };
    HandMade h;
    hand_made(&h, 1, 1, 1, segments, 1, cost);
    Call c;
    call_start(&c, e, &h.p);
    call_args(&c, 1);
    CHECK(!launch_start(e, &c.l));
    CHECK(read_float(c.outs[0][0]) == 0);
    volatile float smallest = 1e-38f, tenth = 0.1f;
    CHECK(smallest * tenth != 0);
    call_end(&c);
}

static void check_fork(Executor *e)
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        HandMade h;
        make_psum(&h, 1, 0);
        Call c;
        call_start(&c, e, &h.p);
        Error *error = launch_start(e, &c.l);
        float x = 1;
        Buffer *b;
        Error *second = buffer_from_host(c.devices[0], one_f32, &x, NULL, &b);
        _exit(error && strstr(error_text(error), "forked") && second ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static _Atomic int nended;

static void count_end(void *user)
{
    (void)user;
    atomic_fetch_add_explicit(&nended, 1, memory_order_relaxed);
}

static void check_on_end(Executor *e, int64_t cost)
{
    HandMade h;
    make_psum(&h, 4, cost);
    Call c;
    call_start(&c, e, &h.p);
    call_args(&c, 1);
    c.l.on_end = count_end;
    int before = atomic_load_explicit(&nended, memory_order_relaxed);
    CHECK(!launch_start(e, &c.l));
    event_await(c.done[0]);
    while (atomic_load_explicit(&nended, memory_order_relaxed) == before)
        usleep(10);
    call_end(&c);
}

static void check_all(int nworkers)
{
    Executor *e;
    CHECK(!executor_new(8, nworkers, 0, &e));
    CHECK(executor_workers(e) == nworkers);
    check_deleted_meanwhile(e);
    for (int64_t cost = ONE_THREAD_RUNS; cost <= CALLER_RUNS; cost++) {
        for (int n = 1; n <= 8; n++)
            check_psum(e, n, cost);
        check_loop(e, cost);
        check_skip(e, cost);
        check_crossed(e, cost);
        check_mismatch(e, cost);
        check_failure(e, cost);
        check_failing_collective(e, cost);
        check_donation(e, cost);
        check_denormals(e, cost);
        check_on_end(e, cost);
        check_slices(e, cost);
        check_large(e, cost);
    }
    check_chain(e);
    check_order(e);
    check_refusals(e);
    check_fork(e);
    for (int i = 0; i < 8; i++)
        CHECK(memory_stats(executor_device(e, i)->memory).bytes_in_use == 0);
    executor_free(e);
}

static void check_environment(void)
{
    Executor *e;
    setenv("TUTTI_WORKERS", "3", 1);
    CHECK(!executor_new(2, 0, 0, &e));
    CHECK(executor_workers(e) == 3);
    executor_free(e);
    setenv("TUTTI_WORKERS", "", 1);
    CHECK(!executor_new(2, 0, 0, &e));
    CHECK(executor_workers(e) == cores_allowed());
    executor_free(e);
    setenv("TUTTI_WORKERS", "nonsense", 1);
    Error *error = executor_new(2, 0, 0, &e);
    CHECK_STR(error_text(error), "TUTTI_WORKERS is 'nonsense'; 1 to 4096 are possible");
    error_free(error);
    setenv("TUTTI_WORKERS", "0", 1);
    error = executor_new(2, 0, 0, &e);
    CHECK_STR(error_text(error), "TUTTI_WORKERS is '0'; 1 to 4096 are possible");
    error_free(error);
    unsetenv("TUTTI_WORKERS");
    error = executor_new(0, 1, 0, &e);
    CHECK_STR(error_text(error), "0 devices asked for; there must be at least one");
    error_free(error);
}

/* Runs that do not end are late, one after the other and side by side; one that ends is not. */
static void check_late(int64_t cost, SegmentFn *const *segments)
{
    enum { RUNS = 3 };
    Executor *e;
    CHECK(!executor_new(2, 2, 0, &e));
    CHECK(!executor_bound_runs(e, 0.1)); /* enough for one that ends, also where all is slow */
    HandMade h;
    hand_made(&h, 2, 1, 1, segments, 2, cost);
    int g = add_groups(&h, 2, 1);
    add_collective(&h, OP_ALL_REDUCE, "train.py:28", g, 1, at_arg(0), at_out(0), 1);
    Call c[RUNS];
    for (int i = 0; i < RUNS; i++) {
        call_start(&c[i], e, &h.p);
        call_args(&c[i], 1);
        CHECK(!launch_start(e, &c[i].l));
    }
    for (int i = 0; i < RUNS; i++) {
        CHECK_STR(failure_of(c[i].outs[0][0]), "hand was stopped: it took longer than 0.1 seconds");
        call_end(&c[i]);
    }
    check_psum(e, 2, cost == CALLER_RUNS ? 0 : cost);
    executor_free(e);
}

/* --- an idle worker on the core of whoever has work goes to another, and may then go anywhere again. */
static void check_places(void)
{
    enum { WORKERS = 2, TRIES = 100 }; /* the system may move this thread at any time */
    cpu_set_t before, now;
    Place *places = places_new(WORKERS);
    CHECK(places && sched_getaffinity(0, sizeof before, &before) == 0);
    bool is_sent = false;
    for (int i = 0; i < TRIES && !is_sent; i++) {
        place_is_idle(places, 1); /* this thread is worker 1, and has work too */
        places_make_room(places, WORKERS);
        CHECK(sched_getaffinity(0, sizeof now, &now) == 0);
        is_sent = CPU_COUNT(&now) == CPU_COUNT(&before) - 1;
    }
    CHECK(is_sent == (CPU_COUNT(&before) > 1));
    CHECK(!is_sent || CPU_ISSET(sched_getcpu(), &now));
    place_is_busy(places, 1);
    CHECK(sched_getaffinity(0, sizeof now, &now) == 0 && CPU_EQUAL(&now, &before));
    places_make_room(places, WORKERS); /* those at work stay */
    CHECK(sched_getaffinity(0, sizeof now, &now) == 0 && CPU_EQUAL(&now, &before));
    free(places);
}

int main(void)
{
    check_environment();
    check_places();
    int workers[] = { 1, 2, 4 };
    for (int i = 0; i < 3; i++)
        check_all(workers[i]);
    check_exhausted();
    for (int64_t cost = ONE_THREAD_RUNS; cost <= CALLER_RUNS; cost++)
        check_exhausted_within(cost);
    check_launches_wait_for_memory(0);
    check_launches_wait_for_memory(896);
    check_first_help(CALLER_RUNS);
    check_first_help(ONE_THREAD_RUNS);
    check_leaving();
    check_pause(true);
    check_pause(false);
    for (int64_t cost = ONE_THREAD_RUNS; cost <= TASKS_RUN; cost++) {
        check_cancel(cost, endless_segments);
        check_cancel(cost, collective_segments);
        check_others_get_in(cost);
    }
    for (int64_t cost = ONE_THREAD_RUNS; cost <= CALLER_RUNS; cost++) {
        check_late(cost, endless_segments);
        check_late(cost, collective_segments);
    }
    return check_done();
}
