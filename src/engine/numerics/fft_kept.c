/* fft_kept.c - plans of Fourier transforms, kept from call to call: by the length, and for whom.
 *
 * A plan's roots of unity take as long as some ten lines of its length.  An operation that finds none makes
 * one, and offers it when it has ended; the one that was not in use for longest goes. */
#include "engine/numerics/fft.h"

#include <pthread.h>

enum { MOST_KEPT = 16, MOST_BYTES = 32 << 20, LARGEST = MOST_BYTES / 2 };

static struct {
    pthread_mutex_t lock;
    uint64_t clock;
    size_t bytes; /* of all plans */
    struct Kept {
        FftKey key;
        const void *plan;
        Arena *arena; /* NULL: the place is empty */
        size_t bytes;
        int holders;
        uint64_t used;
    } at[MOST_KEPT];
} kept = { .lock = PTHREAD_MUTEX_INITIALIZER };

static struct Kept *find(FftKey key)
{
    for (int i = 0; i < MOST_KEPT; i++)
        if (kept.at[i].arena && fft_keys_same(kept.at[i].key, key))
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

/* The plan that was not used for longest, of those that nobody holds; NULL: there is none. */
static struct Kept *oldest(void)
{
    struct Kept *found = NULL;
    for (int i = 0; i < MOST_KEPT; i++) {
        struct Kept *k = &kept.at[i];
        if (k->arena && !k->holders && (!found || k->used < found->used))
            found = k;
    }
    return found;
}

static void drop(struct Kept *k)
{
    kept.bytes -= k->bytes;
    arena_free(k->arena);
    k->arena = NULL;
}

/* An empty place, with room for so many bytes; NULL: there is none while others are in use. */
static struct Kept *place(size_t bytes)
{
    for (;;) {
        for (int i = 0; i < MOST_KEPT && kept.bytes + bytes <= MOST_BYTES; i++)
            if (!kept.at[i].arena)
                return &kept.at[i];
        struct Kept *old = oldest();
        if (!old)
            return NULL;
        drop(old);
    }
}

void fft_plan_offer(FftKey key, const void *plan, Arena *arena)
{
    pthread_mutex_lock(&kept.lock);
    size_t bytes = arena_bytes(arena);
    struct Kept *k = bytes <= LARGEST && !find(key) ? place(bytes) : NULL;
    if (k) {
        *k = (struct Kept){ key, plan, arena, bytes, 0, ++kept.clock };
        kept.bytes += bytes;
    }
    pthread_mutex_unlock(&kept.lock);
    if (!k)
        arena_free(arena);
}

void fft_plans_end(void)
{
    for (int i = 0; i < MOST_KEPT; i++)
        if (kept.at[i].arena)
            drop(&kept.at[i]);
}
