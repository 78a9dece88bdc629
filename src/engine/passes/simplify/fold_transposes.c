/* fold_transposes.c - transposes around products, which can read their operands in any order, and
 * around what is computed element by element, which has none.
 *
 *   dot(x, y) over [2, 1] x [2, 1]  ->  over [1, 2] x [1, 2], which is one dimension in memory
 *   dot(x, y) over [1, 2] x [2, 1]  ->  dot(x, transpose(y)) over dimensions that are one in memory on both
 *                             sides, if it is then a matrix product
 *   dot(transpose(x), y)  ->  dot(x, y) by other dimensions, unless only the transpose makes the
 *                             contracted ones one dimension in memory, as a matrix product wants them
 *   transpose(dot(x, y))  ->  dot(y, x), if it exchanges the two sides and nothing else reads
 *                             the dot; sums keep their order, so the numbers stay the same
 *   triangular_solve(transpose(a), b)  ->  triangular_solve(a, b), transposed, of the other triangle
 *   add(transpose(x), transpose(y))  ->  transpose(add(x, y)), also beside what is broadcast: a
 *                             product or a reduction behind it may then do without
 *   slice(transpose(x))  ->  transpose(slice(x)), and so are reverses, and reshapes of dimensions that
 *                             the transpose leaves side by side
 *
 * In goes a node; out comes the value it comes to, or 0. */
#include "engine/numerics/numerics.h"
#include "engine/passes/simplify/simplify.h"

#include <string.h>

enum { MAX_OPERANDS = 4 }; /* of what is computed element by element */

static bool is_free(Ints batch, Ints contracted, int64_t dim)
{
    return ints_find(batch, dim) < 0 && ints_find(contracted, dim) < 0;
}

static Ints mapped(Module *m, Ints list, Ints through)
{
    int64_t at[MAX_RANK];
    for (int i = 0; i < list.n; i++)
        at[i] = through.at[list.at[i]];
    return ints_copy(m->arena, list.n, at);
}

/* ---- contracted dimensions out of order ---- */

static bool is_rising(Ints list)
{
    for (int i = 1; i < list.n; i++)
        if (list.at[i] < list.at[i - 1])
            return false;
    return true;
}

/* The pairs in the order of the left side's dimensions, if that is the right side's too. */
static ValueId order_contracted(Simplifier *s, const Node *node)
{
    Module *m = s->m;
    DotAttrs a = *(const DotAttrs *)node->attrs;
    int64_t lhs[MAX_RANK], rhs[MAX_RANK];
    int n = 0;
    if (is_rising(a.lhs_contracting_dimensions))
        return 0;
    for (int d = 0; d < type_of(m, node->in[0]).rank; d++) {
        int at = ints_find(a.lhs_contracting_dimensions, d);
        if (at < 0)
            continue;
        lhs[n] = d;
        rhs[n++] = a.rhs_contracting_dimensions.at[at];
    }
    a.lhs_contracting_dimensions = ints_copy(m->arena, n, lhs);
    a.rhs_contracting_dimensions = ints_copy(m->arena, n, rhs);
    if (!is_rising(a.rhs_contracting_dimensions))
        return 0;
    return simplify_put(s, OP_DOT, 2, node->in, type_of(m, node->out),
                        arena_copy(m->arena, &a, sizeof a), node->loc);
}

/* Are the dimensions one in memory? */
static bool is_one_dimension(Type t, Ints list)
{
    int64_t last = -1;
    for (int i = 0; i < list.n; i++) {
        if (t.dims[list.at[i]] == 1)
            continue;
        for (int64_t d = last + 1; last >= 0 && d < list.at[i]; d++)
            if (t.dims[d] != 1)
                return false;
        if (list.at[i] < last)
            return false;
        last = list.at[i];
    }
    return true;
}

/* ---- contracted dimensions that are not one in memory ---- */

