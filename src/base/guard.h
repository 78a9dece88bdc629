/* guard.h - work that is undone as a whole when there is no memory for it.
 *
 *     guard_run("compiling", f, user)
 *         f ... heap_new, arenas, texts, tables, lists: nobody looks whether there was memory
 *                   |
 *                   no memory: f is left, what it took is given back, guard_run says so
 *
 * A compiler asks for memory in a thousand places and has nothing better to do, in any of them, than
 * to give up.  So what is taken under a guard is noted with it.  When f ends in the ordinary way,
 * all that is left belongs to whoever holds it, or to the guard around this one.
 *
 * What must hold under a guard, because it may be left wherever memory is asked for:
 *  - no lock is held then, and nothing that others see is half changed;
 *  - what outlives the guard and was there before it is not made to point at what is taken now,
 *    unless it is an arena or a list of the heap that was begun before: those grow as what they are;
 *  - whatever else must be given back (threads, foreign objects) has its guard_defer. */
#ifndef TUTTI_BASE_GUARD_H
#define TUTTI_BASE_GUARD_H
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct Guard Guard;
typedef void GuardFn(void *user);

/* Calls f.  The error: "compiling: no memory for a list of 800 bytes; it held 90000 bytes". */
MUST_USE Error *guard_run(const char *doing, GuardFn *f, void *user);
/* The same on a thread that works for `around`, which lasts longer; what is left goes there. */
MUST_USE Error *guard_run_in(Guard *around, const char *doing, GuardFn *f, void *user);
Guard *guard_here(void); /* this thread's; NULL: none */

/* Around foreign code, which may never come back: what is noted is noted nowhere from here on, and
 * what is taken meanwhile is not under this guard. */
Guard *guard_pause(void);
void guard_resume(Guard *guard);

/* f(user) is called, newest first, if the guard is left; `user` may lie on the stack of whoever
 * asks.  To be asked before the thing is made; and forgotten when it is given back by hand.
 * Both do nothing without a guard. */
void guard_defer(GuardFn *f, void *user);
void guard_forget(GuardFn *f, void *user);

/* Leaves the guard; without one, fail(). */
_Noreturn void guard_leave(ErrorCode code, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- blocks ---- */

/* Zeroed, aligned to 16 bytes, noted with this thread's guard if it has one.  Any thread may free
 * it.  heap_try gives NULL when there is no memory, the others leave the guard. */
void *heap_try(size_t bytes);
void *heap_new(size_t bytes, const char *what); /* "a list": for the error */
/* Noted where `at` is; NULL: as a new one.  What is new in it holds anything. */
void *heap_resize(void *at, size_t bytes, const char *what);
/* Noted where `owner` is, an older block, which will point at it. */
void *heap_try_for(const void *owner, size_t bytes);
void *heap_resize_for(const void *owner, void *at, size_t bytes, const char *what);
void heap_note(void *at, Guard *owner); /* from now on noted there */
void heap_free(void *at); /* NULL is fine */

/* n rows of zeroes; never NULL, even if n is 0. */
#define HEAP_ARRAY(T, n, what) ((T *)heap_rows((size_t)(n), sizeof(T), (what)))
void *heap_rows(size_t n, size_t size, const char *what);
#endif
