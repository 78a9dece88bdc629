/* short_reductions.c - a reduction of few elements becomes operations on the arrays that these are of.
 *
 *     reduce max of concatenate(a, b, c) along what joins them   ->  max(max(max(initial, a), b), c)
 *     reduce mul of x: f32[1000,2] over the last                 ->  mul(mul(initial, x[:, 0]), x[:, 1])
 *
 * So the joined array is never made, lanes run along results, and what reads the result is computed in the same
 * loop.  What the operand is computed of by cheap operations, or for this alone, is taken apart with it. */
#include "engine/passes/simplify/simplify.h"

#include "engine/kernels/query.h"

enum {
    MOST_JOINED = 16, /* elements, where an operand is joined of arrays */
    MOST_LAST = 8,    /* where they are neighbours in memory */
    MOST_TAKEN = 32,  /* operations that an element is made by */
    MOST_STEP = 16,   /* operations that take in an element */
    FEW_RESULTS = 256,
};

/* ---- element i along dimension d ---- */

static Type without(Simplifier *s, Type t, int d)
{
    int64_t dims[MAX_RANK];
    int rank = 0;
    for (int i = 0; i < t.rank; i++)
        if (i != d)
            dims[rank++] = t.dims[i];
    return type_new(s->m->arena, t.element, rank, dims);
}

/* Is the element made from those of what the value is made of, and not read from memory? */
static bool is_taken_apart(const Simplifier *s, ValueId v, int d)
{
    NodeId def = value_def(s->m, v);
    const Node *node = def ? node_at(s->m, def) : NULL;
    if (!node || value_at(s->m, v)->region != s->region)
        return false;
    if (node->op == OP_CONCATENATE)
        return ((const DimensionAttrs *)node->attrs)->dimension == d;
    if (node->op == OP_BROADCAST || node->op == OP_IOTA)
        return true;
    return op_info[node->op].kind == KIND_MAP && node->nout == 1 && !node->nregions &&
           op_info[node->op].effect == EFFECT_NONE &&
           (is_used_once(s, v) || !node_is_costly(s->m, node));
}

/* Are they no more than *left operations? */
static bool are_few(const Simplifier *s, ValueId v, int d, int *left)
{
    if (!is_taken_apart(s, v, d))
        return true;
    const Node *node = node_at(s->m, value_def(s->m, v));
    if (--*left < 0)
        return false;
    bool is_map = op_info[node->op].kind == KIND_MAP;
    if (node->op == OP_BROADCAST) {
        int of = (int)ints_find(((const BroadcastAttrs *)node->attrs)->broadcast_dimensions, d);
        return of < 0 || are_few(s, node->in[0], of, left);
    }
    for (int i = 0; (is_map || node->op == OP_CONCATENATE) && i < node->nin; i++)
        if (type_of(s->m, node->in[i]).rank && !are_few(s, node->in[i], d, left))
            return false;
    return true;
}

static ValueId part_of(Simplifier *s, ValueId v, int d, int64_t at, const Loc *loc);

static ValueId part_of_memory(Simplifier *s, ValueId v, int d, int64_t at, const Loc *loc)
{
    Arena *arena = s->m->arena;
    Type t = type_of(s->m, v);
    int64_t from[MAX_RANK] = { 0 }, to[MAX_RANK], one[MAX_RANK];
    for (int i = 0; i < t.rank; i++) {
        to[i] = t.dims[i];
        one[i] = 1;
    }
    from[d] = at;
    to[d] = at + 1;
    SliceAttrs *attrs = ARENA_NEW(arena, SliceAttrs);
    attrs->start_indices = ints_copy(arena, t.rank, from);
    attrs->limit_indices = ints_copy(arena, t.rank, to);
    attrs->strides = ints_copy(arena, t.rank, one);
    to[d] = 1;
    v = simplify_put(s, OP_SLICE, 1, &v, type_new(arena, t.element, t.rank, to), attrs, loc);
    return simplify_put(s, OP_RESHAPE, 1, &v, without(s, t, d), NULL, loc);
}

static ValueId part_of_joined(Simplifier *s, const Node *node, int d, int64_t at)
{
    int i = 0;
    while (at >= type_of(s->m, node->in[i]).dims[d])
        at -= type_of(s->m, node->in[i++]).dims[d];
    return part_of(s, node->in[i], d, at, node->loc);
}

