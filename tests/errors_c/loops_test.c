/* loops_test.c - mistakes with loops and branches. */
#include "tests/errors_c/case.h"

/* clang-format off */
typedef struct { tt a, b; } Two;
typedef struct { int n; } Config;

static tt one(tt x) { return x; }
static tt two(tt x, tt y) { return tt_add(x, y); }
static tt below(tt x) { return tt_less(x, 3); }
static tt below_other(tt x, tt y) { return tt_less(x, y); }
static Two swap(Two x) { return (Two){ x.b, x.a }; }
TT_FUN(Two, swap, Two);
static Two both(tt x, tt y) { return (Two){ x, y }; }
TT_FUN(Two, both, tt, tt);
static tt deep(const Config *c, tt x) { return tt_mul(x, c->n); }
TT_FUN_WITH(Config, tt, deep, tt);
/* clang-format on */

CASE(body_without_the_iteration)
{
    tt_fori(3, one, tt_zeros(TT_F32, 2));
    SAYS("+2: in body_without_the_iteration: fori(one): the body one takes 1 argument, and is "
         "given 2: "
         "the iteration, the state");
}

CASE(body_of_another_state)
{
    Two x = { tt_zeros(TT_F32), tt_zeros(TT_F32) };
    tt_fori(3, two, x);
    SAYS("+3: in body_of_another_state: fori(two): argument 1 of the body two has 1 array, and is "
         "given 2");
}

CASE(body_that_takes_no_more)
{
    tt x = tt_zeros(TT_F32, 2);
    tt_scan_as(Two, both, tt_zeros(TT_F32), x, x);
    SAYS(
        "+3: in body_that_takes_no_more: scan(both): the body both takes 2 arguments, and is given "
        "3: the state, a row, and 1 more behind it");
}

CASE(body_of_a_while)
{
    tt_while(below, two, tt_zeros(TT_F32));
    SAYS("+2: in body_of_a_while: while(two): the body two takes 2 arguments, and is given 1: the "
         "state");
}

CASE(condition_of_two)
{
    tt_while(below_other, one, tt_zeros(TT_F32));
    SAYS("+2: in condition_of_two: while(one): the condition below_other takes 2 arguments, and is "
         "given 1: the state");
}

CASE(first_branch_of_two)
{
    tt_cond(tt_scalar(1), two, one, tt_zeros(TT_F32));
    SAYS("+2: in first_branch_of_two: cond(two): the first branch two takes 2 arguments, and is "
         "given 1: what follows the branches");
}

CASE(second_branch_of_two)
{
    tt_cond(tt_scalar(1), one, two, tt_zeros(TT_F32));
    SAYS("+2: in second_branch_of_two: cond(one): the second branch two takes 2 arguments, and is "
         "given 1: what follows the branches");
}

CASE(second_branch_on_a_struct)
{
    tt_cond(tt_scalar(1), one, swap, tt_zeros(TT_F32));
    SAYS("+2: in second_branch_on_a_struct: cond(one): argument 0 of the second branch swap has 2 "
         "arrays, and is given 1");
}

CASE(second_branch_without_its_configuration)
{
    tt_cond(tt_scalar(1), one, deep, tt_zeros(TT_F32));
    SAYS("+2: in second_branch_without_its_configuration: cond(one): deep has no configuration: "
         "give "
         "it where the function is transformed, as in tt_jit(deep, .config = &c)");
}

CASE(branches_of_many)
{
    tt x = tt_zeros(TT_F32);
    tt_cond(x, one, one, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x);
    SAYS(
        "+3: in branches_of_many: tt_cond: 16 arguments and the condition: at most 16 are possible "
        "in "
        "all");
}

CASE(scan_with_too_little_room)
{
    tt_scan_as(tt, both, tt_zeros(TT_F32), tt_zeros(TT_F32, 2));
    SAYS(
        "+2: in scan_with_too_little_room: scan(both) returns 2 arrays; the caller has room for 1: "
        "name what it returns by tt_scan_as(type, ...)");
}

CASE(branches_with_too_little_room)
{
    tt x = tt_zeros(TT_F32);
    tt_cond(x, both, both, x, x);
    SAYS("+3: in branches_with_too_little_room: cond(both) returns 2 arrays; the caller has room "
         "for "
         "1: name what it returns by tt_cond_as(type, ...)");
}

CASES_MAIN
