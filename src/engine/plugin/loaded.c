/* loaded.c - an executable on its devices: placing it (Client_Compile), and Execute.
 *
 * Execute runs the program on all its devices in one call.  It hands the whole to launch_start,
 * which checks the arguments, and keeps the executable until the run has ended: a client may
 * destroy its handle while the program still runs.  Of a program whose devices are in several
 * processes each client runs its own part. */
#include "engine/plugin/plugin.h"

#include "base/guard.h"
#include "engine/plugin/build_options.h"
#include "engine/profile/record.h"
#include "pjrt/proto.h"

#include <stdlib.h>
#include <string.h>

static void loaded_free(PJRT_LoadedExecutable *l)
{
    compiled_end_handle(l->compiled);
    free((char *)l->options.at);
    text_free(&l->assignment);
    free(l->devices);
    free(l->engines);
    free(l->logical_ids);
    handle_free(HANDLE_LOADED, l, sizeof *l);
}

static Error *no_memory(int ndevices)
{
    return error_new(CODE_EXHAUSTED, "no memory to load a program on %d devices", ndevices);
}

typedef struct Assignment {
    PJRT_LoadedExecutable *l;
    const int *ids;
} Assignment;

static void write_assignment(void *user)
{
    Assignment *a = user;
    const Program *p = a->l->compiled->program;
    assignment_write(&a->l->assignment, p->nreplicas, p->npartitions, a->ids);
}

/* The ids of the devices: the assignment given, else 0, 1, 2, ... */
static Error *read_ids(const PJRT_LoadedExecutable *l, const BuildOptions *o, int *ids)
{
    const Program *p = l->compiled->program;
    int there = l->client->ndevices;
    for (int d = 0; d < p->ndevices; d++) {
        int id = ids[d] = o->ndevices ? o->devices[d] : d;
        if (id < 0 || id >= there)
            return error_new(CODE_INVALID, "the device assignment names device %d of %d", id,
                             there);
        for (int before = 0; before < d; before++)
            if (ids[before] == id)
                return error_new(CODE_INVALID, "the device assignment names device %d twice", id);
    }
    return NULL;
}

/* Lists the devices that are in this process. */
static void list_devices(PJRT_LoadedExecutable *l, const int *ids)
{
    const Program *p = l->compiled->program;
    l->ndevices = 0;
    for (int d = 0; d < p->ndevices; d++) {
        PJRT_Device *device = l->client->device_list[ids[d]];
        if (!device->engine)
            continue;
        int at = l->ndevices++;
        l->devices[at] = device;
        l->engines[at] = device->engine;
        l->logical_ids[at] = (PJRT_LogicalDeviceIds){ d / p->npartitions, d % p->npartitions };
    }
}

static Error *assign_ids(PJRT_LoadedExecutable *l, const BuildOptions *o, int *ids)
{
    TRY(read_ids(l, o, ids));
    list_devices(l, ids);
    TRY(span_get(l->client, l->compiled, ids, &l->span));
    Error *error = guard_run("loading", write_assignment, &(Assignment){ l, ids });
    if (error)
        l->assignment = (Text){ 0 }; /* what was begun of it went with the guard */
    return error;
}

static Error *assign_devices(PJRT_LoadedExecutable *l, const BuildOptions *o)
{
    const Program *p = l->compiled->program;
    PJRT_Client *client = l->client;
    int said = o->ndevices ? o->ndevices : p->ndevices;
    if (said != p->ndevices || (o->npartitions && o->npartitions != p->npartitions))
        return error_new(CODE_INVALID,
                         "the program is for %d replicas by %d partitions, the compile options "
                         "for %d by %d with %d devices",
                         p->nreplicas, p->npartitions, o->nreplicas, o->npartitions, said);
    if (p->ndevices > client->ndevices)
        return error_new(CODE_INVALID,
                         "the program needs %d devices and there are %d; set TUTTI_DEVICES=%d",
                         p->ndevices, client->ndevices, p->ndevices);
    int *ids = calloc((size_t)p->ndevices, sizeof *ids);
    Error *error = ids ? assign_ids(l, o, ids) : no_memory(p->ndevices);
    free(ids);
    return error;
}