static ValueId part_of_broadcast(Simplifier *s, const Node *node, int d, int64_t at)
{
    Ints to = ((const BroadcastAttrs *)node->attrs)->broadcast_dimensions;
    ValueId v = node->in[0];
    int of = (int)ints_find(to, d), n = 0;
    int64_t dims[MAX_RANK];
    if (of >= 0)
        v = part_of(s, v, of, type_of(s->m, v).dims[of] == 1 ? 0 : at, node->loc);
    for (int i = 0; i < to.n; i++)
        if (i != of)
            dims[n++] = to.at[i] - (to.at[i] > d);
    BroadcastAttrs *attrs = ARENA_NEW(s->m->arena, BroadcastAttrs);
    attrs->broadcast_dimensions = ints_copy(s->m->arena, n, dims);
    Type type = without(s, type_of(s->m, node->out), d);
    return simplify_put(s, OP_BROADCAST, 1, &v, type, attrs, node->loc);
}

/* The numbers along d are one number. */
static ValueId part_of_iota(Simplifier *s, const Node *node, int d, int64_t at)
{
    int64_t along = ((const IotaAttrs *)node->attrs)->iota_dimension;
    Type type = without(s, type_of(s->m, node->out), d);
    IotaAttrs *attrs = ARENA_NEW(s->m->arena, IotaAttrs);
    if (along != d) {
        attrs->iota_dimension = along - (along > d);
        return simplify_put(s, OP_IOTA, 0, NULL, type, attrs, node->loc);
    }
    int64_t dims[] = { type_of(s->m, node->out).dims[d] };
    Type line = type_new(s->m->arena, type.element, 1, dims);
    ValueId v = simplify_put(s, OP_IOTA, 0, NULL, line, attrs, node->loc);
    v = part_of_memory(s, v, 0, at, node->loc);
    BroadcastAttrs *everywhere = ARENA_NEW(s->m->arena, BroadcastAttrs);
    return simplify_put(s, OP_BROADCAST, 1, &v, type, everywhere, node->loc);
}

static ValueId part_of_map(Simplifier *s, const Node *node, int d, int64_t at)
{
    ValueId *in = ARENA_ARRAY(s->m->arena, ValueId, node->nin);
    for (int i = 0; i < node->nin; i++)
        in[i] = type_of(s->m, node->in[i]).rank ? part_of(s, node->in[i], d, at, node->loc)
                                                : node->in[i];
    return simplify_put(s, node->op, node->nin, in, without(s, type_of(s->m, node->out), d),
                        node->attrs, node->loc);
}

static ValueId part_of(Simplifier *s, ValueId v, int d, int64_t at, const Loc *loc)
{
    NodeId def = value_def(s->m, v);
    Node node = def ? *node_at(s->m, def) : (Node){ 0 }; /* a copy: nodes are added */
    if (!is_taken_apart(s, v, d))
        return part_of_memory(s, v, d, at, loc);
    switch (node.op) {
    case OP_CONCATENATE: return part_of_joined(s, &node, d, at);
    case OP_BROADCAST: return part_of_broadcast(s, &node, d, at);
    case OP_IOTA: return part_of_iota(s, &node, d, at);
    default: return part_of_map(s, &node, d, at);
    }
}

/* ---- one step: the reducer, on arrays ---- */

static bool is_step(const Module *m, RegionId r)
{
    const Region *region = region_at(m, r);
    for (int i = 0; i + 1 < region->nnodes; i++) {
        const Node *node = node_at(m, region->nodes[i]);
        bool is_plain = op_info[node->op].kind == KIND_MAP && !node->nregions && node->nout == 1 &&
                        node->nin <= 3 && op_info[node->op].effect == EFFECT_NONE;
        if (!is_plain && node->op != OP_CONSTANT)
            return false;
    }
    return region->nnodes <= MOST_STEP;
}

/* args: the region's arguments as arrays of `shape`; so are the results. */
static void step(Simplifier *s, RegionId r, Type shape, const ValueId *args, ValueId *results)
{
    Module *m = s->m;
    Region region = *region_at(m, r);
    ValueId made[MOST_STEP], in[3];
    BroadcastAttrs *everywhere = ARENA_NEW(m->arena, BroadcastAttrs);
    for (int i = 0; i < region.nnodes; i++) {
        Node node = *node_at(m, region.nodes[i]);
        bool is_end = i + 1 == region.nnodes;
        ValueId *to = is_end ? results : in;
        for (int k = 0; k < node.nin; k++) {
            ValueId v = node.in[k];
            if (v >= region.args && v < region.args + (ValueId)region.nargs)
                to[k] = args[v - region.args];
            for (int j = 0; j < i; j++)
                if (node_at(m, region.nodes[j])->out == v)
                    to[k] = made[j];
        }
        if (is_end)
            return;
        Type type = type_of(m, node.out);
        ValueId constant = 0;
        if (node.op == OP_CONSTANT)
            constant = simplify_constant(s, *value_constant(m, node.out), node.loc);
        type = type_new(m->arena, type.element, shape.rank, shape.dims);
        made[i] = constant ? simplify_put(s, OP_BROADCAST, 1, &constant, type, everywhere, node.loc)
                           : simplify_put(s, node.op, node.nin, in, type, node.attrs, node.loc);
    }
}

