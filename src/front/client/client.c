/* client.c - one PJRT client for the process: what every other file asks of the devices.
 *
 *     compile   StableHLO text, devices   ->  Executable
 *     upload    host memory, device       ->  PJRT_Buffer
 *     execute   buffers [device][arg]     ->  buffers [device][result]
 *     download  PJRT_Buffer               ->  host memory
 *
 * Which file:   tt_init(.plugin = ...), else as pjrt_find says.
 * How many:     tt_init(.devices = ...), else TUTTI_DEVICES, else one for each core that we may
 *               use.  Our own engine is told; of another plugin's devices we use the first, and
 *               without a wish all.
 *
 * Processes that a launcher started (mpirun) share their devices: each has as many, and a program may
 * run on all of them.
 *
 * Nothing is remembered of a failed attempt, so that tt_init may mend it. */
#include "front/client/client.h"

#include "base/guard.h"
#include "base/sync.h"
#include "pjrt/client.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_DEVICES = 4096 };

typedef struct Client {
    Pjrt pjrt;
    int ndevices;
    PJRT_Device *const *devices;
    int *ids;       /* PJRT's, for device assignments */
    int *processes; /* [ndevices] */
    int process, nprocesses;
    int home; /* the first device of this process */
    const char **names;
    char platform[32]; /* its name, cut off there */
    Precision precision;
} Client;

static Client client; /* filled in by client_need, and never changed after, as is the next */
int client_home;

static pthread_mutex_t starting = PTHREAD_MUTEX_INITIALIZER; /* guards what follows */
static char *wanted_plugin;
static int wanted_devices;
static size_t wanted_memory;
static double wanted_seconds;
static _Atomic bool is_ready;

static bool is_same(const ClientOptions *o)
{
    return (!o->plugin || strcmp(o->plugin, client.pjrt.path) == 0) &&
           (!o->devices || o->devices == client.ndevices / client.nprocesses) &&
           (!o->memory || o->memory == client.pjrt.memory) &&
           (o->seconds == 0 || o->seconds == client.pjrt.seconds);
}

Error *client_options(const ClientOptions *o)
{
    const char *path = o->plugin;
    int devices = o->devices;
    if (devices < 0 || devices > MOST_DEVICES)
        return error_new(CODE_INVALID, "tt_init: %d devices; 1 to %d are possible", devices,
                         MOST_DEVICES);
    if (!(o->seconds >= 0))
        return error_new(CODE_INVALID,
                         "tt_init: %g seconds; a run may take more than 0, or 0: as "
                         "long as it does",
                         o->seconds);
    Error *error = NULL;
    pthread_mutex_lock(&starting);
    if (atomic_load(&is_ready)) {
        if (!is_same(o))
            error = error_new(CODE_PRECONDITION,
                              "tt_init: %d devices of %s are in use already; "
                              "call it before anything else",
                              client.ndevices, client.pjrt.path);
    } else {
        char *copy = path ? strdup(path) : NULL;
        if (path && !copy) {
            error = error_new(CODE_EXHAUSTED, "tt_init: no memory on the host for a path");
        } else {
            free(wanted_plugin);
            wanted_plugin = copy;
            wanted_devices = devices;
            wanted_memory = o->memory;
            wanted_seconds = o->seconds;
        }
    }
    pthread_mutex_unlock(&starting);
    return error;
}

/* ---- starting ---- */

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

/* How exact products shall be that do not say it. */
static Error *find_precision(Precision *out)
{
    const char *text = getenv("TUTTI_PRECISION");
    *out = PRECISION_UNSAID;
    if (!text || !*text || strcmp(text, "default") == 0)
        return NULL;
    *out = strcmp(text, "high") == 0      ? PRECISION_HIGH
           : strcmp(text, "highest") == 0 ? PRECISION_HIGHEST
                                          : PRECISION_UNSAID;
    return *out != PRECISION_UNSAID
               ? NULL
               : error_new(CODE_INVALID,
                           "TUTTI_PRECISION is '%s'; default, high and highest are possible", text);
}

/* A GPU's plugin takes most of its memory at once unless told otherwise; one that does not know
 * the option says so, and is asked again without. */
