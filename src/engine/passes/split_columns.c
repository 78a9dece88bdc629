/* split_columns.c - arrays of two to four columns that programs take apart and put together.
 *
 *   p: f32[1024,3], carried by a loop          p0, p1, p2: f32[1024], carried by the loop
 *   x = p[:,0]; y = p[:,1]; ...                x = p0; y = p1; ...
 *   q = stack([10 (y - x), ...], 1) * 0.5      q0 = 10 (y - x) * 0.5; q1 = ...
 *   p' = p + q                                 p0' = p0 + q0; p1' = ...
 *
 * A state that is written as one array is read column by column, and a kernel cannot compute a
 * value at three different indices at once: each stack and each column would be a trip through
 * memory.  As columns everything is computed at one index, in one kernel; of a single row the columns
 * are scalars, which live in registers.
 *
 * A value is wanted in columns if a column of it is read, or something wanted is computed from it
 * element by element or by transposition.  It is split if it is also made of columns: by a concatenate
 * or a pad, or computed so from such a value.  What a loop carries is split if its body wants it and makes
 * it so.  Behind each split value stands the concatenate of its columns, for readers of the whole;
 * simplify drops those that none reads. */
#include "engine/passes/passes.h"
#include "hlo/rewrite.h"

#include <string.h>

/* What is found in a loop's body is known to its readers in the next round; loops in loops may need
 * more, and are left as they are. */
enum { MOST_COLUMNS = 4, NOT_WANTED = -1, ROUNDS = 3 };

typedef struct Split {
    Module *m;
    uint32_t nvalues;  /* when the pass began */
    int *wanted;       /* by value: the dimension along which, or NOT_WANTED */
    bool *is_made;     /* by value: it is made of columns */
    ValueId **columns; /* by value: NULL, or as many as the dimension's extent */
    bool any;
    Subst map;
} Split;

/* ---- what is wanted ---- */

static int64_t extent(const Split *s, ValueId v)
{
    return type_of(s->m, v).dims[s->wanted[v]];
}

/* The dimension of which a slice takes one element, all others whole; NOT_WANTED: no such slice. */
static int column_dimension(const Module *m, const Node *node)
{
    if (node->op != OP_SLICE)
        return NOT_WANTED;
    Type from = type_of(m, node->in[0]), to = type_of(m, node->out);
    int found = NOT_WANTED;
    for (int d = 0; d < from.rank; d++) {
        if (from.dims[d] == to.dims[d])
            continue;
        if (found != NOT_WANTED || to.dims[d] != 1 || from.dims[d] > MOST_COLUMNS)
            return NOT_WANTED;
        found = d;
    }
    return found;
}

/* Computed element by element from values of its own shape, and scalars. */
static bool is_elementwise(const Module *m, const Node *node)
{
    if (op_info[node->op].kind != KIND_MAP || node->nout != 1 || node->nregions ||
        op_info[node->op].effect != EFFECT_NONE)
        return false;
    Type type = type_of(m, node->out);
    for (int i = 0; i < node->nin; i++) {
        Type in = type_of(m, node->in[i]);
        if (in.rank != 0 && !type_same_shape(in, type))
            return false;
    }
    return node->nin > 0;
}

static void want(Split *s, ValueId v, int d)
{
    Type type = type_of(s->m, v);
    if (s->wanted[v] == NOT_WANTED && d < type.rank && type.dims[d] >= 2)
        s->wanted[v] = d;
}

/* A value that a loop carries has four names: an argument of each region, what the body returns,
 * and the loop's result; and it begins as an operand. */
static void want_carried(Split *s, const Node *node)
{
    const Module *m = s->m;
    ValueId cond = region_at(m, node->regions[0])->args,
            body = region_at(m, node->regions[1])->args;
    const Node *ret = region_return(m, node->regions[1]);
    for (int i = 0; i < node->nin; i++) {
        ValueId names[] = { cond + (ValueId)i, body + (ValueId)i, ret->in[i],
                            node->out + (ValueId)i };
        int d = NOT_WANTED;
        for (int k = 0; k < 4 && d == NOT_WANTED; k++)
            d = s->wanted[names[k]];
        for (int k = 0; k < 4 && d != NOT_WANTED; k++)
            want(s, names[k], d);
    }
}

/* The dimension of its operand that dimension d of a transpose is. */
static int transposed_from(const Node *node, int d)
{
    return (int)((const TransposeAttrs *)node->attrs)->permutation.at[d];
}

