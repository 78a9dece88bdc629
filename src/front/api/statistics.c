/* statistics.c - medians and quantiles, reductions that pass over what is no number, histograms,
 * interpolation: made of the other public operations. */
#include "front/api/numpy.h"

#include "front/value/library.h"
#include "front/value/report.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- quantiles ---- */

/* Along the last axis, sorted: the numbers around place q (n - 1), weighed.  Where there is no number, none comes out. */
static tt quantile_of(tt x, tt q)
{
    int64_t n = tt_shape(x).v[tt_shape(x).n - 1];
    tt none = tt_any(tt_not_equal(x, x), DIMS(-1, TT_KEEP)), sorted = tt_sort(x, -1);
    sorted = tt_where(none, tt_scalar(NAN), sorted);
    tt at = tt_mul(q, tt_scalar((double)(n - 1))), low = tt_floor(at);
    tt far = tt_sub(at, low), below = tt_astype(low, TT_I32);
    tt above = tt_min(tt_add(below, tt_integer(1)), tt_integer(n - 1));
    return tt_add(tt_mul(tt_take(sorted, below, -1), tt_sub(tt_scalar(1), far)),
                  tt_mul(tt_take(sorted, above, -1), far));
}

/* x with the axis at the end, or all of it as one.  False: reported. */
static bool take_last(const Numbers *c, const tt *in, tt *x)
{
    Shape s;
    int axis;
    if (!as_floats(c->who, 1, in, x) || !shapes_of(c->who, 1, x, &s))
        return false;
    if (c->v[0] == TT_NONE)
        *x = tt_reshape(*x, DIMS(-1));
    else if (!normalize_axis(c->who, shape_type(&s), c->v[0], &axis))
        return false;
    else
        *x = tt_move_axis(*x, axis, -1);
    tt_dims shape = tt_shape(*x);
    if (!shape.v[shape.n - 1])
        return report_broken("%s: %s: no elements have no quantile", c->who, shape_text(&s)), false;
    return true;
}

static void quantile_body(const tt *in, tt *out, const void *config)
{
    tt x;
    if (!take_last(config, in, &x))
        return;
    if (tt_shape(in[1]).n) {
        report_broken("tt_quantile: q is %s; it is one number", tt_describe(in[1]));
        return;
    }
    *out = quantile_of(x, tt_astype(in[1], tt_type(x)));
}

tt tt_quantile(tt x, tt q, int axis)
{
    PUBLIC;
    return EAGER_BY("tt_quantile", quantile_body, DIMS(axis), x, q);
}

static void median_body(const tt *in, tt *out, const void *config)
{
    tt x;
    if (take_last(config, in, &x))
        *out = quantile_of(x, tt_full(tt_type(x), 0.5, &(tt_dims){ 0 }));
}

tt tt_median(tt x, int axis)
{
    PUBLIC;
    return EAGER_BY("tt_median", median_body, DIMS(axis), x);
}

/* ---- passing over what is no number ---- */

enum { SUM, MEAN, LARGEST, LEAST, VARIANCE, DEVIATION };

static tt is_number(tt x)
{
    return tt_equal(x, x);
}

static tt nan_mean(tt x, const tt_dims *axes)
{
    tt count = tt_sum(tt_astype(is_number(x), tt_type(x)), axes);
    return tt_div(tt_sum(tt_where(is_number(x), x, tt_scalar(0)), axes), count);
}

static tt nan_extreme(tt x, const tt_dims *axes, bool is_largest)
{
    double far = is_largest ? -INFINITY : INFINITY;
    tt filled = tt_where(is_number(x), x, tt_scalar(far));
    tt y = is_largest ? tt_amax(filled, axes) : tt_amin(filled, axes);
    return tt_where(tt_any(is_number(x), axes), y, tt_scalar(NAN));
}

static tt nan_variance(tt x, const tt_dims *axes)
{
    tt_dims keep = *axes;
    if (keep.n < TT_MAX_RANK)
        keep.v[keep.n++] = TT_KEEP;
    tt far = tt_where(is_number(x), tt_sub(x, nan_mean(x, &keep)), tt_scalar(0));
    tt count = tt_sum(tt_astype(is_number(x), tt_type(x)), axes);
    return tt_div(tt_sum(tt_mul(far, far), axes), count);
}

