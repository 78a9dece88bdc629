/* gemm_vector.h - the product of a matrix and a vector.
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

/* y[i] = sum over p of a[i, p] x[p], the elements of a row side by side: four rows at once. */
ATTR static void NAME(rows_by_vector)(int64_t m, int64_t n, const T *a, int64_t a_row, const T *x,
                                      T *y, int64_t y_step)
{
    for (int64_t i = 0; i < m; i += 4) {
        const T *row[4];
        NAME(Vec) acc[4];
        EACH_OF_4(row[r] = a + (i + r < m ? i + r : m - 1) * a_row; acc[r] = (NAME(Vec)){ 0 };)
        int64_t p = 0;
        for (; p + NAME(LANES) <= n; p += NAME(LANES)) {
            NAME(Vec) xs = *(const NAME(Vec) *)(x + p);
            EACH_OF_4(acc[r] += *(const NAME(Vec) *)(row[r] + p) * xs;)
        }
        EACH_OF_4(if (i + r < m) {
            T sum = NAME(sum)(acc[r]);
            for (int64_t q = p; q < n; q++)
                sum += row[r][q] * x[q];
            y[(i + r) * y_step] = sum;
        })
    }
}

/* Results i .. i + 4 vectors, the elements of a column side by side. */
ATTR static void NAME(column_block)(int64_t n, const T *a, int64_t a_col, const T *x, T *y,
                                    int64_t y_step)
{
    NAME(Vec) acc[4];
    EACH_OF_4(acc[r] = (NAME(Vec)){ 0 };)
    for (int64_t p = 0; p < n; p++, a += a_col) {
        EACH_OF_4(acc[r] += *(const NAME(Vec) *)(a + r * NAME(LANES)) * x[p];)
    }
    for (int64_t l = 0; l < NAME(LANES) && y_step != 1; l++) {
        EACH_OF_4(y[(r * NAME(LANES) + l) * y_step] = acc[r][l];)
    }
    if (y_step == 1) {
        EACH_OF_4(*(NAME(Vec) *)(y + r * NAME(LANES)) = acc[r];)
    }
}

/* The same for any strides of a. */
ATTR static void NAME(columns_by_vector)(int64_t m, int64_t n, const T *a, int64_t a_row,
                                         int64_t a_col, const T *x, T *y, int64_t y_step)
{
    enum { STEP = 4 * NAME(LANES) };
    int64_t i = 0;
    for (; a_row == 1 && i + STEP <= m; i += STEP)
        NAME(column_block)(n, a + i, a_col, x, y + i * y_step, y_step);
    for (; i < m; i += NAME(LANES)) {
        T acc[NAME(LANES)] = { 0 };
        int64_t left = m - i < NAME(LANES) ? m - i : NAME(LANES);
        for (int64_t p = 0; p < n; p++)
            for (int64_t l = 0; l < left; l++)
                acc[l] += a[p * a_col + (i + l) * a_row] * x[p];
        for (int64_t l = 0; l < left; l++)
            y[(i + l) * y_step] = acc[l];
    }
}

typedef struct NAME(Vector) {
    int64_t m, n;
    const T *a;
    int64_t a_row, a_col;
    const T *x; /* dense */
    T *y;
    int64_t y_step;
    int64_t rows; /* of a slice */
} NAME(Vector);

ATTR static void NAME(vector_slice)(void *user, int64_t slice)
{
    const NAME(Vector) *v = user;
    int64_t i = slice * v->rows, left = v->m - i, rows = left < v->rows ? left : v->rows;
    const T *a = v->a + i * v->a_row;
    T *y = v->y + i * v->y_step;
    if (v->a_col == 1)
        NAME(rows_by_vector)(rows, v->n, a, v->a_row, v->x, y, v->y_step);
    else
        NAME(columns_by_vector)(rows, v->n, a, v->a_row, v->a_col, v->x, y, v->y_step);
}

/* Slices are whole blocks of either loop, so that no row's sum depends on them. */
ATTR static void NAME(by_vector)(const Frame *frame, int64_t m, int64_t n, const T *a,
                                 int64_t a_row, int64_t a_col, const T *x, int64_t x_step, T *y,
                                 int64_t y_step)
{
    enum { SLICES = 16, BLOCK = 4 * NAME(LANES) };
    NAME(Vector) v = { m, n, a, a_row, a_col, x, y, y_step, m };
    if (x_step != 1) {
        T *copy = scratch(frame, THREAD_MEMORY_LEFT, sizeof(T) * (size_t)n);
        if (!copy)
            return;
        for (int64_t p = 0; p < n; p++)
            copy[p] = x[p * x_step];
        v.x = copy;
    }
    if (is_cut_vector(m, n))
        v.rows = (m / SLICES + BLOCK) / BLOCK * BLOCK;
    slices(frame, (m + v.rows - 1) / v.rows, NAME(vector_slice), &v);
}
#undef EACH_OF_4
