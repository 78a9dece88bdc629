/* fn.h - what a tt_fn is: a C function, a loaded program, or a transformation of another tt_fn.
 *
 * Functions are interned: the same transformation of the same function with the same options is
 * the same pointer.  They are never freed, since a tt_fn has no owner; there are as many as the
 * user's program writes down, and what grows with the shapes that they are called with, their
 * programs, is bounded (run/compiled_fn.c). */
#ifndef TUTTI_FRONT_TRANSFORM_FN_H
#define TUTTI_FRONT_TRANSFORM_FN_H
#include "front/value/memory.h"
#include "front/value/trace.h"

#include <pthread.h>
#include <stdatomic.h>

typedef enum FnKind {
    FN_C,       /* a C function of arrays, or on trees (enlisted) */
    FN_CLOSURE, /* a function with a pointer of its own: tt_fn_new; config: the tt_closure */
    FN_PUBLIC,  /* a public function called outside a trace: call_eager */
    FN_LOADED,  /* a program from a file */
    FN_JIT,
    FN_GRAD,
    FN_VALUE_AND_GRAD,
    FN_JVP,
    FN_VJP,
    FN_VMAP,
    FN_PMAP,
    FN_SHARD_MAP,
    FN_JACFWD,
    FN_JACREV,
    FN_LINEARIZE,
    FN_LINEAR, /* config: how many leaves each argument of inner has */
    FN_ASSOCIATIVE,
    FN_CUSTOM_JVP, /* other: the rule */
    FN_CUSTOM_VJP, /* other: forward; config: forward and backward */
    FN_SUM_ROWS,   /* config: which results are summed along axis 0 */
    FN_CHECKPOINT, /* has_aux: dots are kept; axis_name: and these names */
    FN_WHILE,      /* this and what follows: loops and branches, made of several functions */
    FN_FORI,
    FN_SCAN,
    FN_STEPS, /* a scan by number: of no rows */
    FN_COND,
    FN_SWITCH, /* config: the functions */
} FnKind;

/* What a public function does, in terms of traced values.  Fills out[] (a broken value where it
 * has reported a failure); looks at nothing but its arguments' types and its configuration. */
typedef void Body(const tt *in, tt *out, const void *config);

/* Everything that tells functions apart; compared as bytes, so strings and lists in it are
 * interned and what is not used is zero. */
typedef struct FnKey {
    tt_fn inner;            /* of transformations; the body of a loop, the branch taken */
    tt_fn other;            /* the condition of a loop, the other branch */
    int64_t trip_count;     /* FN_FORI */
    void (*function)(void); /* FN_C, FN_PUBLIC */
    const tt_fun *fun;      /* FN_C on trees */
    const void *config;     /* FN_C, FN_CLOSURE: interned bytes; FN_PUBLIC: its name */
    size_t config_size;
    const char *axis_name;
    const int *devices; /* interned */
    tt_mesh mesh;
    tt_spec out_spec;         /* names interned */
    const tt_spec *in_specs;  /* [TT_MAX_ARGS], interned; NULL: all empty */
    const tt_spec *out_specs; /* [TT_MAX_RESULTS], interned; NULL: out_spec is for all */
    const tt_axis_run *in_axis_runs, *out_axis_runs; /* interned; NULL: none */
    const tt_spec_run *in_spec_runs, *out_spec_runs;
    int32_t in_axes[TT_MAX_ARGS];
    int32_t out_axes[TT_MAX_RESULTS], out_axis;
    uint32_t kind, donate, wrt;
    int32_t has_aux, axis_size, ndevices;
    int32_t nin_runs, nout_runs;
    int32_t is_backward; /* FN_SCAN: the last row first */
    int32_t first;       /* FN_FORI: the number of its first iteration */
    int32_t arity;       /* FN_C: parameters, each an array, when fun is NULL; FN_PUBLIC: results */
    /* No bytes between fields. */
} FnKey;

struct tt_function {
    FnKey key;
    const char *how;   /* "pmap"; of C functions NULL */
    const char *name;  /* of the C function inside */
    const char *label; /* pmap(grad(loss)) */
    const char *file;  /* where it was first made */
    int line;
    int arity;  /* as in the key */
    int nested; /* transformations */
    const tt_fun *fun;
    struct Loaded *loaded;
    pthread_mutex_t building; /* one thread at a time compiles it */
};

