/* crossing_test.c - sums over the devices of three "processes" of one program, with messages by queues in
 * memory: gathered, by the chain and by their owners; several launches in flight, by one thread and by
 * workers; and processes whose devices do not come; and transfers from each process to the next, of arrays that
 * are there, that are still computed, and that never will be.  Every result is checked.  Links the engine. */
#include "base/sync.h"
#include "engine/exec/cross_transfer.h"
#include "engine/hosts/span.h"
#include "engine/hosts/wire_runs.h"
#include "tests/fake_shim.h"
#include "tests/handmade.h"

enum { HERE = 2, DEVICES = FAKES * HERE, ROUNDS = 12, FLIGHT = 3, LARGE = 40000, WORKERS = 2 };

/* The programs: sums of few and of many numbers, by one thread and by workers; and one that is skipped. */
enum { SMALL, LARGE_ONE, LARGE_TASKS, SKIPPED, PROGRAMS };

typedef struct Process {
    Thread thread;
    int number;
    Wire *wire;
    Executor *executor;
    HandMade programs[PROGRAMS];
    HostSpan spans[PROGRAMS];
    int32_t numbers[HERE], task_of[DEVICES], process_of[DEVICES], ids[DEVICES],
        nhere_of[PROGRAMS][MOST];
} Process;

static Process processes[FAKES];
static const int64_t large_dims[1] = { LARGE };

/* ---- programs ---- */

static int32_t meet_0(Frame *f)
{
    (void)f;
    return SEGMENT_COLLECTIVE;
}

static int32_t meet_1(Frame *f)
{
    (void)f;
    return SEGMENT_COLLECTIVE - 1;
}

static int32_t meet_2(Frame *f)
{
    (void)f;
    return SEGMENT_COLLECTIVE - 2;
}

static int32_t end(Frame *f)
{
    (void)f;
    return SEGMENT_END;
}

/* The devices of process `arg` do not come. */
static int32_t skip(Frame *f)
{
    return *(float *)f->args[0] == (float)(f->partition / HERE) ? 1 : SEGMENT_COLLECTIVE;
}

static SegmentFn *const sum_segments[] = { meet_0, meet_1, meet_2, end };
static SegmentFn *const skip_segments[] = { skip, end };

/* Over all devices; over one of each process; and over all, in an order that goes back and forth: 18
 * times the sum of all arguments. */
static void make_sums(HandMade *h, Type type, int64_t cost)
{
    hand_made(h, DEVICES, 1, 1, sum_segments, 4, cost);
    int64_t bytes = (int64_t)type_bytes(type);
    h->type = h->args[0].local = h->args[0].whole = type;
    h->results[0].local = h->results[0].whole = type;
    h->p.slab_bytes = (size_t)(2 * bytes);
    int all = add_groups(h, DEVICES, 1), apart = add_groups(h, FAKES, HERE);
    int mixed = add_groups(h, DEVICES, 1);
    h->members[mixed][1] = 2;
    h->members[mixed][2] = 1;
    add_collective(h, OP_ALL_REDUCE, "t.py:1", all, 1, at_arg(0), at_slab(0), 1);
    add_collective(h, OP_ALL_REDUCE, "t.py:2", apart, HERE, at_slab(0), at_slab(bytes), 2);
    add_collective(h, OP_ALL_REDUCE, "t.py:3", mixed, 1, at_slab(bytes), at_out(0), 3);
}

static void make_skipped(HandMade *h)
{
    hand_made(h, DEVICES, 1, 1, skip_segments, 2, TASKS_RUN);
    add_collective(h, OP_ALL_REDUCE, "t.py:4", add_groups(h, DEVICES, 1), 1, at_arg(0), at_out(0),
                   1);
}

