/* trees.c - all arrays of a tree together: their sum, their product with another tree's, one vector of
 * them and back. */
#include "front/api/numpy.h"

#include "front/value/library.h"
#include "front/value/report.h"

#include <string.h>

typedef struct Config {
    const char *who;
    int64_t n; /* leaves */
} Config;

int tree_present(tt_tree tree, tt *room)
{
    int n = 0;
    for (int i = 0; i < tree.n; i++)
        if (!value_is_absent(tree.leaf[i]))
            room[n++] = tree.leaf[i];
    return n;
}

void tree_spread(tt_tree like, const tt *x, tt *out)
{
    for (int i = 0, k = 0; i < like.n; i++)
        out[i] = value_is_absent(like.leaf[i]) ? NO_VALUE : x[k++];
}

bool tt_is_there(tt x)
{
    return x.slot != 0;
}

static tt flat(tt x)
{
    return tt_reshape(x, &(tt_dims){ 1, { -1 } });
}

static bool are_alike(const char *who, tt_tree a, tt_tree b)
{
    if (a.n != b.n)
        return report_broken("%s: one tree has %d array%s, the other %d: they must be of one type",
                             who, a.n, a.n == 1 ? "" : "s", b.n),
               false;
    for (int i = 0; i < a.n; i++)
        if (value_is_absent(a.leaf[i]) != value_is_absent(b.leaf[i]))
            return report_broken("%s: array %d is absent in one tree, and there in the other", who,
                                 i),
                   false;
    return true;
}

/* ---- sums ---- */

static void sum_body(const tt *in, tt *out, const void *config)
{
    const Config *c = config;
    *out = tt_scalar(0);
    for (int64_t i = 0; i < c->n; i++)
        *out = tt_add(*out, tt_sum(in[i], NULL));
}

static void dot_body(const tt *in, tt *out, const void *config)
{
    const Config *c = config;
    *out = tt_scalar(0);
    for (int64_t i = 0; i < c->n; i++)
        *out = tt_add(*out, tt_sum(tt_mul(in[i], in[c->n + i]), NULL));
}

tt tt_tree_sum_n(tt_tree tree)
{
    PUBLIC;
    Config c = { "tt_tree_sum", 0 };
    tt *in = scope_values(tree.n);
    if (!in)
        return NO_VALUE;
    c.n = tree_present(tree, in);
    return call_eager_one(c.who, sum_body, &c, sizeof c, (int)c.n, in);
}

/* The leaves of both that are there, one after the other; NULL: reported. */
static tt *joined(Config *c, tt_tree a, tt_tree b, int more)
{
    tt *in = are_alike(c->who, a, b) ? scope_values(2 * a.n + more) : NULL;
    if (in) {
        c->n = tree_present(a, in);
        tree_present(b, in + c->n);
    }
    return in;
}

tt tt_tree_dot_n(tt_tree a, tt_tree b)
{
    PUBLIC;
    Config c = { "tt_tree_dot", 0 };
    tt *in = joined(&c, a, b, 0);
    return in ? call_eager_one(c.who, dot_body, &c, sizeof c, 2 * (int)c.n, in) : NO_VALUE;
}

int64_t tt_tree_size_n(tt_tree tree)
{
    PUBLIC;
    int64_t size = 0;
    for (int i = 0; i < tree.n; i++) {
        Shape shape;
        if (value_is_absent(tree.leaf[i]))
            continue;
        if (!value_shape(tree.leaf[i], "tt_tree_size", &shape))
            return 0;
        size += type_count(shape_type(&shape));
    }
    return size;
}

/* ---- a x + y ---- */

static void axpy_body(const tt *in, tt *out, const void *config)
{
    int64_t n = ((const Config *)config)->n;
    for (int64_t i = 0; i < n; i++)
        out[i] = tt_add(tt_mul(in[2 * n], in[i]), in[n + i]);
}

const tt *tt_tree_axpy_n(tt a, tt_tree x, tt_tree y)
{
    PUBLIC;
    Config c = { "tt_tree_axpy", 0 };
    tt *out = scope_values(x.n), *in = joined(&c, x, y, 1), *sum = scope_values(x.n);
    if (!out)
        return no_values;
    if (in && sum) {
        in[2 * c.n] = a;
        if (call_eager(c.who, axpy_body, &c, sizeof c, 2 * (int)c.n + 1, in, (int)c.n, sum))
            tree_spread(x, sum, out);
    }
    return out;
}

/* ---- one vector ---- */

static void ravel_body(const tt *in, tt *out, const void *config)
{
    int64_t n = ((const Config *)config)->n;
    tt *parts = ARENA_ARRAY(trace_arena(), tt, n + 1);
    for (int64_t i = 0; i < n; i++)
        parts[i] = flat(in[i]);
    *out = tt_concat_n(parts, (int)n, 0);
}

tt tt_ravel_n(tt_tree tree)
{
    PUBLIC;
    Config c = { "tt_ravel", 0 };
    tt *in = scope_values(tree.n);
    if (!in)
        return NO_VALUE;
    c.n = tree_present(tree, in);
    if (!c.n)
        return report_broken("tt_ravel: the tree has no array"), NO_VALUE;
    return call_eager_one(c.who, ravel_body, &c, sizeof c, (int)c.n, in);
}

/* in: the vector, then arrays of the shapes and types that come out. */
static void unravel_body(const tt *in, tt *out, const void *config)
{
    int64_t n = ((const Config *)config)->n, at = 0;
    for (int64_t i = 0; i < n; i++) {
        tt_dims shape = tt_shape(in[1 + i]);
        int64_t count = 1;
        for (int k = 0; k < shape.n; k++)
            count *= shape.v[k];
        tt part = tt_reshape(tt_slice(in[0], 0, at, at + count), &shape);
        out[i] = tt_astype(part, tt_type(in[1 + i]));
        at += count;
    }
}

const tt *tt_unravel_n(tt x, tt_tree like)
{
    PUBLIC;
    Config c = { "tt_unravel", 0 };
    tt *out = scope_values(like.n), *in = scope_values(like.n + 1), *parts = scope_values(like.n);
    Shape shape;
    if (!out)
        return no_values;
    if (!in || !parts || !value_shape(x, c.who, &shape))
        return out;
    int64_t size = tt_tree_size_n(like);
    if (shape.rank != 1 || shape.dims[0] != size)
        return report_broken("tt_unravel: a vector of %lld elements is cut into the tree's arrays; "
                             "it is %s",
                             (long long)size, type_text(shape_type(&shape))),
               out;
    in[0] = x;
    c.n = tree_present(like, in + 1);
    if (call_eager(c.who, unravel_body, &c, sizeof c, (int)c.n + 1, in, (int)c.n, parts))
        tree_spread(like, parts, out);
    return out;
}
