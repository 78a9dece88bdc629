/* identity.c - operations that hand an operand on, and chains of moves that are one move.
 *
 * In goes a node; out comes the operand it is equal to, or a plainer node that does the work
 * of two (reshape of reshape, transpose of transpose, broadcast of broadcast), or 0.
 * Sums are touched for integers only: x + 0 is not x for a float -0. */
#include "engine/passes/simplify/simplify.h"

#include "ops/number.h"

#include <string.h>

/* The node that defines operand k, if it is an `op`. */
static const Node *operand_node(const Module *m, const Node *node, int k, OpId op)
{
    NodeId def = value_def(m, node->in[k]);
    return def && node_at(m, def)->op == op ? node_at(m, def) : NULL;
}

static bool is_iota(Ints list)
{
    for (int i = 0; i < list.n; i++)
        if (list.at[i] != i)
            return false;
    return true;
}

static bool all_are(Ints list, int64_t x)
{
    for (int i = 0; i < list.n; i++)
        if (list.at[i] != x)
            return false;
    return true;
}

/* ---- moves ---- */

static ValueId reshape(Simplifier *s, const Node *node)
{
    const Node *inner = operand_node(s->m, node, 0, OP_RESHAPE);
    if (!inner)
        return 0;
    return simplify_put(s, OP_RESHAPE, 1, inner->in, type_of(s->m, node->out), NULL, node->loc);
}

static bool is_increasing(Ints list)
{
    for (int i = 1; i < list.n; i++)
        if (list.at[i] <= list.at[i - 1])
            return false;
    return true;
}

static ValueId broadcast_by(Simplifier *s, ValueId v, Type to, int n, const int64_t *dims,
                            const Loc *loc)
{
    BroadcastAttrs *attrs = ARENA_NEW(s->m->arena, BroadcastAttrs);
    attrs->broadcast_dimensions = ints_copy(s->m->arena, n, dims);
    return simplify_put(s, OP_BROADCAST, 1, &v, to, attrs, loc);
}

/* What is spread, and then transposed, is spread over other dimensions, if its own keep their order. */
static ValueId transpose_of_spread(Simplifier *s, const Node *node, const Node *spread)
{
    Ints dims = ((const BroadcastAttrs *)spread->attrs)->broadcast_dimensions;
    Ints permutation = ((const TransposeAttrs *)node->attrs)->permutation;
    int64_t to[MAX_RANK];
    for (int i = 0; i < dims.n; i++)
        to[i] = ints_find(permutation, dims.at[i]);
    if (!is_increasing((Ints){ dims.n, to }))
        return 0;
    return broadcast_by(s, spread->in[0], type_of(s->m, node->out), dims.n, to, node->loc);
}

static ValueId transpose(Simplifier *s, const Node *node)
{
    const TransposeAttrs *attrs = node->attrs;
    if (is_iota(attrs->permutation))
        return node->in[0];
    const Node *spread = operand_node(s->m, node, 0, OP_BROADCAST);
    if (spread)
        return transpose_of_spread(s, node, spread);
    const Node *inner = operand_node(s->m, node, 0, OP_TRANSPOSE);
    if (!inner)
        return 0;
    Ints first = ((const TransposeAttrs *)inner->attrs)->permutation;
    int64_t both[MAX_RANK];
    for (int i = 0; i < first.n; i++)
        both[i] = first.at[attrs->permutation.at[i]];
    TransposeAttrs *composed = ARENA_NEW(s->m->arena, TransposeAttrs);
    composed->permutation = ints_copy(s->m->arena, first.n, both);
    return simplify_put(s, OP_TRANSPOSE, 1, inner->in, type_of(s->m, node->out), composed,
                        node->loc);
}

