/* executable.c - a compiled program as the seam sees it.
 *
 * Everything that PJRT may ask is laid out once, when the program is compiled, and lives as long
 * as the executable.  Holders: the handles that clients have, and the launches that run. */
#include "engine/plugin/plugin.h"

#include "base/fail.h"
#include "base/table.h"
#include "engine/plugin/proto.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void lay_out_outputs(PJRT_Executable *e)
{
    const Program *p = e->program;
    int64_t ndims = 0;
    for (int i = 0; i < p->nresults; i++)
        ndims += p->results[i].local.rank;
    e->output_types = ARENA_ARRAY(e->arena, PJRT_Buffer_Type, p->nresults + 1);
    e->output_ranks = ARENA_ARRAY(e->arena, size_t, p->nresults + 1);
    e->output_dims = ARENA_ARRAY(e->arena, int64_t, ndims + 1);
    int64_t *dim = e->output_dims;
    for (int i = 0; i < p->nresults; i++) {
        Type t = p->results[i].local;
        e->output_types[i] = (PJRT_Buffer_Type)element_info[t.element].pjrt;
        e->output_ranks[i] = (size_t)t.rank;
        for (int d = 0; d < t.rank; d++)
            *dim++ = t.dims[d];
    }
}

static void lay_out_shardings(PJRT_Executable *e, int n, const Param *params,
                              const char ***bytes, size_t **sizes)
{
    *bytes = ARENA_ARRAY(e->arena, const char *, n + 1);
    *sizes = ARENA_ARRAY(e->arena, size_t, n + 1);
    for (int i = 0; i < n; i++) {
        Text text = { 0 };
        sharding_write(&text, params[i].tiling);
        (*bytes)[i] = text.n ? arena_copy(e->arena, text.at, text.n) : "";
        (*sizes)[i] = text.n;
        text_free(&text);
    }
}

static void lay_out_memory_kinds(PJRT_Executable *e)
{
    int n = e->program->nargs > e->program->nresults ? e->program->nargs : e->program->nresults;
    e->memory_kinds = ARENA_ARRAY(e->arena, const char *, n + 1);
    e->memory_kind_sizes = ARENA_ARRAY(e->arena, size_t, n + 1);
    for (int i = 0; i < n; i++) {
        e->memory_kinds[i] = "device";
        e->memory_kind_sizes[i] = strlen("device");
    }
}

/* Where each device's tile begins, in elements.  A tiling is of one replica's devices. */
static TuttiArray *describe(Arena *arena, int ndevices, int n, const Param *params)
{
    TuttiArray *arrays = ARENA_ARRAY(arena, TuttiArray, n + 1);
    for (int i = 0; i < n; i++) {
        Tiling t = params[i].tiling;
        Type local = params[i].local;
        int64_t *starts = ARENA_ARRAY(arena, int64_t, ndevices * t.rank + 1);
        for (int d = 0; d < ndevices; d++)
            for (int k = 0; k < t.rank; k++)
                starts[d * t.rank + k] = t.tile_of[d % t.ndevices * t.rank + k] * local.dims[k];
        arrays[i] = (TuttiArray){ (PJRT_Buffer_Type)element_info[local.element].pjrt, local.rank,
                                  params[i].whole.dims, local.dims, starts };
    }
    return arrays;
}

static const bool *copy_bools(Arena *arena, const bool *at, int n)
{
    return n ? arena_copy(arena, at, (size_t)n) : NULL;
}

static CompileOptions copy_options(Arena *arena, const CompileOptions *o)
{
    CompileOptions copy = *o;
    copy.name = str_copy(arena, str_of(o->name)).at;
    copy.free_args = copy_bools(arena, o->free_args, o->nfree_args);
    copy.free_results = copy_bools(arena, o->free_results, o->nfree_results);
    return copy;
}

