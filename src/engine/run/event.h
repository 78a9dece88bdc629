/* event.h - something that will have happened: work done, or failed.
 * It is the PJRT_Event of the seam.  All functions may be called by any thread. */
#ifndef TUTTI_EVENT_H
#define TUTTI_EVENT_H
#include "base/error.h"

#include <stdbool.h>

typedef struct PJRT_Event Event; /* counted */

Event *event_new(void);             /* pending */
Event *event_ready(Error *error);   /* has happened; takes error, NULL: well */
Event *event_hold(Event *event);    /* one more holder */
void event_release(Event *event);   /* NULL is fine; a pending event keeps its callbacks */

/* It has happened: wakes who waits, then runs the callbacks.  Takes error.  Once only. */
void event_set(Event *event, Error *error);

bool event_is_ready(const Event *event);
MUST_USE Error *event_error(const Event *event); /* a copy; NULL: well.  Only when ready. */
void event_await(Event *event);

/* Calls f once, with a copy of the error that f owns: now, if it has happened, else by the
 * thread that sets it.  f may release the event. */
typedef void EventFn(Error *error, void *user);
void event_on_ready(Event *event, EventFn *f, void *user);
#endif
