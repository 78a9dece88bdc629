/* text_test.c - the text reader and the printer: what programs mean, that printing reads back
 * to the same text, and what the reader says of text that is wrong. */
#include "hlo/module.h"
#include "ops/number.h"

#include "tests/check.h"
#include "tests/read_text.h"

#include <stdlib.h>

static const char *complaint(const char *text)
{
    static char buffer[512];
    Module *m = NULL;
    Error *error = read_text(text, strlen(text), "p.mlir", &m);
    snprintf(buffer, sizeof buffer, "%s", error ? error_text(error) : "no error");
    error_free(error);
    module_free(m);
    return buffer;
}

/* One function around the operations. */
#define MAIN(arguments, body) "func.func @main(" arguments ") {\n" body "\n  return\n}\n"

static const Node *first_node(const Module *m)
{
    return node_at(m, region_at(m, m->funcs[0].body)->nodes[0]);
}

static void module_and_functions(void)
{
    Module *m = read_module("module @jit_f attributes {mhlo.num_partitions = 4 : i32} {\n"
                            "  sdy.mesh @mesh = <[\"a\"=2, \"b\"=2]> {stablehlo.mesh = {}}\n"
                            "  func.func public @main(%x: tensor<4x?xf32> {jax.arg = \"x\", "
                            "sdy.sharding = #sdy.sharding<@mesh, [{\"a\", ?}, {}]>}) -> "
                            "(tensor<4x?xf32> {jax.result_info = \"r\"}) {\n"
                            "    %0 = call @f(%x) : (tensor<4x?xf32>) -> tensor<4x?xf32>\n"
                            "    return %0 : tensor<4x?xf32>\n  }\n"
                            "  func.func private @f(%x: tensor<4x?xf32>) -> tensor<4x?xf32> {\n"
                            "    return %x : tensor<4x?xf32>\n  }\n}\n");
    CHECK_STR(m->name.at, "jit_f");
    CHECK(m->npartitions == 4 && m->nreplicas == 1 && m->nfuncs == 2 && m->nmeshes == 1);
    CHECK(m->funcs[0].is_public && !m->funcs[1].is_public && m->funcs[0].nresults == 1);
    const Attr *sharding = attr_get(m->funcs[0].arg_attrs[0], "sdy.sharding");
    CHECK(sharding && sharding->kind == ATTR_SHARDING && sharding->sharding->rank == 2);
    CHECK(sharding->sharding->dims[0].is_open && sharding->sharding->dims[0].naxes == 1);
    CHECK(!sharding->sharding->dims[1].is_open);
    const Node *call = first_node(m);
    CHECK(call->op == OP_CALL);
    CHECK_STR(((const CallAttrs *)call->attrs)->callee.at, "f");
    CHECK(type_of(m, call->out).dims[1] == DYNAMIC);
    module_free(m);
}

static double element(const Module *m, int index)
{
    const Dense *d = &((const ConstantAttrs *)first_node(m)->attrs)->value;
    Element e = element_part(d->type.element);
    return number_float(e, (const char *)d->data + index * element_info[e].bytes);
}

static void check_constant(const char *constant, bool is_splat, double first, double second)
{
    char text[512];
    snprintf(text, sizeof text, "func.func @main() {\n %%0 = stablehlo.constant %s\n return\n}",
             constant);
    Module *m = read_module(text);
    CHECK(((const ConstantAttrs *)first_node(m)->attrs)->value.is_splat == is_splat);
    CHECK(element(m, 0) == first);
    if (!is_splat)
        CHECK(element(m, 1) == second);
    module_free(m);
}

static void constants(void)
{
    check_constant("dense<2.5> : tensor<3xf32>", true, 2.5, 0);
    check_constant("dense<[-1, 2]> : tensor<2xi8>", false, -1, 2);
    check_constant("dense<[[1, 2], [3, 4]]> : tensor<2x2xui8>", false, 1, 2);
    check_constant("dense<[true, false]> : tensor<2xi1>", false, 1, 0);
    check_constant("dense<(1.0,-2.0)> : tensor<complex<f32>>", true, 1, -2);
    check_constant("dense<0x3F800000> : tensor<f32>", true, 1, 0);
    check_constant("dense<0x3C00> : tensor<4xf16>", true, 1, 0);
    check_constant("dense<\"0x0000803F00000040\"> : tensor<2xf32>", false, 1, 2);
    check_constant("dense<\"0x0000803F\"> : tensor<2xf32>", true, 1, 0);
    check_constant("dense<\"0x02\"> : tensor<2xi1>", true, 1, 0);
    check_constant("dense<\"0x0602\"> : tensor<10xi1>", false, 0, 1); /* packed: 0110... */
    check_constant("dense<9223372036854775807> : tensor<i64>", true, 9223372036854775807.0, 0);
}

