/* base_two.c - 2^x and log2 x, which programs write by way of e.
 *
 *     exp(x * c), c the number nearest to log 2      2^x
 *     log(x) / c, but of f32                         log(x) * (1 / log 2)
 *
 * The rounding error of x * c counts x log 2 times in its exponential, hundreds of ulp in f64: 2^x
 * lies within it.  1 / log 2 is nearer to a number of f64, f16 or bf16 than log 2 is; in f32 it is
 * not. */
#include "engine/passes/simplify/simplify.h"

#include "ops/number.h"

#include <math.h>

static const double log_2 = 0x1.62e42fefa39efp-1, inverse_log_2 = 0x1.71547652b82fep0;

/* x as a constant of this type. */
static ValueId constant_of(Simplifier *s, Type type, double x, const Loc *loc)
{
    void *data = arena_alloc(s->m->arena, sizeof(double));
    number_set_float(type.element, x, data);
    return simplify_constant(s, (Dense){ type, true, data }, loc);
}

static double nearest(Element e, double x)
{
    double bytes = 0;
    number_set_float(e, x, &bytes);
    return number_float(e, &bytes);
}

/* Is v the number nearest to log 2, everywhere? */
static bool is_log_2(const Module *m, ValueId v)
{
    const Dense *dense = value_constant(m, v);
    if (!dense || !(dense->is_splat || type_count(dense->type) == 1))
        return false;
    Element e = dense->type.element;
    return number_float(e, dense->data) == nearest(e, log_2);
}

static const Node *made_by(const Module *m, ValueId v, OpId op)
{
    NodeId def = value_def(m, v);
    return def && node_at(m, def)->op == op ? node_at(m, def) : NULL;
}

static ValueId power_of_two(Simplifier *s, const Node *node)
{
    const Node *product = made_by(s->m, node->in[0], OP_MUL);
    if (!product)
        return 0;
    bool is_first = is_log_2(s->m, product->in[0]);
    if (!is_first && !is_log_2(s->m, product->in[1]))
        return 0;
    Type type = type_of(s->m, node->out);
    ValueId x = product->in[is_first];
    ValueId in[] = { constant_of(s, type, 2, node->loc), x };
    return simplify_put(s, OP_POW, 2, in, type, NULL, node->loc);
}

/* Is 1 / log 2 rounded by less than log 2? */
static bool is_inverse_nearer(Element e)
{
    const double rest = 0x1.abc9e3b39803fp-56, inverse_rest = 0x1.777d0ffda0d24p-56;
    double off = fabs(nearest(e, log_2) - log_2 - rest) / log_2;
    return fabs(nearest(e, inverse_log_2) - inverse_log_2 - inverse_rest) / inverse_log_2 < off;
}

static ValueId log_of_base_two(Simplifier *s, const Node *node)
{
    Type type = type_of(s->m, node->out);
    if (!made_by(s->m, node->in[0], OP_LOG) || !is_log_2(s->m, node->in[1]) ||
        !is_inverse_nearer(type.element))
        return 0;
    ValueId in[] = { node->in[0], constant_of(s, type, inverse_log_2, node->loc) };
    return simplify_put(s, OP_MUL, 2, in, type, NULL, node->loc);
}

ValueId take_base_two(Simplifier *s, NodeId n)
{
    Node node = *node_at(s->m, n); /* a copy: rules add nodes */
    if (element_info[type_of(s->m, node.out).element].kind != FLOAT)
        return 0;
    return node.op == OP_EXP   ? power_of_two(s, &node)
           : node.op == OP_DIV ? log_of_base_two(s, &node)
                               : 0;
}
