/* ranges.c - integers that can only lie between two numbers, and what follows from that.
 *
 *     x < 0, of numbers that count, are cut off at 0, or are sums of such   ->  false
 *     x rem d, of x from 0 on, below d, below 2 d, d a power of two         ->  x, x < d ? x : x - d, x & (d - 1)
 *
 * JAX counts negative indices from the end: every x[i] asks whether i is one; and its remainders have the
 * divisor's sign, about which every x % d asks.  What a loop carries is looked at as often as it takes until its
 * ranges hold from round to round: counters, and what is made of them. */
#include "engine/passes/simplify/simplify.h"

#include "engine/analysis/analysis.h"
#include "ops/number.h"

/* So many values are looked at for one range, FAR or NEAR; of several operands each has its part of them. */
enum { FAR = 1 << 10, NEAR = 1 << 4, DEEPEST = 10, LONGEST_CONSTANT = 1 << 16 };

/* The least and the greatest that a number may be. */
typedef struct Range {
    int64_t low, high;
} Range;

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* All numbers of the type; of more than 62 bits only those near 0 are known. */
static Range range_of_type(Element e)
{
    enum { MOST_BITS = 62 };
    int bits = element_info[e].bits;
    int64_t most = INT64_C(1) << (bits < MOST_BITS ? bits : MOST_BITS);
    bool is_signed = element_info[e].kind == SIGNED;
    if (bits > MOST_BITS)
        return (Range){ INT64_MIN, INT64_MAX };
    return is_signed ? (Range){ -most / 2, most / 2 - 1 } : (Range){ 0, most - 1 };
}

static Range range_of_constant(const Dense *c)
{
    int64_t n = c->is_splat ? 1 : type_count(c->type);
    Element e = c->type.element;
    Range r = { INT64_MAX, INT64_MIN };
    for (int64_t i = 0; i < n; i++) {
        int64_t x = number_int(e, (const char *)c->data + i * element_info[e].bytes);
        r = (Range){ smaller(r.low, x), larger(r.high, x) };
    }
    return r;
}

static bool is_within(Range r, Range all)
{
    return r.low >= all.low && r.high <= all.high;
}

static Range range_of(const Simplifier *s, ValueId v, int left);

static Range hull(Range a, Range b)
{
    return (Range){ smaller(a.low, b.low), larger(a.high, b.high) };
}

/* Of numbers that fit 31 bits, so that nothing here is too large for 64. */
static Range range_of_arithmetic(OpId op, Range a, Range b, Range all)
{
    Range few = { INT32_MIN, INT32_MAX }, r = all;
    if (!is_within(a, few) || !is_within(b, few))
        return all;
    if (op == OP_ADD)
        r = (Range){ a.low + b.low, a.high + b.high };
    if (op == OP_SUB)
        r = (Range){ a.low - b.high, a.high - b.low };
    if (op == OP_MUL) {
        int64_t x = a.low * b.low, y = a.low * b.high, z = a.high * b.low, w = a.high * b.high;
        r = (Range){ smaller(smaller(x, y), smaller(z, w)), larger(larger(x, y), larger(z, w)) };
    }
    return is_within(r, all) ? r : all; /* else it wraps */
}

/* Towards 0, by positive numbers. */
static Range range_of_division(OpId op, Range a, Range b, Range all)
{
    if (b.low <= 0)
        return all;
    if (op == OP_DIV)
        return (Range){ a.low / (a.low < 0 ? b.low : b.high),
                        a.high / (a.high < 0 ? b.high : b.low) };
    return (Range){ a.low < 0 ? larger(a.low, 1 - b.high) : 0,
                    a.high > 0 ? smaller(a.high, b.high - 1) : 0 };
}

/* Is a < b (1), never (0), or is it not known (-1)? */
static int is_less(Range a, Range b)
{
    return a.high < b.low ? 1 : a.low >= b.high ? 0 : -1;
}

static int not_known_or(int known)
{
    return known < 0 ? -1 : !known;
}

