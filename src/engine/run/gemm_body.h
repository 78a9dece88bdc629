/* gemm_body.h - the matrix product for one element type and one instruction set.
 *
 * Included by gemm.c, several times, with: T the element, BYTES of a vector, ROWS of a tile
 * (12 or 6), ATTR the target attribute, NAME(x) for its names.  A tile is ROWS x (1 or 2
 * vectors) of c, held in registers:
 *
 *            b  [2 vectors]          for p: row p of b is loaded once, every a[i][p] is spread
 *   a [ROWS] c  [2 vectors]                 over a vector, and ROWS x 2 products are added
 *
 * Large operands are first packed, so that tiles read them in order:
 *
 *   for columns jc .. jc + NC { for depth pc .. pc + KC { pack b
 *       for rows ic .. ic + MC { pack a;  for tiles of c { tile } } } } */
typedef T NAME(Vec) __attribute__((vector_size(BYTES), aligned(sizeof(T)), may_alias));
enum { NAME(LANES) = BYTES / (int)sizeof(T), NAME(COLS) = 2 * NAME(LANES) };

#define ROW(i, x)                                                                                  \
    {                                                                                              \
        enum { r = i };                                                                            \
        x                                                                                          \
    }
#if ROWS == 12
#define EACH_ROW(x)                                                                                \
    ROW(0, x) ROW(1, x) ROW(2, x) ROW(3, x) ROW(4, x) ROW(5, x) ROW(6, x) ROW(7, x) ROW(8, x)      \
    ROW(9, x) ROW(10, x) ROW(11, x)
#else
#define EACH_ROW(x) ROW(0, x) ROW(1, x) ROW(2, x) ROW(3, x) ROW(4, x) ROW(5, x)
#endif

typedef struct NAME(Tile) {
    int64_t depth;
    const T *a; /* a[i * a_row + p * a_col], for all ROWS rows */
    int64_t a_row, a_col;
    const T *b; /* b[p * b_row + j] */
    int64_t b_row;
    T *c;
    int64_t c_row;
    int rows;  /* of c to write */
    bool adds; /* to what c holds */
} NAME(Tile);

/* is_packed: a's rows lie side by side, so that their addresses are constants. */
ATTR static inline __attribute__((always_inline)) void NAME(tile)(const NAME(Tile) *t, int nvec,
                                                                  bool is_packed)
{
    NAME(Vec) acc[ROWS][2];
    const T *b = t->b, *a[4]; /* every third row, so that addresses stay simple */
    int64_t row = is_packed ? 1 : t->a_row, col = is_packed ? ROWS : t->a_col;
    for (int g = 0; g < 4; g++)
        a[g] = t->a + 3 * g * row;
    EACH_ROW(acc[r][0] = acc[r][1] = (NAME(Vec)){ 0 };)
    for (int64_t p = 0; p < t->depth; p++, b += t->b_row) {
        NAME(Vec) b0 = *(const NAME(Vec) *)b, b1 = b0;
        if (nvec == 2)
            b1 = *(const NAME(Vec) *)(b + NAME(LANES));
        EACH_ROW(T x = a[r / 3][r % 3 * row]; acc[r][0] += x * b0;
                 if (nvec == 2) acc[r][1] += x * b1;)
        for (int g = 0; g < 4; g++)
            a[g] += col;
    }
    EACH_ROW(if (r < t->rows) {
        NAME(Vec) *to = (NAME(Vec) *)(t->c + r * t->c_row);
        if (t->adds)
            acc[r][0] += to[0];
        to[0] = acc[r][0];
        if (nvec == 2 && t->adds)
            acc[r][1] += to[1];
        if (nvec == 2)
            to[1] = acc[r][1];
    })
}

ATTR static void NAME(tile_packed2)(const NAME(Tile) *t)
{
    NAME(tile)(t, 2, true);
}

ATTR static void NAME(tile_packed1)(const NAME(Tile) *t)
{
    NAME(tile)(t, 1, true);
}

