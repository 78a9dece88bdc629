/* kernel.c - a fusion as an LLVM function over memory.
 *
 * In: a tutti.fusion node.  Out: void name(ptr frame, ptr in0, ..., ptr out0, ...).
 * The root decides the loops: a block rule's if it has one (reduce, dot, update, scatter),
 * else one loop over the common shape of all results. */
#include "engine/kernels/kernels.h"

#include "engine/kernels/query.h"

#include "base/guard.h"
#include "base/table.h"
#include "engine/stages.h"
#include "hlo/rewrite.h"

#include <stdio.h>
#include <string.h>

/* The node of the region that is no MAP and no VIEW, or 0. */
static NodeId kernel_root(const Module *m, RegionId r)
{
    const Region *region = region_at(m, r);
    for (int i = 0; i < region->nnodes; i++) {
        const Node *node = node_at(m, region->nodes[i]);
        if (block_rules[node->op])
            return region->nodes[i];
    }
    return 0;
}

static void set_attribute(Kernel *k, V function, unsigned where, const char *name)
{
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    LLVMAddAttributeAtIndex(function, where, LLVMCreateEnumAttribute(k->c, kind, 0));
}

static void set_text_attribute(Kernel *k, V function, const char *name, const char *value)
{
    LLVMAttributeRef a = LLVMCreateStringAttribute(k->c, name, (unsigned)strlen(name), value,
                                                   (unsigned)strlen(value));
    LLVMAddAttributeAtIndex(function, (unsigned)LLVMAttributeFunctionIndex, a);
}

/* Whole registers, also on machines where LLVM would rather use half of them. */
void kernel_width(Kernel *k, V function)
{
    char bits[16];
    snprintf(bits, sizeof bits, "%d", k->e->vector_bytes * 8);
    set_text_attribute(k, function, "prefer-vector-width", bits);
    set_text_attribute(k, function, "min-legal-vector-width", bits);
}

static void set_width(Kernel *k)
{
    kernel_width(k, k->function);
    set_attribute(k, k->function, (unsigned)LLVMAttributeFunctionIndex, "nounwind");
}

/* The body of a cut kernel takes the number of the slice behind the frame. */
static void function_begin(Kernel *k, const char *name, int npointers)
{
    bool is_cut = k->wanted > 1;
    int n = npointers + is_cut;
    LLVMTypeRef *types = ARENA_ARRAY(k->arena, LLVMTypeRef, npointers + 1);
    for (int i = 0; i < n; i++)
        types[i] = is_cut && i == 1 ? int_type(k, 64) : LLVMPointerTypeInContext(k->c, 0);
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(k->c), types, (unsigned)n, 0);
    char body[96];
    snprintf(body, sizeof body, "%s%s", name, is_cut ? ".body" : "");
    k->function = LLVMAddFunction(k->e->llvm, body, type);
    LLVMSetLinkage(k->function, LLVMInternalLinkage);
    k->slice = is_cut ? LLVMGetParam(k->function, 1) : NULL;
    k->nslices = 1;
    set_width(k);
    LLVMPositionBuilderAtEnd(k->b, LLVMAppendBasicBlockInContext(k->c, k->function, "entry"));
}

static bool has_numbers(const Kernel *k, const Node *node)
{
    for (int i = 0; i < node->nin + node->nout; i++) {
        ValueId v = i < node->nin ? node->in[i] : node->out + (ValueId)(i - node->nin);
        ElementInfo info = element_info[type_of(k->m, v).element];
        if (info.kind == FLOAT || info.kind == COMPLEX)
            return true;
    }
    return false;
}

static bool is_move(const Node *node)
{
    switch (node->op) {
    case OP_IOTA:
    case OP_BITCAST: return false;
    case OP_SELECT:
    case OP_DYNAMIC_UPDATE: return true;
    default: return op_info[node->op].kind == KIND_VIEW || node_flow(node) == FLOW_END;
    }
}

