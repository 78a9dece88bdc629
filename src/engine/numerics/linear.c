/* linear.c - triangular systems, Cholesky and QR factors, matrix by matrix.
 *
 * In: batches of matrices of f32, f64 or complex numbers of these.  Which loops factor a matrix its
 * size decides: small_matrices.c, blocked_cholesky.c, gemm_triangle.h, a library's (lapack_calls.c), or else
 * linalg/dense.c. */
#include "engine/numerics/lapack.h"

#include "engine/custom_call.h"
#include "engine/numerics/linalg/mat.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Room for n elements, or an error. */
static Error *room_new(const Node *n, Type type, int64_t elements, void **out)
{
    *out = malloc((size_t)(elements + 1) * (size_t)element_info[type.element].bytes);
    if (*out)
        return NULL;
    return error_new(CODE_EXHAUSTED, "%s of %s, at %s: no memory", op_name(n->op), type_name(type),
                     loc_name(n->loc));
}

static int64_t rows_of(Type t)
{
    return t.dims[t.rank - 2];
}

static int64_t columns_of(Type t)
{
    return t.dims[t.rank - 1];
}

static int64_t count_matrices(Type t)
{
    int64_t n = 1;
    for (int i = 0; i < t.rank - 2; i++)
        n *= t.dims[i];
    return n;
}

bool cholesky_wants_library(Type a)
{
    return element_info[a.element].kind == COMPLEX && rows_of(a) > SMALL_ROWS &&
           rows_of(a) <= INT_MAX && columns_of(a) <= INT_MAX;
}

static bool has_library(const Frame *f, Type a)
{
    return f && cholesky_wants_library(a) && lapack_routine(LAPACK_POTRF, a.element);
}

/* One operation on a batch, as batch_execute hands it out. */
typedef struct Linear {
    const Frame *frame;
    const Node *n;
    Type a;
    Triangle triangle;
    bool is_lower; /* cholesky */
    const char *in;
    char *out;
    int64_t each;    /* elements of a matrix of out */
    bool is_library; /* cholesky */
    int64_t npieces; /* of a complex system: its right-hand sides are cut into so many */
} Linear;

static const char *matrix_in(const Linear *l, int64_t i)
{
    return l->in + i * rows_of(l->a) * rows_of(l->a) * element_info[l->a.element].bytes;
}

static char *matrix_out(const Linear *l, int64_t i)
{
    return l->out + i * l->each * element_info[l->a.element].bytes;
}

/* The matrices of groups of SMALL_GROUP. */
static int64_t in_groups(const Linear *l, int64_t from, int64_t to)
{
    int64_t n = count_matrices(l->a);
    return to * SMALL_GROUP < n ? (to - from) * SMALL_GROUP : n - from * SMALL_GROUP;
}

static Error *solve_small(void *user, int64_t from, int64_t to)
{
    const Linear *l = user;
    const Triangle *t = &l->triangle;
    SmallSolve s = { .side = t->n,
                     .other = t->other,
                     .is_left = t->is_left,
                     .is_lower = t->is_lower == (t->op == NO_TRANSPOSE),
                     .is_unit = t->is_unit,
                     .is_transposed = t->op != NO_TRANSPOSE };
    int64_t first = from * SMALL_GROUP;
    small_solve(l->a.element, in_groups(l, from, to), &s, matrix_in(l, first), matrix_out(l, first),
                matrix_out(l, first));
    return NULL;
}

static Error *cholesky_small(void *user, int64_t from, int64_t to)
{
    const Linear *l = user;
    int64_t first = from * SMALL_GROUP;
    small_cholesky(l->a.element, in_groups(l, from, to), rows_of(l->a), l->is_lower,
                   matrix_in(l, first), matrix_out(l, first));
    return NULL;
}

static Error *solve_some(void *user, int64_t from, int64_t to)
{
    const Linear *l = user;
    const Triangle *t = &l->triangle;
    void *room;
    TRY(room_new(l->n, l->a, t->n * t->n, &room));
    for (int64_t i = from; i < to; i++)
        dense_solve(l->a.element, t, matrix_in(l, i), matrix_out(l, i), room);
    free(room);
    return NULL;
}

/* The pieces that the right-hand sides of a system are cut into, for workers to share.  It depends on
 * the sizes alone, and so do the results. */
static int64_t count_pieces(const Triangle *t)
{
    enum { LEAST_ROWS = 64, LEAST_OTHER = 32, MOST_PIECES = 16 };
    int64_t n = t->n < LEAST_ROWS ? 1 : t->other / LEAST_OTHER;
    return n < 1 ? 1 : n > MOST_PIECES ? MOST_PIECES : n;
}

