/* runtime.c - the functions that code calls through its frame, and the algorithms of collectives, for
 * programs compiled in place: all of them, since any program may come.  A node without a kernel is
 * computed by a ready-made routine (routine.h), or else by the reference evaluator. */
#include "engine/collectives/collectives.h"
#include "engine/eval/eval.h"
#include "engine/exec/evaluation.h"
#include "engine/exec/pause.h"
#include "engine/numerics/numerics.h"
#include "engine/profile/track.h"
#include "engine/slices.h"

static Error *compute(const Frame *f, const Evaluation *e, RegionId main, const Tensor *in,
                      Tensor *out)
{
    const Module *m = f->program->module;
    if (!e->node)
        return eval_region(m, main, in, out);
    Routine *library = e->is_by_rule ? NULL : routine_find(m, node_at(m, e->node));
    return library ? library(f, node_at(m, e->node), in, out) : eval_node(m, e->node, in, out);
}

static int32_t evaluate(Frame *f, int32_t which)
{
    return evaluation_run(f, which, compute);
}

static void mark(const Frame *f, int32_t number)
{
    track_mark(f->track, number);
}

const Runtime runtime = {
    .evaluate = evaluate,
    .gemm = gemm,
    .gather = gather,
    .math = math_library,
    .sort = sort_order,
    .sort_lines = sort_lines,
    .slices = slices_run,
    .reduce = plain_reduce,
    .copy = plain_copy,
    .transpose = plain_transpose,
    .join = plain_join,
    .mark = mark,
    .nans = nans_find,
    .pause = run_pause,
    .collectives = ALL_COLLECTIVES,
};
