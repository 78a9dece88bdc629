/* glue.h - what emit.c, glue.c, cost.c, meet.c, same.c and share.c offer one another. */
#ifndef TUTTI_ENGINE_LINK_GLUE_H
#define TUTTI_ENGINE_LINK_GLUE_H
#include "base/table.h"
#include "engine/link/emit.h"
#include "engine/plan.h"

/* What the nodes of one plan became; by NodeId. */
typedef struct GlueTables {
    LLVMValueRef *kernels; /* of a tutti.fusion */
    int *evaluations;      /* number, for nodes that the evaluator plays */
    int *meetings;         /* number */
    LLVMValueRef *stretches; /* by their numbers: declared before the first is made */
} GlueTables;

/* A function  i32 name(ptr frame), to become a stretch. */
LLVMValueRef glue_declare(Emit *e, const char *name);
/* Stretch `number` of the plan becomes t->stretches[number]. */
void glue_stretch(Emit *e, const Plan *p, const GlueTables *t, int number);

/* same.c: regions that are equal but for the names of values.  Functions made from them are
 * looked up before another is made.  Starts as { 0 } with the module. */
typedef struct Known {
    const Module *m;
    Table by_hash; /* -> number of the last entry with that hash, counted from 1 */
    int n, room;
    struct KnownEntry *at;
    uint32_t *number; /* by ValueId, while regions are compared */
} Known;

uint64_t region_hash(Known *k, RegionId r, uint64_t seed);
/* NULL: none yet.  `kind` keeps kernels and combiners apart. */
LLVMValueRef known_find(Known *k, RegionId r, int kind, uint64_t *hash);
void known_add(Known *k, RegionId r, int kind, uint64_t hash, LLVMValueRef function);
void known_free(Known *k);

/* meet.c: who meets whom.  Groups of all meetings of a program, equal ones once. */
typedef struct Groups {
    Arena *arena;
    int n, room;
    Group *at;
} Groups;

/* The group of each device at a node of kind MEET: out[ndevices]. */
MUST_USE Error *groups_of(Groups *g, const Module *m, NodeId n, int32_t *out);

/* cost.c: the guesses at the end of Program. */
void cost_find(const Plan *p, Program *program);

/* share.c, when all meetings of a program are made: marks the results of the program that all
 * devices may share, and what comes of a meeting that the first alone needs. */
void shares_find(Plan *p, const GlueTables *t, const Program *program);
void firsts_find(const Plan *p, const GlueTables *t, const Program *program, Meeting *meetings,
                 Arena *arena);
#endif
