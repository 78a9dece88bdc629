/* fourier.c - Fourier transforms along axes, and the frequencies that belong to them.
 *
 * StableHLO transforms the last one to three axes: if those are asked for it is one operation, else one
 * for each axis, which is moved to the end and back.  Of real numbers the last axis listed is
 * halved, and all others are transformed as complex ones. */
#include "front/api/numpy.h"

#include "front/value/library.h"
#include "front/value/report.h"

#include <string.h>

enum { FFT, IFFT, RFFT, IRFFT }; /* of fft_type */

enum { KIND, LENGTH, AXES }; /* Numbers.v: which; the last extent of a real result, 0: even; axes */

static Type with_last(Type t, Element e, int64_t n)
{
    int64_t dims[TT_MAX_RANK];
    memcpy(dims, t.dims, sizeof *dims * (size_t)t.rank);
    dims[t.rank - 1] = n;
    return type_new(trace_arena(), e, t.rank, dims);
}

/* Along the last `n` axes; `length`: the last extent where the result is real. */
static tt transform_last(int kind, tt x, int n, int64_t length)
{
    Type t = type_at(x);
    int64_t lengths[3], last = t.dims[t.rank - 1];
    for (int i = 0; i < n; i++)
        lengths[i] = t.dims[t.rank - n + i];
    Element e = t.element;
    if (kind == RFFT)
        e = e == F64 ? C128 : C64;
    if (kind == IRFFT)
        e = element_part(e);
    if (kind == IRFFT)
        lengths[n - 1] = length;
    int64_t result = kind == RFFT ? last / 2 + 1 : kind == IRFFT ? length : last;
    const FftAttrs *how =
        BUILD_ATTRS(FftAttrs, .fft_type = kind, .fft_length = ints_of(n, lengths));
    return build_op(OP_FFT, 1, &x, how, with_last(t, e, result));
}

static tt transform_axis(int kind, tt x, int axis, int64_t length)
{
    int last = type_at(x).rank - 1;
    return build_move_axis(transform_last(kind, build_move_axis(x, axis, last), 1, length), last,
                           axis);
}

static bool are_last(const tt_dims *axes, int rank)
{
    bool are = axes->n <= 3;
    for (int i = 0; i < axes->n; i++)
        are = are && axes->v[i] == rank - axes->n + i;
    return are;
}

static tt transform(int kind, tt x, const tt_dims *axes, int64_t length)
{
    int last = (int)axes->v[axes->n - 1];
    if (are_last(axes, type_at(x).rank))
        return transform_last(kind, x, axes->n, length);
    if (kind == RFFT)
        x = transform_axis(kind, x, last, length);
    for (int i = 0; i < axes->n - (kind >= RFFT); i++)
        x = transform_axis(kind == FFT || kind == RFFT ? FFT : IFFT, x, (int)axes->v[i], 0);
    return kind == IRFFT ? transform_axis(kind, x, last, length) : x;
}

/* The axes in the order given.  False: reported. */
static bool take_axes(const Numbers *c, const Shape *s, tt_dims *axes)
{
    tt_dims once;
    *axes = (tt_dims){ (int)c->n - AXES, { 0 } };
    memcpy(axes->v, c->v + AXES, sizeof *axes->v * (size_t)axes->n);
    if (!normalize_axes(c->who, shape_type(s), axes, &once))
        return false;
    if (!axes->n)
        *axes = once;
    bool fits = axes->n > 0;
    for (int i = 0; i < axes->n; i++) {
        axes->v[i] += axes->v[i] < 0 ? s->rank : 0;
        fits = fits && s->dims[axes->v[i]] > 0;
    }
    if (!fits)
        report_broken("%s: %s: it takes axes that have elements, at least one", c->who,
                      shape_text(s));
    return fits;
}

