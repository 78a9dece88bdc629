/* closure_test.c - functions with a pointer of their own: called, transformed, refused. */
#include "tests/front.h"

#include <math.h>

/* x * rate, for every array of every argument. */
typedef struct Scale {
    double rate;
    int ncalls;
} Scale;

static int scale(void *user, const tt_tree *args, int nargs, tt *results, int room)
{
    Scale *s = user;
    int n = 0;
    s->ncalls++;
    for (int i = 0; i < nargs; i++)
        for (int k = 0; k < args[i].n && n < room; k++)
            results[n++] = tt_mul(args[i].leaf[k], s->rate);
    return n;
}

static int total(void *user, const tt_tree *args, int nargs, tt *results, int room)
{
    (void)nargs;
    (void)room;
    results[0] = tt_sum(tt_mul(args[0].leaf[0], tt_mul(args[0].leaf[0], *(double *)user)));
    return 1;
}

static int fails(void *user, const tt_tree *args, int nargs, tt *results, int room)
{
    (void)args;
    (void)nargs;
    (void)results;
    (void)room;
    return *(int *)user;
}

#define CLOSURE(...) tt_fn_new(&(const tt_closure){ .size = sizeof(tt_closure), __VA_ARGS__ })

typedef struct {
    tt a, b;
} Two;

static void test_calls(void)
{
    static Scale three = { 3, 0 };
    tt_fn f = CLOSURE(.apply = scale, .user = &three, .name = "scale");
    CHECK(f == CLOSURE(.apply = scale, .user = &three, .name = "scale"));
    tt x = tt_arange(TT_F32, 4);
    CHECK(tt_item(tt_index(tt_call(f, x), 3)) == 9);
    tt_call(f, x);
    CHECK(three.ncalls == 1);
    /* As many arrays as it is given. */
    Two t = tt_call_as(Two, f, ((Two){ x, tt_scalar(2) }));
    CHECK(tt_item(t.b) == 6 && tt_item(tt_index(t.a, 1)) == 3);
    t = tt_call_as(Two, f, x, tt_scalar(5));
    CHECK(tt_item(t.b) == 15);
    CHECK_SAID("");
}

static tt around(tt x)
{
    static Scale half = { 0.5, 0 };
    tt_fn f = CLOSURE(.apply = scale, .user = &half, .name = "half");
    return tt_add(tt_call(f, x), tt_call(tt_jit(f), x));
}

static void test_transforms(void)
{
    static double two = 2, seven = 7;
    tt_fn f = CLOSURE(.apply = total, .user = &two, .name = "total");
    tt_fn g = CLOSURE(.apply = total, .user = &seven, .name = "total");
    CHECK(f != g);
    tt x = tt_reshape(tt_arange(TT_F32, 8), 4, 2);
    CHECK(tt_item(tt_index(tt_call(tt_grad(f), x), 3, 1)) == 28);
    CHECK(tt_item(tt_index(tt_call(tt_grad(g), x), 3, 1)) == 98);
    CHECK(tt_item(tt_index(tt_call(tt_vmap(tt_grad(f)), x), 1, 0)) == 8);
    CHECK(tt_item(tt_index(tt_call(tt_pmap(f), x), 2)) == 2 * (16 + 25));
    CHECK(tt_item(tt_index(tt_call(around, x), 3, 1)) == 7);
    CHECK(tt_item(tt_index(tt_call(tt_vmap(around), x), 3, 1)) == 7);
    CHECK_SAID("");
}

static void test_mistakes(void)
{
    static double two = 2;
    static int minus = -1, many = 9;
    tt x = tt_arange(TT_F32, 4);
    CHECK(!CLOSURE(.user = &two));
    CHECK(strstr(front_said(), "tt_fn_new: .apply is not given: there is nothing to call"));
    tt_fn f = CLOSURE(.apply = total, .user = &two, .name = "total", .nargs = 1, .nleaves = { 1 });
    tt_call(f, x, x);
    CHECK(strstr(front_said(), "total takes 1 argument, not 2"));
    tt_call_as(Two, f, x);
    CHECK(strstr(front_said(), "total returns 1 array; the caller has room for 2"));
    tt_call(CLOSURE(.apply = fails, .user = &minus, .name = "fails"), x);
    CHECK(strstr(front_said(), "fails: it failed: its apply returned -1"));
    tt_call(CLOSURE(.apply = fails, .user = &many, .name = "fails", .nresults = 1), x);
    CHECK(strstr(front_said(), "fails: its apply gives 9 arrays, and has room for 1"));
    CHECK(!CLOSURE(.apply = total, .nargs = TT_MAX_ARGS + 1));
    CHECK(strstr(front_said(), "tt_fn_new: 17 arguments and 0 results"));
}

int main(void)
{
    front_start(4);
    test_calls();
    test_transforms();
    test_mistakes();
    return check_done();
}
