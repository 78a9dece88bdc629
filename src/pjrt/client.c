/* client.c - PJRT from the caller's side. */
#define _GNU_SOURCE /* dladdr, dlinfo, dl_iterate_phdr */
#include "pjrt/client.h"

#include "base/guard.h"
#include "pjrt/proto.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OLDEST_MINOR = 40, MOST_RANK = 64 };

Error *pjrt_error(const PJRT_Api *api, PJRT_Error *theirs)
{
    if (!theirs)
        return NULL;
    PJRT_Error_Message_Args message = ARGS(Error_Message, .error = theirs);
    PJRT_Error_GetCode_Args code = ARGS(Error_GetCode, .error = theirs);
    api->PJRT_Error_Message(&message);
    PJRT_Error *trouble = api->PJRT_Error_GetCode(&code);
    Error *ours = error_new(trouble ? CODE_INTERNAL : (ErrorCode)code.code, "%.*s",
                            (int)message.message_size, message.message);
    for (int i = 0; i < 2; i++) {
        PJRT_Error_Destroy_Args destroy = ARGS(Error_Destroy, .error = i ? trouble : theirs);
        if (destroy.error)
            api->PJRT_Error_Destroy(&destroy);
    }
    return ours;
}

/* ---- which file ---- */

/* The first object is the program itself: one that no dynamic linker started is linked whole. */
static int look_at_program(struct dl_phdr_info *program, size_t size, void *is_static)
{
    (void)size;
    *(bool *)is_static = true;
    for (int i = 0; i < program->dlpi_phnum; i++)
        if (program->dlpi_phdr[i].p_type == PT_INTERP)
            *(bool *)is_static = false;
    return 1;
}

/* In a program that is linked whole dlopen has a C library of its own, and crashes. */
static Error *check_is_dynamic(void)
{
    bool is_static = false;
    dl_iterate_phdr(look_at_program, &is_static);
    return is_static
               ? error_new(CODE_UNIMPLEMENTED,
                           "a program that is linked with -static cannot load an engine: link it "
                           "without, or have its functions compiled ahead (tutti compile)")
               : NULL;
}

#define ENGINE "pjrt_plugin_tutti.so"
#define PLAYER "pjrt_plugin_tutti_rt.so" /* the same without a compiler */

/* Where the system's own search finds it: the folders that a program was linked with (-rpath),
 * LD_LIBRARY_PATH, those of ldconfig.  NULL: nowhere. */
static char *find_as_library(const char *name)
{
    struct link_map *map;
    Text path = { 0 };
    void *library = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
    if (library && dlinfo(library, RTLD_DI_LINKMAP, &map) == 0)
        text_printf(&path, "%s", map->l_name);
    if (library)
        dlclose(library);
    return path.at;
}

/* The first of our own places that has the engine, or NULL with all of them in `tried`.  A program
 * that the shell found names itself without a folder: its own entry says nothing. */
static char *find_engine(const char *name, Text *tried)
{
    char exe[PATH_MAX] = "";
    ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    exe[n > 0 ? n : 0] = 0;
    Dl_info self = { 0 };
    dladdr((void *)pjrt_find, &self);
    const char *files[] = { self.dli_fname, exe, exe };
    const char *folders[] = { "", "", "/../lib" };
    for (int i = 0; i < 3; i++) {
        const char *slash = files[i] ? strrchr(files[i], '/') : NULL;
        if (!slash)
            continue;
        Text path = { 0 };
        text_printf(&path, "%.*s%s/%s", (int)(slash - files[i]), files[i], folders[i], name);
        if (access(path.at, R_OK) == 0)
            return path.at;
        if (!strstr(text_cstr(tried), path.at))
            text_printf(tried, "%s%s", tried->n ? ", " : "", path.at);
        text_free(&path);
    }
    return find_as_library(name);
}

