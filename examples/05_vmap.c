/* Lesson 5: vmap beside pmap.
 *
 * `length` is about one vector.  Both maps make it about many:
 *
 *     tt_vmap   one device, one program, an array with an axis more
 *     tt_pmap   a device for each, every one with memory of its own
 *
 * They mean the same, they nest, and the gradient of a function is a function,
 * so it can be mapped too. */
#include <stdio.h>
#include <tutti.h>

static tt length(tt v)
{
    return tt_sqrt(tt_sum(tt_mul(v, v)));
}

static tt above_mean(tt x)
{
    return tt_sub(x, tt_pmean(x, "rows"));
}

int main(void)
{
    int n = tt_device_count();
    tt rows = tt_reshape(tt_arange(TT_F32, 3 * n), n, 3);

    puts("vmap, pmap:");
    tt_print(tt_call(tt_vmap(length), rows));
    tt_print(tt_call(tt_pmap(length), rows));

    puts("two vectors for each device:");
    tt blocks = tt_reshape(tt_arange(TT_F32, 6 * n), n, 2, 3);
    tt_print(tt_call(tt_pmap(tt_vmap(length)), blocks));

    puts("the gradient at every row, which is its direction:");
    tt_print(tt_call(tt_vmap(tt_grad(length)), tt_add(rows, 1)));

    puts("a collective works along both:");
    tt_print(tt_call(tt_vmap(above_mean, .axis_name = "rows"), rows));
    tt_print(tt_call(tt_pmap(above_mean, .axis_name = "rows"), rows));
}
