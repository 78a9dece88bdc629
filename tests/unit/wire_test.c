/* wire_test.c - the wire over queues in memory: three processes of one program.  Links the engine.
 *
 * Threads of each exchange messages of all sizes, and streams, at once; exchanges that are cancelled,
 * whose partner is lost, waits elsewhere or has left the run, end with an error that says why; a process
 * that ends does not wait for one that is not there. */
#include "engine/hosts/wire_runs.h"

#include "base/sync.h"
#include "tests/check.h"
#include "tests/fake_shim.h"

#include <sched.h>
#include <time.h>

enum { THREADS = 3, ROUNDS = 8, PIECES = 50 };

static Wire *wires[FAKES];

/* An exchange that its thread waits for. */
typedef struct Try {
    Exchange exchange;
    Stream stream;
    WirePart parts[2 * FAKES];
    Error *error;
    _Atomic int is_over, nnews;
    char *in, *out;
    int process, piece_bytes;
} Try;

static void try_over(Exchange *x, Error *error)
{
    Try *t = x->user;
    t->error = error;
    atomic_store(&t->is_over, 1);
}

static bool try_is_over(void *user)
{
    return atomic_load(&((Try *)user)->is_over);
}

static void try_wait(Try *t)
{
    while (!wire_await(wires[t->process], try_is_over, t))
        sched_yield();
}

static void try_begin(Try *t, int process, int program, int count)
{
    t->process = process;
    t->exchange.place = (WirePlace){ .program = (uint64_t)program, .count = count };
    t->exchange.over = try_over;
    t->exchange.user = t;
    t->exchange.name = "a try";
    t->exchange.where = "wire_test.c";
    exchange_begin(wires[process], &t->exchange);
}

/* ---- exchanges ---- */

/* The byte that `from` sends to `to` at k of round n. */
static char byte_of(int from, int to, int n, size_t k)
{
    return (char)(from * 7 + to * 31 + n * 13 + (int)k * 3);
}

/* From a byte to several messages. */
static size_t bytes_of(int from, int to, int n)
{
    static const size_t sizes[] = { 1, 100, 16 << 10, (16 << 10) + 1, 100000, (4 << 20) + 5 };
    size_t k = (size_t)(from + 2 * to + n) % (n % 20 ? 5 : 6);
    return sizes[k];
}

static void exchange_once(int process, int program, int n)
{
    Try t = { 0 };
    for (int p = 0; p < FAKES; p++) {
        if (p == process)
            continue;
        size_t out = bytes_of(process, p, n), in = bytes_of(p, process, n);
        char *sent = malloc(out), *got = calloc(1, in);
        for (size_t k = 0; k < out; k++)
            sent[k] = byte_of(process, p, n, k);
        t.parts[t.exchange.nparts++] = (WirePart){ p, true, sent, out };
        t.parts[t.exchange.nparts++] = (WirePart){ p, false, got, in };
    }
    t.exchange.parts = t.parts;
    try_begin(&t, process, program, n);
    try_wait(&t);
    CHECK(!t.error);
    for (int i = 0; i < t.exchange.nparts; i++) {
        const WirePart *p = &t.parts[i];
        for (size_t k = 0; !p->is_sent && k < p->bytes; k++)
            if (((char *)p->at)[k] != byte_of(p->peer, process, n, k)) {
                CHECK(!"a byte is what was sent");
                break;
            }
        free(p->at);
    }
}

/* ---- streams ---- */

static void *piece_at(Exchange *x, int k, bool is_sent, size_t *bytes)
{
    Try *t = x->user;
    *bytes = (size_t)t->piece_bytes;
    return (is_sent ? t->out : t->in) + k * t->piece_bytes;
}

static void count_news(Exchange *x)
{
    Try *t = x->user;
    atomic_store(&t->nnews, x->stream->nreceived);
}

