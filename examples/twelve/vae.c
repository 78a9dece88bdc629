/* A variational autoencoder of dots, each device with its part of the batch. */
#include <tutti.h>

enum { ROWS = 64, SEEN = 16, HIDDEN = 24, LATENT = 2, STEPS = 41 };

typedef struct {
    tt w, b;
} Dense;
typedef struct {
    Dense in, code, hidden, out;
} Net;
typedef struct {
    Net net;
    TT_ADAM(Net) opt;
} State;

static Dense dense_of(tt key, int rows, int columns)
{
    return (Dense){ tt_mul(0.3, tt_normal(key, TT_F32, rows, columns)), tt_zeros(TT_F32, columns) };
}

static tt dense(Dense p, tt x)
{
    return tt_add(tt_matmul(x, p.w), p.b);
}

static tt loss(Net net, tt key, tt x)
{
    tt code[2];
    tt_parts(code, dense(net.code, tt_tanh(dense(net.in, x))), 1);
    tt mean = code[0], logvar = code[1];
    tt noise = tt_normal(key, TT_F32, tt_shape(mean).v[0], LATENT);
    tt z = tt_add(mean, tt_mul(tt_exp(tt_mul(0.5, logvar)), noise));
    tt logits = dense(net.out, tt_tanh(dense(net.hidden, z)));
    tt seen = tt_sum(tt_binary_cross_entropy(logits, x), 1);
    tt kl = tt_sub(tt_add(tt_exp(logvar), tt_square(mean), -1), logvar);
    return tt_mean(tt_add(seen, tt_mul(0.5, tt_sum(kl, 1))));
}
TT_FUN(tt, loss, Net, tt, tt);

static tt step(State *s, tt key, tt x)
{
    Net grad;
    key = tt_fold_in(key, tt_axis_index("batch"));
    tt value = tt_loss_grad(&grad, loss, s->net, key, x);
    tt_adam(&s->net, tt_pmean(grad, "batch"), &s->opt, 1e-2);
    return tt_pmean(value, "batch");
}
TT_METHOD(tt, step, State, tt, tt);

int main(void)
{
    tt key = tt_key(5), k[4];
    tt_keys(k, key);
    tt x = tt_bernoulli(key, tt_linspace(TT_F32, 0.05, 0.95, SEEN), TT_F32, ROWS, SEEN);
    State s = { .net = { dense_of(k[0], SEEN, HIDDEN), dense_of(k[1], HIDDEN, 2 * LATENT),
                         dense_of(k[2], LATENT, HIDDEN), dense_of(k[3], HIDDEN, SEEN) } };
    tt_start(&s.opt, s.net);
    x = tt_reshape(x, tt_device_count(), -1, SEEN);
    tt_fn train = tt_pmap(step, .axis_name = "batch", .in_axes = { TT_NONE, TT_NONE, 0 },
                          .out_axis = TT_NONE);
    TT_FOR(i, STEPS) {
        tt value = tt_update(&s, train, tt_fold_in(key, i), x);
        if (i % 10 == 0)
            tt_printf("step %d loss %.4f\n", i, value);
    }
}
