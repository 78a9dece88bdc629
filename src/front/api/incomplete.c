/* incomplete.c - the incomplete gamma functions P(a, x) and Q(a, x) = 1 - P, and the incomplete beta function.
 *
 *     x < 1 or x <= a    P = x^a e^-x / Gamma(a + 1) (1 + x / (a + 1) + x^2 / ((a + 1) (a + 2)) + ...)
 *     else               Q = x^a e^-x / Gamma(a) 1 / (x + 1 - a - 1 (1 - a) / (x + 3 - a - 2 (2 - a) / ...))
 *
 * The beta function is a fraction too (Abramowitz and Stegun 26.5.8), on the side of x where it is short; its
 * derivatives by a and b are those along its loop.
 *
 * Fractions are Lentz's products.  Each loop goes on until the last element has its digits, and sums
 * what a derivative by a needs beside.  That by x is a formula; so both have a rule of their own, since
 * tt_grad cannot go through such a loop.  A second derivative by a goes forwards: tt_hessian, not tt_grad of
 * tt_grad. */
#include "front/api/formula.h"
#include "front/api/random.h"

#include <float.h>
#include <math.h>

static tt epsilon(tt x)
{
    return number(tt_type(x) == TT_F64 ? 2 * DBL_EPSILON : 2 * FLT_EPSILON);
}

static tt is_above(tt x, tt y)
{
    return tt_greater(tt_abs(x), tt_mul(epsilon(x), tt_abs(y)));
}

/* ---- the series ---- */

enum { S_TURN, S_TERM, S_SUM, S_DTERM, S_DSUM, S_LEAVES, MOST_TERMS = 1 << 17 };

static int series_goes_on(void *user, const tt_tree *args, int nargs, tt *results, int room)
{
    (void)user, (void)nargs, (void)room;
    const tt *s = args[0].leaf;
    tt moves = tt_or(is_above(s[S_TERM], s[S_SUM]), is_above(s[S_DTERM], s[S_DSUM]));
    results[0] = tt_and(tt_any(moves, NULL), tt_less(s[S_TURN], tt_integer(MOST_TERMS)));
    return 1;
}

static int series_turn(void *user, const tt_tree *args, int nargs, tt *results, int room)
{
    (void)user, (void)nargs, (void)room;
    const tt *s = args[0].leaf;
    tt a = args[1].leaf[0], x = args[2].leaf[0];
    tt turn = tt_add(s[S_TURN], tt_integer(1)), at = tt_add(a, tt_astype(turn, tt_type(a)));
    tt by = tt_div(x, at);
    results[S_TURN] = turn;
    results[S_TERM] = tt_mul(s[S_TERM], by);
    results[S_DTERM] = tt_mul(tt_sub(s[S_DTERM], tt_div(s[S_TERM], at)), by);
    results[S_SUM] = tt_add(s[S_SUM], results[S_TERM]);
    results[S_DSUM] = tt_add(s[S_DSUM], results[S_DTERM]);
    return S_LEAVES;
}

/* ---- the fraction ---- */

enum { F_TURN, F_C, F_D, F_H, F_DC, F_DD, F_DH, F_MOVES, F_LEAVES, MOST_TURNS = 2000 };

static int fraction_goes_on(void *user, const tt_tree *args, int nargs, tt *results, int room)
{
    (void)user, (void)nargs, (void)room;
    const tt *s = args[0].leaf;
    results[0] = tt_and(tt_any(s[F_MOVES], NULL), tt_less(s[F_TURN], tt_integer(MOST_TURNS)));
    return 1;
}

