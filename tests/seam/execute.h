/* execute.h - the engine over its ABI in few words, for tests: a client of n devices, programs
 * compiled from text, arrays of f32 sent and received, executions.  Links the engine. */
#ifndef TUTTI_TESTS_SEAM_EXECUTE_H
#define TUTTI_TESTS_SEAM_EXECUTE_H
#include "pjrt/client.h"
#include "tests/check.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST_DEVICES = 8 };
PJRT_GetPjrtApi GetPjrtApi;

static Pjrt engine;
static const PJRT_Api *api; /* engine's */
static PJRT_Client *client; /* its too */

#define OK(call) CHECK_STR(message_of(call), "")

/* The message of an error, "" for none; ends the error. */
static inline const char *words_of(Error *error)
{
    static _Thread_local char text[2048];
    snprintf(text, sizeof text, "%s", error ? error_text(error) : "");
    error_free(error);
    return text;
}

static inline const char *message_of(PJRT_Error *error)
{
    return words_of(pjrt_error(api, error));
}

static inline const char *await(PJRT_Event *event)
{
    return words_of(pjrt_await(&engine, event));
}

static inline void client_start(const char *ndevices)
{
    setenv("TUTTI_DEVICES", ndevices, 1);
    engine.api = api = GetPjrtApi();
    CHECK_STR(words_of(pjrt_create(&engine, 0, NULL)), "");
    client = engine.client;
}

static inline void client_end(void)
{
    CHECK_STR(words_of(pjrt_destroy(&engine)), "");
}

static inline PJRT_LoadedExecutable *load(const char *text)
{
    PJRT_LoadedExecutable *loaded = NULL;
    CHECK_STR(words_of(pjrt_compile(&engine, str_of(text), (CompileOptions){ 0 }, &loaded)), "");
    return loaded;
}

static inline void unload(PJRT_LoadedExecutable *loaded)
{
    pjrt_release(&engine, loaded);
}

/* n floats, a vector, on a device. */
static inline PJRT_Buffer *send(int device, int64_t n, const float *data)
{
    PJRT_Client_LookupDevice_Args at = ARGS(Client_LookupDevice, .client = client, .id = device);
    OK(api->PJRT_Client_LookupDevice(&at));
    HostArray array = { .type = PJRT_Buffer_Type_F32, .rank = 1, .dims = &n, .data = data };
    PJRT_Buffer *buffer = NULL;
    CHECK_STR(words_of(pjrt_send(&engine, &array, at.device, &buffer)), "");
    return buffer;
}

static inline const char *receive(PJRT_Buffer *buffer, int64_t n, float *out)
{
    return words_of(pjrt_receive(&engine, buffer, 1, out, sizeof *out * (size_t)n));
}

static inline void release(PJRT_Buffer *buffer)
{
    PJRT_Buffer_Destroy_Args args = ARGS(Buffer_Destroy, .buffer = buffer);
    OK(api->PJRT_Buffer_Destroy(&args));
}

/* One call on ndevices: in[d * nin + i], out[d * nout + i].  The first error of any device. */
static inline const char *execute(PJRT_LoadedExecutable *loaded, int ndevices, int nin,
                                  PJRT_Buffer **in, int nout, PJRT_Buffer **out)
{
    PJRT_Buffer *const *ins[MOST_DEVICES], **outs[MOST_DEVICES];
    PJRT_Event *done[MOST_DEVICES] = { 0 };
    for (int d = 0; d < ndevices; d++) {
        ins[d] = in + d * nin;
        outs[d] = out + d * nout;
    }
    Launch launch = {
        .ndevices = ndevices, .nargs = nin, .args = ins, .results = outs, .done = done
    };
    return words_of(pjrt_execute(&engine, loaded, &launch));
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
