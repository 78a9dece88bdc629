/* grow_flow.h - random loops and branches, and what happens between devices. */
#ifndef TUTTI_TEST_GROW_FLOW_H
#define TUTTI_TEST_GROW_FLOW_H
#include "tests/random/grow.h"

/* ---- regions ---- */

typedef struct Scope {
    int nvalues, floor;
} Scope;

static Scope scope_open(Grower *g)
{
    Scope s = { g->nvalues, g->floor };
    g->floor = g->nvalues;
    g->depth++;
    return s;
}

static void scope_close(Grower *g, Scope s)
{
    g->nvalues = s.nvalues;
    g->floor = s.floor;
    g->depth--;
}

/* One of that type that the region made, if there is one. */
static Grown newest_like(Grower *g, Type type)
{
    for (int i = g->nvalues - 1; i >= g->floor; i--)
        if (type_equal(g->values[i].type, type))
            return g->values[i];
    return pick_like(g, type);
}

/* "%v1, %v2 : T, T" */
static void list_of(Text *out, int n, const Grown *values)
{
    for (int i = 0; i < n; i++)
        text_printf(out, "%s%%v%d", i ? ", " : "", values[i].id);
    text_printf(out, " : ");
    for (int i = 0; i < n; i++)
        text_printf(out, "%s%s", i ? ", " : "", named(values[i].type));
}

static void region_return_line(Grower *g, const char *word, int n, const Grown *values)
{
    Text list = { 0 };
    list_of(&list, n, values);
    line(g, "%s %s", word, text_cstr(&list));
    text_free(&list);
}

enum { MOST_CARRIED = 4 };

static bool grow_while(Grower *g)
{
    if (g->depth >= MOST_DEPTH)
        return false;
    int n = (int)between(1, MOST_CARRIED - 1) + 1;
    Grown carried[MOST_CARRIED], out[MOST_CARRIED], inner[MOST_CARRIED];
    carried[0] = constant(g, type_scalar(I32), "0");
    for (int i = 1; i < n; i++)
        if (!pick(g, any_type, &carried[i]))
            return false;
    int id = g->next_id++, turns = (int)between(0, 4);
    Text head = { 0 }, types = { 0 };
    for (int i = 0; i < n; i++) {
        inner[i] = new_value(g, carried[i].type);
        text_printf(&head, "%s%%v%d = %%v%d", i ? ", " : "", inner[i].id, carried[i].id);
        text_printf(&types, "%s%s", i ? ", " : "", named(carried[i].type));
    }
    line(g, "%%w%d:%d = stablehlo.while(%s) : %s", id, n, text_cstr(&head), text_cstr(&types));
    line(g, "cond {");
    line(g, "  %%n%d = stablehlo.constant dense<%d> : tensor<i32>", id, turns);
    line(g, "  %%c%d = stablehlo.compare LT, %%v%d, %%n%d : (tensor<i32>, tensor<i32>) -> tensor<i1>",
         id, inner[0].id, id);
    line(g, "  stablehlo.return %%c%d : tensor<i1>", id);
    line(g, "} do {");
    Scope s = scope_open(g);
    int outer_counter = g->counter;
    g->counter = inner[0].id;
    for (int i = 0; i < n; i++)
        keep(g, inner[i]);
    grow_some(g, (int)between(1, 6));
    Grown one = constant(g, type_scalar(I32), "1");
    out[0] = two_operands(g, "add", inner[0], one, type_scalar(I32));
    for (int i = 1; i < n; i++)
        out[i] = newest_like(g, carried[i].type);
    region_return_line(g, "stablehlo.return", n, out);
    scope_close(g, s);
    g->counter = outer_counter;
    line(g, "}");
    for (int i = 0; i < n; i++) { /* a result has a number of its own, as all values */
        Grown v = new_value(g, carried[i].type);
        line(g, "%%v%d = stablehlo.optimization_barrier %%w%d#%d : %s", v.id, id, i, named(v.type));
        keep(g, v);
    }
    text_free(&head);
    text_free(&types);
    return true;
}

/* Devices that meet inside must all go the same way, so there the index depends on none of them. */
static Grown branch_index(Grower *g)
{
    if (g->mode != GROW_MANUAL)
        return small_index(g);
    if (g->counter && chance(70))
        return (Grown){ g->counter, type_scalar(I32) };
    return constant(g, type_scalar(I32), chance(50) ? "0" : "1");
}

static bool grow_case(Grower *g)
{
    if (g->depth >= MOST_DEPTH)
        return false;
    int n = (int)between(1, 2), nbranches = (int)between(1, 3);
    Grown results[2], branch[2];
    for (int i = 0; i < n; i++)
        if (!pick(g, any_type, &results[i]))
            return false;
    Grown which = branch_index(g);
    int id = g->next_id++;
    line(g, "%%w%d:%d = \"stablehlo.case\"(%%v%d) ({", id, n, which.id);
    for (int b = 0; b < nbranches; b++) {
        Scope s = scope_open(g);
        grow_some(g, (int)between(0, 4));
        for (int i = 0; i < n; i++)
            branch[i] = newest_like(g, results[i].type);
        region_return_line(g, "stablehlo.return", n, branch);
        scope_close(g, s);
        line(g, b + 1 < nbranches ? "}, {" : "}) : (tensor<i32>) -> (%s%s%s)",
             named(results[0].type), n > 1 ? ", " : "", n > 1 ? named(results[1].type) : "");
    }
    for (int i = 0; i < n; i++) {
        Grown v = new_value(g, results[i].type);
        line(g, "%%v%d = stablehlo.optimization_barrier %%w%d#%d : %s", v.id, id, i, named(v.type));
        keep(g, v);
    }
    return true;
}

