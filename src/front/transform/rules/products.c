/* products.c - dot and convolution: linear in either operand.
 *
 *     c[b, m, n] = sum_k a[b, m, k] b[b, k, n]
 *     ct_a[b, m, k] = sum_n ct[b, m, n] b[b, k, n]       a product again, of ct and the other
 *
 *     y = x * k        ct_x = (ct, spread by the strides) * (k reversed, its features swapped)
 *                      ct_k = x * ct, summed over the batch: batch and features change places,
 *                      and so do groups of features and groups of the batch
 *
 * A batch of convolutions is one convolution: rows that differ in x are more of its batch; that
 * differ in k, more output features; that differ in both, more groups of features. */
#include "front/transform/transform.h"

#include <string.h>

/* ---- dot ---- */

static void jvp_bilinear(const Jvp *j)
{
    Type t = type_at(j->y[0]);
    tt sum = NO_VALUE;
    if (is_value(j->dx[0]))
        sum = build_op(j->op, 2, (const tt[]){ j->dx[0], j->x[1] }, j->attrs, t);
    if (is_value(j->dx[1]))
        sum = build_sum(sum, build_op(j->op, 2, (const tt[]){ j->x[0], j->dx[1] }, j->attrs, t));
    j->dy[0] = sum;
}

void jvp_dot(const Jvp *j)
{
    jvp_bilinear(j);
}

void jvp_convolution(const Jvp *j)
{
    jvp_bilinear(j);
}

/* The operand seen from one side: its own axes, and the other's. */
typedef struct Side {
    Type type;
    Ints batch, contract, rest;
} Side;

static Side side_of(Type type, Ints batch, Ints contract)
{
    return (Side){ type, batch, contract, ints_except(type.rank, ints_join(batch, contract)) };
}

/* mine: linear, whose cotangent is wanted.  its_rest_at: where the other's own axes are in ct. */
static tt transpose_side(tt ct, tt other, Side mine, Side its, int its_rest_at,
                         Precisions precision)
{
    int nbatch = mine.batch.n;
    Element e = type_at(ct).element;
    tt y = build_dot(ct, build_convert(other, e), ints_range(0, nbatch), its.batch,
                     ints_range(its_rest_at, its.rest.n), its.rest, precision);
    /* y's axes: batch, mine.rest, then the other's contracting axes in their order. */
    int64_t at[MAX_RANK], from[MAX_RANK];
    int n = 0;
    for (int i = 0; i < nbatch; i++)
        at[n++] = mine.batch.at[i];
    for (int i = 0; i < mine.rest.n; i++)
        at[n++] = mine.rest.at[i];
    for (int axis = 0; axis < its.type.rank; axis++) {
        int k = ints_find(its.contract, axis);
        if (k >= 0)
            at[n++] = mine.contract.at[k];
    }
    for (int i = 0; i < n; i++)
        from[at[i]] = i;
    return build_convert(build_transpose(y, ints_of(n, from)), mine.type.element);
}

void transpose_dot(const Transpose *t)
{
    const DotAttrs *d = t->attrs;
    Side a = side_of(t->types[0], d->lhs_batching_dimensions, d->lhs_contracting_dimensions);
    Side b = side_of(t->types[1], d->rhs_batching_dimensions, d->rhs_contracting_dimensions);
    int nbatch = a.batch.n;
    if (t->linear[0])
        t->out[0] = transpose_side(t->ct[0], t->x[1], a, b, nbatch + a.rest.n, d->precision_config);
    else
        t->out[1] = transpose_side(t->ct[0], t->x[0], b, a, nbatch, d->precision_config);
}

void batch_dot(const Batch *b)
{
    const DotAttrs *d = b->attrs;
    int by[2] = { b->mapped[0], b->mapped[1] };
    DotAttrs *more = BUILD_ATTRS(
        DotAttrs, .lhs_batching_dimensions = ints_shifted(d->lhs_batching_dimensions, by[0]),
        .rhs_batching_dimensions = ints_shifted(d->rhs_batching_dimensions, by[1]),
        .lhs_contracting_dimensions = ints_shifted(d->lhs_contracting_dimensions, by[0]),
        .rhs_contracting_dimensions = ints_shifted(d->rhs_contracting_dimensions, by[1]),
        .precision_config = d->precision_config);
    int nbatch = d->lhs_batching_dimensions.n;
    int lhs_rest = b->types[0].rank - nbatch - d->lhs_contracting_dimensions.n;
    int at = 0; /* where the batch axis comes out */
    if (by[0] && by[1]) {
        more->lhs_batching_dimensions = ints_insert(more->lhs_batching_dimensions, 0, 0);
        more->rhs_batching_dimensions = ints_insert(more->rhs_batching_dimensions, 0, 0);
    } else {
        at = by[0] ? nbatch : nbatch + lhs_rest;
    }
    tt y = build_op(OP_DOT, 2, b->x, more, type_insert(b->results[0], at, b->size));
    b->y[0] = build_move_axis(y, at, 0);
}

