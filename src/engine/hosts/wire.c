/* wire.c - exchanges over a shim: packets, large messages, and who looks for them.
 *
 *     exchange_begin --> open --> packets of all have come, large messages are over --> over()
 *                          ^
 *     a packet comes ------+  or, if its exchange is not open here yet, it waits
 *
 * One mutex guards everything, the shim included.  It is held while the shim is called, which never
 * waits, and given back before `over` is called. */
#include "engine/hosts/wire.h"

#include "base/sync.h"
#include "engine/hosts/packet.h"
#include "engine/hosts/wire_runs.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    BOXES = 16,        /* receives that wait for packets */
    PIECE = 4 << 20,   /* a large part is sent in messages of so many bytes */
    FIRST_TAG = 1,     /* tag 0 is that of packets */
    LAST_TAG = 0x7fff, /* any MPI has these */
};

/* A message that is posted with the shim. */
typedef struct Post {
    enum { POST_BOX, POST_PACKET, POST_PART, POST_DRAIN } kind;
    Exchange *exchange;        /* POST_PART; NULL: it has been given up */
    int peer;                  /* the same, */
    struct Post *next, **link; /* and its place in Wire.parts */
    char *memory;              /* POST_BOX, POST_PACKET, POST_DRAIN: its own */
    uint64_t left; /* POST_DRAIN: bytes that are still to come, this message's included, */
    int tag;       /* and under which tag */
} Post;

/* A packet that came before its exchange was begun here. */
typedef struct Waiting {
    struct Waiting *next;
    int peer;
    Packet packet; /* and its body */
} Waiting;

/* A process that takes no part any more. */
typedef struct Lost {
    char *why;     /* NULL: it does */
    bool has_left; /* it has ended in order: it waits for us in shim->leave, */
    int64_t after; /* and what it sent before may come until then, in ms */
} Lost;

struct Wire {
    Shim *shim;
    int process, nprocesses;
    pthread_mutex_t lock; /* of all below but the atomics */
    Exchange *open;
    Post *parts; /* large messages that are posted */
    Waiting *waiting, **waiting_end;
    WireRun *runs; /* under way here */
    HostSpan *spans;
    Lost *lost;   /* [nprocesses] */
    char *broken; /* why nothing works any more; NULL: it does */
    int nlost;
    uint16_t tag;
    bool has_left;
    Thread thread;
    _Atomic int nwork; /* open exchanges, and messages that are sent: poll until there are none */
    _Atomic int nlookers; /* threads that poll for themselves */
    _Atomic int calls;    /* the wire's thread sleeps on it */
};

/* Exchanges that are over, to be told without the lock. */
typedef struct Finished {
    Exchange *first;
} Finished;

Shim *wire_shim(const Wire *w)
{
    return w->shim;
}

int wire_process(const Wire *w)
{
    return w->process;
}

int wire_processes(const Wire *w)
{
    return w->nprocesses;
}

/* relaxed: how many is a hint when to stop polling; the lock orders the rest */
static void add_work(Wire *w, int n)
{
    atomic_fetch_add_explicit(&w->nwork, n, memory_order_relaxed);
}

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* ---- trouble ---- */

static void exchange_fail(Exchange *x, Error *error)
{
    if (x->error)
        error_free(error);
    else
        x->error = error;
    x->nawaited = 0; /* packets that come now find no exchange that wants them */
}

static void break_wire(Wire *w, const char *why)
{
    if (!w->broken)
        w->broken = strdup(why);
    for (Exchange *x = w->open; x; x = x->next) {
        exchange_fail(x, error_new(CODE_UNAVAILABLE, "%s (%s): messages between processes fail: %s",
                                   x->name, x->where, why));
        x->nposted = 0;
    }
}

/* ---- posting ---- */

static void list_part(Wire *w, Post *p)
{
    p->next = w->parts;
    p->link = &w->parts;
    if (p->next)
        p->next->link = &p->next;
    w->parts = p;
}

static void unlist_part(Post *p)
{
    *p->link = p->next;
    if (p->next)
        p->next->link = p->link;
}