/* ---- between devices ---- */

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

static void reducer_lines(Grower *g, int id, const char *op, Element element)
{
    const char *e = element_info[element].name;
    line(g, "^bb0(%%a%d: tensor<%s>, %%b%d: tensor<%s>):", id, e, id, e);
    line(g, "  %%s%d = stablehlo.%s %%a%d, %%b%d : tensor<%s>", id, op, id, id, e);
    line(g, "  stablehlo.return %%s%d : tensor<%s>", id, e);
}

static bool grow_all_reduce(Grower *g)
{
    static const char *const ops[] = { "add", "maximum", "minimum" };
    Grown x;
    if (g->mode != GROW_MANUAL || !pick(g, is_number, &x))
        return false;
    int op = (int)random_below(3), size;
    Text groups = { 0 };
    groups_of_kind(g, (int)random_below(3), &groups, &size);
    if (op == 0)
        x = summable(g, x);
    Grown v = new_value(g, x.type);
    line(g, "%%v%d = \"stablehlo.all_reduce\"(%%v%d) <{%s, use_global_device_ids}> ({", v.id, x.id,
         text_cstr(&groups));
    reducer_lines(g, v.id, ops[op], x.type.element);
    line(g, "}) : (%s) -> %s", named(x.type), named(x.type));
    text_free(&groups);
    keep(g, v);
    return true;
}

/* all_gather makes dimension 0 longer, reduce_scatter shorter, all_to_all moves parts along it. */
static bool grow_exchange(Grower *g)
{
    Grown x;
    if (g->mode != GROW_MANUAL || !pick(g, is_ranked_number, &x))
        return false;
    int size, which = (int)random_below(3);
    Text groups = { 0 };
    groups_of_kind(g, (int)random_below(3), &groups, &size);
    int64_t dims[4];
    memcpy(dims, x.type.dims, sizeof *dims * (size_t)x.type.rank);
    bool fits = which == 0 ? type_count(x.type) * size <= MOST_COUNT : dims[0] % size == 0;
    if (fits) {
        dims[0] = which == 0 ? dims[0] * size : which == 1 ? dims[0] / size : dims[0];
        x = which == 1 ? summable(g, x) : x;
        Grown v = new_value(g, type_new(g->arena, x.type.element, x.type.rank, dims));
        if (which == 0)
            line(g, "%%v%d = \"stablehlo.all_gather\"(%%v%d) <{all_gather_dim = 0 : i64, %s, "
                 "use_global_device_ids}> : (%s) -> %s", v.id, x.id, text_cstr(&groups),
                 named(x.type), named(v.type));
        if (which == 1) {
            line(g, "%%v%d = \"stablehlo.reduce_scatter\"(%%v%d) <{scatter_dimension = 0 : i64, %s, "
                 "use_global_device_ids}> ({", v.id, x.id, text_cstr(&groups));
            reducer_lines(g, v.id, "add", x.type.element);
            line(g, "}) : (%s) -> %s", named(x.type), named(v.type));
        }
        if (which == 2)
            line(g, "%%v%d = \"stablehlo.all_to_all\"(%%v%d) <{split_dimension = 0 : i64, "
                 "concat_dimension = 0 : i64, split_count = %d : i64, %s}> : (%s) -> %s", v.id, x.id,
                 size, text_cstr(&groups), named(x.type), named(v.type));
        keep(g, v);
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
    Text pairs = { 0 };
    shuffled(g->ndevices, order);
    for (int i = 0; i < g->ndevices; i++)
        if (chance(80))
            text_printf(&pairs, "%s[%d, %d]", npairs++ ? ", " : "", i, order[i]);
    if (!npairs)
        text_printf(&pairs, "[%d, %d]", npairs++, 0);
    Grown v = new_value(g, x.type);
    line(g, "%%v%d = \"stablehlo.collective_permute\"(%%v%d) <{source_target_pairs = dense<[%s]> : "
         "tensor<%dx2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>}> : "
         "(%s) -> %s", v.id, x.id, text_cstr(&pairs), npairs, named(x.type), named(x.type));
    text_free(&pairs);
    keep(g, v);
    return true;
}

static bool grow_partition_id(Grower *g)
{
    if (g->mode != GROW_MANUAL)
        return false;
    Grown v = new_value(g, type_scalar(U32));
    line(g, "%%v%d = stablehlo.partition_id : tensor<ui32>", v.id);
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
    if (g->mode != GROW_WHOLE || g->depth || !pick(g, has_rank, &x))
        return false;
    Text sharding = { 0 };
    sharding_text(g, x.type, &sharding);
    Grown v = new_value(g, x.type);
    line(g, "%%v%d = sdy.sharding_constraint %%v%d <@mesh, %s> : %s", v.id, x.id,
         text_cstr(&sharding), named(x.type));
    text_free(&sharding);
    keep(g, v);
    return true;
}
#endif
