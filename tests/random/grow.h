/* grow.h - random programs: a seed in, well-typed StableHLO text out.
 *
 * The grower keeps a list of the values that may be used at the place where it writes, picks some,
 * writes an operation on them and adds its results to the list; regions of loops and branches are
 * grown the same way, with a list that ends with them.  An operation that needs an array of some
 * type asks for another argument of the program, so that it has random numbers to work on.
 *
 * Compiled code and the evaluator must agree to the last bit, or a comparison far behind would
 * turn another way.  grow_tame.h says how floats are kept to numbers for which that is so;
 * functions that are approximated (exp, sine) only make results.
 *
 *   GROW_ALONE    one device
 *   GROW_WHOLE    several devices, whole arrays with random shardings
 *   GROW_MANUAL   several devices, each running its part, with collectives */
#ifndef TUTTI_TESTS_RANDOM_GROW_H
#define TUTTI_TESTS_RANDOM_GROW_H
#include "base/arena.h"
#include "hlo/module.h"
#include "tests/ops/values.h"

typedef enum GrowMode { GROW_ALONE, GROW_WHOLE, GROW_MANUAL } GrowMode;

enum { MOST_VALUES = 512, MOST_DEPTH = 3, MOST_RESULTS = 8, MOST_ARGS = 12, MOST_DIMS = 8 };

typedef struct Grown {
    int id, part; /* %v<id>, or %v<id>#<part - 1> */
    Type type;
    bool is_tame; /* floats: known to be (grow_tame.h) */
    bool is_wild; /* floats of any bits, which only may be moved */
} Grown;

typedef struct Grower {
    Arena *arena;
    Text *out, functions; /* the body being written; functions before it */
    GrowMode mode;
    int ndevices;
    /* A program keeps to few types, so that values meet. */
    Element elements[3];
    struct {
        int rank;
        int64_t dims[MOST_DIMS];
    } shapes[3];
    int64_t most_count, most_work; /* elements of an array; steps of the evaluator, about */
    Grown values[MOST_VALUES];
    int nvalues, floor; /* values from floor on were made in the region being written */
    int next_id, depth;
    bool is_apart;     /* in a function of its own, which cannot ask for arguments */
    int counter;       /* id of the innermost loop's, the same on all devices; 0: none */
    int budget;        /* operations left to write */
    bool is_sign_open; /* of zeros: sums and extremes leave it so */
    Grown args[MOST_ARGS];
    int nargs;
    Grown results[MOST_RESULTS]; /* approximate ones: not to be used further */
    double ulps[MOST_RESULTS];   /* how far each may be off */
    int nresults;
} Grower;

typedef bool Grow(Grower *g); /* writes something; false: there is nothing to do it with */
static void grow_some(Grower *g, int noperations);

/* ---- small choices ---- */

static bool chance(int percent)
{
    return (int)random_below(100) < percent;
}

static int64_t between(int64_t low, int64_t high)
{
    return low + (int64_t)random_below((uint64_t)(high - low + 1));
}

static void shuffled(int n, int *out)
{
    for (int i = 0; i < n; i++) {
        int j = (int)between(0, i);
        out[i] = out[j];
        out[j] = i;
    }
}

/* k different ones of 0 .. n - 1, ascending or in any order. */
static void some_of(int n, int k, bool is_sorted, int64_t *out)
{
    int order[32];
    shuffled(n, order);
    for (int i = 0; i < k; i++) {
        int at = i;
        for (; is_sorted && at > 0 && out[at - 1] > order[i]; at--)
            out[at] = out[at - 1];
        out[at] = order[i];
    }
}

static bool holds(int n, const int64_t *list, int64_t x)
{
    for (int i = 0; i < n; i++)
        if (list[i] == x)
            return true;
    return false;
}

#define ONE_OF(list) ((list)[random_below(sizeof(list) / sizeof *(list))])

static int64_t grow_extent(const Grower *g)
{
    static const int64_t extents[] = { 1, 1, 2, 3, 4, 4, 5, 7, 8, 8, 12, 16, 17, 33, 65 };
    static const int64_t large[] = { 3, 8, 31, 64, 65, 127, 128, 200, 257, 512, 1025 };
    if (g->most_count > 10000 && chance(70))
        return ONE_OF(large);
    if (g->mode == GROW_WHOLE && chance(60))
        return 4 * between(1, 4);
    return chance(2) ? 0 : ONE_OF(extents);
}

