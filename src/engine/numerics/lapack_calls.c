/* lapack_calls.c - what each of LAPACK's routines gives, by a library's (lapack_provider.c).
 *
 * Ours are row-major, LAPACK's column-major: to LAPACK, a matrix of ours is its transpose.  Where
 * the transposed problem is as good, nothing is transposed:
 *
 *     potrf  the other triangle          trsm   the other side, the other triangle
 *     gesdd  unless it is tall: U and V^T change places
 *     syevd  the other triangle; the vectors are transposed
 *
 * Else the matrix is transposed on the way in, and again on the way out.  Functions here are of one
 * text for all four element types: to Fortran everything is an address, and only the sizes differ.
 * info goes straight where the program wants it. */
#include "engine/numerics/lapack.h"

#include "engine/floats.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- one matrix in and out ---- */

size_t element_bytes(const Call *c)
{
    return (size_t)element_info[c->element].bytes;
}

size_t part_bytes(const Call *c)
{
    return element_bytes(c) / (c->is_real ? 1 : 2);
}

static void *at_batch(const Call *c, Tensor t)
{
    return (char *)t.data + type_bytes(t.type) / (size_t)c->nbatch * (size_t)c->batch;
}

void *in_at(const Call *c, int i)
{
    return at_batch(c, c->in[i]);
}

void *out_at(const Call *c, int i)
{
    return at_batch(c, c->out[i]);
}

static Int extent_of(Tensor t, int from_end)
{
    return (Int)extent(t, from_end);
}

static Int least(Int a, Int b)
{
    return a < b ? a : b;
}

static Int most(Int a, Int b)
{
    return a > b ? a : b;
}

Error *room(Call *c, int which, size_t bytes, void **out)
{
    if (c->rooms[which].bytes < bytes) {
        free(c->rooms[which].at);
        c->rooms[which].at = malloc(bytes);
        c->rooms[which].bytes = c->rooms[which].at ? bytes : 0;
    }
    *out = c->rooms[which].at;
    if (*out)
        return NULL;
    Str target = ((const CustomCallAttrs *)c->n->attrs)->call_target_name;
    return error_new(CODE_EXHAUSTED, "%.*s of %s, at %s: no memory for %zu bytes to work in",
                     c->n->op == OP_CUSTOM_CALL ? (int)target.n : 0, target.at,
                     type_name(c->in->type), loc_name(c->n->loc), bytes);
}

void call_free(Call *c)
{
    for (int i = 0; i < ROOMS; i++)
        free(c->rooms[i].at);
}

Error *transposed_in(Call *c, int i, int which, void **out)
{
    int64_t rows = extent(c->in[i], 2), columns = extent(c->in[i], 1);
    TRY(room(c, which, (size_t)(rows * columns) * element_bytes(c), out));
    matrix_transpose(rows, columns, element_bytes(c), in_at(c, i), columns, *out, rows);
    return NULL;
}

static void transposed_out(Call *c, int i, const void *from)
{
    int64_t rows = extent(c->out[i], 2), columns = extent(c->out[i], 1);
    matrix_transpose(columns, rows, element_bytes(c), from, rows, out_at(c, i), columns);
}

void copied_out(Call *c, int i, int from)
{
    memcpy(out_at(c, i), in_at(c, from), type_bytes(c->in[from].type) / (size_t)c->nbatch);
}

void zeros_out(Call *c, int i)
{
    memset(out_at(c, i), 0, type_bytes(c->out[i].type) / (size_t)c->nbatch);
}

/* ---- workspace ---- */

Work work_begin(Call *c)
{
    return (Work){ .at = c->rooms[ROOM_WORK].at, .n = c->lwork ? c->lwork : -1 };
}

void *work_at(Work *w)
{
    return w->n < 0 ? w->answer : w->at;
}

bool work_was_asked(Call *c, Work *w)
{
    if (w->n >= 0)
        return false;
    float single;
    memcpy(&single, w->answer, sizeof single);
    double wanted =
        part_bytes(c) == sizeof(float) ? ceil((double)single * (1 + 1e-6)) : w->answer[0];
    w->n = c->lwork = wanted < 1 ? 1 : wanted > INT_MAX ? INT_MAX : (Int)wanted;
    w->error = room(c, ROOM_WORK, (size_t)w->n * element_bytes(c), &w->at);
    return !w->error;
}

