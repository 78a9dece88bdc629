/* gemm_slice.h - some rows and columns of a product, by one thread.
 *
 * Included by gemm_body.h, for one kind and one instruction set.  A thread packs the rows of a for itself, and the
 * columns of b too unless all threads have packed them together; and its next slices find what it has
 * packed (Kept):
 *
 *        b  [ 0 ][ 1 ][ 2 ]
 *   a [0]   s0   s1   s2       slices in the order of rows: a's rows 0 are packed for s0, and read by
 *     [1]   s3   s4   s5       s1 and s2; b's columns are packed for s0 .. s2, and read by all below */

/* See gemm_body.h. */
/* clang-format off */
/* Does a thread keep the rows it packs?  If several slices read them, and there is room for all. */
static bool NAME(keeps_a)(const NAME(Job) *g)
{
    bool is_gathered = g->gather && !g->gather->is_b;
    return g->number && g->across > 1 && !is_gathered && g->down <= KEPT &&
           g->down * g->steps * MC * KC <= KEPT_BYTES / (int64_t)sizeof(P);
}

/* b's panels that a thread packs itself: all of them as long as they are, if slices one below the other
 * read them again. */
static bool NAME(keeps_b)(const NAME(Job) *g)
{
    return g->packs_own && g->down > 1;
}

/* The rows of a part, packed unless tiles read them where they lie; they `are_kept` from a slice before. */
ATTR static void NAME(take_rows)(const NAME(Job) *g, NAME(Part) *part, P *to, bool are_kept)
{
    int64_t rows = part->last - part->ic, packed = g->packs_a ? 0 : rows / ROWS * ROWS, i = part->ic + packed;
    int64_t terms = NAME(elements)(g, part->pc, NAME(least)(g->kc + g->depth - part->pc, g->step));
    part->a = to;
#if SPLIT == 1
    if (g->gather && !g->gather->is_b) {
        part->direct = NAME(gather_rows)(to, g, part->ic, rows, part->pc, terms);
        return;
    }
#endif
    NAME(Lines) a = { g->a + i * g->a_row + part->pc * DEEP * g->a_col, g->a_row, g->a_col, g->m - i, terms };
    part->direct = NAME(direct_rows)(g, part->ic, rows, part->pc);
    if (!are_kept)
        NAME(pack_a)(to + packed * KC, rows - packed, a);
#if IS_TILED
    if (!are_kept)
        NAME(pack_ends)(g, part, to, packed, terms);
#endif
}

/* The columns of a part, packed by this thread for itself at `to`. */
ATTR static void NAME(take_columns)(const NAME(Job) *g, NAME(Part) *part, P *to, bool are_kept)
{
    int64_t depth = NAME(least)(g->kc + g->depth - part->pc, g->step), p = part->pc - g->kc;
    part->b = (NAME(Panels)){ to, part->jc, part->pc, KC };
    if (NAME(keeps_b)(g))
        part->b = (NAME(Panels)){ to + part->jc * g->depth + p * NAME(COLS), part->jc, part->pc, g->depth };
    if (are_kept)
        return;
#if DEEP > 1
    if (NAME(by_bands)(g)) {
        NAME(pack_rows)(part->b.at, part->b.apart * NAME(COLS),
                        NAME(lines_of_b)(g, g->jc + part->jc, part->end - part->jc, part->pc, depth));
        return;
    }
#endif
    NAME(pack_panels)(g, part->b.at, part->b.apart, part->jc, part->end, p, p + depth);
}

/* What this thread has packed of the product, if it is the one it had a slice of before. */
static Kept *NAME(kept)(const NAME(Job) *g)
{
    Kept *kept = gemm_kept();
    if (!g->number || kept->number != g->number)
        *kept = (Kept){ .number = g->number };
    return kept;
}

/* Which rows and columns they are, of the columns under way. */
static NAME(Part) NAME(part_at)(const NAME(Job) *g, int64_t row, int64_t col)
{
    int64_t tiles = (g->m + ROWS - 1) / ROWS, panels = (g->ncols + NAME(COLS) - 1) / NAME(COLS);
    return (NAME(Part)){ .ic = tiles * row / g->down * ROWS,
                         .last = NAME(least)(g->m, tiles * (row + 1) / g->down * ROWS),
                         .jc = panels * col / g->across * NAME(COLS),
                         .end = NAME(least)(g->ncols, panels * (col + 1) / g->across * NAME(COLS)),
                         .b = { g->packs_b ? g->packed : NULL, 0, g->kc, g->depth } };
}

/* Room for the columns that a thread packs itself. */
static P *NAME(room_for_columns)(const NAME(Job) *g)
{
    int64_t panels = (g->ncols + NAME(COLS) - 1) / NAME(COLS), widest = (panels + g->across - 1) / g->across;
    int64_t units = NAME(keeps_b)(g) ? panels * g->depth : widest * KC;
    return scratch(g->frame, THREAD_MEMORY_RIGHT, sizeof(P) * (size_t)(units * NAME(COLS) + NAME(LANES)));
}

ATTR static void NAME(slice)(void *user, int64_t number)
{
    const NAME(Job) *g = user;
    int64_t row = g->by_columns ? number % g->down : number / g->across;
    int64_t col = g->by_columns ? number / g->down : number % g->across;
    bool keeps_a = NAME(keeps_a)(g);
    int64_t blocks = keeps_a ? g->down * g->steps : 1;
    P *left = scratch(g->frame, THREAD_MEMORY_LEFT, sizeof(P) * (size_t)(blocks * MC * KC + NAME(LANES)));
    P *right = g->packs_own ? NAME(room_for_columns)(g) : NULL;
    if (!left || (g->packs_own && !right))
        return;
    Kept *kept = NAME(kept)(g);
    uint64_t this_row = keeps_a ? (uint64_t)1 << row : 0, this_col = NAME(keeps_b)(g) ? (uint64_t)1 << col : 0;
    NAME(Part) part = NAME(part_at)(g, row, col);
#if IS_TILED
    TILES_BEGIN();
#endif
    for (int64_t s = 0; s < g->steps; s++) {
        part.pc = g->kc + s * g->step;
        NAME(take_rows)(g, &part, left + (keeps_a ? row * g->steps + s : 0) * MC * KC, kept->rows & this_row);
        if (g->packs_own)
            NAME(take_columns)(g, &part, right, kept->cols & this_col);
        for (int64_t j = part.jc; j < part.end; j += NAME(COLS))
            NAME(panel)(g, &part, j);
    }
#if IS_TILED
    TILES_END();
#endif
    kept->rows |= this_row;
    kept->cols |= this_col;
    if (g->streams_c)
        stream_end();
}
