/* matrices.h - what the files of linear algebra share: batches over workers, small matrices, a
 * library's routines, transposition.  Inside of numerics. */
#ifndef TUTTI_ENGINE_NUMERICS_MATRICES_H
#define TUTTI_ENGINE_NUMERICS_MATRICES_H
#include "engine/numerics/numerics.h"

/* ---- batches (batch.c) ---- */

/* Works on the matrices from `from` up to, not including, `to`. */
typedef MUST_USE Error *BatchFn(void *user, int64_t from, int64_t to);

/* By whose loops: our own; a library's with one thread, also where it would have more; a library's
 * that has all threads for a matrix that is large, one after the other if there are few of those. */
typedef enum BatchBy { BATCH_OWN, BATCH_LIBRARY, BATCH_LIBRARY_THREADS } BatchBy;

/* Works on n matrices, of about so many multiplications each.  f NULL: one after the other, on the
 * calling thread. */
MUST_USE Error *batch_execute(const Frame *f, int64_t n, double work, BatchBy by, BatchFn *some,
                              void *user);

/* ---- small matrices (small_matrices.c): n of side x side, row-major, one behind the other ---- */

/* Rows of a matrix, and columns of what stands beside it, up to which it counts as small. */
enum { SMALL_ROWS = 16, SMALL_COLUMNS = 32 };

static inline bool small_suits(Element e, int64_t rows)
{
    return (e == F32 || e == F64) && rows <= SMALL_ROWS;
}

/* A batch is split between groups of so many matrices: then which of them share a vector does not
 * depend on the split. */
enum { SMALL_GROUP = 16 };
static inline int64_t small_groups(int64_t n)
{
    return (n + SMALL_GROUP - 1) / SMALL_GROUP;
}

/* As getrf gives them; pivots[n][side], info[n]. */
void small_lu(Element e, int64_t n, int64_t side, const void *a, void *lu, int32_t *pivots,
              int32_t *info);
/* The other triangle becomes zero, this one nan if there is no factor. */
void small_cholesky(Element e, int64_t n, int64_t side, bool is_lower, const void *a, void *factor);

/* op(a) x = b, or x op(a) = b, with `other` columns or rows of b, SMALL_COLUMNS at most. */
typedef struct SmallSolve {
    int64_t side, other;
    bool is_left, is_lower, is_unit; /* is_lower: a itself, not op(a) */
    bool is_transposed;              /* op(a) is the transpose */
} SmallSolve;
void small_solve(Element e, int64_t n, const SmallSolve *s, const void *a, const void *b, void *x);

/* rows x columns, each SMALL_ROWS at most, as geqrf and orgqr have them: R above, k reflectors below. */
void small_qr(Element e, int64_t n, int64_t rows, int64_t columns, const void *a, void *factors,
              void *taus);
void small_product(Element e, int64_t n, int64_t rows, int64_t columns, int64_t k, const void *a,
                   const void *taus, void *q);
/* The eigenvectors are the columns of vectors (NULL: none are wanted); values rise. */
void small_eigen(Element e, int64_t n, int64_t side, bool is_lower, const void *a, void *vectors,
                 void *values, int32_t *info);

/* a = u diag(values) vt, of the shorter side's k columns and rows; u and vt NULL: not wanted.  The
 * matrices that is_undone names (not of full rank, or not finite) are to be done otherwise. */
typedef struct SmallSingular {
    void *values, *u, *vt;
    int32_t *is_undone;
} SmallSingular;
void small_singular(Element e, int64_t n, int64_t rows, int64_t columns, const void *a,
                    const SmallSingular *out);

/* ---- triangular systems (gemm_triangle.h) ---- */

/* a x = b, with a[i * a_row + j * a_col] and likewise b and x, which may be the same; of a_row and a_col one is 1, and
 * of b_row and b_col.
 * Of a batch, one matrix lies behind the other. */
typedef struct TriangularSystem {
    const Frame *frame;
    int64_t n, other; /* rows of a; columns of b */
    const void *a, *b;
    int64_t a_row, a_col, b_row, b_col;
    void *x;
    bool is_lower, is_unit;
    bool is_slice; /* of other work: there is no help */
} TriangularSystem;

/* Right-hand sides from which on vectors of them are worth their while; of fewer, workers share nothing. */
enum { TRIANGULAR_LEAST = 4 };
/* Complex: one matrix, by the calling thread; a_col and b_col are 1, and x is b.  Without memory the frame fails. */
void triangular_solve(Element e, const TriangularSystem *s, int64_t matrices);

