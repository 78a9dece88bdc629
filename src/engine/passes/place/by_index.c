/* by_index.c - gather and scatter on an operand that is cut along a dimension that indices choose from.
 *
 *     x [8] in 4 pieces, gathered at 5 and 2         on device 2, which has x[4:6]
 *     x[5], x[2]                                     indices - 4:   1, -2
 *                                                    is it here?    yes, no
 *                                                    its part:      x[5], 0
 *
 * Indices become those in the device's own piece.  A scatter drops what falls outside by itself; of a
 * gather, what others have is made the neutral element of a sum (-0 for floats), which the devices
 * then add up. */
#include "engine/passes/place/place.h"

#include <string.h>

/* A number for each component of an index, in the shape of all indices. */
typedef struct Components {
    Ints map;    /* the operand's dimension that a component means */
    Ints single; /* dimensions of which it chooses one element; others are taken in full */
    int64_t
        vector; /* where it lies among the dimensions of the indices; their rank: one component */
    Type type;  /* of the indices */
} Components;

static ValueId spread(Placer *z, ValueId row, const Components *c)
{
    Module *m = z->m;
    bool is_scalar = c->vector == c->type.rank;
    Type scalar = type_scalar(c->type.element);
    BroadcastAttrs *attrs = ARENA_NEW(m->arena, BroadcastAttrs);
    *attrs = (BroadcastAttrs){ .broadcast_dimensions =
                                   is_scalar ? (Ints){ 0 } : ints_copy(m->arena, 1, &c->vector) };
    if (is_scalar)
        row = build_node(m, z->to, OP_RESHAPE, 1, &row, scalar, NULL, NULL);
    return build_node(m, z->to, OP_BROADCAST, 1, &row, c->type, attrs, NULL);
}

/* at: a row of `n` numbers for each device, or one for all. */
static ValueId spread_numbers(Placer *z, const int64_t *at, bool is_by_device, const Components *c)
{
    Module *m = z->m;
    int64_t n = c->map.n, dims[] = { z->ndevices, n }, one[] = { 1, n };
    Dense all = { is_by_device ? type_new(m->arena, I64, 2, dims) : type_new(m->arena, I64, 1, &n),
                  false, at };
    ValueId row = build_constant(m, z->to, all, NULL);
    Type local = type_new(m->arena, I64, 1, &n);
    if (is_by_device) {
        static const int64_t zero;
        ValueId in[] = {
            row, build_node(m, z->to, OP_PARTITION_ID, 0, NULL, type_scalar(U32), NULL, NULL), 0
        };
        in[1] = build_node(m, z->to, OP_CONVERT, 1, &in[1], type_scalar(I64), NULL, NULL);
        in[2] = build_splat(z, type_scalar(I64), &zero);
        DynamicSliceAttrs *attrs = ARENA_NEW(m->arena, DynamicSliceAttrs);
        attrs->slice_sizes = ints_copy(m->arena, 2, one);
        row = build_node(m, z->to, OP_DYNAMIC_SLICE, 3, in, type_new(m->arena, I64, 2, one), attrs,
                         NULL);
        row = build_node(m, z->to, OP_RESHAPE, 1, &row, local, NULL, NULL);
    }
    local.element = c->type.element;
    row = build_node(m, z->to, OP_CONVERT, 1, &row, local, NULL, NULL);
    return spread(z, row, c);
}

/* Does component i choose from a dimension that is cut? */
static bool is_choice(const Components *c, int i, Tiling t)
{
    return t.tiles[c->map.at[i]] != 1 && ints_find(c->single, c->map.at[i]) >= 0;
}

static bool is_cut_by_index(const Components *c, Tiling t)
{
    for (int i = 0; i < c->map.n; i++)
        if (is_choice(c, i, t))
            return true;
    return false;
}

/* Where the device's piece begins, for each component. */
static ValueId piece_starts(Placer *z, const Components *c, Tiling t, Type piece)
{
    int64_t *at = ARENA_ARRAY(z->m->arena, int64_t, z->ndevices * c->map.n + 1);
    for (int k = 0; k < z->ndevices; k++)
        for (int i = 0; i < c->map.n; i++) {
            int d = (int)c->map.at[i];
            at[k * c->map.n + i] =
                is_choice(c, i, t) ? t.tile_of[k * t.rank + d] * piece.dims[d] : 0;
        }
    return spread_numbers(z, at, true, c);
}

/* The indices in numbers wide enough for every place of the operand. */
static ValueId widened(Placer *z, ValueId indices, Components *c)
{
    indices = build_wide(z, indices);
    c->type = type_of(z->m, indices);
    return indices;
}

/* ---- gather ---- */

/* For each index: is what it means in this device's piece?  Components that choose from what is not
 * cut always are. */
