/* calls_test.c - mistakes with calls, values and tracing. */
#include "tests/errors_c/case.h"

#include <pthread.h>

typedef struct {
    tt w, b;
} Params;
typedef struct {
    tt sum, difference;
} Both;

/* clang-format off */
static tt square(tt x) { return tt_mul(x, x); }
static tt plus(tt x, tt y) { return tt_add(x, y); }
static Params unlisted(Params p) { return p; }
static tt line(Params p, tt x) { return tt_add(tt_mul(p.w, x), p.b); }
TT_FUN(tt, line, Params, tt);
static Both both(tt x, tt y) { return (Both){ tt_add(x, y), tt_sub(x, y) }; }
TT_FUN(Both, both, tt, tt);

typedef struct { tt a[3]; } Three;

static tt leaked;
static tt leak(tt x) { leaked = tt_exp(x); return x; }
static tt forgets(tt x) { (void)x; return (tt){ 0, 0 }; }
static tt items(tt x) { return tt_mul(x, tt_item(x) > 0 ? 1 : 2); }
static tt reads(tt x) { float at[4]; tt_read(x, at, sizeof at); return x; }
static tt prints(tt x) { tt_print(x); return x; }
static tt saves(tt x) { tt_save_npy("build/never.npy", x); return x; }
static tt draws(tt x) { tt_show_sharding(x); return x; }
static tt lowers(tt x) { puts(tt_lower(square, x)); return x; }
static tt forever(tt x) { return tt_call(tt_jit(forever), x); }
static tt deep(tt x) { return tt_call(tt_vmap(square), tt_matmul(x, x)); }

static tt adds(tt x) { return tt_add(x, tt_zeros(TT_F32, 4)); }
static tt reduces(tt x) { return tt_sum(x, 2); }
static tt reshapes(tt x) { return tt_reshape(x, 4, -1); }
static tt joins(tt x) { return tt_concat(1, x, tt_transpose(x)); }
static tt picks(tt x) { return tt_index(x, 2); }
static tt takes(tt x) { return tt_take(x, x, 0); }
static tt chooses(tt x) { return tt_where(x, x, tt_zeros(TT_F32, 5)); }
static tt turns_over(tt x) { return tt_not(x); }
/* clang-format on */

CASE(function_without_its_line)
{
    Params p = { tt_zeros(TT_F32, 3), tt_zeros(TT_F32, 3) };
    p = tt_call_as(Params, unlisted, p);
    SAYS("+3: in function_without_its_line: unlisted is not traceable: add TT_FUN(result, "
         "unlisted, parameters...) after its definition, or TT_METHOD where its first parameter is "
         "a pointer");
}

CASE(transformation_without_its_line)
{
    Params p = { tt_zeros(TT_F32, 3), tt_zeros(TT_F32, 3) };
    p = tt_call_as(Params, tt_vmap(unlisted), p);
    SAYS("+3: in transformation_without_its_line: unlisted is not traceable: add TT_FUN(result, "
         "unlisted, parameters...) after its definition, or TT_METHOD where its first parameter is "
         "a pointer");
}

CASE(too_few_arguments)
{
    tt_call(plus, tt_zeros(TT_F32, 3));
    SAYS("+2: in too_few_arguments: plus takes 2 arguments, not 1");
}

CASE(too_many_arguments)
{
    tt x = tt_zeros(TT_F32, 4);
    tt_call(tt_pmap(square), x, x);
    SAYS("+3: in too_many_arguments: pmap(square) takes 1 argument, not 2");
}

CASE(array_for_a_struct)
{
    tt_call(line, tt_zeros(TT_F32, 3), tt_zeros(TT_F32, 3));
    SAYS("+2: in array_for_a_struct: line: argument 0 has 1 array, not 2");
}

CASE(struct_for_an_array)
{
    Params p = { tt_zeros(TT_F32, 3), tt_zeros(TT_F32, 3) };
    tt_call(tt_jit(line), p, p);
    SAYS("+3: in struct_for_an_array: jit(line): argument 1 has 2 arrays, not 1");
}

CASE(more_results_than_room)
{
    tt x = tt_zeros(TT_F32, 3);
    tt_call(both, x, x);
    SAYS("+3: in more_results_than_room: both returns 2 arrays; the caller has room for 1: name "
         "what it returns by tt_call_as(type, ...)");
}

