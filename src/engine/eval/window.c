/* window.c - folds over sliding windows, and their reverse.
 *
 * Along one dimension, with base dilation b, padding p before, stride s and window dilation w,
 * position k of window i looks at
 *
 *     at = i * s + k * w - p        in the dilated operand;  at / b in the operand itself,
 *
 * if at is a multiple of b and lies inside; else at padding. */
#include "engine/eval/rules.h"

#include "base/guard.h"
#include "engine/eval/apply.h"
#include "engine/tensor.h"

typedef struct Window {
    Type operand;
    int rank;
    int64_t size[MAX_RANK], stride[MAX_RANK], base[MAX_RANK], spread[MAX_RANK], before[MAX_RANK];
    int64_t strides[MAX_RANK]; /* of the operand's elements */
    int64_t n;                 /* positions in a window */
} Window;

static Window window_of(Type operand, const WindowAttrs *a)
{
    Window w = { .operand = operand, .rank = operand.rank, .n = 1 };
    type_strides(operand, w.strides);
    for (int i = 0; i < w.rank; i++) {
        w.size[i] = ints_or(a->window_dimensions, i, 1);
        w.stride[i] = ints_or(a->window_strides, i, 1);
        w.base[i] = ints_or(a->base_dilations, i, 1);
        w.spread[i] = ints_or(a->window_dilations, i, 1);
        w.before[i] = i < a->padding.rows ? a->padding.at[2 * i] : 0;
        w.n *= w.size[i];
    }
    return w;
}

/* Where position `inside` of window `index` looks in the operand; -1: padding. */
static int64_t window_offset(const Window *w, const int64_t *index, const int64_t *inside)
{
    int64_t offset = 0;
    for (int i = 0; i < w->rank; i++) {
        int64_t at = index[i] * w->stride[i] + inside[i] * w->spread[i] - w->before[i];
        if (at < 0 || at % w->base[i] != 0 || at / w->base[i] >= w->operand.dims[i])
            return -1;
        offset += at / w->base[i] * w->strides[i];
    }
    return offset;
}

/* The offsets of all positions of one window. */
static void window_offsets(const Window *w, const int64_t *index, int64_t *offsets)
{
    int64_t inside[MAX_RANK] = { 0 };
    for (int64_t i = 0; i < w->n; i++) {
        offsets[i] = window_offset(w, index, inside);
        index_next(w->rank, w->size, inside);
    }
}

/* Room for the offsets of a window, and the region that is applied. */
static Error *prepare(const Module *m, const Node *n, const Window *w, RegionId r, Apply *f,
                      int64_t **offsets)
{
    TRY(apply_new(m, r, f));
    *offsets = heap_try((size_t)(w->n > 0 ? w->n : 1) * sizeof **offsets);
    if (*offsets)
        return NULL;
    apply_free(f);
    return error_new(CODE_EXHAUSTED, "%s of %s, at %s: no memory for a window", op_name(n->op),
                     type_name(w->operand), loc_name(n->loc));
}

static Error *fold_windows(const Window *w, Apply *f, int64_t *offsets, int k, const Tensor *in,
                           Tensor *out)
{
    Fold d;
    fold_new(f, k, in, in + k, &d);
    int64_t index[MAX_RANK] = { 0 }, count = type_count(out->type);
    for (int64_t i = 0; i < count; i++) {
        window_offsets(w, index, offsets);
        TRY(fold(&d, w->n, offsets, 0, out, i));
        index_next(w->rank, out->type.dims, index);
    }
    return NULL;
}

/* Operands: k inputs, k initial values. */
Error *eval_reduce_window(const Module *m, const Node *n, const Tensor *in, Tensor *out)
{
    Window w = window_of(in->type, n->attrs);
    Apply f;
    int64_t *offsets;
    TRY(prepare(m, n, &w, n->regions[0], &f, &offsets));
    Error *error = fold_windows(&w, &f, offsets, n->nin / 2, in, out);
    heap_free(offsets);
    apply_free(&f);
    return error;
}

/* Applies f to two elements; the result's element is in f->results[0]. */
static Error *apply_two(Apply *f, Tensor a, int64_t i, Tensor b, int64_t j)
{
    convert_element(f->args[0], 0, a, i);
    convert_element(f->args[1], 0, b, j);
    return apply(f);
}

/* The offset that select picks in one window, padding left out; -1: nothing but padding. */
static Error *pick(Apply *select, Tensor operand, int64_t n, const int64_t *offsets, int64_t *out)
{
    *out = -1;
    for (int64_t i = 0; i < n; i++) {
        if (offsets[i] < 0)
            continue;
        if (*out >= 0) {
            TRY(apply_two(select, operand, *out, operand, offsets[i]));
            if (int_at(select->results[0], 0))
                continue;
        }
        *out = offsets[i];
    }
    return NULL;
}

static Error *scatter_windows(const Window *w, Apply *select, Apply *add, int64_t *offsets,
                              const Tensor *in, Tensor *out)
{
    const Tensor source = in[1];
    int64_t index[MAX_RANK] = { 0 }, count = type_count(source.type);
    for (int64_t i = 0; i < count; i++) {
        int64_t offset;
        window_offsets(w, index, offsets);
        TRY(pick(select, in[0], w->n, offsets, &offset));
        if (offset >= 0) {
            TRY(apply_two(add, *out, offset, source, i));
            convert_element(*out, offset, add->results[0], 0);
        }
        index_next(w->rank, source.type.dims, index);
    }
    return NULL;
}

/* Operands: the array windows slide over, one source per window, the initial value. */
Error *eval_select_scatter(const Module *m, const Node *n, const Tensor *in, Tensor *out)
{
    Window w = window_of(in->type, n->attrs);
    Apply select, add;
    int64_t *offsets, count = type_count(out->type);
    for (int64_t i = 0; i < count; i++)
        element_copy(*out, i, in[2], 0);
    TRY(prepare(m, n, &w, n->regions[0], &select, &offsets));
    Error *error = apply_new(m, n->regions[1], &add);
    if (!error) {
        error = scatter_windows(&w, &select, &add, offsets, in, out);
        apply_free(&add);
    }
    heap_free(offsets);
    apply_free(&select);
    return error;
}
