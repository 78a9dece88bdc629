/* liveness.h - when each value of a plan must be in memory: what assign works from. */
#ifndef TUTTI_ENGINE_ANALYSIS_LIVENESS_H
#define TUTTI_ENGINE_ANALYSIS_LIVENESS_H
#include "engine/plan.h"

/* From one point of the program to another, both included. */
typedef struct Span {
    int from, to;
    ValueId value; /* that lives there */
} Span;

typedef struct Lives {
    Plan *p;
    Arena *arena;
    int npoints;
    NodeId *node_at; /* [npoints] the node that stands there; 0: the end of a loop or branch */
    int *position;   /* by NodeId; 0: not in this plan */
    int *end;        /* by NodeId: where a WHILE, CASE or IF ends */
    int *last_use;   /* by ValueId; 0: nobody uses it */
    ValueId *same;   /* by ValueId: the value whose place it always shares, or 0: its own */
    int *nspans;     /* by ValueId, for values with a place of their own */
    Span **spans;    /* in rising order */
} Lives;

/* Everything in it lies in `arena`. */
Lives lives_find(Plan *p, Arena *arena);

/* The value that v is another name of (node_is_rename), or v. */
ValueId lives_root(const Lives *l, ValueId v);

/* x lives up to `point` and y from there on: may the two be one place?  Only if the node there
 * reads each element of x before it writes that of y, or if it just moves x to y. */
bool lives_may_touch(const Lives *l, ValueId x, ValueId y, int point);

/* The moves that happen at a node: the initial values of a WHILE, what a RETURN gives back.
 * Number of them; dst, dst + 1, ... take the node's operands in order. */
int lives_moves(const Lives *l, NodeId n, ValueId *dst);
#endif
