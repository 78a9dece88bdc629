/* compile_test.c - programs in, numbers out, on one device; and what the program looks like.
 * Links the engine and LLVM: compile, the evaluator, the emitters. */
#include "engine/compile.h"
#include "engine/slices.h"
#include "tests/check.h"
#include "tests/one_device.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define MAIN(text) "module @t {\n" text "}\n"

static Program *compiled(const char *text, bool evaluate)
{
    Program *p = NULL;
    Source s = { .bytes = str_of(text), .options = { .name = "test", .evaluate = evaluate } };
    Error *error = compile_program(&s, &p);
    CHECK_STR(error ? error_text(error) : "", "");
    error_free(error);
    return p;
}

static void run_program(const Program *p, void **args, void **outs)
{
    Error *error = run_on_one_device(p, &runtime, args, outs);
    CHECK_STR(error ? error_text(error) : "", "");
    error_free(error);
}

/* ---- loops ---- */

static int nfailed;

static void gemm_without_memory(const Frame *f, int64_t kind, int64_t m, int64_t n, int64_t k,
                                const void *a, int64_t a_row, int64_t a_col, const void *b,
                                int64_t b_row, int64_t b_col, void *c, int64_t c_row)
{
    (void)kind, (void)m, (void)n, (void)k, (void)a, (void)a_row, (void)a_col, (void)b, (void)b_row,
        (void)b_col;
    (void)c, (void)c_row;
    nfailed++;
    frame_fail(f, error_new(CODE_EXHAUSTED, "no memory for a product"));
}

/* Run by a runtime whose products fail.  Returns when the program does. */
static void check_ends_with_error(const char *text)
{
    Program *p = compiled(text, false);
    Runtime failing = runtime;
    failing.gemm = gemm_without_memory;
    static float x[64 * 64], y[64 * 64];
    static int32_t zero, out;
    nfailed = 0;
    alarm(60); /* rather than to wait for ever */
    Error *error = run_on_one_device(p, &failing, (void *[]){ x, &zero }, (void *[]){ y, &out });
    alarm(0);
    CHECK(nfailed == 1);
    CHECK_STR(error ? error_text(error) : "", "no memory for a product");
    error_free(error);
    program_free(p);
}

/* A loop that goes on while a counter is 0, which stays 0; its body is a product and `more`. */
#define ENDLESS(more)                                                                              \
    MAIN("func.func public @main(%x: tensor<64x64xf32>, %zero: tensor<i32>) "                      \
         "-> (tensor<64x64xf32>, tensor<i32>) {\n"                                                 \
         "  %r:2 = stablehlo.while(%a = %x, %i = %zero) : tensor<64x64xf32>, tensor<i32>\n"        \
         "  cond {\n"                                                                              \
         "    %t = stablehlo.compare EQ, %i, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"   \
         "    stablehlo.return %t : tensor<i1>\n"                                                  \
         "  } do {\n"                                                                              \
         "    %b = stablehlo.dot_general %a, %x, contracting_dims = [1] x [0]"                     \
         " : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>\n" more                   \
         "    stablehlo.return %b, %j : tensor<64x64xf32>, tensor<i32>\n"                          \
         "  }\n"                                                                                   \
         "  return %r#0, %r#1 : tensor<64x64xf32>, tensor<i32>\n"                                  \
         "}\n")

static void test_failing_loop_ends(void)
{
    check_ends_with_error(ENDLESS("    %j = stablehlo.add %i, %zero : tensor<i32>\n"));
    /* A collective that is never reached: the loop is of segments. */
    check_ends_with_error(ENDLESS("    %j = \"stablehlo.case\"(%i) ({\n"
                                  "      %k = stablehlo.add %i, %zero : tensor<i32>\n"
                                  "      stablehlo.return %k : tensor<i32>\n"
                                  "    }, {\n"
                                  "      %k = \"stablehlo.all_reduce\"(%i) ({\n"
                                  "        ^bb0(%p: tensor<i32>, %q: tensor<i32>):\n"
                                  "          %s = stablehlo.add %p, %q : tensor<i32>\n"
                                  "          stablehlo.return %s : tensor<i32>\n"
                                  "      }) {replica_groups = dense<[[0]]> : tensor<1x1xi64>} : "
                                  "(tensor<i32>) -> tensor<i32>\n"
                                  "      stablehlo.return %k : tensor<i32>\n"
                                  "    }) : (tensor<i32>) -> tensor<i32>\n"));
}

