/* client.c - one PJRT client for the process: what every other file asks of the devices.
 *
 *     compile   StableHLO text, devices   ->  Executable
 *     upload    host memory, device       ->  PJRT_Buffer
 *     execute   buffers [device][arg]     ->  buffers [device][result]
 *     download  PJRT_Buffer               ->  host memory
 *
 * Which plugin, and how it is made to start, is plugin.c's. */
#include "front/run/client.h"

#include "base/guard.h"
#include "front/run/plugin.h"

#include <stdlib.h>
#include <string.h>

struct Executable {
    PJRT_LoadedExecutable *loaded;
    int ndevices, nargs, nresults;
};

/* A call for which nothing can be done when it fails: giving something back. */
#define LET_GO(name, args) error_free(CALL(name, args))

int client_device_count(void)
{
    return plugin.ndevices;
}

const char *client_device_name(int device)
{
    return plugin.names[device];
}

Error *client_define(const char *name, TuttiFunction *f, void *user)
{
    if (!plugin.extension)
        return error_new(CODE_UNIMPLEMENTED,
                         "tt_define_call: %s is another's plugin: only Tutti's own engine can call "
                         "%s",
                         plugin.path, name);
    if (plugin.extension->base.struct_size < sizeof *plugin.extension)
        return error_new(CODE_UNIMPLEMENTED,
                         "tt_define_call: the engine %s is older than this library", plugin.path);
    if (!plugin.extension->add_call(name, strlen(name), f, user))
        return error_new(CODE_EXHAUSTED, "tt_define_call: no memory in the engine for %s", name);
    return NULL;
}

static Error *await(PJRT_Event *event)
{
    if (!event)
        return NULL;
    PJRT_Event_Await_Args args = ARGS(Event_Await, .event = event);
    Error *error = CALL(Event_Await, &args);
    PJRT_Event_Destroy_Args destroy = ARGS(Event_Destroy, .event = event);
    LET_GO(Event_Destroy, &destroy);
    return error;
}

/* ---- Compile options: a protobuf, as far as they need one. */

static void put_varint(Text *p, uint64_t v)
{
    for (; v > 127; v >>= 7)
        text_add(p, &(char){ (char)(v | 128) }, 1);
    text_add(p, &(char){ (char)v }, 1);
}

static void put_int(Text *p, int field, int64_t v)
{
    put_varint(p, (uint64_t)field << 3);
    put_varint(p, (uint64_t)v);
}

/* Ends inner. */
static void put_message(Text *p, int field, Text *inner)
{
    put_varint(p, (uint64_t)field << 3 | 2);
    put_varint(p, inner->n);
    text_add(p, inner->at, inner->n);
    text_free(inner);
}

/* CompileOptionsProto: one replica of n partitions, on these devices in this order. */
typedef struct Options {
    int ndevices;
    const int *devices;
    Text text;
} Options;

static void compile_options(void *user)
{
    Options *options = user;
    int n = options->ndevices;
    Text assignment = { 0 }, build = { 0 };
    put_int(&assignment, 1, 1); /* replica_count */
    put_int(&assignment, 2, n); /* computation_count */
    for (int i = 0; i < n; i++) {
        Text ids = { 0 };
        put_int(&ids, 1, plugin.ids[options->devices[i]]);
        put_message(&assignment, 3, &ids); /* computation_devices */
    }
    put_int(&build, 1, -1); /* device_ordinal */
    put_int(&build, 4, 1);  /* num_replicas */
    put_int(&build, 5, n);  /* num_partitions */
    put_int(&build, 6, 1);  /* use_spmd_partitioning */
    put_message(&build, 9, &assignment);
    put_int(&build, 19, 1); /* use_shardy_partitioner */
    put_message(&options->text, 3, &build);
}

static void end_loaded(PJRT_LoadedExecutable *loaded)
{
    PJRT_LoadedExecutable_Destroy_Args args = ARGS(LoadedExecutable_Destroy, .executable = loaded);
    LET_GO(LoadedExecutable_Destroy, &args);
}

