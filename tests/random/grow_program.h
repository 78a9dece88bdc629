/* grow_program.h - random programs, whole: arguments, a body, results; for one device or many. */
#ifndef TUTTI_TEST_GROW_PROGRAM_H
#define TUTTI_TEST_GROW_PROGRAM_H
#include "tests/random/grow_flow.h"
#include "tests/random/grow_ops.h"

static const struct {
    Grow *grow;
    int weight;
} growths[] = {
    { grow_binary, 30 },    { grow_unary, 10 },     { grow_compare, 5 },   { grow_select, 6 },
    { grow_convert, 6 },    { grow_broadcast, 6 },  { grow_reshape, 5 },   { grow_transpose, 5 },
    { grow_slice, 5 },      { grow_reverse, 3 },    { grow_pad, 4 },       { grow_concatenate, 4 },
    { grow_iota, 3 },       { grow_reduce, 8 },     { grow_dot, 3 },       { grow_dynamic_slice, 5 },
    { grow_gather, 3 },     { grow_scatter, 2 },    { grow_sort, 1 },      { grow_approximation, 2 },
    { grow_while, 4 },      { grow_case, 4 },       { grow_all_reduce, 14 }, { grow_exchange, 16 },
    { grow_permute, 6 },    { grow_partition_id, 2 }, { grow_constraint, 4 },
};

static void grow_some(Grower *g, int noperations)
{
    int total = 0, count = sizeof growths / sizeof *growths;
    for (int i = 0; i < count; i++)
        total += growths[i].weight;
    for (int done = 0, tries = 0; done < noperations && tries < 8 * noperations; tries++) {
        if (g->budget <= 0 || g->nvalues > MOST_VALUES - 16)
            return;
        int k = (int)random_below((uint64_t)total), i = 0;
        while (k >= growths[i].weight)
            k -= growths[i++].weight;
        if (growths[i].grow(g)) {
            done++;
            g->budget--;
        }
    }
}

/* Results: the newest values that are arrays worth looking at, and the approximate ones. */
static int choose_results(Grower *g, Grown *out)
{
    int n = 0;
    for (int i = g->nvalues - 1; i >= g->floor && n < 4; i--)
        if (chance(70))
            out[n++] = g->values[i];
    for (int i = 0; i < g->nresults && n < MOST_RESULTS; i++)
        out[n++] = g->results[i];
    if (!n)
        out[n++] = g->values[g->nvalues - 1];
    return n;
}

static void typed_list(Grower *g, int n, const Grown *values, bool has_names, bool has_shardings)
{
    for (int i = 0; i < n; i++) {
        text_printf(g->out, "%s", i ? ", " : "");
        if (has_names)
            text_printf(g->out, "%%v%d: ", values[i].id);
        text_printf(g->out, "%s", named(values[i].type));
        if (!has_shardings || chance(20))
            continue;
        Text sharding = { 0 };
        sharding_text(g, values[i].type, &sharding);
        text_printf(g->out, " {sdy.sharding = #sdy.sharding<@mesh, %s>}", text_cstr(&sharding));
        text_free(&sharding);
    }
}

static void module_head(Grower *g)
{
    text_printf(g->out, "module @grown attributes {mhlo.num_partitions = %d : i32, "
                "mhlo.num_replicas = 1 : i32} {\n", g->ndevices);
    if (g->ndevices > 1 && g->mode == GROW_WHOLE && g->ndevices % 2 == 0)
        text_printf(g->out, "  sdy.mesh @mesh = <[\"i\"=2, \"j\"=%d]>\n", g->ndevices / 2);
    else if (g->ndevices > 1)
        text_printf(g->out, "  sdy.mesh @mesh = <[\"i\"=%d]>\n", g->ndevices);
}

/* The test fills it with tame numbers. */
static Grown new_argument(Grower *g, int least_rank)
{
    Grown v = new_value(g, grow_type(g, grow_element(g), least_rank));
    v.is_tame = true;
    return v;
}

/* The text behind a head whose result types are known last: body first, then put together. */
static void grow_plain(Grower *g, int noperations)
{
    Text whole = { 0 }, body = { 0 }, *out = g->out;
    Grown args[4], results[MOST_RESULTS];
    int nargs = (int)between(2, 4);
    for (int i = 0; i < nargs; i++)
        args[i] = keep(g, new_argument(g, 0));
    g->out = &body;
    grow_some(g, noperations);
    int n = choose_results(g, results);
    region_return_line(g, "return", n, results);
    g->out = &whole;
    module_head(g);
    text_printf(&whole, "func.func public @main(");
    typed_list(g, nargs, args, true, g->mode == GROW_WHOLE);
    text_printf(&whole, ") -> (");
    typed_list(g, n, results, false, g->mode == GROW_WHOLE);
    text_printf(&whole, ") {\n%s}\n}\n", text_cstr(&body));
    g->out = out;
    text_add(out, whole.at, whole.n);
    text_free(&whole);
    text_free(&body);
}

