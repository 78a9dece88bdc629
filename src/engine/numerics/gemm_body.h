/* gemm_body.h - the matrix product for one kind and one instruction set.
 *
 * Included by gemm_kinds.h and gemm_avx512_dots.c, many times, with the kind (in brackets what holds if
 * it does not say):
 *
 *   S         an element of a and b in memory; of complex numbers, a part
 *   P, DEEP   a unit as tiles read it [S], and how many elements along the depth it holds [1]: a number,
 *             or a pair or four of narrow ones for instructions that add up their products
 *   T, I      an element of c, in which products are added [P]; an integer as wide.  P is as wide too.
 *   SPLIT     2: complex; both parts are columns of c, and units of depth, of their own [1]
 *   IS_PLAIN  S, P and T are the same: tiles may read the operands where they lie [0]
 *   IS_ROUNDED  sums are rounded, so their order counts [1]
 *   MULTIPLY(acc, x, b)  acc + x b, of vectors acc and b and a unit x
 *   OFFSET_A  what is added to every unit of a, to be taken off again (take_offset) [0]
 *   MULTIPLE  the depth is filled up with zeros to whole so many units [SPLIT]
 *   IS_TILED  tiles are AMX's, of two registers by two (gemm_amx.h) [0]
 *   ROUNDS    c may be of bf16 (gemm_rounded.h) [0]
 *   KIND      its GemmKind
 *
 * and BYTES of a vector, ROWS of a tile (12 or 6; 32 of AMX), ATTR the target attribute, NAME(x) for its names.
 * gemm_pack.h names some more.  A tile is ROWS x (1 or 2 vectors) of c, held in registers:
 *
 *            b  [2 vectors]          for p: row p of b is loaded once, every a[i][p] is spread
 *   a [ROWS] c  [2 vectors]                 over a vector, and ROWS x 2 products are added
 *
 * Operands are first packed, so that tiles read units in order:
 *
 *   (by AVX-512, floats of many rows and columns: see gemm_wide.h; else)
 *   for columns jc { for depth kc { pack b, in slices, unless each thread does so for itself
 *       slices, each some rows and columns of c (gemm_slice.h):
 *           for depth pc, KC at most { pack a; for panels of b { for tiles of c { tile } } } } }
 *
 * What an element of c goes through, sums of RUN products, sums of those to KC, and these added in
 * order, does not depend on the slices: so neither does the result. */
/* clang-format takes NAME(x) for a function in one place and for a product in another. */
/* clang-format off */
#ifndef P
#define P S
#endif
#ifndef Q
#define Q P
#endif
#ifndef T
#define T P
#endif
#ifndef DEEP
#define DEEP 1
#endif
#ifndef SPLIT
#define SPLIT 1
#endif
#ifndef IS_PLAIN
#define IS_PLAIN 0
#endif
#ifndef IS_ROUNDED
#define IS_ROUNDED 1
#endif
#ifndef OFFSET_A
#define OFFSET_A 0
#endif
#ifndef MULTIPLE
#define MULTIPLE SPLIT
#endif
#ifndef IS_TILED
#define IS_TILED 0
#endif
#ifndef ROUNDS
#define ROUNDS 0
#endif
#define IS_WIDE ((IS_PLAIN || (DEEP == 2 && !IS_TILED)) && IS_ROUNDED && SPLIT == 1 && BYTES == 64)
#ifndef MULTIPLY
#define MULTIPLY(acc, x, b) ((acc) + (x) * (b))
#endif
#ifndef TO_Q
#define TO_Q(x) (x)
#endif
#ifndef TO_QS
#define TO_QS(v) (v)
#endif

typedef T NAME(Vec) __attribute__((vector_size(BYTES), aligned(sizeof(T)), may_alias));
typedef P NAME(Unit) __attribute__((aligned(sizeof(S)), may_alias));
typedef P NAME(Units) __attribute__((vector_size(BYTES), aligned(sizeof(S)), may_alias));
typedef I NAME(Mask) __attribute__((vector_size(BYTES)));
enum { NAME(LANES) = BYTES / (int)sizeof(T), NAME(COLS) = 2 * NAME(LANES) };
enum { NAME(RUN) = IS_ROUNDED && sizeof(T) == 4 ? 32 : KC, NAME(LINE) = 64 / (int)sizeof(P) };
enum { NAME(STAGES) = NAME(LANES) == 16 ? 4 : NAME(LANES) == 8 ? 3 : NAME(LANES) == 4 ? 2 : 1 };

static int64_t NAME(least)(int64_t x, int64_t y)
{
    return x < y ? x : y;
}

/* Past the caches; `to` is a multiple of a vector. */
ATTR static inline __attribute__((always_inline)) void NAME(stream_vector)(T *to, NAME(Vec) v)
{
#if BYTES == 64
    _mm512_stream_si512((__m512i *)to, (__m512i)v);
#elif BYTES == 32
    _mm256_stream_si256((__m256i *)to, (__m256i)v);
#elif defined __x86_64__
    _mm_stream_si128((__m128i *)to, (__m128i)v);
#else
    *(NAME(Vec) *)to = v;
#endif
}

