/* shape_region.c - the shape rules of operations that combine elements, branch or loop. */
#include "ops/shape_util.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Numbers of one kind, the second no narrower: what a region may combine in place of the first. */
static bool is_promotable(Element from, Element to)
{
    ElementKind a = element_info[from].kind, b = element_info[to].kind;
    return (a == b || (is_integer(from) && is_integer(to))) && a != TOKENS &&
           element_info[from].bits <= element_info[to].bits;
}

static bool expect_promotable(Type t, Element to, Text *why)
{
    return is_promotable(t.element, to) ||
           say(why,
               "%s and a region that combines %s: both must be of one kind, the region's no "
               "narrower",
               type_name(t), element_info[to].name);
}

bool expect_reducer(const ShapeQuery *q, int last, int n, int ncombined, const Type *combined,
                    Text *why)
{
    const struct RegionTypes *f = &q->regions[last];
    if (q->nregions != last + 1 || f->nargs != 2 * n || f->nresults != n)
        return say(why, "its region must take %d scalars and give %d", 2 * n, n);
    for (int i = 0; i < n; i++) {
        Element e = f->results[i].element;
        for (int k = 0; k < 2; k++)
            if (!is_scalar(f->args[i + k * n], e))
                return say(why, "argument %d of its region is %s, and a scalar %s is needed",
                           i + k * n, type_name(f->args[i + k * n]), element_info[e].name);
        if (f->results[i].rank != 0)
            return say(why, "result %d of its region is %s, and must be a scalar", i,
                       type_name(f->results[i]));
    }
    for (int i = 0; i < ncombined; i++)
        if (!expect_promotable(combined[i], f->results[i % n].element, why))
            return false;
    return true;
}

/* n arrays of one shape, then n initial scalars. */
static bool expect_arrays_and_inits(const ShapeQuery *q, int *count, Text *why)
{
    int n = q->nin / 2;
    if (n < 1 || q->nin != 2 * n || q->nout != n)
        return say(why,
                   "%d operands and %d results: it takes n arrays and n initial values, and "
                   "gives n",
                   q->nin, q->nout);
    for (int i = 0; i < n; i++) {
        if (!shape_fits(q->in[i], q->in[0]))
            return say(why, "%s and %s: the arrays must have one shape", type_name(q->in[0]),
                       type_name(q->in[i]));
        if (q->in[n + i].rank != 0)
            return say(why, "initial value %d is %s, and must be a scalar", i,
                       type_name(q->in[n + i]));
    }
    *count = n;
    return true;
}

bool shape_reduce(const ShapeQuery *q, Text *why)
{
    int n, rank = 0;
    if (!expect_arrays_and_inits(q, &n, why) || !expect_reducer(q, 0, n, q->nin, q->in, why))
        return false;
    Ints over = ((const DimensionsAttrs *)q->attrs)->dimensions;
    Type x = q->in[0];
    if (!expect_dims(over, x.rank, "dimensions", why))
        return false;
    int64_t dims[MAX_RANK];
    for (int i = 0; i < x.rank; i++)
        if (ints_find(over, i) < 0)
            dims[rank++] = x.dims[i];
    for (int i = 0; i < n; i++)
        if (!expect_result(q, i, q->regions[0].results[i].element, rank, dims, why))
            return false;
    return true;
}

/* The extent of a window's walk over one dimension; -1 when it makes no sense. */
static int64_t window_extent(int64_t extent, const WindowAttrs *a, int i)
{
    int64_t size = a->window_dimensions.at[i];
    int64_t stride = a->window_strides.n ? a->window_strides.at[i] : 1;
    int64_t base = a->base_dilations.n ? a->base_dilations.at[i] : 1;
    int64_t wide = a->window_dilations.n ? a->window_dilations.at[i] : 1;
    int64_t low = a->padding.rows ? a->padding.at[2 * i] : 0;
    int64_t high = a->padding.rows ? a->padding.at[2 * i + 1] : 0;
    int64_t padded, window;
    if (size < 1 || stride < 1 || base < 1 || wide < 1)
        return -1;
    if (__builtin_mul_overflow(extent > 0 ? extent - 1 : 0, base, &padded) ||
        __builtin_add_overflow(padded, extent > 0 ? 1 : 0, &padded) ||
        __builtin_add_overflow(padded, low, &padded) ||
        __builtin_add_overflow(padded, high, &padded) ||
        __builtin_mul_overflow(size - 1, wide, &window) ||
        __builtin_add_overflow(window, 1, &window))
        return -1;
    return padded < window ? 0 : (padded - window) / stride + 1;
}

