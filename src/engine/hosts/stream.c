/* stream.c - exchanges whose bytes go piece by piece, as they are made.
 *
 *     sender     a packet that says under which tag and how many; then a message for each piece, in
 *                order, as soon as the exchange's owner says that it may be sent
 *     receiver   the packet; then a few receives ahead, as far as its owner has room
 *
 * An exchange that fails sends the pieces that are left as empty messages: so there is a message for
 * every piece whatever happens, and the receiver, if it has failed too, knows how many to expect. */
#include "engine/hosts/wire_inside.h"

enum { AHEAD = 32 }; /* pieces that are posted at a time, in one direction; at most 64 */

static void post_piece(Wire *w, Exchange *x, int k, bool is_sent)
{
    Stream *s = x->stream;
    size_t bytes = 0;
    void *at = s->piece(x, k, is_sent, &bytes);
    int peer = is_sent ? s->to : s->from;
    Post what = { .kind = POST_PIECE,
                  .exchange = x,
                  .piece = k,
                  .is_sent = is_sent,
                  .tag = is_sent ? s->out.tag : s->in.tag };
    wire_post(w, what, at, bytes, peer, is_sent);
}

/* Posts what may be posted in one direction. */
static void post_pieces(Wire *w, Exchange *x, bool is_sent)
{
    StreamSide *side = is_sent ? &x->stream->out : &x->stream->in;
    while (side->tag && !x->error && side->nposted < side->may &&
           side->nposted < side->nover + AHEAD)
        post_piece(w, x, side->nposted++, is_sent);
}

void stream_open(Wire *w, Exchange *x)
{
    Stream *s = x->stream;
    s->in = (StreamSide){ .n = s->from >= 0 ? s->npieces : 0 };
    s->out = (StreamSide){ .n = s->to >= 0 ? s->npieces : 0 };
    s->has_news = s->is_closed = false;
    Packet *l = x->error || s->to < 0 ? NULL : packet_new(w, PACKET_TAG, &x->place, s->bytes, 0);
    if (!l)
        return;
    s->out.tag = l->tag = wire_next_tag(w);
    l->nmessages = (uint32_t)s->npieces;
    packet_post(w, l, 0, s->to);
}

void stream_announced(Wire *w, Exchange *x, int tag)
{
    x->stream->in.tag = tag;
    post_pieces(w, x, false);
}

/* Piece p->piece is over; those before it need not be. */
void stream_piece_over(Wire *w, Exchange *x, const Post *p, const ShimDone *done)
{
    Stream *s = x->stream;
    StreamSide *side = p->is_sent ? &s->out : &s->in;
    size_t bytes = 0;
    s->piece(x, p->piece, p->is_sent, &bytes);
    if (!p->is_sent && done->bytes != bytes) {
        exchange_fail(x, error_new(CODE_UNAVAILABLE, "%s (%s): process %d has left this run",
                                   x->name, x->where, done->peer));
        return;
    }
    side->over |= (uint64_t)1 << p->piece % 64;
    while (side->over >> side->nover % 64 & 1) {
        side->over &= ~((uint64_t)1 << side->nover % 64);
        side->nover++;
    }
    s->has_news = true;
    post_pieces(w, x, p->is_sent);
}

bool stream_is_over(const Exchange *x)
{
    const Stream *s = x->stream;
    return !s || s->is_closed || (s->in.nover == s->in.n && s->out.nover == s->out.n);
}

/* Before the empty messages, which do not say why. */
static void tell_neighbours(Wire *w, const Exchange *x)
{
    int peers[] = { x->stream->to, x->stream->from };
    for (int i = 0; i < 2; i++)
        if (peers[i] >= 0 && !w->lost[peers[i]].why)
            packet_send_failed(w, &x->place, peers[i], error_text(x->error));
}

void stream_close(Wire *w, Exchange *x)
{
    Stream *s = x->stream;
    s->is_closed = true;
    if (error_code(x->error) !=
        CODE_CANCELLED) /* what was stopped is the less to tell: its run says why */
        tell_neighbours(w, x);
    Post empty = { .kind = POST_PACKET, .tag = s->out.tag };
    for (int k = s->out.nposted; s->out.tag && k < s->out.n && !w->lost[s->to].why; k++)
        if (!wire_post(w, empty, NULL, 0, s->to, true))
            return;
    if (s->in.tag && !w->lost[s->from].why)
        wire_drain(w, (uint32_t)(s->in.n - s->in.nposted), s->in.tag, s->from);
}

void stream_advance(Wire *w, Exchange *x, int may_receive, int may_send)
{
    Stream *s = x->stream;
    pthread_mutex_lock(&w->lock);
    s->in.may = may_receive < s->in.n ? may_receive : s->in.n;
    s->out.may = may_send < s->out.n ? may_send : s->out.n;
    post_pieces(w, x, true);
    post_pieces(w, x, false);
    pthread_mutex_unlock(&w->lock);
}
