/* gathers.c - elements found by numbers that the program knows something about.
 *
 *     x[i, iota], of as many rows as x has columns         ->  each from its own column: a batch dimension
 *     concatenate(a, b, c)[i, each its own column]         ->  i < 1 ? a : i < 2 ? b : c
 *     (x - log z)[i, j], few of many                       ->  x[i, j] - (log z)[i]
 *
 * JAX writes x[:, i], take_along_axis, choose and the like with numbers for every dimension.  A batch dimension is
 * walked in order; where one of few arrays is chosen for each element, no array of all of them is made; and where
 * few are taken of what is computed element by element, as a loss takes the logarithms of the right answers, it is
 * computed for those alone. */
#include "engine/passes/simplify/simplify.h"

#include <string.h>

enum { MOST_CHOICES = 8, DEEPEST = 8 };

static const Node *definer(const Module *m, ValueId v)
{
    NodeId def = value_def(m, v);
    return def ? node_at(m, def) : NULL;
}

/* Do its numbers count, all of them in the range of their type? */
static bool counts(const Module *m, ValueId v, const Node *iota)
{
    Type t = type_of(m, v);
    int64_t extent = t.dims[((const IotaAttrs *)iota->attrs)->iota_dimension];
    return extent <= (element_info[t.element].bits >= 32 ? INT32_MAX : INT8_MAX) &&
           element_info[t.element].bits >= 8;
}

/* ---- own columns ---- */

/* The dimension of v along which its elements count 0, 1, ..; -1: they do not. */
static int counts_along(const Module *m, ValueId v, int depth)
{
    const Node *node = definer(m, v);
    if (!node || depth == DEEPEST)
        return -1;
    if (node->op == OP_IOTA && counts(m, v, node))
        return (int)((const IotaAttrs *)node->attrs)->iota_dimension;
    if (node->op != OP_RESHAPE && node->op != OP_BROADCAST)
        return -1;
    int inner = counts_along(m, node->in[0], depth + 1);
    Type in = type_of(m, node->in[0]), out = type_of(m, v);
    if (inner < 0)
        return -1;
    if (node->op == OP_BROADCAST) {
        int to = (int)((const BroadcastAttrs *)node->attrs)->broadcast_dimensions.at[inner];
        return out.dims[to] == in.dims[inner] ? to : -1;
    }
    /* A reshape that only has other extents of 1. */
    int found = -1, d = 0;
    for (int i = 0; i < in.rank; i++) {
        if (in.dims[i] == 1)
            continue;
        while (d < out.rank && out.dims[d] == 1)
            d++;
        if (d == out.rank || out.dims[d] != in.dims[i])
            return -1;
        found = i == inner ? d : found;
        d++;
    }
    return found;
}

/* The columns that the numbers of a gather are joined of, one for each component; NULL: they are not. */
static const Node *columns_of(const Module *m, const Node *node)
{
    const GatherAttrs *a = node->attrs;
    const Node *joined = definer(m, node->in[1]);
    if (!joined || joined->op != OP_CONCATENATE || joined->nin != a->start_index_map.n ||
        ((const DimensionAttrs *)joined->attrs)->dimension != a->index_vector_dim)
        return NULL;
    for (int i = 0; i < joined->nin; i++)
        if (type_of(m, joined->in[i]).dims[a->index_vector_dim] != 1)
            return NULL;
    return joined;
}

static Ints ints_without(Arena *arena, Ints list, int at)
{
    int64_t kept[MAX_RANK];
    int n = 0;
    for (int i = 0; i < list.n; i++)
        if (i != at)
            kept[n++] = list.at[i];
    return ints_copy(arena, n, kept);
}

static Ints ints_with(Arena *arena, Ints list, int at, int64_t x)
{
    int64_t more[MAX_RANK + 1];
    for (int i = 0; i < list.n; i++)
        more[i + (i >= at)] = list.at[i];
    more[at] = x;
    return ints_copy(arena, list.n + 1, more);
}

