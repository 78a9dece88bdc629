/* map_axes.c - what in_axes and out_axes mean, for pmap and vmap: in go the types of the leaves, out
 * come the axis of each and the size they share, or a message that names the leaf that does not
 * fit. */
#include "front/transform/fn.h"
#include "front/value/report.h"

bool map_axis(tt_fn f, const Leaves *leaves, int i, int32_t *axis)
{
    int within, argument = leaf_argument(leaves, i, &within), rank = leaves->types[i].rank;
    *axis = f->key.in_axes[argument];
    if (*axis == TT_NONE)
        return true;
    if (rank == 0) {
        report_broken("%s: %s is one number and has no axis to map: in_axes[%d] must be TT_NONE",
                   f->label, leaf_words(leaves, i), argument);
        return false;
    }
    if (*axis < -rank || *axis >= rank) {
        report_broken("%s: %s has no axis %d to map: in_axes[%d] must be from %d to %d, or TT_NONE",
                   f->label, leaf_words(leaves, i), *axis, argument, -rank, rank - 1);
        return false;
    }
    *axis += *axis < 0 ? rank : 0;
    return true;
}

int64_t map_size(tt_fn f, const Leaves *leaves)
{
    int64_t size = f->key.axis_size;
    int first = -1;
    for (int i = 0; i < leaves->n; i++) {
        int32_t axis;
        if (!map_axis(f, leaves, i, &axis))
            return 0;
        if (axis == TT_NONE)
            continue;
        int64_t extent = leaves->types[i].dims[axis];
        if (!extent)
            return report_broken("%s: %s has 0 along its mapped axis %d: there is nothing to map",
                              f->label, leaf_words(leaves, i), axis),
                   0;
        if (size && extent != size && first < 0)
            return report_broken("%s: %s has %lld along axis %d, but axis_size is %lld", f->label,
                              leaf_words(leaves, i), (long long)extent, axis, (long long)size),
                   0;
        if (size && extent != size)
            return report_broken("%s: %s has %lld along its mapped axis %d, but %s has %lld: all "
                              "mapped arguments must have the same",
                              f->label, leaf_words(leaves, i), (long long)extent, axis,
                              leaf_words(leaves, first), (long long)size),
                   0;
        if (first < 0)
            first = i;
        size = extent;
    }
    if (!size)
        report_broken("%s: no argument is mapped: at least one of in_axes must be an axis, or "
                   ".axis_size say how many",
                   f->label);
    return size;
}

bool map_out_axis(tt_fn f, int i, int rank, int32_t *axis)
{
    *axis = f->key.out_axis ? f->key.out_axis : i < TT_MAX_RESULTS ? f->key.out_axes[i] : 0;
    if (*axis == TT_NONE)
        return true;
    if (*axis < -rank - 1 || *axis > rank) {
        report_broken("%s: result %d cannot have its mapped axis at %d: with %d other%s, that is from "
                   "%d to %d, or TT_NONE",
                   f->label, i, *axis, rank, rank == 1 ? "" : "s", -rank - 1, rank);
        return false;
    }
    *axis += *axis < 0 ? rank + 1 : 0;
    return true;
}
