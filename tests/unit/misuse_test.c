/* misuse_test.c - each mistake with values, arrays, operations and meshes has its message, which
 * says what was called, with which shapes, and what would be right. */
#include "files/npy.h"
#include "tests/front.h"

#include <math.h>
#include <stdio.h>

#define SAYS(expression, message)                                                                  \
    do {                                                                                           \
        (void)(expression);                                                                        \
        char *text_ = front_said();                                                                \
        const char *behind_ = strstr(text_, ": tt_"); /* the line is this file's */                \
        CHECK_STR(behind_ ? behind_ + 2 : text_, message);                                         \
    } while (0)

static tt zeros(tt_dtype type, int n, int64_t a, int64_t b)
{
    return (tt_full)(type, 0, &(tt_dims){ n, { a, b } });
}

static void test_operations(void)
{
    tt m = zeros(TT_F32, 2, 4, 3), v = zeros(TT_F32, 1, 4, 0), s = zeros(TT_F32, 0, 0, 0);
    tt b = zeros(TT_BOOL, 1, 3, 0), c = zeros(TT_C64, 1, 3, 0), i = zeros(TT_I32, 1, 3, 0);
    tt none = { 0, 0 };
    SAYS(tt_add(m, v),
         "tt_add: f32[4,3] and f32[4] do not broadcast: 3 against 4, counted from the "
         "last axis");
    SAYS(tt_where(b, m, v), "tt_where: bool[3], f32[4,3] and f32[4] do not broadcast: 3 against 4, "
                            "counted from the last axis");
    SAYS(tt_neg(b),
         "tt_neg: bool[3]: it takes integers and floats and complex numbers, not booleans");
    SAYS(tt_sub(b, b), "tt_sub: bool[3]: it takes integers and floats and complex numbers, not "
                       "booleans");
    SAYS(tt_floor(c), "tt_floor: c64[3]: it takes integers and floats, not complex numbers");
    SAYS(tt_not(m), "tt_not: f32[4,3]: it takes booleans and integers, not floats");
    SAYS(tt_and(i, 0.5), "tt_and: f32[]: it takes booleans and integers, not floats");
    SAYS(tt_and(zeros(TT_I64, 1, 3, 0), zeros(TT_U64, 1, 3, 0)),
         "tt_and: f32[3]: it takes booleans and integers, not floats");
    SAYS(tt_less(c, c), "tt_less: c64[3]: it takes booleans and integers and floats, not complex "
                        "numbers");
    SAYS(tt_pow(i, -1), "tt_pow: i32[3] to the power -1 is no integer: convert it by tt_astype");
    SAYS(tt_isfinite(c), "tt_isfinite: c64[3]: it takes floats and integers");
    SAYS(tt_exp(none), "tt_exp: an argument is no array: it was never given one");
    SAYS(tt_astype(m, 99),
         "tt_astype: 99 is not an element type; TT_F32 is one, and stands before the extents: "
         "tt_zeros(TT_F32, 3, 4)");
    SAYS(tt_matmul(m, v),
         "tt_matmul: f32[4,3] by f32[4]: the last axis of the first must match the "
         "only axis of the second");
    SAYS(tt_matmul(m, m), "tt_matmul: f32[4,3] by f32[4,3]: the last axis of the first must match "
                          "the next-to-last of the second");
    SAYS(tt_matmul(m, s), "tt_matmul: f32[4,3] by f32[]: a scalar has no axis to sum over; use "
                          "tt_mul");
    SAYS(tt_sum(m, 2), "tt_sum: f32[4,3] has no axis 2; its axes are 0 to 1, or -2 to -1");
    SAYS(tt_mean(s, 0), "tt_mean: f32[] is a scalar: it has no axis 0");
    SAYS(tt_sum(m, 0, -2), "tt_sum: axis 0 of f32[4,3] is listed twice");
    SAYS(tt_amax(zeros(TT_F32, 2, 0, 3)), "tt_amax: f32[0,3]: no elements have no extreme");
    SAYS(tt_amin(c), "tt_amin: c64[3]: complex numbers have no order");
    SAYS(tt_softmax(c), "tt_softmax: c64[3]: it takes real numbers, at least one");
    SAYS(tt_conv(tt_zeros(TT_F32, 4, 4), tt_zeros(TT_F32, 3, 3)),
         "tt_conv: f32[4,4] by kernels f32[3,3]: both must have one to three axes of space and two "
         "more, [n, h, w, c] by [kh, kw, c, out]");
    SAYS(
        tt_conv(tt_zeros(TT_F32, 1, 4, 2), tt_zeros(TT_F32, 3, 3, 5)),
        "tt_conv: f32[1,4,2] by kernels f32[3,3,5], in 1 group: the last axis of the first must be "
        "3 long, and that of the second a multiple of the groups");
    SAYS(tt_conv(tt_zeros(TT_F32, 1, 4, 2), tt_zeros(TT_F32, 5, 2, 5), .valid = true),
         "tt_conv: f32[1,4,2] by kernels f32[5,2,5]: along axis 0 of the kernels there must be "
         "from 1 "
         "to 4");
    SAYS(tt_conv(tt_zeros(TT_F32, 1, 4, 2), tt_zeros(TT_F32, 3, 2, 5), .stride = -1),
         "tt_conv: .stride is -1 and .groups is 0: they count, from 1 on, as do .strides, "
         ".dilation and .spread");
    SAYS(tt_argmin(zeros(TT_F32, 2, 0, 3), 0),
         "tt_argmin: f32[0,3]: it takes real numbers, at least one along the axis");
    SAYS(tt_argmax(zeros(TT_F32, 2, 0, 3), 0),
         "tt_argmax: f32[0,3]: it takes real numbers, at least one along the axis");
}