ATTR static void NAME(tile_strided2)(const NAME(Tile) *t)
{
    NAME(tile)(t, 2, false);
}

ATTR static void NAME(tile_strided1)(const NAME(Tile) *t)
{
    NAME(tile)(t, 1, false);
}

/* A tile of `cols` columns.  Fewer than fill the vectors go by a copy of c. */
ATTR static void NAME(tile_at)(NAME(Tile) t, int cols)
{
    bool is_packed = t.a_row == 1 && t.a_col == ROWS, is_wide = cols > NAME(LANES);
    void (*go)(const NAME(Tile) *) =
        is_packed ? is_wide ? NAME(tile_packed2) : NAME(tile_packed1)
        : is_wide ? NAME(tile_strided2)
                  : NAME(tile_strided1);
    if (cols == NAME(COLS) || cols == NAME(LANES)) {
        go(&t);
        return;
    }
    T apart[ROWS * NAME(COLS)];
    T *c = t.c;
    int64_t c_row = t.c_row;
    bool adds = t.adds;
    t.c = apart;
    t.c_row = NAME(COLS);
    t.adds = false;
    go(&t);
    for (int i = 0; i < t.rows; i++)
        for (int j = 0; j < cols; j++)
            c[i * c_row + j] = apart[i * NAME(COLS) + j] + (adds ? c[i * c_row + j] : 0);
}

/* ROWS rows of a, depth columns, rows side by side; rows past the end are zero. */
ATTR static void NAME(pack_a)(T *to, int rows, int64_t depth, const T *a, int64_t a_row,
                              int64_t a_col)
{
    for (int64_t p = 0; p < depth; p++, to += ROWS)
        for (int r = 0; r < ROWS; r++)
            to[r] = r < rows ? a[r * a_row + p * a_col] : 0;
}

/* COLS columns of b, columns side by side; those past the end are zero. */
ATTR static void NAME(pack_b)(T *to, int cols, int64_t depth, const T *b, int64_t b_row,
                              int64_t b_col)
{
    if (cols == NAME(COLS) && b_col == 1) {
        for (int64_t p = 0; p < depth; p++, to += NAME(COLS))
            memcpy(to, b + p * b_row, sizeof(T) * NAME(COLS));
        return;
    }
    for (int64_t p = 0; p < depth; p++, to += NAME(COLS))
        for (int j = 0; j < NAME(COLS); j++)
            to[j] = j < cols ? b[p * b_row + j * b_col] : 0;
}

/* ---- a vector as one operand ---- */

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

ATTR static void NAME(by_vector)(int64_t m, int64_t n, const T *a, int64_t a_row, int64_t a_col,
                                 const T *x, int64_t x_step, T *y, int64_t y_step)
{
    const T *dense = x;
    if (x_step != 1) {
        T *copy = scratch(0, sizeof(T) * (size_t)n);
        for (int64_t p = 0; p < n; p++)
            copy[p] = x[p * x_step];
        dense = copy;
    }
    if (a_col == 1)
        NAME(rows_by_vector)(m, n, a, a_row, dense, y, y_step);
    else
        NAME(columns_by_vector)(m, n, a, a_row, a_col, dense, y, y_step);
}

/* ---- blocks ---- */

typedef struct NAME(Job) {
    int64_t m, n, k;
    const T *a;
    int64_t a_row, a_col;
    const T *b;
    int64_t b_row, b_col;
    T *c;
    int64_t c_row;
} NAME(Job);

