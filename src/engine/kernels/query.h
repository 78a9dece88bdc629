/* query.h - what may be asked of kernels before any is made: can it be one, may its result lie on an
 * operand, how long does it take.  The only header of kernels that passes and analyses include. */
#ifndef TUTTI_ENGINE_KERNELS_QUERY_H
#define TUTTI_ENGINE_KERNELS_QUERY_H
#include "engine/numerics/numerics.h"
#include "hlo/module.h"

/* Operand i is read only at the very index that is written next (or it is what a
 * DYNAMIC_UPDATE or SCATTER updates), so the result `result` may take its memory. */
bool kernel_reads_in_place(const Module *m, NodeId fusion, int operand, int result);
/* Is it a slice of just those elements of the update's target that the update writes? */
bool takes_what_is_written(const Module *m, const Node *update, const Node *slice);

/* An operation that kernel_emit can take as (part of) a fusion. */
bool kernel_can_emit(const Module *m, NodeId n);

/* Does the kernel call what may find no memory?  Then it may set the frame's error, and is not to
 * be followed by anything that reads its results. */
bool kernel_may_fail(const Module *m, NodeId fusion);

/* Is this convolution a matrix product, once its input is padded and its kernel reversed? */
bool convolution_multiplies(const Module *m, const Node *node);

/* The dimension along which this reduce_window gives running sums, which are one pass; -1: it does not.
 * is_backwards: they begin at its end. */
int scan_dimension(const Module *m, NodeId reduce_window, bool *is_backwards);
bool scan_is(const Module *m, NodeId reduce_window);

/* What one call of an operation does, and how long it takes on one core, out of cache. */
typedef struct Work {
    double flops, transcendentals, ns;
} Work;

/* The work of n alone, not of the code in its regions. */
Work node_work(const Module *m, NodeId n);
/* Dearer than to write its result to memory once and to read it wherever it is wanted. */
bool is_costly(OpId op);
bool node_is_costly(const Module *m,
                    const Node *node); /* the same, where operands may make it cheap */

/* A rough estimate of the time of one call, in nanoseconds, from shapes alone. */
int64_t kernel_cost(const Module *m, NodeId fusion);

/* The keys by which the region `r` of a sort tells what goes first, the first one first; how many,
 * or 0: it does something else. */
int comparator_keys(const Module *m, RegionId r, SortKey *keys);
#endif
