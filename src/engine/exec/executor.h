/* executor.h - the executor: devices are tasks, and a few worker threads run them.
 *
 * ---- The objects ----
 *
 *   Executor   of a client: its devices, a queue of tasks for each, the ready list, the workers.
 *   Run        one call of a Program that is under way: one Task per device of the program, what
 *              keeps arguments and results alive, the first error.
 *   Task       one device in a run: the Frame that compiled code works on, and where it stands.
 *   Event      something that will have happened: arguments are there, a run has ended.
 *   Storage    counted device memory.  Buffers, runs and transfers hold it; the last release frees.
 *   Buffer     what a caller holds: a type, a hold on a Storage, a hold on the Event after which
 *              the contents are there.
 *   SliceJob   a loop of one task whose iterations idle workers may take.
 *
 *        caller --> Buffer --hold--> Storage <--hold (arguments and results)-- Run
 *                     |                                                        |  |
 *                     +--hold--> Event `done` <--sets it when it ends----------+  +--> Task[]
 *
 *   executor.c        device queues, the ready list, the workers
 *   door.c            by which threads of the caller's come in
 *   launch.c          a call becomes a Run
 *   run.c             a run's block and tables, its failure, its end
 *   task.c            one task, from segment to segment
 *   rendezvous.c      where the tasks of a group wait for one another; deadlocks
 *   mailbox.c         messages from one task to another: send and recv
 *   lockstep.c        all tasks of a run on one thread
 *   slices.c          loops that idle workers help with
 *   pause.c           runs of unknown length, which begin on the caller's thread
 *   places.c          which workers stand in the way of the thread that they are to help
 *   shared_packing.c  operands that all devices multiply by, packed once
 *   abandoned_runs.c  runs whose results can no longer be reached are stopped
 *   deadlines.c       runs that take too long are stopped
 *   crossing.c        groups with members in other processes (engine/hosts); cross_gather.c,
 *                     cross_chain.c, cross_owner.c and cross_mail.c are its ways
 *
 * ---- The states of a run ----
 *
 *                    launch_start: holds arguments, allocates results
 *        PREPARED ----error: everything is undone, launch returns it----> gone
 *          |    \
 *          |     \ small, and its devices are idle: is_inline
 *          |      \
 *          v       +--> RUNNING on the caller's thread ----> ENDED before launch returns
 *        QUEUED    executor_enqueue: one task on the queue of each device, all under one lock
 *          |
 *          v       a task is first on its queue and its arguments are there
 *        RUNNING   by workers; by one at a time if is_single_threaded
 *          |
 *          v       the last task has ended (Run.nended == ntasks)
 *        ENDED     run_end: holds are released, `done` is set, on_end is called, the block is
 *                  recycled.  After that no thread touches the Run.
 *
 * Beside that a run is FAILED once Run.error is set, and is to stop once Run.cancel is not 0 (its
 * error is set; or executor_free or abandoned_runs.c wants it to end).  Such a run still goes
 * through the states above: its tasks look at `cancel` between segments, compiled loops look at it
 * through their frame, and every task ends in its ordinary way.
 *
 * ---- The states of a task ----
 *
 *     BLOCKED --1--> READY --2--> RUNNING --3--> WAITING
 *                      ^             |              |
 *                      +------4------|--------------+
 *                                    +--5--> ENDED
 *
 *   BLOCKED   nblockers > 0: pending arguments, tasks before it on its device's queue, the launch
 *   READY     on Executor.ready
 *   RUNNING   a worker is in one of its segments, or performs a collective for its group
 *   WAITING   is_waiting, at a collective or a recv; in no list, and no thread waits with it
 *   ENDED     has_ended; off its device's queue, whose next task has a blocker less
 *
 *   1  executor_unblock: the thread that removes the last blocker pushes the task
 *   2  a worker pops it
 *   3  it comes to a collective before another member of its group, or to a recv before its
 *      message; its worker goes on to other work
 *   4  another task completes the group and has performed the collective; or sends the message; or
 *      the run fails (run_fail): that task's thread pushes this one
 *   5  its program has ended, or it finds that its run is to stop
 *
 * The task that completes its group does not wait: it performs the collective for all members,
 * pushes the others, and goes on.  In a single-threaded run the same flags say which task waits,
 * but no task is on the ready list for its own sake: one of them stands there for the whole run.
 *
 * ---- Which thread may touch what ----
 *
 *   set before a run is published (run_new, launch), then constant: the first part of Run;
 *       Task.run, device, number, and the frame's tables;
 *   the thread that runs the task, and no other: Task.frame (slab, error), next_segment, returned,
 *       has_begun.  While a task waits, the memory that its frame names belongs to the thread that
 *       performs the collective or delivers the message, which writes the results there;
 *   under Run.lock: Task.is_waiting, collective, has_ended; Run.nrunnable, nended, nperformed,
 *       error, rendezvous, messages, packings.  A single-threaded run needs no lock for them
 *       (run_lock): run_fail always takes it, and after the last task is unblocked only the
 *       thread that runs the run is there.  packings are always under it, for helpers of slices
 *       come to them too;
 *   under Executor.lock: queues, ready list, slice jobs, the list of runs, spare blocks,
 *       Task.next_queued, Run.next, link, is_executable_gone, visited; and Task.next_ready, which
 *       until the push belongs to the thread that makes the task ready;
 *   atomics, any thread: Task.nblockers, Run.nblocked and Run.cancel, counts of holders, and the
 *       counters that threads sleep on.  Each has its order and what it pairs with at its uses.
 *
 * A thread holds at most one of these locks at a time, those of buffers, events, memories and
 * handles included: so there is no order to keep.  Outside of them may be a client's mutex
 * (plugin), inside only malloc's and a guard's, for errors are made under Run.lock.
 *
 * ---- Owners, and when things end ----
 *
 *   Run, its tasks and tables   one block: the launch's until it is enqueued or has run inline,
 *                               then the executor's until run_recycle, which keeps some for later
 *   Storage, Event              counted.  A run holds the storage of every argument and result
 *                               until it has ended, and `done` until it has set it
 *   slab (Frame.slab)           the task's, from task_begin to its end, of the device's Memory
 *   Message                     the sender's until it is in the mailbox; then the run's until it is
 *                               received, or until mailbox_end
 *   SharedPacking               the run's, until run_recycle
 *   SliceJob, CopyPlan          on the stack of the thread that shares the loop or performs the
 *                               collective; a SliceJob is left only when its helpers have
 *   Program                     the caller's of launch_start, until Launch.on_end
 *
 * ---- Waiting, and deadlocks ----
 *
 * A task waits without a thread.  Beside locks, threads sleep only here:
 *
 *   Executor.wakeups        a worker without work; a caller that lends threads, with none to do
 *   Door.ninside            executor_free, until lent threads have left
 *   Executor.start          launches and slices_run, while another thread starts the workers
 *   SliceJob.nhelpers, SharedPacking.nleft      until other threads have ended the slices that they
 *                           are in; a slice waits for nothing
 *   Queue.nqueued           a launch into a full queue; not on a worker
 *   Event.state             event_await: callers
 *   Deadlines.news          the thread that tells runs that they are late
 *   Executor.nruns          executor_free; a launch that finds no memory, not on a worker
 *
 * Of these a worker sleeps in the first, third and fourth alone (unless a custom call's own code waits), so a
 * task that is ready finds a thread.
 *
 * Run.nrunnable counts the tasks that neither wait nor have ended.  The thread that brings it to 0
 * before all have ended has found a deadlock: every task that is left waits for one that has ended
 * or waits too, and no thread can make any of them runnable.  It fails the run with a message that
 * says which devices wait where, and for which (rendezvous_describe, mailbox_describe).  There is
 * no timeout.  Between runs there is no deadlock: a run's arguments are results of runs launched
 * before it, and a launch enters all its queues under one lock, so any two runs stand in the same
 * order on every queue they share. */
