/* drop_invariant_carries.c - what a loop carries but never changes need not be carried.
 *
 *   while (i = 0, w = %w) { ... dot x, w ...; return i', w }
 *   while (i = 0)         { ... dot x, %w ...; return i' }
 *
 * Tracers hand every value that a loop's body reads through its arguments.  An argument that the
 * body returns as it came is the initial value, in the loop and after it; left in, it would be
 * copied into the loop's own memory each time the loop starts.
 *
 *   while (i = 0, j = 0, x) { ...; return i + 1, j + 1, x' }      j is i
 *
 * And of counters that begin and count alike one is enough: JAX's scans have their own beside the program's. */
#include "engine/analysis/analysis.h"
#include "engine/passes/passes.h"
#include "hlo/rewrite.h"

#include <string.h>

/* What a carried value becomes in the narrow loop: one that it carries, or what it began as. */
enum { INVARIANT = -1 };

static bool begin_alike(const Module *m, ValueId v, ValueId w)
{
    const Dense *a = value_constant(m, v), *b = value_constant(m, w);
    return v == w || (a && b && dense_equal(*a, *b));
}

/* The first value before i that counts as value i does; i: there is none. */
static int counts_as(const Module *m, const Subst *s, const Node *node, int i)
{
    ValueId body = region_at(m, node->regions[1])->args;
    const Node *ret = region_return(m, node->regions[1]);
    int64_t mine, other;
    if (!is_counting(m, subst_get(s, ret->in[i]), body + (ValueId)i, &mine))
        return i;
    for (int k = 0; k < i; k++)
        if (type_equal(type_of(m, node->in[k]), type_of(m, node->in[i])) &&
            begin_alike(m, node->in[k], node->in[i]) &&
            is_counting(m, subst_get(s, ret->in[k]), body + (ValueId)k, &other) && other == mine)
            return k;
    return i;
}

/* For each carried value the place of what it becomes; keep[]: those that stay, and how many. */
static int changing(const Module *m, const Subst *s, const Node *node, int *keep, int *becomes)
{
    ValueId body = region_at(m, node->regions[1])->args;
    const Node *ret = region_return(m, node->regions[1]);
    int n = 0;
    for (int i = 0; i < node->nin; i++) {
        int like = counts_as(m, s, node, i);
        bool is_kept = subst_get(s, ret->in[i]) != body + (ValueId)i && like == i;
        becomes[i] = is_kept ? n : like < i ? becomes[like] : INVARIANT;
        if (is_kept)
            keep[n++] = i;
    }
    return n;
}

/* The same region with fewer arguments; those left out are the initial values. */
static RegionId region_narrow(Module *m, Subst *s, RegionId r, const Node *node, int n,
                              const int *keep, const int *becomes)
{
    Region old = *region_at(m, r);
    Type *types = ARENA_ARRAY(m->arena, Type, n);
    for (int i = 0; i < n; i++)
        types[i] = type_of(m, old.args + (ValueId)keep[i]);
    RegionId narrow = region_new(m, 0, n, types);
    region_set_nodes(m, narrow, old.nnodes, old.nodes);
    ValueId args = region_at(m, narrow)->args;
    for (int i = 0; i < old.nargs; i++)
        subst_set(s, old.args + (ValueId)i,
                  becomes[i] == INVARIANT ? node->in[i] : args + (ValueId)becomes[i]);
    return narrow;
}

static NodeId loop_narrow(Module *m, Subst *s, NodeId id)
{
    Node node = *node_at(m, id);
    int *keep = ARENA_ARRAY(m->arena, int, node.nin);
    int *becomes = ARENA_ARRAY(m->arena, int, node.nin);
    int n = changing(m, s, &node, keep, becomes);
    if (n == node.nin)
        return id;
    RegionId regions[2];
    for (int k = 0; k < 2; k++)
        regions[k] = region_narrow(m, s, node.regions[k], &node, n, keep, becomes);
    Node *ret = region_return(m, regions[1]);
    ValueId *in = ARENA_ARRAY(m->arena, ValueId, n);
    Type *types = ARENA_ARRAY(m->arena, Type, n);
    for (int i = 0; i < n; i++) {
        in[i] = node.in[keep[i]];
        types[i] = type_of(m, in[i]);
        ret->in[i] = ret->in[keep[i]];
    }
    ret->nin = n;
    NodeId narrow = node_new(m, OP_WHILE, n, in, n, types, 2, regions, node.attrs, node.loc);
    node_at(m, narrow)->extra = node.extra;
    for (int i = 0; i < node.nin; i++)
        subst_set(s, node.out + (ValueId)i,
                  becomes[i] == INVARIANT ? node.in[i]
                                          : node_at(m, narrow)->out + (ValueId)becomes[i]);
    return narrow;
}

/* Inner loops first: what they leave unchanged, the outer may. */
static void narrow_region(Module *m, Subst *s, RegionId r)
{
    for (int i = 0; i < region_at(m, r)->nnodes; i++) {
        NodeId n = region_at(m, r)->nodes[i];
        bool has_code = node_holds_code(node_at(m, n));
        for (int k = 0; has_code && k < node_at(m, n)->nregions; k++)
            narrow_region(m, s, node_at(m, n)->regions[k]);
        if (node_flow(node_at(m, n)) != FLOW_LOOP)
            continue;
        NodeId narrow = loop_narrow(m, s, n);
        if (narrow == n)
            continue;
        NodeId *nodes = region_at(m, r)->nodes;
        nodes[i] = narrow;
        region_set_nodes(m, r, region_at(m, r)->nnodes, nodes);
    }
}

Error *pass_drop_invariant_carries(Module *m)
{
    Subst s = subst_new(m);
    narrow_region(m, &s, module_main(m));
    subst_apply(&s, m, module_main(m));
    subst_free(&s);
    return NULL;
}
