/* rewrite.c - changing a module: substitution, walking, copying.
 *
 * In goes a module and a list of wishes (use b where a was used; a copy of this region there;
 * drop what is not needed); out comes the same module, changed in place.  Numbers of values,
 * nodes and regions are never reused, so a table indexed by number stays right while a pass
 * adds rows, and every function here is one walk over the nodes concerned.
 *
 *     map:  x -> a               region `from`          appended to `to`
 *                                  y = neg x              y' = neg a
 *                                  z = while (y) {..}     z' = while (y') {.. copied ..}
 *                                  return z             map:  y -> y', z -> z'
 */
#include "hlo/rewrite.h"

#include "base/guard.h"

#include <string.h>

/* ---- substitution ---- */

Subst subst_new(const Module *m)
{
    return (Subst){ .to = HEAP_ARRAY(ValueId, m->nvalues, "a substitution"), .n = m->nvalues };
}

void subst_free(Subst *s)
{
    heap_free(s->to);
    *s = (Subst){ 0 };
}

ValueId subst_get(const Subst *s, ValueId v)
{
    while (v < s->n && s->to[v])
        v = s->to[v];
    return v;
}

void subst_set(Subst *s, ValueId from, ValueId to)
{
    if (from >= s->n) {
        uint32_t n = from + from / 2 + 16;
        ValueId *bigger = heap_resize(s->to, n * sizeof *bigger, "a substitution");
        memset(bigger + s->n, 0, (n - s->n) * sizeof *bigger);
        s->to = bigger;
        s->n = n;
    }
    s->to[from] = 0; /* so that a chain through `from` ends there, and no ring can arise */
    to = subst_get(s, to);
    if (to != from)
        s->to[from] = to;
}

static void apply_to(Module *m, NodeId n, void *user)
{
    const Subst *s = user;
    Node *node = node_at(m, n);
    for (int i = 0; i < node->nin; i++)
        node->in[i] = subst_get(s, node->in[i]);
}

void subst_apply(const Subst *s, Module *m, RegionId r)
{
    region_walk(m, r, apply_to, (void *)s);
}

/* ---- walking ---- */

/* The region's list may change under the visit, so it is read afresh at every step. */
void region_walk(Module *m, RegionId r, NodeVisit *visit, void *user)
{
    for (int i = 0; i < region_at(m, r)->nnodes; i++) {
        NodeId n = region_at(m, r)->nodes[i];
        visit(m, n, user);
        for (int k = 0; k < node_at(m, n)->nregions; k++)
            region_walk(m, node_at(m, n)->regions[k], visit, user);
    }
}

static void count_in(const Module *m, RegionId r, uint32_t *counts)
{
    const Region *region = region_at(m, r);
    for (int i = 0; i < region->nnodes; i++) {
        const Node *node = node_at(m, region->nodes[i]);
        for (int k = 0; k < node->nin; k++)
            counts[node->in[k]]++;
        for (int k = 0; k < node->nregions; k++)
            count_in(m, node->regions[k], counts);
    }
}

uint32_t *count_uses(const Module *m, RegionId r)
{
    uint32_t *counts = HEAP_ARRAY(uint32_t, m->nvalues, "a table of values");
    count_in(m, r, counts);
    return counts;
}

/* ---- copying ---- */

NodeId node_copy(Module *m, NodeId n, Subst *map)
{
    Node old = *node_at(m, n);
    ValueId *in = ARENA_ARRAY(m->arena, ValueId, old.nin + 1);
    for (int i = 0; i < old.nin; i++)
        in[i] = subst_get(map, old.in[i]);
    Type *types = ARENA_ARRAY(m->arena, Type, old.nout + 1);
    for (int i = 0; i < old.nout; i++)
        types[i] = type_of(m, old.out + (uint32_t)i);
    RegionId *regions = ARENA_ARRAY(m->arena, RegionId, old.nregions + 1);
    for (int i = 0; i < old.nregions; i++)
        regions[i] = region_copy(m, old.regions[i], 0, map);
    NodeId copy = node_new(m, old.op, old.nin, in, old.nout, types, old.nregions, regions,
                           old.attrs, old.loc);
    node_at(m, copy)->extra = old.extra;
    ValueId out = node_at(m, copy)->out;
    for (int i = 0; i < old.nout; i++)
        subst_set(map, old.out + (uint32_t)i, out + (uint32_t)i);
    return copy;
}

