/* slices.c - a large kernel is made of slices, so that idle workers can help with it.
 *
 * In: a kernel whose cost is known to be large.  Out: three functions:
 *
 *     name(frame, pointers...)         what segments call: hands over to the runtime
 *     name.slice(pointers, number)     what the runtime calls, on any worker
 *     name.body(frame, number, pointers...)    the loops, one of them over a part of its range
 *
 * Slices lie along results, never along what is reduced, and there are as many as the program
 * says, on whichever thread each runs: so the numbers do not depend on the workers. */
#include "engine/codegen/codegen.h"

#include <stddef.h>
#include <stdio.h>

int slices_choose(Kernel *k, int n, const int64_t *extents)
{
    int best = -1;
    for (int d = 0; d < n && k->wanted > 1; d++) {
        if (extents[d] >= k->wanted) {
            best = d;
            break;
        }
        if (extents[d] > 1 && (best < 0 || extents[d] > extents[best]))
            best = d;
    }
    if (best < 0)
        k->wanted = 1;
    return best;
}

void slice_loop(Kernel *k, Loop *loop, int64_t n, int64_t step)
{
    int64_t steps = (n + step - 1) / step, each = (steps + k->wanted - 1) / k->wanted;
    k->nslices = (steps + each - 1) / each;
    k->wanted = 1;
    V from = LLVMBuildMul(k->b, k->slice, const_i64(k, each * step), "");
    V to = LLVMBuildAdd(k->b, from, const_i64(k, each * step), "");
    loop_between(k, loop, from, INTRINSIC(k, "llvm.umin", to, const_i64(k, n)), step, 0, NULL);
}

LLVMBasicBlockRef last_slice_begin(Kernel *k)
{
    LLVMBasicBlockRef last = LLVMAppendBasicBlockInContext(k->c, k->function, "last");
    LLVMBasicBlockRef after = LLVMAppendBasicBlockInContext(k->c, k->function, "others");
    V is_last = LLVMBuildICmp(k->b, LLVMIntEQ, k->slice, const_i64(k, k->nslices - 1), "");
    LLVMBuildCondBr(k->b, is_last, last, after);
    LLVMPositionBuilderAtEnd(k->b, last);
    return after;
}

void last_slice_end(Kernel *k, LLVMBasicBlockRef after)
{
    LLVMBuildBr(k->b, after);
    LLVMPositionBuilderAtEnd(k->b, after);
}

/* ---- the two functions around the body ---- */

static V function_new(Kernel *k, const char *name, int n, LLVMTypeRef *types)
{
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(k->c), types, (unsigned)n, false);
    V f = LLVMAddFunction(k->e->llvm, name, type);
    LLVMSetLinkage(f, LLVMInternalLinkage);
    LLVMPositionBuilderAtEnd(k->b, LLVMAppendBasicBlockInContext(k->c, f, "entry"));
    return f;
}

static V slice_function(Kernel *k, const char *name, int npointers)
{
    LLVMTypeRef ptr = LLVMPointerTypeInContext(k->c, 0), types[] = { ptr, int_type(k, 64) };
    char full[96];
    snprintf(full, sizeof full, "%s.slice", name);
    V f = function_new(k, full, 2, types);
    V *args = ARENA_ARRAY(k->arena, V, npointers + 1);
    for (int i = 0, to = 0; i < npointers; i++) {
        V at = byte_offset(k, LLVMGetParam(f, 0), i * (int64_t)sizeof(void *));
        args[to] = LLVMBuildLoad2(k->b, ptr, at, "");
        bounds_array_like(k->e, args[to], LLVMGetParam(k->function, (unsigned)to));
        to++;
        if (i == 0)
            args[to++] = LLVMGetParam(f, 1);
    }
    bounds_function(k->e, f, args[0], full);
    bounds_array(k->e, LLVMGetParam(f, 0), npointers * (int64_t)sizeof(void *), "its pointers");
    LLVMBuildCall2(k->b, LLVMGlobalGetValueType(k->function), k->function, args,
                   (unsigned)npointers + 1, "");
    LLVMBuildRetVoid(k->b);
    return f;
}

