/* window.c - reduce_window, and where windows lie.
 *
 * In: an array and a window that slides over it.  Out: a fold over
 *
 *     results but the last dimension, positions in the window, the last dimension
 *
 * with padding as the initial value, and each window added up in order (windows are short, and
 * results are many). */
#include "engine/kernels/kernels.h"
#include "engine/kernels/query.h"

#include <math.h>
#include <string.h>

void window_widen(Kernel *k, int n, const WindowDim *dims)
{
    const double most = 1 << 30;
    for (int i = 0; i < n; i++) {
        const WindowDim *d = &dims[i];
        double to = (double)d->count * (double)d->stride + (double)d->size * (double)d->spread;
        if (to + fabs((double)d->before) >= most || (double)d->extent * (double)d->apart >= most)
            k->is_small = false;
    }
}

Coord window_coord(Kernel *k, const WindowDim *d, Coord i, Coord w, int lanes, V *inside)
{
    Coord c = coord_add(k, coord_mul_const(k, i, d->stride, lanes),
                        coord_mul_const(k, w, d->spread, lanes), lanes);
    c = coord_add_const(k, c, -d->before, lanes);
    if (d->before > 0)
        mask_narrow(k, inside, coord_at_least(k, c, 0, lanes));
    if (d->apart > 1) {
        Coord rest = coord_mod_const(k, c, d->apart, lanes);
        mask_narrow(k, inside, coord_less_const(k, rest, 1, lanes));
    }
    int64_t end = (d->extent - 1) * d->apart + 1;
    int64_t furthest = (d->count - 1) * d->stride + (d->size - 1) * d->spread - d->before;
    if (furthest >= end)
        mask_narrow(k, inside, coord_less_const(k, c, end, lanes));
    return coord_div_const(k, c, d->apart, lanes);
}

void window_dims(const WindowAttrs *a, Type operand, Type windows, WindowDim *dims)
{
    for (int d = 0; d < operand.rank; d++)
        dims[d] = (WindowDim){ .size = ints_or(a->window_dimensions, d, 1),
                               .stride = ints_or(a->window_strides, d, 1),
                               .spread = ints_or(a->window_dilations, d, 1),
                               .before = d < a->padding.rows ? a->padding.at[2 * d] : 0,
                               .apart = ints_or(a->base_dilations, d, 1),
                               .extent = operand.dims[d],
                               .count = windows.dims[d] };
}

/* ---- reduce_window ---- */

/* Where the dimensions stand in the space: of results, of the window. */
typedef struct Windows {
    WindowDim dims[MAX_RANK];
    int result[MAX_RANK], window[MAX_RANK];
} Windows;

static V window_value(Kernel *k, const Reduce *r, int i, Index *at)
{
    const Windows *w = r->user;
    ValueId v = node_at(k->m, r->node)->in[i];
    Type in = type_of(k->m, v);
    V inside = NULL;
    Index *to = index_new(k, in, at->lanes);
    for (int d = 0; d < in.rank; d++)
        index_set(to, d,
                  window_coord(k, &w->dims[d], index_at(k, at, w->result[d]),
                               index_at(k, at, w->window[d]), at->lanes, &inside));
    if (type_count(in) == 0)
        return reduce_initial(k, r, i);
    if (!inside)
        return element(k, v, to);
    index_mask(k, to, at, inside);
    return arith_select(k, inside, element(k, v, to), reduce_initial(k, r, i));
}

void block_reduce_window(Kernel *k, NodeId root)
{
    const Node *node = node_at(k->m, root);
    Type in = type_of(k->m, node->in[0]);
    if (scan_is(k->m, root)) {
        scan_emit(k, root);
        return;
    }
    int64_t dims[MAX_RANK + 1];
    Windows w;
    Reduce r = { .node = root, .in_order = true, .at = window_value, .user = &w };
    Fold f = reduce_fold(k, &r);
    if (k->error)
        return;
    f.space = (Type){ F32, 0, dims };
    f.weight += 4 * in.rank;
    window_dims(node->attrs, in, f.out, w.dims);
    window_widen(k, in.rank, w.dims);
    int last = in.rank - 1;
    for (int d = 0; d < last; d++) {
        w.result[d] = f.space.rank;
        dims[f.space.rank++] = f.out.dims[d];
    }
    for (int d = 0; d < in.rank; d++) {
        w.window[d] = f.space.rank;
        f.reduced[f.space.rank] = true;
        dims[f.space.rank++] = w.dims[d].size;
    }
    if (last >= 0) {
        w.result[last] = f.space.rank;
        dims[f.space.rank++] = f.out.dims[last];
    }
    fold_emit(k, &f);
}