/* Component c of the numbers, which count along their dimension b, becomes a batch dimension. */
static ValueId without_component(Simplifier *s, const Node *node, const Node *joined, int c, int b)
{
    Arena *arena = s->m->arena;
    const GatherAttrs *old = node->attrs;
    int64_t d = old->start_index_map.at[c], dims[MAX_RANK];
    int at = 0, n = 0;
    while (at < old->operand_batching_dims.n && old->operand_batching_dims.at[at] < d)
        at++;
    GatherAttrs *a = ARENA_NEW(arena, GatherAttrs);
    *a = *old;
    a->collapsed_slice_dims =
        ints_without(arena, old->collapsed_slice_dims, ints_find(old->collapsed_slice_dims, d));
    a->operand_batching_dims = ints_with(arena, old->operand_batching_dims, at, d);
    a->start_indices_batching_dims = ints_with(arena, old->start_indices_batching_dims, at, b);
    a->start_index_map = ints_without(arena, old->start_index_map, c);
    a->indices_are_sorted = false;
    ValueId *kept = ARENA_ARRAY(arena, ValueId, joined->nin);
    for (int i = 0; i < joined->nin; i++)
        if (i != c)
            kept[n++] = joined->in[i];
    Type t = type_of(s->m, node->in[1]);
    memcpy(dims, t.dims, sizeof *dims * (size_t)t.rank);
    dims[old->index_vector_dim] = n;
    ValueId numbers =
        simplify_put(s, OP_CONCATENATE, n, kept, type_new(arena, t.element, t.rank, dims),
                     joined->attrs, node->loc);
    ValueId in[] = { node->in[0], numbers };
    return simplify_put(s, OP_GATHER, 2, in, type_of(s->m, node->out), a, node->loc);
}

static ValueId take_own_column(Simplifier *s, const Node *node)
{
    const GatherAttrs *a = node->attrs;
    Type x = type_of(s->m, node->in[0]), numbers = type_of(s->m, node->in[1]);
    const Node *joined = columns_of(s->m, node);
    for (int c = 0; joined && joined->nin > 1 && c < joined->nin; c++) {
        int64_t d = a->start_index_map.at[c];
        int b = counts_along(s->m, joined->in[c], 0);
        if (b >= 0 && b != a->index_vector_dim && x.dims[d] == numbers.dims[b] &&
            ints_find(a->collapsed_slice_dims, d) >= 0 &&
            ints_find(a->start_indices_batching_dims, b) < 0) {
            Node columns = *joined; /* a copy: nodes are added */
            return without_component(s, node, &columns, c, b);
        }
    }
    return 0;
}

/* ---- one of few arrays ---- */

/* Does the gather choose along d alone, for each element one of what stands there? */
static bool chooses_along(const Node *node, int d, Type x, Type numbers)
{
    const GatherAttrs *a = node->attrs;
    int64_t last = -1;
    bool has_vectors = a->index_vector_dim < numbers.rank;
    if (a->start_index_map.n != 1 || a->start_index_map.at[0] != d || a->offset_dims.n ||
        a->operand_batching_dims.n + 1 != x.rank || numbers.rank - has_vectors + 1 != x.rank)
        return false;
    for (int i = 0; i < a->start_indices_batching_dims.n; i++) {
        if (a->start_indices_batching_dims.at[i] < last)
            return false;
        last = a->start_indices_batching_dims.at[i];
    }
    return true;
}

