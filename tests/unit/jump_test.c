/* jump_test.c - an error handler may leave by longjmp: out of a call, out of a trace and whatever is
 * traced inside it; all goes on as if the call had not been made, and nothing is left of it. */
#include "front/value/slot.h"
#include "front/value/trace.h"
#include "tests/front.h"
#include "tests/stress/resident.h"

#include <pthread.h>
#include <setjmp.h>

static _Thread_local jmp_buf back;
static _Thread_local char told[1024];

static void jump(const char *message, void *user)
{
    (void)user;
    snprintf(told, sizeof told, "%s", message);
    tt_clear_error();
    longjmp(back, 1);
}

static tt wrong(tt x)
{
    TT_SCOPE; /* is not ended by the jump, but with the scope around it */
    return tt_add(x, tt_ones(TT_F32, 7));
}

static tt right(tt x)
{
    return tt_mul(x, 3);
}

static tt calls_wrong(tt x)
{
    return tt_call(tt_jit(wrong), tt_call(tt_jit(right), x));
}

static tt turn(tt i, tt x)
{
    return tt_add(wrong(x), i);
}
TT_FUN(tt, turn, tt, tt);

static tt loops_wrong(tt x)
{
    return tt_sum(tt_fori(3, turn, x));
}

static tt makes_nothing(tt x)
{
    (void)x;
    return (tt){ 0, 0 };
}

/* Ways to fail.  Each is given f32[2,3]. */
/* clang-format off */
static void outside(tt x) { tt_add(x, tt_ones(TT_F32, 7)); }
static void by_index(tt x) { tt_index(x, 9); }
static void stale(tt x) { tt gone = { 1u << 30, 1 }; tt_add(x, gone); }
static void by_call(tt x) { tt_call(wrong, x); }
static void by_jit(tt x) { tt_call(tt_jit(calls_wrong), x); }
static void by_grad(tt x) { tt_call(tt_grad(loops_wrong), x); }
static void by_vmap(tt x) { tt_call(tt_vmap(tt_grad(loops_wrong)), x); }
static void by_pmap(tt x) { tt_call(tt_pmap(calls_wrong), x); }
static void by_flow(tt x) { tt_fori(3, turn, x); }
static void by_result(tt x) { tt_call(tt_pmap(makes_nothing), x); }
static void by_lower(tt x) { tt_lower(tt_pmap(wrong), x); }
/* clang-format on */

static void fails(void (*way)(tt))
{
    TT_SCOPE;
    tt x = tt_ones(TT_F32, 2, 3);
    told[0] = 0;
    if (setjmp(back) == 0) {
        way(x);
        CHECK(!"it must jump");
    }
    CHECK(told[0]);
    tt y = tt_call(tt_pmap(right), x);
    CHECK(session == NULL && tracing == NULL);
    CHECK(tt_item(tt_sum(y)) == 18);
    CHECK(tt_error() == NULL);
}

static void (*const ways[])(tt) = { outside, by_index, stale,   by_call,   by_jit,  by_grad,
                                    by_vmap, by_pmap,  by_flow, by_result, by_lower };
enum { WAYS = sizeof ways / sizeof *ways };

/* All ways, again and again: slots, arrays and sessions do not pile up. */
static void test_all_ways(void)
{
    enum { TURNS = 300 };
    long before = 0;
    for (int i = 0; i < TURNS; i++) {
        TT_SCOPE;
        for (int k = 0; k < WAYS; k++)
            fails(ways[k]);
        if (i == TURNS / 10)
            before = resident();
    }
    long growth = resident() - before;
    printf("%d turns, %ld KB more\n", TURNS, growth / 1024);
#ifndef __SANITIZE_ADDRESS__ /* it keeps what is freed */
    CHECK(growth < 1 << 20);
#endif
}

/* What the call had pinned is let go: it ends with its scope. */
static void test_pins(void)
{
    tt x;
    {
        TT_SCOPE;
        x = tt_ones(TT_F32, 2, 3);
        if (setjmp(back) == 0)
            by_pmap(x);
        tt_scalar(1); /* the next call: what was left ends */
        CHECK((atomic_load(&slot_at(x.slot)->state) & 0x7fffffff) == 0);
    }
    CHECK(!slot_is(x.slot, x.generation));
}

/* The function can be called by others: its lock is free.  A thread that ends right after a jump
 * leaves nothing either. */
static void *call_again(void *unused)
{
    (void)unused;
    tt x = tt_ones(TT_F32, 2, 3);
    if (setjmp(back) == 0)
        by_pmap(x);
    return NULL;
}

static void test_threads(void)
{
    for (int i = 0; i < 8; i++) {
        pthread_t threads[2];
        for (int k = 0; k < 2; k++)
            pthread_create(&threads[k], NULL, call_again, NULL);
        for (int k = 0; k < 2; k++)
            pthread_join(threads[k], NULL);
    }
    fails(by_pmap);
}

/* What is told, and that a handler that returns is told once, while the trace goes on to its end. */
static int ntold;

static void look(const char *message, void *user)
{
    CHECK(user == &ntold);
    CHECK(strstr(message, "do not broadcast") && strstr(message, "while tracing pmap(wrong)"));
    CHECK(strcmp(message, tt_error()) == 0);
    ntold++;
}

static void test_returning(void)
{
    tt_on_error(look, &ntold);
    tt y = tt_call(tt_pmap(wrong), tt_ones(TT_F32, 2, 3));
    CHECK(ntold == 1 && !y.generation && tt_error());
    tt_clear_error();
    tt_on_error(NULL, NULL);
    CHECK(tt_item(tt_sum(tt_call(tt_pmap(right), tt_ones(TT_F32, 2, 3)))) == 18);
}

int main(void)
{
    front_start(2);
    tt_on_error(jump, NULL);
    test_all_ways();
    test_pins();
    test_threads();
    test_returning();
    return check_done();
}
