/* wire.c - exchanges over a shim: looking for what has come, and who looks; processes that are lost; the
 * start and the end.
 *
 *     exchange_begin --> open --> packets of all have come, large messages are over --> over()
 *                          ^
 *     a packet comes ------+  or, if its exchange is not open here yet, it waits */
#include "engine/hosts/wire_inside.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BOXES = 16 }; /* receives that wait for packets */

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

int64_t wire_now_ms(void)
{
    return clock_now_ns() / 1000000;
}

/* ---- polling ---- */

/* Is x to fail? */
static void check_open(Wire *w, Exchange *x)
{
    bool is_waiting = x->nawaited || !stream_is_over(x);
    /* relaxed: a hint to stop; the run has the error */
    if (x->cancel && is_waiting && atomic_load_explicit(x->cancel, memory_order_relaxed))
        exchange_fail(x,
                      error_new(CODE_CANCELLED, "%s (%s): the run was stopped", x->name, x->where));
    if (w->nlost && is_waiting)
        exchange_check_peers(w, x);
    if (x->error && x->stream && !x->stream->is_closed)
        stream_close(w, x);
}

/* What is told next. */
static void stream_note(Stream *s)
{
    s->has_news = false;
    s->nreceived = s->in.nover;
    s->nsent = s->out.nover;
}

/* An exchange that a thread is telling news of waits until that thread is back. */
void wire_collect(Wire *w, Finished *finished)
{
    for (Exchange **link = &w->open; *link;) {
        Exchange *x = *link;
        check_open(w, x);
        if (x->is_told || x->nawaited || x->nposted || !stream_is_over(x)) {
            link = &x->next;
            if (!x->is_told && x->stream && x->stream->has_news) {
                stream_note(x->stream);
                x->is_told = true;
                x->next_told = finished->news;
                finished->news = x;
            }
            continue;
        }
        *link = x->next;
        if (x->stream)
            stream_note(x->stream);
        x->next_told = finished->over;
        finished->over = x;
        wire_add_work(w, -1);
    }
}

/* Returns those whose news were told, to be looked at again; what is over is its owner's now. */
static Exchange *tell_once(Finished *finished)
{
    for (Exchange *x = finished->over, *next; x; x = next) {
        next = x->next_told;
        x->over(x, x->error);
    }
    for (Exchange *x = finished->news; x; x = x->next_told)
        x->stream->news(x);
    return finished->news;
}

void wire_tell(Wire *w, Finished *finished)
{
    for (Exchange *told; (told = tell_once(finished));) {
        *finished = (Finished){ 0 };
        pthread_mutex_lock(&w->lock);
        for (; told; told = told->next_told)
            told->is_told = false;
        wire_collect(w, finished);
        pthread_mutex_unlock(&w->lock);
    }
}

/* Messages with a process that has ended in order may be over until a little later. */
static void give_up_lost(Wire *w)
{
    int64_t now = wire_now_ms();
    for (int p = 0; p < w->nprocesses; p++) {
        Lost *lost = &w->lost[p];
        if (!lost->why || lost->is_given_up || now < lost->after)
            continue;
        lost->is_given_up = true;
        wire_give_up(w, p);
    }
}

static bool look(Wire *w, Finished *finished)
{
    const ShimDone *done;
    if (w->nlost && !w->has_left)
        give_up_lost(w);
    int n = w->has_left ? 0 : w->shim->poll(&done);
    for (int i = 0; i < n; i++)
        wire_message_over(w, &done[i]);
    wire_collect(w, finished);
    return n || finished->over;
}

