/* reduce.c - reduce: folds along whole dimensions.
 *
 * The offsets of the folded elements, relative to the first of them, are the same for every
 * element of the result; they are listed once. */
#include "engine/eval/rules.h"

#include "base/guard.h"
#include "engine/eval/apply.h"
#include "engine/tensor.h"

typedef struct Folding {
    int64_t step[MAX_RANK]; /* by dimension of the result */
    int nfolded;
    int64_t extents[MAX_RANK], strides[MAX_RANK]; /* of the folded dimensions */
    int64_t n;
} Folding;

static Folding folding_of(Type in, Ints dimensions)
{
    Folding f = { .n = 1 };
    int64_t strides[MAX_RANK];
    int next = 0;
    type_strides(in, strides);
    for (int i = 0; i < in.rank; i++)
        if (ints_find(dimensions, i) < 0) {
            f.step[next++] = strides[i];
        } else {
            f.extents[f.nfolded] = in.dims[i];
            f.strides[f.nfolded++] = strides[i];
            f.n *= in.dims[i];
        }
    return f;
}

static int64_t *list_offsets(const Folding *f)
{
    int64_t *offsets = heap_try((size_t)(f->n ? f->n : 1) * sizeof *offsets),
            index[MAX_RANK] = { 0 };
    if (!offsets)
        return NULL;
    for (int64_t i = 0; i < f->n; i++) {
        offsets[i] = index_flat(f->nfolded, index, f->strides);
        index_next(f->nfolded, f->extents, index);
    }
    return offsets;
}

static Error *reduce_all(Apply *f, const Folding *folding, const int64_t *offsets, int k,
                         const Tensor *in, Tensor *out)
{
    Fold d;
    fold_new(f, k, in, in + k, &d);
    Type type = out->type;
    int64_t index[MAX_RANK] = { 0 }, count = type_count(type);
    for (int64_t i = 0; i < count; i++) {
        int64_t base = index_flat(type.rank, index, folding->step);
        TRY(fold(&d, folding->n, offsets, base, out, i));
        index_next(type.rank, type.dims, index);
    }
    return NULL;
}

/* Operands: k inputs, k initial values. */
Error *eval_reduce(const Module *m, const Node *n, const Tensor *in, Tensor *out)
{
    int k = n->nin / 2;
    Folding folding = folding_of(in->type, ((const DimensionsAttrs *)n->attrs)->dimensions);
    Apply f;
    TRY(apply_new(m, n->regions[0], &f));
    int64_t *offsets = list_offsets(&folding);
    Error *error = offsets ? reduce_all(&f, &folding, offsets, k, in, out)
                           : error_new(CODE_EXHAUSTED, "reduce of %s, at %s: no memory",
                                       type_name(in->type), loc_name(n->loc));
    heap_free(offsets);
    apply_free(&f);
    return error;
}
