/* stats.c - counters since the start of the process.  All relaxed: they are read for their sums
 * and order nothing. */
#include "engine/stats.h"

#include <stdatomic.h>

static _Atomic int64_t counts[STAT_COUNT];

void stat_add(Stat which, int64_t n)
{
    atomic_fetch_add_explicit(&counts[which], n, memory_order_relaxed);
}

static int64_t get(Stat which)
{
    return atomic_load_explicit(&counts[which], memory_order_relaxed);
}

RunStats run_stats(void)
{
    return (RunStats){
        .launches = get(STAT_LAUNCHES),
        .inline_launches = get(STAT_INLINE_LAUNCHES),
        .collectives = get(STAT_COLLECTIVES),
        .joins = get(STAT_JOINS),
        .evaluations = get(STAT_EVALUATIONS),
        .copies = get(STAT_COPIES),
        .copied_bytes = get(STAT_COPIED_BYTES),
        .donated = get(STAT_DONATED),
        .deadlocks = get(STAT_DEADLOCKS),
    };
}