static void test_fibonacci(void)
{
    Program *p =
        compiled(MAIN("func.func public @main(%n: tensor<i32>) -> (tensor<i32>, tensor<i32>) {\n"
                      "  %zero = stablehlo.constant dense<0> : tensor<i32>\n"
                      "  %one = stablehlo.constant dense<1> : tensor<i32>\n"
                      "  %r:3 = stablehlo.while(%i = %zero, %a = %zero, %b = %one)"
                      " : tensor<i32>, tensor<i32>, tensor<i32>\n"
                      "  cond {\n"
                      "    %c = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) "
                      "-> tensor<i1>\n"
                      "    stablehlo.return %c : tensor<i1>\n"
                      "  } do {\n"
                      "    %j = stablehlo.add %i, %one : tensor<i32>\n"
                      "    %s = stablehlo.add %a, %b : tensor<i32>\n"
                      "    stablehlo.return %j, %b, %s : tensor<i32>, tensor<i32>, tensor<i32>\n"
                      "  }\n"
                      "  return %r#1, %r#2 : tensor<i32>, tensor<i32>\n"
                      "}\n"),
                 false);
    int32_t n = 10, a = -1, b = -1;
    run_program(p, (void *[]){ &n }, (void *[]){ &a, &b });
    CHECK(a == 55 && b == 89);
    CHECK(!p->is_cost_known);
    n = 0;
    run_program(p, (void *[]){ &n }, (void *[]){ &a, &b });
    CHECK(a == 0 && b == 1);
    program_free(p);
}

/* Three carried values go round in a ring: no order of copies alone can do it. */
static void test_ring(void)
{
    Program *p = compiled(
        MAIN("func.func public @main(%x: tensor<4xf32>, %y: tensor<4xf32>, %z: tensor<4xf32>, %n: "
             "tensor<i32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {\n"
             "  %zero = stablehlo.constant dense<0> : tensor<i32>\n"
             "  %one = stablehlo.constant dense<1> : tensor<i32>\n"
             "  %r:4 = stablehlo.while(%i = %zero, %a = %x, %b = %y, %c = %z)"
             " : tensor<i32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>\n"
             "  cond {\n"
             "    %t = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> "
             "tensor<i1>\n"
             "    stablehlo.return %t : tensor<i1>\n"
             "  } do {\n"
             "    %j = stablehlo.add %i, %one : tensor<i32>\n"
             "    stablehlo.return %j, %b, %c, %a"
             " : tensor<i32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>\n"
             "  }\n"
             "  return %r#1, %r#2, %r#3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>\n"
             "}\n"),
        false);
    float x[4] = { 1, 2, 3, 4 }, y[4] = { 5, 6, 7, 8 }, z[4] = { 9, 10, 11, 12 };
    float a[4], b[4], c[4];
    int32_t n = 4;
    run_program(p, (void *[]){ x, y, z, &n }, (void *[]){ a, b, c });
    CHECK(!memcmp(a, y, sizeof a) && !memcmp(b, z, sizeof b) && !memcmp(c, x, sizeof c));
    program_free(p);
}

