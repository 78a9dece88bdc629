/* index.c - reading and writing at places that are found at run time.
 *
 *     dynamic_slice, gather          read:  backwards, what came from a place is added there
 *     dynamic_update_slice, scatter  write: backwards, read what was written
 *
 * Reading moves a window that would stand out of the array back into it; writing by scatter drops
 * it.  So where one is made of the other, positions are clamped, or what was dropped is zero. */
#include "front/transform/transform.h"
#include "front/value/report.h"
#include "hlo/rewrite.h"

#include <string.h>

/* ---- positions ---- */

/* The highest position at which a window of those sizes still fits, for the operand's axes in
 * `map`, in the shape of the array of positions. */
static tt highest(tt at, int64_t vector_dim, Type operand, const int64_t *sizes, Ints map)
{
    Type t = type_at(at);
    int64_t most[MAX_RANK];
    for (int i = 0; i < map.n; i++)
        most[i] = operand.dims[map.at[i]] - sizes[map.at[i]];
    if (vector_dim == t.rank)
        return build_number(t, (double)most[0]);
    tt parts[MAX_RANK];
    for (int i = 0; i < map.n; i++)
        parts[i] = build_number(type_new(trace_arena(), t.element, 1, (const int64_t[]){ 1 }),
                                (double)most[i]);
    tt list = map.n == 1 ? parts[0] : build_concatenate(map.n, parts, 0);
    return build_broadcast(list, t, ints_of(1, &vector_dim));
}

static tt clamp(tt at, int64_t vector_dim, Type operand, const int64_t *sizes, Ints map)
{
    if (!map.n)
        return at;
    Type t = type_at(at);
    tt in[] = { build_zeros(t), at, highest(at, vector_dim, operand, sizes, map) };
    return build_op(OP_CLAMP, 3, in, NULL, t);
}

/* Scalars side by side along a last axis: one position.  Those mapped have a batch axis. */
static tt position(const Batch *b, int first)
{
    int n = b->nin - first;
    tt parts[MAX_RANK];
    for (int i = 0; i < n; i++) {
        Type t = type_with(b->types[first + i], b->types[first].element);
        parts[i] = build_reshape(batch_operand(b, first + i),
                                 type_insert(type_insert(t, 0, 1), 0, b->size));
    }
    return n == 1 ? parts[0] : build_concatenate(n, parts, 1);
}

static bool any_mapped(const Batch *b, int from)
{
    for (int i = from; i < b->nin; i++)
        if (b->mapped[i])
            return true;
    return false;
}

/* ---- dynamic_slice and dynamic_update_slice ---- */

/* The operand's cotangent so far: what is read is added to it in place, for a loop may read an
 * array row by row, and its cotangent is not to be gone through for each. */
static tt so_far(const Transpose *t)
{
    return value_or_zeros(backward_take(t->backward, node_at(t->m, t->node)->in[0]), t->types[0]);
}

void transpose_dynamic_slice(const Transpose *t)
{
    tt *in = ARENA_ARRAY(trace_arena(), tt, t->nin + 1), *at = in + 2;
    tt *slice = ARENA_ARRAY(trace_arena(), tt, t->nin);
    for (int i = 1; i < t->nin; i++)
        at[i - 1] = slice[i] = t->x[i];
    in[0] = slice[0] = so_far(t);
    in[1] = build2(OP_ADD, build_op(t->op, t->nin, slice, t->attrs, t->results[0]), t->ct[0]);
    t->out[0] = build_op(OP_DYNAMIC_UPDATE, t->nin + 1, in, NULL, t->types[0]);
}

void jvp_update(const Jvp *j)
{
    tt *in = ARENA_ARRAY(trace_arena(), tt, j->nin);
    for (int i = 0; i < j->nin; i++)
        in[i] = i < 2 ? value_or_zeros(j->dx[i], type_at(j->x[i])) : j->x[i];
    j->dy[0] = build_op(j->op, j->nin, in, j->attrs, type_at(j->y[0]));
}

