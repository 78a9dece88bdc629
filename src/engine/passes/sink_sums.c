/* sink_sums.c - products that a loop only adds up are one product after it.
 *
 *   while ... { g = ...; dw = dw + dot x[i], g contracting the batch; ... }
 *   while ... { g = ...; gs[i] = g; ... }    dw = dw + dot x, gs contracting rows and batch
 *
 * The gradient of weights that every step of a loop uses is such a sum. In the loop it is read and written as a
 * whole in every round, for a product of few terms; after it all cores work on one product of many. Of the
 * two factors one is a row of an array from outside, by an index that comes to each row once; the other is
 * kept in an array that the loop carries instead of the sum. */
#include "base/guard.h"
#include "engine/analysis/analysis.h"
#include "engine/passes/loop_rows.h"
#include "engine/passes/passes.h"
#include "hlo/rewrite.h"

#include <string.h>

/* Products of more terms are as good in the loop; what is kept must stay in the caches until it is read. */
enum { MOST_TERMS = 32, MOST_BYTES = 1 << 20 };

typedef struct Sums {
    Module *m;
    TripCounts trips;
    const uint32_t *uses; /* by value, of those there were when the pass began: */
    uint32_t nvalues;
    Node loop;     /* at hand */
    RegionId body; /* its own */
    int64_t ntrips;
    Subst map;
    bool any;
} Sums;

/* One that is carried as value k. */
typedef struct Sum {
    int k;
    NodeId add, dot;
    int side;      /* of the dot: which operand is kept; the other is a row */
    ValueId rows;  /* the array of rows */
    ValueId index; /* of the row, in the body */
    ValueId first; /* an index for the other dimensions */
} Sum;

static ValueId kept_of(const Sums *s, const Sum *sum)
{
    return node_at(s->m, sum->dot)->in[sum->side];
}

/* ---- which ---- */

/* Is the first of a list 0, the second 1, ...? */
static bool are_leading(Ints dims)
{
    for (int i = 0; i < dims.n; i++)
        if (dims.at[i] != i)
            return false;
    return true;
}

static bool is_worth(const Sums *s, ValueId kept, ValueId sum, int ncontracted)
{
    Type t = type_of(s->m, kept);
    int64_t terms = 1;
    for (int d = 0; d < ncontracted; d++)
        terms *= t.dims[d];
    return t.rank > 0 && t.rank < MAX_RANK && terms <= MOST_TERMS &&
           type_bytes(t) * (size_t)s->ntrips <= MOST_BYTES &&
           type_count(t) <= 2 * type_count(type_of(s->m, sum));
}

/* The node that defines v in the body and whose result is used once. */
static NodeId only_use(const Sums *s, ValueId v, OpId op)
{
    NodeId def = v < s->nvalues ? value_def(s->m, v) : 0;
    bool is_such = def && node_at(s->m, def)->op == op && value_at(s->m, v)->region == s->body &&
                   s->uses[v] == 1;
    return is_such ? def : 0;
}

static bool sum_of(const Sums *s, int k, Sum *sum)
{
    const Module *m = s->m;
    ValueId carried = region_at(m, s->body)->args + (ValueId)k;
    ValueId tested = region_at(m, s->loop.regions[0])->args + (ValueId)k;
    *sum = (Sum){ .k = k, .add = only_use(s, region_return(m, s->body)->in[k], OP_ADD) };
    if (!sum->add || s->uses[carried] != 1 || s->uses[tested])
        return false;
    const Node *add = node_at(m, sum->add);
    bool is_first = add->in[0] == carried;
    if (!is_first && add->in[1] != carried)
        return false;
    sum->dot = only_use(s, add->in[is_first], OP_DOT);
    const Node *dot = sum->dot ? node_at(m, sum->dot) : NULL;
    const DotAttrs *a = dot ? dot->attrs : NULL;
    if (!dot || a->lhs_batching_dimensions.n || !are_leading(a->lhs_contracting_dimensions) ||
        !are_leading(a->rhs_contracting_dimensions))
        return false;
    for (sum->side = 0; sum->side < 2; sum->side++) {
        ValueId kept = dot->in[sum->side];
        const Node *slice = loop_row(m, s->body, dot->in[!sum->side]);
        if (!slice || value_at(m, kept)->region != s->body ||
            !is_worth(s, kept, carried, a->lhs_contracting_dimensions.n) ||
            !index_takes_all(m, &s->loop, s->ntrips, slice->in[1],
                             type_of(m, slice->in[0]).dims[0]))
            continue;
        sum->rows = slice->in[0];
        sum->index = slice->in[1];
        sum->first = slice->in[2];
        return true;
    }
    return false;
}

