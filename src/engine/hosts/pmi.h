/* pmi.h - an MPI without a launcher: this process answers what its MPI asks a launcher. */
#ifndef TUTTI_ENGINE_HOSTS_PMI_H
#define TUTTI_ENGINE_HOSTS_PMI_H
#include "base/error.h"

#include <stddef.h>

/* Words that all processes of a job can write, once each, and read. */
typedef struct HostsStore {
    MUST_USE Error *(*put)(void *user, const char *key, const char *value);
    /* Waits so long for the key; the value is cut to the room. */
    MUST_USE Error *(*get)(void *user, const char *key, int ms, char *value, size_t room);
    void *user;
} HostsStore;

/* Before MPI is initialised: it will find a launcher.  The store is used until pmi_end. */
MUST_USE Error *pmi_begin(int process, int nprocesses, const HostsStore *store);
void pmi_end(void);
#endif
