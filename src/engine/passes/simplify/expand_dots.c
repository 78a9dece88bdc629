/* expand_dots.c - dots that a plain loop does better than a matrix kernel.
 *
 * In goes a dot_general; out comes, for vectors, outer products, small matrices, many or one for many rows, and element
 * types that the matrix kernel does not know, the same sum written out, so that fuse makes one loop of it:
 *
 *   lhs [B,M,K] --broadcast--> [B,M,N,K] \
 *                                         multiply --> reduce add over K --> [B,M,N]
 *   rhs [B,K,N] --broadcast--> [B,M,N,K] /
 *
 * K stands last, or before N or M where that side is contiguous along it or small, or before the last of B where both are.  Narrow numbers are summed
 * in wider ones: floats in f32, whether or not the dot is written out; a dot that stays has the types of
 * one of the runtime's products (gemm_types), and what comes of it is made narrow again, unless the product
 * does that itself. */
#include "engine/numerics/numerics.h"
#include "engine/passes/simplify/simplify.h"

enum {
    SHORT_SIDE = 4,
    SHORT_SIDE_WIDENED = 6, /* beside numbers that are made of narrower ones */
    SHORT_DEPTH = 4,
    WIDE = 32,
    FEW_PRODUCTS = 512,
    FEW_EACH = 512,
    LARGE_MATRIX = 1 << 18,
    BEYOND_CACHES = 1 << 20
};

typedef struct Dot {
    const DotAttrs *attrs;
    Type lhs, rhs, result;
    Element sum; /* in which products are added, if it is written out */
    GemmTypes types;
    int64_t b, m, n, k;
    /* Dimensions of the product space: counts, and where each side's dimensions go. */
    int rank, nbatch, nm, nn, nk;
    bool k_before_n, k_before_m, k_before_b;
    int64_t dims[MAX_RANK], lhs_to[MAX_RANK], rhs_to[MAX_RANK];
} Dot;

/* A float type at least as wide as both. */
static Element wider(Element a, Element b)
{
    return element_info[b].bits > element_info[a].bits ? b : a;
}

static Element sum_element(Type lhs, Type rhs, Type result)
{
    Element e = result.element;
    if (element_info[e].kind != FLOAT)
        return e;
    e = wider(e, F32);
    if (element_info[lhs.element].kind == FLOAT)
        e = wider(e, lhs.element);
    if (element_info[rhs.element].kind == FLOAT)
        e = wider(e, rhs.element);
    return e;
}

static bool is_free(Ints batch, Ints contracted, int dim)
{
    return ints_find(batch, dim) < 0 && ints_find(contracted, dim) < 0;
}

/* Counts, and the product of the extents, of one side's free dimensions. */
static int free_dims(Type t, Ints batch, Ints contracted, int64_t *product)
{
    int n = 0;
    *product = 1;
    for (int i = 0; i < t.rank; i++)
        if (is_free(batch, contracted, i)) {
            n++;
            *product *= t.dims[i];
        }
    return n;
}

/* Rows by one small matrix for all of them, which stays in registers, or nearly if it is read across its rows. */
static bool is_by_small(const Dot *d)
{
    enum { LIES_WELL = 64, LIES_ACROSS = 40, SHORT_ROW = 8 };
    return !d->nbatch && d->m > 1 && d->n > 1 && d->k <= SHORT_ROW &&
           d->n * d->k <= (d->k_before_n ? LIES_WELL : LIES_ACROSS);
}

static Dot measure(const Module *m, const Node *node)
{
    Dot d = { .attrs = node->attrs,
              .lhs = type_of(m, node->in[0]),
              .rhs = type_of(m, node->in[1]),
              .result = type_of(m, node->out),
              .b = 1,
              .k = 1 };
    const DotAttrs *a = d.attrs;
    d.sum = sum_element(d.lhs, d.rhs, d.result);
    d.types = gemm_types(d.lhs.element, d.rhs.element, d.result.element);
    d.nbatch = a->lhs_batching_dimensions.n;
    d.nk = a->lhs_contracting_dimensions.n;
    d.nm = free_dims(d.lhs, a->lhs_batching_dimensions, a->lhs_contracting_dimensions, &d.m);
    d.nn = free_dims(d.rhs, a->rhs_batching_dimensions, a->rhs_contracting_dimensions, &d.n);
    for (int i = 0; i < d.nbatch; i++)
        d.b *= d.lhs.dims[a->lhs_batching_dimensions.at[i]];
    for (int i = 0; i < d.nk; i++)
        d.k *= d.lhs.dims[a->lhs_contracting_dimensions.at[i]];
    d.rank = d.nbatch + d.nm + d.nn + d.nk;
    d.k_before_n = d.n > 1 && is_free(a->rhs_batching_dimensions, a->rhs_contracting_dimensions,
                                      d.rhs.rank - 1);
    d.k_before_n = d.k_before_n || is_by_small(&d);
    d.k_before_m =
        d.n == 1 && d.m > 1 &&
        is_free(a->lhs_batching_dimensions, a->lhs_contracting_dimensions, d.lhs.rank - 1);
    d.k_before_b = d.m == 1 && d.n == 1 && d.nbatch &&
                   a->lhs_batching_dimensions.at[d.nbatch - 1] == d.lhs.rank - 1 &&
                   a->rhs_batching_dimensions.at[d.nbatch - 1] == d.rhs.rank - 1;
    return d;
}

