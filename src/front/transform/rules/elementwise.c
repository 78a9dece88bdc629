/* elementwise.c - derivatives of operations that work element by element.
 *
 * A row is a formula per operand, in which g is that operand's tangent.  A tangent that is zero
 * has no value, and its formula is then left out. */
#include "front/transform/transform.h"

#include <math.h>
#include <tutti_sugar.h> /* numbers may stand for arrays in formulas */

#define JVP1(op, dx_)                                                                              \
    void jvp_##op(const Jvp *j)                                                                    \
    {                                                                                              \
        tt g = j->dx[0], x = j->x[0], y = j->y[0];                                                 \
        (void)x, (void)y;                                                                          \
        j->dy[0] = dx_;                                                                            \
    }
#define JVP2(op, da_, db_)                                                                         \
    void jvp_##op(const Jvp *j)                                                                    \
    {                                                                                              \
        tt a = j->x[0], b = j->x[1], y = j->y[0], g = j->dx[0], sum = NO_VALUE;                    \
        (void)a, (void)b, (void)y;                                                                 \
        if (is_value(g))                                                                           \
            sum = da_;                                                                             \
        g = j->dx[1];                                                                              \
        if (is_value(g))                                                                           \
            sum = build_sum(sum, db_);                                                             \
        j->dy[0] = sum;                                                                            \
    }

/* The derivative of digamma.  Of positive numbers: from SHIFT on a series in 1/x, and the sum of
 * 1/(x + k)^2 down to x; of others by reflection. */
static tt trigamma(tt x)
{
    enum { SHIFT = 12, TERMS = 8 };
    static const double bernoulli[TERMS] = { 1 / 6.0,  -1 / 30.0,     1 / 42.0, -1 / 30.0,
                                             5 / 66.0, -691 / 2730.0, 7 / 6.0,  -3617 / 510.0 };
    tt is_low = tt_less(x, 0.5), p = tt_where(is_low, tt_sub(1, x), x);
    tt far = tt_add(p, SHIFT), r = tt_div(1, far), rr = tt_mul(r, r), sum = tt_scalar(0);
    for (int k = TERMS - 1; k >= 0; k--)
        sum = tt_mul(rr, tt_add(sum, bernoulli[k]));
    tt y = tt_add(tt_mul(r, tt_add(1, sum)), tt_mul(0.5, rr));
    for (int k = 0; k < SHIFT; k++)
        y = tt_add(y, tt_div(1, tt_square(tt_add(p, k))));
    tt ratio = tt_div(M_PI, tt_sin(tt_mul(M_PI, x)));
    return tt_where(is_low, tt_sub(tt_mul(ratio, ratio), y), y);
}

JVP1(exp, tt_mul(g, y))
JVP1(expm1, tt_mul(g, tt_add(y, 1)))
JVP1(log, tt_div(g, x))
JVP1(log1p, tt_div(g, tt_add(x, 1)))
JVP1(logistic, tt_mul(g, tt_mul(y, tt_sub(1, y))))
JVP1(tanh, tt_mul(g, tt_sub(1, tt_mul(y, y))))
JVP1(sin, tt_mul(g, tt_cos(x)))
JVP1(cos, tt_neg(tt_mul(g, tt_sin(x))))
JVP1(tan, tt_mul(g, tt_add(1, tt_mul(y, y))))
JVP1(sqrt, tt_mul(g, tt_div(0.5, y)))
JVP1(rsqrt, tt_mul(g, tt_mul(-0.5, tt_div(y, x))))
JVP1(square, tt_mul(g, tt_mul(2, x)))
JVP1(cbrt, tt_mul(g, tt_div(1.0 / 3, tt_mul(y, y)))) /* at 0 it is infinite, as JAX has it */
JVP1(erf, tt_mul(g, tt_mul(M_2_SQRTPI, tt_exp(tt_neg(tt_mul(x, x))))))
JVP1(erfc, tt_mul(g, tt_mul(-M_2_SQRTPI, tt_exp(tt_neg(tt_mul(x, x))))))
JVP1(erf_inv, tt_mul(g, tt_mul(1 / M_2_SQRTPI, tt_exp(tt_mul(y, y)))))
JVP1(lgamma, tt_mul(g, build1(OP_DIGAMMA, x)))
JVP1(digamma, tt_mul(g, trigamma(x)))
JVP1(sinh, tt_mul(g, build1(OP_COSH, x)))
JVP1(cosh, tt_mul(g, build1(OP_SINH, x)))
JVP1(asin, tt_mul(g, tt_rsqrt(tt_sub(1, tt_mul(x, x)))))
JVP1(acos, tt_neg(tt_mul(g, tt_rsqrt(tt_sub(1, tt_mul(x, x))))))
JVP1(atan, tt_div(g, tt_add(1, tt_mul(x, x))))
JVP1(asinh, tt_mul(g, tt_rsqrt(tt_add(tt_mul(x, x), 1))))
JVP1(acosh, tt_mul(g, tt_rsqrt(tt_mul(tt_sub(x, 1), tt_add(x, 1)))))
JVP1(atanh, tt_div(g, tt_mul(tt_sub(1, x), tt_add(1, x))))

