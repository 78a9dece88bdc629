/* lapack.c - the custom calls that JAX emits for linear algebra: lapack_sgetrf_ffi and the
 * like, by a library's routines (lapack_provider.c), else by our own (linalg/).
 *
 * A row of LAPACK's in calls.def says what a call takes and gives, for one matrix of the batch:
 *
 *     "amn > amn ik i"     takes m x n of the call's type; gives the same, min(m, n) integers and
 *                          one integer (info)
 *
 * The first letter is the element type: a as the name says (s d c z), r its real type, c its
 * complex type, i an i32.  The others are extents: bound where they first occur; k is min(m, n)
 * and j is n - 1.  Leading dimensions are the batch, the same for all.  Layouts say how XLA would
 * hand over the bytes, and mean nothing here: arrays are what they are.
 */
#include "engine/numerics/lapack.h"

#include "engine/custom_call.h"
#include "engine/numerics/linalg/mat.h"

#include <math.h>
#include <string.h>

/* ---- options of a call, and what its extents must be beyond what the signature says ---- */

int64_t option(const Call *c, const char *name, int64_t otherwise)
{
    return custom_option(c->n, name, otherwise);
}

bool option_is(const Call *c, const char *name, char letter)
{
    return option(c, name, 0) == letter;
}

static int64_t shorter(Tensor a)
{
    return extent(a, 2) < extent(a, 1) ? extent(a, 2) : extent(a, 1);
}

static Error *too_many_reflectors(const Call *c)
{
    Tensor a = c->in[0];
    return error_new(CODE_INVALID, "%lld reflectors in a matrix of %lld x %lld, at %s",
                     (long long)extent(c->in[1], 1), (long long)extent(a, 2),
                     (long long)extent(a, 1), loc_name(c->n->loc));
}

static Error *orgqr_fits(Call *c)
{
    return extent(c->in[1], 1) > shorter(c->in[0]) ? too_many_reflectors(c) : NULL;
}

static Error *ormqr_fits(Call *c)
{
    TRY(orgqr_fits(c));
    int64_t side = extent(c->in[2], option(c, "left", 1) ? 2 : 1);
    if (extent(c->in[0], 2) == side)
        return NULL;
    return error_new(CODE_INVALID,
                     "ormqr of %s and %s, at %s: the reflectors have %lld entries, not "
                     "%lld",
                     type_name(c->in[0].type), type_name(c->in[2].type), loc_name(c->n->loc),
                     (long long)extent(c->in[0], 2), (long long)side);
}

static Error *gesdd_fits(Call *c)
{
    int64_t k = shorter(c->in[0]), rows = extent(c->in[0], 2), columns = extent(c->in[0], 1);
    int64_t across = extent(c->out[2], 1), down = extent(c->out[3], 2);
    bool is_thin = across == k && down == k, is_full = across == rows && down == columns;
    if (is_thin || is_full)
        return NULL;
    return error_new(CODE_INVALID, "svd of %s to %s and %s, at %s", type_name(c->in->type),
                     type_name(c->out[2].type), type_name(c->out[3].type), loc_name(c->n->loc));
}

static Error *gees_fits(Call *c)
{
    if (option_is(c, "sort", 'N'))
        return NULL;
    return error_new(CODE_UNIMPLEMENTED, "not supported: gees with sorted eigenvalues, at %s",
                     loc_name(c->n->loc));
}

static Error *gehrd_fits(Call *c)
{
    int64_t n = extent(c->in[0], 1), low = option(c, "low", 1), high = option(c, "high", n);
    if (low >= 1 && high <= n && low <= high + 1)
        return NULL;
    return error_new(CODE_INVALID, "gehrd of %s from %lld to %lld, at %s", type_name(c->in->type),
                     (long long)low, (long long)high, loc_name(c->n->loc));
}

static Error *trsm_fits(Call *c)
{
    if (extent(c->in[0], 1) == extent(c->in[1], option_is(c, "side", 'L') ? 2 : 1))
        return NULL;
    return error_new(CODE_INVALID, "trsm of %s and %s, at %s", type_name(c->in[0].type),
                     type_name(c->in[1].type), loc_name(c->n->loc));
}

/* ---- the table ---- */

