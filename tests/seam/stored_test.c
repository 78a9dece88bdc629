/* stored_test.c - executables as bytes: stored, loaded by another client and run there, on the
 * devices they were for; and bytes that are cut, changed, foreign or of another version, each of
 * which ends in one message.  Links the engine. */
#include "tests/seam/execute.h"

/* Two devices: each gives twice its own part, plus its number. */
static const char program[] =
    "module @numbered attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 1 : i32} {\n"
    "  sdy.mesh @m = <[\"i\"=2]>\n"
    "  func.func public @main(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@m, [{\"i\"}]>})"
    " -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@m, [{\"i\"}]>}) {\n"
    "    %r = sdy.manual_computation(%x) in_shardings=[<@m, [{\"i\"}]>]"
    " out_shardings=[<@m, [{\"i\"}]>] manual_axes={\"i\"} (%p: tensor<2xf32>) {\n"
    "      %i = stablehlo.partition_id : tensor<ui32>\n"
    "      %f = stablehlo.convert %i : (tensor<ui32>) -> tensor<f32>\n"
    "      %n = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f32>) -> tensor<2xf32>\n"
    "      %d = stablehlo.add %p, %p : tensor<2xf32>\n"
    "      %s = stablehlo.add %d, %n : tensor<2xf32>\n"
    "      sdy.return %s : tensor<2xf32>\n"
    "    } : (tensor<4xf32>) -> tensor<4xf32>\n"
    "    return %r : tensor<4xf32>\n"
    "  }\n"
    "}\n";

static const char calls_python[] =
    "module @asks {\n"
    "  func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
    "    %y = stablehlo.custom_call @tutti.local.0(%x) : (tensor<4xf32>) -> tensor<4xf32>\n"
    "    return %y : tensor<4xf32>\n"
    "  }\n"
    "}\n";

/* CompileOptionsProto: build options (3) with a device assignment (9) of one replica (1) by two
 * partitions (2), on device 1 and device 0 (3, each with its ids, 1). */
static const char reversed[] =
    "\x1a\x10\x4a\x0e\x08\x01\x10\x02\x1a\x03\x0a\x01\x01\x1a\x03\x0a\x01"
    "\x00";
enum { REVERSED = sizeof reversed - 1 };

static PJRT_LoadedExecutable *load_with(const char *text, const char *options, size_t n)
{
    PJRT_Program p = { .struct_size = PJRT_Program_SIZE,
                       .code = (char *)text,
                       .code_size = strlen(text),
                       .format = "mlir",
                       .format_size = 4 };
    PJRT_Client_Compile_Args args = ARGS(Client_Compile, .client = client, .program = &p,
                                         .compile_options = options, .compile_options_size = n);
    OK(api->PJRT_Client_Compile(&args));
    return args.executable;
}

static PJRT_Executable *executable_of(PJRT_LoadedExecutable *loaded)
{
    PJRT_LoadedExecutable_GetExecutable_Args args =
        ARGS(LoadedExecutable_GetExecutable, .loaded_executable = loaded);
    OK(api->PJRT_LoadedExecutable_GetExecutable(&args));
    return args.executable;
}

static void destroy(PJRT_Executable *executable)
{
    PJRT_Executable_Destroy_Args args = ARGS(Executable_Destroy, .executable = executable);
    OK(api->PJRT_Executable_Destroy(&args));
}

/* A copy of what Serialize gives; ends loaded. */
static char *store(PJRT_LoadedExecutable *loaded, size_t *n)
{
    PJRT_Executable *executable = executable_of(loaded);
    unload(loaded);
    PJRT_Executable_Serialize_Args args = ARGS(Executable_Serialize, .executable = executable);
    OK(api->PJRT_Executable_Serialize(&args));
    char *bytes = malloc(args.serialized_bytes_size + 1);
    memcpy(bytes, args.serialized_bytes, *n = args.serialized_bytes_size);
    args.serialized_executable_deleter(args.serialized_executable);
    destroy(executable);
    return bytes;
}

static PJRT_Error *restore(const char *bytes, size_t n, const char *options, size_t options_n,
                           PJRT_LoadedExecutable **out)
{
    PJRT_Executable_DeserializeAndLoad_Args args =
        ARGS(Executable_DeserializeAndLoad, .client = client, .serialized_executable = bytes,
             .serialized_executable_size = n, .overridden_serialized_compile_options = options,
             .overridden_serialized_compile_options_size = options_n);
    PJRT_Error *error = api->PJRT_Executable_DeserializeAndLoad(&args);
    *out = args.loaded_executable;
    return error;
}

/* Runs it with part d on device first ^ d; ends it. */
static void check_runs(PJRT_LoadedExecutable *loaded, int first)
{
    PJRT_Buffer *in[2], *out[2];
    for (int d = 0; d < 2; d++)
        in[d] = send(first ^ d, 2, (float[]){ (float)d + 1, 10 });
    CHECK_STR(execute(loaded, 2, 1, in, 1, out), "");
    for (int d = 0; d < 2; d++) {
        float got[2];
        CHECK_STR(receive(out[d], 2, got), "");
        CHECK(got[0] == 2 * ((float)d + 1) + (float)d && got[1] == 20 + (float)d);
        release(in[d]);
        release(out[d]);
    }
    unload(loaded);
}

