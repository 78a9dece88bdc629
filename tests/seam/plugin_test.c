/* plugin_test.c - the engine through its own table, as a client sees it: start-up, devices,
 * buffers in and out, views, deletion, errors, compiling and executing on several devices.
 * Links the engine. */
#include "../check.h"

#include "pjrt/client.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

PJRT_GetPjrtApi GetPjrtApi;

static const PJRT_Api *api;
static PJRT_Client *client;

/* The message of an error, "" for none; ends the error. */
static const char *message_of(PJRT_Error *theirs)
{
    static char text[1024];
    Error *error = pjrt_error(api, theirs);
    snprintf(text, sizeof text, "%s", error ? error_text(error) : "");
    error_free(error);
    return text;
}

#define OK(call) CHECK_STR(message_of(call), "")

static const char *await(PJRT_Event *event)
{
    PJRT_Event_Await_Args args = ARGS(Event_Await, .event = event);
    const char *message = message_of(api->PJRT_Event_Await(&args));
    PJRT_Event_Destroy_Args destroy = ARGS(Event_Destroy, .event = event);
    PJRT_Error *error = api->PJRT_Event_Destroy(&destroy);
    CHECK(error == NULL);
    return message;
}

static void test_table(void)
{
    CHECK(api->struct_size == PJRT_Api_SIZE);
    CHECK(api->pjrt_api_version.major_version == 0);
    CHECK(api->pjrt_api_version.minor_version >= 91);
#define FUNCTION(name) CHECK(api->PJRT_##name != NULL);
#include "pjrt/functions.def"
    bool has_shardings = false, has_layouts = false, has_profiler = false, has_ours = false;
    for (PJRT_Extension_Base *e = api->extension_start; e; e = e->next) {
        has_shardings |= e->type == PJRT_Extension_Type_Shardings;
        has_layouts |= e->type == PJRT_Extension_Type_Layouts;
        has_profiler |= e->type == PJRT_Extension_Type_Profiler;
        has_ours |= (int)e->type == TUTTI_EXTENSION;
    }
    CHECK(has_shardings && has_layouts && has_profiler && has_ours);
}

static const PLUGIN_Profiler_Api *profiler_api(void)
{
    for (PJRT_Extension_Base *e = api->extension_start; e; e = e->next)
        if (e->type == PJRT_Extension_Type_Profiler)
            return ((PJRT_Profiler_Extension *)e)->profiler_api;
    return NULL;
}

/* From create to destroy with these ProfileOptions; how many bytes were collected. */
static size_t profile_bytes(const PLUGIN_Profiler_Api *p, const char *options, size_t n)
{
    PLUGIN_Profiler_Create_Args create = { .options = options, .options_size = n };
    CHECK(!p->create(&create));
    PLUGIN_Profiler_Start_Args start = { .profiler = create.profiler };
    CHECK(!p->start(&start));
    PLUGIN_Profiler_Stop_Args stop = { .profiler = create.profiler };
    CHECK(!p->stop(&stop));
    PLUGIN_Profiler_CollectData_Args collect = { .profiler = create.profiler };
    CHECK(!p->collect_data(&collect));
    CHECK(!collect.buffer_size_in_bytes == !collect.buffer);
    size_t bytes = collect.buffer_size_in_bytes;
    PLUGIN_Profiler_Destroy_Args destroy = { .profiler = create.profiler };
    CHECK(!p->destroy(&destroy));
    return bytes;
}

/* Real clients leave struct_size as it comes. */
static void test_profiler(void)
{
    const PLUGIN_Profiler_Api *p = profiler_api();
    CHECK(profile_bytes(p, "\x08\x01\x18\x01", 4) == 0); /* devices are wanted, none ran */
    CHECK(profile_bytes(p, "\x08\x01", 2) == 0);         /* they are not */
    PLUGIN_Profiler_Create_Args create = { .options = "\x08", .options_size = 1 };
    PLUGIN_Profiler_Error *error = p->create(&create);
    CHECK(error != NULL);
    PLUGIN_Profiler_Error_Message_Args message = { .error = error };
    p->error_message(&message);
    CHECK(message.message && strstr(message.message, "ProfileOptions"));
    PLUGIN_Profiler_Error_GetCode_Args code = { .error = error };
    CHECK(!p->error_get_code(&code) && code.code == 3);
    p->error_destroy(&(PLUGIN_Profiler_Error_Destroy_Args){ .error = error });
}

