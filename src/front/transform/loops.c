/* loops.c - loops that run a known number of times, cut in two so that they can be run backwards.
 *
 *     while (i, v, dv) { v = sin v; dv = mul dv, cos v }              i < 4, from 0, by 1
 *
 *     while (iteration, v, C) { c = cos v; v = sin v; C[iteration] = c }        keeps what the other needs
 *     while (iteration, dv) { dv = mul dv, C[iteration] }                       linear in all but its iteration
 *
 * The second can be transposed: it is run from its last iteration to its first (transform/rules/control.c).
 * Whatever comes into it from around and is linear is carried through it unchanged, so that its
 * cotangents are summed as those of everything else. */
#include "front/transform/transform.h"

#include "front/transform/build.h"
#include "front/value/report.h"
#include "hlo/rewrite.h"
#include "ops/number.h"

#include <string.h>

#define NEW(T, n) ARENA_ARRAY(trace_arena(), T, (n) + 1)

/* ---- how many iterations ---- */

/* Which of what is carried v is, seen from the loop's region r; -1: none of it. */
static int carried_as(const Module *m, RegionId r, ValueId v)
{
    const Region *region = region_at(m, r);
    bool is_arg = v >= region->args && v < region->args + (uint32_t)region->nargs;
    return is_arg ? (int)(v - region->args) : -1;
}

static bool is_invariant(const Module *m, const Node *loop, int i)
{
    return carried_as(m, loop->regions[1], region_return(m, loop->regions[1])->in[i]) == i;
}

/* The integer that v is in the loop's region r, in every iteration. */
static bool integer_in(const Module *m, const Node *loop, RegionId r, ValueId v, int64_t *out)
{
    int i = carried_as(m, r, v);
    if (i >= 0 && !is_invariant(m, loop, i))
        return false;
    if (i >= 0)
        v = loop->in[i];
    for (NodeId def; (def = value_def(m, v)) &&
                     (node_at(m, def)->op == OP_RESHAPE || node_at(m, def)->op == OP_BROADCAST);)
        v = node_at(m, def)->in[0];
    const Dense *c = value_constant(m, v);
    ElementKind kind = c ? element_info[c->type.element].kind : FLOAT;
    if (!c || (kind != SIGNED && kind != UNSIGNED) || (!c->is_splat && type_count(c->type) != 1))
        return false;
    *out = number_int(c->type.element, c->data);
    return true;
}

/* By how much the carried value i grows in an iteration. */
static bool growth_of(const Module *m, const Node *loop, int i, int64_t *out)
{
    RegionId r = loop->regions[1];
    NodeId def = value_def(m, region_return(m, r)->in[i]);
    const Node *node = def ? node_at(m, def) : NULL;
    if (!node || (node->op != OP_ADD && node->op != OP_SUB))
        return false;
    bool is_first = carried_as(m, r, node->in[0]) == i;
    bool is_second = node->op == OP_ADD && carried_as(m, r, node->in[1]) == i;
    if (!(is_first || is_second) || !integer_in(m, loop, r, node->in[is_first ? 1 : 0], out))
        return false;
    return node->op == OP_ADD || !__builtin_sub_overflow(0, *out, out);
}

/* -1: not known, or not to be counted in 64 bits. */
static int64_t trips_from(int64_t from, int64_t by, int direction, int64_t to)
{
    int64_t far, step = by;
    if (by > 0 ? __builtin_sub_overflow(to, from, &far)
               : __builtin_sub_overflow(from, to, &far) || __builtin_sub_overflow(0, by, &step))
        return -1;
    if (direction == NE)
        return by && far >= 0 && far % step == 0 ? far / step : -1;
    bool is_up = direction == LT || direction == LE;
    if (!by || is_up != (by > 0) || direction == EQ)
        return -1;
    if ((direction == LE || direction == GE) && __builtin_add_overflow(far, 1, &far))
        return -1;
    return far > 0 ? far / step + (far % step != 0) : 0;
}

