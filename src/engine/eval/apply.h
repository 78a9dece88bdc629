/* apply.h - a region of scalars, applied to elements: reducers, comparators, updates. */
#ifndef TUTTI_ENGINE_EVAL_APPLY_H
#define TUTTI_ENGINE_EVAL_APPLY_H
#include "engine/eval/eval.h"

/* Write the arguments, apply, read the results; the tensors are scalars with room of their own. */
typedef struct Apply {
    int nargs, nresults;
    Tensor *args, *results;
    Evaluator *evaluator;
    Arena *arena;
} Apply;

MUST_USE Error *apply_new(const Module *m, RegionId r, Apply *out);
void apply_free(Apply *a);
MUST_USE Error *apply(Apply *a);

/* Combines elements by a reducer of k pairs.  The elements are in[j] at offsets[0..n); offset -1
 * stands for init[j].  The order of combination is that of the list; long lists are grouped as
 * a balanced tree, so that sums of short floats lose little. */
typedef struct Fold {
    Apply *f;
    int k;
    const Tensor *in, *init;
    const int64_t *offsets;
    int64_t base;   /* added to every offset that is not -1 */
    Tensor *levels; /* [FOLD_LEVELS * k] */
} Fold;

enum { FOLD_LEVELS = 64 };

void fold_new(Apply *f, int k, const Tensor *in, const Tensor *init, Fold *out);
/* init, then all of them, into element `at` of out[0..k). */
MUST_USE Error *fold(Fold *fold, int64_t n, const int64_t *offsets, int64_t base, Tensor *out,
                     int64_t at);
#endif
