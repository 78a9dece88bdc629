/* ask.c - an exchange that waits long: whether the other process is on its way.
 *
 *     waits a second    --> asks the process whose packet has not come: where are you in this run?
 *     it has not begun  --> it says so, and what it waits in itself, before it can begin
 *     it has begun      --> it says so; and, if nothing of the run moves there, what it waits in
 *     it has ended it   --> it says so: the exchange fails
 *
 * What a process waits in before it can come is told to the process that looks for circles (circles.c).
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
    MOST_DEVICES = 1024 /* of a run that is asked about: a question has room for so many */
};

/* The body of an answer. */
typedef struct Answer {
    WirePlace waits;    /* what must be over before it can come; program 0: nothing that it knows */
    int32_t state;      /* of the run that was asked about: a WireRunState */
    int32_t ncrossings; /* not 0: one of so many of this run must be over before, */
    uint64_t crossings; /* and which they are (circles.c) */
    char where[CLAIM_NAME];
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

static bool is_coming(const Exchange *x)
{
    return !x->error && x->stream && x->stream->in.nover < x->stream->in.n;
}

/* The same, or pieces that it has announced? */
static bool lacks(const Exchange *x, int peer)
{
    return awaits(x, peer) || (is_coming(x) && x->stream->from == peer);
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

bool wire_beat(Wire *w)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec++; /* a shim never waits, but when the process ends */
    if (pthread_mutex_timedlock(&w->lock, &until))
        return true;
    w->nbeats++;
    for (const Exchange *x = w->open; x && !w->has_left && !w->broken; x = x->next) {
        int age = w->nbeats - x->begun;
        if (age < PATIENT_BEATS || age % PATIENT_BEATS || (!x->nawaited && !is_coming(x)))
            continue;
        for (int p = 0; p < w->nprocesses; p++)
            if (!w->lost[p].why && lacks(x, p))
                ask(w, x, p);
    }
    if (w->claims && !w->has_left && !w->broken)
        wire_find_circles(w);
    bool is_well = !w->broken || w->has_left;
    pthread_mutex_unlock(&w->lock);
    wire_poll(w); /* others may ask, and this process need not be waiting */
    return is_well;
}

/* ---- answering ---- */

/* Is a device of the span, one of this process, among these?  Who has none in particular waits for all. */
static bool shares_a_device(const Wire *w, const HostSpan *span, const int32_t *ids, size_t n)
{
    for (size_t i = 0; span && i < n; i++)
        for (int d = 0; d < span->ndevices; d++)
            if (span->ids[d] == ids[i] && span->process_of[d] == w->process)
                return true;
    return !span || !span->ndevices || !n;
}

static WireRun *run_of(const Wire *w, const WirePlace *place)
{
    WireRun *run = w->runs;
    while (run && (run->program != place->program || run->run != place->run))
        run = run->next;
    return run;
}

/* Was the run of x launched here before this one? */
static bool is_earlier(const WireRun *run, const Exchange *x)
{
    const WireRun *r = run->next;
    while (r && (r->program != x->place.program || r->run != x->place.run))
        r = r->next;
    return r;
}

/* What must be over here before this process begins the run that is asked about (run: NULL), or goes on
 * with it: runs of a device begin in the order of their launches.  Rather what waits for the one that
 * asks, else the oldest. */
static const Exchange *find_earlier(const Wire *w, const Packet *l, int peer, const WireRun *run)
{
    size_t n = l->bytes / sizeof(int32_t);
    const Exchange *found = NULL;
    for (const Exchange *x = w->open; x; x = x->next) {
        if (x->error || w->nbeats - x->begun < PATIENT_BEATS || (run && !is_earlier(run, x)) ||
            !shares_a_device(w, span_of(w, &x->place), (const int32_t *)(l + 1), n))
            continue;
        found = x;
        if (awaits(x, peer))
            break;
    }
    return found;
}

/* The exchange that is asked about is under way here, and its pieces to the one that asks are made of
 * pieces that have not come? */
static bool passes_on(const Exchange *x, int peer)
{
    return is_coming(x) && x->stream->to == peer;
}

/* A process that has begun the run. */
static const Exchange *answer_under_way(const Wire *w, const Packet *l, int peer, Answer *answer)
{
    const Exchange *here = wire_find_open(w, &l->place);
    WireRun *run = run_of(w, &l->place);
    if (here)
        return passes_on(here, peer) ? here : NULL;
    if (!run->is_stuck || !run->is_stuck(run))
        return find_earlier(w, l, peer, run);
    const Exchange *last = NULL;
    answer->crossings = crossings_of(w, &l->place, &answer->ncrossings, &last);
    return last;
}

void packet_asked(Wire *w, const Packet *l, int peer)
{
    WireRunState state = wire_run_state(w->spans, w->runs, &l->place);
    Packet *reply = packet_new(w, PACKET_ANSWER, &l->place, sizeof(Answer), sizeof(Answer));
    if (!reply)
        return;
    Answer *answer = (Answer *)(reply + 1);
    const Exchange *x = NULL;
    answer->state = state;
    if (state == WIRE_RUN_UNDER_WAY)
        x = answer_under_way(w, l, peer, answer);
    else if (state == WIRE_RUN_NOT_BEGUN)
        x = find_earlier(w, l, peer, NULL);
    if (x) {
        answer->waits = x->place;
        snprintf(answer->where, sizeof answer->where, "%s (%s)", x->name, x->where);
    }
    packet_post(w, reply, sizeof(Answer), peer);
}

/* ---- what is said ---- */

/* Once for a program, of which many runs may be under way. */
static void say_once(Wire *w, Exchange *x, int peer, const Answer *answer)
{
    HostSpan *span = span_of(w, &x->place);
    bool has_begun = answer->state == WIRE_RUN_UNDER_WAY;
    bool *has_spoken = span && span->ndevices ? &span->has_spoken : &x->has_spoken;
    if (*has_spoken || w->words || w->nbeats - x->begun < SPOKEN_BEATS)
        return;
    *has_spoken = true;
    bool waits = answer->waits.program;
    if (asprintf(&w->words,
                 "tutti: process %d: %s (%s) waits for process %d%s, which has %s: it %s%s\n",
                 w->process, x->name, x->where, peer, wire_name_of(w, peer),
                 has_begun ? "begun this run and not come here" : "not begun this run",
                 waits ? "waits in " : "does something else, or skips it",
                 waits ? answer->where : "") < 0)
        w->words = NULL;
}

/* What the answer says keeps peer from coming is claimed. */
static void claim(Wire *w, const Exchange *x, int peer, const Answer *answer)
{
    Claim c = { .by = peer, .ncrossings = answer->ncrossings, .crossings = answer->crossings };
    if (!answer->ncrossings)
        c.blocker = answer->waits;
    if (!c.ncrossings && !c.blocker.program)
        return;
    snprintf(c.where, sizeof c.where, "%s (%s)", x->name, x->where);
    claim_tell(w, &x->place, &c);
}

/* Packets of one process come in order: if its packet to x has not come by now, it had not sent it when it
 * answered. */
static void hear_answer(Wire *w, Exchange *x, int peer, const Answer *answer)
{
    if (!awaits(x, peer)) { /* its pieces: they come, unless it waits at the same place */
        if (answer->state == WIRE_RUN_UNDER_WAY && wire_is_same_place(&answer->waits, &x->place))
            claim(w, x, peer, answer);
        return;
    }
    if (answer->state == WIRE_RUN_ENDED) {
        exchange_fail(x, error_new(CODE_UNAVAILABLE,
                                   "%s (%s): process %d has left this run: its devices have "
                                   "finished without coming here",
                                   x->name, x->where, peer));
        return;
    }
    claim(w, x, peer, answer);
    say_once(w, x, peer, answer);
}

void packet_answered(Wire *w, const Packet *l, int peer)
{
    Answer answer;
    memcpy(&answer, l + 1, sizeof answer);
    answer.where[CLAIM_NAME - 1] = 0;
    Exchange *x = wire_find_open(w, &l->place);
    if (x && lacks(x, peer))
        hear_answer(w, x, peer, &answer);
}

void wire_name(Wire *w, int process, const char *name)
{
    pthread_mutex_lock(&w->lock);
    free(w->names[process]);
    w->names[process] = strdup(name);
    pthread_mutex_unlock(&w->lock);
}
