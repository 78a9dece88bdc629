/* cross_mail.c - send and recv between devices of different processes.
 *
 * The n-th message of a channel from one device to another is an exchange of two processes.  The sender
 * goes on at once: its message has memory of its own, which ends with the exchange.  The receiver waits
 * as for a collective. */
#include "engine/exec/crossing.h"

#include <stdlib.h>
#include <string.h>

/* The messages of a channel from one device to another, counted. */
typedef struct Lane {
    struct Lane *next;
    int64_t channel, count;
    int from, to;
} Lane;

typedef struct Mail {
    Exchange exchange;
    WirePart part;
    char data[];
} Mail;

/* Which message of its lane is the next?  -1: no memory. */
static int64_t next_of_lane(Run *run, int64_t channel, int from, int to)
{
    int64_t count = -1;
    run_lock(run);
    Lane *lane = run->lanes;
    while (lane && (lane->channel != channel || lane->from != from || lane->to != to))
        lane = lane->next;
    if (!lane) {
        lane = calloc(1, sizeof *lane);
        if (lane)
            *lane = (Lane){ run->lanes, channel, 0, from, to };
        run->lanes = lane ? lane : run->lanes;
    }
    if (lane)
        count = lane->count++;
    run_unlock(run);
    return count;
}

void crossing_free_lanes(Run *run)
{
    for (Lane *lane = run->lanes, *next; lane; lane = next) {
        next = lane->next;
        free(lane);
    }
    run->lanes = NULL;
}

/* A place of its own for each message: groups have numbers from 0 on. */
static Error *place_of(Run *run, const Collective *c, int from, int to, WirePlace *out)
{
    const SendAttrs *attrs = c->attrs;
    if (attrs->channel_id < 0 || attrs->channel_id > INT32_MAX)
        return error_new(CODE_UNIMPLEMENTED,
                         "%s (%s): channel %lld; between processes they go from 0 to %d", c->name,
                         collective_where(c), (long long)attrs->channel_id, INT32_MAX);
    int64_t count = next_of_lane(run, attrs->channel_id, from, to);
    *out = (WirePlace){ .program = run->wire.program,
                        .run = run->wire.run,
                        .count = (attrs->channel_id << 32) + count,
                        .group = -1 - (from * run->program->ndevices + to) };
    return count < 0 ? error_new(CODE_EXHAUSTED, "%s (%s): no memory for a message", c->name,
                                 collective_where(c))
                     : NULL;
}

/* All but the token, which comes last; a message has at least a byte. */
static size_t mail_bytes(int n, const Type *types)
{
    size_t bytes = 0;
    for (int i = 0; i + 1 < n; i++)
        bytes += type_bytes(types[i]);
    return bytes ? bytes : 1;
}

static void copy_values(const Frame *f, int n, const Type *types, const Address *at, char *data,
                        bool is_sent)
{
    for (int i = 0; i + 1 < n; i++) {
        size_t bytes = type_bytes(types[i]);
        if (bytes && is_sent)
            memcpy(data, frame_at(f, at[i]), bytes);
        else if (bytes)
            memcpy(frame_at(f, at[i]), data, bytes);
        data += bytes;
    }
}

/* ---- sending ---- */

/* An error is told to whoever waits for the message; here nobody does. */
static void mail_over(Exchange *exchange, Error *error)
{
    error_free(error);
    if (!exchange->is_left_behind)
        free(exchange->user);
}

Error *crossing_send(Task *t, int k, int to)
{
    Run *run = t->run;
    const Collective *c = &run->program->collectives[k];
    size_t bytes = mail_bytes(c->nin, c->in_types);
    WirePlace place;
    TRY(place_of(run, c, t->number, to, &place));
    Mail *mail = calloc(1, sizeof *mail + bytes);
    if (!mail)
        return error_new(CODE_EXHAUSTED, "%s (%s): no memory for a message of %zu bytes", c->name,
                         collective_where(c), bytes);
    copy_values(&t->frame, c->nin, c->in_types, c->in, mail->data, true);
    mail->part = (WirePart){ run->span->process_of[to], true, mail->data, bytes };
    mail->exchange = (Exchange){ .place = place,
                                 .nparts = 1,
                                 .parts = &mail->part,
                                 .over = mail_over,
                                 .user = mail,
                                 .name = "send", /* the program may be gone before it is over */
                                 .where = "a message between processes" };
    Wire *wire = run->span->wire;
    exchange_begin(wire, &mail->exchange);
    wire_attend(wire);
    return NULL;
}

/* ---- receiving ---- */

static Error *step(Crossing *x)
{
    const Collective *c = x->members.c;
    if (crossing_is_open(x) || !x->way)
        return NULL;
    copy_values(&x->last->frame, c->nout, c->out_types, c->out, x->way, false);
    free(x->way);
    x->way = NULL; /* once */
    return NULL;
}

Error *cross_by_mail(Crossing *x, int from)
{
    const Collective *c = x->members.c;
    size_t bytes = mail_bytes(c->nout, c->out_types);
    TRY(place_of(x->run, c, from, x->last->number, &x->place));
    x->way = malloc(bytes);
    WirePart *part = x->exchanges[0].parts = malloc(sizeof *part);
    if (!x->way || !part)
        return crossing_no_memory(x);
    *part = (WirePart){ x->run->span->process_of[from], false, x->way, bytes };
    x->exchanges[0].nparts = 1;
    x->step = step;
    crossing_exchange(x, 0);
    return NULL;
}
