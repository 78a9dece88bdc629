/* flow_test.c - loops and branches of the interface, and configurations: what they compute, under
 * every transformation, and what is said of mistakes. */
#include "tests/front.h"

#include "tests/front/leave.h"

#include <math.h>

static bool near(double a, double b)
{
    return fabs(a - b) <= 2e-5 * fmax(1, fabs(b));
}

static double at(tt x, int i)
{
    return tt_item(tt_index(x, i));
}

/* ---- while ---- */

typedef struct {
    tt n, steps;
} Collatz;

static tt is_not_one(Collatz c)
{
    return tt_greater(c.n, 1);
}
TT_FUN(tt, is_not_one, Collatz);

static Collatz collatz_step(Collatz c)
{
    tt half = tt_astype(tt_div(c.n, 2), TT_I32);
    return (Collatz){ tt_where(tt_equal(tt_mod(c.n, 2), 0), half, tt_add(tt_mul(c.n, 3), 1)),
                      tt_add(c.steps, 1) };
}
TT_FUN(Collatz, collatz_step, Collatz);

static tt collatz(tt n)
{
    Collatz start = { n, tt_astype(tt_scalar(0), TT_I32) };
    return tt_while(is_not_one, collatz_step, start).steps;
}

/* x <- x y until 10 is passed; y follows the state. */
static tt is_small(tt x, tt y)
{
    (void)y;
    return tt_less(x, 10);
}
static tt grow(tt x, tt y)
{
    return tt_mul(x, y);
}
static tt grown(tt x, tt y)
{
    return tt_while(is_small, grow, x, y);
}

typedef struct {
    tt value, tangent;
} WithTangent;

static void test_while(void)
{
    tt n = tt_astype(tt_scalar(27), TT_I32);
    CHECK(tt_item(collatz(n)) == 111);
    CHECK(tt_item(tt_call(tt_jit(collatz), n)) == 111);
    tt all = tt_call(tt_vmap(collatz), tt_add(tt_arange(TT_I32, 7), 1));
    static const int steps[] = { 0, 1, 7, 2, 5, 8, 16 };
    for (int i = 0; i < 7; i++)
        CHECK(at(all, i) == steps[i]);
    tt x = tt_full(TT_F32, 3), y = tt_full(TT_F32, 1.5); /* 3 1.5^3 = 10.125 */
    WithTangent r = tt_call_as(WithTangent, tt_jvp(grown, .wrt = 2), x, y, tt_ones(TT_F32));
    CHECK(near(tt_item(r.value), 10.125) && near(tt_item(r.tangent), 3 * 3 * 1.5 * 1.5));
    CHECK_SAID("");
    tt_call(tt_grad(grown), x, y);
    CHECK(strstr(front_said(),
                 "the gradient through a loop whose number of iterations is found at run "
                 "time (while, tests/unit/flow_test.c:") != NULL);
}

/* ---- fori ---- */

typedef struct {
    tt x, v;
} Body;

/* A spring: i counts in, k follows the state. */
static Body swing(tt i, Body b, tt k)
{
    tt v = tt_sub(b.v, tt_mul(tt_mul(k, 0.1), b.x));
    return (Body){ tt_add(tt_add(b.x, tt_mul(0.1, v)), tt_mul(i, 0)), v };
}
TT_FUN(Body, swing, tt, Body, tt);

static tt far(tt x, tt k)
{
    Body end = tt_fori(20, swing, ((Body){ x, tt_mul(x, 0) }), k);
    return tt_mul(end.x, end.x);
}

static double far_in_c(double x, double k)
{
    double v = 0;
    for (int i = 0; i < 20; i++) {
        v -= k * 0.1 * x;
        x += 0.1 * v;
    }
    return x * x;
}

static tt count(tt i, tt sum)
{
    return tt_add(sum, i);
}

