/* play.h - the engine over its ABI in few words, for tests: a client of n devices, programs
 * compiled from text, arrays of f32 sent and received, executions.  Links the engine. */
#ifndef TUTTI_TESTS_SEAM_PLAY_H
#define TUTTI_TESTS_SEAM_PLAY_H
#include "pjrt/extension.h"
#include "tests/check.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST_DEVICES = 8 };
PJRT_GetPjrtApi GetPjrtApi;

static const PJRT_Api *api;
static PJRT_Client *client;

#define ARGS(name, ...)                                                                            \
    (PJRT_##name##_Args) { .struct_size = PJRT_##name##_Args_SIZE, __VA_ARGS__ }
#define OK(call) CHECK_STR(message_of(call), "")

/* The message of an error, "" for none; ends the error. */
static inline const char *message_of(PJRT_Error *error)
{
    static _Thread_local char text[2048];
    text[0] = 0;
    if (!error)
        return text;
    PJRT_Error_Message_Args args = ARGS(Error_Message, .error = error);
    api->PJRT_Error_Message(&args);
    snprintf(text, sizeof text, "%.*s", (int)args.message_size, args.message);
    PJRT_Error_Destroy_Args destroy = ARGS(Error_Destroy, .error = error);
    api->PJRT_Error_Destroy(&destroy);
    return text;
}

static inline const char *await(PJRT_Event *event)
{
    PJRT_Event_Await_Args args = ARGS(Event_Await, .event = event);
    const char *message = message_of(api->PJRT_Event_Await(&args));
    PJRT_Event_Destroy_Args destroy = ARGS(Event_Destroy, .event = event);
    PJRT_Error *error = api->PJRT_Event_Destroy(&destroy);
    CHECK(error == NULL);
    return message;
}

static inline void client_start(const char *ndevices)
{
    setenv("TUTTI_DEVICES", ndevices, 1);
    api = GetPjrtApi();
    PJRT_Client_Create_Args args = ARGS(Client_Create, .num_options = 0);
    OK(api->PJRT_Client_Create(&args));
    client = args.client;
}

static inline void client_end(void)
{
    PJRT_Client_Destroy_Args args = ARGS(Client_Destroy, .client = client);
    OK(api->PJRT_Client_Destroy(&args));
}

static inline PJRT_LoadedExecutable *load(const char *text)
{
    PJRT_Program p = { .struct_size = PJRT_Program_SIZE, .code = (char *)text,
                       .code_size = strlen(text), .format = "mlir", .format_size = 4 };
    PJRT_Client_Compile_Args args = ARGS(Client_Compile, .client = client, .program = &p);
    OK(api->PJRT_Client_Compile(&args));
    return args.executable;
}

static inline void unload(PJRT_LoadedExecutable *loaded)
{
    PJRT_LoadedExecutable_Destroy_Args args = ARGS(LoadedExecutable_Destroy, .executable = loaded);
    OK(api->PJRT_LoadedExecutable_Destroy(&args));
}

/* n floats, a vector, on a device. */
static inline PJRT_Buffer *send(int device, int64_t n, const float *data)
{
    PJRT_Client_LookupDevice_Args at = ARGS(Client_LookupDevice, .client = client, .id = device);
    OK(api->PJRT_Client_LookupDevice(&at));
    PJRT_Client_BufferFromHostBuffer_Args args =
        ARGS(Client_BufferFromHostBuffer, .client = client, .data = data,
             .type = PJRT_Buffer_Type_F32, .dims = &n, .num_dims = 1, .device = at.device);
    OK(api->PJRT_Client_BufferFromHostBuffer(&args));
    CHECK_STR(await(args.done_with_host_buffer), "");
    return args.buffer;
}

static inline const char *receive(PJRT_Buffer *buffer, int64_t n, float *out)
{
    PJRT_Buffer_ToHostBuffer_Args args = ARGS(Buffer_ToHostBuffer, .src = buffer, .dst = out,
                                              .dst_size = sizeof *out * (size_t)n);
    PJRT_Error *error = api->PJRT_Buffer_ToHostBuffer(&args);
    return error ? message_of(error) : await(args.event);
}

static inline void release(PJRT_Buffer *buffer)
{
    PJRT_Buffer_Destroy_Args args = ARGS(Buffer_Destroy, .buffer = buffer);
    OK(api->PJRT_Buffer_Destroy(&args));
}

/* One call on ndevices: in[d * nin + i], out[d * nout + i].  The first error of any device. */
static inline const char *play(PJRT_LoadedExecutable *loaded, int ndevices, int nin,
                               PJRT_Buffer **in, int nout, PJRT_Buffer **out)
{
    static char first[2048];
    PJRT_Buffer *const *ins[MOST_DEVICES], **outs[MOST_DEVICES];
    PJRT_Event *done[MOST_DEVICES] = { 0 };
    for (int d = 0; d < ndevices; d++) {
        ins[d] = in + d * nin;
        outs[d] = out + d * nout;
    }
    PJRT_ExecuteOptions options = { .struct_size = PJRT_ExecuteOptions_SIZE };
    PJRT_LoadedExecutable_Execute_Args args =
        ARGS(LoadedExecutable_Execute, .executable = loaded, .options = &options,
             .argument_lists = ins, .num_devices = (size_t)ndevices, .num_args = (size_t)nin,
             .output_lists = outs, .device_complete_events = done);
    PJRT_Error *error = api->PJRT_LoadedExecutable_Execute(&args);
    if (error)
        return message_of(error);
    first[0] = 0;
    for (int d = 0; d < ndevices; d++) {
        const char *message = await(done[d]);
        if (!first[0])
            snprintf(first, sizeof first, "%s", message);
    }
    return first;
}

/* The text of a file in the folder that tests are run from. */
static inline char *text_of_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        printf("%s cannot be read\n", path);
        exit(1);
    }
    char *text = calloc(1, 1 << 16);
    size_t n = fread(text, 1, (1 << 16) - 1, file);
    text[n] = 0;
    fclose(file);
    return text;
}
#endif
