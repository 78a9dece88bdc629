/* record.h - the recorder: who did what, when.
 *
 *     executor, compiler, transfers --record_add--> a ring of each thread --recording_take--> Recording
 *                                                                                              |
 *                                                    timelines (chrome.c, perfetto.c, page.c),
 *                                                    JAX's profiler (xspace.c), the table (table.c)
 *
 * One recorder for the process.  While it is off, each place that would record costs a branch that is
 * never taken: a run that is launched then has no tracks (track.h), and the others ask record_start.
 * A record is one stretch of time, whole: it is written when that has ended, so a ring that is full
 * may forget its oldest records, and no pair is torn.
 *
 * Times are ticks of the processor's counter, which all cores share; a Recording has nanoseconds. */
#ifndef TUTTI_ENGINE_PROFILE_RECORD_H
#define TUTTI_ENGINE_PROFILE_RECORD_H
#include "engine/program.h"

#if defined __x86_64__
#include <x86intrin.h>
#else
#include "base/sync.h"
#endif

static inline uint64_t ticks_now(void)
{
#if defined __x86_64__
    return __rdtsc();
#elif defined __aarch64__
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
    return (uint64_t)clock_now_ns();
#endif
}

typedef enum RecordKind {
    RECORD_LAUNCH,  /* a thread calls a program; `run` is the run that it begins */
    RECORD_RUN,     /* from the call to the end of its last device; `work`: PJRT's context */
    RECORD_SEGMENT, /* a device runs code until it ends or comes to a collective; `what`: which */
    RECORD_KERNEL,  /* a part of a segment, or of a collective's body; `what`: the mark */
    RECORD_COLLECTIVE, /* a device from its arrival (begin) over the moment when the last of its
                          group came (met) to the end; `what`: which; `work`: ticks in segments since
                          the one before; `other`: the device that performed it */
    RECORD_READY,      /* a device could go on after a collective, and no worker had time for it */
    RECORD_SLICES,   /* a worker helps with a loop of a device; `what`: the mark; `work`: slices */
    RECORD_COMPILE,  /* a phase of a compilation; `what`: its name */
    RECORD_TRANSFER, /* between host and device, or devices; `what`: a name; `bytes` */
    RECORD_MEMORY,   /* `bytes` in use on a device; a moment */
    RECORD_RANGE,    /* what a caller named; `what`: its name */
    RECORD_KINDS
} RecordKind;

typedef struct Record {
    uint64_t begin, met, end;
    uint64_t bytes, work;
    uint32_t run;     /* launches are counted from 1 */
    uint32_t program; /* record_program; 0: none */
    int32_t what;
    int16_t device, other; /* -1: none */
    RecordKind kind;
} Record;

extern _Atomic int recorder_is_on; /* record_is_on alone reads it */
static inline bool record_is_on(void)
{
    /* relaxed: a record more or less at the edges does not matter */
    return __builtin_expect(atomic_load_explicit(&recorder_is_on, memory_order_relaxed), 0);
}

void record_add(const Record *record); /* by any thread; without memory it is counted as lost */
uint32_t record_new_run(void);
/* The number by which records mean a program, whose names are kept from now on; 0: no memory. */
uint32_t record_program(const Program *p, const LocTable *locs);
/* The same for a text. */
int32_t record_name(Str name);

/* A stretch of the calling thread's time that begins now: 0 while nothing is recorded. */
static inline uint64_t record_start(void)
{
    return record_is_on() ? ticks_now() : 0;
}
/* Its end; begin 0: does nothing. */
void record_end(uint64_t begin, RecordKind kind, Str name, int device, size_t bytes);
/* How many bytes a device has in use now. */
void record_memory(int device, size_t bytes);

/* ---- on and off: one caller at a time ---- */

MUST_USE Error *record_begin(void); /* forgets what was recorded; an error if it is on */
void record_stop(void);             /* what was recorded stays */
void record_unload(void);           /* frees everything; no thread records any more */

/* ---- what was recorded ---- */

typedef struct MarkName {
    const char *name;  /* "dot_general+add+tanh" */
    const char *where; /* "train.c:28"; "" unknown */
    const char *path;  /* JAX's name stack "jit(step)/mul"; "" unknown */
    double flops, bytes;
} MarkName;

typedef struct CollectiveName {
    const char *name, *where, *path;
    int ngroups;
    size_t bytes; /* that each device brings */
} CollectiveName;

typedef struct ProgramName {
    const char *name;
    int ndevices, nmarks, ncollectives;
    const MarkName *marks;
    const CollectiveName *collectives;
} ProgramName;

typedef struct ThreadName {
    const char *name; /* "main", "tutti-0" */
    int worker;       /* number; -1: a caller or a compilation */
    int64_t lost;     /* records that the ring had no room for */
} ThreadName;

/* Records with times in nanoseconds since the recording began. */
typedef struct Recording {
    int64_t n;
    Record *records; /* by begin; of those that begin together the longer one first */
    int32_t *thread; /* of each record */
    int nthreads;
    const ThreadName *threads;
    uint32_t nprograms;
    const ProgramName *const *programs; /* [number]; 0 is "unknown" */
    int32_t nnames;
    const char *const *names;
    int ndevices;     /* 1 + the largest number of a device */
    int64_t ns;       /* from its begin to the last record's end */
    int64_t lost;     /* records of all threads */
    int64_t epoch_ns; /* its begin, since 1970 */
} Recording;

/* A copy of what there is, in the arena; under a guard. */
void recording_take(Arena *arena, Recording *out);
#endif
