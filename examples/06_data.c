/* Lesson 6: data for all devices.
 *
 * 128 examples of 784 numbers, cut into one part for each device.  The same key
 * always gives the same numbers, on any number of devices. */
#include <stdio.h>
#include <tutti.h>

typedef struct {
    tt mine, ours;
} Means;

static Means means(tt part)
{
    tt mine = tt_mean(part);
    return (Means){ mine, tt_pmean(mine, "devices") };
}
TT_FUN(Means, means, tt);

int main(void)
{
    int n = tt_device_count();
    tt data = tt_normal(tt_key(0), TT_F32, 128, 784);
    tt parts = tt_reshape(data, n, 128 / n, 784);
    printf("%s -> %s\n", tt_describe(data), tt_describe(parts));

    puts("how the last example begins:");
    tt last = tt_index(parts, n - 1, -1);
    tt_print(tt_slice(last, 0, 0, 5));

    Means m = tt_call_as(Means, tt_pmap(means, .axis_name = "devices"), parts);
    for (int i = 0; i < n; i++)
        printf("device %d: mean %.5f, of all %.5f\n", i, tt_item(tt_index(m.mine, i)),
               tt_item(tt_index(m.ours, i)));
}
