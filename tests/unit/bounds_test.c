/* bounds_test.c - TUTTI_CHECK=bounds sees what it is for: kernels that were broken on purpose leave
 * their arrays, and the run ends with a message that says which, where and by how much.  Links the
 * engine and LLVM.
 *
 * Programs that no shape rule would let pass are handed to the emitter as they are; accesses that
 * no program leads to are written in LLVM's terms.  Vectors are of 16 bytes, whatever the machine.
 */
#include "base/guard.h"
#include "engine/compile.h"
#include "engine/cpu_level.h"
#include "engine/link/link.h"
#include "tests/check.h"

#include <stdlib.h>

enum { MOST = 4, ROOM = 4096 };

static const _Atomic int never;
static char memory[2 * MOST][ROOM]; /* arrays with room behind: nothing here may crash */

typedef void KernelFn(Frame *, void *, void *, void *, void *);

static void say(const char *message, const Error *error)
{
    CHECK_STR(error ? error_text(error) : "", message);
    CHECK(!error || error_code(error) == CODE_INTERNAL);
}

/* Loads what e has as "kernel", and runs it on memory. */
static void run_object(Emit *e, const char *message)
{
    char *bytes = NULL;
    size_t n = 0;
    Code *code = NULL;
    void *address = NULL;
    Error *error = emit_object(e, &bytes, &n);
    if (!error)
        code = code_new(), error = code_add(code, bytes, n);
    if (!error)
        error = code_find(code, "kernel", &address);
    CHECK_STR(error ? error_text(error) : "", "");
    if (!error) {
        Frame f = { .rt = &runtime, .cancel = &never };
        ((KernelFn *)address)(&f, memory[0] + 1024, memory[1] + 1024, memory[2] + 1024,
                              memory[3] + 1024);
        say(message, f.error);
        error_free(f.error);
    }
    error_free(error);
    code_free(code);
    heap_free(bytes);
}

/* ---- programs ---- */

/* Main's body is the region of a fusion, which is not checked. */
static void see(const char *text, const char *message)
{
    Module *m = NULL;
    Text whole = { 0 };
    text_printf(&whole, "func.func public @main%s\n", text);
    Error *error = read_text(text_cstr(&whole), whole.n, "test", &m);
    CHECK_STR(error ? error_text(error) : "", "");
    RegionId body = func_find(m, STR("main"))->body;
    const Node *end = region_return(m, body);
    ValueId args[MOST];
    Type results[MOST];
    int nargs = region_at(m, body)->nargs;
    for (int i = 0; i < nargs; i++)
        args[i] = region_at(m, body)->args + (ValueId)i;
    for (int i = 0; i < end->nin; i++)
        results[i] = type_of(m, end->in[i]);
    NodeId fusion = node_new(m, OP_FUSION, nargs, args, end->nin, results, 1, &body, NULL, NULL);
    Arena *arena = arena_new();
    Emit e;
    LLVMValueRef function;
    error = emit_begin(&e, arena, "test", NULL);
    if (!error)
        error = kernel_emit(&e, m, fusion, "kernel", &function);
    CHECK_STR(error ? error_text(error) : "", "");
    LLVMSetLinkage(function, LLVMExternalLinkage);
    run_object(&e, message);
    emit_end(&e);
    arena_free(arena);
    module_free(m);
    text_free(&whole);
}

