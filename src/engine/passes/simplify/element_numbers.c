/* element_numbers.c - the numbers of elements, which programs put together from those of rows and columns.
 *
 *     add (mul (iota dim 0) 3) (iota dim 1), of f32[n, 3]   ->   reshape (iota of 3 n)
 *
 * jax.random makes its counters so for every shape of more than one dimension.  Loops over numbers like those on
 * the right go over all elements in one, in whole vectors, however short the rows are. */
#include "engine/passes/simplify/simplify.h"

#include "ops/number.h"

enum { MOST_TERMS = 2 * MAX_RANK };

/* What each step along a dimension adds, as a number of the element type's bits. */
typedef struct Steps {
    uint64_t at[MAX_RANK];
} Steps;

static bool splat_number(const Module *m, ValueId v, uint64_t *x)
{
    const Dense *d = value_constant(m, v);
    if (!d || !(d->is_splat || type_count(d->type) == 1))
        return false;
    *x = (uint64_t)number_int(d->type.element, d->data);
    return true;
}

/* Adds `times` v to the steps, if v is made of positions and constant factors by no more than *left operations. */
static bool add_steps(const Module *m, ValueId v, uint64_t times, Steps *steps, int *left)
{
    NodeId def = value_def(m, v);
    const Node *node = def ? node_at(m, def) : NULL;
    uint64_t factor;
    if (!node || --*left < 0)
        return false;
    switch (node->op) {
    case OP_IOTA: steps->at[((const IotaAttrs *)node->attrs)->iota_dimension] += times; return true;
    case OP_MUL:
        for (int i = 0; i < 2; i++)
            if (splat_number(m, node->in[i], &factor))
                return add_steps(m, node->in[1 - i], times * factor, steps, left);
        return false;
    case OP_ADD:
        return add_steps(m, node->in[0], times, steps, left) &&
               add_steps(m, node->in[1], times, steps, left);
    default: return false;
    }
}

ValueId number_elements(Simplifier *s, NodeId n)
{
    Module *m = s->m;
    const Node *node = node_at(m, n);
    if (node->op != OP_ADD || type_of(m, node->out).rank < 2)
        return 0;
    Type type = type_of(m, node->out);
    ElementKind kind = element_info[type.element].kind;
    Steps steps = { { 0 } };
    int left = MOST_TERMS;
    if ((kind != SIGNED && kind != UNSIGNED) || element_info[type.element].bits < 32 ||
        !add_steps(m, node->out, 1, &steps, &left))
        return 0;
    int64_t stride = 1;
    for (int d = type.rank - 1; d >= 0; stride *= type.dims[d--])
        if (type.dims[d] != 1 && steps.at[d] != (uint64_t)stride)
            return 0;
    IotaAttrs *attrs = ARENA_NEW(m->arena, IotaAttrs);
    const Loc *loc = node->loc;
    Type line = type_new(m->arena, type.element, 1, &stride);
    ValueId numbers = simplify_put(s, OP_IOTA, 0, NULL, line, attrs, loc);
    return simplify_put(s, OP_RESHAPE, 1, &numbers, type, NULL, loc);
}