/* The one function with this key.  Its label, file and line are those of the call that made it first. */
tt_fn fn_intern(const FnKey *key, const char *how, const char *name);

/* The types a function is traced for. */
typedef struct Leaves {
    int nargs;
    int counts[TT_MAX_ARGS]; /* leaves of each argument */
    int n;                   /* of all */
    Type *types;
    bool *is_weak;
    const AxisSet *varies; /* NULL: not in a shard_map */
    const void *config;    /* FN_PUBLIC: of this call */
    size_t config_size;
    const char *arg_types; /* "Net, tt", of a function that TT_FUN describes; else NULL */
    /* Where arguments have arrays that are not there, which are no leaves: how many arrays the type of each
     * has, and which of all those are absent.  (absent.c) */
    int slots[TT_MAX_ARGS];
    const bool *absent; /* NULL: none */
} Leaves;

/* Which of the arrays that the types have leaf i is, and result i. */
int leaf_slot(const Leaves *leaves, int i);
int result_slot(const Graph *g, int i);
int leaves_slots(const Leaves *leaves); /* how many there are */
int graph_slots(const Graph *g);
/* The leaves in their places, and marks for those that are not there; in the session's arena. */
const tt *leaves_spread(const Leaves *leaves, const tt *leaf);
/* Values in their places; absent ones are all zero. */
void slots_spread(int nslots, const bool *absent, const tt *x, tt *out);
/* What is absent of a new graph's results, group after group: n arrays (NULL: all are there); as of the results
 * of another; as of the arguments in wrt. */
void slots_append(Graph *out, int n, const bool *absent);
void slots_like(Graph *out, const Graph *inner);
void slots_append_wrt(Graph *out, const Leaves *leaves, uint32_t wrt);
bool slots_equal(const Graph *a, const Graph *b);
/* Is no argument of f absent?  False: reported. */
bool leaves_are_whole(tt_fn f, const Leaves *leaves);

/* The same, no leaf being a number from C any more; in the session's arena. */
Leaves leaves_canonical(const Leaves *leaves);

/* Which argument leaf i belongs to, and which of its leaves it is. */
int leaf_argument(const Leaves *leaves, int i, int *within);
/* "argument 1, leaf 0: f32[4,2]"; in a ring of buffers. */
const char *leaf_text(const Leaves *leaves, int i);
const char *leaf_name(const Leaves *leaves, int i);    /* the same without its type */
const char *slot_name(const Leaves *leaves, int slot); /* of one that may be absent */

/* False: f is NULL; reported, naming `who`. */
bool fn_is_given(tt_fn f, const char *who);

/* How many arrays each argument of f has; the number of arguments, or -1 where a program from a
 * file decides, or more than there can be. */
int fn_arguments(tt_fn f, int *counts);
/* The types of f's arguments as TT_FUN has them; NULL: it does not say. */
const char *fn_types(tt_fn f);
/* Has the C function in f the configuration it needs?  False: reported, naming `who`. */
bool fn_has_config(const char *who, tt_fn f);
/* Does f take such arguments?  False: reported. */
bool fn_accepts(tt_fn f, int nargs, const int *counts);
/* Calls the C function that f is. */
void fn_apply(tt_fn f, const tt *leaves, tt *results);
int fn_c_results(tt_fn f); /* how many arrays it returns */
/* Calls the closure that f is, with its leaves as trees.  Its results, in the session's arena; NULL:
 * reported. */
const tt *closure_apply(tt_fn f, const Leaves *leaves, const tt *leaf, int *nresults);

/* What f does to such leaves, in this thread's session. False: reported. */
bool fn_graph(tt_fn f, const Leaves *leaves, Graph *out);

/* The mapped axis of leaf i, from 0, or TT_NONE; the size all share (0: reported); and where
 * the result in slot i, which has `rank` other axes, gets it. */
bool map_axis(tt_fn f, const Leaves *leaves, int i, int32_t *axis);
int64_t map_size(tt_fn f, const Leaves *leaves);
bool map_out_axis(tt_fn f, int i, int rank, int32_t *axis);
/* Do .in and .out, where they are given, describe so many arrays?  False: reported. */
bool runs_describe(tt_fn f, int nleaves, int nresults);
const tt_spec *leaf_spec(tt_fn f, const Leaves *leaves, int i);
const tt_spec *result_spec(tt_fn f, int slot);

#endif
