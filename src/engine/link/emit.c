/* emit.c - a Layout in, a Program out.
 *
 *   1. every tutti.fusion becomes a function, equal ones the same (structural_hash.c, kernel.c)
 *   2. every segment becomes a function that calls them               (glue.c)
 *   3. every collective becomes a row: which devices, what, where       (device_groups.c)
 *   4. LLVM makes an object of it, which is loaded                    (object.c, linker.c)
 *   5. the rows get the addresses of their functions
 *
 * Code over whole arrays (the body of a tutti.global) is a Program of its own inside, for one
 * device, whose functions are in the same object. */
#include "engine/link/link.h"

#include "base/fail.h"
#include "base/grow.h"
#include "base/sync.h"
#include "engine/ahead/ahead.h"
#include "engine/checks.h"
#include "engine/ffi/ffi.h"
#include "engine/link/plain_code.h"
#include "engine/numerics/numerics.h"

#include <stdio.h>
#include <string.h>

enum { KIND_KERNEL = 1, KIND_COMBINER = 2, KIND_INLINED = 3 };

/* One compilation; the layouts of bodies share it. */
typedef struct Job {
    Emit e;
    Module *m; /* the Program's */
    RegionTable known;
    Arena *arena; /* of the program */
    int nkernels, nreused, ncombiners, nbodies;
    int nlinks, links_room; /* addresses to be filled in when the code is loaded: */
    const char **names;
    void ***links;
    bool is_side_by_side; /* kernels are compiled by other threads */
    bool is_ahead;        /* for an object file */
    ParallelCompile side;
    PlainCode plain; /* and where it is made */
    Arena *scratch;
} Job;

/* A layout on its way to being a program. */
typedef struct Making {
    Job *job;
    const Layout *l;
    const Schedule *s;
    const KernelModule *k;
    const Module *m;
    Program *program;
    Param *results; /* the program's, being filled in */
    GlueTables tables;
    Groups groups;
    Collective *collectives;
    Evaluation *evaluations;
    int number;    /* of the program: 0, or that of a body */
    bool *is_read; /* by value: some node needs it */
    int marks_room;
    int nloops; /* around the node that is being made */
} Making;

static const char *name_of(Job *job, const char *format, int a, int b)
{
    char name[48];
    int n = snprintf(name, sizeof name, format, a, b);
    return arena_copy(job->arena, name, (size_t)n + 1);
}

static void link_later(Job *job, const char *name, void *at)
{
    int room = job->links_room; /* of both */
    ROOM(job->arena, job->names, job->nlinks, &room);
    ROOM(job->arena, job->links, job->nlinks, &job->links_room);
    job->names[job->nlinks] = name;
    job->links[job->nlinks++] = at;
}

/* ---- kernels and evaluations ---- */

/* Compiled elsewhere: here it is only a name to call. */
static LLVMValueRef declare(Job *job, NodeId fusion, const char *name)
{
    const Node *node = node_at(job->side.m, fusion);
    int n = 1 + node->nin + node->nout;
    LLVMTypeRef pointer = LLVMPointerTypeInContext(job->e.context, 0);
    LLVMTypeRef *types = ARENA_ARRAY(job->arena, LLVMTypeRef, n);
    for (int i = 0; i < n; i++)
        types[i] = pointer;
    LLVMTypeRef type =
        LLVMFunctionType(LLVMVoidTypeInContext(job->e.context), types, (unsigned)n, false);
    LLVMValueRef function = LLVMAddFunction(job->e.llvm, name, type);
    LLVMSetVisibility(function, LLVMHiddenVisibility);
    kernel_bounds(&job->e, job->side.m, fusion, name, function);
    return function;
}

/* How many elements a kernel writes for this result of its; of an update what is new alone. */
static int64_t elements_written(const Module *m, ValueId v)
{
    const Node *root = node_at(m, value_def(m, v));
    switch (value_def(m, v) ? root->op : OP_COUNT) {
    case OP_DYNAMIC_UPDATE: return type_count(type_of(m, root->in[1]));
    case OP_SCATTER: return type_count(type_of(m, root->in[root->nin - 1]));
    default: return type_count(type_of(m, v));
    }
}

