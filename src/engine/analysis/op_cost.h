/* op_cost.h - what one element of an operation costs: one table for all who weigh work. */
#ifndef TUTTI_ENGINE_ANALYSIS_OP_COST_H
#define TUTTI_ENGINE_ANALYSIS_OP_COST_H
#include "ops/op.h"

/* Nanoseconds an element of f32 on one core, out of cache. */
double element_nanoseconds(OpId op);
/* Dearer than to write its result to memory once and to read it wherever it is wanted. */
bool is_costly(OpId op);
/* A function that no machine has as an instruction, or only as a slow one. */
bool is_transcendental(OpId op);
#endif
