/* dense.c - Cholesky and QR factors and triangular systems of one matrix, in the element type of the
 * program: the loops are dense_body.h, included once for each of the four types. */
#include "engine/numerics/linalg/mat.h"

#include <math.h>
#include <stdlib.h>

/* What numbers of this size are to be multiplied by so that their squares are in range. */
static double unit_of(double most)
{
    enum { FAR = 400, FARTHEST = 1000 };
    int exponent = 0;
    frexp(most, &exponent);
    if (!isfinite(most) || abs(exponent) <= FAR)
        return 1;
    exponent = exponent > FARTHEST ? FARTHEST : exponent < -FARTHEST ? -FARTHEST : exponent;
    return ldexp(1, -exponent);
}

#define SCALAR float
#define REAL float
#define CONJ(x) (x)
#define PART(x) (x)
#define IMAGINARY(x) 0
#define SQRT(x) sqrtf(x)
#define SQUARE(x) ((double)(x) * (double)(x))
#define NAME(x) f32_##x
#include "engine/numerics/linalg/dense_body.h"

#define SCALAR double
#define REAL double
#define CONJ(x) (x)
#define PART(x) (x)
#define IMAGINARY(x) 0
#define SQRT(x) sqrt(x)
#define SQUARE(x) ((x) * (x))
#define NAME(x) f64_##x
#include "engine/numerics/linalg/dense_body.h"

#define SCALAR float _Complex
#define REAL float
#define CONJ(x) conjf(x)
#define PART(x) crealf(x)
#define IMAGINARY(x) cimagf(x)
#define SQRT(x) sqrtf(x)
#define SQUARE(x) ((double)crealf(x) * (double)crealf(x) + (double)cimagf(x) * (double)cimagf(x))
#define NAME(x) c64_##x
#include "engine/numerics/linalg/dense_body.h"

#define SCALAR double _Complex
#define REAL double
#define CONJ(x) conj(x)
#define PART(x) creal(x)
#define IMAGINARY(x) cimag(x)
#define SQRT(x) sqrt(x)
#define SQUARE(x) (creal(x) * creal(x) + cimag(x) * cimag(x))
#define NAME(x) c128_##x
#include "engine/numerics/linalg/dense_body.h"

#define BY_ELEMENT(e, f)                                                                           \
    ((e) == F32 ? f32_##f : (e) == F64 ? f64_##f : (e) == C64 ? c64_##f : c128_##f)

void dense_solve(Element e, const Triangle *t, const void *a, void *x, void *room)
{
    BY_ELEMENT(e, solve)(t, a, x, room);
}

int dense_cholesky(Element e, int64_t n, bool is_lower, const void *a, void *factor, void *room)
{
    return (int)BY_ELEMENT(e, cholesky)(n, is_lower, a, factor, room);
}

void dense_qr(Element e, int64_t rows, int64_t columns, void *a, void *taus, void *room)
{
    BY_ELEMENT(e, qr)(rows, columns, a, taus, room);
}

void dense_householder(Element e, int64_t rows, int64_t columns, int64_t n, const void *vectors,
                       const void *taus, void *q, void *room)
{
    BY_ELEMENT(e, householder)(rows, columns, n, vectors, taus, q, room);
}

Z reflector_make(int64_t n, Z *x, int64_t step)
{
    return n < 1 ? 0 : c128_reflector(n, x, step);
}
