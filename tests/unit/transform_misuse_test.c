/* transform_misuse_test.c - each mistake with functions and their transformations has its message,
 * which names the function, the argument and its shape, what would be right, and what was being
 * traced. */
#include "tests/front.h"

typedef struct {
    tt w, b;
} Params;

static tt square(tt x)
{
    return tt_mul(x, x);
}
static tt both(tt x, tt y)
{
    return tt_add(x, y);
}
static tt share(tt x)
{
    return tt_psum(x, "i");
}
static tt no_name(tt x)
{
    return tt_psum(x, NULL);
}
static tt other_axis(tt x)
{
    return tt_add(x, tt_axis_index("j"));
}
static tt wrong_matrix(tt x)
{
    return tt_matmul(x, tt_zeros(TT_F32, 7, 7));
}
static tt wave(tt x)
{
    return tt_sin(x);
}
static tt not_listed(Params p)
{
    return p.w;
}
static Params two(tt x)
{
    return (Params){ tt_sum(x), x };
}
TT_FUN(Params, two, tt);
static tt of_params(Params p)
{
    return tt_add(p.w, p.b);
}
TT_FUN(tt, of_params, Params);
static tt leaked;
static tt leaks(tt x)
{
    leaked = tt_mul(x, 2);
    return x;
}
static tt peeks(tt x)
{
    return tt_item(tt_sum(x)) > 0 ? x : tt_neg(x);
}
static tt nested(tt x)
{
    return tt_call(tt_pmap(square), x);
}
static tt scatters(tt x)
{
    return tt_psum_scatter(x, "i");
}
static tt exchanges(tt x)
{
    return tt_all_to_all(x, "i");
}
static tt total(tt x)
{
    return tt_sum(x);
}
static tt highest(tt x)
{
    return tt_sum(tt_pmax(x, "i"));
}
static tt forgets(tt x)
{
    (void)x;
    return (tt){ 0, 0 };
}
static tt lowers(tt x)
{
    tt_lower(tt_jit(square), x);
    return x;
}
static tt two_maps(tt x)
{
    tt y = tt_call(tt_pmap(square), x);
    return tt_call(tt_pmap(square), tt_reshape(y, 2, 4));
}

/* What was said, with every line of this file as @. */
static char *said(void)
{
    static char out[4096];
    const char *file = __FILE__;
    size_t n = 0;
    for (const char *c = front_said(); *c && n + 1 < sizeof out;) {
        if (strncmp(c, file, strlen(file)) != 0) {
            out[n++] = *c++;
            continue;
        }
        c += strlen(file) + 1;
        c += strspn(c, "0123456789");
        out[n++] = '@';
    }
    out[n] = 0;
    return out;
}

#define SAYS(expression, message)                                                                  \
    do {                                                                                           \
        (void)(expression);                                                                        \
        CHECK_STR(said(), message);                                                                \
    } while (0)

static tt x, short_x, big;

