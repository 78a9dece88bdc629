/* collectives.c - tt_psum and its like: in go arrays and the name of an axis, out come operations
 * that say "along this name".  Which devices or rows those are, the map that binds the name decides.
 *
 * Operations add and drop axes; the tiled forms are those between two reshapes:
 *
 *     all_gather of f32[3,4] along axis 1     f32[3,n,4]     tiled: seen as f32[3,n*4] */
#include "front/api/numpy.h"
#include "front/transform/build.h"
#include "front/value/axis_names.h"
#include "front/value/library.h"
#include "front/value/report.h"

#include <string.h>

static const char *const names[] = {
    [TT_PSUM] = "tt_psum",
    [TT_PMEAN] = "tt_pmean",
    [TT_PMAX] = "tt_pmax",
    [TT_PMIN] = "tt_pmin",
    [TT_ALL_GATHER] = "tt_all_gather",
    [TT_PSUM_SCATTER] = "tt_psum_scatter",
    [TT_ALL_TO_ALL] = "tt_all_to_all",
};

/* ---- the axis ---- */

static bool is_mapped(void)
{
    const Trace *t = tracing;
    while (t && !t->is_manual && !t->axis_size)
        t = t->outer;
    return t != NULL;
}

static void report_unbound(const char *who, const char *name)
{
    if (!is_mapped())
        report_broken(
            "%s: nothing is being mapped here, so there is no axis \"%s\": call it inside a "
            "function that is, as by tt_pmap(f, .axis_name = \"%s\")",
            who, name, name);
    else
        report_broken(
            "%s: no axis named \"%s\" is being mapped here: write .axis_name = \"%s\" where "
            "the function is mapped, or give its mesh that axis",
            who, name, name);
}

/* The size of one axis; 0: no map binds the name; reported. */
static int bound_one(const char *who, Str name)
{
    Text text = { 0 };
    text_printf(&text, "%.*s", STR_ARG(name));
    int size = trace_axis_size(text_cstr(&text));
    if (!size)
        report_unbound(who, text_cstr(&text));
    text_free(&text);
    return size;
}

/* What is known of the axes: their sizes, and that together.  NULL: reported. */
static AxisAttrs *bound(const char *who, const char *axis_name)
{
    int64_t sizes[TT_MAX_RANK], size = 1;
    int n = 0;
    if (!axis_name)
        return report_broken("%s: no axis is named: give the name that tt_pmap or tt_vmap has as "
                             ".axis_name",
                             who),
               NULL;
    Str list = str_of(axis_name), name;
    for (; axis_names_next(&list, &name); n++) {
        if (n == TT_MAX_RANK)
            return report_broken("%s: \"%s\" names more than %d axes", who, axis_name, TT_MAX_RANK),
                   NULL;
        if (axis_names_has(list, name))
            return report_broken("%s: \"%s\" names the axis \"%.*s\" twice", who, axis_name,
                                 STR_ARG(name)),
                   NULL;
        sizes[n] = bound_one(who, name);
        if (!sizes[n])
            return NULL;
        size *= sizes[n];
        if (size > INT32_MAX)
            return report_broken("%s: the axes \"%s\" have more than %d members together", who,
                                 axis_name, INT32_MAX),
                   NULL;
    }
    return BUILD_ATTRS(AxisAttrs, .axis = str_copy(trace_arena(), str_of(axis_name)), .size = size,
                       .sizes = ints_of(n, sizes));
}

/* ---- groups ---- */

/* A collective along axes that a map binds. */
typedef struct BoundCall {
    const char *who, *axis_name;
    tt_collective kind;
    tt_collective_options options;
    AxisAttrs *attrs;
    bool is_uneven;
} BoundCall;

static bool report_missing(const BoundCall *q, int member, int total)
{
    report_broken(
        "%s: .groups must have each of the %d members of \"%s\" once; member %d is in none", q->who,
        total, q->axis_name, member);
    return false;
}

