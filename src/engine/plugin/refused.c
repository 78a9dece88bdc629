/* refused.c - the functions of the table that we do not support.  Each says so by its name, which
 * reaches the user as an exception rather than a crash. */
#include "engine/plugin/plugin.h"

#define REFUSE(name)                                                                               \
    Error *pjrt_##name(PJRT_##name##_Args *args)                                                   \
    {                                                                                              \
        (void)args;                                                                                \
        return error_new(CODE_UNIMPLEMENTED, "not supported: PJRT_" #name);                        \
    }

/* More than one process. */
REFUSE(Client_UpdateGlobalProcessInfo)

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

/* Executables that are made without a client. */
REFUSE(Client_Load)
REFUSE(Compile)
REFUSE(TopologyDescription_Create)
REFUSE(TopologyDescription_Serialize)
REFUSE(TopologyDescription_Deserialize)
REFUSE(TopologyDescription_MakeCanonicalShapeForMemorySpace)
REFUSE(TopologyDescription_GetMemorySpaceKindIds)

REFUSE(Device_ClearMemoryStats)
