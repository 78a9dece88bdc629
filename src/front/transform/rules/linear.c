/* linear.c - linear algebra, Fourier transforms, and custom calls, which may be LAPACK's.
 *
 *     cholesky           A = L L'            dL = L phi(L^-1 dA L^-T), phi: below the diagonal,
 *                                            and half of the diagonal
 *     triangular_solve   op(A) X = B         dX = op(A)^-1 (dB - op(dA) X)
 *     fft                linear; products with cotangents are taken without conjugation
 *
 * Matrices are the last two axes; those before them are a batch. */
#include "front/transform/transform.h"
#include "front/value/report.h"

#include <tutti_sugar.h>

static bool is_complex(tt x)
{
    return element_info[type_at(x).element].kind == COMPLEX;
}

static tt component(OpId op, tt x)
{
    Type t = type_at(x);
    return build_op(op, 1, &x, NULL, type_with(t, element_part(t.element)));
}

static tt conjugate(tt x)
{
    if (!is_complex(x))
        return x;
    tt parts[] = { component(OP_REAL, x), build1(OP_NEG, component(OP_IMAG, x)) };
    return build_op(OP_COMPLEX, 2, parts, NULL, type_at(x));
}

static tt transposed(tt x)
{
    int rank = type_at(x).rank;
    return build_move_axis(x, rank - 1, rank - 2);
}

static tt adjoint(tt x)
{
    return conjugate(transposed(x));
}

static tt product(tt a, tt b)
{
    int rank = type_at(a).rank;
    Ints batch = ints_range(0, rank - 2);
    return build_dot(a, b, batch, batch, ints_range(rank - 1, 1), ints_range(rank - 2, 1),
                     (Precisions){ 0 });
}

/* x where row > column (or row <= column, by direction), and zero elsewhere. */
static tt where(int direction, tt x)
{
    Type t = type_at(x), at = type_with(t, I32);
    tt is_in = build_compare(direction, build_iota(at, t.rank - 2), build_iota(at, t.rank - 1));
    return build_select(is_in, x, build_zeros(t));
}

/* ---- cholesky ---- */

/* Hermitian, from the triangle that is read. */
static tt whole(tt a, bool lower)
{
    tt half = where(lower ? GT : LT, a), diagonal = where(EQ, a);
    if (is_complex(a))
        diagonal = build_convert(component(OP_REAL, diagonal), type_at(a).element);
    return tt_add(tt_add(half, adjoint(half)), diagonal);
}

static tt solve(tt l, tt b, bool left, int how)
{
    TriangularSolveAttrs *a =
        BUILD_ATTRS(TriangularSolveAttrs, .left_side = left, .lower = true, .transpose_a = how);
    return build_op(OP_TRIANGULAR_SOLVE, 2, (const tt[]){ l, b }, a, type_at(b));
}

void jvp_cholesky(const Jvp *j)
{
    bool lower = ((const CholeskyAttrs *)j->attrs)->lower;
    tt l = where(GE, lower ? j->y[0] : adjoint(j->y[0]));
    tt inner = solve(l, solve(l, whole(j->dx[0], lower), true, NO_TRANSPOSE), false, ADJOINT);
    tt phi = tt_add(where(GT, inner), tt_mul(0.5, where(EQ, inner)));
    tt dl = product(l, phi);
    j->dy[0] = lower ? dl : adjoint(dl);
}

/* ---- triangular_solve ---- */

/* What of A the operation reads, as it uses it. */
static tt as_used(tt a, const TriangularSolveAttrs *s)
{
    bool strict = s->unit_diagonal;
    tt read = where(s->lower ? (strict ? GT : GE) : (strict ? LT : LE), a);
    return s->transpose_a == NO_TRANSPOSE ? read
           : s->transpose_a == TRANSPOSE  ? transposed(read)
                                          : adjoint(read);
}

void jvp_triangular_solve(const Jvp *j)
{
    const TriangularSolveAttrs *s = j->attrs;
    tt x = j->y[0], sum = j->dx[1];
    if (is_value(j->dx[0])) {
        tt da = as_used(j->dx[0], s);
        tt moved = s->left_side ? product(da, x) : product(x, da);
        sum = build_sum(sum, build1(OP_NEG, moved));
    }
    j->dy[0] = build_op(j->op, 2, (const tt[]){ j->x[0], sum }, s, type_at(x));
}

/* Linear in B: op(A) is transposed. */
void transpose_triangular_solve(const Transpose *t)
{
    const TriangularSolveAttrs *s = t->attrs;
    TriangularSolveAttrs *back = arena_copy(trace_arena(), s, sizeof *s);
    back->transpose_a = s->transpose_a == NO_TRANSPOSE ? TRANSPOSE : NO_TRANSPOSE;
    tt a = s->transpose_a == ADJOINT ? conjugate(t->x[0]) : t->x[0];
    t->out[1] = build_op(t->op, 2, (const tt[]){ a, t->ct[0] }, back, t->types[1]);
}

/* ---- fft ---- */

enum { FFT, IFFT, RFFT, IRFFT }; /* of fft_type */

static tt fourier(int type, tt x, Ints length, Type result)
{
    return build_op(OP_FFT, 1, &x, BUILD_ATTRS(FftAttrs, .fft_type = type, .fft_length = length),
                    result);
}