void transpose_update(const Transpose *t)
{
    tt *in = ARENA_ARRAY(trace_arena(), tt, t->nin);
    in[0] = t->ct[0];
    for (int i = 2; i < t->nin; i++)
        in[i] = t->x[i];
    if (t->linear[0]) {
        in[1] = build_zeros(t->types[1]);
        t->out[0] = build_op(OP_DYNAMIC_UPDATE, t->nin, in, NULL, t->types[0]);
    }
    if (t->linear[1]) {
        memmove(in + 1, in + 2, sizeof *in * (size_t)(t->nin - 2));
        Ints sizes = ints_of(t->types[1].rank, t->types[1].dims);
        t->out[1] = build_op(OP_DYNAMIC_SLICE, t->nin - 1, in,
                             BUILD_ATTRS(DynamicSliceAttrs, .slice_sizes = sizes), t->types[1]);
    }
}

/* Every row reads at its own position: a gather. */
static tt slice_rows(const Batch *b)
{
    int n = b->types[0].rank, with = b->mapped[0];
    Ints sizes = ((const DynamicSliceAttrs *)b->attrs)->slice_sizes;
    GatherAttrs *g = BUILD_ATTRS(GatherAttrs, .offset_dims = ints_range(1, n),
                                 .start_index_map = ints_range(with, n), .index_vector_dim = 1,
                                 .slice_sizes = sizes);
    if (with) {
        g->operand_batching_dims = g->start_indices_batching_dims = ints_range(0, 1);
        g->slice_sizes = ints_insert(sizes, 0, 1);
    }
    return build_op(OP_GATHER, 2, (const tt[]){ b->x[0], position(b, 1) }, g,
                    batch_result_type(b, 0));
}

void batch_dynamic_slice(const Batch *b)
{
    if (any_mapped(b, 1)) {
        b->y[0] = slice_rows(b);
        return;
    }
    tt *in = ARENA_ARRAY(trace_arena(), tt, b->nin + 1);
    Ints sizes = ((const DynamicSliceAttrs *)b->attrs)->slice_sizes;
    in[0] = b->x[0];
    in[1] = build_zeros(b->nin > 1 ? b->types[1] : type_scalar(I32));
    for (int i = 1; i < b->nin; i++)
        in[i + 1] = b->x[i];
    b->y[0] =
        build_op(OP_DYNAMIC_SLICE, b->nin + 1, in,
                 BUILD_ATTRS(DynamicSliceAttrs, .slice_sizes = ints_insert(sizes, 0, b->size)),
                 batch_result_type(b, 0));
}

static tt scatter(tt operand, tt at, tt updates, const ScatterAttrs *attrs, Graph body)
{
    Type t = type_at(operand);
    tt in[] = { operand, at, updates }, y;
    trace_apply_regions("a rule", OP_SCATTER, 3, in, attrs, 1, &body, 1, &t, &y);
    return y;
}

/* Every row writes at its own position. */
static tt update_rows(const Batch *b)
{
    int n = b->types[0].rank;
    Type whole = type_insert(b->types[0], 0, b->size);
    int64_t sizes[MAX_RANK] = { 1 };
    memcpy(sizes + 1, b->types[1].dims, sizeof *sizes * (size_t)n);
    tt at = clamp(position(b, 2), 1, whole, sizes, ints_range(1, n));
    ScatterAttrs *s = BUILD_ATTRS(ScatterAttrs, .update_window_dims = ints_range(1, n),
                                  .input_batching_dims = ints_range(0, 1),
                                  .scatter_indices_batching_dims = ints_range(0, 1),
                                  .scatter_dims_to_operand_dims = ints_range(1, n),
                                  .index_vector_dim = 1, .unique_indices = true);
    return scatter(batch_operand(b, 0), at, batch_operand(b, 1), s, trace_replacer(whole.element));
}

void batch_update(const Batch *b)
{
    if (any_mapped(b, 2)) {
        b->y[0] = update_rows(b);
        return;
    }
    tt *in = ARENA_ARRAY(trace_arena(), tt, b->nin + 1);
    in[0] = batch_operand(b, 0);
    in[1] = batch_operand(b, 1);
    in[2] = build_zeros(b->nin > 2 ? b->types[2] : type_scalar(I32));
    for (int i = 2; i < b->nin; i++)
        in[i + 1] = b->x[i];
    b->y[0] = build_op(OP_DYNAMIC_UPDATE, b->nin + 1, in, NULL, batch_result_type(b, 0));
}

/* ---- along one axis, and by number ---- */

