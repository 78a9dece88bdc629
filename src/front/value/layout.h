/* layout.h - how arrays lie on devices: layouts, and the meshes and specs that a user names them by.
 *
 * Both are interned for ever: equal layouts are one pointer, equal meshes too. */
#ifndef TUTTI_FRONT_VALUE_LAYOUT_H
#define TUTTI_FRONT_VALUE_LAYOUT_H
#include "ops/sharding.h"
#include "ops/type.h"

#include <tutti.h>

/* Tile d of `tiling` is on device devices[d].  Where every device holds everything the tiling has
 * rank 0, so that one layout serves arrays of every rank. */
typedef struct ArrayLayout {
    int ndevices;
    const int *devices; /* the client's numbers */
    Tiling tiling;
} ArrayLayout;

/* NULL: there is no memory; reported. */
const ArrayLayout *layout_single(int device);
/* On the first device of this process.  With several processes each has the whole array there. */
const ArrayLayout *layout_home(void);
bool layout_is_everywhere(const ArrayLayout *l); /* layout_home, and there are several processes */
const ArrayLayout *layout_replicated(int ndevices, const int *devices);
const ArrayLayout *layout_intern(int ndevices, const int *devices, Tiling tiling);
bool layout_is_whole(const ArrayLayout *l); /* every device holds everything */

/* Devices along named axes. */
struct tt_grid {
    int naxes;
    const tt_axis *axes; /* names interned; the last changes fastest */
    int ndevices;        /* the product of the sizes */
    const int *devices;  /* 0, 1, 2, ... */
    tt_mesh before;      /* the mesh that was made before it; NULL: none */
};

/* A dimension of an array: the axes of the mesh that it is cut along, the first slowest. */
typedef struct DimTiling {
    int n, axis[TT_MAX_RANK];
    int64_t tiles; /* into so many pieces */
} DimTiling;

int mesh_axis_size(const struct tt_grid *mesh, const char *name); /* 0: it has no such axis */
tt_mesh mesh_newest(void);                                        /* NULL: there are none */
int mesh_stride(const struct tt_grid *mesh, int axis); /* from a device to the next along it */
/* The piece of a dimension that a device holds. */
int64_t mesh_tile(const struct tt_grid *mesh, const DimTiling *cut, int device);
/* A mesh along whose axes an array that lies so is cut, and those axes for each of its dimensions: the
 * mesh that needs the fewest of its axes, of those the newest.  NULL: no mesh of the program is such. */
tt_mesh layout_mesh(const ArrayLayout *l, DimTiling *cuts);
/* The concrete array x, lying as that says; a broken value: reported. */
tt place_array(tt x, const tt_sharding *where);
/* Of concrete arrays that differ in each process, each what its process has of it. */
tt place_local(tt x, const tt_sharding *where);
#endif
