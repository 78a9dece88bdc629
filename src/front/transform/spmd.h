/* spmd.h - manual computations: the body that every device runs, inside a program of whole arrays.
 */
#ifndef TUTTI_FRONT_TRANSFORM_SPMD_H
#define TUTTI_FRONT_TRANSFORM_SPMD_H
#include "front/transform/trace.h"
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
/* The sum over the devices that hold the same piece of what is cut so. */
tt manual_sum(const Mesh *mesh, tt x, const Sharding *sharding);
const Mesh *manual_mesh(const ManualAttrs *attrs); /* NULL: it has neither arguments nor results */
/* The mesh itself, with a name and now the module's, or one like it that is there already. */
Mesh *mesh_known(Module *m, Mesh *mesh);
const Attr *manual_axes(const Mesh *mesh); /* all of them, as the node's attribute */

/* nest.c: the sizes of the axes that maps inside r add, outermost first, where some have more than
 * others the most.  False: they are not the beginning of one list. */
bool nested_sizes(Module *m, RegionId r, Ints *out);

/* vary.c: do devices which, cut like that, would hold the same of a result compute the same?  False:
 * said. */
bool results_agree(tt_fn f, const Graph *body, const Mesh *mesh, const Sharding *const *in,
                   const Sharding *const *out);
const tt_spec *result_spec(tt_fn f, int i); /* of a shard_map */
#endif
