/* client.c - a client: its devices, and the executor that runs programs on them.
 *
 * Several clients may live in one process; none knows of another.  With several processes (hosts)
 * each has a client with as many devices; they are numbered process by process, and a client lists
 * all of them. */
#include "engine/plugin/plugin.h"

#include "base/sync.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Clients that have not been destroyed.  A process has one, or a few. */
static Lock clients_lock;
static PJRT_Client *clients;

static bool lies_in(const void *address, const void *first, size_t each, int n, size_t at)
{
    size_t offset = (size_t)((uintptr_t)address - (uintptr_t)first - at);
    return offset < each * (size_t)n && offset % each == 0;
}

static bool owns(const PJRT_Client *client, const void *address, ClientPart part)
{
    const PJRT_Device *devices = client->devices;
    int n = client->ndevices;
    switch (part) {
    case CLIENT_ITSELF: return address == client;
    case CLIENT_DEVICE: return lies_in(address, devices, sizeof *devices, n, 0);
    case CLIENT_MEMORY:
        for (size_t k = 0; k < MEMORY_KINDS; k++)
            if (lies_in(address, devices, sizeof *devices, n, offsetof(PJRT_Device, memory[k])))
                return true;
        return false;
    case CLIENT_DESCRIPTION:
        return lies_in(address, devices, sizeof *devices, n, offsetof(PJRT_Device, description));
    case CLIENT_TOPOLOGY: return address == &client->topology;
    default:
        return lies_in(address, executor_device(client->executor, 0), sizeof(Device), client->nhere,
                       0);
    }
}

bool client_owning(const void *address, ClientPart part)
{
    bool is_owned = false;
    lock_take(&clients_lock);
    for (const PJRT_Client *c = clients; c && !is_owned; c = c->next)
        is_owned = owns(c, address, part);
    lock_give(&clients_lock);
    return is_owned;
}

static void publish(PJRT_Client *client)
{
    lock_take(&clients_lock);
    client->next = clients;
    clients = client;
    lock_give(&clients_lock);
}

/* False: another thread destroys it, or has. */
static bool withdraw(PJRT_Client *client)
{
    lock_take(&clients_lock);
    PJRT_Client **link = &clients;
    while (*link && *link != client)
        link = &(*link)->next;
    bool was_there = *link;
    if (was_there)
        *link = client->next;
    lock_give(&clients_lock);
    return was_there;
}

static void client_free(PJRT_Client *client)
{
    executor_free(client->executor);
    pthread_mutex_destroy(&client->lock);
    free(client->devices);
    free(client->device_list);
    free(client->memory_list);
    free(client->topology.descriptions);
    free(client);
}

static void device_init(PJRT_Client *client, int id)
{
    PJRT_Device *device = &client->devices[id];
    PJRT_DeviceDescription *description = &device->description;
    int here = id - client->first;
    device->client = client;
    if (here >= 0 && here < client->nhere) {
        device->engine = executor_device(client->executor, here);
        device->engine->pjrt = device;
    }
    description->id = id;
    description->process = id / client->nhere;
    snprintf(description->name, sizeof description->name, "CpuDevice(id=%d)", id);
    snprintf(description->title, sizeof description->title, "%s:%d", client->topology.platform, id);
    for (int k = 0; k < MEMORY_KINDS; k++) {
        PJRT_Memory *memory = &device->memory[k];
        memory->device = device;
        memory->kind = (MemoryKind)k;
        snprintf(memory->name, sizeof memory->name, "%s memory of %s", memory_kind_names[k],
                 description->title);
        client->memory_list[id * MEMORY_KINDS + k] = device->memories[k] = memory;
    }
    client->device_list[id] = device;
    client->topology.descriptions[id] = description;
}