/* The pairs of contracted dimensions in the order in which side i has them. */
static DotAttrs ordered_by(const Module *m, const DotAttrs *a, int i)
{
    DotAttrs ordered = *a;
    Ints lists[] = { a->lhs_contracting_dimensions, a->rhs_contracting_dimensions };
    int64_t sorted[2][MAX_RANK];
    int n = 0;
    for (int64_t d = 0; d < MAX_RANK; d++) {
        int at = ints_find(lists[i], d);
        if (at < 0)
            continue;
        sorted[0][n] = lists[0].at[at];
        sorted[1][n++] = lists[1].at[at];
    }
    ordered.lhs_contracting_dimensions = ints_copy(m->arena, n, sorted[0]);
    ordered.rhs_contracting_dimensions = ints_copy(m->arena, n, sorted[1]);
    return ordered;
}

/* The operand with its contracted dimensions beside each other: behind the free ones if its last dimension is one of
 * them, else before those, so that rows stay rows. */
static ValueId beside_each_other(Simplifier *s, ValueId v, Ints *batch, Ints *contracted,
                                 const Loc *loc)
{
    Type t = type_of(s->m, v);
    bool is_behind = ints_find(*contracted, t.rank - 1) >= 0;
    int64_t order[MAX_RANK], at[MAX_RANK], dims[MAX_RANK];
    int n = 0;
    for (int i = 0; i < batch->n; i++)
        order[n++] = batch->at[i];
    for (int i = 0; i < contracted->n && !is_behind; i++)
        order[n++] = contracted->at[i];
    for (int d = 0; d < t.rank; d++)
        if (is_free(*batch, *contracted, d))
            order[n++] = d;
    for (int i = 0; i < contracted->n && is_behind; i++)
        order[n++] = contracted->at[i];
    for (int i = 0; i < n; i++) {
        at[order[i]] = i;
        dims[i] = t.dims[order[i]];
    }
    TransposeAttrs *attrs = ARENA_NEW(s->m->arena, TransposeAttrs);
    attrs->permutation = ints_copy(s->m->arena, n, order);
    *batch = mapped(s->m, *batch, (Ints){ n, at });
    *contracted = mapped(s->m, *contracted, (Ints){ n, at });
    Type to = type_new(s->m->arena, t.element, n, dims);
    return simplify_put(s, OP_TRANSPOSE, 1, &v, to, attrs, loc);
}

/* Are there enough products, and rows and columns, for a matrix product to be worth a copy of the operands? */
static bool is_worth_a_copy(const Module *m, const Node *node)
{
    enum { LEAST = 8, MANY_TERMS = 32 };
    Type lhs = type_of(m, node->in[0]), rhs = type_of(m, node->in[1]), out = type_of(m, node->out);
    const DotAttrs *a = node->attrs;
    int64_t batch = 1, terms = 1;
    for (int i = 0; i < a->lhs_batching_dimensions.n; i++)
        batch *= lhs.dims[a->lhs_batching_dimensions.at[i]];
    for (int i = 0; i < a->lhs_contracting_dimensions.n; i++)
        terms *= lhs.dims[a->lhs_contracting_dimensions.at[i]];
    return gemm_kind(lhs.element, rhs.element, out.element) >= 0 && terms >= MANY_TERMS &&
           type_count(lhs) >= LEAST * batch * terms && type_count(rhs) >= LEAST * batch * terms;
}

