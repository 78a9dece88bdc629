/* conv.c - the kernel whose root is a convolution.
 *
 * In: an input, a kernel, and how they meet.  Out, for types that it knows and enough to add up: a call of
 * the runtime's matrix product, one of whose operands is what the window sees at each place (see
 * numerics/gemm_gather.h), with loops around it over what stands before the features of the result.
 * passes/simplify/convolutions.c has put the padding into the input then.  Else a fold over
 *
 *     results but the last dimension, input features, positions in the window, the last one
 *
 * so that lanes are neighbours of the result: features or places, as the layout has it.  What
 * one of them reads of input and kernel is then either one number or neighbours too. */
#include "engine/kernels/kernels.h"

#include "engine/kernels/query.h"

#include "engine/numerics/numerics.h"

#include <stddef.h>
#include <string.h>

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

/* ---- by the runtime's product ---- */

/* Products take runs of memory; fewer terms or features than these do not pay the packing. */
enum {
    FEW_TERMS = 64,
    FEW_FEATURES = 16,
    MANY_FEATURES = 32,
    FEW_BESIDE = 16,
    SHORT_RUN = 4,
    SMALL = 1 << 18
};

/* How many numbers that belong together lie side by side: of the window, or of the places. */
static int64_t beside(const ConvolutionAttrs *a, Type input, Type kernel, Type out)
{
    int last = input.rank - 1;
    if (a->feature_group_count > 1 && a->input_feature_dimension == last)
        return kernel.dims[a->kernel_input_feature_dimension];
    if (a->input_feature_dimension == last) {
        int64_t n = kernel.dims[a->kernel_input_feature_dimension];
        int w = (int)ints_find(a->input_spatial_dimensions, last - 1);
        return w >= 0 && ints_or(a->rhs_dilation, w, 1) == 1
                   ? n * kernel.dims[a->kernel_spatial_dimensions.at[w]]
                   : n;
    }
    if (a->input_batch_dimension == last)
        return FEW_BESIDE;
    int w = (int)ints_find(a->input_spatial_dimensions, last);
    int64_t taps = kernel.dims[a->kernel_spatial_dimensions.at[w]];
    int64_t places = out.dims[a->output_spatial_dimensions.at[w]];
    /* Taps in a row are copied as one (pack_copied).  Places that lie side by side, or every other of them, are
     * copied in vectors, however few; others one by one, which many features pay for. */
    bool is_copied = ints_or(a->window_strides, w, 1) <= 2 ||
                     out.dims[a->output_feature_dimension] >= MANY_FEATURES;
    bool is_packed = taps > places ? taps >= SHORT_RUN : is_copied;
    return is_packed ? FEW_BESIDE : 1;
}

bool convolution_multiplies(const Module *m, const Node *node)
{
    const ConvolutionAttrs *a = node->attrs;
    Type input = type_of(m, node->in[0]), kernel = type_of(m, node->in[1]);
    Type out = type_of(m, node->out);
    GemmTypes t = gemm_types(input.element, kernel.element, out.element);
    if (!t.is_known || !gemm_gathers(gemm_kind(t.operands, t.operands, t.sum)) ||
        a->batch_group_count > 1)
        return false;
    int64_t features = kernel.dims[a->kernel_output_feature_dimension];
    int64_t terms = type_count(kernel) / (features ? features : 1);
    /* loops over groups are slow: half a vector is better */
    int64_t groups = a->feature_group_count > 1 ? a->feature_group_count : 1,
            half = groups > 1 ? 2 : 1;
    return terms >= FEW_TERMS && features / groups >= FEW_FEATURES / half &&
           beside(a, input, kernel, out) >= FEW_BESIDE / half &&
           (double)terms * (double)type_count(out) >= SMALL;
}

/* Nothing stands around or between the elements of the input, and all of the kernel that belongs to
 * one feature of the result has one step. */
static bool is_bare(const Conv *c)
{
    int64_t at = c->a->kernel_output_feature_dimension;
    if (at != 0 && at != c->kernel.rank - 1)
        return false;
    for (int i = 0; i < c->nspatial; i++)
        if (c->dims[i].before || c->dims[i].apart != 1 ||
            (i < c->a->padding.rows && c->a->padding.at[2 * i + 1]))
            return false;
    return true;
}

/* Extent and step, in the input, of some dimensions; neighbours that are one in memory are one. */
typedef struct Walk {
    int n;
    int64_t dims[MAX_RANK][2];
} Walk;

static void walk_add(Walk *w, int64_t extent, int64_t step)
{
    int64_t(*last)[2] = w->n ? &w->dims[w->n - 1] : NULL;
    if (extent == 1)
        return;
    if (last && (*last)[1] == extent * step) {
        (*last)[0] *= extent;
        (*last)[1] = step;
    } else {
        w->dims[w->n][0] = extent;
        w->dims[w->n++][1] = step;
    }
}

