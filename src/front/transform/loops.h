/* loops.h - loops that run a known number of times, so that they can be run backwards. */
#ifndef TUTTI_FRONT_TRANSFORM_LOOPS_H
#define TUTTI_FRONT_TRANSFORM_LOOPS_H
#include "front/transform/trace.h"

/* How often the loop runs; -1: that is not known before it has. */
int64_t loop_turns(const Module *m, NodeId loop);

/* g, but every loop that carries both what depends on the linear leaves and what does not is two:
 * one that keeps, turn by turn, what the other needs, and one that is linear.  *out is g itself
 * where there is no such loop.  False: a loop's turns are not known; said. */
bool cut_loops(const Graph *g, const bool *linear, Graph *out);
#endif
