/* overwrite_rows.c - a loop that takes rows of one array and stacks rows of another writes over the first.
 *
 *   while (ys = 0) { ... row = xs[i]; ...; ys[i] = next; ... }     xs = ys, for the next round around it
 *   while (ys = xs) { ... row = ys[i]; ...; ys[i] = next; ... }
 *
 * and of a row that differs in a part from what it was, only the part is written:
 *
 *   row = ys[i]; next = row; next[j] = v; ys[i] = next; ... next ...
 *   ys[i, j] = v; ... ys[i] ...
 *
 * That is how a model that decodes keeps what its layers remember: a scan over the layers takes each
 * one's memory and gives back the same with one more entry.  Written out, all of it is copied for every token. */
#include "base/guard.h"
#include "engine/analysis/analysis.h"
#include "engine/passes/passes.h"
#include "hlo/rewrite.h"

typedef struct Rows {
    Module *m;
    const Params *params;
    TripCounts trips;
    const uint32_t *uses; /* by value, of those there were when it was counted */
    Subst map;
    bool any;
} Rows;

/* v, or what it is a view of inside the body with a dimension of one more, if nobody else uses the view. */
static ValueId unreshaped(const Rows *w, RegionId body, ValueId v)
{
    NodeId def = value_def(w->m, v);
    const Node *node = def ? node_at(w->m, def) : NULL;
    return node && node->op == OP_RESHAPE && node->region == body && w->uses[v] == 1 ? node->in[0]
                                                                                     : v;
}

/* ---- the part of a row ---- */

/* Carried value k, of whose row a part changes. */
typedef struct Part {
    NodeId all, row; /* the updates: of the array by the row, of the row by the part */
    ValueId carried;
} Part;

static bool part_of(const Rows *w, const Node *loop, int k, Part *part)
{
    const Module *m = w->m;
    RegionId body = loop->regions[1];
    ValueId next = region_return(m, body)->in[k];
    *part = (Part){ .all = value_def(m, next), .carried = region_at(m, body)->args + (ValueId)k };
    const Node *all = part->all ? node_at(m, part->all) : NULL;
    if (!all || all->op != OP_DYNAMIC_UPDATE || all->region != body ||
        all->in[0] != part->carried || w->uses[next] != 1 || w->uses[part->carried] != 2)
        return false;
    Type type = type_of(m, part->carried);
    ValueId changed = unreshaped(w, body, all->in[1]);
    part->row = value_def(m, changed);
    const Node *row = part->row ? node_at(m, part->row) : NULL;
    if (!is_row_of(type_of(m, all->in[1]), type) || !row || row->op != OP_DYNAMIC_UPDATE ||
        row->region != body || row->nin < 3 ||
        type_of(m, row->in[2]).element != type_of(m, all->in[2]).element)
        return false;
    Type one = type_of(m, changed);
    bool is_row = one.rank + 1 == type.rank;
    for (int d = 0; is_row && d < one.rank; d++)
        is_row = one.dims[d] == type.dims[d + 1];
    ValueId taken = unreshaped(w, body, row->in[0]);
    NodeId def = value_def(m, taken);
    const Node *slice = def ? node_at(m, def) : NULL;
    return is_row && slice && slice->op == OP_DYNAMIC_SLICE && slice->in[0] == part->carried &&
           slice->in[1] == all->in[2] && is_row_of(type_of(m, taken), type) &&
           w->uses[row->in[0]] == 1 && w->uses[taken] == 1;
}

static ValueId scalar(Rows *w, RegionId r, Element element, int64_t number, const Loc *loc)
{
    int64_t *bits = ARENA_NEW(w->m->arena, int64_t);
    *bits = number;
    return build_constant(w->m, r, (Dense){ type_scalar(element), true, (const char *)bits }, loc);
}

/* n, or the largest number of the element type if that is less. */
static int64_t at_most_largest(Element e, int64_t n)
{
    int bits = element_info[e].bits - (element_info[e].kind == SIGNED);
    return bits < 63 && n >> bits ? (INT64_C(1) << bits) - 1 : n;
}

/* Writes the part to where it belongs in all rows, and takes the row from there for those who read it. */
static void write_part(Rows *w, RegionId body, const Part *part)
{
    Module *m = w->m;
    Node row = *node_at(m, part->row), all = *node_at(m, part->all);
    Type rows = type_of(m, part->carried), whole = type_of(m, row.out), own = type_of(m, row.in[1]);
    Element element = type_of(m, all.in[2]).element;
    int64_t dims[MAX_RANK] = { 1 };
    ValueId zero = scalar(w, body, element, 0, row.loc), in[MAX_RANK + 2] = { part->carried };
    ValueId taken[MAX_RANK + 1] = { 0, all.in[2] };
    in[2] = all.in[2];
    for (int d = 0; d < own.rank; d++) {
        dims[d + 1] = own.dims[d];
        taken[d + 2] = in[d + 3] = zero;
        if (own.dims[d] == whole.dims[d])
            continue;
        /* In the array it could go on behind the row, unless numbers of the type do not reach so far. */
        int64_t end = at_most_largest(element, whole.dims[d] - own.dims[d]);
        ValueId last = scalar(w, body, element, end, row.loc);
        in[d + 3] = build_node(m, body, OP_CLAMP, 3, (ValueId[]){ zero, row.in[d + 2], last },
                               type_scalar(element), NULL, row.loc);
    }
    Type lifted = type_new(m->arena, own.element, own.rank + 1, dims);
    in[1] = build_node(m, body, OP_RESHAPE, 1, &row.in[1], lifted, NULL, row.loc);
    taken[0] = build_node(m, body, OP_DYNAMIC_UPDATE, rows.rank + 2, in, rows, NULL, all.loc);
    subst_set(&w->map, all.out, taken[0]);
    DynamicSliceAttrs *attrs = ARENA_NEW(m->arena, DynamicSliceAttrs);
    Type one = type_of(m, all.in[1]);
    attrs->slice_sizes = ints_copy(m->arena, one.rank, one.dims);
    ValueId v = build_node(m, body, OP_DYNAMIC_SLICE, rows.rank + 1, taken, one, attrs, row.loc);
    subst_set(&w->map, row.out, build_node(m, body, OP_RESHAPE, 1, &v, whole, NULL, row.loc));
}

