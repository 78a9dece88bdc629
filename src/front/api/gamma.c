/* gamma.c - random distributions with parameters: JAX's numbers for the same keys.
 *
 *     gamma        by rejection (Marsaglia and Tsang, 2000): every element has a key of its own, and
 *                  all go on drawing until the last has been accepted
 *     poisson      by products of uniform numbers below 10 (Knuth), by rejection above (Hoermann, 1993)
 *     binomial     by counting tries between hits up to a mean of 10, by rejection above (Hoermann, 1993)
 *     the others   formulas of these
 *
 * What is accepted jumps as the parameters vary, so there is no derivative along the loops.  That of gamma is
 * implicit, as JAX has it: the draw x moves with a such that the part P(a, x) of all draws below it stays
 * (incomplete.c), and what is made of gamma follows by the chain rule. */
#include "front/api/formula.h"

#include "front/api/random.h"
#include "front/transform/transform.h"
#include "front/value/report.h"

#include <float.h>
#include <math.h>
#include <string.h>

static tt like(tt x, double value)
{
    return build_number(type_at(x), value);
}

/* ---- loops that a value ends ---- */

enum { MOST_STATE = 6 };

typedef tt GoesOn(const tt *state, const void *user); /* one boolean */
typedef void Turn(const tt *state, tt *next, const void *user);

static bool record_step(int n, const Type *types, GoesOn *goes_on, Turn *turn, const void *user,
                        Graph *out)
{
    tt in[MOST_STATE], y[MOST_STATE];
    Trace frame = { .loc = tracing->loc };
    frame_push(&frame);
    record_begin(n, types, NULL, in);
    if (turn)
        turn(in, y, user);
    else
        y[0] = goes_on(in, user);
    bool ok = record_end("a loop", turn ? n : 1, y, out);
    frame_pop(&frame);
    return ok;
}

/* while (goes_on(state)) state = turn(state); */
static bool loop_while(int n, tt *state, GoesOn *goes_on, Turn *turn, const void *user)
{
    Type types[MOST_STATE];
    Graph regions[2];
    tt y[MOST_STATE];
    for (int i = 0; i < n; i++)
        types[i] = type_at(state[i]);
    if (!record_step(n, types, goes_on, NULL, user, &regions[0]) ||
        !record_step(n, types, NULL, turn, user, &regions[1]) ||
        !trace_apply_regions("a loop", OP_WHILE, n, state, NULL, 2, regions, n, types, y))
        return false;
    memcpy(state, y, sizeof *y * (size_t)n);
    return true;
}

static tt any(tt x)
{
    return build_reduce(OP_OR, x, ints_range(0, type_at(x).rank));
}

/* ---- gamma ---- */

typedef struct Gamma {
    tt d, c; /* of the parameter */
    Element e;
} Gamma;

enum { KEY_A, KEY_B, X, V, U }; /* of the state; the inner loop's x and v are no squares yet */

static tt is_low(const tt *s)
{
    return tt_less_equal(s[V], number(0));
}

static tt inner_goes_on(const tt *s, const void *user)
{
    (void)user;
    return any(is_low(s));
}

static void inner_turn(const tt *s, tt *next, const void *user)
{
    const Gamma *g = user;
    Pair keys = { s[KEY_A], s[KEY_B] };
    tt goes = is_low(s), x = normal_each(split_each(keys, 1), g->e);
    Pair kept = choose_each(goes, split_each(keys, 0), keys);
    next[KEY_A] = kept.a;
    next[KEY_B] = kept.b;
    next[X] = tt_where(goes, x, s[X]);
    next[V] = tt_where(goes, tt_add(number(1), tt_mul(x, g->c)), s[V]);
}

/* Was it refused? */
static tt is_refused(const tt *s, const Gamma *g)
{
    tt squeeze = tt_sub(number(1), tt_mul(number(0.0331), tt_mul(s[X], s[X])));
    tt far = tt_add(tt_sub(number(1), s[V]), tt_log(s[V]));
    tt bound = tt_add(tt_mul(s[X], number(0.5)), tt_mul(g->d, far));
    return tt_and(tt_greater_equal(s[U], squeeze), tt_greater_equal(tt_log(s[U]), bound));
}

