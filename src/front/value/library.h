/* library.h - where calls of tutti.h begin and end, and where functions of the user are called.
 *
 *     user's code  |  tt_call: PUBLIC ... trace ...  |  user's function  |  tt_add: PUBLIC ...  |
 *
 * At every border nothing is locked and nothing half done but for the trace under way, which hangs
 * on the session.  So it is there that the error handler is told what was said since the call
 * began, and it may leave by longjmp: outside a trace nothing is left behind, and a trace that was
 * left is found by the next call, and ended. */
#ifndef TUTTI_FRONT_VALUE_LIBRARY_H
#define TUTTI_FRONT_VALUE_LIBRARY_H
#include "base/guard.h"
#include "front/value/memory.h"

#include <pthread.h>
#include <stdbool.h>
#include <tutti.h>

/* First in every public function but those of which a handler may make use. */
#define PUBLIC __attribute__((cleanup(library_leave), unused)) char entered_ = library_enter()

char library_enter(void);
void library_leave(char *unused);
bool library_is_inside(void); /* is a public function at work, not the user's code? */
void library_report(void);      /* the handler, what was said */

/* Around a call of the user's function, which is under no guard: it may never come back. */
typedef struct Suspended {
    int depth;
    Guard *guard;
} Suspended;
Suspended library_suspend(void);
void library_resume(Suspended s);

/* Calls f, which may record, under a guard.  When there is no memory, frames that it pushed are
 * gone, `doing` is said to have failed, and so is the trace.  False: that. */
bool library_guard(const char *doing, GuardFn *f, void *user);

/* What the outermost call has when a trace begins, to be given back if that is left. */
typedef struct Outermost {
    int n;
    const tt *pinned; /* in one of blocks */
    struct ScratchBlock *blocks;
    pthread_mutex_t *building; /* NULL: none */
} Outermost;

/* n pinned leaves: these are copied.  False: there is no memory; reported. */
bool outermost_begin(const char *label, int n, const tt *pinned, Scratch *scratch, pthread_mutex_t *building);
void outermost_end(void);

extern _Thread_local int call_depth; /* calls inside calls, of this thread */

/* What the caller's struct has of ours: it may be older, and shorter.  One that does not say its
 * size was not filled in; that is said, to `who`, and `otherwise` done. */
#define OPTIONS(T, who, given, otherwise)                                                          \
    T options = { 0 };                                                                             \
    if ((given) && !options_copy(who, #T, &options, sizeof options, (given), (given)->size))       \
    otherwise
bool options_copy(const char *who, const char *type, void *to, size_t room, const void *from,
                  size_t size);
#endif