static void want_operand(Split *s, const Node *node, int k)
{
    int d = s->wanted[node->out];
    if (node->op == OP_TRANSPOSE)
        want(s, node->in[k], transposed_from(node, d));
    else if (is_elementwise(s->m, node) && type_of(s->m, node->in[k]).rank)
        want(s, node->in[k], d);
}

/* Backwards, so that readers come first. */
static void want_region(Split *s, RegionId r)
{
    const Module *m = s->m;
    for (int i = region_at(m, r)->nnodes - 1; i >= 0; i--) {
        const Node *node = node_at(m, region_at(m, r)->nodes[i]);
        if (node_flow(node) == FLOW_LOOP)
            want_carried(s, node);
        for (int k = 0; node_holds_code(node) && k < node->nregions; k++)
            want_region(s, node->regions[k]);
        int d = column_dimension(m, node);
        if (d != NOT_WANTED)
            want(s, node->in[0], d);
        bool is_wanted = node->nout == 1 && s->wanted[node->out] != NOT_WANTED;
        for (int k = 0; is_wanted && k < node->nin; k++)
            want_operand(s, node, k);
    }
}

/* ---- what is made of columns ---- */

static bool pads_columns(const Node *node, int d)
{
    const PadAttrs *a = node->attrs;
    for (int i = 0; i < a->edge_padding_low.n; i++) {
        bool is_plain = a->interior_padding.at[i] == 0 && a->edge_padding_low.at[i] >= 0 &&
                        a->edge_padding_high.at[i] >= 0;
        bool is_none = a->edge_padding_low.at[i] == 0 && a->edge_padding_high.at[i] == 0;
        if (!is_plain || (i != d && !is_none))
            return false;
    }
    return true;
}

static bool node_makes(const Split *s, const Node *node)
{
    if (node->nout != 1 || s->wanted[node->out] == NOT_WANTED)
        return false;
    int d = s->wanted[node->out];
    if (node->op == OP_CONCATENATE)
        return ((const DimensionAttrs *)node->attrs)->dimension == d;
    if (node->op == OP_PAD)
        return pads_columns(node, d);
    if (node->op == OP_TRANSPOSE)
        return s->is_made[node->in[0]] && s->wanted[node->in[0]] == transposed_from(node, d);
    bool any = false;
    for (int i = 0; is_elementwise(s->m, node) && i < node->nin; i++)
        any |= s->is_made[node->in[i]] && s->wanted[node->in[i]] == d;
    return any;
}

/* Once without what loops carry, then with those that their bodies make. */
static void made_region(Split *s, RegionId r)
{
    const Module *m = s->m;
    for (int i = 0; i < region_at(m, r)->nnodes; i++) {
        const Node *node = node_at(m, region_at(m, r)->nodes[i]);
        for (int k = 0; node_holds_code(node) && k < node->nregions; k++)
            made_region(s, node->regions[k]);
        if (node->nout == 1)
            s->is_made[node->out] |= node_makes(s, node);
        if (node_flow(node) != FLOW_LOOP)
            continue;
        ValueId cond = region_at(m, node->regions[0])->args;
        ValueId body = region_at(m, node->regions[1])->args;
        const Node *ret = region_return(m, node->regions[1]);
        for (int c = 0; c < node->nin; c++) {
            ValueId v = (ValueId)c;
            int d = s->wanted[body + v];
            bool is_made = d != NOT_WANTED && s->is_made[ret->in[c]] &&
                           s->wanted[ret->in[c]] == d && s->wanted[cond + v] == d &&
                           s->wanted[node->out + v] == d;
            s->is_made[cond + v] |= is_made;
            s->is_made[body + v] |= is_made;
            s->is_made[node->out + v] |= is_made;
        }
    }
}

/* ---- columns ---- */

/* The type without the dimension d. */
static Type column_type(const Split *s, Type t, int d)
{
    int64_t dims[MAX_RANK + 1];
    int n = 0;
    for (int i = 0; i < t.rank; i++)
        if (i != d)
            dims[n++] = t.dims[i];
    return type_new(s->m->arena, t.element, n, dims);
}

static ValueId *columns_new(const Split *s, ValueId v)
{
    return ARENA_ARRAY(s->m->arena, ValueId, (int)extent(s, v));
}

static ValueId reshaped(const Split *s, RegionId r, ValueId v, Type type, const Loc *loc)
{
    static const NoAttrs none;
    return build_node(s->m, r, OP_RESHAPE, 1, &v, type, &none, loc);
}