int64_t loop_trip_count(const Module *m, NodeId n)
{
    static const int mirrored[] = {
        [EQ] = EQ, [NE] = NE, [GE] = LE, [GT] = LT, [LE] = GE, [LT] = GT
    };
    const Node *loop = node_at(m, n);
    RegionId r = loop->regions[0];
    NodeId def = value_def(m, region_return(m, r)->in[0]);
    const Node *compare = def ? node_at(m, def) : NULL;
    if (!compare || compare->op != OP_COMPARE)
        return -1;
    int direction = (int)((const CompareAttrs *)compare->attrs)->comparison_direction;
    int64_t from, by, to;
    for (int side = 0; side < 2; side++) {
        int i = carried_as(m, r, compare->in[side]);
        if (i >= 0 && growth_of(m, loop, i, &by) &&
            integer_in(m, loop, r, compare->in[1 - side], &to) &&
            integer_in(m, loop, 0, loop->in[i], &from))
            return trips_from(from, by, side ? mirrored[direction] : direction, to);
    }
    return -1;
}

/* ---- what is linear ---- */

/* Which results of g depend on the linear leaves. */
static void find_linear(const Graph *g, const bool *linear, bool *results)
{
    Backward b = backward_new(g->m);
    for (int i = 0; i < g->nleaves; i++)
        b.linear[region_at(g->m, g->body)->args + (uint32_t)i] = linear[i];
    backward_mark(&b, g->body);
    for (int i = 0; i < g->nresults; i++)
        results[i] = backward_is_linear(&b, region_return(g->m, g->body)->in[i]);
    backward_free(&b);
}

/* Constants from around the region are made in it, so that it keeps them wherever it goes. */
static void sink_constants(Module *m, RegionId r)
{
    Values free = free_values(m, 1, &r);
    Subst map = subst_new(m);
    int n = region_at(m, r)->nnodes, k = 0;
    NodeId *nodes = NEW(NodeId, free.n + n);
    for (int i = 0; i < free.n; i++)
        if (value_constant(m, free.at[i])) {
            nodes[k++] = node_copy(m, value_def(m, free.at[i]), &map);
            subst_set(&map, free.at[i], node_at(m, nodes[k - 1])->out);
        }
    memcpy(nodes + k, region_at(m, r)->nodes, sizeof *nodes * (size_t)n);
    region_set_nodes(m, r, n + k, nodes);
    subst_apply(&map, m, r);
    subst_free(&map);
}

/* ---- one loop in two ---- */

typedef struct LoopSplitter {
    Module *m;
    Subst value;  /* of the old graph: its number in the new one */
    Subst linear; /* to something: depends on the linear leaves */
} LoopSplitter;

static bool is_linear(void *splitter, ValueId v)
{
    const LoopSplitter *c = splitter;
    return subst_get(&c->linear, v) != v;
}

/* Leaves of a body are what is carried, then what comes from around.  Either is in one of two
 * lists: what is not linear (known), and what is. */
typedef struct Loop {
    Module *m;
    Node node;
    int64_t trip_count;
    Values free;
    tt *x;        /* per leaf: its value around the loop */
    bool *linear; /* per leaf */
    Graph body;
    int nknown, nfixed, nvarying, ntangents; /* carried and not linear; from around and not; carried
                                              * and linear; linear */
    int *order; /* the leaves in this order: known, fixed, varying, other tangents */
    PartialEval split;
    int *row; /* per needed value: which of the arrays kept has it; -1: it is the same for all */
    int nkept;
    tt *kept;
} Loop;

static int leaves_of(const Loop *l)
{
    return l->node.nin + l->free.n;
}

static void gather_leaves(LoopSplitter *c, Loop *l)
{
    sink_constants(l->m, l->node.regions[1]);
    l->free = free_values(l->m, 1, &l->node.regions[1]);
    int n = leaves_of(l);
    l->x = NEW(tt, n);
    l->linear = NEW(bool, n);
    for (int i = 0; i < n; i++) {
        ValueId v = i < l->node.nin ? l->node.in[i] : l->free.at[i - l->node.nin];
        l->x[i] = trace_tt(subst_get(&c->value, v));
        l->linear[i] = is_linear(c, v);
    }
}

/* What is linear at the end of an iteration is so in the next. */
static bool settle(Loop *l)
{
    bool *results = NEW(bool, l->node.nin);
    Graph body = graph_of_region(l->m, l->node.regions[1], l->free);
    for (bool changed = true; changed;) {
        changed = false;
        if (!split_loops(&body, l->linear, &l->body))
            return false;
        find_linear(&l->body, l->linear, results);
        for (int i = 0; i < l->node.nin; i++)
            if (results[i] && !l->linear[i])
                l->linear[i] = changed = true;
    }
    return true;
}

