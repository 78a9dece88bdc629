/* glue.c - a segment in, an LLVM function out: i32 name(ptr frame), which says what comes next.
 *
 *     define i32 @s1(ptr %frame) {
 *       %slab = load ...                          what the frame points to, once
 *       call void @k0(ptr %frame, operands, results)
 *       memcpy ...                                moves, none over a source still to be read
 *       ret i32 -16                               the first collective, or
 *       %next = musttail call i32 @s2(ptr %frame) the next segment, without returning to the
 *       ret i32 %next                             executor
 *
 * Loops and branches without a collective are LLVM control flow; a loop reads the cancel flag and
 * the frame's error at the end of each iteration.  The code holds no host address: it finds memory
 * and functions through the frame.
 *
 * Where the program is one device's, a loop of unknown length can be left and entered again, so that a run
 * may begin on its caller's thread and go on elsewhere once it turns out long (exec/pause.c):
 *
 *     entry:    which loop does it go on in?  none --> code          3 --> the test of loop 2, around loop 3
 *     loop 2:   which?                        none --> its condition  3 --> its variables are read back, loop 3
 *     loop 3:   every so many rounds, may it go on?  if not, its variables are saved, and the segment returns
 *               its own number
 *
 * The slab and the results are the run's and stay; only variables (locals.c) are lost with the stack. */
#include "engine/link/link.h"

#include "base/grow.h"
#include "base/guard.h"
#include "engine/codegen/codegen.h"

#include <stddef.h>
#include <stdlib.h>

/* The variables of a function, by the address and size of what they stand for in the slab. */
typedef struct Locals {
    Table at;
    size_t bytes; /* of them all */
    int n, room;  /* the same as a list */
    struct Local {
        LLVMValueRef at;
        size_t bytes;
    } *list;
    Table arrays; /* of arguments and results that loops use: their pointers, loaded once */
} Locals;

typedef struct Glue {
    Emit *e;
    const Layout *l;
    const Schedule *s;
    const Module *m;
    GlueTables *t;
    LLVMBuilderRef b;
    LLVMTypeRef i32, ptr;
    LLVMValueRef function, frame;
    LLVMValueRef slab, pool, args, outs, cancel;
    LLVMValueRef is_recorded; /* an i1: somebody wants to know what the code does */
    LLVMBasicBlockRef loaded; /* where what the frame points to has been loaded */
    LLVMBasicBlockRef failed; /* returns SEGMENT_FAIL */
    int number;               /* of the segment */
    int id;                   /* of the function, among all of the layout's */
    int nloops;               /* around what is being made, in this function */
    Locals *locals;
    bool may_pause;            /* loops of unknown length can be left, and entered again */
    LLVMValueRef resume;       /* a variable: the loop to go on in; 0: none */
    const struct Glue *around; /* of the loop around; NULL: the function */
    LLVMBasicBlockRef test;    /* of this loop */
    LLVMValueRef
        entrances; /* a switch at the begin of the function or the loop, to loops in it; or NULL */
} Glue;

static LLVMValueRef int32(const Glue *g, int64_t x)
{
    return LLVMConstInt(g->i32, (unsigned long long)x, true);
}

static LLVMValueRef at_offset(const Glue *g, LLVMValueRef base, int64_t bytes)
{
    if (bytes == 0)
        return base;
    LLVMValueRef offset =
        LLVMConstInt(LLVMInt64TypeInContext(g->e->context), (unsigned long long)bytes, false);
    return LLVMBuildInBoundsGEP2(g->b, LLVMInt8TypeInContext(g->e->context), base, &offset, 1, "");
}

static LLVMValueRef load_at(const Glue *g, LLVMTypeRef type, LLVMValueRef base, int64_t bytes)
{
    return LLVMBuildLoad2(g->b, type, at_offset(g, base, bytes), "");
}

static LLVMBasicBlockRef block(const Glue *g, const char *name)
{
    return LLVMAppendBasicBlockInContext(g->e->context, g->function, name);
}

static void enter(const Glue *g, LLVMBasicBlockRef b)
{
    LLVMPositionBuilderAtEnd(g->b, b);
}

/* ---- addresses ---- */

static void locals_free(Locals *l)
{
    table_free(&l->at);
    table_free(&l->arrays);
    heap_free(l->list);
}

/* The pointer leads to an array of this value's size. */
static LLVMValueRef array(const Glue *g, LLVMValueRef pointer, ValueId v, const char *what)
{
    bounds_array(g->e, pointer, (int64_t)type_bytes(schedule_type(g->s, v)), what);
    return pointer;
}

static LLVMValueRef local_new(const Glue *g, size_t bytes)
{
    enum { SMALL = 16, LINE = 64 }; /* bytes */
    LLVMBasicBlockRef back = LLVMGetInsertBlock(g->b);
    LLVMTypeRef type = LLVMArrayType2(LLVMInt8TypeInContext(g->e->context), bytes);
    LLVMPositionBuilderBefore(g->b, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(g->function)));
    LLVMValueRef local = LLVMBuildAlloca(g->b, type, "");
    LLVMSetAlignment(local, bytes <= SMALL ? SMALL : LINE);
    enter(g, back);
    bounds_array(g->e, local, (int64_t)bytes, "a variable");
    return local;
}

