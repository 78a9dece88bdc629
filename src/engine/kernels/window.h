/* window.h - sliding windows: where position w of window i looks. */
#ifndef TUTTI_ENGINE_KERNELS_WINDOW_H
#define TUTTI_ENGINE_KERNELS_WINDOW_H
#include "engine/kernels/kernel.h"

/* Along one dimension:  i * stride + w * spread - before  in the dilated array, every `apart`-th
 * place of which is one of the `extent` elements. */
typedef struct WindowDim {
    int64_t size, stride, spread, before, apart, extent;
    int64_t count; /* windows */
} WindowDim;

/* Where coordinates stand among elements that are put apart 32 bits may not hold them, though the
 * arrays are small: then lanes have 64. */
void window_widen(Kernel *k, int n, const WindowDim *dims);

/* The element looked at; *inside (NULL: always) is narrowed where it may be padding. */
Coord window_coord(Kernel *k, const WindowDim *d, Coord i, Coord w, int lanes, V *inside);
#endif
