/* guard.c - a guard: a list of blocks, a list of deferred calls, and where to return to.
 *
 *     Guard --> block <-> block <-> block       each: [owner, neighbours, bytes | the block]
 *       |
 *       +-----> deferred calls, newest first
 *
 * The lists are under the guard's lock, because other threads may do part of the work: they free
 * blocks, and hand over those that they leave (guard_run_in). */
#include "base/guard.h"

#include "base/fail.h"
#include "base/sync.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Block {
    Guard *owner; /* NULL: noted nowhere */
    struct Block *older, *newer;
    size_t bytes;
    _Alignas(16) char data[];
} Block;

typedef struct Deferred {
    GuardFn *f;
    void *user;
    struct Deferred *older;
} Deferred;

struct Guard {
    Guard *around;
    Lock lock; /* for the lists */
    Block *newest;
    size_t bytes;
    Deferred *deferred; /* newest first; each a block of this guard */
    jmp_buf back;
    ErrorCode code;
    char why[240];
};

static _Thread_local Guard *here;

Guard *guard_here(void)
{
    return here;
}

/* ---- blocks ---- */

static Block *block_of(const void *at)
{
    return (Block *)((char *)at - offsetof(Block, data));
}

static void note(Block *block, Guard *owner)
{
    block->owner = owner;
    if (!owner)
        return;
    lock_take(&owner->lock);
    block->newer = NULL;
    block->older = owner->newest;
    if (block->older)
        block->older->newer = block;
    owner->newest = block;
    owner->bytes += block->bytes;
    lock_give(&owner->lock);
}

static void strike(Block *block)
{
    Guard *owner = block->owner;
    if (!owner)
        return;
    lock_take(&owner->lock);
    if (block->older)
        block->older->newer = block->newer;
    if (block->newer)
        block->newer->older = block->older;
    else
        owner->newest = block->older;
    owner->bytes -= block->bytes;
    lock_give(&owner->lock);
}

static void *take(size_t bytes, Guard *owner)
{
    Block *block = bytes < SIZE_MAX / 2 ? calloc(1, sizeof *block + bytes) : NULL;
    if (!block)
        return NULL;
    block->bytes = bytes;
    note(block, owner);
    return block->data;
}

static _Noreturn void leave_for(size_t bytes, const char *what)
{
    guard_leave(CODE_EXHAUSTED, "no memory for %s of %zu bytes", what, bytes);
}

void *heap_try(size_t bytes)
{
    return take(bytes, here);
}

void *heap_try_for(const void *owner, size_t bytes)
{
    return take(bytes, block_of(owner)->owner);
}

static void *resize(Guard *owner, void *at, size_t bytes, const char *what)
{
    if (!at) {
        at = take(bytes, owner);
        if (!at)
            leave_for(bytes, what);
        return at;
    }
    Block *block = block_of(at);
    strike(block);
    Block *moved = bytes < SIZE_MAX / 2 ? realloc(block, sizeof *block + bytes) : NULL;
    if (!moved) {
        note(block, block->owner);
        leave_for(bytes, what);
    }
    moved->bytes = bytes;
    note(moved, moved->owner);
    return moved->data;
}

void *heap_new(size_t bytes, const char *what)
{
    return resize(here, NULL, bytes, what);
}

void *heap_rows(size_t n, size_t size, const char *what)
{
    if (n > SIZE_MAX / 2 / size)
        leave_for(SIZE_MAX, what);
    return heap_new((n ? n : 1) * size, what);
}

void *heap_resize(void *at, size_t bytes, const char *what)
{
    return resize(here, at, bytes, what);
}

void *heap_resize_for(const void *owner, void *at, size_t bytes, const char *what)
{
    return resize(block_of(owner)->owner, at, bytes, what);
}

void heap_free(void *at)
{
    if (!at)
        return;
    strike(block_of(at));
    free(block_of(at));
}

void heap_note(void *at, Guard *owner)
{
    strike(block_of(at));
    note(block_of(at), owner);
}

/* ---- calls ---- */

static void put_deferred(Guard *g, Deferred *newest, Deferred *oldest)
{
    lock_take(&g->lock);
    oldest->older = g->deferred;
    g->deferred = newest;
    lock_give(&g->lock);
}

/* Removes the newest call of f(user); f NULL: the newest of all. */
static Deferred *take_deferred(Guard *g, GuardFn *f, const void *user)
{
    lock_take(&g->lock);
    Deferred **at = &g->deferred;
    while (*at && f && ((*at)->f != f || (*at)->user != user))
        at = &(*at)->older;
    Deferred *taken = *at;
    if (taken)
        *at = taken->older;
    lock_give(&g->lock);
    return taken;
}

void guard_defer(GuardFn *f, void *user)
{
    if (!here)
        return;
    Deferred *d = heap_new(sizeof *d, "a deferred call");
    *d = (Deferred){ f, user, NULL };
    put_deferred(here, d, d);
}

void guard_forget(GuardFn *f, void *user)
{
    if (here)
        heap_free(take_deferred(here, f, user));
}

/* ---- begin, end, leave ---- */

/* The deferred calls run while the stack is still what it was.  One that finds no memory itself
 * comes here again, and the next one is called. */
void guard_leave(ErrorCode code, const char *format, ...)
{
    Guard *g = here;
    char why[sizeof g->why];
    va_list args;
    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    if (!g)
        fail("%s", why);
    if (!g->code) {
        g->code = code;
        memcpy(g->why, why, sizeof why);
    }
    for (Deferred *d; (d = take_deferred(g, NULL, NULL));)
        d->f(d->user);
    longjmp(g->back, 1);
}

static void hand_over(Guard *g, Guard *around)
{
    for (Deferred *d; !around && (d = take_deferred(g, NULL, NULL));)
        heap_free(d);
    while (g->newest) {
        Block *block = g->newest;
        strike(block);
        note(block, around);
    }
    Deferred *oldest = g->deferred;
    while (oldest && oldest->older)
        oldest = oldest->older;
    if (oldest)
        put_deferred(around, g->deferred, oldest);
}

Guard *guard_pause(void)
{
    Guard *g = here;
    if (g)
        hand_over(g, NULL);
    here = NULL;
    return g;
}

void guard_resume(Guard *guard)
{
    here = guard;
}

static size_t free_all(Guard *g)
{
    size_t held = g->bytes;
    while (g->newest) {
        Block *older = g->newest->older;
        free(g->newest);
        g->newest = older;
    }
    return held;
}

Error *guard_run_in(Guard *around, const char *doing, GuardFn *f, void *user)
{
    Guard *before = here;
    Guard g = { .around = around };
    if (setjmp(g.back) == 0) {
        here = &g;
        f(user);
        here = before;
        hand_over(&g, around);
        return NULL;
    }
    here = NULL; /* there may be no memory for the error, and `around` may be another thread's */
    size_t held = free_all(&g);
    Error *error = error_new(g.code, "%s: %s; it held %zu bytes", doing, g.why, held);
    here = before;
    error_note(error, around);
    return error;
}

Error *guard_run(const char *doing, GuardFn *f, void *user)
{
    return guard_run_in(here, doing, f, user);
}
