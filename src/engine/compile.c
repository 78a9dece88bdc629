/* compile.c - the engine's table of contents: bytes in, a Program out.
 *
 *   bytes --read--> Module --check--> --passes--> Plan --link--> Program
 *
 * Each pass is a row of the tables below; reading their files in this order is reading the compiler.
 * What changes the module is a row of the first table, so `tutti dump --after=NAME` shows it.
 *
 * The reference evaluator needs the module only, so with `evaluate` the passes that prepare native
 * code are left out; a program of several devices is evaluated node by node, between collectives. */
#include "engine/compile.h"

#include "base/fail.h"
#include "engine/checks.h"
#include "engine/floats.h"
#include "engine/cpu_level.h"
#include "engine/link/link.h"
#include "engine/plan.h"

#include <limits.h>
#include <string.h>
#include <time.h>

/* In order; and from how many devices on they run also when the program is to be evaluated.  The
 * first table changes the module, the second leaves it and makes tables beside it. */
#define MODULE_PASSES(ROW)                                                                         \
    ROW(refine, 1)                /* calls inlined, shapes known */                                \
    ROW(sink_captures, 1)         /* reducers and comparators use no value from outside */         \
    ROW(simplify, NEVER)          /* algebra, dead code, constants */                              \
    ROW(place, 1)                 /* shardings become the program of one device */                 \
    ROW(polish, NEVER)            /* the same algebra on what place made */                        \
    ROW(hoist_replicated, NEVER)  /* what all devices would compute alike is computed once */      \
    ROW(drop_dead_carries, NEVER) /* loops carry only what they change */                          \
    ROW(fuse, NEVER)              /* operations become kernels */                                  \
    ROW(join_collectives, 2)      /* reductions that need not wait for one another become one */
#define TABLE_PASSES(ROW)                                                                          \
    ROW(schedule, 2) /* the program is cut into segments where devices wait for one another */     \
    ROW(assign, 2)   /* every value gets its address */

enum { NEVER = INT_MAX };
static const struct {
    const char *name;
    PassFn *run;
    int evaluated_from;
} passes[] = {
#define ROW(pass, evaluated_from) { #pass, pass_##pass, evaluated_from },
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

static double clock_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* ---- passes ---- */

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

static Error *plan_begin(Source *s, Plan *p)
{
    TRY(source_read(s));
    TRY(module_check(s->module));
    const Func *main = func_find(s->module, STR("main"));
    if (!main)
        return error_new(CODE_INVALID, "%s has no function main",
                         s->options.name ? s->options.name : "the program");
    *p = (Plan){ .m = s->module, .main = main->body, .o = &s->options };
    return NULL;
}

/* ---- the whole way ---- */

typedef struct Job {
    Source *s;
    Program **out;
    Error *error;
} Job;

static Error *job_steps(Job *job)
{
    Plan p = { 0 };
    TRY(cpu_level_check());
    TRY(checks_validate());
    TRY(plan_begin(job->s, &p));
    double began = clock_ms();
    TRY(passes_run(&p, NULL));
    double passed = clock_ms();
    bool is_one_evaluation = p.o->evaluate && devices_of(&p) == 1;
    TRY(is_one_evaluation ? link_evaluation(&p, job->out) : link_program(&p, job->out));
    CompileStats *stats = &(*job->out)->stats;
    stats->read_ms = job->s->read_ms;
    stats->passes_ms = passed - began;
    stats->emit_ms = clock_ms() - passed;
    return NULL;
}

static void job_run(void *user)
{
    Job *job = user;
    job->error = job_steps(job);
    if (job->error)
        module_free(job->s->module);
    job->s->module = NULL;
}

Error *compiler_run(const char *doing, ThreadFn *f, void *user)
{
    Floats before = floats_enter_default(); /* a new thread begins in the state of the one that starts it */
    Error *error = thread_run_deep(doing, f, user);
    floats_restore(before);
    return error;
}

Error *compile_program(Source *s, Program **out)
{
    Job job = { s, out, NULL };
    bool was_read = s->module != NULL;
    Error *error = compiler_run("compile", job_run, &job);
    if (error && !was_read)
        s->module = NULL; /* what the guard gave back */
    return error ? error : job.error;
}

Error *source_read(Source *s)
{
    if (s->module)
        return NULL;
    double began = clock_ms();
    const char *name = s->options.name ? s->options.name : "program";
    TRY(read_program(s->bytes.at, s->bytes.n, name, &s->module));
    s->read_ms = clock_ms() - began;
    return NULL;
}

Error *compile_until(Source *s, const char *pass)
{
    Plan p = { 0 };
    TRY(plan_begin(s, &p));
    return passes_run(&p, pass);
}