Error *pjrt_find(const char *named, const char *how_to_name, char **path)
{
    TRY(check_is_dynamic());
    const char *from = named ? "tt_init" : "TUTTI_PLUGIN";
    if (!named)
        named = getenv("TUTTI_PLUGIN");
    if (named && *named) {
        if (access(named, R_OK) != 0)
            return error_new(CODE_NOT_FOUND, "%s names the plugin %s, and there is no such file",
                             from, named);
        Text copy = { 0 };
        text_printf(&copy, "%s", named);
        *path = copy.at;
        return NULL;
    }
    Text tried = { 0 }, second = { 0 };
    *path = find_engine(ENGINE, &tried);
    if (!*path)
        *path = find_engine(PLAYER, &second);
    text_free(&second);
    Error *error = NULL;
    if (!*path)
        error = error_new(CODE_NOT_FOUND,
                          "the engine " ENGINE " is in none of %s, nor among the libraries of the "
                          "system: put it there, or name a PJRT plugin by %s",
                          text_cstr(&tried), how_to_name);
    text_free(&tried);
    return error;
}

/* ---- loading ---- */

static Error *check_version(const Pjrt *p)
{
    if (!p->api || p->api->struct_size < offsetof(PJRT_Api, PJRT_Error_Destroy))
        return error_new(CODE_INVALID, "%s is no PJRT plugin: its GetPjrtApi gives no table",
                         p->path);
    int major = p->api->pjrt_api_version.major_version;
    int minor = p->api->pjrt_api_version.minor_version;
    if (major != PJRT_MAJOR || minor < OLDEST_MINOR)
        return error_new(CODE_INVALID,
                         "%s speaks PJRT %d.%d; this library needs %d.%d or a later "
                         "%d.x",
                         p->path, major, minor, PJRT_MAJOR, OLDEST_MINOR, PJRT_MAJOR);
    return NULL;
}

Error *pjrt_load(Pjrt *p)
{
    Text path = { 0 }; /* a bare name would be looked for in the system's folders */
    text_printf(&path, "%s%s", strchr(p->path, '/') ? "" : "./", p->path);
    p->library = dlopen(path.at, RTLD_NOW | RTLD_LOCAL);
    text_free(&path);
    if (!p->library)
        return error_new(CODE_NOT_FOUND, "the plugin cannot be loaded: %s", dlerror());
    PJRT_GetPjrtApi *get = (PJRT_GetPjrtApi *)dlsym(p->library, "GetPjrtApi");
    if (!get) {
        dlclose(p->library);
        p->library = NULL;
        return error_new(CODE_INVALID, "%s is no PJRT plugin: it has no GetPjrtApi", p->path);
    }
    p->api = get();
    TRY(check_version(p));
    for (PJRT_Extension_Base *e = p->api->extension_start; e; e = e->next)
        if ((int)e->type == TUTTI_EXTENSION)
            p->tutti = (const TuttiExtension *)e;
    PJRT_Plugin_Initialize_Args args = ARGS(Plugin_Initialize, .extension_start = NULL);
    return PJRT_CALL(p, Plugin_Initialize, &args);
}

/* ---- the client ---- */

Error *pjrt_create(Pjrt *p, int n, const PJRT_NamedValue *options)
{
    PJRT_Client_Create_Args args =
        ARGS(Client_Create, .create_options = options, .num_options = (size_t)n);
    TRY(PJRT_CALL(p, Client_Create, &args));
    p->client = args.client;
    return NULL;
}

Error *pjrt_create_devices(Pjrt *p, int n)
{
    PJRT_NamedValue options[4];
    int count = 0;
    if (n)
        options[count++] = (PJRT_NamedValue){ .struct_size = PJRT_NamedValue_SIZE,
                                              .name = "num_devices",
                                              .name_size = strlen("num_devices"),
                                              .type = PJRT_NamedValue_kInt64,
                                              .int64_value = n,
                                              .value_size = 1 };
    if (p->uses_launcher)
        options[count++] = (PJRT_NamedValue){ .struct_size = PJRT_NamedValue_SIZE,
                                              .name = "launcher",
                                              .name_size = strlen("launcher"),
                                              .type = PJRT_NamedValue_kBool,
                                              .bool_value = true,
                                              .value_size = 1 };
    if (p->memory)
        options[count++] = (PJRT_NamedValue){ .struct_size = PJRT_NamedValue_SIZE,
                                              .name = "device_memory",
                                              .name_size = strlen("device_memory"),
                                              .type = PJRT_NamedValue_kInt64,
                                              .int64_value = (int64_t)p->memory,
                                              .value_size = 1 };
    if (p->seconds > 0)
        options[count++] = (PJRT_NamedValue){ .struct_size = PJRT_NamedValue_SIZE,
                                              .name = "run_seconds",
                                              .name_size = strlen("run_seconds"),
                                              .type = PJRT_NamedValue_kFloat,
                                              .float_value = (float)p->seconds,
                                              .value_size = 1 };
    p->ndevices = n;
    return pjrt_create(p, count, options);
}

