/* fft.c - Fourier transforms over the last dimensions of an array.
 *
 * In: reals or complex numbers; out: their transform, in the same precision.  The work is in
 * fft_body.h, once for f32 and once for f64; here are the roots of unity, which are computed in
 * f64 for both: e^(2 pi i k / n) is the product of two entries of short tables, one for the high
 * bits of k and one for the low ones, so that n roots cost some sqrt(n) sines. */
#include "engine/run/fft.h"

#include "base/arena.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { FFT, IFFT, RFFT, IRFFT };

enum { FFT_MOST = 128 }; /* the largest factor that a pass takes; above, Bluestein */

typedef struct Pair {
    double r, i;
} Pair;

typedef struct Roots {
    int64_t n, mask;
    int shift;
    Pair *low, *high;
} Roots;

/* e^(2 pi i x / n), from sines and cosines of at most an eighth of a turn. */
static Pair exact_root(int64_t x, int64_t n, double angle)
{
    x *= 8;
    bool is_lower = x >= 4 * n;
    if (is_lower)
        x = 8 * n - x;
    bool is_left = x >= 2 * n;
    if (is_left)
        x -= 2 * n;
    bool is_steep = x >= n;
    double a = (double)(is_steep ? 2 * n - x : x) * angle, c = cos(a), s = sin(a);
    Pair p = is_steep ? (Pair){ s, c } : (Pair){ c, s };
    if (is_left)
        p = (Pair){ -p.i, p.r };
    return is_lower ? (Pair){ p.r, -p.i } : p;
}

static Roots roots_new(Arena *arena, int64_t n)
{
    Roots roots = { .n = n, .shift = 1 };
    double angle = (double)(0.25L * 3.141592653589793238462643383279502884197L / (long double)n);
    int64_t count = (n + 2) / 2;
    while ((INT64_C(1) << roots.shift) * (INT64_C(1) << roots.shift) < count)
        roots.shift++;
    roots.mask = (INT64_C(1) << roots.shift) - 1;
    int64_t nhigh = (count + roots.mask) / (roots.mask + 1);
    roots.low = ARENA_ARRAY(arena, Pair, roots.mask + 1);
    roots.high = ARENA_ARRAY(arena, Pair, nhigh);
    roots.low[0] = roots.high[0] = (Pair){ 1, 0 };
    for (int64_t i = 1; i <= roots.mask; i++)
        roots.low[i] = exact_root(i, n, angle);
    for (int64_t i = 1; i < nhigh; i++)
        roots.high[i] = exact_root(i * (roots.mask + 1), n, angle);
    return roots;
}

static void roots_get(const Roots *roots, int64_t k, double *re, double *im)
{
    bool is_lower = 2 * k > roots->n;
    if (is_lower)
        k = roots->n - k;
    Pair x = roots->low[k & roots->mask], y = roots->high[k >> roots->shift];
    *re = x.r * y.r - x.i * y.i;
    *im = x.r * y.i + x.i * y.r;
    if (is_lower)
        *im = -*im;
}

/* How long a convolution must be to do a line of n numbers; 0: n has only small factors. */
static int64_t bluestein_size(int64_t n)
{
    int64_t rest = n, size = 1;
    for (int64_t p = 2; p < FFT_MOST && rest > 1; p++)
        while (rest % p == 0)
            rest /= p;
    if (rest <= 1)
        return 0;
    while (size < 2 * n - 1)
        size *= 2;
    return size;
}

#define REAL float
#define NAME(x) f32_##x
#include "engine/run/fft_body.h"

#define REAL double
#define NAME(x) f64_##x
#include "engine/run/fft_body.h"

void fft_transform(Type in, Type out, int type, int naxes, const void *from, void *to)
{
    Arena *arena = arena_new();
    bool is_f32 = element_part(in.element) == F32;
    (is_f32 ? f32_transform : f64_transform)(arena, type, naxes, in.rank, in.dims, out.dims, from,
                                             to);
    arena_free(arena);
}
