/* dot_rows.c - operands of products whose rows lie in many short pieces are transposed first.
 *
 *     dot(f32[256,128,3], f32[128,512]) over [1] x [0]
 *         ->  dot(transpose(x) : f32[256,3,128], y) over [2] x [0]
 *
 * The matrix kernel (kernels/dot.c) takes rows that lie any distance apart, but one distance: of the first form it
 * is called 256 times, for three rows each.  Images that are resized come so. */
#include "engine/numerics/numerics.h"
#include "engine/passes/simplify/simplify.h"

enum { SHORT_SIDE = 8 };

/* The dimensions of a side of a dot in the order batch, rows, contracted. */
typedef struct Side {
    int nbatch, nrows, n;
    int64_t at[MAX_RANK];
} Side;

static Side side_of(Type t, Ints batch, Ints contracted)
{
    Side side = { .nbatch = batch.n, .n = batch.n };
    for (int i = 0; i < batch.n; i++)
        side.at[i] = batch.at[i];
    for (int d = 0; d < t.rank; d++)
        if (ints_find(batch, d) < 0 && ints_find(contracted, d) < 0)
            side.at[side.n++] = d;
    side.nrows = side.n - side.nbatch;
    for (int i = 0; i < contracted.n; i++)
        side.at[side.n++] = contracted.at[i];
    return side;
}

/* Do only extents of 1 lie between the dimensions? */
static bool are_neighbours(Type t, int64_t d, int64_t next)
{
    while (++d < next)
        if (t.dims[d] != 1)
            return false;
    return true;
}

int64_t dot_rows_in_step(Type t, Ints batch, Ints contracted)
{
    Side side = side_of(t, batch, contracted);
    int64_t rows = 1, next = -1;
    for (int i = side.nbatch + side.nrows - 1; i >= side.nbatch; i--) {
        if (next >= 0 && !are_neighbours(t, side.at[i], next))
            break;
        next = side.at[i];
        rows *= t.dims[next];
    }
    return rows;
}

bool dot_rows_are_short(Type t, Ints batch, Ints contracted)
{
    Side side = side_of(t, batch, contracted);
    int64_t run = dot_rows_in_step(t, batch, contracted), rows = 1;
    for (int i = side.nbatch; i < side.nbatch + side.nrows; i++)
        rows *= t.dims[side.at[i]];
    return run < SHORT_SIDE && rows >= run * SHORT_SIDE;
}

static Ints count_from(Module *m, int n, int64_t first)
{
    int64_t at[MAX_RANK];
    for (int i = 0; i < n; i++)
        at[i] = first + i;
    return ints_copy(m->arena, n, at);
}

/* The operand with its batch dimensions first, then rows, then what is contracted. */
static ValueId in_order(Simplifier *s, const Node *node, ValueId v, const Side *side)
{
    Type t = type_of(s->m, v);
    int64_t dims[MAX_RANK];
    for (int i = 0; i < side->n; i++)
        dims[i] = t.dims[side->at[i]];
    TransposeAttrs *a = ARENA_NEW(s->m->arena, TransposeAttrs);
    a->permutation = ints_copy(s->m->arena, side->n, side->at);
    return simplify_put(s, OP_TRANSPOSE, 1, &v, type_new(s->m->arena, t.element, t.rank, dims), a,
                        node->loc);
}

static bool is_large_product(const Module *m, const Node *node, Ints contracted)
{
    Type lhs = type_of(m, node->in[0]), rhs = type_of(m, node->in[1]), out = type_of(m, node->out);
    int64_t depth = 1;
    for (int i = 0; i < contracted.n; i++)
        depth *= lhs.dims[contracted.at[i]];
    return gemm_kind(lhs.element, rhs.element, out.element) >= 0 && depth >= SHORT_SIDE &&
           type_count(lhs) * SHORT_SIDE <= type_count(out) * depth &&
           type_count(rhs) * SHORT_SIDE <= type_count(out) * depth;
}

ValueId order_dot_rows(Simplifier *s, NodeId n)
{
    Module *m = s->m;
    Node node = *node_at(m, n); /* a copy: nodes are added */
    if (node.op != OP_DOT)
        return 0;
    DotAttrs a = *(const DotAttrs *)node.attrs;
    Ints *batch[] = { &a.lhs_batching_dimensions, &a.rhs_batching_dimensions };
    Ints *contracted[] = { &a.lhs_contracting_dimensions, &a.rhs_contracting_dimensions };
    ValueId in[] = { node.in[0], node.in[1] };
    if (!is_large_product(m, &node, *contracted[0]))
        return 0;
    for (int i = 0; i < 2; i++) {
        if (!dot_rows_are_short(type_of(m, in[i]), *batch[i], *contracted[i]))
            continue;
        Side side = side_of(type_of(m, in[i]), *batch[i], *contracted[i]);
        in[i] = in_order(s, &node, in[i], &side);
        *batch[i] = count_from(m, side.nbatch, 0);
        *contracted[i] = count_from(m, contracted[i]->n, side.nbatch + side.nrows);
    }
    if (in[0] == node.in[0] && in[1] == node.in[1])
        return 0;
    return simplify_put(s, OP_DOT, 2, in, type_of(m, node.out), arena_copy(m->arena, &a, sizeof a),
                        node.loc);
}