static ValueId join_contracted(Simplifier *s, const Node *node)
{
    Module *m = s->m;
    Type types[] = { type_of(m, node->in[0]), type_of(m, node->in[1]) };
    const DotAttrs *given = node->attrs;
    if ((is_one_dimension(types[0], given->lhs_contracting_dimensions) &&
         is_one_dimension(types[1], given->rhs_contracting_dimensions)) ||
        !is_worth_a_copy(m, node))
        return 0;
    /* in the order of the larger side, which may then be left as it is */
    DotAttrs a = ordered_by(m, given, type_count(types[1]) > type_count(types[0]));
    Ints *batch[] = { &a.lhs_batching_dimensions, &a.rhs_batching_dimensions };
    Ints *contracted[] = { &a.lhs_contracting_dimensions, &a.rhs_contracting_dimensions };
    ValueId in[] = { node->in[0], node->in[1] };
    for (int i = 0; i < 2; i++)
        if (!is_one_dimension(types[i], *contracted[i]))
            in[i] = beside_each_other(s, in[i], batch[i], contracted[i], node->loc);
    return simplify_put(s, OP_DOT, 2, in, type_of(m, node->out), arena_copy(m->arena, &a, sizeof a),
                        node->loc);
}

/* ---- a transposed operand ---- */

/* The transpose's permutation, if the operand's free dimensions keep their order without it. */
static const Ints *permutation_to_skip(const Module *m, ValueId v, Ints batch, Ints contracted)
{
    NodeId def = value_def(m, v);
    if (!def || node_at(m, def)->op != OP_TRANSPOSE)
        return NULL;
    const TransposeAttrs *a = node_at(m, def)->attrs;
    int64_t last = -1;
    for (int d = 0; d < a->permutation.n; d++) {
        if (!is_free(batch, contracted, d))
            continue;
        if (a->permutation.at[d] < last)
            return NULL;
        last = a->permutation.at[d];
    }
    return &a->permutation;
}

/* Is it a matrix product (kernels/dot.c) of some size only as long as operand i is transposed?
 * skipped: its contracted dimensions without that. */
static bool is_product_by_order(const Module *m, const Node *node, int i, Ints contracted,
                                Ints skipped)
{
    enum { SHORT_SIDE = 8 };
    Type t = type_of(m, node->in[i]), out = type_of(m, node->out);
    Type from = type_of(m, node_at(m, value_def(m, node->in[i]))->in[0]);
    bool is_small = type_count(out) < SHORT_SIDE * SHORT_SIDE;
    int kind =
        gemm_kind(type_of(m, node->in[0]).element, type_of(m, node->in[1]).element, out.element);
    return kind >= 0 && !is_small && is_one_dimension(t, contracted) &&
           !is_one_dimension(from, skipped);
}

static ValueId skip_transposes(Simplifier *s, const Node *node)
{
    Module *m = s->m;
    DotAttrs a = *(const DotAttrs *)node->attrs;
    Ints *batch[] = { &a.lhs_batching_dimensions, &a.rhs_batching_dimensions };
    Ints *contracted[] = { &a.lhs_contracting_dimensions, &a.rhs_contracting_dimensions };
    ValueId in[2];
    for (int i = 0; i < 2; i++) {
        in[i] = node->in[i];
        const Ints *permutation = permutation_to_skip(m, in[i], *batch[i], *contracted[i]);
        if (!permutation)
            continue;
        Ints summed = mapped(m, *contracted[i], *permutation);
        Ints kept = mapped(m, *batch[i], *permutation);
        Type from = type_of(m, node_at(m, value_def(m, in[i]))->in[0]);
        if (is_product_by_order(m, node, i, *contracted[i], summed) ||
            dot_rows_are_short(from, kept, summed))
            continue;
        *batch[i] = kept;
        *contracted[i] = summed;
        in[i] = node_at(m, value_def(m, in[i]))->in[0];
    }
    if (in[0] == node->in[0] && in[1] == node->in[1])
        return 0;
    return simplify_put(s, OP_DOT, 2, in, type_of(m, node->out), arena_copy(m->arena, &a, sizeof a),
                        node->loc);
}

/* ---- a transposed result ---- */

