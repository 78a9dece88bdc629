/* reductions.c - reductions that need less than they say, or are better said otherwise.
 *
 *     reduce of transpose x          ->  reduce of x over the dimensions as they lie
 *     reduce over extents of 1       ->  the initial value and the one element, combined
 *     reduce of much to few numbers  ->  reduce of 32 parts, then of what they give
 *
 * A sum may be added up in another order (docs/design: numbers), so that of a transposed array
 * walks through memory in order.  Bounds checks of indices come as reductions over an extent of 1.
 * Workers share a loop over results, so few results are one worker's, and few beside one another
 * leave lanes empty; the parts are as many as the shape says, whatever workers there are:
 *
 *     f32[16777216] -> f32[]      f32[32,524288] -> f32[32] -> f32[]
 *     f32[1048576,4] -> f32[4]    f32[32,8192,16] -> f32[32,16], f32[128,4] -> f32[4] */
#include "engine/passes/simplify/simplify.h"

#include "ops/number.h"

#include <math.h>
#include <string.h>

static Ints reduced_dimensions(const Node *node)
{
    return ((const DimensionsAttrs *)node->attrs)->dimensions;
}

static bool is_reduced(Ints dims, int64_t d)
{
    for (int i = 0; i < dims.n; i++)
        if (dims.at[i] == d)
            return true;
    return false;
}

/* Do the dimensions that are kept come in the same order before and after the transpose? */
static bool keeps_order(Ints permutation, Ints reduced)
{
    int64_t last = -1;
    for (int d = 0; d < permutation.n; d++) {
        if (is_reduced(reduced, d))
            continue;
        if (permutation.at[d] < last)
            return false;
        last = permutation.at[d];
    }
    return true;
}

/* Changes the node where it is: its result stays what it was. */
static void read_untransposed(Simplifier *s, NodeId n)
{
    Module *m = s->m;
    Node *node = node_at(m, n);
    NodeId from = value_def(m, node->in[0]);
    const Node *transpose = from ? node_at(m, from) : NULL;
    if (!transpose || transpose->op != OP_TRANSPOSE)
        return;
    Ints permutation = ((const TransposeAttrs *)transpose->attrs)->permutation;
    Ints reduced = reduced_dimensions(node);
    int64_t dims[MAX_RANK];
    if (!keeps_order(permutation, reduced))
        return;
    for (int i = 0; i < reduced.n; i++)
        dims[i] = permutation.at[reduced.at[i]];
    DimensionsAttrs *attrs = ARENA_NEW(m->arena, DimensionsAttrs);
    attrs->dimensions = ints_copy(m->arena, reduced.n, dims);
    node->in[0] = transpose->in[0];
    node->attrs = attrs;
}

static bool are_all_one(Type t, Ints dims)
{
    for (int i = 0; i < dims.n; i++)
        if (t.dims[dims.at[i]] != 1)
            return false;
    return true;
}

/* ---- much to few ---- */

enum { LANES = 16, MUCH = 1 << 18 };

static ValueId reshaped(Simplifier *s, ValueId v, int rank, const int64_t *dims, const Loc *loc)
{
    Type t = type_new(s->m->arena, type_of(s->m, v).element, rank, dims);
    return simplify_put(s, OP_RESHAPE, 1, &v, t, NULL, loc);
}

static double constant_number(Dense x)
{
    switch (element_info[x.type.element].kind) {
    case FLOAT: return number_float(x.type.element, x.data);
    case COMPLEX: return NAN;
    default: return (double)number_int(x.type.element, x.data);
    }
}

/* Taking the initial value in several times changes nothing. */
static bool takes_often(const Module *m, OpId op, ValueId initial)
{
    const Dense *constant = value_constant(m, initial);
    double x = constant ? constant_number(*constant) : NAN;
    switch (op) {
    case OP_MAX:
    case OP_MIN:
    case OP_AND:
    case OP_OR: return true;
    case OP_ADD:
    case OP_XOR: return x == 0;
    case OP_MUL: return x == 1;
    default: return false;
    }
}

/* Rounding the parts would lose digits of a sum that is kept wide until the end. */
static bool parts_are_exact(OpId op, Element e)
{
    ElementInfo info = element_info[e];
    return info.kind != COMPLEX &&
           (info.kind != FLOAT || info.bytes >= 4 || op == OP_MAX || op == OP_MIN);
}

/* Results that a loop could be split over are rows, and blocks of columns. */
static bool has_few_results(Type in, Ints reduced)
{
    enum { FEW = 8, COLUMNS = 128 };
    int64_t n = 1;
    for (int d = 0; d < in.rank; d++)
        if (!is_reduced(reduced, d) && (d + 1 < in.rank || in.dims[d] >= COLUMNS))
            n *= d + 1 < in.rank ? in.dims[d] : in.dims[d] / COLUMNS;
    return n < FEW;
}

/* Into how many equal parts, which have some rows each; 0: none. */
static int64_t parts_of(int64_t extent)
{
    enum { FEWEST = 16, BEST = 32, MOST = 64 };
    for (int64_t n = BEST; n <= MOST; n++)
        if (extent % n == 0 && extent >= 2 * n)
            return n;
    for (int64_t n = BEST - 1; n >= FEWEST; n--)
        if (extent % n == 0 && extent >= 2 * n)
            return n;
    return 0;
}

