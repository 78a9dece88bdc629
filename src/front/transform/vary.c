/* vary.c - gradients inside a shard_map, as JAX's types have them.
 *
 *     w, the same on all devices          y = mul vary(w), x         x is sharded along "i"
 *     x, sharded along "i"                z = psum y over "i"        typed
 *
 * What all devices have alike, and what each has of its own, are different things to a gradient.
 * Where the first meets the second, a node says so: backwards it sums what the devices make of it
 * over the axes, so that the gradient of what is alike is alike.  A sum over the axes of what
 * differs along them is alike: backwards it hands the one cotangent to every device.
 *
 * In goes the graph of a function with the sets of its leaves, out comes one with those nodes, for
 * jvp and backwards.  They are no part of a program: vary_remove takes them away, and what is left
 * are sums like any other. */
#include "front/transform/transform.h"
#include "front/value/axis_names.h"

#include "base/fail.h"

#include <string.h>

/* ---- calls ---- */

typedef struct Opening {
    Subst map;
    int ncalls;
} Opening;

static Error *open_call(Module *m, RegionId r, NodeId n, void *user)
{
    Opening *o = user;
    const Node *node = node_at(m, n);
    if (node->op != OP_CALL)
        return region_append(m, r, n), NULL;
    node_open(m, r, n, func_find(m, ((const CallAttrs *)node->attrs)->callee)->body, &o->map);
    o->ncalls++;
    return NULL;
}

/* The rewrites of this file cannot fail. */
static void rewrite(Module *m, RegionId r, const Subst *map, NodeRewrite *by, void *user)
{
    Error *error = region_rewrite(m, r, map, by, user);
    require(!error);
}

/* A function that is called has one text for arguments that differ and for others. */
static void open_calls(Module *m, RegionId r)
{
    Opening o;
    do {
        o = (Opening){ .map = subst_new(m) };
        rewrite(m, r, &o.map, open_call, &o);
        subst_free(&o.map);
    } while (o.ncalls);
}

/* ---- inserting ---- */

/* A value that differs along more axes than the one it was made of. */
typedef struct Varied {
    const struct Varied *next;
    ValueId value, as; /* of the old graph, of the new */
    AxisSet set;
} Varied;

typedef struct Inserter {
    Module *m;
    Varies varies;
    Subst map;            /* from values of the old graph to the new */
    const Varied *varied; /* in the regions around, innermost first */
} Inserter;

/* v, that differs along at least `want`: the nearest that is there, or one made of it. */
static ValueId vary_to(Inserter *w, RegionId to, ValueId v, AxisSet want, const Loc *loc)
{
    AxisSet has = w->varies.of[v];
    ValueId as = subst_get(&w->map, v);
    Type t = type_of(w->m, v);
    if (!has_tangent(t))
        return as;
    for (const Varied *one = w->varied; one; one = one->next)
        if (one->value == v && !(one->set & ~(want | has)) && (one->set & ~has)) {
            has = one->set;
            as = one->as;
        }
    if (!(want & ~has))
        return as;
    as = build_node(w->m, to, OP_NAMED_VARY, 1, &as, t, axes_of_set(w->varies.mesh, want & ~has),
                    loc);
    Varied *one = ARENA_NEW(w->m->arena, Varied);
    *one = (Varied){ w->varied, v, as, want | has };
    w->varied = one;
    return as;
}

static bool is_checkpoint(const Node *node)
{
    return node->op == OP_COMPOSITE && composite_of(node)->kind == CHECKPOINT;
}

/* How operand i must differ.  The operands of a function with a rule of its own differ alike, since that
 * rule knows nothing of sums over devices. */
static AxisSet wanted(const Inserter *w, const Node *node, int i)
{
    AxisSet all = 0;
    for (int k = 0; node->op == OP_COMPOSITE && !is_checkpoint(node) && k < node->nin; k++)
        all |= w->varies.of[node->in[k]];
    if (node->op == OP_COMPOSITE)
        return all;
    if (op_is_named(node->op))
        return w->varies.of[node->in[i]] | named_axes(&w->varies, node);
    if (node_flow(node) == FLOW_BRANCH || !node->nout)
        return 0;
    return w->varies.of[node->out + (uint32_t)(node_flow(node) == FLOW_LOOP ? i : 0)];
}

static RegionId insert_region(Inserter *w, RegionId from, const Node *node);

/* Devices that take other branches, or more iterations, cannot meet there: what the regions use
 * from around them differs before. */
