/* devices.c - `tutti devices`: what there is to run on; under a launcher (mpirun tutti devices), which
 * process has which devices, and where it is. */
#include "command.h"
#include "execute.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static Error *print_device(Pjrt *engine, PJRT_Device *device)
{
    PJRT_Device_GetDescription_Args description = { .struct_size =
                                                        PJRT_Device_GetDescription_Args_SIZE,
                                                    .device = device };
    TRY(pjrt_error(engine->api, engine->api->PJRT_Device_GetDescription(&description)));
    PJRT_DeviceDescription_ToString_Args name = { .struct_size =
                                                      PJRT_DeviceDescription_ToString_Args_SIZE,
                                                  .device_description =
                                                      description.device_description };
    TRY(pjrt_error(engine->api, engine->api->PJRT_DeviceDescription_ToString(&name)));
    printf("%.*s\n", (int)name.to_string_size, name.to_string);
    return NULL;
}

static Error *print_lapack(Pjrt *engine)
{
    const char *name;
    if (!engine->tutti)
        return NULL;
    TRY(pjrt_error(engine->api, engine->tutti->lapack(&name)));
    printf("linear algebra by %s\n", !strcmp(name, "own") ? "the engine's own routines" : name);
    return NULL;
}

/* ---- processes ---- */

/* What a process tells of itself. */
typedef struct Place {
    char host[64];
    int pid;
} Place;

typedef struct Job {
    int process, nprocesses;
    Place *places; /* [nprocesses] */
} Job;

static Error *process_of(Pjrt *engine, PJRT_Device *device, int *process)
{
    PJRT_Device_GetDescription_Args description = { .struct_size =
                                                        PJRT_Device_GetDescription_Args_SIZE,
                                                    .device = device };
    TRY(pjrt_error(engine->api, engine->api->PJRT_Device_GetDescription(&description)));
    PJRT_DeviceDescription_ProcessIndex_Args index = {
        .struct_size = PJRT_DeviceDescription_ProcessIndex_Args_SIZE,
        .device_description = description.device_description
    };
    TRY(pjrt_error(engine->api, engine->api->PJRT_DeviceDescription_ProcessIndex(&index)));
    *process = index.process_index;
    return NULL;
}

/* Devices are numbered process by process, so the last is in the last. */
static Error *find_job(Pjrt *engine, PJRT_Device *const *all, int n, Job *job)
{
    PJRT_Device *const *here;
    int nhere;
    TRY(pjrt_devices(engine, &here, &nhere));
    TRY(process_of(engine, here[0], &job->process));
    TRY(process_of(engine, all[n - 1], &job->nprocesses));
    job->nprocesses++;
    return NULL;
}

static Error *gather_places(Pjrt *engine, Job *job)
{
    size_t n = (size_t)job->nprocesses;
    TuttiPiece *pieces = calloc(n, sizeof *pieces);
    job->places = calloc(n, sizeof *job->places);
    if (!pieces || !job->places) {
        free(pieces);
        return error_new(CODE_EXHAUSTED, "no memory for a list of %zu processes", n);
    }
    for (size_t p = 0; p < n; p++)
        pieces[p] = (TuttiPiece){ (int)p, &job->places[p], sizeof *job->places };
    Place *mine = &job->places[job->process];
    gethostname(mine->host, sizeof mine->host - 1);
    mine->pid = (int)getpid();
    Error *error =
        pjrt_error(engine->api, engine->tutti->exchange(engine->client, job->nprocesses, pieces));
    free(pieces);
    return error;
}

/*     process 0  h0, pid 4711   | 0 | 1 | 2 | 3 |
 *     process 1  h1, pid 4712   | 4 | 5 | 6 | 7 |       */
static void draw_job(const Job *job, int ndevices)
{
    int width = 0, each = ndevices / job->nprocesses;
    for (int p = 0; p < job->nprocesses; p++) {
        int n = snprintf(NULL, 0, "%s, pid %d", job->places[p].host, job->places[p].pid);
        width = n > width ? n : width;
    }
    int digits = snprintf(NULL, 0, "%d", ndevices - 1);
    for (int p = 0; p < job->nprocesses; p++) {
        int n = printf("process %-4d %s, pid %d", p, job->places[p].host, job->places[p].pid);
        printf("%*s |", width + (int)strlen("process      ") - n, "");
        for (int d = p * each; d < (p + 1) * each; d++)
            printf(" %*d |", digits, d);
        putchar('\n');
    }
}

static Error *print_job(Pjrt *engine, PJRT_Device *const *devices, int n, Job *job)
{
    if (job->nprocesses == 1) {
        for (int i = 0; i < n; i++)
            TRY(print_device(engine, devices[i]));
        return print_lapack(engine);
    }
    TRY(gather_places(engine, job));
    if (job->process == 0)
        draw_job(job, n);
    return job->process == 0 ? print_lapack(engine) : NULL;
}

/* hints: how to have another number of devices. */
static Error *print_devices(Pjrt *engine, bool hints)
{
    PJRT_Client_PlatformVersion_Args version = { .struct_size =
                                                     PJRT_Client_PlatformVersion_Args_SIZE,
                                                 .client = engine->client };
    PJRT_Device *const *devices;
    int n;
    Job job = { .nprocesses = 1 };
    TRY(pjrt_error(engine->api, engine->api->PJRT_Client_PlatformVersion(&version)));
    TRY(pjrt_all_devices(engine, &devices, &n));
    if (engine->tutti)
        TRY(find_job(engine, devices, n, &job));
    if (job.process == 0)
        printf("%d device%s of %.*s (PJRT %d.%d)\n", n, n == 1 ? "" : "s",
               (int)version.platform_version_size, version.platform_version,
               engine->api->pjrt_api_version.major_version,
               engine->api->pjrt_api_version.minor_version);
    Error *error = print_job(engine, devices, n, &job);
    if (!error && hints && job.nprocesses == 1)
        printf("(--devices N or TUTTI_DEVICES=N: that many.  Where nobody says, this tool and JAX "
               "have one,\na C program has one for each core.)\n");
    free(job.places);
    return error;
}

static int run(int argc, char **argv)
{
    int ndevices = 0;
    for (int i = 1; i < argc; i++) {
        const char *value;
        if (!option_value(argc, argv, &i, "--devices", &value))
            return usage_error("devices", "'%s' is not known", argv[i]);
        if (!parse_positive(value, &ndevices))
            return usage_error("devices", "--devices needs a whole number from 1 on, such as 4");
    }
    Pjrt engine = { 0 };
    Error *error = engine_load(&engine);
    engine.uses_launcher = true;
    if (!error)
        error = engine_start(&engine, ndevices);
    if (!error)
        error = print_devices(&engine, !ndevices);
    engine_end(&engine);
    return error ? failed(error) : EXIT_OK;
}

const Command command_devices = {
    .name = "devices",
    .usage = "[--devices N]",
    .summary = "list the devices",
    .run = run,
};