static Type stacked(Grower *g, Type t) /* the array whose pieces along dimension 0 are t */
{
    int64_t dims[4];
    memcpy(dims, t.dims, sizeof *dims * (size_t)t.rank);
    dims[0] *= g->ndevices;
    return type_new(g->arena, t.element, t.rank, dims);
}

static void cut_rows(Text *out, int n, const Grown *values) /* <@mesh, [{"i"}, {}]>, ... */
{
    for (int i = 0; i < n; i++) {
        text_printf(out, "%s<@mesh, [{\"i\"}", i ? ", " : "");
        for (int d = 1; d < values[i].type.rank; d++)
            text_printf(out, ", {}");
        text_printf(out, "]>");
    }
}

/* Scalars become vectors of one, so that they can be cut. */
static void give_ranks(Grower *g, int n, Grown *values)
{
    for (int i = 0; i < n; i++)
        if (values[i].type.rank == 0)
            values[i] = one_operand(g, "reshape", values[i],
                                    type_new(g->arena, values[i].type.element, 1, (int64_t[]){ 1 }));
}

static void grow_manual(Grower *g, int noperations)
{
    Text body = { 0 }, *out = g->out;
    Grown args[3], outer[3], results[MOST_RESULTS], stacks[MOST_RESULTS];
    int nargs = (int)between(1, 3);
    for (int i = 0; i < nargs; i++) {
        args[i] = keep(g, new_argument(g, 1));
        outer[i] = new_value(g, stacked(g, args[i].type));
    }
    g->out = &body;
    grow_some(g, noperations);
    int n = choose_results(g, results);
    give_ranks(g, n, results);
    region_return_line(g, "sdy.return", n, results);
    for (int i = 0; i < n; i++)
        stacks[i] = new_value(g, stacked(g, results[i].type));
    g->out = out;
    module_head(g);
    text_printf(out, "func.func public @main(");
    for (int i = 0; i < nargs; i++) {
        text_printf(out, "%s%%v%d: %s {sdy.sharding = #sdy.sharding", i ? ", " : "", outer[i].id,
                    named(outer[i].type));
        cut_rows(out, 1, &outer[i]);
        text_printf(out, "}");
    }
    text_printf(out, ") -> (");
    for (int i = 0; i < n; i++) {
        text_printf(out, "%s%s {sdy.sharding = #sdy.sharding", i ? ", " : "", named(stacks[i].type));
        cut_rows(out, 1, &stacks[i]);
        text_printf(out, "}");
    }
    text_printf(out, ") {\n  %%r:%d = sdy.manual_computation(", n);
    for (int i = 0; i < nargs; i++)
        text_printf(out, "%s%%v%d", i ? ", " : "", outer[i].id);
    text_printf(out, ") in_shardings=[");
    cut_rows(out, nargs, args);
    text_printf(out, "] out_shardings=[");
    cut_rows(out, n, results);
    text_printf(out, "] manual_axes={\"i\"} (");
    typed_list(g, nargs, args, true, false);
    text_printf(out, ") {\n%s  } : (", text_cstr(&body));
    typed_list(g, nargs, outer, false, false);
    text_printf(out, ") -> (");
    typed_list(g, n, stacks, false, false);
    text_printf(out, ")\n  return ");
    for (int i = 0; i < n; i++)
        text_printf(out, "%s%%r#%d", i ? ", " : "", i);
    text_printf(out, " : ");
    typed_list(g, n, stacks, false, false);
    text_printf(out, "\n}\n}\n");
    text_free(&body);
}

/* A program for that many devices; the same for the same seed. */
static void grow_program(uint64_t seed, GrowMode mode, int ndevices, int noperations, Text *out)
{
    Grower *g = calloc(1, sizeof *g);
    random_state = seed * 0x2545F4914F6CDD1Du + 77;
    *g = (Grower){ .next_id = 1, .arena = arena_new(), .out = out, .mode = mode, .ndevices = ndevices,
                   .budget = 2 * noperations };
    choose_palette(g);
    if (mode == GROW_MANUAL)
        grow_manual(g, noperations);
    else
        grow_plain(g, noperations);
    arena_free(g->arena);
    free(g);
}
#endif
