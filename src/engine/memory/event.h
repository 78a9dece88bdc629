/* event.h - something that will have happened: work that is done, or has failed.
 * It is the PJRT_Event of the seam.  Any thread may call any of these functions. */
#ifndef TUTTI_ENGINE_MEMORY_EVENT_H
#define TUTTI_ENGINE_MEMORY_EVENT_H
#include "base/error.h"

#include <stdbool.h>

typedef struct PJRT_Event Event; /* counted */

Event *event_new(void);           /* pending; NULL: no memory */
Event *event_ready(Error *error); /* has happened; takes error, NULL: success.  Never NULL. */
Event *event_hold(Event *event);  /* one more holder */
void event_release(Event *event); /* NULL is fine; a pending event keeps its callbacks */
/* A hold that crosses the seam is counted as a caller's too, so that a caller that destroys its
 * event twice does not release the engine's own hold.  event_give counts one and returns the event;
 * event_take_back releases one, or returns false if callers have none left. */
Event *event_give(Event *event);
MUST_USE bool event_take_back(Event *event);

/* The event has happened: wakes the threads that await it, then runs its callbacks.  Takes error.
 * Once only.  If the calling thread is inside a callback, the event's callbacks run after that one
 * has returned: chains of events are as long as users like, and the stack is not. */
void event_set(Event *event, Error *error);
/* For events that a caller of the seam sets, once: event_allow_set lets it, and event_claim_set
 * returns whether it may now set the event. */
void event_allow_set(Event *event);
bool event_claim_set(Event *event);
/* Runs the callbacks that event_set has put off on this thread.  A thread that is about to wait,
 * perhaps for just those, must call it first; event_await does so itself. */
void event_run_callbacks(void);

bool event_is_ready(const Event *event);
MUST_USE Error *event_error(const Event *event); /* a copy; NULL: success.  Only when ready. */
void event_await(Event *event);

/* A callback is called once, with a copy of the error, which it owns: at once, if the event has
 * happened, else by the thread that sets it.  It may release the event. */
typedef void EventFn(Error *error, void *user);

/* Callbacks of the engine bring their memory along: it must last until f is called. */
typedef struct Callback {
    struct Callback *next; /* under the event's lock */
    EventFn *f;
    void *user;
} Callback;
void event_then(Event *event, Callback *callback);
/* The same for a caller's function, which runs in the thread's own floating-point state
 * (floats.h). */
MUST_USE Error *event_on_ready(Event *event, EventFn *f, void *user);
#endif
