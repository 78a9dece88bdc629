/* nn.c - functions of networks, made of the other public operations: activations, losses,
 * normalisation, dropout, pooling, attention.
 *
 * A body takes its operands as floats and writes the formula with the functions of tutti.h, so its
 * derivatives are theirs.  Formulas are chosen such that these hold where branches meet: softplus
 * has the slope 1/2 at 0. */
#include "front/api/formula.h"

#include "front/value/report.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- elementwise ---- */

/* log(e^x + e^y): the larger, and what the smaller adds; of two equal infinities that one. */
static tt add_logs(tt x, tt y)
{
    tt d = tt_sub(x, y), is_first = tt_greater_equal(x, y);
    tt far = tt_where(is_first, d, tt_neg(d));
    tt sum = tt_add(tt_where(is_first, x, y), tt_log1p(tt_exp(tt_neg(far))));
    return tt_where(tt_not_equal(d, d), tt_add(x, y), sum);
}

/* clang-format off */
FORMULA2(logaddexp, add_logs(x, y))
FORMULA1(softplus, add_logs(x, number(0)))
FORMULA1(log_sigmoid, tt_neg(tt_softplus(tt_neg(x))))
FORMULA1(silu, tt_mul(x, tt_sigmoid(x)))
FORMULA1(log2, tt_div(tt_log(x), number(M_LN2)))
FORMULA1(log10, tt_div(tt_log(x), number(M_LN10)))
FORMULA1(exp2, tt_exp(tt_mul(x, number(M_LN2))))
FORMULA1(reciprocal, tt_div(number(1), x))
/* clang-format on */

/* JAX's default, by tanh; and exactly, by erf. */
static tt gelu_by_tanh(tt x)
{
    tt cube = tt_mul(x, tt_mul(x, x));
    tt inner = tt_mul(number(sqrt(2 / M_PI)), tt_add(x, tt_mul(number(0.044715), cube)));
    return tt_mul(x, tt_mul(number(0.5), tt_add(number(1), tt_tanh(inner))));
}
FORMULA1(gelu, gelu_by_tanh(x))
FORMULA1(gelu_erf, tt_mul(x, tt_mul(number(0.5), tt_erfc(tt_mul(x, number(-M_SQRT1_2))))))

/* Where x is not above zero exp is asked of 0 instead, or its infinity would reach a derivative. */
FORMULA1_BY(elu, tt_where(tt_greater(x, number(0)), x,
                          tt_mul(number(c->x[0]),
                                 tt_expm1(tt_where(tt_greater(x, number(0)), number(0), x)))))
FORMULA1_BY(leaky_relu, tt_where(tt_greater_equal(x, number(0)), x, tt_mul(number(c->x[0]), x)))

FORMULA1(relu6, tt_clip(x, number(0), number(6)))
FORMULA1(hard_tanh, tt_clip(x, number(-1), number(1)))
FORMULA1(hard_sigmoid, tt_div(tt_relu6(tt_add(x, number(3))), number(6)))
FORMULA1(soft_sign, tt_div(x, tt_add(tt_abs(x), number(1))))
FORMULA1(mish, tt_mul(x, tt_tanh(tt_softplus(x))))
FORMULA1(selu, tt_mul(number(1.0507009873554805), tt_elu(x, 1.6732632423543772)))
FORMULA1_BY(celu, tt_mul(number(c->x[0]), tt_elu(tt_div(x, number(c->x[0])), 1)))

/* The first half along the last axis, each by the sigmoid of its partner in the second. */
static void glu_body(const tt *in, tt *out, const void *config)
{
    const Numbers *c = config;
    tt x;
    if (!as_floats(c->who, 1, in, &x))
        return;
    tt_dims shape = tt_shape(x);
    int64_t n = shape.n ? shape.v[shape.n - 1] : 1;
    if (n % 2) {
        report_broken("tt_glu: %s: its last axis has two halves", tt_describe(x));
        return;
    }
    *out = tt_mul(tt_slice(x, -1, 0, n / 2), tt_sigmoid(tt_slice(x, -1, n / 2, n)));
}

tt tt_glu(tt x)
{
    PUBLIC;
    return EAGER_BY("tt_glu", glu_body, NULL, x);
}

