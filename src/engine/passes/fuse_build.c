/* fuse_build.c - from a group of nodes to one tutti.fusion node.
 *
 *   %3 = multiply %a, %b                  %4 = tutti.fusion(%a, %b) {
 *   %4 = add %3, %a            -->          (%x, %y):  %p = multiply %x, %y
 *                                                      %q = add %p, %x      return %q }
 *
 * The group's nodes are copied into the fusion's region; what they read from outside becomes an
 * operand, once each.  Constants of one number are copied in instead, except where the reader
 * wants an array in memory. */
#include "engine/passes/fuse.h"

#include "base/fail.h"

#include <stdlib.h>
#include <string.h>

static const NoAttrs no_attrs;

enum { POOL_SPLAT_BYTES = 4096 }; /* splats beyond this are filled in when the program runs */

static const Dense *one_number(const Module *m, ValueId v)
{
    const Dense *d = value_constant(m, v);
    return d && (d->is_splat || type_count(d->type) == 1) ? d : NULL;
}

/* ---- operands ---- */

typedef struct Operands {
    int n, room;
    ValueId *at;
    Type *types;
} Operands;

static void operand_add(FuseState *s, Operands *o, ValueId v)
{
    for (int i = 0; i < o->n; i++)
        if (o->at[i] == v)
            return;
    if (o->n == o->room) {
        int room = o->room ? o->room * 2 : 8;
        ValueId *at = ARENA_ARRAY(s->scratch, ValueId, room);
        Type *types = ARENA_ARRAY(s->scratch, Type, room);
        if (o->n) {
            memcpy(at, o->at, sizeof *at * (size_t)o->n);
            memcpy(types, o->types, sizeof *types * (size_t)o->n);
        }
        *o = (Operands){ o->n, room, at, types };
    }
    o->types[o->n] = type_of(s->m, v);
    o->at[o->n++] = v;
}

static bool is_inside(const FuseState *s, const FuseGroup *g, const NodeId *nodes, ValueId v)
{
    NodeId def = value_def(s->m, v);
    if (!def || value_at(s->m, v)->region != node_at(s->m, nodes[g->last])->region)
        return false;
    int position = s->position[def], low = 0, high = g->nmembers - 1;
    while (low <= high) {
        int middle = (low + high) / 2;
        if (g->members[middle] == position)
            return true;
        if (g->members[middle] > position)
            low = middle + 1;
        else
            high = middle - 1;
    }
    return false;
}

static Operands operands_find(FuseState *s, const FuseGroup *g, const NodeId *nodes)
{
    Operands o = { 0 };
    for (int i = g->nmembers - 1; i >= 0; i--) {
        const Node *node = node_at(s->m, nodes[g->members[i]]);
        for (int k = 0; k < node->nin; k++) {
            ValueId v = node->in[k];
            bool is_copied = one_number(s->m, v) && fuse_access(s->m, node, k) != ACCESS_MEMORY;
            if (!is_copied && !is_inside(s, g, nodes, v))
                operand_add(s, &o, v);
        }
    }
    return o;
}

/* ---- the region ---- */

/* Copies a node; operands that have no copy yet are constants, which are copied first. */
static void member_copy(FuseState *s, RegionId to, NodeId n)
{
    Module *m = s->m;
    Node old = *node_at(m, n);
    ValueId *in = ARENA_ARRAY(s->scratch, ValueId, old.nin);
    for (int k = 0; k < old.nin; k++) {
        if (!s->inner[old.in[k]]) {
            require(value_constant(m, old.in[k]));
            member_copy(s, to, value_def(m, old.in[k]));
        }
        in[k] = s->inner[old.in[k]];
    }
    Type *types = ARENA_ARRAY(s->scratch, Type, old.nout);
    for (int k = 0; k < old.nout; k++)
        types[k] = type_of(m, old.out + (ValueId)k);
    NodeId copy = node_new(m, old.op, old.nin, in, old.nout, types, old.nregions, old.regions,
                           old.attrs, old.loc);
    for (int k = 0; k < old.nout; k++)
        s->inner[old.out + (ValueId)k] = node_at(m, copy)->out + (ValueId)k;
    region_append(m, to, copy);
}

