/* collectives.c - tt_psum and its like: in go arrays and the name of an axis, out come operations
 * that say "along this name".  Which devices or rows those are, whoever bound the name decides. */
#include "front/build.h"
#include "front/say.h"

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

/* The size of the axis; 0: nobody binds the name, said. */
static int bound(const char *who, const char *axis_name)
{
    int size = axis_name ? trace_axis_size(axis_name) : 0;
    if (size)
        return size;
    if (!axis_name)
        say_broken("%s: no axis is named: give the name that tt_pmap or tt_vmap has as .axis_name",
                   who);
    else if (!tracing)
        say_broken("%s: no axis named \"%s\" is being mapped here: call it inside a function that "
                   "tt_pmap, tt_vmap or tt_shard_map maps with .axis_name = \"%s\"",
                   who, axis_name, axis_name);
    else
        say_broken("%s: no axis named \"%s\" is being mapped here: write .axis_name = \"%s\" where "
                   "the function is mapped, or give its mesh that axis",
                   who, axis_name, axis_name);
    return 0;
}

static const AxisAttrs *axis_attrs(const char *axis_name, int size)
{
    return BUILD_ATTRS(AxisAttrs, .axis = str_copy(trace_arena(), str_of(axis_name)), .size = size);
}

static bool has_rows(const char *who, Type t, const char *axis_name, int size)
{
    if (t.rank && t.dims[0] == size)
        return true;
    say_broken("%s: %s must have %d along axis 0, the size of \"%s\"", who, type_words(t), size,
               axis_name);
    return false;
}

static tt meet(tt x, tt_collective kind, const char *axis_name, int size)
{
    const char *who = names[kind];
    Shape shape;
    if (!value_shape(x, who, &shape))
        return NO_VALUE;
    Type t = type_at(x);
    const AxisAttrs *attrs = axis_attrs(axis_name, size);
    bool is_sum = kind == TT_PSUM || kind == TT_PMEAN || kind == TT_PSUM_SCATTER;
    if (is_sum && t.element == I1) {
        x = build_convert(x, I32);
        t.element = I32;
    }
    switch (kind) {
    case TT_PSUM: return build(OP_NAMED_SUM, 1, &x, attrs, t);
    case TT_PMEAN: return tt_div(build(OP_NAMED_SUM, 1, &x, attrs, t), tt_integer(size));
    case TT_PMAX: return build(OP_NAMED_MAX, 1, &x, attrs, t);
    case TT_PMIN: return build(OP_NAMED_MIN, 1, &x, attrs, t);
    case TT_ALL_GATHER: return build(OP_NAMED_GATHER, 1, &x, attrs, type_insert(t, 0, size));
    case TT_PSUM_SCATTER:
        return has_rows(who, t, axis_name, size)
                   ? build(OP_NAMED_SCATTER, 1, &x, attrs, type_remove(t, 0))
                   : NO_VALUE;
    case TT_ALL_TO_ALL:
        return has_rows(who, t, axis_name, size) ? build(OP_NAMED_EXCHANGE, 1, &x, attrs, t)
                                                 : NO_VALUE;
    }
    return say_broken("tt_collective: there is no collective %d", (int)kind);
}

const tt *tt_collective_n(tt_tree tree, tt_collective kind, const char *axis_name)
{
    tt *out = scope_alloc(sizeof *out * (size_t)(tree.n + 1));
    Here at = here;
    const char *who = (unsigned)kind <= TT_ALL_TO_ALL ? names[kind] : "tt_collective";
    int size = bound(who, axis_name);
    for (int i = 0; size && i < tree.n; i++) {
        out[i] = meet(tree.leaf[i], kind, axis_name, size);
        here = at;
    }
    return out;
}

/* Device or row i sends to i + by, around the ring. */
const tt *tt_shift_n(tt_tree tree, const char *axis_name, int by)
{
    tt *out = scope_alloc(sizeof *out * (size_t)(tree.n + 1));
    int size = bound("tt_shift", axis_name);
    if (!size)
        return out;
    int64_t *pairs = ARENA_ARRAY(trace_arena(), int64_t, 2 * size);
    for (int i = 0; i < size; i++) {
        pairs[2 * i] = i;
        pairs[2 * i + 1] = ((i + by % size) % size + size) % size;
    }
    AxisAttrs *attrs = (AxisAttrs *)axis_attrs(axis_name, size);
    attrs->pairs = (Matrix){ size, 2, pairs };
    for (int i = 0; i < tree.n; i++) {
        Shape shape;
        if (value_shape(tree.leaf[i], "tt_shift", &shape))
            out[i] = build(OP_NAMED_PERMUTE, 1, &tree.leaf[i], attrs, type_at(tree.leaf[i]));
    }
    return out;
}

tt(tt_axis_index)(const char *axis_name)
{
    int size = bound("tt_axis_index", axis_name);
    return size ? build(OP_NAMED_INDEX, 0, NULL, axis_attrs(axis_name, size), type_scalar(I32))
                : NO_VALUE;
}

int(tt_axis_size)(const char *axis_name)
{
    return bound("tt_axis_size", axis_name);
}
