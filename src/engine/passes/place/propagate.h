/* propagate.h - how the results of an operation lie on devices, given how its operands do. */
#ifndef TUTTI_ENGINE_PASSES_PLACE_PROPAGATE_H
#define TUTTI_ENGINE_PASSES_PLACE_PROPAGATE_H
#include "hlo/module.h"

/* One dimension of a tiling, to be taken over into another. */
typedef struct Pick {
    const Tiling *from; /* NULL: this dimension is whole */
    int dim;
    int order; /* picks of a lower order are taken first; among equals the earlier dimension */
} Pick;

/* The tiling of an array of type `whole` whose dimension i lies as picks[i] says.  A pick that
 * with those before it would leave a tile that no device holds (the same mesh axis twice), or
 * that does not divide the extent (unless may_be_uneven), counts as whole; *dropped says that
 * there was one. */
Tiling tiling_pick(Arena *arena, Type whole, int ndevices, const Pick *picks, bool may_be_uneven,
                   bool *dropped);
Tiling tiling_copy(Arena *arena, Tiling t);
/* t without the cuts that do not divide the extents. */
Tiling tiling_even(Arena *arena, Type whole, Tiling t);

/* Is each tile of b along dimension j within one of a along dimension i? */
bool is_finer_cut(const Tiling *b, int j, const Tiling *a, int i);
/* Is every cut of a also one of b, or made finer there?  Then a device can take its piece lying
 * as b from its piece lying as a. */
bool tiling_refines(Tiling b, Tiling a);

struct Placer;
struct Placement;
/* Gets what node n needs of its operands, and sets the shards of its results. */
typedef void PlaceNode(struct Placer *z, NodeId n, const struct Placement *p);

/* Where a node may run. */
typedef struct Placement {
    Tiling *results;   /* [nout] */
    bool is_piecewise; /* every device computes its piece of the results from its pieces of the
                          operands, */
    Tiling *wants;     /* [nin] if these lie so */
    bool is_partial;   /* the same, but the results of devices with different parts have to be
                          combined: a sum runs over a dimension that is cut */
    PlaceNode *place;  /* piecewise or partial, but another way than by the same operation on
                          pieces; NULL: that */
    int nparts;        /* so many make one result, */
    int *part_of;      /* and device d has this one */
} Placement;

/* in[i] is the tiling of operand i. */
Placement propagate(const Module *m, Arena *arena, NodeId n, const Tiling *in, int ndevices);

/* The same where operands may be moved first: the cuts that can be kept are, others are moved to a
 * dimension that may be cut, or given up.  Neither piecewise nor partial: none is left. */
Placement propagate_moved(const Module *m, Arena *arena, NodeId n, const Tiling *in, int ndevices,
                          bool may_sum);

/* The same where operands may also have more than their pieces along window dimensions (cuts.h); wants
 * are whole there. */
Placement propagate_windows(const Module *m, Arena *arena, NodeId n, const Tiling *in,
                            int ndevices);

/* The tilings of the results alone, where those of operands and results need not divide the
 * extents: what is suggested, rather than what can be. */
Tiling *propagate_hints(const Module *m, Arena *arena, NodeId n, const Tiling *in, int ndevices);
#endif
