/* lapack_parts.c - eigenvectors and singular vectors by parts.
 *
 * What LAPACK's syevd and gesdd do, but for the products in them:
 *
 *     a library   makes the matrix tridiagonal, or a complex one bidiagonal, by reflectors, and finds the values and
 *                 vectors of that
 *     our own     makes a real one bidiagonal (blocked_bidiagonal.c), by all workers, and applies reflectors
 *                 (blocked_qr.c); a long matrix is first made square, by its QR factors
 *
 * Our own products run as compiled code does.  To a library matrices are column-major; what it is shown of a
 * matrix of ours says each function. */
#include "engine/numerics/lapack.h"

#include "engine/floats.h"

#include <string.h>

/* n x m numbers become conjugate and transposed: m x n. */
static void adjoint(const Call *c, int64_t n, int64_t m, const void *from, void *to)
{
    matrix_transpose(n, m, element_bytes(c), from, m, to, n);
    conjugate(c, n * m, to);
}

/* Real numbers, n x n, become numbers of the call's type, in rows that lie `step` elements apart. */
static void spread_reals(const Call *c, int64_t n, const void *from, void *to, int64_t step)
{
    size_t part = part_bytes(c), whole = element_bytes(c);
    for (int64_t i = 0; i < n; i++) {
        const char *row = (const char *)from + (size_t)(i * n) * part;
        char *at = (char *)to + (size_t)(i * step) * whole;
        if (c->is_real)
            memcpy(at, row, (size_t)n * whole);
        else
            for (int64_t j = 0; j < n; j++) {
                memcpy(at + (size_t)j * whole, row + (size_t)j * part, part);
                memset(at + (size_t)j * whole + part, 0, part);
            }
    }
}

static void set_one(const Call *c, char *at)
{
    if (part_bytes(c) == sizeof(float))
        *(float *)at = 1;
    else
        *(double *)at = 1;
}

/* x, of rows x columns, becomes the product of k reflectors with it. */
static void reflect(const Call *c, int64_t rows, int64_t columns, int64_t k, const void *reflectors,
                    int64_t step, const void *taus, void *x)
{
    Floats before = floats_enter_compiled();
    blocked_q_times(c->frame, !c->is_alone, c->element, rows, columns, k, reflectors, step, taus,
                    x);
    floats_restore(before);
}

/* ---- eigenvectors ---- */

/* The matrix, column-major: of its lower triangle what the call says. */
static void take_lower(const Call *c, int64_t n, void *to)
{
    if (option_is(c, "uplo", 'L')) {
        matrix_transpose(n, n, element_bytes(c), in_at(c, 0), n, to, n);
        return;
    }
    memcpy(to, in_at(c, 0), (size_t)(n * n) * element_bytes(c));
    conjugate(c, n * n, to);
}

Error *eigen_by_parts(Call *c)
{
    Int n = (Int)extent(c->in[0], 1), nints = 3 + 5 * n, *info = out_at(c, 2);
    int64_t square = (int64_t)n * n, parts = c->is_real ? 1 : 2;
    size_t part = part_bytes(c), whole = element_bytes(c);
    void *a, *turned, *z, *ints, *room_between;
    TRY(room(c, ROOM_MATRIX, (size_t)square * whole, &a));
    TRY(room(c, ROOM_FACTORS, (size_t)square * whole, &turned));
    TRY(room(c, ROOM_SQUARE, 2 * (size_t)square * part, &z));
    TRY(room(c, ROOM_INTS, (size_t)nints * sizeof(Int), &ints));
    TRY(room(c, ROOM_REALS, (size_t)n * (whole + part), &room_between));
    char *taus = room_between, *between = taus + (size_t)n * whole, *values = out_at(c, 1);
    take_lower(c, n, a);
    int exponent = far_exponent(c, a, parts * square);
    shift(c, a, parts * square, -exponent);
    Work w = work_begin(c);
    do {
        ROUTINE(c, SYTRD, const char *, Int *, void *, Int *, void *, void *, void *, void *, Int *,
                Int *, size_t)
        ("L", &n, a, &n, values, between, taus, work_at(&w), &w.n, info, 1);
    } while (work_was_asked(c, &w));
    TRY(w.error);
    Int nwork = 1 + 4 * n + n * n;
    TRY(room(c, ROOM_WORK, (size_t)nwork * whole, &w.at));
    TYPED(element_part(c->element), STEDC, const char *, Int *, void *, void *, void *, Int *,
          void *, Int *, Int *, Int *, Int *, size_t)
    ("I", &n, values, between, z, &n, w.at, &nwork, ints, &nints, info, 1);
    shift(c, values, n, exponent);
    char *rows = (char *)z + (size_t)square * part;
    matrix_transpose(n, n, part, z, n, rows, n);
    spread_reals(c, n, rows, out_at(c, 0), n);
    matrix_transpose(n, n, whole, a, n, turned, n);
    reflect(c, n - 1, n, n - 1, (char *)turned + (size_t)n * whole, n, taus,
            (char *)out_at(c, 0) + (size_t)n * whole);
    return NULL;
}