static void transform_body(const tt *in, tt *out, const void *config)
{
    const Numbers *c = config;
    int kind = (int)c->v[KIND];
    Shape s;
    tt_dims axes;
    tt x;
    if (!as_inexact(c->who, 1, in, &x) || !shapes_of(c->who, 1, &x, &s) || !take_axes(c, &s, &axes))
        return;
    Element e = element_canonical(s.element, s.is_weak);
    bool is_complex = element_info[e].kind == COMPLEX;
    if (kind == RFFT && is_complex) {
        report_broken("%s: %s: it takes real numbers", c->who, shape_text(&s));
        return;
    }
    Element real = is_complex ? element_part(e) : e == F64 ? F64 : F32;
    x = as_element(x, kind == RFFT ? real : real == F64 ? C128 : C64);
    int64_t half = s.dims[axes.v[axes.n - 1]],
            length = c->v[LENGTH] ? c->v[LENGTH] : 2 * (half - 1);
    if (kind == IRFFT && (length < 1 || length / 2 + 1 != half)) {
        report_broken("%s: %s: %lld frequencies are of %lld or %lld numbers, not %lld", c->who,
                      shape_text(&s), (long long)half, (long long)(2 * half - 2),
                      (long long)(2 * half - 1), (long long)length);
        return;
    }
    *out = as_weak(transform(kind, x, &axes, length), false);
}

static tt along(const char *who, int kind, tt x, int64_t length, const tt_dims *axes)
{
    Numbers c = numbers_of(who, DIMS(kind, length));
    for (int i = 0; axes && i < axes->n && i < TT_MAX_RANK; i++)
        c.v[c.n++] = axes->v[i];
    return EAGER(who, transform_body, &c, x);
}

#define TRANSFORM(name, kind)                                                                      \
    tt tt_##name(tt x, int axis)                                                                   \
    {                                                                                              \
        PUBLIC;                                                                                    \
        return along("tt_" #name, kind, x, 0, DIMS(axis));                                         \
    }                                                                                              \
    tt tt_##name##n(tt x, const tt_dims *axes)                                                     \
    {                                                                                              \
        PUBLIC;                                                                                    \
        return along("tt_" #name "n", kind, x, 0, axes);                                           \
    }
TRANSFORM(fft, FFT)
TRANSFORM(ifft, IFFT)
TRANSFORM(rfft, RFFT)

tt tt_irfft(tt x, int64_t n, int axis)
{
    PUBLIC;
    return along("tt_irfft", IRFFT, x, n, DIMS(axis));
}

tt tt_irfftn(tt x, int64_t n, const tt_dims *axes)
{
    PUBLIC;
    return along("tt_irfftn", IRFFT, x, n, axes);
}

/* ---- frequencies ---- */

static tt frequencies(const char *who, tt_dtype type, int64_t n, double step, bool is_half)
{
    if (!dtype_ok(who, type) || n < 1 || element_info[element_of(type)].kind != FLOAT)
        return report_broken("%s: %lld frequencies: from 1 on, of a float type", who, (long long)n);
    tt at = tt_arange(TT_I32, is_half ? n / 2 + 1 : n);
    if (!is_half)
        at = tt_sub(tt_mod(tt_add(at, tt_integer(n / 2)), tt_integer(n)), tt_integer(n / 2));
    return tt_div(tt_astype(at, type), tt_scalar((double)n * step));
}

tt tt_fftfreq(tt_dtype type, int64_t n, double step)
{
    PUBLIC;
    return frequencies("tt_fftfreq", type, n, step, false);
}

tt tt_rfftfreq(tt_dtype type, int64_t n, double step)
{
    PUBLIC;
    return frequencies("tt_rfftfreq", type, n, step, true);
}

/* Each axis turned by half of its extent: forth by v[0] = 1, back by -1. */
static void shift_body(const tt *in, tt *out, const void *config)
{
    const Numbers *c = config;
    Shape s;
    tt_dims list = { (int)c->n - 1, { 0 } }, axes;
    memcpy(list.v, c->v + 1, sizeof *list.v * (size_t)list.n);
    if (!shapes_of(c->who, 1, in, &s) || !normalize_axes(c->who, shape_type(&s), &list, &axes))
        return;
    tt x = in[0];
    for (int i = 0; i < axes.n; i++)
        x = tt_roll(x, c->v[0] * (s.dims[axes.v[i]] / 2), (int)axes.v[i]);
    *out = x;
}

#define SHIFT(name, by)                                                                            \
    tt tt_##name(tt x, const tt_dims *axes)                                                        \
    {                                                                                              \
        PUBLIC;                                                                                    \
        Numbers c = numbers_of("tt_" #name, DIMS(by));                                             \
        for (int i = 0; axes && i < axes->n && i < TT_MAX_RANK; i++)                               \
            c.v[c.n++] = axes->v[i];                                                               \
        return EAGER(c.who, shift_body, &c, x);                                                    \
    }
SHIFT(fftshift, 1)
SHIFT(ifftshift, -1)
