/* A training that goes on where it was stopped, however it was stopped. */
#include <stdio.h>
#include <stdlib.h>
#include <tutti.h>

enum { IN = 64, OUT = 256, BATCH = 32 };

typedef struct Net {
    tt w, b;
} Net;
typedef TT_ADAM(Net) Adam;
typedef struct State {
    Net net;
    Adam opt;
    tt key;
} State;
typedef struct Step {
    State state;
    tt loss;
} Step;

static tt loss(Net net, tt x)
{
    tt error = tt_sub(tt_add(tt_matmul(x, net.w), net.b), tt_sum(x, 1, TT_KEEP));
    return tt_mean(tt_square(error));
}
TT_FUN(tt, loss, Net, tt);

/* The key is a part of the state: after a restart come the batches that would have come. */
static Step train(State s)
{
    tt x = tt_normal(tt_next_key(&s.key), TT_F32, BATCH, IN);
    struct {
        tt loss;
        Net grad;
    } r = tt_call_as(__typeof__(r), tt_value_and_grad(loss), s.net, x);
    tt_adam(&s.net, r.grad, &s.opt, tt_cosine_rate(s.opt.count, 0.01, 1000, 0));
    return (Step){ s, r.loss };
}
TT_FUN(Step, train, State);

static const char *const names[] = { "w",        "b",        "adam.m.w",   "adam.m.b",
                                     "adam.v.w", "adam.v.b", "adam.count", "key" };

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "checkpoint.safetensors";
    int64_t steps = argc > 2 ? atoi(argv[2]) : 100;
    State s = { .net = { tt_zeros(TT_F32, IN, OUT), tt_zeros(TT_F32, OUT) }, .key = tt_key(0) };
    tt_start(&s.opt, s.net);
    int64_t step = tt_restore(path, &s, .names = names);
    printf("from step %lld\n", (long long)step + 1);
    fflush(stdout);
    for (step++; step < steps; step++) {
        TT_SCOPE;
        Step r = tt_call_as(Step, tt_jit(train), s);
        tt_assign(s, r.state);
        tt_save(path, s, .step = step, .names = names);
        printf("saved step %lld, loss %.1f\n", (long long)step, tt_item(r.loss));
        fflush(stdout);
    }
}