/* So little work that the call, and passing values through memory, would be the larger part of it. */
static bool is_tiny(const Module *m, const Node *node)
{
    /* A costly FUNCTION is as many operations of CODE. */
    enum { ELEMENTS = 16, ALL_ELEMENTS = 64, REDUCED = 64, CODE = 256, FUNCTION = 16 };
    const Region *region = region_at(m, node->regions[0]);
    const Node *end = region_return(m, node->regions[0]);
    int64_t elements = 0, most = 0;
    for (int i = 0; i < end->nin; i++) {
        int64_t n = elements_written(m, end->in[i]);
        elements += n;
        most = n > most ? n : most;
    }
    int code = 0;
    for (int i = 0; i < region->nnodes; i++) {
        const Node *member = node_at(m, region->nodes[i]);
        bool is_short = member->op == OP_REDUCE && type_count(type_of(m, member->in[0])) <= REDUCED;
        code += is_costly(member->op) || is_short ? FUNCTION : 1;
        if (member->nregions && member->op != OP_SCATTER && !is_short)
            return false;
    }
    return most <= ELEMENTS && elements <= ALL_ELEMENTS && code <= CODE;
}

static void always_inline(Job *job, LLVMValueRef function)
{
    unsigned kind = LLVMGetEnumAttributeKindForName("alwaysinline", 12);
    LLVMAddAttributeAtIndex(function, LLVMAttributeFunctionIndex,
                            LLVMCreateEnumAttribute(job->e.context, kind, 0));
}

/* Its code says when it begins; but a program that is compiled ahead is played where there is no recorder. */
static void make_mark(Making *k, NodeId n)
{
    if (k->job->is_ahead)
        return;
    mark_add(k->job->arena, k->m, n, k->program, &k->marks_room);
    k->tables.marks[n] = k->program->nmarks;
}

/* Marks what nodes in r and below read.  Loops do not read what they write first (unread_starts.c). */
static void find_reads(Making *k, RegionId r)
{
    const Region *region = region_at(k->m, r);
    for (int i = 0; i < region->nnodes; i++) {
        NodeId n = region->nodes[i];
        const Node *node = node_at(k->m, n);
        for (int j = 0; j < node->nin; j++)
            if (node_flow(node) != FLOW_LOOP || !start_is_unread(&k->k->trips, n, j))
                k->is_read[node->in[j]] = true;
        for (int j = 0; node_holds_code(node) && j < node->nregions; j++)
            find_reads(k, node->regions[j]);
    }
}

static bool has_reader(const Making *k, const Node *node)
{
    for (int i = 0; i < node->nout; i++)
        if (k->is_read[node->out + (ValueId)i])
            return true;
    return false;
}

static Error *make_kernel(Making *k, NodeId n)
{
    Job *job = k->job;
    if (!has_reader(k, node_at(k->m, n)))
        return NULL;
    RegionId region = node_at(k->m, n)->regions[0];
    uint64_t hash;
    bool is_inlined = k->nloops > 0 && !k->tables.nans && is_tiny(k->m, node_at(k->m, n));
    int kind = is_inlined ? KIND_INLINED : KIND_KERNEL;
    LLVMValueRef function = region_table_find(&job->known, region, kind, &hash);
    if (function) {
        job->nreused++;
    } else {
        const char *name = name_of(job, "k%d", job->nkernels++, 0);
        if (job->is_side_by_side && !is_inlined) {
            function = declare(job, n, name);
            parallel_compile_add(&job->side, n, name, 8 + region_at(k->m, region)->nnodes);
        } else {
            TRY(kernel_emit(&job->e, k->m, n, name, &function));
        }
        if (is_inlined)
            always_inline(job, function);
        region_table_add(&job->known, region, kind, hash, function);
    }
    k->tables.kernels[n] = function;
    k->tables.is_copied[n] = is_inlined;
    if (!is_inlined) /* a call more would be most of its time */
        make_mark(k, n);
    return NULL;
}

