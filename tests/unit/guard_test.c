/* guard_test.c - work that is left for want of memory: what it took is given back, what was there
 * before stays, and what must be called is called. */
#include "base/arena.h"
#include "base/grow.h"
#include "base/guard.h"
#include "base/sync.h"
#include "base/table.h"
#include "base/text.h"
#include "tests/check.h"

#include <malloc.h>
#include <stdint.h>
#include <string.h>

static char calls[16];
static void call(void *letter)
{
    strncat(calls, letter, 1);
}

static void ask_too_much(void)
{
    heap_new(SIZE_MAX, "a mountain");
}

/* One of each, none given back. */
static void take_some(void *user)
{
    (void)user;
    Text text = { 0 };
    Table table = { 0 };
    int *list = NULL, room = 0;
    Arena *arena = arena_new();
    for (int i = 0; i < 1000; i++) {
        text_printf(&text, "%d", i);
        table_set(&table, &i, sizeof i, (uint64_t)i);
        HEAP_ROOM(list, i, &room);
        arena_alloc(arena, 1000);
        (void)!error_new(CODE_INVALID, "lost %d", i);
    }
}

static void fail_after_some(void *user)
{
    guard_defer(call, "a");
    take_some(user);
    guard_defer(call, "b");
    guard_defer(call, "c");
    guard_forget(call, "b");
    ask_too_much();
}

static size_t bytes_in_use(void)
{
    return mallinfo2().uordblks + mallinfo2().hblkhd;
}

static void left_work_leaves_nothing(void)
{
    error_free(guard_run("first", fail_after_some, NULL));
    size_t before = bytes_in_use();
    for (int i = 0; i < 10; i++) {
        calls[0] = 0;
        Error *error = guard_run("climbing", fail_after_some, NULL);
        CHECK(error && error_code(error) == CODE_EXHAUSTED);
        CHECK(strstr(error_text(error),
                     "climbing: no memory for a mountain of 18446744073709551615 "
                     "bytes; it held 1"));
        CHECK_STR(calls, "ca");
        error_free(error);
    }
#ifndef __SANITIZE_ADDRESS__
    CHECK(bytes_in_use() < before + 100000); /* each time takes more than a million */
#else
    (void)before;
#endif
    CHECK(!guard_here());
}

/* ---- what is older than the guard ---- */

typedef struct Older {
    Arena *arena;
    Text text;
    int *list;
    int n, room;
    char *last;
} Older;

static void grow_and_fail(void *user)
{
    Older *o = user;
    for (int i = 0; i < 1000; i++) {
        o->last = arena_copy(o->arena, "last", 5);
        arena_alloc(o->arena, 1000);
        text_printf(&o->text, "x");
        HEAP_ROOM(o->list, o->n, &o->room);
        o->list[o->n++] = i;
    }
    ask_too_much();
}

static void older_things_stay(void)
{
    Older o = { .arena = arena_new() };
    text_printf(&o.text, "x");
    HEAP_ROOM(o.list, 0, &o.room);
    error_free(guard_run("growing", grow_and_fail, &o));
    CHECK_STR(o.last, "last");
    CHECK(o.text.n == 1001 && strlen(o.text.at) == 1001);
    CHECK(o.n == 1000 && o.list[999] == 999);
    arena_alloc(o.arena, 100000);
    arena_free(o.arena);
    text_free(&o.text);
    heap_free(o.list);
}

/* ---- one in the other, and other threads ---- */

static void make_text(void *user)
{
    Text *text = user;
    guard_defer(call, "m");
    text_printf(text, "made by another");
}

static void keep(void *user)
{
    Error *error = thread_run_deep("part", make_text, user);
    CHECK(!error);
    CHECK_STR(text_cstr(user), "made by another");
}

static void keep_then_fail(void *user)
{
    keep(user);
    Error *error = guard_run("inner", fail_after_some, NULL);
    CHECK(error);
    CHECK_STR(calls, "ca"); /* those of the inner one */
    error_free(error);
    error = thread_run_deep("thread", fail_after_some, NULL);
    CHECK(error && strstr(error_text(error), "thread: no memory for a mountain"));
    ask_too_much();
}

static void parts_belong_to_the_whole(void)
{
    Text text = { 0 };
    CHECK(!guard_run("whole", keep, &text));
    CHECK_STR(text_cstr(&text), "made by another");
    text_free(&text);
    calls[0] = 0;
    error_free(guard_run("whole", keep_then_fail, &text));
    CHECK_STR(calls, "cacam");
}

static void fail_again(void *user)
{
    call(user);
    ask_too_much();
}

static void defer_failures(void *user)
{
    (void)user;
    guard_defer(call, "x");
    guard_defer(fail_again, "y");
    guard_defer(fail_again, "z");
    guard_leave(CODE_INTERNAL, "first reason");
}

static void calls_may_fail_too(void)
{
    calls[0] = 0;
    Error *error = guard_run("leaving", defer_failures, NULL);
    CHECK(error_code(error) == CODE_INTERNAL);
    CHECK(strstr(error_text(error), "leaving: first reason"));
    CHECK_STR(calls, "zyx");
    error_free(error);
}

int main(void)
{
    left_work_leaves_nothing();
    older_things_stay();
    parts_belong_to_the_whole();
    calls_may_fail_too();
    return check_done();
}
