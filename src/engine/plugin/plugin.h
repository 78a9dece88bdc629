/* plugin.h - the objects that the engine hands across the seam, and what their files share.
 *
 *   PJRT_Client --> PJRT_Device[n] --> Device (exec/launch.h)
 *     |               +-- PJRT_DeviceDescription, PJRT_Memory: one each, part of it
 *     +-- PJRT_TopologyDescription: the same descriptions
 *     +-- cache of Compiled (counted) <-- PJRT_Executable, PJRT_LoadedExecutable, running launches
 *
 * PJRT_Error, PJRT_Event and PJRT_Buffer are the engine's Error, Event and Buffer.
 *
 * Any thread may call any function of the table.  A client's lock guards its list of compiled
 * programs and what is made of one when it is asked for; everything else here is constant once
 * published, but for the counts. */
#ifndef TUTTI_ENGINE_PLUGIN_PLUGIN_H
#define TUTTI_ENGINE_PLUGIN_PLUGIN_H
#include "base/version.h"
#include "engine/compile.h"
#include "engine/exec/launch.h"
#include "engine/hosts/hosts.h"
#include "engine/memory/handle.h"
#include "pjrt/extension.h"
#include "pjrt/pjrt.h"

#include <pthread.h>

#define PLATFORM "tutti"
#define PLATFORM_CPU "cpu" /* what it is called in place of JAX's own CPU backend */
#define PLATFORM_VERSION "tutti " TUTTI_VERSION

typedef struct Compiled Compiled;

/* A function of this process alone (TUTTI_LOCAL_CALL) that a program calls. */
typedef struct LocalCall {
    const struct LocalCall *next;
    Str name;
} LocalCall;

/* A program that several Compiled share: they are equal but for the locations that messages
 * name. */
typedef struct Shared {
    _Atomic int holders; /* Compiled ones */
    int handles;         /* on those; under the client's lock */
    Program *program;
    Text key;      /* what it was compiled from, and how (cache.c) */
    uint64_t hash; /* of the key */
    int nlocs;     /* locations of its operations, in the order of the text; each has its own */
    const Loc *locs;
    const LocalCall *local_calls; /* held in the registry as long as the program */
    Arena *arena;                 /* of the locations and these names */
} Shared;

struct PJRT_DeviceDescription {
    int id;
    int process;    /* of whose client it is */
    char name[32];  /* CpuDevice(id=0): what jax.devices() lists */
    char title[32]; /* tutti:0, cpu:0 */
};

struct PJRT_Memory {
    const PJRT_Memory_FunctionTable *vtable; /* newer clients read the first word: NULL, no table */
    PJRT_Device *device;
    MemoryKind kind;
    char name[48];
};

struct PJRT_Device {
    PJRT_Client *client;
    Device *engine; /* NULL: it is in another process */
    PJRT_DeviceDescription description;
    PJRT_Memory memory[MEMORY_KINDS];
    PJRT_Memory *memories[MEMORY_KINDS];
};

struct PJRT_TopologyDescription {
    const char *platform;
    size_t ndevices;
    PJRT_DeviceDescription **descriptions;
};

/* Set once by Client_Create, but for the cache. */
struct PJRT_Client {
    PJRT_Client *next; /* of those that are there; under their lock (client.c) */
    Executor *executor;
    const Hosts *hosts; /* the processes that share its devices; NULL: this one alone */
    int ndevices;       /* of all processes, */
    int first, nhere;   /* and those of this one */
    PJRT_Device *devices;
    PJRT_Device **device_list;
    PJRT_Memory **memory_list;
    PJRT_TopologyDescription topology;
    pthread_mutex_t lock;    /* of the next line, and what compiled programs say */
    Compiled *programs[256]; /* alive ones by the hash of their keys, newest first */
};

/* A program and everything the seam may ask of it, laid out as PJRT wants it. */
struct Compiled {
    _Atomic int holders; /* handles, and launches that run; */
    PJRT_Client *client;
    Compiled *next; /* under the client's lock */
    Shared *shared;
    uint64_t places_hash;   /* of the locations that it names, */
    const LocTable *places; /* if they are not those of the shared program; else NULL, */
    Arena *places_arena;    /* and where they are */
    Str source;             /* the bytes themselves, */
    CompileOptions options; /* and what shaped the code */
    bool is_local;          /* it calls functions of this process alone */
    bool has_effect;        /* it does more than give results */
    Program *program;
    char fingerprint[17];
    Arena *arena; /* owns the tables below */
    PJRT_Buffer_Type *output_types;
    int64_t *output_dims;
    size_t *output_ranks;
    const char **arg_shardings, **output_shardings; /* serialized OpSharding */
    size_t *arg_sharding_sizes, *output_sharding_sizes;
    PJRT_Layouts_MemoryLayout **arg_layouts, **output_layouts;
    TuttiProgram description;
    const PJRT_NamedValue *cost; /* NULL: not asked for yet; under the client's lock */
    Text optimized;              /* as text, empty: the same */
    const char **arg_memory_kinds, **output_memory_kinds;
    size_t *arg_memory_kind_sizes, *output_memory_kind_sizes;
};

/* What a client holds: the program, and the CompileOptionsProto that it was asked for with. */
struct PJRT_Executable {
    Handle head;
    Compiled *compiled;
    Str options; /* its own copy; NUL-terminated */
};

