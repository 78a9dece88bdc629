/* define.c - operations that stand for others, written out.
 *
 * Some of StableHLO's operations say nothing that others could not: a batch_norm_inference is
 * five elementwise operations, an einsum is a dot_general.  They are rows of kind SHORT in
 * ops.def, with a shape rule and the name of a definition:
 *
 *     y = einsum x, w, "bik,kj->bji"   ->   t = dot_general x, w, contracting [2] x [0]
 *                                           y = transpose t, [0, 2, 1]
 *
 * Both sides of the seam have them written out before anything else looks at a program, so no
 * pass, evaluator, derivative or code knows them. */
#include "hlo/define/define.h"

#include "hlo/define/writer.h"

static Definition *const definitions[OP_COUNT] = {
#define OP(id, name, arity, attrs, kind, flow, effect, in_place, cost, cuts, shape, eval, ...)     \
    [OP_##id] = IF_SHORT_##kind(define_##eval, NULL),
#include "ops/ops.def"
};

static bool has_short(const Module *m, RegionId r)
{
    const Region *region = region_at(m, r);
    for (int i = 0; i < region->nnodes; i++) {
        const Node *node = node_at(m, region->nodes[i]);
        if (definitions[node->op])
            return true;
        for (int k = 0; k < node->nregions; k++)
            if (has_short(m, node->regions[k]))
                return true;
    }
    return false;
}

/* What is written out must hold as if the program had said it. */
static Error *define(Module *m, RegionId r, NodeId n, Subst *map)
{
    Node node = *node_at(m, n);
    Writer w = { m, r, node.loc };
    int before = region_at(m, r)->nnodes;
    ValueId *results = ARENA_ARRAY(m->arena, ValueId, node.nout + 1);
    TRY(definitions[node.op](&w, node, results));
    for (int i = before; i < region_at(m, r)->nnodes; i++)
        TRY(node_check(m, region_at(m, r)->nodes[i]));
    for (int i = 0; i < node.nout; i++)
        subst_set(map, node.out + (uint32_t)i, results[i]);
    return NULL;
}

/* Inner regions first, so that a definition meets plain operations in them. */
static Error *rebuild(Module *m, RegionId r, Subst *map)
{
    int n = region_at(m, r)->nnodes;
    NodeId none = 0, *old = arena_copy(m->arena, region_at(m, r)->nodes, sizeof *old * (size_t)n);
    region_set_nodes(m, r, 0, &none);
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < node_at(m, old[i])->nin; k++)
            node_at(m, old[i])->in[k] = subst_get(map, node_at(m, old[i])->in[k]);
        for (int k = 0; k < node_at(m, old[i])->nregions; k++)
            TRY(rebuild(m, node_at(m, old[i])->regions[k], map));
        if (definitions[node_at(m, old[i])->op])
            TRY(define(m, r, old[i], map));
        else
            region_append(m, r, old[i]);
    }
    return NULL;
}

Error *write_out(Module *m, RegionId r)
{
    if (!has_short(m, r))
        return NULL;
    Subst map = subst_new(m);
    Error *error = rebuild(m, r, &map);
    subst_free(&map);
    return error;
}
