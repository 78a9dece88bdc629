/* large_test.c - how much a user's call or function may have: many arrays on many devices, long
 * chains, deep nests.  Arrays and chains with little stack: nothing of this size may lie there.
 * Calls in calls take the caller's, as they do in C. */
#include "tests/front.h"

#include <pthread.h>

enum { DEVICES = 130, MANY = 2000, STACK = 512 << 10, CHAIN = 100000, DEEPEST = 256 };

typedef struct {
    tt at[MANY];
} Tree;

static tt ends(Tree a, Tree b)
{
    return tt_add(a.at[0], b.at[MANY - 1]);
}
TT_FUN(tt, ends, Tree, Tree);

/* 4000 arrays, each on every device. */
static void test_many_arrays(void)
{
    static Tree a, b;
    for (int i = 0; i < MANY; i++) {
        a.at[i] = tt_full(TT_F32, i);
        b.at[i] = tt_full(TT_F32, 2 * i);
    }
    tt_fn f = tt_pmap(ends, .in_axes = { TT_NONE, TT_NONE }, .axis_size = DEVICES);
    tt y = tt_call(f, a, b);
    CHECK(tt_item(tt_index(y, DEVICES - 1)) == 2 * (MANY - 1));
    CHECK(strlen(tt_lower(f, a, b)) > MANY);
    CHECK_SAID("");
}

/* f(x) = i - f(x), for i from 0 on: CHAIN / 2 + x. */
static tt chain(tt x)
{
    for (int i = 0; i < CHAIN; i++)
        x = tt_sub(i, x);
    return x;
}

static void test_long_chain(void)
{
    tt x = tt_full(TT_F32, 3);
    CHECK(strlen(tt_lower(tt_jit(chain), x)) > CHAIN);
    CHECK(tt_item(tt_call(tt_jit(chain), x)) == CHAIN / 2 + 3);
    CHECK(tt_item(tt_call(tt_grad(chain), x)) == 1);
    CHECK(strlen(tt_lower(tt_vmap(chain), tt_arange(TT_F32, 5))) > CHAIN);
    CHECK_SAID("");
}

typedef struct {
    tt state, before;
} Row;

static Row running_sum(tt state, tt x)
{
    return (Row){ tt_add(state, x), state };
}
TT_FUN(Row, running_sum, tt, tt);

static Row sum_of_row(tt state, tt row)
{
    return tt_scan_as(Row, running_sum, state, row);
}
TT_FUN(Row, sum_of_row, tt, tt);

static void test_scan_in_scan(void)
{
    tt x = tt_reshape(tt_arange(TT_F32, 12), 3, 4);
    Row r = tt_scan_as(Row, sum_of_row, tt_scalar(0.0f), x);
    CHECK(tt_item(r.state) == 66);
    CHECK(tt_item(tt_index(tt_index(r.before, 2), 3)) == 55);
    CHECK_SAID("");
}

static int levels; /* still to go down */

static tt in_calls(tt x)
{
    levels--;
    tt y = levels ? tt_call(tt_jit(in_calls), x) : tt_add(x, 1);
    levels++;
    return y;
}

static tt in_loops(tt i, tt x)
{
    levels--;
    tt y = levels ? tt_fori(2, in_loops, x) : tt_add(x, tt_add(i, 1));
    levels++;
    return y;
}
TT_FUN(tt, in_loops, tt, tt);

static tt loops(tt x)
{
    return tt_fori(2, in_loops, x);
}

static void test_deep_calls(void)
{
    levels = DEEPEST;
    CHECK(tt_item(tt_call(tt_jit(in_calls), tt_scalar(41))) == 42);
    CHECK_SAID("");
    levels = DEEPEST + 1;
    tt_call(tt_jit(in_calls), tt_zeros(TT_F32, 2)); /* of another type: traced anew */
    CHECK(strstr(front_said(), "calls are 256 deep"));
}

/* The innermost adds 1 and 2, 2 to the power of the levels around it times. */
static void test_deep_loops(void)
{
    levels = 10;
    CHECK(tt_item(tt_call(tt_jit(loops), tt_scalar(0))) == 3 << 9);
    CHECK(tt_item(tt_call(tt_grad(loops), tt_scalar(0.0))) == 1);
    CHECK_SAID("");
    levels = 200;
    tt_call(tt_jit(loops), tt_zeros(TT_F32, 2));
    CHECK(strstr(front_said(), "nested more than 64 deep"));
}

static void *with_little_stack(void *unused)
{
    (void)unused;
    test_many_arrays();
    test_long_chain();
    return NULL;
}

int main(void)
{
    front_start(DEVICES);
    pthread_t thread;
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, STACK);
    CHECK(pthread_create(&thread, &attr, with_little_stack, NULL) == 0);
    pthread_join(thread, NULL);
    test_scan_in_scan();
    test_deep_calls();
    test_deep_loops();
    return check_done();
}
