/* mesh.h - devices laid out along named axes, and what a tt_spec on them comes to. */
#ifndef TUTTI_FRONT_API_MESH_H
#define TUTTI_FRONT_API_MESH_H
#include "front/value/array.h"

#include <tutti.h>

/* Interned for ever: equal meshes are one pointer. */
struct tt_grid {
    int naxes;
    const tt_axis *axes; /* names interned; the last changes fastest */
    int ndevices;        /* the product of the sizes */
    const int *devices;  /* 0, 1, 2, ... */
};

int mesh_axis_size(const struct tt_grid *mesh, const char *name); /* 0: it has no such axis */

/* How an array of this type lies when cut so.  NULL: said, naming `who`. */
const Layout *mesh_layout(const char *who, tt_mesh mesh, const tt_spec *spec, Type type);
#endif