static Error *create_foreign(Pjrt *p)
{
    PJRT_NamedValue option = { .struct_size = PJRT_NamedValue_SIZE,
                               .name = "preallocate",
                               .name_size = strlen("preallocate"),
                               .type = PJRT_NamedValue_kBool,
                               .bool_value = false,
                               .value_size = 1 };
    Error *error = pjrt_create(p, 1, &option);
    if (!error || error_code(error) != CODE_INVALID)
        return error;
    error_free(error);
    return pjrt_create(p, 0, NULL);
}

static Error *list_devices(Client *c, int wanted)
{
    int there;
    TRY(c->pjrt.tutti ? pjrt_all_devices(&c->pjrt, &c->devices, &there)
                      : pjrt_devices(&c->pjrt, &c->devices, &there));
    if (there < 1 || wanted > there)
        return error_new(CODE_INVALID, "%d devices are wanted, and %s has %d", wanted ? wanted : 1,
                         c->pjrt.path, there);
    c->ndevices = wanted && !c->pjrt.tutti ? wanted : there;
    c->ids = heap_rows((size_t)c->ndevices, sizeof *c->ids, "a list of devices");
    c->names = heap_rows((size_t)c->ndevices, sizeof *c->names, "a list of devices");
    c->processes = heap_rows((size_t)c->ndevices, sizeof *c->processes, "a list of devices");
    c->nprocesses = 1;
    c->home = -1;
    return NULL;
}

/* Devices are numbered process by process. */
static Error *find_process(Client *c, int i, PJRT_DeviceDescription *description)
{
    PJRT_DeviceDescription_ProcessIndex_Args process =
        ARGS(DeviceDescription_ProcessIndex, .device_description = description);
    TRY(PJRT_CALL(&c->pjrt, DeviceDescription_ProcessIndex, &process));
    PJRT_Device_IsAddressable_Args here = ARGS(Device_IsAddressable, .device = c->devices[i]);
    TRY(PJRT_CALL(&c->pjrt, Device_IsAddressable, &here));
    c->processes[i] = process.process_index;
    c->nprocesses = process.process_index + 1;
    if (here.is_addressable && c->home < 0) {
        c->home = i;
        c->process = process.process_index;
    }
    return NULL;
}

static Error *describe_device(Client *c, int i)
{
    PJRT_Device_GetDescription_Args get = ARGS(Device_GetDescription, .device = c->devices[i]);
    TRY(PJRT_CALL(&c->pjrt, Device_GetDescription, &get));
    PJRT_DeviceDescription_Id_Args id =
        ARGS(DeviceDescription_Id, .device_description = get.device_description);
    TRY(PJRT_CALL(&c->pjrt, DeviceDescription_Id, &id));
    PJRT_DeviceDescription_ToString_Args text =
        ARGS(DeviceDescription_ToString, .device_description = get.device_description);
    TRY(PJRT_CALL(&c->pjrt, DeviceDescription_ToString, &text));
    c->ids[i] = id.id;
    if (c->pjrt.tutti)
        TRY(find_process(c, i, get.device_description));
    else
        c->home = 0;
    char *name = heap_new(text.to_string_size + 1, "a device's name");
    memcpy(name, text.to_string, text.to_string_size);
    c->names[i] = name;
    return NULL;
}

static Error *name_platform(Client *c)
{
    PJRT_Client_PlatformName_Args args = ARGS(Client_PlatformName, .client = c->pjrt.client);
    TRY(PJRT_CALL(&c->pjrt, Client_PlatformName, &args));
    size_t most = sizeof c->platform - 1;
    memcpy(c->platform, args.platform_name,
           args.platform_name_size < most ? args.platform_name_size : most);
    return NULL;
}

static Error *start(Client *c)
{
    Pjrt *p = &c->pjrt;
    int wanted;
    TRY(count_wanted(&wanted));
    TRY(find_precision(&c->precision));
    TRY(pjrt_find(wanted_plugin, "tt_init(.plugin = \"...\") or TUTTI_PLUGIN", &p->path));
    TRY(pjrt_load(p));
    p->uses_launcher = true;
    p->memory = wanted_memory;
    p->seconds = wanted_seconds;
    TRY(p->tutti ? pjrt_create_devices(p, wanted ? wanted : cores_allowed()) : create_foreign(p));
    TRY(list_devices(c, wanted));
    for (int i = 0; i < c->ndevices; i++)
        TRY(describe_device(c, i));
    return name_platform(c);
}