/* The tables for all devices, of which nhere are in this process. */
static bool make_tables(PJRT_Client *client, int nhere, const Hosts *hosts)
{
    client->hosts = hosts;
    client->nhere = nhere;
    client->first = hosts ? hosts->process * nhere : 0;
    client->ndevices = hosts ? hosts->nprocesses * nhere : nhere;
    size_t n = (size_t)client->ndevices;
    client->devices = calloc(n, sizeof *client->devices);
    client->device_list = calloc(n, sizeof *client->device_list);
    client->memory_list = calloc(n * MEMORY_KINDS, sizeof *client->memory_list);
    client->topology.ndevices = n;
    client->topology.descriptions = calloc(n, sizeof(PJRT_DeviceDescription *));
    return client->devices && client->device_list && client->memory_list &&
           client->topology.descriptions;
}

static Error *client_new(const ClientOptions *options, const Hosts *hosts, PJRT_Client **out)
{
    int nhere = options->ndevices;
    const Limits *limits = &options->limits;
    PJRT_Client *client = calloc(1, sizeof *client);
    if (!client)
        return error_new(CODE_EXHAUSTED, "no memory for a client of %d devices", nhere);
    pthread_mutex_init(&client->lock, NULL);
    Error *error =
        make_tables(client, nhere, hosts)
            ? executor_new(nhere, 0, limits->memory, &client->executor)
            : error_new(CODE_EXHAUSTED, "no memory for a client of %d devices", client->ndevices);
    if (!error)
        error = executor_bound_runs(client->executor, limits->seconds);
    if (error) {
        client_free(client);
        return error;
    }
    executor_name_devices(client->executor, client->first);
    client->topology.platform = options->platform;
    for (int id = 0; id < client->ndevices; id++)
        device_init(client, id);
    publish(client);
    *out = client;
    return NULL;
}

/* ---- the store that a client of several processes brings along ---- */

static PJRT_Error *callback_error(PJRT_Error_Code code, const char *message, size_t size)
{
    return (PJRT_Error *)error_new((ErrorCode)code, "%.*s", (int)size, message);
}

static Error *store_put(void *user, const char *key, const char *value)
{
    const PJRT_Client_Create_Args *client = user;
    PJRT_CallbackError make_error = callback_error;
    PJRT_KeyValuePutCallback_Args args = { .struct_size = PJRT_KeyValuePutCallback_Args_SIZE,
                                           .key = key,
                                           .key_size = strlen(key),
                                           .value = value,
                                           .value_size = strlen(value),
                                           .callback_error = &make_error,
                                           .user_arg = client->kv_put_user_arg };
    return (Error *)client->kv_put_callback(&args);
}

static Error *store_get(void *user, const char *key, int ms, char *value, size_t room)
{
    const PJRT_Client_Create_Args *client = user;
    PJRT_CallbackError make_error = callback_error;
    PJRT_KeyValueGetCallback_Args args = { .struct_size = PJRT_KeyValueGetCallback_Args_SIZE,
                                           .key = key,
                                           .key_size = strlen(key),
                                           .timeout_in_ms = ms,
                                           .callback_error = &make_error,
                                           .user_arg = client->kv_get_user_arg };
    TRY((Error *)client->kv_get_callback(&args));
    size_t n = args.value_size < room ? args.value_size : room - 1;
    memcpy(value, args.value, n);
    value[n] = 0;
    if (args.value_deleter_callback)
        args.value_deleter_callback(args.value);
    return NULL;
}

Error *pjrt_Client_Create(PJRT_Client_Create_Args *args)
{
    NEEDS(args, client);
    ClientOptions options;
    const Hosts *hosts = NULL;
    TRY(options_read(args->create_options, args->num_options, &options));
    TRY(environment_record());
    HostsStore store = { store_put, store_get, args };
    if (options.hosts.nprocesses > 1 && args->kv_put_callback && args->kv_get_callback)
        options.hosts.store = &store;
    TRY(hosts_join(&options.hosts, options.ndevices, PLATFORM_VERSION, &hosts));
    if (hosts)
        environment_joins(hosts->process, hosts->nprocesses);
    if (hosts && options.ndevices > POSSIBLE_DEVICES / hosts->nprocesses)
        return error_new(CODE_INVALID, "%d devices in each of %d processes; %d are possible in all",
                         options.ndevices, hosts->nprocesses, POSSIBLE_DEVICES);
    return client_new(&options, hosts, &args->client);
}

