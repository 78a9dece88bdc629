/* gemm_wide.h - products of many rows and columns whose left operand is read where it lies.
 *
 * Included by gemm_body.h, for floats of AVX-512.  A tile is 6 rows by 4 vectors: it takes half as many numbers of a
 * as one of 12 by 2, and from rows so few that the first cache has places for them whatever their step is.  So a is
 * not packed.  A panel of b is packed by the thread that is about to read it,
 * and stays in its second cache while the rows of a go by:
 *
 *   b   | 4 vectors | 4 vectors | 3 ..      panels as wide as each other, but for a vector
 *   a   =========== 6 rows
 *       ===========
 *
 * A slice is some rows by a panel; those one below the other follow each other, and the thread keeps its panel. */

/* See gemm_body.h. */
/* clang-format off */
enum { NAME(WIDE_ROWS) = 6, NAME(WIDE_VECTORS) = 4 };

typedef struct NAME(WideTile) {
    int64_t depth, run; /* products that are added in a row */
    const S *rows[NAME(WIDE_ROWS)]; /* of a: units lie behind each where walk says, */
    Places walk;                    /* those of its last dimension side by side */
    const P *b; /* its vectors, row after row */
    T *c;
    int64_t c_row;
    int nrows;       /* of c to write; a has as many as the tile */
    uint32_t last;   /* a bit for each column of the last vector */
    bool adds;       /* to what c holds */
    bool streams;    /* past the caches, whole vectors; then it does not add */
    bool rounds;     /* c is of bf16; then neither */
    NAME(Vec) *runs; /* room for the tile */
} NAME(WideTile);

#define EACH(x)                                                                                    \
    {                                                                                              \
        _Pragma("GCC unroll 6") for (int r = 0; r < NAME(WIDE_ROWS); r++)                          \
            _Pragma("GCC unroll 4") for (int v = 0; v < nvec; v++)                                 \
        {                                                                                          \
            x                                                                                      \
        }                                                                                          \
    }

#if ROUNDS
ATTR static inline __attribute__((always_inline)) void
NAME(put_wide_rounded)(uint16_t *to, NAME(Vec) sums, uint32_t bits)
{
    _mm256_mask_storeu_epi16(to, (__mmask16)bits, (__m256i)NAME(round_sums)(sums));
}
#endif

/* Adds to c, or writes it. */
ATTR static inline __attribute__((always_inline)) void NAME(put_wide)(const NAME(WideTile) *t, T *to, NAME(Vec) sums,
                                                                      uint32_t bits)
{
    if (t->streams)
        NAME(stream_vector)(to, sums);
    else if (t->adds)
        NAME(store_part)(to, bits, sums + NAME(load_part)(to, bits));
    else
        NAME(store_part)(to, bits, sums);
}

