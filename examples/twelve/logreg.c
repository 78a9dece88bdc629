/* Logistic regression, each device with its part of the rows. */
#include <tutti.h>

enum { ROWS = 256, WIDTH = 8 };

static tt loss(tt w, tt x, tt y)
{
    tt z = tt_matmul(x, w);
    return tt_mean(tt_sub(tt_softplus(z), tt_mul(y, z)));
}

static tt step(tt *w, tt x, tt y)
{
    tt grad, value = tt_loss_grad(&grad, loss, *w, x, y);
    tt_sgd(w, tt_pmean(grad, "batch"), NULL, 0.5);
    return tt_pmean(value, "batch");
}
TT_METHOD(tt, step, tt, tt, tt);

int main(void)
{
    tt k[2];
    tt_keys(k, tt_key(0));
    tt x = tt_normal(k[0], TT_F32, ROWS, WIDTH);
    tt y = tt_astype(tt_greater(tt_matmul(x, tt_normal(k[1], TT_F32, WIDTH)), 0), TT_F32);
    int n = tt_device_count();
    x = tt_reshape(x, n, -1, WIDTH);
    y = tt_reshape(y, n, -1);
    tt w = tt_zeros(TT_F32, WIDTH);
    tt_fn train =
        tt_pmap(step, .axis_name = "batch", .in_axes = { TT_NONE, 0, 0 }, .out_axis = TT_NONE);
    TT_FOR(i, 51) {
        tt value = tt_update(&w, train, x, y);
        if (i % 10 == 0)
            tt_printf("step %d loss %.5f\n", i, value);
    }
}
