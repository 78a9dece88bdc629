/* blocked_factors.c - QR factors of large complex matrices: a library's routines on parts of them.
 *
 * A panel of columns is factored as a whole; then what stands right of it, cut into tiles of columns
 * that the workers share, takes part in what the panel did.  Each call of the library has one
 * thread and parts whose sizes follow from the matrix alone, so results do not depend on the number
 * of workers.  Matrices are column-major.
 *
 *     QR      the panel's reflectors as one, I - V T V^H, are applied to the tile by products
 *     Q       the same, from the last panel to the first, on the columns of the identity */
#include "engine/numerics/lapack.h"

#include "engine/floats.h"
#include "engine/slices.h"

#include <string.h>

/* Columns of a panel and of a tile; rows and columns from which on matrices are cut. */
enum { PANEL = 64, TILE = 128, LARGE = 256 };

bool blocked_suits(int64_t rows, int64_t columns)
{
    return rows >= LARGE && columns >= LARGE;
}

/* The numbers that products are scaled by, for an element type. */
typedef struct Units {
    const void *zero, *one, *minus;
} Units;

static Units units_of(Element e)
{
    static const float singles[][2] = { { 0, 0 }, { 1, 0 }, { -1, 0 } };
    static const double doubles[][2] = { { 0, 0 }, { 1, 0 }, { -1, 0 } };
    if (element_part(e) == F32)
        return (Units){ singles[0], singles[1], singles[2] };
    return (Units){ doubles[0], doubles[1], doubles[2] };
}

/* Part of a column-major matrix. */
typedef struct Part {
    char *at;
    Int rows, columns, step; /* step: from column to column */
} Part;

/* What a panel and the tiles beside it have in common. */
typedef struct Blocked {
    Element element;
    int64_t bytes; /* of an element */
    Units units;
    Part a;          /* what is cut into tiles */
    Int from, width; /* the panel: its first row and column, its columns */
    Int first;       /* the first column of the tiles */
    Part v;          /* the reflectors, ones and zeros written out */
    char *t, *work;  /* PANEL x PANEL; PANEL for each column of a */
    const char *op;  /* N: I - V T V^H is applied; C: its adjoint */
} Blocked;

static char *element_at(const Blocked *b, Part p, Int row, Int column)
{
    return p.at + ((int64_t)column * p.step + row) * b->bytes;
}

static Part part_of(const Blocked *b, Part p, Int row, Int column, Int rows, Int columns)
{
    return (Part){ element_at(b, p, row, column), rows, columns, p.step };
}

/* c = alpha op(x) y + beta c */
static void multiply(const Blocked *b, const char *op, const void *alpha, Part x, Part y,
                     const void *beta, Part c)
{
    TYPED(b->element, GEMM, const char *, const char *, Int *, Int *, Int *, const void *, void *,
          Int *, void *, Int *, const void *, void *, Int *, size_t, size_t)
    (op, "N", &c.rows, &c.columns, &y.rows, alpha, x.at, &x.step, y.at, &y.step, beta, c.at,
     &c.step, 1, 1);
}

/* ---- tiles ---- */

/* The columns of tile i. */
static Part tile_of(const Blocked *b, int64_t i)
{
    Int first = b->first + (Int)i * TILE, left = b->a.columns - first;
    return part_of(b, b->a, 0, first, b->a.rows, left < TILE ? left : TILE);
}

static void tiles_run(const Frame *f, Blocked *b, SliceFn *tile)
{
    int64_t columns = b->a.columns - b->first;
    if (columns > 0)
        slices_run(f, (columns + TILE - 1) / TILE, tile, b);
}

/* ---- QR ---- */

/* tile = (I - V op(T) V^H) tile, its rows from `from` on. */
static void reflect_tile(void *user, int64_t i)
{
    const Blocked *b = user;
    Floats before = floats_enter_default();
    Part tile = tile_of(b, i);
    tile = part_of(b, tile, b->from, 0, b->v.rows, tile.columns);
    int64_t offset = (b->first + i * TILE) * 2 * PANEL * b->bytes;
    Part w = { b->work + offset, b->width, tile.columns, PANEL };
    Part scaled = { w.at + TILE * PANEL * b->bytes, b->width, tile.columns, PANEL };
    Part t = { b->t, b->width, b->width, PANEL };
    const void *zero = b->units.zero, *one = b->units.one;
    multiply(b, "C", one, b->v, tile, zero, w);
    multiply(b, b->op, one, t, w, zero, scaled);
    multiply(b, "N", b->units.minus, b->v, scaled, one, tile);
    floats_restore(before);
}

