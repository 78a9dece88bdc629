/* checked.c - every function of the table behind a check of what it is given.
 *
 *     table --> checked_X: is args there, does it reach the field, is the handle alive? --> pjrt_X
 *
 * inputs.def says what X needs; a function that it does not list does not link.  A handle that
 * never was one can be told from those of clients and devices alone, which are known; of the others
 * only that they are NULL, of another kind, or gone for a short while (memory/handle.h). */
#include "engine/plugin/handle_kinds.h"
#include "engine/plugin/plugin.h"

static const char *const names[] = {
    [POINTER] = "address",
    [ERROR] = "PJRT_Error",
    [EVENT] = "PJRT_Event",
    [BUFFER] = "PJRT_Buffer",
    [PLACED] = "PJRT_Buffer",
    [EXECUTABLE] = "PJRT_Executable",
    [CONTEXT] = "PJRT_ExecuteContext",
    [LOADED] = "PJRT_LoadedExecutable",
    [LAYOUT] = "PJRT_Layouts_MemoryLayout",
    [CLIENT] = "PJRT_Client",
    [DEVICE] = "PJRT_Device",
    [MEMORY] = "PJRT_Memory",
    [DESCRIPTION] = "PJRT_DeviceDescription",
    [TOPOLOGY] = "PJRT_TopologyDescription",
};

static bool is_alive(const void *handle, Kind kind)
{
    switch (kind) {
    case ERROR: return ((const PJRT_Error_Start *)handle)->vtable == error_vtable;
    case EVENT: return handle_is(handle, HANDLE_EVENT);
    case BUFFER:
    case PLACED: return handle_is(handle, HANDLE_BUFFER);
    case EXECUTABLE: return handle_is(handle, HANDLE_EXECUTABLE);
    case LOADED: return handle_is(handle, HANDLE_LOADED);
    case CONTEXT: return handle_is(handle, HANDLE_CONTEXT);
    case LAYOUT: return is_layout(handle);
    case CLIENT: return client_owning(handle, CLIENT_ITSELF);
    case DEVICE: return client_owning(handle, CLIENT_DEVICE);
    case MEMORY: return client_owning(handle, CLIENT_MEMORY);
    case DESCRIPTION: return client_owning(handle, CLIENT_DESCRIPTION);
    case TOPOLOGY: return client_owning(handle, CLIENT_TOPOLOGY);
    default: return true;
    }
}

/* Is the client that a live handle depends on alive too? */
static bool has_client(const void *handle, Kind kind)
{
    switch (kind) {
    case PLACED: return client_owning(((const Buffer *)handle)->device, CLIENT_ENGINE_DEVICE);
    case EXECUTABLE:
        return client_owning(((const PJRT_Executable *)handle)->compiled->client, CLIENT_ITSELF);
    case LOADED:
        return client_owning(((const PJRT_LoadedExecutable *)handle)->client, CLIENT_ITSELF);
    default: return true;
    }
}

static Error *check_handle(const char *function, const char *field, const void *handle, Kind kind)
{
    if (!handle)
        return error_new(CODE_INVALID, "%s: %s is NULL; it must be %s %s", function, field,
                         kind == POINTER ? "an" : "a", names[kind]);
    if (!is_alive(handle, kind))
        return error_new(CODE_INVALID, "%s: %s is no %s: it was destroyed, or never was one",
                         function, field, names[kind]);
    if (!has_client(handle, kind))
        return error_new(CODE_INVALID, "%s: the client of %s has been destroyed", function, field);
    return NULL;
}

static Error *no_arguments(const char *function)
{
    return error_new(CODE_INVALID, "%s: args is NULL", function);
}

static Error *no_list(const char *function, const char *field, size_t n)
{
    return error_new(CODE_INVALID, "%s: %s is NULL, and there are to be %zu of them", function,
                     field, n);
}

#define GIVEN(field, kind)                                                                         \
    if (!PJRT_HAS(args, field))                                                                    \
        return struct_too_small(name, args->struct_size,                                           \
                                offsetof(__typeof__(*args), field) + sizeof args->field);          \
    TRY(check_handle(name, #field, (const void *)args->field, kind));
#define MAYBE(field, kind)                                                                         \
    if (PJRT_HAS(args, field) && args->field)                                                      \
        TRY(check_handle(name, #field, (const void *)args->field, kind));
#define LIST(field, count)                                                                         \
    if (PJRT_HAS(args, field) && PJRT_HAS(args, count) && args->count && !args->field)             \
        return no_list(name, #field, (size_t)args->count);
#define INPUTS(function, ...)                                                                      \
    Error *checked_##function(PJRT_##function##_Args *args)                                        \
    {                                                                                              \
        static const char name[] = #function;                                                      \
        if (!args)                                                                                 \
            return no_arguments(name);                                                             \
        __VA_ARGS__                                                                                \
        return pjrt_##function(args);                                                              \
    }
#include "engine/plugin/inputs.def"
