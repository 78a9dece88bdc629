/* filters.c - in loops, small windows over images of one feature become sums of shifted images.
 *
 *     convolution(x[b,1,h,w], k[1,1,3,3])  ->  k00 x[:, 0:h', 0:w'] + k01 x[:, 0:h', 1:w'+1] + ...
 *
 * Where features are many, a convolution is a product of matrices, or lanes run over them.  With one of each, what
 * remains is a sum of a few numbers at every place; written out, lanes are neighbouring places, numbers of the
 * window that are known are constants in the code, and what is done with the result joins the same kernel.  Steps of
 * cellular automata and of heat are of this kind.  It is more code than a fold over the window, three times as long
 * to compile, so it is done only where a loop runs it often. */
#include "engine/passes/simplify/simplify.h"

enum { MOST_TAPS = 9, MANY_PLACES = 1024 };

typedef struct Filter {
    Simplifier *s;
    Arena *arena;
    const ConvolutionAttrs *a;
    const Loc *loc;
    Type input, window, out;
    int nspatial;
} Filter;

/* Are these extents, without the feature's, those of images one after the other, each row by row? */
static bool is_image(Type t, int64_t batch, int64_t feature, Ints spatial)
{
    for (int i = 1; i < spatial.n; i++)
        if (spatial.at[i] < spatial.at[i - 1])
            return false;
    return spatial.n > 0 && t.dims[feature] == 1 && (t.dims[batch] == 1 || batch < spatial.at[0]);
}

static bool is_small_filter(const Filter *f)
{
    const ConvolutionAttrs *a = f->a;
    Element e = f->input.element;
    for (int i = 0; i < f->nspatial; i++)
        if (ints_or(a->lhs_dilation, i, 1) != 1)
            return false;
    int64_t ntaps = type_count(f->window);
    return (e == F32 || e == F64) && f->window.element == e && f->out.element == e && ntaps > 1 &&
           ntaps <= MOST_TAPS && type_count(f->out) >= MANY_PLACES && a->feature_group_count == 1 &&
           a->batch_group_count == 1 && f->window.dims[a->kernel_input_feature_dimension] == 1 &&
           f->window.dims[a->kernel_output_feature_dimension] == 1 &&
           is_image(f->input, a->input_batch_dimension, a->input_feature_dimension,
                    a->input_spatial_dimensions) &&
           is_image(f->out, a->output_batch_dimension, a->output_feature_dimension,
                    a->output_spatial_dimensions);
}

static ValueId put(const Filter *f, OpId op, int nin, const ValueId *in, Type t, const void *attrs)
{
    return simplify_put(f->s, op, nin, in, t, attrs, f->loc);
}

static ValueId put_slice(const Filter *f, ValueId v, Type part, const int64_t *starts,
                         const int64_t *steps)
{
    int64_t ends[MAX_RANK + 1];
    for (int d = 0; d < part.rank; d++)
        ends[d] = starts[d] + (part.dims[d] - 1) * steps[d] + 1;
    SliceAttrs *attrs = ARENA_NEW(f->arena, SliceAttrs);
    attrs->start_indices = ints_copy(f->arena, part.rank, starts);
    attrs->limit_indices = ints_copy(f->arena, part.rank, ends);
    attrs->strides = ints_copy(f->arena, part.rank, steps);
    return put(f, OP_SLICE, 1, &v, part, attrs);
}