/* V and T of the panel at `from` of the reflectors r, as geqrf leaves them. */
static void take_reflectors(Blocked *b, Part r, void *taus)
{
    Int step = PANEL, rows = r.rows - b->from;
    b->v.rows = b->v.step = rows;
    b->v.columns = b->width;
    for (Int j = 0; j < b->width; j++) {
        memset(element_at(b, b->v, 0, j), 0, (size_t)(j * b->bytes));
        memcpy(element_at(b, b->v, j, j), b->units.one, (size_t)b->bytes);
        memcpy(element_at(b, b->v, j + 1, j), element_at(b, r, b->from + j + 1, b->from + j),
               (size_t)((rows - j - 1) * b->bytes));
    }
    memset(b->t, 0, (size_t)(PANEL * PANEL * b->bytes));
    TYPED(b->element, LARFT, const char *, const char *, Int *, Int *, void *, Int *, void *,
          void *, Int *, size_t, size_t)
    ("F", "C", &rows, &b->width, b->v.at, &rows, taus, b->t, &step, 1, 1);
}

/* Room for V, for T, and for two times PANEL numbers of each column, of whole tiles. */
static Error *blocked_begin(Call *c, Part a, Blocked *b)
{
    *b = (Blocked){ .element = c->element,
                    .bytes = element_info[c->element].bytes,
                    .units = units_of(c->element),
                    .a = a };
    void *v, *work;
    size_t panel = PANEL * (size_t)b->bytes;
    TRY(room(c, ROOM_LEFT, (size_t)(a.rows + PANEL) * panel, &v));
    TRY(room(c, ROOM_RIGHT, (size_t)(a.columns + 2 * TILE) * 2 * panel, &work));
    b->v.at = v;
    b->t = b->v.at + (size_t)a.rows * panel;
    b->work = work;
    return NULL;
}

Error *blocked_geqrf(Call *c, Int m, Int n, void *a, void *taus)
{
    Blocked b;
    TRY(blocked_begin(c, (Part){ a, m, n, m }, &b));
    b.op = "C";
    for (Int j = 0, k = m < n ? m : n; j < k; j += PANEL) {
        Int width = k - j < PANEL ? k - j : PANEL, rows = m - j, info, lwork = PANEL * PANEL;
        char *tau = (char *)taus + j * b.bytes;
        b.from = j, b.width = width, b.first = j + width;
        TYPED(c->element, GEQRF, Int *, Int *, void *, Int *, void *, void *, Int *, Int *)
        (&rows, &width, element_at(&b, b.a, j, j), &m, tau, b.t, &lwork, &info);
        if (b.first < n) {
            take_reflectors(&b, b.a, tau);
            tiles_run(c->is_alone ? c->frame : NULL, &b, reflect_tile);
        }
    }
    return NULL;
}

Error *blocked_orgqr(Call *c, Int m, Int n, Int k, const void *reflectors, const void *taus,
                     void *q)
{
    Blocked b;
    TRY(blocked_begin(c, (Part){ q, m, n, m }, &b));
    Part r = { (char *)reflectors, m, k, m };
    b.op = "N";
    memset(q, 0, (size_t)((int64_t)m * n * b.bytes));
    for (Int j = 0; j < n; j++)
        memcpy(element_at(&b, b.a, j, j), b.units.one, (size_t)b.bytes);
    for (Int j = (k - 1) / PANEL * PANEL; j >= 0; j -= PANEL) {
        b.width = k - j < PANEL ? k - j : PANEL;
        b.from = b.first = j;
        take_reflectors(&b, r, (char *)taus + j * b.bytes);
        tiles_run(c->is_alone ? c->frame : NULL, &b, reflect_tile);
    }
    return NULL;
}
