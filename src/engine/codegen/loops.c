/* loops.c - loop nests.
 *
 * In: a shape, and what to do at an index.  Out: LLVM loops.  All extents are known, so a loop
 * runs at least once, and what does not fill a vector gets a body of its own, as wide as it is:
 *
 *     f32[3,5,35], width 16:   for i in 0..15 { for j in 0, 16 { 16 lanes }  3 lanes }
 *
 * or, where results may be stored twice, is a full vector that begins earlier (at 19).
 *
 * Neighbouring dimensions become one where nothing tells them apart (here 3 and 5); when all
 * do, the kernel is one flat loop over element numbers. */
#include "engine/codegen/codegen.h"

#include "base/table.h"
#include "engine/stages.h"

#include <string.h>

static void loop_open(Kernel *k, Loop *loop, V from, int ncarried, V *carried)
{
    LLVMBasicBlockRef before = LLVMGetInsertBlock(k->b);
    LLVMBasicBlockRef body = LLVMAppendBasicBlockInContext(k->c, k->function, "loop");
    loop->body = body;
    loop->ncarried = ncarried;
    LLVMBuildBr(k->b, body);
    LLVMPositionBuilderAtEnd(k->b, body);
    loop->i = LLVMBuildPhi(k->b, LLVMInt64TypeInContext(k->c), "i");
    LLVMAddIncoming(loop->i, &from, &before, 1);
    for (int c = 0; c < ncarried; c++) {
        loop->phis[c] = LLVMBuildPhi(k->b, LLVMTypeOf(carried[c]), "");
        LLVMAddIncoming(loop->phis[c], &carried[c], &before, 1);
        carried[c] = loop->phis[c];
    }
}

void loop_begin(Kernel *k, Loop *loop, int64_t n, int64_t step, int ncarried, V *carried)
{
    loop_between(k, loop, const_i64(k, 0), const_i64(k, n), step, ncarried, carried);
}

void loop_between(Kernel *k, Loop *loop, V from, V end, int64_t step, int ncarried, V *carried)
{
    *loop = (Loop){ .end = end, .step = step };
    loop_open(k, loop, from, ncarried, carried);
}

void loop_end(Kernel *k, Loop *loop, V *carried)
{
    LLVMBasicBlockRef last = LLVMGetInsertBlock(k->b);
    LLVMBasicBlockRef after = LLVMAppendBasicBlockInContext(k->c, k->function, "after");
    V next = LLVMBuildNUWAdd(k->b, loop->i, const_i64(k, loop->step), "");
    V more = LLVMBuildICmp(k->b, LLVMIntULT, next, loop->end, "");
    LLVMBuildCondBr(k->b, more, loop->body, after);
    LLVMAddIncoming(loop->i, &next, &last, 1);
    for (int c = 0; c < loop->ncarried; c++)
        LLVMAddIncoming(loop->phis[c], &carried[c], &last, 1);
    LLVMPositionBuilderAtEnd(k->b, after);
}

Coord loop_coord(const Loop *loop, int64_t step_of_lane)
{
    return (Coord){ .base = loop->i, .step = step_of_lane, .multiple = loop->step };
}

/* ---- which dimensions are one ---- */

static bool linear_uncached(const Kernel *k, ValueId v)
{
    NodeId n = value_def(k->m, v);
    Type type = type_of(k->m, v);
    if (!n || type_count(type) <= 1)
        return true;
    const Node *node = node_at(k->m, n);
    switch (node->op) {
    case OP_CONSTANT: return ((const ConstantAttrs *)node->attrs)->value.is_splat;
    case OP_IOTA: return type.rank == 1;
    case OP_RESHAPE: return is_linear(k, node->in[0]);
    case OP_BITCAST:
        return type_same_shape(type, type_of(k->m, node->in[0])) && is_linear(k, node->in[0]);
    case OP_BROADCAST: {
        Type in = type_of(k->m, node->in[0]);
        return type_count(in) == 1 || (type_same_shape(in, type) && node_is_alias(k->m, node) &&
                                       is_linear(k, node->in[0]));
    }
    default: break;
    }
    if (op_info[node->op].kind != KIND_MAP)
        return false;
    for (int i = 0; i < node->nin; i++)
        if (type_of(k->m, node->in[i]).rank == type.rank && !is_linear(k, node->in[i]))
            return false;
    return true;
}

