/* slices.c - slices of slices, and of what is joined or padded.
 *
 *     slice(concatenate(a, b, c)), all of it within b   ->  slice(b)
 *     slice(pad(x)), no padding in it                   ->  slice(x)
 *     slice(slice(x))                                   ->  slice(x)
 *
 * So jnp.pad takes the border of one side from an array that already has the other side's.  What is between is
 * then read by one operation less, and may not be needed at all. */
#include "engine/passes/simplify/simplify.h"

/* A slice along each dimension: where it begins and ends, and its steps. */
typedef struct Span {
    int rank;
    int64_t start[MAX_RANK], limit[MAX_RANK], stride[MAX_RANK];
} Span;

static Span span_of(const Node *slice)
{
    const SliceAttrs *a = slice->attrs;
    Span span = { .rank = a->start_indices.n };
    for (int d = 0; d < span.rank; d++) {
        span.start[d] = a->start_indices.at[d];
        span.limit[d] = a->limit_indices.at[d];
        span.stride[d] = a->strides.at[d];
    }
    return span;
}

static ValueId put_span(Simplifier *s, const Node *node, ValueId v, const Span *span)
{
    Arena *arena = s->m->arena;
    SliceAttrs *a = ARENA_NEW(arena, SliceAttrs);
    a->start_indices = ints_copy(arena, span->rank, span->start);
    a->limit_indices = ints_copy(arena, span->rank, span->limit);
    a->strides = ints_copy(arena, span->rank, span->stride);
    return simplify_put(s, OP_SLICE, 1, &v, type_of(s->m, node->out), a, node->loc);
}

static ValueId of_slice(Simplifier *s, const Node *node, const Node *inner, Span span)
{
    Span in = span_of(inner);
    for (int d = 0; d < span.rank; d++) {
        span.start[d] = in.start[d] + span.start[d] * in.stride[d];
        span.limit[d] = in.start[d] + (span.limit[d] - 1) * in.stride[d] + 1;
        if (__builtin_mul_overflow(span.stride[d], in.stride[d], &span.stride[d]))
            return 0; /* steps larger than any array are legal where one element is taken */
    }
    return put_span(s, node, inner->in[0], &span);
}

static ValueId of_joined(Simplifier *s, const Node *node, const Node *inner, Span span)
{
    int64_t d = ((const DimensionAttrs *)inner->attrs)->dimension, begin = 0;
    for (int i = 0; i < inner->nin; i++) {
        int64_t end = begin + type_of(s->m, inner->in[i]).dims[d];
        if (span.start[d] >= begin && span.limit[d] <= end) {
            span.start[d] -= begin;
            span.limit[d] -= begin;
            return put_span(s, node, inner->in[i], &span);
        }
        begin = end;
    }
    return 0;
}

static ValueId of_padded(Simplifier *s, const Node *node, const Node *inner, Span span)
{
    const PadAttrs *a = inner->attrs;
    Type in = type_of(s->m, inner->in[0]);
    for (int d = 0; d < span.rank; d++) {
        int64_t low = a->edge_padding_low.at[d];
        if (a->interior_padding.at[d] || span.start[d] < low || span.limit[d] > low + in.dims[d])
            return 0;
        span.start[d] -= low;
        span.limit[d] -= low;
    }
    return put_span(s, node, inner->in[0], &span);
}

ValueId simplify_slice(Simplifier *s, NodeId n)
{
    Node node = *node_at(s->m, n); /* a copy: nodes are added */
    NodeId def = node.op == OP_SLICE ? value_def(s->m, node.in[0]) : 0;
    if (!def || type_count(type_of(s->m, node.out)) == 0)
        return 0;
    Node inner = *node_at(s->m, def);
    switch (inner.op) {
    case OP_SLICE: return of_slice(s, &node, &inner, span_of(&node));
    case OP_CONCATENATE: return of_joined(s, &node, &inner, span_of(&node));
    case OP_PAD: return of_padded(s, &node, &inner, span_of(&node));
    default: return 0;
    }
}
