/* blocked_qr.c - QR factors of matrices, and Q of them: reflectors applied as products.
 *
 * What stands right of a panel (blocked.h) is multiplied by the panel's reflectors.  Those of a panel, or of half of
 * one, are one block:
 *
 *     H1 H2 ..  =  I - V U^-1 V^H      V: ones on the diagonal, zeros above; a reflector that does nothing is zero
 *                                      U: upper triangle of V^H V, on its diagonal 1 / tau
 *
 * so that a tile takes a product, a triangular system and another product; the factors take the adjoint of that, by
 * U^H.  U is kept negated, since products can only be taken off.  A panel is factored by halves, down to as many
 * columns as a vector has lanes (gemm_reflect.h). */
#include "engine/numerics/blocked.h"

#include <complex.h>

enum { PANEL = 64, TILE = 128 };

/* The reflectors of a panel. */
typedef struct Block {
    char *v;                           /* [rows][PANEL] */
    char *turned;                      /* its adjoint: [PANEL][rows of the matrix, and some] */
    char triangle[PANEL * PANEL * 16]; /* -U, below its diagonal -U^H; [PANEL][PANEL] */
} Block;

typedef struct Qr {
    Panels p;         /* of what is multiplied */
    char *taus;       /* of all panels */
    int64_t apart;    /* from row to row of `turned` */
    char *packed;     /* room for the columns of a vector */
    Block *blocks;    /* two: of the panel under way, of the next */
    bool is_forward;  /* by the last reflector first, as factors are made; else that is Q */
    bool makes_q;     /* what is multiplied was the identity */
    bool is_identity; /* it still is, from the panel's first row and column on */
} Qr;

/* The panel's row and column. */
static char *v_at(const Qr *g, const Block *b, int64_t row, int64_t column)
{
    return b->v + (row * PANEL + column) * g->p.bytes;
}

static char *turned_at(const Qr *g, const Block *b, int64_t row, int64_t column)
{
    return b->turned + (column * g->apart + row) * g->p.bytes;
}

static char *triangle_at(const Qr *g, Block *b, int64_t row, int64_t column)
{
    return b->triangle + (row * PANEL + column) * g->p.bytes;
}

static double _Complex entry_at(const Qr *g, const char *at)
{
    switch (g->p.kind) {
    case GEMM_F32: return *(const float *)at;
    case GEMM_F64: return *(const double *)at;
    case GEMM_C64: return *(const float _Complex *)at;
    default: return *(const double _Complex *)at;
    }
}

static void entry_set(const Qr *g, char *at, double _Complex x)
{
    switch (g->p.kind) {
    case GEMM_F32: *(float *)at = (float)creal(x); break;
    case GEMM_F64: *(double *)at = creal(x); break;
    case GEMM_C64: *(float _Complex *)at = (float _Complex)x; break;
    default: *(double _Complex *)at = x;
    }
}

static bool is_complex(const Qr *g)
{
    return g->p.kind == GEMM_C64 || g->p.kind == GEMM_C128;
}

/* Columns of a tile. */
static int64_t tile_of(const Qr *g)
{
    return g->p.bytes > 8 ? TILE / 2 : TILE;
}

/* Takes off c, of m x n, products of columns left .. left + m of v with b's rows, of v's rows from `row` to the
 * matrix's last at `end`. */
static void take_products(const Qr *g, const Block *block, int64_t row, int64_t end, int64_t left,
                          int64_t m, int64_t n, const char *b, int64_t b_row, char *c,
                          int64_t c_row)
{
    g->p.level->subtract[g->p.kind](g->p.frame, m, n, end - row, turned_at(g, block, row, left),
                                    g->apart, b, b_row, 1, c, c_row);
}

/* Rows and columns of the triangle: of columns left .. left + m with right .. right + n of v. */
static void fill_triangle(const Qr *g, Block *b, int64_t row, int64_t end, int64_t left, int64_t m,
                          int64_t right, int64_t n)
{
    for (int64_t i = 0; i < m; i++)
        memset(triangle_at(g, b, left + i, right), 0, (size_t)(n * g->p.bytes));
    take_products(g, b, row, end, left, m, n, v_at(g, b, row, right), PANEL,
                  triangle_at(g, b, left, right), PANEL);
}

/* ---- the columns of a vector, or fewer, a vector for each row ---- */

