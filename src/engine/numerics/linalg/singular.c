/* singular.c - singular values by Jacobi's one-sided method.
 *
 *   A P = Q R                    a tall matrix, columns exchanged for falling norms
 *   R^H J = X, columns orthogonal     pairs of columns are rotated until they all are
 *   X = W diag(s)                so  A = (Q J) diag(s) (P W)^H
 *
 * A wide matrix is taken by its adjoint. */
#include "engine/numerics/linalg/mat.h"

#include <float.h>
#include <math.h>

enum { MAX_SWEEPS = 60 };

/* Rows p and q of x (columns of R^H, kept as rows) become orthogonal; the rows of j, which are
 * the columns of J, go along.  False: they were. */
static bool rotate_pair(Mat x, Mat j, int64_t p, int64_t q)
{
    double a = 0, b = 0;
    Z c = 0;
    for (int64_t k = 0; k < x.cols; k++) {
        Z xp = AT(x, p, k), xq = AT(x, q, k);
        a += creal(xp) * creal(xp) + cimag(xp) * cimag(xp);
        b += creal(xq) * creal(xq) + cimag(xq) * cimag(xq);
        c += conj(xp) * xq;
    }
    double size = cabs(c);
    if (size == 0 || size <= DBL_EPSILON * sqrt(a) * sqrt(b))
        return false;
    Z phase = conj(c) / size;
    double zeta = (b - a) / (2 * size);
    double t = copysign(1, zeta) / (fabs(zeta) + hypot(1, zeta));
    double cosine = 1 / hypot(1, t), sine = cosine * t;
    for (int side = 0; side < 2; side++) {
        Mat m = side ? j : x;
        for (int64_t k = 0; k < m.cols; k++) {
            Z mp = AT(m, p, k), mq = phase * AT(m, q, k);
            AT(m, p, k) = cosine * mp - sine * mq;
            AT(m, q, k) = sine * mp + cosine * mq;
        }
    }
    return true;
}

static int make_orthogonal(Mat x, Mat j)
{
    for (int sweep = 0; sweep < MAX_SWEEPS; sweep++) {
        bool rotated = false;
        for (int64_t p = 0; p < x.rows; p++)
            for (int64_t q = p + 1; q < x.rows; q++)
                rotated |= rotate_pair(x, j, p, q);
        if (!rotated)
            return 0;
    }
    return 1;
}

static void swap_rows(Mat a, int64_t i, int64_t k)
{
    for (int64_t j = 0; j < a.cols; j++) {
        Z x = AT(a, i, j);
        AT(a, i, j) = AT(a, k, j);
        AT(a, k, j) = x;
    }
}

/* s falls; the rows of x get length 1, those of length 0 stay as they are. */
static int64_t measure(Mat x, Mat j, double *s)
{
    int64_t rank = 0;
    for (int64_t i = 0; i < x.rows; i++) {
        double sum = 0;
        for (int64_t k = 0; k < x.cols; k++)
            sum += creal(AT(x, i, k) * conj(AT(x, i, k)));
        s[i] = sqrt(sum);
    }
    for (int64_t i = 0; i < x.rows; i++) {
        int64_t most = i;
        for (int64_t k = i + 1; k < x.rows; k++)
            if (s[k] > s[most])
                most = k;
        double here = s[i];
        s[i] = s[most];
        s[most] = here;
        if (most != i) {
            swap_rows(x, i, most);
            swap_rows(j, i, most);
        }
        if (s[i] > 0)
            rank = i + 1;
        for (int64_t k = 0; k < x.cols && s[i] > 0; k++)
            AT(x, i, k) /= s[i];
    }
    return rank;
}

/* Rows from rank on become what completes the rows before them to a unitary matrix. */
static Error *complete_rows(Arena *arena, Mat rows, int64_t rank)
{
    Mat known, q, taus;
    TRY(mat_new(arena, rows.cols, rank, &known));
    TRY(mat_new(arena, rows.cols, rows.rows, &q));
    TRY(mat_new(arena, 1, rank + 1, &taus));
    for (int64_t i = 0; i < rank; i++)
        for (int64_t k = 0; k < rows.cols; k++)
            AT(known, k, i) = AT(rows, i, k);
    TRY(qr_factor(arena, known, taus.at, NULL));
    mat_identity(q);
    Reflected by = { known, rank, 0, taus.at };
    TRY(reflected_apply(arena, &by, q, true, false));
    for (int64_t i = rank; i < rows.rows; i++)
        for (int64_t k = 0; k < rows.cols; k++)
            AT(rows, i, k) = AT(q, k, i);
    return NULL;
}

/* rows >= cols, at least one column.  u: rows x (cols or rows); v: cols x cols, columns. */
static Error *tall(Arena *arena, Mat a, double *s, Mat u, Mat v, int *info)
{
    int64_t n = a.cols;
    Mat taus, x, j;
    TRY(mat_new(arena, 1, n, &taus));
    TRY(mat_new(arena, n, n, &x));
    TRY(mat_new(arena, n, n, &j));
    int64_t *permutation = arena_try(arena, sizeof *permutation * (size_t)n);
    if (!permutation)
        return error_new(CODE_EXHAUSTED, "no memory for %lld columns", (long long)n);
    TRY(qr_factor(arena, a, taus.at, permutation));
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = i; k < n; k++)
            AT(x, i, k) = conj(AT(a, i, k)); /* row i: column i of R^H */
    mat_identity(j);
    *info = make_orthogonal(x, j);
    int64_t rank = measure(x, j, s);
    if (rank < n)
        TRY(complete_rows(arena, x, rank));
    mat_identity(u);
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < n; k++) {
            AT(u, i, k) = AT(j, k, i);
            AT(v, permutation[i], k) = AT(x, k, i);
        }
    Reflected by = { a, n, 0, taus.at };
    return reflected_apply(arena, &by, u, true, false);
}

Error *singular_values(Arena *arena, Mat a, double *s, Mat u, Mat vh, int *info)
{
    *info = 0;
    if (!mat_is_finite(a)) {
        *info = 1;
        return NULL;
    }
    bool is_wide = a.cols > a.rows;
    int64_t k = is_wide ? a.rows : a.cols;
    double largest = mat_max(a), scale = largest > 0 ? largest : 1;
    for (int64_t i = 0; i < a.rows * a.cols; i++)
        a.at[i] /= scale;
    Mat tall_a = a, tall_u, tall_v;
    if (is_wide)
        TRY(mat_adjoint(arena, a, &tall_a));
    TRY(mat_new(arena, tall_a.rows, is_wide ? vh.rows : u.cols, &tall_u));
    TRY(mat_new(arena, k, k, &tall_v));
    TRY(tall(arena, tall_a, s, tall_u, tall_v, info));
    for (int64_t i = 0; i < k; i++)
        s[i] *= scale;
    for (int64_t i = 0; i < u.rows; i++)
        for (int64_t j = 0; j < u.cols; j++)
            AT(u, i, j) = is_wide ? AT(tall_v, i, j) : AT(tall_u, i, j);
    for (int64_t i = 0; i < vh.rows; i++)
        for (int64_t j = 0; j < vh.cols; j++)
            AT(vh, i, j) = conj(is_wide ? AT(tall_u, j, i) : AT(tall_v, j, i));
    return NULL;
}
