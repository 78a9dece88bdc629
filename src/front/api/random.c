/* random.c - JAX's random numbers: Threefry-2x32 on counters, bit for bit.
 *
 *     key u32[2] = { k0, k1 }
 *
 *     element i of an array:   (hi, lo) = threefry(key, 0, i)        a block of two words
 *       bits, 32 wide          hi ^ lo
 *       bits, 64 wide          hi << 32 | lo
 *       uniform in [0, 1)      the top bits as the fraction of a number in [1, 2), minus 1
 *       normal                 sqrt 2 * erf_inv(uniform in (-1, 1))
 *     key i of a split:        (hi, lo)
 *     a key folded with n:     threefry(key, 0, n)
 *
 * Everything is made of operations, so it works under every transformation, and a key may be
 * mapped like any other array. */
#include "front/api/random.h"

#include "front/run/call.h"
#include "front/transform/build.h"
#include "front/value/library.h"
#include "front/value/report.h"

#include <math.h>
#include <string.h>

/* ---- the inverse of the error function ----
 *
 * M. Giles, "Approximating the erfinv function": with w = -log(1 - x^2), erf_inv(x) / x is a
 * polynomial in w for small w and in sqrt w beyond, with other coefficients.  JAX hands the same
 * formula to its backends, operation by operation, so normal random numbers are its numbers. */

#define COUNT(list) ((int)(sizeof(list) / sizeof *(list)))

/* Highest power first. */
static const double single_near[] = {
    2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087,
    -0.00125372503, -0.00417768164, 0.246640727,    1.50140941,
};
static const double single_far[] = {
    -0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773,
    -0.0076224613,   0.00943887047,  1.00167406,    2.83297682,
};
static const double double_near[] = {
    -3.6444120640178196996e-21, -1.685059138182016589e-19,  1.2858480715256400167e-18,
    1.115787767802518096e-17,   -1.333171662854620906e-16,  2.0972767875968561637e-17,
    6.6376381343583238325e-15,  -4.0545662729752068639e-14, -8.1519341976054721522e-14,
    2.6335093153082322977e-12,  -1.2975133253453532498e-11, -5.4154120542946279317e-11,
    1.051212273321532285e-09,   -4.1126339803469836976e-09, -2.9070369957882005086e-08,
    4.2347877827932403518e-07,  -1.3654692000834678645e-06, -1.3882523362786468719e-05,
    0.0001867342080340571352,   -0.00074070253416626697512, -0.0060336708714301490533,
    0.24015818242558961693,     1.6536545626831027356,
};
static const double double_middle[] = {
    2.2137376921775787049e-09, 9.0756561938885390979e-08, -2.7517406297064545428e-07,
    1.8239629214389227755e-08, 1.5027403968909827627e-06, -4.013867526981545969e-06,
    2.9234449089955446044e-06, 1.2475304481671778723e-05, -4.7318229009055733981e-05,
    6.8284851459573175448e-05, 2.4031110387097893999e-05, -0.0003550375203628474796,
    0.00095328937973738049703, -0.0016882755560235047313, 0.0024914420961078508066,
    -0.0037512085075692412107, 0.005370914553590063617,   1.0052589676941592334,
    3.0838856104922207635,
};
static const double double_far[] = {
    -2.7109920616438573243e-11, -2.5556418169965252055e-10, 1.5076572693500548083e-09,
    -3.7894654401267369937e-09, 7.6157012080783393804e-09,  -1.4960026627149240478e-08,
    2.9147953450901080826e-08,  -6.7711997758452339498e-08, 2.2900482228026654717e-07,
    -9.9298272942317002539e-07, 4.5260625972231537039e-06,  -1.9681778105531670567e-05,
    7.5995277030017761139e-05,  -0.00021503011930044477347, -0.00013871931833623122026,
    1.0103004648645343977,      4.8499064014085844221,
};

static tt less(tt w, double bound)
{
    return build_compare(LT, w, build_number(type_at(w), bound));
}

static tt minus(tt x, double by)
{
    return build2(OP_SUB, x, build_number(type_at(x), by));
}

static tt single(tt w)
{
    Type t = type_at(w);
    tt near = less(w, 5), at = build_select(near, minus(w, 2.5), minus(build1(OP_SQRT, w), 3));
    tt p = NO_VALUE;
    for (int i = 0; i < COUNT(single_near); i++) {
        tt c = build_select(near, build_number(t, single_near[i]), build_number(t, single_far[i]));
        p = i ? build2(OP_ADD, c, build2(OP_MUL, p, at)) : c;
    }
    return p;
}

