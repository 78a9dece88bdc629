/* convolutions.c - convolutions that are better said otherwise.
 *
 * The kernel of a convolution (kernels/conv.c) works along the last dimension of the result.  What a
 * derivative makes of a plain convolution does not suit it, and becomes what does:
 *
 *   kernel [0, 1, o, i]          transposed to [0, 1, i, o] first: its lanes then lie side by side;
 *                                where features are not the result's last, [i, o, 0, 1] to [o, i, 0, 1]
 *   features first [n, f, 0, 1]  features last, of input, kernel and result: what a window sees then lies side
 *                                by side, and all images are the rows of one product
 *   input spread apart by d      d plain convolutions, each with every d-th tap; their results are
 *                                the 1st, 2nd, ... of every d elements
 *   windows beside each other    one matrix product, and a transpose of places and taps: where the input is spread
 *                                apart by as much as the window is long, each element of the result meets one tap;
 *                                where taps are as far apart as there are results, or, of features that do not lie
 *                                last, the window steps by its length, each element of the input is seen once
 *   few results, a large window  for each place of the result one matrix product of the kernel and
 *                                the part of the input below it
 *   where the runtime multiplies padding is written into the input, so that what a window sees is a
 *                                matrix, and types are those of its products */
#include "engine/kernels/query.h"
#include "engine/passes/simplify/simplify.h"

#include <string.h>

/* So many places of the result are products of their own; and each sums over this many at least. */
enum { FEW_PLACES = 64, MANY_TERMS = 512 };
/* Features are put last for so many places, and so many numbers side by side. */
enum { MANY_PLACES = 256, MANY_BESIDE = 16 };

typedef struct Conv {
    Simplifier *s;
    Arena *arena;
    Node node;
    const ConvolutionAttrs *a;
    Type input, kernel, out;
    int nspatial;
} Conv;

static int64_t pad_of(const Conv *c, int i, int side)
{
    return i < c->a->padding.rows ? c->a->padding.at[2 * i + side] : 0;
}

static ValueId put(const Conv *c, OpId op, ValueId v, Type t, const void *attrs)
{
    return simplify_put(c->s, op, 1, &v, t, attrs, c->node.loc);
}

static ValueId put_zeros(const Conv *c, Type t)
{
    static const char zeros[16];
    return simplify_constant(c->s, (Dense){ t, true, zeros }, c->node.loc);
}

/* The type with another extent at one dimension. */
static Type resized(const Conv *c, Type t, int dim, int64_t extent)
{
    int64_t dims[MAX_RANK];
    memcpy(dims, t.dims, sizeof *dims * (size_t)t.rank);
    dims[dim] = extent;
    return type_new(c->arena, t.element, t.rank, dims);
}

static ValueId put_slice(const Conv *c, ValueId v, int n, const int64_t *start,
                         const int64_t *limit, const int64_t *step)
{
    Type t = type_of(c->s->m, v);
    int64_t dims[MAX_RANK];
    for (int i = 0; i < n; i++)
        dims[i] = (limit[i] - start[i] + step[i] - 1) / step[i];
    SliceAttrs *attrs = ARENA_NEW(c->arena, SliceAttrs);
    attrs->start_indices = ints_copy(c->arena, n, start);
    attrs->limit_indices = ints_copy(c->arena, n, limit);
    attrs->strides = ints_copy(c->arena, n, step);
    return put(c, OP_SLICE, v, type_new(c->arena, t.element, n, dims), attrs);
}

/* Of one dimension alone; the others are whole. */
static ValueId put_slice_of(const Conv *c, ValueId v, int dim, int64_t start, int64_t limit,
                            int64_t step)
{
    Type t = type_of(c->s->m, v);
    int64_t starts[MAX_RANK] = { 0 }, limits[MAX_RANK], steps[MAX_RANK];
    for (int i = 0; i < t.rank; i++) {
        limits[i] = t.dims[i];
        steps[i] = 1;
    }
    starts[dim] = start;
    limits[dim] = limit;
    steps[dim] = step;
    return put_slice(c, v, t.rank, starts, limits, steps);
}

static ValueId put_concatenation(const Conv *c, int n, const ValueId *parts, int dim)
{
    Type t = type_of(c->s->m, parts[0]);
    DimensionAttrs *attrs = ARENA_NEW(c->arena, DimensionAttrs);
    attrs->dimension = dim;
    return simplify_put(c->s, OP_CONCATENATE, n, parts, resized(c, t, dim, n * t.dims[dim]), attrs,
                        c->node.loc);
}