/* Does nothing in the kernel ask which number a float or complex one is? */
static bool moves_only(const Kernel *k)
{
    const Region *region = region_at(k->m, k->region);
    for (int i = 0; i < region->nnodes; i++) {
        const Node *node = node_at(k->m, region->nodes[i]);
        if (!is_move(node) && has_numbers(k, node))
            return false;
    }
    return true;
}

/* Lanes that fill a register with the widest type at work; 64-bit types take two registers. */
static void look_at_value(Kernel *k, ValueId v, int *widest)
{
    Type type = type_of(k->m, v);
    ElementInfo info = element_info[element_part(element_of(k, v))];
    int bytes = info.kind == FLOAT && info.bytes < 4 ? 4 : info.bytes;
    *widest = bytes > *widest ? bytes : *widest;
    k->is_small = k->is_small && type_bytes(type) < (1u << 31);
}

static void choose_width(Kernel *k)
{
    int widest = 1;
    k->only_moves = moves_only(k);
    k->is_small = true;
    const Region *region = region_at(k->m, k->region);
    for (int i = 0; i < region->nargs; i++)
        look_at_value(k, region->args + (ValueId)i, &widest);
    for (int i = 0; i < region->nnodes; i++) {
        const Node *node = node_at(k->m, region->nodes[i]);
        for (int o = 0; o < node->nout; o++)
            look_at_value(k, node->out + (ValueId)o, &widest);
        /* Paddings and strides may be larger than the arrays; some of them are added up. */
        k->is_small =
            k->is_small && attrs_largest(op_info[node->op].attrs, node->attrs) < (INT64_C(1) << 28);
    }
    k->width = k->e->vector_bytes / (widest > 4 ? 4 : widest);
}

static void kernel_init(Kernel *k, Emit *e, const Module *m)
{
    *k = (Kernel){ .e = e, .b = e->builder, .c = e->context, .m = m };
    k->arena = arena_new();
    k->linear = ARENA_NEW(k->arena, Table);
    k->decoded = ARENA_NEW(k->arena, Table);
    k->shared = ARENA_NEW(k->arena, Table);
    k->lanes = 1;
    k->wanted = 1;
    memo_clear(k);
}

static Error *kernel_finish(Kernel *k, LLVMBasicBlockRef back)
{
    if (back)
        LLVMPositionBuilderAtEnd(k->b, back);
    if (k->error)
        LLVMDeleteFunction(k->function);
    table_free(k->linear);
    table_free(k->decoded);
    table_free(k->shared);
    arena_free(k->arena);
    return k->error;
}

/* What is noted of values must not outlive them. */
Trial trial_begin(Kernel *k, int n)
{
    LLVMTypeRef types[MAX_RANK + 1];
    for (int i = 0; i < n; i++)
        types[i] = int_type(k, 64);
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(k->c), types, (unsigned)n, false);
    Trial t = { k->function, LLVMGetInsertBlock(k->b), k->e->bounds, k->decoded };
    k->e->bounds = NULL;
    k->decoded = ARENA_NEW(k->arena, Table);
    k->is_trial = true;
    k->function = LLVMAddFunction(k->e->llvm, "trial", type);
    LLVMPositionBuilderAtEnd(k->b, LLVMAppendBasicBlockInContext(k->c, k->function, "entry"));
    return t;
}

void trial_end(Kernel *k, const Trial *t)
{
    LLVMPositionBuilderAtEnd(k->b, t->back);
    LLVMDeleteFunction(k->function);
    table_free(k->decoded);
    k->function = t->function;
    k->e->bounds = t->bounds;
    k->decoded = t->decoded;
    k->is_trial = false;
}

