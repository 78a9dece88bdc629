/* attention.c - attention by scaled products, as jax.nn.dot_product_attention has it.
 *
 *     q [b, t, n, h]     k, v [b, s, m, h]     y [b, t, n, h]
 *
 * Heads of q in groups of n / m share a head of k and v.  Logits and their softmax are f32 at least. */
#include "front/api/numpy.h"

#include "front/value/library.h"
#include "front/value/report.h"

#include <float.h>
#include <math.h>
#include <string.h>

typedef struct Attention {
    double scale; /* 0: of the heads' length */
    int64_t is_causal, has_mask, has_bias, precision;
} Attention;

static bool fits(const Shape *s)
{
    bool are = s[0].rank == 4 && s[1].rank == 4 && s[2].rank == 4;
    for (int i = 0; are && i < 4; i++)
        are = s[1].dims[i] == s[2].dims[i];
    are = are && s[0].dims[0] == s[1].dims[0] && s[0].dims[3] == s[1].dims[3] && s[1].dims[2] &&
          s[0].dims[2] % s[1].dims[2] == 0;
    if (!are)
        report_broken(
            "tt_attention: q %s, k %s, v %s: they are [batch, length, heads, size], k and v "
            "alike, and the heads of q a multiple of theirs",
            shape_text(&s[0]), shape_text(&s[1]), shape_text(&s[2]));
    return are;
}

/* What broadcasts to [b, n, t, s], as it broadcasts to [b, m, n / m, t, s].  False: reported. */
static bool by_groups(tt x, const char *what, const Shape *s, tt *out)
{
    Shape own;
    int64_t m = s[1].dims[2], full[] = { s[0].dims[0], s[0].dims[2], s[0].dims[1], s[1].dims[1] };
    if (!value_shape(x, "tt_attention", &own))
        return false;
    bool is_right = own.rank == 4;
    for (int i = 0; is_right && i < 4; i++)
        is_right = own.dims[i] == 1 || own.dims[i] == full[i];
    if (!is_right)
        return report_broken(
                   "tt_attention: .%s is %s; it is [%lld, %lld, %lld, %lld], each of them or 1",
                   what, shape_text(&own), (long long)full[0], (long long)full[1],
                   (long long)full[2], (long long)full[3]),
               false;
    bool is_one = own.dims[1] == 1;
    *out = tt_reshape(
        x, DIMS(own.dims[0], is_one ? 1 : m, is_one ? 1 : full[1] / m, own.dims[2], own.dims[3]));
    return true;
}

/* Hidden from the softmax, but not so far that a row without any would be no number. */
static tt hide(tt logits, tt is_seen)
{
    double far = tt_type(logits) == TT_F64 ? DBL_MAX : FLT_MAX;
    return tt_where(is_seen, logits, tt_scalar(-0.7 * far));
}

static void attention_body(const tt *in, tt *out, const void *config)
{
    const Attention *c = config;
    Shape s[3];
    if (!shapes_of("tt_attention", 3, in, s) || !fits(s))
        return;
    int64_t b = s[0].dims[0], t = s[0].dims[1], n = s[0].dims[2], h = s[0].dims[3];
    int64_t len = s[1].dims[1], m = s[1].dims[2];
    Promoted met = promote_inexact(3, s);
    Element wide = met.element == F64 ? F64 : F32;
    tt x[3], extra;
    for (int i = 0; i < 3; i++)
        x[i] = as_element(in[i], i < 2 ? wide : met.element);
    tt q = tt_reshape(x[0], DIMS(b, t, m, n / m, h));
    tt_product_options how = { sizeof how, (tt_precision)c->precision };
    tt logits = tt_einsum_with("btmgh,bsmh->bmgts", (const tt[]){ q, x[1] }, 2, &how);
    logits = tt_mul(logits, tt_scalar(c->scale != 0 ? c->scale : 1 / sqrt((double)h)));
    if (c->has_bias) {
        if (!by_groups(in[3 + c->has_mask], "bias", s, &extra))
            return;
        logits = tt_add(logits, extra);
    }
    if (c->is_causal)
        logits = hide(logits, tt_tril(tt_full(TT_BOOL, 1, DIMS(t, len)), 0));
    if (c->has_mask) {
        if (!by_groups(in[3], "mask", s, &extra))
            return;
        logits = hide(logits, extra);
    }
    tt weights = as_element(tt_softmax(logits, NULL), met.element);
    tt y = tt_einsum_with("bmgts,bsmh->btmgh", (const tt[]){ weights, x[2] }, 2, &how);
    *out = tt_reshape(y, DIMS(b, t, n, h));
}

tt tt_attention_with(tt q, tt k, tt v, const tt_attention_options *given)
{
    PUBLIC;
    OPTIONS(tt_attention_options, "tt_attention", given, return NO_VALUE);
    if (!precision_ok("tt_attention", options.precision))
        return NO_VALUE;
    Attention c = { options.scale, options.causal, is_value(options.mask), is_value(options.bias),
                    options.precision };
    tt in[5] = { q, k, v };
    int n = 3;
    if (c.has_mask)
        in[n++] = options.mask;
    if (c.has_bias)
        in[n++] = options.bias;
    return call_eager_one("tt_attention", attention_body, &c, sizeof c, n, in);
}
