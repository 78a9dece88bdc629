/* dot.c - dot_general: sums of products.
 *
 *     result[batch..., lhs free..., rhs free...] = sum over contracted of lhs * rhs
 *
 * Each side becomes three lists of strides (batch, free, contracted); the walk over the result
 * and the walk over the contracted dimensions then need no more to find an element. */
#include "engine/eval/rules.h"
#include "engine/tensor.h"

#include <string.h>

#define UNUSED __attribute__((unused))

/* Steps of one side, by dimension of the result and by contracted dimension. */
typedef struct Side {
    int64_t result[MAX_RANK], contracted[MAX_RANK];
} Side;

/* Fills in one side; its free dimensions begin at `next` in the result.  Returns their end. */
static int side_steps(Type type, Ints batching, Ints contracting, int next, Side *side)
{
    int64_t strides[MAX_RANK];
    type_strides(type, strides);
    memset(side, 0, sizeof *side);
    for (int i = 0; i < batching.n; i++)
        side->result[i] = strides[batching.at[i]];
    for (int i = 0; i < contracting.n; i++)
        side->contracted[i] = strides[contracting.at[i]];
    for (int i = 0; i < type.rank; i++)
        if (ints_find(batching, i) < 0 && ints_find(contracting, i) < 0)
            side->result[next++] = strides[i];
    return next;
}

typedef struct Dot {
    Tensor lhs, rhs;
    Side left, right;
    int ncontracted;
    int64_t extents[MAX_RANK]; /* of the contracted dimensions */
    int64_t terms;
} Dot;

static Complex as_complex(Tensor t, int64_t i)
{
    switch (element_carrier(t.type.element)) {
    case CARRY_INT:
        return CMPLX(int_to_double(int_at(t, i), element_info[t.type.element].kind != SIGNED), 0);
    case CARRY_FLOAT: return CMPLX(float_at(t, i), 0);
    default: return complex_at(t, i);
    }
}

/* One element of the result: operands begin at a and b. */
static void dot_element(const Dot *d, int64_t a, int64_t b, Tensor out, int64_t at)
{
    int64_t index[MAX_RANK] = { 0 };
    uint64_t whole = 0;
    double sum = 0;
    Complex complex_sum = 0;
    Element e = out.type.element;
    Carrier carrier = element_carrier(e);
    if (element_carrier(d->lhs.type.element) > carrier)
        carrier = element_carrier(d->lhs.type.element);
    for (int64_t i = 0; i < d->terms; i++) {
        int64_t p = a + index_flat(d->ncontracted, index, d->left.contracted);
        int64_t q = b + index_flat(d->ncontracted, index, d->right.contracted);
        if (carrier == CARRY_INT)
            whole += (uint64_t)int_at(d->lhs, p) * (uint64_t)int_at(d->rhs, q);
        else if (carrier == CARRY_FLOAT)
            sum = sum_float(e, d->terms, sum, creal(as_complex(d->lhs, p)),
                            creal(as_complex(d->rhs, q)));
        else
            complex_sum =
                sum_complex(e, d->terms, complex_sum, as_complex(d->lhs, p), as_complex(d->rhs, q));
        index_next(d->ncontracted, d->extents, index);
    }
    if (out.type.element == I1)
        whole = whole != 0; /* booleans: or of ands */
    if (element_carrier(out.type.element) == CARRY_INT)
        int_set(out, at,
                carrier == CARRY_INT ? (int64_t)whole
                                     : int_from_double(sum, &element_info[out.type.element]));
    else if (element_carrier(out.type.element) == CARRY_FLOAT)
        float_set(out, at, sum);
    else
        complex_set(out, at, complex_sum);
}

Error *eval_dot(UNUSED const Module *m, const Node *n, const Tensor *in, Tensor *out)
{
    const DotAttrs *a = n->attrs;
    if (element_carrier(in->type.element) == CARRY_NOTHING)
        return eval_refuse(n, in->type);
    Dot d = { .lhs = in[0], .rhs = in[1], .terms = 1 };
    d.ncontracted = a->lhs_contracting_dimensions.n;
    for (int i = 0; i < d.ncontracted; i++) {
        d.extents[i] = in->type.dims[a->lhs_contracting_dimensions.at[i]];
        d.terms *= d.extents[i];
    }
    int nbatch = a->lhs_batching_dimensions.n;
    int next = side_steps(in[0].type, a->lhs_batching_dimensions, a->lhs_contracting_dimensions,
                          nbatch, &d.left);
    side_steps(in[1].type, a->rhs_batching_dimensions, a->rhs_contracting_dimensions, next,
               &d.right);
    int rank = out->type.rank;
    int64_t index[MAX_RANK] = { 0 }, count = type_count(out->type);
    for (int64_t i = 0; i < count; i++) {
        dot_element(&d, index_flat(rank, index, d.left.result),
                    index_flat(rank, index, d.right.result), *out, i);
        index_next(rank, out->type.dims, index);
    }
    return NULL;
}
