/* event.c - something that will have happened.
 *
 *     pending --event_set--> ready (with an error, or well)
 *        |                     |
 *     waiters sleep on `state`; callbacks stand in a list until then
 *
 * A callback that sets another event does not run that one's callbacks: the event is put at the end
 * of the list of those whose callbacks this thread is to run.  So the stack is as deep for a chain
 * as for one.
 *
 * The error is written before `state` turns ready and never again, so a thread that has seen the
 * event ready reads it without a lock. */
#include "engine/memory/event.h"

#include "base/fail.h"
#include "base/sync.h"
#include "engine/floats.h"
#include "engine/memory/handle.h"

#include <stdlib.h>

enum { PENDING, AWAITED, READY }; /* AWAITED: pending, and a thread sleeps on it */

struct PJRT_Event {
    Handle head;
    _Atomic int holders; /* any thread */
    _Atomic int given;   /* any thread: of the holds, those that callers of the seam have */
    _Atomic int state;   /* any thread */
    _Atomic int may_set; /* any thread: a caller of the seam may set it */
    int generation;      /* fork_generation at the start; constant */
    _Atomic int is_lost; /* any thread of a forked child: it has been set there, see set_lost */
    Error *error;        /* set once, before state is READY */
    Lock lock;           /* of the callbacks until READY; then they are the setting thread's */
    Callback *callbacks, **callbacks_end;
    Event *next; /* in set_first; the setting thread's */
};

Event *event_new(void)
{
    Event *event = handle_new(HANDLE_EVENT, sizeof *event);
    if (!event)
        return NULL;
    *event = (Event){ .head = event->head, .holders = 1, .generation = fork_generation() };
    event->callbacks_end = &event->callbacks;
    return event;
}

/* Shared by all work that had succeeded when its event was made.  Immortal: holds are not
 * counted. */
static Event success = { { HANDLE_TAG(HANDLE_EVENT) }, .holders = 1, .state = READY };
/* Shared by all work that failed without memory for an event that says how.  Immortal too. */
static Event exhausted = { { HANDLE_TAG(HANDLE_EVENT) }, .holders = 1, .state = READY };

static bool is_immortal(const Event *event)
{
    return event == &success || event == &exhausted;
}

Event *event_ready(Error *error)
{
    if (!error)
        return &success;
    Event *event = event_new();
    if (!event) {
        error_free(error);
        return &exhausted;
    }
    event->error = error;
    atomic_init(&event->state, READY);
    return event;
}

Event *event_hold(Event *event)
{
    /* relaxed: the caller's own hold keeps it alive */
    if (!is_immortal(event))
        atomic_fetch_add_explicit(&event->holders, 1, memory_order_relaxed);
    return event;
}

static Error *error_of(const Event *event)
{
    if (event == &exhausted)
        return error_new(CODE_EXHAUSTED, "something failed, and there is no memory to say how");
    return error_copy(event->error);
}

/* Events that this thread has set and whose callbacks it is to run, oldest first; each is held. */
static _Thread_local Event *set_first, **set_end;
static _Thread_local bool is_running;

void event_run_callbacks(void)
{
    bool was_running = is_running;
    is_running = true;
    for (Event *event; (event = set_first);) {
        Callback *callback = event->callbacks;
        if (callback) {
            event->callbacks = callback->next;
            callback->f(error_of(event), callback->user);
            continue; /* the callback may have called event_run_callbacks itself */
        }
        set_first = event->next;
        event_release(event);
    }
    is_running = was_running;
}

/* Runs the callbacks of an event that is set, or puts them off if this thread is inside one.  Takes
 * a hold on the event. */
static void run_or_put_off(Event *event)
{
    event->next = NULL;
    if (!set_first)
        set_end = &set_first;
    *set_end = event;
    set_end = &event->next;
    if (!is_running)
        event_run_callbacks();
}