/* The variable that stands for this part of the slab in this function; NULL: there is none.  What a
 * ring of moves saves aside is read again at once. */
static LLVMValueRef local_at(const Glue *g, Address a, size_t bytes)
{
    enum { MOST = 16384 }; /* bytes on the stack */
    const int64_t key[] = { a.at, (int64_t)bytes };
    uint64_t known = 0;
    bool is_aside = a.where == ADDRESS_SLAB && a.at == g->l->scratch_at && bytes <= LOCAL_BYTES;
    if (!is_aside && !is_local(g->t, a, bytes, g->id))
        return NULL;
    if (!table_get(&g->locals->at, key, sizeof key, &known) && g->locals->bytes + bytes <= MOST) {
        LLVMValueRef local = local_new(g, bytes);
        Locals *l = g->locals;
        HEAP_ROOM(l->list, l->n, &l->room);
        l->list[l->n++] = (struct Local){ local, bytes };
        l->bytes += bytes;
        known = (uintptr_t)local;
    }
    table_set(&g->locals->at, key, sizeof key, known);
    return (LLVMValueRef)(uintptr_t)known;
}

/* The pointer to an argument or a result of the program. */
static LLVMValueRef array_load(const Glue *g, Address a)
{
    enum { POINTER = sizeof(void *) };
    bool is_argument = a.where == ADDRESS_ARG;
    ValueId first = is_argument ? region_at(g->m, g->s->k->main)->args : g->s->outs;
    LLVMValueRef list = is_argument ? g->args : g->outs;
    return array(g, load_at(g, g->ptr, list, a.at * POINTER), first + (ValueId)a.at,
                 is_argument ? "an argument" : "a result");
}

/* Inside loops it is loaded where the function begins: LLVM would not know that what a loop stores is
 * not the list of pointers. */
static LLVMValueRef array_at(const Glue *g, Address a)
{
    const int64_t key[] = { a.where, a.at };
    uint64_t known;
    if (!g->nloops)
        return array_load(g, a);
    if (table_get(&g->locals->arrays, key, sizeof key, &known))
        return (LLVMValueRef)(uintptr_t)known;
    LLVMBasicBlockRef back = LLVMGetInsertBlock(g->b);
    LLVMPositionBuilderBefore(g->b, LLVMGetBasicBlockTerminator(g->loaded));
    LLVMValueRef pointer = array_load(g, a);
    enter(g, back);
    table_set(&g->locals->arrays, key, sizeof key, (uintptr_t)pointer);
    return pointer;
}

static LLVMValueRef pointer_to(const Glue *g, Address a, size_t bytes)
{
    LLVMValueRef local = local_at(g, a, bytes);
    if (local)
        return local;
    switch (a.where) {
    case ADDRESS_SLAB: return at_offset(g, g->slab, a.at);
    case ADDRESS_POOL: return at_offset(g, g->pool, a.at);
    case ADDRESS_ARG:
    case ADDRESS_OUT: return array_at(g, a);
    default: return LLVMConstNull(g->ptr);
    }
}

static LLVMValueRef address(const Glue *g, ValueId v)
{
    return pointer_to(g, g->l->addresses[v], type_bytes(schedule_type(g->s, v)));
}

static bool is_same(Address x, Address y)
{
    return x.where == y.where && x.at == y.at;
}

/* ---- moves ---- */

typedef struct Copy {
    Address dst, src;
    size_t bytes;
} Copy;

static void copy(const Glue *g, Copy c)
{
    LLVMValueRef bytes = LLVMConstInt(LLVMInt64TypeInContext(g->e->context), c.bytes, false);
    LLVMBuildMemCpy(g->b, pointer_to(g, c.dst, c.bytes), 1, pointer_to(g, c.src, c.bytes), 1,
                    bytes);
}

static int by_address(Address x, Address y)
{
    if (x.where != y.where)
        return x.where < y.where ? -1 : 1;
    return (x.at > y.at) - (x.at < y.at);
}

static int by_target(const void *x, const void *y)
{
    return by_address(((const Copy *)x)->dst, ((const Copy *)y)->dst);
}

/* Of n copies in the order of their targets, the one that overwrites `src`; -1: none. */
static int overwrites(const Copy *all, int n, Address src)
{
    Copy wanted = { .dst = src };
    const Copy *found = bsearch(&wanted, all, (size_t)n, sizeof *all, by_target);
    return found ? (int)(found - all) : -1;
}

/* All copies at once, as it were: a target is written when no copy that is still to come reads it.
 * Writing one may free the next, so each chain is followed to its end.  What is left then are rings:
 * of each, one target is saved aside, and its reader reads it there. */
