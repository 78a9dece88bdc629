/* entry.h - where calls of tutti.h begin and end, and where functions of the user are called.
 *
 *     user's code  |  tt_call: PUBLIC ... trace ...  |  user's function  |  tt_add: PUBLIC ...  |
 *
 * At every border nothing is locked and nothing half done but for the trace under way, which hangs
 * on the session.  So it is there that the error handler is told what was said since the call
 * began, and it may leave by longjmp: outside a trace nothing is left behind, and a trace that was
 * left is found by the next call, and ended. */
#ifndef TUTTI_FRONT_VALUE_ENTRY_H
#define TUTTI_FRONT_VALUE_ENTRY_H
#include "base/guard.h"
#include "front/transform/fn.h"
#include "front/value/scratch.h"

/* First in every public function but those of which a handler may make use. */
#define PUBLIC __attribute__((cleanup(library_leave), unused)) char border_ = library_enter()

char library_enter(void);
void library_leave(char *unused);
bool library_is_inside(void); /* is a public function at work, not the user's code? */
void library_tell(void);      /* the handler, what was said */

/* Calls the C function that f is.  Under no guard: it may never come back. */
void user_call(tt_fn f, const tt *leaves, tt *results);

/* Calls f, which may record, under a guard.  When there is no memory, frames that it pushed are
 * gone, `doing` is said to have failed, and so is the trace.  False: that. */
bool guarded(const char *doing, GuardFn *f, void *user);

/* What the outermost call has when a trace begins, to be given back if that is left. */
typedef struct Outermost {
    int n;
    const tt *pinned; /* in one of blocks */
    struct ScratchBlock *blocks;
    pthread_mutex_t *building; /* NULL: none */
} Outermost;

/* n pinned leaves: these are copied.  False: there is no memory; said. */
bool outermost_begin(tt_fn f, int n, const tt *pinned, Scratch *scratch, pthread_mutex_t *building);
void outermost_end(void);

extern _Thread_local int call_depth; /* calls inside calls, of this thread */
#endif