static Element any_element(void)
{
    static const Element ordinary[] = { F32, F32, F32, I32, I32, F64, BF16,
                                        F16, I8,  U8,  I64, U32, I1,  C64 };
    static const Element narrow[] = { I1,       I2,     I4,         I8,         I8,
                                      I16,      U2,     U4,         U8,         U8,
                                      U16,      U64,    BF16,       F16,        C128,
                                      F8E4M3FN, F8E5M2, F8E4M3FNUZ, F8E5M2FNUZ, F8E4M3B11FNUZ,
                                      F8E4M3,   F8E3M4, F8E8M0FNU,  F6E2M3FN,   F6E3M2FN,
                                      F4E2M1FN };
    return chance(60) ? ONE_OF(ordinary) : ONE_OF(narrow);
}

static void choose_palette(Grower *g)
{
    for (int i = 0; i < 3; i++)
        g->elements[i] = any_element();
    for (int i = 0; i < 3; i++) {
        int64_t count = g->most_count + 1;
        while (count > g->most_count / 3) {
            g->shapes[i].rank = (int)between(i ? 1 : 0, chance(20) ? 4 : 3);
            count = 1;
            for (int d = 0; d < g->shapes[i].rank; d++)
                count *= g->shapes[i].dims[d] = grow_extent(g);
        }
    }
}

static Element grow_element(const Grower *g)
{
    return g->elements[random_below(3)];
}

static Type grow_type(Grower *g, Element e, int least_rank)
{
    int k = (int)random_below(3);
    if (g->shapes[k].rank < least_rank)
        k = 2;
    return type_new(g->arena, e, g->shapes[k].rank, g->shapes[k].dims);
}

/* ---- kinds of elements ---- */

static ElementKind kind_of(Type t)
{
    return element_info[t.element].kind;
}

static int bits_of(Type t)
{
    return element_info[t.element].bits;
}

static bool is_float_type(Type t)
{
    return kind_of(t) == FLOAT;
}

static bool is_int_type(Type t)
{
    return kind_of(t) == SIGNED || kind_of(t) == UNSIGNED;
}

static void copy_dims(Type t, int64_t *out)
{
    for (int i = 0; i < t.rank; i++)
        out[i] = t.dims[i];
}

static Type with_element(Type t, Element e)
{
    t.element = e;
    return t;
}

/* ---- writing ---- */

/* Text that lives as long as the program grows. */
static const char *words(Grower *g, const char *format, ...) __attribute__((format(printf, 2, 3)));
static const char *words(Grower *g, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    Text text = { 0 };
    text_vprintf(&text, format, args);
    va_end(args);
    const char *out = str_copy(g->arena, str_of(text_cstr(&text))).at;
    text_free(&text);
    return out;
}

static const char *named(Grower *g, Type t)
{
    Text text = { 0 };
    type_print(&text, t);
    const char *out = words(g, "%s", text_cstr(&text));
    text_free(&text);
    return out;
}

static const char *ref(Grower *g, Grown v)
{
    return v.part ? words(g, "%%v%d#%d", v.id, v.part - 1) : words(g, "%%v%d", v.id);
}

static const char *refs(Grower *g, int n, const Grown *v) /* %v1, %v2 */
{
    const char *out = "";
    for (int i = 0; i < n; i++)
        out = words(g, "%s%s%s", out, i ? ", " : "", ref(g, v[i]));
    return out;
}

static const char *types(Grower *g, int n, const Grown *v)
{
    const char *out = "";
    for (int i = 0; i < n; i++)
        out = words(g, "%s%s%s", out, i ? ", " : "", named(g, v[i].type));
    return out;
}

static const char *ints(Grower *g, int n, const int64_t *at) /* 1, 2, 3 */
{
    Text text = { 0 };
    text_ints(&text, at, n);
    const char *out = words(g, "%s", text_cstr(&text));
    text_free(&text);
    return out;
}

static const char *array(Grower *g, int n, const int64_t *at) /* an attribute */
{
    return n ? words(g, "array<i64: %s>", ints(g, n, at)) : "array<i64>";
}