/* An error can be read by its first word alone, and a small struct is refused. */
static void test_errors(void)
{
    PJRT_Client_DmaMap_Args args = ARGS(Client_DmaMap, .client = client);
    PJRT_Error *error = api->PJRT_Client_DmaMap(&args);
    CHECK(error != NULL);
    const PJRT_Error_FunctionTable *table = ((PJRT_Error_Start *)error)->vtable;
    const char *text;
    size_t n;
    CHECK(table->get_code(error) == PJRT_Error_Code_UNIMPLEMENTED);
    table->message(error, &text, &n);
    CHECK(n == strlen("not supported: PJRT_Client_DmaMap"));
    table->destroy(error);
    PJRT_Client_Devices_Args small = { .struct_size = 24, .client = client };
    CHECK(strstr(message_of(api->PJRT_Client_Devices(&small)), "struct_size is 24") != NULL);
}

static PJRT_Error *create(PJRT_NamedValue *option, PJRT_Client **out)
{
    PJRT_Client_Create_Args args = ARGS(Client_Create, .create_options = option, .num_options = 1);
    PJRT_Error *error = api->PJRT_Client_Create(&args);
    *out = args.client;
    return error;
}

static PJRT_NamedValue text_option(const char *name, const char *value)
{
    return (PJRT_NamedValue){ .struct_size = PJRT_NamedValue_SIZE,
                              .name = name,
                              .name_size = strlen(name),
                              .type = PJRT_NamedValue_kString,
                              .string_value = value,
                              .value_size = strlen(value) };
}

static void test_options(void)
{
    PJRT_Client *other = NULL;
    PJRT_NamedValue three = text_option("num_devices", "3"), none = text_option("num_devices", "0"),
                    odd = text_option("colour", "blue"), gpu = text_option("platform_name", "gpu");
    OK(create(&three, &other));
    PJRT_Client_Devices_Args devices = ARGS(Client_Devices, .client = other);
    OK(api->PJRT_Client_Devices(&devices));
    CHECK(devices.num_devices == 3);
    PJRT_Client_Destroy_Args destroy = ARGS(Client_Destroy, .client = other);
    OK(api->PJRT_Client_Destroy(&destroy));
    CHECK_STR(message_of(create(&none, &other)),
              "num_devices asks for 0 devices; 1 to 4096 are possible");
    CHECK_STR(
        message_of(create(&odd, &other)),
        "unknown client option 'colour'; there are num_devices, device_memory, run_seconds and "
        "platform_name");
    CHECK_STR(message_of(create(&gpu, &other)), "platform_name must be \"tutti\" or \"cpu\"");
}

static PJRT_Device *device(int id)
{
    PJRT_Client_LookupDevice_Args args = ARGS(Client_LookupDevice, .client = client, .id = id);
    OK(api->PJRT_Client_LookupDevice(&args));
    return args.device;
}

static void test_devices(void)
{
    PJRT_Device_GetDescription_Args d = ARGS(Device_GetDescription, .device = device(2));
    OK(api->PJRT_Device_GetDescription(&d));
    PJRT_DeviceDescription_ToString_Args name =
        ARGS(DeviceDescription_ToString, .device_description = d.device_description);
    OK(api->PJRT_DeviceDescription_ToString(&name));
    CHECK(name.to_string_size == strlen("CpuDevice(id=2)"));
    CHECK(memcmp(name.to_string, "CpuDevice(id=2)", name.to_string_size) == 0);
    PJRT_Client_LookupDevice_Args none = ARGS(Client_LookupDevice, .client = client, .id = 4);
    CHECK_STR(message_of(api->PJRT_Client_LookupDevice(&none)),
              "there is no device 4; devices are 0 to 3");
    PJRT_Device_DefaultMemory_Args memory = ARGS(Device_DefaultMemory, .device = device(1));
    OK(api->PJRT_Device_DefaultMemory(&memory));
    CHECK(((PJRT_Memory_Start *)memory.memory)->vtable == NULL);
    /* An older client's struct ends before the last fields: they must stay as they were. */
    PJRT_Device_MemoryStats_Args stats;
    memset(&stats, 0x5a, sizeof stats);
    stats.struct_size = 185;
    stats.device = device(0);
    OK(api->PJRT_Device_MemoryStats(&stats));
    CHECK(stats.peak_bytes_in_use_is_set && stats.pool_bytes_is_set);
    CHECK(stats.peak_allocated_bytes == 0x5a5a5a5a5a5a5a5a);
}

