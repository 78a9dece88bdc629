/* abi_fuzz.c - whatever calls come over the table, in any order, each returns.
 *
 * A libFuzzer target.  The input is a list of calls: which function, and for each of its fields
 * a handle that is there, one that is NULL, of another kind or destroyed;
 * sizes that lie; structs that are too short.  At times a second thread makes the calls of the same input on
 * handles of its own, in the same client.  What is new about an input is which function said what. */
#include "engine/plugin/handle_kinds.h"
#include "pjrt/pjrt.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 512, MOST = 64 }; /* bytes of an input; handles of a kind */
enum { NCOUNTERS = 1 << 16 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);
PJRT_GetPjrtApi GetPjrtApi;
static const PJRT_Api *api;

__attribute__((section("__libfuzzer_extra_counters"), used)) static uint8_t counters[NCOUNTERS];

typedef struct Caller {
    const uint8_t *at, *end;
    void *live[KINDS][MOST], *gone[KINDS][MOST];
    int nlive[KINDS], ngone[KINDS];
    PJRT_Client *client;
} Caller;

static unsigned take(Caller *p)
{
    return p->at < p->end ? *p->at++ : 0;
}

static void end_handle(Kind kind, void *handle);

static void add(Caller *p, Kind kind, void *handle)
{
    for (int i = 0; i < p->ngone[kind]; i++) /* its memory is used again */
        if (p->gone[kind][i] == handle)
            p->gone[kind][i--] = p->gone[kind][--p->ngone[kind]];
    if (handle && p->nlive[kind] < MOST)
        p->live[kind][p->nlive[kind]++] = handle;
    else
        end_handle(kind, handle); /* enough of them */
}

/* Mostly what is right. */
static void *pick(Caller *p, Kind kind)
{
    kind = kind == PLACED ? BUFFER : kind;
    unsigned how = take(p), which = take(p);
    if (how < 12)
        return NULL;
    if (how < 24 && p->ngone[kind])
        return p->gone[kind][which % (unsigned)p->ngone[kind]];
    if (how < 36 && kind != ERROR)
        kind = (Kind[]){ EVENT, BUFFER, EXECUTABLE, LOADED, CLIENT, DEVICE, MEMORY }[which % 7];
    return p->nlive[kind] ? p->live[kind][which % (unsigned)p->nlive[kind]] : NULL;
}

/* ---- what was said ---- */

static void note(const char *function, const char *message)
{
    uint32_t hash = 1;
    for (const char *c = function; *c; c++)
        hash = hash * 31 + (unsigned char)*c;
    for (const char *c = message; *c; c++)
        if (*c < '0' || *c > '9')
            hash = hash * 31 + (unsigned char)*c;
    counters[hash * 2654435761u >> 16] = 1;
}

/* True: it went well. */
static bool ended(const char *function, PJRT_Error *error)
{
    if (!error) {
        note(function, "");
        return true;
    }
    PJRT_Error_Message_Args message = { .struct_size = PJRT_Error_Message_Args_SIZE,
                                        .error = error };
    api->PJRT_Error_Message(&message);
    char text[256];
    snprintf(text, sizeof text, "%.*s", (int)message.message_size, message.message);
    note(function, text);
    PJRT_Error_Destroy_Args destroy = { .struct_size = PJRT_Error_Destroy_Args_SIZE,
                                        .error = error };
    api->PJRT_Error_Destroy(&destroy);
    return false;
}

/* ---- functions that take handles and tell something ---- */

