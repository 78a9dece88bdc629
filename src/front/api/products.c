/* products.c - products of vectors and matrices that are no tt_matmul: cross, Kronecker, convolution of
 * sequences; and grids of coordinates. */
#include "front/api/numpy.h"

#include "front/value/library.h"
#include "front/value/report.h"

#include <string.h>

static tt entry(tt x, int i)
{
    tt_part at[] = { { .kind = TT_PART_REST }, { .kind = TT_PART_AT, .start = i } };
    return tt_get_n(x, at, 2);
}

static void cross_body(const tt *in, tt *out, const void *config)
{
    const Numbers *c = config;
    Shape s[2];
    if (!shapes_of(c->who, 2, in, s))
        return;
    for (int i = 0; i < 2; i++)
        if (!s[i].rank || s[i].dims[s[i].rank - 1] != 3) {
            report_broken("%s: %s: its last axis has 3", c->who, shape_text(&s[i]));
            return;
        }
    tt y[3];
    for (int i = 0; i < 3; i++) {
        int k = (i + 1) % 3, l = (i + 2) % 3;
        y[i] = tt_sub(tt_mul(entry(in[0], k), entry(in[1], l)),
                      tt_mul(entry(in[0], l), entry(in[1], k)));
    }
    *out = tt_stack_n(y, 3, -1);
}

tt tt_cross(tt a, tt b)
{
    PUBLIC;
    return EAGER_BY("tt_cross", cross_body, NULL, a, b);
}

static void kron_body(const tt *in, tt *out, const void *config)
{
    const Numbers *c = config;
    Shape s[2];
    if (!shapes_of(c->who, 2, in, s))
        return;
    if (s[0].rank != 2 || s[1].rank != 2) {
        report_broken("%s: %s by %s: they are matrices", c->who, shape_text(&s[0]),
                      shape_text(&s[1]));
        return;
    }
    tt y = tt_einsum_n("ij,kl->ikjl", in, 2);
    *out = tt_reshape(y, DIMS(s[0].dims[0] * s[1].dims[0], s[0].dims[1] * s[1].dims[1]));
}

tt tt_kron(tt a, tt b)
{
    PUBLIC;
    return EAGER_BY("tt_kron", kron_body, NULL, a, b);
}

/* Every overlap of a and b turned round: with as much around a as the mode says. */
static void convolve_body(const tt *in, tt *out, const void *config)
{
    const Numbers *c = config;
    Shape s[2];
    tt x[2];
    if (!as_floats(c->who, 2, in, x) || !shapes_of(c->who, 2, x, s))
        return;
    if (s[0].rank != 1 || s[1].rank != 1 || !s[0].dims[0] || !s[1].dims[0]) {
        report_broken("%s: %s by %s: they have one axis, with elements", c->who, shape_text(&s[0]),
                      shape_text(&s[1]));
        return;
    }
    if (s[0].dims[0] < s[1].dims[0]) { /* the longer first */
        tt swapped[] = { x[1], x[0] };
        convolve_body(swapped, out, config);
        return;
    }
    int64_t n = s[1].dims[0], around = n - 1;
    tt_conv_options how = { .size = sizeof how, .valid = true };
    how.pad[0][0] = c->v[0] == TT_CONVOLVE_FULL ? around : c->v[0] == TT_CONVOLVE_SAME ? n / 2 : 0;
    how.pad[0][1] = c->v[0] == TT_CONVOLVE_FULL   ? around
                    : c->v[0] == TT_CONVOLVE_SAME ? around - n / 2
                                                  : 0;
    tt y = tt_conv_with(tt_reshape(x[0], DIMS(1, -1, 1)),
                        tt_reshape(tt_flip(x[1], NULL), DIMS(-1, 1, 1)), &how);
    *out = tt_reshape(y, DIMS(-1));
}

tt tt_convolve(tt a, tt b, tt_convolve_mode mode)
{
    PUBLIC;
    return EAGER_BY("tt_convolve", convolve_body, DIMS(mode), a, b);
}

/* Coordinate i of every point of a grid: the first two axes change places unless `ij`, as in NumPy. */
void tt_meshgrid_n(tt *grids, const tt *x, int n, bool ij)
{
    PUBLIC;
    tt_dims shape = { n < TT_MAX_RANK ? n : TT_MAX_RANK, { 0 } };
    for (int i = 0; i < shape.n; i++) {
        tt_dims own = tt_shape(x[i]);
        int axis = !ij && n > 1 && i < 2 ? 1 - i : i;
        shape.v[axis] = own.n == 1 ? own.v[0] : -1;
        if (own.n != 1)
            report_broken("tt_meshgrid: %s: coordinates have one axis", tt_describe(x[i]));
    }
    for (int i = 0; i < shape.n; i++) {
        int axis = !ij && n > 1 && i < 2 ? 1 - i : i;
        tt_dims ones = shape;
        for (int k = 0; k < shape.n; k++)
            ones.v[k] = k == axis ? shape.v[k] : 1;
        grids[i] = shape.v[axis] < 0 ? NO_VALUE : tt_broadcast(tt_reshape(x[i], &ones), &shape);
    }
}
