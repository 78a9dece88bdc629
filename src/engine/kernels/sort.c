/* sort.c - the kernels whose root is a sort or a top_k.
 *
 * In: arrays of one shape, a dimension, and a region that says which element goes first.  Where the
 * region only compares numbers (comparator.c), out comes one call of the runtime for all lines
 * (numerics/numerics.h).  Else the region becomes a function  i8 less(ptr lines, i64 i, i64 j), and
 * every line along the dimension a call of the runtime's sort, which yields an order, and a loop
 * that moves the elements. */
#include "engine/kernels/kernels.h"
#include "engine/kernels/query.h"

#include <stddef.h>
#include <string.h>

typedef struct Sort {
    NodeId node;
    int n, dim; /* arrays */
    int64_t extent, stride;
    V less, lines; /* lines: where each array's line begins, an array of pointers; then the frame */
} Sort;

static V pointer_slot(Kernel *k, V lines, int i)
{
    return byte_offset(k, lines, (int64_t)sizeof(void *) * i);
}

/* Element number `i` of a line. */
static Index *on_line(Kernel *k, const Sort *s, V i)
{
    V number = LLVMBuildMul(k->b, i, const_i64(k, s->stride), "");
    Type line = type_of(k->m, node_at(k->m, s->node)->in[0]);
    return index_numbered(k, line, coord_uniform(k, number), 1);
}

static int64_t line_bytes(const Sort *s, Element e)
{
    return ((s->extent - 1) * s->stride + 1) * element_info[e].bytes;
}

static void less_bounds(Kernel *k, const Sort *s, V f)
{
    Text who = { 0 };
    if (!k->e->bounds)
        return;
    text_printf(&who, "the comparison of a sort at %s", loc_name(node_at(k->m, s->node)->loc));
    bounds_function(k->e, f, k->frame, text_cstr(&who));
    text_free(&who);
    bounds_array(k->e, LLVMGetParam(f, 0), (s->n + 1) * (int64_t)sizeof(void *), "its lines");
}

static V less_function(Kernel *k, const Sort *s)
{
    LLVMTypeRef ptr = LLVMPointerTypeInContext(k->c, 0), i64 = int_type(k, 64);
    LLVMTypeRef types[] = { ptr, i64, i64 };
    LLVMTypeRef type = LLVMFunctionType(int_type(k, 8), types, 3, false);
    V f = LLVMAddFunction(k->e->llvm, "less", type);
    LLVMSetLinkage(f, LLVMInternalLinkage);
    LLVMBasicBlockRef back = LLVMGetInsertBlock(k->b);
    LLVMPositionBuilderAtEnd(k->b, LLVMAppendBasicBlockInContext(k->c, f, "entry"));
    V outer = k->function, outer_frame = k->frame, result;
    V *args = ARENA_ARRAY(k->arena, V, 2 * s->n);
    k->function = f;
    k->frame = LLVMBuildLoad2(k->b, ptr, pointer_slot(k, LLVMGetParam(f, 0), s->n), "frame");
    k->lanes = 1;
    memo_clear(k);
    less_bounds(k, s, f);
    for (int i = 0; i < s->n; i++) {
        V line = LLVMBuildLoad2(k->b, ptr, pointer_slot(k, LLVMGetParam(f, 0), i), "");
        Element e = element_of(k, node_at(k->m, s->node)->in[i]);
        bounds_array(k->e, line, line_bytes(s, e), "a line of the array");
        for (int side = 0; side < 2; side++)
            args[2 * i + side] =
                load_element(k, line, e, on_line(k, s, LLVMGetParam(f, 1 + (unsigned)side)));
    }
    region_inline(k, node_at(k->m, s->node)->regions[0], args, &result);
    LLVMBuildRet(k->b, LLVMBuildZExt(k->b, result, int_type(k, 8), ""));
    k->function = outer;
    k->frame = outer_frame;
    LLVMPositionBuilderAtEnd(k->b, back);
    memo_clear(k);
    return f;
}