static void copy_nodes(Module *m, RegionId from, RegionId to, int n, Subst *map)
{
    for (int i = 0; i < n; i++)
        region_append(m, to, node_copy(m, region_at(m, from)->nodes[i], map));
}

void region_copy_into(Module *m, RegionId from, RegionId to, Subst *map)
{
    copy_nodes(m, from, to, region_at(m, from)->nnodes - 1, map);
}

RegionId region_copy(Module *m, RegionId from, NodeId parent, Subst *map)
{
    Region old = *region_at(m, from);
    Type *types = ARENA_ARRAY(m->arena, Type, old.nargs + 1);
    for (int i = 0; i < old.nargs; i++)
        types[i] = type_of(m, old.args + (uint32_t)i);
    RegionId copy = region_new(m, parent, old.nargs, types);
    ValueId args = region_at(m, copy)->args;
    for (int i = 0; i < old.nargs; i++)
        subst_set(map, old.args + (uint32_t)i, args + (uint32_t)i);
    copy_nodes(m, from, copy, old.nnodes, map);
    return copy;
}

/* ---- replacing ---- */

Error *region_rewrite(Module *m, RegionId r, const Subst *map, NodeRewrite *rewrite, void *user)
{
    int n;
    NodeId *old = region_take_nodes(m, r, &n);
    for (int i = 0; i < n; i++) {
        Node *node = node_at(m, old[i]);
        for (int k = 0; k < node->nin; k++)
            node->in[k] = subst_get(map, node->in[k]);
        for (int k = 0; k < node_at(m, old[i])->nregions; k++)
            TRY(region_rewrite(m, node_at(m, old[i])->regions[k], map, rewrite, user));
        TRY(rewrite(m, r, old[i], user));
    }
    return NULL;
}

void node_replace(const Module *m, NodeId n, const ValueId *by, Subst *map)
{
    const Node *node = node_at(m, n);
    for (int i = 0; i < node->nout; i++)
        subst_set(map, node->out + (uint32_t)i, by[i]);
}

void node_open(Module *m, RegionId r, NodeId n, RegionId body, Subst *map)
{
    ValueId args = region_at(m, body)->args;
    for (int i = 0; i < node_at(m, n)->nin; i++)
        subst_set(map, args + (uint32_t)i, node_at(m, n)->in[i]);
    region_copy_into(m, body, r, map);
    node_replace(m, n, region_return(m, body)->in, map);
}

/* ---- what is not needed ---- */

static bool has_effect_itself(const Node *node)
{
    OpEffect effect = op_info[node->op].effect;
    return effect == EFFECT_ORDER ||
           (effect == EFFECT_WORLD && ((const CustomCallAttrs *)node->attrs)->has_side_effect);
}

static bool region_has_effect(const Module *m, RegionId r)
{
    const Region *region = region_at(m, r);
    for (int i = 0; i < region->nnodes; i++)
        if (node_has_effect(m, region->nodes[i]))
            return true;
    return false;
}

bool node_has_effect(const Module *m, NodeId n)
{
    const Node *node = node_at(m, n);
    if (has_effect_itself(node))
        return true;
    for (int k = 0; k < node->nregions; k++)
        if (region_has_effect(m, node->regions[k]))
            return true;
    const Func *callee =
        node->op == OP_CALL ? func_find(m, ((const CallAttrs *)node->attrs)->callee) : NULL;
    return callee && region_has_effect(m, callee->body);
}

static bool is_needed(const Module *m, NodeId n, const bool *used)
{
    const Node *node = node_at(m, n);
    if (node_flow(node) == FLOW_END)
        return true;
    for (int i = 0; i < node->nout; i++)
        if (used[node->out + (uint32_t)i])
            return true;
    return node_has_effect(m, n);
}