/* Column j of any value. */
static ValueId column_sliced(const Split *s, RegionId r, ValueId v, int d, int64_t j,
                             const Loc *loc)
{
    Module *m = s->m;
    Type type = type_of(m, v);
    int64_t from[MAX_RANK + 1], to[MAX_RANK + 1], one[MAX_RANK + 1], dims[MAX_RANK + 1];
    for (int i = 0; i < type.rank; i++) {
        from[i] = i == d ? j : 0;
        to[i] = i == d ? j + 1 : type.dims[i];
        dims[i] = to[i] - from[i];
        one[i] = 1;
    }
    SliceAttrs *attrs = ARENA_NEW(m->arena, SliceAttrs);
    attrs->start_indices = ints_copy(m->arena, type.rank, from);
    attrs->limit_indices = ints_copy(m->arena, type.rank, to);
    attrs->strides = ints_copy(m->arena, type.rank, one);
    Type sliced = type_new(m->arena, type.element, type.rank, dims);
    ValueId slice = build_node(m, r, OP_SLICE, 1, &v, sliced, attrs, loc);
    return reshaped(s, r, slice, column_type(s, type, d), loc);
}

/* A column of a broadcast that is the same in all columns; 0: it is none such. */
static ValueId column_broadcast(const Split *s, RegionId r, ValueId v, int d)
{
    Module *m = s->m;
    NodeId def = value_def(m, v);
    if (!def || node_at(m, def)->op != OP_BROADCAST)
        return 0;
    Node node = *node_at(m, def);
    Ints old = ((const BroadcastAttrs *)node.attrs)->broadcast_dimensions;
    int64_t dims[MAX_RANK + 1];
    for (int i = 0; i < old.n; i++) {
        if (old.at[i] == d)
            return 0;
        dims[i] = old.at[i] - (old.at[i] > d);
    }
    BroadcastAttrs *attrs = ARENA_NEW(m->arena, BroadcastAttrs);
    attrs->broadcast_dimensions = ints_copy(m->arena, old.n, dims);
    ValueId in = subst_get(&s->map, node.in[0]);
    return build_node(m, r, OP_BROADCAST, 1, &in, column_type(s, type_of(m, v), d), attrs,
                      node.loc);
}

static ValueId column_of(const Split *s, RegionId r, ValueId v, int d, int64_t j, const Loc *loc)
{
    Module *m = s->m;
    if (v < s->nvalues && s->columns[v] && s->wanted[v] == d)
        return s->columns[v][j];
    const Dense *constant = value_constant(m, v);
    if (constant && constant->is_splat) {
        Dense one = { column_type(s, constant->type, d), true, constant->data };
        return build_constant(m, r, one, loc);
    }
    ValueId spread = column_broadcast(s, r, v, d);
    return spread ? spread : column_sliced(s, r, subst_get(&s->map, v), d, j, loc);
}

/* For those that read the whole. */
static ValueId whole_of(const Split *s, RegionId r, Type type, int d, const ValueId *columns,
                        const Loc *loc)
{
    Module *m = s->m;
    int64_t dims[MAX_RANK + 1], n = type.dims[d];
    ValueId parts[MOST_COLUMNS];
    memcpy(dims, type.dims, sizeof *dims * (size_t)type.rank);
    dims[d] = 1;
    Type part = type_new(m->arena, type.element, type.rank, dims);
    for (int64_t j = 0; j < n; j++)
        parts[j] = reshaped(s, r, columns[j], part, loc);
    DimensionAttrs *attrs = ARENA_NEW(m->arena, DimensionAttrs);
    attrs->dimension = d;
    return build_node(m, r, OP_CONCATENATE, (int)n, parts, type, attrs, loc);
}

/* ---- the walk: every region is written anew ---- */

static void columns_by_concatenate(const Split *s, RegionId r, const Node *node, ValueId *columns)
{
    int d = s->wanted[node->out], n = 0;
    for (int i = 0; i < node->nin; i++)
        for (int64_t j = 0; j < type_of(s->m, node->in[i]).dims[d]; j++)
            columns[n++] = column_of(s, r, node->in[i], d, j, node->loc);
}

static void columns_by_pad(const Split *s, RegionId r, const Node *node, ValueId *columns)
{
    int d = s->wanted[node->out];
    int64_t low = ((const PadAttrs *)node->attrs)->edge_padding_low.at[d];
    int64_t n = type_of(s->m, node->in[0]).dims[d];
    Type type = column_type(s, type_of(s->m, node->out), d);
    static const BroadcastAttrs nowhere;
    ValueId padding = subst_get(&s->map, node->in[1]);
    for (int64_t j = 0; j < extent(s, node->out); j++)
        columns[j] = j >= low && j < low + n ? column_of(s, r, node->in[0], d, j - low, node->loc)
                                             : build_node(s->m, r, OP_BROADCAST, 1, &padding, type,
                                                          &nowhere, node->loc);
}

