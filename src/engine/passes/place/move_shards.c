/* move_shards.c - what a device needs of an array beyond its own shard.
 *
 * In: a device's shard, how the array lies, and which box of the array each device is to have.  Out: a
 * collective among the devices that have something for one another:
 *
 *     [4,8] cut along 0, wanted whole        all_gather
 *     all else                               tutti.retile: cut along 1, with neighbours, in other places
 *
 * A device takes a tile from itself, if it has it, else from the device whose number differs from its
 * own in the lowest places: on a mesh whose axes are powers of two, that is a neighbour along the axes
 * that cut, so that devices along the others form groups of their own. */
#include "engine/passes/place/place.h"

#include <string.h>

/* The boxes that partitions take from the tiles of an array. */
typedef struct Boxes {
    int ndevices;
    Tiling has;
    Type tile, box;
    const int64_t *starts;
} Boxes;

static bool holds(const Boxes *b, int device, int by, int64_t *dims)
{
    const int64_t *tile = b->has.tile_of + (int64_t)device * b->has.rank;
    for (int d = 0; d < b->has.rank; d++) {
        int64_t begin = tile[d] * b->tile.dims[d], start = b->starts[by * b->has.rank + d];
        if (begin + b->tile.dims[d] <= start || start + b->box.dims[d] <= begin)
            return false;
        dims[d] = tile[d];
    }
    return true;
}

/* Of the devices that hold the same tile as `device`: the one that `by` takes it from. */
static int nearest(const Boxes *b, int device, int by)
{
    int best = device;
    for (int q = 0; q < b->ndevices; q++)
        if ((q ^ by) < (best ^ by) && is_same_tile(b->has, device, q))
            best = q;
    return best;
}

static int root_of(const int *parent, int d)
{
    while (parent[d] != d)
        d = parent[d];
    return d;
}

/* Devices that take something from one another are a group; one for all, if groups differ in size. */
static Matrix groups_of_boxes(const Placer *z, const Boxes *b)
{
    int n = b->ndevices, *parent = ARENA_ARRAY(z->scratch, int, n);
    int64_t dims[MAX_RANK], *at = ARENA_ARRAY(z->m->arena, int64_t, n);
    for (int d = 0; d < n; d++)
        parent[d] = d;
    for (int by = 0; by < n; by++)
        for (int d = 0; d < n; d++)
            if (holds(b, d, by, dims)) {
                int x = root_of(parent, nearest(b, d, by)), y = root_of(parent, by);
                parent[x > y ? x : y] = x < y ? x : y;
            }
    int filled = 0, cols = 0;
    for (int first = 0; first < n; first++) {
        int before = filled;
        for (int d = 0; d < n; d++)
            if (root_of(parent, d) == first)
                at[filled++] = d;
        int size = filled - before;
        cols = cols == 0 || size == 0 || size == cols ? (size ? size : cols) : -1;
    }
    if (cols > 0)
        return (Matrix){ n / cols, cols, at };
    for (int d = 0; d < n; d++)
        at[d] = d;
    return (Matrix){ 1, n, at };
}

/* The one dimension along which the boxes are whole where tiles are not, all else being as it is; -1:
 * there is none. */
static int gathered_dim(const Boxes *b)
{
    int dim = -1;
    for (int d = 0; d < b->has.rank; d++) {
        if (b->box.dims[d] == b->tile.dims[d])
            continue;
        if (dim >= 0 || b->box.dims[d] != b->tile.dims[d] * b->has.tiles[d])
            return -1;
        dim = d;
    }
    for (int k = 0; dim >= 0 && k < b->ndevices; k++)
        for (int d = 0; d < b->has.rank; d++) {
            int64_t own = b->has.tile_of[k * b->has.rank + d] * b->tile.dims[d];
            if (b->starts[k * b->has.rank + d] != (d == dim ? 0 : own))
                return -1;
        }
    return dim;
}

/* Members in the order of their tiles along dim; false: a group does not have each of them once. */
static bool order_by_tile(const Boxes *b, int dim, Matrix groups, int64_t *at)
{
    if (groups.cols != b->has.tiles[dim])
        return false;
    memset(at, -1, sizeof *at * (size_t)b->ndevices);
    for (int i = 0; i < b->ndevices; i++) {
        int64_t tile = b->has.tile_of[groups.at[i] * b->has.rank + dim];
        int64_t *place = &at[i / groups.cols * groups.cols + tile];
        if (*place >= 0)
            return false;
        *place = groups.at[i];
    }
    return true;
}

ValueId build_all_gather(Placer *z, ValueId shard, int dim, Matrix groups, Type all, const Loc *loc)
{
    AllGatherAttrs *attrs = ARENA_NEW(z->m->arena, AllGatherAttrs);
    attrs->replica_groups = groups_in_replicas(z, groups);
    attrs->channel_id = 1;
    attrs->use_global_device_ids = true;
    attrs->all_gather_dim = dim;
    return build_node(z->m, z->to, OP_ALL_GATHER, 1, &shard, all, attrs, loc);
}

