/* A perceptron that classifies, by minibatches in a new order every epoch, with Adam. */
#include <math.h>
#include <tutti.h>

enum { ROWS = 512, IN = 4, WIDTH = 32, CLASSES = 3, BATCH = 64 };

typedef struct {
    tt w, b;
} Dense;
typedef struct {
    Dense hidden, out;
} Net;
typedef struct {
    Net net;
    TT_ADAM(Net) opt;
} State;

static Dense dense(tt key, int rows, int columns)
{
    return (Dense){ tt_div(tt_normal(key, TT_F32, rows, columns), sqrt(rows)),
                    tt_zeros(TT_F32, columns) };
}

static tt apply(Dense p, tt x)
{
    return tt_add(tt_matmul(x, p.w), p.b);
}

static tt loss(Net net, tt x, tt y)
{
    tt logits = apply(net.out, tt_tanh(apply(net.hidden, x)));
    return tt_mean(tt_cross_entropy(logits, y));
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

int main(void)
{
    tt k[3];
    tt_keys(k, tt_key(1));
    tt x = tt_normal(k[0], TT_F32, ROWS, IN);
    tt y = tt_argmax(tt_mul(tt_slice(x, 1, 0, CLASSES), tt_slice(x, 1, 1, CLASSES + 1)), 1);
    State s = { .net = { dense(k[1], IN, WIDTH), dense(k[2], WIDTH, CLASSES) } };
    tt_start(&s.opt, s.net);
    int n = tt_device_count();
    tt_fn train =
        tt_pmap(step, .axis_name = "batch", .in_axes = { TT_NONE, 0, 0 }, .out_axis = TT_NONE);
    TT_FOR(epoch, 10) {
        tt order = tt_minibatches(tt_fold_in(k[0], epoch), ROWS, BATCH), value;
        for (int i = 0; i < ROWS / BATCH; i++) {
            tt rows = tt_reshape(tt_index(order, i), n, -1);
            value = tt_update(&s, train, tt_get(x, rows), tt_get(y, rows));
        }
        tt_printf("epoch %d loss %.4f\n", epoch, value);
    }
}