JVP2(add, g, g)
JVP2(sub, g, tt_neg(g))
JVP2(mul, tt_mul(g, b), tt_mul(a, g))
JVP2(div, tt_div(g, b), tt_neg(tt_mul(g, tt_div(y, b))))
JVP2(atan2, tt_mul(g, tt_div(b, tt_add(tt_mul(a, a), tt_mul(b, b)))),
     tt_neg(tt_mul(g, tt_div(a, tt_add(tt_mul(a, a), tt_mul(b, b))))))

/* a - b trunc(a / b) */
static tt truncated(tt x)
{
    return tt_mul(tt_sign(x), tt_floor(tt_abs(x)));
}
JVP2(rem, g, tt_neg(tt_mul(g, truncated(tt_div(a, b)))))

/* Where both are the answer, each gets half. */
static tt share(tt mine, tt answer, tt other)
{
    tt won = build_convert(build_compare(EQ, mine, answer), type_at(mine).element);
    tt tie = build_convert(build_compare(EQ, other, answer), type_at(mine).element);
    return tt_div(won, tt_add(1, tie));
}
JVP2(max, tt_mul(g, share(a, y, b)), tt_mul(g, share(b, y, a)))
JVP2(min, tt_mul(g, share(a, y, b)), tt_mul(g, share(b, y, a)))

/* Without 0 * inf where b is 0, and without log 0 where a is. */
static tt pow_by_base(tt a, tt b)
{
    tt is_zero = tt_equal(b, 0);
    tt slope = tt_mul(b, tt_pow(a, tt_where(is_zero, 1, tt_sub(b, 1))));
    return tt_where(is_zero, 0, slope);
}
static tt pow_by_exponent(tt a, tt b, tt y)
{
    (void)b;
    tt is_zero = tt_equal(a, 0);
    return tt_where(is_zero, 0, tt_mul(tt_log(tt_where(is_zero, 1, a)), y));
}
JVP2(pow, tt_mul(g, pow_by_base(a, b)), tt_mul(g, pow_by_exponent(a, b, y)))

/* Of a complex number: the part of g along x. */
static tt abs_complex(tt g, tt x, tt y)
{
    Type real = type_at(y);
    tt xr = build_op(OP_REAL, 1, &x, NULL, real), xi = build_op(OP_IMAG, 1, &x, NULL, real);
    tt gr = build_op(OP_REAL, 1, &g, NULL, real), gi = build_op(OP_IMAG, 1, &g, NULL, real);
    tt safe = tt_where(tt_equal(y, 0), 1, y);
    return tt_add(tt_mul(gr, tt_div(xr, safe)), tt_mul(gi, tt_div(xi, safe)));
}

void jvp_abs(const Jvp *j)
{
    tt g = j->dx[0], x = j->x[0];
    Type t = type_at(x);
    bool is_complex = element_info[t.element].kind == COMPLEX;
    j->dy[0] = is_complex ? abs_complex(g, x, j->y[0])
                          : build_select(build_compare(GE, x, build_zeros(t)), g, tt_neg(g));
}

void jvp_convert(const Jvp *j)
{
    Type to = type_at(j->y[0]);
    if (has_tangent(to))
        j->dy[0] = build_convert(j->dx[0], to.element);
}

void jvp_select(const Jvp *j)
{
    Type t = type_at(j->y[0]);
    j->dy[0] = NO_VALUE;
    if (is_value(j->dx[1]) || is_value(j->dx[2]))
        j->dy[0] = build_select(j->x[0], value_or_zeros(j->dx[1], t), value_or_zeros(j->dx[2], t));
}

/* A bound may be one number for all. */
static tt spread(tt x, Type to)
{
    return type_at(x).rank == to.rank ? x : build_broadcast(x, to, (Ints){ 0 });
}

