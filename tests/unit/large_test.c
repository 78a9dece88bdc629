/* large_test.c - how much a user's call or function may have: many arrays on many devices, long
 * chains, deep nests.  All of it with little stack: nothing of this size may lie there. */
#include "tests/front.h"

#include <pthread.h>

enum { DEVICES = 130, MANY = 2000, STACK = 512 << 10 };

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

static void *with_little_stack(void *unused)
{
    (void)unused;
    test_many_arrays();
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
    return check_done();
}