static tt polynomial(tt w, int n, const double *coefficients)
{
    Type t = type_at(w);
    tt p = build_number(t, coefficients[0]);
    for (int i = 1; i < n; i++)
        p = build2(OP_ADD, build_number(t, coefficients[i]), build2(OP_MUL, p, w));
    return p;
}

static tt full(tt w)
{
    tt root = build1(OP_SQRT, w);
    tt near = polynomial(minus(w, 3.125), COUNT(double_near), double_near);
    tt middle = polynomial(minus(root, 3.25), COUNT(double_middle), double_middle);
    tt far = polynomial(minus(root, 5), COUNT(double_far), double_far);
    return build_select(less(w, 6.25), near, build_select(less(w, 16), middle, far));
}

/* Of floats, recorded in the innermost frame. */
static tt erf_inv(tt x)
{
    Type t = type_at(x);
    if (t.element != F32 && t.element != F64)
        return build_convert(erf_inv(build_convert(x, F32)), t.element);
    tt w = build1(OP_NEG, build1(OP_LOG1P, build2(OP_MUL, x, build1(OP_NEG, x))));
    tt y = build2(OP_MUL, t.element == F64 ? full(w) : single(w), x);
    tt at_end = build_compare(EQ, build1(OP_ABS, x), build_number(t, 1));
    return build_select(at_end, build2(OP_MUL, x, build_number(t, INFINITY)), y);
}

/* ---- the block function ---- */

static tt word(Type t, uint32_t x)
{
    return trace_constant((Dense){ t, true, &x });
}

static tt rotate(tt x, Type t, unsigned by)
{
    tt left = build2(OP_SHL, x, word(t, by)), right = build2(OP_SHR_LOGICAL, x, word(t, 32 - by));
    return build2(OP_OR, left, right);
}

/* Salmon and others, "Parallel random numbers: as easy as 1, 2, 3": 20 rounds, and a part of the
 * key after every four. */
static Pair threefry(Pair key, Pair x)
{
    static const unsigned rotations[2][4] = { { 13, 15, 26, 6 }, { 17, 29, 16, 24 } };
    Type t = type_at(x.a);
    tt third = build2(OP_XOR, build2(OP_XOR, key.a, key.b), word(t, 0x1BD11BDA));
    tt keys[3] = { key.a, key.b, third };
    x.a = build2(OP_ADD, x.a, keys[0]);
    x.b = build2(OP_ADD, x.b, keys[1]);
    for (unsigned i = 0; i < 5; i++) {
        for (int k = 0; k < 4; k++) {
            x.a = build2(OP_ADD, x.a, x.b);
            x.b = build2(OP_XOR, rotate(x.b, t, rotations[i % 2][k]), x.a);
        }
        x.a = build2(OP_ADD, x.a, keys[(i + 1) % 3]);
        x.b = build2(OP_ADD, build2(OP_ADD, x.b, keys[(i + 2) % 3]), word(t, i + 1));
    }
    return x;
}

/* Word i of a key, as often as t has elements. */
static tt key_word(tt key, int64_t i, Type t)
{
    tt one = build_slice(key, ints_of(1, &i), ints_of(1, &(int64_t){ i + 1 }),
                         ints_of(1, &(int64_t){ 1 }));
    return build_broadcast(build_reshape(one, type_scalar(U32)), t, (Ints){ 0 });
}

static Pair key_pair(tt key, Type t)
{
    return (Pair){ key_word(key, 0, t), key_word(key, 1, t) };
}

/* The blocks of counters 0 to n - 1. */
static Pair blocks(tt key, int64_t n)
{
    Type t = type_new(trace_arena(), U32, 1, &n);
    return threefry(key_pair(key, t), (Pair){ word(t, 0), build_iota(t, 0) });
}

/* ---- checks ---- */

typedef struct Wanted {
    Element element;
    int rank;
    int64_t dims[TT_MAX_RANK];
} Wanted; /* zeroed where unused: its bytes are part of a program's key */

static bool is_key(const char *who, tt key)
{
    Shape s;
    if (!value_shape(key, who, &s))
        return false;
    if (s.element == U32 && s.rank == 1 && s.dims[0] == 2)
        return true;
    report_broken(
        "%s: a key is u32[2], as tt_key gives it, not %s%s", who, type_text(shape_type(&s)),
        s.element == U32 && s.rank == 2 ? ": take one by tt_index, or map over them" : "");
    return false;
}

