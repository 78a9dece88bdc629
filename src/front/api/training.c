/* training.c - optimisers in place on trees, and the norms of trees: what optax does, with its numbers.
 *
 *     typedef TT_ADAM(Net) Adam;                      struct { Net m, v; tt count; }
 *     tt_adam(&net, grads, &adam, 1e-3);              inside a traced step, or outside
 *
 * A step is one body: its operands are the parameters, their gradients and the state, leaf by leaf,
 * its results the next parameters and state. */
#include "front/api/arrays.h"
#include "front/api/numpy.h"
#include "front/value/library.h"
#include "front/value/report.h"

#include <stdio.h>
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
    tt *in = scope_values(tree.n);
    if (!in)
        return NO_VALUE;
    memset(&c, 0, sizeof c);
    c.n = tree_present(tree, in);
    return call_eager_one("tt_tree_norm", norm_body, &c, sizeof c, (int)c.n, in);
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

static void clip_value_body(const tt *in, tt *out, const void *config)
{
    const Config *c = config;
    for (int64_t i = 0; i < c->n; i++)
        out[i] = tt_clip(in[i], number(-c->clip), number(c->clip));
}

/* A tree of as many arrays. */
static const tt *clip_tree(const char *who, Body *body, tt_tree tree, double most)
{
    Config c;
    tt *out = scope_values(tree.n), *in = scope_values(tree.n), *y = scope_values(tree.n);
    if (!out)
        return no_values;
    if (!in || !y)
        return out;
    memset(&c, 0, sizeof c);
    c.n = tree_present(tree, in);
    c.clip = most;
    if (most <= 0)
        report_broken("%s: the most is %g; it must be above 0", who, most);
    else if (call_eager(who, body, &c, sizeof c, (int)c.n, in, (int)c.n, y))
        tree_spread(tree, y, out);
    return out;
}

const tt *tt_clip_norm_n(tt_tree tree, double most)
{
    PUBLIC;
    return clip_tree("tt_clip_norm", clip_body, tree, most);
}

