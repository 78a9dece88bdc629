/* training_test.c - optimisers, against their formulas in double precision, in a traced step and
 * outside; norms of trees; what a call would give. */
#include "tests/front.h"

#include <math.h>
#include <string.h>

typedef struct Net {
    tt w, b;
} Net;
typedef TT_ADAM(Net) Adam;
typedef TT_SGD(Net) Sgd;
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

/* ---- the same in doubles: w, then b ---- */

typedef struct Plain {
    double p[4], m[4], v[4];
} Plain;

static Plain plain_start(void)
{
    Plain s = { .p = { (double)start_w[0], (double)start_w[1], (double)start_w[2],
                       (double)start_b[0] } };
    return s;
}

static void plain_slopes(const Plain *s, double *g, double clip)
{
    double norm = 0;
    for (int i = 0; i < 4; i++) {
        g[i] = i < 3 ? 2 * s->p[i] : s->p[i] * s->p[i] - 3;
        norm += g[i] * g[i];
    }
    norm = sqrt(norm);
    for (int i = 0; i < 4; i++)
        g[i] *= clip > 0 && norm >= clip ? clip / norm : 1;
}

static void plain_adam(Plain *s, int t, double rate, double b2, double decay, double clip)
{
    double g[4];
    plain_slopes(s, g, clip);
    for (int i = 0; i < 4; i++) {
        s->m[i] = 0.9 * s->m[i] + 0.1 * g[i];
        s->v[i] = b2 * s->v[i] + (1 - b2) * g[i] * g[i];
        double move = s->m[i] / (1 - pow(0.9, t)) / (sqrt(s->v[i] / (1 - pow(b2, t))) + 1e-8);
        s->p[i] -= rate * (move + decay * s->p[i]);
    }
}

static void plain_sgd(Plain *s, double rate, double momentum, bool nesterov)
{
    double g[4];
    plain_slopes(s, g, 0);
    for (int i = 0; i < 4; i++) {
        s->m[i] = momentum * s->m[i] + g[i];
        s->p[i] -= rate * (nesterov ? g[i] + momentum * s->m[i] : s->m[i]);
    }
}

static Step traced_step(Net net, Adam opt)
{
    tt_adam(&net, slopes(net), &opt, 0.1);
    return (Step){ net, opt };
}
TT_FUN(Step, traced_step, Net, Adam);

static void test_adam(void)
{
    Plain s = plain_start(), w = plain_start();
    Net net = first_net(), other = first_net();
    Adam opt, more;
    tt_start(&opt, net);
    tt_start(&more, other);
    for (int t = 1; t <= STEPS; t++) {
        TT_SCOPE;
        Step r = tt_call_as(Step, tt_jit(traced_step), net, opt);
        tt_assign(net, r.net);
        tt_assign(opt, r.opt);
        plain_adam(&s, t, 0.1, 0.999, 0, 0);
        tt_adam(&other, slopes(other), &more, 0.05, .b2 = 0.95, .decay = 0.1, .clip = 1);
        plain_adam(&w, t, 0.05, 0.95, 0.1, 1);
    }
    CHECK(is_near(net.w, s.p, 3) && is_near(net.b, s.p + 3, 1));
    CHECK(is_near(other.w, w.p, 3) && is_near(other.b, w.p + 3, 1));
    CHECK((int)tt_item(opt.count) == STEPS);
}

static void test_sgd(void)
{
    Plain s = plain_start(), w = plain_start(), v = plain_start();
    Net net = first_net(), other = first_net(), third = first_net();
    Sgd opt, nesterov;
    tt_start(&opt, net);
    tt_start(&nesterov, net);
    for (int t = 1; t <= STEPS; t++) {
        tt_sgd(&net, slopes(net), &opt, 0.05, .momentum = 0.9);
        plain_sgd(&s, 0.05, 0.9, false);
        tt_sgd(&other, slopes(other), &nesterov, 0.05, .momentum = 0.9, .nesterov = true);
        plain_sgd(&w, 0.05, 0.9, true);
        tt_sgd(&third, slopes(third), (Sgd *)NULL, 0.05);
        plain_sgd(&v, 0.05, 0, false);
    }
    CHECK(is_near(net.w, s.p, 3) && is_near(net.b, s.p + 3, 1));
    CHECK(is_near(other.w, w.p, 3) && is_near(other.b, w.p + 3, 1));
    CHECK(is_near(third.w, v.p, 3) && is_near(third.b, v.p + 3, 1));
    CHECK_SAID("");
    tt_sgd(&net, slopes(net), (Sgd *)NULL, 0.05, .momentum = 0.9);
    CHECK(strstr(front_said(), "tt_sgd: .momentum needs a state"));
}

static void test_trees(void)
{
    Net net = first_net();
    double norm = sqrt(0.25 + 1 + 4 + 0.0625);
    CHECK(fabs(tt_item(tt_tree_norm(net)) - norm) < 1e-6);
    Net shorter = tt_clip_norm(net, 1), same = tt_clip_norm(net, 10);
    CHECK(fabs(tt_item(tt_tree_norm(shorter)) - 1) < 1e-6);
    CHECK(is_near(same.w, (const double[]){ 0.5, -1, 2 }, 3));
    CHECK(fabs(tt_item(tt_warmup_cosine(tt_integer(5), 2, 10, 110, 0.5)) - 1) < 1e-6);
    CHECK(fabs(tt_item(tt_warmup_cosine(tt_integer(60), 2, 10, 110, 0.5)) - 1.25) < 1e-6);
    CHECK(fabs(tt_item(tt_warmup_cosine(tt_integer(500), 2, 10, 110, 0.5)) - 0.5) < 1e-6);
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

int main(void)
{
    front_start(2);
    test_adam();
    test_sgd();
    test_trees();
    test_eval_shape();
    CHECK_SAID("");
    return check_done();
}
