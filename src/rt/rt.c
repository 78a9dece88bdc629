/* rt.c - devices for programs that were compiled ahead: made when a program first needs so many. */
#include "rt/rt.h"

#include "engine/exec/executor.h"

#include <stdio.h>
#include <stdlib.h>

/* An executor's number of devices is fixed: one more is made for a program that needs more. */
typedef struct Devices {
    Executor *executor;
    struct Devices *next; /* has fewer */
} Devices;

struct tutti_rt {
    tutti_rt_options options;
    pthread_mutex_t lock; /* of: */
    Devices *devices;
};

static tutti_rt shared = { .lock = PTHREAD_MUTEX_INITIALIZER }; /* of calls that name none */

const char *rt_say(Error *error)
{
    static _Thread_local char text[2048];
    if (!error)
        return NULL;
    snprintf(text, sizeof text, "%s", error_text(error));
    error_free(error);
    return text;
}

const char *tutti_rt_start(const tutti_rt_options *options, tutti_rt **out)
{
    if (options && options->workers < TUTTI_RT_ALONE)
        return rt_say(error_new(CODE_INVALID,
                                "tutti_rt_start: %d workers; 0 means one per core, "
                                "TUTTI_RT_ALONE none",
                                options->workers));
    if (options && !options->take != !options->give)
        return rt_say(error_new(CODE_INVALID, "tutti_rt_start: memory of the caller's needs both "
                                              "take and give"));
    if (options && !(options->seconds >= 0))
        return rt_say(error_new(CODE_INVALID, "tutti_rt_start: %g seconds; 0 means no limit",
                                options->seconds));
    tutti_rt *rt = calloc(1, sizeof *rt);
    if (!rt)
        return rt_say(error_new(CODE_EXHAUSTED, "tutti_rt_start: no memory"));
    if (options)
        rt->options = *options;
    pthread_mutex_init(&rt->lock, NULL);
    *out = rt;
    return NULL;
}

void tutti_rt_end(tutti_rt *rt)
{
    if (!rt)
        return;
    for (Devices *d = rt->devices, *next; d; d = next) {
        next = d->next;
        executor_free(d->executor);
        free(d);
    }
    pthread_mutex_destroy(&rt->lock);
    free(rt);
}

bool rt_is_alone(const tutti_rt *rt)
{
    return rt && rt->options.workers == TUTTI_RT_ALONE;
}

static Error *add_devices(tutti_rt *rt, int ndevices)
{
    Devices *d = calloc(1, sizeof *d);
    if (!d)
        return error_new(CODE_EXHAUSTED, "no memory for %d devices", ndevices);
    int workers = rt_is_alone(rt) ? 1 : rt->options.workers;
    Error *error = executor_new(ndevices, workers, rt->options.memory, &d->executor);
    if (!error && rt->options.take)
        executor_supply(d->executor,
                        &(Supply){ rt->options.take, rt->options.give, rt->options.user });
    if (!error)
        error = executor_bound_runs(d->executor, rt->options.seconds);
    if (error) {
        executor_free(d->executor);
        free(d);
        return error;
    }
    d->next = rt->devices;
    rt->devices = d;
    return NULL;
}

Error *rt_executor(tutti_rt *rt, int ndevices, Executor **out)
{
    rt = rt ? rt : &shared;
    pthread_mutex_lock(&rt->lock);
    Error *error = NULL;
    if (!rt->devices || rt->devices->executor->ndevices < ndevices)
        error = add_devices(rt, ndevices);
    if (!error)
        *out = rt->devices->executor;
    pthread_mutex_unlock(&rt->lock);
    return error;
}
