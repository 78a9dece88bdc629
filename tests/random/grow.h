/* grow.h - random programs: a seed in, well-typed StableHLO text out.
 *
 * The grower keeps a list of the values that may be used at the place where it writes, picks some,
 * writes an operation on them and adds its results to the list; regions of loops and branches are
 * grown the same way, with a list that ends with them.
 *
 * Compiled code and the evaluator must agree to the last bit, or a comparison far behind would
 * turn another way.  So floats only go through operations that are exact or rounded once; before
 * products, sums and products of matrices they are made tame (multiples of 1/8 up to 8, whose sums
 * are exact in any order, and whose products are, be they rounded before something is added to them
 * or not); and functions that are approximated (exp, sine) only make results.
 *
 *   GROW_ALONE    one device
 *   GROW_WHOLE    several devices, whole arrays with random shardings
 *   GROW_MANUAL   several devices, each playing its part, with collectives */
#ifndef TUTTI_TEST_GROW_H
#define TUTTI_TEST_GROW_H
#include "hlo/module.h"
#include "tests/ops/values.h"

typedef enum GrowMode { GROW_ALONE, GROW_WHOLE, GROW_MANUAL } GrowMode;

enum { MOST_VALUES = 512, MOST_COUNT = 3000, MOST_DEPTH = 3, MOST_RESULTS = 8 };

typedef struct Grown {
    int id; /* %v<id> */
    Type type;
    bool is_tame; /* known to be */
} Grown;

typedef struct Grower {
    Arena *arena;
    Text *out;
    GrowMode mode;
    int ndevices;
    /* A program keeps to few types, so that values meet. */
    Element elements[3];
    struct { int rank; int64_t dims[3]; } shapes[3];
    Grown values[MOST_VALUES];
    int nvalues, floor; /* values from floor on were made in the region being written */
    int next_id, depth;
    int counter; /* id of the innermost loop's, the same on all devices; 0: none */
    int budget; /* operations left to write */
    Grown results[MOST_RESULTS]; /* approximate ones: not to be used further */
    int nresults;
} Grower;

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

static int64_t grow_extent(const Grower *g)
{
    static const int64_t extents[] = { 1, 2, 3, 4, 4, 5, 8, 8, 12, 16, 17, 33 };
    if (g->mode == GROW_WHOLE && chance(60))
        return 4 * between(1, 4);
    return chance(2) ? 0 : extents[random_below(sizeof extents / sizeof *extents)];
}

