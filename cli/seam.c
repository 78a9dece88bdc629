/* seam.c - PJRT from the caller's side.
 *
 *     whole arguments --cut--> a buffer per device --Execute--> buffers --join--> whole results
 *
 * How arrays are cut and joined the engine says by its own extension. */
#include "seam.h"

#include "base/guard.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ARGS(name, ...)                                                                            \
    (PJRT_##name##_Args) { .struct_size = PJRT_##name##_Args_SIZE, __VA_ARGS__ }
#define CALL(seam, name, args) seam_error(seam, (seam)->api->PJRT_##name(args))

Error *seam_error(const Seam *seam, PJRT_Error *theirs)
{
    if (!theirs)
        return NULL;
    PJRT_Error_Message_Args message = ARGS(Error_Message, .error = theirs);
    PJRT_Error_GetCode_Args code = ARGS(Error_GetCode, .error = theirs);
    seam->api->PJRT_Error_Message(&message);
    PJRT_Error *trouble = seam->api->PJRT_Error_GetCode(&code);
    (void)trouble;
    Error *ours = error_new((ErrorCode)code.code, "%.*s", (int)message.message_size,
                            message.message);
    PJRT_Error_Destroy_Args destroy = ARGS(Error_Destroy, .error = theirs);
    seam->api->PJRT_Error_Destroy(&destroy);
    return ours;
}

static char *plugin_path(void)
{
    const char *named = getenv("TUTTI_PLUGIN");
    Text beside = { 0 }, installed = { 0 };
    if (named && *named) {
        text_printf(&beside, "%s", named);
        return beside.at;
    }
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n > 0 ? n : 0] = 0;
    char *slash = strrchr(self, '/');
    int folder = slash ? (int)(slash - self) : 1;
    text_printf(&beside, "%.*s/pjrt_plugin_tutti.so", folder, slash ? self : ".");
    text_printf(&installed, "%.*s/../lib/pjrt_plugin_tutti.so", folder, slash ? self : ".");
    bool is_installed = access(beside.at, R_OK) != 0 && access(installed.at, R_OK) == 0;
    text_free(is_installed ? &beside : &installed);
    return is_installed ? installed.at : beside.at;
}

Error *seam_load(Seam *seam)
{
    seam->path = plugin_path();
    seam->library = dlopen(seam->path, RTLD_NOW | RTLD_LOCAL);
    if (!seam->library)
        return error_new(CODE_NOT_FOUND, "the engine cannot be loaded: %s (TUTTI_PLUGIN names "
                         "another)", dlerror());
    PJRT_GetPjrtApi *get = (PJRT_GetPjrtApi *)dlsym(seam->library, "GetPjrtApi");
    if (!get)
        return error_new(CODE_INVALID, "%s is not a PJRT plugin: it has no GetPjrtApi",
                         seam->path);
    seam->api = get();
    if (seam->api->pjrt_api_version.major_version != PJRT_MAJOR)
        return error_new(CODE_INVALID, "%s speaks PJRT %d, this tool %d", seam->path,
                         seam->api->pjrt_api_version.major_version, PJRT_MAJOR);
    for (PJRT_Extension_Base *e = seam->api->extension_start; e; e = e->next)
        if ((int)e->type == TUTTI_EXTENSION && e->struct_size >= sizeof(TuttiExtension))
            seam->tutti = (TuttiExtension *)e;
    PJRT_Plugin_Initialize_Args args = ARGS(Plugin_Initialize, .extension_start = NULL);
    return CALL(seam, Plugin_Initialize, &args);
}

static Error *destroy_client(Seam *seam)
{
    PJRT_Client_Destroy_Args args = ARGS(Client_Destroy, .client = seam->client);
    seam->client = NULL;
    return CALL(seam, Client_Destroy, &args);
}

