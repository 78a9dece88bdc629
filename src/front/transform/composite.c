/* composite.c - functions that derivatives do not simply follow, as one node each.
 *
 *     y = composite(x, a) { f }       x: the leaves of f, a: what f uses from around it
 *
 * The node stands in the graph for as long as something may be differentiated, and its rules
 * (custom.c, checkpoint.c) know how.  What is lowered has none: open_composites puts the bodies in
 * their places.  A rule that is a function of the user is traced only when a derivative asks for it, so
 * that it may use the very function that it is the rule of. */
#include "front/transform/transform.h"
#include "front/value/report.h"

#include <string.h>

#define NEW(T, n) ARENA_ARRAY(trace_arena(), T, (n) + 1)

const Composite *composite_of(const Node *node)
{
    return node->attrs;
}

/* ---- names of axes ---- */

/* A map around, the outermost first. */
typedef struct Names {
    const struct Names *inner;
    const char *axis_name;
    int axis_size;
    const struct tt_grid *mesh;
} Names;

const Names *names_bound(void)
{
    const Names *list = NULL;
    for (const Trace *t = tracing; t; t = t->outer)
        if (t->axis_name || t->mesh) {
            Names *one = ARENA_NEW(trace_arena(), Names);
            *one = (Names){ list, t->axis_name, t->axis_size, t->mesh };
            list = one;
        }
    return list;
}

static bool trace_under(const Names *names, const Composite *c, tt_fn f, const Leaves *leaves,
                        Graph *out)
{
    Trace frame = { 0 };
    if (names) {
        frame.axis_name = names->axis_name;
        frame.axis_size = names->axis_size;
        frame.mesh = names->mesh;
    } else {
        frame = (Trace){ .how = c->f->how, .name = f->label, .file = f->file, .line = f->line };
    }
    frame_push(&frame);
    bool ok = names ? trace_under(names->inner, c, f, leaves, out) : fn_graph(f, leaves, out);
    frame_pop(&frame);
    return ok;
}

bool composite_trace(const Composite *c, tt_fn f, const Leaves *leaves, Graph *out)
{
    CallSite at = call_site;
    int counts[TT_MAX_ARGS], n = fn_arguments(f, counts);
    if (!fn_has_config(c->f->label, f))
        return false;
    bool fits = n < 0 || n == leaves->nargs;
    for (int i = 0; fits && i < n; i++)
        fits = counts[i] == leaves->counts[i];
    if (!fits) {
        Text given = { 0 };
        for (int i = 0; i < leaves->nargs; i++)
            text_printf(&given, "%s%d", i ? ", " : "", leaves->counts[i]);
        report_broken("%s: %s does not take what it is given, %d argument%s of %s array%s",
                      c->f->label, f->label, leaves->nargs, leaves->nargs == 1 ? "" : "s",
                      text_cstr(&given), leaves->nargs == 1 && leaves->counts[0] == 1 ? "" : "s");
        text_free(&given);
        return false;
    }
    bool ok = trace_under(c->names, c, f, leaves, out);
    call_site = at;
    return ok;
}

/* ---- recording ---- */

static bool apply(const Composite *c, const Graph *g, int n, const tt *operands, tt *y)
{
    Type *types = NEW(Type, g->nresults);
    for (int i = 0; i < g->nresults; i++)
        types[i] = type_of(g->m, region_return(g->m, g->body)->in[i]);
    return trace_apply_regions(c->f->label, OP_COMPOSITE, n, operands, &c->attrs, 1, g, g->nresults,
                               types, y);
}

bool composite_apply(Composite *c, const Graph *g, const tt *leaves, tt *y)
{
    Values free = free_values(g->m, 1, &g->body);
    Graph isolated = *g;
    isolated.body = region_isolate(g->m, g->body, free);
    isolated.nleaves += free.n;
    tt *operands = NEW(tt, isolated.nleaves);
    memcpy(operands, leaves, sizeof *leaves * (size_t)g->nleaves);
    for (int i = 0; i < free.n; i++)
        operands[g->nleaves + i] = trace_tt(free.at[i]);
    return apply(c, &isolated, isolated.nleaves, operands, y);
}

bool composite_again(const Composite *c, const Graph *g, const tt *operands, tt *y)
{
    return apply(c, g, g->nleaves, operands, y);
}