/* With x > a > 0 neither c nor 1 / d comes near 0. */
static int fraction_turn(void *user, const tt_tree *args, int nargs, tt *results, int room)
{
    (void)user, (void)nargs, (void)room;
    const tt *s = args[0].leaf;
    tt a = args[1].leaf[0], x = args[2].leaf[0], turn = tt_add(s[F_TURN], tt_integer(1));
    tt i = tt_astype(turn, tt_type(a)), top = tt_mul(i, tt_sub(a, i));
    tt low = tt_add(tt_sub(x, a), tt_add(tt_mul(number(2), i), number(1)));
    tt ratio = tt_div(top, s[F_C]), d = tt_div(number(1), tt_add(tt_mul(top, s[F_D]), low));
    tt c = tt_add(low, ratio), factor = tt_mul(c, d), h = tt_mul(s[F_H], factor);
    tt dc = tt_sub(tt_div(tt_sub(i, tt_mul(ratio, s[F_DC])), s[F_C]), number(1));
    tt dd = tt_sub(tt_add(tt_mul(i, s[F_D]), tt_mul(top, s[F_DD])), number(1));
    dd = tt_neg(tt_mul(tt_mul(d, d), dd));
    tt dfactor = tt_add(tt_mul(dc, d), tt_mul(c, dd));
    tt dh = tt_add(tt_mul(s[F_DH], factor), tt_mul(s[F_H], dfactor));
    tt moves = tt_or(is_above(tt_sub(factor, number(1)), number(1)),
                     is_above(tt_sub(dh, s[F_DH]), tt_add(tt_abs(dh), h)));
    const tt next[] = { turn, c, d, h, dc, dd, dh, moves };
    for (int k = 0; k < F_LEAVES; k++)
        results[k] = next[k];
    return F_LEAVES;
}

/* ---- both ---- */

typedef struct Parts {
    tt p, q, slope; /* slope: of p by a */
} Parts;

static const tt *loop(const char *name, Apply *goes_on, Apply *turn, const tt *state, int n, tt a,
                      tt x)
{
    const tt_tree args[] = { { state, n }, { &a, 1 }, { &x, 1 } };
    return tt_while_n(function(name, goes_on, NULL), function(name, turn, NULL), args, 3);
}

/* The sum, or the fraction, and its derivative by a. */
static void series(tt a, tt x, tt *sum, tt *slope)
{
    tt zero = tt_full_like(a, 0), one = tt_full_like(a, 1);
    const tt_dims none = { 0 };
    const tt begin[] = { tt_full(TT_I32, 0, &none), one, one, zero, zero };
    const tt *s = loop("igamma's series", series_goes_on, series_turn, begin, S_LEAVES, a, x);
    *sum = s[S_SUM];
    *slope = s[S_DSUM];
}

static void fraction(tt a, tt x, tt *value, tt *slope)
{
    tt zero = tt_full_like(a, 0), d = tt_div(number(1), tt_add(tt_sub(x, a), number(1)));
    tt square = tt_mul(d, d);
    const tt_dims none = { 0 };
    const tt begin[] = {
        tt_full(TT_I32, 0, &none), tt_full_like(a, 1e30), d, d, zero, square, square,
        tt_greater(a, zero)
    };
    const tt *s = loop("igamma's fraction", fraction_goes_on, fraction_turn, begin, F_LEAVES, a, x);
    *value = s[F_H];
    *slope = s[F_DH];
}

#define MOST_A 1e8 /* the series has its digits after about 9 sqrt(a) terms */

/* What the loops give, each for its elements: those that are not is_usual have no sum. */
typedef struct Sums {
    tt is_usual, is_far;
    tt near, far;   /* the sum, the fraction */
    tt dnear, dfar; /* by a */
} Sums;

/* Elements that a loop is not for are given numbers with which it ends at once. */
static Sums sums_of(tt a, tt x)
{
    tt zero = number(0), one = number(1);
    Sums s;
    s.is_usual = tt_and(tt_and(tt_greater(a, zero), tt_less_equal(a, number(MOST_A))),
                        tt_and(tt_greater(x, zero), tt_less(x, number(INFINITY))));
    s.is_far = tt_and(s.is_usual, tt_and(tt_greater_equal(x, one), tt_greater(x, a)));
    tt is_near = tt_and(s.is_usual, tt_not(s.is_far));
    series(tt_where(is_near, a, tt_full_like(a, 1)), tt_where(is_near, x, tt_full_like(x, 0)),
           &s.near, &s.dnear);
    fraction(tt_where(s.is_far, a, tt_full_like(a, 1)), tt_where(s.is_far, x, tt_full_like(x, 2)),
             &s.far, &s.dfar);
    return s;
}