static void make_span(Process *p, int k)
{
    HostSpan *span = &p->spans[k];
    const Program *program = &p->programs[k].p;
    *span = (HostSpan){ .wire = p->wire,
                        .key = 1000 + (uint64_t)k,
                        .ndevices = DEVICES,
                        .nhere = HERE,
                        .numbers = p->numbers,
                        .task_of = p->task_of,
                        .process_of = p->process_of,
                        .ids = p->ids,
                        .nhere_of = p->nhere_of[k] };
    for (int g = 0; g < program->ngroups; g++)
        for (int i = 0; i < program->groups[g].n; i++)
            p->nhere_of[k][g] += p->task_of[program->groups[g].members[i]] >= 0;
    wire_add_span(p->wire, span);
}

static void make_process(Process *p, int number)
{
    p->number = number;
    for (int d = 0; d < DEVICES; d++) {
        bool is_here = d / HERE == number;
        p->task_of[d] = is_here ? d % HERE : -1;
        p->process_of[d] = d / HERE;
        p->ids[d] = d;
        if (is_here)
            p->numbers[d % HERE] = d;
    }
    Error *error = wire_new(&fake_shims[number], number, FAKES, &p->wire);
    CHECK(!error);
    error = executor_new(HERE, WORKERS, 0, &p->executor);
    CHECK(!error);
    Type large = { F32, 1, large_dims };
    make_sums(&p->programs[SMALL], one_f32, ONE_THREAD_RUNS);
    make_sums(&p->programs[LARGE_ONE], large, ONE_THREAD_RUNS);
    make_sums(&p->programs[LARGE_TASKS], large, TASKS_RUN);
    make_skipped(&p->programs[SKIPPED]);
    for (int k = 0; k < PROGRAMS; k++)
        make_span(p, k);
}

/* ---- launches ---- */

typedef struct Trip {
    Call call;
    int program;
    float base;
} Trip;

/* Element i of device d is base + d + i % 7; of what is skipped, who skips it. */
static void launch(Process *p, Trip *t)
{
    static _Thread_local float data[LARGE];
    Type type = p->programs[t->program].type;
    call_start(&t->call, p->executor, &(Program){ .ndevices = HERE });
    for (int d = 0; d < HERE; d++) {
        for (int64_t i = 0; i < type_count(type); i++)
            data[i] =
                t->program == SKIPPED ? t->base : t->base + (float)(p->numbers[d] + (int)(i % 7));
        Error *error = buffer_from_host(t->call.devices[d], type, data, NULL, &t->call.args[d][0]);
        CHECK(!error);
    }
    t->call.l.program = &p->programs[t->program].p;
    t->call.l.span = &p->spans[t->program];
    CHECK(!launch_start(p->executor, &t->call.l));
}

static void check_sums(const Trip *t, Type type, Buffer *result)
{
    static _Thread_local float got[LARGE];
    Event *done = NULL;
    Error *error = buffer_to_host(result, got, type_bytes(type), &done);
    CHECK(!error);
    event_await(done);
    error = event_error(done);
    CHECK_STR(error ? error_text(error) : "", "");
    error_free(error);
    event_release(done);
    for (int64_t i = 0; i < type_count(type); i++) {
        float each = t->base + (float)(i % 7);
        if (got[i] != 3 * DEVICES * (DEVICES * each + DEVICES * (DEVICES - 1) / 2)) {
            CHECK(!"a sum is right");
            return;
        }
    }
}

static void land(Process *p, Trip *t)
{
    for (int d = 0; d < HERE; d++) {
        Buffer *result = t->call.outs[d][0];
        if (t->program != SKIPPED)
            check_sums(t, p->programs[t->program].type, result);
        else if (p->number == (int)t->base)
            CHECK_STR(failure_of(result), "");
        else
            CHECK(strstr(failure_of(result), "has left this run: "));
        event_await(t->call.done[d]);
        buffer_free(t->call.args[d][0]);
        buffer_free(result);
        event_release(t->call.done[d]);
    }
}

/* ---- transfers ---- */