static ValueId choose_array(Simplifier *s, const Node *node)
{
    Module *m = s->m;
    const Node *found = definer(m, node->in[0]);
    if (!found || found->op != OP_CONCATENATE || found->nin > MOST_CHOICES)
        return 0;
    Node joined = *found; /* a copy: nodes are added */
    int d = (int)((const DimensionAttrs *)joined.attrs)->dimension;
    Type out = type_of(m, node->out), numbers = type_of(m, node->in[1]);
    if (type_of(m, node->in[0]).dims[d] != joined.nin || element_info[numbers.element].bits < 8 ||
        !chooses_along(node, d, type_of(m, node->in[0]), numbers))
        return 0;
    Type index = type_new(m->arena, numbers.element, out.rank, out.dims);
    Type mask = type_new(m->arena, I1, out.rank, out.dims);
    ValueId which = simplify_put(s, OP_RESHAPE, 1, &node->in[1], index, NULL, node->loc), made = 0;
    CompareAttrs *less = ARENA_NEW(m->arena, CompareAttrs);
    *less = (CompareAttrs){ .comparison_direction = LT, .compare_type = COMPARE_NOTYPE };
    for (int i = joined.nin - 1; i >= 0; i--) {
        ValueId mine = simplify_put(s, OP_RESHAPE, 1, &joined.in[i], out, NULL, node->loc);
        int64_t *limit = ARENA_NEW(m->arena, int64_t);
        *limit = i + 1; /* little-endian */
        ValueId two[] = { which, simplify_constant(s, (Dense){ index, true, limit }, node->loc) };
        ValueId is_mine = made ? simplify_put(s, OP_COMPARE, 2, two, mask, less, node->loc) : 0;
        ValueId three[] = { is_mine, mine, made };
        made = made ? simplify_put(s, OP_SELECT, 3, three, out, NULL, node->loc) : mine;
    }
    return made;
}

/* ---- few of what is computed ---- */

/* The dimension of the result that follows dimension d of the operand; -1: it is chosen from. */
static int followed_by(const Module *m, const Node *gather, int64_t d)
{
    const GatherAttrs *a = gather->attrs;
    Type in = type_of(m, gather->in[0]), out = type_of(m, gather->out);
    int at = ints_find(a->operand_batching_dims, d);
    if (at >= 0) {
        int64_t of_indices = a->start_indices_batching_dims.at[at];
        int64_t place = of_indices - (a->index_vector_dim < of_indices);
        for (int e = 0; e < out.rank; e++)
            if (ints_find(a->offset_dims, e) < 0 && place-- == 0)
                return e;
        return -1;
    }
    if (ints_find(a->collapsed_slice_dims, d) >= 0 || a->slice_sizes.at[d] != in.dims[d])
        return -1;
    int before = 0;
    for (int64_t e = 0; e < d; e++)
        before +=
            ints_find(a->collapsed_slice_dims, e) < 0 && ints_find(a->operand_batching_dims, e) < 0;
    return (int)a->offset_dims.at[before];
}

/* Where the dimensions of what is broadcast, but those of extent 1, stand in the gather's result, in order; how many,
 * or -1: it is chosen from what was broadcast, or the order is another. */
static int dims_of_chosen(const Module *m, const Node *gather, const Node *broadcast, int64_t *dims)
{
    Ints to = ((const BroadcastAttrs *)broadcast->attrs)->broadcast_dimensions;
    Type in = type_of(m, broadcast->in[0]);
    int n = 0;
    for (int i = 0; i < in.rank; i++) {
        if (in.dims[i] == 1)
            continue;
        int d = followed_by(m, gather, to.at[i]);
        if (d < 0 || (n > 0 && d <= dims[n - 1]))
            return -1;
        dims[n++] = d;
    }
    return n;
}

static bool is_computed(const Module *m, const Node *node)
{
    if (!node || op_info[node->op].kind != KIND_MAP || node->nin == 0 || node->nregions ||
        node->nout != 1 || op_info[node->op].effect != EFFECT_NONE)
        return false;
    Type out = type_of(m, node->out);
    for (int i = 0; i < node->nin; i++)
        if (type_of(m, node->in[i]).rank && !type_same_shape(type_of(m, node->in[i]), out))
            return false;
    return true;
}

/* Can elements of v be had without making all of it?  *left: so many operations are looked at.  *made: of what
 * must be made for it; one is no more than v itself would be. */
