/* hoist_invariants.c - what a loop computes alike in every iteration is computed once, before it.
 *
 *   while ... { w1 = slice w; y = dot x, w1; s = psum(scale); ... }
 *   w1 = slice w; s = psum(scale); while ... { y = dot x, w1; ... }
 *
 * A node is invariant if its operands are: values from outside the loop, constants, and results of
 * invariant nodes.  It is worth hoisting if its result is no larger than what it is computed from: then
 * reading it costs no more than reading that; or if it is an array of its own anyhow, as that of a scatter
 * is.  A broadcast, say, stays where it is read, and what
 * only such nodes need stays with them; what a hoisted node needs is copied along.
 *
 * A collective is hoisted like any other node, but not out of a loop in a branch: devices may be in
 * different branches, and must still come to their collectives in the same order. */
#include "engine/passes/passes.h"
#include "hlo/rewrite.h"

typedef struct Hoist {
    Module *m;
    Subst map;     /* from values of loops to their likes before them */
    bool *is_same; /* by value: the same in every iteration of the loop at hand */
    uint32_t n;
    RegionId body, outer; /* of the loop, and where it stands */
    bool any;
} Hoist;

static bool is_inside(const Hoist *h, ValueId v)
{
    return value_at(h->m, v)->region == h->body;
}

/* What is defined around the loop does not change in it. */
static bool is_invariant(const Hoist *h, ValueId v)
{
    return !is_inside(h, v) || (v < h->n && h->is_same[v]);
}

static bool is_pure(const Hoist *h, const Node *node, bool in_branch)
{
    switch (node->op) {
    case OP_ALL_REDUCE:
    case OP_ALL_GATHER:
    case OP_REDUCE_SCATTER:
    case OP_ALL_TO_ALL: return !in_branch;
    default: break;
    }
    OpKind kind = op_info[node->op].kind;
    bool is_plain =
        kind == KIND_MAP || kind == KIND_VIEW || kind == KIND_FOLD || kind == KIND_BLOCK;
    for (int i = 0; i < node->nout; i++)
        if (type_of(h->m, node->out + (ValueId)i).element == TOKEN)
            return false;
    return node->op == OP_CONSTANT || (is_plain && op_info[node->op].effect == EFFECT_NONE);
}

/* Those that compute nothing: they cost no more in the loop. */
static bool is_free(OpId op)
{
    return op == OP_CONSTANT || op == OP_IOTA || op == OP_RESHAPE || op == OP_BROADCAST;
}

static bool is_worth(const Hoist *h, const Node *node)
{
    size_t in = 0, out = 0;
    for (int i = 0; i < node->nin; i++)
        if (!value_constant(h->m, node->in[i]))
            in += type_bytes(type_of(h->m, node->in[i]));
    for (int i = 0; i < node->nout; i++)
        out += type_bytes(type_of(h->m, node->out + (ValueId)i));
    bool is_array = op_info[node->op].kind == KIND_BLOCK;
    return !is_free(node->op) && node->nout > 0 && (is_array || out <= in);
}

/* The value before the loop; its node is copied there, and what that needs. */
static ValueId bring_out(Hoist *h, ValueId v)
{
    if (!is_inside(h, v))
        return v;
    if (subst_get(&h->map, v) != v)
        return subst_get(&h->map, v);
    NodeId def = value_def(h->m, v);
    for (int i = 0; i < node_at(h->m, def)->nin; i++)
        bring_out(h, node_at(h->m, def)->in[i]);
    NodeId copy = node_copy(h->m, def, &h->map);
    region_append(h->m, h->outer, copy);
    return subst_get(&h->map, v);
}

static void mark_invariants(Hoist *h, bool in_branch)
{
    const Region *region = region_at(h->m, h->body);
    for (int i = 0; i < region->nnodes; i++) {
        const Node *node = node_at(h->m, region->nodes[i]);
        bool is_same = is_pure(h, node, in_branch);
        for (int k = 0; is_same && k < node->nin; k++)
            is_same = is_invariant(h, node->in[k]);
        for (int k = 0; k < node->nout && node->out + (ValueId)k < h->n; k++)
            h->is_same[node->out + (ValueId)k] = is_same;
    }
}

/* Copies that only other copies need are not looked at again; the body's own nodes that are left
 * without readers are dropped at the end. */
static void loop_hoist(Hoist *h, Node loop, RegionId outer, bool in_branch)
{
    h->body = loop.regions[1];
    h->outer = outer;
    mark_invariants(h, in_branch);
    Subst taken = { 0 };
    for (int i = 0; i < region_at(h->m, h->body)->nnodes; i++) {
        NodeId n = region_at(h->m, h->body)->nodes[i];
        Node node = *node_at(h->m, n);
        if (!node.nout || node.out >= h->n || !h->is_same[node.out] || !is_worth(h, &node))
            continue;
        if (!taken.to)
            taken = subst_new(h->m);
        for (int k = 0; k < node.nout; k++)
            subst_set(&taken, node.out + (ValueId)k, bring_out(h, node.out + (ValueId)k));
    }
    if (!taken.to)
        return;
    h->any = true;
    subst_apply(&taken, h->m, h->body);
    subst_free(&taken);
}

static void hoist_region(Hoist *h, RegionId r, bool in_branch)
{
    Module *m = h->m;
    int n;
    NodeId *old = region_take_nodes(m, r, &n);
    for (int i = 0; i < n; i++) {
        OpFlow flow = node_flow(node_at(m, old[i]));
        bool has_code = node_holds_code(node_at(m, old[i]));
        for (int k = 0; has_code && k < node_at(m, old[i])->nregions; k++)
            hoist_region(h, node_at(m, old[i])->regions[k], in_branch || flow == FLOW_BRANCH);
        if (flow == FLOW_LOOP)
            loop_hoist(h, *node_at(m, old[i]), r, in_branch);
        region_append(m, r, old[i]);
    }
}

static bool hoist_once(Module *m)
{
    Arena *scratch = arena_new();
    Hoist h = { .m = m, .map = subst_new(m), .n = m->nvalues };
    h.is_same = ARENA_ARRAY(scratch, bool, m->nvalues);
    hoist_region(&h, module_main(m), false);
    if (h.any)
        remove_dead(m, module_main(m));
    subst_free(&h.map);
    arena_free(scratch);
    return h.any;
}

/* First what becomes one product of all rounds (hoist_products.c, sink_sums.c), since slices of its weights
 * are invariant.  What comes out of a loop in a loop comes out of both in two rounds. */
Error *pass_hoist_invariants(Module *m)
{
    enum { ROUNDS = 3 };
    hoist_products(m);
    TRY(sink_sums(m));
    for (int i = 0; i < ROUNDS && hoist_once(m); i++)
        ;
    return NULL;
}
