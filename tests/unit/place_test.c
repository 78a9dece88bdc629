/* place_test.c - a placed program, run by all devices in lockstep, gives what the program
 * means over whole arrays; results lie where they should; and there is no collective without need.
 * Links the passes and the evaluator. */
#include "tests/check.h"
#include "tests/lockstep.h"
#include "tests/read_text.h"

#include <math.h>
#include <stdlib.h>

static bool everything_open[8] = { true, true, true, true, true, true, true, true };
static const CompileOptions options = { .free_args = everything_open,
                                        .free_results = everything_open,
                                        .nfree_args = 8,
                                        .nfree_results = 8 };

typedef struct Placed {
    Module *m;
    Params params;
} Placed;

static Placed prepare(const char *text, Error **error)
{
    Placed p = { .m = read_module(text) };
    *error = pass_refine(p.m);
    *error = *error ? *error : pass_simplify(p.m, &options);
    *error = *error ? *error : pass_place(p.m, &options, &p.params);
    *error = *error ? *error : module_check(p.m);
    return p;
}

static Tensor *arguments(const Placed *p)
{
    int n = p->params.nargs;
    Tensor *in = ARENA_ARRAY(p->m->arena, Tensor, n + 1);
    for (int i = 0; i < n; i++) {
        Type whole = p->params.args[i].whole;
        in[i] = (Tensor){ whole, arena_alloc(p->m->arena, type_bytes(whole)) };
        for (int64_t k = 0; k < type_count(in[i].type); k++)
            ((float *)in[i].data)[k] = (float)((k * 7 + i * 5) % 13) * 0.25f - 1;
    }
    return in;
}

static void check_same(const char *what, Tensor a, Tensor b)
{
    CHECK(type_equal(a.type, b.type));
    CHECK(a.type.element == F32);
    for (int64_t i = 0; i < type_count(a.type); i++) {
        double x = ((float *)a.data)[i], y = ((float *)b.data)[i];
        if (fabs(x - y) > 1e-5 * (1 + fabs(x))) {
            printf("%s: element %d is %g, should be %g\n", what, (int)i, y, x);
            check_failures++;
            return;
        }
    }
}

/* Runs `placed` (four partitions) and `plain` (one), and compares.  tiles: of the results,
 * "[4, 1] []"; collectives: tutti.global nodes performed. */
static void check_program(const char *what, const char *plain, const char *placed,
                          const char *tiles, int collectives)
{
    Error *error;
    Placed one = prepare(plain, &error);
    CHECK_STR(error ? error_text(error) : "", "");
    Placed four = prepare(placed, &error);
    CHECK_STR(error ? error_text(error) : "", "");
    if (error)
        return;
    int n = one.params.nresults, met = 0;
    Tensor *expected = ARENA_ARRAY(one.m->arena, Tensor, n + 1);
    Tensor *got = ARENA_ARRAY(one.m->arena, Tensor, n + 1);
    for (int i = 0; i < n; i++)
        expected[i] =
            (Tensor){ one.params.results[i].whole,
                      arena_alloc(one.m->arena, type_bytes(one.params.results[i].whole)) };
    error = eval_region(one.m, module_main(one.m), arguments(&one), expected);
    error = error ? error : run_placed(four.m, &four.params, arguments(&four), got, &met);
    CHECK_STR(error ? error_text(error) : "", "");
    Text lie = { 0 };
    for (int i = 0; i < n && !error; i++) {
        check_same(what, expected[i], got[i]);
        Tiling t = four.params.results[i].tiling;
        text_printf(&lie, "%s[", i ? " " : "");
        text_ints(&lie, t.tiles, t.rank);
        text_printf(&lie, "]");
    }
    if (strcmp(text_cstr(&lie), tiles) != 0 || met != collectives)
        printf("%s: %d meetings\n", what, met);
    CHECK_STR(text_cstr(&lie), tiles);
    CHECK(met == collectives);
    text_free(&lie);
    module_free(one.m);
    module_free(four.m);
}