/* An operand whose memory no result may take is read without regard to stores. */
static void kernel_pointers(Kernel *k, NodeId fusion)
{
    const Node *node = node_at(k->m, fusion);
    unsigned first = k->slice ? 2 : 1;
    k->repeats = true;
    k->frame = LLVMGetParam(k->function, 0);
    k->ins = ARENA_ARRAY(k->arena, V, node->nin + 1);
    k->outs = ARENA_ARRAY(k->arena, V, node->nout + 1);
    for (int i = 0; i < node->nin; i++) {
        bool is_shared = false;
        for (int o = 0; o < node->nout; o++)
            is_shared = is_shared || kernel_reads_in_place(k->m, fusion, i, o);
        k->ins[i] = LLVMGetParam(k->function, first + (unsigned)i);
        k->repeats = k->repeats && !is_shared;
        if (!is_shared)
            set_attribute(k, k->function, first + 1 + (unsigned)i, "noalias");
    }
    for (int o = 0; o < node->nout; o++)
        k->outs[o] = LLVMGetParam(k->function, first + (unsigned)(node->nin + o));
}

/* "kernel k3 (pad, add, reduce) at f.py:28" */
static void print_who(Text *who, const Module *m, NodeId fusion, const char *name)
{
    enum { MOST_NAMES = 8 };
    const Region *region = region_at(m, node_at(m, fusion)->regions[0]);
    NodeId last = region->nodes[region->nnodes > 1 ? region->nnodes - 2 : 0];
    text_printf(who, "kernel %s (", name);
    for (int i = 0; i < region->nnodes - 1 && i < MOST_NAMES; i++)
        text_printf(who, "%s%s", i ? ", " : "", op_name(node_at(m, region->nodes[i])->op));
    text_printf(who, "%s) at %s", region->nnodes - 1 > MOST_NAMES ? ", ..." : "",
                loc_name(node_at(m, last)->loc));
}

void kernel_bounds(Emit *e, const Module *m, NodeId fusion, const char *name, LLVMValueRef f)
{
    const Node *node = node_at(m, fusion);
    Text text = { 0 };
    if (!e->bounds)
        return;
    print_who(&text, m, fusion, name);
    bounds_function(e, f, LLVMGetParam(f, 0), text_cstr(&text));
    unsigned first = LLVMCountParams(f) - (unsigned)(node->nin + node->nout);
    for (int i = 0; i < node->nin + node->nout; i++) {
        bool is_out = i >= node->nin;
        Type type = type_of(m, is_out ? node->out + (ValueId)(i - node->nin) : node->in[i]);
        text.n = 0;
        text_printf(&text, "%s %d, %s", is_out ? "result" : "operand", is_out ? i - node->nin : i,
                    type_name(type));
        bounds_array(e, LLVMGetParam(f, first + (unsigned)i),
                     (int64_t)type_bytes(type) - bounds_withheld, text_cstr(&text));
    }
    text_free(&text);
}

/* ---- results that go past the caches ---- */

/* Is it a temporary whose memory the result may have taken?  Then its lines are in the caches. */
static bool may_lie_on_temporary(const Module *m, NodeId fusion, int result)
{
    const Node *node = node_at(m, fusion);
    for (int i = 0; i < node->nin; i++)
        if (value_def(m, node->in[i]) && kernel_reads_in_place(m, fusion, i, result))
            return true;
    return false;
}

/* To store into a line the processor reads it first, unless all of it is stored past the caches.  That pays
 * for results that only the caller will read, where a kernel touches more than caches hold: of lines that
 * are read out of order they hold less. */
static void choose_streams(Kernel *k, NodeId fusion)
{
    enum { CACHES = 40 << 20, CACHES_OUT_OF_ORDER = 32 << 20, LEAST_VECTOR = 32 };
    const Node *node = node_at(k->m, fusion), *end = region_return(k->m, module_main(k->m));
    size_t bytes = 0;
    for (int i = 0; i < node->nin; i++)
        bytes += type_bytes(type_of(k->m, node->in[i]));
    for (int o = 0; o < node->nout; o++)
        bytes += type_bytes(type_of(k->m, node->out + (ValueId)o));
    /* Objects store where their callers say, which need not be where a line begins. */
    size_t most = has_transpose(k) ? CACHES_OUT_OF_ORDER : CACHES;
    if (bytes < most || k->e->vector_bytes < LEAST_VECTOR || k->e->owns_generator)
        return;
    bool *streams = ARENA_ARRAY(k->arena, bool, node->nout);
    uint32_t *uses = count_uses(k->m, module_main(k->m));
    for (int o = 0; o < node->nout; o++) {
        uint32_t returned = 0;
        for (int i = 0; i < end->nin; i++)
            returned += end->in[i] == node->out + (ValueId)o;
        streams[o] = returned && uses[node->out + (ValueId)o] == returned &&
                     !may_lie_on_temporary(k->m, fusion, o);
    }
    heap_free(uses);
    k->streams = streams;
}

