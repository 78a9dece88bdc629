/* generator.cpp - LLVM module in, object bytes out, by a list of passes that is made once.
 *
 * To make the list and take it apart takes LLVM a third as long as a small kernel's whole compilation,
 * and of the hundred and fifty passes that it puts there a third have nothing to do in any code of ours.
 * The list may be run for one module after another, whatever their contexts; LLVM's interface for C makes
 * it anew each time, and so this is the one file in C++. */
#include "engine/link/generator.h"

#include <llvm/ADT/SmallString.h>
#include <llvm/CodeGen/MachineModuleInfo.h>
#include <llvm/CodeGen/Passes.h>
#include <llvm/CodeGen/TargetPassConfig.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>

#include <algorithm>
#include <iterator>
#include <memory>

namespace
{

/* By their names in LLVM 19.  Of another release's, those that have other names run. */
const char *const left_out[] = {
    /* exceptions, unwinding, jumps to places that are computed */
    "Exception handling preparation",
    "Contiguously Lay Out Funclets",
    "Check CFA info and insert CFI instructions if needed",
    "Expand indirectbr instructions",
    "Prepare callbr",
    /* collected memory */
    "Lower Garbage Collection Instructions",
    "Shadow Stack GC Lowering",
    "Analyze Machine Code For Garbage Collection",
    "Fixup Statepoint Caller Saved",
    "StackMap Liveness Analysis",
    /* variables of threads */
    "TLS Variable Hoist",
    "Local Dynamic TLS Access Clean-up",
    /* debuggers and profilers */
    "Remove Redundant DEBUG_VALUE analysis",
    "Live DEBUG_VALUE analysis",
    "Stack Frame Layout Analysis",
    "Pseudo Probe Inserter",
    "Instrument function entry/exit with calls to e.g. mcount() (post inlining)",
    "Insert fentry calls",
    "Insert XRay ops",
    "Implement the 'patchable-function' attribute",
    "Machine Sanitizer Binary Metadata",
    "X86 Discriminate Memory Operands",
    "X86 Insert Cache Prefetches",
    /* protection from code that is not trusted */
    "Safe Stack instrumentation pass",
    "Insert KCFI indirect call checks",
    "X86 Windows Fixup Buffer Security Check",
    "X86 speculative load hardening",
    "X86 Load Value Injection (LVI) Load Hardening",
    "X86 Load Value Injection (LVI) Ret-Hardening",
    "X86 Speculative Execution Side Effect Suppression",
    "X86 Indirect Thunks",
    "X86 Return Thunks",
    "X86 Indirect Branch Tracking",
    /* integers of more than 128 bits, calls of strcmp's kind, vectors with lengths, matrices in tiles */
    "Expand large div/rem",
    "Expand large fp convert",
    "Merge contiguous icmps into a memcmp",
    "Expand memcmp() to load/stores",
    "Replace intrinsics with calls to vector library",
    "Partially inline calls to library functions",
    "Expand vector predication intrinsics",
    "Lower AMX intrinsics",
    "Lower AMX type for load/store",
    "Tile Register Pre-configure",
    "Tile Register Configure",
    "X86 Lower Tile Copy",
    /* the floating-point registers of before SSE, and processors of that time */
    "X86 FP Stackifier",
    "X86 insert wait instruction",
    "X86 Atom pad short functions",
    /* what found nothing to improve in any of 691 programs */
    "Constant Hoisting",
    "Early If-Conversion",
    "X86 Domain Reassignment Pass",
    "X86 Avoid Store Forwarding Blocks",
    "X86 Partial Reduction",
};

/* The passes of a target on their way into the list.  Those that are left out are freed, as a list may
 * do with any that it needs no more. */
class Sieve : public llvm::legacy::PassManagerBase
{
    llvm::legacy::PassManager &passes;

  public:
    explicit Sieve(llvm::legacy::PassManager &list) : passes(list)
    {
    }

    void add(llvm::Pass *pass) override
    {
        llvm::StringRef name = pass->getPassName();
        if (std::find(std::begin(left_out), std::end(left_out), name) != std::end(left_out))
            delete pass;
        else
            passes.add(pass);
    }
};

} // namespace

/* The machine is first, so that it ends last. */
struct Generator {
    std::unique_ptr<llvm::LLVMTargetMachine> machine;
    llvm::SmallString<0> bytes;
    llvm::raw_svector_ostream stream{ bytes };
    llvm::legacy::PassManager passes;
    bool is_filled = false;
    size_t made = 0; /* bytes, of all modules */
};

/* In the order of LLVMTargetMachine::addPassesToEmitFile. */
static bool fill(Generator *g)
{
    Sieve sieve(g->passes);
    auto *info = new llvm::MachineModuleInfoWrapperPass(g->machine.get());
    llvm::TargetPassConfig *config = g->machine->createPassConfig(sieve);
    config->setDisableVerify(true);
    g->passes.add(config);
    g->passes.add(info);
    if (config->addISelPasses())
        return false;
    config->addMachinePasses();
    config->setInitialized();
    if (g->machine->addAsmPrinter(sieve, g->stream, nullptr, llvm::CodeGenFileType::ObjectFile,
                                  info->getMMI().getContext()))
        return false;
    g->passes.add(llvm::createFreeMachineFunctionPass());
    return true;
}

Generator *generator_new(LLVMTargetMachineRef machine)
{
    auto *g = new Generator;
    g->machine.reset(
        static_cast<llvm::LLVMTargetMachine *>(reinterpret_cast<llvm::TargetMachine *>(machine)));
    return g;
}

LLVMTargetMachineRef generator_machine(const Generator *g)
{
    return reinterpret_cast<LLVMTargetMachineRef>(
        static_cast<llvm::TargetMachine *>(g->machine.get()));
}

/* Machines are also made for what they say of themselves alone, so passes come with the first module. */
bool generator_run(Generator *g, LLVMModuleRef module, const char **bytes, size_t *n)
{
    if (!g->is_filled && !fill(g))
        return false;
    g->is_filled = true;
    g->bytes.clear();
    g->passes.run(*llvm::unwrap(module));
    g->made += g->bytes.size();
    *bytes = g->bytes.data();
    *n = g->bytes.size();
    return true;
}

/* Passes keep tables as large as the largest function needed, and some that only grow. */
bool generator_is_worn(const Generator *g)
{
    constexpr size_t much = 4 << 20;
    return g->made > much;
}

void generator_free(Generator *g)
{
    delete g;
}