/* Takes what.memory, with which the post ends. */
static bool post(Wire *w, Post what, void *at, size_t bytes, int peer, bool is_sent)
{
    Post *p = malloc(sizeof *p);
    const char *why = "no memory for the books of a message";
    if (p) {
        *p = what;
        why = is_sent ? w->shim->send(at, bytes, peer, what.tag, p)
                      : w->shim->receive(at, bytes, peer, what.tag, p);
    }
    if (why) {
        break_wire(w, why);
        free(what.memory);
        free(p);
        return false;
    }
    if (what.kind != POST_BOX)
        add_work(w, 1);
    if (what.kind == POST_PART)
        list_part(w, p);
    return true;
}

static bool post_box(Wire *w, char *memory)
{
    Post what = { .kind = POST_BOX, .memory = memory };
    return post(w, what, memory, sizeof(Packet) + PACKET_BODY, SHIM_ANY, false);
}

/* A packet with `body` bytes of room behind it, to be filled and posted by post_packet. */
static Packet *packet_new(Wire *w, PacketKind kind, const WirePlace *place, size_t bytes,
                          size_t body)
{
    Packet *l = calloc(1, sizeof *l + body);
    if (!l)
        break_wire(w, "no memory for a packet");
    else
        *l = (Packet){ PACKET_MAGIC, (uint16_t)kind, 0, *place, bytes, { 0 } };
    return l;
}

static void post_packet(Wire *w, Packet *l, size_t body, int peer)
{
    Post what = { .kind = POST_PACKET, .memory = (char *)l };
    post(w, what, l, sizeof *l + body, peer, true);
}

/* ---- the parts of an exchange ---- */

static size_t bytes_with(const Exchange *x, int peer, bool is_sent)
{
    size_t bytes = 0;
    for (const WirePart *p = x->parts, *end = p + x->nparts; p < end; p++)
        if (p->peer == peer && p->is_sent == is_sent)
            bytes += p->bytes;
    return bytes;
}

static void copy_parts(Exchange *x, int peer, bool is_sent, char *body)
{
    for (WirePart *p = x->parts, *end = p + x->nparts; p < end; p++)
        if (p->peer == peer && p->is_sent == is_sent) {
            memcpy(is_sent ? body : p->at, is_sent ? p->at : body, p->bytes);
            body += p->bytes;
        }
}

static void post_parts(Wire *w, Exchange *x, int peer, int tag, bool is_sent)
{
    for (WirePart *p = x->parts, *end = p + x->nparts; p < end; p++) {
        if (p->peer != peer || p->is_sent != is_sent)
            continue;
        for (size_t at = 0; at < p->bytes; at += PIECE) {
            size_t bytes = p->bytes - at < PIECE ? p->bytes - at : PIECE;
            Post what = { .kind = POST_PART, .exchange = x, .peer = peer, .tag = tag };
            if (!post(w, what, (char *)p->at + at, bytes, peer, is_sent))
                return;
            x->nposted++;
        }
    }
}

static void send_to(Wire *w, Exchange *x, int peer, size_t bytes)
{
    bool is_small = bytes <= PACKET_BODY;
    size_t body = is_small ? bytes : 0;
    Packet *l = packet_new(w, is_small ? PACKET_BYTES : PACKET_TAG, &x->place, bytes, body);
    if (!l)
        return;
    if (is_small) {
        copy_parts(x, peer, true, (char *)(l + 1));
        post_packet(w, l, body, peer);
        return;
    }
    w->tag = w->tag < LAST_TAG ? w->tag + 1 : FIRST_TAG;
    int tag = l->tag = w->tag;
    post_packet(w, l, body, peer);
    post_parts(w, x, peer, tag, true);
}

/* ---- packets that come ---- */

static bool is_same_place(const WirePlace *a, const WirePlace *b)
{
    return a->program == b->program && a->run == b->run && a->group == b->group &&
           a->count == b->count;
}

/* Bytes that nobody wants are received and forgotten, so that their sender's messages end.  Messages
 * have at most a piece: one at a time is received, whatever its size. */