static Parts incomplete(tt a, tt x)
{
    tt inf = number(INFINITY), zero = number(0), one = number(1);
    tt is_valid = tt_and(tt_greater_equal(a, zero), tt_greater_equal(x, zero));
    is_valid = tt_and(is_valid, tt_greater(tt_add(a, x), zero));
    is_valid = tt_and(is_valid, tt_or(tt_less_equal(a, number(MOST_A)), tt_equal(a, inf)));
    Sums s = sums_of(a, x);
    tt log_x = tt_log(x), top = tt_sub(tt_mul(a, log_x), x);
    tt near = tt_exp(tt_sub(top, tt_lgamma(tt_add(a, one)))),
       far = tt_exp(tt_sub(top, tt_lgamma(a)));
    tt p = tt_mul(near, s.near), q = tt_mul(far, s.far);
    tt dp =
        tt_mul(near, tt_add(s.dnear, tt_mul(s.near, tt_sub(log_x, tt_digamma(tt_add(a, one))))));
    tt dq = tt_mul(far, tt_add(s.dfar, tt_mul(s.far, tt_sub(log_x, tt_digamma(a)))));
    tt edge = tt_where(tt_or(tt_equal(x, inf), tt_equal(a, zero)), tt_full_like(a, 1),
                       tt_full_like(a, 0));
    tt none = tt_full_like(a, NAN);
    p = tt_where(s.is_usual, tt_where(s.is_far, tt_sub(one, q), p), edge);
    q = tt_where(s.is_far, q, tt_sub(one, p));
    tt slope = tt_where(s.is_usual, tt_where(s.is_far, tt_neg(dq), dp), tt_full_like(a, 0));
    return (Parts){ tt_where(is_valid, p, none), tt_where(is_valid, q, none),
                    tt_where(is_valid, slope, none) };
}

/* How log x moves with a where P(a, x) stays: -(dP/da) / (x dP/dx).  The powers before the sum and before the
 * fraction cancel; above MOST_A, where x is a + sqrt(a) z, it is (a + x) / (2 a x). */
tt gamma_log_slope(tt a, tt x)
{
    Sums s = sums_of(a, x);
    tt log_x = tt_log(x), log_near = tt_sub(log_x, tt_digamma(tt_add(a, number(1))));
    tt near = tt_div(tt_neg(tt_add(s.dnear, tt_mul(s.near, log_near))), a);
    tt far = tt_add(s.dfar, tt_mul(s.far, tt_sub(log_x, tt_digamma(a))));
    tt large = tt_div(tt_add(tt_div(a, x), number(1)), tt_mul(number(2), a));
    tt rest = tt_where(tt_greater(a, number(MOST_A)), large, tt_full_like(a, NAN));
    return tt_where(s.is_usual, tt_where(s.is_far, far, near), rest);
}

/* ---- the functions and their rule ---- */

static const char upper[] = "igammac", lower[] = "igamma"; /* the closures' user: which it is */

static int value(void *user, const tt_tree *args, int nargs, tt *results, int room)
{
    (void)nargs, (void)room;
    Parts v = incomplete(args[0].leaf[0], args[1].leaf[0]);
    results[0] = user == upper ? v.q : v.p;
    return 1;
}

/* Of a, x and their tangents. */
static int rule(void *user, const tt_tree *args, int nargs, tt *results, int room)
{
    (void)nargs, (void)room;
    tt a = args[0].leaf[0], x = args[1].leaf[0];
    Parts v = incomplete(a, x);
    tt power = tt_mul(tt_sub(a, number(1)), tt_log(x));
    tt by_x = tt_exp(tt_sub(tt_sub(power, x), tt_lgamma(a)));
    tt tangent = tt_add(tt_mul(args[2].leaf[0], v.slope), tt_mul(args[3].leaf[0], by_x));
    results[0] = user == upper ? v.q : v.p;
    results[1] = user == upper ? tt_neg(tangent) : tangent;
    return 2;
}

/* ---- beta ---- */