/* Such stores have been made when code after this runs. */
static void streams_end(Kernel *k)
{
    static const char name[] = "llvm.x86.sse.sfence";
    if (!k->streams)
        return;
    unsigned id = LLVMLookupIntrinsicID(name, sizeof name - 1);
    V fence = LLVMGetIntrinsicDeclaration(k->e->llvm, id, NULL, 0);
    LLVMBuildCall2(k->b, LLVMGlobalGetValueType(fence), fence, NULL, 0, "");
}

static void map_streaming(Kernel *k, NodeId fusion)
{
    choose_streams(k, fusion);
    map_emit(k);
    streams_end(k);
}

int64_t slice_worth_ns = 40000;

int slices_wanted(const Module *m, NodeId fusion, NodeId root)
{
    enum { SLICES_PER_WORTH = 3, MOST = 64 };
    OpId op = root ? node_at(m, root)->op : OP_COUNT;
    bool can = !root || op == OP_REDUCE || op == OP_DOT || op == OP_REDUCE_WINDOW ||
               op == OP_SELECT_SCATTER || op == OP_CONVOLUTION || scatter_is_parted(m, root);
    int64_t cost = can ? kernel_cost(m, fusion) : 0;
    if (cost < slice_worth_ns)
        return 1;
    int64_t n = cost * SLICES_PER_WORTH / slice_worth_ns;
    return (int)(n < MOST ? n : MOST);
}

Error *kernel_emit(Emit *e, const Module *m, NodeId fusion, const char *name, LLVMValueRef *out)
{
    Kernel k;
    const Node *node = node_at(m, fusion);
    LLVMBasicBlockRef back = LLVMGetInsertBlock(e->builder);
    kernel_init(&k, e, m);
    k.region = node->regions[0];
    choose_width(&k);
    NodeId root = kernel_root(m, k.region);
    int npointers = 1 + node->nin + node->nout;
    bool is_copy = !root && copy_is_plain(e, m, k.region);
    bool is_ready = is_copy || (e->hurries && reduce_is_plain(m, k.region, root));
    k.wanted = is_ready ? 1 : slices_wanted(m, fusion, root);
    function_begin(&k, name, npointers);
    kernel_pointers(&k, fusion);
    kernel_bounds(e, m, fusion, name, k.function);
    k.repeats = k.repeats && !root;
    if (root)
        block_rules[node_at(m, root)->op](&k, root);
    else if (is_copy)
        plain_copy_emit(&k);
    else
        map_streaming(&k, fusion);
    LLVMBuildRetVoid(k.b);
    *out = k.slice && !k.error ? slices_wrap(&k, name, npointers) : k.function;
    if (*out != k.function)
        kernel_bounds(e, m, fusion, name, *out);
    TRY(kernel_finish(&k, back));
    return NULL;
}

/* ---- combine ---- */

/* Parameters of a CombineFn. */
enum { COMBINE_OUT, COMBINE_NOUT, COMBINE_IN, COMBINE_NIN, COMBINE_N, COMBINE_PARAMS };

/* for (r = first; r < end; r++), at least once; so_far is what the body made of it before. */
typedef struct Ranks {
    V r, so_far;
    LLVMBasicBlockRef before, body;
} Ranks;

static Ranks ranks_begin(Kernel *k, LLVMTypeRef made)
{
    Ranks l = { .before = LLVMGetInsertBlock(k->b) };
    l.body = LLVMAppendBasicBlockInContext(k->c, k->function, "rank");
    LLVMBuildBr(k->b, l.body);
    LLVMPositionBuilderAtEnd(k->b, l.body);
    l.r = LLVMBuildPhi(k->b, LLVMInt64TypeInContext(k->c), "r");
    if (made)
        l.so_far = LLVMBuildPhi(k->b, made, "");
    return l;
}

