/* bounds.c - a check before every access that code makes.
 *
 * In: a module of LLVM code whose arrays and functions were noted.  Out: the same with
 *
 *     offset = pointer - array                          the array is found by walking back the
 *     outside = not (0 <= offset <= size - bytes)       pointer's GEPs
 *     call check(outside, frame, who, how, what, ...)   inlined: a branch to the report
 *     load (outside ? dump : pointer)                   so the kernel comes to its end
 *
 * before each load, store, masked load, gather, copy, and call that takes arrays.  A gather's lanes
 * are all checked, those that are off too.  Of a masked vector, lanes that are on must lie in the
 * array, and those that are off not further from it than a vector (docs/design, addresses).
 *
 * Who calls a kernel looks at the frame's error afterwards (glue.c). */
#include "engine/codegen/codegen.h"

#include "base/fail.h"
#include "base/grow.h"
#include "base/table.h"
#include "engine/checks.h"

#include <llvm-c/Target.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef LLVMValueRef V;

typedef struct Array {
    V base, bytes;
    const char *what;
} Array;

typedef struct Owner {
    V function, frame;
    const char *who;
} Owner;

typedef struct Touch {
    V call, pointer;
    int64_t first, bytes;
} Touch;

/* Each list, and where in it something stands, by LLVM's pointer. */
typedef struct Bounds {
    Table arrays_at, owners_at, touches_at; /* of a call: its first touch; others follow it */
    int narrays, arrays_room, nowners, owners_room, ntouches, touches_room;
    Array *arrays;
    Owner *owners;
    Touch *touches;
} Bounds;

int64_t bounds_withheld;

void bounds_begin(Emit *e)
{
    if (checks_bounds())
        e->bounds = ARENA_NEW(e->arena, Bounds);
}

void bounds_end(Emit *e)
{
    if (!e->bounds)
        return;
    table_free(&e->bounds->arrays_at);
    table_free(&e->bounds->owners_at);
    table_free(&e->bounds->touches_at);
}

static const char *kept(Emit *e, const char *text)
{
    return arena_copy(e->arena, text, strlen(text) + 1);
}

static V int64(const Emit *e, int64_t x)
{
    return LLVMConstInt(LLVMInt64TypeInContext(e->context), (unsigned long long)x, true);
}

void bounds_array_of(Emit *e, V pointer, V bytes, const char *what)
{
    Bounds *b = e->bounds;
    if (!b)
        return;
    ROOM(e->arena, b->arrays, b->narrays, &b->arrays_room);
    b->arrays[b->narrays] = (Array){ pointer, bytes, kept(e, what) };
    table_set(&b->arrays_at, &pointer, sizeof pointer, (uint64_t)b->narrays++);
}

void bounds_array(Emit *e, V pointer, int64_t bytes, const char *what)
{
    if (e->bounds)
        bounds_array_of(e, pointer, int64(e, bytes), what);
}

static const Array *array_find(const Bounds *b, V pointer)
{
    uint64_t i;
    return table_get(&b->arrays_at, &pointer, sizeof pointer, &i) ? &b->arrays[i] : NULL;
}

void bounds_array_like(Emit *e, V pointer, V known)
{
    const Array *array = e->bounds ? array_find(e->bounds, known) : NULL;
    if (array)
        bounds_array_of(e, pointer, array->bytes, array->what);
}

void bounds_function(Emit *e, V function, V frame, const char *who)
{
    Bounds *b = e->bounds;
    if (!b)
        return;
    ROOM(e->arena, b->owners, b->nowners, &b->owners_room);
    b->owners[b->nowners] = (Owner){ function, frame, kept(e, who) };
    table_set(&b->owners_at, &function, sizeof function, (uint64_t)b->nowners++);
    if (frame)
        bounds_array(e, frame, sizeof(Frame), "the frame");
}