CASE(more_room_than_results)
{
    tt_call_as(Both, tt_jit(square), tt_zeros(TT_F32, 3));
    SAYS("+2: in more_room_than_results: jit(square) returns 1 array; the caller has room for 2: "
         "name what it returns by tt_call_as(type, ...)");
}

CASE(array_written_as_an_integer)
{
    const char *format = "%s %5.1f %*d\n"; /* of which compilers say nothing */
    tt_printf(format, "x", tt_full(TT_F32, 2), 3, tt_full(TT_I32, 4));
    SAYS("+3: in array_written_as_an_integer: tt_printf: %*d is given an array: its one element is "
         "a "
         "double, which %g and %.3f write, and %.0f if it is a whole number");
}

CASE(no_function)
{
    tt_fn nothing = NULL;
    tt_call(nothing, tt_zeros(TT_F32, 3));
    SAYS("+3: in no_function: tt_call: there is no function: the tt_fn is NULL");
}

CASE(no_function_to_map)
{
    tt_fn nothing = NULL;
    tt_pmap(nothing);
    SAYS("+3: in no_function_to_map: tt_pmap: there is no function: the tt_fn is NULL");
}

CASE(parts_beyond)
{
    tt x = tt_zeros(TT_F32, 3, 4);
    tt_get(x, TT_ALL, 4);
    SAYS("+3: in parts_beyond: tt_get: f32[3,4]: index 4 is out of range along axis 1: from -4 to "
         "3");
    tt_get(x, 0, TT_ALL, TT_ALL);
    SAYS("+6: in parts_beyond: tt_get: f32[3,4] has 2 axes; there are 3 indices");
    tt_get(x, TT_REST, TT_REST);
    SAYS("+8: in parts_beyond: tt_get: TT_REST stands for all axes that are left: give it once");
    tt_get(x, tt_less(x, 1));
    SAYS(
        "+10: in parts_beyond: tt_get: an index is bool[3,4]; it must be integers: how many a mask "
        "selects is not known; tt_where chooses by one");
    tt_set(x, tt_zeros(TT_F32, 3), TT_RANGE(0, 2));
    SAYS("+14: in parts_beyond: tt_set: the value is f32[3], and what it goes to f32[2,4]");
    tt_get(x, TT_BLOCK(tt_integer(1), 5));
    SAYS("+16: in parts_beyond: tt_get: TT_BLOCK of 5 from i64[] on: one integer says where it "
         "begins, and axis 0 has 3");
}

CASE(parts_that_make_too_many_axes)
{
    tt x = tt_zeros(TT_F32, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1);
    tt_part all[24];
    for (int i = 0; i < 24; i++)
        all[i] = TT_NEW_AXIS;
    tt_get_n(x, all, 24);
    SAYS("+2: in parts_that_make_too_many_axes: tt_get: the result would have 36 axes, and 12 are "
         "the most");
}

CASE(trees_of_different_size)
{
    Params p = { tt_zeros(TT_F32, 3), tt_zeros(TT_F32, 3) };
    tt_map(plus, p, ((Three){ { p.w, p.w, p.w } }));
    SAYS("+3: in trees_of_different_size: tt_map(plus): tree 1 has 3 arrays, tree 0 has 2");
}

CASE(value_never_given)
{
    Params p = { .w = tt_zeros(TT_F32, 3) };
    tt_call(line, p, tt_zeros(TT_F32, 3));
    SAYS("above: in line: tt_add: argument 0, leaf 1 is absent: no array was given for it; "
         "tt_is_there "
         "asks for that\n"
         "    while tracing call(line), above, called at +3");
}

CASE(function_that_returns_nothing)
{
    tt_call(tt_pmap(forgets), tt_zeros(TT_F32, 4));
    SAYS("+2: in function_that_returns_nothing: forgets: its result 0 is no array: it was never "
         "given one\n"
         "    while tracing pmap(forgets), +2");
}

CASE(item_of_a_traced_value)
{
    tt_call(tt_pmap(items), tt_zeros(TT_F32, 4));
    SAYS("above: in items: tt_item: the value of f32[] is not known while tracing: choose by "
         "tt_where, or return it\n"
         "    while tracing pmap(items), +2");
}

CASE(reading_a_traced_value)
{
    tt_call(tt_jit(reads), tt_zeros(TT_F32, 4));
    SAYS("above: in reads: tt_read: the elements of f32[4] are not known while tracing: choose "
         "by tt_where, or return it\n"
         "    while tracing jit(reads), +2");
}