/* ---- convolution ---- */

static int64_t spread(int64_t n, int64_t by)
{
    return n ? (n - 1) * by + 1 : 0;
}

static int64_t entry(Ints list, int i)
{
    return list.n ? list.at[i] : 1;
}

/* Axis `from`, cut in n, gives its first part to axis `to`, in front of what is there. */
static tt regroup(tt x, int64_t from, int64_t to, int64_t n)
{
    Type t = type_at(x), cut = type_remove(t, (int)from);
    int64_t dims[MAX_RANK];
    cut = type_insert(type_insert(cut, (int)from, t.dims[from] / n), (int)from, n);
    /* The part stands before the axis it came from; it moves to stand before `to`. */
    tt moved = build_move_axis(build_reshape(x, cut), (int)from, (int)to);
    memcpy(dims, t.dims, sizeof *dims * (size_t)t.rank);
    dims[from] /= n;
    dims[to] *= n;
    return build_reshape(moved, type_new(trace_arena(), t.element, t.rank, dims));
}

/* The extents along one spatial axis, spread as the convolution sees them. */
typedef struct Axis {
    int64_t x, k, y, low, stride;
} Axis;

static Axis spatial_axis(const Transpose *t, int i)
{
    const ConvolutionAttrs *a = t->attrs;
    int64_t n = t->types[0].dims[a->input_spatial_dimensions.at[i]];
    int64_t k = t->types[1].dims[a->kernel_spatial_dimensions.at[i]];
    int64_t y = t->results[0].dims[a->output_spatial_dimensions.at[i]];
    int64_t stride = entry(a->window_strides, i);
    return (Axis){ spread(n, entry(a->lhs_dilation, i)), spread(k, entry(a->rhs_dilation, i)),
                   spread(y, stride), a->padding.rows ? a->padding.at[2 * i] : 0, stride };
}

static Matrix padding(const Transpose *t, bool is_for_input)
{
    int n = ((const ConvolutionAttrs *)t->attrs)->input_spatial_dimensions.n;
    int64_t *at = ARENA_ARRAY(trace_arena(), int64_t, 2 * n + 1);
    for (int i = 0; i < n; i++) {
        Axis s = spatial_axis(t, i);
        at[2 * i] = is_for_input ? s.k - s.low - 1 : s.low;
        at[2 * i + 1] =
            is_for_input ? s.x + s.k - 1 - s.y - at[2 * i] : s.y - s.x + s.k - s.low - 1;
    }
    return (Matrix){ n, 2, at };
}

/* The kernel reversed along the axes that the convolution reverses, or along those that it does not. */
static tt reverse_window(tt kernel, const ConvolutionAttrs *a, bool is_reversed)
{
    int64_t dims[MAX_RANK];
    int n = 0;
    for (int i = 0; i < a->kernel_spatial_dimensions.n; i++)
        if ((a->window_reversal.n && a->window_reversal.at[i]) == is_reversed)
            dims[n++] = a->kernel_spatial_dimensions.at[i];
    if (!n)
        return kernel;
    return build_op(OP_REVERSE, 1, &kernel,
                    BUILD_ATTRS(DimensionsAttrs, .dimensions = ints_of(n, dims)), type_at(kernel));
}

static tt input_cotangent(const Transpose *t, const ConvolutionAttrs *a)
{
    int64_t groups = a->feature_group_count * a->batch_group_count;
    tt kernel = regroup(t->x[1], a->kernel_output_feature_dimension,
                        a->kernel_input_feature_dimension, groups);
    kernel = reverse_window(kernel, a, false);
    ConvolutionAttrs *back = arena_copy(trace_arena(), a, sizeof *a);
    back->window_strides = a->lhs_dilation;
    back->lhs_dilation = a->window_strides;
    back->padding = padding(t, true);
    back->window_reversal = (Ints){ 0 };
    back->feature_group_count = groups;
    back->batch_group_count = 1;
    back->input_batch_dimension = a->output_batch_dimension;
    back->input_feature_dimension = a->output_feature_dimension;
    back->input_spatial_dimensions = a->output_spatial_dimensions;
    back->kernel_input_feature_dimension = a->kernel_output_feature_dimension;
    back->kernel_output_feature_dimension = a->kernel_input_feature_dimension;
    back->output_batch_dimension = a->input_batch_dimension;
    back->output_feature_dimension = a->input_feature_dimension;
    back->output_spatial_dimensions = a->input_spatial_dimensions;
    Type x = t->types[0];
    int64_t dims[MAX_RANK], n = a->batch_group_count;
    memcpy(dims, x.dims, sizeof *dims * (size_t)x.rank);
    dims[a->input_batch_dimension] /= n;
    dims[a->input_feature_dimension] *= n;
    tt y = build_op(OP_CONVOLUTION, 2, (const tt[]){ t->ct[0], kernel }, back,
                    type_new(trace_arena(), x.element, x.rank, dims));
    return regroup(y, a->input_feature_dimension, a->input_batch_dimension, n);
}

