/* targets.c - the code generators that an engine for objects of other machines has besides its own. */
#include <llvm-c/Target.h>

void cross_targets_ready(void);

void cross_targets_ready(void)
{
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64Target();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64AsmPrinter();
}
