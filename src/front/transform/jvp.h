/* jvp.h - a graph with tangents: what rules of operations with regions need of it. */
#ifndef TUTTI_FRONT_TRANSFORM_JVP_H
#define TUTTI_FRONT_TRANSFORM_JVP_H
#include "front/transform/free_values.h"
#include "front/transform/rules/rule.h"

/* The graph of g's results and their tangents: leaves are g's, then a tangent for each active
 * one; results are g's, then a tangent for each that `wanted` names.  Without `wanted`: for each
 * that is not zero; is_active[] tells which.  False: said. */
bool jvp_transform(const Graph *g, const bool *active, const bool *wanted, bool *is_active,
                   Graph *out);

/* Values around the node that is being differentiated, as the frame knows them. */
tt forward_value(struct Forward *f, ValueId v);
tt forward_tangent(struct Forward *f, ValueId v); /* NO_VALUE: zero */
/* Differentiates the region's nodes in place: its arguments become these values. */
void forward_inline(struct Forward *f, RegionId r, const tt *x, const tt *dx, tt *y, tt *dy);

bool has_tangent(Type t); /* floats and complex numbers do */
#endif