static const char left_out[] = "N";

static const char *letter_of(bool is_first, const char *first, const char *other)
{
    return is_first ? first : other;
}

/* A triangle of ours is the other one of the transpose. */
static const char *other_triangle(const Call *c)
{
    return letter_of(option_is(c, "uplo", 'L'), "U", "L");
}

static const char *wanted(const Call *c, const char *name)
{
    return letter_of(option_is(c, name, 'N'), left_out, "V");
}

/* ---- factors ---- */

Error *fortran_getrf(Call *c)
{
    Int m = extent_of(c->in[0], 2), n = extent_of(c->in[0], 1);
    void *a;
    TRY(transposed_in(c, 0, ROOM_MATRIX, &a));
    ROUTINE(c, GETRF, Int *, Int *, void *, Int *, Int *, Int *)
    (&m, &n, a, &m, out_at(c, 1), out_at(c, 2));
    transposed_out(c, 0, a);
    return NULL;
}

int fortran_factor(Element e, bool is_lower, int64_t n, void *a)
{
    Int side = (Int)n, info = 0;
    TYPED(e, POTRF, const char *, Int *, void *, Int *, Int *, size_t)
    (letter_of(is_lower, "U", "L"), &side, a, &side, &info, 1);
    return info;
}

Error *fortran_potrf(Call *c)
{
    copied_out(c, 0, 0);
    *(Int *)out_at(c, 1) =
        fortran_factor(c->element, option_is(c, "uplo", 'L'), extent(c->in[0], 1), out_at(c, 0));
    return NULL;
}

Error *fortran_geqp3(Call *c)
{
    Int m = extent_of(c->in[0], 2), n = extent_of(c->in[0], 1), info;
    void *a, *reals;
    TRY(transposed_in(c, 0, ROOM_MATRIX, &a));
    TRY(room(c, ROOM_REALS, 2 * (size_t)n * part_bytes(c), &reals));
    copied_out(c, 1, 1);
    Work w = work_begin(c);
    do {
        if (c->is_real) {
            ROUTINE(c, GEQP3, Int *, Int *, void *, Int *, Int *, void *, void *, Int *, Int *)
            (&m, &n, a, &m, out_at(c, 1), out_at(c, 2), work_at(&w), &w.n, &info);
        } else {
            ROUTINE(c, GEQP3, Int *, Int *, void *, Int *, Int *, void *, void *, Int *, void *,
                    Int *)
            (&m, &n, a, &m, out_at(c, 1), out_at(c, 2), work_at(&w), &w.n, reals, &info);
        }
    } while (work_was_asked(c, &w));
    transposed_out(c, 0, a);
    return w.error;
}

Error *fortran_ormqr(Call *c)
{
    Int m = extent_of(c->in[2], 2), n = extent_of(c->in[2], 1), k = extent_of(c->in[1], 1), info;
    Int rows = extent_of(c->in[0], 2);
    void *a, *x;
    TRY(transposed_in(c, 0, ROOM_MATRIX, &a));
    TRY(transposed_in(c, 2, ROOM_RIGHT, &x));
    const char *side = letter_of(option(c, "left", 1), "L", "R");
    const char *adjoint = letter_of(c->is_real, "T", "C");
    Work w = work_begin(c);
    do {
        ROUTINE(c, ORMQR, const char *, const char *, Int *, Int *, Int *, void *, Int *, void *,
                void *, Int *, void *, Int *, Int *, size_t, size_t)
        (side, option(c, "transpose", 0) ? adjoint : "N", &m, &n, &k, a, &rows, in_at(c, 1), x, &m,
         work_at(&w), &w.n, &info, 1, 1);
    } while (work_was_asked(c, &w));
    transposed_out(c, 0, x);
    return w.error;
}

Error *fortran_gehrd(Call *c)
{
    Int n = extent_of(c->in[0], 1);
    Int low = (Int)option(c, "low", 1), high = (Int)option(c, "high", n);
    void *a;
    TRY(transposed_in(c, 0, ROOM_MATRIX, &a));
    Work w = work_begin(c);
    do {
        ROUTINE(c, GEHRD, Int *, Int *, Int *, void *, Int *, void *, void *, Int *, Int *)
        (&n, &low, &high, a, &n, out_at(c, 1), work_at(&w), &w.n, out_at(c, 2));
    } while (work_was_asked(c, &w));
    transposed_out(c, 0, a);
    return w.error;
}

