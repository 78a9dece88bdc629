/* moves.c - what memcpy needs for the bytes that a collective must move: the contender that the
 * others are measured by.  It takes turns with them (run.py), by the same lines:
 *
 *     call COLLECTIVE_SIZE NDEVICES COUNT     times in ns, as ours.c answers
 *
 * A memcpy of B bytes reads B and writes B.  A collective that must read IN bytes and write OUT is
 * therefore set beside a memcpy of (IN + OUT) / 2, done by as many threads as there are cores, each
 * its share of every block.  What all devices get alike is counted once where the engine may
 * share it ("one shared"), else once a device:
 *
 *                      IN       OUT
 *     all_reduce       N S      S, shared
 *     all_gather       N S      N S, shared
 *     reduce_scatter   N S      S
 *     all_to_all       N S      N S
 *     permute          N S      N S
 *     broadcast        S        S, shared
 *     ragged           N S      N S
 *
 * COLLECTIVE_loop_SIZE is the collective ten thousand times in one launch: the copies are made as
 * often, one after the other.  There nothing is shared, so OUT is N S for each that all get alike,
 * and N N S for all_gather. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { MOST_THREADS = 64, SOLO_BYTES = 128 << 10, LOOP_TURNS = 10000 };

static int64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Half of what is read and written, in bytes. */
static size_t half_traffic(const char *work, size_t s, size_t n, bool is_loop)
{
    if (is_loop && strcmp(work, "all_gather") == 0)
        return (n * s + n * n * s) / 2;
    if (is_loop && strcmp(work, "broadcast") == 0)
        return (s + n * s) / 2;
    if (is_loop && strcmp(work, "all_reduce") == 0)
        return n * s;
    if (strcmp(work, "all_reduce") == 0 || strcmp(work, "reduce_scatter") == 0)
        return (n * s + s) / 2;
    return strcmp(work, "broadcast") == 0 ? s : n * s;
}

static char *pages(size_t bytes)
{
    size_t huge = (size_t)2 << 20, rounded = (bytes + huge - 1) / huge * huge;
    char *at = aligned_alloc(huge, rounded);
    if (!at) {
        fprintf(stderr, "no memory for %zu bytes\n", rounded);
        exit(1);
    }
    madvise(at, rounded, MADV_HUGEPAGE);
    memset(at, 1, rounded);
    return at;
}

typedef struct Crew {
    char *from, *to;
    size_t bytes;
    int n, count, again;        /* members; times to take; copies in each */
    _Atomic int started, ended; /* turns begun, and threads that are through with theirs */
} Crew;

typedef struct Member {
    Crew *crew;
    int number;
} Member;

static void copy_share(const Crew *c, int number)
{
    size_t line = 64, share = (c->bytes / (size_t)c->n + line - 1) / line * line;
    size_t at = share * (size_t)number;
    if (at >= c->bytes)
        return;
    for (int i = 0; i < c->again; i++) {
        memcpy(c->to + at, c->from + at, c->bytes - at < share ? c->bytes - at : share);
        __asm__ volatile("" ::"r"(c->to) : "memory"); /* so that each of them happens */
    }
}

static void *help(void *user)
{
    Member *m = user;
    for (int turn = 1; turn <= m->crew->count; turn++) {
        /* acquire: pairs with the store in time_copies */
        while (atomic_load_explicit(&m->crew->started, memory_order_acquire) < turn)
            __builtin_ia32_pause();
        copy_share(m->crew, m->number);
        /* release: pairs with the load in time_copies */
        atomic_fetch_add_explicit(&m->crew->ended, 1, memory_order_release);
    }
    return NULL;
}

static void time_copies(Crew *c, int64_t *ns)
{
    pthread_t threads[MOST_THREADS];
    Member members[MOST_THREADS];
    for (int i = 1; i < c->n; i++) {
        members[i] = (Member){ c, i };
        if (pthread_create(&threads[i], NULL, help, &members[i]))
            exit(1);
    }
    usleep(200); /* so that they are there */
    for (int turn = 1; turn <= c->count; turn++) {
        int64_t start = now();
        atomic_store_explicit(&c->started, turn, memory_order_release);
        copy_share(c, 0);
        while (atomic_load_explicit(&c->ended, memory_order_acquire) < turn * (c->n - 1))
            __builtin_ia32_pause();
        ns[turn - 1] = now() - start;
    }
    for (int i = 1; i < c->n; i++)
        pthread_join(threads[i], NULL);
}

static void do_call(char *work, size_t bytes, int ndevices, int count)
{
    char *loop = strstr(work, "_loop");
    if (loop)
        *loop = 0;
    static char *from, *to;
    static size_t room;
    size_t moved = half_traffic(work, bytes, (size_t)ndevices, loop);
    if (room < moved) {
        free(from);
        free(to);
        from = pages(moved);
        to = pages(moved);
        room = moved;
    }
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    int n = loop || moved < SOLO_BYTES ? 1 : cores < MOST_THREADS ? (int)cores : MOST_THREADS;
    Crew crew = { .from = from,
                  .to = to,
                  .bytes = moved,
                  .n = n,
                  .count = count,
                  .again = loop ? LOOP_TURNS : 1 };
    int64_t *ns = malloc(sizeof *ns * (size_t)count);
    if (!ns)
        exit(1);
    time_copies(&crew, ns);
    printf("{\"ns\": [");
    for (int i = 0; i < count; i++)
        printf("%s%lld", i ? ", " : "", (long long)ns[i]);
    printf("], \"cpu_ns\": 0}\n");
    free(ns);
}

int main(void)
{
    char line[256], work[64], unit;
    int size, n, count;
    while (fgets(line, sizeof line, stdin)) {
        if (sscanf(line, "call %63[a-z_]%d%c %d %d", work, &size, &unit, &n, &count) == 5) {
            work[strlen(work) - 1] = 0; /* the line between name and size */
            do_call(work, (size_t)size << (unit == 'M' ? 20 : 10), n, count);
        } else {
            printf("{}\n");
        }
        fflush(stdout);
    }
    return 0;
}
