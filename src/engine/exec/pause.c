/* pause.c - a run of unknown length begins on its caller's thread, and goes on elsewhere if it is long.
 *
 *     caller's thread:  launch --> code ... loop, loop, loop            --> launch_start returns
 *                                                 | it has taken too long: variables are saved
 *     worker:                                     +--> loop, loop ... --> the end of the run
 *
 * Most loops whose length nobody knows beforehand (until converged, adaptive steps, rejection) end within
 * less than it takes to hand a run over and to be told of its end, and those that do not lose by it no
 * more than the caller's time until then.  The code of a loop asks every few microseconds. */
#include "engine/exec/pause.h"

#include "engine/exec/executor.h"

#include <stdlib.h>

void *run_pause(Frame *f, int64_t bytes)
{
    Task *t = f->task;
    Run *run = t->run;
    if (clock_now_ns() < run->pauses_at)
        return NULL;
    f->may_pause = false; /* it is asked once, whatever comes of it */
    Error *error = executor_start(run->executor);
    if (!error)
        error = run_prepare_background(run);
    f->saved = error ? NULL : malloc((size_t)bytes + 1);
    run->is_paused = f->saved != NULL;
    if (!f->saved) {
        event_release(run->done);
        run->done = NULL;
    }
    error_free(error); /* then it stays where it is */
    return f->saved;
}
