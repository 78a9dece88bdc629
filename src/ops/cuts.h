/* cuts.h - how a dimension that is cut over devices passes through an operation.
 *
 * Every dimension of an operand or a result belongs to a factor of the operation's loop nest, as
 * einsum writes it: a dot "mk, kn -> mn" has three.
 *
 *   dot [m,k] x [k,n] -> [m,n]       factor  lhs  rhs  result
 *                                    m       0    -    0       FREE
 *                                    n       -    1    1       FREE
 *                                    k       1    0    -       SUMMED
 *
 * A FREE factor may be cut, and each device computes its piece alone.  One that is WHOLE (the
 * dimension that a sort orders, that a concatenation joins) may not: if it has a place in the
 * result, the result is cut there all the same, after the whole was computed.  Along a WINDOW one a
 * piece of the result needs other elements than the same piece of the operand (windows that overlap,
 * elements that move); not in the result, it is the kernel's.  A SUMMED one has no
 * place in the results, which are combined from those of the pieces.  Dimensions without a factor
 * are whole in the result.
 *
 * This gives the choices that XLA makes, and so the ones that JAX's users see.  Two ask: the front,
 * for the layout of a program's results (front/lower), and the engine, for that of every value
 * (engine/passes/place).  The rules are those that column `cuts` of ops.def names. */
#ifndef TUTTI_OPS_CUTS_H
#define TUTTI_OPS_CUTS_H
#include "ops/op.h"

enum { NO_FACTOR = -1 };

typedef enum FactorKind { FACTOR_FREE, FACTOR_WHOLE, FACTOR_WINDOW, FACTOR_SUMMED } FactorKind;

typedef struct Factors {
    int nin, nout; /* the operation: */
    const Type *in, *out;
    const void *attrs;
    int n;
    FactorKind *kind;      /* [n] */
    int **of_in, **of_out; /* the factor of a dimension of an operand or result, or NO_FACTOR */
} Factors;

/* Everything in it lies in the arena; in and out are kept by reference. */
Factors factors_find(struct Arena *arena, OpId op, int nin, const Type *in, int nout,
                     const Type *out, const void *attrs);
#endif
