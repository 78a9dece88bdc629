/* transforms_test.c - mistakes with gradients, meshes, loaded programs and plugins. */
#include "tests/errors_c/case.h"

typedef struct {
    tt loss, more;
} Loss;

/* clang-format off */
static tt square(tt x) { return tt_mul(x, x); }
static tt energy(tt x) { return tt_sum(tt_mul(x, x)); }
static tt rounded(tt x) { return tt_astype(tt_sum(x), TT_I32); }
static tt highest(tt x) { return tt_sum(tt_pmax(x, "i")); }
static Loss two(tt x) { return (Loss){ tt_sum(x), x }; }
TT_FUN(Loss, two, tt);
static tt product(tt a, tt b) { return tt_psum(tt_matmul(a, b), "y"); }
static tt along_z(tt x) { return tt_psum(x, "z"); }
static tt sharded(tt x)
{
    return tt_call(tt_shard_map(square, .mesh = tt_mesh_of({ "x", 4 }), .in_specs = { TT_P("x") },
                                .out_spec = TT_P("x")), x);
}
static tt number_of(tt x) { return tt_add(tt_psum(tt_sum(x), "x,y"), tt_axis_index("y")); }
static Loss rotate(tt i, Loss s, tt x) { (void)i; return (Loss){ s.more, tt_sum(x) }; }
TT_FUN(Loss, rotate, tt, Loss, tt);
static tt rotated(tt x)
{
    tt zero = tt_zeros(TT_F32);
    return tt_fori(4, rotate, ((Loss){ zero, zero }), x).loss;
}
static tt cube(tt x) { return tt_mul(x, square(x)); }
static tt one_of(tt x) { return tt_cond(tt_greater(tt_sum(x), 0), square, cube, tt_psum(x, "x")); }
static tt calls(tt x) { return tt_call(tt_jit(one_of), x); }
static tt small(tt s, tt x) { return tt_less(s, tt_sum(x)); }
static tt counts(tt s, tt x) { (void)x; return tt_add(s, 1); }
static tt until(tt x) { return tt_while(small, counts, tt_zeros(TT_F32), x); }
/* clang-format on */

CASE(gradient_of_a_vector)
{
    tt_call(tt_grad(square), tt_zeros(TT_F32, 3));
    SAYS("+2: in gradient_of_a_vector: grad(square): the result must be one float, and is "
         "f32[3]: take its tt_sum or tt_mean\n"
         "    while tracing grad(square), +2");
}

CASE(gradient_of_an_integer_loss)
{
    tt_call(tt_grad(rounded), tt_zeros(TT_F32, 3));
    SAYS("+2: in gradient_of_an_integer_loss: grad(rounded): the result must be one float, and "
         "is i32[]: nothing changes it smoothly\n"
         "    while tracing grad(rounded), +2");
}

CASE(gradient_by_integers)
{
    tt_call(tt_grad(energy), tt_zeros(TT_I32, 3));
    SAYS("+2: in gradient_by_integers: grad(energy): argument 0, i32[3] is to be differentiated: "
         "only floats can be; convert it with tt_astype, or choose others by .wrt");
}

CASE(gradient_by_an_argument_that_is_not)
{
    tt_call(tt_grad(energy, .wrt = 1u << 2), tt_zeros(TT_F32, 3));
    SAYS("+2: in gradient_by_an_argument_that_is_not: grad(energy): .wrt names argument 2, but "
         "the last is 0");
}

CASE(gradient_of_two_results)
{
    tt_call_as(Loss, tt_value_and_grad(two), tt_zeros(TT_F32, 3));
    SAYS("+2: in gradient_of_two_results: value_and_grad(two): the function returns 2 arrays: if "
         "only the first is the loss, say .has_aux = true\n"
         "    while tracing value_and_grad(two), +2");
}

CASE(gradient_through_pmax)
{
    tt_call(tt_pmap(tt_grad(highest), .axis_name = "i"), tt_zeros(TT_F32, 4, 2));
    SAYS("+2: in gradient_through_pmax: not supported: the derivative of pmax, above\n"
         "    while tracing grad(highest), +2\n"
         "    while tracing pmap(grad(highest)), +2, axis \"i\" of size 4");
}

