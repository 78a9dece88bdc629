/* lapack.c - the custom calls that JAX emits for linear algebra: lapack_sgetrf_ffi and the
 * like, by our own routines (linalg/).
 *
 * A row of the table says what a call takes and gives, for one matrix of the batch:
 *
 *     "amn > amn ik i"     takes m x n of the call's type; gives the same, min(m, n) integers and
 *                          one integer (info)
 *
 * The first letter is the element type: a as the name says (s d c z), r its real type, c its
 * complex type, i an i32.  The others are extents: bound where they first occur; k is min(m, n)
 * and j is n - 1.  Leading dimensions are the batch, the same for all.  Layouts say how XLA would
 * hand over the bytes, and mean nothing here: arrays are what they are. */
#include "engine/linalg/mat.h"
#include "engine/rules/eval_custom.h"
#include "engine/rules/eval_number.h"
#include "engine/run/library.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { MAX_ARRAYS = 6 };

typedef struct Call {
    const Node *n;
    const Tensor *in;
    Tensor *out;
    bool is_real;
    int64_t batch; /* the matrix at hand */
    Arena *arena;  /* of that matrix */
} Call;

typedef Error *Routine(Call *c);

/* ---- one matrix in and out ---- */

static Z number_at(Tensor t, int64_t i)
{
    return element_carrier(t.type.element) == CARRY_COMPLEX ? complex_at(t, i)
                                                            : CMPLX(float_at(t, i), 0);
}

static void number_set(Tensor t, int64_t i, Z x)
{
    if (element_carrier(t.type.element) == CARRY_COMPLEX)
        complex_set(t, i, x);
    else
        float_set(t, i, creal(x));
}

static int64_t extent(Tensor t, int from_end)
{
    return t.type.dims[t.type.rank - from_end];
}

static Error *take_matrix(Call *c, int i, Mat *m)
{
    Tensor t = c->in[i];
    TRY(mat_new(c->arena, extent(t, 2), extent(t, 1), m));
    int64_t n = m->rows * m->cols;
    for (int64_t k = 0; k < n; k++)
        m->at[k] = number_at(t, c->batch * n + k);
    return NULL;
}

/* A vector as a row. */
static Error *take_vector(Call *c, int i, Mat *m)
{
    Tensor t = c->in[i];
    TRY(mat_new(c->arena, 1, extent(t, 1), m));
    for (int64_t k = 0; k < m->cols; k++)
        m->at[k] = number_at(t, c->batch * m->cols + k);
    return NULL;
}

/* The whole Hermitian matrix from the triangle that counts. */
static Error *take_hermitian(Call *c, int i, bool is_lower, Mat *m)
{
    TRY(take_matrix(c, i, m));
    for (int64_t r = 0; r < m->rows; r++) {
        AT(*m, r, r) = creal(AT(*m, r, r));
        for (int64_t s = 0; s < r; s++)
            if (is_lower)
                AT(*m, s, r) = conj(AT(*m, r, s));
            else
                AT(*m, r, s) = conj(AT(*m, s, r));
    }
    return NULL;
}

static void give(Call *c, int i, int64_t n, const Z *at)
{
    for (int64_t k = 0; k < n; k++)
        number_set(c->out[i], c->batch * n + k, at[k]);
}

static void give_matrix(Call *c, int i, Mat m)
{
    give(c, i, m.rows * m.cols, m.at);
}

static void give_reals(Call *c, int i, int64_t n, const double *at)
{
    for (int64_t k = 0; k < n; k++)
        number_set(c->out[i], c->batch * n + k, at[k]);
}

static void give_info(Call *c, int i, int info)
{
    int_set(c->out[i], c->batch, info);
}

static bool option_is(const Call *c, const char *name, char letter)
{
    return custom_option(c->n, name, 0) == letter;
}

static Error *numbers(Call *c, int64_t n, Z **out)
{
    Mat m;
    TRY(mat_new(c->arena, 1, n + 1, &m));
    *out = m.at;
    return NULL;
}

static Error *reals(Call *c, int64_t n, double **out)
{
    Z *room;
    TRY(numbers(c, n, &room));
    *out = (double *)room;
    return NULL;
}

static Error *indices(Call *c, int64_t n, int64_t **out)
{
    Z *room;
    TRY(numbers(c, n, &room));
    *out = (int64_t *)room;
    return NULL;
}

/* ---- the routines ---- */

static int64_t shorter(Mat a)
{
    return a.rows < a.cols ? a.rows : a.cols;
}

