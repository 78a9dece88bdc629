/* stats.h - the counters of launch.h's RunStats, for whoever counts. */
#ifndef TUTTI_ENGINE_EXEC_STATS_H
#define TUTTI_ENGINE_EXEC_STATS_H
#include <stdint.h>

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
