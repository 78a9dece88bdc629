/* reduce.c - the kernel whose root is a reduce.
 *
 * In: a reduce, its operands computed on the fly, and what its results still go through.
 * Out: loops by fold.c.  A region that is one operation with an identity (add, max ...) runs
 * with many accumulators; any other with one, which begins as the initial value.
 *
 * The largest of floats is NaN if any is.  To look at that in each step would be slow, so the
 * comparison ignores it, and a second accumulator remembers whether one was seen.
 *
 * The place of the largest (argmax.c) runs with many accumulators too, which all begin as the initial
 * values: to take those in several times changes nothing. */
#include "engine/kernels/kernels.h"

#include "engine/kernels/query.h"
#include "engine/numerics/numerics.h"
#include "engine/tensor.h"
#include "hlo/rewrite.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

static V identity_int(Kernel *k, OpId op, Element e, LLVMTypeRef type)
{
    int bits = element_info[e].bits;
    bool is_plain = is_unsigned(e);
    uint64_t ones = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    uint64_t most = is_plain ? ones : ones >> 1;
    switch (op) {
    case OP_MUL: return const_i(k, type, 1);
    case OP_AND: return const_i(k, type, e == I1 ? 1 : is_plain ? (int64_t)ones : -1);
    case OP_MAX: return const_i(k, type, is_plain ? 0 : -(int64_t)most - 1);
    case OP_MIN: return const_i(k, type, (int64_t)most);
    default: return const_i(k, type, 0);
    }
}

/* -0 for a sum: it leaves every number as it is, a -0 too. */
static V identity_float(Kernel *k, OpId op, LLVMTypeRef type)
{
    double value = op == OP_MUL ? 1 : op == OP_MAX ? -INFINITY : op == OP_MIN ? INFINITY : -0.0;
    return const_f(k, type, value);
}

static V identity(Kernel *k, OpId op, Element e)
{
    LLVMTypeRef type = lanes_of(part_type(k, e), k->lanes);
    if (is_complex(e))
        return complex_of(k, identity_float(k, op, type),
                          const_f(k, type, op == OP_MUL ? 0.0 : -0.0));
    return is_float(e) ? identity_float(k, op, type) : identity_int(k, op, e, type);
}

static bool has_identity(OpId op, Element e)
{
    switch (op) {
    case OP_ADD:
    case OP_MUL: return true;
    case OP_MAX:
    case OP_MIN: return !is_complex(e);
    case OP_AND:
    case OP_OR:
    case OP_XOR: return !is_float(e) && !is_complex(e);
    default: return false;
    }
}

V reduce_initial(Kernel *k, const Reduce *r, int i)
{
    const Node *node = node_at(k->m, r->node);
    return element(k, node->in[node->nin / 2 + i], index_scalar(k, k->lanes));
}

static void reduce_start(Kernel *k, const Fold *f, V *acc)
{
    const Reduce *r = f->user;
    bool is_neutral = f->has_identity && r->direction < 0;
    acc[0] = is_neutral ? identity(k, r->op, r->e) : reduce_initial(k, r, 0);
    if (r->is_extreme)
        acc[1] = LLVMConstNull(lanes_of(int_type(k, 1), k->lanes));
    for (int i = 1; i < f->n && !r->is_extreme; i++)
        acc[i] = reduce_initial(k, r, i);
}

/* The factors of a product that is rounded are made as anywhere else. */
static void make_factors(Kernel *k, ValueId product, Index *at)
{
    const Node *node = node_at(k->m, value_def(k->m, product));
    k->is_strict = false;
    for (int i = 0; i < node->nin; i++)
        element(k, node->in[i], at);
    k->is_strict = true;
}

static void reduce_values(Kernel *k, const Fold *f, Index *at, V *next)
{
    const Reduce *r = f->user;
    const Node *node = node_at(k->m, r->node);
    if (k->is_strict)
        make_factors(k, node->in[0], at);
    for (int i = 0; i < node->nout; i++)
        next[i] = r->at ? r->at(k, r, i, at) : element(k, node->in[i], at);
    if (r->is_extreme)
        next[1] = is_nan(k, next[0]);
}

static void extreme_combine(Kernel *k, const Reduce *r, V *acc, const V *next)
{
    LLVMRealPredicate how = r->op == OP_MAX ? LLVMRealOGT : LLVMRealOLT;
    V is_better = LLVMBuildFCmp(k->b, how, next[0], acc[0], "");
    acc[0] = LLVMBuildSelect(k->b, is_better, next[0], acc[0], "");
    acc[1] = LLVMBuildOr(k->b, acc[1], next[1], "");
}