static bool window_fits(const WindowAttrs *a, int rank, Text *why)
{
    if (!expect_length(a->window_dimensions, rank, "window_dimensions", why))
        return false;
    if ((a->window_strides.n && !expect_length(a->window_strides, rank, "window_strides", why)) ||
        (a->base_dilations.n && !expect_length(a->base_dilations, rank, "base_dilations", why)) ||
        (a->window_dilations.n &&
         !expect_length(a->window_dilations, rank, "window_dilations", why)))
        return false;
    if (a->padding.rows && (a->padding.rows != rank || a->padding.cols != 2))
        return say(why, "padding is %dx%d, and must be %dx2", a->padding.rows, a->padding.cols,
                   rank);
    return true;
}

static bool window_extents(const WindowAttrs *a, Type x, int64_t *dims, Text *why)
{
    if (!window_fits(a, x.rank, why))
        return false;
    for (int i = 0; i < x.rank; i++) {
        dims[i] = window_extent(x.dims[i], a, i);
        if (dims[i] < 0)
            return say(why, "window, stride and dilations of dimension %d must be at least 1", i);
    }
    return true;
}

bool shape_reduce_window(const ShapeQuery *q, Text *why)
{
    int n;
    int64_t dims[MAX_RANK];
    if (!expect_arrays_and_inits(q, &n, why) || !expect_reducer(q, 0, n, q->nin, q->in, why))
        return false;
    if (!all_static(q))
        return true;
    if (!window_extents(q->attrs, q->in[0], dims, why))
        return false;
    for (int i = 0; i < n; i++)
        if (!expect_result(q, i, q->regions[0].results[i].element, q->in[0].rank, dims, why))
            return false;
    return true;
}

/* select compares two elements of the operand; scatter, the last region, combines: the sources and
 * the initial value may be as wide already as what it gives. */
static bool selects_and_scatters(const ShapeQuery *q, Text *why)
{
    Element e = q->in[0].element;
    const struct RegionTypes *select = &q->regions[0];
    if (q->nregions != 2)
        return say(why, "it needs two regions, select and scatter");
    if (select->nargs != 2 || !is_scalar(select->args[0], e) || !is_scalar(select->args[1], e) ||
        select->nresults != 1 || !is_scalar(select->results[0], I1))
        return say(why, "select must take two scalars %s and give one i1", element_info[e].name);
    return expect_reducer(q, 1, 1, q->nin, q->in, why);
}

bool shape_select_scatter(const ShapeQuery *q, Text *why)
{
    if (!expect_counts(q, 3, 1, why))
        return false;
    Type x = q->in[0], source = q->in[1];
    int64_t dims[MAX_RANK];
    if (q->in[2].rank != 0)
        return say(why, "initial value %s: it must be a scalar", type_name(q->in[2]));
    if (!selects_and_scatters(q, why))
        return false;
    if (!all_static(q))
        return true;
    if (!window_extents(q->attrs, x, dims, why))
        return false;
    Type windows = { source.element, x.rank, dims };
    if (!type_fits(source, windows))
        return say(why, "source %s for windows over %s: it must be %s", type_name(source),
                   type_name(x), type_name(windows));
    return expect_result(q, 0, q->regions[1].results[0].element, x.rank, x.dims, why);
}

/* Floats of any widths may be multiplied and give a float of another; integers give integers or
 * floats; the rest is of one type. */
static bool products_fit(Type x, Type y, Type result, Text *why)
{
    ElementKind kind = element_info[x.element].kind, to = element_info[result.element].kind;
    if (kind == FLOAT && element_info[y.element].kind == FLOAT && to == FLOAT)
        return true;
    if (is_integer(x.element) && is_integer(y.element) &&
        (is_integer(result.element) || to == FLOAT))
        return true;
    if ((kind == COMPLEX || kind == BOOLEAN) && x.element == y.element && to == kind)
        return true;
    return say(why, "%s and %s to %s: both must be floats, both integers, or all of one type",
               type_name(x), type_name(y), type_name(result));
}

