/* window.c - reduce_window and select_and_scatter.
 *
 * In: an array and a window that slides over it.  Out: for reduce_window a fold over
 *
 *     results but the last dimension, positions in the window, the last dimension
 *
 * with padding as the initial value, and each window added up in order (windows are short, and
 * results are many); for select_and_scatter, for every window a scalar loop
 * that finds the element its region prefers, and adds the source's element there. */
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

static void window_dims(const WindowAttrs *a, Type operand, Type windows, WindowDim *dims)
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

/* ---- select_and_scatter ---- */

typedef struct Selection {
    NodeId node;
    Type in; /* the operand's */
    WindowDim dims[MAX_RANK];
} Selection;

static V call_region(Kernel *k, RegionId r, V x, V y)
{
    V args[] = { x, y }, result;
    region_inline(k, r, args, &result);
    return result;
}

/* One position: {best, where, found} becomes this element if there is none yet, or if the
 * region does not prefer the best so far. */
static void select_step(Kernel *k, const Selection *s, Index *at, const Coord *inside_window,
                        V *best)
{
    const Node *node = node_at(k->m, s->node);
    V inside = NULL;
    Index *to = index_new(k, s->in, 1);
    memo_clear(k);
    for (int d = 0; d < s->in.rank; d++)
        index_set(to, d,
                  window_coord(k, &s->dims[d], index_at(k, at, d), inside_window[d], 1, &inside));
    if (inside)
        index_mask(k, to, at, inside);
    V value = element(k, node->in[0], to), yes = LLVMConstInt(int_type(k, 1), 1, false);
    V keeps = call_region(k, node->regions[0], best[0], value);
    V takes = LLVMBuildNot(k->b, LLVMBuildAnd(k->b, best[2], keeps, ""), "");
    if (inside)
        takes = LLVMBuildAnd(k->b, takes, inside, "");
    best[0] = arith_select(k, takes, value, best[0]);
    best[1] = LLVMBuildSelect(k->b, takes, index_linear(k, to).base, best[1], "");
    best[2] = inside ? LLVMBuildOr(k->b, best[2], inside, "") : yes;
}

static void select_body(Kernel *k, Index *at, void *user)
{
    const Selection *s = user;
    const Node *node = node_at(k->m, s->node);
    Element e = s->in.element;
    Loop loops[MAX_RANK];
    Coord w[MAX_RANK];
    V best[] = { LLVMConstNull(value_type(k, e)), const_i64(k, 0),
                 LLVMConstInt(int_type(k, 1), 0, false) };
    for (int d = 0; d < s->in.rank; d++) {
        loop_begin(k, &loops[d], s->dims[d].size, 1, 3, best);
        w[d] = loop_coord(&loops[d], 0);
    }
    select_step(k, s, at, w, best);
    for (int d = s->in.rank - 1; d >= 0; d--)
        loop_end(k, &loops[d], best);
    LLVMBasicBlockRef add = LLVMAppendBasicBlockInContext(k->c, k->function, "add");
    LLVMBasicBlockRef after = LLVMAppendBasicBlockInContext(k->c, k->function, "next");
    LLVMBuildCondBr(k->b, best[2], add, after);
    LLVMPositionBuilderAtEnd(k->b, add);
    memo_clear(k);
    Index *to = index_numbered(k, s->in, coord_uniform(k, best[1]), 1);
    Element sums = element_of(k, node->out); /* may be wider than what was compared */
    V sum = call_region(k, node->regions[1], load_element(k, k->outs[0], sums, to),
                        element(k, node->in[1], at));
    if (!k->error)
        store_element(k, k->outs[0], sums, to, sum);
    LLVMBuildBr(k->b, after);
    LLVMPositionBuilderAtEnd(k->b, after);
}

static void initial_body(Kernel *k, Index *at, void *user)
{
    const Node *node = node_at(k->m, *(const NodeId *)user);
    V value = element(k, node->in[2], index_scalar(k, at->lanes));
    if (!k->error)
        store_element(k, k->outs[0], element_of(k, node->out), at, value);
}

void block_select_scatter(Kernel *k, NodeId root)
{
    const Node *node = node_at(k->m, root);
    Selection s = { .node = root, .in = type_of(k->m, node->in[0]) };
    bool joined[MAX_RANK + 1];
    window_dims(node->attrs, s.in, type_of(k->m, node->in[1]), s.dims);
    memset(joined, 1, sizeof joined);
    loop_over(k, s.in, joined, initial_body, &root);
    for (int d = 0; d < s.in.rank; d++)
        if (s.dims[d].size == 0 || s.in.dims[d] == 0)
            return;
    memset(joined, 0, sizeof joined);
    k->width = 1;
    loop_over(k, type_of(k->m, node->in[1]), joined, select_body, &s);
}