Error *pjrt_destroy(Pjrt *p)
{
    if (!p->client)
        return NULL;
    PJRT_Client_Destroy_Args args = ARGS(Client_Destroy, .client = p->client);
    p->client = NULL;
    return PJRT_CALL(p, Client_Destroy, &args);
}

Error *pjrt_devices(const Pjrt *p, PJRT_Device *const **devices, int *n)
{
    PJRT_Client_AddressableDevices_Args args = ARGS(Client_AddressableDevices, .client = p->client);
    TRY(PJRT_CALL(p, Client_AddressableDevices, &args));
    *devices = args.addressable_devices;
    *n = (int)args.num_addressable_devices;
    return NULL;
}

Error *pjrt_all_devices(const Pjrt *p, PJRT_Device *const **devices, int *n)
{
    PJRT_Client_Devices_Args args = ARGS(Client_Devices, .client = p->client);
    TRY(PJRT_CALL(p, Client_Devices, &args));
    *devices = args.devices;
    *n = (int)args.num_devices;
    return NULL;
}

/* ---- programs ---- */

typedef struct OptionsText {
    CompileOptions o;
    Text text;
} OptionsText;

/* ExecutableBuildOptionsProto. */
static void write_build_options(Text *out, const CompileOptions *o)
{
    Text assignment = { 0 };
    assignment_write(&assignment, 1, o->ndevices, o->ids);
    proto_put_number(out, 1, (uint64_t)-1);          /* device_ordinal */
    proto_put_number(out, 4, 1);                     /* num_replicas */
    proto_put_number(out, 5, (uint64_t)o->ndevices); /* num_partitions */
    proto_put_number(out, 6, 1);                     /* use_spmd_partitioning */
    proto_put_message(out, 9, &assignment);          /* device_assignment */
    proto_put_number(out, 19, 1);                    /* use_shardy_partitioner */
}

/* An entry of env_option_overrides, a map of strings to OptionOverrideProto. */
static void write_override(Text *out, const char *key, const char *text)
{
    Text value = { 0 }, entry = { 0 };
    proto_put_bytes(&value, 1, str_of(text));
    proto_put_bytes(&entry, 1, str_of(key));
    proto_put_message(&entry, 2, &value);
    proto_put_message(out, 7, &entry);
}

/* CompileOptionsProto. */
static void write_options(void *user)
{
    OptionsText *options = user;
    const CompileOptions *o = &options->o;
    Text build = { 0 };
    if (o->ndevices) {
        write_build_options(&build, o);
        proto_put_message(&options->text, 3, &build);
    }
    if (o->name)
        write_override(&options->text, "tutti_name", o->name);
    if (o->evaluate)
        write_override(&options->text, "tutti_evaluate", "true");
    if (o->no_fold)
        write_override(&options->text, "tutti_fold", "false");
}

Error *pjrt_compile(const Pjrt *p, Str program, CompileOptions options, PJRT_LoadedExecutable **out)
{
    OptionsText written = { options, { 0 } };
    TRY(guard_run_in(NULL, "the options of a compilation", write_options, &written));
    PJRT_Program code = { .struct_size = PJRT_Program_SIZE,
                          .code = (char *)program.at,
                          .code_size = program.n,
                          .format = "mlir",
                          .format_size = 4 };
    PJRT_Client_Compile_Args args =
        ARGS(Client_Compile, .client = p->client, .program = &code,
             .compile_options = written.text.at, .compile_options_size = written.text.n);
    Error *error = PJRT_CALL(p, Client_Compile, &args);
    text_free(&written.text);
    if (!error)
        *out = args.executable;
    return error;
}