static void ranks_end(Kernel *k, Ranks *l, int64_t first, V start, V made, int end)
{
    LLVMBasicBlockRef last = LLVMGetInsertBlock(k->b), from[] = { l->before, last };
    LLVMBasicBlockRef after = LLVMAppendBasicBlockInContext(k->c, k->function, "done");
    V next = LLVMBuildNSWAdd(k->b, l->r, const_i64(k, 1), "");
    V n = LLVMGetParam(k->function, (unsigned)end);
    LLVMBuildCondBr(k->b, LLVMBuildICmp(k->b, LLVMIntSLT, next, n, ""), l->body, after);
    LLVMAddIncoming(l->r, (V[]){ const_i64(k, first), next }, from, 2);
    if (made)
        LLVMAddIncoming(l->so_far, (V[]){ start, made }, from, 2);
    LLVMPositionBuilderAtEnd(k->b, after);
}

/* The memory of rank r, in the list that is this parameter. */
static V combine_memory(Kernel *k, int list, Element e, V r)
{
    LLVMTypeRef pointer = LLVMPointerTypeInContext(k->c, 0);
    V table = LLVMGetParam(k->function, (unsigned)list);
    V memory =
        LLVMBuildLoad2(k->b, pointer, LLVMBuildInBoundsGEP2(k->b, pointer, table, &r, 1, ""), "");
    V n = LLVMGetParam(k->function, COMBINE_N), each = const_i64(k, element_info[e].bytes);
    bounds_array_of(k->e, memory, LLVMBuildMul(k->b, n, each, ""), "the array of a device");
    return memory;
}

static Index *combine_index(Kernel *k, Element e, V i, int lanes)
{
    static int64_t dims[] = { INT64_MAX };
    Coord here = { .base = i, .step = 1, .multiple = 1 };
    return index_numbered(k, (Type){ e, 1, dims }, here, lanes);
}

static V combine_load(Kernel *k, Element e, V r, V i, int lanes)
{
    return load_element(k, combine_memory(k, COMBINE_IN, e, r), e, combine_index(k, e, i, lanes));
}

/* Sums of bf16 and of floats below 16 bits are kept wide until the end: so does XLA (not with f16), and
 * for many devices it matters.  A region of several operations is executed as it is written. */
static bool combine_accumulates(const Kernel *k, RegionId reducer, Element e)
{
    return (e == BF16 || is_narrow(e)) && region_at(k->m, reducer)->nnodes == 2;
}

/* One element or vector: out[..][i] = f(f(in[0][i], in[1][i]), in[2][i]) ...  All operands and all
 * results in one pass, because the machine then fetches from all of them at once. */
static void combine_at(Kernel *k, RegionId reducer, Element e, V i, int lanes)
{
    k->lanes = lanes;
    V first = combine_load(k, e, const_i64(k, 0), i, lanes), sum;
    Ranks in = ranks_begin(k, LLVMTypeOf(first));
    memo_clear(k);
    k->accumulates = combine_accumulates(k, reducer, e);
    region_inline(k, reducer, (V[]){ in.so_far, combine_load(k, e, in.r, i, lanes) }, &sum);
    ranks_end(k, &in, 1, first, sum, COMBINE_NIN);
    if (k->accumulates) {
        k->accumulates = false;
        sum = finish(k, e, sum);
    }
    Ranks out = ranks_begin(k, NULL);
    store_element(k, combine_memory(k, COMBINE_OUT, e, out.r), e, combine_index(k, e, i, lanes),
                  sum);
    ranks_end(k, &out, 0, NULL, NULL, COMBINE_NOUT);
}

