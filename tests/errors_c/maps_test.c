/* maps_test.c - mistakes with tt_pmap, tt_vmap and the collectives. */
#include "tests/errors_c/case.h"

typedef struct {
    tt w, b;
} Params;

/* clang-format off */
static tt square(tt x) { return tt_mul(x, x); }
static tt plus(tt x, tt y) { return tt_add(x, y); }
static tt line(Params p, tt x) { return tt_add(tt_mul(p.w, x), p.b); }
TT_FUN(tt, line, Params, tt);
static tt total(tt x) { return tt_psum(x, "batch"); }
static tt nameless(tt x) { return tt_psum(x, NULL); }
static tt scatters(tt x) { return tt_psum_scatter(x, "i"); }
static tt exchanges(tt x) { return tt_all_to_all(x, "i"); }
static tt shifts(tt x) { return tt_shift(x, "j", 1); }
static tt numbered(tt x) { return tt_add(x, tt_axis_index("rows")); }
static tt turn(tt i, tt x) { (void)i; return tt_call(tt_pmap(square), x); }
static tt crowd(tt x) { return tt_mul(x, tt_axis_size("i,j")); }
static tt looped(tt x) { return tt_fori(3, turn, x); }
static tt squares(tt x) { return tt_call(tt_pmap(square), x); }
static tt maps_jit(tt x) { return tt_call(tt_jit(squares), x); }
static tt turn_jit(tt i, tt x) { (void)i; return maps_jit(x); }
static tt maps_twice(tt x) { return tt_fori(3, turn_jit, maps_jit(x)); }
static tt pmapped(tt x) { return tt_call(tt_pmap(square), x); }
static tt mapped_twice(tt x) { return tt_call(tt_pmap(pmapped), x); }
static tt pinned(tt x)
{
    return tt_call(tt_pmap(square, .devices = (const int[]){ 0, 1 }, .ndevices = 2), x);
}
static tt of_two_sizes(tt x, tt y)
{
    return tt_add(tt_sum(tt_call(tt_pmap(square), x)), tt_sum(tt_call(tt_pmap(square), y)));
}
static tt second_unbound(tt x) { return tt_psum(x, "i,batch"); }
static tt twice_named(tt x) { return tt_psum(x, "i,i"); }
static tt missing_member(tt x) { return tt_psum(x, "i", .groups = TT_GROUPS(TT_GROUP(0, 1), TT_GROUP(2))); }
static tt member_twice(tt x) { return tt_pmax(x, "i", .groups = TT_GROUPS(TT_GROUP(0, 1), TT_GROUP(1, 2, 3))); }
static tt no_such_member(tt x) { return tt_pmean(x, "i", .groups = TT_GROUPS(TT_GROUP(0, 1), TT_GROUP(2, 4))); }
static tt uneven_gather(tt x) { return tt_all_gather(x, "i", .groups = TT_GROUPS(TT_GROUP(0, 1, 2), TT_GROUP(3))); }
static tt tiled_sum(tt x) { return tt_psum(x, "i", .tiled = true); }
static tt concat_of_gather(tt x) { return tt_all_gather(x, "i", .concat_axis = 1); }
static tt gather_beyond(tt x) { return tt_all_gather(x, "i", .axis = 3); }
static tt tiled_beyond(tt x) { return tt_all_gather(x, "i", .axis = 1, .tiled = true); }
static tt tiled_scatter(tt x) { return tt_psum_scatter(x, "i", .tiled = true); }
static tt concat_beyond(tt x) { return tt_all_to_all(x, "i", .axis = 0, .concat_axis = 2); }
static tt swaps(tt x) { return tt_pswapaxes(x, "i", 1); }
static tt grouped_scatter(tt x) { return tt_psum_scatter(x, "i", .groups = TT_GROUPS(TT_GROUP(0, 1), TT_GROUP(2, 3))); }
static tt sends_twice(tt x) { return tt_ppermute(x, "i", { 0, 1 }, { 2, 1 }); }
static tt sends_beyond(tt x) { return tt_ppermute(x, "i", { 0, 4 }); }
static tt shuffles_few(tt x) { return tt_pshuffle(x, "i", 1, 0); }
static tt shuffles_twice(tt x) { return tt_pshuffle(x, "i", 1, 0, 1, 2); }
static tt from_nobody(tt x) { return tt_pbroadcast(x, "i", -1); }
static tt gathers_two(tt x) { return tt_all_gather(x, "i,j"); }
static tt rows_gather(tt x) { return tt_call(tt_vmap(gathers_two, .axis_name = "j"), x); }
static tt greatest(tt x) { return tt_sum(tt_pmax(x, "i")); }
static tt averages(tt x) { return tt_pmean(tt_matmul(x, x), "batch"); }
/* clang-format on */

