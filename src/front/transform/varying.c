/* varying.c - what may differ between the devices of a mesh.
 *
 *     x, sharded along "i"                 along i
 *     add x, axis_index of "j"         along i and j
 *     psum of that over "i"            along j
 *
 * Every value has a set of axes, a bit each: that of its operands, but for the operations by which
 * devices meet.  What a loop carries differs as what goes into it or what an iteration makes of it, and
 * if its devices take different numbers of iterations, as that. */
#include "front/transform/fn.h"
#include "front/transform/transform.h"
#include "front/value/axis_names.h"
#include "front/value/report.h"

#include <stdio.h>
#include <string.h>

typedef struct Varying {
    const Module *m;
    const Mesh *mesh;
    AxisSet *of;     /* [value] */
    AxisSet visible; /* axes whose names no map in between has taken */
    bool is_typed;   /* as JAX's types have it: what tt_grad goes by */
    AxisSet around;  /* typed: along which devices take different branches or iterations here */
    Table calls;     /* a function and the sets of its arguments -> AxisSet[nresults] */
} Varying;

static AxisSet axes_named(const Varying *v, Str names)
{
    AxisSet set = 0;
    for (int i = 0; i < v->mesh->naxes; i++)
        if (v->mesh->sizes[i] > 1 && axis_names_has(names, v->mesh->axes[i]))
            set |= 1u << i;
    return set & v->visible;
}

AxisSet sharding_varies(const Sharding *s)
{
    AxisSet set = 0;
    for (int d = 0; d < s->rank; d++)
        for (int i = 0; i < s->dims[d].naxes; i++)
            if (s->mesh->sizes[s->dims[d].axes[i].axis] > 1)
                set |= 1u << s->dims[d].axes[i].axis;
    return set;
}

static void visit_region(Varying *v, RegionId r);

/* Visits a region whose arguments differ so; how its results differ is at the values it returns. */
static const Node *visit_with(Varying *v, RegionId r, const ValueId *in, AxisSet more)
{
    const Region *region = region_at(v->m, r);
    for (int i = 0; i < region->nargs; i++)
        v->of[region->args + (uint32_t)i] = more | (in ? v->of[in[i]] : 0);
    visit_region(v, r);
    return region_return(v->m, r);
}

static AxisSet all_of(const Varying *v, int n, const ValueId *values)
{
    AxisSet set = 0;
    for (int i = 0; i < n; i++)
        set |= v->of[values[i]];
    return set;
}

static void set_results(Varying *v, const Node *node, AxisSet set)
{
    for (int i = 0; i < node->nout; i++)
        v->of[node->out + (uint32_t)i] = set | v->around;
}

/* JAX's types know of sums and extremes alone that their results are the same. */
static void visit_collective(Varying *v, const Node *node)
{
    const AxisAttrs *a = node->attrs;
    AxisSet along = axes_named(v, a->axis), set = all_of(v, node->nin, node->in);
    bool is_same =
        node->op == OP_NAMED_SUM || node->op == OP_NAMED_MAX || node->op == OP_NAMED_MIN ||
        (!v->is_typed && (node->op == OP_NAMED_GATHER || node->op == OP_NAMED_BROADCAST));
    set_results(v, node, is_same && !a->groups.rows ? set & ~along : set | along);
}

/* Iteration after iteration, until nothing that is carried differs along more. */
static void visit_loop(Varying *v, const Node *node)
{
    for (int i = 0; i < node->nin; i++)
        v->of[node->out + (uint32_t)i] = v->of[node->in[i]];
    ValueId *carried = ARENA_ARRAY(v->m->arena, ValueId, node->nin + 1);
    AxisSet around = v->around;
    for (bool grows = true; grows;) {
        for (int i = 0; i < node->nin; i++)
            carried[i] = node->out + (uint32_t)i;
        AxisSet trips = v->of[visit_with(v, node->regions[0], carried, 0)->in[0]];
        v->around |= v->is_typed ? trips : 0;
        const Node *last = visit_with(v, node->regions[1], carried, 0);
        grows = false;
        for (int i = 0; i < node->nin; i++) {
            AxisSet had = v->of[carried[i]];
            v->of[carried[i]] |= v->of[last->in[i]] | trips;
            grows |= v->of[carried[i]] != had;
        }
    }
    v->around = around;
}

static void visit_branch(Varying *v, const Node *node)
{
    AxisSet around = v->around;
    set_results(v, node, v->of[node->in[0]]);
    v->around |= v->is_typed ? v->of[node->in[0]] : 0;
    for (int k = 0; k < node->nregions; k++) {
        const Node *last = visit_with(v, node->regions[k], NULL, 0);
        for (int i = 0; i < node->nout; i++)
            v->of[node->out + (uint32_t)i] |= v->of[last->in[i]];
    }
    v->around = around;
}

