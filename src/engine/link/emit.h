/* emit.h - the state of one compilation to LLVM, and what its files offer one another.
 *
 *   emit.c     Plan -> Program: stretches, meetings, places           (uses kernel, glue, jit)
 *   glue.c     a stretch as an LLVM function: calls of kernels, loops and branches of the program
 *   kernel.c   a tutti.fusion as an LLVM function over memory
 *   jit.c      LLVM module -> object bytes
 *   link.c     object bytes -> callable functions
 *
 * Code holds no host address: it reaches memory and functions through its Frame. */
#ifndef TUTTI_ENGINE_LINK_EMIT_H
#define TUTTI_ENGINE_LINK_EMIT_H
#include "engine/program.h"
#include "hlo/module.h"

#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>

typedef struct Emit {
    LLVMContextRef context;
    LLVMModuleRef llvm;
    LLVMBuilderRef builder;
    LLVMTargetMachineRef machine;
    int vector_bytes; /* 64 with AVX-512, 32 with AVX2, 16 below */
    Arena *arena;     /* of the compilation */
    struct Bounds *bounds; /* of arrays, if code is to check them (bounds.h); else NULL */
} Emit;

/* kernel.c and its family.
 *
 * A tutti.fusion node has one region whose arguments are the node's operands and whose RETURN
 * gives the node's results.  Its nodes are MAP and VIEW operations, with at most one operation
 * of another kind, which then is the root:
 *   - roots MAP or VIEW: one loop over the (common) shape of all results;
 *   - root REDUCE: results of the reduce, its operands computed on the fly;
 *   - root DOT, DYNAMIC_UPDATE or SCATTER: operands are region arguments, except
 *     DYNAMIC_UPDATE's update and indices, which may be computed on the fly.
 *
 * The function made is  void name(ptr frame, ptr in0, ..., ptr out0, ...)  with internal linkage;
 * arrays are row-major and dense, of the types that the node states, 64-byte aligned or not
 * (arguments may be foreign memory: aligned to their element only).  An output may be the same
 * memory as an operand for which kernel_reads_in_place says so. */
MUST_USE Error *kernel_emit(Emit *e, const Module *m, NodeId fusion, const char *name,
                            LLVMValueRef *out);

/* Tells bounds.h of the arrays that such a function takes. */
void kernel_bounds(Emit *e, const Module *m, NodeId fusion, const char *name,
                   LLVMValueRef function);

/* Operand i is read only at the very index that is written next (or it is what a
 * DYNAMIC_UPDATE or SCATTER updates), so the result `result` may take its memory. */
bool kernel_reads_in_place(const Module *m, NodeId fusion, int operand, int result);

/* An operation that kernel_emit can take as (part of) a fusion. */
bool kernel_can_emit(const Module *m, NodeId n);

/* Does the kernel call what may find no memory?  Then it may set the frame's error, and is not to
 * be followed by anything that reads its results. */
bool kernel_may_fail(const Module *m, NodeId fusion);

/* Is this convolution a matrix product, once its input is padded and its kernel turned? */
bool convolution_multiplies(const Module *m, const Node *node);

/* A rough estimate of the time of one call, in nanoseconds, from shapes alone. */
int64_t kernel_cost(const Module *m, NodeId fusion);

/* A CombineFn; external linkage, so that it can be looked up. */
MUST_USE Error *combine_emit(Emit *e, const Module *m, RegionId reducer, const char *name,
                             LLVMValueRef *out);

/* reserve.c: LLVM without memory. */
MUST_USE Error *reserve_fill(void); /* before LLVM is given work */
void reserve_check(void);           /* between pieces of work: leaves the guard if it was needed */
bool reserve_lost(void);            /* LLVM was left in the middle, on this thread */
bool reserve_end(void);             /* false: LLVM was left in the middle, by some thread */

/* jit.c */
MUST_USE Error *llvm_ready(void); /* its reserve, and what it knows of the host */
void llvm_end(void);              /* for good; nobody is compiling, and no code will be called */
void linker_end(void);            /* part of it */
MUST_USE Error *emit_begin(Emit *e, Arena *arena, const char *name); /* context, machine, module */
void emit_end(Emit *e);                                              /* frees them */
MUST_USE Error *emit_object(Emit *e, char **bytes, size_t *n); /* optimise, generate; heap_free */
struct LLVMOpaqueError;
MUST_USE Error *from_llvm(struct LLVMOpaqueError *error, const char *what); /* NULL: NULL */

/* link.c.  An object file's bytes become functions; the code lives until code_free. */
typedef struct Code Code;
MUST_USE Error *code_load(const char *object, size_t n, Code **out);
MUST_USE Error *code_add(Code *code, const char *object, size_t n); /* objects see one another */
MUST_USE Error *code_find(Code *code, const char *name, void **address);
/* Several names at once, which is faster; *at[i] becomes the address of names[i]. */
MUST_USE Error *code_find_all(Code *code, int n, const char *const *names, void ***at);
void code_free(Code *code); /* NULL is fine */
#endif
