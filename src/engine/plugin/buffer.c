/* buffer.c - buffers across the seam: exec's Buffer is PJRT's.
 *
 * Data from the host is always copied before the call returns, since the caller may write to it
 * later.  Data to the host is not copied at all when the caller takes a view: the memory of a
 * device is ordinary memory, and while a caller views it, deleting and donating leave it alone. */
#include "engine/plugin/plugin.h"
#include "engine/profile/record.h"

#include <limits.h>
#include <string.h>

Error *type_from_pjrt(PJRT_Buffer_Type element, const int64_t *dims, size_t rank, Type *out)
{
    Element e;
    if (!element_of_pjrt((int)element, &e))
        return error_new(CODE_UNIMPLEMENTED, "not supported: buffers of PJRT_Buffer_Type %d",
                         (int)element);
    if (rank > MAX_RANK)
        return error_new(CODE_UNIMPLEMENTED, "not supported: a buffer of %zu dimensions; %d are",
                         rank, MAX_RANK);
    int64_t bytes = element_info[e].bytes;
    for (size_t i = 0; i < rank; i++)
        if (dims[i] < 0 || __builtin_mul_overflow(bytes, dims[i] ? dims[i] : 1, &bytes))
            return error_new(CODE_INVALID, "dimension %zu of a buffer is %lld", i,
                             (long long)dims[i]);
    *out = (Type){ e, (int)rank, dims };
    return NULL;
}

static Error *device_of(PJRT_Client *client, PJRT_Device *device, PJRT_Memory *memory, Device **out)
{
    if (!device && memory)
        device = memory->device;
    if (!device || device->client != client)
        return error_new(CODE_INVALID, "a buffer needs a device or a memory of its own client");
    TRY(device_check_here(device, "a buffer"));
    *out = device->engine;
    return NULL;
}

static MemoryKind kind_of(const PJRT_Memory *memory)
{
    return memory ? memory->kind : MEMORY_DEVICE;
}

Error *pjrt_Client_BufferFromHostBuffer(PJRT_Client_BufferFromHostBuffer_Args *args)
{
    NEEDS(args, buffer);
    Device *device = NULL;
    Type type;
    TRY(device_of(args->client, args->device, args->memory, &device));
    TRY(type_from_pjrt(args->type, args->dims, args->num_dims, &type));
    if (args->num_byte_strides && args->num_byte_strides != args->num_dims)
        return error_new(CODE_INVALID, "%zu strides for a host array %s", args->num_byte_strides,
                         type_name(type));
    if (!args->data && type_bytes(type))
        return error_new(CODE_INVALID,
                         "Client_BufferFromHostBuffer: data is NULL, and %s has %zu "
                         "bytes",
                         type_name(type), type_bytes(type));
    uint64_t began = record_start();
    TRY(buffer_from_host(device, type, args->data,
                         args->num_byte_strides ? args->byte_strides : NULL, &args->buffer));
    record_end(began, RECORD_TRANSFER, STR("to device"), device->id, type_bytes(type));
    args->buffer->kind = kind_of(args->memory);
    args->done_with_host_buffer = event_ready(NULL);
    return NULL;
}

/* From the last dimension to the first; those of extent 1 may stand anywhere. */
static bool counts_down(const PJRT_Buffer_MemoryLayout_Tiled *t, Type type)
{
    int64_t before = type.rank;
    if (!t->minor_to_major)
        return false;
    for (size_t i = 0; i < t->minor_to_major_size; i++) {
        int64_t d = t->minor_to_major[i];
        if (d < 0 || d >= type.rank || (type.dims[d] != 1 && d >= before))
            return false;
        before = type.dims[d] == 1 ? before : d;
    }
    return t->num_tiles == 0 && t->minor_to_major_size == (size_t)type.rank;
}

/* The struct_size inside a layout is not filled in. */
bool is_row_major(const PJRT_Buffer_MemoryLayout *layout, Type type)
{
    if (!layout || type.rank < 2 || type_count(type) < 2)
        return true;
    if (layout->type == PJRT_Buffer_MemoryLayout_Type_Tiled)
        return counts_down(&layout->tiled, type);
    if (layout->type != PJRT_Buffer_MemoryLayout_Type_Strides || !layout->strides.byte_strides ||
        layout->strides.num_byte_strides != (size_t)type.rank)
        return false;
    int64_t strides[MAX_RANK];
    type_strides(type, strides);
    for (int i = 0; i < type.rank; i++)
        if (layout->strides.byte_strides[i] != strides[i] * element_info[type.element].bytes)
            return false;
    return true;
}

