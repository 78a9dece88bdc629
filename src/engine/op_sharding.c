/* op_sharding.c - how an array lies on devices, as XLA's OpSharding: what PJRT is asked for by
 * clients. */
#include "engine/op_sharding.h"

#include "pjrt/proto.h"

/* The types of shardings, and of the dimensions behind the array's own. */
enum { REPLICATED = 0, OTHER = 3, MANUAL = 4, UNREDUCED = 6 };

/* Where device d stands among the tiles, and within a tile among its parts. */
static int64_t rank_in(Tiling t, int d)
{
    int64_t at = 0;
    for (int i = 0; i < t.rank; i++)
        at = at * t.tiles[i] + t.tile_of[d * t.rank + i];
    return t.nparts ? at * t.nparts + t.part_of[d] : at;
}

/* How many are behind the array's dimensions: parts, then copies. */
static void put_trailing(Text *out, Tiling t, int64_t copies)
{
    Text types = { 0 };
    if (t.nparts)
        proto_put_varint(&types, UNREDUCED);
    if (t.nparts && copies > 1)
        proto_put_varint(&types, REPLICATED);
    if (t.nparts)
        proto_put_message(out, 8, &types);
    else if (copies > 1)
        proto_put_number(out, 6, true);
}

/* The tiles in row-major order, and within a tile the devices that hold it: the list of devices
 * that OpSharding calls the tile assignment.  With more than one device to a tile, a last
 * dimension counts them.
 *
 *   tiles 2x1, devices 0..3 with tiles 0 1 0 1   ->   dimensions [2,1,2]  devices 0 2 1 3 */
void sharding_write(Text *out, Tiling t)
{
    if (tiling_is_replicated(t))
        return;
    int64_t ntiles = t.nparts ? t.nparts : 1;
    for (int i = 0; i < t.rank; i++)
        ntiles *= t.tiles[i];
    int64_t copies = t.ndevices / ntiles;
    if (t.nparts == t.ndevices) {
        proto_put_number(out, 1, UNREDUCED);
        return;
    }
    Text dims = { 0 }, devices = { 0 };
    for (int i = 0; i < t.rank; i++)
        proto_put_varint(&dims, (uint64_t)t.tiles[i]);
    if (t.nparts)
        proto_put_varint(&dims, (uint64_t)t.nparts);
    if (copies > 1)
        proto_put_varint(&dims, (uint64_t)copies);
    for (int64_t tile = 0; tile < ntiles; tile++)
        for (int d = 0; d < t.ndevices; d++)
            if (rank_in(t, d) == tile)
                proto_put_varint(&devices, (uint64_t)d);
    proto_put_number(out, 1, OTHER);
    proto_put_message(out, 3, &dims);
    proto_put_message(out, 4, &devices);
    put_trailing(out, t, copies);
}

void sharding_write_manual(Text *out)
{
    proto_put_number(out, 1, MANUAL);
}