/* A function is visited once for all calls whose arguments differ alike. */
static void visit_call(Varying *v, const Node *node)
{
    const CallAttrs *a = node->attrs;
    const Func *f = func_find(v->m, a->callee);
    AxisSet *key = ARENA_ARRAY(v->m->arena, AxisSet, node->nin + 2);
    uint64_t found;
    key[0] = f->body;
    key[1] = v->visible;
    for (int i = 0; i < node->nin; i++)
        key[2 + i] = v->of[node->in[i]];
    size_t size = sizeof *key * (size_t)(node->nin + 2);
    if (!table_get(&v->calls, key, size, &found)) {
        AxisSet *results = ARENA_ARRAY(v->m->arena, AxisSet, node->nout + 1);
        const Node *last = visit_with(v, f->body, node->in, 0);
        for (int i = 0; i < node->nout; i++)
            results[i] = v->of[last->in[i]];
        found = (uint64_t)(uintptr_t)results;
        table_set(&v->calls, key, size, found);
    }
    for (int i = 0; i < node->nout; i++)
        v->of[node->out + (uint32_t)i] = ((const AxisSet *)(uintptr_t)found)[i];
}

/* A map inside: a name that it binds is not ours there. */
static void visit_map(Varying *v, const Node *node)
{
    AxisSet visible = v->visible;
    const Mesh *inner = manual_mesh(node->attrs);
    for (int i = 0; inner && i < inner->naxes; i++)
        v->visible &= ~axes_named(v, inner->axes[i]);
    const Node *last = visit_with(v, node->regions[0], node->in, 0);
    for (int i = 0; i < node->nout; i++)
        v->of[node->out + (uint32_t)i] = v->of[last->in[i]];
    v->visible = visible;
}

/* A composite's region is on its operands. */
static void visit_composite(Varying *v, const Node *node)
{
    const Node *last = visit_with(v, node->regions[0], node->in, 0);
    for (int i = 0; i < node->nout; i++)
        v->of[node->out + (uint32_t)i] = v->of[last->in[i]];
}

/* Everything else: its results differ as what it is given, or what its regions use, does. */
static void visit_compute(Varying *v, const Node *node)
{
    AxisSet set = all_of(v, node->nin, node->in);
    for (int k = 0; k < node->nregions; k++) {
        const Node *last = visit_with(v, node->regions[k], NULL, set);
        set |= all_of(v, last->nin, last->in);
    }
    set_results(v, node, set);
}

static void visit_region(Varying *v, RegionId r)
{
    const Region *region = region_at(v->m, r);
    for (int i = 0; i < region->nnodes; i++) {
        const Node *node = node_at(v->m, region->nodes[i]);
        if (op_is_named(node->op))
            visit_collective(v, node);
        else if (node_flow(node) == FLOW_LOOP)
            visit_loop(v, node);
        else if (node_flow(node) == FLOW_BRANCH)
            visit_branch(v, node);
        else if (node->op == OP_CALL)
            visit_call(v, node);
        else if (node->op == OP_MANUAL)
            visit_map(v, node);
        else if (node->op == OP_COMPOSITE && node->nregions)
            visit_composite(v, node);
        else
            visit_compute(v, node);
    }
}

/* ---- while a function is traced ---- */

/* The innermost map, if it is a shard_map; *visible: the axes of its mesh whose names no tt_vmap
 * inside has taken. */
static const Trace *shard_frame(AxisSet *visible)
{
    const Trace *map = tracing;
    while (map && !map->is_manual)
        map = map->outer;
    if (!map || !map->shards)
        return NULL;
    Varying v = { .mesh = map->shards, .visible = ~0u };
    for (const Trace *t = tracing; t != map; t = t->outer)
        if (t->axis_name)
            v.visible &= ~axes_named(&v, str_of(t->axis_name));
    *visible = v.visible;
    return map;
}

static Varying typed(const Mesh *mesh, AxisSet visible)
{
    Module *m = session->m;
    return (Varying){ .m = m,
                      .mesh = mesh,
                      .visible = visible,
                      .is_typed = true,
                      .of = ARENA_ARRAY(m->arena, AxisSet, m->nvalues) };
}

/* Visits what the frames from the map to t have recorded so far. */
static void visit_frames(Varying *v, const Trace *map, const Trace *t)
{
    if (t != map)
        visit_frames(v, map, t->outer);
    if (!t->region)
        return;
    const Region *region = region_at(v->m, t->region);
    for (int i = 0; t->varies && i < region->nargs; i++)
        v->of[region->args + (uint32_t)i] = t->varies[i];
    visit_region(v, t->region);
}

const AxisSet *values_vary(int n, const tt *values)
{
    AxisSet visible;
    const Trace *map = shard_frame(&visible);
    if (!map)
        return NULL;
    Varying v = typed(map->shards, visible);
    AxisSet *sets = ARENA_ARRAY(v.m->arena, AxisSet, n + 1);
    visit_frames(&v, map, tracing);
    table_free(&v.calls);
    for (int i = 0; i < n; i++) {
        Held held;
        if (!value_pin(values[i], "a map", &held))
            continue;
        sets[i] = held.array ? 0 : v.of[held.value];
        value_unpin(values[i]);
    }
    return sets;
}

