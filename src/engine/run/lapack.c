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
#include "engine/run/lapack.h"

#include "engine/run/library.h"

#include <string.h>

enum { REAL = 1, COMPLEX_TOO = 2, BOTH = REAL | COMPLEX_TOO };

static const struct Row {
    const char *name;
    int types;
    const char *signature;
    Routine *play;
} rows[] = {
    { "getrf", BOTH, "amn > amn ik i", lapack_getrf },
    { "geqrf", BOTH, "amn > amn ak", lapack_geqrf },
    { "geqp3", BOTH, "amn in > amn in ak", lapack_geqp3 },
    { "orgqr", REAL, "amn ap > amn", lapack_orgqr },
    { "ungqr", COMPLEX_TOO, "amn ap > amn", lapack_orgqr },
    { "ormqr", REAL, "aqs ap amn > amn", lapack_ormqr },
    { "unmqr", COMPLEX_TOO, "aqs ap amn > amn", lapack_ormqr },
    { "potrf", BOTH, "ann > ann i", lapack_potrf },
    { "syevd", REAL, "ann > ann rn i", lapack_syevd },
    { "heevd", COMPLEX_TOO, "ann > ann rn i", lapack_syevd },
    { "gesdd", BOTH, "amn > amn rk amp aqn i", lapack_gesdd },
    { "gesvd", BOTH, "amn > amn rk amp aqn i", lapack_gesdd },
    { "geev", REAL, "ann > rn rn cnn cnn i", lapack_geev },
    { "geev", COMPLEX_TOO, "ann > an cnn cnn i", lapack_geev },
    { "gees", REAL, "ann > ann ann rn rn i i", lapack_gees },
    { "gees", COMPLEX_TOO, "ann > ann ann an i i", lapack_gees },
    { "gehrd", BOTH, "ann > ann aj i", lapack_gehrd },
    { "sytrd", REAL, "ann > ann rn rj aj i", lapack_sytrd },
    { "hetrd", COMPLEX_TOO, "ann > ann rn rj aj i", lapack_sytrd },
    { "gtsv", BOTH, "an an an anq > an an an anq i", lapack_gtsv },
    { "trsm", BOTH, "app amn > amn", lapack_trsm },
    { "tridiagonal_solve_perturbed_ffi", BOTH, "an an an anq > anq", lapack_solve_perturbed },
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

Error *library_lapack(__attribute__((unused)) const Frame *f, const Node *n, const Tensor *in,
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
