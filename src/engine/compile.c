/* compile.c - the engine's table of contents: bytes in, a Program out.
 *
 *   bytes --read--> Module --check--> --passes--> KernelModule, Schedule, Layout --link--> Program
 *
 * Each pass is a row of the tables below; reading their files in this order is reading the compiler.
 * A row shows what the pass takes and what it makes (stages.h).  What changes the module is a row of
 * the first table, so `tutti dump --after=NAME` shows it.
 *
 * The reference evaluator needs the module only, so with `evaluate` the passes that prepare native
 * code are left out; a program of several devices is evaluated node by node, between collectives. */
#include "engine/compile.h"

#include "base/fail.h"
#include "base/sync.h"
#include "base/table.h"
#include "engine/checks.h"
#include "engine/cpu_level.h"
#include "engine/link/link.h"
#include "engine/passes/passes.h"
#include "engine/profile/record.h"

#include <limits.h>
#include <string.h>

/* A program on its way, and what the stages have made of it. */
typedef struct Compilation {
    Module *m;
    const CompileOptions *o;
    Params params;
    TripCounts trips;
    KernelModule kernels;
    uint64_t hash; /* of the module that the stages from here on leave as it is */
    Schedule schedule;
    Layout layout;
} Compilation;

/* In order: the name, from how many devices on the pass runs also when the program is to be
 * evaluated, and the call.  The first table changes the module, the second leaves it. */
#define MODULE_PASSES(ROW)                                                                         \
    /* calls inlined, shapes known */                                                              \
    ROW(refine, 1, pass_refine(c->m))                                                              \
    /* reducers and comparators use no value from outside */                                       \
    ROW(sink_captures, 1, pass_sink_captures(c->m))                                                \
    /* algebra, dead code, constants */                                                            \
    ROW(simplify, NEVER, pass_simplify(c->m, c->o))                                                \
    /* shardings become the program of one device */                                               \
    ROW(place, 1, pass_place(c->m, c->o, &c->params))                                              \
    /* the same algebra on what place made */                                                      \
    ROW(polish, NEVER, pass_polish(c->m, c->o))                                                    \
    /* nothing merges values from here on */                                                       \
    ROW(drop_barriers, 1, pass_drop_barriers(c->m))                                                \
    /* what all devices would compute alike is computed once */                                    \
    ROW(hoist_replicated, NEVER, pass_hoist_replicated(c->m, &c->params))                          \
    /* loops carry only what they change */                                                        \
    ROW(drop_invariant_carries, NEVER, pass_drop_invariant_carries(c->m))                          \
    /* what loops need not compute round by round is computed before or after them */              \
    ROW(hoist_invariants, NEVER, pass_hoist_invariants(c->m))                                      \
    /* loops write over what they take row by row */                                               \
    ROW(overwrite_rows, NEVER, pass_overwrite_rows(c->m, &c->params))                              \
    /* loops that hand large arrays on go several rounds at once */                                \
    ROW(unroll_rotations, NEVER, pass_unroll_rotations(c->m))                                      \
    /* arrays of a few columns become columns */                                                   \
    ROW(split_columns, NEVER, pass_split_columns(c->m, c->o))                                      \
    /* operations become kernels */                                                                \
    ROW(fuse, NEVER, pass_fuse(c->m, &c->trips))                                                   \
    /* reductions that need not wait for one another become one */                                 \
    ROW(join_collectives, 2, pass_join_collectives(c->m))
#define TABLE_PASSES(ROW)                                                                          \
    /* the program is cut into segments where devices wait for one another */                      \
    ROW(schedule, 2, pass_schedule(&c->kernels, &c->schedule))                                     \
    /* every value gets its address */                                                             \
    ROW(assign, 2, pass_assign(&c->schedule, &c->layout))

enum { NEVER = INT_MAX };

#define ROW(pass, evaluated_from, call)                                                            \
    static Error *run_##pass(Compilation *c)                                                       \
    {                                                                                              \
        return call;                                                                               \
    }
MODULE_PASSES(ROW)
TABLE_PASSES(ROW)
#undef ROW

typedef struct Pass {
    const char *name;
    Error *(*run)(Compilation *c);
    int evaluated_from;
} Pass;

#define ROW(pass, evaluated_from, call) { #pass, run_##pass, evaluated_from },
static const Pass module_passes[] = { MODULE_PASSES(ROW) };
static const Pass table_passes[] = { TABLE_PASSES(ROW) };
#undef ROW
enum {
    NMODULE_PASSES = sizeof module_passes / sizeof *module_passes,
    NTABLE_PASSES = sizeof table_passes / sizeof *table_passes,
};

const char *const pass_names[] = {
#define ROW(pass, evaluated_from, call) #pass,
    MODULE_PASSES(ROW)
#undef ROW
        NULL
};

static double clock_ms(void)
{
    return (double)clock_now_ns() * 1e-6;
}

/* ---- passes ---- */

static int devices_of(const Compilation *c)
{
    return c->m->nreplicas * c->m->npartitions;
}

static bool is_left_out(const Compilation *c, const Pass *pass)
{
    return c->o->evaluate && devices_of(c) < pass->evaluated_from;
}

#ifndef NDEBUG
static Error *module_check_after(const Module *m, const char *pass)
{
    Error *error = module_check(m);
    return error ? error_in(error, "a mistake of Tutti's own, after the pass %s", pass) : NULL;
}

