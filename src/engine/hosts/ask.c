/* ask.c - an exchange that waits long: is the other process on its way?
 *
 *     waits a second --> asks the process whose packet has not come: have you begun this run?
 *     it has         --> it says nothing: it is on its way
 *     it has not     --> it says so, and in which run it waits for the one that asks, if it does
 *
 * Two processes that wait for each other, each in a run that the other has not begun, on devices that
 * both runs use, wait for ever, for the runs of a device begin in the order of their launches: both
 * exchanges fail.  A process that waits for nobody may still come; who waits for it says so once. */
#include "engine/hosts/wire_inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    PATIENT_BEATS = 4,  /* of a quarter of a second: then it asks, and again after as many */
    SPOKEN_BEATS = 14,  /* then it says that it waits */
    MOST_NAME = 160,    /* bytes of text */
    MOST_DEVICES = 1024 /* of a run that is asked about: a question has room for so many */
};

/* The body of an answer. */
typedef struct Answer {
    WirePlace waits; /* where it waits for the one that asked; program 0: it does not */
    char where[MOST_NAME];
} Answer;
_Static_assert(sizeof(Answer) == PACKET_ANSWER_BYTES, "the body of an answer");

static const HostSpan *span_of(const Wire *w, const WirePlace *place)
{
    const HostSpan *span = w->spans;
    while (span && span->key != place->program)
        span = span->next;
    return span;
}

/* ---- asking ---- */

/* Has the packet of peer not come? */
static bool awaits(const Exchange *x, int peer)
{
    if (!x->nawaited || !exchange_bytes(x, peer, false))
        return false;
    for (int i = 0; i < x->nparts; i++)
        if (x->parts[i].peer == peer && !x->parts[i].is_sent)
            return !x->parts[i].has_come;
    return x->stream && !x->stream->in.tag;
}

/* Which devices the run is on goes with the question; none: it is on no devices in particular. */
static void ask(Wire *w, const Exchange *x, int peer)
{
    const HostSpan *span = span_of(w, &x->place);
    size_t n = span && span->ndevices <= MOST_DEVICES ? (size_t)span->ndevices : 0;
    size_t body = sizeof(int32_t) * n;
    Packet *l = packet_new(w, PACKET_ASK, &x->place, body, body);
    if (!l)
        return;
    if (n)
        memcpy(l + 1, span->ids, body);
    packet_post(w, l, body, peer);
}

void wire_beat(Wire *w)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec++; /* a shim never waits, but when the process ends */
    if (pthread_mutex_timedlock(&w->lock, &until))
        return;
    w->nbeats++;
    for (const Exchange *x = w->open; x && !w->has_left && !w->broken; x = x->next) {
        int age = w->nbeats - x->begun;
        if (!x->nawaited || age < PATIENT_BEATS || age % PATIENT_BEATS)
            continue;
        for (int p = 0; p < w->nprocesses; p++)
            if (!w->lost[p].why && awaits(x, p))
                ask(w, x, p);
    }
    pthread_mutex_unlock(&w->lock);
    wire_poll(w); /* others may ask, and this process need not be waiting */
}

/* ---- answering ---- */

static bool shares_a_device(const HostSpan *span, const int32_t *ids, size_t n)
{
    for (size_t i = 0; span && i < n; i++)
        for (int d = 0; d < span->ndevices; d++)
            if (span->ids[d] == ids[i])
                return true;
    return !span || !n;
}

void packet_asked(Wire *w, const Packet *l, int peer)
{
    if (wire_run_state(w->spans, w->runs, &l->place) != WIRE_RUN_NOT_BEGUN)
        return;
    Packet *reply = packet_new(w, PACKET_ANSWER, &l->place, sizeof(Answer), sizeof(Answer));
    if (!reply)
        return;
    Answer *answer = (Answer *)(reply + 1);
    for (const Exchange *x = w->open; x; x = x->next)
        if (w->nbeats - x->begun >= PATIENT_BEATS && awaits(x, peer) &&
            shares_a_device(span_of(w, &x->place), (const int32_t *)(l + 1),
                            l->bytes / sizeof(int32_t))) {
            answer->waits = x->place;
            snprintf(answer->where, sizeof answer->where, "%s (%s)", x->name, x->where);
        }
    packet_post(w, reply, sizeof(Answer), peer);
}

/* ---- what is said ---- */

static void say_once(Wire *w, Exchange *x, int peer)
{
    if (x->has_spoken || w->nbeats - x->begun < SPOKEN_BEATS)
        return;
    x->has_spoken = true;
    fprintf(stderr,
            "tutti: process %d: %s (%s) waits for process %d%s, which has not begun this run: it "
            "does something else, or skips it\n",
            w->process, x->name, x->where, peer, w->names[peer] ? w->names[peer] : "");
}

void packet_answered(Wire *w, const Packet *l, int peer)
{
    Answer answer;
    memcpy(&answer, l + 1, sizeof answer);
    answer.where[MOST_NAME - 1] = 0;
    for (Exchange *x = w->open; x; x = x->next) {
        if (!wire_is_same_place(&x->place, &l->place) || !awaits(x, peer))
            continue;
        if (!answer.waits.program ||
            wire_run_state(w->spans, w->runs, &answer.waits) != WIRE_RUN_NOT_BEGUN)
            say_once(w, x, peer);
        else
            exchange_fail(x,
                          error_new(CODE_PRECONDITION,
                                    "%s (%s): process %d%s waits for process %d in %s: they wait "
                                    "for each other; all must run the same programs in the same "
                                    "order",
                                    x->name, x->where, peer, w->names[peer] ? w->names[peer] : "",
                                    w->process, answer.where));
    }
}

void wire_name(Wire *w, int process, const char *name)
{
    pthread_mutex_lock(&w->lock);
    free(w->names[process]);
    w->names[process] = strdup(name);
    pthread_mutex_unlock(&w->lock);
}
