/* grow_map.h - random elementwise operations. */
#ifndef TUTTI_TESTS_RANDOM_GROW_MAP_H
#define TUTTI_TESTS_RANDOM_GROW_MAP_H
#include "tests/random/grow_tame.h"

static bool grow_unary(Grower *g)
{
    static const char *const floats[] = { "negate",
                                          "abs",
                                          "floor",
                                          "ceil",
                                          "sign",
                                          "round_nearest_even",
                                          "round_nearest_afz",
                                          "is_finite",
                                          "optimization_barrier" };
    static const char *const ints[] = { "negate", "not", "popcnt", "count_leading_zeros" };
    static const char *const signeds[] = { "abs", "sign", "negate", "not" };
    static const char *const complexes[] = { "negate", "real", "imag", "chlo.conj" };
    Grown x;
    if (!pick_calm(g, any_type, &x))
        return false;
    const char *op = x.type.element == I1                      ? "not"
                     : kind_of(x.type) == FLOAT                ? ONE_OF(floats)
                     : kind_of(x.type) == COMPLEX              ? ONE_OF(complexes)
                     : kind_of(x.type) == SIGNED && chance(40) ? ONE_OF(signeds)
                                                               : ONE_OF(ints);
    Type to = strcmp(op, "is_finite") == 0 ? with_element(x.type, I1)
              : strcmp(op, "real") == 0 || strcmp(op, "imag") == 0
                  ? with_element(x.type, element_part(x.type.element))
                  : x.type;
    Grown v = one_operand(g, op, x, to);
    v.is_tame = x.is_tame &&
                (strcmp(op, "abs") == 0 || strcmp(op, "floor") == 0 || strcmp(op, "sign") == 0);
    keep(g, v);
    return true;
}

static bool grow_binary(Grower *g)
{
    static const char *const bools[] = {
        "and", "or", "xor", "add", "multiply", "maximum", "minimum"
    };
    static const char *const floats[] = { "add", "subtract", "multiply", "maximum",  "minimum",
                                          "add", "subtract", "multiply", "remainder" };
    static const char *const complexes[] = { "add", "subtract", "multiply" };
    static const char *const ints[] = { "add",
                                        "subtract",
                                        "multiply",
                                        "maximum",
                                        "minimum",
                                        "and",
                                        "or",
                                        "xor",
                                        "divide",
                                        "remainder",
                                        "shift_left",
                                        "power",
                                        "shift_right_logical",
                                        "shift_right_arithmetic",
                                        "chlo.mulhi" };
    Grown x;
    if (!pick_calm(g, any_type, &x))
        return false;
    Grown y = calm(g, pick_like_but(g, x.type, x.id));
    const char *op = x.type.element == I1         ? ONE_OF(bools)
                     : is_float_type(x.type)      ? ONE_OF(floats)
                     : kind_of(x.type) == COMPLEX ? ONE_OF(complexes)
                                                  : ONE_OF(ints);
    if (strcmp(op, "multiply") == 0 || strcmp(op, "remainder") == 0) {
        x = tame(g, x);
        y = tame(g, y);
    }
    Grown v = chance(50) ? two_operands(g, op, x, y, x.type) : two_operands(g, op, y, x, x.type);
    v.is_tame =
        x.is_tame && y.is_tame && (strcmp(op, "maximum") == 0 || strcmp(op, "minimum") == 0);
    keep(g, v);
    return true;
}

static bool grow_compare(Grower *g)
{
    static const char *const directions[] = { "EQ", "NE", "LT", "LE", "GT", "GE" };
    Grown x;
    if (!pick_calm(g, any_type, &x))
        return false;
    Grown y = calm(g, pick_like_but(g, x.type, x.id)), v;
    const char *direction = directions[random_below(kind_of(x.type) == COMPLEX ? 2 : 6)];
    if (is_float_type(x.type) && chance(30)) {
        x = tame(g, x); /* a NaN has its place in that order, by a sign that is not promised */
        y = tame(g, y);
        v = new_value(g, with_element(x.type, I1));
        line(g, "%s = stablehlo.compare %s, %s, %s, TOTALORDER : (%s, %s) -> %s", ref(g, v),
             direction, ref(g, x), ref(g, y), named(g, x.type), named(g, y.type), named(g, v.type));
    } else {
        v = compared(g, direction, x, y);
    }
    keep(g, v);
    return true;
}

