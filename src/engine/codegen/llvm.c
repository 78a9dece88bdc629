/* llvm.c - small comforts over LLVM's C interface: constants, intrinsics, the frame. */
#include "engine/codegen/codegen.h"

#include "base/fail.h"

#include <stddef.h>
#include <string.h>

V const_i64(Kernel *k, int64_t value)
{
    return LLVMConstInt(LLVMInt64TypeInContext(k->c), (unsigned long long)value, true);
}

static V repeat(V one, LLVMTypeRef like)
{
    if (LLVMGetTypeKind(like) != LLVMVectorTypeKind)
        return one;
    unsigned n = LLVMGetVectorSize(like);
    V all[MAX_LANES];
    require(n <= MAX_LANES);
    for (unsigned i = 0; i < n; i++)
        all[i] = one;
    return LLVMConstVector(all, n);
}

LLVMTypeRef one_lane(LLVMTypeRef type)
{
    return LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetElementType(type) : type;
}

V const_f(Kernel *k, LLVMTypeRef like, double value)
{
    (void)k;
    return repeat(LLVMConstReal(one_lane(like), value), like);
}

V const_i(Kernel *k, LLVMTypeRef like, int64_t value)
{
    (void)k;
    return repeat(LLVMConstInt(one_lane(like), (unsigned long long)value, true), like);
}

V intrinsic(Kernel *k, const char *name, LLVMTypeRef type, int n, V *args)
{
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    if (!id)
        fail("LLVM has no intrinsic %s", name);
    V f = LLVMGetIntrinsicDeclaration(k->e->llvm, id, &type, 1);
    return LLVMBuildCall2(k->b, LLVMGlobalGetValueType(f), f, args, (unsigned)n, "");
}

V byte_offset(Kernel *k, V pointer, int64_t bytes)
{
    V by = const_i64(k, bytes);
    return LLVMBuildInBoundsGEP2(k->b, LLVMInt8TypeInContext(k->c), pointer, &by, 1, "");
}

V int64_table(Kernel *k, int n, const int64_t *values)
{
    LLVMTypeRef type = LLVMArrayType(LLVMInt64TypeInContext(k->c), (unsigned)n);
    V at = LLVMBuildAlloca(k->b, type, "");
    for (int i = 0; i < n; i++)
        LLVMBuildStore(k->b, const_i64(k, values[i]),
                       byte_offset(k, at, i * (int64_t)sizeof(int64_t)));
    return at;
}

V runtime_function(Kernel *k, size_t offset)
{
    LLVMTypeRef pointer = LLVMPointerTypeInContext(k->c, 0);
    V rt = LLVMBuildLoad2(k->b, pointer, byte_offset(k, k->frame, offsetof(Frame, rt)), "rt");
    bounds_array(k->e, rt, sizeof(Runtime), "the runtime's table");
    k->e->calls |= UINT32_C(1) << offset / sizeof(void *);
    return LLVMBuildLoad2(k->b, pointer, byte_offset(k, rt, (int64_t)offset), "");
}
