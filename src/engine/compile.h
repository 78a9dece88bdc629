/* compile.h - from the bytes of a program to a Program: the engine's front door.
 *
 *     Source s = { .bytes = bytes, .options = { .name = "train.mlir" } };
 *     error = compile_program(&s, &program);
 *
 * Everything that compiles comes in here: the plugin (plugin/cache.c, which first looks whether it
 * has the program already), unit tests, random programs, fuzzers. */
#ifndef TUTTI_ENGINE_COMPILE_H
#define TUTTI_ENGINE_COMPILE_H
#include "base/sync.h"
#include "engine/program.h"

typedef struct CompileOptions {
    const char *name; /* for messages: a file's name; NULL: "program" */
    bool evaluate;    /* the reference evaluator runs the whole of it */
    bool no_fold;     /* operations on constants are compiled like any other */
    /* By number of argument or result; NULL: all false.  May the engine choose the sharding
     * where the program leaves it open?  (CompileOptionsProto 3.18 and 3.12.) */
    const bool *free_args, *free_results;
    int nfree_args, nfree_results;
} CompileOptions;

/* A program to be compiled.  The caller owns all of it, the module while it is there. */
typedef struct Source {
    Str bytes;
    CompileOptions options;
    Module *module; /* NULL: not read yet, or the Program's by now */
    double read_ms; /* what reading took */
} Source;

/* Runs f as a compiler must run: on a deep stack, for readers and LLVM recurse as deeply as the
 * program nests and callers' stacks are small (JAX compiles on threads of 2 MiB); under a guard; and
 * in the floating-point state in which C begins, for folding must not depend on the caller's. */
MUST_USE Error *compiler_run(const char *doing, ThreadFn *f, void *user);

/* Reads the source, unless its module is there, and hands the module on to the Program, also if that
 * fails.  Calls compiler_run itself. */
MUST_USE Error *compile_program(Source *s, Program **out);

/* How a program becomes an object file. */
typedef struct ObjectOptions {
    const char *name;      /* a word of C, after which its symbols are called */
    const char *otherwise; /* that of a program for a machine that has less, or NULL */
    const char *cpu;       /* what code is made for (link/object.c); NULL: this machine */
    const char *const *args, *const *results; /* words of C for them; NULL: arg0, result0 ... */
    LinkedWeights weights;                    /* without names: there are none */
} ObjectOptions;

/* The bytes of the file, and the C header to call it by: both are the heap's. */
typedef struct ObjectFile {
    ObjectOptions options;
    char *bytes;
    size_t n;
    Text header;
} ObjectFile;
MUST_USE Error *compile_object(Source *s, ObjectFile *out);
/* The symbol that such objects want of libtutti_rt (ahead/program_data.c). */
extern const char rt_abi[];
extern const char llvm_version[]; /* empty: there is no compiler */

/* Runs `steps` as a compiler does, to make `out` of the source; the module is then the steps', which keep or free it,
 * and it is freed if they fail. */
typedef Error *SourceSteps(Source *s, void *out);
MUST_USE Error *source_compile(Source *s, SourceSteps *steps, void *out);

/* The first steps of it, to be called under compiler_run; the module stays in the source: reading
 * (if it is not there yet), and the passes up to one. */
MUST_USE Error *source_read(Source *s);
MUST_USE Error *compile_until(Source *s, const char *pass);
/* The same until operations become kernels, with reductions joined: what people are shown. */
MUST_USE Error *compile_to_show(Source *s);

/* The names of the passes that change the module, in order, NULL at the end. */
extern const char *const pass_names[];
#endif
