/* steps_test.c - a long training does not grow.
 *
 * Memory is looked at after a tenth of the steps and at the end: what a step makes must be gone with
 * its scope, on the host and on the devices.  TUTTI_STEPS says how many; 100000 is the long form. */
#include "tests/front.h"
#include "tests/stress/resident.h"

#include <stdio.h>

typedef struct {
    tt w, b;
} Params;
typedef struct {
    tt loss;
    Params grad;
} LossGrad;
typedef struct {
    Params params;
    tt loss;
} Step;

enum { MOST_GROWTH = 1 << 20 };

static tt loss(Params p, tt x, tt y)
{
    return tt_mean(tt_square(tt_sub(tt_add(tt_matmul(x, p.w), p.b), y)));
}
TT_FUN(tt, loss, Params, tt, tt);

static tt descend(tt p, tt g)
{
    return tt_sub(p, tt_mul(0.1, g));
}

static Step train_step(Params p, tt x, tt y)
{
    LossGrad ours = tt_pmean(tt_call_as(LossGrad, tt_value_and_grad(loss), p, x, y), "batch");
    return (Step){ tt_map(descend, p, ours.grad), ours.loss };
}
TT_FUN(Step, train_step, Params, tt, tt);

/* A step, and what else a loop does: a number read, an eager operation, a mapped one, a key. */
static double step(tt_fn train, Params *p, tt *key, tt x, tt y)
{
    TT_SCOPE;
    Step next = tt_call_as(Step, train, *p, x, y);
    tt_assign(*p, next.params);
    double value = tt_item(tt_add(next.loss, tt_item(tt_index(next.params.b, 0)) * 0));
    tt drawn = tt_uniform(tt_next_key(key), TT_F32, 4);
    tt_call(tt_pmap(descend), drawn, drawn);
    return value;
}

int main(void)
{
    front_start(4);
    const char *text = getenv("TUTTI_STEPS");
    int steps = text ? atoi(text) : 3000;
    tt key = tt_key(0);
    tt x = tt_normal(tt_next_key(&key), TT_F32, 4, 32, 2), y = tt_sum(x, 2);
    y = tt_reshape(y, 4, 32, 1);
    tt_fn train = tt_pmap(train_step, .axis_name = "batch", .in_axes = { TT_NONE, 0, 0 },
                          .out_axis = TT_NONE);
    Params p = { tt_zeros(TT_F32, 2, 1), tt_zeros(TT_F32, 1) };
    long before = 0;
    double value = 1;
    for (int i = 0; i < steps; i++) {
        if (i == steps / 10)
            before = resident();
        value = step(train, &p, &key, x, y);
    }
    long growth = resident() - before;
    CHECK(value < 1e-6);
    CHECK_SAID("");
#ifndef __SANITIZE_ADDRESS__ /* it keeps what is freed */
    CHECK(growth < MOST_GROWTH);
#endif
    printf("%d steps, %ld KB more\n", steps, growth / 1024);
    return check_done();
}
