/* small_matrices.h - batches of small matrices: each lane of a vector works on a matrix of its own. */
#ifndef TUTTI_ENGINE_NUMERICS_SMALL_MATRICES_H
#define TUTTI_ENGINE_NUMERICS_SMALL_MATRICES_H
#include "ops/type.h"

/* Rows of a matrix, and columns of what stands beside it, up to which it counts as small. */
enum { SMALL_ROWS = 16, SMALL_COLUMNS = 32 };

static inline bool small_suits(Element e, int64_t rows)
{
    return (e == F32 || e == F64) && rows <= SMALL_ROWS;
}

/* Whoever cuts a batch does it between groups of so many: then which matrices share a vector does
 * not depend on the cut. */
enum { SMALL_GROUP = 16 };
static inline int64_t small_groups(int64_t n)
{
    return (n + SMALL_GROUP - 1) / SMALL_GROUP;
}

/* All: n matrices of side x side, row-major, one behind the other; f32 or f64 as e says. */

/* As getrf gives them; pivots[n][side], info[n]. */
void small_lu(Element e, int64_t n, int64_t side, const void *a, void *lu, int32_t *pivots,
              int32_t *info);
/* The other triangle becomes zero, this one nan if there is no factor. */
void small_cholesky(Element e, int64_t n, int64_t side, bool is_lower, const void *a, void *factor);

/* op(a) x = b, or x op(a) = b, with `other` columns or rows of b, SMALL_COLUMNS at most. */
typedef struct SmallSolve {
    int64_t side, other;
    bool is_left, is_lower, is_unit; /* is_lower: a itself, not op(a) */
    bool is_turned;                  /* op(a) is the transpose */
} SmallSolve;
void small_solve(Element e, int64_t n, const SmallSolve *s, const void *a, const void *b, void *x);
#endif