Error *fortran_sytrd(Call *c)
{
    Int n = extent_of(c->in[0], 1);
    const char *uplo = letter_of(option_is(c, "uplo", 'L'), "L", "U");
    void *a;
    TRY(transposed_in(c, 0, ROOM_MATRIX, &a));
    Work w = work_begin(c);
    do {
        ROUTINE(c, SYTRD, const char *, Int *, void *, Int *, void *, void *, void *, void *, Int *,
                Int *, size_t)
        (uplo, &n, a, &n, out_at(c, 1), out_at(c, 2), out_at(c, 3), work_at(&w), &w.n, out_at(c, 4),
         1);
    } while (work_was_asked(c, &w));
    transposed_out(c, 0, a);
    return w.error;
}

/* ---- systems ---- */

void fortran_solve(Element e, const Solve *s, const void *a, void *x)
{
    static const float one_single[2] = { 1, 0 };
    static const double one_double[2] = { 1, 0 };
    Int rows = (Int)s->rows, columns = (Int)s->columns, n = s->is_left ? rows : columns;
    Int step = (Int)s->step;
    const void *one = element_part(e) == F32 ? (const void *)one_single : one_double;
    TYPED(e, TRSM, const char *, const char *, const char *, const char *, Int *, Int *,
          const void *, const void *, Int *, void *, Int *, size_t, size_t, size_t, size_t)
    (letter_of(s->is_left, "R", "L"), letter_of(s->is_lower, "U", "L"), &s->op,
     letter_of(s->is_unit, "U", "N"), &columns, &rows, one, a, &n, x, &step, 1, 1, 1, 1);
}

Error *fortran_trsm(Call *c)
{
    Solve s = { .is_left = option_is(c, "side", 'L'),
                .is_lower = option_is(c, "uplo", 'L'),
                .is_unit = option_is(c, "diag", 'U'),
                .op = option_is(c, "trans_x", 'N')   ? 'N'
                      : option_is(c, "trans_x", 'T') ? 'T'
                                                     : 'C',
                .rows = extent(c->in[1], 2),
                .columns = extent(c->in[1], 1),
                .step = extent(c->in[1], 1) };
    copied_out(c, 0, 1);
    fortran_solve(c->element, &s, in_at(c, 0), out_at(c, 0));
    return NULL;
}

/* The first entry below the diagonal stands in our second place. */
Error *fortran_gtsv(Call *c)
{
    if (c->is_real) {
        real_gtsv(c);
        return NULL;
    }
    Int n = extent_of(c->in[3], 2), columns = extent_of(c->in[3], 1);
    void *b;
    for (int i = 0; i < 3; i++)
        copied_out(c, i, i);
    TRY(transposed_in(c, 3, ROOM_MATRIX, &b));
    ROUTINE(c, GTSV, Int *, Int *, void *, void *, void *, void *, Int *, Int *)
    (&n, &columns, (char *)out_at(c, 0) + element_bytes(c), out_at(c, 1), out_at(c, 2), b, &n,
     out_at(c, 4));
    transposed_out(c, 3, b);
    return NULL;
}

/* ---- eigenvalues, singular values ---- */

void conjugate(const Call *c, int64_t n, void *at)
{
    for (int64_t i = 0; i < n && !c->is_real; i++)
        if (part_bytes(c) == sizeof(float))
            ((float *)at)[2 * i + 1] *= -1;
        else
            ((double *)at)[2 * i + 1] *= -1;
}

static double real_at(const Call *c, const void *at, int64_t i)
{
    return part_bytes(c) == sizeof(float) ? (double)((const float *)at)[i]
                                          : ((const double *)at)[i];
}

static void real_set(const Call *c, void *at, int64_t i, double x)
{
    if (part_bytes(c) == sizeof(float))
        ((float *)at)[i] = (float)x;
    else
        ((double *)at)[i] = x;
}