static ValueId broadcast(Simplifier *s, const Node *node)
{
    Module *m = s->m;
    Type from = type_of(m, node->in[0]), to = type_of(m, node->out);
    Ints dims = ((const BroadcastAttrs *)node->attrs)->broadcast_dimensions;
    if (type_count(from) == type_count(to) && is_increasing(dims))
        return simplify_put(s, OP_RESHAPE, 1, node->in, to, NULL, node->loc);
    const Node *inner = operand_node(m, node, 0, OP_BROADCAST);
    if (!inner)
        return 0;
    Ints first = ((const BroadcastAttrs *)inner->attrs)->broadcast_dimensions;
    int64_t both[MAX_RANK];
    for (int i = 0; i < first.n; i++)
        both[i] = dims.at[first.at[i]];
    return broadcast_by(s, inner->in[0], to, first.n, both, node->loc);
}

/* A slice of what is spread is a slice, spread less. */
static ValueId slice(Simplifier *s, const Node *node)
{
    Arena *arena = s->m->arena;
    const SliceAttrs *attrs = node->attrs;
    const Node *spread = operand_node(s->m, node, 0, OP_BROADCAST);
    if (!spread)
        return 0;
    ValueId v = spread->in[0];
    Type of = type_of(s->m, v), to = type_of(s->m, node->out);
    Ints dims = ((const BroadcastAttrs *)spread->attrs)->broadcast_dimensions;
    int64_t from[MAX_RANK], end[MAX_RANK], step[MAX_RANK], extents[MAX_RANK];
    for (int i = 0; i < of.rank; i++) {
        bool is_one = of.dims[i] == 1;
        from[i] = is_one ? 0 : attrs->start_indices.at[dims.at[i]];
        end[i] = is_one ? 1 : attrs->limit_indices.at[dims.at[i]];
        step[i] = is_one ? 1 : attrs->strides.at[dims.at[i]];
        extents[i] = is_one ? 1 : to.dims[dims.at[i]];
    }
    SliceAttrs *part = ARENA_NEW(arena, SliceAttrs);
    part->start_indices = ints_copy(arena, of.rank, from);
    part->limit_indices = ints_copy(arena, of.rank, end);
    part->strides = ints_copy(arena, of.rank, step);
    if (of.rank)
        v = simplify_put(s, OP_SLICE, 1, &v, type_new(arena, of.element, of.rank, extents), part,
                         node->loc);
    return broadcast_by(s, v, to, dims.n, dims.at, node->loc);
}

static bool is_whole_slice(const Node *node)
{
    const SliceAttrs *attrs = node->attrs;
    return all_are(attrs->start_indices, 0) && all_are(attrs->strides, 1);
}

static bool is_no_pad(const Node *node)
{
    const PadAttrs *attrs = node->attrs;
    return all_are(attrs->edge_padding_low, 0) && all_are(attrs->edge_padding_high, 0) &&
           all_are(attrs->interior_padding, 0);
}

/* Is every row that an operand adds to the concatenate long enough to be copied by itself? */
static bool has_long_rows(const Module *m, const Node *node)
{
    enum { LONG_ROW = 64 }; /* bytes */
    int64_t rows = 1, d = ((const DimensionAttrs *)node->attrs)->dimension;
    for (int i = 0; i < d; i++)
        rows *= type_of(m, node->out).dims[i];
    for (int i = 0; i < node->nin; i++)
        if ((int64_t)type_bytes(type_of(m, node->in[i])) < LONG_ROW * rows)
            return false;
    return true;
}

/* The concatenate along the same dimension that operand k is, which is better joined with the others at once;
 * NULL: it is none.  Columns of single numbers are better joined by few, and what others read stays. */
static const Node *joined_before(const Simplifier *s, const Node *node, int k)
{
    const Node *inner = operand_node(s->m, node, k, OP_CONCATENATE);
    int64_t d = ((const DimensionAttrs *)node->attrs)->dimension;
    bool is_one = inner && ((const DimensionAttrs *)inner->attrs)->dimension == d &&
                  is_used_once(s, node->in[k]) && has_long_rows(s->m, inner);
    return is_one ? inner : NULL;
}

/* Operands without elements add nothing, and those that are joined already (JAX joins sixteen at a time) are
 * joined once. */
