/* shape_util.h - what the files of shape rules share. */
#ifndef TUTTI_OPS_SHAPE_UTIL_H
#define TUTTI_OPS_SHAPE_UTIL_H
#include "ops/shape.h"

/* Puts the complaint into why and is false, so that a rule can `return say(why, ...)`. */
bool say(Text *why, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The i-th result is stated as it must be; else the complaint says both types. */
bool expect_result(const ShapeQuery *q, int i, Element element, int rank, const int64_t *dims,
                   Text *why);
bool expect_type(const ShapeQuery *q, int i, Type type, Text *why);

/* Exactly so many operands and results. */
bool expect_counts(const ShapeQuery *q, int nin, int nout, Text *why);

/* All extents known; rules that compute with extents ask first, and leave the rest to refine. */
bool all_static(const ShapeQuery *q);

/* The list has n entries / distinct dimensions of an array of that rank. */
bool expect_length(Ints list, int n, const char *name, Text *why);
bool expect_dims(Ints list, int rank, const char *name, Text *why);
bool expect_dim(int64_t dim, int rank, const char *name, Text *why);

/* Region `last`, after which there is none, takes n pairs of scalars and gives n of the same types.
 * What it combines, n kinds of operands in turn, may be narrower: refine converts it first. */
bool expect_reducer(const ShapeQuery *q, int last, int n, int ncombined, const Type *combined,
                    Text *why);

bool is_integer(Element e);
bool is_scalar(Type t, Element e);
#endif