/* ---- the kernel's results last, or first ---- */

/* The value with its dimensions in that order. */
static ValueId put_transpose(const Conv *c, ValueId v, const int64_t *order)
{
    Type t = type_of(c->s->m, v);
    int64_t dims[MAX_RANK];
    for (int i = 0; i < t.rank; i++)
        dims[i] = t.dims[order[i]];
    TransposeAttrs *attrs = ARENA_NEW(c->arena, TransposeAttrs);
    attrs->permutation = ints_copy(c->arena, t.rank, order);
    return put(c, OP_TRANSPOSE, v, type_new(c->arena, t.element, t.rank, dims), attrs);
}

/* The convolution by its kernel with the dimensions in that order. */
static ValueId by_transposed(const Conv *c, const int64_t *order)
{
    int rank = c->kernel.rank, n = c->nspatial;
    int64_t at[MAX_RANK], spatial[MAX_RANK];
    for (int i = 0; i < rank; i++)
        at[order[i]] = i;
    for (int i = 0; i < n; i++)
        spatial[i] = at[c->a->kernel_spatial_dimensions.at[i]];
    ConvolutionAttrs *attrs = arena_copy(c->arena, c->a, sizeof *c->a);
    attrs->kernel_spatial_dimensions = ints_copy(c->arena, n, spatial);
    attrs->kernel_input_feature_dimension = at[c->a->kernel_input_feature_dimension];
    attrs->kernel_output_feature_dimension = at[c->a->kernel_output_feature_dimension];
    ValueId in[] = { c->node.in[0], put_transpose(c, c->node.in[1], order) };
    return simplify_put(c->s, OP_CONVOLUTION, 2, in, c->out, attrs, c->node.loc);
}

static ValueId turn_kernel(const Conv *c)
{
    const ConvolutionAttrs *a = c->a;
    int64_t order[MAX_RANK], results = a->kernel_output_feature_dimension;
    int last = c->kernel.rank - 1, n = 0;
    if (a->output_feature_dimension == c->out.rank - 1) {
        if (results == last)
            return 0;
        for (; n < c->nspatial; n++)
            order[n] = a->kernel_spatial_dimensions.at[n];
        order[n] = a->kernel_input_feature_dimension;
        order[n + 1] = results;
        return by_transposed(c, order);
    }
    if (results == 0 || results == last)
        return 0;
    order[n++] = results;
    for (int d = 0; d <= last; d++)
        if (d != results)
            order[n++] = d;
    return by_transposed(c, order);
}

/* ---- features last ---- */

static int64_t count_places(const Conv *c, Type t, Ints dims)
{
    int64_t n = 1;
    for (int i = 0; i < c->nspatial; i++)
        n *= t.dims[dims.at[i]];
    return n;
}

/* Places lie last, there are more of them than taps, and enough in all images to pay for turning the kernel; and
 * of the features last, a row of the window would be a vector. */
static bool wants_features_last(const Conv *c)
{
    const ConvolutionAttrs *a = c->a;
    int last = c->out.rank - 1, w = c->nspatial - 1;
    if (a->feature_group_count > 1 || a->batch_group_count > 1 || w < 0 ||
        ints_find(a->output_spatial_dimensions, last) < 0 ||
        ints_find(a->input_spatial_dimensions, last) < 0)
        return false;
    int64_t taps = count_places(c, c->kernel, a->kernel_spatial_dimensions);
    int64_t places = count_places(c, c->out, a->output_spatial_dimensions);
    int64_t beside = c->kernel.dims[a->kernel_input_feature_dimension];
    if (ints_or(a->rhs_dilation, w, 1) == 1)
        beside *= c->kernel.dims[a->kernel_spatial_dimensions.at[w]];
    return taps > 1 && places > taps && beside >= MANY_BESIDE &&
           places * c->out.dims[a->output_batch_dimension] >= MANY_PLACES &&
           convolution_multiplies(c->s->m, &c->node);
}

/* The order that takes dimensions to first, those between, last. */
static void set_order(const Conv *c, int64_t *order, int64_t first, Ints between, int64_t last)
{
    order[0] = first;
    for (int i = 0; i < c->nspatial; i++)
        order[1 + i] = between.at[i];
    order[1 + c->nspatial] = last;
}

