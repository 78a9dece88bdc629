/* linker.c - object bytes in, callable functions out.
 *
 *   code_new --> bytes --> code_add --> code_find "s0", "s1" ... --> code_free
 *
 * Linking is short and goes one at a time.  Code is loaded into a dylib of its own whose only
 * outside symbols are the library calls that LLVM makes up by itself (memcpy, fmod, ...), so
 * an object never depends on what else is in the process. */
#define _GNU_SOURCE
#include "engine/link/link.h"

#include "base/guard.h"
#include "engine/codegen/codegen.h"

#include <llvm-c/Error.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/Orc.h>

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

struct Code {
    int linker;               /* its number */
    LLVMOrcJITDylibRef dylib; /* NULL: there is no object in it */
    void *mapped;             /* code of no object; NULL: none */
    size_t mapped_bytes;
    Code *next; /* in the list of those that wait to be used again */
};

/* One linker for the process.  A dylib cannot be taken out of it, so emptied ones are kept: as many
 * as there were programs at once.  The names in it are counted through in each program, so those of
 * the largest are all that it comes to know.  When LLVM runs out of memory in the middle of it, it
 * is given up and a new one begun: what was loaded by the old one goes on, and stays for ever. */
static struct {
    pthread_mutex_t lock;
    LLVMOrcLLJITRef jit;
    Code *idle;
    int ncodes; /* made so far, for their names */
    int number; /* how many were given up before it */
} linker = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* Calls that the code generator may make up on its own, and the one of bounds.c. */
static const struct {
    const char *name;
    void *at;
} libcalls[] = {
#define CALL(f) { #f, (void *)f }
    CALL(memcpy),     CALL(memmove),    CALL(memset),
    CALL(fmod),       CALL(fmodf),      CALL(exp),
    CALL(expf),       CALL(exp2),       CALL(exp2f),
    CALL(log),        CALL(logf),       CALL(log2),
    CALL(log2f),      CALL(log10),      CALL(log10f),
    CALL(pow),        CALL(powf),       CALL(sin),
    CALL(sinf),       CALL(cos),        CALL(cosf),
    CALL(tan),        CALL(tanf),       CALL(tanh),
    CALL(tanhf),      CALL(floor),      CALL(floorf),
    CALL(ceil),       CALL(ceilf),      CALL(rint),
    CALL(rintf),      CALL(round),      CALL(roundf),
    CALL(trunc),      CALL(truncf),     CALL(fma),
    CALL(fmaf),       CALL(sqrt),       CALL(sqrtf),
    CALL(fmin),       CALL(fminf),      CALL(fmax),
    CALL(fmaxf),      CALL(ldexp),      CALL(ldexpf),
    CALL(roundeven),  CALL(roundevenf), CALL(nearbyint),
    CALL(nearbyintf), CALL(atan2),      CALL(atan2f),
    CALL(cbrt),       CALL(cbrtf),      CALL(tutti_out_of_bounds),
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

/* ---- under the lock ---- */

/* What is to be done by the linker. */
typedef struct Linking {
    Code *code;
    const char *object; /* to be added */
    size_t n;
    int nnames; /* to be found */
    const char *const *names;
    void ***at;
    Error *error;
} Linking;

static void forget_idle(void)
{
    for (Code *code; (code = linker.idle);) {
        linker.idle = code->next;
        heap_free(code);
    }
}

static void give_up(void)
{
    forget_idle();
    linker.jit = NULL;
    linker.number++;
}

/* The guard is within the lock: wherever `f` is left, the lock is given back. */
static Error *linker_run(GuardFn *f, Linking *l)
{
    pthread_mutex_lock(&linker.lock);
    bool is_old = l->code->dylib && l->code->linker != linker.number;
    Error *left = is_old ? NULL : guard_run("linking code", f, l);
    if (left)
        give_up();
    pthread_mutex_unlock(&linker.lock);
    if (is_old)
        return error_new(CODE_EXHAUSTED, "linking code: another thread ran out of memory in it");
    return left ? left : l->error;
}

static Error *dylib_take(Code *code)
{
    if (!linker.jit)
        TRY(from_llvm(LLVMOrcCreateLLJIT(&linker.jit, NULL), "starting the linker"));
    code->linker = linker.number;
    Code *idle = linker.idle;
    if (idle) {
        code->dylib = idle->dylib;
        linker.idle = idle->next;
        heap_free(idle);
    } else {
        char name[32];
        snprintf(name, sizeof name, "code%d", linker.ncodes++);
        code->dylib = LLVMOrcExecutionSessionCreateBareJITDylib(
            LLVMOrcLLJITGetExecutionSession(linker.jit), name);
    }
    return dylib_fill(code->dylib);
}

static void load(void *user)
{
    Linking *l = user;
    l->error = l->code->dylib ? NULL : dylib_take(l->code);
    if (l->error)
        return;
    LLVMMemoryBufferRef bytes = LLVMCreateMemoryBufferWithMemoryRangeCopy(l->object, l->n, "code");
    l->error =
        from_llvm(LLVMOrcLLJITAddObjectFile(linker.jit, l->code->dylib, bytes), "linking code");
}

/* It waits in the list, emptied, for the next one to come. */
static void unload(void *user)
{
    Linking *l = user;
    error_free(from_llvm(LLVMOrcJITDylibClear(l->code->dylib), "unloading code"));
    l->code->next = linker.idle;
    linker.idle = l->code;
    l->code = NULL;
}

/* ---- for others ---- */

static void code_drop(void *user)
{
    code_free(user);
}

/* A code is not the guard's: it may come to wait in the linker's list. */
Code *code_new(void)
{
    Code *code = heap_new(sizeof *code, "a piece of code");
    guard_defer(code_drop, code);
    heap_note(code, NULL);
    return code;
}

Error *code_add(Code *code, const char *object, size_t n)
{
    TRY(llvm_ready());
    Linking l = { .code = code, .object = object, .n = n };
    return linker_run(load, &l);
}

Error *code_map(Code *code, size_t bytes, unsigned char **at)
{
    void *mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED)
        return error_new(CODE_EXHAUSTED, "no memory for %zu bytes of code", bytes);
    code->mapped = *at = mapped;
    code->mapped_bytes = bytes;
    return NULL;
}

