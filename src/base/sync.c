/* sync.c - Linux futexes, POSIX threads, and the files in which the kernel says how many cores
 * this process may use.
 *
 * A lock is one word:   0 free    1 taken    2 taken, and a thread may be asleep on it
 * Only a release from 2 enters the kernel, so an uncontended pair costs two atomic operations. */
#define _GNU_SOURCE /* affinity, names of threads */
#include "base/sync.h"

#include "base/guard.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

void address_wait(_Atomic int *at, int seen)
{
    syscall(SYS_futex, at, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
}

void address_wake(_Atomic int *at, int n)
{
    syscall(SYS_futex, at, FUTEX_WAKE_PRIVATE, n, NULL, NULL, 0);
}

int64_t clock_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void spin_pause(void)
{
#if defined __x86_64__
    __builtin_ia32_pause();
#elif defined __aarch64__
    __asm__ volatile("yield");
#endif
}

void lock_wait(Lock *lock)
{
    for (int i = 0; i < 100; i++) {
        spin_pause();
        /* relaxed: only a look; lock_try decides */
        if (!atomic_load_explicit(lock, memory_order_relaxed) && lock_try(lock))
            return;
    }
    /* acquire: pairs with the release in lock_give; 2 asks the holder for a wake-up */
    while (atomic_exchange_explicit(lock, 2, memory_order_acquire) != 0)
        address_wait(lock, 2);
}

void lock_wake(Lock *lock)
{
    address_wake(lock, 1);
}

enum { DEEP_BYTES = 256 << 20, GUARD_BYTES = 4096 };

typedef struct ThreadStart {
    char name[16]; /* the system takes no more */
    ThreadFn *f;
    void *user;
    bool is_deep;
} ThreadStart;

static _Thread_local bool is_deep;

static void *thread_main(void *user)
{
    ThreadStart start = *(ThreadStart *)user;
    free(user);
    is_deep = start.is_deep;
    /* of another thread it would be a file to be written */
    pthread_setname_np(pthread_self(), start.name);
    start.f(start.user);
    return NULL;
}

/* Signals sent to the process are for the caller's threads; those that a thread raises by a fault
 * of its own must reach their handler (Python's faulthandler, a tracer). */
static void signals_held(sigset_t *held)
{
    static const int own[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP };
    sigfillset(held);
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        sigdelset(held, own[i]);
}

/* Without huge pages: with them the first word on the stack would take 2 MiB. */
static void *stack_new(void)
{
    void *stack = mmap(NULL, DEEP_BYTES, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (stack == MAP_FAILED)
        return NULL;
    madvise(stack, DEEP_BYTES, MADV_NOHUGEPAGE);
    mprotect(stack, GUARD_BYTES, PROT_NONE);
    return stack;
}

static void stack_free(void *stack)
{
    if (stack)
        munmap(stack, DEEP_BYTES);
}

/* On thread->stack, or on one of the system's if that is NULL. */
static Error *start_on(Thread *thread, const char *name, ThreadFn *f, void *user)
{
    ThreadStart *start = malloc(sizeof *start);
    if (!start)
        return error_new(CODE_EXHAUSTED, "no memory to start thread %s", name);
    *start = (ThreadStart){ .f = f, .user = user, .is_deep = thread->stack };
    snprintf(start->name, sizeof start->name, "%s", name);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    if (thread->stack)
        pthread_attr_setstack(&attributes, thread->stack, DEEP_BYTES);
    sigset_t held, before;
    signals_held(&held);
    pthread_sigmask(SIG_SETMASK, &held, &before);
    int refused = pthread_create(&thread->id, &attributes, thread_main, start);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    if (refused) {
        free(start);
        return error_new(CODE_EXHAUSTED, "thread %s does not start: %s", name, strerror(refused));
    }
    return NULL;
}

Error *thread_start(Thread *thread, const char *name, ThreadFn *f, void *user)
{
    *thread = (Thread){ 0 };
    return start_on(thread, name, f, user);
}

Error *thread_start_deep(Thread *thread, const char *name, ThreadFn *f, void *user)
{
    *thread = (Thread){ .stack = stack_new() };
    if (!thread->stack)
        return error_new(CODE_EXHAUSTED, "no memory for a stack of %d MiB, thread %s",
                         DEEP_BYTES >> 20, name);
    Error *error = start_on(thread, name, f, user);
    if (error)
        stack_free(thread->stack);
    return error;
}

void thread_join(Thread *thread)
{
    pthread_join(thread->id, NULL);
    stack_free(thread->stack);
}

typedef struct DeepCall {
    const char *name;
    ThreadFn *f;
    void *user;
    Guard *around;
    Error *error;
} DeepCall;

static void deep_call(void *user)
{
    DeepCall *call = user;
    call->error = guard_run_in(call->around, call->name, call->f, call->user);
}

Error *thread_run_deep(const char *name, ThreadFn *f, void *user)
{
    if (is_deep)
        return guard_run(name, f, user);
    DeepCall call = { name, f, user, guard_here(), NULL };
    Thread thread;
    TRY(thread_start_deep(&thread, name, deep_call, &call));
    thread_join(&thread);
    return call.error;
}

static int cores_by_affinity(void)
{
    for (int room = 1024; room <= 1 << 20; room *= 2) {
        cpu_set_t *set = CPU_ALLOC(room);
        if (!set)
            return 1;
        size_t bytes = CPU_ALLOC_SIZE(room);
        bool is_known = sched_getaffinity(0, bytes, set) == 0;
        int n = is_known ? CPU_COUNT_S(bytes, set) : 0;
        bool is_too_small = !is_known && errno == EINVAL;
        CPU_FREE(set);
        if (!is_too_small)
            return n > 0 ? n : 1;
    }
    return 1;
}

/* The numbers with which a file of a cgroup begins, at most two: how many ("max 100000" has none); -1:
 * there is no such file.  Not by fscanf, which takes 100 KB of a static program. */
static int numbers_in(const char *folder, const char *name, long long *numbers)
{
    char path[PATH_MAX + 32], line[64];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "re");
    if (!file)
        return -1;
    bool is_read = fgets(line, sizeof line, file);
    fclose(file);
    int n = 0;
    for (char *at = line, *end; is_read && n < 2; at = end, n++) {
        numbers[n] = strtoll(at, &end, 10);
        if (end == at)
            break;
    }
    return n;
}

/* The quota in one cgroup folder, in cores rounded up; INT_MAX: none. */
static int quota_in(const char *folder)
{
    long long version_2[2], version_1[2], quota = -1, period = 0;
    int n = numbers_in(folder, "cpu.max", version_2);
    if (n == 2) {
        quota = version_2[0];
        period = version_2[1];
    } else if (n < 0 && numbers_in(folder, "cpu.cfs_quota_us", version_1) == 1) {
        quota = version_1[0];
        period = numbers_in(folder, "cpu.cfs_period_us", version_1) == 1 ? version_1[0] : 0;
    }
    if (quota <= 0 || period <= 0)
        return INT_MAX;
    long long cores = (quota + period - 1) / period;
    return cores < INT_MAX ? (int)cores : INT_MAX;
}

/* The smallest quota on the way from a cgroup up to the root of its hierarchy. */
static int quota_upwards(const char *mount, const char *group)
{
    char folder[PATH_MAX];
    int cores = INT_MAX;
    int n = snprintf(folder, sizeof folder, "%s%s", mount, strcmp(group, "/") ? group : "");
    if (n < 0 || n >= (int)sizeof folder)
        return cores;
    for (;;) {
        int here = quota_in(folder);
        cores = here < cores ? here : cores;
        char *slash = strrchr(folder, '/');
        if (!slash || (size_t)(slash - folder) < strlen(mount))
            return cores;
        *slash = 0;
    }
}

/* Lines of /proc/self/cgroup: "0::/a/b" (version 2), "4:cpu,cpuacct:/a/b" (version 1). */
static int cores_by_quota(void)
{
    FILE *file = fopen("/proc/self/cgroup", "re");
    if (!file)
        return INT_MAX;
    int cores = INT_MAX;
    char line[PATH_MAX];
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = 0;
        char *controllers = strchr(line, ':');
        char *group = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!group)
            continue;
        *group++ = 0;
        controllers++;
        char mount[PATH_MAX + 16];
        if (*controllers == 0)
            snprintf(mount, sizeof mount, "/sys/fs/cgroup");
        else if (!strncmp(controllers, "cpu,", 4) || !strcmp(controllers, "cpu"))
            snprintf(mount, sizeof mount, "/sys/fs/cgroup/%s", controllers);
        else
            continue;
        int here = quota_upwards(mount, group);
        cores = here < cores ? here : cores;
    }
    fclose(file);
    return cores;
}

