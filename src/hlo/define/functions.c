/* functions.c - CHLO's small functions: conj, is_inf and its kin, constant_like, mulhi, zeta,
 * polygamma. */
#include "hlo/define/writer.h"

#include <math.h>

Error *define_conj(Writer *w, Node n, ValueId *results)
{
    ValueId x = n.in[0];
    Type t = type_of(w->m, x);
    results[0] = x;
    if (element_info[t.element].kind != COMPLEX)
        return NULL;
    Type part = with_element(t, element_part(t.element));
    ValueId re = put(w, OP_REAL, part, NULL, 1, &x), im = put(w, OP_IMAG, part, NULL, 1, &x);
    results[0] = put(w, OP_COMPLEX, t, NULL, 2, (ValueId[]){ re, put_one(w, OP_NEG, im) });
    return NULL;
}

static Error *equals(Writer *w, ValueId x, double to, ValueId *results)
{
    results[0] = put_compare(w, EQ, x, put_number(w, type_of(w->m, x), to));
    return NULL;
}

Error *define_is_inf(Writer *w, Node n, ValueId *results)
{
    return equals(w, put_one(w, OP_ABS, n.in[0]), INFINITY, results);
}

Error *define_is_pos_inf(Writer *w, Node n, ValueId *results)
{
    return equals(w, n.in[0], INFINITY, results);
}

Error *define_is_neg_inf(Writer *w, Node n, ValueId *results)
{
    return equals(w, n.in[0], -INFINITY, results);
}

Error *define_constant_like(Writer *w, Node n, ValueId *results)
{
    const Attr *value = ((const ConstantLikeAttrs *)n.attrs)->value;
    Type t = type_of(w->m, n.out);
    if (value->kind == ATTR_INT || value->kind == ATTR_BOOL)
        results[0] = put_integer(w, t, value->integer);
    else if (value->kind == ATTR_FLOAT)
        results[0] = put_number(w, t, value->number);
    else
        return error_new(CODE_INVALID, "chlo.constant_like needs a number as its value, at %s",
                         loc_name(n.loc));
    return NULL;
}

/* ---- the upper half of a product ---- */

static ValueId shifted(Writer *w, OpId op, ValueId x, int64_t by)
{
    return put_two(w, op, x, put_integer(w, type_of(w->m, x), by));
}

static ValueId low_half(Writer *w, ValueId x) /* of a ui64 */
{
    return put_two(w, OP_AND, x, put_integer(w, type_of(w->m, x), 0xffffffff));
}

static ValueId high_half(Writer *w, ValueId x)
{
    return shifted(w, OP_SHR_LOGICAL, x, 32);
}

/* (a 2^32 + b) (c 2^32 + d), by the school's method. */
static ValueId high_of_ui64(Writer *w, ValueId x, ValueId y)
{
    ValueId a = high_half(w, x), b = low_half(w, x), c = high_half(w, y), d = low_half(w, y);
    ValueId carried =
        put_two(w, OP_ADD, put_two(w, OP_MUL, a, d), high_half(w, put_two(w, OP_MUL, b, d)));
    ValueId middle = put_two(w, OP_ADD, put_two(w, OP_MUL, b, c), low_half(w, carried));
    ValueId top = put_two(w, OP_ADD, put_two(w, OP_MUL, a, c), high_half(w, carried));
    return put_two(w, OP_ADD, top, high_half(w, middle));
}

/* A negative number read as unsigned is 2^64 too much. */
static ValueId high_of_i64(Writer *w, ValueId x, ValueId y)
{
    ValueId zero = put_integer(w, type_of(w->m, x), 0);
    ValueId high = high_of_ui64(w, put_convert(w, x, U64), put_convert(w, y, U64));
    high = put_convert(w, high, I64);
    ValueId too_much = put_select(w, put_compare(w, LT, x, zero), y, zero);
    high = put_two(w, OP_SUB, high, too_much);
    too_much = put_select(w, put_compare(w, LT, y, zero), x, zero);
    return put_two(w, OP_SUB, high, too_much);
}

Error *define_mulhi(Writer *w, Node n, ValueId *results)
{
    Element e = type_of(w->m, n.out).element;
    bool is_signed = element_info[e].kind == SIGNED;
    if (element_info[e].bits == 64) {
        results[0] =
            is_signed ? high_of_i64(w, n.in[0], n.in[1]) : high_of_ui64(w, n.in[0], n.in[1]);
        return NULL;
    }
    Element wide = is_signed ? I64 : U64;
    ValueId product =
        put_two(w, OP_MUL, put_convert(w, n.in[0], wide), put_convert(w, n.in[1], wide));
    OpId shift = is_signed ? OP_SHR_ARITHMETIC : OP_SHR_LOGICAL;
    results[0] = put_convert(w, shifted(w, shift, product, element_info[e].bits), e);
    return NULL;
}

/* ---- Hurwitz's zeta function, and the derivatives of the logarithm of gamma ---- */

