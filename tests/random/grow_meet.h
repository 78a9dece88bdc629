/* grow_meet.h - random operations between devices, and shardings. */
#ifndef TUTTI_TESTS_RANDOM_GROW_MEET_H
#define TUTTI_TESTS_RANDOM_GROW_MEET_H
#include "tests/random/grow_fold.h"

/* All in one group, or two halves, or even and odd ones: by number. */
static void groups_of_kind(const Grower *g, int kind, Text *out, int *size)
{
    int n = g->ndevices;
    if (n % 2)
        kind = 0;
    *size = kind ? n / 2 : n;
    text_printf(out, "channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, "
                     "replica_groups = dense<[[");
    for (int i = 0; i < n; i++) {
        int member = kind == 2 ? (i % (n / 2)) * 2 + i / (n / 2) : i;
        text_printf(out, "%s%d", i == 0 ? "" : kind && i == n / 2 ? "], [" : ", ", member);
    }
    text_printf(out, "]]> : tensor<%dx%dxi64>", kind ? 2 : 1, *size);
}

static bool grow_all_reduce(Grower *g)
{
    Grown x, args[2];
    if (g->mode != GROW_MANUAL || !pick(g, any_type, &x))
        return false;
    int size;
    Text groups = { 0 };
    groups_of_kind(g, (int)random_below(3), &groups, &size);
    Combiner c = choose_combiner(g, x.type, false);
    x = prepared(g, c, x);
    Grown v = new_value(g, x.type);
    open_op(g, "all_reduce", 1, &x, words(g, "%s, use_global_device_ids", text_cstr(&groups)), 1,
            &v);
    region_args(g, 1, &x.type, args);
    Grown sum = combined(g, c, args[0], args[1]);
    return_line(g, "stablehlo.return", 1, &sum);
    close_op(g, 1, &x, 1, &v);
    text_free(&groups);
    keep(g, v);
    return true;
}

static void reduce_scatter(Grower *g, Combiner c, Grown x, int at, const char *groups, Grown v)
{
    Grown args[2];
    open_op(g, "reduce_scatter", 1, &x,
            words(g, "scatter_dimension = %d : i64, %s, use_global_device_ids", at, groups), 1, &v);
    region_args(g, 1, &x.type, args);
    Grown sum = combined(g, c, args[0], args[1]);
    return_line(g, "stablehlo.return", 1, &sum);
    close_op(g, 1, &x, 1, &v);
}

/* all_gather makes a dimension longer, reduce_scatter shorter, all_to_all moves parts from one to
 * another. */
static bool grow_exchange(Grower *g)
{
    Grown x;
    if (g->mode != GROW_MANUAL || !pick(g, has_rank, &x))
        return false;
    int size, which = (int)random_below(3), at = (int)between(0, x.type.rank - 1), to = at;
    Text groups = { 0 };
    groups_of_kind(g, (int)random_below(3), &groups, &size);
    int64_t dims[MOST_DIMS];
    copy_dims(x.type, dims);
    bool fits = which == 0 ? type_count(x.type) * size <= g->most_count : dims[at] % size == 0;
    if (fits) {
        const char *of = words(g, "%s", text_cstr(&groups));
        Combiner c = choose_combiner(g, x.type, false);
        if (which == 0)
            dims[at] *= size;
        else
            dims[at] /= size;
        if (which == 2)
            dims[to = (int)between(0, x.type.rank - 1)] *= size;
        x = which == 1 ? prepared(g, c, x) : x;
        Grown v = new_value(g, type_new(g->arena, x.type.element, x.type.rank, dims));
        if (which == 0)
            write_op(g, "all_gather", 1, &x,
                     words(g, "all_gather_dim = %d : i64, %s, use_global_device_ids", at, of), 1,
                     &v);
        else if (which == 1)
            reduce_scatter(g, c, x, at, of, v);
        else
            write_op(g, "all_to_all", 1, &x,
                     words(g,
                           "split_dimension = %d : i64, concat_dimension = %d : i64, "
                           "split_count = %d : i64, %s",
                           at, to, size, of),
                     1, &v);
        keep(g, which == 1 ? v : moved(v, 1, &x));
    }
    text_free(&groups);
    return fits;
}

static bool grow_permute(Grower *g)
{
    Grown x;
    if (g->mode != GROW_MANUAL || !pick(g, any_type, &x))
        return false;
    int order[16], npairs = 0;
    const char *pairs = "";
    shuffled(g->ndevices, order);
    for (int i = 0; i < g->ndevices; i++)
        if (chance(80))
            pairs = words(g, "%s%s[%d, %d]", pairs, npairs++ ? ", " : "", i, order[i]);
    if (!npairs)
        pairs = "[0, 0]", npairs = 1;
    Grown v = new_value(g, x.type);
    write_op(g, "collective_permute", 1, &x,
             words(g,
                   "source_target_pairs = dense<[%s]> : tensor<%dx2xi64>, channel_handle = "
                   "#stablehlo.channel_handle<handle = 1, type = 1>",
                   pairs, npairs),
             1, &v);
    keep(g, moved(v, 1, &x));
    return true;
}

static bool grow_partition_id(Grower *g)
{
    if (g->mode != GROW_MANUAL)
        return false;
    Grown v = new_value(g, type_scalar(U32));
    line(g, "%s = stablehlo.partition_id : tensor<ui32>", ref(g, v));
    keep(g, v);
    keep(g, one_operand(g, "convert", v, type_scalar(F32)));
    return true;
}

/* "[{\"i\"}, {}]": dimensions that the mesh of 2 by n / 2 (or n) divides may be cut by it. */
static void sharding_text(const Grower *g, Type t, Text *out)
{
    bool used[2] = { false, false };
    int naxes = g->ndevices % 2 ? 1 : 2, sizes[2] = { g->ndevices, 1 };
    if (naxes == 2)
        sizes[0] = 2, sizes[1] = g->ndevices / 2;
    text_printf(out, "[");
    for (int i = 0; i < t.rank; i++) {
        int64_t left = t.dims[i];
        int written = 0;
        text_printf(out, "%s{", i ? ", " : "");
        for (int a = 0; a < naxes; a++)
            if (!used[a] && left && left % sizes[a] == 0 && chance(50)) {
                used[a] = true;
                left /= sizes[a];
                text_printf(out, "%s\"%c\"", written++ ? ", " : "", 'i' + a);
            }
        text_printf(out, "}");
    }
    text_printf(out, "]");
}

static bool grow_constraint(Grower *g)
{
    Grown x;
    if (g->mode != GROW_WHOLE || g->depth || g->is_apart || !pick(g, has_rank, &x))
        return false;
    Text sharding = { 0 };
    sharding_text(g, x.type, &sharding);
    Grown v = new_value(g, x.type);
    line(g, "%s = sdy.sharding_constraint %s <@mesh, %s> : %s", ref(g, v), ref(g, x),
         text_cstr(&sharding), named(g, x.type));
    text_free(&sharding);
    keep(g, moved(v, 1, &x));
    return true;
}
#endif