static void test_map_sizes(void)
{
    SAYS(
        tt_call(tt_pmap(square), big),
        "@: in test_map_sizes: pmap(square): argument 0, f32[9,2] is to be spread over 9 devices, "
        "but there are 4: give the mapped axis at most 4, start with tt_init(.devices = 9), or map "
        "within a device with tt_vmap");
    SAYS(
        tt_call(tt_pmap(both), x, short_x),
        "@: in test_map_sizes: pmap(both): argument 1, f32[3,2] has 3 along its mapped axis 0, but "
        "argument 0, f32[4,2] has 4: all mapped arguments must have the same");
    SAYS(
        tt_call(tt_vmap(both), x, short_x),
        "@: in test_map_sizes: vmap(both): argument 1, f32[3,2] has 3 along its mapped axis 0, but "
        "argument 0, f32[4,2] has 4: all mapped arguments must have the same");
    SAYS(
        tt_call(tt_pmap(square, .in_axes = { 5 }), x),
        "@: in test_map_sizes: pmap(square): argument 0, f32[4,2] has no axis 5 to map: in_axes[0] "
        "must be from -2 to 1, or TT_NONE");
    SAYS(tt_call(tt_vmap(square, .in_axes = { -3 }), x),
         "@: in test_map_sizes: vmap(square): argument 0, f32[4,2] has no axis -3 to map: "
         "in_axes[0] "
         "must be from -2 to 1, or TT_NONE");
    SAYS(tt_call(tt_pmap(square), tt_scalar(1)),
         "@: in test_map_sizes: pmap(square): argument 0, f32[] is one number and has no axis to "
         "map: in_axes[0] must be TT_NONE");
    SAYS(tt_call(tt_pmap(square, .in_axes = { TT_NONE }), x),
         "@: in test_map_sizes: pmap(square): no argument is mapped: at least one of in_axes "
         "must be an axis, or .axis_size say how many");
    SAYS(tt_call(tt_pmap(square, .axis_size = 3), x),
         "@: in test_map_sizes: pmap(square): argument 0, f32[4,2] has 4 along axis 0, but "
         "axis_size "
         "is 3");
    SAYS(tt_call(tt_vmap(square), tt_zeros(TT_F32, 0, 2)),
         "@: in test_map_sizes: vmap(square): argument 0, f32[0,2] has 0 along its mapped axis "
         "0: there is nothing to map");
    SAYS(tt_call(tt_pmap(square, .out_axis = 3), x),
         "@: in test_map_sizes: pmap(square): result 0 cannot have its mapped axis at 3: with 1 "
         "other, that is from -2 to 1, or TT_NONE\n"
         "    while tracing pmap(square), @");
    SAYS(tt_call(tt_vmap(square, .out_axis = TT_NONE), x),
         "@: in test_map_sizes: vmap(square): result 0 differs from row to row, so its out_axis "
         "cannot be TT_NONE\n"
         "    while tracing vmap(square), @");
    SAYS(tt_call(tt_pmap(of_params), ((Params){ x, short_x })),
         "@: in test_map_sizes: pmap(of_params): argument 0, leaf 1, f32[3,2] has 3 along its "
         "mapped "
         "axis 0, but argument 0, leaf 0, f32[4,2] has 4: all mapped arguments must have the same");
}

static void test_devices(void)
{
    const int pair[] = { 0, 1 }, far[] = { 0, 1, 2, 7 }, same[] = { 0, 1, 2, 2 };
    SAYS(tt_call(tt_pmap(square, .devices = pair, .ndevices = 2), x),
         "@: in test_devices: pmap(square): argument 0, f32[4,2] is to be spread over 4 devices, "
         "but .devices lists 2");
    SAYS(tt_call(tt_pmap(square, .devices = far, .ndevices = 4), x),
         "@: in test_devices: pmap(square): .devices lists device 7, which is not there: they "
         "are 0 to 3");
    SAYS(tt_call(tt_pmap(square, .devices = same, .ndevices = 4), x),
         "@: in test_devices: pmap(square): .devices lists device 2 twice");
    SAYS(tt_pmap(square, .devices = pair),
         "@: in test_devices: tt_pmap(square): devices must list at least one device, and ndevices "
         "say how many, or neither be given");
    SAYS(tt_call(tt_jit(two_maps), x),
         "@: in two_maps: pmap(square) runs on 4 devices and pmap(square), in the same program, on "
         "2 or in another order: all maps of a program need the same devices\n"
         "    while tracing jit(two_maps), @");
}

