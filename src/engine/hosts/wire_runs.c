/* wire_runs.c - what the wire knows of runs: which are under way here, which have ended. */
#include "engine/hosts/wire_inside.h"

void wire_add_span(Wire *w, HostSpan *span)
{
    pthread_mutex_lock(&w->lock);
    span->next = w->spans;
    w->spans = span;
    pthread_mutex_unlock(&w->lock);
}

HostSpan *wire_find_span(Wire *w, uint64_t key)
{
    pthread_mutex_lock(&w->lock);
    HostSpan *span = w->spans;
    while (span && span->key != key)
        span = span->next;
    pthread_mutex_unlock(&w->lock);
    return span;
}

/* The lock is held. */
static void list_run(Wire *w, WireRun *run)
{
    run->next = w->runs;
    w->runs = run;
}

/* The lock is held. */
static void unlist_run(Wire *w, const WireRun *run)
{
    WireRun **link = &w->runs;
    while (*link != run)
        link = &(*link)->next;
    *link = run->next;
}

void wire_run_begin(Wire *w, HostSpan *span, WireRun *run)
{
    pthread_mutex_lock(&w->lock);
    run->program = span->key;
    run->run = span->nlaunched++;
    list_run(w, run);
    pthread_mutex_unlock(&w->lock);
}

void wire_run_end(Wire *w, WireRun *run, const char *why, int nothers, const int32_t *others)
{
    WirePlace place = { .program = run->program, .run = run->run };
    pthread_mutex_lock(&w->lock);
    unlist_run(w, run);
    for (int i = 0; why && i < nothers;
         i++) /* those of a process stand together, or it is told again */
        if (others[i] != w->process && (!i || others[i] != others[i - 1]) &&
            !w->lost[others[i]].why)
            packet_send_failed(w, &place, others[i], why);
    if (w->waiting)
        packet_answer_waiting(w, &place);
    pthread_mutex_unlock(&w->lock);
    if (why)
        wire_attend(w);
}

void wire_run_add(Wire *w, WireRun *run)
{
    pthread_mutex_lock(&w->lock);
    list_run(w, run);
    pthread_mutex_unlock(&w->lock);
}

void wire_run_drop(Wire *w, WireRun *run, const char *why, int peer)
{
    WirePlace place = { .program = run->program, .run = run->run };
    pthread_mutex_lock(&w->lock);
    unlist_run(w, run);
    if (why && !w->lost[peer].why)
        packet_send_failed(w, &place, peer, why);
    pthread_mutex_unlock(&w->lock);
    if (why)
        wire_attend(w);
}
