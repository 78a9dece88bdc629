/* object.c - LLVM module in, object bytes out.
 *
 *   emit_begin --> (kernel.c, glue.c fill the module) --> emit_object --> bytes --> linker.c
 *
 * Every compilation has an LLVM context of its own, so several threads may compile at once.
 *
 * Kernels come as explicit vectors with their loops already shaped, so a few cheap passes and
 * a good code generator are all that is needed.  Code that only calls others needs neither. */
#include "engine/link/link.h"

#include "base/fail.h"
#include "base/guard.h"
#include "engine/codegen/codegen.h"
#include "engine/cpu_level.h"
#include "engine/link/generator.h"
#include "engine/link/plain_code.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/Core.h>
#include <llvm-c/Error.h>
#include <llvm-c/Support.h>
#include <llvm-c/Target.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <llvm/Config/llvm-config.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char llvm_version[] = LLVM_VERSION_STRING;

#define PASSES                                                                                     \
    "always-inline,function(sroa,early-cse,instcombine<no-verify-fixpoint>,loop-mssa(licm),"       \
    "simplifycfg"
static const char passes[] = PASSES ")", passes_with_steps[] = PASSES ",loop(loop-reduce))";

/* What code is made for; found once. */
static struct {
    pthread_mutex_t lock; /* while it is looked for */
    _Atomic bool is_known;
    CodeTarget target;
    char *triple;
    char *own_cpu, *own_features; /* NULL: at another level */
} host = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* What it may be made for elsewhere. */
static const struct {
    const char *name;
    CodeTarget target;
} targets[] = {
    { "x86-64-v4",
      { .triple = "x86_64-unknown-linux-gnu",
        .cpu = "x86-64-v4",
        .features = "+avx512f,+avx512vl,+avx512dq,+avx512bw,+avx512cd,+avx2,+fma",
        .vector_bytes = 64,
        .level = MACHINE_X86_64_V4 } },
    { "x86-64-v3",
      { .triple = "x86_64-unknown-linux-gnu",
        .cpu = "x86-64-v3",
        .features = "+avx2,+fma",
        .vector_bytes = 32,
        .level = MACHINE_X86_64_V3 } },
    { "x86-64-v2",
      { .triple = "x86_64-unknown-linux-gnu",
        .cpu = "x86-64-v2",
        .features = "",
        .vector_bytes = 16,
        .level = MACHINE_X86_64_V2 } },
    { "aarch64",
      { .triple = "aarch64-unknown-linux-gnu",
        .cpu = "generic",
        .features = "+neon",
        .vector_bytes = 16,
        .level = MACHINE_ANY } },
};
enum { NTARGETS = sizeof targets / sizeof *targets };

/* A program of a thousand small values is one long block of loads and stores, among which LLVM's
 * schedulers look for every pair that may meet: from this many on they are to look no further.
 *
 * What a third of a small kernel's compilation would go into, and gives our loops nothing: addresses
 * made anew from steps, since nearly all of them are a base and a count (kernels that have others ask
 * for it, Emit.has_steps), and a second scheduling, behind the registers. */
static void keep_short(void)
{
    static bool is_said; /* LLVM takes it once */
    static const char *const words[] = { "tutti", "-dag-maps-huge-region=128", "-disable-lsr",
                                         "-disable-post-ra", "-x86-tile-ra=0" };
    if (!is_said) {
        is_said = true;
        LLVMParseCommandLineOptions(sizeof words / sizeof *words, words, NULL);
    }
}

/* By its features, of which the name of a processor says too little. */
static CodeTarget native_target(void)
{
    host.own_cpu = LLVMGetHostCPUName();
    host.own_features = LLVMGetHostCPUFeatures();
    CodeTarget t = { .cpu = host.own_cpu, .features = host.own_features, .vector_bytes = 16 };
    bool has_512 = strstr(t.features, "+avx512f") && strstr(t.features, "+avx512vl");
    bool has_256 = strstr(t.features, "+avx2");
    t.vector_bytes = has_512 ? 64 : has_256 ? 32 : 16;
    t.level = has_512                         ? MACHINE_X86_64_V4
              : has_256                       ? MACHINE_X86_64_V3
              : strstr(t.features, "+sse4.2") ? MACHINE_X86_64_V2
                                              : MACHINE_ANY;
    return t;
}

static CodeTarget host_target(void)
{
    switch (cpu_level()) {
    case CPU_AVX512: return targets[0].target;
    case CPU_AVX2: return targets[1].target;
    case CPU_SSE: return targets[2].target;
    case CPU_DOTS:
    case CPU_NATIVE: break;
    }
    return native_target();
}

/* Code generators for other machines, for objects: only an engine that is built for it has them
 * (tools/cross), since they take memory of every process. */
extern void cross_targets_ready(void) __attribute__((weak));
static void others_ready(void)
{
    if (cross_targets_ready)
        cross_targets_ready();
}

