/* drift.c - lesson 4's training, and after every step the first parameter on every device: what
 * 04_train_drift.svg shows. */
#include <stdio.h>
#include <tutti.h>

typedef struct {
    tt w, b;
} Params;

static tt loss(Params p, tt x, tt y)
{
    return tt_mean(tt_square(tt_sub(tt_add(tt_matmul(x, p.w), p.b), y)));
}
TT_FUN(tt, loss, Params, tt, tt);

static tt descend(tt p, tt g)
{
    return tt_sub(p, tt_mul(0.1, g));
}

static Params alone(Params p, tt x, tt y)
{
    return tt_map(descend, p, tt_call_as(Params, tt_grad(loss), p, x, y));
}
TT_FUN(Params, alone, Params, tt, tt);

static Params together(Params p, tt x, tt y)
{
    Params mine = tt_call_as(Params, tt_grad(loss), p, x, y);
    return tt_map(descend, p, tt_pmean(mine, "batch"));
}
TT_FUN(Params, together, Params, tt, tt);

static void train(const char *name, tt_fn step, int n, tt x, tt y)
{
    Params p = { tt_zeros(TT_F32, n, 2, 1), tt_zeros(TT_F32, n, 1) };
    for (int i = 0; i <= 30; i++) {
        printf("%s", name);
        for (int d = 0; d < n; d++)
            printf(" %.6f", tt_item(tt_index(p.w, d, 0, 0)));
        puts("");
        p = tt_call_as(Params, step, p, x, y);
    }
}

int main(void)
{
    /* Few points each, so that devices see different planes. */
    int n = tt_device_count(), each = 6;
    tt key = tt_key(0);
    float slope[] = { 2, -3 };
    tt x = tt_normal(tt_next_key(&key), TT_F32, n, each, 2);
    tt noise = tt_normal(tt_next_key(&key), TT_F32, n, each, 1);
    tt y = tt_add(tt_add(tt_matmul(x, tt_from(slope, 2, 1)), 1), noise);
    train("alone", tt_pmap(alone), n, x, y);
    train("together", tt_pmap(together, .axis_name = "batch"), n, x, y);
}