bool wire_poll(Wire *w)
{
    if (pthread_mutex_trylock(&w->lock))
        return false;
    Finished finished = { 0 };
    bool has_news = look(w, &finished);
    char *words = w->words;
    w->words = NULL;
    pthread_mutex_unlock(&w->lock);
    if (words)
        fputs(words, stderr);
    free(words);
    wire_tell(w, &finished);
    return has_news;
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
    int64_t start = clock_now_ns();
    bool over = false;
    /* relaxed: a hint for the wire's thread */
    atomic_fetch_add_explicit(&w->nlookers, 1, memory_order_relaxed);
    for (int i = 0; !(over = is_over(user)); i++) {
        if (wire_poll(w))
            continue;
        if (i < LOOKS / 10)
            spin_pause();
        else
            sched_yield();
        if (clock_now_ns() - start > PATIENT_NS)
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

void wire_lose(Wire *w, int process, bool has_left, Error *error)
{
    Finished finished = { 0 };
    pthread_mutex_lock(&w->lock);
    enum { GRACE_MS = 300 };
    Lost *lost = &w->lost[process];
    if (!lost->why) {
        *lost = (Lost){ .why = strdup(error_text(error)), .has_left = has_left };
        lost->after = has_left ? wire_now_ms() + GRACE_MS : 0;
        w->nlost++;
    }
    if (!has_left)
        lost->gone = wire_now_ms();
    error_free(error);
    if (!w->has_left)
        give_up_lost(w);
    wire_collect(w, &finished);
    pthread_mutex_unlock(&w->lock);
    wire_tell(w, &finished);
    wire_attend(w);
}

/* Is nothing under way here, neither runs nor messages? */
static bool is_still(Wire *w)
{
    pthread_mutex_lock(&w->lock);
    /* relaxed: changed under the lock */
    bool is_still = !w->runs && !atomic_load_explicit(&w->nwork, memory_order_relaxed);
    pthread_mutex_unlock(&w->lock);
    return is_still;
}

bool wire_settle(Wire *w)
{
    enum { MOST_MS = 5000, NAP_NS = 100000 };
    for (int64_t end = wire_now_ms() + MOST_MS; !is_still(w) && wire_now_ms() < end;)
        if (!wire_poll(w))
            nanosleep(&(struct timespec){ 0, NAP_NS }, NULL);
    return is_still(w);
}

/* Will all others come to their end?  One that has ended closes its connections too: it is not there any
 * more only if messages have not brought this process to the end a while later. */
static bool all_will_end(const Wire *w)
{
    enum { GRACE_MS = 2000 };
    for (int p = 0; p < w->nprocesses; p++) {
        const Lost *lost = &w->lost[p];
        if (lost->why && (!lost->has_left || (lost->gone && wire_now_ms() > lost->gone + GRACE_MS)))
            return false;
    }
    return true;
}

void wire_leave(Wire *w)
{
    enum { NAP_NS = 100000 };
    pthread_mutex_lock(&w->lock);
    bool waits = !w->broken && !w->runs;
    w->has_left = true;
    wire_break(w, "this process is ending");
    while (!w->shim->leave(waits && all_will_end(w))) {
        pthread_mutex_unlock(&w->lock);
        nanosleep(&(struct timespec){ 0, NAP_NS }, NULL);
        pthread_mutex_lock(&w->lock);
    }
    pthread_mutex_unlock(&w->lock);
}

Error *wire_new(Shim *shim, int process, int nprocesses, Wire **out)
{
    Wire *w = calloc(1, sizeof *w);
    Lost *lost = calloc((size_t)nprocesses, sizeof *lost);
    char **names = calloc((size_t)nprocesses, sizeof *names);
    if (!w || !lost || !names) {
        free(w);
        free(lost);
        free(names);
        return error_new(CODE_EXHAUSTED, "no memory for messages between %d processes", nprocesses);
    }
    w->shim = shim;
    w->process = process;
    w->nprocesses = nprocesses;
    w->lost = lost;
    w->names = names;
    w->waiting_end = &w->waiting;
    pthread_mutex_init(&w->lock, NULL);
    for (int i = 0; i < BOXES; i++) {
        char *memory = malloc(sizeof(Packet) + PACKET_BODY);
        if (!memory || !wire_post_box(w, memory))
            return error_new(CODE_UNAVAILABLE, "messages between processes: %s",
                             w->broken ? w->broken : "no memory for packets");
    }
    *out = w;
    return thread_start(&w->thread, "tutti-wire", attend, w);
}