static void host_find(void *user)
{
    (void)user;
    keep_short();
    LLVMInitializeNativeTarget();
    LLVMInitializeNativeAsmPrinter();
    host.triple = LLVMGetDefaultTargetTriple();
    host.target = host_target();
    host.target.triple = host.triple;
    char *why = NULL;
    if (LLVMGetTargetFromTriple(host.triple, &host.target.llvm, &why))
        fail("LLVM has no code generator for %s: %s", host.triple, why);
}

Error *llvm_ready(void)
{
    TRY(reserve_fill());
    /* acquire: pairs with the release below; what was found is seen */
    if (atomic_load_explicit(&host.is_known, memory_order_acquire))
        return NULL;
    pthread_mutex_lock(&host.lock);
    Error *error = host.is_known ? NULL : guard_run("starting LLVM", host_find, NULL);
    atomic_store_explicit(&host.is_known, !error, memory_order_release);
    pthread_mutex_unlock(&host.lock);
    return error;
}

static Error *no_target(const char *name)
{
    Text known = { 0 };
    for (int i = 0; i < NTARGETS; i++)
        text_printf(&known, "%s, ", targets[i].name);
    Error *error = error_new(CODE_INVALID, "no code is made for '%s'; it is made for %sand native",
                             name, text_cstr(&known));
    text_free(&known);
    return error;
}

Error *target_find(const char *name, CodeTarget *out)
{
    TRY(llvm_ready());
    *out = host.target;
    if (!name || strcmp(name, "native") == 0)
        return NULL;
    for (int i = 0; i < NTARGETS; i++) {
        if (strcmp(name, targets[i].name) != 0)
            continue;
        *out = targets[i].target;
        char *why = NULL;
        static pthread_once_t once = PTHREAD_ONCE_INIT;
        pthread_once(&once, others_ready);
        if (!LLVMGetTargetFromTriple(out->triple, &out->llvm, &why))
            return NULL;
        LLVMDisposeMessage(why);
        return error_new(CODE_UNIMPLEMENTED,
                         "not supported: code for %s: this engine was built without it; make "
                         "build/cross/pjrt_plugin_tutti.so, and name that by TUTTI_PLUGIN",
                         name);
    }
    return no_target(name);
}

/* ---- generators ---- */

typedef enum Effort { EFFORT_FULL, EFFORT_LEAST, EFFORTS } Effort;

/* What LLVM knows of the host and its list of passes take longer to set up than a small kernel to
 * compile, and have no part in any one program: they are kept for the next compilation, one for each
 * of a few threads. */
enum { MOST_IDLE = 4 };
static struct {
    pthread_mutex_t lock;
    int n[EFFORTS];
    Generator *at[EFFORTS][MOST_IDLE];
} idle = { .lock = PTHREAD_MUTEX_INITIALIZER };

static Generator *generator_make(const CodeTarget *t, Effort effort)
{
    LLVMTargetMachineRef machine = LLVMCreateTargetMachine(
        t->llvm, t->triple, t->cpu, t->features,
        effort == EFFORT_FULL ? LLVMCodeGenLevelDefault : LLVMCodeGenLevelNone, LLVMRelocPIC,
        LLVMCodeModelSmall);
    return generator_new(machine);
}

static Generator *generator_take(Effort effort)
{
    Generator *g = NULL;
    pthread_mutex_lock(&idle.lock);
    if (idle.n[effort])
        g = idle.at[effort][--idle.n[effort]];
    pthread_mutex_unlock(&idle.lock);
    return g ? g : generator_make(&host.target, effort);
}

static void generator_give_back(Generator *g, Effort effort)
{
    pthread_mutex_lock(&idle.lock);
    bool is_kept = idle.n[effort] < MOST_IDLE && !generator_is_worn(g);
    if (is_kept)
        idle.at[effort][idle.n[effort]++] = g;
    pthread_mutex_unlock(&idle.lock);
    if (!is_kept)
        generator_free(g);
}

static void generators_end(void)
{
    for (int effort = 0; effort < EFFORTS; effort++)
        while (idle.n[effort])
            generator_free(idle.at[effort][--idle.n[effort]]);
}

/* libstdc++'s memory for exceptions when there is no other, 72 KB: it is given back for tools that
 * look for leaks, and by us.  No exception is alive: LLVM throws none. */
extern void free_exceptions_reserve(void) __asm__("_ZN9__gnu_cxx9__freeresEv");

