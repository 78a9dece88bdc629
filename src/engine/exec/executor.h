/* executor.h - devices are tasks: what runs, where it stands, and who moves it.
 *
 *   launch.c     a call becomes a Run: one Task per device, with arguments and results
 *   executor.c   queues of devices, the list of tasks that can move, the workers
 *   slices.c     large loops cut into pieces for idle workers
 *   task.c       plays a task from segment to segment; collectives; deadlocks; the end of a run
 *   chorus.c     plays all tasks of a run, if one thread does
 *   post.c       what one device sends to another
 *   packs.c      what all devices multiply by, packed once
 *
 * Locks: one of the executor, one of each run, and those of buffers, events and memories.
 * Nobody ever holds two. */
#ifndef TUTTI_ENGINE_EXEC_EXECUTOR_H
#define TUTTI_ENGINE_EXEC_EXECUTOR_H
#include "base/sync.h"
#include "engine/exec/launch.h"
#include "engine/slices.h"

struct CopyPlan;
typedef struct Task Task;
typedef struct Run Run;

/* One device's part of a run.  Belongs to whoever plays it; the fields of a group are shared. */
struct Task {
    Frame frame;
    Run *run;
    Device *device;
    int number;       /* flat number in the program */
    int next_segment;
    int32_t said; /* by its last segment: what comes next (in lockstep) */
    bool has_begun, has_ended;
    /* Any thread: events still awaited, plus one while not at the head of its queue. */
    _Atomic int nblockers;
    /* Under the run's lock. */
    bool is_waiting;       /* for the others of its group */
    int collective;      /* where, if it waits */
    /* Under the executor's lock. */
    Task *next_ready; /* in a list of tasks that can move */
    Task *next_queued;
};

/* A group's rendezvous.  All members leave it before any can come again, so there is one
 * collective at a time: that of each member's n-th coming is the n-th. */
typedef struct Rendezvous {
    int narrived;
    int collective; /* of those who have arrived */
} Rendezvous;

typedef struct TaskList {
    Task *first, **end;
    int n;
} TaskList;

/* Why a run is to stop. */
typedef enum Cancel { CANCEL_NOT, CANCEL_CLOSED, CANCEL_ABANDONED } Cancel;

struct Run {
    /* Set before the first task moves. */
    Executor *executor;
    const Program *program;
    bool is_single_threaded;         /* one thread plays all of it: nobody is there to lock out */
    bool is_inline;        /* that is the caller */
    Task *tasks;           /* [ndevices] */
    void **pointers;       /* [ndevices][nargs], then [ndevices][nresults] */
    Storage **holds;       /* the same shape; what keeps the pointers good */
    Buffer **buffers;      /* [ndevices][nresults]: what the caller gets */
    Event **pending;       /* [ndevices][nargs]: arguments to wait for; NULL: there */
    Callback *callbacks;   /* of those */
    Event *done;           /* NULL: inline */
    void (*on_end)(void *user);
    void *user;
    const LocTable *locs; /* for messages; of whoever plays it */
    size_t room;           /* bytes of this block */

    _Atomic int nblocked; /* alone: tasks that may not begin yet; any thread */

    Lock lock; /* of the next six; see run_lock */
    int nrunnable; /* tasks neither waiting nor ended */
    int nended;
    int64_t nperformed; /* collectives */
    Error *error; /* the first */
    Rendezvous *rendezvous; /* [ngroups] */
    struct Message *messages; /* sent and not yet taken, oldest first */
    struct SharedPacking *packings; /* packs.c: always under the lock */

    _Atomic int cancel; /* a Cancel; any thread: tasks stop when they see it */

    /* Under the executor's lock. */
    Run *next, **link; /* in the list of runs under way, or of blocks to use again */
    bool is_executable_gone;    /* its executable is gone (unwanted.c) */
    int32_t visited;      /* the round of counting that it is in */
};

/* Work cut into slices; lives on the stack of whoever cut it. */
typedef struct SliceJob {
    SliceFn *f;
    void *user;
    int64_t n;
    _Atomic int64_t next;  /* slice not yet taken; any thread */
    _Atomic int nhelpers;  /* workers at it; goes up under the executor's lock only */
    struct SliceJob *below;     /* under the executor's lock */
} SliceJob;

enum { SPINS = 2000 }; /* looks of a thread that expects something soon, before it sleeps */

typedef struct Queue {
    Task *head, **end;   /* under the executor's lock */
    _Atomic int nqueued; /* written under it, read by any thread; sleepers of wait_for_room */
} Queue;

