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
#include "base/grow.h"

static const NoAttrs no_attrs;

enum { POOL_SPLAT_BYTES = 4096 }; /* splats beyond this are filled in when the program runs */

static const Dense *one_number(const Module *m, ValueId v)
{
    const Dense *d = value_constant(m, v);
    return d && (d->is_splat || type_count(d->type) == 1) ? d : NULL;
}

/* ---- what goes in, and in which order ---- */

/* Nodes stand in the order in which a walk from the results back meets them, not in that of the
 * program, so that equal kernels look equal wherever their nodes stood. */
typedef struct Contents {
    FuseState *s;
    const FuseGroup *g;
    const NodeId *nodes; /* of the region, by position */
    int norder, noperands, room;
    NodeId *order;
    ValueId *operands;
    Type *types; /* of the operands */
} Contents;

static bool is_member(const Contents *c, ValueId v)
{
    const FuseState *s = c->s;
    NodeId def = value_def(s->m, v);
    if (!def || value_at(s->m, v)->region != node_at(s->m, c->nodes[c->g->last])->region)
        return false;
    int position = s->position[def], low = 0, high = c->g->nmembers - 1;
    while (low <= high) {
        int middle = (low + high) / 2;
        if (c->g->members[middle] == position)
            return true;
        if (c->g->members[middle] > position)
            low = middle + 1;
        else
            high = middle - 1;
    }
    return false;
}

/* While contents are collected, inner[v] is SEEN for what has its place in a list. */
enum { SEEN = 1 };

static void operand_add(Contents *c, ValueId v)
{
    int room = c->room; /* of both */
    ROOM(c->s->scratch, c->operands, c->noperands, &room);
    ROOM(c->s->scratch, c->types, c->noperands, &c->room);
    c->types[c->noperands] = type_of(c->s->m, v);
    c->operands[c->noperands++] = v;
}

static void collect(Contents *c, ValueId v, Access access)
{
    FuseState *s = c->s;
    if (s->inner[v])
        return;
    bool is_copied = one_number(s->m, v) && access != ACCESS_MEMORY;
    if (is_copied)
        return;
    s->inner[v] = SEEN;
    if (!is_member(c, v)) {
        operand_add(c, v);
        return;
    }
    NodeId n = value_def(s->m, v);
    const Node *node = node_at(s->m, n);
    for (int k = 0; k < node->nout; k++)
        s->inner[node->out + (ValueId)k] = SEEN;
    for (int k = 0; k < node->nin; k++)
        collect(c, node->in[k], fuse_access(s->m, node, k));
    c->order[c->norder++] = n;
}

static Contents contents_of(FuseState *s, const FuseGroup *g, const NodeId *nodes)
{
    Contents c = { .s = s, .g = g, .nodes = nodes };
    c.order = ARENA_ARRAY(s->scratch, NodeId, g->nmembers);
    for (int i = 0; i < g->nresults; i++)
        collect(&c, g->results[i], ACCESS_SAME);
    for (int i = 0; i < c.norder; i++) {
        const Node *node = node_at(s->m, c.order[i]);
        for (int k = 0; k < node->nout; k++)
            s->inner[node->out + (ValueId)k] = 0;
    }
    return c;
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
static void inner_forget(FuseState *s, const Contents *c)
{
    for (int i = 0; i < c->noperands; i++)
        s->inner[c->operands[i]] = 0;
    for (int i = 0; i < c->norder; i++) {
        const Node *node = node_at(s->m, c->order[i]);
        for (int k = 0; k < node->nin; k++)
            s->inner[node->in[k]] = 0;
        for (int k = 0; k < node->nout; k++)
            s->inner[node->out + (ValueId)k] = 0;
    }
}

NodeId fusion_build(FuseState *s, const FuseGroup *g, const NodeId *nodes)
{
    Module *m = s->m;
    Contents c = contents_of(s, g, nodes);
    RegionId region = region_new(m, 0, c.noperands, c.types);
    for (int i = 0; i < c.noperands; i++)
        s->inner[c.operands[i]] = region_at(m, region)->args + (ValueId)i;
    for (int i = 0; i < c.norder; i++)
        member_copy(s, region, c.order[i]);

    ValueId *results = ARENA_ARRAY(s->scratch, ValueId, g->nresults);
    Type *types = ARENA_ARRAY(s->scratch, Type, g->nresults);
    for (int i = 0; i < g->nresults; i++) {
        results[i] = s->inner[g->results[i]];
        types[i] = type_of(m, results[i]);
    }
    const Loc *loc = node_at(m, nodes[g->last])->loc;
    build_return(m, region, g->nresults, results, loc);
    NodeId fusion = node_new(m, OP_FUSION, c.noperands, c.operands, g->nresults, types, 1, &region,
                             &no_attrs, loc);
    for (int i = 0; i < g->nresults; i++)
        subst_set(&s->subst, g->results[i], node_at(m, fusion)->out + (ValueId)i);
    inner_forget(s, &c);
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
    build_return(m, region, 1, &value, old.loc);
    NodeId fusion = node_new(m, OP_FUSION, 0, NULL, 1, &type, 1, &region, &no_attrs, old.loc);
    subst_set(subst, old.out, node_at(m, fusion)->out);
    return fusion;
}

static void settle_region(Module *m, RegionId r, const uint32_t *uses, Subst *subst)
{
    int n = region_at(m, r)->nnodes, kept = 0;
    NodeId *list = HEAP_ARRAY(NodeId, n, "a list of operations");
    for (int i = 0; i < n; i++) {
        NodeId id = region_at(m, r)->nodes[i];
        Node node = *node_at(m, id);
        const Dense *d = node.op == OP_CONSTANT ? value_constant(m, node.out) : NULL;
        if (d && !uses[node.out])
            continue;
        bool is_filled = d && d->is_splat && type_bytes(d->type) > POOL_SPLAT_BYTES;
        list[kept++] = is_filled ? fill_build(m, id, subst) : id;
        for (int k = 0; node_holds_code(&node) && k < node.nregions; k++)
            settle_region(m, node.regions[k], uses, subst);
    }
    region_set_nodes(m, r, kept, list);
    heap_free(list);
}

void constants_settle(Module *m, RegionId r)
{
    uint32_t *uses = count_uses(m, r);
    Subst subst = subst_new(m);
    settle_region(m, r, uses, &subst);
    subst_apply(&subst, m, r);
    subst_free(&subst);
    heap_free(uses);
}
