/* distributions.c - JAX's random distributions, bit for bit, made of tt_uniform, tt_bits and
 * tt_split as JAX makes them. */
#include "front/api/numpy.h"

#include "front/api/ordering.h"
#include "front/value/library.h"
#include "front/value/report.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* What is drawn, as Numbers: v is the shape. */
enum { TYPE = TT_MAX_RANK, LOW, HIGH, AXIS }; /* where in v */

static Numbers draws_of(const char *who, tt_dtype type, const tt_dims *shape)
{
    Numbers c = numbers_of(who, shape);
    c.v[TYPE] = type;
    return c;
}

static bool is_float(const char *who, tt_dtype type)
{
    if (!dtype_ok(who, type))
        return false;
    bool is = element_info[element_of(type)].kind == FLOAT;
    if (!is)
        report_broken("%s: the type must be a float", who);
    return is;
}

/* In [low, high). */
static tt uniform_in(tt key, tt_dtype type, const tt_dims *shape, tt low, tt high)
{
    tt u = tt_uniform(key, type, shape);
    return tt_max(low, tt_add(tt_mul(u, tt_sub(high, low)), low));
}

/* ---- floats ---- */

/* Smallest normal number; the distance from 1 to the next above. */
static double tiny_of(tt_dtype type)
{
    return type == TT_F64 ? DBL_MIN : type == TT_F16 ? 0x1p-14 : FLT_MIN;
}

static double eps_of(tt_dtype type)
{
    return type == TT_F64    ? DBL_EPSILON
           : type == TT_F16  ? 0x1p-10
           : type == TT_BF16 ? 0x1p-7
                             : FLT_EPSILON;
}

static tt one_of(tt_dtype type, double x)
{
    return tt_full(type, x, &(tt_dims){ 0 });
}

static tt between(tt key, tt_dtype type, const tt_dims *shape, double low, double high)
{
    return uniform_in(key, type, shape, one_of(type, low), one_of(type, high));
}

static tt gumbel(tt key, tt_dtype type, const tt_dims *shape)
{
    return tt_neg(tt_log(tt_neg(tt_log(between(key, type, shape, tiny_of(type), 1)))));
}

static tt exponential(tt key, tt_dtype type, const tt_dims *shape)
{
    return tt_neg(tt_log1p(tt_neg(tt_uniform(key, type, shape))));
}

static tt laplace(tt key, tt_dtype type, const tt_dims *shape)
{
    tt u = between(key, type, shape, -1 + eps_of(type) / 2, 1);
    return tt_mul(tt_sign(u), tt_log1p(tt_neg(tt_abs(u))));
}

static tt logistic(tt key, tt_dtype type, const tt_dims *shape)
{
    tt u = between(key, type, shape, tiny_of(type), 1);
    return tt_sub(tt_log(u), tt_log1p(tt_neg(u)));
}

static tt cauchy(tt key, tt_dtype type, const tt_dims *shape)
{
    tt u = between(key, type, shape, eps_of(type), 1);
    return tt_tan(tt_mul(tt_scalar(M_PI), tt_sub(u, tt_scalar(0.5))));
}

static tt maxwell(tt key, tt_dtype type, const tt_dims *shape)
{
    tt_dims three = *shape;
    three.v[three.n++] = 3;
    return tt_norm(tt_normal(key, type, &three), DIMS(-1));
}

static tt rademacher(tt key, tt_dtype type, const tt_dims *shape)
{
    tt is_up = tt_astype(tt_bernoulli(key, tt_scalar(0.5), TT_BOOL, shape), type);
    return tt_astype(tt_sub(tt_mul(tt_integer(2), is_up), tt_integer(1)), type);
}

