/* dot.c - products: linear in either operand.
 *
 *     c[b, m, n] = sum_k a[b, m, k] b[b, k, n]
 *     ct_a[b, m, k] = sum_n ct[b, m, n] b[b, k, n]       a product again, of ct and the other
 */
#include "front/transform/jvp.h"

#include <string.h>

static void jvp_bilinear(const Jvp *j)
{
    Type t = type_at(j->y[0]);
    tt sum = NO_VALUE;
    if (is_value(j->dx[0]))
        sum = build(j->op, 2, (const tt[]){ j->dx[0], j->x[1] }, j->attrs, t);
    if (is_value(j->dx[1]))
        sum = build_sum(sum, build(j->op, 2, (const tt[]){ j->x[0], j->dx[1] }, j->attrs, t));
    j->dy[0] = sum;
}

void jvp_dot(const Jvp *j)
{
    jvp_bilinear(j);
}

void jvp_convolution(const Jvp *j)
{
    jvp_bilinear(j);
}

/* The operand seen from one side: its own axes, and the other's. */
typedef struct Side {
    Type type;
    Ints batch, contract, rest;
} Side;

static Side side_of(Type type, Ints batch, Ints contract)
{
    return (Side){ type, batch, contract, ints_except(type.rank, ints_join(batch, contract)) };
}

/* mine: linear, whose cotangent is wanted.  its_rest_at: where the other's own axes are in ct. */
static tt transpose_side(tt ct, tt other, Side mine, Side its, int its_rest_at)
{
    int nbatch = mine.batch.n;
    Element e = type_at(ct).element;
    tt y = build_dot(ct, build_convert(other, e), ints_range(0, nbatch), its.batch,
                     ints_range(its_rest_at, its.rest.n), its.rest);
    /* y's axes: batch, mine.rest, then the other's contracting axes in their order. */
    int64_t at[MAX_RANK], from[MAX_RANK];
    int n = 0;
    for (int i = 0; i < nbatch; i++)
        at[n++] = mine.batch.at[i];
    for (int i = 0; i < mine.rest.n; i++)
        at[n++] = mine.rest.at[i];
    for (int axis = 0; axis < its.type.rank; axis++) {
        int k = ints_find(its.contract, axis);
        if (k >= 0)
            at[n++] = mine.contract.at[k];
    }
    for (int i = 0; i < n; i++)
        from[at[i]] = i;
    return build_convert(build_transpose(y, ints_of(n, from)), mine.type.element);
}

void transpose_dot(const Transpose *t)
{
    const DotAttrs *d = t->attrs;
    Side a = side_of(t->types[0], d->lhs_batching_dimensions, d->lhs_contracting_dimensions);
    Side b = side_of(t->types[1], d->rhs_batching_dimensions, d->rhs_contracting_dimensions);
    int nbatch = a.batch.n;
    if (t->linear[0])
        t->out[0] = transpose_side(t->ct[0], t->x[1], a, b, nbatch + a.rest.n);
    else
        t->out[1] = transpose_side(t->ct[0], t->x[0], b, a, nbatch);
}

void batch_dot(const Batch *b)
{
    const DotAttrs *d = b->attrs;
    int by[2] = { b->mapped[0], b->mapped[1] };
    DotAttrs *more = BUILD_ATTRS(
        DotAttrs, .lhs_batching_dimensions = ints_shifted(d->lhs_batching_dimensions, by[0]),
        .rhs_batching_dimensions = ints_shifted(d->rhs_batching_dimensions, by[1]),
        .lhs_contracting_dimensions = ints_shifted(d->lhs_contracting_dimensions, by[0]),
        .rhs_contracting_dimensions = ints_shifted(d->rhs_contracting_dimensions, by[1]));
    int nbatch = d->lhs_batching_dimensions.n;
    int lhs_rest = b->types[0].rank - nbatch - d->lhs_contracting_dimensions.n;
    int at = 0; /* where the batch axis comes out */
    if (by[0] && by[1]) {
        more->lhs_batching_dimensions = ints_insert(more->lhs_batching_dimensions, 0, 0);
        more->rhs_batching_dimensions = ints_insert(more->rhs_batching_dimensions, 0, 0);
    } else {
        at = by[0] ? nbatch : nbatch + lhs_rest;
    }
    tt y = build(OP_DOT, 2, b->x, more, type_insert(b->results[0], at, b->size));
    b->y[0] = build_move_axis(y, at, 0);
}
