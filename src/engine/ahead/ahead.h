/* ahead.h - a Program as the data of an object file.
 *
 *   image.c          constant data with pointers in it
 *   program_data.c   a Program and what it points to: parameters, collectives, groups, evaluations
 *   module_part.c    the nodes of a module that its evaluations compute, as a module of their own
 *   module_data.c    a module as data: nodes, types, attributes
 *   header.c         the C header that a program is called by
 *
 * link/emit.c makes the code as for a program that is loaded at once, into one module of LLVM's; the data
 * goes into the same module, so that its pointers to segments and combiners are those functions
 * themselves.  Of the object's symbols only the program's own can be seen from outside. */
#ifndef TUTTI_ENGINE_AHEAD_AHEAD_H
#define TUTTI_ENGINE_AHEAD_AHEAD_H
#include "engine/ahead/image.h"
#include "engine/program.h"

/* Functions of the object whose addresses the program's tables hold: *at[i] is that of names[i]. */
typedef struct FunctionLinks {
    int n;
    const char *const *names;
    void ***at;
} FunctionLinks;

/* ---- program_data.c ---- */

/* `program` and its bodies as a constant of the module that holds their code. */
LLVMValueRef program_data(Emit *e, Arena *arena, const Program *program,
                          const FunctionLinks *links);
/* The same of the file that has some of its nargs arguments. */
LLVMValueRef weights_data(Emit *e, Arena *arena, int nargs, const LinkedWeights *weights);
/* The object's own symbol, NAME_program, by which the runtime finds the program: a LinkedProgram. */
typedef struct Published {
    const char *name, *otherwise; /* NULL: nothing is played on a machine that has less */
    int64_t level;
    LLVMValueRef program, weights; /* weights NULL: there are none */
} Published;
void program_publish(Emit *e, const Published *own);

/* ---- module_part.c: some nodes of a module, as a module ---- */

typedef struct ModulePart {
    const Module *from;
    Module *to;
    ValueId *values; /* by value of `from`: that of `to`; 0: none yet */
} ModulePart;

void module_part_begin(ModulePart *p, const Module *m);
NodeId module_part_add(ModulePart *p, NodeId n); /* its number in p->to */
void module_part_end(ModulePart *p);             /* frees both */

/* ---- module_data.c: what a module is made of, as data ---- */

/* For structs that have been added at `at`: what they point to is added too. */
void string_data(Image *i, int64_t at, Str s);
void type_data(Image *i, int64_t at, const Type *t);
void tiling_data(Image *i, int64_t at, const Tiling *t);
int64_t types_data(Image *i, int n, const Type *types); /* a list of them */
int64_t tilings_data(Image *i, int n, const Tiling *tilings);
int64_t attrs_data(Image *i, AttrsKind kind, const void *attrs);
int64_t module_data(Image *i, const Module *m);

/* ---- header.c ---- */

typedef struct Header {
    const char *name; /* a word of C, after which everything is called */
    const Program *program;
    const char *const *args, *const *results; /* words for them; NULL: arg0, result0 ... */
    const LinkedWeights *weights;             /* NULL: none */
} Header;
void header_write(Text *out, const Header *h);
#endif
