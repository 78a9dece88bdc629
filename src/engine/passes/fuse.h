/* fuse.h - what the parts of fusing share: fuse_order.c orders, fuse.c decides, fuse_build.c builds. */
#ifndef TUTTI_ENGINE_PASSES_FUSE_H
#define TUTTI_ENGINE_PASSES_FUSE_H
#include "engine/passes/passes.h"
#include "hlo/rewrite.h"

/* How a reader takes an operand. */
typedef enum Access {
    ACCESS_SAME,   /* at its own index */
    ACCESS_MOVED,  /* at another index, each element at most once */
    ACCESS_PICKED, /* at another index, behind a choice that may compute it in vain */
    ACCESS_VIEWED, /* at another index, one by one: views of arrays, and nothing that is computed */
    ACCESS_SPREAD, /* the same element again and again */
    ACCESS_MEMORY, /* it must be an array in memory */
} Access;

Access fuse_access(const Module *m, const Node *user, int operand);

enum { GROUP_READS = 24 };

/* A kernel to be. */
typedef struct FuseGroup {
    int last;     /* position of its last node, where it will stand */
    bool is_loop; /* results are elements at one index; more may be added */
    Type shape;   /* of those results */
    int nmembers, room;
    int *members; /* positions, falling */
    int nresults, results_room;
    ValueId *results;
    int nreads; /* some of the values that it reads at the results' index */
    ValueId reads[GROUP_READS];
    int wanted, want; /* the last item whose readers were asked and had this among them, and where
                         in their list it stands */
} FuseGroup;

typedef struct FuseState {
    Module *m;
    Arena *scratch;
    int *position;  /* of a node in its region */
    ValueId *inner; /* while a fusion is built: a value of the program -> its copy inside */
    Subst subst;    /* results of fused nodes -> results of fusions */
    bool is_apart;  /* each operation is to be a kernel of its own (checks.h) */
} FuseState;

/* Before a region is fused: other names of values go down to what reads them first. */
void fuse_order(FuseState *s, RegionId r);

/* The tutti.fusion node for a group; nodes[] by position. */
NodeId fusion_build(FuseState *s, const FuseGroup *g, const NodeId *nodes);

/* After fusing: drops constants that no node reads from memory any more; large ones that are one
 * number over and over become kernels that fill, the rest stay and go to the pool. */
void constants_settle(Module *m, RegionId r);
#endif
