/* compile.h - from the bytes of a program to a Program: the engine's front door. */
#ifndef TUTTI_ENGINE_COMPILE_H
#define TUTTI_ENGINE_COMPILE_H
#include "engine/program.h"

typedef struct CompileOptions {
    const char *name;       /* for messages: a file's name, or "program" */
    bool evaluate;          /* play the whole of it by the reference evaluator */
    bool no_fold;           /* operations on constants are compiled like any other */
    /* By number of argument or result; NULL: all false.  May the engine choose the sharding
     * where the program leaves it open?  (CompileOptionsProto 3.18 and 3.12.) */
    const bool *free_args, *free_results;
    int nfree_args, nfree_results;
} CompileOptions;

MUST_USE Error *compile(const char *bytes, size_t n, const CompileOptions *o, Program **out);

/* The same for a module that was read from `began` on (clock_ms), which it takes; to be called on a
 * deep stack (thread_run_deep). */
MUST_USE Error *compile_module(Module *m, double began, const CompileOptions *o, Program **out);
/* The passes alone, up to this one, on a module that stays the caller's; the same stack. */
MUST_USE Error *compile_until(Module *m, const CompileOptions *o, const char *pass);
double clock_ms(void);

/* The names of the passes that change the module, in order, NULL at the end. */
extern const char *const pass_names[];
#endif
