/* collectives.h - what a collective does once all members of a group have come to it.
 *
 *   collective.c  finds each member's operands and results, and calls the algorithm (Runtime has it)
 *   reduce.c      all_reduce, reduce_scatter             \
 *   gather.c      all_gather, all_to_all                  > each appends steps to a copy plan
 *   permute.c     collective_permute, _broadcast         /
 *   copy_plan.c   executes a plan: whole, or in slices that idle workers take
 *   bytes.c       copies, spreads and rotates bytes, past the caches where they do not help
 *   ragged.c      ragged_all_to_all, which depends on the values of its operands
 *   global.c      tutti.global: code over whole arrays
 *   retile.c      tutti.retile: arrays cut in another way
 *   cross.c       what of a collective crosses to other processes, and what is then done here
 *
 * All devices are in one address space, and the caller makes sure that no member runs meanwhile
 * (exec/rendezvous.c): so an algorithm is plain loops over the members' memory, in rank order, and
 * gives the same bits on every run.  Addresses of values do not change during a run, so a plan that
 * was made once may be executed again. */
#ifndef TUTTI_ENGINE_COLLECTIVES_COLLECTIVES_H
#define TUTTI_ENGINE_COLLECTIVES_COLLECTIVES_H
#include "engine/memory/memory.h"
#include "engine/program.h"
#include "engine/slices.h"

/* How the bytes of a step lie: spans of `span` adjacent bytes, `inner` of them in a row, and
 * `outer` rows.  in_inner is the distance in bytes from one span of an operand to the next,
 * in_outer from one row to the next; out_inner and out_outer are those of results. */
typedef struct Rows {
    size_t span;
    int64_t inner, outer;
    int64_t in_inner, in_outer, out_inner, out_outer;
} Rows;

static inline Rows one_span(size_t bytes)
{
    return (Rows){ .span = bytes, .inner = 1, .outer = 1 };
}

static inline size_t rows_bytes(const Rows *r)
{
    return r->span * (size_t)r->inner * (size_t)r->outer;
}

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
    int64_t first; /* number of its first slice; set by copy_plan_add, as is `at` */
} Step;

