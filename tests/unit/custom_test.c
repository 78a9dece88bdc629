/* custom_test.c - functions whose derivative the user says: the rule is what is used, in every
 * composition, and what is wrong with one is said. */
#include "tests/front.h"

#include <math.h>

static bool near(double a, double b)
{
    return fabs(a - b) <= 2e-5 * fmax(1, fabs(b));
}

static double at(tt x, int64_t i)
{
    return tt_item(tt_index(tt_reshape(x, -1), i));
}

/* ---- tangents ---- */

/* log(1 + e^x), with its exact derivative and thrice it, so that the rule is told from the code.  Its
 * rule uses the function itself. */
static tt soft(tt x)
{
    return tt_log(tt_add(1, tt_exp(x)));
}
typedef struct {
    tt y, dy;
} WithTangent;
static tt thrice(tt x);
static WithTangent soft_rule(tt x, tt dx)
{
    return (WithTangent){ thrice(x), tt_mul(tt_mul(3, tt_sigmoid(x)), dx) };
}
TT_FUN(WithTangent, soft_rule, tt, tt);
static tt thrice(tt x)
{
    return tt_call(tt_custom_jvp(soft, soft_rule), x);
}
static tt total(tt x)
{
    return tt_sum(thrice(x));
}
static tt d_total(tt x)
{
    return tt_sum(tt_call(tt_grad(total), x));
}
static tt total_of_rows(tt x)
{
    return tt_sum(tt_call(tt_vmap(thrice), x));
}
static tt through_jit(tt x)
{
    return tt_sum(tt_mul(x, tt_call(tt_jit(thrice), x)));
}
static tt spread(tt x)
{
    return tt_sum(tt_call(tt_pmap(thrice), x));
}

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

static void test_jvp(void)
{
    double values[] = { -1, 0.5, 2, 3 };
    float numbers[] = { -1, 0.5, 2, 3 };
    tt x = tt_from(numbers, 4), rows = tt_reshape(x, 4, 1);
    tt value = thrice(x), grad = tt_call(tt_grad(total), x);
    WithTangent both = tt_call_as(WithTangent, tt_jvp(thrice), x, tt_mul(x, 2));
    tt second = tt_call(tt_grad(d_total), x), each = tt_call(tt_vmap(tt_grad(total)), rows);
    tt of_rows = tt_call(tt_grad(total_of_rows), rows), jit = tt_call(tt_grad(through_jit), x);
    tt mapped = tt_call(tt_pmap(tt_grad(total)), rows), around = tt_call(tt_grad(spread), rows);
    for (int i = 0; i < 4; i++) {
        double v = values[i], s = sigmoid(v);
        CHECK(near(at(value, i), log1p(exp(v))));
        CHECK(near(at(grad, i), 3 * s));
        CHECK(near(at(both.y, i), log1p(exp(v))));
        CHECK(near(at(both.dy, i), 3 * s * 2 * v));
        CHECK(near(at(second, i), 3 * s * (1 - s)));
        CHECK(near(at(each, i), 3 * s));
        CHECK(near(at(of_rows, i), 3 * s));
        CHECK(near(at(jit, i), log1p(exp(v)) + v * 3 * s));
        CHECK(near(at(mapped, i), 3 * s));
        CHECK(near(at(around, i), 3 * s));
    }
    CHECK_SAID("");
}

/* ---- cotangents ---- */

