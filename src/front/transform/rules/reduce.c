/* reduce.c - reductions: sums are linear, extremes follow the element that won, and any other is
 * differentiated as a tree: neighbours are combined by its region until one element is left. */
#include "front/transform/transform.h"
#include "hlo/rewrite.h"

#include <string.h>

#define NEW(T, n) ARENA_ARRAY(trace_arena(), T, (n) + 1)

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
    tt count = build_reduce(OP_ADD, won, dims); /* 0: the initial value won */
    return build2(OP_DIV, sum, build2(OP_MAX, count, build_number(type_at(count), 1)));
}

/* Every `step`th element along dim. */
static tt slice_dim(tt x, int dim, int64_t from, int64_t to, int64_t step)
{
    Type t = type_at(x);
    int64_t start[MAX_RANK] = { 0 }, limit[MAX_RANK], steps[MAX_RANK];
    for (int i = 0; i < t.rank; i++) {
        limit[i] = t.dims[i];
        steps[i] = 1;
    }
    start[dim] = from;
    limit[dim] = to;
    steps[dim] = step;
    return build_slice(x, ints_of(t.rank, start), ints_of(t.rank, limit), ints_of(t.rank, steps));
}

/* A fold along the last axis of n arrays. */
typedef struct Fold {
    const Jvp *j;
    int n;
    Graph pair; /* two elements of each, then what the region uses from around it */
    Values free;
    bool *varies; /* [n] */
} Fold;

static Fold fold_of(const Jvp *j)
{
    const Node *node = node_at(j->m, j->node);
    Fold f = { .j = j, .n = j->nout, .free = free_values(j->m, 1, node->regions) };
    f.pair = graph_of_region(j->m, node->regions[0], f.free);
    f.varies = NEW(bool, f.n);
    for (int i = 0; i < f.n; i++)
        f.varies[i] = has_tangent(type_at(j->x[i]));
    return f;
}

/* The region on `count` pairs at once, with tangents. */
static bool pair_graph(const Fold *f, int64_t count, Graph *out)
{
    int n = f->n, leaves = f->pair.nleaves;
    bool *mapped = NEW(bool, leaves), *active = NEW(bool, leaves), *all = NEW(bool, n);
    Graph rows;
    for (int i = 0; i < 2 * n; i++) {
        mapped[i] = true;
        active[i] = f->varies[i % n];
    }
    memset(all, true, sizeof *all * (size_t)n);
    return batch_transform(&f->pair, count, (Str){ 0 }, mapped, all, NULL, &rows) &&
           jvp_transform(&rows, active, f->varies, NULL, out);
}

static tt flat(tt x)
{
    Type t = type_at(x);
    int64_t n = type_count(t);
    return build_reshape(x, type_new(trace_arena(), t.element, 1, &n));
}

/* x[i] becomes x[i] and y[i] combined; the same for tangents. */
static bool combine(const Fold *f, tt *x, tt *dx, const tt *y, const tt *dy)
{
    int n = f->n, k = 0, leaves = 2 * n + f->free.n;
    tt *in = NEW(tt, leaves + 2 * n), *out = NEW(tt, 2 * n);
    Graph g;
    if (!pair_graph(f, type_count(type_at(x[0])), &g))
        return false;
    for (int i = 0; i < 2 * n; i++)
        in[k++] = flat(i < n ? x[i] : y[i - n]);
    for (int i = 0; i < f->free.n; i++)
        in[k++] = forward_value(f->j->forward, f->free.at[i]);
    for (int i = 0; i < 2 * n; i++)
        if (f->varies[i % n])
            in[k++] = flat(i < n ? dx[i] : dy[i - n]);
    if (!trace_inline("a derivative", &g, in, out))
        return false;
    k = n;
    for (int i = 0; i < n; i++) {
        Type t = type_at(x[i]);
        x[i] = build_reshape(out[i], t);
        if (f->varies[i])
            dx[i] = build_reshape(out[k++], t);
    }
    return true;
}

/* Neighbours, so that the order stays; of an odd number the last waits. */
static bool combine_pairs(const Fold *f, tt *x, tt *dx, int dim, int64_t n)
{
    tt *y = NEW(tt, f->n), *dy = NEW(tt, f->n), *rest = NEW(tt, 2 * f->n);
    int64_t k = n / 2;
    for (int i = 0; i < 2 * f->n; i++) {
        tt *low = i < f->n ? &x[i] : &dx[i - f->n], *high = i < f->n ? &y[i] : &dy[i - f->n];
        if (i >= f->n && !f->varies[i - f->n])
            continue;
        rest[i] = slice_dim(*low, dim, 2 * k, n, 1);
        *high = slice_dim(*low, dim, 1, 2 * k, 2);
        *low = slice_dim(*low, dim, 0, 2 * k, 2);
    }
    if (!combine(f, x, dx, y, dy))
        return false;
    for (int i = 0; n % 2 && i < 2 * f->n; i++) {
        tt *low = i < f->n ? &x[i] : &dx[i - f->n];
        if (i < f->n || f->varies[i - f->n])
            *low = build_concatenate(2, (const tt[]){ *low, rest[i] }, dim);
    }
    return true;
}

