/* Lesson 3: the device axis, and talking along it.
 *
 *     x     [n, 4]      what you have
 *     row      [4]      what `square` sees, on each of n devices
 *     y     [n, 4]      what you get: the device axis is back in front
 *
 * The axis can have a name.  Then the copies of the function can talk: tt_psum
 * is the sum over all of them, and each of them gets it. */
#include <assert.h>
#include <stdio.h>
#include <tutti.h>

static tt square(tt row)
{
    printf("traced once, with a row: %s\n", tt_describe(row));
    return tt_mul(row, row);
}

static tt share(tt row)
{
    return tt_div(row, tt_psum(row, "devices"));
}

int main(void)
{
    int n = tt_device_count();
    tt x = tt_reshape(tt_arange(TT_F32, 4 * n), n, 4);

    tt y = tt_call(tt_pmap(square), x);
    printf("x: %s\n", tt_describe(x));
    printf("y: %s\n", tt_describe(y));
    assert(tt_shape(y).n == 2 && tt_shape(y).v[0] == n && tt_shape(y).v[1] == 4);
    tt_print(y);

    puts("each device's share of the sum:");
    tt_print(tt_call(tt_pmap(share, .axis_name = "devices"), tt_add(x, 1)));
}
