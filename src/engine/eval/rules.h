/* rules.h - the evaluator's column of ops.def: one function per operation. */
#ifndef TUTTI_ENGINE_EVAL_RULES_H
#define TUTTI_ENGINE_EVAL_RULES_H
#include "engine/eval/eval.h"
#include "ops/if_shorthand.h"

/* What the operation means.  in and out hold one tensor per operand and result, of the types
 * that the node states; out does not overlap in. */
typedef Error *EvalRule(const Module *m, const Node *n, const Tensor *in, Tensor *out);

/* A row of ops.def whose rule nobody has written fails at linking, by the rule's name. */
#define OP(id, name, arity, attrs, kind, flow, effect, in_place, cost, shape, eval, ...)           \
    IF_SHORT_##kind(, EvalRule eval_##eval;)
#include "ops/ops.def"

extern EvalRule *const eval_rules[OP_COUNT]; /* NULL: none */
#endif