static tt outer_goes_on(const tt *s, const void *user)
{
    return any(is_refused(s, user));
}

static void outer_turn(const tt *s, tt *next, const void *user)
{
    const Gamma *g = user;
    Pair keys = { s[KEY_A], s[KEY_B] }, x_keys = split_each(keys, 1);
    tt goes = is_refused(s, g);
    tt inner[] = { x_keys.a, x_keys.b, like(s[X], 0), like(s[X], -1) };
    if (!loop_while(4, inner, inner_goes_on, inner_turn, g))
        return;
    Pair kept = choose_each(goes, split_each(keys, 0), keys);
    tt v = inner[V];
    next[KEY_A] = kept.a;
    next[KEY_B] = kept.b;
    next[X] = tt_where(goes, tt_mul(inner[X], inner[X]), s[X]);
    next[V] = tt_where(goes, tt_mul(tt_mul(v, v), v), s[V]);
    next[U] = tt_where(goes, uniform_each(split_each(keys, 2), g->e), s[U]);
}

/* A number for each element of a, or its logarithm.  Below 1 the next larger parameter is drawn, and
 * made smaller by a power of a uniform number. */
static tt draw_gamma(tt key, tt a, bool is_log)
{
    Type t = type_at(a);
    int64_t n = type_count(t);
    a = build_stop_gradient(build_reshape(a, type_new(trace_arena(), t.element, 1, &n)));
    tt is_large = tt_greater_equal(a, number(1));
    tt boosted = tt_where(is_large, a, tt_add(a, number(1)));
    Gamma g = { .e = t.element };
    g.d = tt_sub(boosted, number(1.0 / 3));
    g.c = tt_div(number(1.0 / 3), tt_sqrt(g.d));
    Pair keys = split_key(key, n), loop = split_each(keys, 0), last = split_each(keys, 1);
    tt s[] = { loop.a, loop.b, like(a, 0), like(a, 1), like(a, 2) };
    if (!loop_while(5, s, outer_goes_on, outer_turn, &g))
        return NO_VALUE;
    tt u = uniform_each(last, t.element), y;
    if (is_log) {
        tt drawn = tt_log1p(tt_neg(u)); /* minus an exponential number */
        tt boost = tt_mul(drawn, tt_div(number(1), a));
        boost = tt_where(tt_or(is_large, tt_equal(drawn, number(0))), number(0), boost);
        y = tt_add(tt_add(tt_log(g.d), tt_log(s[V])), boost);
    } else {
        tt boost = tt_pow(tt_sub(number(1), u), tt_div(number(1), a));
        y = tt_mul(tt_mul(g.d, s[V]), tt_where(is_large, number(1), boost));
    }
    return build_reshape(y, t);
}

static const char as_log[] = "loggamma", as_is[] = "gamma"; /* the closures' user: which it is */

static int gamma_value(void *user, const tt_tree *args, int nargs, tt *results, int room)
{
    (void)nargs, (void)room;
    results[0] = draw_gamma(args[0].leaf[0], args[1].leaf[0], user == as_log);
    return 1;
}

static tt gamma_of(tt key, tt a, bool is_log);

/* Of key, a and their tangents.  A draw too small for its type is taken for the smallest. */
static int gamma_rule(void *user, const tt_tree *args, int nargs, tt *results, int room)
{
    (void)nargs, (void)room;
    tt a = args[1].leaf[0], y = gamma_of(args[0].leaf[0], a, user == as_log);
    double tiny = tt_type(a) == TT_F64 ? DBL_MIN : FLT_MIN;
    tt x = user == as_log ? tt_exp(y) : y;
    tt slope = gamma_log_slope(a, tt_max(x, like(x, tiny)));
    results[0] = y;
    results[1] = tt_mul(args[3].leaf[0], user == as_log ? slope : tt_mul(slope, x));
    return 2;
}

static tt gamma_of(tt key, tt a, bool is_log)
{
    const char *which = is_log ? as_log : as_is;
    const tt_tree args[] = { { &key, 1 }, { &a, 1 } };
    tt_fn f =
        tt_custom_jvp(function(which, gamma_value, which), function(which, gamma_rule, which));
    return tt_call_n(f, args, 2, 1)[0];
}

/* ---- Poisson ---- */

