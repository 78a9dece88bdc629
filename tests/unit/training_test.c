/* training_test.c - optimisers and schedules, against optax (tests/front/training_cases.py), in a traced
 * step and outside; norms of trees; minibatches; what a call would give. */
#include "tests/front.h"

#include <math.h>
#include <string.h>

typedef struct Net {
    tt w, b;
} Net;
typedef TT_ADAM(Net) Adam;
typedef TT_SGD(Net) Sgd;
typedef TT_RMSPROP(Net) Rms;
typedef TT_LION(Net) Lion;
typedef struct Step {
    Net net;
    Adam opt;
} Step;

enum { STEPS = 5 };
static const float start_w[3] = { 0.5f, -1, 2 }, start_b[1] = { 0.25f };

static Net first_net(void)
{
    return (Net){ tt_from(start_w, 3), tt_from(start_b, 1) };
}

/* Gradients that change from step to step. */
static Net slopes(Net p)
{
    return (Net){ tt_mul(2, p.w), tt_sub(tt_square(p.b), 3) };
}

static bool is_near(tt x, const double *wanted, int n)
{
    float got[4] = { 0 };
    bool same = tt_read(x, got, sizeof *got * (size_t)n);
    for (int i = 0; i < n; i++)
        same = same && fabs((double)got[i] - wanted[i]) < 1e-5 * fmax(1, fabs(wanted[i]));
    return same;
}

/* The numbers of that name in training_cases.txt, which optax gave; their number. */
static int wanted(const char *name, double *out, int room)
{
    char line[1024];
    int n = 0;
    FILE *file = fopen("tests/front/training_cases.txt", "r");
    while (file && fgets(line, sizeof line, file)) {
        char *at = strchr(line, ' ');
        if (!at || strncmp(line, name, (size_t)(at - line)) != 0 || name[at - line])
            continue;
        for (char *end; n < room; at = end, n++) {
            out[n] = strtod(at, &end);
            if (end == at)
                break;
        }
    }
    if (file)
        fclose(file);
    return n;
}

static bool is_as_in(const char *name, Net net)
{
    double x[4];
    return wanted(name, x, 4) == 4 && is_near(net.w, x, 3) && is_near(net.b, x + 3, 1);
}

static Step traced_step(Net net, Adam opt)
{
    tt_adam(&net, slopes(net), &opt, 0.1);
    return (Step){ net, opt };
}
TT_FUN(Step, traced_step, Net, Adam);

static void test_adam(void)
{
    Net net = first_net(), other = first_net();
    Adam opt, more;
    tt_start(&opt, net);
    tt_start(&more, other);
    for (int t = 1; t <= STEPS; t++) {
        TT_SCOPE;
        Step r = tt_call_as(Step, tt_jit(traced_step), net, opt);
        tt_assign(net, r.net);
        tt_assign(opt, r.opt);
        tt_adam(&other, slopes(other), &more, 0.05, .b2 = 0.95, .decay = 0.1, .clip = 1);
    }
    CHECK(is_as_in("adam", net));
    CHECK(is_as_in("adamw", other));
    CHECK((int)tt_item(opt.count) == STEPS);
}

static void test_sgd(void)
{
    Net net = first_net(), other = first_net(), third = first_net();
    Sgd opt, nesterov;
    tt_start(&opt, net);
    tt_start(&nesterov, net);
    for (int t = 1; t <= STEPS; t++) {
        tt_sgd(&net, slopes(net), &opt, 0.05, .momentum = 0.9);
        tt_sgd(&other, slopes(other), &nesterov, 0.05, .momentum = 0.9, .nesterov = true);
        tt_sgd(&third, slopes(third), (Sgd *)NULL, 0.05);
    }
    CHECK(is_as_in("momentum", net));
    CHECK(is_as_in("nesterov", other));
    CHECK(is_as_in("sgd", third));
    CHECK_SAID("");
    tt_sgd(&net, slopes(net), (Sgd *)NULL, 0.05, .momentum = 0.9);
    CHECK(strstr(front_said(), "tt_sgd: .momentum needs a state"));
}