static Composite *describe(tt_fn f, const Leaves *leaves)
{
    Composite *c = ARENA_NEW(trace_arena(), Composite);
    *c = (Composite){ .kind = f->key.kind == FN_CUSTOM_JVP   ? CUSTOM_JVP
                              : f->key.kind == FN_CUSTOM_VJP ? CUSTOM_VJP
                                                             : CHECKPOINT,
                      .f = f,
                      .rule = f->key.other,
                      .names = names_bound(),
                      .nargs = leaves->nargs,
                      .nleaves = leaves->n };
    c->attrs.name = str_of(f->label);
    c->counts = arena_copy(trace_arena(), leaves->counts, sizeof leaves->counts);
    if (c->kind == CUSTOM_VJP)
        memcpy(&c->back, f->key.config, sizeof c->back);
    if (c->kind == CHECKPOINT) {
        c->keeps_dots = f->key.has_aux;
        c->keeps = f->key.axis_name;
    }
    return c;
}

bool composite_graph(tt_fn f, const Leaves *leaves, Graph *out)
{
    Leaves inner = leaves_canonical(leaves);
    Graph g;
    Composite *c = describe(f, leaves);
    Trace frame = { .how = f->how, .name = f->key.inner->label, .file = f->file, .line = f->line };
    frame_push(&frame);
    bool ok = fn_graph(f->key.inner, &inner, &g);
    if (ok) {
        tt *in = NEW(tt, leaves->n), *y = NEW(tt, g.nresults);
        record_begin(leaves->n, leaves->types, leaves->is_weak, in);
        for (int i = 0; i < leaves->n; i++)
            in[i] = build_convert(in[i], inner.types[i].element);
        c->nresults = g.nresults;
        ok = composite_apply(c, &g, in, y) && record_end(f->label, g.nresults, y, out);
        if (ok)
            slots_like(out, &g);
        if (tracing->region)
            record_drop();
    }
    frame_pop(&frame);
    return ok;
}

/* ---- before the graph is lowered ---- */

/* Values that pass through one barrier: no operation is merged with one on the other side of it. */
static void put_barrier(Module *m, RegionId r, const Node *node, ValueId *in)
{
    static const NoAttrs none;
    Type *types = NEW(Type, node->nin);
    for (int i = 0; i < node->nin; i++)
        types[i] = type_of(m, node->in[i]);
    NodeId barrier =
        node_new(m, OP_BARRIER, node->nin, node->in, node->nin, types, 0, NULL, &none, node->loc);
    region_append(m, r, barrier);
    for (int i = 0; i < node->nin; i++)
        in[i] = node_at(m, barrier)->out + (uint32_t)i;
}

static Error *open_composite(Module *m, RegionId r, NodeId n, void *map)
{
    Node node = *node_at(m, n);
    if (node.op != OP_COMPOSITE)
        return region_append(m, r, n), NULL;
    const Composite *c = composite_of(&node);
    if (c->kind == CUSTOM_TANGENT)
        return error_new(
            CODE_UNIMPLEMENTED,
            "not supported: forward derivatives of %s, %s: its rule is for the way back, "
            "as tt_grad goes; tt_custom_jvp has one for both",
            c->f->label, loc_name(node.loc));
    if (c->kind == NAMED)
        return node_replace(m, n, node.in, map), NULL;
    if (c->kind == PLACED) {
        ValueId y = build_node(m, r, OP_CONSTRAINT, 1, node.in, type_of(m, node.out),
                               BUILD_ATTRS(ConstraintAttrs, .sharding = c->sharding), node.loc);
        return node_replace(m, n, &y, map), NULL;
    }
    if (c->is_again && node.nin) {
        ValueId *in = NEW(ValueId, node.nin);
        put_barrier(m, r, &node, in);
        memcpy(node_at(m, n)->in, in, sizeof *in * (size_t)node.nin);
    }
    node_open(m, r, n, node.regions[0], map);
    return NULL;
}

static bool open_region(Module *m, RegionId r)
{
    remove_dead(m, r);
    Subst map = subst_new(m);
    Error *error = region_rewrite(m, r, &map, open_composite, &map);
    subst_free(&map);
    if (error)
        report_error(error);
    return !error;
}

bool open_composites(Module *m, RegionId r)
{
    bool ok = open_region(m, r);
    for (int i = 0; ok && i < m->nfuncs; i++)
        ok = open_region(m, m->funcs[i].body);
    return ok;
}