CASE(printing_a_traced_value)
{
    tt_call(tt_vmap(prints), tt_zeros(TT_F32, 4));
    SAYS("above: in prints: tt_print: the elements of f32[] are not known while tracing: choose "
         "by tt_where, or return it\n"
         "    while tracing vmap(prints), +2");
}

CASE(saving_a_traced_value)
{
    tt_call(tt_jit(saves), tt_zeros(TT_F32, 4));
    SAYS("above: in saves: tt_save_npy: the elements of f32[4] are not known while tracing: "
         "choose by tt_where, or return it\n"
         "    while tracing jit(saves), +2");
}

CASE(drawing_a_traced_value)
{
    tt_call(tt_jit(draws), tt_zeros(TT_F32, 4));
    SAYS("above: in draws: tt_show_sharding: f32[4] is traced: where it will lie is not known "
         "yet\n"
         "    while tracing jit(draws), +2");
}

CASE(lowering_inside_a_trace)
{
    tt_call(tt_jit(lowers), tt_zeros(TT_F32, 4));
    SAYS("above: in lowers: tt_lower(square) inside a traced function: lower the outermost\n"
         "    while tracing jit(lowers), +2");
}

CASE(leaked_tracer)
{
    tt_call(tt_jit(leak), tt_zeros(TT_F32, 4));
    tt_add(leaked, 1);
    SAYS("+3: in leaked_tracer: tt_add: an argument made at above while tracing jit(leak) has "
         "outlived that trace: a traced value leaves its function only as a result");
}

CASE(leaked_tracer_printed)
{
    tt_call(tt_pmap(leak), tt_zeros(TT_F32, 4));
    tt_print(leaked);
    SAYS("+3: in leaked_tracer_printed: tt_print: the scope or trace of an argument has ended: "
         "carry it out with tt_keep, or store it with tt_assign");
}

CASE(value_after_its_scope)
{
    tt x = tt_zeros(TT_F32, 4);
    {
        TT_SCOPE;
        x = tt_add(x, 1);
    }
    tt_print(x);
    SAYS("+7: in value_after_its_scope: tt_print: an argument made at +5 has ended with its "
         "scope: carry it out with tt_keep, or store it with tt_assign");
}

static tt half(tt x)
{
    TT_SCOPE;
    return tt_div(x, 2);
}

CASE(result_not_kept)
{
    tt_item(tt_sum(half(tt_ones(TT_F32, 4))));
    SAYS("+2: in result_not_kept: tt_sum: an argument made at above has ended with its scope: "
         "carry it out with tt_keep, or store it with tt_assign");
}

CASE(donated_and_used)
{
    tt x = tt_call(tt_pmap(square), tt_ones(TT_F32, 4));
    tt_call(tt_pmap(square, .donate = 1), x);
    tt_print(x);
    SAYS("+4: in donated_and_used: the memory of this f32[4] was donated to an earlier call: use "
         "that call's result, or leave its .donate out");
}

CASE(donated_beyond_the_arguments)
{
    tt_call(tt_pmap(square, .donate = 2), tt_zeros(TT_F32, 4));
    SAYS("+2: in donated_beyond_the_arguments: pmap(square): .donate = 2 has a bit for argument 1, "
         "but there is 1 argument: bit i is for argument i, so .donate = 1 is for argument 0");
}

CASE(donated_and_passed_again)
{
    tt x = tt_call(tt_pmap(square), tt_zeros(TT_F32, 4));
    tt_call(tt_pmap(plus, .donate = 1), x, x);
    SAYS(
        "+3: in donated_and_passed_again: pmap(plus): arguments 0 and 1 are the same f32[4], which "
        "is donated: pass a copy, or leave .donate out");
}

CASE(donated_twice)
{
    tt x = tt_ones(TT_F32, 4);
    tt_fn f = tt_jit(square, .donate = 1);
    tt_call(f, x);
    tt_call(f, x);
    SAYS("+5: in donated_twice: the memory of this f32[4] was donated to an earlier call: use "
         "that call's result, or leave its .donate out");
}