void bounds_touch(Emit *e, V call, V pointer, int64_t first, int64_t bytes)
{
    Bounds *b = e->bounds;
    uint64_t unused;
    if (!b || !bytes)
        return;
    if (!table_get(&b->touches_at, &call, sizeof call, &unused))
        table_set(&b->touches_at, &call, sizeof call, (uint64_t)b->ntouches);
    ROOM(e->arena, b->touches, b->ntouches, &b->touches_room);
    b->touches[b->ntouches++] = (Touch){ call, pointer, first, bytes };
}

/* ---- what a check is made of ---- */

typedef struct Pass {
    Emit *e;
    Bounds *b;
    LLVMBuilderRef at;
    LLVMTargetDataRef layout;
    LLVMTypeRef i1, i64, ptr;
    Table texts;        /* of the module, by the address of the C string */
    V check, dump;      /* a function, and memory for what is not allowed */
    const Owner *owner; /* the function being looked at */
    V frame;            /* once it is there, else null */
} Pass;

enum { DUMP_BYTES = 4096 }; /* more than the widest access */

static V call_of(Pass *p, V f, int n, V *args)
{
    return LLVMBuildCall2(p->at, LLVMGlobalGetValueType(f), f, args, (unsigned)n, "");
}

static V intrinsic_of(Pass *p, const char *name, V x)
{
    LLVMTypeRef type = LLVMTypeOf(x);
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    return call_of(p, LLVMGetIntrinsicDeclaration(p->e->llvm, id, &type, 1), 1, &x);
}

static int lanes_in(LLVMTypeRef type)
{
    return LLVMGetTypeKind(type) == LLVMVectorTypeKind ? (int)LLVMGetVectorSize(type) : 0;
}

/* The scalar in so many lanes; 0: itself. */
static V spread(Pass *p, V scalar, int lanes)
{
    if (!lanes)
        return scalar;
    LLVMTypeRef type = LLVMVectorType(LLVMTypeOf(scalar), (unsigned)lanes);
    LLVMTypeRef order = LLVMVectorType(LLVMInt32TypeInContext(p->e->context), (unsigned)lanes);
    V one = LLVMBuildInsertElement(p->at, LLVMGetPoison(type), scalar, int64(p->e, 0), "");
    return LLVMBuildShuffleVector(p->at, one, LLVMGetPoison(type), LLVMConstNull(order), "");
}

static V text_of(Pass *p, const char *text)
{
    uint64_t known;
    if (!table_get(&p->texts, &text, sizeof text, &known)) {
        known = (uint64_t)(uintptr_t)LLVMBuildGlobalStringPtr(p->at, text, "");
        table_set(&p->texts, &text, sizeof text, known);
    }
    return (V)(uintptr_t)known;
}

/* void check(outside, frame, who, how, what, offset, bytes, size), to be inlined. */
static void make_check(Pass *p)
{
    LLVMTypeRef types[] = { p->i1, p->ptr, p->ptr, p->ptr, p->ptr, p->i64, p->i64, p->i64 };
    LLVMContextRef c = p->e->context;
    LLVMTypeRef nothing = LLVMVoidTypeInContext(c);
    V report = LLVMAddFunction(p->e->llvm, "tutti_out_of_bounds",
                               LLVMFunctionType(nothing, types + 1, 7, false));
    p->check =
        LLVMAddFunction(p->e->llvm, "bounds.check", LLVMFunctionType(nothing, types, 8, false));
    LLVMSetLinkage(p->check, LLVMInternalLinkage);
    unsigned inlined = LLVMGetEnumAttributeKindForName("alwaysinline", 12);
    LLVMAddAttributeAtIndex(p->check, LLVMAttributeFunctionIndex,
                            LLVMCreateEnumAttribute(c, inlined, 0));
    LLVMBasicBlockRef entry = LLVMAppendBasicBlockInContext(c, p->check, "");
    LLVMBasicBlockRef bad = LLVMAppendBasicBlockInContext(c, p->check, "bad");
    LLVMBasicBlockRef good = LLVMAppendBasicBlockInContext(c, p->check, "good");
    V args[8];
    LLVMGetParams(p->check, args);
    LLVMPositionBuilderAtEnd(p->at, entry);
    LLVMBuildCondBr(p->at, args[0], bad, good);
    LLVMPositionBuilderAtEnd(p->at, bad);
    call_of(p, report, 7, args + 1);
    LLVMBuildBr(p->at, good);
    LLVMPositionBuilderAtEnd(p->at, good);
    LLVMBuildRetVoid(p->at);
    LLVMTypeRef bytes = LLVMArrayType2(LLVMInt8TypeInContext(c), DUMP_BYTES);
    p->dump = LLVMAddGlobal(p->e->llvm, bytes, "bounds.dump");
    LLVMSetInitializer(p->dump, LLVMConstNull(bytes));
    LLVMSetLinkage(p->dump, LLVMInternalLinkage);
    LLVMSetAlignment(p->dump, 64);
}