enum { B_TURN, B_C, B_D, B_H, B_MOVES, B_LEAVES };

static int beta_goes_on(void *user, const tt_tree *args, int nargs, tt *results, int room)
{
    (void)user, (void)nargs, (void)room;
    const tt *s = args[0].leaf;
    results[0] = tt_and(tt_any(s[B_MOVES], NULL), tt_less(s[B_TURN], tt_integer(MOST_TURNS)));
    return 1;
}

static tt not_zero(tt x)
{
    return tt_where(tt_less(tt_abs(x), number(1e-30)), tt_full_like(x, 1e-30), x);
}

/* One more level, 1 + top / ...; gives the factor. */
static tt level(tt top, tt *c, tt *d, tt *h)
{
    *c = not_zero(tt_add(number(1), tt_div(top, *c)));
    *d = tt_div(number(1), not_zero(tt_add(number(1), tt_mul(top, *d))));
    tt factor = tt_mul(*c, *d);
    *h = tt_mul(*h, factor);
    return factor;
}

static int beta_turn(void *user, const tt_tree *args, int nargs, tt *results, int room)
{
    (void)user, (void)nargs, (void)room;
    const tt *s = args[0].leaf;
    tt a = args[1].leaf[0], b = args[2].leaf[0], x = args[3].leaf[0], one = number(1);
    tt turn = tt_add(s[B_TURN], tt_integer(1)), m = tt_astype(turn, tt_type(a));
    tt at = tt_add(a, tt_mul(number(2), m)), c = s[B_C], d = s[B_D], h = s[B_H];
    tt even = tt_div(tt_mul(tt_mul(m, tt_sub(b, m)), x), tt_mul(tt_sub(at, one), at));
    tt odd = tt_mul(tt_mul(tt_add(a, m), tt_add(tt_add(a, b), m)), x);
    odd = tt_neg(tt_div(odd, tt_mul(at, tt_add(at, one))));
    level(even, &c, &d, &h);
    tt factor = level(odd, &c, &d, &h);
    const tt next[] = { turn, c, d, h, is_above(tt_sub(factor, one), one) };
    for (int k = 0; k < B_LEAVES; k++)
        results[k] = next[k];
    return B_LEAVES;
}

/* For 0 < x < 1, a and b above 0. */
static tt usual_beta(tt a, tt b, tt x)
{
    tt one = number(1), sum = tt_add(a, b);
    tt is_low = tt_less(x, tt_div(tt_add(a, one), tt_add(sum, number(2))));
    tt log_x = tt_log(x), log_y = tt_log1p(tt_neg(x));
    tt top = tt_add(tt_mul(a, log_x), tt_mul(b, log_y));
    top = tt_exp(tt_sub(top, tt_sub(tt_add(tt_lgamma(a), tt_lgamma(b)), tt_lgamma(sum))));
    tt p = tt_where(is_low, a, b), q = tt_where(is_low, b, a);
    tt y = tt_where(is_low, x, tt_sub(one, x)), c = tt_full_like(x, 1), d = c, h = c;
    level(tt_neg(tt_div(tt_mul(sum, y), tt_add(p, one))), &c, &d, &h);
    h = d;
    c = tt_full_like(x, 1);
    const tt_dims none = { 0 };
    const tt begin[] = { tt_full(TT_I32, 0, &none), c, d, h, tt_greater(x, number(0)) };
    const tt_tree args[] = { { begin, B_LEAVES }, { &p, 1 }, { &q, 1 }, { &y, 1 } };
    const char *name = "betainc's fraction";
    h = tt_while_n(function(name, beta_goes_on, NULL), function(name, beta_turn, NULL), args,
                   4)[B_H];
    tt value = tt_div(tt_mul(top, h), p);
    return tt_where(is_low, value, tt_sub(one, value));
}

static tt is_between(tt x, double high)
{
    return tt_and(tt_greater(x, number(0)), tt_less(x, number(high)));
}

