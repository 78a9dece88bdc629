/* thread_memory.c - scratch blocks of threads, freed when the thread ends or the engine is
 * unloaded.
 *
 * A thread may outlive the engine, whose code then cannot be called at the thread's end: so the
 * blocks of all threads are in a list, which thread_memory_end frees. */
#include "engine/memory/thread_memory.h"

#include "base/sync.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>

typedef struct Blocks {
    void *at[THREAD_MEMORY_USES];
    size_t bytes[THREAD_MEMORY_USES];
    struct Blocks *next, **link;
} Blocks;

static Lock lock; /* of the list */
static Blocks *all;

static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool has_key;

static void blocks_free(void *user)
{
    Blocks *blocks = user;
    lock_take(&lock);
    *blocks->link = blocks->next;
    if (blocks->next)
        blocks->next->link = blocks->link;
    lock_give(&lock);
    for (int use = 0; use < THREAD_MEMORY_USES; use++)
        free(blocks->at[use]);
    free(blocks);
}

static void make_key(void)
{
    has_key = !pthread_key_create(&key, blocks_free);
}

static Blocks *blocks_new(void)
{
    Blocks *blocks = calloc(1, sizeof *blocks);
    if (!blocks || pthread_setspecific(key, blocks)) {
        free(blocks);
        return NULL;
    }
    lock_take(&lock);
    blocks->next = all;
    blocks->link = &all;
    if (all)
        all->link = &blocks->next;
    all = blocks;
    lock_give(&lock);
    return blocks;
}

/* A large block is made of large pages: panels lie far apart, and each is the less often looked up. */
static void *block_new(size_t *bytes)
{
    enum { PAGE = 4096, HUGE_PAGE = 2 << 20 };
    size_t unit = *bytes >= HUGE_PAGE ? HUGE_PAGE : PAGE;
    *bytes = (*bytes / unit + 1) * unit;
    void *at = aligned_alloc(unit, *bytes);
    if (at && unit == HUGE_PAGE)
        madvise(at, *bytes, MADV_HUGEPAGE); /* advice: without it pages are small */
    return at;
}

void *thread_memory_get(ThreadMemoryUse use, size_t bytes)
{
    pthread_once(&once, make_key);
    if (!has_key)
        return NULL;
    Blocks *blocks = pthread_getspecific(key);
    if (!blocks && !(blocks = blocks_new()))
        return NULL;
    if (!blocks->at[use] || blocks->bytes[use] < bytes) {
        free(blocks->at[use]);
        blocks->at[use] = block_new(&bytes);
        blocks->bytes[use] = blocks->at[use] ? bytes : 0;
    }
    return blocks->at[use];
}

void thread_memory_end(void)
{
    if (has_key)
        pthread_key_delete(key); /* from here on no thread's end calls blocks_free */
    has_key = false;
    while (all)
        blocks_free(all);
}
