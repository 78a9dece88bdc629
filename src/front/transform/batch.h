/* batch.h - a graph on a whole batch: what rules of operations with regions need of it. */
#ifndef TUTTI_FRONT_TRANSFORM_BATCH_H
#define TUTTI_FRONT_TRANSFORM_BATCH_H
#include "front/transform/free_values.h"
#include "front/transform/rules/rule.h"

/* g on a batch of that size: leaves marked `mapped` have a batch axis 0.  Results that differ
 * between rows have one, as is_mapped[] tells, or all that `wanted` names.  Collectives along
 * axis_name (empty: none) become reductions over the batch.  False: said. */
bool batch_transform(const Graph *g, int64_t size, Str axis_name, const bool *mapped,
                     const bool *wanted, bool *is_mapped, Graph *out);

/* Values around the node that is being batched, as the frame knows them. */
tt batcher_value(struct Batcher *b, ValueId v);
bool batcher_is_mapped(const struct Batcher *b, ValueId v);
/* A copy of a region as it is, for the same operation once more. */
Graph batcher_region(struct Batcher *b, RegionId r);
void batcher_inline(struct Batcher *b, RegionId r, const tt *x, const bool *mapped, tt *y,
                    bool *y_mapped);
#endif