static char *copy_of(Str text)
{
    char *own = malloc(text.n + 1);
    if (own && text.n)
        memcpy(own, text.at, text.n);
    if (own)
        own[text.n] = 0;
    return own;
}

/* Takes the caller's hold on compiled. */
static Error *loaded_new(PJRT_Client *client, Compiled *compiled, const BuildOptions *o,
                         Str options, PJRT_LoadedExecutable **out)
{
    size_t n = (size_t)compiled->program->ndevices;
    PJRT_LoadedExecutable *l = handle_new(HANDLE_LOADED, sizeof *l);
    if (!l) {
        compiled_release(compiled);
        return no_memory((int)n);
    }
    *l = (PJRT_LoadedExecutable){ .head = l->head,
                                  .client = client,
                                  .compiled = compiled_begin_handle(compiled),
                                  .options = { copy_of(options), options.n },
                                  .is_portable = o->is_portable && n == 1,
                                  .ndevices = (int)n,
                                  .devices = calloc(n, sizeof *l->devices),
                                  .engines = calloc(n, sizeof *l->engines),
                                  .logical_ids = calloc(n, sizeof *l->logical_ids) };
    bool has_all = l->options.at && l->devices && l->engines && l->logical_ids;
    Error *error = has_all ? assign_devices(l, o) : no_memory((int)n);
    if (error) {
        loaded_free(l);
        return error;
    }
    *out = l;
    return NULL;
}

typedef struct Loading {
    PJRT_Client *client;
    Str program, options;
    Arena *arena; /* of what was read of the options */
    BuildOptions o;
    Compiled *compiled;
    Error *error;
} Loading;

static void read_and_compile(void *user)
{
    Loading *l = user;
    l->arena = arena_new();
    l->error = build_options_read(l->arena, l->options, &l->o);
    if (!l->error)
        l->error = compiled_get(l->client, l->program, &l->o, &l->compiled);
}

/* Under a guard only until the program is compiled: from then on other threads may find it. */
Error *loaded_compile(PJRT_Client *client, Str program, Str options, PJRT_LoadedExecutable **out)
{
    TRY(executor_check(client->executor));
    Loading l = { .client = client, .program = program, .options = options };
    TRY(guard_run("compile", read_and_compile, &l));
    if (!l.error)
        l.error = loaded_new(client, l.compiled, &l.o, options, out);
    arena_free(l.arena);
    return l.error;
}

Error *pjrt_Client_Compile(PJRT_Client_Compile_Args *args)
{
    NEEDS(args, executable);
    const PJRT_Program *program = args->program;
    if ((program->code_size && !program->code) || (program->format_size && !program->format))
        return error_new(CODE_INVALID, "Client_Compile: the program's code or format is NULL, and "
                                       "its size is not 0");
    Str format = { program->format, program->format_size };
    if (!str_is(format, "mlir"))
        return error_new(CODE_UNIMPLEMENTED,
                         "not supported: programs in format '%.*s'; StableHLO ('mlir') is",
                         STR_ARG(format));
    return loaded_compile(args->client, (Str){ program->code, program->code_size },
                          (Str){ args->compile_options, args->compile_options_size },
                          &args->executable);
}

Error *pjrt_LoadedExecutable_Destroy(PJRT_LoadedExecutable_Destroy_Args *args)
{
    NEEDS(args, executable);
    if (args->executable)
        loaded_free(args->executable);
    return NULL;
}

Error *pjrt_LoadedExecutable_GetExecutable(PJRT_LoadedExecutable_GetExecutable_Args *args)
{
    NEEDS(args, executable);
    const PJRT_LoadedExecutable *l = args->loaded_executable;
    return executable_new(l->compiled, l->options, &args->executable);
}

Error *pjrt_LoadedExecutable_AddressableDevices(PJRT_LoadedExecutable_AddressableDevices_Args *args)
{
    NEEDS(args, num_addressable_devices);
    args->addressable_devices = args->executable->devices;
    args->num_addressable_devices =
        args->executable->is_portable ? 0 : (size_t)args->executable->ndevices;
    return NULL;
}