static void test_others(void)
{
    Net a = first_net(), b = first_net(), c = first_net(), d = first_net();
    Rms rms_a, rms_b;
    Lion lion_c, lion_d;
    tt_start(&rms_a, a);
    tt_start(&rms_b, b);
    tt_start(&lion_c, c);
    tt_start(&lion_d, d);
    for (int t = 1; t <= STEPS; t++) {
        tt_rmsprop(&a, slopes(a), &rms_a, 0.05);
        tt_rmsprop(&b, slopes(b), &rms_b, 0.05, .b2 = 0.95, .eps = 1e-3, .clip = 0.5);
        tt_lion(&c, slopes(c), &lion_c, 0.05);
        tt_lion(&d, slopes(d), &lion_d, 0.02, .b1 = 0.8, .b2 = 0.95, .decay = 0.1);
    }
    CHECK(is_as_in("rmsprop", a));
    CHECK(is_as_in("rmsprop_clip", b));
    CHECK(is_as_in("lion", c));
    CHECK(is_as_in("lion_decay", d));
    Net clipped = tt_clip_value(first_net(), 0.75),
        slow = { tt_ones(TT_F32, 3), tt_zeros(TT_F32, 1) };
    tt_ema(&slow, first_net(), 0.9);
    CHECK(is_as_in("clip_value", clipped));
    CHECK(is_as_in("ema", slow));
}

static tt all_rates(tt step)
{
    return tt_stack(0, tt_warmup_cosine(step, 2, 10, 110, 0.5), tt_cosine_rate(step, 0.4, 50, 0.1),
                    tt_linear_rate(step, 1, 40, 0.1), tt_exponential_rate(step, 0.8, 20, 0.5),
                    tt_piecewise_rate(step, 1, { 7, 0.1 }, { 60, 0.5 }));
}

/* By a traced step, and by a number. */
static void test_schedules(void)
{
    static const char *const names[] = { "warmup_cosine", "cosine", "linear", "exponential",
                                         "piecewise" };
    static const int at[] = { 0, 1, 7, 20, 35, 60, 200 };
    double x[5][7];
    for (int i = 0; i < 5; i++)
        CHECK(wanted(names[i], x[i], 7) == 7);
    for (int t = 0; t < 7; t++) {
        float traced[5], eager[5];
        CHECK(tt_read(tt_call(tt_jit(all_rates), tt_integer(at[t])), traced, sizeof traced));
        CHECK(tt_read(all_rates(tt_integer(at[t])), eager, sizeof eager));
        for (int i = 0; i < 5; i++) {
            CHECK(fabs((double)traced[i] - x[i][t]) < 1e-6);
            CHECK(fabs((double)eager[i] - x[i][t]) < 1e-6);
        }
    }
    CHECK_SAID("");
    tt_linear_rate(0, 1, 0, 0);
    CHECK(strstr(front_said(), "tt_linear_rate: over 0 steps: there must be some"));
}

static void test_minibatches(void)
{
    int32_t order[8] = { 0 };
    double x[8] = { 0 };
    CHECK(wanted("minibatches", x, 8) == 8);
    CHECK(tt_read(tt_minibatches(tt_key(3), 11, 4), order, sizeof order));
    for (int i = 0; i < 8; i++)
        CHECK(order[i] == (int32_t)x[i]);
    tt_minibatches(tt_key(3), 3, 4);
    CHECK(strstr(front_said(), "tt_minibatches: batches of 4 of 3 rows"));
}

/* Where there is no terminal: the last step has a line. */
static void test_progress(void)
{
    char line[256] = "";
    int err = dup(STDERR_FILENO), pipes[2];
    CHECK(pipe(pipes) == 0 && dup2(pipes[1], STDERR_FILENO) >= 0);
    for (int step = 1; step <= 3; step++)
        tt_progress(step, 3, "loss %.2f", 0.5 * step);
    dup2(err, STDERR_FILENO);
    ssize_t n = read(pipes[0], line, sizeof line - 1);
    CHECK(n > 0 && strncmp(line, "3/3  ", 5) == 0 && strstr(line, "/s  loss 1.50\n"));
    close(pipes[0]);
    close(pipes[1]);
    close(err);
}

static void test_trees(void)
{
    Net net = first_net();
    double norm = sqrt(0.25 + 1 + 4 + 0.0625);
    CHECK(fabs(tt_item(tt_tree_norm(net)) - norm) < 1e-6);
    Net shorter = tt_clip_norm(net, 1), same = tt_clip_norm(net, 10);
    CHECK(fabs(tt_item(tt_tree_norm(shorter)) - 1) < 1e-6);
    CHECK(is_near(same.w, (const double[]){ 0.5, -1, 2 }, 3));
}

static tt rows_by_columns(tt x, tt y)
{
    return tt_astype(tt_einsum("i,j->ij", x, y), TT_BF16);
}

