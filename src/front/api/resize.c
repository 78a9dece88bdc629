/* resize.c - arrays of other extents, their elements found between those that are there.
 *
 * Along each axis a result is a weighed sum of elements: the weights are a matrix, which follows from
 * the extents alone and is made here, on the host.  Where an array gets smaller, the kernel gets as much wider (jax.image.resize's
 * antialias). */
#include "front/api/numpy.h"

#include "front/value/library.h"
#include "front/value/report.h"

#include <float.h>
#include <math.h>
#include <string.h>

static double linear(double x)
{
    return x < 1 ? 1 - x : 0;
}

/* Keys, 1981. */
static double cubic(double x)
{
    if (x < 1)
        return (1.5 * x - 2.5) * x * x + 1;
    return x < 2 ? ((-0.5 * x + 2.5) * x - 4) * x + 2 : 0;
}

/* weights[i * n + k]: how much of element i result k has. */
static void fill_weights(double *weights, int64_t from, int64_t n, tt_resize how)
{
    double step = (double)from / (double)n, width = step > 1 ? step : 1;
    for (int64_t k = 0; k < n; k++) {
        double at = ((double)k + 0.5) * step - 0.5, sum = 0;
        for (int64_t i = 0; i < from; i++) {
            double x = fabs(at - (double)i) / width;
            weights[i * n + k] = how == TT_RESIZE_CUBIC ? cubic(x) : linear(x);
            sum += weights[i * n + k];
        }
        for (int64_t i = 0; i < from; i++)
            weights[i * n + k] = how == TT_RESIZE_NEAREST         ? i == (int64_t)floor(at + 0.5)
                                 : fabs(sum) > 1000 * FLT_EPSILON ? weights[i * n + k] / sum
                                                                  : 0;
    }
}

static tt resize_axis(tt x, int axis, int64_t n, tt_resize how)
{
    Type t = type_at(x);
    int64_t from = t.dims[axis], dims[] = { from, n };
    double *weights = ARENA_ARRAY(trace_arena(), double, from * n);
    fill_weights(weights, from, n, how);
    float *narrow = ARENA_ARRAY(trace_arena(), float, from * n);
    for (int64_t i = 0; i < from * n; i++)
        narrow[i] = (float)weights[i];
    bool is_wide = t.element == F64;
    tt matrix = trace_constant((Dense){ type_new(trace_arena(), is_wide ? F64 : F32, 2, dims),
                                        false, is_wide ? (const void *)weights : narrow });
    tt y = build_dot(x, build_convert(matrix, t.element), (Ints){ 0 }, (Ints){ 0 },
                     ints_range(axis, 1), ints_range(0, 1),
                     (Precisions){ PRECISION_HIGHEST, PRECISION_HIGHEST }); /* as JAX */
    return build_move_axis(y, t.rank - 1, axis);
}

static void resize_body(const tt *in, tt *out, const void *config)
{
    const Numbers *c = config;
    Shape s;
    tt x;
    if (!as_floats(c->who, 1, in, &x) || !shapes_of(c->who, 1, &x, &s))
        return;
    bool fits = s.rank == c->n;
    for (int i = 0; fits && i < s.rank; i++)
        fits = s.dims[i] == c->v[i] || (s.dims[i] > 0 && s.dims[i] * c->v[i] < 1 << 24);
    if (!fits) {
        report_broken("%s: %s to a shape of %lld extents: as many as it has, and not too large",
                      c->who, shape_text(&s), (long long)c->n);
        return;
    }
    for (int i = 0; i < s.rank; i++)
        if (s.dims[i] != c->v[i])
            x = resize_axis(x, i, c->v[i], (tt_resize)c->v[TT_MAX_RANK]);
    *out = as_weak(x, s.is_weak);
}

tt tt_resize_to(tt x, tt_resize how, const tt_dims *shape)
{
    PUBLIC;
    if (!dims_ok("tt_resize_to", shape))
        return NO_VALUE;
    Numbers c = numbers_of("tt_resize_to", shape);
    c.v[TT_MAX_RANK] = how;
    return EAGER(c.who, resize_body, &c, x);
}