static bool grow_select(Grower *g)
{
    Grown x;
    if (!pick(g, any_type, &x))
        return false;
    Grown p = pick_like(g, chance(80) ? with_element(x.type, I1) : type_scalar(I1));
    keep(g, selected(g, p, x, pick_like_but(g, x.type, x.id)));
    return true;
}

static bool grow_clamp(Grower *g)
{
    Grown x;
    if (!pick_calm(g, is_real, &x))
        return false;
    Type bound = chance(50) ? x.type : type_scalar(x.type.element);
    Grown low = calm(g, pick_like(g, bound)), high = calm(g, pick_like(g, bound)),
          v = new_value(g, x.type);
    write_op(g, "clamp", 3, (Grown[]){ low, x, high }, "", 1, &v);
    keep(g, moved(v, 3, (Grown[]){ low, x, high }));
    return true;
}

static bool grow_convert(Grower *g)
{
    Grown x;
    if (!pick_calm(g, any_type, &x))
        return false;
    Element to = chance(60) ? grow_element(g) : any_element();
    if (kind_of(x.type) == COMPLEX && element_info[to].kind != COMPLEX)
        to = x.type.element == C64 ? C128 : C64;
    Grown v = one_operand(g, "convert", x, with_element(x.type, to));
    if (kind_of(v.type) == COMPLEX || (is_float_type(v.type) && is_float_type(x.type))) {
        if (!g->depth && !g->is_apart)
            keep_result(g, v, 0);
        v.is_wild = true; /* the narrower may be denormal */
        v = calm(g, v);
    }
    keep(g, v);
    return true;
}

static bool grow_reduce_precision(Grower *g)
{
    Grown x;
    if (!pick(g, is_float_type, &x) || bits_of(x.type) < 16)
        return false;
    x = tame(g, x);
    Grown v = new_value(g, x.type);
    line(g, "%s = stablehlo.reduce_precision %s, format = e%dm%d : %s", ref(g, v), ref(g, x),
         (int)between(4, 8), (int)between(0, 12), named(g, x.type));
    keep(g, v);
    return true;
}

static bool grow_complex(Grower *g)
{
    Grown x;
    if (!pick_calm(g, is_float_type, &x))
        return false;
    x = convert_to(g, x, x.type.element == F64 ? F64 : F32);
    Grown y = calm(g, pick_like_but(g, x.type, x.id));
    keep(g, two_operands(g, "complex", x, y,
                         with_element(x.type, x.type.element == F64 ? C128 : C64)));
    return true;
}

/* A function that is approximated, or rounded once but better not used further: a result. */
static bool grow_approximation(Grower *g)
{
    static const struct {
        const char *op;
        double ulps;
    } reals[] = {
        { "exponential", 4 }, { "exponential_minus_one", 4 }, { "log", 4 }, { "log_plus_one", 4 },
        { "logistic", 4 }, { "tanh", 4 }, { "sine", 4 }, { "cosine", 4 }, { "tan", 4 }, { "sqrt", 0 },
        { "rsqrt", 2 }, { "cbrt", 4 }, { "chlo.erf", 4 }, { "chlo.atan", 4 }, { "chlo.asinh", 4 },
        { "chlo.sinh", 4 }, { "chlo.cosh", 4 },
    }, complexes[] = { { "exponential", 16 }, { "sine", 16 }, { "cosine", 16 }, { "sqrt", 16 } },
      twos[] = { { "divide", 0 }, { "atan2", 4 }, { "power", 4 } };
    Grown x, v;
    double ulps;
    if (g->depth || g->is_apart || g->nresults == MOST_RESULTS || !pick(g, any_type, &x))
        return false;
    x = tame(g, x);
    if (kind_of(x.type) == COMPLEX) {
        int k = (int)random_below(4);
        v = one_operand(g, complexes[k].op, x, x.type);
        ulps = complexes[k].ulps;
    } else if (!is_float_type(x.type)) {
        return false;
    } else if (chance(25)) {
        int k = (int)random_below(3);
        v = two_operands(g, twos[k].op, x, tame(g, pick_like_but(g, x.type, x.id)), x.type);
        ulps = twos[k].ulps;
    } else {
        int k = (int)random_below(sizeof reals / sizeof *reals);
        v = one_operand(g, reals[k].op, x, x.type);
        ulps = reals[k].ulps;
    }
    keep_result(g, v, bits_of(x.type) < 32 ? fmin(ulps, 1) : ulps);
    return true;
}
#endif