static void copies(const Glue *g, Copy *all, int n)
{
    int *next = HEAP_ARRAY(int, n, "a list of copies");    /* which copy overwrites its source */
    int *readers = HEAP_ARRAY(int, n, "a list of copies"); /* of its target; -1: it is done */
    qsort(all, (size_t)n, sizeof *all, by_target);
    for (int i = 0; i < n; i++)
        if ((next[i] = overwrites(all, n, all[i].src)) >= 0)
            readers[next[i]]++;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < n; i++) {
            if (pass == 1 && readers[i] > 0) {
                int reader = i;
                while (next[reader] != i)
                    reader = next[reader];
                Address aside = { ADDRESS_SLAB, g->l->scratch_at };
                copy(g, (Copy){ aside, all[i].dst, all[reader].bytes });
                all[reader].src = aside;
                next[reader] = -1;
                readers[i] = 0;
            }
            for (int k = i; k >= 0 && readers[k] == 0; k = next[k]) {
                copy(g, all[k]);
                readers[k] = -1;
                if (next[k] >= 0)
                    readers[next[k]]--;
            }
        }
    heap_free(next);
    heap_free(readers);
}

static void moves(const Glue *g, int n, const Move *list)
{
    Copy *all = HEAP_ARRAY(Copy, n, "a list of copies");
    int ncopies = 0;
    for (int i = 0; i < n; i++) {
        Address dst = g->l->addresses[list[i].dst], src = g->l->addresses[list[i].src];
        size_t bytes = type_bytes(type_of(g->m, list[i].src));
        if (bytes && dst.where != ADDRESS_NONE && !is_same(dst, src))
            all[ncopies++] = (Copy){ dst, src, bytes };
    }
    copies(g, all, ncopies);
    heap_free(all);
}

/* dst, dst + 1, ... take the values listed. */
static void move_all(const Glue *g, ValueId dst, int n, const ValueId *src)
{
    Move *list = HEAP_ARRAY(Move, n, "a list of moves");
    for (int i = 0; i < n; i++)
        list[i] = (Move){ dst + (ValueId)i, src[i] };
    moves(g, n, list);
    heap_free(list);
}

/* ---- nodes ---- */

static LLVMValueRef is_well(const Glue *g)
{
    return LLVMBuildIsNull(g->b, load_at(g, g->ptr, g->frame, offsetof(Frame, error)), "");
}

/* A kernel may have found no memory, or a check of bounds may have failed. */
static void stop_if_failed(const Glue *g, bool may_fail)
{
    if (!g->e->bounds && !may_fail)
        return;
    LLVMBasicBlockRef after = block(g, "done");
    LLVMBuildCondBr(g->b, is_well(g), after, g->failed);
    enter(g, after);
}

/* Between the variable that v is in this function and the slab, if it is one. */
static void spill(const Glue *g, ValueId v, bool is_back)
{
    Address a = g->l->addresses[v];
    size_t bytes = type_bytes(schedule_type(g->s, v));
    LLVMValueRef local = local_at(g, a, bytes);
    if (!local)
        return;
    LLVMValueRef size = LLVMConstInt(LLVMInt64TypeInContext(g->e->context), bytes, false);
    LLVMValueRef slab = at_offset(g, g->slab, a.at);
    LLVMBuildMemCpy(g->b, is_back ? local : slab, 1, is_back ? slab : local, 1, size);
}

/* Where a kernel finds v.  One that is only called must not know of variables: LLVM keeps none in
 * registers whose address it has seen leave the function. */
static LLVMValueRef kernel_operand(const Glue *g, ValueId v, bool is_copied)
{
    Address a = g->l->addresses[v];
    bool is_slab = !is_copied && a.where == ADDRESS_SLAB;
    return is_slab ? at_offset(g, g->slab, a.at) : address(g, v);
}

/* A function of the runtime's table. */
static LLVMValueRef runtime_at(const Glue *g, size_t offset)
{
    LLVMValueRef rt = load_at(g, g->ptr, g->frame, offsetof(Frame, rt));
    bounds_array(g->e, rt, sizeof(Runtime), "the runtime's table");
    g->e->calls |= UINT32_C(1) << offset / sizeof(void *);
    return load_at(g, g->ptr, rt, (int64_t)offset);
}

/* Hardly ever true: LLVM puts what is then done out of the way. */
static void set_unlikely(const Glue *g, LLVMValueRef jump)
{
    LLVMContextRef c = g->e->context;
    LLVMMetadataRef weights[] = { LLVMMDStringInContext2(c, "branch_weights", 14),
                                  LLVMValueAsMetadata(int32(g, 1)),
                                  LLVMValueAsMetadata(int32(g, 2000)) };
    LLVMSetMetadata(jump, LLVMGetMDKindIDInContext(c, "prof", 4),
                    LLVMMetadataAsValue(c, LLVMMDNodeInContext2(c, weights, 3)));
}