static void test_shaping(void)
{
    tt m = zeros(TT_F32, 2, 4, 3), v = zeros(TT_F32, 1, 4, 0);
    SAYS(tt_reshape(m, 5, 2), "tt_reshape: f32[4,3] has 12 elements, [5,2] has 10");
    SAYS(tt_reshape(m, 5, -1), "tt_reshape: f32[4,3] has 12 elements, which do not divide into "
                               "[5,-1]");
    SAYS(tt_reshape(m, -1, -1), "tt_reshape: [-1,-1]: extents are 0 or more, and one may be -1");
    SAYS(tt_transpose(m, 0), "tt_transpose: f32[4,3]: the axes [0] are not all of its axes, each "
                             "once");
    SAYS(tt_transpose(m, 0, 0), "tt_transpose: f32[4,3]: the axes [0,0] are not all of its axes, "
                                "each once");
    SAYS(tt_transpose(m, 0, 2),
         "tt_transpose: f32[4,3] has no axis 2; its axes are 0 to 1, or -2 to "
         "-1");
    SAYS(tt_broadcast(m, 4, 6), "tt_broadcast: f32[4,3] does not broadcast to [4,6]: an axis keeps "
                                "its extent unless that is 1, counted from the last axis");
    SAYS(tt_index(m, 4), "tt_index: f32[4,3]: index 4 is out of range along axis 0: from -4 to 3");
    SAYS(tt_index(m, 0, 0, 0), "tt_index: f32[4,3] has 2 axes; there are 3 indices");
    SAYS(tt_slice(v, 1, 0, 1), "tt_slice: f32[4] has no axis 1; its axes are 0 to 0, or -1 to -1");
    SAYS(tt_take(m, 0.5, 0), "tt_take: the indices are f32[]; they must be integers");
    SAYS(tt_concat(0, m, v),
         "tt_concat: array 0 is f32[4,3] and array 1 is f32[4]: they may differ "
         "along axis 0 only");
    SAYS(tt_stack(0, m, v),
         "tt_stack: array 0 is f32[4,3] and array 1 is f32[4]: they must have one "
         "shape");
    SAYS(tt_one_hot(v, 0, TT_F32), "tt_one_hot: 0 classes; there must be one at least");
    SAYS(tt_concat_n(NULL, 0, 0), "tt_concat: there are no arrays to join");
}

