/* tridiagonal.c - systems of real tridiagonal matrices, by elimination with row exchanges.
 *
 * In and out as LAPACK's gtsv.  Each row waits for a quotient of the one before, so nothing is gained by a library;
 * what is lost is its call, and the way of the right-hand sides to columns and back. */
#include "engine/numerics/lapack.h"

#include <math.h>

#define REAL float
#define NAME(x) x##_f32
#define size_f32 fabsf
#include "engine/numerics/tridiagonal_body.h"
#undef REAL
#undef NAME

#define REAL double
#define NAME(x) x##_f64
#define size_f64 fabs
#include "engine/numerics/tridiagonal_body.h"

/* The first entry below the diagonal stands in our second place. */
void real_gtsv(Call *c)
{
    Type t = c->in[3].type;
    int64_t n = t.dims[t.rank - 2], columns = t.dims[t.rank - 1];
    int32_t *info = out_at(c, 4);
    for (int i = 0; i < 4; i++)
        copied_out(c, i, i);
    void *below = out_at(c, 0), *d = out_at(c, 1), *above = out_at(c, 2), *b = out_at(c, 3);
    if (n == 0)
        *info = 0;
    else if (c->element == F32)
        *info = solve_f32(n, columns, (float *)below + 1, d, above, b);
    else
        *info = solve_f64(n, columns, (double *)below + 1, d, above, b);
}
