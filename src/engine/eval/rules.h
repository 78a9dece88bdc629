/* rules.h - the evaluator's column of ops.def: one function per operation. */
#ifndef TUTTI_ENGINE_EVAL_RULES_H
#define TUTTI_ENGINE_EVAL_RULES_H
#include "engine/eval/eval.h"
#include "ops/if_shorthand.h"

/* What the operation means.  in and out hold one tensor per operand and result, of the types
 * that the node states; out does not overlap in. */
typedef Error *EvalRule(const Module *m, const Node *n, const Tensor *in, Tensor *out);

/* A row of ops.def whose rule is missing fails at linking, by the rule's name. */
#define OP(id, name, arity, attrs, kind, flow, effect, in_place, cost, cuts, shape, eval, ...)     \
    IF_SHORT_##kind(, EvalRule eval_##eval;)
#include "ops/ops.def"

extern EvalRule *const eval_rules[OP_COUNT]; /* NULL: none */

/* "not supported: exponential of i32[4], at train.py:12". */
MUST_USE Error *eval_refuse(const Node *n, Type type);

/* Sums of products.  Few of them (SUM_FEW) are added one by one, each product and each sum
 * rounded as a machine that adds in the result's type does it (f32 for narrower floats), because
 * users see every bit of them; many are added in the widest carrier. */
enum { SUM_FEW = 16 };
double sum_float(Element e, int64_t terms, double sum, double x, double y); /* sum + x * y */
Complex sum_complex(Element e, int64_t terms, Complex sum, Complex x, Complex y);

/* qr.c: custom_call @Qr and @ProductOfElementaryHouseholderReflectors. */
MUST_USE Error *eval_qr(const Node *n, const Tensor *in, Tensor *out);
MUST_USE Error *eval_householder(const Node *n, const Tensor *in, Tensor *out);
#endif
