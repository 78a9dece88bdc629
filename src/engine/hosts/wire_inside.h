/* wire_inside.h - what the files of the wire share: its lock and lists, and what is posted.
 *
 *   posts.c      messages that are posted with the shim
 *   packets.c    packets that come: to an exchange that is open, early, or to none
 *   parts.c      an exchange begins: its bytes go into packets, or under a tag of their own
 *   ask.c        whoever waits long asks whether the others are on their way
 *   circles.c    those who wait for one another in a circle
 *   stream.c     exchanges whose bytes go piece by piece, as they are made
 *   wire_runs.c  runs under way here
 *   wire.c       polling, the wire's thread, processes that are lost, the start and the end
 *
 * One mutex guards everything, the shim included.  It is held while the shim is called, which never
 * waits, and given back before `over` and `news` are called. */
#ifndef TUTTI_ENGINE_HOSTS_WIRE_INSIDE_H
#define TUTTI_ENGINE_HOSTS_WIRE_INSIDE_H
#include "base/sync.h"
#include "engine/hosts/packet.h"
#include "engine/hosts/wire_runs.h"

/* A message that is posted with the shim. */
typedef struct Post {
    enum { POST_BOX, POST_PACKET, POST_PART, POST_PIECE, POST_DRAIN } kind;
    Exchange *exchange;        /* POST_PART, POST_PIECE; NULL: it does not wait for it any more */
    int peer;                  /* all but boxes, */
    struct Post *next, **link; /* and their place in Wire.posts */
    bool is_given_up;          /* with a process that is lost: it may never be over */
    bool is_sent;              /* POST_PIECE, */
    int piece;                 /* and which one */
    char *memory;              /* POST_BOX, POST_PACKET, POST_DRAIN: its own */
    uint32_t left;             /* POST_DRAIN: messages that are still to come, this included, */
    int tag;                   /* and under which tag */
} Post;

/* A packet that came before its exchange was begun here. */
typedef struct Waiting {
    struct Waiting *next;
    int peer;
    Packet packet; /* and its body */
} Waiting;

/* A process that takes no part any more. */
typedef struct Lost {
    char *why;        /* NULL: it does */
    bool has_left;    /* it has ended in order: it waits for us in shim->leave, */
    int64_t after;    /* and what it sent before may come until then, in ms; */
    bool is_given_up; /* then nobody waits for messages with it; */
    int64_t gone;     /* since when it does not wait either, in ms; 0: it does */
} Lost;

struct Wire {
    Shim *shim;
    int process, nprocesses;
    pthread_mutex_t lock; /* of all below but the atomics */
    Exchange *open;
    Post *posts; /* all that are posted but boxes */
    Waiting *waiting, **waiting_end;
    WireRun *runs; /* under way here */
    HostSpan *spans;
    struct KnownClaim *claims; /* of those who wait long, where this process looks for circles */
    Lost *lost;                /* [nprocesses] */
    char **names; /* [nprocesses] " (host h1, pid 4711)", for messages; NULL: not known */
    int nbeats;   /* quarters of a second */
    char *broken; /* why nothing works any more; NULL: it does */
    int nlost;
    uint16_t tag;
    bool has_left;
    Thread thread;
    char *words;          /* for the standard error, once the lock is given back; or NULL */
    _Atomic int nwork;    /* open exchanges, and posts that may end: poll until there are none */
    _Atomic int nlookers; /* threads that poll for themselves */
    _Atomic int calls;    /* the wire's thread sleeps on it */
};

static inline bool wire_is_same_place(const WirePlace *a, const WirePlace *b)
{
    return a->program == b->program && a->run == b->run && a->group == b->group &&
           a->count == b->count;
}

/* " (host h1, pid 4711)", or nothing. */
static inline const char *wire_name_of(const Wire *w, int process)
{
    return w->names[process] ? w->names[process] : "";
}

enum { PIECE = 4 << 20 }; /* a large part is sent in messages of at most so many bytes */