static V order_call(Kernel *k, const Sort *s, const V *lines)
{
    LLVMTypeRef ptr = LLVMPointerTypeInContext(k->c, 0);
    LLVMTypeRef types[] = { ptr, int_type(k, 64), ptr, ptr };
    LLVMTypeRef type = LLVMFunctionType(ptr, types, 4, false);
    V args[] = { k->frame, const_i64(k, s->extent), s->less, s->lines };
    V order = LLVMBuildCall2(k->b, type, runtime_function(k, offsetof(Runtime, sort)), args, 4, "");
    for (int i = 0; i < s->n; i++)
        bounds_touch(k->e, order, lines[i], 0,
                     line_bytes(s, element_of(k, node_at(k->m, s->node)->in[i])));
    bounds_array(k->e, order, s->extent * (int64_t)sizeof(int64_t), "the order of a line");
    return order;
}

/* One line: `at` stands at its first element, in an array whose sorted extent is 1. */
static void line_body(Kernel *k, Index *at, void *user)
{
    const Sort *s = user;
    const Node *node = node_at(k->m, s->node);
    Type whole = type_of(k->m, node->in[0]);
    Index *first = index_new(k, whole, 1);
    for (int d = 0; d < whole.rank; d++)
        index_set(first, d, d == s->dim ? coord_const(k, 0) : index_at(k, at, d));
    V begin = index_linear(k, first).base;
    V *to = ARENA_ARRAY(k->arena, V, s->n), *lines = ARENA_ARRAY(k->arena, V, s->n);
    for (int i = 0; i < s->n; i++) {
        V by = LLVMBuildMul(k->b, begin,
                            const_i64(k, element_info[element_of(k, node->in[i])].bytes), "");
        V from = k->ins[kernel_argument(k, node->in[i])];
        lines[i] = LLVMBuildInBoundsGEP2(k->b, int_type(k, 8), from, &by, 1, "");
        LLVMBuildStore(k->b, lines[i], pointer_slot(k, s->lines, i));
        to[i] = LLVMBuildInBoundsGEP2(k->b, int_type(k, 8), k->outs[i], &by, 1, "");
    }
    V order = order_call(k, s, lines);
    LLVMBasicBlockRef sorted = LLVMAppendBasicBlockInContext(k->c, k->function, "sorted");
    LLVMBasicBlockRef after = LLVMAppendBasicBlockInContext(k->c, k->function, "after");
    LLVMBuildCondBr(k->b, LLVMBuildIsNull(k->b, order, ""), after, sorted); /* no memory */
    LLVMPositionBuilderAtEnd(k->b, sorted);
    Loop loop;
    loop_begin(k, &loop, s->extent, 1, 0, NULL);
    V number =
        LLVMBuildLoad2(k->b, int_type(k, 64),
                       LLVMBuildInBoundsGEP2(k->b, int_type(k, 64), order, &loop.i, 1, ""), "");
    for (int i = 0; i < s->n; i++) {
        Element e = element_of(k, node->in[i]);
        store_element(k, to[i], e, on_line(k, s, loop.i),
                      load_element(k, lines[i], e, on_line(k, s, number)));
    }
    loop_end(k, &loop, NULL);
    LLVMBuildBr(k->b, after);
    LLVMPositionBuilderAtEnd(k->b, after);
}

/* ---- by keys ---- */

/* Pointers, or words, as an array in memory of this call. */
static V array_of(Kernel *k, LLVMTypeRef type, int n, const V *values)
{
    V at = LLVMBuildAlloca(k->b, LLVMArrayType2(type, (uint64_t)n), "");
    for (int i = 0; i < n; i++)
        LLVMBuildStore(k->b, values[i], byte_offset(k, at, (int64_t)sizeof(int64_t) * i));
    return at;
}

/* A plan's fields are words, in the order of the struct. */
static V plan_of(Kernel *k, const SortPlan *plan, const Element *elements)
{
    int n = (int)(sizeof *plan / sizeof(int64_t)), narrays = (int)plan->narrays;
    V *words = ARENA_ARRAY(k->arena, V, n + narrays);
    int64_t fields[sizeof *plan / sizeof(int64_t)];
    memcpy(fields, plan, sizeof fields);
    for (int i = 0; i < n; i++)
        words[i] = const_i64(k, fields[i]);
    for (int i = 0; i < narrays; i++)
        words[n + i] = const_i64(k, elements[i]);
    return array_of(k, int_type(k, 64), n + narrays, words);
}

/* One call sorts everything.  It sets the frame's error where there is no memory to sort in, which
 * the segment that called the kernel looks at (glue.c). */
