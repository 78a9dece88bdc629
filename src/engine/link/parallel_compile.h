/* parallel_compile.h - compiling kernels side by side, on as many threads as there are cores. */
#ifndef TUTTI_ENGINE_LINK_PARALLEL_COMPILE_H
#define TUTTI_ENGINE_LINK_PARALLEL_COMPILE_H
#include "engine/link/emit.h"

typedef struct Object {
    char *bytes;
    size_t n;
} Object;

typedef struct SideKernel {
    NodeId node;
    const char *name; /* of its function; lives as long as the Side */
    int64_t weight;   /* how long it takes to compile, in any unit */
    int batch;
} SideKernel;

typedef struct Batch Batch;

/* Starts as { 0 } with the module. */
typedef struct Side {
    const Module *m;
    int n, room;
    SideKernel *kernels;
    int nbatches;
    Batch *batches;
    _Atomic int next; /* the first batch that nobody has begun */
    Object *objects;
    int nthreads;
    struct Thread *threads;
    struct Guard *guard; /* of the compilation; what the threads make goes there */
} Side;

void side_add(Side *s, NodeId node, const char *name, int64_t weight);
/* From here to side_wait nobody changes the module or the Side. */
void side_start(Side *s);
MUST_USE Error *side_wait(Side *s, const Object **objects, int *n); /* the Side owns them */
void side_free(Side *s);
#endif
