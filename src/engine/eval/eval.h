/* eval.h - the reference evaluator: slow, obviously right, independent of the compiler. */
#ifndef TUTTI_ENGINE_EVAL_EVAL_H
#define TUTTI_ENGINE_EVAL_EVAL_H
#include "engine/tensor.h"
#include "hlo/module.h"

/* Executes one node that needs no other device: out[i].data is the caller's, of the node's types,
 * and overlaps no operand.  Regions of the node may use values from outside only if those are
 * constants.  COLLECTIVE operations on more than one device are "not supported". */
MUST_USE Error *eval_node(const Module *m, NodeId n, const Tensor *in, Tensor *out);

/* Executes a region: arguments in, what its RETURN names out; free values are not allowed, except
 * constants. */
MUST_USE Error *eval_region(const Module *m, RegionId r, const Tensor *in, Tensor *out);

/* Is there a rule for it? */
bool eval_can(OpId op);

/* A region made ready to be executed many times: a reducer, a comparator. */
typedef struct Evaluator Evaluator;
MUST_USE Error *evaluator_new(const Module *m, RegionId r, Evaluator **out);
MUST_USE Error *evaluator_run(Evaluator *p, const Tensor *in, Tensor *out);
void evaluator_free(Evaluator *p); /* NULL is fine */
#endif
