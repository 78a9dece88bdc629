/* shared_function.c - functions of numbers that a kernel needs often.
 *
 * A sine is some forty instructions wherever it stands.  A kernel with a hundred of them would be
 * compiled for seconds, so from a few on an operation becomes one function of registers, which the
 * kernel calls:
 *
 *     define internal <16 x float> @sine(ptr %frame, <16 x float> %x)
 *
 * Its body is the operation's own rule, asked with the parameters as operands. */
#include "engine/codegen/codegen.h"

#include "base/table.h"

#include <string.h>

/* What the functions made so far are known by: nothing else changes the code of a rule. */
typedef struct SharedKey {
    int32_t op, lanes, accumulates, is_strict;
    int32_t elements[3]; /* of the result and the operands */
} SharedKey;

enum { MOST_OPERANDS = 2, MANY = 6, MANY_F64 = 32 };

static int times_in_kernel(Kernel *k, OpId op)
{
    if (!k->times) {
        const Region *region = region_at(k->m, k->region);
        k->times = ARENA_ARRAY(k->arena, int, OP_COUNT);
        for (int i = 0; i < region->nnodes; i++)
            k->times[node_at(k->m, region->nodes[i])->op]++;
    }
    return k->times[op];
}

/* Sine and cosine of one angle share nearly all of their code in f64, if it stands in one place; single numbers
 * wait for it, and would for the call. */
static int many(const Kernel *k, const Node *node)
{
    bool is_wave = node->op == OP_SIN || node->op == OP_COS;
    return is_wave && k->lanes == 1 && element_of(k, node->out) == F64 ? MANY_F64 : MANY;
}

bool is_shared_function(Kernel *k, NodeId n)
{
    const Node *node = node_at(k->m, n);
    return op_info[node->op].cost.work == WORK_SPECIAL && node->nout == 1 &&
           node->nin <= MOST_OPERANDS && !k->inlined && !k->is_trial && !k->e->bounds &&
           k->region && times_in_kernel(k, node->op) >= many(k, node);
}

static SharedKey key_of(const Kernel *k, const Node *node)
{
    SharedKey key = { .op = (int32_t)node->op,
                      .lanes = k->lanes,
                      .accumulates = k->accumulates,
                      .is_strict = k->is_strict,
                      .elements = { (int32_t)element_of(k, node->out) } };
    for (int i = 0; i < node->nin; i++)
        key.elements[1 + i] = (int32_t)element_of(k, node->in[i]);
    return key;
}

/* The rule finds its operands in a memo of its own, and works in another function than the kernel. */
static void body_emit(Kernel *k, NodeId n, Index *at, V function)
{
    const Node *node = node_at(k->m, n);
    LLVMBasicBlockRef back = LLVMGetInsertBlock(k->b);
    struct Memo *memo = k->memo;
    V outer = k->function, frame = k->frame;
    k->memo = NULL;
    memo_clear(k);
    k->function = function;
    k->frame = LLVMGetParam(function, 0);
    LLVMPositionBuilderAtEnd(k->b, LLVMAppendBasicBlockInContext(k->c, function, "entry"));
    for (int i = 0; i < node->nin; i++)
        memo_set(k, node->in[i], at, LLVMGetParam(function, (unsigned)i + 1));
    LLVMBuildRet(k->b, element_rules[node->op](k, n, at));
    k->function = outer;
    k->frame = frame;
    k->memo = memo;
    LLVMPositionBuilderAtEnd(k->b, back);
}

static void mark(Kernel *k, V function)
{
    static const char *const names[] = { "nounwind", "noinline" };
    unsigned where = (unsigned)LLVMAttributeFunctionIndex;
    for (int i = 0; i < 2; i++) {
        unsigned kind = LLVMGetEnumAttributeKindForName(names[i], strlen(names[i]));
        LLVMAddAttributeAtIndex(function, where, LLVMCreateEnumAttribute(k->c, kind, 0));
    }
    kernel_width(k, function);
    LLVMSetLinkage(function, LLVMInternalLinkage);
}

static V function_of(Kernel *k, NodeId n, Index *at, const V *args, int nargs)
{
    const Node *node = node_at(k->m, n);
    SharedKey key = key_of(k, node);
    LLVMTypeRef types[1 + MOST_OPERANDS];
    uint64_t known;
    if (table_get(k->shared, &key, sizeof key, &known))
        return (V)(uintptr_t)known;
    for (int i = 0; i < nargs; i++)
        types[i] = LLVMTypeOf(args[i]);
    LLVMTypeRef type =
        LLVMFunctionType(value_type(k, element_of(k, node->out)), types, (unsigned)nargs, false);
    V function = LLVMAddFunction(k->e->llvm, op_name(node->op), type);
    mark(k, function);
    body_emit(k, n, at, function);
    table_set(k->shared, &key, sizeof key, (uintptr_t)function);
    return function;
}

V shared_function_call(Kernel *k, NodeId n, Index *at)
{
    const Node *node = node_at(k->m, n);
    V args[1 + MOST_OPERANDS] = { k->frame };
    for (int i = 0; i < node->nin; i++)
        args[1 + i] = operand(k, n, i, at);
    V function = function_of(k, n, at, args, 1 + node->nin);
    return LLVMBuildCall2(k->b, LLVMGlobalGetValueType(function), function, args,
                          (unsigned)node->nin + 1, "");
}