#ifndef TUTTI_ENGINE_EXEC_EXECUTOR_H
#define TUTTI_ENGINE_EXEC_EXECUTOR_H
#include "base/sync.h"
#include "engine/exec/launch.h"
#include "engine/hosts/wire_runs.h"
#include "engine/profile/track.h"
#include "engine/slices.h"

struct CopyPlan;
typedef struct Task Task;
typedef struct Run Run;
typedef struct Place Place;

struct Task {
    Frame frame; /* its tables are constant; slab and error are of the thread that runs the task */
    /* Constant. */
    Run *run;
    Device *device;
    int number; /* flat number in the program: replica * npartitions + partition */
    /* Of the thread that runs the task. */
    int next_segment; /* to run when the task goes on */
    int32_t returned; /* by its last segment (lockstep.c) */
    bool has_begun;
    struct Crossing *crossing; /* that this task takes further when it goes on; else NULL */

    _Atomic int nblockers; /* events still awaited, 1 while not first on its queue, 1 in launch */

    /* Under the run's lock. */
    bool has_ended;
    bool is_waiting;
    bool is_crossing; /* it waits for other processes, which may still write to its memory */
    int collective;   /* where, if it is waiting */

    /* Under the executor's lock. */
    Task *next_ready; /* before the push: in a TaskList of the thread that makes the task ready */
    Task *next_queued;
};