bool is_linear(const Kernel *k, ValueId v)
{
    uint64_t known;
    if (table_get(k->linear, &v, sizeof v, &known))
        return known;
    bool answer = linear_uncached(k, v);
    table_set(k->linear, &v, sizeof v, answer);
    return answer;
}

/* Result dimensions d and d + 1 stay together if both are new, or if both come, whole, from
 * neighbours of an operand that is read by element numbers. */
static void join_broadcast(const Kernel *k, const Node *node, Type shape, bool *joined)
{
    const BroadcastAttrs *a = node->attrs;
    Type in = type_of(k->m, node->in[0]);
    bool whole = is_linear(k, node->in[0]);
    for (int d = 0; d + 1 < shape.rank; d++) {
        int x = ints_find(a->broadcast_dimensions, d);
        int y = ints_find(a->broadcast_dimensions, d + 1);
        x = x >= 0 && in.dims[x] == 1 ? -1 : x;
        y = y >= 0 && in.dims[y] == 1 ? -1 : y;
        joined[d] = joined[d] && ((x < 0 && y < 0) || (x >= 0 && y == x + 1 && whole));
    }
}

static void join_transpose(const Kernel *k, const Node *node, Type shape, bool *joined)
{
    const TransposeAttrs *a = node->attrs;
    bool whole = is_linear(k, node->in[0]);
    for (int d = 0; d + 1 < shape.rank; d++)
        joined[d] = joined[d] && whole && a->permutation.at[d + 1] == a->permutation.at[d] + 1;
}

static void join_value(const Kernel *k, ValueId v, Type shape, bool *joined, Table *seen)
{
    uint64_t was;
    if (is_linear(k, v) || table_get(seen, &v, sizeof v, &was))
        return;
    table_set(seen, &v, sizeof v, 1);
    const Node *node = node_at(k->m, value_def(k->m, v));
    if (op_info[node->op].kind == KIND_MAP) {
        for (int i = 0; i < node->nin; i++)
            if (type_of(k->m, node->in[i]).rank == shape.rank)
                join_value(k, node->in[i], shape, joined, seen);
        return;
    }
    int64_t dim = node->op == OP_IOTA ? ((const IotaAttrs *)node->attrs)->iota_dimension : 0;
    bool alike[MAX_RANK + 1];
    switch (node->op) {
    case OP_BROADCAST: join_broadcast(k, node, shape, joined); break;
    case OP_TRANSPOSE: join_transpose(k, node, shape, joined); break;
    case OP_IOTA:
        joined[dim] = false;
        if (dim > 0)
            joined[dim - 1] = false;
        break;
    default:
        view_joins(k->m, node, alike);
        for (int d = 0; d + 1 < shape.rank; d++)
            joined[d] = joined[d] && alike[d];
        for (int i = 0; i < node->nin; i++)
            if (type_of(k->m, node->in[i]).rank == shape.rank)
                join_value(k, node->in[i], shape, joined, seen);
    }
}

void joinable(const Kernel *k, int n, const ValueId *values, Type shape, bool *joined)
{
    Table seen = { 0 };
    for (int i = 0; i < n; i++)
        join_value(k, values[i], shape, joined, &seen);
    table_free(&seen);
}

/* ---- nests ---- */

/* The shape with joined dimensions as one; extents of 1 go with their neighbour, and those on both sides of
 * them are one if all between are. */