void llvm_end(void)
{
    if (!reserve_end())
        return; /* locks of LLVM's may be taken for ever */
    generators_end();
    linker_end();
    LLVMDisposeMessage(host.triple);
    LLVMDisposeMessage(host.own_cpu);
    LLVMDisposeMessage(host.own_features);
    LLVMShutdown();
    free_exceptions_reserve();
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

static void dispose(Emit *e)
{
    if (!e->context)
        return;
    bounds_end(e);
    LLVMDisposeBuilder(e->builder);
    LLVMDisposeModule(e->llvm);
    if (e->owns_generator)
        generator_free(e->generator);
    else
        generator_give_back(e->generator, EFFORT_FULL);
    LLVMContextDispose(e->context);
    *e = (Emit){ 0 };
}

/* The guard is left: by our own code, and everything is in order, or in the middle of LLVM. */
static void emit_drop(void *user)
{
    if (!reserve_lost())
        dispose(user);
}

void emit_end(Emit *e)
{
    guard_forget(emit_drop, e);
    dispose(e);
}

Error *emit_begin(Emit *e, Arena *arena, const char *name, const CodeTarget *target)
{
    TRY(llvm_ready());
    const CodeTarget *t = target ? target : &host.target;
    *e = (Emit){ .arena = arena, .vector_bytes = t->vector_bytes, .owns_generator = target };
    guard_defer(emit_drop, e);
    e->context = LLVMContextCreate();
    LLVMContextSetDiagnosticHandler(e->context, diagnose, NULL);
    e->llvm = LLVMModuleCreateWithNameInContext(name, e->context);
    e->builder = LLVMCreateBuilderInContext(e->context);
    e->generator = target ? generator_make(target, EFFORT_FULL) : generator_take(EFFORT_FULL);
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(generator_machine(e->generator));
    LLVMSetModuleDataLayout(e->llvm, layout);
    LLVMDisposeTargetData(layout);
    LLVMSetTarget(e->llvm, t->triple);
    bounds_begin(e);
    return NULL;
}

/* ---- what LLVM is told of functions ---- */

static void mark(Emit *e, LLVMValueRef f, const char *name)
{
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    LLVMAddAttributeAtIndex(f, LLVMAttributeFunctionIndex,
                            LLVMCreateEnumAttribute(e->context, kind, 0));
}

static bool is_inlined(LLVMValueRef f)
{
    unsigned kind = LLVMGetEnumAttributeKindForName("alwaysinline", 12);
    return LLVMGetEnumAttributeAtIndex(f, LLVMAttributeFunctionIndex, kind);
}

/* No unwinding (so no tables for it), and full-width vectors where the machine has them.  *are_plain: all
 * of them only call. */
static void mark_functions(Emit *e, bool *are_plain)
{
    static const char prefer[] = "prefer-vector-width", width[] = "512";
    LLVMAttributeRef wide =
        LLVMCreateStringAttribute(e->context, prefer, sizeof prefer - 1, width, sizeof width - 1);
    *are_plain = e->hurries;
    for (LLVMValueRef f = LLVMGetFirstFunction(e->llvm); f; f = LLVMGetNextFunction(f)) {
        if (LLVMIsDeclaration(f))
            continue;
        mark(e, f, "nounwind");
        if (e->vector_bytes == 64)
            LLVMAddAttributeAtIndex(f, LLVMAttributeFunctionIndex, wide);
        if (e->hurries && !is_inlined(f) && only_calls(f)) {
            mark(e, f, "optnone");
            mark(e, f, "noinline");
        } else
            *are_plain = false;
    }
}

Error *from_llvm(LLVMErrorRef error, const char *what)
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

/* ---- bytes ---- */

static Error *optimise(Emit *e)
{
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    const char *names = e->has_steps ? passes_with_steps : passes;
    LLVMErrorRef error = LLVMRunPasses(e->llvm, names, generator_machine(e->generator), options);
    LLVMDisposePassBuilderOptions(options);
    return from_llvm(error, "optimising");
}

static Error *generate(Emit *e, Generator *g, char **bytes, size_t *n)
{
    const char *made;
    if (!generator_run(g, e->llvm, &made, n))
        return error_new(CODE_INTERNAL, "LLVM makes no objects for %s", LLVMGetTarget(e->llvm));
    *bytes = heap_try(*n);
    if (*bytes)
        memcpy(*bytes, made, *n);
    return *bytes ? NULL : error_new(CODE_EXHAUSTED, "no memory for %zu bytes of code", *n);
}

static Error *make_object(Emit *e, bool are_plain, char **bytes, size_t *n)
{
    if (!are_plain) {
        TRY(optimise(e));
        return generate(e, e->generator, bytes, n);
    }
    Generator *least = generator_take(EFFORT_LEAST);
    Error *error = generate(e, least, bytes, n);
    generator_give_back(least, EFFORT_LEAST);
    return error;
}

bool has_code(const Emit *e)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(e->llvm); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f))
            return true;
    return false;
}

Error *emit_object(Emit *e, char **bytes, size_t *n)
{
    reserve_check();
    TRY(bounds_write(e));
    bool are_plain;
    mark_functions(e, &are_plain);
    if (getenv("TUTTI_DUMP_LLVM"))
        LLVMDumpModule(e->llvm);
    TRY(verify(e));
    TRY(make_object(e, are_plain, bytes, n));
    reserve_check();
    return NULL;
}
