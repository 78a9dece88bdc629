/* known_numbers.c - integers that follow from where they stand.
 *
 *     x[i * 128 + j], of rows i and columns j     iota * 128 + iota: neighbours in a row are neighbours in x
 *
 * In: a value that is to be a coordinate, and an index into it.  Out: the coordinate, if it is a sum of multiples
 * of the index's own, as coordinates of views are; so what is found by such numbers is loaded as a view is, and not
 * gathered.  Numbers that would be cut off at an array's ends are not known: their range is told. */
#include "engine/codegen/codegen.h"

#include "ops/number.h"

enum { DEEPEST = 12, LONGEST_CONSTANT = 1 << 12 };

static bool fits(Element e, int64_t low, int64_t high)
{
    int bits = element_info[e].bits < 62 ? element_info[e].bits : 62;
    bool is_signed = element_info[e].kind == SIGNED;
    int64_t most = (INT64_C(1) << (is_signed ? bits - 1 : bits)) - 1;
    return bits > 1 && low >= (is_signed ? -most - 1 : 0) && high <= most;
}

static bool find(Kernel *k, ValueId v, Index *at, int depth, KnownNumber *x);

/* One of the index's own coordinates, times `by`; extent: how many there are. */
static bool add_coordinate(Kernel *k, KnownNumber *x, Coord c, int64_t extent, int64_t by,
                           int lanes)
{
    int64_t end = (extent - 1) * by;
    if (c.vector)
        return false;
    x->at = coord_add(k, x->at, coord_mul_const(k, c, by, lanes), lanes);
    x->low += end < 0 ? end : 0;
    x->high += end > 0 ? end : 0;
    return true;
}

static int64_t constant_at(const Dense *c, int64_t i)
{
    return number_int(c->type.element,
                      (const char *)c->data + i * element_info[c->type.element].bytes);
}

/* Are the constant's elements the first one, and steps[d] more for each place along d?  Larger ones than 32
 * bits hold are no coordinates. */
static bool has_steps(const Dense *c, int64_t *steps)
{
    int64_t strides[MAX_RANK + 1], n = type_count(c->type);
    for (int64_t i = 0; i < n; i++)
        if (!fits(I32, constant_at(c, i), constant_at(c, i)))
            return false;
    type_strides(c->type, strides);
    for (int d = 0; d < c->type.rank; d++)
        steps[d] = c->type.dims[d] > 1 ? constant_at(c, strides[d]) - constant_at(c, 0) : 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t x = constant_at(c, 0);
        for (int d = 0; d < c->type.rank; d++)
            x += i / strides[d] % c->type.dims[d] * steps[d];
        if (x != constant_at(c, i))
            return false;
    }
    return true;
}

static bool of_constant(Kernel *k, const Dense *c, Index *at, KnownNumber *x)
{
    int64_t steps[MAX_RANK + 1], n = type_count(c->type);
    bool is_one = c->is_splat || n == 1;
    if (n == 0 || (!is_one && (n > LONGEST_CONSTANT || !has_steps(c, steps))))
        return false;
    int64_t first = constant_at(c, 0);
    *x = (KnownNumber){ coord_const(k, first), first, first };
    for (int d = 0; !is_one && d < c->type.rank; d++)
        if (steps[d] &&
            !add_coordinate(k, x, index_at(k, at, d), c->type.dims[d], steps[d], at->lanes))
            return false;
    return true;
}

static bool of_iota(Kernel *k, const Node *node, Index *at, KnownNumber *x)
{
    int d = (int)((const IotaAttrs *)node->attrs)->iota_dimension;
    *x = (KnownNumber){ coord_const(k, 0), 0, 0 };
    return add_coordinate(k, x, index_at(k, at, d), at->dims[d], 1, at->lanes);
}