static void choose_palette(Grower *g)
{
    static const Element all[] = { F32, F32, F32, I32, I32, F64, BF16, U8, I64, U32, I8, F16 };
    for (int i = 0; i < 3; i++)
        g->elements[i] = all[random_below(sizeof all / sizeof *all)];
    for (int i = 0; i < 3; i++) {
        int64_t count = MOST_COUNT + 1;
        while (count > MOST_COUNT / 3) {
            g->shapes[i].rank = (int)between(i ? 1 : 0, 3);
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

static bool is_float_type(Type t)
{
    return element_info[t.element].kind == FLOAT;
}

/* ---- writing ---- */

static const char *named(Type t)
{
    static char ring[8][96];
    static int at;
    Text text = { 0 };
    type_print(&text, t);
    at = (at + 1) % 8;
    snprintf(ring[at], sizeof ring[at], "%s", text_cstr(&text));
    text_free(&text);
    return ring[at];
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
    return (Grown){ g->next_id++, type, false };
}

/* May be used from here on. */
static Grown keep(Grower *g, Grown v)
{
    if (g->nvalues < MOST_VALUES)
        g->values[g->nvalues++] = v;
    return v;
}

static Grown constant(Grower *g, Type type, const char *literal)
{
    Grown v = new_value(g, type);
    line(g, "%%v%d = stablehlo.constant dense<%s> : %s", v.id, literal, named(type));
    v.is_tame = true;
    return v;
}

static Grown one_operand(Grower *g, const char *op, Grown x, Type type)
{
    Grown v = new_value(g, type);
    line(g, "%%v%d = \"stablehlo.%s\"(%%v%d) : (%s) -> %s", v.id, op, x.id, named(x.type),
         named(type));
    return v;
}

static Grown two_operands(Grower *g, const char *op, Grown x, Grown y, Type type)
{
    Grown v = new_value(g, type);
    line(g, "%%v%d = \"stablehlo.%s\"(%%v%d, %%v%d) : (%s, %s) -> %s", v.id, op, x.id, y.id,
         named(x.type), named(y.type), named(type));
    return v;
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

static bool is_number(Type t)
{
    return t.element != I1;
}

static bool is_ranked_number(Type t)
{
    return t.rank > 0 && t.element != I1;
}

static bool is_matrix(Type t)
{
    return t.rank == 2 && (t.element == F32 || t.element == F64 || t.element == I32);
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
    line(g, "%%v%d = stablehlo.broadcast_in_dim %%v%d, dims = [] : (%s) -> %s", v.id, scalar.id,
         named(scalar.type), named(type));
    return v;
}

/* One of that type, rather not `other`: a value there is, or a scalar spread out. */
static Grown pick_like_but(Grower *g, Type type, int other)
{
    for (int tries = 0; tries < 32; tries++) {
        Grown v = g->values[random_below((uint64_t)g->nvalues)];
        if (type_equal(v.type, type) && (v.id != other || tries > 24))
            return v;
        if (v.type.rank == 0 && v.type.element == type.element)
            return broadcast_to(g, v, type);
    }
    static const char *const literals[] = { "0", "1", "2", "3" };
    static const char *const floats[] = { "0.0", "1.0", "-0.5", "2.5" };
    int k = (int)random_below(4);
    return constant(g, type, type.element == I1    ? k % 2 ? "true" : "false"
                             : is_float_type(type) ? floats[k]
                             : element_info[type.element].bits == 2 ? literals[k % 2] : literals[k]);
}

static Grown pick_like(Grower *g, Type type)
{
    return pick_like_but(g, type, 0);
}

/* A scalar i32, small: for indices and branches. */
static Grown small_index(Grower *g)
{
    Type scalar = type_scalar(I32);
    for (int i = g->nvalues - 1; i >= 0 && chance(85); i--)
        if (type_equal(g->values[i].type, scalar))
            return g->values[i];
    char literal[8];
    snprintf(literal, sizeof literal, "%d", (int)between(-2, 9));
    return constant(g, scalar, literal);
}

/* clamp to [-8, 8], then down to a multiple of 1/8; NaN becomes 1, and -0 becomes 0 (which zero a
 * reduction by max or min gives is left open). */
static Grown tame(Grower *g, Grown x)
{
    if (!is_float_type(x.type) || x.is_tame)
        return x;
    Type mask = type_new(g->arena, I1, x.type.rank, x.type.dims);
    Grown is_number_too = new_value(g, mask), one = constant(g, x.type, "1.0"), v;
    line(g, "%%v%d = stablehlo.compare EQ, %%v%d, %%v%d : (%s, %s) -> %s", is_number_too.id, x.id,
         x.id, named(x.type), named(x.type), named(mask));
    v = new_value(g, x.type);
    line(g, "%%v%d = stablehlo.select %%v%d, %%v%d, %%v%d : %s, %s", v.id, is_number_too.id, x.id,
         one.id, named(mask), named(x.type));
    Grown low = constant(g, x.type, "-8.0"), high = constant(g, x.type, "8.0");
    v = two_operands(g, "maximum", v, low, x.type);
    v = two_operands(g, "minimum", v, high, x.type);
    v = two_operands(g, "multiply", v, high, x.type);
    v = one_operand(g, "floor", v, x.type);
    v = two_operands(g, "add", v, constant(g, x.type, "0.0"), x.type);
    v = two_operands(g, "multiply", v, constant(g, x.type, "0.125"), x.type);
    v.is_tame = true;
    return v;
}

/* Tame, and wide enough for the sum of as many as there are: eighths up to 8 are six bits, and a
 * narrow float has eight or eleven. */
static Grown summable(Grower *g, Grown x)
{
    if (is_float_type(x.type) && element_info[x.type.element].bits < 32) {
        Type wide = type_new(g->arena, F32, x.type.rank, x.type.dims);
        Grown v = new_value(g, wide);
        line(g, "%%v%d = stablehlo.convert %%v%d : (%s) -> %s", v.id, x.id, named(x.type), named(wide));
        x = v;
    }
    return tame(g, x);
}

typedef bool Grow(Grower *g); /* writes something; false: there is nothing to do it with */
static void grow_some(Grower *g, int noperations);
#endif
