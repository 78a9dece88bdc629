/* packets.c - packets that come: to an exchange that is open here, early, or to none.
 *
 *     to an open exchange      its bytes are taken, or received under their tag
 *     to a run under way, or   it waits for its exchange
 *     that has not begun
 *     to a run that has ended  its writer waits in vain, and is told so */
#include "engine/hosts/wire_inside.h"

#include <stdlib.h>
#include <string.h>

Packet *packet_new(Wire *w, PacketKind kind, const WirePlace *place, size_t bytes, size_t body)
{
    Packet *l = calloc(1, sizeof *l + body);
    if (!l)
        wire_break(w, "no memory for a packet");
    else
        *l = (Packet){ PACKET_MAGIC, (uint16_t)kind, 0, *place, bytes, 0, { 0 } };
    return l;
}

void packet_post(Wire *w, Packet *l, size_t body, int peer)
{
    Post what = { .kind = POST_PACKET, .memory = (char *)l };
    wire_post(w, what, l, sizeof *l + body, peer, true);
}

void packet_send_failed(Wire *w, const WirePlace *place, int peer, const char *why)
{
    size_t n = strlen(why);
    n = n < PACKET_BODY ? n : PACKET_BODY;
    Packet *l = packet_new(w, PACKET_FAILED, place, n, n);
    if (!l)
        return;
    memcpy(l + 1, why, n);
    packet_post(w, l, n, peer);
}

static bool is_of_run(const WirePlace *a, const WirePlace *b)
{
    return a->program == b->program && a->run == b->run;
}

/* ---- to an open exchange ---- */

static void drop_packet(Wire *w, const Packet *l, int peer)
{
    if (l->kind == PACKET_TAG)
        wire_drain(w, l->nmessages, l->tag, peer);
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
                     exchange_bytes(x, peer, false));
}

/* The packet of `peer` to x has come. */
static void take_packet(Wire *w, Exchange *x, const Packet *l, int peer)
{
    if (l->place.collective != x->place.collective || l->bytes != exchange_bytes(x, peer, false) ||
        (x->stream && l->kind != PACKET_TAG)) {
        exchange_fail(x, misfit(w, x, l, peer));
        drop_packet(w, l, peer);
        return;
    }
    x->nawaited--;
    for (int i = 0; i < x->nparts; i++)
        x->parts[i].has_come |= x->parts[i].peer == peer && !x->parts[i].is_sent;
    if (x->stream)
        stream_announced(w, x, l->tag);
    else if (l->kind == PACKET_BYTES)
        exchange_copy(x, peer, false, (char *)(l + 1));
    else
        exchange_post(w, x, peer, l->tag, false);
}

Exchange *wire_find_open(const Wire *w, const WirePlace *place)
{
    Exchange *x = w->open;
    while (x && !wire_is_same_place(&x->place, place))
        x = x->next;
    return x;
}

static Error *other_failed(const Exchange *x, const Packet *l, int peer)
{
    return error_new(CODE_UNAVAILABLE, "%s (%s): process %d has left this run: %.*s", x->name,
                     x->where, peer, (int)l->bytes, (const char *)(l + 1));
}

/* ---- to none ---- */

static void keep_packet(Wire *w, const Packet *l, size_t n, int peer)
{
    Waiting *kept = malloc(offsetof(Waiting, packet) + n);
    if (!kept) {
        wire_break(w, "no memory for a packet that came early");
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
        packet_send_failed(w, &l->place, peer, "its devices have finished without coming here");
}

/* The run of this packet has failed in the process that wrote it, or has ended there. */
static void failed_packet(Wire *w, const Packet *l, size_t n, int peer)
{
    bool is_told = false;
    for (Exchange *x = w->open; x; x = x->next)
        if (is_of_run(&x->place, &l->place) && exchange_bytes(x, peer, false)) {
            exchange_fail(x, other_failed(x, l, peer));
            is_told = true;
        }
    if (!is_told)
        unwanted_packet(w, l, n, peer);
}

void packet_comes(Wire *w, const Packet *l, size_t n, int peer)
{
    if (!packet_is_sound(l, n)) {
        wire_break(w, "a packet that is none has come: do all processes run the same version?");
        return;
    }
    Exchange *x;
    switch ((PacketKind)l->kind) {
    case PACKET_FAILED: failed_packet(w, l, n, peer); break;
    case PACKET_ASK: packet_asked(w, l, peer); break;
    case PACKET_ANSWER: packet_answered(w, l, peer); break;
    case PACKET_CLAIM: packet_claimed(w, l, peer); break;
    case PACKET_CIRCLE: packet_circle(w, l); break;
    default:
        x = wire_find_open(w, &l->place);
        if (x && !x->error)
            take_packet(w, x, l, peer);
        else
            unwanted_packet(w, l, n, peer);
    }
}

void packet_take_early(Wire *w, Exchange *x, int peer)
{
    for (Waiting **link = &w->waiting; *link; link = &(*link)->next) {
        const Packet *l = &(*link)->packet;
        if ((*link)->peer != peer)
            continue;
        if (l->kind == PACKET_FAILED && is_of_run(&l->place, &x->place)) {
            exchange_fail(x, other_failed(x, l, peer));
            return; /* it stays, for other groups of this run */
        }
        if (l->kind == PACKET_FAILED || !wire_is_same_place(&l->place, &x->place))
            continue;
        Waiting *found = unlink_waiting(w, link);
        take_packet(w, x, &found->packet, peer);
        free(found);
        return;
    }
}

void packet_answer_waiting(Wire *w, const WirePlace *place)
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
