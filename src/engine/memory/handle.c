/* handle.c - the objects of the seam: made, and kept for a while when they are destroyed. */
#include "engine/memory/handle.h"

#include "base/sync.h"
#include "engine/memory/memory.h"

#include <stdlib.h>

#ifdef TUTTI_HOSTILE /* tests/hostile: what is left behind is counted */
enum { MOST_KEPT = 0 };
#else
enum { MOST_KEPT = 1024 }; /* of a kind */
#endif

/* An object that has been destroyed; the bytes behind this are poisoned. */
typedef struct Gone {
    Handle head; /* 0 */
    struct Gone *next;
} Gone;

static struct Pool {
    Lock lock;
    Gone *first; /* the one destroyed last */
    int n;
} pools[HANDLE_KINDS];

void *handle_new(HandleKind kind, size_t bytes)
{
    struct Pool *pool = &pools[kind];
    size_t room = bytes > sizeof(Gone) ? bytes : sizeof(Gone);
    lock_take(&pool->lock);
    Gone *gone = pool->first;
    if (gone) {
        pool->first = gone->next;
        pool->n--;
    }
    lock_give(&pool->lock);
    Handle *object = gone ? &gone->head : malloc(room);
    if (!object)
        return NULL;
    MEMORY_UNPOISON(object, room);
    object->tag = HANDLE_TAG(kind);
    return object;
}

void handle_free(HandleKind kind, void *object, size_t bytes)
{
    struct Pool *pool = &pools[kind];
    size_t room = bytes > sizeof(Gone) ? bytes : sizeof(Gone);
    Gone *gone = object;
    gone->head.tag = 0;
    MEMORY_POISON(gone + 1, room - sizeof *gone);
    lock_take(&pool->lock);
    bool keeps = pool->n < MOST_KEPT;
    if (keeps) {
        gone->next = pool->first;
        pool->first = gone;
        pool->n++;
    }
    lock_give(&pool->lock);
    if (keeps)
        return;
    MEMORY_UNPOISON(gone, room);
    free(gone);
}

void handle_pools_end(void)
{
    for (int kind = 0; kind < HANDLE_KINDS; kind++)
        while (pools[kind].first) {
            Gone *gone = pools[kind].first;
            pools[kind].first = gone->next;
            free(gone);
        }
}