static const Address *addresses_of(Making *k, int n, const ValueId *in, ValueId first)
{
    Address *addresses = ARENA_ARRAY(k->job->arena, Address, n);
    for (int i = 0; i < n; i++)
        addresses[i] = k->l->addresses[in ? in[i] : first + (ValueId)i];
    return addresses;
}

static bool is_check(const Node *node)
{
    CallId call = node_call(node);
    return call != CALL_COUNT && call_info[call].role == ROLE_CHECK;
}

static Error *make_evaluation(Making *k, NodeId n)
{
    const Node *node = node_at(k->m, n);
    TRY(routine_prepare(k->m, node));
    int number = k->program->nevaluations++;
    k->tables.evaluations[n] = number;
    make_mark(k, n);
    bool is_by_rule = k->k->evaluate;
    bool is_counted = (is_by_rule || !routine_find(k->m, node)) && !is_check(node);
    k->evaluations[number] = (Evaluation){ .node = n,
                                           .in = addresses_of(k, node->nin, node->in, 0),
                                           .out = addresses_of(k, node->nout, NULL, node->out),
                                           .is_counted = is_counted,
                                           .is_by_rule = is_by_rule };
    k->program->stats.evaluations += is_counted;
    return NULL;
}

static Error *make_node(Making *k, NodeId n);

static Error *make_region(Making *k, RegionId r)
{
    const Region *region = region_at(k->m, r);
    for (int i = 0; i < region->nnodes; i++)
        TRY(make_node(k, region->nodes[i]));
    return NULL;
}

static Error *make_node(Making *k, NodeId n)
{
    const Node *node = node_at(k->m, n);
    switch (node_flow(node)) {
    case FLOW_END: return NULL;
    case FLOW_KERNEL: return make_kernel(k, n);
    case FLOW_LOOP:
    case FLOW_BRANCH: break;
    default:
        if (op_info[node->op].kind != KIND_COLLECTIVE && node->op != OP_CONSTANT &&
            !node_is_alias(k->m, node))
            return make_evaluation(k, n);
        return NULL;
    }
    k->nloops += node_flow(node) == FLOW_LOOP;
    if (node_flow(node) == FLOW_LOOP)
        make_mark(k, n);
    k->program->has_loops |= node_flow(node) == FLOW_LOOP;
    for (int i = 0; i < node->nregions; i++)
        TRY(make_region(k, node->regions[i]));
    k->nloops -= node_flow(node) == FLOW_LOOP;
    return NULL;
}

/* ---- collectives ---- */

static Program *make_program(Job *job, const Layout *l, int number, Error **error);

static Error *make_combiner(Making *k, const Node *node, Collective *collective)
{
    Job *job = k->job;
    uint64_t hash;
    LLVMValueRef function = region_table_find(&job->known, node->regions[0], KIND_COMBINER, &hash);
    if (!function) {
        const char *fresh = name_of(job, "c%d", job->ncombiners++, 0);
        TRY(combine_emit(&job->e, k->m, node->regions[0], fresh, &function));
        region_table_add(&job->known, node->regions[0], KIND_COMBINER, hash, function);
    }
    size_t n;
    const char *known = LLVMGetValueName2(function, &n);
    link_later(job, arena_copy(job->arena, known, n + 1), &collective->combine);
    return NULL;
}

static const Type *types_of(Making *k, int n, const ValueId *in, ValueId first)
{
    Type *types = ARENA_ARRAY(k->job->arena, Type, n);
    for (int i = 0; i < n; i++)
        types[i] = type_of(k->m, in ? in[i] : first + (ValueId)i);
    return types;
}

