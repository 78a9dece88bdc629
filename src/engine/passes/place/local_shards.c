/* local_shards.c - what one device can have without a collective.
 *
 * In: a value of the program as read, and a tiling that a user of it needs.  Out: the number of the
 * device's shard in that tiling, if the device has one or can make one alone:
 *
 *     it lies so already                the shard there is
 *     a constant of equal elements      a smaller constant
 *     a broadcast                       a smaller broadcast of a shard of its operand
 *     a function of positions           the same of the shard's positions: a smaller iota and the
 *                                       place where it begins, and what is computed of it
 *     it has more of it than that       a slice at a place that a table gives by partition_id
 *     in parts                          parts of it (in_parts.c)
 */
#include "engine/passes/place/place.h"

#include "base/fail.h"
#include "base/grow.h"

Type local_type(const Placer *z, Type whole, Tiling tiling)
{
    Type local;
    Error *error = tiling_local(z->m->arena, tiling, whole, &local);
    if (error)
        fail("%s", error_text(error));
    return local;
}

void shard_hold(Placer *z, ValueId v, Tiling tiling, ValueId shard)
{
    HEAP_ROOM(z->held, z->nheld, &z->held_room);
    z->held[z->nheld++] = (Held){ v, tiling, shard };
}

ValueId tile_start(Placer *z, Tiling coarse, Tiling fine, int d, int64_t extent)
{
    int64_t *starts = ARENA_ARRAY(z->m->arena, int64_t, z->ndevices);
    int64_t ratio = fine.tiles[d] / coarse.tiles[d];
    for (int i = 0; i < z->ndevices; i++)
        starts[i] = fine.tile_of[i * fine.rank + d] % ratio * extent;
    return ratio == 1 ? build_number(z, 0) : build_own(z, I64, starts);
}

ValueId shard_cut(Placer *z, ValueId from, Tiling has, Tiling want, Type local)
{
    ValueId starts[MAX_RANK];
    for (int d = 0; d < local.rank; d++)
        starts[d] = tile_start(z, has, want, d, local.dims[d]);
    return build_dynamic_slice(z, from, starts, local);
}

/* How the operand of the broadcast that makes v must lie for v to lie so; false: it cannot. */
static bool broadcast_wants(const Placer *z, ValueId v, Tiling want, Tiling *inner)
{
    const Module *m = z->m;
    const Node *node = node_at(m, value_def(m, v));
    Ints dims = ((const BroadcastAttrs *)node->attrs)->broadcast_dimensions;
    Type from = type_of(m, node->in[0]), to = type_of(m, v);
    Pick picks[MAX_RANK] = { 0 };
    for (int d = 0; d < from.rank; d++)
        if (from.dims[d] == to.dims[dims.at[d]])
            picks[d] = (Pick){ &want, (int)dims.at[d], 0 };
    bool dropped;
    *inner = tiling_pick(z->scratch, from, z->ndevices, picks, false, &dropped);
    return !dropped;
}

static bool is_broadcast(const Module *m, ValueId v)
{
    NodeId def = value_def(m, v);
    return def && node_at(m, def)->op == OP_BROADCAST;
}

static bool is_splat(const Module *m, ValueId v)
{
    const Dense *constant = value_constant(m, v);
    return constant && constant->is_splat;
}

/* A flush would give v, but not what only pending operations use. */
static bool is_near(const Placer *z, ValueId v, Tiling want, bool may_flush)
{
    Tiling inner;
    if (is_splat(z->m, v))
        return true;
    if ((z->is_waiting[v] ? may_flush : !z->is_lost[v]) && tiling_refines(want, z->tilings[v]))
        return true;
    return is_broadcast(z->m, v) && broadcast_wants(z, v, want, &inner) &&
           is_near(z, node_at(z->m, value_def(z->m, v))->in[0], inner, false);
}

bool shard_is_near(const Placer *z, ValueId v, Tiling want)
{
    return is_near(z, v, want, z->may_flush);
}