/* One program over y : f32[4,6], cut in four along dimension 0, and w : f32[6,5]. */
static void check_over_rows(const char *body, const char *type, const char *tiles, int collectives)
{
    Text text[2] = { { 0 } };
    for (int i = 0; i < 2; i++)
        text_printf(&text[i],
                    "module attributes {mhlo.num_partitions = %d : i32} {\n"
                    "sdy.mesh @mesh = <[\"i\"=4]>\n"
                    "func.func public @main(%%y: tensor<4x6xf32>"
                    " {sdy.sharding = #sdy.sharding<@mesh, [{\"i\"}, {}]>},"
                    " %%w: tensor<6x5xf32>) -> %s {\n"
                    "%%one = stablehlo.constant dense<1.0> : tensor<f32>\n"
                    "%%zero = stablehlo.constant dense<0.0> : tensor<f32>\n"
                    "%s\nreturn %%r : %s\n}\n}\n",
                    i ? 4 : 1, type, body, type);
    check_program(body, text_cstr(&text[0]), text_cstr(&text[1]), tiles, collectives);
    text_free(&text[0]);
    text_free(&text[1]);
}

#define Y "tensor<4x6xf32>"

/* What XLA was seen to choose. */
static void whole_array_code(void)
{
    check_over_rows("%r = stablehlo.add %y, %y : " Y, Y, "[4, 1]", 0);
    check_over_rows("%a = stablehlo.broadcast_in_dim %one, dims = [] : (tensor<f32>) -> " Y "\n"
                    "%r = stablehlo.add %y, %a : " Y,
                    Y, "[4, 1]", 0);
    check_over_rows("%r = stablehlo.transpose %y, dims = [1, 0] : (" Y ") -> tensor<6x4xf32>",
                    "tensor<6x4xf32>", "[1, 4]", 0);
    check_over_rows("%r = stablehlo.broadcast_in_dim %y, dims = [1, 2] : (" Y
                    ") -> tensor<2x4x6xf32>",
                    "tensor<2x4x6xf32>", "[1, 4, 1]", 0);
    check_over_rows("%r = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions"
                    " = [1] : (" Y ", tensor<f32>) -> tensor<4xf32>",
                    "tensor<4xf32>", "[4]", 0);
    check_over_rows("%r = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions"
                    " = [0] : (" Y ", tensor<f32>) -> tensor<6xf32>",
                    "tensor<6xf32>", "[1]", 0);
    check_over_rows("%r = stablehlo.dot_general %y, %y, contracting_dims = [0] x [0] : (" Y ", " Y
                    ") -> tensor<6x6xf32>",
                    "tensor<6x6xf32>", "[1, 1]", 0);
    check_over_rows("%r = stablehlo.dot_general %y, %w, contracting_dims = [1] x [0] : (" Y
                    ", tensor<6x5xf32>) -> tensor<4x5xf32>",
                    "tensor<4x5xf32>", "[4, 1]", 0);
    check_over_rows("%r = stablehlo.dot_general %y, %y, contracting_dims = [1] x [1] : (" Y ", " Y
                    ") -> tensor<4x4xf32>",
                    "tensor<4x4xf32>", "[4, 1]", 0);
    check_over_rows("%r = stablehlo.reshape %y : (" Y ") -> tensor<24xf32>", "tensor<24xf32>",
                    "[4]", 0);
    check_over_rows("%r = stablehlo.reshape %y : (" Y ") -> tensor<2x12xf32>", "tensor<2x12xf32>",
                    "[1, 1]", 1);
    check_over_rows("%r = stablehlo.concatenate %y, %y, dim = 0 : (" Y ", " Y
                    ") -> tensor<8x6xf32>",
                    "tensor<8x6xf32>", "[4, 1]", 0);
    check_over_rows("%r = stablehlo.concatenate %y, %y, dim = 1 : (" Y ", " Y
                    ") -> tensor<4x12xf32>",
                    "tensor<4x12xf32>", "[4, 1]", 0);
    check_over_rows("%r = stablehlo.slice %y [0:4, 1:3] : (" Y ") -> tensor<4x2xf32>",
                    "tensor<4x2xf32>", "[4, 1]", 0);
    check_over_rows("%r = stablehlo.slice %y [1:3, 0:6] : (" Y ") -> tensor<2x6xf32>",
                    "tensor<2x6xf32>", "[1, 1]", 0);
    /* roll: neither slice can be cut in four, their concatenation can. */
    check_over_rows(
        "%a = stablehlo.slice %y [3:4, 0:6] : (" Y ") -> tensor<1x6xf32>\n"
        "%b = stablehlo.slice %y [0:3, 0:6] : (" Y ") -> tensor<3x6xf32>\n"
        "%r = stablehlo.concatenate %a, %b, dim = 0 : (tensor<1x6xf32>, tensor<3x6xf32>)"
        " -> " Y,
        Y, "[4, 1]", 0);
    check_over_rows("%r = stablehlo.reverse %y, dims = [0] : " Y, Y, "[4, 1]", 0);
}