static PJRT_Buffer *send(int id, const float *data, int rank, const int64_t *dims,
                         const int64_t *strides)
{
    PJRT_Client_BufferFromHostBuffer_Args args = ARGS(
        Client_BufferFromHostBuffer, .client = client, .data = data, .type = PJRT_Buffer_Type_F32,
        .dims = dims, .num_dims = (size_t)rank, .byte_strides = strides,
        .num_byte_strides = strides ? (size_t)rank : 0, .device = device(id));
    OK(api->PJRT_Client_BufferFromHostBuffer(&args));
    CHECK_STR(await(args.done_with_host_buffer), "");
    return args.buffer;
}

static const char *receive(PJRT_Buffer *buffer, void *dst, size_t bytes)
{
    PJRT_Buffer_ToHostBuffer_Args args =
        ARGS(Buffer_ToHostBuffer, .src = buffer, .dst = dst, .dst_size = bytes);
    PJRT_Error *error = api->PJRT_Buffer_ToHostBuffer(&args);
    return error ? message_of(error) : await(args.event);
}

static void destroy(PJRT_Buffer *buffer)
{
    PJRT_Buffer_Destroy_Args args = ARGS(Buffer_Destroy, .buffer = buffer);
    OK(api->PJRT_Buffer_Destroy(&args));
}

static void test_strides(void)
{
    const float data[6] = { 0, 1, 2, 3, 4, 5 };
    const int64_t dims[] = { 3, 2 }, transposed[] = { 4, 12 }, backwards[] = { -8, 4 },
                  broadcast[] = { 0, 4 };
    float got[6];
    PJRT_Buffer *b = send(0, data, 2, dims, transposed);
    CHECK_STR(receive(b, got, sizeof got), "");
    CHECK(got[0] == 0 && got[1] == 3 && got[2] == 1 && got[5] == 5);
    destroy(b);
    b = send(1, data + 4, 2, dims, backwards);
    CHECK_STR(receive(b, got, sizeof got), "");
    CHECK(got[0] == 4 && got[1] == 5 && got[4] == 0);
    CHECK(strstr(receive(b, got, 20), "needs 24 bytes on the host; there are 20") != NULL);
    destroy(b);
    b = send(1, data, 2, dims, broadcast);
    CHECK_STR(receive(b, got, sizeof got), "");
    CHECK(got[0] == 0 && got[2] == 0 && got[5] == 1);
    destroy(b);
}

/* A view of the memory keeps it through deletion; no new buffer gets it. */
static void test_views(void)
{
    const float data[2] = { 7, 8 };
    const int64_t dims[] = { 2 };
    PJRT_Buffer *b = send(0, data, 1, dims, NULL);
    PJRT_Buffer_IncreaseExternalReferenceCount_Args more =
        ARGS(Buffer_IncreaseExternalReferenceCount, .buffer = b);
    PJRT_Buffer_OpaqueDeviceMemoryDataPointer_Args at =
        ARGS(Buffer_OpaqueDeviceMemoryDataPointer, .buffer = b);
    OK(api->PJRT_Buffer_IncreaseExternalReferenceCount(&more));
    OK(api->PJRT_Buffer_OpaqueDeviceMemoryDataPointer(&at));
    PJRT_Buffer_Delete_Args gone = ARGS(Buffer_Delete, .buffer = b);
    PJRT_Buffer_IsDeleted_Args is_gone = ARGS(Buffer_IsDeleted, .buffer = b);
    OK(api->PJRT_Buffer_Delete(&gone));
    OK(api->PJRT_Buffer_IsDeleted(&is_gone));
    CHECK(is_gone.is_deleted);
    CHECK(((float *)at.device_memory_ptr)[1] == 8);
    float got[2];
    CHECK(strstr(receive(b, got, sizeof got), "deleted") != NULL);
    PJRT_Buffer_ReadyEvent_Args ready = ARGS(Buffer_ReadyEvent, .buffer = b);
    OK(api->PJRT_Buffer_ReadyEvent(&ready));
    CHECK(strstr(await(ready.event), "deleted") != NULL);
    PJRT_Buffer_DecreaseExternalReferenceCount_Args less =
        ARGS(Buffer_DecreaseExternalReferenceCount, .buffer = b);
    OK(api->PJRT_Buffer_DecreaseExternalReferenceCount(&less));
    destroy(b);
}

