/* circles.c - processes that wait for one another in a circle: what they wait in fails, in all of them.
 *
 *     process 1 waits in b for process 2, which waits in c  --\
 *     process 2 waits in c for process 0, which waits in a  ---+--> the first process that is there
 *     process 0 waits in a for process 1, which waits in b  --/     looks for circles, and tells all
 *
 * A claim says of an exchange that is open in one process: another has not sent what it lacks, and will not
 * before an exchange of its own is over, or one of several.  It stays true until that is so, however old it
 * is.  So in a set of claims each of which waits only for exchanges that the set has claims of, none is
 * ever over: one would have to be the first, and what it waits for would have to be over before.  That is
 * a circle, whoever else moves.  No time decides anything.
 *
 * Where a process has not begun a run, what it waits in was begun before, by the order of its calls: among
 * processes that make the same calls in the same order such claims lead ever further back, never around. */
#include "base/text.h"
#include "engine/hosts/wire_inside.h"

#include <stdlib.h>
#include <string.h>

enum {
    MOST_CLAIMS = 1024, /* that are known at a time */
    KEPT_BEATS = 12,    /* a claim that was not made again for so long is dropped */
    MOST_LINKS = 8,     /* of a circle that a message names */
};

/* A claim, and whose it is. */
struct KnownClaim {
    struct KnownClaim *next;
    int process;
    WirePlace place; /* of the exchange that it is about */
    Claim claim;
    int heard;     /* at which beat */
    bool is_stuck; /* as far as is known by now: what it is about is never over */
    bool is_named; /* in the message that is being made */
};
typedef struct KnownClaim KnownClaim;

static bool is_same_run(const WirePlace *a, const WirePlace *b)
{
    return a->program == b->program && a->run == b->run;
}

/* ---- crossings ---- */

/* A number for the crossing that an exchange is of: it has one or two (exec/crossing.h).  Messages, which
 * are of no group, are each for themselves. */
static uint64_t crossing_of(const WirePlace *place)
{
    uint64_t count = (uint64_t)place->count;
    uint64_t h = (place->group < 0 ? count : count & ~(uint64_t)1) * 0x9e3779b97f4a7c15u;
    h = (h ^ h >> 29 ^ (uint64_t)(uint32_t)place->group) * 0xbf58476d1ce4e5b9u;
    return h ^ h >> 32;
}

uint64_t crossings_of(const Wire *w, const WirePlace *run, int32_t *n, const Exchange **last)
{
    uint64_t all = 0;
    *n = 0;
    for (const Exchange *x = w->open; x; x = x->next) {
        bool is_counted = !is_same_run(&x->place, run);
        for (const Exchange *y = w->open; y != x && !is_counted; y = y->next)
            is_counted =
                is_same_run(&y->place, run) && crossing_of(&y->place) == crossing_of(&x->place);
        if (is_counted)
            continue;
        all ^= crossing_of(&x->place);
        *n += 1;
        *last = x;
    }
    return all;
}

/* ---- claims ---- */

static void keep_claim(Wire *w, int process, const WirePlace *place, const Claim *claim)
{
    KnownClaim *c = w->claims;
    int n = 0;
    for (; c; c = c->next, n++)
        if (c->process == process && c->claim.by == claim->by &&
            wire_is_same_place(&c->place, place))
            break;
    if (!c) {
        c = n < MOST_CLAIMS ? calloc(1, sizeof *c) : NULL;
        if (!c)
            return; /* it is made again */
        c->next = w->claims;
        w->claims = c;
    }
    c->process = process;
    c->place = *place;
    c->claim = *claim;
    c->heard = w->nbeats;
}

void claim_tell(Wire *w, const WirePlace *place, const Claim *claim)
{
    int first = 0;
    while (first < w->process && w->lost[first].why)
        first++;
    if (first == w->process) {
        keep_claim(w, w->process, place, claim);
        return;
    }
    Packet *l = packet_new(w, PACKET_CLAIM, place, sizeof *claim, sizeof *claim);
    if (!l)
        return;
    memcpy(l + 1, claim, sizeof *claim);
    packet_post(w, l, sizeof *claim, first);
}

void packet_claimed(Wire *w, const Packet *l, int peer)
{
    Claim claim;
    memcpy(&claim, l + 1, sizeof claim);
    claim.where[CLAIM_NAME - 1] = 0;
    if (claim.by >= 0 && claim.by < w->nprocesses)
        keep_claim(w, peer, &l->place, &claim);
}

/* Drops claims that are old; or, if there are circles, those that were in one. */
static void drop_claims(Wire *w, bool are_told)
{
    for (KnownClaim **link = &w->claims; *link;) {
        KnownClaim *c = *link;
        if (are_told ? !c->is_stuck : w->nbeats - c->heard <= KEPT_BEATS) {
            link = &c->next;
            continue;
        }
        *link = c->next;
        free(c);
    }
}

