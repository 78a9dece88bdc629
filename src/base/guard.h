/* guard.h - work that is undone as a whole when there is no memory for it.
 *
 *     guard_run("compiling", f, user)
 *         f ... heap_new, arenas, texts, tables, lists: f does not look whether there was memory
 *                   |
 *                   no memory: f is left, its blocks are freed, guard_run returns the error
 *
 * A compiler asks for memory in a thousand places and has nothing better to do, in any of them,
 * than to give up.  So every block taken under a guard is noted with it.  When f returns in the
 * ordinary way, the blocks that are left belong to their holders, and are noted with the guard
 * around this one if there is one.
 *
 * What must hold under a guard, because f may be left wherever it asks for memory:
 *  - f holds no lock then, and nothing that other threads see is half changed;
 *  - an object that was there before the guard, and stays, is not made to point at a block taken
 *    under it, unless it is an arena or a list of the heap: those grow as what they are;
 *  - anything else that must be given back (threads, foreign objects) has its guard_defer. */
#ifndef TUTTI_BASE_GUARD_H
#define TUTTI_BASE_GUARD_H
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct Guard Guard;
typedef void GuardFn(void *user);

/* Calls f.  Returns, if f was left: "compiling: no memory for a list of 800 bytes; it held 90000
 * bytes". */
MUST_USE Error *guard_run(const char *doing, GuardFn *f, void *user);
/* The same on a thread that works for the guard `around`, which lasts longer: blocks that are left
 * when f returns are noted there. */
MUST_USE Error *guard_run_in(Guard *around, const char *doing, GuardFn *f, void *user);
Guard *guard_here(void); /* the calling thread's guard; NULL: none */

/* Around foreign code, which may never return: from guard_pause on the guard's blocks are noted
 * nowhere, and blocks taken until guard_resume are not under it. */
Guard *guard_pause(void);
void guard_resume(Guard *guard);

/* f(user) is called, newest first, if the guard is left; `user` may be on the caller's stack.  The
 * caller defers before it makes the object, and forgets when it has given it back itself.  Both do
 * nothing without a guard. */
void guard_defer(GuardFn *f, void *user);
void guard_forget(GuardFn *f, void *user);

/* Leaves the calling thread's guard; without one, fail(). */
_Noreturn void guard_leave(ErrorCode code, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- blocks ---- */

/* A block is zeroed, aligned to 16 bytes, and noted with the calling thread's guard if it has one.
 * Any thread may free it.  Without memory heap_try returns NULL, and the others leave the guard. */
void *heap_try(size_t bytes);
void *heap_new(size_t bytes, const char *what); /* "a list": for the error */
/* The block stays noted where `at` is; NULL: as a new one.  Its new bytes are undefined. */
void *heap_resize(void *at, size_t bytes, const char *what);
/* Noted with the guard of `owner`, an older block, which will point at it. */
void *heap_try_for(const void *owner, size_t bytes);
void *heap_resize_for(const void *owner, void *at, size_t bytes, const char *what);
void heap_note(void *at, Guard *owner); /* from now on noted with that guard; NULL: with none */
void heap_free(void *at);               /* NULL is fine */

/* n rows of zeroes; never NULL, even if n is 0. */
#define HEAP_ARRAY(T, n, what) ((T *)heap_rows((size_t)(n), sizeof(T), (what)))
void *heap_rows(size_t n, size_t size, const char *what);
#endif
