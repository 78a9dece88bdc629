/* eval_rules.c - the evaluator's column of ops.def as a table. */
#include "engine/rules.h"

#define eval_none NULL

EvalRule *const eval_rules[OP_COUNT] = {
#define OP(id, name, arity, attrs, kind, shape, eval, element, block, ...) [OP_##id] = eval_##eval,
#include "ops/ops.def"
};
