/* link.h - from kernels to objects to a Program.
 *
 *   emit.c              Layout -> Program: segments, collectives, addresses
 *   evaluation.c        a Program without code, for the evaluator; the end of a Program
 *   glue.c              a segment as an LLVM function: calls of kernels, loops and branches
 *   marks.c             what code says that it does, for profiles
 *   locals.c            which values such a function keeps in variables of its own
 *   shared_results.c    results that all devices may share
 *   parallel_compile.c  kernels compiled side by side
 *   object.c            LLVM module -> object bytes
 *   generator.cpp       LLVM's code generator, which is kept
 *   only_calls.c        which functions only call others
 *   plain_code.c        their code, without LLVM
 *   linker.c            object bytes -> callable functions
 *   llvm_memory.c       LLVM without memory
 *
 * A compilation is one thread's (compile.c), under a guard; parallel_compile starts others for its
 * kernels and joins them before it returns.  Each has an LLVM context of its own.  What is kept from
 * one compilation to the next (the host's description, the linker, the reserve) is behind locks.  A
 * Program that has been made is immutable. */
#ifndef TUTTI_ENGINE_LINK_LINK_H
#define TUTTI_ENGINE_LINK_LINK_H
#include "base/table.h"
#include "engine/analysis/analysis.h"
#include "engine/cpu_level.h"
#include "engine/kernels/kernels.h"
#include "engine/kernels/query.h"
#include "engine/stages.h"

#include <llvm-c/TargetMachine.h>

typedef struct Object {
    char *bytes;
    size_t n;
} Object;

/* ---- emit.c: a program ---- */

/* Native code in a Program that keeps the module, which is the layout's. */
MUST_USE Error *link_program(const Layout *l, Module *m, Program **out);
/* The same as an object file, which holds the code and the Program as data; *out is the heap's. */
MUST_USE Error *link_object(const Layout *l, Module *m, const ObjectOptions *options, Text *header,
                            Object *out);

/* ---- evaluation.c: a Program that the reference evaluator runs whole, on one device ---- */

MUST_USE Error *link_evaluation(const Params *params, Module *m, Program **out);

/* ---- object.c: one LLVM module at a time, on one thread ---- */

/* What code is made for. */
typedef struct CodeTarget {
    LLVMTargetRef llvm;
    const char *triple, *cpu, *features;
    int vector_bytes;
    MachineLevel level; /* what a machine must have that runs it */
} CodeTarget;
/* By its name: x86-64-v4, -v3, -v2, aarch64; NULL: this machine. */
MUST_USE Error *target_find(const char *name, CodeTarget *out);
MUST_USE Error *llvm_ready(void); /* its reserve, and what it knows of the host */
void llvm_end(void);              /* for good: no thread compiles, and no code will be called */
/* Context, machine, module; target NULL: this machine. */
MUST_USE Error *emit_begin(Emit *e, Arena *arena, const char *name, const CodeTarget *target);
void emit_end(Emit *e);                                        /* frees them */
MUST_USE Error *emit_object(Emit *e, char **bytes, size_t *n); /* optimise, generate; heap_free */
bool has_code(const Emit *e);                                  /* a function is defined */

/* ---- linker.c: an object file's bytes become functions; the code lives until code_free ---- */

typedef struct Code Code;
Code *code_new(void);                                               /* empty */
MUST_USE Error *code_add(Code *code, const char *object, size_t n); /* objects see one another */
/* Room for code of no object: it may be written until code_seal.  At most once for each. */
MUST_USE Error *code_map(Code *code, size_t bytes, unsigned char **at);
MUST_USE Error *code_seal(Code *code);
MUST_USE Error *code_find(Code *code, const char *name, void **address);
/* Several names at once, which is faster; *at[i] becomes the address of names[i]. */
MUST_USE Error *code_find_all(Code *code, int n, const char *const *names, void ***at);
void code_free(Code *code); /* NULL is fine */
void linker_end(void);      /* a part of llvm_end */
struct LLVMOpaqueError;
MUST_USE Error *from_llvm(struct LLVMOpaqueError *error, const char *what); /* NULL: NULL */

/* ---- llvm_memory.c: LLVM without memory would end the process; a reserve is spent first ---- */

