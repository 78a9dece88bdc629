/* small_matrices.c - batches of small matrices: each lane of a vector works on a matrix of its own.
 *
 * Another algorithm than linalg/dense.c, whose vectors run along a row: rows of a small matrix are
 * shorter than a vector.  A group of as many matrices as a vector has lanes is transposed, so that
 * the same element of each lies side by side, worked on in place, and transposed back.  Matrices
 * that are too few for that are worked on one by one, by the same text with one lane.  The bodies are
 * small_matrices_body.h and small_orthogonal_body.h, compiled for f32 and f64 and for each
 * instruction set. */
#include "engine/numerics/matrices.h"

#include "engine/cpu_level.h"

#include <math.h>
#include <string.h>

#if defined __x86_64__
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
#endif

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
    /* those of several lanes have these too; see small_orthogonal_body.h */
    void (*qr)(int64_t rows, int64_t columns, void *a, void *taus);
    void (*product)(int64_t rows, int64_t columns, int64_t k, const void *reflectors,
                    const void *taus, void *q);
    void (*eigen)(int64_t side, bool is_lower, void *a, void *vectors, void *values, int32_t *info);
    void (*singular)(int64_t rows, int64_t columns, void *a, void *vectors, void *values,
                     int32_t *info);
    void (*arrange)(int64_t n, bool is_falling, void *values, int32_t *order);
    void (*give)(int64_t rows, int64_t columns, const void *a, int lane, const int32_t *order,
                 bool as_columns, void *to);
} Form;

