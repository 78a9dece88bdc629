/* jit.c - LLVM module in, object bytes out; object bytes in, callable functions out.
 *
 *   emit_begin --> (kernel.c, glue.c fill the module) --> emit_object --> bytes
 *   bytes --> code_load --> code_find "s0", "s1" ... --> code_free
 *
 * Every compilation has an LLVM context of its own, so several threads may compile at once;
 * linking is short and goes one at a time.  Code is loaded into a dylib of its own whose only
 * outside symbols are the library calls that LLVM makes up by itself (memcpy, fmod, ...), so
 * an object never depends on what else is in the process.
 *
 * Kernels come as explicit vectors with their loops already shaped, so a few cheap passes and
 * a good code generator are all that is needed. */
#define _GNU_SOURCE
#include "engine/emit/emit.h"

#include "base/fail.h"
#include "engine/emit/bounds.h"
#include "engine/level.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/Error.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/Orc.h>
#include <llvm-c/Support.h>
#include <llvm-c/Target.h>
#include <llvm-c/Transforms/PassBuilder.h>

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char passes[] = "always-inline,"
                             "function(early-cse,instcombine<no-verify-fixpoint>,"
                             "loop-mssa(licm),simplifycfg)";

/* What code is made for; found once. */
static struct {
    LLVMTargetRef target;
    char *triple;
    const char *cpu, *features;
    int vector_bytes;
    char name[96];
} host;
static pthread_once_t host_once = PTHREAD_ONCE_INIT;

/* A program of a thousand small values is one long block of loads and stores, among which LLVM's
 * schedulers look for every pair that may meet: from this many on they are to look no further. */
static void keep_scheduling_short(void)
{
    const char *const words[] = { "tutti", "-dag-maps-huge-region=128" };
    LLVMParseCommandLineOptions(2, words, NULL);
}

static void host_find(void)
{
    keep_scheduling_short();
    LLVMInitializeNativeTarget();
    LLVMInitializeNativeAsmPrinter();
    host.triple = LLVMGetDefaultTargetTriple();
    switch (cpu_level()) {
    case CPU_NATIVE:
        host.cpu = LLVMGetHostCPUName();
        host.features = LLVMGetHostCPUFeatures();
        break;
    case CPU_AVX2:
        host.cpu = "x86-64-v3";
        host.features = "+avx2,+fma";
        break;
    case CPU_SSE:
        host.cpu = "x86-64-v2";
        host.features = "";
        break;
    }
    bool has_512 = strstr(host.features, "+avx512f") && strstr(host.features, "+avx512vl");
    bool has_256 = strstr(host.features, "+avx2");
    host.vector_bytes = has_512 ? 64 : has_256 ? 32 : 16;
    snprintf(host.name, sizeof host.name, "%s, %s", host.cpu,
             has_512 ? "avx512" : has_256 ? "avx2" : "baseline");
    char *why = NULL;
    if (LLVMGetTargetFromTriple(host.triple, &host.target, &why))
        fail("LLVM has no code generator for %s: %s", host.triple, why);
}

/* ---- machines ---- */

/* What LLVM knows of the host takes as long to set up as a small kernel to compile, and has no part
 * in any one program: machines are kept for the next compilation, one for each of a few threads. */
static struct {
    pthread_mutex_t lock;
    int n;
    LLVMTargetMachineRef at[4];
} idle_machines = { .lock = PTHREAD_MUTEX_INITIALIZER };
enum { MOST_IDLE = sizeof idle_machines.at / sizeof idle_machines.at[0] };

static LLVMTargetMachineRef machine_take(void)
{
    LLVMTargetMachineRef machine = NULL;
    pthread_mutex_lock(&idle_machines.lock);
    if (idle_machines.n)
        machine = idle_machines.at[--idle_machines.n];
    pthread_mutex_unlock(&idle_machines.lock);
    if (machine)
        return machine;
    return LLVMCreateTargetMachine(host.target, host.triple, host.cpu, host.features,
                                   LLVMCodeGenLevelDefault, LLVMRelocPIC, LLVMCodeModelSmall);
}