/* ---- the loop ---- */

static Type with_first(const Sums *s, int64_t n, Type t)
{
    int64_t dims[MAX_RANK] = { n };
    memcpy(dims + 1, t.dims, sizeof *dims * (size_t)t.rank);
    return type_new(s->m->arena, t.element, t.rank + 1, dims);
}

static ValueId zeros(Sums *s, RegionId r, Type type, const Loc *loc)
{
    size_t bytes = (size_t)element_info[type.element].bytes;
    const char *zero = ARENA_ARRAY(s->m->arena, char, bytes);
    return build_constant(s->m, r, (Dense){ type, true, zero }, loc);
}

/* The body makes the sum no longer, and returns `next` in its place. */
static void take_out(Sums *s, const Sum *sum, ValueId next)
{
    Module *m = s->m;
    const Region *body = region_at(m, s->body);
    NodeId *nodes = arena_copy(m->arena, body->nodes, sizeof *nodes * (size_t)body->nnodes),
           end = 0;
    int n = 0;
    for (int i = 0; i < body->nnodes; i++) {
        NodeId node = body->nodes[i];
        if (node_flow(node_at(m, node)) == FLOW_END)
            end = node;
        else if (node != sum->add && node != sum->dot)
            nodes[n++] = node;
    }
    nodes[n++] = end; /* it stands behind what was appended */
    node_at(m, end)->in[sum->k] = next;
    region_set_nodes(m, s->body, n, nodes);
}

/* The factor is kept in the place of the sum. */
static void keep_factor(Sums *s, const Sum *sum, Type all)
{
    Module *m = s->m;
    ValueId kept = kept_of(s, sum);
    const Loc *loc = node_at(m, sum->dot)->loc;
    ValueId carried = region_at(m, s->body)->args + (ValueId)sum->k;
    value_at(m, carried)->type = all;
    value_at(m, region_at(m, s->loop.regions[0])->args + (ValueId)sum->k)->type = all;
    ValueId row =
        build_node(m, s->body, OP_RESHAPE, 1, &kept, with_first(s, 1, type_of(m, kept)), NULL, loc);
    ValueId in[MAX_RANK + 2] = { carried, row, sum->index };
    for (int d = 1; d < all.rank; d++)
        in[d + 2] = sum->first; /* any index of a whole dimension is the first */
    ValueId next = build_node(m, s->body, OP_DYNAMIC_UPDATE, all.rank + 2, in, all, NULL, loc);
    take_out(s, sum, next);
}

/* [rows, contracted ..., others ...] as [rows contracted ..., others ...]. */
static ValueId joined(Sums *s, RegionId r, ValueId v, int ncontracted, const Loc *loc)
{
    Type t = type_of(s->m, v);
    int64_t dims[MAX_RANK] = { t.dims[0] };
    int rank = 1;
    for (int d = 1; d < t.rank; d++)
        if (d <= ncontracted)
            dims[0] *= t.dims[d];
        else
            dims[rank++] = t.dims[d];
    Type type = type_new(s->m->arena, t.element, rank, dims);
    return build_node(s->m, r, OP_RESHAPE, 1, &v, type, NULL, loc);
}

/* What the sum is when the loop has ended and kept all factors. */
static ValueId sum_after(Sums *s, RegionId r, const Sum *sum, ValueId before, ValueId kept)
{
    Module *m = s->m;
    Node dot = *node_at(m, sum->dot);
    DotAttrs *attrs = ARENA_NEW(m->arena, DotAttrs);
    *attrs = *(const DotAttrs *)dot.attrs;
    int n = attrs->lhs_contracting_dimensions.n;
    attrs->lhs_contracting_dimensions = attrs->rhs_contracting_dimensions =
        ints_copy(m->arena, 1, (int64_t[]){ 0 });
    ValueId in[2];
    in[sum->side] = joined(s, r, kept, n, dot.loc);
    in[!sum->side] = joined(s, r, sum->rows, n, dot.loc);
    Type type = type_of(m, before);
    ValueId product = build_node(m, r, OP_DOT, 2, in, type, attrs, dot.loc);
    return build_node(m, r, OP_ADD, 2, (ValueId[]){ before, product }, type, NULL, dot.loc);
}