bool shape_dot(const ShapeQuery *q, Text *why)
{
    if (!expect_counts(q, 2, 1, why) || !products_fit(q->in[0], q->in[1], q->stated[0], why))
        return false;
    const DotAttrs *a = q->attrs;
    Type x = q->in[0], y = q->in[1];
    Ints xb = a->lhs_batching_dimensions, yb = a->rhs_batching_dimensions;
    Ints xc = a->lhs_contracting_dimensions, yc = a->rhs_contracting_dimensions;
    if (!expect_dims(xb, x.rank, "lhs_batching_dimensions", why) ||
        !expect_dims(xc, x.rank, "lhs_contracting_dimensions", why) ||
        !expect_dims(yb, y.rank, "rhs_batching_dimensions", why) ||
        !expect_dims(yc, y.rank, "rhs_contracting_dimensions", why) ||
        !expect_length(yb, xb.n, "rhs_batching_dimensions", why) ||
        !expect_length(yc, xc.n, "rhs_contracting_dimensions", why))
        return false;
    int64_t dims[3 * MAX_RANK];
    int rank = 0;
    for (int i = 0; i < xb.n; i++) {
        if (ints_find(xc, xb.at[i]) >= 0 || ints_find(yc, yb.at[i]) >= 0)
            return say(why, "a dimension is both batching and contracting");
        if (!extent_fits(x.dims[xb.at[i]], y.dims[yb.at[i]]))
            return say(why,
                       "%s by %s: batching dimensions %" PRId64 " and %" PRId64 " differ in extent",
                       type_name(x), type_name(y), xb.at[i], yb.at[i]);
        dims[rank++] = x.dims[xb.at[i]];
    }
    for (int i = 0; i < xc.n; i++)
        if (!extent_fits(x.dims[xc.at[i]], y.dims[yc.at[i]]))
            return say(why,
                       "%s by %s: contracting dimensions %" PRId64 " and %" PRId64
                       " differ in extent",
                       type_name(x), type_name(y), xc.at[i], yc.at[i]);
    for (int i = 0; i < x.rank; i++)
        if (ints_find(xb, i) < 0 && ints_find(xc, i) < 0)
            dims[rank++] = x.dims[i];
    for (int i = 0; i < y.rank; i++)
        if (ints_find(yb, i) < 0 && ints_find(yc, i) < 0)
            dims[rank++] = y.dims[i];
    return expect_result(q, 0, q->stated[0].element, rank, dims, why);
}

/* The extent of the result along one spatial dimension. */
static int64_t conv_extent(const ConvolutionAttrs *a, Type x, Type w, int i)
{
    int64_t size[1] = { w.dims[a->kernel_spatial_dimensions.at[i]] };
    WindowAttrs one = { .window_dimensions = { 1, size } };
    if (a->window_strides.n)
        one.window_strides = (Ints){ 1, a->window_strides.at + i };
    if (a->lhs_dilation.n)
        one.base_dilations = (Ints){ 1, a->lhs_dilation.at + i };
    if (a->rhs_dilation.n)
        one.window_dilations = (Ints){ 1, a->rhs_dilation.at + i };
    if (a->padding.rows)
        one.padding = (Matrix){ 1, 2, a->padding.at + 2 * i };
    return window_extent(x.dims[a->input_spatial_dimensions.at[i]], &one, 0);
}

/* batch, feature and the spatial ones name every dimension once. */
static bool conv_dims_fit(int64_t a, int64_t b, Ints spatial, int rank, const char *which,
                          Text *why)
{
    int64_t all[MAX_RANK + 2] = { a, b };
    if (spatial.n + 2 != rank)
        return say(why, "the dimensions of its %s are %d, and the array's rank is %d", which,
                   spatial.n + 2, rank);
    if (spatial.n)
        memcpy(all + 2, spatial.at, sizeof *all * (size_t)spatial.n);
    return expect_dims((Ints){ rank, all }, rank, which, why);
}

