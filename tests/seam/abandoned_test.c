/* abandoned_test.c - programs that have no end: they stop when no caller holds their executable nor what
 * they give, and not before; what is launched behind them then runs.  Links the engine. */
#include "tests/seam/execute.h"

#include <time.h>

#define BODY(next)                                                                                 \
    "    %one = stablehlo.constant dense<1.0> : tensor<1xf32>\n"                                   \
    "    %r = stablehlo.while(%c = %x) : tensor<1xf32>\n"                                          \
    "    cond {\n"                                                                                 \
    "      %zero = stablehlo.constant dense<0.0> : tensor<f32>\n"                                  \
    "      %s = stablehlo.reshape %c : (tensor<1xf32>) -> tensor<f32>\n"                           \
    "      %p = stablehlo.compare GE, %s, %zero : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"      \
    "      stablehlo.return %p : tensor<i1>\n"                                                     \
    "    } do {\n"                                                                                 \
    "      %n = stablehlo.add %c, %one : tensor<1xf32>\n" next "    }\n"

/* x >= 0: for ever. */
static const char endless[] =
    "module @endless {\n"
    "  func.func public @main(%x: tensor<1xf32>) -> tensor<1xf32> {\n" BODY(
        "      stablehlo.return %n : tensor<1xf32>\n") "    return %r : tensor<1xf32>\n"
                                                       "  }\n"
                                                       "}\n";

/* The same, and each time round two devices meet. */
static const char endless_of_two[] =
    "module @endless attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 1 : i32} {\n"
    "  sdy.mesh @m = <[\"i\"=2]>\n"
    "  func.func public @main(%a: tensor<2xf32> {sdy.sharding = #sdy.sharding<@m, [{\"i\"}]>})"
    " -> (tensor<1xf32> {sdy.sharding = #sdy.sharding<@m, [{}]>}) {\n"
    "    %g = sdy.manual_computation(%a) in_shardings=[<@m, [{\"i\"}]>]"
    " out_shardings=[<@m, [{}]>] manual_axes={\"i\"} (%x: tensor<1xf32>) {\n" BODY(
        "      %m = \"stablehlo.all_reduce\"(%n) <{channel_handle = #stablehlo.channel_handle<"
        "handle = 1, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>,"
        " use_global_device_ids}> ({\n"
        "      ^bb0(%u: tensor<f32>, %v: tensor<f32>):\n"
        "        %w = stablehlo.maximum %u, %v : tensor<f32>\n"
        "        stablehlo.return %w : tensor<f32>\n"
        "      }) : (tensor<1xf32>) -> tensor<1xf32>\n"
        "      stablehlo.return %m : tensor<1xf32>\n") "      sdy.return %r : tensor<1xf32>\n"
                                                       "    } : (tensor<2xf32>) -> tensor<1xf32>\n"
                                                       "    return %g : tensor<1xf32>\n"
                                                       "  }\n"
                                                       "}\n";

static const char tells[] =
    "module @tells {\n"
    "  func.func public @main(%x: tensor<1xf32>) -> tensor<1xf32> {\n" BODY(
        "      stablehlo.custom_call @tell(%n) {has_side_effect = true} : (tensor<1xf32>) -> ()\n"
        "      stablehlo.return %n : tensor<1xf32>\n") "    return %r : tensor<1xf32>\n"
                                                       "  }\n"
                                                       "}\n";

static const char twice[] = "module @twice {\n"
                            "  func.func public @main(%x: tensor<1xf32>) -> tensor<1xf32> {\n"
                            "    %y = stablehlo.add %x, %x : tensor<1xf32>\n"
                            "    return %y : tensor<1xf32>\n"
                            "  }\n"
                            "}\n";

static const char stopped[] = "the run was stopped: nobody holds its results, nor its executable";

/* A launch; done[d] says how it went on device d. */
static void start(PJRT_LoadedExecutable *loaded, int ndevices, PJRT_Buffer **in, PJRT_Buffer **out,
                  PJRT_Event **done)
{
    PJRT_Buffer *const *ins[2] = { in, in + 1 }, **outs[2] = { out, out + 1 };
    PJRT_ExecuteOptions options = { .struct_size = PJRT_ExecuteOptions_SIZE };
    PJRT_LoadedExecutable_Execute_Args args =
        ARGS(LoadedExecutable_Execute, .executable = loaded, .options = &options,
             .argument_lists = ins, .num_devices = (size_t)ndevices, .num_args = 1,
             .output_lists = outs, .device_complete_events = done);
    OK(api->PJRT_LoadedExecutable_Execute(&args));
}

static bool is_over(PJRT_Event *event)
{
    PJRT_Event_IsReady_Args args = ARGS(Event_IsReady, .event = event);
    OK(api->PJRT_Event_IsReady(&args));
    return args.is_ready;
}

