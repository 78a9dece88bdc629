/* sharding.h - how an array lies on devices: Shardy's notation, and what it comes to.
 *
 * A mesh names the axes of a grid of devices.  A Sharding says for each dimension of an
 * array along which mesh axes it is cut.  A Tiling is the same thing resolved: a grid of
 * tiles and, for every device, which tile it holds.
 *
 *   mesh ["a"=2, "b"=2], sharding [{"b"}, {}]  of 4x6   tiles 2x1
 *   device 0: tile (0,0)   1: (1,0)   2: (0,0)   3: (1,0)      (axis "a" is replication)
 *
 * With unreduced={"a"} devices 0 and 2 would hold two parts of tile (0,0): it is their sum.
 */
#ifndef TUTTI_OPS_SHARDING_H
#define TUTTI_OPS_SHARDING_H
#include "base/error.h"
#include "base/text.h"
#include "ops/type.h"

struct Arena;

typedef struct Mesh {
    Str name;  /* of the symbol; empty: written in place */
    int naxes; /* 0 with one device id: everything on that device */
    Str *axes; /* names */
    int64_t *sizes;
    Ints device_ids; /* empty: 0, 1, 2, ... row-major over the axes */
} Mesh;

/* A mesh axis, or a part of one: its sizes seen as [.., pre_size][size][..]. */
typedef struct AxisRef {
    int axis;               /* position in the mesh */
    int64_t pre_size, size; /* whole axis: pre_size 1 and the axis's own size */
} AxisRef;

typedef struct DimSharding {
    int naxes; /* major to minor; 0: this dimension is whole */
    const AxisRef *axes;
    bool is_open; /* "?": the compiler may cut it further */
} DimSharding;

typedef struct Sharding {
    const Mesh *mesh;
    int rank;
    const DimSharding *dims;
    DimSharding unreduced; /* the axes along which devices hold parts of a sum */
} Sharding;

/* Which tile each device holds.  Tiles along dimension i: tiles[i]; a tile's extent is
 * the array's divided by that.  tile_of[d * rank + i] is the coordinate of device d. */
typedef struct Tiling {
    int rank, ndevices;
    const int64_t *tiles;
    const int64_t *tile_of;
    int nparts;         /* 0: tiles are what they are; else a tile is the sum of so many parts, */
    const int *part_of; /* [ndevices] of which a device holds this one */
} Tiling;

int64_t mesh_count(const Mesh *mesh);          /* devices */
bool mesh_equal(const Mesh *a, const Mesh *b); /* but for their names */
/* How many tiles a dimension is cut into: no more than devices, since no axis cuts twice. */
int64_t tiles_along(DimSharding dim);

/* The tiling over ndevices partitions; sharding NULL: every device holds everything. */
MUST_USE Error *sharding_tiling(struct Arena *arena, const Sharding *sharding, int rank,
                                int ndevices, Tiling *out);
/* "{devices=[2,1]<=[2]}", "{replicated}", ...: the notation of mhlo.sharding. */
MUST_USE Error *tiling_parse(struct Arena *arena, Str text, int rank, int ndevices, Tiling *out);
/* One tile per dimension, all coordinates zero: to be filled. */
MUST_USE Error *tiling_blank(struct Arena *arena, int rank, int ndevices, int64_t **tiles,
                             int64_t **tile_of);
/* devices[p]: who stands at position p.  Each of ndevices must stand somewhere, once. */
MUST_USE Error *devices_check(const int64_t *devices, int64_t n, int ndevices);
Tiling tiling_replicated(struct Arena *arena, int rank, int ndevices);
bool tiling_is_replicated(Tiling t); /* every device holds all of it, in one part */
Tiling tiling_summed(Tiling t);      /* the same when the parts have been added */
bool tiling_equal(Tiling a, Tiling b);
/* The type of one tile; an error when a dimension does not divide. */
MUST_USE Error *tiling_local(struct Arena *arena, Tiling t, Type whole, Type *out);

bool sharding_equal(const Sharding *a, const Sharding *b);
void sharding_print(Text *out, const Sharding *sharding); /* <@mesh, [{"i"}, {}]> */
void mesh_print(Text *out, const Mesh *mesh);             /* <["i"=4]> */
#endif