Error *pjrt_LoadedExecutable_AddressableDeviceLogicalIds(
    PJRT_LoadedExecutable_AddressableDeviceLogicalIds_Args *args)
{
    NEEDS(args, num_addressable_device_logical_ids);
    args->addressable_device_logical_ids = args->executable->logical_ids;
    args->num_addressable_device_logical_ids =
        args->executable->is_portable ? 0 : (size_t)args->executable->ndevices;
    return NULL;
}

static void keep_assignment(PJRT_DeviceAssignmentSerialized *assignment)
{
    (void)assignment; /* it is the executable's */
}

Error *
pjrt_LoadedExecutable_GetDeviceAssignment(PJRT_LoadedExecutable_GetDeviceAssignment_Args *args)
{
    NEEDS(args, serialized_device_assignment_deleter);
    PJRT_LoadedExecutable *l = args->executable;
    args->serialized_bytes = text_cstr(&l->assignment);
    args->serialized_bytes_size = l->is_portable ? 0 : l->assignment.n;
    args->serialized_device_assignment = NULL;
    args->serialized_device_assignment_deleter = keep_assignment;
    return NULL;
}

Error *pjrt_LoadedExecutable_Delete(PJRT_LoadedExecutable_Delete_Args *args)
{
    NEEDS(args, executable);
    args->executable->is_deleted = true;
    return NULL;
}

Error *pjrt_LoadedExecutable_IsDeleted(PJRT_LoadedExecutable_IsDeleted_Args *args)
{
    NEEDS(args, is_deleted);
    args->is_deleted = args->executable->is_deleted;
    return NULL;
}

Error *pjrt_LoadedExecutable_Fingerprint(PJRT_LoadedExecutable_Fingerprint_Args *args)
{
    NEEDS(args, executable_fingerprint_size);
    args->executable_fingerprint = args->executable->compiled->fingerprint;
    args->executable_fingerprint_size = strlen(args->executable_fingerprint);
    return NULL;
}

/* Out of the options: which arguments must stay as they are, whatever the program allows. */
static Error *read_not_donatable(const PJRT_ExecuteOptions *o, int nargs, bool *may_not)
{
    if (!o || !PJRT_HAS(o, num_non_donatable_input_indices))
        return NULL;
    if (o->num_non_donatable_input_indices && !o->non_donatable_input_indices)
        return error_new(CODE_INVALID,
                         "Execute: non_donatable_input_indices is NULL, and there "
                         "are to be %zu of them",
                         o->num_non_donatable_input_indices);
    for (size_t i = 0; i < o->num_non_donatable_input_indices; i++) {
        int64_t at = o->non_donatable_input_indices[i];
        if (at < 0 || at >= nargs)
            return error_new(CODE_INVALID, "Execute: not to donate argument %lld of %d",
                             (long long)at, nargs);
        may_not[at] = true;
    }
    return NULL;
}

static void release_after_run(void *compiled)
{
    compiled_release(compiled);
}

static Error *find_devices(const PJRT_LoadedExecutable_Execute_Args *args, Device *const **devices)
{
    const PJRT_LoadedExecutable *l = args->executable;
    if (args->num_devices != (size_t)l->ndevices)
        return error_new(CODE_INVALID, "Execute: %zu lists of arguments for %d devices",
                         args->num_devices, l->ndevices);
    if (args->num_args != (size_t)l->compiled->program->nargs)
        return error_new(CODE_INVALID, "Execute: %zu arguments for a program that takes %d",
                         args->num_args, l->compiled->program->nargs);
    *devices = l->engines;
    if (!args->execute_device)
        return NULL;
    if (l->ndevices != 1 || args->execute_device->client != l->client)
        return error_new(CODE_INVALID,
                         "Execute: execute_device is for programs of one device and a device of "
                         "the same client; this program is for %d",
                         l->ndevices);
    TRY(device_check_here(args->execute_device, "Execute"));
    *devices = &args->execute_device->engine;
    return NULL;
}

