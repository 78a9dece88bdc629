/* infer.c - how the values of the program lie, node by node, and what a node needs for that.
 *
 * In goes a node whose operands' tilings are known; out come its results' tilings: as the
 * program states them (manual computations, constraints), else as propagate has them.  Two
 * tilings are kept for a value: how it lies, and a hint of how it would lie if extents did not
 * matter, which is what later operations go by (a roll is two slices that cannot be cut in
 * four, and a concatenation that can).
 *
 * The second part looks ahead into loops and branches: can all of it be done without joining
 * whole arrays? */
#include "engine/passes/place/place.h"

/* ---- what is inside a node ---- */

bool any_inside(const Module *m, NodeId n, bool test(const Node *node))
{
    const Node *node = node_at(m, n);
    for (int k = 0; k < node->nregions; k++) {
        const Region *region = region_at(m, node->regions[k]);
        for (int i = 0; i < region->nnodes; i++)
            if (test(node_at(m, region->nodes[i])) || any_inside(m, region->nodes[i], test))
                return true;
    }
    return false;
}

bool is_placed_apart(const Node *node)
{
    return node->op == OP_MANUAL || is_call_by_each(node) || is_inspection(node);
}

bool is_per_device(const Node *node)
{
    return op_info[node->op].kind == KIND_COLLECTIVE || node->op == OP_PARTITION_ID;
}

static bool is_defined_inside(const Module *m, ValueId v, NodeId n)
{
    for (RegionId r = value_at(m, v)->region; r;) {
        NodeId parent = region_at(m, r)->parent;
        if (parent == n)
            return true;
        r = parent ? node_at(m, parent)->region : 0;
    }
    return false;
}

/* Of the values that n takes, as operands or into its regions: is one so? */
static bool any_taken_by(const Placer *z, NodeId n, NodeId inner, ValueTest *test)
{
    const Node *node = node_at(z->m, inner);
    for (int i = 0; i < node->nin; i++)
        if (test(z, node->in[i]) && (inner == n || !is_defined_inside(z->m, node->in[i], n)))
            return true;
    for (int k = 0; k < node->nregions; k++) {
        const Region *region = region_at(z->m, node->regions[k]);
        for (int i = 0; i < region->nnodes; i++)
            if (any_taken_by(z, n, region->nodes[i], test))
                return true;
    }
    return false;
}

bool any_taken(const Placer *z, NodeId n, ValueTest *test)
{
    return any_taken_by(z, n, n, test);
}

bool value_waits(const Placer *z, ValueId v)
{
    return z->is_waiting[v];
}

bool value_is_manual(const Placer *z, ValueId v)
{
    return z->is_manual[v];
}

bool value_is_cut(const Placer *z, ValueId v)
{
    return !z->is_manual[v] && !tiling_is_replicated(z->tilings[v]);
}

/* ---- how results lie ---- */

void set_tiling(Placer *z, ValueId v, Tiling t)
{
    z->tilings[v] = z->hints[v] = tiling_summed(t);
}

static MUST_USE Error *infer_region(Placer *z, RegionId r)
{
    Placement inner;
    for (int i = 0; i + 1 < region_at(z->m, r)->nnodes; i++)
        TRY(infer(z, region_at(z->m, r)->nodes[i], &inner));
    return NULL;
}

/* What a region returns becomes v's tiling, where v has none of its own. */
static void adopt(Placer *z, ValueId v, ValueId returned)
{
    if (!tiling_is_replicated(z->hints[v]))
        return;
    z->tilings[v] = z->tilings[returned];
    z->hints[v] = z->hints[returned];
}

/* A case's results lie as those of the first branch that cuts them. */
static MUST_USE Error *infer_case(Placer *z, NodeId n)
{
    Node node = *node_at(z->m, n);
    for (int k = 0; k < node.nregions; k++) {
        TRY(infer_region(z, node.regions[k]));
        for (int i = 0; i < node.nout; i++)
            adopt(z, node.out + (uint32_t)i, region_return(z->m, node.regions[k])->in[i]);
    }
    return NULL;
}

