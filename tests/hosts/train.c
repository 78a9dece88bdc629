/* train.c - a training over all devices of several processes, saved at every fifth step, in which one
 * process comes to grief:
 *
 *     train PATH STEPS [WHAT PROCESS MILLISECONDS]
 *
 * So long after the first step that process is killed (kill), stopped (stop), ends with 0 or 3 before
 * its next step (exit0, exit3), or fails in an operation of its own (error).  It writes "now" beside
 * PATH when it does. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tutti.h>
#include <unistd.h>

enum { ROWS = 48, WIDTH = 24 };

typedef struct State {
    tt w, sum; /* w is cut along the devices, the sum is everywhere */
} State;

static const char *path, *what = "none";
static int victim = -1;
static long wait_ms;
static _Atomic bool is_due;

static void tell_now(void)
{
    char name[4096];
    snprintf(name, sizeof name, "%s.now", path);
    close(open(name, O_CREAT | O_WRONLY, 0666));
}

static void *come_to_grief(void *unused)
{
    (void)unused;
    usleep((useconds_t)wait_ms * 1000);
    if (strcmp(what, "kill") == 0 || strcmp(what, "stop") == 0) {
        tell_now();
        kill(getpid(), what[0] == 'k' ? SIGKILL : SIGSTOP);
    }
    atomic_store(&is_due, true);
    return NULL;
}

static void act_if_due(void)
{
    if (!atomic_load(&is_due))
        return;
    tell_now();
    if (strncmp(what, "exit", 4) == 0)
        exit(what[4] - '0');
    tt_print(
        tt_matmul(tt_ones(TT_F32, 2, 3), tt_ones(TT_F32, 2, 3))); /* an error ends the program */
}

/* Every device takes a step with its rows and with what all have in common. */
static State step(State s, tt x)
{
    tt total = tt_psum(tt_sum(tt_matmul(x, s.w)), "d");
    tt w = tt_add(tt_mul(s.w, 0.9), tt_mul(tt_sin(total), tt_mean(x)));
    return (State){ w, tt_add(s.sum, total) };
}
TT_FUN(State, step, State, tt);

static void read_arguments(int argc, char **argv)
{
    path = argv[1];
    if (argc > 5) {
        what = argv[3];
        victim = atoi(argv[4]);
        wait_ms = atol(argv[5]);
    }
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    read_arguments(argc, argv);
    int n = tt_device_count();
    tt_mesh mesh = tt_mesh_of({ "d", n });
    tt x = tt_place(tt_div(tt_reshape(tt_arange(TT_F32, ROWS * WIDTH), ROWS, WIDTH), 999), mesh,
                    "d", NULL);
    State s = { tt_place(tt_ones(TT_F32, WIDTH * n, 2), mesh, "d", NULL), tt_zeros(TT_F32) };
    tt_fn f = tt_shard_map(
        step, .mesh = mesh,
        .in = TT_EACH_SPEC(TT_RUN(tt, TT_P("d")), TT_RUN(tt, TT_P(NULL)), TT_RUN(tt, TT_P("d"))),
        .out = TT_EACH_SPEC(TT_RUN(tt, TT_P("d")), TT_RUN(tt, TT_P(NULL))));
    int64_t i = tt_restore(path, &s);
    printf("from step %lld\n", (long long)++i);
    for (int64_t steps = atol(argv[2]), first = i; i < steps; i++) {
        TT_SCOPE;
        tt_assign(s, tt_call_as(State, f, s, x));
        if (i % 5 == 0 && tt_save(path, s, .step = i)) {
            printf("saved step %lld, %.6f\n", (long long)i, tt_item(s.sum));
            fflush(stdout);
        }
        pthread_t thread;
        if (i == first && tt_process_index() == victim)
            pthread_create(&thread, NULL, come_to_grief, NULL);
        act_if_due();
    }
}
