/* slices.h - what a ready-made routine may ask of the executor while a task runs it: help with a
 * loop, an operand packed once for all devices, to fail.  All of it goes by the task's frame.
 *
 * Slices.  A task with a large loop offers its iterations, here called slices; idle workers take
 * some, and so does the task's own thread until none is left.  What two slices write must not
 * overlap, so the result does not depend on which thread ran which.
 *
 * Shared packing.  Weights, say: eight devices multiply their rows by the same matrix.  Each thread
 * that comes to the product takes slices of the packing until none is left, so no thread waits for
 * longer than a slice, and none packs what another has packed.  A packing lasts until the run ends:
 * products lie in fixed places of an argument, so there is at most one for each product of the
 * program and element of its batch, however often a loop comes by, and each product packs its
 * operand once. */
#ifndef TUTTI_ENGINE_SLICES_H
#define TUTTI_ENGINE_SLICES_H
#include "engine/program.h"

typedef void SliceFn(void *user, int64_t slice);

/* Calls f(user, i) once for every i below n and returns when all calls have returned.  f must not
 * wait for anything.  Without idle workers, with a frame that is no task's or without a frame
 * (NULL) it is a plain loop. */
NAMED_BY_OBJECTS void slices_run(const Frame *frame, int64_t n, SliceFn *f, void *user);

/* How many threads may work at once, the caller's included: slicing finer than a few times this is
 * waste. */
int slices_workers(const Frame *frame);
/* How many workers have no task at the moment.  Only for choices that results do not show. */
int slices_idle_workers(const Frame *frame);

/* The code that runs on the frame cannot go on.  Any thread that runs a slice of it may call this;
 * the first error counts.  Takes error.  The segment under way fails when it ends; its results are
 * not looked at. */
void frame_fail(const Frame *frame, Error *error);

/* ---- shared packing ---- */

typedef struct SharedPacking SharedPacking;

/* A matrix in memory, as numerics.h has it; strides and offset in bytes would do as well, as long as
 * all callers mean the same. */
typedef struct PackingSource {
    const void *at;
    int64_t rows, cols, row, col;
    int form; /* what is made of it, by a number that its callers agree on */
} PackingSource;

/* If *source lies in an argument that all devices hold alike and that no device writes, and there are
 * several devices or the program has loops: its packing, of that many bytes and slices; and source->at becomes the address from which all devices
 * are to read it. Else, or if there is no memory for it: NULL. */
SharedPacking *shared_packing_get(const Frame *frame, PackingSource *source, size_t bytes,
                                  int64_t nslices);
void *shared_packing_data(const SharedPacking *packing);
/* Calls f(user, i) for slices that no thread has taken.  When it returns, all slices have been
 * packed. */
void shared_packing_fill(SharedPacking *packing, SliceFn *f, void *user);
#endif
