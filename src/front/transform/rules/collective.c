/* collective.c - collectives along a named axis.
 *
 * A vmap that binds the name has all rows at hand, so a collective becomes a reduction, a transposed
 * array or a copy; under any other map it stays a collective, of arrays with one more axis.
 *
 *     rows of the batch       psum       all_gather     all_to_all
 *       a b c d               a+b+c+d    a b c d        a e i m       (the batch is axis 0,
 *       e f g h                 ...      e f g h ...    b f j n        all_to_all's is the other)
 *
 * Groups of the rows: the rows of a group are brought together, every group does the same, and its
 * rows go back to their places. */
#include "front/transform/transform.h"
#include "front/value/axis_names.h"
#include "front/value/report.h"

#include <string.h>

static AxisAttrs *attrs_copy(const AxisAttrs *a)
{
    return arena_copy(trace_arena(), a, sizeof *a);
}

/* ---- backwards ---- */

/* A cotangent is that of each device's copy; where it is known that all copies are the same
 * (vary.c) it is already that of the sum. */
void transpose_named_sum(const Transpose *t)
{
    const AxisAttrs *a = t->attrs;
    t->out[0] = a->is_typed ? t->ct[0] : build_op(OP_NAMED_SUM, 1, t->ct, a, t->types[0]);
}

/* What all devices have gets the sum of what they make of it. */
void transpose_named_vary(const Transpose *t)
{
    t->out[0] = build_op(OP_NAMED_SUM, 1, t->ct, t->attrs, t->types[0]);
}

void transpose_named_gather(const Transpose *t)
{
    t->out[0] = build_op(OP_NAMED_SCATTER, 1, t->ct, t->attrs, t->types[0]);
}

void transpose_named_scatter(const Transpose *t)
{
    t->out[0] = build_op(OP_NAMED_GATHER, 1, t->ct, t->attrs, t->types[0]);
}

void transpose_named_exchange(const Transpose *t)
{
    const AxisAttrs *a = t->attrs;
    AxisAttrs *back = attrs_copy(a);
    back->dimension = a->concat_dimension;
    back->concat_dimension = a->dimension;
    t->out[0] = build_op(OP_NAMED_EXCHANGE, 1, t->ct, back, t->types[0]);
}

void transpose_named_permute(const Transpose *t)
{
    const AxisAttrs *a = t->attrs;
    AxisAttrs *back = attrs_copy(a);
    int64_t *pairs = ARENA_ARRAY(trace_arena(), int64_t, 2 * a->pairs.rows + 1);
    for (int i = 0; i < a->pairs.rows; i++) {
        pairs[2 * i] = a->pairs.at[2 * i + 1];
        pairs[2 * i + 1] = a->pairs.at[2 * i];
    }
    back->pairs.at = pairs;
    t->out[0] = build_op(OP_NAMED_PERMUTE, 1, t->ct, back, t->types[0]);
}

/* All that came from the source goes back to it. */
void transpose_named_broadcast(const Transpose *t)
{
    const AxisAttrs *a = t->attrs;
    Type type = t->types[0], flag = type_with(type, I1);
    tt sum = build_op(OP_NAMED_SUM, 1, t->ct, a, type);
    tt is_source =
        build_compare(EQ, build_axis_index(a), build_number(type_scalar(I32), (double)a->source));
    t->out[0] = build_select(build_broadcast(is_source, flag, (Ints){ 0 }), sum, build_zeros(type));
}

/* ---- batches: which members take part ---- */

static bool is_bound(const Batch *b)
{
    return b->axis_name.n && axis_names_has(((const AxisAttrs *)b->attrs)->axis, b->axis_name);
}

/* The axes but for the one that the batch is. */
static AxisAttrs *other_axes(const Batch *b)
{
    const AxisAttrs *a = b->attrs;
    AxisAttrs *rest = attrs_copy(a);
    int64_t sizes[MAX_RANK];
    int n = 0;
    Str list = a->axis, name;
    for (int i = 0; axis_names_next(&list, &name); i++)
        if (!str_equal(name, b->axis_name))
            sizes[n++] = a->sizes.at[i];
    rest->axis = axis_names_without(trace_arena(), a->axis, b->axis_name);
    rest->sizes = ints_of(n, sizes);
    rest->size = a->size / b->size;
    return rest;
}

static bool is_alone(const Batch *b)
{
    return str_equal(((const AxisAttrs *)b->attrs)->axis, b->axis_name);
}