ValueId fetch_box(Placer *z, ValueId shard, Tiling has, Type box, const int64_t *starts,
                  ValueId base, const Loc *loc)
{
    Module *m = z->m;
    Boxes b = { z->ndevices, has, type_of(m, shard), box, starts };
    Matrix groups = groups_of_boxes(z, &b);
    int dim = base ? -1 : gathered_dim(&b);
    int64_t *ordered = ARENA_ARRAY(m->arena, int64_t, z->ndevices);
    if (dim >= 0 && order_by_tile(&b, dim, groups, ordered))
        return build_all_gather(z, shard, dim, (Matrix){ groups.rows, groups.cols, ordered }, box,
                                loc);
    RetileAttrs *attrs = ARENA_NEW(m->arena, RetileAttrs);
    Tiling *kept = ARENA_NEW(m->arena, Tiling);
    *kept = tiling_copy(m->arena, has);
    attrs->replica_groups = groups_in_replicas(z, groups);
    attrs->channel_id = 1;
    attrs->use_global_device_ids = true;
    attrs->in_tilings = (Tilings){ 1, kept };
    size_t bytes = sizeof *starts * (size_t)(z->ndevices * has.rank);
    attrs->starts = (Matrix){ z->ndevices, has.rank, arena_copy(m->arena, starts, bytes) };
    ValueId in[] = { shard, base };
    return build_node(m, z->to, OP_RETILE, base ? 2 : 1, in, box, attrs, loc);
}

ValueId gather_along(Placer *z, ValueId own, Tiling t, int dim, const Loc *loc)
{
    Type piece = type_of(z->m, own);
    int64_t *dims = ARENA_ARRAY(z->m->arena, int64_t, t.rank);
    int64_t *starts = ARENA_ARRAY(z->scratch, int64_t, z->ndevices * t.rank);
    for (int d = 0; d < t.rank; d++) {
        dims[d] = piece.dims[d] * (d == dim ? t.tiles[d] : 1);
        for (int k = 0; k < z->ndevices; k++)
            starts[k * t.rank + d] = d == dim ? 0 : t.tile_of[k * t.rank + d] * dims[d];
    }
    return fetch_box(z, own, t, (Type){ piece.element, t.rank, dims }, starts, 0, loc);
}

bool can_move(const Placer *z, ValueId v)
{
    return !z->is_waiting[v] && !z->is_lost[v] && !z->is_manual[v];
}

ValueId shard_move(Placer *z, ValueId v, Tiling want)
{
    ValueId shard = shard_of(z, v, want);
    if (shard)
        return shard;
    Module *m = z->m;
    Tiling whole = tiling_summed(want);
    Type box = local_type(z, type_of(m, v), whole);
    int64_t *starts = ARENA_ARRAY(z->scratch, int64_t, z->ndevices * box.rank + 1);
    for (int k = 0; k < z->ndevices; k++)
        for (int d = 0; d < box.rank; d++)
            starts[k * box.rank + d] = whole.tile_of[k * box.rank + d] * box.dims[d];
    NodeId def = value_def(m, v);
    shard = fetch_box(z, subst_get(&z->shards, v), z->tilings[v], box, starts, 0,
                      def ? node_at(m, def)->loc : NULL);
    shard_hold(z, v, whole, shard);
    return shard_of(z, v, want);
}

/* ---- a dimension as a matrix ---- */

/* t with its cut along dim moved to the rows or to the columns of the matrix that stands there. */
static Tiling as_matrix(const Placer *z, Tiling t, int dim, bool is_by_columns)
{
    int64_t *tiles = ARENA_ARRAY(z->scratch, int64_t, t.rank + 1);
    int64_t *tile_of = ARENA_ARRAY(z->scratch, int64_t, (t.rank + 1) * z->ndevices);
    for (int d = 0; d <= t.rank; d++) {
        bool is_whole = d == (is_by_columns ? dim : dim + 1);
        int from = d <= dim ? d : d - 1;
        tiles[d] = is_whole ? 1 : t.tiles[from];
        for (int k = 0; k < z->ndevices; k++)
            tile_of[k * (t.rank + 1) + d] = is_whole ? 0 : t.tile_of[k * t.rank + from];
    }
    return (Tiling){ t.rank + 1, z->ndevices, tiles, tile_of, 0, NULL };
}

static Type matrix_type(const Placer *z, Type piece, int dim, int64_t rows, int64_t cols)
{
    int64_t dims[MAX_RANK];
    for (int d = 0; d < piece.rank; d++)
        dims[d + (d > dim)] = piece.dims[d];
    dims[dim] = rows;
    dims[dim + 1] = cols;
    return type_new(z->m->arena, piece.element, piece.rank + 1, dims);
}

ValueId exchange_matrix(Placer *z, ValueId own, Tiling t, int dim, int64_t rows, int64_t cols,
                        bool to_columns, const Loc *loc)
{
    int64_t pieces = t.tiles[dim];
    Type piece = type_of(z->m, own);
    Type by_rows = matrix_type(z, piece, dim, rows / pieces, cols);
    Type by_columns = matrix_type(z, piece, dim, rows, cols / pieces);
    Type box = to_columns ? by_columns : by_rows;
    Tiling has = as_matrix(z, t, dim, !to_columns), want = as_matrix(z, t, dim, to_columns);
    int64_t *starts = ARENA_ARRAY(z->scratch, int64_t, want.rank * z->ndevices);
    for (int k = 0; k < z->ndevices * want.rank; k++)
        starts[k] = want.tile_of[k] * box.dims[k % want.rank];
    own = build_reshape(z, own, to_columns ? by_rows : by_columns);
    return fetch_box(z, own, has, box, starts, 0, loc);
}
