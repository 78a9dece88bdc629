/* liveness.c - a schedule in, for every value the spans of the program during which it lives, out.
 *
 * The program is structured, so a walk gives every node a point on a line, with the inside of
 * loops and branches in between:
 *
 *     5 while(init)   6 7 cond 8 return   9 10 body 11 return   12 end
 *
 * A value lives from where it is made to its last use; one made before a loop and used in it
 * lives to the loop's end, since the loop comes back.  At the point of a node its operands still
 * live and its results live already.
 *
 * What a loop carries has one address for the arguments of both regions and for the result:
 *
 *     lives    5 .. 8 (tested)   9 .. last use in the body    11 .. 12 (returned)   12 .. last use
 *
 * and so is free between its last use in the body and the return: that is where an update in
 * address writes the next value.  A branch's result lives where a branch returns, then from its
 * end on: the points of the other branches are not on the way. */
#include "engine/analysis/analysis.h"
#include "engine/kernels/query.h"

#include "base/fail.h"

#include <string.h>

static bool is_loop(const Node *node)
{
    return node_flow(node) == FLOW_LOOP;
}

static bool is_branch(const Node *node)
{
    return node_flow(node) == FLOW_BRANCH;
}

/* ---- points ---- */

static int count_points(const Module *m, RegionId r)
{
    const Region *region = region_at(m, r);
    int n = region->nnodes;
    for (int i = 0; i < region->nnodes; i++) {
        const Node *node = node_at(m, region->nodes[i]);
        bool is_flow = node_is_control(node);
        n += is_flow;
        for (int k = 0; is_flow && k < node->nregions; k++)
            n += count_points(m, node->regions[k]);
    }
    return n;
}

static void number(Liveness *l, RegionId r)
{
    const Module *m = l->m;
    const Region *region = region_at(m, r);
    for (int i = 0; i < region->nnodes; i++) {
        NodeId n = region->nodes[i];
        const Node *node = node_at(m, n);
        l->position[n] = l->npoints;
        l->node_at[l->npoints++] = n;
        bool is_flow = node_is_control(node);
        for (int k = 0; is_flow && k < node->nregions; k++)
            number(l, node->regions[k]);
        if (is_flow)
            l->end[n] = l->npoints++;
    }
}

/* ---- uses ---- */

/* The last point at which a use in region r by a node at `point` needs v. */
static int needed_until(const Liveness *l, ValueId v, RegionId r, int point)
{
    const Module *m = l->m;
    RegionId home = value_at(m, v)->region;
    while (r != home) {
        NodeId parent = region_at(m, r)->parent;
        require(parent);
        if (is_loop(node_at(m, parent)))
            point = l->end[parent];
        r = node_at(m, parent)->region;
    }
    return point;
}

ValueId liveness_root(const Liveness *l, ValueId v)
{
    const Module *m = l->m;
    for (NodeId n; (n = value_def(m, v)) && node_is_alias(m, node_at(m, n));)
        v = node_at(m, n)->in[0];
    return v;
}

static void note_uses(Liveness *l)
{
    const Module *m = l->m;
    for (int point = 1; point < l->npoints; point++) {
        NodeId n = l->node_at[point];
        const Node *node = node_at(m, n);
        if (!n || node_is_alias(m, node))
            continue; /* naming it again is no use; what is done with the name is */
        for (int k = 0; k < node->nin; k++) {
            ValueId v = liveness_root(l, node->in[k]);
            int until = needed_until(l, v, node->region, point);
            if (until > l->last_use[v])
                l->last_use[v] = until;
        }
    }
}

/* ---- spans ---- */

static void span_add(Liveness *l, ValueId owner, int from, int to, ValueId value)
{
    enum { FEW = 4 };
    int n = l->nspans[owner];
    bool is_full = n == 0 || (n >= FEW && (n & (n - 1)) == 0);
    if (is_full) {
        Span *bigger = ARENA_ARRAY(l->arena, Span, n ? 2 * n : FEW);
        if (n)
            memcpy(bigger, l->spans[owner], sizeof *bigger * (size_t)n);
        l->spans[owner] = bigger;
    }
    l->spans[owner][l->nspans[owner]++] = (Span){ from, to, value };
}

static void live_from(Liveness *l, ValueId v, int point)
{
    int last = l->last_use[v];
    span_add(l, v, point, last > point ? last : point, v);
}

static void loop_spans(Liveness *l, NodeId n)
{
    const Module *m = l->m;
    const Node *node = node_at(m, n);
    const Region *cond = region_at(m, node->regions[0]), *body = region_at(m, node->regions[1]);
    int tested = l->position[cond->nodes[cond->nnodes - 1]];
    int returned = l->position[body->nodes[body->nnodes - 1]];
    for (int i = 0; i < node->nin; i++) {
        ValueId c = cond->args + (ValueId)i, b = body->args + (ValueId)i,
                r = node->out + (ValueId)i;
        l->shares_with[b] = l->shares_with[r] = c;
        if (!l->last_use[c] && !l->last_use[b] && !l->last_use[r])
            continue;
        span_add(l, c, l->position[n], tested, c);
        if (l->last_use[b])
            span_add(l, c, tested + 1, l->last_use[b], b);
        span_add(l, c, returned, l->end[n], c);
        span_add(l, c, l->end[n], l->last_use[r] > l->end[n] ? l->last_use[r] : l->end[n], r);
    }
}