CASE(endless_recursion)
{
    tt_call(tt_jit(forever), tt_zeros(TT_F32, 4));
    SAYS("above: in forever: jit(forever): calls are 256 deep: a traced function that calls "
         "itself never ends, since nothing is known yet to end it by\n"
         "    while tracing jit(forever), +2\n"
         "    while tracing jit(forever), +2\n"
         "    while tracing jit(forever), +2\n"
         "    while tracing jit(forever), +2\n"
         "    while tracing jit(forever), +2\n"
         "    while tracing jit(forever), +2\n"
         "    while tracing jit(forever), +2\n"
         "    while tracing jit(forever), +2\n"
         "    and 248 more");
}

CASE(wrong_shapes_deep_inside)
{
    tt_call(tt_jit(tt_pmap(deep, .axis_name = "batch")), tt_zeros(TT_F32, 4, 2, 3));
    SAYS("above: in deep: tt_matmul: f32[2,3] by f32[2,3]: the last axis of the first must match "
         "the next-to-last of the second\n"
         "    while tracing pmap(deep), +2, axis \"batch\" of size 4\n"
         "    while tracing jit(pmap(deep)), +2");
}

static void *uses(void *x)
{
    tt_on_error(NULL, NULL);
    tt_add(*(tt *)x, 1);
    SAYS("above: in uses: tt_add: an argument is being traced, by another thread or inside "
         "another function");
    return NULL;
}

static tt gives_away(tt x)
{
    pthread_t other;
    pthread_create(&other, NULL, uses, &x);
    pthread_join(other, NULL);
    return x;
}

CASE(traced_by_another_thread)
{
    tt_call(tt_jit(gives_away), tt_zeros(TT_F32, 4));
}

CASE(first_mistake_counts)
{
    tt x = tt_matmul(tt_zeros(TT_F32, 2, 3), tt_zeros(TT_F32, 2, 3));
    tt_print(tt_call(tt_jit(square), tt_add(x, 1)));
    SAYS("+2: in first_mistake_counts: tt_matmul: f32[2,3] by f32[2,3]: the last axis of the "
         "first must match the next-to-last of the second");
}

CASE(key_that_is_none)
{
    tt_normal(tt_zeros(TT_F32, 2), TT_F32, 3);
    SAYS("+2: in key_that_is_none: tt_normal: a key is u32[2], as tt_key gives it, not f32[2]");
}

CASE(many_keys_for_one)
{
    tt_uniform(tt_split(tt_key(0), 4), TT_F32, 3);
    SAYS("+2: in many_keys_for_one: tt_uniform: a key is u32[2], as tt_key gives it, not "
         "u32[4,2]: take one by tt_index, or map over them");
}

CASE(normal_integers)
{
    tt_normal(tt_key(0), TT_I32, 3);
    SAYS("+2: in normal_integers: tt_normal: the type must be a float");
}

CASE(key_folded_with_a_fraction)
{
    tt_fold_in(tt_key(0), 0.5);
    SAYS("+2: in key_folded_with_a_fraction: tt_fold_in: the number is f32[]; it must be one "
         "integer");
}

CASE(traced_sum_that_does_not_broadcast)
{
    tt_call(tt_vmap(adds), tt_zeros(TT_F32, 4, 2, 3));
    SAYS("above: in adds: tt_add: f32[2,3] and f32[4] do not broadcast: 3 against 4, counted "
         "from the last axis\n"
         "    while tracing vmap(adds), +2");
}

CASE(traced_sum_over_no_axis)
{
    tt_call(tt_vmap(reduces), tt_zeros(TT_F32, 4, 2, 3));
    SAYS("above: in reduces: tt_sum: f32[2,3] has no axis 2; its axes are 0 to 1, or -2 to -1\n"
         "    while tracing vmap(reduces), +2");
}

CASE(traced_reshape_that_does_not_divide)
{
    tt_call(tt_vmap(reshapes), tt_zeros(TT_F32, 4, 2, 3));
    SAYS("above: in reshapes: tt_reshape: f32[2,3] has 6 elements, which do not divide into "
         "[4,-1]\n"
         "    while tracing vmap(reshapes), +2");
}

CASE(traced_arrays_that_do_not_join)
{
    tt_call(tt_vmap(joins), tt_zeros(TT_F32, 4, 2, 3));
    SAYS("above: in joins: tt_concat: array 0 is f32[2,3] and array 1 is f32[3,2]: they may "
         "differ along axis 1 only\n"
         "    while tracing vmap(joins), +2");
}

CASE(traced_index_out_of_range)
{
    tt_call(tt_vmap(picks), tt_zeros(TT_F32, 4, 2, 3));
    SAYS("above: in picks: tt_index: f32[2,3]: index 2 is out of range along axis 0: from -2 to "
         "1\n"
         "    while tracing vmap(picks), +2");
}