/* The caller has destroyed its executables and buffers, but may not have waited for what runs:
 * executor_free does, and with it the last holds on executables go. */
Error *pjrt_Client_Destroy(PJRT_Client_Destroy_Args *args)
{
    NEEDS(args, client);
    if (args->client && withdraw(args->client))
        client_free(args->client);
    return NULL;
}

Error *pjrt_Client_PlatformName(PJRT_Client_PlatformName_Args *args)
{
    NEEDS(args, platform_name_size);
    args->platform_name = args->client->topology.platform;
    args->platform_name_size = strlen(args->platform_name);
    return NULL;
}

Error *pjrt_Client_PlatformVersion(PJRT_Client_PlatformVersion_Args *args)
{
    NEEDS(args, platform_version_size);
    args->platform_version = PLATFORM_VERSION;
    args->platform_version_size = strlen(PLATFORM_VERSION);
    return NULL;
}

Error *pjrt_Client_ProcessIndex(PJRT_Client_ProcessIndex_Args *args)
{
    NEEDS(args, process_index);
    args->process_index = args->client->hosts ? args->client->hosts->process : 0;
    return NULL;
}

Error *pjrt_Client_Devices(PJRT_Client_Devices_Args *args)
{
    NEEDS(args, num_devices);
    args->devices = args->client->device_list;
    args->num_devices = (size_t)args->client->ndevices;
    return NULL;
}

Error *pjrt_Client_AddressableDevices(PJRT_Client_AddressableDevices_Args *args)
{
    NEEDS(args, num_addressable_devices);
    args->addressable_devices = args->client->device_list + args->client->first;
    args->num_addressable_devices = (size_t)args->client->nhere;
    return NULL;
}

static Error *find_device(PJRT_Client *client, int id, PJRT_Device **out)
{
    if (id < 0 || id >= client->ndevices)
        return error_new(CODE_INVALID, "there is no device %d; devices are 0 to %d", id,
                         client->ndevices - 1);
    *out = client->device_list[id];
    return NULL;
}

Error *pjrt_Client_LookupDevice(PJRT_Client_LookupDevice_Args *args)
{
    NEEDS(args, device);
    return find_device(args->client, args->id, &args->device);
}

Error *pjrt_Client_LookupAddressableDevice(PJRT_Client_LookupAddressableDevice_Args *args)
{
    NEEDS(args, addressable_device);
    PJRT_Client *client = args->client;
    int id = args->local_hardware_id;
    if (id < 0 || id >= client->nhere)
        return error_new(CODE_INVALID, "there is no device %d here; this process has 0 to %d", id,
                         client->nhere - 1);
    args->addressable_device = client->device_list[client->first + id];
    return NULL;
}

Error *pjrt_Client_AddressableMemories(PJRT_Client_AddressableMemories_Args *args)
{
    NEEDS(args, num_addressable_memories);
    args->addressable_memories = args->client->memory_list + args->client->first * MEMORY_KINDS;
    args->num_addressable_memories = (size_t)args->client->nhere * MEMORY_KINDS;
    return NULL;
}

Error *pjrt_Client_DefaultDeviceAssignment(PJRT_Client_DefaultDeviceAssignment_Args *args)
{
    NEEDS(args, default_assignment);
    int64_t n = (int64_t)args->num_replicas * args->num_partitions;
    if (args->num_replicas < 1 || args->num_partitions < 1 || n > args->client->ndevices ||
        (size_t)n > args->default_assignment_size)
        return error_new(CODE_INVALID,
                         "no assignment of %d replicas by %d partitions: there are %d devices and "
                         "room for %zu numbers",
                         args->num_replicas, args->num_partitions, args->client->ndevices,
                         args->default_assignment_size);
    for (int i = 0; i < (int)n; i++)
        args->default_assignment[i] = i;
    return NULL;
}

/* JAX says which processes it sees, and aborts if this fails.  Our own watch is quicker
 * (hosts/watch.c). */
Error *pjrt_Client_UpdateGlobalProcessInfo(PJRT_Client_UpdateGlobalProcessInfo_Args *args)
{
    (void)args;
    return NULL;
}