static void write_parts(Rows *w, RegionId around, NodeId id)
{
    (void)around;
    Module *m = w->m;
    const Node *loop = node_at(m, id);
    RegionId body = loop->regions[1];
    int nparts = 0, n;
    Part *parts = ARENA_ARRAY(m->arena, Part, loop->nin);
    for (int k = 0; k < loop->nin; k++)
        nparts += part_of(w, loop, k, &parts[nparts]);
    if (!nparts)
        return;
    w->any = true;
    NodeId *old = region_take_nodes(m, body, &n);
    for (int i = 0; i < n; i++) {
        bool is_left = true;
        for (int p = 0; p < nparts; p++) {
            if (old[i] == parts[p].row)
                write_part(w, body, &parts[p]);
            is_left &= old[i] != parts[p].row && old[i] != parts[p].all;
        }
        if (is_left)
            region_append(m, body, old[i]);
    }
}

/* ---- the first array ---- */

/* Does the body use xs only to take row i of it? */
static bool takes_rows(const Rows *w, RegionId body, ValueId xs, ValueId i)
{
    const Module *m = w->m;
    const Region *region = region_at(m, body);
    uint32_t ntaken = 0;
    for (int n = 0; n < region->nnodes; n++) {
        const Node *node = node_at(m, region->nodes[n]);
        ntaken += node->op == OP_DYNAMIC_SLICE && node->in[0] == xs && node->in[1] == i &&
                  is_row_of(type_of(m, node->out), type_of(m, xs));
    }
    return ntaken && ntaken == w->uses[xs];
}

/* What goes away where result k of the loop comes to be: an argument that is given up for it, or what the
 * loop around this one carried before; 0: nothing does. */
static ValueId given_up_for(const Rows *w, RegionId r, const Node *loop, int k)
{
    const Module *m = w->m;
    const Region *around = region_at(m, r);
    const Node *parent = around->parent ? node_at(m, around->parent) : NULL;
    bool is_loop = parent && node_flow(parent) == FLOW_LOOP && parent->regions[1] == r;
    ValueId out = loop->out + (ValueId)k;
    const Node *ret = region_return(m, r);
    for (int j = 0; w->uses[out] == 1 && (is_loop || !parent) && j < ret->nin; j++) {
        int argument = is_loop ? j : w->params->results[j].alias;
        if (ret->in[j] == out && argument >= 0 &&
            type_equal(type_of(m, around->args + (ValueId)argument), type_of(m, out)))
            return around->args + (ValueId)argument;
    }
    return 0;
}

static void overwrite_in_loop(Rows *w, RegionId r, NodeId id)
{
    Module *m = w->m;
    Node *loop = node_at(m, id);
    for (int k = 0; k < loop->nin; k++) {
        NodeId update = update_of_all_rows(m, w->uses, loop, trips_of(&w->trips, id), k);
        ValueId xs = update ? given_up_for(w, r, loop, k) : 0;
        if (!xs || !takes_rows(w, loop->regions[1], xs, node_at(m, update)->in[2]))
            continue;
        const Region *body = region_at(m, loop->regions[1]);
        for (int n = 0; n < body->nnodes; n++) {
            Node *node = node_at(m, body->nodes[n]);
            if (node->nin && node->in[0] == xs)
                node->in[0] = body->args + (ValueId)k;
        }
        loop->in[k] = xs;
        w->any = true;
    }
}

/* ---- all loops ---- */

typedef void InLoop(Rows *w, RegionId r, NodeId loop);

static void each_loop(Rows *w, RegionId r, InLoop *act)
{
    Module *m = w->m;
    for (int i = 0; i < region_at(m, r)->nnodes; i++) {
        NodeId n = region_at(m, r)->nodes[i];
        for (int k = 0; node_holds_code(node_at(m, n)) && k < node_at(m, n)->nregions; k++)
            each_loop(w, node_at(m, n)->regions[k], act);
        if (node_flow(node_at(m, n)) == FLOW_LOOP)
            act(w, r, n);
    }
}

static void in_all_loops(Module *m, const Params *params, InLoop *act)
{
    RegionId main = module_main(m);
    uint32_t *uses = count_uses(m, main);
    Rows w = {
        .m = m, .params = params, .trips = count_trips(m, main), .uses = uses, .map = subst_new(m)
    };
    each_loop(&w, main, act);
    if (w.any) {
        subst_apply(&w.map, m, main);
        remove_dead(m, main);
    }
    subst_free(&w.map);
    heap_free(uses);
}

Error *pass_overwrite_rows(Module *m, const Params *params)
{
    in_all_loops(m, params, overwrite_in_loop);
    in_all_loops(m, params, write_parts);
    return NULL;
}
