/* factors.c - derivatives of factors of matrices.
 *
 *     lu      P A = L U                 dF = L^-1 P dA U^-1       dL = L lower(F), dU = upper(F) U
 *     qr      A = Q R                   F = Q' dA R^-1, O its part below the diagonal, minus that
 *                                       transposed: dR = (F - O) R, dQ = dA R^-1 + Q (O - F)
 *     eigh    A V = V w                 F = V' dA V: dw = diag F, dV = V (F / (w_j - w_i))
 *     svd     A = U s V'                F = U' dA V: ds = diag F, and dU, dV likewise
 *     pinv    P = A^+                   -P dA P, and where A is not square or has no full rank,
 *                                       what moves its range and its kernel
 *
 * Matrices are the last two axes, of real numbers; those before them are a batch.  Where two eigenvalues
 * or singular values are equal their vectors have no derivative: that part counts as zero, as in JAX. */
#include "front/transform/transform.h"

#include <tutti_sugar.h>

static tt turned(tt x)
{
    return tt_swap_axes(x, -1, -2);
}

static tt eye_like(tt x, int64_t n)
{
    tt_dtype type = TT_F32;
    dtype_of(type_at(x).element, &type);
    return tt_eye(type, n);
}

static int64_t extent(tt x, int from_end)
{
    Type t = type_at(x);
    return t.dims[t.rank - from_end];
}

static tt solve_triangle(tt a, tt b, bool is_left, bool is_lower)
{
    TriangularSolveAttrs *how = BUILD_ATTRS(TriangularSolveAttrs, .left_side = is_left,
                                            .lower = is_lower, .transpose_a = 1);
    return build_op(OP_TRIANGULAR_SOLVE, 2, (const tt[]){ a, b }, how, type_at(b));
}

/* Numbers along the last axis, as the diagonal of a matrix. */
static tt diagonal(tt x)
{
    return tt_mul(tt_expand(x, -1), eye_like(x, extent(x, 1)));
}

/* Both factors of an m x n matrix as square ones, with ones on the diagonal where they end too soon. */
static void square_factors(tt f, tt *l, tt *u)
{
    int64_t m = extent(f, 2), n = extent(f, 1), k = m < n ? m : n;
    tt below = tt_tril(tt_slice(f, -1, 0, k), -1), above = tt_triu(tt_slice(f, -2, 0, k), 0);
    *l = tt_add(tt_pad(below, { -1, 0, m - k }), eye_like(f, m));
    *u = tt_add(tt_pad(above, { -2, 0, n - k }),
                tt_pad(eye_like(f, n - k), { 0, k, 0 }, { 1, k, 0 }));
}

/* Rows of x as `order` says. */
static tt in_order(tt x, tt order)
{
    Type t = type_at(x);
    int rank = t.rank;
    Type at = type_with(t, I32);
    return gather_along(x, build_broadcast(order, at, ints_range(0, rank - 1)), rank - 2);
}

void jvp_lu(const Jvp *j)
{
    tt l, u;
    square_factors(j->y[0], &l, &u);
    tt inner = solve_triangle(l, in_order(j->dx[0], j->y[1]), true, true);
    inner = solve_triangle(u, inner, false, false);
    j->dy[0] = tt_add(tt_matmul(l, tt_tril(inner, -1)), tt_matmul(tt_triu(inner, 0), u));
}

void jvp_qr(const Jvp *j)
{
    tt q = j->y[0], r = j->y[1];
    tt moved = solve_triangle(r, j->dx[0], false, false);
    tt inner = tt_matmul(turned(q), moved), below = tt_tril(inner, -1);
    tt turn = tt_sub(below, turned(below));
    j->dy[0] = tt_add(moved, tt_matmul(q, tt_sub(turn, inner)));
    j->dy[1] = tt_matmul(tt_sub(inner, turn), r);
}

/* 1 / x, and 0 where x is. */
static tt inverse_or_zero(tt x)
{
    tt is_zero = tt_equal(x, 0);
    return tt_where(is_zero, 0, tt_div(1, tt_where(is_zero, 1, x)));
}

void jvp_eigh(const Jvp *j)
{
    tt w = j->y[0], v = j->y[1];
    tt inner = tt_matmul(turned(v), tt_matmul(j->dx[0], v));
    tt apart = tt_sub(tt_expand(w, -2), tt_expand(w, -1));
    j->dy[0] = tt_diag(inner);
    j->dy[1] = tt_matmul(v, tt_mul(inverse_or_zero(apart), inner));
}

/* What of d is not in the span of the columns of u, over s. */
static tt outside(tt d, tt u, tt s)
{
    return tt_div(tt_sub(d, tt_matmul(u, tt_matmul(turned(u), d))), s);
}

void jvp_svd(const Jvp *j)
{
    tt u = j->y[0], s = j->y[1], v = turned(j->y[2]), da = j->dx[0];
    int64_t m = extent(da, 2), n = extent(da, 1);
    tt inner = tt_matmul(turned(u), tt_matmul(da, v));
    tt across = tt_expand(s, -2), down = tt_expand(s, -1);
    tt apart = inverse_or_zero(tt_mul(tt_add(across, down), tt_sub(across, down)));
    tt by_u = tt_mul(across, inner), by_v = tt_mul(down, inner);
    tt odd = tt_mul(tt_mul(0.5, tt_sub(inner, turned(inner))), diagonal(inverse_or_zero(s)));
    tt du = tt_matmul(u, tt_add(tt_mul(apart, tt_add(by_u, turned(by_u))), odd));
    tt dv = tt_matmul(v, tt_mul(apart, tt_add(by_v, turned(by_v))));
    if (m > n)
        du = tt_add(du, outside(tt_matmul(da, v), u, across));
    if (n > m)
        dv = tt_add(dv, outside(tt_matmul(turned(da), u), v, across));
    j->dy[0] = du;
    j->dy[1] = tt_diag(inner);
    j->dy[2] = turned(dv);
}

void jvp_pinv(const Jvp *j)
{
    tt a = j->x[0], p = j->y[0], da = j->dx[0], back = turned(da);
    int64_t m = extent(a, 2), n = extent(a, 1);
    tt dp = tt_neg(tt_matmul(p, tt_matmul(da, p)));
    tt range = tt_sub(eye_like(a, m), tt_matmul(a, p)),
       kernel = tt_sub(eye_like(a, n), tt_matmul(p, a));
    dp = tt_add(dp, tt_matmul(tt_matmul(p, turned(p)), tt_matmul(back, range)));
    j->dy[0] = tt_add(dp, tt_matmul(tt_matmul(kernel, back), tt_matmul(turned(p), p)));
}

/* They take batches as they are. */
void batch_matrices(const Batch *b)
{
    Type *types = ARENA_ARRAY(trace_arena(), Type, b->nout + 1);
    for (int i = 0; i < b->nout; i++)
        types[i] = batch_result_type(b, i);
    trace_apply("a batch", b->op, 1, b->x, b->attrs, b->nout, types, b->y);
}
