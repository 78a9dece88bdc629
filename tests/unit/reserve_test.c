/* reserve_test.c - LLVM out of memory, and LLVM's fatal errors: the compilation is left, the
 * process and the compiler go on. */
#include "base/guard.h"
#include "engine/compile.h"
#include "engine/link/link.h"
#include "tests/check.h"

#include <stdint.h>

/* operator new, llvm::report_bad_alloc_error, llvm::report_fatal_error */
extern void *cpp_new(size_t bytes) __asm__("_Znwm");
extern void llvm_bad_alloc(const char *why,
                           bool dump) __asm__("_ZN4llvm22report_bad_alloc_errorEPKcb");
extern void llvm_fatal(const char *why, bool dump) __asm__("_ZN4llvm18report_fatal_errorEPKcb");

static const char program[] = "func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n"
                              "  %b = stablehlo.sine %a : tensor<4xf32>\n"
                              "  return %b : tensor<4xf32>\n}\n";

static void compiles(void)
{
    Program *p = NULL;
    Source s = { .bytes = str_of(program) };
    Error *error = compile_program(&s, &p);
    CHECK_STR(error ? error_text(error) : "", "");
    program_free(p);
}

typedef enum Way { BY_NEW, BY_MALLOC, BY_FATAL } Way;

static void break_off(void *user)
{
    Emit e;
    Arena *arena = arena_new();
    CHECK(!emit_begin(&e, arena, "test", NULL));
    volatile size_t much = SIZE_MAX / 4;
    switch (*(Way *)user) {
    case BY_NEW: cpp_new(much); break;
    case BY_MALLOC: llvm_bad_alloc("a list", false); break;
    case BY_FATAL: llvm_fatal("a surprise", false); break;
    }
    CHECK(!"left before");
}

static void is_left(Way way, ErrorCode code, const char *why)
{
    for (int i = 0; i < 3; i++) {
        Error *error = guard_run("test", break_off, &way);
        CHECK(error && error_code(error) == code);
        CHECK(error && strstr(error_text(error), why));
        error_free(error);
        compiles();
    }
}

/* Spends the reserve, and has what it wants when it asks again. */
static void break_off_in_order(void *user)
{
    (void)user;
    Emit e;
    char *bytes;
    size_t n;
    CHECK(!emit_begin(&e, arena_new(), "test", NULL));
    extern void (*get_new_handler(void))(void) __asm__("_ZSt15get_new_handlerv");
    get_new_handler()();
    CHECK(!reserve_lost());
    Error *error = emit_object(&e, &bytes, &n);
    CHECK(!error && !"left before");
}

static void reserve_lets_llvm_finish(void)
{
    for (int i = 0; i < 3; i++) {
        Error *error = guard_run("test", break_off_in_order, NULL);
        CHECK(error && error_code(error) == CODE_EXHAUSTED);
        CHECK(error && strstr(error_text(error), "LLVM has no memory"));
        CHECK(!reserve_lost());
        error_free(error);
        compiles();
    }
}

int main(void)
{
    compiles();
    reserve_lets_llvm_finish();
#ifndef __SANITIZE_ADDRESS__ /* what is lost is lost, and its operator new has no handler */
    is_left(BY_NEW, CODE_EXHAUSTED, "LLVM has no memory");
    is_left(BY_MALLOC, CODE_EXHAUSTED, "LLVM has no memory: a list");
    is_left(BY_FATAL, CODE_INTERNAL, "LLVM gave up: a surprise");
#else
    (void)is_left;
#endif
    return check_done();
}