/* An update in a loop writes into the result's own buffer: the slab never holds the array. */
static void test_update_in_place(void)
{
    enum { N = 1000 };
    Program *p = compiled(
        MAIN("func.func public @main() -> tensor<1000xi32> {\n"
             "  %zero = stablehlo.constant dense<0> : tensor<i32>\n"
             "  %one = stablehlo.constant dense<1> : tensor<i32>\n"
             "  %n = stablehlo.constant dense<1000> : tensor<i32>\n"
             "  %empty = stablehlo.constant dense<-1> : tensor<1000xi32>\n"
             "  %r:2 = stablehlo.while(%i = %zero, %a = %empty) : tensor<i32>, tensor<1000xi32>\n"
             "  cond {\n"
             "    %t = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> "
             "tensor<i1>\n"
             "    stablehlo.return %t : tensor<i1>\n"
             "  } do {\n"
             "    %s = stablehlo.multiply %i, %i : tensor<i32>\n"
             "    %u = stablehlo.reshape %s : (tensor<i32>) -> tensor<1xi32>\n"
             "    %b = stablehlo.dynamic_update_slice %a, %u, %i"
             " : (tensor<1000xi32>, tensor<1xi32>, tensor<i32>) -> tensor<1000xi32>\n"
             "    %j = stablehlo.add %i, %one : tensor<i32>\n"
             "    stablehlo.return %j, %b : tensor<i32>, tensor<1000xi32>\n"
             "  }\n"
             "  return %r#1 : tensor<1000xi32>\n"
             "}\n"),
        false);
    int32_t out[N];
    run_program(p, NULL, (void *[]){ out });
    int wrong = 0;
    for (int i = 0; i < N; i++)
        wrong += out[i] != i * i;
    CHECK(wrong == 0);
    CHECK(p->slab_bytes < N * sizeof(int32_t));
    program_free(p);
}

/* What a loop only reads is not copied into its memory. */
static void test_unchanged_carry(void)
{
    Program *p = compiled(
        MAIN("func.func public @main(%w: tensor<128xf32>, %x: tensor<128xf32>) -> tensor<128xf32> "
             "{\n"
             "  %zero = stablehlo.constant dense<0> : tensor<i32>\n"
             "  %one = stablehlo.constant dense<1> : tensor<i32>\n"
             "  %n = stablehlo.constant dense<3> : tensor<i32>\n"
             "  %r:3 = stablehlo.while(%i = %zero, %v = %w, %a = %x)"
             " : tensor<i32>, tensor<128xf32>, tensor<128xf32>\n"
             "  cond {\n"
             "    %t = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> "
             "tensor<i1>\n"
             "    stablehlo.return %t : tensor<i1>\n"
             "  } do {\n"
             "    %b = stablehlo.add %a, %v : tensor<128xf32>\n"
             "    %j = stablehlo.add %i, %one : tensor<i32>\n"
             "    stablehlo.return %j, %v, %b : tensor<i32>, tensor<128xf32>, tensor<128xf32>\n"
             "  }\n"
             "  return %r#2 : tensor<128xf32>\n"
             "}\n"),
        false);
    float w[128], x[128], out[128];
    for (int i = 0; i < 128; i++) {
        w[i] = (float)i;
        x[i] = 1;
    }
    run_program(p, (void *[]){ w, x }, (void *[]){ out });
    CHECK(out[0] == 1 && out[1] == 4 && out[127] == 382);
    CHECK(p->is_cost_known); /* three rounds, as the program says */
    CHECK(w[127] == 127 && x[127] == 1);
    CHECK(p->slab_bytes < sizeof w);
    program_free(p);
}

/* ---- branches ---- */