static void copy_vector(const Qr *g, void *to, const void *from)
{
    switch (g->p.level->bytes) {
    case 64: memcpy(to, from, 64); break;
    case 32: memcpy(to, from, 32); break;
    default: memcpy(to, from, 16);
    }
}

/* Columns of `a`, from row `from` on.  Behind the last one may stand anything: a vector is copied whole where that is
 * within the matrix, unless others are at work on what lies right of it. */
static void pack(const Qr *g, int64_t from, int64_t column, int64_t width)
{
    char *to = g->packed;
    bool is_whole = width == g->p.lanes || column + width == g->p.n;
    for (int64_t i = from; i < g->p.m; i++, to += g->p.level->bytes)
        if (is_whole && i * g->p.n + column + g->p.lanes <= g->p.m * g->p.n)
            copy_vector(g, to, element_at(&g->p, i, column));
        else {
            memset(to, 0, (size_t)g->p.level->bytes);
            memcpy(to, element_at(&g->p, i, column), (size_t)(width * g->p.bytes));
        }
}

/* Back again.  Whole vectors, where what they write too much is written later, or there is nothing too much. */
static void unpack(const Qr *g, int64_t from, int64_t column, int64_t width)
{
    const char *packed = g->packed;
    bool is_whole = width == g->p.lanes || width == g->p.n;
    for (int64_t i = from; i < g->p.m; i++, packed += g->p.level->bytes)
        if (is_whole && i * g->p.n + column + g->p.lanes <= g->p.m * g->p.n)
            copy_vector(g, element_at(&g->p, i, column), packed);
        else
            memcpy(element_at(&g->p, i, column), packed, (size_t)(width * g->p.bytes));
}

/* ---- a panel ---- */

/* Columns left .. left + width of v, of that many rows, transposed, and conjugate. */
static void turn_columns(const Qr *g, Block *b, int64_t rows, int64_t left, int64_t width)
{
    matrix_transpose(rows, width, (size_t)g->p.bytes, v_at(g, b, 0, left), PANEL,
                     turned_at(g, b, 0, left), g->apart);
    for (int64_t j = left; j < left + width && is_complex(g); j++)
        for (int64_t i = 0; i < rows; i++)
            if (g->p.kind == GEMM_C64)
                ((float *)turned_at(g, b, i, j))[1] *= -1;
            else
                ((double *)turned_at(g, b, i, j))[1] *= -1;
}

/* Columns `left` to left + width of v, of that many rows: from their diagonal on what stands at `from`, whose rows are
 * `step` elements apart. */
static void take_columns(const Qr *g, Block *b, int64_t rows, int64_t left, int64_t width,
                         const char *from, int64_t step, const char *taus)
{
    size_t some = (size_t)(width * g->p.bytes);
    for (int64_t i = 0; i < rows; i++) {
        char *to = v_at(g, b, i, left);
        int64_t row = i - left;
        if (row < 0)
            memset(to, 0, some);
        else
            memcpy(to, from + row * step * g->p.bytes, some);
        for (int64_t j = row; row >= 0 && j < width; j++)
            entry_set(g, to + j * g->p.bytes, j == row);
    }
    for (int64_t j = 0; j < width; j++)
        for (int64_t i = left + j; i < rows && entry_at(g, taus + j * g->p.bytes) == 0; i++)
            entry_set(g, v_at(g, b, i, left + j), 0);
    turn_columns(g, b, rows, left, width);
    fill_triangle(g, b, left, rows, left, width, left, width);
    for (int64_t j = 0; j < width; j++) {
        double _Complex tau = entry_at(g, taus + j * g->p.bytes);
        double _Complex corner = tau == 0 ? -1 : -1 / (g->is_forward ? conj(tau) : tau);
        entry_set(g, triangle_at(g, b, left + j, left + j), corner);
    }
}

/* Columns first .. end of a, `a`'s rows from `row` on, multiplied by the reflectors left .. left + width of the
 * block, whose first row is that one. */
