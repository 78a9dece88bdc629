/* copy.c - the kernel that only copies: a slice of an operand, an operand with padding around it or with its
 * dimensions in another order, or operands joined along a dimension.
 *
 * In: a fusion of one slice, pad, transpose or concatenate.  Out: a call of numerics/plain_copy.c or plain_transpose.c,
 * if rows are long enough that compiled code would be no better; it takes LLVM far longer to compile than to run.  Of
 * many operands compiled code would ask for each element which it is of. */
#include "engine/kernels/kernels.h"

#include "engine/numerics/numerics.h"

#include <stddef.h>

/* Runs below this many bytes are left to vectors; so are arrays that are stored past the caches.  Of so few
 * operands compiled code is as fast. */
enum { SHORT_RUN = 64, LARGE = 32 << 20, FEW_OPERANDS = 4 };

typedef struct Copy {
    int64_t rank, fill, before, run, behind, begin;
    PlainCopyDim dims[MAX_RANK];
} Copy;

/* The first `rank` dimensions count the runs; those behind them lie within one. */
static void copy_dims(Copy *c, int rank, const PlainCopyDim *dims)
{
    c->rank = rank > 0 ? rank : 1;
    c->dims[0] = (PlainCopyDim){ .extent = 1, .count = 1 };
    for (int d = 0; d < rank; d++)
        c->dims[d] = dims[d];
}

static bool slice_copy(const SliceAttrs *a, Type in, Type out, Copy *c)
{
    PlainCopyDim dims[MAX_RANK];
    int64_t strides[MAX_RANK + 1];
    int last = -1;
    byte_strides(in, strides);
    for (int d = 0; d < in.rank; d++) {
        int64_t step = out.dims[d] > 1 ? a->strides.at[d] : 1; /* of one it may be any number */
        dims[d] = (PlainCopyDim){ out.dims[d], 0, out.dims[d], strides[d] * step };
        c->begin += a->start_indices.at[d] * strides[d];
        last = in.dims[d] != out.dims[d] ? d : last;
    }
    if (last < 0)
        return false;
    bool is_dense = a->strides.at[last] == 1 || out.dims[last] == 1;
    c->run = strides[last] * (is_dense ? out.dims[last] : 1);
    copy_dims(c, is_dense ? last : last + 1, dims);
    return true;
}

/* All bytes of the number are one: zero, or -1. */
static bool is_fill(const Dense *number, int64_t *fill)
{
    const uint8_t *bytes = number ? number->data : NULL;
    for (int i = 0; number && i < element_info[number->type.element].bytes; i++)
        if (bytes[i] != bytes[0])
            return false;
    *fill = number ? bytes[0] : 0;
    return number;
}

static bool pad_copy(const PadAttrs *a, Type in, const Dense *number, Copy *c)
{
    PlainCopyDim dims[MAX_RANK];
    int64_t strides[MAX_RANK + 1];
    int last = -1;
    byte_strides(in, strides);
    for (int d = 0; d < in.rank; d++) {
        int64_t low = a->edge_padding_low.at[d], high = a->edge_padding_high.at[d];
        if (low < 0 || high < 0 || a->interior_padding.at[d])
            return false;
        dims[d] = (PlainCopyDim){ low + in.dims[d] + high, low, in.dims[d], strides[d] };
        last = low || high ? d : last;
    }
    if (last < 0 || !is_fill(number, &c->fill))
        return false;
    c->before = a->edge_padding_low.at[last] * strides[last];
    c->run = in.dims[last] * strides[last];
    c->behind = a->edge_padding_high.at[last] * strides[last];
    copy_dims(c, last, dims);
    return true;
}

/* ---- dimensions in another order ---- */

typedef struct Transpose {
    int64_t bytes, rows, columns, in_step, out_step, rank;
    PlainTransposeDim dims[MAX_RANK];
} Transpose;

/* The dimensions of the result that are more than one, with their steps; those that lie together on both
 * sides are one. */
