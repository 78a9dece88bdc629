/* library.c - in and out: whether this thread is inside the library, when the user's handler is
 * called, and what becomes of a trace that was left. */
#include "front/value/library.h"

#include "base/guard.h"
#include "front/value/report.h"
#include "front/value/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Thread_local int call_depth;

static _Thread_local int depth; /* public functions at work, one inside the other */
static _Thread_local bool in_handler;
static _Thread_local Outermost outermost;

/* ---- a trace that was left ---- */

static void abandon(void)
{
    Outermost left = outermost;
    outermost = (Outermost){ 0 };
    tracing = NULL;
    call_depth = 0;
    session_end();
    for (int i = 0; i < left.n; i++)
        value_unpin(left.pinned[i]);
    scratch_end_blocks(left.blocks);
    if (left.building)
        pthread_mutex_unlock(left.building);
}

bool outermost_begin(const char *label, int n, const tt *pinned, Scratch *scratch,
                     pthread_mutex_t *building)
{
    tt *copy = scratch_block(scratch, sizeof *copy * (size_t)n + 1);
    if (!copy)
        return report_broken("%s: no memory on the host for a call with %d arrays", label, n),
               false;
    if (n)
        memcpy(copy, pinned, sizeof *copy * (size_t)n);
    outermost = (Outermost){ n, copy, scratch->blocks, building };
    return true;
}

void outermost_end(void)
{
    outermost = (Outermost){ 0 };
}

/* ---- in and out ---- */

char library_enter(void)
{
    if (depth++ == 0 && in_handler) {
        in_handler = false;
        if (session)
            abandon();
    }
    return 0;
}

/* The handler may leave by longjmp: then in_handler is still true at this thread's next call. */
void library_report(void)
{
    bool was_tracing = session != NULL;
    in_handler = true;
    report_to_handler();
    if (!in_handler && was_tracing) {
        fprintf(stderr,
                "tutti: the handler of tt_on_error called a function of tutti.h while a "
                "function was being traced: it may call tt_error and tt_clear_error only\n");
        exit(1);
    }
    in_handler = false;
}

void library_leave(char *unused)
{
    (void)unused;
    if (--depth == 0 && report_is_pending())
        library_report();
}

bool library_is_inside(void)
{
    return depth > 0;
}

Suspended library_suspend(void)
{
    Suspended s = { depth, guard_pause() };
    depth = 0;
    return s;
}

void library_resume(Suspended s)
{
    depth = s.depth;
    guard_resume(s.guard);
}

bool library_guard(const char *doing, GuardFn *f, void *user)
{
    Trace *frame = tracing;
    int was = depth, calls = call_depth;
    Error *error = guard_run_in(NULL, doing, f, user); /* what it leaves is its holder's */
    if (!error)
        return true;
    tracing = frame;
    depth = was;
    call_depth = calls;
    session_undo();
    report_error(error);
    return false;
}

bool options_copy(const char *who, const char *type, void *to, size_t room, const void *from,
                  size_t size)
{
    if (size < sizeof size)
        return report_broken("%s: the size of its %s is %zu: write .size = sizeof(%s)", who, type,
                             size, type),
               false;
    memcpy(to, from, size < room ? size : room);
    return true;
}