static void test_fori(void)
{
    tt x = tt_full(TT_F32, 1.5), k = tt_full(TT_F32, 2);
    CHECK(tt_item(tt_fori(5, count, tt_full(TT_I32, 7))) == 17);
    CHECK(tt_item(tt_fori(0, count, tt_full(TT_I32, 7))) == 7);
    CHECK(tt_item(tt_fori(5, count, tt_scalar(0))) == 10); /* a number is an array of its own */
    CHECK(near(tt_item(tt_call(far, x, k)), far_in_c(1.5, 2)));
    double h = 1e-4, by_x = (far_in_c(1.5 + h, 2) - far_in_c(1.5 - h, 2)) / (2 * h);
    double by_k = (far_in_c(1.5, 2 + h) - far_in_c(1.5, 2 - h)) / (2 * h);
    double twice = (far_in_c(1.5, 2 + h) - 2 * far_in_c(1.5, 2) + far_in_c(1.5, 2 - h)) / (h * h);
    Body g = tt_call_as(Body, tt_grad(far, .wrt = 3), x, k);
    CHECK(near(tt_item(g.x), by_x) && near(tt_item(g.v), by_k));
    tt_fn second = tt_grad(tt_grad(far, .wrt = 2), .wrt = 2);
    CHECK(fabs(tt_item(tt_call(second, x, k)) - twice) < 1e-3);
    tt rows = tt_call(tt_vmap(tt_grad(far), .in_axes = { 0, TT_NONE }), tt_stack(0, x, x, k), k);
    CHECK(near(at(rows, 1), by_x));
    rows = tt_call(tt_pmap(tt_grad(far), .in_axes = { 0, TT_NONE }), tt_stack(0, x, k), k);
    CHECK(near(at(rows, 0), by_x));
    CHECK_SAID("");
    leave_program("flow_fori", tt_grad(far, .wrt = 3), 2, (const tt[]){ x, k }, 2,
                  (const tt[]){ g.x, g.v });
}

/* ---- scan ---- */

typedef struct {
    tt h, y;
} Out;

/* A recurrent layer: h <- tanh(h w + x), and the sum of h. */
static Out layer(tt h, tt x, tt w)
{
    tt next = tt_tanh(tt_add(tt_matmul(h, w), x));
    return (Out){ next, tt_sum(next) };
}
TT_FUN(Out, layer, tt, tt, tt);

static tt recur(tt w, tt xs)
{
    Out out = tt_scan_as(Out, layer, tt_zeros(TT_F32, 3), xs, w);
    return tt_add(tt_sum(out.h), tt_sum(tt_mul(out.y, out.y)));
}

/* The same, written out by C. */
static tt recur_in_c(tt w, tt xs)
{
    tt h = tt_zeros(TT_F32, 3), sum = tt_scalar(0);
    for (int i = 0; i < 4; i++) {
        Out o = layer(h, tt_index(xs, i), w);
        h = o.h;
        sum = tt_add(sum, tt_mul(o.y, o.y));
    }
    return tt_add(tt_sum(h), sum);
}

static bool same(tt a, tt b)
{
    return tt_item(tt_amax(tt_abs(tt_sub(a, b)))) < 1e-5;
}

static void test_scan(void)
{
    tt w = tt_normal(tt_key(1), TT_F32, 3, 3), xs = tt_normal(tt_key(2), TT_F32, 4, 3);
    CHECK(same(tt_call(recur, w, xs), tt_call(recur_in_c, w, xs)));
    for (unsigned wrt = 1; wrt < 3; wrt++)
        CHECK(same(tt_call(tt_grad(recur, .wrt = wrt), w, xs),
                   tt_call(tt_grad(recur_in_c, .wrt = wrt), w, xs)));
    typedef struct {
        tt g, h;
    } Hvp;
    Hvp a = tt_call_as(Hvp, tt_jvp(tt_grad(recur)), w, xs, w);
    Hvp b = tt_call_as(Hvp, tt_jvp(tt_grad(recur_in_c)), w, xs, w);
    CHECK(same(a.g, b.g) && same(a.h, b.h));
    leave_program("flow_scan", tt_jvp(tt_grad(recur)), 3, (const tt[]){ w, xs, w }, 2, &a.g);
    CHECK_SAID("");
}

