/* windows.c - operations whose pieces need what lies around the pieces of their operands.
 *
 *     y = convolution(x), x [8] cut in 4, window 3, padding 1 and 1
 *     device 1 makes y[2:4] of x[1:5]: its own x[2:4] and an element of each neighbour
 *
 * In goes an operation along whose window dimensions (FACTOR_WINDOW) an operand is cut; out comes the
 * same operation on the boxes that each device needs, without padding, for that is in the boxes:
 *
 *     convolution, reduce_window    the windows of its piece; also where the kernel is cut, as in the
 *                                   derivative of a convolution: then the pieces are summed
 *     slice, reverse, pad           the elements that end up in its piece
 *     concatenate                   the same of each operand, one over the other */
#include "engine/passes/place/place.h"

/* How an operand's dimension follows the result's. */
typedef struct Span {
    bool is_window; /* else as Placement.wants has it */
    int out;        /* the result's dimension */
    int64_t scale, base,
        shift;        /* the box of a piece from o on begins at o * scale / base + shift, */
    int64_t per_tile; /* and so much further for each tile of `kernel` before the device's own */
    int kernel;       /* a dimension of operand 1, or -1 */
    int64_t extent;
    int64_t low, high; /* padding that is left to be done */
} Span;

static int64_t at_or(Ints list, int64_t i, int64_t otherwise)
{
    return i < list.n ? list.at[i] : otherwise;
}

static int64_t pad_at(Matrix padding, int i, int side)
{
    return padding.rows ? padding.at[2 * i + side] : 0;
}

