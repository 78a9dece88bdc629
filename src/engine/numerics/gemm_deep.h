/* gemm_deep.h - products of few rows and columns and great depth: cut along the depth.
 *
 * Included by gemm_body.h, for one kind and one instruction set.  Such a c has too few tiles for workers to
 * share; so each part of the depth is a product of its own, and these are added in order:
 *
 *   a [ part 0 | part 1 | .. ]   b [ part 0 ]   c = (a0 b0 + a1 b1) + ..
 *                                  [ part 1 ]
 *
 * How many parts there are depends on the sizes alone, so the result does not depend on the workers. */

/* See gemm_body.h. */
/* clang-format off */
/* The fewer tiles, the less depth it takes. */
enum { NAME(DEEP_TILES) = 48, NAME(DEEP_TERMS) = 8192, NAME(FEW_TILES) = 24, NAME(FEW_TERMS) = 2048 };
enum { NAME(MOST_PARTS) = 16 };

typedef struct NAME(Parts) {
    const NAME(Job) *g;
    int64_t n, terms; /* parts, and the depth of each */
    T *sums;          /* of each part: a whole c */
} NAME(Parts);

static bool NAME(is_deep)(const NAME(Job) *g)
{
    int64_t tiles = (g->m + ROWS - 1) / ROWS, panels = (g->n + NAME(COLS) - 1) / NAME(COLS);
    int64_t least = tiles * panels <= NAME(FEW_TILES) ? NAME(FEW_TERMS) : NAME(DEEP_TERMS);
    return g->terms >= least && tiles <= NAME(DEEP_TILES) && panels <= NAME(DEEP_TILES) &&
           tiles * panels <= NAME(DEEP_TILES) && is_cut(g->m, g->n, g->terms);
}

ATTR static void NAME(part_slice)(void *user, int64_t i)
{
    const NAME(Parts) *parts = user;
    NAME(Job) g = *parts->g;
    int64_t first = i * parts->terms;
    g.terms = NAME(least)(parts->terms, g.terms - first);
    g.a += first * g.a_col;
    g.b += first * g.b_row;
    g.c = parts->sums + i * g.m * g.n;
    g.c_row = g.n;
    g.is_slice = true;
    NAME(blocks)(&g);
}

/* A row of c. */
ATTR static void NAME(add_parts)(const NAME(Parts) *parts, int64_t row)
{
    const NAME(Job) *g = parts->g;
    T *c = g->c + row * g->c_row;
    memcpy(c, parts->sums + row * g->n, sizeof(T) * (size_t)g->n);
    for (int64_t i = 1; i < parts->n; i++) {
        const T *sum = parts->sums + (i * g->m + row) * g->n;
        for (int64_t j = 0; j < g->n; j++)
            c[j] += sum[j];
    }
}

ATTR static void NAME(by_parts)(const NAME(Job) *g)
{
    enum { LEAST = 1024, EVEN = 8 }; /* terms; a number of whole units */
    NAME(Parts) parts = { .g = g, .n = NAME(least)(g->terms / LEAST, NAME(MOST_PARTS)) };
    parts.terms = ((g->terms + parts.n - 1) / parts.n + EVEN - 1) / EVEN * EVEN;
    parts.n = (g->terms + parts.terms - 1) / parts.terms;
    parts.sums = scratch(g->frame, THREAD_MEMORY_SUMS, sizeof(T) * (size_t)(parts.n * g->m * g->n));
    if (!parts.sums)
        return;
    slices(g->frame, parts.n, NAME(part_slice), &parts);
    for (int64_t i = 0; i < g->m; i++)
        NAME(add_parts)(&parts, i);
}
