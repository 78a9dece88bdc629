/* sort_to_top_k.c - the front of a sorted line is found without sorting it.
 *
 *     slice [0:k] of sort (x, 0 1 2 ...) by falling x   ->   top_k x, k
 *                                        by rising x    ->   - top_k -x, k    (~ of integers)
 *
 * That is how top_k arrives from JAX.  The sort is stable, so of equals the first come first, as in
 * top_k. */
#include "engine/kernels/query.h"
#include "engine/passes/simplify/simplify.h"

/* Does it keep the front of dimension d, and all of the others? */
static bool is_front(const Module *m, const Node *slice, int d)
{
    const SliceAttrs *a = slice->attrs;
    Type from = type_of(m, slice->in[0]);
    for (int i = 0; i < from.rank; i++)
        if (a->start_indices.at[i] != 0 || a->strides.at[i] != 1 ||
            (i != d && a->limit_indices.at[i] != from.dims[i]))
            return false;
    return true;
}

/* Positions along the last dimension, as they are or spread over the dimensions before it. */
static bool are_positions(const Module *m, ValueId v)
{
    NodeId n = value_def(m, v);
    const Node *node = n ? node_at(m, n) : NULL;
    Type t = type_of(m, v);
    if (node && node->op == OP_BROADCAST) {
        Ints dims = ((const BroadcastAttrs *)node->attrs)->broadcast_dimensions;
        bool is_last = dims.n == 1 && dims.at[0] == t.rank - 1;
        return is_last && type_of(m, node->in[0]).dims[0] == t.dims[t.rank - 1] &&
               are_positions(m, node->in[0]);
    }
    return node && node->op == OP_IOTA &&
           ((const IotaAttrs *)node->attrs)->iota_dimension == t.rank - 1;
}

static bool is_by_first(const Module *m, const Node *sort, bool *is_falling)
{
    SortKey keys[SORT_MOST_KEYS];
    if (comparator_keys(m, sort->regions[0], keys) != 1)
        return false;
    *is_falling = keys[0].is_falling;
    return keys[0].array == 0 && !keys[0].one_zero && !keys[0].one_nan;
}

/* Narrow floats are computed as f32, which makes their signalling NaNs quiet: twice reversed they are others. */
static bool is_reversible(Element e)
{
    return element_info[e].kind != FLOAT || e == F32 || e == F64;
}

/* A value whose order is the reverse of x's, bit by bit: reversed twice it is x. */
static ValueId reverse_order(Simplifier *s, ValueId x, const Loc *loc)
{
    Type t = type_of(s->m, x);
    OpId op = element_info[t.element].kind == FLOAT ? OP_NEG : OP_NOT;
    return simplify_put(s, op, 1, &x, t, NULL, loc);
}

/* Is the value read once in the program as it came?  Then nothing else needs the sort. */
static bool is_read_once(const Simplifier *s, ValueId v)
{
    return v < s->nuses && s->uses[v] <= 1;
}

ValueId sort_to_top_k(Simplifier *s, NodeId n)
{
    Module *m = s->m;
    bool is_falling;
    const Node *slice = node_at(m, n);
    NodeId from = slice->op == OP_SLICE ? value_def(m, slice->in[0]) : 0;
    const Node *sort = from ? node_at(m, from) : NULL;
    if (!sort || sort->op != OP_SORT || sort->nin != 2)
        return 0;
    Type whole = type_of(m, sort->in[0]), index = type_of(m, sort->in[1]);
    int64_t d = ((const SortAttrs *)sort->attrs)->dimension;
    if (whole.rank == 0 || (d != whole.rank - 1 && d != -1) || index.element != I32 ||
        !is_front(m, slice, whole.rank - 1) || !are_positions(m, sort->in[1]) ||
        !is_read_once(s, sort->out) || !is_read_once(s, sort->out + 1) ||
        !is_by_first(m, sort, &is_falling) || !(is_falling || is_reversible(whole.element)))
        return 0;
    int which = (int)(slice->in[0] - sort->out);
    const int64_t *dims = type_of(m, slice->out).dims;
    const Loc *loc = slice->loc;
    TopKAttrs *attrs = ARENA_NEW(m->arena, TopKAttrs);
    attrs->k = dims[whole.rank - 1];
    Type types[] = { { whole.element, whole.rank, dims }, { I32, whole.rank, dims } };
    ValueId x = is_falling ? sort->in[0] : reverse_order(s, sort->in[0], loc);
    NodeId top = node_new(m, OP_TOP_K, 1, &x, 2, types, 0, NULL, attrs, loc);
    simplify_visit(s, top);
    ValueId result = subst_get(&s->map, node_at(m, top)->out + (ValueId)which);
    return is_falling || which ? result : reverse_order(s, result, loc);
}