void shift(const Call *c, void *at, int64_t n, int exponent)
{
    for (int64_t i = 0; exponent && i < n; i++)
        real_set(c, at, i, ldexp(real_at(c, at, i), exponent));
}

int far_exponent(const Call *c, const void *at, int64_t n)
{
    enum { FAR = 30 };
    double most = 0;
    int exponent = 0;
    for (int64_t i = 0; i < n; i++) {
        double size = fabs(real_at(c, at, i));
        most = size > most ? size : most;
    }
    if (isfinite(most))
        frexp(most, &exponent);
    return abs(exponent) > FAR ? exponent : 0;
}

/* To LAPACK the matrix is the conjugate one, and so are its eigenvectors. */
Error *fortran_syevd(Call *c)
{
    Int n = extent_of(c->in[0], 1), nints = 3 + 5 * n;
    if ((double)n * n * 2 + 5 * n + 1 > INT_MAX)
        return error_new(CODE_EXHAUSTED,
                         "eigenvectors of %s, at %s: LAPACK counts its workspace in "
                         "32 bits",
                         type_name(c->in->type), loc_name(c->n->loc));
    if (n >= BY_PARTS && !option_is(c, "mode", 'N'))
        return eigen_by_parts(c);
    Int nreals = 1 + 5 * n + 2 * n * n;
    size_t bytes = (size_t)n * (size_t)n * element_bytes(c);
    void *a, *ints, *reals = NULL;
    TRY(room(c, ROOM_MATRIX, bytes, &a));
    TRY(room(c, ROOM_INTS, (size_t)nints * sizeof(Int), &ints));
    if (!c->is_real)
        TRY(room(c, ROOM_REALS, (size_t)nreals * part_bytes(c), &reals));
    memcpy(a, in_at(c, 0), bytes);
    Work w = work_begin(c);
    do {
        if (c->is_real) {
            ROUTINE(c, SYEVD, const char *, const char *, Int *, void *, Int *, void *, void *,
                    Int *, void *, Int *, Int *, size_t, size_t)
            (wanted(c, "mode"), other_triangle(c), &n, a, &n, out_at(c, 1), work_at(&w), &w.n, ints,
             &nints, out_at(c, 2), 1, 1);
        } else {
            ROUTINE(c, SYEVD, const char *, const char *, Int *, void *, Int *, void *, void *,
                    Int *, void *, Int *, void *, Int *, Int *, size_t, size_t)
            (wanted(c, "mode"), other_triangle(c), &n, a, &n, out_at(c, 1), work_at(&w), &w.n,
             reals, &nreals, ints, &nints, out_at(c, 2), 1, 1);
        }
    } while (work_was_asked(c, &w));
    transposed_out(c, 0, a);
    conjugate(c, (int64_t)n * n, out_at(c, 0));
    return w.error;
}

/* LAPACK is shown a matrix of at least as many rows as columns, which it takes apart faster: a wide
 * or square one of ours as it lies, transposed, when its U is our V^T and its V^T our U; a tall one
 * transposed, and its vectors transposed back. */
typedef struct Svd {
    Int m, n, k, vt_rows; /* as LAPACK sees it */
    Int u_columns;
    const char *job;
    bool is_tall;
    void *a, *u, *vt;
} Svd;

static Error *svd_begin(Call *c, Svd *s)
{
    Int rows = extent_of(c->in[0], 2), columns = extent_of(c->in[0], 1);
    Int across = extent_of(c->out[2], 1), down = extent_of(c->out[3], 2);
    *s = (Svd){ .m = most(rows, columns), .n = least(rows, columns), .is_tall = rows > columns };
    s->k = s->n;
    s->u_columns = s->is_tall ? across : down;
    s->vt_rows = s->is_tall ? down : across;
    bool is_thin = s->u_columns == s->k && s->vt_rows == s->k;
    s->job = option_is(c, "mode", 'N') ? left_out : is_thin ? "S" : "A";
    if (s->job == left_out) {
        zeros_out(c, 2);
        zeros_out(c, 3);
    }
    copied_out(c, 0, 0);
    s->a = out_at(c, 0);
    s->u = out_at(c, 3);
    s->vt = out_at(c, 2);
    if (!s->is_tall)
        return NULL;
    TRY(transposed_in(c, 0, ROOM_MATRIX, &s->a));
    TRY(room(c, ROOM_LEFT, (size_t)s->m * (size_t)s->u_columns * element_bytes(c), &s->u));
    return room(c, ROOM_RIGHT, (size_t)s->vt_rows * (size_t)s->n * element_bytes(c), &s->vt);
}

