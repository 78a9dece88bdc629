/* ranges.c - comparisons of integers that can only come out one way.
 *
 *     x < 0, of numbers that count, are cut off at 0, or are sums of such   ->  false
 *
 * JAX counts negative indices from the end: every x[i] asks whether i is one. */
#include "engine/passes/simplify/simplify.h"

#include "ops/number.h"

enum { DEEPEST = 8, LONGEST_CONSTANT = 1 << 16 };

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

static Range range_of(const Module *m, ValueId v, int depth);

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

static Range range_of_node(const Module *m, const Node *node, Range all, int depth)
{
    Range a = all, b = all;
    if (node->nin > 0)
        a = range_of(m, node->in[0], depth + 1);
    switch (node->op) {
    case OP_IOTA: {
        Type t = type_of(m, node->out);
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
        b = range_of(m, node->in[1], depth + 1);
        return (Range){ larger(a.low, b.low), larger(a.high, b.high) };
    case OP_MIN:
        b = range_of(m, node->in[1], depth + 1);
        return (Range){ smaller(a.low, b.low), smaller(a.high, b.high) };
    case OP_CLAMP: {
        Range x = range_of(m, node->in[1], depth + 1), c = range_of(m, node->in[2], depth + 1);
        return (Range){ smaller(larger(x.low, a.low), c.low),
                        smaller(larger(x.high, a.high), c.high) };
    }
    case OP_SELECT:
        a = range_of(m, node->in[1], depth + 1);
        b = range_of(m, node->in[2], depth + 1);
        return (Range){ smaller(a.low, b.low), larger(a.high, b.high) };
    case OP_ADD:
    case OP_SUB:
    case OP_MUL:
        b = range_of(m, node->in[1], depth + 1);
        return range_of_arithmetic(node->op, a, b, all);
    default: return all;
    }
}

/* Of booleans and integers of up to 63 bits; what else there is may be anything. */
static Range range_of(const Module *m, ValueId v, int depth)
{
    Element e = type_of(m, v).element;
    ElementInfo info = element_info[e];
    Range anything = { INT64_MIN, INT64_MAX };
    NodeId def = value_def(m, v);
    const Dense *constant = value_constant(m, v);
    if ((info.kind != SIGNED && info.kind != UNSIGNED && info.kind != BOOLEAN) ||
        (info.kind == UNSIGNED && info.bits == 64)) /* the larger half of those has no place here */
        return anything;
    Range all = range_of_type(e);
    if (constant && info.bits <= 32 && type_count(constant->type) > 0 &&
        type_count(constant->type) <= LONGEST_CONSTANT)
        return range_of_constant(constant);
    if (constant && (constant->is_splat || type_count(constant->type) == 1) && info.kind == SIGNED)
        return range_of_constant(constant);
    return def && depth < DEEPEST ? range_of_node(m, node_at(m, def), all, depth) : all;
}

/* Is a < b (1), never (0), or is it not known (-1)? */
static int is_less(Range a, Range b)
{
    return a.high < b.low ? 1 : a.low >= b.high ? 0 : -1;
}

ValueId simplify_compare(Simplifier *s, NodeId n)
{
    static const uint8_t answers[] = { 0, 1 };
    const Module *m = s->m;
    const Node *node = node_at(m, n);
    if (node->op != OP_COMPARE || element_info[type_of(m, node->in[0]).element].kind != SIGNED)
        return 0;
    Range a = range_of(m, node->in[0], 0), b = range_of(m, node->in[1], 0);
    int known = -1;
    switch (((const CompareAttrs *)node->attrs)->comparison_direction) {
    case LT: known = is_less(a, b); break;
    case GT: known = is_less(b, a); break;
    case GE: known = is_less(a, b) < 0 ? -1 : !is_less(a, b); break;
    case LE: known = is_less(b, a) < 0 ? -1 : !is_less(b, a); break;
    default: break;
    }
    if (known < 0)
        return 0;
    return simplify_constant(s, (Dense){ type_of(m, node->out), true, &answers[known] }, node->loc);
}