tt gather_along(tt x, tt at, int dim)
{
    Type t = type_at(x), result = type_with(type_at(at), t.element);
    Ints axis = ints_range(dim, 1), others = ints_except(t.rank, axis);
    int64_t ones[MAX_RANK];
    for (int i = 0; i < t.rank; i++)
        ones[i] = 1;
    GatherAttrs *g =
        BUILD_ATTRS(GatherAttrs, .collapsed_slice_dims = axis, .operand_batching_dims = others,
                    .start_indices_batching_dims = others, .start_index_map = axis,
                    .index_vector_dim = t.rank, .slice_sizes = ints_of(t.rank, ones));
    return build_op(OP_GATHER, 2, (const tt[]){ x, at }, g, result);
}

static Type flat(Type t)
{
    int64_t n = type_count(t);
    return type_new(trace_arena(), t.element, 1, &n);
}

tt gather_flat(tt x, tt at)
{
    Type t = type_at(x), result = type_with(type_at(at), t.element);
    GatherAttrs *g = BUILD_ATTRS(
        GatherAttrs, .collapsed_slice_dims = ints_range(0, 1), .start_index_map = ints_range(0, 1),
        .index_vector_dim = result.rank, .slice_sizes = ints_of(1, (const int64_t[]){ 1 }));
    tt y = build_op(OP_GATHER, 2, (const tt[]){ build_reshape(x, flat(t)), at }, g, result);
    return build_select(build_compare(GE, at, build_zeros(type_at(at))), y, build_zeros(result));
}

tt scatter_add_flat(tt x, tt at, tt updates)
{
    Type t = type_at(x), list = flat(type_at(at));
    ScatterAttrs *s =
        BUILD_ATTRS(ScatterAttrs, .inserted_window_dims = ints_range(0, 1),
                    .scatter_dims_to_operand_dims = ints_range(0, 1), .index_vector_dim = 1);
    tt y = scatter(build_reshape(x, flat(t)), build_reshape(at, list), build_reshape(updates, list),
                   s, trace_reducer(OP_ADD, t.element));
    return build_reshape(y, t);
}

/* ---- gather ---- */

void transpose_gather(const Transpose *t)
{
    const GatherAttrs *g = t->attrs;
    Type operand = t->types[0];
    ScatterAttrs *s = BUILD_ATTRS(ScatterAttrs, .update_window_dims = g->offset_dims,
                                  .inserted_window_dims = g->collapsed_slice_dims,
                                  .input_batching_dims = g->operand_batching_dims,
                                  .scatter_indices_batching_dims = g->start_indices_batching_dims,
                                  .scatter_dims_to_operand_dims = g->start_index_map,
                                  .index_vector_dim = g->index_vector_dim,
                                  .indices_are_sorted = g->indices_are_sorted);
    tt at = g->drops ? t->x[1]
                     : clamp(t->x[1], g->index_vector_dim, operand, g->slice_sizes.at,
                             g->start_index_map);
    t->out[0] = scatter(so_far(t), at, t->ct[0], s, trace_reducer(OP_ADD, operand.element));
}

void batch_gather(const Batch *b)
{
    const GatherAttrs *g = b->attrs;
    int op = b->mapped[0], at = b->mapped[1];
    GatherAttrs *more =
        BUILD_ATTRS(GatherAttrs, .offset_dims = ints_shifted(g->offset_dims, 1),
                    .collapsed_slice_dims = ints_shifted(g->collapsed_slice_dims, op),
                    .operand_batching_dims = ints_shifted(g->operand_batching_dims, op),
                    .start_indices_batching_dims = ints_shifted(g->start_indices_batching_dims, at),
                    .start_index_map = ints_shifted(g->start_index_map, op),
                    .index_vector_dim = g->index_vector_dim + at, .slice_sizes = g->slice_sizes,
                    .indices_are_sorted = g->indices_are_sorted && !at, .drops = g->drops);
    if (op && at) {
        more->operand_batching_dims = ints_insert(more->operand_batching_dims, 0, 0);
        more->start_indices_batching_dims = ints_insert(more->start_indices_batching_dims, 0, 0);
        more->slice_sizes = ints_insert(g->slice_sizes, 0, 1);
    } else if (op) {
        more->offset_dims = ints_insert(more->offset_dims, 0, 0);
        more->slice_sizes = ints_insert(g->slice_sizes, 0, b->size);
    }
    b->y[0] = build_op(OP_GATHER, 2, b->x, more, batch_result_type(b, 0));
}