/* The lock is held for all of these. */

/* posts.c */
void wire_add_work(Wire *w, int n);
void wire_break(Wire *w, const char *why); /* nothing works any more */
/* Takes what.memory, with which the post ends.  False: the wire is broken. */
bool wire_post(Wire *w, Post what, void *at, size_t bytes, int peer, bool is_sent);
bool wire_post_box(Wire *w, char *memory);
void wire_message_over(Wire *w, const ShimDone *done);
/* n messages that nobody wants are received and forgotten, so that their sender's posts end. */
void wire_drain(Wire *w, uint32_t n, int tag, int peer);
void wire_give_up(Wire *w, int process); /* nobody waits for messages with it */

/* packets.c */
/* A packet with `body` bytes of room behind it, to be filled and posted; NULL: the wire is broken. */
Packet *packet_new(Wire *w, PacketKind kind, const WirePlace *place, size_t bytes, size_t body);
void packet_post(Wire *w, Packet *l, size_t body, int peer);
void packet_comes(Wire *w, const Packet *l, size_t n, int peer);
void packet_take_early(Wire *w, Exchange *x, int peer); /* what came for x before it had begun */
/* Packets to a run that has ended here: whoever wrote them waits in vain. */
void packet_answer_waiting(Wire *w, const WirePlace *place);
void packet_send_failed(Wire *w, const WirePlace *place, int peer, const char *why);
Exchange *wire_find_open(const Wire *w, const WirePlace *place); /* NULL: it is not open here */

/* ask.c */
void packet_asked(Wire *w, const Packet *l, int peer);
void packet_answered(Wire *w, const Packet *l, int peer);

/* circles.c */
enum { CLAIM_NAME = 136 };
/* The body of a claim: an exchange lacks what process `by` has not sent, and will not before this is over. */
typedef struct Claim {
    WirePlace blocker;  /* an exchange that is open there; program 0: */
    uint64_t crossings; /* one of the crossings of the same run, all of which wait there: which, */
    int32_t ncrossings; /* and how many */
    int32_t by;
    char where[CLAIM_NAME]; /* of the exchange that lacks it */
} Claim;
_Static_assert(sizeof(Claim) == PACKET_CLAIM_BYTES, "the body of a claim");
/* The crossings of a run that are open here, as one number; *last: an exchange of one of them. */
uint64_t crossings_of(const Wire *w, const WirePlace *run, int32_t *n, const Exchange **last);
void claim_tell(Wire *w, const WirePlace *place, const Claim *claim);
void packet_claimed(Wire *w, const Packet *l, int peer);
void packet_circle(Wire *w, const Packet *l);
void wire_find_circles(Wire *w);

/* parts.c */
void exchange_fail(Exchange *x, Error *error); /* takes the error; the first counts */
size_t exchange_bytes(const Exchange *x, int peer, bool is_sent);
void exchange_copy(Exchange *x, int peer, bool is_sent, char *body);
void exchange_post(Wire *w, Exchange *x, int peer, int tag, bool is_sent);
void exchange_open(Wire *w, Exchange *x);
void exchange_check_peers(Wire *w, Exchange *x); /* fails it if a process that it needs is gone */
uint16_t wire_next_tag(Wire *w);

/* stream.c */
void stream_open(Wire *w, Exchange *x);
void stream_announced(Wire *w, Exchange *x, int tag); /* what comes, comes under that tag */
void stream_piece_over(Wire *w, Exchange *x, const Post *p, const ShimDone *done);
bool stream_is_over(const Exchange *x);
void stream_close(Wire *w, Exchange *x); /* it has failed: the other side is told */

/* wire.c */
int64_t wire_now_ms(void);
/* Takes exchanges that are over, or have news, to be told when the lock is given back. */
typedef struct Finished {
    Exchange *over, *news;
} Finished;
void wire_collect(Wire *w, Finished *finished);
void wire_tell(Wire *w, Finished *finished);
#endif
