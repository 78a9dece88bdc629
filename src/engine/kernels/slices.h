/* slices.h - large kernels in slices: k->wanted of them, until a loop takes the cut. */
#ifndef TUTTI_ENGINE_KERNELS_SLICES_H
#define TUTTI_ENGINE_KERNELS_SLICES_H
#include "engine/kernels/kernel.h"

/* Kernels that take less are not cut; tests lower it. */
extern int64_t cut_worth_ns;

/* How many slices would be good; 1: none. */
int cut_wanted(const Module *m, NodeId fusion, NodeId root);
/* Which of nested loops with these extents is to be cut, or -1; the outermost that has enough. */
int cut_choose(Kernel *k, int n, const int64_t *extents);
/* Begins the loop over this slice's part of 0 .. n. */
void cut_loop(Kernel *k, Loop *loop, int64_t n, int64_t step);
/* Code between these runs in the last slice only. */
LLVMBasicBlockRef cut_last_begin(Kernel *k);
void cut_last_end(Kernel *k, LLVMBasicBlockRef after);
/* Around the body k->function: what stretches call, with so many pointers, the frame's first. */
V cut_wrap(Kernel *k, const char *name, int npointers);
#endif
