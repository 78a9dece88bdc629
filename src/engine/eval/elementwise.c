/* elementwise.c - operations that work element by element, one line each.
 *
 * A line says what the operation is for integers (x and y are int64_t, t describes the element
 * type), for floats (double) and for complex numbers (Complex), in one formula each; the result
 * is wrapped or rounded to the element type afterwards.  The macro's name says which of the
 * three there are: INTEGERS, FLOATS, REALS (integers and floats), FLOATING (floats and complex),
 * ALL.  The formula of an operation with one operand does not use y.
 *
 *     FLOATS(lgamma, lgamma(x))      is the whole of adding lgamma here */
#include "engine/eval/math.h"
#include "engine/eval/rules.h"
#include "engine/special.h"
#include "engine/tensor.h"

#include <math.h>
#include <string.h>

typedef int64_t IntFormula(int64_t x, int64_t y, const ElementInfo *t);
typedef double FloatFormula(double x, double y);
typedef Complex ComplexFormula(Complex x, Complex y);

/* The element of t that result element i is made of: a scalar has one for all. */
static int64_t number_in(Tensor t, int64_t i)
{
    return t.type.rank == 0 ? 0 : i;
}

static Error *each(const Node *n, const Tensor *in, Tensor *out, IntFormula *integer,
                   FloatFormula *floating, ComplexFormula *complex)
{
    const Tensor a = in[0], b = in[n->nin > 1 ? 1 : 0];
    const ElementInfo *t = &element_info[a.type.element];
    int64_t count = type_count(out->type);
    Carrier carrier = element_carrier(a.type.element);
    if (carrier == CARRY_INT && integer)
        for (int64_t i = 0; i < count; i++)
            int_set(*out, i, integer(int_at(a, number_in(a, i)), int_at(b, number_in(b, i)), t));
    else if (carrier == CARRY_FLOAT && floating)
        for (int64_t i = 0; i < count; i++)
            float_set(*out, i,
                      floating(float_at(a, number_in(a, i)), float_at(b, number_in(b, i))));
    else if (carrier == CARRY_COMPLEX && complex)
        for (int64_t i = 0; i < count; i++)
            complex_set(*out, i,
                        complex(complex_at(a, number_in(a, i)), complex_at(b, number_in(b, i))));
    else
        return eval_refuse(n, a.type);
    return NULL;
}

#define MAYBE __attribute__((unused))
#define INTEGER(op, formula)                                                                       \
    static int64_t integer_##op(MAYBE int64_t x, MAYBE int64_t y, MAYBE const ElementInfo *t)      \
    {                                                                                              \
        return (int64_t)(formula);                                                                 \
    }
#define FLOATING_POINT(op, formula)                                                                \
    static double float_##op(MAYBE double x, MAYBE double y)                                       \
    {                                                                                              \
        return formula;                                                                            \
    }
#define COMPLEX_NUMBER(op, formula)                                                                \
    static Complex complex_##op(MAYBE Complex x, MAYBE Complex y)                                  \
    {                                                                                              \
        return formula;                                                                            \
    }
#define RULE(op, integer, floating, complex)                                                       \
    Error *eval_##op(MAYBE const Module *m, const Node *n, const Tensor *in, Tensor *out)          \
    {                                                                                              \
        return each(n, in, out, integer, floating, complex);                                       \
    }