void jvp_fold(const Jvp *j, tt *x, tt *dx)
{
    Fold f = fold_of(j);
    int n = f.n, dim = type_at(x[0]).rank - 1;
    tt *init = NEW(tt, n), *dinit = NEW(tt, n);
    for (int i = 0; i < n; i++) {
        Type result = type_at(j->y[i]);
        init[i] = build_broadcast(j->x[n + i], result, (Ints){ 0 });
        dinit[i] = value_or_zeros(j->dx[n + i], type_scalar(result.element));
        dinit[i] = build_broadcast(dinit[i], result, (Ints){ 0 });
        dx[i] = value_or_zeros(dx[i], type_at(x[i]));
    }
    int64_t extent = type_at(x[0]).dims[dim];
    for (int64_t k = extent; k > 1; k = (k + 1) / 2)
        if (!combine_pairs(&f, x, dx, dim, k))
            return;
    for (int i = 0; extent && i < n; i++) {
        x[i] = build_reshape(x[i], type_at(j->y[i]));
        if (f.varies[i])
            dx[i] = build_reshape(dx[i], type_at(j->y[i]));
    }
    if (extent && !combine(&f, init, dinit, x, dx))
        return;
    for (int i = 0; i < n; i++)
        if (f.varies[i])
            j->dy[i] = dinit[i];
}

/* The reduced axes as one, the last. */
static tt folded_last(tt x, Ints dims)
{
    Type t = type_at(x);
    Ints kept = ints_except(t.rank, dims);
    int64_t extents[MAX_RANK + 1], n = 1;
    for (int i = 0; i < dims.n; i++)
        n *= t.dims[dims.at[i]];
    for (int i = 0; i < kept.n; i++)
        extents[i] = t.dims[kept.at[i]];
    extents[kept.n] = n;
    return build_reshape(build_transpose(x, ints_join(kept, dims)),
                         type_new(trace_arena(), t.element, kept.n + 1, extents));
}

static void jvp_of_any(const Jvp *j, Ints dims)
{
    tt *x = NEW(tt, j->nout), *dx = NEW(tt, j->nout);
    for (int i = 0; i < j->nout; i++) {
        x[i] = folded_last(j->x[i], dims);
        if (is_value(j->dx[i]))
            dx[i] = folded_last(j->dx[i], dims);
    }
    jvp_fold(j, x, dx);
}

/* Does the region give one of its two pairs, whole? */
static bool chooses(const Module *m, RegionId r)
{
    const Node *last = region_return(m, r);
    ValueId args = region_at(m, r)->args;
    const Node *node[2];
    for (int i = 0; i < 2; i++) {
        NodeId def = value_def(m, last->in[i]);
        if (!def || node_at(m, def)->op != OP_SELECT)
            return false;
        node[i] = node_at(m, def);
        bool is_order =
            node[i]->in[1] == args + (uint32_t)i && node[i]->in[2] == args + 2 + (uint32_t)i;
        bool is_reverse =
            node[i]->in[2] == args + (uint32_t)i && node[i]->in[1] == args + 2 + (uint32_t)i;
        if (!is_order && !is_reverse)
            return false;
    }
    return true;
}

/* (value, position) pairs, as argmax reduces them: the tangent is the one at the position. */
static bool jvp_of_position(const Jvp *j, Ints dims)
{
    const Node *node = node_at(j->m, j->node);
    NodeId position = node->nin == 4 ? value_def(j->m, node->in[1]) : 0;
    if (!position || dims.n != 1 || node_at(j->m, position)->op != OP_IOTA || !is_value(j->dx[0]) ||
        is_value(j->dx[2]) || !chooses(j->m, node->regions[0]))
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
    bool is_sum = j->nout == 1 && op == OP_ADD;
    bool is_extreme = j->nout == 1 && (op == OP_MAX || op == OP_MIN) && !is_value(j->dx[1]);
    if (is_extreme)
        j->dy[0] = of_extreme(j->dx[0], j->x[0], j->y[0], dims);
    else if (!is_sum && !jvp_of_position(j, dims))
        jvp_of_any(j, dims);
    if (is_sum && is_value(j->dx[0]))
        j->dy[0] = build_reduce(OP_ADD, j->dx[0], dims);
    if (is_sum && is_value(j->dx[1]))
        j->dy[0] = build_sum(j->dy[0], build_broadcast(j->dx[1], type_at(j->y[0]), (Ints){ 0 }));
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

/* The same operation with other attributes, on operands with a batch axis. */
static void again(const Batch *b, int nmapped, const void *attrs)
{
    tt *in = ARENA_ARRAY(trace_arena(), tt, b->nin);
    Type *types = ARENA_ARRAY(trace_arena(), Type, b->nout);
    for (int i = 0; i < b->nin; i++)
        in[i] = i < nmapped ? batch_operand(b, i) : b->x[i];
    for (int i = 0; i < b->nout; i++)
        types[i] = batch_result_type(b, i);
    Graph body = batcher_region(b->batcher, node_at(b->m, b->node)->regions[0]);
    trace_apply_regions("a batch", b->op, b->nin, in, attrs, 1, &body, b->nout, types, b->y);
}

void batch_folding(const Batch *b, const void *attrs)
{
    bool is_shared = true; /* the initial value */
    for (int i = b->nin / 2; i < b->nin; i++)
        is_shared = is_shared && !b->mapped[i];
    if (is_shared)
        again(b, b->nin / 2, attrs);
    else
        batch_rows(b);
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
    Type types[2] = { batch_result_type(b, 0), batch_result_type(b, 1) };
    trace_apply("a batch", OP_TOP_K, 1, b->x, b->attrs, 2, types, b->y);
}