/* See tile: these are the same sums to the bit. */
ATTR static inline __attribute__((always_inline)) void NAME(wide_tile)(const NAME(WideTile) *t, int nvec)
{
    enum { VECTORS = NAME(WIDE_VECTORS), LANES = NAME(LANES) };
    NAME(Vec) acc[NAME(WIDE_ROWS)][VECTORS], *runs = __builtin_assume_aligned(t->runs, BYTES);
    const S *a0 = t->rows[0], *a1 = t->rows[1], *a2 = t->rows[2], *a3 = t->rows[3], *a4 = t->rows[4], *a5 = t->rows[5];
    const P *b = t->b;
    Places walk = t->walk;
    int64_t p = 0;
    if (!t->streams && !t->rounds)
        EACH(__builtin_prefetch(t->c + r * t->c_row + v * LANES, 1);)
    for (;;) {
        int64_t begin = p, end = NAME(least)(p + t->run, t->depth);
        EACH(acc[r][v] = (NAME(Vec)){ 0 };)
        while (p < end) {
            const int64_t *inner = walk.dims[walk.n - 1];
            int64_t n = NAME(least)(end - p, (inner[0] - walk.at[walk.n - 1]) / DEEP), at = walk.offset;
            for (const P *stop = b + n * nvec * LANES; b < stop; b += nvec * LANES, at += DEEP) {
                NAME(Units) row[VECTORS];
#pragma GCC unroll 4
                for (int v = 0; v < nvec; v++)
                    row[v] = *(const NAME(Units) *)(b + v * LANES);
                EACH(const S *from = (r == 0 ? a0 : r == 1 ? a1 : r == 2 ? a2 : r == 3 ? a3 : r == 4 ? a4 : a5) + at;
                     acc[r][v] = MULTIPLY(acc[r][v], *(const NAME(Unit) *)from, row[v]);)
            }
            p += n;
            places_skip(&walk, n * DEEP);
        }
        if (end == t->depth) {
            if (begin)
                EACH(acc[r][v] += runs[r * VECTORS + v];)
            break;
        }
        if (begin)
            EACH(runs[r * VECTORS + v] += acc[r][v];)
        else
            EACH(runs[r * VECTORS + v] = acc[r][v];)
    }
#if ROUNDS
    if (t->rounds) {
        EACH(if (r < t->nrows) NAME(put_wide_rounded)((uint16_t *)(void *)t->c + r * t->c_row + v * LANES, acc[r][v],
                                                      v + 1 < nvec ? ~0u : t->last);)
        return;
    }
#endif
    EACH(if (r < t->nrows) NAME(put_wide)(t, t->c + r * t->c_row + v * LANES, acc[r][v], v + 1 < nvec ? ~0u : t->last);)
}
#undef EACH

#define WIDE_TILE(nvec)                                                                            \
    ATTR static void NAME(wide_##nvec)(const NAME(WideTile) *t)                                    \
    {                                                                                              \
        NAME(wide_tile)(t, nvec);                                                                  \
    }
WIDE_TILE(1)
WIDE_TILE(2)
WIDE_TILE(3)
WIDE_TILE(4)
#undef WIDE_TILE

/* ---- packing ---- */

/* A vector of units of neighbouring columns, those that have their bit set: of DEEP rows, `step` apart. */
ATTR static inline __attribute__((always_inline)) NAME(Units)
NAME(join_part)(const S *from, int64_t step, uint32_t bits)
{
#if DEEP == 1
    (void)step;
    return NAME(load_part)(from, bits);
#else
    __m512i low = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16((__mmask16)bits, from));
    __m512i high = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16((__mmask16)bits, from + step));
    return (NAME(Units))_mm512_or_si512(low, _mm512_slli_epi32(high, 16));
#endif
}

/* `depth` units of nvec vectors of columns that lie side by side. */
ATTR static void NAME(copy_panel)(P *to, const S *from, int64_t row, int64_t depth, int nvec, uint32_t last)
{
    enum { AHEAD = 8 };
    for (int64_t p = 0; p < depth; p++, from += DEEP * row)
        for (int v = 0; v < nvec; v++, to += NAME(LANES)) {
            for (int d = 0; d < DEEP; d++)
                __builtin_prefetch(from + (AHEAD + d) * row + v * NAME(LANES), 0, 2);
            *(NAME(Units) *)to = NAME(join_part)(from + v * NAME(LANES), row, v + 1 < nvec ? ~0u : last);
        }
}

/* ---- slices ---- */

/* A product, some of its depth: several steps of it. */
typedef struct NAME(Wide) {
    const NAME(Job) *g;
    int64_t pc, depth;
    int64_t chunks, down, across; /* of rows; slices of a chunk and panel; panels */
    int64_t kept;                 /* panels that a thread keeps for its next slices: all, the last, or none */
} NAME(Wide);

/* Rows first .. last, columns j .. end: nvec vectors, the last of which has some. */
typedef struct NAME(WidePart) {
    int64_t first, last, j, end, panel;
    int nvec;
    uint32_t in_last;
} NAME(WidePart);