static void collectives_are_shared(void)
{
    /* Rows in another order, then shifted, then two of them: one collective. */
    check_over_rows("%a = stablehlo.reverse %y, dims = [0] : " Y "\n"
                    "%b = stablehlo.slice %a [3:4, 0:6] : (" Y ") -> tensor<1x6xf32>\n"
                    "%c = stablehlo.concatenate %a, %b, dim = 0 : (" Y ", tensor<1x6xf32>) ->"
                    " tensor<5x6xf32>\n"
                    "%r = stablehlo.slice %c [3:5, 0:6] : (tensor<5x6xf32>) -> tensor<2x6xf32>",
                    "tensor<2x6xf32>", "[1, 1]", 1);
    /* Maxima and sums over rows need only those of the parts, and an all_reduce. */
    check_over_rows("%s = stablehlo.reduce(%y init: %zero) applies stablehlo.maximum across"
                    " dimensions = [0] : (" Y ", tensor<f32>) -> tensor<6xf32>\n"
                    "%b = stablehlo.broadcast_in_dim %s, dims = [1] : (tensor<6xf32>) -> " Y "\n"
                    "%c = stablehlo.subtract %y, %b : " Y "\n"
                    "%r = stablehlo.reduce(%c init: %zero) applies stablehlo.add across dimensions"
                    " = [0, 1] : (" Y ", tensor<f32>) -> tensor<f32>",
                    "tensor<f32>", "[]", 0);
    /* But not where the initial value would count four times. */
    check_over_rows("%r = stablehlo.reduce(%y init: %one) applies stablehlo.add across dimensions"
                    " = [0] : (" Y ", tensor<f32>) -> tensor<6xf32>",
                    "tensor<6xf32>", "[1]", 1);
    /* A table that all have is cut without asking anybody. */
    check_over_rows("%i = stablehlo.iota dim = 0 : tensor<24xf32>\n"
                    "%t = stablehlo.reshape %i : (tensor<24xf32>) -> " Y "\n"
                    "%r = stablehlo.multiply %y, %t : " Y,
                    Y, "[4, 1]", 0);
}

static const char head[] = "module attributes {mhlo.num_partitions = 4 : i32} {\n"
                           "sdy.mesh @mesh = <[\"a\"=2, \"b\"=2]>\n"
                           "func.func public @main(%x: " Y ") -> ";

#define MANUAL(in, out, axes, body)                                                                \
    "sdy.manual_computation(%" in                                                                  \
    ") in_shardings=[<@mesh, [{\"a\"}, {}]>] out_shardings=[<@mesh, " out ">] manual_axes={" axes  \
    "} (%p: tensor<2x6xf32>) {\n" body "\n}"

/* Each row: the manual program, and one that says the same over whole arrays. */
static void check_manual(const char *what, const char *type, const char *plain, const char *manual,
                         const char *tiles, int collectives)
{
    Text text[2] = { { 0 } };
    text_printf(&text[0], "func.func public @main(%%x: " Y ") -> %s {\n%s\nreturn %%r : %s\n}\n",
                type, plain, type);
    text_printf(&text[1], "%s%s {\n%s\nreturn %%r : %s\n}\n}\n", head, type, manual, type);
    check_program(what, text_cstr(&text[0]), text_cstr(&text[1]), tiles, collectives);
    text_free(&text[0]);
    text_free(&text[1]);
}

#define SINE                                                                                       \
    MANUAL("x", "[{\"a\"}, {}]", "\"a\", \"b\"",                                                   \
           "%q = stablehlo.sine %p : tensor<2x6xf32>\nsdy.return %q : tensor<2x6xf32>")            \
    " : (" Y ") -> " Y