static bool conv_lists_fit(const ConvolutionAttrs *a, int n, Text *why)
{
    if ((a->window_strides.n && !expect_length(a->window_strides, n, "window_strides", why)) ||
        (a->lhs_dilation.n && !expect_length(a->lhs_dilation, n, "lhs_dilation", why)) ||
        (a->rhs_dilation.n && !expect_length(a->rhs_dilation, n, "rhs_dilation", why)) ||
        (a->window_reversal.n && !expect_length(a->window_reversal, n, "window_reversal", why)))
        return false;
    if (a->padding.rows && (a->padding.rows != n || a->padding.cols != 2))
        return say(why, "padding is %dx%d, and must be %dx2", a->padding.rows, a->padding.cols, n);
    if (a->feature_group_count < 1 || a->batch_group_count < 1 ||
        (a->feature_group_count > 1 && a->batch_group_count > 1))
        return say(why,
                   "feature_group_count %" PRId64 " and batch_group_count %" PRId64
                   ": one of them must be 1",
                   a->feature_group_count, a->batch_group_count);
    return true;
}

bool shape_convolution(const ShapeQuery *q, Text *why)
{
    if (!expect_counts(q, 2, 1, why) || !products_fit(q->in[0], q->in[1], q->stated[0], why))
        return false;
    const ConvolutionAttrs *a = q->attrs;
    Type x = q->in[0], w = q->in[1], y = q->stated[0];
    if (!all_static(q))
        return true;
    if (!conv_dims_fit(a->input_batch_dimension, a->input_feature_dimension,
                       a->input_spatial_dimensions, x.rank, "input", why) ||
        !conv_dims_fit(a->kernel_input_feature_dimension, a->kernel_output_feature_dimension,
                       a->kernel_spatial_dimensions, w.rank, "kernel", why) ||
        !conv_dims_fit(a->output_batch_dimension, a->output_feature_dimension,
                       a->output_spatial_dimensions, y.rank, "output", why) ||
        !conv_lists_fit(a, x.rank - 2, why))
        return false;
    if (w.rank != x.rank || y.rank != x.rank)
        return say(why, "%s by %s to %s: the ranks must be equal", type_name(x), type_name(w),
                   type_name(y));
    int64_t features = x.dims[a->input_feature_dimension];
    int64_t taken = w.dims[a->kernel_input_feature_dimension];
    int64_t made = w.dims[a->kernel_output_feature_dimension];
    int64_t batch = x.dims[a->input_batch_dimension], all;
    if (__builtin_mul_overflow(taken, a->feature_group_count, &all) || features != all ||
        made % a->feature_group_count != 0 || batch % a->batch_group_count != 0 ||
        made % a->batch_group_count != 0)
        return say(why,
                   "%s by %s: %" PRId64 " input features and batches of %" PRId64 " in %" PRId64
                   " and %" PRId64 " groups do not go with a kernel of %" PRId64 " by %" PRId64
                   " features",
                   type_name(x), type_name(w), features, batch, a->feature_group_count,
                   a->batch_group_count, taken, made);
    int64_t dims[MAX_RANK];
    dims[a->output_batch_dimension] = batch / a->batch_group_count;
    dims[a->output_feature_dimension] = made;
    for (int i = 0; i < x.rank - 2; i++) {
        dims[a->output_spatial_dimensions.at[i]] = conv_extent(a, x, w, i);
        if (dims[a->output_spatial_dimensions.at[i]] < 0)
            return say(why,
                       "window, stride and dilations of spatial dimension %d must be at "
                       "least 1",
                       i);
    }
    return expect_result(q, 0, y.element, y.rank, dims, why);
}

bool shape_sort(const ShapeQuery *q, Text *why)
{
    int64_t d = ((const SortAttrs *)q->attrs)->dimension;
    if (q->nin < 1)
        return say(why, "it takes at least one operand");
    if (!expect_counts(q, q->nin, q->nin, why))
        return false;
    int rank = q->in[0].rank;
    if (d < -rank || d >= rank)
        return say(why, "dimension %" PRId64 " of an array of rank %d", d, rank);
    for (int i = 0; i < q->nin; i++) {
        if (!shape_fits(q->in[i], q->in[0]))
            return say(why, "%s and %s: the arrays must have one shape", type_name(q->in[0]),
                       type_name(q->in[i]));
        if (!expect_type(q, i, q->in[i], why))
            return false;
    }
    if (q->nregions != 1 || q->regions[0].nargs != 2 * q->nin || q->regions[0].nresults != 1 ||
        !is_scalar(q->regions[0].results[0], I1))
        return say(why, "its region must take %d scalars and give one i1", 2 * q->nin);
    for (int i = 0; i < 2 * q->nin; i++)
        if (!is_scalar(q->regions[0].args[i], q->in[i / 2].element))
            return say(why, "argument %d of its region is %s, and a scalar %s is needed", i,
                       type_name(q->regions[0].args[i]), element_info[q->in[i / 2].element].name);
    return true;
}

