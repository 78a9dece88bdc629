/* posts.c - messages that are posted with the shim, and what happens when one is over. */
#include "engine/hosts/wire_inside.h"

#include <stdlib.h>
#include <string.h>

/* relaxed: how many is a hint when to stop polling; the lock orders the rest */
void wire_add_work(Wire *w, int n)
{
    atomic_fetch_add_explicit(&w->nwork, n, memory_order_relaxed);
}

static void list_post(Wire *w, Post *p)
{
    p->next = w->posts;
    p->link = &w->posts;
    if (p->next)
        p->next->link = &p->next;
    w->posts = p;
    wire_add_work(w, 1);
}

static void unlist_post(Wire *w, Post *p)
{
    *p->link = p->next;
    if (p->next)
        p->next->link = p->link;
    if (!p->is_given_up)
        wire_add_work(w, -1);
}

static bool is_of_exchange(const Post *p)
{
    return p->kind == POST_PART || p->kind == POST_PIECE;
}

/* The exchange does not wait for p; but p may still read or write its memory. */
static void leave_behind(Post *p)
{
    p->exchange->nposted--;
    p->exchange->is_left_behind = true;
    p->exchange = NULL;
}

void wire_give_up(Wire *w, int process)
{
    for (Post *p = w->posts; p; p = p->next) {
        if (p->peer != process || p->is_given_up)
            continue;
        p->is_given_up = true;
        wire_add_work(w, -1);
        if (!p->exchange)
            continue;
        /* what it still was to bring will never be whole, even if all its tags have come */
        exchange_fail(p->exchange, error_new(CODE_UNAVAILABLE, "%s (%s): %s", p->exchange->name,
                                             p->exchange->where, w->lost[process].why));
        leave_behind(p);
    }
    w->shim->give_up(process);
}

void wire_break(Wire *w, const char *why)
{
    if (!w->broken)
        w->broken = strdup(why);
    for (Exchange *x = w->open; x; x = x->next)
        exchange_fail(x, error_new(CODE_UNAVAILABLE, "%s (%s): messages between processes fail: %s",
                                   x->name, x->where, why));
    for (Post *p = w->posts; p; p = p->next)
        if (p->exchange)
            leave_behind(p);
}

bool wire_post(Wire *w, Post what, void *at, size_t bytes, int peer, bool is_sent)
{
    Post *p = malloc(sizeof *p);
    const char *why = "no memory for the books of a message";
    if (p) {
        *p = what;
        why = is_sent ? w->shim->send(at, bytes, peer, what.tag, p)
                      : w->shim->receive(at, bytes, peer, what.tag, p);
    }
    if (why) {
        wire_break(w, why);
        free(what.memory);
        free(p);
        return false;
    }
    p->peer = peer;
    if (what.kind != POST_BOX)
        list_post(w, p);
    if (is_of_exchange(&what))
        what.exchange->nposted++;
    return true;
}

bool wire_post_box(Wire *w, char *memory)
{
    Post what = { .kind = POST_BOX, .memory = memory };
    return wire_post(w, what, memory, sizeof(Packet) + PACKET_BODY, SHIM_ANY, false);
}

/* Messages have at most a piece: one at a time is received, whatever its size. */
void wire_drain(Wire *w, uint32_t n, int tag, int peer)
{
    char *memory = n ? malloc(PIECE) : NULL;
    if (n && !memory)
        wire_break(w, "no memory for a message");
    if (!memory)
        return;
    Post what = { .kind = POST_DRAIN, .memory = memory, .left = n, .tag = tag };
    wire_post(w, what, memory, PIECE, peer, false);
}

static void part_over(Wire *w, Post *p, const ShimDone *done)
{
    Exchange *x = p->exchange;
    if (!x)
        return;
    x->nposted--;
    if (done->is_failed)
        exchange_fail(x,
                      error_new(CODE_UNAVAILABLE, "%s (%s): a message with process %d failed: %s",
                                x->name, x->where, done->peer, w->shim->trouble));
    else if (p->kind == POST_PIECE)
        stream_piece_over(w, x, p, done);
}

void wire_message_over(Wire *w, const ShimDone *done)
{
    Post *p = done->user;
    if (p->kind != POST_BOX)
        unlist_post(w, p);
    if (is_of_exchange(p))
        part_over(w, p, done);
    if (p->kind == POST_DRAIN && !done->is_failed)
        wire_drain(w, p->left - 1, p->tag, done->peer);
    if (p->kind == POST_BOX && !done->is_failed) {
        packet_comes(w, (const Packet *)p->memory, done->bytes, done->peer);
        wire_post_box(w, p->memory);
    } else {
        free(p->memory);
    }
    free(p);
}