/* Tells the runtime, if the run is recorded, that node n begins. */
static void mark(const Glue *g, NodeId n)
{
    if (!g->t->marks[n])
        return;
    LLVMBasicBlockRef tells = block(g, "tells"), after = block(g, "told");
    set_unlikely(g, LLVMBuildCondBr(g->b, g->is_recorded, tells, after));
    enter(g, tells);
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(g->e->context),
                                        (LLVMTypeRef[]){ g->ptr, g->i32 }, 2, false);
    LLVMValueRef args[] = { g->frame, int32(g, g->t->marks[n] - 1) };
    LLVMBuildCall2(g->b, type, runtime_at(g, offsetof(Runtime, mark)), args, 2, "");
    LLVMBuildBr(g->b, after);
    enter(g, after);
}

/* Looks through result number i of what `of` and `number` say. */
static void look_for_nans(const Glue *g, NansOf of, int number, int i, ValueId v, LLVMValueRef at)
{
    Element e = schedule_type(g->s, v).element;
    if (!g->t->nans || (element_info[e].kind != FLOAT && element_info[e].kind != COMPLEX))
        return;
    LLVMTypeRef types[] = { g->ptr, g->i32, g->i32, g->i32, g->ptr };
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(g->e->context), types, 5, false);
    LLVMValueRef args[] = { g->frame, int32(g, of), int32(g, number), int32(g, i), at };
    LLVMBuildCall2(g->b, type, runtime_at(g, offsetof(Runtime, nans)), args, 5, "");
    stop_if_failed(g, true);
}

static void look_at_results(const Glue *g, NodeId n)
{
    const Node *node = node_at(g->m, n);
    for (int i = 0; i < node->nout && g->t->marks[n]; i++)
        if (g->l->addresses[node->out + (ValueId)i].where != ADDRESS_NONE)
            look_for_nans(g, NANS_OF_MARK, g->t->marks[n] - 1, i, node->out + (ValueId)i,
                          address(g, node->out + (ValueId)i));
}

/* What a segment finds when it begins: arguments, or what a collective gave. */
static void look_at_begin(const Glue *g)
{
    const Region *main = region_at(g->m, g->s->k->main);
    for (int i = 0; i < main->nargs && g->number == 0 && g->t->nans; i++)
        look_for_nans(g, NANS_OF_ARGUMENT, i, 0, main->args + (ValueId)i,
                      address(g, main->args + (ValueId)i));
    int from = -1, nfrom = 0;
    for (int k = 0; k < g->s->nsegments; k++) {
        const SegmentEnd *end = &g->s->segments[k].end;
        for (int i = 0; i < end->ntargets; i++)
            if (end->targets[i] == g->number) {
                from = end->kind == END_COLLECTIVE ? k : -1;
                nfrom++;
            }
    }
    if (nfrom != 1 || from < 0)
        return;
    NodeId n = g->s->segments[from].end.collective;
    const Node *node = node_at(g->m, n);
    for (int i = 0; i < node->nout; i++)
        if (g->l->addresses[node->out + (ValueId)i].where != ADDRESS_NONE)
            look_for_nans(g, NANS_OF_COLLECTIVE, g->t->collectives[n], i, node->out + (ValueId)i,
                          address(g, node->out + (ValueId)i));
}

static void call_kernel(const Glue *g, NodeId n)
{
    if (!g->t->kernels[n]) /* nobody reads what it would make */
        return;
    mark(g, n);
    const Node *node = node_at(g->m, n);
    LLVMValueRef kernel = g->t->kernels[n];
    bool is_copied = g->t->is_copied[n];
    int nargs = 1 + node->nin + node->nout, k = 0;
    LLVMValueRef *args = HEAP_ARRAY(LLVMValueRef, nargs, "a list of operands");
    args[k++] = g->frame;
    for (int i = 0; i < node->nin; i++)
        args[k++] = kernel_operand(g, node->in[i], is_copied);
    for (int i = 0; i < node->nout; i++)
        args[k++] = kernel_operand(g, node->out + (ValueId)i, is_copied);
    for (int i = 0; i < node->nin && !is_copied; i++)
        spill(g, node->in[i], false);
    LLVMBuildCall2(g->b, LLVMGlobalGetValueType(kernel), kernel, args, (unsigned)nargs, "");
    for (int i = 0; i < node->nout && !is_copied; i++)
        spill(g, node->out + (ValueId)i, true);
    heap_free(args);
    stop_if_failed(g, kernel_may_fail(g->m, n));
    look_at_results(g, n);
}

static void call_evaluator(const Glue *g, NodeId n)
{
    mark(g, n);
    LLVMValueRef evaluate = runtime_at(g, offsetof(Runtime, evaluate));
    LLVMTypeRef type = LLVMFunctionType(g->i32, (LLVMTypeRef[]){ g->ptr, g->i32 }, 2, false);
    LLVMValueRef args[] = { g->frame, int32(g, g->t->evaluations[n]) };
    LLVMValueRef rc = LLVMBuildCall2(g->b, type, evaluate, args, 2, "");
    LLVMBasicBlockRef after = block(g, "executed");
    LLVMBuildCondBr(g->b, LLVMBuildICmp(g->b, LLVMIntNE, rc, int32(g, 0), ""), g->failed, after);
    enter(g, after);
    look_at_results(g, n);
}

