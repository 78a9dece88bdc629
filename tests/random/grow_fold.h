/* grow_fold.h - random operations that combine elements: reducers and reductions.
 *
 * In which order elements are combined, and how often an initial value is, is left open; so a
 * combiner is one for which neither matters on the numbers that it is given. */
#ifndef TUTTI_TESTS_RANDOM_GROW_FOLD_H
#define TUTTI_TESTS_RANDOM_GROW_FOLD_H
#include "tests/random/grow_tame.h"

typedef enum Combiner {
    SUM,
    PRODUCT,
    LARGEST,
    LEAST,
    BITS_AND,
    BITS_OR,
    BITS_XOR,
    LAST /* of a scatter: what comes last */
} Combiner;

static Combiner choose_combiner(Grower *g, Type t, bool is_unique)
{
    g->is_sign_open |= kind_of(t) == FLOAT || kind_of(t) == COMPLEX;
    static const Combiner reals[] = { SUM, SUM, LARGEST, LEAST, LARGEST, PRODUCT };
    static const Combiner all_ints[] = { SUM,     SUM,      LARGEST, LEAST,
                                         PRODUCT, BITS_AND, BITS_OR, BITS_XOR };
    if (is_unique && chance(50))
        return LAST;
    if (kind_of(t) == COMPLEX)
        return SUM;
    return is_float_type(t) ? ONE_OF(reals) : ONE_OF(all_ints);
}

/* Numbers that the combiner may be given, in the type in which it combines them. */
static Grown prepared(Grower *g, Combiner c, Grown x)
{
    if (c == LAST)
        return x;
    x = calm(g, x);
    if (c == SUM)
        return summable(g, x);
    if (c != PRODUCT || !is_float_type(x.type))
        return x;
    Grown one = number(g, x.type, 1), less = number(g, x.type, -1);
    return selected(g, compared(g, "GE", x, one), one, less);
}

static void prepare_both(Grower *g, Combiner c, Grown *x, Grown *y)
{
    *x = prepared(g, c, *x);
    *y = prepared(g, c, *y);
}

/* What leaves the others as they are; or anything, for combiners that it does not harm to be given
 * the same twice. */
static Grown initial(Grower *g, Combiner c, Element e)
{
    Type scalar = type_scalar(e);
    switch (c) {
    case PRODUCT: return number(g, scalar, 1);
    case SUM:
    case BITS_XOR: return number(g, scalar, 0);
    default: return calm(g, pick_like(g, scalar));
    }
}

static void region_args(Grower *g, int n, const Type *of, Grown *args) /* 2 n scalars */
{
    for (int i = 0; i < 2 * n; i++)
        args[i] = new_value(g, type_scalar(of[i % n].element));
    block_head(g, 2 * n, args);
}

/* The larger or the lesser: by name, by a comparison, or of integers by that of their complements.
 */
static Grown extreme(Grower *g, bool is_largest, Grown a, Grown b)
{
    int form = (int)random_below(is_int_type(a.type) ? 3 : 1);
    if (form == 1)
        return selected(g, compared(g, is_largest ? "GE" : "LE", a, b), a, b);
    if (form == 2) {
        Grown x = one_operand(g, "not", a, a.type), y = one_operand(g, "not", b, b.type);
        return one_operand(
            g, "not", two_operands(g, is_largest ? "minimum" : "maximum", x, y, a.type), a.type);
    }
    return two_operands(g, is_largest ? "maximum" : "minimum", a, b, a.type);
}

static Grown combined(Grower *g, Combiner c, Grown a, Grown b)
{
    static const char *const names[] = { [SUM] = "add",
                                         [PRODUCT] = "multiply",
                                         [BITS_AND] = "and",
                                         [BITS_OR] = "or",
                                         [BITS_XOR] = "xor" };
    if (c == LAST)
        return b;
    if (c == LARGEST || c == LEAST)
        return chance(50) ? extreme(g, c == LARGEST, a, b) : extreme(g, c == LARGEST, b, a);
    if (c == SUM && is_int_type(a.type) && chance(20)) /* a - (0 - b) */
        return two_operands(g, "subtract", a, one_operand(g, "negate", b, b.type), a.type);
    return chance(70) ? two_operands(g, names[c], a, b, a.type)
                      : two_operands(g, names[c], b, a, a.type);
}

