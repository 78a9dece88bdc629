/* lapack_routines.c - what each of LAPACK's routines gives, by our own algorithms (linalg/). */
#include "engine/numerics/lapack.h"

#include "engine/numerics/linalg/mat.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- one matrix in and out ---- */

static Error *take_matrix(Call *c, int i, Mat *m)
{
    Tensor t = c->in[i];
    TRY(mat_new(c->arena, extent(t, 2), extent(t, 1), m));
    int64_t n = m->rows * m->cols;
    for (int64_t k = 0; k < n; k++)
        m->at[k] = number_at(t, c->batch * n + k);
    return NULL;
}

/* A vector as a row. */
static Error *take_vector(Call *c, int i, Mat *m)
{
    Tensor t = c->in[i];
    TRY(mat_new(c->arena, 1, extent(t, 1), m));
    for (int64_t k = 0; k < m->cols; k++)
        m->at[k] = number_at(t, c->batch * m->cols + k);
    return NULL;
}

/* The whole Hermitian matrix from the triangle that counts. */
static Error *take_hermitian(Call *c, int i, bool is_lower, Mat *m)
{
    TRY(take_matrix(c, i, m));
    for (int64_t r = 0; r < m->rows; r++) {
        AT(*m, r, r) = creal(AT(*m, r, r));
        for (int64_t s = 0; s < r; s++)
            if (is_lower)
                AT(*m, s, r) = conj(AT(*m, r, s));
            else
                AT(*m, r, s) = conj(AT(*m, s, r));
    }
    return NULL;
}

static void give(Call *c, int i, int64_t n, const Z *at)
{
    for (int64_t k = 0; k < n; k++)
        number_set(c->out[i], c->batch * n + k, at[k]);
}

static void give_matrix(Call *c, int i, Mat m)
{
    give(c, i, m.rows * m.cols, m.at);
}

static void give_reals(Call *c, int i, int64_t n, const double *at)
{
    for (int64_t k = 0; k < n; k++)
        number_set(c->out[i], c->batch * n + k, at[k]);
}

static void give_info(Call *c, int i, int info)
{
    int_set(c->out[i], c->batch, info);
}

static Error *numbers(Call *c, int64_t n, Z **out)
{
    Mat m;
    TRY(mat_new(c->arena, 1, n + 1, &m));
    *out = m.at;
    return NULL;
}

static Error *reals(Call *c, int64_t n, double **out)
{
    Z *room;
    TRY(numbers(c, n, &room));
    *out = (double *)room;
    return NULL;
}

static Error *indices(Call *c, int64_t n, int64_t **out)
{
    Z *room;
    TRY(numbers(c, n, &room));
    *out = (int64_t *)room;
    return NULL;
}

/* ---- the routines ---- */

static int64_t shorter(Mat a)
{
    return a.rows < a.cols ? a.rows : a.cols;
}

Error *lapack_getrf(Call *c)
{
    Mat a;
    int64_t *pivots;
    TRY(take_matrix(c, 0, &a));
    TRY(indices(c, shorter(a), &pivots));
    give_info(c, 2, lu_factor(a, pivots));
    give_matrix(c, 0, a);
    for (int64_t k = 0; k < shorter(a); k++)
        int_set(c->out[1], c->batch * shorter(a) + k, pivots[k] + 1);
    return NULL;
}

Error *lapack_geqrf(Call *c)
{
    Mat a;
    Z *taus;
    TRY(take_matrix(c, 0, &a));
    TRY(numbers(c, shorter(a), &taus));
    TRY(qr_factor(c->arena, a, taus, NULL));
    give_matrix(c, 0, a);
    give(c, 1, shorter(a), taus);
    return NULL;
}

Error *lapack_geqp3(Call *c)
{
    Mat a;
    Z *taus;
    int64_t *columns;
    TRY(take_matrix(c, 0, &a));
    for (int64_t j = 0; j < a.cols; j++)
        if (int_at(c->in[1], c->batch * a.cols + j) != 0)
            return error_new(CODE_UNIMPLEMENTED,
                             "not supported: geqp3 with columns put in front, at %s",
                             loc_name(c->n->loc));
    TRY(numbers(c, shorter(a), &taus));
    TRY(indices(c, a.cols, &columns));
    TRY(qr_factor(c->arena, a, taus, columns));
    give_matrix(c, 0, a);
    for (int64_t j = 0; j < a.cols; j++)
        int_set(c->out[1], c->batch * a.cols + j, columns[j] + 1);
    give(c, 2, shorter(a), taus);
    return NULL;
}

