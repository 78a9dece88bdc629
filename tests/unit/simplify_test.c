/* simplify_test.c - refine and simplify: what is left of small programs, that it computes the
 * same, and what is refused.  Links the passes and the evaluator. */
#include "engine/eval/eval.h"
#include "engine/passes/passes.h"
#include "hlo/rewrite.h"

#include "tests/check.h"
#include "tests/read_text.h"

#include <math.h>
#include <stdlib.h>

static const CompileOptions options = { .name = "test" };

static void name_ops(const Module *m, RegionId r, Text *out)
{
    const Region *region = region_at(m, r);
    for (int i = 0; i + 1 < region->nnodes; i++) {
        const Node *node = node_at(m, region->nodes[i]);
        text_printf(out, "%s%s", out->n ? " " : "", op_name(node->op));
        for (int k = 0; k < node->nregions; k++)
            name_ops(m, node->regions[k], out);
    }
}

/* Results of main on made-up arguments, as doubles; *n of them. */
static double *evaluate(Module *m, int *n)
{
    const Region *body = region_at(m, module_main(m));
    const Node *last = region_return(m, module_main(m));
    Tensor *in = ARENA_ARRAY(m->arena, Tensor, body->nargs + 1);
    Tensor *out = ARENA_ARRAY(m->arena, Tensor, last->nin + 1);
    for (int i = 0; i < body->nargs; i++) {
        Type t = type_of(m, body->args + (uint32_t)i);
        in[i] = (Tensor){ t, arena_alloc(m->arena, type_bytes(t) + 16) };
        for (int64_t k = 0; k < type_count(t); k++)
            if (t.element == F32)
                ((float *)in[i].data)[k] = (float)((k * 7 + i * 3) % 11) * 0.25f - 1;
            else if (t.element == BF16)
                ((uint16_t *)in[i].data)[k] = (uint16_t)(0x3f80 + k % 5 * 16);
            else
                ((int32_t *)in[i].data)[k] = (int32_t)(k * 5 + i) % 7 - 3;
    }
    *n = 0;
    for (int i = 0; i < last->nin; i++) {
        Type t = type_of(m, last->in[i]);
        out[i] = (Tensor){ t, arena_alloc(m->arena, type_bytes(t) + 16) };
        *n += (int)type_count(t);
    }
    Error *error = eval_region(m, module_main(m), in, out);
    CHECK_STR(error ? error_text(error) : "", "");
    error_free(error);
    double *all = calloc((size_t)*n + 1, sizeof *all);
    int at = 0;
    for (int i = 0; i < last->nin; i++)
        for (int64_t k = 0; k < type_count(out[i].type); k++)
            all[at++] = out[i].type.element == F32    ? (double)((float *)out[i].data)[k]
                        : out[i].type.element == BF16 ? (double)((uint16_t *)out[i].data)[k]
                                                      : (double)((int32_t *)out[i].data)[k];
    return all;
}

/* The operations that are left, and that the values are the same. */
static void check_ops(int line, const char *program, const char *expected)
{
    Module *m = read_module(program);
    Error *error = pass_refine(m);
    int n, same;
    CHECK_STR(error ? error_text(error) : "", "");
    double *before = evaluate(m, &n);
    error = pass_simplify(m, &options);
    error = error ? error : module_check(m);
    CHECK_STR(error ? error_text(error) : "", "");
    double *after = evaluate(m, &same);
    CHECK(n == same);
    for (int i = 0; i < n; i++)
        if (fabs(before[i] - after[i]) > 1e-5 * fabs(before[i])) {
            printf("program of line %d: element %d was %g and is %g\n", line, i, before[i],
                   after[i]);
            check_failures++;
        }
    Text ops = { 0 };
    name_ops(m, module_main(m), &ops);
    if (strcmp(text_cstr(&ops), expected) != 0)
        printf("program of line %d:\n", line);
    CHECK_STR(text_cstr(&ops), expected);
    text_free(&ops);
    free(before);
    free(after);
    module_free(m);
}
#define OPS(program, expected) check_ops(__LINE__, program, expected)
#define MAIN_F32(body) "func.func @main(%x: tensor<4x6xf32>) -> tensor<4x6xf32> {\n" body "}\n"

static void folding(void)
{
    OPS("func.func @main() -> tensor<3xi32> {\n"
        "  %a = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi32>\n"
        "  %b = stablehlo.constant dense<5> : tensor<i32>\n"
        "  %c = stablehlo.broadcast_in_dim %b, dims = [] : (tensor<i32>) -> tensor<3xi32>\n"
        "  %d = stablehlo.multiply %a, %c : tensor<3xi32>\n"
        "  %e = stablehlo.subtract %d, %a : tensor<3xi32>\n"
        "  return %e : tensor<3xi32>\n}\n",
        "constant");
    /* Too large to fold by element, but all elements are equal. */
    OPS("func.func @main() -> tensor<100x100xf32> {\n"
        "  %a = stablehlo.constant dense<2.0> : tensor<f32>\n"
        "  %b = stablehlo.broadcast_in_dim %a, dims = [] : (tensor<f32>) -> tensor<100x100xf32>\n"
        "  %c = stablehlo.multiply %b, %b : tensor<100x100xf32>\n"
        "  return %c : tensor<100x100xf32>\n}\n",
        "constant");
    OPS("func.func @main() -> tensor<200xi32> {\n"
        "  %a = stablehlo.iota dim = 0 : tensor<200xi32>\n"
        "  %b = stablehlo.add %a, %a : tensor<200xi32>\n"
        "  return %b : tensor<200xi32>\n}\n",
        "iota add");
    /* An identity matrix, as programs write it. */
    OPS("func.func @main() -> tensor<3x3xf32> {\n"
        "  %a = stablehlo.iota dim = 0 : tensor<3x3xi32>\n"
        "  %b = stablehlo.iota dim = 1 : tensor<3x3xi32>\n"
        "  %c = stablehlo.compare EQ, %a, %b : (tensor<3x3xi32>, tensor<3x3xi32>) -> "
        "tensor<3x3xi1>\n"
        "  %d = stablehlo.convert %c : (tensor<3x3xi1>) -> tensor<3x3xf32>\n"
        "  return %d : tensor<3x3xf32>\n}\n",
        "constant");
}

