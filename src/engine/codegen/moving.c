/* moving.c - operations whose result is an operand's element found by index.
 *
 * In: an index into the result.  Out: the operand's element at the index it came from; the
 * rule is the arithmetic between the two.  Where a lane may come from nowhere (padding, the
 * other operand of a concatenation) the index is masked, so that no load leaves its array. */
#include "engine/codegen/codegen.h"

#include "base/table.h"
#include "engine/stages.h"

#include <stddef.h>
#include <stdio.h>

/* An index of this shape, by way of operand i of n and under the same mask; its coordinates are
 * still to be set. */
static Index *into_shape(Kernel *k, NodeId n, int i, const Index *at, Type shape)
{
    Index *to = index_new(k, shape, at->lanes);
    index_mask(k, to, at, NULL);
    uint32_t step[] = { n, (uint32_t)i };
    to->way = at->way ? hash_bytes(step, sizeof step, at->way) | 1 : 0;
    return to;
}

static Index *into_operand(Kernel *k, NodeId n, int i, const Index *at)
{
    return into_shape(k, n, i, at, type_of(k->m, node_at(k->m, n)->in[i]));
}

static V operand_at(Kernel *k, NodeId n, int i, Index *at)
{
    return element(k, node_at(k->m, n)->in[i], at);
}

/* ---- from nothing ---- */

static V constant_pointer(Kernel *k, Dense value)
{
    size_t bytes = type_bytes(value.type);
    V data = LLVMConstStringInContext(k->c, value.data, (unsigned)bytes, true);
    V global = LLVMAddGlobal(k->e->llvm, LLVMTypeOf(data), "constant");
    LLVMSetInitializer(global, data);
    LLVMSetGlobalConstant(global, true);
    LLVMSetLinkage(global, LLVMPrivateLinkage);
    LLVMSetAlignment(global, 64);
    return global;
}

V element_constant(Kernel *k, NodeId n, Index *at)
{
    Dense value = ((const ConstantAttrs *)node_at(k->m, n)->attrs)->value;
    Element e = moved_element(k, value.type.element);
    if (type_count(value.type) == 0)
        return LLVMConstNull(value_type(k, e));
    if (value.is_splat || type_count(value.type) == 1)
        return constant_value(k, e, value.data);
    return load_element(k, constant_pointer(k, value), e, at);
}

V constant_lookup(Kernel *k, Dense table, V numbers)
{
    LLVMTypeRef type = LLVMTypeOf(numbers);
    bool is_vector = LLVMGetTypeKind(type) == LLVMVectorTypeKind;
    int lanes = is_vector ? (int)LLVMGetVectorSize(type) : 1;
    numbers = LLVMBuildIntCast2(k->b, numbers, lane_type(k, lanes), false, "");
    Coord at = is_vector ? coord_vector(k, numbers) : coord_uniform(k, numbers);
    return load_element(k, constant_pointer(k, table), table.type.element,
                        index_numbered(k, table.type, at, lanes));
}

/* The coordinate as a number of type e. */
static V coord_value(Kernel *k, Element e, Coord c, int lanes)
{
    V number = coord_lanes(k, c, lanes);
    Element from = LLVMTypeOf(number) == lanes_of(int_type(k, 64), lanes) ? I64 : I32;
    return finish(k, e, arith_convert(k, from, e, number));
}

V element_iota(Kernel *k, NodeId n, Index *at)
{
    const IotaAttrs *a = node_at(k->m, n)->attrs;
    Element e = element_of(k, node_at(k->m, n)->out);
    return coord_value(k, e, index_at(k, at, (int)a->iota_dimension), at->lanes);
}

static V frame_number(Kernel *k, size_t offset)
{
    V at = byte_offset(k, k->frame, (int64_t)offset);
    return splat(k, LLVMBuildLoad2(k->b, int_type(k, 32), at, ""), k->lanes);
}

V element_partition_id(Kernel *k, NodeId n, Index *at)
{
    (void)n, (void)at;
    return frame_number(k, offsetof(Frame, partition));
}

V element_replica_id(Kernel *k, NodeId n, Index *at)
{
    (void)n, (void)at;
    return frame_number(k, offsetof(Frame, replica));
}

/* ---- one operand ---- */