/* x * w; on the way back the gradient of x is clipped to 1, that of w is as it is, times n (an integer). */
static tt scaled(tt x, tt w, tt n)
{
    (void)n;
    return tt_mul(x, w);
}
typedef struct {
    tt x, w, n;
} Three;
typedef struct {
    tt y;
    Three kept;
} Forward;
static Forward scaled_forward(tt x, tt w, tt n)
{
    return (Forward){ tt_mul(x, w), { x, w, n } };
}
TT_FUN(Forward, scaled_forward, tt, tt, tt);
static Three scaled_backward(Three k, tt ct)
{
    tt dw = tt_sum(tt_mul(tt_mul(k.x, ct), tt_astype(k.n, TT_F32)));
    return (Three){ tt_clip(tt_mul(ct, k.w), -1, 1), dw, k.n };
}
TT_FUN(Three, scaled_backward, Three, tt);
static tt clipped(tt x, tt w, tt n)
{
    return tt_call(tt_custom_vjp(scaled, scaled_forward, scaled_backward), x, w, n);
}
static tt loss(tt x, tt w, tt n)
{
    return tt_sum(tt_square(clipped(x, w, n)));
}
/* Rows of x, one w for all. */
static tt rows_loss(tt x, tt w, tt n)
{
    return tt_sum(
        tt_square(tt_call(tt_vmap(clipped, .in_axes = { 0, TT_NONE, TT_NONE }), x, w, n)));
}
static tt devices_loss(tt x, tt w, tt n)
{
    return tt_sum(
        tt_square(tt_call(tt_pmap(clipped, .in_axes = { 0, TT_NONE, TT_NONE }), x, w, n)));
}
typedef struct {
    tt x, w;
} Grads;

static void check_loss(tt_fn f, tt x, tt w, tt n)
{
    Grads g = tt_call_as(Grads, tt_grad(f, .wrt = 3), x, w, n);
    double dw = 0, weight = tt_item(w);
    for (int i = 0; i < 4; i++) {
        double v = at(x, i), ct = 2 * v * weight;
        dw += 5 * v * ct;
        CHECK(near(at(g.x, i), fmax(-1, fmin(1, ct * weight))));
    }
    CHECK(near(tt_item(g.w), dw));
    CHECK_SAID("");
}

typedef struct {
    tt h, y;
} Step;
static Step step(tt h, tt x, tt w, tt n)
{
    tt next = clipped(tt_add(h, x), w, n);
    return (Step){ next, next };
}
TT_FUN(Step, step, tt, tt, tt, tt);
static tt scanned(tt x, tt w, tt n)
{
    return tt_sum(tt_scan_as(Step, step, tt_zeros(TT_F32), x, w, n).y);
}
static tt chosen(tt x, tt w, tt n)
{
    return tt_cond(tt_greater(tt_sum(x), 0), loss, rows_loss, x, w, n);
}
static tt number_loss(tt x, tt w, tt n)
{
    return tt_square(clipped(x, w, n));
}
static tt twice(tt x, tt w, tt n)
{
    return tt_call(tt_grad(number_loss, .wrt = 2), x, w, n);
}

static void test_vjp(void)
{
    float numbers[] = { -1, 0.1f, 0.2f, 3 };
    tt x = tt_from(numbers, 4), w = tt_full(TT_F32, 0.5), n = tt_full(TT_I32, 5);
    check_loss(TT_FN(loss, "loss"), x, w, n);
    check_loss(TT_FN(rows_loss, "rows_loss"), x, w, n);
    check_loss(TT_FN(devices_loss, "devices_loss"), x, w, n);
    check_loss(TT_FN(chosen, "chosen"), x, w, n);
    check_loss(tt_jit(rows_loss), x, w, n);
    /* Each row by itself. */
    Grads each = tt_call_as(
        Grads, tt_vmap(tt_grad(number_loss, .wrt = 3), .in_axes = { 0, TT_NONE, TT_NONE }), x, w,
        n);
    CHECK(near(at(each.w, 3), 5 * 3 * 2 * 3 * 0.5) && near(at(each.x, 1), 0.05));
    /* d/dw (x w)^2 is 5 x 2 x w by the rule; and that by x goes through both. */
    CHECK(near(tt_item(tt_call(tt_grad(twice), tt_full(TT_F32, 0.2), w, n)),
               5 * 2 * 0.2 * 0.5 + 5 * 0.2 * 2 * 0.5));
    /* Through a loop: h' = (h + x) w, whose gradient by h is clipped at each step. */
    Grads g = tt_call_as(Grads, tt_grad(scanned, .wrt = 3), x, w, n);
    double h[5] = { 0 }, ct = 0, dw = 0;
    for (int i = 0; i < 4; i++)
        h[i + 1] = (h[i] + numbers[i]) * 0.5;
    for (int i = 3; i >= 0; i--) {
        dw += 5 * (h[i] + numbers[i]) * (ct + 1);
        ct = fmax(-1, fmin(1, (ct + 1) * 0.5));
        CHECK(near(at(g.x, i), ct));
    }
    CHECK(near(tt_item(g.w), dw));
    CHECK_SAID("");
}

