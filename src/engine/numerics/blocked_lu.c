/* blocked_lu.c - LU factors of large matrices: elimination with rows exchanged, over products.
 *
 * What the columns right of a panel (blocked.h) take part in: their rows change places, their upper part is solved
 * for, products are taken off below.
 *
 *     . . . . . . .        left    rows change places
 *     . L U U u u u        panel   factored: L and U
 *     . L L U n t t        n       next panel: up to date, then factored       one slice
 *     . L L L n t t        t       tiles: up to date                           a slice each
 *
 * A panel is factored by halves, down to as many columns as a vector has lanes (gemm_eliminate.h). */
#include "engine/numerics/blocked.h"

/* Columns of a panel, of large matrices and of others, and of a tile. */
enum { PANEL = 64, WIDE_PANEL = 128, WIDE_FROM = 1024, TILE = 128 };

typedef struct Lu {
    Panels p;
    int32_t *pivots; /* from 0 */
    int32_t info;
    char *packed; /* room for the columns of a vector */
} Lu;

/* Columns first .. end: rows change places as those of the panel at `from` did. */
static void swap_rows(const Lu *g, int64_t from, int64_t width, int64_t first, int64_t end)
{
    char kept[512];
    for (int64_t k = from; k < from + width; k++) {
        char *x = element_at(&g->p, k, first), *y = element_at(&g->p, g->pivots[k], first);
        size_t left = x == y ? 0 : (size_t)((end - first) * g->p.bytes);
        while (left) {
            size_t some = left < sizeof kept ? left : sizeof kept;
            memcpy(kept, x, some);
            memcpy(x, y, some);
            memcpy(y, kept, some);
            x += some;
            y += some;
            left -= some;
        }
    }
}

/* Columns first .. end take part in what the panel at `from` did. */
static void bring_up(const Lu *g, int64_t from, int64_t width, int64_t first, int64_t end)
{
    int64_t below = from + width;
    char *upper = element_at(&g->p, from, first);
    swap_rows(g, from, width, first, end);
    TriangularSystem s = { .frame = g->p.frame,
                           .n = width,
                           .other = end - first,
                           .a = element_at(&g->p, from, from),
                           .b = upper,
                           .a_row = g->p.n,
                           .a_col = 1,
                           .b_row = g->p.n,
                           .b_col = 1,
                           .x = upper,
                           .is_lower = true,
                           .is_unit = true,
                           .is_slice = true };
    g->p.level->solve[g->p.kind](&s, 1);
    if (below < g->p.m)
        g->p.level->subtract[g->p.kind](g->p.frame, g->p.m - below, end - first, width,
                                        element_at(&g->p, below, from), g->p.n, upper, g->p.n, 1,
                                        element_at(&g->p, below, first), g->p.n);
}

/* The columns of a vector, or fewer, packed and factored. */
static void factor_few(Lu *g, int64_t from, int64_t width)
{
    size_t row = (size_t)(g->p.lanes * g->p.bytes), some = (size_t)(width * g->p.bytes);
    char *packed = g->packed;
    for (int64_t i = from; i < g->p.m; i++, packed += row) {
        memcpy(packed, element_at(&g->p, i, from), some);
        memset(packed + some, 0, row - some);
    }
    int zero =
        g->p.level->eliminate[g->p.kind](g->p.m - from, (int)width, g->packed, g->pivots + from);
    if (zero && !g->info)
        g->info = (int32_t)from + zero;
    packed = g->packed;
    for (int64_t i = from; i < g->p.m; i++, packed += row)
        memcpy(element_at(&g->p, i, from), packed, some);
    for (int64_t k = from; k < from + width; k++)
        g->pivots[k] += (int32_t)from;
}

static void factor_panel(Lu *g, int64_t from, int64_t width)
{
    if (width <= g->p.lanes) {
        factor_few(g, from, width);
        return;
    }
    int64_t half = half_of(&g->p, width);
    factor_panel(g, from, half);
    bring_up(g, from, half, from + half, from + width);
    factor_panel(g, from + half, width - half);
    swap_rows(g, from + half, width - half, from, from + half);
}

/* Slice 0: the next panel.  1: what is left of the panel.  Then the tiles. */
static void lu_slice(void *user, int64_t slice)
{
    Lu *g = user;
    int64_t next = g->p.from + g->p.width, first = next + g->p.ahead + (slice - 2) * TILE;
    if (slice == 1)
        swap_rows(g, g->p.from, g->p.width, 0, g->p.from);
    else if (slice > 1)
        bring_up(g, g->p.from, g->p.width, first, least(first + TILE, g->p.n));
    else if (g->p.ahead) {
        bring_up(g, g->p.from, g->p.width, next, next + g->p.ahead);
        factor_panel(g, next, g->p.ahead);
    }
}

void blocked_lu(const Frame *f, bool is_slice, Element e, int64_t m, int64_t n, void *a,
                int32_t *pivots, int32_t *info)
{
    int64_t k = least(m, n), panel = k >= WIDE_FROM ? WIDE_PANEL : PANEL;
    const GemmLevel *level = gemm_level_of((GemmKind)gemm_kind(e, e, e));
    Lu g = { .p = panels_of(f, e, level, m, n, a, panel), .pivots = pivots };
    const Frame *helped = !is_slice && is_cut(m, n, k / 3) ? f : NULL;
    g.packed = scratch(f, THREAD_MEMORY_ORDER, (size_t)(m * g.p.level->bytes));
    if (!g.packed)
        return;
    factor_panel(&g, 0, least(k, panel));
    panels_walk(&g.p, helped, k, 2, TILE, lu_slice);
    for (int64_t i = 0; i < k; i++)
        pivots[i]++;
    *info = g.info;
}
