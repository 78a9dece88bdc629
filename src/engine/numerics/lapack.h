/* lapack.h - LAPACK's routines, one matrix of a batch at a time: by our own algorithms, and by a
 * library's. */
#ifndef TUTTI_ENGINE_NUMERICS_LAPACK_H
#define TUTTI_ENGINE_NUMERICS_LAPACK_H
#include "engine/numerics/matrices.h"

/* Memory that a library's routine works in, kept from matrix to matrix. */
enum {
    ROOM_MATRIX,
    ROOM_LEFT,
    ROOM_RIGHT,
    ROOM_WORK,
    ROOM_REALS,
    ROOM_INTS,
    ROOM_FACTORS, /* of routines that are played by parts, as the one behind it */
    ROOM_SQUARE,
    ROOMS
};

typedef struct Call {
    const Node *n;
    const Frame *frame; /* NULL: the evaluator's */
    bool is_alone;      /* the matrix: workers may help with it */
    const Tensor *in;
    Tensor *out;
    Element element; /* that the name says */
    bool is_real;
    int64_t nbatch, batch; /* how many matrices; the one at hand */
    Arena *arena;          /* of that matrix; our own routines' */
    struct {
        void *at;
        size_t bytes;
    } rooms[ROOMS];
    int lwork; /* elements of ROOM_WORK; 0: the routine has not been asked yet */
} Call;

/* Takes its operands and options from the call, gives its results; their types fit. */
typedef MUST_USE Error *LapackRoutine(Call *c);
LapackRoutine lapack_getrf, lapack_geqrf, lapack_geqp3, lapack_orgqr, lapack_ormqr, lapack_potrf,
    lapack_syevd, lapack_gesdd, lapack_geev, lapack_gees, lapack_gehrd, lapack_sytrd, lapack_gtsv,
    lapack_solve_perturbed, lapack_trsm;

/* lapack_calls.c: the same by a library that is there, of matrices that are not empty. */
LapackRoutine fortran_getrf, fortran_geqp3, fortran_ormqr, fortran_potrf, fortran_syevd,
    fortran_gesdd, fortran_gesvd, fortran_geev, fortran_gees, fortran_gehrd, fortran_sytrd,
    fortran_gtsv, fortran_trsm;

/* tridiagonal.c: gtsv of real numbers. */
void real_gtsv(Call *c);

/* Room for so many bytes, which stays the call's until its end. */
MUST_USE Error *room(Call *c, int which, size_t bytes, void **out);
void call_free(Call *c); /* its rooms */

typedef int Int; /* Fortran's INTEGER */
/* The routine for an element type, as a function of these arguments. */
#define TYPED(e, NAME, ...) ((void (*)(__VA_ARGS__))lapack_routine(LAPACK_##NAME, e))

/* The routine for the call's type, as a function of these arguments. */
#define ROUTINE(c, NAME, ...) TYPED((c)->element, NAME, __VA_ARGS__)

size_t element_bytes(const Call *c);
size_t part_bytes(const Call *c); /* of a real number, or of half a complex one */
/* The operand or result of the matrix at hand. */
void *in_at(const Call *c, int i);
void *out_at(const Call *c, int i);
void copied_out(Call *c, int i, int from);
void zeros_out(Call *c, int i);
/* Operand i, column-major, in a room. */
MUST_USE Error *transposed_in(Call *c, int i, int which, void **out);
/* Every second number of n changes its sign, if they are complex. */
void conjugate(const Call *c, int64_t n, void *at);
/* n reals at `at`, times a power of two. */
void shift(const Call *c, void *at, int64_t n, int exponent);
/* The power of two of the largest of n reals, if it is far from 1; else 0. */
int far_exponent(const Call *c, const void *at, int64_t n);

/* Where a routine finds its workspace: it says how much it wants, when it is first called, with -1 elements. */
typedef struct Work {
    void *at;
    Int n;
    double answer[2];
    Error *error;
} Work;
Work work_begin(Call *c);
void *work_at(Work *w);
/* After a call: was it only asked, so that it is to be called again? */
bool work_was_asked(Call *c, Work *w);

/* lapack_parts.c: eigenvectors and singular vectors, of matrices of so many rows and columns on. */
enum { BY_PARTS = 64 };
LapackRoutine eigen_by_parts, singular_by_parts;

/* Row-major, in place.  The triangle that counts becomes the factor; info, as LAPACK gives it. */
int fortran_factor(Element e, bool is_lower, int64_t n, void *a);
/* x, of that many rows and columns, becomes the solution of op(a) x = x, or of x op(a) = x. */
typedef struct Solve {
    bool is_left, is_lower, is_unit; /* is_lower: a itself, not op(a) */
    char op;                         /* N, T or C */
    int64_t rows, columns, step;     /* step: from row to row of x */
} Solve;
void fortran_solve(Element e, const Solve *s, const void *a, void *x);

static inline int64_t extent(Tensor t, int from_end)
{
    return t.type.dims[t.type.rank - from_end];
}

/* Options of the call. */
bool option_is(const Call *c, const char *name, char letter);
int64_t option(const Call *c, const char *name, int64_t otherwise);
#endif
