/* evaluation.c - a Program that the reference evaluator runs whole; and the end of any Program. */
#include "engine/link/link.h"

#include "base/fail.h"
#include "engine/ffi/ffi.h"

static int32_t evaluate_whole(Frame *f)
{
    return f->rt->evaluate(f, 0) ? SEGMENT_FAIL : SEGMENT_END;
}

static const Address *addresses_in_order(Arena *arena, int where, int n)
{
    Address *addresses = ARENA_ARRAY(arena, Address, n);
    for (int i = 0; i < n; i++) {
        addresses[i].where = where;
        addresses[i].at = i;
    }
    return addresses;
}

Error *link_evaluation(const Params *params, Module *m, Program **out)
{
    static SegmentFn *const whole[] = { evaluate_whole };
    require(m->nreplicas * m->npartitions == 1);
    Arena *arena = arena_new();
    Evaluation *evaluation = ARENA_NEW(arena, Evaluation);
    Param *results = arena_copy(arena, params->results, sizeof *results * (size_t)params->nresults);
    Program *program = ARENA_NEW(arena, Program);
    *program = (Program){
        .name = module_name(m),
        .nreplicas = 1,
        .npartitions = 1,
        .ndevices = 1,
        .nargs = params->nargs,
        .nresults = params->nresults,
        .args = params->args,
        .results = results,
        .nsegments = 1,
        .segments = whole,
        .nevaluations = 1,
        .evaluations = evaluation,
        .rt = &runtime,
        .arena = arena,
        .module = m,
        .stats = { .segments = 1, .evaluations = 1 },
    };
    *evaluation = (Evaluation){ .in = addresses_in_order(arena, ADDRESS_ARG, program->nargs),
                                .out = addresses_in_order(arena, ADDRESS_OUT, program->nresults),
                                .is_counted = true,
                                .is_by_rule = true };
    for (int i = 0; i < program->nresults; i++)
        results[i].alias = -1; /* the evaluator works in place nowhere */
    *out = program;
    return NULL;
}

void program_free(Program *p)
{
    if (!p)
        return;
    sites_drop(p);
    code_free(p->code);
    module_free(p->module);
    arena_free(p->arena); /* p itself lies there */
}