/* The short form and the generic one make the same node. */
static void check_same(const char *arguments, const char *one, const char *other)
{
    char text[2][1024];
    Text printed[2] = { 0 };
    for (int i = 0; i < 2; i++) {
        snprintf(text[i], sizeof text[i], "func.func @main(%s) {\n  %s\n  return\n}\n", arguments,
                 i ? other : one);
        Module *m = read_module(text[i]);
        if (m)
            module_print(&printed[i], m, false);
        module_free(m);
    }
    CHECK_STR(text_cstr(&printed[1]), text_cstr(&printed[0]));
    text_free(&printed[0]);
    text_free(&printed[1]);
}

static void generic_forms(void)
{
    check_same("%a: tensor<4xf32>", "%0 = stablehlo.add %a, %a : tensor<4xf32>",
               "%0 = \"stablehlo.add\"(%a, %a) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>");
    check_same("%a: tensor<2x3xf32>, %b: tensor<2x3xf32>",
               "%0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], "
               "contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : "
               "(tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2xf32>",
               "%0 = \"stablehlo.dot_general\"(%a, %b) <{dot_dimension_numbers = "
               "#stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], "
               "lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, "
               "precision_config = [#stablehlo<precision DEFAULT>]}> : "
               "(tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2xf32>");
    check_same("%a: tensor<4xf32>",
               "%0 = stablehlo.compare LT, %a, %a, FLOAT : "
               "(tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>",
               "%0 = \"stablehlo.compare\"(%a, %a) {comparison_direction = "
               "#stablehlo<comparison_direction LT>, compare_type = #stablehlo<comparison_type "
               "FLOAT>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>");
    check_same("%a: tensor<4xf32>, %b: tensor<f32>",
               "%0 = stablehlo.reduce(%a init: %b) applies stablehlo.add across dimensions = [0] "
               ": (tensor<4xf32>, tensor<f32>) -> tensor<f32>",
               "%0 = stablehlo.reduce(%a init: %b) across dimensions = [0] : (tensor<4xf32>, "
               "tensor<f32>) -> tensor<f32>\n reducer(%x: tensor<f32>, %y: tensor<f32>) {\n"
               "%1 = stablehlo.add %x, %y : tensor<f32>\nstablehlo.return %1 : tensor<f32>\n}");
    check_same("%a: tensor<1x4x4x2xf32>, %b: tensor<3x3x2x5xf32>",
               "%0 = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->"
               "[b, 1, 0, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], reverse = [true, "
               "false]} : (tensor<1x4x4x2xf32>, tensor<3x3x2x5xf32>) -> tensor<1x4x4x5xf32>",
               "%0 = \"stablehlo.convolution\"(%a, %b) <{dimension_numbers = "
               "#stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 1, 0, f]>, window_strides = "
               "array<i64: 1, 1>, padding = dense<1> : tensor<2x2xi64>, window_reversal = "
               "array<i1: true, false>, feature_group_count = 1 : i64, batch_group_count = 1 : "
               "i64}> : (tensor<1x4x4x2xf32>, tensor<3x3x2x5xf32>) -> tensor<1x4x4x5xf32>");
}

/* Nothing but generic forms, from the module down. */
static void generic_module(void)
{
    Module *m = read_module("\"builtin.module\"() <{sym_name = \"f\"}> ({\n"
                            "  \"sdy.mesh\"() <{mesh = #sdy.mesh<[\"i\"=4]>, sym_name = \"mesh\"}> "
                            ": () -> ()\n"
                            "  \"func.func\"() <{arg_attrs = [{jax.a = 1 : i32}], function_type = "
                            "(tensor<f32>) -> tensor<f32>, sym_name = \"main\", sym_visibility = "
                            "\"private\"}> ({\n  ^bb0(%arg0: tensor<f32>):\n"
                            "    \"func.return\"(%arg0) : (tensor<f32>) -> ()\n  }) : () -> ()\n"
                            "}) {mhlo.num_partitions = 4 : i32} : () -> ()\n");
    CHECK_STR(m->name.at, "f");
    CHECK(m->npartitions == 4 && m->nmeshes == 1 && m->meshes[0]->sizes[0] == 4);
    CHECK(m->nfuncs == 1 && !m->funcs[0].is_public && m->funcs[0].nresults == 1);
    CHECK(attr_get(m->funcs[0].arg_attrs[0], "jax.a")->integer == 1);
    CHECK(first_node(m)->op == OP_RETURN && !m->funcs[0].result_attrs[0]);
    module_free(m);
}

