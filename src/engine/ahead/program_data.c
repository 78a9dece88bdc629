/* program_data.c - a Program as data: the struct, and all that it points to.
 *
 * Where the program's tables hold the address of a function (link/emit.c lists these places), the data
 * names that function, which is in the same module.  What code calls through its frame, and what
 * computes nodes without kernels, are functions of the runtime library: named too, and only those that
 * this program uses, so that a linker leaves out the rest. */
#include "engine/ahead/ahead.h"

#include "base/fail.h"
#include "base/grow.h"
#include "engine/compile.h"
#include "engine/numerics/numerics.h"

#include <stdio.h>
#include <string.h>

enum { POINTER = sizeof(void *) };

/* Runtime's functions, in order, by their names. */
static const char *const runtime_symbols[] = {
    [offsetof(Runtime, evaluate) / POINTER] = "evaluate_named",
    [offsetof(Runtime, gemm) / POINTER] = "gemm",         /* or gemm_f32 */
    [offsetof(Runtime, math) / POINTER] = "math_library", /* or math_common */
    [offsetof(Runtime, sort) / POINTER] = "sort_order",
    [offsetof(Runtime, sort_lines) / POINTER] = "sort_lines",
    [offsetof(Runtime, slices) / POINTER] = "slices_run",
    [offsetof(Runtime, gather) / POINTER] = "gather",
    [offsetof(Runtime, join) / POINTER] = "plain_join",
    [offsetof(Runtime, reduce) / POINTER] = "plain_reduce", /* never named: objects do not hurry, */
    [offsetof(Runtime, copy) / POINTER] = "plain_copy",     /* nor are these for that reason */
    [offsetof(Runtime, transpose) / POINTER] = "plain_transpose",
    [offsetof(Runtime, mark) / POINTER] = "mark",       /* never named: there is no recorder, */
    [offsetof(Runtime, nans) / POINTER] = "nans_find",  /* and nobody looks for NaNs, */
    [offsetof(Runtime, pause) / POINTER] = "run_pause", /* nor does a loop pause */
#define PERFORMED(kind) [offsetof(Runtime, collectives) / POINTER + COLLECTIVE_##kind]
    PERFORMED(ALL_REDUCE) = "plan_all_reduce",
    PERFORMED(REDUCE_SCATTER) = "plan_reduce_scatter",
    PERFORMED(ALL_GATHER) = "plan_all_gather",
    PERFORMED(ALL_TO_ALL) = "plan_all_to_all",
    PERFORMED(PERMUTE) = "plan_permute",
    PERFORMED(BROADCAST) = "plan_broadcast",
    PERFORMED(RAGGED) = "perform_ragged",
    PERFORMED(GLOBAL) = "perform_global",
    PERFORMED(RETILE) = "perform_retile",
#undef PERFORMED
};
_Static_assert(sizeof runtime_symbols == sizeof(Runtime), "a name for every function");

/* A program on its way. */
typedef struct Writer {
    Image image;
    Emit *e;
    Table links; /* the name's number, by the address of a place that holds a function's address */
    const FunctionLinks *functions;
    ModulePart part;
    LLVMValueRef rt;
    int nprograms, room;
    int64_t *programs; /* where they lie: their modules are known at the end */
} Writer;

/* ---- functions ---- */

/* Of the runtime library, whose symbols all begin alike. */
static LLVMValueRef library_symbol(Emit *e, const char *name)
{
    char symbol[64];
    snprintf(symbol, sizeof symbol, "tutti_rt_%s", name);
    LLVMValueRef known = LLVMGetNamedFunction(e->llvm, symbol);
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(e->context), NULL, 0, false);
    return known ? known : LLVMAddFunction(e->llvm, symbol, type);
}

/* The least that does what this program's code asks of the k-th function. */
static const char *runtime_symbol(const Emit *e, int k)
{
    if (k == offsetof(Runtime, math) / POINTER && !e->calls_rare_math)
        return "math_common";
    if (k == offsetof(Runtime, gemm) / POINTER && !e->calls_rare_products)
        return "gemm_f32";
    return runtime_symbols[k];
}

/* Bit i: a collective of the program, or of one inside it, is performed by the i-th function. */
static uint32_t performed_by(const Program *p)
{
    uint32_t all = 0;
    for (int k = 0; k < p->ncollectives; k++) {
        const Collective *c = &p->collectives[k];
        CollectiveKind kind = collective_kind(c->op);
        if (kind < COLLECTIVE_KINDS)
            all |= 1u << (offsetof(Runtime, collectives) / POINTER + kind);
        if (c->body)
            all |= performed_by(c->body);
    }
    return all;
}

