/* eigen.c - eigenvectors of any square matrix, from its Schur form.
 *
 *   A = Z T Z^H,  T x = w x by substitution upwards from the diagonal,  v = Z x
 *                 T^H y = conj(w) y, downwards from it,                 v = Z y */
#include "engine/numerics/linalg/mat.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* A difference of eigenvalues that may be divided by. */
static Z apart(Z difference, double least)
{
    return cabs(difference) < least ? CMPLX(least, 0) : difference;
}

/* What grows beyond all bounds, as it does for eigenvalues that are alike, is a direction only. */
static void keep_small(Z *x, int64_t n, int64_t newest)
{
    double size = fmax(fabs(creal(x[newest])), fabs(cimag(x[newest])));
    for (int64_t i = 0; i < n && size > 1e100; i++)
        x[i] = CMPLX(creal(x[i]) / size, cimag(x[i]) / size);
}

static void right_vector(Mat t, int64_t k, double least, Z *x)
{
    for (int64_t i = 0; i < t.rows; i++)
        x[i] = i == k;
    for (int64_t i = k - 1; i >= 0; i--) {
        Z sum = 0;
        for (int64_t j = i + 1; j <= k; j++)
            sum += AT(t, i, j) * x[j];
        x[i] = -sum / apart(AT(t, i, i) - AT(t, k, k), least);
        keep_small(x, t.rows, i);
    }
}

static void left_vector(Mat t, int64_t k, double least, Z *x)
{
    for (int64_t i = 0; i < t.rows; i++)
        x[i] = i == k;
    for (int64_t i = k + 1; i < t.rows; i++) {
        Z sum = 0;
        for (int64_t j = k; j < i; j++)
            sum += conj(AT(t, j, i)) * x[j];
        x[i] = -sum / apart(conj(AT(t, i, i) - AT(t, k, k)), least);
        keep_small(x, t.rows, i);
    }
}

/* Column k of v becomes z x, of length 1, its largest entry real. */
static void place_vector(Mat z, const Z *x, bool is_real, Mat v, int64_t k)
{
    double most = 0, sum = 0, scale = 0;
    Z largest = 1;
    for (int64_t i = 0; i < z.rows; i++)
        scale = fmax(scale, cabs(x[i]));
    for (int64_t i = 0; i < z.rows; i++) {
        Z y = 0;
        for (int64_t j = 0; j < z.cols; j++)
            y += AT(z, i, j) * (x[j] / scale);
        AT(v, i, k) = y;
        double size = cabs(y);
        sum += size * size;
        if (size > most) {
            most = size;
            largest = y;
        }
    }
    Z factor = most > 0 ? conj(largest) / most / sqrt(sum) : 1;
    for (int64_t i = 0; i < z.rows; i++) {
        AT(v, i, k) *= factor;
        if (is_real || AT(v, i, k) == largest * factor)
            AT(v, i, k) = creal(AT(v, i, k));
    }
}

typedef void Vector(Mat t, int64_t k, double least, Z *x);

static void vectors(Mat t, Mat z, bool is_real, const Z *w, Vector *vector, Z *x, Mat v)
{
    double least = DBL_EPSILON * fmax(mat_max(t), DBL_MIN / DBL_EPSILON);
    for (int64_t k = 0; k < v.cols; k++) {
        bool is_second = is_real && cimag(w[k]) < 0;
        if (is_second) {
            for (int64_t i = 0; i < v.rows; i++)
                AT(v, i, k) = conj(AT(v, i, k - 1));
            continue;
        }
        vector(t, k, least, x);
        place_vector(z, x, is_real && cimag(w[k]) == 0, v, k);
    }
}

Error *general_eigen(Arena *arena, Mat a, bool is_real, Z *w, Mat left, Mat right, int *info)
{
    Mat z, x;
    double scale = mat_is_finite(a) ? mat_scale(a) : 1;
    TRY(mat_new(arena, a.rows, a.rows, &z));
    TRY(mat_new(arena, 1, a.rows + 1, &x));
    mat_identity(z);
    TRY(schur_factor(arena, a, z, is_real, info));
    if (*info)
        return NULL;
    schur_eigenvalues(a, is_real, w);
    if (is_real)
        schur_triangular(a, z);
    vectors(a, z, is_real, w, left_vector, x.at, left);
    vectors(a, z, is_real, w, right_vector, x.at, right);
    mat_multiply((Mat){ 1, a.rows, w }, scale);
    return NULL;
}