static void identities(void)
{
    /* Times one and over one is what it was, of floats too; plus zero is not. */
    OPS(MAIN_F32("  %c = stablehlo.constant dense<1.0> : tensor<4x6xf32>\n"
                 "  %a = stablehlo.multiply %c, %x : tensor<4x6xf32>\n"
                 "  %b = stablehlo.divide %a, %c : tensor<4x6xf32>\n"
                 "  %d = stablehlo.multiply %b, %c : tensor<4x6xf32>\n"
                 "  return %d : tensor<4x6xf32>\n"),
        "");
    OPS(MAIN_F32("  %c = stablehlo.constant dense<0.0> : tensor<4x6xf32>\n"
                 "  %a = stablehlo.add %x, %c : tensor<4x6xf32>\n"
                 "  return %a : tensor<4x6xf32>\n"),
        "constant add");
    /* A mask that has chosen before, for and against. */
    OPS("func.func @main(%x: tensor<3xf32>, %y: tensor<3xf32>, %z: tensor<3xf32>) -> tensor<3xf32> "
        "{\n"
        "  %p = stablehlo.compare LT, %x, %y : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>\n"
        "  %a = stablehlo.select %p, %x, %z : tensor<3xi1>, tensor<3xf32>\n"
        "  %b = stablehlo.select %p, %z, %y : tensor<3xi1>, tensor<3xf32>\n"
        "  %c = stablehlo.select %p, %a, %b : tensor<3xi1>, tensor<3xf32>\n"
        "  return %c : tensor<3xf32>\n}\n",
        "compare select");
    OPS(MAIN_F32(
            "%0 = stablehlo.reshape %x : (tensor<4x6xf32>) -> tensor<24xf32>\n"
            "%1 = stablehlo.reshape %0 : (tensor<24xf32>) -> tensor<4x6xf32>\n"
            "%2 = stablehlo.transpose %1, dims = [1, 0] : (tensor<4x6xf32>) -> tensor<6x4xf32>\n"
            "%3 = stablehlo.transpose %2, dims = [1, 0] : (tensor<6x4xf32>) -> tensor<4x6xf32>\n"
            "%4 = stablehlo.slice %3 [0:4, 0:6] : (tensor<4x6xf32>) -> tensor<4x6xf32>\n"
            "%5 = stablehlo.convert %4 : tensor<4x6xf32>\n"
            "%6 = stablehlo.concatenate %5, dim = 0 : (tensor<4x6xf32>) -> tensor<4x6xf32>\n"
            "return %6 : tensor<4x6xf32>\n"),
        "");
    /* The same twice is done once. */
    OPS(MAIN_F32("%0 = stablehlo.sine %x : tensor<4x6xf32>\n"
                 "%1 = stablehlo.sine %x : tensor<4x6xf32>\n"
                 "%2 = stablehlo.add %0, %1 : tensor<4x6xf32>\n"
                 "return %2 : tensor<4x6xf32>\n"),
        "sine add");
    /* A factorisation for each of its results, too; what has an effect stays. */
    for (int has_effect = 0; has_effect < 2; has_effect++) {
        Text program = { 0 };
        text_printf(
            &program,
            "func.func @main(%%x: tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<4xf32>) {\n");
        for (int i = 0; i < 2; i++)
            text_printf(
                &program,
                "%%%c:2 = stablehlo.custom_call @lapack_sgeqrf_ffi(%%x) {has_side_effect = %s} : "
                "(tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<4xf32>)\n",
                'a' + i, has_effect ? "true" : "false");
        text_printf(&program, "return %%a#0, %%b#1 : tensor<4x6xf32>, tensor<4xf32>\n}\n");
        OPS(text_cstr(&program), has_effect ? "custom_call custom_call" : "custom_call");
        text_free(&program);
    }
    /* A triangular system reads a transposed triangle as it was, but for conjugates. */
    for (int is_adjoint = 0; is_adjoint < 2; is_adjoint++) {
        Text program = { 0 };
        text_printf(
            &program,
            "func.func @main(%%x: tensor<3x3xf32>, %%b: tensor<3x2xf32>) -> tensor<3x2xf32> {\n"
            "%%t = stablehlo.transpose %%x, dims = [1, 0] : (tensor<3x3xf32>) -> "
            "tensor<3x3xf32>\n"
            "%%y = \"stablehlo.triangular_solve\"(%%t, %%b) <{left_side = true, lower = false, "
            "unit_diagonal = true, transpose_a = #stablehlo<transpose %s>}> : "
            "(tensor<3x3xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>\n"
            "return %%y : tensor<3x2xf32>\n}\n",
            is_adjoint ? "ADJOINT" : "NO_TRANSPOSE");
        OPS(text_cstr(&program), is_adjoint ? "transpose triangular_solve" : "triangular_solve");
        text_free(&program);
    }
    /* A float plus 0 stays, for it turns -0 into 0; an integer plus 0 goes. */
    OPS(MAIN_F32("%z = stablehlo.constant dense<0.0> : tensor<4x6xf32>\n"
                 "%0 = stablehlo.add %x, %z : tensor<4x6xf32>\n"
                 "return %0 : tensor<4x6xf32>\n"),
        "constant add");
    OPS("func.func @main(%x: tensor<4xi32>) -> tensor<4xi32> {\n"
        "  %z = stablehlo.constant dense<0> : tensor<4xi32>\n"
        "  %o = stablehlo.constant dense<1> : tensor<4xi32>\n"
        "  %0 = stablehlo.add %x, %z : tensor<4xi32>\n"
        "  %1 = stablehlo.multiply %o, %0 : tensor<4xi32>\n"
        "  %2 = stablehlo.divide %1, %o : tensor<4xi32>\n"
        "  return %2 : tensor<4xi32>\n}\n",
        "");
}