/* ---- scatter ---- */

/* What the region of a scatter does with the old value and the new. */
typedef enum Writer { ADDS, REPLACES, REPLACES_ONCE, MULTIPLIES_ONCE, EXTREME, OTHER } Writer;

static Writer writer_of(const Module *m, NodeId n)
{
    const Node *node = node_at(m, n);
    const ScatterAttrs *a = node->attrs;
    const Region *region = region_at(m, node->regions[0]);
    OpId op = region_reducer(m, node->regions[0]);
    if (node->nout != 1)
        return OTHER;
    if (region_return(m, node->regions[0])->in[0] == region->args + 1)
        return a->unique_indices ? REPLACES_ONCE : REPLACES;
    return op == OP_ADD                        ? ADDS
           : op == OP_MUL && a->unique_indices ? MULTIPLIES_ONCE
           : op == OP_MAX || op == OP_MIN      ? EXTREME
                                               : OTHER;
}

/* The window of an update, in the operand's axes. */
static void window_sizes(const ScatterAttrs *a, Type operand, Type updates, int64_t *sizes)
{
    int next = 0;
    for (int i = 0; i < operand.rank; i++) {
        bool is_one =
            ints_find(a->inserted_window_dims, i) >= 0 || ints_find(a->input_batching_dims, i) >= 0;
        sizes[i] = is_one ? 1 : updates.dims[a->update_window_dims.at[next++]];
    }
}

/* Zero where the scatter dropped the update. */
static tt where_written(tt read, const ScatterAttrs *a, tt at, Type operand, const int64_t *sizes)
{
    Ints map = a->scatter_dims_to_operand_dims;
    Type t = type_at(at), updates = type_at(read);
    if (!map.n)
        return read;
    tt most = highest(at, a->index_vector_dim, operand, sizes, map);
    tt is_in =
        build_op(OP_AND, 2,
                 (const tt[]){ build_compare(GE, at, build_zeros(t)), build_compare(LE, at, most) },
                 NULL, type_with(t, I1));
    if (a->index_vector_dim < t.rank)
        is_in = build_reduce(OP_AND, is_in, ints_of(1, &a->index_vector_dim));
    tt everywhere =
        build_broadcast(is_in, updates, ints_except(updates.rank, a->update_window_dims));
    return build_select(everywhere, read, build_zeros(updates));
}

/* The array at the places of the updates; zero where the scatter dropped the update. */
static tt read_back(tt x, const ScatterAttrs *a, tt at, Type updates)
{
    Type t = type_at(x);
    int64_t sizes[MAX_RANK];
    window_sizes(a, t, updates, sizes);
    GatherAttrs *g =
        BUILD_ATTRS(GatherAttrs, .offset_dims = a->update_window_dims,
                    .collapsed_slice_dims = a->inserted_window_dims,
                    .operand_batching_dims = a->input_batching_dims,
                    .start_indices_batching_dims = a->scatter_indices_batching_dims,
                    .start_index_map = a->scatter_dims_to_operand_dims,
                    .index_vector_dim = a->index_vector_dim, .slice_sizes = ints_of(t.rank, sizes));
    tt read = build_op(OP_GATHER, 2, (const tt[]){ x, at }, g, type_with(updates, t.element));
    return where_written(read, a, at, t, sizes);
}

static tt add_at(tt x, const Jvp *j, tt updates)
{
    return scatter(x, j->x[1], updates, j->attrs, trace_reducer(OP_ADD, type_at(x).element));
}

/* Several updates may go to one place: each has a number from 1, and the number that is read back
 * tells which of them stayed. */
static tt replaced(const Jvp *j, tt dx, tt du)
{
    Type t = type_at(j->x[0]), u = type_at(j->x[2]);
    tt number = build_reshape(build_iota(type_with(flat(u), I32), 0), u);
    number = build2(OP_ADD, number, build_number(type_with(u, I32), 1));
    tt last_writer =
        scatter(build_zeros(type_with(t, I32)), j->x[1], number, j->attrs, trace_replacer(I32));
    tt stayed = build_compare(EQ, number, read_back(last_writer, j->attrs, j->x[1], u));
    tt old = build_compare(EQ, last_writer, build_zeros(type_with(t, I32)));
    return add_at(build_select(old, dx, build_zeros(t)), j,
                  build_select(stayed, du, build_zeros(u)));
}

