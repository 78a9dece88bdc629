/* plain_code_test.c - functions that only call others do the same as LLVM's code of them: results and
 * memory, for numbers at all edges; and those that plain code cannot be made of stay LLVM's.  Links the
 * engine and LLVM. */
#include "base/guard.h"
#include "engine/link/link.h"
#include "engine/link/plain_code.h"
#include "tests/check.h"

#include <llvm-c/IRReader.h>
#include <sys/mman.h>

#ifdef __x86_64__

enum { WORDS = 16 };
typedef int64_t Function(int64_t *memory, int64_t a, int64_t b);

/* Sums wrap round. */
static uint64_t nine(uint64_t a, uint64_t b, uint64_t c, uint32_t d, uint64_t e, uint64_t f,
                     uint64_t g, uint32_t h, uint64_t *i)
{
    *i += 7;
    return a + 2 * b + 3 * c + 5 * d + 7 * e + 11 * f + 13 * g + 17 * h;
}

static _Bool is_odd(int64_t a)
{
    return a & 1;
}

static int32_t low(int64_t a)
{
    return (int32_t)a;
}

/* At the start of the memory that functions are given. */
static void memory_fill(int64_t *memory)
{
    memory[0] = (int64_t)(intptr_t)nine;
    memory[1] = (int64_t)(intptr_t)is_odd;
    memory[2] = (int64_t)(intptr_t)low;
    for (int i = 3; i < WORDS; i++)
        memory[i] = (int64_t)(0x8899aabbccddeeffull * (unsigned)i);
}

static const char *const functions[] = { "sums",  "narrow", "compare", "compare32",
                                         "calls", "room",   "others",  "copies" };
enum { NFUNCTIONS = sizeof functions / sizeof *functions };

