/* alone.c - the exercise with two mistakes: each device for itself. */
#include "exercise.h"

tt center(tt x)
{
    return tt_sub(x, tt_mean(x));
}

static tt loss(tt w, tt x, tt y)
{
    return tt_mean(tt_square(tt_sub(tt_matmul(x, w), y)));
}
TT_FUN(tt, loss, tt, tt, tt);

tt step(tt w, tt x, tt y)
{
    return tt_sub(w, tt_mul(0.1, tt_call(tt_grad(loss), w, x, y)));
}

tt winner(tt x)
{
    tt mine = tt_amax(x), best = tt_pmax(mine, "i");
    return tt_where(tt_equal(mine, best), best, 0);
}