/* One to three arrays of one shape, each with its combiner; or two, of which the second is chosen
 * by the first. */
typedef struct Folded {
    int n;
    bool is_by_key;
    Combiner combiners[3];
    Grown in[6];  /* arrays, initial values */
    Type made[3]; /* elements that come out; maybe wider */
} Folded;

static Element wider(Element e)
{
    switch (e) {
    case I2:
    case I4:
    case I8:
    case I16: return chance(50) ? I32 : I16;
    case U2:
    case U4:
    case U8:
    case U16: return chance(50) ? U32 : U16;
    case F32: return F64;
    default: return e;
    }
}

static bool choose_folded(Grower *g, Folded *f)
{
    *f = (Folded){ .n = chance(75) ? 1 : (int)between(2, 3) };
    if (!pick(g, has_rank, &f->in[0]))
        return false;
    f->is_by_key = f->n == 2 && kind_of(f->in[0].type) != COMPLEX && chance(60);
    Grown arrays[3] = { f->in[0] };
    for (int i = 0; i < f->n; i++) {
        if (i)
            arrays[i] =
                pick_like(g, with_element(arrays[0].type, f->is_by_key ? I32 : grow_element(g)));
        f->combiners[i] = f->is_by_key ? LARGEST : choose_combiner(g, arrays[i].type, false);
        arrays[i] = f->is_by_key ? tame(g, arrays[i]) : prepared(g, f->combiners[i], arrays[i]);
    }
    for (int i = 0; i < f->n; i++) {
        Grown init = initial(g, f->combiners[i], arrays[i].type.element);
        f->in[i] = arrays[i];
        f->in[f->n + i] = f->is_by_key ? tame(g, init) : init;
        f->made[i] = arrays[i].type;
        if (!f->is_by_key && chance(10))
            f->made[i].element = wider(f->made[i].element);
    }
    return true;
}

/* The pair with the larger key; of equal ones that with the lesser number. */
static void by_key(Grower *g, const Grown *a, Grown *out)
{
    Grown more = compared(g, "GT", a[0], a[2]), same = compared(g, "EQ", a[0], a[2]);
    Grown less = compared(g, "LT", a[1], a[3]);
    Grown first =
        two_operands(g, "or", more, two_operands(g, "and", same, less, less.type), less.type);
    out[0] = selected(g, more, a[0], a[2]);
    out[1] = selected(g, first, a[1], a[3]);
}

static void fold_region(Grower *g, const Folded *f)
{
    Grown args[6], out[3];
    region_args(g, f->n, f->made, args);
    if (f->is_by_key)
        by_key(g, args, out);
    else
        for (int i = 0; i < f->n; i++)
            out[i] = combined(g, f->combiners[i], args[i], args[f->n + i]);
    return_line(g, "stablehlo.return", f->n, out);
}

/* The operation itself: results of that shape. */
static void fold_op(Grower *g, const char *op, Folded *f, const char *attributes, int rank,
                    const int64_t *dims)
{
    Grown out[3];
    Type results[3];
    for (int i = 0; i < f->n; i++)
        results[i] = type_new(g->arena, f->made[i].element, rank, dims);
    new_values(g, f->n, results, out);
    open_op(g, op, 2 * f->n, f->in, attributes, f->n, out);
    fold_region(g, f);
    close_op(g, 2 * f->n, f->in, f->n, out);
    for (int i = 0; i < f->n; i++)
        keep(g, out[i]);
}

static bool grow_reduce(Grower *g)
{
    Folded f;
    if (!choose_folded(g, &f))
        return false;
    int64_t dims[MOST_DIMS], over[MOST_DIMS];
    int rank = 0, n = 0;
    Type t = f.in[0].type;
    for (int i = 0; i < t.rank; i++)
        if (chance(60))
            over[n++] = i;
        else
            dims[rank++] = t.dims[i];
    fold_op(g, "reduce", &f, words(g, "dimensions = %s", array(g, n, over)), rank, dims);
    return true;
}
#endif
