/* event.c - something that will have happened.
 *
 *     pending --event_set--> ready (with an error, or well)
 *        |                     |
 *     waiters sleep on `state`; callbacks stand in a list until then
 *
 * The error is written before `state` turns ready and never again, so whoever has seen the
 * event ready reads it without a lock. */
#include "engine/run/event.h"

#include "base/fail.h"
#include "base/sync.h"

#include <stdlib.h>

enum { PENDING, AWAITED, READY }; /* AWAITED: pending, and somebody sleeps on it */

typedef struct Callback {
    struct Callback *next;
    EventFn *f;
    void *user;
} Callback;

struct PJRT_Event {
    _Atomic int holders; /* any thread */
    _Atomic int state;   /* any thread */
    int born;            /* fork_generation at the start; set once */
    _Atomic int is_lost; /* any thread of a forked child: somebody says that it will not happen */
    Error *error;        /* set once, before state is READY */
    Lock lock;           /* of the list */
    Callback *callbacks, **callbacks_end;
};

Event *event_new(void)
{
    Event *event = calloc(1, sizeof *event);
    if (!event)
        fail("no memory for an event");
    atomic_init(&event->holders, 1);
    event->born = fork_generation();
    event->callbacks_end = &event->callbacks;
    return event;
}

/* What went well before anybody asked is one event, for all and for ever: nobody counts it. */
static Event well = { .holders = 1, .state = READY };

Event *event_ready(Error *error)
{
    if (!error)
        return &well;
    Event *event = event_new();
    event->error = error;
    atomic_init(&event->state, READY);
    return event;
}

Event *event_hold(Event *event)
{
    /* relaxed: the caller's own hold keeps it alive */
    if (event != &well)
        atomic_fetch_add_explicit(&event->holders, 1, memory_order_relaxed);
    return event;
}

static void run_callbacks(Callback *callbacks, const Error *error)
{
    while (callbacks) {
        Callback *next = callbacks->next;
        callbacks->f(error_copy(error), callbacks->user);
        free(callbacks);
        callbacks = next;
    }
}

void event_release(Event *event)
{
    /* acquire and release: the last to let go sees what all others did */
    if (!event || event == &well ||
        atomic_fetch_sub_explicit(&event->holders, 1, memory_order_acq_rel) != 1)
        return;
    /* What the callbacks would touch, locks above all, is as a worker left it at the fork. */
    if (event->callbacks && event->born == fork_generation()) {
        Error *error = error_new(CODE_CANCELLED, "an event was let go before it happened");
        run_callbacks(event->callbacks, error);
        error_free(error);
    }
    error_free(event->error);
    free(event);
}

void event_set(Event *event, Error *error)
{
    event_hold(event); /* a waiter or a callback may let go of the last other hold */
    event->error = error;
    lock_take(&event->lock);
    /* release: pairs with the acquire in event_is_ready, for `error` and what the work wrote */
    int before = atomic_exchange_explicit(&event->state, READY, memory_order_acq_rel);
    Callback *callbacks = event->callbacks;
    event->callbacks = NULL;
    lock_give(&event->lock);
    require(before != READY);
    if (before == AWAITED)
        address_wake(&event->state, WAKE_ALL);
    run_callbacks(callbacks, error);
    event_release(event);
}

bool event_is_ready(const Event *event)
{
    /* acquire: pairs with the exchange in event_set */
    return atomic_load_explicit(&event->state, memory_order_acquire) == READY;
}

Error *event_error(const Event *event)
{
    require(event_is_ready(event));
    return error_copy(event->error);
}

/* In a forked child.  Without the lock, which a worker may have held when the child was made: the
 * list that it guards is nobody's here. */
static void set_lost(Event *event)
{
    /* relaxed: only to be the one who does it */
    if (atomic_exchange_explicit(&event->is_lost, 1, memory_order_relaxed))
        return;
    event->error = error_new(CODE_PRECONDITION,
                             "this event belongs to the process that this one was forked from: it "
                             "will not happen here");
    /* release: pairs with the acquire in event_is_ready */
    if (atomic_exchange_explicit(&event->state, READY, memory_order_acq_rel) == AWAITED)
        address_wake(&event->state, WAKE_ALL);
}

void event_await(Event *event)
{
    if (event_is_ready(event))
        return;
    if (event->born != fork_generation())
        set_lost(event);
    for (;;) {
        int seen = PENDING;
        /* acquire on failure: pairs with the exchange in event_set */
        atomic_compare_exchange_strong_explicit(&event->state, &seen, AWAITED, memory_order_acquire,
                                                memory_order_acquire);
        if (seen == READY)
            return;
        address_wait(&event->state, AWAITED);
    }
}

void event_on_ready(Event *event, EventFn *f, void *user)
{
    if (!event_is_ready(event) && event->born != fork_generation())
        event_await(event); /* which does not wait there */
    if (!event_is_ready(event)) {
        Callback *callback = malloc(sizeof *callback);
        if (!callback)
            fail("no memory for a callback");
        *callback = (Callback){ NULL, f, user };
        lock_take(&event->lock);
        bool is_ready = event_is_ready(event);
        if (!is_ready) {
            *event->callbacks_end = callback;
            event->callbacks_end = &callback->next;
        }
        lock_give(&event->lock);
        if (!is_ready)
            return;
        free(callback);
    }
    f(error_copy(event->error), user);
}