static void drain(Wire *w, uint64_t left, int tag, int peer)
{
    size_t bytes = left < PIECE ? (size_t)left : PIECE;
    char *memory = malloc(bytes);
    if (!memory) {
        break_wire(w, "no memory for a message");
        return;
    }
    Post what = { .kind = POST_DRAIN, .memory = memory, .left = left, .tag = tag };
    post(w, what, memory, bytes, peer, false);
}

static void drop_packet(Wire *w, const Packet *l, int peer)
{
    if (l->kind == PACKET_TAG && l->bytes)
        drain(w, l->bytes, l->tag, peer);
}

static Error *misfit(const Wire *w, const Exchange *x, const Packet *l, int peer)
{
    if (l->place.collective != x->place.collective)
        return error_new(CODE_PRECONDITION,
                         "%s (%s): process %d comes here while process %d is at collective %d of "
                         "the same program; all must meet in the same order",
                         x->name, x->where, w->process, peer, l->place.collective);
    return error_new(CODE_PRECONDITION,
                     "%s (%s): process %d sends %llu bytes and process %d expects %zu: they must "
                     "run the same program on arrays of the same shapes",
                     x->name, x->where, peer, (unsigned long long)l->bytes, w->process,
                     bytes_with(x, peer, false));
}

/* The packet of `peer` to x has come. */
static void take_packet(Wire *w, Exchange *x, const Packet *l, int peer)
{
    if (l->place.collective != x->place.collective || l->bytes != bytes_with(x, peer, false)) {
        exchange_fail(x, misfit(w, x, l, peer));
        drop_packet(w, l, peer);
        return;
    }
    x->nawaited--;
    if (l->kind == PACKET_BYTES)
        copy_parts(x, peer, false, (char *)(l + 1));
    else
        post_parts(w, x, peer, l->tag, false);
}

static void keep_packet(Wire *w, const Packet *l, size_t n, int peer)
{
    Waiting *kept = malloc(offsetof(Waiting, packet) + n);
    if (!kept) {
        break_wire(w, "no memory for a packet that came early");
        return;
    }
    kept->next = NULL;
    kept->peer = peer;
    memcpy(&kept->packet, l, n);
    *w->waiting_end = kept;
    w->waiting_end = &kept->next;
}

/* Takes a packet off the list of those that wait. */
static Waiting *unlink_waiting(Wire *w, Waiting **link)
{
    Waiting *found = *link;
    *link = found->next;
    if (!found->next)
        w->waiting_end = link;
    return found;
}

static Exchange *find_open(Wire *w, const WirePlace *place)
{
    Exchange *x = w->open;
    while (x && !is_same_place(&x->place, place))
        x = x->next;
    return x;
}

static Error *other_failed(const Exchange *x, const Packet *l, int peer)
{
    return error_new(CODE_UNAVAILABLE, "%s (%s): process %d has left this run: %.*s", x->name,
                     x->where, peer, (int)l->bytes, (const char *)(l + 1));
}

static bool is_of_run(const WirePlace *a, const WirePlace *b)
{
    return a->program == b->program && a->run == b->run;
}

static void send_failed(Wire *w, const WirePlace *place, int peer, const char *why)
{
    size_t n = strlen(why);
    n = n < PACKET_BODY ? n : PACKET_BODY;
    Packet *l = packet_new(w, PACKET_FAILED, place, n, n);
    if (!l)
        return;
    memcpy(l + 1, why, n);
    post_packet(w, l, n, peer);
}

/* No exchange here waits for this packet. */
static void unwanted_packet(Wire *w, const Packet *l, size_t n, int peer)
{
    WireRunState state = wire_run_state(w->spans, w->runs, &l->place);
    if (state != WIRE_RUN_ENDED) {
        keep_packet(w, l, n, peer);
        return;
    }
    drop_packet(w, l, peer);
    if (l->kind != PACKET_FAILED)
        send_failed(w, &l->place, peer, "its devices have finished without coming here");
}

