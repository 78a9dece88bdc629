/* schur.c - A = Z T Z^H by the shifted QR method.
 *
 * The matrix is brought to Hessenberg form first.  Then a window [l, h] of it, below which all is
 * done, is swept until the last entry below the diagonal vanishes and the window shrinks:
 *
 *        x x x x x
 *        x x x x x       complex: plane rotations, one shift          -> T triangular
 *        . x x x x l     real: reflectors of three rows, two shifts   -> 2 x 2 blocks remain,
 *        . . x x x         at once, so that numbers stay real            one per pair
 *        . . . x x h                                                      of eigenvalues */
#include "engine/numerics/linalg/mat.h"

#include <float.h>
#include <math.h>

enum { MAX_ROUNDS = 100 }; /* per eigenvalue */

/* Rows i and i + 1 of a from column `from` on:  (x, y) -> (c x + s y, -conj(s) x + c y). */
static void rotate_rows(Mat a, int64_t i, int64_t from, double c, Z s)
{
    for (int64_t j = from; j < a.cols; j++) {
        Z x = AT(a, i, j), y = AT(a, i + 1, j);
        AT(a, i, j) = c * x + s * y;
        AT(a, i + 1, j) = c * y - conj(s) * x;
    }
}

/* Columns j and j + 1 of the first nrows rows, by the adjoint of the same rotation. */
static void rotate_columns(Mat a, int64_t j, int64_t nrows, double c, Z s)
{
    for (int64_t i = 0; i < nrows; i++) {
        Z x = AT(a, i, j), y = AT(a, i, j + 1);
        AT(a, i, j) = c * x + conj(s) * y;
        AT(a, i, j + 1) = c * y - s * x;
    }
}

static double size_of(Z x)
{
    return fabs(creal(x)) + fabs(cimag(x));
}

/* The first row of the window that ends at h; what is negligible above it becomes 0. */
static int64_t window_start(Mat a, int64_t h, double norm)
{
    int64_t l = h;
    for (; l > 0; l--) {
        double around = size_of(AT(a, l - 1, l - 1)) + size_of(AT(a, l, l));
        if (around == 0)
            around = norm;
        if (size_of(AT(a, l, l - 1)) <= DBL_EPSILON / 2 * around) {
            AT(a, l, l - 1) = 0;
            break;
        }
    }
    return l;
}

/* The eigenvalue of the last 2 x 2 corner that is nearer to its last entry. */
static Z corner_shift(Mat a, int64_t h, int round)
{
    if (round % 10 == 9) /* out of a circle */
        return AT(a, h, h) + size_of(AT(a, h, h - 1));
    Z p = (AT(a, h - 1, h - 1) - AT(a, h, h)) / 2, bc = AT(a, h - 1, h) * AT(a, h, h - 1);
    Z root = csqrt(p * p + bc);
    Z far = creal(p * conj(root)) >= 0 ? p + root : p - root;
    return far == 0 ? AT(a, h, h) : AT(a, h, h) - bc / far;
}

/* A - shift = Q R, then R Q + shift, on the rows and columns l..h of the whole. */
static void complex_sweep(Mat a, Mat z, int64_t l, int64_t h, Z shift, Mat rotations)
{
    for (int64_t i = l; i <= h; i++)
        AT(a, i, i) -= shift;
    for (int64_t i = l; i < h; i++) {
        Z x = AT(a, i, i), y = AT(a, i + 1, i);
        double r = hypot(cabs(x), cabs(y));
        double c = r > 0 ? cabs(x) / r : 1;
        Z phase = cabs(x) > 0 ? x / cabs(x) : 1;
        Z s = r > 0 ? phase * conj(y) / r : 0;
        AT(rotations, 0, i) = c;
        AT(rotations, 1, i) = s;
        rotate_rows(a, i, i, c, s);
        AT(a, i + 1, i) = 0;
    }
    for (int64_t i = l; i < h; i++) {
        double c = creal(AT(rotations, 0, i));
        Z s = AT(rotations, 1, i);
        rotate_columns(a, i, i + 2, c, s);
        rotate_columns(z, i, z.rows, c, s);
    }
    for (int64_t i = l; i <= h; i++)
        AT(a, i, i) += shift;
}

static Error *complex_schur(Arena *arena, Mat a, Mat z, int *info)
{
    Mat rotations;
    double norm = mat_max(a);
    TRY(mat_new(arena, 2, a.rows, &rotations));
    int round = 0;
    for (int64_t h = a.rows - 1; h > 0;) {
        int64_t l = window_start(a, h, norm);
        if (l == h) {
            h--;
            round = 0;
        } else if (round++ == MAX_ROUNDS) {
            *info = (int)(h + 1);
            return NULL;
        } else {
            complex_sweep(a, z, l, h, corner_shift(a, h, round), rotations);
        }
    }
    return NULL;
}

/* A reflector that clears x[1..] by H x, applied to rows and columns from `at` on. */
static void chase(Mat a, Mat z, int64_t n, const double *x, int64_t at, int64_t from, int64_t last)
{
    Z v[3] = { x[0], x[1], n > 2 ? x[2] : 0 };
    Reflector r = { .n = n, .v = v, .tau = reflector_make(n, v, 1) };
    v[0] = 1;
    reflector_left(&r, a, at, from, a.cols - from);
    reflector_right(&r, a, 0, last + 1, at);
    reflector_right(&r, z, 0, z.rows, at);
}

