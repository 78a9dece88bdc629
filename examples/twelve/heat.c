/* Heat spreads over a plate whose rows are cut over the devices; edges are exchanged in every step. */
#include <tutti.h>

enum { SIDE = 32, STEPS = 200 };

typedef struct {
    tt u, heat;
} Plate;

static tt neighbours(tt u)
{
    tt above = tt_shift(tt_slice(u, 0, -1, TT_END), "rows", 1);
    tt below = tt_shift(tt_slice(u, 0, 0, 1), "rows", -1);
    return tt_concat(0, above, u, below);
}

static tt step(tt i, tt u)
{
    (void)i;
    tt tall = neighbours(u);
    tt around = tt_add(tt_slice(tall, 0, 0, -2), tt_slice(tall, 0, 2, TT_END), tt_roll(u, 1, 1),
                       tt_roll(u, -1, 1));
    return tt_add(u, tt_mul(0.2, tt_sub(around, tt_mul(4, u))));
}

static Plate run(tt u)
{
    u = tt_fori(STEPS, step, u);
    return (Plate){ u, tt_psum(tt_sum(u), "rows") };
}
TT_FUN(Plate, run, tt);

int main(void)
{
    tt u = tt_set(tt_zeros(TT_F32, SIDE, SIDE), 100, TT_RANGE(5, 9), TT_RANGE(10, 20));
    u = tt_reshape(u, tt_device_count(), -1, SIDE);
    Plate r = tt_call_as(Plate, tt_pmap(run, .axis_name = "rows"), u);
    tt_printf("heat %.2f\n", tt_get(r.heat, 0));
    u = tt_reshape(r.u, SIDE, SIDE);
    tt_print(tt_get(u, TT_RANGE(0, TT_END, 8), TT_RANGE(0, TT_END, 8)));
}