static Error *getrf(Call *c)
{
    Mat a;
    int64_t *pivots;
    TRY(take_matrix(c, 0, &a));
    TRY(indices(c, shorter(a), &pivots));
    give_info(c, 2, lu_factor(a, pivots));
    give_matrix(c, 0, a);
    for (int64_t k = 0; k < shorter(a); k++)
        int_set(c->out[1], c->batch * shorter(a) + k, pivots[k] + 1);
    return NULL;
}

static Error *geqrf(Call *c)
{
    Mat a;
    Z *taus;
    TRY(take_matrix(c, 0, &a));
    TRY(numbers(c, shorter(a), &taus));
    TRY(qr_factor(c->arena, a, taus, NULL));
    give_matrix(c, 0, a);
    give(c, 1, shorter(a), taus);
    return NULL;
}

static Error *geqp3(Call *c)
{
    Mat a;
    Z *taus;
    int64_t *columns;
    TRY(take_matrix(c, 0, &a));
    for (int64_t j = 0; j < a.cols; j++)
        if (int_at(c->in[1], c->batch * a.cols + j) != 0)
            return error_new(CODE_UNIMPLEMENTED,
                             "not supported: geqp3 with columns put in front, at %s",
                             loc_name(c->n->loc));
    TRY(numbers(c, shorter(a), &taus));
    TRY(indices(c, a.cols, &columns));
    TRY(qr_factor(c->arena, a, taus, columns));
    give_matrix(c, 0, a);
    for (int64_t j = 0; j < a.cols; j++)
        int_set(c->out[1], c->batch * a.cols + j, columns[j] + 1);
    give(c, 2, shorter(a), taus);
    return NULL;
}

static Error *too_many_reflectors(Call *c, Mat taus, Mat a)
{
    return error_new(CODE_INVALID, "%lld reflectors in a matrix of %lld x %lld, at %s",
                     (long long)taus.cols, (long long)a.rows, (long long)a.cols,
                     loc_name(c->n->loc));
}

static Error *orgqr(Call *c)
{
    Mat a, taus, q;
    TRY(take_matrix(c, 0, &a));
    TRY(take_vector(c, 1, &taus));
    if (taus.cols > shorter(a))
        return too_many_reflectors(c, taus, a);
    TRY(mat_new(c->arena, a.rows, a.cols, &q));
    mat_identity(q);
    TRY(reflected_apply(c->arena, &(Reflected){ a, taus.cols, 0, taus.at }, q, true, false));
    give_matrix(c, 0, q);
    return NULL;
}

static Error *ormqr(Call *c)
{
    Mat a, taus, x;
    TRY(take_matrix(c, 0, &a));
    TRY(take_vector(c, 1, &taus));
    TRY(take_matrix(c, 2, &x));
    bool on_left = custom_option(c->n, "left", 1) != 0;
    if (taus.cols > shorter(a) || a.rows != (on_left ? x.rows : x.cols))
        return too_many_reflectors(c, taus, a);
    TRY(reflected_apply(c->arena, &(Reflected){ a, taus.cols, 0, taus.at }, x, on_left,
                        custom_option(c->n, "transpose", 0) != 0));
    give_matrix(c, 0, x);
    return NULL;
}

static Error *potrf(Call *c)
{
    Mat a;
    TRY(take_matrix(c, 0, &a));
    give_info(c, 1, cholesky_factor(a, option_is(c, "uplo", 'L')));
    give_matrix(c, 0, a);
    return NULL;
}

static Error *syevd(Call *c)
{
    Mat a;
    double *w;
    int info;
    TRY(take_hermitian(c, 0, option_is(c, "uplo", 'L'), &a));
    TRY(reals(c, a.rows, &w));
    TRY(hermitian_eigen(c->arena, a, w, &info));
    give_matrix(c, 0, a);
    give_reals(c, 1, a.rows, w);
    give_info(c, 2, info);
    return NULL;
}

static Error *gesdd(Call *c)
{
    Mat a, u, vh;
    double *s;
    int info;
    TRY(take_matrix(c, 0, &a));
    give_matrix(c, 0, a);
    int64_t k = shorter(a), across = extent(c->out[2], 1), down = extent(c->out[3], 2);
    if ((across != k && across != a.rows) || (down != k && down != a.cols))
        return error_new(CODE_INVALID, "svd of %s to %s and %s, at %s", type_name(c->in->type),
                         type_name(c->out[2].type), type_name(c->out[3].type),
                         loc_name(c->n->loc));
    TRY(mat_new(c->arena, a.rows, across, &u));
    TRY(mat_new(c->arena, down, a.cols, &vh));
    TRY(reals(c, k, &s));
    TRY(singular_values(c->arena, a, s, u, vh, &info));
    give_reals(c, 1, k, s);
    give_matrix(c, 2, u);
    give_matrix(c, 3, vh);
    give_info(c, 4, info);
    return NULL;
}