static void test_programs(void)
{
    see("(%x: tensor<16xf32>) -> tensor<16xf32> {\n"
        "  %y = stablehlo.slice %x [0:16] : (tensor<16xf32>) -> tensor<16xf32>\n"
        "  return %y : tensor<16xf32> }",
        "");
    see("(%x: tensor<16xf32>) -> tensor<16xf32> {\n"
        "  %y = stablehlo.slice %x [8:24] : (tensor<16xf32>) -> tensor<16xf32>\n"
        "  return %y : tensor<16xf32> }",
        "kernel kernel (slice) at test:2:8: loads 16 bytes at offset 64 of operand 0, f32[16], "
        "which has 64 bytes (TUTTI_CHECK=bounds)");
    see("(%x: tensor<16xf32>) -> tensor<16xf32> {\n"
        "  %y = stablehlo.slice %x [0:80:5] : (tensor<16xf32>) -> tensor<16xf32>\n"
        "  return %y : tensor<16xf32> }",
        "kernel kernel (slice) at test:2:8: gathers 4 bytes at offset 140 of operand 0, f32[16], "
        "which has 64 bytes (TUTTI_CHECK=bounds)");
    see("(%x: tensor<4xf32>, %p: tensor<f32>) -> tensor<8xf32> {\n"
        "  %y = stablehlo.pad %x, %p, low = [2], high = [0], interior = [0]"
        " : (tensor<4xf32>, tensor<f32>) -> tensor<8xf32>\n"
        "  return %y : tensor<8xf32> }",
        "kernel kernel (pad) at test:2:8: loads 4 bytes at offset 20 of operand 0, f32[4], which "
        "has 16 bytes (TUTTI_CHECK=bounds)");
    see("(%x: tensor<16xf32>, %y: tensor<8xf32>) -> (tensor<16xf32>, tensor<8xf32>) {\n"
        "  %a = stablehlo.negate %x : tensor<16xf32>\n"
        "  %b = stablehlo.negate %a : (tensor<16xf32>) -> tensor<8xf32>\n"
        "  return %a, %b : tensor<16xf32>, tensor<8xf32> }",
        "kernel kernel (negate, negate) at test:3:8: stores 16 bytes at offset 32 of result 1, "
        "f32[8], which has 32 bytes (TUTTI_CHECK=bounds)");
    see("(%x: tensor<4x8xf32>, %y: tensor<8x4xf32>) -> tensor<4x4xf32> {\n"
        "  %z = stablehlo.dot_general %x, %y, contracting_dims = [1] x [1]"
        " : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>\n"
        "  return %z : tensor<4x4xf32> }",
        "kernel kernel (dot_general) at test:2:8: calls a routine on 144 bytes at offset 0 of "
        "operand 1, f32[8,4], which has 128 bytes (TUTTI_CHECK=bounds)");
    see("(%x: tensor<8xf32>, %y: tensor<4xf32>) -> (tensor<8xf32>, tensor<4xf32>) {\n"
        "  %r:2 = \"stablehlo.sort\"(%x, %y) <{dimension = 0 : i64, is_stable = true}> ({\n"
        "  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>, %d: tensor<f32>):\n"
        "    %l = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"
        "    stablehlo.return %l : tensor<i1>\n"
        "  }) : (tensor<8xf32>, tensor<4xf32>) -> (tensor<8xf32>, tensor<4xf32>)\n"
        "  return %r#0, %r#1 : tensor<8xf32>, tensor<4xf32> }",
        "kernel kernel (sort) at test:2:10: calls a routine on 32 bytes at offset 0 of operand 1, "
        "f32[4], which has 16 bytes (TUTTI_CHECK=bounds)");
}

/* ---- lanes ---- */

typedef struct Lanes {
    Emit e;
    LLVMTypeRef i32, i64, vector; /* four f32 */
    LLVMValueRef array;           /* of 64 bytes */
} Lanes;

static void lanes_begin(Lanes *l, Arena *arena)
{
    CHECK(!emit_begin(&l->e, arena, "test", NULL));
    LLVMContextRef c = l->e.context;
    LLVMTypeRef ptr = LLVMPointerTypeInContext(c, 0), types[] = { ptr, ptr };
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(c), types, 2, false);
    LLVMValueRef f = LLVMAddFunction(l->e.llvm, "kernel", type);
    l->i32 = LLVMInt32TypeInContext(c);
    l->i64 = LLVMInt64TypeInContext(c);
    l->vector = LLVMVectorType(LLVMFloatTypeInContext(c), 4);
    l->array = LLVMGetParam(f, 1);
    bounds_function(&l->e, f, LLVMGetParam(f, 0), "lanes");
    bounds_array(&l->e, l->array, 64, "an array");
    LLVMPositionBuilderAtEnd(l->e.builder, LLVMAppendBasicBlockInContext(c, f, ""));
}

static void masked(Lanes *l, const char *name, LLVMValueRef from, unsigned mask)
{
    LLVMTypeRef types[] = { l->vector, LLVMTypeOf(from) };
    LLVMValueRef on[4];
    for (unsigned i = 0; i < 4; i++)
        on[i] = LLVMConstInt(LLVMInt1TypeInContext(l->e.context), mask >> i & 1, false);
    LLVMValueRef args[] = { from, LLVMConstInt(l->i32, 4, false), LLVMConstVector(on, 4),
                            LLVMConstNull(l->vector) };
    LLVMValueRef f =
        LLVMGetIntrinsicDeclaration(l->e.llvm, LLVMLookupIntrinsicID(name, strlen(name)), types, 2);
    LLVMBuildCall2(l->e.builder, LLVMGlobalGetValueType(f), f, args, 4, "");
    LLVMBuildRetVoid(l->e.builder);
}

/* A masked load from element `first` on. */
static void see_load(int64_t first, unsigned mask, const char *message)
{
    Lanes l;
    Arena *arena = arena_new();
    lanes_begin(&l, arena);
    LLVMValueRef at = LLVMConstInt(l.i64, (unsigned long long)first, true);
    LLVMTypeRef one = LLVMFloatTypeInContext(l.e.context);
    masked(&l, "llvm.masked.load", LLVMBuildGEP2(l.e.builder, one, l.array, &at, 1, ""), mask);
    run_object(&l.e, message);
    emit_end(&l.e);
    arena_free(arena);
}