static Error *make_body(Making *k, NodeId n, Collective *collective)
{
    const GlobalAttrs *attrs = node_at(k->m, n)->attrs;
    collective->in_tilings = attrs->in_tilings.at;
    collective->out_tilings = attrs->out_tilings.at;
    for (int i = 0; i < k->s->nbodies; i++) {
        if (k->s->bodies[i].node != n)
            continue;
        Error *error = NULL;
        collective->body = make_program(k->job, &k->l->bodies[i], ++k->job->nbodies, &error);
        return error;
    }
    fail("a tutti.global without a body");
}

/* Else it only computes once what all have. */
static bool joins_shards(const GlobalAttrs *attrs)
{
    for (int i = 0; i < attrs->in_tilings.n; i++)
        if (!tiling_is_replicated(attrs->in_tilings.at[i]))
            return true;
    return false;
}

/* Do operand i and result j never overlap in a way that the operation does not know? */
static bool are_apart(const Making *k, const Collective *m, int i, int j)
{
    Address in = m->in[i], out = m->out[j];
    if (in.where == ADDRESS_ARG && out.where == ADDRESS_OUT)
        return k->l->results[out.at].alias < 0;
    if (in.where != out.where)
        return true;
    if (in.at == out.at)
        return op_is_in_place(m->op, i, j);
    return in.where != ADDRESS_SLAB || in.at + (int64_t)type_bytes(m->in_types[i]) <= out.at ||
           out.at + (int64_t)type_bytes(m->out_types[j]) <= in.at;
}

static bool all_are_apart(const Making *k, const Collective *m)
{
    for (int i = 0; i < m->nin; i++)
        for (int j = 0; j < m->nout; j++)
            if (!are_apart(k, m, i, j))
                return false;
    return true;
}

/* The groups that devices are in, if each is in one. */
static void find_full(Making *k, Collective *m, int ndevices)
{
    int32_t *full = ARENA_ARRAY(k->job->arena, int32_t, ndevices);
    m->lockstep_groups = full;
    for (int d = 0; d < ndevices; d++) {
        int32_t g = m->group_of[d];
        if (g < 0) {
            m->nlockstep_groups = 0;
            return;
        }
        if (k->groups.at[g].members[0] == d)
            full[m->nlockstep_groups++] = g;
    }
}

static Error *make_collective(Making *k, const SegmentEnd *end)
{
    const Module *m = k->m;
    const Node *node = node_at(m, end->collective);
    const char *where = loc_name(node->loc);
    int number = k->program->ncollectives++;
    Collective *collective = &k->collectives[number];
    k->tables.collectives[end->collective] = number;
    *collective = (Collective){
        .op = node->op,
        .name = op_name(node->op),
        .loc = node->loc,
        .where = arena_copy(k->job->arena, where, strlen(where) + 1),
        .next = end->targets[0],
        .nin = node->nin,
        .nout = node->nout,
        .in = addresses_of(k, node->nin, node->in, 0),
        .out = addresses_of(k, node->nout, NULL, node->out),
        .in_types = types_of(k, node->nin, node->in, 0),
        .out_types = types_of(k, node->nout, NULL, node->out),
        .attrs = node->attrs,
    };
    int ndevices = m->nreplicas * m->npartitions;
    int32_t *group_of = ARENA_ARRAY(k->job->arena, int32_t, ndevices);
    TRY(groups_of(&k->groups, m, end->collective, group_of));
    collective->group_of = group_of;
    find_full(k, collective, ndevices);
    collective->is_apart = all_are_apart(k, collective);
    if (node_flow(node) == FLOW_GLOBAL) {
        k->program->stats.joins += joins_shards(node->attrs);
        return make_body(k, end->collective, collective);
    }
    return node->nregions ? make_combiner(k, node, collective) : NULL;
}

static Error *make_collectives(Making *k)
{
    int n = k->s->nsegments; /* at most one each */
    k->collectives = ARENA_ARRAY(k->job->arena, Collective, n);
    for (int i = 0; i < n; i++)
        if (k->s->segments[i].end.kind == END_COLLECTIVE)
            TRY(make_collective(k, &k->s->segments[i].end));
    return NULL;
}

/* ---- the program ---- */

