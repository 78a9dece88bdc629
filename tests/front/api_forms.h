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

#endif
