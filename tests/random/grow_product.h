/* grow_product.h - random products of arrays: which dimensions are batches, and which are summed over. */
#ifndef TUTTI_TESTS_RANDOM_GROW_PRODUCT_H
#define TUTTI_TESTS_RANDOM_GROW_PRODUCT_H
#include "tests/random/grow_tame.h"

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

typedef struct Product {
    int nbatching, ncontracting;
    int64_t xb[MOST_DIMS], xc[MOST_DIMS], yb[MOST_DIMS], yc[MOST_DIMS]; /* of the one, the other */
    int64_t ydims[MOST_DIMS], dims[2 * MOST_DIMS]; /* of the other, the result */
    int yrank, rank;
    int64_t nterms;
} Product;

/* Each dimension of x is a batch, summed over, or free; the other array has the first two in any places,
 * and some free ones of its own. */
static Product choose_product(Grower *g, Type x)
{
    Product p = { .nterms = 1 };
    int nfree = (int)between(0, 2), order[MOST_DIMS];
    for (int i = 0; i < x.rank; i++)
        if (chance(20))
            p.xb[p.nbatching++] = i;
        else if (chance(45))
            p.xc[p.ncontracting++] = i;
    p.yrank = p.nbatching + p.ncontracting + nfree;
    shuffled(p.yrank, order);
    for (int i = 0; i < p.nbatching; i++) {
        p.yb[i] = order[i];
        p.ydims[p.yb[i]] = p.dims[p.rank++] = x.dims[p.xb[i]];
    }
    for (int i = 0; i < p.ncontracting; i++) {
        p.yc[i] = order[p.nbatching + i];
        p.nterms *= p.ydims[p.yc[i]] = x.dims[p.xc[i]];
    }
    for (int i = 0; i < nfree; i++)
        p.ydims[order[p.nbatching + p.ncontracting + i]] = grow_extent(g);
    for (int i = 0; i < x.rank; i++)
        if (!holds(p.nbatching, p.xb, i) && !holds(p.ncontracting, p.xc, i))
            p.dims[p.rank++] = x.dims[i];
    for (int i = 0; i < p.yrank; i++)
        if (!holds(p.nbatching, p.yb, i) && !holds(p.ncontracting, p.yc, i))
            p.dims[p.rank++] = p.ydims[i];
    return p;
}

static bool grow_dot(Grower *g)
{
    enum { MOST_TERMS = 4000 }; /* products of eighths up to 8: so many sums are exact */
    Grown in[2];
    if (!pick(g, has_products, &in[0]))
        return false;
    Type x = in[0].type;
    Product p = choose_product(g, x);
    if (p.rank > 6)
        return false;
    Type made = type_new(g->arena, product_element(g, x.element), p.rank, p.dims);
    Type other = type_new(g->arena, x.element, p.yrank, p.ydims);
    if (type_count(made) > g->most_count || type_count(other) > g->most_count ||
        type_count(made) * p.nterms > g->most_work || p.nterms > MOST_TERMS)
        return false;
    in[0] = tame(g, in[0]);
    in[1] = tame(g, pick_like(g, other));
    g->is_sign_open = true;
    Grown v = new_value(g, made);
    line(g,
         "%s = stablehlo.dot_general %s, batching_dims = [%s] x [%s], contracting_dims = [%s] x "
         "[%s] : "
         "(%s) -> %s",
         ref(g, v), refs(g, 2, in), ints(g, p.nbatching, p.xb), ints(g, p.nbatching, p.yb),
         ints(g, p.ncontracting, p.xc), ints(g, p.ncontracting, p.yc), types(g, 2, in),
         named(g, made));
    keep(g, v);
    return true;
}
#endif