/* What moves data along several axes at once, one of them the batch's, is not told apart. */
static bool is_mixed(const Batch *b)
{
    if (!is_bound(b) || is_alone(b))
        return false;
    report_broken(
        "not supported: %s along \"%.*s\" where tt_vmap maps \"%.*s\" and others the rest, "
        "%s: name one after the other",
        rule_op_name(b->op), STR_ARG(((const AxisAttrs *)b->attrs)->axis), STR_ARG(b->axis_name),
        loc_name(node_at(b->m, b->node)->loc));
    return true;
}

/* Along another axis: the same collective with the batch in front. */
static void keep(const Batch *b)
{
    const AxisAttrs *a = b->attrs;
    if (b->nin && b->mapped[0]) {
        AxisAttrs *more = attrs_copy(a);
        more->dimension++;
        more->concat_dimension++;
        b->y[0] = build_op(b->op, 1, b->x, more, batch_result_type(b, 0));
        return;
    }
    b->y[0] = build_op(b->op, b->nin, b->x, a, b->results[0]);
    b->y_mapped[0] = false;
}

/* Rows of x by number, along axis 0. */
static tt take_rows(tt x, Type list, const int32_t *rows)
{
    Type t = type_at(x), out = t;
    for (int i = list.rank - 1; i >= 0; i--)
        out = i == list.rank - 1 ? type_insert(type_remove(t, 0), 0, list.dims[i])
                                 : type_insert(out, 0, list.dims[i]);
    tt at = trace_constant((Dense){ list, false, rows });
    Ints sizes = ints_insert(ints_of(t.rank - 1, t.dims + 1), 0, 1);
    return build_op(OP_GATHER, 2, (const tt[]){ x, at },
                    BUILD_ATTRS(GatherAttrs, .offset_dims = ints_range(list.rank, t.rank - 1),
                                .collapsed_slice_dims = ints_range(0, 1),
                                .start_index_map = ints_range(0, 1), .index_vector_dim = list.rank,
                                .slice_sizes = sizes),
                    out);
}

/* ---- batches: sums and extremes ---- */

static Type list_type(int rank, int64_t a, int64_t b)
{
    return type_new(trace_arena(), I32, rank, (const int64_t[]){ a, b });
}

/* Row r: those of its group combined; short groups are filled up with what changes nothing. */
static tt reduce_groups(const Batch *b, OpId op)
{
    Matrix g = ((const AxisAttrs *)b->attrs)->groups;
    int64_t n = b->size;
    Type list = list_type(2, n, g.cols);
    int32_t *rows = ARENA_ARRAY(trace_arena(), int32_t, n * g.cols);
    bool *is_there = ARENA_ARRAY(trace_arena(), bool, n * g.cols);
    for (int i = 0; i < g.rows * g.cols; i++)
        for (int k = 0; g.at[i] >= 0 && k < g.cols; k++) {
            int64_t at = g.at[i] * g.cols + k, member = g.at[i / g.cols * g.cols + k];
            is_there[at] = member >= 0;
            rows[at] = (int32_t)(member >= 0 ? member : g.at[i]);
        }
    tt x = take_rows(batch_operand(b, 0), list, rows);
    if (op == OP_ADD) { /* others may have themselves twice */
        Type whole = type_at(x);
        tt flags = trace_constant((Dense){ type_with(list, I1), false, is_there });
        x = build_select(build_broadcast(flags, type_with(whole, I1), ints_range(0, 2)), x,
                         build_zeros(whole));
    }
    return build_reduce(op, x, ints_range(1, 1));
}

