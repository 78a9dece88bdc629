/* onestep.c - what a training step of a small network costs from C, over whatever plugin TUTTI_PLUGIN
 * names: an MLP of three layers under pmap, parameters fed back from step to step.
 *
 * Prints two medians in microseconds a step: each waited for, and of 100 handed over before one wait.
 * bench/onestep.py says the same of Python JAX. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <tutti.h>

enum { TURNS = 15, STEPS = 100, BATCH = 64 };

typedef struct {
    tt w1, b1, w2, b2, w3, b3;
} Net;
typedef struct {
    tt loss;
    Net grad;
} LossGrad;
typedef struct {
    Net net;
    tt loss;
} Step;

static tt loss(Net p, tt x, tt y)
{
    tt h = tt_tanh(tt_add(tt_matmul(x, p.w1), p.b1));
    h = tt_tanh(tt_add(tt_matmul(h, p.w2), p.b2));
    return tt_mean(tt_square(tt_sub(tt_add(tt_matmul(h, p.w3), p.b3), y)));
}
TT_FUN(tt, loss, Net, tt, tt);

static tt descend(tt p, tt g)
{
    return tt_sub(p, tt_mul(0.01, g));
}

static Step step(Net p, tt x, tt y)
{
    LossGrad mine = tt_call_as(LossGrad, tt_value_and_grad(loss), p, x, y);
    LossGrad ours = tt_pmean(mine, "i");
    return (Step){ tt_map(descend, p, ours.grad), ours.loss };
}
TT_FUN(Step, step, Net, tt, tt);

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_of_steps(tt_fn f, Net *p, tt x, tt y, bool waits)
{
    double times[TURNS];
    for (int turn = -2; turn < TURNS; turn++) {
        double start = now();
        for (int i = 0; i < STEPS; i++) {
            TT_SCOPE;
            Step next = tt_call_as(Step, f, *p, x, y);
            if (waits || i == STEPS - 1)
                tt_wait(next.loss);
            tt_assign(*p, next.net);
        }
        if (turn >= 0)
            times[turn] = (now() - start) / STEPS;
    }
    qsort(times, TURNS, sizeof *times, by_size);
    return times[TURNS / 2];
}

int main(void)
{
    int n = tt_device_count();
    tt key = tt_key(0);
    Net p = { tt_normal(tt_next_key(&key), TT_F32, n, 64, 128),  tt_zeros(TT_F32, n, 128),
              tt_normal(tt_next_key(&key), TT_F32, n, 128, 128), tt_zeros(TT_F32, n, 128),
              tt_normal(tt_next_key(&key), TT_F32, n, 128, 10),  tt_zeros(TT_F32, n, 10) };
    tt x = tt_normal(tt_next_key(&key), TT_F32, n, BATCH, 64);
    tt y = tt_normal(tt_next_key(&key), TT_F32, n, BATCH, 10);
    tt_fn f = tt_pmap(step, .axis_name = "i");
    p = tt_call_as(Step, f, p, x, y).net;
    printf("step waited %.1f us\n", median_of_steps(f, &p, x, y, true));
    printf("step handed over %.1f us\n", median_of_steps(f, &p, x, y, false));
}
