/* trace.h - recording what a C function does to traced values, as operations of a Module.
 *
 * An outermost call that has to be traced opens a Session: one Module in which everything made on
 * the way to its program lies.  A function becomes a Graph: a region whose arguments are the
 * leaves.  Transformations replay a graph into another region of the same module, so there is
 * never more than one kind of traced value.  A graph may use values of the regions it was traced
 * inside of, and concrete arrays that the session has captured: both are free values of its
 * region, which stand for themselves wherever the graph is copied to.
 *
 * A thread may be tracing several functions, one inside the other: frames, innermost first.
 * Operations are recorded in the innermost. */
#ifndef TUTTI_FRONT_VALUE_TRACE_H
#define TUTTI_FRONT_VALUE_TRACE_H
#include "base/table.h"
#include "front/value/value.h"
#include "hlo/module.h"

/* A function as data: what transformations turn into one another.  Lies in m->arena. */
typedef struct Graph {
    Module *m;
    RegionId body; /* arguments: the leaves; ends in RETURN */
    int nleaves, nresults;
    const bool *is_weak; /* [nresults] */
    /* Where the results' type has arrays that are not there: how many it has, and which those are. */
    int nslots;
    const bool *absent; /* [nslots]; NULL: none */
} Graph;

/* Axes of a mesh, a bit each: those along which a value may differ between devices. */
typedef uint32_t AxisSet;

/* A frame: one function or transformation at work, recording in `region` where that is not 0. */
struct Trace {
    Module *m;
    RegionId region;
    Trace *outer;           /* of this thread */
    const char *how, *name; /* "grad", "loss": for the tracing stack; they live for ever.  how may
                             * be NULL: not worth a line */
    const char *file;
    int line;
    const char
        *call_file; /* where the call stands, if file and line are those of TT_FUN; or NULL */
    int call_line;
    const char *axis_name; /* bound by this frame (pmap, vmap), or NULL */
    int axis_size;
    const struct tt_grid *mesh; /* bound by this frame (shard_map): its axes */
    const Mesh *shards;         /* the same in the module: varying.c's sets are of its axes */
    const AxisSet *varies;      /* of each argument of the region; NULL: not in a shard_map */
    bool is_manual;             /* pmap, shard_map: its body runs on every device */
    bool is_flow;               /* a loop or a branch */
    const Loc *loc;             /* of what is recorded; NULL: where the user stands */
    struct ValueList *values;   /* recorded in it */
};

extern _Thread_local Trace *tracing; /* innermost, or NULL: calls are eager */

/* ---- sessions and frames: for compiled_fn.c and the transformations ---- */

typedef struct Capture {
    Array *array;  /* held */
    ValueId value; /* stands for it in every region */
} Capture;

/* The values of a frame, ended with it; those of frames that were left, with the session. */
typedef struct ValueList {
    struct ValueList *next; /* of the session */
    uint32_t first;         /* slot; they are linked by `behind` */
} ValueList;

/* A loaded program with dynamic extents, made static for one signature; m ends with the session. */
typedef struct Version {
    struct Version *next;
    const struct Loaded *of;
    Module *m;
} Version;

/* It and all that hangs on it lies in m's arena. */
typedef struct Session {
    Module *m;
    ValueList *lists;
    tt pinned; /* while something is asked of the arena for it */
    int ncaptured, room;
    Capture *captured;
    int ndevices; /* of the maps inside; 0: no map yet */
    const int *devices;
    const char *mapped;     /* label of the first map */
    bool has_placed;        /* tt_place of a traced value */
    bool is_awaited;        /* what is traced speaks or checks: its calls end before they return */
    struct Callee *callees; /* call.c: of traced calls of jit functions */
    Version *versions;      /* load.c: for the signatures met */
    unsigned asked;         /* how often a gradient has asked what differs: varying.c */
    int nabsent, absent_room;
    const char **absent; /* names of arrays that functions are traced without: value_absent */
    const Loc *last;     /* the location made last, reused while the user stays on a line */
} Session;

extern _Thread_local Session *session; /* of this thread's outermost call, or NULL */
bool session_begin(const char *who);   /* False: there is no memory; reported */
void session_end(void);                /* ends all its values, lets go of what was captured */
void session_undo(void);               /* what was being recorded came to nothing */

/* A frame lies on the C stack of the function that pushes it and pops it. */
void frame_push(Trace *frame);
void frame_pop(Trace *frame);

/* The innermost frame, which is not recording, starts to: leaves are its region's arguments. */
void record_begin(int nleaves, const Type *types, const bool *is_weak, tt *leaves);
/* Ends it: the values recorded in it are stale from here on.  False: a result is broken; reported. */
bool record_end(const char *who, int nresults, const tt *results, Graph *out);
void record_drop(void); /* ends it for nothing */

/* ---- recording ---- */

/* Records one node in the innermost frame.  Operands may be traced values of it or of an outer
 * frame, or concrete (captured: a hidden argument of the program; small ones are constants).
 * attrs live in trace_arena().  Shapes were checked by the caller; the shape rule is asked again,
 * and a complaint is a failure with the name `who`.  False: reported. */
bool trace_apply(const char *who, OpId op, int nin, const tt *in, const void *attrs, int nout,
                 const Type *results, tt *out);
/* The same for operations with regions, each given as a Graph, which is used up. */
bool trace_apply_regions(const char *who, OpId op, int nin, const tt *in, const void *attrs,
                         int nregions, const Graph *regions, int nout, const Type *results,
                         tt *out);
tt trace_constant(Dense value); /* in the innermost frame; copied */
Arena *trace_arena(void);       /* where attributes of recorded nodes live */
/* The region (a, b) -> a op b on scalars. */
Graph trace_reducer(OpId op, Element element);
Graph trace_replacer(Element element); /* (old, new) -> new */

/* The number of x in the module.  0: broken, stale or foreign; reported. */
ValueId trace_value(const char *who, tt x);
/* A traced value of the innermost frame. */
tt trace_tt(ValueId v);
/* Copies the nodes of g into the innermost frame. */
bool trace_inline(const char *who, const Graph *g, const tt *leaves, tt *results);

/* The size of the axis that the innermost frame to bind the name has given it; 0: none binds it. */
int trace_axis_size(const char *axis_name);
#endif
