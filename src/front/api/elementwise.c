/* elementwise.c - public operations that work element by element.
 *
 * One operand: perhaps made a float, then the operation.  Two: met in one type and shape, then the
 * operation.  What is not an operation of StableHLO has a body of its own. */
#include "front/api/numpy.h"

#include "base/fail.h"
#include "front/value/array.h"
#include "front/value/library.h"
#include "front/value/report.h"
#include "ops/number.h"

#include <string.h>

/* Which elements an operation takes. */
enum {
    BOOLS = 1,
    INTS = 2,
    FLOATS = 4,
    COMPLEXES = 8,
    NUMBERS = INTS | FLOATS | COMPLEXES,
    ALL = 15
};

typedef struct Config {
    const char *who;
    OpId op;
    int takes;
    bool to_float; /* integers and booleans become floats first */
} Config;

static int bit_of(Element e)
{
    static const int bits[] = {
        [BOOLEAN] = 0, [SIGNED] = 1, [UNSIGNED] = 1, [FLOAT] = 2, [COMPLEX] = 3
    };
    return bits[element_info[e].kind];
}

/* Says so if one of the operands is not to be taken. */
static bool takes(const Config *c, int n, const Shape *shapes)
{
    static const char *const names[] = { "booleans", "integers", "floats", "complex numbers" };
    for (int i = 0; i < n; i++) {
        int bit = bit_of(shapes[i].element);
        if (c->takes >> bit & 1)
            continue;
        Text may = { 0 };
        for (int k = 0; k < 4; k++)
            if (c->takes >> k & 1)
                text_printf(&may, "%s%s", may.n ? " and " : "", names[k]);
        report_broken("%s: %s: it takes %s, not %s", c->who, shape_text(&shapes[i]), may.at,
                      names[bit]);
        text_free(&may);
        return false;
    }
    return true;
}

/* ---- One operand. */

static void unary_body(const tt *in, tt *out, const void *config)
{
    const Config *c = config;
    Shape shape;
    if (!shapes_of(c->who, 1, in, &shape))
        return;
    Promoted met = c->to_float ? promote_inexact(1, &shape) : promote_types(1, &shape);
    Shape taken = shape;
    taken.element = met.element;
    if (!takes(c, 1, &taken))
        return;
    tt x = as_element(in[0], met.element);
    Element real = c->op == OP_ABS ? element_part(met.element) : met.element;
    *out = as_weak(build_op(c->op, 1, &x, NULL, type_with(type_at(x), real)), met.is_weak);
}