/* The first of the sums before this one that keeps the same in the same places; NULL: none does. */
static const Sum *same_factor(const Sums *s, const Sum *sums, const Sum *sum)
{
    for (const Sum *other = sums; other < sum; other++)
        if (kept_of(s, other) == kept_of(s, sum) && other->index == sum->index)
            return other;
    return NULL;
}

/* Appends the loop to r, and sums to what comes after it. */
static void sink_from_loop(Sums *s, RegionId r, NodeId id)
{
    Module *m = s->m;
    s->loop = *node_at(m, id);
    s->body = s->loop.regions[1];
    s->ntrips = trips_of(&s->trips, id);
    int nsums = 0, n = s->loop.nin;
    Sum *sums = ARENA_ARRAY(m->arena, Sum, n);
    for (int k = 0; s->ntrips > 1 && k < n; k++)
        nsums += sum_of(s, k, &sums[nsums]);
    if (!nsums) {
        region_append(m, r, id);
        return;
    }
    Type *types = ARENA_ARRAY(m->arena, Type, n);
    ValueId *in = arena_copy(m->arena, s->loop.in, sizeof *in * (size_t)n);
    for (int k = 0; k < n; k++)
        types[k] = type_of(m, in[k]);
    for (int i = 0; i < nsums; i++) {
        if (same_factor(s, sums,
                        &sums[i])) { /* it is carried unchanged, until drop_invariant_carries */
            take_out(s, &sums[i], region_at(m, s->body)->args + (ValueId)sums[i].k);
            continue;
        }
        Type all = with_first(s, s->ntrips, type_of(m, kept_of(s, &sums[i])));
        types[sums[i].k] = all;
        in[sums[i].k] = zeros(s, r, all, s->loop.loc);
        keep_factor(s, &sums[i], all);
    }
    NodeId loop =
        node_new(m, OP_WHILE, n, in, n, types, 2, s->loop.regions, s->loop.attrs, s->loop.loc);
    node_at(m, loop)->extra = s->loop.extra;
    region_append(m, r, loop);
    ValueId out = node_at(m, loop)->out;
    for (int k = 0; k < n; k++)
        subst_set(&s->map, s->loop.out + (ValueId)k, out + (ValueId)k);
    for (int i = 0; i < nsums; i++) {
        ValueId k = (ValueId)sums[i].k;
        const Sum *same = same_factor(s, sums, &sums[i]);
        ValueId kept = out + (same ? (ValueId)same->k : k);
        subst_set(&s->map, s->loop.out + k, sum_after(s, r, &sums[i], s->loop.in[k], kept));
    }
    s->any = true;
}

static void sink_region(Sums *s, RegionId r)
{
    Module *m = s->m;
    int n;
    NodeId *old = region_take_nodes(m, r, &n);
    for (int i = 0; i < n; i++) {
        bool has_code = node_holds_code(node_at(m, old[i]));
        for (int k = 0; has_code && k < node_at(m, old[i])->nregions; k++)
            sink_region(s, node_at(m, old[i])->regions[k]);
        if (node_flow(node_at(m, old[i])) == FLOW_LOOP)
            sink_from_loop(s, r, old[i]);
        else
            region_append(m, r, old[i]);
    }
}

Error *sink_sums(Module *m)
{
    RegionId main = module_main(m);
    uint32_t *uses = count_uses(m, main);
    Sums s = { .m = m,
               .trips = count_trips(m, main),
               .uses = uses,
               .nvalues = m->nvalues,
               .map = subst_new(m) };
    sink_region(&s, main);
    if (s.any) {
        subst_apply(&s.map, m, main);
        remove_dead(m, main);
    }
    subst_free(&s.map);
    heap_free(uses);
    return s.any ? pass_drop_invariant_carries(m) : NULL;
}