static ValueId put_features_last(const Conv *c)
{
    if (!wants_features_last(c))
        return 0;
    const ConvolutionAttrs *a = c->a;
    int n = c->nspatial, rank = n + 2;
    int64_t of_input[MAX_RANK], of_kernel[MAX_RANK], of_out[MAX_RANK], dims[MAX_RANK],
        back[MAX_RANK];
    int64_t spatial[MAX_RANK];
    set_order(c, of_input, a->input_batch_dimension, a->input_spatial_dimensions,
              a->input_feature_dimension);
    set_order(c, of_out, a->output_batch_dimension, a->output_spatial_dimensions,
              a->output_feature_dimension);
    for (int i = 0; i < n; i++)
        of_kernel[i] = a->kernel_spatial_dimensions.at[i];
    of_kernel[n] = a->kernel_input_feature_dimension;
    of_kernel[n + 1] = a->kernel_output_feature_dimension;
    for (int i = 0; i < rank; i++) {
        spatial[i] = i;
        dims[i] = c->out.dims[of_out[i]];
        back[of_out[i]] = i;
    }
    ConvolutionAttrs *attrs = arena_copy(c->arena, a, sizeof *a);
    attrs->input_batch_dimension = attrs->output_batch_dimension = 0;
    attrs->input_feature_dimension = attrs->output_feature_dimension = n + 1;
    attrs->input_spatial_dimensions = ints_copy(c->arena, n, spatial + 1);
    attrs->output_spatial_dimensions = ints_copy(c->arena, n, spatial + 1);
    attrs->kernel_spatial_dimensions = ints_copy(c->arena, n, spatial);
    attrs->kernel_input_feature_dimension = n;
    attrs->kernel_output_feature_dimension = n + 1;
    ValueId in[] = { put_transpose(c, c->node.in[0], of_input),
                     put_transpose(c, c->node.in[1], of_kernel) };
    Type out = type_new(c->arena, c->out.element, rank, dims);
    ValueId v = simplify_put(c->s, OP_CONVOLUTION, 2, in, out, attrs, c->node.loc);
    return put_transpose(c, v, back);
}

/* ---- an input that is spread apart ---- */

/* Which spatial dimension to take apart; -1: none. */
static int spread_dim(const Conv *c)
{
    for (int i = 0; i < c->nspatial; i++) {
        int64_t apart = ints_or(c->a->lhs_dilation, i, 1);
        if (apart > 1 && apart <= c->out.dims[c->a->output_spatial_dimensions.at[i]] &&
            ints_or(c->a->window_strides, i, 1) == 1 && ints_or(c->a->rhs_dilation, i, 1) == 1 &&
            !ints_or(c->a->window_reversal, i, 0))
            return i;
    }
    return -1;
}

/* Results r, r + apart, ... along spatial dimension i, `count` of them.  Result r + apart t meets
 * an element with those taps w for which r + w - before is a multiple of apart:
 * w = first, first + apart, ...; the element is then t + (r + first - before) / apart, + 1, ... */
static ValueId one_phase(const Conv *c, int i, int64_t r, int64_t count)
{
    const ConvolutionAttrs *a = c->a;
    int64_t apart = a->lhs_dilation.at[i], before = pad_of(c, i, 0);
    int kernel_dim = (int)a->kernel_spatial_dimensions.at[i];
    int64_t size = c->kernel.dims[kernel_dim];
    int64_t first = ((before - r) % apart + apart) % apart;
    Type out = resized(c, c->out, (int)a->output_spatial_dimensions.at[i], count);
    if (first >= size)
        return put_zeros(c, out);
    ValueId taps = put_slice_of(c, c->node.in[1], kernel_dim, first, size, apart);
    int64_t low = -(r + first - before) / apart;
    int64_t ntaps = (size - first + apart - 1) / apart;
    int64_t extent = c->input.dims[a->input_spatial_dimensions.at[i]];
    int64_t *padding = ARENA_ARRAY(c->arena, int64_t, 2 * c->nspatial);
    int64_t spreads[MAX_RANK];
    for (int k = 0; k < c->nspatial; k++) {
        padding[2 * k] = pad_of(c, k, 0);
        padding[2 * k + 1] = pad_of(c, k, 1);
        spreads[k] = k == i ? 1 : ints_or(a->lhs_dilation, k, 1);
    }
    padding[2 * i] = low;
    padding[2 * i + 1] = count + ntaps - 1 - extent - low;
    ConvolutionAttrs *attrs = arena_copy(c->arena, a, sizeof *a);
    attrs->lhs_dilation = ints_copy(c->arena, c->nspatial, spreads);
    attrs->padding = (Matrix){ .rows = c->nspatial, .cols = 2, .at = padding };
    ValueId in[] = { c->node.in[0], taps };
    return simplify_put(c->s, OP_CONVOLUTION, 2, in, out, attrs, c->node.loc);
}

