/* pause.h - a run of unknown length begins on its caller's thread, and goes on elsewhere if it is long. */
#ifndef TUTTI_ENGINE_EXEC_PAUSE_H
#define TUTTI_ENGINE_EXEC_PAUSE_H
#include "engine/program.h"

/* Runtime.pause. */
void *run_pause(Frame *f, int64_t bytes);
#endif