void pjrt_release(const Pjrt *p, PJRT_LoadedExecutable *executable)
{
    PJRT_LoadedExecutable_Destroy_Args args =
        ARGS(LoadedExecutable_Destroy, .executable = executable);
    error_free(PJRT_CALL(p, LoadedExecutable_Destroy, &args));
}

Error *pjrt_execute(const Pjrt *p, PJRT_LoadedExecutable *executable, const Launch *launch)
{
    PJRT_ExecuteOptions options = { .struct_size = PJRT_ExecuteOptions_SIZE,
                                    .launch_id = launch->id,
                                    .non_donatable_input_indices = launch->kept,
                                    .num_non_donatable_input_indices = (size_t)launch->nkept };
    PJRT_LoadedExecutable_Execute_Args args =
        ARGS(LoadedExecutable_Execute, .executable = executable, .options = &options,
             .argument_lists = launch->args, .num_devices = (size_t)launch->ndevices,
             .num_args = (size_t)launch->nargs, .output_lists = launch->results,
             .device_complete_events = launch->done);
    Error *first = PJRT_CALL(p, LoadedExecutable_Execute, &args);
    if (first)
        return first;
    for (int d = 0; launch->done && d < launch->ndevices; d++) {
        Error *error = pjrt_await(p, launch->done[d]);
        if (first)
            error_free(error);
        else
            first = error;
    }
    return first;
}

/* ---- arrays ---- */

Error *pjrt_await(const Pjrt *p, PJRT_Event *event)
{
    if (!event)
        return NULL;
    PJRT_Event_Await_Args args = ARGS(Event_Await, .event = event);
    Error *error = PJRT_CALL(p, Event_Await, &args);
    PJRT_Event_Destroy_Args destroy = ARGS(Event_Destroy, .event = event);
    error_free(PJRT_CALL(p, Event_Destroy, &destroy));
    return error;
}

Error *pjrt_send(const Pjrt *p, const HostArray *array, PJRT_Device *device, PJRT_Buffer **out)
{
    PJRT_Client_BufferFromHostBuffer_Args args = ARGS(
        Client_BufferFromHostBuffer, .client = p->client, .data = array->data, .type = array->type,
        .dims = array->dims, .num_dims = (size_t)array->rank, .byte_strides = array->strides,
        .num_byte_strides = array->strides ? (size_t)array->rank : 0,
        .host_buffer_semantics = PJRT_HostBufferSemantics_kImmutableOnlyDuringCall,
        .device = device);
    TRY(PJRT_CALL(p, Client_BufferFromHostBuffer, &args));
    Error *error = pjrt_await(p, args.done_with_host_buffer);
    if (error)
        pjrt_free(p, args.buffer);
    else
        *out = args.buffer;
    return error;
}

Error *pjrt_receive(const Pjrt *p, PJRT_Buffer *buffer, int rank, void *data, size_t bytes)
{
    int64_t minor_to_major[MOST_RANK];
    if (rank > MOST_RANK)
        return error_new(CODE_INVALID, "an array of rank %d; %d is the most", rank, MOST_RANK);
    for (int i = 0; i < rank; i++)
        minor_to_major[i] = rank - 1 - i;
    PJRT_Buffer_MemoryLayout row_major = {
        .struct_size = PJRT_Buffer_MemoryLayout_SIZE,
        .tiled = { .struct_size = PJRT_Buffer_MemoryLayout_Tiled_SIZE,
                   .minor_to_major = minor_to_major,
                   .minor_to_major_size = (size_t)rank },
        .type = PJRT_Buffer_MemoryLayout_Type_Tiled,
    };
    PJRT_Buffer_ToHostBuffer_Args args =
        ARGS(Buffer_ToHostBuffer, .src = buffer, .host_layout = &row_major, .dst = data,
             .dst_size = bytes);
    TRY(PJRT_CALL(p, Buffer_ToHostBuffer, &args));
    return pjrt_await(p, args.event);
}

void pjrt_free(const Pjrt *p, PJRT_Buffer *buffer)
{
    PJRT_Buffer_Destroy_Args args = ARGS(Buffer_Destroy, .buffer = buffer);
    error_free(PJRT_CALL(p, Buffer_Destroy, &args));
}
