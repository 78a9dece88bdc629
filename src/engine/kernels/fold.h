/* fold.h - loops that combine along some dimensions of a space: what reduce and dot share. */
#ifndef TUTTI_ENGINE_KERNELS_FOLD_H
#define TUTTI_ENGINE_KERNELS_FOLD_H
#include "engine/kernels/kernel.h"

typedef struct Fold {
    Type space;               /* the indices folded over, kept and reduced */
    bool reduced[MAX_RANK];
    bool joined[MAX_RANK + 1]; /* d and d + 1 may be one; only among kept or among reduced */
    Type out;                 /* the kept dimensions, in their order */
    int n;                    /* values folded side by side */
    bool has_identity;        /* start gives it; then any number of accumulators may run */
    bool in_order;            /* but there is one: values are rounded, and added one by one */
    bool is_rounded;          /* it adds floats: long loops are cut into blocks, which takes the
                                 identity too */
    int weight;               /* operations per element, to bound the code's size */
    void *user;

    /* Accumulators to begin with, of k->lanes lanes. */
    void (*start)(Kernel *k, const struct Fold *f, V *acc);
    /* The values at an index of space. */
    void (*values)(Kernel *k, const struct Fold *f, Index *at, V *next);
    /* acc = acc combined with next. */
    void (*combine)(Kernel *k, const struct Fold *f, V *acc, const V *next);
    /* The same where acc holds only what comes before next; NULL: combine does it. */
    void (*step)(Kernel *k, const struct Fold *f, V *acc, const V *next);
    /* What to do with the results at an index of out. */
    void (*done)(Kernel *k, const struct Fold *f, Index *at, V *acc);
} Fold;

/* Sums of so few products are added in order, as XLA adds them: users see every bit of them. */
enum { FOLD_FEW = 16 };

void fold_emit(Kernel *k, const Fold *f);
bool fold_is_few(const Fold *f, Element e); /* its space and reduced are set */
#endif