static void count_call(void *data, void *user)
{
    (void)data;
    ++*(int *)user;
}

static void test_foreign_memory(void)
{
    float data[2] = { 1, 2 };
    const int64_t dims[] = { 2 };
    int calls = 0;
    PJRT_Client_CreateViewOfDeviceBuffer_Args args =
        ARGS(Client_CreateViewOfDeviceBuffer, .client = client, .device_buffer_ptr = data,
             .dims = dims, .num_dims = 1, .element_type = PJRT_Buffer_Type_F32, .device = device(0),
             .on_delete_callback = count_call, .on_delete_callback_arg = &calls);
    OK(api->PJRT_Client_CreateViewOfDeviceBuffer(&args));
    PJRT_Buffer_UnsafePointer_Args at = ARGS(Buffer_UnsafePointer, .buffer = args.buffer);
    OK(api->PJRT_Buffer_UnsafePointer(&at));
    CHECK(at.buffer_pointer == (uintptr_t)data && calls == 0);
    destroy(args.buffer);
    CHECK(calls == 1);
}

/* What code could not read as it stands is refused, and stays its owner's. */
static void test_foreign_layouts(void)
{
    float data[7] = { 0, 1, 2, 3, 4, 5, 6 };
    const int64_t dims[] = { 2, 3 }, column[] = { 3, 1 }, turned[] = { 0, 1 };
    int calls = 0;
    PJRT_Buffer_MemoryLayout layout = { .type = PJRT_Buffer_MemoryLayout_Type_Tiled,
                                        .tiled = { .minor_to_major = turned,
                                                   .minor_to_major_size = 2 } };
    PJRT_Client_CreateViewOfDeviceBuffer_Args args = ARGS(
        Client_CreateViewOfDeviceBuffer, .client = client, .device_buffer_ptr = data, .dims = dims,
        .num_dims = 2, .element_type = PJRT_Buffer_Type_F32, .layout = &layout, .device = device(0),
        .on_delete_callback = count_call, .on_delete_callback_arg = &calls);
    CHECK_STR(message_of(api->PJRT_Client_CreateViewOfDeviceBuffer(&args)),
              "not supported: a view of f32[2,3] in a layout that is not row-major");
    args.layout = NULL;
    args.device_buffer_ptr = (char *)data + 2;
    CHECK(strstr(message_of(api->PJRT_Client_CreateViewOfDeviceBuffer(&args)),
                 "between two elements"));
    CHECK(calls == 0);
    args.layout = &layout; /* one column: the order of its dimensions does not matter */
    args.dims = column;
    args.device_buffer_ptr = data + 1;
    OK(api->PJRT_Client_CreateViewOfDeviceBuffer(&args));
    float got[3] = { 0 };
    CHECK_STR(receive(args.buffer, got, sizeof got), "");
    CHECK(got[0] == 1 && got[2] == 3);
    destroy(args.buffer);
    CHECK(calls == 1);
}

static void test_failed_buffer(void)
{
    const int64_t dims[] = { 2 };
    PJRT_Device_DefaultMemory_Args memory = ARGS(Device_DefaultMemory, .device = device(0));
    OK(api->PJRT_Device_DefaultMemory(&memory));
    PJRT_Client_CreateErrorBuffer_Args args = ARGS(
        Client_CreateErrorBuffer, .client = client, .error_code = PJRT_Error_Code_DATA_LOSS,
        .error_message = "lost it", .error_message_size = 7, .shape_dims = dims,
        .shape_num_dims = 1, .shape_element_type = PJRT_Buffer_Type_F32, .memory = memory.memory);
    OK(api->PJRT_Client_CreateErrorBuffer(&args));
    float got[2];
    CHECK_STR(receive(args.buffer, got, sizeof got), "lost it");
    destroy(args.buffer);
}