typedef struct {
    tt a[40];
} Many;
static Many many(tt x)
{
    Many m;
    for (int i = 0; i < 40; i++)
        m.a[i] = x;
    return m;
}
TT_FUN(Many, many, tt);

CASE(more_rows_than_devices)
{
    tt_call(tt_pmap(square), tt_zeros(TT_F32, 9, 2));
    SAYS("+2: in more_rows_than_devices: pmap(square): argument 0, f32[9,2] is to be spread over "
         "9 devices, but there are 4: give the mapped axis at most 4, start with "
         "tt_init(.devices = 9), or map within a device with tt_vmap");
}

CASE(more_rows_than_devices_in_a_struct)
{
    Params p = { tt_zeros(TT_F32, 3), tt_zeros(TT_F32, 3) };
    tt_call(tt_pmap(line, .in_axes = { TT_NONE, 0 }), p, tt_zeros(TT_F32, 6, 3));
    SAYS("+3: in more_rows_than_devices_in_a_struct: pmap(line): argument 1, f32[6,3] is to be "
         "spread over 6 devices, but there are 4: give the mapped axis at most 4, start with "
         "tt_init(.devices = 6), or map within a device with tt_vmap");
}

CASE(axis_beyond_rank)
{
    tt_call(tt_pmap(square, .in_axes = { 2 }), tt_zeros(TT_F32, 4, 2));
    SAYS("+2: in axis_beyond_rank: pmap(square): argument 0, f32[4,2] has no axis 2 to map: "
         "in_axes[0] must be from -2 to 1, or TT_NONE");
}

CASE(negative_axis_beyond_rank)
{
    tt_call(tt_pmap(plus, .in_axes = { 0, -3 }), tt_zeros(TT_F32, 4, 2), tt_zeros(TT_F32, 4, 2));
    SAYS("+2: in negative_axis_beyond_rank: pmap(plus): argument 1, f32[4,2] has no axis -3 to "
         "map: in_axes[1] must be from -2 to 1, or TT_NONE");
}

CASE(axis_of_a_scalar)
{
    tt_call(tt_pmap(plus), tt_zeros(TT_F32, 4), tt_scalar(2));
    SAYS("+2: in axis_of_a_scalar: pmap(plus): argument 1, f32[] is one number and has no axis "
         "to map: in_axes[1] must be TT_NONE");
}

CASE(sizes_that_disagree)
{
    tt_call(tt_pmap(plus), tt_zeros(TT_F32, 4, 2), tt_zeros(TT_F32, 3, 2));
    SAYS("+2: in sizes_that_disagree: pmap(plus): argument 1, f32[3,2] has 3 along its mapped "
         "axis 0, but argument 0, f32[4,2] has 4: all mapped arguments must have the same");
}

CASE(sizes_that_disagree_in_a_struct)
{
    Params p = { tt_zeros(TT_F32, 4, 3), tt_zeros(TT_F32, 2, 3) };
    tt_call(tt_pmap(line), p, tt_zeros(TT_F32, 4, 3));
    SAYS("+3: in sizes_that_disagree_in_a_struct: pmap(line): argument 0, leaf 1, f32[2,3] has 2 "
         "along its mapped axis 0, but argument 0, leaf 0, f32[4,3] has 4: all mapped arguments "
         "must have the same");
}

CASE(axis_size_that_is_not)
{
    tt_call(tt_pmap(square, .axis_size = 2), tt_zeros(TT_F32, 4, 2));
    SAYS("+2: in axis_size_that_is_not: pmap(square): argument 0, f32[4,2] has 4 along axis 0, "
         "but axis_size is 2");
}

