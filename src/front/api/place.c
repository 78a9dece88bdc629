/* place.c - tt_place and tt_from_local: an array goes where it shall lie; a traced one is to lie there when it
 * is computed. */
#include "front/api/numpy.h"
#include "front/transform/transform.h"
#include "front/value/layout.h"
#include "front/value/library.h"
#include "front/value/report.h"

static void place_body(const tt *in, tt *out, const void *config)
{
    const tt_sharding *where = config;
    Shape shape;
    if (!shapes_of("tt_place", 1, in, &shape))
        return;
    tt x = build_convert(in[0], element_canonical(shape.element, shape.is_weak));
    *out = build_placed("tt_place", x, where->mesh, &where->spec);
}

tt tt_place(tt x, const tt_sharding *where)
{
    PUBLIC;
    tt y = NO_VALUE;
    Shape shape;
    if (!where->mesh)
        return report_broken("tt_place: no mesh is given: make one with tt_mesh_of");
    if (!value_shape(x, "tt_place", &shape))
        return y;
    if (!shape.is_traced)
        return place_array(x, where);
    if (!tracing)
        return report_broken("tt_place: the array is being traced by another thread");
    record_body("tt_place", place_body, where, &x, 1, &y);
    return y;
}

tt tt_from_local(tt x, const tt_sharding *where)
{
    PUBLIC;
    Shape shape;
    if (!where->mesh)
        return report_broken("tt_from_local: no mesh is given: make one with tt_mesh_of");
    if (!value_shape(x, "tt_from_local", &shape))
        return NO_VALUE;
    if (shape.is_traced)
        return report_broken(
            "tt_from_local: %s is traced: call it outside the function, on what the "
            "process has read",
            shape_text(&shape));
    return place_local(x, where);
}
