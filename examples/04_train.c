/* Lesson 4: training on all devices at once.
 *
 * Every device has the parameters and its own part of the data, and computes a
 * gradient of its own.  If each goes down its own gradient, the copies of the
 * parameters drift apart: n little trainings.  tt_pmean averages the gradients
 * first; then all take the same step, and the parameters stay equal without
 * ever being sent. */
#include <stdio.h>
#include <tutti.h>

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

static tt loss(Params p, tt x, tt y)
{
    tt guess = tt_add(tt_matmul(x, p.w), p.b);
    return tt_mean(tt_square(tt_sub(guess, y)));
}
TT_FUN(tt, loss, Params, tt, tt);

static tt descend(tt p, tt g)
{
    return tt_sub(p, tt_mul(0.1, g));
}

static Step step_alone(Params p, tt x, tt y)
{
    LossGrad mine = tt_call_as(LossGrad, tt_value_and_grad(loss), p, x, y);
    return (Step){ tt_map(descend, p, mine.grad), mine.loss };
}
TT_FUN(Step, step_alone, Params, tt, tt);

static Step step_together(Params p, tt x, tt y)
{
    LossGrad mine = tt_call_as(LossGrad, tt_value_and_grad(loss), p, x, y);
    LossGrad ours = tt_pmean(mine, "batch");
    return (Step){ tt_map(descend, p, ours.grad), ours.loss };
}
TT_FUN(Step, step_together, Params, tt, tt);

static Params train(tt_fn step, Params p, tt x, tt y)
{
    for (int i = 0; i <= 60; i++) {
        TT_SCOPE;
        Step next = tt_call_as(Step, step, p, x, y);
        if (i % 20 == 0)
            printf("    step %2d  loss %.5f\n", i, tt_item(tt_mean(next.loss)));
        tt_assign(p, next.params);
    }
    return p;
}

int main(void)
{
    /* 128 points near the plane y = 2 x0 - 3 x1 + 1, in n parts. */
    int n = tt_device_count(), each = 128 / n;
    tt key = tt_key(0);
    float slope[] = { 2, -3 };
    tt x = tt_normal(tt_next_key(&key), TT_F32, n, each, 2);
    tt noise = tt_normal(tt_next_key(&key), TT_F32, n, each, 1);
    tt y = tt_add(tt_add(tt_matmul(x, tt_from(slope, 2, 1)), 1), tt_mul(0.1, noise));

    puts("each for itself:");
    Params many = { tt_zeros(TT_F32, n, 2, 1), tt_zeros(TT_F32, n, 1) };
    many = train(tt_pmap(step_alone), many, x, y);
    for (int i = 0; i < n; i++)
        printf("    device %d has w %.5f %.5f, b %.5f\n", i, tt_item(tt_index(many.w, i, 0, 0)),
               tt_item(tt_index(many.w, i, 1, 0)), tt_item(tt_index(many.b, i, 0)));

    /* TT_NONE going in: everyone gets the same.  Coming out: everyone has the same. */
    puts("all together:");
    Params one = { tt_zeros(TT_F32, 2, 1), tt_zeros(TT_F32, 1) };
    one = train(tt_pmap(step_together, .axis_name = "batch", .in_axes = { TT_NONE, 0, 0 },
                        .out_axis = TT_NONE),
                one, x, y);
    printf("    all have w %.5f %.5f, b %.5f\n", tt_item(tt_index(one.w, 0, 0)),
           tt_item(tt_index(one.w, 1, 0)), tt_item(tt_index(one.b, 0)));
}
