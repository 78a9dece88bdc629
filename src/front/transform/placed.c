/* placed.c - how a traced value shall lie on devices: tt_place inside a function.
 *
 *     y = placed(x)      dy = placed(dx)      backwards   ct_x = placed(ct_y)
 *
 * It changes no number.  Lowered it is sdy.sharding_constraint, of which the engine or XLA makes the
 * copies that are needed, and the program then runs on the devices of the mesh. */
#include "front/transform/transform.h"
#include "front/value/layout.h"
#include "front/value/report.h"

tt build_placed_so(tt x, const Sharding *sharding)
{
    Composite *c = ARENA_NEW(trace_arena(), Composite);
    *c = (Composite){ .kind = PLACED, .sharding = sharding };
    c->attrs.name = STR("place");
    return build_op(OP_COMPOSITE, 1, &x, &c->attrs, type_at(x));
}

tt build_placed(const char *who, tt x, const struct tt_grid *grid, const tt_spec *spec)
{
    Type t = type_at(x);
    if (map_around())
        return report_broken(
            "%s inside a mapped function: every device has its own array there, which "
            "lies where the map puts it",
            who);
    const Sharding *sharding = spec_sharding(who, mesh_of_grid(grid), spec, t, false, type_text(t));
    if (!sharding || !settle_on(who, grid->ndevices, grid->devices))
        return NO_VALUE;
    session->has_placed = true;
    return grid->ndevices == 1 ? x : build_placed_so(x, sharding);
}