static void machine_give_back(LLVMTargetMachineRef machine)
{
    pthread_mutex_lock(&idle_machines.lock);
    bool has_room = idle_machines.n < MOST_IDLE;
    if (has_room)
        idle_machines.at[idle_machines.n++] = machine;
    pthread_mutex_unlock(&idle_machines.lock);
    if (!has_room)
        LLVMDisposeTargetMachine(machine);
}

/* ---- making objects ---- */

/* LLVM's default would end the process on an error. */
static void diagnose(LLVMDiagnosticInfoRef info, void *user)
{
    (void)user;
    if (LLVMGetDiagInfoSeverity(info) != LLVMDSError)
        return;
    char *text = LLVMGetDiagInfoDescription(info);
    fprintf(stderr, "tutti: LLVM: %s\n", text);
    LLVMDisposeMessage(text);
}

Error *emit_begin(Emit *e, Arena *arena, const char *name)
{
    pthread_once(&host_once, host_find);
    *e = (Emit){ .arena = arena, .vector_bytes = host.vector_bytes };
    e->context = LLVMContextCreate();
    LLVMContextSetDiagnosticHandler(e->context, diagnose, NULL);
    e->llvm = LLVMModuleCreateWithNameInContext(name, e->context);
    e->builder = LLVMCreateBuilderInContext(e->context);
    e->machine = machine_take();
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(e->machine);
    LLVMSetModuleDataLayout(e->llvm, layout);
    LLVMDisposeTargetData(layout);
    LLVMSetTarget(e->llvm, host.triple);
    bounds_begin(e);
    return NULL;
}

void emit_end(Emit *e)
{
    if (!e->context)
        return;
    bounds_end(e);
    LLVMDisposeBuilder(e->builder);
    LLVMDisposeModule(e->llvm);
    machine_give_back(e->machine);
    LLVMContextDispose(e->context);
    *e = (Emit){ 0 };
}

/* No unwinding (so no tables for it), and full-width vectors where the machine has them. */
static void mark_functions(Emit *e)
{
    unsigned kind = LLVMGetEnumAttributeKindForName("nounwind", 8);
    LLVMAttributeRef nounwind = LLVMCreateEnumAttribute(e->context, kind, 0);
    static const char prefer[] = "prefer-vector-width", width[] = "512";
    LLVMAttributeRef wide = LLVMCreateStringAttribute(e->context, prefer, sizeof prefer - 1, width,
                                                      sizeof width - 1);
    for (LLVMValueRef f = LLVMGetFirstFunction(e->llvm); f; f = LLVMGetNextFunction(f)) {
        if (LLVMIsDeclaration(f))
            continue;
        LLVMAddAttributeAtIndex(f, LLVMAttributeFunctionIndex, nounwind);
        if (e->vector_bytes == 64)
            LLVMAddAttributeAtIndex(f, LLVMAttributeFunctionIndex, wide);
    }
}

static Error *from_llvm(LLVMErrorRef error, const char *what)
{
    if (!error)
        return NULL;
    char *text = LLVMGetErrorMessage(error);
    Error *ours = error_new(CODE_INTERNAL, "%s: %s", what, text);
    LLVMDisposeErrorMessage(text);
    return ours;
}

static Error *verify(Emit *e)
{
#ifndef NDEBUG
    char *why = NULL;
    bool is_broken = LLVMVerifyModule(e->llvm, LLVMReturnStatusAction, &why);
    Error *error =
        is_broken ? error_new(CODE_INTERNAL, "the code made is not valid: %s", why) : NULL;
    LLVMDisposeMessage(why);
    return error;
#else
    (void)e;
    return NULL;
#endif
}

Error *emit_object(Emit *e, char **bytes, size_t *n)
{
    TRY(bounds_write(e));
    mark_functions(e);
    if (getenv("TUTTI_DUMP_LLVM"))
        LLVMDumpModule(e->llvm);
    TRY(verify(e));
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMErrorRef error = LLVMRunPasses(e->llvm, passes, e->machine, options);
    LLVMDisposePassBuilderOptions(options);
    TRY(from_llvm(error, "optimising"));
    char *why = NULL;
    LLVMMemoryBufferRef object = NULL;
    if (LLVMTargetMachineEmitToMemoryBuffer(e->machine, e->llvm, LLVMObjectFile, &why, &object)) {
        Error *ours = error_new(CODE_INTERNAL, "generating code: %s", why);
        LLVMDisposeMessage(why);
        return ours;
    }
    *n = LLVMGetBufferSize(object);
    *bytes = malloc(*n);
    if (*bytes)
        memcpy(*bytes, LLVMGetBufferStart(object), *n);
    LLVMDisposeMemoryBuffer(object);
    return *bytes ? NULL : error_new(CODE_EXHAUSTED, "no memory for %zu bytes of code", *n);
}

