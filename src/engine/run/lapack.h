/* lapack.h - LAPACK's routines, one matrix of a batch at a time. */
#ifndef TUTTI_LAPACK_H
#define TUTTI_LAPACK_H
#include "engine/eval.h"

typedef struct Call {
    const Node *n;
    const Tensor *in;
    Tensor *out;
    bool is_real;
    int64_t batch; /* the matrix at hand */
    Arena *arena;  /* of that matrix */
} Call;

/* Takes its operands and options from the call, gives its results; their types fit. */
typedef MUST_USE Error *Routine(Call *c);
Routine lapack_getrf, lapack_geqrf, lapack_geqp3, lapack_orgqr, lapack_ormqr,
    lapack_potrf, lapack_syevd, lapack_gesdd, lapack_geev, lapack_gees,
    lapack_gehrd, lapack_sytrd, lapack_gtsv, lapack_solve_perturbed, lapack_trsm;
#endif
