/* hosts.c - joining the other processes of a job, and leaving them.
 *
 * A job is joined once in a process: MPI can be initialised once.  What processes must agree about is
 * gathered and compared at the start, so that nobody has to guess later why numbers differ. */
#define _GNU_SOURCE /* dladdr */
#include "engine/hosts/hosts.h"

#include "base/text.h"
#include "engine/hosts/find.h"
#include "engine/hosts/watch.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t joining = PTHREAD_MUTEX_INITIALIZER; /* guards the next two */
static Hosts job;
static bool has_joined;

/* ---- agreeing ---- */

static HostProcess describe_self(int ndevices, const char *version)
{
    CpuAbility cpu = cpu_ability();
    HostProcess self = { .pid = (int32_t)getpid(),
                         .ndevices = ndevices,
                         .vector_bytes = cpu.vector_bytes };
    memcpy(self.has, cpu.has, sizeof self.has);
    gethostname(self.host, sizeof self.host - 1);
    snprintf(self.version, sizeof self.version, "%s", version);
    return self;
}

/* "process 0 has 4, process 1 has 2" */
static Error *unequal_counts(int n, const HostProcess *all)
{
    Text list = { .is_message = true };
    for (int p = 0; p < n; p++)
        text_printf(&list, "%sprocess %d (%s, pid %d) has %d", p ? ", " : "", p, all[p].host,
                    (int)all[p].pid, (int)all[p].ndevices);
    Error *error = error_new(CODE_INVALID,
                             "every process must have the same number of devices: %s; set "
                             "TUTTI_DEVICES to the same number for all",
                             text_cstr(&list));
    text_free(&list);
    return error;
}

static Error *check_agreement(int n, const HostProcess *all)
{
    for (int p = 1; p < n; p++) {
        if (strncmp(all[p].version, all[0].version, sizeof all[p].version))
            return error_new(CODE_INVALID,
                             "process 0 (%s) runs %s and process %d (%s) %s: all must run the same "
                             "version",
                             all[0].host, all[0].version, p, all[p].host, all[p].version);
        if (all[p].ndevices != all[0].ndevices)
            return unequal_counts(n, all);
    }
    return NULL;
}

/* Vectors of other widths add in another order, so the lowest level of all is used by all. */
static void use_lowest_level(int n, const HostProcess *all)
{
    int bytes = all[0].vector_bytes;
    bool differ = false;
    for (int p = 1; p < n; p++) {
        differ |= all[p].vector_bytes != all[0].vector_bytes ||
                  memcmp(all[p].has, all[0].has, sizeof all[p].has);
        bytes = all[p].vector_bytes < bytes ? all[p].vector_bytes : bytes;
    }
    if (differ)
        setenv("TUTTI_CPU_LEVEL", bytes >= 64 ? "avx512" : bytes >= 32 ? "avx2" : "sse", 1);
}

static Error *agree(Hosts *h, int ndevices, const char *version)
{
    HostProcess self = describe_self(ndevices, version);
    HostProcess *all = calloc((size_t)h->nprocesses, sizeof *all);
    if (!all)
        return error_new(CODE_EXHAUSTED, "no memory for a job of %d processes", h->nprocesses);
    Error *error = wire_gather(h->wire, &self, (int)sizeof self, all);
    if (!error)
        error = check_agreement(h->nprocesses, all);
    if (error) {
        free(all);
        return error;
    }
    use_lowest_level(h->nprocesses, all);
    h->all = all;
    return NULL;
}

/* ---- joining ---- */

/* Runs at the end of the process, also when it ends with an error. */
static void leave(void)
{
    wire_settle(job.wire); /* a program may end without having waited for its last results */
    watch_leave();
    wire_leave(job.wire);
}

void hosts_leaving(bool has_failed)
{
    pthread_mutex_lock(&joining);
    Wire *wire = has_joined ? job.wire : NULL;
    pthread_mutex_unlock(&joining);
    if (wire && (has_failed || wire_settle(wire)))
        watch_leave();
}

/* leave must be there at the end, whoever unloads the engine. */
static void stay_loaded(void)
{
    Dl_info self = { 0 };
    if (dladdr((void *)hosts_join, &self) && self.dli_fname)
        dlopen(self.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
}

static Error *wrong_launcher(const Launcher *l, const char *library, int size, int wanted)
{
    return error_new(CODE_PRECONDITION,
                     "%s started %d processes, and %s sees %d of them: it is not the MPI of that "
                     "launcher; start with the launcher that belongs to it, or name the "
                     "launcher's libmpi by TUTTI_MPI",
                     l->name ? l->name : "the client", wanted, library ? library : "MPI", size);
}

/* The numbers of all processes, and what they exchange. */
static Error *make_lists(Hosts *h)
{
    int32_t *everyone = calloc((size_t)h->nprocesses, sizeof *everyone);
    for (int32_t p = 0; everyone && p < h->nprocesses; p++)
        everyone[p] = p;
    h->everyone = everyone;
    h->exchanges = exchanges_new(h->wire);
    return everyone && h->exchanges
               ? NULL
               : error_new(CODE_EXHAUSTED, "no memory for a job of %d processes", h->nprocesses);
}

static Error *start(const HostsOptions *o, const Launcher *l, int ndevices, Hosts *h)
{
    Shim *shim = NULL;
    const char *library = NULL;
    int wanted = o->nprocesses ? o->nprocesses : l->size;
    TRY(shim_find(l, &shim, &library));
    bool has_launcher = l->size > 0 || !o->store;
    if (!has_launcher)
        TRY(pmi_begin(o->process, o->nprocesses, o->store));
    const char *why =
        shim->start(o->nprocesses ? o->process : l->rank, &h->process, &h->nprocesses);
    if (!has_launcher)
        pmi_end();
    if (why)
        return error_new(CODE_UNAVAILABLE, "%s: %s", library ? library : "MPI", why);
    if (h->nprocesses != wanted)
        return wrong_launcher(l, library, h->nprocesses, wanted);
    TRY(wire_new(shim, h->process, h->nprocesses, &h->wire));
    TRY(make_lists(h));
    return watch_start(h->wire, ndevices);
}

static bool is_alone(const HostsOptions *o, const Launcher *l)
{
    const char *said = getenv("TUTTI_HOSTS");
    if (o->nprocesses)
        return o->nprocesses < 2;
    return !o->uses_launcher || l->size < 2 || (said && !strcmp(said, "0"));
}

Error *hosts_join(const HostsOptions *options, int ndevices, const char *version, const Hosts **out)
{
    Launcher launcher = launcher_find();
    *out = NULL;
    if (is_alone(options, &launcher))
        return NULL;
    Error *error = NULL;
    pthread_mutex_lock(&joining);
    if (!has_joined) {
        error = start(options, &launcher, ndevices, &job);
        has_joined = !error;
        if (has_joined) {
            stay_loaded();
            wire_shim(job.wire)->at_exit(leave);
        }
    }
    if (!error)
        error = agree(&job, ndevices, version);
    pthread_mutex_unlock(&joining);
    *out = error ? NULL : &job;
    return error;
}