static void packet_comes(Wire *w, const Packet *l, size_t n, int peer)
{
    if (!packet_is_sound(l, n)) {
        break_wire(w, "a packet that is none has come: do all processes run the same version?");
        return;
    }
    if (l->kind == PACKET_FAILED) {
        bool is_told = false;
        for (Exchange *x = w->open; x; x = x->next)
            if (is_of_run(&x->place, &l->place) && bytes_with(x, peer, false)) {
                exchange_fail(x, other_failed(x, l, peer));
                is_told = true;
            }
        if (!is_told)
            unwanted_packet(w, l, n, peer);
        return;
    }
    Exchange *x = find_open(w, &l->place);
    if (x && !x->error)
        take_packet(w, x, l, peer);
    else
        unwanted_packet(w, l, n, peer);
}

/* ---- polling ---- */

static void message_over(Wire *w, const ShimDone *done)
{
    Post *p = done->user;
    if (p->kind != POST_BOX)
        add_work(w, -1);
    if (p->kind == POST_PART)
        unlist_part(p);
    if (p->kind == POST_PART && p->exchange) {
        p->exchange->nposted--;
        if (done->is_failed)
            exchange_fail(p->exchange, error_new(CODE_UNAVAILABLE,
                                                 "%s (%s): a message with process %d failed: "
                                                 "%s",
                                                 p->exchange->name, p->exchange->where, done->peer,
                                                 w->shim->trouble));
    }
    if (p->kind == POST_DRAIN && !done->is_failed && done->bytes < p->left)
        drain(w, p->left - done->bytes, p->tag, done->peer);
    if (p->kind == POST_BOX && !done->is_failed) {
        packet_comes(w, (const Packet *)p->memory, done->bytes, done->peer);
        post_box(w, p->memory);
    } else {
        free(p->memory);
    }
    free(p);
}

static void check_peers(Wire *w, Exchange *x);

/* Takes exchanges that are over, or are to end, off the list of open ones. */
static void collect(Wire *w, Finished *finished)
{
    for (Exchange **link = &w->open; *link;) {
        Exchange *x = *link;
        /* relaxed: a hint to stop; the run has the error */
        if (x->cancel && x->nawaited && atomic_load_explicit(x->cancel, memory_order_relaxed))
            exchange_fail(
                x, error_new(CODE_CANCELLED, "%s (%s): the run was stopped", x->name, x->where));
        if (x->nawaited && w->nlost)
            check_peers(w, x);
        if (x->nawaited || x->nposted) {
            link = &x->next;
            continue;
        }
        *link = x->next;
        x->next = finished->first;
        finished->first = x;
        add_work(w, -1);
    }
}

static void tell(Finished *finished)
{
    for (Exchange *x = finished->first, *next; x; x = next) {
        next = x->next;
        x->over(x, x->error);
    }
}

static bool look(Wire *w, Finished *finished)
{
    const ShimDone *done;
    int n = w->has_left ? 0 : w->shim->poll(&done);
    for (int i = 0; i < n; i++)
        message_over(w, &done[i]);
    collect(w, finished);
    return n || finished->first;
}

bool wire_poll(Wire *w)
{
    if (pthread_mutex_trylock(&w->lock))
        return false;
    Finished finished = { NULL };
    bool has_news = look(w, &finished);
    pthread_mutex_unlock(&w->lock);
    tell(&finished);
    return has_news;
}

/* ---- beginning ---- */

/* Is a process that x needs gone? */
static void check_peers(Wire *w, Exchange *x)
{
    if (w->broken)
        exchange_fail(x, error_new(CODE_UNAVAILABLE, "%s (%s): messages between processes fail: %s",
                                   x->name, x->where, w->broken));
    for (int i = 0; i < x->nparts && !x->error; i++) {
        const Lost *lost = &w->lost[x->parts[i].peer];
        if (lost->why && now_ms() >= lost->after)
            exchange_fail(x,
                          error_new(CODE_UNAVAILABLE, "%s (%s): %s", x->name, x->where, lost->why));
    }
}

/* Takes what came early for x, from `peer`. */
static void take_early(Wire *w, Exchange *x, int peer)
{
    for (Waiting **link = &w->waiting; *link; link = &(*link)->next) {
        const Packet *l = &(*link)->packet;
        if ((*link)->peer != peer)
            continue;
        if (l->kind == PACKET_FAILED && is_of_run(&l->place, &x->place)) {
            exchange_fail(x, other_failed(x, l, peer));
            return; /* it stays, for other groups of this run */
        }
        if (l->kind == PACKET_FAILED || !is_same_place(&l->place, &x->place))
            continue;
        Waiting *found = unlink_waiting(w, link);
        take_packet(w, x, &found->packet, peer);
        free(found);
        return;
    }
}