/* Is every member in one group?  False: reported. */
static bool groups_cover(const BoundCall *q, int total)
{
    bool *seen = ARENA_ARRAY(trace_arena(), bool, total);
    for (int g = 0; g < q->options.groups.n; g++)
        for (int i = 0; i < q->options.groups.group[g].n; i++) {
            int member = q->options.groups.group[g].members[i];
            if (member < 0 || member >= total)
                return report_broken("%s: .groups lists member %d; those of \"%s\" are 0 to %d",
                                     q->who, member, q->axis_name, total - 1),
                       false;
            if (seen[member])
                return report_broken("%s: .groups lists member %d twice", q->who, member), false;
            seen[member] = true;
        }
    for (int i = 0; i < total; i++)
        if (!seen[i])
            return report_missing(q, i, total);
    return true;
}

/* From lists to a rectangle, whose short rows end in -1. */
static bool take_groups(BoundCall *q, int total)
{
    const tt_groups *groups = &q->options.groups;
    int most = 0, fewest = total;
    if (!groups->n)
        return true;
    if (!groups_cover(q, total))
        return false;
    for (int g = 0; g < groups->n; g++) {
        most = groups->group[g].n > most ? groups->group[g].n : most;
        fewest = groups->group[g].n < fewest ? groups->group[g].n : fewest;
    }
    q->is_uneven = most != fewest;
    if (!fewest || (q->is_uneven && q->kind >= TT_ALL_GATHER))
        return report_broken(!fewest ? "%s: a group of .groups is empty"
                                     : "%s: .groups must be of one size, and are of %d and of %d",
                             q->who, fewest, most),
               false;
    int64_t *at = ARENA_ARRAY(trace_arena(), int64_t, groups->n * most);
    for (int g = 0; g < groups->n; g++)
        for (int i = 0; i < most; i++)
            at[g * most + i] = i < groups->group[g].n ? groups->group[g].members[i] : -1;
    q->attrs->groups = (Matrix){ groups->n, most, at };
    q->attrs->size = most;
    return true;
}

/* ---- one array ---- */

static tt mean(const BoundCall *q, tt sum)
{
    if (!q->is_uneven)
        return tt_div(sum, tt_integer(q->attrs->size));
    tt one = build_number(type_scalar(I32), 1);
    return tt_div(sum, build_op(OP_NAMED_SUM, 1, &one, q->attrs, type_scalar(I32)));
}

/* Has the axis n to hand out, or tiled a multiple of it? */
static bool is_divisible(const BoundCall *q, Type t, int axis)
{
    int64_t n = q->attrs->size;
    if (q->options.tiled ? t.dims[axis] % n == 0 : t.dims[axis] == n)
        return true;
    report_broken("%s: %s must have %s%lld along axis %d, the size of %s\"%s\"", q->who,
                  type_text(t), q->options.tiled ? "a multiple of " : "", (long long)n, axis,
                  q->attrs->groups.rows ? "the groups of " : "", q->axis_name);
    return false;
}

/* The axis that is split, of an array that has one. */
static bool split_axis(const BoundCall *q, Type t, int *axis)
{
    if (!t.rank)
        return report_broken("%s: %s must have %lld along axis 0, the size of \"%s\"", q->who,
                             type_text(t), (long long)q->attrs->size, q->axis_name),
               false;
    return normalize_axis(q->who, t, q->options.axis, axis) && is_divisible(q, t, *axis);
}

/* axis of n * k becomes two, of n and k; and back. */
static Type split_type(Type t, int axis, int64_t n)
{
    Type two = type_insert(t, axis, n);
    ((int64_t *)two.dims)[axis + 1] /= n;
    return two;
}
static Type merged_type(Type t, int axis)
{
    Type one = type_remove(t, axis);
    ((int64_t *)one.dims)[axis] *= t.dims[axis];
    return one;
}