/* ---- rules that meet other devices ---- */

static tt shared(tt x)
{
    return tt_psum(x, "i");
}
static tt shared_forward(tt x)
{
    return tt_psum(x, "i");
}
static tt shared_backward(tt ct)
{
    return tt_mul(tt_pmean(ct, "i"), 10);
}
static tt on_device(tt x)
{
    return tt_square(tt_call(tt_custom_vjp(shared, shared_forward, shared_backward), x));
}
static tt over_devices(tt x)
{
    return tt_sum(tt_call(tt_pmap(on_device, .axis_name = "i"), x));
}
static tt over_rows(tt x)
{
    return tt_sum(tt_call(tt_vmap(on_device, .axis_name = "i"), x));
}

static void test_axes(void)
{
    tt x = tt_arange(TT_F32, 4); /* their sum is 6: a cotangent is 12 for each */
    tt inside = tt_call(tt_pmap(tt_grad(on_device), .axis_name = "i"), x);
    tt outside = tt_call(tt_grad(over_devices), x), rows = tt_call(tt_grad(over_rows), x);
    for (int i = 0; i < 4; i++) {
        CHECK(near(at(inside, i), 120));
        CHECK(near(at(outside, i), 120));
        CHECK(near(at(rows, i), 120));
    }
    CHECK_SAID("");
}

/* ---- mistakes ---- */

static tt short_rule(tt x, tt dx)
{
    (void)x;
    return dx;
}
static WithTangent wide_rule(tt x, tt dx)
{
    return (WithTangent){ thrice(x), tt_reshape(tt_concat(0, dx, dx), -1) };
}
TT_FUN(WithTangent, wide_rule, tt, tt);
static tt one_gradient(Three k, tt ct)
{
    return tt_mul(k.w, ct);
}
TT_FUN(tt, one_gradient, Three, tt);
static tt by_short(tt x)
{
    return tt_sum(tt_call(tt_custom_jvp(soft, short_rule), x));
}
static tt by_wide(tt x)
{
    return tt_sum(tt_call(tt_custom_jvp(soft, wide_rule), x));
}
static tt by_one(tt x)
{
    return tt_sum(
        tt_call(tt_custom_vjp(scaled, scaled_forward, one_gradient), x, x, tt_full(TT_I32, 1)));
}
static tt by_three(tt x)
{
    return tt_sum(
        tt_call(tt_custom_vjp(scaled, scaled_forward, soft_rule), x, x, tt_full(TT_I32, 1)));
}
static tt forwards(tt x)
{
    return clipped(x, tt_full(TT_F32, 2), tt_full(TT_I32, 1));
}

static void test_mistakes(void)
{
    tt x = tt_arange(TT_F32, 3);
    tt_call(tt_grad(by_short), x);
    CHECK(strstr(front_said(), "custom_jvp(soft): short_rule gives 1 array, and must give 2: the "
                               "results, then a tangent for each"));
    tt_call(tt_grad(by_wide), x);
    CHECK(strstr(front_said(), "custom_jvp(soft): wide_rule gives f32[6] for the tangent of "
                               "result 0, which must be f32[3]"));
    tt_call(tt_grad(by_one), x);
    CHECK(strstr(front_said(), "custom_vjp(scaled): one_gradient gives 1 array, and must give 3: a "
                               "gradient for each array of its arguments"));
    tt_call(tt_grad(by_three), x);
    CHECK(strstr(front_said(), "custom_vjp(scaled): soft_rule does not take what it is given, 2 "
                               "arguments of 3, 1 arrays"));
    tt_call_as(WithTangent, tt_jvp(forwards), x, x);
    CHECK(strstr(front_said(), "not supported: forward derivatives of custom_vjp(scaled)"));
    /* Without a derivative a rule is not looked at. */
    CHECK(near(at(tt_call(by_short, x), 0), log(2) + log1p(exp(1)) + log1p(exp(2))));
    CHECK_SAID("");
}

int main(void)
{
    front_start(4);
    test_jvp();
    test_vjp();
    test_axes();
    test_mistakes();
    return check_done();
}