/* ---- singular values and vectors ---- */

/* A matrix of at least as many rows as columns, x = u diag(values) v^H: ours, or the transpose of a wide one. */
typedef struct Upright {
    bool is_ours;
    bool has_vectors;
    Int m, n, across; /* across: columns of u */
    Int rows;         /* of what becomes bidiagonal: n, if it is R of QR factors; else m */
    char *a;          /* that, a complex one column-major; then the reflectors of both sides */
    char *long_factors, *long_taus; /* the QR factors; NULL: there are none */
    char *u, *v;
    char *between, *left_taus, *right_taus;
} Upright;

static Error *upright_begin(Call *c, Upright *s)
{
    Int rows = (Int)extent(c->in[0], 2), columns = (Int)extent(c->in[0], 1);
    *s = (Upright){ .is_ours = rows >= columns, .has_vectors = !option_is(c, "mode", 'N') };
    s->m = s->is_ours ? rows : columns;
    s->n = s->is_ours ? columns : rows;
    s->across = (Int)(s->is_ours ? extent(c->out[2], 1) : extent(c->out[3], 2));
    bool is_long = (double)s->m * 6 >= (double)s->n * 11;
    s->rows = is_long ? s->n : s->m;
    size_t whole = element_bytes(c), part = part_bytes(c), n = (size_t)s->n;
    size_t all = (size_t)s->m * n * whole, u = (size_t)s->m * (size_t)s->across * whole;
    void *a, *factors = NULL, *other = NULL, *reals;
    TRY(room(c, ROOM_MATRIX, (size_t)s->rows * n * whole, &a));
    if (is_long)
        TRY(room(c, ROOM_LEFT, all, &factors));
    if (s->has_vectors)
        TRY(room(c, ROOM_RIGHT, s->is_ours ? n * n * whole : u, &other));
    TRY(room(c, ROOM_REALS, n * (3 * whole + part), &reals));
    s->a = a;
    s->long_factors = factors;
    s->u = s->is_ours ? out_at(c, 2) : other;
    s->v = s->is_ours ? other : out_at(c, 2);
    s->left_taus = reals;
    s->right_taus = s->left_taus + n * whole;
    s->long_taus = s->right_taus + n * whole;
    s->between = s->long_taus + n * whole;
    return NULL;
}

/* The matrix as it lies, or else transposed. */
static void take_matrix(const Call *c, bool as_it_lies, void *to)
{
    int64_t rows = extent(c->in[0], 2), columns = extent(c->in[0], 1);
    if (as_it_lies)
        memcpy(to, in_at(c, 0), (size_t)(rows * columns) * element_bytes(c));
    else
        matrix_transpose(rows, columns, element_bytes(c), in_at(c, 0), columns, to, rows);
}

/* What is to become bidiagonal, times a power of two, whose exponent is returned. */
static int take_upright(const Call *c, const Upright *s)
{
    int64_t parts = c->is_real ? 1 : 2, n = s->n;
    size_t whole = element_bytes(c), row = (size_t)n * whole;
    char *first = s->long_factors ? s->long_factors : s->a;
    bool is_row_major = c->is_real || s->long_factors;
    take_matrix(c, s->is_ours == is_row_major, first);
    int exponent = far_exponent(c, first, parts * s->m * n);
    shift(c, first, parts * s->m * n, -exponent);
    if (!s->long_factors)
        return exponent;
    Floats before = floats_enter_compiled();
    blocked_qr(c->frame, !c->is_alone, c->element, s->m, n, first, s->long_taus);
    floats_restore(before);
    if (!c->is_real)
        matrix_transpose(n, n, whole, first, n, s->a, n);
    for (int64_t i = 0; i < n; i++) {
        char *line = s->a + (size_t)i * row;
        size_t left = (size_t)i * whole;
        if (c->is_real) {
            memset(line, 0, left);
            memcpy(line + left, first + (size_t)i * row + left, row - left);
        } else {
            memset(line + left + whole, 0, row - left - whole);
        }
    }
    return exponent;
}

/* To bidiagonal form. */
static Error *reduce(Call *c, const Upright *s)
{
    Int rows = s->rows, n = s->n;
    if (c->is_real) {
        BidiagonalParts parts = { out_at(c, 1), s->between, s->left_taus, s->right_taus };
        Floats before = floats_enter_compiled();
        blocked_bidiagonal(c->frame, !c->is_alone, c->element, rows, n, s->a, &parts);
        floats_restore(before);
        return NULL;
    }
    Work w = work_begin(c);
    do {
        ROUTINE(c, GEBRD, Int *, Int *, void *, Int *, void *, void *, void *, void *, void *,
                Int *, Int *)
        (&rows, &n, s->a, &rows, out_at(c, 1), s->between, s->left_taus, s->right_taus, work_at(&w),
         &w.n, out_at(c, 4));
    } while (work_was_asked(c, &w));
    return w.error;
}

