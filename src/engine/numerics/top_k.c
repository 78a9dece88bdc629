/* top_k.c - the greatest elements of each line, by one walk over it. */
#include "engine/numerics/numerics.h"

#include <stdlib.h>

typedef struct Entry {
    int64_t key, at; /* greater keys first; of equals the one that stands first */
} Entry;

static bool is_ahead(Entry a, Entry b)
{
    return a.key != b.key ? a.key > b.key : a.at < b.at;
}

/* heap[0] is the last of the n best; room is made from `hole` down. */
static void sink(Entry *heap, int64_t n, int64_t hole, Entry e)
{
    for (int64_t child = 2 * hole + 1; child < n; child = 2 * hole + 1) {
        if (child + 1 < n && is_ahead(heap[child], heap[child + 1]))
            child++;
        if (!is_ahead(e, heap[child]))
            break;
        heap[hole] = heap[child];
        hole = child;
    }
    heap[hole] = e;
}

/* A number that grows with the element: floats in their total order, nan the greatest. */
static int64_t key_at(Tensor t, int64_t i)
{
    if (element_carrier(t.type.element) == CARRY_FLOAT)
        return float_rank(t, i);
    int64_t x = int_at(t, i);
    return t.type.element == U64 ? (int64_t)((uint64_t)x ^ (UINT64_C(1) << 63)) : x;
}

static void top_of_line(Tensor in, int64_t first, int64_t extent, int64_t k, Entry *heap)
{
    for (int64_t i = 0; i < k; i++)
        heap[i] = (Entry){ key_at(in, first + i), i };
    for (int64_t i = k / 2 - 1; i >= 0; i--)
        sink(heap, k, i, heap[i]);
    for (int64_t i = k; i < extent; i++) {
        Entry e = { key_at(in, first + i), i };
        if (is_ahead(e, heap[0]))
            sink(heap, k, 0, e);
    }
    for (int64_t n = k - 1; n > 0; n--) { /* the last goes to the end */
        Entry e = heap[n];
        heap[n] = heap[0];
        sink(heap, n, 0, e);
    }
}

Error *routine_top_k(__attribute__((unused)) const Frame *f, const Node *n, const Tensor *in,
                     Tensor *out)
{
    int64_t extent = in->type.dims[in->type.rank - 1], k = ((const TopKAttrs *)n->attrs)->k;
    if (element_carrier(in->type.element) > CARRY_FLOAT)
        return error_new(CODE_UNIMPLEMENTED, "not supported: %s of %s, at %s", op_name(n->op),
                         type_name(in->type), loc_name(n->loc));
    if (k == 0 || type_count(in->type) == 0)
        return NULL;
    Entry *heap = malloc(sizeof *heap * (size_t)k);
    if (!heap)
        return error_new(CODE_EXHAUSTED, "chlo.top_k of %s: no memory", type_name(in->type));
    int64_t lines = type_count(in->type) / extent;
    for (int64_t line = 0; line < lines; line++) {
        top_of_line(*in, line * extent, extent, k, heap);
        for (int64_t i = 0; i < k; i++) {
            element_copy(out[0], line * k + i, *in, line * extent + heap[i].at);
            int_set(out[1], line * k + i, heap[i].at);
        }
    }
    free(heap);
    return NULL;
}
