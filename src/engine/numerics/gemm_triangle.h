/* gemm_triangle.h - triangular systems of many right-hand sides.
 *
 * Included by gemm_body.h, for one element type and one instruction set.  A panel of COLS right-hand
 * sides is packed, as products pack them, and its rows are found ROWS at a time, in the order of
 * substitution:
 *
 *        a          x            of each group of rows, the products with the rows that are known are
 *     \             = known      taken off, as a tile of a product; then the group's own triangle is
 *     . \           = known      solved in registers
 *     g g \         = group
 *     . . . \       = open       upper triangles go from the last row to the first
 *
 * Panels are the slices that workers share.  No column's result depends on the others'. */

/* See gemm_body.h. */
/* clang-format off */

/* The system of a matrix: rows and columns in the order of substitution, so that steps may be negative.
 * packed: for each whole group of rows, what is left of its own triangle, as tiles read it; NULL: they
 * are read where they lie. */
typedef struct NAME(Triangle) {
    const TriangularSystem *s;
    int64_t matrix; /* of the batch; -1: that of the slice */
    T *packed;
} NAME(Triangle);

/* A panel under way, likewise. */
typedef struct NAME(Panel) {
    const T *a;
    int64_t row, col;
    const T *packed;
    T *x;
    int64_t step; /* from row to row of x: COLS, or minus that */
    bool is_unit;
} NAME(Panel);

/* Where the group of rows from i on is packed: behind the groups before it, each with room for a vector
 * that packing may write over. */
static int64_t NAME(group_at)(int64_t i)
{
    return i * (i - ROWS) / 2 + i / ROWS * NAME(LANES);
}

/* Rows i .. i + nrows of x less a's of those times the rows before, RUN products at a time; rows of a are
 * found as in tile. */
ATTR static inline __attribute__((always_inline)) void
NAME(take_known)(const NAME(Panel) *s, int64_t i, int nrows, int nvec, bool is_packed)
{
    const T *packed = is_packed ? s->packed + NAME(group_at)(i) : NULL;
    const T *a0 = s->a + i * s->row, *a3 = a0 + 3 * s->row, *a6 = a0 + 6 * s->row, *a9 = a0 + 9 * s->row;
    const T *x = s->x;
    int64_t o0 = 0, o1 = s->row, o2 = 2 * s->row, col = s->col, step = s->step;
    NAME(Vec) acc[ROWS][2];
    for (int64_t p = 0; p < i;) {
        int64_t end = NAME(least)(p + 2 * NAME(RUN), i);
        EACH_ROW(acc[r][0] = acc[r][1] = (NAME(Vec)){ 0 };)
        for (; p < end; p++, x += step, o0 += col, o1 += col, o2 += col) {
            NAME(Vec) x0 = *(const NAME(Vec) *)x, x1 = x0;
            if (nvec == 2)
                x1 = *(const NAME(Vec) *)(x + NAME(LANES));
            EACH_ROW(T y = is_packed ? packed[r]
                                     : OF_ROW(r);
                     acc[r][0] += y * x0;
                     if (nvec == 2) acc[r][1] += y * x1;)
            packed += is_packed ? ROWS : 0;
        }
        EACH_ROW(NAME(Vec) *to = (NAME(Vec) *)(s->x + (i + r) * step);
                 to[0] -= acc[r][0];
                 if (nvec == 2) to[1] -= acc[r][1];)
    }
}

/* Rows i .. i + nrows of x, from which all rows before have been taken. */
ATTR static inline __attribute__((always_inline)) void
NAME(solve_group)(const NAME(Panel) *s, int64_t i, int nrows, int nvec)
{
    const T *a = s->a + i * (s->row + s->col);
    NAME(Vec) x[ROWS][2];
#pragma GCC unroll 12
    for (int r = 0; r < nrows; r++) {
        NAME(Vec) *to = (NAME(Vec) *)(s->x + (i + r) * s->step);
        x[r][0] = to[0];
        x[r][1] = nvec == 2 ? to[1] : to[0];
#pragma GCC unroll 12
        for (int q = 0; q < r; q++) {
            T y = a[r * s->row + q * s->col];
            x[r][0] -= y * x[q][0];
            if (nvec == 2)
                x[r][1] -= y * x[q][1];
        }
        if (!s->is_unit) {
            T y = a[r * (s->row + s->col)];
            x[r][0] /= y;
            if (nvec == 2)
                x[r][1] /= y;
        }
        to[0] = x[r][0];
        if (nvec == 2)
            to[1] = x[r][1];
    }
}

#define GROUP(name, nrows, nvec, is_packed)                                                        \
    ATTR static void NAME(name)(const NAME(Panel) *s, int64_t i)                                   \
    {                                                                                              \
        NAME(take_known)(s, i, nrows, nvec, is_packed);                                            \
        NAME(solve_group)(s, i, nrows, nvec);                                                      \
    }
GROUP(packed_group_2, ROWS, 2, true)
GROUP(packed_group_1, ROWS, 1, true)
GROUP(group_3_2, ROWS, 2, false)
GROUP(group_3_1, ROWS, 1, false)
GROUP(group_1_2, ROWS / 3, 2, false)
GROUP(group_1_1, ROWS / 3, 1, false)
GROUP(group_row_2, 1, 2, false)
GROUP(group_row_1, 1, 1, false)
#undef GROUP

