/* gemm_body.h - the matrix product for one element type and one instruction set.
 *
 * Included by gemm.c, several times, with: T the element, I an integer as wide, BYTES of a
 * vector, ROWS of a tile (12 or 6), ATTR the target attribute, NAME(x) for its names.  A tile is
 * ROWS x (1 or 2 vectors) of c, held in registers:
 *
 *            b  [2 vectors]          for p: row p of b is loaded once, every a[i][p] is spread
 *   a [ROWS] c  [2 vectors]                 over a vector, and ROWS x 2 products are added
 *
 * Large operands are first packed, so that tiles read them in order:
 *
 *   for columns jc { for depth kc { pack b, in slices
 *       slices, each some rows and columns of c:
 *           for depth pc, KC at most { pack a; for panels of b { for tiles of c { tile } } } } }
 *
 * What an element of c goes through, sums of RUN products, sums of those to KC, and these added in
 * order, does not depend on the slices: so neither does the result. */
/* clang-format takes NAME(x) for a function in one place and for a product in another. */
/* clang-format off */
typedef T NAME(Vec) __attribute__((vector_size(BYTES), aligned(sizeof(T)), may_alias));
typedef I NAME(Mask) __attribute__((vector_size(BYTES)));
enum { NAME(LANES) = BYTES / (int)sizeof(T), NAME(COLS) = 2 * NAME(LANES) };
enum { NAME(RUN) = sizeof(T) == 4 ? 32 : KC }; /* products that are added in a row */
enum { NAME(STAGES) = NAME(LANES) == 16 ? 4 : NAME(LANES) == 8 ? 3 : NAME(LANES) == 4 ? 2 : 1 };

#define ROW(i, x)                                                                                  \
    {                                                                                              \
        enum { r = i };                                                                            \
        x                                                                                          \
    }
#define FEW(i, x) ROW(i, if (r < nrows) { x })
#if ROWS == 12
#define EACH_ROW(x)                                                                                \
    FEW(0, x) FEW(1, x) FEW(2, x) FEW(3, x) FEW(4, x) FEW(5, x) FEW(6, x) FEW(7, x) FEW(8, x)      \
    FEW(9, x) FEW(10, x) FEW(11, x)
#else
#define EACH_ROW(x) FEW(0, x) FEW(1, x) FEW(2, x) FEW(3, x) FEW(4, x) FEW(5, x)
#endif

typedef struct NAME(Tile) {
    int64_t depth;
    const T *a; /* a[i * a_row + p * a_col] */
    int64_t a_row, a_col;
    const T *b; /* b[p * b_row + j] */
    int64_t b_row;
    T *c;
    int64_t c_row;
    int rows;  /* of c to write; a has as many as the tile, if it is packed */
    bool adds; /* to what c holds */
    T *keeps;  /* where b is packed on the way, for the tiles after this one; or NULL */
    NAME(Vec) * runs; /* room for the tile */
} NAME(Tile);

static int64_t NAME(least)(int64_t x, int64_t y)
{
    return x < y ? x : y;
}

/* is_packed: a's rows lie side by side, so that their addresses are constants.  Else row r is
 * found from every third row and one of three offsets, which keeps all addresses in registers.
 * The more a sum holds, the more each rounding of it costs: so RUN products are added in registers
 * (twice as many where there are more than four runs), and the sums of such runs in memory. */
