/* Waves that steepen and wear off (Burgers), by Fourier transforms; how the energy depends on the viscosity. */
#include <math.h>
#include <tutti.h>

enum { POINTS = 64, WAVES = 8, STEPS = 100 };
static const double DT = 0.01;

typedef struct {
    tt value, slope;
} Energy;

static tt rate(tt u, tt nu)
{
    tt k = tt_complex(0, tt_rfftfreq(TT_F32, POINTS, 1.0 / POINTS)), f = tt_rfft(u, -1);
    tt slope = tt_irfft(tt_mul(k, f), 0, -1), bend = tt_irfft(tt_mul(k, k, f), 0, -1);
    return tt_sub(tt_mul(nu, bend), tt_mul(u, slope));
}

static tt step(tt i, tt u, tt nu)
{
    (void)i;
    tt half = tt_add(u, tt_mul(DT / 2, rate(u, nu)));
    return tt_add(u, tt_mul(DT, rate(half, nu)));
}

static tt energy(tt nu, tt u)
{
    return tt_mean(tt_square(tt_fori(STEPS, step, u, nu)));
}

int main(void)
{
    tt x = tt_mul(2 * M_PI / POINTS, tt_arange(TT_F32, POINTS));
    tt phase = tt_expand(tt_arange(TT_F32, WAVES), 1);
    tt u = tt_add(tt_sin(tt_add(x, phase)), tt_mul(0.1, tt_cos(tt_mul(3, x))));
    u = tt_reshape(u, tt_device_count(), -1, POINTS);
    tt_fn waves = tt_vmap(tt_value_and_grad(energy), .in_axes = { TT_NONE, 0 });
    tt_print(tt_call_as(Energy, tt_pmap(waves, .in_axes = { TT_NONE, 0 }), tt_scalar(0.1), u));
}