/* while (i + lanes <= n) { ...; i += lanes } from i; returns i after it. */
static V combine_loop(Kernel *k, RegionId r, Element e, V from, V n, int lanes)
{
    LLVMBasicBlockRef before = LLVMGetInsertBlock(k->b);
    LLVMBasicBlockRef head = LLVMAppendBasicBlockInContext(k->c, k->function, "head");
    LLVMBasicBlockRef body = LLVMAppendBasicBlockInContext(k->c, k->function, "body");
    LLVMBasicBlockRef after = LLVMAppendBasicBlockInContext(k->c, k->function, "after");
    LLVMBuildBr(k->b, head);
    LLVMPositionBuilderAtEnd(k->b, head);
    V i = LLVMBuildPhi(k->b, LLVMInt64TypeInContext(k->c), "i");
    V next = LLVMBuildNSWAdd(k->b, i, const_i64(k, lanes), "");
    LLVMBuildCondBr(k->b, LLVMBuildICmp(k->b, LLVMIntSLE, next, n, ""), body, after);
    LLVMPositionBuilderAtEnd(k->b, body);
    combine_at(k, r, e, i, lanes);
    LLVMBasicBlockRef last = LLVMGetInsertBlock(k->b);
    LLVMBuildBr(k->b, head);
    LLVMAddIncoming(i, &from, &before, 1);
    LLVMAddIncoming(i, &next, &last, 1);
    LLVMPositionBuilderAtEnd(k->b, after);
    return i;
}

static void combine_begin(Kernel *k, const char *name)
{
    LLVMTypeRef pointer = LLVMPointerTypeInContext(k->c, 0);
    LLVMTypeRef i64 = LLVMInt64TypeInContext(k->c);
    LLVMTypeRef types[] = { pointer, i64, pointer, i64, i64 };
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(k->c), types, COMBINE_PARAMS, 0);
    k->function = LLVMAddFunction(k->e->llvm, name, type);
    set_width(k);
    LLVMPositionBuilderAtEnd(k->b, LLVMAppendBasicBlockInContext(k->c, k->function, "entry"));
}

static void combine_bounds(Kernel *k, const char *name, const Loc *loc)
{
    Text who = { 0 };
    if (!k->e->bounds)
        return;
    text_printf(&who, "reducer %s at %s", name, loc_name(loc));
    bounds_function(k->e, k->function, NULL, text_cstr(&who));
    text_free(&who);
    for (int list = COMBINE_OUT; list <= COMBINE_IN; list += COMBINE_IN - COMBINE_OUT) {
        V n = LLVMGetParam(k->function, (unsigned)list + 1);
        V bytes = LLVMBuildMul(k->b, n, const_i64(k, sizeof(void *)), "");
        bounds_array_of(k->e, LLVMGetParam(k->function, (unsigned)list), bytes, "a list of arrays");
    }
}

Error *combine_emit(Emit *e, const Module *m, RegionId reducer, const char *name, LLVMValueRef *out)
{
    const Node *end = region_return(m, reducer);
    Type type = type_of(m, region_at(m, reducer)->args);
    if (!region_can_inline(m, reducer) || end->nin != 1 || region_at(m, reducer)->nargs != 2)
        return error_new(CODE_UNIMPLEMENTED, "not supported: a reducer of %s, at %s",
                         type_name(type), loc_name(end->loc));
    Kernel k;
    LLVMBasicBlockRef back = LLVMGetInsertBlock(e->builder);
    kernel_init(&k, e, m);
    combine_begin(&k, name);
    combine_bounds(&k, name, end->loc);
    ElementInfo info = element_info[element_part(type.element)];
    k.width = e->vector_bytes / (info.bytes > 4 || info.kind == FLOAT ? 4 : info.bytes);
    V n = LLVMGetParam(k.function, COMBINE_N);
    enum { TOGETHER = 4 }; /* vectors, so that looking for operands is not what costs */
    V i = combine_loop(&k, reducer, type.element, const_i64(&k, 0), n, TOGETHER * k.width);
    i = combine_loop(&k, reducer, type.element, i, n, k.width);
    combine_loop(&k, reducer, type.element, i, n, 1);
    LLVMBuildRetVoid(k.b);
    TRY(kernel_finish(&k, back));
    *out = k.function;
    return NULL;
}
