/* lower.h - from a graph on whole arrays to the program that a PJRT plugin compiles. */
#ifndef TUTTI_FRONT_LOWER_LOWER_H
#define TUTTI_FRONT_LOWER_LOWER_H
#include "front/transform/fn.h"
#include "front/value/array.h"

/* A program, and how its arguments and results lie.  The text is the caller's; the rest lies in
 * the session's arena. */
typedef struct Lowered {
    Text text;
    int ndevices;
    const int *devices;
    bool is_home; /* one device: the first of this process */
    int nargs;    /* the leaves, then the captured arrays that are used */
    int nresults;
    const int *captured;            /* [nargs - nleaves]: positions in session->captured */
    const ArrayLayout *const *args; /* how each must lie */
    const ArrayLayout *const *results;
    const Type *types; /* of the results, whole */
} Lowered;

/* layouts: how the leaves lie now (NULL: nowhere yet).  donated: per leaf.  False: reported. */
bool lower_graph(tt_fn f, const Graph *g, const ArrayLayout *const *layouts, const bool *donated,
                 Lowered *out);

/* Replaces collectives along named axes in the bodies of manual computations, and in what they
 * call, by those between devices. */
void resolve_axes(Module *m, RegionId r, int ndevices);

/* follow_sharding.c: how the results of a node lie, where of[value] says it of operands; NULL: whole. */
void follow(const Module *m, const Node *node, const Sharding **of);
bool is_spread(const Sharding *sharding); /* is anything cut? */

/* nested_maps.c: of maps inside maps, one map over all their devices.  What is on named axes is resolved
 * before. */
void flatten_maps(Module *m, RegionId r, int ndevices);

/* factors.c: factors of matrices become calls of what the platform has for them.  False: reported. */
bool expand_factors(Module *m);
#endif
