/* slices.h - work cut into pieces for whoever is idle.
 *
 * A large loop of one device is cut by whoever plays it; idle workers take pieces, and so does
 * the caller until none is left.  What the pieces write must not overlap, so that the result
 * does not depend on who played what. */
#ifndef TUTTI_ENGINE_SLICES_H
#define TUTTI_ENGINE_SLICES_H
#include "engine/program.h"

typedef void SliceFn(void *user, int64_t slice);

/* Calls f(user, i) once for every i below n and returns when all have returned.  f must not wait
 * for anything.  With no idle worker, with a frame that no executor plays or no
 * frame at all (NULL) it is a plain loop. */
void slices_run(const Frame *frame, int64_t n, SliceFn *f, void *user);

/* How many may work at once, the caller included: cutting finer than a few times this is waste. */
int slices_workers(const Frame *frame);
/* How many workers have no task at the moment.  Only for choices that results do not show. */
int slices_idle_workers(const Frame *frame);

/* The code that plays the frame cannot go on: any thread that plays a part of it, and the first error
 * counts.  Takes error.  The segment under way fails when it ends; what it gives till then is not
 * looked at. */
void frame_fail(const Frame *frame, Error *error);
#endif