static void vary_around(Inserter *w, RegionId to, const Node *node)
{
    bool is_loop = node_flow(node) == FLOW_LOOP;
    ValueId decides = is_loop ? region_return(w->m, node->regions[0])->in[0] : node->in[0];
    Values free = free_values(w->m, node->nregions, node->regions);
    for (int i = 0; i < free.n; i++)
        vary_to(w, to, free.at[i], w->varies.of[decides], node->loc);
}

static void insert_node(Inserter *w, RegionId to, NodeId n)
{
    Module *m = w->m;
    Node node = *node_at(m, n);
    bool is_control = node_is_control(&node);
    ValueId *in = ARENA_ARRAY(m->arena, ValueId, node.nin + 1);
    Type *types = ARENA_ARRAY(m->arena, Type, node.nout + 1);
    RegionId *regions = ARENA_ARRAY(m->arena, RegionId, node.nregions + 1);
    if (is_control)
        vary_around(w, to, &node);
    for (int i = 0; i < node.nin; i++)
        in[i] = vary_to(w, to, node.in[i], wanted(w, &node, i), node.loc);
    for (int i = 0; i < node.nout; i++)
        types[i] = type_of(m, node.out + (uint32_t)i);
    for (int k = 0; k < node.nregions; k++) {
        bool is_body =
            is_checkpoint(&node) || (is_control && (node_flow(&node) == FLOW_BRANCH || k == 1));
        regions[k] = is_body ? insert_region(w, node.regions[k], &node)
                             : region_copy(m, node.regions[k], 0, &w->map);
    }
    const AxisAttrs *a = node.attrs;
    if (node.op == OP_NAMED_SUM && !a->groups.rows &&
        axes_of_set(w->varies.mesh, named_axes(&w->varies, &node))->size == a->size) {
        AxisAttrs *typed = arena_copy(m->arena, a, sizeof *a);
        typed->is_typed = true;
        node.attrs = typed;
    }
    NodeId copy = node_new(m, node.op, node.nin, in, node.nout, types, node.nregions, regions,
                           node.attrs, node.loc);
    region_append(m, to, copy);
    ValueId out = node_at(m, copy)->out;
    for (int i = 0; i < node.nout; i++)
        subst_set(&w->map, node.out + (uint32_t)i, out + (uint32_t)i);
}

/* The region anew.  What it returns differs as the results of its node do; without one, as it is. */
static RegionId insert_region(Inserter *w, RegionId from, const Node *node)
{
    Module *m = w->m;
    const Varied *outer = w->varied;
    int nargs = region_at(m, from)->nargs;
    Type *types = ARENA_ARRAY(m->arena, Type, nargs + 1);
    for (int i = 0; i < nargs; i++)
        types[i] = type_of(m, region_at(m, from)->args + (uint32_t)i);
    RegionId to = region_new(m, 0, nargs, types);
    for (int i = 0; i < nargs; i++)
        subst_set(&w->map, region_at(m, from)->args + (uint32_t)i,
                  region_at(m, to)->args + (uint32_t)i);
    for (int i = 0; i < region_at(m, from)->nnodes - 1; i++)
        insert_node(w, to, region_at(m, from)->nodes[i]);
    Node last = *region_return(m, from);
    ValueId *results = ARENA_ARRAY(m->arena, ValueId, last.nin + 1);
    for (int i = 0; i < last.nin; i++)
        results[i] =
            vary_to(w, to, last.in[i], node ? w->varies.of[node->out + (uint32_t)i] : 0, last.loc);
    build_return(m, to, last.nin, results, last.loc);
    w->varied = outer;
    return to;
}

void vary_insert(Graph *g, const AxisSet *leaves)
{
    open_calls(g->m, g->body);
    Inserter w = { .m = g->m, .varies = graph_varies(g, leaves), .map = subst_new(g->m) };
    g->body = insert_region(&w, g->body, NULL);
    subst_free(&w.map);
}

/* ---- and removing ---- */

static Error *remove_node(Module *m, RegionId r, NodeId n, void *map)
{
    Node *node = node_at(m, n);
    if (node->op == OP_NAMED_VARY)
        return node_replace(m, n, node->in, map), NULL;
    if (node->op == OP_NAMED_SUM && ((const AxisAttrs *)node->attrs)->is_typed) {
        AxisAttrs *plain = arena_copy(m->arena, node->attrs, sizeof *plain);
        plain->is_typed = false;
        node->attrs = plain;
    }
    region_append(m, r, n);
    return NULL;
}

void vary_remove(Graph *g)
{
    Subst map = subst_new(g->m);
    rewrite(g->m, g->body, &map, remove_node, &map);
    subst_free(&map);
}
