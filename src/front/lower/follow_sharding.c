/* follow_sharding.c - how the results of an operation lie on devices, given how its operands do.
 *
 *     x cut [{"i"}, {}]       sin x, x + y, cumsum     [{"i"}, {}]     where x lay
 *                             transpose x              [{}, {"i"}]     its axes moved
 *                             sum x over 1             [{"i"}]         those that are left
 *                             matmul x, w              [{"i"}, {}]     rows of x
 *                             sum x over 0             []              whole, everywhere
 *
 * As XLA chooses.  Only results of a program are laid out by this; what lies between, the engine
 * decides.  An axis of an operand that is one of the result takes its cut along, if it divides. */
#include "front/lower/lower.h"

#include <string.h>

enum { GONE = -1 }; /* an axis that the result does not have */

static void same_axes(int rank, int *to)
{
    for (int d = 0; d < rank; d++)
        to[d] = d;
}

/* Axes that are split or joined: the first of several goes with the first. */
static void reshaped(Type a, Type b, int *to)
{
    int i = 0, k = 0;
    while (i < a.rank && k < b.rank) {
        int64_t from = a.dims[i], into = b.dims[k];
        if (from == 1 || into == 1) {
            i += from == 1;
            k += from != 1;
            continue;
        }
        to[i++] = k++;
        while (from != into)
            if (from < into && i < a.rank)
                from *= a.dims[i++];
            else if (k < b.rank)
                into *= b.dims[k++];
            else
                return;
    }
}

static void reduced(Type a, Ints dims, int *to)
{
    for (int d = 0, k = 0; d < a.rank; d++)
        if (ints_find(dims, d) < 0)
            to[d] = k++;
}

static void sliced(Type a, const SliceAttrs *s, int *to)
{
    for (int d = 0; d < a.rank; d++)
        if (s->start_indices.at[d] == 0 && s->limit_indices.at[d] == a.dims[d] &&
            s->strides.at[d] == 1)
            to[d] = d;
}

/* Batch axes, then what is left of the first operand, then of the second. */
static void multiplied(Type a, Type b, const DotAttrs *dot, int operand, int *to)
{
    Ints batch = operand ? dot->rhs_batching_dimensions : dot->lhs_batching_dimensions;
    Ints gone = operand ? dot->rhs_contracting_dimensions : dot->lhs_contracting_dimensions;
    Type own = operand ? b : a;
    int next = operand ? a.rank - dot->lhs_contracting_dimensions.n : batch.n;
    for (int d = 0; d < own.rank; d++) {
        int at = ints_find(batch, d);
        if (at >= 0)
            to[d] = at;
        else if (ints_find(gone, d) < 0)
            to[d] = next++;
    }
}

/* Does an array of the same shape come out, of elements that stayed in their rows or columns? */
static bool keeps_shape(OpId op, int operand)
{
    if (op == OP_DYNAMIC_UPDATE || op == OP_SCATTER)
        return operand == 0;
    return op_info[op].kind == KIND_MAP || op == OP_REVERSE || op == OP_SORT ||
           op == OP_REDUCE_WINDOW || op == OP_BARRIER || op == OP_WHILE;
}

/* Where the axes of an operand are in result y; false: nothing is known. */
static bool axes_in_result(const Module *m, const Node *node, int operand, ValueId y, int *to)
{
    Type a = type_of(m, node->in[operand]), b = type_of(m, y);
    for (int d = 0; d < a.rank; d++)
        to[d] = GONE;
    switch (node->op) {
    case OP_TRANSPOSE:
        for (int d = 0; d < a.rank; d++)
            to[d] = ints_find(((const TransposeAttrs *)node->attrs)->permutation, d);
        return true;
    case OP_BROADCAST:
        for (int d = 0; d < a.rank; d++)
            to[d] = (int)((const BroadcastAttrs *)node->attrs)->broadcast_dimensions.at[d];
        return true;
    case OP_RESHAPE: return reshaped(a, b, to), true;
    case OP_REDUCE:
        if (operand < node->nin / 2)
            reduced(a, ((const DimensionsAttrs *)node->attrs)->dimensions, to);
        return operand < node->nin / 2;
    case OP_SLICE: return sliced(a, node->attrs, to), true;
    case OP_DYNAMIC_SLICE:
        for (int d = 0; operand == 0 && d < a.rank; d++)
            to[d] = a.dims[d] == b.dims[d] ? d : GONE; /* whole, wherever it begins */
        return operand == 0;
    case OP_CONCATENATE: return same_axes(a.rank, to), true;
    case OP_DOT:
        multiplied(type_of(m, node->in[0]), type_of(m, node->in[1]), node->attrs, operand, to);
        return true;
    default:
        if (!keeps_shape(node->op, operand) || !type_same_shape(a, b))
            return false;
        return same_axes(a.rank, to), true;
    }
}

bool is_spread(const Sharding *sharding)
{
    for (int i = 0; sharding && i < sharding->rank; i++)
        if (tiles_along(sharding->dims[i]) > 1)
            return true;
    return false;
}

/* The cuts of x on the axes that went into the result; NULL: none did. */
static const Sharding *carried(const Module *m, const Sharding *x, Type from, Type t, const int *to)
{
    Sharding *sharding = ARENA_NEW(m->arena, Sharding);
    DimSharding *dims = ARENA_ARRAY(m->arena, DimSharding, t.rank + 1);
    for (int d = 0; d < from.rank; d++) {
        bool is_there = to[d] != GONE && from.dims[d] > 1 && t.dims[to[d]] > 1;
        if (is_there && t.dims[to[d]] % tiles_along(x->dims[d]) == 0)
            dims[to[d]] = x->dims[d];
    }
    *sharding = (Sharding){ .mesh = x->mesh, .rank = t.rank, .dims = dims };
    return is_spread(sharding) ? sharding : NULL;
}

static const Sharding *follow_one(const Module *m, const Node *node, ValueId y,
                                  const Sharding *const *of)
{
    int to[MAX_RANK];
    for (int i = 0; i < node->nin; i++) {
        const Sharding *x = of[node->in[i]], *found = NULL;
        bool is_own = node->op != OP_WHILE || node->out + (uint32_t)i == y;
        if (is_own && is_spread(x) && axes_in_result(m, node, i, y, to))
            found = carried(m, x, type_of(m, node->in[i]), type_of(m, y), to);
        if (found)
            return found;
    }
    return NULL;
}

void follow(const Module *m, const Node *node, const Sharding **of)
{
    for (int i = 0; i < node->nout; i++) {
        ValueId y = node->out + (uint32_t)i;
        of[y] = node->op == OP_MANUAL ? ((const ManualAttrs *)node->attrs)->out_shardings.at[i]
                                      : follow_one(m, node, y, of);
    }
}
