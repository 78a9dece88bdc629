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

/* A panel under way: rows and columns in the order of substitution, so that steps may be negative. */
typedef struct NAME(Panel) {
    const T *a;
    int64_t row, col;
    T *x;
    int64_t step; /* from row to row of x: COLS, or minus that */
    bool is_unit;
} NAME(Panel);

/* Rows i .. i + nrows of x less a's of those times the rows before, RUN products at a time; rows of a are
 * found as in tile. */
ATTR static inline __attribute__((always_inline)) void
NAME(take_known)(const NAME(Panel) *s, int64_t i, int nrows, int nvec)
{
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
            EACH_ROW(T y = (r < 3   ? a0
                            : r < 6 ? a3
                            : r < 9 ? a6
                                    : a9)[r % 3 == 0   ? o0
                                          : r % 3 == 1 ? o1
                                                       : o2];
                     acc[r][0] += y * x0;
                     if (nvec == 2) acc[r][1] += y * x1;)
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

#define GROUP(name, nrows, nvec)                                                                   \
    ATTR static void NAME(name)(const NAME(Panel) *s, int64_t i)                                   \
    {                                                                                              \
        NAME(take_known)(s, i, nrows, nvec);                                                       \
        NAME(solve_group)(s, i, nrows, nvec);                                                      \
    }
GROUP(group_3_2, ROWS, 2)
GROUP(group_3_1, ROWS, 1)
GROUP(group_1_2, ROWS / 3, 2)
GROUP(group_1_1, ROWS / 3, 1)
GROUP(group_row_2, 1, 2)
GROUP(group_row_1, 1, 1)
#undef GROUP

ATTR static void NAME(solve_panel)(const TriangularSystem *s, T *x, bool is_wide)
{
    int64_t n = s->n, i = 0;
    NAME(Panel) p = { s->a, s->a_row, s->a_col, x, NAME(COLS), s->is_unit };
    if (!s->is_lower)
        p = (NAME(Panel)){ p.a + (n - 1) * (p.row + p.col), -p.row, -p.col, x + (n - 1) * p.step, -p.step,
                           s->is_unit };
    for (; i + ROWS <= n; i += ROWS)
        (is_wide ? NAME(group_3_2) : NAME(group_3_1))(&p, i);
    for (; i + ROWS / 3 <= n; i += ROWS / 3)
        (is_wide ? NAME(group_1_2) : NAME(group_1_1))(&p, i);
    for (; i < n; i++)
        (is_wide ? NAME(group_row_2) : NAME(group_row_1))(&p, i);
}

/* A panel of a matrix of the batch. */
ATTR static void NAME(solve_slice)(void *user, int64_t slice)
{
    const TriangularSystem *s = user;
    int64_t panels = (s->other + NAME(COLS) - 1) / NAME(COLS), j = slice % panels * NAME(COLS);
    int64_t matrix = slice / panels, cols = NAME(least)(s->other - j, NAME(COLS));
    T *x = scratch(s->frame, THREAD_MEMORY_LEFT, sizeof(T) * (size_t)(s->n * NAME(COLS) + NAME(LANES)));
    if (!x)
        return;
    int64_t offset = matrix * s->n * s->other + j * s->b_col;
    const T *b = (const T *)s->b + offset;
    T *to = (T *)s->x + offset;
    TriangularSystem one = *s;
    one.a = (const T *)s->a + matrix * s->n * s->n;
    NAME(pack_b)(x, (NAME(Lines)){ b, s->b_col, s->b_row, cols, s->n });
    NAME(solve_panel)(&one, x, cols > NAME(LANES));
    if (s->b_col != 1)
        matrix_transpose(s->n, cols, sizeof(T), x, NAME(COLS), to, s->b_col);
    else
        for (int64_t i = 0; i < s->n; i++)
            memcpy(to + i * s->b_row, x + i * NAME(COLS), sizeof(T) * (size_t)cols);
}

ATTR static void NAME(solve)(const TriangularSystem *s, int64_t matrices)
{
    int64_t panels = (s->other + NAME(COLS) - 1) / NAME(COLS);
    bool is_shared = !s->is_slice && is_cut(s->n, s->n * matrices, s->other);
    slices(is_shared ? s->frame : NULL, matrices * panels, NAME(solve_slice), (void *)s);
}