/* ---- loading objects ---- */

struct Code {
    LLVMOrcJITDylibRef dylib;
    Code *next; /* in the list of those that wait to be used again */
};

/* One linker for the process.  A dylib cannot be taken out of it, so emptied ones are kept. */
static struct {
    pthread_mutex_t lock;
    LLVMOrcLLJITRef jit;
    Code *idle;
    int ncodes; /* made so far, for their names */
} linker = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* Calls that the code generator may make up on its own, and the one of bounds.c. */
static const struct {
    const char *name;
    void *at;
} libcalls[] = {
#define CALL(f) { #f, (void *)f }
    CALL(memcpy), CALL(memmove), CALL(memset), CALL(fmod),   CALL(fmodf),  CALL(exp),
    CALL(expf),   CALL(exp2),    CALL(exp2f),  CALL(log),    CALL(logf),   CALL(log2),
    CALL(log2f),  CALL(log10),   CALL(log10f), CALL(pow),    CALL(powf),   CALL(sin),
    CALL(sinf),   CALL(cos),     CALL(cosf),   CALL(tan),    CALL(tanf),   CALL(tanh),
    CALL(tanhf),  CALL(floor),   CALL(floorf), CALL(ceil),   CALL(ceilf),  CALL(rint),
    CALL(rintf),  CALL(round),   CALL(roundf), CALL(trunc),  CALL(truncf), CALL(fma),
    CALL(fmaf),   CALL(sqrt),    CALL(sqrtf),  CALL(fmin),   CALL(fminf),  CALL(fmax),
    CALL(fmaxf),  CALL(ldexp),   CALL(ldexpf), CALL(roundeven), CALL(roundevenf),
    CALL(nearbyint), CALL(nearbyintf), CALL(atan2), CALL(atan2f), CALL(cbrt), CALL(cbrtf),
    CALL(tutti_out_of_bounds),
#undef CALL
};
enum { NLIBCALLS = sizeof libcalls / sizeof libcalls[0] };

static Error *dylib_fill(LLVMOrcJITDylibRef dylib)
{
    LLVMOrcCSymbolMapPair pairs[NLIBCALLS];
    for (int i = 0; i < NLIBCALLS; i++) {
        pairs[i].Name = LLVMOrcLLJITMangleAndIntern(linker.jit, libcalls[i].name);
        pairs[i].Sym.Address = (LLVMOrcExecutorAddress)(uintptr_t)libcalls[i].at;
        pairs[i].Sym.Flags.GenericFlags =
            LLVMJITSymbolGenericFlagsExported | LLVMJITSymbolGenericFlagsCallable;
        pairs[i].Sym.Flags.TargetFlags = 0;
    }
    LLVMOrcMaterializationUnitRef unit = LLVMOrcAbsoluteSymbols(pairs, NLIBCALLS);
    LLVMErrorRef error = LLVMOrcJITDylibDefine(dylib, unit);
    if (error)
        LLVMOrcDisposeMaterializationUnit(unit);
    return from_llvm(error, "loading code");
}

/* The caller holds the lock. */
static Error *code_new(Code **out)
{
    if (!linker.jit)
        TRY(from_llvm(LLVMOrcCreateLLJIT(&linker.jit, NULL), "starting the linker"));
    Code *code = linker.idle;
    if (code) {
        linker.idle = code->next;
    } else {
        char name[32];
        snprintf(name, sizeof name, "code%d", linker.ncodes++);
        code = calloc(1, sizeof *code);
        if (!code)
            fail("no memory for a piece of code");
        code->dylib = LLVMOrcExecutionSessionCreateBareJITDylib(
            LLVMOrcLLJITGetExecutionSession(linker.jit), name);
    }
    *out = code;
    return dylib_fill(code->dylib);
}

static void code_retire(Code *code)
{
    error_free(from_llvm(LLVMOrcJITDylibClear(code->dylib), "unloading code"));
    code->next = linker.idle;
    linker.idle = code;
}