static tt kernel_cotangent(const Transpose *t, const ConvolutionAttrs *a)
{
    ConvolutionAttrs *back = arena_copy(trace_arena(), a, sizeof *a);
    back->window_strides = a->rhs_dilation;
    back->rhs_dilation = a->window_strides;
    back->padding = padding(t, false);
    back->window_reversal = (Ints){ 0 };
    back->feature_group_count = a->batch_group_count;
    back->batch_group_count = a->feature_group_count;
    back->input_batch_dimension = a->input_feature_dimension;
    back->input_feature_dimension = a->input_batch_dimension;
    back->kernel_input_feature_dimension = a->output_batch_dimension;
    back->kernel_output_feature_dimension = a->output_feature_dimension;
    back->kernel_spatial_dimensions = a->output_spatial_dimensions;
    back->output_batch_dimension = a->kernel_input_feature_dimension;
    back->output_feature_dimension = a->kernel_output_feature_dimension;
    back->output_spatial_dimensions = a->kernel_spatial_dimensions;
    tt y = build_op(OP_CONVOLUTION, 2, (const tt[]){ t->x[0], t->ct[0] }, back, t->types[1]);
    return reverse_window(y, a, true);
}

void transpose_convolution(const Transpose *t)
{
    const ConvolutionAttrs *a = t->attrs;
    if (t->linear[0])
        t->out[0] = input_cotangent(t, a);
    else
        t->out[1] = kernel_cotangent(t, a);
}

/* ---- batches ---- */

/* The batch axis 0 joined to axis `dim` of a row, in front of what was there. */
static tt join(tt x, int64_t dim)
{
    Type t = type_at(x);
    int64_t dims[MAX_RANK];
    tt moved = build_move_axis(x, 0, (int)dim);
    for (int i = 0; i + 1 < t.rank; i++)
        dims[i] = t.dims[i + 1] * (i == dim ? t.dims[0] : 1);
    return build_reshape(moved, type_new(trace_arena(), t.element, t.rank - 1, dims));
}

/* The other way: axis `dim` is the batch and then what a row has there. */
static tt part(tt y, int64_t dim, int64_t size)
{
    Type t = type_at(y), row = type_remove(t, (int)dim);
    row = type_insert(type_insert(row, (int)dim, t.dims[dim] / size), (int)dim, size);
    return build_move_axis(build_reshape(y, row), (int)dim, 0);
}

void batch_convolution(const Batch *b)
{
    const ConvolutionAttrs *a = b->attrs;
    ConvolutionAttrs *more = arena_copy(trace_arena(), a, sizeof *a);
    /* Groups of features stay groups only if every row has its own. */
    bool is_cut = a->batch_group_count > 1;
    bool both = is_cut || (b->mapped[1] && (b->mapped[0] || a->feature_group_count > 1));
    tt in[2] = { b->x[0], b->x[1] };
    int64_t at = a->output_feature_dimension, dims[MAX_RANK];
    if (both) {
        in[0] = join(batch_operand(b, 0),
                     is_cut ? a->input_batch_dimension : a->input_feature_dimension);
        in[1] = join(batch_operand(b, 1), a->kernel_output_feature_dimension);
        *(is_cut ? &more->batch_group_count : &more->feature_group_count) *= b->size;
    } else if (b->mapped[0]) {
        in[0] = join(in[0], a->input_batch_dimension);
        at = a->output_batch_dimension;
    } else {
        in[1] = join(in[1], a->kernel_output_feature_dimension);
    }
    Type row = b->results[0];
    memcpy(dims, row.dims, sizeof *dims * (size_t)row.rank);
    dims[at] *= b->size;
    tt y =
        build_op(OP_CONVOLUTION, 2, in, more, type_new(trace_arena(), row.element, row.rank, dims));
    b->y[0] = part(y, at, b->size);
}
