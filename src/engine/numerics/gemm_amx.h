/* gemm_amx.h - tiles of c in the registers of AMX.
 *
 * Included by gemm_body.h, for one kind.  A register has 16 rows of 64 bytes: 16 units, or 16 elements of c.
 * A tile of c is two registers high and two wide, so that what is read is used twice:
 *
 *                   b  6  7        for each 16 units of depth: four registers are read, from rows of a
 *      a  4         c  0  1        where they lie or are packed, and from a panel of b, and each of c's
 *         5            2  3        four has 16 sums of 16 units' products added
 *
 * Sums are rounded once for every 16 units, so there are no runs as in other tiles.  The registers are in
 * use during a slice (gemm_slice.h), which waits for nothing: a thread that uses none is switched to and from
 * without them. */

/* See gemm_body.h. */
/* clang-format off */
typedef struct NAME(Tile) {
    int64_t chunks; /* of MULTIPLE units each */
    int64_t direct; /* so many of them lie in a as it is, */
    const S *a;     /* from here on, */
    int64_t a_row;
    const P *packed; /* the others as pack_tile has them, where all would begin */
    const P *b;      /* a panel */
    T *c;
    int64_t c_row;
    int rows, cols; /* of c to write */
    bool adds;      /* to what c holds */
    bool streams;   /* past the caches; then it does not add */
    bool rounds;    /* c is of bf16; then neither */
    const P *ahead; /* what is read after this panel, */
    int64_t nahead; /* lines of it to ask for with each chunk */
} NAME(Tile);

/* The products of `n` chunks of a's rows, `step` bytes apart and each chunk `next` behind the last, are added to
 * c's four registers, or to those of few rows and columns. */
ATTR static inline __attribute__((always_inline)) void
NAME(add_chunks)(NAME(Tile) *t, int64_t n, const char *a, int64_t step, int64_t next, bool is_high, bool is_wide)
{
    enum { HEIGHT = ROWS / 2 };
    int64_t b_step = NAME(COLS) * (int64_t)sizeof(P), nahead = t->nahead;
    const P *b = t->b, *ahead = t->ahead;
    for (; n > 0; n--, a += next, b += MULTIPLE * NAME(COLS)) {
        for (int64_t i = 0; i < nahead; i++, ahead += NAME(LINE))
            __builtin_prefetch(ahead, 0, 2);
        TILE_LOAD(4, a, step);
        TILE_LOAD(6, b, b_step);
        MULTIPLY(0, 4, 6);
        if (is_wide) {
            TILE_LOAD(7, b + NAME(LANES), b_step);
            MULTIPLY(1, 4, 7);
        }
        if (is_high) {
            TILE_LOAD(5, a + HEIGHT * step, step);
            MULTIPLY(2, 5, 6);
            if (is_wide)
                MULTIPLY(3, 5, 7);
        }
    }
    t->b = b;
    t->ahead = ahead;
}

ATTR static inline __attribute__((always_inline)) void NAME(multiply)(NAME(Tile) *t, bool is_high, bool is_wide)
{
    enum { BYTES_OF_CHUNK = MULTIPLE * (int)sizeof(P) };
    const P *packed = t->packed + t->direct * MULTIPLE * ROWS;
    __asm__ volatile("" ::: "memory"); /* the compiler does not know what the instructions read */
    TILE_ZERO(0);
    TILE_ZERO(1);
    TILE_ZERO(2);
    TILE_ZERO(3);
    NAME(add_chunks)(t, t->direct, (const char *)t->a, t->a_row * (int64_t)sizeof(S), BYTES_OF_CHUNK, is_high,
                     is_wide);
    NAME(add_chunks)(t, t->chunks - t->direct, (const char *)packed, BYTES_OF_CHUNK, ROWS * BYTES_OF_CHUNK,
                     is_high, is_wide);
}