static void test_case(void)
{
    Program *p = compiled(
        MAIN("func.func public @main(%k: tensor<i32>, %x: tensor<2xf32>) -> (tensor<2xf32>, "
             "tensor<2xf32>) {\n"
             "  %y = stablehlo.add %x, %x : tensor<2xf32>\n"
             "  %r:2 = \"stablehlo.case\"(%k) ({\n"
             "    stablehlo.return %x, %y : tensor<2xf32>, tensor<2xf32>\n"
             "  }, {\n"
             "    %a = stablehlo.multiply %y, %y : tensor<2xf32>\n"
             "    stablehlo.return %y, %a : tensor<2xf32>, tensor<2xf32>\n"
             "  }, {\n"
             "    %b = stablehlo.negate %x : tensor<2xf32>\n"
             "    stablehlo.return %b, %b : tensor<2xf32>, tensor<2xf32>\n"
             "  }) : (tensor<i32>) -> (tensor<2xf32>, tensor<2xf32>)\n"
             "  return %r#0, %r#1 : tensor<2xf32>, tensor<2xf32>\n"
             "}\n"),
        false);
    static const int32_t index[] = { 0, 1, 2, 7, -3 };
    static const float first[] = { 3, 6, -3, -3, -3 }, second[] = { 6, 36, -3, -3, -3 };
    for (int i = 0; i < 5; i++) {
        int32_t k = index[i];
        float x[2] = { 3, 1 }, a[2] = { 0 }, b[2] = { 0 };
        run_program(p, (void *[]){ &k, x }, (void *[]){ a, b });
        CHECK(a[0] == first[i] && b[0] == second[i]);
        CHECK(x[0] == 3 && x[1] == 1);
    }
    CHECK(p->is_cost_known);
    program_free(p);
}

/* ---- results ---- */

static void test_results_that_are_no_computation(void)
{
    Program *p = compiled(
        MAIN("func.func public @main(%x: tensor<3xf32>, %e: tensor<0x4xf32>) -> (tensor<3xf32>, "
             "tensor<3xf32>, tensor<3xf32>, tensor<3xi32>, tensor<0x4xf32>) {\n"
             "  %y = stablehlo.negate %x : tensor<3xf32>\n"
             "  %c = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi32>\n"
             "  return %x, %x, %y, %c, %e"
             " : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xi32>, tensor<0x4xf32>\n"
             "}\n"),
        false);
    float x[3] = { 1, 2, 3 }, a[3], b[3], c[3], none;
    int32_t d[3];
    run_program(p, (void *[]){ x, &none }, (void *[]){ a, b, c, d, &none });
    CHECK(a[2] == 3 && b[2] == 3 && c[2] == -3 && d[0] == 1 && d[2] == 3);
    program_free(p);
}

static const char donated[] = MAIN(
    "func.func public @main(%%x: tensor<4xf32> {tf.aliasing_output = 0 : i32}) -> (tensor<4xf32>"
    "%s) {\n"
    "  %%y = stablehlo.add %%x, %%x : tensor<4xf32>\n"
    "  %%z = stablehlo.reverse %%x, dims = [0] : tensor<4xf32>\n"
    "  return %%y%s : tensor<4xf32>%s\n"
    "}\n");

static void test_donation(void)
{
    char text[1024];
    snprintf(text, sizeof text, donated, "", "", "");
    Program *p = compiled(text, false);
    CHECK(p->results[0].alias == 0);
    float x[4] = { 1, 2, 3, 4 };
    run_program(p, (void *[]){ x }, (void *[]){ x });
    CHECK(x[0] == 2 && x[3] == 8);
    program_free(p);

    /* Here x is read again after y is written, or y's kernel reads it elsewhere. */
    snprintf(text, sizeof text, donated, ", tensor<4xf32>", ", %z", ", tensor<4xf32>");
    p = compiled(text, false);
    float w[4] = { 1, 2, 3, 4 }, y[4], z[4];
    void *first = p->results[0].alias == 0 ? w : y;
    run_program(p, (void *[]){ w }, (void *[]){ first, z });
    CHECK(((float *)first)[0] == 2 && ((float *)first)[3] == 8);
    CHECK(z[0] == 4 && z[3] == 1);
    program_free(p);
}

/* ---- kernels ---- */

