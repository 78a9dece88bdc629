/* judge.c - looks at examples/exercise.c: runs its functions on as many devices as there are and compares
 * them with plain loops over all numbers.  Says what is wrong, by how much, and what may be missing. */
#include "exercise.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

TT_FUN(tt, step, tt, tt, tt);

enum { EACH = 3, MOST = 64 };

static int failures;

/* Numbers that differ from device to device. */
static float number(int i)
{
    return (float)((i * 37 + 11) % 23) / 4 - 2;
}

static void compare(const char *what, int n, int each, const float *got, const float *right,
                    const char *hint)
{
    for (int i = 0; i < n * each; i++) {
        if (fabsf(got[i] - right[i]) <= 1e-4f * (1 + fabsf(right[i])))
            continue;
        printf("  %s: on device %d of %d it gives %g where %g is right.\n    %s\n", what, i / each,
               n, (double)got[i], (double)right[i], hint);
        failures++;
        return;
    }
    printf("  %s: right\n", what);
}

static bool has_shape(const char *what, tt x, int n, int each)
{
    tt_dims dims = tt_shape(x);
    int64_t count = 1;
    for (int i = 0; i < dims.n; i++)
        count *= dims.v[i];
    if (count == (int64_t)n * each)
        return true;
    printf("  %s: it gives %s; %d numbers on each of %d devices are right\n", what, tt_describe(x),
           each, n);
    failures++;
    return false;
}

static void judge_center(int n)
{
    float x[MOST * EACH], got[MOST * EACH], mean = 0;
    for (int i = 0; i < n * EACH; i++)
        mean += (x[i] = number(i)) / (float)(n * EACH);
    tt y = tt_call(tt_pmap(center, .axis_name = "i"), tt_from(x, n, EACH));
    if (!has_shape("center", y, n, EACH))
        return;
    tt_read(y, got, sizeof(float) * (size_t)(n * EACH));
    for (int i = 0; i < n * EACH; i++)
        x[i] -= mean;
    compare(
        "center", n, EACH, got, x,
        "the mean of this device's numbers alone is tt_mean(x); tt_pmean(..., \"i\") takes it over "
        "all devices");
}

static void judge_step(int n)
{
    float w[2] = { 1, -1 }, x[MOST * EACH * 2], y[MOST * EACH], slope[2] = { 0 };
    float got[MOST * 2], right[MOST * 2];
    for (int i = 0; i < n * EACH; i++) {
        x[2 * i] = number(2 * i);
        x[2 * i + 1] = number(2 * i + 1);
        y[i] = number(5 * i + 2);
        float off = x[2 * i] * w[0] + x[2 * i + 1] * w[1] - y[i];
        for (int k = 0; k < 2; k++)
            slope[k] += 2 * off * x[2 * i + k] / (float)(n * EACH);
    }
    for (int i = 0; i < n * 2; i++)
        right[i] = w[i % 2] - 0.1f * slope[i % 2];
    tt_fn f = tt_pmap(step, .axis_name = "i", .in_axes = { TT_NONE, 0, 0 });
    tt out = tt_call(f, tt_from(w, 2), tt_from(x, n, EACH, 2), tt_from(y, n, EACH));
    if (!has_shape("step", out, n, 2))
        return;
    tt_read(out, got, sizeof(float) * (size_t)(n * 2));
    bool differs = false;
    for (int i = 0; i < n * 2; i++)
        differs |= fabsf(got[i] - got[i % 2]) > 1e-6f;
    compare("step", n, 2, got, right,
            differs ? "the devices go different ways: average their gradients before the step, by "
                      "tt_pmean(..., \"i\")"
                    : "the gradient of tt_mean(tt_square(tt_sub(tt_matmul(x, w), y))) by w is "
                      "tt_grad's; the step is 0.1 of it");
}

static void judge_winner(int n)
{
    float x[MOST * EACH], got[MOST], right[MOST], best = -INFINITY;
    for (int d = 0; d < n; d++) {
        right[d] = -INFINITY;
        for (int i = 0; i < EACH; i++) {
            x[d * EACH + i] = number(3 * (d * EACH + i) + 1) + (float)d / 8;
            right[d] = fmaxf(right[d], x[d * EACH + i]);
        }
        best = fmaxf(best, right[d]);
    }
    for (int d = 0; d < n; d++)
        right[d] = right[d] == best ? best : 0;
    tt y = tt_call(tt_pmap(winner, .axis_name = "i"), tt_from(x, n, EACH));
    if (!has_shape("winner", y, n, 1))
        return;
    tt_read(y, got, sizeof(float) * (size_t)n);
    compare("winner", n, 1, got, right,
            "tt_pmax(..., \"i\") is the largest of all; tt_where keeps it where this device's own "
            "largest is as large");
}

int main(void)
{
    int n = tt_device_count();
    printf("%d device%s\n", n, n == 1 ? "" : "s");
    judge_center(n);
    judge_step(n);
    judge_winner(n);
    return failures != 0;
}
