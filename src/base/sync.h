/* sync.h - threads, waiting on an address, a lock of one word, the clock, and what the machine lets us use.
 *
 * Modules that share data use C's atomic operations directly, always with an explicit order and a
 * comment that says why it is enough: for acquire and release, the operation that it pairs with. */
#ifndef TUTTI_BASE_SYNC_H
#define TUTTI_BASE_SYNC_H
#include "base/error.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Starts as 0.  Held for a few lines of straight code only: a thread that holds one does not wait,
 * allocate much or call foreign code. */
typedef _Atomic int Lock;
void lock_wait(Lock *lock); /* takes a lock that another thread has */
void lock_wake(Lock *lock); /* wakes a thread that may be asleep on it */

/* False: another thread has it. */
static inline bool lock_try(Lock *lock)
{
    int seen = 0;
    /* acquire: pairs with the release in lock_give */
    return atomic_compare_exchange_strong_explicit(lock, &seen, 1, memory_order_acquire,
                                                   memory_order_relaxed);
}

static inline void lock_take(Lock *lock)
{
    if (!lock_try(lock))
        lock_wait(lock);
}

static inline void lock_give(Lock *lock)
{
    /* release: pairs with the acquires in lock_try and lock_wait */
    if (atomic_exchange_explicit(lock, 0, memory_order_release) == 2)
        lock_wake(lock);
}

/* Sleeps while *at is `seen`; may return for no reason, so the caller looks again. */
void address_wait(_Atomic int *at, int seen);
void address_wake(_Atomic int *at, int n); /* up to n sleepers */
enum { WAKE_ALL = 0x7fffffff };

/* Time that only goes on, in ns from some moment. */
int64_t clock_now_ns(void);

/* One iteration of a loop that waits for another thread to write. */
void spin_pause(void);

typedef struct Thread {
    pthread_t id;
    void *stack; /* a deep one; NULL: the system's */
} Thread;
typedef void ThreadFn(void *user);

/* The thread takes no signals sent to the process: those are for the caller's threads. */
MUST_USE Error *thread_start(Thread *thread, const char *name, ThreadFn *f, void *user);
void thread_join(Thread *thread);

/* A thread with a stack of 256 MiB, for code that recurses as deeply as a program nests.  Memory is
 * taken only as far as the stack is used. */
MUST_USE Error *thread_start_deep(Thread *thread, const char *name, ThreadFn *f, void *user);
/* Calls f on such a thread, under a guard (base/guard.h), and waits for its end; or on the calling
 * thread, if that has such a stack.  An error: f did not begin, or was left for want of memory. */
MUST_USE Error *thread_run_deep(const char *name, ThreadFn *f, void *user);

/* Cores that affinity and the cgroup's quota allow this process; at least 1. */
int cores_allowed(void);

/* How many forks lie between this process and the first that asked.  An object that keeps threads
 * or locks remembers the number at its start: another number later means that they stayed with the
 * parent. */
int fork_generation(void);

/* For tests: when TUTTI_YIELD is set, the calling thread gives its core away for a random while. */
extern _Atomic int yields; /* 0: no; else yield_now knows */
void yield_now(void);
static inline void yield_at_random(void)
{
    /* relaxed: every thread finds the same answer */
    if (atomic_load_explicit(&yields, memory_order_relaxed))
        yield_now();
}
#endif