#define SUM(to, of, dims, from, result)                                                            \
    to " = stablehlo.reduce(" of " init: %i) applies stablehlo.add across dimensions = " dims      \
       " : (tensor<" from ">, tensor<f32>) -> tensor<" result ">\n"

static void reductions(void)
{
    /* Equal ones are done once, and not those that combine otherwise or over another dimension. */
    OPS("func.func @main(%x: tensor<4x6xf32>, %i: tensor<f32>) -> tensor<4xf32> {\n" SUM(
            "%0", "%x", "[1]", "4x6xf32", "4xf32")
            SUM("%1", "%x", "[1]", "4x6xf32",
                "4xf32") "  %2 = stablehlo.reduce(%x init: %i) applies stablehlo.maximum across "
                         "dimensions = [1]"
                         " : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>\n"
                         "  %3 = stablehlo.add %0, %1 : tensor<4xf32>\n"
                         "  %4 = stablehlo.add %2, %3 : tensor<4xf32>\n"
                         "  return %4 : tensor<4xf32>\n}\n",
        "reduce add reduce maximum add add");
    OPS("func.func @main(%x: tensor<4x4xf32>, %i: tensor<f32>) -> tensor<4xf32> {\n" SUM(
            "%0", "%x", "[0]", "4x4xf32", "4xf32")
            SUM("%1", "%x", "[1]", "4x4xf32",
                "4xf32") "  %2 = stablehlo.add %0, %1 : tensor<4xf32>\n"
                         "  return %2 : tensor<4xf32>\n}\n",
        "reduce add reduce add add");
    /* The transpose goes, if what is kept keeps its order. */
    OPS("func.func @main(%x: tensor<4x6x2xf32>, %i: tensor<f32>) -> tensor<4x2xf32> {\n"
        "  %0 = stablehlo.transpose %x, dims = [1, 0, 2] : (tensor<4x6x2xf32>) ->"
        " tensor<6x4x2xf32>\n" SUM("%1", "%0", "[0]", "6x4x2xf32",
                                   "4x2xf32") "  return %1 : tensor<4x2xf32>\n}\n",
        "reduce add");
    OPS("func.func @main(%x: tensor<4x6x2xf32>, %i: tensor<f32>) -> tensor<2x4xf32> {\n"
        "  %0 = stablehlo.transpose %x, dims = [1, 2, 0] : (tensor<4x6x2xf32>) ->"
        " tensor<6x2x4xf32>\n" SUM("%1", "%0", "[0]", "6x2x4xf32",
                                   "2x4xf32") "  return %1 : tensor<2x4xf32>\n}\n",
        "transpose reduce add");
    /* One element is combined with the initial value. */
    OPS("func.func @main(%x: tensor<4x1xf32>, %i: tensor<f32>) -> tensor<4xf32> {\n" SUM(
            "%0", "%x", "[1]", "4x1xf32", "4xf32") "  return %0 : tensor<4xf32>\n}\n",
        "broadcast_in_dim reshape add");
}

static void booleans(void)
{
    OPS("func.func @main(%x: tensor<4x1xi1>, %y: tensor<4xi1>) -> tensor<4xi1> {\n"
        "  %t = stablehlo.constant dense<true> : tensor<i1>\n"
        "  %f = stablehlo.constant dense<false> : tensor<4xi1>\n"
        "  %0 = stablehlo.reduce(%x init: %t) applies stablehlo.and across dimensions = [1]"
        " : (tensor<4x1xi1>, tensor<i1>) -> tensor<4xi1>\n"
        "  %1 = stablehlo.or %f, %0 : tensor<4xi1>\n"
        "  %2 = stablehlo.or %1, %y : tensor<4xi1>\n"
        "  return %2 : tensor<4xi1>\n}\n",
        "reshape or");
    OPS("func.func @main(%y: tensor<4xi1>, %z: tensor<4xi1>) -> tensor<4xi1> {\n"
        "  %t = stablehlo.constant dense<true> : tensor<4xi1>\n"
        "  %f = stablehlo.constant dense<false> : tensor<4xi1>\n"
        "  %0 = stablehlo.compare NE, %y, %f : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>\n"
        "  %1 = stablehlo.compare EQ, %t, %0 : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>\n"
        "  %2 = stablehlo.compare NE, %1, %z : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>\n"
        "  return %2 : tensor<4xi1>\n}\n",
        "compare");
}

