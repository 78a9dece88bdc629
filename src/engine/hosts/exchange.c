/* exchange.c - bytes that one process has come to all others, on behalf of a caller that waits: reading
 * arrays whose pieces lie in several processes. */
#include "base/sync.h"
#include "engine/hosts/hosts.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { EXCHANGES = 0x65786368 }; /* the program that all of them are runs of */

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

/* Bytes of the pieces that are read or written here, each once. */
static size_t staged_bytes(int n, const TuttiPiece *pieces)
{
    size_t bytes = 0;
    for (int i = 0; i < n; i++)
        bytes += pieces[i].bytes;
    return bytes;
}

/* One part for each piece and each other process that it concerns; pieces lie in `staging`. */
static int list_parts(const Hosts *h, int n, const TuttiPiece *pieces, char *staging,
                      WirePart *parts)
{
    int k = 0;
    for (int i = 0; i < n; staging += pieces[i++].bytes) {
        bool is_sent = pieces[i].process == h->process;
        if (is_sent && pieces[i].bytes)
            memcpy(staging, pieces[i].data, pieces[i].bytes);
        for (int p = 0; pieces[i].bytes && p < h->nprocesses; p++)
            if (p != h->process && (is_sent || p == pieces[i].process))
                parts[k++] = (WirePart){ p, is_sent, staging, pieces[i].bytes };
    }
    return k;
}

static void take_received(const Hosts *h, int n, const TuttiPiece *pieces, const char *staging)
{
    for (int i = 0; i < n; staging += pieces[i++].bytes)
        if (pieces[i].process != h->process && pieces[i].bytes)
            memcpy(pieces[i].data, staging, pieces[i].bytes);
}

/* The caller's memory is its own again when this returns, so messages have memory that can stay behind
 * with a process that is lost. */
static Error *exchange_staged(const Hosts *hosts, const WireRun *run, int n,
                              const TuttiPiece *pieces, char **staging, WirePart *parts)
{
    Waiter waiter = { 0 };
    Exchange x = { .place = { .program = run->program, .run = run->run },
                   .parts = parts,
                   .nparts = list_parts(hosts, n, pieces, *staging, parts),
                   .over = exchange_over,
                   .user = &waiter,
                   .name = "an array",
                   .where = "read by all processes" };
    exchange_begin(hosts->wire, &x);
    while (!wire_await(hosts->wire, is_over, &waiter))
        nanosleep(&(struct timespec){ 0, 50000 }, NULL);
    if (!waiter.error)
        take_received(hosts, n, pieces, *staging);
    if (x.is_left_behind)
        *staging = NULL;
    return waiter.error;
}

static Error *exchange_pieces(const Hosts *hosts, const WireRun *run, int n,
                              const TuttiPiece *pieces)
{
    WirePart *parts = calloc((size_t)n * (size_t)hosts->nprocesses + 1, sizeof *parts);
    char *staging = malloc(staged_bytes(n, pieces) + 1);
    Error *error = parts && staging
                       ? exchange_staged(hosts, run, n, pieces, &staging, parts)
                       : error_new(CODE_EXHAUSTED, "no memory to exchange %d pieces", n);
    free(parts);
    free(staging);
    return error;
}

Error *hosts_exchange(const Hosts *hosts, int n, const TuttiPiece *pieces)
{
    WireRun run = { 0 };
    wire_run_begin(hosts->wire, hosts->exchanges, &run);
    Error *error = pieces ? exchange_pieces(hosts, &run, n, pieces)
                          : error_new(CODE_EXHAUSTED, "it has no memory for its part");
    wire_run_end(hosts->wire, &run, error ? error_text(error) : NULL, hosts->nprocesses,
                 hosts->everyone);
    return error;
}

HostSpan *exchanges_new(Wire *wire)
{
    HostSpan *span = calloc(1, sizeof *span);
    if (!span)
        return NULL;
    span->wire = wire;
    span->key = EXCHANGES;
    wire_add_span(wire, span);
    return span;
}