/* Of positions alone: an iota, and an operation element by element on such, on equal elements or on
 * scalars.  All operands have been asked before. */
bool follows_from_positions(const Placer *z, NodeId n)
{
    const Module *m = z->m;
    const Node *node = node_at(m, n);
    if (node->op == OP_IOTA)
        return true;
    bool any = false;
    for (int i = 0; op_info[node->op].kind == KIND_MAP && i < node->nin; i++) {
        ValueId v = node->in[i];
        bool is_scalar = type_of(m, v).rank == 0 || is_splat(m, v) || is_broadcast(m, v);
        if (!z->is_of_positions[v] && !is_scalar)
            return false;
        any |= z->is_of_positions[v];
    }
    return any;
}

/* Counted in integers, so that numbers are rounded once, as in the whole. */
static ValueId iota_shard(Placer *z, const Node *def, Tiling want, Type local)
{
    Module *m = z->m;
    const IotaAttrs *attrs = def->attrs;
    int d = (int)attrs->iota_dimension;
    if (want.tiles[d] == 1)
        return build_node(m, z->to, OP_IOTA, 0, NULL, local, attrs, def->loc);
    Element counter = type_of(m, def->out).dims[d] <= INT32_MAX ? I32 : I64;
    Type counts = { counter, local.rank, local.dims };
    Tiling whole = tiling_replicated(z->scratch, want.rank, z->ndevices);
    ValueId start = tile_start(z, whole, want, d, local.dims[d]);
    start = build_node(m, z->to, OP_CONVERT, 1, &start, type_scalar(counter), NULL, NULL);
    BroadcastAttrs *nowhere = ARENA_NEW(m->arena, BroadcastAttrs);
    *nowhere = (BroadcastAttrs){ 0 };
    ValueId in[] = { build_node(m, z->to, OP_IOTA, 0, NULL, counts, attrs, def->loc),
                     build_node(m, z->to, OP_BROADCAST, 1, &start, counts, nowhere, NULL) };
    ValueId sum = build_node(m, z->to, OP_ADD, 2, in, counts, NULL, def->loc);
    return build_node(m, z->to, OP_CONVERT, 1, &sum, local, NULL, def->loc);
}

static ValueId shard_of_positions(Placer *z, NodeId n, Tiling want, Type local)
{
    Module *m = z->m;
    Node def = *node_at(m, n);
    if (def.op == OP_IOTA)
        return iota_shard(z, &def, want, local);
    ValueId *in = ARENA_ARRAY(m->arena, ValueId, def.nin);
    for (int i = 0; i < def.nin; i++) {
        bool is_scalar = type_of(m, def.in[i]).rank == 0;
        in[i] = shard_of(z, def.in[i],
                         is_scalar ? tiling_replicated(z->scratch, 0, z->ndevices) : want);
        require(in[i] != 0);
    }
    return build_node(m, z->to, def.op, def.nin, in, local, def.attrs, def.loc);
}

/* v is near. */
static ValueId make_shard(Placer *z, ValueId v, Tiling want)
{
    Module *m = z->m;
    Type local = local_type(z, type_of(m, v), want);
    const Node *def = node_at(m, value_def(m, v));
    const void *attrs = def->attrs;
    const Loc *loc = def->loc;
    Tiling inner;
    if (is_splat(m, v))
        return build_constant(m, z->to, (Dense){ local, true, value_constant(m, v)->data }, loc);
    if (is_broadcast(m, v) && broadcast_wants(z, v, want, &inner) &&
        is_near(z, def->in[0], inner, false)) {
        ValueId shard = shard_of(z, def->in[0], inner);
        return build_node(m, z->to, OP_BROADCAST, 1, &shard, local, attrs, loc);
    }
    if (z->is_of_positions[v] && tiling_is_replicated(z->tilings[v]))
        return shard_of_positions(z, value_def(m, v), want, local);
    ValueId tile = z->uses[v] == 1 ? parts_scatter(z, v, z->tilings[v], want) : 0;
    return tile ? tile : shard_cut(z, subst_get(&z->shards, v), z->tilings[v], want, local);
}

