/* module_part.c - some nodes of a module, with all that they need, as a module of their own: what the
 * evaluations of a program that is compiled ahead keep of it. */
#include "engine/ahead/ahead.h"

#include "base/fail.h"
#include "base/guard.h"

static NodeId copy_node(ModulePart *p, NodeId n, RegionId into, const ValueId *in);

/* In regions: what is not defined there is a constant. */
static ValueId value_in(ModulePart *p, ValueId v, RegionId into)
{
    if (!p->values[v]) {
        NodeId def = value_def(p->from, v);
        require(def && node_at(p->from, def)->op == OP_CONSTANT);
        copy_node(p, def, into, NULL);
    }
    return p->values[v];
}

static RegionId copy_region(ModulePart *p, RegionId r)
{
    const Region *region = region_at(p->from, r);
    Type *types = ARENA_ARRAY(p->to->arena, Type, region->nargs);
    for (int i = 0; i < region->nargs; i++)
        types[i] = type_of(p->from, region->args + (ValueId)i);
    RegionId copy = region_new(p->to, 0, region->nargs, types);
    for (int i = 0; i < region->nargs; i++)
        p->values[region->args + (ValueId)i] = region_at(p->to, copy)->args + (ValueId)i;
    for (int i = 0; i < region->nnodes; i++) {
        const Node *node = node_at(p->from, region->nodes[i]);
        ValueId *in = ARENA_ARRAY(p->to->arena, ValueId, node->nin);
        for (int k = 0; k < node->nin; k++)
            in[k] = value_in(p, node->in[k], copy);
        copy_node(p, region->nodes[i], copy, in);
    }
    return copy;
}

/* With these operands; its results are known from then on. */
static NodeId copy_node(ModulePart *p, NodeId n, RegionId into, const ValueId *in)
{
    const Node *node = node_at(p->from, n);
    RegionId *regions = ARENA_ARRAY(p->to->arena, RegionId, node->nregions);
    Type *types = ARENA_ARRAY(p->to->arena, Type, node->nout);
    for (int i = 0; i < node->nregions; i++)
        regions[i] = copy_region(p, node->regions[i]);
    for (int i = 0; i < node->nout; i++)
        types[i] = type_of(p->from, node->out + (ValueId)i);
    NodeId copy = node_new(p->to, node->op, node->nin, in, node->nout, types, node->nregions,
                           regions, node->attrs, node->loc);
    node_at(p->to, copy)->extra = node->extra;
    for (int i = 0; i < node->nout; i++)
        p->values[node->out + (ValueId)i] = node_at(p->to, copy)->out + (ValueId)i;
    region_append(p->to, into, copy);
    return copy;
}

void module_part_begin(ModulePart *p, const Module *m)
{
    *p = (ModulePart){ .from = m, .to = module_new() };
    p->values = HEAP_ARRAY(ValueId, m->nvalues, "a table of values");
}

void module_part_end(ModulePart *p)
{
    heap_free(p->values);
    module_free(p->to);
}

/* Of its operands only the types matter: they are arguments of a region that holds it. */
NodeId module_part_add(ModulePart *p, NodeId n)
{
    const Node *node = node_at(p->from, n);
    Type *types = ARENA_ARRAY(p->to->arena, Type, node->nin);
    ValueId *in = ARENA_ARRAY(p->to->arena, ValueId, node->nin);
    for (int i = 0; i < node->nin; i++)
        types[i] = type_of(p->from, node->in[i]);
    RegionId around = region_new(p->to, 0, node->nin, types);
    for (int i = 0; i < node->nin; i++)
        in[i] = region_at(p->to, around)->args + (ValueId)i;
    return copy_node(p, n, around, in);
}