static LLVMValueRef predicate(const Glue *g, ValueId v)
{
    LLVMTypeRef i8 = LLVMInt8TypeInContext(g->e->context);
    LLVMValueRef byte = LLVMBuildLoad2(g->b, i8, address(g, v), "");
    return LLVMBuildICmp(g->b, LLVMIntNE, byte, LLVMConstNull(i8), "");
}

static void all_nodes(const Glue *g, int n, const NodeId *nodes);

static void region_nodes(const Glue *g, RegionId r)
{
    const Region *region = region_at(g->m, r);
    all_nodes(g, region->nnodes - 1, region->nodes); /* all but its RETURN */
}

/* An i1 that a loop reads once in every iteration: the run is cancelled, or a kernel or routine of the
 * iteration has failed.  After a failure the loop's condition may be computed from unwritten memory
 * and never become false. */
static LLVMValueRef must_stop(const Glue *g)
{
    LLVMValueRef flag = LLVMBuildLoad2(g->b, g->i32, g->cancel, "");
    LLVMSetOrdering(flag, LLVMAtomicOrderingMonotonic);
    LLVMSetAlignment(flag, 4);
    LLVMValueRef is_cancelled = LLVMBuildICmp(g->b, LLVMIntNE, flag, int32(g, 0), "");
    return LLVMBuildOr(g->b, is_cancelled, LLVMBuildNot(g->b, is_well(g), ""), "");
}

/* ---- pauses ---- */

static bool is_of_unknown_length(const Glue *g, NodeId n)
{
    return node_flow(node_at(g->m, n)) == FLOW_LOOP && trips_of(&g->s->k->trips, n) < 0;
}

/* Is there a loop of unknown length among these, or inside of them? */
static bool have_unknown_length(const Glue *g, int n, const NodeId *nodes)
{
    for (int i = 0; i < n; i++) {
        const Node *node = node_at(g->m, nodes[i]);
        if (node_flow(node) != FLOW_LOOP && node_flow(node) != FLOW_BRANCH)
            continue;
        if (is_of_unknown_length(g, nodes[i]))
            return true;
        for (int r = 0; r < node->nregions; r++) {
            const Region *region = region_at(g->m, node->regions[r]);
            if (have_unknown_length(g, region->nnodes, region->nodes))
                return true;
        }
    }
    return false;
}

static bool has_unknown_length_inside(const Glue *g, const Node *loop)
{
    const Region *cond = region_at(g->m, loop->regions[0]),
                 *body = region_at(g->m, loop->regions[1]);
    return have_unknown_length(g, cond->nnodes, cond->nodes) ||
           have_unknown_length(g, body->nnodes, body->nodes);
}

/* A variable that begins as n. */
static LLVMValueRef counter_new(const Glue *g, int64_t n)
{
    LLVMBasicBlockRef back = LLVMGetInsertBlock(g->b);
    LLVMPositionBuilderBefore(g->b, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(g->function)));
    LLVMValueRef counter = LLVMBuildAlloca(g->b, g->i32, "");
    LLVMBuildStore(g->b, int32(g, 1), counter); /* for who enters a loop further in again */
    enter(g, back);
    bounds_array(g->e, counter, sizeof(int32_t), "a counter");
    LLVMBuildStore(g->b, int32(g, n), counter);
    return counter;
}

/* A switch, to which loops further in add themselves; what follows is done where none is gone on in. */
static LLVMValueRef entrances_new(const Glue *g)
{
    LLVMBasicBlockRef begins = block(g, "begins");
    LLVMValueRef which = LLVMBuildLoad2(g->b, g->i32, g->resume, "");
    LLVMValueRef entrances = LLVMBuildSwitch(g->b, which, begins, 1);
    enter(g, begins);
    return entrances;
}

static LLVMValueRef frame_field(const Glue *g, size_t offset)
{
    return at_offset(g, g->frame, (int64_t)offset);
}

/* Variables to the memory that was given for them, or back. */
static void save_locals(const Glue *g, LLVMValueRef saved, bool is_back)
{
    bounds_array(g->e, saved, (int64_t)g->locals->bytes, "what a loop has saved");
    int64_t at = 0;
    for (int i = 0; i < g->locals->n; i++) {
        struct Local l = g->locals->list[i];
        LLVMValueRef size = LLVMConstInt(LLVMInt64TypeInContext(g->e->context), l.bytes, false);
        LLVMValueRef place = at_offset(g, saved, at);
        LLVMBuildMemCpy(g->b, is_back ? l.at : place, 1, is_back ? place : l.at, 1, size);
        at += (int64_t)l.bytes;
    }
}

