/* onecall.c - what an already compiled call costs from C, over whatever plugin TUTTI_PLUGIN names.
 *
 * Prints two medians in microseconds: of a call that is waited for, and of a call that is only
 * handed over (the device works behind).  bench/onecall.py says the same of Python JAX. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <tutti.h>

enum { TURNS = 2000 };

static tt f(tt x)
{
    return tt_add(tt_pow(x, 2), tt_sin(x));
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_of_calls(tt_fn g, tt x, bool waits)
{
    static double times[TURNS];
    for (int i = -100; i < TURNS; i++) {
        TT_SCOPE;
        double start = now();
        tt y = tt_call(g, x);
        if (waits)
            tt_wait(y);
        if (i >= 0)
            times[i] = now() - start;
        if (!waits && i % 50 == 0)
            tt_wait(y); /* outside the time: no queue without end */
    }
    qsort(times, TURNS, sizeof *times, by_size);
    return times[TURNS / 2];
}

int main(void)
{
    int n = tt_device_count();
    tt x = tt_reshape(tt_arange(TT_F32, 2 * n), n, 2);
    tt_fn g = tt_pmap(f);
    tt_wait(tt_call(g, x));
    x = tt_call(g, x); /* lies as the function wants it */
    printf("waited %.1f us\n", median_of_calls(g, x, true));
    printf("handed over %.1f us\n", median_of_calls(g, x, false));
}
