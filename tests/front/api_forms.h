/* api_forms.h - functions that rows of api.def need and an expression cannot say. */
#ifndef TUTTI_TESTS_FRONT_API_FORMS_H
#define TUTTI_TESTS_FRONT_API_FORMS_H
#include <math.h>
#include <tutti.h>

#define ONLY_JAX(...) __VA_ARGS__

/* A positive symmetric matrix, or several. */
static inline tt symmetric(tt a)
{
    return tt_add(tt_matmul(a, tt_swap_axes(a, -1, -2)), tt_mul(3, tt_eye(TT_F32, 3)));
}

/* One of three parts along axis 1. */
static inline tt part_of(tt x, int i)
{
    tt part[3];
    tt_parts(part, x, 1);
    return part[i];
}

/* For Jacobians: [3] and [2,2] to [2,3], or to one number. */
static inline tt bent(tt a, tt b)
{
    return tt_mul(tt_sin(tt_mul(a, a)), tt_get(tt_matmul(b, tt_exp(b)), TT_ALL, TT_RANGE(0, 1)));
}
static inline tt bent_total(tt a, tt b)
{
    return tt_sum(tt_mul(bent(a, b), tt_sum(b)));
}
typedef struct {
    tt first, second;
} Both;
typedef struct {
    tt aa, ab, ba, bb;
} Four;
static inline tt fori_turn(tt i, tt x, tt b)
{
    return tt_add(tt_mul(tt_sin(x), tt_astype(i, tt_type(x))), b);
}
static inline tt fori_sine(tt i, tt x)
{
    return tt_mul(tt_sin(x), tt_astype(i, tt_type(x)));
}
static inline Both linear_pair(Both p, Both q)
{
    return (Both){ tt_mul(p.first, q.first), tt_add(tt_mul(q.first, p.second), q.second) };
}
TT_FUN(Both, linear_pair, Both, Both);
static inline Four hessian_of(tt a, tt b)
{
    return tt_call_as(Four, tt_hessian(bent_total, .wrt = 3), a, b);
}

static inline tt grid_product(tt x, tt y)
{
    tt grid[2];
    tt_meshgrid(grid, x, y);
    return tt_mul(grid[0], grid[1]);
}

#endif