/* Backwards, so that every user is seen before what it uses; one walk is enough. */
static void sweep(Module *m, RegionId r, bool *used)
{
    Region *region = region_at(m, r);
    int kept = region->nnodes;
    for (int i = region->nnodes - 1; i >= 0; i--) {
        NodeId n = region->nodes[i];
        if (!is_needed(m, n, used))
            continue;
        region->nodes[--kept] = n;
        const Node *node = node_at(m, n);
        for (int k = 0; k < node->nin; k++)
            used[node->in[k]] = true;
        for (int k = 0; k < node->nregions; k++)
            sweep(m, node->regions[k], used);
    }
    region->nnodes -= kept;
    memmove(region->nodes, region->nodes + kept, sizeof(NodeId) * (size_t)region->nnodes);
}

void remove_dead(Module *m, RegionId r)
{
    if (!region_at(m, r)->nnodes)
        return;
    bool *used = HEAP_ARRAY(bool, m->nvalues, "a table of values");
    sweep(m, r, used);
    heap_free(used);
}

/* ---- reducers ---- */

static ValueId through_constraints(const Module *m, ValueId v)
{
    for (NodeId n; (n = value_def(m, v)) && node_at(m, n)->op == OP_CONSTRAINT;)
        v = node_at(m, n)->in[0];
    return v;
}

static bool is_commutative(OpId op)
{
    return op == OP_ADD || op == OP_MUL || op == OP_MAX || op == OP_MIN || op == OP_AND ||
           op == OP_OR || op == OP_XOR;
}

OpId region_reducer(const Module *m, RegionId r)
{
    const Region *region = region_at(m, r);
    const Node *last = region->nnodes ? region_return(m, r) : NULL;
    if (!last || last->nin != 1 || region->nargs != 2)
        return OP_COUNT;
    ValueId result = through_constraints(m, last->in[0]);
    NodeId n = value_def(m, result);
    if (!n)
        return OP_COUNT;
    const Node *node = node_at(m, n);
    if (node->nin != 2 || op_info[node->op].kind != KIND_MAP || node->op == OP_COMPARE)
        return OP_COUNT;
    ValueId a = through_constraints(m, node->in[0]), b = through_constraints(m, node->in[1]);
    bool straight = a == region->args && b == region->args + 1;
    bool reversed = b == region->args && a == region->args + 1;
    return straight || (reversed && is_commutative(node->op)) ? node->op : OP_COUNT;
}

/* ---- small nodes ---- */

ValueId build_node(Module *m, RegionId r, OpId op, int nin, const ValueId *in, Type result,
                   const void *attrs, const Loc *loc)
{
    static const NoAttrs none;
    if (!attrs && op_info[op].attrs == ATTRS_NONE)
        attrs = &none;
    NodeId n = node_new(m, op, nin, in, 1, &result, 0, NULL, attrs, loc);
    region_append(m, r, n);
    return node_at(m, n)->out;
}

void build_return(Module *m, RegionId r, int n, const ValueId *values, const Loc *loc)
{
    static const NoAttrs none;
    region_append(m, r, node_new(m, OP_RETURN, n, values, 0, NULL, 0, NULL, &none, loc));
}

ValueId build_constant(Module *m, RegionId r, Dense value, const Loc *loc)
{
    ConstantAttrs *attrs = ARENA_NEW(m->arena, ConstantAttrs);
    attrs->value = value;
    return build_node(m, r, OP_CONSTANT, 0, NULL, value.type, attrs, loc);
}

RegionId build_reducer(Module *m, OpId op, Element element, const Loc *loc)
{
    Type scalars[] = { type_scalar(element), type_scalar(element) };
    RegionId r = region_new(m, 0, 2, scalars);
    ValueId args[] = { region_at(m, r)->args, region_at(m, r)->args + 1 };
    ValueId both = build_node(m, r, op, 2, args, scalars[0], NULL, loc);
    build_return(m, r, 1, &both, loc);
    return r;
}