/* Every operand that is equal to the answer gets a share of the cotangent. */
static tt extreme(const Jvp *j, tt dx, tt du)
{
    Element e = type_at(j->y[0]).element;
    tt answer = read_back(j->y[0], j->attrs, j->x[1], type_at(j->x[2]));
    tt old = build_convert(build_compare(EQ, j->x[0], j->y[0]), e);
    tt new = build_convert(build_compare(EQ, j->x[2], answer), e);
    tt sum = add_at(build2(OP_MUL, dx, old), j, build2(OP_MUL, du, new));
    return build2(OP_DIV, sum, add_at(old, j, new));
}

static tt multiplied(const Jvp *j, tt dx, tt du)
{
    Type t = type_at(j->x[0]);
    tt factor = scatter(build_number(t, 1), j->x[1], j->x[2], j->attrs, trace_replacer(t.element));
    return build2(OP_ADD, build2(OP_MUL, dx, factor),
                  build2(OP_MUL, j->x[0], add_at(build_zeros(t), j, du)));
}

void jvp_scatter(const Jvp *j)
{
    Writer writer = writer_of(j->m, j->node);
    if (writer == OTHER) {
        report_broken("not supported: the derivative of a scatter other than by sum, replacement, "
                      "maximum, minimum, or product at unique indices, %s",
                      loc_name(node_at(j->m, j->node)->loc));
        return;
    }
    tt dx = value_or_zeros(j->dx[0], type_at(j->x[0])),
       du = value_or_zeros(j->dx[2], type_at(j->x[2]));
    j->dy[0] = writer == ADDS       ? add_at(dx, j, du)
               : writer == REPLACES ? replaced(j, dx, du)
               : writer == EXTREME  ? extreme(j, dx, du)
               : writer == MULTIPLIES_ONCE
                   ? multiplied(j, dx, du)
                   : scatter(dx, j->x[1], du, j->attrs, trace_replacer(type_at(dx).element));
}

/* Of those that are linear: sums, and replacement at unique indices. */
void transpose_scatter(const Transpose *t)
{
    const ScatterAttrs *a = t->attrs;
    if (t->linear[0])
        t->out[0] = writer_of(t->m, t->node) == ADDS
                        ? t->ct[0]
                        : scatter(t->ct[0], t->x[1], build_zeros(t->types[2]), a,
                                  trace_replacer(t->types[0].element));
    if (t->linear[2])
        t->out[2] = read_back(t->ct[0], a, t->x[1], t->types[2]);
}

void batch_scatter(const Batch *b)
{
    const ScatterAttrs *a = b->attrs;
    int n = b->nout, at = b->mapped[n];
    ScatterAttrs *more = BUILD_ATTRS(
        ScatterAttrs, .update_window_dims = ints_shifted(a->update_window_dims, 1),
        .inserted_window_dims = ints_shifted(a->inserted_window_dims, 1),
        .input_batching_dims = ints_shifted(a->input_batching_dims, 1),
        .scatter_indices_batching_dims = ints_shifted(a->scatter_indices_batching_dims, at),
        .scatter_dims_to_operand_dims = ints_shifted(a->scatter_dims_to_operand_dims, 1),
        .index_vector_dim = a->index_vector_dim + at,
        .indices_are_sorted = a->indices_are_sorted && !at, .unique_indices = a->unique_indices);
    if (at) {
        more->input_batching_dims = ints_insert(more->input_batching_dims, 0, 0);
        more->scatter_indices_batching_dims =
            ints_insert(more->scatter_indices_batching_dims, 0, 0);
    } else {
        more->update_window_dims = ints_insert(more->update_window_dims, 0, 0);
    }
    tt *in = ARENA_ARRAY(trace_arena(), tt, b->nin);
    Type *types = ARENA_ARRAY(trace_arena(), Type, n);
    for (int i = 0; i < b->nin; i++)
        in[i] = i == n ? b->x[i] : batch_operand(b, i);
    for (int i = 0; i < n; i++)
        types[i] = batch_result_type(b, i);
    Graph body = batcher_region(b->batcher, node_at(b->m, b->node)->regions[0]);
    trace_apply_regions("a batch", OP_SCATTER, b->nin, in, more, 1, &body, n, types, b->y);
}
