/* linear.c - triangular systems and Cholesky factors, matrix by matrix.
 *
 * Matrices are read into carriers of complex doubles, worked on, and rounded once at the end. */
#include "engine/eval/rules.h"

#include "base/guard.h"
#include "engine/tensor.h"

#include <math.h>

#define UNUSED __attribute__((unused))

static bool are_matrices(Type t)
{
    Carrier carrier = element_carrier(t.element);
    return t.rank >= 2 && (carrier == CARRY_FLOAT || carrier == CARRY_COMPLEX);
}

/* One system: the entry (i, j) of op(a), which is triangular, and the unknowns as columns. */
typedef struct System {
    Tensor a;
    int64_t first, n; /* of a: where the matrix begins, its side */
    int transpose;
    bool is_lower, is_unit; /* of op(a) */
} System;

static Complex coefficient(const System *s, int64_t i, int64_t j)
{
    if (s->transpose == NO_TRANSPOSE)
        return number_at(s->a, s->first + i * s->n + j);
    Complex x = number_at(s->a, s->first + j * s->n + i);
    return s->transpose == ADJOINT ? conj(x) : x;
}

/* op(a) x = b, by substitution: x holds b first. */
static void substitute(const System *s, Complex *x)
{
    for (int64_t k = 0; k < s->n; k++) {
        int64_t i = s->is_lower ? k : s->n - 1 - k;
        for (int64_t l = 0; l < k; l++) {
            int64_t j = s->is_lower ? l : s->n - 1 - l;
            x[i] -= coefficient(s, i, j) * x[j];
        }
        if (!s->is_unit)
            x[i] /= coefficient(s, i, i);
    }
}

/* x op(a) = b is op(a)^T x^T = b^T. */
static void transpose_system(System *s)
{
    s->transpose = s->transpose == NO_TRANSPOSE ? TRANSPOSE : NO_TRANSPOSE;
    s->is_lower = !s->is_lower;
}

static Error *solve_all(System s, bool is_left, bool is_conjugate, Tensor b, Tensor out)
{
    int64_t rows = b.type.dims[b.type.rank - 2], columns = b.type.dims[b.type.rank - 1];
    int64_t unknowns = is_left ? columns : rows, size = rows * columns;
    int64_t along = is_left ? columns : 1, across = is_left ? 1 : columns;
    int64_t matrices = size ? type_count(b.type) / size : 0;
    Complex *x = heap_try(((size_t)s.n + 1) * sizeof *x);
    if (!x)
        return error_new(CODE_EXHAUSTED, "triangular_solve of %s: no memory", type_name(b.type));
    for (int64_t i = 0; i < matrices * unknowns; i++) {
        int64_t first = i / unknowns * size + i % unknowns * across;
        s.first = i / unknowns * s.n * s.n;
        for (int64_t k = 0; k < s.n; k++)
            x[k] = number_at(b, first + k * along);
        for (int64_t k = 0; is_conjugate && k < s.n; k++)
            x[k] = conj(x[k]);
        substitute(&s, x);
        for (int64_t k = 0; k < s.n; k++)
            number_set(out, first + k * along, is_conjugate ? conj(x[k]) : x[k]);
    }
    heap_free(x);
    return NULL;
}

Error *eval_triangular_solve(UNUSED const Module *m, const Node *n, const Tensor *in, Tensor *out)
{
    const TriangularSolveAttrs *t = n->attrs;
    Type a = in[0].type, b = in[1].type;
    int rank = a.rank;
    bool fits = are_matrices(a) && a.element == b.element && rank == b.rank &&
                type_equal(b, out->type) && a.dims[rank - 1] == a.dims[rank - 2] &&
                a.dims[rank - 1] == b.dims[t->left_side ? rank - 2 : rank - 1];
    for (int i = 0; fits && i < rank - 2; i++)
        fits = a.dims[i] == b.dims[i];
    if (!fits)
        return error_new(CODE_INVALID,
                         "triangular_solve of %s and %s to %s, at %s: not a square "
                         "matrix and its right-hand side",
                         type_name(a), type_name(b), type_name(out->type), loc_name(n->loc));
    System s = { .a = in[0],
                 .n = a.dims[rank - 1],
                 .transpose = t->transpose_a,
                 .is_lower = t->lower == (t->transpose_a == NO_TRANSPOSE),
                 .is_unit = t->unit_diagonal };
    if (t->left_side)
        return solve_all(s, true, false, in[1], *out);
    /* x a^H = b: conj(a) x^T = b^T, that is a conj(x^T) = conj(b^T). */
    transpose_system(&s);
    return solve_all(s, false, t->transpose_a == ADJOINT, in[1], *out);
}

/* The lower factor of the matrix at `first`; entries are real on the diagonal.  Not positive
 * definite: all of it is nan. */
static void factor(Tensor in, Tensor out, int64_t first, int64_t n, bool is_lower, Complex *l)
{
    bool is_positive = true;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++) {
            Complex sum = is_lower ? number_at(in, first + i * n + j)
                                   : conj(number_at(in, first + j * n + i));
            for (int64_t k = 0; k < j; k++)
                sum -= l[i * n + k] * conj(l[j * n + k]);
            is_positive = is_positive && (i != j || creal(sum) > 0);
            l[i * n + j] = i == j ? CMPLX(sqrt(creal(sum)), 0) : sum / l[j * n + j];
        }
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            Complex x = is_lower ? l[i * n + j] : conj(l[j * n + i]);
            bool is_there = is_lower ? j <= i : j >= i;
            x = is_positive ? x : CMPLX(NAN, 0);
            number_set(out, first + i * n + j, is_there ? x : 0);
        }
}

Error *eval_cholesky(UNUSED const Module *m, const Node *n, const Tensor *in, Tensor *out)
{
    Type a = in->type;
    bool fits =
        are_matrices(a) && type_equal(a, out->type) && a.dims[a.rank - 1] == a.dims[a.rank - 2];
    if (!fits)
        return error_new(CODE_INVALID, "cholesky of %s to %s, at %s: not square matrices",
                         type_name(a), type_name(out->type), loc_name(n->loc));
    int64_t side = a.dims[a.rank - 1], count = side ? type_count(a) / (side * side) : 0;
    Complex *l = heap_try(((size_t)(side * side) + 1) * sizeof *l);
    if (!l)
        return error_new(CODE_EXHAUSTED, "cholesky of %s: no memory", type_name(a));
    for (int64_t i = 0; i < count; i++)
        factor(*in, *out, i * side * side, side, ((const CholeskyAttrs *)n->attrs)->lower, l);
    heap_free(l);
    return NULL;
}