static NAME(WidePart) NAME(wide_part)(const NAME(Wide) *w, int64_t slice)
{
    enum { TALL = NAME(WIDE_ROWS), LANES = NAME(LANES) };
    int64_t m = w->g->m, n = w->g->n, tiles = (m + TALL - 1) / TALL, vectors = (n + LANES - 1) / LANES;
    int64_t parts = w->chunks * w->down, part = slice / (w->across * w->down) * w->down + slice % w->down;
    int64_t panel = slice / w->down % w->across;
    int64_t j = vectors * panel / w->across, end = vectors * (panel + 1) / w->across;
    NAME(WidePart) x = { .first = tiles * part / parts * TALL,
                         .last = NAME(least)(m, tiles * (part + 1) / parts * TALL),
                         .j = j * LANES,
                         .end = NAME(least)(n, end * LANES),
                         .panel = panel,
                         .nvec = (int)(end - j) };
    x.in_last = (uint32_t)((UINT64_C(1) << ((x.end - x.j - 1) % LANES + 1)) - 1);
    return x;
}

/* The panel of a part, of which `depth` units from pc on. */
ATTR static void NAME(pack_panel)(const NAME(Job) *g, P *to, const NAME(WidePart) *x, int64_t pc, int64_t depth)
{
    NAME(Lines) b = NAME(lines_of_b)(g, x->j, x->end - x->j, pc, depth);
    if (g->b_col == 1)
        NAME(copy_panel)(to, b.at, b.deep, depth, x->nvec, x->in_last);
    else
        NAME(pack)(to, x->nvec * NAME(LANES), b);
}

/* The rows of a part by its panel, t->depth units from pc on. */
ATTR static void NAME(wide_rows)(const NAME(Job) *g, NAME(WideTile) *t, const NAME(WidePart) *x, int64_t pc)
{
    static void (*const tiles[])(const NAME(WideTile) *) = { NAME(wide_1), NAME(wide_2), NAME(wide_3), NAME(wide_4) };
    enum { TALL = NAME(WIDE_ROWS) };
    const int64_t plain[2][2] = { { g->m, g->a_row }, { g->terms, 1 } }, (*dims)[2] = plain;
    int64_t nlines = 1, ndepth = 1;
    if (g->gather) {
        dims = g->gather->dims;
        nlines = g->gather->nlines;
        ndepth = g->gather->ndepth;
    }
    Places line = places_at(nlines, dims, x->first);
    t->walk = places_at(ndepth, dims + nlines, pc * DEEP);
    for (int64_t i = x->first; i < x->last; i += TALL) {
        t->nrows = (int)NAME(least)(x->last - i, TALL);
        const int64_t *inner = dims[nlines - 1];
        bool is_in_step = inner[0] - line.at[nlines - 1] >= t->nrows;
        for (int r = 0; r < TALL; r++) {
            int above = r < t->nrows ? r : t->nrows - 1; /* in place of rows that are not there: the last one */
            t->rows[r] = g->a + line.offset + (is_in_step ? above * inner[1] : 0);
            if (!is_in_step && r < t->nrows - 1)
                places_skip(&line, 1);
        }
        places_skip(&line, is_in_step ? t->nrows : 1);
        t->c = NAME(place_in_c)(g, i, x->j);
        tiles[x->nvec - 1](t);
    }
}

/* Has this thread the panel of a slice before?  From now on it has. */
static bool NAME(is_kept)(const NAME(Wide) *w, int64_t panel, uint64_t bit)
{
    Kept *kept = gemm_kept();
    bool is_same = w->kept && kept->number == w->g->number && (w->kept > 1 || kept->rows == (uint64_t)panel);
    bool is_kept = is_same && kept->cols & bit;
    *kept = (Kept){ w->kept ? w->g->number : 0, (uint64_t)panel, bit | (is_same ? kept->cols : 0) };
    return is_kept;
}