static void line(Grower *g, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void line(Grower *g, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    text_printf(g->out, "%*s", 2 * g->depth + 2, "");
    text_vprintf(g->out, format, args);
    text_printf(g->out, "\n");
    va_end(args);
}

static Grown new_value(Grower *g, Type type)
{
    return (Grown){ .id = g->next_id++, .type = type };
}

static void new_values(Grower *g, int n, const Type *of, Grown *out) /* results of one operation */
{
    int id = g->next_id++;
    for (int i = 0; i < n; i++)
        out[i] = (Grown){ .id = id, .part = n > 1 ? i + 1 : 0, .type = of[i] };
}

/* May be used from here on. */
static Grown keep(Grower *g, Grown v)
{
    if (g->nvalues < MOST_VALUES)
        g->values[g->nvalues++] = v;
    return v;
}

/* A result only, which may be some ulps off. */
static void keep_result(Grower *g, Grown v, double ulps)
{
    if (g->nresults == MOST_RESULTS)
        return;
    g->ulps[g->nresults] = ulps;
    g->results[g->nresults++] = v;
}

static const char *left_side(Grower *g, int n, const Grown *out)
{
    return n > 1 ? words(g, "%%v%d:%d", out->id, n) : words(g, "%%v%d", out->id);
}

static const char *full_name(Grower *g, const char *op)
{
    return strchr(op, '.') ? op : words(g, "stablehlo.%s", op);
}

/* %out = "op"(in) <{attributes}> : (types) -> types */
static void write_op(Grower *g, const char *op, int nin, const Grown *in, const char *attributes,
                     int nout, const Grown *out)
{
    line(g, "%s = \"%s\"(%s)%s : (%s) -> (%s)", left_side(g, nout, out), full_name(g, op),
         refs(g, nin, in), *attributes ? words(g, " <{%s}>", attributes) : "", types(g, nin, in),
         types(g, nout, out));
}

/* The same with regions between: open_op, lines of a region, next_region, ..., close_op. */
static void open_op(Grower *g, const char *op, int nin, const Grown *in, const char *attributes,
                    int nout, const Grown *out)
{
    line(g, "%s = \"%s\"(%s)%s ({", left_side(g, nout, out), full_name(g, op), refs(g, nin, in),
         *attributes ? words(g, " <{%s}>", attributes) : "");
    g->depth++;
}

static void next_region(Grower *g)
{
    g->depth--;
    line(g, "}, {");
    g->depth++;
}

static void close_op(Grower *g, int nin, const Grown *in, int nout, const Grown *out)
{
    g->depth--;
    line(g, "}) : (%s) -> (%s)", types(g, nin, in), types(g, nout, out));
}

static void block_head(Grower *g, int n, const Grown *args)
{
    const char *list = "";
    for (int i = 0; i < n; i++)
        list = words(g, "%s%s%s: %s", list, i ? ", " : "", ref(g, args[i]), named(g, args[i].type));
    line(g, "^bb0(%s):", list);
}

static void return_line(Grower *g, const char *word, int n, const Grown *values)
{
    line(g, "%s %s : %s", word, refs(g, n, values), types(g, n, values));
}

static Grown one_operand(Grower *g, const char *op, Grown x, Type type)
{
    Grown v = new_value(g, type);
    write_op(g, op, 1, &x, "", 1, &v);
    return v;
}

static Grown two_operands(Grower *g, const char *op, Grown x, Grown y, Type type)
{
    Grown v = new_value(g, type);
    write_op(g, op, 2, (Grown[]){ x, y }, "", 1, &v);
    return v;
}

static Grown compared(Grower *g, const char *direction, Grown x, Grown y)
{
    Grown v = new_value(g, with_element(x.type, I1));
    line(g, "%s = stablehlo.compare %s, %s, %s : (%s, %s) -> %s", ref(g, v), direction, ref(g, x),
         ref(g, y), named(g, x.type), named(g, y.type), named(g, v.type));
    return v;
}

static Grown selected(Grower *g, Grown p, Grown x, Grown y)
{
    Grown v = new_value(g, x.type);
    write_op(g, "select", 3, (Grown[]){ p, x, y }, "", 1, &v);
    v.is_wild = x.is_wild || y.is_wild;
    v.is_tame = x.is_tame && y.is_tame;
    return v;
}

/* A result whose elements are those of its operands: as tame as they are, and as wild. */
static Grown moved(Grown v, int n, const Grown *from)
{
    v.is_tame = true;
    for (int i = 0; i < n; i++) {
        v.is_wild |= from[i].is_wild;
        v.is_tame &= from[i].is_tame;
    }
    return v;
}

static Grown constant(Grower *g, Type type, const char *literal)
{
    Grown v = new_value(g, type);
    line(g, "%s = stablehlo.constant dense<%s> : %s", ref(g, v), literal, named(g, type));
    v.is_tame = true;
    return v;
}

/* A number as that element type writes it; wraps around where it is too narrow. */
static const char *literal_of(Grower *g, Element e, double x)
{
    int bits = element_info[e].bits;
    switch (element_info[e].kind) {
    case BOOLEAN: return x != 0 ? "true" : "false";
    case UNSIGNED:
        return words(g, "%lld", bits < 8 ? (long long)x & ((1 << bits) - 1) : (long long)fabs(x));
    case SIGNED: {
        long long n = (long long)x;
        return words(g, "%lld",
                     bits < 8 ? ((n & ((1 << bits) - 1)) ^ 1 << (bits - 1)) - (1 << (bits - 1))
                              : n);
    }
    case COMPLEX: return words(g, "(%.9e, 0.0)", x);
    default: return words(g, "%.9e", e == F8E8M0FNU ? fmax(fabs(x), 1) : x);
    }
}

static Grown number(Grower *g, Type type, double x)
{
    return constant(g, type, literal_of(g, type.element, x));
}

/* ---- picking ---- */

typedef bool Wanted(Type t);

static bool any_type(Type t)
{
    (void)t;
    return true;
}

static bool has_rank(Type t)
{
    return t.rank > 0;
}

static bool is_real(Type t) /* has an order */
{
    return kind_of(t) != COMPLEX && t.element != I1;
}

/* A value that is wanted, rather one of the newest. */
static bool pick(Grower *g, Wanted *wanted, Grown *out)
{
    for (int tries = 0; tries < 24 && g->nvalues; tries++) {
        int from = chance(60) && g->nvalues > 6 ? g->nvalues - 6 : 0;
        *out = g->values[between(from, g->nvalues - 1)];
        if (wanted(out->type))
            return true;
    }
    return false;
}

static Grown broadcast_to(Grower *g, Grown scalar, Type type)
{
    Grown v = new_value(g, type);
    line(g, "%s = stablehlo.broadcast_in_dim %s, dims = [] : (%s) -> %s", ref(g, v), ref(g, scalar),
         named(g, scalar.type), named(g, type));
    return moved(v, 1, &scalar);
}

/* Small numbers that differ from place to place, made of an iota. */
static Grown varied(Grower *g, Type type)
{
    int64_t count = type_count(type);
    Type flat = type_new(g->arena, I32, 1, &count);
    Grown v = new_value(g, flat);
    line(g, "%s = stablehlo.iota dim = 0 : %s", ref(g, v), named(g, flat));
    v = two_operands(g, "multiply", v, number(g, flat, (double)between(3, 9)), flat);
    v = two_operands(g, "remainder", v, number(g, flat, (double)between(5, 13)), flat);
    v = two_operands(g, "subtract", v, number(g, flat, (double)between(0, 4)), flat);
    if (type.element != I32)
        v = one_operand(g, "convert", v, with_element(flat, type.element));
    return one_operand(g, "reshape", v, type);
}

/* Random numbers: another argument of the program, if it may have one more.  The test fills it with
 * tame ones, or with any bits. */
static Grown fresh(Grower *g, Type type)
{
    if (g->is_apart || g->nargs == MOST_ARGS || (g->mode == GROW_MANUAL && type.rank == 0))
        return varied(g, type);
    Grown v = new_value(g, type);
    v.is_wild = chance(12) && !is_int_type(type) && type.element != I1;
    v.is_wild |= type.element == F8E8M0FNU;
    v.is_tame = !v.is_wild && bits_of(type) >= 16;
    return g->args[g->nargs++] = v;
}

/* One of that type, rather not `other`: a value there is, a new one, or a scalar spread out. */
static Grown pick_like_but(Grower *g, Type type, int other)
{
    for (int tries = 0; tries < 32 && g->nvalues; tries++) {
        Grown v = g->values[random_below((uint64_t)g->nvalues)];
        if (type_equal(v.type, type) && (v.id != other || tries > 24))
            return v;
        if (tries > 8 && v.type.rank == 0 && v.type.element == type.element)
            return broadcast_to(g, v, type);
    }
    if (chance(70))
        return fresh(g, type);
    static const double numbers[] = { 0, 1, 2, 3, -0.5, 2.5, -1 };
    return number(g, type, ONE_OF(numbers));
}

static Grown pick_like(Grower *g, Type type)
{
    return pick_like_but(g, type, 0);
}

/* A scalar integer, mostly small: for indices and branches. */
static Grown small_index(Grower *g, Element e)
{
    Type scalar = type_scalar(e);
    for (int i = g->nvalues - 1; i >= 0 && chance(85); i--)
        if (type_equal(g->values[i].type, scalar))
            return g->values[i];
    if (g->mode != GROW_MANUAL && !g->is_apart && chance(50))
        return fresh(g, scalar);
    return number(g, scalar, (double)between(-2, 9));
}

static Element index_element(void)
{
    static const Element all[] = { I32, I32, I64, I8, U8, I16, U16, U32, U64, I4, U4, U2 };
    return ONE_OF(all);
}
#endif