static ValueId take_apart(const Conv *c)
{
    int i = spread_dim(c);
    if (i < 0 || c->out.rank == MAX_RANK)
        return 0;
    int64_t apart = c->a->lhs_dilation.at[i];
    int dim = (int)c->a->output_spatial_dimensions.at[i];
    int64_t whole = c->out.dims[dim], count = (whole + apart - 1) / apart;
    int64_t dims[MAX_RANK];
    for (int k = 0; k <= c->out.rank; k++)
        dims[k] = k <= dim ? c->out.dims[k] : k == dim + 1 ? 1 : c->out.dims[k - 1];
    dims[dim] = count;
    Type lifted = type_new(c->arena, c->out.element, c->out.rank + 1, dims);
    ValueId *phases = ARENA_ARRAY(c->arena, ValueId, apart);
    for (int64_t r = 0; r < apart; r++)
        phases[r] = put(c, OP_RESHAPE, one_phase(c, i, r, count), lifted, NULL);
    ValueId all = put_concatenation(c, (int)apart, phases, dim + 1);
    all = put(c, OP_RESHAPE, all, resized(c, c->out, dim, count * apart), NULL);
    return count * apart == whole ? all : put_slice_of(c, all, dim, 0, whole, 1);
}

/* ---- windows beside each other ---- */

/* Nothing but padding and dilation, in types whose products are known; and places can be split in two. */
static bool may_split(const Conv *c)
{
    const ConvolutionAttrs *a = c->a;
    for (int i = 0; i < c->nspatial; i++)
        if (ints_or(a->window_strides, i, 1) != 1 || ints_or(a->window_reversal, i, 0))
            return false;
    return a->feature_group_count <= 1 && a->batch_group_count <= 1 &&
           c->out.rank + c->nspatial <= MAX_RANK &&
           gemm_types(c->input.element, c->kernel.element, c->out.element).is_known;
}

static int64_t taps_of(const Conv *c, int i)
{
    return c->kernel.dims[c->a->kernel_spatial_dimensions.at[i]];
}

static int64_t places_of(const Conv *c, int i)
{
    return c->out.dims[c->a->output_spatial_dimensions.at[i]];
}

static int64_t extent_of(const Conv *c, int i)
{
    return c->input.dims[c->a->input_spatial_dimensions.at[i]];
}

/* Does every element of the result meet one tap, and the one of the input above it, or, behind the last, none? */
static bool meets_one_tap(const Conv *c)
{
    bool is_apart = false;
    for (int i = 0; i < c->nspatial; i++) {
        int64_t apart = ints_or(c->a->lhs_dilation, i, 1);
        if (taps_of(c, i) != apart || (apart > 1 && ints_or(c->a->rhs_dilation, i, 1) != 1) ||
            pad_of(c, i, 0) != apart - 1 || places_of(c, i) < apart * extent_of(c, i))
            return false;
        is_apart |= apart > 1;
    }
    return is_apart && may_split(c);
}

/* Does the window see every element of the input once, by one tap from one place, but for the last ones? */
static bool sees_once(const Conv *c)
{
    bool is_apart = false;
    for (int i = 0; i < c->nspatial; i++) {
        int64_t apart = ints_or(c->a->rhs_dilation, i, 1);
        if (places_of(c, i) != apart || ints_or(c->a->lhs_dilation, i, 1) != 1 || pad_of(c, i, 0) ||
            pad_of(c, i, 1) > 0)
            return false;
        is_apart |= apart > 1 && taps_of(c, i) > 1;
    }
    return is_apart && may_split(c);
}

/* Where the dimensions of an operand stand among those that a dot leaves of it. */
static int set_left(Type t, Ints contracted, int first, int64_t *left)
{
    for (int d = 0; d < t.rank; d++)
        left[d] = ints_find(contracted, d) < 0 ? first++ : -1;
    return first;
}