/* The table of what a program uses: NULL where it uses nothing. */
static LLVMValueRef runtime_table(Emit *e, uint32_t used)
{
    enum { N = sizeof(Runtime) / POINTER };
    LLVMTypeRef pointer = LLVMPointerTypeInContext(e->context, 0);
    LLVMValueRef at[N];
    for (int k = 0; k < N; k++) {
        at[k] =
            used >> k & 1 ? library_symbol(e, runtime_symbol(e, k)) : LLVMConstPointerNull(pointer);
    }
    LLVMValueRef table = LLVMAddGlobal(e->llvm, LLVMArrayType2(pointer, N), "runtime");
    LLVMSetInitializer(table, LLVMConstArray2(pointer, at, N));
    LLVMSetLinkage(table, LLVMInternalLinkage);
    LLVMSetGlobalConstant(table, true);
    return table;
}

/* The function whose address belongs at `place`, a place of the program's own tables. */
static LLVMValueRef function_at(Writer *w, const void *place)
{
    uint64_t number;
    if (!table_get(&w->links, &place, sizeof place, &number))
        return NULL;
    LLVMValueRef f = LLVMGetNamedFunction(w->e->llvm, w->functions->names[number]);
    require(f);
    LLVMSetLinkage(f, LLVMInternalLinkage);
    return f;
}

/* ---- parameters ---- */

static int64_t params_data(Image *i, int n, const Param *params)
{
    if (!n)
        return NOWHERE;
    int64_t first = image_add(i, params, (size_t)n * sizeof *params, POINTER);
    for (int k = 0; k < n; k++) {
        int64_t at = first + k * (int64_t)sizeof *params;
        type_data(i, at + (int64_t)offsetof(Param, whole), &params[k].whole);
        type_data(i, at + (int64_t)offsetof(Param, local), &params[k].local);
        tiling_data(i, at + (int64_t)offsetof(Param, tiling), &params[k].tiling);
    }
    return first;
}

/* ---- collectives ---- */

static int64_t program_add(Writer *w, const Program *p);

static int64_t addresses_data(Image *i, int n, const Address *at)
{
    return n && at ? image_add(i, at, (size_t)n * sizeof *at, sizeof(int64_t)) : NOWHERE;
}

static int64_t numbers_data(Image *i, int n, const int32_t *at)
{
    return n && at ? image_share(i, at, (size_t)n * sizeof *at, sizeof *at) : NOWHERE;
}

/* A string of C's; NULL too. */
static int64_t name_data(Image *i, const char *name)
{
    return name ? image_share(i, name, strlen(name) + 1, 1) : NOWHERE;
}

static void collective_data(Writer *w, int64_t at, const Collective *c, int ndevices)
{
    Image *i = &w->image;
#define POINT(field, to) image_point(i, at + (int64_t)offsetof(Collective, field), (to))
    POINT(name, name_data(i, c->name));
    POINT(where, name_data(i, c->where));
    POINT(loc, NOWHERE);
    POINT(in, addresses_data(i, c->nin, c->in));
    POINT(out, addresses_data(i, c->nout, c->out));
    POINT(in_types, types_data(i, c->nin, c->in_types));
    POINT(out_types, types_data(i, c->nout, c->out_types));
    POINT(is_for_first,
          c->is_for_first ? image_share(i, c->is_for_first, (size_t)c->nout, 1) : NOWHERE);
    POINT(group_of, numbers_data(i, ndevices, c->group_of));
    POINT(lockstep_groups, numbers_data(i, c->nlockstep_groups, c->lockstep_groups));
    POINT(attrs, attrs_data(i, op_info[c->op].attrs, c->attrs));
    POINT(body, c->body ? program_add(w, c->body) : NOWHERE);
    POINT(in_tilings, tilings_data(i, c->nin, c->in_tilings));
    POINT(out_tilings, tilings_data(i, c->nout, c->out_tilings));
#undef POINT
    image_point_to(i, at + (int64_t)offsetof(Collective, combine), function_at(w, &c->combine));
}

