/* plugin.c - finding a PJRT plugin, loading it, and making it show its devices.
 *
 * Which file:   tt_init(.plugin = ...), else TUTTI_PLUGIN, else pjrt_plugin_tutti.so beside this
 *               library, beside the executable, or in ../lib of that.
 * How many:     tt_init(.devices = ...), else TUTTI_DEVICES, else one for each core that we may
 *               use.  Our own engine is told; of another plugin's devices we use the first, and
 *               without a wish all.
 *
 * Nothing is remembered of a failed attempt, so that tt_init may mend it. */
#define _GNU_SOURCE /* dladdr */
#include "front/run/plugin.h"

#include "base/guard.h"
#include "base/sync.h"
#include "base/text.h"
#include "front/run/client.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OLDEST_MINOR = 40, MOST_DEVICES = 4096 };

Plugin plugin;

static pthread_mutex_t starting = PTHREAD_MUTEX_INITIALIZER; /* guards the three below */
static char *wanted_plugin;
static int wanted_devices;
static _Atomic bool is_ready;

Error *client_options(const char *path, int devices)
{
    if (devices < 0 || devices > MOST_DEVICES)
        return error_new(CODE_INVALID, "tt_init: %d devices; 1 to %d are possible", devices,
                         MOST_DEVICES);
    Error *error = NULL;
    pthread_mutex_lock(&starting);
    if (atomic_load(&is_ready)) {
        bool same =
            (!path || strcmp(path, plugin.path) == 0) && (!devices || devices == plugin.ndevices);
        if (!same)
            error = error_new(CODE_PRECONDITION,
                              "tt_init: %d devices of %s are in use already; "
                              "call it before anything else",
                              plugin.ndevices, plugin.path);
    } else {
        char *copy = path ? strdup(path) : NULL;
        if (path && !copy) {
            error = error_new(CODE_EXHAUSTED, "tt_init: no memory on the host for a path");
        } else {
            free(wanted_plugin);
            wanted_plugin = copy;
            wanted_devices = devices;
        }
    }
    pthread_mutex_unlock(&starting);
    return error;
}

/* ---- Which file. */

static void add_beside(Text *out, const char *file, const char *folder)
{
    const char *slash = file ? strrchr(file, '/') : NULL;
    text_printf(out, "%.*s%s/pjrt_plugin_tutti.so", slash ? (int)(slash - file) : 1,
                slash ? file : ".", folder);
}

/* The first of our own places that has the engine, or NULL with all of them in `tried`. */
static char *find_engine(Text *tried)
{
    char exe[PATH_MAX] = "";
    ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    exe[n > 0 ? n : 0] = 0;
    Dl_info self = { 0 };
    dladdr((void *)&plugin, &self);
    const char *files[] = { self.dli_fname, exe, exe };
    const char *folders[] = { "", "", "/../lib" };
    for (int i = 0; i < 3; i++) {
        Text path = { 0 };
        add_beside(&path, files[i], folders[i]);
        if (access(path.at, R_OK) == 0)
            return path.at;
        if (!strstr(text_cstr(tried), path.at))
            text_printf(tried, "%s%s", tried->n ? ", " : "", path.at);
        text_free(&path);
    }
    return NULL;
}

static Error *choose_file(const char **out)
{
    const char *named = wanted_plugin, *from = "tt_init";
    if (!named) {
        named = getenv("TUTTI_PLUGIN");
        from = "TUTTI_PLUGIN";
    }
    if (named && *named) {
        if (access(named, R_OK) != 0)
            return error_new(CODE_NOT_FOUND, "%s names the plugin %s, and there is no such file",
                             from, named);
        Text path = { 0 };
        text_printf(&path, "%s", named);
        *out = path.at;
        return NULL;
    }
    Text tried = { 0 };
    *out = find_engine(&tried);
    Error *error = NULL;
    if (!*out)
        error = error_new(CODE_NOT_FOUND,
                          "the engine pjrt_plugin_tutti.so is in none of %s: put "
                          "it there, or name a PJRT plugin by tt_init(.plugin = \"...\") or "
                          "TUTTI_PLUGIN",
                          tried.at);
    text_free(&tried);
    return error;
}

/* ---- Loading. */

Error *plugin_error(const PJRT_Api *api, PJRT_Error *theirs)
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

static Error *check_version(const Plugin *p)
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

static Error *load(Plugin *p)
{
    Text path = { 0 }; /* a bare name would be looked for in the system's folders */
    text_printf(&path, "%s%s", strchr(p->path, '/') ? "" : "./", p->path);
    void *library = dlopen(path.at, RTLD_NOW | RTLD_LOCAL);
    text_free(&path);
    if (!library)
        return error_new(CODE_NOT_FOUND, "the plugin cannot be loaded: %s", dlerror());
    PJRT_GetPjrtApi *get = (PJRT_GetPjrtApi *)dlsym(library, "GetPjrtApi");
    if (!get) {
        dlclose(library);
        return error_new(CODE_INVALID, "%s is no PJRT plugin: it has no GetPjrtApi", p->path);
    }
    p->api = get();
    TRY(check_version(p));
    for (PJRT_Extension_Base *e = p->api->extension_start; e; e = e->next)
        if ((int)e->type == TUTTI_EXTENSION)
            p->extension = (const TuttiExtension *)e;
    PJRT_Plugin_Initialize_Args init = ARGS(Plugin_Initialize, .extension_start = NULL);
    return plugin_error(p->api, p->api->PJRT_Plugin_Initialize(&init));
}

/* ---- The client and its devices. */