typedef struct Poisson {
    tt rate, log_rate, a, b, inverse, bound;
    tt_dims shape;
} Poisson;

static tt key_at(tt keys, int i)
{
    return tt_index(keys, DIMS(i));
}

enum { KEY, COUNT, LOG, ACCEPTED = LOG };

static tt small_goes_on(const tt *s, const void *user)
{
    return any(tt_greater(s[LOG], tt_neg(((const Poisson *)user)->rate)));
}

static void small_turn(const tt *s, tt *next, const void *user)
{
    const Poisson *p = user;
    tt keys = tt_split(s[KEY], 2);
    tt goes = tt_greater(s[LOG], tt_neg(p->rate));
    next[KEY] = key_at(keys, 0);
    next[COUNT] = tt_where(goes, tt_add(s[COUNT], tt_integer(1)), s[COUNT]);
    next[LOG] = tt_add(s[LOG], tt_log(tt_uniform(key_at(keys, 1), TT_F32, &p->shape)));
}

static tt large_goes_on(const tt *s, const void *user)
{
    (void)user;
    return any(tt_not(s[ACCEPTED]));
}

static void large_turn(const tt *s, tt *next, const void *user)
{
    const Poisson *p = user;
    tt keys = tt_split(s[KEY], 3);
    tt u = tt_sub(tt_uniform(key_at(keys, 1), TT_F32, &p->shape), number(0.5));
    tt v = tt_uniform(key_at(keys, 2), TT_F32, &p->shape);
    tt edge = tt_sub(number(0.5), tt_abs(u));
    tt slope = tt_add(tt_div(tt_mul(number(2), p->a), edge), p->b);
    tt k = tt_floor(tt_add(tt_add(tt_mul(slope, u), p->rate), number(0.43)));
    tt left = tt_log(tt_div(tt_mul(v, p->inverse), tt_add(tt_div(p->a, tt_mul(edge, edge)), p->b)));
    tt right =
        tt_sub(tt_add(tt_neg(p->rate), tt_mul(k, p->log_rate)), tt_lgamma(tt_add(k, number(1))));
    tt at_once = tt_and(tt_greater_equal(edge, number(0.07)), tt_less_equal(v, p->bound));
    tt never =
        tt_or(tt_less(k, number(0)), tt_and(tt_less(edge, number(0.013)), tt_greater(v, edge)));
    tt accept = tt_or(at_once, tt_and(tt_not(never), tt_less_equal(left, right)));
    next[KEY] = key_at(keys, 0);
    next[COUNT] = tt_where(accept, k, s[COUNT]);
    next[ACCEPTED] = tt_or(s[ACCEPTED], accept);
}

static tt poisson_of(tt key, tt rate)
{
    Poisson p = { .shape = tt_shape(rate) };
    tt is_small = tt_or(tt_less(rate, number(10)), tt_not_equal(rate, rate));
    p.rate = tt_where(is_small, rate, number(0));
    tt small[] = { key, build_zeros(type_with(type_at(rate), I32)), like(rate, 0) };
    if (!loop_while(3, small, small_goes_on, small_turn, &p))
        return NO_VALUE;
    p.rate = tt_where(is_small, number(1e5), rate);
    p.log_rate = tt_log(p.rate);
    p.b = tt_add(number(0.931), tt_mul(number(2.53), tt_sqrt(p.rate)));
    p.a = tt_add(number(-0.059), tt_mul(number(0.02483), p.b));
    p.inverse = tt_add(number(1.1239), tt_div(number(1.1328), tt_sub(p.b, number(3.4))));
    p.bound = tt_sub(number(0.9277), tt_div(number(3.6224), tt_sub(p.b, number(2))));
    tt large[] = { key, like(rate, -1), build_zeros(type_with(type_at(rate), I1)) };
    if (!loop_while(3, large, large_goes_on, large_turn, &p))
        return NO_VALUE;
    tt k = tt_where(is_small, tt_sub(small[COUNT], tt_integer(1)), tt_astype(large[COUNT], TT_I32));
    return tt_where(tt_equal(rate, number(0)), tt_integer(0), k);
}

/* ---- the interface ---- */

enum { TYPE = TT_MAX_RANK }; /* where in Numbers.v; before it the shape */