static void test_equal_kernels_are_one(void)
{
    Program *p = compiled(MAIN("func.func public @main(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) "
                               "-> tensor<8x8xf32> {\n"
                               "  %a = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]"
                               " : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>\n"
                               "  %b = stablehlo.tanh %a : tensor<8x8xf32>\n"
                               "  %c = stablehlo.dot_general %b, %w, contracting_dims = [1] x [0]"
                               " : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>\n"
                               "  %d = stablehlo.tanh %c : tensor<8x8xf32>\n"
                               "  return %d : tensor<8x8xf32>\n"
                               "}\n"),
                          false);
    CHECK(p->stats.kernels_compiled == 2);
    CHECK(p->stats.kernels_reused == 2);
    program_free(p);
}

/* One exponential for two readers, one kernel for a chain, no kernel for a reshape. */
static void test_what_is_fused(void)
{
    Program *p = compiled(
        MAIN("func.func public @main(%x: tensor<4x8xf32>) -> tensor<32xf32> {\n"
             "  %zero = stablehlo.constant dense<0.0> : tensor<f32>\n"
             "  %e = stablehlo.exponential %x : tensor<4x8xf32>\n"
             "  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1]"
             " : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>\n"
             "  %b = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<4xf32>) -> "
             "tensor<4x8xf32>\n"
             "  %d = stablehlo.divide %e, %b : tensor<4x8xf32>\n"
             "  %m = stablehlo.multiply %d, %d : tensor<4x8xf32>\n"
             "  %r = stablehlo.reshape %m : (tensor<4x8xf32>) -> tensor<32xf32>\n"
             "  return %r : tensor<32xf32>\n"
             "}\n"),
        false);
    CHECK(p->stats.kernels_compiled == 3);
    float x[32] = { 0 }, out[32];
    run_program(p, (void *[]){ x }, (void *[]){ out });
    CHECK(out[0] > 0.01562f && out[0] < 0.01563f); /* 1 / 8, squared */
    program_free(p);
}

/* Each step reads the one before at two places; on the fly that would be 2^24 additions. */
static void test_no_explosion(void)
{
    Text text = { 0 };
    text_printf(&text, "module @t {\nfunc.func public @main(%%a0: tensor<64xf32>) -> "
                       "tensor<64xf32> {\n");
    for (int i = 0; i < 24; i++) {
        text_printf(&text, "  %%r%d = stablehlo.reverse %%a%d, dims = [0] : tensor<64xf32>\n", i,
                    i);
        text_printf(&text, "  %%a%d = stablehlo.add %%a%d, %%r%d : tensor<64xf32>\n", i + 1, i, i);
    }
    text_printf(&text, "  return %%a24 : tensor<64xf32>\n}\n}\n");
    Program *p = compiled(text_cstr(&text), false);
    float x[64], out[64];
    for (int i = 0; i < 64; i++)
        x[i] = (float)(i == 0);
    run_program(p, (void *[]){ x }, (void *[]){ out });
    CHECK(out[0] == 8388608.0f && out[63] == 8388608.0f && out[1] == 0); /* 2^23 */
    text_free(&text);
    program_free(p);
}

static void test_long_chain(void)
{
    Text text = { 0 };
    text_printf(&text, "module @t {\nfunc.func public @main(%%a0: tensor<16xf32>) -> "
                       "tensor<16xf32> {\n");
    for (int i = 0; i < 5000; i++)
        text_printf(&text, "  %%a%d = stablehlo.add %%a%d, %%a0 : tensor<16xf32>\n", i + 1, i);
    text_printf(&text, "  return %%a5000 : tensor<16xf32>\n}\n}\n");
    Program *p = compiled(text_cstr(&text), false);
    float x[16], out[16];
    for (int i = 0; i < 16; i++)
        x[i] = (float)i;
    run_program(p, (void *[]){ x }, (void *[]){ out });
    CHECK(out[1] == 5001 && out[15] == 75015);
    text_free(&text);
    program_free(p);
}

