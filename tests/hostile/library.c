/* library.c - what a C program asks of the library, with the n-th request for memory refused that
 * the library itself makes (the engine's are hostile.c's).
 *
 *     library [--samples n] [--most n]
 *
 * Each time what it reads is right to the bit, or something was said; no block stays behind; and
 * the next time, when nothing fails, it is right.  Then the same in a process that has not begun:
 * tables that live for ever are empty there, and the engine is not loaded. */
#include "front/run/compiled_fn.h"
#include "front/value/trace.h"
#include "tests/hostile/memory.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <tutti.h>
#include <tutti_sugar.h>
#include <unistd.h>

enum { SECONDS = 20 };

static const Hostile *front;
static int failures;
static char now[256]; /* what is being tried, for the last words of a process that dies */

static void last_words(int signal)
{
    const char *how = signal == SIGALRM ? " hangs\n" : " crashes\n";
    (void)!write(2, now, strlen(now));
    (void)!write(2, how, strlen(how));
    _exit(2);
}

static void complain(const char *what)
{
    printf("%s %s\n", now, what);
    fflush(stdout);
    failures++;
}

/* ---- what is asked: each gives one number ---- */

typedef struct {
    tt w, b;
} Params;
typedef struct {
    tt state, y;
} Row;

static tt loss(Params p, tt x, tt y)
{
    return tt_mean(tt_square(tt_sub(tt_add(tt_matmul(x, p.w), p.b), y)));
}
TT_FUN(tt, loss, Params, tt, tt);

static Params step(Params p, tt x, tt y)
{
    Params g = tt_pmean(tt_call_as(Params, tt_grad(loss), p, x, y), "batch");
    return (Params){ tt_sub(p.w, tt_mul(0.1, g.w)), tt_sub(p.b, tt_mul(0.1, g.b)) };
}
TT_FUN(Params, step, Params, tt, tt);

static tt poly(tt x)
{
    return tt_add(tt_pow(x, 3), tt_sin(x));
}

static tt by_turns(tt i, tt x)
{
    return tt_add(tt_call(tt_jit(poly), x), i);
}
TT_FUN(tt, by_turns, tt, tt);

static Row by_rows(tt state, tt x)
{
    return (Row){ tt_add(state, tt_tanh(x)), tt_mul(state, x) };
}
TT_FUN(Row, by_rows, tt, tt);

static tt nested(tt x)
{
    Row r = tt_scan_as(Row, by_rows, tt_index(x, 0), x);
    return tt_add(tt_sum(tt_fori(2, by_turns, r.state)), tt_sum(tt_slice(r.y, 0, 1, 3)));
}

static tt along(tt x)
{
    return tt_add(tt_shift(x, "i", 1), tt_mul(tt_axis_index("i"), tt_psum(x, "i")));
}

static double call_eager_one(void)
{
    tt x = tt_reshape(tt_arange(TT_F32, 24), 4, 6), key = tt_key(7);
    tt y = tt_matmul(x, tt_transpose(x));
    tt z = tt_concat(0, tt_index(y, 1), tt_uniform(tt_next_key(&key), TT_F32, 4));
    return tt_item(tt_sum(tt_where(tt_greater(z, 0.5), z, tt_softmax(z))));
}

static double trained(void)
{
    tt x = tt_reshape(tt_arange(TT_F32, 16), 2, 4, 2), y = tt_sum(x, 2);
    Params p = { tt_zeros(TT_F32, 2, 1), tt_zeros(TT_F32, 1) };
    tt_fn f =
        tt_pmap(step, .axis_name = "batch", .in_axes = { TT_NONE, 0, 0 }, .out_axis = TT_NONE);
    Params q = tt_call_as(Params, f, p, x, tt_reshape(y, 2, 4, 1));
    return tt_item(tt_sum(q.w)) + tt_item(tt_sum(q.b));
}

static double looped(void)
{
    tt x = tt_mul(0.01, tt_reshape(tt_arange(TT_F32, 24), 2, 4, 3));
    return tt_item(tt_sum(tt_call(tt_vmap(tt_grad(nested)), x)));
}

static double spread(void)
{
    tt_mesh mesh = tt_mesh_of({ "i", 2 });
    tt x = tt_place(tt_arange(TT_F32, 8), mesh, "i");
    tt y = tt_call(
        tt_shard_map(along, .mesh = mesh, .in_specs = { { { "i" } } }, .out_spec = { { "i" } }), x);
    tt_show_sharding(y);
    tt_print(y);
    return tt_item(tt_sum(y));
}

typedef struct Use {
    const char *name;
    double (*run)(void);
} Use;

static const Use uses[] = {
    { "eager", call_eager_one },
    { "trained", trained },
    { "looped", looped },
    { "spread", spread },
};
enum { USES = sizeof uses / sizeof *uses };