PJRT_Executable *executable_new(PJRT_Client *client, Program *program, Text key, Str source,
                                const CompileOptions *options)
{
    PJRT_Executable *e = calloc(1, sizeof *e);
    if (!e)
        fail("no memory for an executable");
    e->holders = 1;
    e->client = client;
    e->program = program;
    e->key = key;
    e->arena = arena_new();
    bool is_in_key =
        key.n >= source.n && memcmp(key.at + key.n - source.n, source.at, source.n) == 0;
    e->source = is_in_key ? (Str){ key.at + key.n - source.n, source.n }
                          : str_copy(e->arena, source);
    e->options = copy_options(e->arena, options);
    snprintf(e->fingerprint, sizeof e->fingerprint, "%016" PRIx64, hash_bytes(key.at, key.n, 0));
    lay_out_outputs(e);
    lay_out_shardings(e, program->nargs, program->args, &e->arg_shardings, &e->arg_sharding_sizes);
    lay_out_shardings(e, program->nresults, program->results, &e->output_shardings,
                      &e->output_sharding_sizes);
    lay_out_memory_kinds(e);
    e->arg_layouts = layouts_of(e->arena, program->nargs, program->args);
    e->output_layouts = layouts_of(e->arena, program->nresults, program->results);
    e->description = (TuttiProgram){ program->ndevices, program->nargs, program->nresults,
                                     describe(e->arena, program->ndevices, program->nargs,
                                              program->args),
                                     describe(e->arena, program->ndevices, program->nresults,
                                              program->results) };
    return e;
}

/* The caller holds it, or the client's lock: so it cannot be on its way out. */
PJRT_Executable *executable_hold(PJRT_Executable *e)
{
    atomic_fetch_add_explicit(&e->holders, 1, memory_order_relaxed);
    return e;
}

static void unlink_from_client(PJRT_Executable *e)
{
    for (PJRT_Executable **at = &e->client->executables; *at; at = &(*at)->next)
        if (*at == e) {
            *at = e->next;
            return;
        }
}

/* The last holder leaves under the client's lock, so that nobody finds it in between. */
void executable_release(PJRT_Executable *e)
{
    int holders = atomic_load_explicit(&e->holders, memory_order_relaxed);
    while (holders > 1)
        if (atomic_compare_exchange_weak_explicit(&e->holders, &holders, holders - 1,
                                                  memory_order_release, memory_order_relaxed))
            return;
    PJRT_Client *client = e->client;
    pthread_mutex_lock(&client->lock);
    /* Pairs with the releases above: what they did to it is seen before it is freed. */
    bool is_last = atomic_fetch_sub_explicit(&e->holders, 1, memory_order_acq_rel) == 1;
    if (is_last)
        unlink_from_client(e);
    pthread_mutex_unlock(&client->lock);
    if (!is_last)
        return;
    program_free(e->program);
    arena_free(e->arena);
    text_free(&e->key);
    text_free(&e->optimized);
    free(e);
}

Error *pjrt_Executable_Destroy(PJRT_Executable_Destroy_Args *args)
{
    NEEDS(args, executable);
    if (args->executable)
        executable_release(args->executable);
    return NULL;
}

Error *pjrt_Executable_Name(PJRT_Executable_Name_Args *args)
{
    NEEDS(args, executable_name_size);
    Str name = args->executable->program->name;
    args->executable_name = name.n ? name.at : "";
    args->executable_name_size = name.n;
    return NULL;
}

Error *pjrt_Executable_NumReplicas(PJRT_Executable_NumReplicas_Args *args)
{
    NEEDS(args, num_replicas);
    args->num_replicas = (size_t)args->executable->program->nreplicas;
    return NULL;
}

Error *pjrt_Executable_NumPartitions(PJRT_Executable_NumPartitions_Args *args)
{
    NEEDS(args, num_partitions);
    args->num_partitions = (size_t)args->executable->program->npartitions;
    return NULL;
}

Error *pjrt_Executable_NumOutputs(PJRT_Executable_NumOutputs_Args *args)
{
    NEEDS(args, num_outputs);
    args->num_outputs = (size_t)args->executable->program->nresults;
    return NULL;
}

Error *
pjrt_Executable_SizeOfGeneratedCodeInBytes(PJRT_Executable_SizeOfGeneratedCodeInBytes_Args *args)
{
    NEEDS(args, size_in_bytes);
    args->size_in_bytes = (int64_t)args->executable->program->stats.code_bytes;
    return NULL;
}

