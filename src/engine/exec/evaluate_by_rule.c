/* evaluate_by_rule.c - the reference evaluator as a routine: apart, so that it is linked only where a
 * program needs it. */
#include "engine/eval/eval.h"
#include "engine/exec/evaluation.h"

Error *evaluate_by_rule(const Frame *f, const Node *n, const Tensor *in, Tensor *out)
{
    const Module *m = f->program->module;
    return eval_node(m, (NodeId)(n - m->nodes), in, out);
}