/* Each process adds one to what comes from the one before it, and passes it on. */
static void stream_once(int process, int program, int n, int piece_bytes, _Atomic int *stops)
{
    Try t = { .piece_bytes = piece_bytes };
    int from = process - 1, to = process + 1 < FAKES ? process + 1 : -1;
    t.in = calloc(PIECES, (size_t)piece_bytes);
    t.out = calloc(PIECES, (size_t)piece_bytes);
    t.stream = (Stream){ .from = from,
                         .to = to,
                         .npieces = PIECES,
                         .bytes = (size_t)PIECES * (size_t)piece_bytes,
                         .piece = piece_at,
                         .news = count_news };
    t.exchange.stream = &t.stream;
    t.exchange.cancel = process ? NULL : stops;
    try_begin(&t, process, program, n);
    for (int made = 0; made < PIECES && !try_is_over(&t); wire_poll(wires[process])) {
        int may = from < 0 ? made + 1 : atomic_load(&t.nnews);
        for (; made < may; made++)
            for (int k = 0; k < piece_bytes; k++)
                t.out[made * piece_bytes + k] = (char)(t.in[made * piece_bytes + k] + 1 + made);
        stream_advance(wires[process], &t.exchange, made + 7, made);
        if (stops && !process && made == PIECES / 2)
            atomic_store(stops, 1);
    }
    try_wait(&t);
    CHECK(!t.error == !stops);
    error_free(t.error);
    for (int k = 0; !stops && from >= 0 && k < PIECES * piece_bytes; k++)
        if (t.in[k] != (char)(process * (1 + k / piece_bytes))) {
            CHECK(!"a piece is what was sent");
            break;
        }
    free(t.in);
    free(t.out);
}

/* ---- all at once ---- */

typedef struct Player {
    Thread thread;
    int process, program;
} Player;

static void play(void *user)
{
    const Player *p = user;
    for (int n = 0; n < ROUNDS; n++) {
        exchange_once(p->process, p->program, 2 * n);
        stream_once(p->process, p->program, 2 * n + 1, n % 2 ? 1000 : 40000, NULL);
    }
}

static void check_all_at_once(void)
{
    Player players[FAKES * THREADS];
    for (int i = 0; i < FAKES * THREADS; i++) {
        players[i] = (Player){ .process = i % FAKES, .program = 100 + i / FAKES };
        Error *error = thread_start(&players[i].thread, "player", play, &players[i]);
        CHECK(!error);
    }
    for (int i = 0; i < FAKES * THREADS; i++)
        thread_join(&players[i].thread);
}

/* ---- trouble ---- */

/* A process for each of f's players. */
static void play_each(ThreadFn *f, int program)
{
    Player players[FAKES];
    for (int i = 0; i < FAKES; i++) {
        players[i] = (Player){ .process = i, .program = program };
        Error *error = thread_start(&players[i].thread, "player", f, &players[i]);
        CHECK(!error);
    }
    for (int i = 0; i < FAKES; i++)
        thread_join(&players[i].thread);
}

/* The first process stops in the middle: the others are told, one by the other. */
static void play_stopped(void *user)
{
    static _Atomic int stops;
    const Player *p = user;
    stream_once(p->process, p->program, 0, 1000, &stops);
}

/* A process that is lost, and one that has left in order. */
static void check_lost(void)
{
    for (int has_left = 0; has_left < 2; has_left++) {
        char byte = 0;
        Try t = { .parts = { { 1 + has_left, false, &byte, 1 } } };
        t.exchange.parts = t.parts;
        t.exchange.nparts = 1;
        try_begin(&t, 0, 9, has_left);
        CHECK(!try_is_over(&t));
        wire_lose(wires[0], 1 + has_left, has_left, error_new(CODE_UNAVAILABLE, "it is gone"));
        try_wait(&t);
        CHECK_STR(t.error ? error_text(t.error) : "", "a try (wire_test.c): it is gone");
        error_free(t.error);
    }
}

