/* op_sharding.h - how an array lies on devices, as XLA's OpSharding. */
#ifndef TUTTI_ENGINE_PLUGIN_OP_SHARDING_H
#define TUTTI_ENGINE_PLUGIN_OP_SHARDING_H
#include "base/text.h"
#include "ops/sharding.h"

/* Writes nothing at all for a replicated one, which is what that means. */
void sharding_write(Text *out, Tiling tiling);
#endif