struct PJRT_LoadedExecutable {
    Handle head;
    PJRT_Client *client;
    Compiled *compiled;
    Str options;      /* as above */
    bool is_portable; /* one device, named anew by every call */
    _Atomic bool is_deleted;
    HostSpan *span;        /* where its devices are; NULL: all are in this process */
    int ndevices;          /* that are in this process */
    PJRT_Device **devices; /* of partition d, or of those; */
    Device **engines;      /* the same for launch */
    PJRT_LogicalDeviceIds *logical_ids;
    Text assignment; /* serialized DeviceAssignmentProto */
};

/* An answer to every function of the table, and the same behind a check of what it is given
 * (checked.c).  It is in the object's file, or api.c. */
#define INPUTS(name, ...)                                                                          \
    Error *pjrt_##name(PJRT_##name##_Args *args);                                                  \
    Error *checked_##name(PJRT_##name##_Args *args);
#include "engine/plugin/inputs.def"
PJRT_Error_Destroy pjrt_Error_Destroy;
PJRT_Error_Message pjrt_Error_Message;
extern PJRT_Layouts_Extension layouts_extension;
extern PJRT_Profiler_Extension profiler_extension;
extern PJRT_CrossHostTransfers_Extension transfers_extension;
extern TuttiExtension tutti_extension;

/* At the head of an answer: the caller's struct must reach the last field that is used. */
#define NEEDS(args, field)                                                                         \
    do {                                                                                           \
        if (!PJRT_HAS(args, field))                                                                \
            return struct_too_small(__func__, (args)->struct_size,                                 \
                                    offsetof(__typeof__(*(args)), field) + sizeof(args)->field);   \
    } while (0)
MUST_USE Error *struct_too_small(const char *function, size_t given, size_t needed);

/* The type that a caller describes; its dims stay the caller's. */
MUST_USE Error *type_from_pjrt(PJRT_Buffer_Type element, const int64_t *dims, size_t rank,
                               Type *out);
/* buffer.c: is this how a row-major array lies?  NULL: it is. */
bool is_row_major(const PJRT_Buffer_MemoryLayout *layout, Type type);
/* What a client's devices may take: 0: as much as there is. */
typedef struct Limits {
    size_t memory;  /* of each, in bytes */
    double seconds; /* a run */
} Limits;
/* What a client is asked to be. */
typedef struct ClientOptions {
    int ndevices;
    const char *platform; /* its name: PLATFORM, or PLATFORM_CPU */
    HostsOptions hosts;
    Limits limits;
} ClientOptions;
MUST_USE Error *options_read(const PJRT_NamedValue *options, size_t n, ClientOptions *out);

/* environment.c: TUTTI_TRACE, TUTTI_PROFILE; what is asked for at most once in a process. */
MUST_USE Error *environment_record(void);
void environment_joins(int own, int all); /* the process is one of several */
void environment_show(void);              /* the process, or the engine in it, ends */

/* dump_to.c: XLA_FLAGS=--xla_dump_to.  The program's number; 0: nobody asks for it. */
int dump_before(const Module *m);
void dump_module(int number, const Module *m, const char *stage);

struct BuildOptions;
/* cache.c: a counted program, an old one when the same has been compiled before. */
MUST_USE Error *compiled_get(PJRT_Client *client, Str program, const struct BuildOptions *options,
                             Compiled **out);
/* Holds the program, whose key may hold the source; copies what options point at. */
Compiled *compiled_new(PJRT_Client *client, Shared *shared, Str source,
                       const CompileOptions *options);
Compiled *compiled_hold(Compiled *compiled);
/* The client's list of those whose keys have that hash. */
static inline Compiled **compiled_list(PJRT_Client *client, uint64_t hash)
{
    return &client->programs[hash % (sizeof client->programs / sizeof *client->programs)];
}
void compiled_release(Compiled *compiled);
/* A client's handle: takes the caller's hold, and ends it.  When the last has ended, runs whose
 * results no caller holds are stopped. */
Compiled *compiled_begin_handle(Compiled *compiled);
void compiled_end_handle(Compiled *compiled);
/* One more holder; copies the options. */
MUST_USE Error *executable_new(Compiled *compiled, Str options, PJRT_Executable **out);
/* loaded.c: what Client_Compile does with StableHLO and a CompileOptionsProto. */
MUST_USE Error *loaded_compile(PJRT_Client *client, Str program, Str options,
                               PJRT_LoadedExecutable **out);
PJRT_Layouts_MemoryLayout **layouts_of(Arena *arena, int n, const Param *params); /* layouts.c */
MUST_USE Error *layout_get(size_t rank, Order order, PJRT_Layouts_MemoryLayout **out);
const int64_t *layout_minor_to_major(const PJRT_Layouts_MemoryLayout *layout);
bool is_layout(const void *layout);
void layouts_end(void);

/* client.c: does this address belong to a client that is there, as what? */
typedef enum ClientPart {
    CLIENT_ITSELF,
    CLIENT_DEVICE,
    CLIENT_MEMORY,
    CLIENT_DESCRIPTION,
    CLIENT_TOPOLOGY,
    CLIENT_ENGINE_DEVICE, /* the executor's Device */
} ClientPart;
bool client_owning(const void *address, ClientPart part);
/* An error unless the device is in this process; `what` is to be done there. */
MUST_USE Error *device_check_here(const PJRT_Device *device, const char *what);
/* span.c: where the devices of a program are; *out is NULL when all are in this process. */
MUST_USE Error *span_get(PJRT_Client *client, const Compiled *compiled, const int *ids,
                         HostSpan **out);
#endif