/* False: it is not the order of whole dimensions, or its strides are not row-major. */
static bool order_of_layout(const PJRT_Buffer_MemoryLayout *layout, Type type, Order *out)
{
    *out = 0;
    if (is_row_major(layout, type))
        return true;
    const PJRT_Buffer_MemoryLayout_Tiled *t = &layout->tiled;
    return layout->type == PJRT_Buffer_MemoryLayout_Type_Tiled && t->num_tiles == 0 &&
           t->minor_to_major && t->minor_to_major_size == (size_t)type.rank &&
           order_of(type.rank, t->minor_to_major, out);
}

/* Code takes its arguments as dense row-major arrays, each element where such an element may
 * lie. */
static Error *check_view(const PJRT_Client_CreateViewOfDeviceBuffer_Args *args, Type type)
{
    int bytes = element_info[type.element].bytes;
    int wanted = element_info[type.element].kind == COMPLEX ? bytes / 2 : bytes;
    if (!args->device_buffer_ptr && type_bytes(type))
        return error_new(CODE_INVALID, "a view of %s at NULL", type_name(type));
    if (!is_row_major(args->layout, type))
        return error_new(CODE_UNIMPLEMENTED,
                         "not supported: a view of %s in a layout that is not row-major",
                         type_name(type));
    if ((uintptr_t)args->device_buffer_ptr % (unsigned)wanted != 0)
        return error_new(CODE_UNIMPLEMENTED,
                         "not supported: a view of %s that begins at %p, between two elements",
                         type_name(type), args->device_buffer_ptr);
    return NULL;
}

/* A foreign array keeps its owner's memory until the last release. */
Error *pjrt_Client_CreateViewOfDeviceBuffer(PJRT_Client_CreateViewOfDeviceBuffer_Args *args)
{
    NEEDS(args, buffer);
    Device *device = NULL;
    Type type;
    TRY(device_of(args->client, args->device, PJRT_HAS(args, memory) ? args->memory : NULL,
                  &device));
    TRY(type_from_pjrt(args->element_type, args->dims, args->num_dims, &type));
    TRY(check_view(args, type));
    Buffer *buffer;
    TRY(buffer_new(device, type, NULL, NULL, &buffer));
    Storage *storage = storage_foreign(args->device_buffer_ptr, type_bytes(type),
                                       args->on_delete_callback, args->on_delete_callback_arg);
    if (!storage) {
        buffer_free(buffer);
        return error_new(CODE_EXHAUSTED, "no memory for the books of a view of %s",
                         type_name(type));
    }
    buffer_fill(buffer, storage, NULL);
    buffer->kind = kind_of(PJRT_HAS(args, memory) ? args->memory : NULL);
    args->buffer = buffer;
    return NULL;
}

static Error *new_buffer(PJRT_Client *client, PJRT_Device *device, PJRT_Memory *memory,
                         PJRT_Buffer_Type element, const int64_t *dims, size_t rank, Event *ready,
                         Buffer **out)
{
    Device *on = NULL;
    Type type;
    Storage *storage;
    TRY(device_of(client, device, memory, &on));
    TRY(type_from_pjrt(element, dims, rank, &type));
    TRY(storage_new(on->memory, type, &storage));
    TRY(buffer_new(on, type, storage, ready, out));
    (*out)->kind = kind_of(memory);
    return NULL;
}

Error *pjrt_Client_CreateUninitializedBuffer(PJRT_Client_CreateUninitializedBuffer_Args *args)
{
    NEEDS(args, buffer);
    return new_buffer(args->client, args->device, args->memory, args->shape_element_type,
                      args->shape_dims, args->shape_num_dims, NULL, &args->buffer);
}