/* ---- arrays ---- */

static bool is_gep(V v)
{
    return LLVMIsAGetElementPtrInst(v) ||
           (LLVMIsAConstantExpr(v) && LLVMGetConstOpcode(v) == LLVMGetElementPtr);
}

/* The array that a pointer, or a vector of them, leads to. */
static Error *array_of(Pass *p, V pointer, Array *out)
{
    while (is_gep(pointer) && !array_find(p->b, pointer))
        pointer = LLVMGetOperand(pointer, 0);
    const Array *known = array_find(p->b, pointer);
    if (known) {
        *out = *known;
        if (LLVMIsACallInst(pointer)) /* null where the call was one of nothing */
            out->bytes = LLVMBuildSelect(p->at, LLVMBuildIsNull(p->at, pointer, ""), int64(p->e, 0),
                                         known->bytes, "");
        return NULL;
    }
    LLVMTypeRef own = LLVMIsAAllocaInst(pointer)       ? LLVMGetAllocatedType(pointer)
                      : LLVMIsAGlobalVariable(pointer) ? LLVMGlobalGetValueType(pointer)
                                                       : NULL;
    if (!own)
        return error_new(CODE_INTERNAL,
                         "%s: no bounds_array says how large the array is that it "
                         "reads or writes",
                         p->owner->who);
    *out = (Array){ pointer, int64(p->e, (int64_t)LLVMABISizeOfType(p->layout, own)),
                    "memory of the kernel's own" };
    return NULL;
}

/* ---- one access ---- */

typedef struct Access {
    V offset, bytes; /* i64, or so in each lane */
    V reach;         /* how far outside the array it may be; NULL: not at all */
    const char *how;
} Access;

static V whole(Pass *p, V x)
{
    LLVMTypeRef type = LLVMTypeOf(x);
    int lanes = lanes_in(type);
    return LLVMBuildPtrToInt(p->at, x, lanes ? LLVMVectorType(p->i64, (unsigned)lanes) : p->i64,
                             "");
}

static V offset_of(Pass *p, const Array *array, V pointer)
{
    V base = spread(p, whole(p, array->base), lanes_in(LLVMTypeOf(pointer)));
    return LLVMBuildSub(p->at, whole(p, pointer), base, "");
}