/* Is it one of those that we make, linear in all but its iteration? */
static bool is_split(const Loop *l)
{
    int64_t from, by;
    for (int i = 0; i < leaves_of(l); i++)
        if (l->linear[i] != (i > 0 && i < l->node.nin))
            return false;
    return integer_in(l->m, &l->node, 0, l->node.in[0], &from) && from == 0 &&
           growth_of(l->m, &l->node, 0, &by) && by == 1;
}

static void put_in_order(Loop *l)
{
    int n = l->node.nin, all = leaves_of(l), k = 0;
    l->order = NEW(int, all);
    for (int pass = 0; pass < 4; pass++)
        for (int i = 0; i < all; i++)
            if (l->linear[i] == (pass >= 2) && (i >= n) == (pass % 2))
                l->order[k++] = i;
    for (int i = 0; i < all; i++) {
        l->nknown += i < n && !l->linear[i];
        l->nfixed += i >= n && !l->linear[i];
        l->nvarying += i < n && l->linear[i];
        l->ntangents += l->linear[i];
    }
}

/* The body with its leaves in order; results are what is known, then all tangents. */
static bool ordered_body(const Loop *l, Graph *out)
{
    int n = leaves_of(l), k = 0;
    tt *in = NEW(tt, n), *leaf = NEW(tt, n), *y = NEW(tt, n), *results = NEW(tt, n);
    Type *types = NEW(Type, n);
    Trace frame = { .loc = tracing->loc };
    for (int i = 0; i < n; i++)
        types[i] = type_of(l->m, region_at(l->m, l->body.body)->args + (uint32_t)l->order[i]);
    frame_push(&frame);
    record_begin(n, types, NULL, in);
    for (int i = 0; i < n; i++)
        leaf[l->order[i]] = in[i];
    trace_inline("a gradient", &l->body, leaf, y);
    for (int i = 0; i < n; i++) {
        bool is_carried = l->order[i] < l->node.nin;
        if (is_carried || l->linear[l->order[i]])
            results[k++] = is_carried ? y[l->order[i]] : in[i];
    }
    bool ok = record_end("a gradient", k, results, out);
    frame_pop(&frame);
    return ok;
}

/* Needed values that are not the same in every iteration are kept, a row for each iteration. */
static void choose_kept(Loop *l)
{
    l->row = NEW(int, l->split.nneeded);
    for (int i = 0; i < l->split.nneeded; i++) {
        int leaf = l->split.leaf[i] < 0 ? -1 : l->order[l->split.leaf[i]];
        bool is_same = leaf >= l->node.nin || (leaf >= 0 && is_invariant(l->m, &l->node, leaf));
        l->row[i] = is_same ? -1 : l->nkept++;
    }
    l->kept = NEW(tt, l->nkept);
}

static void known_iteration(tt iteration, const tt *in, tt *out, void *user)
{
    const Loop *l = user;
    const PartialEval *s = &l->split;
    tt *leaf = NEW(tt, s->known.nleaves), *y = NEW(tt, s->known.nresults);
    for (int i = 0; i < s->known.nleaves; i++)
        leaf[i] = i < l->nknown ? in[i] : l->x[l->order[i]];
    trace_inline("a gradient", &s->known, leaf, y);
    memcpy(out, y, sizeof *out * (size_t)l->nknown);
    for (int i = 0, next = l->nknown; i < s->nneeded; i++) {
        tt needed = s->leaf[i] < 0 ? y[next++] : leaf[s->leaf[i]];
        if (l->row[i] >= 0) {
            int k = l->nknown + l->row[i];
            out[k] = build_set_row(in[k], iteration, needed);
        }
    }
}

