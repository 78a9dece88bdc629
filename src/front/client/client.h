/* client.h - the process's one PJRT client: compile, transfer, execute, await. */
#ifndef TUTTI_FRONT_CLIENT_CLIENT_H
#define TUTTI_FRONT_CLIENT_CLIENT_H
#include "base/error.h"
#include "base/text.h"
#include "ops/attrs.h"
#include "ops/type.h"
#include "pjrt/extension.h"

/* The process's one client, made at first use from tt_init's options, TUTTI_PLUGIN and
 * TUTTI_DEVICES.  Errors name the path tried and what would be right. */
MUST_USE Error *client_need(void);
/* Before first use; an error afterwards.  NULL and 0: not said. */
typedef struct ClientOptions { /* NULL and 0: not said */
    const char *plugin;
    int devices;
    size_t memory;  /* of each device, in bytes */
    double seconds; /* that a run may take */
} ClientOptions;
MUST_USE Error *client_options(const ClientOptions *options);

/* The rest is for after client_need. */
int client_device_count(void); /* of all processes */
int client_process(void);      /* which this is, */
int client_processes(void);    /* of how many; 1 also before client_need */
int client_process_of(int device);
extern int client_home; /* the first device of this process */
const char *client_device_name(int device);
const char *client_platform(void); /* "tutti"; of JAX's plugins "cpu", "cuda" */
Precision client_precision(void);  /* of products that say none themselves */
struct Pjrt *client_plugin(void);  /* for tests that stand between it and the front */
/* f answers custom calls of that name from now on; errors begin with the function that asks. */
MUST_USE Error *client_define(const char *who, const char *name, TuttiFunction *f, void *user);
/* The engine, if it is ours and records; an error names the function that asks. */
MUST_USE Error *client_recorder(const char *asks, const TuttiExtension **out);
/* The same without an error, and without making the client; NULL: there is none. */
const TuttiExtension *client_recorder_if_there(void);
MUST_USE Error *client_error(PJRT_Error *theirs); /* an error of the engine's as one of ours */

typedef struct Executable Executable; /* compiled for an ordered list of devices */
MUST_USE Error *client_compile(Str stablehlo_text, int ndevices, const int *devices, int nargs,
                               int nresults, Executable **out);
void client_end(Executable *e); /* runs under way go on */
/* `id` is what functions that the program calls back are told of the run (TuttiCall.launch).
 * args[device][argument], results[device][result]; rows of devices in other processes are NULL, and
 * stay so.  What the program's text marks as donated is
 * consumed, except the nkept arguments listed in kept.  Returns at once: results may still be on
 * their way, and a failure may show when they are awaited or read. */
MUST_USE Error *client_execute(Executable *e, PJRT_Buffer *const *const *args,
                               PJRT_Buffer **const *results, int nkept, const int64_t *kept,
                               int id);

/* data may go as soon as it returns. */
MUST_USE Error *client_upload(Type type, const void *data, int device, PJRT_Buffer **out);
MUST_USE Error *client_download(PJRT_Buffer *b, Type type, void *data); /* row-major, awaited */
MUST_USE Error *client_copy(PJRT_Buffer *b, int to_device, PJRT_Buffer **out); /* another device */
MUST_USE Error *client_await(PJRT_Buffer *b);
void client_free(PJRT_Buffer *b); /* NULL is fine */
/* All processes call it with the same list: each piece comes from its process to all others. */
MUST_USE Error *client_exchange(int n, const TuttiPiece *pieces);
enum { GATHER_MOST = 64 };
/* Called by all processes: the words of the n processes from `first` on, of so many bytes each, come to all.  It
 * takes no memory: a process that has none can still say so. */
MUST_USE Error *client_gather(int first, int n, const void *mine, size_t bytes, void *words);
#endif