/* The loop around which g is made goes on here when its number is asked for. */
static void enter_again(const Glue *g, int number, LLVMValueRef left)
{
    LLVMBasicBlockRef back = LLVMGetInsertBlock(g->b), again = block(g, "again");
    enter(g, again);
    save_locals(g, load_at(g, g->ptr, g->frame, offsetof(Frame, saved)), true);
    LLVMBuildStore(g->b, int32(g, 0), g->resume);
    LLVMBuildStore(g->b, int32(g, 1), left);
    LLVMBuildBr(g->b, g->test);
    LLVMBasicBlockRef to = again;
    for (const Glue *at = g->around; at; at = at->around) {
        LLVMAddCase(at->entrances, int32(g, number), to);
        to = at->test;
    }
    enter(g, back);
}

/* A run that was asked for is handed over: the segment returns its own number. */
static void leave(const Glue *g, int number, LLVMValueRef saved)
{
    save_locals(g, saved, false);
    LLVMBuildStore(g->b, int32(g, number), frame_field(g, offsetof(Frame, resume)));
    LLVMBuildRet(g->b, int32(g, g->number));
}

/* So many rounds go by from one question to the next. */
static int64_t rounds_between(const Glue *g, NodeId loop)
{
    enum { QUESTION_NS = 5000, MOST = 1 << 16 };
    int64_t round = loop_round_cost(g->s->k, loop), n = QUESTION_NS / (round > 0 ? round : 1);
    return n < 1 ? 1 : n < MOST ? n : MOST;
}

/* At the end of a round of a loop of unknown length: the next one, or every so many rounds first a look
 * whether the run is to stop or to pause. */
static void next_round(const Glue *g, NodeId n, LLVMValueRef left)
{
    int number = ++g->t->npauses;
    LLVMBasicBlockRef looks = block(g, "looks"), stays = block(g, "stays"), asks = block(g, "asks"),
                      leaves = block(g, "leaves");
    LLVMValueRef rounds =
        LLVMBuildSub(g->b, LLVMBuildLoad2(g->b, g->i32, left, ""), int32(g, 1), "");
    LLVMBuildStore(g->b, rounds, left);
    set_unlikely(g, LLVMBuildCondBr(g->b, LLVMBuildIsNull(g->b, rounds, ""), looks, g->test));
    enter(g, looks);
    LLVMBuildStore(g->b, int32(g, rounds_between(g, n)), left);
    LLVMBuildCondBr(g->b, must_stop(g), g->failed, stays);
    enter(g, stays);
    LLVMValueRef may = load_at(g, g->i32, g->frame, offsetof(Frame, may_pause));
    LLVMBuildCondBr(g->b, LLVMBuildIsNull(g->b, may, ""), g->test, asks);
    enter(g, asks);
    LLVMTypeRef i64 = LLVMInt64TypeInContext(g->e->context);
    LLVMTypeRef type = LLVMFunctionType(g->ptr, (LLVMTypeRef[]){ g->ptr, i64 }, 2, false);
    LLVMValueRef args[] = { g->frame, LLVMConstInt(i64, g->locals->bytes, false) };
    LLVMValueRef pause = runtime_at(g, offsetof(Runtime, pause));
    LLVMValueRef saved = LLVMBuildCall2(g->b, type, pause, args, 2, "");
    LLVMBuildCondBr(g->b, LLVMBuildIsNull(g->b, saved, ""), g->test, leaves);
    enter(g, leaves);
    leave(g, number, saved);
    enter_again(g, number, left);
}

/* What the loop carries takes what it begins as, unless nobody ever reads that. */
static void begin_carried(const Glue *g, NodeId n, ValueId carried)
{
    const Node *node = node_at(g->m, n);
    Move *list = HEAP_ARRAY(Move, node->nin, "a list of moves");
    int nmoves = 0;
    for (int k = 0; k < node->nin; k++)
        if (!start_is_unread(&g->s->k->trips, n, k))
            list[nmoves++] = (Move){ carried + (ValueId)k, node->in[k] };
        else /* its variable all the same: who leaves a loop further in saves those that there are by then */
            local_at(g, g->l->addresses[carried + (ValueId)k],
                     type_bytes(type_of(g->m, node->in[k])));
    moves(g, nmoves, list);
    heap_free(list);
}

static void loop(const Glue *outer, NodeId n)
{
    Glue inner = *outer, *g = &inner;
    const Module *m = g->m;
    const Node *node = node_at(m, n);
    ValueId carried = region_at(m, node->regions[0])->args;
    const Node *cond = region_return(m, node->regions[0]);
    const Node *body = region_return(m, node->regions[1]);
    LLVMBasicBlockRef test = block(g, "test"), inside = block(g, "body"), after = block(g, "after");
    bool has_marks =
        region_has_marks(g->t, m, node->regions[0]) || region_has_marks(g->t, m, node->regions[1]);
    if (!has_marks)
        mark(g, n);
    begin_carried(g, n, carried);
    bool is_unknown = is_of_unknown_length(g, n), pauses = is_unknown && g->may_pause;
    g->t->has_endless |= is_unknown && !g->may_pause;
    LLVMValueRef left = pauses ? counter_new(g, rounds_between(g, n)) : NULL;
    g->nloops++;
    g->around = outer;
    g->test = test;
    LLVMBuildBr(g->b, test);
    enter(g, test);
    g->entrances = g->may_pause && has_unknown_length_inside(g, node) ? entrances_new(g) : NULL;
    if (has_marks) /* after its last kernel it goes round, or ends */
        mark(g, n);
    region_nodes(g, node->regions[0]);
    LLVMBuildCondBr(g->b, predicate(g, cond->in[0]), inside, after);
    enter(g, inside);
    region_nodes(g, node->regions[1]);
    move_all(g, carried, body->nin, body->in);
    if (pauses)
        next_round(g, n, left);
    else
        LLVMBuildCondBr(g->b, must_stop(g), g->failed, test);
    enter(g, after);
}