bool shape_top_k(const ShapeQuery *q, Text *why)
{
    if (!expect_counts(q, 1, 2, why))
        return false;
    int64_t k = ((const TopKAttrs *)q->attrs)->k;
    Type x = q->in[0];
    if (x.rank < 1 || k < 0 || (x.dims[x.rank - 1] != DYNAMIC && k > x.dims[x.rank - 1]))
        return say(why, "the %" PRId64 " largest of %s: k must be 0 to the last extent", k,
                   type_name(x));
    int64_t dims[MAX_RANK];
    memcpy(dims, x.dims, sizeof *dims * (size_t)x.rank);
    dims[x.rank - 1] = k;
    return expect_result(q, 0, x.element, x.rank, dims, why) &&
           expect_result(q, 1, I32, x.rank, dims, why);
}

/* Two lists of types that must be one; each is named in the complaint. */
static bool expect_types(const char *name, const Type *a, int na, const char *other, const Type *b,
                         int nb, Text *why)
{
    if (na != nb)
        return say(why, "%d values as %s and %d as %s: they must be as many", na, name, nb, other);
    for (int i = 0; i < na; i++)
        if (!type_fits(a[i], b[i]))
            return say(why, "%s %d is %s and %s %d is %s: they must have one type", name, i,
                       type_name(a[i]), other, i, type_name(b[i]));
    return true;
}

bool shape_while(const ShapeQuery *q, Text *why)
{
    if (q->nregions != 2)
        return say(why, "it needs two regions, cond and body");
    const struct RegionTypes *cond = &q->regions[0], *body = &q->regions[1];
    if (!expect_types("operand", q->in, q->nin, "result", q->stated, q->nout, why) ||
        !expect_types("operand", q->in, q->nin, "cond's argument", cond->args, cond->nargs, why) ||
        !expect_types("operand", q->in, q->nin, "body's argument", body->args, body->nargs, why) ||
        !expect_types("operand", q->in, q->nin, "body's result", body->results, body->nresults,
                      why))
        return false;
    if (cond->nresults != 1 || !is_scalar(cond->results[0], I1))
        return say(why, "cond must give one i1");
    return true;
}

/* An index of that element, and branches that give what is stated. */
static bool branches_fit(const ShapeQuery *q, Element index, Text *why)
{
    if (!is_scalar(q->in[0], index))
        return say(why, "index %s: it must be a scalar %s", type_name(q->in[0]),
                   element_info[index].name);
    for (int i = 0; i < q->nregions; i++) {
        const struct RegionTypes *branch = &q->regions[i];
        if (branch->nargs != 0)
            return say(why, "branch %d takes arguments, and must take none", i);
        char name[32];
        snprintf(name, sizeof name, "branch %d's result", i);
        if (!expect_types(name, branch->results, branch->nresults, "the stated result", q->stated,
                          q->nout, why))
            return false;
    }
    return true;
}

bool shape_case(const ShapeQuery *q, Text *why)
{
    if (q->nin != 1 || q->nregions < 1)
        return say(why, "it takes an index and at least one branch");
    return branches_fit(q, I32, why);
}

bool shape_if(const ShapeQuery *q, Text *why)
{
    if (q->nin != 1 || q->nregions != 2)
        return say(why, "it takes an index and two branches, not %d", q->nregions);
    return branches_fit(q, I1, why);
}

bool shape_manual(const ShapeQuery *q, Text *why)
{
    const ManualAttrs *a = q->attrs;
    if (q->nregions != 1 || q->regions[0].nargs != q->nin || q->regions[0].nresults != q->nout)
        return say(why, "its region must take %d values and give %d", q->nin, q->nout);
    if (a->in_shardings.n != q->nin || a->out_shardings.n != q->nout)
        return say(why, "%d in_shardings and %d out_shardings for %d operands and %d results",
                   a->in_shardings.n, a->out_shardings.n, q->nin, q->nout);
    return true;
}
