/* comparator.h - which regions of a sort only compare numbers. */
#ifndef TUTTI_ENGINE_KERNELS_COMPARATOR_H
#define TUTTI_ENGINE_KERNELS_COMPARATOR_H
#include "engine/numerics/sort_keys.h"

/* The keys by which the region `r` of a sort tells what goes first, the first one first; how many,
 * or 0: it does something else. */
int comparator_keys(const Module *m, RegionId r, SortKey *keys);
#endif