/* Hundreds of kernels in a row, in the program and in a loop: more than one function of code. */
static void test_many_kernels(void)
{
    Text text = { 0 };
    text_printf(
        &text, "module @t {\nfunc.func public @main(%%x: tensor<32xf32>) -> tensor<32xf32> {\n"
               "  %%zero = stablehlo.constant dense<0> : tensor<i32>\n"
               "  %%one = stablehlo.constant dense<1> : tensor<i32>\n"
               "  %%n = stablehlo.constant dense<2> : tensor<i32>\n"
               "  %%r:2 = stablehlo.while(%%i = %%zero, %%a0 = %%x) : tensor<i32>, tensor<32xf32>\n"
               "  cond {\n"
               "    %%t = stablehlo.compare LT, %%i, %%n, SIGNED : (tensor<i32>, tensor<i32>) -> "
               "tensor<i1>\n"
               "    stablehlo.return %%t : tensor<i1>\n"
               "  } do {\n");
    for (int i = 0; i < 300; i++) {
        text_printf(&text, "    %%r%d = stablehlo.reverse %%a%d, dims = [0] : tensor<32xf32>\n", i,
                    i);
        text_printf(&text, "    %%s%d = stablehlo.subtract %%a%d, %%r%d : tensor<32xf32>\n", i, i,
                    i);
        text_printf(&text, "    %%a%d = stablehlo.subtract %%a%d, %%s%d : tensor<32xf32>\n", i + 1,
                    i, i);
    }
    text_printf(&text, "    %%j = stablehlo.add %%i, %%one : tensor<i32>\n"
                       "    stablehlo.return %%j, %%a300 : tensor<i32>, tensor<32xf32>\n"
                       "  }\n"
                       "  return %%r#1 : tensor<32xf32>\n}\n}\n");
    Program *p = compiled(text_cstr(&text), false);
    float x[32], out[32];
    for (int i = 0; i < 32; i++)
        x[i] = (float)i;
    run_program(p, (void *[]){ x }, (void *[]){ out });
    CHECK(!memcmp(x, out, sizeof x)); /* a - (a - reverse a), an even number of times */
    text_free(&text);
    program_free(p);
}

/* ---- collectives ---- */

static const char reduced[] =
    "module @t attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {\n"
    "func.func public @main(%%x: tensor<8xf32> {mhlo.sharding = \"{devices=[4]<=[4]}\"}) -> "
    "(tensor<8xf32> {mhlo.sharding = \"{devices=[4]<=[4]}\"}) {\n"
    "  %%0 = stablehlo.custom_call @SPMDFullToShardShape(%%x) {mhlo.sharding = \"{manual}\"}"
    " : (tensor<8xf32>) -> tensor<2xf32>\n"
    "  %%1 = \"stablehlo.all_reduce\"(%%0) <{channel_handle = #stablehlo.channel_handle<handle = "
    "1, type = 0>, replica_groups = dense<%s> : tensor<%sxi64>%s}> ({\n"
    "  ^bb0(%%a: tensor<f32>, %%b: tensor<f32>):\n"
    "    %%c = stablehlo.add %%a, %%b : tensor<f32>\n"
    "    stablehlo.return %%c : tensor<f32>\n"
    "  }) : (tensor<2xf32>) -> tensor<2xf32>\n"
    "  %%2 = stablehlo.custom_call @SPMDShardToFullShape(%%1) {mhlo.sharding = "
    "\"{devices=[4]<=[4]}\"} : (tensor<2xf32>) -> tensor<8xf32>\n"
    "  return %%2 : tensor<8xf32>\n"
    "}\n}\n";

static Program *reduced_over(const char *groups, const char *shape, const char *ids)
{
    char text[2048];
    snprintf(text, sizeof text, reduced, groups, shape, ids);
    Program *p = compiled(text, false);
    CHECK(p->ncollectives == 1 && p->ndevices == 4 && p->nsegments == 2);
    CHECK(p->collectives[0].op == OP_ALL_REDUCE && p->collectives[0].next == 1);
    CHECK(p->collectives[0].combine != NULL);
    return p;
}