/* The n-th transfer of a round, from process `from` to the next: the first device of each. */
static TransferName transfer_name(int round, int n, int from, int peer)
{
    return (TransferName){
        .key = 10 * round + n, .from = from * HERE, .to = (from + 1) % FAKES * HERE, .peer = peer
    };
}

/* To the next process, of the same from the one before; *buffer is what that sent. */
static Event *pass_on(Process *p, int round, int n, Buffer *sent, Buffer **buffer)
{
    Event *done = NULL;
    int next = (p->number + 1) % FAKES, before = (p->number + FAKES - 1) % FAKES;
    TransferName to = transfer_name(round, n, p->number, next);
    TransferName from = transfer_name(round, n, before, before);
    transfer_send(p->wire, sent, &to, &done);
    CHECK(!transfer_receive(p->wire, executor_device(p->executor, 0), sent->type, &from, buffer));
    return done;
}

/* What went and what came are over. */
static void passed_on(Event *done, Buffer *buffer)
{
    event_await(done);
    event_release(done);
    buffer_free(buffer);
}

/* An array that is there: element i of process q's is q + i % 7. */
static void pass_array(Process *p, int round)
{
    static _Thread_local float data[LARGE];
    Type type = { F32, 1, large_dims };
    Buffer *sent = NULL, *got = NULL;
    for (int i = 0; i < LARGE; i++)
        data[i] = (float)(p->number + i % 7);
    CHECK(!buffer_from_host(executor_device(p->executor, 0), type, data, NULL, &sent));
    Event *done = pass_on(p, round, 0, sent, &got), *read = NULL;
    buffer_free(sent);
    CHECK(!buffer_to_host(got, data, sizeof data, &read));
    event_await(read);
    event_release(read);
    int wrong = 0, before = (p->number + FAKES - 1) % FAKES;
    for (int i = 0; i < LARGE; i++)
        wrong += data[i] != (float)(before + i % 7);
    CHECK(!wrong);
    passed_on(done, got);
}

/* The result of a launch that may be under way, or fail: then the receiver is told why. */
static void pass_result(Process *p, int round, Trip *t)
{
    Buffer *got = NULL;
    Event *done = pass_on(p, round, 1, t->call.outs[0][0], &got);
    int before = (p->number + FAKES - 1) % FAKES;
    if (t->program == SKIPPED && before != (int)t->base)
        CHECK(strstr(failure_of(got), "process"));
    else if (t->program == SKIPPED)
        CHECK_STR(failure_of(got), "");
    else
        check_sums(t, p->programs[t->program].type, got);
    passed_on(done, got);
}

/* All processes launch the same programs in the same order, each at its own pace. */
static void play(void *user)
{
    Process *p = user;
    for (int round = 0; round < ROUNDS; round++) {
        Trip trips[FLIGHT];
        for (int i = 0; i < FLIGHT; i++) {
            trips[i].program = (round + i * round) % PROGRAMS;
            trips[i].base = (float)(trips[i].program == SKIPPED ? round % FAKES : round);
            launch(p, &trips[i]);
        }
        pass_array(p, round);
        pass_result(p, round, &trips[0]);
        for (int i = 0; i < FLIGHT; i++)
            land(p, &trips[i]);
    }
}

int main(void)
{
    setenv("TUTTI_YIELD", "1", 1);
    for (int i = 0; i < FAKES; i++)
        make_process(&processes[i], i);
    for (int i = 0; i < FAKES; i++)
        CHECK(!thread_start(&processes[i].thread, "process", play, &processes[i]));
    for (int i = 0; i < FAKES; i++)
        thread_join(&processes[i].thread);
    for (int i = 0; i < FAKES; i++) {
        for (int d = 0; d < HERE; d++)
            CHECK(memory_stats(executor_device(processes[i].executor, d)->memory).bytes_in_use ==
                  0);
        executor_free(processes[i].executor);
    }
    return check_done();
}