/* Where the members of one group wait.  All of them leave before any can come again, so there is
 * one collective at a time: that of each member's n-th coming is the n-th. */
typedef struct Rendezvous {
    int narrived;
    int64_t ncrossed; /* collectives of it with other processes so far */
    int collective;   /* that the tasks which have arrived stand at */
} Rendezvous;

typedef struct TaskList {
    Task *first, **end;
    int n;
} TaskList;

/* Why a run is to stop. */
typedef enum Cancel {
    CANCEL_NOT,
    CANCEL_CLOSED,
    CANCEL_ABANDONED,
    CANCEL_LATE,
    CANCEL_FAILED
} Cancel;

struct Run {
    /* Constant once the first task can run. */
    Executor *executor;
    const Program *program;
    bool is_single_threaded; /* one thread at a time runs all tasks (lockstep.c) */
    bool is_inline;          /* that thread is the caller of launch_start */
    bool is_queued;          /* its tasks are on the queues of their devices */
    int ntasks;              /* the program's devices that are in this process */
    struct HostSpan *span;   /* where the others are; NULL: there are none */
    Task *tasks;             /* [ntasks]; with a span, see run_task */
    void **pointers;         /* [ntasks][nargs], then [ntasks][nresults] */
    Storage **holds;         /* the same shape: what keeps the pointers good */
    Buffer **buffers;        /* [ntasks][nresults]: what the caller gets */
    Event **pending;         /* [ntasks][nargs]: arguments not there at launch; NULL: they were */
    Callback *callbacks;     /* one for each of those */
    Event *done;             /* NULL: inline */
    void (*on_end)(void *user);
    void *user;
    const LocTable *locs;        /* how messages name the program's locations, if not as compiled */
    RunTracks *tracks;           /* what its devices do, recorded; NULL: it is not */
    size_t room;                 /* bytes of this block */
    WireRun wire;                /* what the wire knows of it, if it has a span */
    _Atomic bool is_left_behind; /* messages that may never end name its memory, which must stay */
    int64_t pauses_at; /* inline, of unknown length: until when, in ns (pause.c); else 0 */
    bool is_paused;    /* its code has left a loop, and its caller is to hand it over */

    _Atomic int nblocked; /* single-threaded: tasks that are still blocked */
    _Atomic int cancel;   /* a Cancel; only ever a hint to stop, so always relaxed */

    Lock lock;     /* of the next ten; see run_lock */
    int nrunnable; /* tasks neither waiting nor ended */
    int nended;
    int ncrossing;  /* groups that wait for other processes */
    bool is_parked; /* single-threaded: no thread runs it until one of those goes on; these two, */
    struct Crossing *landed;  /* and those that have what they waited for: always under the lock */
    int64_t nperformed;       /* collectives */
    Error *error;             /* the first */
    Rendezvous *rendezvous;   /* [ngroups] */
    struct Message *messages; /* sent and not yet received, oldest first */
    struct Lane *lanes;       /* messages with other processes, counted (cross_mail.c) */
    struct SharedPacking *packings;