/* Of that the values, and the vectors, column-major: the left ones, then the transposed right ones, then as much room. */
static Error *find_singular(Call *c, const Upright *s, char **vectors)
{
    Int n = s->n;
    size_t part = part_bytes(c), square = (size_t)n * (size_t)n * part;
    void *ints, *found, *work;
    TRY(room(c, ROOM_INTS, 8 * (size_t)n * sizeof(Int), &ints));
    TRY(room(c, ROOM_SQUARE, 3 * square, &found));
    TRY(room(c, ROOM_WORK, 3 * square + 4 * (size_t)n * part, &work));
    TYPED(element_part(c->element), BDSDC, const char *, const char *, Int *, void *, void *,
          void *, Int *, void *, Int *, void *, Int *, void *, Int *, Int *, size_t, size_t)
    ("U", s->has_vectors ? "I" : "N", &n, out_at(c, 1), s->between, found, &n,
     (char *)found + square, &n, NULL, NULL, work, ints, out_at(c, 4), 1, 1);
    *vectors = found;
    return NULL;
}

/* The left vectors, of the matrix as it was: reflected from its own side. */
static Error *take_left(Call *c, const Upright *s, const char *vectors)
{
    int64_t n = s->n, across = s->across;
    size_t whole = element_bytes(c), part = part_bytes(c);
    void *reflectors = s->a;
    char *rows = (char *)vectors + 2 * (size_t)(n * n) * part;
    matrix_transpose(n, n, part, vectors, n, rows, n);
    memset(s->u, 0, (size_t)(s->m * across) * whole);
    spread_reals(c, n, rows, s->u, across);
    for (int64_t j = n; j < across; j++)
        set_one(c, s->u + (size_t)(j * across + j) * whole);
    if (!c->is_real) {
        TRY(room(c, ROOM_FACTORS, (size_t)(s->rows * n) * whole, &reflectors));
        matrix_transpose(n, s->rows, whole, s->a, s->rows, reflectors, n);
    }
    reflect(c, s->rows, across, n, reflectors, n, s->left_taus, s->u);
    if (s->long_factors)
        reflect(c, s->m, across, n, s->long_factors, n, s->long_taus, s->u);
    return NULL;
}

/* The right ones; of complex matrices their reflectors are the conjugates of rows, as the library leaves them. */
static Error *take_right(Call *c, const Upright *s, const char *vectors)
{
    int64_t n = s->n, step = c->is_real ? n : s->rows;
    size_t whole = element_bytes(c);
    void *reflectors = s->a;
    if (c->is_real) {
        TRY(room(c, ROOM_FACTORS, (size_t)(n * n) * whole, &reflectors));
        matrix_transpose(n, n, whole, s->a, n, reflectors, n);
    }
    conjugate(c, n * s->rows, s->a);
    spread_reals(c, n, vectors + (size_t)(n * n) * part_bytes(c), s->v, n);
    reflect(c, n - 1, n, n - 1, (char *)reflectors + (size_t)step * whole, step, s->right_taus,
            s->v + (size_t)n * whole);
    return NULL;
}

static Error *take_vectors(Call *c, const Upright *s, const char *vectors)
{
    TRY(take_left(c, s, vectors));
    TRY(take_right(c, s, vectors));
    if (s->is_ours) {
        adjoint(c, s->n, s->n, s->v, out_at(c, 3));
        return NULL;
    }
    conjugate(c, (int64_t)s->n * s->n, s->v);
    matrix_transpose(s->m, s->across, element_bytes(c), s->u, s->across, out_at(c, 3), s->m);
    return NULL;
}

static bool is_finite(const Call *c)
{
    int64_t count = extent(c->in[0], 2) * extent(c->in[0], 1) * (c->is_real ? 1 : 2);
    const void *at = in_at(c, 0);
    double nothing = 0;
    for (int64_t i = 0; i < count; i++)
        nothing += 0 * (part_bytes(c) == sizeof(float) ? (double)((const float *)at)[i]
                                                       : ((const double *)at)[i]);
    return nothing == 0;
}

Error *singular_by_parts(Call *c)
{
    enum { NOT_NUMBERS = -4 }; /* what gesdd says of a matrix with a nan */
    Upright s;
    char *vectors;
    copied_out(c, 0, 0);
    if (!is_finite(c)) {
        *(Int *)out_at(c, 4) = NOT_NUMBERS;
        return NULL;
    }
    TRY(upright_begin(c, &s));
    int exponent = take_upright(c, &s);
    TRY(reduce(c, &s));
    TRY(find_singular(c, &s, &vectors));
    shift(c, out_at(c, 1), s.n, exponent);
    if (s.has_vectors)
        return take_vectors(c, &s, vectors);
    zeros_out(c, 2);
    zeros_out(c, 3);
    return NULL;
}