/* A panel of the matrix of the batch; x: room for its right-hand sides, or NULL. */
static NAME(Panel) NAME(panel_of)(const NAME(Triangle) *t, int64_t matrix, T *x)
{
    const TriangularSystem *s = t->s;
    const T *a = (const T *)s->a + matrix * s->n * s->n;
    int64_t last = s->n - 1;
    if (s->is_lower)
        return (NAME(Panel)){ a, s->a_row, s->a_col, t->packed, x, NAME(COLS), s->is_unit };
    return (NAME(Panel)){ a + last * (s->a_row + s->a_col), -s->a_row, -s->a_col, t->packed,
                          x ? x + last * NAME(COLS) : NULL, -NAME(COLS), s->is_unit };
}

ATTR static void NAME(solve_panel)(const NAME(Panel) *p, int64_t n, bool is_wide)
{
    int64_t i = 0;
    for (; i + ROWS <= n && p->packed; i += ROWS)
        (is_wide ? NAME(packed_group_2) : NAME(packed_group_1))(p, i);
    for (; i + ROWS <= n; i += ROWS)
        (is_wide ? NAME(group_3_2) : NAME(group_3_1))(p, i);
    for (; i + ROWS / 3 <= n; i += ROWS / 3)
        (is_wide ? NAME(group_1_2) : NAME(group_1_1))(p, i);
    for (; i < n; i++)
        (is_wide ? NAME(group_row_2) : NAME(group_row_1))(p, i);
}

static int64_t NAME(panels)(const TriangularSystem *s)
{
    return (s->other + NAME(COLS) - 1) / NAME(COLS);
}

/* A panel of a matrix of the batch. */
ATTR static void NAME(solve_slice)(void *user, int64_t slice)
{
    const NAME(Triangle) *t = user;
    const TriangularSystem *s = t->s;
    int64_t panels = NAME(panels)(s), j = slice % panels * NAME(COLS);
    int64_t matrix = t->matrix < 0 ? slice / panels : t->matrix;
    int64_t cols = NAME(least)(s->other - j, NAME(COLS));
    T *x = scratch(s->frame, THREAD_MEMORY_LEFT, sizeof(T) * (size_t)(s->n * NAME(COLS) + NAME(LANES)));
    if (!x)
        return;
    int64_t offset = matrix * s->n * s->other + j * s->b_col;
    const T *b = (const T *)s->b + offset;
    T *to = (T *)s->x + offset;
    NAME(Panel) p = NAME(panel_of)(t, matrix, x);
    NAME(pack_b)(x, (NAME(Lines)){ b, s->b_col, s->b_row, cols, s->n });
    NAME(solve_panel)(&p, s->n, cols > NAME(LANES));
    if (s->b_col != 1)
        matrix_transpose(s->n, cols, sizeof(T), x, NAME(COLS), to, s->b_col);
    else
        for (int64_t i = 0; i < s->n; i++)
            memcpy(to + i * s->b_row, x + i * NAME(COLS), sizeof(T) * (size_t)cols);
}

static size_t NAME(triangle_bytes)(const TriangularSystem *s)
{
    return sizeof(T) * (size_t)NAME(group_at)(s->n / ROWS * ROWS + ROWS);
}

/* Is it read often enough, or would its rows not be found in the cache?  Matrices go one by one then, so
 * each must be worth sharing. */
static bool NAME(packs_triangle)(const TriangularSystem *s, int64_t matrices)
{
    enum { OFTEN = 4 };
    return (NAME(panels)(s) > OFTEN || NAME(rows_collide)(s->a_row)) &&
           (matrices == 1 || is_cut(s->n, s->n, s->other)) &&
           NAME(triangle_bytes)(s) <= 2 * PACKED_BYTES;
}

ATTR static void NAME(pack_group)(void *user, int64_t slice)
{
    const NAME(Triangle) *t = user;
    NAME(Panel) p = NAME(panel_of)(t, t->matrix, NULL);
    int64_t i = slice * ROWS;
    NAME(pack_tile)(t->packed + NAME(group_at)(i),
                    (NAME(Lines)){ p.a + i * p.row, p.row, p.col, ROWS, i });
}

#include "engine/numerics/gemm_substitute.h"

ATTR static void NAME(solve)(const TriangularSystem *s, int64_t matrices)
{
    if (s->other < TRIANGULAR_LEAST) {
        NAME(solve_few)(s, matrices);
        return;
    }
    bool is_shared = !s->is_slice && is_cut(s->n, s->n * matrices, s->other);
    const Frame *helped = is_shared ? s->frame : NULL;
    NAME(Triangle) t = { .s = s, .matrix = -1 };
    if (!NAME(packs_triangle)(s, matrices)) {
        slices(helped, matrices * NAME(panels)(s), NAME(solve_slice), &t);
        return;
    }
    t.packed = scratch(s->frame, THREAD_MEMORY_RIGHT, NAME(triangle_bytes)(s));
    for (t.matrix = 0; t.matrix < matrices && t.packed; t.matrix++) {
        slices(helped, s->n / ROWS, NAME(pack_group), &t);
        slices(helped, NAME(panels)(s), NAME(solve_slice), &t);
    }
}