/* The parameters as floats of the type that is drawn, in the shape that is.  False: reported. */
static bool parameters(const Numbers *c, int n, const tt *in, tt *x)
{
    tt_dims dims = dims_of_numbers(c);
    Shape s[3] = { { .rank = dims.n } }, common;
    memcpy(s[0].dims, dims.v, sizeof *dims.v * (size_t)dims.n);
    if (!as_floats(c->who, n, in, x) || !shapes_of(c->who, n, x, s + 1) ||
        !broadcast_shapes(c->who, n + 1, s, &common))
        return false;
    bool fits = common.rank == dims.n;
    for (int i = 0; fits && i < dims.n; i++)
        fits = common.dims[i] == dims.v[i];
    if (!fits)
        return report_broken("%s: a parameter is %s, which is more than the shape that is drawn",
                             c->who, shape_text(&s[1])),
               false;
    for (int i = 0; i < n; i++)
        x[i] = as_shape(as_element(x[i], element_of((tt_dtype)c->v[TYPE])), &common);
    return true;
}

static tt drawn(const Numbers *c, tt (*draw)(tt, tt_dtype, const tt_dims *), tt key)
{
    tt_dims shape = dims_of_numbers(c);
    return draw(key, (tt_dtype)c->v[TYPE], &shape);
}

static tt lognormal(const Numbers *c, tt key, tt x, tt y)
{
    (void)y;
    return tt_exp(tt_mul(drawn(c, tt_normal, key), x));
}

static tt pareto(const Numbers *c, tt key, tt x, tt y)
{
    (void)y;
    return tt_exp(tt_div(drawn(c, tt_exponential, key), x));
}

static tt rayleigh(const Numbers *c, tt key, tt x, tt y)
{
    (void)y;
    return tt_mul(x, tt_sqrt(tt_mul(tt_log(drawn(c, tt_uniform, key)), number(-2))));
}

static tt weibull(const Numbers *c, tt key, tt x, tt y)
{
    tt e = tt_neg(tt_log1p(tt_neg(drawn(c, tt_uniform, key))));
    return tt_mul(tt_pow(e, tt_div(number(1), y)), x);
}

static tt gamma_(const Numbers *c, tt key, tt x, tt y)
{
    (void)c, (void)y;
    return gamma_of(key, x, false);
}

static tt loggamma(const Numbers *c, tt key, tt x, tt y)
{
    (void)c, (void)y;
    return gamma_of(key, x, true);
}

static tt chisquare(const Numbers *c, tt key, tt x, tt y)
{
    (void)c, (void)y;
    return tt_mul(tt_exp(gamma_of(key, tt_div(x, number(2)), true)), number(2));
}

static tt fisher_f(const Numbers *c, tt key, tt x, tt y)
{
    tt keys = tt_split(key, 2); /* (above / x) / (below / y), as XLA writes it */
    tt above = chisquare(c, key_at(keys, 1), x, x), below = chisquare(c, key_at(keys, 0), y, y);
    return tt_div(tt_mul(above, y), tt_mul(below, x));
}

static tt student_t(const Numbers *c, tt key, tt x, tt y)
{
    (void)y;
    tt keys = tt_split(key, 2), half = tt_div(x, number(2));
    tt g = gamma_of(key_at(keys, 1), half, false);
    return tt_mul(drawn(c, tt_normal, key_at(keys, 0)), tt_sqrt(tt_div(half, g)));
}

static tt beta(const Numbers *c, tt key, tt x, tt y)
{
    (void)c;
    tt keys = tt_split(key, 2);
    tt a = gamma_of(key_at(keys, 0), x, true), b = gamma_of(key_at(keys, 1), y, true);
    tt top = tt_max(a, b), far = tt_exp(tt_sub(a, top));
    return tt_div(far, tt_add(far, tt_exp(tt_sub(b, top))));
}

static tt generalized_normal(const Numbers *c, tt key, tt x, tt y)
{
    (void)y;
    tt keys = tt_split(key, 2), power = tt_div(number(1), x);
    tt size = tt_pow(gamma_of(key_at(keys, 0), power, false), power);
    return tt_mul(drawn(c, tt_rademacher, key_at(keys, 1)), size);
}

/* ---- binomial ---- */

