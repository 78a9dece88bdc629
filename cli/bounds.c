/* bounds.c - what this process may take: a thread looks how much it has, every few milliseconds.
 *
 * It is the process that is bounded, whatever it does: reading, compiling, running.  What it has written
 * to counts, not what it has only reserved. */
#include "bounds.h"

#include "command.h"

#include "base/sync.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

typedef struct Bounds {
    const char *what; /* the program, for messages */
    size_t bytes;
    int seconds;
} Bounds;

static Bounds bounds; /* set before the thread starts */

/* Pages that the process has; 0: the system does not say. */
static size_t resident(FILE *statm)
{
    unsigned long whole = 0, pages = 0;
    rewind(statm);
    if (fscanf(statm, "%lu %lu", &whole, &pages) != 2)
        pages = 0;
    return (size_t)pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* Threads are in the middle of anything: nothing is given back. */
static _Noreturn void end(const char *words)
{
    fprintf(stderr, "tutti: %s: %s\n", bounds.what, words);
    _exit(EXIT_FAILED);
}

static void watch(void *user)
{
    FILE *statm = user;
    char words[96];
    int64_t began = clock_now_ns();
    for (;;) {
        double took = (double)(clock_now_ns() - began) * 1e-9;
        snprintf(words, sizeof words, "it took longer than %d seconds (--seconds)", bounds.seconds);
        if (bounds.seconds && took > bounds.seconds)
            end(words);
        snprintf(words, sizeof words, "it used more than %zu bytes of memory (--memory)",
                 bounds.bytes);
        if (statm && resident(statm) > bounds.bytes)
            end(words);
        nanosleep(&(struct timespec){ .tv_nsec = 2000000 }, NULL);
    }
}

Error *bounds_watch(const char *what, size_t bytes, int seconds)
{
    static Thread thread; /* never joined: it lasts as long as the process */
    if (!bytes && !seconds)
        return NULL;
    FILE *statm = bytes ? fopen("/proc/self/statm", "r") : NULL;
    if (bytes && !statm)
        return error_new(CODE_UNAVAILABLE, "--memory: /proc/self/statm cannot be read, which says "
                                           "how much memory the process has");
    if (statm)
        setvbuf(statm, NULL, _IONBF, 0);
    bounds = (Bounds){ what, bytes, seconds };
    return thread_start(&thread, "tutti-bounds", watch, statm);
}