static const char text[] =
    "define i64 @sums(ptr %m, i64 %a, i64 %b) {\n"
    "  %s = add i64 %a, %b\n"
    "  %p = mul i64 %s, %b\n"
    "  %q = add i64 %p, -9223372036854775807\n"
    "  %r = mul i64 %q, 12345678901\n"
    "  %at = getelementptr i8, ptr %m, i64 40\n"
    "  %at32 = getelementptr i32, ptr %at, i64 2\n"
    "  %x = load i32, ptr %at32\n"
    "  %y = add i32 %x, 2000000000\n"
    "  %z = mul i32 %y, -3\n"
    "  store i32 %z, ptr %at\n"
    "  ret i64 %r }\n"
    "define i64 @narrow(ptr %m, i64 %a, i64 %b) {\n"
    "  %p = getelementptr i8, ptr %m, i64 33\n"
    "  %q = getelementptr i8, ptr %m, i64 74\n"
    "  %r = getelementptr i8, ptr %m, i64 100\n"
    "  %x = load i8, ptr %p\n"
    "  %y = load i16, ptr %q, align 1\n"
    "  %z = load i32, ptr %r\n"
    "  store i8 %x, ptr %r\n"
    "  store i16 %y, ptr %p, align 1\n"
    "  store i32 %z, ptr %q, align 1\n"
    "  store i8 -1, ptr %m\n"
    "  store i1 true, ptr %q\n"
    "  store i64 %b, ptr %r, align 1\n"
    "  ret i64 %a }\n"
    "define i64 @compare(ptr %m, i64 %a, i64 %b) {\n"
    "  %c0 = icmp eq i64 %a, %b\n  br i1 %c0, label %t0, label %f0\n"
    "t0:\n  store i64 1, ptr %m\n  br label %f0\n"
    "f0:\n  %c1 = icmp ult i64 %a, %b\n  br i1 %c1, label %t1, label %f1\n"
    "t1:\n  %m1 = getelementptr i64, ptr %m, i64 1\n  store i64 2, ptr %m1\n  br label %f1\n"
    "f1:\n  %c2 = icmp sle i64 %a, %b\n  br i1 %c2, label %t2, label %f2\n"
    "t2:\n  %m2 = getelementptr i64, ptr %m, i64 2\n  store i64 3, ptr %m2\n  br label %f2\n"
    "f2:\n  %c3 = icmp ugt i64 %a, 4294967296\n  br i1 %c3, label %t3, label %f3\n"
    "t3:\n  %m3 = getelementptr i64, ptr %m, i64 3\n  store i64 4, ptr %m3\n  br label %f3\n"
    "f3:\n  %c4 = icmp sge i64 %a, -1\n  br i1 %c4, label %t4, label %f4\n"
    "t4:\n  %m4 = getelementptr i64, ptr %m, i64 4\n  store i64 5, ptr %m4\n  br label %f4\n"
    "f4:\n  %null = icmp ne ptr %m, null\n  br i1 %null, label %end, label %out\n"
    "end:\n  ret i64 -1\nout:\n  ret i64 -3 }\n"
    "define i64 @compare32(ptr %m, i64 %a, i64 %b) {\n"
    "  %l = getelementptr i64, ptr %m, i64 2\n  %f = load ptr, ptr %l\n"
    "  %x = call i32 %f(i64 %a)\n  %y = call i32 %f(i64 %b)\n"
    "  %c0 = icmp ne i32 %x, %y\n  br i1 %c0, label %t0, label %f0\n"
    "t0:\n  store i32 1, ptr %m\n  br label %f0\n"
    "f0:\n  %c1 = icmp uge i32 %x, %y\n  br i1 %c1, label %t1, label %f1\n"
    "t1:\n  %m1 = getelementptr i64, ptr %m, i64 1\n  store i32 %x, ptr %m1\n  br label %f1\n"
    "f1:\n  %c2 = icmp sgt i32 %x, %y\n  br i1 %c2, label %t2, label %f2\n"
    "t2:\n  %m3 = getelementptr i64, ptr %m, i64 3\n  store i32 %y, ptr %m3\n  br label %f2\n"
    "f2:\n  %c3 = icmp slt i32 %x, -2\n  br i1 %c3, label %t3, label %f3\n"
    "t3:\n  ret i64 3\n"
    "f3:\n  %c4 = icmp ule i32 %x, 7\n  br i1 %c4, label %t4, label %f4\n"
    "t4:\n  ret i64 4\n"
    "f4:\n  ret i64 5 }\n"
    "define i64 @calls(ptr %m, i64 %a, i64 %b) {\n"
    "  %f = load ptr, ptr %m\n"
    "  %p = getelementptr i64, ptr %m, i64 9\n"
    "  %r = call i64 %f(i64 %a, i64 2, i64 %b, i32 -4, i64 -5, i64 %a, i64 %b, i32 -8, ptr %p)\n"
    "  %o = getelementptr i64, ptr %m, i64 1\n  %odd = load ptr, ptr %o\n"
    "  %is = call i1 %odd(i64 %r)\n  br i1 %is, label %yes, label %no\n"
    "no:\n  ret i64 %r\n"
    "yes:\n  %again = call i64 @inner(ptr %m, i64 %r, i64 1, i64 2, i64 3, i64 4, i64 %a, ptr %p)\n"
    "  ret i64 %again }\n"
    "define internal i64 @inner(ptr %m, i64 %r, i64 %c, i64 %d, i64 %e, i64 %f, i64 %seventh, ptr "
    "%eighth) {\n"
    "  %x = mul i64 %seventh, %r\n  store i64 %x, ptr %eighth\n  %y = add i64 %x, %f\n  ret i64 %y "
    "}\n"
    "define i64 @room(ptr %m, i64 %a, i64 %b) {\n"
    "  %r = alloca [5 x i64]\n  %one = alloca ptr\n"
    "  store ptr @inner, ptr %one\n"
    "  store i64 %a, ptr %r\n  %r4 = getelementptr i64, ptr %r, i64 4\n  store i64 %b, ptr %r4\n"
    "  %f = load ptr, ptr %one\n"
    "  %x = call i64 %f(ptr null, i64 %a, i64 0, i64 0, i64 0, i64 9, i64 %b, ptr %r4)\n"
    "  %y = load i64, ptr %r4\n  %z = load i64, ptr %r\n"
    "  %i = getelementptr i64, ptr %m, i64 10\n  store i64 3, ptr %i\n  %n = load i64, ptr %i\n"
    "  %at = getelementptr i32, ptr %m, i64 %n\n  %back = getelementptr i8, ptr %at, i64 -4\n"
    "  %w = load i32, ptr %back\n  store i32 %w, ptr %i\n"
    "  %s = add i64 %x, %y\n  %t = mul i64 %s, %z\n  ret i64 %t }\n"
    "define i64 @others(ptr %m, i64 %a, i64 %b) {\n"
    "  %p = getelementptr i64, ptr %m, i64 11\n"
    "  %r = call ptr @memset(ptr %p, i32 77, i64 13)\n"
    "  %is = icmp eq ptr %r, %p\n  br i1 %is, label %yes, label %no\n"
    "yes:\n  ret i64 1\nno:\n  ret i64 0 }\n"
    "declare ptr @memset(ptr, i32, i64)\n"
    "define i64 @copies(ptr %m, i64 %a, i64 %b) {\n"
    "  %p = getelementptr i64, ptr %m, i64 4\n  %q = getelementptr i64, ptr %m, i64 5\n"
    "  %r = getelementptr i8, ptr %m, i64 77\n  %s = getelementptr i64, ptr %m, i64 12\n"
    "  %t = getelementptr i8, ptr %m, i64 33\n"
    "  call void @llvm.memcpy.p0.p0.i64(ptr %q, ptr %p, i64 8, i1 false)\n"
    "  call void @llvm.memcpy.p0.p0.i64(ptr %s, ptr %t, i64 4, i1 false)\n"
    "  call void @llvm.memcpy.p0.p0.i64(ptr %t, ptr %r, i64 2, i1 false)\n"
    "  call void @llvm.memcpy.p0.p0.i64(ptr %p, ptr %r, i64 1, i1 false)\n"
    "  %u = getelementptr i64, ptr %m, i64 13\n"
    "  call void @llvm.memcpy.p0.p0.i64(ptr %r, ptr %u, i64 19, i1 false)\n"
    "  store i64 5, ptr %s\n  %n = load i64, ptr %s\n"
    "  call void @llvm.memcpy.p0.p0.i64(ptr %t, ptr %u, i64 %n, i1 false)\n"
    "  call void @llvm.memcpy.p0.p0.i64(ptr %p, ptr %u, i64 0, i1 false)\n"
    "  ret i64 %b }\n"
    "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)\n";

