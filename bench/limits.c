/* limits.c - what this machine can do at most: the yardsticks beside the benchmarks.
 *
 *   fma      f32 fused multiply-adds of one core, GFLOP/s
 *   memcpy   by size, of one core, GB/s of bytes copied (each is read and written)
 *   barrier  two threads on two cores meet, ns
 *
 * Best of several, since a limit is what the machine can do, not what it does on average. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Twelve independent chains hide the latency of an FMA on every core of the last decade. */
enum { CHAINS = 12, TURNS = 2000000 };
#define FMA_LOOP(name, isa, lanes)                                                                 \
    __attribute__((target(isa), noinline)) static float name(void)                                 \
    {                                                                                              \
        typedef float V __attribute__((vector_size(4 * lanes)));                                   \
        V x[CHAINS], a, b;                                                                         \
        for (int i = 0; i < lanes; i++)                                                            \
            a[i] = 0.999f, b[i] = 0.001f;                                                          \
        for (int c = 0; c < CHAINS; c++)                                                           \
            x[c] = a * (float)c;                                                                   \
        for (int t = 0; t < TURNS; t++)                                                            \
            _Pragma("GCC unroll 12") for (int c = 0; c < CHAINS; c++) x[c] = x[c] * a + b;         \
        float sum = 0;                                                                             \
        for (int c = 0; c < CHAINS; c++)                                                           \
            sum += x[c][0];                                                                        \
        return sum;                                                                                \
    }
FMA_LOOP(fma_512, "avx512f", 16)
FMA_LOOP(fma_256, "avx2,fma", 8)

static volatile float sink;

static double fma_peak(void)
{
    double best = 0;
    int lanes = __builtin_cpu_supports("avx512f") ? 16 : 8;
    for (int k = 0; k < 7; k++) {
        double start = now();
        sink = lanes == 16 ? fma_512() : fma_256();
        double rate = 2.0 * lanes * CHAINS * TURNS / (now() - start) / 1e9;
        best = rate > best ? rate : best;
    }
    return best;
}

static double memcpy_rate(size_t bytes)
{
    char *a = aligned_alloc(4096, bytes), *b = aligned_alloc(4096, bytes);
    if (!a || !b)
        exit(1);
    memset(a, 1, bytes);
    memset(b, 2, bytes);
    size_t times = ((size_t)256 << 20) / bytes;
    double best = 0;
    for (int k = 0; k < 7; k++) {
        double start = now();
        for (size_t i = 0; i < times; i++) {
            memcpy(b, a, bytes);
            __asm__ volatile("" ::"r"(b) : "memory");
        }
        double rate = (double)(bytes * times) / (now() - start) / 1e9;
        best = rate > best ? rate : best;
    }
    free(a);
    free(b);
    return best;
}

/* Each adds one and waits for the other: a barrier is two of these crossings. */
enum { MEETINGS = 200000 };
static _Atomic int64_t arrived;

static void *meet(void *unused)
{
    (void)unused;
    for (int64_t k = 1; k <= MEETINGS; k++) {
        atomic_fetch_add_explicit(&arrived, 1, memory_order_acq_rel);
        while (atomic_load_explicit(&arrived, memory_order_acquire) < 2 * k)
            __builtin_ia32_pause();
    }
    return NULL;
}

static double barrier_ns(void)
{
    double best = 1e9;
    for (int k = 0; k < 5; k++) {
        pthread_t other;
        atomic_store(&arrived, 0);
        double start = now();
        pthread_create(&other, NULL, meet, NULL);
        meet(NULL);
        pthread_join(other, NULL);
        double each = (now() - start) / MEETINGS * 1e9;
        best = each < best ? each : best;
    }
    return best;
}

int main(void)
{
    static const size_t sizes[] = { 4 << 10, 256 << 10, 4 << 20, 64 << 20 };
    printf("{\"limit\": \"fma\", \"value\": %.1f, \"unit\": \"GFLOP/s\"}\n", fma_peak());
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        printf("{\"limit\": \"memcpy %zu KB\", \"value\": %.1f, \"unit\": \"GB/s\"}\n",
               sizes[i] >> 10, memcpy_rate(sizes[i]));
    printf("{\"limit\": \"barrier of 2\", \"value\": %.0f, \"unit\": \"ns\"}\n", barrier_ns());
    return 0;
}