static ValueId put_dot(const Conv *c, ValueId lhs, Ints of_lhs, ValueId rhs, Ints of_rhs)
{
    Type types[] = { type_of(c->s->m, lhs), type_of(c->s->m, rhs) };
    int64_t dims[2 * MAX_RANK];
    int n = 0;
    for (int side = 0; side < 2; side++)
        for (int d = 0; d < types[side].rank; d++)
            if (ints_find(side ? of_rhs : of_lhs, d) < 0)
                dims[n++] = types[side].dims[d];
    DotAttrs *attrs = ARENA_NEW(c->arena, DotAttrs);
    attrs->lhs_contracting_dimensions = of_lhs;
    attrs->rhs_contracting_dimensions = of_rhs;
    ValueId in[] = { lhs, rhs };
    return simplify_put(c->s, OP_DOT, 2, in, type_new(c->arena, c->out.element, n, dims), attrs,
                        c->node.loc);
}

/* With its taps in the other order; a derivative's kernel has been reversed before. */
static ValueId reversed_kernel(const Conv *c)
{
    ValueId v = c->node.in[1];
    NodeId def = value_def(c->s->m, v);
    const Node *node = def ? node_at(c->s->m, def) : NULL;
    Ints dims = c->a->kernel_spatial_dimensions;
    if (node && node->op == OP_REVERSE &&
        ints_equal(((const DimensionsAttrs *)node->attrs)->dimensions, dims))
        return node->in[0];
    DimensionsAttrs *attrs = ARENA_NEW(c->arena, DimensionsAttrs);
    attrs->dimensions = dims;
    return put(c, OP_REVERSE, v, c->kernel, attrs);
}

/* As large as the convolution's result. */
static ValueId put_zeros_behind(const Conv *c, ValueId v)
{
    Type t = type_of(c->s->m, v);
    int64_t none[MAX_RANK] = { 0 }, high[MAX_RANK];
    bool is_whole = true;
    for (int d = 0; d < t.rank; d++) {
        high[d] = c->out.dims[d] - t.dims[d];
        is_whole = is_whole && !high[d];
    }
    if (is_whole)
        return v;
    PadAttrs *attrs = ARENA_NEW(c->arena, PadAttrs);
    attrs->edge_padding_low = attrs->interior_padding = ints_copy(c->arena, t.rank, none);
    attrs->edge_padding_high = ints_copy(c->arena, t.rank, high);
    ValueId in[] = { v, put_zeros(c, type_scalar(t.element)) };
    return simplify_put(c->s, OP_PAD, 2, in, c->out, attrs, c->node.loc);
}

/* Result [batch, places.., taps.., features], in which each place of the input has its taps beside it. */
static ValueId spread_by_product(const Conv *c)
{
    const ConvolutionAttrs *a = c->a;
    if (!meets_one_tap(c))
        return 0;
    Ints of_input = ints_copy(c->arena, 1, &a->input_feature_dimension);
    Ints of_kernel = ints_copy(c->arena, 1, &a->kernel_input_feature_dimension);
    ValueId v = put_dot(c, c->node.in[0], of_input, reversed_kernel(c), of_kernel);
    int64_t from_input[MAX_RANK], from_kernel[MAX_RANK], order[MAX_RANK];
    int n = set_left(c->input, of_input, 0, from_input);
    set_left(c->kernel, of_kernel, n, from_kernel);
    n = 0;
    for (int d = 0; d < c->out.rank; d++) {
        int i = (int)ints_find(a->output_spatial_dimensions, d);
        if (i >= 0)
            order[n++] = from_input[a->input_spatial_dimensions.at[i]];
        order[n++] = i >= 0 ? from_kernel[a->kernel_spatial_dimensions.at[i]]
                     : d == a->output_batch_dimension
                         ? from_input[a->input_batch_dimension]
                         : from_kernel[a->kernel_output_feature_dimension];
    }
    Type met = c->out;
    for (int i = 0; i < c->nspatial; i++)
        met = resized(c, met, (int)a->output_spatial_dimensions.at[i],
                      taps_of(c, i) * extent_of(c, i));
    return put_zeros_behind(c, put(c, OP_RESHAPE, put_transpose(c, v, order), met, NULL));
}

/* The input with each spatial dimension as two, of places and taps or of taps and places; at[d]: where dimension d
 * is then, the outer one of two. */
