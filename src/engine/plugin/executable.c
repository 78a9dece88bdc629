/* executable.c - a handle on a compiled program, and what PJRT asks by it.
 *
 * Many handles may share one program; each knows with which options it was asked for, which is what
 * makes it storable (serialized.c). */
#include "engine/plugin/plugin.h"

#include <stdlib.h>
#include <string.h>

Error *executable_new(Compiled *compiled, Str options, PJRT_Executable **out)
{
    PJRT_Executable *e = handle_new(HANDLE_EXECUTABLE, sizeof *e);
    char *own = malloc(options.n + 1);
    if (!e || !own) {
        free(own);
        if (e)
            handle_free(HANDLE_EXECUTABLE, e, sizeof *e);
        return error_new(CODE_EXHAUSTED, "no memory for a handle of %.*s",
                         STR_ARG(compiled->program->name));
    }
    if (options.n)
        memcpy(own, options.at, options.n);
    own[options.n] = 0;
    e->compiled = compiled_begin_handle(compiled_hold(compiled));
    e->options = (Str){ own, options.n };
    *out = e;
    return NULL;
}

static void executable_free(PJRT_Executable *e)
{
    compiled_end_handle(e->compiled);
    free((char *)e->options.at);
    handle_free(HANDLE_EXECUTABLE, e, sizeof *e);
}

Error *pjrt_Executable_Destroy(PJRT_Executable_Destroy_Args *args)
{
    NEEDS(args, executable);
    if (args->executable)
        executable_free(args->executable);
    return NULL;
}

Error *pjrt_Executable_Name(PJRT_Executable_Name_Args *args)
{
    NEEDS(args, executable_name_size);
    Str name = args->executable->compiled->program->name;
    args->executable_name = name.n ? name.at : "";
    args->executable_name_size = name.n;
    return NULL;
}

Error *pjrt_Executable_NumReplicas(PJRT_Executable_NumReplicas_Args *args)
{
    NEEDS(args, num_replicas);
    args->num_replicas = (size_t)args->executable->compiled->program->nreplicas;
    return NULL;
}

Error *pjrt_Executable_NumPartitions(PJRT_Executable_NumPartitions_Args *args)
{
    NEEDS(args, num_partitions);
    args->num_partitions = (size_t)args->executable->compiled->program->npartitions;
    return NULL;
}

Error *pjrt_Executable_NumOutputs(PJRT_Executable_NumOutputs_Args *args)
{
    NEEDS(args, num_outputs);
    args->num_outputs = (size_t)args->executable->compiled->program->nresults;
    return NULL;
}

Error *
pjrt_Executable_SizeOfGeneratedCodeInBytes(PJRT_Executable_SizeOfGeneratedCodeInBytes_Args *args)
{
    NEEDS(args, size_in_bytes);
    args->size_in_bytes = (int64_t)args->executable->compiled->program->stats.code_bytes;
    return NULL;
}

Error *pjrt_Executable_Fingerprint(PJRT_Executable_Fingerprint_Args *args)
{
    NEEDS(args, executable_fingerprint_size);
    args->executable_fingerprint = args->executable->compiled->fingerprint;
    args->executable_fingerprint_size = strlen(args->executable_fingerprint);
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
    const Program *p = args->executable->compiled->program;
    size_t begin =
        offsetof(PJRT_Executable_GetCompiledMemoryStats_Args, generated_code_size_in_bytes);
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
    args->output_types = args->executable->compiled->output_types;
    args->num_output_types = (size_t)args->executable->compiled->program->nresults;
    return NULL;
}

Error *pjrt_Executable_OutputDimensions(PJRT_Executable_OutputDimensions_Args *args)
{
    NEEDS(args, dim_sizes);
    args->num_outputs = (size_t)args->executable->compiled->program->nresults;
    args->dims = args->executable->compiled->output_dims;
    args->dim_sizes = args->executable->compiled->output_ranks;
    return NULL;
}

Error *pjrt_Executable_OutputMemoryKinds(PJRT_Executable_OutputMemoryKinds_Args *args)
{
    NEEDS(args, memory_kind_sizes);
    args->num_outputs = (size_t)args->executable->compiled->program->nresults;
    args->memory_kinds = args->executable->compiled->output_memory_kinds;
    args->memory_kind_sizes = args->executable->compiled->output_memory_kind_sizes;
    return NULL;
}

Error *pjrt_Executable_ParameterMemoryKinds(PJRT_Executable_ParameterMemoryKinds_Args *args)
{
    NEEDS(args, memory_kind_sizes);
    args->num_parameters = (size_t)args->executable->compiled->program->nargs;
    args->memory_kinds = args->executable->compiled->arg_memory_kinds;
    args->memory_kind_sizes = args->executable->compiled->arg_memory_kind_sizes;
    return NULL;
}

/* A list of none must be NULL: a client takes an empty list for a contradiction. */
Error *pjrt_Shardings_PJRT_Executable_ParameterShardings(
    PJRT_Shardings_PJRT_Executable_ParameterShardings_Args *args)
{
    NEEDS(args, sharding_sizes);
    int n = args->executable->compiled->program->nargs;
    args->num_parameters = (size_t)n;
    args->shardings = n ? args->executable->compiled->arg_shardings : NULL;
    args->sharding_sizes = n ? args->executable->compiled->arg_sharding_sizes : NULL;
    return NULL;
}

Error *pjrt_Shardings_PJRT_Executable_OutputShardings(
    PJRT_Shardings_PJRT_Executable_OutputShardings_Args *args)
{
    NEEDS(args, sharding_sizes);
    int n = args->executable->compiled->program->nresults;
    args->num_outputs = (size_t)n;
    args->shardings = n ? args->executable->compiled->output_shardings : NULL;
    args->sharding_sizes = n ? args->executable->compiled->output_sharding_sizes : NULL;
    return NULL;
}
