/* training.c - optimisers in place on trees, and the norms of trees: what optax does, with its numbers.
 *
 *     typedef TT_ADAM(Net) Adam;                      struct { Net m, v; tt count; }
 *     tt_adam(&net, grads, &adam, 1e-3);              inside a traced step, or outside
 *
 * A step is one body: its operands are the parameters, their gradients and the state, leaf by leaf,
 * its results the next parameters and state. */
#include "front/api/numpy.h"

#include "front/value/library.h"
#include "front/value/report.h"

#include <stdlib.h>
#include <string.h>

typedef struct Config {
    const char *who;
    int64_t n; /* leaves */
    double b1, b2, eps, decay, clip;
    int64_t is_nesterov, has_state;
} Config;

static tt number(double x)
{
    return tt_scalar(x);
}

/* ---- norms ---- */

static tt squares(int64_t n, const tt *x)
{
    tt sum = number(0);
    for (int64_t i = 0; i < n; i++)
        sum = tt_add(sum, tt_sum(tt_mul(x[i], x[i]), NULL));
    return sum;
}

static void norm_body(const tt *in, tt *out, const void *config)
{
    *out = tt_sqrt(squares(((const Config *)config)->n, in));
}

tt tt_tree_norm_n(tt_tree tree)
{
    PUBLIC;
    Config c;
    memset(&c, 0, sizeof c);
    c.n = tree.n;
    return call_eager_one("tt_tree_norm", norm_body, &c, sizeof c, tree.n, tree.leaf);
}

/* Shorter, if their norm is above the most. */
static void clipped(const Config *c, const tt *x, tt *out)
{
    tt norm = tt_sqrt(squares(c->n, x)), most = number(c->clip);
    tt by = tt_where(tt_less(norm, most), number(1), tt_div(most, norm));
    for (int64_t i = 0; i < c->n; i++)
        out[i] = c->clip > 0 ? tt_mul(x[i], by) : x[i];
}

static void clip_body(const tt *in, tt *out, const void *config)
{
    clipped(config, in, out);
}

const tt *tt_clip_norm_n(tt_tree tree, double most)
{
    PUBLIC;
    Config c;
    tt *out = scope_values(tree.n);
    if (!out)
        return no_values;
    memset(&c, 0, sizeof c);
    c.n = tree.n;
    c.clip = most;
    if (most > 0)
        call_eager("tt_clip_norm", clip_body, &c, sizeof c, tree.n, tree.leaf, tree.n, out);
    else
        report_broken("tt_clip_norm: the most is %g; it must be above 0", most);
    return out;
}

/* ---- steps ---- */

/* in: parameters, gradients, then the state, then the rate. */
static void adam_body(const tt *in, tt *out, const void *config)
{
    const Config *c = config;
    int64_t n = c->n;
    const tt *p = in, *m = in + 2 * n, *v = in + 3 * n;
    tt *g = ARENA_ARRAY(trace_arena(), tt, n + 1);
    tt count = tt_add(in[4 * n], tt_integer(1)), rate = in[4 * n + 1];
    clipped(c, in + n, g);
    tt first = tt_sub(number(1), tt_pow(number(c->b1), count));
    tt second = tt_sub(number(1), tt_pow(number(c->b2), count));
    for (int64_t i = 0; i < n; i++) {
        tt next_m = tt_add(tt_mul(number(1 - c->b1), g[i]), tt_mul(number(c->b1), m[i]));
        tt next_v =
            tt_add(tt_mul(number(1 - c->b2), tt_mul(g[i], g[i])), tt_mul(number(c->b2), v[i]));
        tt root = tt_add(tt_sqrt(tt_div(next_v, second)), number(c->eps));
        tt move = tt_div(tt_div(next_m, first), root);
        if (c->decay != 0)
            move = tt_add(move, tt_mul(number(c->decay), p[i]));
        out[i] = tt_sub(p[i], tt_mul(rate, move));
        out[n + i] = next_m;
        out[2 * n + i] = next_v;
    }
    out[3 * n] = count;
}

static void sgd_body(const tt *in, tt *out, const void *config)
{
    const Config *c = config;
    int64_t n = c->n;
    const tt *p = in, *trace = in + 2 * n;
    tt *g = ARENA_ARRAY(trace_arena(), tt, n + 1), rate = in[(2 + c->has_state) * n];
    clipped(c, in + n, g);
    for (int64_t i = 0; i < n; i++) {
        tt move = c->decay != 0 ? tt_add(g[i], tt_mul(number(c->decay), p[i])) : g[i];
        if (c->has_state) {
            tt next = out[n + i] = tt_add(move, tt_mul(number(c->b1), trace[i]));
            move = c->is_nesterov ? tt_add(move, tt_mul(number(c->b1), next)) : next;
        }
        out[i] = tt_sub(p[i], tt_mul(rate, move));
    }
}

