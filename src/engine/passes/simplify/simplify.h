/* simplify.h - what the parts of the simplify pass share. */
#ifndef TUTTI_ENGINE_PASSES_SIMPLIFY_SIMPLIFY_H
#define TUTTI_ENGINE_PASSES_SIMPLIFY_SIMPLIFY_H
#include "base/table.h"
#include "hlo/rewrite.h"

typedef struct Simplifier {
    Module *m;
    bool no_fold;         /* leave what the evaluator would compute to compiled code */
    bool keeps_dots;      /* place is to see them as they are */
    const uint32_t *uses; /* of the program's own values, [nuses], before anything was changed */
    uint32_t nuses;
    int nloops;      /* around the region */
    RegionId region; /* being rebuilt: nodes are appended to it */
    Subst map;       /* values that are gone, and what stands for them */
    /* Nodes that stand in `region`, by what they compute; entries below `floor` belong to
     * regions around it and are not seen. */
    struct Known {
        NodeId node;
        uint64_t hash;
        uint32_t older; /* next in its bucket, or 0 */
    } *known;
    uint32_t nknown, known_room, floor;
    uint32_t *buckets, nbuckets; /* a power of two */
    Table known_ranges;          /* of integers that loops carry, say (ranges.c) */
} Simplifier;

/* A value of the program's own that only one operation reads. */
static inline bool is_used_once(const Simplifier *s, ValueId v)
{
    return v < s->nuses && s->uses[v] == 1;
}

/* Appends a node, simplified; what its results come to is then in s->map. */
void simplify_visit(Simplifier *s, NodeId n);
/* Appends a node with one result, simplified; returns the value that it comes to. */
ValueId simplify_put(Simplifier *s, OpId op, int nin, const ValueId *in, Type result,
                     const void *attrs, const Loc *loc);
ValueId simplify_constant(Simplifier *s, Dense value, const Loc *loc);

/* The rules.  Each looks at a node with one result that stands nowhere yet, whose operands are
 * simple already, and returns the value that it comes to, or 0. */
ValueId fold_constants(Simplifier *s, NodeId n);       /* constants.c */
ValueId drop_identity(Simplifier *s, NodeId n);        /* identity.c */
ValueId take_base_two(Simplifier *s, NodeId n);        /* base_two.c */
ValueId narrow_integers(Simplifier *s, NodeId n);      /* narrow_integers.c */
ValueId number_elements(Simplifier *s, NodeId n);      /* element_numbers.c */
ValueId interleave(Simplifier *s, NodeId n);           /* interleave.c */
ValueId simplify_reduce(Simplifier *s, NodeId n);      /* reductions.c */
ValueId fold_transpose(Simplifier *s, NodeId n);       /* fold_transposes.c */
ValueId order_dot_rows(Simplifier *s, NodeId n);       /* dot_rows.c */
ValueId expand_dot(Simplifier *s, NodeId n);           /* expand_dots.c */
ValueId write_out_filter(Simplifier *s, NodeId n);     /* filters.c */
ValueId simplify_convolution(Simplifier *s, NodeId n); /* convolutions.c */
ValueId widen_window(Simplifier *s, NodeId n);         /* pixel_windows.c */
ValueId simplify_scatter(Simplifier *s, NodeId n);     /* scatters.c */
ValueId simplify_gather(Simplifier *s, NodeId n);      /* gathers.c */
ValueId simplify_by_range(Simplifier *s, NodeId n);    /* ranges.c */
ValueId simplify_slice(Simplifier *s, NodeId n);       /* slices.c */
ValueId sort_to_top_k(Simplifier *s, NodeId n);        /* sort_to_top_k.c */

ValueId expand_small_solve(Simplifier *s, NodeId n); /* small_systems.c */
/* The same for a node of several results, which are then in s->map; false: nothing is done. */
bool expand_small_lu(Simplifier *s, NodeId n);
bool unroll_short_reduce(Simplifier *s, NodeId n); /* short_reductions.c */

/* What is known of the integers that a loop carries, before its regions are rebuilt; ranges.c */
void know_carried_ranges(Simplifier *s, NodeId loop);

/* How many rows of an operand of a dot lie at one step: those that one call takes (kernels/dot.c).  dot_rows.c */
int64_t dot_rows_in_step(Type t, Ints batch, Ints contracted);
/* Do they lie in many pieces of few? */
bool dot_rows_are_short(Type t, Ints batch, Ints contracted);

/* Calls of LAPACK in a region where nothing is dead any more; unused_vectors.c */
void drop_unused_vectors(Module *m, RegionId main);
#endif
