/* special.c - special functions as formulas of elementary ones; their derivatives follow.
 *
 * Hurwitz's zeta function is summed to its tenth term, and the rest by Euler and Maclaurin; polygamma is made of it. */
#include "front/api/formula.h"

#include "front/value/report.h"

#include <float.h>
#include <math.h>

/* clang-format off */
FORMULA1(sinc, tt_where(tt_equal(x, number(0)), number(1),
                        tt_div(tt_sin(tt_mul(number(M_PI), x)), tt_where(tt_equal(x, number(0)), number(1), tt_mul(number(M_PI), x)))))
FORMULA1(logit, tt_log(tt_div(x, tt_sub(number(1), x))))
FORMULA1(ndtr, tt_mul(number(0.5), tt_erfc(tt_mul(x, number(-M_SQRT1_2)))))
FORMULA1(ndtri, tt_mul(number(M_SQRT2), tt_erf_inv(tt_sub(tt_mul(number(2), x), number(1)))))
FORMULA2(betaln, tt_sub(tt_add(tt_lgamma(x), tt_lgamma(y)), tt_lgamma(tt_add(x, y))))
FORMULA2(hypot, tt_sqrt(tt_add(tt_square(x), tt_square(y))))
/* clang-format on */

/* x log y, x log(1 + y): 0 where x is, whatever y is. */
static tt times_log(tt x, tt y, tt (*log_of)(tt))
{
    tt is_zero = tt_equal(x, number(0));
    return tt_where(is_zero, number(0), tt_mul(x, log_of(tt_where(is_zero, number(1), y))));
}
FORMULA2(xlogy, times_log(x, y, tt_log))
FORMULA2(xlog1py, times_log(x, y, tt_log1p))
FORMULA1(entr, tt_where(tt_less(x, number(0)), number(-INFINITY), tt_neg(times_log(x, x, tt_log))))

/* The logarithm of ndtr: far below zero by the asymptotic series, far above by what is missing to 0. */
static tt log_ndtr(tt x)
{
    bool is_wide = tt_type(x) == TT_F64;
    double low = is_wide ? -20 : -10, high = is_wide ? 8 : 5;
    tt is_low = tt_less(x, number(low)), is_high = tt_greater(x, number(high));
    tt far = tt_where(is_low, x, number(low)), square = tt_square(far);
    tt series = number(1), term = number(1);
    for (int k = 1; k <= 3; k++) {
        term = tt_mul(term, tt_div(number(-(2 * k - 1)), square));
        series = tt_add(series, term);
    }
    tt below = tt_sub(tt_sub(tt_mul(number(-0.5), square), tt_log(tt_neg(far))),
                      number(0.5 * log(2 * M_PI)));
    below = tt_add(below, tt_log(series));
    tt above = tt_neg(tt_ndtr(tt_neg(tt_where(is_high, x, number(high)))));
    tt middle = tt_clip(x, number(low), number(high));
    return tt_where(is_low, below, tt_where(is_high, above, tt_log(tt_ndtr(middle))));
}
FORMULA1(log_ndtr, log_ndtr(x))

/* The sum of (y + k)^-x over k = 0, 1, ... */
static tt zeta(tt x, tt y)
{
    enum { TERMS = 10, CORRECTIONS = 8 };
    /* (2k)! / B_2k */
    static const double by[CORRECTIONS] = { 12.0,          -720.0,
                                            30240.0,       -1209600.0,
                                            47900160.0,    -1307674368000.0 / 691,
                                            74724249600.0, -10670622842880000.0 / 3617 };
    tt sum = NO_VALUE, minus = tt_neg(x), at = tt_add(y, number(TERMS));
    for (int k = 0; k < TERMS; k++) {
        tt term = tt_pow(tt_add(y, number(k)), minus);
        sum = is_value(sum) ? tt_add(sum, term) : term;
    }
    tt power = tt_pow(at, minus);
    sum = tt_add(sum, tt_div(tt_mul(power, at), tt_sub(x, number(1))));
    sum = tt_add(sum, tt_mul(number(0.5), power));
    tt factor = tt_div(tt_mul(x, power), at);
    for (int k = 0; k < CORRECTIONS; k++) {
        sum = tt_add(sum, tt_div(factor, number(by[k])));
        tt next = tt_mul(tt_add(x, number(2 * k + 1)), tt_add(x, number(2 * k + 2)));
        factor = tt_div(tt_mul(factor, next), tt_square(at));
    }
    return sum;
}
FORMULA2(zeta, zeta(x, y))

/* Derivative n of digamma: (-1)^(n+1) n! zeta(n + 1, x). */
static void polygamma_body(const tt *in, tt *out, const void *config)
{
    const Numbers *c = config;
    tt x;
    if (!as_floats(c->who, 1, in, &x))
        return;
    double n = (double)c->v[0], sign = c->v[0] % 2 ? 1 : -1;
    *out = c->v[0] ? tt_mul(number(sign * tgamma(n + 1)), zeta(number(n + 1), x)) : tt_digamma(x);
}

tt tt_polygamma(int64_t n, tt x)
{
    PUBLIC;
    if (n < 0 || n > 100)
        return report_broken("tt_polygamma: derivative %lld of digamma; from 0 to 100",
                             (long long)n);
    return EAGER_BY("tt_polygamma", polygamma_body, DIMS(n), x);
}