typedef struct Binomial {
    tt n, p; /* p: at most a half */
    tt log_miss;
    tt a, b, middle, bound, alpha, odds, mode_left, at_mode; /* of the rejection */
    tt_dtype type;
    tt_dims shape;
} Binomial;

enum { HITS = 1, TRIES };

static tt tries_go_on(const tt *s, const void *user)
{
    return any(tt_less_equal(s[TRIES], ((const Binomial *)user)->n));
}

/* To the next hit it takes a geometric number of tries; a hit after the last try is counted too. */
static void tries_turn(const tt *s, tt *next, const void *user)
{
    const Binomial *b = user;
    tt keys = tt_split(s[KEY], 2), u = tt_uniform(key_at(keys, 0), b->type, &b->shape);
    tt goes = tt_less_equal(s[TRIES], b->n);
    next[KEY] = key_at(keys, 1);
    next[HITS] = tt_where(goes, tt_add(s[HITS], number(1)), s[HITS]);
    next[TRIES] = tt_add(s[TRIES], tt_ceil(tt_div(tt_log(u), b->log_miss)));
}

/* log k! less Stirling's formula for it; JAX takes that of 9 for all above. */
static tt stirling_rest(tt k)
{
    tt y = NO_VALUE;
    for (int i = 9; i >= 0; i--) {
        double rest = lgamma(i + 1) - (i + 0.5) * log(i + 1) + (i + 1) - 0.5 * log(2 * M_PI);
        y = is_value(y) ? tt_where(tt_less(k, number(i + 1)), like(k, rest), y) : like(k, rest);
    }
    return y;
}

static tt both_rests(const Binomial *b, tt k)
{
    return tt_add(stirling_rest(k), stirling_rest(tt_sub(b->n, k)));
}

/* The logarithm of how much less likely k is than the likeliest number. */
static tt log_ratio(const Binomial *b, tt k)
{
    tt next = tt_add(k, number(1)), left = tt_add(tt_sub(b->n, k), number(1));
    tt far = tt_mul(tt_add(b->n, number(1)), tt_log(tt_div(b->mode_left, left)));
    tt near = tt_mul(tt_add(k, number(0.5)), tt_log(tt_div(tt_mul(b->odds, left), next)));
    return tt_sub(tt_add(tt_add(b->at_mode, far), near), both_rests(b, k));
}

static void binomial_turn(const tt *s, tt *next, const void *user)
{
    const Binomial *b = user;
    tt keys = tt_split(s[KEY], 3);
    tt u = tt_sub(tt_uniform(key_at(keys, 1), b->type, &b->shape), number(0.5));
    tt v = tt_uniform(key_at(keys, 2), b->type, &b->shape);
    tt edge = tt_sub(number(0.5), tt_abs(u));
    tt slope = tt_add(tt_div(tt_mul(number(2), b->a), edge), b->b);
    tt k = tt_floor(tt_add(tt_mul(slope, u), b->middle));
    tt left = tt_log(tt_div(tt_mul(v, b->alpha), tt_add(tt_div(b->a, tt_mul(edge, edge)), b->b)));
    tt is_count = tt_and(tt_greater_equal(k, number(0)), tt_less_equal(k, b->n));
    tt at_once = tt_and(tt_greater_equal(edge, number(0.07)), tt_less_equal(v, b->bound));
    tt below = tt_less_equal(left, log_ratio(b, k));
    tt accept = tt_or(at_once, tt_and(is_count, below));
    next[KEY] = key_at(keys, 0);
    next[COUNT] = tt_where(accept, k, s[COUNT]);
    next[ACCEPTED] = tt_or(s[ACCEPTED], accept);
}

/* How many of n tries hit, by counting. */
static tt few_hits(Binomial b, tt key)
{
    b.log_miss = tt_log1p(tt_neg(b.p));
    tt s[] = { key, like(b.n, 0), like(b.n, 0) };
    return loop_while(3, s, tries_go_on, tries_turn, &b) ? tt_sub(s[HITS], number(1)) : NO_VALUE;
}