static void test_axes(void)
{
    SAYS(tt_call(tt_pmap(share), x),
         "@: in share: tt_psum: no axis named \"i\" is being mapped here: write .axis_name = "
         "\"i\" where the function is mapped, or give its mesh that axis\n"
         "    while tracing pmap(share), @");
    SAYS(tt_call(tt_pmap(other_axis, .axis_name = "i"), x),
         "@: in other_axis: tt_axis_index: no axis named \"j\" is being mapped here: write "
         ".axis_name = \"j\" where the function is mapped, or give its mesh that axis\n"
         "    while tracing pmap(other_axis), @, axis \"i\" of size 4");
    SAYS(tt_call(tt_pmap(no_name, .axis_name = "i"), x),
         "@: in no_name: tt_psum: no axis is named: give the name that tt_pmap or tt_vmap has as "
         ".axis_name\n"
         "    while tracing pmap(no_name), @, axis \"i\" of size 4");
    SAYS(tt_psum(x, "i"),
         "@: in test_axes: tt_psum: nothing is being mapped here, so there is no axis \"i\": "
         "call it inside a function that is, as by tt_pmap(f, .axis_name = \"i\")");
    SAYS(tt_call(tt_pmap(scatters, .axis_name = "i"), x),
         "@: in scatters: tt_psum_scatter: f32[2] must have 4 along axis 0, the size of \"i\"\n"
         "    while tracing pmap(scatters), @, axis \"i\" of size 4");
    SAYS(tt_call(tt_vmap(exchanges, .axis_name = "i"), x),
         "@: in exchanges: tt_all_to_all: f32[2] must have 4 along axis 0, the size of \"i\"\n"
         "    while tracing vmap(exchanges), @, axis \"i\" of size 4");
    SAYS(tt_call(tt_pmap(nested), x),
         "@: in nested: pmap(square) inside pmap(nested): 4 times 2 devices are needed, but there "
         "are 4: start with tt_init(.devices = 8), or map within a device with tt_vmap\n"
         "    while tracing pmap(nested), @");
}

static void test_grad(void)
{
    SAYS(tt_call(tt_grad(wave), x),
         "@: in test_grad: grad(wave): the result must be one float, and is f32[4,2]: take its "
         "tt_sum or tt_mean\n"
         "    while tracing grad(wave), @");
    SAYS(
        tt_call_as(Params, tt_grad(two), x),
        "@: in test_grad: grad(two): the function returns 2 arrays: if only the first is the loss, "
        "say .has_aux = true\n"
        "    while tracing grad(two), @");
    SAYS(
        tt_call(tt_grad(total), tt_arange(TT_I32, 3)),
        "@: in test_grad: grad(total): argument 0, i32[3] is to be differentiated: only floats can "
        "be; convert it with tt_astype, or choose others by .wrt");
    SAYS(tt_call(tt_grad(total, .wrt = 4), x),
         "@: in test_grad: grad(total): .wrt names argument 2, but the last is 0");
    SAYS(tt_call(tt_pmap(tt_grad(highest), .axis_name = "i"), x),
         "@: in test_grad: not supported: the derivative of pmax, @\n"
         "    while tracing grad(highest), @\n"
         "    while tracing pmap(grad(highest)), @, axis \"i\" of size 4");
    SAYS(tt_call(tt_pmap(tt_grad(wrong_matrix), .axis_name = "i"), x),
         "@: in wrong_matrix: tt_matmul: f32[2] by f32[7,7]: the last axis of the first must match "
         "the next-to-last of the second\n"
         "    while tracing grad(wrong_matrix), @\n"
         "    while tracing pmap(grad(wrong_matrix)), @, axis \"i\" of size 4");
}