static void multiply(const Qr *g, Block *b, int64_t row, int64_t left, int64_t width, int64_t first,
                     int64_t end)
{
    _Alignas(64) char w[PANEL * TILE * 8];
    int64_t columns = end - first, rows = g->p.m - row, step = tile_of(g);
    memset(w, 0, (size_t)(width * step * g->p.bytes));
    if (g->is_identity)
        for (int64_t j = first - row; j < least(end - row, rows); j++)
            for (int64_t i = 0; i < width; i++)
                entry_set(g, w + (i * step + j - (first - row)) * g->p.bytes,
                          -entry_at(g, turned_at(g, b, left + j, left + i)));
    else
        take_products(g, b, left, left + rows, left, width, columns, element_at(&g->p, row, first),
                      g->p.n, w, step);
    TriangularSystem s = { .frame = g->p.frame,
                           .n = width,
                           .other = columns,
                           .a = triangle_at(g, b, left, left),
                           .b = w,
                           .a_row = PANEL,
                           .a_col = 1,
                           .b_row = step,
                           .b_col = 1,
                           .x = w,
                           .is_lower = g->is_forward,
                           .is_slice = true };
    g->p.level->solve[g->p.kind](&s, 1);
    g->p.level->subtract[g->p.kind](g->p.frame, rows, columns, width, v_at(g, b, left, left), PANEL,
                                    w, step, 1, element_at(&g->p, row, first), g->p.n);
}

static void factor_few(Qr *g, Block *b, int64_t panel, int64_t from, int64_t width)
{
    char *taus = g->taus + from * g->p.bytes;
    pack(g, from, from, width);
    g->p.level->reflect[g->p.kind](g->p.m - from, (int)width, g->packed, taus);
    unpack(g, from, from, width);
    if (from + width < g->p.n)
        take_columns(g, b, g->p.m - panel, from - panel, width, g->packed, g->p.lanes, taus);
}

static void factor_panel(Qr *g, Block *b, int64_t panel, int64_t from, int64_t width)
{
    if (width <= g->p.lanes) {
        factor_few(g, b, panel, from, width);
        return;
    }
    int64_t half = half_of(&g->p, width), middle = from + half;
    int64_t left = from - panel;
    factor_panel(g, b, panel, from, half);
    multiply(g, b, from, left, half, middle, from + width);
    factor_panel(g, b, panel, middle, width - half);
    if (from + width < g->p.n)
        fill_triangle(g, b, left + half, g->p.m - panel, left + half, width - half, left, half);
}

static Block *block_of(const Qr *g, int64_t from)
{
    return &g->blocks[from / PANEL % 2];
}

/* Slice 0: the next panel.  Then the tiles. */
static void qr_slice(void *user, int64_t slice)
{
    Qr *g = user;
    Block *b = block_of(g, g->p.from);
    int64_t next = g->p.from + g->p.width, first = next + g->p.ahead + (slice - 1) * tile_of(g);
    if (slice) {
        multiply(g, b, g->p.from, 0, g->p.width, first, least(first + tile_of(g), g->p.n));
    } else if (g->p.ahead) {
        multiply(g, b, g->p.from, 0, g->p.width, next, next + g->p.ahead);
        factor_panel(g, block_of(g, next), next, next, g->p.ahead);
    }
}

/* Columns before the panel's are zero below its first row, if what is multiplied was the identity. */
static int64_t first_column(const Qr *g)
{
    return g->makes_q ? g->p.from : 0;
}

static void q_slice(void *user, int64_t slice)
{
    Qr *g = user;
    int64_t first = first_column(g) + slice * tile_of(g);
    multiply(g, block_of(g, g->p.from), g->p.from, 0, g->p.width, first,
             least(first + tile_of(g), g->p.n));
}

/* a, multiplied by the product of the first k reflectors, the last one first. */
static void multiply_all(Qr *g, const Frame *helped, int64_t k, const void *reflectors,
                         int64_t step)
{
    g->is_identity = g->makes_q;
    for (g->p.from = (k - 1) / PANEL * PANEL; g->p.from >= 0 && k; g->p.from -= PANEL) {
        g->p.width = least(k - g->p.from, PANEL);
        take_columns(g, block_of(g, g->p.from), g->p.m - g->p.from, 0, g->p.width,
                     (const char *)reflectors + (g->p.from * step + g->p.from) * g->p.bytes, step,
                     g->taus + g->p.from * g->p.bytes);
        slices(helped, (g->p.n - first_column(g) + tile_of(g) - 1) / tile_of(g), q_slice, g);
        g->is_identity = false;
    }
}

/* ---- memory ---- */

enum { KEPT_ROOM = 16 << 20 }; /* threads keep blocks up to this many bytes */

static size_t padded(int64_t bytes)
{
    return ((size_t)bytes + 63) / 64 * 64;
}