/* The caller holds the lock. */
static Error *object_add(Code *code, const char *object, size_t n)
{
    LLVMMemoryBufferRef bytes = LLVMCreateMemoryBufferWithMemoryRangeCopy(object, n, "code");
    return from_llvm(LLVMOrcLLJITAddObjectFile(linker.jit, code->dylib, bytes), "linking code");
}

Error *code_load(const char *object, size_t n, Code **out)
{
    pthread_once(&host_once, host_find);
    pthread_mutex_lock(&linker.lock);
    Code *code = NULL;
    Error *error = code_new(&code);
    if (!error)
        error = object_add(code, object, n);
    if (error && code)
        code_retire(code);
    pthread_mutex_unlock(&linker.lock);
    if (!error)
        *out = code;
    return error;
}

Error *code_add(Code *code, const char *object, size_t n)
{
    pthread_mutex_lock(&linker.lock);
    Error *error = object_add(code, object, n);
    pthread_mutex_unlock(&linker.lock);
    return error;
}

/* What a lookup is to find: symbols as the linker holds them, and where their addresses go. */
typedef struct Search {
    LLVMErrorRef error;
    int n;
    const LLVMOrcCLookupSetElement *symbols;
    void ***at;
} Search;

/* The answers come in an order of the linker's own. */
static void found(LLVMErrorRef error, LLVMOrcCSymbolMapPairs result, size_t n, void *user)
{
    Search *s = user;
    s->error = error;
    for (size_t i = 0; !error && i < n; i++)
        for (int k = 0; k < s->n; k++)
            if (s->symbols[k].Name == result[i].Name)
                *s->at[k] = (void *)(uintptr_t)result[i].Sym.Address;
}

static bool is_among(const LLVMOrcCLookupSetElement *symbols, size_t n,
                     LLVMOrcSymbolStringPoolEntryRef name)
{
    for (size_t i = 0; i < n; i++)
        if (symbols[i].Name == name)
            return true;
    return false;
}

/* Under the lock no other thread can be linking, so the answer is there on return.  A name may
 * be given twice, but the linker must be asked for it once: it loses count otherwise. */
static Error *find_few(const Code *code, int n, const char *const *names, void ***at)
{
    LLVMOrcCLookupSetElement symbols[n], asked[n];
    size_t nasked = 0;
    pthread_mutex_lock(&linker.lock);
    for (int i = 0; i < n; i++) {
        *at[i] = NULL;
        symbols[i].Name = LLVMOrcLLJITMangleAndIntern(linker.jit, names[i]);
        symbols[i].LookupFlags = LLVMOrcSymbolLookupFlagsRequiredSymbol;
        if (is_among(asked, nasked, symbols[i].Name))
            LLVMOrcReleaseSymbolStringPoolEntry(symbols[i].Name);
        else
            asked[nasked++] = symbols[i];
    }
    LLVMOrcCJITDylibSearchOrderElement where = {
        code->dylib, LLVMOrcJITDylibLookupFlagsMatchExportedSymbolsOnly
    };
    Search s = { .n = n, .symbols = symbols, .at = at };
    LLVMOrcExecutionSessionLookup(LLVMOrcLLJITGetExecutionSession(linker.jit),
                                  LLVMOrcLookupKindStatic, &where, 1, asked, nasked, found, &s);
    pthread_mutex_unlock(&linker.lock);
    TRY(from_llvm(s.error, "linking code"));
    for (int i = 0; i < n; i++)
        if (!*at[i])
            return error_new(CODE_INTERNAL, "linking code: no function %s", names[i]);
    return NULL;
}

Error *code_find_all(const Code *code, int n, const char *const *names, void ***at)
{
    enum { AT_ONCE = 64 };
    for (int i = 0; i < n; i += AT_ONCE)
        TRY(find_few(code, n - i < AT_ONCE ? n - i : AT_ONCE, names + i, at + i));
    return NULL;
}

Error *code_find(const Code *code, const char *name, void **address)
{
    return find_few(code, 1, &name, &address);
}

void code_free(Code *code)
{
    if (!code)
        return;
    pthread_mutex_lock(&linker.lock);
    code_retire(code);
    pthread_mutex_unlock(&linker.lock);
}