static bool make_wanted(const char *who, tt_dtype type, const tt_dims *shape, Wanted *out)
{
    memset(out, 0, sizeof *out);
    out->element = element_of(type);
    out->rank = shape->n;
    int64_t n = 1;
    for (int i = 0; i < shape->n; i++) {
        out->dims[i] = shape->v[i];
        if (shape->v[i] < 0 || (n && shape->v[i] > UINT32_MAX / n)) {
            report_broken("%s: an array has from 0 to 2^32 - 1 elements", who);
            return false;
        }
        n *= shape->v[i];
    }
    return true;
}

static Type wanted_type(const Wanted *w)
{
    return type_new(trace_arena(), w->element, w->rank, w->dims);
}

/* ---- bodies ---- */

/* So many random bits of every block, in a word of that many. */
static tt bits_of(Pair block, int width)
{
    static const Element words[] = { [1] = U8, [2] = U16, [4] = U32, [8] = U64 };
    if (width != 64)
        return build_convert(build2(OP_XOR, block.a, block.b), words[width / 8]);
    tt high = build_convert(block.a, U64);
    Type t = type_at(high);
    return build2(OP_OR, build2(OP_SHL, high, build_number(t, 32)), build_convert(block.b, U64));
}

static tt bits(tt key, Type shape, int width)
{
    return build_reshape(bits_of(blocks(key, type_count(shape)), width), shape);
}

static void bits_body(const tt *in, tt *out, const void *config)
{
    Type t = wanted_type(config);
    *out = bits(in[0], t, element_info[t.element].bits);
}

/* How many bits of a float are its fraction. */
static int fraction_bits(Element e)
{
    return e == F64 ? 52 : e == F32 ? 23 : e == F16 ? 10 : 7;
}

/* How many random bits a float of that type takes. */
static int drawn_bits(Element e)
{
    return fraction_bits(e) < 8 ? 8 : element_info[e].bits;
}

/* In [0, 1): sign 0, the exponent of 1, and random bits as fraction; minus 1. */
static tt uniform_of(tt bits_drawn, Type t)
{
    int width = element_info[t.element].bits;
    Element words = width == 64 ? U64 : width == 32 ? U32 : U16;
    Type as_bits = type_with(t, words);
    tt x = build_convert(bits_drawn, words);
    x = build2(OP_SHR_LOGICAL, x,
               build_number(as_bits, drawn_bits(t.element) - fraction_bits(t.element)));
    tt one = build_number(t, 1);
    x = build2(OP_OR, x, build_op(OP_BITCAST, 1, &one, NULL, as_bits));
    return build2(OP_SUB, build_op(OP_BITCAST, 1, &x, NULL, t), one);
}

static tt uniform(tt key, Type t)
{
    return uniform_of(bits(key, t, drawn_bits(t.element)), t);
}

static void uniform_body(const tt *in, tt *out, const void *config)
{
    *out = uniform(in[0], wanted_type(config));
}

/* Just above -1, so that erf_inv is finite. */
static double lowest(Element e)
{
    return -1 + ldexp(1, -fraction_bits(e) - 1);
}

static tt normal_of(tt u)
{
    Type t = type_at(u);
    tt low = build_number(t, lowest(t.element)), high = build_number(t, 1);
    u = build2(OP_MUL, u, build2(OP_SUB, high, low));
    u = build2(OP_MAX, low, build2(OP_ADD, u, low));
    return build2(OP_MUL, build_number(t, M_SQRT2), erf_inv(u));
}

static void normal_body(const tt *in, tt *out, const void *config)
{
    *out = normal_of(uniform(in[0], wanted_type(config)));
}

/* ---- many keys at once ---- */

Pair split_key(tt key, int64_t n)
{
    return blocks(key, n);
}

Pair split_each(Pair keys, uint32_t i)
{
    Type t = type_at(keys.a);
    return threefry(keys, (Pair){ word(t, 0), word(t, i) });
}

tt uniform_each(Pair keys, Element e)
{
    Type t = type_with(type_at(keys.a), e);
    return uniform_of(bits_of(split_each(keys, 0), drawn_bits(e)), t);
}

tt normal_each(Pair keys, Element e)
{
    return normal_of(uniform_each(keys, e));
}

Pair choose_each(tt condition, Pair yes, Pair no)
{
    return (Pair){ build_select(condition, yes.a, no.a), build_select(condition, yes.b, no.b) };
}