static tt gather(BoundCall *q, tt x, Type t)
{
    int axis = q->options.axis < 0 ? q->options.axis + t.rank + 1 : q->options.axis;
    if (q->options.tiled && !normalize_axis(q->who, t, q->options.axis, &axis))
        return NO_VALUE;
    if (axis < 0 || axis > t.rank || t.rank == TT_MAX_RANK)
        return report_broken(
            "%s: %s cannot get a new axis %d: it would be from %d to %d, and %d axes "
            "are the most",
            q->who, type_text(t), q->options.axis, -t.rank - 1, t.rank, TT_MAX_RANK);
    q->attrs->dimension = axis;
    tt y = build_op(OP_NAMED_GATHER, 1, &x, q->attrs, type_insert(t, axis, q->attrs->size));
    return q->options.tiled ? build_reshape(y, merged_type(type_at(y), axis)) : y;
}

static tt scatter(BoundCall *q, tt x, Type t)
{
    int axis;
    if (!split_axis(q, t, &axis))
        return NO_VALUE;
    q->attrs->dimension = axis;
    if (q->options.tiled)
        x = build_reshape(x, t = split_type(t, axis, q->attrs->size));
    return build_op(OP_NAMED_SCATTER, 1, &x, q->attrs, type_remove(t, axis));
}

static tt exchange(BoundCall *q, tt x, Type t)
{
    int axis, concat;
    int64_t n = q->attrs->size;
    if (!split_axis(q, t, &axis) ||
        !normalize_axis("tt_all_to_all: .concat_axis", t, q->options.concat_axis, &concat))
        return NO_VALUE;
    q->attrs->dimension = axis;
    q->attrs->concat_dimension = concat;
    if (q->options.tiled)
        x = build_reshape(x, t = split_type(t, axis, n));
    tt y =
        build_op(OP_NAMED_EXCHANGE, 1, &x, q->attrs, type_insert(type_remove(t, axis), concat, n));
    return q->options.tiled ? build_reshape(y, merged_type(type_at(y), concat)) : y;
}

/* Booleans are added as numbers. */
static tt counted(tt x)
{
    return type_at(x).element == I1 ? build_convert(x, I32) : x;
}

static tt record_collective(BoundCall *q, tt x)
{
    Shape shape;
    if (!value_shape(x, q->who, &shape))
        return NO_VALUE;
    bool is_sum = q->kind == TT_PSUM || q->kind == TT_PMEAN || q->kind == TT_PSUM_SCATTER;
    if (is_sum)
        x = counted(x);
    Type t = type_at(x);
    q->attrs = arena_copy(trace_arena(), q->attrs, sizeof *q->attrs);
    switch (q->kind) {
    case TT_PSUM: return build_op(OP_NAMED_SUM, 1, &x, q->attrs, t);
    case TT_PMEAN: return mean(q, build_op(OP_NAMED_SUM, 1, &x, q->attrs, t));
    case TT_PMAX: return build_op(OP_NAMED_MAX, 1, &x, q->attrs, t);
    case TT_PMIN: return build_op(OP_NAMED_MIN, 1, &x, q->attrs, t);
    case TT_ALL_GATHER: return gather(q, x, t);
    case TT_PSUM_SCATTER: return scatter(q, x, t);
    case TT_ALL_TO_ALL: return exchange(q, x, t);
    }
    return NO_VALUE;
}

/* ---- the interface ---- */

static bool options_fit(const BoundCall *q)
{
    const tt_collective_options *o = &q->options;
    bool moves = q->kind >= TT_ALL_GATHER;
    if ((o->axis || o->tiled) && !moves)
        report_broken("%s keeps the shape: .axis and .tiled are for tt_all_gather, tt_psum_scatter "
                      "and tt_all_to_all",
                      q->who);
    else if (o->concat_axis && q->kind != TT_ALL_TO_ALL)
        report_broken("%s: .concat_axis is for tt_all_to_all", q->who);
    else
        return true;
    return false;
}

/* The arguments of one public call. */
typedef struct Request {
    const char *who, *axis_name;
    tt_tree tree;
    tt_collective kind;
    const tt_collective_options *options;
    int n, number; /* of pairs or sources; by how much, or the source */
    const tt_pair *pairs;
    const int *from;
} Request;