CASE(vector_loss_on_a_device)
{
    tt_call(tt_pmap(tt_value_and_grad(square), .axis_name = "i"), tt_zeros(TT_F32, 4, 2));
    SAYS("+2: in vector_loss_on_a_device: value_and_grad(square): the result must be one float, "
         "and is f32[2]: take its tt_sum or tt_mean\n"
         "    while tracing value_and_grad(square), +2\n"
         "    while tracing pmap(value_and_grad(square)), +2, axis \"i\" of size 4");
}

CASE(no_mesh)
{
    tt_shard_map(square, .in_specs = { TT_P("x") });
    SAYS("+2: in no_mesh: tt_shard_map(square): no mesh is given: make one with tt_mesh_of");
}

CASE(mesh_larger_than_the_machine)
{
    tt_mesh_of({ "x", 4 }, { "y", 2 });
    SAYS("+2: in mesh_larger_than_the_machine: tt_mesh: axes \"x\" of 4, \"y\" of 2 need more "
         "devices than the 4 there are: tt_init(.devices = n) makes more");
}

CASE(spec_longer_than_the_array)
{
    tt_mesh mesh = tt_mesh_of({ "x", 2 }, { "y", 2 });
    tt x = tt_zeros(TT_F32, 4);
    tt_call(tt_shard_map(square, .mesh = mesh, .in_specs = { TT_P("x", "y") }), x);
    SAYS("+4: in spec_longer_than_the_array: shard_map(square): argument 0, f32[4] has 1 axis, "
         "but its spec cuts axis 1 along \"y\"\n"
         "    while tracing shard_map(square), +4, axis \"x\" of size 2, axis \"y\" of size 2");
}

CASE(spec_of_an_unknown_axis)
{
    tt_mesh mesh = tt_mesh_of({ "x", 2 }, { "y", 2 });
    tt_call(tt_shard_map(square, .mesh = mesh, .in_specs = { TT_P("z") }), tt_zeros(TT_F32, 4));
    SAYS("+3: in spec_of_an_unknown_axis: shard_map(square): argument 0, f32[4]: its spec names "
         "\"z\", and the mesh has no such axis\n"
         "    while tracing shard_map(square), +3, axis \"x\" of size 2, axis \"y\" of size 2");
}

CASE(spec_that_names_an_axis_twice)
{
    tt_mesh mesh = tt_mesh_of({ "x", 2 }, { "y", 2 });
    tt x = tt_zeros(TT_F32, 4, 4);
    tt_call(tt_shard_map(square, .mesh = mesh, .in_specs = { TT_P("x", "x") }), x);
    SAYS("+4: in spec_that_names_an_axis_twice: shard_map(square): argument 0, f32[4,4]: its "
         "spec names \"x\" twice: a mesh axis cuts one axis of an array at most\n"
         "    while tracing shard_map(square), +4, axis \"x\" of size 2, axis \"y\" of size 2");
}

CASE(rows_that_do_not_divide)
{
    tt_mesh mesh = tt_mesh_of({ "x", 2 }, { "y", 2 });
    tt_call(tt_shard_map(product, .mesh = mesh, .in_specs = { TT_P("x", "y"), TT_P("y") },
                         .out_spec = TT_P("x")),
            tt_zeros(TT_F32, 4, 5), tt_zeros(TT_F32, 5, 2));
    SAYS("+3: in rows_that_do_not_divide: shard_map(product): argument 0, f32[4,5]: axis 1 has "
         "5, which \"y\" of size 2 does not divide\n"
         "    while tracing shard_map(product), +3, axis \"x\" of size 2, axis \"y\" of size 2");
}

CASE(out_spec_longer_than_the_result)
{
    tt_mesh mesh = tt_mesh_of({ "x", 2 }, { "y", 2 });
    tt_call(tt_shard_map(energy, .mesh = mesh, .in_specs = { TT_P("x") }, .out_spec = TT_P("x")),
            tt_zeros(TT_F32, 4));
    SAYS("+3: in out_spec_longer_than_the_result: shard_map(energy): a result has 0 axes, but "
         "its spec cuts axis 0 along \"x\"\n"
         "    while tracing shard_map(energy), +3, axis \"x\" of size 2, axis \"y\" of size 2");
}

