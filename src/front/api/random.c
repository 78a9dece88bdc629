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

#include "front/value/entry.h"
#include "front/run/call.h"
#include "front/value/report.h"

#include <math.h>
#include <string.h>

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

typedef struct Pair {
    tt a, b;
} Pair;

/* Salmon and others, "Parallel random numbers: as easy as 1, 2, 3": 20 rounds, and a part of the
 * key after every four. */
static Pair threefry(Pair key, Pair x)
{
    static const unsigned turns[2][4] = { { 13, 15, 26, 6 }, { 17, 29, 16, 24 } };
    Type t = type_at(x.a);
    tt third = build2(OP_XOR, build2(OP_XOR, key.a, key.b), word(t, 0x1BD11BDA));
    tt keys[3] = { key.a, key.b, third };
    x.a = build2(OP_ADD, x.a, keys[0]);
    x.b = build2(OP_ADD, x.b, keys[1]);
    for (unsigned i = 0; i < 5; i++) {
        for (int k = 0; k < 4; k++) {
            x.a = build2(OP_ADD, x.a, x.b);
            x.b = build2(OP_XOR, rotate(x.b, t, turns[i % 2][k]), x.a);
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
    report_broken("%s: a key is u32[2], as tt_key gives it, not %s%s", who, type_words(shape_type(&s)),
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

/* So many random bits for every element, in a word of that many. */
static tt bits(tt key, Type shape, int width)
{
    static const Element words[] = { [1] = U8, [2] = U16, [4] = U32, [8] = U64 };
    Pair block = blocks(key, type_count(shape));
    tt x;
    if (width == 64) {
        tt high = build_convert(block.a, U64);
        Type t = type_at(high);
        x = build2(OP_OR, build2(OP_SHL, high, build_number(t, 32)), build_convert(block.b, U64));
    } else {
        x = build_convert(build2(OP_XOR, block.a, block.b), words[width / 8]);
    }
    return build_reshape(x, shape);
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

/* In [0, 1): sign 0, the exponent of 1, and random bits as fraction; minus 1. */
static tt uniform(tt key, Type t)
{
    int width = element_info[t.element].bits, fraction = fraction_bits(t.element);
    int drawn = fraction < 8 ? 8 : width;
    Element words = width == 64 ? U64 : width == 32 ? U32 : U16;
    Type as_bits = type_with(t, words);
    tt x = build_convert(bits(key, t, drawn), words);
    x = build2(OP_SHR_LOGICAL, x, build_number(as_bits, drawn - fraction));
    tt one = build_number(t, 1);
    x = build2(OP_OR, x, build(OP_BITCAST, 1, &one, NULL, as_bits));
    return build2(OP_SUB, build(OP_BITCAST, 1, &x, NULL, t), one);
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

static void normal_body(const tt *in, tt *out, const void *config)
{
    Type t = wanted_type(config);
    tt low = build_number(t, lowest(t.element)), high = build_number(t, 1);
    tt u = build2(OP_MUL, uniform(in[0], t), build2(OP_SUB, high, low));
    u = build2(OP_MAX, low, build2(OP_ADD, u, low));
    *out = build2(OP_MUL, build_number(t, M_SQRT2), erf_inv(u));
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
    s.element = element_settled(s.element, s.is_weak);
    if (s.rank || (kind != SIGNED && kind != UNSIGNED))
        return report_broken("tt_fold_in: the number is %s; it must be one integer",
                          type_words(shape_type(&s)));
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