struct Executor {
    /* Set once before publication. */
    int ndevices, nworkers;
    int generation; /* fork_generation */
    Device *devices;
    Queue *queues;
    Memory *scratch; /* charged to nobody */

    Lock lock; /* of what follows, except the atomics */
    TaskList ready;
    SliceJob *slice_jobs; /* that want helpers, newest first */
    int nsleeping;
    bool is_closing;  /* runs are to stop */
    bool is_stopping; /* workers are to end: no run is under way */
    Thread *threads;
    Run *runs; /* under way */
    int32_t visit_round; /* unwanted.c */
    _Atomic bool may_have_abandoned; /* written under the lock, read by any thread */
    Run *spare;
    int nspare;

    /* Ready tasks and slice_jobs; written under the lock, workers peek without it. */
    _Alignas(64) _Atomic int nready;
    _Atomic int nlooking;            /* workers that look for work; written by each of them */
    _Atomic int nbusy;               /* workers that play a task; written by each of them */
    _Atomic int wakeups;                /* counts rings; workers sleep on it */
    _Atomic int nruns;               /* under way; executor_free sleeps on it */
    _Atomic int start;               /* of the workers: NOT_STARTED, STARTING, STARTED */
    int nstarted;                    /* workers; of whoever starts them, then constant */
};

/* task.c */
void task_begin(Task *t);
void task_run(Task *t); /* until it waits or has ended; may end the run */
void task_continue(Task *t, int32_t next); /* the same, after a segment that said `next` */
/* Everybody in the group has come and stands still.  The plan: see collective_perform. */
MUST_USE Error *rendezvous_perform(Run *run, const Collective *c, const Group *group, struct CopyPlan *plan);
void run_fail(Run *run, Error *error); /* takes error; the first one counts */
MUST_USE Error *run_cancelled(const Run *run); /* one that was cancelled: why */
/* t waits at collective k.  The run's lock is held; who is to go on after a deadlock is listed. */
void task_wait_locked(Task *t, int k, TaskList *released);

/* chorus.c */
void lockstep_run(Run *run); /* one that is played alone, until it has ended or others want the thread */

/* executor.c */
MUST_USE Error *run_new(Executor *e, const Program *program, Run **out);
void run_recycle(Run *run); /* it is no longer under way; its block may be used again */
bool executor_is_idle(Executor *e, int ndevices, Device *const *devices);
MUST_USE Error *executor_start(Executor *e); /* the workers, if they have not started */
void executor_wait_for_room(Executor *e, int ndevices, Device *const *devices);
void executor_enqueue(Run *run);          /* on the queues of all its devices, at once */
void executor_unblock(Task *t);          /* one reason less to wait; the last makes it ready */
void executor_dequeue(Task *t);          /* it has ended: the next of its device may begin */
void executor_push(Task *t);             /* a worker is to play it, or its run if that is alone */
void executor_push_released(Run *run, TaskList *list); /* they no longer wait */
/* Tells workers that there is more or less to do; the lock is held. */
void executor_count_ready(Executor *e);
/* The same; returns how many sleeping workers the caller is to wake, by the bell and without the
 * lock, for the tasks that are ready and n more who could help. */
int executor_wake_for(Executor *e, int n);

/* Whoever plays a run alone needs no lock: until its last task is unblocked only run_fail writes
 * there, which takes it always, and after that nobody else does. */
static inline void run_lock(Run *run)
{
    if (!run->is_single_threaded)
        lock_take(&run->lock);
}
static inline void run_unlock(Run *run)
{
    if (!run->is_single_threaded)
        lock_give(&run->lock);
}

/* post.c.  Both say whether t goes on now; if not, it is no longer the caller's. */
bool mailbox_send(Task *t, int k);
bool mailbox_receive(Task *t, int k);
void mailbox_describe(const Run *run, Text *out); /* who waits for a message; the lock is held */
void mailbox_end(Run *run); /* all tasks have ended: what is left is an error, and is freed */

/* slices.c */
SliceJob *slice_job_find(Executor *e); /* counts the caller as helper; the lock is held; or NULL */
void slice_job_help(SliceJob *job);

static inline void task_list_start(TaskList *list) { *list = (TaskList){ NULL, &list->first, 0 }; }
void task_list_add(TaskList *list, Task *t);
Task *task_list_pop(TaskList *list);

/* launch.c */
void run_end(Run *run); /* all tasks have ended */
#endif