Error *seam_start(Seam *seam, int ndevices)
{
    if (seam->client && seam->ndevices == ndevices)
        return NULL;
    if (seam->client)
        TRY(destroy_client(seam));
    PJRT_NamedValue option = { .struct_size = PJRT_NamedValue_SIZE,
                               .name = "num_devices",
                               .name_size = strlen("num_devices"),
                               .type = PJRT_NamedValue_kInt64,
                               .int64_value = ndevices,
                               .value_size = 1 };
    PJRT_Client_Create_Args args =
        ARGS(Client_Create, .create_options = &option, .num_options = ndevices ? 1 : 0);
    TRY(CALL(seam, Client_Create, &args));
    seam->client = args.client;
    seam->ndevices = ndevices;
    return NULL;
}

void seam_stop(Seam *seam)
{
    if (seam->client)
        error_free(destroy_client(seam));
}

void seam_end(Seam *seam)
{
    seam_stop(seam);
    heap_free(seam->path);
}

/* A field of a protocol buffer that is bytes: its number, how many, and they. */
static void put_field(Text *out, int number, const char *at, size_t n)
{
    char tag = (char)(number << 3 | 2);
    text_add(out, &tag, 1);
    for (size_t left = n;; left >>= 7) {
        char byte = (char)((left & 127) | (left > 127 ? 128 : 0));
        text_add(out, &byte, 1);
        if (left <= 127)
            break;
    }
    text_add(out, at, n);
}

/* An entry of CompileOptionsProto's env_option_overrides, a map of strings to strings. */
static void put_option(Text *out, const char *key, const char *text)
{
    Text value = { 0 }, entry = { 0 };
    put_field(&value, 1, text, strlen(text));
    put_field(&entry, 1, key, strlen(key));
    put_field(&entry, 2, value.at, value.n);
    put_field(out, 7, entry.at, entry.n);
    text_free(&value);
    text_free(&entry);
}

Error *seam_compile(Seam *seam, Str code, SeamOptions o, PJRT_LoadedExecutable **out)
{
    Text options = { 0 };
    if (seam->tutti && o.name)
        put_option(&options, "tutti_name", o.name);
    if (o.evaluate)
        put_option(&options, "tutti_evaluate", "true");
    if (o.no_fold)
        put_option(&options, "tutti_fold", "false");
    PJRT_Program program = { .struct_size = PJRT_Program_SIZE,
                             .code = (char *)code.at,
                             .code_size = code.n,
                             .format = "mlir",
                             .format_size = 4 };
    PJRT_Client_Compile_Args args =
        ARGS(Client_Compile, .client = seam->client, .program = &program,
             .compile_options = options.at, .compile_options_size = options.n);
    Error *error = CALL(seam, Client_Compile, &args);
    text_free(&options);
    if (error)
        return error;
    *out = args.executable;
    return NULL;
}

void seam_release(Seam *seam, PJRT_LoadedExecutable *executable)
{
    PJRT_LoadedExecutable_Destroy_Args args =
        ARGS(LoadedExecutable_Destroy, .executable = executable);
    error_free(CALL(seam, LoadedExecutable_Destroy, &args));
}

static Error *await(Seam *seam, PJRT_Event *event)
{
    PJRT_Event_Await_Args args = ARGS(Event_Await, .event = event);
    Error *error = CALL(seam, Event_Await, &args);
    PJRT_Event_Destroy_Args destroy = ARGS(Event_Destroy, .event = event);
    Error *trouble = CALL(seam, Event_Destroy, &destroy);
    if (error)
        error_free(trouble);
    return error ? error : trouble;
}

/* Device d's part of a whole array, as strided host memory. */
static Error *send_part(Seam *seam, PJRT_Device *device, const TuttiArray *lies, int d,
                        const Array *whole, PJRT_Buffer **out)
{
    const char *data = whole->data;
    for (int i = 0; i < lies->rank; i++)
        data += lies->starts[d * lies->rank + i] * whole->strides[i];
    PJRT_Client_BufferFromHostBuffer_Args args =
        ARGS(Client_BufferFromHostBuffer, .client = seam->client, .data = data,
             .type = lies->type, .dims = lies->part, .num_dims = (size_t)lies->rank,
             .byte_strides = whole->strides, .num_byte_strides = (size_t)lies->rank,
             .device = device);
    TRY(CALL(seam, Client_BufferFromHostBuffer, &args));
    *out = args.buffer;
    return await(seam, args.done_with_host_buffer);
}

