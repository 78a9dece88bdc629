/* ours.c - the C contender of the benchmarks: a program driven over the PJRT ABI.
 *
 * It reads one command a line, does that work, and answers with one line of JSON, so that the
 * conductor (run.py) can let contenders take turns in one run:
 *
 *     call PROGRAM.mlir NDEVICES COUNT   times of COUNT calls, arguments already in place, in ns,
 *                                        and the CPU time of all threads for all of them
 *     compile PROGRAM.mlir NDEVICES      time to compile it, in ns
 *     forget PROGRAM.mlir NDEVICES       lets go of it and its arguments
 *     memory                             this process's peak, in bytes
 *
 *     ours PLUGIN.so NDEVICES [once PROGRAM.mlir]
 *
 * `once` is for timing whole processes: load, compile, call, read the result, end.
 *
 * Element i of every argument (counted over the whole array) is fill(i); run.py says the same
 * in Python, so that all contenders work on the same data. */
#include "hlo/module.h"
#include "pjrt/client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { MOST_DEVICES = 64, MOST_ARGS = 16, MOST_PROGRAMS = 64 };

static Pjrt plugin;
static PJRT_Device *const *devices;

static void must(Error *error, const char *what)
{
    if (!error)
        return;
    fprintf(stderr, "%s: %s\n", what, error_text(error));
    exit(1);
}

static int64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Of all threads: what the work costs, however many cores share it and whoever else runs. */
static int64_t cpu_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static float fill(int64_t i)
{
    return (float)((uint32_t)i * 2654435761u >> 8) / 16777216.0f - 0.5f;
}

static void open_plugin(char *path, int ndevices)
{
    int n;
    plugin.path = path;
    must(pjrt_load(&plugin), path);
    must(pjrt_create_devices(&plugin, ndevices), path);
    must(pjrt_devices(&plugin, &devices, &n), path);
}

static char *read_file(const char *path, size_t *n)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        perror(path);
        exit(1);
    }
    fseek(file, 0, SEEK_END);
    *n = (size_t)ftell(file);
    rewind(file);
    char *bytes = malloc(*n + 1);
    if (!bytes || fread(bytes, 1, *n, file) != *n)
        exit(1);
    fclose(file);
    return bytes;
}

/* On devices 0 .. ndevices-1. */
static PJRT_LoadedExecutable *compile(const char *bytes, size_t n, int ndevices)
{
    int ids[MOST_DEVICES];
    for (int i = 0; i < ndevices; i++)
        ids[i] = i;
    PJRT_LoadedExecutable *executable;
    CompileOptions options = { .ndevices = ndevices, .ids = ids };
    must(pjrt_compile(&plugin, (Str){ bytes, n }, options, &executable), "compile");
    return executable;
}

/* A compiled program with its arguments on its devices. */
typedef struct Loaded {
    char path[256];
    int ndevices, nargs, nresults;
    PJRT_LoadedExecutable *executable;
    PJRT_Buffer *args[MOST_DEVICES][MOST_ARGS];
} Loaded;

/* The tile of argument `type` that device d holds, filled by its place in the whole array. */
static PJRT_Buffer *place_argument(Type type, Tiling tiling, int d)
{
    int64_t local[MAX_RANK], strides[MAX_RANK], start = 0, count = 1;
    type_strides(type, strides);
    for (int i = 0; i < type.rank; i++) {
        local[i] = type.dims[i] / tiling.tiles[i];
        start += tiling.tile_of[d * type.rank + i] * local[i] * strides[i];
        count *= local[i];
    }
    float *data = malloc(sizeof *data * (size_t)(count ? count : 1));
    if (!data)
        exit(1);
    for (int64_t k = 0; k < count; k++) {
        int64_t at = start, rest = k;
        for (int i = type.rank - 1; i >= 0; i--) {
            at += rest % local[i] * strides[i];
            rest /= local[i];
        }
        data[k] = fill(at);
    }
    HostArray array = { .type = (PJRT_Buffer_Type)element_info[type.element].pjrt,
                        .rank = type.rank,
                        .dims = local,
                        .data = data };
    PJRT_Buffer *buffer;
    must(pjrt_send(&plugin, &array, devices[d], &buffer), "an argument");
    free(data);
    return buffer;
}

static void place_arguments(Loaded *l, const Module *m)
{
    const Func *main = func_find(m, STR("main"));
    const Region *body = region_at(m, main->body);
    l->nargs = body->nargs;
    l->nresults = main->nresults;
    for (int i = 0; i < l->nargs; i++) {
        Type type = type_of(m, body->args + (uint32_t)i);
        const Attr *sharding = attr_get(main->arg_attrs[i], "sdy.sharding");
        Tiling tiling;
        must(sharding_tiling(m->arena, sharding ? sharding->sharding : NULL, type.rank, l->ndevices,
                             &tiling),
             l->path);
        if (type.element != F32) {
            fprintf(stderr, "%s: argument %d is not f32\n", l->path, i);
            exit(1);
        }
        for (int d = 0; d < l->ndevices; d++)
            l->args[d][i] = place_argument(type, tiling, d);
    }
}

