/* Lesson 2: one function, all devices.
 *
 * tt_pmap cuts its argument along the leading axis, one row for each device,
 * and runs the function on every row at once. */
#include <tutti.h>

static tt f(tt x)
{
    return tt_add(tt_pow(x, 2), tt_sin(x));
}

int main(void)
{
    int n = tt_device_count();
    tt x = tt_reshape(tt_arange(TT_I32, 2 * n), n, 2);
    tt_print(tt_call(tt_pmap(f), x));
}