CASE(results_without_a_spec)
{
    tt_mesh mesh = tt_mesh_of({ "x", 2 }, { "y", 2 });
    tt_call(tt_shard_map(square, .mesh = mesh, .in_specs = { TT_P("x") }), tt_zeros(TT_F32, 4));
    SAYS("+3: in results_without_a_spec: shard_map(square): result 0, f32[2] on each device, may "
         "differ along \"x\", which .out_spec does not name: name it for the axis that is cut, as "
         "in .out_spec = TT_P(\"x\"), or give all devices the same, as tt_psum does\n"
         "    while tracing shard_map(square), +3, axis \"x\" of size 2, axis \"y\" of size 2");
}

CASE(results_with_half_a_spec)
{
    tt_mesh mesh = tt_mesh_of({ "x", 2 }, { "y", 2 });
    tt_call(
        tt_shard_map(square, .mesh = mesh, .in_specs = { TT_P("x", "y") }, .out_spec = TT_P("x")),
        tt_zeros(TT_F32, 4, 4));
    SAYS("+4: in results_with_half_a_spec: shard_map(square): result 0, f32[2,2] on each device, "
         "may differ along \"y\", which .out_spec does not name: name it for the axis that is cut, "
         "as in .out_spec = TT_P(\"x\", \"y\"), or give all devices the same, as tt_psum does\n"
         "    while tracing shard_map(square), +4, axis \"x\" of size 2, axis \"y\" of size 2");
}

CASE(results_whose_spec_leaves_out_two)
{
    tt_mesh mesh = tt_mesh_of({ "x", 2 }, { "y", 2 });
    tt_call(tt_shard_map(square, .mesh = mesh, .in_specs = { TT_P(NULL, "x,y") }),
            tt_zeros(TT_F32, 3, 4));
    SAYS("+3: in results_whose_spec_leaves_out_two: shard_map(square): result 0, f32[3,1] on each "
         "device, may differ along \"x\" and \"y\", which .out_spec does not name: name them for "
         "the axes that are cut, as in .out_spec = TT_P(\"x\", \"y\"), or give all devices the "
         "same, as tt_psum does\n"
         "    while tracing shard_map(square), +3, axis \"x\" of size 2, axis \"y\" of size 2");
}

CASE(results_whose_spec_has_no_dimension_left)
{
    tt_mesh mesh = tt_mesh_of({ "x", 2 }, { "y", 2 });
    tt_call(tt_shard_map(square, .mesh = mesh, .in_specs = { TT_P("x,y") }, .out_spec = TT_P("x")),
            tt_zeros(TT_F32, 4));
    SAYS("+3: in results_whose_spec_has_no_dimension_left: shard_map(square): result 0, f32[1] on "
         "each device, may differ along \"y\", which .out_spec does not name: name it for the axis "
         "that is cut, as in .out_spec = TT_P(\"x,y\"), or give all devices the same, as tt_psum "
         "does\n"
         "    while tracing shard_map(square), +3, axis \"x\" of size 2, axis \"y\" of size 2");
}

static Loss both(tt x)
{
    return (Loss){ tt_mul(x, 2), tt_add(x, 1) };
}
TT_FUN(Loss, both, tt);

CASE(results_with_one_spec_too_few)
{
    tt_mesh mesh = tt_mesh_of({ "x", 2 }, { "y", 2 });
    tt_call_as(
        Loss,
        tt_shard_map(both, .mesh = mesh, .in_specs = { TT_P("x") }, .out_specs = { TT_P("x") }),
        tt_zeros(TT_F32, 4));
    SAYS("+5: in results_with_one_spec_too_few: shard_map(both): result 1, f32[2] on each device, "
         "may differ along \"x\", which .out_specs[1] does not name: name it for the axis that is "
         "cut, as in .out_specs[1] = TT_P(\"x\"), or give all devices the same, as tt_psum does\n"
         "    while tracing shard_map(both), +5, axis \"x\" of size 2, axis \"y\" of size 2");
}