/* Whether the comparison holds: 1, 0, or -1: it is not known. */
static int compare_by_range(const Simplifier *s, const Node *node, int left)
{
    Element e = type_of(s->m, node->in[0]).element;
    if (element_info[e].kind != SIGNED && element_info[e].kind != BOOLEAN)
        return -1;
    int each = (left - 1) / 2;
    Range a = range_of(s, node->in[0], each), b = range_of(s, node->in[1], each);
    bool is_apart = a.high < b.low || b.high < a.low;
    bool is_same = a.low == a.high && b.low == b.high && a.low == b.low;
    switch (((const CompareAttrs *)node->attrs)->comparison_direction) {
    case LT: return is_less(a, b);
    case GT: return is_less(b, a);
    case GE: return not_known_or(is_less(a, b));
    case LE: return not_known_or(is_less(b, a));
    case EQ: return is_apart ? 0 : is_same ? 1 : -1;
    case NE: return is_apart ? 1 : is_same ? 0 : -1;
    default: return -1;
    }
}

static const Node *node_of(const Simplifier *s, ValueId v)
{
    NodeId def = value_def(s->m, subst_get(&s->map, v));
    return def ? node_at(s->m, def) : NULL;
}

static bool is_same_value(const Simplifier *s, ValueId v, ValueId w)
{
    return subst_get(&s->map, v) == subst_get(&s->map, w);
}

static bool is_zero(const Simplifier *s, ValueId v)
{
    Range r = range_of(s, v, NEAR);
    return r.low == 0 && r.high == 0;
}

/* Does `test` say that x < 0?  As numpy's remainder asks: (x < 0) != (d < 0) and x != 0, or less than that. */
static bool says_negative(const Simplifier *s, ValueId test, ValueId x, int depth)
{
    const Node *node = node_of(s, test);
    if (!node || depth >= DEEPEST || (node->op != OP_AND && node->op != OP_COMPARE))
        return false;
    if (node->op == OP_AND) {
        const Node *right = node_of(s, node->in[1]);
        return says_negative(s, node->in[0], x, depth + 1) && right && right->op == OP_COMPARE &&
               ((const CompareAttrs *)right->attrs)->comparison_direction == NE &&
               is_same_value(s, right->in[0], x) && is_zero(s, right->in[1]);
    }
    switch (((const CompareAttrs *)node->attrs)->comparison_direction) {
    case LT: return is_same_value(s, node->in[0], x) && is_zero(s, node->in[1]);
    case NE: return says_negative(s, node->in[0], x, depth + 1) && is_zero(s, node->in[1]);
    default: return false;
    }
}

/* r < 0 ? r + d : r, of a remainder r by a positive d. */
static bool is_floor_remainder(const Simplifier *s, const Node *select, Range *divisor)
{
    const Node *sum = node_of(s, select->in[1]), *rest = node_of(s, select->in[2]);
    if (!sum || !rest || sum->op != OP_ADD || rest->op != OP_REM ||
        !is_same_value(s, sum->in[0], select->in[2]) ||
        !is_same_value(s, sum->in[1], rest->in[1]) ||
        !says_negative(s, select->in[0], select->in[2], 0))
        return false;
    *divisor = range_of(s, rest->in[1], NEAR);
    return divisor->low > 0;
}

static Range range_of_select(const Simplifier *s, const Node *node, int left)
{
    int each = (left - 1) / 3;
    Range divisor, test = range_of(s, node->in[0], each);
    if (test.low == test.high)
        return range_of(s, node->in[test.low ? 1 : 2], each);
    if (is_floor_remainder(s, node, &divisor))
        return (Range){ 0, divisor.high - 1 };
    return hull(range_of(s, node->in[1], each), range_of(s, node->in[2], each));
}

