/* running_sums.c - running sums along a dimension that is cut: cumsum, cumprod, cummax and their like.
 *
 *     x [8] in 4 pieces        a b | c d | e f | g h
 *     the sum of each          ab    cd    ef    gh       gathered: one element of each piece
 *     those before a piece     -     ab    abcd  abcdef
 *     running sums of          a b | ab c d | abcd e f | abcdef g h
 *
 * A piece begins with the sum of those before it, which is dropped from the result. */
#include "engine/kernels/query.h"
#include "engine/passes/place/place.h"

typedef struct Running {
    Node node;
    Tiling tiling;
    int dim;
    bool is_backwards; /* sums begin at the end of the array */
    ValueId init;
} Running;

static Type with_extent(const Placer *z, Type t, int dim, int64_t extent)
{
    int64_t dims[MAX_RANK];
    for (int d = 0; d < t.rank; d++)
        dims[d] = d == dim ? extent : t.dims[d];
    return type_new(z->m->arena, t.element, t.rank, dims);
}

/* All along the dimension, combined to one element. */
static ValueId sum_along(Placer *z, const Running *s, ValueId v)
{
    Module *m = z->m;
    Type t = type_of(m, v);
    int64_t dims[MAX_RANK], dim = s->dim;
    for (int d = 0; d + 1 < t.rank; d++)
        dims[d] = t.dims[d + (d >= dim)];
    Type less = type_new(m->arena, t.element, t.rank - 1, dims);
    DimensionsAttrs *attrs = ARENA_NEW(m->arena, DimensionsAttrs);
    attrs->dimensions = ints_copy(m->arena, 1, &dim);
    RegionId region = region_copy(m, s->node.regions[0], 0, &z->shards);
    ValueId in[] = { v, s->init };
    NodeId n = node_new(m, OP_REDUCE, 2, in, 1, &less, 1, &region, attrs, s->node.loc);
    region_append(m, z->to, n);
    return build_reshape(z, node_at(m, n)->out, with_extent(z, t, s->dim, 1));
}

/* Of the pieces' sums, those that come before the device's own; the initial value for the others. */
static ValueId keep_earlier(Placer *z, const Running *s, ValueId sums)
{
    Type t = type_of(z->m, sums), places = t;
    places.element = I64;
    BroadcastAttrs *nowhere = ARENA_NEW(z->m->arena, BroadcastAttrs);
    *nowhere = (BroadcastAttrs){ 0 };
    IotaAttrs *iota = ARENA_NEW(z->m->arena, IotaAttrs);
    iota->iota_dimension = s->dim;
    Tiling whole = tiling_replicated(z->scratch, t.rank, z->ndevices);
    ValueId own = tile_start(z, whole, s->tiling, s->dim, 1);
    own = build_node(z->m, z->to, OP_BROADCAST, 1, &own, places, nowhere, NULL);
    ValueId place = build_node(z->m, z->to, OP_IOTA, 0, NULL, places, iota, NULL);
    ValueId is_earlier = build_compare(z, place, own, s->is_backwards ? GT : LT);
    ValueId none = build_node(z->m, z->to, OP_BROADCAST, 1, &s->init, t, nowhere, NULL);
    return build_select(z, is_earlier, sums, none);
}

static ValueId concatenate(Placer *z, int dim, ValueId a, ValueId b)
{
    Type t = type_of(z->m, a);
    DimensionAttrs *attrs = ARENA_NEW(z->m->arena, DimensionAttrs);
    attrs->dimension = dim;
    ValueId in[] = { a, b };
    t = with_extent(z, t, dim, t.dims[dim] + type_of(z->m, b).dims[dim]);
    return build_node(z->m, z->to, OP_CONCATENATE, 2, in, t, attrs, NULL);
}

/* The running sums of what one device has. */
static ValueId run_along(Placer *z, const Running *s, ValueId v)
{
    Module *m = z->m;
    Type t = type_of(m, v);
    int64_t extent = t.dims[s->dim], sizes[MAX_RANK];
    int64_t *padding = ARENA_ARRAY(m->arena, int64_t, 2 * t.rank);
    for (int d = 0; d < t.rank; d++)
        sizes[d] = d == s->dim ? extent : 1;
    padding[2 * s->dim + s->is_backwards] = extent - 1;
    WindowAttrs *attrs = arena_copy(m->arena, s->node.attrs, sizeof *attrs);
    attrs->window_dimensions = ints_copy(m->arena, t.rank, sizes);
    attrs->padding = (Matrix){ t.rank, 2, padding };
    RegionId region = region_copy(m, s->node.regions[0], 0, &z->shards);
    ValueId in[] = { v, s->init };
    NodeId n = node_new(m, OP_REDUCE_WINDOW, 2, in, 1, &t, 1, &region, attrs, s->node.loc);
    region_append(m, z->to, n);
    return node_at(m, n)->out;
}

/* What is left without the element that stands for the pieces before. */
static ValueId drop_earlier(Placer *z, const Running *s, ValueId v, Type piece)
{
    Arena *arena = z->m->arena;
    SliceAttrs *attrs = ARENA_NEW(arena, SliceAttrs);
    int64_t from[MAX_RANK] = { 0 }, to[MAX_RANK], strides[MAX_RANK];
    for (int d = 0; d < piece.rank; d++) {
        from[d] = d == s->dim && !s->is_backwards;
        to[d] = from[d] + piece.dims[d];
        strides[d] = 1;
    }
    attrs->start_indices = ints_copy(arena, piece.rank, from);
    attrs->limit_indices = ints_copy(arena, piece.rank, to);
    attrs->strides = ints_copy(arena, piece.rank, strides);
    return build_node(z->m, z->to, OP_SLICE, 1, &v, piece, attrs, NULL);
}

static void place_running(Placer *z, NodeId n, const Placement *p)
{
    Running s = { .node = *node_at(z->m, n), .tiling = p->results[0] };
    s.dim = scan_dimension(z->m, n, &s.is_backwards);
    ValueId own = shard_move(z, s.node.in[0], s.tiling);
    s.init = shard_move(z, s.node.in[1], p->wants[1]);
    ValueId sums = gather_along(z, sum_along(z, &s, own), s.tiling, s.dim, s.node.loc);
    ValueId earlier = sum_along(z, &s, keep_earlier(z, &s, sums));
    ValueId all =
        s.is_backwards ? concatenate(z, s.dim, own, earlier) : concatenate(z, s.dim, earlier, own);
    Type piece = type_of(z->m, own);
    subst_set(&z->shards, s.node.out, drop_earlier(z, &s, run_along(z, &s, all), piece));
}

bool infer_running(Placer *z, NodeId n, Placement *p)
{
    const Node *node = node_at(z->m, n);
    bool is_backwards;
    int dim = node->op == OP_REDUCE_WINDOW ? scan_dimension(z->m, n, &is_backwards) : -1;
    if (dim < 0 || z->tilings[node->in[0]].tiles[dim] == 1)
        return false;
    *p = (Placement){ .results = ARENA_ARRAY(z->scratch, Tiling, 1),
                      .wants = ARENA_ARRAY(z->scratch, Tiling, 2),
                      .is_piecewise = true,
                      .place = place_running };
    p->results[0] = p->wants[0] = z->tilings[node->in[0]];
    p->wants[1] = tiling_replicated(z->scratch, 0, z->ndevices);
    return true;
}
