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

/* What is written out must hold as if the program had said it.  Inner regions come first, so that a
 * definition meets plain operations in them. */
static Error *define(Module *m, RegionId r, NodeId n, void *user)
{
    Subst *map = user;
    Node node = *node_at(m, n);
    if (!definitions[node.op]) {
        region_append(m, r, n);
        return NULL;
    }
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

Error *write_out(Module *m, RegionId r)
{
    if (!has_short(m, r))
        return NULL;
    Subst map = subst_new(m);
    Error *error = region_rewrite(m, r, &map, define, &map);
    subst_free(&map);
    return error;
}