static int64_t collectives_data(Writer *w, const Program *p)
{
    if (!p->ncollectives)
        return NOWHERE;
    int64_t first = image_add(&w->image, p->collectives,
                              (size_t)p->ncollectives * sizeof *p->collectives, POINTER);
    for (int k = 0; k < p->ncollectives; k++)
        collective_data(w, first + k * (int64_t)sizeof *p->collectives, &p->collectives[k],
                        p->ndevices);
    return first;
}

static int64_t groups_data(Image *i, const Program *p)
{
    if (!p->ngroups)
        return NOWHERE;
    int64_t first = image_add(i, p->groups, (size_t)p->ngroups * sizeof *p->groups, POINTER);
    for (int k = 0; k < p->ngroups; k++)
        image_point(i, first + k * (int64_t)sizeof *p->groups + (int64_t)offsetof(Group, members),
                    numbers_data(i, p->groups[k].n, p->groups[k].members));
    return first;
}

/* ---- evaluations ---- */

static const char *computer_of(const Module *m, NodeId n)
{
    Routine *routine = routine_find(m, node_at(m, n));
    return routine ? routine_symbol(routine) : "evaluate_by_rule";
}

static void evaluation_data(Writer *w, int64_t at, const Module *m, const Evaluation *e)
{
    Image *i = &w->image;
    const Node *node = node_at(m, e->node);
    NodeId number = module_part_add(&w->part, e->node);
    memcpy(i->bytes.at + at + offsetof(Evaluation, node), &number, sizeof number);
    image_point(i, at + (int64_t)offsetof(Evaluation, in), addresses_data(i, node->nin, e->in));
    image_point(i, at + (int64_t)offsetof(Evaluation, out), addresses_data(i, node->nout, e->out));
    image_point_to(i, at + (int64_t)offsetof(Evaluation, routine),
                   library_symbol(w->e, computer_of(m, e->node)));
}

static int64_t evaluations_data(Writer *w, const Program *p)
{
    if (!p->nevaluations)
        return NOWHERE;
    int64_t first = image_add(&w->image, p->evaluations,
                              (size_t)p->nevaluations * sizeof *p->evaluations, POINTER);
    for (int k = 0; k < p->nevaluations; k++)
        evaluation_data(w, first + k * (int64_t)sizeof *p->evaluations, p->module,
                        &p->evaluations[k]);
    return first;
}

/* ---- the program ---- */

static int64_t segments_data(Writer *w, const Program *p)
{
    static const char none[POINTER];
    int64_t first = NOWHERE;
    for (int k = 0; k < p->nsegments; k++) {
        int64_t at = image_add(&w->image, none, POINTER, POINTER);
        image_point_to(&w->image, at, function_at(w, &p->segments[k]));
        first = k ? first : at;
    }
    return first;
}

/* Constants have no pointers: data of their own, which no loader needs to touch. */
static LLVMValueRef pool_data(Writer *w, const Program *p)
{
    LLVMValueRef bytes =
        LLVMConstStringInContext2(w->e->context, p->pool, p->stats.pool_bytes, true);
    LLVMValueRef pool = LLVMAddGlobal(w->e->llvm, LLVMTypeOf(bytes), "constants");
    LLVMSetInitializer(pool, bytes);
    LLVMSetLinkage(pool, LLVMInternalLinkage);
    LLVMSetGlobalConstant(pool, true);
    LLVMSetAlignment(pool, 64);
    return pool;
}

static int64_t program_add(Writer *w, const Program *p)
{
    Image *i = &w->image;
    Program plain = *p;
    plain.stats = (CompileStats){ .segments = p->stats.segments,
                                  .collectives = p->stats.collectives,
                                  .joins = p->stats.joins,
                                  .evaluations = p->stats.evaluations,
                                  .slab_bytes = p->stats.slab_bytes,
                                  .pool_bytes = p->stats.pool_bytes };
    int64_t at = image_add(i, &plain, sizeof plain, POINTER);
    HEAP_ROOM(w->programs, w->nprograms, &w->room);
    w->programs[w->nprograms++] = at;
#define POINT(field, to) image_point(i, at + (int64_t)offsetof(Program, field), (to))
    string_data(i, at + (int64_t)offsetof(Program, name), p->name);
    POINT(args, params_data(i, p->nargs, p->args));
    POINT(results, params_data(i, p->nresults, p->results));
    POINT(segments, segments_data(w, p));
    POINT(collectives, collectives_data(w, p));
    POINT(groups, groups_data(i, p));
    POINT(evaluations, evaluations_data(w, p));
    POINT(marks, NOWHERE);
    POINT(pool, NOWHERE);
    POINT(arena, NOWHERE);
    POINT(code, NOWHERE);
#undef POINT
    if (p->pool && p->stats.pool_bytes)
        image_point_to(i, at + (int64_t)offsetof(Program, pool), pool_data(w, p));
    image_point_to(i, at + (int64_t)offsetof(Program, rt), w->rt);
    return at;
}