/* Per lane: is it outside?  And a check of it; what may be constant is. */
static V outside_of(Pass *p, const Array *array, Access a)
{
    int lanes = lanes_in(LLVMTypeOf(a.offset));
    V size = spread(p, array->bytes, lanes), bytes = spread(p, a.bytes, lanes), x = a.offset;
    if (a.reach) {
        x = LLVMBuildAdd(p->at, x, a.reach, "");
        size = LLVMBuildAdd(p->at, size, LLVMBuildAdd(p->at, a.reach, a.reach, ""), "");
    }
    V left = LLVMBuildSub(p->at, size, x, "");
    V outside = LLVMBuildOr(p->at, LLVMBuildICmp(p->at, LLVMIntUGT, x, size, ""),
                            LLVMBuildICmp(p->at, LLVMIntULT, left, bytes, ""), "");
    V any = outside, furthest = a.offset;
    if (lanes) {
        V zero = LLVMConstNull(LLVMTypeOf(a.offset));
        any = intrinsic_of(p, "llvm.vector.reduce.or", outside);
        furthest = intrinsic_of(p, "llvm.vector.reduce.umax",
                                LLVMBuildSelect(p->at, outside, a.offset, zero, ""));
    }
    V args[] = { any,
                 p->frame,
                 text_of(p, p->owner->who),
                 text_of(p, a.how),
                 text_of(p, array->what),
                 furthest,
                 a.bytes,
                 array->bytes };
    call_of(p, p->check, 8, args);
    return outside;
}

/* The instruction's operand becomes one that is allowed. */
static void redirect(Pass *p, V instruction, unsigned operand, V outside)
{
    V pointer = LLVMGetOperand(instruction, operand);
    V dump = spread(p, p->dump, lanes_in(LLVMTypeOf(pointer)));
    LLVMSetOperand(instruction, operand, LLVMBuildSelect(p->at, outside, dump, pointer, ""));
}

static Error *check_plain(Pass *p, V instruction, unsigned operand, LLVMTypeRef type,
                          const char *how)
{
    Array array;
    V pointer = LLVMGetOperand(instruction, operand);
    int64_t bytes = (int64_t)LLVMStoreSizeOfType(p->layout, type);
    TRY(array_of(p, pointer, &array));
    require(bytes <= DUMP_BYTES);
    Access a = { offset_of(p, &array, pointer), int64(p->e, bytes), NULL, how };
    redirect(p, instruction, operand, outside_of(p, &array, a));
    return NULL;
}

static Error *check_gather(Pass *p, V call)
{
    LLVMTypeRef one = LLVMGetElementType(LLVMTypeOf(call));
    return check_plain(p, call, 0, one, "gathers");
}

/* Lane by lane, for some are on and some off. */
static Error *check_masked_load(Pass *p, V call)
{
    Array array;
    LLVMTypeRef type = LLVMTypeOf(call);
    int lanes = lanes_in(type);
    int64_t each = (int64_t)LLVMStoreSizeOfType(p->layout, LLVMGetElementType(type));
    V steps[MAX_LANES], pointer = LLVMGetOperand(call, 0), mask = LLVMGetOperand(call, 2);
    require(lanes <= MAX_LANES);
    TRY(array_of(p, pointer, &array));
    for (int l = 0; l < lanes; l++)
        steps[l] = int64(p->e, l * each);
    V offset = LLVMBuildAdd(p->at, spread(p, offset_of(p, &array, pointer), lanes),
                            LLVMConstVector(steps, (unsigned)lanes), "");
    V none = spread(p, int64(p->e, 0), lanes), vector = spread(p, int64(p->e, lanes * each), lanes);
    V reach = LLVMBuildSelect(p->at, mask, none, vector, "");
    Access a = { offset, int64(p->e, each), reach, "loads" };
    V outside = outside_of(p, &array, a);
    redirect(p, call, 0, intrinsic_of(p, "llvm.vector.reduce.or", outside));
    return NULL;
}

static Error *check_copy(Pass *p, V call)
{
    V bytes = LLVMGetOperand(call, 2);
    for (unsigned i = 0; i < 2; i++) {
        Array array;
        V pointer = LLVMGetOperand(call, i), none = int64(p->e, 0);
        TRY(array_of(p, pointer, &array));
        Access a = { offset_of(p, &array, pointer), bytes, NULL, i ? "copies from" : "copies to" };
        V outside = outside_of(p, &array, a), now = LLVMGetOperand(call, 2);
        LLVMSetOperand(call, 2, LLVMBuildSelect(p->at, outside, none, now, ""));
    }
    return NULL;
}