static void test_eval_shape(void)
{
    tt_about r[6];
    tt x = tt_zeros(TT_F32, 3), y = tt_zeros(TT_F32, 5);
    CHECK(tt_eval_shape(r, rows_by_columns, x, y) == 1);
    CHECK(r[0].type == TT_BF16 && r[0].shape.n == 2 && r[0].shape.v[0] == 3 &&
          r[0].shape.v[1] == 5);
    Net net = first_net();
    Adam opt;
    tt_start(&opt, net);
    CHECK(tt_eval_shape(r, traced_step, net, opt) == 7);
    CHECK(r[1].type == TT_F32 && r[1].shape.n == 1 && r[1].shape.v[0] == 1);
    CHECK_SAID("");
    CHECK(tt_eval_shape(r, rows_by_columns, x) == -1);
    CHECK(strstr(front_said(), "rows_by_columns takes 2 arguments, not 1"));
}

/* A step in place, mapped: every device's state comes back, or one for all. */
static tt halve(tt *w, tt x)
{
    *w = tt_mul(*w, 0.5);
    return tt_sum(tt_mul(*w, x));
}
TT_METHOD(tt, halve, tt, tt);

/* Steps without further arguments, and without a result. */
static tt count_up(tt *n)
{
    return *n = tt_add(*n, 1);
}
TT_METHOD(tt, count_up, tt);
static void forget(tt *n)
{
    *n = tt_mul(*n, 0);
}
TT_METHOD(void, forget, tt);
static void move_by(tt *n, tt by)
{
    *n = tt_add(*n, by);
}
TT_METHOD(void, move_by, tt, tt);

#define LAYER(F) F(tt, w) F(tt, b)
TT_STRUCT(Layer, LAYER);

/* Gradients of other shapes are refused, by the names of the parameters. */
static void test_shapes(void)
{
    Layer p = { tt_ones(TT_F32, 3, 4), tt_ones(TT_F32, 4) }, g = { p.w, tt_ones(TT_F32, 1) };
    tt_sgd(&p, g, NULL, 0.5, .names = TT_NAMES(Layer));
    CHECK(strstr(front_said(),
                 "tt_sgd: parameter 1, b, is f32[4], and its gradient f32[1]: they are "
                 "of one shape"));
    TT_ADAM(Layer) opt;
    tt_start(&opt, p);
    opt.v.w = p.b;
    g.b = p.b;
    tt_adam(&p, g, &opt, 0.5);
    CHECK(strstr(front_said(), "tt_adam: parameter 0 is f32[3,4], and its state f32[4]"));
}

static void test_short_methods(void)
{
    tt n = tt_full(TT_F32, 2);
    CHECK(tt_item(tt_update(&n, tt_jit(count_up))) == 3 && tt_item(n) == 3);
    tt_advance(&n, move_by, tt_full(TT_F32, 4));
    CHECK(tt_item(n) == 7);
    tt_advance(&n, tt_jit(forget));
    CHECK(tt_item(n) == 0);
    CHECK_SAID("");
    tt_advance(&n, count_up);
    CHECK(strstr(front_said(), "count_up returns 2 arrays; the caller has room for 1"));
}

static void test_update(void)
{
    const float rows[2][3] = { { 1, 2, 3 }, { 4, 5, 6 } };
    tt w = tt_full(TT_F32, 2), x = tt_from(rows, 2, 3);
    tt y = tt_update(&w,
                     tt_vmap(halve, .in_axes = { TT_NONE, 0 },
                             .out = TT_EACH_AXIS(TT_RUN(tt, TT_NONE), TT_RUN(tt, 0))),
                     x);
    CHECK(is_near(y, (const double[]){ 6, 15 }, 2) && is_near(w, (const double[]){ 1 }, 1));
    CHECK_SAID("");
    tt_update(&w, tt_vmap(halve, .in_axes = { TT_NONE, 0 }), x);
    CHECK(strstr(front_said(),
                 "tt_update(vmap(halve)): array 0 of the state is f32[], and comes back "
                 "as f32[2]: a state keeps its shapes; if a map gives every device's, "
                 ".out_axis = TT_NONE gives one for all"));
    CHECK(is_near(w, (const double[]){ 1 }, 1));
}

int main(void)
{
    front_start(2);
    test_update();
    test_short_methods();
    test_shapes();
    test_adam();
    test_sgd();
    test_others();
    test_schedules();
    test_minibatches();
    test_progress();
    test_trees();
    test_eval_shape();
    CHECK_SAID("");
    return check_done();
}