ATTR static inline __attribute__((always_inline)) void NAME(tile)(const NAME(Tile) *t, int nrows,
                                                                  int nvec, bool is_packed,
                                                                  bool keeps_b)
{
    T *keep = t->keeps;
    NAME(Vec) acc[ROWS][2], *runs = t->runs;
    const T *a = t->a, *b = t->b;
    const T *a0 = a, *a3 = a + 3 * t->a_row, *a6 = a + 6 * t->a_row, *a9 = a + 9 * t->a_row;
    int64_t o0 = 0, o1 = t->a_row, o2 = 2 * t->a_row, col = t->a_col;
    EACH_ROW(__builtin_prefetch(t->c + r * t->c_row, 1);
             if (nvec == 2) __builtin_prefetch(t->c + r * t->c_row + NAME(LANES), 1);)
    int64_t run = t->depth > 4 * NAME(RUN) ? 2 * NAME(RUN) : NAME(RUN);
    for (int64_t p = 0;;) {
        bool is_first = p == 0;
        int64_t end = NAME(least)(p + run, t->depth);
        EACH_ROW(acc[r][0] = acc[r][1] = (NAME(Vec)){ 0 };)
        for (; p < end; p++, b += t->b_row) {
            NAME(Vec) b0 = *(const NAME(Vec) *)b, b1 = b0;
            if (nvec == 2)
                b1 = *(const NAME(Vec) *)(b + NAME(LANES));
            if (keeps_b) {
                *(NAME(Vec) *)keep = b0;
                *(NAME(Vec) *)(keep + NAME(LANES)) = b1;
                keep += NAME(COLS);
            }
            EACH_ROW(T x = is_packed ? a[r]
                                     : (r < 3   ? a0
                                        : r < 6 ? a3
                                        : r < 9 ? a6
                                                : a9)[r % 3 == 0   ? o0
                                                      : r % 3 == 1 ? o1
                                                                   : o2];
                     acc[r][0] += x * b0; if (nvec == 2) acc[r][1] += x * b1;)
            a += ROWS;
            o0 += col;
            o1 += col;
            o2 += col;
        }
        if (!is_first) {
            EACH_ROW(acc[r][0] += runs[2 * r]; if (nvec == 2) acc[r][1] += runs[2 * r + 1];)
        }
        if (p == t->depth)
            break;
        EACH_ROW(runs[2 * r] = acc[r][0]; if (nvec == 2) runs[2 * r + 1] = acc[r][1];)
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

#define TILE(name, nrows, nvec, is_packed, keeps_b)                                                \
    ATTR static void NAME(name)(const NAME(Tile) *t)                                               \
    {                                                                                              \
        NAME(tile)(t, nrows, nvec, is_packed, keeps_b);                                            \
    }
TILE(packed_3_2, ROWS, 2, true, false)
TILE(packed_3_1, ROWS, 1, true, false)
TILE(packed_2_2, ROWS * 2 / 3, 2, true, false)
TILE(packed_2_1, ROWS * 2 / 3, 1, true, false)
TILE(packed_1_2, ROWS / 3, 2, true, false)
TILE(packed_1_1, ROWS / 3, 1, true, false)
TILE(strided_3_2, ROWS, 2, false, false)
TILE(strided_3_1, ROWS, 1, false, false)
TILE(packed_keeping, ROWS, 2, true, true)
TILE(strided_keeping, ROWS, 2, false, true)
#undef TILE

typedef void NAME(TileFn)(const NAME(Tile) *t);

/* By way of a copy of c, for columns that do not fill vectors. */
ATTR static void NAME(tile_apart)(const NAME(Tile) *t, NAME(TileFn) *go, int cols)
{
    T apart[ROWS * NAME(COLS)];
    NAME(Tile) inner = *t;
    inner.c = apart;
    inner.c_row = NAME(COLS);
    inner.adds = false;
    go(&inner);
    for (int i = 0; i < t->rows; i++)
        for (int j = 0; j < cols; j++) {
            T *c = t->c + i * t->c_row + j;
            *c = apart[i * NAME(COLS) + j] + (t->adds ? *c : 0);
        }
}

/* A tile of `cols` columns; a packed one of few rows is a lower tile. */
ATTR static void NAME(tile_at)(const NAME(Tile) *t, bool is_packed, int cols)
{
    static NAME(TileFn) *const packed[] = {
        NAME(packed_1_1), NAME(packed_1_2), NAME(packed_2_1),
        NAME(packed_2_2), NAME(packed_3_1), NAME(packed_3_2),
    };
    bool is_wide = cols > NAME(LANES);
    int height = (t->rows - 1) / (ROWS / 3);
    NAME(TileFn) *go = is_packed ? packed[2 * height + is_wide]
                       : is_wide ? NAME(strided_3_2)
                                 : NAME(strided_3_1);
    if (t->keeps) /* a full tile */
        go = is_packed ? NAME(packed_keeping) : NAME(strided_keeping);
    if (cols == NAME(COLS) || cols == NAME(LANES))
        go(t);
    else
        NAME(tile_apart)(t, go, cols);
}

/* ---- packing ---- */

/* Which lanes two rows exchange so that blocks of `half` x `half` across the diagonal swap. */
typedef struct NAME(Shuffles) {
    NAME(Mask) first[4], second[4];
} NAME(Shuffles);

ATTR static NAME(Shuffles) NAME(transpose_shuffles)(void)
{
    NAME(Shuffles) shuffles;
    for (int stage = 0; stage < NAME(STAGES); stage++)
        for (int l = 0; l < NAME(LANES); l++) {
            int half = NAME(LANES) >> (stage + 1);
            shuffles.first[stage][l] = l & half ? NAME(LANES) + l - half : l;
            shuffles.second[stage][l] = l & half ? NAME(LANES) + l : l + half;
        }
    return shuffles;
}

/* to[p * to_row + i] = v[i][p] for a square of vectors; in registers, if all loops are unrolled. */
ATTR static inline __attribute__((always_inline)) void
NAME(transpose_registers)(const NAME(Shuffles) *shuffles, NAME(Vec) *v, T *to, int64_t to_row)
{
#pragma GCC unroll 4
    for (int stage = 0; stage < NAME(STAGES); stage++)
#pragma GCC unroll 16
        for (int i = 0; i < NAME(LANES); i++) {
            int half = NAME(LANES) >> (stage + 1);
            if (i & half)
                continue;
            NAME(Vec) x = v[i], y = v[i + half];
            v[i] = __builtin_shuffle(x, y, shuffles->first[stage]);
            v[i + half] = __builtin_shuffle(x, y, shuffles->second[stage]);
        }
#pragma GCC unroll 16
    for (int p = 0; p < NAME(LANES); p++)
        *(NAME(Vec) *)(to + p * to_row) = v[p];
}

/* to[p * to_row + i] = from[i * from_row + p] for a square of vectors, i < rows; other i: zero. */
ATTR static inline __attribute__((always_inline)) void
NAME(transpose)(const NAME(Shuffles) *shuffles, T *to, int64_t to_row, const T *from, int64_t from_row, int rows)
{
    NAME(Vec) v[NAME(LANES)];
#pragma GCC unroll 16
    for (int i = 0; i < NAME(LANES); i++)
        v[i] = i < rows ? *(const NAME(Vec) *)(from + i * from_row) : (NAME(Vec)){ 0 };
    NAME(transpose_registers)(shuffles, v, to, to_row);
}

/* to[p * width + i] = from[i * from_row + p * from_col], i < rows; other i below width: zero.
 * Up to LANES elements behind the last may be written: a row's vectors go from right to left, and
 * rows down, so that what runs over the end of a row is written again. */
ATTR static inline __attribute__((always_inline)) void
NAME(pack)(T *to, int width, int rows, int64_t depth, const T *from, int64_t from_row,
           int64_t from_col)
{
    int64_t p = 0;
    if (from_col == 1 && BYTES > 16) {
        NAME(Shuffles) shuffles = NAME(transpose_shuffles)();
        for (; p + NAME(LANES) <= depth; p += NAME(LANES))
            for (int i = (width - 1) / NAME(LANES) * NAME(LANES); i >= 0; i -= NAME(LANES)) {
                const T *at = from + i * from_row + p;
                if (rows - i >= NAME(LANES))
                    NAME(transpose)(&shuffles, to + p * width + i, width, at, from_row, NAME(LANES));
                else
                    NAME(transpose)(&shuffles, to + p * width + i, width, at, from_row, rows - i);
            }
    } else if (from_row == 1 && rows == width) {
        for (; p < depth; p++)
            memcpy(to + p * width, from + p * from_col, sizeof(T) * (size_t)width);
    } else if (from_row == 1) {
        memset(to, 0, sizeof(T) * (size_t)(depth * width));
        for (; p < depth; p++)
            for (int i = 0; i < rows; i++)
                to[p * width + i] = from[p * from_col + i];
    }
    for (; p < depth; p++)
        for (int i = 0; i < width; i++)
            to[p * width + i] = i < rows ? from[i * from_row + p * from_col] : 0;
}

ATTR static void NAME(pack_b)(T *to, int cols, int64_t depth, const T *b, int64_t b_row,
                              int64_t b_col)
{
    NAME(pack)(to, NAME(COLS), cols, depth, b, b_col, b_row);
}

/* The same for several panels, `apart` elements from each to the next, of rows that lie side by
 * side: they are read whole, for that is what memory gives best. */
ATTR static void NAME(pack_rows)(T *to, int64_t apart, int64_t cols, int64_t depth, const T *b,
                                 int64_t b_row)
{
    int64_t whole = cols / NAME(COLS) * NAME(COLS);
    for (int64_t p = 0; p < depth; p++) {
        T *at = to + p * NAME(COLS);
        for (int64_t j = 0; j < whole; j += NAME(COLS), at += apart) {
            const NAME(Vec) *from = (const NAME(Vec) *)(b + p * b_row + j);
            ((NAME(Vec) *)at)[0] = from[0];
            ((NAME(Vec) *)at)[1] = from[1];
        }
    }
    if (whole < cols)
        NAME(pack_b)(to + whole / NAME(COLS) * apart, (int)(cols - whole), depth, b + whole, b_row,
                     1);
}

/* Tiles one after the other, KC deep each.  Whole tiles of an a that lies by columns are packed
 * side by side, so that columns are read in one go. */
ATTR static void NAME(pack_a)(T *to, int64_t rows, int64_t depth, const T *a, int64_t a_row,
                              int64_t a_col)
{
    int64_t i = 0, whole = a_row == 1 ? rows / ROWS * ROWS : 0;
    for (int64_t p = 0; p < depth; p++)
        for (i = 0; i < whole; i += ROWS)
            memcpy(to + i * KC + p * ROWS, a + p * a_col + i, sizeof(T) * ROWS);
    for (i = whole; i < rows; i += ROWS)
        NAME(pack)(to + i * KC, ROWS, (int)(rows - i < ROWS ? rows - i : ROWS), depth,
                   a + i * a_row, a_row, a_col);
}

#include "engine/numerics/gemm_gather.h"
#include "engine/numerics/gemm_vector.h"

/* ---- blocks ---- */

typedef struct NAME(Job) {
    const Frame *frame;
    int64_t m, n, k;
    const T *a;
    int64_t a_row, a_col;
    const T *b;
    int64_t b_row, b_col;
    T *c;
    int64_t c_row;
    const Gather *gather;  /* how b lies, or a; NULL: by the strides above */
    bool packs_a, packs_b;
    T *packed;             /* b's panels: each `depth` rows of COLS columns */
    int64_t jc, ncols;     /* the columns of b under way, */
    int64_t kc, depth;     /* and its rows, */
    int64_t step;          /* so many at a time */
    int64_t rows, cols;    /* of a slice */
    int64_t across;        /* slices side by side */
} NAME(Job);

/* The columns under way are packed in slices: some rows, if those are read whole, or a panel. */
static bool NAME(by_bands)(const NAME(Job) *g)
{
    return g->b_col == 1 && !(g->gather && g->gather->is_b);
}

static int64_t NAME(npack_slices)(const NAME(Job) *g)
{
    int64_t all = NAME(by_bands)(g) ? g->depth : g->ncols;
    int64_t each = NAME(by_bands)(g) ? BAND : NAME(COLS);
    return (all + each - 1) / each;
}

ATTR static void NAME(pack_slice)(void *user, int64_t slice)
{
    const NAME(Job) *g = user;
    const T *b = g->b + g->kc * g->b_row + g->jc * g->b_col;
    int64_t p = slice * BAND, j = slice * NAME(COLS);
    int cols = (int)NAME(least)(g->ncols - j, NAME(COLS));
    if (NAME(by_bands)(g))
        NAME(pack_rows)(g->packed + p * NAME(COLS), g->depth * NAME(COLS), g->ncols,
                        NAME(least)(g->depth - p, BAND), b + p * g->b_row, g->b_row);
    else if (g->gather && g->gather->is_b)
        NAME(gather_b)(g->packed + j * g->depth, g->gather, g->b, g->jc + j, cols, g->kc,
                       g->depth);
    else
        NAME(pack_b)(g->packed + j * g->depth, cols, g->depth, b + j * g->b_col, g->b_row,
                     g->b_col);
}

/* Rows ic .. last of a, KC deep from pc, times a panel at column j of those under way. */
ATTR static void NAME(panel)(const NAME(Job) *g, int64_t ic, int64_t last, int64_t j, int64_t pc,
                             const T *packed_a)
{
    int64_t depth = NAME(least)(g->kc + g->depth - pc, g->step);
    int cols = (int)NAME(least)(g->ncols - j, NAME(COLS));
    const T *b = g->b + pc * g->b_row + (g->jc + j) * g->b_col;
    T here[KC * NAME(COLS) + NAME(LANES)]; /* this panel, packed, unless all of them are */
    NAME(Vec) runs[2 * ROWS] __attribute__((aligned(BYTES)));
    NAME(Tile) t = { .depth = depth, .b_row = NAME(COLS), .c_row = g->c_row };
    t.adds = pc > 0;
    t.runs = runs;
    if (g->packs_b) {
        t.b = g->packed + j * g->depth + (pc - g->kc) * NAME(COLS);
    } else if (cols == NAME(COLS)) {
        t.b = b;
        t.b_row = g->b_row;
        t.keeps = last - ic > ROWS ? here : NULL;
    } else {
        NAME(pack_b)(here, cols, depth, b, g->b_row, g->b_col);
        t.b = here;
    }
    for (int64_t i = ic; i < last; i += ROWS) {
        t.rows = (int)NAME(least)(last - i, ROWS);
        bool is_packed = g->packs_a || t.rows < ROWS;
        t.a = is_packed ? packed_a + (i - ic) * KC : g->a + i * g->a_row + pc * g->a_col;
        t.a_row = g->a_row;
        t.a_col = g->a_col;
        t.c = g->c + i * g->c_row + g->jc + j;
        NAME(tile_at)(&t, is_packed, cols);
        if (t.keeps) {
            t.b = here;
            t.b_row = NAME(COLS);
            t.keeps = NULL;
        }
    }
}

/* Some rows and columns of c. */
ATTR static void NAME(slice)(void *user, int64_t number)
{
    const NAME(Job) *g = user;
    int64_t ic = number / g->across * g->rows, last = NAME(least)(g->m, ic + g->rows);
    int64_t jc = number % g->across * g->cols, end = NAME(least)(g->ncols, jc + g->cols);
    T *packed_a = scratch(g->frame, THREAD_MEMORY_LEFT, sizeof(T) * (size_t)(MC * KC + NAME(LANES)));
    if (!packed_a)
        return;
    for (int64_t pc = g->kc; pc < g->kc + g->depth; pc += g->step) {
        int64_t depth = NAME(least)(g->kc + g->depth - pc, g->step);
        int64_t rows = last - ic, packed = g->packs_a ? 0 : rows / ROWS * ROWS;
        if (g->gather && !g->gather->is_b)
            NAME(gather_a)(packed_a, g->gather, g->a, ic, rows, pc, depth);
        else
            NAME(pack_a)(packed_a + packed * KC, rows - packed, depth,
                         g->a + (ic + packed) * g->a_row + pc * g->a_col, g->a_row, g->a_col);
        for (int64_t j = jc; j < end; j += NAME(COLS))
            NAME(panel)(g, ic, last, j, pc, packed_a);
    }
}

/* Several for each worker, so that one that is late does not hold up the others; some tiles high
 * and some panels wide, so that what is packed is used more than once. */
static void NAME(choose_slices)(NAME(Job) *g, int workers)
{
    enum { PER_WORKER = 4, PANELS = 4, TILES = 4 };
    int64_t tiles = (g->m + ROWS - 1) / ROWS, wanted = workers > 1 ? PER_WORKER * workers : 1;
    int64_t high = workers > 1 ? tiles / wanted : MC / ROWS;
    high = high < TILES ? NAME(least)(tiles, TILES) : NAME(least)(high, MC / ROWS);
    g->rows = high * ROWS;
    int64_t down = (tiles + high - 1) / high, across = (wanted + down - 1) / down;
    int64_t panels = (g->ncols + NAME(COLS) - 1) / NAME(COLS);
    int64_t wide = (panels + across - 1) / across;
    g->cols = (wide < PANELS ? PANELS : wide) * NAME(COLS);
    g->across = (g->ncols + g->cols - 1) / g->cols;
    /* One row of slices packs b on the way, if its rows lie in memory as tiles read them. */
    g->packs_b = !NAME(by_bands)(g) || down > 1;
    g->packs_a = g->gather || g->cols > 4 * NAME(COLS) || (g->a_col != 1 && g->a_row != 1);
}

static size_t NAME(packed_bytes)(const NAME(Job) *g)
{
    int64_t panels = (g->ncols + NAME(COLS) - 1) / NAME(COLS);
    return sizeof(T) * (size_t)(panels * NAME(COLS) * g->depth + NAME(LANES));
}

/* If all devices multiply by this b and several tiles of each do, they pack it together: where it is
 * one block. */
ATTR static bool NAME(is_shared)(NAME(Job) *g, int64_t widest)
{
    if (!g->frame || g->m <= ROWS || g->k > DEEPEST || g->n > widest ||
        g->k * g->n < SHARED_BYTES / (int64_t)sizeof(T) || (g->gather && g->gather->is_b))
        return false;
    g->ncols = g->n;
    g->depth = g->k;
    PackingSource what = { g->b, g->k, g->n, g->b_row, g->b_col, sizeof(T) };
    SharedPacking *pack = shared_packing_get(g->frame, &what, NAME(packed_bytes)(g), NAME(npack_slices)(g));
    if (!pack)
        return false;
    g->b = what.at;
    g->packed = shared_packing_data(pack);
    shared_packing_fill(pack, NAME(pack_slice), g);
    return true;
}

ATTR static void NAME(blocks)(NAME(Job) *g)
{
    int workers = 1 + (g->frame && is_cut(g->m, g->n, g->k) ? slices_idle_workers(g->frame) : 0);
    const Frame *frame = workers > 1 ? g->frame : NULL;
    int64_t deepest = NAME(least)(g->k, DEEPEST);
    int64_t widest = PACKED_BYTES / (int64_t)sizeof(T) / deepest / NAME(COLS) * NAME(COLS);
    bool is_shared = NAME(is_shared)(g, widest);
    for (g->jc = 0; g->jc < g->n; g->jc += widest) {
        g->ncols = NAME(least)(g->n - g->jc, widest);
        NAME(choose_slices)(g, workers);
        g->packs_b = g->packs_b || is_shared;
        for (g->kc = 0; g->kc < g->k; g->kc += deepest) {
            g->depth = NAME(least)(g->k - g->kc, deepest);
            int64_t steps = (g->depth + KC - 1) / KC;
            g->step = (g->depth + steps - 1) / steps;
            if (g->packs_b && !is_shared) {
                g->packed = scratch(g->frame, THREAD_MEMORY_RIGHT, NAME(packed_bytes)(g));
                if (!g->packed)
                    return;
                slices(frame, NAME(npack_slices)(g), NAME(pack_slice), g);
            }
            slices(frame, (g->m + g->rows - 1) / g->rows * g->across, NAME(slice), g);
        }
    }
}

ATTR static void NAME(gemm)(const Frame *frame, int64_t m, int64_t n, int64_t k, const T *a,
                            int64_t a_row, int64_t a_col, const T *b, int64_t b_row, int64_t b_col,
                            T *c, int64_t c_row)
{
    if (k == 0) {
        for (int64_t i = 0; i < m; i++)
            memset(c + i * c_row, 0, sizeof(T) * (size_t)n);
    } else if (n == 1) {
        NAME(by_vector)(frame, m, k, a, a_row, a_col, b, b_row, c, c_row);
    } else if (m == 1) {
        NAME(by_vector)(frame, n, k, b, b_col, b_row, a, a_col, c, 1);
    } else if (m && n) {
        NAME(Job) g = { .frame = frame, .m = m, .n = n, .k = k, .a = a, .a_row = a_row,
                        .a_col = a_col, .b = b, .b_row = b_row, .b_col = b_col, .c = c,
                        .c_row = c_row };
        NAME(blocks)(&g);
    }
}

ATTR static void NAME(gather)(const Frame *frame, const Gather *gather, const T *seen,
                              const T *other, T *c)
{
    NAME(Job) g = { .frame = frame, .m = gather->m, .n = gather->n, .k = gather->k, .a = seen,
                    .b = other, .b_row = gather->depth_step, .b_col = gather->line_step, .c = c,
                    .c_row = gather->c_row, .gather = gather };
    if (gather->is_b) {
        g.a = other;
        g.a_row = gather->line_step;
        g.a_col = gather->depth_step;
        g.b = seen;
    }
    NAME(blocks)(&g);
}

#undef ROW
#undef FEW
#undef EACH_ROW
#undef T
#undef I
#undef BYTES
#undef ROWS
#undef ATTR
#undef NAME