/* Is it still under way a moment later? */
static bool goes_on(PJRT_Event *event)
{
    struct timespec moment = { .tv_nsec = 30 * 1000 * 1000 };
    nanosleep(&moment, NULL);
    return !is_over(event);
}

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

/* Behind what has stopped the device runs as ever. */
static void check_twice(void)
{
    PJRT_LoadedExecutable *loaded = load(twice);
    PJRT_Buffer *in[1] = { send(0, 1, (float[]){ 21 }) }, *out[1];
    float got = 0;
    CHECK_STR(execute(loaded, 1, 1, in, 1, out), "");
    CHECK_STR(receive(out[0], 1, &got), "");
    CHECK(got == 42);
    release(in[0]);
    release(out[0]);
    unload(loaded);
}

/* Neither the executable nor the results alone keep it; whichever goes last stops it. */
static void test_last_goes(const char *program, int ndevices, bool executable_is_last)
{
    PJRT_LoadedExecutable *loaded = load(program);
    PJRT_Buffer *in[2], *out[2];
    PJRT_Event *done[2];
    for (int d = 0; d < ndevices; d++)
        in[d] = send(d, 1, (float[]){ 1 });
    start(loaded, ndevices, in, out, done);
    if (!executable_is_last)
        unload(loaded);
    CHECK(goes_on(done[0]));
    for (int d = 0; d < ndevices; d++) {
        CHECK(!is_over(done[0]));
        release(out[d]);
    }
    CHECK(!executable_is_last || goes_on(done[0]));
    if (executable_is_last)
        unload(loaded);
    for (int d = 0; d < ndevices; d++) {
        const char *message = await(done[d]);
        CHECK(ends_with(message, stopped));
        release(in[d]);
    }
    check_twice();
}

/* A second run waits for the first one's result: it alone wants it. */
static void test_chain(void)
{
    PJRT_LoadedExecutable *first = load(endless), *second = load(twice);
    PJRT_Buffer *in[1] = { send(0, 1, (float[]){ 1 }) }, *between[1], *out[1];
    PJRT_Event *done[2];
    start(first, 1, in, between, &done[0]);
    start(second, 1, between, out, &done[1]);
    unload(first);
    release(between[0]);
    release(in[0]);
    CHECK(goes_on(done[0]));
    unload(second);
    CHECK(goes_on(done[0]));
    release(out[0]);
    CHECK(ends_with(await(done[0]), stopped));
    CHECK(ends_with(await(done[1]), stopped));
    check_twice();
}

/* A caller waits for the result on the host: it is wanted, and the client's end ends it. */
static void test_transfer(void)
{
    PJRT_LoadedExecutable *loaded = load(endless);
    PJRT_Buffer *in[1] = { send(0, 1, (float[]){ 1 }) }, *out[1];
    PJRT_Event *done;
    float got;
    start(loaded, 1, in, out, &done);
    PJRT_Buffer_ToHostBuffer_Args args =
        ARGS(Buffer_ToHostBuffer, .src = out[0], .dst = &got, .dst_size = sizeof got);
    OK(api->PJRT_Buffer_ToHostBuffer(&args));
    unload(loaded);
    release(out[0]);
    release(in[0]);
    CHECK(goes_on(done));
    client_end();
    CHECK(ends_with(await(done), "the run was stopped: its client was closed"));
    CHECK(await(args.event)[0]);
    client_start("2");
}

static int32_t answer(void *user, const TuttiCall *call)
{
    (void)user;
    (void)call;
    return 0;
}

/* What a program does beside its results is wanted also when no caller holds those. */
static void test_effect(void)
{
    for (PJRT_Extension_Base *e = api->extension_start; e; e = e->next)
        if ((int)e->type == TUTTI_EXTENSION)
            CHECK(((TuttiExtension *)e)->add_call("tell", 4, answer, NULL));
    PJRT_LoadedExecutable *loaded = load(tells);
    PJRT_Buffer *in[1] = { send(0, 1, (float[]){ 1 }) }, *out[1];
    PJRT_Event *done;
    start(loaded, 1, in, out, &done);
    unload(loaded);
    release(in[0]);
    release(out[0]);
    CHECK(goes_on(done));
    client_end();
    CHECK(ends_with(await(done), "the run was stopped: its client was closed"));
}

int main(void)
{
    client_start("2");
    test_last_goes(endless, 1, true);
    test_last_goes(endless, 1, false);
    test_last_goes(endless_of_two, 2, true);
    test_last_goes(endless_of_two, 2, false);
    test_chain();
    test_transfer();
    test_effect();
    return check_done();
}
