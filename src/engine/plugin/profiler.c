/* profiler.c - JAX's profiler: the Profiler extension.  A profile is a recording from start to stop.
 *
 * Clients call create, start, stop, collect_data and destroy once each, on one thread, and leave
 * struct_size of their arguments unset: it is not looked at. */
#include "engine/plugin/plugin.h"

#include "base/guard.h"
#include "engine/profile/views.h"
#include "pjrt/proto.h"

#include <stdlib.h>
#include <string.h>

struct PLUGIN_Profiler {
    bool wants_devices;
    bool is_recording;
    Text data; /* an XSpace */
};

static void error_end(PLUGIN_Profiler_Error_Destroy_Args *args)
{
    error_free(args->error);
}

static void error_message(PLUGIN_Profiler_Error_Message_Args *args)
{
    args->message = error_text(args->error);
    args->message_size = strlen(args->message);
}

static Error *get_code(PLUGIN_Profiler_Error_GetCode_Args *args)
{
    args->code = (int)error_code(args->error);
    return NULL;
}

/* ProfileOptions.device_tracer_level: 0, which is not written at all, leaves the devices out. */
static Error *read_options(Str options, bool *wants_devices)
{
    enum { DEVICE_TRACER_LEVEL = 3 };
    ProtoReader r = proto_read(options, "ProfileOptions");
    *wants_devices = options.n == 0;
    for (ProtoField f; proto_next(&r, &f);)
        if (f.number == DEVICE_TRACER_LEVEL && f.wire == 0)
            *wants_devices = f.value != 0;
    return proto_end(&r);
}

static Error *create(PLUGIN_Profiler_Create_Args *args)
{
    bool wants_devices;
    TRY(read_options((Str){ args->options, args->options_size }, &wants_devices));
    args->profiler = calloc(1, sizeof *args->profiler);
    if (!args->profiler)
        return error_new(CODE_EXHAUSTED, "no memory for a profile");
    args->profiler->wants_devices = wants_devices;
    return NULL;
}

static Error *destroy(PLUGIN_Profiler_Destroy_Args *args)
{
    if (args->profiler && args->profiler->is_recording)
        record_stop();
    if (args->profiler)
        text_free(&args->profiler->data);
    free(args->profiler);
    return NULL;
}

static Error *start(PLUGIN_Profiler_Start_Args *args)
{
    if (!args->profiler->wants_devices)
        return NULL;
    TRY(record_begin());
    args->profiler->is_recording = true;
    return NULL;
}

static Error *stop(PLUGIN_Profiler_Stop_Args *args)
{
    if (!args->profiler->is_recording)
        return NULL;
    record_stop();
    args->profiler->is_recording = false;
    return profile_xspace(&args->profiler->data);
}

static Error *collect(PLUGIN_Profiler_CollectData_Args *args)
{
    args->buffer = (uint8_t *)args->profiler->data.at;
    args->buffer_size_in_bytes = args->profiler->data.n;
    return NULL;
}

static const PLUGIN_Profiler_Api profiler_api = {
    .struct_size = PLUGIN_Profiler_Api_SIZE,
    .error_destroy = error_end,
    .error_message = error_message,
    .error_get_code = get_code,
    .create = create,
    .destroy = destroy,
    .start = start,
    .stop = stop,
    .collect_data = collect,
};

PJRT_Profiler_Extension profiler_extension = {
    .base = { PJRT_Profiler_Extension_SIZE, PJRT_Extension_Type_Profiler, &layouts_extension.base },
    .profiler_api = &profiler_api,
};
