/* Hamiltonian Monte Carlo: the posterior of a regression, eight chains over the devices. */
#include <tutti.h>

enum { ROWS = 64, WIDTH = 3, CHAINS = 8, DRAWS = 30, LEAPS = 8 };
static const double SIZE = 0.08;

typedef struct {
    tt w, v;
} Point;
typedef struct {
    tt w, accept;
} Draw;

static tt energy(tt w, tt x, tt y)
{
    return tt_add(tt_sum(tt_softplus(tt_neg(tt_mul(y, tt_matmul(x, w))))),
                  tt_mul(0.5, tt_sum(tt_square(w))));
}

static tt kick(Point s, tt x, tt y)
{
    return tt_sub(s.v, tt_mul(SIZE / 2, tt_call(tt_grad(energy), s.w, x, y)));
}

static Point leap(tt i, Point s, tt x, tt y)
{
    (void)i;
    s.v = kick(s, x, y);
    s.w = tt_add(s.w, tt_mul(SIZE, s.v));
    return (Point){ s.w, kick(s, x, y) };
}
TT_FUN(Point, leap, tt, Point, tt, tt);

static tt total(Point s, tt x, tt y)
{
    return tt_add(energy(s.w, x, y), tt_mul(0.5, tt_sum(tt_square(s.v))));
}

static Draw draw(tt *w, tt key, tt x, tt y)
{
    tt k[2];
    tt_keys(k, key);
    Point s = { *w, tt_normal(k[0], TT_F32, WIDTH) }, new = tt_fori(LEAPS, leap, s, x, y);
    tt accept = tt_less(tt_log(tt_uniform(k[1], TT_F32)), tt_sub(total(s, x, y), total(new, x, y)));
    *w = tt_where(accept, new.w, *w);
    return (Draw){ *w, accept };
}
TT_METHOD(Draw, draw, tt, tt, tt, tt);

static Draw chain(tt key, tt x, tt y)
{
    tt w = tt_zeros(TT_F32, WIDTH);
    return tt_sweep_as(Draw, &w, draw, tt_split(key, DRAWS), x, y);
}
TT_FUN(Draw, chain, tt, tt, tt);

int main(void)
{
    tt k[4];
    tt_keys(k, tt_key(2));
    tt x = tt_normal(k[0], TT_F32, ROWS, WIDTH), w = tt_normal(k[3], TT_F32, WIDTH);
    tt y = tt_sign(tt_add(tt_matmul(x, w), tt_normal(k[1], TT_F32, ROWS)));
    tt keys = tt_reshape(tt_split(k[2], CHAINS), tt_device_count(), -1, 2);
    tt_fn chains = tt_vmap(chain, .in_axes = { 0, TT_NONE, TT_NONE });
    Draw r = tt_call_as(Draw, tt_pmap(chains, .in_axes = { 0, TT_NONE, TT_NONE }), keys, x, y);
    tt_printf("accepted %.4f\n", tt_mean(r.accept));
    w = tt_reshape(r.w, -1, WIDTH);
    tt_print(tt_mean(w, 0));
    tt_print(tt_std(w, 0));
}
