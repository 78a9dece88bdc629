/* free_values.h - regions that use nothing from around them.
 *
 * A graph may use values of the regions around it.  Where its region must stand alone (a private
 * function, the body of a manual computation) those become further arguments. */
#ifndef TUTTI_FRONT_TRANSFORM_FREE_VALUES_H
#define TUTTI_FRONT_TRANSFORM_FREE_VALUES_H
#include "front/transform/trace.h"

typedef struct Values {
    int n;
    ValueId *at;
} Values;

/* What the regions use and do not define, each once, in order of first use.  In m's arena. */
Values free_values(Module *m, int nregions, const RegionId *regions);

/* A new region with the nodes of r, whose arguments are r's and then those for `free`.  r itself
 * is used up. */
RegionId region_closed(Module *m, RegionId r, Values free);

/* r as a graph of its own: a copy whose arguments are r's, then `free`. */
Graph graph_of_region(Module *m, RegionId r, Values free);
#endif
