/* reduce.h - folding with a region: what reduce and reduce_window share. */
#ifndef TUTTI_ENGINE_KERNELS_REDUCE_H
#define TUTTI_ENGINE_KERNELS_REDUCE_H
#include "engine/kernels/fold.h"

typedef struct Reduce {
    NodeId node;     /* operands, then initial values */
    RegionId body;
    OpId op;         /* what the body is, or OP_COUNT */
    Element e;
    bool in_order;   /* one accumulator, from the initial value on, as the text has it */
    bool is_extreme; /* max or min of floats: values are {number, was NaN} */
    int direction;   /* argmax (GT) or argmin (LT): values are {number, where}; else -1 */
    /* Operand i at an index of the space; NULL: the space is the operand's shape. */
    V (*at)(Kernel *k, const struct Reduce *r, int i, Index *at);
    void *user;
} Reduce;

/* All but the space, from a Reduce in which node, in_order, at and user are set. */
Fold reduce_fold(Kernel *k, Reduce *r);
/* arg.c: GT or LT, if the reduce is an argmax or argmin; else -1. */
int arg_direction(const Module *m, NodeId reduce);
void arg_combine(Kernel *k, const Fold *f, V *acc, const V *next);
void arg_step(Kernel *k, const Fold *f, V *acc, const V *next);
V reduce_initial(Kernel *k, const Reduce *r, int i); /* of operand i, in k->lanes lanes */
#endif