/* As JAX writes programs of symbolic shapes: functions first, meshes and callees between them. */
static void meshes_below(void)
{
    static const char *const meshes[] = {
        "sdy.mesh @mesh = <[\"i\"=2, \"j\"=3]>\nsdy.mesh @other = <[\"k\"=5]>\n",
        "\"sdy.mesh\"() <{mesh = #sdy.mesh<[\"i\"=2, \"j\"=3]>, sym_name = \"mesh\"}> : () -> ()\n"
        "\"sdy.mesh\"() <{mesh = #sdy.mesh<[\"k\"=5]>, sym_name = \"other\"}> : () -> ()\n",
    };
    for (int i = 0; i < 2; i++) {
        char text[1024];
        snprintf(
            text, sizeof text,
            "module {\nfunc.func @main(%%a: tensor<6xf32> {jax.a = \"sdy.mesh\", sdy.sharding = "
            "#sdy.sharding<@mesh, [{\"j\"}]>}) {\n  func.call @f() : () -> ()\n  return\n}\n%s"
            "func.func private @f() {\n  return\n}\n}\n",
            meshes[i]);
        Module *m = read_module(text);
        CHECK(m->nfuncs == 2 && m->nmeshes == 2 && m->meshes[1]->sizes[0] == 5);
        const Sharding *s = attr_get(m->funcs[0].arg_attrs[0], "sdy.sharding")->sharding;
        CHECK(s->mesh == m->meshes[0] && s->mesh->naxes == 2 && s->dims[0].axes[0].axis == 1);
        module_free(m);
    }
}

static void reducer_order(void)
{
    Module *m =
        read_module(MAIN("%a: tensor<4xf32>, %b: tensor<4xi32>, %c: tensor<f32>, %d: tensor<i32>",
                         "%0:2 = stablehlo.reduce(%a init: %c), (%b init: %d) across dimensions = "
                         "[0] : (tensor<4xf32>, tensor<4xi32>, tensor<f32>, tensor<i32>) -> "
                         "(tensor<f32>, tensor<i32>)\n"
                         "reducer(%p: tensor<f32>, %r: tensor<f32>) (%q: tensor<i32>, %s: "
                         "tensor<i32>) {\nstablehlo.return %r, %s : tensor<f32>, tensor<i32>\n}"));
    const Node *reduce = first_node(m);
    const Region *r = region_at(m, reduce->regions[0]);
    CHECK(reduce->nin == 4 && reduce->in[2] == region_at(m, m->funcs[0].body)->args + 2);
    CHECK(r->nargs == 4 && type_of(m, r->args + 1).element == I32);
    CHECK(region_return(m, reduce->regions[0])->in[0] == r->args + 2);
    CHECK(region_return(m, reduce->regions[0])->in[1] == r->args + 3);
    module_free(m);
}

static void locations(void)
{
    Module *m = read_module("#top = loc(\"f.py\":1:0)\n"
                            "func.func @main(%a: tensor<f32> loc(\"a\")) {\n"
                            "  %0 = stablehlo.negate %a : tensor<f32> loc(#loc2)\n"
                            "  %1 = stablehlo.negate %0 : tensor<f32>\n"
                            "  return\n} loc(#top)\n"
                            "#loc1 = loc(\"f.py\":7:9)\n"
                            "#loc2 = loc(\"jit(f)/neg\"(callsite(\"neg\"(#loc1) at #top)))\n");
    const Loc *loc = first_node(m)->loc;
    CHECK_STR(loc->name.at, "jit(f)/neg");
    CHECK_STR(loc_name(loc), "f.py:7:9");
    CHECK_STR(loc_name(node_at(m, region_at(m, m->funcs[0].body)->nodes[1])->loc), "test:4:8");
    CHECK_STR(loc_name(m->funcs[0].loc), "f.py:1");
    module_free(m);
}

