/* absent.c - trees with arrays that are not there: JAX's None.
 *
 *     Net { w, b }, b = { 0 }          a function is traced for what is there: one leaf, w
 *     its C code is called with        { w, a mark that messages name "argument 0, b" }
 *     tt_grad gives of it              one result, spread over the places of the type: { dw, { 0 } }
 *
 * Transformations know leaves and results that are there alone.  Where the places of a type count, in
 * what the user's code is handed, in runs of axes and specs, in names, and in what a call gives back, a leaf's
 * slot is asked for. */
#include "front/transform/fn.h"
#include "front/value/report.h"

#include <string.h>

#define NEW(T, n) ARENA_ARRAY(trace_arena(), T, (n) + 1)

/* The slot of the i-th that is there. */
static int slot_of(const bool *absent, int i)
{
    int slot = 0;
    for (;; slot++)
        if (!absent[slot] && i-- == 0)
            return slot;
}

int leaf_slot(const Leaves *leaves, int i)
{
    return leaves->absent ? slot_of(leaves->absent, i) : i;
}

int result_slot(const Graph *g, int i)
{
    return g->absent ? slot_of(g->absent, i) : i;
}

int leaves_slots(const Leaves *leaves)
{
    int n = leaves->absent ? 0 : leaves->n;
    for (int i = 0; leaves->absent && i < leaves->nargs; i++)
        n += leaves->slots[i];
    return n;
}

int graph_slots(const Graph *g)
{
    return g->absent ? g->nslots : g->nresults;
}

void slots_spread(int nslots, const bool *absent, const tt *x, tt *out)
{
    for (int i = 0, k = 0; i < nslots; i++)
        out[i] = absent && absent[i] ? (tt){ 0, 0 } : x[k++];
}

const tt *leaves_spread(const Leaves *leaves, const tt *leaf)
{
    if (!leaves->absent)
        return leaf;
    int n = leaves_slots(leaves);
    tt *all = NEW(tt, n);
    slots_spread(n, leaves->absent, leaf, all);
    for (int i = 0; i < n; i++)
        if (leaves->absent[i])
            all[i] = value_absent(slot_name(leaves, i));
    return all;
}

/* ---- of results ---- */

void slots_append(Graph *out, int n, const bool *absent)
{
    bool *all = NEW(bool, out->nslots + n);
    if (out->absent)
        memcpy(all, out->absent, sizeof *all * (size_t)out->nslots);
    if (absent)
        memcpy(all + out->nslots, absent, sizeof *all * (size_t)n);
    out->absent = out->absent || absent ? all : NULL;
    out->nslots += n;
}

void slots_like(Graph *out, const Graph *inner)
{
    slots_append(out, graph_slots(inner), inner->absent);
}

void slots_append_wrt(Graph *out, const Leaves *leaves, uint32_t wrt)
{
    for (int i = 0, at = 0; i < leaves->nargs; i++) {
        int n = leaves->absent ? leaves->slots[i] : leaves->counts[i];
        bool is_any = leaves->absent && memchr(leaves->absent + at, true, (size_t)n);
        if (wrt >> i & 1)
            slots_append(out, n, is_any ? leaves->absent + at : NULL);
        at += n;
    }
}

bool slots_equal(const Graph *a, const Graph *b)
{
    int n = graph_slots(a);
    bool same = n == graph_slots(b);
    for (int i = 0; same && i < n; i++)
        same = (a->absent && a->absent[i]) == (b->absent && b->absent[i]);
    return same;
}

bool leaves_are_whole(tt_fn f, const Leaves *leaves)
{
    int n = leaves_slots(leaves);
    for (int i = 0; leaves->absent && i < n; i++)
        if (leaves->absent[i])
            return report_broken("%s: %s is absent, and all of its arguments must be there",
                                 f->label, slot_name(leaves, i)),
                   false;
    return true;
}