Error *pjrt_Client_CreateErrorBuffer(PJRT_Client_CreateErrorBuffer_Args *args)
{
    NEEDS(args, buffer);
    size_t n = args->error_message_size < INT_MAX ? args->error_message_size : INT_MAX;
    Event *failed =
        event_ready(error_new((ErrorCode)args->error_code, "%.*s", (int)n, args->error_message));
    Error *error = new_buffer(args->client, NULL, args->memory, args->shape_element_type,
                              args->shape_dims, args->shape_num_dims, failed, &args->buffer);
    event_release(failed);
    return error;
}

Error *pjrt_Buffer_Destroy(PJRT_Buffer_Destroy_Args *args)
{
    NEEDS(args, buffer);
    if (args->buffer)
        buffer_free(args->buffer);
    return NULL;
}

Error *pjrt_Buffer_ElementType(PJRT_Buffer_ElementType_Args *args)
{
    NEEDS(args, type);
    args->type = (PJRT_Buffer_Type)element_info[args->buffer->type.element].pjrt;
    return NULL;
}

Error *pjrt_Buffer_Dimensions(PJRT_Buffer_Dimensions_Args *args)
{
    NEEDS(args, num_dims);
    args->dims = args->buffer->dims_;
    args->num_dims = (size_t)args->buffer->type.rank;
    return NULL;
}

Error *pjrt_Buffer_UnpaddedDimensions(PJRT_Buffer_UnpaddedDimensions_Args *args)
{
    NEEDS(args, num_dims);
    args->unpadded_dims = args->buffer->dims_;
    args->num_dims = (size_t)args->buffer->type.rank;
    return NULL;
}

Error *pjrt_Buffer_DynamicDimensionIndices(PJRT_Buffer_DynamicDimensionIndices_Args *args)
{
    NEEDS(args, num_dynamic_dims);
    args->dynamic_dim_indices = NULL;
    args->num_dynamic_dims = 0;
    return NULL;
}

Error *pjrt_Buffer_GetMemoryLayout(PJRT_Buffer_GetMemoryLayout_Args *args)
{
    NEEDS(args, layout);
    int rank = args->buffer->type.rank;
    PJRT_Layouts_MemoryLayout *layout;
    TRY(layout_get((size_t)rank, args->buffer->order, &layout));
    args->layout = (PJRT_Buffer_MemoryLayout){
        .struct_size = PJRT_Buffer_MemoryLayout_SIZE,
        .type = PJRT_Buffer_MemoryLayout_Type_Tiled,
        .tiled = { .struct_size = PJRT_Buffer_MemoryLayout_Tiled_SIZE,
                   .minor_to_major = layout_minor_to_major(layout),
                   .minor_to_major_size = (size_t)rank },
    };
    return NULL;
}

static Error *to_host(Buffer *from, Order order, void *to, size_t bytes, Event **done)
{
    uint64_t began = record_start();
    TRY(buffer_to_host_in_order(from, order, to, bytes, done));
    event_give(*done);
    record_end(began, RECORD_TRANSFER, STR("to host"), from->device->id, bytes);
    return NULL;
}

/* Never waits: the caller may hold a lock that the data needs. */
Error *pjrt_Buffer_ToHostBuffer(PJRT_Buffer_ToHostBuffer_Args *args)
{
    NEEDS(args, event);
    Type type = args->src->type;
    if (!args->dst) {
        args->dst_size = type_bytes(type);
        return NULL;
    }
    if (args->dst_size < type_bytes(type))
        return error_new(CODE_INVALID, "%s needs %zu bytes on the host; there are %zu",
                         type_name(type), type_bytes(type), args->dst_size);
    Order order = args->src->order; /* unless the caller names one */
    if (args->host_layout && !order_of_layout(args->host_layout, type, &order))
        return error_new(CODE_UNIMPLEMENTED,
                         "not supported: copying %s to the host in a layout with tiles or strides",
                         type_name(type));
    return to_host(args->src, order, args->dst, args->dst_size, &args->event);
}