V element_reshape(Kernel *k, NodeId n, Index *at)
{
    return operand_at(k, n, 0, index_reshape(k, at, type_of(k->m, node_at(k->m, n)->in[0])));
}

V element_broadcast(Kernel *k, NodeId n, Index *at)
{
    const Node *node = node_at(k->m, n);
    const BroadcastAttrs *a = node->attrs;
    Type in = type_of(k->m, node->in[0]);
    if (type_same_shape(in, type_of(k->m, node->out)) && node_is_alias(k->m, node))
        return operand_at(k, n, 0, at);
    Index *to = into_operand(k, n, 0, at);
    for (int d = 0; d < in.rank; d++)
        index_set(to, d,
                  in.dims[d] == 1 ? coord_const(k, 0)
                                  : index_at(k, at, (int)a->broadcast_dimensions.at[d]));
    return operand_at(k, n, 0, to);
}

/* ---- neighbouring dimensions that stay one ---- */

/* Is dimension d of the slice all of the operand's? */
static bool is_whole(const SliceAttrs *a, Type in, int d)
{
    return a->start_indices.at[d] == 0 && a->limit_indices.at[d] == in.dims[d] &&
           a->strides.at[d] == 1;
}

static bool is_unpadded(const PadAttrs *a, int d)
{
    return a->edge_padding_low.at[d] == 0 && a->edge_padding_high.at[d] == 0 &&
           a->interior_padding.at[d] == 0;
}

/* Of a gather: are d and d + 1 neighbours in what is taken of the operand, the second of them whole? */
static bool gather_joins(const Module *m, const Node *node, int d)
{
    const GatherAttrs *a = node->attrs;
    Type in = type_of(m, node->in[0]);
    int window = 0, last = -1, last_dim = -1;
    for (int p = 0; p < in.rank; p++) {
        if (ints_find(a->operand_batching_dims, p) >= 0 ||
            ints_find(a->collapsed_slice_dims, p) >= 0)
            continue;
        int r = (int)a->offset_dims.at[window++];
        if (r == d + 1)
            return last == d && last_dim + 1 == p && a->slice_sizes.at[p] == in.dims[p];
        last = r;
        last_dim = p;
    }
    return false;
}

static bool joins_next(const Module *m, const Node *node, int d)
{
    const void *attrs = node->attrs;
    switch (node->op) {
    case OP_SLICE:
        return ((const SliceAttrs *)attrs)->strides.at[d] == 1 &&
               is_whole(attrs, type_of(m, node->in[0]), d + 1);
    case OP_PAD:
        return ((const PadAttrs *)attrs)->interior_padding.at[d] == 0 && is_unpadded(attrs, d + 1);
    case OP_CONCATENATE: return ((const DimensionAttrs *)attrs)->dimension != d + 1;
    case OP_REVERSE: {
        Ints reversed = ((const DimensionsAttrs *)attrs)->dimensions;
        return (ints_find(reversed, d) < 0) == (ints_find(reversed, d + 1) < 0);
    }
    case OP_TRANSPOSE: {
        Ints permutation = ((const TransposeAttrs *)attrs)->permutation;
        return permutation.at[d + 1] == permutation.at[d] + 1;
    }
    case OP_GATHER: return gather_joins(m, node, d);
    default: return false;
    }
}

void view_joins(const Module *m, const Node *node, bool *joins)
{
    for (int d = 0; d + 1 < type_of(m, node->out).rank; d++)
        joins[d] = joins_next(m, node, d);
}

/* The dimensions of a view's result as they are walked: those that loops walk as one, and that the view leaves
 * side by side, are one here too.  To split them would take divisions. */
typedef struct Walk {
    int n;
    int first[MAX_RANK + 1], count[MAX_RANK + 1];
    Coord at[MAX_RANK + 1];
} Walk;

static void walk_add(Walk *w, int first, int count, Coord c)
{
    w->first[w->n] = first;
    w->count[w->n] = count;
    w->at[w->n++] = c;
}

