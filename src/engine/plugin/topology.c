/* topology.c - the devices of a client, described without it.  Only the client's own topology
 * exists; it lives and dies with the client. */
#include "engine/plugin/plugin.h"
#include "base/table.h"

#include <string.h>

Error *pjrt_Client_TopologyDescription(PJRT_Client_TopologyDescription_Args *args)
{
    NEEDS(args, topology);
    args->topology = &args->client->topology;
    return NULL;
}

Error *pjrt_TopologyDescription_Destroy(PJRT_TopologyDescription_Destroy_Args *args)
{
    (void)args; /* the client's own */
    return NULL;
}

Error *pjrt_TopologyDescription_PlatformName(PJRT_TopologyDescription_PlatformName_Args *args)
{
    NEEDS(args, platform_name_size);
    args->platform_name = PLATFORM;
    args->platform_name_size = strlen(PLATFORM);
    return NULL;
}

Error *
pjrt_TopologyDescription_PlatformVersion(PJRT_TopologyDescription_PlatformVersion_Args *args)
{
    NEEDS(args, platform_version_size);
    args->platform_version = PLATFORM_VERSION;
    args->platform_version_size = strlen(PLATFORM_VERSION);
    return NULL;
}

Error *pjrt_TopologyDescription_GetDeviceDescriptions(
    PJRT_TopologyDescription_GetDeviceDescriptions_Args *args)
{
    NEEDS(args, num_descriptions);
    args->descriptions = args->topology->descriptions;
    args->num_descriptions = args->topology->ndevices;
    return NULL;
}

Error *pjrt_TopologyDescription_Attributes(PJRT_TopologyDescription_Attributes_Args *args)
{
    NEEDS(args, num_attributes);
    args->attributes = NULL;
    args->num_attributes = 0;
    return NULL;
}

/* Of what a compiled program depends on: who we are and how many devices there are. */
Error *pjrt_TopologyDescription_Fingerprint(PJRT_TopologyDescription_Fingerprint_Args *args)
{
    NEEDS(args, fingerprint);
    args->fingerprint = hash_bytes(PLATFORM_VERSION, strlen(PLATFORM_VERSION),
                                   (uint64_t)args->topology->ndevices);
    return NULL;
}