    /* Under the executor's lock. */
    Run *next, **link;       /* in Executor.runs, or in Executor.spare */
    bool is_executable_gone; /* abandoned_runs.c */
    int32_t visited;         /* the last round that came to it (abandoned_runs.c) */

    /* Under the deadlines' lock. */
    int64_t due;               /* when it is late, in ns */
    Run *due_next, **due_link; /* in their list; link NULL: it is in none */
};

/* Some iterations of it, which a thread takes in order; in a line of its own, since each thread writes to its own
 * range most of the time. */
typedef struct SliceRange {
    _Alignas(64) _Atomic int64_t next; /* iteration not yet taken; any thread */
    int64_t end;
} SliceRange;

enum { MOST_RANGES = 16 };

/* A loop whose iterations idle workers may take; on the stack of slices_run. */
typedef struct SliceJob {
    SliceFn *f;
    void *user;
    int64_t n;
    int nranges;
    SliceRange ranges[MOST_RANGES];
    const Track *track;     /* of the device whose loop it is; NULL: nothing is recorded */
    _Atomic int nhelpers;   /* workers in it; raised under the executor's lock only */
    struct SliceJob *below; /* under the executor's lock */
} SliceJob;

enum { SPINS = 2000 }; /* looks of a thread that expects a change soon, before it sleeps */

typedef struct Queue {
    Task *head, **end;   /* under the executor's lock */
    size_t largest_slab; /* of its tasks since it was last empty; under the same */
    _Atomic int nqueued; /* written under it, read by any thread; launches sleep on it */
} Queue;

/* When runs are late (deadlines.c). */
typedef struct Deadlines {
    int64_t
        ns; /* that a run may take; 0: there is no limit, and nothing of this is used.  Constant. */
    Thread thread;
    Lock lock;        /* of what follows */
    _Atomic int news; /* written under it; the thread sleeps on it while there is no run */
    bool is_stopping;
    Run *first, **end; /* in the order of their launches */
} Deadlines;

struct Executor {
    /* Constant. */
    int ndevices, nworkers;
    int generation; /* fork_generation at its start */
    Device *devices;
    Queue *queues;
    Memory *scratch;   /* charged to no device */
    struct Door *door; /* NULL: the workers are threads of its own */
    Place *places;     /* [nworkers]; their atomics are those of places.c */
    Deadlines deadlines;

    Lock lock; /* of what follows, except the atomics */
    TaskList ready;
    SliceJob *slice_jobs; /* newest first */
    int nnumbered;        /* workers that have begun */
    int nsleeping;        /* workers; or callers that lend threads, and wait */
    int nlendable;        /* jobs that may still be submitted to the caller's pool */
    int nshort;           /* launches that wait for a run to give memory back */
    bool is_closing;      /* runs are to stop */
    bool is_stopping;     /* workers are to end: no run is left */
    Thread *threads;
    Run *runs;                       /* queued or running */
    int32_t visit_round;             /* abandoned_runs.c */
    _Atomic bool may_have_abandoned; /* written under the lock, read by any thread */
    Run *spare;
    int nspare;

    /* 0: there is no work.  Written under the lock; workers look without it. */
    _Alignas(64) _Atomic int nready;
    _Atomic int nlooking; /* workers that look for work; written by each of them */
    _Atomic int nbusy;    /* workers that run a task; written by each of them */
    _Atomic int wakeups;  /* written under the lock to wake workers, which sleep on it */
    _Atomic int nruns;    /* in `runs`; executor_free and launches sleep on it */
    _Atomic int start;    /* of the workers: NOT_STARTED, STARTING, STARTED; launches sleep on it */
    int nstarted;         /* workers; of the thread that starts them, constant once STARTED */
};

/* ---- executor.c ---- */

MUST_USE Error *executor_start(Executor *e); /* the workers, if they have not started */
bool executor_is_idle(int ndevices, Device *const *devices); /* no task is queued on any of them */
/* How many runs are under way that a launch may wait for: none on a worker, or where the caller
 * lends threads, for those may have to end them.  await_end sleeps until it is another number. */