CASE(nothing_mapped)
{
    tt_call(tt_pmap(square, .in_axes = { TT_NONE }), tt_zeros(TT_F32, 4, 2));
    SAYS("+2: in nothing_mapped: pmap(square): no argument is mapped: at least one of in_axes "
         "must be an axis, or .axis_size say how many");
}

CASE(no_rows)
{
    tt_call(tt_pmap(square), tt_zeros(TT_F32, 0, 2));
    SAYS("+2: in no_rows: pmap(square): argument 0, f32[0,2] has 0 along its mapped axis 0: "
         "there is nothing to map");
}

CASE(out_axis_beyond_rank)
{
    tt_call(tt_pmap(square, .out_axis = 2), tt_zeros(TT_F32, 4));
    SAYS("+2: in out_axis_beyond_rank: pmap(square): result 0 cannot have its mapped axis at 2: "
         "with 0 others, that is from -1 to 0, or TT_NONE\n"
         "    while tracing pmap(square), +2");
}

CASE(devices_without_their_number)
{
    tt_pmap(square, .devices = (const int[]){ 0, 1 });
    SAYS("+2: in devices_without_their_number: tt_pmap(square): devices must list at least one "
         "device, and ndevices say how many, or neither be given");
}

CASE(number_without_its_devices)
{
    tt_pmap(square, .ndevices = 2);
    SAYS("+2: in number_without_its_devices: tt_pmap(square): devices must list at least one "
         "device, and ndevices say how many, or neither be given");
}

CASE(fewer_devices_than_rows)
{
    tt_call(tt_pmap(square, .devices = (const int[]){ 0, 1 }, .ndevices = 2), tt_zeros(TT_F32, 4));
    SAYS("+2: in fewer_devices_than_rows: pmap(square): argument 0, f32[4] is to be spread over "
         "4 devices, but .devices lists 2");
}

CASE(device_that_is_not_there)
{
    tt_call(tt_pmap(square, .devices = (const int[]){ 0, 4 }, .ndevices = 2), tt_zeros(TT_F32, 2));
    SAYS("+2: in device_that_is_not_there: pmap(square): .devices lists device 4, which is not "
         "there: they are 0 to 3");
}

CASE(device_listed_twice)
{
    tt_call(tt_pmap(square, .devices = (const int[]){ 1, 1 }, .ndevices = 2), tt_zeros(TT_F32, 2));
    SAYS("+2: in device_listed_twice: pmap(square): .devices lists device 1 twice");
}

CASE(pmap_inside_pmap)
{
    tt_call(tt_pmap(pmapped), tt_zeros(TT_F32, 4, 2));
    SAYS("above: in pmapped: pmap(square) inside pmap(pmapped): 4 times 2 devices are needed, but "
         "there are 4: start with tt_init(.devices = 8), or map within a device with tt_vmap\n"
         "    while tracing pmap(pmapped), +2");
}

CASE(pmap_inside_pmap_inside_pmap)
{
    tt_call(tt_pmap(mapped_twice, .axis_name = "i"), tt_zeros(TT_F32, 2, 2, 2));
    SAYS("above: in pmapped: pmap(square) inside pmap(pmapped): 4 times 2 devices are needed, but "
         "there are 4: start with tt_init(.devices = 8), or map within a device with tt_vmap\n"
         "    while tracing pmap(pmapped), above\n"
         "    while tracing pmap(mapped_twice), +2, axis \"i\" of size 2");
}

CASE(devices_of_an_inner_map)
{
    tt_call(tt_pmap(pinned), tt_zeros(TT_F32, 2, 2));
    SAYS("above: in pinned: pmap(square) inside pmap(pinned): .devices is for the outermost map: "
         "it lists those of all maps inside too\n"
         "    while tracing pmap(pinned), +2");
}

CASE(too_few_devices_for_the_maps_inside)
{
    tt_call(tt_pmap(pmapped, .devices = (const int[]){ 0, 1 }, .ndevices = 2),
            tt_zeros(TT_F32, 2, 2));
    SAYS("+2: in too_few_devices_for_the_maps_inside: pmap(pmapped): argument 0, f32[2,2] is to "
         "be spread over 4 devices, but .devices lists 2");
}

