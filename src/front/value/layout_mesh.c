/* layout_mesh.c - from how an array lies to the mesh that it was cut along, and by which of its axes.
 *
 * A layout says which device holds which tile and nothing of meshes: arrays that lie alike are alike,
 * whatever they were cut by.  A picture names the axes, so they are found again.  One step along an
 * axis changes the number of a tile by the product of the axes behind it:
 *
 *     mesh x = 2, y = 4, a dimension cut along "y,x":   tile = 2 y + x, so a step along y is 2, along x 1 */
#include "front/value/layout.h"

/* By how much the tile of dimension i grows with one step along an axis; 0: it is not cut along it. */
static int64_t step_along(const struct tt_grid *mesh, const Tiling *t, int i, int axis)
{
    int d = mesh->axes[axis].size > 1 ? mesh_stride(mesh, axis) : 0;
    return t->tile_of[(int64_t)d * t->rank + i] - t->tile_of[i];
}

/* The axes that dimension i is cut along; false: none of this mesh explain its tiles. */
static bool find_cut(const struct tt_grid *mesh, const Tiling *t, int i, DimTiling *cut)
{
    int64_t steps[TT_MAX_RANK];
    *cut = (DimTiling){ .tiles = 1 };
    for (int a = 0; a < mesh->naxes; a++) {
        int64_t step = step_along(mesh, t, i, a);
        if (step <= 0)
            continue;
        int k = cut->n++;
        for (; k && steps[k - 1] < step; k--) {
            steps[k] = steps[k - 1];
            cut->axis[k] = cut->axis[k - 1];
        }
        steps[k] = step;
        cut->axis[k] = a;
        cut->tiles *= mesh->axes[a].size;
    }
    bool fits = cut->tiles == t->tiles[i];
    for (int d = 0; d < mesh->ndevices && fits; d++)
        fits = mesh_tile(mesh, cut, d) == t->tile_of[(int64_t)d * t->rank + i];
    return fits;
}

/* How many axes of the mesh explain the layout; -1: they do not. */
static int explain(const struct tt_grid *mesh, const ArrayLayout *l, DimTiling *cuts)
{
    int used = 0;
    for (int d = 0; d < l->ndevices; d++)
        if (mesh->ndevices != l->ndevices || l->devices[d] != mesh->devices[d])
            return -1;
    for (int i = 0; i < l->tiling.rank; i++) {
        if (!find_cut(mesh, &l->tiling, i, &cuts[i]))
            return -1;
        used += cuts[i].n;
    }
    return used;
}

tt_mesh layout_mesh(const ArrayLayout *l, DimTiling *cuts)
{
    tt_mesh best = NULL;
    int fewest = 0;
    for (tt_mesh mesh = mesh_newest(); mesh && l->ndevices > 1; mesh = mesh->before) {
        int used = explain(mesh, l, cuts);
        if (used >= 0 && (!best || used < fewest)) {
            best = mesh;
            fewest = used;
        }
    }
    if (best)
        explain(best, l, cuts);
    return best;
}