/* One step: parts of the operands come after one another; what comes out takes their place. */
static void step(Body *body, const Config *c, tt *params, tt_tree grads, tt *state, int nstate,
                 tt rate)
{
    int n = (int)c->n, nin = 2 * n + nstate + 1, nout = n + nstate;
    tt *in = scope_values(nin), *out = scope_values(nout);
    if (!in || !out)
        return;
    if (grads.n != n) {
        report_broken("%s: %d parameters and %d gradients: they are trees of one type", c->who, n,
                      grads.n);
        return;
    }
    memcpy(in, params, sizeof *in * (size_t)n);
    memcpy(in + n, grads.leaf, sizeof *in * (size_t)n);
    if (nstate)
        memcpy(in + 2 * n, state, sizeof *in * (size_t)nstate);
    in[nin - 1] = rate;
    if (!call_eager(c->who, body, c, sizeof *c, nin, in, nout, out))
        return;
    if (tracing) {
        memcpy(params, out, sizeof *out * (size_t)n);
        memcpy(state, out + n, sizeof *out * (size_t)nstate);
        return;
    }
    tt_assign_n(params, (tt_tree){ out, n });
    if (nstate)
        tt_assign_n(state, (tt_tree){ out + n, nstate });
}

static double or_else(double x, double otherwise)
{
    return x != 0 ? x : otherwise;
}

void tt_adam_n(tt *params, int n, tt_tree grads, tt *state, tt rate, const tt_adam_options *given)
{
    PUBLIC;
    OPTIONS(tt_adam_options, "tt_adam", given, return);
    Config c;
    memset(&c, 0, sizeof c); /* compared as bytes */
    c.who = "tt_adam";
    c.n = n;
    c.b1 = or_else(options.b1, 0.9);
    c.b2 = or_else(options.b2, 0.999);
    c.eps = or_else(options.eps, 1e-8);
    c.decay = options.decay;
    c.clip = options.clip;
    step(adam_body, &c, params, grads, state, 2 * n + 1, rate);
}

void tt_sgd_n(tt *params, int n, tt_tree grads, tt *state, tt rate, const tt_sgd_options *given)
{
    PUBLIC;
    OPTIONS(tt_sgd_options, "tt_sgd", given, return);
    Config c;
    memset(&c, 0, sizeof c);
    c.who = "tt_sgd";
    c.n = n;
    c.b1 = options.momentum;
    c.decay = options.decay;
    c.clip = options.clip;
    c.is_nesterov = options.nesterov;
    c.has_state = state != NULL;
    if (options.momentum != 0 && !state)
        report_broken("tt_sgd: .momentum needs a state: typedef TT_SGD(Net) Sgd");
    else
        step(sgd_body, &c, params, grads, state, state ? n : 0, rate);
}

/* ---- how they start ---- */

static void zeros_body(const tt *in, tt *out, const void *config)
{
    const Config *c = config;
    for (int64_t i = 0; i < c->n; i++)
        out[i] = build_zeros(type_at(in[i % c->is_nesterov]));
}

void tt_start_n(tt *state, int nstate, tt_tree params)
{
    PUBLIC;
    Config c;
    tt *out = scope_values(nstate);
    int trees = params.n ? nstate / params.n : 0, more = params.n ? nstate % params.n : 0;
    if (!out)
        return;
    if (!trees || more > 1) {
        report_broken("tt_start: a state of %d arrays for %d parameters: it is a TT_ADAM or TT_SGD "
                      "of their type",
                      nstate, params.n);
        return;
    }
    memset(&c, 0, sizeof c);
    c.n = nstate - more;
    c.is_nesterov = params.n;
    call_eager("tt_start", zeros_body, &c, sizeof c, params.n, params.leaf, nstate - more, out);
    if (more)
        out[nstate - 1] = tt_full(TT_I32, 0, &(tt_dims){ 0 });
    memcpy(state, out, sizeof *out * (size_t)nstate);
}

/* ---- schedules ---- */

static void cosine_body(const tt *in, tt *out, const void *config)
{
    const Config *c = config; /* peak, warm, total, end */
    tt step = tt_astype(in[0], TT_F32);
    tt up = tt_div(tt_mul(number(c->b1), step), number(c->b2 > 0 ? c->b2 : 1));
    tt far = tt_div(tt_sub(step, number(c->b2)), number(c->eps - c->b2));
    tt wave =
        tt_mul(number(0.5), tt_add(number(1), tt_cos(tt_mul(number(3.14159265358979323846),
                                                            tt_clip(far, number(0), number(1))))));
    tt down = tt_add(number(c->decay), tt_mul(number(c->b1 - c->decay), wave));
    *out = tt_where(tt_less(step, number(c->b2)), up, down);
}

tt tt_warmup_cosine(tt step, double peak, double warm, double total, double end)
{
    PUBLIC;
    Config c;
    memset(&c, 0, sizeof c);
    c.who = "tt_warmup_cosine";
    c.b1 = peak;
    c.b2 = warm;
    c.eps = total;
    c.decay = end;
    if (!(total > warm && warm >= 0))
        return report_broken("tt_warmup_cosine: %g steps up, %g in all: there are more in all",
                             warm, total);
    return EAGER(c.who, cosine_body, &c, step);
}