ATTR static void NAME(wide_slice)(void *user, int64_t slice)
{
    enum { PANEL = NAME(WIDE_VECTORS) * NAME(LANES) };
    const NAME(Wide) *w = user;
    const NAME(Job) *g = w->g;
    NAME(WidePart) x = NAME(wide_part)(w, slice);
    int64_t depth = w->kept ? w->depth : g->step, room = w->kept > 1 ? w->kept : 1, at = w->kept > 1 ? x.panel : 0;
    P *packed = scratch(g->frame, THREAD_MEMORY_RIGHT, sizeof(P) * (size_t)(PANEL * (room * depth + 1)));
    if (!packed)
        return;
    packed += at * depth * PANEL;
    bool is_kept = NAME(is_kept)(w, x.panel, (uint64_t)1 << at);
    NAME(Vec) runs[NAME(WIDE_ROWS) * NAME(WIDE_VECTORS)] __attribute__((aligned(BYTES)));
    NAME(WideTile) t = { .c_row = g->c_row, .runs = runs, .streams = g->streams_c && g->n % NAME(LANES) == 0,
                         .rounds = g->rounds, .last = x.in_last };
    for (int64_t pc = w->pc; pc < w->pc + w->depth; pc += g->step) {
        t.depth = NAME(least)(w->pc + w->depth - pc, g->step);
        t.run = t.depth > 4 * NAME(RUN) ? 2 * NAME(RUN) : NAME(RUN);
        t.adds = pc > 0;
        P *panel = packed + (w->kept ? (pc - w->pc) * x.nvec * NAME(LANES) : 0);
        t.b = panel;
        if (!is_kept)
            NAME(pack_panel)(g, panel, &x, pc, t.depth);
        NAME(wide_rows)(g, &t, &x, pc);
    }
    if (t.streams)
        stream_end();
}

/* Are there columns for tiles so wide, and rows enough to pay for packing a panel: more than those that others read b
 * in passing for (see choose_slices)?  And do rows of a lie as they are read? */
static bool NAME(is_wide)(const NAME(Job) *g)
{
    enum { SHORTEST = 64 }; /* a walk of shorter pieces takes longer than to pack them */
    if (g->subtracts || g->n <= 2 * NAME(LANES) || g->terms % DEEP)
        return false;
    if (g->gather) {
        const int64_t *inner = g->gather->dims[g->gather->nlines + g->gather->ndepth - 1];
        return NAME(may_walk)(g) && inner[0] >= SHORTEST && inner[0] % DEEP == 0 && inner[1] == 1;
    }
    return g->m > MC && g->a_col == 1;
}

/* The depth under way, kc and depth on.  Where all of b fits the second cache and there are many rows, some rows meet
 * all panels before the next, so that a is fetched once; else all rows, or as many as the third cache holds, go by each
 * panel. */
ATTR static void NAME(wide)(NAME(Job) *g, int workers)
{
    enum { PER_WORKER = 6, STEPS = 4, TILES = 8 };
    enum { BLOCK_BYTES = 128 << 10, CHUNK_BYTES = 8 << 20, KEPT_PANELS = 512 << 10 };
    int64_t tiles = g->m / NAME(WIDE_ROWS), deepest = NAME(least)(g->depth, STEPS * g->step);
    int64_t vectors = (g->n + NAME(LANES) - 1) / NAME(LANES), most = 1 + tiles / TILES;
    int64_t row = deepest * DEEP * (int64_t)sizeof(S), wanted = workers > 1 ? PER_WORKER * workers : 1;
    NAME(Wide) w = { .g = g, .down = 1 };
    w.across = (vectors + NAME(WIDE_VECTORS) - 1) / NAME(WIDE_VECTORS);
    int64_t panel = deepest * NAME(WIDE_VECTORS) * BYTES;
    bool keeps_all = w.across * panel <= KEPT_PANELS && w.across <= KEPT && g->m >= 4 * g->n;
    w.kept = keeps_all ? w.across : panel <= KEPT_PANELS;
    w.chunks = NAME(least)(1 + g->m * row / (keeps_all && w.across > 1 ? BLOCK_BYTES : CHUNK_BYTES), most);
    int64_t each = w.chunks * w.across, down = NAME(least)((wanted + each - 1) / each, most / w.chunks);
    w.down = down > 1 ? down : 1;
    for (int64_t p = 0; p < g->depth; p += deepest) {
        w.pc = g->kc + p;
        w.depth = NAME(least)(deepest, g->depth - p);
        g->number = gemm_number();
        slices(workers > 1 ? g->frame : NULL, w.chunks * w.down * w.across, NAME(wide_slice), &w);
    }
}
