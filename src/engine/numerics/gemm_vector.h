/* gemm_vector.h - the product of a matrix and a vector, or a few.
 *
 * Included by gemm_body.h, for one element type and one instruction set. */

#define EACH_OF_4(x) ROW(0, x) ROW(1, x) ROW(2, x) ROW(3, x)

/* The sum of the lanes, 16 bytes at a time. */
ATTR static inline __attribute__((always_inline)) T NAME(sum)(NAME(Vec) v)
{
    typedef T Part __attribute__((vector_size(16), aligned(sizeof(T)), may_alias));
    enum { PARTS = BYTES / 16, WIDTH = 16 / (int)sizeof(T) };
    const Part *parts = (const Part *)&v;
    Part sum = parts[0];
    if (PARTS >= 2)
        sum += parts[PARTS / 2];
    if (PARTS == 4)
        sum += parts[1] + parts[3];
    T low = sum[0] + sum[1];
    return WIDTH == 4 ? low + (sum[WIDTH - 2] + sum[WIDTH - 1]) : low;
}

/* The matrix by a few vectors: y[i * y_row + j * y_col] = sum over p of a[i, p] x[j, p]. */
typedef struct NAME(Thin) {
    int64_t m, n, depth; /* rows; vectors, MOST_VECTORS at most; length */
    const T *a;
    int64_t a_row, a_col;
    const T *x; /* LANES elements of each vector, then the next of each */
    T *y;
    int64_t y_row, y_col;
    int64_t rows; /* of a slice */
} NAME(Thin);

enum { NAME(MOST_VECTORS) = 8 };

/* Rows i .. i + nrows, of those before `end`, by ncols vectors; the elements of a row side by side.  In
 * place of rows and vectors that are not there: the last one. */
ATTR static inline __attribute__((always_inline)) void
NAME(rows_by_vectors)(const NAME(Thin) * t, int64_t i, int64_t end, int nrows, int ncols)
{
    enum { FARTHEST = 1 << 18 }; /* bytes, which the second cache holds beside the vectors */
    const T *row[4], *x = t->x;
    /* the next rows: what the processor reads ahead ends with each row, and with each page */
    int64_t ahead = NAME(least)(nrows * llabs(t->a_row), FARTHEST / (int64_t)sizeof(T));
    int64_t from[NAME(MOST_VECTORS)];
    NAME(Vec) acc[4][NAME(MOST_VECTORS)];
#pragma GCC unroll 8
    for (int c = 0; c < ncols; c++)
        from[c] = (c < t->n ? c : t->n - 1) * NAME(LANES);
#pragma GCC unroll 4
    for (int r = 0; r < nrows; r++) {
        row[r] = t->a + NAME(least)(i + r, end - 1) * t->a_row;
#pragma GCC unroll 8
        for (int c = 0; c < ncols; c++)
            acc[r][c] = (NAME(Vec)){ 0 };
    }
    int64_t p = 0;
    for (; p + NAME(LANES) <= t->depth; p += NAME(LANES), x += t->n * NAME(LANES)) {
        NAME(Vec) elements[4];
#pragma GCC unroll 4
        for (int r = 0; r < nrows; r++) {
            elements[r] = *(const NAME(Vec) *)(row[r] + p);
            __builtin_prefetch(row[r] + p + ahead, 0, 2);
        }
#pragma GCC unroll 8
        for (int c = 0; c < ncols; c++) {
            NAME(Vec) xs = *(const NAME(Vec) *)(x + from[c]);
#pragma GCC unroll 4
            for (int r = 0; r < nrows; r++)
                acc[r][c] += elements[r] * xs;
        }
    }
#if BYTES == 64
    if (p < t->depth) { /* what does not fill a vector */
        uint32_t bits = (1u << (t->depth - p)) - 1;
        NAME(Vec) elements[4];
#pragma GCC unroll 4
        for (int r = 0; r < nrows; r++)
            elements[r] = NAME(load_part)(row[r] + p, bits);
#pragma GCC unroll 8
        for (int c = 0; c < ncols; c++) {
            NAME(Vec) xs = NAME(load_part)(x + from[c], bits);
#pragma GCC unroll 4
            for (int r = 0; r < nrows; r++)
                acc[r][c] += elements[r] * xs;
        }
        p = t->depth;
    }
#endif
#pragma GCC unroll 4
    for (int r = 0; r < nrows; r++)
#pragma GCC unroll 8
        for (int c = 0; c < ncols; c++) {
            T sum = NAME(sum)(acc[r][c]);
            for (int64_t q = p; q < t->depth; q++)
                sum += row[r][q] * x[from[c] + q - p];
            if (i + r < end && c < t->n)
                t->y[(i + r) * t->y_row + c * t->y_col] = sum;
        }
}