/* Much that becomes few numbers is reduced in parts, if that is exact and the parts are equal. */
static void reduced_in_parts(void)
{
#define MAIN_PARTS(shape, element, initial, op, result)                                            \
    "func.func @main(%x: tensor<" shape element ">) -> tensor<" result element "> {\n"             \
    "  %i = stablehlo.constant dense<" initial "> : tensor<" element ">\n"                         \
    "  %0 = stablehlo.reduce(%x init: %i) applies stablehlo." op " across dimensions = [0]"        \
    " : (tensor<" shape element ">, tensor<" element ">) -> tensor<" result element ">\n"          \
    "  return %0 : tensor<" result element ">\n}\n"
    OPS(MAIN_PARTS("1000000x", "f32", "0.0", "add", ""), "constant reshape reduce add reduce add");
    OPS(MAIN_PARTS("1000000x", "bf16", "0xFF80", "maximum", ""),
        "constant reshape reduce maximum reduce maximum");
    OPS(MAIN_PARTS("131072x4x", "f32", "0.0", "add", "4x"),
        "constant reshape reduce add reshape reduce add");
    OPS(MAIN_PARTS("1000000x", "f32", "1.0", "add", ""), "constant reduce add");
    OPS(MAIN_PARTS("1000000x", "bf16", "0.0", "add", ""), "constant reduce add");
    OPS(MAIN_PARTS("1000003x", "f32", "0.0", "add", ""), "constant reduce add");
    OPS(MAIN_PARTS("4096x4096x", "f32", "0.0", "add", "4096x"), "constant reduce add");
}

/* Products read their operands in any order. */
static void turned_dots(void)
{
#define MAIN_DOT(result, body)                                                                     \
    "func.func @main(%x: tensor<9x8xf32>, %y: tensor<10x8xf32>, %z: tensor<2x9x8xf32>)"            \
    " -> " result " {\n" body "}\n"
    OPS(MAIN_DOT("tensor<9x10xf32>",
                 "%0 = stablehlo.transpose %y, dims = [1, 0]"
                 " : (tensor<10x8xf32>) -> tensor<8x10xf32>\n"
                 "%1 = stablehlo.dot_general %x, %0, contracting_dims = [1] x [0]"
                 " : (tensor<9x8xf32>, tensor<8x10xf32>) -> tensor<9x10xf32>\n"
                 "return %1 : tensor<9x10xf32>\n"),
        "dot_general");
    OPS(MAIN_DOT("tensor<10x9xf32>",
                 "%0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [1]"
                 " : (tensor<9x8xf32>, tensor<10x8xf32>) -> tensor<9x10xf32>\n"
                 "%1 = stablehlo.transpose %0, dims = [1, 0]"
                 " : (tensor<9x10xf32>) -> tensor<10x9xf32>\n"
                 "return %1 : tensor<10x9xf32>\n"),
        "dot_general");
    OPS(MAIN_DOT("tensor<2x9x9xf32>",
                 "%0 = stablehlo.sine %z : tensor<2x9x8xf32>\n"
                 "%1 = stablehlo.dot_general %0, %z, batching_dims = [0] x [0], contracting_dims ="
                 " [2] x [2] : (tensor<2x9x8xf32>, tensor<2x9x8xf32>) -> tensor<2x9x9xf32>\n"
                 "%2 = stablehlo.transpose %1, dims = [0, 2, 1]"
                 " : (tensor<2x9x9xf32>) -> tensor<2x9x9xf32>\n"
                 "return %2 : tensor<2x9x9xf32>\n"),
        "sine dot_general");
    /* Free dimensions that change their order, and a result that is wanted both ways, stay. */
    OPS(MAIN_DOT("tensor<9x2x10xf32>",
                 "%0 = stablehlo.transpose %z, dims = [1, 0, 2]"
                 " : (tensor<2x9x8xf32>) -> tensor<9x2x8xf32>\n"
                 "%1 = stablehlo.dot_general %0, %y, contracting_dims = [2] x [1]"
                 " : (tensor<9x2x8xf32>, tensor<10x8xf32>) -> tensor<9x2x10xf32>\n"
                 "return %1 : tensor<9x2x10xf32>\n"),
        "transpose dot_general");
    /* So does a transpose that makes the contracted dimensions one, as a matrix product wants them. */
    OPS(MAIN_DOT("tensor<9x9xf32>",
                 "%0 = stablehlo.transpose %z, dims = [0, 2, 1]"
                 " : (tensor<2x9x8xf32>) -> tensor<2x8x9xf32>\n"
                 "%1 = stablehlo.dot_general %0, %0, contracting_dims = [0, 1] x [0, 1]"
                 " : (tensor<2x8x9xf32>, tensor<2x8x9xf32>) -> tensor<9x9xf32>\n"
                 "return %1 : tensor<9x9xf32>\n"),
        "transpose dot_general");
    OPS(MAIN_DOT("tensor<9x9xf32>",
                 "%0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [1]"
                 " : (tensor<9x8xf32>, tensor<9x8xf32>) -> tensor<9x9xf32>\n"
                 "%1 = stablehlo.transpose %0, dims = [1, 0]"
                 " : (tensor<9x9xf32>) -> tensor<9x9xf32>\n"
                 "%2 = stablehlo.subtract %0, %1 : tensor<9x9xf32>\n"
                 "return %2 : tensor<9x9xf32>\n"),
        "dot_general transpose subtract");
}

/* What is computed element by element comes before the transpose, and a product or a sum then does
 * without it. */