/* nan becomes 0, infinities the largest numbers there are. */
static void nan_to_num_body(const tt *in, tt *out, const void *config)
{
    const Numbers *c = config;
    Shape s;
    if (!shapes_of(c->who, 1, in, &s))
        return;
    if (element_info[s.element].kind != FLOAT) {
        *out = in[0];
        return;
    }
    Element e = element_canonical(s.element, s.is_weak);
    double most = e == F64 ? DBL_MAX : e == F16 ? 65504 : e == BF16 ? 0x1.fep127 : FLT_MAX;
    tt x = tt_where(tt_not_equal(in[0], in[0]), number(0), in[0]);
    *out = tt_clip(x, number(-most), number(most));
}

tt tt_nan_to_num(tt x)
{
    PUBLIC;
    return EAGER_BY("tt_nan_to_num", nan_to_num_body, NULL, x);
}

/* Equal, or both of them numbers that are no further apart than that. */
static void isclose_body(const tt *in, tt *out, const void *config)
{
    const Numbers *c = config;
    tt x[2];
    if (!as_floats(c->who, 2, in, x))
        return;
    tt far = tt_abs(tt_sub(x[0], x[1]));
    tt may = tt_add(number(c->x[1]), tt_mul(number(c->x[0]), tt_abs(x[1])));
    tt is = tt_and(tt_less_equal(far, may), tt_and(tt_isfinite(x[0]), tt_isfinite(x[1])));
    is = tt_or(is, tt_equal(x[0], x[1]));
    *out = c->v[0] ? tt_all(is, NULL) : is;
}

static tt compared(const char *who, bool is_all, tt a, tt b, double relative, double absolute)
{
    Numbers c = numbers_of(who, DIMS(is_all));
    c.x[0] = relative;
    c.x[1] = absolute;
    return EAGER(who, isclose_body, &c, a, b);
}

tt tt_isclose(tt a, tt b, double relative, double absolute)
{
    PUBLIC;
    return compared("tt_isclose", false, a, b, relative, absolute);
}

tt tt_allclose(tt a, tt b, double relative, double absolute)
{
    PUBLIC;
    return compared("tt_allclose", true, a, b, relative, absolute);
}

/* To so many digits behind the point. */
static void round_to_body(const tt *in, tt *out, const void *config)
{
    const Numbers *c = config;
    tt x;
    if (!as_floats(c->who, 1, in, &x))
        return;
    tt by = number(pow(10, (double)c->v[0]));
    *out = tt_div(tt_round(tt_mul(x, by)), by);
}

tt tt_round_to(tt x, int digits)
{
    PUBLIC;
    return EAGER_BY("tt_round_to", round_to_body, DIMS(digits), x);
}

static void isnan_body(const tt *in, tt *out, const void *config)
{
    (void)config;
    *out = tt_not_equal(in[0], in[0]);
}

static void isinf_body(const tt *in, tt *out, const void *config)
{
    (void)config;
    Type t = type_at(in[0]);
    bool is_float = element_info[t.element].kind == FLOAT;
    *out = is_float ? tt_equal(tt_abs(in[0]), number(INFINITY)) : build_zeros(type_with(t, I1));
}

tt tt_isnan(tt x)
{
    PUBLIC;
    return call_eager_one("tt_isnan", isnan_body, NULL, 0, 1, &x);
}

tt tt_isinf(tt x)
{
    PUBLIC;
    return call_eager_one("tt_isinf", isinf_body, NULL, 0, 1, &x);
}

/* ---- losses ---- */

/* The logarithm of the probability that each row gives its label, taken away from zero: what is
 * not the label is not looked at, so a class may be masked by -inf. */
static void cross_entropy_body(const tt *in, tt *out, const void *config)
{
    (void)config;
    Shape s[2];
    tt logits;
    if (!shapes_of("tt_cross_entropy", 2, in, s) || !as_floats("tt_cross_entropy", 1, in, &logits))
        return;
    ElementKind kind = element_info[s[1].element].kind;
    bool fits = s[0].rank == s[1].rank + 1 && (kind == SIGNED || kind == UNSIGNED);
    for (int i = 0; fits && i < s[1].rank; i++)
        fits = s[0].dims[i] == s[1].dims[i];
    if (!fits) {
        report_broken("tt_cross_entropy: logits %s, labels %s: labels are integers, one for each "
                      "row of logits",
                      shape_text(&s[0]), shape_text(&s[1]));
        return;
    }
    tt_dims rows = { s[1].rank + 1, { 0 } };
    memcpy(rows.v, s[1].dims, sizeof *rows.v * (size_t)s[1].rank);
    rows.v[s[1].rank] = 1;
    tt top = tt_stop_gradient(tt_amax(logits, DIMS(-1, TT_KEEP)));
    tt shifted = tt_sub(logits, top), at = tt_reshape(in[1], &rows);
    rows.n--;
    tt own = tt_reshape(tt_take_along(shifted, at, -1), &rows);
    *out = tt_sub(tt_log(tt_sum(tt_exp(shifted), DIMS(-1))), own);
}

