/* memory.c - the one memory of each device, of kind "device". */
#include "engine/plugin/plugin.h"

#include <string.h>

Error *pjrt_Memory_Id(PJRT_Memory_Id_Args *args)
{
    NEEDS(args, id);
    args->id = args->memory->device->description.id;
    return NULL;
}

Error *pjrt_Memory_Kind(PJRT_Memory_Kind_Args *args)
{
    NEEDS(args, kind_size);
    args->kind = "device";
    args->kind_size = strlen(args->kind);
    return NULL;
}

Error *pjrt_Memory_Kind_Id(PJRT_Memory_Kind_Id_Args *args)
{
    NEEDS(args, kind_id);
    args->kind_id = 0;
    return NULL;
}

Error *pjrt_Memory_DebugString(PJRT_Memory_DebugString_Args *args)
{
    NEEDS(args, debug_string_size);
    args->debug_string = args->memory->name;
    args->debug_string_size = strlen(args->debug_string);
    return NULL;
}

Error *pjrt_Memory_ToString(PJRT_Memory_ToString_Args *args)
{
    NEEDS(args, to_string_size);
    args->to_string = args->memory->name;
    args->to_string_size = strlen(args->to_string);
    return NULL;
}

Error *pjrt_Memory_AddressableByDevices(PJRT_Memory_AddressableByDevices_Args *args)
{
    NEEDS(args, num_devices);
    PJRT_Device *device = args->memory->device;
    args->devices = &device->client->device_list[device->description.id];
    args->num_devices = 1;
    return NULL;
}
