/* blocked_cholesky.c - Cholesky factors of real matrices, over products.
 *
 * A panel (blocked.h) is factored: its own triangle, then the rows below it, which are a triangular system;
 * then products of it are taken off what stands right of it, whose rows are cut into tiles:
 *
 *     L                    panel   factored
 *     L L                  n       next panel: up to date, then factored        one slice
 *     L L n                t       tiles: rows up to the diagonal, up to date   a slice each
 *     L L n t              .       right of the diagonal: becomes zero
 *     L L n t t
 *
 * A panel's own triangle is factored by halves, down to as many columns as a vector has lanes (gemm_eliminate.h). */
#include "engine/numerics/blocked.h"

/* Columns of a panel, of large matrices and of others, and rows of a tile. */
enum { PANEL = 64, WIDE_PANEL = 128, WIDE_FROM = 1024, TILE = 96 };

typedef struct Cholesky {
    Panels p;
    const char *in;
} Cholesky;

/* Rows first .. end below the triangle at `from`, of width columns: times its inverse, transposed. */
static void solve_rows(const Cholesky *g, int64_t from, int64_t width, int64_t first, int64_t end)
{
    char *rows = element_at(&g->p, first, from);
    TriangularSystem s = { .frame = g->p.frame,
                           .n = width,
                           .other = end - first,
                           .a = element_at(&g->p, from, from),
                           .b = rows,
                           .a_row = g->p.n,
                           .a_col = 1,
                           .b_row = 1,
                           .b_col = g->p.n,
                           .x = rows,
                           .is_lower = true,
                           .is_slice = true };
    if (first < end)
        g->p.level->solve[g->p.kind](&s, 1);
}

/* Takes the products of the panel at `from` off rows first .. end of columns left .. right. */
static void bring_up(const Cholesky *g, int64_t from, int64_t width, int64_t first, int64_t end,
                     int64_t left, int64_t right)
{
    if (first < end && left < right)
        g->p.level->subtract[g->p.kind](
            g->p.frame, end - first, right - left, width, element_at(&g->p, first, from), g->p.n,
            element_at(&g->p, left, from), 1, g->p.n, element_at(&g->p, first, left), g->p.n);
}

static void factor_triangle(Cholesky *g, int64_t from, int64_t width)
{
    if (width <= g->p.lanes) {
        g->p.is_broken |=
            !g->p.level->root[g->p.kind]((int)width, element_at(&g->p, from, from), g->p.n);
        return;
    }
    int64_t half = half_of(&g->p, width);
    int64_t middle = from + half, end = from + width;
    factor_triangle(g, from, half);
    solve_rows(g, from, half, middle, end);
    bring_up(g, from, half, middle, end, middle, end);
    factor_triangle(g, middle, width - half);
}

static void factor_panel(Cholesky *g, int64_t from, int64_t width)
{
    factor_triangle(g, from, width);
    solve_rows(g, from, width, from + width, g->p.n);
}

static void clear_right(const Cholesky *g)
{
    for (int64_t i = g->p.from; i < g->p.from + g->p.width; i++)
        memset(element_at(&g->p, i, i + 1), 0, (size_t)((g->p.n - i - 1) * g->p.bytes));
}

/* Slice 0: the next panel.  1: right of this one's diagonal.  Then the tiles, the longest first. */
static void cholesky_slice(void *user, int64_t slice)
{
    Cholesky *g = user;
    int64_t next = g->p.from + g->p.width, left = next + g->p.ahead;
    int64_t first = left + (g->p.n - left - 1) / TILE * TILE - (slice - 2) * TILE;
    int64_t end = least(first + TILE, g->p.n);
    if (slice == 1)
        clear_right(g);
    else if (slice > 1)
        bring_up(g, g->p.from, g->p.width, first, end, left, end);
    else if (g->p.ahead) {
        bring_up(g, g->p.from, g->p.width, next, g->p.n, next, left);
        factor_panel(g, next, g->p.ahead);
    }
}

static void copy_slice(void *user, int64_t slice)
{
    const Cholesky *g = user;
    for (int64_t i = slice * TILE; i < least((slice + 1) * TILE, g->p.n); i++)
        memcpy(element_at(&g->p, i, 0), g->in + i * g->p.n * g->p.bytes,
               (size_t)((i + 1) * g->p.bytes));
}

bool blocked_cholesky(const Frame *f, bool is_slice, Element e, int64_t n, const void *in, void *a)
{
    const GemmLevel *level = gemm_level_of((GemmKind)gemm_kind(e, e, e));
    int64_t panel = n >= WIDE_FROM ? WIDE_PANEL : PANEL;
    Cholesky g = { .p = panels_of(f, e, level, n, n, a, panel), .in = in };
    const Frame *helped = !is_slice && is_cut(n, n, n / 4) ? f : NULL;
    slices(helped, (n + TILE - 1) / TILE, copy_slice, &g);
    factor_panel(&g, 0, least(n, panel));
    panels_walk(&g.p, helped, n, 2, TILE, cholesky_slice);
    return !g.p.is_broken;
}