static int count_nodes(const Module *m, RegionId r)
{
    const Region *region = region_at(m, r);
    int n = region->nnodes;
    for (int i = 0; i < region->nnodes; i++) {
        const Node *node = node_at(m, region->nodes[i]);
        for (int j = 0; j < node->nregions; j++)
            n += count_nodes(m, node->regions[j]);
    }
    return n;
}

/* For messages, and for what PJRT says of an executable. */
static void describe(Making *k)
{
    Program *program = k->program;
    const Params *params = &k->k->params;
    bool is_body = k->number > 0;
    k->results =
        arena_copy(k->job->arena, k->l->results, sizeof *k->results * (size_t)params->nresults);
    program->name = module_name(k->m);
    program->nreplicas = is_body ? 1 : k->m->nreplicas;
    program->npartitions = is_body ? 1 : k->m->npartitions;
    program->ndevices = program->nreplicas * program->npartitions;
    program->nargs = params->nargs;
    program->nresults = params->nresults;
    program->args = params->args;
    program->results = k->results;
    program->slab_bytes = k->l->slab_bytes;
    program->pool = k->l->pool;
    program->nsegments = k->s->nsegments;
    program->rt = &runtime;
    program->arena = k->job->arena;
    program->module = k->job->m;
}

static void make_segments(Making *k)
{
    Job *job = k->job;
    int n = k->program->nsegments;
    SegmentFn **segments = ARENA_ARRAY(job->arena, SegmentFn *, n);
    k->tables.segments = ARENA_ARRAY(job->arena, LLVMValueRef, n);
    for (int i = 0; i < n; i++) {
        const char *name = name_of(job, "p%d_s%d", k->number, i);
        k->tables.segments[i] = glue_declare(&job->e, name);
        link_later(job, name, &segments[i]);
    }
    locals_find(k->l, &k->tables);
    /* Where others wait for it, a run is not its caller's alone, and an object is played by its caller. */
    k->tables.may_pause =
        k->number == 0 && k->program->ndevices == 1 && !job->is_ahead && !k->program->ncollectives;
    for (int i = 0; i < n; i++)
        glue_segment(&job->e, k->l, &k->tables, i);
    k->program->may_pause = k->tables.may_pause && !k->tables.has_endless;
    table_free(&k->tables.owners);
    k->program->segments = segments;
}

static Error *make_code(Making *k)
{
    Program *program = k->program;
    TRY(make_region(k, k->k->main));
    TRY(make_collectives(k));
    make_segments(k);
    program->collectives = k->collectives;
    program->groups = k->groups.at;
    program->ngroups = k->groups.n;
    if (k->number == 0) {
        shares_find(k->l, &k->tables, program, k->results);
        firsts_find(k->s, &k->tables, program, k->collectives, k->job->arena);
    }
    program->evaluations = k->evaluations;
    program->stats.segments = program->nsegments;
    program->stats.collectives = program->ncollectives;
    program->stats.slab_bytes = program->slab_bytes;
    program->stats.pool_bytes = k->l->pool_bytes;
    cost_find(k->s, program);
    return NULL;
}

static Program *make_program(Job *job, const Layout *l, int number, Error **error)
{
    const KernelModule *kernels = l->s->k;
    const Module *m = kernels->m;
    Making k = { .job = job, .l = l, .s = l->s, .k = kernels, .m = m, .number = number };
    k.program = ARENA_NEW(job->arena, Program);
    k.groups.arena = job->arena;
    k.tables.nans = checks_nans() && !job->is_ahead;
    k.tables.kernels = HEAP_ARRAY(LLVMValueRef, m->nnodes, "a table of operations");
    k.tables.is_copied = HEAP_ARRAY(bool, m->nnodes, "a table of operations");
    k.tables.evaluations = HEAP_ARRAY(int, m->nnodes, "a table of operations");
    k.tables.collectives = HEAP_ARRAY(int, m->nnodes, "a table of operations");
    k.tables.marks = HEAP_ARRAY(int, m->nnodes, "a table of operations");
    k.evaluations = ARENA_ARRAY(job->arena, Evaluation, count_nodes(m, kernels->main));
    k.is_read = HEAP_ARRAY(bool, m->nvalues, "a table of values");
    find_reads(&k, kernels->main);
    describe(&k);
    *error = make_code(&k);
    heap_free(k.is_read);
    heap_free(k.tables.kernels);
    heap_free(k.tables.is_copied);
    heap_free(k.tables.evaluations);
    heap_free(k.tables.collectives);
    heap_free(k.tables.marks);
    return k.program;
}