int executor_awaitable(Executor *e);
void executor_await_end(Executor *e, int nruns);
/* The largest slab of the tasks on the device's queue, or `bytes` if that is more. */
size_t executor_largest_slab(const Device *device, size_t bytes);
/* Sleeps while a device's queue is full; returns at once on a worker. */
void executor_wait_for_room(int ndevices, Device *const *devices);
/* Puts the tasks of a run on the queues of all its devices, under one lock. */
void executor_enqueue(Run *run);
void executor_add_run(Run *run); /* that is on no queue */
void executor_dequeue(Task *t);  /* t has ended: the next task of its device loses a blocker */
/* This thread has played its task to the end, and is no longer busy.  It says so before anybody hears
 * that the task has ended: what begins then counts on its help. */
void executor_is_leaving(const Run *run);
void executor_unblock(Task *t); /* one blocker less; without any, t is pushed */
/* Onto the ready list: a worker is to run t, or t's whole run if that is single-threaded. */
void executor_push(Task *t);
/* The same for tasks that no longer wait.  In a single-threaded run this does nothing: its thread
 * sees that they are not waiting. */
void executor_push_released(Run *run, TaskList *list);
/* Offers a job to idle workers, and takes it back; its iterations may be taken in between. */
/* Of the calling thread among its executor's workers; 0: it is the first, or none of them. */
int worker_number(void);
void executor_add_slice_job(Executor *e, SliceJob *job);
void executor_remove_slice_job(Executor *e, SliceJob *job);

void executor_help(Executor *e);         /* a lent thread: works until there is nothing to do */
void executor_tell_callers(Executor *e); /* a run has ended: whoever waits for it looks */

/* ---- places.c ---- */

Place *places_new(int n);                      /* NULL: no memory */
void place_is_idle(Place *places, int worker); /* the worker itself: it looks for work, */
void place_is_busy(Place *places, int worker); /* and has found some */
/* The calling thread has work for others: idle workers on its core go to other cores. */
void places_make_room(Place *places, int n);

/* ---- door.c ---- */

/* Between an executor and the jobs that it submitted to the caller's pool, some of which may be
 * called when it is gone. */
MUST_USE Error *door_open(Executor *e, const Pool *pool, struct Door **out);
void door_submit(struct Door *door); /* one job; this thread may play it, and holds no lock */
/* The executor ends: waits for the threads that are in it, and lets no other in.  NULL: nothing. */
void door_close(struct Door *door);

/* ---- deadlines.c ---- */

void deadline_begin(Run *run);     /* its time runs from now on, if it is limited */
void deadline_end(Run *run);       /* also without a beginning */
void deadlines_free(Deadlines *d); /* no run is left */

/* ---- run.c ---- */

/* A block with all its tables, zeroed. */
MUST_USE Error *run_new(Executor *e, const Program *program, int ntasks, Run **out);
/* What a run needs to go on after launch_start() has returned: its event, and a callback for each
 * argument that is not there yet. */
MUST_USE Error *run_prepare_background(Run *run);
void run_end(Run *run);              /* all its tasks have ended; not for inline runs */
void run_record_end(const Run *run); /* its tracks are there, and its tasks have ended */
void run_recycle(Run *run);          /* off the executor's list; its block may be used again */
/* Fails a run and releases its waiting tasks, so that they end.  Takes error; the first one
 * counts. */
void run_fail(Run *run, Error *error);
/* The same by a caller that holds the run's lock: it must hand `released` to executor_push_released
 * when it has given the lock back. */
void run_fail_locked(Run *run, Error *error, TaskList *released);
/* One runnable task less, which waits or has ended; the run's lock is held.  If it was the last,
 * that is a deadlock, and the run fails as above. */
void run_lose_runnable(Run *run, TaskList *released);
void run_release_holds(Run *run);
/* For a run that is to stop and has no error: why. */
MUST_USE Error *run_cancelled(const Run *run);

static inline bool run_is_cancelled(const Run *run)
{
    /* relaxed: a hint to stop; the error itself is read under the lock */
    return atomic_load_explicit(&run->cancel, memory_order_relaxed);
}

