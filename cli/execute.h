/* execute.h - the engine, and programs run on whole arrays. */
#ifndef TUTTI_CLI_EXECUTE_H
#define TUTTI_CLI_EXECUTE_H
#include "array.h"
#include "pjrt/client.h"

/* Loads TUTTI_PLUGIN, or the engine beside the executable.  engine starts as { 0 }; its `tutti` is
 * NULL when it is another plugin, or older than this tool. */
MUST_USE Error *engine_load(Pjrt *engine);
/* A client of that many devices, 0: as the environment says; ends one of another number. */
MUST_USE Error *engine_start(Pjrt *engine, int ndevices);
void engine_end(Pjrt *engine);

/* Cuts the arguments (whole arrays, nargs of them), executes, waits, and joins the results.  One
 * of which devices give different values where the program says they hold the same has one
 * dimension more: the devices, first. */
MUST_USE Error *run_whole(Pjrt *engine, PJRT_LoadedExecutable *executable, const Array *args,
                          Array *results);
#endif
