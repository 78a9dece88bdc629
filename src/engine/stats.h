/* stats.h - what the engine has done since the process started, counted. */
#ifndef TUTTI_ENGINE_STATS_H
#define TUTTI_ENGINE_STATS_H
#include <stdint.h>

/* Counters since the start of the process, for --stats and tests. */
typedef struct RunStats {
    int64_t launches, inline_launches; /* all; those that ran on the caller's thread */
    int64_t collectives, joins;        /* performed; of them tutti.global */
    int64_t evaluations;               /* nodes that the evaluator computed */
    int64_t copies, copied_bytes;      /* of whole buffers, and of tiles for tutti.global */
    int64_t donated;                   /* results that took over an argument's memory */
    int64_t deadlocks;
} RunStats;
RunStats run_stats(void);

/* In the order of RunStats' fields. */
typedef enum Stat {
    STAT_LAUNCHES,
    STAT_INLINE_LAUNCHES,
    STAT_COLLECTIVES,
    STAT_JOINS,
    STAT_EVALUATIONS,
    STAT_COPIES,
    STAT_COPIED_BYTES,
    STAT_DONATED,
    STAT_DEADLOCKS,
    STAT_COUNT
} Stat;

void stat_add(Stat which, int64_t n); /* any thread */
#endif