CASE(inner_maps_of_two_sizes)
{
    tt_call(tt_pmap(of_two_sizes, .in_axes = { 0, 0 }), tt_zeros(TT_F32, 1, 4),
            tt_zeros(TT_F32, 1, 2));
    SAYS("+2: in inner_maps_of_two_sizes: pmap(of_two_sizes): the maps inside it are over "
         "different numbers of devices: in one program they must be over the same");
}

CASE(inner_map_in_a_loop)
{
    tt_call(tt_pmap(looped), tt_zeros(TT_F32, 2, 2));
    SAYS("above: in turn: pmap(square): not supported: a map in a loop or a branch inside "
         "pmap(looped): map around the loop, or within a device with tt_vmap\n"
         "    while tracing fori(turn), above\n"
         "    while tracing pmap(looped), +2");
}

CASE(inner_map_in_a_loop_by_jit)
{
    tt_call(tt_pmap(maps_twice), tt_zeros(TT_F32, 2, 2));
    SAYS("above: in squares: pmap(square): not supported: a map in a loop or a branch inside "
         "pmap(maps_twice): map around the loop, or within a device with tt_vmap\n"
         "    while tracing jit(squares), above\n"
         "    while tracing fori(turn_jit), above\n"
         "    while tracing pmap(maps_twice), +2");
}

CASE(name_with_a_comma)
{
    tt_pmap(square, .axis_name = "i,j");
    SAYS("+2: in name_with_a_comma: tt_pmap(square): .axis_name is \"i,j\": a map has one axis, "
         "and a comma is for naming several at once");
}

CASE(mesh_name_with_a_comma)
{
    tt_mesh_of({ "x,y", 2 });
    SAYS("+2: in mesh_name_with_a_comma: tt_mesh: axis 0 is named \"x,y\": a comma is for naming "
         "several axes at once");
}

CASE(two_sizes_in_a_program)
{
    tt_call(tt_jit(of_two_sizes), tt_zeros(TT_F32, 4), tt_zeros(TT_F32, 2));
    SAYS("above: in of_two_sizes: pmap(square) runs on 4 devices and pmap(square), in the same "
         "program, on 2 or in another order: all maps of a program need the same devices\n"
         "    while tracing jit(of_two_sizes), +2");
}

CASE(collective_outside_a_map)
{
    tt_psum(tt_zeros(TT_F32, 4), "batch");
    SAYS("+2: in collective_outside_a_map: tt_psum: nothing is being mapped here, so there is no "
         "axis \"batch\": call it inside a function that is, as by tt_pmap(f, .axis_name = "
         "\"batch\")");
}

CASE(unbound_axis)
{
    tt_call(tt_pmap(total), tt_zeros(TT_F32, 4));
    SAYS("above: in total: tt_psum: no axis named \"batch\" is being mapped here: write "
         ".axis_name = \"batch\" where the function is mapped, or give its mesh that axis\n"
         "    while tracing pmap(total), +2");
}

CASE(another_axis_is_bound)
{
    tt_call(tt_pmap(total, .axis_name = "rows"), tt_zeros(TT_F32, 4));
    SAYS("above: in total: tt_psum: no axis named \"batch\" is being mapped here: write "
         ".axis_name = \"batch\" where the function is mapped, or give its mesh that axis\n"
         "    while tracing pmap(total), +2, axis \"rows\" of size 4");
}

CASE(nameless_axis)
{
    tt_call(tt_pmap(nameless, .axis_name = "i"), tt_zeros(TT_F32, 4));
    SAYS("above: in nameless: tt_psum: no axis is named: give the name that tt_pmap or tt_vmap "
         "has as .axis_name\n"
         "    while tracing pmap(nameless), +2, axis \"i\" of size 4");
}

CASE(collective_in_a_function_that_nobody_maps)
{
    tt_call(total, tt_zeros(TT_F32, 4));
    SAYS("above: in total: tt_psum: nothing is being mapped here, so there is no axis \"batch\": "
         "call "
         "it inside a function that is, as by tt_pmap(f, .axis_name = \"batch\")\n"
         "    while tracing call(total), +2");
}