static void writer_begin(Writer *w, const Program *p)
{
    for (int k = 0; k < w->functions->n; k++) {
        const void *place = w->functions->at[k];
        table_set(&w->links, &place, sizeof place, (uint64_t)k);
    }
    module_part_begin(&w->part, p->module);
    w->rt = runtime_table(w->e, w->e->calls | performed_by(p));
}

LLVMValueRef program_data(Emit *e, Arena *arena, const Program *program, const FunctionLinks *links)
{
    Writer w = { .image = { .e = e, .arena = arena }, .e = e, .functions = links };
    writer_begin(&w, program);
    require(program_add(&w, program) == 0);
    bool has_evaluations = w.part.to->nnodes > 1;
    int64_t module = has_evaluations ? module_data(&w.image, w.part.to) : NOWHERE;
    for (int k = 0; k < w.nprograms; k++)
        image_point(&w.image, w.programs[k] + (int64_t)offsetof(Program, module), module);
    module_part_end(&w.part);
    table_free(&w.links);
    heap_free(w.programs);
    return image_finish(&w.image, "program");
}

/* ---- its weights ---- */

LLVMValueRef weights_data(Emit *e, Arena *arena, int nargs, const LinkedWeights *weights)
{
    static const char none[POINTER];
    Image i = { .e = e, .arena = arena };
    int64_t at = image_add(&i, weights, sizeof *weights, POINTER), names = NOWHERE;
    for (int k = 0; k < nargs; k++) {
        int64_t place = image_add(&i, none, POINTER, POINTER);
        names = k ? names : place;
    }
    for (int k = 0; k < nargs; k++)
        image_point(&i, names + k * POINTER, name_data(&i, weights->names[k]));
    image_point(&i, at + (int64_t)offsetof(LinkedWeights, file), name_data(&i, weights->file));
    image_point(&i, at + (int64_t)offsetof(LinkedWeights, names), names);
    return image_finish(&i, "weights");
}

/* ---- its symbol ---- */

#define QUOTED(word) #word
#define QUOTE(word) QUOTED(word)
const char rt_abi[] = QUOTE(TUTTI_RT_ABI);

static LLVMValueRef symbol_named(Emit *e, const char *name, LLVMTypeRef type)
{
    char symbol[256];
    snprintf(symbol, sizeof symbol, "%s_program", name);
    LLVMValueRef global = LLVMAddGlobal(e->llvm, type, symbol);
    LLVMSetGlobalConstant(global, true);
    return global;
}

void program_publish(Emit *e, const Published *own)
{
    LLVMTypeRef pointer = LLVMPointerTypeInContext(e->context, 0);
    LLVMTypeRef i64 = LLVMInt64TypeInContext(e->context);
    LLVMTypeRef types[] = { pointer, pointer, pointer, i64, pointer };
    enum { N = sizeof types / sizeof *types };
    LLVMTypeRef type = LLVMStructTypeInContext(e->context, types, N, false);
    LLVMValueRef abi = LLVMAddGlobal(e->llvm, LLVMInt8TypeInContext(e->context), rt_abi);
    LLVMSetGlobalConstant(abi, true);
    LLVMValueRef fields[] = {
        [offsetof(LinkedProgram, abi) / POINTER] = abi,
        [offsetof(LinkedProgram, program) / POINTER] = own->program,
        [offsetof(LinkedProgram, otherwise) / POINTER] =
            own->otherwise ? symbol_named(e, own->otherwise, type) : LLVMConstPointerNull(pointer),
        [offsetof(LinkedProgram, level) / POINTER] =
            LLVMConstInt(i64, (unsigned long long)own->level, false),
        [offsetof(LinkedProgram, weights) / POINTER] =
            own->weights ? own->weights : LLVMConstPointerNull(pointer),
    };
    LLVMSetInitializer(symbol_named(e, own->name, type),
                       LLVMConstStructInContext(e->context, fields, N, false));
}
