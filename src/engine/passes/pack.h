/* pack.h - addresses in one block of memory for values that live at different times.
 *
 *     Packing *k = packing_new(arena, npoints);
 *     at = packing_place(k, nspans, spans, bytes);     one value after the other, largest first
 */
#ifndef TUTTI_ENGINE_PASSES_PACK_H
#define TUTTI_ENGINE_PASSES_PACK_H
#include "engine/analysis/analysis.h"

enum { PACK_ALIGN = 64 };

typedef struct Packing Packing;

Packing *packing_new(Arena *arena, int npoints);
/* The lowest address at which nothing lies during the spans, and from now on this value does. */
int64_t packing_place(Packing *k, int nspans, const Span *spans, int64_t bytes);
int64_t packing_rounded(int64_t bytes); /* up to PACK_ALIGN */
#endif