static int transpose_dims(const TransposeAttrs *a, Type in, Type out, PlainTransposeDim *dims)
{
    int64_t in_steps[MAX_RANK + 1], out_steps[MAX_RANK + 1];
    int n = 0;
    byte_strides(in, in_steps);
    byte_strides(out, out_steps);
    for (int d = 0; d < out.rank; d++) {
        PlainTransposeDim dim = { out.dims[d], in_steps[a->permutation.at[d]], out_steps[d] };
        if (dim.extent == 1)
            continue;
        if (n && dims[n - 1].in_step == dim.in_step * dim.extent)
            dim.extent *= dims[--n].extent;
        dims[n++] = dim;
    }
    return n;
}

/* Rows that stay whole are left to compiled code: what it copies of each is known to it. */
static bool transpose_find(const TransposeAttrs *a, Type in, Type out, Transpose *t)
{
    PlainTransposeDim dims[MAX_RANK];
    int n = transpose_dims(a, in, out, dims), bytes = element_info[in.element].bytes;
    *t = (Transpose){ .bytes = bytes };
    if (n < 2)
        return false;
    t->columns = dims[n - 1].extent;
    t->in_step = dims[n - 1].in_step;
    for (int d = 0; d < n - 1; d++) {
        if (dims[d].in_step != bytes) {
            t->dims[t->rank++] = dims[d];
            continue;
        }
        t->rows = dims[d].extent;
        t->out_step = dims[d].out_step;
    }
    return bytes <= 8 && t->rows * bytes >= PLAIN_SIDE && t->columns * bytes >= PLAIN_SIDE;
}

/* ---- what the kernel is ---- */

/* The one operation that the kernel is; NULL: it is more. */
static const Node *lone_node(const Module *m, RegionId r)
{
    const Region *region = region_at(m, r);
    const Node *end = region_return(m, r), *found = NULL;
    for (int i = 0; i < region->nnodes - 1; i++) {
        const Node *node = node_at(m, region->nodes[i]);
        if (node->op == OP_CONSTANT)
            continue;
        if (found)
            return NULL;
        found = node;
    }
    return found && end->nin == 1 && end->in[0] == found->out && found->nin ? found : NULL;
}

/* t->rows: 0, it is no transpose. */
static bool copy_find(const Module *m, RegionId r, Copy *c, Transpose *t)
{
    const Node *node = lone_node(m, r);
    *c = (Copy){ 0 };
    *t = (Transpose){ 0 };
    if (!node || region_at(m, r)->nargs != 1 || node->in[0] != region_at(m, r)->args)
        return false;
    Type in = type_of(m, node->in[0]), out = type_of(m, node->out);
    if (!type_count(in) || !type_count(out) || type_bytes(in) + type_bytes(out) >= LARGE)
        return false;
    switch (node->op) {
    case OP_TRANSPOSE: return transpose_find(node->attrs, in, out, t);
    case OP_SLICE: return slice_copy(node->attrs, in, out, c) && c->run >= SHORT_RUN;
    case OP_PAD:
        return pad_copy(node->attrs, in, value_constant(m, node->in[1]), c) && c->run >= SHORT_RUN;
    default: return false;
    }
}

/* The concatenate that the kernel is, of the kernel's operands; NULL: it is another, or made of short runs. */
static const Node *join_find(const Module *m, RegionId r, PlainJoin *join)
{
    const Node *node = lone_node(m, r);
    const Region *region = region_at(m, r);
    if (!node || node->op != OP_CONCATENATE)
        return NULL;
    Type out = type_of(m, node->out);
    int64_t d = ((const DimensionAttrs *)node->attrs)->dimension;
    *join = (PlainJoin){ .n = node->nin, .rows = 1 };
    for (int i = 0; i < d; i++)
        join->rows *= out.dims[i];
    for (int i = 0; i < node->nin; i++) {
        int64_t bytes = (int64_t)type_bytes(type_of(m, node->in[i]));
        bool is_operand =
            node->in[i] >= region->args && node->in[i] < region->args + (ValueId)region->nargs;
        if (!is_operand || bytes < SHORT_RUN * join->rows)
            return NULL;
    }
    bool is_small = node->nin > FEW_OPERANDS || 2 * type_bytes(out) < LARGE;
    return is_small && type_count(out) ? node : NULL;
}

bool copy_is_plain(const Emit *e, const Module *m, RegionId region)
{
    Copy c;
    Transpose t;
    PlainJoin join;
    const Node *joined = join_find(m, region, &join);
    return joined ? e->hurries || joined->nin > FEW_OPERANDS
                  : e->hurries && copy_find(m, region, &c, &t);
}