/* The column of a join that is asked for, if that is one for all lanes and known. */
static bool of_joined(Kernel *k, const Node *node, Index *at, int depth, KnownNumber *x)
{
    int d = (int)((const DimensionAttrs *)node->attrs)->dimension;
    Coord here = index_at(k, at, d);
    if (!coord_is_uniform(here) || !LLVMIsAConstantInt(here.base))
        return false;
    int64_t place = LLVMConstIntGetSExtValue(here.base);
    for (int i = 0; i < node->nin; i++) {
        Type in = type_of(k->m, node->in[i]);
        if (place >= 0 && place < in.dims[d]) {
            Index *to = index_new(k, in, at->lanes);
            for (int e = 0; e < at->rank; e++)
                index_set(to, e, e == d ? coord_const(k, place) : index_at(k, at, e));
            return find(k, node->in[i], to, depth, x);
        }
        place -= in.dims[d];
    }
    return false;
}

static bool of_broadcast(Kernel *k, const Node *node, Index *at, int depth, KnownNumber *x)
{
    Ints dims = ((const BroadcastAttrs *)node->attrs)->broadcast_dimensions;
    Type in = type_of(k->m, node->in[0]);
    Index *to = index_new(k, in, at->lanes);
    for (int d = 0; d < in.rank; d++)
        index_set(to, d, in.dims[d] == 1 ? coord_const(k, 0) : index_at(k, at, (int)dims.at[d]));
    return find(k, node->in[0], to, depth, x);
}

static bool of_two(Kernel *k, const Node *node, Index *at, int depth, KnownNumber *x)
{
    KnownNumber y;
    if (!find(k, node->in[0], at, depth, x) || !find(k, node->in[1], at, depth, &y))
        return false;
    if (node->op == OP_MUL) {
        bool is_by = y.low == y.high;
        KnownNumber by = is_by ? y : *x, of = is_by ? *x : y;
        int64_t n = by.low;
        if (by.low != by.high || !fits(I32, n, n) || !fits(I32, of.low, of.high))
            return false;
        *x = (KnownNumber){ coord_mul_const(k, of.at, n, at->lanes),
                            n < 0 ? of.high * n : of.low * n, n < 0 ? of.low * n : of.high * n };
        return true;
    }
    if (node->op == OP_SUB)
        y = (KnownNumber){ coord_mul_const(k, y.at, -1, at->lanes), -y.high, -y.low };
    *x = (KnownNumber){ coord_add(k, x->at, y.at, at->lanes), x->low + y.low, x->high + y.high };
    return true;
}

static bool of_node(Kernel *k, const Node *node, Index *at, int depth, KnownNumber *x)
{
    switch (node->op) {
    case OP_CONSTANT: return of_constant(k, &((const ConstantAttrs *)node->attrs)->value, at, x);
    case OP_IOTA: return of_iota(k, node, at, x);
    case OP_BROADCAST: return of_broadcast(k, node, at, depth, x);
    case OP_CONCATENATE: return of_joined(k, node, at, depth, x);
    case OP_RESHAPE:
        return find(k, node->in[0], index_reshape(k, at, type_of(k->m, node->in[0])), depth, x);
    case OP_CONVERT: return find(k, node->in[0], at, depth, x);
    case OP_ADD:
    case OP_SUB:
    case OP_MUL: return of_two(k, node, at, depth, x);
    default: return false;
    }
}

static bool find(Kernel *k, ValueId v, Index *at, int depth, KnownNumber *x)
{
    NodeId def = value_def(k->m, v);
    Element e = element_of(k, v);
    bool is_integer = element_info[e].kind == SIGNED || element_info[e].kind == UNSIGNED;
    return def && is_integer && depth < DEEPEST &&
           of_node(k, node_at(k->m, def), at, depth + 1, x) && fits(e, x->low, x->high) &&
           !x->at.vector;
}

bool known_number(Kernel *k, ValueId v, Index *at, KnownNumber *x)
{
    return !k->inlined && find(k, v, at, 0, x);
}
