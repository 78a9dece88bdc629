/* mesh.h - devices laid out along named axes. */
#ifndef TUTTI_FRONT_MESH_H
#define TUTTI_FRONT_MESH_H
#include <tutti.h>

/* What a tt_mesh points to; interned for ever.  Names are interned. */
struct tt_grid {
    int naxes;
    tt_axis axes[TT_MAX_RANK];
    int ndevices;       /* the product of the sizes */
    const int *devices; /* row-major over the axes; the client's numbers */
};

int mesh_axis_size(const struct tt_grid *mesh, const char *axis_name); /* 0: it has none so named */
#endif
