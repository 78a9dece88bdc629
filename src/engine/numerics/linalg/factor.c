/* factor.c - elimination with rows exchanged: A = L U, and systems with a tridiagonal matrix. */
#include "engine/numerics/linalg/mat.h"

#include <math.h>

static double size_of(Z x)
{
    return fabs(creal(x)) + fabs(cimag(x));
}

static void swap_rows(Mat a, int64_t i, int64_t j)
{
    for (int64_t k = 0; i != j && k < a.cols; k++) {
        Z x = AT(a, i, k);
        AT(a, i, k) = AT(a, j, k);
        AT(a, j, k) = x;
    }
}

/* A column without a pivot is left alone: the factors are still right, and info says which. */
int lu_factor(Mat a, int64_t *pivots)
{
    int info = 0;
    for (int64_t k = 0; k < a.rows && k < a.cols; k++) {
        int64_t best = k;
        for (int64_t i = k + 1; i < a.rows; i++)
            if (size_of(AT(a, i, k)) > size_of(AT(a, best, k)))
                best = i;
        pivots[k] = best;
        if (AT(a, best, k) == 0) {
            info = info ? info : (int)(k + 1);
            continue;
        }
        swap_rows(a, k, best);
        for (int64_t i = k + 1; i < a.rows; i++) {
            Z factor = AT(a, i, k) /= AT(a, k, k);
            for (int64_t j = k + 1; j < a.cols; j++)
                AT(a, i, j) -= factor * AT(a, k, j);
        }
    }
    return info;
}

/* Rows k and k + 1 are exchanged, which fills a second diagonal above. */
static void swap_neighbours(Z *below, Z *d, Z *above, Z *second, Mat b, int64_t k)
{
    swap_rows(b, k, k + 1);
    Z x = d[k], y = above[k];
    d[k] = below[k + 1], above[k] = d[k + 1];
    below[k + 1] = x, d[k + 1] = y;
    if (k + 2 < b.rows) {
        second[k] = above[k + 1];
        above[k + 1] = 0;
    }
}

static void eliminate(Z *below, Z *d, Z *above, Z *second, Mat b)
{
    for (int64_t k = 0; k + 1 < b.rows; k++) {
        if (size_of(below[k + 1]) > size_of(d[k]))
            swap_neighbours(below, d, above, second, b, k);
        Z factor = d[k] == 0 ? 0 : below[k + 1] / d[k];
        d[k + 1] -= factor * above[k];
        if (k + 2 < b.rows)
            above[k + 1] -= factor * second[k];
        for (int64_t j = 0; j < b.cols; j++)
            AT(b, k + 1, j) -= factor * AT(b, k, j);
    }
}

/* Pivots that are next to nothing beside the largest entry become its `epsilon`-th part. */
static void lift_pivots(int64_t n, Z *d, const Z *above, const Z *second, double epsilon)
{
    double most = 0;
    for (int64_t k = 0; k < n; k++)
        most = fmax(
            most, fmax(size_of(d[k]), k + 1 < n ? fmax(size_of(above[k]), size_of(second[k])) : 0));
    double least = most > 0 ? epsilon * most : epsilon;
    for (int64_t k = 0; k < n; k++)
        if (size_of(d[k]) < least)
            d[k] = copysign(least, creal(d[k]));
}

Error *tridiagonal_solve(Arena *arena, Z *below, Z *d, Z *above, Mat b, double epsilon, int *info)
{
    int64_t n = b.rows;
    Mat second;
    TRY(mat_new(arena, 1, n + 1, &second));
    eliminate(below, d, above, second.at, b);
    if (epsilon > 0)
        lift_pivots(n, d, above, second.at, epsilon);
    *info = 0;
    for (int64_t k = n - 1; k >= 0; k--)
        if (d[k] == 0)
            *info = (int)(k + 1);
    for (int64_t k = n - 1; k >= 0 && !*info; k--)
        for (int64_t j = 0; j < b.cols; j++) {
            Z x = AT(b, k, j);
            x -= k + 1 < n ? above[k] * AT(b, k + 1, j) : 0;
            x -= k + 2 < n ? second.at[k] * AT(b, k + 2, j) : 0;
            AT(b, k, j) = x / d[k];
        }
    return NULL;
}