static void columns_by_elements(const Split *s, RegionId r, const Node *node, ValueId *columns)
{
    Module *m = s->m;
    int d = s->wanted[node->out];
    Type type = column_type(s, type_of(m, node->out), d);
    ValueId *in = ARENA_ARRAY(m->arena, ValueId, node->nin);
    for (int64_t j = 0; j < extent(s, node->out); j++) {
        for (int i = 0; i < node->nin; i++)
            in[i] = type_of(m, node->in[i]).rank ? column_of(s, r, node->in[i], d, j, node->loc)
                                                 : subst_get(&s->map, node->in[i]);
        columns[j] = build_node(m, r, node->op, node->nin, in, type, node->attrs, node->loc);
    }
}

/* The other dimensions keep their order among themselves. */
static void columns_by_transpose(const Split *s, RegionId r, const Node *node, ValueId *columns)
{
    Module *m = s->m;
    int d = s->wanted[node->out], from = transposed_from(node, d), n = 0;
    Ints all = ((const TransposeAttrs *)node->attrs)->permutation;
    int64_t rest[MAX_RANK + 1];
    for (int i = 0; i < all.n; i++)
        if (i != d)
            rest[n++] = all.at[i] - (all.at[i] > from);
    TransposeAttrs *attrs = ARENA_NEW(m->arena, TransposeAttrs);
    attrs->permutation = ints_copy(m->arena, n, rest);
    Type type = column_type(s, type_of(m, node->out), d);
    for (int64_t j = 0; j < extent(s, node->out); j++) {
        ValueId column = column_of(s, r, node->in[0], from, j, node->loc);
        columns[j] = build_node(m, r, OP_TRANSPOSE, 1, &column, type, attrs, node->loc);
    }
}

static void node_split(Split *s, RegionId r, NodeId id)
{
    Node node = *node_at(s->m, id);
    int d = s->wanted[node.out];
    ValueId *columns = columns_new(s, node.out);
    if (node.op == OP_CONCATENATE)
        columns_by_concatenate(s, r, &node, columns);
    else if (node.op == OP_PAD)
        columns_by_pad(s, r, &node, columns);
    else if (node.op == OP_TRANSPOSE)
        columns_by_transpose(s, r, &node, columns);
    else
        columns_by_elements(s, r, &node, columns);
    s->columns[node.out] = columns;
    s->any = true;
    subst_set(&s->map, node.out, whole_of(s, r, type_of(s->m, node.out), d, columns, node.loc));
}

/* A slice of one column of a split value is that column. */
static bool slice_replaced(Split *s, RegionId r, NodeId id)
{
    Node node = *node_at(s->m, id);
    int d = column_dimension(s->m, &node);
    if (d == NOT_WANTED || !s->columns[node.in[0]] || s->wanted[node.in[0]] != d)
        return false;
    int64_t j = ((const SliceAttrs *)node.attrs)->start_indices.at[d];
    ValueId column = s->columns[node.in[0]][j];
    subst_set(&s->map, node.out, reshaped(s, r, column, type_of(s->m, node.out), node.loc));
    return true;
}

static void region_split(Split *s, RegionId r);

static bool is_split(const Split *s, ValueId v)
{
    return s->wanted[v] != NOT_WANTED && s->is_made[v];
}

/* The region with a column each for what is split; wholes are put together where it begins. */
static RegionId region_widen(Split *s, RegionId r, const Type *types, int n)
{
    Module *m = s->m;
    Region old = *region_at(m, r);
    RegionId wide = region_new(m, 0, n, types);
    ValueId next = region_at(m, wide)->args;
    for (int i = 0; i < old.nargs; i++) {
        ValueId v = old.args + (ValueId)i;
        if (!is_split(s, v)) {
            subst_set(&s->map, v, next++);
            continue;
        }
        s->columns[v] = columns_new(s, v);
        for (int64_t j = 0; j < extent(s, v); j++)
            s->columns[v][j] = next++;
        subst_set(&s->map, v,
                  whole_of(s, wide, type_of(m, v), s->wanted[v], s->columns[v], &loc_unknown));
    }
    for (int i = 0; i < old.nnodes; i++)
        region_append(m, wide, old.nodes[i]);
    return wide;
}