static bool run_known(Loop *l, tt *y)
{
    int n = l->nknown;
    tt *in = NEW(tt, n + l->nkept), *out = NEW(tt, n + l->nkept);
    for (int i = 0; i < n; i++)
        in[i] = l->x[l->order[i]];
    for (int i = 0; i < l->split.nneeded; i++) {
        ValueId v = region_at(l->m, l->split.rest.body)->args + (uint32_t)i;
        if (l->row[i] >= 0)
            in[n + l->row[i]] = build_zeros(type_insert(type_of(l->m, v), 0, l->trip_count));
    }
    if (!loop_counted(l->trip_count, n + l->nkept, in, known_iteration, l, out))
        return false;
    for (int i = 0; i < n; i++)
        y[l->order[i]] = out[i];
    memcpy(l->kept, out + n, sizeof *out * (size_t)l->nkept);
    return true;
}

static void linear_iteration(tt iteration, const tt *in, tt *out, void *user)
{
    const Loop *l = user;
    const PartialEval *s = &l->split;
    tt *leaf = NEW(tt, s->rest.nleaves);
    for (int i = 0; i < s->nneeded; i++)
        leaf[i] =
            l->row[i] >= 0 ? build_row(l->kept[l->row[i]], iteration) : l->x[l->order[s->leaf[i]]];
    memcpy(leaf + s->nneeded, in, sizeof *in * (size_t)l->ntangents);
    trace_inline("a gradient", &s->rest, leaf, out);
}

static bool run_linear(Loop *l, tt *y)
{
    int first = l->nknown + l->nfixed;
    tt *in = NEW(tt, l->ntangents), *out = NEW(tt, l->ntangents);
    for (int i = 0; i < l->ntangents; i++)
        in[i] = l->x[l->order[first + i]];
    if (!loop_counted(l->trip_count, l->ntangents, in, linear_iteration, l, out))
        return false;
    for (int i = 0; i < l->nvarying; i++)
        y[l->order[first + i]] = out[i];
    return true;
}

static void copy(LoopSplitter *c, NodeId n, bool marks)
{
    region_append(c->m, tracing->region, node_copy(c->m, n, &c->value));
    const Node *node = node_at(c->m, n);
    for (int i = 0; marks && i < node->nout; i++) {
        ValueId v = node->out + (uint32_t)i;
        subst_set(&c->linear, v, subst_get(&c->value, v));
    }
}

static bool split_loop(LoopSplitter *c, NodeId n)
{
    Loop l = { .m = c->m, .node = *node_at(c->m, n), .trip_count = loop_trip_count(c->m, n) };
    if (l.trip_count < 0)
        return report_broken(
                   "not supported: the gradient through a loop whose number of iterations is "
                   "found at run time (while, %s): write it with a fixed number of iterations, "
                   "or use tt_stop_gradient",
                   loc_name(l.node.loc)),
               false;
    gather_leaves(c, &l);
    if (!settle(&l))
        return false;
    if (is_split(&l))
        return copy(c, n, true), true;
    tt *y = NEW(tt, l.node.nin);
    Graph ordered;
    memcpy(y, l.x, sizeof *y * (size_t)l.node.nin); /* no iterations: as it was */
    put_in_order(&l);
    if (l.trip_count > 0) {
        if (!ordered_body(&l, &ordered) || !partial_eval(&ordered, l.ntangents, l.nknown, &l.split))
            return false;
        choose_kept(&l);
        if (!run_known(&l, y) || !run_linear(&l, y))
            return false;
    }
    for (int i = 0; i < l.node.nin; i++) {
        ValueId v = l.node.out + (uint32_t)i, to = trace_value("a gradient", y[i]);
        subst_set(&c->value, v, to);
        if (l.linear[i])
            subst_set(&c->linear, v, to);
    }
    return true;
}

/* ---- graphs ---- */

static bool has_loop(const Graph *g)
{
    const Region *region = region_at(g->m, g->body);
    for (int i = 0; i < region->nnodes; i++)
        if (node_flow(node_at(g->m, region->nodes[i])) == FLOW_LOOP)
            return true;
    return false;
}

static bool split_nodes(LoopSplitter *c, RegionId r)
{
    const Loc *loc = tracing->loc;
    bool ok = true;
    for (int i = 0; ok && i < region_at(c->m, r)->nnodes - 1; i++) {
        NodeId n = region_at(c->m, r)->nodes[i];
        bool marks = node_uses(c->m, node_at(c->m, n), is_linear, c);
        tracing->loc = node_at(c->m, n)->loc;
        if (marks && node_flow(node_at(c->m, n)) == FLOW_LOOP)
            ok = split_loop(c, n);
        else
            copy(c, n, marks);
    }
    tracing->loc = loc;
    return ok;
}

