/* reflect.c - Householder reflectors, and what is made of them.
 *
 *   H = 1 - tau v v^H,   v = (1, v1, v2 ...),   H^H x = (beta, 0, 0 ...)  with beta real
 *
 *       r r r r      column by column the reflectors clear what is below the diagonal, and their
 *       v r r r      v (without the leading 1) is kept there:  A = H(1) H(2) ... H(k) R
 *       v v r r
 *       v v v r */
#include "engine/numerics/linalg/mat.h"

#include <math.h>

static double norm_of(int64_t n, const Z *x, int64_t step)
{
    double most = 0, sum = 0;
    for (int64_t i = 0; i < n; i++)
        most = fmax(most, fmax(fabs(creal(x[i * step])), fabs(cimag(x[i * step]))));
    if (most == 0 || isinf(most))
        return most;
    for (int64_t i = 0; i < n; i++) {
        double re = creal(x[i * step]) / most, im = cimag(x[i * step]) / most;
        sum += re * re + im * im;
    }
    return most * sqrt(sum);
}

void reflector_left(const Reflector *h, Mat c, int64_t row, int64_t col, int64_t ncols)
{
    if (h->tau == 0)
        return;
    enum { WIDTH = 64 };
    for (int64_t first = 0; first < ncols; first += WIDTH) {
        int64_t width = ncols - first < WIDTH ? ncols - first : WIDTH;
        Z sums[WIDTH] = { 0 };
        for (int64_t i = 0; i < h->n; i++)
            for (int64_t j = 0; j < width; j++)
                sums[j] += conj(h->v[i]) * AT(c, row + i, col + first + j);
        for (int64_t i = 0; i < h->n; i++)
            for (int64_t j = 0; j < width; j++)
                AT(c, row + i, col + first + j) -= h->tau * h->v[i] * sums[j];
    }
}

void reflector_right(const Reflector *h, Mat c, int64_t row, int64_t nrows, int64_t col)
{
    for (int64_t i = row; i < row + nrows && h->tau != 0; i++) {
        Z sum = 0;
        for (int64_t j = 0; j < h->n; j++)
            sum += AT(c, i, col + j) * h->v[j];
        for (int64_t j = 0; j < h->n; j++)
            AT(c, i, col + j) -= h->tau * sum * conj(h->v[j]);
    }
}

/* The reflector whose v stands in column col of a below (row, col); h->v has room. */
static void reflector_read(Reflector *h, Mat a, int64_t row, int64_t col, Z tau)
{
    h->n = a.rows - row;
    h->tau = tau;
    for (int64_t i = 0; i < h->n; i++)
        h->v[i] = i ? AT(a, row + i, col) : 1;
}

static void swap_columns(Mat a, int64_t i, int64_t j)
{
    for (int64_t k = 0; k < a.rows; k++) {
        Z x = AT(a, k, i);
        AT(a, k, i) = AT(a, k, j);
        AT(a, k, j) = x;
    }
}

/* Puts the column that is longest from row k on into place k. */
static void choose_column(Mat a, int64_t k, int64_t *permutation)
{
    int64_t best = k;
    double length = -1;
    for (int64_t j = k; j < a.cols; j++) {
        double here = norm_of(a.rows - k, &AT(a, k, j), a.cols);
        if (here > length) {
            length = here;
            best = j;
        }
    }
    swap_columns(a, k, best);
    int64_t was = permutation[k];
    permutation[k] = permutation[best];
    permutation[best] = was;
}

Error *qr_factor(Arena *arena, Mat a, Z *taus, int64_t *permutation)
{
    Mat room;
    TRY(mat_new(arena, 1, a.rows > a.cols ? a.rows : a.cols, &room));
    if (!permutation) {
        dense_qr(C128, a.rows, a.cols, a.at, taus, room.at);
        return NULL;
    }
    Reflector h = { .v = room.at };
    for (int64_t j = 0; j < a.cols; j++)
        permutation[j] = j;
    for (int64_t k = 0; k < a.rows && k < a.cols; k++) {
        choose_column(a, k, permutation);
        taus[k] = reflector_make(a.rows - k, &AT(a, k, k), a.cols);
        reflector_read(&h, a, k, k, conj(taus[k]));
        reflector_left(&h, a, k, k + 1, a.cols - k - 1);
    }
    return NULL;
}

Error *reflected_apply(Arena *arena, const Reflected *q, Mat c, bool on_left, bool is_adjoint)
{
    Mat room;
    TRY(mat_new(arena, 1, q->a.rows, &room));
    Reflector h = { .v = room.at };
    for (int64_t step = 0; step < q->k; step++) {
        int64_t k = on_left == is_adjoint ? step : q->k - 1 - step;
        reflector_read(&h, q->a, k + q->below, k, is_adjoint ? conj(q->taus[k]) : q->taus[k]);
        if (on_left)
            reflector_left(&h, c, k + q->below, 0, c.cols);
        else
            reflector_right(&h, c, 0, c.rows, k + q->below);
    }
    return NULL;
}

Error *hessenberg_factor(Arena *arena, Mat a, int64_t low, int64_t high, Z *taus)
{
    Mat room;
    TRY(mat_new(arena, 1, a.rows, &room));
    Reflector h = { .v = room.at };
    for (int64_t k = 0; k + 1 < a.rows; k++)
        taus[k] = 0;
    for (int64_t k = low; k + 1 < high; k++) {
        taus[k] = reflector_make(high - k - 1, &AT(a, k + 1, k), a.cols);
        reflector_read(&h, a, k + 1, k, taus[k]);
        h.n = high - k - 1;
        reflector_right(&h, a, 0, high, k + 1);
        h.tau = conj(h.tau);
        reflector_left(&h, a, k + 1, k + 1, a.cols - k - 1);
    }
    return NULL;
}
