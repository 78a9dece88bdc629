/* reduce.c - reductions: sums are linear, extremes follow the element that won, products are
 * differentiated as the tree of multiplications that they are. */
#include "front/batch.h"
#include "front/jvp.h"
#include "front/say.h"
#include "hlo/rewrite.h"

#include <string.h>

/* ---- tangents ---- */

/* The result's axes seen in the operand. */
static tt back_to(tt y, Type operand, Ints dims)
{
    return build_broadcast(y, operand, ints_except(operand.rank, dims));
}

/* Among equals the tangent is their mean. */
static tt of_extreme(tt g, tt x, tt y, Ints dims)
{
    Type t = type_at(x);
    tt won = build_convert(build_compare(EQ, x, back_to(y, t, dims)), t.element);
    tt sum = build_reduce(OP_ADD, build2(OP_MUL, g, won), dims);
    return build2(OP_DIV, sum, build_reduce(OP_ADD, won, dims));
}

static tt half(tt x, int dim, int64_t from, int64_t to)
{
    Type t = type_at(x);
    int64_t start[MAX_RANK] = { 0 }, limit[MAX_RANK], ones[MAX_RANK];
    for (int i = 0; i < t.rank; i++) {
        limit[i] = t.dims[i];
        ones[i] = 1;
    }
    start[dim] = from;
    limit[dim] = to;
    return build_slice(x, ints_of(t.rank, start), ints_of(t.rank, limit), ints_of(t.rank, ones));
}

/* The tangent of the product along dim, whose extent stays, as 1: pairs are multiplied until one
 * is left, and an odd one waits. */
static void multiply_along(tt *x, tt *g, int dim)
{
    for (int64_t n; (n = type_at(*x).dims[dim]) > 1;) {
        int64_t k = n / 2;
        tt a = half(*x, dim, 0, k), b = half(*x, dim, k, 2 * k);
        tt da = half(*g, dim, 0, k), db = half(*g, dim, k, 2 * k);
        tt y = build2(OP_MUL, a, b);
        tt dy = build2(OP_ADD, build2(OP_MUL, da, b), build2(OP_MUL, db, a));
        if (n % 2) {
            y = build_concatenate(2, (const tt[]){ y, half(*x, dim, 2 * k, n) }, dim);
            dy = build_concatenate(2, (const tt[]){ dy, half(*g, dim, 2 * k, n) }, dim);
        }
        *x = y;
        *g = dy;
    }
}

static tt of_product(tt g, tt x, Type result, Ints dims)
{
    for (int i = 0; i < dims.n; i++) {
        if (type_at(x).dims[dims.at[i]] == 0)
            return NO_VALUE;
        multiply_along(&x, &g, (int)dims.at[i]);
    }
    return build_reshape(g, result);
}

/* (value, position) pairs, as argmax reduces them: the tangent is the one at the position. */
static bool jvp_of_position(const Jvp *j, Ints dims)
{
    const Node *node = node_at(j->m, j->node);
    NodeId position = node->nin == 4 ? value_def(j->m, node->in[1]) : 0;
    if (!position || dims.n != 1 || node_at(j->m, position)->op != OP_IOTA)
        return false;
    const IotaAttrs *iota = node_at(j->m, position)->attrs;
    if (iota->iota_dimension != dims.at[0])
        return false;
    Type t = type_at(j->x[0]);
    tt is_there = build_compare(EQ, j->x[1], back_to(j->y[1], t, dims));
    j->dy[0] = build_reduce(OP_ADD, build_select(is_there, j->dx[0], build_zeros(t)), dims);
    return true;
}

void jvp_reduce(const Jvp *j)
{
    Ints dims = ((const DimensionsAttrs *)j->attrs)->dimensions;
    OpId op = region_reducer(j->m, node_at(j->m, j->node)->regions[0]);
    tt g = j->dx[0];
    if (j->nout != 1) {
        if (is_value(g) && !jvp_of_position(j, dims))
            say_broken("not supported: the derivative of a reduction of several arrays, %s",
                       loc_name(node_at(j->m, j->node)->loc));
        return;
    }
    bool is_known = op == OP_ADD || op == OP_MAX || op == OP_MIN || op == OP_MUL;
    if (!is_known || (is_value(j->dx[1]) && op != OP_ADD)) {
        say_broken("not supported: the derivative of a reduction other than by sum, product, "
                   "maximum or minimum, %s",
                   loc_name(node_at(j->m, j->node)->loc));
        return;
    }
    Type result = type_at(j->y[0]);
    if (is_value(g))
        j->dy[0] = op == OP_ADD   ? build_reduce(OP_ADD, g, dims)
                   : op == OP_MUL ? of_product(g, j->x[0], result, dims)
                                  : of_extreme(g, j->x[0], j->y[0], dims);
    if (is_value(j->dx[1]))
        j->dy[0] = build_sum(j->dy[0], build_broadcast(j->dx[1], result, (Ints){ 0 }));
}

/* Only sums are linear. */
void transpose_reduce(const Transpose *t)
{
    Ints dims = ((const DimensionsAttrs *)t->attrs)->dimensions;
    if (t->linear[0])
        t->out[0] = back_to(t->ct[0], t->types[0], dims);
    if (t->linear[1])
        t->out[1] = build_reduce(OP_ADD, t->ct[0], ints_range(0, t->results[0].rank));
}

/* ---- batches ---- */

static bool rows_share(const Batch *b, int from, const char *what)
{
    for (int i = from; i < b->nin; i++)
        if (b->mapped[i]) {
            say_broken("not supported: %s of a %s, where %s is another for every row of the batch",
                       "vmap", op_name(b->op), what);
            return false;
        }
    return true;
}

/* The same operation with other attributes, on operands with a batch axis. */
static void again(const Batch *b, int nmapped, const void *attrs)
{
    tt *in = ARENA_ARRAY(trace_arena(), tt, b->nin);
    Type *types = ARENA_ARRAY(trace_arena(), Type, b->nout);
    for (int i = 0; i < b->nin; i++)
        in[i] = i < nmapped ? batched(b, i) : b->x[i];
    for (int i = 0; i < b->nout; i++)
        types[i] = batched_type(b, i);
    Graph body = batcher_region(b->batcher, node_at(b->m, b->node)->regions[0]);
    trace_apply_regions("a batch", b->op, b->nin, in, attrs, 1, &body, b->nout, types, b->y);
}

void batch_folding(const Batch *b, const void *attrs)
{
    if (rows_share(b, b->nin / 2, "the initial value"))
        again(b, b->nin / 2, attrs);
}

void batch_reduce(const Batch *b)
{
    Ints dims = ints_shifted(((const DimensionsAttrs *)b->attrs)->dimensions, 1);
    batch_folding(b, BUILD_ATTRS(DimensionsAttrs, .dimensions = dims));
}

void batch_sort(const Batch *b)
{
    const SortAttrs *a = b->attrs;
    int64_t dim = a->dimension < 0 ? a->dimension : a->dimension + 1;
    again(b, b->nin, BUILD_ATTRS(SortAttrs, .dimension = dim, .is_stable = a->is_stable));
}

void batch_top_k(const Batch *b)
{
    Type types[2] = { batched_type(b, 0), batched_type(b, 1) };
    trace_apply("a batch", OP_TOP_K, 1, b->x, b->attrs, 2, types, b->y);
}
