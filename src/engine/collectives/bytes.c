/* bytes.c - copies between the members' memory, past the caches where they would not help.
 *
 * A result that is larger than the caches is no longer in them when it is read; then ordinary
 * stores only cost a read of every line before it is overwritten.  Streaming stores leave that out:
 * two bytes of traffic for a byte copied, not three. */
#include "engine/collectives/collectives.h"

#include <string.h>
#if defined __x86_64__
#include <emmintrin.h>
#endif

enum { LINE = 64 };

#if defined __x86_64__
static void stream(char *to, const char *from, size_t n)
{
    size_t head = -(uintptr_t)to & (LINE - 1);
    head = head < n ? head : n;
    memcpy(to, from, head);
    size_t at = head;
    for (; at + LINE <= n; at += LINE)
        for (size_t k = 0; k < LINE; k += sizeof(__m128i))
            _mm_stream_si128((__m128i *)(to + at + k),
                             _mm_loadu_si128((const __m128i *)(from + at + k)));
    memcpy(to + at, from + at, n - at);
    _mm_sfence();
}
#else
static void stream(char *to, const char *from, size_t n)
{
    memcpy(to, from, n);
}
#endif

void bytes_move(char *to, const char *from, size_t n, bool streams)
{
    if (streams && n >= 4 * LINE)
        stream(to, from, n);
    else
        memcpy(to, from, n);
}

typedef char Vec __attribute__((vector_size(32), aligned(1), may_alias));
enum { ROW = 8 * sizeof(Vec) }; /* of one array, in registers */

static inline __attribute__((always_inline)) void row_copy(char *to, const char *from)
{
    Vec v[ROW / sizeof(Vec)];
#pragma GCC unroll 8
    for (size_t k = 0; k < ROW / sizeof(Vec); k++)
        v[k] = ((const Vec *)from)[k];
#pragma GCC unroll 8
    for (size_t k = 0; k < ROW / sizeof(Vec); k++)
        ((Vec *)to)[k] = v[k];
}

static inline __attribute__((always_inline)) void rotate(int n, char *const *at, size_t bytes,
                                                         bool is_ring)
{
    size_t done = 0;
    for (; done + ROW <= bytes; done += ROW) {
        Vec first[ROW / sizeof(Vec)] = { 0 };
        if (is_ring)
            row_copy((char *)first, at[0] + done);
        for (int r = 0; r + 1 < n; r++)
            row_copy(at[r] + done, at[r + 1] + done);
        row_copy(at[n - 1] + done, (const char *)first);
    }
    for (; done < bytes; done++) {
        char first = is_ring ? at[0][done] : 0;
        for (int r = 0; r + 1 < n; r++)
            at[r][done] = at[r + 1][done];
        at[n - 1][done] = first;
    }
}

static inline __attribute__((always_inline)) void spread(int n, char *const *to, const char *from,
                                                         size_t bytes)
{
    size_t done = 0;
    for (; done + ROW <= bytes; done += ROW) {
        Vec v[ROW / sizeof(Vec)];
        row_copy((char *)v, from + done);
        for (int i = 0; i < n; i++)
            row_copy(to[i] + done, (const char *)v);
    }
    for (int i = 0; i < n; i++)
        memcpy(to[i] + done, from + done, bytes - done);
}

#if defined __x86_64__
__attribute__((target("avx2"))) static void rotate_avx2(int n, char *const *at, size_t bytes,
                                                        bool is_ring)
{
    rotate(n, at, bytes, is_ring);
}

__attribute__((target("avx2"))) static void spread_avx2(int n, char *const *to, const char *from,
                                                        size_t bytes)
{
    spread(n, to, from, bytes);
}

static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2");
}
#else
#define rotate_avx2 rotate
#define spread_avx2 spread
static bool has_avx2(void)
{
    return false;
}
#endif

void bytes_rotate(int n, char *const *at, size_t bytes, bool is_ring)
{
    if (has_avx2())
        rotate_avx2(n, at, bytes, is_ring);
    else
        rotate(n, at, bytes, is_ring);
}

void bytes_spread(int n, char *const *to, const char *from, size_t bytes, bool streams)
{
    enum {
        SMALL = 16 << 10, /* larger, and one target after the other is as good */
        FEW = 4,          /* targets at like offsets that still fit the ways of the first cache */
    };
    if (n == 1 || streams || bytes > SMALL) {
        for (int i = 0; i < n; i++)
            bytes_move(to[i], from, bytes, streams);
        return;
    }
    void (*f)(int, char *const *, const char *, size_t) = has_avx2() ? spread_avx2 : spread;
    for (int i = 0; i < n; i += FEW)
        f(n - i < FEW ? n - i : FEW, to + i, from, bytes);
}
