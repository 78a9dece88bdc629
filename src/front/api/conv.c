/* conv.c - windows of an array: multiplied with kernels (tt_conv), or their largest or mean (tt_max_pool,
 * tt_avg_pool).
 *
 *     x  [n, h, w, c]     k  [kh, kw, c / groups, out]     y  [n, h', w', out]
 *
 * with one, two or three axes where h and w stand. */
#include "front/api/numpy.h"
#include "front/transform/rules.h"
#include "front/value/library.h"
#include "front/value/report.h"

#include <math.h>
#include <string.h>

enum { MOST = 3 }; /* axes of space */

/* How windows lie along one axis. */
typedef struct Along {
    int64_t stride, dilation, spread; /* of windows, within a window, of x; from 1 on */
    int64_t pad[2];
} Along;

/* No bytes between fields: they tell programs apart. */
typedef struct Conv {
    const char *who;
    Along along[MOST];
    int64_t groups, precision;
    int64_t is_same; /* as much around x as makes as many windows as it has elements, by strides */
    int64_t is_turned;          /* transposed: around x is what that needs */
    int64_t window[MOST], kind; /* of pools */
} Conv;

static int spatial_axes(const Shape *s)
{
    return s->rank - 2;
}

/* The extent of a window with gaps in it, of an array with gaps in it. */
static int64_t dilated(int64_t n, int64_t by)
{
    return n > 0 ? (n - 1) * by + 1 : 0;
}

/* What is put around x of that extent, for windows of that one, gaps included. */
static void surround(const Conv *c, const Along *w, int64_t x, int64_t window, int64_t *pad)
{
    memcpy(pad, w->pad, sizeof w->pad);
    if (c->is_turned) { /* the strides are the gaps in x, and as many windows as x has elements, by those */
        int64_t all = window + w->spread - 2, far = window - w->spread;
        if (!c->is_same)
            all += far > 0 ? far : 0;
        pad[0] = !c->is_same || w->spread > window - 1 ? window - 1 : (all + 1) / 2;
        pad[1] = all - pad[0];
    } else if (c->is_same) {
        int64_t y = (x + w->stride - 1) / w->stride, more = (y - 1) * w->stride + window - x;
        more = y && more > 0 ? more : 0;
        pad[0] = more / 2;
        pad[1] = more - more / 2;
    }
}

/* The extent of the result; below 1: no window fits. */
static int64_t extent(const Along *w, int64_t x, int64_t window, const int64_t *pad)
{
    int64_t room = dilated(x, w->spread) + pad[0] + pad[1] - window;
    return room < 0 ? 0 : room / w->stride + 1;
}

/* ---- convolutions ---- */

static bool has_axes(const Conv *c, const Shape *s)
{
    int n = spatial_axes(s);
    if (n >= 1 && n <= MOST && s[1].rank == s[0].rank)
        return true;
    report_broken("%s: %s by kernels %s: both must have one to three axes of space and two more, "
                  "[n, h, w, c] by [kh, kw, c, out]",
                  c->who, shape_text(&s[0]), shape_text(&s[1]));
    return false;
}

static bool has_features(const Conv *c, const Shape *s)
{
    int n = spatial_axes(s);
    int64_t given = s[0].dims[n + 1], taken = s[1].dims[n] * c->groups, made = s[1].dims[n + 1];
    if (given == taken && made % c->groups == 0)
        return true;
    report_broken("%s: %s by kernels %s, in %lld group%s: the last axis of the first must be "
                  "%lld long, and that of the second a multiple of the groups",
                  c->who, shape_text(&s[0]), shape_text(&s[1]), (long long)c->groups,
                  c->groups == 1 ? "" : "s", (long long)taken);
    return false;
}

static bool has_windows(const Conv *c, const Shape *s, int i, int64_t y)
{
    int64_t x = s[0].dims[1 + i];
    if (s[1].dims[i] && (y > 0 || (c->is_same && !x)))
        return true;
    report_broken("%s: %s by kernels %s: along axis %d of the kernels there must be from "
                  "1 to %lld",
                  c->who, shape_text(&s[0]), shape_text(&s[1]), i, (long long)x);
    return false;
}