#define PSUM                                                                                       \
    "%q = \"stablehlo.all_reduce\"(%p) <{replica_groups = dense<[[0, 2], [1, 3]]> :"               \
    " tensor<2x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>,"          \
    " use_global_device_ids}> ({\n^bb0(%u: tensor<f32>, %v: tensor<f32>):\n"                       \
    "%s = stablehlo.add %u, %v : tensor<f32>\nstablehlo.return %s : tensor<f32>\n})"               \
    " : (tensor<2x6xf32>) -> tensor<2x6xf32>\nsdy.return %q : tensor<2x6xf32>"
#define HALVES                                                                                     \
    "%h = stablehlo.slice %x [0:2, 0:6] : (" Y ") -> tensor<2x6xf32>\n"                            \
    "%l = stablehlo.slice %x [2:4, 0:6] : (" Y ") -> tensor<2x6xf32>\n"                            \
    "%r = stablehlo.add %h, %l : tensor<2x6xf32>"

static void manual_code(void)
{
    check_manual("sine", Y, "%r = stablehlo.sine %x : " Y, "%r = " SINE, "[2, 1]", 0);
    check_manual("psum", "tensor<2x6xf32>", HALVES,
                 "%r = " MANUAL("x", "[{}, {}]", "\"a\", \"b\"", PSUM) " : (" Y
                                                                       ") -> tensor<2x6xf32>",
                 "[1, 1]", 0);
    /* Axis b is not manual: its devices do the same. */
    check_manual("partly manual psum", "tensor<2x6xf32>", HALVES,
                 "%r = " MANUAL("x", "[{?}, {?}]", "\"a\"", PSUM) " : (" Y ") -> tensor<2x6xf32>",
                 "[1, 1]", 0);
    check_manual(
        "sum of the sine", "tensor<6xf32>",
        "%s = stablehlo.sine %x : " Y "\n%zero = stablehlo.constant dense<0.0> : tensor<f32>\n"
        "%r = stablehlo.reduce(%s init: %zero) applies stablehlo.add across dimensions = [0]"
        " : (" Y ", tensor<f32>) -> tensor<6xf32>",
        "%s = " SINE "\n%zero = stablehlo.constant dense<0.0> : tensor<f32>\n"
        "%r = stablehlo.reduce(%s init: %zero) applies stablehlo.add across dimensions = [0]"
        " : (" Y ", tensor<f32>) -> tensor<6xf32>",
        "[1]", 0);
    /* Cut once more inside, along b, and put together again. */
    check_manual(
        "manual inside manual", Y,
        "%s = stablehlo.sine %x : " Y "\n"
        "%r = stablehlo.reverse %s, dims = [0] : " Y,
        "%s = " MANUAL(
            "x", "[{\"a\"}, {}]", "\"a\"",
            "%q = sdy.manual_computation(%p) in_shardings=[<@mesh, [{}, {\"b\"}]>]"
            " out_shardings=[<@mesh, [{}, {\"b\"}]>] manual_axes={\"b\"}"
            " (%i: tensor<2x3xf32>) {\n"
            "%j = stablehlo.sine %i : tensor<2x3xf32>\n"
            "sdy.return %j : tensor<2x3xf32>\n}"
            " : (tensor<2x6xf32>) -> tensor<2x6xf32>\n"
            "sdy.return %q : tensor<2x6xf32>") " : (" Y ") -> " Y "\n"
                                               "%r = stablehlo.reverse %s, dims = [0] : " Y,
        "[2, 1]", 0);
    /* Laid out anew between two constraints. */
    check_manual("two constraints", Y, "%r = stablehlo.add %x, %x : " Y,
                 "%c = sdy.sharding_constraint %x <@mesh, [{\"a\"}, {\"b\"}]> : " Y "\n"
                 "%d = stablehlo.add %c, %c : " Y "\n"
                 "%r = sdy.sharding_constraint %d <@mesh, [{}, {\"a\"}]> : " Y,
                 "[1, 2]", 0);
}

#define LOOP(init, body)                                                                           \
    "%nil = stablehlo.constant dense<0.0> : tensor<f32>\n"                                         \
    "%lim = stablehlo.constant dense<100.0> : tensor<f32>\n"                                       \
    "%r = stablehlo.while(%c = " init ") : " Y "\ncond {\n"                                        \
    "%t = stablehlo.reduce(%c init: %nil) applies stablehlo.add across dimensions = [0, 1]"        \
    " : (" Y ", tensor<f32>) -> tensor<f32>\n"                                                     \
    "%g = stablehlo.compare LT, %t, %lim : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"             \
    "stablehlo.return %g : tensor<i1>\n} do {\n" body "\nstablehlo.return %n : " Y "\n}"