static bool ends_contracted(Type t, Ints contracted)
{
    return t.rank && ints_find(contracted, t.rank - 1) >= 0;
}

/* Is it in memory anyway?  Else a loop makes its elements as it multiplies them. */
static bool is_stored(const Module *m, ValueId v)
{
    NodeId def = value_def(m, v);
    return !def || node_at(m, def)->op == OP_DOT || node_at(m, def)->op == OP_CONVOLUTION;
}

/* Is it made of narrower numbers, for this dot anew?  A loop reads those; a product would have all of it
 * written out first.  What a loop around needs to make only once is stored. */
static bool is_widened(const Simplifier *s, ValueId v, int left)
{
    const Module *m = s->m;
    NodeId def = value_def(m, v);
    if (!def || !left || value_at(m, v)->region != s->region)
        return false;
    const Node *node = node_at(m, def);
    switch (node->op) {
    case OP_CONVERT:
        return element_info[type_of(m, node->in[0]).element].bits <
                   element_info[type_of(m, v).element].bits &&
               (!s->nloops ||
                (value_def(m, node->in[0]) && value_at(m, node->in[0])->region == s->region));
    case OP_MUL:
    case OP_ADD:
    case OP_SUB:
        return is_widened(s, node->in[0], left - 1) || is_widened(s, node->in[1], left - 1);
    case OP_RESHAPE:
    case OP_TRANSPOSE: return is_widened(s, node->in[0], left - 1);
    default: return false;
    }
}

/* A large matrix by a vector or a few: the runtime reads it the way it lies, once.  A loop does as well
 * where one vector meets rows, unless these are several dimensions, and where up to two, or three and a matrix
 * that lies near, meet columns. */
static bool is_large_by_few(const Module *m, const Node *node, const Dot *d)
{
    bool is_plain = d->lhs.element == d->types.sum && d->rhs.element == d->types.sum &&
                    d->result.element == d->types.sum;
    double products = (double)d->m * (double)d->n * (double)d->k;
    if (!is_plain || element_info[d->types.sum].kind != FLOAT || products < LARGE_MATRIX)
        return false;
    bool lhs_by_rows = ends_contracted(d->lhs, d->attrs->lhs_contracting_dimensions);
    bool rhs_by_rows = ends_contracted(d->rhs, d->attrs->rhs_contracting_dimensions);
    if (d->n < SHORT_SIDE && d->m >= 8 * d->n)
        return lhs_by_rows == (d->n > 1 || d->nk > 1) && is_stored(m, node->in[0]);
    if (d->m >= SHORT_SIDE || d->n < 8 * d->m || !is_stored(m, node->in[1]))
        return false;
    bool is_beyond_caches = d->m == SHORT_SIDE - 1 && products >= BEYOND_CACHES * (double)d->m;
    return is_beyond_caches || rhs_by_rows == (d->m > 1 || d->nk > 1);
}

/* So little is added up for each result that writing these takes longest: a loop writes them row by row, with
 * whatever is made of them.  Not where a row of results would read the rhs across its rows. */
static bool is_outer(const Dot *d)
{
    return d->n >= WIDE && (d->k == 1 || (d->k <= SHORT_DEPTH && d->k_before_n));
}

/* Many matrices, each so small that a call for it takes longer than a loop, whose sums are twice as long under way
 * where the results beside each other are not made of numbers that lie so. */
static bool is_many_small(const Dot *d)
{
    const DotAttrs *a = d->attrs;
    int64_t rows =
        dot_rows_in_step(d->lhs, a->lhs_batching_dimensions, a->lhs_contracting_dimensions);
    int64_t cols =
        dot_rows_in_step(d->rhs, a->rhs_batching_dimensions, a->rhs_contracting_dimensions);
    return (double)rows * (double)cols * (double)d->k * (d->k_before_n ? 1 : 2) <= FEW_EACH;
}

static bool wants_loop(const Simplifier *s, const Node *node, const Dot *d)
{
    enum { NEAR = 4 };
    const Module *m = s->m;
    if (d->rank > MAX_RANK || is_large_by_few(m, node, d))
        return false;
    return !d->types.is_known || d->m < SHORT_SIDE || d->n < SHORT_SIDE || is_outer(d) ||
           (double)d->b * (double)d->m * (double)d->n * (double)d->k <= FEW_PRODUCTS ||
           is_many_small(d) || is_by_small(d) ||
           (d->m < SHORT_SIDE_WIDENED && is_widened(s, node->in[1], NEAR)) ||
           (d->n < SHORT_SIDE_WIDENED && is_widened(s, node->in[0], NEAR));
}

