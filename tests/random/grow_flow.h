/* grow_flow.h - random loops, branches and calls. */
#ifndef TUTTI_TESTS_RANDOM_GROW_FLOW_H
#define TUTTI_TESTS_RANDOM_GROW_FLOW_H
#include "tests/random/grow_tame.h"

typedef struct Scope {
    int nvalues, floor;
} Scope;

static Scope scope_open(Grower *g)
{
    Scope s = { g->nvalues, g->floor };
    g->floor = g->nvalues;
    return s;
}

static void scope_close(Grower *g, Scope s)
{
    g->nvalues = s.nvalues;
    g->floor = s.floor;
}

/* One of that type that the region made, if there is one. */
static Grown newest_like(Grower *g, Type type)
{
    for (int i = g->nvalues - 1; i >= g->floor; i--)
        if (type_equal(g->values[i].type, type))
            return calm(g, g->values[i]);
    return calm(g, pick_like(g, type));
}

/* ---- loops ---- */

enum { MOST_CARRIED = 5 };

/* Counted, and of one device alone it may end sooner, by what it carries. */
static void loop_condition(Grower *g, int n, const Grown *inner, int turns)
{
    Grown p = compared(g, "LT", inner[0], number(g, inner[0].type, turns));
    for (int i = 1; i < n && g->mode != GROW_MANUAL; i++)
        if (inner[i].type.rank == 0 && is_int_type(inner[i].type) && chance(60)) {
            Grown more =
                compared(g, "LT", inner[i], number(g, inner[i].type, (double)between(1, 5)));
            p = two_operands(g, "and", p, more, p.type);
        }
    return_line(g, "stablehlo.return", 1, &p);
}

static bool grow_while(Grower *g)
{
    static const Element counters[] = { I32, I32, I32, I64, U32, I8, U8, U16, I4 };
    if (g->depth >= MOST_DEPTH)
        return false;
    int n = (int)between(1, MOST_CARRIED - 1) + 1, turns = (int)between(0, 4);
    Grown carried[MOST_CARRIED], out[MOST_CARRIED], inner[MOST_CARRIED], results[MOST_CARRIED];
    Type of[MOST_CARRIED];
    carried[0] = number(g, type_scalar(g->mode == GROW_MANUAL ? I32 : ONE_OF(counters)), 0);
    for (int i = 1; i < n; i++)
        if (!pick_calm(g, any_type, &carried[i]))
            return false;
    for (int i = 0; i < n; i++)
        of[i] = carried[i].type;
    new_values(g, n, of, results);
    open_op(g, "while", n, carried, "", n, results);
    for (int region = 0; region < 2; region++) {
        for (int i = 0; i < n; i++)
            inner[i] = new_value(g, of[i]);
        block_head(g, n, inner);
        if (!region) {
            loop_condition(g, n, inner, turns);
            next_region(g);
        }
    }
    Scope s = scope_open(g);
    int outer_counter = g->counter;
    g->counter = of[0].element == I32 ? inner[0].id : 0;
    for (int i = 0; i < n; i++)
        keep(g, inner[i]);
    grow_some(g, (int)between(1, 6));
    out[0] = two_operands(g, "add", inner[0], number(g, of[0], 1), of[0]);
    for (int i = 1; i < n; i++)
        out[i] = newest_like(g, of[i]);
    return_line(g, "stablehlo.return", n, out);
    scope_close(g, s);
    g->counter = outer_counter;
    close_op(g, n, carried, n, results);
    for (int i = 0; i < n; i++)
        keep(g, results[i]);
    return true;
}

/* ---- branches ---- */

/* Devices that meet inside must all go the same way, so there the index depends on none of them. */
static Grown branch_index(Grower *g)
{
    if (g->mode != GROW_MANUAL)
        return small_index(g, I32);
    if (g->counter && chance(70))
        return (Grown){ .id = g->counter, .type = type_scalar(I32) };
    return number(g, type_scalar(I32), chance(50));
}

