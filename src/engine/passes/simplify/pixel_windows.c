/* pixel_windows.c - a window that slides over rows of pixels slides over rows of their elements.
 *
 *     reduce_window of x: f32[500,500,3], window 5 x 5 x 1
 *         ->  reshape of reduce_window of f32[500,1500], window 5 x 5, whose elements are 3 apart
 *
 * Lanes run along the last dimension: along three elements most of them would stand empty. */
#include "engine/passes/simplify/simplify.h"

#include "engine/kernels/query.h"

enum { SHORT = 16 }; /* rows of so many elements fill lanes */

/* Does the window leave the last dimension alone, and move by single steps along the one before it? */
static bool leaves_pixels(const WindowAttrs *a, int last)
{
    bool has_padding = a->padding.rows && (a->padding.at[2 * last] || a->padding.at[2 * last + 1]);
    return ints_or(a->window_dimensions, last, 1) == 1 &&
           ints_or(a->window_strides, last, 1) == 1 && ints_or(a->base_dilations, last, 1) == 1 &&
           !has_padding && ints_or(a->window_strides, last - 1, 1) == 1 &&
           ints_or(a->base_dilations, last - 1, 1) == 1;
}

/* The shape with its last two dimensions as one. */
static Type joined(Simplifier *s, Type t)
{
    int64_t dims[MAX_RANK];
    int n = t.rank - 1;
    for (int d = 0; d < n; d++)
        dims[d] = t.dims[d];
    dims[n - 1] *= t.dims[n];
    return type_new(s->m->arena, t.element, n, dims);
}

static const WindowAttrs *joined_window(Simplifier *s, const WindowAttrs *a, Type in)
{
    Arena *arena = s->m->arena;
    int64_t size[MAX_RANK], stride[MAX_RANK], base[MAX_RANK], spread[MAX_RANK], pad[2 * MAX_RANK];
    int n = in.rank - 1;
    for (int d = 0; d < n; d++) {
        int64_t each = d + 1 == n ? in.dims[n] : 1;
        size[d] = ints_or(a->window_dimensions, d, 1);
        stride[d] = ints_or(a->window_strides, d, 1);
        base[d] = ints_or(a->base_dilations, d, 1);
        spread[d] = ints_or(a->window_dilations, d, 1) * each;
        for (int i = 2 * d; i < 2 * d + 2; i++)
            pad[i] = a->padding.rows ? a->padding.at[i] * each : 0;
    }
    WindowAttrs *to = ARENA_NEW(arena, WindowAttrs);
    to->window_dimensions = ints_copy(arena, n, size);
    to->window_strides = ints_copy(arena, n, stride);
    to->base_dilations = ints_copy(arena, n, base);
    to->window_dilations = ints_copy(arena, n, spread);
    to->padding = (Matrix){ n, 2, arena_copy(arena, pad, sizeof *pad * 2 * (size_t)n) };
    return to;
}

ValueId widen_window(Simplifier *s, NodeId n)
{
    Module *m = s->m;
    Node node = *node_at(m, n);
    if (node.op != OP_REDUCE_WINDOW || node.nin != 2)
        return 0;
    Type in = type_of(m, node.in[0]), out = type_of(m, node.out);
    OpId op = region_reducer(m, node.regions[0]);
    int last = in.rank - 1;
    if (last < 1 || in.dims[last] < 2 || in.dims[last] >= SHORT || op == OP_COUNT ||
        !leaves_pixels(node.attrs, last) || scan_is(m, n))
        return 0;
    Type result = joined(s, out);
    ValueId v = simplify_put(s, OP_RESHAPE, 1, &node.in[0], joined(s, in), NULL, node.loc);
    RegionId body = build_reducer(m, op, out.element, node.loc);
    NodeId wide = node_new(m, OP_REDUCE_WINDOW, 2, (ValueId[]){ v, node.in[1] }, 1, &result, 1,
                           &body, joined_window(s, node.attrs, in), node.loc);
    simplify_visit(s, wide);
    v = subst_get(&s->map, node_at(m, wide)->out);
    return simplify_put(s, OP_RESHAPE, 1, &v, out, NULL, node.loc);
}