static int64_t floor_of(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

typedef struct Windows {
    const Placer *z;
    const Node *node;
    const Placement *p;
    const Type *local; /* of the results */
} Windows;

static bool is_cut_in(const Windows *w, int i, int d, int out)
{
    return w->z->tilings[w->node->in[i]].tiles[d] != 1 || w->p->results[0].tiles[out] != 1;
}

/* Windows of `size` elements `dilation` apart, that begin every `stride` elements, over an operand whose
 * elements stand `base` apart. */
static Span span_of_windows(int64_t n, int64_t size, int64_t stride, int64_t dilation, int64_t base,
                            int64_t low)
{
    int64_t reach = (n - 1) * stride + (size - 1) * dilation + 1;
    int64_t first = floor_of(-low, base), last = floor_of(reach - 1 - low, base);
    Span s = { .is_window = true, .kernel = -1, .scale = stride, .base = base, .shift = first };
    s.extent = last - first + 1;
    s.low = first * base + low;
    s.high = reach - s.low - ((s.extent - 1) * base + 1);
    return s;
}

static Span convolution_span(const Windows *w, int d)
{
    const ConvolutionAttrs *c = w->node->attrs;
    int j = ints_find(c->input_spatial_dimensions, d);
    if (j < 0)
        return (Span){ 0 };
    int out = (int)c->output_spatial_dimensions.at[j], k = (int)c->kernel_spatial_dimensions.at[j];
    int64_t whole = type_of(w->z->m, w->node->in[1]).dims[k], tiles = w->p->wants[1].tiles[k];
    int64_t size = whole / tiles, dilation = at_or(c->rhs_dilation, j, 1);
    if (!is_cut_in(w, 0, d, out) && tiles == 1)
        return (Span){ 0 };
    Span s = span_of_windows(w->local[0].dims[out], size, at_or(c->window_strides, j, 1), dilation,
                             at_or(c->lhs_dilation, j, 1), pad_at(c->padding, j, 0));
    bool is_reversed = at_or(c->window_reversal, j, 0) != 0;
    s.out = out;
    s.kernel = tiles == 1 ? -1 : k;
    s.per_tile = size * dilation * (is_reversed ? -1 : 1);
    s.shift += tiles != 1 && is_reversed ? (whole - size) * dilation : 0;
    return s;
}

static Span reduce_window_span(const Windows *w, int i, int d)
{
    const WindowAttrs *a = w->node->attrs;
    bool is_cut = false;
    for (int k = 0; k < w->node->nin / 2; k++) /* all operands have the same windows */
        is_cut = is_cut || is_cut_in(w, k, d, d);
    if (i >= w->node->nin / 2 || !is_cut)
        return (Span){ 0 };
    Span s = span_of_windows(w->local[0].dims[d], at_or(a->window_dimensions, d, 1),
                             at_or(a->window_strides, d, 1), at_or(a->window_dilations, d, 1), 1,
                             pad_at(a->padding, d, 0));
    s.out = d;
    return s;
}

/* Elements that end up in a piece of n. */
static Span moving_span(const Windows *w, int i, int d)
{
    const Node *node = w->node;
    int64_t n = w->local[0].dims[d], whole = type_of(w->z->m, node->in[i]).dims[d];
    Span s = { .is_window = true, .kernel = -1, .out = d, .scale = 1, .base = 1, .extent = n };
    if (node->op == OP_CONCATENATE) {
        for (int k = 0; k < i; k++)
            s.shift -= type_of(w->z->m, node->in[k]).dims[d];
        s.is_window = d == ((const DimensionAttrs *)node->attrs)->dimension;
        return s;
    }
    s.is_window = i == 0 && is_cut_in(w, 0, d, d);
    if (node->op == OP_SLICE) {
        const SliceAttrs *a = node->attrs;
        s.scale = a->strides.at[d];
        s.shift = a->start_indices.at[d];
        s.extent = (n - 1) * s.scale + 1;
    } else if (node->op == OP_PAD && s.is_window) {
        const PadAttrs *a = node->attrs;
        s = span_of_windows(n, 1, 1, 1, a->interior_padding.at[d] + 1, a->edge_padding_low.at[d]);
        s.out = d;
    } else if (ints_find(((const DimensionsAttrs *)node->attrs)->dimensions, d) >= 0) {
        s.scale = -1;
        s.shift = whole - n;
    }
    return s;
}

static Span span_of(const Windows *w, int i, int d)
{
    switch (w->node->op) {
    case OP_CONVOLUTION: return i == 0 ? convolution_span(w, d) : (Span){ 0 };
    case OP_REDUCE_WINDOW: return reduce_window_span(w, i, d);
    default: return moving_span(w, i, d);
    }
}

/* ---- can it be? ---- */

static bool has_windows(const Node *node)
{
    switch (node->op) {
    case OP_CONVOLUTION:
    case OP_REDUCE_WINDOW:
    case OP_SLICE:
    case OP_REVERSE:
    case OP_PAD:
    case OP_CONCATENATE: return true;
    default: return false;
    }
}

static bool all_are(Ints list, int64_t value)
{
    for (int i = 0; i < list.n; i++)
        if (list.at[i] != value)
            return false;
    return true;
}

static Type *local_types(const Placer *z, const Node *node, const Placement *p)
{
    Type *types = ARENA_ARRAY(z->m->arena, Type, node->nout + 1);
    for (int i = 0; i < node->nout; i++)
        types[i] = local_type(z, type_of(z->m, node->out + (uint32_t)i), p->results[i]);
    return types;
}

/* Does every box begin with an element of the operand, as many after the one before it? */
static bool spans_fit(const Windows *w)
{
    for (int i = 0; i < w->node->nin; i++)
        for (int d = 0; d < type_of(w->z->m, w->node->in[i]).rank; d++) {
            Span s = span_of(w, i, d);
            if (!s.is_window)
                continue;
            bool is_even = w->p->results[0].tiles[s.out] == 1 ||
                           w->local[0].dims[s.out] * s.scale % s.base == 0;
            /* A cumulative sum is a window as long as the array: each device would have all of it. */
            bool is_all = w->node->op == OP_REDUCE_WINDOW &&
                          s.extent > type_of(w->z->m, w->node->in[i]).dims[d];
            if (s.extent <= 0 || !is_even || is_all || (s.base > 1 && s.kernel >= 0))
                return false;
        }
    return true;
}

static PlaceNode place_on_windows;

bool infer_windows(Placer *z, NodeId n, Placement *p)
{
    const Node *node = node_at(z->m, n);
    if (!has_windows(node) || type_count(type_of(z->m, node->out)) == 0)
        return false;
    if (node->op == OP_REDUCE_WINDOW &&
        !all_are(((const WindowAttrs *)node->attrs)->base_dilations, 1))
        return false;
    Tiling *in = ARENA_ARRAY(z->scratch, Tiling, node->nin + 1);
    for (int i = 0; i < node->nin; i++)
        in[i] = z->tilings[node->in[i]];
    *p = propagate_windows(z->m, z->scratch, n, in, z->ndevices);
    if (p->is_partial && !is_combinable(z, n, p))
        return false;
    Windows w = { z, node, p, local_types(z, node, p) };
    if ((!p->is_partial && !p->is_piecewise && node->op != OP_SLICE) || !spans_fit(&w))
        return false;
    p->place = place_on_windows;
    return true;
}

/* ---- doing it ---- */

/* What operand i's boxes have beyond the array; 0: zeros. */
static ValueId base_of(Placer *z, const Node *node, int i, Type box)
{
    int from = node->op == OP_PAD ? 1 : node->op == OP_REDUCE_WINDOW ? node->nin / 2 + i : -1;
    if (from < 0)
        return 0;
    ValueId value = shard_move(z, node->in[from], tiling_replicated(z->scratch, 0, z->ndevices));
    BroadcastAttrs *nowhere = ARENA_NEW(z->m->arena, BroadcastAttrs);
    *nowhere = (BroadcastAttrs){ 0 };
    return build_node(z->m, z->to, OP_BROADCAST, 1, &value, box, nowhere, node->loc);
}

/* The box of operand i that each device needs, laid over `base`. */
static ValueId fetch_windows(Placer *z, const Windows *w, int i, ValueId base)
{
    Module *m = z->m;
    ValueId v = w->node->in[i];
    Type whole = type_of(m, v);
    Tiling want = w->p->wants[i];
    int64_t *dims = ARENA_ARRAY(m->arena, int64_t, whole.rank + 1);
    int64_t *starts = ARENA_ARRAY(z->scratch, int64_t, z->ndevices * whole.rank + 1);
    for (int d = 0; d < whole.rank; d++) {
        Span s = span_of(w, i, d);
        int64_t tile = whole.dims[d] / want.tiles[d];
        dims[d] = s.is_window ? s.extent : tile;
        for (int k = 0; k < z->ndevices; k++) {
            int64_t *start = &starts[k * whole.rank + d];
            *start = want.tile_of[k * whole.rank + d] * tile;
            if (!s.is_window)
                continue;
            Tiling out = w->p->results[0], kernel = w->p->wants[1];
            int64_t o = out.tile_of[k * out.rank + s.out] * w->local[0].dims[s.out];
            *start = o * s.scale / s.base + s.shift;
            if (s.kernel >= 0)
                *start += kernel.tile_of[k * kernel.rank + s.kernel] * s.per_tile;
        }
    }
    Type box = { whole.element, whole.rank, dims };
    base = base ? base : base_of(z, w->node, i, box);
    return fetch_box(z, subst_get(&z->shards, v), z->tilings[v], box, starts, base, w->node->loc);
}

static const void *slice_attrs(const Windows *w)
{
    Arena *arena = w->z->m->arena;
    SliceAttrs *a = arena_copy(arena, w->node->attrs, sizeof *a);
    int64_t from[MAX_RANK], to[MAX_RANK];
    for (int d = 0; d < a->strides.n; d++) {
        Span s = span_of(w, 0, d);
        from[d] = s.is_window ? 0 : a->start_indices.at[d];
        to[d] = s.is_window ? s.extent : a->limit_indices.at[d];
    }
    a->start_indices = ints_copy(arena, a->strides.n, from);
    a->limit_indices = ints_copy(arena, a->strides.n, to);
    return a;
}

static const void *pad_attrs(const Windows *w)
{
    Arena *arena = w->z->m->arena;
    PadAttrs *a = arena_copy(arena, w->node->attrs, sizeof *a);
    int64_t low[MAX_RANK], high[MAX_RANK];
    int n = a->interior_padding.n;
    for (int d = 0; d < n; d++) {
        Span s = span_of(w, 0, d);
        low[d] = s.is_window ? s.low : a->edge_padding_low.at[d];
        high[d] = s.is_window ? s.high : a->edge_padding_high.at[d];
    }
    a->edge_padding_low = ints_copy(arena, n, low);
    a->edge_padding_high = ints_copy(arena, n, high);
    return a;
}

/* Row i of the padding is for dimension dims[i] of operand 0, or i if there are none. */
static Matrix local_padding(const Windows *w, Matrix padding, int n, Ints dims)
{
    int64_t *at = ARENA_ARRAY(w->z->m->arena, int64_t, 2 * n + 1);
    for (int i = 0; i < n; i++) {
        Span s = span_of(w, 0, (int)at_or(dims, i, i));
        at[2 * i] = s.is_window ? s.low : pad_at(padding, i, 0);
        at[2 * i + 1] = s.is_window ? s.high : pad_at(padding, i, 1);
    }
    return (Matrix){ n, 2, at };
}

static const void *attrs_of_boxes(const Windows *w)
{
    Arena *arena = w->z->m->arena;
    switch (w->node->op) {
    case OP_SLICE: return slice_attrs(w);
    case OP_PAD: return pad_attrs(w);
    case OP_REDUCE_WINDOW: {
        WindowAttrs *a = arena_copy(arena, w->node->attrs, sizeof *a);
        a->padding = local_padding(w, a->padding, w->local[0].rank, (Ints){ 0 });
        return a;
    }
    case OP_CONVOLUTION: {
        ConvolutionAttrs *a = arena_copy(arena, w->node->attrs, sizeof *a);
        Ints dims = a->input_spatial_dimensions;
        a->padding = local_padding(w, a->padding, dims.n, dims);
        return a;
    }
    default: return w->node->attrs;
    }
}

static ValueId fetch_operand(Placer *z, const Windows *w, int i)
{
    bool is_window = false;
    for (int d = 0; d < type_of(z->m, w->node->in[i]).rank; d++)
        is_window = is_window || span_of(w, i, d).is_window;
    return is_window ? fetch_windows(z, w, i, 0) : shard_move(z, w->node->in[i], w->p->wants[i]);
}

/* Each operand's box over those of the operands before it. */
static void place_concatenation(Placer *z, const Windows *w)
{
    ValueId all = 0;
    for (int i = 0; i < w->node->nin; i++)
        all = fetch_windows(z, w, i, all);
    subst_set(&z->shards, w->node->out, all);
}

static void place_on_windows(Placer *z, NodeId n, const Placement *p)
{
    Module *m = z->m;
    Node node = *node_at(m, n);
    Windows w = { z, &node, p, local_types(z, &node, p) };
    if (node.op == OP_CONCATENATE) {
        place_concatenation(z, &w);
        return;
    }
    ValueId *in = ARENA_ARRAY(m->arena, ValueId, node.nin + 1);
    for (int i = 0; i < node.nin; i++)
        in[i] = fetch_operand(z, &w, i);
    RegionId *regions = ARENA_ARRAY(m->arena, RegionId, node.nregions + 1);
    for (int i = 0; i < node.nregions; i++)
        regions[i] = region_copy(m, node.regions[i], 0, &z->shards);
    NodeId copy = node_new(m, node.op, node.nin, in, node.nout, w.local, node.nregions, regions,
                           attrs_of_boxes(&w), node.loc);
    region_append(m, z->to, copy);
    for (int i = 0; i < node.nout; i++)
        subst_set(&z->shards, node.out + (uint32_t)i, node_at(m, copy)->out + (uint32_t)i);
}