Type joined_shape(Kernel *k, Type shape, const bool *joined)
{
    int64_t dims[MAX_RANK + 1];
    bool is_one = false;
    int rank = 0;
    for (int d = 0; d < shape.rank; d++) {
        is_one = is_one && joined[d - 1];
        if (shape.dims[d] == 1)
            continue;
        if (is_one)
            dims[rank - 1] *= shape.dims[d];
        else
            dims[rank++] = shape.dims[d];
        is_one = true;
    }
    if (!rank)
        dims[rank++] = 1;
    return type_new(k->arena, shape.element, rank, dims);
}

static void body_at(Kernel *k, Type shape, Type nest, const Coord *outer, Coord inner, int lanes,
                    LoopBody *body, void *user)
{
    memo_clear(k);
    k->lanes = lanes;
    Index *in_nest = index_new(k, nest, lanes);
    for (int d = 0; d + 1 < nest.rank; d++)
        index_set(in_nest, d, outer[d]);
    index_set(in_nest, nest.rank - 1, inner);
    body(k, index_reshape(k, in_nest, shape), user);
}

/* The innermost loop. */
typedef struct Row {
    Kernel *k;
    Type shape, nest;
    const Box *box;
    const Coord *outer;
    bool is_cut;
    LoopBody *body;
    void *user;
} Row;

/* A coordinate of the loops within the box: how far behind its first, as a coordinate of the nest. */
static Coord coord_in_box(Kernel *k, const Box *box, int d, Coord c, int lanes)
{
    c = coord_add_const(k, c, box->from[d], lanes);
    c.along = d + 1;
    c.scale = 1;
    c.offset = 0;
    return c;
}

static void row_at(const Row *r, Coord inner, int lanes)
{
    inner = coord_in_box(r->k, r->box, r->nest.rank - 1, inner, lanes);
    body_at(r->k, r->shape, r->nest, r->outer, inner, lanes, r->body, r->user);
}

static void row_over(const Row *r)
{
    Kernel *k = r->k;
    int last = r->nest.rank - 1;
    int64_t n = r->box->to[last] - r->box->from[last], full = n / k->width * k->width;
    if (full == k->width) {
        row_at(r, (Coord){ const_i64(k, 0), 1, 0, NULL }, k->width);
    } else if (full) {
        Loop inner;
        if (r->is_cut)
            slice_loop(k, &inner, full, k->width);
        else
            loop_begin(k, &inner, full, k->width, 0, NULL);
        row_at(r, loop_coord(&inner, 1), k->width);
        loop_end(k, &inner, NULL);
    }
    if (full == n)
        return;
    if (full && k->repeats && !r->is_cut) {
        int64_t first = n - k->width;
        row_at(r, (Coord){ const_i64(k, first), 1, first, NULL }, k->width);
        return;
    }
    LLVMBasicBlockRef after = r->is_cut ? last_slice_begin(k) : NULL;
    row_at(r, (Coord){ const_i64(k, full), 1, full, NULL }, (int)(n - full));
    if (after)
        last_slice_end(k, after);
}

/* Leading dimensions whose loops become one, so that it has enough rounds to be split; 1: none do. */
static int leading_for_slices(const Kernel *k, int n, const int64_t *counts)
{
    int joined = 0;
    int64_t rounds = 1;
    while (joined < n && 2 * rounds < k->wanted)
        rounds *= counts[joined++];
    return 2 * rounds < k->wanted ? 1 : joined;
}

/* Loop number 0 over `joined` dimensions at once: a round's coordinates are its number divided. */
static void leading_begin(Kernel *k, OuterLoops *o, int joined, const int64_t *counts, Coord *at)
{
    int64_t rounds = 1;
    for (int d = 0; d < joined; d++)
        rounds *= counts[d];
    slice_loop(k, &o->loops[o->n++], rounds, 1);
    V left = o->loops[0].i;
    for (int d = joined - 1; d >= 0; d--) {
        V count = const_i64(k, counts[d]);
        at[d] = coord_uniform(k, d ? LLVMBuildURem(k->b, left, count, "") : left);
        left = LLVMBuildUDiv(k->b, left, count, "");
    }
}