CASE(axis_index_outside)
{
    tt_axis_index("rows");
    SAYS("+2: in axis_index_outside: tt_axis_index: nothing is being mapped here, so there is no "
         "axis \"rows\": call it inside a function that is, as by tt_pmap(f, .axis_name = "
         "\"rows\")");
}

CASE(axis_size_outside)
{
    tt_axis_size("rows");
    SAYS("+2: in axis_size_outside: tt_axis_size: nothing is being mapped here, so there is no "
         "axis \"rows\": call it inside a function that is, as by tt_pmap(f, .axis_name = "
         "\"rows\")");
}

CASE(axis_index_of_another)
{
    tt_call(tt_vmap(numbered, .axis_name = "columns"), tt_zeros(TT_F32, 4));
    SAYS("above: in numbered: tt_axis_index: no axis named \"rows\" is being mapped here: write "
         ".axis_name = \"rows\" where the function is mapped, or give its mesh that axis\n"
         "    while tracing vmap(numbered), +2, axis \"columns\" of size 4");
}

CASE(shift_along_nothing)
{
    tt_call(tt_pmap(shifts, .axis_name = "i"), tt_zeros(TT_F32, 4));
    SAYS("above: in shifts: tt_shift: no axis named \"j\" is being mapped here: write .axis_name "
         "= \"j\" where the function is mapped, or give its mesh that axis\n"
         "    while tracing pmap(shifts), +2, axis \"i\" of size 4");
}

CASE(scatter_of_too_few_rows)
{
    tt_call(tt_pmap(scatters, .axis_name = "i"), tt_zeros(TT_F32, 4, 3));
    SAYS("above: in scatters: tt_psum_scatter: f32[3] must have 4 along axis 0, the size of "
         "\"i\"\n"
         "    while tracing pmap(scatters), +2, axis \"i\" of size 4");
}

CASE(exchange_of_a_scalar)
{
    tt_call(tt_pmap(exchanges, .axis_name = "i"), tt_zeros(TT_F32, 4));
    SAYS("above: in exchanges: tt_all_to_all: f32[] must have 4 along axis 0, the size of \"i\"\n"
         "    while tracing pmap(exchanges), +2, axis \"i\" of size 4");
}

CASE(vmap_axis_beyond_rank)
{
    tt_call(tt_vmap(square, .in_axes = { 1 }), tt_zeros(TT_F32, 4));
    SAYS("+2: in vmap_axis_beyond_rank: vmap(square): argument 0, f32[4] has no axis 1 to map: "
         "in_axes[0] must be from -1 to 0, or TT_NONE");
}

CASE(vmap_sizes_that_disagree)
{
    tt_call(tt_vmap(plus, .in_axes = { 0, 1 }), tt_zeros(TT_F32, 4, 2), tt_zeros(TT_F32, 4, 3));
    SAYS("+2: in vmap_sizes_that_disagree: vmap(plus): argument 1, f32[4,3] has 3 along its "
         "mapped axis 1, but argument 0, f32[4,2] has 4: all mapped arguments must have the same");
}

CASE(vmap_of_nothing)
{
    tt x = tt_zeros(TT_F32, 4);
    tt_call(tt_vmap(plus, .in_axes = { TT_NONE, TT_NONE }), x, x);
    SAYS("+3: in vmap_of_nothing: vmap(plus): no argument is mapped: at least one of in_axes "
         "must be an axis, or .axis_size say how many");
}

CASE(vmap_result_that_differs)
{
    tt_call(tt_vmap(square, .out_axis = TT_NONE), tt_zeros(TT_F32, 4));
    SAYS("+2: in vmap_result_that_differs: vmap(square): result 0 differs from row to row, so "
         "its out_axis cannot be TT_NONE\n"
         "    while tracing vmap(square), +2");
}

CASE(vmap_out_axis_beyond_rank)
{
    tt_call(tt_vmap(square, .out_axis = -3), tt_zeros(TT_F32, 4, 2));
    SAYS("+2: in vmap_out_axis_beyond_rank: vmap(square): result 0 cannot have its mapped axis "
         "at -3: with 1 other, that is from -2 to 1, or TT_NONE\n"
         "    while tracing vmap(square), +2");
}