/* The same by rejection: n p is above 10. */
static tt many_hits(Binomial b, tt key)
{
    tt miss = tt_sub(number(1), b.p), mean = tt_mul(b.n, b.p), sigma = tt_sqrt(tt_mul(mean, miss));
    b.b = tt_add(number(1.15), tt_mul(number(2.53), sigma));
    b.a = tt_add(tt_add(number(-0.0873), tt_mul(number(0.0248), b.b)), tt_mul(number(0.01), b.p));
    b.middle = tt_add(mean, number(0.5));
    b.bound = tt_sub(number(0.92), tt_div(number(4.2), b.b));
    b.alpha = tt_mul(tt_add(number(2.83), tt_div(number(5.1), b.b)), sigma);
    b.odds = tt_div(b.p, miss);
    tt mode = tt_floor(tt_mul(tt_add(b.n, number(1)), b.p)), next = tt_add(mode, number(1));
    b.mode_left = tt_add(tt_sub(b.n, mode), number(1));
    b.at_mode =
        tt_mul(tt_add(mode, number(0.5)), tt_log(tt_div(next, tt_mul(b.odds, b.mode_left))));
    b.at_mode = tt_add(b.at_mode, both_rests(&b, mode));
    tt s[] = { key, like(b.n, -1), build_zeros(type_with(type_at(b.n), I1)) };
    return loop_while(3, s, large_goes_on, binomial_turn, &b) ? s[COUNT] : NO_VALUE;
}

/* Of more likely hits the misses are drawn.  Where n or p is none, both loops have harmless numbers. */
static tt binomial(const Numbers *c, tt key, tt n, tt p)
{
    tt is_rare = tt_less(p, number(0.5)), rare = tt_where(is_rare, p, tt_sub(number(1), p));
    tt is_endless = tt_equal(n, number(INFINITY));
    tt is_valid = tt_and(tt_greater_equal(n, number(0)), tt_greater_equal(rare, number(0)));
    tt is_usual = tt_and(is_valid, tt_not(is_endless)), tries = tt_floor(n);
    tt is_many = tt_and(is_usual, tt_greater(tt_mul(n, rare), number(10)));
    tt is_few = tt_and(is_usual, tt_not(is_many));
    Binomial b = { .type = (tt_dtype)c->v[TYPE], .shape = dims_of_numbers(c) };
    b.n = tt_where(is_few, tries, like(n, 0));
    b.p = tt_where(is_few, rare, like(n, 0.01));
    tt few = few_hits(b, key);
    b.n = tt_where(is_many, tries, like(n, 1e4));
    b.p = tt_where(is_many, rare, like(n, 0.5));
    tt many = many_hits(b, key);
    if (!is_value(few) || !is_value(many))
        return NO_VALUE;
    tt k = tt_where(is_many, many, few);
    k = tt_where(is_rare, k, tt_sub(tries, k));
    k = tt_where(is_endless, like(n, INFINITY), k);
    return tt_where(is_valid, k, like(n, NAN));
}

/* ---- one function for each ---- */

/* c: what is drawn, of x and y in that shape. */
#define DRAW_BODY(name, n)                                                                         \
    static void name##_body(const tt *in, tt *out, const void *config)                             \
    {                                                                                              \
        tt x[2];                                                                                   \
        if (parameters(config, n, in + 1, x))                                                      \
            *out = name(config, in[0], x[0], x[(n) - 1]);                                          \
    }
static bool may_draw(const char *who, tt_dtype type, const tt_dims *shape)
{
    if (!dtype_ok(who, type) || !dims_ok(who, shape))
        return false;
    if (type != TT_F32 && type != TT_F64)
        report_broken("%s: the type must be TT_F32 or TT_F64", who);
    return type == TT_F32 || type == TT_F64;
}

static Numbers draws_of(const char *who, tt_dtype type, const tt_dims *shape)
{
    Numbers c = numbers_of(who, shape);
    c.v[TYPE] = type;
    return c;
}

