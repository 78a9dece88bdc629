/* index.c - reading and writing at places that are found at run time.
 *
 *     dynamic_slice, gather          read:  backwards, what came from a place is added there
 *     dynamic_update_slice, scatter  write: backwards, read what was written
 *
 * Reading moves a window that would stand out of the array back into it; writing by scatter drops
 * it.  So where one is made of the other, positions are clamped, or what was dropped is zero. */
#include "front/batch.h"
#include "front/jvp.h"
#include "front/say.h"
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
    return build(OP_CLAMP, 3, in, NULL, t);
}

/* Scalars side by side along a last axis: one position.  Those mapped have a batch axis. */
static tt position(const Batch *b, int first)
{
    int n = b->nin - first;
    tt parts[MAX_RANK];
    for (int i = 0; i < n; i++) {
        Type t = type_with(b->types[first + i], b->types[first].element);
        parts[i] =
            build_reshape(batched(b, first + i), type_insert(type_insert(t, 0, 1), 0, b->size));
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

void transpose_dynamic_slice(const Transpose *t)
{
    tt *in = ARENA_ARRAY(trace_arena(), tt, t->nin + 1);
    in[0] = build_zeros(t->types[0]);
    in[1] = t->ct[0];
    for (int i = 1; i < t->nin; i++)
        in[i + 1] = t->x[i];
    t->out[0] = build(OP_DYNAMIC_UPDATE, t->nin + 1, in, NULL, t->types[0]);
}

void jvp_update(const Jvp *j)
{
    tt *in = ARENA_ARRAY(trace_arena(), tt, j->nin);
    for (int i = 0; i < j->nin; i++)
        in[i] = i < 2 ? with_zeros(j->dx[i], type_at(j->x[i])) : j->x[i];
    j->dy[0] = build(j->op, j->nin, in, j->attrs, type_at(j->y[0]));
}

void transpose_update(const Transpose *t)
{
    tt *in = ARENA_ARRAY(trace_arena(), tt, t->nin);
    in[0] = t->ct[0];
    for (int i = 2; i < t->nin; i++)
        in[i] = t->x[i];
    if (t->linear[0]) {
        in[1] = build_zeros(t->types[1]);
        t->out[0] = build(OP_DYNAMIC_UPDATE, t->nin, in, NULL, t->types[0]);
    }
    if (t->linear[1]) {
        memmove(in + 1, in + 2, sizeof *in * (size_t)(t->nin - 2));
        Ints sizes = ints_of(t->types[1].rank, t->types[1].dims);
        t->out[1] = build(OP_DYNAMIC_SLICE, t->nin - 1, in,
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
    return build(OP_GATHER, 2, (const tt[]){ b->x[0], position(b, 1) }, g, batched_type(b, 0));
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
    b->y[0] = build(OP_DYNAMIC_SLICE, b->nin + 1, in,
                    BUILD_ATTRS(DynamicSliceAttrs, .slice_sizes = ints_insert(sizes, 0, b->size)),
                    batched_type(b, 0));
}

/* (old, new) -> new */
static Graph replacer(Element e)
{
    static const NoAttrs none;
    static const bool strong[1];
    Module *m = session->m;
    Type scalar = type_scalar(e);
    RegionId r = region_new(m, 0, 2, (const Type[]){ scalar, scalar });
    ValueId second = region_at(m, r)->args + 1;
    region_append(m, r, node_new(m, OP_RETURN, 1, &second, 0, NULL, 0, NULL, &none, &loc_unknown));
    return (Graph){ m, r, 2, 1, strong };
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
    return scatter(batched(b, 0), at, batched(b, 1), s, replacer(whole.element));
}

void batch_update(const Batch *b)
{
    if (any_mapped(b, 2)) {
        b->y[0] = update_rows(b);
        return;
    }
    tt *in = ARENA_ARRAY(trace_arena(), tt, b->nin + 1);
    in[0] = batched(b, 0);
    in[1] = batched(b, 1);
    in[2] = build_zeros(b->nin > 2 ? b->types[2] : type_scalar(I32));
    for (int i = 2; i < b->nin; i++)
        in[i + 1] = b->x[i];
    b->y[0] = build(OP_DYNAMIC_UPDATE, b->nin + 1, in, NULL, batched_type(b, 0));
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
    tt at = clamp(t->x[1], g->index_vector_dim, operand, g->slice_sizes.at, g->start_index_map);
    t->out[0] =
        scatter(build_zeros(operand), at, t->ct[0], s, trace_reducer(OP_ADD, operand.element));
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
                    .indices_are_sorted = g->indices_are_sorted && !at);
    if (op && at) {
        more->operand_batching_dims = ints_insert(more->operand_batching_dims, 0, 0);
        more->start_indices_batching_dims = ints_insert(more->start_indices_batching_dims, 0, 0);
        more->slice_sizes = ints_insert(g->slice_sizes, 0, 1);
    } else if (op) {
        more->offset_dims = ints_insert(more->offset_dims, 0, 0);
        more->slice_sizes = ints_insert(g->slice_sizes, 0, b->size);
    }
    b->y[0] = build(OP_GATHER, 2, b->x, more, batched_type(b, 0));
}

/* ---- scatter ---- */

/* ADD: sums.  OP_COUNT with is_replacing: the new value stands.  Else: not one of ours. */
static OpId writer_of(const Module *m, NodeId n, bool *is_replacing)
{
    const Node *node = node_at(m, n);
    if (node->nout != 1)
        return OP_COUNT;
    const Region *region = region_at(m, node->regions[0]);
    *is_replacing = region_return(m, node->regions[0])->in[0] == region->args + 1;
    return region_reducer(m, node->regions[0]);
}

static bool is_linear_scatter(const Module *m, NodeId n, const ScatterAttrs *a, bool *is_adding)
{
    bool is_replacing = false;
    *is_adding = writer_of(m, n, &is_replacing) == OP_ADD;
    if (*is_adding || (is_replacing && a->unique_indices))
        return true;
    say_broken("not supported: the derivative of a scatter other than by sum, or by replacement at "
               "unique indices, %s",
               loc_name(node_at(m, n)->loc));
    return false;
}

void jvp_scatter(const Jvp *j)
{
    bool is_adding;
    if (!is_linear_scatter(j->m, j->node, j->attrs, &is_adding))
        return;
    Element e = type_at(j->y[0]).element;
    j->dy[0] = scatter(with_zeros(j->dx[0], type_at(j->x[0])), j->x[1],
                       with_zeros(j->dx[2], type_at(j->x[2])), j->attrs,
                       is_adding ? trace_reducer(OP_ADD, e) : replacer(e));
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
        build(OP_AND, 2,
              (const tt[]){ build_compare(GE, at, build_zeros(t)), build_compare(LE, at, most) },
              NULL, type_with(t, I1));
    if (a->index_vector_dim < t.rank)
        is_in = build_reduce(OP_AND, is_in, ints_of(1, &a->index_vector_dim));
    tt everywhere =
        build_broadcast(is_in, updates, ints_except(updates.rank, a->update_window_dims));
    return build_select(everywhere, read, build_zeros(updates));
}

void transpose_scatter(const Transpose *t)
{
    const ScatterAttrs *a = t->attrs;
    bool is_adding;
    int64_t sizes[MAX_RANK];
    if (!is_linear_scatter(t->m, t->node, a, &is_adding))
        return;
    window_sizes(a, t->types[0], t->types[2], sizes);
    if (t->linear[0])
        t->out[0] = is_adding ? t->ct[0]
                              : scatter(t->ct[0], t->x[1], build_zeros(t->types[2]), a,
                                        replacer(t->types[0].element));
    if (!t->linear[2])
        return;
    GatherAttrs *g = BUILD_ATTRS(GatherAttrs, .offset_dims = a->update_window_dims,
                                 .collapsed_slice_dims = a->inserted_window_dims,
                                 .operand_batching_dims = a->input_batching_dims,
                                 .start_indices_batching_dims = a->scatter_indices_batching_dims,
                                 .start_index_map = a->scatter_dims_to_operand_dims,
                                 .index_vector_dim = a->index_vector_dim,
                                 .slice_sizes = ints_of(t->types[0].rank, sizes));
    tt read = build(OP_GATHER, 2, (const tt[]){ t->ct[0], t->x[1] }, g, t->types[2]);
    t->out[2] = where_written(read, a, t->x[1], t->types[0], sizes);
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
        in[i] = i == n ? b->x[i] : batched(b, i);
    for (int i = 0; i < n; i++)
        types[i] = batched_type(b, i);
    Graph body = batcher_region(b->batcher, node_at(b->m, b->node)->regions[0]);
    trace_apply_regions("a batch", OP_SCATTER, b->nin, in, more, 1, &body, n, types, b->y);
}
