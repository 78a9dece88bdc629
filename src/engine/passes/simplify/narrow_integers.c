/* narrow_integers.c - sums of integers of which only the low bits are wanted are made of those.
 *
 *     convert u8 (add (convert u32 a) (convert u32 b))   ->   add a b, in u8
 *
 * The low bits of sums, differences, products and of bits combined are those of their operands', so the wide ones
 * are never needed; four times as many lanes fit into a register.  NumPy's sums of bytes are such (packbits). */
#include "engine/passes/simplify/simplify.h"

enum { MOST = 32 };

static bool is_integer_type(Element e)
{
    ElementKind kind = element_info[e].kind;
    return (kind == SIGNED || kind == UNSIGNED) && element_info[e].bits >= 8;
}

static bool keeps_low_bits(OpId op)
{
    return op == OP_ADD || op == OP_SUB || op == OP_MUL || op == OP_AND || op == OP_OR ||
           op == OP_XOR;
}

/* Are the low bits of v made by no more than *left operations of values that are as narrow as e? */
static bool is_made_narrow(const Module *m, ValueId v, Element e, int *left)
{
    NodeId def = value_def(m, v);
    const Node *node = def ? node_at(m, def) : NULL;
    if (!node || --*left < 0)
        return false;
    if (node->op == OP_CONSTANT)
        return value_constant(m, v)->is_splat || type_count(type_of(m, v)) == 1;
    if (node->op == OP_CONVERT) {
        Element from = type_of(m, node->in[0]).element;
        return element_info[from].kind == BOOLEAN ||
               (is_integer_type(from) && element_info[from].bits <= element_info[e].bits);
    }
    for (int i = 0; keeps_low_bits(node->op) && i < node->nin; i++)
        if (!is_made_narrow(m, node->in[i], e, left))
            return false;
    return keeps_low_bits(node->op);
}

static ValueId made_narrow(Simplifier *s, ValueId v, Element e)
{
    Node node = *node_at(s->m, value_def(s->m, v)); /* a copy: nodes are added */
    Type t = type_of(s->m, v), narrow = type_new(s->m->arena, e, t.rank, t.dims);
    ValueId in[2] = { v };
    if (node.op == OP_CONVERT)
        in[0] = node.in[0];
    if (!keeps_low_bits(node.op))
        return simplify_put(s, OP_CONVERT, 1, in, narrow, NULL, node.loc);
    for (int i = 0; i < 2; i++)
        in[i] = made_narrow(s, node.in[i], e);
    return simplify_put(s, node.op, 2, in, narrow, NULL, node.loc);
}

ValueId narrow_integers(Simplifier *s, NodeId n)
{
    const Module *m = s->m;
    const Node *node = node_at(m, n);
    if (node->op != OP_CONVERT)
        return 0;
    Element from = type_of(m, node->in[0]).element, to = type_of(m, node->out).element;
    NodeId def = value_def(m, node->in[0]);
    int left = MOST;
    if (!is_integer_type(from) || !is_integer_type(to) ||
        element_info[to].bits >= element_info[from].bits || !def ||
        !keeps_low_bits(node_at(m, def)->op) || !is_made_narrow(m, node->in[0], to, &left))
        return 0;
    return made_narrow(s, node->in[0], to);
}