Error *lapack_orgqr(Call *c)
{
    Mat a, taus, q;
    TRY(take_matrix(c, 0, &a));
    TRY(take_vector(c, 1, &taus));
    TRY(mat_new(c->arena, a.rows, a.cols, &q));
    mat_identity(q);
    TRY(reflected_apply(c->arena, &(Reflected){ a, taus.cols, 0, taus.at }, q, true, false));
    give_matrix(c, 0, q);
    return NULL;
}

Error *lapack_ormqr(Call *c)
{
    Mat a, taus, x;
    TRY(take_matrix(c, 0, &a));
    TRY(take_vector(c, 1, &taus));
    TRY(take_matrix(c, 2, &x));
    bool on_left = option(c, "left", 1) != 0;
    TRY(reflected_apply(c->arena, &(Reflected){ a, taus.cols, 0, taus.at }, x, on_left,
                        option(c, "transpose", 0) != 0));
    give_matrix(c, 0, x);
    return NULL;
}

Error *lapack_potrf(Call *c)
{
    Mat a, factor, room;
    bool is_lower = option_is(c, "uplo", 'L');
    TRY(take_matrix(c, 0, &a));
    TRY(mat_new(c->arena, a.rows, a.rows, &factor));
    TRY(mat_new(c->arena, a.rows + 1, a.rows, &room));
    int info = dense_cholesky(C128, a.rows, is_lower, a.at, factor.at, room.at);
    for (int64_t i = 0; i < a.rows && !info; i++)
        for (int64_t j = is_lower ? 0 : i; j < (is_lower ? i + 1 : a.rows); j++)
            AT(a, i, j) = AT(factor, i, j); /* the other triangle is not touched */
    give_info(c, 1, info);
    give_matrix(c, 0, a);
    return NULL;
}

Error *lapack_syevd(Call *c)
{
    Mat a;
    double *w;
    int info;
    TRY(take_hermitian(c, 0, option_is(c, "uplo", 'L'), &a));
    TRY(reals(c, a.rows, &w));
    TRY(hermitian_eigen(c->arena, a, w, &info));
    give_matrix(c, 0, a);
    give_reals(c, 1, a.rows, w);
    give_info(c, 2, info);
    return NULL;
}

Error *lapack_gesdd(Call *c)
{
    Mat a, u, vh;
    double *s;
    int info;
    TRY(take_matrix(c, 0, &a));
    give_matrix(c, 0, a);
    int64_t k = shorter(a), across = extent(c->out[2], 1), down = extent(c->out[3], 2);
    TRY(mat_new(c->arena, a.rows, across, &u));
    TRY(mat_new(c->arena, down, a.cols, &vh));
    TRY(reals(c, k, &s));
    TRY(singular_values(c->arena, a, s, u, vh, &info));
    give_reals(c, 1, k, s);
    give_matrix(c, 2, u);
    give_matrix(c, 3, vh);
    give_info(c, 4, info);
    return NULL;
}

/* Eigenvalues take one result, or two of a real matrix. */
static void give_eigenvalues(Call *c, int i, int64_t n, const Z *w)
{
    for (int64_t k = 0; k < n; k++) {
        number_set(c->out[i], c->batch * n + k, w[k]);
        if (c->is_real)
            number_set(c->out[i + 1], c->batch * n + k, cimag(w[k]));
    }
}

Error *lapack_geev(Call *c)
{
    Mat a, left, right;
    Z *w;
    int info, at = c->is_real ? 2 : 1;
    TRY(take_matrix(c, 0, &a));
    TRY(mat_new(c->arena, a.rows, a.rows, &left));
    TRY(mat_new(c->arena, a.rows, a.rows, &right));
    TRY(numbers(c, a.rows, &w));
    TRY(general_eigen(c->arena, a, c->is_real, w, left, right, &info));
    give_eigenvalues(c, 0, a.rows, w);
    give_matrix(c, at, left);
    give_matrix(c, at + 1, right);
    give_info(c, at + 2, info);
    return NULL;
}

Error *lapack_gees(Call *c)
{
    Mat a, z;
    Z *w;
    int info, at = c->is_real ? 4 : 3;
    TRY(take_matrix(c, 0, &a));
    TRY(mat_new(c->arena, a.rows, a.rows, &z));
    TRY(numbers(c, a.rows, &w));
    mat_identity(z);
    TRY(schur_factor(c->arena, a, z, c->is_real, &info));
    schur_eigenvalues(a, c->is_real, w);
    give_matrix(c, 0, a);
    give_matrix(c, 1, z);
    give_eigenvalues(c, 2, a.rows, w);
    give_info(c, at, 0);
    give_info(c, at + 1, info);
    return NULL;
}