static void join_emit(Kernel *k, const Node *node, const PlainJoin *join)
{
    enum { FIELDS = offsetof(PlainJoin, runs) / sizeof(int64_t) };
    LLVMTypeRef ptr = LLVMPointerTypeInContext(k->c, 0), types[] = { ptr, ptr, ptr, ptr };
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(k->c), types, 4, false);
    int64_t *values = ARENA_ARRAY(k->arena, int64_t, FIELDS + node->nin);
    V operands = LLVMBuildAlloca(k->b, LLVMArrayType(ptr, (unsigned)node->nin), "");
    ValueId first = region_at(k->m, k->region)->args;
    values[0] = join->n;
    values[1] = join->rows;
    for (int i = 0; i < node->nin; i++) {
        values[FIELDS + i] = (int64_t)type_bytes(type_of(k->m, node->in[i])) / join->rows;
        LLVMBuildStore(k->b, k->ins[node->in[i] - first],
                       byte_offset(k, operands, i * (int64_t)sizeof(void *)));
    }
    V args[] = { k->frame, int64_table(k, FIELDS + node->nin, values), operands, k->outs[0] };
    V call = LLVMBuildCall2(k->b, type, runtime_function(k, offsetof(Runtime, join)), args, 4, "");
    for (int i = 0; i < node->nin; i++)
        bounds_touch(k->e, call, k->ins[node->in[i] - first], 0, values[FIELDS + i] * join->rows);
    bounds_touch(k->e, call, k->outs[0], 0, (int64_t)type_bytes(type_of(k->m, node->out)));
}

/* A call of a function of the runtime with a table of `n` numbers, the operand and the result. */
static void call_with_table(Kernel *k, size_t function, int n, const int64_t *values)
{
    LLVMTypeRef ptr = LLVMPointerTypeInContext(k->c, 0), types[] = { ptr, ptr, ptr, ptr };
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(k->c), types, 4, false);
    V args[] = { k->frame, int64_table(k, n, values), k->ins[0], k->outs[0] };
    V call = LLVMBuildCall2(k->b, type, runtime_function(k, function), args, 4, "");
    const Node *node = lone_node(k->m, k->region);
    bounds_touch(k->e, call, k->ins[0], 0, (int64_t)type_bytes(type_of(k->m, node->in[0])));
    bounds_touch(k->e, call, k->outs[0], 0, (int64_t)type_bytes(type_of(k->m, node->out)));
}

static void transpose_emit(Kernel *k, const Transpose *t)
{
    enum { FIELDS = offsetof(PlainTranspose, dims) / sizeof(int64_t), EACH = 3 };
    int64_t values[FIELDS + EACH * MAX_RANK] = { t->bytes,   t->rows,     t->columns,
                                                 t->in_step, t->out_step, t->rank };
    int n = FIELDS;
    for (int d = 0; d < t->rank; d++) {
        values[n++] = t->dims[d].extent;
        values[n++] = t->dims[d].in_step;
        values[n++] = t->dims[d].out_step;
    }
    call_with_table(k, offsetof(Runtime, transpose), n, values);
}

static void rows_emit(Kernel *k, const Copy *c)
{
    enum { FIELDS = offsetof(PlainCopy, dims) / sizeof(int64_t), EACH = 4 };
    int64_t values[FIELDS + EACH * MAX_RANK] = { c->rank, c->fill,   c->before,
                                                 c->run,  c->behind, c->begin };
    int n = FIELDS;
    for (int d = 0; d < c->rank; d++) {
        values[n++] = c->dims[d].extent;
        values[n++] = c->dims[d].low;
        values[n++] = c->dims[d].count;
        values[n++] = c->dims[d].step;
    }
    call_with_table(k, offsetof(Runtime, copy), n, values);
}

void plain_copy_emit(Kernel *k)
{
    Copy c;
    Transpose t;
    PlainJoin join;
    const Node *node = join_find(k->m, k->region, &join);
    if (node)
        join_emit(k, node, &join);
    else if (copy_find(k->m, k->region, &c, &t) && t.rows)
        transpose_emit(k, &t);
    else
        rows_emit(k, &c);
}
