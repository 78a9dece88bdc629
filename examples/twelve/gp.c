/* A Gaussian process: its hyperparameters by gradient descent, then what it predicts; restarts over the devices. */
#include <tutti.h>

enum { ROWS = 24, RESTARTS = 8 };

typedef struct {
    tt p, value;
} Fit;

static tt kernel(tt p, tt a, tt b)
{
    tt far = tt_mul(tt_sub(tt_expand(a, 1), b), tt_exp(tt_neg(tt_get(p, 1))));
    return tt_exp(tt_sub(tt_get(p, 0), tt_mul(0.5, tt_square(far))));
}

static tt factor(tt p, tt x)
{
    tt noise = tt_add(tt_exp(tt_get(p, 2)), 1e-4);
    return tt_cholesky(tt_add(kernel(p, x, x), tt_mul(noise, tt_eye(TT_F32, ROWS))));
}

static tt loss(tt p, tt x, tt y)
{
    tt l = factor(p, x);
    return tt_add(tt_mul(0.5, tt_matmul(y, tt_cho_solve(l, y))), tt_sum(tt_log(tt_diag(l))));
}

static Fit fit(tt p, tt x, tt y)
{
    for (int i = 0; i < 15; i++)
        p = tt_sub(p, tt_mul(0.02, tt_call(tt_grad(loss), p, x, y)));
    return (Fit){ p, loss(p, x, y) };
}
TT_FUN(Fit, fit, tt, tt, tt);

int main(void)
{
    tt k[2];
    tt_keys(k, tt_key(4));
    int n = tt_device_count();
    tt x = tt_linspace(TT_F32, -3, 3, ROWS), at = tt_linspace(TT_F32, -1, 2, 3);
    tt y = tt_add(tt_sin(tt_mul(2, x)), tt_mul(0.1, tt_normal(k[0], TT_F32, ROWS)));
    tt starts = tt_mul(0.5, tt_normal(k[1], TT_F32, n, RESTARTS / n, 3));
    tt_fn fits = tt_vmap(fit, .in_axes = { 0, TT_NONE, TT_NONE });
    Fit r = tt_call_as(Fit, tt_pmap(fits, .in_axes = { 0, TT_NONE, TT_NONE }), starts, x, y);
    tt p = tt_get(tt_reshape(r.p, -1, 3), tt_argmin(tt_reshape(r.value, -1), 0));
    tt l = factor(p, x), cross = kernel(p, x, at), v = tt_solve_triangular(l, cross);
    tt_printf("loss %.4f\n", tt_amin(r.value));
    tt_print(tt_matmul(tt_transpose(cross), tt_cho_solve(l, y)));
    tt_print(tt_sub(tt_exp(tt_get(p, 0)), tt_sum(tt_square(v), 0)));
}
