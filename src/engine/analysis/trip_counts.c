/* trip_counts.c - how often a loop goes round, where the program says so.
 *
 *   while (i = 0, ...) cond { i < 1000 } do { ...; i + 1, ... }        1000 times
 *
 * Anything else is unknown: a limit that is computed, a counter that is not, two conditions.  What is known is
 * exact: loops are written out by it (passes/unroll_rotations.c). */
#include "engine/analysis/analysis.h"

#include "hlo/rewrite.h"

#include <string.h>

bool constant_int(const Module *m, ValueId v, int64_t *out)
{
    const Dense *d = value_constant(m, v);
    if (!d || type_count(d->type) != 1)
        return false;
    int32_t narrow;
    switch (d->type.element) {
    case I32:
        memcpy(&narrow, d->data, sizeof narrow);
        *out = narrow;
        return true;
    case I64: memcpy(out, d->data, sizeof *out); return true;
    default: return false;
    }
}

/* v = counter + step, with a constant step, or several one after the other. */
bool is_counting(const Module *m, ValueId v, ValueId counter, int64_t *step)
{
    *step = 0;
    while (v != counter) {
        NodeId def = value_def(m, v);
        const Node *node = def ? node_at(m, def) : NULL;
        int64_t by;
        bool is_sum = node && node->op == OP_ADD;
        if (is_sum && constant_int(m, node->in[1], &by))
            v = node->in[0];
        else if (is_sum && constant_int(m, node->in[0], &by))
            v = node->in[1];
        else
            return false;
        if (by <= 0 || by > INT32_MAX || *step > INT32_MAX)
            return false;
        *step += by;
    }
    return *step > 0;
}

static int64_t rounds(int direction, int64_t from, int64_t limit, int64_t step)
{
    bool is_near = from > INT32_MIN && from < INT32_MAX && limit > INT32_MIN && limit < INT32_MAX;
    if (!is_near || step <= 0 || step > INT32_MAX || (direction != LT && direction != LE))
        return -1;
    int64_t way = limit - from + (direction == LE);
    int64_t n = way <= 0 ? 0 : (way + step - 1) / step;
    return from + n * step <= INT32_MAX ? n : -1; /* else the counter of an i32 begins anew */
}

int64_t loop_trips(const Module *m, const Node *loop)
{
    const Region *cond = region_at(m, loop->regions[0]), *body = region_at(m, loop->regions[1]);
    NodeId def = value_def(m, region_return(m, loop->regions[0])->in[0]);
    const Node *test = def ? node_at(m, def) : NULL;
    if (!test || test->op != OP_COMPARE || test->in[0] < cond->args ||
        test->in[0] >= cond->args + (ValueId)cond->nargs)
        return -1;
    int i = (int)(test->in[0] - cond->args);
    int64_t from, limit, step;
    if (!constant_int(m, loop->in[i], &from) || !constant_int(m, test->in[1], &limit) ||
        !is_counting(m, region_return(m, loop->regions[1])->in[i], body->args + (ValueId)i, &step))
        return -1;
    return rounds(((const CompareAttrs *)test->attrs)->comparison_direction, from, limit, step);
}

/* v = a t + b in round t.  So many values are looked at: a sum that several others are made of is met once on
 * each way to it. */
static bool is_linear(const Module *m, const Node *loop, ValueId v, int64_t *a, int64_t *b,
                      int *left)
{
    const Region *body = region_at(m, loop->regions[1]);
    int64_t step, la, lb, ra, rb;
    if (--*left < 0)
        return false;
    *a = 0;
    if (constant_int(m, v, b))
        return true;
    if (v >= body->args && v < body->args + (ValueId)body->nargs) {
        int c = (int)(v - body->args);
        *a = 1;
        return is_counting(m, region_return(m, loop->regions[1])->in[c], v, &step) && step == 1 &&
               constant_int(m, loop->in[c], b);
    }
    NodeId def = value_def(m, v);
    const Node *node = def ? node_at(m, def) : NULL;
    if (!node || (node->op != OP_ADD && node->op != OP_SUB) ||
        !is_linear(m, loop, node->in[0], &la, &lb, left) ||
        !is_linear(m, loop, node->in[1], &ra, &rb, left))
        return false;
    return node->op == OP_ADD
               ? !__builtin_add_overflow(la, ra, a) && !__builtin_add_overflow(lb, rb, b)
               : !__builtin_sub_overflow(la, ra, a) && !__builtin_sub_overflow(lb, rb, b);
}

bool index_takes_all(const Module *m, const Node *loop, int64_t ntrips, ValueId index, int64_t n)
{
    enum { MOST_VALUES = 32 };
    int64_t a, b;
    int left = MOST_VALUES;
    return n == ntrips && is_linear(m, loop, index, &a, &b, &left) &&
           ((a == 1 && b == 0) || (a == -1 && b == n - 1));
}

static void count_below(const Module *m, RegionId r, int64_t *trips)
{
    const Region *region = region_at(m, r);
    for (int i = 0; i < region->nnodes; i++) {
        const Node *node = node_at(m, region->nodes[i]);
        if (node_flow(node) == FLOW_LOOP)
            trips[region->nodes[i]] = loop_trips(m, node);
        for (int k = 0; k < node->nregions; k++)
            count_below(m, node->regions[k], trips);
    }
}

TripCounts count_trips(const Module *m, RegionId r)
{
    int64_t *trips = ARENA_ARRAY(m->arena, int64_t, m->nnodes);
    count_below(m, r, trips);
    return (TripCounts){ .n = m->nnodes, .at = trips };
}