static Range range_of_node(const Simplifier *s, const Node *node, Range all, int left)
{
    if (node->op == OP_SELECT)
        return range_of_select(s, node, left);
    if (node->op == OP_COMPARE) {
        int known = compare_by_range(s, node, left);
        return known < 0 ? all : (Range){ known, known };
    }
    Range a = all, b = all;
    int each = node->nin ? (left - 1) / node->nin : 0;
    if (node->nin > 0)
        a = range_of(s, node->in[0], each);
    switch (node->op) {
    case OP_IOTA: {
        Type t = type_of(s->m, node->out);
        a = (Range){ 0, t.dims[((const IotaAttrs *)node->attrs)->iota_dimension] - 1 };
        return is_within(a, all) ? a : all;
    }
    case OP_RESHAPE:
    case OP_BROADCAST:
    case OP_SLICE:
    case OP_REVERSE:
    case OP_TRANSPOSE: return a;
    case OP_CONVERT: return is_within(a, all) ? a : all;
    case OP_MAX:
        b = range_of(s, node->in[1], each);
        return (Range){ larger(a.low, b.low), larger(a.high, b.high) };
    case OP_MIN:
        b = range_of(s, node->in[1], each);
        return (Range){ smaller(a.low, b.low), smaller(a.high, b.high) };
    case OP_CLAMP: {
        Range x = range_of(s, node->in[1], each), c = range_of(s, node->in[2], each);
        return (Range){ smaller(larger(x.low, a.low), c.low),
                        smaller(larger(x.high, a.high), c.high) };
    }
    case OP_AND:
        b = range_of(s, node->in[1], each);
        if (a.low < 0 && b.low < 0)
            return all;
        return (Range){ 0, a.low < 0 ? b.high : b.low < 0 ? a.high : smaller(a.high, b.high) };
    case OP_ADD:
    case OP_SUB:
    case OP_MUL:
        b = range_of(s, node->in[1], each);
        return range_of_arithmetic(node->op, a, b, all);
    case OP_DIV:
    case OP_REM: b = range_of(s, node->in[1], each); return range_of_division(node->op, a, b, all);
    default: return all;
    }
}

/* Of booleans and integers of up to 63 bits; what else there is may be anything. */
static Range range_of(const Simplifier *s, ValueId v, int left)
{
    const Module *m = s->m;
    v = subst_get(&s->map, v);
    Element e = type_of(m, v).element;
    ElementInfo info = element_info[e];
    Range anything = { INT64_MIN, INT64_MAX };
    NodeId def = value_def(m, v);
    const Dense *constant = value_constant(m, v);
    uint64_t known;
    if ((info.kind != SIGNED && info.kind != UNSIGNED && info.kind != BOOLEAN) ||
        (info.kind == UNSIGNED && info.bits == 64)) /* the larger half of those has no place here */
        return anything;
    Range all = range_of_type(e);
    if (constant && info.bits <= 32 && type_count(constant->type) > 0 &&
        type_count(constant->type) <= LONGEST_CONSTANT)
        return range_of_constant(constant);
    if (constant && (constant->is_splat || type_count(constant->type) == 1) && info.kind == SIGNED)
        return range_of_constant(constant);
    if (table_get(&s->known_ranges, &v, sizeof v, &known))
        return *(const Range *)(uintptr_t)known;
    return def && left > 0 ? range_of_node(s, node_at(m, def), all, left) : all;
}

/* ---- what loops carry ---- */

static void know(Simplifier *s, ValueId v, Range r)
{
    Range *at = ARENA_NEW(s->m->arena, Range);
    *at = r;
    table_set(&s->known_ranges, &v, sizeof v, (uintptr_t)at);
}

/* What carried value `arg` of the condition may be where `test` holds, if r is all that it may be at all. */
static Range limited(const Simplifier *s, ValueId test, ValueId arg, Range r)
{
    const Node *node = node_of(s, test);
    if (node && node->op == OP_AND)
        return limited(s, node->in[0], arg, limited(s, node->in[1], arg, r));
    if (!node || node->op != OP_COMPARE || node->in[0] != arg ||
        element_info[type_of(s->m, arg).element].kind != SIGNED)
        return r;
    Range limit = range_of(s, node->in[1], FAR);
    switch (((const CompareAttrs *)node->attrs)->comparison_direction) {
    case LT: r.high = smaller(r.high, larger(limit.high, INT64_MIN + 1) - 1); break;
    case LE: r.high = smaller(r.high, limit.high); break;
    case GT: r.low = larger(r.low, smaller(limit.low, INT64_MAX - 1) + 1); break;
    case GE: r.low = larger(r.low, limit.low); break;
    default: break;
    }
    return r.low <= r.high ? r : (Range){ r.low, r.low };
}