/* Of the values in a list of those that the loop carries: columns, or as they are. */
static int columns_list(Split *s, RegionId r, int n, const ValueId *values, ValueId carried,
                        ValueId *out, const Loc *loc)
{
    int count = 0;
    for (int i = 0; i < n; i++) {
        ValueId v = carried + (ValueId)i;
        if (!is_split(s, v)) {
            out[count++] = values[i];
            continue;
        }
        for (int64_t j = 0; j < extent(s, v); j++)
            out[count++] = column_of(s, r, values[i], s->wanted[v], j, loc);
    }
    return count;
}

static void loop_split(Split *s, RegionId r, NodeId id)
{
    Module *m = s->m;
    Node node = *node_at(m, id);
    ValueId cond = region_at(m, node.regions[0])->args, body = region_at(m, node.regions[1])->args;
    ValueId *in = ARENA_ARRAY(m->arena, ValueId, node.nin * MOST_COLUMNS);
    int n = columns_list(s, r, node.nin, node.in, cond, in, node.loc);
    Type *types = ARENA_ARRAY(m->arena, Type, n);
    for (int i = 0; i < n; i++)
        types[i] = type_of(m, in[i]);
    RegionId regions[2];
    for (int k = 0; k < 2; k++) {
        regions[k] = region_widen(s, node.regions[k], types, n);
        region_split(s, regions[k]);
    }
    NodeId end = region_at(m, regions[1])->nodes[region_at(m, regions[1])->nnodes - 1];
    Node ret = *node_at(m, end);
    region_at(m, regions[1])->nnodes--; /* columns of what it returns come before it */
    ValueId *out = ARENA_ARRAY(m->arena, ValueId, n);
    columns_list(s, regions[1], ret.nin, ret.in, body, out, ret.loc);
    build_return(m, regions[1], n, out, ret.loc);
    NodeId wide = node_new(m, OP_WHILE, n, in, n, types, 2, regions, node.attrs, node.loc);
    node_at(m, wide)->extra = node.extra;
    region_append(m, r, wide);
    ValueId next = node_at(m, wide)->out;
    for (int i = 0; i < node.nin; i++) {
        ValueId v = node.out + (ValueId)i, carried = cond + (ValueId)i;
        if (!is_split(s, carried)) {
            subst_set(&s->map, v, next++);
            continue;
        }
        s->columns[v] = columns_new(s, v);
        for (int64_t j = 0; j < extent(s, v); j++)
            s->columns[v][j] = next++;
        Type type = type_of(m, v);
        subst_set(&s->map, v, whole_of(s, r, type, s->wanted[v], s->columns[v], node.loc));
    }
    s->any = true;
}

static bool carries_split(const Split *s, const Node *node)
{
    ValueId cond = region_at(s->m, node->regions[0])->args;
    for (int i = 0; i < node->nin; i++)
        if (is_split(s, cond + (ValueId)i))
            return true;
    return false;
}

static void region_split(Split *s, RegionId r)
{
    Module *m = s->m;
    int n;
    NodeId *old = region_take_nodes(m, r, &n);
    for (int i = 0; i < n; i++) {
        const Node *node = node_at(m, old[i]);
        bool is_new = node->nout && node->out >= s->nvalues;
        if (is_new) {
            region_append(m, r, old[i]);
        } else if (node_flow(node) == FLOW_LOOP && carries_split(s, node)) {
            loop_split(s, r, old[i]);
        } else if (node->nout == 1 && is_split(s, node->out) && node_makes(s, node)) {
            node_split(s, r, old[i]);
        } else if (!slice_replaced(s, r, old[i])) {
            for (int k = 0; node_holds_code(node_at(m, old[i])) && k < node_at(m, old[i])->nregions;
                 k++)
                region_split(s, node_at(m, old[i])->regions[k]);
            region_append(m, r, old[i]);
        }
    }
}

Error *pass_split_columns(Module *m, const CompileOptions *o)
{
    RegionId main = module_main(m);
    Split s = { .m = m, .nvalues = m->nvalues, .map = subst_new(m) };
    Arena *scratch = arena_new();
    s.wanted = ARENA_ARRAY(scratch, int, m->nvalues);
    s.is_made = ARENA_ARRAY(scratch, bool, m->nvalues);
    s.columns = ARENA_ARRAY(scratch, ValueId *, m->nvalues);
    for (ValueId v = 0; v < m->nvalues; v++)
        s.wanted[v] = NOT_WANTED;
    for (int round = 0; round < ROUNDS; round++)
        want_region(&s, main);
    for (int round = 0; round < ROUNDS; round++)
        made_region(&s, main);
    region_split(&s, main);
    subst_apply(&s.map, m, main);
    subst_free(&s.map);
    arena_free(scratch);
    if (s.any)
        simplify_again(m, o);
    return NULL;
}
