/* shape.h - the shape rules that ops.def names. */
#ifndef TUTTI_OPS_SHAPE_H
#define TUTTI_OPS_SHAPE_H
#include "ops/op.h"

#define OP(id, name, arity, attrs, kind, flow, effect, in_place, cost, shape, ...)                 \
    ShapeRule shape_##shape;
#include "ops/ops.def"
#endif
