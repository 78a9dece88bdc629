/* batch.c - a graph becomes a graph on a whole batch (vmap).
 *
 *     (x, w) { y = dot x, w; z = add y, 1 }         x mapped, w not
 *
 *     (X, w) { Y = dot X, w; Z = add Y, 1 }         X, Y, Z have one more axis, in front
 *
 * One walk over the nodes: each is recorded again; where an operand has the batch axis, its rule
 * records the operation on the batch.  The axis is always axis 0: in_axes and out_axes move it
 * there and away once, at the ends. */
#include "front/transform/transform.h"

#include "base/fail.h"
#include "front/transform/fn.h"
#include "front/value/axis_names.h"
#include "front/value/report.h"
#include "hlo/rewrite.h"

#include <stdlib.h>
#include <string.h>

typedef struct Batcher {
    Module *m;
    int64_t size;
    Str axis_name;
    Subst value;  /* of the old graph: its number in the new region */
    Subst mapped; /* to something: has the batch axis */
} Batcher;

/* ---- what has the axis ---- */

bool batcher_is_mapped(const Batcher *b, ValueId v)
{
    return subst_get(&b->mapped, v) != v;
}

tt batcher_value(Batcher *b, ValueId v)
{
    return trace_tt(subst_get(&b->value, v));
}

static void set(Batcher *b, ValueId v, tt x, bool is_mapped)
{
    ValueId value = trace_value("a batch", x);
    if (!value)
        return;
    subst_set(&b->value, v, value);
    subst_set(&b->mapped, v, is_mapped ? value : v);
}

/* Does the node, or what its regions use or do, differ between rows? */
static bool differs(Batcher *b, const Node *node);

static bool region_differs(Batcher *b, RegionId r)
{
    const Region *region = region_at(b->m, r);
    for (int i = 0; i < region->nnodes; i++)
        if (differs(b, node_at(b->m, region->nodes[i])))
            return true;
    return false;
}

static bool differs(Batcher *b, const Node *node)
{
    for (int i = 0; i < node->nin; i++)
        if (batcher_is_mapped(b, node->in[i]))
            return true;
    if (op_info[node->op].attrs == ATTRS_AXIS && b->axis_name.n &&
        axis_names_has(((const AxisAttrs *)node->attrs)->axis, b->axis_name))
        return true;
    for (int i = 0; i < node->nregions; i++)
        if (region_differs(b, node->regions[i]))
            return true;
    if (node->op == OP_CALL)
        return region_differs(b, func_find(b->m, ((const CallAttrs *)node->attrs)->callee)->body);
    return false;
}

Graph batcher_region(Batcher *b, RegionId r)
{
    RegionId copy = region_copy(b->m, r, 0, &b->value);
    int nresults = region_return(b->m, copy)->nin;
    return (Graph){ b->m, copy, region_at(b->m, copy)->nargs, nresults,
                    ARENA_ARRAY(b->m->arena, bool, nresults + 1) };
}

/* ---- the walk ---- */

static void copy(Batcher *b, NodeId n)
{
    region_append(b->m, tracing->region, node_copy(b->m, n, &b->value));
    const Node *node = node_at(b->m, n);
    for (int i = 0; i < node->nout; i++)
        subst_set(&b->mapped, node->out + (uint32_t)i, node->out + (uint32_t)i);
}

static void batch_node(Batcher *b, NodeId n)
{
    Module *m = b->m;
    Node node = *node_at(m, n);
    BatchRule *rule = front_rules[node.op].batch;
    if (!rule) {
        report_broken("not supported: vmap of %s, %s", rule_op_name(node.op), loc_name(node.loc));
        return;
    }
    int all = node.nin + node.nout;
    tt *x = ARENA_ARRAY(m->arena, tt, all + 1), *y = x + node.nin;
    bool *mapped = ARENA_ARRAY(m->arena, bool, all + 1), *y_mapped = mapped + node.nin;
    Type *types = ARENA_ARRAY(m->arena, Type, all + 1);
    for (int i = 0; i < node.nin; i++) {
        x[i] = batcher_value(b, node.in[i]);
        mapped[i] = batcher_is_mapped(b, node.in[i]);
        types[i] = type_of(m, node.in[i]);
    }
    for (int i = 0; i < node.nout; i++) {
        types[node.nin + i] = type_of(m, node.out + (uint32_t)i);
        y_mapped[i] = true;
    }
    Batch q = { node.op, node.attrs,   node.nin, node.nout, x, mapped, types, types + node.nin,
                b->size, b->axis_name, y,        y_mapped,  m, n,      b };
    rule(&q);
    for (int i = 0; i < node.nout; i++)
        set(b, node.out + (uint32_t)i, y[i], y_mapped[i]);
}

static void walk(Batcher *b, RegionId r)
{
    const Loc *loc = tracing->loc;
    CallSite at = call_site;
    unsigned before = report_count();
    for (int i = 0; report_count() == before && i < region_at(b->m, r)->nnodes - 1; i++) {
        NodeId n = region_at(b->m, r)->nodes[i];
        call_site = at; /* rules leave lines of their own */
        tracing->loc = node_at(b->m, n)->loc;
        if (differs(b, node_at(b->m, n)))
            batch_node(b, n);
        else
            copy(b, n);
    }
    tracing->loc = loc;
    call_site = at;
}