/* The same system with a on the left: x op(a) = b is op(a)^T x^T = b^T. */
static TriangularSystem system_of(const Frame *f, const Triangle *t, const void *b, const Linear *l)
{
    bool is_turned = (t->op == NO_TRANSPOSE) != t->is_left;
    return (TriangularSystem){ .frame = f,
                               .n = t->n,
                               .other = t->other,
                               .a = l->in,
                               .b = b,
                               .a_row = is_turned ? 1 : t->n,
                               .a_col = is_turned ? t->n : 1,
                               .b_row = t->is_left ? t->other : 1,
                               .b_col = t->is_left ? 1 : t->n,
                               .x = l->out,
                               .is_lower = t->is_lower == t->is_left,
                               .is_unit = t->is_unit };
}

/* Systems of few right-hand sides. */
static Error *solve_few(void *user, int64_t from, int64_t to)
{
    const Linear *l = user;
    TriangularSystem s = system_of(l->frame, &l->triangle, NULL, l);
    s.a = matrix_in(l, from);
    s.b = s.x = matrix_out(l, from);
    triangular_solve(l->a.element, &s, to - from);
    return NULL;
}

/* ---- complex systems ---- */

static void conjugate_all(Element e, int64_t n, void *at)
{
    for (int64_t i = 0; i < n; i++)
        if (e == C64)
            ((float *)at)[2 * i + 1] *= -1;
        else
            ((double *)at)[2 * i + 1] *= -1;
}

/* Some right-hand sides of each, which workers share; of a on the right they are rows, and are turned. */
static Error *solve_sides(void *user, int64_t from, int64_t to)
{
    const Linear *l = user;
    const Triangle *t = &l->triangle;
    int64_t n = t->n, bytes = element_info[l->a.element].bytes;
    bool by_rows = t->op == NO_TRANSPOSE;
    void *turned = NULL;
    if (!t->is_left)
        TRY(room_new(l->n, l->a, n * (t->other / l->npieces + 1), &turned));
    for (int64_t i = from; i < to; i++) {
        int64_t matrix = i / l->npieces, piece = i % l->npieces;
        int64_t first = t->other * piece / l->npieces;
        int64_t sides = t->other * (piece + 1) / l->npieces - first;
        char *at = matrix_out(l, matrix) + first * (turned ? n : 1) * bytes;
        if (turned)
            matrix_transpose(sides, n, (size_t)bytes, at, n, turned, sides);
        TriangularSystem s = { .frame = l->frame,
                               .n = n,
                               .other = sides,
                               .a = matrix_in(l, matrix),
                               .b = turned ? turned : at,
                               .a_row = by_rows ? n : 1,
                               .a_col = by_rows ? 1 : n,
                               .b_row = turned ? sides : t->other,
                               .b_col = 1,
                               .x = turned ? turned : at,
                               .is_lower = t->is_lower,
                               .is_unit = t->is_unit,
                               .is_slice = true };
        triangular_solve(l->a.element, &s, 1);
        if (turned)
            matrix_transpose(n, sides, (size_t)bytes, turned, sides, at, n);
    }
    free(turned);
    return NULL;
}

/* As a system with a on the left: x op(a) = b is op(a)^T x^T = b^T, and of an adjoint matrix x and b become conjugate.
 * What is then a transposed matrix is turned, unless there is one right-hand side.  Out holds b. */
static Error *solve_complex(Linear *l, double work)
{
    Triangle t = l->triangle;
    Element e = l->a.element;
    bool is_conjugate = t.op == ADJOINT, is_transposed = (t.op != NO_TRANSPOSE) == t.is_left;
    size_t bytes = (size_t)element_info[e].bytes;
    int64_t count = count_matrices(l->a), numbers = count * t.n * t.other, square = t.n * t.n;
    void *turned = NULL;
    if (!numbers)
        return NULL;
    if (is_transposed && t.other > 1) {
        TRY(room_new(l->n, l->a, count * square, &turned));
        for (int64_t i = 0; i < count; i++)
            matrix_transpose(t.n, t.n, bytes, matrix_in(l, i), t.n,
                             (char *)turned + (size_t)(i * square) * bytes, t.n);
        l->in = turned;
    }
    if (is_conjugate)
        conjugate_all(e, numbers, l->out);
    l->triangle.op = is_transposed && !turned ? TRANSPOSE : NO_TRANSPOSE;
    l->triangle.is_lower = t.is_lower == t.is_left;
    l->npieces = count_pieces(&t);
    Error *error = batch_execute(l->frame, count * l->npieces, work / (double)l->npieces, BATCH_OWN,
                                 solve_sides, l);
    if (is_conjugate)
        conjugate_all(e, numbers, l->out);
    free(turned);
    return error;
}