static void transposes_later(void)
{
#define MAIN_MAP(result, body)                                                                     \
    "func.func @main(%x: tensor<9x8xf32>, %y: tensor<9x8xf32>, %b: tensor<9xf32>)"                 \
    " -> " result " {\n"                                                                           \
    "%0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<9x8xf32>) -> tensor<8x9xf32>\n"          \
    "%1 = stablehlo.transpose %y, dims = [1, 0] : (tensor<9x8xf32>) -> tensor<8x9xf32>\n"          \
    "%2 = stablehlo.add %0, %1 : tensor<8x9xf32>\n"                                                \
    "%3 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<9xf32>) -> tensor<8x9xf32>\n"        \
    "%4 = stablehlo.multiply %2, %3 : tensor<8x9xf32>\n" body "}\n"
    OPS(MAIN_MAP("tensor<8x9xf32>", "return %4 : tensor<8x9xf32>\n"),
        "add broadcast_in_dim multiply transpose");
    OPS(MAIN_MAP("tensor<8xf32>",
                 "%5 = stablehlo.constant dense<0.0> : tensor<f32>\n"
                 "%6 = stablehlo.reduce(%4 init: %5) applies stablehlo.add across dimensions = [1]"
                 " : (tensor<8x9xf32>, tensor<f32>) -> tensor<8xf32>\n"
                 "return %6 : tensor<8xf32>\n"),
        "add broadcast_in_dim multiply constant reduce add");
    /* Beside an array that is not transposed it stays. */
    OPS("func.func @main(%x: tensor<9x9xf32>) -> tensor<9x9xf32> {\n"
        "%0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<9x9xf32>) -> tensor<9x9xf32>\n"
        "%1 = stablehlo.add %0, %x : tensor<9x9xf32>\n"
        "return %1 : tensor<9x9xf32>\n}\n",
        "transpose add");
}

/* Slices, reverses, and reshapes of what the transpose leaves side by side are made before it. */
static void transposes_after_moves(void)
{
    OPS("func.func @main(%x: tensor<4x6xf32>, %p: tensor<f32>) -> tensor<4x3x1xf32> {\n"
        "  %a = stablehlo.transpose %x, dims = [1, 0] : (tensor<4x6xf32>) -> tensor<6x4xf32>\n"
        "  %b = stablehlo.slice %a [1:5:2, 0:3] : (tensor<6x4xf32>) -> tensor<2x3xf32>\n"
        "  %c = stablehlo.reverse %b, dims = [1] : tensor<2x3xf32>\n"
        "  %d = stablehlo.pad %c, %p, low = [1, 0], high = [1, 0], interior = [0, 0] : "
        "(tensor<2x3xf32>, tensor<f32>) -> tensor<4x3xf32>\n"
        "  %e = stablehlo.reshape %d : (tensor<4x3xf32>) -> tensor<4x3x1xf32>\n"
        "  return %e : tensor<4x3x1xf32>\n}\n",
        "slice reverse transpose pad reshape");
    OPS("func.func @main(%x: tensor<4x6xf32>) -> tensor<6x4xf32> {\n"
        "  %a = stablehlo.transpose %x, dims = [1, 0] : (tensor<4x6xf32>) -> tensor<6x4xf32>\n"
        "  %b = stablehlo.reshape %a : (tensor<6x4xf32>) -> tensor<2x3x4xf32>\n"
        "  %c = stablehlo.transpose %b, dims = [2, 0, 1] : (tensor<2x3x4xf32>) -> "
        "tensor<4x2x3xf32>\n"
        "  %d = stablehlo.reshape %c : (tensor<4x2x3xf32>) -> tensor<6x4xf32>\n"
        "  return %d : tensor<6x4xf32>\n}\n",
        "reshape");
}

/* An operand whose rows lie in many short pieces is transposed first, and stays so. */
static void rows_of_dots(void)
{
#define ROWS_MAIN(x, out, body)                                                                    \
    "func.func @main(%x: tensor<" x "xf32>, %y: tensor<9x80xf32>) -> tensor<" out "xf32> {\n" body \
    "  return %d : tensor<" out "xf32>\n}\n"
    OPS(ROWS_MAIN("30x9x3", "30x3x80",
                  "  %d = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : "
                  "(tensor<30x9x3xf32>, tensor<9x80xf32>) -> tensor<30x3x80xf32>\n"),
        "transpose dot_general");
    OPS(ROWS_MAIN("30x9x1x3", "80x30x1x3",
                  "  %d = stablehlo.dot_general %y, %x, contracting_dims = [0] x [1] : "
                  "(tensor<9x80xf32>, tensor<30x9x1x3xf32>) -> tensor<80x30x1x3xf32>\n"),
        "transpose dot_general");
    OPS(ROWS_MAIN("9x30x3", "30x3x80",
                  "  %d = stablehlo.dot_general %x, %y, contracting_dims = [0] x [0] : "
                  "(tensor<9x30x3xf32>, tensor<9x80xf32>) -> tensor<30x3x80xf32>\n"),
        "dot_general");
}

