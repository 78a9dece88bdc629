/* stages.h - what one stage of the compiler hands to the next.
 *
 *     Module         the program as data, rewritten in place by the passes that change it; after
 *       |            place it is what one device does, and Params says what main takes and gives
 *     KernelModule   the finished module: operations are kernels.  From here on it is const
 *       |  schedule
 *     Schedule       the module cut into segments, where devices wait for one another
 *       |  assign
 *     Layout         an address for every value, the pool of constants, the slab's size
 *       |  link
 *     Program        native code and tables (program.h)
 *
 * A stage takes the one before it as const and makes its own; what a later stage knows better (which
 * donations can be honoured) stands in its own struct.  Debug builds compare the module before and
 * after (compile.c).  The tables lie in the module's arena, so their memory goes with the module, which
 * the Program keeps; once link has made the Program, only the Params and the pool are still read. */
#ifndef TUTTI_ENGINE_STAGES_H
#define TUTTI_ENGINE_STAGES_H
#include "engine/compile.h"
#include "engine/program.h"
#include "hlo/module.h"

static inline RegionId module_main(const Module *m)
{
    return func_find(m, STR("main"))->body;
}

/* What messages call the program. */
static inline Str module_name(const Module *m)
{
    return m->name.n ? m->name : STR("main");
}

/* ---- Params, made by place ---- */

/* What main takes and gives.  Its arguments and results have local types, and whole-array code lies
 * in tutti.global nodes.  An alias is a request, until assign has said that it can be. */
typedef struct Params {
    int nargs, nresults;
    const Param *args, *results;
} Params;

/* Of a region that one device runs: arrays as they are (passes/place/params.c). */
Params params_whole(const Module *m, RegionId r);

/* ---- KernelModule, made by fuse and what follows it ---- */

/* How often each WHILE goes round, where the program says so; -1: unknown; 0 for other nodes. */
typedef struct TripCounts {
    uint32_t n;        /* nodes that are younger are no loops */
    const int64_t *at; /* by NodeId */
    /* By NodeId: which of what a loop carries it writes as a whole before it is read, so that it need
     * not begin as anything; NULL: none of it, or of no loop. */
    const bool *const *unread;
} TripCounts;

static inline bool start_is_unread(const TripCounts *t, NodeId loop, int k)
{
    return t->unread && loop < t->n && t->unread[loop] && t->unread[loop][k];
}

static inline int64_t trips_of(const TripCounts *t, NodeId loop)
{
    return loop < t->n ? t->at[loop] : -1;
}

typedef struct KernelModule {
    const Module *m;
    RegionId main; /* the body of the function main, or of a tutti.global */
    Params params;
    TripCounts trips;
    bool evaluate; /* the reference evaluator runs every node, between collectives */
} KernelModule;

/* ---- Schedule ---- */

/* How a segment ends. */
typedef struct SegmentEnd {
    enum { END_PROGRAM, END_GOTO, END_SWITCH, END_COLLECTIVE } kind;
    ValueId on;   /* END_SWITCH: an i1 (true goes to targets[0], false to [1]) or an i32
                          (k goes to targets[k], anything else to the last) */
    int ntargets; /* numbers of segments */
    int *targets;
    NodeId collective; /* END_COLLECTIVE: the node; targets[0] comes after it */
} SegmentEnd;

/* dst takes the bytes of src.  A list of them happens at once, as if every src were read
 * before any dst is written; assign makes most of them nothing by giving both one address. */
typedef struct Move {
    ValueId dst, src;
} Move;

/* Straight-line code, with whole loops and branches in it in which no device waits. */
typedef struct Segment {
    int nnodes;
    NodeId *nodes;
    int nmoves; /* after the nodes */
    Move *moves;
    SegmentEnd end;
} Segment;

typedef struct Schedule {
    const KernelModule *k;
    int nsegments;
    const Segment *segments;
    /* The values of the module, and behind them one for each result of main, which lies in the
     * caller's buffer: outs, outs + 1, ... */
    uint32_t nvalues;
    ValueId outs;
    int nbodies; /* code over whole arrays: one for every tutti.global */
    const struct Body *bodies;
} Schedule;

typedef struct Body {
    NodeId node; /* the tutti.global */
    KernelModule kernels;
    Schedule schedule;
} Body;

/* The type of any of the schedule's values. */
static inline Type schedule_type(const Schedule *s, ValueId v)
{
    const Module *m = s->k->m;
    return v < s->outs ? type_of(m, v) : type_of(m, region_return(m, s->k->main)->in[v - s->outs]);
}

/* ---- Layout ---- */

/* The most bytes of a value that a function of glue may keep as a variable (link/locals.c). */
enum { LOCAL_BYTES = 256 };

typedef struct Layout {
    const Schedule *s;
    /* By value of the schedule.  ADDRESS_NONE: not in memory (fused away, or never needed). */
    const Address *addresses;
    size_t slab_bytes, pool_bytes;
    const char *pool;     /* aligned; the constants' bytes */
    int64_t scratch_at;   /* in the slab: room for one value, for moves that go round in a ring */
    const Param *results; /* as in Params, with the aliases that can be */
    const struct Layout *bodies; /* [s->nbodies] */
} Layout;

/* Is the result just another name for the operand's bytes?  Such a node outside fusions is no
 * code; the two values have one address (analysis/alias.c). */
bool node_is_alias(const Module *m, const Node *node);
#endif