static void module_read(Emit *e, const char *ir)
{
    char *why = NULL;
    LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(ir, strlen(ir), "test");
    LLVMDisposeModule(e->llvm);
    CHECK(!LLVMParseIRInContext(e->context, buffer, &e->llvm, &why));
    CHECK_STR(why ? why : "", "");
}

static const int64_t numbers[] = { 0,
                                   1,
                                   -1,
                                   2,
                                   7,
                                   -2,
                                   -3,
                                   0x7fffffff,
                                   -0x80000000ll,
                                   0xffffffffll,
                                   0x100000000ll,
                                   0x100000001ll,
                                   INT64_MAX,
                                   INT64_MIN };
enum { NNUMBERS = sizeof numbers / sizeof *numbers };

static void compare(const char *name, Function *ours, Function *llvms)
{
    for (int i = 0; i < NNUMBERS * NNUMBERS; i++) {
        int64_t a = numbers[i / NNUMBERS], b = numbers[i % NNUMBERS], one[WORDS], two[WORDS];
        memory_fill(one);
        memory_fill(two);
        int64_t x = ours(one, a, b), y = llvms(two, a, b);
        if (x == y && memcmp(one, two, sizeof one) == 0)
            continue;
        printf("%s(%lld, %lld)\n", name, (long long)a, (long long)b);
        CHECK(x == y);
        CHECK(memcmp(one, two, sizeof one) == 0);
        return;
    }
}

