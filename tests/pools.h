/* pools.h - threads of a caller's own, as it may lend them to a runtime: some that take jobs from a
 * list, none until the end, and the thread that submits itself. */
#ifndef TUTTI_TESTS_POOLS_H
#define TUTTI_TESTS_POOLS_H
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

enum { POOL_THREADS = 3 };

typedef struct PoolJob {
    void (*call)(void *);
    void *at;
    struct PoolJob *next;
} PoolJob;

typedef struct Threads {
    pthread_mutex_t lock;
    pthread_cond_t news;
    PoolJob *jobs;
    bool ends;
    int nsubmitted, ncalled; /* under the lock; read when the threads have ended */
    int nthreads;
    pthread_t at[POOL_THREADS];
} Threads;

/* Calls jobs; without any, waits for one, or for the end. */
static inline void *pool_thread(void *user)
{
    Threads *pool = user;
    pthread_mutex_lock(&pool->lock);
    for (;;) {
        PoolJob *job = pool->jobs;
        if (!job && pool->ends)
            break;
        if (!job) {
            pthread_cond_wait(&pool->news, &pool->lock);
            continue;
        }
        pool->jobs = job->next;
        pool->ncalled++;
        pthread_mutex_unlock(&pool->lock);
        job->call(job->at);
        free(job);
        pthread_mutex_lock(&pool->lock);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

static inline void pool_submit(void *user, void (*call)(void *), void *at)
{
    Threads *pool = user;
    PoolJob *job = malloc(sizeof *job);
    if (!job)
        abort();
    pthread_mutex_lock(&pool->lock);
    *job = (PoolJob){ call, at, pool->jobs };
    pool->jobs = job;
    pool->nsubmitted++;
    pthread_mutex_unlock(&pool->lock);
    pthread_cond_signal(&pool->news);
}

static inline void pool_call_at_once(void *user, void (*call)(void *), void *at)
{
    (void)user;
    call(at);
}

static inline void pool_start(Threads *pool, int nthreads)
{
    *pool = (Threads){ .lock = PTHREAD_MUTEX_INITIALIZER, .news = PTHREAD_COND_INITIALIZER };
    while (pool->nthreads < nthreads)
        if (pthread_create(&pool->at[pool->nthreads++], NULL, pool_thread, pool))
            abort();
}

/* Calls what is left, also without threads. */
static inline void pool_join(Threads *pool)
{
    pthread_mutex_lock(&pool->lock);
    pool->ends = true;
    pthread_mutex_unlock(&pool->lock);
    pthread_cond_broadcast(&pool->news);
    for (int i = 0; i < pool->nthreads; i++)
        pthread_join(pool->at[i], NULL);
    pool_thread(pool);
}
#endif
