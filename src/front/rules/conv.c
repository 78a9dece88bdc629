/* conv.c - convolutions run backwards, and of batches.
 *
 *     y = x * k        ct_x = (ct, spread by the strides) * (k reversed, its features swapped)
 *                      ct_k = x * ct, summed over the batch: batch and features change places
 *
 * A batch of convolutions is one convolution: rows that differ in x are more of its batch; that
 * differ in k, more output features; that differ in both, more groups of features. */
#include "front/jvp.h"
#include "front/say.h"

#include <string.h>

static int64_t spread(int64_t n, int64_t by)
{
    return n ? (n - 1) * by + 1 : 0;
}

static int64_t entry(Ints list, int i)
{
    return list.n ? list.at[i] : 1;
}

static bool is_plain(const Transpose *t, const ConvolutionAttrs *a)
{
    bool is_reversed = false;
    for (int i = 0; i < a->window_reversal.n; i++)
        is_reversed = is_reversed || a->window_reversal.at[i];
    if (a->feature_group_count == 1 && a->batch_group_count == 1 && !is_reversed)
        return true;
    say_broken(
        "not supported: the gradient through a convolution with groups or a reversed window, "
        "%s",
        loc_name(node_at(t->m, t->node)->loc));
    return false;
}

/* The extents along one spatial axis, spread as the convolution sees them. */
typedef struct Axis {
    int64_t x, k, y, low, stride;
} Axis;

static Axis axis_of(const Transpose *t, int i)
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
        Axis s = axis_of(t, i);
        at[2 * i] = is_for_input ? s.k - s.low - 1 : s.low;
        at[2 * i + 1] =
            is_for_input ? s.x + s.k - 1 - s.y - at[2 * i] : s.y - s.x + s.k - s.low - 1;
    }
    return (Matrix){ n, 2, at };
}

static tt input_cotangent(const Transpose *t, const ConvolutionAttrs *a)
{
    tt kernel = build(OP_REVERSE, 1, &t->x[1],
                      BUILD_ATTRS(DimensionsAttrs, .dimensions = a->kernel_spatial_dimensions),
                      t->types[1]);
    ConvolutionAttrs *back = arena_copy(trace_arena(), a, sizeof *a);
    back->window_strides = a->lhs_dilation;
    back->lhs_dilation = a->window_strides;
    back->padding = padding(t, true);
    back->input_batch_dimension = a->output_batch_dimension;
    back->input_feature_dimension = a->output_feature_dimension;
    back->input_spatial_dimensions = a->output_spatial_dimensions;
    back->kernel_input_feature_dimension = a->kernel_output_feature_dimension;
    back->kernel_output_feature_dimension = a->kernel_input_feature_dimension;
    back->output_batch_dimension = a->input_batch_dimension;
    back->output_feature_dimension = a->input_feature_dimension;
    back->output_spatial_dimensions = a->input_spatial_dimensions;
    return build(OP_CONVOLUTION, 2, (const tt[]){ t->ct[0], kernel }, back, t->types[0]);
}

static tt kernel_cotangent(const Transpose *t, const ConvolutionAttrs *a)
{
    ConvolutionAttrs *back = arena_copy(trace_arena(), a, sizeof *a);
    back->window_strides = a->rhs_dilation;
    back->rhs_dilation = a->window_strides;
    back->padding = padding(t, false);
    back->input_batch_dimension = a->input_feature_dimension;
    back->input_feature_dimension = a->input_batch_dimension;
    back->kernel_input_feature_dimension = a->output_batch_dimension;
    back->kernel_output_feature_dimension = a->output_feature_dimension;
    back->kernel_spatial_dimensions = a->output_spatial_dimensions;
    back->output_batch_dimension = a->kernel_input_feature_dimension;
    back->output_feature_dimension = a->kernel_output_feature_dimension;
    back->output_spatial_dimensions = a->kernel_spatial_dimensions;
    return build(OP_CONVOLUTION, 2, (const tt[]){ t->x[0], t->ct[0] }, back, t->types[1]);
}

void transpose_convolution(const Transpose *t)
{
    const ConvolutionAttrs *a = t->attrs;
    if (!is_plain(t, a))
        return;
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
    bool both = b->mapped[1] && (b->mapped[0] || a->feature_group_count > 1);
    if (a->batch_group_count > 1) {
        say_broken("not supported: vmap of a convolution with groups of its batch, %s",
                   loc_name(node_at(b->m, b->node)->loc));
        return;
    }
    tt in[2] = { b->x[0], b->x[1] };
    int64_t at = a->output_feature_dimension, dims[MAX_RANK];
    if (both) {
        in[0] = join(batched(b, 0), a->input_feature_dimension);
        in[1] = join(in[1], a->kernel_output_feature_dimension);
        more->feature_group_count *= b->size;
    } else if (b->mapped[0]) {
        in[0] = join(in[0], a->input_batch_dimension);
        at = a->output_batch_dimension;
    } else {
        in[1] = join(in[1], a->kernel_output_feature_dimension);
    }
    Type row = b->results[0];
    memcpy(dims, row.dims, sizeof *dims * (size_t)row.rank);
    dims[at] *= b->size;
    tt y = build(OP_CONVOLUTION, 2, in, more, type_new(trace_arena(), row.element, row.rank, dims));
    b->y[0] = part(y, at, b->size);
}
