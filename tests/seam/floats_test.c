/* floats_test.c - the processor's floating-point state: the caller's while its own functions run,
 * the compiler's while compiled code does, and neither leaks into the other.  Links the engine. */
#include "engine/custom_call.h"
#include "tests/seam/execute.h"

#include <fenv.h>
#include <math.h>

static volatile float tiny = 1e-40f, one = 1;

/* What foreign code finds. */
typedef struct Found {
    _Atomic int ncalls;
    bool has_denormals;
    int rounding;
} Found;

static void look(Found *found)
{
    found->has_denormals = tiny * one != 0;
    found->rounding = fegetround();
    found->ncalls++;
}

/* Rounds up, and takes denormals for zeros: as a library may leave it behind. */
static void spoil(void)
{
    fesetround(FE_UPWARD);
#if defined __x86_64__
    __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040);
#endif
}

static int32_t probe(void *user, const TuttiCall *call)
{
    look(user);
    spoil();
    float *out = call->results[0].data;
    for (int i = 0; i < 2; i++)
        out[i] = ((const float *)call->args[0].data)[i];
    return 0;
}

/* A custom call, then a sum that rounding upwards would change, then the call again. */
static const char program[] =
    "func.func public @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n"
    "%y = stablehlo.custom_call @probe(%x) {has_side_effect = true} : (tensor<2xf32>) -> "
    "tensor<2xf32>\n"
    "%c = stablehlo.constant dense<9.31322574E-10> : tensor<2xf32>\n"
    "%z = stablehlo.add %y, %c : tensor<2xf32>\n"
    "%w = stablehlo.custom_call @probe(%z) {has_side_effect = true} : (tensor<2xf32>) -> "
    "tensor<2xf32>\n"
    "return %w : tensor<2xf32>\n}\n";

static void check_call(void)
{
    Found found = { 0 };
    float x[] = { 1, 2 }, y[2];
    CHECK(call_registry_add(STR("probe"), probe, &found));
    PJRT_LoadedExecutable *loaded = load(program);
    PJRT_Buffer *in = send(0, 2, x), *out;
    for (int round = 0; round < 3; round++) {
        CHECK_STR(execute(loaded, 1, 1, &in, 1, &out), "");
        CHECK_STR(receive(out, 2, y), "");
        CHECK(y[0] == 1 && y[1] == 2);
        CHECK(found.has_denormals && found.rounding == FE_TONEAREST);
        release(out);
    }
    CHECK(found.ncalls == 6);
    release(in);
    unload(loaded);
}

static const char sum[] = "func.func public @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n"
                          "%c = stablehlo.constant dense<9.31322574E-10> : tensor<2xf32>\n"
                          "%z = stablehlo.add %x, %c : tensor<2xf32>\n"
                          "return %z : tensor<2xf32>\n}\n";

/* Compiled code on the caller's own thread, whatever the caller has set. */
static void check_caller(void)
{
    float x[] = { 1, 1e-40f }, y[2];
    fesetround(FE_UPWARD);
    PJRT_LoadedExecutable *loaded = load(sum);
    PJRT_Buffer *in = send(0, 2, x), *out;
    CHECK_STR(execute(loaded, 1, 1, &in, 1, &out), "");
    CHECK(fegetround() == FE_UPWARD && tiny * one != 0);
    CHECK_STR(receive(out, 2, y), "");
    CHECK(y[0] == 1 && y[1] == 9.31322574E-10f);
    fesetround(FE_TONEAREST);
    release(out);
    release(in);
    unload(loaded);
}

/* What is folded at compile time does not depend on who compiles. */
static void check_compiler(void)
{
    static const char folded[] = "func.func public @main() -> tensor<1xf32> {\n"
                                 "%c = stablehlo.constant dense<9.31322574E-10> : tensor<1xf32>\n"
                                 "%o = stablehlo.constant dense<1.0> : tensor<1xf32>\n"
                                 "%z = stablehlo.add %o, %c : tensor<1xf32>\n"
                                 "return %z : tensor<1xf32>\n}\n";
    float y;
    fesetround(FE_UPWARD);
    PJRT_LoadedExecutable *loaded = load(folded);
    CHECK(fegetround() == FE_UPWARD);
    fesetround(FE_TONEAREST);
    PJRT_Buffer *out;
    CHECK_STR(execute(loaded, 1, 0, NULL, 1, &out), "");
    CHECK_STR(receive(out, 1, &y), "");
    CHECK(y == 1);
    release(out);
    unload(loaded);
}