/* Numbers that cannot be negative are not counted from the end. */
static void ranges(void)
{
#define RANGES(numbers)                                                                            \
    "func.func @main(%i: tensor<5x80xi32>) -> tensor<5x80xi32> {\n"                                \
    "  %a = stablehlo.iota dim = 0 : tensor<5x80xi32>\n"                                           \
    "  %b = stablehlo.iota dim = 1 : tensor<5x80xi32>\n"                                           \
    "  %s = stablehlo.constant dense<16> : tensor<5x80xi32>\n"                                     \
    "  %z = stablehlo.constant dense<0> : tensor<5x80xi32>\n"                                      \
    "  %m = stablehlo.multiply %a, %s : tensor<5x80xi32>\n" numbers                                \
    "  %c = stablehlo.compare LT, %x, %z : (tensor<5x80xi32>, tensor<5x80xi32>) -> "               \
    "tensor<5x80xi1>\n"                                                                            \
    "  %n = stablehlo.add %x, %s : tensor<5x80xi32>\n"                                             \
    "  %r = stablehlo.select %c, %n, %x : tensor<5x80xi1>, tensor<5x80xi32>\n"                     \
    "  return %r : tensor<5x80xi32>\n}\n"
    OPS(RANGES("  %x = stablehlo.add %m, %b : tensor<5x80xi32>\n"),
        "iota iota constant multiply add");
    OPS(RANGES("  %t = stablehlo.constant dense<79> : tensor<5x80xi32>\n"
               "  %y = stablehlo.subtract %t, %b : tensor<5x80xi32>\n"
               "  %x = stablehlo.minimum %y, %s : tensor<5x80xi32>\n"),
        "iota constant constant subtract minimum");
    OPS(RANGES("  %x = stablehlo.subtract %m, %b : tensor<5x80xi32>\n"),
        "iota iota constant constant multiply subtract compare add select");
    OPS(RANGES("  %x = stablehlo.add %i, %b : tensor<5x80xi32>\n"),
        "iota constant constant add compare add select");
    /* Half of these become negative. */
    OPS("func.func @main(%i: tensor<4xui64>) -> tensor<4xi1> {\n"
        "  %a = stablehlo.iota dim = 0 : tensor<4xui64>\n"
        "  %m = stablehlo.maximum %a, %i : tensor<4xui64>\n"
        "  %x = stablehlo.convert %m : (tensor<4xui64>) -> tensor<4xi64>\n"
        "  %z = stablehlo.constant dense<0> : tensor<4xi64>\n"
        "  %c = stablehlo.compare LT, %x, %z : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi1>\n"
        "  return %c : tensor<4xi1>\n}\n",
        "iota maximum convert constant compare");
}

/* Slices of slices, of what is joined and of what is padded are slices of what that is of. */
static void slices(void)
{
    OPS("func.func @main(%x: tensor<4x6xf32>, %y: tensor<4x2xf32>) -> (tensor<3x2xf32>, "
        "tensor<4x3xf32>) {\n"
        "  %a = stablehlo.concatenate %y, %x, %y, dim = 1 : (tensor<4x2xf32>, tensor<4x6xf32>, "
        "tensor<4x2xf32>) -> tensor<4x10xf32>\n"
        "  %b = stablehlo.slice %a [1:4, 3:8:3] : (tensor<4x10xf32>) -> tensor<3x2xf32>\n"
        "  %c = stablehlo.slice %a [0:4, 1:4] : (tensor<4x10xf32>) -> tensor<4x3xf32>\n"
        "  return %b, %c : tensor<3x2xf32>, tensor<4x3xf32>\n}\n",
        "concatenate slice slice");
    OPS("func.func @main(%x: tensor<4x6xf32>, %v: tensor<f32>) -> tensor<2x2xf32> {\n"
        "  %a = stablehlo.pad %x, %v, low = [1, -1], high = [1, 2], interior = [0, 0] : "
        "(tensor<4x6xf32>, tensor<f32>) -> tensor<6x7xf32>\n"
        "  %b = stablehlo.slice %a [1:5, 0:5:2] : (tensor<6x7xf32>) -> tensor<4x3xf32>\n"
        "  %c = stablehlo.slice %b [1:4:2, 1:3] : (tensor<4x3xf32>) -> tensor<2x2xf32>\n"
        "  return %c : tensor<2x2xf32>\n}\n",
        "slice");
    OPS("func.func @main(%x: tensor<4x6xf32>, %v: tensor<f32>) -> tensor<4x6xf32> {\n"
        "  %a = stablehlo.pad %x, %v, low = [1, 1], high = [1, 1], interior = [0, 0] : "
        "(tensor<4x6xf32>, tensor<f32>) -> tensor<6x8xf32>\n"
        "  %b = stablehlo.slice %a [1:5, 0:6] : (tensor<6x8xf32>) -> tensor<4x6xf32>\n"
        "  return %b : tensor<4x6xf32>\n}\n",
        "pad slice");
    OPS("func.func @main(%x: tensor<4x6xf32>) -> tensor<1x6xf32> {\n"
        "  %a = stablehlo.slice %x [3:4:4611686018427387904, 0:6] : (tensor<4x6xf32>) -> "
        "tensor<1x6xf32>\n"
        "  %b = stablehlo.slice %a [0:1:4611686018427387904, 5:6] : (tensor<1x6xf32>) -> "
        "tensor<1x1xf32>\n"
        "  %c = stablehlo.broadcast_in_dim %b, dims = [0, 1] : (tensor<1x1xf32>) -> "
        "tensor<1x6xf32>\n"
        "  return %c : tensor<1x6xf32>\n}\n",
        "slice slice broadcast_in_dim");
}

/* Calls, composites and `if`, each twice so that copies show. */
static void inlining(void)
{
    OPS("func.func @main(%p: tensor<i32>, %x: tensor<4xf32>) -> tensor<4xf32> {\n"
        "  %0 = call @twice(%x) : (tensor<4xf32>) -> tensor<4xf32>\n"
        "  %1 = call @twice(%0) : (tensor<4xf32>) -> tensor<4xf32>\n"
        "  %2 = stablehlo.composite \"c\" %1 {decomposition = @twice} : (tensor<4xf32>) ->"
        " tensor<4xf32>\n"
        "  %z = stablehlo.constant dense<0> : tensor<i32>\n"
        "  %q = stablehlo.compare LT, %p, %z : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
        "  %3 = \"stablehlo.if\"(%q) ({\n"
        "    stablehlo.return %2 : tensor<4xf32>\n"
        "  }, {\n"
        "    %4 = stablehlo.negate %2 : tensor<4xf32>\n"
        "    stablehlo.return %4 : tensor<4xf32>\n"
        "  }) : (tensor<i1>) -> tensor<4xf32>\n"
        "  %5 = stablehlo.optimization_barrier %3 : tensor<4xf32>\n"
        "  return %5 : tensor<4xf32>\n}\n"
        "func.func private @twice(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
        "  %0 = stablehlo.add %x, %x : tensor<4xf32>\n"
        "  return %0 : tensor<4xf32>\n}\n",
        "add add add constant compare convert case negate optimization_barrier");
}