#define UNARY(name, op, takes, to_float)                                                           \
    tt tt_##name(tt x)                                                                             \
    {                                                                                              \
        static const Config config = { "tt_" #name, op, takes, to_float };                         \
        return EAGER(config.who, unary_body, &config, x);                                          \
    }

UNARY(neg, OP_NEG, NUMBERS, false)
UNARY(abs, OP_ABS, NUMBERS, false)
UNARY(sign, OP_SIGN, NUMBERS, false)
UNARY(exp, OP_EXP, FLOATS | COMPLEXES, true)
UNARY(expm1, OP_EXPM1, FLOATS | COMPLEXES, true)
UNARY(log, OP_LOG, FLOATS | COMPLEXES, true)
UNARY(log1p, OP_LOG1P, FLOATS | COMPLEXES, true)
UNARY(tanh, OP_TANH, FLOATS | COMPLEXES, true)
UNARY(sin, OP_SIN, FLOATS | COMPLEXES, true)
UNARY(cos, OP_COS, FLOATS | COMPLEXES, true)
UNARY(tan, OP_TAN, FLOATS | COMPLEXES, true)
UNARY(sqrt, OP_SQRT, FLOATS | COMPLEXES, true)
UNARY(rsqrt, OP_RSQRT, FLOATS | COMPLEXES, true)
UNARY(sigmoid, OP_LOGISTIC, FLOATS | COMPLEXES, true)
UNARY(sinh, OP_SINH, FLOATS, true)
UNARY(cosh, OP_COSH, FLOATS, true)
UNARY(asin, OP_ASIN, FLOATS, true)
UNARY(acos, OP_ACOS, FLOATS, true)
UNARY(atan, OP_ATAN, FLOATS, true)
UNARY(asinh, OP_ASINH, FLOATS, true)
UNARY(acosh, OP_ACOSH, FLOATS, true)
UNARY(atanh, OP_ATANH, FLOATS, true)
UNARY(cbrt, OP_CBRT, FLOATS, true)
UNARY(erf, OP_ERF, FLOATS, true)
UNARY(erfc, OP_ERFC, FLOATS, true)
UNARY(erf_inv, OP_ERF_INV, FLOATS, true)
UNARY(lgamma, OP_LGAMMA, FLOATS, true)
UNARY(digamma, OP_DIGAMMA, FLOATS, true)
UNARY(not, OP_NOT, BOOLS | INTS, false)
UNARY(popcount, OP_POPCNT, INTS, false)
UNARY(count_leading_zeros, OP_CLZ, INTS, false)

/* Whole numbers are round already. */
static void round_body(const tt *in, tt *out, const void *config)
{
    const Config *c = config;
    Shape shape;
    if (!shapes_of(c->who, 1, in, &shape))
        return;
    if (element_info[shape.element].kind == FLOAT)
        unary_body(in, out, config);
    else if (takes(c, 1, &shape))
        *out = in[0];
}

#define ROUND(name, op)                                                                            \
    tt tt_##name(tt x)                                                                             \
    {                                                                                              \
        static const Config config = { "tt_" #name, op, INTS | FLOATS, false };                    \
        return EAGER(config.who, round_body, &config, x);                                          \
    }

ROUND(floor, OP_FLOOR)
ROUND(ceil, OP_CEIL)
ROUND(round, OP_ROUND_EVEN)

static void isfinite_body(const tt *in, tt *out, const void *config)
{
    (void)config;
    Type t = type_at(in[0]);
    if (element_info[t.element].kind == FLOAT)
        *out = build_op(OP_IS_FINITE, 1, in, NULL, type_with(t, I1));
    else if (element_info[t.element].kind == COMPLEX)
        report_broken("tt_isfinite: %s: it takes floats and integers", type_text(t));
    else
        *out = build_number(type_with(t, I1), 1);
}

static void square_body(const tt *in, tt *out, const void *config)
{
    (void)config;
    Shape shape;
    if (shapes_of("tt_square", 1, in, &shape))
        *out = as_weak(build2(OP_MUL, in[0], in[0]), shape.is_weak);
}

/* What is not above zero is zero, and flat there; nan stays. */
static void relu_body(const tt *in, tt *out, const void *config)
{
    (void)config;
    Shape shape;
    static const Config c = { "tt_relu", OP_MAX, INTS | FLOATS, false };
    if (!shapes_of(c.who, 1, in, &shape) || !takes(&c, 1, &shape))
        return;
    tt zero = build_zeros(type_at(in[0]));
    *out = as_weak(build_select(build_compare(LE, in[0], zero), zero, in[0]), shape.is_weak);
}

static void stop_gradient_body(const tt *in, tt *out, const void *config)
{
    (void)config;
    Shape shape;
    if (shapes_of("tt_stop_gradient", 1, in, &shape))
        *out = as_weak(build_stop_gradient(in[0]), shape.is_weak);
}

#define PLAIN(name)                                                                                \
    tt tt_##name(tt x)                                                                             \
    {                                                                                              \
        return call_eager_one("tt_" #name, name##_body, NULL, 0, 1, &x);                           \
    }

PLAIN(isfinite)
PLAIN(square)
PLAIN(relu)
PLAIN(stop_gradient)

static void named_body(const tt *in, tt *out, const void *name)
{
    Shape shape;
    if (shapes_of("tt_named", 1, in, &shape))
        *out = build_named(build_convert(in[0], element_canonical(shape.element, shape.is_weak)),
                           name);
}

tt tt_named(tt x, const char *name)
{
    PUBLIC;
    tt y = NO_VALUE;
    const char *kept = tracing ? intern_string(name) : NULL;
    if (!tracing || !name)
        return x;
    if (kept)
        record_body("tt_named", named_body, kept, &x, 1, &y);
    return y;
}

/* ---- Complex numbers. */

typedef struct PartOf {
    const char *who;
    int64_t is_imaginary;
} PartOf;

/* A part of a complex number; a real one is its own real part. */
static void part_body(const tt *in, tt *out, const void *config)
{
    const PartOf *c = config;
    Type t = type_at(in[0]);
    if (element_info[t.element].kind == COMPLEX)
        *out = build_op(c->is_imaginary ? OP_IMAG : OP_REAL, 1, in, NULL,
                        type_with(t, element_part(t.element)));
    else
        *out = c->is_imaginary ? build_zeros(t) : in[0];
}

tt tt_real(tt x)
{
    PUBLIC;
    PartOf c = { "tt_real", 0 };
    return EAGER(c.who, part_body, &c, x);
}

tt tt_imag(tt x)
{
    PUBLIC;
    PartOf c = { "tt_imag", 1 };
    return EAGER(c.who, part_body, &c, x);
}

/* Both parts in the float that they meet in: f32 makes c64, f64 c128. */
static void complex_body(const tt *in, tt *out, const void *config)
{
    const PartOf *c = config;
    Shape s[2], common;
    if (!shapes_of(c->who, 2, in, s) || !broadcast_shapes(c->who, 2, s, &common))
        return;
    Element e = promote_inexact(2, s).element == F64 ? F64 : F32;
    if (element_info[s[0].element].kind == COMPLEX || element_info[s[1].element].kind == COMPLEX) {
        report_broken("%s: %s and %s: the parts are real numbers", c->who, shape_text(&s[0]),
                      shape_text(&s[1]));
        return;
    }
    tt x[2];
    for (int i = 0; i < 2; i++)
        x[i] = as_shape(as_element(in[i], e), &common);
    *out = build_op(OP_COMPLEX, 2, x, NULL, type_with(type_at(x[0]), e == F64 ? C128 : C64));
}

tt tt_complex(tt real, tt imaginary)
{
    PUBLIC;
    PartOf c = { "tt_complex", 0 };
    return EAGER(c.who, complex_body, &c, real, imaginary);
}

static void conj_body(const tt *in, tt *out, const void *config)
{
    (void)config;
    bool is_complex = element_info[type_at(in[0]).element].kind == COMPLEX;
    *out = is_complex ? tt_complex(tt_real(in[0]), tt_neg(tt_imag(in[0]))) : in[0];
}

tt tt_conj(tt x)
{
    PUBLIC;
    return call_eager_one("tt_conj", conj_body, NULL, 0, 1, &x);
}

static void astype_body(const tt *in, tt *out, const void *config)
{
    Element to;
    memcpy(&to, config, sizeof to);
    Type t = type_at(in[0]);
    if (to == I1 && t.element != I1)
        *out = build_compare(NE, in[0], build_zeros(t));
    else
        *out = as_weak(as_element(in[0], to), false);
}

tt tt_astype(tt x, tt_dtype type)
{
    PUBLIC;
    if (!dtype_ok("tt_astype", type))
        return NO_VALUE;
    Element to = element_of(type);
    return EAGER("tt_astype", astype_body, &to, x);
}

/* The same bits as another type.  A narrower one adds an axis, of as many as there are in one; a
 * wider one takes it away. */
static void bitcast_body(const tt *in, tt *out, const void *config)
{
    Element to;
    memcpy(&to, config, sizeof to);
    Shape s;
    if (!shapes_of("tt_bitcast", 1, in, &s))
        return;
    Element from = element_canonical(s.element, s.is_weak);
    int have = element_info[from].bits, want = element_info[to].bits;
    bool is_wider = want > have && want % have == 0 && s.rank && s.dims[s.rank - 1] == want / have;
    bool is_narrower = want < have && have % want == 0 && s.rank < TT_MAX_RANK;
    bool has_bits = element_info[from].kind != BOOLEAN && element_info[to].kind != BOOLEAN &&
                    element_info[from].kind != COMPLEX && element_info[to].kind != COMPLEX;
    if (!has_bits || (want != have && !is_wider && !is_narrower)) {
        report_broken(
            "tt_bitcast: %s to elements of %d bits: numbers that are not complex, and of a wider "
            "one as many along the last axis as it holds",
            shape_text(&s), want);
        return;
    }
    tt x = as_element(in[0], from);
    Type t = type_at(x);
    t = is_wider      ? type_remove(t, t.rank - 1)
        : is_narrower ? type_insert(t, t.rank, have / want)
                      : t;
    *out = as_weak(build_op(OP_BITCAST, 1, &x, NULL, type_with(t, to)), false);
}

tt tt_bitcast(tt x, tt_dtype type)
{
    PUBLIC;
    if (!dtype_ok("tt_bitcast", type))
        return NO_VALUE;
    Element to = element_of(type);
    return EAGER("tt_bitcast", bitcast_body, &to, x);
}

/* ---- Two operands. */

/* The operands as the operation wants them.  False: reported. */
static bool two(const Config *c, const tt *in, tt *x, Promoted *met)
{
    Shape shapes[2], common;
    if (!shapes_of(c->who, 2, in, shapes) || !broadcast_shapes(c->who, 2, shapes, &common))
        return false;
    *met = c->to_float ? promote_inexact(2, shapes) : promote_types(2, shapes);
    if (!(c->takes >> bit_of(met->element) & 1)) {
        Shape both = common; /* i64 and u64, both taken, meet in a float */
        both.element = met->element;
        return takes(c, 2, shapes) && takes(c, 1, &both);
    }
    for (int i = 0; i < 2; i++)
        x[i] = as_shape(as_element(in[i], met->element), &common);
    return true;
}

static void binary_body(const tt *in, tt *out, const void *config)
{
    tt x[2];
    Promoted met;
    if (two(config, in, x, &met))
        *out = as_weak(build2(((const Config *)config)->op, x[0], x[1]), met.is_weak);
}

#define BINARY(name, op, takes, to_float)                                                          \
    tt tt_##name(tt a, tt b)                                                                       \
    {                                                                                              \
        static const Config config = { "tt_" #name, op, takes, to_float };                         \
        return EAGER(config.who, binary_body, &config, a, b);                                      \
    }

BINARY(add, OP_ADD, ALL, false)
BINARY(sub, OP_SUB, NUMBERS, false)
BINARY(mul, OP_MUL, ALL, false)
BINARY(div, OP_DIV, FLOATS | COMPLEXES, true)
BINARY(max, OP_MAX, ALL, false)
BINARY(min, OP_MIN, ALL, false)
BINARY(atan2, OP_ATAN2, FLOATS, true)
BINARY(and, OP_AND, BOOLS | INTS, false)
BINARY(or, OP_OR, BOOLS | INTS, false)
BINARY(xor, OP_XOR, BOOLS | INTS, false)
BINARY(shift_left, OP_SHL, INTS, false)
BINARY(rem, OP_REM, INTS | FLOATS, false)

/* Signed numbers keep their sign. */
static void shift_right_body(const tt *in, tt *out, const void *config)
{
    tt x[2];
    Promoted met;
    if (!two(config, in, x, &met))
        return;
    bool is_signed = element_info[met.element].kind == SIGNED;
    *out = as_weak(build2(is_signed ? OP_SHR_ARITHMETIC : OP_SHR_LOGICAL, x[0], x[1]), met.is_weak);
}

tt tt_shift_right(tt a, tt b)
{
    PUBLIC;
    static const Config config = { "tt_shift_right", OP_SHR_LOGICAL, INTS, false };
    return EAGER(config.who, shift_right_body, &config, a, b);
}

/* The remainder of a division that rounds down: its sign is the divisor's. */
static void mod_body(const tt *in, tt *out, const void *config)
{
    tt x[2];
    Promoted met;
    if (!two(config, in, x, &met))
        return;
    Type t = type_at(x[0]);
    tt zero = build_zeros(t), by = x[1];
    if (element_info[t.element].kind != FLOAT) /* by 0 it is 0, as in JAX */
        by = build_select(build_compare(EQ, by, zero), build_number(t, 1), by);
    tt rest = build2(OP_REM, x[0], by);
    tt differ = build_compare(NE, build_compare(LT, rest, zero), build_compare(LT, x[1], zero));
    tt add = build2(OP_AND, differ, build_compare(NE, rest, zero));
    *out = as_weak(build_select(add, build2(OP_ADD, rest, x[1]), rest), met.is_weak);
}

tt tt_mod(tt a, tt b)
{
    PUBLIC;
    static const Config config = { "tt_mod", OP_REM, INTS | FLOATS, false };
    return EAGER(config.who, mod_body, &config, a, b);
}

/* Rounded down; of integers an integer. */
static void floor_div_body(const tt *in, tt *out, const void *config)
{
    tt x[2];
    Promoted met;
    if (!two(config, in, x, &met))
        return;
    if (element_info[met.element].kind == FLOAT) {
        tt rest = tt_mod(x[0], x[1]);
        *out = as_weak(tt_round(build2(OP_DIV, build2(OP_SUB, x[0], rest), x[1])), met.is_weak);
        return;
    }
    Type t = type_at(x[0]);
    tt zero = build_zeros(t), quotient = build2(OP_DIV, x[0], x[1]);
    tt rest = build2(OP_REM, x[0], x[1]);
    tt differ = build_compare(NE, build_compare(LT, x[0], zero), build_compare(LT, x[1], zero));
    tt below = build2(OP_AND, differ, build_compare(NE, rest, zero));
    *out = as_weak(build_select(below, build2(OP_SUB, quotient, build_number(t, 1)), quotient),
                   met.is_weak);
}

tt tt_floor_div(tt a, tt b)
{
    PUBLIC;
    static const Config config = { "tt_floor_div", OP_DIV, INTS | FLOATS, false };
    return EAGER(config.who, floor_div_body, &config, a, b);
}

typedef struct CompareConfig {
    Config base;
    int direction;
} CompareConfig;

static void compare_body(const tt *in, tt *out, const void *config)
{
    const CompareConfig *c = config;
    tt x[2];
    Promoted met;
    if (two(&c->base, in, x, &met))
        *out = build_compare(c->direction, x[0], x[1]);
}

#define COMPARE(name, direction, takes)                                                            \
    tt tt_##name(tt a, tt b)                                                                       \
    {                                                                                              \
        static const CompareConfig config = { { "tt_" #name, OP_COMPARE, takes, false },           \
                                              direction };                                         \
        return EAGER(config.base.who, compare_body, &config, a, b);                                \
    }

COMPARE(equal, EQ, ALL)
COMPARE(not_equal, NE, ALL)
COMPARE(less, LT, BOOLS | INTS | FLOATS)
COMPARE(less_equal, LE, BOOLS | INTS | FLOATS)
COMPARE(greater, GT, BOOLS | INTS | FLOATS)
COMPARE(greater_equal, GE, BOOLS | INTS | FLOATS)

/* ---- Powers. */

/* By squaring: a whole power of a number as JAX multiplies it out. */
static void whole_power_body(const tt *in, tt *out, const void *config)
{
    int64_t power;
    memcpy(&power, config, sizeof power);
    Shape shape;
    if (!shapes_of("tt_pow", 1, in, &shape))
        return;
    tt x = in[0], product = NO_VALUE, one = build_number(type_at(x), 1);
    for (uint64_t n = power < 0 ? -(uint64_t)power : (uint64_t)power; n; n >>= 1) {
        if (n & 1)
            product = is_value(product) ? build2(OP_MUL, product, x) : x;
        if (n > 1)
            x = build2(OP_MUL, x, x);
    }
    if (!is_value(product))
        product = one;
    *out = as_weak(power < 0 ? build2(OP_DIV, one, product) : product, shape.is_weak);
}

/* Is x a whole number written in C?  Then its value. */
static bool is_whole_number(tt x, int64_t *value)
{
    Held held;
    if (!is_value(x) || !value_pin(x, "tt_pow", &held))
        return false;
    bool is = held.array && held.is_weak && held.array->has_small && held.type.element == I64;
    if (is)
        memcpy(value, held.array->small, sizeof *value);
    value_unpin(x);
    return is;
}

static void pow_body(const tt *in, tt *out, const void *config)
{
    tt x[2];
    Promoted met;
    if (two(config, in, x, &met))
        *out = as_weak(build2(OP_POW, x[0], x[1]), met.is_weak);
}

tt tt_pow(tt a, tt b)
{
    PUBLIC;
    static const Config config = { "tt_pow", OP_POW, NUMBERS, false };
    int64_t power;
    Shape base;
    if (!is_whole_number(b, &power))
        return EAGER(config.who, pow_body, &config, a, b);
    if (!value_shape(a, config.who, &base) || !takes(&config, 1, &base))
        return NO_VALUE;
    if (power < 0 && element_info[base.element].kind != FLOAT &&
        element_info[base.element].kind != COMPLEX)
        return report_broken("tt_pow: %s to the power %lld is no integer: convert it by tt_astype",
                             shape_text(&base), (long long)power);
    return EAGER(config.who, whole_power_body, &power, a);
}

/* ---- Choosing. */

static void where_body(const tt *in, tt *out, const void *config)
{
    (void)config;
    Shape shapes[3], common;
    if (!shapes_of("tt_where", 3, in, shapes) || !broadcast_shapes("tt_where", 3, shapes, &common))
        return;
    Promoted met = promote_types(2, shapes + 1);
    tt condition = in[0];
    if (shapes[0].element != I1)
        condition = build_compare(NE, condition, build_zeros(type_at(condition)));
    tt a = as_shape(as_element(in[1], met.element), &common);
    tt b = as_shape(as_element(in[2], met.element), &common);
    *out = as_weak(build_select(as_shape(condition, &common), a, b), met.is_weak);
}

tt tt_where(tt condition, tt a, tt b)
{
    PUBLIC;
    return call_eager_one("tt_where", where_body, NULL, 0, 3, (const tt[]){ condition, a, b });
}

tt tt_clip(tt x, tt low, tt high)
{
    PUBLIC;
    return tt_min(tt_max(x, low), high);
}