/* One place on along dimension d of the result. */
static int64_t place_step(const Conv *c, int d)
{
    int64_t strides[MAX_RANK + 1];
    type_strides(c->input, strides);
    int i = (int)ints_find(c->a->output_spatial_dimensions, d);
    return i < 0 ? strides[c->a->input_batch_dimension]
                 : strides[c->a->input_spatial_dimensions.at[i]] * c->dims[i].stride;
}

/* The window in the order of the kernel's memory.  Returns where it begins. */
static int64_t walk_window(const Conv *c, Walk *w)
{
    int64_t strides[MAX_RANK + 1], begin = 0;
    type_strides(c->input, strides);
    for (int d = 0; d < c->kernel.rank; d++) {
        int i = (int)ints_find(c->a->kernel_spatial_dimensions, d);
        int64_t extent = c->kernel.dims[d], step = strides[c->a->input_feature_dimension];
        if (d == c->a->kernel_output_feature_dimension)
            continue;
        if (i >= 0)
            step = strides[c->a->input_spatial_dimensions.at[i]] * c->dims[i].spread;
        if (i >= 0 && ints_or(c->a->window_reversal, i, 0)) {
            begin += (extent - 1) * step;
            step = -step;
        }
        walk_add(w, extent, step);
    }
    return begin;
}

static int64_t groups_of(const Conv *c)
{
    return c->a->feature_group_count > 1 ? c->a->feature_group_count : 1;
}

/* A Gather for the runtime, in memory of this call: for one group of features. */
static V gather_of(Kernel *k, const Conv *c, const Walk *lines, const Walk *depth)
{
    enum { FIELDS = offsetof(Gather, dims) / sizeof(int64_t) };
    int64_t out_feature = c->a->output_feature_dimension, row = 1, columns = 1;
    bool is_b = out_feature != c->out.rank - 1, is_first = !c->a->kernel_output_feature_dimension;
    int64_t features = c->out.dims[out_feature], terms = type_count(c->kernel) / features;
    for (int d = (int)out_feature + 1; d < c->out.rank; d++)
        row *= c->out.dims[d];
    for (int i = 0; i < lines->n; i++)
        columns *= lines->dims[i][0];
    int64_t line_step = is_first ? terms : 1, depth_step = is_first ? 1 : features;
    int64_t each = features / groups_of(c);
    int64_t values[FIELDS + 4 * MAX_RANK] = { is_b,
                                              is_b ? each : columns,
                                              is_b ? columns : each,
                                              terms,
                                              line_step,
                                              depth_step,
                                              is_b ? row : features,
                                              lines->n,
                                              depth->n };
    int n = FIELDS;
    for (int i = 0; i < lines->n; i++, n += 2)
        memcpy(values + n, lines->dims[i], sizeof lines->dims[i]);
    for (int i = 0; i < depth->n; i++, n += 2)
        memcpy(values + n, depth->dims[i], sizeof depth->dims[i]);
    return int64_table(k, n, values);
}

/* How far the steps of a walk lead, backwards and forwards, in elements. */
static void walk_reach(const Walk *w, int64_t *back, int64_t *on)
{
    for (int i = 0; i < w->n; i++) {
        int64_t by = (w->dims[i][0] - 1) * w->dims[i][1];
        *(by < 0 ? back : on) += by;
    }
}

/* From the first group to the next: of the input, the kernel and the result. */
static void group_steps(const Conv *c, int64_t steps[3])
{
    int64_t strides[MAX_RANK + 1];
    int64_t features = c->out.dims[c->a->output_feature_dimension], each = features / groups_of(c);
    type_strides(c->input, strides);
    steps[0] = c->kernel.dims[c->a->kernel_input_feature_dimension] *
               strides[c->a->input_feature_dimension];
    type_strides(c->kernel, strides);
    steps[1] = each * strides[c->a->kernel_output_feature_dimension];
    type_strides(c->out, strides);
    steps[2] = each * strides[c->a->output_feature_dimension];
}

/* By the call for one group: all but what lies before or behind it, which is the other groups'. */
static void note_touched(Kernel *k, const Conv *c, V call, const Walk *lines, const Walk *depth)
{
    int64_t bytes = element_info[c->input.element].bytes, back = 0, on = 0, out = 1, steps[3];
    int64_t others = groups_of(c) - 1;
    int feature = (int)c->a->output_feature_dimension;
    walk_reach(lines, &back, &on);
    walk_reach(depth, &back, &on);
    for (int d = feature == c->out.rank - 1 ? 0 : feature; d < c->out.rank; d++)
        out *= c->out.dims[d];
    group_steps(c, steps);
    bounds_touch(k->e, call, LLVMGetOperand(call, 3), back * bytes, (on - back + 1) * bytes);
    bounds_touch(k->e, call, LLVMGetOperand(call, 4), 0,
                 (type_count(c->kernel) - others * steps[1]) * bytes);
    bounds_touch(k->e, call, LLVMGetOperand(call, 5), 0,
                 (out - others * steps[2]) * element_info[c->out.element].bytes);
}

