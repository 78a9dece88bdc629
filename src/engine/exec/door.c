/* door.c - by which threads of the caller's come into an executor.
 *
 *     executor --submit(job)--> the caller's pool --job--> door --> executor_help, until there is no work
 *
 * A pool calls a job when it likes, maybe after the executor's end: so a job knows the door alone,
 * which lasts until the executor and every job have let go of it. */
#include "engine/exec/executor.h"
#include "engine/floats.h"

#include <stdlib.h>

typedef struct Door {
    Pool pool;            /* constant */
    Lock lock;            /* of: */
    Executor *executor;   /* NULL: it has ended, and the door is closed */
    _Atomic int ninside;  /* lent threads; raised under the lock, executor_free sleeps on it */
    _Atomic int nholders; /* the executor, and jobs that were not called to their end */
} Door;

static void door_release(Door *door)
{
    /* release and acquire: the last holder sees that the others are done with it */
    if (atomic_fetch_sub_explicit(&door->nholders, 1, memory_order_acq_rel) == 1)
        free(door);
}

/* What the pool calls. */
static void job(void *at)
{
    Door *door = at;
    lock_take(&door->lock);
    Executor *e = door->executor;
    atomic_fetch_add_explicit(&door->ninside, e != NULL, memory_order_relaxed); /* under the lock */
    lock_give(&door->lock);
    if (e) {
        executor_help(e);
        /* release: pairs with the acquire in door_close, after which the executor is gone */
        if (atomic_fetch_sub_explicit(&door->ninside, 1, memory_order_release) == 1)
            address_wake(&door->ninside, WAKE_ALL);
    }
    door_release(door);
}

Error *door_open(Executor *e, const Pool *pool, Door **out)
{
    Door *door = calloc(1, sizeof *door);
    if (!door)
        return error_new(CODE_EXHAUSTED, "no memory for threads of the caller's");
    door->pool = *pool;
    door->executor = e;
    atomic_init(&door->nholders, 1);
    *out = door;
    return NULL;
}

void door_submit(Door *door)
{
    /* relaxed: the caller is in a run, so the executor holds the door */
    atomic_fetch_add_explicit(&door->nholders, 1, memory_order_relaxed);
    Floats before = floats_enter_foreign();
    door->pool.submit(door->pool.user, job, door);
    floats_restore(before);
}

void door_close(Door *door)
{
    if (!door)
        return;
    lock_take(&door->lock);
    door->executor = NULL;
    lock_give(&door->lock);
    int n;
    /* acquire: pairs with the release in job */
    while ((n = atomic_load_explicit(&door->ninside, memory_order_acquire)))
        address_wait(&door->ninside, n);
    door_release(door);
}
