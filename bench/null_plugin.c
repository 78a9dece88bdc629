/* null_plugin.c - a PJRT plugin that executes nothing.
 *
 * JAX drives it like any other: it has devices, takes buffers, accepts programs, and answers
 * every call at once with results of the right shape that hold zeros.  What a call costs here is
 * what Python, JAX and the seam cost by themselves; no engine can be faster.
 *
 * Devices: TUTTI_DEVICES of them.  One client per process; what JAX never asks is answered by
 * one error, "the null plugin does not do this". */
#include "hlo/module.h"
#include "pjrt/pjrt.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_DEVICES = 64, MOST_RESULTS = 64, MOST_RANK = 8 };

struct PJRT_Memory {
    const void *vtable; /* NULL: PJRT's first word of a memory */
    PJRT_Device *device;
};

struct PJRT_Device {
    int id;
    PJRT_Memory memory;
    PJRT_Memory *memories[1];
};

typedef struct Shape {
    PJRT_Buffer_Type type;
    size_t rank, bytes;
    int64_t dims[MOST_RANK];
} Shape;

struct PJRT_Buffer {
    PJRT_Device *device;
    Shape shape;
    bool is_deleted;
};

struct PJRT_LoadedExecutable {
    int ndevices, nresults;
    Shape results[MOST_RESULTS]; /* of one device's part */
};

static PJRT_Device device_table[MOST_DEVICES];
static PJRT_Device *device_list[MOST_DEVICES];
static PJRT_Memory *memory_list[MOST_DEVICES];
static size_t ndevices;
static char the_client, the_event, the_error;

/* Errors: one, always the same. */

static const char complaint[] = "the null plugin does not do this";

static PJRT_Error *refuse(void *args)
{
    (void)args;
    return (PJRT_Error *)&the_error;
}

static void Error_Destroy(PJRT_Error_Destroy_Args *args)
{
    (void)args;
}

static void Error_Message(PJRT_Error_Message_Args *args)
{
    args->message = complaint;
    args->message_size = sizeof complaint - 1;
}

static PJRT_Error *Error_GetCode(PJRT_Error_GetCode_Args *args)
{
    args->code = PJRT_Error_Code_UNIMPLEMENTED;
    return NULL;
}

/* Events: one, and it has happened. */

static PJRT_Error *nothing(void *args)
{
    (void)args;
    return NULL;
}

static PJRT_Error *Event_IsReady(PJRT_Event_IsReady_Args *args)
{
    args->is_ready = true;
    return NULL;
}

static PJRT_Error *Event_OnReady(PJRT_Event_OnReady_Args *args)
{
    args->callback(NULL, args->user_arg);
    return NULL;
}

/* The client and its devices. */

static PJRT_Error *Client_Create(PJRT_Client_Create_Args *args)
{
    const char *wanted = getenv("TUTTI_DEVICES");
    ndevices = wanted ? (size_t)atoi(wanted) : 1;
    if (ndevices < 1 || ndevices > MOST_DEVICES)
        ndevices = 1;
    for (size_t i = 0; i < ndevices; i++) {
        PJRT_Device *d = device_list[i] = &device_table[i];
        d->id = (int)i;
        d->memory.device = d;
        d->memories[0] = memory_list[i] = &d->memory;
    }
    args->client = (PJRT_Client *)&the_client;
    return NULL;
}

#define NAME(function, T, at, size, text)                                                          \
    static PJRT_Error *function(T *args)                                                           \
    {                                                                                              \
        args->at = text;                                                                           \
        args->size = sizeof text - 1;                                                              \
        return NULL;                                                                               \
    }
NAME(Client_PlatformName, PJRT_Client_PlatformName_Args, platform_name, platform_name_size, "null")
NAME(Client_PlatformVersion, PJRT_Client_PlatformVersion_Args, platform_version,
     platform_version_size, "0")
NAME(DeviceDescription_Kind, PJRT_DeviceDescription_Kind_Args, device_kind, device_kind_size,
     "null")
NAME(DeviceDescription_DebugString, PJRT_DeviceDescription_DebugString_Args, debug_string,
     debug_string_size, "NullDevice")
NAME(DeviceDescription_ToString, PJRT_DeviceDescription_ToString_Args, to_string, to_string_size,
     "NullDevice")