static void conv_body(const tt *in, tt *out, const void *config)
{
    const Conv *c = config;
    Shape s[2];
    if (!shapes_of(c->who, 2, in, s) || !has_axes(c, s) || !has_features(c, s))
        return;
    int n = spatial_axes(s);
    int64_t dims[TT_MAX_RANK] = { s[0].dims[0] }, strides[MOST], spreads[MOST], dilations[MOST];
    int64_t *around = ARENA_ARRAY(trace_arena(), int64_t, 2 * n);
    for (int i = 0; i < n; i++) {
        const Along *w = &c->along[i];
        int64_t x = s[0].dims[1 + i], window = dilated(s[1].dims[i], w->dilation);
        surround(c, w, x, window, &around[2 * i]);
        dims[1 + i] = extent(w, x, window, &around[2 * i]);
        if (!has_windows(c, s, i, dims[1 + i]))
            return;
        strides[i] = w->stride;
        spreads[i] = w->spread;
        dilations[i] = w->dilation;
    }
    dims[n + 1] = s[1].dims[n + 1];
    Promoted met = promote_types(2, s);
    tt pair[] = { as_element(in[0], met.element), as_element(in[1], met.element) };
    const ConvolutionAttrs *attrs = BUILD_ATTRS(
        ConvolutionAttrs, .window_strides = ints_of(n, strides), .padding = { n, 2, around },
        .lhs_dilation = ints_of(n, spreads), .rhs_dilation = ints_of(n, dilations),
        .input_feature_dimension = n + 1, .input_spatial_dimensions = ints_range(1, n),
        .kernel_input_feature_dimension = n, .kernel_output_feature_dimension = n + 1,
        .kernel_spatial_dimensions = ints_range(0, n), .output_feature_dimension = n + 1,
        .output_spatial_dimensions = ints_range(1, n), .feature_group_count = c->groups,
        .batch_group_count = 1, .precision_config = precisions_of(c->precision));
    Type t = type_new(trace_arena(), met.element, n + 2, dims);
    *out = as_weak(build_op(OP_CONVOLUTION, 2, pair, attrs, t), met.is_weak);
}

/* What is given for an axis, for all of them, or 1. */
static int64_t either(int one, int all)
{
    return one ? one : all ? all : 1;
}

/* False: reported. */
static bool conv_of(const char *who, const tt_conv_options *options, Conv *c)
{
    memset(c, 0, sizeof *c);
    c->who = who;
    c->groups = options->groups ? options->groups : 1;
    c->precision = options->precision;
    bool is_padded = false, counts = c->groups > 0;
    for (int i = 0; i < MOST; i++) {
        Along *w = &c->along[i];
        w->stride = either(options->strides[i], options->stride);
        w->dilation = either(options->dilation[i], 0);
        w->spread = either(options->spread[i], 0);
        memcpy(w->pad, options->pad[i], sizeof w->pad);
        is_padded = is_padded || w->pad[0] || w->pad[1];
        counts = counts && w->stride > 0 && w->dilation > 0 && w->spread > 0;
    }
    c->is_same = !options->valid && !is_padded;
    if (!counts)
        report_broken("%s: .stride is %d and .groups is %d: they count, from 1 on, as do .strides, "
                      ".dilation and .spread",
                      who, options->stride, options->groups);
    return counts && precision_ok(who, options->precision);
}

tt tt_conv_with(tt x, tt kernels, const tt_conv_options *given)
{
    PUBLIC;
    OPTIONS(tt_conv_options, "tt_conv", given, return NO_VALUE);
    Conv c;
    if (!conv_of("tt_conv", &options, &c))
        return NO_VALUE;
    return EAGER(c.who, conv_body, &c, x, kernels);
}

tt tt_conv_transpose_with(tt x, tt kernels, const tt_conv_options *given)
{
    PUBLIC;
    OPTIONS(tt_conv_options, "tt_conv_transpose", given, return NO_VALUE);
    Conv c;
    if (!conv_of("tt_conv_transpose", &options, &c))
        return NO_VALUE;
    bool is_plain = c.is_same || options.valid;
    for (int i = 0; i < MOST; i++) {
        is_plain = is_plain && c.along[i].spread == 1;
        c.along[i].spread = c.along[i].stride;
        c.along[i].stride = 1;
    }
    if (!is_plain)
        return report_broken("tt_conv_transpose: what is around x and its spread follow from the "
                             "stride; tt_conv takes .pad and .spread");
    c.is_turned = 1;
    return EAGER(c.who, conv_body, &c, x, kernels);
}

/* ---- pools ---- */

enum { LARGEST, MEAN, MEAN_INSIDE };