static void see_functions(void)
{
    Arena *arena = arena_new();
    Emit plain, whole;
    PlainCode p = { 0 };
    Code *code = code_new(), *mapped = code_new();
    char *bytes = NULL;
    unsigned char *at = NULL;
    size_t n = 0;
    Error *error = emit_begin(&plain, arena, "plain", NULL);
    if (!error)
        error = emit_begin(&whole, arena, "whole", NULL);
    module_read(&plain, text);
    module_read(&whole, text);
    plain_code_take(&plain, arena, &p);
    CHECK(!has_code(&plain));
    CHECK(p.nfunctions == NFUNCTIONS + 1 && p.nwords == 1);
    CHECK_STR(p.nwords ? p.words[0] : "", "memset");
    if (!error)
        error = emit_object(&whole, &bytes, &n);
    if (!error)
        error = code_add(code, bytes, n);
    if (!error)
        error = code_map(mapped, plain_code_bytes(&p), &at);
    if (!error) {
        memcpy(at, p.code, (size_t)p.n);
        ((void **)(at + plain_code_words_at(&p)))[0] = (void *)memset;
        error = code_seal(mapped);
    }
    for (int i = 0; i < p.nfunctions && !error; i++) {
        void *llvms = NULL;
        if (strcmp(p.names[i], "inner") == 0)
            continue;
        error = code_find(code, p.names[i], &llvms);
        if (!error)
            compare(p.names[i], (Function *)(void *)(at + p.at[i]), (Function *)llvms);
    }
    CHECK_STR(error ? error_text(error) : "", "");
    error_free(error);
    code_free(code);
    code_free(mapped);
    heap_free(bytes);
    emit_end(&plain);
    emit_end(&whole);
    arena_free(arena);
}

/* How many functions of the module plain code is made of. */
static int taken(const char *ir)
{
    Arena *arena = arena_new();
    Emit e;
    PlainCode p = { 0 };
    Error *error = emit_begin(&e, arena, "test", NULL);
    CHECK(!error);
    module_read(&e, ir);
    plain_code_take(&e, arena, &p);
    int n = p.nfunctions;
    emit_end(&e);
    arena_free(arena);
    return n;
}

static void see_what_stays(void)
{
    /* a loop, arithmetic, and what these name */
    CHECK(taken("define void @f(ptr %m) { ret void }") == 1);
    CHECK(taken("define void @f(ptr %m) {\n br label %l\nl:\n call void @g(ptr %m)\n"
                " %x = load i64, ptr %m\n %c = icmp eq i64 %x, 0\n br i1 %c, label %l, label "
                "%e\ne:\n ret void }\n"
                "define void @g(ptr %m) {\n call void @h(ptr %m)\n ret void }\n"
                "define void @h(ptr %m) { ret void }\n"
                "define void @alone(ptr %m) { ret void }\n") == 1);
    /* what is only plain by its instructions' names */
    CHECK(taken("define void @f(ptr %m, i32 %x) { ret void }") == 0);
    CHECK(taken("define void @f(ptr %m) {\n call void @g(double 1.0)\n ret void }\ndeclare void "
                "@g(double)") == 0);
    CHECK(taken("define void @f(ptr %m) {\n call void @g(i128 1)\n ret void }\ndeclare void "
                "@g(i128)") == 0);
    CHECK(taken("define void @f(ptr %m) {\n call void (ptr, ...) @g(ptr %m)\n ret void }\ndeclare "
                "void @g(ptr, ...)") == 0);
    CHECK(taken("define void @f(ptr %m) {\n call void @llvm.memset.p0.i64(ptr %m, i8 0, i64 8, i1 "
                "false)\n ret void }\n"
                "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)") == 0);
    CHECK(taken("define void @f(ptr %m) {\n %x = load i8, ptr %m\n %y = load i8, ptr %m\n %c = "
                "icmp ult i8 %x, %y\n"
                " br i1 %c, label %a, label %b\na:\n ret void\nb:\n ret void }") == 0);
    CHECK(taken("define void @f(ptr %m) {\n store atomic i64 1, ptr %m seq_cst, align 8\n ret void "
                "}") == 0);
    CHECK(
        taken(
            "@g = constant i64 1\ndefine void @f(ptr %m) {\n store ptr @g, ptr %m\n ret void }") ==
        0);
}

static void see(void *unused)
{
    (void)unused;
    see_functions();
    see_what_stays();
}

int main(void)
{
    Error *left = guard_run("testing", see, NULL);
    CHECK(!left);
    error_free(left);
    llvm_end();
    return check_done();
}

#else

int main(void)
{
    return 0; /* all functions are LLVM's */
}

#endif
