/* sort.c - sort by a comparator region, and top_k.
 *
 * Every line along the sorted dimension is sorted as a list of positions, by merging: stable,
 * and safe with comparators that contradict themselves. */
#include "engine/eval/rules.h"

#include "base/guard.h"
#include "engine/eval/apply.h"
#include "engine/tensor.h"

#include <inttypes.h>
#include <string.h>

/* Positions along a line: element p of operand j is at first + p * stride. */
typedef struct Line {
    int k;
    const Tensor *in;
    int64_t first, stride, n;
    Apply *before; /* does the left one come before the right one? */
} Line;

static Error *comes_before(const Line *l, int64_t a, int64_t b, bool *out)
{
    Apply *f = l->before;
    for (int j = 0; j < l->k; j++) {
        element_copy(f->args[2 * j], 0, l->in[j], l->first + a * l->stride);
        element_copy(f->args[2 * j + 1], 0, l->in[j], l->first + b * l->stride);
    }
    TRY(apply(f));
    *out = int_at(f->results[0], 0) != 0;
    return NULL;
}

/* at[0..n) in order; room is as long. */
static Error *merge_sort(const Line *l, int64_t *at, int64_t n, int64_t *room)
{
    if (n < 2)
        return NULL;
    int64_t half = n / 2, i = 0, j = half, next = 0;
    TRY(merge_sort(l, at, half, room));
    TRY(merge_sort(l, at + half, n - half, room));
    while (i < half && j < n) {
        bool right_first;
        TRY(comes_before(l, at[j], at[i], &right_first));
        room[next++] = right_first ? at[j++] : at[i++];
    }
    while (i < half)
        room[next++] = at[i++];
    while (j < n)
        room[next++] = at[j++];
    memcpy(at, room, sizeof *at * (size_t)n);
    return NULL;
}

static Error *sort_line(const Line *l, int64_t *at, Tensor *out)
{
    for (int64_t i = 0; i < l->n; i++)
        at[i] = i;
    TRY(merge_sort(l, at, l->n, at + l->n));
    for (int j = 0; j < l->k; j++)
        for (int64_t i = 0; i < l->n; i++)
            element_copy(out[j], l->first + i * l->stride, l->in[j], l->first + at[i] * l->stride);
    return NULL;
}

/* Calls sort_line for every line of the operands along dimension d. */
static Error *sort_lines(Line *l, int d, int64_t *at, Tensor *out)
{
    Type type = l->in->type;
    int64_t index[MAX_RANK] = { 0 }, strides[MAX_RANK], dims[MAX_RANK];
    int64_t lines = l->n ? type_count(type) / l->n : 0;
    type_strides(type, strides);
    memcpy(dims, type.dims, sizeof *dims * (size_t)type.rank);
    dims[d] = 1;
    l->stride = strides[d];
    for (int64_t i = 0; i < lines; i++) {
        l->first = index_flat(type.rank, index, strides);
        TRY(sort_line(l, at, out));
        index_next(type.rank, dims, index);
    }
    return NULL;
}

Error *eval_sort(const Module *m, const Node *n, const Tensor *in, Tensor *out)
{
    Type type = in->type;
    int64_t d = ((const SortAttrs *)n->attrs)->dimension;
    if (type.rank == 0) {
        for (int j = 0; j < n->nin; j++)
            element_copy(out[j], 0, in[j], 0);
        return NULL;
    }
    d = d < 0 ? d + type.rank : d;
    Apply before;
    TRY(apply_new(m, n->regions[0], &before));
    Line l = { .k = n->nin, .in = in, .n = type.dims[d], .before = &before };
    int64_t *at = heap_try((size_t)(l.n ? l.n : 1) * (2 * sizeof *at));
    Error *error = at ? sort_lines(&l, (int)d, at, out)
                      : error_new(CODE_EXHAUSTED, "sort of %s, at %s: no memory", type_name(type),
                                  loc_name(n->loc));
    heap_free(at);
    apply_free(&before);
    return error;
}

/* Is element a above element b?  Floats in their total order: nan is the greatest. */
static bool is_above(Tensor t, int64_t a, int64_t b)
{
    if (element_carrier(t.type.element) == CARRY_FLOAT)
        return float_rank(t, a) > float_rank(t, b);
    int64_t x = int_at(t, a), y = int_at(t, b);
    return element_info[t.type.element].kind == SIGNED ? x > y : (uint64_t)x > (uint64_t)y;
}

/* The k greatest along the last dimension, in falling order; of equals the first come first. */
Error *eval_top_k(__attribute__((unused)) const Module *m, const Node *n, const Tensor *in,
                  Tensor *out)
{
    int rank = in->type.rank;
    if (element_carrier(in->type.element) > CARRY_FLOAT || rank == 0)
        return eval_refuse(n, in->type);
    int64_t extent = in->type.dims[rank - 1], k = ((const TopKAttrs *)n->attrs)->k;
    int64_t found = rank == out->type.rank && k <= extent ? out->type.dims[rank - 1] : -1;
    if (n->nout != 2 || k != found || element_carrier(out[1].type.element) != CARRY_INT)
        return error_new(CODE_INVALID,
                         "chlo.top_k of %s to %s, at %s: k = %" PRId64 " does not fit",
                         type_name(in->type), type_name(out->type), loc_name(n->loc), k);
    int64_t lines = extent && k ? type_count(in->type) / extent : 0;
    for (int64_t line = 0; line < lines; line++) {
        int64_t first = line * extent, last = -1; /* last: taken most recently */
        for (int64_t i = 0; i < k; i++) {
            int64_t best = -1;
            for (int64_t p = first; p < first + extent; p++) {
                bool is_left =
                    last < 0 || is_above(*in, last, p) || (!is_above(*in, p, last) && p > last);
                if (is_left && (best < 0 || is_above(*in, p, best)))
                    best = p;
            }
            element_copy(out[0], line * k + i, *in, best);
            int_set(out[1], line * k + i, best - first);
            last = best;
        }
    }
    return NULL;
}
