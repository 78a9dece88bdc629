/* compiled_fn.h - a function compiled for one signature, and how it is run. */
#ifndef TUTTI_FRONT_RUN_COMPILED_FN_H
#define TUTTI_FRONT_RUN_COMPILED_FN_H
#include "front/lower/lower.h"
#include "front/value/memory.h"

/* Never changed once it is made, but for the first lines. */
typedef struct CompiledFn {
    _Atomic int holders;
    struct CompiledFn *next, *newer, *older; /* in its bucket, and in order of use */
    uint64_t hash;                           /* of the key */
    size_t key_size;
    void *key; /* function, configuration; types, weakness and layouts of the leaves */
    Executable *code;
    int ndevices, nleaves, nargs, nresults;
    int nslots;                  /* arrays that the results' type has */
    bool *absent;                /* [nslots]: which are not there, or NULL: all are */
    bool is_awaited;             /* a call returns when its run has ended */
    const ArrayLayout **args;    /* [nargs]: how each must lie */
    Array **captured;            /* [nargs - nleaves], laid out so; held */
    const ArrayLayout **results; /* [nresults] */
    Type *types;
    bool *is_weak;
    bool *donated; /* [nleaves], or NULL: none */
} CompiledFn;

/* Traces, transforms, lowers, compiles.  With a hold for the caller; NULL: reported. */
CompiledFn *compiled_fn_make(tt_fn f, const Leaves *leaves, const ArrayLayout *const *layouts);
CompiledFn *compiled_fn_hold(CompiledFn *p);
void compiled_fn_release(CompiledFn *p); /* the last frees it */
/* Runs it on concrete leaves, which the caller has pinned.  False: reported. */
bool compiled_fn_call(const CompiledFn *p, const char *label, Array *const *leaves,
                      Scratch *scratch, tt *results);
/* The text that would be compiled.  Empty: reported. */
/* is_closed: what it captured is in the text, as constants. */
Text compiled_fn_text(tt_fn f, const Leaves *leaves, const ArrayLayout *const *layouts,
                      bool is_closed);

/* ---- the programs there are, found by function and signature; the last used are kept ---- */

/* Everything that tells a call's program from others, as bytes. */
typedef struct Signature {
    const void *at;
    size_t n;
    uint64_t hash;
} Signature;

/* With a hold for the caller (compiled_fn_release); NULL: there is none. */
CompiledFn *compiled_fn_find(const Signature *signature);
/* There is none with this signature, which is copied; the caller keeps its hold. False: no memory.
 */
bool compiled_fn_add(CompiledFn *p, const Signature *signature);

/* For tests: how many are kept; and none are from here on. */
extern int compiled_fn_most;
void compiled_fn_drop(void);
#endif