/* Where the dimensions of one side go in the product space; batch, free and contracted ones
 * start at the positions given. */
static void lay_out(Dot *d, Type t, Ints batch, Ints contracted, int free_at, int k_at, int64_t *to)
{
    for (int i = 0; i < t.rank; i++) {
        int at_batch = ints_find(batch, i), at_k = ints_find(contracted, i);
        bool is_after_k = d->k_before_b && at_batch == d->nbatch - 1;
        to[i] = at_batch >= 0 ? at_batch + is_after_k * d->nk : at_k >= 0 ? k_at + at_k : free_at++;
        d->dims[to[i]] = t.dims[i];
    }
}

static ValueId as_element(Simplifier *s, ValueId v, Element e, const Loc *loc)
{
    Type t = type_of(s->m, v);
    t.element = e;
    return simplify_put(s, OP_CONVERT, 1, &v, t, NULL, loc);
}

static ValueId spread(Simplifier *s, ValueId v, const Dot *d, const int64_t *to, const Loc *loc)
{
    BroadcastAttrs *attrs = ARENA_NEW(s->m->arena, BroadcastAttrs);
    attrs->broadcast_dimensions = ints_copy(s->m->arena, type_of(s->m, v).rank, to);
    Type t = type_new(s->m->arena, d->sum, d->rank, d->dims);
    return simplify_put(s, OP_BROADCAST, 1, &v, t, attrs, loc);
}

static ValueId sum_over(Simplifier *s, ValueId v, const Dot *d, int k_at, const Loc *loc)
{
    Module *m = s->m;
    static const char zeros[16];
    Type sum = d->result;
    sum.element = d->sum;
    int64_t dims[MAX_RANK];
    for (int i = 0; i < d->nk; i++)
        dims[i] = k_at + i;
    DimensionsAttrs *attrs = ARENA_NEW(m->arena, DimensionsAttrs);
    attrs->dimensions = ints_copy(m->arena, d->nk, dims);
    Dense zero = { type_scalar(d->sum), true, zeros };
    ValueId in[] = { v, simplify_constant(s, zero, loc) };
    RegionId add = build_reducer(m, OP_ADD, d->sum, loc);
    NodeId n = node_new(m, OP_REDUCE, 2, in, 1, &sum, 1, &add, attrs, loc);
    simplify_visit(s, n); /* an equal dot may have become the same */
    return subst_get(&s->map, node_at(m, n)->out);
}

static ValueId write_out(Simplifier *s, const Node *node, Dot *d)
{
    const DotAttrs *a = d->attrs;
    int m_at = d->nbatch + (d->k_before_m || d->k_before_b ? d->nk : 0);
    int n_at = m_at + d->nm + (d->k_before_n ? d->nk : 0);
    int k_at = d->k_before_b   ? d->nbatch - 1
               : d->k_before_m ? d->nbatch
                               : m_at + d->nm + (d->k_before_n ? 0 : d->nn);
    lay_out(d, d->lhs, a->lhs_batching_dimensions, a->lhs_contracting_dimensions, m_at, k_at,
            d->lhs_to);
    lay_out(d, d->rhs, a->rhs_batching_dimensions, a->rhs_contracting_dimensions, n_at, k_at,
            d->rhs_to);
    ValueId in[2];
    in[0] = spread(s, as_element(s, node->in[0], d->sum, node->loc), d, d->lhs_to, node->loc);
    in[1] = spread(s, as_element(s, node->in[1], d->sum, node->loc), d, d->rhs_to, node->loc);
    Type space = type_new(s->m->arena, d->sum, d->rank, d->dims);
    ValueId v = simplify_put(s, OP_MUL, 2, in, space, NULL, node->loc);
    if (d->nk)
        v = sum_over(s, v, d, k_at, node->loc);
    return as_element(s, v, d->result.element, node->loc);
}

ValueId expand_dot(Simplifier *s, NodeId n)
{
    if (node_at(s->m, n)->op != OP_DOT)
        return 0;
    Node node = *node_at(s->m, n);
    Dot d = measure(s->m, &node);
    if (wants_loop(s, &node, &d))
        return write_out(s, &node, &d);
    /* where the depth is short, sums of f32 would take longer to write and to read than to add up */
    bool is_one = d.nk == 1 && d.k <= GEMM_ROUNDED_DEPTH;
    if (is_one && gemm_kind(d.lhs.element, d.rhs.element, d.result.element) == GEMM_BF16_ROUNDED)
        return 0;
    GemmTypes t = d.types;
    if (!t.is_known ||
        (d.lhs.element == t.operands && d.rhs.element == t.operands && d.result.element == t.sum))
        return 0;
    ValueId in[2];
    for (int i = 0; i < 2; i++)
        in[i] = as_element(s, node.in[i], t.operands, node.loc);
    Type sum = d.result;
    sum.element = t.sum;
    ValueId v = simplify_put(s, OP_DOT, 2, in, sum, node.attrs, node.loc);
    return as_element(s, v, d.result.element, node.loc);
}
