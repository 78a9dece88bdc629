/* gemm_small.h - products so small that packing and cutting would take longer than multiplying.
 *
 * Included by gemm_body.h, for one kind and one instruction set.  Tiles read both operands where they
 * lie, and only as many columns as there are; where b's rows do not lie side by side it is packed. */

/* See gemm_body.h. */
/* clang-format off */
enum { NAME(SMALL_DEPTH) = 64, NAME(SMALL_PRODUCTS) = 40 * 1000 };

typedef struct NAME(Small) {
    int64_t depth, a_row, a_col, b_row, c_row;
    uint32_t last; /* a bit for each column of the last vector */
} NAME(Small);

/* Rows of a are found as in tile. */
ATTR static inline __attribute__((always_inline)) void
NAME(small_tile)(const NAME(Small) *g, const P *a, const P *b, T *c, int nrows, int nvec)
{
    NAME(Vec) acc[ROWS][2];
    const P *a0 = a, *a3 = a + 3 * g->a_row, *a6 = a + 6 * g->a_row, *a9 = a + 9 * g->a_row;
    int64_t o0 = 0, o1 = g->a_row, o2 = 2 * g->a_row, col = g->a_col;
    uint32_t last = g->last;
    EACH_ROW(acc[r][0] = acc[r][1] = (NAME(Vec)){ 0 };)
    for (int64_t p = 0; p < g->depth; p++, b += g->b_row, o0 += col, o1 += col, o2 += col) {
        NAME(Vec) b0 = nvec == 2 ? *(const NAME(Vec) *)b : NAME(load_part)(b, last), b1 = b0;
        if (nvec == 2)
            b1 = NAME(load_part)(b + NAME(LANES), last);
        EACH_ROW(P x = OF_ROW(r);
                 acc[r][0] = MULTIPLY(acc[r][0], x, b0);
                 if (nvec == 2) acc[r][1] = MULTIPLY(acc[r][1], x, b1);)
    }
    EACH_ROW(T *to = c + r * g->c_row;
             if (nvec == 2) {
                 *(NAME(Vec) *)to = acc[r][0];
                 NAME(store_part)(to + NAME(LANES), last, acc[r][1]);
             } else NAME(store_part)(to, last, acc[r][0]);)
}

typedef void NAME(SmallFn)(const NAME(Small) *g, const P *a, const P *b, T *c);

#define SMALL_TILE(rows)                                                                           \
    ATTR static void NAME(small_##rows##_1)(const NAME(Small) *g, const P *a, const P *b, T *c)    \
    {                                                                                              \
        NAME(small_tile)(g, a, b, c, rows, 1);                                                     \
    }                                                                                              \
    ATTR static void NAME(small_##rows##_2)(const NAME(Small) *g, const P *a, const P *b, T *c)    \
    {                                                                                              \
        NAME(small_tile)(g, a, b, c, rows, 2);                                                     \
    }
#if ROWS == 12
SMALL_TILE(12)
SMALL_TILE(8)
#else
SMALL_TILE(6)
#endif
SMALL_TILE(4)
SMALL_TILE(2)
SMALL_TILE(1)
#undef SMALL_TILE

static const struct NAME(SmallTile) {
    int rows;
    NAME(SmallFn) *by_vectors[2];
} NAME(small_tiles)[] = {
#if ROWS == 12
    { 12, { NAME(small_12_1), NAME(small_12_2) } },
    { 8, { NAME(small_8_1), NAME(small_8_2) } },
#else
    { 6, { NAME(small_6_1), NAME(small_6_2) } },
#endif
    { 4, { NAME(small_4_1), NAME(small_4_2) } },
    { 2, { NAME(small_2_1), NAME(small_2_2) } },
    { 1, { NAME(small_1_1), NAME(small_1_2) } },
};

/* By the sizes alone, so that results repeat. */
static bool NAME(is_small)(int64_t m, int64_t n, int64_t k)
{
    return k <= NAME(SMALL_DEPTH) && (BYTES == 64 || n % NAME(LANES) == 0) &&
           m <= NAME(SMALL_PRODUCTS) && n <= NAME(SMALL_PRODUCTS) && m * n * k <= NAME(SMALL_PRODUCTS);
}

ATTR static void NAME(small)(int64_t m, int64_t n, int64_t k, const P *a, int64_t a_row, int64_t a_col,
                             const P *b, int64_t b_row, int64_t b_col, T *c, int64_t c_row)
{
    P here[NAME(SMALL_DEPTH) * NAME(COLS) + NAME(LANES)];
    NAME(Small) g = { .depth = k, .a_row = a_row, .a_col = a_col, .b_row = b_row, .c_row = c_row };
    for (int64_t j = 0; j < n; j += NAME(COLS)) {
        int64_t cols = NAME(least)(n - j, NAME(COLS)), in_last = (cols - 1) % NAME(LANES) + 1;
        const P *from = b + j * b_col;
        g.last = (uint32_t)((UINT64_C(1) << in_last) - 1);
        if (b_col != 1) {
            NAME(pack_b)(here, (NAME(Lines)){ from, b_col, b_row, cols, k });
            from = here;
            g.b_row = NAME(COLS);
        }
        for (int64_t i = 0; i < m;) {
            int t = 0;
            while (NAME(small_tiles)[t].rows > m - i)
                t++;
            NAME(small_tiles)[t].by_vectors[cols > NAME(LANES)](&g, a + i * a_row, from, c + i * c_row + j);
            i += NAME(small_tiles)[t].rows;
        }
    }
}