Varies graph_varies(const Graph *g, const AxisSet *leaves)
{
    AxisSet visible = 0;
    const Trace *map = shard_frame(&visible);
    Varying v = typed(map->shards, visible);
    const Region *region = region_at(v.m, g->body);
    visit_frames(&v, map, tracing);
    for (int i = 0; i < region->nargs; i++)
        v.of[region->args + (uint32_t)i] = leaves[i];
    visit_region(&v, g->body);
    table_free(&v.calls);
    session->asked++;
    return (Varies){ map->shards, v.of, visible };
}

const AxisSet *results_vary(const Graph *g, const AxisSet *leaves)
{
    Varies v = graph_varies(g, leaves);
    AxisSet *sets = ARENA_ARRAY(g->m->arena, AxisSet, g->nresults + 1);
    for (int i = 0; i < g->nresults; i++)
        sets[i] = v.of[region_return(g->m, g->body)->in[i]];
    return sets;
}

AxisSet named_axes(const Varies *v, const Node *node)
{
    Varying all = { .mesh = v->mesh, .visible = v->visible };
    return axes_named(&all, ((const AxisAttrs *)node->attrs)->axis);
}

/* ---- results ---- */

/* The first result that may differ between devices which, cut like that, would hold the same of it,
 * and the axes along which it may; -1: none. */
static int first_difference(const Graph *body, const Mesh *mesh, const Sharding *const *in,
                            const Sharding *const *out, AxisSet *axes)
{
    Varying v = { .m = body->m, .mesh = mesh, .visible = ~0u };
    v.of = ARENA_ARRAY(body->m->arena, AxisSet, body->m->nvalues);
    const Region *region = region_at(v.m, body->body);
    for (int i = 0; i < region->nargs; i++)
        v.of[region->args + (uint32_t)i] = sharding_varies(in[i]);
    visit_region(&v, body->body);
    table_free(&v.calls);
    for (int i = 0; i < body->nresults; i++) {
        *axes = v.of[region_return(v.m, body->body)->in[i]] & ~sharding_varies(out[i]);
        if (*axes)
            return i;
    }
    return -1;
}

/* ---- what is said of it ---- */

/* TT_P("x", "y"): the spec, and the axes that it does not name, each for a dimension that is not
 * cut yet, else beside what cuts the last. */
static void fuller_spec(const Mesh *mesh, const tt_spec *spec, int rank, AxisSet axes, Text *out)
{
    Text dims[TT_MAX_RANK] = { 0 };
    int last = 0;
    for (int d = 0; d < rank; d++)
        if (spec->axis[d])
            text_printf(&dims[last = d], "%s", spec->axis[d]);
    for (int axis = 0, d = 0; axis < mesh->naxes; axis++) {
        if (!(axes >> axis & 1))
            continue;
        while (d < rank && dims[d].n)
            d++;
        int to = d < rank ? d : rank - 1;
        last = to > last ? to : last;
        text_printf(&dims[to], "%s%.*s", dims[to].n ? "," : "", STR_ARG(mesh->axes[axis]));
    }
    text_printf(out, "TT_P(");
    for (int d = 0; d <= last; d++) {
        text_printf(out, dims[d].n ? "%s\"%s\"" : "%sNULL", d ? ", " : "", text_cstr(&dims[d]));
        text_free(&dims[d]);
    }
    text_printf(out, ")");
}

/* Result i may differ along these axes, which its spec does not name. */
static void report_differs(tt_fn f, const Mesh *mesh, int i, Type t, AxisSet axes)
{
    bool are_many = axes & (axes - 1);
    char option[32] = ".out_spec";
    if (f->key.nout_runs)
        snprintf(option, sizeof option, ".out");
    else if (f->key.out_specs)
        snprintf(option, sizeof option, ".out_specs[%d]", i);
    Text names = { 0 }, cure = { 0 };
    for (AxisSet left = axes; left; left &= left - 1)
        text_printf(&names, "%s\"%.*s\"", names.n ? " and " : "",
                    STR_ARG(mesh->axes[__builtin_ctz(left)]));
    if (t.rank) {
        text_printf(&cure, "name %s that %s cut, as in %s = ",
                    are_many ? "them for the axes" : "it for the axis", are_many ? "are" : "is",
                    option);
        fuller_spec(mesh, result_spec(f, i), t.rank, axes, &cure);
        text_printf(&cure, ", or ");
    }
    report_broken("%s: result %d, %s on each device, may differ along %s, which %s does not name: "
                  "%sgive all devices the same, as tt_psum does",
                  f->label, i, type_text(t), text_cstr(&names), option, text_cstr(&cure));
    text_free(&names);
    text_free(&cure);
}

bool results_are_replicated(tt_fn f, const Graph *body, const Mesh *mesh, const Sharding *const *in,
                            const Sharding *const *out)
{
    AxisSet axes = 0;
    int i = first_difference(body, mesh, in, out, &axes);
    if (i >= 0)
        report_differs(f, mesh, i, type_of(body->m, region_return(body->m, body->body)->in[i]),
                       axes);
    return i < 0;
}