int cores_allowed(void)
{
    int by_affinity = cores_by_affinity(), by_quota = cores_by_quota();
    return by_affinity < by_quota ? by_affinity : by_quota;
}

/* Written in the child of a fork before any other thread can exist there. */
static _Atomic int forks;
static pthread_once_t forks_watched = PTHREAD_ONCE_INIT;

static void count_fork(void)
{
    /* relaxed: the child has one thread */
    atomic_fetch_add_explicit(&forks, 1, memory_order_relaxed);
}

static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, count_fork);
}

int fork_generation(void)
{
    pthread_once(&forks_watched, watch_forks);
    return atomic_load_explicit(&forks, memory_order_relaxed); /* see count_fork */
}

_Atomic int yields = -1; /* -1: the environment has not been read yet */

void yield_now(void)
{
    int on = atomic_load_explicit(&yields, memory_order_relaxed); /* see yield_at_random */
    if (on < 0) {
        on = getenv("TUTTI_YIELD") != NULL;
        atomic_store_explicit(&yields, on, memory_order_relaxed);
    }
    if (!on)
        return;
    static _Thread_local uint64_t state;
    if (!state)
        state = (uint64_t)(uintptr_t)&state | 1;
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    if (state % 4 == 0)
        sched_yield();
    else if (state % 16 == 1)
        nanosleep(&(struct timespec){ 0, (long)(state >> 32) % 50000 }, NULL);
}
