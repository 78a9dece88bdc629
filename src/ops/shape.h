/* shape.h - the rules that the columns `shape` and `cuts` of ops.def name. */
#ifndef TUTTI_OPS_SHAPE_H
#define TUTTI_OPS_SHAPE_H
#include "ops/op.h"

#define OP(id, name, arity, attrs, kind, flow, effect, in_place, cost, cuts, shape, ...)           \
    CutRule cuts_##cuts;                                                                           \
    ShapeRule shape_##shape;
#include "ops/ops.def"
#endif
