/* hosts.h - the processes of a job: how many there are, which one this is, who the others are.
 *
 *   find.c       which MPI there is, and its shim
 *   shim_mpi.c   messages by MPI; built apart (shim.h)
 *   pmi.c        MPI without a launcher
 *   wire.c       exchanges over a shim
 *   ask.c        whether others are on their way
 *   circles.c    who waits for one another in a circle
 *   watch.c      who is still there
 *   exchange.c   bytes from one to all, for a caller that waits
 *   hosts.c      joining the others, and leaving
 *
 * A process belongs to one job, which its first client joins; further clients share it. */
#ifndef TUTTI_ENGINE_HOSTS_HOSTS_H
#define TUTTI_ENGINE_HOSTS_HOSTS_H
#include "engine/cpu_level.h"
#include "engine/hosts/pmi.h"
#include "engine/hosts/wire_runs.h"
#include "pjrt/extension.h"

/* What every process tells of itself. */
typedef struct HostProcess {
    char host[64];
    char version[32];
    int32_t pid;
    int32_t ndevices;     /* of a client; the same in all processes */
    int32_t vector_bytes; /* what its processor has, at the level it is asked for (cpu_level.h) */
    bool has[CPU_FEATURES];
} HostProcess;

typedef struct Hosts {
    Wire *wire;
    int process, nprocesses;
    const HostProcess *all;  /* [nprocesses] */
    const int32_t *everyone; /* [nprocesses] their numbers */
    HostSpan *exchanges;     /* what hosts_exchange does, as runs of a program on no devices */
} Hosts;

/* How a client is to find the others. */
typedef struct HostsOptions {
    bool uses_launcher;      /* as the launcher says, if one did start this process */
    int process, nprocesses; /* as the client says; 0 processes: it does not */
    const HostsStore *store; /* of the client, for when there is no launcher; or NULL */
} HostsOptions;

/* Joins the other processes, each of which makes a client with so many devices.  *out is NULL when
 * there are none. */
MUST_USE Error *hosts_join(const HostsOptions *options, int ndevices, const char *version,
                           const Hosts **out);

/* This process begins nothing more, though it may be a while until it ends: whoever waits for it is told
 * so.  It is not said while something is under way here, unless the process has failed. */
void hosts_leaving(bool has_failed);

/* Each piece comes from its process to all others, which call this with the same list; the caller
 * waits.  pieces NULL: this process cannot take part, which the others are told; the error says so. */
MUST_USE Error *hosts_exchange(const Hosts *hosts, int n, const TuttiPiece *pieces);
HostSpan *exchanges_new(Wire *wire); /* NULL: no memory */
#endif