/* Rows ic .. ic + rows of a times the columns that are packed (or lie) in b. */
ATTR static void NAME(block)(const NAME(Job) *g, int64_t ic, int64_t jc, int64_t ncols, int64_t pc,
                             int64_t depth, const T *packed_b, bool packs_a)
{
    int64_t last = g->m < ic + MC ? g->m : ic + MC;
    T *packed_a = scratch(0, sizeof(T) * (size_t)(MC * KC));
    for (int64_t i = ic; i < last; i += ROWS) {
        int rows = (int)(last - i < ROWS ? last - i : ROWS);
        if (packs_a || rows < ROWS)
            NAME(pack_a)(packed_a + (i - ic) * KC, rows, depth,
                         g->a + i * g->a_row + pc * g->a_col, g->a_row, g->a_col);
    }
    for (int64_t j = 0; j < ncols; j += NAME(COLS)) {
        int cols = (int)(ncols - j < NAME(COLS) ? ncols - j : NAME(COLS));
        bool in_place = !packed_b && cols == NAME(COLS);
        T *tail = NULL;
        if (!packed_b && !in_place) {
            tail = scratch(1, sizeof(T) * (size_t)(KC * NAME(COLS)));
            NAME(pack_b)(tail, cols, depth, g->b + pc * g->b_row + (jc + j) * g->b_col, g->b_row,
                         g->b_col);
        }
        NAME(Tile) t = { .depth = depth, .c_row = g->c_row, .adds = pc > 0 };
        t.b = in_place ? g->b + pc * g->b_row + jc + j : tail ? tail : packed_b + j * depth;
        t.b_row = in_place ? g->b_row : NAME(COLS);
        for (int64_t i = ic; i < last; i += ROWS) {
            t.rows = (int)(last - i < ROWS ? last - i : ROWS);
            bool is_packed = packs_a || t.rows < ROWS;
            t.a = is_packed ? packed_a + (i - ic) * KC : g->a + i * g->a_row + pc * g->a_col;
            t.a_row = is_packed ? 1 : g->a_row;
            t.a_col = is_packed ? ROWS : g->a_col;
            t.c = g->c + i * g->c_row + jc + j;
            NAME(tile_at)(t, cols);
        }
    }
}

ATTR static void NAME(blocks)(const NAME(Job) *g)
{
    bool packs_b = g->b_col != 1 || g->m > 4 * ROWS;
    bool packs_a = g->n > 4 * NAME(COLS) || (g->a_col != 1 && g->a_row != 1);
    for (int64_t jc = 0; jc < g->n; jc += NC) {
        int64_t ncols = g->n - jc < NC ? g->n - jc : NC;
        for (int64_t pc = 0; pc < g->k; pc += KC) {
            int64_t depth = g->k - pc < KC ? g->k - pc : KC;
            T *packed_b = NULL;
            if (packs_b) {
                packed_b = scratch(1, sizeof(T) * (size_t)(KC * (NC + NAME(COLS))));
                for (int64_t j = 0; j < ncols; j += NAME(COLS))
                    NAME(pack_b)(packed_b + j * depth,
                                 (int)(ncols - j < NAME(COLS) ? ncols - j : NAME(COLS)), depth,
                                 g->b + pc * g->b_row + (jc + j) * g->b_col, g->b_row, g->b_col);
            }
            for (int64_t ic = 0; ic < g->m; ic += MC)
                NAME(block)(g, ic, jc, ncols, pc, depth, packed_b, packs_a);
        }
    }
}

ATTR static void NAME(gemm)(int64_t m, int64_t n, int64_t k, const T *a, int64_t a_row,
                            int64_t a_col, const T *b, int64_t b_row, int64_t b_col, T *c,
                            int64_t c_row)
{
    if (k == 0) {
        for (int64_t i = 0; i < m; i++)
            memset(c + i * c_row, 0, sizeof(T) * (size_t)n);
    } else if (n == 1) {
        NAME(by_vector)(m, k, a, a_row, a_col, b, b_row, c, c_row);
    } else if (m == 1) {
        NAME(by_vector)(n, k, b, b_col, b_row, a, a_col, c, 1);
    } else {
        NAME(Job) g = { m, n, k, a, a_row, a_col, b, b_row, b_col, c, c_row };
        NAME(blocks)(&g);
    }
}

#undef ROW
#undef EACH_ROW
#undef EACH_OF_4
#undef T
#undef BYTES
#undef ROWS
#undef ATTR
#undef NAME