ValueId shard_of(Placer *z, ValueId v, Tiling want)
{
    if (!z->is_waiting[v] && !z->is_lost[v] && tiling_equal(z->tilings[v], want))
        return subst_get(&z->shards, v);
    for (int i = z->nheld - 1; i >= 0; i--)
        if (z->held[i].whole == v && z->held[i].shard && tiling_equal(z->held[i].tiling, want))
            return z->held[i].shard;
    ValueId shard = 0;
    if (want.nparts) {
        shard = parts_of(z, v, want);
    } else if (shard_is_near(z, v, want)) {
        shard = make_shard(z, v, want);
    }
    if (shard)
        shard_hold(z, v, want, shard);
    return shard;
}

/* ---- operations on shards ---- */

/* The sizes of slices follow the shards where they span the whole. */
static Ints local_sizes(const Placer *z, Ints sizes, Type whole, Type local)
{
    int64_t now[MAX_RANK];
    for (int d = 0; d < whole.rank; d++)
        now[d] = sizes.at[d] == whole.dims[d] ? local.dims[d] : sizes.at[d];
    return ints_copy(z->m->arena, whole.rank, now);
}

static const void *local_attrs(const Placer *z, const Node *node, Type whole, Type local)
{
    Arena *arena = z->m->arena;
    if (node->op == OP_SLICE) {
        SliceAttrs *slice = arena_copy(arena, node->attrs, sizeof *slice);
        slice->limit_indices = local_sizes(z, slice->limit_indices, whole, local);
        return slice;
    }
    if (node->op == OP_DYNAMIC_SLICE) {
        DynamicSliceAttrs *slice = arena_copy(arena, node->attrs, sizeof *slice);
        slice->slice_sizes = local_sizes(z, slice->slice_sizes, whole, local);
        return slice;
    }
    if (node->op == OP_GATHER) {
        GatherAttrs *gather = arena_copy(arena, node->attrs, sizeof *gather);
        gather->slice_sizes = local_sizes(z, gather->slice_sizes, whole, local);
        return gather;
    }
    return node->attrs;
}

void place_on_shards(Placer *z, NodeId n, const Placement *p)
{
    Module *m = z->m;
    if (p->place) {
        p->place(z, n, p);
        return;
    }
    Node node = *node_at(m, n);
    ValueId *in = ARENA_ARRAY(m->arena, ValueId, node.nin + 1);
    for (int i = 0; i < node.nin; i++) {
        in[i] = shard_of(z, node.in[i], p->wants[i]);
        require(in[i] != 0);
    }
    Type *types = ARENA_ARRAY(m->arena, Type, node.nout + 1);
    for (int i = 0; i < node.nout; i++)
        types[i] = local_type(z, type_of(m, node.out + (uint32_t)i), p->results[i]);
    RegionId *regions = ARENA_ARRAY(m->arena, RegionId, node.nregions + 1);
    for (int i = 0; i < node.nregions; i++)
        regions[i] = region_copy(m, node.regions[i], 0, &z->shards);
    const void *attrs = node.attrs;
    if (node.nin)
        attrs = local_attrs(z, &node, type_of(m, node.in[0]), type_of(m, in[0]));
    if (is_gather_by_part(&node, p->wants[0])) {
        subst_set(&z->shards, node.out, gather_part(z, &node, types[0], in, p->wants[0], attrs));
        return;
    }
    if (node.op == OP_SCATTER)
        in[node.nout] = scatter_indices(z, &node, in[node.nout], type_of(m, in[0]), p->wants[0]);
    NodeId copy = node_new(m, node.op, node.nin, in, node.nout, types, node.nregions, regions,
                           attrs, node.loc);
    if (node.op == OP_CUSTOM_CALL)
        node_at(m, copy)->extra = node.extra; /* its options may be there */
    region_append(m, z->to, copy);
    for (int i = 0; i < node.nout; i++)
        subst_set(&z->shards, node.out + (uint32_t)i, node_at(m, copy)->out + (uint32_t)i);
}