/* ---- cond ---- */

static tt shrink(tt x, tt y)
{
    return tt_mul(tt_sin(x), y);
}
static tt segment(tt x, tt y)
{
    return tt_add(tt_mul(x, x), y);
}
static tt choose(tt x, tt y)
{
    return tt_cond(tt_greater(x, 0), shrink, segment, x, y);
}

static void test_cond(void)
{
    static const float data[] = { -2, -1, 0.5f, 3 };
    tt xs = tt_from(data, 4), y = tt_full(TT_F32, 2);
    tt all = tt_call(tt_vmap(choose, .in_axes = { 0, TT_NONE }), xs, y);
    tt slopes = tt_call(tt_vmap(tt_grad(choose), .in_axes = { 0, TT_NONE }), xs, y);
    for (int i = 0; i < 4; i++) {
        double x = data[i];
        CHECK(near(at(all, i), x > 0 ? sin(x) * 2 : x * x + 2));
        CHECK(near(at(slopes, i), x > 0 ? cos(x) * 2 : 2 * x));
        CHECK(near(tt_item(tt_call(tt_grad(choose), tt_index(xs, i), y)),
                   x > 0 ? cos(x) * 2 : 2 * x));
    }
    CHECK(near(tt_item(tt_cond(1, shrink, segment, y, y)), sin(2) * 2));
    CHECK_SAID("");
}

/* ---- mistakes ---- */

static tt widen(tt i, tt x)
{
    (void)i;
    return tt_concat(0, x, x);
}
static Body two(tt i, tt x)
{
    return (Body){ x, i };
}
TT_FUN(Body, two, tt, tt);
static tt as_it_is(tt x)
{
    return x;
}
static tt halve(tt i, tt x)
{
    (void)i;
    return tt_mul(x, 0.5);
}
static Body two_conditions(tt x)
{
    return (Body){ x, x };
}
TT_FUN(Body, two_conditions, tt);

static void test_mistakes(void)
{
    tt x = tt_arange(TT_F32, 3);
    tt_fori(3, widen, x);
    CHECK(strstr(front_said(),
                 "fori(widen): array 0 of the state is f32[3], but an iteration makes it "
                 "f32[6]: it must keep its type") != NULL);
    tt_fori(3, two, x);
    CHECK(strstr(front_said(), "fori(two): the state has 1 array, but an iteration gives 2") !=
          NULL);
    tt_fori(3, halve, tt_arange(TT_I32, 3));
    CHECK(strstr(front_said(),
                 "fori(halve): array 0 of the state is i32[3], but an iteration makes it "
                 "f32[3]: it must keep its type") != NULL);
    tt_while(two_conditions, as_it_is, x);
    CHECK(strstr(front_said(), "two_conditions must give one boolean, and gives several arrays") !=
          NULL);
    tt_fori(-1, count, x);
    CHECK(strstr(front_said(), "tt_fori: -1 iterations") != NULL);
    tt_fori(3, count, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x);
    CHECK(strstr(front_said(),
                 "tt_fori: 16 arguments and the iteration: a body takes at most 16") != NULL);
    tt_while(as_it_is, as_it_is, x);
    CHECK(strstr(front_said(), "while(as_it_is): the condition as_it_is must give one boolean, and "
                               "gives f32[3]") != NULL);
    tt_cond(x, as_it_is, as_it_is, x);
    CHECK(strstr(front_said(), "cond(as_it_is): the condition is f32[3], and must be one number") !=
          NULL);
    tt_scan_as(Out, layer, tt_index(x, 0), tt_index(x, 0), x);
    CHECK(strstr(front_said(), "scan(layer): argument 1, f32[] has no rows to go through") != NULL);
    tt_fori(3, count, x, x);
    CHECK(strstr(front_said(), "fori(count): the body count takes 2 arguments, and is given 3: "
                               "the iteration, the state, and 1 more behind it") != NULL);
}

