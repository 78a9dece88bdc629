/* api.c - the table that GetPjrtApi gives: every slot has an answer.
 *
 * functions.def lists the slots; the answer to X is pjrt_X, in the file of its object or, when we
 * do not support it, here.  In the table it stands behind a check of its arguments (checked.c).  A
 * slot without an answer does not link.  Functions that we do not support are refused here, by
 * name: that reaches the user as an exception rather than a crash. */
#include "engine/plugin/plugin.h"

#include <stdio.h>

/* Programs come in this version's encoding or an older one: JAX takes the smaller of ours and its
 * own. */
static const int64_t stablehlo_current[] = { 1, 20, 0 };
static const int64_t stablehlo_minimum[] = { 0, 9, 0 };

#define INTS_ATTRIBUTE(text, list)                                                                 \
    { .struct_size = PJRT_NamedValue_SIZE,                                                         \
      .name = text,                                                                                \
      .name_size = sizeof text - 1,                                                                \
      .type = PJRT_NamedValue_kInt64List,                                                          \
      .int64_array_value = list,                                                                   \
      .value_size = sizeof list / sizeof *list }

static const PJRT_NamedValue attributes[] = {
    INTS_ATTRIBUTE("stablehlo_current_version", stablehlo_current),
    INTS_ATTRIBUTE("stablehlo_minimum_version", stablehlo_minimum),
};

Error *pjrt_Plugin_Initialize(PJRT_Plugin_Initialize_Args *args)
{
    (void)args;
    return NULL;
}

Error *pjrt_Plugin_Attributes(PJRT_Plugin_Attributes_Args *args)
{
    NEEDS(args, num_attributes);
    args->attributes = attributes;
    args->num_attributes = sizeof attributes / sizeof *attributes;
    return NULL;
}

Error *struct_too_small(const char *function, size_t given, size_t needed)
{
    return error_new(CODE_INVALID,
                     "%s: struct_size is %zu, but the fields it needs reach to %zu: the caller "
                     "speaks a PJRT older than 0.29",
                     function, given, needed);
}

/* ---- functions that we do not support ---- */

#define REFUSE(name)                                                                               \
    Error *pjrt_##name(PJRT_##name##_Args *args)                                                   \
    {                                                                                              \
        (void)args;                                                                                \
        return error_new(CODE_UNIMPLEMENTED, "not supported: PJRT_" #name);                        \
    }

/* Host memory pinned for DMA; buffers filled piece by piece. */
REFUSE(Client_DmaMap)
REFUSE(Client_DmaUnmap)
REFUSE(Client_CreateBuffersForAsyncHostToDevice)
REFUSE(AsyncHostToDeviceTransferManager_Destroy)
REFUSE(AsyncHostToDeviceTransferManager_TransferData)
REFUSE(AsyncHostToDeviceTransferManager_RetrieveBuffer)
REFUSE(AsyncHostToDeviceTransferManager_Device)
REFUSE(AsyncHostToDeviceTransferManager_BufferCount)
REFUSE(AsyncHostToDeviceTransferManager_BufferSize)
REFUSE(AsyncHostToDeviceTransferManager_SetBufferError)
REFUSE(AsyncHostToDeviceTransferManager_AddMetadata)
REFUSE(AsyncHostToDeviceTransferManager_TransferLiteral)

/* Host callbacks in a running program. */
REFUSE(CopyToDeviceStream_Destroy)
REFUSE(CopyToDeviceStream_AddChunk)
REFUSE(CopyToDeviceStream_TotalBytes)
REFUSE(CopyToDeviceStream_GranuleSize)
REFUSE(CopyToDeviceStream_CurrentBytes)

/* Buffers that stand for something not there yet, or take another's memory. */
REFUSE(Client_CreateAliasBuffer)
REFUSE(Client_FulfillAliasBuffer)
REFUSE(Buffer_CopyRawToHostFuture)
REFUSE(Buffer_DonateWithControlDependency)
REFUSE(Buffer_Bitcast)
REFUSE(Device_PoisonExecution)

/* JAX's callers look for its own clients' words, to go without. */
Error *pjrt_TopologyDescription_Create(PJRT_TopologyDescription_Create_Args *args)
{
    (void)args;
    return error_new(CODE_UNIMPLEMENTED,
                     "not supported: PJRT_TopologyDescription_Create: topology not implemented");
}

/* Executables that are made without a client. */
REFUSE(Client_Load)
REFUSE(Compile)
REFUSE(TopologyDescription_Serialize)
REFUSE(TopologyDescription_Deserialize)
REFUSE(TopologyDescription_MakeCanonicalShapeForMemorySpace)
REFUSE(TopologyDescription_GetMemorySpaceKindIds)

REFUSE(Device_ClearMemoryStats)

/* ---- the table ---- */

static PJRT_Shardings_Extension shardings = {
    .base = { PJRT_Shardings_Extension_SIZE, PJRT_Extension_Type_Shardings,
              &transfers_extension.base },
    .PJRT_Shardings_PJRT_Executable_ParameterShardings =
        checked_Shardings_PJRT_Executable_ParameterShardings,
    .PJRT_Shardings_PJRT_Executable_OutputShardings =
        checked_Shardings_PJRT_Executable_OutputShardings,
};

static const PJRT_Api api = {
    .struct_size = PJRT_Api_SIZE,
    .extension_start = &shardings.base,
    .pjrt_api_version = { .struct_size = PJRT_Api_Version_SIZE,
                          .major_version = PJRT_MAJOR,
                          .minor_version = PJRT_MINOR },
#define FUNCTION(name) .PJRT_##name = checked_##name,
#define PROCEDURE(name) .PJRT_##name = pjrt_##name,
#include "pjrt/functions.def"
};

__attribute__((visibility("default"))) PJRT_GetPjrtApi GetPjrtApi;

const PJRT_Api *GetPjrtApi(void)
{
    return &api;
}
