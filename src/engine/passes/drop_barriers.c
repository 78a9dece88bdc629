/* drop_barriers.c - barriers have done their work: they go.
 *
 *     a = exp x ...      b = barrier x; c = exp b ...      ->      c = exp x
 *
 * What stands on the two sides of a barrier, simplify does not merge: so what a program computes once
 * more, in order not to keep it, stays computed once more.  Behind this pass nothing merges values. */
#include "engine/passes/passes.h"

#include "hlo/rewrite.h"

static MUST_USE Error *drop(Module *m, RegionId r, NodeId n, void *map)
{
    if (node_at(m, n)->op == OP_BARRIER)
        node_replace(m, n, node_at(m, n)->in, map);
    else
        region_append(m, r, n);
    return NULL;
}

Error *pass_drop_barriers(Module *m)
{
    Subst map = subst_new(m);
    Error *error = region_rewrite(m, module_main(m), &map, drop, &map);
    subst_free(&map);
    return error;
}