/* False: the loops walk dimensions as one that the view tells apart, or parts of them. */
static bool walk_as_loops(Kernel *k, Index *at, const bool *joins, Walk *w)
{
    const Index *from = at->from;
    int d = 0;
    for (int f = 0; from && f < from->rank; f++) {
        int64_t product = 1;
        if (from->dims[f] == 1)
            continue;
        for (; d < at->rank && at->dims[d] == 1; d++)
            walk_add(w, d, 1, coord_const(k, 0));
        int first = d;
        for (; d < at->rank && product < from->dims[f]; d++) {
            if (d > first && !joins[d - 1])
                return false;
            product *= at->dims[d];
        }
        if (product != from->dims[f])
            return false;
        walk_add(w, first, d - first, index_at(k, at->from, f));
    }
    for (; from && d < at->rank; d++)
        walk_add(w, d, 1, coord_const(k, 0));
    return from;
}

static Walk walk_of(Kernel *k, NodeId n, Index *at)
{
    bool joins[MAX_RANK + 1];
    Walk w = { 0 };
    view_joins(k->m, node_at(k->m, n), joins);
    if (walk_as_loops(k, at, joins, &w))
        return w;
    w.n = 0;
    for (int d = 0; d < at->rank; d++)
        walk_add(&w, d, 1, index_at(k, at, d));
    return w;
}

/* The elements of those dimensions of an array that are number i of the walk; behind the first of them. */
static int64_t walk_extent(const Walk *w, int i, const int64_t *dims)
{
    int64_t n = 1;
    for (int d = 0; d < w->count[i]; d++)
        n *= dims[w->first[i] + d];
    return n;
}

static int64_t walk_inner(const Walk *w, int i, const int64_t *dims)
{
    int64_t n = 1;
    for (int d = 1; d < w->count[i]; d++)
        n *= dims[w->first[i] + d];
    return n;
}

/* Into operand i, whose dimensions are as they are walked: these coordinates. */
static Index *into_walked(Kernel *k, NodeId n, int i, Index *at, const Walk *w, V inside)
{
    Type in = type_of(k->m, node_at(k->m, n)->in[i]);
    int64_t dims[MAX_RANK + 1] = { 0 };
    for (int g = 0; g < w->n; g++)
        dims[g] = walk_extent(w, g, in.dims);
    Index *to = into_shape(k, n, i, at, type_new(k->arena, in.element, w->n, dims));
    for (int g = 0; g < w->n; g++)
        index_set(to, g, w->at[g]);
    index_mask(k, to, at, inside);
    return to;
}

static V operand_walked(Kernel *k, NodeId n, int i, Index *at, const Walk *w, V inside)
{
    Type in = type_of(k->m, node_at(k->m, n)->in[i]);
    Index *to = into_walked(k, n, i, at, w, inside);
    return operand_at(k, n, i, w->n == in.rank ? to : index_reshape(k, to, in));
}

V element_transpose(Kernel *k, NodeId n, Index *at)
{
    Ints permutation = ((const TransposeAttrs *)node_at(k->m, n)->attrs)->permutation;
    Walk w = walk_of(k, n, at), in = { 0 };
    for (int p = 0; p < at->rank; p++)
        for (int g = 0; g < w.n; g++)
            if (permutation.at[w.first[g]] == p)
                walk_add(&in, p, w.count[g], w.at[g]);
    return operand_walked(k, n, 0, at, &in, NULL);
}

V element_slice(Kernel *k, NodeId n, Index *at)
{
    const SliceAttrs *a = node_at(k->m, n)->attrs;
    Walk w = walk_of(k, n, at);
    for (int g = 0; g < w.n; g++) {
        int d = w.first[g];
        int64_t start = a->start_indices.at[d] * walk_inner(&w, g, at->dims);
        Coord c = coord_mul_const(k, w.at[g], a->strides.at[d], at->lanes);
        w.at[g] = coord_add_const(k, c, start, at->lanes);
    }
    return operand_walked(k, n, 0, at, &w, NULL);
}

V element_reverse(Kernel *k, NodeId n, Index *at)
{
    const DimensionsAttrs *a = node_at(k->m, n)->attrs;
    Walk w = walk_of(k, n, at);
    for (int g = 0; g < w.n; g++)
        if (ints_find(a->dimensions, w.first[g]) >= 0)
            w.at[g] = coord_add_const(k, coord_mul_const(k, w.at[g], -1, at->lanes),
                                      walk_extent(&w, g, at->dims) - 1, at->lanes);
    return operand_walked(k, n, 0, at, &w, NULL);
}

/* ---- one of several ---- */