static inline bool run_is_left_behind(const Run *run)
{
    /* relaxed: written before the members that it is about go on */
    return atomic_load_explicit(&run->is_left_behind, memory_order_relaxed);
}

static inline int run_nargs(const Run *run)
{
    return run->ntasks * run->program->nargs;
}
static inline int run_nouts(const Run *run)
{
    return run->ntasks * run->program->nresults;
}

/* The task of that number in the program; NULL: its device is in another process. */
static inline Task *run_task(const Run *run, int number)
{
    if (!run->span)
        return &run->tasks[number];
    int at = run->span->task_of[number];
    return at < 0 ? NULL : &run->tasks[at];
}

/* How many members of a group are in this process. */
static inline int run_members(const Run *run, int group)
{
    return run->span ? run->span->nhere_of[group] : run->program->groups[group].n;
}

/* A single-threaded run needs no lock: until its last task is unblocked only run_fail writes there,
 * which takes it always, and after that no second thread does. */
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

/* ---- task.c ---- */

void task_begin(Task *t);
void task_run(Task *t);                    /* until it waits or has ended; may end the run */
void task_continue(Task *t, int32_t next); /* the same, after a segment that returned `next` */
/* t waits at collective k; the run's lock is held.  See run_lose_runnable for `released`. */
void task_wait_locked(Task *t, int k, TaskList *released);

static inline const Collective *task_collective(const Task *t)
{
    return &t->run->program->collectives[t->collective];
}

static inline void task_list_start(TaskList *list)
{
    *list = (TaskList){ NULL, &list->first, 0 };
}
void task_list_add(TaskList *list, Task *t);
Task *task_list_pop(TaskList *list); /* NULL: it is empty */

/* ---- rendezvous.c, mailbox.c ---- */

/* t has come to collective k.  Returns whether the caller goes on with t; if not, t waits, or is
 * another thread's already, and the caller must not touch it. */
bool rendezvous_arrive(Task *t, int k);
bool mailbox_send(Task *t, int k);
bool mailbox_receive(Task *t, int k);

/* Performs c for a group whose members all stand at it.  The plan: see collective_perform. */
MUST_USE Error *rendezvous_perform(Run *run, const Collective *c, const Group *group,
                                   struct CopyPlan *plan);
/* For the message of a deadlock: which devices wait, and for which.  The run's lock is held. */
void rendezvous_describe(const Run *run, Text *out);
void mailbox_describe(const Run *run, Text *out);
/* All tasks have ended: messages that are left are an error, and are freed. */
void mailbox_end(Run *run);

/* ---- crossing.c ---- */

void crossing_run_begin(Run *run, struct HostSpan *span);
void crossing_run_end(Run *run, const Error *error);
/* t is the last of its group here to come to collective k, and the group has members elsewhere: what
 * they need of one another begins to cross.  Returns whether it is over and the caller goes on with
 * t; if not, as rendezvous_arrive. */
bool crossing_begin(Task *t, int k);
/* send and recv with device number `to` or `from`, which is in another process.  Receiving: as
 * crossing_begin. */
MUST_USE Error *crossing_send(Task *t, int k, int to);
bool crossing_receive(Task *t, int k, int from);
void crossing_free_lanes(Run *run);
/* There are news of what crosses: t does what can be done with it, and when all has crossed its group
 * goes on.  Returns whether t goes on; if not, as rendezvous_arrive. */
bool crossing_go_on(Task *t);
/* All tasks of a single-threaded run wait, some for other processes.  Returns whether one of them
 * can go on; if not, the run is parked, and no longer the caller's. */
bool crossing_wait(Run *run);

/* ---- lockstep.c ---- */

/* Runs a single-threaded run until it has ended, or until other tasks want the thread. */
void lockstep_run(Run *run);

/* ---- slices.c, shared_packing.c ---- */

/* A job with iterations left, of which the caller is now a helper; the executor's lock is held.
 * NULL: there is none. */
SliceJob *slice_job_find(Executor *e);
void slice_job_help(SliceJob *job); /* until no iteration is left; the caller is then no helper */
void shared_packing_free_all(Run *run);
#endif
