/* nested_manual.c - manual computations inside manual computations.
 *
 * In goes the program of one device in which such nodes are left: what the outer one's body
 * has as whole, the inner one cuts further, over mesh axes of its own.  All devices along
 * those axes have the same, so that
 *
 *   manual_computation(x) in [{}, {"b"}] out [{}, {"b"}] { f }
 *
 *   becomes   p = dynamic_slice x at this device's place along "b"
 *             q = f(p)
 *             y = all_gather q among devices that differ in "b" alone
 */
#include "engine/passes/place/place.h"

#include <stdlib.h>
#include <string.h>

static bool uses_axis(DimSharding dim, int axis)
{
    for (int i = 0; i < dim.naxes; i++)
        if (dim.axes[i].axis == axis)
            return true;
    return false;
}

/* Do mesh positions p and q differ in axes of `dim` alone? */
static bool is_one_group(const Mesh *mesh, DimSharding dim, int64_t p, int64_t q)
{
    for (int axis = mesh->naxes - 1; axis >= 0; axis--) {
        if (p % mesh->sizes[axis] != q % mesh->sizes[axis] && !uses_axis(dim, axis))
            return false;
        p /= mesh->sizes[axis];
        q /= mesh->sizes[axis];
    }
    return true;
}

static int64_t device_at(const Mesh *mesh, int64_t p)
{
    return mesh->device_ids.n ? mesh->device_ids.at[p] : p;
}

/* Devices that together have dimension d of an array lying as `s`, each group in the order of
 * its tiles. */
static Matrix gather_groups(const Placer *z, const Sharding *s, Tiling t, int d)
{
    int ntiles = (int)t.tiles[d], nrows = z->ndevices / ntiles, used = 0;
    int64_t *at = ARENA_ARRAY(z->m->arena, int64_t, z->ndevices);
    int64_t *first = ARENA_ARRAY(z->m->arena, int64_t, nrows + 1); /* a position of each row */
    for (int64_t p = 0; p < z->ndevices; p++) {
        int row = 0;
        while (row < used && !is_one_group(s->mesh, s->dims[d], first[row], p))
            row++;
        if (row == used)
            first[used++] = p;
        int64_t device = device_at(s->mesh, p);
        at[row * ntiles + t.tile_of[device * t.rank + d]] = device;
    }
    return (Matrix){ nrows, ntiles, at };
}

/* Parts of an axis would leave devices that differ in the other part. */
static bool takes_whole_axes(const Sharding *s)
{
    for (int d = 0; d < s->rank; d++)
        for (int i = 0; i < s->dims[d].naxes; i++)
            if (s->dims[d].axes[i].size != s->mesh->sizes[s->dims[d].axes[i].axis])
                return false;
    return true;
}

/* The whole of what each device has a shard of, dimension by dimension. */
static ValueId gather(Placer *z, ValueId shard, const Sharding *s, Tiling t, const Loc *loc)
{
    Module *m = z->m;
    for (int d = 0; d < t.rank; d++) {
        if (t.tiles[d] == 1)
            continue;
        int64_t dims[MAX_RANK];
        Type type = type_of(m, shard);
        memcpy(dims, type.dims, sizeof *dims * (size_t)type.rank);
        dims[d] *= t.tiles[d];
        AllGatherAttrs *attrs = ARENA_NEW(m->arena, AllGatherAttrs);
        attrs->replica_groups = groups_in_replicas(z, gather_groups(z, s, t, d));
        attrs->channel_id = 1;
        attrs->use_global_device_ids = true;
        attrs->all_gather_dim = d;
        shard = build_node(m, z->to, OP_ALL_GATHER, 1, &shard,
                           type_new(m->arena, type.element, type.rank, dims), attrs, loc);
    }
    return shard;
}

static MUST_USE Error *open_manual(Placer *z, NodeId n)
{
    Module *m = z->m;
    Node node = *node_at(m, n);
    const ManualAttrs *attrs = node.attrs;
    RegionId body = node.regions[0];
    Tiling t;
    for (int i = 0; i < node.nin; i++) {
        TRY(manual_tiling(z, &node, true, i, &t));
        ValueId arg = region_at(m, body)->args + (uint32_t)i, shard = node.in[i];
        Tiling whole = tiling_replicated(m->arena, t.rank, z->ndevices);
        if (!tiling_is_replicated(tiling_summed(t)))
            shard = shard_cut(z, shard, whole, t, type_of(m, arg));
        subst_set(&z->shards, arg, parts_split(z, shard, t));
    }
    region_copy_into(m, body, z->to, &z->shards);
    for (int i = 0; i < node.nout; i++) {
        TRY(manual_tiling(z, &node, false, i, &t));
        const Sharding *s = manual_part(m->arena, attrs->out_shardings.at[i], attrs->manual_axes);
        if (!takes_whole_axes(s))
            return error_new(CODE_UNIMPLEMENTED,
                             "not supported: a part of a mesh axis in a manual computation inside "
                             "another, at %s",
                             loc_name(node.loc));
        ValueId shard = subst_get(&z->shards, region_return(m, body)->in[i]);
        shard = parts_sum(z, shard, t, node.loc);
        subst_set(&z->shards, node.out + (uint32_t)i, gather(z, shard, s, t, node.loc));
    }
    return NULL;
}

Error *open_nested(Placer *z, RegionId r)
{
    Module *m = z->m;
    int n;
    NodeId *old = region_take_nodes(m, r, &n);
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < node_at(m, old[i])->nin; k++)
            node_at(m, old[i])->in[k] = subst_get(&z->shards, node_at(m, old[i])->in[k]);
        for (int k = 0; k < node_at(m, old[i])->nregions; k++)
            TRY(open_nested(z, node_at(m, old[i])->regions[k]));
        z->to = r;
        if (node_at(m, old[i])->op == OP_MANUAL)
            TRY(open_manual(z, old[i]));
        else
            region_append(m, r, old[i]);
    }
    return NULL;
}
