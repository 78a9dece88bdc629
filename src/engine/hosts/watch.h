/* watch.h - who is still there: MPI alone does not tell that a process has died or hangs. */
#ifndef TUTTI_ENGINE_HOSTS_WATCH_H
#define TUTTI_ENGINE_HOSTS_WATCH_H
#include "engine/hosts/wire.h"

/* Starts to watch the other processes of w, and tells it whom it has lost.  ndevices: of each process,
 * for messages.  Called by all. */
MUST_USE Error *watch_start(Wire *w, int ndevices);
void watch_leave(void); /* this process ends: the others are told so */
#endif