/* Has f(list, i) called for every i below n; the builder stands where k->frame is known. */
static void call_slices(Kernel *k, V f, int64_t n, V list)
{
    LLVMTypeRef ptr = LLVMPointerTypeInContext(k->c, 0),
                types[] = { ptr, int_type(k, 64), ptr, ptr };
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(k->c), types, 4, false);
    V args[] = { k->frame, const_i64(k, n), f, list };
    LLVMBuildCall2(k->b, type, runtime_function(k, offsetof(Runtime, slices)), args, 4, "");
}

/* A list of pointers on the stack. */
static V pointer_list(Kernel *k, int n, const V *pointers)
{
    LLVMTypeRef ptr = LLVMPointerTypeInContext(k->c, 0);
    V list = LLVMBuildAlloca(k->b, LLVMArrayType(ptr, (unsigned)n), "");
    for (int i = 0; i < n; i++)
        LLVMBuildStore(k->b, pointers[i], byte_offset(k, list, i * (int64_t)sizeof(void *)));
    return list;
}

V slices_wrap(Kernel *k, const char *name, int npointers)
{
    LLVMTypeRef *types = ARENA_ARRAY(k->arena, LLVMTypeRef, npointers);
    V slice = slice_function(k, name, npointers), *pointers = ARENA_ARRAY(k->arena, V, npointers);
    for (int i = 0; i < npointers; i++)
        types[i] = LLVMPointerTypeInContext(k->c, 0);
    V f = function_new(k, name, npointers, types);
    for (int i = 0; i < npointers; i++)
        pointers[i] = LLVMGetParam(f, (unsigned)i);
    k->frame = pointers[0];
    call_slices(k, slice, k->nslices, pointer_list(k, npointers, pointers));
    LLVMBuildRetVoid(k->b);
    return f;
}

/* ---- copies ---- */

enum { COPY_PIECE = 256 << 10, COPY_POINTERS = 3 };

/* Copies one piece; its list has the frame, and whither and whence. */
static V copy_function(Kernel *k, int64_t bytes)
{
    LLVMTypeRef ptr = LLVMPointerTypeInContext(k->c, 0), types[] = { ptr, int_type(k, 64) };
    V f = function_new(k, "copy.slice", 2, types), pointers[COPY_POINTERS];
    k->function = f;
    for (int i = 0; i < COPY_POINTERS; i++) {
        V at = byte_offset(k, LLVMGetParam(f, 0), i * (int64_t)sizeof(void *));
        pointers[i] = LLVMBuildLoad2(k->b, ptr, at, "");
        if (i > 0)
            bounds_array(k->e, pointers[i], bytes, "an array that is copied");
    }
    bounds_function(k->e, f, pointers[0], "copy.slice");
    bounds_array(k->e, LLVMGetParam(f, 0), sizeof(void *) * COPY_POINTERS, "its pointers");
    V from = LLVMBuildMul(k->b, LLVMGetParam(f, 1), const_i64(k, COPY_PIECE), "");
    V to = LLVMBuildAdd(k->b, from, const_i64(k, COPY_PIECE), "");
    Loop loop;
    loop_between(k, &loop, from, INTRINSIC(k, "llvm.umin", to, const_i64(k, bytes)),
                 k->e->vector_bytes, 0, NULL);
    copy_vector(k, pointers[1], pointers[2], loop.i, k->e->vector_bytes);
    loop_end(k, &loop, NULL);
    LLVMBuildRetVoid(k->b);
    return f;
}

void copy_by_slices(Kernel *k, V to, V from, int64_t bytes)
{
    LLVMBasicBlockRef here = LLVMGetInsertBlock(k->b);
    V kernel = k->function, f = copy_function(k, bytes);
    k->function = kernel;
    LLVMPositionBuilderAtEnd(k->b, here);
    V pointers[COPY_POINTERS] = { k->frame, to, from };
    call_slices(k, f, (bytes + COPY_PIECE - 1) / COPY_PIECE,
                pointer_list(k, COPY_POINTERS, pointers));
}