static void begin(Wire *w, Exchange *x)
{
    x->nawaited = x->nposted = 0;
    x->error = NULL;
    x->next = w->open;
    w->open = x;
    add_work(w, 1);
    check_peers(w, x);
    for (int peer = 0; peer < w->nprocesses && !x->error; peer++) {
        size_t out = bytes_with(x, peer, true);
        if (out)
            send_to(w, x, peer, out);
    }
    for (int peer = 0; peer < w->nprocesses && !x->error; peer++)
        if (bytes_with(x, peer, false)) {
            x->nawaited++;
            if (w->waiting)
                take_early(w, x, peer);
        }
}

void exchange_begin(Wire *w, Exchange *x)
{
    Finished finished = { NULL };
    pthread_mutex_lock(&w->lock);
    begin(w, x);
    collect(w, &finished);
    pthread_mutex_unlock(&w->lock);
    tell(&finished);
}

/* ---- runs ---- */

void wire_add_span(Wire *w, HostSpan *span)
{
    pthread_mutex_lock(&w->lock);
    span->next = w->spans;
    w->spans = span;
    pthread_mutex_unlock(&w->lock);
}

HostSpan *wire_find_span(Wire *w, uint64_t key)
{
    pthread_mutex_lock(&w->lock);
    HostSpan *span = w->spans;
    while (span && span->key != key)
        span = span->next;
    pthread_mutex_unlock(&w->lock);
    return span;
}

void wire_run_begin(Wire *w, HostSpan *span, WireRun *run)
{
    pthread_mutex_lock(&w->lock);
    run->program = span->key;
    run->run = span->nlaunched++;
    run->next = w->runs;
    w->runs = run;
    pthread_mutex_unlock(&w->lock);
}

/* Packets to a run that has ended here: whoever wrote them waits in vain. */
static void answer_waiting(Wire *w, const WirePlace *place)
{
    for (Waiting **link = &w->waiting; *link;) {
        if (!is_of_run(&(*link)->packet.place, place)) {
            link = &(*link)->next;
            continue;
        }
        Waiting *found = unlink_waiting(w, link);
        const Packet *l = &found->packet;
        unwanted_packet(w, l, sizeof *l + (l->kind == PACKET_TAG ? 0 : l->bytes), found->peer);
        free(found);
    }
}

void wire_run_end(Wire *w, WireRun *run, const char *why, int nothers, const int32_t *others)
{
    WirePlace place = { .program = run->program, .run = run->run };
    pthread_mutex_lock(&w->lock);
    WireRun **link = &w->runs;
    while (*link != run)
        link = &(*link)->next;
    *link = run->next;
    for (int i = 0; why && i < nothers; i++)
        if (others[i] != w->process && !w->lost[others[i]].why)
            send_failed(w, &place, others[i], why);
    if (w->waiting)
        answer_waiting(w, &place);
    pthread_mutex_unlock(&w->lock);
    if (why)
        wire_attend(w);
}

/* ---- the wire's thread ---- */

/* It polls while there is something to wait for and nobody else does; ever less often. */
static void attend(void *user)
{
    Wire *w = user;
    enum { YIELDS = 200, NAP_NS = 20000, MOST_NS = 200000 };
    for (int idle = 0;;) {
        int seen = atomic_load_explicit(&w->calls, memory_order_acquire);
        /* relaxed: whoever adds work and does not poll calls wire_attend after it */
        if (!atomic_load_explicit(&w->nwork, memory_order_relaxed)) {
            address_wait(&w->calls, seen);
            idle = 0;
            continue;
        }
        bool others_look = atomic_load_explicit(&w->nlookers, memory_order_relaxed);
        if (!others_look && wire_poll(w)) {
            idle = 0;
        } else if (!others_look && idle++ < YIELDS) {
            sched_yield();
        } else {
            long ns = NAP_NS * (1 + idle / YIELDS);
            nanosleep(&(struct timespec){ 0, ns < MOST_NS ? ns : MOST_NS }, NULL);
        }
    }
}

