/* layouts.c - how arrays lie in memory: the Layouts extension.
 *
 * A layout is an order of dimensions.  Each is there once, from its first use until the engine is
 * unloaded: handles of equal layouts are equal.  Clients that can ask here need not look for layouts
 * in the text of the compiled program. */
#include "engine/plugin/plugin.h"

#include "base/guard.h"

#include <stdlib.h>

struct PJRT_Layouts_MemoryLayout {
    PJRT_Layouts_MemoryLayout *next;
    Order order;
    int rank;
    int64_t minor_to_major[MAX_RANK];
};

static Lock lock;
static PJRT_Layouts_MemoryLayout *layouts; /* under the lock; what it leads to is never written */

bool is_layout(const void *layout)
{
    lock_take(&lock);
    const PJRT_Layouts_MemoryLayout *l = layouts;
    while (l && l != layout)
        l = l->next;
    lock_give(&lock);
    return l;
}

/* NULL: no memory.  The lock is held. */
static PJRT_Layouts_MemoryLayout *add_layout(int rank, Order order)
{
    PJRT_Layouts_MemoryLayout *l = malloc(sizeof *l);
    if (!l)
        return NULL;
    *l = (PJRT_Layouts_MemoryLayout){ layouts, order, rank, { 0 } };
    for (int i = 0; i < rank; i++)
        l->minor_to_major[i] = order_dim(order, rank, i);
    return layouts = l;
}

Error *layout_get(size_t rank, Order order, PJRT_Layouts_MemoryLayout **out)
{
    if (rank > MAX_RANK)
        return error_new(CODE_INVALID, "an array of rank %zu; at most %d is supported", rank,
                         MAX_RANK);
    lock_take(&lock);
    PJRT_Layouts_MemoryLayout *l = layouts;
    while (l && !(l->rank == (int)rank && l->order == order))
        l = l->next;
    if (!l)
        l = add_layout((int)rank, order);
    lock_give(&lock);
    *out = l;
    return l ? NULL : error_new(CODE_EXHAUSTED, "no memory for a layout");
}

const int64_t *layout_minor_to_major(const PJRT_Layouts_MemoryLayout *layout)
{
    return layout->minor_to_major;
}

void layouts_end(void)
{
    while (layouts) {
        PJRT_Layouts_MemoryLayout *l = layouts;
        layouts = l->next;
        free(l);
    }
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
    for (int i = 0; i < args->layout->rank; i++)
        text_printf(&text, "%s%d", i ? "," : "", (int)args->layout->minor_to_major[i]);
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
    return layout_get(args->num_dims, 0, &args->layout);
}

Error *
pjrt_Layouts_PJRT_Topology_GetDefaultLayout(PJRT_Layouts_PJRT_Topology_GetDefaultLayout_Args *args)
{
    NEEDS(args, layout);
    return layout_get(args->num_dims, 0, &args->layout);
}

Error *pjrt_Layouts_PJRT_Buffer_MemoryLayout(PJRT_Layouts_PJRT_Buffer_MemoryLayout_Args *args)
{
    NEEDS(args, layout);
    return layout_get((size_t)args->buffer->type.rank, args->buffer->order, &args->layout);
}

PJRT_Layouts_MemoryLayout **layouts_of(Arena *arena, int n, const Param *params)
{
    PJRT_Layouts_MemoryLayout **list = ARENA_ARRAY(arena, PJRT_Layouts_MemoryLayout *, n + 1);
    for (int i = 0; i < n; i++) {
        Error *error = layout_get((size_t)params[i].local.rank, params[i].order, &list[i]);
        if (error) {
            error_free(error);
            guard_leave(CODE_EXHAUSTED, "no memory for a layout");
        }
    }
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
