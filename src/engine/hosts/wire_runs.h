/* wire_runs.h - what the wire knows of runs: which are under way here, which have ended.  A packet
 * to one that has ended is answered; one to a run that has not begun waits for it. */
#ifndef TUTTI_ENGINE_HOSTS_WIRE_RUNS_H
#define TUTTI_ENGINE_HOSTS_WIRE_RUNS_H
#include "engine/hosts/span.h"
#include "engine/hosts/wire.h"

/* Part of a run that spans processes, from wire_run_begin to wire_run_end. */
typedef struct WireRun {
    struct WireRun *next;
    uint64_t program;
    int64_t run;
    /* Does nothing of it move here until other processes come?  Under the wire's lock; or NULL: that is
     * not known.  Set by whoever begins it. */
    bool (*is_stuck)(struct WireRun *run);
} WireRun;

typedef enum WireRunState { WIRE_RUN_NOT_BEGUN, WIRE_RUN_UNDER_WAY, WIRE_RUN_ENDED } WireRunState;

/* Of the run that a place is in; the wire's lock is held. */
static inline WireRunState wire_run_state(const HostSpan *spans, const WireRun *runs,
                                          const WirePlace *place)
{
    for (const WireRun *r = runs; r; r = r->next)
        if (r->program == place->program && r->run == place->run)
            return WIRE_RUN_UNDER_WAY;
    for (const HostSpan *s = spans; s; s = s->next)
        if (s->key == place->program && place->run < s->nlaunched)
            return WIRE_RUN_ENDED;
    return WIRE_RUN_NOT_BEGUN;
}

void wire_add_span(Wire *w, HostSpan *span);
HostSpan *wire_find_span(Wire *w, uint64_t key);            /* NULL: there is none */
void wire_run_begin(Wire *w, HostSpan *span, WireRun *run); /* says which run it is */
/* why: it has failed, which the other processes are told; NULL: it has not. */
void wire_run_end(Wire *w, WireRun *run, const char *why, int nothers, const int32_t *others);

/* A run that no span counts, a transfer of one array to another process: from now on whoever asks for it is
 * not told that it has not begun. */
void wire_run_add(Wire *w, WireRun *run);
/* It is over.  why: nothing was sent, which the other process is told; NULL: it was. */
void wire_run_drop(Wire *w, WireRun *run, const char *why, int peer);

/* There is work, and the caller does not poll for it. */
void wire_attend(Wire *w);
/* Polls for a short while until is_over; the caller then calls wire_attend, if it is not. */
bool wire_await(Wire *w, bool (*is_over)(void *user), void *user);
#endif