/* Eigenvalues take one result, or two of a real matrix. */
static void give_eigenvalues(Call *c, int i, int64_t n, const Z *w)
{
    for (int64_t k = 0; k < n; k++) {
        number_set(c->out[i], c->batch * n + k, w[k]);
        if (c->is_real)
            number_set(c->out[i + 1], c->batch * n + k, cimag(w[k]));
    }
}

static Error *geev(Call *c)
{
    Mat a, left, right;
    Z *w;
    int info, at = c->is_real ? 2 : 1;
    TRY(take_matrix(c, 0, &a));
    TRY(mat_new(c->arena, a.rows, a.rows, &left));
    TRY(mat_new(c->arena, a.rows, a.rows, &right));
    TRY(numbers(c, a.rows, &w));
    TRY(general_eigen(c->arena, a, c->is_real, w, left, right, &info));
    give_eigenvalues(c, 0, a.rows, w);
    give_matrix(c, at, left);
    give_matrix(c, at + 1, right);
    give_info(c, at + 2, info);
    return NULL;
}

static Error *gees(Call *c)
{
    Mat a, z;
    Z *w;
    int info, at = c->is_real ? 4 : 3;
    if (!option_is(c, "sort", 'N'))
        return error_new(CODE_UNIMPLEMENTED, "not supported: gees with sorted eigenvalues, at %s",
                         loc_name(c->n->loc));
    TRY(take_matrix(c, 0, &a));
    TRY(mat_new(c->arena, a.rows, a.rows, &z));
    TRY(numbers(c, a.rows, &w));
    mat_identity(z);
    TRY(schur_factor(c->arena, a, z, c->is_real, &info));
    schur_eigenvalues(a, c->is_real, w);
    give_matrix(c, 0, a);
    give_matrix(c, 1, z);
    give_eigenvalues(c, 2, a.rows, w);
    give_info(c, at, 0);
    give_info(c, at + 1, info);
    return NULL;
}

static Error *gehrd(Call *c)
{
    Mat a;
    Z *taus;
    TRY(take_matrix(c, 0, &a));
    int64_t low = custom_option(c->n, "low", 1), high = custom_option(c->n, "high", a.rows);
    if (low < 1 || high > a.rows || low > high + 1)
        return error_new(CODE_INVALID, "gehrd of %s from %lld to %lld, at %s",
                         type_name(c->in->type), (long long)low, (long long)high,
                         loc_name(c->n->loc));
    TRY(numbers(c, a.rows, &taus));
    TRY(hessenberg_factor(c->arena, a, low - 1, high, taus));
    give_matrix(c, 0, a);
    give(c, 1, a.rows - 1, taus);
    give_info(c, 2, 0);
    return NULL;
}

static void turn_about(int64_t n, Z *at)
{
    for (int64_t i = 0; i < n / 2; i++) {
        Z x = at[i];
        at[i] = at[n - 1 - i];
        at[n - 1 - i] = x;
    }
}

/* The upper form is the lower one seen from the other end. */
static Error *sytrd(Call *c)
{
    Mat a;
    double *d, *e;
    Z *taus;
    bool is_lower = option_is(c, "uplo", 'L');
    TRY(take_hermitian(c, 0, is_lower, &a));
    int64_t n = a.rows;
    TRY(reals(c, n, &d));
    TRY(reals(c, n, &e));
    TRY(numbers(c, n, &taus));
    if (!is_lower)
        turn_about(n * n, a.at);
    TRY(tridiagonal_factor(c->arena, a, d, e, taus));
    if (!is_lower) {
        turn_about(n * n, a.at);
        turn_about(n - 1, taus);
    }
    Mat before;
    TRY(take_matrix(c, 0, &before));
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            if (is_lower ? j > i : j < i)
                AT(a, i, j) = AT(before, i, j); /* the other triangle is not touched */
    give_matrix(c, 0, a);
    for (int64_t i = 0; i < n; i++)
        number_set(c->out[1], c->batch * n + i, d[is_lower ? i : n - 1 - i]);
    for (int64_t i = 0; i < n - 1; i++)
        number_set(c->out[2], c->batch * (n - 1) + i, e[is_lower ? i : n - 2 - i]);
    give(c, 3, n - 1, taus);
    give_info(c, 4, 0);
    return NULL;
}

