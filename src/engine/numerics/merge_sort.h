/* merge_sort.h - sorting for compiled code, which brings its own comparison. */
#ifndef TUTTI_ENGINE_NUMERICS_MERGE_SORT_H
#define TUTTI_ENGINE_NUMERICS_MERGE_SORT_H
#include "engine/program.h"

/* Does element i go before element j? */
typedef bool SortLess(const void *context, int64_t i, int64_t j);

/* The numbers 0 .. n - 1 in sorted order; equal ones keep theirs.  The answer is this thread's
 * until its next call.  NULL: there is no memory for it, and the frame has been told. */
const int64_t *sort_order(const Frame *frame, int64_t n, SortLess *less, const void *context);
#endif