static void nan_body(const tt *in, tt *out, const void *config)
{
    const Numbers *c = config;
    tt x;
    if (!as_floats(c->who, 1, in, &x))
        return;
    tt_dims axes = { (int)c->n - 1, { 0 } };
    memcpy(axes.v, c->v + 1, sizeof *axes.v * (size_t)axes.n);
    switch (c->v[0]) {
    case SUM: *out = tt_sum(tt_where(is_number(x), x, tt_scalar(0)), &axes); break;
    case MEAN: *out = nan_mean(x, &axes); break;
    case VARIANCE: *out = nan_variance(x, &axes); break;
    case DEVIATION: *out = tt_sqrt(nan_variance(x, &axes)); break;
    default: *out = nan_extreme(x, &axes, c->v[0] == LARGEST);
    }
}

static tt pass_over(const char *who, int kind, tt x, const tt_dims *axes)
{
    Numbers c = numbers_of(who, DIMS(kind));
    for (int i = 0; axes && i < axes->n && i < TT_MAX_RANK; i++)
        c.v[c.n++] = axes->v[i];
    return EAGER(who, nan_body, &c, x);
}

#define PASS_OVER(name, kind)                                                                      \
    tt tt_##name(tt x, const tt_dims *axes)                                                        \
    {                                                                                              \
        PUBLIC;                                                                                    \
        return pass_over("tt_" #name, kind, x, axes);                                              \
    }
PASS_OVER(nansum, SUM)
PASS_OVER(nanmean, MEAN)
PASS_OVER(nanmax, LARGEST)
PASS_OVER(nanmin, LEAST)
PASS_OVER(nanvar, VARIANCE)
PASS_OVER(nanstd, DEVIATION)

/* ---- by edges ---- */

/* How many of x lie between each edge and the next; the last edge belongs to the last. */
static void histogram_body(const tt *in, tt *out, const void *config)
{
    const Numbers *c = config;
    tt x[2];
    Shape s[2];
    if (!as_floats(c->who, 2, in, x) || !shapes_of(c->who, 2, x, s))
        return;
    if (s[1].rank != 1 || s[1].dims[0] < 2) {
        report_broken("%s: the edges are %s; they have one axis, of at least two", c->who,
                      shape_text(&s[1]));
        return;
    }
    int64_t n = s[1].dims[0];
    tt flat = tt_reshape(x[0], DIMS(-1)), last = tt_index(x[1], DIMS(n - 1));
    tt at = tt_sub(tt_searchsorted(x[1], flat, true), tt_integer(1));
    at = tt_where(tt_equal(flat, last), tt_integer(n - 2), at);
    at = tt_where(tt_equal(at, tt_integer(n - 1)), tt_integer(-1), at);
    *out = tt_segment_sum(tt_full_like(flat, 1), at, n - 1);
}

tt tt_histogram(tt x, tt edges)
{
    PUBLIC;
    return EAGER_BY("tt_histogram", histogram_body, NULL, x, edges);
}

/* Straight from (xs, ys) to the next; outside, as at the ends. */
static void interp_body(const tt *in, tt *out, const void *config)
{
    const Numbers *c = config;
    tt x[3];
    Shape s[3];
    if (!as_floats(c->who, 3, in, x) || !shapes_of(c->who, 3, x, s))
        return;
    if (s[1].rank != 1 || s[2].rank != 1 || s[1].dims[0] != s[2].dims[0] || s[1].dims[0] < 2) {
        report_broken(
            "%s: from %s to %s: they have one axis, as long as each other, of at least two", c->who,
            shape_text(&s[1]), shape_text(&s[2]));
        return;
    }
    int64_t n = s[1].dims[0];
    tt at = tt_searchsorted(x[1], x[0], true);
    at = tt_clip(at, tt_integer(1), tt_integer(n - 1));
    tt before = tt_sub(at, tt_integer(1));
    tt x0 = tt_take(x[1], before, 0), y0 = tt_take(x[2], before, 0);
    tt dx = tt_sub(tt_take(x[1], at, 0), x0), dy = tt_sub(tt_take(x[2], at, 0), y0);
    tt is_step = tt_equal(dx, tt_scalar(0));
    tt slope = tt_div(tt_sub(x[0], x0), tt_where(is_step, tt_scalar(1), dx));
    tt y = tt_where(is_step, y0, tt_add(y0, tt_mul(slope, dy)));
    y = tt_where(tt_less(x[0], tt_index(x[1], DIMS(0))), tt_index(x[2], DIMS(0)), y);
    *out = tt_where(tt_greater(x[0], tt_index(x[1], DIMS(n - 1))), tt_index(x[2], DIMS(n - 1)), y);
}

tt tt_interp(tt x, tt xs, tt ys)
{
    PUBLIC;
    return EAGER_BY("tt_interp", interp_body, NULL, x, xs, ys);
}
