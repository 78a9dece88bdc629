/* A network for images: batch norm over all devices, max pooling 3x3, running statistics. */
#include <tutti.h>

enum { IMAGES = 64, SIDE = 12, CLASSES = 3 };

typedef struct {
    tt k, g, b;
} Conv;
typedef struct {
    Conv c1, c2;
    tt w;
} Net;
typedef struct {
    tt mean, var;
} Stat;
typedef struct {
    Stat s1, s2;
} Stats;
typedef struct {
    tt value;
    Stats stats;
} Loss;
typedef struct {
    Loss loss;
    Net grad;
} LossGrad;
typedef struct {
    Net net;
    Stats stats;
} State;

static Conv conv_of(tt key, int in, int out)
{
    return (Conv){ tt_mul(0.2, tt_normal(key, TT_F32, 3, 3, in, out)), tt_ones(TT_F32, out),
                   tt_zeros(TT_F32, out) };
}

static Stat stat_of(int width)
{
    return (Stat){ tt_zeros(TT_F32, width), tt_ones(TT_F32, width) };
}

static tt batch_norm(Conv p, tt x, Stat *s)
{
    tt mean = tt_pmean(tt_mean(x, 0, 1, 2), "batch");
    tt var = tt_sub(tt_pmean(tt_mean(tt_square(x), 0, 1, 2), "batch"), tt_square(mean));
    tt_ema(s, ((Stat){ mean, var }), 0.9);
    tt scaled = tt_mul(tt_sub(x, mean), tt_rsqrt(tt_add(var, 1e-5)));
    return tt_add(tt_mul(scaled, p.g), p.b);
}

static tt conv(Conv p, tt x, Stat *s)
{
    return tt_relu(batch_norm(p, tt_conv(x, p.k), s));
}

static Loss loss(Net p, Stats s, tt x, tt y)
{
    x = conv(p.c1, x, &s.s1);
    x = tt_max_pool(x, .window = { 3, 3 }, .strides = { 2, 2 }, .same = true);
    x = conv(p.c2, x, &s.s2);
    tt logits = tt_matmul(tt_mean(x, 1, 2), p.w);
    return (Loss){ tt_mean(tt_cross_entropy(logits, y)), s };
}
TT_FUN(Loss, loss, Net, Stats, tt, tt);

static tt step(State *s, tt x, tt y)
{
    tt_fn f = tt_value_and_grad(loss, .has_aux = true);
    LossGrad r = tt_pmean(tt_call_as(LossGrad, f, s->net, s->stats, x, y), "batch");
    tt_sgd(&s->net, r.grad, NULL, 0.1);
    s->stats = r.loss.stats;
    return r.loss.value;
}
TT_METHOD(tt, step, State, tt, tt);

int main(void)
{
    tt k[5];
    tt_keys(k, tt_key(3));
    tt y = tt_mod(tt_arange(TT_I32, IMAGES), CLASSES);
    tt x = tt_add(tt_get(tt_normal(k[0], TT_F32, CLASSES, SIDE, SIDE, 1), y),
                  tt_normal(k[1], TT_F32, IMAGES, SIDE, SIDE, 1));
    State s = { { conv_of(k[2], 1, 8), conv_of(k[3], 8, 16),
                  tt_mul(0.1, tt_normal(k[4], TT_F32, 16, CLASSES)) },
                { stat_of(8), stat_of(16) } };
    int n = tt_device_count();
    x = tt_reshape(x, n, -1, SIDE, SIDE, 1);
    y = tt_reshape(y, n, -1);
    tt_fn train =
        tt_pmap(step, .axis_name = "batch", .in_axes = { TT_NONE, 0, 0 }, .out_axis = TT_NONE);
    TT_FOR(i, 41) {
        tt value = tt_update(&s, train, x, y);
        if (i % 10 == 0)
            tt_printf("step %d loss %.4f mean %.4f var %.4f\n", i, value, tt_mean(s.stats.s2.mean),
                      tt_mean(s.stats.s1.var));
    }
}