static const char *npy_left(Type t, const void *data)
{
    const char *path = "build/misuse.npy";
    Error *error = npy_write(path, t, data);
    CHECK(!error);
    error_free(error);
    return path;
}

static void test_arrays(void)
{
    tt m = zeros(TT_F32, 2, 4, 3);
    float out[3] = { 0 };
    SAYS(tt_zeros(TT_F32, 2, -1), "tt_full: extent 1 of the shape is -1; it must be 0 or more");
    SAYS((tt_full)(TT_F32, 0, &(tt_dims){ 13, { 1 } }),
         "tt_full: a shape has 0 to 12 extents, not 13");
    SAYS(tt_zeros(TT_F32, 1L << 40, 1L << 40), "tt_full: the shape has more than 2^56 elements");
    SAYS(tt_full(TT_I64, 1e300, 2), "tt_full: 1e+300 is not an element of i64[2]");
    SAYS(tt_full(TT_I32, NAN, 2), "tt_full: nan is not an element of i32[2]");
    SAYS(tt_full(TT_U8, -INFINITY, 2), "tt_full: -inf is not an element of u8[2]");
    SAYS(tt_full(TT_U64, 18446744073709551616.0, 2),
         "tt_full: 1.84467e+19 is not an element of u64[2]");
    uint64_t most = 0;
    CHECK(tt_read(tt_full(TT_U64, 18446744073709549568.0), &most, sizeof most) &&
          most == 18446744073709549568u);
    SAYS(tt_arange(77, 3),
         "tt_arange: 77 is not an element type; TT_F32 is one, and stands before the extents: "
         "tt_zeros(TT_F32, 3, 4)");
    SAYS(tt_zeros(3, 4),
         "tt_full: 3 is not an element type; TT_F32 is one, and stands before the extents: "
         "tt_zeros(TT_F32, 3, 4)");
    SAYS(tt_arange(TT_F32, -3), "tt_arange: extent 0 of the shape is -3; it must be 0 or more");
    SAYS(tt_from((float *)NULL, 3), "tt_from: there is no data for f32[3]");
    SAYS(tt_from(((float[]){ 1, 2 }), 2, 3),
         "tt_from: f32[2,3] takes 6 elements, and the data has 2");
    SAYS(tt_from(out, 4), "tt_from: f32[4] takes 4 elements, and the data has 3");
    SAYS((tt_from)(TT_F64, out, sizeof out, &(tt_dims){ 1, { 2 } }),
         "tt_from: f64[2] takes 2 elements, and the data has 1");
    SAYS(tt_item(m), "tt_item: f32[4,3] has 12 elements, and must have one");
    SAYS(tt_read(m, out, sizeof out), "tt_read: f32[4,3] has 48 bytes; there is room for 12");
    SAYS(tt_load_npy("build/nothing.npy"),
         "tt_load_npy: build/nothing.npy cannot be read: No such file or directory");
    SAYS(tt_load_npy("Makefile"),
         "tt_load_npy: Makefile is not a file of arrays: safetensors, .npz or .npy");
    static const int64_t ones[13] = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 };
    const char *path = npy_left((Type){ F32, 13, ones }, &(float){ 1 });
    SAYS(tt_load_npy(path),
         "tt_load_npy: build/misuse.npy holds an array of 13 axes; there may be 12");
    npy_left((Type){ F8E4M3, 0, NULL }, "1");
    SAYS(tt_load_npy(path),
         "tt_load_npy: build/misuse.npy holds elements '|V1' that have no tt_dtype");
    remove(path);
    SAYS(tt_save_npy("build/nowhere/x.npy", m),
         "tt_save_npy: build/nowhere/x.npy cannot be written: No such file or directory");
    SAYS((TT_HERE, tt_device_name(4)), "tt_device_name: there is no device 4; the last of 4 is 3");
    tt_init(.devices = 7);
    CHECK(strstr(front_said(), "tt_init: 4 devices of "));
}

