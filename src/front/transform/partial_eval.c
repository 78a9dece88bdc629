/* partial_eval.c - a graph with tangents in two: what does not depend on them, and the linear rest.
 *
 *     (x, dx) { y = sin x; c = cos x; dy = mul dx, c }       results y, dy
 *
 *     known (x) { y = sin x; c = cos x }                     results y, and c, which the rest needs
 *     rest (c, dx) { dy = mul dx, c }                        results dy
 */
#include "base/guard.h"
#include "front/transform/transform.h"
#include "hlo/rewrite.h"

#include <stdlib.h>
#include <string.h>

/* Made of nothing and cheap: rather made twice than passed on. */
static bool is_repeatable(const Module *m, ValueId v)
{
    NodeId n = value_def(m, v);
    return n && node_at(m, n)->nin == 0 && node_at(m, n)->nregions == 0;
}

static void need(Backward *b, ValueId v, Values *needed, bool *seen)
{
    bool is_inside = value_at(b->m, v)->region != 0;
    if (seen[v] || backward_is_linear(b, v) || is_repeatable(b->m, v) || !is_inside)
        return;
    seen[v] = true;
    needed->at[needed->n++] = v;
}

/* What the linear nodes use of the others. */
static Values find_needed(Backward *b, RegionId r, const bool *is_own)
{
    Module *m = b->m;
    Values needed = { 0, ARENA_ARRAY(m->arena, ValueId, b->nlinear) };
    bool *seen = HEAP_ARRAY(bool, b->nlinear, "marks of values");
    for (int i = 0; i < region_at(m, r)->nnodes; i++) {
        const Node *node = node_at(m, region_at(m, r)->nodes[i]);
        bool is_rest = node->nout && backward_is_linear(b, node->out);
        if (!is_rest)
            continue;
        for (int k = 0; k < node->nin; k++)
            if (is_own[node->in[k]])
                need(b, node->in[k], &needed, seen);
        if (node->nregions) {
            Values free = free_values(m, node->nregions, node->regions);
            for (int k = 0; k < free.n; k++)
                if (is_own[free.at[k]])
                    need(b, free.at[k], &needed, seen);
        }
    }
    heap_free(seen);
    return needed;
}

/* The values that g itself defines; others come from around it and stand for themselves. */
static bool *own_values(const Graph *g, uint32_t n)
{
    bool *own = HEAP_ARRAY(bool, n, "marks of values");
    const Region *region = region_at(g->m, g->body);
    for (int i = 0; i < region->nargs; i++)
        own[region->args + (uint32_t)i] = true;
    for (int i = 0; i < region->nnodes; i++) {
        const Node *node = node_at(g->m, region->nodes[i]);
        for (int k = 0; k < node->nout; k++)
            own[node->out + (uint32_t)k] = true;
    }
    return own;
}

static bool make_known(Backward *b, const Graph *g, int ntangents, int nprimal, Values needed,
                       PartialEval *out)
{
    Module *m = g->m;
    int n = g->nleaves - ntangents, nresults = 0;
    ValueId first = region_at(m, g->body)->args;
    Type *types = ARENA_ARRAY(m->arena, Type, n + 1);
    tt *in = ARENA_ARRAY(m->arena, tt, n + 1);
    tt *results = ARENA_ARRAY(m->arena, tt, nprimal + needed.n + 1);
    int *leaf = ARENA_ARRAY(m->arena, int, needed.n + 1);
    Trace frame = { 0 };
    for (int i = 0; i < n; i++)
        types[i] = type_of(m, first + (uint32_t)i);
    frame_push(&frame);
    record_begin(n, types, NULL, in);
    for (int i = 0; i < n; i++)
        subst_set(&b->value, first + (uint32_t)i, trace_value("a derivative", in[i]));
    backward_forward(b, g->body);
    for (int i = 0; i < nprimal; i++)
        results[nresults++] = backward_value(b, region_return(m, g->body)->in[i]);
    for (int i = 0; i < needed.n; i++) {
        bool is_leaf = needed.at[i] >= first && needed.at[i] < first + (uint32_t)n;
        leaf[i] = is_leaf ? (int)(needed.at[i] - first) : -1;
        if (!is_leaf)
            results[nresults++] = backward_value(b, needed.at[i]);
    }
    bool ok = record_end("a derivative", nresults, results, &out->known);
    frame_pop(&frame);
    out->leaf = leaf;
    out->nneeded = needed.n;
    return ok;
}

static bool make_rest(Backward *b, const Graph *g, int ntangents, int nprimal, Values needed,
                      PartialEval *out)
{
    Module *m = g->m;
    int n = needed.n + ntangents, nresults = g->nresults - nprimal;
    ValueId tangents = region_at(m, g->body)->args + (uint32_t)(g->nleaves - ntangents);
    Type *types = ARENA_ARRAY(m->arena, Type, n + 1);
    tt *in = ARENA_ARRAY(m->arena, tt, n + 1), *results = ARENA_ARRAY(m->arena, tt, nresults + 1);
    Subst map = subst_new(m);
    Trace frame = { 0 };
    for (int i = 0; i < n; i++)
        types[i] = type_of(m, i < needed.n ? needed.at[i] : tangents + (uint32_t)(i - needed.n));
    frame_push(&frame);
    record_begin(n, types, NULL, in);
    for (int i = 0; i < n; i++)
        subst_set(&map, i < needed.n ? needed.at[i] : tangents + (uint32_t)(i - needed.n),
                  trace_value("a derivative", in[i]));
    for (int i = 0; i < region_at(m, g->body)->nnodes - 1; i++) {
        NodeId node = region_at(m, g->body)->nodes[i];
        ValueId y = node_at(m, node)->out;
        if (node_at(m, node)->nout && (backward_is_linear(b, y) || is_repeatable(m, y)))
            region_append(m, tracing->region, node_copy(m, node, &map));
    }
    for (int i = 0; i < nresults; i++)
        results[i] = trace_tt(subst_get(&map, region_return(m, g->body)->in[nprimal + i]));
    bool ok = record_end("a derivative", nresults, results, &out->rest);
    frame_pop(&frame);
    subst_free(&map);
    return ok;
}

bool partial_eval(const Graph *given, int ntangents, int nprimal, PartialEval *out)
{
    Module *m = given->m;
    Graph split, *g = &split;
    bool *linear = ARENA_ARRAY(m->arena, bool, given->nleaves + 1);
    memset(linear + given->nleaves - ntangents, true, (size_t)ntangents);
    remove_dead(m, given->body);
    if (!split_loops(given, linear, g))
        return false;
    Backward b = backward_new(m);
    ValueId first = region_at(m, g->body)->args;
    for (int i = g->nleaves - ntangents; i < g->nleaves; i++)
        b.linear[first + (uint32_t)i] = true;
    backward_mark(&b, g->body);
    bool *own = own_values(g, b.nlinear);
    /* A tangent that does not vary with the others is a zero made on the spot: part of the rest. */
    Values needed = find_needed(&b, g->body, own);
    Node last = *region_return(m, g->body);
    for (int i = nprimal; i < last.nin; i++) {
        ValueId v = last.in[i];
        bool listed = backward_is_linear(&b, v) || is_repeatable(m, v) || !own[v];
        for (int k = 0; k < needed.n && !listed; k++)
            listed = needed.at[k] == v;
        if (!listed)
            needed.at[needed.n++] = v;
    }
    heap_free(own);
    bool ok = make_known(&b, g, ntangents, nprimal, needed, out) &&
              make_rest(&b, g, ntangents, nprimal, needed, out);
    backward_free(&b);
    return ok;
}
