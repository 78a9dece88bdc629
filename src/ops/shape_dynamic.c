/* shape_dynamic.c - the shape rules of operations whose extents are values.  What the result's extents
 * are is known only once those values are (hlo/static_shapes.c); until then types must go together. */
#include "ops/shape_util.h"

#include <inttypes.h>

/* Operand k is a list of n integers. */
static bool expect_list(const ShapeQuery *q, int k, int n, const char *what, Text *why)
{
    Type t = q->in[k];
    if (t.rank == 1 && is_integer(t.element) && extent_fits(t.dims[0], n))
        return true;
    return say(why, "%s are %s: they must be %d integers", what, type_name(t), n);
}

static bool expect_element(const ShapeQuery *q, Text *why)
{
    if (q->in[0].element == q->stated[0].element)
        return true;
    return say(why, "%s to %s: the element type must stay", type_name(q->in[0]),
               type_name(q->stated[0]));
}

bool shape_dimension_size(const ShapeQuery *q, Text *why)
{
    return expect_counts(q, 1, 1, why) &&
           expect_dim(((const DimensionAttrs *)q->attrs)->dimension, q->in[0].rank, "dimension",
                      why) &&
           expect_type(q, 0, type_scalar(I32), why);
}

/* dynamic_reshape and dynamic_iota: the extents are the last operand. */
bool shape_extents_last(const ShapeQuery *q, Text *why)
{
    if (q->nin < 1 || q->nout != 1)
        return say(why, "it takes its extents as the last operand and gives one result");
    if (!expect_list(q, q->nin - 1, q->stated[0].rank, "the extents", why))
        return false;
    return q->nin == 1 || expect_element(q, why);
}

bool shape_dynamic_broadcast(const ShapeQuery *q, Text *why)
{
    if (!expect_counts(q, 2, 1, why) || !shape_extents_last(q, why))
        return false;
    ShapeQuery plain = *q;
    plain.nin = 1;
    return shape_broadcast(&plain, why);
}

bool shape_dynamic_pad(const ShapeQuery *q, Text *why)
{
    static const char *const names[] = { "low paddings", "high paddings", "interior paddings" };
    if (!expect_counts(q, 5, 1, why) || !expect_element(q, why))
        return false;
    for (int k = 0; k < 3; k++)
        if (!expect_list(q, 2 + k, q->in[0].rank, names[k], why))
            return false;
    return true;
}

bool shape_real_slice(const ShapeQuery *q, Text *why)
{
    static const char *const names[] = { "starts", "limits", "strides" };
    if (!expect_counts(q, 4, 1, why) || !expect_element(q, why))
        return false;
    for (int k = 0; k < 3; k++)
        if (!expect_list(q, 1 + k, q->in[0].rank, names[k], why))
            return false;
    return true;
}

bool shape_dynamic_gather(const ShapeQuery *q, Text *why)
{
    return expect_counts(q, 3, 1, why) && expect_element(q, why) &&
           expect_list(q, 2, q->in[0].rank, "slice sizes", why);
}

bool shape_dynamic_conv(const ShapeQuery *q, Text *why)
{
    if (!expect_counts(q, 3, 1, why))
        return false;
    Type pad = q->in[2];
    if (pad.rank == 2 && is_integer(pad.element) && extent_fits(pad.dims[0], q->in[0].rank - 2) &&
        extent_fits(pad.dims[1], 2))
        return true;
    return say(why, "padding is %s: it must be %d pairs of integers", type_name(pad),
               q->in[0].rank - 2);
}