typedef struct Start {
    Client *client;
    Error *error;
} Start;

static void start_guarded(void *user)
{
    Start *attempt = user;
    attempt->error = start(attempt->client);
}

/* Ends what a failed attempt has begun. */
static void drop(Client *c)
{
    error_free(pjrt_destroy(&c->pjrt));
    for (int i = 0; c->names && i < c->ndevices; i++)
        heap_free((char *)c->names[i]);
    heap_free(c->names);
    heap_free(c->ids);
    heap_free(c->processes);
    heap_free(c->pjrt.path);
}

Error *client_need(void)
{
    /* acquire: pairs with the release below, so that `client` is seen filled in */
    if (atomic_load_explicit(&is_ready, memory_order_acquire))
        return NULL;
    pthread_mutex_lock(&starting);
    Error *error = NULL;
    if (!atomic_load(&is_ready)) {
        Client next = { 0 };
        Start attempt = { &next, NULL };
        error = guard_run_in(NULL, "starting the engine", start_guarded, &attempt);
        if (error) { /* these are gone already */
            next.names = NULL;
            next.ids = NULL;
            next.processes = NULL;
            next.pjrt.path = NULL;
        } else {
            error = attempt.error;
        }
        if (error) {
            drop(&next);
        } else {
            client = next;
            client_home = next.home;
            atomic_store_explicit(&is_ready, true, memory_order_release);
        }
    }
    pthread_mutex_unlock(&starting);
    return error;
}

/* ---- devices ---- */

int client_device_count(void)
{
    return client.ndevices;
}

int client_process(void)
{
    return client.process;
}

int client_processes(void)
{
    /* acquire: as in client_need */
    return atomic_load_explicit(&is_ready, memory_order_acquire) ? client.nprocesses : 1;
}

int client_process_of(int device)
{
    return client.processes[device];
}

const char *client_device_name(int device)
{
    return client.names[device];
}

Precision client_precision(void)
{
    return client.precision;
}

const char *client_platform(void)
{
    return client.platform;
}

Pjrt *client_plugin(void)
{
    return &client.pjrt;
}

Error *client_define(const char *who, const char *name, TuttiFunction *f, void *user)
{
    if (!client.pjrt.tutti)
        return error_new(CODE_UNIMPLEMENTED,
                         "%s: %s is another's plugin: only Tutti's own engine can call %s", who,
                         client.pjrt.path, name);
    if (client.pjrt.tutti->base.struct_size < sizeof *client.pjrt.tutti)
        return error_new(CODE_UNIMPLEMENTED, "%s: the engine %s is older than this library", who,
                         client.pjrt.path);
    if (!client.pjrt.tutti->add_call(name, strlen(name), f, user))
        return error_new(CODE_EXHAUSTED, "%s: no memory in the engine for %s", who, name);
    return NULL;
}

Error *client_recorder(const char *asks, const TuttiExtension **out)
{
    *out = client.pjrt.tutti;
    if (*out && (*out)->base.struct_size >= sizeof **out)
        return NULL;
    return error_new(CODE_UNIMPLEMENTED,
                     "%s: %s is another's plugin, or older than this library: only Tutti's own "
                     "engine records what it does",
                     asks, client.pjrt.path);
}

const TuttiExtension *client_recorder_if_there(void)
{
    /* acquire: pairs with the release in client_need */
    bool is_there = atomic_load_explicit(&is_ready, memory_order_acquire);
    const TuttiExtension *engine = is_there ? client.pjrt.tutti : NULL;
    return engine && engine->base.struct_size >= sizeof *engine ? engine : NULL;
}

Error *client_error(PJRT_Error *theirs)
{
    return pjrt_error(client.pjrt.api, theirs);
}

/* ---- programs ---- */

struct Executable {
    PJRT_LoadedExecutable *loaded;
    int ndevices, nargs, nresults;
    int nhere;  /* devices in this process, */
    int here[]; /* and their places among all */
};