static Error *gtsv(Call *c)
{
    Mat diagonals[3], b;
    int info;
    for (int i = 0; i < 3; i++)
        TRY(take_vector(c, i, &diagonals[i]));
    TRY(take_matrix(c, 3, &b));
    TRY(tridiagonal_solve(c->arena, diagonals[0].at, diagonals[1].at, diagonals[2].at, b, 0, &info));
    for (int i = 0; i < 3; i++)
        give_matrix(c, i, diagonals[i]);
    give_matrix(c, 3, b);
    give_info(c, 4, info);
    return NULL;
}

/* Singular systems get a large, finite answer: inverse iteration lives on it. */
static Error *solve_perturbed(Call *c)
{
    Mat diagonals[3], b;
    int info;
    bool is_single = element_part(c->in[0].type.element) == F32;
    for (int i = 0; i < 3; i++)
        TRY(take_vector(c, i, &diagonals[i]));
    TRY(take_matrix(c, 3, &b));
    TRY(tridiagonal_solve(c->arena, diagonals[0].at, diagonals[1].at, diagonals[2].at, b,
                          is_single ? (double)FLT_EPSILON : DBL_EPSILON, &info));
    give_matrix(c, 0, b);
    return NULL;
}

/* x op(a) = b is op(a)^H x^H = b^H. */
static Error *trsm(Call *c)
{
    Mat a, b;
    TRY(take_matrix(c, 0, &a));
    TRY(take_matrix(c, 1, &b));
    bool on_left = option_is(c, "side", 'L'), is_lower = option_is(c, "uplo", 'L');
    bool is_turned = !option_is(c, "trans_x", 'N'), is_conjugate = option_is(c, "trans_x", 'C');
    if (a.rows != (on_left ? b.rows : b.cols))
        return error_new(CODE_INVALID, "trsm of %s and %s, at %s", type_name(c->in[0].type),
                         type_name(c->in[1].type), loc_name(c->n->loc));
    if (is_turned != !on_left) {
        TRY(mat_adjoint(c->arena, a, &a));
        is_lower = !is_lower;
    }
    /* a is op(a), or its adjoint if b is on the right, but for the conjugates of trans_x 'T'. */
    for (int64_t i = 0; is_turned && !is_conjugate && i < a.rows * a.rows; i++)
        a.at[i] = conj(a.at[i]);
    if (!on_left)
        TRY(mat_adjoint(c->arena, b, &b));
    triangular_solve(a, is_lower, option_is(c, "diag", 'U'), b);
    if (!on_left)
        TRY(mat_adjoint(c->arena, b, &b));
    give_matrix(c, 0, b);
    return NULL;
}

enum { REAL = 1, COMPLEX_TOO = 2, BOTH = REAL | COMPLEX_TOO };

static const struct Row {
    const char *name;
    int types;
    const char *signature;
    Routine *play;
} rows[] = {
    { "getrf", BOTH, "amn > amn ik i", getrf },
    { "geqrf", BOTH, "amn > amn ak", geqrf },
    { "geqp3", BOTH, "amn in > amn in ak", geqp3 },
    { "orgqr", REAL, "amn ap > amn", orgqr },
    { "ungqr", COMPLEX_TOO, "amn ap > amn", orgqr },
    { "ormqr", REAL, "aqs ap amn > amn", ormqr },
    { "unmqr", COMPLEX_TOO, "aqs ap amn > amn", ormqr },
    { "potrf", BOTH, "ann > ann i", potrf },
    { "syevd", REAL, "ann > ann rn i", syevd },
    { "heevd", COMPLEX_TOO, "ann > ann rn i", syevd },
    { "gesdd", BOTH, "amn > amn rk amp aqn i", gesdd },
    { "gesvd", BOTH, "amn > amn rk amp aqn i", gesdd },
    { "geev", REAL, "ann > rn rn cnn cnn i", geev },
    { "geev", COMPLEX_TOO, "ann > an cnn cnn i", geev },
    { "gees", REAL, "ann > ann ann rn rn i i", gees },
    { "gees", COMPLEX_TOO, "ann > ann ann an i i", gees },
    { "gehrd", BOTH, "ann > ann aj i", gehrd },
    { "sytrd", REAL, "ann > ann rn rj aj i", sytrd },
    { "hetrd", COMPLEX_TOO, "ann > ann rn rj aj i", sytrd },
    { "gtsv", BOTH, "an an an anq > an an an anq i", gtsv },
    { "trsm", BOTH, "app amn > amn", trsm },
    { "tridiagonal_solve_perturbed_ffi", BOTH, "an an an anq > anq", solve_perturbed },
};

/* ---- signatures ---- */

static Element element_for(char letter, Element a)
{
    switch (letter) {
    case 'r': return element_part(a);
    case 'c': return element_part(a) == F32 ? C64 : C128;
    case 'i': return I32;
    default: return a;
    }
}