static void test_calls(void)
{
    SAYS(
        tt_call(not_listed, x),
        "@: in test_calls: not_listed is not traceable: add TT_FUN(result, not_listed, "
        "parameters...) after its definition, or TT_METHOD where its first parameter is a pointer");
    SAYS(
        tt_call(tt_pmap(not_listed), x),
        "@: in test_calls: not_listed is not traceable: add TT_FUN(result, not_listed, "
        "parameters...) after its definition, or TT_METHOD where its first parameter is a pointer");
    SAYS(tt_call(square, x, x), "@: in test_calls: square takes 1 argument, not 2");
    SAYS(tt_call(tt_pmap(both), x), "@: in test_calls: pmap(both) takes 2 arguments, not 1");
    SAYS(tt_call(of_params, x), "@: in test_calls: of_params: argument 0 has 1 array, not 2");
    SAYS(tt_call(tt_jit(two), x),
         "@: in test_calls: jit(two) returns 2 arrays; the caller has room for 1: name what it "
         "returns by tt_call_as(type, ...)");
    SAYS(tt_call(tt_jit(forgets), x),
         "@: in test_calls: forgets: its result 0 is no array: it was never given one\n"
         "    while tracing jit(forgets), @");
    SAYS(tt_call(tt_jit(peeks), x),
         "@: in peeks: tt_item: the value of f32[] is not known while tracing: choose by tt_where, "
         "or return it\n"
         "    while tracing jit(peeks), @");
    SAYS(tt_call(tt_jit(lowers), x),
         "@: in lowers: tt_lower(jit(square)) inside a traced function: lower the outermost\n"
         "    while tracing jit(lowers), @");
    tt_call(tt_jit(leaks), x);
    SAYS(tt_add(leaked, 1),
         "@: in test_calls: tt_add: an argument made at @ while tracing jit(leaks) has outlived "
         "that trace: a traced value leaves its function only as a result");
    SAYS(tt_load("/nowhere/program.mlir"),
         "@: in test_calls: tt_load: /nowhere/program.mlir: No such file or directory");
}

static void test_shard_map(void)
{
    tt_mesh mesh = tt_mesh_of({ "x", 2 }, { "y", 2 });
    SAYS(tt_shard_map(square, .in_specs = { TT_P("x") }),
         "@: in test_shard_map: tt_shard_map(square): no mesh is given: make one with tt_mesh_of");
    SAYS(tt_call(tt_shard_map(square, .mesh = mesh, .in_specs = { TT_P("x", "z") }), x),
         "@: in test_shard_map: shard_map(square): argument 0, f32[4,2]: its spec names \"z\", "
         "and the mesh has no such axis\n"
         "    while tracing shard_map(square), @, axis \"x\" of size 2, axis \"y\" of size 2");
    SAYS(tt_call(tt_shard_map(square, .mesh = mesh, .in_specs = { TT_P("x", NULL, "y") }), x),
         "@: in test_shard_map: shard_map(square): argument 0, f32[4,2] has 2 axes, but its spec "
         "cuts axis 2 along \"y\"\n"
         "    while tracing shard_map(square), @, axis \"x\" of size 2, axis \"y\" of size 2");
    SAYS(tt_call(tt_shard_map(square, .mesh = mesh, .in_specs = { TT_P("x", "x") }), x),
         "@: in test_shard_map: shard_map(square): argument 0, f32[4,2]: its spec names \"x\" "
         "twice: a mesh axis cuts one axis of an array at most\n"
         "    while tracing shard_map(square), @, axis \"x\" of size 2, axis \"y\" of size 2");
    SAYS(tt_call(tt_shard_map(square, .mesh = mesh, .in_specs = { TT_P("x") }), short_x),
         "@: in test_shard_map: shard_map(square): argument 0, f32[3,2]: axis 0 has 3, which "
         "\"x\" of size 2 does not divide\n"
         "    while tracing shard_map(square), @, axis \"x\" of size 2, axis \"y\" of size 2");
}

/* A failed trace leaves nothing behind: the same functions work afterwards. */
static void test_afterwards(void)
{
    CHECK(tt_item(tt_sum(tt_call(tt_pmap(square), x))) == 140);
    CHECK_SAID("");
}

int main(void)
{
    front_start(4);
    x = tt_reshape(tt_arange(TT_F32, 8), 4, 2);
    short_x = tt_reshape(tt_arange(TT_F32, 6), 3, 2);
    big = tt_zeros(TT_F32, 9, 2);
    test_map_sizes();
    test_devices();
    test_axes();
    test_grad();
    test_calls();
    test_shard_map();
    test_afterwards();
    return check_done();
}
