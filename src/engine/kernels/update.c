/* update.c - the kernel whose root is a dynamic_update_slice.
 *
 * In: an array, a smaller one (computed on the fly) and where it goes.  Out: a copy of the
 * first, left out when the result already lies there, and a loop over the second. */
#include "engine/kernels/kernels.h"

#include <string.h>

/* result = operand, for all its elements. */
static void element_body(Kernel *k, Index *at, void *user)
{
    const ValueId *v = user;
    V value = element(k, *v, at);
    if (!k->error)
        store_element(k, k->outs[0], element_of(k, *v), at, value);
}

void start_as_operand(Kernel *k, ValueId v, int result)
{
    int argument = kernel_argument(k, v);
    Type type = type_of(k->m, v);
    if (argument < 0) {
        V *outs = k->outs, mine = k->outs[result];
        bool joined[MAX_RANK + 1] = { 0 };
        k->outs = &mine;
        loop_over(k, type, joined, element_body, &v);
        k->outs = outs;
        return;
    }
    LLVMBasicBlockRef copy = LLVMAppendBasicBlockInContext(k->c, k->function, "copy");
    LLVMBasicBlockRef after = LLVMAppendBasicBlockInContext(k->c, k->function, "there");
    V from = k->ins[argument], to = k->outs[result];
    LLVMBuildCondBr(k->b, LLVMBuildICmp(k->b, LLVMIntEQ, from, to, ""), after, copy);
    LLVMPositionBuilderAtEnd(k->b, copy);
    copy_emit(k, to, from, type_bytes(type));
    LLVMBuildBr(k->b, after);
    LLVMPositionBuilderAtEnd(k->b, after);
}

/* One piece of the update goes where it belongs. */
static void update_body(Kernel *k, Index *at, void *user)
{
    const Node *node = node_at(k->m, *(const NodeId *)user);
    Type whole = type_of(k->m, node->in[0]);
    Index *to = index_new(k, whole, at->lanes);
    for (int d = 0; d < whole.rank; d++)
        index_set(to, d, slice_coord(k, node->in[2 + d], at, d, whole.dims[d]));
    V value = element(k, node->in[1], at);
    if (!k->error)
        store_element(k, k->outs[0], element_of(k, node->in[0]), to, value);
}

/* Dimensions that the update fills whole are one with what follows in memory too. */
void block_update(Kernel *k, NodeId root)
{
    const Node *node = node_at(k->m, root);
    Type whole = type_of(k->m, node->in[0]), part = type_of(k->m, node->in[1]);
    bool joined[MAX_RANK + 1] = { 0 };
    start_as_operand(k, node->in[0], 0);
    for (int d = part.rank - 2; d >= 0 && part.dims[d + 1] == whole.dims[d + 1]; d--)
        joined[d] = true;
    joinable(k, 1, &node->in[1], part, joined);
    loop_over(k, part, joined, update_body, &root);
}
