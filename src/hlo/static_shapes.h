/* static_shapes.h - every extent of a program becomes a number. */
#ifndef TUTTI_HLO_STATIC_SHAPES_H
#define TUTTI_HLO_STATIC_SHAPES_H
#include "hlo/known_integers.h"
#include "hlo/rewrite.h"

/* Calls are inlined, and main, called with such arguments, has no open extent and no operation
 * left whose extents are values.  args NULL: those that main states.  The module has been checked;
 * after an error it is good for nothing. */
MUST_USE Error *module_make_static(Module *m, int nargs, const Type *args);
/* Some argument of main has an open extent: only arrays say what it is. */
bool module_is_open(const Module *m);

/* Between the files of this pass. */
typedef struct ShapeFixer {
    Module *m;
    Known known;
    Subst map; /* results of what is gone */
} ShapeFixer;

/* The operation stands in r with settled operands; its results get their types. */
MUST_USE Error *static_append(ShapeFixer *z, RegionId r, NodeId n);
/* new stands in r instead of n, whose results its results are. */
MUST_USE Error *static_replace(ShapeFixer *z, RegionId r, NodeId n, NodeId new);
/* The known elements of operand i; not known: an error that says what they are for. */
MUST_USE Error *static_operand(const ShapeFixer *z, const Node *n, int i, const char *what,
                               const int64_t **out);
/* A known list as the integers of an attribute. */
Ints static_ints(const ShapeFixer *z, const Node *n, int i, const int64_t *at);
bool is_shape_call(const Node *n);
/* static_shapes_call.c: custom calls that say something about shapes; *done is false for others. */
MUST_USE Error *static_call(ShapeFixer *z, RegionId r, NodeId n, bool *done);
#endif