/* Of real numbers: ct, with zeros for the frequencies that are not given. */
static tt of_real(const Transpose *t, Ints length)
{
    Type from = t->results[0], to = type_with(t->types[0], from.element);
    int64_t none[MAX_RANK] = { 0 }, high[MAX_RANK] = { 0 };
    int last = from.rank - 1;
    high[last] = to.dims[last] - from.dims[last];
    tt ct = build_pad(t->ct[0], build_zeros(type_scalar(from.element)), ints_of(from.rank, none),
                      ints_of(from.rank, high), ints_of(from.rank, none));
    return component(OP_REAL, fourier(FFT, ct, length, to));
}

/* To real numbers: a frequency counts twice when its mirror image is not given. */
static tt to_real(const Transpose *t, Ints length)
{
    Type x = t->types[0], real = type_with(x, element_part(x.element));
    int64_t last = length.at[length.n - 1], count = 1;
    for (int i = 0; i < length.n; i++)
        count *= length.at[i];
    tt at = build_iota(type_with(x, I32), x.rank - 1);
    tt is_twice =
        build_op(OP_AND, 2, (const tt[]){ tt_greater(at, 0), tt_less(at, (int)(last - last / 2)) },
                 NULL, type_with(x, I1));
    tt weight = build_select(is_twice, build_number(real, 2.0 / (double)count),
                             build_number(real, 1.0 / (double)count));
    tt ct = conjugate(fourier(RFFT, t->ct[0], length, x));
    return build2(OP_MUL, ct, build_convert(weight, x.element));
}

void transpose_fft(const Transpose *t)
{
    const FftAttrs *a = t->attrs;
    t->out[0] = a->fft_type == RFFT    ? of_real(t, a->fft_length)
                : a->fft_type == IRFFT ? to_real(t, a->fft_length)
                                       : build_op(OP_FFT, 1, t->ct, a, t->types[0]);
}

/* ---- custom calls ----
 *
 * JAX calls LAPACK for some operations that StableHLO has too; the tangents of those are found by
 * the operation's rule.  What any other computes is not known: it is refused by its name. */

static const char *target(const Module *m, NodeId n)
{
    Str name = ((const CustomCallAttrs *)node_at(m, n)->attrs)->call_target_name;
    return str_copy(m->arena, name).at;
}

/* Options are letters, as numbers. */
static bool option_is(const Jvp *j, const char *name, char letter)
{
    const Attr *config = attr_get(node_at(j->m, j->node)->extra, "mhlo.backend_config");
    const Attr *option = attr_get(config, name);
    return option && option->kind == ATTR_INT && option->integer == letter;
}

/* A file may give a call of that name any operands. */
static bool has_matrices(const Jvp *j, int n)
{
    const Node *node = node_at(j->m, j->node);
    bool fits = node->nin == n && node->nout >= 1 && type_of(j->m, node->out).rank >= 2;
    for (int i = 0; fits && i < n; i++)
        fits = type_of(j->m, node->in[i]).rank >= 2;
    return fits;
}

static void jvp_potrf(const Jvp *j)
{
    Jvp cholesky = *j;
    cholesky.op = OP_CHOLESKY;
    cholesky.attrs = BUILD_ATTRS(CholeskyAttrs, .lower = option_is(j, "uplo", 'L'));
    jvp_cholesky(&cholesky);
}

static void jvp_trsm(const Jvp *j)
{
    Jvp solve = *j;
    solve.op = OP_TRIANGULAR_SOLVE;
    solve.attrs =
        BUILD_ATTRS(TriangularSolveAttrs, .left_side = option_is(j, "side", 'L'),
                    .lower = option_is(j, "uplo", 'L'), .unit_diagonal = option_is(j, "diag", 'U'),
                    .transpose_a = option_is(j, "trans_x", 'T')   ? TRANSPOSE
                                   : option_is(j, "trans_x", 'C') ? ADJOINT
                                                                  : NO_TRANSPOSE);
    jvp_triangular_solve(&solve);
}

/* The rules of calls.def's column `jvp`; none: what it computes is not known. */
static const struct CallRule {
    void (*jvp)(const Jvp *j);
    int nin;
} call_rules[LAPACK_CALL_COUNT + 1] = {
#define RULE_none { NULL, 0 }
#define RULE_potrf { jvp_potrf, 1 }
#define RULE_trsm { jvp_trsm, 2 }
#define LAPACK(id, name, types, signature, fits, own, fortran, jvp) [LAPACK_CALL_##id] = RULE_##jvp,
#include "ops/calls.def"
};

void jvp_custom_call(const Jvp *j)
{
    const Node *node = node_at(j->m, j->node);
    if (node->nout == 0) /* it was copied, and gives nothing that could vary */
        return;
    const char *name = target(j->m, j->node);
    Element a, first = node->nin ? type_of(j->m, node->in[0]).element : I1;
    const struct CallRule *rule = &call_rules[lapack_find_routine(str_of(name), first, &a)];
    if (rule->jvp && has_matrices(j, rule->nin))
        rule->jvp(j);
    else
        report_broken(
            "not supported: the derivative of custom_call @%s, %s: what it computes is not "
            "known; tt_stop_gradient holds it constant",
            name, loc_name(node_at(j->m, j->node)->loc));
}

/* What is said for its effect alone is said of every row, in their order. */
void batch_custom_call(const Batch *b)
{
    if (b->nout == 0 || !((const CustomCallAttrs *)b->attrs)->has_side_effect) {
        batch_rows(b);
        return;
    }
    report_broken("not supported: vmap of custom_call @%s, which has a side effect, %s",
                  target(b->m, b->node), loc_name(node_at(b->m, b->node)->loc));
}