static ValueId is_here(Placer *z, const Components *c, ValueId local, Tiling t, Type piece)
{
    Module *m = z->m;
    int64_t *low = ARENA_ARRAY(m->arena, int64_t, c->map.n + 1);
    int64_t *high = ARENA_ARRAY(m->arena, int64_t, c->map.n + 1);
    for (int i = 0; i < c->map.n; i++) {
        bool is_cut = is_choice(c, i, t);
        low[i] = is_cut ? 0 : INT64_MIN;
        high[i] = is_cut ? piece.dims[c->map.at[i]] - 1 : INT64_MAX;
    }
    ValueId here =
        build_two(z, OP_AND, build_compare(z, local, spread_numbers(z, low, false, c), GE),
                  build_compare(z, local, spread_numbers(z, high, false, c), LE));
    if (c->vector == c->type.rank)
        return here;
    static const char yes = 1;
    int64_t dims[MAX_RANK];
    int rank = 0;
    for (int d = 0; d < c->type.rank; d++)
        if (d != c->vector)
            dims[rank++] = c->type.dims[d];
    Type each = type_new(m->arena, I1, rank, dims);
    ValueId in[] = { here, build_splat(z, type_scalar(I1), &yes) };
    DimensionsAttrs *attrs = ARENA_NEW(m->arena, DimensionsAttrs);
    attrs->dimensions = ints_copy(m->arena, 1, &c->vector);
    RegionId all = build_reducer(m, OP_AND, I1, NULL);
    NodeId n = node_new(m, OP_REDUCE, 2, in, 1, &each, 1, &all, attrs, NULL);
    region_append(m, z->to, n);
    return node_at(m, n)->out;
}

/* Indices within the whole operand, as a gather reads them. */
static ValueId clamped(Placer *z, const Components *c, ValueId indices, Type whole, Ints sizes)
{
    Module *m = z->m;
    int64_t *low = ARENA_ARRAY(m->arena, int64_t, c->map.n + 1);
    int64_t *high = ARENA_ARRAY(m->arena, int64_t, c->map.n + 1);
    for (int i = 0; i < c->map.n; i++) {
        int d = (int)c->map.at[i];
        low[i] = 0;
        high[i] = whole.dims[d] - sizes.at[d];
    }
    ValueId in[] = { spread_numbers(z, low, false, c), indices, spread_numbers(z, high, false, c) };
    return build_node(m, z->to, OP_CLAMP, 3, in, c->type, NULL, NULL);
}

/* What `here` says of each index, for all that is gathered by it. */
static ValueId spread_over_windows(Placer *z, ValueId here, Type result, Ints offset_dims)
{
    int64_t dims[MAX_RANK];
    int n = 0;
    for (int d = 0; d < result.rank; d++)
        if (ints_find(offset_dims, d) < 0)
            dims[n++] = d;
    result.element = I1;
    BroadcastAttrs *attrs = ARENA_NEW(z->m->arena, BroadcastAttrs);
    attrs->broadcast_dimensions = ints_copy(z->m->arena, n, dims);
    return build_node(z->m, z->to, OP_BROADCAST, 1, &here, result, attrs, NULL);
}

bool is_gather_by_part(const Node *node, Tiling operand)
{
    const GatherAttrs *g = node->attrs;
    if (node->op != OP_GATHER)
        return false;
    Components c = { .map = g->start_index_map, .single = g->collapsed_slice_dims };
    return is_cut_by_index(&c, operand);
}

ValueId gather_part(Placer *z, const Node *node, Type result, ValueId *in, Tiling operand,
                    const void *local_attrs)
{
    const GatherAttrs *g = node->attrs;
    Components c = { g->start_index_map, g->collapsed_slice_dims, g->index_vector_dim, { 0 } };
    Type whole = type_of(z->m, node->in[0]), piece = type_of(z->m, in[0]);
    ValueId indices = clamped(z, &c, widened(z, in[1], &c), whole, g->slice_sizes);
    ValueId local = build_two(z, OP_SUB, indices, piece_starts(z, &c, operand, piece));
    ValueId here = is_here(z, &c, local, operand, piece);
    ValueId at[] = { in[0], local };
    ValueId got = build_node(z->m, z->to, OP_GATHER, 2, at, result, local_attrs, node->loc);
    ValueId choice[] = { spread_over_windows(z, here, result, g->offset_dims), got,
                         build_neutral(z, result) };
    return build_node(z->m, z->to, OP_SELECT, 3, choice, result, NULL, node->loc);
}

/* ---- scatter ---- */

ValueId scatter_indices(Placer *z, const Node *node, ValueId indices, Type piece, Tiling operand)
{
    const ScatterAttrs *s = node->attrs;
    Components c = {
        s->scatter_dims_to_operand_dims, s->inserted_window_dims, s->index_vector_dim, { 0 }
    };
    if (!is_cut_by_index(&c, operand))
        return indices;
    indices = widened(z, indices, &c);
    return build_two(z, OP_SUB, indices, piece_starts(z, &c, operand, piece));
}
