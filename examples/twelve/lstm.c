/* An LSTM that adds up what it saw at two marks, each device with its part of the sequences. */
#include <tutti.h>

enum { ROWS = 64, LENGTH = 12, WIDTH = 16, STEPS = 61 };

typedef struct {
    tt x, h, b, out;
} Net;
typedef struct {
    tt h, c;
} Cell;
typedef struct {
    Net net;
    TT_ADAM(Net) opt;
} State;

static Cell cell(Cell s, tt x, Net p)
{
    tt z[4]; /* i, f, g, o */
    tt_parts(z, tt_add(tt_matmul(x, p.x), tt_matmul(s.h, p.h), p.b), -1);
    s.c = tt_add(tt_mul(tt_sigmoid(z[1]), s.c), tt_mul(tt_sigmoid(z[0]), tt_tanh(z[2])));
    return (Cell){ tt_mul(tt_sigmoid(z[3]), tt_tanh(s.c)), s.c };
}
TT_FUN(Cell, cell, Cell, tt, Net);

static tt loss(Net p, tt x, tt y)
{
    tt zero = tt_zeros(TT_F32, tt_shape(x).v[1], WIDTH);
    Cell last = tt_scan_as(Cell, cell, ((Cell){ zero, zero }), x, p);
    return tt_mean(tt_square(tt_sub(tt_matmul(last.h, p.out), y)));
}
TT_FUN(tt, loss, Net, tt, tt);

static tt step(State *s, tt x, tt y)
{
    Net grad;
    tt value = tt_loss_grad(&grad, loss, s->net, x, y);
    tt_adam(&s->net, tt_pmean(grad, "batch"), &s->opt, 1e-2);
    return tt_pmean(value, "batch");
}
TT_METHOD(tt, step, State, tt, tt);

static tt weights(tt key, int rows, int columns)
{
    return tt_mul(0.3, tt_normal(key, TT_F32, rows, columns));
}

int main(void)
{
    tt k[5];
    tt_keys(k, tt_key(7));
    State s = { .net = { weights(k[0], 2, 4 * WIDTH), weights(k[1], WIDTH, 4 * WIDTH),
                         tt_zeros(TT_F32, 4 * WIDTH), tt_squeeze(weights(k[2], WIDTH, 1)) } };
    tt_start(&s.opt, s.net);
    tt at = tt_randint(k[3], 0, LENGTH, TT_I32, ROWS);
    tt marks = tt_astype(tt_equal(tt_expand(tt_arange(TT_I32, LENGTH), 1), at), TT_F32);
    tt numbers = tt_uniform(k[4], TT_F32, LENGTH, ROWS);
    int n = tt_device_count();
    tt x = tt_reshape(tt_stack(-1, numbers, marks), LENGTH, n, -1, 2);
    tt y = tt_reshape(tt_sum(tt_mul(numbers, marks), 0), n, -1);
    tt_fn train =
        tt_pmap(step, .axis_name = "batch", .in_axes = { TT_NONE, 1, 0 }, .out_axis = TT_NONE);
    TT_FOR(i, STEPS) {
        tt value = tt_update(&s, train, x, y);
        if (i % 10 == 0)
            tt_printf("step %d loss %.5f\n", i, value);
    }
}