#if ROUNDS
#include "engine/numerics/gemm_rounded.h"
#endif
#if !IS_TILED
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
/* An element of row r of an a that is not packed.  Rows lie three by three behind a0, a3, a6 and a9, at the
 * same offsets o0, o1 and o2 behind each: so few registers are enough for all. */
#define OF_ROW(r)                                                                                  \
    (r < 3 ? a0 : r < 6 ? a3 : r < 9 ? a6 : a9)[r % 3 == 0 ? o0 : r % 3 == 1 ? o1 : o2]

typedef struct NAME(Tile) {
    int64_t depth;
    const P *a; /* a[i * a_row + p * a_col] */
    int64_t a_row, a_col;
    const P *b; /* b[p * b_row + j] */
    int64_t b_row;
    T *c;
    int64_t c_row;
    int rows;  /* of c to write; a has as many as the tile, if it is packed */
    bool adds; /* to what c holds */
    bool subtracts; /* from what c holds; then adds is set too */
    bool streams;   /* past the caches; then neither is set */
    bool rounds;    /* c is of bf16; then neither is set */
    P *keeps;  /* where b is packed on the way, for the tiles after this one; or NULL */
    NAME(Vec) * runs; /* room for the tile */
    const P *ahead;   /* what is read after this panel, */
    int64_t nahead;   /* lines of it to ask for with each run of products */
    int64_t run, nruns; /* products that are added in a row, and how often */
#if IS_PLAIN && SPLIT == 1
    Places walk; /* over the depth of an a whose depth is several dimensions, from t->a on */
#endif
    NAME(Vec) begin[2]; /* a row of c before anything is added */
} NAME(Tile);

/* is_packed: a's rows lie side by side, so that their addresses are constants.  Else row r is
 * found from every third row and one of three offsets, which keeps all addresses in registers;
 * walks: the offsets begin anew with each row of the depth's last dimension.
 * The more a sum holds, the more each rounding of it costs: so RUN products are added in registers
 * (twice as many where there are more than four runs), and the sums of such runs in memory. */