Error *code_seal(Code *code)
{
    if (code->mapped && mprotect(code->mapped, code->mapped_bytes, PROT_READ | PROT_EXEC))
        return error_new(CODE_EXHAUSTED, "code may not be run: %s", strerror(errno));
    return NULL;
}

void code_free(Code *code)
{
    if (!code)
        return;
    guard_forget(code_drop, code);
    Linking l = { .code = code };
    if (code->mapped)
        munmap(code->mapped, code->mapped_bytes);
    code->mapped = NULL;
    if (code->dylib)
        error_free(linker_run(unload, &l));
    heap_free(l.code);
}

void linker_end(void)
{
    forget_idle();
    if (linker.jit)
        error_free(from_llvm(LLVMOrcDisposeLLJIT(linker.jit), "ending the linker"));
    linker.jit = NULL;
}

/* ---- finding functions ---- */

enum { AT_ONCE = 64 };

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
static void find_few(void *user)
{
    Linking *l = user;
    l->error = l->code->dylib ? NULL : dylib_take(l->code);
    if (l->error)
        return;
    LLVMOrcCLookupSetElement symbols[AT_ONCE], asked[AT_ONCE];
    size_t nasked = 0;
    for (int i = 0; i < l->nnames; i++) {
        *l->at[i] = NULL;
        symbols[i].Name = LLVMOrcLLJITMangleAndIntern(linker.jit, l->names[i]);
        symbols[i].LookupFlags = LLVMOrcSymbolLookupFlagsRequiredSymbol;
        if (is_among(asked, nasked, symbols[i].Name))
            LLVMOrcReleaseSymbolStringPoolEntry(symbols[i].Name);
        else
            asked[nasked++] = symbols[i];
    }
    LLVMOrcCJITDylibSearchOrderElement where = { l->code->dylib,
                                                 LLVMOrcJITDylibLookupFlagsMatchAllSymbols };
    Search s = { .n = l->nnames, .symbols = symbols, .at = l->at };
    LLVMOrcExecutionSessionLookup(LLVMOrcLLJITGetExecutionSession(linker.jit),
                                  LLVMOrcLookupKindStatic, &where, 1, asked, nasked, found, &s);
    l->error = from_llvm(s.error, "linking code");
    for (int i = 0; i < l->nnames && !l->error; i++)
        if (!*l->at[i])
            l->error = error_new(CODE_INTERNAL, "linking code: no function %s", l->names[i]);
}

Error *code_find_all(Code *code, int n, const char *const *names, void ***at)
{
    for (int i = 0; i < n; i += AT_ONCE) {
        int few = n - i < AT_ONCE ? n - i : AT_ONCE;
        Linking l = { .code = code, .nnames = few, .names = names + i, .at = at + i };
        TRY(linker_run(find_few, &l));
    }
    reserve_check();
    return NULL;
}

Error *code_find(Code *code, const char *name, void **address)
{
    return code_find_all(code, 1, &name, &address);
}