/* Each of two devices holds a row and negates it, in a roundabout way. */
static const char program[] =
    "module @rows attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 1 : i32} {\n"
    "  sdy.mesh @m = <[\"i\"=2]>\n"
    "  func.func public @main(%x: tensor<2x3xf32> {sdy.sharding = #sdy.sharding<@m, [{\"i\"}, "
    "{}]>})"
    " -> (tensor<2x3xf32> {sdy.sharding = #sdy.sharding<@m, [{\"i\"}, {}]>}) {\n"
    "    %y = stablehlo.negate %x : tensor<2x3xf32>\n"
    "    %e = chlo.erf %y : tensor<2x3xf32> -> tensor<2x3xf32>\n"
    "    %s = stablehlo.sign %e : tensor<2x3xf32>\n"
    "    %a = stablehlo.abs %y : tensor<2x3xf32>\n"
    "    %z = stablehlo.multiply %s, %a : tensor<2x3xf32>\n"
    "    return %z : tensor<2x3xf32>\n"
    "  }\n"
    "}\n";

static PJRT_Error *compile(const char *text, const char *format, PJRT_LoadedExecutable **out)
{
    PJRT_Program p = { .struct_size = PJRT_Program_SIZE,
                       .code = (char *)text,
                       .code_size = strlen(text),
                       .format = format,
                       .format_size = strlen(format) };
    PJRT_Client_Compile_Args args = ARGS(Client_Compile, .client = client, .program = &p);
    PJRT_Error *error = api->PJRT_Client_Compile(&args);
    *out = args.executable;
    return error;
}

static void check_layouts(const PJRT_Layouts_Extension *x, PJRT_Executable *executable)
{
    PJRT_Layouts_PJRT_Executable_GetOutputLayouts_Args of = {
        .struct_size = PJRT_Layouts_PJRT_Executable_GetOutputLayouts_Args_SIZE,
        .executable = executable,
    };
    OK(x->PJRT_Layouts_PJRT_Executable_GetOutputLayouts(&of));
    CHECK(of.num_outputs == 1);
    PJRT_Layouts_MemoryLayout_Serialize_Args text = {
        .struct_size = PJRT_Layouts_MemoryLayout_Serialize_Args_SIZE,
        .layout = of.layouts[0],
    };
    OK(x->PJRT_Layouts_MemoryLayout_Serialize(&text));
    CHECK(text.serialized_bytes_size == 5 && memcmp(text.serialized_bytes, "{1,0}", 5) == 0);
    text.serialized_layout_deleter(text.serialized_layout);
}

/* What one device runs, in StableHLO alone; asked for twice, first for its size. */
static void check_text(PJRT_Executable *executable)
{
    PJRT_Program p = { .struct_size = PJRT_Program_SIZE };
    PJRT_Executable_OptimizedProgram_Args args =
        ARGS(Executable_OptimizedProgram, .executable = executable, .program = &p);
    OK(api->PJRT_Executable_OptimizedProgram(&args));
    CHECK(p.format_size == 4 && memcmp(p.format, "mlir", 4) == 0);
    char *text = p.code = calloc(p.code_size + 1, 1);
    OK(api->PJRT_Executable_OptimizedProgram(&args));
    CHECK(strstr(text, "stablehlo.custom_call @chlo.erf("));
    CHECK(strstr(text, "-> tensor<1x3xf32>"));
    CHECK(strstr(text, "mhlo.sharding = ") && !strstr(text, "sdy."));
    p.code_size = 3;
    CHECK(strstr(message_of(api->PJRT_Executable_OptimizedProgram(&args)), "there is room for 3"));
    free(text);
}