static const struct Row {
    const char *signature;
    LapackRoutine *fits;          /* NULL: the signature says all */
    LapackRoutine *own, *fortran; /* NULL: LAPACK has none */
} rows[LAPACK_CALL_COUNT] = {
#define none_fits NULL
#define fortran_none NULL
#define LAPACK(id, name, types, signature, fits, own, fortran, jvp)                                \
    [LAPACK_CALL_##id] = { signature, fits##_fits, lapack_##own, fortran_##fortran },
#include "ops/calls.def"
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
static bool signature_fits(const char *signature, const Call *c)
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
            if (!word_fits(word, length, t, c->in[0].type, c->element, nbatch, bound))
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

/* ---- the matrices of a batch ---- */

typedef struct Batch {
    const Call *call;
    LapackRoutine *routine;
    bool is_library;          /* its routines take their memory from the call's rooms */
    const int32_t *is_undone; /* of each matrix; NULL: all are */
} Batch;

static Error *batch_some(void *user, int64_t from, int64_t to)
{
    const Batch *b = user;
    Call c = *b->call;
    Error *error = NULL;
    for (c.batch = from; c.batch < to && !error; c.batch++) {
        if (b->is_undone && !b->is_undone[c.batch])
            continue;
        c.arena = b->is_library ? NULL : arena_try_new();
        bool is_ready = b->is_library || c.arena;
        error =
            is_ready ? b->routine(&c) : error_new(CODE_EXHAUSTED, "no memory for linear algebra");
        arena_free(c.arena);
    }
    call_free(&c);
    return error;
}

/* Multiplications of a matrix, roughly. */
static double work_of(const Call *c)
{
    Tensor last = c->in[c->n->nin - 1];
    double m = (double)extent(last, 2), n = (double)extent(last, 1);
    return m * n * (m < n ? m : n);
}

/* ---- small real matrices, by groups of SMALL_GROUP ---- */

/* The matrices of a call that the groups from `from` to `to` are. */
typedef struct Some {
    int64_t first, n;
    int64_t rows, columns; /* of operand 0 */
} Some;

static Some some_of(const Call *c, int64_t from, int64_t to)
{
    int64_t first = from * SMALL_GROUP;
    int64_t n = to * SMALL_GROUP < c->nbatch ? (to - from) * SMALL_GROUP : c->nbatch - first;
    return (Some){ first, n, extent(c->in[0], 2), extent(c->in[0], 1) };
}

/* Matrix or vector i of a batch. */
static void *at(const Call *c, Tensor t, int64_t i)
{
    return (char *)t.data + type_bytes(t.type) / (size_t)c->nbatch * (size_t)i;
}

static Error *lu_some(void *user, int64_t from, int64_t to)
{
    const Call *c = user;
    Some s = some_of(c, from, to);
    small_lu(c->element, s.n, s.columns, at(c, c->in[0], s.first), at(c, c->out[0], s.first),
             at(c, c->out[1], s.first), at(c, c->out[2], s.first));
    return NULL;
}

static Error *qr_some(void *user, int64_t from, int64_t to)
{
    const Call *c = user;
    Some s = some_of(c, from, to);
    small_qr(c->element, s.n, s.rows, s.columns, at(c, c->in[0], s.first),
             at(c, c->out[0], s.first), at(c, c->out[1], s.first));
    return NULL;
}

static Error *product_some(void *user, int64_t from, int64_t to)
{
    const Call *c = user;
    Some s = some_of(c, from, to);
    small_product(c->element, s.n, s.rows, s.columns, extent(c->in[1], 1), at(c, c->in[0], s.first),
                  at(c, c->in[1], s.first), at(c, c->out[0], s.first));
    return NULL;
}

/* Large ones, one by one: workers share a matrix that is alone, or else the batch. */
static Error *lu_large(void *user, int64_t from, int64_t to)
{
    const Call *c = user;
    size_t bytes = type_bytes(c->in[0].type) / (size_t)c->nbatch;
    for (int64_t i = from; i < to; i++) {
        memcpy(at(c, c->out[0], i), at(c, c->in[0], i), bytes);
        blocked_lu(c->frame, !c->is_alone, c->element, extent(c->in[0], 2), extent(c->in[0], 1),
                   at(c, c->out[0], i), at(c, c->out[1], i), at(c, c->out[2], i));
    }
    return NULL;
}

static Error *qr_large(void *user, int64_t from, int64_t to)
{
    const Call *c = user;
    size_t bytes = type_bytes(c->in[0].type) / (size_t)c->nbatch;
    for (int64_t i = from; i < to; i++) {
        memcpy(at(c, c->out[0], i), at(c, c->in[0], i), bytes);
        blocked_qr(c->frame, !c->is_alone, c->element, extent(c->in[0], 2), extent(c->in[0], 1),
                   at(c, c->out[0], i), at(c, c->out[1], i));
    }
    return NULL;
}

static Error *q_large(void *user, int64_t from, int64_t to)
{
    const Call *c = user;
    for (int64_t i = from; i < to; i++)
        blocked_q(c->frame, !c->is_alone, c->element, extent(c->in[0], 2), extent(c->in[0], 1),
                  extent(c->in[1], 1), at(c, c->in[0], i), at(c, c->in[1], i), at(c, c->out[0], i));
    return NULL;
}

/* The loops for matrices that are not small, over products, or NULL. */
static BatchFn *large_loops(const struct Row *row, const Call *c)
{
    int64_t m = extent(c->in[0], 2), n = extent(c->in[0], 1);
    if (row->own == lapack_getrf)
        return m >= LU_LEAST && n >= LU_LEAST && m <= INT32_MAX ? lu_large : NULL;
    if (m < 1 || n < 1)
        return NULL;
    if (row->own == lapack_geqrf)
        return qr_large;
    return row->own == lapack_orgqr && n <= m ? q_large : NULL;
}

/* The first result, where LAPACK leaves nothing of use: what was there before. */
static void copy_some(const Call *c, Some s)
{
    memcpy(at(c, c->out[0], s.first), at(c, c->in[0], s.first),
           type_bytes(c->in[0].type) / (size_t)c->nbatch * (size_t)s.n);
}

static Error *eigen_some(void *user, int64_t from, int64_t to)
{
    const Call *c = user;
    Some s = some_of(c, from, to);
    bool has_vectors = !option_is(c, "mode", 'N');
    if (!has_vectors)
        copy_some(c, s);
    small_eigen(c->element, s.n, s.columns, option_is(c, "uplo", 'L'), at(c, c->in[0], s.first),
                has_vectors ? at(c, c->out[0], s.first) : NULL, at(c, c->out[1], s.first),
                at(c, c->out[2], s.first));
    return NULL;
}

/* info is 1 where another routine has to try. */
static Error *singular_some(void *user, int64_t from, int64_t to)
{
    const Call *c = user;
    Some s = some_of(c, from, to);
    bool has_vectors = !option_is(c, "mode", 'N');
    copy_some(c, s);
    for (int i = 2; i < 4 && !has_vectors; i++)
        memset(at(c, c->out[i], s.first), 0,
               type_bytes(c->out[i].type) / (size_t)c->nbatch * (size_t)s.n);
    SmallSingular out = { .values = at(c, c->out[1], s.first),
                          .u = has_vectors ? at(c, c->out[2], s.first) : NULL,
                          .vt = has_vectors ? at(c, c->out[3], s.first) : NULL,
                          .is_undone = at(c, c->out[4], s.first) };
    small_singular(c->element, s.n, s.rows, s.columns, at(c, c->in[0], s.first), &out);
    return NULL;
}

/* The factor of a matrix with the operand's other triangle, as LAPACK leaves it.  Returns whether
 * there is none. */
static bool join_triangles(const Call *c, int64_t i, bool is_lower)
{
    int64_t n = extent(c->in[0], 1);
    size_t bytes = (size_t)element_info[c->element].bytes;
    const char *a = at(c, c->in[0], i);
    char *factor = at(c, c->out[0], i);
    bool is_double = c->element == F64 || c->element == C128;
    bool is_broken = is_double ? isnan(*(double *)factor) : isnan(*(float *)factor);
    for (int64_t r = 0; r < n; r++) {
        size_t first = (size_t)(r * n + (is_lower ? r + 1 : 0)) * bytes;
        memcpy(factor + first, a + first, (size_t)(is_lower ? n - r - 1 : r) * bytes);
    }
    return is_broken;
}

/* By the loops that play stablehlo.cholesky of such matrices: both give the same.  info is 1 where
 * a routine has to say which column shows that there is no factor. */
static Error *factor_some(void *user, int64_t from, int64_t to)
{
    const Call *c = user;
    Some s = some_of(c, from, to);
    bool is_lower = option_is(c, "uplo", 'L'), is_vector = small_suits(c->element, s.columns);
    _Alignas(16) char room[SMALL_ROWS * (SMALL_ROWS + 1) * 16];
    if (is_vector)
        small_cholesky(c->element, s.n, s.columns, is_lower, at(c, c->in[0], s.first),
                       at(c, c->out[0], s.first));
    for (int64_t i = s.first; i < s.first + s.n; i++) {
        if (!is_vector)
            dense_cholesky(c->element, s.columns, is_lower, at(c, c->in[0], i), at(c, c->out[0], i),
                           room);
        *(int32_t *)at(c, c->out[1], i) = join_triangles(c, i, is_lower);
    }
    return NULL;
}

/* The result that says which matrices are left to another routine; NULL: the loops leave none. */
static const int32_t *undone_by(BatchFn *small, const Call *c)
{
    return small == singular_some ? c->out[4].data : small == factor_some ? c->out[1].data : NULL;
}

static bool any_undone(const Call *c, const int32_t *info)
{
    bool is_any = false;
    for (int64_t i = 0; i < c->nbatch; i++)
        is_any |= info[i] != 0;
    return is_any;
}

/* The loops for small matrices of this call, or NULL: it has none, or its matrices are large, or too
 * few to be worth a vector. */
static BatchFn *small_loops(const struct Row *row, const Call *c)
{
    int64_t m = extent(c->in[0], 2), n = extent(c->in[0], 1);
    if (row->own == lapack_potrf)
        return n >= 1 && n <= SMALL_ROWS ? factor_some : NULL;
    if (!small_suits(c->element, m) || n > SMALL_ROWS || m < 1 || n < 1)
        return NULL;
    if (row->own == lapack_getrf)
        return m == n ? lu_some : NULL;
    if (row->own == lapack_geqrf)
        return qr_some;
    if (row->own == lapack_orgqr)
        return product_some;
    if (c->nbatch < n / 2)
        return NULL;
    if (row->own == lapack_syevd)
        return eigen_some;
    bool is_thin = row->own == lapack_gesdd && extent(c->out[2], 1) == extent(c->out[3], 2);
    return is_thin ? singular_some : NULL;
}

bool lapack_knows(Str target, Element first)
{
    Element a;
    return lapack_find_routine(target, first, &a) != LAPACK_CALL_COUNT;
}

/* LAPACK counts in 32 bits; what is empty our own routines know. */
static bool suits_library(const Call *c)
{
    bool does = true;
    for (int i = 0; i < c->n->nin; i++)
        for (int d = 0; d < c->in[i].type.rank; d++)
            does = does && c->in[i].type.dims[d] > 0 && c->in[i].type.dims[d] <= 1 << 30;
    return does;
}

/* Does the routine spread a large matrix itself?  A library's threads would be in its way. */
static bool shares_workers(const struct Row *row, const Call *c)
{
    return row->own == lapack_gesdd && c->is_real;
}

Error *routine_lapack(const Frame *f, const Node *n, const Tensor *in, Tensor *out)
{
    Str target = ((const CustomCallAttrs *)n->attrs)->call_target_name;
    Element a;
    const struct Row *row = &rows[lapack_find_routine(target, n->nin ? in->type.element : I1, &a)];
    Call c = { .n = n,
               .frame = f,
               .in = in,
               .out = out,
               .element = a,
               .is_real = element_info[a].kind == FLOAT };
    if (!signature_fits(row->signature, &c))
        return error_new(CODE_INVALID, "custom_call @%.*s of %s, at %s: takes and gives %s",
                         STR_ARG(target), n->nin ? type_name(in->type) : "nothing",
                         loc_name(n->loc), row->signature);
    if (row->fits)
        TRY(row->fits(&c));
    c.nbatch = batches(in->type, (int)strcspn(row->signature, " ") - 1);
    c.is_alone = c.nbatch == 1;
    BatchFn *small = f ? small_loops(row, &c) : NULL;
    if (small)
        TRY(batch_execute(f, small_groups(c.nbatch), work_of(&c) * SMALL_GROUP, BATCH_OWN, small,
                          &c));
    const int32_t *undone = undone_by(small, &c);
    if (small && (!undone || !any_undone(&c, undone)))
        return NULL;
    /* the evaluator, which has no frame, is what the others' results are held to */
    BatchFn *large = f ? large_loops(row, &c) : NULL;
    if (large)
        return batch_execute(f, c.nbatch, work_of(&c), BATCH_OWN, large, &c);
    bool is_library = f && row->fortran && lapack_routine(LAPACK_GETRF, a) && suits_library(&c);
    Batch batch = { &c, is_library ? row->fortran : row->own, is_library, undone };
    BatchBy by = !is_library               ? BATCH_OWN
                 : shares_workers(row, &c) ? BATCH_LIBRARY
                                           : BATCH_LIBRARY_THREADS;
    return batch_execute(f, c.nbatch, work_of(&c), by, batch_some, &batch);
}
