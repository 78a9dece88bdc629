/* device.c - devices and their descriptions, the memories that each has, and the topology, which is
 * the client's devices described without it.  Numbers are dense from 0, process by process. */
#include "engine/plugin/plugin.h"

#include "base/table.h"

#include <string.h>
#include <unistd.h>

Error *device_check_here(const PJRT_Device *device, const char *what)
{
    if (device->engine)
        return NULL;
    return error_new(CODE_INVALID, "%s: device %d is in process %d, and this is process %d", what,
                     device->description.id, device->description.process,
                     device->client->hosts->process);
}

Error *pjrt_DeviceDescription_Id(PJRT_DeviceDescription_Id_Args *args)
{
    NEEDS(args, id);
    args->id = args->device_description->id;
    return NULL;
}

Error *pjrt_DeviceDescription_ProcessIndex(PJRT_DeviceDescription_ProcessIndex_Args *args)
{
    NEEDS(args, process_index);
    args->process_index = args->device_description->process;
    return NULL;
}

Error *pjrt_DeviceDescription_Attributes(PJRT_DeviceDescription_Attributes_Args *args)
{
    NEEDS(args, attributes);
    args->num_attributes = 0;
    args->attributes = NULL;
    return NULL;
}

Error *pjrt_DeviceDescription_Kind(PJRT_DeviceDescription_Kind_Args *args)
{
    NEEDS(args, device_kind_size);
    args->device_kind = "cpu";
    args->device_kind_size = strlen(args->device_kind);
    return NULL;
}

Error *pjrt_DeviceDescription_DebugString(PJRT_DeviceDescription_DebugString_Args *args)
{
    NEEDS(args, debug_string_size);
    args->debug_string = args->device_description->title;
    args->debug_string_size = strlen(args->debug_string);
    return NULL;
}

Error *pjrt_DeviceDescription_ToString(PJRT_DeviceDescription_ToString_Args *args)
{
    NEEDS(args, to_string_size);
    args->to_string = args->device_description->name;
    args->to_string_size = strlen(args->to_string);
    return NULL;
}

Error *pjrt_Device_GetDescription(PJRT_Device_GetDescription_Args *args)
{
    NEEDS(args, device_description);
    args->device_description = &args->device->description;
    return NULL;
}

Error *pjrt_Device_IsAddressable(PJRT_Device_IsAddressable_Args *args)
{
    NEEDS(args, is_addressable);
    args->is_addressable = args->device->engine != NULL;
    return NULL;
}

Error *pjrt_Device_LocalHardwareId(PJRT_Device_LocalHardwareId_Args *args)
{
    NEEDS(args, local_hardware_id);
    const PJRT_Device *device = args->device;
    args->local_hardware_id = device->engine ? device->description.id - device->client->first : -1;
    return NULL;
}

Error *pjrt_Device_AddressableMemories(PJRT_Device_AddressableMemories_Args *args)
{
    NEEDS(args, num_memories);
    args->memories = args->device->memories;
    args->num_memories = MEMORY_KINDS;
    return NULL;
}

Error *pjrt_Device_DefaultMemory(PJRT_Device_DefaultMemory_Args *args)
{
    NEEDS(args, memory);
    args->memory = &args->device->memory[MEMORY_DEVICE];
    return NULL;
}

/* Callers of an older version have no room for the later ones. */
#define TELL(field, value)                                                                         \
    do {                                                                                           \
        if (PJRT_HAS(args, field##_is_set)) {                                                      \
            args->field = (int64_t)(value);                                                        \
            args->field##_is_set = true;                                                           \
        }                                                                                          \
    } while (0)

Error *pjrt_Device_MemoryStats(PJRT_Device_MemoryStats_Args *args)
{
    NEEDS(args, bytes_limit_is_set);
    TRY(device_check_here(args->device, "Device_MemoryStats"));
    MemoryStats stats = memory_stats(args->device->engine->memory);
    size_t end = args->struct_size < PJRT_Device_MemoryStats_Args_SIZE
                     ? args->struct_size
                     : PJRT_Device_MemoryStats_Args_SIZE;
    size_t begin = offsetof(PJRT_Device_MemoryStats_Args, bytes_in_use);
    memset((char *)args + begin, 0, end - begin); /* every _is_set that is not ours: false */
    /* Without a limit of its own a device can count on its share of the machine. */
    size_t limit = stats.limit_bytes;
    if (!limit)
        limit =
            (size_t)(sysconf(_SC_PHYS_PAGES) / args->device->client->nhere * sysconf(_SC_PAGESIZE));
    args->bytes_in_use = (int64_t)stats.bytes_in_use;
    TELL(peak_bytes_in_use, stats.peak_bytes);
    TELL(num_allocs, stats.nallocs);
    TELL(largest_alloc_size, stats.largest_bytes);
    TELL(bytes_limit, limit);
    TELL(bytes_reserved, 0);
    TELL(peak_bytes_reserved, 0);
    TELL(bytes_reservable_limit, limit);
    TELL(largest_free_block_bytes, limit > stats.bytes_in_use ? limit - stats.bytes_in_use : 0);
    TELL(pool_bytes, stats.pool_bytes);
    TELL(peak_pool_bytes, stats.peak_pool_bytes);
    return NULL;
}

static void delete_no_attributes(PJRT_Device_Attributes *attributes)
{
    (void)attributes;
}

Error *pjrt_Device_GetAttributes(PJRT_Device_GetAttributes_Args *args)
{
    NEEDS(args, attributes_deleter);
    args->attributes = NULL;
    args->num_attributes = 0;
    args->device_attributes = NULL;
    args->attributes_deleter = delete_no_attributes; /* called unchecked */
    return NULL;
}

/* A client counts what it has under way by these; none is also an answer. */
Error *pjrt_Device_CreateAsyncTrackingEvent(PJRT_Device_CreateAsyncTrackingEvent_Args *args)
{
    NEEDS(args, event);
    args->event = NULL;
    return NULL;
}

Error *pjrt_AsyncTrackingEvent_Destroy(PJRT_AsyncTrackingEvent_Destroy_Args *args)
{
    (void)args;
    return NULL;
}

/* ---- memories: one of each kind for each device ---- */

Error *pjrt_Memory_Id(PJRT_Memory_Id_Args *args)
{
    NEEDS(args, id);
    args->id = args->memory->device->description.id * MEMORY_KINDS + (int)args->memory->kind;
    return NULL;
}

Error *pjrt_Memory_Kind(PJRT_Memory_Kind_Args *args)
{
    NEEDS(args, kind_size);
    args->kind = memory_kind_names[args->memory->kind];
    args->kind_size = strlen(args->kind);
    return NULL;
}

Error *pjrt_Memory_Kind_Id(PJRT_Memory_Kind_Id_Args *args)
{
    NEEDS(args, kind_id);
    args->kind_id = (int)args->memory->kind;
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

/* ---- topology: a client has one, which lives as long as the client ---- */

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
    args->platform_name = args->topology->platform;
    args->platform_name_size = strlen(args->platform_name);
    return NULL;
}

Error *pjrt_TopologyDescription_PlatformVersion(PJRT_TopologyDescription_PlatformVersion_Args *args)
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

/* Of what a compiled program depends on: the engine, and how many devices there are. */
Error *pjrt_TopologyDescription_Fingerprint(PJRT_TopologyDescription_Fingerprint_Args *args)
{
    NEEDS(args, fingerprint);
    args->fingerprint =
        hash_bytes(PLATFORM_VERSION, strlen(PLATFORM_VERSION), (uint64_t)args->topology->ndevices);
    return NULL;
}
