/* collective.c - meetings along a named axis.
 *
 * A vmap that binds the name has all rows at hand, so a meeting becomes a reduction, a transposed
 * array or a copy; under any other map it stays a meeting, of arrays with one more axis.
 *
 *     rows of the batch       psum       all_gather     all_to_all
 *       a b c d               a+b+c+d    a b c d        a e i m       (the batch is axis 0,
 *       e f g h                 ...      e f g h ...    b f j n        all_to_all's is the other)
 */
#include "front/jvp.h"

#include <string.h>

static const AxisAttrs *with_dimension(const AxisAttrs *a, int64_t dimension)
{
    AxisAttrs *more = arena_copy(trace_arena(), a, sizeof *a);
    more->dimension = dimension;
    return more;
}

/* ---- backwards ---- */

void transpose_named_sum(const Transpose *t)
{
    t->out[0] = build(OP_NAMED_SUM, 1, t->ct, t->attrs, t->types[0]);
}

void transpose_named_gather(const Transpose *t)
{
    t->out[0] = build(OP_NAMED_SCATTER, 1, t->ct, t->attrs, t->types[0]);
}

void transpose_named_scatter(const Transpose *t)
{
    t->out[0] = build(OP_NAMED_GATHER, 1, t->ct, t->attrs, t->types[0]);
}

void transpose_named_exchange(const Transpose *t)
{
    t->out[0] = build(OP_NAMED_EXCHANGE, 1, t->ct, t->attrs, t->types[0]);
}

void transpose_named_permute(const Transpose *t)
{
    const AxisAttrs *a = t->attrs;
    AxisAttrs *back = arena_copy(trace_arena(), a, sizeof *a);
    int64_t *pairs = ARENA_ARRAY(trace_arena(), int64_t, 2 * a->pairs.rows + 1);
    for (int i = 0; i < a->pairs.rows; i++) {
        pairs[2 * i] = a->pairs.at[2 * i + 1];
        pairs[2 * i + 1] = a->pairs.at[2 * i];
    }
    back->pairs.at = pairs;
    t->out[0] = build(OP_NAMED_PERMUTE, 1, t->ct, back, t->types[0]);
}

/* ---- batches ---- */

static bool is_bound(const Batch *b)
{
    return str_equal(((const AxisAttrs *)b->attrs)->axis, b->axis_name);
}

/* Along another axis: the same meeting with the batch in front. */
static void keep(const Batch *b)
{
    const AxisAttrs *a = b->attrs;
    if (b->nin && b->mapped[0]) {
        b->y[0] = build(b->op, 1, b->x, with_dimension(a, a->dimension + 1), batched_type(b, 0));
        return;
    }
    b->y[0] = build(b->op, b->nin, b->x, a, b->results[0]);
    b->y_mapped[0] = false;
}

static void reduce_rows(const Batch *b, OpId op)
{
    if (!is_bound(b)) {
        keep(b);
        return;
    }
    b->y_mapped[0] = false;
    if (b->mapped[0])
        b->y[0] = build_reduce(op, b->x[0], ints_range(0, 1));
    else if (op == OP_ADD)
        b->y[0] = build2(OP_MUL, b->x[0], build_number(b->types[0], (double)b->size));
    else
        b->y[0] = b->x[0];
}

void batch_named_sum(const Batch *b)
{
    reduce_rows(b, OP_ADD);
}

void batch_named_max(const Batch *b)
{
    reduce_rows(b, OP_MAX);
}

void batch_named_min(const Batch *b)
{
    reduce_rows(b, OP_MIN);
}

void batch_named_gather(const Batch *b)
{
    if (!is_bound(b)) {
        keep(b);
        return;
    }
    b->y[0] = build_move_axis(batched(b, 0), 0, (int)((const AxisAttrs *)b->attrs)->dimension);
    b->y_mapped[0] = false;
}

void batch_named_scatter(const Batch *b)
{
    int dim = (int)((const AxisAttrs *)b->attrs)->dimension;
    if (!is_bound(b))
        keep(b);
    else
        b->y[0] = build_move_axis(build_reduce(OP_ADD, batched(b, 0), ints_range(0, 1)), dim, 0);
}

void batch_named_exchange(const Batch *b)
{
    int64_t dim = ((const AxisAttrs *)b->attrs)->dimension, order[MAX_RANK];
    if (!is_bound(b)) {
        keep(b);
        return;
    }
    int rank = b->types[0].rank + 1;
    for (int i = 0; i < rank; i++)
        order[i] = i;
    order[0] = dim + 1;
    order[dim + 1] = 0;
    b->y[0] = build_transpose(batched(b, 0), ints_of(rank, order));
}

/* Row t of the result is row s of x, for a pair (s, t); rows that nobody sends to are zero. */
void batch_named_permute(const Batch *b)
{
    const AxisAttrs *a = b->attrs;
    if (!is_bound(b)) {
        keep(b);
        return;
    }
    int n = (int)b->size, rank = b->types[0].rank;
    Type whole = batched_type(b, 0);
    int32_t *from = ARENA_ARRAY(trace_arena(), int32_t, n);
    bool *is_sent = ARENA_ARRAY(trace_arena(), bool, n);
    for (int i = 0; i < a->pairs.rows; i++) {
        from[a->pairs.at[2 * i + 1]] = (int32_t)a->pairs.at[2 * i];
        is_sent[a->pairs.at[2 * i + 1]] = true;
    }
    Type list = type_new(trace_arena(), I32, 1, &b->size);
    tt at = trace_constant((Dense){ list, false, from });
    tt sent = trace_constant((Dense){ type_with(list, I1), false, is_sent });
    Ints sizes = ints_insert(ints_of(rank, b->types[0].dims), 0, 1);
    tt y = build(OP_GATHER, 2, (const tt[]){ batched(b, 0), at },
                 BUILD_ATTRS(GatherAttrs, .offset_dims = ints_range(1, rank),
                             .collapsed_slice_dims = ints_range(0, 1),
                             .start_index_map = ints_range(0, 1), .index_vector_dim = 1,
                             .slice_sizes = sizes),
                 whole);
    b->y[0] = build_select(build_broadcast(sent, whole, ints_range(0, 1)), y, build_zeros(whole));
}

void batch_named_index(const Batch *b)
{
    if (is_bound(b))
        b->y[0] = build_iota(type_new(trace_arena(), I32, 1, &b->size), 0);
    else
        keep(b);
}