static ValueId reduce_by(Simplifier *s, ValueId v, ValueId initial, OpId op, Type result, int n,
                         const int64_t *dims, const Loc *loc)
{
    Module *m = s->m;
    DimensionsAttrs *attrs = ARENA_NEW(m->arena, DimensionsAttrs);
    attrs->dimensions = ints_copy(m->arena, n, dims);
    RegionId body = build_reducer(m, op, result.element, loc);
    NodeId reduce =
        node_new(m, OP_REDUCE, 2, (ValueId[]){ v, initial }, 1, &result, 1, &body, attrs, loc);
    simplify_visit(s, reduce);
    return subst_get(&s->map, node_at(m, reduce)->out);
}

/* Computed element by element from arrays of that shape: lanes may run over several rows. */
static bool is_plain(const Module *m, ValueId v, int depth)
{
    enum { DEEPEST = 8 };
    NodeId def = value_def(m, v);
    const Dense *constant = value_constant(m, v);
    if (!def || (constant && constant->is_splat) || type_of(m, v).rank == 0)
        return true;
    const Node *node = node_at(m, def);
    if (node->op == OP_BROADCAST)
        return type_count(type_of(m, node->in[0])) == 1;
    if (node->op == OP_RESHAPE)
        return depth < DEEPEST && is_plain(m, node->in[0], depth + 1);
    if (op_info[node->op].kind != KIND_MAP)
        return op_info[node->op].kind != KIND_VIEW && node->op != OP_CONSTANT;
    for (int i = 0; i < node->nin; i++)
        if (depth == DEEPEST || !is_plain(m, node->in[i], depth + 1))
            return false;
    return true;
}

/* How many rows of `columns` become one, so that a row fills lanes; 1: none. */
static int64_t rows_at_once(int64_t rows, int64_t columns)
{
    int64_t n = 1;
    while (n * columns % LANES && n < LANES)
        n *= 2;
    return n * columns % LANES == 0 && rows % n == 0 ? n : 1;
}

/* [.., e, ..], of which e is reduced, as [.., parts, e / parts, ..]. */
static ValueId reduce_in_parts(Simplifier *s, const Node *node, OpId op)
{
    Module *m = s->m;
    Type in = type_of(m, node->in[0]), out = type_of(m, node->out);
    Ints reduced = reduced_dimensions(node);
    int64_t dims[MAX_RANK], over[MAX_RANK], kept[MAX_RANK], part_at = 0;
    int at = 0, rank = 0, nover = 0, nkept = 0;
    while (at < in.rank && !(is_reduced(reduced, at) && parts_of(in.dims[at])))
        at++;
    if (at == in.rank || in.rank == MAX_RANK)
        return 0;
    int64_t parts = parts_of(in.dims[at]), rows = in.dims[at] / parts, once = 1;
    int64_t columns = in.dims[in.rank - 1];
    if (in.rank == 2 && reduced.n == 1 && at == 0 && columns < LANES && is_plain(m, node->in[0], 0))
        once = rows_at_once(rows, columns);
    for (int d = 0; d < in.rank; d++) {
        if (d == at) {
            part_at = nkept;
            kept[nkept++] = dims[rank++] = parts;
        }
        if (is_reduced(reduced, d))
            over[nover++] = rank;
        else
            kept[nkept++] = in.dims[d] * once;
        dims[rank++] = d == at ? rows / once : in.dims[d] * once;
    }
    ValueId v = reshaped(s, node->in[0], rank, dims, node->loc);
    v = reduce_by(s, v, node->in[1], op, type_new(m->arena, in.element, nkept, kept), nover, over,
                  node->loc);
    if (once > 1)
        v = reshaped(s, v, 2, (int64_t[]){ parts * once, columns }, node->loc);
    return reduce_by(s, v, node->in[1], op, out, 1, &part_at, node->loc);
}

ValueId simplify_reduce(Simplifier *s, NodeId n)
{
    Module *m = s->m;
    if (node_at(m, n)->op != OP_REDUCE || node_at(m, n)->nin != 2)
        return 0;
    read_untransposed(s, n);
    Node node = *node_at(m, n); /* a copy: nodes are added */
    Type result = type_of(m, node.out);
    OpId op = region_reducer(m, node.regions[0]);
    Type in = type_of(m, node.in[0]);
    Ints reduced = reduced_dimensions(&node);
    if (op != OP_COUNT && type_count(in) >= MUCH && reduced.n && has_few_results(in, reduced) &&
        takes_often(m, op, node.in[1]) && parts_are_exact(op, in.element))
        return reduce_in_parts(s, &node, op);
    if (op == OP_COUNT || !are_all_one(in, reduced))
        return 0;
    BroadcastAttrs *everywhere = ARENA_NEW(m->arena, BroadcastAttrs);
    ValueId operands[] = {
        simplify_put(s, OP_BROADCAST, 1, &node.in[1], result, everywhere, node.loc),
        simplify_put(s, OP_RESHAPE, 1, node.in, result, NULL, node.loc),
    };
    return simplify_put(s, op, 2, operands, result, NULL, node.loc);
}