static const char canonical[] =
    "module @jit_f attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 1 : i32} {\n"
    "  sdy.mesh @mesh = <[\"i\"=2]>\n"
    "  func.func public @main(%arg0: tensor<4x2xf32> {jax.buffer_donor = true}, %arg1: tensor<i32>)"
    " -> (tensor<4x2xf32> {jax.result_info = \"\\22r\\22\"}) {\n"
    "    %0 = stablehlo.constant dense<[1, -2]> : tensor<2xi32>\n"
    "    %1:2 = stablehlo.while(%arg2 = %arg1, %arg3 = %arg0) : tensor<i32>, tensor<4x2xf32> cond "
    "{\n"
    "      %2 = stablehlo.compare LT, %arg2, %arg1, SIGNED : (tensor<i32>, tensor<i32>) -> "
    "tensor<i1>\n"
    "      stablehlo.return %2 : tensor<i1>\n"
    "    } do {\n"
    "      %2 = stablehlo.slice %0 [0:1] : (tensor<2xi32>) -> tensor<1xi32>\n"
    "      %3 = stablehlo.reshape %2 : (tensor<1xi32>) -> tensor<i32>\n"
    "      stablehlo.return %3, %arg3 : tensor<i32>, tensor<4x2xf32>\n"
    "    }\n"
    "    %2 = sdy.manual_computation(%1#1) in_shardings=[<@mesh, [{\"i\"}, {}]>] "
    "out_shardings=[<@mesh, [{\"i\"}, {}]>] manual_axes={\"i\"} (%arg2: tensor<2x2xf32>) {\n"
    "      %3 = \"stablehlo.all_reduce\"(%arg2) <{channel_handle = "
    "#stablehlo.channel_handle<handle "
    "= 1, type = 0>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> "
    "({\n"
    "      ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):\n"
    "        %4 = stablehlo.add %arg3, %arg4 : tensor<f32>\n"
    "        stablehlo.return %4 : tensor<f32>\n"
    "      }) : (tensor<2x2xf32>) -> tensor<2x2xf32>\n"
    "      sdy.return %3 : tensor<2x2xf32>\n"
    "    } : (tensor<4x2xf32>) -> tensor<4x2xf32>\n"
    "    stablehlo.custom_call @\"odd name\"(%2) {api_version = 4 : i32, has_side_effect = true, "
    "mhlo.backend_config = {}} : (tensor<4x2xf32>) -> ()\n"
    "    return %2 : tensor<4x2xf32>\n"
    "  }\n"
    "}\n";

static void printing(void)
{
    Module *m = read_module(canonical);
    Text out = { 0 };
    module_print(&out, m, false);
    CHECK_STR(text_cstr(&out), canonical);
    module_free(m);
    text_free(&out);

    m = read_module(
        MAIN("%a: tensor<f32>", "%0 = stablehlo.sine %a : tensor<f32> loc(\"g\"(\"f.c\":1:2))"));
    module_print(&out, m, true);
    CHECK(strstr(text_cstr(&out), "stablehlo.sine %arg0 : tensor<f32> loc(\"g\"(\"f.c\":1:2))\n"));
    module_free(m);
    text_free(&out);
}

