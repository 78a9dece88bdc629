/* sort_keys.h - sorting of arrays by keys that are plain numbers.
 *
 * A comparator that compares numbers (one key or several, each rising or falling) need not be
 * called: the numbers become unsigned integers that stand in the same order, and those are sorted
 * by their digits.  The sort is stable. */
#ifndef TUTTI_ENGINE_NUMERICS_SORT_KEYS_H
#define TUTTI_ENGINE_NUMERICS_SORT_KEYS_H
#include "engine/program.h"

/* Compiled code writes a SortPlan word by word, so all fields are words. */

/* One key.  Floats are in their total order: -nan ... -0, +0 ... +nan. */
typedef struct SortKey {
    int64_t array; /* whose elements it is */
    int64_t is_falling;
    int64_t one_zero; /* -0 counts as +0 */
    int64_t one_nan;  /* every nan counts as the positive quiet one */
} SortKey;

enum { SORT_MOST_KEYS = 8 };
typedef struct SortPlan {
    int64_t narrays, nkeys;
    int64_t nlines, extent, stride; /* stride: from element to element of a line */
    int64_t kept;                   /* of each line, the first in order; extent: all */
    SortKey keys[SORT_MOST_KEYS];   /* the first decides; the next where it finds both equal */
    int64_t elements[];             /* narrays: the Element of each array */
} SortPlan;

enum { SORT_MOST_EXTENT = INT32_MAX }; /* of a line: positions are counted in 32 bits */

/* Are there keys for arrays of this element type? */
bool sort_has_keys(Element e);

/* Sorts all lines of all arrays, from in[i] to out[i], which do not overlap.  in[i] NULL: the array
 * holds each element's position in its line (i32 or i64), and is no key.  The lines of a result are
 * `kept` long.  Where there is no memory to sort in, the frame's error is set. */
void sort_lines(const Frame *frame, const SortPlan *plan, const void *const *in, void *const *out);
#endif