static void dots(void)
{
    OPS("func.func @main(%a: tensor<3x4xf32>, %b: tensor<4x5xf32>) -> tensor<3x5xf32> {\n"
        "  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]"
        " : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>\n"
        "  return %0 : tensor<3x5xf32>\n}\n",
        "broadcast_in_dim broadcast_in_dim multiply constant reduce add");
    OPS("func.func @main(%a: tensor<16x40xf32>, %b: tensor<40x8xf32>) -> tensor<16x8xf32> {\n"
        "  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]"
        " : (tensor<16x40xf32>, tensor<40x8xf32>) -> tensor<16x8xf32>\n"
        "  return %0 : tensor<16x8xf32>\n}\n",
        "dot_general");
    /* Batches, two contracted dimensions in another order, K in the middle. */
    OPS("func.func @main(%a: tensor<2x3x4x5xi32>, %b: tensor<5x6x2x4xi32>) -> tensor<2x3x6xi32> {\n"
        "  %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [2], contracting_dims = [2, 3]"
        " x [3, 0] : (tensor<2x3x4x5xi32>, tensor<5x6x2x4xi32>) -> tensor<2x3x6xi32>\n"
        "  return %0 : tensor<2x3x6xi32>\n}\n",
        "broadcast_in_dim broadcast_in_dim multiply constant reduce add");
    /* Results that few products are added up for: row by row, unless the rhs would be read across its rows. */
    OPS("func.func @main(%a: tensor<8x3xf32>, %b: tensor<3x40xf32>) -> tensor<8x40xf32> {\n"
        "  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]"
        " : (tensor<8x3xf32>, tensor<3x40xf32>) -> tensor<8x40xf32>\n"
        "  return %0 : tensor<8x40xf32>\n}\n",
        "broadcast_in_dim broadcast_in_dim multiply constant reduce add");
    OPS("func.func @main(%a: tensor<8x3xf32>, %b: tensor<40x3xf32>) -> tensor<8x40xf32> {\n"
        "  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [1]"
        " : (tensor<8x3xf32>, tensor<40x3xf32>) -> tensor<8x40xf32>\n"
        "  return %0 : tensor<8x40xf32>\n}\n",
        "dot_general");
    /* Contracted in different orders: one side is turned, and a matrix product is left. */
    OPS("func.func @main(%a: tensor<8x9x16xf32>, %b: tensor<9x8x20xf32>) -> tensor<16x20xf32> {\n"
        "  %0 = stablehlo.dot_general %a, %b, contracting_dims = [0, 1] x [1, 0]"
        " : (tensor<8x9x16xf32>, tensor<9x8x20xf32>) -> tensor<16x20xf32>\n"
        "  return %0 : tensor<16x20xf32>\n}\n",
        "transpose dot_general");
    /* Narrow floats are summed in f32; sums of few bf16 are rounded as they are written. */
    OPS("func.func @main(%a: tensor<16x16xf16>, %b: tensor<16x16xf16>) -> tensor<16x16xf16> {\n"
        "  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]"
        " : (tensor<16x16xf16>, tensor<16x16xf16>) -> tensor<16x16xf16>\n"
        "  return %0 : tensor<16x16xf16>\n}\n",
        "dot_general convert");
    OPS("func.func @main(%a: tensor<16x512xbf16>, %b: tensor<512x16xbf16>) -> tensor<16x16xbf16> "
        "{\n"
        "  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]"
        " : (tensor<16x512xbf16>, tensor<512x16xbf16>) -> tensor<16x16xbf16>\n"
        "  return %0 : tensor<16x16xbf16>\n}\n",
        "dot_general");
    OPS("func.func @main(%a: tensor<16x513xbf16>, %b: tensor<513x16xbf16>) -> tensor<16x16xbf16> "
        "{\n"
        "  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]"
        " : (tensor<16x513xbf16>, tensor<513x16xbf16>) -> tensor<16x16xbf16>\n"
        "  return %0 : tensor<16x16xbf16>\n}\n",
        "dot_general convert");
}

static void convolutions(void)
{
    /* Features first become features last: all images are rows of one product. */
    OPS("func.func @main(%x: tensor<2x16x16x16xf32>, %k: tensor<32x16x3x3xf32>) -> "
        "tensor<2x32x14x14xf32> {\n"
        "  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, "
        "1],"
        " window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}"
        " : (tensor<2x16x16x16xf32>, tensor<32x16x3x3xf32>) -> tensor<2x32x14x14xf32>\n"
        "  return %0 : tensor<2x32x14x14xf32>\n}\n",
        "transpose transpose convolution transpose");
    /* But few places do not pay for turning the kernel. */
    OPS("func.func @main(%x: tensor<2x64x8x8xf32>, %k: tensor<32x64x3x3xf32>) -> "
        "tensor<2x32x6x6xf32> {\n"
        "  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, "
        "1],"
        " window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}"
        " : (tensor<2x64x8x8xf32>, tensor<32x64x3x3xf32>) -> tensor<2x32x6x6xf32>\n"
        "  return %0 : tensor<2x32x6x6xf32>\n}\n",
        "convolution");
}