static Loaded *find_loaded(const char *path)
{
    static Loaded loaded[MOST_PROGRAMS];
    for (int i = 0; i < MOST_PROGRAMS; i++)
        if (strcmp(loaded[i].path, path) == 0)
            return &loaded[i];
    return NULL;
}

static void do_forget(const char *path)
{
    Loaded *l = find_loaded(path);
    for (int d = 0; l && d < l->ndevices; d++)
        for (int i = 0; i < l->nargs; i++)
            pjrt_free(&plugin, l->args[d][i]);
    if (l) {
        pjrt_release(&plugin, l->executable);
        l->path[0] = 0;
    }
    printf("{}\n");
}

static Loaded *load(const char *path, int ndevices)
{
    Loaded *l = find_loaded(path);
    if (l)
        return l;
    l = find_loaded("");
    if (!l) {
        fprintf(stderr, "%s: more than %d programs\n", path, MOST_PROGRAMS);
        exit(1);
    }
    snprintf(l->path, sizeof l->path, "%s", path);
    l->ndevices = ndevices;
    size_t size;
    char *bytes = read_file(path, &size);
    l->executable = compile(bytes, size, ndevices);
    Module *m;
    must(read_program(bytes, size, path, &m), path);
    place_arguments(l, m);
    module_free(m);
    free(bytes);
    return l;
}

/* Calls once and waits; the results are left in outs. */
static void call(const Loaded *l, PJRT_Buffer *outs[][MOST_ARGS])
{
    PJRT_Buffer *const *args[MOST_DEVICES];
    PJRT_Buffer **results[MOST_DEVICES];
    PJRT_Event *done[MOST_DEVICES];
    for (int d = 0; d < l->ndevices; d++) {
        args[d] = l->args[d];
        results[d] = outs[d];
    }
    Launch launch = {
        .ndevices = l->ndevices, .nargs = l->nargs, .args = args, .results = results, .done = done
    };
    must(pjrt_execute(&plugin, l->executable, &launch), l->path);
}

static void drop(const Loaded *l, PJRT_Buffer *outs[][MOST_ARGS])
{
    for (int d = 0; d < l->ndevices; d++)
        for (int i = 0; i < l->nresults; i++)
            pjrt_free(&plugin, outs[d][i]);
}

static void do_call(const char *path, int ndevices, int count)
{
    const Loaded *l = load(path, ndevices);
    PJRT_Buffer *outs[MOST_DEVICES][MOST_ARGS];
    int64_t cpu = cpu_now();
    printf("{\"ns\": [");
    for (int i = 0; i < count; i++) {
        int64_t start = now();
        call(l, outs);
        drop(l, outs); /* in the loop of a user they die in every turn, as in Python */
        printf("%s%lld", i ? ", " : "", (long long)(now() - start));
    }
    printf("], \"cpu_ns\": %lld}\n", (long long)(cpu_now() - cpu));
}

static void do_compile(const char *path, int ndevices)
{
    size_t n;
    char *bytes = read_file(path, &n);
    int64_t start = now(), cpu = cpu_now();
    PJRT_LoadedExecutable *executable = compile(bytes, n, ndevices);
    printf("{\"ns\": [%lld], \"cpu_ns\": %lld}\n", (long long)(now() - start),
           (long long)(cpu_now() - cpu));
    pjrt_release(&plugin, executable);
    free(bytes);
}

static void do_memory(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("{\"bytes\": %lld}\n", (long long)usage.ru_maxrss * 1024);
}

static void do_once(const char *path, int ndevices)
{
    const Loaded *l = load(path, ndevices);
    PJRT_Buffer *outs[MOST_DEVICES][MOST_ARGS];
    call(l, outs);
    for (int d = 0; d < ndevices; d++) {
        PJRT_Buffer_ToHostBuffer_Args args = ARGS(Buffer_ToHostBuffer, .src = outs[d][0]);
        must(PJRT_CALL(&plugin, Buffer_ToHostBuffer, &args), path); /* how large it is */
        float *data = malloc(args.dst_size + sizeof *data);
        args.dst = data;
        must(PJRT_CALL(&plugin, Buffer_ToHostBuffer, &args), path);
        must(pjrt_await(&plugin, args.event), path);
        printf("%g\n", (double)data[0]);
        free(data);
    }
    drop(l, outs);
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: ours PLUGIN.so NDEVICES [once PROGRAM.mlir]\n");
        return 2;
    }
    int ndevices = atoi(argv[2]);
    if (ndevices < 1 || ndevices > MOST_DEVICES)
        return 2;
    open_plugin(argv[1], ndevices);
    if (argc == 5 && strcmp(argv[3], "once") == 0) {
        do_once(argv[4], ndevices);
        return 0;
    }
    char line[512], path[256];
    int n, count;
    while (fgets(line, sizeof line, stdin)) {
        if (sscanf(line, "call %255s %d %d", path, &n, &count) == 3)
            do_call(path, n, count);
        else if (sscanf(line, "compile %255s %d", path, &n) == 2)
            do_compile(path, n);
        else if (sscanf(line, "forget %255s %d", path, &n) == 2)
            do_forget(path);
        else if (strcmp(line, "memory\n") == 0)
            do_memory();
        fflush(stdout);
    }
    return 0;
}
