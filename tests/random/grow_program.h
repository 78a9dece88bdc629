/* grow_program.h - random programs, whole: arguments, a body, results; for one device or many. */
#ifndef TUTTI_TESTS_RANDOM_GROW_PROGRAM_H
#define TUTTI_TESTS_RANDOM_GROW_PROGRAM_H
#include "tests/random/grow_flow.h"
#include "tests/random/grow_index.h"
#include "tests/random/grow_library.h"
#include "tests/random/grow_map.h"
#include "tests/random/grow_meet.h"
#include "tests/random/grow_move.h"
#include "tests/random/grow_order.h"
#include "tests/random/grow_window.h"

/* A program, and what the test must know of it. */
#define SIGN_OPEN 1e-300

typedef struct Planted {
    Text text;
    int nargs, nresults;
    bool is_wild[MOST_ARGS];   /* the argument may be of any bits; else tame numbers */
    double ulps[MOST_RESULTS]; /* how far a result may be off; SIGN_OPEN: a zero's sign alone */
} Planted;

static const struct {
    Grow *grow;
    int weight;
} growths[] = {
    { grow_binary, 24 },
    { grow_unary, 10 },
    { grow_compare, 5 },
    { grow_select, 6 },
    { grow_clamp, 3 },
    { grow_convert, 8 },
    { grow_bitcast, 6 },
    { grow_reduce_precision, 1 },
    { grow_complex, 2 },
    { grow_approximation, 3 },
    { grow_broadcast, 6 },
    { grow_reshape, 5 },
    { grow_transpose, 5 },
    { grow_slice, 5 },
    { grow_reverse, 3 },
    { grow_pad, 6 },
    { grow_concatenate, 4 },
    { grow_iota, 3 },
    { grow_dynamic_slice, 5 },
    { grow_gather, 6 },
    { grow_scatter, 6 },
    { grow_reduce, 8 },
    { grow_reduce_window, 12 },
    { grow_select_and_scatter, 3 },
    { grow_convolution, 6 },
    { grow_dot, 6 },
    { grow_sort, 3 },
    { grow_top_k, 1 },
    { grow_fft, 1 },
    { grow_cholesky, 1 },
    { grow_triangular_solve, 1 },
    { grow_random_bits, 1 },
    { grow_while, 4 },
    { grow_case, 4 },
    { grow_call, 2 },
    { grow_all_reduce, 14 },
    { grow_exchange, 16 },
    { grow_permute, 6 },
    { grow_partition_id, 2 },
    { grow_constraint, 4 },
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

static bool is_argument(const Grower *g, Grown v)
{
    for (int i = 0; i < g->nargs; i++)
        if (g->args[i].id == v.id)
            return true;
    return false;
}

/* Results: the newest values that are arrays worth looking at, and the approximate ones. */
static int choose_results(Grower *g, Grown *out, double *ulps)
{
    int n = 0;
    for (int i = g->nvalues - 1; i >= g->floor && n < 4; i--)
        if (chance(70) && !is_argument(g, g->values[i])) {
            ulps[n] = 0;
            out[n++] = g->values[i];
        }
    for (int i = 0; i < g->nresults && n < MOST_RESULTS; i++) {
        ulps[n] = g->ulps[i];
        out[n++] = g->results[i];
    }
    if (!n) {
        ulps[n] = 0;
        out[n++] = g->values[g->nvalues - 1];
    }
    return n;
}

static void typed_list(Grower *g, int n, const Grown *values, bool has_names, bool has_shardings)
{
    for (int i = 0; i < n; i++) {
        text_printf(g->out, "%s", i ? ", " : "");
        if (has_names)
            text_printf(g->out, "%s: ", ref(g, values[i]));
        text_printf(g->out, "%s", named(g, values[i].type));
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
    text_printf(g->out,
                "module @grown attributes {mhlo.num_partitions = %d : i32, "
                "mhlo.num_replicas = 1 : i32} {\n",
                g->ndevices);
    if (g->ndevices > 1 && g->mode == GROW_WHOLE && g->ndevices % 2 == 0)
        text_printf(g->out, "  sdy.mesh @mesh = <[\"i\"=2, \"j\"=%d]>\n", g->ndevices / 2);
    else if (g->ndevices > 1)
        text_printf(g->out, "  sdy.mesh @mesh = <[\"i\"=%d]>\n", g->ndevices);
    text_printf(g->out, "%s", text_cstr(&g->functions));
}

/* The body first, since it says which arguments and results there are. */
static void grow_plain(Grower *g, const Text *body, int n, const Grown *results)
{
    module_head(g);
    text_printf(g->out, "func.func public @main(");
    typed_list(g, g->nargs, g->args, true, g->mode == GROW_WHOLE);
    text_printf(g->out, ") -> (");
    typed_list(g, n, results, false, g->mode == GROW_WHOLE);
    text_printf(g->out, ") {\n%s}\n}\n", text_cstr(body));
}

static Type stacked(Grower *g, Type t) /* the array whose pieces along dimension 0 are t */
{
    int64_t dims[MOST_DIMS];
    copy_dims(t, dims);
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
            values[i] =
                one_operand(g, "reshape", values[i],
                            type_new(g->arena, values[i].type.element, 1, (int64_t[]){ 1 }));
}

static void cut_list(Grower *g, int n, const Grown *values, bool has_names)
{
    for (int i = 0; i < n; i++) {
        text_printf(g->out, "%s%s%s%s {sdy.sharding = #sdy.sharding", i ? ", " : "",
                    has_names ? ref(g, values[i]) : "", has_names ? ": " : "",
                    named(g, values[i].type));
        cut_rows(g->out, 1, &values[i]);
        text_printf(g->out, "}");
    }
}

static void grow_manual(Grower *g, const Text *body, int n, const Grown *results)
{
    Text *out = g->out;
    Grown outer[MOST_ARGS], stacks[MOST_RESULTS];
    for (int i = 0; i < g->nargs; i++)
        outer[i] = new_value(g, stacked(g, g->args[i].type));
    for (int i = 0; i < n; i++)
        stacks[i] = new_value(g, stacked(g, results[i].type));
    module_head(g);
    text_printf(out, "func.func public @main(");
    cut_list(g, g->nargs, outer, true);
    text_printf(out, ") -> (");
    cut_list(g, n, stacks, false);
    text_printf(out, ") {\n  %%r:%d = sdy.manual_computation(%s) in_shardings=[", n,
                refs(g, g->nargs, outer));
    cut_rows(out, g->nargs, g->args);
    text_printf(out, "] out_shardings=[");
    cut_rows(out, n, results);
    text_printf(out, "] manual_axes={\"i\"} (");
    typed_list(g, g->nargs, g->args, true, false);
    text_printf(out, ") {\n%s  } : (%s) -> (%s)\n  return ", text_cstr(body),
                types(g, g->nargs, outer), types(g, n, stacks));
    for (int i = 0; i < n; i++)
        text_printf(out, "%s%%r#%d", i ? ", " : "", i);
    text_printf(out, " : %s\n}\n}\n", types(g, n, stacks));
}

static void grow_body(Grower *g, int noperations, Text *body, int *n, Grown *results, double *ulps)
{
    Text *out = g->out;
    g->out = body;
    for (int i = (int)between(1, 3); i > 0; i--)
        keep(g, fresh(g, grow_type(g, grow_element(g), g->mode == GROW_MANUAL)));
    grow_some(g, noperations);
    *n = choose_results(g, results, ulps);
    if (g->mode == GROW_MANUAL)
        give_ranks(g, *n, results);
    return_line(g, g->mode == GROW_MANUAL ? "sdy.return" : "return", *n, results);
    g->out = out;
}

/* A program for that many devices; the same for the same seed. */
static Planted grow_program(uint64_t seed, GrowMode mode, int ndevices, int noperations)
{
    Planted p = { 0 };
    Grower *g = calloc(1, sizeof *g);
    Grown results[MOST_RESULTS];
    Text body = { 0 };
    random_state = seed * 0x2545F4914F6CDD1Du + 77;
    *g = (Grower){ .next_id = 1,
                   .arena = arena_new(),
                   .out = &p.text,
                   .mode = mode,
                   .ndevices = ndevices,
                   .budget = 2 * noperations,
                   .most_count = 3000,
                   .most_work = 60000 };
    if (noperations <= 2 && mode != GROW_MANUAL && chance(3)) {
        g->most_count = 200000;
        g->most_work = 2000000;
    }
    choose_palette(g);
    grow_body(g, noperations, &body, &p.nresults, results, p.ulps);
    (mode == GROW_MANUAL ? grow_manual : grow_plain)(g, &body, p.nresults, results);
    p.nargs = g->nargs;
    for (int i = 0; i < p.nresults; i++)
        if (p.ulps[i] == 0 && g->is_sign_open)
            p.ulps[i] = SIGN_OPEN;
    for (int i = 0; i < g->nargs; i++)
        p.is_wild[i] = g->args[i].is_wild || (is_int_type(g->args[i].type) && chance(30));
    text_free(&g->functions);
    text_free(&body);
    arena_free(g->arena);
    free(g);
    return p;
}
#endif