V element_pad(Kernel *k, NodeId n, Index *at)
{
    const PadAttrs *a = node_at(k->m, n)->attrs;
    Type in = type_of(k->m, node_at(k->m, n)->in[0]);
    V padding = operand_at(k, n, 1, index_scalar(k, at->lanes));
    if (type_count(in) == 0)
        return padding;
    Walk w = walk_of(k, n, at);
    V inside = NULL;
    for (int g = 0; g < w.n; g++) {
        int d = w.first[g];
        int64_t low = a->edge_padding_low.at[d], high = a->edge_padding_high.at[d];
        int64_t every = a->interior_padding.at[d] + 1, inner = walk_inner(&w, g, in.dims);
        Coord c = coord_add_const(k, w.at[g], -low * inner, at->lanes);
        V conditions[3] = { 0 };
        if (low > 0)
            conditions[0] = coord_at_least(k, c, 0, at->lanes);
        if (high > 0)
            conditions[1] =
                coord_less_const(k, c, ((in.dims[d] - 1) * every + 1) * inner, at->lanes);
        if (every > 1) {
            Coord rest = coord_mod_const(k, c, every, at->lanes);
            conditions[2] = coord_less_const(k, rest, 1, at->lanes);
            c = coord_div_const(k, c, every, at->lanes);
        }
        for (int i = 0; i < 3; i++) {
            if (conditions[i] && is_never(conditions[i]))
                return padding;
            if (conditions[i])
                mask_narrow(k, &inside, conditions[i]);
        }
        w.at[g] = c;
    }
    V mine = operand_walked(k, n, 0, at, &w, inside);
    return inside ? arith_select(k, inside, mine, padding) : mine;
}

/* A constant that is not one of the `extent` numbers from start on. */
static bool is_elsewhere(Coord here, int64_t start, int64_t extent)
{
    if (!coord_is_uniform(here) || !LLVMIsAConstantInt(here.base))
        return false;
    int64_t at = LLVMConstIntGetSExtValue(here.base);
    return at < start || at >= start + extent;
}

V element_concatenate(Kernel *k, NodeId n, Index *at)
{
    const Node *node = node_at(k->m, n);
    int64_t dim = ((const DimensionAttrs *)node->attrs)->dimension;
    Walk w = walk_of(k, n, at);
    int g = 0;
    while (w.first[g] != dim)
        g++;
    Coord here = w.at[g];
    V result = NULL;
    int64_t start = walk_extent(&w, g, at->dims);
    for (int i = node->nin - 1; i >= 0; i--) {
        int64_t extent = walk_extent(&w, g, type_of(k->m, node->in[i]).dims);
        start -= extent;
        if (extent == 0 || is_elsewhere(here, start, extent))
            continue;
        V below = coord_less_const(k, here, start + extent, at->lanes), inside = NULL;
        V above = start ? coord_at_least(k, here, start, at->lanes) : NULL;
        if (is_never(below) || (above && is_never(above)))
            continue;
        mask_narrow(k, &inside, below);
        if (above)
            mask_narrow(k, &inside, above);
        w.at[g] = coord_add_const(k, here, -start, at->lanes);
        V mine = operand_walked(k, n, i, at, &w, inside);
        if (!inside)
            return mine;
        result = result ? arith_select(k, inside, mine, result) : mine;
    }
    return result ? result : LLVMConstNull(value_type(k, element_of(k, node->out)));
}

/* ---- indices that are data ---- */

V element_dynamic_slice(Kernel *k, NodeId n, Index *at)
{
    const Node *node = node_at(k->m, n);
    Type in = type_of(k->m, node->in[0]);
    Index *to = into_operand(k, n, 0, at);
    for (int d = 0; d < in.rank; d++)
        index_set(to, d, slice_coord(k, node->in[1 + d], at, d, in.dims[d]));
    return operand_at(k, n, 0, to);
}

/* Where the start index of this result element lies: its batch coordinates, with `component`
 * at index_vector_dim. */
static Index *into_starts(Kernel *k, NodeId n, Index *at, int component)
{
    const GatherAttrs *a = node_at(k->m, n)->attrs;
    Index *to = into_operand(k, n, 1, at);
    to->way = 0;
    int next = 0;
    for (int d = 0; d < at->rank; d++) {
        if (ints_find(a->offset_dims, d) >= 0)
            continue;
        next += next == (int)a->index_vector_dim;
        index_set(to, next++, index_at(k, at, d));
    }
    if ((int)a->index_vector_dim < to->rank)
        index_set(to, (int)a->index_vector_dim, coord_const(k, component));
    return to;
}