/* The lists of lists: each device has its own.  launch_start checks what is in them. */
static Error *check_lists(const PJRT_LoadedExecutable_Execute_Args *args)
{
    const Program *p = args->executable->compiled->program;
    if (p->nresults && !args->output_lists)
        return error_new(CODE_INVALID, "Execute: output_lists is NULL, and there are %d results",
                         p->nresults);
    for (int d = 0; d < args->executable->ndevices; d++)
        if ((p->nargs && !args->argument_lists[d]) || (p->nresults && !args->output_lists[d]))
            return error_new(CODE_INVALID, "Execute: the %s list of device %d is NULL",
                             p->nargs && !args->argument_lists[d] ? "argument" : "output", d);
    return NULL;
}

/* The caller's number for this call, which its profile knows; 0: it has none. */
static uint64_t context_of(const PJRT_LoadedExecutable_Execute_Args *args)
{
    const PJRT_Extension_Base *e = record_is_on() ? args->extension_start : NULL;
    while (e && e->type != PJRT_Extension_Type_Profiler)
        e = e->next;
    bool reaches = e && e->struct_size >= PJRT_Profiler_Extension_SIZE;
    return reaches ? (uint64_t)((const PJRT_Profiler_Extension *)e)->traceme_context_id : 0;
}

/* may_not: all false; room for a flag per argument. */
static Error *execute(PJRT_LoadedExecutable_Execute_Args *args, bool *may_not)
{
    PJRT_LoadedExecutable *loaded = args->executable;
    const Program *p = loaded->compiled->program;
    Launch l = { .program = p,
                 .span = loaded->span,
                 .args = args->argument_lists,
                 .outs = args->output_lists,
                 .may_not_donate = may_not,
                 .done = args->device_complete_events,
                 .returns_failure = true,
                 .locs = loaded->compiled->places,
                 .context = context_of(args),
                 .id = args->options && PJRT_HAS(args->options, launch_id)
                           ? args->options->launch_id
                           : 0,
                 .on_end = release_after_run,
                 .user = loaded->compiled };
    TRY(find_devices(args, &l.devices));
    TRY(check_lists(args));
    TRY(read_not_donatable(args->options, p->nargs, may_not));
    compiled_hold(loaded->compiled);
    Error *error = launch_start(loaded->client->executor, &l);
    if (error)
        compiled_release(loaded->compiled);
    return error;
}

Error *pjrt_LoadedExecutable_Execute(PJRT_LoadedExecutable_Execute_Args *args)
{
    NEEDS(args, execute_device);
    PJRT_LoadedExecutable *loaded = args->executable;
    if (loaded->is_deleted)
        return error_new(CODE_PRECONDITION, "Execute: the executable has been deleted");
    if (args->options && PJRT_HAS(args->options, num_recv_ops) &&
        (args->options->num_send_ops || args->options->num_recv_ops))
        return error_new(CODE_UNIMPLEMENTED, "not supported: send and receive callbacks");
    if (!loaded->ndevices && !args->num_devices) /* all its devices are in other processes */
        return NULL;
    size_t nargs = (size_t)loaded->compiled->program->nargs;
    bool few[64] = { 0 }; /* what a call usually has; more go to the heap */
    bool *may_not = nargs > sizeof few ? calloc(nargs, 1) : few;
    if (!may_not)
        return error_new(CODE_EXHAUSTED, "Execute: no memory for %zu arguments", nargs);
    Error *error = execute(args, may_not);
    if (may_not != few)
        free(may_not);
    return error;
}

/* For options of one execution; we have none. */
struct PJRT_ExecuteContext {
    Handle head;
};

Error *pjrt_ExecuteContext_Create(PJRT_ExecuteContext_Create_Args *args)
{
    NEEDS(args, context);
    args->context = handle_new(HANDLE_CONTEXT, sizeof *args->context);
    return args->context ? NULL : error_new(CODE_EXHAUSTED, "ExecuteContext_Create: no memory");
}

Error *pjrt_ExecuteContext_Destroy(PJRT_ExecuteContext_Destroy_Args *args)
{
    NEEDS(args, context);
    if (args->context)
        handle_free(HANDLE_CONTEXT, args->context, sizeof *args->context);
    return NULL;
}
