/* pjrt.h - the seam: the PJRT C ABI as of 0.114, in our own words.
 *
 * A plugin is a shared library with one function, GetPjrtApi, that gives a table of functions.
 * Every function takes one struct of arguments and returns an error or NULL.
 *
 *     caller                              plugin
 *     args = { .struct_size = ..., }      refuses what is smaller than it needs,
 *     api->PJRT_Client_Create(&args) -->  reads and writes nothing beyond struct_size,
 *     args.client             <--         fills in the fields marked "out"
 *
 * Structs and table only grow at the end, so both sides may be of different age: who reads a late
 * field looks at struct_size first, who calls a late function looks at the table's struct_size.
 * "since 0.61" marks fields that came after their struct did.
 *
 * The names are PJRT's; order, offsets and sizes are facts that tests/seam/abi_test.c proves.
 * The functions stand in functions.def, in the order of the table. */
#ifndef TUTTI_PJRT_PJRT_H
#define TUTTI_PJRT_PJRT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PJRT_MAJOR = 0, PJRT_MINOR = 114 };

/* Ends a struct and says its size as PJRT counts it, up to its last field, without the padding
 * after that: T_SIZE. */
#define PJRT_ENDS(T, last)                                                                         \
    T;                                                                                             \
    enum { T##_SIZE = offsetof(T, last) + sizeof(((T *)0)->last) }

/* Does the caller's struct reach as far as this field? */
#define PJRT_HAS(args, field)                                                                      \
    ((args)->struct_size >= offsetof(__typeof__(*(args)), field) + sizeof((args)->field))

/* How every struct of arguments begins.  A real client chains things of its own to
 * extension_start: unknown ones are passed over. */
#define PJRT_HEAD                                                                                  \
    size_t struct_size;                                                                            \
    PJRT_Extension_Base *extension_start

/* Objects: each belongs to the side that made it, and only that side looks inside. */
typedef struct PJRT_Error PJRT_Error;
typedef struct PJRT_Event PJRT_Event;
typedef struct PJRT_Client PJRT_Client;
typedef struct PJRT_Device PJRT_Device;
typedef struct PJRT_DeviceDescription PJRT_DeviceDescription;
typedef struct PJRT_Memory PJRT_Memory;
typedef struct PJRT_TopologyDescription PJRT_TopologyDescription;
typedef struct PJRT_Buffer PJRT_Buffer;
typedef struct PJRT_Executable PJRT_Executable;
typedef struct PJRT_LoadedExecutable PJRT_LoadedExecutable;
typedef struct PJRT_ExecuteContext PJRT_ExecuteContext;
typedef struct PJRT_CopyToDeviceStream PJRT_CopyToDeviceStream;
typedef struct PJRT_AsyncHostToDeviceTransferManager PJRT_AsyncHostToDeviceTransferManager;
typedef struct PJRT_AsyncTrackingEvent PJRT_AsyncTrackingEvent;
typedef struct PJRT_FulfillAliasBufferCallback PJRT_FulfillAliasBufferCallback;
typedef struct PJRT_Device_Attributes PJRT_Device_Attributes;
typedef struct PJRT_DeviceAssignmentSerialized PJRT_DeviceAssignmentSerialized;
typedef struct PJRT_SerializedExecutable PJRT_SerializedExecutable;
typedef struct PJRT_SerializedCompileOptions PJRT_SerializedCompileOptions;
typedef struct PJRT_SerializedTopology PJRT_SerializedTopology;
typedef struct PJRT_MultiSlice_Config PJRT_MultiSlice_Config;

/* Enumerations -------------------------------------------------------------------------------- */
typedef enum PJRT_Extension_Type {
    PJRT_Extension_Type_Gpu_Custom_Call = 0,
    PJRT_Extension_Type_Profiler = 1,
    PJRT_Extension_Type_Custom_Partitioner = 2,
    PJRT_Extension_Type_Stream = 3,
    PJRT_Extension_Type_Layouts = 4,
    PJRT_Extension_Type_FFI = 5,
    PJRT_Extension_Type_MemoryDescriptions = 6,
    PJRT_Extension_Type_Triton = 7,
    PJRT_Extension_Type_RawBuffer = 8,
    PJRT_Extension_Type_PhaseCompile = 9,
    PJRT_Extension_Type_Example = 10,
    PJRT_Extension_Type_Unknown = 11,
    PJRT_Extension_Type_CrossHostTransfers = 12,
    PJRT_Extension_Type_ExecutableMetadata = 13,
    PJRT_Extension_Type_Callback = 14,
    PJRT_Extension_Type_HostAllocator = 15,
    PJRT_Extension_Type_TpuTopology = 16,
    PJRT_Extension_Type_TpuExecutable = 17,
    PJRT_Extension_Type_Megascale = 18,
    PJRT_Extension_Type_Shardings = 19,
    PJRT_Extension_Type_AbiVersion = 20,
    PJRT_Extension_Type_Collectives = 21,
    PJRT_Extension_Type_MultiSlice = 22,
    PJRT_Extension_Type_HostMemoryAllocator = 23,
    PJRT_Extension_Type_XlaTransform = 24,
} PJRT_Extension_Type;

typedef enum PJRT_Error_Code {
    PJRT_Error_Code_OK = 0,
    PJRT_Error_Code_CANCELLED = 1,
    PJRT_Error_Code_UNKNOWN = 2,
    PJRT_Error_Code_INVALID_ARGUMENT = 3,
    PJRT_Error_Code_DEADLINE_EXCEEDED = 4,
    PJRT_Error_Code_NOT_FOUND = 5,
    PJRT_Error_Code_ALREADY_EXISTS = 6,
    PJRT_Error_Code_PERMISSION_DENIED = 7,
    PJRT_Error_Code_RESOURCE_EXHAUSTED = 8,
    PJRT_Error_Code_FAILED_PRECONDITION = 9,
    PJRT_Error_Code_ABORTED = 10,
    PJRT_Error_Code_OUT_OF_RANGE = 11,
    PJRT_Error_Code_UNIMPLEMENTED = 12,
    PJRT_Error_Code_INTERNAL = 13,
    PJRT_Error_Code_UNAVAILABLE = 14,
    PJRT_Error_Code_DATA_LOSS = 15,
    PJRT_Error_Code_UNAUTHENTICATED = 16,
} PJRT_Error_Code;

typedef enum PJRT_NamedValue_Type {
    PJRT_NamedValue_kString = 0,
    PJRT_NamedValue_kInt64 = 1,
    PJRT_NamedValue_kInt64List = 2,
    PJRT_NamedValue_kFloat = 3,
    PJRT_NamedValue_kBool = 4,
} PJRT_NamedValue_Type;

typedef enum PJRT_ProcessState {
    PJRT_ProcessState_kUnspecified = 0,
    PJRT_ProcessState_kUninitialized = 1,
    PJRT_ProcessState_kDisconnected = 2,
    PJRT_ProcessState_kConnected = 3,
    PJRT_ProcessState_kError = 4,
} PJRT_ProcessState;

typedef enum PJRT_Buffer_Type {
    PJRT_Buffer_Type_INVALID = 0,
    PJRT_Buffer_Type_PRED = 1,
    PJRT_Buffer_Type_S8 = 2,
    PJRT_Buffer_Type_S16 = 3,
    PJRT_Buffer_Type_S32 = 4,
    PJRT_Buffer_Type_S64 = 5,
    PJRT_Buffer_Type_U8 = 6,
    PJRT_Buffer_Type_U16 = 7,
    PJRT_Buffer_Type_U32 = 8,
    PJRT_Buffer_Type_U64 = 9,
    PJRT_Buffer_Type_F16 = 10,
    PJRT_Buffer_Type_F32 = 11,
    PJRT_Buffer_Type_F64 = 12,
    PJRT_Buffer_Type_BF16 = 13,
    PJRT_Buffer_Type_C64 = 14,
    PJRT_Buffer_Type_C128 = 15,
    PJRT_Buffer_Type_F8E5M2 = 16,
    PJRT_Buffer_Type_F8E4M3FN = 17,
    PJRT_Buffer_Type_F8E4M3B11FNUZ = 18,
    PJRT_Buffer_Type_F8E5M2FNUZ = 19,
    PJRT_Buffer_Type_F8E4M3FNUZ = 20,
    PJRT_Buffer_Type_S4 = 21,
    PJRT_Buffer_Type_U4 = 22,
    PJRT_Buffer_Type_TOKEN = 23,
    PJRT_Buffer_Type_S2 = 24,
    PJRT_Buffer_Type_U2 = 25,
    PJRT_Buffer_Type_F8E4M3 = 26,
    PJRT_Buffer_Type_F8E3M4 = 27,
    PJRT_Buffer_Type_F8E8M0FNU = 28,
    PJRT_Buffer_Type_F4E2M1FN = 29,
    PJRT_Buffer_Type_S1 = 30,
    PJRT_Buffer_Type_U1 = 31,
    PJRT_Buffer_Type_F6E2M3FN = 32,
    PJRT_Buffer_Type_F6E3M2FN = 33,
} PJRT_Buffer_Type;

typedef enum PJRT_HostBufferSemantics {
    PJRT_HostBufferSemantics_kImmutableOnlyDuringCall = 0,
    PJRT_HostBufferSemantics_kImmutableUntilTransferCompletes = 1,
    PJRT_HostBufferSemantics_kImmutableZeroCopy = 2,
    PJRT_HostBufferSemantics_kMutableZeroCopy = 3,
} PJRT_HostBufferSemantics;

typedef enum PJRT_Buffer_MemoryLayout_Type {
    PJRT_Buffer_MemoryLayout_Type_Tiled = 0,
    PJRT_Buffer_MemoryLayout_Type_Strides = 1,
} PJRT_Buffer_MemoryLayout_Type;

/* Extensions: further tables, chained from the first one */
typedef struct PJRT_Extension_Base {
    size_t struct_size;
    PJRT_Extension_Type type;
    struct PJRT_Extension_Base *next;
} PJRT_ENDS(PJRT_Extension_Base, next);

/* Errors ---------------------------------------------------------------------------------------
 *
 * NULL is success.  An error is opaque but for its first word, by which a client that has only
 * the error, not the table, can read it. */
typedef void (*PJRT_Error_PayloadVisitor)(const char *key, size_t key_size, const char *value,
                                          size_t value_size, void *user_arg);

typedef struct PJRT_Error_FunctionTable {
    size_t struct_size;
    size_t instance_size;
    PJRT_Extension_Base *extension_start;
    void (*destroy)(PJRT_Error *);
    void (*message)(const PJRT_Error *, const char **, size_t *);
    PJRT_Error_Code (*get_code)(const PJRT_Error *);
    void (*for_each_payload)(const PJRT_Error *, PJRT_Error_PayloadVisitor, void *);
} PJRT_ENDS(PJRT_Error_FunctionTable, for_each_payload);

typedef struct PJRT_Error_Start {
    const struct PJRT_Error_FunctionTable *vtable; /* since 0.107 */
} PJRT_Error_Start;

/* The error may be NULL. */
typedef struct PJRT_Error_Destroy_Args {
    PJRT_HEAD;
    PJRT_Error *error;
} PJRT_ENDS(PJRT_Error_Destroy_Args, error);

/* The text lives as long as the error; it need not end in a NUL. */
typedef struct PJRT_Error_Message_Args {
    PJRT_HEAD;
    const PJRT_Error *error;
    const char *message; /* out */
    size_t message_size; /* out */
} PJRT_ENDS(PJRT_Error_Message_Args, message_size);

typedef struct PJRT_Error_GetCode_Args {
    PJRT_HEAD;
    const PJRT_Error *error;
    PJRT_Error_Code code; /* out */
} PJRT_ENDS(PJRT_Error_GetCode_Args, code);

/* Clients call this for every error, so it must be there even if there are no payloads. */
typedef struct PJRT_Error_ForEachPayload_Args {
    PJRT_HEAD;
    const PJRT_Error *error;
    PJRT_Error_PayloadVisitor visitor;
    void *user_arg;
} PJRT_ENDS(PJRT_Error_ForEachPayload_Args, user_arg);

/* Named values and the plugin itself ----------------------------------------------------------- */
/* A name and one of five kinds of value; value_size counts characters or items, else it is 1. */
typedef struct PJRT_NamedValue {
    PJRT_HEAD;
    const char *name;
    size_t name_size;
    PJRT_NamedValue_Type type;
    union {
        const char *string_value;
        int64_t int64_value;
        const int64_t *int64_array_value;
        float float_value;
        bool bool_value;
    };
    size_t value_size;
} PJRT_ENDS(PJRT_NamedValue, value_size);

typedef struct PJRT_Plugin_Initialize_Args {
    PJRT_HEAD;
} PJRT_ENDS(PJRT_Plugin_Initialize_Args, extension_start);

/* The list lives as long as the process. */
typedef struct PJRT_Plugin_Attributes_Args {
    PJRT_HEAD;
    const PJRT_NamedValue *attributes; /* out */
    size_t num_attributes;             /* out */
} PJRT_ENDS(PJRT_Plugin_Attributes_Args, num_attributes);

/* Events ---------------------------------------------------------------------------------------
 *
 * Something that will have happened.  The caller destroys every event it is given. */
typedef void (*PJRT_Event_OnReadyCallback)(PJRT_Error *error, void *user_arg);

typedef struct PJRT_Event_Destroy_Args {
    PJRT_HEAD;
    PJRT_Event *event;
} PJRT_ENDS(PJRT_Event_Destroy_Args, event);

/* Has it happened, well or badly? */
typedef struct PJRT_Event_IsReady_Args {
    PJRT_HEAD;
    PJRT_Event *event;
    bool is_ready; /* out */
} PJRT_ENDS(PJRT_Event_IsReady_Args, is_ready);

/* A fresh copy of the error, or NULL.  Only of an event that is ready. */
typedef struct PJRT_Event_Error_Args {
    PJRT_HEAD;
    PJRT_Event *event;
} PJRT_ENDS(PJRT_Event_Error_Args, event);

/* Blocks. */
typedef struct PJRT_Event_Await_Args {
    PJRT_HEAD;
    PJRT_Event *event;
} PJRT_ENDS(PJRT_Event_Await_Args, event);

/* The callback owns the error and may destroy the event.  It may run inside this call. */
typedef struct PJRT_Event_OnReady_Args {
    PJRT_HEAD;
    PJRT_Event *event;
    PJRT_Event_OnReadyCallback callback;
    void *user_arg;
} PJRT_ENDS(PJRT_Event_OnReady_Args, user_arg);

typedef struct PJRT_Event_Create_Args {
    PJRT_HEAD;
    PJRT_Event *event; /* out */
} PJRT_ENDS(PJRT_Event_Create_Args, event);

typedef struct PJRT_Event_Set_Args {
    PJRT_HEAD;
    PJRT_Event *event;
    PJRT_Error_Code error_code;
    const char *error_message;
    size_t error_message_size;
} PJRT_ENDS(PJRT_Event_Set_Args, error_message_size);

/* Clients -------------------------------------------------------------------------------------- */
/* Makes an error on behalf of a callback of the client. */
typedef PJRT_Error *(*PJRT_CallbackError)(PJRT_Error_Code code, const char *message,
                                          size_t message_size);
typedef void (*PJRT_KeyValueGetCallback_ValueDeleter)(char *value);
typedef void (*PJRT_KeyValueTryGetCallback_ValueDeleter)(char *value);

/* How processes of one job find each other.  Waits up to timeout_in_ms. */
typedef struct PJRT_KeyValueGetCallback_Args {
    PJRT_HEAD;
    const char *key;
    size_t key_size;
    int timeout_in_ms;
    PJRT_CallbackError *callback_error;
    void *user_arg;
    char *value;                                                  /* out */
    size_t value_size;                                            /* out */
    PJRT_KeyValueGetCallback_ValueDeleter value_deleter_callback; /* out */
} PJRT_ENDS(PJRT_KeyValueGetCallback_Args, value_deleter_callback);

/* The same without waiting. */
typedef struct PJRT_KeyValueTryGetCallback_Args {
    PJRT_HEAD;
    const char *key;
    size_t key_size;
    PJRT_CallbackError *callback_error;
    void *user_arg;
    char *value;                                                     /* out */
    size_t value_size;                                               /* out */
    PJRT_KeyValueTryGetCallback_ValueDeleter value_deleter_callback; /* out */
} PJRT_ENDS(PJRT_KeyValueTryGetCallback_Args, value_deleter_callback);

typedef struct PJRT_KeyValuePutCallback_Args {
    PJRT_HEAD;
    const char *key;
    size_t key_size;
    const char *value;
    size_t value_size;
    PJRT_CallbackError *callback_error;
    void *user_arg;
} PJRT_ENDS(PJRT_KeyValuePutCallback_Args, user_arg);

typedef PJRT_Error *(*PJRT_KeyValueGetCallback)(PJRT_KeyValueGetCallback_Args *args);
typedef PJRT_Error *(*PJRT_KeyValueTryGetCallback)(PJRT_KeyValueTryGetCallback_Args *args);
typedef PJRT_Error *(*PJRT_KeyValuePutCallback)(PJRT_KeyValuePutCallback_Args *args);

/* The callbacks hold garbage unless the job has several processes. */
typedef struct PJRT_Client_Create_Args {
    PJRT_HEAD;
    const PJRT_NamedValue *create_options;
    size_t num_options;
    PJRT_KeyValueGetCallback kv_get_callback;
    void *kv_get_user_arg;
    PJRT_KeyValuePutCallback kv_put_callback;
    void *kv_put_user_arg;
    PJRT_Client *client;                             /* out */
    PJRT_KeyValueTryGetCallback kv_try_get_callback; /* since 0.61 */
    void *kv_try_get_user_arg;                       /* since 0.61 */
} PJRT_ENDS(PJRT_Client_Create_Args, kv_try_get_user_arg);

typedef struct PJRT_Client_Destroy_Args {
    PJRT_HEAD;
    PJRT_Client *client;
} PJRT_ENDS(PJRT_Client_Destroy_Args, client);

typedef struct PJRT_Client_PlatformName_Args {
    PJRT_HEAD;
    PJRT_Client *client;
    const char *platform_name; /* out */
    size_t platform_name_size; /* out */
} PJRT_ENDS(PJRT_Client_PlatformName_Args, platform_name_size);

typedef struct PJRT_Client_PlatformVersion_Args {
    PJRT_HEAD;
    PJRT_Client *client;
    const char *platform_version; /* out */
    size_t platform_version_size; /* out */
} PJRT_ENDS(PJRT_Client_PlatformVersion_Args, platform_version_size);

typedef struct PJRT_Client_ProcessIndex_Args {
    PJRT_HEAD;
    PJRT_Client *client;
    int process_index; /* out */
} PJRT_ENDS(PJRT_Client_ProcessIndex_Args, process_index);

typedef struct PJRT_Client_TopologyDescription_Args {
    PJRT_HEAD;
    PJRT_Client *client;
    PJRT_TopologyDescription *topology; /* out */
} PJRT_ENDS(PJRT_Client_TopologyDescription_Args, topology);

typedef struct PJRT_Client_Devices_Args {
    PJRT_HEAD;
    PJRT_Client *client;
    PJRT_Device *const *devices; /* out */
    size_t num_devices;          /* out */
} PJRT_ENDS(PJRT_Client_Devices_Args, num_devices);

typedef struct PJRT_Client_AddressableDevices_Args {
    PJRT_HEAD;
    PJRT_Client *client;
    PJRT_Device *const *addressable_devices; /* out */
    size_t num_addressable_devices;          /* out */
} PJRT_ENDS(PJRT_Client_AddressableDevices_Args, num_addressable_devices);

/* By global number. */
typedef struct PJRT_Client_LookupDevice_Args {
    PJRT_HEAD;
    PJRT_Client *client;
    int id;
    PJRT_Device *device; /* out */
} PJRT_ENDS(PJRT_Client_LookupDevice_Args, device);

/* By the number in this process. */
typedef struct PJRT_Client_LookupAddressableDevice_Args {
    PJRT_HEAD;
    PJRT_Client *client;
    int local_hardware_id;
    PJRT_Device *addressable_device; /* out */
} PJRT_ENDS(PJRT_Client_LookupAddressableDevice_Args, addressable_device);

typedef struct PJRT_Client_AddressableMemories_Args {
    PJRT_HEAD;
    PJRT_Client *client;
    PJRT_Memory *const *addressable_memories; /* out */
    size_t num_addressable_memories;          /* out */
} PJRT_ENDS(PJRT_Client_AddressableMemories_Args, num_addressable_memories);

/* [num_replicas][num_partitions] device numbers into the caller's memory. */
typedef struct PJRT_Client_DefaultDeviceAssignment_Args {
    PJRT_HEAD;
    PJRT_Client *client;
    int num_replicas;
    int num_partitions;
    size_t default_assignment_size;
    int *default_assignment; /* out */
} PJRT_ENDS(PJRT_Client_DefaultDeviceAssignment_Args, default_assignment);

typedef struct PJRT_ProcessInfo {
    size_t struct_size;
    int task_id;
    uint64_t incarnation_id;
    PJRT_ProcessState state;
    int error_code;
    const char *error_message;
    size_t error_message_size;
} PJRT_ENDS(PJRT_ProcessInfo, error_message_size);

typedef struct PJRT_Client_UpdateGlobalProcessInfo_Args {
    PJRT_HEAD;
    PJRT_Client *client;
    PJRT_ProcessInfo *process_infos;
    size_t num_process_infos;
} PJRT_ENDS(PJRT_Client_UpdateGlobalProcessInfo_Args, num_process_infos);

typedef struct PJRT_Client_DmaMap_Args {
    PJRT_HEAD;
    PJRT_Client *client;
    void *data;
    size_t size;
} PJRT_ENDS(PJRT_Client_DmaMap_Args, size);

typedef struct PJRT_Client_DmaUnmap_Args {
    PJRT_HEAD;
    PJRT_Client *client;
    void *data;
} PJRT_ENDS(PJRT_Client_DmaUnmap_Args, data);

/* Devices --------------------------------------------------------------------------------------
 *
 * A device belongs to a client; its description is what could be said of it without one. */
typedef struct PJRT_DeviceDescription_Id_Args {
    PJRT_HEAD;
    PJRT_DeviceDescription *device_description;
    int id; /* out */
} PJRT_ENDS(PJRT_DeviceDescription_Id_Args, id);

typedef struct PJRT_DeviceDescription_ProcessIndex_Args {
    PJRT_HEAD;
    PJRT_DeviceDescription *device_description;
    int process_index; /* out */
} PJRT_ENDS(PJRT_DeviceDescription_ProcessIndex_Args, process_index);

typedef struct PJRT_DeviceDescription_Attributes_Args {
    PJRT_HEAD;
    PJRT_DeviceDescription *device_description;
    size_t num_attributes;             /* out */
    const PJRT_NamedValue *attributes; /* out */
} PJRT_ENDS(PJRT_DeviceDescription_Attributes_Args, attributes);

/* The model, "cpu" or "TPU v4". */
typedef struct PJRT_DeviceDescription_Kind_Args {
    PJRT_HEAD;
    PJRT_DeviceDescription *device_description;
    const char *device_kind; /* out */
    size_t device_kind_size; /* out */
} PJRT_ENDS(PJRT_DeviceDescription_Kind_Args, device_kind_size);

/* The long form of its name; ToString is the short one. */
typedef struct PJRT_DeviceDescription_DebugString_Args {
    PJRT_HEAD;
    PJRT_DeviceDescription *device_description;
    const char *debug_string; /* out */
    size_t debug_string_size; /* out */
} PJRT_ENDS(PJRT_DeviceDescription_DebugString_Args, debug_string_size);

typedef struct PJRT_DeviceDescription_ToString_Args {
    PJRT_HEAD;
    PJRT_DeviceDescription *device_description;
    const char *to_string; /* out */
    size_t to_string_size; /* out */
} PJRT_ENDS(PJRT_DeviceDescription_ToString_Args, to_string_size);

typedef struct PJRT_Device_GetDescription_Args {
    PJRT_HEAD;
    PJRT_Device *device;
    PJRT_DeviceDescription *device_description; /* out */
} PJRT_ENDS(PJRT_Device_GetDescription_Args, device_description);

typedef struct PJRT_Device_IsAddressable_Args {
    PJRT_HEAD;
    PJRT_Device *device;
    bool is_addressable; /* out */
} PJRT_ENDS(PJRT_Device_IsAddressable_Args, is_addressable);

typedef struct PJRT_Device_LocalHardwareId_Args {
    PJRT_HEAD;
    PJRT_Device *device;
    int local_hardware_id; /* out */
} PJRT_ENDS(PJRT_Device_LocalHardwareId_Args, local_hardware_id);

typedef struct PJRT_Device_AddressableMemories_Args {
    PJRT_HEAD;
    PJRT_Device *device;
    PJRT_Memory *const *memories; /* out */
    size_t num_memories;          /* out */
} PJRT_ENDS(PJRT_Device_AddressableMemories_Args, num_memories);

typedef struct PJRT_Device_DefaultMemory_Args {
    PJRT_HEAD;
    PJRT_Device *device;
    PJRT_Memory *memory; /* out */
} PJRT_ENDS(PJRT_Device_DefaultMemory_Args, memory);

/* A value counts only when its _is_set is true; bytes_in_use always does. */
typedef struct PJRT_Device_MemoryStats_Args {
    PJRT_HEAD;
    PJRT_Device *device;
    int64_t bytes_in_use;                 /* out */
    int64_t peak_bytes_in_use;            /* out */
    bool peak_bytes_in_use_is_set;        /* out */
    int64_t num_allocs;                   /* out */
    bool num_allocs_is_set;               /* out */
    int64_t largest_alloc_size;           /* out */
    bool largest_alloc_size_is_set;       /* out */
    int64_t bytes_limit;                  /* out */
    bool bytes_limit_is_set;              /* out */
    int64_t bytes_reserved;               /* out */
    bool bytes_reserved_is_set;           /* out */
    int64_t peak_bytes_reserved;          /* out */
    bool peak_bytes_reserved_is_set;      /* out */
    int64_t bytes_reservable_limit;       /* out */
    bool bytes_reservable_limit_is_set;   /* out */
    int64_t largest_free_block_bytes;     /* out */
    bool largest_free_block_bytes_is_set; /* out */
    int64_t pool_bytes;                   /* out */
    bool pool_bytes_is_set;               /* out */
    int64_t peak_pool_bytes;              /* out */
    bool peak_pool_bytes_is_set;          /* out */
    int64_t peak_allocated_bytes;         /* out, since 0.113 */
    bool peak_allocated_bytes_is_set;     /* out, since 0.113 */
} PJRT_ENDS(PJRT_Device_MemoryStats_Args, peak_allocated_bytes_is_set);

typedef struct PJRT_Device_ClearMemoryStats_Args {
    PJRT_HEAD;
    PJRT_Device *device;
} PJRT_ENDS(PJRT_Device_ClearMemoryStats_Args, device);

typedef struct PJRT_Device_PoisonExecution_Args {
    PJRT_HEAD;
    PJRT_Device *device;
    int32_t launch_id;
    PJRT_Error_Code error_code;
    const char *error_message;
    size_t error_message_size;
    bool poisoned;                  /* out */
    const PJRT_NamedValue *payload; /* since 0.100 */
    size_t num_payload;             /* since 0.100 */
} PJRT_ENDS(PJRT_Device_PoisonExecution_Args, num_payload);

/* attributes_deleter must be set even if there is nothing to delete. */
typedef struct PJRT_Device_GetAttributes_Args {
    PJRT_HEAD;
    PJRT_Device *device;
    const PJRT_NamedValue *attributes;                    /* out */
    size_t num_attributes;                                /* out */
    PJRT_Device_Attributes *device_attributes;            /* out */
    void (*attributes_deleter)(PJRT_Device_Attributes *); /* out */
} PJRT_ENDS(PJRT_Device_GetAttributes_Args, attributes_deleter);

typedef struct PJRT_Device_CreateAsyncTrackingEvent_Args {
    PJRT_HEAD;
    PJRT_Device *device;
    const char *description;
    size_t description_size;
    PJRT_AsyncTrackingEvent *event; /* out */
} PJRT_ENDS(PJRT_Device_CreateAsyncTrackingEvent_Args, event);

typedef struct PJRT_AsyncTrackingEvent_Destroy_Args {
    PJRT_HEAD;
    PJRT_AsyncTrackingEvent *event;
} PJRT_ENDS(PJRT_AsyncTrackingEvent_Destroy_Args, event);

/* Memories -------------------------------------------------------------------------------------
 *
 * Spaces that buffers lie in.  Like an error, a memory begins with a pointer to a table or NULL. */
/* Lets a client hang data of its own on a memory, by key.  All entries are called unchecked. */
typedef struct PJRT_Memory_FunctionTable {
    PJRT_HEAD;
    size_t instance_struct_size;
    void *(*get_user_data)(struct PJRT_Memory *, const void *);
    void (*set_user_data)(struct PJRT_Memory *, const void *, void *, void (*)(void *));
} PJRT_ENDS(PJRT_Memory_FunctionTable, set_user_data);

typedef struct PJRT_Memory_Start {
    const struct PJRT_Memory_FunctionTable *vtable; /* since 0.105 */
} PJRT_Memory_Start;

typedef struct PJRT_Memory_Id_Args {
    PJRT_HEAD;
    PJRT_Memory *memory;
    int id; /* out */
} PJRT_ENDS(PJRT_Memory_Id_Args, id);

/* "device", "pinned_host", ... */
typedef struct PJRT_Memory_Kind_Args {
    PJRT_HEAD;
    PJRT_Memory *memory;
    const char *kind; /* out, since 0.48 */
    size_t kind_size; /* out, since 0.48 */
} PJRT_ENDS(PJRT_Memory_Kind_Args, kind_size);

/* A number that stands for the kind, within a platform. */
typedef struct PJRT_Memory_Kind_Id_Args {
    PJRT_HEAD;
    PJRT_Memory *memory;
    int kind_id; /* out */
} PJRT_ENDS(PJRT_Memory_Kind_Id_Args, kind_id);

typedef struct PJRT_Memory_DebugString_Args {
    PJRT_HEAD;
    PJRT_Memory *memory;
    const char *debug_string; /* out */
    size_t debug_string_size; /* out */
} PJRT_ENDS(PJRT_Memory_DebugString_Args, debug_string_size);

typedef struct PJRT_Memory_ToString_Args {
    PJRT_HEAD;
    PJRT_Memory *memory;
    const char *to_string; /* out */
    size_t to_string_size; /* out */
} PJRT_ENDS(PJRT_Memory_ToString_Args, to_string_size);

typedef struct PJRT_Memory_AddressableByDevices_Args {
    PJRT_HEAD;
    PJRT_Memory *memory;
    PJRT_Device *const *devices; /* out */
    size_t num_devices;          /* out */
} PJRT_ENDS(PJRT_Memory_AddressableByDevices_Args, num_devices);

/* Layouts and making buffers ------------------------------------------------------------------- */
/* Dimensions from the fastest to the slowest; tiles are for other machines. */
typedef struct PJRT_Buffer_MemoryLayout_Tiled {
    PJRT_HEAD;
    const int64_t *minor_to_major;
    size_t minor_to_major_size;
    const int64_t *tile_dims;
    const size_t *tile_dim_sizes;
    size_t num_tiles;
} PJRT_ENDS(PJRT_Buffer_MemoryLayout_Tiled, num_tiles);

typedef struct PJRT_Buffer_MemoryLayout_Strides {
    PJRT_HEAD;
    const int64_t *byte_strides;
    size_t num_byte_strides;
} PJRT_ENDS(PJRT_Buffer_MemoryLayout_Strides, num_byte_strides);

typedef struct PJRT_Buffer_MemoryLayout {
    PJRT_HEAD;
    union {
        PJRT_Buffer_MemoryLayout_Tiled tiled;
        PJRT_Buffer_MemoryLayout_Strides strides;
    };
    PJRT_Buffer_MemoryLayout_Type type;
} PJRT_ENDS(PJRT_Buffer_MemoryLayout, type);

typedef struct PJRT_ShapeSpec {
    PJRT_HEAD;
    const int64_t *dims;
    size_t num_dims;
    PJRT_Buffer_Type element_type;
} PJRT_ENDS(PJRT_ShapeSpec, element_type);

/* Exactly one of device and memory is set.  byte_strides: NULL or empty is row-major;
 * may be zero or negative.  done_with_host_buffer: when the caller may write to data again;
 * never NULL. */
typedef struct PJRT_Client_BufferFromHostBuffer_Args {
    PJRT_HEAD;
    PJRT_Client *client;
    const void *data;
    PJRT_Buffer_Type type;
    const int64_t *dims;
    size_t num_dims;
    const int64_t *byte_strides;
    size_t num_byte_strides;
    PJRT_HostBufferSemantics host_buffer_semantics;
    PJRT_Device *device;
    PJRT_Memory *memory;
    PJRT_Buffer_MemoryLayout *device_layout;
    PJRT_Event *done_with_host_buffer; /* out */
    PJRT_Buffer *buffer;               /* out */
} PJRT_ENDS(PJRT_Client_BufferFromHostBuffer_Args, buffer);

/* Over memory that is not ours, until on_delete_callback. */
typedef struct PJRT_Client_CreateViewOfDeviceBuffer_Args {
    PJRT_HEAD;
    PJRT_Client *client;
    void *device_buffer_ptr;
    const int64_t *dims;
    size_t num_dims;
    PJRT_Buffer_Type element_type;
    PJRT_Buffer_MemoryLayout *layout;
    PJRT_Device *device;
    void (*on_delete_callback)(void *, void *);
    void *on_delete_callback_arg;
    intptr_t stream;
    PJRT_Buffer *buffer; /* out */
    PJRT_Memory *memory; /* since 0.66 */
} PJRT_ENDS(PJRT_Client_CreateViewOfDeviceBuffer_Args, memory);

typedef struct PJRT_Client_CreateUninitializedBuffer_Args {
    PJRT_HEAD;
    PJRT_Client *client;
    const int64_t *shape_dims;
    size_t shape_num_dims;
    PJRT_Buffer_Type shape_element_type;
    PJRT_Buffer_MemoryLayout *shape_layout;
    PJRT_Device *device;
    PJRT_Memory *memory;
    PJRT_Buffer *buffer; /* out */
} PJRT_ENDS(PJRT_Client_CreateUninitializedBuffer_Args, buffer);

typedef struct PJRT_Client_CreateErrorBuffer_Args {
    PJRT_HEAD;
    PJRT_Client *client;
    PJRT_Error_Code error_code;
    const char *error_message;
    size_t error_message_size;
    const int64_t *shape_dims;
    size_t shape_num_dims;
    PJRT_Buffer_Type shape_element_type;
    PJRT_Buffer_MemoryLayout *shape_layout;
    PJRT_Memory *memory;
    PJRT_Buffer *buffer;            /* out */
    const PJRT_NamedValue *payload; /* since 0.103 */
    size_t num_payload;             /* since 0.103 */
} PJRT_ENDS(PJRT_Client_CreateErrorBuffer_Args, num_payload);

typedef struct PJRT_Client_CreateAliasBuffer_Args {
    PJRT_HEAD;
    PJRT_Client *client;
    PJRT_Memory *memory;
    const int64_t *shape_dims;
    size_t shape_num_dims;
    PJRT_Buffer_Type shape_element_type;
    PJRT_Buffer_MemoryLayout *shape_layout;
    PJRT_Buffer *alias_buffer;                                /* out */
    PJRT_FulfillAliasBufferCallback *fulfill_alias_buffer_cb; /* out */
} PJRT_ENDS(PJRT_Client_CreateAliasBuffer_Args, fulfill_alias_buffer_cb);

typedef struct PJRT_Client_FulfillAliasBuffer_Args {
    PJRT_HEAD;
    PJRT_Client *client;
    PJRT_Buffer *buffer;
    PJRT_Error_Code status_code;
    const char *error_message;
    size_t error_message_size;
    PJRT_FulfillAliasBufferCallback *fulfill_alias_buffer_cb;
} PJRT_ENDS(PJRT_Client_FulfillAliasBuffer_Args, fulfill_alias_buffer_cb);

typedef struct PJRT_Client_CreateBuffersForAsyncHostToDevice_Args {
    PJRT_HEAD;
    PJRT_Client *client;
    PJRT_ShapeSpec *shape_specs;
    size_t num_shape_specs;
    PJRT_Buffer_MemoryLayout **device_layouts;
    size_t num_device_layouts;
    PJRT_Memory *memory;
    PJRT_AsyncHostToDeviceTransferManager *transfer_manager; /* out */
} PJRT_ENDS(PJRT_Client_CreateBuffersForAsyncHostToDevice_Args, transfer_manager);

typedef struct PJRT_AsyncHostToDeviceTransferManager_Destroy_Args {
    PJRT_HEAD;
    PJRT_AsyncHostToDeviceTransferManager *transfer_manager;
} PJRT_ENDS(PJRT_AsyncHostToDeviceTransferManager_Destroy_Args, transfer_manager);

typedef struct PJRT_AsyncHostToDeviceTransferManager_TransferData_Args {
    PJRT_HEAD;
    PJRT_AsyncHostToDeviceTransferManager *transfer_manager;
    int buffer_index;
    const void *data;
    int64_t offset;
    int64_t transfer_size;
    bool is_last_transfer;
    PJRT_Event *done_with_h2d_transfer; /* out */
} PJRT_ENDS(PJRT_AsyncHostToDeviceTransferManager_TransferData_Args, done_with_h2d_transfer);

typedef struct PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer_Args {
    PJRT_HEAD;
    PJRT_AsyncHostToDeviceTransferManager *transfer_manager;
    int buffer_index;
    PJRT_Buffer *buffer_out; /* out */
} PJRT_ENDS(PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer_Args, buffer_out);

typedef struct PJRT_AsyncHostToDeviceTransferManager_Device_Args {
    PJRT_HEAD;
    PJRT_AsyncHostToDeviceTransferManager *transfer_manager;
    PJRT_Device *device_out; /* out */
} PJRT_ENDS(PJRT_AsyncHostToDeviceTransferManager_Device_Args, device_out);

typedef struct PJRT_AsyncHostToDeviceTransferManager_BufferCount_Args {
    PJRT_HEAD;
    PJRT_AsyncHostToDeviceTransferManager *transfer_manager;
    size_t buffer_count; /* out */
} PJRT_ENDS(PJRT_AsyncHostToDeviceTransferManager_BufferCount_Args, buffer_count);

typedef struct PJRT_AsyncHostToDeviceTransferManager_BufferSize_Args {
    PJRT_HEAD;
    PJRT_AsyncHostToDeviceTransferManager *transfer_manager;
    int buffer_index;
    size_t buffer_size; /* out */
} PJRT_ENDS(PJRT_AsyncHostToDeviceTransferManager_BufferSize_Args, buffer_size);

typedef struct PJRT_AsyncHostToDeviceTransferManager_SetBufferError_Args {
    PJRT_HEAD;
    PJRT_AsyncHostToDeviceTransferManager *transfer_manager;
    int buffer_index;
    PJRT_Error_Code error_code;
    const char *error_message;
    size_t error_message_size;
} PJRT_ENDS(PJRT_AsyncHostToDeviceTransferManager_SetBufferError_Args, error_message_size);

typedef struct PJRT_AsyncHostToDeviceTransferManager_AddMetadata_Args {
    PJRT_HEAD;
    PJRT_AsyncHostToDeviceTransferManager *transfer_manager;
    const PJRT_NamedValue *transfer_metadata;
    size_t num_metadata;
} PJRT_ENDS(PJRT_AsyncHostToDeviceTransferManager_AddMetadata_Args, num_metadata);

typedef struct PJRT_AsyncHostToDeviceTransferManager_TransferLiteral_Args {
    PJRT_HEAD;
    PJRT_AsyncHostToDeviceTransferManager *transfer_manager;
    int buffer_index;
    const void *data;
    const int64_t *shape_dims;
    size_t shape_num_dims;
    PJRT_Buffer_Type shape_element_type;
    PJRT_Buffer_MemoryLayout *shape_layout;
    PJRT_Event *done_with_h2d_transfer; /* out */
} PJRT_ENDS(PJRT_AsyncHostToDeviceTransferManager_TransferLiteral_Args, done_with_h2d_transfer);

/* Topologies -----------------------------------------------------------------------------------
 *
 * The devices of a machine without a client: for compiling ahead of time. */
typedef struct PJRT_TopologyDescription_Create_Args {
    PJRT_HEAD;
    const char *topology_name;
    size_t topology_name_size;
    const PJRT_NamedValue *create_options;
    size_t num_options;
    PJRT_TopologyDescription *topology; /* out */
} PJRT_ENDS(PJRT_TopologyDescription_Create_Args, topology);

typedef struct PJRT_TopologyDescription_Destroy_Args {
    PJRT_HEAD;
    PJRT_TopologyDescription *topology;
} PJRT_ENDS(PJRT_TopologyDescription_Destroy_Args, topology);

typedef struct PJRT_TopologyDescription_PlatformVersion_Args {
    PJRT_HEAD;
    PJRT_TopologyDescription *topology;
    const char *platform_version; /* out */
    size_t platform_version_size; /* out */
} PJRT_ENDS(PJRT_TopologyDescription_PlatformVersion_Args, platform_version_size);

typedef struct PJRT_TopologyDescription_PlatformName_Args {
    PJRT_HEAD;
    const PJRT_TopologyDescription *topology;
    const char *platform_name; /* out */
    size_t platform_name_size; /* out */
} PJRT_ENDS(PJRT_TopologyDescription_PlatformName_Args, platform_name_size);

typedef struct PJRT_TopologyDescription_GetDeviceDescriptions_Args {
    PJRT_HEAD;
    const PJRT_TopologyDescription *topology;
    PJRT_DeviceDescription *const *descriptions; /* out */
    size_t num_descriptions;                     /* out */
} PJRT_ENDS(PJRT_TopologyDescription_GetDeviceDescriptions_Args, num_descriptions);

typedef struct PJRT_TopologyDescription_Serialize_Args {
    PJRT_HEAD;
    PJRT_TopologyDescription *topology;
    const char *serialized_bytes;                                   /* out */
    size_t serialized_bytes_size;                                   /* out */
    PJRT_SerializedTopology *serialized_topology;                   /* out */
    void (*serialized_topology_deleter)(PJRT_SerializedTopology *); /* out */
} PJRT_ENDS(PJRT_TopologyDescription_Serialize_Args, serialized_topology_deleter);

typedef struct PJRT_TopologyDescription_Deserialize_Args {
    PJRT_HEAD;
    const char *serialized_topology;
    size_t serialized_topology_size;
    PJRT_TopologyDescription *topology; /* out */
} PJRT_ENDS(PJRT_TopologyDescription_Deserialize_Args, topology);

typedef struct PJRT_TopologyDescription_Attributes_Args {
    PJRT_HEAD;
    PJRT_TopologyDescription *topology;
    const PJRT_NamedValue *attributes; /* out */
    size_t num_attributes;             /* out */
} PJRT_ENDS(PJRT_TopologyDescription_Attributes_Args, num_attributes);

typedef struct PJRT_TopologyDescription_Fingerprint_Args {
    PJRT_HEAD;
    const PJRT_TopologyDescription *topology;
    uint64_t fingerprint; /* out */
} PJRT_ENDS(PJRT_TopologyDescription_Fingerprint_Args, fingerprint);

typedef struct PJRT_TopologyDescription_MakeCanonicalShapeForMemorySpace_Args {
    PJRT_HEAD;
    const PJRT_TopologyDescription *topology;
    int memory_space_kind_id;
    const int64_t *dims;
    size_t num_dims;
    PJRT_Buffer_Type element_type;
    const PJRT_Buffer_MemoryLayout *layout;
    const char *serialized_shape;                   /* out */
    size_t serialized_shape_size;                   /* out */
    void (*serialized_shape_deleter)(const char *); /* out */
} PJRT_ENDS(PJRT_TopologyDescription_MakeCanonicalShapeForMemorySpace_Args,
            serialized_shape_deleter);

typedef struct PJRT_TopologyDescription_GetMemorySpaceKindIds_Args {
    PJRT_HEAD;
    const PJRT_TopologyDescription *topology;
    const int *memory_space_kind_ids; /* out */
    size_t num_memory_space_kind_ids; /* out */
} PJRT_ENDS(PJRT_TopologyDescription_GetMemorySpaceKindIds_Args, num_memory_space_kind_ids);

/* Buffers --------------------------------------------------------------------------------------
 *
 * An array on one device. */
typedef struct PJRT_Buffer_CopyRawToHostFuture_Callback_Args {
    size_t struct_size;
    void *callback_data;
    PJRT_Error_Code error_code;
    const char *error_message;
    size_t error_message_size;
    void *dst;
} PJRT_ENDS(PJRT_Buffer_CopyRawToHostFuture_Callback_Args, dst);

typedef struct PJRT_Buffer_DonateWithControlDependency_Callback_Args {
    size_t struct_size;
    void *callback_data;
    PJRT_Error_Code error_code;
    const char *error_message;
    size_t error_message_size;
} PJRT_ENDS(PJRT_Buffer_DonateWithControlDependency_Callback_Args, error_message_size);

typedef struct PJRT_Buffer_Destroy_Args {
    PJRT_HEAD;
    PJRT_Buffer *buffer;
} PJRT_ENDS(PJRT_Buffer_Destroy_Args, buffer);

typedef struct PJRT_Buffer_ElementType_Args {
    PJRT_HEAD;
    PJRT_Buffer *buffer;
    PJRT_Buffer_Type type; /* out */
} PJRT_ENDS(PJRT_Buffer_ElementType_Args, type);

typedef struct PJRT_Buffer_Dimensions_Args {
    PJRT_HEAD;
    PJRT_Buffer *buffer;
    const int64_t *dims; /* out */
    size_t num_dims;     /* out */
} PJRT_ENDS(PJRT_Buffer_Dimensions_Args, num_dims);

typedef struct PJRT_Buffer_UnpaddedDimensions_Args {
    PJRT_HEAD;
    PJRT_Buffer *buffer;
    const int64_t *unpadded_dims; /* out */
    size_t num_dims;              /* out */
} PJRT_ENDS(PJRT_Buffer_UnpaddedDimensions_Args, num_dims);

typedef struct PJRT_Buffer_DynamicDimensionIndices_Args {
    PJRT_HEAD;
    PJRT_Buffer *buffer;
    const size_t *dynamic_dim_indices; /* out */
    size_t num_dynamic_dims;           /* out */
} PJRT_ENDS(PJRT_Buffer_DynamicDimensionIndices_Args, num_dynamic_dims);

typedef struct PJRT_Buffer_GetMemoryLayout_Args {
    PJRT_HEAD;
    PJRT_Buffer *buffer;
    PJRT_Buffer_MemoryLayout layout; /* out */
} PJRT_ENDS(PJRT_Buffer_GetMemoryLayout_Args, layout);

/* dst NULL asks for dst_size only.  Must not block: the caller may hold a lock that
 * the data needs. */
typedef struct PJRT_Buffer_ToHostBuffer_Args {
    PJRT_HEAD;
    PJRT_Buffer *src;
    PJRT_Buffer_MemoryLayout *host_layout;
    void *dst;         /* in, out */
    size_t dst_size;   /* in, out */
    PJRT_Event *event; /* out */
} PJRT_ENDS(PJRT_Buffer_ToHostBuffer_Args, event);

typedef struct PJRT_Buffer_OnDeviceSizeInBytes_Args {
    PJRT_HEAD;
    PJRT_Buffer *buffer;
    size_t on_device_size_in_bytes; /* out */
} PJRT_ENDS(PJRT_Buffer_OnDeviceSizeInBytes_Args, on_device_size_in_bytes);

/* Lets go of the data; the object stays until Destroy. */
typedef struct PJRT_Buffer_Delete_Args {
    PJRT_HEAD;
    PJRT_Buffer *buffer;
} PJRT_ENDS(PJRT_Buffer_Delete_Args, buffer);

typedef struct PJRT_Buffer_IsDeleted_Args {
    PJRT_HEAD;
    PJRT_Buffer *buffer;
    bool is_deleted; /* out */
} PJRT_ENDS(PJRT_Buffer_IsDeleted_Args, is_deleted);

typedef struct PJRT_Buffer_CopyRawToHost_Args {
    PJRT_HEAD;
    PJRT_Buffer *buffer;
    void *dst;
    int64_t offset;
    int64_t transfer_size;
    PJRT_Event *event; /* out */
} PJRT_ENDS(PJRT_Buffer_CopyRawToHost_Args, event);

typedef struct PJRT_Buffer_CopyRawToHostFuture_Args {
    PJRT_HEAD;
    PJRT_Buffer *buffer;
    int64_t offset;
    int64_t transfer_size;
    PJRT_Event *event;                                                              /* out */
    void *callback_data;                                                            /* out */
    void (*future_ready_callback)(PJRT_Buffer_CopyRawToHostFuture_Callback_Args *); /* out */
} PJRT_ENDS(PJRT_Buffer_CopyRawToHostFuture_Args, future_ready_callback);

typedef struct PJRT_Buffer_CopyToDevice_Args {
    PJRT_HEAD;
    PJRT_Buffer *buffer;
    PJRT_Device *dst_device;
    PJRT_Buffer *dst_buffer; /* out */
} PJRT_ENDS(PJRT_Buffer_CopyToDevice_Args, dst_buffer);

typedef struct PJRT_Buffer_CopyToMemory_Args {
    PJRT_HEAD;
    PJRT_Buffer *buffer;
    PJRT_Memory *dst_memory;
    PJRT_Buffer *dst_buffer; /* out */
} PJRT_ENDS(PJRT_Buffer_CopyToMemory_Args, dst_buffer);

typedef struct PJRT_Buffer_Bitcast_Args {
    PJRT_HEAD;
    PJRT_Buffer *buffer;
    PJRT_Buffer_Type element_type;
    const int64_t *dims;
    size_t num_dims;
    PJRT_Buffer_MemoryLayout *device_layout;
    PJRT_Buffer *out_buffer; /* out */
} PJRT_ENDS(PJRT_Buffer_Bitcast_Args, out_buffer);

typedef struct PJRT_Buffer_IsOnCpu_Args {
    PJRT_HEAD;
    PJRT_Buffer *buffer;
    bool is_on_cpu; /* out */
} PJRT_ENDS(PJRT_Buffer_IsOnCpu_Args, is_on_cpu);

typedef struct PJRT_Buffer_Device_Args {
    PJRT_HEAD;
    PJRT_Buffer *buffer;
    PJRT_Device *device; /* out */
} PJRT_ENDS(PJRT_Buffer_Device_Args, device);

typedef struct PJRT_Buffer_Memory_Args {
    PJRT_HEAD;
    PJRT_Buffer *buffer;
    PJRT_Memory *memory; /* out */
} PJRT_ENDS(PJRT_Buffer_Memory_Args, memory);

/* When its contents are there; a failed event if it is deleted or its computation failed. */
typedef struct PJRT_Buffer_ReadyEvent_Args {
    PJRT_HEAD;
    PJRT_Buffer *buffer;
    PJRT_Event *event; /* out */
} PJRT_ENDS(PJRT_Buffer_ReadyEvent_Args, event);

typedef struct PJRT_Buffer_UnsafePointer_Args {
    PJRT_HEAD;
    PJRT_Buffer *buffer;
    uintptr_t buffer_pointer; /* out */
} PJRT_ENDS(PJRT_Buffer_UnsafePointer_Args, buffer_pointer);

/* While held, the data stays where OpaqueDeviceMemoryDataPointer says. */
typedef struct PJRT_Buffer_IncreaseExternalReferenceCount_Args {
    PJRT_HEAD;
    PJRT_Buffer *buffer;
} PJRT_ENDS(PJRT_Buffer_IncreaseExternalReferenceCount_Args, buffer);

typedef struct PJRT_Buffer_DecreaseExternalReferenceCount_Args {
    PJRT_HEAD;
    PJRT_Buffer *buffer;
} PJRT_ENDS(PJRT_Buffer_DecreaseExternalReferenceCount_Args, buffer);

typedef struct PJRT_Buffer_OpaqueDeviceMemoryDataPointer_Args {
    PJRT_HEAD;
    PJRT_Buffer *buffer;
    void *device_memory_ptr; /* out */
} PJRT_ENDS(PJRT_Buffer_OpaqueDeviceMemoryDataPointer_Args, device_memory_ptr);

typedef struct PJRT_Buffer_DonateWithControlDependency_Args {
    PJRT_HEAD;
    PJRT_Buffer *buffer;
    void *callback_data; /* out */
    /* out */
    void (*dependency_ready_callback)(PJRT_Buffer_DonateWithControlDependency_Callback_Args *);
    PJRT_Buffer *out_buffer; /* out */
} PJRT_ENDS(PJRT_Buffer_DonateWithControlDependency_Args, out_buffer);

/* Compiling ------------------------------------------------------------------------------------
 *
 * A program is bytes and the name of their format; options are a CompileOptionsProto. */
/* format: "mlir" (StableHLO text or bytecode), "hlo", "hlo_with_config". */
typedef struct PJRT_Program {
    PJRT_HEAD;
    char *code; /* in, out */
    size_t code_size;
    const char *format;
    size_t format_size;
} PJRT_ENDS(PJRT_Program, format_size);

typedef struct PJRT_Client_Compile_Args {
    PJRT_HEAD;
    PJRT_Client *client;
    const PJRT_Program *program;
    const char *compile_options;
    size_t compile_options_size;
    PJRT_LoadedExecutable *executable; /* out */
} PJRT_ENDS(PJRT_Client_Compile_Args, executable);

/* For a topology rather than a client. */
typedef struct PJRT_Compile_Args {
    PJRT_HEAD;
    const PJRT_TopologyDescription *topology;
    const PJRT_Program *program;
    const char *compile_options;
    size_t compile_options_size;
    PJRT_Client *client;
    PJRT_Executable *executable; /* out */
} PJRT_ENDS(PJRT_Compile_Args, executable);

typedef struct PJRT_Client_Load_Args {
    PJRT_HEAD;
    PJRT_Client *client;
    PJRT_Executable *executable;
    const char *compile_options;
    size_t compile_options_size;
    PJRT_LoadedExecutable *loaded_executable; /* out */
} PJRT_ENDS(PJRT_Client_Load_Args, loaded_executable);

/* Executables ----------------------------------------------------------------------------------
 *
 * What was compiled (Executable), and that placed on devices (LoadedExecutable). */
typedef struct PJRT_Executable_Destroy_Args {
    PJRT_HEAD;
    PJRT_Executable *executable;
} PJRT_ENDS(PJRT_Executable_Destroy_Args, executable);

typedef struct PJRT_Executable_Name_Args {
    PJRT_HEAD;
    PJRT_Executable *executable;
    const char *executable_name; /* out */
    size_t executable_name_size; /* out */
} PJRT_ENDS(PJRT_Executable_Name_Args, executable_name_size);

typedef struct PJRT_Executable_NumReplicas_Args {
    PJRT_HEAD;
    PJRT_Executable *executable;
    size_t num_replicas; /* out */
} PJRT_ENDS(PJRT_Executable_NumReplicas_Args, num_replicas);

typedef struct PJRT_Executable_NumPartitions_Args {
    PJRT_HEAD;
    PJRT_Executable *executable;
    size_t num_partitions; /* out */
} PJRT_ENDS(PJRT_Executable_NumPartitions_Args, num_partitions);

/* Called twice: with code NULL for the size, then for the bytes.  format is garbage going in. */
typedef struct PJRT_Executable_OptimizedProgram_Args {
    PJRT_HEAD;
    PJRT_Executable *executable;
    PJRT_Program *program; /* out */
} PJRT_ENDS(PJRT_Executable_OptimizedProgram_Args, program);

typedef struct PJRT_Executable_NumOutputs_Args {
    PJRT_HEAD;
    PJRT_Executable *executable;
    size_t num_outputs; /* out */
} PJRT_ENDS(PJRT_Executable_NumOutputs_Args, num_outputs);

typedef struct PJRT_Executable_SizeOfGeneratedCodeInBytes_Args {
    PJRT_HEAD;
    PJRT_Executable *executable;
    int64_t size_in_bytes; /* out */
} PJRT_ENDS(PJRT_Executable_SizeOfGeneratedCodeInBytes_Args, size_in_bytes);

typedef struct PJRT_Executable_Fingerprint_Args {
    PJRT_HEAD;
    PJRT_Executable *executable;
    const char *executable_fingerprint; /* out */
    size_t executable_fingerprint_size; /* out */
} PJRT_ENDS(PJRT_Executable_Fingerprint_Args, executable_fingerprint_size);

typedef struct PJRT_Executable_GetCostAnalysis_Args {
    PJRT_HEAD;
    PJRT_Executable *executable;
    size_t num_properties;             /* out */
    const PJRT_NamedValue *properties; /* out */
} PJRT_ENDS(PJRT_Executable_GetCostAnalysis_Args, properties);

typedef struct PJRT_Executable_GetCompiledMemoryStats_Args {
    PJRT_HEAD;
    PJRT_Executable *executable;
    int64_t generated_code_size_in_bytes;      /* out */
    int64_t argument_size_in_bytes;            /* out */
    int64_t output_size_in_bytes;              /* out */
    int64_t alias_size_in_bytes;               /* out */
    int64_t temp_size_in_bytes;                /* out */
    int64_t host_generated_code_size_in_bytes; /* out, since 0.43 */
    int64_t host_argument_size_in_bytes;       /* out, since 0.43 */
    int64_t host_output_size_in_bytes;         /* out, since 0.43 */
    int64_t host_alias_size_in_bytes;          /* out, since 0.43 */
    int64_t host_temp_size_in_bytes;           /* out, since 0.43 */
    int64_t peak_memory_in_bytes;              /* out, since 0.72 */
    int64_t total_size_in_bytes;               /* out, since 0.90 */
    int64_t total_allocation_bytes;            /* out, since 0.104 */
    int64_t indefinite_allocations;            /* out, since 0.104 */
    int64_t peak_unpadded_heap_bytes;          /* out, since 0.104 */
} PJRT_ENDS(PJRT_Executable_GetCompiledMemoryStats_Args, peak_unpadded_heap_bytes);

typedef struct PJRT_Executable_OutputElementTypes_Args {
    PJRT_HEAD;
    PJRT_Executable *executable;
    PJRT_Buffer_Type *output_types; /* out */
    size_t num_output_types;        /* out */
} PJRT_ENDS(PJRT_Executable_OutputElementTypes_Args, num_output_types);

/* All dimensions one after the other; dim_sizes says how many belong to each result. */
typedef struct PJRT_Executable_OutputDimensions_Args {
    PJRT_HEAD;
    PJRT_Executable *executable;
    size_t num_outputs;
    const int64_t *dims;     /* out */
    const size_t *dim_sizes; /* out */
} PJRT_ENDS(PJRT_Executable_OutputDimensions_Args, dim_sizes);

typedef struct PJRT_Executable_ParameterMemoryKinds_Args {
    PJRT_HEAD;
    PJRT_Executable *executable;
    size_t num_parameters;
    const char *const *memory_kinds; /* out */
    const size_t *memory_kind_sizes; /* out */
} PJRT_ENDS(PJRT_Executable_ParameterMemoryKinds_Args, memory_kind_sizes);

typedef struct PJRT_Executable_OutputMemoryKinds_Args {
    PJRT_HEAD;
    PJRT_Executable *executable;
    size_t num_outputs;
    const char *const *memory_kinds; /* out */
    const size_t *memory_kind_sizes; /* out */
} PJRT_ENDS(PJRT_Executable_OutputMemoryKinds_Args, memory_kind_sizes);

typedef struct PJRT_Executable_Serialize_Args {
    PJRT_HEAD;
    const PJRT_Executable *executable;
    const char *serialized_bytes; /* out */
    size_t serialized_bytes_size; /* out */
    PJRT_SerializedExecutable *serialized_executable;
    void (*serialized_executable_deleter)(PJRT_SerializedExecutable *); /* out */
} PJRT_ENDS(PJRT_Executable_Serialize_Args, serialized_executable_deleter);

typedef struct PJRT_Executable_GetCompileOptions_Args {
    PJRT_HEAD;
    PJRT_Executable *executable;
    const char *serialized_bytes; /* out */
    size_t serialized_bytes_size; /* out */
    PJRT_SerializedCompileOptions *serialized_compile_options;
    void (*serialized_compile_options_deleter)(PJRT_SerializedCompileOptions *); /* out */
} PJRT_ENDS(PJRT_Executable_GetCompileOptions_Args, serialized_compile_options_deleter);

typedef struct PJRT_LoadOptions {
    size_t struct_size;
    const int32_t *computation_origin;
    size_t computation_origin_size;
    PJRT_MultiSlice_Config *multi_slice_config;
} PJRT_ENDS(PJRT_LoadOptions, multi_slice_config);

typedef struct PJRT_Executable_DeserializeAndLoad_Args {
    PJRT_HEAD;
    PJRT_Client *client;
    const char *serialized_executable;
    size_t serialized_executable_size;
    PJRT_LoadedExecutable *loaded_executable;          /* out */
    const char *overridden_serialized_compile_options; /* since 0.71 */
    size_t overridden_serialized_compile_options_size; /* since 0.71 */
    PJRT_LoadOptions *load_options;                    /* since 0.111 */
} PJRT_ENDS(PJRT_Executable_DeserializeAndLoad_Args, load_options);

/* Which part of the program a device runs. */
typedef struct PJRT_LogicalDeviceIds {
    int replica;   /* since 0.96 */
    int partition; /* since 0.96 */
} PJRT_LogicalDeviceIds;

typedef struct PJRT_LoadedExecutable_Destroy_Args {
    PJRT_HEAD;
    PJRT_LoadedExecutable *executable;
} PJRT_ENDS(PJRT_LoadedExecutable_Destroy_Args, executable);

/* A new handle, which the caller destroys. */
typedef struct PJRT_LoadedExecutable_GetExecutable_Args {
    PJRT_HEAD;
    PJRT_LoadedExecutable *loaded_executable;
    PJRT_Executable *executable; /* out */
} PJRT_ENDS(PJRT_LoadedExecutable_GetExecutable_Args, executable);

/* A DeviceAssignmentProto; the deleter is called even when it is empty. */
typedef struct PJRT_LoadedExecutable_GetDeviceAssignment_Args {
    PJRT_HEAD;
    PJRT_LoadedExecutable *executable;
    const char *serialized_bytes; /* out */
    size_t serialized_bytes_size; /* out */
    PJRT_DeviceAssignmentSerialized *serialized_device_assignment;
    void (*serialized_device_assignment_deleter)(PJRT_DeviceAssignmentSerialized *); /* out */
} PJRT_ENDS(PJRT_LoadedExecutable_GetDeviceAssignment_Args, serialized_device_assignment_deleter);

/* In the order of the argument lists of Execute. */
typedef struct PJRT_LoadedExecutable_AddressableDevices_Args {
    PJRT_HEAD;
    PJRT_LoadedExecutable *executable;
    PJRT_Device *const *addressable_devices; /* out */
    size_t num_addressable_devices;          /* out */
} PJRT_ENDS(PJRT_LoadedExecutable_AddressableDevices_Args, num_addressable_devices);

typedef struct PJRT_LoadedExecutable_AddressableDeviceLogicalIds_Args {
    PJRT_HEAD;
    PJRT_LoadedExecutable *executable;
    PJRT_LogicalDeviceIds *addressable_device_logical_ids; /* out */
    size_t num_addressable_device_logical_ids;             /* out */
} PJRT_ENDS(PJRT_LoadedExecutable_AddressableDeviceLogicalIds_Args,
            num_addressable_device_logical_ids);

typedef struct PJRT_LoadedExecutable_Delete_Args {
    PJRT_HEAD;
    PJRT_LoadedExecutable *executable;
} PJRT_ENDS(PJRT_LoadedExecutable_Delete_Args, executable);

typedef struct PJRT_LoadedExecutable_IsDeleted_Args {
    PJRT_HEAD;
    PJRT_LoadedExecutable *executable;
    bool is_deleted; /* out */
} PJRT_ENDS(PJRT_LoadedExecutable_IsDeleted_Args, is_deleted);

typedef struct PJRT_LoadedExecutable_Fingerprint_Args {
    PJRT_HEAD;
    PJRT_LoadedExecutable *executable;
    const char *executable_fingerprint; /* out */
    size_t executable_fingerprint_size; /* out */
} PJRT_ENDS(PJRT_LoadedExecutable_Fingerprint_Args, executable_fingerprint_size);

/* Executing ------------------------------------------------------------------------------------ */
/* Host callbacks.  We neither call nor hand over any of these; only their size matters here. */
typedef void (*PJRT_SendCallback)(void);
typedef void (*PJRT_RecvCallback)(void);
typedef void (*PJRT_HloOutputCallback)(void);

typedef struct PJRT_Chunk {
    void *data;
    size_t size;
    void (*deleter)(void *, void *);
    void *deleter_arg;
} PJRT_Chunk;

typedef struct PJRT_SendCallbackInfo {
    int64_t channel_id;
    void *user_arg;
    PJRT_SendCallback send_callback;
} PJRT_ENDS(PJRT_SendCallbackInfo, send_callback);

typedef struct PJRT_RecvCallbackInfo {
    int64_t channel_id;
    void *user_arg;
    PJRT_RecvCallback recv_callback;
} PJRT_ENDS(PJRT_RecvCallbackInfo, recv_callback);

typedef struct PJRT_HloOutputCallbackInfo {
    void *user_arg;
    PJRT_HloOutputCallback callback;
    int64_t callback_id;
    size_t num_operands;
} PJRT_ENDS(PJRT_HloOutputCallbackInfo, num_operands);

typedef struct PJRT_ExecuteContext_Create_Args {
    PJRT_HEAD;
    PJRT_ExecuteContext *context; /* out */
} PJRT_ENDS(PJRT_ExecuteContext_Create_Args, context);

typedef struct PJRT_ExecuteContext_Destroy_Args {
    PJRT_HEAD;
    PJRT_ExecuteContext *context;
} PJRT_ENDS(PJRT_ExecuteContext_Destroy_Args, context);

/* Fields past 0.39 may lie beyond struct_size. */
typedef struct PJRT_ExecuteOptions {
    PJRT_HEAD;
    PJRT_SendCallbackInfo **send_callbacks;
    PJRT_RecvCallbackInfo **recv_callbacks;
    size_t num_send_ops;
    size_t num_recv_ops;
    int launch_id;
    const int64_t *non_donatable_input_indices;        /* since 0.39 */
    size_t num_non_donatable_input_indices;            /* since 0.39 */
    PJRT_ExecuteContext *context;                      /* since 0.64 */
    const char *call_location;                         /* since 0.76 */
    size_t num_tasks;                                  /* since 0.78 */
    int *task_ids;                                     /* since 0.78 */
    int64_t *incarnation_ids;                          /* since 0.78 */
    PJRT_MultiSlice_Config *multi_slice_config;        /* since 0.97 */
    bool use_major_to_minor_data_layout_for_callbacks; /* since 0.108 */
    PJRT_HloOutputCallbackInfo *hlo_output_callbacks;  /* since 0.112 */
    size_t num_hlo_output_callbacks;                   /* since 0.112 */
} PJRT_ENDS(PJRT_ExecuteOptions, num_hlo_output_callbacks);

/* argument_lists[device][argument]; output_lists[device][result] and
 * device_complete_events[device] are filled in; the latter may be NULL.
 * execute_device: run a program of one device there. */
typedef struct PJRT_LoadedExecutable_Execute_Args {
    PJRT_HEAD;
    PJRT_LoadedExecutable *executable;
    PJRT_ExecuteOptions *options;
    PJRT_Buffer *const *const *argument_lists;
    size_t num_devices;
    size_t num_args;
    PJRT_Buffer **const *output_lists;   /* in, out */
    PJRT_Event **device_complete_events; /* in, out */
    PJRT_Device *execute_device;
} PJRT_ENDS(PJRT_LoadedExecutable_Execute_Args, execute_device);

/* Streams of chunks to a device, for host callbacks -------------------------------------------- */
typedef struct PJRT_CopyToDeviceStream_Destroy_Args {
    PJRT_HEAD;
    PJRT_CopyToDeviceStream *stream;
} PJRT_ENDS(PJRT_CopyToDeviceStream_Destroy_Args, stream);

typedef struct PJRT_CopyToDeviceStream_AddChunk_Args {
    PJRT_HEAD;
    PJRT_CopyToDeviceStream *stream;
    PJRT_Chunk *chunk;
    PJRT_Event *transfer_complete; /* out */
} PJRT_ENDS(PJRT_CopyToDeviceStream_AddChunk_Args, transfer_complete);

typedef struct PJRT_CopyToDeviceStream_TotalBytes_Args {
    PJRT_HEAD;
    PJRT_CopyToDeviceStream *stream;
    int64_t total_bytes; /* out */
} PJRT_ENDS(PJRT_CopyToDeviceStream_TotalBytes_Args, total_bytes);

typedef struct PJRT_CopyToDeviceStream_GranuleSize_Args {
    PJRT_HEAD;
    PJRT_CopyToDeviceStream *stream;
    int64_t granule_size_in_bytes; /* out */
} PJRT_ENDS(PJRT_CopyToDeviceStream_GranuleSize_Args, granule_size_in_bytes);

typedef struct PJRT_CopyToDeviceStream_CurrentBytes_Args {
    PJRT_HEAD;
    PJRT_CopyToDeviceStream *stream;
    int64_t current_bytes; /* out */
} PJRT_ENDS(PJRT_CopyToDeviceStream_CurrentBytes_Args, current_bytes);

/* The table ----------------------------------------------------------------------------------- */
typedef struct PJRT_Api_Version {
    PJRT_HEAD;
    int major_version; /* out */
    int minor_version; /* out */
} PJRT_ENDS(PJRT_Api_Version, minor_version);

#define FUNCTION(name) typedef PJRT_Error *PJRT_##name(PJRT_##name##_Args *args);
#define PROCEDURE(name) typedef void PJRT_##name(PJRT_##name##_Args *args);
#include "pjrt/functions.def"

typedef struct PJRT_Api {
    PJRT_HEAD;
    PJRT_Api_Version pjrt_api_version;
#define FUNCTION(name) PJRT_##name *PJRT_##name;
#define PROCEDURE(name) PJRT_##name *PJRT_##name;
#include "pjrt/functions.def"
} PJRT_ENDS(PJRT_Api, PJRT_TopologyDescription_GetMemorySpaceKindIds);

typedef const PJRT_Api *PJRT_GetPjrtApi(void); /* what the symbol GetPjrtApi is */

/* Shardings: an extension, type 19 --------------------------------------------------------------
 *
 * One serialized OpSharding per parameter or result, alive as long as the executable; empty bytes
 * mean that every device holds everything. */
typedef struct PJRT_Shardings_PJRT_Executable_ParameterShardings_Args {
    PJRT_HEAD;
    PJRT_Executable *executable;
    size_t num_parameters;        /* out */
    const char *const *shardings; /* out */
    const size_t *sharding_sizes; /* out */
} PJRT_ENDS(PJRT_Shardings_PJRT_Executable_ParameterShardings_Args, sharding_sizes);

typedef struct PJRT_Shardings_PJRT_Executable_OutputShardings_Args {
    PJRT_HEAD;
    PJRT_Executable *executable;
    size_t num_outputs;           /* out */
    const char *const *shardings; /* out */
    const size_t *sharding_sizes; /* out */
} PJRT_ENDS(PJRT_Shardings_PJRT_Executable_OutputShardings_Args, sharding_sizes);

typedef PJRT_Error *PJRT_Shardings_PJRT_Executable_ParameterShardings(
    PJRT_Shardings_PJRT_Executable_ParameterShardings_Args *args);
typedef PJRT_Error *PJRT_Shardings_PJRT_Executable_OutputShardings(
    PJRT_Shardings_PJRT_Executable_OutputShardings_Args *args);

typedef struct PJRT_Shardings_Extension {
    PJRT_Extension_Base base;
    PJRT_Shardings_PJRT_Executable_ParameterShardings
        *PJRT_Shardings_PJRT_Executable_ParameterShardings;
    PJRT_Shardings_PJRT_Executable_OutputShardings *PJRT_Shardings_PJRT_Executable_OutputShardings;
} PJRT_ENDS(PJRT_Shardings_Extension, PJRT_Shardings_PJRT_Executable_OutputShardings);

/* Layouts: an extension, type 4 -----------------------------------------------------------------
 *
 * A layout travels as text: {1,0} lists the dimensions of a matrix from the one whose elements lie
 * side by side to the one that strides furthest. */
typedef struct PJRT_Layouts_MemoryLayout PJRT_Layouts_MemoryLayout;
typedef struct PJRT_Layouts_SerializedLayout PJRT_Layouts_SerializedLayout;

typedef struct PJRT_Layouts_MemoryLayout_Destroy_Args {
    PJRT_HEAD;
    PJRT_Layouts_MemoryLayout *layout;
} PJRT_ENDS(PJRT_Layouts_MemoryLayout_Destroy_Args, layout);

typedef struct PJRT_Layouts_MemoryLayout_Serialize_Args {
    PJRT_HEAD;
    PJRT_Layouts_MemoryLayout *layout;
    const char *serialized_bytes;                                       /* out */
    size_t serialized_bytes_size;                                       /* out */
    PJRT_Layouts_SerializedLayout *serialized_layout;                   /* out: owns the bytes */
    void (*serialized_layout_deleter)(PJRT_Layouts_SerializedLayout *); /* out */
} PJRT_ENDS(PJRT_Layouts_MemoryLayout_Serialize_Args, serialized_layout_deleter);

typedef struct PJRT_Layouts_PJRT_Client_GetDefaultLayout_Args {
    PJRT_HEAD;
    PJRT_Client *client;
    PJRT_Buffer_Type type;
    const int64_t *dims;
    size_t num_dims;
    PJRT_Layouts_MemoryLayout *layout; /* out: the caller destroys it */
} PJRT_ENDS(PJRT_Layouts_PJRT_Client_GetDefaultLayout_Args, layout);

typedef struct PJRT_Layouts_PJRT_Buffer_MemoryLayout_Args {
    PJRT_HEAD;
    PJRT_Buffer *buffer;
    PJRT_Layouts_MemoryLayout *layout; /* out: the caller destroys it */
} PJRT_ENDS(PJRT_Layouts_PJRT_Buffer_MemoryLayout_Args, layout);

typedef struct PJRT_Layouts_PJRT_Topology_GetDefaultLayout_Args {
    PJRT_HEAD;
    PJRT_TopologyDescription *topology_description;
    PJRT_Buffer_Type type;
    const int64_t *dims;
    size_t num_dims;
    PJRT_Layouts_MemoryLayout *layout; /* out: the caller destroys it */
} PJRT_ENDS(PJRT_Layouts_PJRT_Topology_GetDefaultLayout_Args, layout);

/* The lists live as long as the executable. */
typedef struct PJRT_Layouts_PJRT_Executable_GetOutputLayouts_Args {
    PJRT_HEAD;
    PJRT_Executable *executable;
    size_t num_outputs;                  /* out */
    PJRT_Layouts_MemoryLayout **layouts; /* out */
} PJRT_ENDS(PJRT_Layouts_PJRT_Executable_GetOutputLayouts_Args, layouts);

typedef struct PJRT_Layouts_PJRT_Executable_GetParameterLayouts_Args {
    PJRT_HEAD;
    PJRT_Executable *executable;
    size_t num_parameters;               /* out */
    PJRT_Layouts_MemoryLayout **layouts; /* out */
} PJRT_ENDS(PJRT_Layouts_PJRT_Executable_GetParameterLayouts_Args, layouts);

#define PJRT_LAYOUTS(PROCEDURE)                                                                    \
    PROCEDURE(MemoryLayout_Destroy)                                                                \
    PROCEDURE(MemoryLayout_Serialize)                                                              \
    PROCEDURE(PJRT_Client_GetDefaultLayout)                                                        \
    PROCEDURE(PJRT_Buffer_MemoryLayout)                                                            \
    PROCEDURE(PJRT_Topology_GetDefaultLayout)                                                      \
    PROCEDURE(PJRT_Executable_GetOutputLayouts)                                                    \
    PROCEDURE(PJRT_Executable_GetParameterLayouts)

#define PROCEDURE_TYPE(name)                                                                       \
    typedef PJRT_Error *PJRT_Layouts_##name(PJRT_Layouts_##name##_Args *args);
PJRT_LAYOUTS(PROCEDURE_TYPE)
#undef PROCEDURE_TYPE

typedef struct PJRT_Layouts_Extension {
    PJRT_Extension_Base base;
#define PROCEDURE_SLOT(name) PJRT_Layouts_##name *PJRT_Layouts_##name;
    PJRT_LAYOUTS(PROCEDURE_SLOT)
#undef PROCEDURE_SLOT
} PJRT_ENDS(PJRT_Layouts_Extension, PJRT_Layouts_PJRT_Executable_GetParameterLayouts);

/* Profiler: an extension, type 1 -----------------------------------------------------------------
 *
 * create, start, stop, collect_data, destroy: once each, by the thread that starts and stops the
 * profile.  Real clients never set struct_size of the arguments.  collect_data is called once with no
 * buffer: the plugin names memory of its own, an XSpace, which lives until destroy.
 *
 * Every Compile and Execute of a client that profiles carries such an extension in its arguments,
 * whose traceme_context_id is the number of that call. */
typedef struct PLUGIN_Profiler PLUGIN_Profiler;
typedef PJRT_Error PLUGIN_Profiler_Error; /* ours are the same */

typedef struct PLUGIN_Profiler_Error_Destroy_Args {
    size_t struct_size;
    void *priv;
    PLUGIN_Profiler_Error *error;
} PJRT_ENDS(PLUGIN_Profiler_Error_Destroy_Args, error);

typedef struct PLUGIN_Profiler_Error_Message_Args {
    size_t struct_size;
    void *priv;
    const PLUGIN_Profiler_Error *error;
    const char *message; /* out */
    size_t message_size; /* out */
} PJRT_ENDS(PLUGIN_Profiler_Error_Message_Args, message_size);

typedef struct PLUGIN_Profiler_Error_GetCode_Args {
    size_t struct_size;
    void *priv;
    const PLUGIN_Profiler_Error *error;
    int code; /* out: a PJRT_Error_Code */
} PJRT_ENDS(PLUGIN_Profiler_Error_GetCode_Args, code);

typedef struct PLUGIN_Profiler_Create_Args {
    size_t struct_size;
    const char *options; /* a serialized ProfileOptions */
    size_t options_size;
    PLUGIN_Profiler *profiler; /* out */
} PJRT_ENDS(PLUGIN_Profiler_Create_Args, profiler);

typedef struct PLUGIN_Profiler_Destroy_Args {
    size_t struct_size;
    PLUGIN_Profiler *profiler;
} PJRT_ENDS(PLUGIN_Profiler_Destroy_Args, profiler);

typedef struct PLUGIN_Profiler_Start_Args {
    size_t struct_size;
    PLUGIN_Profiler *profiler;
} PJRT_ENDS(PLUGIN_Profiler_Start_Args, profiler);

typedef struct PLUGIN_Profiler_Stop_Args {
    size_t struct_size;
    PLUGIN_Profiler *profiler;
} PJRT_ENDS(PLUGIN_Profiler_Stop_Args, profiler);

typedef struct PLUGIN_Profiler_CollectData_Args {
    size_t struct_size;
    PLUGIN_Profiler *profiler;
    uint8_t *buffer;             /* out */
    size_t buffer_size_in_bytes; /* out */
} PJRT_ENDS(PLUGIN_Profiler_CollectData_Args, buffer_size_in_bytes);

typedef void PLUGIN_Profiler_Error_Destroy(PLUGIN_Profiler_Error_Destroy_Args *args);
typedef void PLUGIN_Profiler_Error_Message(PLUGIN_Profiler_Error_Message_Args *args);
typedef PLUGIN_Profiler_Error *
PLUGIN_Profiler_Error_GetCode(PLUGIN_Profiler_Error_GetCode_Args *args);
typedef PLUGIN_Profiler_Error *PLUGIN_Profiler_Create(PLUGIN_Profiler_Create_Args *args);
typedef PLUGIN_Profiler_Error *PLUGIN_Profiler_Destroy(PLUGIN_Profiler_Destroy_Args *args);
typedef PLUGIN_Profiler_Error *PLUGIN_Profiler_Start(PLUGIN_Profiler_Start_Args *args);
typedef PLUGIN_Profiler_Error *PLUGIN_Profiler_Stop(PLUGIN_Profiler_Stop_Args *args);
typedef PLUGIN_Profiler_Error *PLUGIN_Profiler_CollectData(PLUGIN_Profiler_CollectData_Args *args);

/* Newer clients know three slots more, and do without them. */
typedef struct PLUGIN_Profiler_Api {
    size_t struct_size;
    void *priv;
    PLUGIN_Profiler_Error_Destroy *error_destroy;
    PLUGIN_Profiler_Error_Message *error_message;
    PLUGIN_Profiler_Error_GetCode *error_get_code;
    PLUGIN_Profiler_Create *create;
    PLUGIN_Profiler_Destroy *destroy;
    PLUGIN_Profiler_Start *start;
    PLUGIN_Profiler_Stop *stop;
    PLUGIN_Profiler_CollectData *collect_data;
} PJRT_ENDS(PLUGIN_Profiler_Api, collect_data);

typedef struct PJRT_Profiler_Extension {
    PJRT_Extension_Base base;
    const PLUGIN_Profiler_Api *profiler_api;
    int64_t traceme_context_id;
} PJRT_ENDS(PJRT_Profiler_Extension, traceme_context_id);

/* ---- transfers between processes (extension of type CrossHostTransfers) ----
 *
 * One array for each element of the lists.  Sender and receiver name a transfer by the same key.  Device
 * ids are those of all processes. */
typedef struct PJRT_Transfers_PJRT_Client_CrossHostSendBuffers_Args {
    PJRT_HEAD;
    PJRT_Client *client;
    size_t num_buffers;
    PJRT_Buffer **buffers;
    const int32_t *dst_global_device_ids;
    const int64_t *transfer_keys;
    PJRT_Event **send_events; /* out, in the caller's list */
} PJRT_ENDS(PJRT_Transfers_PJRT_Client_CrossHostSendBuffers_Args, send_events);

typedef struct PJRT_Transfers_PJRT_Client_CrossHostReceiveBuffers_Args {
    PJRT_HEAD;
    PJRT_Client *client;
    size_t num_shapes;
    size_t *shape_num_dims;
    const int64_t **num_dims; /* the extents, whatever the name says */
    PJRT_Buffer_Type *element_types;
    PJRT_Buffer_MemoryLayout **layouts; /* each may be NULL */
    PJRT_Device *device;                /* that receives */
    const int32_t *src_global_device_ids;
    const int64_t *transfer_keys;
    PJRT_Buffer **buffers; /* out, in the caller's list */
} PJRT_ENDS(PJRT_Transfers_PJRT_Client_CrossHostReceiveBuffers_Args, buffers);

/* The older way: the receiver makes descriptors, which its caller brings to the sender's.  Its callbacks
 * are not declared, since we do not call them. */
typedef struct PJRT_Transfers_CrossHostRecvNotifierInfo {
    void *user_arg;
    void (*notifier)(void);
} PJRT_ENDS(PJRT_Transfers_CrossHostRecvNotifierInfo, notifier);

typedef struct PJRT_Transfers_PJRT_Client_MakeCrossHostReceiveBuffers_Args {
    PJRT_HEAD;
    PJRT_Client *client;
    size_t num_shapes;
    size_t *shape_num_dims;
    const int64_t **num_dims;
    PJRT_Buffer_Type *element_types;
    PJRT_Buffer_MemoryLayout **layouts;
    PJRT_Device *device;
    PJRT_Transfers_CrossHostRecvNotifierInfo notifier;
    PJRT_Buffer **buffers; /* out */
    size_t num_buffers;    /* out */
} PJRT_ENDS(PJRT_Transfers_PJRT_Client_MakeCrossHostReceiveBuffers_Args, num_buffers);

typedef struct PJRT_Transfers_CrossHostRemoteSendCallbackInfo {
    void *user_arg;
    void (*on_done)(PJRT_Error *error, bool sends_were_enqueued, void *user_arg);
} PJRT_ENDS(PJRT_Transfers_CrossHostRemoteSendCallbackInfo, on_done);

typedef struct PJRT_Transfers_PJRT_Buffer_CopyToRemoteDevice_Args {
    PJRT_HEAD;
    PJRT_Buffer *buffer;
    PJRT_Event *event; /* after which the descriptor is there */
    char **serialized_descriptor;
    size_t *serialized_descriptor_size;
    PJRT_Transfers_CrossHostRemoteSendCallbackInfo on_done;
    void (*descriptor_destructor)(char **descriptor, size_t *size);
} PJRT_ENDS(PJRT_Transfers_PJRT_Buffer_CopyToRemoteDevice_Args, descriptor_destructor);

typedef PJRT_Error *PJRT_Transfers_PJRT_Client_CrossHostSendBuffers(
    PJRT_Transfers_PJRT_Client_CrossHostSendBuffers_Args *args);
typedef PJRT_Error *PJRT_Transfers_PJRT_Client_CrossHostReceiveBuffers(
    PJRT_Transfers_PJRT_Client_CrossHostReceiveBuffers_Args *args);
typedef PJRT_Error *PJRT_Transfers_PJRT_Client_MakeCrossHostReceiveBuffers(
    PJRT_Transfers_PJRT_Client_MakeCrossHostReceiveBuffers_Args *args);
typedef void PJRT_Transfers_PJRT_Buffer_CopyToRemoteDevice(
    PJRT_Transfers_PJRT_Buffer_CopyToRemoteDevice_Args *args);

typedef struct PJRT_CrossHostTransfers_Extension {
    PJRT_Extension_Base base;
    PJRT_Transfers_PJRT_Client_MakeCrossHostReceiveBuffers
        *PJRT_Transfers_PJRT_Client_MakeCrossHostReceiveBuffers;
    PJRT_Transfers_PJRT_Buffer_CopyToRemoteDevice *PJRT_Transfers_PJRT_Buffer_CopyToRemoteDevice;
    PJRT_Transfers_PJRT_Client_CrossHostReceiveBuffers
        *PJRT_Transfers_PJRT_Client_CrossHostReceiveBuffers;
    PJRT_Transfers_PJRT_Client_CrossHostSendBuffers
        *PJRT_Transfers_PJRT_Client_CrossHostSendBuffers;
} PJRT_ENDS(PJRT_CrossHostTransfers_Extension, PJRT_Transfers_PJRT_Client_CrossHostSendBuffers);
#endif