void event_set(Event *event, Error *error)
{
    event_hold(event); /* a waiting thread or a callback may release the last other hold */
    event->error = error;
    lock_take(&event->lock);
    /* release: pairs with the acquire in event_is_ready, for `error` and what the work wrote */
    int before = atomic_exchange_explicit(&event->state, READY, memory_order_acq_rel);
    lock_give(&event->lock); /* from here on the list is this thread's */
    require(before != READY);
    if (before == AWAITED)
        address_wake(&event->state, WAKE_ALL);
    if (event->callbacks)
        run_or_put_off(event);
    else
        event_release(event);
}

void event_release(Event *event)
{
    /* acquire and release: the last release comes after what all other holders did */
    if (!event || is_immortal(event) ||
        atomic_fetch_sub_explicit(&event->holders, 1, memory_order_acq_rel) != 1)
        return;
    /* Not in a forked child: what the callbacks would touch, locks above all, is as a worker left
     * it at the fork. */
    if (event->callbacks && event->generation == fork_generation()) {
        atomic_init(&event->holders, 1);
        event_set(event, error_new(CODE_CANCELLED, "an event was let go before it happened"));
        event_release(event);
        return;
    }
    error_free(event->error);
    handle_free(HANDLE_EVENT, event, sizeof *event);
}

Event *event_give(Event *event)
{
    /* relaxed: the hold itself keeps it alive */
    if (!is_immortal(event))
        atomic_fetch_add_explicit(&event->given, 1, memory_order_relaxed);
    return event;
}

bool event_take_back(Event *event)
{
    if (is_immortal(event))
        return true;
    int given = atomic_load_explicit(&event->given, memory_order_relaxed);
    while (given > 0)
        /* relaxed: event_release orders what was done with it */
        if (atomic_compare_exchange_weak_explicit(&event->given, &given, given - 1,
                                                  memory_order_relaxed, memory_order_relaxed)) {
            event_release(event);
            return true;
        }
    return false;
}

void event_allow_set(Event *event)
{
    /* relaxed: the caller has not published it yet */
    atomic_store_explicit(&event->may_set, 1, memory_order_relaxed);
}

bool event_claim_set(Event *event)
{
    /* relaxed: it only decides which thread sets the event */
    return atomic_exchange_explicit(&event->may_set, 0, memory_order_relaxed);
}

bool event_is_ready(const Event *event)
{
    /* acquire: pairs with the exchange in event_set */
    return atomic_load_explicit(&event->state, memory_order_acquire) == READY;
}

Error *event_error(const Event *event)
{
    require(event_is_ready(event));
    return error_of(event);
}

/* In a forked child: the event will not happen, so it is set here.  Without the lock, which a
 * worker may have held when the child was made: no thread of the child uses the list that it
 * guards. */
static void set_lost(Event *event)
{
    /* relaxed: it only decides which thread sets the event */
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
    if (event->generation != fork_generation())
        set_lost(event);
    event_run_callbacks();
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

void event_then(Event *event, Callback *callback)
{
    if (!event_is_ready(event) && event->generation != fork_generation())
        event_await(event); /* in a forked child it does not wait */
    if (!event_is_ready(event)) {
        callback->next = NULL;
        lock_take(&event->lock);
        bool is_ready = event_is_ready(event);
        if (!is_ready) {
            *event->callbacks_end = callback;
            event->callbacks_end = &callback->next;
        }
        lock_give(&event->lock);
        if (!is_ready)
            return;
    }
    callback->f(error_of(event), callback->user);
}

typedef struct Foreign {
    Callback callback;
    EventFn *f;
    void *user;
} Foreign;

static void call_foreign(Error *error, void *user)
{
    Foreign foreign = *(Foreign *)user;
    free(user);
    Floats before = floats_enter_foreign();
    foreign.f(error, foreign.user);
    floats_restore(before);
}

Error *event_on_ready(Event *event, EventFn *f, void *user)
{
    Foreign *foreign = malloc(sizeof *foreign);
    if (!foreign)
        return error_new(CODE_EXHAUSTED, "no memory to wait for an event");
    *foreign = (Foreign){ { NULL, call_foreign, foreign }, f, user };
    event_then(event, &foreign->callback);
    return NULL;
}
