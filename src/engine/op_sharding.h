/* op_sharding.h - how an array lies on devices, as XLA's OpSharding. */
#ifndef TUTTI_ENGINE_OP_SHARDING_H
#define TUTTI_ENGINE_OP_SHARDING_H
#include "base/text.h"
#include "ops/sharding.h"

/* Writes nothing at all for a replicated one, which is what that means. */
void sharding_write(Text *out, Tiling tiling);
/* Of an array inside a manual computation, where it is each device's own. */
void sharding_write_manual(Text *out);
#endif
