/* parts.c - an exchange begins: its bytes go into a packet to each process, or under a tag of their own. */
#include "engine/hosts/wire_inside.h"

#include <string.h>

enum {
    FIRST_TAG = 1,     /* tag 0 is that of packets */
    LAST_TAG = 0x7fff, /* any MPI has these */
};

void exchange_fail(Exchange *x, Error *error)
{
    if (x->error)
        error_free(error);
    else
        x->error = error;
    x->nawaited = 0; /* packets that come now find no exchange that wants them */
}

size_t exchange_bytes(const Exchange *x, int peer, bool is_sent)
{
    size_t bytes = 0;
    if (x->stream)
        return peer == (is_sent ? x->stream->to : x->stream->from) ? x->stream->bytes : 0;
    for (const WirePart *p = x->parts, *end = p + x->nparts; p < end; p++)
        if (p->peer == peer && p->is_sent == is_sent)
            bytes += p->bytes;
    return bytes;
}

void exchange_copy(Exchange *x, int peer, bool is_sent, char *body)
{
    for (WirePart *p = x->parts, *end = p + x->nparts; p < end; p++)
        if (p->peer == peer && p->is_sent == is_sent) {
            memcpy(is_sent ? body : p->at, is_sent ? p->at : body, p->bytes);
            body += p->bytes;
        }
}

static uint32_t count_messages(const Exchange *x, int peer)
{
    uint32_t n = 0;
    for (const WirePart *p = x->parts, *end = p + x->nparts; p < end; p++)
        if (p->peer == peer && p->is_sent)
            n += (uint32_t)((p->bytes + PIECE - 1) / PIECE);
    return n;
}

void exchange_post(Wire *w, Exchange *x, int peer, int tag, bool is_sent)
{
    for (WirePart *p = x->parts, *end = p + x->nparts; p < end; p++) {
        if (p->peer != peer || p->is_sent != is_sent)
            continue;
        for (size_t at = 0; at < p->bytes; at += PIECE) {
            size_t bytes = p->bytes - at < PIECE ? p->bytes - at : PIECE;
            Post what = { .kind = POST_PART, .exchange = x, .tag = tag };
            if (!wire_post(w, what, (char *)p->at + at, bytes, peer, is_sent))
                return;
        }
    }
}

uint16_t wire_next_tag(Wire *w)
{
    w->tag = w->tag < LAST_TAG ? w->tag + 1 : FIRST_TAG;
    return w->tag;
}

static void send_to(Wire *w, Exchange *x, int peer, size_t bytes)
{
    bool is_small = bytes <= PACKET_BODY;
    size_t body = is_small ? bytes : 0;
    Packet *l = packet_new(w, is_small ? PACKET_BYTES : PACKET_TAG, &x->place, bytes, body);
    if (!l)
        return;
    if (is_small) {
        exchange_copy(x, peer, true, (char *)(l + 1));
        packet_post(w, l, body, peer);
        return;
    }
    int tag = l->tag = wire_next_tag(w);
    l->nmessages = count_messages(x, peer);
    packet_post(w, l, body, peer);
    if (!x->error)
        exchange_post(w, x, peer, tag, true);
}

static bool needs(const Exchange *x, int peer)
{
    if (x->stream)
        return x->stream->from == peer || x->stream->to == peer;
    for (int i = 0; i < x->nparts; i++)
        if (x->parts[i].peer == peer)
            return true;
    return false;
}

void exchange_check_peers(Wire *w, Exchange *x)
{
    if (w->broken)
        exchange_fail(x, error_new(CODE_UNAVAILABLE, "%s (%s): messages between processes fail: %s",
                                   x->name, x->where, w->broken));
    for (int p = 0; w->nlost && p < w->nprocesses && !x->error; p++) {
        const Lost *lost = &w->lost[p];
        if (lost->why && wire_now_ms() >= lost->after && needs(x, p))
            exchange_fail(x,
                          error_new(CODE_UNAVAILABLE, "%s (%s): %s", x->name, x->where, lost->why));
    }
}

void exchange_open(Wire *w, Exchange *x)
{
    x->nawaited = x->nposted = 0;
    x->is_told = x->is_left_behind = x->has_spoken = false;
    x->begun = w->nbeats;
    for (int i = 0; i < x->nparts; i++)
        x->parts[i].has_come = false;
    x->error = NULL;
    x->next = w->open;
    w->open = x;
    wire_add_work(w, 1);
    exchange_check_peers(w, x);
    if (x->stream)
        stream_open(w, x);
    for (int peer = 0; peer < w->nprocesses && !x->error && !x->stream; peer++) {
        size_t out = exchange_bytes(x, peer, true);
        if (out)
            send_to(w, x, peer, out);
    }
    for (int peer = 0; peer < w->nprocesses && !x->error; peer++)
        if (exchange_bytes(x, peer, false)) {
            x->nawaited++;
            if (w->waiting)
                packet_take_early(w, x, peer);
        }
}

void exchange_begin(Wire *w, Exchange *x)
{
    Finished finished = { 0 };
    pthread_mutex_lock(&w->lock);
    exchange_open(w, x);
    wire_collect(w, &finished);
    pthread_mutex_unlock(&w->lock);
    wire_tell(w, &finished);
}
