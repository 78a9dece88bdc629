/* conv.c - the kernel whose root is a convolution.
 *
 * In: an input, a kernel, and how they meet.  Out: a fold over
 *
 *     results but the last dimension, input features, positions in the window, the last one
 *
 * so that lanes are neighbours of the result: features or places, as the layout has it.  What
 * one of them reads of input and kernel is then either one number or neighbours too. */
#include "engine/emit/arith.h"
#include "engine/emit/fold.h"
#include "engine/emit/window.h"
#include "engine/rules/emit_rules.h"

typedef struct Conv {
    NodeId node;
    const ConvolutionAttrs *a;
    Type input, kernel, out;
    int nspatial;
    WindowDim dims[MAX_RANK];
    int result[MAX_RANK]; /* dimension d of the result, in the space */
    int window[MAX_RANK]; /* spatial dimension i of the window */
    int feature;          /* input features within a group */
} Conv;

static Conv conv_of(const Kernel *k, NodeId root)
{
    const Node *node = node_at(k->m, root);
    Conv c = { .node = root,
               .a = node->attrs,
               .input = type_of(k->m, node->in[0]),
               .kernel = type_of(k->m, node->in[1]),
               .out = type_of(k->m, node->out) };
    c.nspatial = c.a->input_spatial_dimensions.n;
    for (int i = 0; i < c.nspatial; i++)
        c.dims[i] = (WindowDim){
            .size = c.kernel.dims[c.a->kernel_spatial_dimensions.at[i]],
            .stride = ints_or(c.a->window_strides, i, 1),
            .spread = ints_or(c.a->rhs_dilation, i, 1),
            .before = i < c.a->padding.rows ? c.a->padding.at[2 * i] : 0,
            .apart = ints_or(c.a->lhs_dilation, i, 1),
            .extent = c.input.dims[c.a->input_spatial_dimensions.at[i]],
            .count = c.out.dims[c.a->output_spatial_dimensions.at[i]],
        };
    return c;
}

static void conv_start(Kernel *k, const Fold *f, V *acc)
{
    const Conv *c = f->user;
    acc[0] = LLVMConstNull(value_type(k, c->out.element));
}

/* The result's feature decides which group of input features, or of batches, is read. */
static void set_groups(Kernel *k, const Conv *c, Index *at, Index *input, Index *kernel)
{
    const ConvolutionAttrs *a = c->a;
    int lanes = at->lanes;
    int64_t nfeatures = c->out.dims[a->output_feature_dimension];
    Coord feature = index_at(k, at, c->result[a->output_feature_dimension]);
    Coord batch = index_at(k, at, c->result[a->output_batch_dimension]);
    Coord inner = index_at(k, at, c->feature);
    index_set(kernel, (int)a->kernel_output_feature_dimension, feature);
    index_set(kernel, (int)a->kernel_input_feature_dimension, inner);
    if (a->feature_group_count > 1) {
        Coord group = coord_div_const(k, feature, nfeatures / a->feature_group_count, lanes);
        int64_t each = c->kernel.dims[a->kernel_input_feature_dimension];
        inner = coord_add(k, inner, coord_mul_const(k, group, each, lanes), lanes);
    }
    if (a->batch_group_count > 1) {
        Coord group = coord_div_const(k, feature, nfeatures / a->batch_group_count, lanes);
        int64_t each = c->out.dims[a->output_batch_dimension];
        batch = coord_add(k, batch, coord_mul_const(k, group, each, lanes), lanes);
    }
    index_set(input, (int)a->input_feature_dimension, inner);
    index_set(input, (int)a->input_batch_dimension, batch);
}

static V set_places(Kernel *k, const Conv *c, Index *at, Index *input, Index *kernel)
{
    const ConvolutionAttrs *a = c->a;
    V inside = NULL;
    for (int i = 0; i < c->nspatial; i++) {
        Coord w = index_at(k, at, c->window[i]), mine = w;
        Coord place = index_at(k, at, c->result[a->output_spatial_dimensions.at[i]]);
        index_set(input, (int)a->input_spatial_dimensions.at[i],
                  window_coord(k, &c->dims[i], place, w, at->lanes, &inside));
        if (ints_or(a->window_reversal, i, 0))
            mine = coord_add_const(k, coord_mul_const(k, w, -1, at->lanes), c->dims[i].size - 1,
                                   at->lanes);
        index_set(kernel, (int)a->kernel_spatial_dimensions.at[i], mine);
    }
    return inside;
}

static void conv_values(Kernel *k, const Fold *f, Index *at, V *next)
{
    const Conv *c = f->user;
    const Node *node = node_at(k->m, c->node);
    Element to = c->out.element;
    Index *input = index_new(k, c->input, at->lanes), *kernel = index_new(k, c->kernel, at->lanes);
    set_groups(k, c, at, input, kernel);
    V inside = set_places(k, c, at, input, kernel);
    if (inside)
        index_mask(k, input, at, inside);
    V x = arith_convert(k, c->input.element, to, element(k, node->in[0], input));
    V y = arith_convert(k, c->kernel.element, to, element(k, node->in[1], kernel));
    if (inside)
        x = arith_select(k, inside, x, LLVMConstNull(LLVMTypeOf(x)));
    next[0] = arith_mul(k, to, x, y);
}

static void conv_combine(Kernel *k, const Fold *f, V *acc, const V *next)
{
    const Conv *c = f->user;
    acc[0] = arith_add(k, c->out.element, acc[0], next[0]);
}

static void conv_done(Kernel *k, const Fold *f, Index *at, V *acc)
{
    const Conv *c = f->user;
    Element e = c->out.element;
    if (!k->error)
        store(k, k->outs[0], e, at, finish(k, e, acc[0]));
}

static int add_dim(Fold *f, int64_t *dims, int64_t extent, bool is_reduced)
{
    f->reduced[f->space.rank] = is_reduced;
    dims[f->space.rank] = extent;
    return f->space.rank++;
}

void block_convolution(Kernel *k, NodeId root)
{
    Conv c = conv_of(k, root);
    int64_t dims[MAX_RANK + 1];
    Fold f = { .space = { F32, 0, dims }, .out = c.out, .n = 1, .has_identity = true, .weight = 16,
               .user = &c, .start = conv_start, .values = conv_values, .combine = conv_combine,
               .done = conv_done };
    int last = c.out.rank - 1;
    for (int d = 0; d < last; d++)
        c.result[d] = add_dim(&f, dims, c.out.dims[d], false);
    for (int i = 0; i < c.nspatial; i++)
        c.window[i] = add_dim(&f, dims, c.dims[i].size, true);
    c.feature =
        add_dim(&f, dims, c.kernel.dims[c.a->kernel_input_feature_dimension], true);
    c.result[last] = add_dim(&f, dims, c.out.dims[last], false);
    f.in_order = fold_is_few(&f, c.out.element);
    fold_emit(k, &f);
}