static ValueId number(Writer *w, ValueId like, double x)
{
    return put_number(w, type_of(w->m, like), x);
}

static ValueId plus(Writer *w, ValueId x, double y)
{
    return put_two(w, OP_ADD, x, number(w, x, y));
}

static ValueId is_whole(Writer *w, ValueId x)
{
    return put_compare(w, EQ, x, put_one(w, OP_FLOOR, x));
}

/* In f64, since the errors of the powers add up and small ones would count as zero.
 *
 * Euler and Maclaurin: sum of (q + i)^-x over i < 10, then with a = q + 9 and b = a^-x the rest
 * as an integral, half a term and twelve corrections by Bernoulli's numbers B, (2k)! / B_2k. */
static ValueId zeta_series(Writer *w, ValueId x, ValueId q)
{
    /* clang-format off */
    static const double corrections[] = {
        12.0,       -720.0,        30240.0,     -1209600.0, 47900160.0, -1.8924375803183791606e9,
        7.47242496e10, -2.950130727918164224e12, 1.1646782814350067249e14,
        -4.5979787224074726105e15, 1.8152105401943546773e17, -7.1661652561756670113e18,
    };
    /* clang-format on */
    ValueId minus = put_one(w, OP_NEG, x), a = q, b = put_two(w, OP_POW, q, minus), sum = b;
    for (int i = 1; i < 10; i++) {
        a = plus(w, a, 1);
        b = put_two(w, OP_POW, a, minus);
        sum = put_two(w, OP_ADD, sum, b);
    }
    ValueId rest = put_two(w, OP_DIV, put_two(w, OP_MUL, b, a), plus(w, x, -1));
    sum = put_two(w, OP_ADD, sum, rest);
    sum = put_two(w, OP_SUB, sum, put_two(w, OP_MUL, b, number(w, b, 0.5)));
    ValueId rising = x, over = put_two(w, OP_DIV, b, a); /* x (x + 1) ..., b a^-(2k - 1) */
    for (int k = 0; k < 12; k++) {
        ValueId term = put_two(w, OP_MUL, rising, over);
        sum = put_two(w, OP_ADD, sum, put_two(w, OP_DIV, term, number(w, x, corrections[k])));
        rising = put_two(w, OP_MUL, rising,
                         put_two(w, OP_MUL, plus(w, x, 2 * k + 1), plus(w, x, 2 * k + 2)));
        over = put_two(w, OP_DIV, over, put_two(w, OP_MUL, a, a));
    }
    return sum;
}

/* At x = 1 it is infinite and below not defined; so at q = 0, -1, ... for even and for other x;
 * at other negative q only whole x have a value. */
static ValueId zeta(Writer *w, ValueId x, ValueId q)
{
    ValueId one = number(w, x, 1), zero = number(w, x, 0), two = number(w, x, 2);
    ValueId nan = number(w, x, NAN), inf = number(w, x, INFINITY);
    ValueId is_even = put_compare(w, EQ, put_two(w, OP_REM, x, two), zero);
    ValueId sum = zeta_series(w, x, q);
    ValueId at_pole = put_select(w, is_even, inf, nan);
    ValueId left = put_select(w, is_whole(w, x), sum, nan);
    left = put_select(w, is_whole(w, q), at_pole, left);
    sum = put_select(w, put_compare(w, LE, q, zero), left, sum);
    sum = put_select(w, put_compare(w, LT, x, one), nan, sum);
    return put_select(w, put_compare(w, EQ, x, one), inf, sum);
}

Error *define_zeta(Writer *w, Node n, ValueId *results)
{
    ValueId x = put_convert(w, n.in[0], F64), q = put_convert(w, n.in[1], F64);
    results[0] = put_convert(w, zeta(w, x, q), type_of(w->m, n.out).element);
    return NULL;
}

/* (-1)^(n+1) n! zeta(n + 1, x); for n = 0 it is digamma. */
Error *define_polygamma(Writer *w, Node n, ValueId *results)
{
    ValueId order = put_convert(w, n.in[0], F64), x = put_convert(w, n.in[1], F64);
    ValueId zero = number(w, order, 0), next = plus(w, order, 1);
    ValueId factorial = put_one(w, OP_EXP, put_one(w, OP_LGAMMA, next));
    ValueId size = put_two(w, OP_MUL, factorial, zeta(w, next, x));
    ValueId is_odd = put_compare(w, NE, put_two(w, OP_REM, order, number(w, order, 2)), zero);
    ValueId value = put_select(w, is_odd, size, put_one(w, OP_NEG, size));
    value = put_select(w, put_compare(w, EQ, order, zero), put_one(w, OP_DIGAMMA, x), value);
    ValueId is_order = put_two(w, OP_AND, is_whole(w, order), put_compare(w, GE, order, zero));
    value = put_select(w, is_order, value, number(w, x, NAN));
    results[0] = put_convert(w, value, type_of(w->m, n.out).element);
    return NULL;
}