MUST_USE Error *reserve_fill(void); /* before LLVM is given work */
void reserve_check(void);           /* between two modules: leaves the guard if it was needed */
bool reserve_lost(void);            /* LLVM was left in the middle, on this thread */
bool reserve_retry(void);           /* malloc had no memory: LLVM may ask again */
bool reserve_end(void);             /* false: LLVM was left in the middle, by some thread */

/* ---- glue.c: segments ---- */

/* What the nodes of one layout became; by NodeId. */
typedef struct GlueTables {
    LLVMValueRef *kernels;  /* of a tutti.fusion; NULL: nobody reads its results */
    bool *is_copied;        /* the kernel's code is copied to where it is called */
    int *evaluations;       /* number, for nodes that Runtime.evaluate executes */
    int *collectives;       /* number */
    int *marks;             /* number of its mark, counted from 1; 0: it has none */
    LLVMValueRef *segments; /* by their numbers: declared before the first is made */
    bool nans;              /* results are looked through for NaNs */
    Table owners;           /* of small values (locals.c) */
    int functions;          /* made of the layout so far: segments, and chunks of long ones */
    bool may_pause;         /* loops of unknown length can be left, and entered again */
    bool has_endless;       /* there is one that cannot */
    int npauses;            /* loops that can, so far: their numbers */
} GlueTables;

/* A function  i32 name(ptr frame), to become a segment. */
LLVMValueRef glue_declare(Emit *e, const char *name);
/* Segment `number` of the layout becomes t->segments[number]. */
void glue_segment(Emit *e, const Layout *l, GlueTables *t, int number);
/* A list of more than GLUE_LONG nodes becomes functions of GLUE_CHUNK nodes each. */
enum { GLUE_LONG = 96, GLUE_CHUNK = 64 };

/* ---- marks.c: names for what profiles show ---- */

/* One more mark of the program, for node n; *room as arena_room has it. */
void mark_add(Arena *arena, const Module *m, NodeId n, Program *program, int *room);
/* Does code in this region, or in those of its loops and branches, have marks? */
bool region_has_marks(const GlueTables *t, const Module *m, RegionId r);

/* ---- locals.c: values in variables of functions, which are numbered as glue.c makes them ---- */

void locals_find(const Layout *l, GlueTables *t);
/* Does that function alone read and write the values that lie there? */
bool is_local(const GlueTables *t, Address a, size_t bytes, int function);

/* ---- shared_results.c ---- */

/* When all collectives of a program are made: marks the results of the program that all
 * devices may share, and what comes of a collective that the first alone needs. */
void shares_find(const Layout *l, const GlueTables *t, const Program *program, Param *results);
void firsts_find(const Schedule *s, const GlueTables *t, const Program *program,
                 Collective *collectives, Arena *arena);

/* ---- parallel_compile.c -------------------------------------------------------------- */

/* Kernels are compiled side by side, on as many threads as there are cores: parallel_compile_add
 * lists them, _start begins, and after _wait their objects are there. */

typedef struct PendingKernel {
    NodeId node;
    const char *name; /* of its function; lives as long as the ParallelCompile */
    int64_t weight;   /* how long it takes to compile, in any unit */
    int batch;
} PendingKernel;

typedef struct Batch Batch;

/* Starts as { 0 } with the module. */
typedef struct ParallelCompile {
    const Module *m;
    int cores;        /* there are for it */
    bool hurries;     /* Emit.hurries */
    bool takes_plain; /* kernels that only call become plain code */
    int n, room;
    PendingKernel *kernels;
    int nbatches;
    Batch *batches;
    _Atomic int next; /* the first batch that no thread has begun */
    Object *objects;
    int nthreads;
    struct Thread *threads;
    struct Guard *guard; /* of the compilation; what the threads make goes there */
} ParallelCompile;

void parallel_compile_add(ParallelCompile *s, NodeId node, const char *name, int64_t weight);
/* From here to parallel_compile_wait the caller changes neither the module nor the ParallelCompile. */
void parallel_compile_start(ParallelCompile *s);
/* The ParallelCompile owns the objects. */
MUST_USE Error *parallel_compile_wait(ParallelCompile *s, const Object **objects, int *n);
/* What is in none of them: that of batch i. */
const struct PlainCode *parallel_compile_plain(const ParallelCompile *s, int i);
void parallel_compile_free(ParallelCompile *s);
#endif
