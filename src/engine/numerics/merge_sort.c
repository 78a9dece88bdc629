/* merge_sort.c - a stable merge sort of numbers by a comparison.
 *
 * In: how many, and which goes before which.  Out: their order.  Short runs are sorted by
 * insertion, then runs are merged in pairs, from one half of the memory into the other:
 *
 *     [3 1 2 | 5 4 0]  ->  [1 2 3 | 0 4 5]  ->  [0 1 2 3 4 5] */
#include "engine/numerics/numerics.h"

#include "engine/memory/thread_memory.h"
#include "engine/slices.h"

enum { RUN = 12 };

static void insert_run(int64_t *at, int64_t n, SortLess *less, const void *context)
{
    for (int64_t i = 1; i < n; i++) {
        int64_t x = at[i], j = i;
        for (; j > 0 && less(context, x, at[j - 1]); j--)
            at[j] = at[j - 1];
        at[j] = x;
    }
}

/* from[0, half) and from[half, n), both sorted, into to. */
static void merge(int64_t *to, const int64_t *from, int64_t half, int64_t n, SortLess *less,
                  const void *context)
{
    int64_t i = 0, j = half;
    for (int64_t k = 0; k < n; k++)
        if (i < half && (j >= n || !less(context, from[j], from[i])))
            to[k] = from[i++];
        else
            to[k] = from[j++];
}

const int64_t *sort_order(const Frame *frame, int64_t n, SortLess *less, const void *context)
{
    int64_t *from = thread_memory_get(THREAD_MEMORY_ORDER, sizeof *from * 2 * (size_t)n),
            *to = from ? from + n : NULL;
    if (!from) {
        frame_fail(frame, error_new(CODE_EXHAUSTED,
                                    "no memory to sort %lld elements: %zu bytes for their order",
                                    (long long)n, sizeof *from * 2 * (size_t)n));
        return NULL;
    }
    for (int64_t i = 0; i < n; i++)
        from[i] = i;
    for (int64_t i = 0; i < n; i += RUN)
        insert_run(from + i, n - i < RUN ? n - i : RUN, less, context);
    for (int64_t run = RUN; run < n; run *= 2) {
        for (int64_t i = 0; i < n; i += 2 * run) {
            int64_t all = n - i < 2 * run ? n - i : 2 * run;
            merge(to + i, from + i, run < all ? run : all, all, less, context);
        }
        int64_t *other = from;
        from = to;
        to = other;
    }
    return from;
}
