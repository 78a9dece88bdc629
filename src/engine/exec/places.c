/* places.c - idle workers make room for the thread that they are to help.
 *
 *     core 0   [ a task's loop ................ ]        a worker that the system wakes on core 0, because its caller
 *     core 1   [caller]                                  still runs on core 1, would wait there until the loop has ended
 *
 * The system moves a thread that waits for a core only after milliseconds, and wakes it where it was before: so
 * it may happen in every call.  Whoever offers a loop therefore sends idle workers that stand on its own core
 * elsewhere, by their affinity, before they are woken; a worker that has come takes its affinity back.  So it is
 * as it was when foreign code runs on the worker, and no core belongs to anybody. */
#define _GNU_SOURCE /* sched_getcpu, sched_setaffinity */
#include "engine/exec/executor.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BUSY = -1 };
enum { AT_HOME, IS_BEING_SENT, SENT };

struct Place {
    _Alignas(64) _Atomic int core; /* where the worker is, if it is idle; else BUSY */
    _Atomic int state;
    pid_t thread; /* constant once core is not BUSY */
    cpu_set_t
        cores; /* its affinity before it was sent; of whoever sends it, and then of the worker */
};

Place *places_new(int n)
{
    Place *places = aligned_alloc(64, sizeof *places * (size_t)n);
    if (places)
        memset(places, 0, sizeof *places * (size_t)n);
    for (int i = 0; places && i < n; i++) {
        atomic_init(&places[i].core, BUSY);
        atomic_init(&places[i].state, AT_HOME);
    }
    return places;
}

/* The worker, wherever it is now, may go anywhere again. */
static void come_home(Place *place)
{
    /* acquire: pairs with the release in send_away */
    if (atomic_load_explicit(&place->state, memory_order_acquire) != SENT)
        return;
    sched_setaffinity(0, sizeof place->cores,
                      &place->cores); /* if it fails, it stays where it is */
    /* release: pairs with the acquire in send_away */
    atomic_store_explicit(&place->state, AT_HOME, memory_order_release);
}

void place_is_idle(Place *places, int worker)
{
    Place *place = &places[worker];
    come_home(place);
    place->thread = place->thread ? place->thread : gettid();
    /* release: pairs with the acquire in places_make_room, which is for the thread */
    atomic_store_explicit(&place->core, sched_getcpu(), memory_order_release);
}

void place_is_busy(Place *places, int worker)
{
    Place *place = &places[worker];
    /* relaxed: one that is sent too late is at work already, and comes home when it is idle */
    atomic_store_explicit(&place->core, BUSY, memory_order_relaxed);
    come_home(place);
}

static void send_away(Place *place, int core)
{
    int state = AT_HOME;
    /* acquire: pairs with the release in come_home */
    if (!atomic_compare_exchange_strong_explicit(&place->state, &state, IS_BEING_SENT,
                                                 memory_order_acquire, memory_order_relaxed))
        return;
    bool is_known = sched_getaffinity(place->thread, sizeof place->cores, &place->cores) == 0;
    cpu_set_t others = place->cores;
    CPU_CLR(core, &others);
    bool is_sent = is_known && CPU_COUNT(&others) > 0 &&
                   sched_setaffinity(place->thread, sizeof others, &others) == 0;
    /* release: pairs with the acquire in come_home */
    atomic_store_explicit(&place->state, is_sent ? SENT : AT_HOME, memory_order_release);
}

void places_make_room(Place *places, int n)
{
    int core = sched_getcpu();
    for (int i = 0; i < n && core >= 0 && core < CPU_SETSIZE; i++)
        /* acquire: pairs with the release in place_is_idle */
        if (atomic_load_explicit(&places[i].core, memory_order_acquire) == core)
            send_away(&places[i], core);
}
