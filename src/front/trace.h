/* trace.h - recording what a C function does to traced values, as a Module.
 *
 * A function is traced into a Module of its own: its leaves are the arguments of the region, and
 * every operation on them is a node.  Transformations (jvp, transpose, batch, spmd) take such a
 * module and replay it into another, so there is never more than one kind of traced value.
 * A thread may be tracing several functions at once, one inside the other; operations are
 * recorded in the innermost. */
#ifndef TUTTI_TRACE_H
#define TUTTI_TRACE_H
#include "front/value.h"
#include "hlo/module.h"

/* A function as data: what transformations turn into one another. */
typedef struct Graph {
    Module *m;      /* owns; m->arena holds the Graph too */
    RegionId body;  /* arguments: the leaves, then the captured values; ends in RETURN */
    int nleaves, nresults;
    int ncaptured;  /* concrete or outer traced values that the function used without being given */
    const tt *captured; /* pinned by the graph */
    const bool *is_weak; /* [nresults] */
} Graph;

struct Trace {
    Module *m;
    RegionId region;
    Trace *outer;          /* of this thread */
    const char *how, *name; /* "grad", "loss": for the tracing stack; they live for ever */
    const char *file;
    int line;
    const char *axis_name; /* bound by this trace (pmap, vmap, shard_map), or NULL */
    int axis_size;
    struct Captures *captures; /* trace.c */
    uint32_t values;           /* value.c: the first slot of a list of its values */
};

extern _Thread_local Trace *tracing; /* innermost, or NULL: calls are eager.  Defined in say.c */

/* Records one node in the innermost trace.  Operands may be traced values of it or of an outer
 * trace, or concrete (captured: a hidden argument; small ones a constant).  Shapes were checked
 * by the caller; the shape rule is asked again, and a complaint is a failure with the name
 * `who`.  False: said. */
bool trace_apply(const char *who, OpId op, int nin, const tt *in, const void *attrs, int nout,
                 const Type *results, tt *out);
/* The same for operations with regions, each given as a Graph without captures. */
bool trace_apply_regions(const char *who, OpId op, int nin, const tt *in, const void *attrs,
                         int nregions, const Graph *const *regions, int nout, const Type *results,
                         tt *out);
tt trace_constant(Dense value); /* in the innermost trace */
Arena *trace_arena(void);       /* where attributes of recorded nodes live */

/* Axis names seen from here: its size, or 0 when nobody binds it. */
int trace_axis_size(const char *axis_name);
#endif