#define ROWS_BY(n, nrows)                                                                          \
    ATTR static void NAME(rows_by_##n)(const NAME(Thin) * t, int64_t i, int64_t end)               \
    {                                                                                              \
        for (; i < end; i += nrows)                                                                \
            NAME(rows_by_vectors)(t, i, end, nrows, n);                                            \
    }
ROWS_BY(1, 4)
ROWS_BY(2, 4)
ROWS_BY(4, 4)
#if BYTES == 64
ROWS_BY(8, 3)
#else
ROWS_BY(8, 1)
#endif
#undef ROWS_BY

/* By one vector, the elements of a column side by side: some results, CHUNK at most.  Columns are read
 * four at a time, and sums of BAND of them added up. */
enum { NAME(CHUNK) = 4096 / sizeof(T) };

ATTR static void NAME(columns_by_vector)(const NAME(Thin) * t, int64_t i, int64_t n)
{
    /* in place of columns that are not there; the last one times 0 would be NaN if it holds infinities */
    static const T zeros[NAME(CHUNK)];
    T total[NAME(CHUNK)], part[NAME(CHUNK)];
    const T *a = t->a + i;
    int64_t whole = n / NAME(LANES) * NAME(LANES);
    memset(total, 0, sizeof(T) * (size_t)n);
    memset(part, 0, sizeof(T) * (size_t)n);
    for (int64_t p = 0; p < t->depth; p += 4) {
        const T *column[4];
        T x[4];
        EACH_OF_4(column[r] = p + r < t->depth ? a + (p + r) * t->a_col : zeros;
                  x[r] = p + r < t->depth ? t->x[p + r] : 0;)
        for (int64_t l = 0; l < whole; l += NAME(LANES)) {
            NAME(Vec) acc = *(const NAME(Vec) *)(part + l);
            EACH_OF_4(acc += *(const NAME(Vec) *)(column[r] + l) * x[r];)
            *(NAME(Vec) *)(part + l) = acc;
        }
        for (int64_t l = whole; l < n; l++) {
            EACH_OF_4(part[l] += column[r][l] * x[r];)
        }
        if (p % BAND != BAND - 4 && p + 4 < t->depth)
            continue;
        for (int64_t l = 0; l < whole; l += NAME(LANES)) {
            *(NAME(Vec) *)(total + l) += *(NAME(Vec) *)(part + l);
            *(NAME(Vec) *)(part + l) = (NAME(Vec)){ 0 };
        }
        for (int64_t l = whole; l < n; l++) {
            total[l] += part[l];
            part[l] = 0;
        }
    }
    for (int64_t l = 0; l < n; l++)
        t->y[(i + l) * t->y_row] = total[l];
}

/* The same for any strides. */
ATTR static void NAME(strided_by_vector)(const NAME(Thin) * t, int64_t i, int64_t end)
{
    for (; i < end; i++) {
        T sum = 0;
        for (int64_t p = 0; p < t->depth; p++)
            sum += t->a[i * t->a_row + p * t->a_col] * t->x[p];
        t->y[i * t->y_row] = sum;
    }
}

ATTR static void NAME(vector_slice)(void *user, int64_t slice)
{
    const NAME(Thin) *t = user;
    int64_t i = slice * t->rows, end = NAME(least)(t->m, i + t->rows);
    if (t->a_col == 1 && t->n <= 2)
        (t->n == 1 ? NAME(rows_by_1) : NAME(rows_by_2))(t, i, end);
    else if (t->a_col == 1)
        (t->n <= 4 ? NAME(rows_by_4) : NAME(rows_by_8))(t, i, end);
    else if (t->a_row == 1)
        for (; i < end; i += NAME(CHUNK))
            NAME(columns_by_vector)(t, i, NAME(least)(end - i, NAME(CHUNK)));
    else
        NAME(strided_by_vector)(t, i, end);
}

/* Is it better done so, where a's rows lie side by side?  By the sizes alone: each result costs the sum of a vector,
 * and where there are no masks, numbers that fill none are added one by one. */
static bool NAME(is_thin)(int64_t m, int64_t n, int64_t k)
{
    enum { FEW = 4, MANY = 4 * NAME(LANES), LEAST = BYTES == 64 ? NAME(LANES) : MANY };
    return n <= NAME(MOST_VECTORS) && k >= (n <= FEW ? LEAST : MANY) && m > 4 * n;
}

/* No row's sum depends on the slices. */
ATTR static void NAME(by_vectors)(const Frame *frame, NAME(Thin) t, int64_t x_step, int64_t x_apart)
{
    enum { SLICES = 16, FEWEST = 4, BLOCK = 4 * NAME(LANES), LANES = NAME(LANES) };
    if (x_step != 1 || t.n > 1) {
        int64_t vectors = (t.depth + LANES - 1) / LANES;
        T *copy = scratch(frame, THREAD_MEMORY_LEFT, sizeof(T) * (size_t)(t.n * vectors * LANES));
        if (!copy)
            return;
        for (int64_t p = 0; p < t.depth; p++)
            for (int64_t c = 0; c < t.n; c++)
                copy[(p / LANES * t.n + c) * LANES + p % LANES] = t.x[p * x_step + c * x_apart];
        t.x = copy;
    }
    /* columns are the better read the longer they are; but each worker is to have some */
    int64_t longest = (t.m / FEWEST + BLOCK - 1) / BLOCK * BLOCK;
    int64_t block = t.a_col == 1 ? BLOCK : NAME(least)(longest, NAME(CHUNK));
    t.rows = is_cut_vector(t.m, t.depth) ? (t.m / SLICES + block) / block * block : t.m;
    slices(frame, (t.m + t.rows - 1) / t.rows, NAME(vector_slice), &t);
}

/* If the product is of a matrix and a vector, or of a few that a's rows, or b's columns, meet along
 * memory. */
ATTR static bool NAME(thin)(const NAME(Job) * g)
{
    NAME(Thin)
    by_b = { .m = g->m,
             .n = g->n,
             .depth = g->terms,
             .a = g->a,
             .a_row = g->a_row,
             .a_col = g->a_col,
             .x = g->b,
             .y = g->c,
             .y_row = g->c_row,
             .y_col = 1 };
    NAME(Thin)
    by_a = { .m = g->n,
             .n = g->m,
             .depth = g->terms,
             .a = g->b,
             .a_row = g->b_col,
             .a_col = g->b_row,
             .x = g->a,
             .y = g->c,
             .y_row = 1,
             .y_col = g->c_row };
    if (g->n == 1 || (g->a_col == 1 && NAME(is_thin)(g->m, g->n, g->terms)))
        NAME(by_vectors)(g->frame, by_b, g->b_row, g->b_col);
    else if (g->m == 1 || (g->b_row == 1 && NAME(is_thin)(g->n, g->m, g->terms)))
        NAME(by_vectors)(g->frame, by_a, g->a_col, g->a_row);
    else
        return false;
    return true;
}
#undef EACH_OF_4