static void test_groups(void)
{
    Program *p = reduced_over("[[0, 2], [3, 1]]", "2x2", ", use_global_device_ids");
    const int32_t *of = p->collectives[0].group_of;
    CHECK(p->ngroups == 2 && of[0] == of[2] && of[1] == of[3] && of[0] != of[1]);
    const Group *second = &p->groups[of[1]];
    CHECK(second->n == 2 && second->members[0] == 3 && second->members[1] == 1);
    program_free(p);

    p = reduced_over("[[0, 1, 2], [3, -1, -1]]", "2x3", ", use_global_device_ids");
    of = p->collectives[0].group_of;
    CHECK(p->groups[of[0]].n == 3 && p->groups[of[3]].n == 1);
    program_free(p);

    /* One replica with all its partitions. */
    p = reduced_over("[[0]]", "1x1", "");
    CHECK(p->ngroups == 1 && p->groups[0].n == 4 && p->groups[0].members[3] == 3);
    program_free(p);
}

static void test_groups_refused(void)
{
    char text[2048];
    snprintf(text, sizeof text, reduced, "[[0, 4]]", "1x2", ", use_global_device_ids");
    Program *p = NULL;
    Source s = { .bytes = str_of(text), .options = { .name = "test" } };
    Error *error = compile_program(&s, &p);
    CHECK(error && error_code(error) == CODE_INVALID);
    error_free(error);
}

/* ---- the evaluator's program ---- */

static void test_evaluate(void)
{
    Program *p = compiled(MAIN("func.func public @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n"
                               "  %y = stablehlo.add %x, %x : tensor<2xf32>\n"
                               "  return %y : tensor<2xf32>\n"
                               "}\n"),
                          true);
    float x[2] = { 1, 4 }, y[2];
    run_program(p, (void *[]){ x }, (void *[]){ y });
    CHECK(y[0] == 2 && y[1] == 8);
    CHECK(p->stats.kernels_compiled == 0 && p->nevaluations == 1);
    program_free(p);
}

/* ---- the stages behind the passes ---- */

typedef struct LastDump {
    Source source;
    const char *pass;
    Text text;
    Error *error;
} LastDump;

static void dump_last(void *user)
{
    LastDump *d = user;
    for (const char *const *name = pass_names; *name; name++)
        d->pass = *name;
    d->error = compile_until(&d->source, d->pass);
    if (!d->error)
        module_print(&d->text, d->source.module, false);
    module_free(d->source.module);
}

/* What the last pass of the table leaves is what a Program keeps: nothing behind it, in the tables,
 * in linking or when the program is to be evaluated by device, rewrites the module. */
static void test_module_stays(bool evaluate)
{
    static char bytes[1 << 16];
    FILE *file = fopen("tests/dump/every_pass_2.mlir", "r");
    CHECK(file);
    size_t n = file ? fread(bytes, 1, sizeof bytes, file) : 0;
    if (file)
        fclose(file);
    Source source = { .bytes = { bytes, n }, .options = { .name = "t", .evaluate = evaluate } };
    LastDump d = { .source = source };
    Error *error = compiler_run("dump", dump_last, &d);
    CHECK(!error && !d.error);
    Program *p = NULL;
    error = compile_program(&source, &p);
    CHECK_STR(error ? error_text(error) : "", "");
    Text kept = { 0 };
    module_print(&kept, p->module, false);
    CHECK(n && kept.n);
    CHECK_STR(text_cstr(&kept), text_cstr(&d.text));
    text_free(&kept);
    text_free(&d.text);
    program_free(p);
}

int main(void)
{
    test_fibonacci();
    test_failing_loop_ends();
    test_ring();
    test_update_in_place();
    test_unchanged_carry();
    test_case();
    test_results_that_are_no_computation();
    test_donation();
    test_equal_kernels_are_one();
    test_what_is_fused();
    test_no_explosion();
    test_long_chain();
    test_many_kernels();
    test_groups();
    test_groups_refused();
    test_evaluate();
    test_module_stays(false);
    test_module_stays(true);
    return check_done();
}