/* Two processes wait for each other in different programs. */
static void check_circle(void)
{
    char bytes[2];
    Try tries[2] = { { .parts = { { 1, false, &bytes[0], 1 } } },
                     { .parts = { { 0, false, &bytes[1], 1 } } } };
    for (int p = 0; p < 2; p++) {
        tries[p].exchange.parts = tries[p].parts;
        tries[p].exchange.nparts = 1;
        wire_name(wires[0], p, p ? " (the second)" : " (the first)");
        try_begin(&tries[p], p, 51 + p, 0);
    }
    for (int i = 0; i < 100 && !(try_is_over(&tries[0]) && try_is_over(&tries[1])); i++)
        for (int p = 0; p < 2; p++)
            wire_beat(wires[p]);
    for (int p = 0; p < 2; p++) {
        try_wait(&tries[p]);
        char want[200];
        snprintf(
            want, sizeof want,
            "a try (wire_test.c): process %d%s waits for process %d in a try (wire_test.c): they "
            "wait for each other; all must run the same programs in the same order",
            1 - p, p ? " (the first)" : " (the second)", p);
        CHECK_STR(tries[p].error ? error_text(tries[p].error) : "", want);
        error_free(tries[p].error);
    }
}

static bool never_moves(WireRun *run)
{
    (void)run;
    return true;
}

/* Two processes wait for each other at two places of one run. */
static void check_circle_in_run(void)
{
    HostSpan spans[2] = { 0 };
    WireRun runs[2] = { 0 };
    char bytes[2];
    Try tries[2] = { { .parts = { { 1, false, &bytes[0], 1 } } },
                     { .parts = { { 0, false, &bytes[1], 1 } } } };
    for (int p = 0; p < 2; p++) {
        spans[p] = (HostSpan){ .wire = wires[p], .key = 61 };
        runs[p].is_stuck = never_moves;
        wire_add_span(wires[p], &spans[p]);
        wire_run_begin(wires[p], &spans[p], &runs[p]);
        tries[p].exchange.parts = tries[p].parts;
        tries[p].exchange.nparts = 1;
        try_begin(&tries[p], p, 61, 2 * p);
    }
    for (int i = 0; i < 100 && !(try_is_over(&tries[0]) && try_is_over(&tries[1])); i++)
        for (int p = 0; p < 2; p++)
            wire_beat(wires[p]);
    for (int p = 0; p < 2; p++) {
        try_wait(&tries[p]);
        const char *said = tries[p].error ? error_text(tries[p].error) : "";
        CHECK(strstr(said, "they wait for each other; all must come to the same collectives"));
        error_free(tries[p].error);
    }
    /* the second leaves the run, and the first waits for a byte of it */
    wire_run_end(wires[1], &runs[1], NULL, 0, NULL);
    tries[0] = (Try){ .parts = { { 1, false, &bytes[0], 1 } } };
    tries[0].exchange.parts = tries[0].parts;
    tries[0].exchange.nparts = 1;
    try_begin(&tries[0], 0, 61, 6);
    for (int i = 0; i < 100 && !try_is_over(&tries[0]); i++)
        for (int p = 0; p < 2; p++)
            wire_beat(wires[p]);
    CHECK(try_is_over(&tries[0]));
    CHECK_STR(tries[0].error ? error_text(tries[0].error) : "",
              "a try (wire_test.c): process 1 has left this run: its devices have finished without "
              "coming here");
    error_free(tries[0].error);
    wire_run_end(wires[0], &runs[0], NULL, 0, NULL);
}

static bool is_moving; /* what process 2 says of itself */

static bool is_still(WireRun *run)
{
    (void)run;
    return !is_moving;
}

static void beat_all(const Try *tries, int n)
{
    for (int i = 0; i < n; i++) {
        bool are_over = true;
        for (int p = 0; p < FAKES; p++) {
            wire_beat(wires[p]);
            are_over = are_over && try_is_over((void *)&tries[p]);
        }
        if (are_over)
            return;
    }
}

/* Each of three processes waits for the next one, at places of its own in one run; or, with a stream, the
 * second passes on to the third what it gets of the first. */
