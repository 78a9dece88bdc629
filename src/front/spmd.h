/* spmd.h - manual computations: the body that every device runs, inside a program of whole arrays.
 */
#ifndef TUTTI_SPMD_H
#define TUTTI_SPMD_H
#include "front/trace.h"
#include "ops/sharding.h"

/* The type of the piece that a device holds, and of the whole that such pieces make. */
Type sharding_local(const Sharding *sharding, Type whole);
Type sharding_whole(const Sharding *sharding, Type local);
/* Nothing is cut. */
const Sharding *sharding_none(const Mesh *mesh, int rank);
/* One more axis at the front, cut along all axes of the mesh or along none. */
const Sharding *sharding_leading(const Sharding *sharding, bool is_cut);

/* Records a MANUAL node: body takes the pieces of in[] and gives pieces of the results.  Values
 * that the body uses from around it go in whole. */
bool manual_apply(const Mesh *mesh, int nin, const tt *in, const Sharding *const *in_shardings,
                  const Graph *body, const Sharding *const *out_shardings, tt *out);
/* The device's own position along all axes of the mesh is not needed by rules; its sum is. */
tt manual_sum(const Mesh *mesh, tt x, const Sharding *sharding);
#endif
