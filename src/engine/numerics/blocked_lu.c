/* blocked_lu.c - LU factors of large matrices: elimination with rows exchanged, over products.
 *
 * A panel of columns is factored; then the columns right of it take part in what the panel did: their
 * rows change places, their upper part is solved for, products are taken off below.  These columns are
 * cut into tiles, which workers share, and the first of them are the next panel, which is factored as
 * soon as they are up to date: so the panels, which one thread factors, hold nobody up.
 *
 *     . . . . . . .        left    rows change places
 *     . L U U u u u        panel   factored: L and U
 *     . L L U n t t        n       next panel: up to date, then factored       one slice
 *     . L L L n t t        t       tiles: up to date                           a slice each
 *
 * Panels and tiles follow from the sizes alone, and so do the results.  A panel is factored by halves,
 * down to as many columns as a vector has lanes (gemm_eliminate.h). */
#include "engine/numerics/gemm.h"

/* Columns of a panel, of large matrices and of others, and of a tile. */
enum { PANEL = 64, WIDE_PANEL = 128, WIDE_FROM = 1024, TILE = 128 };

typedef struct Lu {
    const Frame *frame;
    GemmKind kind;
    const GemmLevel *level;
    int64_t bytes, lanes; /* of an element; elements of a vector */
    int64_t m, n;
    char *a;
    int32_t *pivots; /* from 0 */
    int32_t info;
    char *packed;               /* room for the columns of a vector */
    int64_t panel;              /* columns of a panel */
    int64_t from, width, ahead; /* of the panel under way, of the next */
} Lu;

static char *element_at(const Lu *g, int64_t row, int64_t column)
{
    return g->a + (row * g->n + column) * g->bytes;
}

/* Columns first .. end: rows change places as those of the panel at `from` did. */
static void swap_rows(const Lu *g, int64_t from, int64_t width, int64_t first, int64_t end)
{
    char kept[512];
    for (int64_t k = from; k < from + width; k++) {
        char *x = element_at(g, k, first), *y = element_at(g, g->pivots[k], first);
        size_t left = x == y ? 0 : (size_t)((end - first) * g->bytes);
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
    char *upper = element_at(g, from, first);
    swap_rows(g, from, width, first, end);
    TriangularSystem s = { .frame = g->frame,
                           .n = width,
                           .other = end - first,
                           .a = element_at(g, from, from),
                           .b = upper,
                           .a_row = g->n,
                           .a_col = 1,
                           .b_row = g->n,
                           .b_col = 1,
                           .x = upper,
                           .is_lower = true,
                           .is_unit = true,
                           .is_slice = true };
    g->level->solve[g->kind](&s, 1);
    if (below < g->m)
        g->level->subtract[g->kind](g->frame, g->m - below, end - first, width,
                                    element_at(g, below, from), g->n, upper, g->n, 1,
                                    element_at(g, below, first), g->n);
}

/* The columns of a vector, or fewer, packed and factored. */
static void factor_few(Lu *g, int64_t from, int64_t width)
{
    size_t row = (size_t)(g->lanes * g->bytes), some = (size_t)(width * g->bytes);
    char *packed = g->packed;
    for (int64_t i = from; i < g->m; i++, packed += row) {
        memcpy(packed, element_at(g, i, from), some);
        memset(packed + some, 0, row - some);
    }
    int zero = g->level->eliminate[g->kind](g->m - from, (int)width, g->packed, g->pivots + from);
    if (zero && !g->info)
        g->info = (int32_t)from + zero;
    packed = g->packed;
    for (int64_t i = from; i < g->m; i++, packed += row)
        memcpy(element_at(g, i, from), packed, some);
    for (int64_t k = from; k < from + width; k++)
        g->pivots[k] += (int32_t)from;
}

static void factor_panel(Lu *g, int64_t from, int64_t width)
{
    if (width <= g->lanes) {
        factor_few(g, from, width);
        return;
    }
    int64_t half = (width / 2 + g->lanes - 1) / g->lanes * g->lanes;
    factor_panel(g, from, half);
    bring_up(g, from, half, from + half, from + width);
    factor_panel(g, from + half, width - half);
    swap_rows(g, from + half, width - half, from, from + half);
}

/* Slice 0: the next panel.  1: what is left of the panel.  Then the tiles. */
static void lu_slice(void *user, int64_t slice)
{
    Lu *g = user;
    int64_t next = g->from + g->width, first = next + g->ahead + (slice - 2) * TILE;
    if (slice == 1)
        swap_rows(g, g->from, g->width, 0, g->from);
    else if (slice > 1)
        bring_up(g, g->from, g->width, first, least(first + TILE, g->n));
    else if (g->ahead) {
        bring_up(g, g->from, g->width, next, next + g->ahead);
        factor_panel(g, next, g->ahead);
    }
}

void blocked_lu(const Frame *f, bool is_slice, Element e, int64_t m, int64_t n, void *a,
                int32_t *pivots, int32_t *info)
{
    GemmKind kind = (GemmKind)gemm_kind(e, e, e);
    int64_t k = least(m, n), bytes = element_info[e].bytes;
    Lu g = { .frame = f,
             .kind = kind,
             .level = gemm_level_of(kind),
             .bytes = bytes,
             .lanes = gemm_level_of(kind)->bytes / bytes,
             .m = m,
             .n = n,
             .a = a,
             .pivots = pivots,
             .panel = k >= WIDE_FROM ? WIDE_PANEL : PANEL };
    const Frame *helped = !is_slice && is_cut(m, n, k / 3) ? f : NULL;
    g.packed = scratch(f, THREAD_MEMORY_ORDER, (size_t)(m * g.level->bytes));
    if (!g.packed)
        return;
    factor_panel(&g, 0, least(k, g.panel));
    for (g.from = 0; g.from < k; g.from += g.width) {
        g.width = least(k - g.from, g.panel);
        g.ahead = least(k - g.from - g.width, g.panel);
        int64_t tiles = (n - g.from - g.width - g.ahead + TILE - 1) / TILE;
        slices(helped, 2 + tiles, lu_slice, &g);
    }
    for (int64_t i = 0; i < k; i++)
        pivots[i]++;
    *info = g.info;
}