static void windows(void)
{
#define WINDOW(in, out, initial, window)                                                           \
    "func.func @main(%x: tensor<" in "xf32>) -> tensor<" out "xf32> {\n"                           \
    "  %0 = stablehlo.constant dense<" initial "> : tensor<f32>\n"                                 \
    "  %1 = \"stablehlo.reduce_window\"(%x, %0) <{" window "}> ({\n"                               \
    "  ^bb0(%a: tensor<f32>, %b: tensor<f32>):\n"                                                  \
    "    %s = stablehlo.add %a, %b : tensor<f32>\n"                                                \
    "    stablehlo.return %s : tensor<f32>\n"                                                      \
    "  }) : (tensor<" in "xf32>, tensor<f32>) -> tensor<" out "xf32>\n"                            \
    "  return %1 : tensor<" out "xf32>\n}\n"
    /* Over pixels: over their elements, whatever stands between a window's and behind an edge. */
    OPS(WINDOW("5x7x3", "5x7x3", "0.5",
               "window_dimensions = array<i64: 3, 3, 1>, padding = dense<[[1, 1], [1, 1], [0, 0]]>"
               " : tensor<3x2xi64>"),
        "constant reshape reduce_window add reshape");
    OPS(WINDOW(
            "2x6x9x2", "2x3x6x2", "0.5",
            "window_dimensions = array<i64: 1, 2, 3, 1>, window_strides = array<i64: 1, 2, 1, 1>, "
            "window_dilations = array<i64: 1, 1, 2, 1>, padding = dense<[[0, 0], [0, 0], [2, -1], "
            "[0, 0]]> : tensor<4x2xi64>"),
        "constant reshape reduce_window add reshape");
    /* Not if it moves by two pixels, or goes over the elements of one, or is a running sum. */
    OPS(WINDOW("6x8x3", "3x4x3", "0.5",
               "window_dimensions = array<i64: 2, 2, 1>, window_strides = array<i64: 2, 2, 1>"),
        "constant reduce_window add");
    OPS(WINDOW("6x8x3", "6x7x2", "0.5", "window_dimensions = array<i64: 1, 2, 2>"),
        "constant reduce_window add");
    OPS(WINDOW(
            "6x8x3", "6x8x3", "0.0",
            "window_dimensions = array<i64: 1, 8, 1>, padding = dense<[[0, 0], [7, 0], [0, 0]]> : "
            "tensor<3x2xi64>"),
        "constant reduce_window add");
#undef WINDOW
}

static void check_refused(const char *program, const char *message)
{
    Module *m = read_module(program);
    Error *error = pass_refine(m);
    CHECK_STR(error ? error_text(error) : "", message);
    error_free(error);
    module_free(m);
}

static void refusals(void)
{
    check_refused("func.func @f() {\n  return\n}\nfunc.func @g() {\n  return\n}\n",
                  "no function @main; there are @f, @g");
    check_refused(
        "func.func @main(%x: tensor<f32>) -> tensor<f32> {\n"
        "  %0 = call @f(%x) : (tensor<f32>) -> tensor<f32>\n"
        "  return %0 : tensor<f32>\n}\n"
        "func.func private @f(%x: tensor<f32>) -> tensor<f32> {\n"
        "  %0 = call @g(%x) : (tensor<f32>) -> tensor<f32>\n"
        "  return %0 : tensor<f32>\n}\n"
        "func.func private @g(%x: tensor<f32>) -> tensor<f32> {\n"
        "  %0 = call @f(%x) : (tensor<f32>) -> tensor<f32>\n"
        "  return %0 : tensor<f32>\n}\n",
        "func.call (test:10:8): @main calls @f calls @g calls @f: a function may not call "
        "itself");
    check_refused("func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {\n"
                  "  return %x : tensor<?xf32>\n}\n",
                  "argument 0 of @main (test:1:1) is f32[?]: its open extents are known once the "
                  "program is called with arrays, as by 'tutti run' with an --input of a .npy "
                  "file, or by tt_load");
}

/* Thirty functions, each calling the one before twice: a billion operations if copied. */
static void doubling(void)
{
    Text text = { 0 };
    text_printf(&text, "func.func @main(%%x: tensor<f32>) -> tensor<f32> {\n"
                       "  %%0 = call @f30(%%x) : (tensor<f32>) -> tensor<f32>\n"
                       "  return %%0 : tensor<f32>\n}\n"
                       "func.func private @f0(%%x: tensor<f32>) -> tensor<f32> {\n"
                       "  %%0 = stablehlo.add %%x, %%x : tensor<f32>\n"
                       "  return %%0 : tensor<f32>\n}\n");
    for (int i = 1; i <= 30; i++)
        text_printf(&text,
                    "func.func private @f%d(%%x: tensor<f32>) -> tensor<f32> {\n"
                    "  %%0 = call @f%d(%%x) : (tensor<f32>) -> tensor<f32>\n"
                    "  %%1 = call @f%d(%%0) : (tensor<f32>) -> tensor<f32>\n"
                    "  return %%1 : tensor<f32>\n}\n",
                    i, i - 1, i - 1);
    Module *m = read_module(text_cstr(&text));
    Error *error = pass_refine(m);
    CHECK(error && error_code(error) == CODE_UNIMPLEMENTED);
    CHECK(error && strstr(error_text(error), "not supported: more than 1048576 operations"));
    error_free(error);
    module_free(m);
    text_free(&text);
}

int main(void)
{
    folding();
    identities();
    reductions();
    booleans();
    reduced_in_parts();
    turned_dots();
    transposes_later();
    transposes_after_moves();
    ranges();
    slices();
    rows_of_dots();
    inlining();
    dots();
    convolutions();
    windows();
    refusals();
    doubling();
    return check_done();
}