static tt key_of_words(tt a, tt b)
{
    Type one = type_insert(type_at(a), type_at(a).rank, 1);
    tt parts[] = { build_reshape(a, one), build_reshape(b, one) };
    return build_concatenate(2, parts, one.rank - 1);
}

static void split_body(const tt *in, tt *out, const void *config)
{
    int64_t n;
    memcpy(&n, config, sizeof n);
    Pair block = blocks(in[0], n);
    *out = key_of_words(block.a, block.b);
}

static void next_key_body(const tt *in, tt *out, const void *config)
{
    (void)config;
    Pair block = blocks(in[0], 2);
    tt keys = key_of_words(block.a, block.b);
    for (int64_t i = 0; i < 2; i++) {
        tt row = build_slice(keys, ints_of(2, (const int64_t[]){ i, 0 }),
                             ints_of(2, (const int64_t[]){ i + 1, 2 }),
                             ints_of(2, (const int64_t[]){ 1, 1 }));
        out[i] = build_reshape(row, type_at(in[0]));
    }
}

static void fold_in_body(const tt *in, tt *out, const void *config)
{
    (void)config;
    Type t = type_scalar(U32);
    Pair folded = threefry(key_pair(in[0], t), (Pair){ word(t, 0), build_convert(in[1], U32) });
    *out = key_of_words(folded.a, folded.b);
}

/* ---- the interface ---- */

tt tt_key(uint64_t seed)
{
    PUBLIC;
    uint32_t words[2] = { (uint32_t)(seed >> 32), (uint32_t)seed };
    return tt_from(TT_U32, words, sizeof words, &(const tt_dims){ 1, { 2 } });
}

tt tt_next_key(tt *key)
{
    PUBLIC;
    tt both[2];
    if (!is_key("tt_next_key", *key) ||
        !call_eager("tt_next_key", next_key_body, NULL, 0, 1, key, 2, both))
        return NO_VALUE;
    /* *key may be of an outer scope: what it holds from here on lives as long as that. */
    tt_assign_n(key, (tt_tree){ &both[0], 1 });
    return both[1];
}

tt tt_split(tt key, int64_t n)
{
    PUBLIC;
    tt out = NO_VALUE;
    if (n < 0 || n > UINT32_MAX)
        return report_broken("tt_split: %lld keys; from 0 to 2^32 - 1 are possible", (long long)n);
    if (is_key("tt_split", key))
        call_eager("tt_split", split_body, &n, sizeof n, 1, &key, 1, &out);
    return out;
}

tt tt_fold_in(tt key, tt number)
{
    PUBLIC;
    tt in[] = { key, number }, out = NO_VALUE;
    Shape s;
    if (!is_key("tt_fold_in", key) || !value_shape(number, "tt_fold_in", &s))
        return out;
    ElementKind kind = element_info[s.element].kind;
    s.element = element_canonical(s.element, s.is_weak);
    if (s.rank || (kind != SIGNED && kind != UNSIGNED))
        return report_broken("tt_fold_in: the number is %s; it must be one integer",
                             type_text(shape_type(&s)));
    call_eager("tt_fold_in", fold_in_body, NULL, 0, 2, in, 1, &out);
    return out;
}

static tt draw(const char *who, Body *body, tt key, tt_dtype type, const tt_dims *shape,
               ElementKind kind, const char *kinds)
{
    Wanted wanted;
    tt out = NO_VALUE;
    if (!is_key(who, key) || !make_wanted(who, type, shape, &wanted))
        return out;
    if (element_info[wanted.element].kind != kind)
        return report_broken("%s: the type must be %s", who, kinds);
    call_eager(who, body, &wanted, sizeof wanted, 1, &key, 1, &out);
    return out;
}

tt tt_bits(tt key, tt_dtype type, const tt_dims *shape)
{
    PUBLIC;
    return draw("tt_bits", bits_body, key, type, shape, UNSIGNED,
                "unsigned: TT_U8, TT_U16, TT_U32 or TT_U64");
}

tt tt_uniform(tt key, tt_dtype type, const tt_dims *shape)
{
    PUBLIC;
    return draw("tt_uniform", uniform_body, key, type, shape, FLOAT, "a float");
}

tt tt_normal(tt key, tt_dtype type, const tt_dims *shape)
{
    PUBLIC;
    return draw("tt_normal", normal_body, key, type, shape, FLOAT, "a float");
}