static ValueId concatenate(Simplifier *s, const Node *node)
{
    int most = 1, n = 0;
    bool is_plain = true;
    for (int i = 0; i < node->nin; i++) {
        const Node *inner = joined_before(s, node, i);
        most += inner ? inner->nin : 1;
        is_plain = is_plain && !inner && type_count(type_of(s->m, node->in[i])) > 0;
    }
    ValueId *kept = ARENA_ARRAY(s->m->arena, ValueId, most);
    for (int i = 0; i < node->nin; i++) {
        const Node *inner = joined_before(s, node, i);
        for (int k = 0; inner && k < inner->nin; k++)
            kept[n++] = inner->in[k];
        if (!inner && type_count(type_of(s->m, node->in[i])) > 0)
            kept[n++] = node->in[i];
    }
    if (is_plain || n == 0)
        return node->nin == 1 ? node->in[0] : 0;
    return simplify_put(s, OP_CONCATENATE, n, kept, type_of(s->m, node->out), node->attrs,
                        node->loc);
}

/* ---- arithmetic ---- */

/* Is v an integer or boolean constant all of whose elements are x? */
static bool is_integer(const Module *m, ValueId v, int64_t x)
{
    const Dense *dense = value_constant(m, v);
    if (!dense || !(dense->is_splat || type_count(dense->type) == 1))
        return false;
    const ElementInfo *info = &element_info[dense->type.element];
    if (info->kind != SIGNED && info->kind != UNSIGNED && info->kind != BOOLEAN)
        return false;
    int64_t value = 0; /* little-endian; x is small and not negative */
    memcpy(&value, dense->data, (size_t)info->bytes);
    return value == x;
}

/* Is v a constant float all of whose elements are 1?  A product by it, as derivatives begin with, is the other
 * factor, whatever that is: LLVM says so too, but an array would still be copied. */
static bool is_float_one(const Module *m, ValueId v)
{
    const Dense *dense = value_constant(m, v);
    return dense && (dense->is_splat || type_count(dense->type) == 1) &&
           element_info[dense->type.element].kind == FLOAT &&
           number_float(dense->type.element, dense->data) == 1;
}

static ValueId arithmetic(const Module *m, const Node *node)
{
    ValueId a = node->in[0], b = node->in[1];
    switch (node->op) {
    case OP_ADD: return is_integer(m, b, 0) ? a : is_integer(m, a, 0) ? b : 0;
    case OP_SUB: return is_integer(m, b, 0) ? a : 0;
    case OP_AND: /* of booleans, 1 is all bits */
        if (is_integer(m, b, 0) || is_integer(m, a, 0))
            return is_integer(m, b, 0) ? b : a;
        if (element_info[type_of(m, a).element].kind != BOOLEAN)
            return 0;
        return is_integer(m, b, 1) ? a : is_integer(m, a, 1) ? b : 0;
    case OP_OR: return is_integer(m, b, 0) ? a : is_integer(m, a, 0) ? b : 0;
    case OP_MUL:
        if (is_integer(m, b, 1) || is_float_one(m, b) || is_integer(m, a, 0))
            return a;
        return is_integer(m, a, 1) || is_float_one(m, a) || is_integer(m, b, 0) ? b : 0;
    case OP_DIV: return is_integer(m, b, 1) || is_float_one(m, b) ? a : 0;
    default: return 0;
    }
}

/* A boolean that is compared with false is itself, and so is one that must be true. */
static ValueId compare(const Module *m, const Node *node)
{
    int64_t direction = ((const CompareAttrs *)node->attrs)->comparison_direction;
    if (element_info[type_of(m, node->in[0]).element].kind != BOOLEAN ||
        (direction != NE && direction != EQ))
        return 0;
    int64_t same = direction == EQ;
    return is_integer(m, node->in[1], same)   ? node->in[0]
           : is_integer(m, node->in[0], same) ? node->in[1]
                                              : 0;
}

/* What a mask chose is chosen by the same mask again: the first one's other choice is never seen.
 * So it is where of Cholesky's factor, which shares its matrix with the operand's other triangle,
 * only its own is kept. */
static ValueId choose_again(Simplifier *s, const Node *node)
{
    ValueId in[] = { node->in[0], node->in[1], node->in[2] };
    for (int i = 1; i < 3; i++) {
        const Node *inner = operand_node(s->m, node, i, OP_SELECT);
        if (inner && inner->in[0] == in[0])
            in[i] = inner->in[i];
    }
    if (in[1] == node->in[1] && in[2] == node->in[2])
        return 0;
    return simplify_put(s, OP_SELECT, 3, in, type_of(s->m, node->out), NULL, node->loc);
}