CASE(wrong_shapes_on_a_device)
{
    tt_call(tt_pmap(averages, .axis_name = "batch"), tt_zeros(TT_F32, 4, 2, 3));
    SAYS("above: in averages: tt_matmul: f32[2,3] by f32[2,3]: the last axis of the first must "
         "match the next-to-last of the second\n"
         "    while tracing pmap(averages), +2, axis \"batch\" of size 4");
}

CASE(more_results_than_out_axes)
{
    Many m = tt_call_as(Many, tt_pmap(many, .out_axes = { TT_NONE }), tt_zeros(TT_F32, 4));
    (void)m;
    SAYS("+2: in more_results_than_out_axes: pmap(many): .out_axes has room for 32 results, but "
         "there are 40: describe them by type, as in .out = TT_EACH_AXIS(TT_RUN(Net, TT_NONE), "
         "TT_RUN(tt, 0))\n"
         "    while tracing pmap(many), +2");
}

CASE(more_results_than_out_specs)
{
    tt_mesh mesh = tt_mesh_of({ "x", 4 });
    tt_call_as(Many, tt_shard_map(many, .mesh = mesh, .out_specs = { TT_P("x") }),
               tt_zeros(TT_F32));
    SAYS("+3: in more_results_than_out_specs: shard_map(many): .out_specs has room for 32 results, "
         "but there are 40: describe them by type, as in .out = TT_EACH_SPEC(TT_RUN(Net, "
         "TT_P(NULL)), TT_RUN(tt, TT_P(\"x\")))\n"
         "    while tracing shard_map(many), +3, axis \"x\" of size 4");
}

CASE(runs_for_other_results)
{
    tt_call(tt_pmap(square, .out = TT_EACH_AXIS(TT_RUN(Many, 0))), tt_zeros(TT_F32, 4));
    SAYS("+2: in runs_for_other_results: pmap(square): .out describes 40 arrays, but the results "
         "are: 1\n"
         "    while tracing pmap(square), +2");
}

CASE(runs_for_other_arguments)
{
    tt_call(tt_vmap(square, .in = TT_EACH_AXIS({ 2, 0 })), tt_zeros(TT_F32, 4));
    SAYS("+2: in runs_for_other_arguments: vmap(square): .in describes 2 arrays, but the arguments "
         "have: 1\n"
         "    while tracing vmap(square), +2");
}

CASE(runs_and_a_list)
{
    tt_vmap(square, .in = TT_EACH_AXIS({ 1, 0 }), .in_axes = { 1 });
    SAYS("+2: in runs_and_a_list: tt_vmap(square): .in is given by type and one by one: give one "
         "of the two");
}

CASE(out_axes_beyond_rank)
{
    tt_call(tt_pmap(square, .out_axes = { 3 }), tt_zeros(TT_F32, 4));
    SAYS("+2: in out_axes_beyond_rank: pmap(square): result 0 cannot have its mapped axis at 3: "
         "with 0 others, that is from -1 to 0, or TT_NONE\n"
         "    while tracing pmap(square), +2");
}

CASE(gradient_of_a_mapped_vector)
{
    tt_call(tt_grad(tt_pmap(square)), tt_zeros(TT_F32, 4));
    SAYS("+2: in gradient_of_a_mapped_vector: grad(pmap(square)): the result must be one float, "
         "and is f32[4]: take its tt_sum or tt_mean\n"
         "    while tracing grad(pmap(square)), +2");
}

CASE(second_axis_unbound)
{
    tt_call(tt_pmap(second_unbound, .axis_name = "i"), tt_zeros(TT_F32, 4));
    SAYS("above: in second_unbound: tt_psum: no axis named \"batch\" is being mapped here: "
         "write .axis_name = \"batch\" where the function is mapped, or give its mesh that "
         "axis\n"
         "    while tracing pmap(second_unbound), +2, axis \"i\" of size 4");
}

CASE(axis_named_twice)
{
    tt_call(tt_pmap(twice_named, .axis_name = "i"), tt_zeros(TT_F32, 4));
    SAYS("above: in twice_named: tt_psum: \"i,i\" names the axis \"i\" twice\n"
         "    while tracing pmap(twice_named), +2, axis \"i\" of size 4");
}