/* Of the tables of the module and the lists that they point to. */
static uint64_t module_hash(const Module *m)
{
    uint64_t h = hash_bytes(m->values, sizeof *m->values * m->nvalues, 0);
    h = hash_bytes(m->nodes, sizeof *m->nodes * m->nnodes, h);
    h = hash_bytes(m->regions, sizeof *m->regions * m->nregions, h);
    for (NodeId n = 1; n < m->nnodes; n++)
        h = hash_bytes(m->nodes[n].in, sizeof *m->nodes[n].in * (size_t)m->nodes[n].nin, h);
    for (RegionId r = 1; r < m->nregions; r++)
        h = hash_bytes(m->regions[r].nodes,
                       sizeof *m->regions[r].nodes * (size_t)m->regions[r].nnodes, h);
    return h;
}
#else
static Error *module_check_after(const Module *m, const char *pass)
{
    (void)m, (void)pass;
    return NULL;
}

static uint64_t module_hash(const Module *m)
{
    (void)m;
    return 0;
}
#endif

static void record_phase(uint64_t began, const char *name)
{
    record_end(began, RECORD_COMPILE, str_of(name), -1, 0);
}

/* Both: up to the pass of the name `last`; NULL: all.  *is_done: that was one of these. */
static Error *module_passes_run(Compilation *c, const char *last, bool *is_done)
{
    for (int i = 0; i < NMODULE_PASSES && !*is_done; i++) {
        if (is_left_out(c, &module_passes[i]))
            continue;
        uint64_t began = record_start();
        TRY(module_passes[i].run(c));
        record_phase(began, module_passes[i].name);
        TRY(module_check_after(c->m, module_passes[i].name));
        *is_done = last && strcmp(last, module_passes[i].name) == 0;
    }
    return NULL;
}

static Error *table_passes_run(Compilation *c, const char *last)
{
    bool is_done = false;
    for (int i = 0; i < NTABLE_PASSES && !is_done; i++) {
        if (is_left_out(c, &table_passes[i]))
            continue;
        uint64_t began = record_start();
        TRY(table_passes[i].run(c));
        record_phase(began, table_passes[i].name);
        is_done = last && strcmp(last, table_passes[i].name) == 0;
    }
    require(module_hash(c->m) == c->hash);
    return NULL;
}

static Error *passes_run(Compilation *c, const char *last)
{
    bool is_done = false;
    TRY(module_passes_run(c, last, &is_done));
    c->kernels = (KernelModule){ .m = c->m,
                                 .main = module_main(c->m),
                                 .params = c->params,
                                 .trips = c->trips,
                                 .evaluate = c->o->evaluate };
    c->hash = module_hash(c->m);
    return is_done ? NULL : table_passes_run(c, last);
}

static Error *compilation_begin(Source *s, Compilation *c)
{
    TRY(source_read(s));
    TRY(module_check(s->module));
    if (!func_find(s->module, STR("main")))
        return error_new(CODE_INVALID, "%s has no function main",
                         s->options.name ? s->options.name : "the program");
    *c = (Compilation){ .m = s->module, .o = &s->options };
    return NULL;
}

/* ---- the whole way ---- */

/* The whole of a compilation, by the program's name and size. */
static void record_compiled(uint64_t began, const Program *p, size_t bytes)
{
    if (!began)
        return;
    Text name = { .is_message = true };
    text_printf(&name, "compile %.*s", STR_ARG(p->name));
    record_end(began, RECORD_COMPILE, (Str){ name.at, name.n }, -1, bytes ? bytes : 1);
    text_free(&name);
}

static Error *program_steps(Source *s, void *user)
{
    Program **out = user;
    Compilation c = { 0 };
    uint64_t recorded = record_start();
    TRY(cpu_level_check());
    TRY(checks_validate());
    TRY(compilation_begin(s, &c));
    double began = clock_ms();
    TRY(passes_run(&c, NULL));
    double passed = clock_ms();
    bool is_one_evaluation = c.o->evaluate && devices_of(&c) == 1;
    uint64_t linked = record_start();
    TRY(is_one_evaluation ? link_evaluation(&c.params, c.m, out)
                          : link_program(&c.layout, c.m, out));
    record_phase(linked, "link");
    record_compiled(recorded, *out, s->bytes.n);
    require(module_hash(c.m) == c.hash);
    CompileStats *stats = &(*out)->stats;
    stats->read_ms = s->read_ms;
    stats->passes_ms = passed - began;
    stats->emit_ms = clock_ms() - passed;
    return NULL;
}

static Error *object_steps(Source *s, void *user)
{
    ObjectFile *out = user;
    Object object = { 0 };
    Compilation c = { 0 };
    TRY(cpu_level_check());
    TRY(checks_validate());
    TRY(compilation_begin(s, &c));
    TRY(passes_run(&c, NULL));
    TRY(link_object(&c.layout, c.m, &out->options, &out->header, &object));
    out->bytes = object.bytes;
    out->n = object.n;
    module_free(s->module);
    return NULL;
}

Error *compile_program(Source *s, Program **out)
{
    return source_compile(s, program_steps, out);
}

Error *compile_object(Source *s, ObjectFile *out)
{
    return source_compile(s, object_steps, out);
}

Error *compile_until(Source *s, const char *pass)
{
    Compilation c = { 0 };
    TRY(compilation_begin(s, &c));
    return passes_run(&c, pass);
}

Error *compile_to_show(Source *s)
{
    TRY(compile_until(s, "polish"));
    return pass_join_collectives(s->module);
}