bool outer_begin(Kernel *k, OuterLoops *o, int n, const int64_t *counts, int64_t inner, Coord *at)
{
    int64_t extents[MAX_RANK + 2];
    int joined = leading_for_slices(k, n, counts), cut = -1, d = 0;
    o->n = 0;
    memcpy(extents, counts, sizeof *extents * (size_t)n);
    extents[n] = inner;
    if (joined > 1) {
        leading_begin(k, o, joined, counts, at);
        d = joined;
    } else {
        cut = slices_choose(k, n + 1, extents);
    }
    for (; d < n; d++) {
        if (counts[d] == 1) {
            at[d] = coord_const(k, 0);
            continue;
        }
        Loop *loop = &o->loops[o->n++];
        if (d == cut)
            slice_loop(k, loop, counts[d], 1);
        else
            loop_begin(k, loop, counts[d], 1, 0, NULL);
        at[d] = loop_coord(loop, 0);
    }
    return cut == n;
}

void outer_end(Kernel *k, OuterLoops *o)
{
    while (o->n > 0)
        loop_end(k, &o->loops[--o->n], NULL);
}

void loop_over_box(Kernel *k, Type shape, Type nest, Box *box, LoopBody *body, void *user)
{
    int depth = nest.rank - 1;
    OuterLoops loops;
    Coord outer[MAX_RANK + 1];
    int64_t counts[MAX_RANK + 1];
    for (int d = 0; d <= depth; d++)
        counts[d] = box->to[d] - box->from[d];
    bool is_cut = outer_begin(k, &loops, depth, counts, counts[depth] / k->width, outer);
    for (int d = 0; d < depth; d++)
        outer[d] = coord_in_box(k, box, d, outer[d], 1);
    Row row = { k, shape, nest, box, outer, is_cut, body, user };
    row_over(&row);
    outer_end(k, &loops);
}

void loop_over(Kernel *k, Type shape, const bool *joined, LoopBody *body, void *user)
{
    if (type_count(shape) == 0)
        return;
    Type nest = joined_shape(k, shape, joined);
    Box whole = { .asked = -1 };
    memcpy(whole.to, nest.dims, sizeof *nest.dims * (size_t)nest.rank);
    loop_over_box(k, shape, nest, &whole, body, user);
}

/* ---- copies ---- */

void copy_vector(Kernel *k, V to, V from, V at, int bytes)
{
    LLVMTypeRef i8 = int_type(k, 8);
    LLVMTypeRef type = lanes_of(i8, bytes);
    V v = LLVMBuildLoad2(k->b, type, LLVMBuildInBoundsGEP2(k->b, i8, from, &at, 1, ""), "");
    LLVMSetAlignment(v, 1);
    V s = LLVMBuildStore(k->b, v, LLVMBuildInBoundsGEP2(k->b, i8, to, &at, 1, ""));
    LLVMSetAlignment(s, 1);
}

void copy_emit(Kernel *k, V to, V from, size_t bytes)
{
    enum { SHARED_COPY = 1 << 20 }; /* a worker that helps is worth its while */
    int vector = k->e->vector_bytes;
    int64_t full = (int64_t)bytes / vector * vector;
    if (full >= SHARED_COPY) {
        copy_by_slices(k, to, from, full);
    } else if (full) {
        Loop loop;
        loop_begin(k, &loop, full, vector, 0, NULL);
        copy_vector(k, to, from, loop.i, vector);
        loop_end(k, &loop, NULL);
    }
    for (int64_t at = full, left = (int64_t)bytes - full; left;) {
        int size = 1;
        while (size * 2 <= left)
            size *= 2;
        copy_vector(k, to, from, const_i64(k, at), size);
        at += size;
        left -= size;
    }
}