static void look_when_ready(PJRT_Error *error, void *user)
{
    message_of(error);
    look(user);
    spoil();
}

static void look_at_end(void *data, void *user)
{
    (void)data;
    look(user);
    spoil();
}

/* Long enough that a worker runs it. */
static const char loop[] =
    "func.func public @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n"
    "%n = stablehlo.constant dense<20000000> : tensor<i32>\n"
    "%i = stablehlo.constant dense<0> : tensor<i32>\n"
    "%r:2 = stablehlo.while(%a = %i, %b = %x) : tensor<i32>, tensor<2xf32>\n"
    "cond {\n%t = stablehlo.compare LT, %a, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
    "stablehlo.return %t : tensor<i1>\n} do {\n"
    "%o = stablehlo.constant dense<1> : tensor<i32>\n"
    "%j = stablehlo.add %a, %o : tensor<i32>\n"
    "%m = stablehlo.negate %b : tensor<2xf32>\n"
    "stablehlo.return %j, %m : tensor<i32>, tensor<2xf32>\n}\n"
    "return %r#1 : tensor<2xf32>\n}\n";

/* A worker runs the callback of the result's event, and gives the memory of the argument back. */
static void check_worker(void)
{
    Found ready = { 0 }, end = { 0 };
    _Alignas(64) float x[2] = { 1, 2 };
    int64_t n = 2;
    PJRT_Client_LookupDevice_Args at = ARGS(Client_LookupDevice, .client = client, .id = 0);
    OK(api->PJRT_Client_LookupDevice(&at));
    PJRT_Client_CreateViewOfDeviceBuffer_Args view =
        ARGS(Client_CreateViewOfDeviceBuffer, .client = client, .device_buffer_ptr = x, .dims = &n,
             .num_dims = 1, .element_type = PJRT_Buffer_Type_F32, .device = at.device,
             .on_delete_callback = look_at_end, .on_delete_callback_arg = &end);
    OK(api->PJRT_Client_CreateViewOfDeviceBuffer(&view));
    PJRT_LoadedExecutable *loaded = load(loop);
    PJRT_Buffer *out = NULL, **outs = &out, *const *ins = &view.buffer;
    PJRT_ExecuteOptions options = { .struct_size = PJRT_ExecuteOptions_SIZE };
    PJRT_LoadedExecutable_Execute_Args run =
        ARGS(LoadedExecutable_Execute, .executable = loaded, .options = &options,
             .argument_lists = &ins, .num_devices = 1, .num_args = 1, .output_lists = &outs);
    OK(api->PJRT_LoadedExecutable_Execute(&run));
    release(view.buffer); /* the run holds the memory */
    PJRT_Buffer_ReadyEvent_Args event = ARGS(Buffer_ReadyEvent, .buffer = out);
    OK(api->PJRT_Buffer_ReadyEvent(&event));
    PJRT_Event_OnReady_Args on =
        ARGS(Event_OnReady, .event = event.event, .callback = look_when_ready, .user_arg = &ready);
    OK(api->PJRT_Event_OnReady(&on));
    CHECK_STR(await(event.event), "");
    float y[2];
    CHECK_STR(receive(out, 2, y), "");
    unload(loaded);
    release(out);
    client_end(); /* with it the worker has ended */
    CHECK(ready.ncalls == 1 && ready.has_denormals && ready.rounding == FE_TONEAREST);
    CHECK(end.ncalls == 1 && end.has_denormals && end.rounding == FE_TONEAREST);
}

int main(void)
{
    client_start("1");
    check_call();
    check_caller();
    check_compiler();
    check_worker();
    return check_done();
}