/* Past what it was, to where it is sure to end. */
static Range widened(Range old, Range r, Range all)
{
    r.low = r.low >= old.low ? old.low : r.low >= 0 ? 0 : all.low;
    r.high = r.high <= old.high ? old.high : all.high;
    return r;
}

/* Counters of known loops need no search. */
static bool is_counter(const Simplifier *s, const Node *loop, int i, int64_t trips, Range *r)
{
    ValueId arg = region_at(s->m, loop->regions[1])->args + (ValueId)i;
    ValueId next = region_return(s->m, loop->regions[1])->in[i];
    Range start = range_of(s, loop->in[i], FAR), all = range_of_type(type_of(s->m, arg).element);
    int64_t step, far;
    if (trips < 0 || !is_counting(s->m, next, arg, &step) ||
        __builtin_mul_overflow(trips, step, &far) ||
        __builtin_add_overflow(start.high, far, &far) || far > all.high)
        return false;
    *r = (Range){ start.low, far };
    return true;
}

typedef struct Carried {
    bool is_tracked, is_counter;
    Range start, now;
} Carried;

/* In the condition all of it, in the body what the condition lets through. */
static void publish(Simplifier *s, const Node *loop, const Carried *list)
{
    ValueId cond = region_at(s->m, loop->regions[0])->args;
    ValueId body = region_at(s->m, loop->regions[1])->args;
    ValueId test = region_return(s->m, loop->regions[0])->in[0];
    for (int i = 0; i < loop->nin; i++)
        if (list[i].is_tracked)
            know(s, cond + (ValueId)i, list[i].now);
    for (int i = 0; i < loop->nin; i++)
        if (list[i].is_tracked)
            know(s, body + (ValueId)i, limited(s, test, cond + (ValueId)i, list[i].now));
}

/* One round more; true: nothing leaves its range.  Then each becomes what the round made of it, which may be
 * less, and holds as well. */
static bool holds(Simplifier *s, const Node *loop, Carried *list, bool widens)
{
    const Node *end = region_return(s->m, loop->regions[1]);
    Range *next = ARENA_ARRAY(s->m->arena, Range, loop->nin);
    bool holds = true;
    for (int i = 0; i < loop->nin; i++)
        if (list[i].is_tracked && !list[i].is_counter) {
            next[i] = hull(list[i].start, range_of(s, end->in[i], FAR));
            holds &= is_within(next[i], list[i].now);
        }
    for (int i = 0; i < loop->nin; i++)
        if (list[i].is_tracked && !list[i].is_counter) {
            Range all = range_of_type(type_of(s->m, loop->in[i]).element);
            Range both = hull(list[i].now, next[i]);
            list[i].now = holds ? next[i] : widens ? widened(list[i].now, both, all) : both;
        }
    return holds;
}