static bool can_choose(const Module *m, const Node *gather, ValueId v, int *left, int *made)
{
    int64_t dims[MAX_RANK + 1];
    const Node *node = definer(m, v);
    const Dense *constant = value_constant(m, v);
    if (--*left < 0)
        return false;
    if (!node || (constant && constant->is_splat) || type_of(m, v).rank == 0)
        return true;
    if (node->op == OP_BROADCAST)
        return dims_of_chosen(m, gather, node, dims) >= 0;
    if (!is_computed(m, node)) {
        OpKind kind = op_info[node->op].kind;
        *made += kind != KIND_BLOCK && kind != KIND_FOLD;
        return *made <= 1;
    }
    for (int i = 0; i < node->nin; i++)
        if (!can_choose(m, gather, node->in[i], left, made))
            return false;
    return true;
}

static Type chosen_type(const Simplifier *s, const Node *gather, ValueId v)
{
    Type out = type_of(s->m, gather->out);
    return type_new(s->m->arena, type_of(s->m, v).element, out.rank, out.dims);
}

static ValueId broadcast_chosen(Simplifier *s, const Node *gather, ValueId v)
{
    Module *m = s->m;
    const Node *node = definer(m, v);
    int64_t to[MAX_RANK + 1], extents[MAX_RANK + 1];
    int n = dims_of_chosen(m, gather, node, to);
    Type out = chosen_type(s, gather, v);
    for (int i = 0; i < n; i++)
        extents[i] = out.dims[to[i]];
    ValueId in = node->in[0];
    Type narrow = type_new(m->arena, out.element, n, extents);
    in = simplify_put(s, OP_RESHAPE, 1, &in, narrow, NULL, gather->loc);
    BroadcastAttrs *attrs = ARENA_NEW(m->arena, BroadcastAttrs);
    attrs->broadcast_dimensions = ints_copy(m->arena, n, to);
    return simplify_put(s, OP_BROADCAST, 1, &in, out, attrs, gather->loc);
}

static ValueId choose_from(Simplifier *s, const Node *gather, ValueId v)
{
    Module *m = s->m;
    const Node *found = definer(m, v);
    const Dense *constant = value_constant(m, v);
    Type out = chosen_type(s, gather, v);
    if (type_of(m, v).rank == 0)
        return v;
    if (constant && constant->is_splat)
        return simplify_constant(s, (Dense){ out, true, constant->data }, gather->loc);
    if (found && found->op == OP_BROADCAST)
        return broadcast_chosen(s, gather, v);
    if (!is_computed(m, found)) {
        ValueId in[] = { v, gather->in[1] };
        return simplify_put(s, OP_GATHER, 2, in, out, gather->attrs, gather->loc);
    }
    Node node = *found; /* a copy: nodes are added */
    ValueId *in = ARENA_ARRAY(m->arena, ValueId, node.nin);
    for (int i = 0; i < node.nin; i++)
        in[i] = choose_from(s, gather, node.in[i]);
    return simplify_put(s, node.op, node.nin, in, out, node.attrs, node.loc);
}

static ValueId compute_chosen(Simplifier *s, const Node *gather)
{
    enum { FEW = 8, MOST_OPERATIONS = 24 };
    const Module *m = s->m;
    int left = MOST_OPERATIONS, made = 0;
    const Node *node = definer(m, gather->in[0]);
    int64_t n = type_count(type_of(m, gather->out)), all = type_count(type_of(m, gather->in[0]));
    if (n == 0 || n > all / FEW || !is_computed(m, node) ||
        !can_choose(m, gather, gather->in[0], &left, &made))
        return 0;
    return choose_from(s, gather, gather->in[0]);
}

ValueId simplify_gather(Simplifier *s, NodeId n)
{
    Node node = *node_at(s->m, n); /* a copy: nodes are added */
    if (node.op != OP_GATHER || ((const GatherAttrs *)node.attrs)->drops)
        return 0;
    ValueId v = take_own_column(s, &node);
    v = v ? v : choose_array(s, &node);
    return v ? v : compute_chosen(s, &node);
}