/* ---- which reductions ---- */

static bool is_joined(const Simplifier *s, ValueId v, int d)
{
    if (!is_taken_apart(s, v, d))
        return false;
    const Node *node = node_at(s->m, value_def(s->m, v));
    for (int i = 0; op_info[node->op].kind == KIND_MAP && i < node->nin; i++)
        if (type_of(s->m, node->in[i]).rank && is_joined(s, node->in[i], d))
            return true;
    return node->op == OP_CONCATENATE;
}

/* Would an addition to it be one operation with a multiplication, the last of what makes the value? */
static bool ends_in_product(const Simplifier *s, ValueId v, int *left)
{
    NodeId def = value_def(s->m, v);
    const Node *node = def ? node_at(s->m, def) : NULL;
    if (!node)
        return false;
    if (--*left < 0)
        return true;
    switch (node->op) {
    case OP_ADD:
    case OP_SUB:
    case OP_ABS:
    case OP_MAX:
    case OP_MIN:
    case OP_SELECT:
    case OP_CONVERT:
    case OP_CLAMP: return false;
    default: break;
    }
    if (op_info[node->op].kind == KIND_MAP && node->op != OP_NEG)
        return true;
    if (op_info[node->op].kind != KIND_VIEW && node->op != OP_NEG)
        return false;
    for (int i = 0; i < node->nin; i++)
        if (ends_in_product(s, node->in[i], left))
            return true;
    return false;
}

/* Sums of numbers that are kept wide until the end, and of products that are rounded before they are added, are
 * reduce's own (kernels/reduce.c). */
static bool is_special_sum(const Simplifier *s, const Node *node)
{
    ElementInfo info = element_info[type_of(s->m, node->in[0]).element];
    OpId op = region_reducer(s->m, node->regions[0]);
    int left = 1024; /* values looked at */
    return info.kind == COMPLEX || (info.kind == FLOAT && info.bytes < 4) ||
           (info.kind == FLOAT && op == OP_ADD && ends_in_product(s, node->in[0], &left));
}

static bool is_short(const Simplifier *s, const Node *node)
{
    Type in = type_of(s->m, node->in[0]), out = type_of(s->m, node->out);
    Ints reduced = ((const DimensionsAttrs *)node->attrs)->dimensions;
    if (reduced.n != 1 || !is_step(s->m, node->regions[0]))
        return false;
    int d = (int)reduced.at[0], left = MOST_TAKEN;
    if (in.dims[d] < 2 || in.dims[d] > MOST_JOINED || is_special_sum(s, node))
        return false;
    bool joined = false;
    for (int i = 0; i < node->nin / 2; i++) {
        if (!are_few(s, node->in[i], d, &left))
            return false;
        joined = joined || is_joined(s, node->in[i], d); /* it walks over no more than these few */
    }
    bool is_last = d + 1 == in.rank && in.dims[d] <= MOST_LAST;
    return joined || (is_last && type_count(out) >= FEW_RESULTS);
}

bool unroll_short_reduce(Simplifier *s, NodeId n)
{
    Module *m = s->m;
    Node node = *node_at(m, n); /* a copy: nodes are added */
    if (node.op != OP_REDUCE || !is_short(s, &node))
        return false;
    int d = (int)((const DimensionsAttrs *)node.attrs)->dimensions.at[0], count = node.nin / 2;
    Type out = type_of(m, node.out);
    ValueId *args = ARENA_ARRAY(m->arena, ValueId, node.nin);
    ValueId *results = ARENA_ARRAY(m->arena, ValueId, count);
    BroadcastAttrs *everywhere = ARENA_NEW(m->arena, BroadcastAttrs);
    for (int i = 0; i < count; i++) {
        Type type = type_of(m, node.out + (ValueId)i);
        results[i] =
            simplify_put(s, OP_BROADCAST, 1, &node.in[count + i], type, everywhere, node.loc);
    }
    for (int64_t at = 0; at < type_of(m, node.in[0]).dims[d]; at++) {
        for (int i = 0; i < count; i++) {
            args[i] = results[i];
            args[count + i] = part_of(s, node.in[i], d, at, node.loc);
        }
        step(s, node.regions[0], out, args, results);
    }
    for (int i = 0; i < count; i++)
        subst_set(&s->map, node.out + (ValueId)i, results[i]);
    return true;
}
