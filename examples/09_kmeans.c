/* Lesson 9: a loop that ends when the data say so.
 *
 * k-means looks for the middles of clouds of points.  A point belongs to the
 * middle that is nearest; a middle moves to the mean of the points that belong
 * to it; and so on until none moves.  Every device has its part of the points,
 * and what is summed over all of them is summed by tt_psum: so all devices have
 * the same middles, and all leave the loop at once. */
#include <stdio.h>
#include <tutti.h>

enum { K = 3, POINTS = 192 };

typedef struct {
    tt middles, moved, turns;
} State;

static tt is_moving(State s, tt points)
{
    (void)points;
    return tt_greater(s.moved, 1e-4);
}
TT_FUN(tt, is_moving, State, tt);

static tt distances(tt points, tt middles) /* squared: f32[points,K] */
{
    tt gap = tt_sub(tt_reshape(points, -1, 1, 2), tt_reshape(middles, 1, K, 2));
    return tt_sum(tt_square(gap), 2);
}

static State move(State s, tt points)
{
    tt nearest = tt_argmin(distances(points, s.middles), 1);
    tt belongs = tt_one_hot(nearest, K, TT_F32);
    tt sums = tt_psum(tt_matmul(tt_transpose(belongs), points), "devices");
    tt counts = tt_psum(tt_sum(belongs, 0), "devices");
    tt middles = tt_div(sums, tt_reshape(counts, K, 1));
    return (State){ middles, tt_amax(tt_abs(tt_sub(middles, s.middles))), tt_add(s.turns, 1) };
}
TT_FUN(State, move, State, tt);

static State find_middles(tt points, tt first)
{
    State start = { first, tt_ones(TT_F32), tt_zeros(TT_I32) };
    return tt_while(is_moving, move, start, points);
}
TT_FUN(State, find_middles, tt, tt);

int main(void)
{
    /* Three clouds, their points by turns. */
    int n = tt_device_count();
    tt truth = tt_from(((float[]){ 0, 0, 4, 1, 2, 5 }), K, 2);
    tt cloud = tt_mod(tt_arange(TT_I32, POINTS), K);
    tt points = tt_add(tt_take(truth, cloud, 0), tt_normal(tt_key(0), TT_F32, POINTS, 2));
    tt first = tt_slice(points, 0, 0, K);

    tt_fn f = tt_pmap(find_middles, .axis_name = "devices", .in_axes = { 0, TT_NONE },
                      .out_axis = TT_NONE);
    State end = tt_call_as(State, f, tt_reshape(points, n, -1, 2), first);
    printf("after %.0f turns the middles are\n", tt_item(end.turns));
    for (int i = 0; i < K; i++)
        printf("    %.4f %.4f\n", tt_item(tt_index(end.middles, i, 0)),
               tt_item(tt_index(end.middles, i, 1)));
}
