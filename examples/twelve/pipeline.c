/* Eight layers as a pipeline over the devices: micro-batches move on by one device a turn, gradients come back. */
#include <math.h>
#include <tutti.h>

enum { LAYERS = 8, WIDTH = 8, PARTS = 6, ROWS = 4, STEPS = 31 };

static tt turn(tt *handed, tt x, tt w)
{
    x = tt_where(tt_equal(tt_axis_index("s"), 0), x, *handed);
    for (int i = 0; i < tt_shape(w).v[0]; i++)
        x = tt_tanh(tt_matmul(x, tt_get(w, i)));
    *handed = tt_shift(x, "s", 1);
    return x;
}
TT_METHOD(tt, turn, tt, tt, tt);

static tt loss(tt w, tt xs, tt ys)
{
    int n = tt_axis_size("s");
    tt handed = tt_zeros(TT_F32, ROWS, WIDTH);
    tt out = tt_sweep(&handed, turn, tt_pad(xs, { 0, 0, n - 1 }), w);
    tt error = tt_mean(tt_square(tt_sub(tt_get(out, TT_RANGE(n - 1, TT_END)), ys)));
    return tt_psum(tt_where(tt_equal(tt_axis_index("s"), n - 1), error, 0), "s");
}

static tt step(tt *w, tt xs, tt ys)
{
    tt grad, value = tt_loss_grad(&grad, loss, *w, xs, ys);
    tt_sgd(w, grad, NULL, 0.5);
    return value;
}
TT_METHOD(tt, step, tt, tt, tt);

int main(void)
{
    tt_mesh mesh = tt_mesh_of({ "s", tt_device_count() });
    tt k[2];
    tt_keys(k, tt_key(9));
    tt w = tt_div(tt_normal(k[0], TT_F32, LAYERS, WIDTH, WIDTH), sqrt(WIDTH));
    tt xs = tt_normal(k[1], TT_F32, PARTS, ROWS, WIDTH), ys = tt_mul(0.5, tt_sin(xs));
    tt_fn train =
        tt_shard_map(step, .mesh = mesh, .in_specs = { TT_P("s") }, .out_specs = { TT_P("s") });
    TT_FOR(i, STEPS) {
        tt value = tt_update(&w, train, xs, ys);
        if (i % 10 == 0)
            tt_printf("step %d loss %.5f\n", i, value);
    }
}