static void svd_end(Call *c, const Svd *s)
{
    if (s->is_tall && s->job != left_out) {
        transposed_out(c, 2, s->u);
        transposed_out(c, 3, s->vt);
    }
}

Error *fortran_gesdd(Call *c)
{
    Svd s;
    if (least(extent_of(c->in[0], 1), extent_of(c->in[0], 2)) >= BY_PARTS)
        return singular_by_parts(c);
    TRY(svd_begin(c, &s));
    size_t k = (size_t)s.k, longer = (size_t)most(s.m, s.n);
    size_t nreals =
        7 * k + (5 * k * k > 2 * longer * k + 2 * k * k ? 5 * k * k : 2 * longer * k + 2 * k * k);
    void *ints, *reals = NULL;
    TRY(room(c, ROOM_INTS, 8 * k * sizeof(Int), &ints));
    if (!c->is_real)
        TRY(room(c, ROOM_REALS, nreals * part_bytes(c), &reals));
    Work w = work_begin(c);
    do {
        if (c->is_real) {
            ROUTINE(c, GESDD, const char *, Int *, Int *, void *, Int *, void *, void *, Int *,
                    void *, Int *, void *, Int *, void *, Int *, size_t)
            (s.job, &s.m, &s.n, s.a, &s.m, out_at(c, 1), s.u, &s.m, s.vt, &s.vt_rows, work_at(&w),
             &w.n, ints, out_at(c, 4), 1);
        } else {
            ROUTINE(c, GESDD, const char *, Int *, Int *, void *, Int *, void *, void *, Int *,
                    void *, Int *, void *, Int *, void *, void *, Int *, size_t)
            (s.job, &s.m, &s.n, s.a, &s.m, out_at(c, 1), s.u, &s.m, s.vt, &s.vt_rows, work_at(&w),
             &w.n, reals, ints, out_at(c, 4), 1);
        }
    } while (work_was_asked(c, &w));
    svd_end(c, &s);
    return w.error;
}

Error *fortran_gesvd(Call *c)
{
    Svd s;
    TRY(svd_begin(c, &s));
    void *reals = NULL;
    TRY(room(c, ROOM_REALS, 5 * (size_t)s.k * part_bytes(c), &reals));
    Work w = work_begin(c);
    do {
        if (c->is_real) {
            ROUTINE(c, GESVD, const char *, const char *, Int *, Int *, void *, Int *, void *,
                    void *, Int *, void *, Int *, void *, Int *, Int *, size_t, size_t)
            (s.job, s.job, &s.m, &s.n, s.a, &s.m, out_at(c, 1), s.u, &s.m, s.vt, &s.vt_rows,
             work_at(&w), &w.n, out_at(c, 4), 1, 1);
        } else {
            ROUTINE(c, GESVD, const char *, const char *, Int *, Int *, void *, Int *, void *,
                    void *, Int *, void *, Int *, void *, Int *, void *, Int *, size_t, size_t)
            (s.job, s.job, &s.m, &s.n, s.a, &s.m, out_at(c, 1), s.u, &s.m, s.vt, &s.vt_rows,
             work_at(&w), &w.n, reals, out_at(c, 4), 1, 1);
        }
    } while (work_was_asked(c, &w));
    svd_end(c, &s);
    return w.error;
}

/* Eigenvectors of a real matrix: of a pair, LAPACK gives the real and the imaginary part of the
 * first as two columns. */
static void pairs_out(Call *c, int i, const void *columns, const void *imaginary)
{
    int64_t n = extent(c->out[i], 1);
    void *to = out_at(c, i);
    for (int64_t j = 0; j < n; j++) {
        double above = real_at(c, imaginary, j);
        int64_t first = above < 0 && j ? j - 1 : j;
        double sign = above == 0 ? 0 : above < 0 ? -1 : 1;
        for (int64_t r = 0; r < n; r++) {
            double part = sign == 0 ? 0 : sign * real_at(c, columns, (first + 1) * n + r);
            real_set(c, to, 2 * (r * n + j), real_at(c, columns, first * n + r));
            real_set(c, to, 2 * (r * n + j) + 1, part);
        }
    }
}