/* Does t stand for one word of a signature?  Binds the letters it is first to use. */
static bool word_fits(const char *word, int length, Type t, Type first, Element a, int nbatch,
                      int64_t *bound)
{
    if (t.element != element_for(word[0], a) || t.rank != nbatch + length - 1)
        return false;
    for (int d = 0; d < nbatch; d++)
        if (t.dims[d] != first.dims[d])
            return false;
    for (int i = 1; i < length; i++) {
        int64_t *letter = &bound[word[i] - 'a'];
        int64_t m = bound['m' - 'a'], n = bound['n' - 'a'];
        if (*letter < 0)
            *letter = word[i] == 'k'   ? (m < n ? m : n)
                      : word[i] == 'j' ? n - 1
                                       : t.dims[nbatch + i - 1];
        if (t.dims[nbatch + i - 1] != *letter)
            return false;
    }
    return true;
}

/* Do the node's operands and results stand for the signature, letter by letter? */
static bool signature_fits(const char *signature, const Call *c, Element a)
{
    int64_t bound[26];
    memset(bound, -1, sizeof bound);
    int nbatch = c->n->nin ? c->in[0].type.rank - (int)strcspn(signature, " ") + 1 : -1;
    int nin = 0, nout = 0;
    bool is_result = false;
    for (const char *word = signature; *word && nbatch >= 0;) {
        int length = (int)strcspn(word, " ");
        if (*word == '>') {
            is_result = true;
        } else {
            int at = is_result ? nout++ : nin++;
            if (at >= (is_result ? c->n->nout : c->n->nin))
                return false;
            Type t = is_result ? c->out[at].type : c->in[at].type;
            if (!word_fits(word, length, t, c->in[0].type, a, nbatch, bound))
                return false;
        }
        word += length + (word[length] == ' ');
    }
    return nbatch >= 0 && nin == c->n->nin && nout == c->n->nout;
}

static int64_t batches(Type t, int tail)
{
    int64_t n = 1;
    for (int d = 0; d < t.rank - tail; d++)
        n *= t.dims[d];
    return n;
}

static Error *play_all(Call *c, const struct Row *row)
{
    int64_t n = batches(c->in[0].type, (int)strcspn(row->signature, " ") - 1);
    for (c->batch = 0; c->batch < n; c->batch++) {
        c->arena = arena_new();
        Error *error = row->play(c);
        arena_free(c->arena);
        TRY(error);
    }
    return NULL;
}

/* lapack_ + s, d, c or z + name + _ffi; or the name itself, for all types. */
static bool is_named(Str target, const char *name)
{
    static const char before[] = "lapack_", after[] = "_ffi";
    size_t n = strlen(name), head = strlen(before) + 1;
    if (str_is(target, name))
        return true;
    return target.n == head + n + strlen(after) && !memcmp(target.at, before, strlen(before)) &&
           !memcmp(target.at + head, name, n) &&
           !memcmp(target.at + head + n, after, strlen(after));
}

/* NULL: not one of LAPACK's.  first: the element type of operand 0; a: the call's. */
static const struct Row *find_row(Str target, Element first, Element *a)
{
    static const struct {
        char letter;
        Element element;
    } types[] = { { 's', F32 }, { 'd', F64 }, { 'c', C64 }, { 'z', C128 } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int t = 0; t < 4 && is_named(target, rows[i].name); t++) {
            bool is_it = str_is(target, rows[i].name)
                             ? first == types[t].element
                             : target.at[strlen("lapack_")] == types[t].letter;
            if (is_it && rows[i].types & (t < 2 ? REAL : COMPLEX_TOO)) {
                *a = types[t].element;
                return &rows[i];
            }
        }
    return NULL;
}

bool lapack_knows(Str target, Element first)
{
    Element a;
    return find_row(target, first, &a) != NULL;
}

Error *library_lapack(__attribute__((unused)) const Module *m, const Node *n, const Tensor *in,
                      Tensor *out)
{
    Str target = ((const CustomCallAttrs *)n->attrs)->call_target_name;
    Element a;
    const struct Row *row = find_row(target, n->nin ? in->type.element : I1, &a);
    Call c = { .n = n, .in = in, .out = out, .is_real = element_info[a].kind == FLOAT };
    if (!signature_fits(row->signature, &c, a))
        return error_new(CODE_INVALID, "custom_call @%.*s of %s, at %s: takes and gives %s",
                         STR_ARG(target), n->nin ? type_name(in->type) : "nothing",
                         loc_name(n->loc), row->signature);
    return play_all(&c, row);
}