#define DOUBLE(in)                                                                                 \
    MANUAL(in, "[{\"a\"}, {}]", "\"a\", \"b\"",                                                    \
           "%q = stablehlo.add %p, %p : tensor<2x6xf32>\nsdy.return %q : tensor<2x6xf32>")         \
    " : (" Y ") -> " Y

/* Loops around a manual computation.  The sum of the argument is 10.5, so the condition is asked
 * at 10.5, 21, 42, 84 and 168, and the body is done four times. */
static void manual_in_loop(void)
{
    check_manual("loop", Y, LOOP("%x", "%n = stablehlo.add %c, %c : " Y),
                 LOOP("%x", "%n = " DOUBLE("c")), "[2, 1]", 0);
    check_manual("loop that turns rows", Y,
                 LOOP("%x", "%d = stablehlo.add %c, %c : " Y "\n"
                            "%n = stablehlo.reverse %d, dims = [0] : " Y),
                 LOOP("%x", "%d = " DOUBLE("c") "\n%n = stablehlo.reverse %d, dims = [0] : " Y),
                 "[2, 1]", 0);
}

/* A loop over whole arrays is done on pieces if its body can be, else by all together. */
static void plain_loops(void)
{
    check_over_rows(LOOP("%y", "%n = stablehlo.add %c, %c : " Y), Y, "[4, 1]", 0);
    check_over_rows(LOOP("%y", "%d = stablehlo.add %c, %c : " Y "\n"
                               "%n = stablehlo.reverse %d, dims = [0] : " Y),
                    Y, "[4, 1]", 0);
}

static void check_refused(const char *text, const char *message)
{
    Error *error;
    Placed p = prepare(text, &error);
    CHECK_STR(error ? error_text(error) : "", message);
    error_free(error);
    module_free(p.m);
}

static void refusals(void)
{
    check_refused("module attributes {mhlo.num_partitions = 4 : i32} {\n"
                  "sdy.mesh @mesh = <[\"i\"=4]>\n"
                  "func.func public @main() -> tensor<ui32> {\n"
                  "%r = stablehlo.partition_id : tensor<ui32>\nreturn %r : tensor<ui32>\n}\n}\n",
                  "not supported: partition_id outside of a manual computation in a program for 4 "
                  "partitions, at test:4:6");
    check_refused("module attributes {mhlo.num_partitions = 4 : i32} {\n"
                  "sdy.mesh @mesh = <[\"i\"=4]>\n"
                  "func.func public @main(%x: tensor<6xf32> {sdy.sharding = #sdy.sharding<@mesh,"
                  " [{\"i\"}]>}) -> tensor<6xf32> {\nreturn %x : tensor<6xf32>\n}\n}\n",
                  "argument 0 of @main: f32[6] cannot be cut into 4 equal tiles along dimension 0: "
                  "its extent must be a multiple of 4");
}

static void donations(void)
{
    Error *error;
    Placed p = prepare("func.func public @main(%a: tensor<3xf32> {jax.buffer_donor = true},"
                       " %b: tensor<2xf32> {tf.aliasing_output = 1 : i32}, %c: tensor<2xf32>) ->"
                       " (tensor<2xf32>, tensor<2xf32>, tensor<3xf32>) {\n"
                       "return %c, %c, %a : tensor<2xf32>, tensor<2xf32>, tensor<3xf32>\n}\n",
                       &error);
    CHECK_STR(error ? error_text(error) : "", "");
    CHECK(p.params.args[0].may_donate && p.params.args[1].may_donate &&
          !p.params.args[2].may_donate);
    CHECK(p.params.results[0].alias == -1 && p.params.results[1].alias == 1 &&
          p.params.results[2].alias == 0);
    module_free(p.m);
}

int main(void)
{
    whole_array_code();
    collectives_are_shared();
    manual_code();
    manual_in_loop();
    plain_loops();
    refusals();
    donations();
    return check_done();
}