/* A distribution that a type and a shape say all of. */
#define DRAW(name)                                                                                 \
    static void name##_body(const tt *in, tt *out, const void *config)                             \
    {                                                                                              \
        const Numbers *c = config;                                                                 \
        tt_dims shape = dims_of_numbers(c);                                                        \
        *out = name(in[0], (tt_dtype)c->v[TYPE], &shape);                                          \
    }                                                                                              \
    tt tt_##name(tt key, tt_dtype type, const tt_dims *shape)                                      \
    {                                                                                              \
        PUBLIC;                                                                                    \
        if (!is_float("tt_" #name, type) || !dims_ok("tt_" #name, shape))                          \
            return NO_VALUE;                                                                       \
        Numbers c = draws_of("tt_" #name, type, shape);                                            \
        return EAGER(c.who, name##_body, &c, key);                                                 \
    }
DRAW(gumbel)
DRAW(exponential)
DRAW(laplace)
DRAW(logistic)
DRAW(cauchy)
DRAW(maxwell)
DRAW(rademacher)

/* The number next to x towards another, as the type has it. */
static double next_to(tt_dtype type, double x, double towards)
{
    return type == TT_F64 ? nextafter(x, towards) : (double)nextafterf((float)x, (float)towards);
}

/* erf(x / sqrt 2).  In f32 by the quotient that XLA has for it: if a bound moves by an ulp, so do most draws. */
static double erf_of_bound(tt_dtype type, double x)
{
    static const float p[] = { 1.128379143519084f, 0.18520832239976145f, 0.050955695062380861f,
                               0.0034082910107109506f, 0.00022905065861350646f };
    static const float q[] = { 1,
                               0.49746925110067538f,
                               0.11098505178285362f,
                               0.014070470171167667f,
                               0.0010179625278914885f,
                               0.000023547966471313185f,
                               -1.1791602954361697e-7f };
    if (type == TT_F64)
        return erf(x / M_SQRT2);
    float z = (float)x * (1 / (float)M_SQRT2), square = z * z, above = p[4], below = q[6];
    for (int i = 3; i >= 0; i--)
        above = fmaf(square, above, p[i]);
    for (int i = 5; i >= 0; i--)
        below = fmaf(square, below, q[i]);
    return fabsf(z) >= 3.7439211627767994f ? copysign(1, z) : (double)(z * above / below);
}

static void truncated_body(const tt *in, tt *out, const void *config)
{
    const Numbers *c = config;
    tt_dtype type = (tt_dtype)c->v[TYPE];
    tt_dims shape = dims_of_numbers(c), one = { 0, { 0 } };
    tt root = tt_full(type, M_SQRT2, &one);
    tt low = tt_full(type, erf_of_bound(type, c->x[0]), &one);
    tt high = tt_full(type, erf_of_bound(type, c->x[1]), &one);
    tt y = tt_mul(root, tt_erf_inv(uniform_in(in[0], type, &shape, low, high)));
    *out = tt_clip(y, tt_full(type, next_to(type, c->x[0], INFINITY), &one),
                   tt_full(type, next_to(type, c->x[1], -INFINITY), &one));
}

tt tt_truncated_normal(tt key, double low, double high, tt_dtype type, const tt_dims *shape)
{
    PUBLIC;
    if (!is_float("tt_truncated_normal", type) || !dims_ok("tt_truncated_normal", shape))
        return NO_VALUE;
    if (type != TT_F32 && type != TT_F64)
        return report_broken("tt_truncated_normal: the type must be TT_F32 or TT_F64");
    Numbers c = draws_of("tt_truncated_normal", type, shape);
    c.x[0] = low;
    c.x[1] = high;
    return EAGER(c.who, truncated_body, &c, key);
}

/* ---- booleans and integers ---- */

static void bernoulli_body(const tt *in, tt *out, const void *config)
{
    const Numbers *c = config;
    Shape p;
    tt_dims shape = dims_of_numbers(c);
    if (!shapes_of(c->who, 2, (const tt[]){ in[1], in[0] }, (Shape[2]){ 0 }) ||
        !value_shape(in[1], c->who, &p))
        return;
    Promoted met = promote_inexact(1, &p);
    tt_dtype type = TT_F32;
    dtype_of(element_canonical(met.element, met.is_weak), &type);
    *out = tt_astype(tt_less(tt_uniform(in[0], type, &shape), in[1]), (tt_dtype)c->v[TYPE]);
}

tt tt_bernoulli(tt key, tt p, tt_dtype type, const tt_dims *shape)
{
    PUBLIC;
    if (!dtype_ok("tt_bernoulli", type) || !dims_ok("tt_bernoulli", shape))
        return NO_VALUE;
    Numbers c = draws_of("tt_bernoulli", type, shape);
    return EAGER(c.who, bernoulli_body, &c, key, p);
}

/* Twice as many bits as the type has, modulo the span, so that all are nearly as likely. */
static tt integers(tt key, int64_t low, int64_t high, tt_dtype type, const tt_dims *shape)
{
    Element e = element_of(type);
    int bits = element_info[e].bits > 32 ? 64 : 32;
    tt_dtype word = bits == 32 ? TT_U32 : TT_U64;
    uint64_t mask = bits == 64 ? UINT64_MAX : (1ull << bits) - 1;
    uint64_t span = ((uint64_t)high - (uint64_t)low) & mask;
    uint64_t times = (1ull << bits / 2) % span;
    times = ((times * times) & mask) % span;
    tt keys = tt_split(key, 2), part[2];
    Type t = type_new(trace_arena(), element_of(word), shape->n, shape->v);
    tt by = build_convert(build_number(type_scalar(U64), (double)span), t.element);
    by = build_broadcast(by, t, (Ints){ 0 });
    for (int i = 0; i < 2; i++)
        part[i] = build2(OP_REM, tt_bits(tt_index(keys, DIMS(i)), word, shape), by);
    tt far = build2(OP_MUL, part[0], build_number(t, (double)times));
    tt offset = build2(OP_REM, build2(OP_ADD, far, part[1]), by);
    Type as = type_with(t, e);
    return build2(OP_ADD, build_number(as, (double)low), build_convert(offset, e));
}

static void randint_body(const tt *in, tt *out, const void *config)
{
    const Numbers *c = config;
    tt_dims shape = dims_of_numbers(c);
    *out = integers(in[0], c->v[LOW], c->v[HIGH], (tt_dtype)c->v[TYPE], &shape);
}

tt tt_randint(tt key, int64_t low, int64_t high, tt_dtype type, const tt_dims *shape)
{
    PUBLIC;
    if (!dtype_ok("tt_randint", type) || !dims_ok("tt_randint", shape))
        return NO_VALUE;
    ElementKind kind = element_info[element_of(type)].kind;
    int64_t most = (int64_t)1 << 53;
    if ((kind != SIGNED && kind != UNSIGNED) || low >= high || low < -most || high > most)
        return report_broken("tt_randint: from %lld to below %lld: integers of a range that is "
                             "not empty, within 2^53; all bits are tt_bits'",
                             (long long)low, (long long)high);
    Numbers c = draws_of("tt_randint", type, shape);
    c.v[LOW] = low;
    c.v[HIGH] = high;
    return EAGER(c.who, randint_body, &c, key);
}

static void categorical_body(const tt *in, tt *out, const void *config)
{
    const Numbers *c = config;
    Shape s;
    tt_dtype type;
    if (!shapes_of(c->who, 1, &in[1], &s))
        return;
    if (element_info[s.element].kind != FLOAT || !dtype_of(s.element, &type)) {
        report_broken("tt_categorical: the logits are %s; they must be floats", shape_text(&s));
        return;
    }
    tt_dims shape = { s.rank, { 0 } };
    memcpy(shape.v, s.dims, sizeof *shape.v * (size_t)s.rank);
    *out = tt_argmax(tt_add(gumbel(in[0], type, &shape), in[1]), (int)c->v[AXIS]);
}

tt tt_categorical(tt key, tt logits, int axis)
{
    PUBLIC;
    Numbers c = draws_of("tt_categorical", TT_I32, NULL);
    c.v[AXIS] = axis;
    return EAGER(c.who, categorical_body, &c, key, logits);
}

/* ---- orders ---- */

/* 0 to n-1, sorted by random bits, as often as equal ones make it needed. */
static tt shuffled(tt key, int64_t n)
{
    int rounds = (int)ceil(3 * log((double)(n > 1 ? n : 1)) / log((double)UINT32_MAX));
    tt order = tt_arange(TT_I32, n);
    tt_dims all = { 1, { n } };
    for (int i = 0; i < rounds; i++) {
        tt keys = tt_split(key, 2);
        key = tt_index(keys, DIMS(0));
        order = sort_by(tt_bits(tt_index(keys, DIMS(1)), TT_U32, &all), order);
    }
    return order;
}

static void permutation_body(const tt *in, tt *out, const void *config)
{
    const Numbers *c = config;
    Shape s;
    int axis;
    if (!shapes_of(c->who, 1, &in[1], &s) ||
        !normalize_axis(c->who, shape_type(&s), c->v[AXIS], &axis))
        return;
    *out = s.dims[axis] ? tt_take(in[1], shuffled(in[0], s.dims[axis]), axis) : in[1];
}

tt tt_permutation(tt key, tt x, int axis)
{
    PUBLIC;
    Numbers c = draws_of("tt_permutation", TT_I32, NULL);
    c.v[AXIS] = axis;
    return EAGER(c.who, permutation_body, &c, key, x);
}

/* Which of n are chosen: c->v[LOW] says whether again and again, in[2] may weigh them. */
static tt chosen(const Numbers *c, const tt *in, int64_t n, bool has_weights)
{
    tt_dims shape = dims_of_numbers(c);
    int64_t count = 1;
    for (int i = 0; i < shape.n; i++)
        count *= shape.v[i];
    tt at;
    if (!has_weights && c->v[LOW])
        return integers(in[0], 0, n, TT_I32, &shape);
    if (!has_weights)
        at = tt_slice(shuffled(in[0], n), 0, 0, count);
    else if (c->v[LOW]) {
        tt up_to = tt_cumsum(in[2], 0), all = tt_index(up_to, DIMS(-1));
        tt u = tt_sub(tt_integer(1), tt_uniform(in[0], tt_type(in[2]), &shape));
        return tt_searchsorted(up_to, tt_mul(all, u), false);
    } else {
        tt g = tt_add(gumbel(in[0], tt_type(in[2]), DIMS(n)), tt_log(in[2]));
        at = tt_top_k(g, count).indices;
    }
    return tt_reshape(at, &shape);
}

static void choice_body(const tt *in, tt *out, const void *config)
{
    const Numbers *c = config;
    Shape s, p;
    bool has_weights = c->v[HIGH];
    if (!shapes_of(c->who, 1, &in[1], &s) || (has_weights && !shapes_of(c->who, 1, &in[2], &p)))
        return;
    int64_t n = s.rank ? s.dims[0] : 0, count = 1;
    for (int i = 0; i < c->n; i++)
        count *= c->v[i];
    if (!n || (!c->v[LOW] && count > n)) {
        report_broken("tt_choice: %lld of %s: there must be rows, and as many as are chosen once",
                      (long long)count, shape_text(&s));
        return;
    }
    if (has_weights && (p.rank != 1 || p.dims[0] != n || element_info[p.element].kind != FLOAT)) {
        report_broken("tt_choice: .p is %s; it has a float for each of the %lld rows",
                      shape_text(&p), (long long)n);
        return;
    }
    *out = tt_take(in[1], chosen(c, in, n, has_weights), 0);
}

tt tt_choice_with(tt key, tt x, const tt_dims *shape, const tt_choice_options *given)
{
    PUBLIC;
    OPTIONS(tt_choice_options, "tt_choice", given, return NO_VALUE);
    if (!dims_ok("tt_choice", shape))
        return NO_VALUE;
    Numbers c = draws_of("tt_choice", TT_I32, shape);
    c.v[LOW] = !options.once;
    c.v[HIGH] = is_value(options.p);
    if (!c.v[HIGH])
        return EAGER(c.who, choice_body, &c, key, x);
    return EAGER(c.who, choice_body, &c, key, x, options.p);
}

void tt_keys_n(tt *keys, int n, tt key)
{
    PUBLIC;
    tt all = tt_split(key, n);
    for (int i = 0; i < n; i++)
        keys[i] = tt_index(all, DIMS(i));
}