CASE(groups_that_miss_a_member)
{
    tt_call(tt_pmap(missing_member, .axis_name = "i"), tt_zeros(TT_F32, 4));
    SAYS("above: in missing_member: tt_psum: .groups must have each of the 4 members of \"i\" "
         "once; member 3 is in none\n"
         "    while tracing pmap(missing_member), +2, axis \"i\" of size 4");
}

CASE(groups_with_a_member_twice)
{
    tt_call(tt_pmap(member_twice, .axis_name = "i"), tt_zeros(TT_F32, 4));
    SAYS("above: in member_twice: tt_pmax: .groups lists member 1 twice\n"
         "    while tracing pmap(member_twice), +2, axis \"i\" of size 4");
}

CASE(groups_with_a_stranger)
{
    tt_call(tt_pmap(no_such_member, .axis_name = "i"), tt_zeros(TT_F32, 4));
    SAYS("above: in no_such_member: tt_pmean: .groups lists member 4; those of \"i\" are 0 to "
         "3\n"
         "    while tracing pmap(no_such_member), +2, axis \"i\" of size 4");
}

CASE(groups_of_two_sizes)
{
    tt_call(tt_pmap(uneven_gather, .axis_name = "i"), tt_zeros(TT_F32, 4));
    SAYS("above: in uneven_gather: tt_all_gather: .groups must be of one size, and are of 1 "
         "and of 3\n"
         "    while tracing pmap(uneven_gather), +2, axis \"i\" of size 4");
}

CASE(tiled_psum)
{
    tt_call(tt_pmap(tiled_sum, .axis_name = "i"), tt_zeros(TT_F32, 4));
    SAYS("above: in tiled_sum: tt_psum keeps the shape: .axis and .tiled are for "
         "tt_all_gather, tt_psum_scatter and tt_all_to_all\n"
         "    while tracing pmap(tiled_sum), +2, axis \"i\" of size 4");
}

CASE(concat_axis_of_a_gather)
{
    tt_call(tt_pmap(concat_of_gather, .axis_name = "i"), tt_zeros(TT_F32, 4));
    SAYS("above: in concat_of_gather: tt_all_gather: .concat_axis is for tt_all_to_all\n"
         "    while tracing pmap(concat_of_gather), +2, axis \"i\" of size 4");
}

CASE(gather_beyond_rank)
{
    tt_call(tt_pmap(gather_beyond, .axis_name = "i"), tt_zeros(TT_F32, 4, 2));
    SAYS("above: in gather_beyond: tt_all_gather: f32[2] cannot get a new axis 3: it would be "
         "from -2 to 1, and 12 axes are the most\n"
         "    while tracing pmap(gather_beyond), +2, axis \"i\" of size 4");
}

CASE(tiled_gather_beyond_rank)
{
    tt_call(tt_pmap(tiled_beyond, .axis_name = "i"), tt_zeros(TT_F32, 4, 2));
    SAYS("above: in tiled_beyond: tt_all_gather: f32[2] has no axis 1; its axes are 0 to 0, "
         "or -1 to -1\n"
         "    while tracing pmap(tiled_beyond), +2, axis \"i\" of size 4");
}

CASE(tiled_scatter_that_does_not_divide)
{
    tt_call(tt_pmap(tiled_scatter, .axis_name = "i"), tt_zeros(TT_F32, 4, 6));
    SAYS("above: in tiled_scatter: tt_psum_scatter: f32[6] must have a multiple of 4 along "
         "axis 0, the size of \"i\"\n"
         "    while tracing pmap(tiled_scatter), +2, axis \"i\" of size 4");
}

CASE(concat_axis_beyond_the_last)
{
    tt_call(tt_pmap(concat_beyond, .axis_name = "i"), tt_zeros(TT_F32, 4, 4, 3));
    SAYS("above: in concat_beyond: tt_all_to_all: .concat_axis: f32[4,3] has no axis 2; its axes "
         "are 0 to 1, or -2 to -1\n"
         "    while tracing pmap(concat_beyond), +2, axis \"i\" of size 4");
}

