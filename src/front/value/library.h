/* library.h - where calls of tutti.h begin and end, and where functions of the user are called.
 *
 *     user's code  |  tt_call: PUBLIC ... trace ...  |  user's function  |  tt_add: PUBLIC ...  |
 *
 * Where a public function ends, and where the user's function is called, this thread holds no lock
 * and has nothing half done but for the trace under way, which hangs on the session.  So it is there
 * that the user's error handler is called with what was reported since the call began.  The handler
 * may leave by longjmp: outside a trace nothing is left behind, and a trace that was left is found
 * and ended by this thread's next call. */
#ifndef TUTTI_FRONT_VALUE_LIBRARY_H
#define TUTTI_FRONT_VALUE_LIBRARY_H
#include "base/guard.h"
#include "front/value/memory.h"

#include <pthread.h>
#include <stdbool.h>
#include <tutti.h>

/* First in every public function but tt_error, tt_clear_error and those that a handler may call. */
#define PUBLIC __attribute__((cleanup(library_leave), unused)) char entered_ = library_enter()

char library_enter(void);
void library_leave(char *unused);
bool library_is_inside(void); /* is a public function at work, not the user's code? */
void library_report(void);    /* calls the handler with what was reported */

/* Around a call of the user's function, which is under no guard: it may never come back. */
typedef struct Suspended {
    int depth;
    Guard *guard;
} Suspended;
Suspended library_suspend(void);
void library_resume(Suspended s);

/* Calls f, which may record, under a guard.  False: there is no memory: the frames that f pushed are
 * gone, and the failure of `doing`, and with it of the trace, is reported. */
bool library_guard(const char *doing, GuardFn *f, void *user);

/* What the outermost call holds while it traces; library_enter gives it back if the trace is left. */
typedef struct Outermost {
    int n;
    const tt *pinned; /* in one of blocks */
    struct ScratchBlock *blocks;
    pthread_mutex_t *building; /* NULL: none */
} Outermost;

/* n pinned leaves: these are copied.  False: there is no memory; reported. */
bool outermost_begin(const char *label, int n, const tt *pinned, Scratch *scratch,
                     pthread_mutex_t *building);
void outermost_end(void);

extern _Thread_local int call_depth; /* calls inside calls, of this thread */

/* Copies the caller's options: a program built with an older tutti.h passes a shorter struct.  A
 * struct whose .size is not set was not filled in: that is reported, naming `who`, and `otherwise`
 * done. */
#define OPTIONS(T, who, given, otherwise)                                                          \
    T options = { 0 };                                                                             \
    if ((given) && !options_copy(who, #T, &options, sizeof options, (given), (given)->size))       \
    otherwise
bool options_copy(const char *who, const char *type, void *to, size_t room, const void *from,
                  size_t size);
#endif