/* inner[] is all zero between fusions. */
static void inner_forget(FuseState *s, const FuseGroup *g, const NodeId *nodes, const Operands *o)
{
    for (int i = 0; i < o->n; i++)
        s->inner[o->at[i]] = 0;
    for (int i = 0; i < g->nmembers; i++) {
        const Node *node = node_at(s->m, nodes[g->members[i]]);
        for (int k = 0; k < node->nin; k++)
            s->inner[node->in[k]] = 0;
        for (int k = 0; k < node->nout; k++)
            s->inner[node->out + (ValueId)k] = 0;
    }
}

NodeId fusion_build(FuseState *s, const FuseGroup *g, const NodeId *nodes)
{
    Module *m = s->m;
    Operands o = operands_find(s, g, nodes);
    RegionId region = region_new(m, 0, o.n, o.types);
    for (int i = 0; i < o.n; i++)
        s->inner[o.at[i]] = region_at(m, region)->args + (ValueId)i;
    for (int i = g->nmembers - 1; i >= 0; i--)
        member_copy(s, region, nodes[g->members[i]]);

    ValueId *results = ARENA_ARRAY(s->scratch, ValueId, g->nresults);
    Type *types = ARENA_ARRAY(s->scratch, Type, g->nresults);
    for (int i = 0; i < g->nresults; i++) {
        results[i] = s->inner[g->results[i]];
        types[i] = type_of(m, results[i]);
    }
    const Loc *loc = node_at(m, nodes[g->last])->loc;
    region_append(m, region,
                  node_new(m, OP_RETURN, g->nresults, results, 0, NULL, 0, NULL, &no_attrs, loc));
    NodeId fusion = node_new(m, OP_FUSION, o.n, o.at, g->nresults, types, 1, &region, &no_attrs, loc);
    for (int i = 0; i < g->nresults; i++)
        subst_set(&s->subst, g->results[i], node_at(m, fusion)->out + (ValueId)i);
    inner_forget(s, g, nodes, &o);
    return fusion;
}

/* ---- constants ---- */

/* A kernel that only writes one number everywhere. */
static NodeId fill_build(Module *m, NodeId constant, Subst *subst)
{
    Node old = *node_at(m, constant);
    Type type = type_of(m, old.out);
    RegionId region = region_new(m, 0, 0, NULL);
    NodeId copy = node_new(m, OP_CONSTANT, 0, NULL, 1, &type, 0, NULL, old.attrs, old.loc);
    region_append(m, region, copy);
    ValueId value = node_at(m, copy)->out;
    region_append(m, region, node_new(m, OP_RETURN, 1, &value, 0, NULL, 0, NULL, &no_attrs, old.loc));
    NodeId fusion = node_new(m, OP_FUSION, 0, NULL, 1, &type, 1, &region, &no_attrs, old.loc);
    subst_set(subst, old.out, node_at(m, fusion)->out);
    return fusion;
}

static void settle_region(Module *m, RegionId r, const uint32_t *uses, Subst *subst)
{
    int n = region_at(m, r)->nnodes, kept = 0;
    NodeId *list = malloc(sizeof *list * (size_t)(n + 1));
    if (!list)
        fail("no memory for a region of %d operations", n);
    for (int i = 0; i < n; i++) {
        NodeId id = region_at(m, r)->nodes[i];
        Node node = *node_at(m, id);
        const Dense *d = node.op == OP_CONSTANT ? value_constant(m, node.out) : NULL;
        if (d && !uses[node.out])
            continue;
        bool is_filled = d && d->is_splat && type_bytes(d->type) > POOL_SPLAT_BYTES;
        list[kept++] = is_filled ? fill_build(m, id, subst) : id;
        bool has_code = node.op == OP_WHILE || node.op == OP_CASE || node.op == OP_IF ||
                        node.op == OP_GLOBAL;
        for (int k = 0; has_code && k < node.nregions; k++)
            settle_region(m, node.regions[k], uses, subst);
    }
    region_set_nodes(m, r, kept, list);
    free(list);
}

void constants_settle(Module *m, RegionId r)
{
    uint32_t *uses = count_uses(m, r);
    Subst subst = subst_new(m);
    settle_region(m, r, uses, &subst);
    subst_apply(&subst, m, r);
    subst_free(&subst);
    free(uses);
}