void wire_attend(Wire *w)
{
    /* release: pairs with the acquire in attend, which then sees the work */
    atomic_fetch_add_explicit(&w->calls, 1, memory_order_release);
    address_wake(&w->calls, 1);
}

bool wire_await(Wire *w, bool (*is_over)(void *user), void *user)
{
    enum { LOOKS = 1000, PATIENT_NS = 300000 };
    struct timespec start, now;
    bool over = false;
    /* relaxed: a hint for the wire's thread */
    atomic_fetch_add_explicit(&w->nlookers, 1, memory_order_relaxed);
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (int i = 0; !(over = is_over(user)); i++) {
        if (wire_poll(w))
            continue;
        if (i < LOOKS / 10)
            spin_pause();
        else
            sched_yield();
        clock_gettime(CLOCK_MONOTONIC, &now);
        int64_t ns = (now.tv_sec - start.tv_sec) * 1000000000 + (now.tv_nsec - start.tv_nsec);
        if (ns > PATIENT_NS)
            break;
    }
    atomic_fetch_sub_explicit(&w->nlookers, 1, memory_order_relaxed);
    return over;
}

/* ---- the start and the end ---- */

Error *wire_gather(Wire *w, const void *mine, int bytes, void *all)
{
    pthread_mutex_lock(&w->lock);
    const char *why = w->shim->gather(mine, bytes, all);
    Error *error = why ? error_new(CODE_UNAVAILABLE, "%s", why) : NULL;
    pthread_mutex_unlock(&w->lock);
    return error;
}

/* Messages with a process that is gone are never over: no exchange waits for them. */
static void give_up_parts(Wire *w, int process)
{
    for (Post *p = w->parts; p; p = p->next)
        if (p->exchange && p->peer == process) {
            p->exchange->nposted--;
            p->exchange = NULL;
        }
    w->shim->give_up(process);
}

void wire_lose(Wire *w, int process, bool has_left, Error *error)
{
    Finished finished = { NULL };
    pthread_mutex_lock(&w->lock);
    enum { GRACE_MS = 300 };
    if (!w->lost[process].why) {
        w->lost[process] =
            (Lost){ strdup(error_text(error)), has_left, has_left ? now_ms() + GRACE_MS : 0 };
        w->nlost++;
    }
    error_free(error);
    if (!has_left && !w->has_left)
        give_up_parts(w, process);
    collect(w, &finished);
    pthread_mutex_unlock(&w->lock);
    tell(&finished);
    wire_attend(w);
}

void wire_leave(Wire *w)
{
    pthread_mutex_lock(&w->lock);
    bool waits = !w->broken;
    for (int p = 0; p < w->nprocesses; p++)
        waits = waits && (!w->lost[p].why || w->lost[p].has_left);
    w->has_left = true;
    break_wire(w, "this process is ending");
    w->shim->leave(waits);
    pthread_mutex_unlock(&w->lock);
}

Error *wire_new(Shim *shim, int process, int nprocesses, Wire **out)
{
    Wire *w = calloc(1, sizeof *w);
    Lost *lost = calloc((size_t)nprocesses, sizeof *lost);
    if (!w || !lost) {
        free(w);
        free(lost);
        return error_new(CODE_EXHAUSTED, "no memory for messages between %d processes", nprocesses);
    }
    w->shim = shim;
    w->process = process;
    w->nprocesses = nprocesses;
    w->lost = lost;
    w->waiting_end = &w->waiting;
    pthread_mutex_init(&w->lock, NULL);
    for (int i = 0; i < BOXES; i++) {
        char *memory = malloc(sizeof(Packet) + PACKET_BODY);
        if (!memory || !post_box(w, memory))
            return error_new(CODE_UNAVAILABLE, "messages between processes: %s",
                             w->broken ? w->broken : "no memory for packets");
    }
    *out = w;
    return thread_start(&w->thread, "tutti-wire", attend, w);
}
