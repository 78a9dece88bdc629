/* grow_fold.h - random operations that combine elements: reductions, products, sorts.
 *
 * In which order elements are combined, and how often an initial value is, is left open; so a
 * combiner is one for which neither matters on the numbers that it is given. */
#ifndef TUTTI_TEST_GROW_FOLD_H
#define TUTTI_TEST_GROW_FOLD_H
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

/* ---- products ---- */

static bool has_products(Type t)
{
    return t.element != F8E8M0FNU && t.rank <= 4;
}

/* The type of a product's result: the operands', or a wider one.  A narrow float is rounded once if
 * one device has all the terms. */
static Element product_element(const Grower *g, Element e)
{
    switch (element_info[e].kind) {
    case FLOAT: return element_info[e].bits < 32 && (g->mode == GROW_WHOLE || chance(25)) ? F32 : e;
    case SIGNED:
    case UNSIGNED: return chance(80) ? e : element_info[e].bits <= 16 && chance(30) ? F64 : I32;
    default: return e;
    }
}

static bool grow_dot(Grower *g)
{
    Grown in[2];
    if (!pick(g, has_products, &in[0]))
        return false;
    Type x = in[0].type;
    int64_t xb[MOST_DIMS], xc[MOST_DIMS], yb[MOST_DIMS], yc[MOST_DIMS], ydims[MOST_DIMS],
        dims[2 * MOST_DIMS];
    int nb = 0, nc = 0, rank = 0, nfree = (int)between(0, 2), order[MOST_DIMS],
        role[MOST_DIMS] = { 0 };
    for (int i = 0; i < x.rank; i++) {
        role[i] = chance(20) ? 1 : chance(45) ? 2 : 0;
        if (role[i] == 1)
            xb[nb++] = i;
        if (role[i] == 2)
            xc[nc++] = i;
    }
    int yrank = nb + nc + nfree;
    int64_t work = 1;
    shuffled(yrank, order);
    for (int i = 0; i < nb; i++) {
        yb[i] = order[i];
        ydims[order[i]] = dims[rank++] = x.dims[xb[i]];
    }
    for (int i = 0; i < nc; i++) {
        yc[i] = order[nb + i];
        ydims[order[nb + i]] = x.dims[xc[i]];
        work *= x.dims[xc[i]];
    }
    for (int i = 0; i < x.rank; i++)
        if (!role[i])
            dims[rank++] = x.dims[i];
    for (int i = 0; i < nfree; i++)
        ydims[order[nb + nc + i]] = grow_extent(g);
    for (int i = 0; i < yrank; i++) {
        bool is_free = true;
        for (int k = 0; k < nb + nc; k++)
            is_free &= order[k] != i;
        if (is_free)
            dims[rank++] = ydims[i];
    }
    if (rank > 6)
        return false;
    Type made = type_new(g->arena, product_element(g, x.element), rank, dims);
    Type other = type_new(g->arena, x.element, yrank, ydims);
    if (type_count(made) > g->most_count || type_count(other) > g->most_count ||
        type_count(made) * work > g->most_work || work > 4000)
        return false;
    in[0] = tame(g, in[0]);
    in[1] = tame(g, pick_like(g, other));
    g->is_sign_open = true;
    Grown v = new_value(g, made);
    line(g,
         "%s = stablehlo.dot_general %s, batching_dims = [%s] x [%s], contracting_dims = [%s] x "
         "[%s] : "
         "(%s) -> %s",
         ref(g, v), refs(g, 2, in), ints(g, nb, xb), ints(g, nb, yb), ints(g, nc, xc),
         ints(g, nc, yc), types(g, 2, in), named(g, made));
    keep(g, v);
    return true;
}

/* ---- order ---- */

/* a before b, by one key: either way, or by what it is taken for. */
static Grown before(Grower *g, Grown a, Grown b)
{
    if (is_int_type(a.type) && chance(20)) {
        Grown flip = number(g, a.type, (double)between(0, 3));
        a = two_operands(g, "xor", a, flip, a.type);
        b = two_operands(g, "xor", b, flip, b.type);
    }
    if (is_float_type(a.type) && chance(20)) {
        a = one_operand(g, "abs", a, a.type);
        b = one_operand(g, "abs", b, b.type);
    }
    return compared(g, chance(60) ? "LT" : "GT", a, b);
}

/* One to three arrays, by the first, or by the first and then the second. */
static bool grow_sort(Grower *g)
{
    Grown in[3], out[3], args[6];
    Type made[3];
    int n = chance(60) ? 1 : (int)between(2, 3);
    if (!pick(g, has_rank, &in[0]) || kind_of(in[0].type) == COMPLEX)
        return false;
    bool is_second = n > 1 && chance(40);
    for (int i = 0; i < n; i++) {
        if (i)
            in[i] = pick_like(g, with_element(in[0].type, grow_element(g)));
        if (i == 1)
            is_second &= kind_of(in[1].type) != COMPLEX;
        if (i == 0 || (i == 1 && is_second))
            in[i] = tame(g, in[i]);
        made[i] = in[i].type;
    }
    new_values(g, n, made, out);
    open_op(
        g, "sort", n, in,
        words(g, "dimension = %d : i64, is_stable = true", (int)between(0, in[0].type.rank - 1)), n,
        out);
    for (int i = 0; i < 2 * n; i++)
        args[i] = new_value(g, type_scalar(made[i / 2].element));
    block_head(g, 2 * n, args);
    Grown p = before(g, args[0], args[1]);
    if (is_second) {
        Grown same = compared(g, "EQ", args[0], args[1]), then = before(g, args[2], args[3]);
        p = two_operands(g, "or", compared(g, "LT", args[0], args[1]),
                         two_operands(g, "and", same, then, p.type), p.type);
    }
    return_line(g, "stablehlo.return", 1, &p);
    close_op(g, n, in, n, out);
    for (int i = 0; i < n; i++)
        keep(g, moved(out[i], 1, &in[i]));
    return true;
}

static bool grow_top_k(Grower *g)
{
    Grown x, out[2];
    if (!pick(g, has_rank, &x) || !is_real(x.type))
        return false;
    x = tame(g, x);
    int64_t dims[MOST_DIMS];
    int last = x.type.rank - 1;
    memcpy(dims, x.type.dims, sizeof *dims * (size_t)x.type.rank);
    dims[last] = between(0, dims[last]);
    Type of[2] = { type_new(g->arena, x.type.element, x.type.rank, dims),
                   type_new(g->arena, I32, x.type.rank, dims) };
    new_values(g, 2, of, out);
    write_op(g, "chlo.top_k", 1, &x, words(g, "k = %d : i64", (int)dims[last]), 2, out);
    keep(g, out[0]);
    keep(g, out[1]);
    return true;
}
#endif
