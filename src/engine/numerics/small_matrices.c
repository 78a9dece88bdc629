/* small_matrices.c - batches of small matrices: each lane of a vector works on a matrix of its own.
 *
 * Another algorithm than linalg/dense.c, whose vectors run along a row: rows of a small matrix are
 * shorter than a vector.  A group of as many matrices as a vector has lanes is transposed, so that
 * the same element of each lies side by side, worked on in place, and transposed back.  Matrices
 * that are too few for that are worked on one by one, by the same text with one lane.  The body is
 * small_matrices_body.h, compiled for f32 and f64 and for each instruction set. */
#include "engine/numerics/matrices.h"

#include "engine/cpu_level.h"

#include <math.h>
#include <string.h>

#define WIDEST                                                                                     \
    __attribute__((target("avx512f,avx512vl,avx512dq,avx512bw,avx2,fma,prefer-vector-width=512")))

#define T float
#define I int32_t
#define LANES 16
#define ATTR WIDEST
#define ROOT(x) sqrtf(x)
#define NAME(x) x##_f32_512
#include "engine/numerics/small_matrices_body.h"

#define T double
#define I int64_t
#define LANES 8
#define ATTR WIDEST
#define ROOT(x) sqrt(x)
#define NAME(x) x##_f64_512
#include "engine/numerics/small_matrices_body.h"

#define T float
#define I int32_t
#define LANES 8
#define ATTR __attribute__((target("avx2,fma")))
#define ROOT(x) sqrtf(x)
#define NAME(x) x##_f32_256
#include "engine/numerics/small_matrices_body.h"

#define T double
#define I int64_t
#define LANES 4
#define ATTR __attribute__((target("avx2,fma")))
#define ROOT(x) sqrt(x)
#define NAME(x) x##_f64_256
#include "engine/numerics/small_matrices_body.h"

#define T float
#define I int32_t
#define LANES 4
#define ATTR
#define ROOT(x) sqrtf(x)
#define NAME(x) x##_f32_128
#include "engine/numerics/small_matrices_body.h"

#define T double
#define I int64_t
#define LANES 2
#define ATTR
#define ROOT(x) sqrt(x)
#define NAME(x) x##_f64_128
#include "engine/numerics/small_matrices_body.h"

#define T float
#define I int32_t
#define LANES 1
#define ATTR
#define ROOT(x) sqrtf(x)
#define NAME(x) x##_f32_one
#include "engine/numerics/small_matrices_body.h"

#define T double
#define I int64_t
#define LANES 1
#define ATTR
#define ROOT(x) sqrt(x)
#define NAME(x) x##_f64_one
#include "engine/numerics/small_matrices_body.h"

typedef struct Form {
    int lanes;
    void (*lu)(int64_t side, void *a, int32_t *pivots, int32_t *info);
    void (*cholesky)(int64_t side, bool is_lower, void *a);
    void (*solve)(const SmallSolve *s, const void *a, void *x);
} Form;

enum { MOST_LANES = 16, VECTOR_BYTES = 64 };
static const Form forms[][2] = {
    /* of vectors of 16, 32 and 64 bytes */
    { { 4, lu_f32_128, cholesky_f32_128, solve_f32_128 },
      { 2, lu_f64_128, cholesky_f64_128, solve_f64_128 } },
    { { 8, lu_f32_256, cholesky_f32_256, solve_f32_256 },
      { 4, lu_f64_256, cholesky_f64_256, solve_f64_256 } },
    { { 16, lu_f32_512, cholesky_f32_512, solve_f32_512 },
      { 8, lu_f64_512, cholesky_f64_512, solve_f64_512 } },
};
static const Form single[2] = { { 1, lu_f32_one, cholesky_f32_one, solve_f32_one },
                                { 1, lu_f64_one, cholesky_f64_one, solve_f64_one } };

/* The form for the next of `left` matrices: a vector that a quarter of them fill is worth it. */
static const Form *form_for(Element e, int64_t left)
{
    int bytes = cpu_vector_bytes();
    const Form *lanes = &forms[bytes == 64 ? 2 : bytes == 32][e == F64];
    return left * 4 > lanes->lanes ? lanes : &single[e == F64];
}