CASE(one_spec_for_all_and_one_for_each)
{
    tt_mesh mesh = tt_mesh_of({ "x", 2 }, { "y", 2 });
    tt_shard_map(both, .mesh = mesh, .in_specs = { TT_P("x") }, .out_spec = TT_P("x"),
                 .out_specs = { TT_P("x"), TT_P("x") });
    SAYS("+3: in one_spec_for_all_and_one_for_each: tt_shard_map(both): .out_spec is for every "
         "result and .out_specs has one for each: give one of the two");
}

CASE(number_that_is_not_one)
{
    tt_mesh mesh = tt_mesh_of({ "x", 2 }, { "y", 2 });
    tt_call(tt_shard_map(number_of, .mesh = mesh, .in_specs = { TT_P("x") }), tt_zeros(TT_F32, 4));
    SAYS("+3: in number_that_is_not_one: shard_map(number_of): result 0, f32[] on each device, may "
         "differ along \"y\", which .out_spec does not name: give all devices the same, as tt_psum "
         "does\n"
         "    while tracing shard_map(number_of), +3, axis \"x\" of size 2, axis \"y\" of size 2");
}

CASE(numbers_that_a_loop_makes_differ)
{
    tt_mesh mesh = tt_mesh_of({ "x", 4 });
    tt_call(tt_shard_map(rotated, .mesh = mesh, .in_specs = { TT_P("x") }), tt_zeros(TT_F32, 4));
    SAYS(
        "+3: in numbers_that_a_loop_makes_differ: shard_map(rotated): result 0, f32[] on each "
        "device, may differ along \"x\", which .out_spec does not name: give all devices the same, "
        "as tt_psum does\n"
        "    while tracing shard_map(rotated), +3, axis \"x\" of size 4");
}

CASE(loops_of_different_length)
{
    tt_mesh mesh = tt_mesh_of({ "x", 4 });
    tt_call(tt_shard_map(until, .mesh = mesh, .in_specs = { TT_P("x") }), tt_zeros(TT_F32, 4));
    SAYS("+3: in loops_of_different_length: shard_map(until): result 0, f32[] on each device, may "
         "differ along \"x\", which .out_spec does not name: give all devices the same, as tt_psum "
         "does\n"
         "    while tracing shard_map(until), +3, axis \"x\" of size 4");
}

CASE(branches_that_devices_choose_each)
{
    tt_mesh mesh = tt_mesh_of({ "x", 4 });
    tt_call(tt_shard_map(calls, .mesh = mesh, .in_specs = { TT_P("x") }), tt_zeros(TT_F32, 4, 2));
    SAYS("+3: in branches_that_devices_choose_each: shard_map(calls): result 0, f32[1,2] on each "
         "device, may differ along \"x\", which .out_spec does not name: name it for the axis that "
         "is cut, as in .out_spec = TT_P(\"x\"), or give all devices the same, as tt_psum does\n"
         "    while tracing shard_map(calls), +3, axis \"x\" of size 4");
}

CASE(collective_along_no_mesh_axis)
{
    tt_mesh mesh = tt_mesh_of({ "x", 2 }, { "y", 2 });
    tt_call(tt_shard_map(along_z, .mesh = mesh, .in_specs = { TT_P("x") }), tt_zeros(TT_F32, 4));
    SAYS("above: in along_z: tt_psum: no axis named \"z\" is being mapped here: write .axis_name "
         "= \"z\" where the function is mapped, or give its mesh that axis\n"
         "    while tracing shard_map(along_z), +3, axis \"x\" of size 2, axis \"y\" of size 2");
}

CASE(shard_map_inside_pmap)
{
    tt_call(tt_pmap(sharded), tt_zeros(TT_F32, 4, 4));
    SAYS("above: in sharded: shard_map(square) inside pmap(sharded): 4 times 4 devices are "
         "needed, but there are 4: start with tt_init(.devices = 16), or map within a device with "
         "tt_vmap\n"
         "    while tracing pmap(sharded), +2");
}

CASE(program_that_is_not_there)
{
    tt_load("examples/nothing.mlir");
    SAYS("+2: in program_that_is_not_there: tt_load: examples/nothing.mlir: No such file or "
         "directory");
}