/* Images, one after the other, with what the convolution wants around them. */
static ValueId put_padded(const Filter *f, ValueId v)
{
    static const char zeros[16];
    int64_t dims[MAX_RANK + 1], low[MAX_RANK + 1] = { 0 }, high[MAX_RANK + 1] = { 0 };
    int64_t none[MAX_RANK + 1] = { 0 };
    int rank = f->nspatial + 1;
    bool is_padded = false;
    dims[0] = f->input.dims[f->a->input_batch_dimension];
    for (int i = 0; i < f->nspatial; i++)
        dims[1 + i] = f->input.dims[f->a->input_spatial_dimensions.at[i]];
    v = put(f, OP_RESHAPE, 1, &v, type_new(f->arena, f->input.element, rank, dims), NULL);
    for (int i = 0; i < f->nspatial && i < f->a->padding.rows; i++) {
        low[1 + i] = f->a->padding.at[2 * i];
        high[1 + i] = f->a->padding.at[2 * i + 1];
        dims[1 + i] += low[1 + i] + high[1 + i];
        is_padded |= low[1 + i] || high[1 + i];
    }
    if (!is_padded)
        return v;
    Type scalar = type_scalar(f->input.element);
    ValueId in[] = { v, simplify_constant(f->s, (Dense){ scalar, true, zeros }, f->loc) };
    PadAttrs *attrs = ARENA_NEW(f->arena, PadAttrs);
    attrs->edge_padding_low = ints_copy(f->arena, rank, low);
    attrs->edge_padding_high = ints_copy(f->arena, rank, high);
    attrs->interior_padding = ints_copy(f->arena, rank, none);
    return put(f, OP_PAD, 2, in, type_new(f->arena, f->input.element, rank, dims), attrs);
}

/* Number `at` of the window, for all places. */
static ValueId put_weight(const Filter *f, ValueId flat_window, int64_t at, Type places)
{
    int64_t one = 1;
    Type scalar = type_scalar(places.element);
    ValueId v = put_slice(f, flat_window, type_new(f->arena, places.element, 1, &one), &at, &one);
    v = put(f, OP_RESHAPE, 1, &v, scalar, NULL);
    return put(f, OP_BROADCAST, 1, &v, places, ARENA_NEW(f->arena, BroadcastAttrs));
}

static ValueId put_sum(const Filter *f, ValueId images, ValueId window)
{
    const ConvolutionAttrs *a = f->a;
    int64_t strides[MAX_RANK + 1], dims[MAX_RANK + 1], starts[MAX_RANK + 1] = { 0 };
    int64_t steps[MAX_RANK + 1], ntaps = type_count(f->window);
    type_strides(f->window, strides);
    dims[0] = f->out.dims[a->output_batch_dimension];
    steps[0] = 1;
    for (int i = 0; i < f->nspatial; i++) {
        dims[1 + i] = f->out.dims[a->output_spatial_dimensions.at[i]];
        steps[1 + i] = ints_or(a->window_strides, i, 1);
    }
    Type places = type_new(f->arena, f->out.element, f->nspatial + 1, dims);
    Type flat = type_new(f->arena, f->window.element, 1, &ntaps);
    window = put(f, OP_RESHAPE, 1, &window, flat, NULL);
    ValueId sum = 0;
    for (int64_t tap = 0; tap < ntaps; tap++) {
        for (int i = 0; i < f->nspatial; i++) {
            int64_t d = a->kernel_spatial_dimensions.at[i], extent = f->window.dims[d];
            int64_t at = tap / strides[d] % extent;
            at = ints_or(a->window_reversal, i, 0) ? extent - 1 - at : at;
            starts[1 + i] = at * ints_or(a->rhs_dilation, i, 1);
        }
        ValueId two[] = { put_slice(f, images, places, starts, steps),
                          put_weight(f, window, tap, places) };
        ValueId more = put(f, OP_MUL, 2, two, places, NULL), both[] = { sum, more };
        sum = sum ? put(f, OP_ADD, 2, both, places, NULL) : more;
    }
    return put(f, OP_RESHAPE, 1, &sum, f->out, NULL);
}

ValueId write_out_filter(Simplifier *s, NodeId n)
{
    Node node = *node_at(s->m, n); /* a copy: nodes are added */
    if (node.op != OP_CONVOLUTION || !s->nloops)
        return 0;
    Filter f = { .s = s, .arena = s->m->arena, .a = node.attrs, .loc = node.loc };
    f.input = type_of(s->m, node.in[0]);
    f.window = type_of(s->m, node.in[1]);
    f.out = type_of(s->m, node.out);
    f.nspatial = f.a->input_spatial_dimensions.n;
    if (!type_count(f.input) || !type_count(f.window) || !is_small_filter(&f))
        return 0;
    return put_sum(&f, put_padded(&f, node.in[0]), node.in[1]);
}