Error *pjrt_Buffer_CopyRawToHost(PJRT_Buffer_CopyRawToHost_Args *args)
{
    NEEDS(args, event);
    size_t bytes = type_bytes(args->buffer->type);
    if (args->offset != 0 || (size_t)args->transfer_size != bytes)
        return error_new(CODE_UNIMPLEMENTED,
                         "not supported: copying bytes %lld to %lld of a buffer of %zu; the whole "
                         "of it is",
                         (long long)args->offset, (long long)(args->offset + args->transfer_size),
                         bytes);
    return to_host(args->buffer, args->buffer->order, args->dst, bytes, &args->event);
}

Error *pjrt_Buffer_OnDeviceSizeInBytes(PJRT_Buffer_OnDeviceSizeInBytes_Args *args)
{
    NEEDS(args, on_device_size_in_bytes);
    args->on_device_size_in_bytes = type_bytes(args->buffer->type);
    return NULL;
}

Error *pjrt_Buffer_Device(PJRT_Buffer_Device_Args *args)
{
    NEEDS(args, device);
    args->device = args->buffer->device->pjrt;
    return NULL;
}

Error *pjrt_Buffer_Memory(PJRT_Buffer_Memory_Args *args)
{
    NEEDS(args, memory);
    args->memory = &((PJRT_Device *)args->buffer->device->pjrt)->memory[args->buffer->kind];
    return NULL;
}

Error *pjrt_Buffer_Delete(PJRT_Buffer_Delete_Args *args)
{
    NEEDS(args, buffer);
    buffer_delete(args->buffer);
    return NULL;
}

Error *pjrt_Buffer_IsDeleted(PJRT_Buffer_IsDeleted_Args *args)
{
    NEEDS(args, is_deleted);
    args->is_deleted = buffer_is_deleted(args->buffer);
    return NULL;
}

static Error *copy_to(Buffer *from, Device *device, Buffer **out)
{
    uint64_t began = record_start();
    TRY(buffer_copy(from, device, out));
    record_end(began, RECORD_TRANSFER, STR("to another device"), device->id,
               type_bytes(from->type));
    return NULL;
}

Error *pjrt_Buffer_CopyToDevice(PJRT_Buffer_CopyToDevice_Args *args)
{
    NEEDS(args, dst_buffer);
    return copy_to(args->buffer, args->dst_device->engine, &args->dst_buffer);
}

Error *pjrt_Buffer_CopyToMemory(PJRT_Buffer_CopyToMemory_Args *args)
{
    NEEDS(args, dst_buffer);
    TRY(copy_to(args->buffer, args->dst_memory->device->engine, &args->dst_buffer));
    args->dst_buffer->kind = args->dst_memory->kind;
    return NULL;
}

Error *pjrt_Buffer_IsOnCpu(PJRT_Buffer_IsOnCpu_Args *args)
{
    NEEDS(args, is_on_cpu);
    args->is_on_cpu = true;
    return NULL;
}

Error *pjrt_Buffer_ReadyEvent(PJRT_Buffer_ReadyEvent_Args *args)
{
    NEEDS(args, event);
    args->event = event_give(buffer_ready(args->buffer));
    return NULL;
}

Error *
pjrt_Buffer_IncreaseExternalReferenceCount(PJRT_Buffer_IncreaseExternalReferenceCount_Args *args)
{
    NEEDS(args, buffer);
    void *data;
    return buffer_view(args->buffer, &data);
}

Error *
pjrt_Buffer_DecreaseExternalReferenceCount(PJRT_Buffer_DecreaseExternalReferenceCount_Args *args)
{
    NEEDS(args, buffer);
    buffer_unview(args->buffer);
    return NULL;
}

static Error *pointer_of(Buffer *buffer, void **data)
{
    TRY(buffer_view(buffer, data));
    buffer_unview(buffer);
    return NULL;
}

Error *
pjrt_Buffer_OpaqueDeviceMemoryDataPointer(PJRT_Buffer_OpaqueDeviceMemoryDataPointer_Args *args)
{
    NEEDS(args, device_memory_ptr);
    return pointer_of(args->buffer, &args->device_memory_ptr);
}

Error *pjrt_Buffer_UnsafePointer(PJRT_Buffer_UnsafePointer_Args *args)
{
    NEEDS(args, buffer_pointer);
    void *data;
    TRY(pointer_of(args->buffer, &data));
    args->buffer_pointer = (uintptr_t)data;
    return NULL;
}