void batcher_inline(Batcher *b, RegionId r, const tt *x, const bool *mapped, tt *y, bool *y_mapped)
{
    Module *m = b->m;
    for (int i = 0; i < region_at(m, r)->nargs; i++)
        set(b, region_at(m, r)->args + (uint32_t)i, x[i], mapped[i]);
    walk(b, r);
    Node last = *region_return(m, r);
    for (int i = 0; i < last.nin; i++) {
        y[i] = batcher_value(b, last.in[i]);
        y_mapped[i] = batcher_is_mapped(b, last.in[i]);
    }
}

/* ---- graphs ---- */

bool batch_transform(const Graph *g, int64_t size, Str axis_name, const bool *mapped,
                     const bool *wanted, bool *is_mapped, Graph *out)
{
    Module *m = g->m;
    unsigned before = report_count();
    Batcher b = { m, size, axis_name, subst_new(m), subst_new(m) };
    Trace frame = { .loc = tracing->loc };
    Type *types = ARENA_ARRAY(m->arena, Type, g->nleaves + 1);
    tt *x = ARENA_ARRAY(m->arena, tt, g->nleaves + 1), *y = ARENA_ARRAY(m->arena, tt, g->nresults + 1);
    bool *y_mapped = ARENA_ARRAY(m->arena, bool, g->nresults + 1);
    for (int i = 0; i < g->nleaves; i++) {
        types[i] = type_of(m, region_at(m, g->body)->args + (uint32_t)i);
        if (mapped[i])
            types[i] = type_insert(types[i], 0, size);
    }
    frame_push(&frame);
    record_begin(g->nleaves, types, NULL, x);
    batcher_inline(&b, g->body, x, mapped, y, y_mapped);
    for (int i = 0; report_count() == before && i < g->nresults; i++) {
        if (wanted && wanted[i] && !y_mapped[i])
            y[i] = build_leading(y[i], size);
        if (is_mapped)
            is_mapped[i] = y_mapped[i];
    }
    bool ok = report_count() == before && record_end("a batch", g->nresults, y, out);
    if (frame.region)
        record_drop();
    frame_pop(&frame);
    subst_free(&b.value);
    subst_free(&b.mapped);
    return ok;
}

/* ---- vmap ---- */

typedef struct Map {
    tt_fn f;
    const Leaves *leaves;
    int64_t size;
    int32_t *axes; /* per leaf */
    bool *mapped;
} Map;

static bool inner_graph(Map *map, Graph *out)
{
    Leaves row = *map->leaves;
    row.types = ARENA_ARRAY(trace_arena(), Type, row.n + 1);
    for (int i = 0; i < row.n; i++) {
        if (!map_axis(map->f, map->leaves, i, &map->axes[i]))
            return false;
        map->mapped[i] = map->axes[i] != TT_NONE;
        row.types[i] = map->mapped[i] ? type_remove(map->leaves->types[i], map->axes[i])
                                      : map->leaves->types[i];
    }
    return fn_graph(map->f->key.inner, &row, out);
}

/* The axis goes where the caller wants it. */
static bool move_out(const Map *map, const Graph *inner, const bool *is_mapped, tt *y)
{
    for (int i = 0; i < inner->nresults; i++) {
        int rank = type_of(inner->m, region_return(inner->m, inner->body)->in[i]).rank;
        int32_t axis;
        if (!map_out_axis(map->f, result_slot(inner, i), rank, &axis))
            return false;
        if (axis == TT_NONE && is_mapped[i])
            return report_broken("%s: result %d differs from row to row, so its out_axis cannot be "
                                 "TT_NONE",
                                 map->f->label, i),
                   false;
        if (axis == TT_NONE)
            continue;
        y[i] = build_move_axis(is_mapped[i] ? y[i] : build_leading(y[i], map->size), 0, axis);
    }
    return true;
}

static bool whole_graph(Map *map, const Graph *inner, Graph *out)
{
    Module *m = inner->m;
    int n = map->leaves->n;
    tt *in = ARENA_ARRAY(m->arena, tt, n + 1), *y = ARENA_ARRAY(m->arena, tt, inner->nresults + 1);
    bool *is_mapped = ARENA_ARRAY(m->arena, bool, inner->nresults + 1);
    Graph rows;
    Str name = str_of(map->f->key.axis_name ? map->f->key.axis_name : "");
    if (!batch_transform(inner, map->size, name, map->mapped, NULL, is_mapped, &rows))
        return false;
    record_begin(n, map->leaves->types, map->leaves->is_weak, in);
    for (int i = 0; i < n; i++)
        if (map->mapped[i])
            in[i] = build_move_axis(in[i], map->axes[i], 0);
    bool ok = trace_inline(map->f->label, &rows, in, y) && move_out(map, inner, is_mapped, y) &&
              record_end(map->f->label, inner->nresults, y, out);
    if (tracing->region)
        record_drop();
    out->is_weak = inner->is_weak;
    if (ok)
        slots_like(out, inner);
    return ok;
}

bool vmap_graph(tt_fn f, const Leaves *leaves, Graph *out)
{
    Map map = { .f = f, .leaves = leaves, .size = map_size(f, leaves) };
    if (!map.size)
        return false;
    map.axes = ARENA_ARRAY(trace_arena(), int32_t, leaves->n + 1);
    map.mapped = ARENA_ARRAY(trace_arena(), bool, leaves->n + 1);
    Trace frame = { .how = f->how,
                    .name = f->key.inner->label,
                    .file = f->file,
                    .line = f->line,
                    .axis_name = f->key.axis_name,
                    .axis_size = (int)map.size };
    Graph inner;
    frame_push(&frame);
    bool ok = inner_graph(&map, &inner) &&
              runs_describe(f, leaves_slots(leaves), graph_slots(&inner)) &&
              whole_graph(&map, &inner, out);
    frame_pop(&frame);
    return ok;
}
