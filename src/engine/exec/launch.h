/* launch.h - one call of a program on its devices, from the caller's side. */
#ifndef TUTTI_ENGINE_EXEC_LAUNCH_H
#define TUTTI_ENGINE_EXEC_LAUNCH_H
#include "engine/exec/buffer.h"
#include "engine/memory/event.h"
#include "engine/program.h"

typedef struct Executor Executor; /* the workers and the queues; see executor.h */
struct HostSpan;                  /* where a program's devices are; see engine/hosts/span.h */

/* A device: memory of its own, and a queue in which its launches keep their order. */
typedef struct Device {
    int id;
    Memory *memory;
    Executor *executor;
    void *pjrt;  /* the plugin's object for it */
    void *queue; /* the executor's */
} Device;

/* Workers: 0 means one per core that affinity and the cgroup quota allow (TUTTI_WORKERS
 * overrides).  Threads start at the first launch that needs them. */
MUST_USE Error *executor_new(int ndevices, int nworkers, size_t memory_limit, Executor **out);
/* Tells the runs under way to stop, waits until they have ended, and joins the workers. */
void executor_free(Executor *e);
Device *executor_device(Executor *e, int i);
/* Before its first use: its devices are called `first`, first + 1, ...; else 0, 1, ... */
void executor_name_devices(Executor *e, int first);
/* Before its first use: where its devices have their memory from (memory/memory.h). */
void executor_supply(Executor *e, const Supply *supply);
/* Threads of the caller's instead of workers: has job(at) called once, by any thread. */
typedef struct Pool {
    void (*submit)(void *user, void (*job)(void *at), void *at);
    void *user;
} Pool;
MUST_USE Error *executor_lend(Executor *e, const Pool *pool); /* before its first use */
/* Waits for a run's event.  With a pool the thread works meanwhile, so that a run ends even if no
 * job is ever called. */
void executor_await(Executor *e, Event *event);
/* Before its first use: a run may take so long, from its launch on; then it fails.  0: no limit. */
MUST_USE Error *executor_bound_runs(Executor *e, double seconds);
int executor_workers(const Executor *e); /* for tests: nothing else shows what 0 became */
/* An error in the child of a fork: the workers stayed with the parent.  launch, transfers and
 * copies call it themselves. */
MUST_USE Error *executor_check(const Executor *e);

/* n is how many of the program's devices are in this process: without a span all of them, in order;
 * else those that the span lists. */
typedef struct Launch {
    const Program *program;
    struct HostSpan *span;      /* NULL: all devices are in this process */
    Device *const *devices;     /* [n]: the device of partition d, or of those that are here */
    Buffer *const *const *args; /* [n][nargs] */
    const bool *may_not_donate; /* [nargs], or NULL: all may */
    Buffer **const *outs;       /* [n][nresults]; filled by launch */
    void *const *into;          /* [n * nresults]: the caller's memory for a result, NULL: the
                                   device's; or NULL for all */
    bool is_alone;              /* on the calling thread, however long it takes */
    Event **done;               /* [n], or NULL: one new hold per device */
    /* NULL, or called once when the program is no longer needed: before launch returns, or by a
     * worker.  Not called when launch returns an error. */
    void (*on_end)(void *user);
    void *user;
    /* A run that fails before launch returns has no results, but is an error; else its results are
     * failed ones, as those of a run in the background. */
    bool returns_failure;
    const LocTable *locs; /* how messages name the program's locations; NULL: as it was compiled */
    uint64_t context;     /* the caller's number for this call, for profiles; 0: none */
    int32_t id;           /* and for functions that the program calls back */
} Launch;

/* A small run has ended when this returns, as has one that a custom call of another run launches;
 * others go on in the background, and the results' ready events say when they have ended; after them
 * nothing of the launch touches the program.  An error returned means that nothing was launched and
 * nothing donated, but for what returns_failure says. */
MUST_USE Error *launch_start(Executor *e, const Launch *l);

/* abandoned_runs.c.  The program's last executable is gone: runs of it that are under way stop once
 * no caller holds their results.  Not for programs that have effects beside their results. */
void abandoned_runs_mark(Executor *e, const Program *program);
/* A caller has released a result whose run has not ended. */
void abandoned_runs_check(Executor *e);
#endif
