/* find.h - which MPI there is, and the shim that fits it. */
#ifndef TUTTI_ENGINE_HOSTS_FIND_H
#define TUTTI_ENGINE_HOSTS_FIND_H
#include "base/error.h"
#include "engine/hosts/shim.h"

/* What the launcher that started this process says; size 0: none did. */
typedef struct Launcher {
    const char *name; /* "Open MPI's mpirun" */
    int rank, size;
} Launcher;
Launcher launcher_find(void);

/* Loads the MPI that is in the process already, else the launcher's, else TUTTI_MPI, else the first
 * that is installed; then the shim for it.  *library: what it calls itself. */
MUST_USE Error *shim_find(const Launcher *launcher, Shim **out, const char **library);
#endif
