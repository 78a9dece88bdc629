/* collectives.h - a collective, when everybody has come: what each device brought becomes what each
 * device takes away.
 *
 *   group.c    who brought what; aliasing; which algorithm
 *   reduce.c   all_reduce, reduce_scatter             \
 *   gather.c   all_gather, all_to_all                  > write a plan: steps with addresses
 *   shift.c    collective_permute, _broadcast         /
 *   plan.c    plays a plan: whole, or cut into pieces for all workers
 *   move.c     copying, spreading, turning; past the caches where they do not help
 *   ragged.c   ragged_all_to_all, which depends on what its operands say
 *   global.c   tutti.global: whole arrays
 *
 * All devices are in one address space and all members stand still, so an algorithm is plain
 * loops over their memory, in rank order: the same bits on every run.  Where a value lies does not
 * change while a run plays, so a plan that was written once may be played again. */
#ifndef TUTTI_ENGINE_COLLECTIVES_COLLECTIVES_H
#define TUTTI_ENGINE_COLLECTIVES_COLLECTIVES_H
#include "engine/program.h"
#include "engine/memory/memory.h"
#include "engine/slices.h"

/* How the bytes of a step lie: runs of bytes that lie together, `near` of them in a row, and `far`
 * rows.  The steps from one to the next are in bytes. */
typedef struct Rows {
    size_t span;
    int64_t inner, outer;
    int64_t in_inner, in_outer, out_inner, out_outer;
} Rows;

static inline Rows one_span(size_t bytes) { return (Rows){ .span = bytes, .inner = 1, .outer = 1 }; }

typedef struct Step {
    enum {
        STEP_COPY,   /* one operand, or none: zeros; to all results */
        STEP_RING,   /* no operands: result 0 takes what 1 has, ..., the last what 0 had */
        STEP_CHAIN,  /* the same, but the last takes zeros */
        STEP_REDUCE, /* all operands, in this order; to all results */
    } kind;
    int nin, nout;  /* at most POSSIBLE_DEVICES each */
    int at;         /* in CopyPlan.at: operands, then results */
    size_t element; /* STEP_REDUCE: bytes */
    Rows rows;
    int64_t first;  /* the number of its first slice; set by copy_plan_add, as is `at` */
} Step;

/* What is to be done in a collective.  Steps touch different memory, so their order says nothing. */
typedef struct CopyPlan {
    const Collective *c;   /* whose it is; NULL: it may not be played again */
    const Frame *frame; /* of rank 0 */
    int nsteps, steps_room, naddresses, addresses_room;
    Step *steps;
    char **at;
    size_t bytes;    /* read and written */
    int64_t nslices; /* of all steps */
    Step few_steps[32];
    char *few_at[160];
} CopyPlan;

void copy_plan_begin(CopyPlan *plan);
void copy_plan_end(CopyPlan *plan);
/* Appends a step; its addresses, nin + nout of them, are to be put into *at.  Fails only for want
 * of memory. */
MUST_USE Error *copy_plan_add(CopyPlan *plan, const Step *step, char ***at);
void copy_plan_execute(const CopyPlan *plan);

/* Performs c for the members whose frames are given in rank order; nobody else may touch them
 * meanwhile.  Scratch memory is taken from and given back to `scratch`.  If plan->c is c afterwards,
 * then copy_plan_execute performs it again, in the same run. */
MUST_USE Error *collective_perform(const Collective *c, int n, Frame *const *frames, Memory *scratch,
                                CopyPlan *plan);

/* For a device that is in no group of c: its results are zeros. */
void collective_skip(const Collective *c, const Frame *f);

/* What the members bring and take; row r belongs to rank r.  A result overlaps no operand, but
 * where its algorithm works in place it may be the very same memory: op_is_in_place. */
typedef struct Participants {
    const Collective *c;
    int n; /* ranks */
    Frame *const *frames;
    Memory *scratch;
    void **in, **out; /* [n * nin], [n * nout] */
} Participants;

static inline char *operand_at(const Participants *p, int r, int i) { return p->in[r * p->c->nin + i]; }
static inline char *result_at(const Participants *p, int r, int i) { return p->out[r * p->c->nout + i]; }

/* Is operand i of every rank also its result i? */
bool operand_is_in_place(const Participants *p, int i);
/* all_to_all: and does what each has for every other lie together?  Then pieces are exchanged. */
bool all_to_all_is_in_place(const Participants *p, int i);
/* Do all ranks have one memory for result i?  Then it is written once (Param.is_shared). */
bool result_is_shared(const Participants *p, int i);

/* Write what is to be done. */
typedef MUST_USE Error *PlanFn(const Participants *p, CopyPlan *plan);
PlanFn plan_all_reduce, plan_reduce_scatter, plan_all_gather, plan_all_to_all, plan_permute,
    plan_broadcast;
/* Do it. */
typedef MUST_USE Error *PerformFn(const Participants *p);
PerformFn perform_ragged, perform_global;

/* Is what a collective touches, reads and writes, so much that idle workers shall help? */
bool collective_is_large(size_t bytes);
/* Is it more than the caches keep?  Then results are streamed past them. */
bool collective_streams(size_t bytes);
/* Calls f for every slice below n, which together touch that many bytes. */
void collective_slices(const Participants *p, int64_t n, size_t bytes, SliceFn *f, void *user);

void bytes_move(char *to, const char *from, size_t n, bool streams);
/* All of them take what `from` has. */
void bytes_spread(int n, char *const *to, const char *from, size_t bytes, bool streams);
/* at[0] takes what at[1] has, at[1] what at[2] has, ..., and the last what at[0] had, or zeros. */
void bytes_rotate(int n, char *const *at, size_t bytes, bool is_ring);

/* Memory for as long as the collective takes, to be given back to p->scratch. */
MUST_USE Error *collective_scratch(const Participants *p, size_t bytes, void **out);

/* Types do not fit a group of n: says so for operand i. */
MUST_USE Error *collective_misfit(const Participants *p, int i);
/* Sizes of everything before dimension dim, and from it on in bytes. */
int64_t extent_before(Type t, int dim);
size_t bytes_from(Type t, int dim);
#endif
