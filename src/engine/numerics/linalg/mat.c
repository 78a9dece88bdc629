/* mat.c - making, multiplying and measuring matrices. */
#include "engine/numerics/linalg/mat.h"

#include <math.h>
#include <stdlib.h>

Error *mat_new(Arena *arena, int64_t rows, int64_t cols, Mat *out)
{
    int64_t n, bytes;
    bool fits = !__builtin_mul_overflow(rows, cols, &n) &&
                !__builtin_mul_overflow(n, (int64_t)sizeof(Z), &bytes);
    Z *at = fits ? arena_try(arena, bytes ? (size_t)bytes : sizeof(Z)) : NULL;
    if (!at)
        return error_new(CODE_EXHAUSTED, "no memory for a matrix of %lld x %lld", (long long)rows,
                         (long long)cols);
    *out = (Mat){ rows, cols, at };
    return NULL;
}

void mat_identity(Mat a)
{
    for (int64_t i = 0; i < a.rows; i++)
        for (int64_t j = 0; j < a.cols; j++)
            AT(a, i, j) = i == j;
}

Error *mat_adjoint(Arena *arena, Mat a, Mat *out)
{
    TRY(mat_new(arena, a.cols, a.rows, out));
    for (int64_t i = 0; i < a.rows; i++)
        for (int64_t j = 0; j < a.cols; j++)
            AT(*out, j, i) = conj(AT(a, i, j));
    return NULL;
}

bool mat_is_finite(Mat a)
{
    bool is_finite = true;
    for (int64_t i = 0; i < a.rows * a.cols; i++)
        is_finite &= isfinite(creal(a.at[i])) && isfinite(cimag(a.at[i]));
    return is_finite;
}

double mat_max(Mat a)
{
    double most = 0;
    for (int64_t i = 0; i < a.rows * a.cols; i++)
        most = fmax(most, fmax(fabs(creal(a.at[i])), fabs(cimag(a.at[i]))));
    return most;
}

double mat_scale(Mat a)
{
    enum { FAR = 200, FARTHEST = 1000 }; /* FAR: the product of four numbers is still in range */
    int exponent = 0;
    frexp(mat_max(a), &exponent);
    if (abs(exponent) <= FAR)
        return 1;
    exponent = exponent > FARTHEST ? FARTHEST : exponent < -FARTHEST ? -FARTHEST : exponent;
    mat_multiply(a, ldexp(1, -exponent));
    return ldexp(1, exponent);
}

void mat_multiply(Mat a, double factor)
{
    for (int64_t i = 0; i < a.rows * a.cols && factor != 1; i++)
        a.at[i] = CMPLX(creal(a.at[i]) * factor, cimag(a.at[i]) * factor);
}
