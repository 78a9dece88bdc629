/* analysis.h - what is asked of a program without changing it.
 *
 *   run_cost.c         how long a whole program takes
 *   liveness.c         when each value must be in memory
 *   trip_counts.c      how often a loop goes round, where the program says so
 *   unread_starts.c    what a loop is given only to write all of it, row by row
 *   alias.c            which results are only other names of their operands' bytes
 *   structural_hash.c  which regions compute the same
 *   device_groups.c    which devices take part in a collective together, and whether all get the same
 *
 * Passes and link ask; answers are the caller's, in the arena that it gives. */
#ifndef TUTTI_ENGINE_ANALYSIS_ANALYSIS_H
#define TUTTI_ENGINE_ANALYSIS_ANALYSIS_H
#include "base/table.h"
#include "engine/stages.h"
#include "hlo/module.h"
#include "ops/op.h"

/* ---- liveness.c ---------------------------------------------------------------------- */

/* When each value of a schedule must be in memory: what assign works from. */

/* From one point of the program to another, both included. */
typedef struct Span {
    int from, to;
    ValueId value; /* that lives there */
} Span;

typedef struct Liveness {
    const Schedule *s;
    const Module *m; /* the schedule's */
    Arena *arena;
    int npoints;
    NodeId *node_at;      /* [npoints] the node that stands there; 0: the end of a loop or branch */
    int *position;        /* by NodeId; 0: not in this schedule */
    int *end;             /* by NodeId: where a WHILE or CASE ends */
    int *last_use;        /* by ValueId; 0: no node uses it */
    ValueId *shares_with; /* by ValueId: the value whose address it always shares, or 0: its own */
    int *nspans;          /* by ValueId, for values with an address of their own */
    Span **spans;         /* in rising order */
} Liveness;

/* Everything in it lies in `arena`. */
Liveness liveness_find(const Schedule *s, Arena *arena);

/* The value that v is another name of (node_is_alias), or v. */
ValueId liveness_root(const Liveness *l, ValueId v);

/* x lives up to `point` and y from there on: may the two have one address?  Only if the node there
 * reads each element of x before it writes that of y, or if it just moves x to y. */
bool liveness_may_touch(const Liveness *l, ValueId x, ValueId y, int point);

/* The moves that happen at a node: the initial values of a WHILE, what a RETURN gives back.
 * Number of them; dst, dst + 1, ... take the node's operands in order. */
int liveness_moves(const Liveness *l, NodeId n, ValueId *dst);

/* ---- trip_counts.c ---- */

/* Of one loop; -1: not known. */
int64_t loop_trips(const Module *m, const Node *loop);
/* v is counter + *step, *step > 0. */
bool is_counting(const Module *m, ValueId v, ValueId counter, int64_t *step);
/* Of the loops in r and below, before their parts disappear in kernels. */
TripCounts count_trips(const Module *m, RegionId r);
/* Is that index, in the body of a loop that goes round so often, each of 0 .. n - 1 in one of the rounds? */
bool index_takes_all(const Module *m, const Node *loop, int64_t ntrips, ValueId index, int64_t n);
/* Is v one number, an i32 or i64, that the program says? */
bool constant_int(const Module *m, ValueId v, int64_t *out);

/* ---- unread_starts.c ---- */

/* Is it the type of one row of `all`, [1, ...] of [n, ...]? */
bool is_row_of(Type one, Type all);
/* The update by which a loop that goes round so often writes each row of what it carries as value k, and
 * nobody reads that before; 0: there is none. */
NodeId update_of_all_rows(const Module *m, const uint32_t *uses, const Node *loop, int64_t ntrips,
                          int k);
/* What loops in r and below write as a whole before anybody reads it goes into t. */
void find_unread_starts(const Module *m, RegionId r, TripCounts *t);

/* ---- structural_hash.c ---- */

/* Regions that are equal but for the names of values.  Functions made from them are
 * looked up before another is made.  Starts as { 0 } with the module. */
typedef struct RegionTable {
    const Module *m;
    Table by_hash; /* -> number of the last entry with that hash, counted from 1 */
    int n, room;
    struct RegionEntry *at;
    uint32_t *number; /* by ValueId, while regions are compared */
} RegionTable;

uint64_t region_hash(RegionTable *k, RegionId r, uint64_t seed);
/* NULL: none yet.  `kind` keeps kernels and combiners apart. */
struct LLVMOpaqueValue *region_table_find(RegionTable *k, RegionId r, int kind, uint64_t *hash);
void region_table_add(RegionTable *k, RegionId r, int kind, uint64_t hash,
                      struct LLVMOpaqueValue *function);
void region_table_free(RegionTable *k);

/* ---- device_groups.c ---- */

/* Groups of all collectives of a program, equal ones once. */
typedef struct Groups {
    Arena *arena;
    int n, room;
    Group *at;
} Groups;

/* The group of each device at a node of kind COLLECTIVE: out[ndevices]. */
MUST_USE Error *groups_of(Groups *g, const Module *m, NodeId n, int32_t *out);
/* Does the collective give all members of a group the same as that result? */
bool collective_gives_same(const Node *node, int result);

/* ---- run_cost.c ---- */

/* The guesses at the end of Program. */
void cost_find(const Schedule *s, Program *program);
/* Of one round of a loop, in ns; loops of unknown length in it count once. */
int64_t loop_round_cost(const KernelModule *k, NodeId loop);
#endif
