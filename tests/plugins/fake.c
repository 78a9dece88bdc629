/* fake.c - a plugin that is none of ours to use: as FAKE says, too old, of another major version,
 * without a table, or with no devices. */
#include "pjrt/pjrt.h"

#include <stdlib.h>
#include <string.h>

__attribute__((visibility("default"))) const PJRT_Api *GetPjrtApi(void);

static PJRT_Api api;

static PJRT_Error *initialize(PJRT_Plugin_Initialize_Args *args)
{
    (void)args;
    return NULL;
}

static PJRT_Error *create(PJRT_Client_Create_Args *args)
{
    args->client = (PJRT_Client *)&api;
    return NULL;
}

static PJRT_Error *destroy(PJRT_Client_Destroy_Args *args)
{
    (void)args;
    return NULL;
}

static PJRT_Error *devices(PJRT_Client_AddressableDevices_Args *args)
{
    args->num_addressable_devices = 0;
    return NULL;
}

const PJRT_Api *GetPjrtApi(void)
{
    const char *as = getenv("FAKE");
    if (!as || strcmp(as, "empty") == 0)
        return NULL;
    api = (PJRT_Api){ .struct_size = sizeof api,
                      .PJRT_Plugin_Initialize = initialize,
                      .PJRT_Client_Create = create,
                      .PJRT_Client_Destroy = destroy,
                      .PJRT_Client_AddressableDevices = devices };
    api.pjrt_api_version.major_version = strcmp(as, "major") == 0;
    api.pjrt_api_version.minor_version = strcmp(as, "old") == 0 ? 12 : PJRT_MINOR;
    return &api;
}
