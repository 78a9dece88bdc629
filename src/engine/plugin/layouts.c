/* layouts.c - how arrays lie in memory: the Layouts extension.
 *
 * Every array is row-major, so a layout is a rank.  Clients that can ask here need not look for
 * layouts in the text of the compiled program. */
#include "engine/plugin/plugin.h"

#include "base/guard.h"

struct PJRT_Layouts_MemoryLayout {
    char unused; /* which of the list below it is says all */
};

static PJRT_Layouts_MemoryLayout row_major[MAX_RANK + 1]; /* by rank; never written */

bool is_layout(const void *layout)
{
    const char *at = layout, *first = (const char *)row_major;
    return at >= first && at < first + sizeof row_major;
}

static Error *layout_of(size_t rank, PJRT_Layouts_MemoryLayout **out)
{
    if (rank > MAX_RANK)
        return error_new(CODE_INVALID, "an array of rank %zu; at most %d is supported", rank,
                         MAX_RANK);
    *out = &row_major[rank];
    return NULL;
}

Error *pjrt_Layouts_MemoryLayout_Destroy(PJRT_Layouts_MemoryLayout_Destroy_Args *args)
{
    NEEDS(args, layout);
    return NULL;
}

static void delete_text(PJRT_Layouts_SerializedLayout *text)
{
    heap_free(text);
}

Error *pjrt_Layouts_MemoryLayout_Serialize(PJRT_Layouts_MemoryLayout_Serialize_Args *args)
{
    NEEDS(args, serialized_layout_deleter);
    Text text = { .is_message = true };
    text_printf(&text, "{");
    for (int i = (int)(args->layout - row_major) - 1; i >= 0; i--)
        text_printf(&text, "%d%s", i, i ? "," : "");
    text_printf(&text, "}");
    if (!text.n || text.at[text.n - 1] != '}') {
        text_free(&text);
        return error_new(CODE_EXHAUSTED, "no memory to write a layout");
    }
    args->serialized_bytes = text.at;
    args->serialized_bytes_size = text.n;
    args->serialized_layout = (PJRT_Layouts_SerializedLayout *)text.at;
    args->serialized_layout_deleter = delete_text;
    return NULL;
}

Error *
pjrt_Layouts_PJRT_Client_GetDefaultLayout(PJRT_Layouts_PJRT_Client_GetDefaultLayout_Args *args)
{
    NEEDS(args, layout);
    return layout_of(args->num_dims, &args->layout);
}

Error *
pjrt_Layouts_PJRT_Topology_GetDefaultLayout(PJRT_Layouts_PJRT_Topology_GetDefaultLayout_Args *args)
{
    NEEDS(args, layout);
    return layout_of(args->num_dims, &args->layout);
}

Error *pjrt_Layouts_PJRT_Buffer_MemoryLayout(PJRT_Layouts_PJRT_Buffer_MemoryLayout_Args *args)
{
    NEEDS(args, layout);
    return layout_of((size_t)args->buffer->type.rank, &args->layout);
}

PJRT_Layouts_MemoryLayout **layouts_of(Arena *arena, int n, const Param *params)
{
    PJRT_Layouts_MemoryLayout **list = ARENA_ARRAY(arena, PJRT_Layouts_MemoryLayout *, n + 1);
    for (int i = 0; i < n; i++)
        list[i] = &row_major[params[i].local.rank];
    return list;
}

Error *pjrt_Layouts_PJRT_Executable_GetOutputLayouts(
    PJRT_Layouts_PJRT_Executable_GetOutputLayouts_Args *args)
{
    NEEDS(args, layouts);
    args->num_outputs = (size_t)args->executable->compiled->program->nresults;
    args->layouts = args->executable->compiled->output_layouts;
    return NULL;
}

Error *pjrt_Layouts_PJRT_Executable_GetParameterLayouts(
    PJRT_Layouts_PJRT_Executable_GetParameterLayouts_Args *args)
{
    NEEDS(args, layouts);
    args->num_parameters = (size_t)args->executable->compiled->program->nargs;
    args->layouts = args->executable->compiled->arg_layouts;
    return NULL;
}

PJRT_Layouts_Extension layouts_extension = {
    .base = { PJRT_Layouts_Extension_SIZE, PJRT_Extension_Type_Layouts, &tutti_extension.base },
    .PJRT_Layouts_MemoryLayout_Destroy = checked_Layouts_MemoryLayout_Destroy,
    .PJRT_Layouts_MemoryLayout_Serialize = checked_Layouts_MemoryLayout_Serialize,
    .PJRT_Layouts_PJRT_Client_GetDefaultLayout = checked_Layouts_PJRT_Client_GetDefaultLayout,
    .PJRT_Layouts_PJRT_Buffer_MemoryLayout = checked_Layouts_PJRT_Buffer_MemoryLayout,
    .PJRT_Layouts_PJRT_Topology_GetDefaultLayout = checked_Layouts_PJRT_Topology_GetDefaultLayout,
    .PJRT_Layouts_PJRT_Executable_GetOutputLayouts =
        checked_Layouts_PJRT_Executable_GetOutputLayouts,
    .PJRT_Layouts_PJRT_Executable_GetParameterLayouts =
        checked_Layouts_PJRT_Executable_GetParameterLayouts,
};
