/* rules_table.c - the evaluator's column of ops.def as a table. */
#include "engine/eval/rules.h"

#define eval_none NULL

EvalRule *const eval_rules[OP_COUNT] = {
#define OP(id, name, arity, attrs, kind, flow, effect, in_place, cost, shape, eval, ...)           \
    [OP_##id] = IF_SHORT_##kind(NULL, eval_##eval),
#include "ops/ops.def"
};