#define SIZE(name) (take(p) % 8 ? PJRT_##name##_Args_SIZE : take(p) % (PJRT_##name##_Args_SIZE + 1))
#define ASK(name, ...)                                                                             \
    static void ask_##name(Caller *p)                                                              \
    {                                                                                              \
        PJRT_##name##_Args args = { .struct_size = SIZE(name) };                                   \
        __VA_ARGS__                                                                                \
        ended(#name, api->PJRT_##name(&args));                                                     \
    }

/* What the client, its devices and descriptions answer; and what nobody supports. */
/* clang-format off */
#define ASKED                                                                                      \
    QUERY(Client_PlatformName, client, CLIENT) QUERY(Client_ProcessIndex, client, CLIENT)          \
    QUERY(Client_PlatformVersion, client, CLIENT) QUERY(Client_Devices, client, CLIENT)            \
    QUERY(Client_AddressableDevices, client, CLIENT)                                               \
    QUERY(Client_AddressableMemories, client, CLIENT)                                              \
    QUERY(Client_TopologyDescription, client, CLIENT)                                              \
    QUERY(DeviceDescription_Id, device_description, DESCRIPTION)                                   \
    QUERY(DeviceDescription_DebugString, device_description, DESCRIPTION)                          \
    QUERY(DeviceDescription_ToString, device_description, DESCRIPTION)                             \
    QUERY(DeviceDescription_Kind, device_description, DESCRIPTION)                                 \
    QUERY(Device_GetDescription, device, DEVICE) QUERY(Device_LocalHardwareId, device, DEVICE)     \
    QUERY(Device_AddressableMemories, device, DEVICE) QUERY(Device_DefaultMemory, device, DEVICE)  \
    QUERY(Device_MemoryStats, device, DEVICE) QUERY(Device_GetAttributes, device, DEVICE)          \
    QUERY(Memory_Id, memory, MEMORY) QUERY(Memory_DebugString, memory, MEMORY)                     \
    QUERY(Memory_AddressableByDevices, memory, MEMORY) QUERY(Memory_Kind_Id, memory, MEMORY)       \
    QUERY(Executable_Name, executable, EXECUTABLE)                                                 \
    QUERY(Executable_NumOutputs, executable, EXECUTABLE)                                           \
    QUERY(Executable_GetCostAnalysis, executable, EXECUTABLE)                                      \
    QUERY(Executable_OutputElementTypes, executable, EXECUTABLE)                                   \
    QUERY(Executable_OutputDimensions, executable, EXECUTABLE)                                     \
    QUERY(Executable_OutputMemoryKinds, executable, EXECUTABLE)                                    \
    QUERY(Executable_GetCompiledMemoryStats, executable, EXECUTABLE)                               \
    QUERY(Executable_GetCompileOptions, executable, EXECUTABLE)                                    \
    QUERY(Executable_Fingerprint, executable, EXECUTABLE)                                          \
    QUERY(LoadedExecutable_AddressableDevices, executable, LOADED)                                 \
    QUERY(LoadedExecutable_AddressableDeviceLogicalIds, executable, LOADED)                        \
    QUERY(LoadedExecutable_GetDeviceAssignment, executable, LOADED)                                \
    QUERY(LoadedExecutable_IsDeleted, executable, LOADED)                                          \
    QUERY(LoadedExecutable_Fingerprint, executable, LOADED)                                        \
    QUERY(Buffer_ElementType, buffer, BUFFER) QUERY(Buffer_Dimensions, buffer, BUFFER)             \
    QUERY(Buffer_UnpaddedDimensions, buffer, BUFFER)                                               \
    QUERY(Buffer_DynamicDimensionIndices, buffer, BUFFER)                                          \
    QUERY(Buffer_GetMemoryLayout, buffer, BUFFER)                                                  \
    QUERY(Buffer_OnDeviceSizeInBytes, buffer, BUFFER) QUERY(Buffer_Device, buffer, PLACED)         \
    QUERY(Buffer_Memory, buffer, PLACED) QUERY(Buffer_Delete, buffer, BUFFER)                      \
    QUERY(Buffer_IsDeleted, buffer, BUFFER) QUERY(Buffer_IsOnCpu, buffer, BUFFER)                  \
    QUERY(Buffer_UnsafePointer, buffer, PLACED)                                                    \
    QUERY(Buffer_OpaqueDeviceMemoryDataPointer, buffer, PLACED)                                    \
    QUERY(Event_IsReady, event, EVENT)                                                             \
    QUERY(TopologyDescription_GetDeviceDescriptions, topology, TOPOLOGY)                           \
    QUERY(TopologyDescription_Fingerprint, topology, TOPOLOGY)                                     \
    QUERY(TopologyDescription_PlatformName, topology, TOPOLOGY)                                    \
    QUERY(Client_DmaMap, client, CLIENT) QUERY(Client_Load, client, CLIENT)                        \
    QUERY(Buffer_Bitcast, buffer, BUFFER)
/* clang-format on */
#define QUERY(name, field, kind) ASK(name, args.field = pick(p, kind);)
ASKED
#undef QUERY

/* ---- functions that make or end handles ---- */

static void on_ready(PJRT_Error *error, void *user)
{
    (void)user;
    ended("a callback", error);
}

static void event_calls(Caller *p)
{
    PJRT_Event_Create_Args create = { .struct_size = SIZE(Event_Create) };
    PJRT_Event_Set_Args set = { .struct_size = SIZE(Event_Set),
                                .error_code = (PJRT_Error_Code)(take(p) % 20),
                                .error_message = take(p) % 4 ? "as wished" : NULL,
                                .error_message_size = take(p) % 10 };
    PJRT_Event_OnReady_Args on = { .struct_size = SIZE(Event_OnReady),
                                   .callback = take(p) % 8 ? on_ready : NULL };
    PJRT_Event_Error_Args error = { .struct_size = SIZE(Event_Error) };
    switch (take(p) % 4) {
    case 0:
        if (ended("Event_Create", api->PJRT_Event_Create(&create)))
            add(p, EVENT, create.event);
        return;
    case 1:
        set.event = pick(p, EVENT);
        ended("Event_Set", api->PJRT_Event_Set(&set));
        return;
    case 2:
        on.event = pick(p, EVENT);
        ended("Event_OnReady", api->PJRT_Event_OnReady(&on));
        return;
    default: error.event = pick(p, EVENT); ended("Event_Error", api->PJRT_Event_Error(&error));
    }
}

static void make_buffer(Caller *p)
{
    static float data[64];
    int64_t dims[3] = { take(p) % 5, take(p) % 3, (int64_t)take(p) - 2 }, strides[3] = { 4, 4, 4 };
    if (take(p) % 16 == 0)
        dims[take(p) % 3] = INT64_MAX >> take(p) % 60;
    bool lies = take(p) % 8 == 0;
    size_t rank = lies ? take(p) * SIZE_MAX / 7 : take(p) % 3;
    PJRT_Client_BufferFromHostBuffer_Args args = {
        .struct_size = SIZE(Client_BufferFromHostBuffer),
        .client = pick(p, CLIENT),
        .data = take(p) % 8 ? data : NULL,
        .type = (PJRT_Buffer_Type)(take(p) % 8 ? 11 : take(p)),
        .dims = take(p) % 8 ? dims : NULL,
        .num_dims = rank,
        .byte_strides = take(p) % 4 ? NULL : strides,
        .num_byte_strides = take(p) % 4 ? 0 : rank,
        .device = pick(p, DEVICE),
        .memory = take(p) % 4 ? NULL : pick(p, MEMORY)
    };
    bool is_large = dims[0] > 8 || dims[1] > 8; /* it would be read */
    if (rank <= 2 && is_large && args.data)
        return;
    if (ended("Client_BufferFromHostBuffer", api->PJRT_Client_BufferFromHostBuffer(&args))) {
        add(p, BUFFER, args.buffer);
        PJRT_Event_Destroy_Args destroy = { .struct_size = PJRT_Event_Destroy_Args_SIZE,
                                            .event = args.done_with_host_buffer };
        ended("Event_Destroy", api->PJRT_Event_Destroy(&destroy));
    }
}

static void make_empty_buffer(Caller *p)
{
    int64_t dims[2] = { take(p) % 9, take(p) % 3 };
    PJRT_Client_CreateUninitializedBuffer_Args plain = { .struct_size =
                                                             SIZE(Client_CreateUninitializedBuffer),
                                                         .client = pick(p, CLIENT),
                                                         .shape_dims = take(p) % 8 ? dims : NULL,
                                                         .shape_num_dims = take(p) % 3,
                                                         .shape_element_type =
                                                             (PJRT_Buffer_Type)(take(p) % 40),
                                                         .device = pick(p, DEVICE) };
    PJRT_Client_CreateErrorBuffer_Args failed = { .struct_size = SIZE(Client_CreateErrorBuffer),
                                                  .client = pick(p, CLIENT),
                                                  .error_code = (PJRT_Error_Code)(1 + take(p) % 16),
                                                  .error_message = "it failed",
                                                  .error_message_size = take(p) % 10,
                                                  .shape_dims = dims,
                                                  .shape_num_dims = take(p) % 3,
                                                  .shape_element_type = PJRT_Buffer_Type_F32,
                                                  .memory = pick(p, MEMORY) };
    if (take(p) % 2) {
        if (ended("Client_CreateErrorBuffer", api->PJRT_Client_CreateErrorBuffer(&failed)))
            add(p, BUFFER, failed.buffer);
    } else if (ended("Client_CreateUninitializedBuffer",
                     api->PJRT_Client_CreateUninitializedBuffer(&plain))) {
        add(p, BUFFER, plain.buffer);
    }
}

static void copy_buffer(Caller *p)
{
    PJRT_Buffer_CopyToDevice_Args args = { .struct_size = SIZE(Buffer_CopyToDevice),
                                           .buffer = pick(p, BUFFER),
                                           .dst_device = pick(p, DEVICE) };
    if (ended("Buffer_CopyToDevice", api->PJRT_Buffer_CopyToDevice(&args)))
        add(p, BUFFER, args.dst_buffer);
}

static void await_and_destroy(PJRT_Event *event)
{
    PJRT_Event_Await_Args await = { .struct_size = PJRT_Event_Await_Args_SIZE, .event = event };
    ended("Event_Await", api->PJRT_Event_Await(&await));
    PJRT_Event_Destroy_Args destroy = { .struct_size = PJRT_Event_Destroy_Args_SIZE,
                                        .event = event };
    ended("Event_Destroy", api->PJRT_Event_Destroy(&destroy));
}

static void read_buffer(Caller *p)
{
    char to[1024];
    PJRT_Buffer_ToHostBuffer_Args args = { .struct_size = SIZE(Buffer_ToHostBuffer),
                                           .src = pick(p, BUFFER),
                                           .dst = take(p) % 4 ? to : NULL,
                                           .dst_size = take(p) % 8 ? sizeof to : take(p) };
    if (ended("Buffer_ToHostBuffer", api->PJRT_Buffer_ToHostBuffer(&args)) && args.dst)
        await_and_destroy(args.event);
    PJRT_Buffer_ReadyEvent_Args ready = { .struct_size = PJRT_Buffer_ReadyEvent_Args_SIZE,
                                          .buffer = pick(p, BUFFER) };
    if (ended("Buffer_ReadyEvent", api->PJRT_Buffer_ReadyEvent(&ready)))
        await_and_destroy(ready.event);
}

static const char *const programs[] = {
    "func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
    "%y = stablehlo.add %x, %x : tensor<4xf32>\nreturn %y : tensor<4xf32>\n}\n",
    "module attributes {mhlo.num_replicas = 2 : i32} {\n"
    "func.func public @main(%x: tensor<4xf32> {tf.aliasing_output = 0 : i32}) -> tensor<4xf32> {\n"
    "%y = \"stablehlo.all_reduce\"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({\n"
    "^bb0(%a: tensor<f32>, %b: tensor<f32>):\n%c = stablehlo.add %a, %b : tensor<f32>\n"
    "stablehlo.return %c : tensor<f32>\n}) : (tensor<4xf32>) -> tensor<4xf32>\n"
    "return %y : tensor<4xf32>\n}\n}\n",
    "func.func public @main() -> tensor<f32> {\nnonsense\n}\n",
};

static void compile(Caller *p)
{
    unsigned which = take(p) % 3;
    char *code = strdup(programs[which]);
    PJRT_Program program = { .struct_size = PJRT_Program_SIZE,
                             .code = take(p) % 16 ? code : NULL,
                             .code_size = take(p) % 16 ? strlen(code) : take(p) % 20,
                             .format = take(p) % 16 ? "mlir" : NULL,
                             .format_size = take(p) % 16 ? 4 : take(p) % 5 };
    PJRT_Client_Compile_Args args = { .struct_size = SIZE(Client_Compile),
                                      .client = pick(p, CLIENT),
                                      .program = take(p) % 16 ? &program : NULL,
                                      .compile_options_size = take(p) % 16 ? 0 : take(p) };
    if (ended("Client_Compile", api->PJRT_Client_Compile(&args)))
        add(p, LOADED, args.executable);
    free(code);
}

static void execute(Caller *p)
{
    PJRT_Buffer *in[2][1] = { { pick(p, BUFFER) }, { pick(p, BUFFER) } }, *out[2][1] = { 0 };
    PJRT_Buffer *const *ins[2] = { take(p) % 16 ? in[0] : NULL, in[1] };
    PJRT_Buffer **outs[2] = { take(p) % 16 ? out[0] : NULL, out[1] };
    PJRT_Event *done[2] = { 0 };
    int64_t kept[1] = { (int64_t)take(p) % 4 - 1 };
    PJRT_ExecuteOptions options = { .struct_size = PJRT_ExecuteOptions_SIZE,
                                    .non_donatable_input_indices = take(p) % 8 ? kept : NULL,
                                    .num_non_donatable_input_indices = take(p) % 4 == 0 };
    PJRT_LoadedExecutable_Execute_Args args = { .struct_size = SIZE(LoadedExecutable_Execute),
                                                .executable = pick(p, LOADED),
                                                .options = take(p) % 8 ? &options : NULL,
                                                .argument_lists = take(p) % 16 ? ins : NULL,
                                                .num_devices =
                                                    take(p) % 8 ? 1 + take(p) % 2 : take(p),
                                                .num_args = take(p) % 8 ? 1 : take(p),
                                                .output_lists = take(p) % 16 ? outs : NULL,
                                                .device_complete_events = done,
                                                .execute_device =
                                                    take(p) % 4 ? NULL : pick(p, DEVICE) };
    if (!ended("LoadedExecutable_Execute", api->PJRT_LoadedExecutable_Execute(&args)))
        return;
    for (int d = 0; d < 2; d++) {
        if (out[d][0])
            add(p, BUFFER, out[d][0]);
        if (done[d])
            await_and_destroy(done[d]);
    }
}

static void get_executable(Caller *p)
{
    PJRT_LoadedExecutable_GetExecutable_Args args = { .struct_size =
                                                          SIZE(LoadedExecutable_GetExecutable),
                                                      .loaded_executable = pick(p, LOADED) };
    if (ended("LoadedExecutable_GetExecutable", api->PJRT_LoadedExecutable_GetExecutable(&args)))
        add(p, EXECUTABLE, args.executable);
}

static void make_context(Caller *p)
{
    PJRT_ExecuteContext_Create_Args args = { .struct_size = SIZE(ExecuteContext_Create) };
    if (ended("ExecuteContext_Create", api->PJRT_ExecuteContext_Create(&args)))
        add(p, CONTEXT, args.context);
}

/* Counts of views stay within what this caller made: what is viewed is not ours to free. */
static void view_buffer(Caller *p)
{
    void *buffer = pick(p, BUFFER);
    PJRT_Buffer_IncreaseExternalReferenceCount_Args more = {
        .struct_size = SIZE(Buffer_IncreaseExternalReferenceCount), .buffer = buffer
    };
    PJRT_Buffer_DecreaseExternalReferenceCount_Args less = {
        .struct_size = PJRT_Buffer_DecreaseExternalReferenceCount_Args_SIZE, .buffer = buffer
    };
    if (ended("Buffer_IncreaseExternalReferenceCount",
              api->PJRT_Buffer_IncreaseExternalReferenceCount(&more)))
        ended("Buffer_DecreaseExternalReferenceCount",
              api->PJRT_Buffer_DecreaseExternalReferenceCount(&less));
}

#define END(name, field, handle)                                                                   \
    do {                                                                                           \
        PJRT_##name##_Args args = { .struct_size = PJRT_##name##_Args_SIZE, .field = handle };     \
        ended(#name, api->PJRT_##name(&args));                                                     \
    } while (0)

static void end_handle(Kind kind, void *handle)
{
    switch (kind) {
    case EVENT: END(Event_Destroy, event, handle); break;
    case BUFFER: END(Buffer_Destroy, buffer, handle); break;
    case EXECUTABLE: END(Executable_Destroy, executable, handle); break;
    case LOADED: END(LoadedExecutable_Destroy, executable, handle); break;
    case CONTEXT: END(ExecuteContext_Destroy, context, handle); break;
    default: break;
    }
}

static const Kind ended_kinds[] = { EVENT, BUFFER, EXECUTABLE, LOADED, CONTEXT };

static void end_last(Caller *p, Kind kind)
{
    void *handle = p->live[kind][--p->nlive[kind]];
    if (p->ngone[kind] < MOST)
        p->gone[kind][p->ngone[kind]++] = handle;
    end_handle(kind, handle);
}

/* One that is there, one that is gone already, or one of another kind. */
static void end_one(Caller *p)
{
    Kind kind = ended_kinds[take(p) % 5];
    unsigned how = take(p);
    if (how < 32 && p->ngone[kind])
        end_handle(kind, p->gone[kind][how % (unsigned)p->ngone[kind]]);
    else if (how < 64)
        end_handle(kind, p->client);
    else if (p->nlive[kind])
        end_last(p, kind);
}

typedef void Step(Caller *p);
static Step *const steps[] = {
#define QUERY(name, field, kind) ask_##name,
    ASKED
#undef QUERY
};
static Step *const makers[] = { event_calls, make_buffer, make_empty_buffer, copy_buffer,
                                read_buffer, execute,     get_executable,    make_context,
                                view_buffer, end_one,     make_buffer,       execute };

static void *make_calls(void *user)
{
    Caller *p = user;
    while (p->at < p->end) {
        unsigned which = take(p);
        if (which == 255)
            compile(p);
        else if (which < 96)
            steps[which % (sizeof steps / sizeof *steps)](p);
        else
            makers[which % (sizeof makers / sizeof *makers)](p);
    }
    for (int k = 0; k < 5; k++)
        while (p->nlive[ended_kinds[k]])
            end_last(p, ended_kinds[k]);
    return NULL;
}

/* The client's own, known to all. */
static void begin(Caller *p, PJRT_Client *client, const uint8_t *bytes, size_t n)
{
    *p = (Caller){ .at = bytes, .end = bytes + n, .client = client };
    add(p, CLIENT, client);
    PJRT_Client_Devices_Args devices = { .struct_size = PJRT_Client_Devices_Args_SIZE,
                                         .client = client };
    ended("Client_Devices", api->PJRT_Client_Devices(&devices));
    for (size_t i = 0; i < devices.num_devices; i++) {
        add(p, DEVICE, devices.devices[i]);
        PJRT_Device_DefaultMemory_Args memory = { .struct_size =
                                                      PJRT_Device_DefaultMemory_Args_SIZE,
                                                  .device = devices.devices[i] };
        ended("Device_DefaultMemory", api->PJRT_Device_DefaultMemory(&memory));
        add(p, MEMORY, memory.memory);
        PJRT_Device_GetDescription_Args description = { .struct_size =
                                                            PJRT_Device_GetDescription_Args_SIZE,
                                                        .device = devices.devices[i] };
        ended("Device_GetDescription", api->PJRT_Device_GetDescription(&description));
        add(p, DESCRIPTION, description.device_description);
    }
    PJRT_Client_TopologyDescription_Args topology = { .struct_size =
                                                          PJRT_Client_TopologyDescription_Args_SIZE,
                                                      .client = client };
    ended("Client_TopologyDescription", api->PJRT_Client_TopologyDescription(&topology));
    add(p, TOPOLOGY, topology.topology);
}

static void load_programs(Caller *p)
{
    for (int i = 0; i < 2; i++) {
        PJRT_Program program = { .struct_size = PJRT_Program_SIZE,
                                 .code = (char *)programs[i],
                                 .code_size = strlen(programs[i]),
                                 .format = "mlir",
                                 .format_size = 4 };
        PJRT_Client_Compile_Args args = { .struct_size = PJRT_Client_Compile_Args_SIZE,
                                          .client = p->client,
                                          .program = &program };
        if (ended("Client_Compile", api->PJRT_Client_Compile(&args)))
            add(p, LOADED, args.executable);
    }
}

/* One client for many inputs; kept alive, so that programs stay compiled. */
static PJRT_Client *shared_client(void)
{
    static PJRT_Client *client;
    static Caller keeper;
    if (client)
        return client;
    setenv("TUTTI_DEVICES", "2", 1);
    setenv("TUTTI_DEVICE_MEMORY", "16M", 1);
    api = GetPjrtApi();
    PJRT_Client_Create_Args args = { .struct_size = PJRT_Client_Create_Args_SIZE };
    if (!ended("Client_Create", api->PJRT_Client_Create(&args)))
        abort();
    client = args.client;
    begin(&keeper, client, NULL, 0);
    load_programs(&keeper);
    return client;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static Caller callers[2];
    if (n > LONGEST || n < 2)
        return -1;
    PJRT_Client *client = shared_client();
    int ncallers = bytes[0] % 8 == 0 ? 2 : 1;
    for (int i = 0; i < ncallers; i++) {
        begin(&callers[i], client, bytes + 1, n - 1);
        load_programs(&callers[i]);
    }
    pthread_t other;
    bool has_other = ncallers == 2 && !pthread_create(&other, NULL, make_calls, &callers[1]);
    make_calls(&callers[0]);
    if (has_other)
        pthread_join(other, NULL);
    return 0;
}