/* From the registers by way of memory, where rows or columns are few, c holds something or is not to be cached. */
ATTR static void NAME(put_apart)(const NAME(Tile) *t)
{
    T apart[ROWS * NAME(COLS)] __attribute__((aligned(BYTES)));
    enum { HEIGHT = ROWS / 2, LANES = NAME(LANES), COLS = NAME(COLS) };
    TILE_STORE(0, apart, COLS * sizeof(T));
    if (t->cols > LANES)
        TILE_STORE(1, apart + LANES, COLS * sizeof(T));
    if (t->rows > HEIGHT)
        TILE_STORE(2, apart + HEIGHT * COLS, COLS * sizeof(T));
    if (t->rows > HEIGHT && t->cols > LANES)
        TILE_STORE(3, apart + HEIGHT * COLS + LANES, COLS * sizeof(T));
#if ROUNDS
    for (int i = 0; i < t->rows && t->rounds; i++)
        NAME(put_rounded)((uint16_t *)(void *)t->c + i * t->c_row, apart + i * COLS, t->cols);
#endif
    for (int i = 0; i < t->rows && !t->rounds; i++)
        for (int j = 0; j < t->cols; j += LANES) {
            T *c = t->c + i * t->c_row + j;
            NAME(Vec) x = *(const NAME(Vec) *)(apart + i * COLS + j);
            __mmask16 some = (__mmask16)(0xffff >> (j + LANES > t->cols ? j + LANES - t->cols : 0));
            if (t->adds)
                x += (NAME(Vec))_mm512_maskz_loadu_epi32(some, c);
            if (t->streams && some == 0xffff)
                NAME(stream_vector)(c, x);
            else
                _mm512_mask_storeu_epi32(c, some, (__m512i)x);
        }
}

ATTR static void NAME(tile)(NAME(Tile) *t)
{
    enum { HEIGHT = ROWS / 2, LANES = NAME(LANES) };
    bool is_high = t->rows > HEIGHT, is_wide = t->cols > LANES;
    int64_t step = t->c_row * (int64_t)sizeof(T);
    if (is_high && is_wide)
        NAME(multiply)(t, true, true);
    else if (is_high)
        NAME(multiply)(t, true, false);
    else if (is_wide)
        NAME(multiply)(t, false, true);
    else
        NAME(multiply)(t, false, false);
    if (t->rows < ROWS || t->cols < NAME(COLS) || t->adds || t->streams || t->rounds) {
        NAME(put_apart)(t);
        return;
    }
    TILE_STORE(0, t->c, step);
    TILE_STORE(1, t->c + LANES, step);
    TILE_STORE(2, t->c + HEIGHT * t->c_row, step);
    TILE_STORE(3, t->c + HEIGHT * t->c_row + LANES, step);
}

/* The ends of rows that are read where they lie, which do not fill a register: packed, filled up with zeros. */
ATTR static void NAME(pack_ends)(const NAME(Job) *g, const NAME(Part) *part, P *to, int64_t rows, int64_t terms)
{
    enum { CHUNK = MULTIPLE * DEEP };
    int64_t whole = terms / CHUNK * CHUNK;
    for (int64_t i = 0; i < rows && whole < terms; i += ROWS) {
        NAME(Lines) ends = { part->direct.first[i / ROWS] + whole, g->a_row, 1, ROWS, terms - whole };
        NAME(pack_tile)(to + i * KC + whole / DEEP * ROWS, ends);
    }
}

/* Rows of a, KC deep, times the panel at column j of those under way. */
ATTR static void NAME(panel)(const NAME(Job) *g, const NAME(Part) *part, int64_t j)
{
    int64_t ic = part->ic, last = part->last, pc = part->pc, from = (j - part->b.j) * part->b.apart;
    int64_t depth = NAME(least)(g->kc + g->depth - pc, g->step), tiles = (last - ic + ROWS - 1) / ROWS;
    const P *b = part->b.at + from + (pc - part->b.p) * NAME(COLS);
    NAME(Tile) t = { .chunks = depth / MULTIPLE, .a_row = g->a_row, .c_row = g->c_row };
    t.cols = (int)NAME(least)(g->ncols - j, NAME(COLS));
    t.adds = pc > 0;
    t.streams = g->streams_c;
    t.rounds = g->rounds;
    t.ahead = b + part->b.apart * NAME(COLS);
    if (j + NAME(COLS) < part->end) /* the next panel comes while the tiles of this one are computed */
        t.nahead = (depth * NAME(COLS) / NAME(LINE) + tiles * t.chunks - 1) / (tiles * t.chunks);
    for (int64_t i = ic; i < last; i += ROWS) {
        t.rows = (int)NAME(least)(last - i, ROWS);
        t.a = part->direct.first[(i - ic) / ROWS];
        t.direct = t.a ? NAME(elements)(g, pc, depth) / (MULTIPLE * DEEP) : 0;
        t.packed = part->a + (i - ic) * KC;
        t.b = b;
        t.c = NAME(place_in_c)(g, i, g->jc + j);
        NAME(tile)(&t);
    }
}
