/* Lesson 10: a small network for images.
 *
 * Stripes that run across or down, under noise: which is it?  A convolution
 * looks for edges, the largest of each quarter of the image says whether there
 * was one, and a matrix makes two scores of that.  Training is that of lesson
 * 4: every device has its part of the images, and gradients are averaged. */
#include <stdio.h>
#include <tutti.h>

enum { IMAGES = 128, SIDE = 8, KERNELS = 4 };

typedef struct {
    tt kernels, weights, bias;
} Net;
typedef struct {
    tt loss;
    Net grad;
} LossGrad;
typedef struct {
    Net net;
    tt loss;
} Step;

static tt scores(Net net, tt images)
{
    tt edges = tt_relu(tt_conv(images, net.kernels)); /* f32[n,8,8,4] */
    tt tiles = tt_reshape(edges, -1, 2, SIDE / 2, 2, SIDE / 2, KERNELS);
    tt found = tt_reshape(tt_amax(tiles, 2, 4), -1, 2 * 2 * KERNELS);
    return tt_add(tt_matmul(found, net.weights), net.bias); /* f32[n,2] */
}
TT_FUN(tt, scores, Net, tt);

static tt loss(Net net, tt images, tt labels)
{
    tt right = tt_one_hot(labels, 2, TT_F32);
    return tt_neg(tt_mean(tt_sum(tt_mul(right, tt_log_softmax(scores(net, images))), 1)));
}
TT_FUN(tt, loss, Net, tt, tt);

static tt descend(tt p, tt g)
{
    return tt_sub(p, tt_mul(0.2, g));
}

static Step step(Net net, tt images, tt labels)
{
    LossGrad mine = tt_call_as(LossGrad, tt_value_and_grad(loss), net, images, labels);
    LossGrad ours = tt_pmean(mine, "batch");
    return (Step){ tt_map(descend, net, ours.grad), ours.loss };
}
TT_FUN(Step, step, Net, tt, tt);

/* Across where the label is 1, down where it is 0. */
static tt stripes(tt labels, tt noise)
{
    tt stripe = tt_mod(tt_arange(TT_I32, SIDE), 2);
    tt across = tt_reshape(stripe, 1, SIDE, 1), down = tt_reshape(stripe, 1, 1, SIDE);
    tt images = tt_where(tt_reshape(labels, IMAGES, 1, 1), across, down);
    return tt_add(images, noise);
}

int main(void)
{
    int n = tt_device_count();
    tt key = tt_key(0);
    tt labels = tt_mod(tt_arange(TT_I32, IMAGES), 2);
    tt images = stripes(labels, tt_normal(tt_next_key(&key), TT_F32, IMAGES, SIDE, SIDE));
    Net net = { .kernels = tt_mul(0.3, tt_normal(tt_next_key(&key), TT_F32, 3, 3, 1, KERNELS)),
                .weights = tt_mul(0.3, tt_normal(tt_next_key(&key), TT_F32, 2 * 2 * KERNELS, 2)),
                .bias = tt_zeros(TT_F32, 2) };

    tt x = tt_reshape(images, n, -1, SIDE, SIDE, 1), y = tt_reshape(labels, n, -1);
    tt_fn train =
        tt_pmap(step, .axis_name = "batch", .in_axes = { TT_NONE, 0, 0 }, .out_axis = TT_NONE);
    for (int i = 0; i <= 60; i++) {
        TT_SCOPE;
        Step next = tt_call_as(Step, train, net, x, y);
        if (i % 20 == 0)
            printf("step %2d  loss %.4f\n", i, tt_item(next.loss));
        tt_assign(net, next.net);
    }
    tt guess = tt_argmax(tt_call(scores, net, tt_reshape(images, IMAGES, SIDE, SIDE, 1)), 1);
    tt right = tt_astype(tt_equal(guess, labels), TT_I32);
    printf("%.0f of %d are right\n", tt_item(tt_sum(right)), IMAGES);
}
