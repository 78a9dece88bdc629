/* fft_kept.c - plans of Fourier transforms, kept from call to call: by the length, and for whom.
 *
 * A plan's roots of unity take as long as some ten lines of its length.  An operation that finds none makes
 * one, and offers it when it has ended; the one that was not in use for longest goes. */
#include "engine/numerics/fft.h"

#include <pthread.h>

enum { MOST_KEPT = 16, LONGEST = 1 << 14 };

static struct {
    pthread_mutex_t lock;
    uint64_t clock;
    struct Kept {
        FftKey key;
        const void *plan;
        Arena *arena; /* NULL: the place is empty */
        int holders;
        uint64_t used;
    } at[MOST_KEPT];
} kept = { .lock = PTHREAD_MUTEX_INITIALIZER };

static bool is_same(FftKey a, FftKey b)
{
    return a.type == b.type && a.n == b.n && a.is_real == b.is_real;
}

static struct Kept *find(FftKey key)
{
    for (int i = 0; i < MOST_KEPT; i++)
        if (kept.at[i].arena && is_same(kept.at[i].key, key))
            return &kept.at[i];
    return NULL;
}

const void *fft_plan_hold(FftKey key)
{
    pthread_mutex_lock(&kept.lock);
    struct Kept *k = find(key);
    const void *plan = k ? k->plan : NULL;
    if (k) {
        k->holders++;
        k->used = ++kept.clock;
    }
    pthread_mutex_unlock(&kept.lock);
    return plan;
}

void fft_plan_release(FftKey key)
{
    pthread_mutex_lock(&kept.lock);
    find(key)->holders--;
    pthread_mutex_unlock(&kept.lock);
}

/* Where a plan may go: an empty place, else that of the one not used for longest; NULL: all are in use. */
static struct Kept *place(void)
{
    struct Kept *oldest = NULL;
    for (int i = 0; i < MOST_KEPT; i++) {
        struct Kept *k = &kept.at[i];
        if (!k->arena)
            return k;
        if (!k->holders && (!oldest || k->used < oldest->used))
            oldest = k;
    }
    return oldest;
}

void fft_plan_offer(FftKey key, const void *plan, Arena *arena)
{
    pthread_mutex_lock(&kept.lock);
    struct Kept *k = key.n <= LONGEST && !find(key) ? place() : NULL;
    Arena *dropped = k ? k->arena : arena;
    if (k)
        *k = (struct Kept){ key, plan, arena, 0, ++kept.clock };
    pthread_mutex_unlock(&kept.lock);
    arena_free(dropped);
}

void fft_plans_end(void)
{
    for (int i = 0; i < MOST_KEPT; i++) {
        arena_free(kept.at[i].arena);
        kept.at[i].arena = NULL;
    }
}
