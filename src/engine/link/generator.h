/* generator.h - LLVM's code generator, made once for many modules. */
#ifndef TUTTI_ENGINE_LINK_GENERATOR_H
#define TUTTI_ENGINE_LINK_GENERATOR_H
#include <llvm-c/TargetMachine.h>

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A machine, and the passes that make an object file for it; for one thread at a time. */
typedef struct Generator Generator;

/* It owns the machine. */
Generator *generator_new(LLVMTargetMachineRef machine);
LLVMTargetMachineRef generator_machine(const Generator *g);
/* Changes the module.  The bytes are there until the next module comes.  False: there are no objects
 * for that machine. */
bool generator_run(Generator *g, LLVMModuleRef module, const char **bytes, size_t *n);
/* It has made so much that it is better made anew. */
bool generator_is_worn(const Generator *g);
void generator_free(Generator *g);

#ifdef __cplusplus
}
#endif
#endif
