/* A network for images whose batch norm is that of the whole batch, though every device has only a part
 * of it: the mean and the mean square are averaged over the devices, in the middle of the network, and
 * its gradient goes back through that. */
#include <stdio.h>
#include <tutti.h>

enum { SIDE = 8, KERNELS = 8, COUNT = 64, STEPS = 41 };

typedef struct {
    tt kernels, scale, shift, w, b;
} Net;
typedef struct {
    tt mean, var;
} Stats;
typedef struct {
    tt loss;
    Stats batch;
} Loss;
typedef struct {
    Loss value;
    Net grad;
} LossGrad;
typedef struct {
    Net net;
    Stats running;
    tt loss;
} Step;

static tt edges(Net p, tt x)
{
    return tt_conv(x, p.kernels);
}

/* Stats of all devices' edges together. */
static Stats stats_of(tt h)
{
    Stats mine = { tt_mean(h, 0, 1, 2), tt_mean(tt_square(h), 0, 1, 2) };
    Stats ours = tt_pmean(mine, "batch");
    return (Stats){ ours.mean, tt_sub(ours.var, tt_square(ours.mean)) };
}

static tt scores(Net p, Stats s, tt h)
{
    tt even = tt_mul(tt_sub(h, s.mean), tt_rsqrt(tt_add(s.var, 1e-5)));
    tt y = tt_relu(tt_add(tt_mul(even, p.scale), p.shift));
    tt pooled = tt_max_pool(y, .window = { 4, 4 });
    return tt_add(tt_matmul(tt_reshape(pooled, -1, 4 * KERNELS), p.w), p.b);
}

static Loss loss(Net p, tt x, tt labels)
{
    tt h = edges(p, x);
    Stats s = stats_of(h);
    return (Loss){ tt_mean(tt_cross_entropy(scores(p, s, h), labels)), s };
}
TT_FUN(Loss, loss, Net, tt, tt);

static tt descend(tt p, tt g)
{
    return tt_sub(p, tt_mul(0.1, g));
}

static Step step(Net p, Stats running, tt x, tt labels)
{
    LossGrad r = tt_call_as(LossGrad, tt_value_and_grad(loss, .has_aux = true), p, x, labels);
    tt_ema(&running, r.value.batch, 0.9);
    Net grad = tt_pmean(r.grad, "batch");
    return (Step){ tt_map(descend, p, grad), running, tt_pmean(r.value.loss, "batch") };
}
TT_FUN(Step, step, Net, Stats, tt, tt);

int main(void)
{
    int n = tt_device_count();
    tt key = tt_key(0), noise = tt_normal(tt_next_key(&key), TT_F32, COUNT, SIDE, SIDE);
    tt kernels = tt_normal(tt_next_key(&key), TT_F32, 3, 3, 1, KERNELS);
    tt w = tt_normal(tt_next_key(&key), TT_F32, 4 * KERNELS, 2);
    Net net = { tt_mul(0.3, kernels), tt_ones(TT_F32, KERNELS), tt_zeros(TT_F32, KERNELS),
                tt_mul(0.3, w), tt_zeros(TT_F32, 2) };
    Stats running = { tt_zeros(TT_F32, KERNELS), tt_ones(TT_F32, KERNELS) };

    /* Stripes along one way or the other, in noise. */
    tt labels = tt_mod(tt_arange(TT_I32, COUNT), 2), stripe = tt_mod(tt_arange(TT_F32, SIDE), 2);
    tt across = tt_reshape(tt_equal(labels, 1), COUNT, 1, 1);
    tt images = tt_where(across, tt_reshape(stripe, SIDE, 1), stripe);
    tt x = tt_reshape(tt_add(images, noise), COUNT, SIDE, SIDE, 1);

    tt_fn train = tt_pmap(step, .axis_name = "batch", .in_axes = { TT_NONE, TT_NONE, 0, 0 },
                          .out_axis = TT_NONE);
    for (int i = 0; i < STEPS; i++) {
        TT_SCOPE;
        Step r = tt_call_as(Step, train, net, running, tt_reshape(x, n, -1, SIDE, SIDE, 1),
                            tt_reshape(labels, n, -1));
        if (i % 10 == 0)
            printf("step %2d  loss %.4f\n", i, tt_item(r.loss));
        tt_assign(net, r.net);
        tt_assign(running, r.running);
    }

    /* Used, it has the running stats: an image does not depend on its neighbours. */
    tt right = tt_equal(tt_argmax(scores(net, running, edges(net, x)), 1), labels);
    printf("%.0f of %d are right\n", tt_item(tt_sum(tt_astype(right, TT_F32))), COUNT);
}