/* A part, row-major, and where it belongs in the whole. */
typedef struct Box {
    const TuttiArray *lies;
    const Array *whole;
    const char *part; /* the next element */
} Box;

static char *box_start(const Box *b, int d)
{
    char *at = b->whole->data;
    for (int i = 0; i < b->lies->rank; i++)
        at += b->lies->starts[d * b->lies->rank + i] * b->whole->strides[i];
    return at;
}

static void box_put(Box *b, int dim, char *at)
{
    size_t bytes = (size_t)element_info[b->whole->type.element].bytes;
    if (dim == b->lies->rank) {
        memcpy(at, b->part, bytes);
        b->part += bytes;
        return;
    }
    for (int64_t i = 0; i < b->lies->part[dim]; i++)
        box_put(b, dim + 1, at + i * b->whole->strides[dim]);
}

static bool box_equal(Box *b, int dim, const char *at)
{
    size_t bytes = (size_t)element_info[b->whole->type.element].bytes;
    if (dim == b->lies->rank) {
        b->part += bytes;
        return memcmp(at, b->part - bytes, bytes) == 0;
    }
    bool same = true;
    for (int64_t i = 0; same && i < b->lies->part[dim]; i++)
        same = box_equal(b, dim + 1, at + i * b->whole->strides[dim]);
    return same;
}

static Error *receive(Seam *seam, PJRT_Buffer *buffer, char *to, size_t bytes)
{
    PJRT_Buffer_ToHostBuffer_Args args =
        ARGS(Buffer_ToHostBuffer, .src = buffer, .dst = to, .dst_size = bytes);
    TRY(CALL(seam, Buffer_ToHostBuffer, &args));
    return await(seam, args.event);
}

/* The lists that Execute takes: one array of buffers, rows by device. */
typedef struct Grid {
    int rows, cols;
    PJRT_Buffer **buffers, ***lists;
} Grid;

/* One that has no memory can be freed too. */
static Error *grid_new(int rows, int cols, Grid *g)
{
    size_t n = (size_t)rows * (size_t)cols;
    *g = (Grid){ rows, cols, calloc(n + 1, sizeof *g->buffers),
                 calloc((size_t)rows + 1, sizeof *g->lists) };
    if (!g->buffers || !g->lists)
        return error_new(CODE_EXHAUSTED, "no memory for a list of %d arrays on %d devices", cols,
                         rows);
    for (int r = 0; r < rows; r++)
        g->lists[r] = g->buffers + (size_t)r * (size_t)cols;
    return NULL;
}

static void grid_free(Seam *seam, Grid *g)
{
    for (int i = 0; g->buffers && i < g->rows * g->cols; i++)
        if (g->buffers[i]) {
            PJRT_Buffer_Destroy_Args args = ARGS(Buffer_Destroy, .buffer = g->buffers[i]);
            error_free(CALL(seam, Buffer_Destroy, &args));
        }
    free(g->buffers);
    free(g->lists);
}

static Error *execute(Seam *seam, PJRT_LoadedExecutable *executable, Grid *in, Grid *out)
{
    PJRT_ExecuteOptions options = { .struct_size = PJRT_ExecuteOptions_SIZE };
    PJRT_Event **done = calloc((size_t)in->rows + 1, sizeof *done);
    if (!done)
        return error_new(CODE_EXHAUSTED, "no memory for a list of %d events", in->rows);
    PJRT_LoadedExecutable_Execute_Args args =
        ARGS(LoadedExecutable_Execute, .executable = executable, .options = &options,
             .argument_lists = (PJRT_Buffer *const *const *)in->lists,
             .num_devices = (size_t)in->rows, .num_args = (size_t)in->cols,
             .output_lists = (PJRT_Buffer **const *)out->lists, .device_complete_events = done);
    Error *first = CALL(seam, LoadedExecutable_Execute, &args);
    for (int d = 0; d < in->rows && done[d]; d++) {
        Error *error = await(seam, done[d]);
        if (first)
            error_free(error);
        else
            first = error;
    }
    free(done);
    return first;
}