/* ---- configurations ---- */

typedef struct {
    int power;
    bool is_negative;
} Config;

static int traced;

static tt raise(const Config *c, tt x)
{
    tt y = tt_mul(x, 0);
    traced++;
    y = tt_add(y, c->is_negative ? -1 : 1);
    for (int i = 0; i < c->power; i++)
        y = tt_mul(y, x);
    return tt_sum(y);
}
TT_FUN_WITH(Config, tt, raise, tt);

/* Hands its configuration on. */
static tt raise_more(const Config *c, tt x)
{
    return tt_mul(tt_call(tt_grad(raise, .config = c), x), 2);
}
TT_FUN_WITH(Config, tt, raise_more, tt);

static void test_config(void)
{
    Config cube = { .power = 3 }, minus = { .power = 2, .is_negative = true },
           again = { .power = 3 };
    tt x = tt_full(TT_F32, 3);
    CHECK(tt_item(tt_call(tt_jit(raise, .config = &cube, .config_size = sizeof cube), x)) == 27);
    CHECK(tt_item(tt_call(tt_jit(raise, .config = &minus), x)) == -9);
    CHECK(traced == 2);
    CHECK(tt_item(tt_call(tt_jit(raise, .config = &again), x)) == 27);
    CHECK(traced == 2); /* the same bytes: the program is there */
    CHECK(tt_jit(raise, .config = &again) == tt_jit(raise, .config = &cube));
    CHECK(tt_jit(raise, .config = &minus) != tt_jit(raise, .config = &cube));
    again.power = 4; /* what a function has been given is its own */
    CHECK(tt_item(tt_call(tt_jit(raise, .config = &cube), x)) == 27);
    CHECK(tt_item(tt_call(tt_grad(raise, .config = &minus), x)) == -6);
    CHECK(tt_item(tt_call(tt_grad(tt_jit(raise), .config = &minus), x)) == -6);
    CHECK(tt_item(tt_call(tt_jit(raise_more, .config = &cube), x)) == 54);
    tt two_ = tt_stack(0, x, tt_full(TT_F32, 2));
    CHECK(at(tt_call(tt_vmap(raise, .config = &cube), two_), 1) == 8);
    CHECK(at(tt_call(tt_pmap(tt_grad(raise), .config = &cube), two_), 1) == 12);
    WithTangent r = tt_call_as(WithTangent, tt_jvp(raise, .config = &cube), x, x);
    CHECK(tt_item(r.tangent) == 81);
    CHECK_SAID("");
}

static void test_config_mistakes(void)
{
    Config c = { .power = 3 };
    tt x = tt_full(TT_F32, 3);
    tt_call(tt_jit(raise), x);
    CHECK(strstr(front_said(), "jit(raise): raise has no configuration: give it where the function "
                               "is transformed, as in tt_jit(raise, .config = &c)") != NULL);
    CHECK(!tt_jit(as_it_is, .config = &c));
    CHECK(strstr(front_said(), "tt_jit(as_it_is): .config is given, but as_it_is takes none") !=
          NULL);
    CHECK(!tt_grad(raise, .config = &c, .config_size = 3));
    CHECK(strstr(front_said(), "tt_grad(raise): config_size is 3, but the configuration of raise "
                               "has 8 bytes") != NULL);
    CHECK(!tt_vmap(tt_jit(raise, .config = &c), .config = &c));
    CHECK(strstr(front_said(), "tt_vmap(raise): raise has its configuration already") != NULL);
}

int main(void)
{
    front_start(2);
    test_while();
    test_fori();
    test_scan();
    test_cond();
    test_mistakes();
    test_config();
    test_config_mistakes();
    return check_done();
}