/* Does the permutation keep nbatch dimensions and put the nlhs that follow behind the rest? */
static bool exchanges_sides(Ints permutation, int nbatch, int nlhs)
{
    int nrhs = permutation.n - nbatch - nlhs;
    for (int i = 0; i < permutation.n; i++) {
        int from = i < nbatch ? i : i < nbatch + nrhs ? i + nlhs : i - nrhs;
        if (permutation.at[i] != from)
            return false;
    }
    return true;
}

static ValueId exchange_operands(Simplifier *s, const Node *node)
{
    Module *m = s->m;
    NodeId def = value_def(m, node->in[0]);
    if (!def || node_at(m, def)->op != OP_DOT || !is_used_once(s, node->in[0]))
        return 0;
    const Node *dot = node_at(m, def);
    const DotAttrs *a = dot->attrs;
    int nbatch = a->lhs_batching_dimensions.n;
    int nlhs = type_of(m, dot->in[0]).rank - nbatch - a->lhs_contracting_dimensions.n;
    if (!exchanges_sides(((const TransposeAttrs *)node->attrs)->permutation, nbatch, nlhs))
        return 0;
    DotAttrs other = { .lhs_batching_dimensions = a->rhs_batching_dimensions,
                       .rhs_batching_dimensions = a->lhs_batching_dimensions,
                       .lhs_contracting_dimensions = a->rhs_contracting_dimensions,
                       .rhs_contracting_dimensions = a->lhs_contracting_dimensions };
    ValueId in[] = { dot->in[1], dot->in[0] };
    return simplify_put(s, OP_DOT, 2, in, type_of(m, node->out),
                        arena_copy(m->arena, &other, sizeof other), node->loc);
}

/* ---- transposed operands of what has no order ---- */

static const Node *defined_by(const Module *m, ValueId v, OpId op)
{
    NodeId def = value_def(m, v);
    return def && node_at(m, def)->op == op ? node_at(m, def) : NULL;
}

static Type untransposed_type(Module *m, Type t, Ints permutation)
{
    int64_t dims[MAX_RANK];
    for (int d = 0; d < t.rank; d++)
        dims[permutation.at[d]] = t.dims[d];
    return type_new(m->arena, t.element, t.rank, dims);
}

/* What is broadcast must not be transposed instead. */
static bool can_be_untransposed(Module *m, ValueId v, Ints permutation)
{
    const Node *transpose = defined_by(m, v, OP_TRANSPOSE);
    const Node *broadcast = defined_by(m, v, OP_BROADCAST);
    const Dense *constant = value_constant(m, v);
    if (type_of(m, v).rank == 0 || (constant && constant->is_splat))
        return true;
    if (transpose)
        return ints_equal(((const TransposeAttrs *)transpose->attrs)->permutation, permutation);
    return broadcast &&
           (type_count(type_of(m, broadcast->in[0])) == 1 ||
            is_rising(mapped(m, ((const BroadcastAttrs *)broadcast->attrs)->broadcast_dimensions,
                             permutation)));
}

/* The operand as it is without the transpose. */
static ValueId untransposed(Simplifier *s, ValueId v, Ints permutation)
{
    Module *m = s->m;
    const Node *transpose = defined_by(m, v, OP_TRANSPOSE);
    const Node *broadcast = defined_by(m, v, OP_BROADCAST);
    if (type_of(m, v).rank == 0)
        return v;
    if (transpose)
        return transpose->in[0];
    Type type = untransposed_type(m, type_of(m, v), permutation);
    if (broadcast) {
        BroadcastAttrs a = *(const BroadcastAttrs *)broadcast->attrs;
        a.broadcast_dimensions = mapped(m, a.broadcast_dimensions, permutation);
        return simplify_put(s, OP_BROADCAST, 1, broadcast->in, type,
                            arena_copy(m->arena, &a, sizeof a), broadcast->loc);
    }
    Dense constant = *value_constant(m, v);
    constant.type = type;
    return simplify_constant(s, constant, node_at(m, value_def(m, v))->loc);
}