/* Sums of f16 and bf16 are kept as f32 until the end. */
static void reduce_combine(Kernel *k, const Fold *f, V *acc, const V *next)
{
    const Reduce *r = f->user;
    if (r->is_extreme) {
        extreme_combine(k, r, acc, next);
        return;
    }
    V *args = ARENA_ARRAY(k->arena, V, 2 * f->n);
    for (int i = 0; i < f->n; i++) {
        args[i] = acc[i];
        args[f->n + i] = next[i];
    }
    k->accumulates = f->has_identity;
    region_inline(k, r->body, args, acc);
    k->accumulates = false;
}

static void reduce_done(Kernel *k, const Fold *f, Index *at, V *acc)
{
    const Reduce *r = f->user;
    const Node *node = node_at(k->m, r->node), *end = region_return(k->m, k->region);
    if (f->has_identity && r->direction < 0) {
        V first[2] = { reduce_initial(k, r, 0) };
        if (r->is_extreme)
            first[1] = is_nan(k, first[0]);
        reduce_combine(k, f, first, acc);
        if (r->is_extreme)
            first[0] = arith_select(k, first[1], const_f(k, LLVMTypeOf(first[0]), NAN), first[0]);
        acc[0] = finish(k, r->e, first[0]);
    }
    for (int i = 0; i < node->nout; i++)
        memo_set(k, node->out + (ValueId)i, at, acc[i]);
    V *results = ARENA_ARRAY(k->arena, V, end->nin);
    for (int i = 0; i < end->nin; i++)
        results[i] = element(k, end->in[i], at);
    for (int i = 0; i < end->nin && !k->error; i++)
        store_element(k, k->outs[i], element_of(k, end->in[i]), at, results[i]);
}

/* Operations for each term, by which a vector's code is long. */
static int weight_of(const Kernel *k)
{
    enum { FUNCTION = 12 }; /* a costly one is as many */
    const Region *region = region_at(k->m, k->region);
    int weight = 0;
    for (int i = 0; i < region->nnodes; i++)
        weight += is_costly(node_at(k->m, region->nodes[i])->op) ? FUNCTION : 1;
    return weight;
}

Fold reduce_fold(Kernel *k, Reduce *r)
{
    const Node *node = node_at(k->m, r->node);
    r->body = node->regions[0];
    r->op = region_reducer(k->m, r->body);
    r->e = element_of(k, node->in[0]);
    Fold f = { .out = type_of(k->m, node->out),
               .n = node->nout,
               .weight = weight_of(k),
               .user = r,
               .start = reduce_start,
               .values = reduce_values,
               .combine = reduce_combine,
               .done = reduce_done };
    r->direction = r->in_order ? -1 : arg_direction(k->m, r->node);
    f.has_identity = r->direction >= 0 || (!r->in_order && f.n == 1 && has_identity(r->op, r->e));
    f.is_rounded = f.has_identity && r->direction < 0 && r->op == OP_ADD &&
                   (is_float(r->e) || is_complex(r->e));
    if (r->direction >= 0) {
        f.combine = arg_combine;
        f.step = arg_step;
    }
    r->is_extreme =
        f.n == 1 && f.has_identity && is_float(r->e) && (r->op == OP_MAX || r->op == OP_MIN);
    f.n += r->is_extreme;
    if (2 * f.n > MAX_CARRIED)
        kernel_error(k, r->node, "more than 32 arrays at once");
    return f;
}

static bool is_broadcast(Kernel *k, ValueId v)
{
    NodeId of = value_def(k->m, v);
    return of && node_at(k->m, of)->op == OP_BROADCAST;
}

/* Whether XLA hands the sums of these products to its library, which adds a row's halves, their halves and so
 * on: those of each row of a large array, but for dots, whose factors are spread (expand_dots.c). */
static bool adds_by_halves(Kernel *k, const Fold *f, const Node *product)
{
    enum { LARGE = 4096 };
    return type_count(f->space) >= LARGE && type_count(f->out) > 1 &&
           f->reduced[f->space.rank - 1] && !is_broadcast(k, product->in[0]) &&
           !is_broadcast(k, product->in[1]);
}

/* Do all arrays lie as pairs of bf16 along the last dimension?  A vector of pairs is two of f32 at the cost of
 * a shift and a mask; one of single bf16 has to be widened as well. */
static bool reads_pairs(Kernel *k, Type space)
{
    const Region *region = region_at(k->m, k->region);
    int narrays = 0;
    for (int i = 0; i < region->nargs; i++) {
        Type type = type_of(k->m, region->args + (ValueId)i);
        narrays += type_count(type) > 1;
        if (type_count(type) > 1 && type.element != BF16)
            return false;
    }
    return narrays && space.rank && space.dims[space.rank - 1] % 2 == 0;
}

/* ---- sums and extremes that are made ready ---- */

/* Extents of which every second is reduced: as plain_reduce has them. */
typedef enum PlainExtent { PARTS, OUTER, REDUCED, INNER, EXTENTS } PlainExtent;

