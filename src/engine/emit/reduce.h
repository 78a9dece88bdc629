/* reduce.h - folding with a region: what reduce and reduce_window share. */
#ifndef TUTTI_REDUCE_H
#define TUTTI_REDUCE_H
#include "engine/emit/fold.h"

typedef struct Reduce {
    NodeId node;     /* operands, then initial values */
    RegionId body;
    OpId op;         /* what the body is, or OP_COUNT */
    Element e;
    bool in_order;   /* one accumulator, from the initial value on, as the text has it */
    bool is_extreme; /* max or min of floats: values are {number, was NaN} */
    /* Operand i at an index of the space; NULL: the space is the operand's shape. */
    V (*at)(Kernel *k, const struct Reduce *r, int i, Index *at);
    void *user;
} Reduce;

/* All but the space, from a Reduce in which node, in_order, at and user are set. */
Fold reduce_fold(Kernel *k, Reduce *r);
V reduce_initial(Kernel *k, const Reduce *r, int i); /* of operand i, in k->lanes lanes */
#endif