/* Branches on an i1 (true: blocks[0]) or an i32 (out of range: the last). */
static void choose(const Glue *g, ValueId on, int n, LLVMBasicBlockRef *blocks)
{
    Type type = type_of(g->m, on);
    if (type.element == I1) {
        LLVMBuildCondBr(g->b, predicate(g, on), blocks[0], blocks[n - 1]);
        return;
    }
    LLVMValueRef index = LLVMBuildLoad2(g->b, g->i32, address(g, on), "");
    LLVMValueRef jump = LLVMBuildSwitch(g->b, index, blocks[n - 1], (unsigned)n);
    for (int i = 0; i < n - 1; i++)
        LLVMAddCase(jump, int32(g, i), blocks[i]);
}

static LLVMBasicBlockRef *blocks_new(const Glue *g, int n, const char *name)
{
    LLVMBasicBlockRef *blocks = HEAP_ARRAY(LLVMBasicBlockRef, n, "a list of branches");
    for (int i = 0; i < n; i++)
        blocks[i] = block(g, name);
    return blocks;
}

static void branch(const Glue *g, NodeId n)
{
    const Module *m = g->m;
    const Node *node = node_at(m, n);
    LLVMBasicBlockRef *blocks = blocks_new(g, node->nregions, "branch"), after = block(g, "joined");
    choose(g, node->in[0], node->nregions, blocks);
    for (int k = 0; k < node->nregions; k++) {
        const Node *ret = region_return(m, node->regions[k]);
        enter(g, blocks[k]);
        region_nodes(g, node->regions[k]);
        move_all(g, node->out, ret->nin, ret->in);
        LLVMBuildBr(g->b, after);
    }
    enter(g, after);
    heap_free(blocks);
}

static void one_node(const Glue *g, NodeId n)
{
    const Node *node = node_at(g->m, n);
    if (node_is_alias(g->m, node))
        return;
    switch (node_flow(node)) {
    case FLOW_LOOP: loop(g, n); break;
    case FLOW_BRANCH: branch(g, n); break;
    case FLOW_KERNEL: call_kernel(g, n); break;
    default:
        if (node->op != OP_CONSTANT)
            call_evaluator(g, n);
    }
}

/* ---- functions ---- */

LLVMValueRef glue_declare(Emit *e, const char *name)
{
    LLVMTypeRef frame = LLVMPointerTypeInContext(e->context, 0);
    LLVMTypeRef type = LLVMFunctionType(LLVMInt32TypeInContext(e->context), &frame, 1, false);
    return LLVMAddFunction(e->llvm, name, type);
}

/* What the frame points to. */
static void frame_bounds(const Glue *g)
{
    const Params *params = &g->s->k->params;
    bounds_function(g->e, g->function, g->frame, LLVMGetValueName(g->function));
    bounds_array(g->e, g->slab, (int64_t)g->l->slab_bytes, "the slab of temporaries");
    bounds_array(g->e, g->pool, (int64_t)g->l->pool_bytes, "the pool of constants");
    bounds_array(g->e, g->args, params->nargs * (int64_t)sizeof(void *), "the list of arguments");
    bounds_array(g->e, g->outs, params->nresults * (int64_t)sizeof(void *), "the list of results");
    bounds_array(g->e, g->cancel, sizeof(int), "the flag that ends a run");
}

static void begin(Glue *g, LLVMValueRef function, Locals *locals)
{
    g->function = function;
    g->id = g->t->functions++;
    g->locals = locals;
    g->frame = LLVMGetParam(g->function, 0);
    LLVMBasicBlockRef entry = block(g, "entry");
    g->failed = block(g, "failed");
    enter(g, g->failed);
    LLVMBuildRet(g->b, int32(g, SEGMENT_FAIL));
    enter(g, entry);
    g->slab = load_at(g, g->ptr, g->frame, offsetof(Frame, slab));
    g->pool = load_at(g, g->ptr, g->frame, offsetof(Frame, pool));
    g->args = load_at(g, g->ptr, g->frame, offsetof(Frame, args));
    g->outs = load_at(g, g->ptr, g->frame, offsetof(Frame, outs));
    g->cancel = load_at(g, g->ptr, g->frame, offsetof(Frame, cancel));
    LLVMValueRef track = load_at(g, g->ptr, g->frame, offsetof(Frame, track));
    g->is_recorded = LLVMBuildIsNotNull(g->b, track, "");
    frame_bounds(g);
    g->loaded = entry;
    LLVMBasicBlockRef code = block(g, "code");
    LLVMBuildBr(g->b, code);
    enter(g, code);
}

