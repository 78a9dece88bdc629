/* ask.c - an exchange that waits long: is the other process on its way?
 *
 *     waits a second    --> asks the process whose packet has not come: where are you in this run?
 *     it has not begun  --> it says so, and in which other run it waits for the one that asks, if it does
 *     it has begun      --> it says so, and where in this run it waits for the one that asks, if it does
 *     it has ended it   --> it says so: the exchange fails
 *
 * Two processes that wait for each other, each in a run that the other has not begun, on devices that
 * both runs use, wait for ever, for the runs of a device begin in the order of their launches: both
 * exchanges fail.  So do those of one run in which nothing moves in either process before the other
 * comes, if it is still so when they are asked again: packets that were on their way have come by then.
 * Whoever else is waited for may still come; who waits for it says so once. */
#define _GNU_SOURCE /* asprintf */
#include "engine/hosts/wire_inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    PATIENT_BEATS = 4,  /* of a quarter of a second: then it asks, and again after as many */
    SPOKEN_BEATS = 14,  /* then it says that it waits */
    MOST_NAME = 152,    /* bytes of text */
    MOST_DEVICES = 1024 /* of a run that is asked about: a question has room for so many */
};

/* The body of an answer. */
typedef struct Answer {
    WirePlace waits;  /* where it waits for the one that asked; program 0: it does not */
    int32_t state;    /* of the run that was asked about: a WireRunState */
    int32_t is_stuck; /* nothing of it moves until the one that asked comes there */
    char where[MOST_NAME];
} Answer;
_Static_assert(sizeof(Answer) == PACKET_ANSWER_BYTES, "the body of an answer");

static HostSpan *span_of(const Wire *w, const WirePlace *place)
{
    HostSpan *span = w->spans;
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

static bool is_same_run(const WirePlace *a, const WirePlace *b)
{
    return a->program == b->program && a->run == b->run;
}

/* Does nothing of the run move here before peer comes, for whom all its exchanges wait? */
static bool is_stuck(const Wire *w, const WirePlace *place, int peer)
{
    WireRun *run = w->runs;
    while (run && (run->program != place->program || run->run != place->run))
        run = run->next;
    if (!run || !run->is_stuck || !run->is_stuck(run))
        return false;
    for (const Exchange *x = w->open; x; x = x->next)
        if (is_same_run(&x->place, place) && !awaits(x, peer))
            return false;
    return true;
}

/* Where this process waits for peer: in the run that it asks about, or, if that has not begun, in any
 * that has devices in common with it. */
static const Exchange *find_waiting(const Wire *w, const Packet *l, int peer, WireRunState state)
{
    size_t n = l->bytes / sizeof(int32_t);
    for (const Exchange *x = w->open; x; x = x->next) {
        bool is_candidate =
            state == WIRE_RUN_NOT_BEGUN
                ? shares_a_device(span_of(w, &x->place), (const int32_t *)(l + 1), n)
                : is_same_run(&x->place, &l->place);
        if (is_candidate && w->nbeats - x->begun >= PATIENT_BEATS && awaits(x, peer))
            return x;
    }
    return NULL;
}

void packet_asked(Wire *w, const Packet *l, int peer)
{
    WireRunState state = wire_run_state(w->spans, w->runs, &l->place);
    Packet *reply = packet_new(w, PACKET_ANSWER, &l->place, sizeof(Answer), sizeof(Answer));
    if (!reply)
        return;
    Answer *answer = (Answer *)(reply + 1);
    const Exchange *x = state == WIRE_RUN_ENDED ? NULL : find_waiting(w, l, peer, state);
    answer->state = state;
    if (x) {
        answer->waits = x->place;
        answer->is_stuck = state == WIRE_RUN_UNDER_WAY && is_stuck(w, &l->place, peer);
        snprintf(answer->where, sizeof answer->where, "%s (%s)", x->name, x->where);
    }
    packet_post(w, reply, sizeof(Answer), peer);
}

/* ---- what is said ---- */

static const char *name_of(const Wire *w, int process)
{
    return w->names[process] ? w->names[process] : "";
}

/* Once for a program, of which many runs may be under way. */
static void say_once(Wire *w, Exchange *x, int peer, const Answer *answer)
{
    HostSpan *span = span_of(w, &x->place);
    bool has_begun = answer->state == WIRE_RUN_UNDER_WAY;
    bool *has_spoken = span ? &span->has_spoken : &x->has_spoken;
    if (*has_spoken || w->words || w->nbeats - x->begun < SPOKEN_BEATS)
        return;
    *has_spoken = true;
    bool waits = has_begun && answer->waits.program;
    if (asprintf(&w->words,
                 "tutti: process %d: %s (%s) waits for process %d%s, which has %s: it %s%s\n",
                 w->process, x->name, x->where, peer, name_of(w, peer),
                 has_begun ? "begun this run and not come here" : "not begun this run",
                 waits ? "waits in " : "does something else, or skips it",
                 waits ? answer->where : "") < 0)
        w->words = NULL;
}

static void fail_circle(Wire *w, Exchange *x, int peer, const Answer *answer)
{
    exchange_fail(x, error_new(CODE_PRECONDITION,
                               "%s (%s): process %d%s waits for process %d in %s: they wait for "
                               "each other; all must %s in the same order",
                               x->name, x->where, peer, name_of(w, peer), w->process, answer->where,
                               answer->state == WIRE_RUN_UNDER_WAY ? "come to the same collectives"
                                                                   : "run the same programs"));
}

/* Is this the second time that both wait for each other, at the same places of one run?  One process
 * at a time is remembered. */
static bool is_circle_again(const Wire *w, Exchange *x, int peer, const Answer *answer)
{
    bool is_circle =
        answer->is_stuck && is_same_run(&answer->waits, &x->place) && is_stuck(w, &x->place, peer);
    bool is_known = x->circle.program && x->circle_peer == peer;
    if (is_circle && is_known && wire_is_same_place(&answer->waits, &x->circle))
        return true;
    if (is_known || !x->circle.program) {
        x->circle = is_circle ? answer->waits : (WirePlace){ 0 };
        x->circle_peer = peer;
    }
    return false;
}

static void hear_answer(Wire *w, Exchange *x, int peer, const Answer *answer)
{
    if (answer->state == WIRE_RUN_ENDED)
        exchange_fail(x, error_new(CODE_UNAVAILABLE,
                                   "%s (%s): process %d has left this run: its devices have "
                                   "finished without coming here",
                                   x->name, x->where, peer));
    else if (answer->state == WIRE_RUN_UNDER_WAY
                 ? is_circle_again(w, x, peer, answer)
                 : answer->waits.program &&
                       wire_run_state(w->spans, w->runs, &answer->waits) == WIRE_RUN_NOT_BEGUN)
        fail_circle(w, x, peer, answer);
    else
        say_once(w, x, peer, answer);
}

void packet_answered(Wire *w, const Packet *l, int peer)
{
    Answer answer;
    memcpy(&answer, l + 1, sizeof answer);
    answer.where[MOST_NAME - 1] = 0;
    for (Exchange *x = w->open; x; x = x->next)
        if (wire_is_same_place(&x->place, &l->place) && awaits(x, peer))
            hear_answer(w, x, peer, &answer);
}

void wire_name(Wire *w, int process, const char *name)
{
    pthread_mutex_lock(&w->lock);
    free(w->names[process]);
    w->names[process] = strdup(name);
    pthread_mutex_unlock(&w->lock);
}