/* ---- systems ---- */

/* Does triangular_solve do it?  The evaluator, which has no frame, is what it is held to. */
static bool is_triangular_system(const Frame *f, Element e, const Triangle *t)
{
    return f && (e == F32 || e == F64) && (t->n > SMALL_ROWS || t->other > SMALL_COLUMNS);
}

Error *routine_triangular_solve(const Frame *f, const Node *n, const Tensor *in, Tensor *out)
{
    const TriangularSolveAttrs *t = n->attrs;
    Type a = in[0].type, b = in[1].type;
    Triangle s = { .n = rows_of(a),
                   .other = t->left_side ? columns_of(b) : rows_of(b),
                   .op = t->transpose_a,
                   .is_left = t->left_side,
                   .is_lower = t->lower == (t->transpose_a == NO_TRANSPOSE),
                   .is_unit = t->unit_diagonal };
    Linear l = { .frame = f,
                 .n = n,
                 .a = a,
                 .triangle = s,
                 .in = in[0].data,
                 .out = out->data,
                 .each = s.n * s.other };
    bool is_system = is_triangular_system(f, a.element, &s);
    if (is_system && s.other >= TRIANGULAR_LEAST) {
        TriangularSystem system = system_of(f, &s, in[1].data, &l);
        triangular_solve(a.element, &system, count_matrices(a));
        return NULL;
    }
    double work = (double)s.n * (double)s.n * (double)s.other;
    memcpy(out->data, in[1].data, type_bytes(b));
    if (is_system)
        return batch_execute(f, count_matrices(a), work, BATCH_OWN, solve_few, &l);
    if (f && element_info[a.element].kind == COMPLEX)
        return solve_complex(&l, work);
    if (small_suits(a.element, s.n) && s.other <= SMALL_COLUMNS)
        return batch_execute(f, small_groups(count_matrices(a)), SMALL_GROUP * work, BATCH_OWN,
                             solve_small, &l);
    return batch_execute(f, count_matrices(a), work, BATCH_OWN, solve_some, &l);
}

static void nan_set(Element e, void *at, int64_t i)
{
    switch (e) {
    case F32: ((float *)at)[i] = NAN; break;
    case F64: ((double *)at)[i] = (double)NAN; break;
    case C64: ((float _Complex *)at)[i] = NAN; break;
    default: ((double _Complex *)at)[i] = (double)NAN;
    }
}

/* The other triangle becomes zero; without a factor, this one nan. */
static void clean_triangle(const Linear *l, char *at, bool has_factor)
{
    int64_t n = rows_of(l->a);
    size_t bytes = (size_t)element_info[l->a.element].bytes;
    for (int64_t r = 0; r < n; r++) {
        char *row = at + (size_t)(r * n) * bytes;
        size_t before = (size_t)r * bytes, through = before + bytes, all = (size_t)n * bytes;
        for (int64_t c = l->is_lower ? 0 : r; c < (l->is_lower ? r + 1 : n) && !has_factor; c++)
            nan_set(l->a.element, row, c);
        if (l->is_lower)
            memset(row + through, 0, all - through);
        else
            memset(row, 0, before);
    }
}

static void factor_by_library(const Linear *l, int64_t i)
{
    int64_t n = rows_of(l->a);
    char *at = matrix_out(l, i);
    memcpy(at, matrix_in(l, i), (size_t)(n * n * element_info[l->a.element].bytes));
    clean_triangle(l, at, fortran_factor(l->a.element, l->is_lower, n, at) == 0);
}

/* Large ones, one by one: workers share a matrix that is alone, or else the batch.  The upper factor is the lower
 * one of the transpose, transposed. */
static Error *cholesky_large(void *user, int64_t from, int64_t to)
{
    const Linear *l = user;
    int64_t n = rows_of(l->a);
    size_t bytes = (size_t)element_info[l->a.element].bytes;
    void *turned = NULL;
    if (!l->is_lower)
        TRY(room_new(l->n, l->a, 2 * n * n, &turned));
    for (int64_t i = from; i < to; i++) {
        const void *in = matrix_in(l, i);
        char *out = matrix_out(l, i),
             *factor = turned ? (char *)turned + (size_t)(n * n) * bytes : out;
        if (turned)
            matrix_transpose(n, n, bytes, in, n, turned, n);
        bool has_factor = blocked_cholesky(l->frame, count_matrices(l->a) > 1, l->a.element, n,
                                           turned ? turned : in, factor);
        if (turned)
            matrix_transpose(n, n, bytes, factor, n, out, n);
        if (!has_factor)
            clean_triangle(l, out, false);
    }
    free(turned);
    return NULL;
}