static ValueId choose(Simplifier *s, const Node *node)
{
    if (node->in[1] == node->in[2])
        return node->in[1];
    const Dense *which = value_constant(s->m, node->in[0]);
    if (!which || !(which->is_splat || type_count(which->type) == 1))
        return choose_again(s, node);
    return *(const char *)which->data ? node->in[1] : node->in[2];
}

/* One of two constants: they are converted, not every element.  So a mask of bytes is computed in
 * bytes. */
static ValueId convert(Simplifier *s, const Node *node)
{
    const Node *inner = operand_node(s->m, node, 0, OP_SELECT);
    if (!inner || !value_constant(s->m, inner->in[1]) || !value_constant(s->m, inner->in[2]))
        return 0;
    Type type = type_of(s->m, node->out);
    ValueId in[] = { inner->in[0], inner->in[1], inner->in[2] };
    for (int i = 1; i < 3; i++)
        in[i] = simplify_put(s, OP_CONVERT, 1, &in[i], type, NULL, node->loc);
    return simplify_put(s, OP_SELECT, 3, in, type, NULL, node->loc);
}

/* ---- devices ---- */

/* A collective without partners: every group is of one device (and not of one replica with its
 * partitions). */
static bool is_alone(const Module *m, const Node *node)
{
    const AllReduceAttrs *attrs = node->attrs;
    bool is_of_one =
        attrs->replica_groups.cols == 1 && (attrs->use_global_device_ids || attrs->channel_id <= 0);
    return node->nin == 1 && (is_of_one || m->nreplicas * m->npartitions == 1);
}

static ValueId zero_id(Simplifier *s, const Node *node)
{
    static const uint32_t zero;
    return simplify_constant(s, (Dense){ type_of(s->m, node->out), true, &zero }, node->loc);
}

static ValueId by_op(Simplifier *s, const Node *node)
{
    const Module *m = s->m;
    switch (node->op) {
    case OP_RESHAPE: return reshape(s, node);
    case OP_TRANSPOSE: return transpose(s, node);
    case OP_BROADCAST: return broadcast(s, node);
    case OP_SLICE: return slice(s, node);
    case OP_CONCATENATE: return concatenate(s, node);
    case OP_CONVERT: return convert(s, node);
    case OP_ADD:
    case OP_SUB:
    case OP_MUL:
    case OP_DIV:
    case OP_AND:
    case OP_OR: return arithmetic(m, node);
    case OP_COMPARE: return compare(m, node);
    case OP_SELECT: return choose(s, node);
    case OP_PARTITION_ID: return m->npartitions == 1 ? zero_id(s, node) : 0;
    case OP_REPLICA_ID: return m->nreplicas == 1 ? zero_id(s, node) : 0;
    default: return 0;
    }
}

/* Does a node whose operand and result have one type hand it on? */
static bool hands_on(const Module *m, const Node *node)
{
    switch (node->op) {
    case OP_RESHAPE:
    case OP_CONVERT:
    case OP_BITCAST: return true;
    case OP_BROADCAST: return is_iota(((const BroadcastAttrs *)node->attrs)->broadcast_dimensions);
    case OP_SLICE: return is_whole_slice(node);
    case OP_PAD: return is_no_pad(node);
    case OP_REVERSE: return ((const DimensionsAttrs *)node->attrs)->dimensions.n == 0;
    case OP_ALL_REDUCE:
    case OP_ALL_GATHER:
    case OP_REDUCE_SCATTER:
    case OP_ALL_TO_ALL: return is_alone(m, node);
    default: return false;
    }
}

ValueId drop_identity(Simplifier *s, NodeId n)
{
    Node node = *node_at(s->m, n); /* a copy: rules add nodes */
    if (node.nin && type_equal(type_of(s->m, node.in[0]), type_of(s->m, node.out)) &&
        hands_on(s->m, &node))
        return node.in[0];
    return by_op(s, &node);
}
