/* event.h - something that will have happened: work done, or failed.
 * It is the PJRT_Event of the seam.  All functions may be called by any thread. */
#ifndef TUTTI_ENGINE_MEMORY_EVENT_H
#define TUTTI_ENGINE_MEMORY_EVENT_H
#include "base/error.h"

#include <stdbool.h>

typedef struct PJRT_Event Event; /* counted */

Event *event_new(void);             /* pending; NULL: no memory */
Event *event_ready(Error *error);   /* has happened; takes error, NULL: well.  Never NULL. */
Event *event_hold(Event *event);    /* one more holder */
void event_release(Event *event);   /* NULL is fine; a pending event keeps its callbacks */
/* A hold that goes over the seam is counted as a caller's, so that a caller that lets go of it twice
 * does not let go of the engine's own.  Gives the event; and takes such a hold back: false: there is
 * none. */
Event *event_give(Event *event);
MUST_USE bool event_take_back(Event *event);

/* It has happened: wakes who waits, then runs the callbacks.  Takes error.  Once only.  Called by a
 * callback it leaves that to whoever runs that one: chains of events are as long as users like. */
void event_set(Event *event, Error *error);
/* For events that a caller sets: it may, once.  event_allow_set lets it. */
void event_allow_set(Event *event);
bool event_claim_set(Event *event);
/* Runs what a callback on this thread has left to do.  For whoever is about to wait, perhaps for
 * just that; event_await does it itself. */
void event_run_callbacks(void);

bool event_is_ready(const Event *event);
MUST_USE Error *event_error(const Event *event); /* a copy; NULL: well.  Only when ready. */
void event_await(Event *event);

/* Called once, with a copy of the error, which it owns: now, if it has happened, else by the thread
 * that sets it.  It may release the event. */
typedef void EventFn(Error *error, void *user);

/* Our own callbacks bring their memory along: it must last until f is called. */
typedef struct Callback {
    struct Callback *next; /* under the event's lock */
    EventFn *f;
    void *user;
} Callback;
void event_then(Event *event, Callback *callback);
/* The same for somebody else's function, which runs in its own floating-point state (floats.h). */
MUST_USE Error *event_on_ready(Event *event, EventFn *f, void *user);
#endif