static ValueId transpose_later(Simplifier *s, const Node *node)
{
    Module *m = s->m;
    const Node *transpose = NULL;
    Type out = type_of(m, node->out);
    ValueId in[MAX_OPERANDS];
    if (op_info[node->op].kind != KIND_MAP || node->nregions || node->nin > MAX_OPERANDS)
        return 0;
    for (int i = 0; i < node->nin && !transpose; i++)
        transpose = defined_by(m, node->in[i], OP_TRANSPOSE);
    if (!transpose)
        return 0;
    const void *attrs = transpose->attrs;
    Ints permutation = ((const TransposeAttrs *)attrs)->permutation;
    for (int i = 0; i < node->nin; i++)
        if (!can_be_untransposed(m, node->in[i], permutation))
            return 0;
    for (int i = 0; i < node->nin; i++)
        in[i] = untransposed(s, node->in[i], permutation);
    ValueId v = simplify_put(s, node->op, node->nin, in, untransposed_type(m, out, permutation),
                             node->attrs, node->loc);
    return simplify_put(s, OP_TRANSPOSE, 1, &v, out, attrs, node->loc);
}

/* ---- transposed operands of moves ---- */

static ValueId transposed(Simplifier *s, const Node *node, ValueId v, Ints permutation)
{
    TransposeAttrs *a = ARENA_NEW(s->m->arena, TransposeAttrs);
    a->permutation = permutation;
    return simplify_put(s, OP_TRANSPOSE, 1, &v, type_of(s->m, node->out), a, node->loc);
}

/* The list with entry d as entry permutation[d]. */
static Ints unpermuted(Module *m, Ints list, Ints permutation)
{
    int64_t at[MAX_RANK];
    for (int d = 0; d < list.n; d++)
        at[permutation.at[d]] = list.at[d];
    return ints_copy(m->arena, list.n, at);
}

static ValueId slice_before(Simplifier *s, const Node *node, const Node *transpose)
{
    Module *m = s->m;
    Ints permutation = ((const TransposeAttrs *)transpose->attrs)->permutation;
    SliceAttrs a = *(const SliceAttrs *)node->attrs;
    a.start_indices = unpermuted(m, a.start_indices, permutation);
    a.limit_indices = unpermuted(m, a.limit_indices, permutation);
    a.strides = unpermuted(m, a.strides, permutation);
    Type type = untransposed_type(m, type_of(m, node->out), permutation);
    ValueId v = simplify_put(s, OP_SLICE, 1, transpose->in, type,
                             arena_copy(m->arena, &a, sizeof a), node->loc);
    return transposed(s, node, v, permutation);
}

static ValueId reverse_before(Simplifier *s, const Node *node, const Node *transpose)
{
    Module *m = s->m;
    Ints permutation = ((const TransposeAttrs *)transpose->attrs)->permutation;
    DimensionsAttrs a = *(const DimensionsAttrs *)node->attrs;
    a.dimensions = mapped(m, a.dimensions, permutation);
    Type type = type_of(m, transpose->in[0]);
    ValueId v = simplify_put(s, OP_REVERSE, 1, transpose->in, type,
                             arena_copy(m->arena, &a, sizeof a), node->loc);
    return transposed(s, node, v, permutation);
}

/* Dimensions of the transpose's result and those that a reshape makes of them. */
typedef struct Reshaped {
    int n, from[MAX_RANK + 1], to[MAX_RANK + 1]; /* where a group begins; [n]: the ranks */
} Reshaped;

static Reshaped reshape_groups(Type from, Type to)
{
    Reshaped r = { 0 };
    int f = 0, t = 0;
    while (f < from.rank && t < to.rank) {
        r.from[r.n] = f;
        r.to[r.n++] = t;
        int64_t x = from.dims[f++], y = to.dims[t++];
        while (x != y)
            if (x < y)
                x *= from.dims[f++];
            else
                y *= to.dims[t++];
        for (; f < from.rank && from.dims[f] == 1; f++)
            ;
        for (; t < to.rank && to.dims[t] == 1; t++)
            ;
    }
    r.from[r.n] = f;
    r.to[r.n] = t;
    return r;
}

