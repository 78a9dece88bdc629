/* transpose.h - running linear parts of graphs backwards: what rules need of it. */
#ifndef TUTTI_FRONT_TRANSFORM_TRANSPOSE_H
#define TUTTI_FRONT_TRANSFORM_TRANSPOSE_H
#include "front/transform/free_values.h"
#include "front/transform/rules/rule.h"
#include "hlo/rewrite.h"

/* g is linear in the leaves marked so.  The graph of its transpose: leaves are those not marked,
 * then a cotangent for each result; results are cotangents of the marked leaves. */
bool transpose_transform(const Graph *g, const bool *linear, Graph *out);

/* Splits g, whose last ntangents leaves are tangents and last results (from nprimal on) vary with
 * them: `known` gives the first nprimal results and what the rest needs of them, from the other
 * leaves; `rest` gives the tangents from needed[] and the tangent leaves.  Entry i of needed is a
 * leaf of g (is_leaf[i]: its number) or the next further result of known. */
typedef struct Split {
    Graph known, rest;
    int nneeded;
    const int *leaf; /* [nneeded]: a leaf of g, or -1 */
} Split;
bool split_linear(const Graph *g, int ntangents, int nprimal, Split *out);

/* A graph being run backwards: for grad.c and split.c. */
typedef struct Backward {
    Module *m;
    Subst value;  /* of the old graph, not linear: its number in the new region */
    Subst ct;     /* of linear values: the number of their cotangent */
    bool *linear; /* [value of the old graph] */
    uint32_t nlinear;
} Backward;

Backward backward_new(Module *m);
void backward_free(Backward *b);
void backward_mark(Backward *b, RegionId r);    /* what depends on values marked linear is, too */
void backward_forward(Backward *b, RegionId r); /* records what is not linear, as it was */
void backward_run(Backward *b, RegionId r);     /* records the cotangents of what is */
/* The cotangents of the leaves marked; how many. */
int backward_collect(Backward *b, const Graph *g, const bool *linear, tt *out);

/* For rules of operations with regions. */
bool backward_is_linear(const Backward *b, ValueId v);
tt backward_value(Backward *b, ValueId v); /* of what is not linear */
void backward_add(Backward *b, ValueId v, tt ct);
/* The cotangent of v so far, which it no longer has: for a rule that adds to it in place. */
tt backward_take(Backward *b, ValueId v);
#endif