static tt reduce_windows(OpId op, tt x, const WindowAttrs *w, Type result)
{
    Element e = result.element;
    bool is_float = element_info[e].kind == FLOAT;
    tt start = op == OP_ADD ? build_zeros(type_scalar(e))
               : is_float   ? build_number(type_scalar(e), -INFINITY)
                            : build_reduce(OP_MIN, x, ints_range(0, type_at(x).rank));
    Graph region = trace_reducer(op, e);
    tt in[] = { x, start }, y = NO_VALUE;
    trace_apply_regions("a pool", OP_REDUCE_WINDOW, 2, in, w, 1, &region, 1, &result, &y);
    return y;
}

/* The windows of a pool, and the type of its result.  False: reported. */
static bool pool_windows(const Conv *c, const Shape *s, WindowAttrs *out, Type *result)
{
    int n = spatial_axes(s), rank = s->rank;
    int64_t size[TT_MAX_RANK], steps[TT_MAX_RANK], gaps[TT_MAX_RANK], dims[TT_MAX_RANK];
    int64_t *around = ARENA_ARRAY(trace_arena(), int64_t, 2 * rank);
    for (int i = 0; i < rank; i++) {
        int k = i - 1;
        bool is_space = k >= 0 && k < n;
        size[i] = is_space ? c->window[k] : 1;
        steps[i] = is_space ? c->along[k].stride : 1;
        gaps[i] = is_space ? c->along[k].dilation : 1;
        dims[i] = s->dims[i];
        if (!is_space)
            continue;
        int64_t window = dilated(size[i], gaps[i]);
        surround(c, &c->along[k], s->dims[i], window, &around[2 * i]);
        dims[i] = extent(&c->along[k], s->dims[i], window, &around[2 * i]);
        if (size[i] < 1 || dims[i] < 1)
            return report_broken("%s: %s by windows of %lld along axis %d: none of them fits",
                                 c->who, shape_text(s), (long long)size[i], i),
                   false;
    }
    *out = (WindowAttrs){ .window_dimensions = ints_of(rank, size),
                          .window_strides = ints_of(rank, steps),
                          .window_dilations = ints_of(rank, gaps),
                          .padding = { rank, 2, around } };
    *result = type_new(trace_arena(), s->element, rank, dims);
    return true;
}

static void pool_body(const tt *in, tt *out, const void *config)
{
    const Conv *c = config;
    Shape s;
    tt x = in[0];
    if (c->kind != LARGEST && !as_floats(c->who, 1, in, &x))
        return;
    if (!shapes_of(c->who, 1, &x, &s))
        return;
    if (spatial_axes(&s) < 1 || spatial_axes(&s) > MOST ||
        element_info[s.element].kind == COMPLEX) {
        report_broken("%s: %s: it takes real numbers with one to three axes of space, [n, h, w, c]",
                      c->who, shape_text(&s));
        return;
    }
    WindowAttrs *w = BUILD_ATTRS(WindowAttrs);
    Type result;
    if (!pool_windows(c, &s, w, &result))
        return;
    tt y = reduce_windows(c->kind == LARGEST ? OP_MAX : OP_ADD, x, w, result);
    double count = 1;
    for (int i = 0; i < spatial_axes(&s); i++)
        count *= (double)c->window[i];
    if (c->kind == MEAN)
        y = tt_div(y, tt_scalar(count));
    if (c->kind == MEAN_INSIDE)
        y = tt_div(y, reduce_windows(OP_ADD, build_number(type_at(x), 1), w, result));
    *out = as_weak(y, s.is_weak);
}

static tt pool(const char *who, int kind, tt x, const tt_pool_options *options)
{
    Conv c;
    tt_conv_options like = { .valid = !options->same };
    memcpy(like.dilation, options->dilation, sizeof like.dilation);
    memcpy(like.pad, options->pad, sizeof like.pad);
    for (int i = 0; i < MOST; i++)
        like.strides[i] = options->strides[i] ? options->strides[i] : options->window[i];
    if (!conv_of(who, &like, &c))
        return NO_VALUE;
    c.kind = kind;
    for (int i = 0; i < MOST; i++)
        c.window[i] = options->window[i];
    return EAGER(who, pool_body, &c, x);
}

tt tt_max_pool_with(tt x, const tt_pool_options *given)
{
    PUBLIC;
    OPTIONS(tt_pool_options, "tt_max_pool", given, return NO_VALUE);
    return pool("tt_max_pool", LARGEST, x, &options);
}

tt tt_avg_pool_with(tt x, const tt_pool_options *given)
{
    PUBLIC;
    OPTIONS(tt_pool_options, "tt_avg_pool", given, return NO_VALUE);
    return pool("tt_avg_pool", options.inside ? MEAN_INSIDE : MEAN, x, &options);
}
