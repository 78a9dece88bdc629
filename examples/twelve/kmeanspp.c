/* k-means whose first centres are drawn far from one another, the points cut over the devices. */
#include <tutti.h>

enum { POINTS = 256, CENTRES = 5, STEPS = 10 };

static tt far(tt x, tt c)
{
    return tt_sum(tt_square(tt_sub(tt_expand(x, 1), c)), -1);
}

static tt start(tt key, tt x)
{
    tt c = tt_broadcast(tt_get(x, 0), CENTRES, 2);
    for (int i = 1; i < CENTRES; i++) {
        tt near = tt_amin(far(x, c), 1);
        c = tt_set(c, tt_get(x, tt_categorical(tt_fold_in(key, i), tt_log(near), 0)), i);
    }
    return c;
}

static tt step(tt *c, tt x)
{
    tt d = far(x, *c), mine = tt_one_hot(tt_argmin(d, 1), CENTRES, TT_F32);
    tt sums = tt_psum(tt_matmul(tt_transpose(mine), x), "points");
    tt counts = tt_psum(tt_sum(mine, 0), "points");
    *c = tt_div(sums, tt_expand(tt_max(counts, 1), 1));
    return tt_psum(tt_sum(tt_amin(d, 1)), "points");
}
TT_METHOD(tt, step, tt, tt);

int main(void)
{
    tt k[3];
    tt_keys(k, tt_key(6));
    tt which = tt_mod(tt_arange(TT_I32, POINTS), CENTRES);
    tt x = tt_mul(3, tt_get(tt_normal(k[0], TT_F32, CENTRES, 2), which));
    x = tt_add(x, tt_normal(k[1], TT_F32, POINTS, 2));
    tt c = start(k[2], x);
    x = tt_reshape(x, tt_device_count(), -1, 2);
    tt_fn move =
        tt_pmap(step, .axis_name = "points", .in_axes = { TT_NONE, 0 }, .out_axis = TT_NONE);
    for (int i = 0; i < STEPS; i++)
        tt_printf("step %d cost %.3f\n", i, tt_update(&c, move, x));
    tt_print(tt_get(c, tt_argsort(tt_get(c, TT_ALL, 0), 0)));
}