/* The body records for every leaf that is there; of a tree of one, which is an operand, for that. */
static const tt *record_request(Body *body, const Request *given)
{
    Request request = *given;
    int n = given->tree.n;
    tt *out = scope_values(n), *in = scope_values(n), *y = scope_values(n);
    if (!out)
        return no_values;
    if (!in || !y)
        return out;
    if (n > 1)
        request.tree = (tt_tree){ in, tree_present(given->tree, in) };
    record_body(request.who, body, &request, request.tree.leaf, request.tree.n, y);
    tree_spread(n > 1 ? given->tree : (tt_tree){ y, n }, y, out);
    return out;
}

static void collective_body(const tt *in, tt *out, const void *config)
{
    const Request *request = config;
    CallSite at = call_site;
    OPTIONS(tt_collective_options, request->who, request->options, return);
    BoundCall q = { .who = request->who,
                    .axis_name = request->axis_name,
                    .kind = request->kind,
                    .options = options };
    q.attrs = bound(q.who, q.axis_name);
    bool ok = q.attrs && options_fit(&q) && take_groups(&q, (int)q.attrs->size);
    for (int i = 0; ok && i < request->tree.n; i++) {
        out[i] = record_collective(&q, in[i]);
        call_site = at;
    }
}

const tt *tt_collective_n(tt_tree tree, tt_collective kind, const char *axis_name,
                          const tt_collective_options *options)
{
    PUBLIC;
    if ((unsigned)kind > TT_ALL_TO_ALL)
        return report_broken("tt_collective: there is no collective %d", (int)kind), no_values;
    return record_request(collective_body, &(Request){ .who = names[kind],
                                                       .axis_name = axis_name,
                                                       .tree = tree,
                                                       .kind = kind,
                                                       .options = options });
}

/* For every leaf one operation that keeps its shape. */
static void record_leaves(const Request *request, OpId op, const AxisAttrs *attrs, tt *out)
{
    for (int i = 0; attrs && i < request->tree.n; i++) {
        Shape shape;
        tt x = request->tree.leaf[i];
        if (!value_shape(x, request->who, &shape))
            continue;
        Type t = type_at(x);
        bool is_silent = op == OP_NAMED_PERMUTE && !attrs->pairs.rows;
        out[i] = is_silent ? build_zeros(t) : build_op(op, 1, &x, attrs, t);
    }
}

static void shift_body(const tt *in, tt *out, const void *config)
{
    (void)in;
    const Request *request = config;
    AxisAttrs *attrs = bound(request->who, request->axis_name);
    if (!attrs)
        return;
    int size = (int)attrs->size;
    int64_t *pairs = ARENA_ARRAY(trace_arena(), int64_t, 2 * size);
    for (int i = 0; i < size; i++) {
        pairs[2 * i] = i;
        pairs[2 * i + 1] = ((i + request->number % size) % size + size) % size;
    }
    attrs->pairs = (Matrix){ size, 2, pairs };
    record_leaves(request, OP_NAMED_PERMUTE, attrs, out);
}

/* Device or row i sends to i + by, around the ring. */
const tt *tt_shift_n(tt_tree tree, const char *axis_name, int by)
{
    PUBLIC;
    return record_request(shift_body, &(Request){ "tt_shift", axis_name, tree, .number = by });
}

static bool is_member(const char *who, const char *axis_name, int member, int size)
{
    if (member < 0 || member >= size)
        report_broken("%s: there is no member %d along \"%s\": they are 0 to %d", who, member,
                      axis_name, size - 1);
    return member >= 0 && member < size;
}

/* Is every device a sender at most once, and a receiver at most once?  False: reported. */
static bool take_pairs(AxisAttrs *attrs, const char *axis_name, const tt_pair *pairs, int n)
{
    const char *who = "tt_ppermute";
    int size = (int)attrs->size;
    int64_t *at = ARENA_ARRAY(trace_arena(), int64_t, 2 * n + 1);
    for (int i = 0; i < n; i++) {
        if (!is_member(who, axis_name, pairs[i].from, size) ||
            !is_member(who, axis_name, pairs[i].to, size))
            return false;
        for (int k = 0; k < i; k++)
            if (pairs[k].from == pairs[i].from || pairs[k].to == pairs[i].to)
                return report_broken(
                           "%s: pairs {%d, %d} and {%d, %d}: a member sends at most once, "
                           "and is sent to at most once",
                           who, pairs[k].from, pairs[k].to, pairs[i].from, pairs[i].to),
                       false;
        at[2 * i] = pairs[i].from;
        at[2 * i + 1] = pairs[i].to;
    }
    attrs->pairs = (Matrix){ n, 2, at };
    return true;
}

