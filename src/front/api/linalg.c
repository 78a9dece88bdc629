/* linalg.c - public operations of linear algebra, on the last two axes: factors and triangular systems.
 *
 * They are StableHLO's own operations, so every plugin has them, with their derivatives. */
#include "front/api/numpy.h"

#include "front/value/library.h"
#include "front/value/report.h"

#include <string.h>

typedef struct Config {
    const char *who;
    int64_t is_upper, is_transposed, is_unit;
} Config;

/* Is it a square matrix of floats, or several?  False: reported. */
static bool is_square(const char *who, const tt *in, Shape *s)
{
    if (!shapes_of(who, 1, in, s))
        return false;
    bool is = s->rank >= 2 && s->dims[s->rank - 1] == s->dims[s->rank - 2] &&
              element_info[s->element].kind == FLOAT;
    if (!is)
        report_broken("%s: %s is no square matrix of floats", who, shape_text(s));
    return is;
}

/* The lower factor of a symmetric matrix, which need not be exactly so: as JAX does, the mean of
 * it and its transpose is taken. */
static void cholesky_body(const tt *in, tt *out, const void *config)
{
    const Config *c = config;
    Shape s;
    if (!is_square(c->who, in, &s))
        return;
    tt mean = tt_mul(tt_scalar(0.5), tt_add(in[0], tt_swap_axes(in[0], -1, -2)));
    tt l =
        build_op(OP_CHOLESKY, 1, &mean, BUILD_ATTRS(CholeskyAttrs, .lower = true), type_at(mean));
    *out = tt_tril(l, 0);
}

tt tt_cholesky(tt a)
{
    PUBLIC;
    Config c = { "tt_cholesky", 0, 0, 0 };
    return EAGER(c.who, cholesky_body, &c, a);
}

/* Leading axes broadcast; a vector is one column. */
static void triangular_body(const tt *in, tt *out, const void *config)
{
    const Config *c = config;
    Shape s[2], lead[2], common;
    if (!is_square(c->who, in, &s[0]) || !shapes_of(c->who, 1, &in[1], &s[1]))
        return;
    bool is_vector = s[1].rank == 1;
    tt b = is_vector ? tt_expand(in[1], DIMS(-1)) : in[1];
    if (!shapes_of(c->who, 1, &b, &s[1]))
        return;
    if (s[1].rank < 2 || s[1].dims[s[1].rank - 2] != s[0].dims[s[0].rank - 1]) {
        report_broken("%s: %s by %s: there is a row for each of the matrix", c->who,
                      shape_text(&s[0]), shape_text(&s[1]));
        return;
    }
    for (int i = 0; i < 2; i++) {
        lead[i] = s[i];
        lead[i].rank -= 2;
    }
    if (!broadcast_shapes(c->who, 2, lead, &common))
        return;
    Promoted met = promote_types(2, s);
    tt x[] = { in[0], b };
    for (int i = 0; i < 2; i++) {
        Shape to = common;
        to.rank += 2;
        memcpy(to.dims + common.rank, s[i].dims + s[i].rank - 2, 2 * sizeof *to.dims);
        x[i] = as_shape(as_element(x[i], met.element), &to);
    }
    TriangularSolveAttrs *how =
        BUILD_ATTRS(TriangularSolveAttrs, .left_side = true, .lower = !c->is_upper,
                    .unit_diagonal = c->is_unit != 0,
                    .transpose_a = c->is_transposed ? TRANSPOSE : NO_TRANSPOSE);
    tt y = build_op(OP_TRIANGULAR_SOLVE, 2, x, how, type_at(x[1]));
    *out = is_vector ? tt_squeeze(y, DIMS(-1)) : y;
}

tt tt_solve_triangular_with(tt a, tt b, const tt_triangle_options *given)
{
    PUBLIC;
    OPTIONS(tt_triangle_options, "tt_solve_triangular", given, return NO_VALUE);
    Config c = { "tt_solve_triangular", options.upper, options.transpose, options.unit };
    return EAGER(c.who, triangular_body, &c, a, b);
}

/* a x = b, of a symmetric and positive a, by its factor. */
static void cho_solve_body(const tt *in, tt *out, const void *config)
{
    const Config *c = config;
    Config first = { c->who, 0, 0, 0 }, second = { c->who, 0, 1, 0 };
    tt y[2] = { in[0], NO_VALUE };
    triangular_body(in, &y[1], &first);
    if (is_value(y[1]))
        triangular_body(y, out, &second);
}

tt tt_cho_solve(tt l, tt b)
{
    PUBLIC;
    Config c = { "tt_cho_solve", 0, 0, 0 };
    return EAGER(c.who, cho_solve_body, &c, l, b);
}