CASE(traced_indices_that_are_none)
{
    tt_call(tt_vmap(takes), tt_zeros(TT_F32, 4, 2, 3));
    SAYS("above: in takes: tt_take: the indices are f32[2,3]; they must be integers\n"
         "    while tracing vmap(takes), +2");
}

CASE(traced_choice_that_does_not_broadcast)
{
    tt_call(tt_vmap(chooses), tt_zeros(TT_F32, 4, 2, 3));
    SAYS("above: in chooses: tt_where: f32[2,3], f32[2,3] and f32[5] do not broadcast: 3 against "
         "5, counted from the last axis\n"
         "    while tracing vmap(chooses), +2");
}

CASE(traced_operation_on_another_type)
{
    tt_call(tt_vmap(turns_over), tt_zeros(TT_F32, 4, 2, 3));
    SAYS("above: in turns_over: tt_not: f32[2,3]: it takes booleans and integers, not floats\n"
         "    while tracing vmap(turns_over), +2");
}

CASE(too_many_arrays)
{
    static tt many[5000];
    tt_tree tree = { many, 5000 };
    tt_call_n(tt_fn_of(1, (void (*)(void))square, "square"), &tree, 1, 1);
    SAYS("square: 5000 arrays; at most 4096 are possible in a call");
}

CASE(value_made_up)
{
    tt x = { 123456, 7 };
    tt_print(x);
    SAYS("+3: in value_made_up: tt_print: an argument is nothing that Tutti made: a tree has no "
         "fields but tt; a number becomes one by tt_scalar, and what is no array stays outside");
}

CASE(number_in_a_tree)
{
    struct {
        tt w;
        double b;
    } p = { tt_zeros(TT_F32, 3), 0.5 };
    tt_call(line, p, tt_zeros(TT_F32, 3));
    SAYS("+6: in number_in_a_tree: line: argument 0, leaf 1 is nothing that Tutti made: a tree has "
         "no fields but tt; a number becomes one by tt_scalar, and what is no array stays outside");
}

CASE(pointer_in_a_tree)
{
    struct {
        tt w;
        void *b;
    } p = { tt_zeros(TT_F32, 3), &p };
    tt_wait(p);
    SAYS("+6: in pointer_in_a_tree: tt_wait: an argument is nothing that Tutti made: a tree has no "
         "fields but tt; a number becomes one by tt_scalar, and what is no array stays outside");
}

CASE(operation_with_axes_as_a_function)
{
    tt_call(tt_vmap(tt_sum), tt_zeros(TT_F32, 3, 2));
    SAYS("+2: in operation_with_axes_as_a_function: tt_sum is no function of arrays alone: call it "
         "in a function that is one, and give that");
}

CASE(program_for_more_devices)
{
    tt_fn f = front_load("module attributes {mhlo.num_partitions = 8 : i32} {\n"
                         "sdy.mesh @mesh = <[\"i\"=8]>\n"
                         "func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {\n"
                         "  %y = sdy.manual_computation(%x) in_shardings=[<@mesh, [{\"i\"}]>] "
                         "out_shardings=[<@mesh, [{\"i\"}]>] manual_axes={\"i\"} "
                         "(%a: tensor<1xf32>) {\n"
                         "    sdy.return %a : tensor<1xf32>\n"
                         "  } : (tensor<8xf32>) -> tensor<8xf32>\n"
                         "  return %y : tensor<8xf32>\n}\n}\n");
    tt_call(f, tt_zeros(TT_F32, 8));
    CHECK(strstr(front_said(), "is a program for 8 devices, but there are 4: start with "
                               "tt_init(.devices = 8) or TUTTI_DEVICES=8"));
}

CASE(after_a_fork)
{
    tt x = tt_call(tt_pmap(square), tt_zeros(TT_F32, 4));
    tt_wait(x);
    pid_t child = fork();
    if (child) {
        int status = 0;
        waitpid(child, &status, 0);
        CHECK(status == 0);
        return;
    }
    tt_call(tt_pmap(square), x);
    SAYS("+11: in after_a_fork: pmap(square): this process was forked from one whose devices it "
         "would use, and their workers did not come along; start it by spawn, or make the client "
         "after the fork");
    fflush(NULL);
    _exit(check_done());
}

CASES_MAIN
