/* program.h - a function compiled for one signature, and how it is played. */
#ifndef TUTTI_PROGRAM_H
#define TUTTI_PROGRAM_H
#include "front/lower.h"

/* Made once, never freed: the function it hangs on lives for ever too. */
typedef struct Program {
    struct Program *next;
    uint64_t hash; /* of the key */
    size_t key_size;
    const void *key; /* signature: types, weakness and layouts of the leaves */
    Executable *code;
    int ndevices, nleaves, nargs, nresults;
    const Layout **args;    /* [nargs]: how each must lie */
    Array **captured;       /* [nargs - nleaves], laid out so; held */
    const Layout **results; /* [nresults] */
    Type *types;
    bool *is_weak;
    bool *donated; /* [nleaves], or NULL: none */
} Program;

/* Traces, transforms, lowers, compiles.  NULL: said. */
Program *program_make(tt_fn f, const Leaves *leaves, const Layout *const *layouts);
/* Plays it on concrete leaves, which the caller has pinned.  False: said. */
bool program_run(const Program *p, const char *label, Array *const *leaves, tt *results);
/* The text that would be compiled.  Empty: said. */
Text program_text(tt_fn f, const Leaves *leaves, const Layout *const *layouts);
#endif
