/* program.h - what the compiler makes and the executor runs: the contract between the two halves of
 * the engine.  A Program is immutable once compiled and shared by all its runs.
 *
 * Every device runs the same program on a frame of its own:
 *
 *     segment 0 --> segment 1 --collective 0--> segment 2 --+--> end
 *                       ^                                |
 *                       +--------------------------------+   (a while with a collective inside)
 *
 * A segment is one native function; it runs without ever waiting and returns what comes next.
 * Between segments a device may have to wait: at a collective, until all devices of its group have
 * come. */
#ifndef TUTTI_ENGINE_PROGRAM_H
#define TUTTI_ENGINE_PROGRAM_H
#include "base/arena.h"
#include "base/error.h"
#include "engine/order.h"
#include "hlo/module.h"

#include <stdatomic.h>

struct Runtime;
struct Gather;
struct PlainCopy;
struct PlainTranspose;
struct PlainJoin;
struct SortPlan;
struct Code;
struct Tensor;
struct Participants;
struct CopyPlan;
typedef struct Program Program;
typedef struct Track Track;

/* One device's activation of a program.  Compiled code reads the fields by their offsets. */
typedef struct Frame {
    char *slab;                 /* temporaries; 64-byte aligned */
    const char *pool;           /* constants */
    void *const *args;          /* [nargs] */
    void *const *outs;          /* [nresults] */
    const struct Runtime *rt;   /* functions that code calls */
    int32_t partition, replica; /* of the device */
    const _Atomic int *cancel;  /* not 0: stop soon; long loops look now and then */
    const Program *program;
    Error *error;   /* set by code and routines that make a segment fail */
    void *task;     /* the executor's */
    Track *track;   /* where code marks what it does (profile/track.h); NULL: nowhere */
    int32_t device; /* which it is, among all there are */
    int32_t launch; /* the caller's number for this run (PJRT_ExecuteOptions.launch_id); 0: none */
    int32_t may_pause; /* loops of unknown length ask Runtime.pause now and then */
    int32_t resume;    /* the number of the loop in which the next segment goes on; 0: in none */
    void *saved;       /* what that loop had in variables; the task's */
} Frame;

/* Returns the next segment (>= 0), or one of: */
typedef int32_t SegmentFn(Frame *f);
/* Collective k: SEGMENT_COLLECTIVE - k. */
enum { SEGMENT_END = -1, SEGMENT_FAIL = -2, SEGMENT_COLLECTIVE = -16 };

/* Where a value lies, relative to a frame. */
typedef struct Address {
    enum { ADDRESS_NONE, ADDRESS_SLAB, ADDRESS_POOL, ADDRESS_ARG, ADDRESS_OUT } where;
    int64_t at; /* offset in bytes, or number of the argument or result */
} Address;

static inline void *frame_at(const Frame *f, Address p)
{
    switch (p.where) {
    case ADDRESS_SLAB: return f->slab + p.at;
    case ADDRESS_POOL: return (void *)(f->pool + p.at);
    case ADDRESS_ARG: return f->args[p.at];
    case ADDRESS_OUT: return f->outs[p.at];
    default: return NULL;
    }
}

/* out[k][i] = f(f(in[0][i], in[1][i]), in[2][i]) ... for n elements of nin operands, two or more,
 * and every k below nout: a reducer region, compiled.  A result may be one of the operands. */
typedef void CombineFn(void *const *out, int64_t nout, const void *const *in, int64_t nin,
                       int64_t n);

/* Devices that perform collectives together: flat numbers (replica * npartitions + partition), in
 * the order in which the program lists them.  Equal lists are one group. */
typedef struct Group {
    int n;
    const int32_t *members;
} Group;

/* A point where devices wait for one another. */
typedef struct Collective {
    OpId op;
    const char *name;  /* "all_reduce" */
    const char *where; /* "train.py:28"; for messages: collective_where */
    const Loc *loc;    /* the same, as it may be told otherwise (LocTable); NULL: it may not */
    int next;          /* the segment after it */
    int nin, nout;
    const Address *in, *out;
    const Type *in_types, *out_types; /* on one device */
    bool is_apart;                    /* no result overlaps an operand, in any run, unless the
                                         operation works in place there; false: look */
    const bool *is_for_first;         /* [nout] only device 0 needs it; NULL: all need all */
    const int32_t *group_of;          /* [ndevices] number of its group; -1: it has none */
    /* Its groups, if they are all devices and it can be performed in lockstep; else 0. */
    int nlockstep_groups;
    const int32_t *lockstep_groups;
    const void *attrs;  /* of the op; all_gather_dim and the like */
    CombineFn *combine; /* all_reduce, reduce_scatter; NULL for others */
    /* tutti.global: join the operands' tiles, run `body` once over whole arrays, split. */
    const Program *body;
    const Tiling *in_tilings, *out_tilings;
} Collective;