/* The batch coordinate that operand dimension d shares with dimension s of the indices. */
static Coord batch_coord(Kernel *k, NodeId n, Index *at, int s)
{
    const GatherAttrs *a = node_at(k->m, n)->attrs;
    int want = s - (s > (int)a->index_vector_dim), seen = 0;
    for (int d = 0; d < at->rank; d++)
        if (ints_find(a->offset_dims, d) < 0 && seen++ == want)
            return index_at(k, at, d);
    return coord_const(k, 0);
}

V element_gather(Kernel *k, NodeId n, Index *at)
{
    const Node *node = node_at(k->m, n);
    const GatherAttrs *a = node->attrs;
    Type in = type_of(k->m, node->in[0]);
    static const char nothing[16];
    if (type_count(in) == 0) /* slices of 0 elements, collapsed: bytes of 0, of whatever type */
        return constant_value(k, element_of(k, node->out), nothing);
    Walk of = walk_of(k, n, at), w = { 0 };
    for (int d = 0, window = 0; d < in.rank;) {
        Coord c = coord_const(k, 0);
        int64_t inner = 1;
        int batch = ints_find(a->operand_batching_dims, d), count = 1;
        int component = ints_find(a->start_index_map, d);
        if (batch >= 0) {
            c = batch_coord(k, n, at, (int)a->start_indices_batching_dims.at[batch]);
        } else if (ints_find(a->collapsed_slice_dims, d) < 0) {
            int g = 0;
            while (of.first[g] != (int)a->offset_dims.at[window])
                g++;
            c = of.at[g];
            count = of.count[g];
            inner = walk_inner(&of, g, at->dims);
            window += count;
        }
        if (component >= 0) {
            int64_t most = in.dims[d] - a->slice_sizes.at[d];
            Coord start = element_coord(k, node->in[1], into_starts(k, n, at, component), most);
            c = coord_add(k, c, coord_mul_const(k, start, inner, at->lanes), at->lanes);
        }
        walk_add(&w, d, count, c);
        d += count;
    }
    Index *to = into_walked(k, n, 0, at, &w, NULL);
    to->way = 0;
    return operand_at(k, n, 0, w.n == in.rank ? to : index_reshape(k, to, in));
}

/* ---- bits ---- */

V bits_of(Kernel *k, Element e, V v)
{
    if (e == F32 || e == F64)
        return same_bits(k, v, false);
    if (is_coded(k, e))
        return narrow_encode(k, e, v);
    if (e == F16) {
        V half = LLVMBuildFPTrunc(k->b, v, like_type(k, v, LLVMHalfTypeInContext(k->c)), "");
        return LLVMBuildBitCast(k->b, half, like_type(k, v, int_type(k, 16)), "");
    }
    if (e == BF16) {
        V bits = same_bits(k, v, false);
        bits = LLVMBuildLShr(k->b, bits, const_i(k, LLVMTypeOf(bits), 16), "");
        return LLVMBuildTrunc(k->b, bits, like_type(k, v, int_type(k, 16)), "");
    }
    return v;
}

V value_of_bits(Kernel *k, Element e, V bits)
{
    LLVMTypeRef i32 = like_type(k, bits, int_type(k, 32));
    if (e == F32 || e == F64)
        return same_bits(k, bits, true);
    if (is_coded(k, e))
        return narrow_decode(k, e, bits);
    if (e == F16) {
        V half = LLVMBuildBitCast(k->b, bits, like_type(k, bits, LLVMHalfTypeInContext(k->c)), "");
        return LLVMBuildFPExt(k->b, half, like_type(k, bits, LLVMFloatTypeInContext(k->c)), "");
    }
    if (e == BF16) {
        V high = LLVMBuildZExt(k->b, bits, i32, "");
        return same_bits(k, LLVMBuildShl(k->b, high, const_i(k, i32, 16), ""), true);
    }
    return finish(k, e, bits);
}

