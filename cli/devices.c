/* devices.c - `tutti devices`: what there is to run on. */
#include "command.h"
#include "execute.h"

#include <stdio.h>
#include <string.h>

static Error *print_device(Pjrt *engine, PJRT_Device *device)
{
    PJRT_Device_GetDescription_Args description = { .struct_size =
                                                        PJRT_Device_GetDescription_Args_SIZE,
                                                    .device = device };
    TRY(pjrt_error(engine->api, engine->api->PJRT_Device_GetDescription(&description)));
    PJRT_DeviceDescription_ToString_Args name = { .struct_size =
                                                      PJRT_DeviceDescription_ToString_Args_SIZE,
                                                  .device_description =
                                                      description.device_description };
    TRY(pjrt_error(engine->api, engine->api->PJRT_DeviceDescription_ToString(&name)));
    printf("%.*s\n", (int)name.to_string_size, name.to_string);
    return NULL;
}

static Error *print_lapack(Pjrt *engine)
{
    const char *name;
    if (!engine->tutti)
        return NULL;
    TRY(pjrt_error(engine->api, engine->tutti->lapack(&name)));
    printf("linear algebra by %s\n", !strcmp(name, "own") ? "the engine's own routines" : name);
    return NULL;
}

static Error *print_devices(Pjrt *engine)
{
    PJRT_Client_PlatformVersion_Args version = { .struct_size =
                                                     PJRT_Client_PlatformVersion_Args_SIZE,
                                                 .client = engine->client };
    PJRT_Client_Devices_Args devices = { .struct_size = PJRT_Client_Devices_Args_SIZE,
                                         .client = engine->client };
    TRY(pjrt_error(engine->api, engine->api->PJRT_Client_PlatformVersion(&version)));
    TRY(pjrt_error(engine->api, engine->api->PJRT_Client_Devices(&devices)));
    printf("%zu device%s of %.*s (PJRT %d.%d)\n", devices.num_devices,
           devices.num_devices == 1 ? "" : "s", (int)version.platform_version_size,
           version.platform_version, engine->api->pjrt_api_version.major_version,
           engine->api->pjrt_api_version.minor_version);
    for (size_t i = 0; i < devices.num_devices; i++)
        TRY(print_device(engine, devices.devices[i]));
    return print_lapack(engine);
}

static int run(int argc, char **argv)
{
    int ndevices = 0;
    for (int i = 1; i < argc; i++) {
        const char *value;
        if (!option_value(argc, argv, &i, "--devices", &value))
            return usage_error("devices", "'%s' is not known", argv[i]);
        if (!parse_positive(value, &ndevices))
            return usage_error("devices", "--devices needs a whole number from 1 on, such as 4");
    }
    Pjrt engine = { 0 };
    Error *error = engine_load(&engine);
    if (!error)
        error = engine_start(&engine, ndevices);
    if (!error)
        error = print_devices(&engine);
    if (!error && !ndevices)
        printf("(--devices N or TUTTI_DEVICES=N: that many.  Where nobody says, this tool and JAX "
               "have one,\na C program has one for each core.)\n");
    engine_end(&engine);
    return error ? failed(error) : EXIT_OK;
}

const Command command_devices = {
    .name = "devices",
    .usage = "[--devices N]",
    .summary = "list the devices",
    .run = run,
};
