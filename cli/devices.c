/* devices.c - `tutti devices`: what there is to play on. */
#include "command.h"
#include "seam.h"

#include <stdio.h>
#include <string.h>

static Error *print_device(Seam *seam, PJRT_Device *device)
{
    PJRT_Device_GetDescription_Args description = {
        .struct_size = PJRT_Device_GetDescription_Args_SIZE, .device = device
    };
    TRY(seam_error(seam, seam->api->PJRT_Device_GetDescription(&description)));
    PJRT_DeviceDescription_ToString_Args name = {
        .struct_size = PJRT_DeviceDescription_ToString_Args_SIZE,
        .device_description = description.device_description
    };
    TRY(seam_error(seam, seam->api->PJRT_DeviceDescription_ToString(&name)));
    printf("%.*s\n", (int)name.to_string_size, name.to_string);
    return NULL;
}

static Error *print_lapack(Seam *seam)
{
    const char *name;
    if (!seam->tutti)
        return NULL;
    TRY(seam_error(seam, seam->tutti->lapack(&name)));
    printf("linear algebra by %s\n", !strcmp(name, "own") ? "the engine's own routines" : name);
    return NULL;
}

static Error *print_devices(Seam *seam)
{
    PJRT_Client_PlatformVersion_Args version = {
        .struct_size = PJRT_Client_PlatformVersion_Args_SIZE, .client = seam->client
    };
    PJRT_Client_Devices_Args devices = { .struct_size = PJRT_Client_Devices_Args_SIZE,
                                         .client = seam->client };
    TRY(seam_error(seam, seam->api->PJRT_Client_PlatformVersion(&version)));
    TRY(seam_error(seam, seam->api->PJRT_Client_Devices(&devices)));
    printf("%zu device%s of %.*s (PJRT %d.%d)\n", devices.num_devices,
           devices.num_devices == 1 ? "" : "s", (int)version.platform_version_size,
           version.platform_version, seam->api->pjrt_api_version.major_version,
           seam->api->pjrt_api_version.minor_version);
    for (size_t i = 0; i < devices.num_devices; i++)
        TRY(print_device(seam, devices.devices[i]));
    return print_lapack(seam);
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
    Seam seam = { 0 };
    Error *error = seam_load(&seam);
    if (!error)
        error = seam_start(&seam, ndevices);
    if (!error)
        error = print_devices(&seam);
    if (!error && !ndevices)
        printf("(--devices N or TUTTI_DEVICES=N: that many.  Where nobody says, this tool and JAX "
               "have one,\na C program has one for each core.)\n");
    seam_end(&seam);
    return error ? failed(error) : EXIT_OK;
}

const Command command_devices = {
    .name = "devices",
    .usage = "[--devices N]",
    .summary = "list the devices",
    .run = run,
};
