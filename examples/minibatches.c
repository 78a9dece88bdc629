/* An epoch is one call: the rows in a new order, a step for each minibatch. */
#include <stdio.h>
#include <tutti.h>

enum { ROWS = 256, BATCH = 32, EPOCHS = 5, IN = 8 };

typedef struct {
    tt w, b;
} Net;
typedef TT_ADAM(Net) Adam;
typedef struct {
    Net net, slow; /* slow: the mean of net over the last steps */
    Adam opt;
} State;
typedef struct {
    State state;
    tt loss;
} Step;
typedef struct {
    tt loss;
    Net grad;
} LossGrad;

static tt loss(Net p, tt x, tt y)
{
    return tt_mean(tt_binary_cross_entropy(tt_add(tt_matmul(x, p.w), p.b), y));
}
TT_FUN(tt, loss, Net, tt, tt);

/* rows: the numbers of this minibatch's rows of x and y. */
static Step step(State s, tt rows, tt x, tt y)
{
    LossGrad r = tt_call_as(LossGrad, tt_value_and_grad(loss), s.net, tt_take(x, rows, 0),
                            tt_take(y, rows, 0));
    tt rate = tt_warmup_cosine(s.opt.count, 0.1, 4, EPOCHS * ROWS / BATCH, 0);
    tt_adam(&s.net, r.grad, &s.opt, rate, .clip = 1);
    tt_ema(&s.slow, s.net, 0.9);
    return (Step){ s, r.loss };
}
TT_FUN(Step, step, State, tt, tt, tt);

static Step epoch(State s, tt key, tt x, tt y)
{
    return tt_scan_as(Step, step, s, tt_minibatches(key, ROWS, BATCH), x, y);
}
TT_FUN(Step, epoch, State, tt, tt, tt);

int main(void)
{
    tt key = tt_key(0), x = tt_normal(tt_next_key(&key), TT_F32, ROWS, IN);
    tt y = tt_astype(tt_greater(tt_sum(x, 1), 0.5), TT_F32);
    Net net = { tt_zeros(TT_F32, IN), tt_zeros(TT_F32) };
    State s = { .net = net, .slow = net };
    tt_start(&s.opt, net);
    for (int i = 0; i < EPOCHS; i++) {
        TT_SCOPE;
        Step r = tt_call_as(Step, tt_jit(epoch), s, tt_fold_in(tt_key(1), i), x, y);
        tt_assign(s, r.state);
        printf("epoch %d  loss %.3f\n", i, tt_item(tt_mean(r.loss)));
    }
    printf("slow     loss %.3f\n", tt_item(loss(s.slow, x, y)));
}