static Error *count_wanted(int *out)
{
    *out = wanted_devices;
    const char *text = getenv("TUTTI_DEVICES");
    if (*out || !text || !*text)
        return NULL;
    char *end;
    long n = strtol(text, &end, 10);
    if (*end || n < 1 || n > MOST_DEVICES)
        return error_new(CODE_INVALID, "TUTTI_DEVICES is '%s'; 1 to %d are possible", text,
                         MOST_DEVICES);
    *out = (int)n;
    return NULL;
}

static Error *create(Plugin *p, const PJRT_NamedValue *option)
{
    PJRT_Client_Create_Args args =
        ARGS(Client_Create, .create_options = option, .num_options = option ? 1 : 0);
    TRY(plugin_error(p->api, p->api->PJRT_Client_Create(&args)));
    p->client = args.client;
    return NULL;
}

/* A GPU's plugin takes most of its memory at once unless told otherwise; one that does not know
 * the option says so, and is asked again without. */
static Error *create_foreign(Plugin *p)
{
    PJRT_NamedValue option = { .struct_size = PJRT_NamedValue_SIZE,
                               .name = "preallocate",
                               .name_size = strlen("preallocate"),
                               .type = PJRT_NamedValue_kBool,
                               .bool_value = false,
                               .value_size = 1 };
    Error *error = create(p, &option);
    if (!error || error_code(error) != CODE_INVALID)
        return error;
    error_free(error);
    return create(p, NULL);
}

static Error *create_ours(Plugin *p, int n)
{
    PJRT_NamedValue option = { .struct_size = PJRT_NamedValue_SIZE,
                               .name = "num_devices",
                               .name_size = strlen("num_devices"),
                               .type = PJRT_NamedValue_kInt64,
                               .int64_value = n ? n : cores_allowed(),
                               .value_size = 1 };
    return create(p, &option);
}

static Error *list_devices(Plugin *p, int wanted)
{
    PJRT_Client_AddressableDevices_Args list = ARGS(Client_AddressableDevices, .client = p->client);
    TRY(plugin_error(p->api, p->api->PJRT_Client_AddressableDevices(&list)));
    int there = (int)list.num_addressable_devices;
    if (there < 1 || wanted > there)
        return error_new(CODE_INVALID, "%d devices are wanted, and %s has %d", wanted ? wanted : 1,
                         p->path, there);
    p->devices = list.addressable_devices;
    p->ndevices = wanted ? wanted : there;
    p->ids = heap_rows((size_t)p->ndevices, sizeof *p->ids, "a list of devices");
    p->names = heap_rows((size_t)p->ndevices, sizeof *p->names, "a list of devices");
    return NULL;
}

static Error *describe_device(Plugin *p, int i)
{
    PJRT_Device_GetDescription_Args get = ARGS(Device_GetDescription, .device = p->devices[i]);
    TRY(plugin_error(p->api, p->api->PJRT_Device_GetDescription(&get)));
    PJRT_DeviceDescription_Id_Args id =
        ARGS(DeviceDescription_Id, .device_description = get.device_description);
    TRY(plugin_error(p->api, p->api->PJRT_DeviceDescription_Id(&id)));
    PJRT_DeviceDescription_ToString_Args text =
        ARGS(DeviceDescription_ToString, .device_description = get.device_description);
    TRY(plugin_error(p->api, p->api->PJRT_DeviceDescription_ToString(&text)));
    p->ids[i] = id.id;
    char *name = heap_new(text.to_string_size + 1, "a device's name");
    memcpy(name, text.to_string, text.to_string_size);
    p->names[i] = name;
    return NULL;
}

static Error *start(Plugin *p)
{
    int wanted;
    TRY(count_wanted(&wanted));
    TRY(choose_file(&p->path));
    TRY(load(p));
    TRY(p->extension ? create_ours(p, wanted) : create_foreign(p));
    TRY(list_devices(p, wanted));
    for (int i = 0; i < p->ndevices; i++)
        TRY(describe_device(p, i));
    return NULL;
}

typedef struct Start {
    Plugin *p;
    Error *error;
} Start;

static void start_guarded(void *user)
{
    Start *attempt = user;
    attempt->error = start(attempt->p);
}

/* Ends what a failed attempt has begun. */
static void drop(Plugin *p)
{
    PJRT_Client_Destroy_Args args = ARGS(Client_Destroy, .client = p->client);
    if (p->client)
        error_free(plugin_error(p->api, p->api->PJRT_Client_Destroy(&args)));
    for (int i = 0; p->names && i < p->ndevices; i++)
        heap_free((char *)p->names[i]);
    heap_free(p->names);
    heap_free(p->ids);
    heap_free((char *)p->path);
}

Error *client_need(void)
{
    /* acquire: pairs with the release below, so that `plugin` is seen filled in */
    if (atomic_load_explicit(&is_ready, memory_order_acquire))
        return NULL;
    pthread_mutex_lock(&starting);
    Error *error = NULL;
    if (!atomic_load(&is_ready)) {
        Plugin next = { 0 };
        Start attempt = { &next, NULL };
        error = guard_run_in(NULL, "starting the engine", start_guarded, &attempt);
        if (error) { /* these are gone already */
            next.names = NULL;
            next.ids = NULL;
            next.path = NULL;
        } else {
            error = attempt.error;
        }
        if (error) {
            drop(&next);
        } else {
            plugin = next;
            atomic_store_explicit(&is_ready, true, memory_order_release);
        }
    }
    pthread_mutex_unlock(&starting);
    return error;
}
