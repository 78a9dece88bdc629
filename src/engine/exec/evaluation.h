/* evaluation.h - nodes that no kernel computes (Program.evaluations). */
#ifndef TUTTI_ENGINE_EXEC_EVALUATION_H
#define TUTTI_ENGINE_EXEC_EVALUATION_H
#include "engine/program.h"
#include "engine/tensor.h"

/* Computes e->node, or for node 0 the region `main`; out does not overlap in. */
typedef MUST_USE Error *ComputeFn(const Frame *f, const Evaluation *e, RegionId main,
                                  const Tensor *in, Tensor *out);

/* Evaluation `which` of the frame's program; not 0: failed, f->error is set. */
int32_t evaluation_run(Frame *f, int32_t which, ComputeFn *compute);

/* ---- for programs that are compiled ahead: they name what computes a node ---- */

/* By Evaluation.routine. */
NAMED_BY_OBJECTS int32_t evaluate_named(Frame *f, int32_t which);
/* Such a routine, for what the reference evaluator computes. */
NAMED_BY_OBJECTS MUST_USE Error *evaluate_by_rule(const Frame *f, const Node *n, const Tensor *in,
                                                  Tensor *out);
#endif