static void branch_spans(Liveness *l, NodeId n)
{
    const Module *m = l->m;
    const Node *node = node_at(m, n);
    for (int i = 0; i < node->nout; i++) {
        ValueId v = node->out + (ValueId)i;
        if (!l->last_use[v])
            continue;
        for (int k = 0; k < node->nregions; k++) {
            const Region *branch = region_at(m, node->regions[k]);
            int returned = l->position[branch->nodes[branch->nnodes - 1]];
            span_add(l, v, returned, returned, v);
        }
        live_from(l, v, l->end[n]);
    }
}

static void find_spans(Liveness *l)
{
    const Module *m = l->m;
    const Region *main = region_at(m, l->s->k->main);
    for (int i = 0; i < main->nargs; i++)
        live_from(l, main->args + (ValueId)i, 0);
    for (int point = 1; point < l->npoints; point++) {
        NodeId n = l->node_at[point];
        const Node *node = node_at(m, n);
        if (!n || node->op == OP_CONSTANT)
            continue;
        if (node_is_alias(m, node))
            l->shares_with[node->out] = liveness_root(l, node->out);
        else if (is_loop(node))
            loop_spans(l, n);
        else if (is_branch(node))
            branch_spans(l, n);
        else
            for (int i = 0; i < node->nout; i++)
                live_from(l, node->out + (ValueId)i, point);
    }
    for (int i = 0; i < l->s->k->params.nresults; i++)
        span_add(l, l->s->outs + (ValueId)i, l->npoints - 1, l->npoints - 1,
                 l->s->outs + (ValueId)i);
}

Liveness liveness_find(const Schedule *s, Arena *arena)
{
    const Module *m = s->k->m;
    Liveness l = { .s = s, .m = m, .arena = arena, .npoints = 1 };
    l.node_at = ARENA_ARRAY(arena, NodeId, count_points(m, s->k->main) + 1);
    l.position = ARENA_ARRAY(arena, int, m->nnodes);
    l.end = ARENA_ARRAY(arena, int, m->nnodes);
    l.last_use = ARENA_ARRAY(arena, int, s->nvalues);
    l.shares_with = ARENA_ARRAY(arena, ValueId, s->nvalues);
    l.nspans = ARENA_ARRAY(arena, int, s->nvalues);
    l.spans = ARENA_ARRAY(arena, Span *, s->nvalues);
    number(&l, s->k->main);
    note_uses(&l);
    find_spans(&l);
    return l;
}

/* ---- questions ---- */

int liveness_moves(const Liveness *l, NodeId n, ValueId *dst)
{
    const Module *m = l->m;
    const Node *node = node_at(m, n);
    if (is_loop(node)) {
        *dst = region_at(m, node->regions[0])->args;
        return node->nin;
    }
    if (node_flow(node) != FLOW_END)
        return 0;
    if (node->region == l->s->k->main) {
        *dst = l->s->outs;
        return node->nin;
    }
    const Node *parent = node_at(m, region_at(m, node->region)->parent);
    if (is_branch(parent)) {
        *dst = parent->out;
        return node->nin;
    }
    if (node->region != parent->regions[1])
        return 0; /* the condition of a loop gives a predicate */
    *dst = region_at(m, parent->regions[0])->args;
    return node->nin;
}

/* What all_to_all hands from one to another lies together if nothing stands before. */
static bool is_leading(Type t, int64_t dim)
{
    for (int i = 0; i < (int)dim; i++)
        if (t.dims[i] != 1)
            return false;
    return true;
}

/* Result y of a collective in place of its operand x, which must not be another operand too. */
static bool collective_may_touch(const Liveness *l, const Node *node, ValueId x, ValueId y)
{
    if (y < node->out || y >= node->out + (ValueId)node->nout)
        return false;
    int operand = -1;
    for (int k = 0; k < node->nin; k++) {
        if (liveness_root(l, node->in[k]) != x)
            continue;
        if (operand >= 0)
            return false;
        operand = k;
    }
    if (operand < 0 || !op_is_in_place(node->op, operand, (int)(y - node->out)))
        return false;
    if (op_has_dynamic_root(node->op, node->attrs)) /* one would read what another has written */
        return false;
    const AllToAllAttrs *attrs = node->attrs;
    Type type = type_of(l->m, node->in[operand]);
    return node->op != OP_ALL_TO_ALL ||
           (is_leading(type, attrs->split_dimension) && is_leading(type, attrs->concat_dimension));
}

bool liveness_may_touch(const Liveness *l, ValueId x, ValueId y, int point)
{
    NodeId n = l->node_at[point];
    if (!n)
        return false;
    const Module *m = l->m;
    const Node *node = node_at(m, n);
    if (node_flow(node) == FLOW_KERNEL) {
        if (y < node->out || y >= node->out + (ValueId)node->nout)
            return false;
        bool is_operand = false; /* perhaps by several names, each read in its own way */
        for (int k = 0; k < node->nin; k++) {
            if (liveness_root(l, node->in[k]) != x)
                continue;
            is_operand = true;
            if (!kernel_reads_in_place(m, n, k, (int)(y - node->out)))
                return false;
        }
        return is_operand;
    }
    if (op_info[node->op].kind == KIND_COLLECTIVE)
        return collective_may_touch(l, node, x, y);
    ValueId dst = 0;
    int nmoves = liveness_moves(l, n, &dst);
    return y >= dst && y < dst + (ValueId)nmoves && liveness_root(l, node->in[y - dst]) == x;
}