static Error *send_all(Seam *seam, PJRT_LoadedExecutable *executable, const TuttiProgram *p,
                       const Array *args, Grid *in)
{
    PJRT_LoadedExecutable_AddressableDevices_Args devices =
        ARGS(LoadedExecutable_AddressableDevices, .executable = executable);
    TRY(CALL(seam, LoadedExecutable_AddressableDevices, &devices));
    for (int d = 0; d < p->ndevices; d++)
        for (int i = 0; i < p->nargs; i++)
            TRY(send_part(seam, devices.addressable_devices[d], &p->args[i], d, &args[i],
                          &in->lists[d][i]));
    return NULL;
}

/* All devices' parts, one behind the other along a first dimension of devices. */
static Error *receive_parts(Seam *seam, const Grid *out, int result, const TuttiArray *lies,
                            Array *parts)
{
    Element element;
    if (!element_of_pjrt((int)lies->type, &element))
        return error_new(CODE_INTERNAL, "result %d has PJRT_Buffer_Type %d", result,
                         (int)lies->type);
    int64_t dims[MAX_RANK + 1] = { out->rows };
    for (int i = 0; i < lies->rank; i++)
        dims[i + 1] = lies->part[i];
    TRY(array_new((Type){ element, lies->rank + 1, dims }, parts));
    for (int d = 0; d < out->rows; d++)
        TRY(receive(seam, out->lists[d][result], parts->data + d * parts->strides[0],
                    (size_t)parts->strides[0]));
    return NULL;
}

/* The whole array, if devices that should hold the same do; else the parts as they are. */
static Error *join(const TuttiArray *lies, int ndevices, Array *parts, Array *out)
{
    TRY(array_new((Type){ parts->type.element, lies->rank, lies->whole }, out));
    bool agree = true;
    for (int d = 0; d < ndevices; d++) {
        Box b = { lies, out, parts->data + d * parts->strides[0] };
        box_put(&b, 0, box_start(&b, d));
    }
    for (int d = 0; agree && d < ndevices; d++) {
        Box b = { lies, out, parts->data + d * parts->strides[0] };
        agree = box_equal(&b, 0, box_start(&b, d));
    }
    array_free(agree ? parts : out);
    if (!agree) {
        *out = *parts;
        out->type.dims = out->dims_;
    }
    return NULL;
}

static Error *receive_all(Seam *seam, const TuttiProgram *p, const Grid *out, Array *results)
{
    for (int i = 0; i < p->nresults; i++) {
        Array parts = { 0 };
        Error *error = receive_parts(seam, out, i, &p->results[i], &parts);
        if (!error)
            error = join(&p->results[i], p->ndevices, &parts, &results[i]);
        if (error)
            return array_free(&parts), error;
    }
    return NULL;
}

Error *seam_run(Seam *seam, PJRT_LoadedExecutable *executable, const Array *args, Array *results)
{
    const TuttiProgram *p;
    TRY(seam_error(seam, seam->tutti->describe(executable, &p)));
    Grid in = { 0 }, out = { 0 };
    Error *error = grid_new(p->ndevices, p->nargs, &in);
    if (!error)
        error = grid_new(p->ndevices, p->nresults, &out);
    if (!error)
        error = send_all(seam, executable, p, args, &in);
    if (!error)
        error = execute(seam, executable, &in, &out);
    if (!error && results)
        error = receive_all(seam, p, &out, results);
    grid_free(seam, &in);
    grid_free(seam, &out);
    return error;
}