static double round_of(const Use *p)
{
    alarm(SECONDS);
    double got;
    {
        TT_SCOPE;
        got = p->run();
    }
    alarm(0);
    return got;
}

/* ---- one request after the other ---- */

typedef struct Request {
    int64_t most, samples;
} Request;

/* False: there are fewer requests than that. */
static bool try_one(const Use *p, int64_t n, FailMode mode, double right, int64_t live)
{
    snprintf(now, sizeof now, "%s: request %lld (%s)", p->name, (long long)n,
             mode == FAIL_ALL ? "all" : "once");
    tt_scope scope = tt_scope_begin(); /* where the use finds no memory for its own */
    front->fail_at(n, mode);
    double got = round_of(p);
    bool is_reached = front->asked() >= n;
    front->fail_at(0, FAIL_ONCE);
    tt_scope_end(&scope);
    if (!tt_error() && memcmp(&got, &right, sizeof got) != 0)
        complain("gives a wrong result, and nothing is said");
    tt_clear_error();
    if (session || tracing)
        complain("is still being traced");
    got = round_of(p);
    if (tt_error() || memcmp(&got, &right, sizeof got) != 0)
        complain(tt_error() ? tt_error() : "then gives a wrong result, though nothing fails");
    tt_clear_error();
    compiled_fn_drop();
    if (front->live() > live) {
        complain("leaves blocks behind");
        front->print_newest((int)(front->live() - live));
    }
    return is_reached;
}

static int64_t try_use(const Use *p, const Request *r, FailMode mode)
{
    double right = round_of(p);
    if (tt_error())
        complain(tt_error());
    for (int i = 0; i < 2; i++) { /* what is kept for ever is there */
        round_of(p);
        compiled_fn_drop();
    }
    int64_t live = front->live(), n = 1, tried = 0, step = 1;
    front->fail_at(0, FAIL_ONCE);
    round_of(p);
    int64_t all = front->asked();
    compiled_fn_drop();
    if (r->samples && all > r->samples)
        step = all / r->samples;
    int64_t last = r->samples ? all : r->most;
    for (; n <= last && try_one(p, n, mode, right, live); n += step)
        tried++;
    printf("%s: %lld requests, %lld of them refused (%s)\n", p->name, (long long)all,
           (long long)tried, mode == FAIL_ALL ? "all" : "once");
    fflush(stdout);
    return all;
}

/* In a process of its own, from the first request on. */
static void try_fresh(const Use *p, int64_t n, double right)
{
    snprintf(now, sizeof now, "%s: request %lld of a new process", p->name, (long long)n);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        failures = 0;
        front->fail_at(n, FAIL_ONCE);
        tt_on_error(NULL, NULL);
        double got = round_of(p);
        if (!tt_error() && memcmp(&got, &right, sizeof got) != 0)
            complain("gives a wrong result, and nothing is said");
        tt_clear_error();
        front->fail_at(0, FAIL_ONCE);
        got = round_of(p);
        if (tt_error() || memcmp(&got, &right, sizeof got) != 0)
            complain(tt_error() ? tt_error() : "then gives a wrong result");
        fflush(NULL);
        _exit(failures != 0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    failures += status != 0;
    if (status)
        printf("%s: status %d\n", now, status);
}

int main(int argc, char **argv)
{
    Request r = { .most = 2000, .samples = 40 };
    for (int i = 1; i + 1 < argc; i += 2)
        *(strcmp(argv[i], "--most") == 0 ? &r.most : &r.samples) = atoll(argv[i + 1]);
    front = hostile();
    signal(SIGSEGV, last_words);
    signal(SIGABRT, last_words);
    signal(SIGALRM, last_words);
    setenv("TUTTI_PLUGIN", "build/pjrt_plugin_tutti.so", 0);
    setenv("TUTTI_DEVICES", "2", 1);
    int64_t fresh = r.samples ? r.samples / 2 : r.most;
    double right[USES];
    for (int i = 0; i < USES; i++) { /* what is right, found by a child: this one has not begun */
        int pipes[2];
        (void)!pipe(pipes);
        pid_t child = fork();
        if (child == 0) {
            right[i] = round_of(&uses[i]);
            _exit(write(pipes[1], &right[i], sizeof right[i]) != sizeof right[i]);
        }
        close(pipes[1]);
        waitpid(child, NULL, 0);
        if (read(pipes[0], &right[i], sizeof right[i]) != sizeof right[i])
            complain("does not run");
        close(pipes[0]);
    }
    for (int i = 0; i < USES; i++)
        for (int64_t n = 1; n <= fresh; n++)
            try_fresh(&uses[i], r.samples ? n * n : n, right[i]);
    tt_on_error(NULL, NULL);
    for (int i = 0; i < USES; i++) {
        try_use(&uses[i], &r, FAIL_ONCE);
        try_use(&uses[i], &r, FAIL_ALL);
    }
    printf("%d failures\n", failures);
    return failures != 0;
}
