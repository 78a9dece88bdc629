/* show_sharding.h - what the two pictures of a sharding, in text and as SVG, share. */
#ifndef TUTTI_FRONT_VALUE_SHOW_SHARDING_H
#define TUTTI_FRONT_VALUE_SHOW_SHARDING_H
#include "base/text.h"
#include "front/value/layout.h"
#include "front/value/value.h"

/* The devices that hold a tile: "0,2". */
void sharding_holders(Text *out, const ArrayLayout *l, int rank, const int64_t *tile);
/* The type of a device's piece; its extents go to dims. */
Type sharding_part(const Held *held, int64_t *dims);

/* A mesh as a plane: its last axis goes right, all others down. */
typedef struct MeshPlane {
    tt_mesh mesh;
    int rank, ncuts; /* dimensions of the array; those that cuts knows */
    DimTiling cuts[TT_MAX_RANK];
    int rows, columns;
} MeshPlane;

bool mesh_plane(const Held *held, MeshPlane *p);      /* false: the array lies on no mesh */
void mesh_plane_words(Text *out, const MeshPlane *p); /* mesh x = 2, y = 2; spec ("x", NULL) */
void mesh_plane_row(Text *out, const MeshPlane *p, int row);       /* x = 0 */
void mesh_plane_column(Text *out, const MeshPlane *p, int column); /* y = 1 */

void sharding_svg(Text *out, const Held *held);
#endif