Error *client_compile(Str stablehlo_text, int ndevices, const int *devices, int nargs, int nresults,
                      Executable **out)
{
    Options options = { ndevices, devices, { 0 } };
    TRY(guard_run_in(NULL, "the options of a compilation", compile_options, &options));
    PJRT_Program program = { .struct_size = PJRT_Program_SIZE,
                             .code = (char *)stablehlo_text.at,
                             .code_size = stablehlo_text.n,
                             .format = "mlir",
                             .format_size = 4 };
    PJRT_Client_Compile_Args args =
        ARGS(Client_Compile, .client = plugin.client, .program = &program,
             .compile_options = options.text.at, .compile_options_size = options.text.n);
    Error *error = CALL(Client_Compile, &args);
    text_free(&options.text);
    if (error)
        return error;
    Executable *e = malloc(sizeof *e);
    if (!e) {
        end_loaded(args.executable);
        return error_new(CODE_EXHAUSTED, "no memory on the host for an executable");
    }
    *e = (Executable){ args.executable, ndevices, nargs, nresults };
    *out = e;
    return NULL;
}

void client_end(Executable *e)
{
    end_loaded(e->loaded);
    free(e);
}

Error *client_execute(Executable *e, PJRT_Buffer *const *const *args, PJRT_Buffer **const *results,
                      int nkept, const int64_t *kept)
{
    PJRT_ExecuteOptions options = { .struct_size = PJRT_ExecuteOptions_SIZE,
                                    .non_donatable_input_indices = kept,
                                    .num_non_donatable_input_indices = (size_t)nkept };
    PJRT_LoadedExecutable_Execute_Args call =
        ARGS(LoadedExecutable_Execute, .executable = e->loaded, .options = &options,
             .argument_lists = args, .num_devices = (size_t)e->ndevices,
             .num_args = (size_t)e->nargs, .output_lists = results);
    return CALL(LoadedExecutable_Execute, &call);
}

Error *client_upload(Type type, const void *data, int device, PJRT_Buffer **out)
{
    PJRT_Client_BufferFromHostBuffer_Args args =
        ARGS(Client_BufferFromHostBuffer, .client = plugin.client, .data = data,
             .type = (PJRT_Buffer_Type)element_info[type.element].pjrt, .dims = type.dims,
             .num_dims = (size_t)type.rank,
             .host_buffer_semantics = PJRT_HostBufferSemantics_kImmutableOnlyDuringCall,
             .device = plugin.devices[device]);
    TRY(CALL(Client_BufferFromHostBuffer, &args));
    Error *error = await(args.done_with_host_buffer);
    if (error)
        client_free(args.buffer);
    else
        *out = args.buffer;
    return error;
}

Error *client_download(PJRT_Buffer *b, Type type, void *data)
{
    int64_t minor_to_major[MAX_RANK];
    for (int i = 0; i < type.rank; i++)
        minor_to_major[i] = type.rank - 1 - i;
    PJRT_Buffer_MemoryLayout row_major = {
        .struct_size = PJRT_Buffer_MemoryLayout_SIZE,
        .tiled = { .struct_size = PJRT_Buffer_MemoryLayout_Tiled_SIZE,
                   .minor_to_major = minor_to_major,
                   .minor_to_major_size = (size_t)type.rank },
        .type = PJRT_Buffer_MemoryLayout_Type_Tiled,
    };
    PJRT_Buffer_ToHostBuffer_Args args =
        ARGS(Buffer_ToHostBuffer, .src = b, .host_layout = &row_major, .dst = data,
             .dst_size = type_bytes(type));
    TRY(CALL(Buffer_ToHostBuffer, &args));
    return await(args.event);
}

Error *client_copy(PJRT_Buffer *b, int to_device, PJRT_Buffer **out)
{
    PJRT_Buffer_CopyToDevice_Args args =
        ARGS(Buffer_CopyToDevice, .buffer = b, .dst_device = plugin.devices[to_device]);
    TRY(CALL(Buffer_CopyToDevice, &args));
    *out = args.dst_buffer;
    return NULL;
}

Error *client_await(PJRT_Buffer *b)
{
    PJRT_Buffer_ReadyEvent_Args args = ARGS(Buffer_ReadyEvent, .buffer = b);
    TRY(CALL(Buffer_ReadyEvent, &args));
    return await(args.event);
}

void client_free(PJRT_Buffer *b)
{
    PJRT_Buffer_Destroy_Args args = ARGS(Buffer_Destroy, .buffer = b);
    LET_GO(Buffer_Destroy, &args);
}