CASE(swapped_axis_of_another_size)
{
    tt_call(tt_pmap(swaps, .axis_name = "i"), tt_zeros(TT_F32, 4, 4, 3));
    SAYS("above: in swaps: tt_all_to_all: f32[4,3] must have 4 along axis 1, the size of \"i\"\n"
         "    while tracing pmap(swaps), +2, axis \"i\" of size 4");
}

CASE(scatter_to_groups)
{
    tt_call(tt_pmap(grouped_scatter, .axis_name = "i"), tt_zeros(TT_F32, 4, 4));
    SAYS("above: in grouped_scatter: tt_psum_scatter: f32[4] must have 2 along axis 0, the "
         "size of the groups of \"i\"\n"
         "    while tracing pmap(grouped_scatter), +2, axis \"i\" of size 4");
}

CASE(sent_to_twice)
{
    tt_call(tt_pmap(sends_twice, .axis_name = "i"), tt_zeros(TT_F32, 4));
    SAYS("above: in sends_twice: tt_ppermute: pairs {0, 1} and {2, 1}: a member sends at most "
         "once, and is sent to at most once\n"
         "    while tracing pmap(sends_twice), +2, axis \"i\" of size 4");
}

CASE(sent_to_nobody)
{
    tt_call(tt_pmap(sends_beyond, .axis_name = "i"), tt_zeros(TT_F32, 4));
    SAYS("above: in sends_beyond: tt_ppermute: there is no member 4 along \"i\": they are 0 "
         "to 3\n"
         "    while tracing pmap(sends_beyond), +2, axis \"i\" of size 4");
}

CASE(shuffle_of_too_few)
{
    tt_call(tt_pmap(shuffles_few, .axis_name = "i"), tt_zeros(TT_F32, 4));
    SAYS("above: in shuffles_few: tt_pshuffle: 2 sources for the 4 members of \"i\"\n"
         "    while tracing pmap(shuffles_few), +2, axis \"i\" of size 4");
}

CASE(shuffle_that_is_none)
{
    tt_call(tt_pmap(shuffles_twice, .axis_name = "i"), tt_zeros(TT_F32, 4));
    SAYS("above: in shuffles_twice: tt_pshuffle: member 1 is the source of 0 and of 2: each "
         "must be the source of one\n"
         "    while tracing pmap(shuffles_twice), +2, axis \"i\" of size 4");
}

CASE(more_members_than_can_be_counted)
{
    tt_fn f = tt_vmap(crowd, .axis_name = "j", .axis_size = 1 << 20, .in_axes = { TT_NONE });
    tt_call(tt_vmap(f, .axis_name = "i", .axis_size = 1 << 20, .in_axes = { TT_NONE }),
            tt_scalar(1));
    SAYS("above: in crowd: tt_axis_size: the axes \"i,j\" have more than 2147483647 members "
         "together\n"
         "    while tracing vmap(crowd), +2, axis \"j\" of size 1048576\n"
         "    while tracing vmap(vmap(crowd)), +3, axis \"i\" of size 1048576");
}

CASE(broadcast_from_nobody)
{
    tt_call(tt_pmap(from_nobody, .axis_name = "i"), tt_zeros(TT_F32, 4));
    SAYS("above: in from_nobody: tt_pbroadcast: there is no member -1 along \"i\": they are 0 "
         "to 3\n"
         "    while tracing pmap(from_nobody), +2, axis \"i\" of size 4");
}

CASE(gather_along_rows_and_devices)
{
    tt_call(tt_pmap(rows_gather, .axis_name = "i"), tt_zeros(TT_F32, 4, 2));
    SAYS("above: in rows_gather: not supported: all_gather along \"i,j\" where tt_vmap maps \"j\" "
         "and "
         "others the rest, above: name one after the other\n"
         "    while tracing vmap(gathers_two), above, axis \"j\" of size 2\n"
         "    while tracing pmap(rows_gather), +2, axis \"i\" of size 4");
}

CASE(gradient_of_pmax)
{
    tt_call(tt_pmap(tt_grad(greatest), .axis_name = "i"), tt_zeros(TT_F32, 4));
    SAYS("+2: in gradient_of_pmax: not supported: the derivative of pmax, above\n"
         "    while tracing grad(greatest), +2\n"
         "    while tracing pmap(grad(greatest)), +2, axis \"i\" of size 4");
}

CASES_MAIN