/* false: the dimensions do not lie so, or compiled code is better. */
static bool plain_extents(Type in, Ints reduced, int64_t extents[EXTENTS])
{
    bool is_reduced[MAX_RANK] = { 0 };
    int at = PARTS;
    for (int i = 0; i < reduced.n; i++)
        is_reduced[reduced.at[i]] = true;
    for (int i = 0; i < EXTENTS; i++)
        extents[i] = 1;
    for (int d = 0; d < in.rank; d++) {
        if (in.dims[d] == 1)
            continue;
        at += is_reduced[d] != (at % 2 == 0);
        if (at == EXTENTS)
            return false;
        extents[at] *= in.dims[d];
    }
    if (at == OUTER) { /* rows alone, or columns */
        extents[INNER] = extents[OUTER];
        extents[REDUCED] = extents[PARTS];
        extents[PARTS] = extents[OUTER] = 1;
    } else if (at == PARTS) {
        extents[REDUCED] = extents[PARTS];
        extents[PARTS] = 1;
    }
    for (int i = 0; i < EXTENTS; i++)
        if (!extents[i])
            return false;
    return extents[INNER] == 1 ? extents[REDUCED] >= PLAIN_ROW
                               : extents[REDUCED] >= PLAIN_ROWS && extents[INNER] >= PLAIN_COLUMNS;
}

static bool begins_as(const Dense *d, OpId op)
{
    double first = op == OP_ADD ? 0 : op == OP_MAX ? -INFINITY : INFINITY;
    return d && number_at((Tensor){ d->type, (void *)d->data }, 0) == first;
}

bool reduce_is_plain(const Module *m, RegionId region, NodeId root)
{
    const Node *node = root ? node_at(m, root) : NULL, *end = region_return(m, region);
    int64_t extents[EXTENTS];
    if (!node || node->op != OP_REDUCE || node->nout != 1 || end->nin != 1 ||
        end->in[0] != node->out || node->in[0] != region_at(m, region)->args)
        return false;
    OpId op = region_reducer(m, node->regions[0]);
    return plain_reduce_kind(op, type_of(m, node->out).element) >= 0 &&
           begins_as(value_constant(m, node->in[1]), op) &&
           plain_extents(type_of(m, node->in[0]),
                         ((const DimensionsAttrs *)node->attrs)->dimensions, extents);
}

static void plain_emit(Kernel *k, const Node *node)
{
    enum { ARGUMENTS = 8 };
    LLVMTypeRef i64 = int_type(k, 64), ptr = LLVMPointerTypeInContext(k->c, 0);
    LLVMTypeRef types[ARGUMENTS] = { ptr, i64, i64, i64, i64, i64, ptr, ptr };
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(k->c), types, ARGUMENTS, false);
    Type in = type_of(k->m, node->in[0]), out = type_of(k->m, node->out);
    int64_t extents[EXTENTS];
    plain_extents(in, ((const DimensionsAttrs *)node->attrs)->dimensions, extents);
    OpId op = region_reducer(k->m, node->regions[0]);
    V args[ARGUMENTS] = { k->frame,
                          const_i64(k, plain_reduce_kind(op, in.element)),
                          const_i64(k, extents[PARTS]),
                          const_i64(k, extents[OUTER]),
                          const_i64(k, extents[REDUCED]),
                          const_i64(k, extents[INNER]),
                          k->ins[0],
                          k->outs[0] };
    V reduce = runtime_function(k, offsetof(Runtime, reduce));
    V call = LLVMBuildCall2(k->b, type, reduce, args, ARGUMENTS, "");
    bounds_touch(k->e, call, k->ins[0], 0, (int64_t)type_bytes(in));
    bounds_touch(k->e, call, k->outs[0], 0, (int64_t)type_bytes(out));
}

void block_reduce(Kernel *k, NodeId root)
{
    const Node *node = node_at(k->m, root);
    const DimensionsAttrs *a = node->attrs;
    if (k->e->hurries && reduce_is_plain(k->m, k->region, root)) {
        plain_emit(k, node);
        return;
    }
    Reduce r = { .node = root };
    Fold f = reduce_fold(k, &r);
    if (k->error)
        return;
    f.space = type_of(k->m, node->in[0]);
    for (int i = 0; i < a->dimensions.n; i++)
        f.reduced[a->dimensions.at[i]] = true;
    for (int d = 0; d + 1 < f.space.rank; d++)
        f.joined[d] = f.reduced[d] == f.reduced[d + 1];
    joinable(k, node->nout, node->in, f.space, f.joined);
    f.by_pairs = !f.step && reads_pairs(k, f.space);
    NodeId of = value_def(k->m, node->in[0]);
    f.is_strict = f.is_rounded && of && node_at(k->m, of)->op == OP_MUL && fold_is_few(&f, r.e);
    f.in_order = f.is_strict && !adds_by_halves(k, &f, node_at(k->m, of));
    fold_emit(k, &f);
}
