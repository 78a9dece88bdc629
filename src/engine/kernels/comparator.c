/* comparator.c - which regions of a sort only compare numbers.
 *
 * In: a region over pairs of scalars (x0, y0, x1, y1, ...).  Out: keys, if it says
 *
 *     key(x) < key(y)                                           one key
 *     key(x) < key(y)  or  key(x) = key(y) and (the next key)   several
 *
 * where < may be > for a falling key, floats are compared in their total order, and key(x) is x, or
 * x with -0 made 0, with every nan made one, or both, as JAX writes it. */
#include "engine/kernels/query.h"

#include <string.h>

typedef struct Comparator {
    const Module *m;
    ValueId args; /* the region's first argument */
    int nargs;
} Comparator;

static const Node *node_of(const Comparator *c, ValueId v, OpId op)
{
    NodeId n = value_def(c->m, v);
    return n && node_at(c->m, n)->op == op ? node_at(c->m, n) : NULL;
}

static bool is_compare(const Comparator *c, ValueId v, int direction, ValueId a, ValueId b)
{
    const Node *n = node_of(c, v, OP_COMPARE);
    const CompareAttrs *attrs = n ? n->attrs : NULL;
    return n && attrs->comparison_direction == direction &&
           attrs->compare_type != COMPARE_TOTALORDER && n->in[0] == a && (!b || n->in[1] == b);
}

/* Is v 0, or the positive quiet nan? */
static bool is_constant(const Comparator *c, ValueId v, bool is_nan)
{
    static const uint64_t nans[ELEMENT_COUNT] = {
        [F16] = 0x7E00,
        [BF16] = 0x7FC0,
        [F32] = 0x7FC00000,
        [F64] = UINT64_C(0xFFF) << 51,
    };
    const Dense *dense = value_constant(c->m, v);
    if (!dense || dense->type.rank)
        return false;
    uint64_t bits = 0; /* little-endian */
    memcpy(&bits, dense->data, (size_t)element_info[dense->type.element].bytes);
    return bits == (is_nan ? nans[dense->type.element] : 0);
}

/* Whose key v is: the number of an argument, and what is made of it; -1: none. */
static int key_of(const Comparator *c, ValueId v, SortKey *key)
{
    for (int layers = 0; layers < 3; layers++) {
        if (v >= c->args && v < c->args + (ValueId)c->nargs)
            return (int)(v - c->args);
        const Node *n = node_of(c, v, OP_SELECT);
        if (!n)
            return -1;
        const Node *test = node_of(c, n->in[0], OP_COMPARE);
        ValueId x = test ? test->in[0] : 0;
        /* Nan is looked for in the argument itself or in what stands for it: both say the same. */
        if (test && is_compare(c, n->in[0], NE, x, x) && is_constant(c, n->in[1], true))
            key->one_nan = true;
        else if (test && is_compare(c, n->in[0], EQ, x, 0) && is_constant(c, test->in[1], false) &&
                 is_constant(c, n->in[1], false))
            key->one_zero = true;
        else
            return -1;
        SortKey ignored = { 0 };
        if (x != n->in[2] && key_of(c, x, &ignored) != key_of(c, n->in[2], &ignored))
            return -1;
        v = n->in[2];
    }
    return -1;
}

static bool is_ordering(Element e, int64_t compare_type)
{
    switch (element_info[e].kind) {
    case FLOAT: return compare_type == COMPARE_TOTALORDER;
    case SIGNED: return compare_type == COMPARE_SIGNED || compare_type == COMPARE_NOTYPE;
    default: return compare_type == COMPARE_UNSIGNED || compare_type == COMPARE_NOTYPE;
    }
}

/* Does v compare the keys of a pair in this direction (LT or EQ)?  Turned round, LT is a falling
 * key. */
static bool compares_keys(const Comparator *c, ValueId v, int direction, SortKey *key)
{
    const Node *n = node_of(c, v, OP_COMPARE);
    const CompareAttrs *attrs = n ? n->attrs : NULL;
    if (!n || (attrs->comparison_direction != direction &&
               !(direction == LT && attrs->comparison_direction == GT)))
        return false;
    Element e = type_of(c->m, n->in[0]).element;
    SortKey x = { 0 }, y = { 0 };
    int a = key_of(c, n->in[0], &x), b = key_of(c, n->in[1], &y);
    if (!sort_has_keys(e) || !is_ordering(e, attrs->compare_type) || a < 0 || b != (a ^ 1) ||
        x.one_zero != y.one_zero || x.one_nan != y.one_nan)
        return false;
    *key = x;
    key->array = a / 2;
    key->is_falling = direction == LT && (attrs->comparison_direction == GT) != (a & 1);
    return true;
}

static bool is_same_key(SortKey a, SortKey b)
{
    return a.array == b.array && a.one_zero == b.one_zero && a.one_nan == b.one_nan;
}

/* or(before, and(equal, next)), in any order of operands; returns next, or 0. */
static ValueId split_tie(const Comparator *c, ValueId v, SortKey *key)
{
    const Node *either = node_of(c, v, OP_OR);
    for (int i = 0; either && i < 2; i++) {
        const Node *tie = node_of(c, either->in[1 - i], OP_AND);
        if (!tie || !compares_keys(c, either->in[i], LT, key))
            continue;
        for (int j = 0; j < 2; j++) {
            SortKey equal;
            if (compares_keys(c, tie->in[j], EQ, &equal) && is_same_key(*key, equal))
                return tie->in[1 - j];
        }
    }
    return 0;
}

int comparator_keys(const Module *m, RegionId r, SortKey *keys)
{
    const Region *region = region_at(m, r);
    Comparator c = { m, region->args, region->nargs };
    ValueId v = region_return(m, r)->in[0];
    for (int n = 0; n < SORT_MOST_KEYS; n++) {
        if (compares_keys(&c, v, LT, &keys[n]))
            return n + 1;
        v = split_tie(&c, v, &keys[n]);
        if (!v)
            return 0;
    }
    return 0;
}
