/* wire.h - messages between processes: exchanges that are begun, and over some time later.
 *
 * An Exchange is what several processes do at one place of one run: each sends bytes to some of the
 * others and receives bytes from some.  Both sides know how many bytes there are: each lists, for
 * every other process, the same parts in the same order.
 *
 *     small    one packet to each process, which holds the bytes
 *     large    a packet that says under which tag they come; then the bytes themselves, part by
 *              part, straight from where they are to where they shall be
 *     stream   the same, piece by piece, as soon as each is made
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
    size_t bytes;  /* more than 0 */
    bool has_come; /* the wire's: the packet of its process has */
} WirePart;

struct Exchange;

/* One direction of a stream; the wire's, under its lock. */
typedef struct StreamSide {
    int n, may;         /* pieces; those that may be posted, */
    int nposted, nover; /* that are, and the first so many of which are over */
    uint64_t over;      /* bit k % 64: piece k is over, beyond those */
    int tag;            /* 0: not known yet */
} StreamSide;

/* Pieces that come from one process and pieces that go to another, in order, as they are made; both have
 * the same number of pieces of the same sizes. */
typedef struct Stream {
    int from, to; /* processes; -1: none */
    int npieces;
    size_t bytes; /* of all of them */
    /* Where piece k is read or written; the lock of the wire is held. */
    void *(*piece)(struct Exchange *x, int k, bool is_sent, size_t *bytes);
    /* More pieces have come, or gone: the first so many.  As `over`, but may be called often. */
    void (*news)(struct Exchange *x);
    int nreceived, nsent; /* as of the last news */
    /* The wire's: */
    StreamSide in, out;
    bool has_news, is_closed;
} Stream;

/* The caller's memory, as the parts, the stream and what they name are, until `over` is called. */
typedef struct Exchange {
    WirePlace place;
    int nparts; /* none, if it is a stream */
    WirePart *parts;
    Stream *stream;            /* or NULL */
    const _Atomic int *cancel; /* not 0: to end soon, with an error; or NULL */
    /* Called once, by any thread, with what went wrong or NULL; takes the error.  It must not wait
     * and must not begin an exchange. */
    void (*over)(struct Exchange *x, Error *error);
    void *user;
    const char *name, *where; /* "all_reduce", "train.py:28", for messages */
    /* For `over` to look at: messages with a process that is lost may never be over, and still name
     * the memory of the parts.  It must never be given back. */
    bool is_left_behind;
    /* The wire's: */
    struct Exchange *next, *next_told;
    int nawaited;    /* processes whose packet has not come */
    int nposted;     /* large messages that are not over */
    bool is_told;    /* a thread calls `news` */
    bool has_spoken; /* of its waiting (ask.c), */
    int begun;       /* at which beat of the wire */
    Error *error;
} Exchange;

/* Takes the shim, on which start has been called. */
MUST_USE Error *wire_new(Shim *shim, int process, int nprocesses, Wire **out);
Shim *wire_shim(const Wire *w);
int wire_process(const Wire *w);
int wire_processes(const Wire *w);
void exchange_begin(Wire *w, Exchange *x); /* errors come by `over`, maybe before it returns */
/* Of a stream: pieces up to so many may be received, and sent.  Numbers only rise. */
void stream_advance(Wire *w, Exchange *x, int may_receive, int may_send);
/* Looks once what has come.  False: nothing, or another thread is looking. */
bool wire_poll(Wire *w);
/* A process takes no part any more: all exchanges that need it fail, from now on too.  has_left: it
 * has ended in order, and what it has sent may still come: they fail a little later; and once more,
 * without it, when it is not there any more.  Takes error. */
void wire_lose(Wire *w, int process, bool has_left, Error *error);
/* Four times a second: whoever waits long asks the others where they are.  False: nothing works any more. */
bool wire_beat(Wire *w);
/* What to call a process beside its number: " (host h1, pid 4711)". */
void wire_name(Wire *w, int process, const char *name);
/* The process is about to end: waits for runs that are under way, which the others wait for too, but not
 * for ever.  True: nothing is any more. */
bool wire_settle(Wire *w);
/* The process ends: no thread touches the shim after this. */
void wire_leave(Wire *w);

/* Every process gives bytes and gets all of them, in order; the caller waits.  At the start only. */
MUST_USE Error *wire_gather(Wire *w, const void *mine, int bytes, void *all);
#endif