enum { MOST_LANES = 16, VECTOR_BYTES = 64 };
#define LANES_FORM(lanes, x)                                                                       \
    { lanes,       lu_##x,    cholesky_##x, solve_##x,   qr_##x,                                   \
      product_##x, eigen_##x, singular_##x, arrange_##x, give_##x }
static const Form forms[][2] = {
    /* of vectors of 16, 32 and 64 bytes */
    { LANES_FORM(4, f32_128), LANES_FORM(2, f64_128) },
#if defined __x86_64__
    { LANES_FORM(8, f32_256), LANES_FORM(4, f64_256) },
    { LANES_FORM(16, f32_512), LANES_FORM(8, f64_512) },
#endif
};
static const Form single[2] = {
    { .lanes = 1, .lu = lu_f32_one, .cholesky = cholesky_f32_one, .solve = solve_f32_one },
    { .lanes = 1, .lu = lu_f64_one, .cholesky = cholesky_f64_one, .solve = solve_f64_one },
};

static const Form *lanes_form(Element e)
{
    int bytes = cpu_vector_bytes();
    return &forms[bytes == 64 ? 2 : bytes == 32][e == F64];
}

/* The form for the next of `left` matrices: a vector that a quarter of them fill is worth it. */
static const Form *form_for(Element e, int64_t left)
{
    const Form *lanes = lanes_form(e);
    return left * 4 > lanes->lanes ? lanes : &single[e == F64];
}

typedef struct LaneGroup {
    const Form *form;
    int64_t n;    /* matrices in it */
    size_t bytes; /* of an element */
} LaneGroup;

static LaneGroup group_by(const Form *form, Element e, int64_t left)
{
    LaneGroup g = { .form = form, .bytes = (size_t)element_info[e].bytes };
    g.n = left < g.form->lanes ? left : g.form->lanes;
    return g;
}

static LaneGroup group_of(Element e, int64_t left)
{
    return group_by(form_for(e, left), e, left);
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

/* ---- orthogonal factors: always a vector of matrices, however few there are ---- */

enum { ROOM_BYTES = SMALL_ROWS * SMALL_ROWS * VECTOR_BYTES };

void small_qr(Element e, int64_t n, int64_t rows, int64_t columns, const void *a, void *factors,
              void *taus)
{
    _Alignas(VECTOR_BYTES) char room[ROOM_BYTES], scales[SMALL_ROWS * VECTOR_BYTES];
    int64_t elements = rows * columns, k = rows < columns ? rows : columns;
    LaneGroup g;
    for (int64_t i = 0; i < n; i += g.n) {
        g = group_by(lanes_form(e), e, n - i);
        spread(&g, elements, matrix_at(&g, a, i, elements), room);
        g.form->qr(rows, columns, room, scales);
        collect(&g, elements, room, matrix_at(&g, factors, i, elements));
        collect(&g, k, scales, matrix_at(&g, taus, i, k));
    }
}

void small_product(Element e, int64_t n, int64_t rows, int64_t columns, int64_t k, const void *a,
                   const void *taus, void *q)
{
    _Alignas(VECTOR_BYTES) char room[ROOM_BYTES], scales[SMALL_ROWS * VECTOR_BYTES];
    _Alignas(VECTOR_BYTES) char product[ROOM_BYTES];
    int64_t elements = rows * columns;
    LaneGroup g;
    for (int64_t i = 0; i < n; i += g.n) {
        g = group_by(lanes_form(e), e, n - i);
        spread(&g, elements, matrix_at(&g, a, i, elements), room);
        spread(&g, k, matrix_at(&g, taus, i, k), scales);
        g.form->product(rows, columns, k, room, scales, product);
        collect(&g, elements, product, matrix_at(&g, q, i, elements));
    }
}

void small_eigen(Element e, int64_t n, int64_t side, bool is_lower, const void *a, void *vectors,
                 void *values, int32_t *info)
{
    _Alignas(VECTOR_BYTES) char room[ROOM_BYTES], turned[ROOM_BYTES];
    _Alignas(VECTOR_BYTES) char numbers[SMALL_ROWS * VECTOR_BYTES];
    int32_t broken[MOST_LANES], order[MOST_LANES * SMALL_ROWS];
    int64_t elements = side * side;
    LaneGroup g;
    for (int64_t i = 0; i < n; i += g.n) {
        g = group_by(lanes_form(e), e, n - i);
        spread(&g, elements, matrix_at(&g, a, i, elements), room);
        g.form->eigen(side, is_lower, room, vectors ? turned : NULL, numbers, broken);
        g.form->arrange(side, false, numbers, order);
        collect(&g, side, numbers, matrix_at(&g, values, i, side));
        memcpy(info + i, broken, (size_t)g.n * sizeof *info);
        for (int lane = 0; lane < g.n && vectors; lane++)
            g.form->give(side, side, turned, lane, order, true,
                         matrix_at(&g, vectors, i + lane, elements));
    }
}

/* A tall matrix is transposed on its way into the lanes, and its vectors change places. */
void small_singular(Element e, int64_t n, int64_t rows, int64_t columns, const void *a,
                    const SmallSingular *out)
{
    _Alignas(VECTOR_BYTES) char room[ROOM_BYTES], turned[ROOM_BYTES], upright[ROOM_BYTES];
    _Alignas(VECTOR_BYTES) char numbers[SMALL_ROWS * VECTOR_BYTES];
    int32_t broken[MOST_LANES], order[MOST_LANES * SMALL_ROWS];
    int64_t elements = rows * columns, k = rows < columns ? rows : columns, longer = elements / k;
    bool is_tall = rows > columns, has_vectors = out->u;
    LaneGroup g;
    for (int64_t i = 0; i < n; i += g.n) {
        g = group_by(lanes_form(e), e, n - i);
        size_t vector = g.bytes * (size_t)g.form->lanes;
        spread(&g, elements, matrix_at(&g, a, i, elements), is_tall ? upright : room);
        for (int64_t r = 0; r < rows && is_tall; r++)
            for (int64_t c = 0; c < columns; c++)
                memcpy(room + (size_t)(c * rows + r) * vector,
                       upright + (size_t)(r * columns + c) * vector, vector);
        g.form->singular(k, longer, room, has_vectors ? turned : NULL, numbers, broken);
        g.form->arrange(k, true, numbers, order);
        collect(&g, k, numbers, matrix_at(&g, out->values, i, k));
        memcpy(out->is_undone + i, broken, (size_t)g.n * sizeof *broken);
        for (int lane = 0; lane < g.n && has_vectors; lane++) {
            g.form->give(k, k, turned, lane, order, !is_tall,
                         matrix_at(&g, is_tall ? out->vt : out->u, i + lane, k * k));
            g.form->give(k, longer, room, lane, order, is_tall,
                         matrix_at(&g, is_tall ? out->u : out->vt, i + lane, k * longer));
        }
    }
}