static V moved(Kernel *k, Element e, V pointer, V by)
{
    return LLVMBuildInBoundsGEP2(k->b, memory_type(k, e), pointer, &by, 1, "");
}

static void conv_by_product(Kernel *k, const Conv *c, int input, int kernel)
{
    int64_t strides[MAX_RANK + 1];
    int feature = (int)c->a->output_feature_dimension, nouter = 0;
    bool is_b = feature != c->out.rank - 1;
    Walk lines = { 0 }, depth = { 0 };
    for (int d = is_b ? feature + 1 : 0; d < c->out.rank; d++)
        if (d != feature)
            walk_add(&lines, c->out.dims[d], place_step(c, d));
    Element from = c->input.element, to = c->out.element;
    V seen = moved(k, from, k->ins[input], const_i64(k, walk_window(c, &depth)));
    V gather = gather_of(k, c, &lines, &depth), out = k->outs[0], other = k->ins[kernel];
    type_strides(c->out, strides);
    Loop loops[MAX_RANK], by_group;
    int cut = slices_choose(k, is_b ? feature : 0, c->out.dims);
    for (; is_b && nouter < feature; nouter++) {
        if (nouter == cut)
            slice_loop(k, &loops[nouter], c->out.dims[nouter], 1);
        else
            loop_begin(k, &loops[nouter], c->out.dims[nouter], 1, 0, NULL);
        V i = loops[nouter].i;
        seen = moved(k, from, seen, LLVMBuildMul(k->b, i, const_i64(k, place_step(c, nouter)), ""));
        out = moved(k, to, out, LLVMBuildMul(k->b, i, const_i64(k, strides[nouter]), ""));
    }
    if (groups_of(c) > 1) {
        int64_t steps[3];
        group_steps(c, steps);
        loop_begin(k, &by_group, groups_of(c), 1, 0, NULL);
        V i = by_group.i;
        seen = moved(k, from, seen, LLVMBuildMul(k->b, i, const_i64(k, steps[0]), ""));
        other = moved(k, from, other, LLVMBuildMul(k->b, i, const_i64(k, steps[1]), ""));
        out = moved(k, to, out, LLVMBuildMul(k->b, i, const_i64(k, steps[2]), ""));
    }
    LLVMTypeRef ptr = LLVMPointerTypeInContext(k->c, 0);
    LLVMTypeRef types[] = { ptr, int_type(k, 64), ptr, ptr, ptr, ptr };
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(k->c), types, 6, false);
    V kind = const_i64(k, gemm_kind(from, c->kernel.element, to));
    V args[] = { k->frame, kind, gather, seen, other, out };
    V gathers = runtime_function(k, offsetof(Runtime, gather));
    V call = LLVMBuildCall2(k->b, type, gathers, args, 6, "");
    note_touched(k, c, call, &lines, &depth);
    if (groups_of(c) > 1)
        loop_end(k, &by_group, NULL);
    while (nouter > 0)
        loop_end(k, &loops[--nouter], NULL);
}

/* ---- by loops ---- */

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
        store_element(k, k->outs[0], e, at, finish(k, e, acc[0]));
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
    const Node *node = node_at(k->m, root);
    int input = kernel_argument(k, node->in[0]), kernel = kernel_argument(k, node->in[1]);
    bool has_kind = gemm_gathers(gemm_kind(c.input.element, c.kernel.element, c.out.element));
    if (type_count(c.out) && has_kind && is_bare(&c) && input >= 0 && kernel >= 0 &&
        convolution_multiplies(k->m, node)) {
        conv_by_product(k, &c, input, kernel);
        return;
    }
    int64_t dims[MAX_RANK + 1];
    window_widen(k, c.nspatial, c.dims);
    Fold f = { .space = { F32, 0, dims },
               .out = c.out,
               .n = 1,
               .has_identity = true,
               .weight = 16,
               .user = &c,
               .start = conv_start,
               .values = conv_values,
               .combine = conv_combine,
               .done = conv_done };
    int last = c.out.rank - 1;
    for (int d = 0; d < last; d++)
        c.result[d] = add_dim(&f, dims, c.out.dims[d], false);
    for (int i = 0; i < c.nspatial; i++)
        c.window[i] = add_dim(&f, dims, c.dims[i].size, true);
    c.feature = add_dim(&f, dims, c.kernel.dims[c.a->kernel_input_feature_dimension], true);
    c.result[last] = add_dim(&f, dims, c.out.dims[last], false);
    f.is_strict = f.in_order = fold_is_few(&f, c.out.element);
    f.is_rounded = is_float(c.out.element) || is_complex(c.out.element);
    fold_emit(k, &f);
}
