/* Lesson 1: who is playing?
 *
 * A device is a place with its own memory, on which a program runs.  A CPU has
 * as many as you ask for:
 *
 *     TUTTI_DEVICES=4 ./01_devices
 *
 * Without that it has one for each core. */
#include <stdio.h>
#include <tutti.h>

int main(void)
{
    printf("%d devices\n", tt_device_count());
    for (int i = 0; i < tt_device_count(); i++)
        puts(tt_device_name(i));

    tt x = tt_reshape(tt_arange(TT_F32, 8), 4, 2);
    puts(tt_describe(x));
    tt_print(x);
}