/* What a loop carries lies as at its beginning, or if that is whole, as its body leaves it. */
static MUST_USE Error *infer_while(Placer *z, NodeId n)
{
    Node node = *node_at(z->m, n);
    RegionId body = node.regions[1];
    for (int i = 0; i < node.nout; i++) {
        ValueId arg = region_at(z->m, body)->args + (uint32_t)i;
        z->tilings[arg] = z->tilings[node.out + (uint32_t)i];
        z->hints[arg] = z->hints[node.out + (uint32_t)i];
    }
    TRY(infer_region(z, body));
    for (int i = 0; i < node.nout; i++)
        adopt(z, node.out + (uint32_t)i, region_return(z->m, body)->in[i]);
    return NULL;
}

/* A mark may cut unevenly: then it is a hint. */
static MUST_USE Error *infer_mark(Placer *z, NodeId n)
{
    const Node *node = node_at(z->m, n);
    TRY(mark_hint(z, node, &z->hints[node->out]));
    TRY(mark_tiling(z, node, &z->tilings[node->out]));
    z->hints[node->out] = tiling_summed(z->hints[node->out]);
    z->tilings[node->out] = tiling_summed(z->tilings[node->out]);
    return NULL;
}

/* Dimensions that the manual axes cut lie as `manual` if it is kept, else whole; those that s
 * leaves open lie as t; the others are whole. */
static Tiling overlay(Placer *z, Type type, const Sharding *s, Tiling manual, bool is_kept,
                      Tiling t)
{
    Pick picks[MAX_RANK] = { 0 };
    bool dropped;
    for (int d = 0; d < type.rank; d++)
        if (manual.tiles[d] == 1 && s->dims[d].is_open)
            picks[d] = (Pick){ &t, d, 1 };
        else if (is_kept)
            picks[d] = (Pick){ &manual, d, 0 };
    return tiling_pick(z->scratch, type, z->ndevices, picks, false, &dropped);
}

/* In a partly manual computation the other axes may cut what it takes, and by way of its body
 * what it gives, in dimensions that it leaves open. */
static MUST_USE Error *infer_manual(Placer *z, NodeId n)
{
    Node node = *node_at(z->m, n);
    const ManualAttrs *attrs = node.attrs;
    bool is_partial = is_partly_manual(&node);
    ValueId args = region_at(z->m, node.regions[0])->args;
    Tiling t;
    for (int i = 0; is_partial && i < node.nin; i++) {
        ValueId arg = args + (uint32_t)i;
        TRY(manual_tiling(z, &node, true, i, &t));
        set_tiling(z, arg,
                   overlay(z, type_of(z->m, arg), attrs->in_shardings.at[i], t, false,
                           z->tilings[node.in[i]]));
    }
    if (is_partial)
        TRY(infer_region(z, node.regions[0]));
    for (int i = 0; i < node.nout; i++) {
        ValueId out = node.out + (uint32_t)i;
        TRY(manual_tiling(z, &node, false, i, &t));
        if (is_partial && !t.nparts)
            t = overlay(z, type_of(z->m, out), attrs->out_shardings.at[i], t, true,
                        z->tilings[region_return(z->m, node.regions[0])->in[i]]);
        set_tiling(z, out, t);
    }
    return NULL;
}