static int beta_value(void *user, const tt_tree *args, int nargs, tt *results, int room)
{
    (void)user, (void)nargs, (void)room;
    tt a = args[0].leaf[0], b = args[1].leaf[0], x = args[2].leaf[0], zero = number(0),
       inf = number(INFINITY);
    tt is_usual =
        tt_and(tt_and(is_between(a, INFINITY), is_between(b, INFINITY)), is_between(x, 1));
    tt half = tt_full_like(x, 0.5), nought = tt_full_like(x, 0), one = tt_full_like(x, 1);
    tt y = usual_beta(tt_where(is_usual, a, one), tt_where(is_usual, b, one),
                      tt_where(is_usual, x, half));
    tt at_0 = tt_or(tt_equal(a, zero), tt_equal(b, inf)),
       at_1 = tt_or(tt_equal(b, zero), tt_equal(a, inf));
    tt is_one = tt_or(tt_equal(x, one), tt_and(at_0, tt_greater(x, zero)));
    tt is_valid = tt_and(tt_greater_equal(a, zero), tt_greater_equal(b, zero));
    is_valid = tt_and(is_valid, tt_and(tt_greater_equal(x, zero), tt_less_equal(x, one)));
    is_valid = tt_and(is_valid, tt_not(tt_and(at_0, at_1)));
    y = tt_where(is_usual, y, tt_where(is_one, one, nought));
    results[0] = tt_where(is_valid, y, tt_full_like(x, NAN));
    return 1;
}

/* Of a, b, x and their tangents. */
static int beta_rule(void *user, const tt_tree *args, int nargs, tt *results, int room)
{
    (void)user, (void)nargs, (void)room;
    tt a = args[0].leaf[0], b = args[1].leaf[0], x = args[2].leaf[0], one = tt_full_like(x, 1);
    const tt_tree along[] = { args[0], args[1], args[2], { &one, 1 } };
    tt power = tt_add(tt_mul(tt_sub(a, number(1)), tt_log(x)),
                      tt_mul(tt_sub(b, number(1)), tt_log1p(tt_neg(x))));
    tt log_beta = tt_sub(tt_add(tt_lgamma(a), tt_lgamma(b)), tt_lgamma(tt_add(a, b)));
    tt tangent = tt_mul(args[5].leaf[0], tt_exp(tt_sub(power, log_beta)));
    for (int i = 0; i < 2; i++) {
        tt_jvp_options by = { .size = sizeof by, .wrt = 1u << i };
        tt_fn f = tt_jvp_with(function("betainc", beta_value, NULL), &by);
        const tt *y = tt_call_n(f, along, 4, 2);
        results[0] = y[0];
        tangent = tt_add(tangent, tt_mul(args[3 + i].leaf[0], y[1]));
    }
    results[1] = tangent;
    return 2;
}

/* ---- the interface ---- */

/* f of n arguments in their common shape.  Half floats are computed as f32. */
static tt in_common(const char *who, tt_fn f, int n, const tt *in)
{
    Shape s[3], common;
    tt x[3], sum = in[0];
    tt_tree args[3];
    if (!shapes_of(who, n, in, s) || !broadcast_shapes(who, n, s, &common))
        return NO_VALUE;
    for (int i = 1; i < n; i++)
        sum = tt_add(sum, in[i]);
    tt_dtype type = tt_type(sum), as = type == TT_F64 ? TT_F64 : TT_F32;
    for (int i = 0; i < n; i++) {
        x[i] = as_shape(tt_astype(in[i], as), &common);
        args[i] = (tt_tree){ &x[i], 1 };
    }
    return tt_astype(tt_call_n(f, args, n, 1)[0], type);
}

static tt_fn gamma_function(const char *which)
{
    return tt_custom_jvp(function(which, value, which), function(which, rule, which));
}

static tt_fn beta_function(void)
{
    return tt_custom_jvp(function("betainc", beta_value, NULL),
                         function("betainc", beta_rule, NULL));
}

FORMULA2(igamma, in_common(c->who, gamma_function(lower), 2, (const tt[]){ x, y }))
FORMULA2(igammac, in_common(c->who, gamma_function(upper), 2, (const tt[]){ x, y }))
FORMULA3(betainc, in_common(c->who, beta_function(), 3, (const tt[]){ x, y, z }))
