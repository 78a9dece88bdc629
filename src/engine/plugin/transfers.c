/* transfers.c - arrays between devices of different processes, which JAX's device_put asks for: one
 * process sends, the other receives, and both have the same key for it (exec/cross_transfer.c). */
#include "engine/exec/cross_transfer.h"
#include "engine/plugin/plugin.h"

static Error *check_buffer(const PJRT_Client *client, const Buffer *b)
{
    if (!b || !handle_is(b, HANDLE_BUFFER) || !client_owning(b->device, CLIENT_ENGINE_DEVICE) ||
        ((const PJRT_Device *)b->device->pjrt)->client != client)
        return error_new(CODE_INVALID,
                         "CrossHostSendBuffers: no PJRT_Buffer of this client: it was "
                         "destroyed, or never was one");
    return NULL;
}

/* `id` is to be of another process. */
static Error *name_peer(const PJRT_Client *client, const char *what, int32_t id, int *peer)
{
    if (id < 0 || id >= client->ndevices)
        return error_new(CODE_INVALID, "%s: there is no device %d: the client has 0 to %d", what,
                         (int)id, client->ndevices - 1);
    *peer = client->devices[id].description.process;
    if (!client->hosts || *peer == client->hosts->process)
        return error_new(CODE_INVALID,
                         "%s: device %d is in this process: Buffer_CopyToDevice copies to it", what,
                         (int)id);
    return NULL;
}

Error *pjrt_Transfers_PJRT_Client_CrossHostSendBuffers(
    PJRT_Transfers_PJRT_Client_CrossHostSendBuffers_Args *args)
{
    NEEDS(args, send_events);
    int peer;
    for (size_t i = 0; i < args->num_buffers; i++) {
        TRY(check_buffer(args->client, args->buffers[i]));
        TRY(name_peer(args->client, "CrossHostSendBuffers", args->dst_global_device_ids[i], &peer));
    }
    for (size_t i = 0; i < args->num_buffers; i++) {
        Buffer *buffer = args->buffers[i];
        int to = args->dst_global_device_ids[i];
        TransferName name = { args->transfer_keys[i], buffer->device->id, to,
                              args->client->devices[to].description.process };
        transfer_send(args->client->hosts->wire, buffer, &name, &args->send_events[i]);
        event_give(args->send_events[i]);
    }
    return NULL;
}

static Error *receive(const PJRT_Transfers_PJRT_Client_CrossHostReceiveBuffers_Args *args, size_t i)
{
    Type type;
    TransferName name = { args->transfer_keys[i], args->src_global_device_ids[i],
                          args->device->description.id, 0 };
    TRY(name_peer(args->client, "CrossHostReceiveBuffers", name.from, &name.peer));
    TRY(type_from_pjrt(args->element_types[i], args->num_dims[i], args->shape_num_dims[i], &type));
    if (args->layouts && !is_row_major(args->layouts[i], type))
        return error_new(CODE_UNIMPLEMENTED,
                         "not supported: a transfer of %s into a layout that is not row-major",
                         type_name(type));
    return transfer_receive(args->client->hosts->wire, args->device->engine, type, &name,
                            &args->buffers[i]);
}

Error *pjrt_Transfers_PJRT_Client_CrossHostReceiveBuffers(
    PJRT_Transfers_PJRT_Client_CrossHostReceiveBuffers_Args *args)
{
    NEEDS(args, buffers);
    if (args->device->client != args->client)
        return error_new(CODE_INVALID, "CrossHostReceiveBuffers: the device is another client's");
    TRY(device_check_here(args->device, "CrossHostReceiveBuffers"));
    Error *error = NULL;
    for (size_t i = 0; i < args->num_shapes && !error; i++) {
        error = receive(args, i);
        for (size_t k = 0; error && k < i; k++)
            buffer_free(args->buffers[k]);
    }
    return error;
}

/* ---- the older way, by descriptors: refused, so that callers take the one above ---- */

Error *pjrt_Transfers_PJRT_Client_MakeCrossHostReceiveBuffers(
    PJRT_Transfers_PJRT_Client_MakeCrossHostReceiveBuffers_Args *args)
{
    (void)args;
    return error_new(CODE_UNIMPLEMENTED,
                     "not supported: PJRT_Transfers_PJRT_Client_MakeCrossHostReceiveBuffers");
}

static void copy_to_remote_device(PJRT_Transfers_PJRT_Buffer_CopyToRemoteDevice_Args *args)
{
    Error *error = error_new(CODE_UNIMPLEMENTED,
                             "not supported: PJRT_Transfers_PJRT_Buffer_CopyToRemoteDevice");
    args->on_done.on_done(error, false, args->on_done.user_arg);
    error_free(error);
}

PJRT_CrossHostTransfers_Extension transfers_extension = {
    .base = { PJRT_CrossHostTransfers_Extension_SIZE, PJRT_Extension_Type_CrossHostTransfers,
              &profiler_extension.base },
    .PJRT_Transfers_PJRT_Client_MakeCrossHostReceiveBuffers =
        checked_Transfers_PJRT_Client_MakeCrossHostReceiveBuffers,
    .PJRT_Transfers_PJRT_Buffer_CopyToRemoteDevice = copy_to_remote_device,
    .PJRT_Transfers_PJRT_Client_CrossHostReceiveBuffers =
        checked_Transfers_PJRT_Client_CrossHostReceiveBuffers,
    .PJRT_Transfers_PJRT_Client_CrossHostSendBuffers =
        checked_Transfers_PJRT_Client_CrossHostSendBuffers,
};