static ValueId split_input(const Conv *c, bool has_places_first, int64_t *at)
{
    int64_t dims[MAX_RANK];
    int rank = 0;
    ValueId v = c->node.in[0];
    for (int d = 0; d < c->input.rank; d++) {
        int i = (int)ints_find(c->a->input_spatial_dimensions, d);
        at[d] = rank;
        if (i < 0) {
            dims[rank++] = c->input.dims[d];
            continue;
        }
        int64_t taps = taps_of(c, i), places = places_of(c, i);
        if (taps * places != c->input.dims[d])
            v = put_slice_of(c, v, d, 0, taps * places, 1);
        dims[rank++] = has_places_first ? places : taps;
        dims[rank++] = has_places_first ? taps : places;
    }
    return put(c, OP_RESHAPE, v, type_new(c->arena, c->input.element, rank, dims), NULL);
}

static Ints count_from(const Conv *c, int n, int64_t first)
{
    int64_t at[MAX_RANK];
    for (int i = 0; i < n; i++)
        at[i] = first + i;
    return ints_copy(c->arena, n, at);
}

/* Its input feature, then its taps. */
static Ints summed_of_kernel(const Conv *c)
{
    int64_t at[MAX_RANK] = { c->a->kernel_input_feature_dimension };
    memcpy(at + 1, c->a->kernel_spatial_dimensions.at, sizeof *at * (size_t)c->nspatial);
    return ints_copy(c->arena, c->nspatial + 1, at);
}

static ValueId see_by_product(const Conv *c)
{
    const ConvolutionAttrs *a = c->a;
    int n = c->nspatial;
    if (!sees_once(c))
        return 0;
    int64_t at[MAX_RANK], order[MAX_RANK];
    ValueId split = split_input(c, false, at);
    order[0] = at[a->input_feature_dimension];
    for (int i = 0; i < n; i++) {
        order[1 + i] = at[a->input_spatial_dimensions.at[i]];
        order[1 + n + i] = order[1 + i] + 1;
    }
    order[1 + 2 * n] = at[a->input_batch_dimension];
    ValueId v = put_dot(c, put_transpose(c, split, order), count_from(c, n + 1, 0), c->node.in[1],
                        summed_of_kernel(c));
    for (int i = 0; i < n; i++)
        order[a->output_spatial_dimensions.at[i]] = i;
    order[a->output_batch_dimension] = n;
    order[a->output_feature_dimension] = n + 1;
    return put_transpose(c, v, order);
}

/* Does the window step by as much as it is long, over features that do not lie last? */
static bool steps_over(const Conv *c)
{
    const ConvolutionAttrs *a = c->a;
    for (int i = 0; i < c->nspatial; i++)
        if (ints_or(a->window_strides, i, 1) != taps_of(c, i) ||
            ints_or(a->lhs_dilation, i, 1) != 1 || ints_or(a->rhs_dilation, i, 1) != 1 ||
            ints_or(a->window_reversal, i, 0) || pad_of(c, i, 0) || pad_of(c, i, 1) > 0)
            return false;
    return a->input_feature_dimension != c->input.rank - 1 && a->feature_group_count <= 1 &&
           a->batch_group_count <= 1 && c->out.rank + c->nspatial <= MAX_RANK &&
           count_places(c, c->kernel, a->kernel_spatial_dimensions) > 1 &&
           count_places(c, c->out, a->output_spatial_dimensions) *
                   c->out.dims[a->output_batch_dimension] >=
               MANY_PLACES &&
           gemm_types(c->input.element, c->kernel.element, c->out.element).is_known;
}

static ValueId step_by_product(const Conv *c)
{
    const ConvolutionAttrs *a = c->a;
    int n = c->nspatial;
    if (!steps_over(c))
        return 0;
    int64_t at[MAX_RANK], order[MAX_RANK];
    ValueId split = split_input(c, true, at);
    order[0] = at[a->input_batch_dimension];
    order[1 + n] = at[a->input_feature_dimension];
    for (int i = 0; i < n; i++) {
        order[1 + i] = at[a->input_spatial_dimensions.at[i]];
        order[2 + n + i] = order[1 + i] + 1;
    }
    ValueId v = put_dot(c, put_transpose(c, split, order), count_from(c, n + 1, n + 1),
                        c->node.in[1], summed_of_kernel(c));
    order[a->output_batch_dimension] = 0;
    for (int i = 0; i < n; i++)
        order[a->output_spatial_dimensions.at[i]] = 1 + i;
    order[a->output_feature_dimension] = 1 + n;
    return put_transpose(c, v, order);
}

/* ---- few results, a large window ---- */