static void check_circle_of_three(int key, bool is_stream)
{
    static HostSpan spans[2][FAKES];
    WireRun runs[FAKES] = { 0 };
    Try tries[FAKES] = { 0 };
    char bytes[FAKES];
    is_moving = true;
    for (int p = 0; p < FAKES; p++) {
        Try *t = &tries[p];
        int from = is_stream ? (p + 2) % FAKES : (p + 1) % FAKES;
        spans[is_stream][p] = (HostSpan){ .wire = wires[p], .key = (uint64_t)key };
        runs[p].is_stuck = p == 2 ? is_still : never_moves;
        wire_add_span(wires[p], &spans[is_stream][p]);
        wire_run_begin(wires[p], &spans[is_stream][p], &runs[p]);
        t->parts[0] = (WirePart){ from, false, &bytes[p], 1 };
        t->exchange.parts = t->parts;
        t->exchange.nparts = 1;
        t->in = t->out = &bytes[p];
        t->piece_bytes = 1;
        t->stream = (Stream){ .from = from,
                              .to = p == 1 ? 2 : -1,
                              .npieces = 1,
                              .bytes = 1,
                              .piece = piece_at,
                              .news = count_news };
        if (is_stream && p) {
            t->exchange.stream = &t->stream;
            t->exchange.nparts = 0;
        }
        try_begin(t, p, key, is_stream && p ? 2 : 4 + 2 * p);
    }
    beat_all(tries, 20);
    for (int p = 0; p < FAKES; p++)
        CHECK(!try_is_over(&tries[p]));
    is_moving = false;
    beat_all(tries, 100);
    for (int p = 0; p < FAKES; p++) {
        CHECK(try_is_over(&tries[p]));
        const char *said = tries[p].error ? error_text(tries[p].error) : "";
        for (int q = 0; q < FAKES; q++) {
            char link[80];
            snprintf(link, sizeof link, " waits for process %d in a try (wire_test.c)", q);
            CHECK(!strstr(said, link) == (q == (int)tries[p].parts[0].peer));
        }
        CHECK(strstr(said, "they wait for each other; all must come to the same collectives"));
        error_free(tries[p].error);
        wire_run_end(wires[p], &runs[p], NULL, 0, NULL);
    }
}

/* A process that has ended takes none of what it is sent: who sends it fails, and is still. */
static void check_deaf(void)
{
    static char bytes[1 << 20];
    fake_deafen(1);
    Try t = { .parts = { { 1, true, bytes, sizeof bytes } } };
    t.exchange.parts = t.parts;
    t.exchange.nparts = 1;
    try_begin(&t, 2, 9, 9);
    wire_lose(wires[2], 1, true, error_new(CODE_UNAVAILABLE, "it has ended"));
    CHECK(!try_is_over(&t));
    try_wait(&t);
    CHECK_STR(t.error ? error_text(t.error) : "", "a try (wire_test.c): it has ended");
    CHECK(t.exchange.is_left_behind);
    error_free(t.error);
    int64_t begin = clock_now_ns();
    wire_settle(wires[2]);
    CHECK(clock_now_ns() - begin < 1000000000);
}

static void leave(void *user)
{
    wire_leave(*(Wire **)user);
}

/* A process waits for the others' end; one dies meanwhile, the other has ended and is not there. */
static void check_leave(void)
{
    Thread thread;
    int64_t begin = clock_now_ns();
    Error *error = thread_start(&thread, "leaver", leave, &wires[2]);
    CHECK(!error);
    nanosleep(&(struct timespec){ 0, 50000000 }, NULL);
    wire_lose(wires[2], 1, false, error_new(CODE_UNAVAILABLE, "it is gone"));
    thread_join(&thread);
    CHECK(clock_now_ns() - begin > 1000000000); /* it was given time to come to its end */
    error = thread_start(&thread, "leaver", leave, &wires[1]);
    CHECK(!error);
    nanosleep(&(struct timespec){ 0, 50000000 }, NULL);
    wire_lose(wires[1], 2, false, error_new(CODE_UNAVAILABLE, "it is gone"));
    thread_join(&thread);
}

int main(void)
{
    for (int p = 0; p < FAKES; p++) {
        Error *error = wire_new(&fake_shims[p], p, FAKES, &wires[p]);
        CHECK(!error);
    }
    check_all_at_once();
    play_each(play_stopped, 7);
    play_each(play, 8); /* the wire is as good as before */
    check_circle();
    check_circle_in_run();
    check_circle_of_three(71, false);
    check_circle_of_three(72, true);
    check_lost();
    check_deaf();
    check_leave();
    return check_done();
}