/* A gather of elements 0, 1, 2 and `last`. */
static void see_gather(int64_t last, unsigned mask, const char *message)
{
    Lanes l;
    Arena *arena = arena_new();
    lanes_begin(&l, arena);
    LLVMValueRef at[4];
    for (int i = 0; i < 4; i++)
        at[i] = LLVMConstInt(l.i64, (unsigned long long)(i < 3 ? i : last), true);
    LLVMValueRef all = LLVMConstVector(at, 4);
    LLVMTypeRef one = LLVMFloatTypeInContext(l.e.context);
    masked(&l, "llvm.masked.gather", LLVMBuildGEP2(l.e.builder, one, l.array, &all, 1, ""), mask);
    run_object(&l.e, message);
    emit_end(&l.e);
    arena_free(arena);
}

static void test_lanes(void)
{
#define OF " of an array, which has 64 bytes (TUTTI_CHECK=bounds)"
    see_load(12, 0xf, "");
    see_load(13, 0xf, "lanes: loads 4 bytes at offset 64" OF);
    see_load(13, 0x7, "");
    see_load(-1, 0xe, "");
    see_load(-1, 0xf, "lanes: loads 4 bytes at offset -4" OF);
    see_load(250, 0x0, "lanes: loads 4 bytes at offset 1012" OF);
    see_load(INT64_C(1) << 61, 0x1, "lanes: loads 4 bytes at offset -9223372036854775796" OF);
    see_gather(15, 0xf, "");
    see_gather(16, 0xf, "lanes: gathers 4 bytes at offset 64" OF);
    see_gather(16, 0x7, "lanes: gathers 4 bytes at offset 64" OF);
    see_gather(-1, 0x7, "lanes: gathers 4 bytes at offset -4" OF);
#undef OF
}

/* Code with a pointer or function that is not declared does not compile. */
static void test_unknown(void)
{
    Arena *arena = arena_new();
    Emit e;
    char *bytes = NULL;
    size_t n = 0;
    CHECK(!emit_begin(&e, arena, "test", NULL));
    LLVMTypeRef ptr = LLVMPointerTypeInContext(e.context, 0);
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(e.context), &ptr, 1, false);
    LLVMValueRef f = LLVMAddFunction(e.llvm, "kernel", type);
    LLVMPositionBuilderAtEnd(e.builder, LLVMAppendBasicBlockInContext(e.context, f, ""));
    LLVMBuildLoad2(e.builder, ptr, LLVMGetParam(f, 0), "");
    LLVMBuildRetVoid(e.builder);
    Error *error = emit_object(&e, &bytes, &n);
    say("no bounds_function says whose code the function kernel is", error);
    error_free(error);
    bounds_function(&e, f, NULL, "kernel");
    error = emit_object(&e, &bytes, &n);
    say("kernel: no bounds_array says how large the array is that it reads or writes", error);
    error_free(error);
    emit_end(&e);
    arena_free(arena);
}

/* ---- whole programs ---- */

static const char summed[] = "func.func public @main(%x: tensor<8xf32>) -> tensor<8xf32> {\n"
                             "  %y = stablehlo.sine %x : tensor<8xf32>\n"
                             "  return %y : tensor<8xf32>\n"
                             "}\n";

/* The segment that called the kernel fails, and the frame has the message. */
static void run_program(int32_t want, const char *message)
{
    Program *p = NULL;
    Source s = { .bytes = str_of(summed), .options = { .name = "test" } };
    Error *error = compile_program(&s, &p);
    CHECK_STR(error ? error_text(error) : "", "");
    float x[8] = { 0 }, y[8];
    Frame f = { .slab = memory[0],
                .pool = p->pool,
                .args = (void *[]){ x },
                .outs = (void *[]){ y },
                .rt = &runtime,
                .cancel = &never,
                .program = p };
    CHECK(p->segments[0](&f) == want);
    say(message, f.error);
    error_free(f.error);
    program_free(p);
}

static void test_program(void)
{
    run_program(SEGMENT_END, "");
    bounds_withheld = 4;
    run_program(SEGMENT_FAIL,
                "kernel k0 (sine) at test:2:8: loads 16 bytes at offset 16 of operand 0, f32[8], "
                "which has 28 bytes (TUTTI_CHECK=bounds)");
    bounds_withheld = 0;
}

static void test_words(void)
{
    Program *p = NULL;
    Source s = { .bytes = str_of(summed), .options = { .name = "test" } };
    setenv("TUTTI_CHECK", "bound", 1);
    Error *error = compile_program(&s, &p);
    CHECK_STR(error ? error_text(error) : "",
              "TUTTI_CHECK: there is no check 'bound'; there are bounds and nans, and without one "
              "code checks nothing");
    error_free(error);
}

int main(void)
{
    if (machine_has(MACHINE_X86_64_V2)) /* elsewhere vectors are as short by themselves */
        setenv("TUTTI_CPU_LEVEL", "sse", 1);
    setenv("TUTTI_CHECK", "bounds", 1);
    test_programs();
    test_lanes();
    test_unknown();
    test_program();
    test_words();
    return check_done();
}