static bool wants_products(const Conv *c)
{
    const ConvolutionAttrs *a = c->a;
    if (!gemm_types(c->input.element, c->kernel.element, c->out.element).is_known ||
        a->feature_group_count > 1 || a->batch_group_count > 1)
        return false;
    for (int i = 0; i < c->nspatial; i++)
        if (ints_or(a->window_reversal, i, 0))
            return false;
    int64_t places = count_places(c, c->out, a->output_spatial_dimensions);
    int64_t window = count_places(c, c->kernel, a->kernel_spatial_dimensions);
    int64_t terms = window * c->kernel.dims[a->kernel_input_feature_dimension];
    return places <= FEW_PLACES && window > places && terms >= MANY_TERMS;
}

/* The input with its padding, spread apart: what the window moves over. */
static ValueId padded_input(const Conv *c)
{
    int64_t low[MAX_RANK] = { 0 }, high[MAX_RANK] = { 0 }, between[MAX_RANK] = { 0 };
    int64_t dims[MAX_RANK];
    memcpy(dims, c->input.dims, sizeof *dims * (size_t)c->input.rank);
    for (int i = 0; i < c->nspatial; i++) {
        int64_t d = c->a->input_spatial_dimensions.at[i];
        low[d] = pad_of(c, i, 0);
        high[d] = pad_of(c, i, 1);
        between[d] = ints_or(c->a->lhs_dilation, i, 1) - 1;
        dims[d] += low[d] + high[d] + (dims[d] ? (dims[d] - 1) * between[d] : 0);
    }
    PadAttrs *attrs = ARENA_NEW(c->arena, PadAttrs);
    attrs->edge_padding_low = ints_copy(c->arena, c->input.rank, low);
    attrs->edge_padding_high = ints_copy(c->arena, c->input.rank, high);
    attrs->interior_padding = ints_copy(c->arena, c->input.rank, between);
    ValueId in[] = { c->node.in[0], put_zeros(c, type_scalar(c->input.element)) };
    Type t = type_new(c->arena, c->input.element, c->input.rank, dims);
    return simplify_put(c->s, OP_PAD, 2, in, t, attrs, c->node.loc);
}

/* What the window sees of the input when it stands at that place of the result. */
static ValueId seen_from(const Conv *c, ValueId padded, int64_t place)
{
    Type t = type_of(c->s->m, padded);
    int64_t start[MAX_RANK] = { 0 }, limit[MAX_RANK], step[MAX_RANK];
    for (int i = 0; i < t.rank; i++) {
        limit[i] = t.dims[i];
        step[i] = 1;
    }
    for (int i = c->nspatial - 1; i >= 0; i--) {
        int64_t d = c->a->input_spatial_dimensions.at[i];
        int64_t count = c->out.dims[c->a->output_spatial_dimensions.at[i]];
        int64_t size = c->kernel.dims[c->a->kernel_spatial_dimensions.at[i]];
        step[d] = ints_or(c->a->rhs_dilation, i, 1);
        start[d] = place % count * ints_or(c->a->window_strides, i, 1);
        limit[d] = start[d] + (size - 1) * step[d] + 1;
        place /= count;
    }
    return put_slice(c, padded, t.rank, start, limit, step);
}

/* input [batch, terms] by kernel [terms, features]. */
static ValueId put_product(const Conv *c, ValueId seen, Type result)
{
    int64_t of_input[MAX_RANK], of_kernel[MAX_RANK];
    int n = c->nspatial;
    for (int i = 0; i < n; i++) {
        of_input[i] = c->a->input_spatial_dimensions.at[i];
        of_kernel[i] = c->a->kernel_spatial_dimensions.at[i];
    }
    of_input[n] = c->a->input_feature_dimension;
    of_kernel[n] = c->a->kernel_input_feature_dimension;
    DotAttrs *attrs = ARENA_NEW(c->arena, DotAttrs);
    attrs->lhs_contracting_dimensions = ints_copy(c->arena, n + 1, of_input);
    attrs->rhs_contracting_dimensions = ints_copy(c->arena, n + 1, of_kernel);
    ValueId in[] = { seen, c->node.in[1] };
    return simplify_put(c->s, OP_DOT, 2, in, result, attrs, c->node.loc);
}