static void permute_body(const tt *in, tt *out, const void *config)
{
    (void)in;
    const Request *request = config;
    AxisAttrs *attrs = bound(request->who, request->axis_name);
    if (attrs && take_pairs(attrs, request->axis_name, request->pairs, request->n))
        record_leaves(request, OP_NAMED_PERMUTE, attrs, out);
}

const tt *tt_ppermute_n(tt_tree tree, const char *axis_name, const tt_pair *pairs, int n)
{
    PUBLIC;
    return record_request(permute_body,
                          &(Request){ "tt_ppermute", axis_name, tree, .n = n, .pairs = pairs });
}

/* Member i gets what member from[i] has. */
static bool take_sources(AxisAttrs *attrs, const char *axis_name, const int *from, int n)
{
    const char *who = "tt_pshuffle";
    int size = (int)attrs->size;
    int64_t *at = ARENA_ARRAY(trace_arena(), int64_t, 2 * n + 1);
    if (n != size)
        return report_broken("%s: %d sources for the %d members of \"%s\"", who, n, size,
                             axis_name),
               false;
    for (int i = 0; i < n; i++) {
        if (!is_member(who, axis_name, from[i], size))
            return false;
        for (int k = 0; k < i; k++)
            if (from[k] == from[i])
                return report_broken(
                           "%s: member %d is the source of %d and of %d: each must be the "
                           "source of one",
                           who, from[i], k, i),
                       false;
        at[2 * i] = from[i];
        at[2 * i + 1] = i;
    }
    attrs->pairs = (Matrix){ n, 2, at };
    return true;
}

static void shuffle_body(const tt *in, tt *out, const void *config)
{
    (void)in;
    const Request *request = config;
    AxisAttrs *attrs = bound(request->who, request->axis_name);
    if (attrs && take_sources(attrs, request->axis_name, request->from, request->n))
        record_leaves(request, OP_NAMED_PERMUTE, attrs, out);
}

const tt *tt_pshuffle_n(tt_tree tree, const char *axis_name, const int *from, int n)
{
    PUBLIC;
    return record_request(shuffle_body,
                          &(Request){ "tt_pshuffle", axis_name, tree, .n = n, .from = from });
}

static void broadcast_body(const tt *in, tt *out, const void *config)
{
    (void)in;
    const Request *request = config;
    AxisAttrs *attrs = bound(request->who, request->axis_name);
    if (!attrs || !is_member(request->who, request->axis_name, request->number, (int)attrs->size))
        return;
    attrs->source = request->number;
    record_leaves(request, OP_NAMED_BROADCAST, attrs, out);
}

const tt *tt_pbroadcast_n(tt_tree tree, const char *axis_name, int source)
{
    PUBLIC;
    return record_request(broadcast_body,
                          &(Request){ "tt_pbroadcast", axis_name, tree, .number = source });
}

static void axis_index_body(const tt *in, tt *out, const void *config)
{
    (void)in;
    const AxisAttrs *axes = bound("tt_axis_index", config);
    if (axes)
        *out = build_axis_index(axes);
}

tt(tt_axis_index)(const char *axis_name)
{
    PUBLIC;
    tt index = NO_VALUE;
    record_body("tt_axis_index", axis_index_body, axis_name, NULL, 1, &index);
    return index;
}

typedef struct SizeOf {
    const char *axis_name;
    int size;
} SizeOf;

static void axis_size(void *user)
{
    SizeOf *of = user;
    const AxisAttrs *axes = bound("tt_axis_size", of->axis_name);
    of->size = axes ? (int)axes->size : 0;
}

int(tt_axis_size)(const char *axis_name)
{
    PUBLIC;
    SizeOf of = { axis_name, 0 };
    library_guard("tt_axis_size", axis_size, &of);
    return of.size;
}