/* ---- circles ---- */

/* Is c about an exchange of the crossing of an earlier one in the list that is stuck? */
static bool is_counted(const Wire *w, const KnownClaim *c)
{
    for (const KnownClaim *o = w->claims; o != c; o = o->next)
        if (o->is_stuck && o->process == c->process && is_same_run(&o->place, &c->place) &&
            crossing_of(&o->place) == crossing_of(&c->place))
            return true;
    return false;
}

/* A claim that is stuck of what c waits for; NULL: there is none. */
static KnownClaim *find_next(const Wire *w, const KnownClaim *c)
{
    bool is_any = c->claim.ncrossings;
    for (KnownClaim *o = w->claims; o; o = o->next)
        if (o->is_stuck && o->process == c->claim.by &&
            (is_any ? is_same_run(&o->place, &c->place)
                    : wire_is_same_place(&o->place, &c->claim.blocker)))
            return o;
    return NULL;
}

/* Is all that c waits for stuck, one of which would have to be over? */
static bool is_held(const Wire *w, const KnownClaim *c)
{
    uint64_t all = 0;
    int n = 0;
    if (!c->claim.ncrossings)
        return find_next(w, c);
    for (const KnownClaim *o = w->claims; o; o = o->next)
        if (o->is_stuck && o->process == c->claim.by && is_same_run(&o->place, &c->place) &&
            !is_counted(w, o)) {
            all ^= crossing_of(&o->place);
            n++;
        }
    return n == c->claim.ncrossings && all == c->claim.crossings;
}

/* The largest set of claims each of which waits only for some of the set. */
static bool find_stuck(Wire *w)
{
    bool is_less = true;
    for (KnownClaim *c = w->claims; c; c = c->next)
        c->is_stuck = true;
    while (is_less) {
        is_less = false;
        for (KnownClaim *c = w->claims; c; c = c->next)
            if (c->is_stuck && !is_held(w, c)) {
                c->is_stuck = false;
                is_less = true;
            }
    }
    const KnownClaim *c = w->claims;
    while (c && !c->is_stuck)
        c = c->next;
    return c;
}

/* ---- telling ---- */

/* "process 1 waits for process 2 in all_reduce (train.c:9), process 2 waits for process 0 in ...": what the
 * process of `from` waits for, until it comes around. */
static void describe(Wire *w, KnownClaim *from, Text *out)
{
    bool is_one_run = true;
    int n = 0;
    for (KnownClaim *c = w->claims; c; c = c->next)
        c->is_named = c->process == from->process && wire_is_same_place(&c->place, &from->place);
    for (KnownClaim *c = find_next(w, from); c && !c->is_named && n < MOST_LINKS; n++) {
        c->is_named = true;
        is_one_run = is_one_run && is_same_run(&c->place, &from->place);
        text_printf(out, "%sprocess %d%s waits for process %d in %s", n ? ", " : "", c->process,
                    wire_name_of(w, c->process), (int)c->claim.by, c->claim.where);
        c = find_next(w, c);
    }
    text_printf(out, "%s: they wait for each other; all must %s in the same order",
                n == MOST_LINKS ? ", ..." : "",
                is_one_run ? "come to the same collectives" : "run the same programs");
}

static void fail_open(Wire *w, const WirePlace *place, const char *why, size_t n)
{
    Exchange *x = wire_find_open(w, place);
    if (x && !x->error)
        exchange_fail(
            x, error_new(CODE_PRECONDITION, "%s (%s): %.*s", x->name, x->where, (int)n, why));
}

static void tell(Wire *w, KnownClaim *c)
{
    Text text = { .is_message = true };
    describe(w, c, &text);
    size_t n = strlen(text_cstr(&text));
    n = n < PACKET_BODY ? n : PACKET_BODY;
    if (c->process == w->process) {
        fail_open(w, &c->place, text_cstr(&text), n);
    } else if (!w->lost[c->process].why) {
        Packet *l = packet_new(w, PACKET_CIRCLE, &c->place, n, n);
        if (l) {
            memcpy(l + 1, text_cstr(&text), n);
            packet_post(w, l, n, c->process);
        }
    }
    text_free(&text);
}

void packet_circle(Wire *w, const Packet *l)
{
    fail_open(w, &l->place, (const char *)(l + 1), l->bytes);
}

void wire_find_circles(Wire *w)
{
    drop_claims(w, false);
    if (!find_stuck(w))
        return;
    for (KnownClaim *c = w->claims; c && !w->broken; c = c->next)
        if (c->is_stuck)
            tell(w, c);
    drop_claims(w, true);
}
