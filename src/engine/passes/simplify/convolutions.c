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
    ValueId v = take_apart(&c);
    v = v ? v : by_products(&c);
    v = v ? v : put_features_last(&c);
    v = v ? v : turn_kernel(&c);
    v = v ? v : pad_first(&c);
    return v ? v : set_types(&c);
}
