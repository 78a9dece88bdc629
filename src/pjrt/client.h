/* client.h - PJRT from the caller's side: find and load a plugin, make a client, compile, send,
 * execute, receive.  For the front, the command line, tests and benchmarks.
 *
 *     Pjrt p = { 0 };
 *     TRY(pjrt_find(NULL, "TUTTI_PLUGIN", &p.path));
 *     TRY(pjrt_load(&p));
 *     TRY(pjrt_create_devices(&p, 4));
 *     TRY(pjrt_compile(&p, program, (CompileOptions){ 0 }, &executable));
 *
 * Works with any vendor's plugin: every struct is zeroed and sized, functions that came late are
 * asked for by the table's size, every error is read and destroyed.  A loaded plugin may be used by
 * many threads at once; making and ending its client is for one.
 *
 * Paths and options are made of memory that is noted with the caller's guard (base/guard.h). */
#ifndef TUTTI_PJRT_CLIENT_H
#define TUTTI_PJRT_CLIENT_H
#include "base/error.h"
#include "base/text.h"
#include "pjrt/extension.h"

/* Starts as { 0 }. */
typedef struct Pjrt {
    char *path;    /* of the plugin; the caller's to free */
    void *library; /* dlopen's; NULL: not loaded */
    const PJRT_Api *api;
    const TuttiExtension *tutti; /* NULL: not our plugin; may be shorter than we know it */
    PJRT_Client *client;         /* NULL: none yet */
    int ndevices;                /* that pjrt_create_devices was asked for */
    size_t memory;               /* of each device that it makes, in bytes; 0: no limit */
    double seconds;              /* that a run on them may take; 0: no limit */
    bool uses_launcher; /* pjrt_create_devices joins the processes that a launcher started */
} Pjrt;

#define ARGS(name, ...)                                                                            \
    ((PJRT_##name##_Args){ .struct_size = PJRT_##name##_Args_SIZE, __VA_ARGS__ })

/* Calls a function of the table, if the plugin is young enough to have it. */
#define PJRT_CALL(p, name, args)                                                                   \
    ((p)->api->struct_size >= offsetof(PJRT_Api, PJRT_##name) + sizeof(void *) &&                  \
             (p)->api->PJRT_##name                                                                 \
         ? pjrt_error((p)->api, (p)->api->PJRT_##name(args))                                       \
         : error_new(CODE_UNIMPLEMENTED, "%s has no PJRT_" #name, (p)->path))

/* Turns an error of the other side into one of ours: NULL stays NULL. */
MUST_USE Error *pjrt_error(const PJRT_Api *api, PJRT_Error *theirs);

/* ---- the plugin and its client ---- */

/* Which file: `named` (by tt_init, NULL: not), else TUTTI_PLUGIN, else pjrt_plugin_tutti.so beside
 * the library that this is linked into, beside the executable, or in ../lib of that; where there is
 * none, pjrt_plugin_tutti_rt.so in the same places.  An error names
 * what was tried, and how_to_name: "TUTTI_PLUGIN". */
MUST_USE Error *pjrt_find(const char *named, const char *how_to_name, char **path);
/* Loads p->path, checks its version and initializes it. */
MUST_USE Error *pjrt_load(Pjrt *p);
MUST_USE Error *pjrt_create(Pjrt *p, int n, const PJRT_NamedValue *options);
/* A client of our own engine with n devices; 0: as the environment says. */
MUST_USE Error *pjrt_create_devices(Pjrt *p, int n);
MUST_USE Error *pjrt_destroy(Pjrt *p); /* its client, if there is one; runs end first */
/* The plugin's own list: of this process, or of all. */
MUST_USE Error *pjrt_devices(const Pjrt *p, PJRT_Device *const **devices, int *n);
MUST_USE Error *pjrt_all_devices(const Pjrt *p, PJRT_Device *const **devices, int *n);

/* ---- programs ---- */

typedef struct CompileOptions {
    int ndevices;   /* one replica of so many partitions, */
    const int *ids; /* on these devices in this order; 0: as the program says */
    /* For our own engine: */
    const char *name; /* the program's, for messages; or NULL */
    bool evaluate;    /* by the reference evaluator */
    bool no_fold;     /* operations on constants are compiled too */
} CompileOptions;

MUST_USE Error *pjrt_compile(const Pjrt *p, Str program, CompileOptions options,
                             PJRT_LoadedExecutable **out);
void pjrt_release(const Pjrt *p, PJRT_LoadedExecutable *executable); /* runs under way go on */

typedef struct Launch {
    int ndevices, nargs;
    PJRT_Buffer *const *const *args; /* [device][argument] */
    PJRT_Buffer **const *results;    /* [device][result] */
    int id;                          /* for functions that the program calls: TuttiCall.launch */
    int nkept;
    const int64_t *kept; /* arguments that are not donated, whatever the program says */
    /* NULL: pjrt_execute returns at once; results may still be on their way, and a failure may
     * show when they are awaited or read.  Else room for ndevices events, and it waits for all. */
    PJRT_Event **done;
} Launch;
MUST_USE Error *pjrt_execute(const Pjrt *p, PJRT_LoadedExecutable *executable,
                             const Launch *launch);

/* ---- arrays ---- */

typedef struct HostArray {
    PJRT_Buffer_Type type;
    int rank;
    const int64_t *dims;
    const int64_t *strides; /* in bytes; NULL: row-major */
    const void *data;
} HostArray;

/* The array's memory may go as soon as it returns. */
MUST_USE Error *pjrt_send(const Pjrt *p, const HostArray *array, PJRT_Device *device,
                          PJRT_Buffer **out);
/* Row-major, awaited. */
MUST_USE Error *pjrt_receive(const Pjrt *p, PJRT_Buffer *buffer, int rank, void *data,
                             size_t bytes);
MUST_USE Error *pjrt_await(const Pjrt *p, PJRT_Event *event); /* ends it; NULL is fine */
void pjrt_free(const Pjrt *p, PJRT_Buffer *buffer);
#endif