Error *pjrt_Executable_Fingerprint(PJRT_Executable_Fingerprint_Args *args)
{
    NEEDS(args, executable_fingerprint_size);
    args->executable_fingerprint = args->executable->fingerprint;
    args->executable_fingerprint_size = strlen(args->executable->fingerprint);
    return NULL;
}

static int64_t bytes_of(int n, const Param *params)
{
    size_t bytes = 0;
    for (int i = 0; i < n; i++)
        bytes += type_bytes(params[i].local);
    return (int64_t)bytes;
}

/* Of one device. */
Error *pjrt_Executable_GetCompiledMemoryStats(PJRT_Executable_GetCompiledMemoryStats_Args *args)
{
    NEEDS(args, temp_size_in_bytes);
    const Program *p = args->executable->program;
    size_t begin = offsetof(PJRT_Executable_GetCompiledMemoryStats_Args,
                            generated_code_size_in_bytes);
    size_t end = args->struct_size < sizeof *args ? args->struct_size : sizeof *args;
    memset((char *)args + begin, 0, end - begin);
    args->generated_code_size_in_bytes = (int64_t)p->stats.code_bytes;
    args->argument_size_in_bytes = bytes_of(p->nargs, p->args);
    args->output_size_in_bytes = bytes_of(p->nresults, p->results);
    for (int i = 0; i < p->nresults; i++)
        if (p->results[i].alias >= 0)
            args->alias_size_in_bytes += (int64_t)type_bytes(p->results[i].local);
    args->temp_size_in_bytes = (int64_t)p->slab_bytes;
    if (PJRT_HAS(args, peak_memory_in_bytes))
        args->peak_memory_in_bytes = args->argument_size_in_bytes + args->output_size_in_bytes -
                                     args->alias_size_in_bytes + args->temp_size_in_bytes;
    return NULL;
}

Error *pjrt_Executable_OutputElementTypes(PJRT_Executable_OutputElementTypes_Args *args)
{
    NEEDS(args, num_output_types);
    args->output_types = args->executable->output_types;
    args->num_output_types = (size_t)args->executable->program->nresults;
    return NULL;
}

Error *pjrt_Executable_OutputDimensions(PJRT_Executable_OutputDimensions_Args *args)
{
    NEEDS(args, dim_sizes);
    args->num_outputs = (size_t)args->executable->program->nresults;
    args->dims = args->executable->output_dims;
    args->dim_sizes = args->executable->output_ranks;
    return NULL;
}

Error *pjrt_Executable_OutputMemoryKinds(PJRT_Executable_OutputMemoryKinds_Args *args)
{
    NEEDS(args, memory_kind_sizes);
    args->num_outputs = (size_t)args->executable->program->nresults;
    args->memory_kinds = args->executable->memory_kinds;
    args->memory_kind_sizes = args->executable->memory_kind_sizes;
    return NULL;
}

Error *pjrt_Executable_ParameterMemoryKinds(PJRT_Executable_ParameterMemoryKinds_Args *args)
{
    NEEDS(args, memory_kind_sizes);
    args->num_parameters = (size_t)args->executable->program->nargs;
    args->memory_kinds = args->executable->memory_kinds;
    args->memory_kind_sizes = args->executable->memory_kind_sizes;
    return NULL;
}

/* A list of none must be NULL: a client takes an empty list for a contradiction. */
Error *pjrt_ParameterShardings(PJRT_Shardings_PJRT_Executable_ParameterShardings_Args *args)
{
    NEEDS(args, sharding_sizes);
    int n = args->executable->program->nargs;
    args->num_parameters = (size_t)n;
    args->shardings = n ? args->executable->arg_shardings : NULL;
    args->sharding_sizes = n ? args->executable->arg_sharding_sizes : NULL;
    return NULL;
}

Error *pjrt_OutputShardings(PJRT_Shardings_PJRT_Executable_OutputShardings_Args *args)
{
    NEEDS(args, sharding_sizes);
    int n = args->executable->program->nresults;
    args->num_outputs = (size_t)n;
    args->shardings = n ? args->executable->output_shardings : NULL;
    args->sharding_sizes = n ? args->executable->output_sharding_sizes : NULL;
    return NULL;
}