const tt *tt_clip_value_n(tt_tree tree, double most)
{
    PUBLIC;
    return clip_tree("tt_clip_value", clip_value_body, tree, most);
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

/* in: parameters, gradients, the mean squares, the rate. */
static void rmsprop_body(const tt *in, tt *out, const void *config)
{
    const Config *c = config;
    int64_t n = c->n;
    tt *g = ARENA_ARRAY(trace_arena(), tt, n + 1), rate = in[3 * n];
    clipped(c, in + n, g);
    for (int64_t i = 0; i < n; i++) {
        tt next = out[n + i] = tt_add(tt_mul(number(1 - c->b2), tt_mul(g[i], g[i])),
                                      tt_mul(number(c->b2), in[2 * n + i]));
        tt move = tt_mul(tt_rsqrt(tt_add(next, number(c->eps))), g[i]);
        if (c->decay != 0)
            move = tt_add(move, tt_mul(number(c->decay), in[i]));
        out[i] = tt_sub(in[i], tt_mul(rate, move));
    }
}

/* in: parameters, gradients, their means, the rate. */
static void lion_body(const tt *in, tt *out, const void *config)
{
    const Config *c = config;
    int64_t n = c->n;
    tt *g = ARENA_ARRAY(trace_arena(), tt, n + 1), rate = in[3 * n];
    clipped(c, in + n, g);
    for (int64_t i = 0; i < n; i++) {
        tt m = in[2 * n + i];
        tt move = tt_sign(tt_add(tt_mul(number(1 - c->b1), g[i]), tt_mul(number(c->b1), m)));
        if (c->decay != 0)
            move = tt_add(move, tt_mul(number(c->decay), in[i]));
        out[n + i] = tt_add(tt_mul(number(1 - c->b2), g[i]), tt_mul(number(c->b2), m));
        out[i] = tt_sub(in[i], tt_mul(rate, move));
    }
}

/* The next values of variables: traced ones end with the trace, others with what they replace. */
static void put_back(tt *variables, int n, const tt *next)
{
    if (tracing)
        memcpy(variables, next, sizeof *next * (size_t)n);
    else
        tt_assign_n(variables, (tt_tree){ next, n });
}

/* The trees of a step: the parameters, their gradients, trees of the state, and perhaps a count. */
typedef struct Trees {
    tt *params, *state;
    tt_tree grads;
    int n, nstate;            /* leaves of a tree, and of the state */
    const char *const *names; /* of parameters; or NULL */
} Trees;

/* Parameter i, for messages. */
static const char *parameter(const Trees *t, int i)
{
    static _Thread_local char room[160];
    int n = snprintf(room, sizeof room, "parameter %d", i);
    if (t->names)
        snprintf(room + n, sizeof room - (size_t)n, ", %s,", t->names[i]);
    return room;
}

/* Is what belongs to parameter i absent as it is, or of its shape?  False: reported. */
static bool belongs(const char *who, const Trees *t, int i, tt x, const char *what)
{
    bool is_absent = value_is_absent(t->params[i]);
    Shape has, wants;
    if (value_is_absent(x) != is_absent)
        return report_broken("%s: %s is %s, and its %s %s", who, parameter(t, i),
                             is_absent ? "absent" : "there", what, is_absent ? "there" : "absent"),
               false;
    if (is_absent)
        return true;
    if (!value_shape(t->params[i], who, &wants) || !value_shape(x, who, &has))
        return false;
    if (!type_same_shape(shape_type(&wants), shape_type(&has)))
        return report_broken("%s: %s is %s, and its %s %s: they are of one shape", who,
                             parameter(t, i), shape_text(&wants), what, shape_text(&has)),
               false;
    return true;
}

/* Do gradient and state belong to parameter i?  tt_start fills the state as the parameters are. */
static bool are_together(const char *who, const Trees *t, int i)
{
    bool ok = belongs(who, t, i, t->grads.leaf[i], "gradient");
    for (int k = 0; ok && k < t->nstate / t->n; k++)
        ok = belongs(who, t, i, t->state[k * t->n + i], "state");
    return ok;
}

/* The operands that are there, parts one after the other; how many, or -1: reported. */
static int gather(Config *c, const Trees *t, tt rate, tt *in)
{
    int n = 0;
    for (int i = 0; i < t->n; i++)
        if (!are_together(c->who, t, i))
            return -1;
    c->n = n = tree_present((tt_tree){ t->params, t->n }, in);
    n += tree_present(t->grads, in + n);
    n += tree_present((tt_tree){ t->state, t->nstate }, in + n);
    in[n++] = rate;
    return n;
}

/* One step: what comes out takes the place of the parameters and the state. */
static void step(Body *body, Config *c, tt *params, tt_tree grads, tt *state, int nstate, tt rate,
                 const char *const *names)
{
    Trees t = { params, state, grads, (int)c->n, nstate, names };
    tt *in = scope_values(2 * t.n + nstate + 1), *out = scope_values(t.n + nstate);
    tt *next = scope_values(t.n + nstate);
    if (!in || !out || !next)
        return;
    if (grads.n != t.n) {
        report_broken("%s: %d parameters and %d gradients: they are trees of one type", c->who, t.n,
                      grads.n);
        return;
    }
    if (!names_fit(c->who, names, t.n))
        return;
    int nin = gather(c, &t, rate, in);
    if (nin < 0 || !call_eager(c->who, body, c, sizeof *c, nin, in, nin - (int)c->n - 1, out))
        return;
    tree_spread((tt_tree){ params, t.n }, out, next);
    tree_spread((tt_tree){ state, nstate }, out + c->n, next + t.n);
    put_back(params, t.n, next);
    if (nstate)
        put_back(state, nstate, next + t.n);
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
    step(adam_body, &c, params, grads, state, 2 * n + 1, rate, options.names);
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
        step(sgd_body, &c, params, grads, state, state ? n : 0, rate, options.names);
}

void tt_rmsprop_n(tt *params, int n, tt_tree grads, tt *state, tt rate,
                  const tt_rmsprop_options *given)
{
    PUBLIC;
    OPTIONS(tt_rmsprop_options, "tt_rmsprop", given, return);
    Config c;
    memset(&c, 0, sizeof c);
    c.who = "tt_rmsprop";
    c.n = n;
    c.b2 = or_else(options.b2, 0.9);
    c.eps = or_else(options.eps, 1e-8);
    c.decay = options.decay;
    c.clip = options.clip;
    step(rmsprop_body, &c, params, grads, state, n, rate, options.names);
}

void tt_lion_n(tt *params, int n, tt_tree grads, tt *state, tt rate, const tt_lion_options *given)
{
    PUBLIC;
    OPTIONS(tt_lion_options, "tt_lion", given, return);
    Config c;
    memset(&c, 0, sizeof c);
    c.who = "tt_lion";
    c.n = n;
    c.b1 = or_else(options.b1, 0.9);
    c.b2 = or_else(options.b2, 0.99);
    c.decay = options.decay;
    c.clip = options.clip;
    step(lion_body, &c, params, grads, state, n, rate, options.names);
}

/* ---- means over time ---- */

static void ema_body(const tt *in, tt *out, const void *config)
{
    const Config *c = config;
    for (int64_t i = 0; i < c->n; i++)
        out[i] =
            tt_add(tt_mul(number(1 - c->decay), in[c->n + i]), tt_mul(number(c->decay), in[i]));
}

void tt_ema_n(tt *slow, int n, tt_tree fast, double decay)
{
    PUBLIC;
    Config c;
    tt *in = scope_values(2 * n), *out = scope_values(n), *next = scope_values(n);
    if (!in || !out || !next)
        return;
    if (fast.n != n) {
        report_broken("tt_ema: trees of %d and %d arrays: they are of one type", n, fast.n);
        return;
    }
    memset(&c, 0, sizeof c);
    c.n = tree_present((tt_tree){ slow, n }, in);
    c.decay = decay;
    if (tree_present(fast, in + c.n) != c.n)
        report_broken("tt_ema: an array is absent in one tree, and there in the other");
    else if (call_eager("tt_ema", ema_body, &c, sizeof c, 2 * (int)c.n, in, (int)c.n, out)) {
        tree_spread((tt_tree){ slow, n }, out, next);
        put_back(slow, n, next);
    }
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
    tt *out = scope_values(nstate), *in = scope_values(params.n), *y = scope_values(nstate);
    int trees = params.n ? nstate / params.n : 0, more = params.n ? nstate % params.n : 0;
    if (!out || !in || !y)
        return;
    if (!trees || more > 1) {
        report_broken("tt_start: a state of %d arrays for %d parameters: it is a TT_ADAM, TT_SGD "
                      "or the like of their type",
                      nstate, params.n);
        return;
    }
    memset(&c, 0, sizeof c);
    c.is_nesterov = tree_present(params, in);
    c.n = trees * c.is_nesterov;
    call_eager("tt_start", zeros_body, &c, sizeof c, (int)c.is_nesterov, in, (int)c.n, y);
    for (int k = 0; k < trees; k++)
        tree_spread(params, y + k * c.is_nesterov, out + k * params.n);
    if (more)
        out[nstate - 1] = tt_full(TT_I32, 0, &(tt_dims){ 0 });
    memcpy(state, out, sizeof *out * (size_t)nstate);
}
