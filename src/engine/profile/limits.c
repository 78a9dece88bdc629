/* limits.c - measures a product in the cache and a copy through memory: the two ends between which
 * kernels lie.  The best of a few tries counts, for other threads may be in the way. */
#include "engine/profile/limits.h"

#include "base/guard.h"
#include "base/sync.h"
#include "engine/numerics/numerics.h"

#include <string.h>

static double best_of(double a, double b)
{
    return a > b ? a : b;
}

Limits limits_measure(void)
{
    enum { SIDE = 256, COPIED = 32 << 20, TRIES = 5 };
    Limits l = { 1e-9, 1e-9 };
    float *a = heap_new(sizeof(float) * 3 * SIDE * SIDE, "a measurement");
    float *b = a + SIDE * SIDE, *c = b + SIDE * SIDE;
    char *from = heap_new(2 * (size_t)COPIED, "a measurement");
    memset(from, 1, COPIED);
    for (int i = 0; i < TRIES; i++) {
        int64_t began = clock_now_ns();
        gemm(NULL, GEMM_F32, SIDE, SIDE, SIDE, a, SIDE, 1, b, SIDE, 1, c, SIDE);
        double ns = (double)(clock_now_ns() - began);
        l.gflops = best_of(l.gflops, ns > 0 ? 2.0 * SIDE * SIDE * SIDE / ns : 0);
    }
    for (int i = 0; i < TRIES; i++) {
        int64_t began = clock_now_ns();
        memcpy(from + COPIED, from, COPIED);
        double ns = (double)(clock_now_ns() - began);
        l.gbytes = best_of(l.gbytes, ns > 0 ? 2.0 * COPIED / ns : 0);
    }
    heap_free(from);
    heap_free(a);
    return l;
}