/* Room for both blocks and for the columns of a vector.  False: there is none, and the frame has been told. */
static bool room_begin(Qr *g, void **room)
{
    g->apart = (g->p.m + g->p.lanes - 1) / g->p.lanes * g->p.lanes + g->p.lanes;
    size_t blocks = padded(2 * sizeof *g->blocks), packed = padded(g->p.m * g->p.level->bytes);
    size_t v = padded(g->p.m * PANEL * g->p.bytes), turned = padded(g->apart * PANEL * g->p.bytes);
    size_t bytes = blocks + packed + 2 * (v + turned);
    *room = bytes > KEPT_ROOM ? aligned_alloc(64, bytes) : NULL;
    char *at = bytes > KEPT_ROOM ? *room : scratch(g->p.frame, THREAD_MEMORY_ORDER, bytes);
    if (!at && bytes > KEPT)
        frame_fail(
            g->p.frame,
            error_new(CODE_EXHAUSTED, "no memory to factor a matrix: %zu bytes to work in", bytes));
    if (!at)
        return false;
    g->blocks = (Block *)at;
    g->packed = at + blocks;
    at += blocks + packed;
    for (int i = 0; i < 2; i++, at += v + turned) {
        g->blocks[i].v = at;
        g->blocks[i].turned = at + v;
    }
    return true;
}

/* Of the machine's vectors the narrowest that hold a row, since each column walks over all of them. */
static const GemmLevel *level_for(GemmKind kind, int64_t row)
{
    const GemmLevel *widest = gemm_level_of(kind);
#if defined __x86_64__
    if (row <= gemm_level_128.bytes)
        return &gemm_level_128;
    if (row <= gemm_level_256.bytes && gemm_level_256.bytes < widest->bytes)
        return &gemm_level_256;
#else
    (void)row;
#endif
    return widest;
}

static Qr qr_of(const Frame *f, Element e, int64_t m, int64_t n, void *a, void *taus)
{
    const GemmLevel *level = level_for((GemmKind)gemm_kind(e, e, e), n * element_info[e].bytes);
    return (Qr){ .p = panels_of(f, e, level, m, n, a, PANEL), .taus = taus };
}

void blocked_qr(const Frame *f, bool is_slice, Element e, int64_t m, int64_t n, void *a, void *taus)
{
    Qr g = qr_of(f, e, m, n, a, taus);
    int64_t k = least(m, n);
    const Frame *helped = !is_slice && is_cut(m, n, k) ? f : NULL;
    void *room;
    if (!room_begin(&g, &room))
        return;
    g.is_forward = true;
    factor_panel(&g, block_of(&g, 0), 0, 0, least(k, PANEL));
    panels_walk(&g.p, helped, k, 1, tile_of(&g), qr_slice);
    free(room);
}

/* Q of no more columns than a vector has lanes. */
static void spread_few(const Qr *g, int64_t k, const void *reflectors)
{
    memset(g->packed, 0, (size_t)(g->p.m * g->p.level->bytes));
    for (int64_t j = 0; j < g->p.n; j++)
        entry_set(g, g->packed + j * (g->p.level->bytes + g->p.bytes), 1);
    if (k)
        g->p.level->spread[g->p.kind](g->p.m, (int)k, reflectors, g->p.n, g->taus, g->packed);
    unpack(g, 0, 0, g->p.n);
}

void blocked_q(const Frame *f, bool is_slice, Element e, int64_t m, int64_t n, int64_t k,
               const void *reflectors, const void *taus, void *q)
{
    Qr g = qr_of(f, e, m, n, q, (void *)taus);
    const Frame *helped = !is_slice && is_cut(m, n, k) ? f : NULL;
    void *room;
    if (!room_begin(&g, &room))
        return;
    if (n <= g.p.lanes) {
        spread_few(&g, k, reflectors);
        free(room);
        return;
    }
    memset(q, 0, (size_t)(m * n * g.p.bytes));
    for (int64_t j = 0; j < n; j++)
        entry_set(&g, element_at(&g.p, j, j), 1);
    g.makes_q = true;
    multiply_all(&g, helped, k, reflectors, n);
    free(room);
}

void blocked_q_times(const Frame *f, bool is_slice, Element e, int64_t m, int64_t n, int64_t k,
                     const void *reflectors, int64_t step, const void *taus, void *c)
{
    Qr g = qr_of(f, e, m, n, c, (void *)taus);
    void *room;
    if (!room_begin(&g, &room))
        return;
    multiply_all(&g, !is_slice && is_cut(m, n, k) ? f : NULL, k, reflectors, step);
    free(room);
}