tt tt_cross_entropy(tt logits, tt labels)
{
    PUBLIC;
    return call_eager_one("tt_cross_entropy", cross_entropy_body, NULL, 0, 2,
                          (const tt[]){ logits, labels });
}

/* clang-format off */
FORMULA2(soft_cross_entropy, tt_neg(tt_sum(tt_mul(y, tt_log_softmax(x, NULL)), DIMS(-1))))
FORMULA2(binary_cross_entropy, tt_sub(tt_neg(tt_mul(y, tt_log_sigmoid(x))),
                                    tt_mul(tt_sub(number(1), y), tt_log_sigmoid(tt_neg(x)))))
/* clang-format on */

/* ---- normalisation, dropout ---- */

static void normalize_body(const tt *in, tt *out, const void *config)
{
    const Numbers *c = config;
    tt x;
    if (!as_floats(c->who, 1, in, &x))
        return;
    tt_dims axes = { (int)c->n + 1, { 0 } };
    for (int i = 0; i < c->n; i++)
        axes.v[i] = c->v[i];
    axes.v[c->n] = TT_KEEP;
    tt centred = tt_sub(x, tt_mean(x, &axes));
    tt variance = tt_mean(tt_mul(centred, centred), &axes);
    *out = tt_mul(centred, tt_rsqrt(tt_add(variance, number(c->x[0]))));
}

tt tt_normalize(tt x, double eps, const tt_dims *axes)
{
    PUBLIC;
    Numbers c = numbers_of("tt_normalize", NULL);
    c.x[0] = eps;
    c.n = axes && axes->n ? axes->n : 1;
    c.v[0] = -1;
    for (int i = 0; axes && i < axes->n && i < TT_MAX_RANK; i++)
        c.v[i] = axes->v[i];
    if (c.n >= TT_MAX_RANK)
        return report_broken("tt_normalize: %lld axes; there are fewer", (long long)c.n);
    return EAGER(c.who, normalize_body, &c, x);
}

/* By the root of the mean of squares; the mean stays. */
static void rms_normalize_body(const tt *in, tt *out, const void *config)
{
    const Numbers *c = config;
    tt x;
    if (!as_floats(c->who, 1, in, &x))
        return;
    tt mean = tt_mean(tt_mul(x, x), DIMS(-1, TT_KEEP));
    *out = tt_mul(x, tt_rsqrt(tt_add(mean, number(c->x[0]))));
}

tt tt_rms_normalize(tt x, double eps)
{
    PUBLIC;
    Numbers c = numbers_of("tt_rms_normalize", NULL);
    c.x[0] = eps;
    return EAGER(c.who, rms_normalize_body, &c, x);
}

/* Half of the square near zero, and straight from delta on. */
static void huber_body(const tt *in, tt *out, const void *config)
{
    const Numbers *c = config;
    tt x[2];
    if (!as_floats(c->who, 2, in, x))
        return;
    tt far = tt_abs(tt_sub(x[0], x[1])), delta = number(c->x[0]), near = tt_min(far, delta);
    *out = tt_add(tt_mul(number(0.5), tt_square(near)), tt_mul(delta, tt_sub(far, near)));
}

tt tt_huber(tt x, tt y, double delta)
{
    PUBLIC;
    Numbers c = numbers_of("tt_huber", NULL);
    c.x[0] = delta;
    return EAGER(c.who, huber_body, &c, x, y);
}

static void dropout_body(const tt *in, tt *out, const void *config)
{
    const Numbers *c = config;
    tt x;
    if (!as_floats(c->who, 1, in + 1, &x))
        return;
    tt_dims shape = tt_shape(x);
    double keep = 1 - c->x[0];
    tt stays = tt_bernoulli(in[0], number(keep), TT_BOOL, &shape);
    *out = tt_where(stays, tt_div(x, number(keep)), number(0));
}

tt tt_dropout(tt key, tt x, double rate)
{
    PUBLIC;
    Numbers c = numbers_of("tt_dropout", NULL);
    c.x[0] = rate;
    if (!(rate >= 0 && rate < 1))
        return report_broken("tt_dropout: the rate is %g; it is from 0 to below 1", rate);
    return EAGER(c.who, dropout_body, &c, key, x);
}