/* The first thing that a segment does: it goes on in a loop that was left. */
static void begin_again(Glue *g)
{
    LLVMValueRef at = frame_field(g, offsetof(Frame, resume));
    LLVMValueRef which = LLVMBuildLoad2(g->b, g->i32, at, "");
    g->resume = counter_new(g, 0);
    LLVMBuildStore(g->b, which, g->resume);
    LLVMBuildStore(g->b, int32(g, 0), at);
    g->entrances = entrances_new(g);
}

/* A function of its own for some nodes, and a call of it. */
static void emit_chunk(const Glue *g, int n, const NodeId *nodes)
{
    LLVMBasicBlockRef back = LLVMGetInsertBlock(g->b);
    Glue inner = *g;
    Locals locals = { 0 };
    inner.may_pause = false;
    begin(&inner, glue_declare(g->e, "chunk"), &locals);
    LLVMSetLinkage(inner.function, LLVMInternalLinkage);
    for (int i = 0; i < n; i++)
        one_node(&inner, nodes[i]);
    LLVMBuildRet(g->b, int32(g, 0));
    locals_free(&locals);
    enter(g, back);
    LLVMTypeRef type = LLVMGlobalGetValueType(inner.function);
    LLVMValueRef frame = g->frame, rc = LLVMBuildCall2(g->b, type, inner.function, &frame, 1, "");
    LLVMBasicBlockRef after = block(g, "done");
    LLVMBuildCondBr(g->b, LLVMBuildICmp(g->b, LLVMIntNE, rc, int32(g, 0), ""), g->failed, after);
    enter(g, after);
}

/* LLVM's time grows faster than a function's length, so long ones are made of parts. */
static void all_nodes(const Glue *g, int n, const NodeId *nodes)
{
    if (n <= GLUE_LONG)
        for (int i = 0; i < n; i++)
            one_node(g, nodes[i]);
    else
        for (int i = 0; i < n; i += GLUE_CHUNK)
            emit_chunk(g, n - i < GLUE_CHUNK ? n - i : GLUE_CHUNK, nodes + i);
}

/* The segment ends with a tail call of the next one.  A jump backwards closes a loop, so it first
 * returns to the executor if the run must stop. */
static void go_on(const Glue *g, int target)
{
    if (target <= g->number) {
        LLVMBasicBlockRef stops = block(g, "stops"), goes_on = block(g, "goes_on");
        LLVMBuildCondBr(g->b, must_stop(g), stops, goes_on);
        enter(g, stops);
        LLVMBuildRet(g->b, int32(g, target));
        enter(g, goes_on);
    }
    LLVMValueRef frame = g->frame, next = g->t->segments[target];
    LLVMValueRef call = LLVMBuildCall2(g->b, LLVMGlobalGetValueType(next), next, &frame, 1, "");
    LLVMSetTailCallKind(call, LLVMTailCallKindMustTail); /* else the stack would grow */
    LLVMBuildRet(g->b, call);
}

static void ends(const Glue *g, const SegmentEnd *end)
{
    stop_if_failed(g, false);
    switch (end->kind) {
    case END_PROGRAM: LLVMBuildRet(g->b, int32(g, SEGMENT_END)); break;
    case END_GOTO: go_on(g, end->targets[0]); break;
    case END_COLLECTIVE:
        LLVMBuildRet(g->b, int32(g, SEGMENT_COLLECTIVE - g->t->collectives[end->collective]));
        break;
    case END_SWITCH: {
        LLVMBasicBlockRef *blocks = blocks_new(g, end->ntargets, "next");
        choose(g, end->on, end->ntargets, blocks);
        for (int i = 0; i < end->ntargets; i++) {
            enter(g, blocks[i]);
            go_on(g, end->targets[i]);
        }
        heap_free(blocks);
        break;
    }
    }
}

void glue_segment(Emit *e, const Layout *l, GlueTables *t, int number)
{
    Locals locals = { 0 };
    Glue g = { .e = e, .l = l, .s = l->s, .m = l->s->k->m, .t = t, .number = number };
    g.b = e->builder;
    g.i32 = LLVMInt32TypeInContext(e->context);
    g.ptr = LLVMPointerTypeInContext(e->context, 0);
    begin(&g, t->segments[number], &locals);
    const Segment *s = &l->s->segments[number];
    g.may_pause = t->may_pause && have_unknown_length(&g, s->nnodes, s->nodes);
    if (g.may_pause)
        begin_again(&g);
    if (t->nans)
        look_at_begin(&g);
    all_nodes(&g, s->nnodes, s->nodes);
    moves(&g, s->nmoves, s->moves);
    ends(&g, &s->end);
    locals_free(&locals);
}
