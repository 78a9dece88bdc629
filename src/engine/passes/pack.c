/* pack.c - the lowest gap during some spans of time, found by a tree over the points of the program.
 *
 *                       [0 ... 7]                 a value that lives from 2 to 5 is noted whole at
 *                 [0 .. 3]      [4 .. 7]          [2 3] and [4 5], and as somewhere below at
 *              [0 1]  [2 3]   [4 5]  [6 7]        the nodes above these
 *
 * So what lies in memory at some point of a span is found at the few nodes that make up the span and
 * those above them.  A node keeps addresses, joined where they touch, not values: however many live at
 * once, they are few ranges. */
#include "engine/passes/pack.h"

#include "base/grow.h"

#include <string.h>

typedef struct Range {
    int64_t from, to; /* addresses; `to` is free */
} Range;

/* Addresses in use. */
typedef struct Taken {
    int n, room;
    Range *at; /* in rising order, none touches another */
} Taken;

typedef struct TimeNode {
    Taken whole; /* by what is noted here: it lives at all points below */
    Taken some;  /* by what lives at any point below */
} TimeNode;

struct Packing {
    Arena *arena;
    int npoints;     /* a power of two */
    TimeNode *nodes; /* 1 is the root, below n are 2n and 2n + 1 */
    int nin_way, in_way_room;
    const Taken **in_way;
};

/* Part of the program: a node of the tree, and the points below it. */
typedef struct Part {
    int node, from, to;
} Part;

int64_t packing_rounded(int64_t bytes)
{
    return (bytes + PACK_ALIGN - 1) / PACK_ALIGN * PACK_ALIGN;
}

Packing *packing_new(Arena *arena, int npoints)
{
    Packing *k = ARENA_NEW(arena, Packing);
    k->arena = arena;
    k->npoints = 1;
    while (k->npoints < npoints)
        k->npoints *= 2;
    k->nodes = ARENA_ARRAY(arena, TimeNode, 2 * (size_t)k->npoints);
    return k;
}

/* ---- ranges ---- */

/* The first that ends behind `at`, or at it if `touching`. */
static int first_behind(const Taken *t, int64_t at, bool touching)
{
    int low = 0, high = t->n;
    while (low < high) {
        int mid = low + (high - low) / 2;
        if (t->at[mid].to > at || (touching && t->at[mid].to == at))
            high = mid;
        else
            low = mid + 1;
    }
    return low;
}

static int64_t lowest_gap(const Taken *t, int64_t at, int64_t bytes)
{
    for (int i = first_behind(t, at, false); i < t->n && t->at[i].from < at + bytes; i++)
        at = t->at[i].to;
    return at;
}

static void take(Arena *arena, Taken *t, Range r)
{
    int first = first_behind(t, r.from, true), last = first;
    for (; last < t->n && t->at[last].from <= r.to; last++) {
        r.from = t->at[last].from < r.from ? t->at[last].from : r.from;
        r.to = t->at[last].to > r.to ? t->at[last].to : r.to;
    }
    if (first == last)
        ROOM(arena, t->at, t->n, &t->room);
    memmove(t->at + first + 1, t->at + last, sizeof *t->at * (size_t)(t->n - last));
    t->n += 1 - (last - first);
    t->at[first] = r;
}

/* ---- the tree ---- */

static Part half(Part p, bool is_upper)
{
    int mid = p.from + (p.to - p.from) / 2;
    return is_upper ? (Part){ 2 * p.node + 1, mid + 1, p.to } : (Part){ 2 * p.node, p.from, mid };
}

static bool is_within(Part p, Span s)
{
    return s.from <= p.from && p.to <= s.to;
}

static bool meets(Part p, Span s)
{
    return s.from <= p.to && p.from <= s.to;
}

static void look(Packing *k, Part p, Span s)
{
    if (!meets(p, s))
        return;
    const TimeNode *node = &k->nodes[p.node];
    const Taken *t = is_within(p, s) ? &node->some : &node->whole;
    if (t->n) {
        ROOM(k->arena, k->in_way, k->nin_way, &k->in_way_room);
        k->in_way[k->nin_way++] = t;
    }
    if (is_within(p, s) || !node->some.n)
        return;
    look(k, half(p, false), s);
    look(k, half(p, true), s);
}

static void note(Packing *k, Part p, Span s, Range r)
{
    if (!meets(p, s))
        return;
    TimeNode *node = &k->nodes[p.node];
    take(k->arena, &node->some, r);
    if (is_within(p, s)) {
        take(k->arena, &node->whole, r);
        return;
    }
    note(k, half(p, false), s, r);
    note(k, half(p, true), s, r);
}

int64_t packing_place(Packing *k, int nspans, const Span *spans, int64_t bytes)
{
    bytes = packing_rounded(bytes);
    Part all = { 1, 0, k->npoints - 1 };
    k->nin_way = 0;
    for (int i = 0; i < nspans; i++)
        look(k, all, spans[i]);
    int64_t at = 0, before = -1;
    while (bytes && at != before) { /* until the gap is one in all of them */
        before = at;
        for (int i = 0; i < k->nin_way; i++)
            at = lowest_gap(k->in_way[i], at, bytes);
    }
    for (int i = 0; bytes && i < nspans; i++)
        note(k, all, spans[i], (Range){ at, at + bytes });
    return at;
}
