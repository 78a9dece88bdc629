/* wire.h - messages between processes: exchanges that are begun, and over some time later.
 *
 * An Exchange is what several processes do at one place of one run: each sends bytes to some of the
 * others and receives bytes from some.  Both sides know how many bytes there are: each lists, for
 * every other process, the same parts in the same order.
 *
 *     small    one packet to each process, which holds the bytes
 *     large    a packet that says under which tag they come; then the bytes themselves, part by
 *              part, straight from where they are to where they shall be
 *
 * A packet names its place (WirePlace).  One that comes before its exchange has begun here waits
 * for it.  Nothing blocks: wire_poll looks what has come, and calls the exchange's `over`.  It is
 * called by whoever waits, and else by a thread of the wire. */
#ifndef TUTTI_ENGINE_HOSTS_WIRE_H
#define TUTTI_ENGINE_HOSTS_WIRE_H
#include "base/error.h"
#include "engine/hosts/shim.h"

#include <stdatomic.h>
#include <stdint.h>

typedef struct Wire Wire;

typedef struct WirePlace {
    uint64_t program; /* HostSpan.key, or another name for what processes do together */
    int64_t run;      /* which launch of it */
    int64_t count;    /* which exchange of that group in this run, from 0 */
    int32_t group;
    int32_t collective; /* the same everywhere if the processes agree what they do */
} WirePlace;

typedef struct WirePart {
    int peer;
    bool is_sent; /* else received */
    void *at;
    size_t bytes; /* more than 0 */
} WirePart;

/* The caller's memory, as the parts and what they name are, until `over` is called. */
typedef struct Exchange {
    WirePlace place;
    int nparts;
    WirePart *parts;
    const _Atomic int *cancel; /* not 0: to end soon, with an error; or NULL */
    /* Called once, by any thread, with what went wrong or NULL; takes the error.  It must not wait
     * and must not begin an exchange. */
    void (*over)(struct Exchange *x, Error *error);
    void *user;
    const char *name, *where; /* "all_reduce", "train.py:28", for messages */
    /* The wire's: */
    struct Exchange *next;
    int nawaited; /* processes whose packet has not come */
    int nposted;  /* large messages that are not over */
    Error *error;
} Exchange;

/* Takes the shim, on which start has been called. */
MUST_USE Error *wire_new(Shim *shim, int process, int nprocesses, Wire **out);
Shim *wire_shim(const Wire *w);
int wire_process(const Wire *w);
int wire_processes(const Wire *w);
void exchange_begin(Wire *w, Exchange *x); /* errors come by `over`, maybe before it returns */
/* Looks once what has come.  False: nothing, or another thread is looking. */
bool wire_poll(Wire *w);
/* A process takes no part any more: all exchanges that need it fail, from now on too.  has_left: it
 * has ended in order, and what it has sent may still come: they fail a little later.  Takes error. */
void wire_lose(Wire *w, int process, bool has_left, Error *error);
/* The process ends: no thread touches the shim after this. */
void wire_leave(Wire *w);

/* Every process gives bytes and gets all of them, in order; the caller waits.  At the start only. */
MUST_USE Error *wire_gather(Wire *w, const void *mine, int bytes, void *all);
#endif