Error *lapack_gehrd(Call *c)
{
    Mat a;
    Z *taus;
    TRY(take_matrix(c, 0, &a));
    int64_t low = option(c, "low", 1), high = option(c, "high", a.rows);
    TRY(numbers(c, a.rows, &taus));
    TRY(hessenberg_factor(c->arena, a, low - 1, high, taus));
    give_matrix(c, 0, a);
    give(c, 1, a.rows - 1, taus);
    give_info(c, 2, 0);
    return NULL;
}

static void reverse(int64_t n, Z *at)
{
    for (int64_t i = 0; i < n / 2; i++) {
        Z x = at[i];
        at[i] = at[n - 1 - i];
        at[n - 1 - i] = x;
    }
}

/* The upper form is the lower one seen from the other end. */
Error *lapack_sytrd(Call *c)
{
    Mat a;
    double *d, *e;
    Z *taus;
    bool is_lower = option_is(c, "uplo", 'L');
    TRY(take_hermitian(c, 0, is_lower, &a));
    int64_t n = a.rows;
    TRY(reals(c, n, &d));
    TRY(reals(c, n, &e));
    TRY(numbers(c, n, &taus));
    if (!is_lower)
        reverse(n * n, a.at);
    TRY(tridiagonal_factor(c->arena, a, d, e, taus));
    if (!is_lower) {
        reverse(n * n, a.at);
        reverse(n - 1, taus);
    }
    Mat before;
    TRY(take_matrix(c, 0, &before));
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            if (is_lower ? j > i : j < i)
                AT(a, i, j) = AT(before, i, j); /* the other triangle is not touched */
    give_matrix(c, 0, a);
    for (int64_t i = 0; i < n; i++)
        number_set(c->out[1], c->batch * n + i, d[is_lower ? i : n - 1 - i]);
    for (int64_t i = 0; i < n - 1; i++)
        number_set(c->out[2], c->batch * (n - 1) + i, e[is_lower ? i : n - 2 - i]);
    give(c, 3, n - 1, taus);
    give_info(c, 4, 0);
    return NULL;
}

Error *lapack_gtsv(Call *c)
{
    Mat diagonals[3], b;
    int info;
    if (c->is_real) {
        real_gtsv(c);
        return NULL;
    }
    for (int i = 0; i < 3; i++)
        TRY(take_vector(c, i, &diagonals[i]));
    TRY(take_matrix(c, 3, &b));
    TRY(tridiagonal_solve(c->arena, diagonals[0].at, diagonals[1].at, diagonals[2].at, b, 0,
                          &info));
    for (int i = 0; i < 3; i++)
        give_matrix(c, i, diagonals[i]);
    give_matrix(c, 3, b);
    give_info(c, 4, info);
    return NULL;
}

/* Singular systems get a large, finite answer: inverse iteration lives on it. */
Error *lapack_solve_perturbed(Call *c)
{
    Mat diagonals[3], b;
    int info;
    bool is_single = element_part(c->in[0].type.element) == F32;
    for (int i = 0; i < 3; i++)
        TRY(take_vector(c, i, &diagonals[i]));
    TRY(take_matrix(c, 3, &b));
    TRY(tridiagonal_solve(c->arena, diagonals[0].at, diagonals[1].at, diagonals[2].at, b,
                          is_single ? (double)FLT_EPSILON : DBL_EPSILON, &info));
    give_matrix(c, 0, b);
    return NULL;
}

Error *lapack_trsm(Call *c)
{
    Mat a, b, room;
    TRY(take_matrix(c, 0, &a));
    TRY(take_matrix(c, 1, &b));
    TRY(mat_new(c->arena, a.rows, a.rows, &room));
    bool is_left = option_is(c, "side", 'L');
    int op = option_is(c, "trans_x", 'N')   ? NO_TRANSPOSE
             : option_is(c, "trans_x", 'C') ? ADJOINT
                                            : TRANSPOSE;
    Triangle t = { .n = a.rows,
                   .other = is_left ? b.cols : b.rows,
                   .op = op,
                   .is_left = is_left,
                   .is_lower = option_is(c, "uplo", 'L') == (op == NO_TRANSPOSE),
                   .is_unit = option_is(c, "diag", 'U') };
    dense_solve(C128, &t, a.at, b.at, room.at);
    give_matrix(c, 0, b);
    return NULL;
}
