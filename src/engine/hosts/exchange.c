/* exchange.c - bytes that one process has come to all others, on behalf of a caller that waits: reading
 * arrays whose pieces lie in several processes. */
#include "base/sync.h"
#include "engine/hosts/hosts.h"

#include <sched.h>
#include <stdlib.h>
#include <time.h>

enum { EXCHANGES = 0x65786368 }; /* the name of the run that all of them are in */

typedef struct Waiter {
    Error *error;
    _Atomic int is_over;
} Waiter;

static void exchange_over(Exchange *x, Error *error)
{
    Waiter *waiter = x->user;
    waiter->error = error;
    /* release: pairs with the acquire in is_over */
    atomic_store_explicit(&waiter->is_over, 1, memory_order_release);
}

static bool is_over(void *user)
{
    Waiter *waiter = user;
    return atomic_load_explicit(&waiter->is_over, memory_order_acquire);
}

/* One part for each piece and each other process that it concerns. */
static int list_parts(const Hosts *h, int n, const TuttiPiece *pieces, WirePart *parts)
{
    int k = 0;
    for (int i = 0; i < n; i++)
        for (int p = 0; pieces[i].bytes && p < h->nprocesses; p++) {
            bool is_sent = pieces[i].process == h->process;
            if (p != h->process && (is_sent || p == pieces[i].process))
                parts[k++] = (WirePart){ p, is_sent, pieces[i].data, pieces[i].bytes };
        }
    return k;
}

static int64_t next_number(void)
{
    static _Atomic int64_t count;
    /* relaxed: a number that is only taken */
    return atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
}

Error *hosts_exchange(const Hosts *hosts, int n, const TuttiPiece *pieces)
{
    WirePart *parts = calloc((size_t)n * (size_t)hosts->nprocesses + 1, sizeof *parts);
    if (!parts)
        return error_new(CODE_EXHAUSTED, "no memory to exchange %d pieces", n);
    Waiter waiter = { 0 };
    Exchange x = { .place = { .program = EXCHANGES, .count = next_number() },
                   .parts = parts,
                   .nparts = list_parts(hosts, n, pieces, parts),
                   .over = exchange_over,
                   .user = &waiter,
                   .name = "an array",
                   .where = "read by all processes" };
    exchange_begin(hosts->wire, &x);
    while (!wire_await(hosts->wire, is_over, &waiter))
        nanosleep(&(struct timespec){ 0, 50000 }, NULL);
    free(parts);
    return waiter.error;
}
