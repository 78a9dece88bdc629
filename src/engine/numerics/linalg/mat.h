/* mat.h - dense matrices of complex doubles, and the factorizations that programs ask for.
 *
 * Everything but dense.c is computed in complex double, whatever the program's type is: one text for
 * four types, and single precision comes out rounded once.  A real matrix stays exactly real.
 * Conventions are LAPACK's, since callers combine factors of one call with another's.
 *
 *   dense.c      Cholesky and QR factors, triangular systems, in the program's own type: fast
 *   factor.c     P A = L U, A = L L^H, systems with a tridiagonal matrix
 *   reflect.c    Householder reflectors: A = Q R, A P = Q R, products of Q, Hessenberg form
 *   hermitian.c  A = Q T Q^H with T tridiagonal; A = V diag(w) V^H
 *   singular.c   A = U diag(s) V^H
 *   schur.c      A = Z T Z^H
 *   eigen.c      eigenvalues and eigenvectors of any square matrix
 *
 * `info` follows LAPACK too: 0 is well, above 0 says where it broke down. */
#ifndef TUTTI_ENGINE_NUMERICS_LINALG_MAT_H
#define TUTTI_ENGINE_NUMERICS_LINALG_MAT_H
#include "base/arena.h"
#include "base/error.h"
#include "ops/attrs.h"
#include "ops/type.h"

#include <complex.h>
#undef I
#undef complex
#include <stdbool.h>
#include <stdint.h>

typedef double _Complex Z;

/* Row-major; the numbers are an arena's. */
typedef struct Mat {
    int64_t rows, cols;
    Z *at;
} Mat;

#define AT(m, i, j) ((m).at[(i) * (m).cols + (j)])

MUST_USE Error *mat_new(Arena *arena, int64_t rows, int64_t cols, Mat *out); /* zeros */
void mat_identity(Mat a);
MUST_USE Error *mat_adjoint(Arena *arena, Mat a, Mat *out); /* a new one */
bool mat_is_finite(Mat a);
double mat_max(Mat a); /* of the absolute values; 0 if there are none */
/* A matrix whose squares would leave the range of numbers is divided by a power of two, which
 * changes no digit, so that its largest entry is about 1.  Gives the power; 1: it was left alone. */
double mat_scale(Mat a);
void mat_multiply(Mat a, double factor);

/* ---- dense.c: row-major matrices of f32, f64, c64 or c128, in that type ---- */

/* A system with a triangular matrix t = op(a) of n rows: t x = b with `other` columns, or
 * x t = b with as many rows. */
typedef struct Triangle {
    int64_t n, other;
    int op;
    bool is_left, is_lower, is_unit; /* is_lower: t, not a */
} Triangle;

/* x holds b and becomes the solution; room: n * n elements. */
void dense_solve(Element e, const Triangle *t, const void *a, void *x, void *room);
/* Of the triangle that is_lower names; the other becomes zero.  room: n * n + n elements.  Not 0: a is
 * not positive definite, as column number so many shows, and the triangle is nan. */
int dense_cholesky(Element e, int64_t n, bool is_lower, const void *a, void *factor, void *room);
/* In place, as qr_factor; room: `columns` elements. */
void dense_qr(Element e, int64_t rows, int64_t columns, void *a, void *taus, void *room);
/* The first columns of H(1) ... H(n); room: `columns` elements. */
void dense_householder(Element e, int64_t rows, int64_t columns, int64_t n, const void *vectors,
                       const void *taus, void *q, void *room);

/* ---- factor.c ---- */
int lu_factor(Mat a, int64_t *pivots); /* [min(rows, cols)]: row i was swapped with pivots[i] */
/* Diagonals of n entries each; below[0] and above[n-1] count nothing.  b becomes the solution.
 * epsilon: 0, or pivots below this part of the largest entry are lifted to it. */
MUST_USE Error *tridiagonal_solve(Arena *arena, Z *below, Z *d, Z *above, Mat b, double epsilon,
                                  int *info);
/* ---- reflect.c.  A reflector is H = 1 - tau v v^H with v[0] = 1. ---- */
/* H^H x = (beta, 0...): x becomes beta, v[1..] (dense.c). */
Z reflector_make(int64_t n, Z *x, int64_t step);
typedef struct Reflector {
    int64_t n;
    Z *v; /* dense, v[0] is 1 */
    Z tau;
} Reflector;
void reflector_left(const Reflector *h, Mat c, int64_t row, int64_t col, int64_t ncols);  /* H C */
void reflector_right(const Reflector *h, Mat c, int64_t row, int64_t nrows, int64_t col); /* C H */
/* R above, the reflectors' v below the diagonal.  permutation: NULL, or columns are exchanged for
 * falling norms and column i of A P was permutation[i]. */
MUST_USE Error *qr_factor(Arena *arena, Mat a, Z *taus, int64_t *permutation);
/* c becomes Q c, Q^H c, c Q or c Q^H, where Q = H(1) ... H(k) as qr_factor left them in a, from
 * row `below` of each column's diagonal on (0 for qr_factor, 1 for hessenberg). */
typedef struct Reflected {
    Mat a;
    int64_t k, below;
    const Z *taus;
} Reflected;
MUST_USE Error *reflected_apply(Arena *arena, const Reflected *q, Mat c, bool on_left,
                                bool is_adjoint);
/* Rows and columns from low up to, not including, high; taus[n - 1]. */
MUST_USE Error *hessenberg_factor(Arena *arena, Mat a, int64_t low, int64_t high, Z *taus);

/* ---- hermitian.c ---- */
/* a holds the whole matrix.  d[n], e[n - 1], taus[n - 1]. */
MUST_USE Error *tridiagonal_factor(Arena *arena, Mat a, double *d, double *e, Z *taus);
/* a becomes the eigenvectors as columns; w[n] rises. */
MUST_USE Error *hermitian_eigen(Arena *arena, Mat a, double *w, int *info);

/* ---- singular.c.  u is rows x (k or rows), vh (k or cols) x cols; k = min(rows, cols). ---- */
MUST_USE Error *singular_values(Arena *arena, Mat a, double *s, Mat u, Mat vh, int *info);

/* ---- schur.c ---- */
/* a becomes T, z (identity at first, or what came before) takes the transformation.  is_real: T is
 * real with a 2 x 2 block, of equal diagonal, per pair of eigenvalues; else T is triangular. */
MUST_USE Error *schur_factor(Arena *arena, Mat a, Mat z, bool is_real, int *info);
void schur_eigenvalues(Mat t, bool is_real, Z *w);
void schur_triangular(Mat t, Mat z); /* the blocks of a real form are undone, complex */

/* ---- eigen.c ---- */
/* Columns of right: A v = w v.  Columns of left: v^H A = w v^H.  Of length 1; the largest entry
 * is real.  Pairs of a real matrix are conjugate, the one above the axis first. */
MUST_USE Error *general_eigen(Arena *arena, Mat a, bool is_real, Z *w, Mat left, Mat right,
                              int *info);
#endif