static void call_sort_lines(Kernel *k, const SortPlan *plan, const Element *elements, const V *ins)
{
    LLVMTypeRef ptr = LLVMPointerTypeInContext(k->c, 0), types[] = { ptr, ptr, ptr, ptr };
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(k->c), types, 4, false);
    int n = (int)plan->narrays;
    V args[] = { k->frame, plan_of(k, plan, elements), array_of(k, ptr, n, ins),
                 array_of(k, ptr, n, k->outs) };
    V call =
        LLVMBuildCall2(k->b, type, runtime_function(k, offsetof(Runtime, sort_lines)), args, 4, "");
    for (int i = 0; i < n; i++) {
        int64_t bytes = plan->nlines * element_info[elements[i]].bytes;
        if (!LLVMIsNull(ins[i]))
            bounds_touch(k->e, call, ins[i], 0, bytes * plan->extent);
        bounds_touch(k->e, call, k->outs[i], 0, bytes * plan->kept);
    }
}

static bool sort_by_keys(Kernel *k, const Sort *s, Type whole)
{
    const Node *node = node_at(k->m, s->node);
    SortPlan plan = { .narrays = s->n,
                      .extent = s->extent,
                      .stride = s->stride,
                      .kept = s->extent,
                      .nlines = type_count(whole) / s->extent };
    plan.nkeys = comparator_keys(k->m, node->regions[0], plan.keys);
    if (!plan.nkeys || s->extent > SORT_MOST_EXTENT)
        return false;
    Element *elements = ARENA_ARRAY(k->arena, Element, s->n);
    V *ins = ARENA_ARRAY(k->arena, V, s->n);
    for (int i = 0; i < s->n; i++) {
        elements[i] = element_of(k, node->in[i]);
        ins[i] = k->ins[kernel_argument(k, node->in[i])];
    }
    call_sort_lines(k, &plan, elements, ins);
    return true;
}

void block_sort(Kernel *k, NodeId root)
{
    const Node *node = node_at(k->m, root);
    Type whole = type_of(k->m, node->in[0]);
    int64_t strides[MAX_RANK + 1], dims[MAX_RANK + 1];
    bool joined[MAX_RANK + 1] = { 0 };
    int dim = (int)((const SortAttrs *)node->attrs)->dimension;
    dim += dim < 0 ? whole.rank : 0;
    for (int i = 0; i < node->nin; i++)
        if (kernel_argument(k, node->in[i]) < 0) {
            kernel_error(k, root, "of values that are not in memory");
            return;
        }
    type_strides(whole, strides);
    Sort s = {
        .node = root, .n = node->nin, .dim = dim, .extent = whole.dims[dim], .stride = strides[dim]
    };
    if (type_count(whole) == 0)
        return;
    if (sort_by_keys(k, &s, whole))
        return;
    s.lines = LLVMBuildAlloca(
        k->b, LLVMArrayType2(LLVMPointerTypeInContext(k->c, 0), (uint64_t)s.n + 1), "lines");
    LLVMBuildStore(k->b, k->frame, pointer_slot(k, s.lines, s.n));
    s.less = less_function(k, &s);
    memcpy(dims, whole.dims, sizeof *dims * (size_t)whole.rank);
    dims[dim] = 1;
    k->width = 1;
    loop_over(k, (Type){ whole.element, whole.rank, dims }, joined, line_body, &s);
}

/* The greatest of each line, and their positions, whose array is not read. */
void block_top_k(Kernel *k, NodeId root)
{
    const Node *node = node_at(k->m, root);
    Type whole = type_of(k->m, node->in[0]);
    int64_t kept = ((const TopKAttrs *)node->attrs)->k, extent = whole.dims[whole.rank - 1];
    int argument = kernel_argument(k, node->in[0]);
    if (argument < 0 || extent > SORT_MOST_EXTENT) {
        kernel_error(k, root, "of a value that is not in memory");
        return;
    }
    if (type_count(whole) == 0 || kept == 0)
        return;
    Element elements[] = { whole.element, element_of(k, node->out + 1) };
    V ins[] = { k->ins[argument], LLVMConstNull(LLVMPointerTypeInContext(k->c, 0)) };
    SortPlan plan = { .narrays = 2,
                      .nkeys = 1,
                      .nlines = type_count(whole) / extent,
                      .extent = extent,
                      .stride = 1,
                      .kept = kept,
                      .keys = { { .is_falling = true } } };
    call_sort_lines(k, &plan, elements, ins);
}
