/* reductions.c - reductions that need less than they say.
 *
 *     reduce of transpose x          ->  reduce of x over the dimensions as they lie
 *     reduce over extents of 1       ->  the initial value and the one element, combined
 *
 * A sum may be added up in another order (docs/design: numbers), so that of a transposed array
 * walks through memory in order.  Bounds checks of indices come as reductions over an extent of 1.
 */
#include "engine/passes/simplify/simplify.h"

#include <string.h>

static Ints reduced_dimensions(const Node *node)
{
    return ((const DimensionsAttrs *)node->attrs)->dimensions;
}

static bool is_reduced(Ints dims, int64_t d)
{
    for (int i = 0; i < dims.n; i++)
        if (dims.at[i] == d)
            return true;
    return false;
}

/* Do the dimensions that are kept come in the same order before and after the transpose? */
static bool keeps_order(Ints permutation, Ints reduced)
{
    int64_t last = -1;
    for (int d = 0; d < permutation.n; d++) {
        if (is_reduced(reduced, d))
            continue;
        if (permutation.at[d] < last)
            return false;
        last = permutation.at[d];
    }
    return true;
}

/* Changes the node where it is: its result stays what it was. */
static void read_untransposed(Simplifier *s, NodeId n)
{
    Module *m = s->m;
    Node *node = node_at(m, n);
    NodeId from = value_def(m, node->in[0]);
    const Node *transpose = from ? node_at(m, from) : NULL;
    if (!transpose || transpose->op != OP_TRANSPOSE)
        return;
    Ints permutation = ((const TransposeAttrs *)transpose->attrs)->permutation;
    Ints reduced = reduced_dimensions(node);
    int64_t dims[MAX_RANK];
    if (!keeps_order(permutation, reduced))
        return;
    for (int i = 0; i < reduced.n; i++)
        dims[i] = permutation.at[reduced.at[i]];
    DimensionsAttrs *attrs = ARENA_NEW(m->arena, DimensionsAttrs);
    attrs->dimensions = ints_copy(m->arena, reduced.n, dims);
    node->in[0] = transpose->in[0];
    node->attrs = attrs;
}

static bool are_all_one(Type t, Ints dims)
{
    for (int i = 0; i < dims.n; i++)
        if (t.dims[dims.at[i]] != 1)
            return false;
    return true;
}

ValueId simplify_reduce(Simplifier *s, NodeId n)
{
    Module *m = s->m;
    if (node_at(m, n)->op != OP_REDUCE || node_at(m, n)->nin != 2)
        return 0;
    read_untransposed(s, n);
    Node node = *node_at(m, n); /* a copy: nodes are added */
    Type result = type_of(m, node.out);
    OpId op = region_reducer(m, node.regions[0]);
    if (op == OP_COUNT || !are_all_one(type_of(m, node.in[0]), reduced_dimensions(&node)))
        return 0;
    BroadcastAttrs *everywhere = ARENA_NEW(m->arena, BroadcastAttrs);
    ValueId operands[] = {
        simplify_put(s, OP_BROADCAST, 1, &node.in[1], result, everywhere, node.loc),
        simplify_put(s, OP_RESHAPE, 1, node.in, result, NULL, node.loc),
    };
    return simplify_put(s, op, 2, operands, result, NULL, node.loc);
}
