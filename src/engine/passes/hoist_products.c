/* hoist_products.c - products of rows that a loop takes one after the other are one product before it.
 *
 *   while ... { x = xs[i]; y = tanh(dot x, w + dot h, u); ... }
 *   xw = dot xs, w; while ... { y = tanh(xw[i] + dot h, u); ... }
 *
 * One product of many rows takes a fraction of the time of many of a few: its operands are packed once, it
 * fills whole tiles, and all cores work on it.  A row that is joined with what the loop carries is first a product
 * by itself:
 *
 *   dot concatenate(x, h), w  ->  dot x, w[:k] + dot h, w[k:]
 *
 * What stands in the loop for the product is a row of it, by the same index.  The loop must be known to go round
 * at least as often as there are rows: then nothing is computed that was not before. */
#include "engine/analysis/analysis.h"
#include "engine/passes/loop_rows.h"
#include "engine/passes/passes.h"
#include "hlo/rewrite.h"

#include <string.h>

/* Fewer products for each number of the result cost less than to read it. */
enum { SHORT = 16 };
static const size_t MOST_BYTES = (size_t)64 << 20; /* of the result for all rows */

typedef struct Rows {
    Module *m;
    TripCounts trips;
    RegionId outer, body; /* of the loop at hand, and where it stands */
    int64_t ntrips;
    Subst map; /* in the body: products become rows */
    bool any;
} Rows;

static bool is_outside(const Rows *h, ValueId v)
{
    return value_at(h->m, v)->region != h->body;
}

static const Node *row_slice(const Rows *h, ValueId v)
{
    const Node *slice = loop_row(h->m, h->body, v);
    return slice && h->ntrips >= type_of(h->m, slice->in[0]).dims[0] ? slice : NULL;
}

/* Has it the form dot x, w with one dimension contracted and no batch?  x may be on either side if
 * nothing of it is left in the result. */
typedef struct Product {
    ValueId x, w;
    int64_t x_dim, w_dim; /* that are contracted */
    bool is_swapped;      /* w is the left operand */
    const DotAttrs *attrs;
    Type result;
    const Loc *loc;
} Product;

static bool product_of(const Rows *h, const Node *node, bool is_swapped, Product *p)
{
    if (node->op != OP_DOT)
        return false;
    const DotAttrs *a = node->attrs;
    Ints x = is_swapped ? a->rhs_contracting_dimensions : a->lhs_contracting_dimensions;
    Ints w = is_swapped ? a->lhs_contracting_dimensions : a->rhs_contracting_dimensions;
    if (a->lhs_batching_dimensions.n || x.n != 1)
        return false;
    *p = (Product){ node->in[is_swapped],
                    node->in[!is_swapped],
                    x.at[0],
                    w.at[0],
                    is_swapped,
                    a,
                    type_of(h->m, node->out),
                    node->loc };
    return is_outside(h, p->w) && !is_outside(h, p->x) &&
           (!is_swapped || type_of(h->m, p->x).rank == 1);
}

/* ---- building ---- */

static ValueId build_product(Rows *h, RegionId r, const Product *p, ValueId x, int64_t x_dim,
                             ValueId w, Type result)
{
    Arena *arena = h->m->arena;
    DotAttrs *attrs = ARENA_NEW(arena, DotAttrs);
    *attrs = *p->attrs;
    bool first = !p->is_swapped || r == h->outer; /* rows come first */
    Ints of_x = ints_copy(arena, 1, &x_dim), of_w = ints_copy(arena, 1, &p->w_dim);
    attrs->lhs_contracting_dimensions = first ? of_x : of_w;
    attrs->rhs_contracting_dimensions = first ? of_w : of_x;
    ValueId in[] = { first ? x : w, first ? w : x };
    return build_node(h->m, r, OP_DOT, 2, in, result, attrs, p->loc);
}

static Type with_rows(const Rows *h, int64_t n, Type row)
{
    int64_t dims[MAX_RANK + 1] = { n };
    memcpy(dims + 1, row.dims, sizeof *dims * (size_t)row.rank);
    return type_new(h->m->arena, row.element, row.rank + 1, dims);
}

/* All rows by w before the loop, and in it the row that `slice` takes. */
static ValueId hoist_product(Rows *h, const Product *p, Node slice, ValueId w)
{
    Module *m = h->m;
    Type all = with_rows(h, type_of(m, slice.in[0]).dims[0], p->result),
         one = with_rows(h, 1, p->result);
    ValueId in[MAX_RANK + 2] = { build_product(h, h->outer, p, slice.in[0], p->x_dim + 1, w, all),
                                 slice.in[1] };
    for (int d = 1; d < all.rank; d++)
        in[d + 1] = slice.in[2]; /* any index of a whole dimension is the first */
    DynamicSliceAttrs *attrs = ARENA_NEW(m->arena, DynamicSliceAttrs);
    attrs->slice_sizes = ints_copy(m->arena, one.rank, one.dims);
    ValueId v = build_node(m, h->body, OP_DYNAMIC_SLICE, all.rank + 1, in, one, attrs, p->loc);
    h->any = true;
    return build_node(m, h->body, OP_RESHAPE, 1, &v, p->result, NULL, p->loc);
}