static bool grow_case(Grower *g)
{
    if (g->depth >= MOST_DEPTH)
        return false;
    bool is_if = chance(40);
    int n = (int)between(1, 3), nbranches = is_if ? 2 : (int)between(1, 4);
    Grown results[3], branch[3], which = branch_index(g);
    Type of[3];
    for (int i = 0; i < n; i++) {
        if (!pick(g, any_type, &branch[i]))
            return false;
        of[i] = branch[i].type;
    }
    if (is_if)
        which = compared(g, "LT", which, number(g, which.type, (double)between(0, 3)));
    new_values(g, n, of, results);
    open_op(g, is_if ? "if" : "case", 1, &which, "", n, results);
    for (int b = 0; b < nbranches; b++) {
        if (b)
            next_region(g);
        Scope s = scope_open(g);
        grow_some(g, (int)between(0, 4));
        for (int i = 0; i < n; i++)
            branch[i] = newest_like(g, of[i]);
        return_line(g, "stablehlo.return", n, branch);
        scope_close(g, s);
    }
    close_op(g, 1, &which, n, results);
    for (int i = 0; i < n; i++)
        keep(g, results[i]);
    return true;
}

/* ---- functions ---- */

/* A function of n arguments; its results' types into `of`. */
static int grow_function(Grower *g, int id, int n, const Grown *in, Type *of)
{
    Grower outer = *g;
    Text body = { 0 };
    Grown params[4], results[3];
    g->out = &body;
    g->nvalues = g->floor = g->depth = g->counter = 0;
    g->is_apart = true;
    const char *list = "";
    for (int i = 0; i < n; i++) {
        params[i] = keep(g, new_value(g, in[i].type));
        list = words(g, "%s%s%s: %s", list, i ? ", " : "", ref(g, params[i]), named(g, in[i].type));
    }
    grow_some(g, (int)between(1, 5));
    int nout = (int)between(1, 3);
    for (int i = 0; i < nout; i++)
        results[i] = calm(g, g->values[between(0, g->nvalues - 1)]);
    return_line(g, "return", nout, results);
    text_printf(&g->functions, "func.func private @f%d(%s) -> (%s) {\n%s}\n", id, list,
                types(g, nout, results), text_cstr(&body));
    text_free(&body);
    Grower inner = *g;
    *g = outer;
    g->next_id = inner.next_id;
    g->budget = inner.budget;
    g->functions = inner.functions;
    g->is_sign_open = inner.is_sign_open;
    for (int i = 0; i < nout; i++)
        of[i] = results[i].type;
    return nout;
}

/* A call of a new function, once or twice, by its name or as a composite's meaning. */
static bool grow_call(Grower *g)
{
    Grown in[4], out[3];
    Type of[3];
    int n = (int)between(1, 4), id = g->next_id++;
    if (g->depth >= MOST_DEPTH || g->is_apart)
        return false;
    for (int i = 0; i < n; i++)
        if (!pick_calm(g, any_type, &in[i]))
            return false;
    int nout = grow_function(g, id, n, in, of);
    for (int calls = chance(70) ? 1 : 2; calls > 0; calls--) {
        new_values(g, nout, of, out);
        if (chance(70))
            line(g, "%s = func.call @f%d(%s) : (%s) -> (%s)", left_side(g, nout, out), id,
                 refs(g, n, in), types(g, n, in), types(g, nout, out));
        else
            line(g,
                 "%s = stablehlo.composite \"grown.f%d\" %s {decomposition = @f%d} : (%s) -> (%s)",
                 left_side(g, nout, out), id, refs(g, n, in), id, types(g, n, in),
                 types(g, nout, out));
        for (int i = 0; i < nout; i++)
            keep(g, out[i]);
        for (int i = 0; i < n; i++)
            in[i] = calm(g, pick_like(g, in[i].type));
    }
    return true;
}
#endif
