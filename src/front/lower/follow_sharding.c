/* follow_sharding.c - how the results of an operation lie on devices, given how its operands do.
 *
 *     x cut [{"i"}, {}]       sin x, x + y, cumsum     [{"i"}, {}]     where x lay
 *                             transpose x              [{}, {"i"}]     its axes moved
 *                             sum x over 1             [{"i"}]         those that are left
 *                             matmul x, w              [{"i"}, {}]     rows of x
 *                             sum x over 0             []              whole, everywhere
 *
 * As XLA chooses.  Only results of a program are laid out by this; what lies between, the engine
 * decides.  An axis of an operand that is one of the result (ops/cuts.h says which) takes its cut
 * along, if it divides. */
#include "front/lower/lower.h"

bool is_spread(const Sharding *sharding)
{
    for (int i = 0; sharding && i < sharding->rank; i++)
        if (tiles_along(sharding->dims[i]) > 1)
            return true;
    return false;
}

/* The result t whose factors are `result`, by an operand `from` that lies as x and whose factors
 * are `operand`: the cuts of the axes that are the result's too; NULL: none is. */
static const Sharding *carried(Arena *arena, const Sharding *x, Type from, const int *operand,
                               Type t, const int *result)
{
    Sharding *sharding = ARENA_NEW(arena, Sharding);
    DimSharding *dims = ARENA_ARRAY(arena, DimSharding, t.rank + 1);
    for (int d = 0; d < from.rank; d++)
        for (int e = 0; e < t.rank; e++)
            if (operand[d] != NO_FACTOR && operand[d] == result[e] && t.dims[e] > 1 &&
                t.dims[e] % tiles_along(x->dims[d]) == 0)
                dims[e] = x->dims[d];
    *sharding = (Sharding){ .mesh = x->mesh, .rank = t.rank, .dims = dims };
    return is_spread(sharding) ? sharding : NULL;
}

/* Result y, by the first operand that gives it a cut. */
static const Sharding *follow_one(const Module *m, const Node *node, const Factors *f, int y,
                                  const Sharding *const *of)
{
    for (int i = 0; i < node->nin; i++) {
        const Sharding *x = of[node->in[i]], *found = NULL;
        if (is_spread(x))
            found = carried(m->arena, x, f->in[i], f->of_in[i], f->out[y], f->of_out[y]);
        if (found)
            return found;
    }
    return NULL;
}

void follow(const Module *m, const Node *node, const Sharding **of)
{
    Factors f = node_factors(m, m->arena, node);
    for (int i = 0; i < node->nout; i++)
        of[node->out + (uint32_t)i] =
            node->op == OP_MANUAL       ? ((const ManualAttrs *)node->attrs)->out_shardings.at[i]
            : node->op == OP_CONSTRAINT ? ((const ConstraintAttrs *)node->attrs)->sharding
                                        : follow_one(m, node, &f, i, of);
}