static void test_another_client(void)
{
    size_t n, n_reversed;
    client_start("2");
    char *bytes = store(load(program), &n);
    char *on_reversed = store(load_with(program, reversed, REVERSED), &n_reversed);
    client_end();
    client_start("2");
    PJRT_LoadedExecutable *loaded;
    OK(restore(bytes, n, NULL, 0, &loaded));
    check_runs(loaded, 0);
    OK(restore(on_reversed, n_reversed, NULL, 0, &loaded));
    check_runs(loaded, 1);
    OK(restore(bytes, n, reversed, REVERSED, &loaded)); /* the caller's options come first */
    check_runs(loaded, 1);
    client_end();
    client_start("1");
    CHECK_STR(message_of(restore(bytes, n, NULL, 0, &loaded)),
              "the program needs 2 devices and there are 1; set TUTTI_DEVICES=2");
    client_end();
    free(bytes);
    free(on_reversed);
}

static void test_compile_options(void)
{
    client_start("2");
    PJRT_LoadedExecutable *loaded = load_with(program, reversed, REVERSED);
    PJRT_Executable *executable = executable_of(loaded);
    PJRT_Executable_GetCompileOptions_Args args =
        ARGS(Executable_GetCompileOptions, .executable = executable);
    OK(api->PJRT_Executable_GetCompileOptions(&args));
    CHECK(args.serialized_bytes_size == REVERSED &&
          memcmp(args.serialized_bytes, reversed, REVERSED) == 0);
    args.serialized_compile_options_deleter(args.serialized_compile_options);
    destroy(executable);
    unload(loaded);
    client_end();
}

static int32_t answer(void *user, const TuttiCall *call)
{
    (void)user;
    (void)call;
    return 0;
}

static void test_local_calls(void)
{
    client_start("1");
    for (PJRT_Extension_Base *e = api->extension_start; e; e = e->next)
        if ((int)e->type == TUTTI_EXTENSION)
            CHECK(((TuttiExtension *)e)->add_call("tutti.local.0", 13, answer, NULL));
    PJRT_LoadedExecutable *loaded = load(calls_python);
    PJRT_Executable *executable = executable_of(loaded);
    PJRT_Executable_Serialize_Args args = ARGS(Executable_Serialize, .executable = executable);
    CHECK_STR(message_of(api->PJRT_Executable_Serialize(&args)),
              "asks cannot be stored: it calls functions of this process (jax.pure_callback, "
              "jax.debug.print and the like)");
    destroy(executable);
    unload(loaded);
    client_end();
}

static const char *why_not(const char *bytes, size_t n)
{
    PJRT_LoadedExecutable *loaded = NULL;
    const char *message = message_of(restore(bytes, n, NULL, 0, &loaded));
    if (!message[0])
        unload(loaded);
    return message;
}

/* Any one byte changed, and any length but the right one, is noticed. */
static void test_damaged(void)
{
    size_t n;
    client_start("2");
    char *bytes = store(load(program), &n);
    CHECK_STR(why_not(bytes, n), "");
    for (size_t i = 0; i < n; i++) {
        char kept = bytes[i];
        for (int change = 1; change < 256; change *= 2) {
            bytes[i] = (char)(kept ^ change);
            CHECK(why_not(bytes, n)[0] != 0);
        }
        bytes[i] = kept;
        char *cut = memcpy(malloc(i + 1), bytes, i); /* a block of its own: no byte more is read */
        CHECK(why_not(cut, i)[0] != 0);
        free(cut);
    }
    bytes[n] = 0;
    CHECK(why_not(bytes, n + 1)[0] != 0);
    CHECK_STR(why_not(bytes, n), "");
    free(bytes);
    client_end();
}

static void test_messages(void)
{
    size_t n;
    client_start("2");
    char *bytes = store(load(program), &n), expected[300];
    CHECK_STR(why_not(NULL, 0), "these 0 bytes are not an executable that Tutti has stored");
    CHECK_STR(why_not(program, strlen(program)) + strlen("these 000 "),
              "bytes are not an executable that Tutti has stored");
    snprintf(expected, sizeof expected,
             "the stored executable is cut short or damaged: its %zu bytes are not those that were "
             "stored; compile the program again",
             n - 3);
    CHECK_STR(why_not(bytes, n - 3), expected);
    bytes[8] = 7;
    CHECK_STR(why_not(bytes, n), "the stored executable has format 7 and this engine reads format "
                                 "1: compile the program again");
    free(bytes);
    client_end();
}

int main(void)
{
    test_another_client();
    test_compile_options();
    test_local_calls();
    test_damaged();
    test_messages();
    return check_done();
}
