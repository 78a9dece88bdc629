/* blocked_cholesky.c - Cholesky factors of real matrices, over products.
 *
 * A panel of columns is factored: its own triangle, then the rows below it, which are a triangular system;
 * then products of it are taken off what stands right of it.  These rows are cut into tiles, which workers
 * share, and the first columns are the next panel, which is factored as soon as they are up to date:
 *
 *     L                    panel   factored
 *     L L                  n       next panel: up to date, then factored        one slice
 *     L L n                t       tiles: rows up to the diagonal, up to date   a slice each
 *     L L n t              .       right of the diagonal: becomes zero
 *     L L n t t
 *
 * Panels and tiles follow from the size alone, and so do the results.  A panel's own triangle is factored by
 * halves, down to as many columns as a vector has lanes (gemm_eliminate.h). */
#include "engine/numerics/gemm.h"

/* Columns of a panel, of large matrices and of others, and rows of a tile. */
enum { PANEL = 64, WIDE_PANEL = 128, WIDE_FROM = 1024, TILE = 96 };

typedef struct Cholesky {
    const Frame *frame;
    GemmKind kind;
    const GemmLevel *level;
    int64_t bytes, lanes; /* of an element; elements of a vector */
    int64_t n;
    const char *in;
    char *a;
    bool is_broken;             /* there is no factor */
    int64_t panel;              /* columns of a panel */
    int64_t from, width, ahead; /* of the panel under way, of the next */
} Cholesky;

static char *element_at(const Cholesky *g, int64_t row, int64_t column)
{
    return g->a + (row * g->n + column) * g->bytes;
}

/* Rows first .. end below the triangle at `from`, of width columns: times its inverse, transposed. */
static void solve_rows(const Cholesky *g, int64_t from, int64_t width, int64_t first, int64_t end)
{
    char *rows = element_at(g, first, from);
    TriangularSystem s = { .frame = g->frame,
                           .n = width,
                           .other = end - first,
                           .a = element_at(g, from, from),
                           .b = rows,
                           .a_row = g->n,
                           .a_col = 1,
                           .b_row = 1,
                           .b_col = g->n,
                           .x = rows,
                           .is_lower = true,
                           .is_slice = true };
    if (first < end)
        g->level->solve[g->kind](&s, 1);
}

/* Takes the products of the panel at `from` off rows first .. end of columns left .. right. */
static void bring_up(const Cholesky *g, int64_t from, int64_t width, int64_t first, int64_t end,
                     int64_t left, int64_t right)
{
    if (first < end && left < right)
        g->level->subtract[g->kind](g->frame, end - first, right - left, width,
                                    element_at(g, first, from), g->n, element_at(g, left, from), 1,
                                    g->n, element_at(g, first, left), g->n);
}

static void factor_triangle(Cholesky *g, int64_t from, int64_t width)
{
    if (width <= g->lanes) {
        g->is_broken |= !g->level->root[g->kind]((int)width, element_at(g, from, from), g->n);
        return;
    }
    int64_t half = (width / 2 + g->lanes - 1) / g->lanes * g->lanes;
    int64_t middle = from + half, end = from + width;
    factor_triangle(g, from, half);
    solve_rows(g, from, half, middle, end);
    bring_up(g, from, half, middle, end, middle, end);
    factor_triangle(g, middle, width - half);
}

static void factor_panel(Cholesky *g, int64_t from, int64_t width)
{
    factor_triangle(g, from, width);
    solve_rows(g, from, width, from + width, g->n);
}

static void clear_right(const Cholesky *g)
{
    for (int64_t i = g->from; i < g->from + g->width; i++)
        memset(element_at(g, i, i + 1), 0, (size_t)((g->n - i - 1) * g->bytes));
}

/* Slice 0: the next panel.  1: right of this one's diagonal.  Then the tiles, the longest first. */
static void cholesky_slice(void *user, int64_t slice)
{
    Cholesky *g = user;
    int64_t next = g->from + g->width, left = next + g->ahead;
    int64_t first = left + (g->n - left - 1) / TILE * TILE - (slice - 2) * TILE;
    int64_t end = least(first + TILE, g->n);
    if (slice == 1)
        clear_right(g);
    else if (slice > 1)
        bring_up(g, g->from, g->width, first, end, left, end);
    else if (g->ahead) {
        bring_up(g, g->from, g->width, next, g->n, next, left);
        factor_panel(g, next, g->ahead);
    }
}

static void copy_slice(void *user, int64_t slice)
{
    const Cholesky *g = user;
    for (int64_t i = slice * TILE; i < least((slice + 1) * TILE, g->n); i++)
        memcpy(element_at(g, i, 0), g->in + i * g->n * g->bytes, (size_t)((i + 1) * g->bytes));
}

bool blocked_cholesky(const Frame *f, bool is_slice, Element e, int64_t n, const void *in, void *a)
{
    GemmKind kind = e == F32 ? GEMM_F32 : GEMM_F64;
    int64_t bytes = element_info[e].bytes;
    Cholesky g = { .frame = f,
                   .kind = kind,
                   .level = gemm_level_of(kind),
                   .bytes = bytes,
                   .lanes = gemm_level_of(kind)->bytes / bytes,
                   .n = n,
                   .in = in,
                   .a = a,
                   .panel = n >= WIDE_FROM ? WIDE_PANEL : PANEL };
    const Frame *helped = !is_slice && is_cut(n, n, n / 4) ? f : NULL;
    slices(helped, (n + TILE - 1) / TILE, copy_slice, &g);
    factor_panel(&g, 0, least(n, g.panel));
    for (g.from = 0; g.from < n && !g.is_broken; g.from += g.width) {
        g.width = least(n - g.from, g.panel);
        g.ahead = least(n - g.from - g.width, g.panel);
        int64_t tiles = (n - g.from - g.width - g.ahead + TILE - 1) / TILE;
        slices(helped, 2 + tiles, cholesky_slice, &g);
    }
    return !g.is_broken;
}