bool split_loops(const Graph *g, const bool *linear, Graph *out)
{
    Module *m = g->m;
    *out = *g;
    if (!has_loop(g))
        return true;
    LoopSplitter c = { m, subst_new(m), subst_new(m) };
    tt *in = NEW(tt, g->nleaves), *y = NEW(tt, g->nresults);
    Type *types = NEW(Type, g->nleaves);
    ValueId first = region_at(m, g->body)->args;
    Trace frame = { .loc = tracing->loc };
    for (int i = 0; i < g->nleaves; i++)
        types[i] = type_of(m, first + (uint32_t)i);
    frame_push(&frame);
    record_begin(g->nleaves, types, NULL, in);
    for (int i = 0; i < g->nleaves; i++) {
        ValueId v = trace_value("a gradient", in[i]);
        subst_set(&c.value, first + (uint32_t)i, v);
        if (linear[i])
            subst_set(&c.linear, first + (uint32_t)i, v);
    }
    bool ok = split_nodes(&c, g->body);
    for (int i = 0; ok && i < g->nresults; i++)
        y[i] = trace_tt(subst_get(&c.value, region_return(m, g->body)->in[i]));
    ok = ok && record_end("a gradient", g->nresults, y, out);
    if (frame.region)
        record_drop();
    frame_pop(&frame);
    subst_free(&c.value);
    subst_free(&c.linear);
    if (ok)
        out->is_weak = g->is_weak;
    return ok;
}

/* ---- loops that run a number of times that is known when they begin ----
 *
 *     while (iteration = 0, v...) { iteration < iterations } { iteration + 1, what `iteration` makes of v... } */

/* iterations: how many, or no value where that is `known`. */
static bool condition(int64_t known, tt trip_count, int n, const Type *types, Graph *out)
{
    tt *in = NEW(tt, n), go_on;
    Trace frame = { .loc = tracing->loc };
    frame_push(&frame);
    record_begin(n, types, NULL, in);
    if (!is_value(trip_count))
        trip_count = build_number(types[0], (double)known);
    go_on = build_compare(LT, in[0], trip_count);
    bool ok = record_end("a loop", 1, &go_on, out);
    frame_pop(&frame);
    return ok;
}

static bool body(int n, const Type *types, LoopBody *iteration, void *user, Graph *out)
{
    tt *in = NEW(tt, n), *y = NEW(tt, n);
    unsigned before = report_count();
    Trace frame = { .loc = tracing->loc };
    frame_push(&frame);
    record_begin(n, types, NULL, in);
    y[0] = build2(OP_ADD, in[0], build_number(types[0], 1));
    iteration(in[0], in + 1, y + 1, user);
    bool ok = report_count() == before && record_end("a loop", n, y, out);
    if (frame.region)
        record_drop();
    frame_pop(&frame);
    return ok;
}

static bool loop(int64_t known, tt trip_count, int n, const tt *init, LoopBody *iteration,
                 void *user, tt *out)
{
    tt *in = NEW(tt, n + 1), *y = NEW(tt, n + 1);
    Type *types = NEW(Type, n + 1);
    Graph regions[2];
    in[0] = build_number(type_scalar(I32), 0);
    memcpy(in + 1, init, sizeof *in * (size_t)n);
    for (int i = 0; i <= n; i++)
        types[i] = type_at(in[i]);
    if (!condition(known, trip_count, n + 1, types, &regions[0]) ||
        !body(n + 1, types, iteration, user, &regions[1]) ||
        !trace_apply_regions("a loop", OP_WHILE, n + 1, in, NULL, 2, regions, n + 1, types, y))
        return false;
    memcpy(out, y + 1, sizeof *out * (size_t)n);
    return true;
}

bool loop_counted(int64_t trip_count, int n, const tt *init, LoopBody *iteration, void *user,
                  tt *out)
{
    return loop(trip_count, NO_VALUE, n, init, iteration, user, out);
}

bool loop_dynamic(tt trip_count, int n, const tt *init, LoopBody *iteration, void *user, tt *out)
{
    return loop(0, trip_count, n, init, iteration, user, out);
}
