/* shape_rules.c - the column `shape` of ops.def as a table. */
#include "ops/shape.h"

ShapeRule *const shape_rules[OP_COUNT] = {
#define OP(id, name, arity, attrs, kind, flow, effect, in_place, cost, cuts, shape, ...)           \
    [OP_##id] = shape_##shape,
#include "ops/ops.def"
};