static void test_meshes(void)
{
    tt m = zeros(TT_F32, 2, 4, 3);
    tt_mesh mesh = tt_mesh_of({ "x", 2 }, { "y", 2 });
    CHECK(mesh == tt_mesh_of({ "x", 2 }, { "y", 2 }));
    SAYS(tt_mesh_of({ "x", 2 }, { "x", 2 }), "tt_mesh: two axes are named \"x\"");
    SAYS(tt_mesh_of({ "x", 0 }), "tt_mesh: axis 0: it needs a name and a size of at least 1");
    SAYS(tt_mesh_of({ "x", 3 }, { "y", 2 }),
         "tt_mesh: axes \"x\" of 3, \"y\" of 2 need more devices than the 4 there are: "
         "tt_init(.devices = n) makes more");
    SAYS(tt_place(m, mesh, "z"), "tt_place: the mesh has no axis \"z\"");
    SAYS(tt_place(m, mesh, "x", "x"),
         "tt_place: axis \"x\" of the mesh is used for two axes of the array");
    SAYS(tt_place(m, mesh, NULL, "y"),
         "tt_place: axis 1 of f32[4,3] has size 3, which does not divide "
         "by the 2 of mesh axis \"y\"");
    SAYS(tt_place(m, mesh, NULL, NULL, "y"), "tt_place: f32[4,3] has no axis 2 to cut along \"y\"");
    SAYS(tt_place(m, NULL, "x"), "tt_place: no mesh is given: make one with tt_mesh_of");
}

static tt same(tt x)
{
    return x;
}

/* Options that do not say their size were once ignored, or taken to be as large as ours. */
static void test_options(void)
{
    tt x = zeros(TT_F32, 2, 4, 3);
    tt_fn f = tt_fn_of(1, (void (*)(void))same, "same"), g = f;
    for (int i = 0; i < 50 && g; i++)
        g = tt_jit_with(g, NULL);
    CHECK(g != NULL);
    tt_init_with(&(tt_options){ .devices = 7 });
    CHECK_SAID("tt_init: the size of its tt_options is 0: write .size = sizeof(tt_options)");
    tt_init_with(&(tt_options){ .size = sizeof(tt_options), .devices = 7 });
    CHECK(strstr(front_said(), "4 devices of "));
#define NO_SIZE(who, call, type)                                                                   \
    SAYS(call, who ": the size of its " #type " is 0: write .size = sizeof(" #type ")")
    NO_SIZE("tt_jit", tt_jit_with(f, &(tt_jit_options){ .donate = 1 }), tt_jit_options);
    NO_SIZE("tt_grad", tt_grad_with(f, &(tt_grad_options){ .wrt = 1 }), tt_grad_options);
    NO_SIZE("tt_value_and_grad", tt_value_and_grad_with(f, &(tt_grad_options){ .wrt = 1 }),
            tt_grad_options);
    NO_SIZE("tt_jvp", tt_jvp_with(f, &(tt_jvp_options){ .wrt = 1 }), tt_jvp_options);
    NO_SIZE("tt_vmap", tt_vmap_with(f, &(tt_vmap_options){ .out_axis = 1 }), tt_vmap_options);
    NO_SIZE("tt_pmap", tt_pmap_with(f, &(tt_pmap_options){ .out_axis = 1 }), tt_pmap_options);
    NO_SIZE("tt_shard_map", tt_shard_map_with(f, &(tt_shard_map_options){ .mesh = NULL }),
            tt_shard_map_options);
    NO_SIZE("tt_conv", tt_conv_with(x, x, &(tt_conv_options){ .stride = 2 }), tt_conv_options);
    NO_SIZE(
        "tt_psum",
        tt_collective_n((tt_tree){ &x, 1 }, TT_PSUM, "i", &(tt_collective_options){ .axis = 0 }),
        tt_collective_options);
    for (int i = 0; i < 1000 && g; i++)
        g = tt_jit_with(g, NULL);
    SAYS(g, "jit of a function that is transformed 256 times already: no more are possible");
}

int main(void)
{
    front_start(4);
    test_options();
    test_operations();
    test_shaping();
    test_arrays();
    test_meshes();
    return check_done();
}