static inline const char *collective_where(const Collective *c)
{
    return c->loc && loc_table ? loc_name(c->loc) : c->where;
}

/* A node that a routine of numerics/routines.c computes, or else the evaluator (Runtime.evaluate);
 * node 0: the whole of main. */
typedef struct Evaluation {
    NodeId node;
    const Address *in, *out;
    bool is_counted; /* by the evaluator, and not one of the checks, which belong to it */
    bool is_by_rule; /* never by the library: the whole program is to be evaluated */
    /* Of a program that is compiled ahead: what computes it.  NULL: looked for at each run. */
    Error *(*routine)(const Frame *f, const Node *n, const struct Tensor *in, struct Tensor *out);
} Evaluation;

/* What code says that it begins to do: a kernel, a loop, an evaluation (link/marks.c). */
typedef struct CodeMark {
    const char *name; /* of its operations: "dot_general+add+tanh" */
    const Loc *loc;
    NodeId node;
    double flops, bytes; /* of one call; a loop's are 0: its kernels have them */
} CodeMark;

/* What a program takes or gives. */
typedef struct Param {
    Type whole, local; /* types of the array and of one device's shard of it */
    Tiling tiling;
    Order order;     /* of the shard's dimensions in memory */
    MemoryKind kind; /* where the caller has it or wants it */
    /* Arguments: the caller gives it up (jax.buffer_donor, tf.aliasing_output). */
    bool may_donate;
    bool is_replicated; /* arguments: all devices have the same, and no device writes it */
    int alias;          /* results: the argument whose memory it may take over, or -1.  Code is
                        right whether or not the two are the same memory. */
    bool is_shared;     /* results: only collectives of all devices write it, the same for each: one
                        memory may serve all of them */
} Param;

typedef struct CompileStats {
    int kernels_compiled, kernels_reused; /* distinct kernels, and equal ones that share code */
    int segments, collectives, joins, evaluations;
    size_t code_bytes, slab_bytes, pool_bytes;
    double read_ms, passes_ms, emit_ms;
} CompileStats;

struct Program {
    Str name;
    int nreplicas, npartitions, ndevices; /* ndevices = nreplicas * npartitions */
    int nargs, nresults;
    const Param *args, *results;
    size_t slab_bytes;
    const char *pool; /* 64-byte aligned */
    int nsegments, ncollectives, ngroups, nevaluations;
    SegmentFn *const *segments;
    const Collective *collectives;
    const Group *groups;
    const Evaluation *evaluations;
    const struct Runtime *rt; /* what its code calls */
    int64_t cost_ns;          /* one device's run, estimated from the program; */
    bool is_cost_known;       /* false: a loop of unknown length */
    bool may_pause;           /* and each such loop can be left and entered again (link/glue.c) */
    bool has_loops;           /* so that an operand may be packed for many products */
    int64_t longest_ns; /* the longest of its segments, estimated; unknown ones are very long */
    int nmarks;
    const CodeMark *marks;
    _Atomic uint32_t recorded; /* the recorder's number for it; 0: none yet.  Mutable */
    CompileStats stats;
    Arena *arena;      /* owns all of this, the Program included */
    struct Code *code; /* owns the native code */
    Module *module;    /* kept for the evaluator and for messages; compiled ahead: what
                          evaluations need of it, or NULL */
};

void program_free(Program *p); /* NULL is fine */

/* The algorithms of collectives (collectives/collectives.h has them). */
typedef enum CollectiveKind {
    COLLECTIVE_ALL_REDUCE,
    COLLECTIVE_REDUCE_SCATTER,
    COLLECTIVE_ALL_GATHER,
    COLLECTIVE_ALL_TO_ALL,
    COLLECTIVE_PERMUTE,
    COLLECTIVE_BROADCAST,
    COLLECTIVE_RAGGED,
    COLLECTIVE_GLOBAL,
    COLLECTIVE_RETILE,
    COLLECTIVE_KINDS, /* of an operation: none performs it; send and recv are exec/mailbox.c's */
} CollectiveKind;

static inline CollectiveKind collective_kind(OpId op)
{
    switch (op) {
    case OP_ALL_REDUCE: return COLLECTIVE_ALL_REDUCE;
    case OP_REDUCE_SCATTER: return COLLECTIVE_REDUCE_SCATTER;
    case OP_ALL_GATHER: return COLLECTIVE_ALL_GATHER;
    case OP_ALL_TO_ALL: return COLLECTIVE_ALL_TO_ALL;
    case OP_PERMUTE: return COLLECTIVE_PERMUTE;
    case OP_COLLECTIVE_BROADCAST: return COLLECTIVE_BROADCAST;
    case OP_RAGGED: return COLLECTIVE_RAGGED;
    case OP_GLOBAL: return COLLECTIVE_GLOBAL;
    case OP_RETILE: return COLLECTIVE_RETILE;
    default: return COLLECTIVE_KINDS;
    }
}