#define INTEGERS(op, i) INTEGER(op, i) RULE(op, integer_##op, NULL, NULL)
#define FLOATS(op, f) FLOATING_POINT(op, f) RULE(op, NULL, float_##op, NULL)
#define REALS(op, i, f)                                                                            \
    INTEGER(op, i) FLOATING_POINT(op, f) RULE(op, integer_##op, float_##op, NULL)
#define FLOATING(op, f, c)                                                                         \
    FLOATING_POINT(op, f) COMPLEX_NUMBER(op, c) RULE(op, NULL, float_##op, complex_##op)
#define ALL(op, i, f, c)                                                                           \
    INTEGER(op, i)                                                                                 \
    FLOATING_POINT(op, f)                                                                          \
    COMPLEX_NUMBER(op, c) RULE(op, integer_##op, float_##op, complex_##op)

#define U(x) ((uint64_t)(x)) /* arithmetic that wraps */
#define IS_BOOL (t->kind == BOOLEAN)

ALL(neg, 0 - U(x), -x, -x)
ALL(sign, math_int_sign(x, t), math_sign(x), math_complex_sign(x))
FLOATING(exp, exp(x), cexp(x))
FLOATING(expm1, expm1(x), math_complex_expm1(x))
FLOATING(log, log(x), clog(x))
FLOATING(log1p, log1p(x), math_complex_log1p(x))
FLOATING(logistic, 1 / (1 + exp(-x)), 1 / (1 + cexp(-x)))
FLOATING(tanh, tanh(x), ctanh(x))
FLOATING(sin, sin(x), csin(x))
FLOATING(cos, cos(x), ccos(x))
FLOATING(tan, tan(x), math_complex_tan(x))
FLOATING(sqrt, sqrt(x), csqrt(x))
FLOATING(rsqrt, 1 / sqrt(x), math_complex_rsqrt(x))
ALL(square, U(x) * U(x), (x * x), (x * x))
FLOATING(cbrt, cbrt(x), math_complex_pow(x, 1.0 / 3))
FLOATING(sinh, sinh(x), csinh(x))
FLOATING(asin, asin(x), casin(x))
FLOATING(acos, acos(x), cacos(x))
FLOATING(atan, atan(x), catan(x))
FLOATING(asinh, asinh(x), casinh(x))
FLOATING(acosh, acosh(x), cacosh(x))
FLOATING(atanh, atanh(x), catanh(x))
FLOATS(erf, erf(x))
FLOATS(erfc, erfc(x))
FLOATS(erf_inv, special_erf_inv(x))
FLOATS(lgamma, special_lgamma(x))
FLOATS(digamma, special_digamma(x))
FLOATS(bessel_i1e, special_bessel_i1e(x))
FLOATS(floor, floor(x))
FLOATS(ceil, ceil(x))
FLOATS(round_even, nearbyint(x))
FLOATS(round_away, round(x))
INTEGERS(not, ~x)
INTEGERS(popcnt, __builtin_popcountll(math_mask(x, t)))
INTEGERS(clz, math_leading_zeros(x, t))

ALL(add, IS_BOOL ? U(x | y) : U(x) + U(y), x + y, x + y)
ALL(sub, U(x) - U(y), x - y, x - y)
ALL(mul, U(x) * U(y), (x * y), (x * y))
ALL(div, math_int_div(x, y, t), x / y, x / y)
REALS(rem, math_int_rem(x, y, t), fmod(x, y))
ALL(max, math_int_less(x, y, t) ? y : x, math_max(x, y), math_complex_less(x, y) ? y : x)
ALL(min, math_int_less(x, y, t) ? x : y, -math_max(-x, -y), math_complex_less(x, y) ? x : y)
ALL(pow, math_int_pow(x, y, t), pow(x, y), math_complex_pow(x, y))
FLOATING(atan2, atan2(x, y), math_complex_atan2(x, y))
INTEGERS(and, (x & y))
INTEGERS(or, x | y)
INTEGERS(xor, x ^ y)
INTEGERS(shl, U(y) < (uint64_t)t->bits ? U(x) << y : 0)
INTEGERS(shr_logical, U(y) < (uint64_t)t->bits ? math_mask(x, t) >> y : 0)
INTEGERS(shr_arithmetic, math_shift_signed(x, y, t))

FLOATING_POINT(cosh, cosh(x))
COMPLEX_NUMBER(cosh, ccosh(x))

/* XLA's e^(|x| - log 2) + e^(-|x| - log 2), step by step, since users see its rounding.  What is
 * lost in the first difference is magnified: more than one number_in of it is put back. */
static double float_cosh_f32(double x, MAYBE double unused)
{
    const float log2 = (float)M_LN2, most = 0x1p-23f;
    float size = fabsf((float)x), rest = size - log2, lost = (size - rest) - log2;
    float back = fmaxf(lost - most, 0) + fminf(lost + most, 0); /* of inf: 0 */
    double up = (float)exp(rest), down = (float)exp(-size - log2);
    return isinf(up) ? up : up + up * back + down;
}

Error *eval_cosh(MAYBE const Module *m, const Node *n, const Tensor *in, Tensor *out)
{
    bool is_f32 = in->type.element == F32;
    return each(n, in, out, NULL, is_f32 ? float_cosh_f32 : float_cosh, complex_cosh);
}

/* From complex to its parts, and back. */

Error *eval_abs(MAYBE const Module *m, const Node *n, const Tensor *in, Tensor *out)
{
    const Tensor a = in[0];
    int64_t count = type_count(out->type);
    switch (element_carrier(a.type.element)) {
    case CARRY_INT:
        for (int64_t i = 0; i < count; i++) {
            int64_t x = int_at(a, i);
            int_set(*out, i, x < 0 ? (int64_t)(0 - U(x)) : x);
        }
        return NULL;
    case CARRY_FLOAT:
        for (int64_t i = 0; i < count; i++)
            float_set(*out, i, fabs(float_at(a, i)));
        return NULL;
    case CARRY_COMPLEX:
        for (int64_t i = 0; i < count; i++)
            float_set(*out, i, cabs(complex_at(a, i)));
        return NULL;
    default: return eval_refuse(n, a.type);
    }
}

static Error *take_part(const Node *n, Tensor in, Tensor out, bool is_real)
{
    Carrier carrier = element_carrier(in.type.element);
    if (carrier != CARRY_FLOAT && carrier != CARRY_COMPLEX)
        return eval_refuse(n, in.type);
    int64_t count = type_count(out.type);
    for (int64_t i = 0; i < count; i++) {
        Complex x = carrier == CARRY_FLOAT ? CMPLX(float_at(in, i), 0) : complex_at(in, i);
        float_set(out, i, is_real ? creal(x) : cimag(x));
    }
    return NULL;
}

Error *eval_real(MAYBE const Module *m, const Node *n, const Tensor *in, Tensor *out)
{
    return take_part(n, in[0], out[0], true);
}

Error *eval_imag(MAYBE const Module *m, const Node *n, const Tensor *in, Tensor *out)
{
    return take_part(n, in[0], out[0], false);
}

Error *eval_complex(MAYBE const Module *m, const Node *n, const Tensor *in, Tensor *out)
{
    if (element_carrier(in[0].type.element) != CARRY_FLOAT)
        return eval_refuse(n, in[0].type);
    int64_t count = type_count(out->type);
    for (int64_t i = 0; i < count; i++)
        complex_set(*out, i, CMPLX(float_at(in[0], i), float_at(in[1], i)));
    return NULL;
}

Error *eval_is_finite(MAYBE const Module *m, const Node *n, const Tensor *in, Tensor *out)
{
    if (element_carrier(in[0].type.element) != CARRY_FLOAT)
        return eval_refuse(n, in[0].type);
    int64_t count = type_count(out->type);
    for (int64_t i = 0; i < count; i++)
        int_set(*out, i, isfinite(float_at(in[0], i)) != 0);
    return NULL;
}

/* From one element type to another. */

Error *eval_convert(MAYBE const Module *m, const Node *n, const Tensor *in, Tensor *out)
{
    if (element_carrier(in->type.element) == CARRY_NOTHING ||
        element_carrier(out->type.element) == CARRY_NOTHING)
        return eval_refuse(n, in->type);
    int64_t count = type_count(out->type);
    for (int64_t i = 0; i < count; i++)
        convert_element(*out, i, *in, i);
    return NULL;
}

/* One step from x towards y, in the element type. */
Error *eval_next_after(MAYBE const Module *m, const Node *n, const Tensor *in, Tensor *out)
{
    Type type = in->type;
    if (element_carrier(type.element) != CARRY_FLOAT ||
        float_formats[type.element].special != FORMAT_IEEE)
        return eval_refuse(n, type);
    uint64_t sign = UINT64_C(1) << (element_info[type.element].bits - 1);
    int64_t count = type_count(out->type);
    for (int64_t i = 0; i < count; i++) {
        double x = float_at(in[0], i), y = float_at(in[1], i);
        if (isnan(x) || isnan(y))
            float_set(*out, i, NAN);
        else if (x == y)
            element_copy(*out, i, in[1], i);
        else if (x == 0)
            bits_set(*out, i, y < 0 ? sign | 1 : 1);
        else /* away from zero the bits count up */
            bits_set(*out, i, bits_at(in[0], i) + ((x < y) == (x > 0) ? 1 : U(-1)));
    }
    return NULL;
}

/* Rounds as if to a narrower float: numbers too small for it become zero, too large infinite. */
Error *eval_reduce_precision(MAYBE const Module *m, const Node *n, const Tensor *in, Tensor *out)
{
    const ReducePrecisionAttrs *a = n->attrs;
    if (element_carrier(in->type.element) != CARRY_FLOAT)
        return eval_refuse(n, in->type);
    const FloatFormat *f = &float_formats[in->type.element];
    int64_t count = type_count(out->type);
    for (int64_t i = 0; i < count; i++)
        float_set(*out, i,
                  math_reduce_precision(float_at(*in, i), f, (int)a->exponent_bits,
                                        (int)a->mantissa_bits));
    return NULL;
}

/* Choosing. */

/* -1, 0, 1, or 2: x and y are not ordered. */
static int order(Tensor a, Tensor b, int64_t i, bool is_total)
{
    Element e = a.type.element;
    if (element_carrier(e) == CARRY_INT) {
        int64_t x = int_at(a, i), y = int_at(b, i);
        return math_int_less(x, y, &element_info[e]) ? -1 : x != y;
    }
    if (element_carrier(e) == CARRY_COMPLEX)
        return complex_at(a, i) == complex_at(b, i) ? 0 : 2;
    if (is_total) {
        int64_t x = float_rank(a, i), y = float_rank(b, i);
        return x < y ? -1 : x > y;
    }
    double x = float_at(a, i), y = float_at(b, i);
    return isnan(x) || isnan(y) ? 2 : x < y ? -1 : x > y;
}

Error *eval_compare(MAYBE const Module *m, const Node *n, const Tensor *in, Tensor *out)
{
    const CompareAttrs *a = n->attrs;
    if (element_carrier(in->type.element) == CARRY_NOTHING)
        return eval_refuse(n, in->type);
    bool is_total = a->compare_type == COMPARE_TOTALORDER;
    int64_t count = type_count(out->type);
    for (int64_t i = 0; i < count; i++) {
        int o = order(in[0], in[1], i, is_total);
        bool holds = false;
        switch (a->comparison_direction) {
        case EQ: holds = o == 0; break;
        case NE: holds = o != 0; break;
        case GE: holds = o == 0 || o == 1; break;
        case GT: holds = o == 1; break;
        case LE: holds = o == 0 || o == -1; break;
        case LT: holds = o == -1; break;
        }
        int_set(*out, i, holds);
    }
    return NULL;
}

Error *eval_select(MAYBE const Module *m, MAYBE const Node *n, const Tensor *in, Tensor *out)
{
    int64_t count = type_count(out->type);
    for (int64_t i = 0; i < count; i++)
        element_copy(*out, i, in[int_at(in[0], number_in(in[0], i)) ? 1 : 2], i);
    return NULL;
}

/* min(max(x, low), high), by the rules of those. */
Error *eval_clamp(const Module *m, const Node *n, const Tensor *in, Tensor *out)
{
    Node two = *n; /* each() counts the operands of the node it is given */
    two.nin = 2;
    TRY(eval_max(m, &two, (Tensor[]){ in[1], in[0] }, out));
    return eval_min(m, &two, (Tensor[]){ *out, in[2] }, out);
}
