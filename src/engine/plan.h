/* plan.h - what the passes work on: the module, and what they have found out about it.
 *
 * A pass takes the plan and leaves it valid; the module in it is proven by module_check after
 * every pass, unless NDEBUG says not to.  The early passes (refine, simplify, place) turn modules
 * into modules; segment and assign add the tables below, which emit reads. */
#ifndef TUTTI_ENGINE_PLAN_H
#define TUTTI_ENGINE_PLAN_H
#include "engine/compile.h"
#include "engine/program.h"
#include "hlo/module.h"

/* How a segment ends. */
typedef struct SegmentEnd {
    enum { END_PROGRAM, END_GOTO, END_SWITCH, END_COLLECTIVE } kind;
    ValueId on;      /* END_SWITCH: an i1 (true goes to targets[0], false to [1]) or an i32
                        (k goes to targets[k], anything else to the last) */
    int ntargets;    /* numbers of segments */
    int *targets;
    NodeId collective;  /* END_COLLECTIVE: the node; targets[0] comes after it */
} SegmentEnd;

/* dst takes the bytes of src.  A list of them happens at once, as if every src were read
 * before any dst is written; assign makes most of them nothing by giving both one place. */
typedef struct Move {
    ValueId dst, src;
} Move;

/* A piece of straight line (with whole loops and branches in it, where nobody meets). */
typedef struct Segment {
    int nnodes;
    NodeId *nodes;
    int nmoves; /* after the nodes */
    Move *moves;
    SegmentEnd end;
} Segment;

typedef struct Plan {
    Module *m;
    RegionId main; /* body of the function main */
    const CompileOptions *o;

    /* Set by place.  main is from then on the program of one device: its arguments and
     * results have local types, and whole-array code lies in tutti.global nodes. */
    Param *args, *results;

    /* Set by fuse; by NodeId, [ntrips].  How often a WHILE goes round, where that can be seen
     * from the program; -1: unknown.  0 for other nodes. */
    int64_t *trips;
    uint32_t ntrips;

    /* Set by segment. */
    int nsegments;
    Segment *segments;
    int nresults;
    ValueId outs;     /* one value per result of main, which lies in its out buffer */
    int nbodies;      /* whole-array code: a plan of its own for every tutti.global node */
    struct Body *bodies;

    /* Set by assign; by ValueId.  ADDRESS_NONE: not in memory (fused away, or never needed). */
    Address *addresses;
    uint32_t naddresses;
    size_t slab_bytes, pool_bytes;
    char *pool;         /* aligned; the constants' bytes */
    int64_t scratch_at; /* in the slab: room for one value, for moves that go round in a ring */
} Plan;

typedef struct Body {
    NodeId node; /* the tutti.global */
    Plan plan;   /* of its region */
} Body;

/* The rows of compile.c's tables, each in the file of its name under passes/. */
typedef MUST_USE Error *PassFn(Plan *p);
PassFn pass_refine, pass_sink_captures, pass_simplify, pass_place, pass_polish;
PassFn pass_hoist_replicated, pass_drop_dead_carries, pass_fuse, pass_join_collectives;
PassFn pass_schedule, pass_assign;

/* Is the result just another name for the operand's bytes?  Such a node outside fusions is no
 * code; the two values have one place. */
bool node_is_alias(const Module *m, const Node *node);

#endif