Error *client_compile(Str stablehlo_text, int ndevices, const int *devices, int nargs, int nresults,
                      Executable **out)
{
    Executable *e = malloc(sizeof *e + sizeof(int) * (size_t)ndevices);
    int *ids = calloc((size_t)ndevices + 1, sizeof *ids);
    Error *error = NULL;
    if (!e || !ids) {
        error = error_new(CODE_EXHAUSTED, "no memory on the host for an executable");
    } else {
        *e = (Executable){ NULL, ndevices, nargs, nresults, 0 };
        for (int i = 0; i < ndevices; i++) {
            ids[i] = client.ids[devices[i]];
            if (client.processes[devices[i]] == client.process)
                e->here[e->nhere++] = i;
        }
        CompileOptions options = { .ndevices = ndevices, .ids = ids };
        error = pjrt_compile(&client.pjrt, stablehlo_text, options, &e->loaded);
    }
    free(ids);
    if (error)
        free(e);
    else
        *out = e;
    return error;
}

void client_end(Executable *e)
{
    pjrt_release(&client.pjrt, e->loaded);
    free(e);
}

/* Of the rows of all devices the engine gets those of this process. */
static Error *execute_part(const Executable *e, Launch launch)
{
    PJRT_Buffer *const **args = malloc(2 * sizeof *args * (size_t)(e->nhere + 1));
    PJRT_Buffer ***results = (PJRT_Buffer ***)(args + e->nhere);
    if (!args)
        return error_new(CODE_EXHAUSTED, "no memory on the host for a call on %d devices",
                         e->nhere);
    for (int i = 0; i < e->nhere; i++) {
        args[i] = launch.args[e->here[i]];
        results[i] = launch.results[e->here[i]];
    }
    launch.args = args;
    launch.results = results;
    Error *error = pjrt_execute(&client.pjrt, e->loaded, &launch);
    free(args);
    return error;
}

Error *client_execute(Executable *e, PJRT_Buffer *const *const *args, PJRT_Buffer **const *results,
                      int nkept, const int64_t *kept, int id)
{
    Launch launch = { .ndevices = e->nhere,
                      .id = id,
                      .nargs = e->nargs,
                      .args = args,
                      .results = results,
                      .nkept = nkept,
                      .kept = kept };
    if (e->nhere == e->ndevices)
        return pjrt_execute(&client.pjrt, e->loaded, &launch);
    return execute_part(e, launch);
}

/* ---- arrays ---- */

Error *client_upload(Type type, const void *data, int device, PJRT_Buffer **out)
{
    HostArray array = { .type = (PJRT_Buffer_Type)element_info[type.element].pjrt,
                        .rank = type.rank,
                        .dims = type.dims,
                        .data = data };
    return pjrt_send(&client.pjrt, &array, client.devices[device], out);
}

Error *client_download(PJRT_Buffer *b, Type type, void *data)
{
    return pjrt_receive(&client.pjrt, b, type.rank, data, type_bytes(type));
}

Error *client_copy(PJRT_Buffer *b, int to_device, PJRT_Buffer **out)
{
    PJRT_Buffer_CopyToDevice_Args args =
        ARGS(Buffer_CopyToDevice, .buffer = b, .dst_device = client.devices[to_device]);
    TRY(PJRT_CALL(&client.pjrt, Buffer_CopyToDevice, &args));
    *out = args.dst_buffer;
    return NULL;
}

Error *client_await(PJRT_Buffer *b)
{
    PJRT_Buffer_ReadyEvent_Args args = ARGS(Buffer_ReadyEvent, .buffer = b);
    TRY(PJRT_CALL(&client.pjrt, Buffer_ReadyEvent, &args));
    return pjrt_await(&client.pjrt, args.event);
}

void client_free(PJRT_Buffer *b)
{
    if (b)
        pjrt_free(&client.pjrt, b);
}

Error *client_exchange(int n, const TuttiPiece *pieces)
{
    return pjrt_error(client.pjrt.api, client.pjrt.tutti->exchange(client.pjrt.client, n, pieces));
}

Error *client_gather(int first, int n, const void *mine, size_t bytes, void *words)
{
    TuttiPiece pieces[GATHER_MOST];
    char *at = words;
    if (client.process >= first && client.process < first + n)
        memcpy(at + bytes * (size_t)(client.process - first), mine, bytes);
    if (client.nprocesses == 1)
        return NULL;
    for (int i = 0; i < n; i++)
        pieces[i] = (TuttiPiece){ first + i, at + bytes * (size_t)i, bytes };
    return client_exchange(n, pieces);
}
