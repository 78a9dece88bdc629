/* rules.c - the columns `element` and `block` of ops.def as tables. */
#include "engine/codegen/codegen.h"

#include "engine/numerics/numerics.h"

#define element_none NULL
#define block_none NULL

ElementRule *const element_rules[OP_COUNT] = {
#define OP(id, name, arity, attrs, kind, flow, effect, in_place, cost, cuts, shape, eval, element, \
           block, ...)                                                                             \
    [OP_##id] = element_##element,
#include "ops/ops.def"
};

BlockRule *const block_rules[OP_COUNT] = {
#define OP(id, name, arity, attrs, kind, flow, effect, in_place, cost, cuts, shape, eval, element, \
           block, ...)                                                                             \
    [OP_##id] = block_##block,
#include "ops/ops.def"
};

/* Operations whose formulas do not know complex numbers. */
static bool is_real_only(OpId op)
{
    switch (op) {
    case OP_REM: return true;
    default: return false;
    }
}

/* Loops of a fold run over kept and reduced dimensions together. */
static bool has_room(const Module *m, const Node *node)
{
    int rank = type_of(m, node->out).rank;
    switch (node->op) {
    case OP_DOT: rank += ((const DotAttrs *)node->attrs)->lhs_contracting_dimensions.n; break;
    case OP_REDUCE_WINDOW: rank *= 2; break;
    case OP_CONVOLUTION: rank += rank - 1; break;
    default: break;
    }
    return rank < MAX_RANK;
}

bool rule_takes(const Module *m, NodeId n)
{
    const Node *node = node_at(m, n);
    if (node->nin == 0)
        return true;
    if (!has_room(m, node))
        return false;
    Element e = type_of(m, node->in[0]).element;
    if (node->op == OP_TOP_K) /* others go to the library */
        return sort_has_keys(e) && type_of(m, node->in[0]).rank > 0 &&
               type_of(m, node->in[0]).dims[type_of(m, node->in[0]).rank - 1] <= SORT_MOST_EXTENT;
    if (node->op == OP_BITCAST) /* of complex numbers: of one width */
        return element_info[e].kind != COMPLEX || e == type_of(m, node->out).element;
    return !(element_info[e].kind == COMPLEX && is_real_only(node->op));
}
