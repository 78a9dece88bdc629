/* scan.h - running sums: windows that are one pass. */
#ifndef TUTTI_ENGINE_KERNELS_SCAN_H
#define TUTTI_ENGINE_KERNELS_SCAN_H
#include "engine/kernels/kernel.h"

bool scan_is(const Module *m, NodeId reduce_window);
void scan_emit(Kernel *k, NodeId reduce_window); /* the whole kernel */
#endif
