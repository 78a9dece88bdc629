/* evaluate_named.c - the evaluations of programs that are compiled ahead: each names its routine, so
 * that no other is linked. */
#include "engine/exec/evaluation.h"

static Error *compute(const Frame *f, const Evaluation *e, RegionId main, const Tensor *in,
                      Tensor *out)
{
    (void)main;
    return e->routine(f, node_at(f->program->module, e->node), in, out);
}

int32_t evaluate_named(Frame *f, int32_t which)
{
    return evaluation_run(f, which, compute);
}