void jvp_clamp(const Jvp *j)
{
    Type t = type_at(j->y[0]);
    tt low = spread(j->x[0], t), x = j->x[1], high = spread(j->x[2], t), zero = build_zeros(t);
    tt sum = NO_VALUE;
    if (is_value(j->dx[1])) {
        tt inside = build_op(OP_AND, 2,
                             (const tt[]){ build_compare(GT, x, low), build_compare(LT, x, high) },
                             NULL, type_with(t, I1));
        sum = build_select(inside, j->dx[1], zero);
    }
    if (is_value(j->dx[0]))
        sum = build_sum(sum, build_select(build_compare(LE, x, low), spread(j->dx[0], t), zero));
    if (is_value(j->dx[2]))
        sum = build_sum(sum, build_select(build_compare(GE, x, high), spread(j->dx[2], t), zero));
    j->dy[0] = sum;
}

/* ---- backwards ---- */

void transpose_neg(const Transpose *t)
{
    t->out[0] = build1(OP_NEG, t->ct[0]);
}

void transpose_add(const Transpose *t)
{
    t->out[0] = t->out[1] = t->ct[0];
}

void transpose_sub(const Transpose *t)
{
    t->out[0] = t->ct[0];
    if (t->linear[1])
        t->out[1] = build1(OP_NEG, t->ct[0]);
}

void transpose_mul(const Transpose *t)
{
    int linear = t->linear[0] ? 0 : 1;
    t->out[linear] = build2(OP_MUL, t->ct[0], t->x[1 - linear]);
}

void transpose_div(const Transpose *t)
{
    t->out[0] = build2(OP_DIV, t->ct[0], t->x[1]);
}

void transpose_convert(const Transpose *t)
{
    tt ct = t->ct[0];
    Type from = type_at(ct);
    bool to_real = element_info[from.element].kind == COMPLEX &&
                   element_info[t->types[0].element].kind != COMPLEX;
    if (to_real)
        ct = build_op(OP_REAL, 1, &ct, NULL, type_with(from, element_part(from.element)));
    t->out[0] = build_convert(ct, t->types[0].element);
}

void transpose_reduce_precision(const Transpose *t)
{
    t->out[0] = build_op(t->op, 1, t->ct, t->attrs, t->types[0]);
}

/* Products of cotangent and tangent are taken without conjugation, as in JAX. */
void transpose_real(const Transpose *t)
{
    t->out[0] = build_op(OP_COMPLEX, 2, (const tt[]){ t->ct[0], build_zeros(t->results[0]) }, NULL,
                         t->types[0]);
}

void transpose_imag(const Transpose *t)
{
    t->out[0] = build_op(OP_COMPLEX, 2,
                         (const tt[]){ build_zeros(t->results[0]), build1(OP_NEG, t->ct[0]) }, NULL,
                         t->types[0]);
}

void transpose_complex(const Transpose *t)
{
    t->out[0] = build_op(OP_REAL, 1, t->ct, NULL, t->types[0]);
    t->out[1] = build1(OP_NEG, build_op(OP_IMAG, 1, t->ct, NULL, t->types[1]));
}

void transpose_select(const Transpose *t)
{
    tt zero = build_zeros(t->results[0]);
    if (t->linear[1])
        t->out[1] = build_select(t->x[0], t->ct[0], zero);
    if (t->linear[2])
        t->out[2] = build_select(t->x[0], zero, t->ct[0]);
}

/* ---- batches ---- */

void batch_elementwise(const Batch *b)
{
    tt in[3];
    for (int i = 0; i < b->nin; i++)
        in[i] = batch_operand(b, i);
    b->y[0] = build_op(b->op, b->nin, in, b->attrs, batch_result_type(b, 0));
}

/* Operand i in the shape of result 0 with its batch axis, even if it is one number for all. */
static tt batched_full(const Batch *b, int i)
{
    Type to = type_insert(type_with(b->results[0], b->types[i].element), 0, b->size);
    if (b->types[i].rank == b->results[0].rank)
        return batch_operand(b, i);
    return build_broadcast(b->x[i], to, b->mapped[i] ? ints_range(0, 1) : (Ints){ 0 });
}

void batch_select(const Batch *b)
{
    bool is_one = b->types[0].rank == 0 && !b->mapped[0];
    tt condition = is_one ? b->x[0] : batched_full(b, 0);
    b->y[0] = build_select(condition, batch_operand(b, 1), batch_operand(b, 2));
}

void batch_clamp(const Batch *b)
{
    tt in[3];
    for (int i = 0; i < 3; i++) {
        bool is_one = i != 1 && b->types[i].rank == 0 && !b->mapped[i];
        in[i] = is_one ? b->x[i] : batched_full(b, i);
    }
    /* Both bounds are numbers, or neither is. */
    if (type_at(in[0]).rank != type_at(in[2]).rank)
        for (int i = 0; i < 3; i += 2)
            in[i] = batched_full(b, i);
    b->y[0] = build_op(OP_CLAMP, 3, in, NULL, batch_result_type(b, 0));
}