ATTR static inline __attribute__((always_inline)) void NAME(tile)(const NAME(Tile) *t, int nrows,
                                                                  int nvec, bool is_packed,
                                                                  bool keeps_b, bool walks)
{
    P *keep = t->keeps;
    const P *ahead = t->ahead;
    NAME(Vec) acc[ROWS][2], *runs = t->runs;
    const P *a = t->a, *b = t->b;
    const P *a0 = a, *a3 = a + 3 * t->a_row, *a6 = a + 6 * t->a_row, *a9 = a + 9 * t->a_row;
    int64_t o0 = 0, o1 = t->a_row, o2 = 2 * t->a_row, col = t->a_col;
#if IS_PLAIN && SPLIT == 1
    Places walk = t->walk;
#endif
    if (!t->streams && !t->rounds) {
        EACH_ROW(__builtin_prefetch(t->c + r * t->c_row, 1);
                 if (nvec == 2) __builtin_prefetch(t->c + r * t->c_row + NAME(LANES), 1);)
    }
    int64_t run = t->run;
    for (int64_t p = 0;;) {
        bool is_first = p == 0;
        int64_t end = NAME(least)(p + run, t->depth);
        for (int64_t i = 0; i < t->nahead; i++, ahead += NAME(LINE))
            __builtin_prefetch(ahead, 0, 2);
        EACH_ROW(acc[r][0] = acc[r][1] = (NAME(Vec)){ 0 };)
        if (OFFSET_A && is_first) {
            EACH_ROW(acc[r][0] = t->begin[0]; acc[r][1] = t->begin[1];)
        }
        for (int64_t begin = p, stop = end; p < end; begin = p, stop = end) {
#if IS_PLAIN && SPLIT == 1
        if (walks) {
            const int64_t *last = walk.dims[walk.n - 1];
            stop = NAME(least)(end, p + last[0] - walk.at[walk.n - 1]);
            o0 = walk.offset;
            o1 = o0 + t->a_row;
            o2 = o1 + t->a_row;
        }
#endif
        for (; p < stop; p++, b += t->b_row) {
            NAME(Units) b0 = *(const NAME(Units) *)b, b1 = b0;
            if (nvec == 2)
                b1 = *(const NAME(Units) *)(b + NAME(LANES));
            /* where tiles read b as it lies the panel beside comes from memory meanwhile: the processor's own
             * prefetching does not follow steps as long as rows */
            if (keeps_b || nrows < ROWS) {
                __builtin_prefetch(b + NAME(COLS), 0, 2);
                __builtin_prefetch(b + NAME(COLS) + NAME(LINE), 0, 2);
            }
            if (keeps_b) {
                *(NAME(Units) *)keep = b0;
                *(NAME(Units) *)(keep + NAME(LANES)) = b1;
                keep += NAME(COLS);
            }
            EACH_ROW(P x = is_packed ? a[r]
                                     : OF_ROW(r);
                     acc[r][0] = MULTIPLY(acc[r][0], x, b0);
                     if (nvec == 2) acc[r][1] = MULTIPLY(acc[r][1], x, b1);)
            a += ROWS;
            o0 += col;
            o1 += col;
            o2 += col;
        }
#if IS_PLAIN && SPLIT == 1
        if (walks)
            places_skip(&walk, p - begin);
#else
        (void)begin, (void)walks;
#endif
        }
        if (!is_first) {
            EACH_ROW(acc[r][0] += runs[2 * r]; if (nvec == 2) acc[r][1] += runs[2 * r + 1];)
        }
        if (p == t->depth)
            break;
        EACH_ROW(runs[2 * r] = acc[r][0]; if (nvec == 2) runs[2 * r + 1] = acc[r][1];)
    }
    if (t->subtracts) {
        EACH_ROW(acc[r][0] = -acc[r][0]; if (nvec == 2) acc[r][1] = -acc[r][1];)
    }
#if ROUNDS
    if (t->rounds) {
        EACH_ROW(if (r < t->rows) {
            uint16_t *to = (uint16_t *)(void *)t->c + r * t->c_row;
            *(NAME(Halves) *)to = NAME(round_sums)(acc[r][0]);
            if (nvec == 2)
                *(NAME(Halves) *)(to + NAME(LANES)) = NAME(round_sums)(acc[r][1]);
        })
        return;
    }
#endif
    if (t->streams) {
        EACH_ROW(if (r < t->rows) {
            NAME(stream_vector)(t->c + r * t->c_row, acc[r][0]);
            if (nvec == 2)
                NAME(stream_vector)(t->c + r * t->c_row + NAME(LANES), acc[r][1]);
        })
        return;
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

#define TILE(name, nrows, nvec, is_packed, keeps_b, walks)                                         \
    ATTR static void NAME(name)(const NAME(Tile) *t)                                               \
    {                                                                                              \
        NAME(tile)(t, nrows, nvec, is_packed, keeps_b, walks);                                     \
    }
TILE(packed_3_2, ROWS, 2, true, false, false)
TILE(packed_3_1, ROWS, 1, true, false, false)
TILE(packed_2_2, ROWS * 2 / 3, 2, true, false, false)
TILE(packed_2_1, ROWS * 2 / 3, 1, true, false, false)
TILE(packed_1_2, ROWS / 3, 2, true, false, false)
TILE(packed_1_1, ROWS / 3, 1, true, false, false)
#if IS_PLAIN
TILE(strided_3_2, ROWS, 2, false, false, false)
TILE(strided_3_1, ROWS, 1, false, false, false)
TILE(packed_keeping, ROWS, 2, true, true, false)
TILE(strided_keeping, ROWS, 2, false, true, false)
#if SPLIT == 1
TILE(walked_3_2, ROWS, 2, false, false, true)
TILE(walked_3_1, ROWS, 1, false, false, true)
#endif
#endif
#undef TILE

typedef void NAME(TileFn)(const NAME(Tile) *t);

/* The lanes of a vector that have their bit set; the others are 0, or stay as they are. */
#if BYTES == 64
ATTR static inline __attribute__((always_inline)) NAME(Vec) NAME(load_part)(const T *from, uint32_t bits)
{
    return sizeof(T) == 4 ? (NAME(Vec))_mm512_maskz_loadu_epi32((__mmask16)bits, from)
                          : (NAME(Vec))_mm512_maskz_loadu_epi64((__mmask8)bits, from);
}

ATTR static inline __attribute__((always_inline)) void NAME(store_part)(T *to, uint32_t bits, NAME(Vec) v)
{
    if (sizeof(T) == 4)
        _mm512_mask_storeu_epi32(to, (__mmask16)bits, (__m512i)v);
    else
        _mm512_mask_storeu_epi64(to, (__mmask8)bits, (__m512i)v);
}
#elif IS_PLAIN
/* All lanes: see is_small. */
ATTR static inline __attribute__((always_inline)) NAME(Vec) NAME(load_part)(const T *from, uint32_t bits)
{
    (void)bits;
    return *(const NAME(Vec) *)from;
}

ATTR static inline __attribute__((always_inline)) void NAME(store_part)(T *to, uint32_t bits, NAME(Vec) v)
{
    (void)bits;
    *(NAME(Vec) *)to = v;
}
#endif

/* Some columns of a row of c, of what a tile has made of them. */
ATTR static inline __attribute__((always_inline)) void NAME(put_part)(const NAME(Tile) *t, T *c, const T *from,
                                                                      int cols)
{
#if BYTES == 64
    for (int j = 0; j < cols; j += NAME(LANES)) {
        uint32_t bits = cols - j < NAME(LANES) ? (1u << (cols - j)) - 1 : (uint32_t)-1;
        NAME(Vec) x = *(const NAME(Vec) *)(from + j);
        if (t->adds) {
            NAME(Vec) old = NAME(load_part)(c + j, bits);
            x = t->subtracts ? old - x : x + old;
        }
        NAME(store_part)(c + j, bits, x);
    }
#else
    for (int j = 0; j < cols; j++)
        c[j] = t->subtracts ? c[j] - from[j] : from[j] + (t->adds ? c[j] : 0);
#endif
}

/* By way of a copy of c, for columns that do not fill vectors. */
ATTR static void NAME(tile_apart)(const NAME(Tile) *t, NAME(TileFn) *go, int cols)
{
    T apart[ROWS * NAME(COLS)];
    NAME(Tile) inner = *t;
    inner.c = apart;
    inner.c_row = NAME(COLS);
    inner.adds = inner.subtracts = inner.streams = inner.rounds = false;
    go(&inner);
#if ROUNDS
    for (int i = 0; i < t->rows && t->rounds; i++)
        NAME(put_rounded)((uint16_t *)(void *)t->c + i * t->c_row, apart + i * NAME(COLS), cols);
#endif
    for (int i = 0; i < t->rows && !t->rounds; i++)
        NAME(put_part)(t, t->c + i * t->c_row, apart + i * NAME(COLS), cols);
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
    NAME(TileFn) *go = packed[2 * height + is_wide];
#if IS_PLAIN
    if (!is_packed)
        go = is_wide ? NAME(strided_3_2) : NAME(strided_3_1);
#if SPLIT == 1
    if (!is_packed && t->walk.n)
        go = is_wide ? NAME(walked_3_2) : NAME(walked_3_1);
#endif
    if (t->keeps) /* a full tile */
        go = is_packed ? NAME(packed_keeping) : NAME(strided_keeping);
#else
    (void)is_packed; /* all are */
#endif
    if (cols == NAME(COLS) || cols == NAME(LANES))
        go(t);
    else
        NAME(tile_apart)(t, go, cols);
}
#endif

#include "engine/numerics/gemm_pack.h"
#if SPLIT == 1
#include "engine/numerics/gemm_gather.h"
#endif
#if IS_PLAIN
#include "engine/numerics/gemm_small.h"
#endif

/* ---- blocks ---- */

typedef struct NAME(Job) {
    const Frame *frame;
    int64_t m, n, k;       /* rows and columns of c, units of depth */
    int64_t terms;         /* elements of depth */
    const S *a;
    int64_t a_row, a_col;
    const S *b;
    int64_t b_row, b_col;
    T *c;
    int64_t c_row;
    const Gather *gather;  /* how b lies, or a; NULL: by the strides above */
    bool subtracts;        /* from what c holds */
    bool rounds;           /* c is of bf16 */
    bool is_slice;         /* of other work: there is no help */
    bool packs_a, packs_b; /* packs_a: all of it; else tiles that can are read where they lie */
    bool packs_own;        /* each thread packs what its slices read of b itself */
    uint64_t number;       /* by which it knows what it has packed of this product (Kept) */
    bool streams;          /* b is packed by several threads, for each other */
    bool streams_c;        /* c is larger than what caches keep of it */
    P *packed;             /* b's panels: each `depth` rows of COLS columns; unless packs_own */
    int64_t jc, ncols;     /* the columns of b under way, */
    int64_t kc, depth;     /* and its rows, in units, */
    int64_t step, steps;   /* so many at a time, so often */
    int64_t down, across;  /* slices one below the other, and side by side */
    bool by_columns;       /* those one below the other follow each other, else those side by side */
} NAME(Job);

#if IS_PLAIN
#include "engine/numerics/gemm_vector.h"
#endif

/* The elements in `depth` units from p on: the last unit need not be full. */
static int64_t NAME(elements)(const NAME(Job) *g, int64_t p, int64_t depth)
{
    return NAME(least)(g->terms - p * DEEP, depth * DEEP);
}

/* Columns from j on, `depth` units from p on. */
static NAME(Lines) NAME(lines_of_b)(const NAME(Job) *g, int64_t j, int64_t n, int64_t p, int64_t depth)
{
    return (NAME(Lines)){ g->b + p * DEEP * g->b_row + j * g->b_col, g->b_col, g->b_row, n,
                          NAME(elements)(g, p, depth) };
}

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

/* `depth` units from p on of a panel, whose first column is j. */
ATTR static void NAME(pack_part)(const NAME(Job) *g, P *to, int64_t j, int64_t p, int64_t depth)
{
    int cols = (int)NAME(least)(g->ncols - j, NAME(COLS));
#if SPLIT == 1
    if (g->gather && g->gather->is_b)
        NAME(gather_b)(to, g->gather, g->b, g->jc + j, cols, (g->kc + p) * DEEP,
                       NAME(elements)(g, g->kc + p, depth));
    else
#endif
        NAME(pack_b)(to, NAME(lines_of_b)(g, g->jc + j, cols, g->kc + p, depth));
}

/* Rows first .. last of the panels from column j to `end`, into panels at `to`. */
ATTR static void NAME(pack_panels)(const NAME(Job) *g, P *to, int64_t apart, int64_t j, int64_t end,
                                   int64_t first, int64_t last)
{
    P part[BAND * NAME(COLS) + NAME(LANES)] __attribute__((aligned(BYTES)));
    for (int64_t p = first; p < last; p += BAND)
        for (int64_t at = j; at < end; at += NAME(COLS)) {
            int64_t depth = NAME(least)(last - p, BAND);
            P *panel = to + (at - j) * apart + (p - first) * NAME(COLS);
            NAME(pack_part)(g, g->streams ? part : panel, at, p, depth);
            if (g->streams)
                stream(panel, part, sizeof(P) * (size_t)(depth * NAME(COLS)));
        }
    if (g->streams)
        stream_end();
}

/* Some rows of all panels, or a whole one.  Panels that other cores still hold in their second caches, from
 * the product before, are written past this one's: a line of those took as long as forty of one's own. */
ATTR static void NAME(pack_slice)(void *user, int64_t slice)
{
    const NAME(Job) *g = user;
    int64_t j = slice * NAME(COLS), p = slice * BAND;
    if (NAME(by_bands)(g))
        NAME(pack_panels)(g, g->packed + p * NAME(COLS), g->depth, 0, g->ncols, p,
                          NAME(least)(p + BAND, g->depth));
    else
        NAME(pack_panels)(g, g->packed + j * g->depth, g->depth, j, j + 1, 0, g->depth);
}

#if OFFSET_A
/* a was packed with an offset: what that adds to each column is taken off before. */
ATTR static void NAME(take_offset)(NAME(Tile) *t)
{
    NAME(Vec) sums[2] = { { 0 }, { 0 } };
    for (int64_t p = 0; p < t->depth; p++)
        for (int i = 0; i < 2; i++) {
            NAME(Units) b = *(const NAME(Units) *)(t->b + p * t->b_row + i * NAME(LANES));
            sums[i] = MULTIPLY(sums[i], OFFSET_A, b);
        }
    t->begin[0] = -sums[0];
    t->begin[1] = -sums[1];
}
#endif

/* Panels of b that are packed: that of column `j` and depth `p` lies at `at`, the next column's `apart`
 * units behind for each column.  at is NULL: none are. */
typedef struct NAME(Panels) {
    P *at;
    int64_t j, p, apart;
} NAME(Panels);

#if !IS_TILED
/* Where a tile reads its panel of b, at column j of those under way and from depth pc on. */
ATTR static void NAME(set_panel)(const NAME(Job) *g, NAME(Tile) *t, NAME(Panels) from, int64_t j, int64_t pc,
                                 bool is_kept, P *here)
{
    t->b_row = NAME(COLS);
    if (from.at) {
        t->b = from.at + (j - from.j) * from.apart + (pc - from.p) * NAME(COLS);
        return;
    }
#if IS_PLAIN
    int64_t cols = NAME(least)(g->ncols - j, NAME(COLS));
    NAME(Lines) b = NAME(lines_of_b)(g, g->jc + j, cols, pc, t->depth);
    if (cols == NAME(COLS)) {
        t->b = b.at;
        t->b_row = g->b_row;
        t->keeps = is_kept ? here : NULL;
    } else {
        NAME(pack_b)(here, b);
        t->b = here;
    }
#else
    (void)g, (void)is_kept, (void)here;
#endif
}
#endif

/* Where the tiles of a slice lie in a, if they are not packed: the first row of each, and the step to the next. */
typedef struct NAME(Direct) {
    const S *first[MC / ROWS]; /* NULL: packed */
    int64_t row[MC / ROWS];
} NAME(Direct);

/* Of a plain a. */
static NAME(Direct) NAME(direct_rows)(const NAME(Job) *g, int64_t ic, int64_t rows, int64_t pc)
{
    NAME(Direct) d = { 0 };
    for (int64_t i = 0; i + ROWS <= rows && !g->packs_a; i += ROWS) {
        d.first[i / ROWS] = g->a + (ic + i) * g->a_row + pc * DEEP * g->a_col;
        d.row[i / ROWS] = g->a_row;
    }
    return d;
}

#if SPLIT == 1
/* Of an a whose rows are several dimensions: those whose rows lie at equal steps; the others are packed. */
ATTR static NAME(Direct) NAME(gather_rows)(P *packed, const NAME(Job) *g, int64_t ic, int64_t rows, int64_t pc,
                                           int64_t terms)
{
    NAME(Direct) d = { 0 };
    for (int64_t i = 0; i < rows; i += ROWS) {
        int n = (int)NAME(least)(rows - i, ROWS);
        bool is_direct = !g->packs_a && n == ROWS;
        NAME(Bases) bases = NAME(find_bases)(g->gather, ic + i, n);
        int64_t step = bases.base[1] - bases.base[0];
        for (int r = 1; r < n && is_direct; r++)
            is_direct = bases.base[r] - bases.base[r - 1] == step;
        if (is_direct) {
            d.first[i / ROWS] = g->a + bases.base[0];
            d.row[i / ROWS] = step;
        } else
            NAME(gather_a)(packed + i * KC, g->gather, g->a, ic + i, n, pc * DEEP, terms);
    }
    return d;
}
#endif

/* Where row i and column j of c lie. */
static T *NAME(place_in_c)(const NAME(Job) *g, int64_t i, int64_t j)
{
    int64_t at = i * g->c_row + j;
    return ROUNDS && g->rounds ? (T *)(void *)((uint16_t *)(void *)g->c + at) : g->c + at;
}

/* Some rows and columns of c, and the depth under way. */
typedef struct NAME(Part) {
    int64_t ic, last, jc, end, pc;
    const P *a;             /* packed, or */
    NAME(Direct) direct;
    NAME(Panels) b;
} NAME(Part);

#if IS_TILED
#include "engine/numerics/gemm_amx.h"
#else
/* The next panel comes from the third cache, or from memory, while the tiles of this one are computed. */
static void NAME(look_ahead)(NAME(Tile) *t, NAME(Panels) from, int64_t rows)
{
    int64_t runs = t->nruns * ((rows + ROWS - 1) / ROWS), lines = t->depth * NAME(COLS) / NAME(LINE);
    t->ahead = t->b + from.apart * NAME(COLS);
    t->nahead = (lines + runs - 1) / runs;
}

/* Rows of a, KC deep, times the panel at column j of those under way. */
ATTR static void NAME(panel)(const NAME(Job) *g, const NAME(Part) *part, int64_t j)
{
    int64_t ic = part->ic, last = part->last, pc = part->pc;
    int cols = (int)NAME(least)(g->ncols - j, NAME(COLS));
    P here[IS_PLAIN ? KC * NAME(COLS) + NAME(LANES) : 1]; /* this panel, packed, unless all of them are */
    NAME(Vec) runs[2 * ROWS] __attribute__((aligned(BYTES)));
    NAME(Tile) t = { .depth = NAME(least)(g->kc + g->depth - pc, g->step), .c_row = g->c_row };
    t.adds = pc > 0 || g->subtracts;
    t.subtracts = g->subtracts;
    t.streams = g->streams_c;
    t.rounds = g->rounds;
    t.runs = runs;
    t.run = t.depth > 4 * NAME(RUN) ? 2 * NAME(RUN) : NAME(RUN);
    t.nruns = (t.depth + t.run - 1) / t.run;
#if IS_PLAIN && SPLIT == 1
    if (g->gather && !g->gather->is_b)
        t.walk = places_at(g->gather->ndepth, g->gather->dims + g->gather->nlines, pc);
#endif
    /* keeping it is what a full tile does that reads b where it lies, though no other may come */
    NAME(set_panel)(g, &t, part->b, j, pc, last - ic > 2 * ROWS / 3, here);
    if (part->b.at && j + NAME(COLS) < part->end)
        NAME(look_ahead)(&t, part->b, last - ic);
#if OFFSET_A
    NAME(take_offset)(&t);
#endif
    for (int64_t i = ic; i < last; i += ROWS) {
        t.rows = (int)NAME(least)(last - i, ROWS);
        bool is_packed = !part->direct.first[(i - ic) / ROWS];
        t.a = part->a + (i - ic) * KC;
#if IS_PLAIN
        if (!is_packed)
            t.a = part->direct.first[(i - ic) / ROWS];
#endif
        t.a_row = part->direct.row[(i - ic) / ROWS];
        t.a_col = g->a_col;
        t.c = NAME(place_in_c)(g, i, g->jc + j);
        NAME(tile_at)(&t, is_packed, cols);
        t.ahead += t.nahead * NAME(LINE) * t.nruns;
        if (t.keeps) {
            t.b = here;
            t.b_row = NAME(COLS);
            t.keeps = NULL;
        }
    }
}
#endif

#include "engine/numerics/gemm_slice.h"

/* Is c written once, in whole vectors, and not in the caches anyway? */
static bool NAME(may_stream)(const NAME(Job) *g)
{
    int64_t bytes = g->m * g->n * (int64_t)sizeof(T), least = STREAMED_RESULT / (g->k < STREAMED_DEPTH ? 1 : 4);
    return bytes >= least && g->k <= KC && !g->subtracts && !g->rounds && (uintptr_t)g->c % BYTES == 0 &&
           g->c_row * (int64_t)sizeof(T) % BYTES == 0;
}

/* Can tiles read a gathered a where it lies?  If rows of the depth's last dimension are long enough. */
static bool NAME(may_walk)(const NAME(Job) *g)
{
    enum { SHORTEST = 16 };
    const Gather *w = g->gather;
    return !w->is_b && w->nlines && w->ndepth && w->dims[w->nlines + w->ndepth - 1][0] >= SHORTEST;
}

#if IS_WIDE
#include "engine/numerics/gemm_wide.h"
#endif

/* Rows so far apart that lines of all of them want the same places of the first cache. */
static bool NAME(rows_collide)(int64_t step)
{
    enum { WAY = 4096 };
    return step && step * (int64_t)sizeof(S) % WAY == 0;
}

/* Is writing c what takes longest, and do its rows collide?  Then tiles side by side go first: one below the other
 * they would each find the lines of the one above in their places.  Rounded rows, which do not go past the caches, are
 * written faster so by processors with AMX in any case, if there are enough for all workers. */
static bool NAME(writes_by_rows)(const NAME(Job) *g)
{
    enum { FEW_UNITS = 16, MANY_ROWS = 16 * ROWS };
    int64_t step = g->rounds ? g->c_row : g->c_row * (int64_t)(sizeof(T) / sizeof(S));
    return g->k <= FEW_UNITS && ((IS_TILED && g->rounds && g->m >= MANY_ROWS) || NAME(rows_collide)(step));
}

/* How many parts `n` tiles or panels make, `each` at least, if `wanted` are: as many for each worker. */
static int64_t NAME(parts_of)(int64_t n, int64_t each, int64_t wanted, int workers)
{
    int64_t parts = NAME(least)(wanted, n / each);
    parts = parts > workers ? (parts + workers - 1) / workers * workers : parts;
    return parts < 1 ? 1 : parts;
}

/* Several for each worker, so that one that is late does not hold up the others, and as many for each; some
 * tiles high and some panels wide, so that what is packed is used more than once.  A worker has neighbours,
 * by rows or by columns, whichever leaves less that several workers read. */
static void NAME(choose_slices)(NAME(Job) *g, int workers)
{
    enum { PER_WORKER = 6, PANELS = 2, TILES = 4, MOST = MC / ROWS, OWN = 64 };
    int64_t tiles = (g->m + ROWS - 1) / ROWS, panels = (g->ncols + NAME(COLS) - 1) / NAME(COLS);
    int64_t wanted = workers > 1 ? PER_WORKER * workers : 1, fewest = (tiles + MOST - 1) / MOST;
    g->by_columns = workers > 1 && g->ncols > g->m && !NAME(writes_by_rows)(g);
    if (NAME(writes_by_rows)(g)) {
        g->down = tiles;
        g->across = 1;
    } else if (g->by_columns) {
        g->across = NAME(parts_of)(panels, PANELS, wanted, workers);
        g->down = NAME(parts_of)(tiles, TILES, (wanted + g->across - 1) / g->across, 1);
        g->down = g->down < fewest ? fewest : g->down;
    } else {
        g->down = NAME(parts_of)(tiles, TILES, wanted < fewest ? fewest : wanted, workers);
        g->down = g->down < fewest ? fewest : g->down;
        g->across = NAME(parts_of)(panels, PANELS, (wanted + g->down - 1) / g->down, 1);
    }
    /* One row of slices packs b on the way, if its rows lie in memory as tiles read them; units that are made
     * of several rows, in passing.  Else each worker packs what it reads itself, though another does too: what
     * another has packed is far away.  Unless a worker has so few rows or columns that packing counts. */
    bool is_passing = NAME(by_bands)(g) && g->down == 1 && !g->gather;
    bool is_large = workers > 1 && g->across <= KEPT && (g->m > g->ncols ? g->m : g->ncols) >= OWN * workers;
    g->packs_own = is_passing ? DEEP > 1 : is_large;
    g->packs_b = !g->packs_own && (!is_passing || (!IS_PLAIN && DEEP == 1));
    bool is_apart = g->gather ? !NAME(may_walk)(g) : g->a_col != 1 && g->a_row != 1;
    /* whoever reads more rows side by side than there are places fetches every line again and again */
    bool collides = !g->gather && NAME(rows_collide)(g->a_row) && gemm_cache_ways() < ROWS;
    int64_t cols = (panels + g->across - 1) / g->across * NAME(COLS);
    g->packs_a = !IS_PLAIN || cols > 4 * NAME(COLS) || is_apart || collides;
    if (IS_TILED) /* registers take rows as they lie, whole lines of memory at a time */
        g->packs_a = g->a_col != 1 || (g->gather && !g->gather->is_b);
}

static size_t NAME(packed_bytes)(const NAME(Job) *g)
{
    int64_t panels = (g->ncols + NAME(COLS) - 1) / NAME(COLS);
    return sizeof(P) * (size_t)(panels * NAME(COLS) * g->depth + NAME(LANES));
}

/* If all devices multiply by this b and several tiles of each do, they pack it together: where it is
 * one block. */
ATTR static bool NAME(is_shared)(NAME(Job) *g, int64_t widest)
{
    if (!g->frame || g->is_slice || g->m <= ROWS || g->k > DEEPEST || g->n > widest ||
        g->k * g->n < SHARED_BYTES / (int64_t)sizeof(P) || (g->gather && g->gather->is_b))
        return false;
    g->ncols = g->n;
    g->depth = g->k;
    PackingSource what = { g->b, g->k, g->n, g->b_row, g->b_col, KIND };
    SharedPacking *pack = shared_packing_get(g->frame, &what, NAME(packed_bytes)(g), NAME(npack_slices)(g));
    if (!pack)
        return false;
    g->b = what.at;
    g->packed = shared_packing_data(pack);
    shared_packing_fill(pack, NAME(pack_slice), g);
    return true;
}

/* The rows of b under way: `deepest` of them from kc on. */
static void NAME(set_depth)(NAME(Job) *g, int64_t kc, int64_t deepest)
{
    g->kc = kc;
    g->depth = NAME(least)(g->k - kc, deepest);
    g->steps = (g->depth + KC - 1) / KC;
    g->step = ((g->depth + g->steps - 1) / g->steps + MULTIPLE - 1) / MULTIPLE * MULTIPLE;
    g->steps = (g->depth + g->step - 1) / g->step;
}

ATTR static void NAME(blocks)(NAME(Job) *g)
{
    g->k = NAME(units)(g->terms);
    int workers = 1 + (g->frame && !g->is_slice && is_cut(g->m, g->n, g->k) ? slices_idle_workers(g->frame) : 0);
    const Frame *frame = workers > 1 ? g->frame : NULL;
    int64_t deepest = NAME(least)(g->k, DEEPEST);
    int64_t widest = PACKED_BYTES / (int64_t)sizeof(P) / deepest / NAME(COLS) * NAME(COLS);
    g->streams_c = NAME(may_stream)(g);
    bool is_shared = NAME(is_shared)(g, widest);
#if IS_WIDE
    if (!is_shared && NAME(is_wide)(g)) {
        for (int64_t kc = 0; kc < g->k; kc += deepest) {
            NAME(set_depth)(g, kc, deepest);
            NAME(wide)(g, workers);
        }
        return;
    }
#endif
    for (g->jc = 0; g->jc < g->n; g->jc += widest) {
        g->ncols = NAME(least)(g->n - g->jc, widest);
        NAME(choose_slices)(g, workers);
        g->packs_own = g->packs_own && !is_shared;
        g->packs_b = g->packs_b || is_shared;
        for (int64_t kc = 0; kc < g->k; kc += deepest) {
            NAME(set_depth)(g, kc, deepest);
            g->number = workers > 1 ? gemm_number() : 0;
            g->streams = false;
            if (g->packs_b && !is_shared) {
                g->packed = scratch(g->frame, THREAD_MEMORY_RIGHT, NAME(packed_bytes)(g));
                if (!g->packed)
                    return;
                g->streams = workers > 1 && NAME(packed_bytes)(g) <= STREAMED_BYTES;
                slices(frame, NAME(npack_slices)(g), NAME(pack_slice), g);
            }
            slices(frame, g->down * g->across, NAME(slice), g);
        }
    }
}

#include "engine/numerics/gemm_deep.h"

ATTR static void NAME(gemm)(const Frame *frame, int64_t m, int64_t n, int64_t k, const void *a,
                            int64_t a_row, int64_t a_col, const void *b, int64_t b_row, int64_t b_col,
                            void *c, int64_t c_row)
{
    NAME(Job) g = { .frame = frame, .m = m, .n = n * SPLIT, .terms = k * SPLIT, .a = a,
                    .a_row = a_row * SPLIT, .a_col = a_col, .b = b, .b_row = b_row, .b_col = b_col,
                    .c = c, .c_row = c_row * SPLIT };
    if (k == 0)
        for (int64_t i = 0; i < m; i++)
            memset(g.c + i * g.c_row, 0, sizeof(T) * (size_t)g.n);
#if IS_PLAIN
    else if (m && n && NAME(thin)(&g))
        return;
    else if (NAME(is_small)(m, n, k))
        NAME(small)(m, n, k, a, a_row, a_col, b, b_row, b_col, c, c_row);
#endif
    else if (m && n && NAME(is_deep)(&g))
        NAME(by_parts)(&g);
    else if (m && n)
        NAME(blocks)(&g);
}

#if ROUNDS
/* The same with c of bf16, for depths that are added up in one go. */
ATTR static void NAME(gemm_rounded)(const Frame *frame, int64_t m, int64_t n, int64_t k, const void *a,
                                    int64_t a_row, int64_t a_col, const void *b, int64_t b_row, int64_t b_col,
                                    void *c, int64_t c_row)
{
    require(k <= GEMM_ROUNDED_DEPTH);
    NAME(Job) g = { .frame = frame, .m = m, .n = n, .terms = k, .a = a, .a_row = a_row, .a_col = a_col, .b = b,
                    .b_row = b_row, .b_col = b_col, .c = c, .c_row = c_row, .rounds = true };
    for (int64_t i = 0; i < m && k == 0; i++)
        memset((uint16_t *)c + i * c_row, 0, sizeof(uint16_t) * (size_t)n);
    if (m && n && k)
        NAME(blocks)(&g);
}
#endif

#if IS_ROUNDED && (IS_PLAIN || SPLIT == 2)
#include "engine/numerics/gemm_numbers.h"
#include "engine/numerics/gemm_eliminate.h"
#include "engine/numerics/gemm_reflect.h"
#if SPLIT == 1
#include "engine/numerics/gemm_triangle.h"
#else
#include "engine/numerics/gemm_complex_triangle.h"
#endif
#endif

#if SPLIT == 1
ATTR static void NAME(gather)(const Frame *frame, const Gather *gather, const void *seen,
                              const void *other, void *c)
{
    NAME(Job) g = { .frame = frame, .m = gather->m, .n = gather->n, .terms = gather->k, .a = seen,
                    .b = other, .b_row = gather->depth_step, .b_col = gather->line_step, .c = c,
                    .c_row = gather->c_row, .gather = gather };
    if (gather->ndepth)
        g.a_col = gather->dims[gather->nlines + gather->ndepth - 1][1];
    if (gather->is_b) {
        g.a = other;
        g.a_row = gather->line_step;
        g.a_col = gather->depth_step;
        g.b = seen;
    }
    NAME(blocks)(&g);
}
#endif

#undef ROW
#undef FEW
#undef EACH_ROW
#undef OF_ROW
#undef S
#undef Q
#undef P
#undef T
#undef I
#undef DEEP
#undef SPLIT
#undef IS_PLAIN
#undef IS_ROUNDED
#undef OFFSET_A
#undef MULTIPLE
#undef IS_TILED
#undef IS_WIDE
#undef ROUNDS
#undef ROUND_SUMS
#undef MULTIPLY
#undef TO_Q
#undef TO_QS
#undef KIND
#undef NAME