/* ---- elimination (blocked_lu.c) ---- */

/* Rows and columns from which on a matrix is factored in parts that workers share. */
enum { LU_LEAST = 64 };
/* The LU factors of a matrix of m x n, row-major, in place; pivots and info as getrf gives them.
 * is_slice: of other work, so that there is no help; results do not depend on it.  Without memory the
 * frame fails. */
void blocked_lu(const Frame *f, bool is_slice, Element e, int64_t m, int64_t n, void *a,
                int32_t *pivots, int32_t *info);

/* ---- QR factors (blocked_qr.c) ---- */

/* Of a matrix of m x n, row-major: in place, as geqrf gives them; and the first n columns of Q of the first k
 * reflectors, n at most m.  is_slice and memory: as above. */
void blocked_qr(const Frame *f, bool is_slice, Element e, int64_t m, int64_t n, void *a,
                void *taus);
void blocked_q(const Frame *f, bool is_slice, Element e, int64_t m, int64_t n, int64_t k,
               const void *reflectors, const void *taus, void *q);
/* c, of m x n, becomes Q c; the reflectors' rows are `step` elements apart. */
void blocked_q_times(const Frame *f, bool is_slice, Element e, int64_t m, int64_t n, int64_t k,
                     const void *reflectors, int64_t step, const void *taus, void *c);

/* ---- bidiagonal form (blocked_bidiagonal.c) ---- */

/* As gebrd gives them, n of each; the last of `beside` and of right_taus is not in use. */
typedef struct BidiagonalParts {
    void *diagonal, *beside, *left_taus, *right_taus;
} BidiagonalParts;

/* Of a real matrix of m x n, m at least n, row-major, in place: reflectors from the left below the diagonal, those from
 * the right, rows, right of what stands beside it.  is_slice and memory: as above. */
void blocked_bidiagonal(const Frame *f, bool is_slice, Element e, int64_t m, int64_t n, void *a,
                        const BidiagonalParts *out);

/* ---- Cholesky factors (blocked_cholesky.c) ---- */

/* The lower factor of the real matrix `in` of n x n, row-major, of which what lies above the diagonal is not looked
 * at; above the diagonal of `a` are zeros.  False: there is none, and `a` is anything.  is_slice
 * and memory: as above. */
bool blocked_cholesky(const Frame *f, bool is_slice, Element e, int64_t n, const void *in, void *a);

/* ---- a library's routines (lapack_provider.c) ---- */

/* By the names of the real ones. */
typedef enum LapackName {
    LAPACK_GETRF,
    LAPACK_POTRF,
    LAPACK_TRSM,
    LAPACK_ORMQR,
    LAPACK_GEQP3,
    LAPACK_GESDD,
    LAPACK_GESVD,
    LAPACK_SYEVD,
    LAPACK_GEEV,
    LAPACK_GEES,
    LAPACK_GEHRD,
    LAPACK_SYTRD,
    LAPACK_GTSV,
    LAPACK_STEDC, /* from here on: for parts of a routine */
    LAPACK_GEBRD,
    LAPACK_BDSDC, /* of real numbers alone */
    LAPACK_NAMES
} LapackName;

/* Fortran's: every argument is an address, integers have 32 bits; behind the last stands the
 * length of each argument that is a letter.  The caller knows the rest. */
typedef void LapackFn(void);

/* NULL: lapack_find has not been called, or there is no library. */
LapackFn *lapack_routine(LapackName name, Element e);

/* Around a sequence of calls by one thread.  The library may use that many threads: 1 along with
 * others that ask for 1, more only alone, so that results do not depend on which threads call at the
 * same time.  At the end the number is what it was before. */
void lapack_begin(int nthreads);
void lapack_end(void);

/* lapack.c: is it one of the custom calls named after LAPACK?  first: element type of operand 0. */
bool lapack_knows(Str target, Element first);
/* linear.c: does cholesky of matrices a look for a library? */
bool cholesky_wants_library(Type a);

/* ---- transposition (transpose.c) ---- */

/* to[j][i] = from[i][j], where from has that many rows and columns of elements of 4, 8 or 16
 * bytes; a row begins so many elements behind the one before. */
void matrix_transpose(int64_t rows, int64_t columns, size_t element, const void *from,
                      int64_t from_step, void *to, int64_t to_step);
#endif