static void vectors_out(Call *c, int i, const char *job, const void *columns)
{
    if (job == left_out)
        zeros_out(c, i);
    else if (c->is_real)
        pairs_out(c, i, columns, out_at(c, 1));
    else
        transposed_out(c, i, columns);
}

/* A matrix far from 1 the libraries' geev would scale itself, but SciPy's of 2026 comes back with other
 * eigenvalues. */
Error *fortran_geev(Call *c)
{
    Int n = extent_of(c->in[0], 1);
    size_t bytes = (size_t)n * (size_t)n * element_bytes(c);
    const char *job_left = wanted(c, "compute_left"), *job_right = wanted(c, "compute_right");
    void *a, *left, *right, *reals;
    TRY(transposed_in(c, 0, ROOM_MATRIX, &a));
    TRY(room(c, ROOM_LEFT, bytes, &left));
    TRY(room(c, ROOM_RIGHT, bytes, &right));
    TRY(room(c, ROOM_REALS, 2 * (size_t)n * part_bytes(c), &reals));
    int64_t parts = c->is_real ? 1 : 2;
    int exponent = far_exponent(c, a, parts * n * n);
    shift(c, a, parts * n * n, -exponent);
    Work w = work_begin(c);
    do {
        if (c->is_real) {
            ROUTINE(c, GEEV, const char *, const char *, Int *, void *, Int *, void *, void *,
                    void *, Int *, void *, Int *, void *, Int *, Int *, size_t, size_t)
            (job_left, job_right, &n, a, &n, out_at(c, 0), out_at(c, 1), left, &n, right, &n,
             work_at(&w), &w.n, out_at(c, 4), 1, 1);
        } else {
            ROUTINE(c, GEEV, const char *, const char *, Int *, void *, Int *, void *, void *,
                    Int *, void *, Int *, void *, Int *, void *, Int *, size_t, size_t)
            (job_left, job_right, &n, a, &n, out_at(c, 0), left, &n, right, &n, work_at(&w), &w.n,
             reals, out_at(c, 3), 1, 1);
        }
    } while (work_was_asked(c, &w));
    if (w.error)
        return w.error;
    int at = c->is_real ? 2 : 1;
    for (int i = 0; i < at; i++)
        shift(c, out_at(c, i), parts * n, exponent);
    vectors_out(c, at, job_left, left);
    vectors_out(c, at + 1, job_right, right);
    return NULL;
}

Error *fortran_gees(Call *c)
{
    Int n = extent_of(c->in[0], 1);
    const char *job = wanted(c, "mode");
    void *a, *z, *reals;
    TRY(transposed_in(c, 0, ROOM_MATRIX, &a));
    TRY(room(c, ROOM_LEFT, (size_t)n * (size_t)n * element_bytes(c), &z));
    TRY(room(c, ROOM_REALS, (size_t)n * part_bytes(c), &reals));
    Work w = work_begin(c);
    do {
        if (c->is_real) {
            ROUTINE(c, GEES, const char *, const char *, void *, Int *, void *, Int *, Int *,
                    void *, void *, void *, Int *, void *, Int *, void *, Int *, size_t, size_t)
            (job, "N", NULL, &n, a, &n, out_at(c, 4), out_at(c, 2), out_at(c, 3), z, &n,
             work_at(&w), &w.n, NULL, out_at(c, 5), 1, 1);
        } else {
            ROUTINE(c, GEES, const char *, const char *, void *, Int *, void *, Int *, Int *,
                    void *, void *, Int *, void *, Int *, void *, void *, Int *, size_t, size_t)
            (job, "N", NULL, &n, a, &n, out_at(c, 3), out_at(c, 2), z, &n, work_at(&w), &w.n, reals,
             NULL, out_at(c, 4), 1, 1);
        }
    } while (work_was_asked(c, &w));
    if (w.error)
        return w.error;
    transposed_out(c, 0, a);
    if (job == left_out)
        zeros_out(c, 1);
    else
        transposed_out(c, 1, z);
    return NULL;
}
