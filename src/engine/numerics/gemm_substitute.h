/* gemm_substitute.h - triangular systems of few right-hand sides.
 *
 * Included by gemm_triangle.h, for one element type and one instruction set.  Each right-hand side is a
 * vector, whose elements are found BLOCK at a time; the triangle is read once, as it lies:
 *
 *     its rows lie side by side       of a block, the products of its rows with what is known are taken
 *                                     off, then its own triangle is solved
 *     its columns do                  a block's own triangle is solved, then the products of its columns
 *                                     with it are taken off all that is open
 *
 * Upper triangles go from the last block to the first. */

/* See gemm_body.h. */
/* clang-format off */

enum { NAME(BLOCK) = 8 };

/* One right-hand side.  a: where the triangle lies, `step` from row to row, or from column to column. */
typedef struct NAME(Vector) {
    const T *a;
    int64_t step, n;
    T *x;
    bool is_lower, is_unit;
    bool by_rows; /* which lie side by side; else columns */
} NAME(Vector);

static T NAME(element)(const NAME(Vector) *v, int64_t row, int64_t column)
{
    return v->by_rows ? v->a[row * v->step + column] : v->a[column * v->step + row];
}

/* Elements at .. at + count, of which nothing but their own triangle is open. */
ATTR static void NAME(solve_block)(const NAME(Vector) *v, int64_t at, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        int64_t k = at + (v->is_lower ? i : count - 1 - i);
        T x = v->is_unit ? v->x[k] : v->x[k] / NAME(element)(v, k, k);
        v->x[k] = x;
        int64_t from = v->is_lower ? k + 1 : at, to = v->is_lower ? at + count : k;
        for (int64_t r = from; r < to; r++)
            v->x[r] -= NAME(element)(v, r, k) * x;
    }
}

/* Less the products of rows at .. at + count with x from `from` up to `to`. */
ATTR static inline __attribute__((always_inline)) void
NAME(less_rows)(const NAME(Vector) *v, int64_t at, int count, int64_t from, int64_t to)
{
    const T *a = v->a + at * v->step;
    NAME(Vec) sums[NAME(BLOCK)];
    T rest[NAME(BLOCK)];
#pragma GCC unroll 8
    for (int r = 0; r < count; r++) {
        sums[r] = (NAME(Vec)){ 0 };
        rest[r] = 0;
    }
    int64_t p = from;
    for (; p + NAME(LANES) <= to; p += NAME(LANES)) {
        NAME(Vec) x = *(const NAME(Vec) *)(v->x + p);
#pragma GCC unroll 8
        for (int r = 0; r < count; r++)
            sums[r] += *(const NAME(Vec) *)(a + r * v->step + p) * x;
    }
    for (; p < to; p++)
#pragma GCC unroll 8
        for (int r = 0; r < count; r++)
            rest[r] += a[r * v->step + p] * v->x[p];
#pragma GCC unroll 8
    for (int r = 0; r < count; r++) {
        for (int l = 0; l < NAME(LANES); l++)
            rest[r] += sums[r][l];
        v->x[at + r] -= rest[r];
    }
}

/* Less the products of columns at .. at + count with x, of the elements from `from` up to `to`. */
ATTR static inline __attribute__((always_inline)) void
NAME(less_columns)(const NAME(Vector) *v, int64_t at, int count, int64_t from, int64_t to)
{
    const T *a = v->a + at * v->step;
    T by[NAME(BLOCK)];
#pragma GCC unroll 8
    for (int r = 0; r < count; r++)
        by[r] = v->x[at + r];
    int64_t p = from;
    for (; p + NAME(LANES) <= to; p += NAME(LANES)) {
        NAME(Vec) x = *(const NAME(Vec) *)(v->x + p);
#pragma GCC unroll 8
        for (int r = 0; r < count; r++)
            x -= *(const NAME(Vec) *)(a + r * v->step + p) * by[r];
        *(NAME(Vec) *)(v->x + p) = x;
    }
    for (; p < to; p++)
#pragma GCC unroll 8
        for (int r = 0; r < count; r++)
            v->x[p] -= a[r * v->step + p] * by[r];
}

ATTR static void NAME(substitute)(const NAME(Vector) *v)
{
    for (int64_t done = 0; done < v->n;) {
        int64_t count = NAME(least)(NAME(BLOCK), v->n - done);
        int64_t at = v->is_lower ? done : v->n - done - count, end = at + count;
        int64_t from = v->is_lower ? 0 : end, to = v->is_lower ? at : v->n;
        if (v->by_rows && count == NAME(BLOCK))
            NAME(less_rows)(v, at, NAME(BLOCK), from, to);
        else if (v->by_rows)
            for (int64_t i = at; i < end; i++)
                NAME(less_rows)(v, i, 1, from, to);
        NAME(solve_block)(v, at, count);
        if (!v->by_rows && count == NAME(BLOCK)) /* a smaller block is the last */
            NAME(less_columns)(v, at, NAME(BLOCK), v->is_lower ? end : 0, v->is_lower ? v->n : at);
        done += count;
    }
}

/* a_row or a_col is 1. */
ATTR static void NAME(solve_few)(const TriangularSystem *s, int64_t matrices)
{
    T *x = scratch(s->frame, THREAD_MEMORY_LEFT, sizeof(T) * (size_t)s->n);
    for (int64_t i = 0; i < matrices * s->other && x; i++) {
        int64_t matrix = i / s->other, at = matrix * s->n * s->other + i % s->other * s->b_col;
        NAME(Vector) v = { .a = (const T *)s->a + matrix * s->n * s->n,
                           .step = s->a_col == 1 ? s->a_row : s->a_col,
                           .n = s->n,
                           .x = x,
                           .is_lower = s->is_lower,
                           .is_unit = s->is_unit,
                           .by_rows = s->a_col == 1 };
        for (int64_t k = 0; k < s->n; k++)
            x[k] = ((const T *)s->b)[at + k * s->b_row];
        NAME(substitute)(&v);
        for (int64_t k = 0; k < s->n; k++)
            ((T *)s->x)[at + k * s->b_row] = x[k];
    }
}