/* The steps of a collective.  No two touch the same memory, so their order does not matter. */
typedef struct CopyPlan {
    const Collective *c; /* that it performs; NULL: it may not be executed again */
    const Frame *frame;  /* of rank 0 */
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

/* Of a group with members in other processes.  Frames of those tell nothing but their partition,
 * replica and program. */
typedef struct Elsewhere {
    int process;               /* this one */
    const int32_t *process_of; /* [n] of each rank */
    void **copies; /* [n * nin] of operands of ranks elsewhere, as far as they are needed here */
    void *
        *results; /* [n * nout] where results of ranks elsewhere go; NULL: they are not made here */
} Elsewhere;

/* Performs c for the members whose frames are given in rank order; no other thread may touch them
 * meanwhile.  Scratch memory is taken from and given back to `scratch`.  If plan->c is c
 * afterwards, copy_plan_execute performs c again, for the same members of the same run. */
MUST_USE Error *collective_perform(const Collective *c, int n, Frame *const *frames,
                                   Memory *scratch, CopyPlan *plan);

/* The same for the members that are here; what cross_list says has crossed. */
MUST_USE Error *collective_perform_here(const Collective *c, int n, Frame *const *frames,
                                        Memory *scratch, const Elsewhere *elsewhere);

/* What crosses: bytes of an operand of a rank, from the process that has it to one that needs them. */
typedef struct CrossPart {
    int rank, operand;
    int from, to; /* processes */
    size_t at;    /* in the operand, in bytes; */
    Rows rows;    /* how they lie there: in_inner, in_outer */
} CrossPart;

/* Calls f for each part that comes here or goes from here, in an order that all processes share. */
typedef void CrossFn(void *user, const CrossPart *part);
MUST_USE Error *cross_list(const Collective *c, int n, Frame *const *frames,
                           const Elsewhere *elsewhere, CrossFn *f, void *user);

/* How the operands of a group come together; the same for all its processes. */
typedef enum CrossWay {
    CROSS_GATHER, /* as cross_list says */
    CROSS_CHAIN,  /* sums, as cross.c says */
    CROSS_OWNER,
    CROSS_ROOT, /* code with effects: in the process of the first rank alone */
} CrossWay;
CrossWay cross_way(const Collective *c, int n, const Elsewhere *elsewhere);
/* The processes of a group in the order of their first ranks; how many there are. */
int cross_processes(const Elsewhere *e, int n, int *processes);

/* Writes zeros into the results of a device that is in no group of c. */
void collective_skip(const Collective *c, const Frame *f);

/* The members of a group, and where their operands and results are; row r belongs to rank r.  A
 * result overlaps no operand, but where its algorithm works in place it may be the very same
 * memory: op_is_in_place. */
typedef struct Participants {
    const Collective *c;
    int n; /* ranks */
    Frame *const *frames;
    Memory *scratch;
    void **in, **out;           /* [n * nin], [n * nout]; of ranks elsewhere: see Elsewhere, NULL */
    const Elsewhere *elsewhere; /* NULL: all ranks are here */
    int home;                   /* the lowest of the devices that are here */
    void **aside;               /* participants_begin: what was copied, or NULL */
} Participants;

static inline bool is_here(const Participants *p, int r)
{
    return !p->elsewhere || p->elsewhere->process_of[r] == p->elsewhere->process;
}

static inline char *operand_at(const Participants *p, int r, int i)
{
    return p->in[r * p->c->nin + i];
}
static inline char *result_at(const Participants *p, int r, int i)
{
    return p->out[r * p->c->nout + i];
}

/* Is operand i of every rank the same memory as its result i? */
bool operand_is_in_place(const Participants *p, int i);
/* The same for all_to_all; and do the bytes from one rank to another lie together?  Then pairs of
 * ranks can exchange them. */
bool all_to_all_is_in_place(const Participants *p, int i);
/* Do all ranks share one memory for result i?  Then it is written once (Param.is_shared). */
bool result_is_shared(const Participants *p, int i);
/* The addresses of result i that are to be written here, one if it is shared: how many there are. */
int results_here(const Participants *p, int i, char **at);

/* permute.c: sources[r] is the rank that sends to rank r, or -1. */
MUST_USE Error *permute_sources(const Participants *p, int *sources);
/* gather.c, reduce.c: how the bytes of operand i that rank 0 makes its result of lie, and how far after
 * them those of the next rank begin. */
MUST_USE Error *all_to_all_share(const Participants *p, int i, Rows *rows, int64_t *step);
MUST_USE Error *reduce_scatter_share(const Participants *p, int i, Rows *rows, int64_t *step);
/* global.c: does a process need operand i of rank r?  Not if it has those bytes itself, or gets them
 * from an earlier rank. */
bool global_needs(const Participants *p, int r, int i, int process);
/* Of tutti.global: the first rank of r's process that has the same tile of result i. */
int global_first_of_tile(const Participants *p, int r, int i);
/* retile.c: the same; a process takes each tile from one rank. */
bool retile_needs(const Participants *p, int r, int i, int process);

/* Append the steps of a collective to a plan. */
NAMED_BY_OBJECTS CollectiveFn plan_all_reduce, plan_reduce_scatter, plan_all_gather,
    plan_all_to_all, plan_permute, plan_broadcast;
/* Perform a collective that has no plan: it stays empty. */
NAMED_BY_OBJECTS CollectiveFn perform_ragged, perform_global, perform_retile;
/* Runtime.collectives where any may be asked for. */
/* clang-format off */
#define ALL_COLLECTIVES {                                                                          \
        [COLLECTIVE_ALL_REDUCE] = plan_all_reduce, [COLLECTIVE_REDUCE_SCATTER] = plan_reduce_scatter, \
        [COLLECTIVE_ALL_GATHER] = plan_all_gather, [COLLECTIVE_ALL_TO_ALL] = plan_all_to_all,      \
        [COLLECTIVE_PERMUTE] = plan_permute, [COLLECTIVE_BROADCAST] = plan_broadcast,              \
        [COLLECTIVE_RAGGED] = perform_ragged, [COLLECTIVE_GLOBAL] = perform_global,                \
        [COLLECTIVE_RETILE] = perform_retile }
/* clang-format on */

/* Finds the operands and results of the members here for longer than a collective takes to perform:
 * operands that results would overwrite are copied aside.  p->c, n, frames, scratch, elsewhere are
 * given. */
MUST_USE Error *participants_begin(Participants *p);
void participants_end(Participants *p);
/* Where sum i is to be written here, as all_reduce does: how many addresses. */
int sums_here(const Participants *p, int i, char **at);

/* Are the bytes that a collective reads and writes so many that idle workers shall help? */
bool collective_is_large(size_t bytes);
/* Are they more than the caches keep?  Then results are streamed past them. */
bool collective_streams(size_t bytes);
/* Calls f for every slice below n, which together touch that many bytes. */
void collective_slices(const Participants *p, int64_t n, size_t bytes, SliceFn *f, void *user);

void bytes_move(char *to, const char *from, size_t n, bool streams);
/* Copies `from` to each of n targets. */
void bytes_spread(int n, char *const *to, const char *from, size_t bytes, bool streams);
/* Copies at[1] to at[0], at[2] to at[1], ...; the last gets what at[0] had (is_ring), or zeros. */
void bytes_rotate(int n, char *const *at, size_t bytes, bool is_ring);

/* Scratch memory, which the caller gives back to p->scratch. */
MUST_USE Error *collective_scratch(const Participants *p, size_t bytes, void **out);

/* The error for operand i, whose types do not fit a group of n. */
MUST_USE Error *collective_misfit(const Participants *p, int i);
/* The elements of the dimensions before dim; the bytes of dim and those after it. */
int64_t extent_before(Type t, int dim);
size_t bytes_from(Type t, int dim);
#endif