/* ---- plain code: that of the glue, and of kernels ---- */

static const PlainCode *plain_at(const Job *job, int i)
{
    return i == 0 ? &job->plain : parallel_compile_plain(&job->side, i - 1);
}

static int count_plain(const Job *job)
{
    return 1 + job->side.nbatches;
}

/* Where the code of each begins, and its functions; in all, how many bytes. */
static size_t place_plain(const Job *job, size_t *begins, Table *functions)
{
    size_t bytes = 0;
    for (int i = 0; i < count_plain(job); i++) {
        const PlainCode *p = plain_at(job, i);
        begins[i] = bytes;
        bytes += (plain_code_bytes(p) + 15) & ~(size_t)15;
        for (int k = 0; k < p->nfunctions; k++)
            table_set(functions, p->names[k], strlen(p->names[k]), begins[i] + (size_t)p->at[k]);
    }
    return bytes;
}

/* False: no function of plain code has this name. */
static bool find_plain(const Table *functions, unsigned char *at, const char *name, void **address)
{
    uint64_t offset;
    bool is_plain = table_get(functions, name, strlen(name), &offset);
    if (is_plain)
        *address = at + offset;
    return is_plain;
}

/* What is not plain code is left to be looked for. */
static void join_plain(Job *job, const Table *functions, const size_t *begins, unsigned char *at)
{
    int others = 0;
    for (int i = 0; i < job->nlinks; i++) {
        if (find_plain(functions, at, job->names[i], job->links[i]))
            continue;
        job->names[others] = job->names[i];
        job->links[others++] = job->links[i];
    }
    job->nlinks = others;
    for (int i = 0; i < count_plain(job); i++) {
        const PlainCode *p = plain_at(job, i);
        void **words = (void **)(at + begins[i] + plain_code_words_at(p));
        for (int k = 0; k < p->nwords; k++)
            if (!find_plain(functions, at, p->words[k], &words[k]))
                link_later(job, p->words[k], &words[k]);
    }
}

static Error *load_plain(Job *job, Program *program)
{
    Table functions = { 0 };
    size_t *begins = ARENA_ARRAY(job->scratch, size_t, count_plain(job));
    size_t bytes = place_plain(job, begins, &functions);
    unsigned char *at;
    Error *error = bytes ? code_map(program->code, bytes, &at) : NULL;
    for (int i = 0; i < count_plain(job) && bytes && !error; i++) {
        const PlainCode *p = plain_at(job, i);
        if (p->n)
            memcpy(at + begins[i], p->code, (size_t)p->n);
        program->stats.code_bytes += (size_t)p->n;
    }
    if (bytes && !error)
        join_plain(job, &functions, begins, at);
    table_free(&functions);
    return error;
}

static Error *load(Job *job, Program *program, const Object *own)
{
    const Object *objects = NULL;
    int nobjects = 0;
    TRY(parallel_compile_wait(&job->side, &objects, &nobjects));
    program->code = code_new();
    program->stats.code_bytes = own->n;
    if (own->n)
        TRY(code_add(program->code, own->bytes, own->n));
    for (int i = 0; i < nobjects; i++) {
        program->stats.code_bytes += objects[i].n;
        if (objects[i].n)
            TRY(code_add(program->code, objects[i].bytes, objects[i].n));
    }
    TRY(load_plain(job, program));
    TRY(code_find_all(program->code, job->nlinks, job->names, job->links));
    return code_seal(program->code);
}

