/* thread_memory.c - blocks of memory that a thread keeps: they go when it ends, or with the engine.
 *
 * A thread may outlive the engine, which then cannot be called at the thread's end: so the blocks
 * of all threads are in a list. */
#include "engine/memory/thread_memory.h"

#include "base/sync.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

typedef struct Own {
    void *at[THREAD_MEMORY_USES];
    size_t bytes[THREAD_MEMORY_USES];
    struct Own *next, **link;
} Own;

static Lock lock; /* of the list */
static Own *all;

static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool has_key;

static void own_free(void *user)
{
    Own *own = user;
    lock_take(&lock);
    *own->link = own->next;
    if (own->next)
        own->next->link = own->link;
    lock_give(&lock);
    for (int use = 0; use < THREAD_MEMORY_USES; use++)
        free(own->at[use]);
    free(own);
}

static void begin(void)
{
    has_key = !pthread_key_create(&key, own_free);
}

static Own *own_new(void)
{
    Own *own = calloc(1, sizeof *own);
    if (!own || pthread_setspecific(key, own)) {
        free(own);
        return NULL;
    }
    lock_take(&lock);
    own->next = all;
    own->link = &all;
    if (all)
        all->link = &own->next;
    all = own;
    lock_give(&lock);
    return own;
}

void *thread_memory_get(ThreadMemoryUse use, size_t bytes)
{
    pthread_once(&once, begin);
    if (!has_key)
        return NULL;
    Own *own = pthread_getspecific(key);
    if (!own && !(own = own_new()))
        return NULL;
    if (!own->at[use] || own->bytes[use] < bytes) {
        size_t rounded = (bytes / 4096 + 1) * 4096;
        free(own->at[use]);
        own->at[use] = aligned_alloc(64, rounded);
        own->bytes[use] = own->at[use] ? rounded : 0;
    }
    return own->at[use];
}

void thread_memory_end(void)
{
    if (has_key)
        pthread_key_delete(key); /* from here on no thread's end calls own_free */
    has_key = false;
    while (all)
        own_free(all);
}
