/* places.c - idle workers make room for the thread that they are to help.
 *
 *     core 0   [ a task's loop ................ ]        a worker that the system wakes on core 0, because its caller
 *     core 1   [caller]                                  still runs on core 1, would wait there until the loop has ended
 *
 * The system moves a thread that waits for a core only after milliseconds, and wakes it where it was before: so
 * it may happen in every call.  Whoever offers a loop therefore sends idle workers that stand on its own core
 * elsewhere, by their affinity, before they are woken; a worker that has come takes its affinity back,
 * and waits for whoever is about to send it.  So it is as it was when foreign code runs on the worker, and no core
 * belongs to anybody. */
#define _GNU_SOURCE /* sched_getcpu, sched_setaffinity */
#include "engine/exec/executor.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Idle workers may be sent; one at work is left alone. */
enum { IS_BUSY, IS_IDLE, IS_BEING_SENT, IS_SENT };

struct Place {
    _Alignas(64) _Atomic int state;
    _Atomic int core; /* where the worker was when it became idle */
    pid_t thread;     /* constant once it was idle */
    cpu_set_t
        cores; /* its affinity before it was sent; of whoever sends it, and then of the worker */
};

Place *places_new(int n)
{
    Place *places = aligned_alloc(64, sizeof *places * (size_t)n);
    if (places)
        memset(places, 0, sizeof *places * (size_t)n);
    for (int i = 0; places && i < n; i++) {
        atomic_init(&places[i].state, IS_BUSY);
        atomic_init(&places[i].core, 0);
    }
    return places;
}

void place_is_busy(Place *places, int worker)
{
    Place *place = &places[worker];
    int state = IS_IDLE;
    /* acquire: pairs with the release in send_away, since what a sender wrote is read or written again */
    while (!atomic_compare_exchange_strong_explicit(&place->state, &state, IS_BUSY,
                                                    memory_order_acquire, memory_order_acquire)) {
        if (state == IS_BUSY)
            return;
        if (state == IS_SENT) {
            sched_setaffinity(0, sizeof place->cores,
                              &place->cores); /* if it fails, it stays there */
            /* relaxed: nobody but the worker changes it from here on */
            atomic_store_explicit(&place->state, IS_BUSY, memory_order_relaxed);
            return;
        }
        sched_yield(); /* its sender is between two system calls */
        state = IS_IDLE;
    }
}

void place_is_idle(Place *places, int worker)
{
    place_is_busy(places, worker); /* it may have been sent in vain */
    Place *place = &places[worker];
    place->thread = place->thread ? place->thread : gettid();
    atomic_store_explicit(&place->core, sched_getcpu(), memory_order_relaxed); /* published by: */
    /* release: pairs with the acquire in send_away, which is for the thread and its affinity */
    atomic_store_explicit(&place->state, IS_IDLE, memory_order_release);
}

static void send_away(Place *place, int core)
{
    int state = IS_IDLE;
    /* acquire: pairs with the release in place_is_idle */
    if (!atomic_compare_exchange_strong_explicit(&place->state, &state, IS_BEING_SENT,
                                                 memory_order_acquire, memory_order_relaxed))
        return;
    bool is_known = sched_getaffinity(place->thread, sizeof place->cores, &place->cores) == 0;
    cpu_set_t others = place->cores;
    CPU_CLR(core, &others);
    bool is_sent = is_known && CPU_COUNT(&others) > 0 &&
                   sched_setaffinity(place->thread, sizeof others, &others) == 0;
    /* release: pairs with the acquire in place_is_busy */
    atomic_store_explicit(&place->state, is_sent ? IS_SENT : IS_IDLE, memory_order_release);
}

void places_make_room(Place *places, int n)
{
    int core = sched_getcpu();
    for (int i = 0; i < n && core >= 0 && core < CPU_SETSIZE; i++)
        /* relaxed: a guess, and send_away looks again whether it is idle */
        if (atomic_load_explicit(&places[i].core, memory_order_relaxed) == core)
            send_away(&places[i], core);
}