CASE(file_that_is_no_program)
{
    tt_load("LICENSE");
    SAYS("+2: in file_that_is_no_program: tt_load: LICENSE:2:34: expected a function, found "
         "'Apache'");
}

CASE(file_of_bytes)
{
    FILE *file = fopen("build/bytes.mlir", "wb");
    for (int i = 0; file && i < 1000; i++)
        fputc((i * i * 7 + 5) & 255, file);
    CHECK(file && fclose(file) == 0);
    tt_load("build/bytes.mlir");
    SAYS("+6: in file_of_bytes: tt_load: build/bytes.mlir is no StableHLO program: neither text, "
         "which has a func.func @main, nor MLIR bytecode, which begins with ML\\xEFR");
}

CASE(loaded_program_with_another_shape)
{
    tt_call(tt_load("examples/program.mlir"), tt_zeros(TT_F32, 4));
    SAYS("+2: in loaded_program_with_another_shape: examples/program.mlir: argument 0 is "
         "f32[4], and must be f32[3]");
}

CASE(loaded_program_with_another_type)
{
    tt_call(tt_load("examples/program.mlir"), tt_zeros(TT_I32, 3));
    SAYS("+2: in loaded_program_with_another_type: examples/program.mlir: argument 0 is "
         "i32[3], and must be f32[3]");
}

CASE(loaded_program_with_more_arguments)
{
    tt x = tt_zeros(TT_F32, 3);
    tt_call(tt_load("examples/program.mlir"), x, x);
    SAYS("+3: in loaded_program_with_more_arguments: examples/program.mlir takes 1 array, "
         "not 2: f32[3]");
}

CASE(loaded_program_for_more_rows)
{
    tt_call(tt_pmap(tt_load("examples/program.mlir")), tt_zeros(TT_F32, 5, 3));
    SAYS("+2: in loaded_program_for_more_rows: pmap(examples/program.mlir): argument 0, f32[5,3] "
         "is to be spread over 5 devices, but there are 4: give the mapped axis at most 4, start "
         "with tt_init(.devices = 5), or map within a device with tt_vmap");
}

START_CASE(plugin_that_is_not_there)
{
    tt_init(.plugin = "build/nothing.so");
    tt_zeros(TT_F32, 3);
    SAYS("+2: in plugin_that_is_not_there: tt_init names the plugin build/nothing.so, and there "
         "is no such file");
}

START_CASE(plugin_of_the_environment_is_not_there)
{
    setenv("TUTTI_PLUGIN", "/nowhere/pjrt.so", 1);
    tt_device_count();
    SAYS("+3: in plugin_of_the_environment_is_not_there: TUTTI_PLUGIN names the plugin "
         "/nowhere/pjrt.so, and there is no such file");
}

START_CASE(file_that_is_no_library)
{
    tt_init(.plugin = "LICENSE");
    tt_zeros(TT_F32, 3);
    SAYS("+2: in file_that_is_no_library: the plugin cannot be loaded: ./LICENSE: invalid ELF "
         "header");
}

START_CASE(library_that_is_no_plugin)
{
    tt_init(.plugin = "build/libtutti.so");
    tt_device_count();
    SAYS("+2: in library_that_is_no_plugin: build/libtutti.so is no PJRT plugin: it has no "
         "GetPjrtApi");
}

START_CASE(devices_of_the_environment_are_no_number)
{
    setenv("TUTTI_PLUGIN", "build/pjrt_plugin_tutti.so", 0);
    setenv("TUTTI_DEVICES", "four", 1);
    tt_device_count();
    SAYS("+4: in devices_of_the_environment_are_no_number: TUTTI_DEVICES is 'four'; 1 to 4096 "
         "are possible");
}

START_CASE(devices_below_zero)
{
    tt_init(.devices = -4);
    SAYS("+2: in devices_below_zero: tt_init: -4 devices; 1 to 4096 are possible");
}

CASE(other_devices_too_late)
{
    tt_zeros(TT_F32, 3);
    tt_init(.devices = 8);
    SAYS("+3: in other_devices_too_late: tt_init: 4 devices of build/pjrt_plugin_tutti.so are in "
         "use already; call it before anything else");
}

CASES_MAIN
