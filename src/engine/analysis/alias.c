/* alias.c - operations that only look at the same bytes with another shape.
 *
 *   reshape f32[2,3] -> f32[6]          broadcast_in_dim f32[4] -> f32[1,4]
 *   transpose f32[1,5] -> f32[5,1]      bitcast_convert f32[4] -> i32[4]
 *
 * Outside kernels such a node costs nothing: its result is a name for its operand's memory. */
#include "engine/stages.h"

/* Whether the dimensions longer than one keep their order: `to[i]` is where dimension i of a
 * type goes, or where it comes from. */
static bool keeps_order(Type t, Ints to)
{
    int64_t last = -1;
    for (int i = 0; i < t.rank && i < to.n; i++) {
        if (t.dims[i] == 1)
            continue;
        if (to.at[i] < last)
            return false;
        last = to.at[i];
    }
    return true;
}

bool node_is_alias(const Module *m, const Node *node)
{
    if (node->nin != 1 || node->nout != 1)
        return false;
    Type in = type_of(m, node->in[0]), out = type_of(m, node->out);
    if (type_count(in) != type_count(out))
        return false;
    switch (node->op) {
    case OP_RESHAPE: return true;
    case OP_BITCAST:
        return element_fills_bytes(in.element) && element_fills_bytes(out.element) &&
               type_bytes(in) == type_bytes(out);
    case OP_BROADCAST:
        return keeps_order(in, ((const BroadcastAttrs *)node->attrs)->broadcast_dimensions);
    case OP_TRANSPOSE: return keeps_order(out, ((const TransposeAttrs *)node->attrs)->permutation);
    default: return false;
    }
}