/* ---- calls ---- */

/* A function of this type that does nothing. */
static V nothing_of(Pass *p, LLVMTypeRef type)
{
    LLVMBasicBlockRef back = LLVMGetInsertBlock(p->at);
    V f = LLVMAddFunction(p->e->llvm, "bounds.nothing", type);
    LLVMSetLinkage(f, LLVMInternalLinkage);
    LLVMPositionBuilderAtEnd(p->at, LLVMAppendBasicBlockInContext(p->e->context, f, ""));
    LLVMTypeRef gives = LLVMGetReturnType(type);
    if (LLVMGetTypeKind(gives) == LLVMVoidTypeKind)
        LLVMBuildRetVoid(p->at);
    else
        LLVMBuildRet(p->at, LLVMConstNull(gives));
    LLVMPositionBuilderAtEnd(p->at, back);
    return f;
}

/* Where it would touch what is outside, the call is one of nothing. */
static Error *check_touched(Pass *p, V call, V pointer, int64_t first, V bytes)
{
    Array array;
    TRY(array_of(p, pointer, &array));
    V offset = offset_of(p, &array, pointer);
    offset = LLVMBuildAdd(p->at, offset, int64(p->e, first), "");
    Access a = { offset, bytes, NULL, "calls a routine on" };
    V outside = outside_of(p, &array, a);
    if (LLVMIsConstant(outside) && LLVMIsNull(outside))
        return NULL;
    V nothing = nothing_of(p, LLVMGetCalledFunctionType(call));
    LLVMPositionBuilderBefore(p->at, call);
    V callee = LLVMBuildSelect(p->at, outside, nothing, LLVMGetCalledValue(call), "");
    LLVMSetOperand(call, (unsigned)LLVMGetNumOperands(call) - 1, callee);
    return NULL;
}

/* The arrays that a caller hands to a kernel have at least the bytes that the kernel's parameters declare. */
static Error *check_kernel_call(Pass *p, V call, V callee)
{
    for (unsigned i = 0; i < LLVMCountParams(callee); i++) {
        const Array *wants = array_find(p->b, LLVMGetParam(callee, i));
        V given = LLVMGetOperand(call, i);
        if (wants && given != p->owner->frame && !LLVMIsNull(wants->bytes))
            TRY(check_touched(p, call, given, 0, wants->bytes));
    }
    return NULL;
}

/* For an array that is handed to the runtime, bounds_touch says what the call touches. */
static Error *check_runtime_call(Pass *p, V call)
{
    uint64_t first;
    if (table_get(&p->b->touches_at, &call, sizeof call, &first)) {
        for (int i = (int)first; i < p->b->ntouches && p->b->touches[i].call == call; i++) {
            const Touch *t = &p->b->touches[i];
            TRY(check_touched(p, call, t->pointer, t->first, int64(p->e, t->bytes)));
        }
        return NULL;
    }
    for (unsigned i = 0; i < LLVMGetNumArgOperands(call); i++) {
        V x = LLVMGetOperand(call, i);
        bool is_array = LLVMTypeOf(x) == p->ptr && x != p->owner->frame && !LLVMIsAFunction(x) &&
                        !LLVMIsAAllocaInst(x);
        if (is_array)
            return error_new(CODE_INTERNAL, "%s: no bounds_touch says what a routine touches",
                             p->owner->who);
    }
    return NULL;
}

static bool is_intrinsic(V callee, const char *name)
{
    return LLVMGetIntrinsicID(callee) == LLVMLookupIntrinsicID(name, strlen(name));
}

