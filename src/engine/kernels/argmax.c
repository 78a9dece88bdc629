/* argmax.c - the largest or smallest of a row and where it stands: argmax and argmin.
 *
 * In: a reduce of values beside their numbers along the row, with a region like
 *
 *     better = v > w or v is NaN          first = better or (v = w and i < j)
 *     (better ? v : w,  first ? i : j)
 *
 * Out: whether it is that.  Then the result is the greatest under an order of all pairs (NaN is
 * above all numbers, and of equals the one with the lower number is above), so pairs may be
 * combined in any order, which plain folding in sequence could not. */
#include "engine/kernels/kernels.h"

#include "ops/number.h"

#include <math.h>
#include <string.h>

/* Values of the region: v and i of the one side, w and j of the other. */
typedef struct Match {
    const Module *m;
    ValueId v, i, w, j;
    bool is_float;
    int direction; /* GT or LT */
} Match;

static const Node *node_of(const Module *m, ValueId value, OpId op)
{
    NodeId n = value_def(m, value);
    return n && node_at(m, n)->op == op ? node_at(m, n) : NULL;
}

static bool is_compare(const Match *x, ValueId value, int direction, ValueId a, ValueId b)
{
    const Node *node = node_of(x->m, value, OP_COMPARE);
    const CompareAttrs *attrs = node ? node->attrs : NULL;
    return node && attrs->comparison_direction == direction &&
           attrs->compare_type != COMPARE_TOTALORDER && node->in[0] == a && node->in[1] == b;
}

typedef bool Test(const Match *x, ValueId value);

/* Is it `op` of two values, one that passes the first test and one that passes the second? */
static bool is_pair(const Match *x, ValueId value, OpId op, Test *first, Test *second)
{
    const Node *node = node_of(x->m, value, op);
    return node && ((first(x, node->in[0]) && second(x, node->in[1])) ||
                    (first(x, node->in[1]) && second(x, node->in[0])));
}

static bool is_beyond(const Match *x, ValueId value)
{
    return is_compare(x, value, x->direction, x->v, x->w);
}

static bool is_nan_test(const Match *x, ValueId value)
{
    return is_compare(x, value, NE, x->v, x->v);
}

static bool is_better(const Match *x, ValueId value)
{
    return is_pair(x, value, OP_OR, is_beyond, is_nan_test) ||
           (!x->is_float && is_beyond(x, value));
}

static bool is_equal(const Match *x, ValueId value)
{
    return is_compare(x, value, EQ, x->v, x->w);
}

static bool is_lower(const Match *x, ValueId value)
{
    return is_compare(x, value, LT, x->i, x->j);
}

static bool is_tie(const Match *x, ValueId value)
{
    return is_pair(x, value, OP_AND, is_equal, is_lower);
}

static bool is_first(const Match *x, ValueId value)
{
    return is_pair(x, value, OP_OR, is_better, is_tie);
}

static bool is_choice(const Match *x, ValueId value, Test *test, ValueId a, ValueId b)
{
    const Node *node = node_of(x->m, value, OP_SELECT);
    return node && test(x, node->in[0]) && node->in[1] == a && node->in[2] == b;
}

/* Does the initial value lie below all others?  Any integer may, since of equals any will do. */
static bool starts_below(const Module *m, ValueId initial, bool is_max)
{
    const Dense *d = value_constant(m, initial);
    Element e = type_of(m, initial).element;
    if (element_info[e].kind != FLOAT)
        return true;
    return d && number_float(e, d->data) == (is_max ? -INFINITY : INFINITY);
}

/* Numbers count up from 0 along the one dimension that is reduced. */
static bool counts_up(const Module *m, const Node *node)
{
    static const char zero[8];
    const DimensionsAttrs *a = node->attrs;
    const Node *iota = node_of(m, node->in[1], OP_IOTA);
    const Dense *start = value_constant(m, node->in[3]);
    bool is_zero =
        start && !memcmp(start->data, zero, (size_t)element_info[start->type.element].bytes);
    return iota && is_zero && a->dimensions.n == 1 &&
           ((const IotaAttrs *)iota->attrs)->iota_dimension == a->dimensions.at[0];
}

int arg_direction(const Module *m, NodeId reduce)
{
    const Node *node = node_at(m, reduce);
    Element e = type_of(m, node->in[0]).element;
    if (node->op != OP_REDUCE || node->nout != 2 || is_complex(e) || !counts_up(m, node))
        return -1;
    ValueId args = region_at(m, node->regions[0])->args;
    const Node *end = region_return(m, node->regions[0]);
    Match x = { m, args, args + 1, args + 2, args + 3, element_info[e].kind == FLOAT, GT };
    for (int i = 0; i < 2; i++, x.direction = LT)
        if (is_choice(&x, end->in[0], is_better, x.v, x.w) &&
            is_choice(&x, end->in[1], is_first, x.i, x.j) &&
            starts_below(m, node->in[2], x.direction == GT))
            return x.direction;
    return -1;
}

static V either(Kernel *k, V a, V b)
{
    return LLVMBuildOr(k->b, a, b, "");
}

static V both(Kernel *k, V a, V b)
{
    return LLVMBuildAnd(k->b, a, b, "");
}

static void take(Kernel *k, V takes, V *acc, const V *next)
{
    for (int i = 0; i < 2; i++)
        acc[i] = arith_select(k, takes, next[i], acc[i]);
}

void arg_combine(Kernel *k, const Fold *f, V *acc, const V *next)
{
    const Reduce *r = f->user;
    Element e = r->e, number = element_of(k, node_at(k->m, r->node)->in[1]);
    V is_beyond = arith_compare(k, e, r->direction, false, next[0], acc[0]);
    V is_same = arith_compare(k, e, EQ, false, next[0], acc[0]);
    if (is_float(e)) {
        V old = is_nan(k, acc[0]), fresh = is_nan(k, next[0]);
        is_beyond = either(k, is_beyond, both(k, fresh, LLVMBuildNot(k->b, old, "")));
        is_same = either(k, is_same, both(k, fresh, old));
    }
    V is_lower = arith_compare(k, number, LT, false, next[1], acc[1]);
    take(k, either(k, is_beyond, both(k, is_same, is_lower)), acc, next);
}

/* What comes later must be beyond, or the first NaN. */
void arg_step(Kernel *k, const Fold *f, V *acc, const V *next)
{
    const Reduce *r = f->user;
    if (!is_float(r->e)) {
        take(k, arith_compare(k, r->e, r->direction, false, next[0], acc[0]), acc, next);
        return;
    }
    V unless = LLVMBuildFCmp(k->b, LLVMRealORD, acc[0], acc[0], "");
    LLVMRealPredicate how = r->direction == GT ? LLVMRealULT : LLVMRealUGT;
    take(k, both(k, LLVMBuildFCmp(k->b, how, acc[0], next[0], ""), unless), acc, next);
}
