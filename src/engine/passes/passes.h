/* passes.h - the passes, in the order of compile.c's tables; pass_x is in x.c, or in the
 * folder x; pass_polish is simplify's.
 *
 * A pass that changes the module leaves it valid: module_check proves that behind each of them.
 * main is module_main(m); from refine on it is the only function. */
#ifndef TUTTI_ENGINE_PASSES_PASSES_H
#define TUTTI_ENGINE_PASSES_PASSES_H
#include "engine/stages.h"

MUST_USE Error *pass_refine(Module *m);
MUST_USE Error *pass_sink_captures(Module *m);
MUST_USE Error *pass_simplify(Module *m, const CompileOptions *o);
MUST_USE Error *pass_place(Module *m, const CompileOptions *o, Params *out);
MUST_USE Error *pass_polish(Module *m, const CompileOptions *o); /* simplify, on what place made */
MUST_USE Error *pass_drop_barriers(Module *m);
MUST_USE Error *pass_hoist_replicated(Module *m, const Params *params);
MUST_USE Error *pass_drop_invariant_carries(Module *m);
MUST_USE Error *pass_hoist_invariants(Module *m);
void hoist_products(Module *m); /* parts of it */
MUST_USE Error *sink_sums(Module *m);
MUST_USE Error *pass_overwrite_rows(Module *m, const Params *params);
MUST_USE Error *pass_unroll_rotations(Module *m);
MUST_USE Error *pass_split_columns(Module *m, const CompileOptions *o);
MUST_USE Error *pass_fuse(Module *m, TripCounts *out); /* of loops whose parts are kernels then */
MUST_USE Error *pass_join_collectives(Module *m);

void simplify_again(Module *m, const CompileOptions *o); /* simplify's, for other passes */

MUST_USE Error *pass_schedule(const KernelModule *k, Schedule *out); /* which points to k */
MUST_USE Error *pass_assign(const Schedule *s, Layout *out);         /* which points to s */
#endif