static Error *check_call(Pass *p, V call)
{
    V callee = LLVMGetCalledValue(call);
    if (!LLVMIsAFunction(callee))
        return check_runtime_call(p, call);
    if (!LLVMGetIntrinsicID(callee))
        return check_kernel_call(p, call, callee);
    if (is_intrinsic(callee, "llvm.masked.load"))
        return check_masked_load(p, call);
    if (is_intrinsic(callee, "llvm.masked.gather"))
        return check_gather(p, call);
    if (is_intrinsic(callee, "llvm.memcpy"))
        return check_copy(p, call);
    if (is_intrinsic(callee, "llvm.prefetch"))
        return NULL; /* of what is not there it does nothing */
    for (unsigned i = 0; i < LLVMGetNumArgOperands(call); i++)
        if (LLVMGetTypeKind(LLVMTypeOf(LLVMGetOperand(call, i))) == LLVMPointerTypeKind)
            return error_new(CODE_INTERNAL, "%s: bounds.c does not know an intrinsic that it calls",
                             p->owner->who);
    return NULL;
}

/* ---- all of them ---- */

static Error *check_instruction(Pass *p, V x)
{
    LLVMPositionBuilderBefore(p->at, x);
    switch (LLVMGetInstructionOpcode(x)) {
    case LLVMLoad: return check_plain(p, x, 0, LLVMTypeOf(x), "loads");
    case LLVMStore: return check_plain(p, x, 1, LLVMTypeOf(LLVMGetOperand(x, 0)), "stores");
    case LLVMCall: return check_call(p, x);
    default: return NULL;
    }
}

static Error *check_function(Pass *p, V f)
{
    uint64_t owner;
    if (!table_get(&p->b->owners_at, &f, sizeof f, &owner))
        return error_new(CODE_INTERNAL, "no bounds_function says whose code the function %s is",
                         LLVMGetValueName(f));
    p->owner = &p->b->owners[owner];
    V frame = p->owner->frame;
    p->frame = frame && LLVMIsAArgument(frame) ? frame : LLVMConstNull(p->ptr);
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
        for (V x = LLVMGetFirstInstruction(b), next; x; x = next) {
            next = LLVMGetNextInstruction(x); /* checks stand before x */
            TRY(check_instruction(p, x));
            p->frame = x == p->owner->frame ? x : p->frame;
        }
    return NULL;
}

static Error *check_functions(Pass *p, V first)
{
    for (V f = first, next; f && f != p->check; f = next) {
        next = LLVMGetNextFunction(f);
        if (!LLVMIsDeclaration(f))
            TRY(check_function(p, f));
    }
    return NULL;
}

Error *bounds_write(Emit *e)
{
    if (!e->bounds)
        return NULL;
    Pass p = { .e = e,
               .b = e->bounds,
               .at = LLVMCreateBuilderInContext(e->context),
               .layout = LLVMGetModuleDataLayout(e->llvm),
               .i1 = LLVMInt1TypeInContext(e->context),
               .i64 = LLVMInt64TypeInContext(e->context),
               .ptr = LLVMPointerTypeInContext(e->context, 0) };
    V first = LLVMGetFirstFunction(e->llvm);
    make_check(&p); /* it and what it brings stand behind those that are looked at */
    Error *error = check_functions(&p, first);
    table_free(&p.texts);
    LLVMDisposeBuilder(p.at);
    return error;
}

/* ---- at run time ---- */

void tutti_out_of_bounds(Frame *frame, const char *who, const char *how, const char *what,
                         int64_t offset, int64_t bytes, int64_t size)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* slices of a kernel share a frame */
    static const char format[] = "%s: %s %lld bytes at offset %lld of %s, which has %lld bytes "
                                 "(TUTTI_CHECK=bounds)";
    if (!frame)
        fail(format, who, how, (long long)bytes, (long long)offset, what, (long long)size);
    pthread_mutex_lock(&lock);
    if (!frame->error)
        frame->error = error_new(CODE_INTERNAL, format, who, how, (long long)bytes,
                                 (long long)offset, what, (long long)size);
    pthread_mutex_unlock(&lock);
}