/* Performs a collective, or appends to a plan the steps that do. */
typedef MUST_USE Error *CollectiveFn(const struct Participants *p, struct CopyPlan *plan);

/* What compiled code may call, and what performs its collectives.  Of a program that is compiled ahead:
 * what that program uses; the rest is NULL.  Grows at the end. */
typedef struct Runtime {
    /* Evaluates program->evaluations[which]; not 0: failed, f->error is set. */
    int32_t (*evaluate)(Frame *f, int32_t which);
    /* c[m,n] = sum_k a[m,k] b[k,n], strides in elements; see numerics/numerics.h. */
    void (*gemm)(const Frame *f, int64_t kind, int64_t m, int64_t n, int64_t k, const void *a,
                 int64_t a_row, int64_t a_col, const void *b, int64_t b_row, int64_t b_col, void *c,
                 int64_t c_row);
    /* out[i] = function(x[i], y[i]), by its number in numerics/numerics.h. */
    void (*math)(int32_t function, int32_t n, const double *x, const double *y, double *out);
    /* The order of n elements by a comparison; see numerics/numerics.h.  Without memory for it:
     * NULL, and f->error is set. */
    const int64_t *(*sort)(const Frame *f, int64_t n, bool (*less)(const void *, int64_t, int64_t),
                           const void *context);
    /* All lines of some arrays in the order of their keys; see numerics/numerics.h.  Without
     * memory for it, f->error is set. */
    void (*sort_lines)(const Frame *f, const struct SortPlan *plan, const void *const *in,
                       void *const *out);
    /* f(user, i) once for every i below n, with the help of idle workers; see engine/slices.h. */
    void (*slices)(const Frame *f, int64_t n, void (*slice)(void *user, int64_t i), void *user);
    /* A convolution as a product; see numerics/numerics.h. */
    void (*gather)(const Frame *f, int64_t kind, const struct Gather *g, const void *seen,
                   const void *other, void *c);
    /* A sum or an extreme over dimensions that lie together; see numerics/numerics.h. */
    void (*reduce)(const Frame *f, int64_t kind, int64_t parts, int64_t outer, int64_t n,
                   int64_t inner, const void *in, void *out);
    /* A slice of an array, or the array padded; see numerics/numerics.h. */
    void (*copy)(const Frame *f, const struct PlainCopy *copy, const void *in, void *out);
    /* An array with its dimensions in another order; see numerics/numerics.h. */
    void (*transpose)(const Frame *f, const struct PlainTranspose *transpose, const void *in,
                      void *out);
    /* Arrays joined along a dimension; see numerics/numerics.h. */
    void (*join)(const Frame *f, const struct PlainJoin *join, const void *const *in, void *out);
    /* The mark of this number begins; f->track is not NULL. */
    void (*mark)(const Frame *f, int32_t number);
    /* Fails the frame if there is a NaN in `data`, a result of what `of` says; see numerics.h. */
    void (*nans)(const Frame *f, int32_t of, int32_t number, int32_t result, const void *data);
    /* Asked by a loop of a frame that may pause: room for what it has in variables, if it is to be left
     * until another thread enters it again (exec/pause.c); NULL: it goes on. */
    void *(*pause)(Frame *f, int64_t bytes);
    CollectiveFn *collectives[COLLECTIVE_KINDS];
} Runtime;

extern const Runtime runtime; /* exec/runtime.c: all of it */

/* The file that has some of a program's arguments. */
typedef struct LinkedWeights {
    const char *file;         /* what it was called when the program was compiled */
    int64_t bytes, crc32;     /* of the whole file */
    const char *const *names; /* for each argument its array; NULL: it is none of the file's */
} LinkedWeights;

/* What an object that is compiled ahead shows: tutti_rt.h's tutti_rt_program. */
typedef struct LinkedProgram {
    const char *abi; /* of the library that it was compiled for, which has a symbol of that name */
    const Program *program;
    const struct LinkedProgram *otherwise; /* for a machine that has less; NULL: there is none */
    int64_t level;                         /* a MachineLevel: what the machine must have */
    const LinkedWeights *weights;          /* NULL: all arguments are the caller's */
} LinkedProgram;

/* What an object that is compiled ahead calls by name (engine/ahead), out of the library that it is
 * linked with. */
#define NAMED_BY_OBJECTS __attribute__((visibility("default")))
#endif