/* Numbers from..to of w along what is contracted. */
static ValueId part_of_w(Rows *h, const Product *p, int64_t from, int64_t to)
{
    Arena *arena = h->m->arena;
    Type t = type_of(h->m, p->w);
    int64_t start[MAX_RANK] = { 0 }, end[MAX_RANK], one[MAX_RANK], dims[MAX_RANK];
    for (int d = 0; d < t.rank; d++) {
        end[d] = d == p->w_dim ? to : t.dims[d];
        start[d] = d == p->w_dim ? from : 0;
        dims[d] = end[d] - start[d];
        one[d] = 1;
    }
    SliceAttrs *attrs = ARENA_NEW(arena, SliceAttrs);
    attrs->start_indices = ints_copy(arena, t.rank, start);
    attrs->limit_indices = ints_copy(arena, t.rank, end);
    attrs->strides = ints_copy(arena, t.rank, one);
    Type part = type_new(arena, t.element, t.rank, dims);
    return build_node(h->m, h->outer, OP_SLICE, 1, &p->w, part, attrs, p->loc);
}

/* ---- which ---- */

static bool is_worth(const Rows *h, const Product *p, ValueId x, const Node *slice)
{
    Type all = with_rows(h, type_of(h->m, slice->in[0]).dims[0], p->result);
    return type_of(h->m, x).dims[p->x_dim] >= SHORT && all.rank <= MAX_RANK &&
           type_bytes(all) <= MOST_BYTES;
}

/* x is joined of parts, at least one of them a row: each row a product, and one of what is left.  Not of
 * narrow floats: each part would be rounded to them, where the whole is rounded once. */
static bool hoist_parts(Rows *h, NodeId n, const Product *p)
{
    Module *m = h->m;
    NodeId def = value_def(m, p->x);
    const Node *found = def ? node_at(m, def) : NULL;
    ElementInfo info = element_info[p->result.element];
    if (!found || found->op != OP_CONCATENATE || (info.kind == FLOAT && info.bits < 32) ||
        ((const DimensionAttrs *)found->attrs)->dimension != p->x_dim)
        return false;
    Node join = *found;
    bool any = false;
    for (int i = 0; i < join.nin; i++) {
        const Node *slice = row_slice(h, join.in[i]);
        any |= slice && is_worth(h, p, join.in[i], slice);
    }
    if (!any)
        return false;
    ValueId sum = 0;
    int64_t at = 0;
    for (int i = 0; i < join.nin; i++) {
        int64_t k = type_of(m, join.in[i]).dims[p->x_dim];
        ValueId w = part_of_w(h, p, at, at + k);
        const Node *slice = row_slice(h, join.in[i]);
        ValueId part = slice && is_worth(h, p, join.in[i], slice)
                           ? hoist_product(h, p, *slice, w)
                           : build_product(h, h->body, p, join.in[i], p->x_dim, w, p->result);
        sum = sum ? build_node(m, h->body, OP_ADD, 2, (ValueId[]){ sum, part }, p->result, NULL,
                               p->loc)
                  : part;
        at += k;
    }
    subst_set(&h->map, node_at(m, n)->out, sum);
    return true;
}

/* Is n replaced?  A copy of what it needs is looked at, since nodes are added. */
static bool is_hoisted(Rows *h, NodeId n)
{
    for (int side = 0; side < 2; side++) {
        Product p;
        if (!product_of(h, node_at(h->m, n), side, &p))
            continue;
        const Node *slice = row_slice(h, p.x);
        if (slice && is_worth(h, &p, p.x, slice)) {
            subst_set(&h->map, node_at(h->m, n)->out, hoist_product(h, &p, *slice, p.w));
            return true;
        }
        if (hoist_parts(h, n, &p))
            return true;
    }
    return false;
}

static void hoist_from_loop(Rows *h, RegionId outer, NodeId loop)
{
    h->outer = outer;
    h->body = node_at(h->m, loop)->regions[1];
    h->ntrips = trips_of(&h->trips, loop);
    int n;
    NodeId *old = region_take_nodes(h->m, h->body, &n);
    for (int i = 0; i < n; i++)
        if (!is_hoisted(h, old[i]))
            region_append(h->m, h->body, old[i]);
}

static void hoist_region(Rows *h, RegionId r)
{
    Module *m = h->m;
    int n;
    NodeId *old = region_take_nodes(m, r, &n);
    for (int i = 0; i < n; i++) {
        bool has_code = node_holds_code(node_at(m, old[i]));
        for (int k = 0; has_code && k < node_at(m, old[i])->nregions; k++)
            hoist_region(h, node_at(m, old[i])->regions[k]);
        if (node_flow(node_at(m, old[i])) == FLOW_LOOP)
            hoist_from_loop(h, r, old[i]);
        region_append(m, r, old[i]);
    }
}

void hoist_products(Module *m)
{
    RegionId main = module_main(m);
    Rows h = { .m = m, .trips = count_trips(m, main), .map = subst_new(m) };
    hoist_region(&h, main);
    if (h.any) {
        subst_apply(&h.map, m, main);
        remove_dead(m, main);
    }
    subst_free(&h.map);
}
