/* hermitian.c - Hermitian matrices: to tridiagonal form by reflectors, then to diagonal form by
 * the implicit QL method.
 *
 *     A  ->  d e . .   ->   w . . .
 *            e d e .        . w . .
 *            . e d e        . . w .
 *            . . e d        . . . w */
#include "engine/numerics/linalg/mat.h"

#include <float.h>
#include <math.h>

enum { MAX_ROUNDS = 60 }; /* per eigenvalue; two or three are usual */

Error *tridiagonal_factor(Arena *arena, Mat a, double *d, double *e, Z *taus)
{
    Mat room;
    TRY(mat_new(arena, 1, a.rows + 1, &room));
    Reflector h = { .v = room.at };
    for (int64_t k = 0; k < a.rows; k++) {
        d[k] = creal(AT(a, k, k));
        AT(a, k, k) = d[k];
        if (k + 1 == a.rows)
            break;
        h.n = a.rows - k - 1;
        taus[k] = reflector_make(h.n, &AT(a, k + 1, k), a.cols);
        e[k] = creal(AT(a, k + 1, k));
        for (int64_t i = 0; i < h.n; i++)
            h.v[i] = i ? AT(a, k + 1 + i, k) : 1;
        h.tau = taus[k];
        reflector_right(&h, a, k + 1, h.n, k + 1);
        h.tau = conj(h.tau);
        reflector_left(&h, a, k + 1, k + 1, h.n);
    }
    return NULL;
}

/* Rows i and i + 1 of the eigenvectors' transpose are rotated. */
static void rotate(Mat rows, int64_t i, double c, double s)
{
    for (int64_t k = 0; k < rows.cols; k++) {
        Z x = AT(rows, i, k), y = AT(rows, i + 1, k);
        AT(rows, i + 1, k) = s * x + c * y;
        AT(rows, i, k) = c * x - s * y;
    }
}

/* One sweep from m up to l, shifted by the eigenvalue of the corner that is nearer. */
static void sweep(double *d, double *e, int64_t l, int64_t m, Mat rows)
{
    double g = (d[l + 1] - d[l]) / (2 * e[l]);
    g = d[m] - d[l] + e[l] / (g + copysign(hypot(g, 1), g));
    double s = 1, c = 1, p = 0;
    for (int64_t i = m - 1; i >= l; i--) {
        double f = s * e[i], b = c * e[i], r = hypot(f, g);
        e[i + 1] = r;
        if (r == 0) { /* it has split on the way */
            d[i + 1] -= p;
            e[m] = 0;
            return;
        }
        s = f / r;
        c = g / r;
        g = d[i + 1] - p;
        r = (d[i] - g) * s + 2 * c * b;
        p = s * r;
        d[i + 1] = g + p;
        g = c * r - b;
        rotate(rows, i, c, s);
    }
    d[l] -= p;
    e[l] = g;
    e[m] = 0;
}

/* e has room for n.  Every rotation is applied to the rows too. */
static int diagonalize(int64_t n, double *d, double *e, Mat rows)
{
    for (int64_t l = 0; l < n; l++)
        for (int round = 0;; round++) {
            int64_t m = l;
            while (m + 1 < n && fabs(e[m]) > DBL_EPSILON / 2 * (fabs(d[m]) + fabs(d[m + 1])))
                m++;
            if (m == l)
                break;
            if (round == MAX_ROUNDS)
                return (int)(l + 1);
            sweep(d, e, l, m, rows);
        }
    return 0;
}

/* w rises; rows go with it. */
static void sort(int64_t n, double *w, Mat rows)
{
    for (int64_t i = 0; i < n; i++) {
        int64_t least = i;
        for (int64_t j = i + 1; j < n; j++)
            if (w[j] < w[least])
                least = j;
        double x = w[i];
        w[i] = w[least];
        w[least] = x;
        for (int64_t k = 0; least != i && k < n; k++) {
            Z y = AT(rows, i, k);
            AT(rows, i, k) = AT(rows, least, k);
            AT(rows, least, k) = y;
        }
    }
}

Error *hermitian_eigen(Arena *arena, Mat a, double *w, int *info)
{
    int64_t n = a.rows;
    *info = 0;
    if (!mat_is_finite(a)) {
        *info = 1;
        return NULL;
    }
    double largest = mat_max(a), scale = largest > 0 ? largest : 1;
    for (int64_t i = 0; i < n * n; i++)
        a.at[i] /= scale;
    Mat q, rows, taus, e;
    TRY(mat_new(arena, n, n, &q));
    TRY(mat_new(arena, n, n, &rows));
    TRY(mat_new(arena, 1, n + 1, &taus));
    TRY(mat_new(arena, 1, n + 1, &e)); /* as doubles: room to spare */
    TRY(tridiagonal_factor(arena, a, w, (double *)e.at, taus.at));
    mat_identity(q);
    Reflected by = { a, n > 0 ? n - 1 : 0, 1, taus.at };
    TRY(reflected_apply(arena, &by, q, true, false));
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            AT(rows, j, i) = AT(q, i, j);
    *info = diagonalize(n, w, (double *)e.at, rows);
    sort(n, w, rows);
    for (int64_t i = 0; i < n; i++) {
        w[i] *= scale;
        for (int64_t j = 0; j < n; j++)
            AT(a, j, i) = AT(rows, i, j);
    }
    return NULL;
}
