/* libm_call.c - lanes handed to the C library, through the runtime's table.
 *
 * In: a vector.  Out: the same function of each lane: the vector goes through memory on the
 * stack, to one call and back. */
#include "engine/codegen/codegen.h"
#include "engine/math/math_parts.h"

#include <stddef.h>

static V stack_slot(Kernel *k, LLVMTypeRef type)
{
    LLVMBasicBlockRef here = LLVMGetInsertBlock(k->b);
    LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(k->function);
    V first = LLVMGetFirstInstruction(entry);
    if (first)
        LLVMPositionBuilderBefore(k->b, first);
    else
        LLVMPositionBuilderAtEnd(k->b, entry);
    V slot = LLVMBuildAlloca(k->b, type, "");
    LLVMPositionBuilderAtEnd(k->b, here);
    return slot;
}

static int lanes_in(V x)
{
    LLVMTypeRef type = LLVMTypeOf(x);
    return LLVMGetTypeKind(type) == LLVMVectorTypeKind ? (int)LLVMGetVectorSize(type) : 1;
}

V math_call(Kernel *k, int function, V x, V y)
{
    LLVMTypeRef type = LLVMTypeOf(x), pointer = LLVMPointerTypeInContext(k->c, 0);
    LLVMTypeRef i32 = int_type(k, 32), parts[] = { i32, i32, pointer, pointer, pointer };
    LLVMTypeRef f = LLVMFunctionType(LLVMVoidTypeInContext(k->c), parts, 5, false);
    V xs = stack_slot(k, type), ys = y ? stack_slot(k, type) : xs, out = stack_slot(k, type);
    LLVMBuildStore(k->b, x, xs);
    if (y)
        LLVMBuildStore(k->b, y, ys);
    k->e->calls_rare_math |= function > MATH_COS;
    V args[] = { LLVMConstInt(i32, (unsigned)function, false),
                 LLVMConstInt(i32, (unsigned)lanes_in(x), false), xs, ys, out };
    V call = LLVMBuildCall2(k->b, f, runtime_function(k, offsetof(Runtime, math)), args, 5, "");
    for (int i = 2; i < 5; i++)
        bounds_touch(k->e, call, args[i], 0, lanes_in(x) * (int64_t)sizeof(double));
    return LLVMBuildLoad2(k->b, type, out, "");
}

/* Parts go in as x and y, and come out one after the other. */
V complex_call(Kernel *k, int function, Element e, V x)
{
    V re = to_f64(k, real_part(k, x)), im = to_f64(k, imag_part(k, x));
    LLVMTypeRef type = LLVMTypeOf(re), pointer = LLVMPointerTypeInContext(k->c, 0);
    LLVMTypeRef i32 = int_type(k, 32), parts[] = { i32, i32, pointer, pointer, pointer };
    LLVMTypeRef f = LLVMFunctionType(LLVMVoidTypeInContext(k->c), parts, 5, false);
    int lanes = lanes_in(re);
    LLVMTypeRef both = LLVMArrayType2(LLVMDoubleTypeInContext(k->c), 2 * (uint64_t)lanes);
    V xs = stack_slot(k, type), ys = stack_slot(k, type), out = stack_slot(k, both);
    LLVMBuildStore(k->b, re, xs);
    LLVMBuildStore(k->b, im, ys);
    k->e->calls_rare_math |= function > MATH_COS;
    V args[] = { LLVMConstInt(i32, (unsigned)function, false),
                 LLVMConstInt(i32, (unsigned)lanes, false), xs, ys, out };
    V call = LLVMBuildCall2(k->b, f, runtime_function(k, offsetof(Runtime, math)), args, 5, "");
    for (int i = 2; i < 5; i++)
        bounds_touch(k->e, call, args[i], 0, (i == 4 ? 2 : 1) * lanes * (int64_t)sizeof(double));
    re = LLVMBuildLoad2(k->b, type, out, "");
    im = LLVMBuildLoad2(k->b, type, byte_offset(k, out, (int64_t)sizeof(double) * lanes), "");
    LLVMSetAlignment(re, sizeof(double));
    LLVMSetAlignment(im, sizeof(double));
    return e == C128 ? complex_of(k, re, im) : complex_of(k, to_f32(k, re), to_f32(k, im));
}

Rare rare_begin(Kernel *k, V lanes)
{
    V any = lanes_in(lanes) == 1 ? lanes : INTRINSIC(k, "llvm.vector.reduce.or", lanes);
    Rare r = { LLVMGetInsertBlock(k->b),
               LLVMAppendBasicBlockInContext(k->c, k->function, "common") };
    LLVMBasicBlockRef rare = LLVMAppendBasicBlockInContext(k->c, k->function, "rare");
    LLVMBuildCondBr(k->b, any, rare, r.after);
    LLVMPositionBuilderAtEnd(k->b, rare);
    return r;
}

void rare_end(Kernel *k, const Rare *r, int n, const V *usual, V *values)
{
    LLVMBasicBlockRef blocks[] = { r->before, LLVMGetInsertBlock(k->b) };
    LLVMBuildBr(k->b, r->after);
    LLVMPositionBuilderAtEnd(k->b, r->after);
    for (int i = 0; i < n; i++) {
        V ways[] = { usual[i], values[i] };
        values[i] = LLVMBuildPhi(k->b, LLVMTypeOf(usual[i]), "");
        LLVMAddIncoming(values[i], ways, blocks, 2);
    }
}

V math_repair(Kernel *k, int function, V x, V y, V hard, V fast)
{
    Rare r = rare_begin(k, hard);
    V result = math_select(k, hard, math_call(k, function, x, y), fast);
    rare_end(k, &r, 1, &fast, &result);
    return result;
}