static void complaints(void)
{
    static const char *const cases[][2] = {
        { MAIN("%a: tensor<f32>", "%0 = stablehlo.negate %a -> tensor<f32>"),
          "p.mlir:2:26: expected ':' before the type, found '->'" },
        { MAIN("", "%0 = stablehlo.foo %a : tensor<f32>"),
          "not supported: operation stablehlo.foo (p.mlir:2:6)" },
        { MAIN("", "\"tutti.fusion\"() : () -> ()"),
          "not supported: operation tutti.fusion (p.mlir:2:1)" },
        { MAIN("", "%0 = stablehlo.negate %a : tensor<f32>"),
          "p.mlir:2:23: %a is not defined here" },
        { MAIN("%a: tensor<f32>", "%a = stablehlo.negate %a : tensor<f32>"),
          "p.mlir:2:1: %a is defined twice" },
        { MAIN("%a: tensor<f32>", "%0 = stablehlo.negate %a#1 : tensor<f32>"),
          "p.mlir:2:23: %a has 1 results, there is no #1" },
        { MAIN("%a: tensor<f32>", "%0:2 = stablehlo.negate %a : tensor<f32>"),
          "p.mlir:2:8: negate has 1 results, but 2 are named" },
        { MAIN("%a: tensor<f32>", "%0 = stablehlo.convert %a : (tensor<i32>) -> tensor<f32>"),
          "p.mlir:2:6: operand 0 of convert is f32[], but its type is written as i32[]" },
        { MAIN("%a: tensor<f32>", "%0 = stablehlo.negate %a {size = 1} : tensor<f32>"),
          "p.mlir:2:6: negate: unknown attribute 'size'" },
        { MAIN("%a: tensor<f32>", "%0 = stablehlo.broadcast_in_dim %a : (tensor<f32>) -> "
                                  "tensor<2xf32>"),
          "p.mlir:2:6: broadcast_in_dim: attribute 'broadcast_dimensions' is missing" },
        { MAIN("", "%0 = stablehlo.constant dense<[1, 2]> : tensor<3xi32>"),
          "p.mlir:2:31: 2 elements in dimension 0 of i32[3]" },
        { MAIN("", "%0 = stablehlo.constant dense<300> : tensor<i8>"),
          "p.mlir:2:31: 300 does not fit in i8" },
        { MAIN("", "%0 = stablehlo.constant dense<\"0x00\"> : tensor<3xi32>"),
          "p.mlir:2:31: 1 bytes for a constant of type i32[3], which has 12" },
        { MAIN("%a: tensor<4611686018427387904x2xf32>", ""),
          "p.mlir:1:21: the type f32[4611686018427387904,2] is too large to have a size" },
        { MAIN("%a: tensor<f33>", ""), "not supported: element type f33 (p.mlir:1:28)" },
        { MAIN("%a: tensor<2x3x>", ""), "p.mlir:1:32: expected an element type, found '>'" },
        { MAIN("%a: tensor<*xf32>", ""), "not supported: tensors without a rank (p.mlir:1:21)" },
        { "func.func @main() {\n", "p.mlir:2:1: expected an operation, found the end of the text" },
        { "func.func @main() {\n}",
          "p.mlir:2:1: expected a return at the end of the region, found '}'" },
        { "func.func private @f()\n", "not supported: function @f without a body (p.mlir:1:1)" },
        { "module {\n}", "p.mlir:2:2: expected a module or a function, found the end of the text" },
        { "", "p.mlir:1:1: expected a module or a function, found the end of the text" },
        { "#a = #a\nfunc.func @main() {\n %0 = stablehlo.constant #a\n return\n}",
          "p.mlir:1:6: #a is defined by itself" },
        { MAIN("%a: tensor<f32>", "%0 = sdy.sharding_constraint %a <@mesh, []> : tensor<f32>"),
          "p.mlir:2:34: the module has no mesh @mesh" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_STR(complaint(cases[i][0]), cases[i][1]);
}

/* Far too deep, but no deeper than the reader allows on its own stack. */
static void depth(void)
{
    enum { DEEP = 100000 };
    static const char head[] = "module attributes {a = ", list[] = "[", dict[] = "{a = ";
    const char *opening[] = { list, dict };
    for (int k = 0; k < 2; k++) {
        Text text = { 0 };
        text_printf(&text, "%s", head);
        for (int i = 0; i < DEEP; i++)
            text_printf(&text, "%s", opening[k]);
        CHECK(strstr(complaint(text_cstr(&text)), "nested more than 64 deep"));
        text_free(&text);
    }
    Text text = { 0 };
    text_printf(&text, "func.func @main(%%a: tensor<i32>) {\n");
    for (int i = 0; i < DEEP; i++)
        text_printf(&text, "\"stablehlo.case\"(%%a) ({\n");
    CHECK(strstr(complaint(text_cstr(&text)), "nested more than 64 deep"));
    text_free(&text);
}

/* Every beginning of a program is read or refused, and nothing else happens. */
static void beginnings(void)
{
    for (size_t n = 0; n < sizeof canonical - 1; n++) {
        char *piece = malloc(n ? n : 1); /* so that a step too far is seen */
        memcpy(piece, canonical, n);
        Module *m = NULL;
        Error *error = read_text(piece, n, "p.mlir", &m);
        CHECK(error || n == sizeof canonical - 2);
        error_free(error);
        module_free(m);
        free(piece);
    }
}

int main(void)
{
    module_and_functions();
    constants();
    generic_forms();
    generic_module();
    meshes_below();
    reducer_order();
    locations();
    printing();
    complaints();
    depth();
    beginnings();
    return check_done();
}
