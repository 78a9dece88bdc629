/* crossing.h - what the ways of a crossing share: crossing.c begins and ends one, and waits for its
 * exchanges; a way says which there are, and what is done as they go on. */
#ifndef TUTTI_ENGINE_EXEC_CROSSING_H
#define TUTTI_ENGINE_EXEC_CROSSING_H
#include "engine/collectives/collectives.h"
#include "engine/exec/executor.h"

typedef struct Crossing Crossing;

struct Crossing {
    Run *run;
    Task *last;      /* of the members here; it performs the collective */
    int k, g;        /* g: -1 if it is no group that crosses, but a message to one device; */
    WirePlace place; /* of exchange 0; exchange 1 is the next count */
    /* Under the run's lock, always taken: */
    bool is_awaited;            /* the last member waits for news, */
    bool has_news;              /* of which there are some */
    struct Crossing *next;      /* in the run's list of those that have them */
    int nopen;                  /* exchanges that are not over */
    Error *error;               /* the first that one of them ended with */
    int nreceived[2], nsent[2]; /* pieces of streams, as far as they are known */
    bool is_left_behind;        /* its memory must stay: Exchange.is_left_behind */
    /* Of the thread that the last member runs on: */
    Participants members; /* its c, n, frames, elsewhere and scratch are always there */
    Elsewhere elsewhere;
    Exchange exchanges[2];
    Stream streams[2];
    void *staging; /* of members.scratch */
    size_t staging_bytes;
    /* The way: does what can be done now, and begins the next exchanges.  When all are over and there is
     * nothing more to do, the members go on. */
    Error *(*step)(Crossing *x);
    void *way; /* what it knows; freed with the crossing */
};

/* The ways: each begins its first exchanges. */
MUST_USE Error *cross_by_gather(Crossing *x);
MUST_USE Error *cross_by_chain(Crossing *x);
MUST_USE Error *cross_by_owner(Crossing *x);
MUST_USE Error *cross_by_root(Crossing *x);
MUST_USE Error *cross_by_mail(Crossing *x, int from); /* the number of a device elsewhere */

/* Exchange 0 or 1, filled in but for what the wire knows already; begun, it is over some time later. */
void crossing_exchange(Crossing *x, int which);
void crossing_stream_news(Exchange *exchange); /* Stream.news */
static inline Wire *crossing_wire(const Crossing *x)
{
    return x->run->span->wire;
}
/* Is an exchange under way, or has one failed? */
static inline bool crossing_is_open(Crossing *x)
{
    lock_take(&x->run->lock);
    bool is_open = x->nopen || x->error;
    lock_give(&x->run->lock);
    return is_open;
}
/* What lies side by side in the staging memory begins on lines of the caches. */
static inline size_t crossing_aligned(size_t bytes)
{
    return (bytes + 63) / 64 * 64;
}
MUST_USE Error *crossing_no_memory(const Crossing *x);
MUST_USE Error *crossing_staging(Crossing *x, size_t bytes);
#endif
