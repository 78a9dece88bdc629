/* drop_invariant_carries.c - what a loop carries but never changes need not be carried.
 *
 *   while (i = 0, w = %w) { ... dot x, w ...; return i', w }
 *   while (i = 0)         { ... dot x, %w ...; return i' }
 *
 * Tracers hand every value that a loop's body reads through its arguments.  An argument that the
 * body returns as it came is the initial value, in the loop and after it; left in, it would be
 * copied into the loop's own memory each time the loop starts. */
#include "engine/passes/passes.h"
#include "hlo/rewrite.h"

#include <string.h>

/* The carried values that change, and how many: keep[]. */
static int changing(const Module *m, const Subst *s, const Node *node, int *keep)
{
    ValueId body = region_at(m, node->regions[1])->args;
    const Node *ret = region_return(m, node->regions[1]);
    int n = 0;
    for (int i = 0; i < node->nin; i++)
        if (subst_get(s, ret->in[i]) != body + (ValueId)i)
            keep[n++] = i;
    return n;
}

/* The same region with fewer arguments; those left out are the initial values. */
static RegionId region_narrow(Module *m, Subst *s, RegionId r, const Node *node, int n,
                              const int *keep)
{
    Region old = *region_at(m, r);
    Type *types = ARENA_ARRAY(m->arena, Type, n);
    for (int i = 0; i < n; i++)
        types[i] = type_of(m, old.args + (ValueId)keep[i]);
    RegionId narrow = region_new(m, 0, n, types);
    region_set_nodes(m, narrow, old.nnodes, old.nodes);
    ValueId args = region_at(m, narrow)->args;
    for (int i = 0, k = 0; i < old.nargs; i++) {
        bool is_kept = k < n && keep[k] == i;
        subst_set(s, old.args + (ValueId)i, is_kept ? args + (ValueId)k : node->in[i]);
        k += is_kept;
    }
    return narrow;
}

static NodeId loop_narrow(Module *m, Subst *s, NodeId id)
{
    Node node = *node_at(m, id);
    int *keep = ARENA_ARRAY(m->arena, int, node.nin);
    int n = changing(m, s, &node, keep);
    if (n == node.nin)
        return id;
    RegionId regions[2];
    for (int k = 0; k < 2; k++)
        regions[k] = region_narrow(m, s, node.regions[k], &node, n, keep);
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
    for (int i = 0, k = 0; i < node.nin; i++) {
        bool is_kept = k < n && keep[k] == i;
        ValueId to = is_kept ? node_at(m, narrow)->out + (ValueId)k : node.in[i];
        subst_set(s, node.out + (ValueId)i, to);
        k += is_kept;
    }
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