Error *infer(Placer *z, NodeId n, Placement *p)
{
    Module *m = z->m;
    const Node *node = node_at(m, n);
    bool is_possible = true;
    Tiling *in = ARENA_ARRAY(z->scratch, Tiling, node->nin + 1);
    Tiling *hints = ARENA_ARRAY(z->scratch, Tiling, node->nin + 1);
    for (int i = 0; i < node->nin; i++) {
        in[i] = z->tilings[node->in[i]];
        hints[i] = z->hints[node->in[i]];
    }
    *p = propagate(m, z->scratch, n, in, z->ndevices);
    hints = propagate_hints(m, z->scratch, n, hints, z->ndevices);
    for (int i = 0; i < node->nout; i++) {
        ValueId v = node->out + (uint32_t)i;
        z->hints[v] = hints[i];
        z->tilings[v] = tiling_even(z->scratch, type_of(m, v), hints[i]);
        is_possible = is_possible && tiling_equal(p->results[i], z->tilings[v]);
    }
    for (int i = 0; i < node->nin; i++)
        is_possible = is_possible && shard_is_near(z, node->in[i], p->wants[i]);
    p->is_piecewise = p->is_piecewise && is_possible;
    p->is_partial = p->is_partial && is_possible;
    if (is_mark(node))
        TRY(infer_mark(z, n));
    if (node->op == OP_MANUAL)
        TRY(infer_manual(z, n));
    if (node_flow(node) == FLOW_BRANCH)
        TRY(infer_case(z, n));
    if (node_flow(node) == FLOW_LOOP)
        TRY(infer_while(z, n));
    for (int i = 0; i < node->nout; i++)
        p->results[i] = z->tilings[node->out + (uint32_t)i];
    return NULL;
}

bool infer_moved(Placer *z, NodeId n, Placement *p)
{
    if (infer_windows(z, n, p) || infer_dynamic(z, n, p) || infer_running(z, n, p))
        return true;
    const Node *node = node_at(z->m, n);
    Tiling *in = ARENA_ARRAY(z->scratch, Tiling, node->nin + 1);
    for (int i = 0; i < node->nin; i++)
        in[i] = z->tilings[node->in[i]];
    *p = propagate_moved(z->m, z->scratch, n, in, z->ndevices, true);
    if (p->is_partial && !is_combinable(z, n, p))
        *p = propagate_moved(z->m, z->scratch, n, in, z->ndevices, false);
    return p->is_piecewise || p->is_partial || infer_sort(z, n, p) || infer_top_k(z, n, p) ||
           infer_fft(z, n, p);
}

/* ---- looking ahead ---- */

static bool region_is_cut(Placer *z, RegionId r);

static void set_args(Placer *z, RegionId r, const Tiling *tilings)
{
    const Region *region = region_at(z->m, r);
    for (int i = 0; i < region->nargs; i++)
        set_tiling(z, region->args + (uint32_t)i, tilings[i]);
}

bool flow_is_cut(Placer *z, NodeId n, const Placement *p)
{
    Node node = *node_at(z->m, n);
    for (int k = 0; k < node.nregions; k++) {
        set_args(z, node.regions[k], p->results);
        if (!region_is_cut(z, node.regions[k]))
            return false;
    }
    return true;
}

static bool node_is_cut(Placer *z, NodeId n)
{
    Placement p;
    const Node *node = node_at(z->m, n);
    Error *error = is_per_device(node) ? NULL : infer(z, n, &p);
    if (error || is_per_device(node) || node_has_effect(z->m, n)) {
        error_free(error);
        return false;
    }
    if (is_mark(node))
        return true;
    if (!any_taken(z, n, value_is_cut)) {
        for (int i = 0; i < node->nout; i++)
            z->tilings[node->out + (uint32_t)i] = tiling_replicated(
                z->scratch, type_of(z->m, node->out + (uint32_t)i).rank, z->ndevices);
        return !any_inside(z->m, n, is_per_device);
    }
    if (op_info[node->op].kind == KIND_FLOW)
        return flow_is_cut(z, n, &p);
    return p.is_piecewise || (p.is_partial && is_combinable(z, n, &p)) || infer_moved(z, n, &p);
}

static bool region_is_cut(Placer *z, RegionId r)
{
    for (int i = 0; i + 1 < region_at(z->m, r)->nnodes; i++)
        if (!node_is_cut(z, region_at(z->m, r)->nodes[i]))
            return false;
    return true;
}