/* The low bits of a value, as its element type's memory has them; a bool is one bit. */
static V low_bits(Kernel *k, Element e, V bits)
{
    int width = element_info[e].bits;
    bits = LLVMBuildTrunc(k->b, bits, like_type(k, bits, int_type(k, width)), "");
    return width > 1 && width < 8
               ? LLVMBuildZExt(k->b, bits, like_type(k, bits, int_type(k, 8)), "")
               : bits;
}

/* Numbers of twice the bits: of each lane `low`'s, then `high`'s.  Vectors are shuffled: LLVM 19 fails to
 * select some of the extensions of short vectors that shifts and ors would need. */
static V join_bits(Kernel *k, V low, V high)
{
    LLVMTypeRef half = one_lane(LLVMTypeOf(low));
    unsigned bits = LLVMGetIntTypeWidth(half);
    LLVMTypeRef whole = like_type(k, low, int_type(k, 2 * (int)bits));
    if (LLVMGetTypeKind(LLVMTypeOf(low)) != LLVMVectorTypeKind) {
        V up = LLVMBuildZExt(k->b, high, whole, "");
        up = LLVMBuildShl(k->b, up, const_i(k, whole, bits), "");
        return LLVMBuildOr(k->b, LLVMBuildZExt(k->b, low, whole, ""), up, "");
    }
    unsigned n = LLVMGetVectorSize(LLVMTypeOf(low));
    V *lanes = ARENA_ARRAY(k->arena, V, 2 * n);
    for (unsigned i = 0; i < 2 * n; i++)
        lanes[i] = LLVMConstInt(int_type(k, 32), i / 2 + (i % 2 ? n : 0), false);
    V both = LLVMBuildShuffleVector(k->b, low, high, LLVMConstVector(lanes, 2 * n), "");
    return LLVMBuildBitCast(k->b, both, whole, "");
}

/* Wide to narrow: the last coordinate says which part.  Narrow to wide: all parts, low first. */
V element_bitcast(Kernel *k, NodeId n, Index *at)
{
    Element from = element_of(k, node_at(k->m, n)->in[0]);
    Element to = element_of(k, node_at(k->m, n)->out);
    int wide = element_info[from].bits, narrow = element_info[to].bits;
    if (wide == narrow) {
        V x = operand_at(k, n, 0, at);
        return is_complex(from) ? x : value_of_bits(k, to, bits_of(k, from, x));
    }
    Index *in = into_operand(k, n, 0, at);
    for (int d = 0; d < (at->rank < in->rank ? at->rank : in->rank); d++)
        index_set(in, d, index_at(k, at, d));
    if (wide > narrow) {
        V bits = bits_of(k, from, operand_at(k, n, 0, in));
        V part = coord_lanes(k, index_at(k, at, at->rank - 1), at->lanes);
        part = LLVMBuildIntCast2(k->b, part, LLVMTypeOf(bits), false, "");
        V by = LLVMBuildMul(k->b, part, const_i(k, LLVMTypeOf(bits), narrow), "");
        bits = LLVMBuildLShr(k->b, bits, by, "");
        return value_of_bits(k, to, low_bits(k, to, bits));
    }
    int nparts = narrow / wide;
    V parts[64] = { NULL };
    for (int i = 0; i < nparts; i++) {
        Index *one = into_operand(k, n, 0, at);
        one->way = 0;
        for (int d = 0; d < at->rank; d++)
            index_set(one, d, index_at(k, at, d));
        index_set(one, at->rank, coord_const(k, i));
        parts[i] = low_bits(k, from, bits_of(k, from, operand_at(k, n, 0, one)));
    }
    if (wide < 8) { /* as many as a byte holds, in one byte */
        int each = (narrow < 8 ? narrow : 8) / wide;
        LLVMTypeRef byte = like_type(k, parts[0], int_type(k, 8));
        for (int i = 0; i < nparts; i++) {
            V bits = LLVMBuildIntCast2(k->b, parts[i], byte, false, "");
            bits = LLVMBuildShl(k->b, bits, const_i(k, byte, i % each * wide), "");
            parts[i / each] = i % each ? LLVMBuildOr(k->b, parts[i / each], bits, "") : bits;
        }
        nparts /= each;
    }
    for (; nparts > 1; nparts /= 2)
        for (int i = 0; i < nparts / 2; i++)
            parts[i] = join_bits(k, parts[2 * i], parts[2 * i + 1]);
    return value_of_bits(k, to, parts[0]);
}