typedef struct LaneGroup {
    const Form *form;
    int64_t n;    /* matrices in it */
    size_t bytes; /* of an element */
} LaneGroup;

static LaneGroup group_of(Element e, int64_t left)
{
    LaneGroup g = { .form = form_for(e, left), .bytes = (size_t)element_info[e].bytes };
    g.n = left < g.form->lanes ? left : g.form->lanes;
    return g;
}

/* Matrices of so many elements, from one behind the other to side by side, and back. */
static void spread(const LaneGroup *g, int64_t elements, const void *from, void *to)
{
    int64_t lanes = g->form->lanes;
    if (g->n < lanes) /* the others are zeros: they are worked on, and never collected */
        memset(to, 0, (size_t)(elements * lanes) * g->bytes);
    if (lanes == 1)
        memcpy(to, from, (size_t)elements * g->bytes);
    else
        matrix_transpose(g->n, elements, g->bytes, from, elements, to, lanes);
}

static void collect(const LaneGroup *g, int64_t elements, const void *from, void *to)
{
    if (g->form->lanes == 1)
        memcpy(to, from, (size_t)elements * g->bytes);
    else
        matrix_transpose(elements, g->n, g->bytes, from, g->form->lanes, to, elements);
}

/* Matrix i of a batch. */
static void *matrix_at(const LaneGroup *g, const void *batch, int64_t i, int64_t elements)
{
    return (char *)batch + (size_t)(i * elements) * g->bytes;
}

void small_lu(Element e, int64_t n, int64_t side, const void *a, void *lu, int32_t *pivots,
              int32_t *info)
{
    _Alignas(VECTOR_BYTES) char room[SMALL_ROWS * SMALL_ROWS * VECTOR_BYTES];
    int32_t rows[SMALL_ROWS * MOST_LANES], broken[MOST_LANES];
    int64_t elements = side * side;
    LaneGroup g;
    for (int64_t i = 0; i < n; i += g.n) {
        g = group_of(e, n - i);
        spread(&g, elements, matrix_at(&g, a, i, elements), room);
        g.form->lu(side, room, rows, broken);
        collect(&g, elements, room, matrix_at(&g, lu, i, elements));
        for (int64_t k = 0; k < g.n; k++) {
            info[i + k] = broken[k];
            for (int64_t r = 0; r < side; r++)
                pivots[(i + k) * side + r] = rows[r * g.form->lanes + k];
        }
    }
}

void small_cholesky(Element e, int64_t n, int64_t side, bool is_lower, const void *a, void *factor)
{
    _Alignas(VECTOR_BYTES) char room[SMALL_ROWS * SMALL_ROWS * VECTOR_BYTES];
    int64_t elements = side * side;
    LaneGroup g;
    for (int64_t i = 0; i < n; i += g.n) {
        g = group_of(e, n - i);
        spread(&g, elements, matrix_at(&g, a, i, elements), room);
        g.form->cholesky(side, is_lower, room);
        collect(&g, elements, room, matrix_at(&g, factor, i, elements));
    }
}

void small_solve(Element e, int64_t n, const SmallSolve *s, const void *a, const void *b, void *x)
{
    _Alignas(VECTOR_BYTES) char room[SMALL_ROWS * SMALL_ROWS * VECTOR_BYTES];
    _Alignas(VECTOR_BYTES) char unknowns[SMALL_ROWS * SMALL_COLUMNS * VECTOR_BYTES];
    int64_t elements = s->side * s->side, each = s->side * s->other;
    LaneGroup g;
    for (int64_t i = 0; i < n; i += g.n) {
        g = group_of(e, n - i);
        spread(&g, elements, matrix_at(&g, a, i, elements), room);
        spread(&g, each, matrix_at(&g, b, i, each), unknowns);
        g.form->solve(s, room, unknowns);
        collect(&g, each, unknowns, matrix_at(&g, x, i, each));
    }
}