/* The handle of an executable is counted: the loaded one may go first. */
static void check_executable(PJRT_LoadedExecutable *loaded)
{
    PJRT_LoadedExecutable_GetExecutable_Args get =
        ARGS(LoadedExecutable_GetExecutable, .loaded_executable = loaded);
    OK(api->PJRT_LoadedExecutable_GetExecutable(&get));
    PJRT_LoadedExecutable_Destroy_Args gone = ARGS(LoadedExecutable_Destroy, .executable = loaded);
    OK(api->PJRT_LoadedExecutable_Destroy(&gone));
    check_text(get.executable);
    for (PJRT_Extension_Base *e = api->extension_start; e; e = e->next) {
        if (e->type == PJRT_Extension_Type_Layouts)
            check_layouts((PJRT_Layouts_Extension *)e, get.executable);
        if (e->type != PJRT_Extension_Type_Shardings)
            continue;
        PJRT_Shardings_PJRT_Executable_OutputShardings_Args args = {
            .struct_size = PJRT_Shardings_PJRT_Executable_OutputShardings_Args_SIZE,
            .executable = get.executable,
        };
        OK(((PJRT_Shardings_Extension *)e)->PJRT_Shardings_PJRT_Executable_OutputShardings(&args));
        CHECK(args.num_outputs == 1 && args.sharding_sizes[0] == 10);
        CHECK(memcmp(args.shardings[0], "\x08\x03\x1a\x02\x02\x01\x22\x02\x00\x01", 10) == 0);
    }
    PJRT_Executable_Destroy_Args end = ARGS(Executable_Destroy, .executable = get.executable);
    OK(api->PJRT_Executable_Destroy(&end));
}

static void test_execute(void)
{
    PJRT_LoadedExecutable *loaded, *again;
    OK(compile(program, "mlir", &loaded));
    const float rows[2][3] = { { 1, 2, 3 }, { 4, 5, 6 } };
    const int64_t dims[] = { 1, 3 };
    PJRT_Buffer *in[2] = { send(0, rows[0], 2, dims, NULL), send(1, rows[1], 2, dims, NULL) };
    PJRT_Buffer *out[2], *const *ins[2] = { &in[0], &in[1] }, **outs[2] = { &out[0], &out[1] };
    PJRT_Event *done[2];
    PJRT_ExecuteOptions options = { .struct_size = PJRT_ExecuteOptions_SIZE };
    PJRT_LoadedExecutable_Execute_Args args = ARGS(
        LoadedExecutable_Execute, .executable = loaded, .options = &options, .argument_lists = ins,
        .num_devices = 2, .num_args = 1, .output_lists = outs, .device_complete_events = done);
    OK(api->PJRT_LoadedExecutable_Execute(&args));
    float got[3];
    for (int d = 0; d < 2; d++) {
        CHECK_STR(await(done[d]), "");
        CHECK_STR(receive(out[d], got, sizeof got), "");
        CHECK(got[0] == -rows[d][0] && got[2] == -rows[d][2]);
        destroy(out[d]);
    }
    args.num_args = 0;
    CHECK_STR(message_of(api->PJRT_LoadedExecutable_Execute(&args)),
              "Execute: 0 arguments for a program that takes 1");
    args.num_args = 1;
    ins[0] = &in[1];
    CHECK(strstr(message_of(api->PJRT_LoadedExecutable_Execute(&args)), "lies on device 1"));
    destroy(in[0]);
    destroy(in[1]);
    OK(compile(program, "mlir", &again)); /* from the cache */
    check_executable(again);
    check_executable(loaded);
    CHECK(strstr(message_of(compile(program, "hlo", &again)), "format 'hlo'"));
    CHECK(strstr(message_of(compile("module {", "mlir", &again)), "program:1"));
}

/* The threads stay with the parent: a child is told, and does not hang. */
static void test_fork(void)
{
    pid_t process = fork();
    if (process == 0) {
        PJRT_LoadedExecutable *loaded;
        alarm(20);
        _exit(strstr(message_of(compile(program, "mlir", &loaded)), "fork") ? 0 : 1);
    }
    int status;
    waitpid(process, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(void)
{
    setenv("TUTTI_DEVICES", "4", 1);
    api = GetPjrtApi();
    test_table();
    PJRT_Client_Create_Args args = ARGS(Client_Create, .num_options = 0);
    OK(api->PJRT_Client_Create(&args));
    client = args.client;
    test_errors();
    test_profiler();
    test_options();
    test_devices();
    test_strides();
    test_views();
    test_foreign_memory();
    test_foreign_layouts();
    test_failed_buffer();
    test_execute();
    test_fork();
    PJRT_Client_Destroy_Args end = ARGS(Client_Destroy, .client = client);
    OK(api->PJRT_Client_Destroy(&end));
    return check_done();
}