static Error *cholesky_some(void *user, int64_t from, int64_t to)
{
    const Linear *l = user;
    int64_t n = rows_of(l->a);
    for (int64_t i = from; i < to && l->is_library; i++)
        factor_by_library(l, i);
    if (l->is_library)
        return NULL;
    void *room;
    TRY(room_new(l->n, l->a, n * n + n, &room));
    for (int64_t i = from; i < to; i++)
        dense_cholesky(l->a.element, n, l->is_lower, matrix_in(l, i), matrix_out(l, i), room);
    free(room);
    return NULL;
}

Error *routine_cholesky(const Frame *f, const Node *n, const Tensor *in, Tensor *out)
{
    Type a = in->type;
    double side = (double)rows_of(a);
    Linear l = { .frame = f,
                 .n = n,
                 .a = a,
                 .is_lower = ((const CholeskyAttrs *)n->attrs)->lower,
                 .in = in->data,
                 .out = out->data,
                 .each = rows_of(a) * rows_of(a),
                 .is_library = has_library(f, a) };
    double work = side * side * side / 3;
    if (small_suits(a.element, rows_of(a)))
        return batch_execute(f, small_groups(count_matrices(a)), SMALL_GROUP * work, BATCH_OWN,
                             cholesky_small, &l);
    if (f && (a.element == F32 || a.element == F64)) /* the evaluator is what it is held to */
        return batch_execute(f, count_matrices(a), work, BATCH_OWN, cholesky_large, &l);
    return batch_execute(f, count_matrices(a), work,
                         l.is_library ? BATCH_LIBRARY_THREADS : BATCH_OWN, cholesky_some, &l);
}

/* ---- custom calls ---- */

Error *routine_qr(__attribute__((unused)) const Frame *f, const Node *n, const Tensor *in,
                  Tensor *out)
{
    TRY(custom_qr_fits(n, in, out));
    Type a = in[0].type;
    int64_t each = rows_of(a) * columns_of(a), nfactors = out[1].type.dims[a.rank - 2];
    size_t bytes = (size_t)element_info[a.element].bytes;
    void *room;
    TRY(room_new(n, a, columns_of(a), &room));
    memcpy(out[0].data, in[0].data, type_bytes(a));
    for (int64_t i = 0; i < count_matrices(a); i++)
        dense_qr(a.element, rows_of(a), columns_of(a),
                 (char *)out[0].data + (size_t)(i * each) * bytes,
                 (char *)out[1].data + (size_t)(i * nfactors) * bytes, room);
    free(room);
    return NULL;
}

Error *routine_householder(__attribute__((unused)) const Frame *f, const Node *n, const Tensor *in,
                           Tensor *out)
{
    TRY(custom_householder_fits(n, in, out));
    Type a = in[0].type;
    int64_t nfactors = in[1].type.dims[in[1].type.rank - 1];
    int64_t each = rows_of(a) * columns_of(a);
    size_t bytes = (size_t)element_info[a.element].bytes;
    void *room;
    TRY(room_new(n, a, columns_of(a), &room));
    for (int64_t i = 0; i < count_matrices(a); i++)
        dense_householder(a.element, rows_of(a), columns_of(a), nfactors,
                          (char *)in[0].data + (size_t)(i * each) * bytes,
                          (char *)in[1].data + (size_t)(i * nfactors) * bytes,
                          (char *)out->data + (size_t)(i * each) * bytes, room);
    free(room);
    return NULL;
}

/* ---- narrow floats ---- */

/* Matrices of narrow floats become f32, and the results narrow again. */
Error *routine_widened(const Frame *f, const Node *n, const Tensor *in, Tensor *out)
{
    Routine *wider = n->op == OP_CHOLESKY ? routine_cholesky : routine_triangular_solve;
    Tensor wide[3] = { 0 };
    Error *error = NULL;
    for (int i = 0; i <= n->nin && !error; i++) {
        Tensor narrow = i < n->nin ? in[i] : out[0];
        int64_t count = type_count(narrow.type);
        wide[i].type = narrow.type;
        wide[i].type.element = F32;
        wide[i].data = malloc(sizeof(float) * (size_t)(count + 1));
        if (!wide[i].data)
            error = error_new(CODE_EXHAUSTED, "%s of %s: no memory", op_name(n->op),
                              type_name(narrow.type));
        for (int64_t k = 0; k < count && !error && i < n->nin; k++)
            convert_element(wide[i], k, narrow, k);
    }
    if (!error)
        error = wider(f, n, wide, &wide[n->nin]);
    for (int64_t k = 0; k < type_count(out->type) && !error; k++)
        convert_element(*out, k, wide[n->nin], k);
    for (int i = 0; i < 3; i++)
        free(wide[i].data);
    return error;
}