/* From [places..., batch, features] to the result's order. */
static ValueId in_order(const Conv *c, ValueId v)
{
    const ConvolutionAttrs *a = c->a;
    int64_t order[MAX_RANK], dims[MAX_RANK];
    for (int i = 0; i < c->nspatial; i++)
        order[a->output_spatial_dimensions.at[i]] = i;
    order[a->output_batch_dimension] = c->nspatial;
    order[a->output_feature_dimension] = c->nspatial + 1;
    for (int i = 0; i < c->out.rank; i++)
        dims[order[i]] = c->out.dims[i];
    v = put(c, OP_RESHAPE, v, type_new(c->arena, c->out.element, c->out.rank, dims), NULL);
    return put_transpose(c, v, order);
}

/* ---- padding ---- */

static bool has_padding(const Conv *c)
{
    for (int i = 0; i < c->nspatial; i++)
        if (pad_of(c, i, 0) || pad_of(c, i, 1) || ints_or(c->a->lhs_dilation, i, 1) != 1)
            return true;
    return false;
}

static ValueId pad_first(const Conv *c)
{
    if (!has_padding(c) || !convolution_multiplies(c->s->m, &c->node))
        return 0;
    ConvolutionAttrs *attrs = arena_copy(c->arena, c->a, sizeof *c->a);
    int64_t ones[MAX_RANK];
    for (int i = 0; i < c->nspatial; i++)
        ones[i] = 1;
    attrs->padding =
        (Matrix){ .rows = c->nspatial, .cols = 2, .at = ARENA_ARRAY(c->arena, int64_t, 2 * c->nspatial) };
    attrs->lhs_dilation = ints_copy(c->arena, c->nspatial, ones);
    ValueId in[] = { padded_input(c), c->node.in[1] };
    return simplify_put(c->s, OP_CONVOLUTION, 2, in, c->out, attrs, c->node.loc);
}

/* ---- types ---- */

static ValueId put_as(const Conv *c, ValueId v, Element e)
{
    Type t = type_of(c->s->m, v);
    t.element = e;
    return put(c, OP_CONVERT, v, t, NULL);
}

/* Narrow numbers are added up in wider ones. */
static ValueId set_types(const Conv *c)
{
    GemmTypes t = gemm_types(c->input.element, c->kernel.element, c->out.element);
    if (!convolution_multiplies(c->s->m, &c->node) ||
        (c->input.element == t.operands && c->kernel.element == t.operands &&
         c->out.element == t.sum))
        return 0;
    ValueId in[] = { put_as(c, c->node.in[0], t.operands), put_as(c, c->node.in[1], t.operands) };
    Type sum = c->out;
    sum.element = t.sum;
    ValueId v = simplify_put(c->s, OP_CONVOLUTION, 2, in, sum, c->a, c->node.loc);
    return put_as(c, v, c->out.element);
}

static ValueId by_products(const Conv *c)
{
    if (!wants_products(c) || convolution_multiplies(c->s->m, &c->node))
        return 0;
    int64_t places = count_places(c, c->out, c->a->output_spatial_dimensions);
    int64_t dims[] = { 1, c->out.dims[c->a->output_batch_dimension],
                       c->out.dims[c->a->output_feature_dimension] };
    Type product = type_new(c->arena, c->out.element, 2, dims + 1);
    Type lifted = type_new(c->arena, c->out.element, 3, dims);
    ValueId padded = padded_input(c), *parts = ARENA_ARRAY(c->arena, ValueId, places);
    for (int64_t i = 0; i < places; i++) {
        ValueId v = put_product(c, seen_from(c, padded, i), product);
        parts[i] = put(c, OP_RESHAPE, v, lifted, NULL);
    }
    return in_order(c, put_concatenation(c, (int)places, parts, 0));
}

ValueId simplify_convolution(Simplifier *s, NodeId n)
{
    if (node_at(s->m, n)->op != OP_CONVOLUTION)
        return 0;
    Conv c = { .s = s, .arena = s->m->arena, .node = *node_at(s->m, n) };
    c.a = c.node.attrs;
    c.input = type_of(s->m, c.node.in[0]);
    c.kernel = type_of(s->m, c.node.in[1]);
    c.out = type_of(s->m, c.node.out);
    c.nspatial = c.a->input_spatial_dimensions.n;
    if (!type_count(c.out) || !type_count(c.input) || !type_count(c.kernel))
        return 0;
    ValueId v = spread_by_product(&c);
    v = v ? v : see_by_product(&c);
    v = v ? v : take_apart(&c);
    v = v ? v : by_products(&c);
    v = v ? v : put_features_last(&c);
    v = v ? v : step_by_product(&c);
    v = v ? v : turn_kernel(&c);
    v = v ? v : pad_first(&c);
    return v ? v : set_types(&c);
}
