/* execute.c - a program run on whole arrays.
 *
 *     whole arguments --cut--> a buffer per device --Execute--> buffers --join--> whole results
 *
 * How arrays are cut and joined the engine says by its own extension. */
#include "execute.h"

#include "base/guard.h"

#include <stdlib.h>
#include <string.h>

Error *engine_load(Pjrt *engine)
{
    TRY(pjrt_find(NULL, "TUTTI_PLUGIN", &engine->path));
    TRY(pjrt_load(engine));
    if (engine->tutti && engine->tutti->base.struct_size < sizeof(TuttiExtension))
        engine->tutti = NULL;
    return NULL;
}

Error *engine_start(Pjrt *engine, int ndevices)
{
    if (engine->client && engine->ndevices == ndevices)
        return NULL;
    TRY(pjrt_destroy(engine));
    return pjrt_create_devices(engine, ndevices);
}

void engine_end(Pjrt *engine)
{
    error_free(pjrt_destroy(engine));
    heap_free(engine->path);
}

/* Device d's part of a whole array, as strided host memory. */
static Error *send_part(Pjrt *engine, PJRT_Device *device, const TuttiArray *lies, int d,
                        const Array *whole, PJRT_Buffer **out)
{
    const char *data = whole->data;
    for (int i = 0; i < lies->rank; i++)
        data += lies->starts[d * lies->rank + i] * whole->strides[i];
    HostArray part = { .type = lies->type,
                       .rank = lies->rank,
                       .dims = lies->part,
                       .strides = whole->strides,
                       .data = data };
    return pjrt_send(engine, &part, device, out);
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

static void grid_free(Pjrt *engine, Grid *g)
{
    for (int i = 0; g->buffers && i < g->rows * g->cols; i++)
        if (g->buffers[i])
            pjrt_free(engine, g->buffers[i]);
    free(g->buffers);
    free(g->lists);
}

static Error *execute(Pjrt *engine, PJRT_LoadedExecutable *executable, Grid *in, Grid *out)
{
    PJRT_Event **done = calloc((size_t)in->rows + 1, sizeof *done);
    if (!done)
        return error_new(CODE_EXHAUSTED, "no memory for a list of %d events", in->rows);
    Launch launch = { .ndevices = in->rows,
                      .nargs = in->cols,
                      .args = (PJRT_Buffer *const *const *)in->lists,
                      .results = out->lists,
                      .done = done };
    Error *error = pjrt_execute(engine, executable, &launch);
    free(done);
    return error;
}

static Error *send_all(Pjrt *engine, PJRT_LoadedExecutable *executable, const TuttiProgram *p,
                       const Array *args, Grid *in)
{
    PJRT_LoadedExecutable_AddressableDevices_Args devices =
        ARGS(LoadedExecutable_AddressableDevices, .executable = executable);
    TRY(PJRT_CALL(engine, LoadedExecutable_AddressableDevices, &devices));
    for (int d = 0; d < p->ndevices; d++)
        for (int i = 0; i < p->nargs; i++)
            TRY(send_part(engine, devices.addressable_devices[d], &p->args[i], d, &args[i],
                          &in->lists[d][i]));
    return NULL;
}

/* All devices' parts, one behind the other along a first dimension of devices. */
static Error *receive_parts(Pjrt *engine, const Grid *out, int result, const TuttiArray *lies,
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
        TRY(pjrt_receive(engine, out->lists[d][result], lies->rank,
                         parts->data + d * parts->strides[0], (size_t)parts->strides[0]));
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

static Error *receive_all(Pjrt *engine, const TuttiProgram *p, const Grid *out, Array *results)
{
    for (int i = 0; i < p->nresults; i++) {
        Array parts = { 0 };
        Error *error = receive_parts(engine, out, i, &p->results[i], &parts);
        if (!error)
            error = join(&p->results[i], p->ndevices, &parts, &results[i]);
        if (error)
            return array_free(&parts), error;
    }
    return NULL;
}

Error *run_whole(Pjrt *engine, PJRT_LoadedExecutable *executable, const Array *args, Array *results)
{
    const TuttiProgram *p;
    TRY(pjrt_error(engine->api, engine->tutti->describe(executable, &p)));
    Grid in = { 0 }, out = { 0 };
    Error *error = grid_new(p->ndevices, p->nargs, &in);
    if (!error)
        error = grid_new(p->ndevices, p->nresults, &out);
    if (!error)
        error = send_all(engine, executable, p, args, &in);
    if (!error)
        error = execute(engine, executable, &in, &out);
    if (!error && results)
        error = receive_all(engine, p, &out, results);
    grid_free(engine, &in);
    grid_free(engine, &out);
    return error;
}
