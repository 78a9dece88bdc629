/* compile.c - the engine's table of contents: bytes in, a Program out.
 *
 *   bytes --read--> Module --check--> --passes--> Plan --emit--> Program
 *
 * Each pass is a row of the table below; reading their files in this order is reading the
 * compiler.  The reference evaluator needs the module only, so with `evaluate` the passes that
 * prepare native code are left out; where there are many devices it plays node by node, between
 * their collectives. */
#include "engine/compile.h"

#include "base/fail.h"
#include "base/sync.h"
#include "engine/checks.h"
#include "engine/cpu_level.h"
#include "engine/plan.h"

#include <limits.h>
#include <string.h>
#include <time.h>

/* In order; and from how many devices on they run also when the program is to be evaluated.  The
 * first table changes the module, the second leaves it and makes tables beside it. */
#define MODULE_PASSES(ROW)                                                                         \
    ROW(refine, 1)       /* calls inlined, shapes known */                                         \
    ROW(simplify, NEVER) /* algebra, dead code, constants */                                       \
    ROW(place, 1)        /* shardings become the program of one device */                          \
    ROW(polish, NEVER)   /* the same algebra on what place made */                                 \
    ROW(fuse, NEVER)     /* operations become kernels */
#define TABLE_PASSES(ROW)                                                                          \
    ROW(schedule, 2) /* the program is cut where devices meet */                                    \
    ROW(assign, 2)  /* every value gets its memory */

enum { NEVER = INT_MAX };
static const struct {
    const char *name;
    PassFn *run;
    int evaluated_from;
} passes[] = {
#define ROW(pass, evaluated_from) { #pass, pass, evaluated_from },
    MODULE_PASSES(ROW)
    TABLE_PASSES(ROW)
#undef ROW
};
enum { NPASSES = sizeof passes / sizeof passes[0] };

const char *const pass_names[] = {
#define ROW(pass, evaluated_from) #pass,
    MODULE_PASSES(ROW)
#undef ROW
    NULL
};

double clock_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static Error *check_after(const Plan *p, const char *pass)
{
#ifndef NDEBUG
    Error *error = module_check(p->m);
    return error ? error_in(error, "a mistake of Tutti's own, after the pass %s", pass) : NULL;
#else
    (void)p, (void)pass;
    return NULL;
#endif
}

static int devices_of(const Plan *p)
{
    return p->m->nreplicas * p->m->npartitions;
}

/* Up to the pass of that name; NULL: all. */
static Error *passes_run(Plan *p, const char *last)
{
    for (int i = 0; i < NPASSES; i++) {
        if (p->o->evaluate && devices_of(p) < passes[i].evaluated_from)
            continue;
        TRY(passes[i].run(p));
        TRY(check_after(p, passes[i].name));
        if (last && strcmp(last, passes[i].name) == 0)
            return NULL;
    }
    return NULL;
}

static Error *plan_begin(Module *m, const CompileOptions *o, Plan *p)
{
    const Func *main = func_find(m, STR("main"));
    if (!main)
        return error_new(CODE_INVALID, "%s has no function main",
                         o->name ? o->name : "the program");
    *p = (Plan){ .m = m, .main = main->body, .o = o };
    return NULL;
}

static Error *passes_and_emit(Plan *p, double began, Program **out)
{
    double read = clock_ms();
    TRY(passes_run(p, NULL));
    double passed = clock_ms();
    bool is_one_evaluation = p->o->evaluate && devices_of(p) == 1;
    TRY(is_one_evaluation ? emit_evaluation(p, out) : emit(p, out));
    CompileStats *stats = &(*out)->stats;
    stats->read_ms = read - began;
    stats->passes_ms = passed - read;
    stats->emit_ms = clock_ms() - passed;
    return NULL;
}

Error *compile_until(Module *m, const CompileOptions *o, const char *pass)
{
    Plan p = { 0 };
    TRY(module_check(m));
    TRY(plan_begin(m, o, &p));
    return passes_run(&p, pass);
}

Error *compile_module(Module *m, double began, const CompileOptions *o, Program **out)
{
    Plan p = { 0 };
    Error *error = cpu_level_check();
    if (!error)
        error = checks_validate();
    if (!error)
        error = module_check(m);
    if (!error)
        error = plan_begin(m, o, &p);
    if (!error)
        error = passes_and_emit(&p, began, out);
    if (error)
        module_free(m);
    return error;
}

/* ---- a stack that is deep enough ---- */

typedef struct Job {
    const char *bytes;
    size_t n;
    const CompileOptions *o;
    Program **out;
    Error *error;
} Job;

static void job_run(void *at)
{
    Job *job = at;
    double began = clock_ms();
    Module *m = NULL;
    job->error = read_program(job->bytes, job->n, job->o->name ? job->o->name : "program", &m);
    if (!job->error)
        job->error = compile_module(m, began, job->o, job->out);
}

/* The readers and LLVM recurse as deeply as the program nests, and callers' stacks are small
 * (JAX compiles on threads of 2 MiB), so compilation brings its own. */
Error *compile(const char *bytes, size_t n, const CompileOptions *o, Program **out)
{
    static const CompileOptions none = { 0 };
    Job job = { bytes, n, o ? o : &none, out, NULL };
    TRY(thread_run_deep("compile", job_run, &job));
    return job.error;
}
