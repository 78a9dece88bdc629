/* conv.c - tt_conv: windows of an array, each multiplied with all kernels.
 *
 *     x  [n, h, w, c]     k  [kh, kw, c / groups, out]     y  [n, h', w', out]
 *
 * with one, two or three axes where h and w stand. */
#include "front/api/numpy.h"
#include "front/value/library.h"
#include "front/value/report.h"

/* No bytes between fields: they tell programs apart. */
typedef struct Conv {
    int stride, groups, valid;
} Conv;

static int spatial_axes(const Shape *s)
{
    return s[0].rank - 2;
}

static bool has_axes(const Shape *s)
{
    int n = spatial_axes(s);
    if (n >= 1 && n <= 3 && s[1].rank == s[0].rank)
        return true;
    report_broken(
        "tt_conv: %s by kernels %s: both must have one to three axes of space and two more, "
        "[n, h, w, c] by [kh, kw, c, out]",
        shape_text(&s[0]), shape_text(&s[1]));
    return false;
}

static bool has_features(const Conv *c, const Shape *s)
{
    int n = spatial_axes(s);
    int64_t given = s[0].dims[n + 1], taken = s[1].dims[n] * c->groups, made = s[1].dims[n + 1];
    if (given != taken || made % c->groups) {
        report_broken(
            "tt_conv: %s by kernels %s, in %d group%s: the last axis of the first must be "
            "%lld long, and that of the second a multiple of the groups",
            shape_text(&s[0]), shape_text(&s[1]), c->groups, c->groups == 1 ? "" : "s",
            (long long)taken);
        return false;
    }
    for (int i = 0; i < n; i++)
        if (s[1].dims[i] == 0 || (c->valid && s[1].dims[i] > s[0].dims[1 + i])) {
            report_broken(
                "tt_conv: %s by kernels %s: along axis %d of the kernels there must be from "
                "1 to %lld",
                shape_text(&s[0]), shape_text(&s[1]), i, (long long)s[0].dims[1 + i]);
            return false;
        }
    return true;
}

/* The extent of the result along axis i of space, and what is put around x for it. */
static int64_t extent(const Conv *c, const Shape *s, int i, int64_t *around)
{
    int64_t x = s[0].dims[1 + i], k = s[1].dims[i];
    if (c->valid)
        return (x - k) / c->stride + 1;
    int64_t y = (x + c->stride - 1) / c->stride, more = (y - 1) * c->stride + k - x;
    more = y && more > 0 ? more : 0;
    around[0] = more / 2;
    around[1] = more - more / 2;
    return y;
}

static void conv_body(const tt *in, tt *out, const void *config)
{
    const Conv *c = config;
    Shape s[2];
    if (!shapes_of("tt_conv", 2, in, s) || !has_axes(s) || !has_features(c, s))
        return;
    int n = spatial_axes(s);
    int64_t dims[TT_MAX_RANK] = { s[0].dims[0] }, strides[3];
    int64_t *around = ARENA_ARRAY(trace_arena(), int64_t, 2 * n);
    for (int i = 0; i < n; i++) {
        dims[1 + i] = extent(c, s, i, &around[2 * i]);
        strides[i] = c->stride;
    }
    dims[n + 1] = s[1].dims[n + 1];
    Promoted met = promote_types(2, s);
    tt pair[] = { as_element(in[0], met.element), as_element(in[1], met.element) };
    const ConvolutionAttrs *attrs = BUILD_ATTRS(
        ConvolutionAttrs, .window_strides = ints_of(n, strides), .padding = { n, 2, around },
        .input_feature_dimension = n + 1, .input_spatial_dimensions = ints_range(1, n),
        .kernel_input_feature_dimension = n, .kernel_output_feature_dimension = n + 1,
        .kernel_spatial_dimensions = ints_range(0, n), .output_feature_dimension = n + 1,
        .output_spatial_dimensions = ints_range(1, n), .feature_group_count = c->groups,
        .batch_group_count = 1);
    Type t = type_new(trace_arena(), met.element, n + 2, dims);
    *out = as_weak(build_op(OP_CONVOLUTION, 2, pair, attrs, t), met.is_weak);
}

tt tt_conv_with(tt x, tt kernels, const tt_conv_options *given)
{
    PUBLIC;
    OPTIONS(tt_conv_options, "tt_conv", given, return NO_VALUE);
    Conv c = { .stride = options.stride ? options.stride : 1,
               .groups = options.groups ? options.groups : 1,
               .valid = options.valid };
    if (c.stride < 0 || c.groups < 0)
        return report_broken("tt_conv: .stride is %d and .groups is %d: they count, from 1 on",
                             options.stride, options.groups);
    return EAGER("tt_conv", conv_body, &c, x, kernels);
}