/* The object with the segments is made here while others make those with the kernels. */
static Error *make_objects(Job *job, Program *program)
{
    Object own = { 0 };
    if (job->e.hurries)
        plain_code_take(&job->e, job->scratch, &job->plain);
    /* LLVM's objects could not find a function of plain code */
    job->side.takes_plain = job->e.hurries && !has_code(&job->e);
    parallel_compile_start(&job->side);
    Error *error = has_code(&job->e) ? emit_object(&job->e, &own.bytes, &own.n) : NULL;
    if (!error)
        error = load(job, program, &own);
    else {
        const Object *unused;
        int n;
        error_free(parallel_compile_wait(&job->side, &unused, &n));
    }
    heap_free(own.bytes);
    return error;
}

static int count_flow(const Module *m, OpFlow flow)
{
    int n = 0;
    for (NodeId i = 1; i < m->nnodes; i++)
        n += node_flow(node_at(m, i)) == flow;
    return n;
}

/* Compiling side by side is worth it for several kernels; to ask how many cores there are takes a while. */
static int cores_for(const Module *m)
{
    enum { SEVERAL = 2 };
    return count_flow(m, FLOW_KERNEL) >= SEVERAL ? cores_allowed() : 1;
}

static Error *job_begin(Job *job, const CodeTarget *target)
{
    const char *name = str_copy(job->arena, module_name(job->m)).at;
    return emit_begin(&job->e, job->arena, name, target);
}

static void job_end(Job *job)
{
    emit_end(&job->e);
    region_table_free(&job->known);
    parallel_compile_free(&job->side);
    arena_free(job->scratch);
}

static Error *emit_program(Job *job, const Layout *l, Program **out)
{
    Error *error = NULL;
    TRY(job_begin(job, NULL));
    job->side.cores = cores_for(job->m);
    job->is_side_by_side = job->side.cores > 1;
    job->e.hurries = job->side.hurries = !count_flow(job->m, FLOW_LOOP);
    Program *program = make_program(job, l, 0, &error);
    if (!error)
        error = make_objects(job, program);
    program->stats.kernels_compiled = job->nkernels;
    program->stats.kernels_reused = job->nreused;
    if (error)
        code_free(program->code);
    else
        *out = program;
    return error;
}

Error *link_program(const Layout *l, Module *m, Program **out)
{
    Job job = { .m = m, .arena = arena_new(), .known = { .m = m }, .side = { .m = m } };
    job.scratch = arena_new();
    Error *error = emit_program(&job, l, out);
    job_end(&job);
    if (error)
        arena_free(job.arena);
    return error;
}

/* ---- ahead of time ---- */

/* All of it in one module, and so in one object. */
static Error *emit_ahead(Job *job, const Layout *l, const ObjectOptions *o, Text *header,
                         Object *out)
{
    CodeTarget target;
    Error *error = NULL;
    TRY(target_find(o->cpu, &target));
    TRY(job_begin(job, &target));
    Program *program = make_program(job, l, 0, &error);
    TRY(error);
    FunctionLinks links = { job->nlinks, job->names, job->links };
    Published own = { .name = o->name,
                      .otherwise = o->otherwise,
                      .level = target.level,
                      .program = program_data(&job->e, job->arena, program, &links) };
    bool has_weights = o->weights.names;
    if (has_weights)
        own.weights = weights_data(&job->e, job->arena, program->nargs, &o->weights);
    program_publish(&job->e, &own);
    Header h = { o->name, program, o->args, o->results, has_weights ? &o->weights : NULL };
    header_write(header, &h);
    return emit_object(&job->e, &out->bytes, &out->n);
}

Error *link_object(const Layout *l, Module *m, const ObjectOptions *options, Text *header,
                   Object *out)
{
    Job job = { .m = m, .arena = arena_new(), .known = { .m = m }, .side = { .m = m } };
    job.is_ahead = true;
    Error *error = emit_ahead(&job, l, options, header, out);
    job_end(&job);
    arena_free(job.arena);
    return error;
}