/* Each group must lie side by side in the transpose's operand, in this order. */
static ValueId reshape_before(Simplifier *s, const Node *node, const Node *transpose)
{
    Module *m = s->m;
    Ints permutation = ((const TransposeAttrs *)transpose->attrs)->permutation;
    Type to = type_of(m, node->out);
    if (type_count(to) <= 1)
        return 0;
    Reshaped r = reshape_groups(type_of(m, transpose->out), to);
    for (int g = 0; g < r.n; g++)
        for (int f = r.from[g]; f + 1 < r.from[g + 1]; f++)
            if (permutation.at[f + 1] != permutation.at[f] + 1)
                return 0;
    int64_t dims[MAX_RANK], moved[MAX_RANK];
    int n = 0;
    for (int p = 0; p < permutation.n; p++)
        for (int g = 0; g < r.n; g++)
            for (int t = r.to[g]; permutation.at[r.from[g]] == p && t < r.to[g + 1]; t++) {
                moved[t] = n;
                dims[n++] = to.dims[t];
            }
    ValueId v = simplify_put(s, OP_RESHAPE, 1, transpose->in,
                             type_new(m->arena, to.element, n, dims), NULL, node->loc);
    return transposed(s, node, v, ints_copy(m->arena, n, moved));
}

static ValueId move_before(Simplifier *s, const Node *node)
{
    const Node *found = node->nin == 1 ? defined_by(s->m, node->in[0], OP_TRANSPOSE) : NULL;
    if (!found)
        return 0;
    Node transpose = *found; /* a copy: rules add nodes */
    switch (node->op) {
    case OP_SLICE: return slice_before(s, node, &transpose);
    case OP_REVERSE: return reverse_before(s, node, &transpose);
    case OP_RESHAPE: return reshape_before(s, node, &transpose);
    default: return 0;
    }
}

/* ---- a transposed triangle ---- */

static bool exchanges_last_two(Ints permutation)
{
    int n = permutation.n;
    for (int i = 0; i < n - 2; i++)
        if (permutation.at[i] != i)
            return false;
    return permutation.at[n - 2] == n - 1;
}

/* The adjoint of a transpose is a conjugate, which the system has no word for. */
static ValueId skip_triangle_transpose(Simplifier *s, const Node *node)
{
    Module *m = s->m;
    TriangularSolveAttrs a = *(const TriangularSolveAttrs *)node->attrs;
    const Node *transpose = defined_by(m, node->in[0], OP_TRANSPOSE);
    if (!transpose || a.transpose_a == ADJOINT ||
        !exchanges_last_two(((const TransposeAttrs *)transpose->attrs)->permutation))
        return 0;
    a.transpose_a = a.transpose_a == TRANSPOSE ? NO_TRANSPOSE : TRANSPOSE;
    a.lower = !a.lower;
    ValueId in[] = { transpose->in[0], node->in[1] };
    return simplify_put(s, OP_TRIANGULAR_SOLVE, 2, in, type_of(m, node->out),
                        arena_copy(m->arena, &a, sizeof a), node->loc);
}

ValueId fold_transpose(Simplifier *s, NodeId n)
{
    Node node = *node_at(s->m, n); /* a copy: rules add nodes */
    if (node.op == OP_TRIANGULAR_SOLVE)
        return skip_triangle_transpose(s, &node);
    if (node.op == OP_DOT) {
        ValueId v = skip_transposes(s, &node);
        v = v ? v : order_contracted(s, &node);
        return v ? v : join_contracted(s, &node);
    }
    if (node.op == OP_TRANSPOSE)
        return exchange_operands(s, &node);
    ValueId v = transpose_later(s, &node);
    return v ? v : move_before(s, &node);
}