static void reduce_rows(const Batch *b, OpId op)
{
    const AxisAttrs *a = b->attrs;
    if (!is_bound(b)) {
        keep(b);
        return;
    }
    if (a->groups.rows) {
        if (!is_mixed(b))
            b->y[0] = reduce_groups(b, op);
        return;
    }
    b->y_mapped[0] = false;
    if (b->mapped[0])
        b->y[0] = build_reduce(op, b->x[0], ints_range(0, 1));
    else if (op == OP_ADD)
        b->y[0] = build2(OP_MUL, b->x[0], build_number(b->types[0], (double)b->size));
    else
        b->y[0] = b->x[0];
    if (!is_alone(b))
        b->y[0] = build_op(b->op, 1, b->y, other_axes(b), b->results[0]);
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

/* ---- batches: what moves between rows ---- */

/* The rows x[n, ...] of a plain collective: what they become.  False: the same for all. */
typedef bool Rows(tt x, const AxisAttrs *a, tt *y);

static bool gather_rows(tt x, const AxisAttrs *a, tt *y)
{
    *y = build_move_axis(x, 0, (int)a->dimension);
    return false;
}

static bool scatter_rows(tt x, const AxisAttrs *a, tt *y)
{
    *y = build_move_axis(build_reduce(OP_ADD, x, ints_range(0, 1)), (int)a->dimension, 0);
    return true;
}

/* What is split is the batch of the result, and the batch an axis of it. */
static bool exchange_rows(tt x, const AxisAttrs *a, tt *y)
{
    x = build_move_axis(x, (int)a->dimension + 1, 0);
    *y = build_move_axis(x, 1, (int)a->concat_dimension + 1);
    return true;
}

/* x[n, ...] with rows of a group together becomes [members, groups, ...], as if each member had
 * an array of all groups. */
static tt exchange_in_groups(const Batch *b, Rows *rows)
{
    const AxisAttrs *a = b->attrs;
    Matrix g = a->groups;
    Type list = list_type(2, g.cols, g.rows), flat = list_type(1, b->size, 0);
    int32_t *to = ARENA_ARRAY(trace_arena(), int32_t, b->size);
    int32_t *from = ARENA_ARRAY(trace_arena(), int32_t, b->size);
    for (int i = 0; i < g.rows; i++)
        for (int k = 0; k < g.cols; k++) {
            to[k * g.rows + i] = (int32_t)g.at[i * g.cols + k];
            from[g.at[i * g.cols + k]] = (int32_t)(k * g.rows + i);
        }
    AxisAttrs *inner = attrs_copy(a);
    inner->dimension++;
    inner->concat_dimension++;
    tt y;
    if (!rows(take_rows(batch_operand(b, 0), list, to), inner, &y))
        y = build_leading(y, g.cols);
    Type whole = type_insert(type_remove(type_remove(type_at(y), 0), 0), 0, b->size);
    return take_rows(build_reshape(y, whole), flat, from);
}

static void move_rows(const Batch *b, Rows *rows)
{
    if (!is_bound(b))
        keep(b);
    else if (is_mixed(b))
        return;
    else if (((const AxisAttrs *)b->attrs)->groups.rows)
        b->y[0] = exchange_in_groups(b, rows);
    else
        b->y_mapped[0] = rows(batch_operand(b, 0), b->attrs, b->y);
}

void batch_named_gather(const Batch *b)
{
    move_rows(b, gather_rows);
}

void batch_named_scatter(const Batch *b)
{
    move_rows(b, scatter_rows);
}

void batch_named_exchange(const Batch *b)
{
    move_rows(b, exchange_rows);
}

/* Row t of the result is row s of x, for a pair (s, t); rows that none is sent to are zero. */
void batch_named_permute(const Batch *b)
{
    const AxisAttrs *a = b->attrs;
    if (!is_bound(b) || is_mixed(b)) {
        keep(b);
        return;
    }
    Type list = list_type(1, b->size, 0), whole = batch_result_type(b, 0);
    int32_t *from = ARENA_ARRAY(trace_arena(), int32_t, b->size);
    bool *is_sent = ARENA_ARRAY(trace_arena(), bool, b->size);
    for (int i = 0; i < a->pairs.rows; i++) {
        from[a->pairs.at[2 * i + 1]] = (int32_t)a->pairs.at[2 * i];
        is_sent[a->pairs.at[2 * i + 1]] = true;
    }
    tt sent = trace_constant((Dense){ type_with(list, I1), false, is_sent });
    b->y[0] = take_rows(batch_operand(b, 0), list, from);
    if (a->pairs.rows < b->size)
        b->y[0] = build_select(build_broadcast(sent, type_with(whole, I1), ints_range(0, 1)),
                               b->y[0], build_zeros(whole));
}

void batch_named_broadcast(const Batch *b)
{
    int32_t source = (int32_t)((const AxisAttrs *)b->attrs)->source;
    if (!is_bound(b) || is_mixed(b)) {
        keep(b);
        return;
    }
    b->y_mapped[0] = false;
    b->y[0] = b->x[0];
    if (b->mapped[0])
        b->y[0] = build_reshape(take_rows(b->x[0], list_type(1, 1, 0), &source), b->results[0]);
}

void batch_named_index(const Batch *b)
{
    if (is_bound(b))
        b->y[0] = build_iota(type_new(trace_arena(), I32, 1, &b->size), 0);
    else
        keep(b);
}