NAME(Memory_Kind, PJRT_Memory_Kind_Args, kind, kind_size, "device")
NAME(Memory_DebugString, PJRT_Memory_DebugString_Args, debug_string, debug_string_size, "null")
NAME(Memory_ToString, PJRT_Memory_ToString_Args, to_string, to_string_size, "null")

#define ANSWER(function, field, value)                                                             \
    static PJRT_Error *function(PJRT_##function##_Args *args)                                      \
    {                                                                                              \
        args->field = value;                                                                       \
        return NULL;                                                                               \
    }
#define ANSWER2(function, field, value, field2, value2)                                            \
    static PJRT_Error *function(PJRT_##function##_Args *args)                                      \
    {                                                                                              \
        args->field = value;                                                                       \
        args->field2 = value2;                                                                     \
        return NULL;                                                                               \
    }
ANSWER2(Plugin_Attributes, attributes, NULL, num_attributes, 0)
ANSWER(Client_ProcessIndex, process_index, 0)
ANSWER2(Client_Devices, devices, device_list, num_devices, ndevices)
ANSWER2(Client_AddressableDevices, addressable_devices, device_list, num_addressable_devices,
        ndevices)
ANSWER2(Client_AddressableMemories, addressable_memories, memory_list, num_addressable_memories,
        ndevices)
ANSWER(Client_LookupDevice, device, device_list[args->id])
ANSWER(Client_LookupAddressableDevice, addressable_device, device_list[args->local_hardware_id])
ANSWER(Device_GetDescription, device_description, (PJRT_DeviceDescription *)args->device)
ANSWER(Device_IsAddressable, is_addressable, true)
ANSWER(Device_LocalHardwareId, local_hardware_id, args->device->id)
ANSWER2(Device_AddressableMemories, memories, args->device->memories, num_memories, 1)
ANSWER(Device_DefaultMemory, memory, &args->device->memory)
ANSWER(DeviceDescription_Id, id, ((PJRT_Device *)args->device_description)->id)
ANSWER(DeviceDescription_ProcessIndex, process_index, 0)
ANSWER2(DeviceDescription_Attributes, attributes, NULL, num_attributes, 0)
ANSWER(Memory_Id, id, args->memory->device->id)
ANSWER(Memory_Kind_Id, kind_id, 0)
ANSWER2(Memory_AddressableByDevices, devices, &device_list[args->memory->device->id], num_devices,
        1)

static void delete_attributes(PJRT_Device_Attributes *attributes)
{
    (void)attributes;
}

static PJRT_Error *Device_GetAttributes(PJRT_Device_GetAttributes_Args *args)
{
    args->attributes = NULL;
    args->num_attributes = 0;
    args->device_attributes = NULL;
    args->attributes_deleter = delete_attributes;
    return NULL;
}

/* Buffers: a shape and a device. */

static PJRT_Buffer *buffer_of(PJRT_Device *device, const Shape *shape)
{
    PJRT_Buffer *b = malloc(sizeof *b);
    if (!b)
        abort();
    b->device = device;
    b->shape = *shape;
    b->is_deleted = false;
    return b;
}

static Shape shape_of(Type t)
{
    Shape s = { .type = (PJRT_Buffer_Type)element_info[t.element].pjrt, .rank = (size_t)t.rank };
    for (int i = 0; i < t.rank && i < MOST_RANK; i++)
        s.dims[i] = t.dims[i];
    s.bytes = type_bytes(t);
    return s;
}

static PJRT_Error *Client_BufferFromHostBuffer(PJRT_Client_BufferFromHostBuffer_Args *args)
{
    Element element;
    if (args->num_dims > MOST_RANK || !element_of_pjrt((int)args->type, &element))
        return refuse(args);
    Shape s = shape_of((Type){ element, (int)args->num_dims, args->dims });
    args->buffer = buffer_of(args->memory ? args->memory->device : args->device, &s);
    args->done_with_host_buffer = (PJRT_Event *)&the_event;
    return NULL;
}

static PJRT_Error *Buffer_Destroy(PJRT_Buffer_Destroy_Args *args)
{
    free(args->buffer);
    return NULL;
}

static PJRT_Error *Buffer_Delete(PJRT_Buffer_Delete_Args *args)
{
    args->buffer->is_deleted = true;
    return NULL;
}

static PJRT_Error *Buffer_ToHostBuffer(PJRT_Buffer_ToHostBuffer_Args *args)
{
    args->dst_size = args->src->shape.bytes;
    if (args->dst)
        memset(args->dst, 0, args->dst_size);
    args->event = (PJRT_Event *)&the_event;
    return NULL;
}

static PJRT_Error *Buffer_CopyToMemory(PJRT_Buffer_CopyToMemory_Args *args)
{
    args->dst_buffer = buffer_of(args->dst_memory->device, &args->buffer->shape);
    return NULL;
}

ANSWER(Buffer_ElementType, type, args->buffer->shape.type)
ANSWER2(Buffer_Dimensions, dims, args->buffer->shape.dims, num_dims, args->buffer->shape.rank)
ANSWER(Buffer_IsDeleted, is_deleted, args->buffer->is_deleted)
ANSWER(Buffer_IsOnCpu, is_on_cpu, false)
ANSWER(Buffer_Device, device, args->buffer->device)
ANSWER(Buffer_Memory, memory, &args->buffer->device->memory)
ANSWER(Buffer_ReadyEvent, event, (PJRT_Event *)&the_event)
ANSWER(Buffer_OnDeviceSizeInBytes, on_device_size_in_bytes, args->buffer->shape.bytes)

/* Programs: read for the shapes of their results. */

static Error *local_results(const Module *m, PJRT_LoadedExecutable *e)
{
    const Func *main = func_find(m, STR("main"));
    if (!main || main->nresults > MOST_RESULTS)
        return error_new(CODE_UNIMPLEMENTED, "no main, or too many results");
    e->ndevices = m->nreplicas * m->npartitions;
    e->nresults = main->nresults;
    for (int i = 0; i < main->nresults; i++) {
        const Attr *sharding = attr_get(main->result_attrs[i], "sdy.sharding");
        Tiling tiling;
        Type local;
        TRY(sharding_tiling(m->arena, sharding ? sharding->sharding : NULL, main->results[i].rank,
                            e->ndevices, &tiling));
        TRY(tiling_local(m->arena, tiling, main->results[i], &local));
        e->results[i] = shape_of(local);
    }
    return NULL;
}

static PJRT_Error *Client_Compile(PJRT_Client_Compile_Args *args)
{
    Module *m;
    Error *error = read_program(args->program->code, args->program->code_size, "program", &m);
    if (error) {
        error_free(error);
        return refuse(args);
    }
    PJRT_LoadedExecutable *e = calloc(1, sizeof *e);
    error = e ? local_results(m, e) : NULL;
    module_free(m);
    if (error || !e) {
        error_free(error);
        free(e);
        return refuse(args);
    }
    args->executable = e;
    return NULL;
}

static PJRT_Error *LoadedExecutable_Destroy(PJRT_LoadedExecutable_Destroy_Args *args)
{
    free(args->executable);
    return NULL;
}

static void delete_assignment(PJRT_DeviceAssignmentSerialized *assignment)
{
    (void)assignment;
}

static PJRT_Error *
LoadedExecutable_GetDeviceAssignment(PJRT_LoadedExecutable_GetDeviceAssignment_Args *args)
{
    args->serialized_bytes = NULL;
    args->serialized_bytes_size = 0;
    args->serialized_device_assignment = NULL;
    args->serialized_device_assignment_deleter = delete_assignment;
    return NULL;
}

#define LOADED ((PJRT_LoadedExecutable *)args->executable)
ANSWER(LoadedExecutable_GetExecutable, executable, (PJRT_Executable *)args->loaded_executable)
ANSWER2(LoadedExecutable_AddressableDevices, addressable_devices, device_list,
        num_addressable_devices, (size_t)args->executable->ndevices)
ANSWER(LoadedExecutable_IsDeleted, is_deleted, false)
ANSWER(Executable_NumReplicas, num_replicas, 1)
ANSWER(Executable_NumPartitions, num_partitions, (size_t)LOADED->ndevices)
ANSWER(Executable_NumOutputs, num_outputs, (size_t)LOADED->nresults)
ANSWER(Executable_SizeOfGeneratedCodeInBytes, size_in_bytes, 0)
NAME(Executable_Name, PJRT_Executable_Name_Args, executable_name, executable_name_size, "null")

static PJRT_Error *LoadedExecutable_Execute(PJRT_LoadedExecutable_Execute_Args *args)
{
    const PJRT_LoadedExecutable *e = args->executable;
    for (size_t d = 0; d < args->num_devices; d++) {
        for (int i = 0; i < e->nresults; i++)
            args->output_lists[d][i] = buffer_of(device_list[d], &e->results[i]);
        if (args->device_complete_events)
            args->device_complete_events[d] = (PJRT_Event *)&the_event;
    }
    return NULL;
}

/* The table: everything refuses, except what is said here. */

static PJRT_Api api;

static void fill_table(void)
{
    api.struct_size = PJRT_Api_SIZE;
    api.pjrt_api_version = (PJRT_Api_Version){ .struct_size = PJRT_Api_Version_SIZE,
                                               .major_version = PJRT_MAJOR,
                                               .minor_version = PJRT_MINOR };
#define FUNCTION(name) api.PJRT_##name = (PJRT_##name *)refuse;
#define PROCEDURE(name) /* both are said below */
#include "pjrt/functions.def"
#define DO(name) api.PJRT_##name = name;
#define NOTHING(name) api.PJRT_##name = (PJRT_##name *)nothing;
    /* clang-format off */
    DO(Error_Destroy) DO(Error_Message) DO(Error_GetCode) NOTHING(Error_ForEachPayload)
    NOTHING(Plugin_Initialize) DO(Plugin_Attributes) NOTHING(Event_Destroy) DO(Event_IsReady)
    NOTHING(Event_Error) NOTHING(Event_Await) DO(Event_OnReady) DO(Client_Create)
    NOTHING(Client_Destroy) DO(Client_PlatformName) DO(Client_PlatformVersion)
    DO(Client_ProcessIndex) DO(Client_Devices) DO(Client_AddressableDevices)
    DO(Client_AddressableMemories) DO(Client_LookupDevice) DO(Client_LookupAddressableDevice)
    DO(Client_Compile) DO(Client_BufferFromHostBuffer) DO(Device_GetDescription)
    DO(Device_IsAddressable) DO(Device_LocalHardwareId) DO(Device_AddressableMemories)
    DO(Device_DefaultMemory) DO(Device_GetAttributes) DO(DeviceDescription_Id)
    DO(DeviceDescription_ProcessIndex) DO(DeviceDescription_Attributes)
    DO(DeviceDescription_Kind) DO(DeviceDescription_DebugString) DO(DeviceDescription_ToString)
    DO(Memory_Id) DO(Memory_Kind) DO(Memory_Kind_Id) DO(Memory_DebugString) DO(Memory_ToString)
    DO(Memory_AddressableByDevices) DO(Buffer_Destroy) DO(Buffer_Delete) DO(Buffer_ToHostBuffer)
    DO(Buffer_CopyToMemory) DO(Buffer_ElementType) DO(Buffer_Dimensions) DO(Buffer_IsDeleted)
    DO(Buffer_IsOnCpu) DO(Buffer_Device) DO(Buffer_Memory) DO(Buffer_ReadyEvent)
    DO(Buffer_OnDeviceSizeInBytes) DO(LoadedExecutable_Destroy) NOTHING(Executable_Destroy)
    DO(LoadedExecutable_GetExecutable) DO(LoadedExecutable_AddressableDevices)
    DO(LoadedExecutable_GetDeviceAssignment) DO(LoadedExecutable_IsDeleted)
    NOTHING(LoadedExecutable_Delete) DO(Executable_NumReplicas) DO(Executable_NumPartitions)
    DO(Executable_NumOutputs) DO(Executable_SizeOfGeneratedCodeInBytes) DO(Executable_Name)
    DO(LoadedExecutable_Execute)
        /* clang-format on */
        api.PJRT_LoadedExecutable_AddressableDeviceLogicalIds = NULL; /* NULL is an answer here */
}

__attribute__((visibility("default"))) const PJRT_Api *GetPjrtApi(void);

const PJRT_Api *GetPjrtApi(void)
{
    if (!api.struct_size)
        fill_table();
    return &api;
}