/* Francis: both shifts at once, a bulge chased down the window. */
static void real_sweep(Mat a, Mat z, int64_t l, int64_t h, int round)
{
#define R(i, j) creal(AT(a, i, j))
    double sum = R(h - 1, h - 1) + R(h, h);
    double product = R(h - 1, h - 1) * R(h, h) - R(h - 1, h) * R(h, h - 1);
    if (round % 10 == 9) { /* out of a circle */
        double w = fabs(R(h, h - 1)) + fabs(R(h - 1, h - 2));
        sum = 1.5 * w;
        product = w * w;
    }
    double x[3] = { R(l, l) * (R(l, l) - sum) + R(l, l + 1) * R(l + 1, l) + product,
                    R(l + 1, l) * (R(l, l) + R(l + 1, l + 1) - sum),
                    R(l + 1, l) * R(l + 2, l + 1) };
    for (int64_t k = l; k < h; k++) {
        int64_t n = k + 1 < h ? 3 : 2, from = k > l ? k - 1 : l;
        chase(a, z, n, x, k, from, k + 3 < h ? k + 3 : h);
        for (int64_t i = 1; i < n && k > l; i++)
            AT(a, k + i, k - 1) = 0;
        x[0] = R(k + 1, k);
        x[1] = k + 2 <= h ? R(k + 2, k) : 0;
        x[2] = k + 3 <= h ? R(k + 3, k) : 0;
    }
}

/* The 2 x 2 block at i becomes triangular, if its eigenvalues are real, else one with equal
 * entries on the diagonal. */
static void settle_block(Mat a, Mat z, int64_t i)
{
    double p = (R(i, i) - R(i + 1, i + 1)) / 2, b = R(i, i + 1), c = R(i + 1, i);
    double q = p * p + b * c, cosine = 1, sine = 0;
    if (q >= 0) {
        double far = p + copysign(sqrt(q), p), r = hypot(c, far);
        cosine = far / r;
        sine = c / r;
    } else {
        double sigma = b + c, r = hypot(sigma, 2 * p);
        cosine = sqrt((1 + fabs(sigma) / r) / 2);
        sine = -p / (r * cosine) * copysign(1, sigma);
    }
    rotate_rows(a, i, i, cosine, sine);
    rotate_columns(a, i, i + 2, cosine, sine);
    rotate_columns(z, i, z.rows, cosine, sine);
    if (q >= 0)
        AT(a, i + 1, i) = 0;
    else
        AT(a, i, i) = AT(a, i + 1, i + 1) = (R(i, i) + R(i + 1, i + 1)) / 2;
}

static void real_schur(Mat a, Mat z, int *info)
{
    double norm = mat_max(a);
    int round = 0;
    for (int64_t h = a.rows - 1; h > 0;) {
        int64_t l = window_start(a, h, norm);
        if (l + 1 >= h) {
            if (l < h)
                settle_block(a, z, l);
            h = l - 1;
            round = 0;
        } else if (round++ == MAX_ROUNDS) {
            *info = (int)(h + 1);
            return;
        } else {
            real_sweep(a, z, l, h, round);
        }
    }
}

Error *schur_factor(Arena *arena, Mat a, Mat z, bool is_real, int *info)
{
    int64_t n = a.rows;
    *info = mat_is_finite(a) ? 0 : 1;
    if (*info || n == 0)
        return NULL;
    Mat taus;
    double scale = mat_scale(a);
    TRY(mat_new(arena, 1, n, &taus));
    TRY(hessenberg_factor(arena, a, 0, n, taus.at));
    Reflected by = { a, n - 1, 1, taus.at };
    TRY(reflected_apply(arena, &by, z, false, false));
    for (int64_t i = 2; i < n; i++)
        for (int64_t j = 0; j + 1 < i; j++)
            AT(a, i, j) = 0;
    if (is_real)
        real_schur(a, z, info);
    else
        TRY(complex_schur(arena, a, z, info));
    mat_multiply(a, scale);
    return NULL;
}

static bool is_block(Mat t, int64_t i)
{
    return i + 1 < t.rows && AT(t, i + 1, i) != 0;
}

void schur_eigenvalues(Mat t, bool is_real, Z *w)
{
    Mat a = t;
    for (int64_t i = 0; i < t.rows; i++)
        w[i] = AT(t, i, i);
    for (int64_t i = 0; i < t.rows && is_real; i++)
        if (is_block(t, i)) {
            double y = sqrt(fabs(R(i, i + 1))) * sqrt(fabs(R(i + 1, i)));
            w[i] = CMPLX(R(i, i), y);
            w[i + 1] = CMPLX(R(i, i), -y);
            i++;
        }
}
#undef R

void schur_triangular(Mat t, Mat z)
{
    for (int64_t i = 0; i + 1 < t.rows; i++) {
        if (!is_block(t, i))
            continue;
        double c = creal(AT(t, i + 1, i)), b = creal(AT(t, i, i + 1));
        double y = sqrt(fabs(b)) * sqrt(fabs(c)), r = hypot(y, c);
        /* (i y, c) is the eigenvector of a + i y; multiplying by -i/c makes it (y, -i c). */
        double cosine = y / r;
        Z sine = CMPLX(0, c / r);
        rotate_rows(t, i, i, cosine, sine);
        rotate_columns(t, i, i + 2, cosine, sine);
        rotate_columns(z, i, z.rows, cosine, sine);
        AT(t, i + 1, i) = 0;
    }
}