#define DRAW1(public, name)                                                                        \
    DRAW_BODY(name, 1)                                                                             \
    tt tt_##public(tt key, tt x, tt_dtype type, const tt_dims *shape)                              \
    {                                                                                              \
        PUBLIC;                                                                                    \
        if (!may_draw("tt_" #public, type, shape))                                                 \
            return NO_VALUE;                                                                       \
        Numbers c = draws_of("tt_" #public, type, shape);                                          \
        return EAGER(c.who, name##_body, &c, key, x);                                              \
    }
#define DRAW2(public, name)                                                                        \
    DRAW_BODY(name, 2)                                                                             \
    tt tt_##public(tt key, tt x, tt y, tt_dtype type, const tt_dims *shape)                        \
    {                                                                                              \
        PUBLIC;                                                                                    \
        if (!may_draw("tt_" #public, type, shape))                                                 \
            return NO_VALUE;                                                                       \
        Numbers c = draws_of("tt_" #public, type, shape);                                          \
        return EAGER(c.who, name##_body, &c, key, x, y);                                           \
    }
DRAW1(gamma, gamma_)
DRAW1(loggamma, loggamma)
DRAW1(chisquare, chisquare)
DRAW1(student_t, student_t)
DRAW1(lognormal, lognormal)
DRAW1(pareto, pareto)
DRAW1(rayleigh, rayleigh)
DRAW1(generalized_normal, generalized_normal)
DRAW2(beta, beta)
DRAW2(fisher_f, fisher_f)
DRAW2(binomial, binomial)
DRAW2(weibull, weibull)

static void poisson_body(const tt *in, tt *out, const void *config)
{
    Numbers c = *(const Numbers *)config;
    tt_dtype type = (tt_dtype)c.v[TYPE];
    tt rate;
    c.v[TYPE] = TT_F32; /* of the rates */
    if (parameters(&c, 1, in + 1, &rate))
        *out = tt_astype(poisson_of(in[0], rate), type);
}

tt tt_poisson(tt key, tt rate, tt_dtype type, const tt_dims *shape)
{
    PUBLIC;
    if (!dtype_ok("tt_poisson", type) || !dims_ok("tt_poisson", shape))
        return NO_VALUE;
    Numbers c = draws_of("tt_poisson", type, shape);
    return EAGER(c.who, poisson_body, &c, key, rate);
}

/* The shape, and behind it the last axis of what says how the numbers of a row belong together. */
static bool with_row(const Numbers *c, tt x, Numbers *out)
{
    Shape s;
    if (!shapes_of(c->who, 1, &x, &s))
        return false;
    if (!s.rank || c->n >= TT_MAX_RANK)
        return report_broken("%s: %s: it has a last axis, as long as a row of numbers", c->who,
                             shape_text(&s)),
               false;
    *out = *c;
    out->v[out->n++] = s.dims[s.rank - 1];
    return true;
}

static void dirichlet_body(const tt *in, tt *out, const void *config)
{
    Numbers rows;
    tt alpha;
    if (with_row(config, in[1], &rows) && parameters(&rows, 1, in + 1, &alpha))
        *out = tt_softmax(gamma_of(in[0], alpha, true), NULL);
}

tt tt_dirichlet(tt key, tt alpha, tt_dtype type, const tt_dims *shape)
{
    PUBLIC;
    if (!may_draw("tt_dirichlet", type, shape))
        return NO_VALUE;
    Numbers c = draws_of("tt_dirichlet", type, shape);
    return EAGER(c.who, dirichlet_body, &c, key, alpha);
}

/* Points inside of |x|_p = 1 (Barthe and others, 2005); the last axis is that of their coordinates.  p is an
 * argument: of a constant the power may be a product, which is rounded otherwise. */
static void ball_body(const tt *in, tt *out, const void *config)
{
    const Numbers *c = config;
    Numbers points = *c;
    points.n--;
    tt p, keys = tt_split(in[0], 2), power = tt_div(number(1), in[1]);
    if (!parameters(c, 1, in + 1, &p))
        return;
    tt g = generalized_normal(c, key_at(keys, 0), p, p),
       e = drawn(&points, tt_exponential, key_at(keys, 1));
    tt size = tt_add(tt_sum(tt_pow(tt_abs(g), p), DIMS(-1)), e);
    *out = tt_mul(g, tt_expand(tt_pow(size, tt_neg(power)), DIMS(-1)));
}

tt tt_ball(tt key, int64_t d, double p, tt_dtype type, const tt_dims *shape)
{
    PUBLIC;
    if (!may_draw("tt_ball", type, shape))
        return NO_VALUE;
    if (d < 0 || !(p > 0) || isinf(p) || shape->n >= TT_MAX_RANK)
        return report_broken("tt_ball: points of %lld coordinates in the ball of norm %g: the norm "
                             "is a number above "
                             "0, and the result has at most %d axes",
                             (long long)d, p, TT_MAX_RANK);
    Numbers c = draws_of("tt_ball", type, shape);
    c.v[c.n++] = d;
    return EAGER(c.who, ball_body, &c, key, tt_full(type, p, &(tt_dims){ 0 }));
}

/* ---- several numbers that belong together ---- */

/* x y + sum, rounded to f32 once; sum may be NO_VALUE. */
static tt multiply_add(tt x, tt y, tt sum)
{
    tt wide = tt_mul(tt_astype(x, TT_F64), tt_astype(y, TT_F64));
    return tt_astype(is_value(sum) ? tt_add(wide, tt_astype(sum, TT_F64)) : wide, TT_F32);
}

/* (parts[0] + parts[1]) + (parts[2] + parts[3]); those that are not there are zeros. */
static tt sum_of_four(const tt *parts)
{
    tt pairs[2] = { parts[0], parts[2] };
    for (int i = 0; i < 2; i++)
        if (is_value(parts[2 * i + 1]))
            pairs[i] = tt_add(parts[2 * i], parts[2 * i + 1]);
    return is_value(pairs[1]) ? tt_add(pairs[0], pairs[1]) : pairs[0];
}

static tt column(tt matrix, int64_t j)
{
    return tt_reshape(tt_slice(matrix, 1, j, j + 1), DIMS(-1));
}

/* The product of a matrix and each vector of z, of n numbers, in f32, in the order in which XLA's library adds:
 * four sums side by side, and behind them what is left of n. */
static tt product_by_fours(tt matrix, tt z, int64_t n)
{
    enum { LANES = 4 };
    int64_t whole = n - n % LANES;
    tt sums[2][LANES] = { { NO_VALUE } };
    for (int64_t j = 0; j < n; j++) {
        tt *to = &sums[j >= whole][j % LANES];
        *to = multiply_add(column(matrix, j), tt_slice(z, -1, j, j + 1), *to);
    }
    if (whole == n)
        return sum_of_four(sums[0]);
    return whole ? tt_add(sum_of_four(sums[0]), sum_of_four(sums[1])) : sum_of_four(sums[1]);
}

static void multivariate_body(const tt *in, tt *out, const void *config)
{
    enum { FEW = 16 };
    Numbers rows;
    Shape s;
    if (!with_row(config, in[1], &rows) || !shapes_of(rows.who, 1, &in[2], &s))
        return;
    int64_t n = rows.v[rows.n - 1];
    tt factor = tt_cholesky(in[2]), z = drawn(&rows, tt_normal, in[0]);
    if (rows.v[TYPE] == TT_F32 && s.element == F32 && s.rank == 2 && s.dims[1] == n && n > 0 &&
        n <= FEW)
        z = product_by_fours(factor, z, n);
    else
        z = tt_einsum_n("...ij,...j->...i", (const tt[]){ factor, z }, 2);
    *out = tt_add(in[1], z);
}

tt tt_multivariate_normal(tt key, tt mean, tt covariance, tt_dtype type, const tt_dims *shape)
{
    PUBLIC;
    if (!may_draw("tt_multivariate_normal", type, shape))
        return NO_VALUE;
    Numbers c = draws_of("tt_multivariate_normal", type, shape);
    return EAGER(c.who, multivariate_body, &c, key, mean, covariance);
}

/* The columns of Q, turned such that R's diagonal is positive. */
static void orthogonal_body(const tt *in, tt *out, const void *config)
{
    const Numbers *c = config;
    tt_qr_factors f = tt_qr(tt_normal(in[0], (tt_dtype)c->v[TYPE], DIMS(c->v[0], c->v[0])));
    *out = tt_mul(f.q, tt_sign(tt_diag(f.r)));
}

tt tt_orthogonal(tt key, tt_dtype type, int64_t n)
{
    PUBLIC;
    if (!may_draw("tt_orthogonal", type, DIMS(n, n)))
        return NO_VALUE;
    Numbers c = draws_of("tt_orthogonal", type, DIMS(n));
    return EAGER(c.who, orthogonal_body, &c, key);
}
