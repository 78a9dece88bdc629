/* only_calls.c - which functions are nothing but calls of others.
 *
 * Such code stands around a loop of ours or a product that is ready-made, and runs once in a launch: it is as
 * good without LLVM's optimisations, which for a small program take most of the time, and mostly without
 * LLVM (plain_code.c). */
#include "engine/link/plain_code.h"

static bool is_behind(LLVMBasicBlockRef block, LLVMBasicBlockRef other)
{
    while ((other = LLVMGetNextBasicBlock(other)))
        if (other == block)
            return true;
    return false;
}

static bool only_returns(LLVMBasicBlockRef block)
{
    return LLVMGetInstructionOpcode(LLVMGetFirstInstruction(block)) == LLVMRet;
}

/* Neither a number that is computed, but for addresses and counts, nor a branch back, unless that is the end. */
static bool is_plain(LLVMValueRef x)
{
    LLVMTypeKind kind = LLVMGetTypeKind(LLVMTypeOf(x));
    switch (LLVMGetInstructionOpcode(x)) {
    case LLVMRet:
    case LLVMStore:
    case LLVMAlloca:
    case LLVMGetElementPtr: return true;
    case LLVMLoad:
    case LLVMICmp:
    case LLVMAdd:
    case LLVMMul:
    case LLVMCall:
        return kind == LLVMIntegerTypeKind || kind == LLVMPointerTypeKind ||
               kind == LLVMVoidTypeKind;
    case LLVMBr: break;
    default: return false;
    }
    for (unsigned i = 0; i < LLVMGetNumSuccessors(x); i++) {
        LLVMBasicBlockRef to = LLVMGetSuccessor(x, i);
        if (!only_returns(to) && !is_behind(to, LLVMGetInstructionParent(x)))
            return false;
    }
    return true;
}

bool only_calls(LLVMValueRef f)
{
    enum { MOST = 1024 };
    int n = 0;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef x = LLVMGetFirstInstruction(b); x; x = LLVMGetNextInstruction(x))
            if (n++ == MOST || !is_plain(x))
                return false;
    return true;
}