void know_carried_ranges(Simplifier *s, NodeId n)
{
    enum { ROUNDS = 12, PLAIN = 4, NARROWING = 3 };
    Node loop = *node_at(s->m, n);
    Carried *list = ARENA_ARRAY(s->m->arena, Carried, loop.nin);
    int64_t trips = loop_trips(s->m, &loop);
    int left = 0;
    for (int i = 0; i < loop.nin; i++) {
        ElementInfo info = element_info[type_of(s->m, loop.in[i]).element];
        Carried *c = &list[i];
        c->is_tracked = (info.kind == SIGNED || info.kind == UNSIGNED) && info.bits > 1 &&
                        !(info.kind == UNSIGNED && info.bits == 64);
        if (!c->is_tracked)
            continue;
        c->start = c->now = range_of(s, loop.in[i], FAR);
        c->is_counter = is_counter(s, &loop, i, trips, &c->now);
        left += !c->is_counter;
    }
    publish(s, &loop, list);
    bool is_stable = left == 0;
    for (int round = 0, more = NARROWING; round < ROUNDS && left && more; round++) {
        is_stable = holds(s, &loop, list, round >= PLAIN);
        more -= is_stable;
        publish(s, &loop, list);
    }
    for (int i = 0; i < loop.nin && !is_stable; i++)
        if (list[i].is_tracked && !list[i].is_counter)
            list[i].now = range_of_type(type_of(s->m, loop.in[i]).element);
    if (!is_stable)
        publish(s, &loop, list);
}

/* ---- rules ---- */

static ValueId put_number(Simplifier *s, Type type, int64_t x, const Loc *loc)
{
    void *at = arena_alloc(s->m->arena, sizeof x);
    number_set_int(type.element, x, at);
    return simplify_constant(s, (Dense){ type, true, at }, loc);
}

static ValueId put_two(Simplifier *s, OpId op, ValueId a, ValueId b, const Loc *loc)
{
    return simplify_put(s, op, 2, (ValueId[]){ a, b }, type_of(s->m, a), NULL, loc);
}

/* x < d ? x : x - d */
static ValueId put_rest_below_two(Simplifier *s, Node node, int64_t d)
{
    Type type = type_of(s->m, node.out), truth = type;
    const Loc *loc = node.loc;
    ValueId x = node.in[0];
    CompareAttrs *less = ARENA_NEW(s->m->arena, CompareAttrs);
    *less = (CompareAttrs){ .comparison_direction = LT, .compare_type = COMPARE_NOTYPE };
    truth.element = I1;
    ValueId by = put_number(s, type, d, loc);
    ValueId is_less = simplify_put(s, OP_COMPARE, 2, (ValueId[]){ x, by }, truth, less, loc);
    ValueId in[] = { is_less, x, put_two(s, OP_SUB, x, by, loc) };
    ValueId rest = simplify_put(s, OP_SELECT, 3, in, type, NULL, loc);
    know(s, rest, (Range){ 0, d - 1 });
    return rest;
}

/* x / d and x rem d where x is from 0 on and d one number. */
static ValueId simplify_division(Simplifier *s, Node node)
{
    Type type = type_of(s->m, node.out);
    ElementInfo info = element_info[type.element];
    ValueId x = node.in[0], divisor = node.in[1];
    const Loc *loc = node.loc;
    if ((info.kind != SIGNED && info.kind != UNSIGNED) || info.bits < 8)
        return 0;
    Range a = range_of(s, x, FAR), b = range_of(s, divisor, FAR);
    int64_t d = b.low;
    bool is_rest = node.op == OP_REM;
    if (a.low < 0 || d <= 0 || d != b.high)
        return 0;
    if (a.high < d)
        return is_rest ? x : put_number(s, type, 0, loc);
    if ((d & (d - 1)) == 0)
        return is_rest ? put_two(s, OP_AND, x, put_number(s, type, d - 1, loc), loc)
                       : put_two(s, OP_SHR_LOGICAL, x,
                                 put_number(s, type, __builtin_ctzll((uint64_t)d), loc), loc);
    return is_rest && a.high / 2 < d ? put_rest_below_two(s, node, d) : 0;
}

ValueId simplify_by_range(Simplifier *s, NodeId n)
{
    static const uint8_t answers[] = { 0, 1 };
    const Node *node = node_at(s->m, n);
    if (node->op == OP_DIV || node->op == OP_REM)
        return simplify_division(s, *node);
    int known = node->op == OP_COMPARE ? compare_by_range(s, node, FAR) : -1;
    if (known < 0)
        return 0;
    return simplify_constant(s, (Dense){ type_of(s->m, node->out), true, &answers[known] },
                             node->loc);
}
